"""What an operator does who follows a way out to the letter: its sentences as steps of a plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import permutations, product

from kwalk.model.kafka.snapshots.capture import Capture
from kwalk.model.language.inspection import FindingKind, Observation
from kwalk.model.language.recovery import Problem, WhatIf

Ways = list[tuple[str, ...]]
"""Sequences of names of steps, of which an operator may choose one."""
BEFORE_IT = re.compile(
    r"(inspect again|take another snapshot after a (minute|session timeout)|ask it again .*"
    r"|do not give broker .*|auto\.leader.*|(if|what) .* gone for good, .*)"
)
"""Sentences without a step: what is looked at, what is not done, and what is done if a broker never comes back."""
ORDER = re.compile(r"start broker (\d+) before (?:broker (\d+), whose log of .*|all others: .*)")


def numbers(text: str) -> list[str]:
    return re.findall(r"\d+", text)


def topics_of(names: str) -> list[str]:
    return sorted({name.rpartition("-")[0] for name in re.split(", | and ", names)})


def moved(names: str, hosts: str) -> Ways:
    """Logs that are moved away at once, by the name that a step has of one topic, or of one broker."""
    topics, brokers = topics_of(names), numbers(hosts)
    step = "move-directories" if len(brokers) == 1 else "move-directories-at-once"
    return [(" ".join((step, *topics, *brokers)),)]


def each_restarted(brokers: Sequence[str]) -> Ways:
    return [tuple(f"restart {broker}" for broker in order) for order in permutations(brokers)]


class Operator:
    """Follows the way out of a kind's findings."""

    def __init__(self, capture: Capture, kind: FindingKind, seen: Sequence[Observation]) -> None:
        self.capture, self.kind, self.seen = capture, kind, seen

    def named(self, *fields: str) -> list[str]:
        """The brokers that the findings name."""
        return list(dict.fromkeys(n for one in self.seen for name in fields for n in numbers(one.fields.get(name, ""))))

    def states(self) -> Iterator[tuple[list[str], str | None]]:
        """The ISR members that are down, and the leader, of each partition of the findings."""
        for one in self.seen:
            state = self.capture.topics[one.fields["topic"]].states[int(one.fields["partition"])]
            down = [str(b) for b in state.isr if not self.capture.brokers[b].alive]
            yield down, None if state.leader is None else str(state.leader)

    def started(self, brokers: Sequence[str], *, all_of_them: bool) -> Ways:
        """The orders in which brokers start, with those that the way out names first."""
        orders = permutations(brokers, len(brokers) if all_of_them else min(1, len(brokers)))
        return [tuple(f"start-broker {broker}" for broker in order) for order in orders]

    def ways(self) -> Ways | None:
        """Return how the way out is followed; None if it has a sentence that is no step, or something comes first.

        What is to be seen before a broker starts, as whose log directories it has, is not known to the model.
        """
        found: list[Ways] = []
        orders: list[tuple[str, str]] = []
        for sentence in self.kind.way_out.split("; "):
            text = sentence.removeprefix("if it is still so, ").removeprefix("if the mark is still there, ")
            ordered = ORDER.fullmatch(text)
            if BEFORE_IT.fullmatch(text):
                continue
            if ordered:
                orders.append((ordered[1], ordered[2] or ""))
                continue
            step = next((do(*match.groups()) for form, do in self.steps() if (match := re.fullmatch(form, text))), None)
            if not step:
                return None
            found.append(step)
        chosen = [tuple(step for part in parts for step in part) for parts in product(*found)]
        return [way for way in chosen if way and all(is_in_order(way, *order) for order in orders)]

    def steps(self) -> tuple[tuple[str, Callable[..., Ways]], ...]:
        """The forms of sentences, and what an operator does."""
        leaders = list(dict.fromkeys(leader for _, leader in self.states() if leader)) if self.is_of_states else []
        return (
            (r"start it", lambda: self.started(self.named("broker"), all_of_them=True)),
            (r"start a broker of the ISR", self.any_member),
            (r"start the broker or delete /controller", lambda: [*self.any_member(), ("fail-over",)]),
            (r"delete /controller(: .*)?", lambda _: [("fail-over",)]),
            (r"fail the controller over: the znode of .*", lambda: [("fail-over",)]),
            (r"restart the leader", lambda: each_restarted(leaders)),
            (
                r"restart (?:it|the broker|the broker of the log: .*)",
                lambda: each_restarted(self.named("broker", "brokers")),
            ),
            (r"restart broker (\d+), so that it becomes the controller .*", lambda broker: each_restarted([broker])),
            (
                r"stop (brokers? [\d, and]+), move (.*) away(?: on each)?, and start (?:it|them)",
                lambda b, n: moved(n, b),
            ),
            (r"before (brokers? [\d, and]+) starts?, move (.*) away there", lambda b, n: moved(n, b)),
            (
                r"start (brokers? [\d, or]+) first, so that it leads, and before (.*) starts?, move (.*) away there",
                lambda first, b, n: [(f"start-broker {one}", *moved(n, b)[0]) for one in numbers(first)],
            ),
            (
                r"write the id (\S+), which the logs have, into the znode of (\S+), then fail the controller over",
                lambda identity, topic: [(f"write-topic-id {topic} {identity}", "fail-over")],
            ),
        )

    @property
    def is_of_states(self) -> bool:
        """Whether each finding is of a partition that has a state."""
        places = [(one.fields.get("topic", ""), one.fields.get("partition", "-1")) for one in self.seen]
        topics = self.capture.topics
        return all(name in topics and int(number) in topics[name].states for name, number in places)

    def any_member(self) -> Ways:
        """One ISR member of each partition starts."""
        members = [self.started(down, all_of_them=False) for down, _ in self.states()] if self.is_of_states else []
        return [tuple(dict.fromkeys(step for part in parts for step in part)) for parts in product(*members)]


def is_in_order(way: Sequence[str], first: str, then: str) -> bool:
    """Whether a way starts a broker before another one, or before all others."""
    started = [step.split()[1] for step in way if step.startswith("start-broker ")]
    others = [broker for broker in started if broker != first and then in ("", broker)]
    return not others or first in started[: started.index(others[0])]


def as_event(problem: Problem, kind: FindingKind, way: Sequence[str]) -> WhatIf | None:
    """Return a way as an event that may happen to a cluster; None if plans have not all of its steps."""
    known = {one.name: one for one in problem.procedures}
    if not known.keys() >= {*way}:
        return None
    moves = [tuple(m for name in way for m in known[name].moves[world]) for world in range(len(problem.worlds))]
    return WhatIf(f"{kind.name}: {', '.join(way)}", "an operator follows the way out", tuple(moves))
