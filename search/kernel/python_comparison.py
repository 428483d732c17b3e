"""Comparison of compiled code with plain Python in single states: a verdict does not rest on compiled code alone.

Words: the *record* of a state is what compiled code computes there: guards, codes, successors and properties. A record
consists of arrays, so it can be made where a search runs and compared where the model is. Plain execution defines the
behaviour of a model: where a record differs from it, the compiled model is wrong, and no verdict follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np
from attrs import frozen

from kwalk.model.language import ActionInstance, DomainError, Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.model.language.errors import InternalError, KwalkError
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.compared import NOTHING_COMPARED, Compared
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.interpreter import Visit

Result = TypeVar("Result")
StepOrText = Vector | str
"""Of an action instance the state after it, "disabled", "bound NAME" or "error"."""
Truth = bool | str | None
"""Of a property whether it is true, None if its premise is false, "error", or the two parts of a liveness one."""


class EngineDisagreement(InternalError):
    """Plain Python and compiled code (or Z3) give different results: the gravest internal error.

    `model` is the model and `state` the vector where they differ, as far as they are known.
    """

    def __init__(self, message: str, model: Model | None = None, state: Vector | None = None) -> None:
        super().__init__(message)
        self.model, self.state = model, state

    def __reduce__(self) -> tuple[type[EngineDisagreement], tuple[str]]:
        """Leave out the model, which cannot be sent to another process."""
        return EngineDisagreement, (str(self),)


# What compiled code says.


@frozen(eq=False)
class CompiledRecord:
    """What compiled code computes in one state. `n` is the number of instances whose guard is true."""

    state: np.ndarray
    """uint64[words]."""
    enabled: tuple[int, ...]
    """The instances whose guard is true."""
    codes: np.ndarray
    """int64[n]: what `apply` returns for each of them."""
    after: np.ndarray
    """uint64[n, words]: the states after them, where the code is 0."""
    advance_differs: tuple[int, ...]
    """The instances for which `advance` differs from `apply` and `guards`."""
    expanded: int
    """What `expand` returns."""
    expanded_instances: np.ndarray
    """uint32[expanded]: the instances in the result of `expand`."""
    expanded_after: np.ndarray
    """uint64[expanded, words]."""
    hits: np.ndarray
    """int64[bounds]: how often `expand` counts each bound."""
    is_quiescent: bool
    checked: np.ndarray
    """uint64[6, property words]: the rows of `check` (false, premise), as in the search and as in a quiescent state,
    and those of `check_awaited`."""
    steps: np.ndarray
    """uint64[n, 2, property words]: the rows of `check_step` (false, premise) for each step."""


class RecordMaker:
    """Makes the records of states with one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.calls = kernel, KernelCalls(kernel)

    def record(self, packed: np.ndarray) -> CompiledRecord:
        """Return the record of a packed state, uint64[words].

        Raises:
            BaseException: a function of the kernel that is plain Python has raised it.
        """
        kernel, state = self.kernel, np.array(packed, np.uint64)
        row = self.calls.guards(state)
        enabled = tuple(n for n in bit_numbers(row) if n < kernel.instances)
        codes, after = np.zeros(len(enabled), np.int64), np.zeros((len(enabled), kernel.words), np.uint64)
        for place, instance in enumerate(enabled):
            codes[place] = self.calls.apply(instance, state, after[place])
        quiescent = not (row & kernel.system_row[: kernel.instance_words]).any()
        checks = [self.calls.check(state, quiescent=flag) for flag in (quiescent, True)]
        checked = np.concatenate([*checks, self.calls.check_awaited(state)])
        taken = zip(enabled, codes.tolist(), after, strict=True)
        differs = tuple(n for n, code, then in taken if self._advances(state, row, n, code, then))
        record = CompiledRecord(
            state,
            enabled,
            codes,
            after,
            differs,
            *self._expansion(state),
            quiescent,
            checked,
            self._steps(state, codes, after),
        )
        kernel.raise_pending()
        return record

    def _advances(self, state: np.ndarray, row: np.ndarray, instance: int, code: int, after: np.ndarray) -> bool:
        """Return whether `advance` differs from `apply`, or its row from that of `guards`."""
        again, new_row = np.zeros_like(after), row.copy()
        same = self.calls.advance(instance, state, again, new_row) == code
        if code or not same:
            return not same
        return bool((again != after).any() or (new_row != self.calls.guards(after)).any())

    def _expansion(self, state: np.ndarray) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
        """Return what `expand` returns and writes, without the row."""
        kernel = self.kernel
        row, hits = np.zeros(kernel.instance_words, np.uint64), np.zeros(max(1, len(kernel.bounds)), np.int64)
        after = np.zeros((kernel.instances + 1, kernel.words), np.uint64)
        taken = np.zeros(kernel.instances + 1, np.uint32)
        arrays = (state, row, after, taken, hits)
        made = self.calls.functions["expand"](*(array.ctypes.data for array in arrays))
        return made, taken[: max(0, made)].copy(), after[: max(0, made)].copy(), hits[: len(kernel.bounds)]

    def _steps(self, state: np.ndarray, codes: np.ndarray, after: np.ndarray) -> np.ndarray:
        steps = np.zeros((len(codes), 2, self.kernel.property_words), np.uint64)
        if self.kernel.step_row.any():
            for place in np.flatnonzero(codes == 0):
                steps[place] = self.calls.check_step(state, after[place])
        return steps


