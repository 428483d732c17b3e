"""Two nightly runs compared: what is new in the later run, what is gone, and what it no longer covers.

Words: a task of one run is *paired* with the task of the other run that has the same scenario, variant, bounds, flags
and engine. A *loss* is a property instance that was tested, or an action that was taken, in the earlier run but never
in the later one. It *may be chance* if the number of times that is *expected* for the later run's steps is small.
A *new shape* is a group of the later run alone, of a property that both runs violate in the task. Two runs are
*repeatable* if they must find the same unless the code differs. If they are not, which shapes of a violation a run
finds is chance: none of a property that both violate is then gone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from kwalk.reports.nightly_compare.environment import is_repeatable
from kwalk.search.night.results import RunResult, TaskResult
from kwalk.search.night.tables import FindingRow
from kwalk.search.results.verdict import Answer

BROKEN = frozenset({"violated", "bad stable state", "deadlock", "not reachable"})
REACHABLE = "reachable"
"""The kind of properties whose groups are witnesses: no bad news."""
CHANCE = 10.0
"""Fewer expected events may be none by chance: of ten expected independent events, none occurs in 1 of 22,000 runs."""
SLOWER = 0.25
"""A smaller relative change of the rate is not reported."""
LEAST_SECONDS = 1.0
"""A rate that was measured in less time is not compared."""


@frozen
class Loss:
    """A property instance or an action that the later run no longer covers; `before` is the earlier count."""

    name: str
    before: int
    expected: float
    may_be_chance: bool
    is_gone: bool
    """Whether the later model has no such property instance or action."""


@frozen
class Pair:
    """A task in two runs."""

    before: TaskResult
    after: TaskResult
    repeatable: bool = True

    @property
    def verdict_changed(self) -> bool:
        """Whether the answers differ."""
        return self.before.answer != self.after.answer

    @property
    def is_worse(self) -> bool:
        """Whether the later answer is bad news that the earlier one was not."""
        was_accepted = bool(self.before.accepted) and not self.after.accepted
        return is_bad(self.after) and (self.verdict_changed or was_accepted)

    @property
    def is_undecided_now(self) -> bool:
        """Whether the later run is undecided, or about what cannot fail, and the earlier one was not."""
        return self.verdict_changed and self.after.answer in (Answer.UNDECIDED.value, Answer.CANNOT_FAIL.value)

    @property
    def only_after(self) -> tuple[FindingRow, ...]:
        """Groups of the later run that the earlier one does not have."""
        return _without(self.after, self.before)

    @property
    def new(self) -> tuple[FindingRow, ...]:
        """Those of properties that the earlier run did not find violated, unless they are accepted."""
        return tuple(c for c in self.only_after if not c.accepted and not _has_property_of(c, self.before))

    @property
    def new_shapes(self) -> tuple[FindingRow, ...]:
        """Those of properties that the earlier run found violated, too, unless they are accepted."""
        return tuple(c for c in self.only_after if not c.accepted and _has_property_of(c, self.before))

    @property
    def gone(self) -> tuple[FindingRow, ...]:
        """Groups of the earlier run that the later one, which searched the task, lacks, and not by chance."""
        if not self.after.rounds:
            return ()
        lost = _without(self.before, self.after)
        return tuple(c for c in lost if self.repeatable or not _has_property_of(c, self.after))

    @property
    def is_unchanged(self) -> bool:
        """Whether both runs have the same groups with equally long traces, the same answer and coverage."""
        shapes = [{(c.group, c.length) for c in task.groups} for task in (self.before, self.after)]
        answers = [(task.answer, task.how) for task in (self.before, self.after)]
        return shapes[0] == shapes[1] and answers[0] == answers[1] and not self.untested and not self.stopped

    @property
    def shorter(self) -> tuple[tuple[FindingRow, FindingRow], ...]:
        """Groups of both runs that have a shorter trace now: the earlier and the later row of each."""
        old = {group.group: group for group in self.before.groups}
        both = ((old[c.group], c) for c in self.after.groups if c.group in old)
        return tuple((was, now) for was, now in both if now.length < was.length)

    @property
    def untested(self) -> tuple[Loss, ...]:
        """Property instances that are no longer tested."""
        return self._losses(
            {prop.property: prop.premise for prop in self.before.properties},
            {prop.property: prop.premise for prop in self.after.properties},
        )

    @property
    def stopped(self) -> tuple[Loss, ...]:
        """Actions of which no instance is taken any longer."""
        return self._losses(_taken(self.before), _taken(self.after))

    @property
    def bounds_newly_hit(self) -> Mapping[str, int]:
        """Bounds that disable steps in the later run only, with their counts."""
        old = self.before.bounds_hit
        return {name: hits for name, hits in self.after.bounds_hit.items() if hits and not old.get(name)}

    @property
    def speed(self) -> float | None:
        """The later rate divided by the earlier one, None if they differ little or one is not known well."""
        if not self.before.rate or not self.after.rate:
            return None
        if min(self.before.spent, self.after.spent) < LEAST_SECONDS:
            return None
        ratio = self.after.rate / self.before.rate
        return ratio if abs(ratio - 1) > SLOWER else None

    def _losses(self, before: Mapping[str, int], after: Mapping[str, int]) -> tuple[Loss, ...]:
        if not self.after.rounds:
            return ()
        share = self.after.steps / self.before.steps if self.before.steps else 1.0
        same_work = self.after.steps == self.before.steps and self.after.walks == self.before.walks
        return tuple(
            Loss(name, n, n * share, n * share < CHANCE and not same_work and name in after, name not in after)
            for name, n in before.items()
            if n and not after.get(name)
        )


@frozen
class Comparison:
    """All differences between two runs."""

    before: RunResult
    after: RunResult
    pairs: tuple[Pair, ...]
    only_before: tuple[TaskResult, ...]
    only_after: tuple[TaskResult, ...]

    @property
    def new(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All groups of newly violated properties with their tasks, also those of new tasks."""
        yield from ((pair.after, group) for pair in self.pairs for group in pair.new)
        yield from ((task, group) for task in self.only_after for group in task.groups if not group.accepted)

    @property
    def accepted(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All accepted groups of the later run with their tasks, whether the earlier one has them or not."""
        yield from ((task, group) for task in self.after.tasks for group in task.groups if group.accepted)

    def is_beyond(self, task: TaskResult, group: FindingRow) -> bool:
        """Whether a group's first walk has a number that the same task of the earlier run did not reach."""
        before = next((pair.before for pair in self.pairs if pair.after is task), None)
        return before is not None and 0 < before.walks <= group.first_walk

    @property
    def gone(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All groups of the earlier run only, in tasks of both runs, with the earlier task."""
        yield from ((pair.before, group) for pair in self.pairs for group in pair.gone)

    @property
    def known_groups(self) -> int:
        """The number of groups that both runs have, without those that are accepted."""
        return sum(
            not group.accepted for pair in self.pairs for group in pair.after.groups if group not in pair.only_after
        )

    @property
    def new_shapes(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All new shapes of properties that both runs violate, with their tasks."""
        yield from ((pair.after, group) for pair in self.pairs for group in pair.new_shapes)

    @property
    def losses(self) -> Iterator[tuple[TaskResult, Loss]]:
        """All losses that chance does not explain."""
        for pair in self.pairs:
            yield from ((pair.after, loss) for loss in (*pair.untested, *pair.stopped) if not loss.may_be_chance)

    @property
    def is_broken(self) -> bool:
        """Whether something is newly violated: a property, or one of a new task."""
        broken = any(group.kind != REACHABLE for _, group in self.new)
        return broken or any(pair.is_worse for pair in self.pairs) or any(is_bad(task) for task in self.only_after)

    @property
    def has_new_shapes(self) -> bool:
        """Whether a property that was violated before is violated in another way."""
        return any(group.kind != REACHABLE for _, group in self.new_shapes)

    @property
    def has_lost(self) -> bool:
        """Whether the later run knows less: coverage or a task is lost, or a task is undecided that was not."""
        lost = bool(self.only_before) or next(self.losses, None) is not None
        return lost or any(pair.is_undecided_now for pair in self.pairs)

    @property
    def is_unchanged(self) -> bool:
        """Whether both runs are complete, with the same tasks, groups, verdicts and coverage."""
        other = self.only_before or self.only_after or self.before.missing or self.after.missing
        return not other and all(pair.is_unchanged for pair in self.pairs)

    @property
    def exit_code(self) -> int:
        """12 if something is newly violated or in a new shape, 3 if the later run knows less, else 0."""
        if self.is_broken or self.has_new_shapes:
            return Answer.VIOLATED.exit_code
        return Answer.UNDECIDED.exit_code if self.has_lost else 0


def compare(before: RunResult, after: RunResult) -> Comparison:
    """Return the comparison of two runs, their tasks paired."""
    old, new = dict(_named(before.tasks)), dict(_named(after.tasks))
    repeatable = is_repeatable(before, after)
    return Comparison(
        before,
        after,
        tuple(Pair(old[key], task, repeatable) for key, task in new.items() if key in old),
        tuple(task for key, task in old.items() if key not in new),
        tuple(task for key, task in new.items() if key not in old),
    )


def _named(tasks: Iterable[TaskResult]) -> Iterator[tuple[tuple[object, ...], TaskResult]]:
    """Yield each task with the key that pairs it; equal keys are numbered."""
    counted: Counter[tuple[str, ...]] = Counter()
    for task in tasks:
        yield (*task.key, counted[task.key]), task
        counted[task.key] += 1


def is_bad(task: TaskResult) -> bool:
    """Return whether the answer of a task is bad news: a violation that is not accepted."""
    return task.answer in BROKEN and not task.accepted


def _has_property_of(group: FindingRow, task: TaskResult) -> bool:
    """Return whether a task found the property of a group violated, in whatever shape, minimized or not."""
    counted = {total.declaration for total in task.properties if total.violated}
    return property_of(group) in counted | {property_of(each) for each in task.groups}


def property_of(group: FindingRow) -> str:
    """Return the name of the property that a group violates, without the arguments; "" for a deadlock."""
    return group.property.partition("(")[0]


def _without(one: TaskResult, other: TaskResult) -> tuple[FindingRow, ...]:
    known = {group.group for group in other.groups}
    return tuple(group for group in one.groups if group.group not in known)


def _taken(task: TaskResult) -> dict[str, int]:
    """Return how often instances of each action were taken."""
    taken: Counter[str] = Counter()
    for instance in task.actions:
        taken[instance.action] += instance.taken
    return dict(taken)
