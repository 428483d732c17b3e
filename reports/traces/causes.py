"""Why a trace ends as it does, in a few sentences: who wrote what the property read, and what that step read.

Words: a *fact* is a leaf with its value in one state of a trace, and who reads it: a step, or the property. Its *cause*
is the step that gives it this value, or that keeps it although it could change it. Steps that only pass a value on are
named beside the step from which it comes. A cause from outside of the system needs no further one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from kwalk.model.language import Model
from kwalk.model.language.containers import FifoShape, FreshShape
from kwalk.model.language.shapes import SubsetShape
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.progress import times
from kwalk.reports.traces.changes import Part, parts_of, path_text
from kwalk.search.results.slicing import TraceSlice

MOST_SENTENCES, MOST_FACTS = 6, 2


@frozen
class StepText:
    """What a sentence says of a step. `outcome` is empty if the step does what its description says."""

    text: str
    outcome: str
    system: bool


@frozen
class ReadValue:
    """A leaf in a state, by the number of the state; `reader` is a step, or None for the property."""

    reader: int | None
    leaf: int
    state: int


@frozen
class Cause:
    """The step from which a fact comes: `leaf` is where it wrote the value, which the steps `passed` passed on."""

    fact: ReadValue
    step: int
    leaf: int
    passed: tuple[int, ...] = ()
    is_kept: bool = False


def cause_sentences(model: Model, history: TraceSlice, steps: Sequence[StepText]) -> tuple[str, ...]:
    """Return at most MOST_SENTENCES sentences, from the violation back: one for each fact that matters most.

    Args:
        model: The model.
        history: The slice of the trace.
        steps: What is said of each step.
    """
    return tuple(_Explanation(model, history, steps).sentences())


class _Explanation:
    def __init__(self, model: Model, history: TraceSlice, steps: Sequence[StepText]) -> None:
        self.model, self.history, self.steps = model, history, steps
        self.part_of: Mapping[int, Part] = {
            leaf: part for part in parts_of(model) for leaf in range(part.start, part.stop)
        }

    def sentences(self) -> Iterator[str]:
        """Yield the sentences: of outcomes and outside steps, depth first; then of the rest; then of what enabled."""
        first, rest, enabling = list[Cause](), list[Cause](), list[Cause]()
        explained: set[int] = set()
        new = list(self._ends())
        while len(explained) < MOST_SENTENCES:
            first = [*filter(self._is_telling, new), *first]
            rest += [cause for cause in new if not self._is_telling(cause)]
            queue = first or rest or enabling
            if not queue:
                return
            cause, new = queue.pop(0), []
            if cause.step not in explained:
                explained.add(cause.step)
                same = [other for other in [*first, *rest] if self._is_said_with(cause, other)]
                yield self._sentence(cause, same[: MOST_FACTS - 1])
                if self.steps[cause.step - 1].system:
                    new = self._causes(cause, self._sources(cause))
                    enabling += self._causes(cause, self.history.guard(cause.step))

    def _is_telling(self, cause: Cause) -> bool:
        step = self.steps[cause.step - 1]
        return bool(step.outcome) or not step.system

    @staticmethod
    def _is_said_with(cause: Cause, other: Cause) -> bool:
        same = cause.step, cause.fact.reader, cause.passed, cause.is_kept
        return same == (other.step, other.fact.reader, other.passed, other.is_kept)

    def _ends(self) -> Iterator[Cause]:
        """Yield the causes of what the property reads: of parts that differ by their indices alone, the first one."""
        causes = (self._cause(ReadValue(None, leaf, state)) for leaf, state in self.history.ends)
        known: set[tuple[str, ...]] = set()
        for cause in sorted(filter(None, causes), key=self._rank):
            fields = (token for token in self.part_of[cause.fact.leaf].path if isinstance(token, str))
            name = (self.steps[cause.step - 1].outcome, *fields)
            if name not in known:
                yield cause
            known.add(name)

    def _rank(self, cause: Cause) -> tuple[bool, bool, bool, int]:
        """Order causes: of steps, those outside of the system first; then what has an outcome, is kept, comes last."""
        step, inside = self.steps[cause.step - 1], cause.fact.reader is not None
        return inside and step.system, not step.outcome, not cause.is_kept, -cause.step

    def _sources(self, cause: Cause) -> frozenset[int]:
        return self.history.sources(cause.step, cause.leaf) - ({cause.leaf} if cause.is_kept else frozenset())

    def _causes(self, cause: Cause, leaves: frozenset[int]) -> list[Cause]:
        """Return the causes of what a step read, but for which ids were taken before."""
        named = (leaf for leaf in sorted(leaves) if not self._is_fresh(leaf))
        facts = (ReadValue(cause.step, leaf, cause.step - 1) for leaf in named)
        return sorted(filter(None, map(self._cause, facts)), key=self._rank)

    def _cause(self, fact: ReadValue) -> Cause | None:
        """Return the cause of a fact; None if it is so from the beginning."""
        history, leaf, step = self.history, fact.leaf, fact.state
        passed: list[int] = []
        kept: list[int] = []
        while step:
            origin = history.origin(step, leaf)
            if origin is not None and history.moves_up(step, leaf):
                leaf = origin
            elif history.defines(step, leaf) or (origin not in (None, leaf) and history.keeps(step, leaf)):
                if origin is None or self._is_fresh(origin):
                    break
                leaf = origin
                passed.append(step)
            elif not passed and fact.reader is None and history.keeps(step, leaf):
                kept.append(step)
            step -= 1
        kept.sort(key=lambda number: not self.steps[number - 1].outcome)
        if kept and (self.steps[kept[0] - 1].outcome or not step):
            return Cause(fact, kept[0], fact.leaf, is_kept=True)
        return Cause(fact, step, leaf, tuple(reversed(passed))) if step else None

    def _sentence(self, cause: Cause, same: Sequence[Cause]) -> str:
        step, fact = self.steps[cause.step - 1], cause.fact
        facts = " and ".join(dict.fromkeys(self._fact_text(one.fact) for one in (cause, *same)))
        if cause.is_kept:
            return f"Step {cause.step} does not change that {facts} ({step.text})."
        numbers = ", ".join(map(str, cause.passed))
        through = f", passed on in step{'s' * (len(cause.passed) > 1)} {numbers}" if cause.passed else ""
        reader = "The violation" if fact.reader is None else f"Step {fact.reader}"
        return f"{reader} needs that {facts}, as of step {cause.step}{through} ({step.text})."

    def _fact_text(self, fact: ReadValue) -> str:
        """Return what is true of a part: of a set, whether it has the member; of a queue, the field of an element."""
        part, vector, name = self.part_of[fact.leaf], self.history.trace.states[fact.state], self.leaf_path(fact.leaf)
        path = path_text(part.path)
        with self.model.active():
            if isinstance(part.shape, SubsetShape):
                member = part.shape.domain.label(fact.leaf - part.start)
                text = f"{path} {'has' if vector[fact.leaf] else 'lacks'} {member}"
            elif isinstance(part.shape, FifoShape):
                inside, shown = name[len(self.leaf_path(part.start)) - 1 :], self.model.show(vector)[name]
                text = f"{path} has {times(int(shown), 'element')}" if inside == "#" else f"{path}{inside} is {shown}"
            else:
                text = f"{path} is {part.value_text(vector)}"
        return visible(text, 4 * LONGEST)

    def _is_fresh(self, leaf: int) -> bool:
        return isinstance(self.part_of[leaf].shape, FreshShape)

    def leaf_path(self, leaf: int) -> str:
        """Return the path of a leaf, with the numbers of members."""
        return self.model.leaves[leaf].path