class CompiledState:
    """A record as results that can be compared."""

    def __init__(self, kernel: Kernel, record: CompiledRecord) -> None:
        self.kernel, self.record = kernel, record
        self._after = [tuple(row) for row in kernel.unpack(record.after).tolist()] if record.enabled else []
        self._places = {instance: place for place, instance in enumerate(record.enabled)}

    def step(self, instance: int) -> StepOrText:
        """Return the result of an action instance."""
        place = self._places.get(instance)
        if place is None:
            return "disabled"
        code = int(self.record.codes[place])
        if code:
            return f"bound {self.kernel.bounds[code - 1]}" if code > 0 else "error"
        return self._after[place]

    def truth(self, prop: PropertyInstance, *, as_it_is: bool = False) -> Truth:
        """Return the result of a property, as if the state were quiescent, or as it is; not for `step` properties."""
        now, if_quiescent, awaited = (
            [has_bit(row, prop.index) for row in self.record.checked[first : first + 2]] for first in (0, 2, 4)
        )
        truth = compiled_truth(prop, *(now if as_it_is else if_quiescent))
        return compiled_awaited(*awaited) if prop.kind.is_liveness and truth is None else truth


# What plain Python says.


class PythonComparison:
    """Compares records with plain Python, and counts what was compared."""

    def __init__(self, model: Model) -> None:
        self.model, self.compared = model, NOTHING_COMPARED
        self.instances: set[int] = set()
        """The numbers of the instances that were compared on a step that they take."""
        self._steps = [prop for prop in model.properties if prop.kind is Kind.STEP]
        self._of_states = [prop for prop in model.properties if prop.kind is not Kind.STEP]

    def compare(self, kernel: Kernel, record: CompiledRecord) -> None:
        """Compare the record of a state.

        Args:
            kernel: The kernel that made the record, or one of the same model.
            record: The record.

        Raises:
            EngineDisagreement: Plain Python has another result.
        """
        one = _StateComparison(self.model, kernel, record)
        successors = one.compare_steps(self.model.instances)
        self._note(record)
        one.compare_quiescence()
        for prop in self._of_states:
            one.compare_property(prop)
        evaluated = len(self._of_states) + len(self._steps) * one.compare_step_properties(self._steps)
        self.compared += Compared(1, successors, evaluated)

    def compare_instance(self, kernel: Kernel, record: CompiledRecord, instance: int) -> None:
        """Compare one action instance in a state; arguments and errors as for `compare`."""
        one = _StateComparison(self.model, kernel, record)
        self.compared += Compared(0, one.compare_steps([self.model.instances[instance]]))
        self._note(record, instance)

    def _note(self, record: CompiledRecord, only: int | None = None) -> None:
        taken = {number for number, code in zip(record.enabled, record.codes.tolist(), strict=True) if code == 0}
        new = (taken if only is None else taken & {only}) - self.instances
        if new:
            self.instances |= new
            keys = frozenset(self.model.instances[number].key for number in new)
            self.compared += Compared(instances=keys)


