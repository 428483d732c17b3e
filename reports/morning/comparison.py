"""Two nightly runs side by side: what is new in the later one, what is gone, and what it did not look at any more.

Words: a task of one run is *paired* with the task of the other that has the same scenario, variant, bounds, flags and
engine. A *loss* is a claim that was put to the test, or a rule that was taken, in the earlier run and never in the
later one. It *may be chance* where so few were to be *expected* of the later run's steps that none is no wonder.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from attrs import frozen

from search.nightly.reading.results import RunResult, TaskResult
from search.nightly.tables import FindingRow
from search.verdict import Answer

BROKEN = frozenset({"violated", "bad stable state", "deadlock"})
REACHABLE = "reachable"
"""The kind of claims whose clusters are witnesses: no bad news."""
CHANCE = 10.0
"""Fewer than so many expected may be none by chance: of ten independent events expected, none comes in 1 of 22,000."""
SLOWER = 0.25
"""A change of the rate by less than this part is not told."""
LEAST_SECONDS = 1.0
"""A rate that was measured in less time than this is not compared."""


@frozen
class Loss:
    """A claim or an action that the later run never came to; `before` is how often the earlier one did."""

    name: str
    before: int
    expected: float
    may_be_chance: bool
    is_gone: bool
    """Whether the later run has no such claim or action at all."""


@frozen
class Pair:
    """A task in two runs."""

    before: TaskResult
    after: TaskResult

    @property
    def verdict_changed(self) -> bool:
        """Whether the answers differ."""
        return self.before.answer != self.after.answer

    @property
    def is_worse(self) -> bool:
        """Whether the later answer is bad news that the earlier one was not."""
        return self.verdict_changed and self.after.answer in BROKEN

    @property
    def is_undecided_now(self) -> bool:
        """Whether the later run does not know what the earlier one knew."""
        return self.verdict_changed and self.after.answer == Answer.UNDECIDED.value

    @property
    def new(self) -> tuple[FindingRow, ...]:
        """Clusters of the later run that the earlier one does not have."""
        return _without(self.after, self.before)

    @property
    def gone(self) -> tuple[FindingRow, ...]:
        """Clusters of the earlier run that the later one does not have."""
        return _without(self.before, self.after)

    @property
    def shorter(self) -> tuple[tuple[FindingRow, FindingRow], ...]:
        """Clusters of both with a shorter trace than before, each with what it was."""
        old = {cluster.cluster: cluster for cluster in self.before.clusters}
        both = ((old[c.cluster], c) for c in self.after.clusters if c.cluster in old)
        return tuple((was, now) for was, now in both if now.length < was.length)

    @property
    def untested(self) -> tuple[Loss, ...]:
        """Claims that are never put to the test any more."""
        return self._losses(
            {claim.claim: claim.premise for claim in self.before.claims},
            {claim.claim: claim.premise for claim in self.after.claims},
        )

    @property
    def stopped(self) -> tuple[Loss, ...]:
        """Actions of which no instance is taken any more."""
        return self._losses(_taken(self.before), _taken(self.after))

    @property
    def bounds_newly_hit(self) -> Mapping[str, int]:
        """Bounds that disable steps now and did not, with how often."""
        old = self.before.bounds_hit
        return {name: hits for name, hits in self.after.bounds_hit.items() if hits and not old.get(name)}

    @property
    def speed(self) -> float | None:
        """The later rate over the earlier one, None where they differ little or one is not known well."""
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
            for name, n in before.items() if n and not after.get(name)
        )


@frozen
class Comparison:
    """All that differs between two runs."""

    before: RunResult
    after: RunResult
    pairs: tuple[Pair, ...]
    only_before: tuple[TaskResult, ...]
    only_after: tuple[TaskResult, ...]

    @property
    def new(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All clusters that are new, with their tasks; those of a task that is new are."""
        yield from ((pair.after, cluster) for pair in self.pairs for cluster in pair.new)
        yield from ((task, cluster) for task in self.only_after for cluster in task.clusters)

    @property
    def gone(self) -> Iterator[tuple[TaskResult, FindingRow]]:
        """All clusters that are gone from tasks of both runs, with the earlier task."""
        yield from ((pair.before, cluster) for pair in self.pairs for cluster in pair.gone)

    @property
    def known(self) -> int:
        """How many clusters both runs have."""
        return sum(len(pair.after.clusters) - len(pair.new) for pair in self.pairs)

    @property
    def losses(self) -> Iterator[tuple[TaskResult, Loss]]:
        """Everything that is not come to any more and that chance does not explain."""
        for pair in self.pairs:
            yield from ((pair.after, loss) for loss in (*pair.untested, *pair.stopped) if not loss.may_be_chance)

    @property
    def is_broken(self) -> bool:
        """Whether something new is broken."""
        broken = any(cluster.kind != REACHABLE for _, cluster in self.new)
        return broken or any(pair.is_worse for pair in self.pairs) or any(t.answer in BROKEN for t in self.only_after)

    @property
    def has_lost(self) -> bool:
        """Whether the later run says less: coverage or tasks lost, or a task undecided that was not."""
        lost = bool(self.only_before) or next(self.losses, None) is not None
        return lost or any(pair.is_undecided_now for pair in self.pairs)

    @property
    def is_quiet(self) -> bool:
        """Whether the clusters, the verdicts and what was covered are the same."""
        other = bool(self.only_before or self.only_after) or any(pair.verdict_changed for pair in self.pairs)
        return not other and not [*self.new, *self.gone, *self.losses]

    @property
    def exit_code(self) -> int:
        """12 if something new is broken, 3 if the later run says less than the earlier one, else 0."""
        if self.is_broken:
            return Answer.VIOLATED.exit_code
        return Answer.UNDECIDED.exit_code if self.has_lost else 0


def compare(before: RunResult, after: RunResult) -> Comparison:
    """The two runs, their tasks paired."""
    old, new = dict(_named(before.tasks)), dict(_named(after.tasks))
    return Comparison(
        before, after, tuple(Pair(old[key], task) for key, task in new.items() if key in old),
        tuple(task for key, task in old.items() if key not in new),
        tuple(task for key, task in new.items() if key not in old),
    )  # fmt: skip


def _named(tasks: Iterable[TaskResult]) -> Iterator[tuple[tuple[object, ...], TaskResult]]:
    """Each task by what makes it the same in another run, the second one of the same by its number among them."""
    counted: Counter[tuple[str, ...]] = Counter()
    for task in tasks:
        yield (*task.key, counted[task.key]), task
        counted[task.key] += 1


def _without(one: TaskResult, other: TaskResult) -> tuple[FindingRow, ...]:
    known = {cluster.cluster for cluster in other.clusters}
    return tuple(cluster for cluster in one.clusters if cluster.cluster not in known)


def _taken(task: TaskResult) -> dict[str, int]:
    """How often an instance of each action was taken."""
    taken: Counter[str] = Counter()
    for rule in task.rules:
        taken[rule.name] += rule.taken
    return dict(taken)