class _StateComparison:
    """The comparison of one state."""

    def __init__(self, model: Model, kernel: Kernel, record: CompiledRecord) -> None:
        self.model, self.kernel, self.record = model, kernel, record
        self.vector: Vector = tuple(kernel.unpack(record.state[None])[0].tolist())
        self.visit, self.compiled = Visit(model, self.vector), CompiledState(kernel, record)

    # Steps.

    def compare_steps(self, instances: Iterable[ActionInstance]) -> int:
        """Compare action instances; return the number of successors."""
        successors = 0
        expanded = self._expanded()
        for instance in instances:
            plain = plain_step(self.visit, instance.index)
            successors += isinstance(plain, tuple)
            self._compare_step(instance.index, plain, self.compiled.step(instance.index), "compiled code")
            if expanded is not None:
                listed = plain if isinstance(plain, tuple) else "no successor"
                made = expanded.get(instance.index, "no successor")
                self._compare_step(instance.index, listed, made, "the compiled list of successors")
        for number in self.record.advance_differs:
            self._fail(
                f"The compiled function that advances a walk by {self.model.instances[number].key} differs from the "
                "compiled functions of its effect and of the guards"
            )
        self._compare_expansion(expanded is not None)
        return successors

    def _expanded(self) -> dict[int, Vector] | None:
        """Return the successors that `expand` lists, by instance; None if it reports an error instead."""
        record = self.record
        if record.expanded < 0:
            return None
        after = self.kernel.unpack(record.expanded_after).tolist() if record.expanded else []
        return dict(zip(record.expanded_instances.tolist(), map(tuple, after), strict=True))

    def _compare_expansion(self, complete: bool) -> None:
        """Compare the counts of `expand`, which leaves out the rest of its result when an action leaves its domain."""
        record, codes = self.record, self.record.codes
        if complete == bool((codes < 0).any()):
            self._fail("The compiled list of successors reports an error that single steps do not have, or lacks one")
        hits = Counter(int(code) - 1 for code in codes if code > 0)
        if complete and any(hits[number] != hit for number, hit in enumerate(record.hits.tolist())):
            self._fail(
                f"The compiled list of successors counts {record.hits.tolist()} steps that the bounds "
                f"{self.kernel.bounds} disable, and single steps {[hits[n] for n in range(len(record.hits))]}"
            )

    def _compare_step(self, instance: int, plain: StepOrText, compiled: StepOrText, what: str) -> None:
        if plain == compiled:
            return
        key = self.model.instances[instance].key
        if isinstance(plain, tuple) and isinstance(compiled, tuple):
            self._fail(
                f"{key} leads to different states",
                plain_says=changes(self.model, plain, compiled),
                compiled_says=changes(self.model, compiled, plain),
                what=what,
            )
        self._fail(f"Plain Python and {what} disagree on {key}", step_text(plain), step_text(compiled), what)

    # Properties.

    def compare_quiescence(self) -> None:
        """Compare whether the state is quiescent."""
        plain = all(plain_step(self.visit, i.index) == "disabled" for i in self.model.instances if i.action.by.system)
        if plain != self.record.is_quiescent:
            says = ("quiescent" if each else "not quiescent" for each in (plain, self.record.is_quiescent))
            self._fail("Plain Python and compiled code disagree on whether the state is quiescent", *says)

    def compare_property(self, prop: PropertyInstance) -> None:
        """Compare a property in the state; a `when_quiescent` one also as if the state were quiescent."""
        plain = plain_truth(self.visit, prop)
        self._compare_truth(prop, plain, self.compiled.truth(prop))
        if prop.kind is Kind.WHEN_QUIESCENT and not self.record.is_quiescent:
            plain = None
        self._compare_truth(prop, plain, self.compiled.truth(prop, as_it_is=True))

    def compare_step_properties(self, properties: list[PropertyInstance]) -> int:
        """Compare the step properties on every step out of the state; return the number of steps."""
        steps = 0
        for place, instance in enumerate(self.record.enabled):
            if properties and not self.record.codes[place]:
                steps += 1
                false, premise = self.record.steps[place]
                taken = self.model.instances[instance]
                for prop in properties:
                    plain = step_truth(self.visit, prop, taken)
                    compiled = compiled_truth(prop, has_bit(false, prop.index), has_bit(premise, prop.index))
                    self._compare_truth(prop, plain, compiled, f", on the step {taken.key},")
        return steps

    def _compare_truth(self, prop: PropertyInstance, plain: Truth, compiled: Truth, where: str = "") -> None:
        if plain != compiled:
            text = f"Plain Python and compiled code disagree on {prop.key} ({prop.kind.value}){where}"
            self._fail(text, truth_text(plain), truth_text(compiled))

    def _fail(self, text: str, plain_says: str = "", compiled_says: str = "", what: str = "compiled code") -> None:
        raise disagreement(self.model, self.vector, text, (plain_says, compiled_says), what=what)


def plain_step(visit: Visit, number: int) -> StepOrText:
    """Return the result of an action instance in plain Python."""
    instance = visit.model.instances[number]

    def step() -> StepOrText:
        outcome = visit.attempt(instance)
        if outcome.result is StepResult.BOUND:
            return f"bound {outcome.bound}"
        after = visit.after(instance)
        return "disabled" if after is None else after

    return _evaluated(step)


def plain_truth(visit: Visit, prop: PropertyInstance, before: Vector | None = None) -> Truth:
    """Return the result of a property in plain Python, as if the state were quiescent.

    That of a `step` property is its result on the step from the state `before`, whatever takes it.
    """
    if prop.kind.is_liveness:
        return _evaluated(lambda: awaited_text(*visit.awaited(prop)))
    return _evaluated(lambda: visit.predicate(prop, before))


def step_truth(visit: Visit, prop: PropertyInstance, instance: ActionInstance) -> Truth:
    """Return the result of a `step` property in plain Python, on the step that an instance takes from a state."""
    return _evaluated(partial(visit.truth_after, prop, instance))


def _evaluated(evaluate: Callable[[], Result]) -> Result | str:
    """Return a result of the model's functions; "error" if they leave a domain or fail."""
    try:
        return evaluate()
    except DomainError:
        return "error"
    except KwalkError:
        raise
    except Exception:  # the functions are those of a user: any exception is an error of the model
        return "error"


def compiled_truth(prop: PropertyInstance, false: bool, premise: bool) -> Truth:
    """Return what the two bits of a property mean (see `Kernel.check`); of a liveness property "error" or None."""
    if not premise:
        return "error" if false else None
    return false if prop.kind is Kind.REACHABLE else not false


def compiled_awaited(false: bool, premise: bool) -> Truth:
    """Return what the two bits of a liveness property mean (see `Kernel.check_awaited`)."""
    return awaited_text(premise, not false)


def awaited_text(premise: bool, satisfied: bool) -> str:
    """Return the result for a liveness property, which has two parts."""
    return f"premise {premise}, satisfied {satisfied}"


def step_text(result: StepOrText) -> str:
    """Return the result of an action instance as text, without the state after it."""
    return "is enabled" if isinstance(result, tuple) else result


def truth_text(truth: Truth) -> str:
    """Return the result of a property as text."""
    if isinstance(truth, str):
        return truth
    return "its premise is false" if truth is None else str(truth).lower()


# Messages.


def disagreement(
    model: Model, vector: Vector, text: str, says: tuple[str, str] = ("", ""), *, what: str = "compiled code"
) -> EngineDisagreement:
    """Return the error for different results in a state.

    Args:
        model: The model.
        vector: The state.
        text: What differs, without a full stop.
        says: The result of plain Python, and the other one; "" for none.
        what: What has the other result.
    """
    names = ("Plain Python", what[0].upper() + what[1:])
    lines = "".join(f"\n{who}: {result}." for who, result in zip(names, says, strict=True) if result)
    return EngineDisagreement(f"{text} in this state: {state_text(model, vector)}.{lines}", model, vector)


def state_text(model: Model, vector: Vector) -> str:
    """Return a state as text; numbers that are out of their domains as numbers."""
    return ", ".join(f"{path} = {value}" for path, value in _shown(model, vector))


def changes(model: Model, one: Vector, other: Vector) -> str:
    """Return the fields in which one state differs from another, as text."""
    pairs = zip(_shown(model, one), one, other, strict=True)
    return ", ".join(f"{path} = {value}" for (path, value), a, b in pairs if a != b)


def _shown(model: Model, vector: Vector) -> Iterator[tuple[str, str]]:
    with model.active():
        for leaf, number in zip(model.leaves, vector, strict=True):
            yield leaf.path, leaf.show(number) if leaf.low <= number <= leaf.high else f"{number} (out of its domain)"


def has_bit(row: np.ndarray, index: int) -> bool:
    """Return whether a bit of a bit row is set."""
    return bool(int(row[index // 64]) >> (index % 64) & 1)


__all__ = ["Compared", "CompiledRecord", "EngineDisagreement", "PythonComparison", "RecordMaker"]
