"""A kernel whose functions run plain Python: some hundred states a second, and no lifting and no compiler.

It serves two purposes. A search that uses it is an independent check of one that uses compiled code, because the two
share nothing but the model and the search. And a large model with few states is searched in a second that would take
half a minute to compile.
"""

from __future__ import annotations

import ctypes
from collections import OrderedDict
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.search.kernel.calls import SIGNATURES
from kwalk.search.kernel.compile.layout import WORD, layout_of
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.kernel.interpreter import Visit

ERRORS = ("an error of the model", "an exception that is no error of the model")
"""Why a function returned a number below 0: an error that plain Python describes, or what `Kernel.pending` holds."""
FAILED, RAISED = -1, -2
CACHED = 4
"""How many visits are cached: the functions of a kernel are called for the same state in turn."""


def interpreted_kernel(model: Model, functions: InterpretedFunctions | None = None) -> Kernel:
    """Return a kernel that executes the model's plain Python.

    Args:
        model: The model; it does not have to be liftable.
        functions: What to execute; by default the model's functions as they are.

    Returns:
        A kernel with the layout, the numbers and the results of a compiled one. Its bounds are all bounds of the
        model, and its errors have one text.
    """
    functions = functions or InterpretedFunctions(model)
    offsets, widths, lows = functions.layout.arrays
    callbacks = {name: kind(getattr(functions, name)) for name, kind in SIGNATURES.items()}
    addresses: dict[str, Any] = {name: ctypes.cast(each, ctypes.c_void_p).value for name, each in callbacks.items()}
    instance_words, property_words = -(-len(model.instances) // WORD), max(1, -(-len(model.properties) // WORD))
    return Kernel(
        words=functions.layout.words,
        instances=len(model.instances),
        properties=len(model.properties),
        bounds=functions.bounds,
        errors=ERRORS,
        **addresses,
        system_row=bit_row((i.index for i in model.instances if i.action.by.system), instance_words),
        reachable_row=bit_row((c.index for c in model.properties if c.kind is Kind.REACHABLE), property_words),
        step_row=bit_row((c.index for c in model.properties if c.kind is Kind.STEP), property_words),
        offsets=offsets,
        widths=widths,
        lows=lows,
        keep_alive=(functions, callbacks),
        pending=functions.pending,
    )


def _row_at(address: int, words: int) -> Any:
    """Return the words at an address, as an array that can be read and written."""
    return (ctypes.c_uint64 * words).from_address(address)


def keeps_exceptions(failed: int | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Keep what a function raises in `pending`, because C cannot pass an exception on; return `failed` then."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def guarded(self: InterpretedFunctions, *args: Any) -> Any:
            if self.pending:
                return failed
            try:
                return function(self, *args)
            except BaseException as error:  # Ctrl-C as well: `Kernel.raise_pending` raises it
                self.pending.append(error)
                return failed

        return guarded

    return decorate


class InterpretedFunctions:
    """The functions of a kernel, over addresses of packed states and rows.

    Args:
        model: The model.
        word_bits: How many bits of a word are used.
    """

    def __init__(self, model: Model, word_bits: int = WORD) -> None:
        self.model, self.layout = model, layout_of(model.leaves, word_bits)
        self.words = self.layout.words
        self.bounds = tuple(sorted((*model.binding.bounds, *(each.bound for each in model.constraints))))
        self.pending: list[BaseException] = []
        self._fields = [
            (offset // WORD, offset % WORD, (1 << width) - 1, low)
            for offset, width, low in zip(self.layout.offsets, self.layout.widths, self.layout.lows, strict=True)
        ]
        self._visits: OrderedDict[Vector, Visit] = OrderedDict()

    # States and rows at addresses.

    def _visit(self, address: int) -> Visit:
        packed = _row_at(address, self.words)[:]
        vector = tuple((packed[word] >> shift & mask) + low for word, shift, mask, low in self._fields)
        known = self._visits.get(vector)
        if known is None:
            known = self._visits[vector] = Visit(self.model, vector)
            if len(self._visits) > CACHED:
                self._visits.popitem(last=False)
        return known

    def _store(self, vector: Vector, address: int) -> None:
        packed = [0] * self.words
        for number, (word, shift, _, low) in zip(vector, self._fields, strict=True):
            packed[word] |= number - low << shift
        _row_at(address, self.words)[:] = packed

    @staticmethod
    def _store_bits(numbers: Iterable[int], size: int, address: int) -> None:
        rows = [0] * -(-size // WORD)
        for number in numbers:
            rows[number // WORD] |= 1 << number % WORD
        _row_at(address, len(rows))[:] = rows

    # Steps.

    def _is_enabled(self, visit: Visit, number: int) -> bool:
        """Return whether the guard is true; a guard that raises an error counts as true."""
        try:
            return visit.attempt(self.model.instances[number]).result is not StepResult.DISABLED
        except DomainError:
            return True

    def _store_guards(self, visit: Visit, row: int) -> None:
        count = len(self.model.instances)
        self._store_bits((n for n in range(count) if self._is_enabled(visit, n)), count, row)

    def step(self, visit: Visit, number: int) -> Vector | int:
        """Return the state after an enabled instance, or the number above or below 0 that `apply` returns."""
        instance = self.model.instances[number]
        try:
            outcome = visit.attempt(instance)
            if outcome.bound is not None:
                return self.bounds.index(outcome.bound) + 1
            after = visit.after(instance)
        except DomainError:
            return FAILED
        assert after is not None
        return after

    @keeps_exceptions(None)
    def guards(self, state: int, row: int) -> None:
        """Write the row of the instances whose guard is true."""
        self._store_guards(self._visit(state), row)

    @keeps_exceptions(RAISED)
    def apply(self, instance: int, before: int, after: int) -> int:
        """Write the state after an instance."""
        result = self.step(self._visit(before), instance)
        if isinstance(result, int):
            return result
        self._store(result, after)
        return 0

    @keeps_exceptions(RAISED)
    def advance(self, instance: int, before: int, after: int, row: int) -> int:
        """Write the state after an instance, and the row of its guards."""
        result = self.step(self._visit(before), instance)
        if isinstance(result, int):
            return result
        self._store(result, after)
        self._store_guards(self._visit(after), row)
        return 0

    @keeps_exceptions(RAISED)
    def expand(self, state: int, row: int, successors: int, instances: int, hits: int) -> int:
        """Write the row of guards and every successor, with its instance; count the bounds that were reached."""
        visit, count = self._visit(state), 0
        self._store_guards(visit, row)
        taken = (ctypes.c_uint32 * len(self.model.instances)).from_address(instances)
        reached = _row_at(hits, len(self.bounds))
        for number in range(len(self.model.instances)):
            if not self._is_enabled(visit, number):
                continue
            result = self.step(visit, number)
            if not isinstance(result, int):
                self._store(result, successors + 8 * self.words * count)
                taken[count] = number
                count += 1
            elif result < 0:
                return result
            else:
                reached[result - 1] += 1
        return count

    # Properties.

    @keeps_exceptions(None)
    def check(self, state: int, quiescent: int, false_row: int, premise_row: int) -> None:
        """Write which properties of a state are false, and of which the premise is true."""
        visit = self._visit(state)
        kinds = {Kind.STEP} if quiescent else {Kind.STEP, Kind.WHEN_QUIESCENT}
        properties = (prop for prop in self.model.properties if prop.kind not in kinds)
        self._store_truths({p.index: self._truth(visit, None, p) for p in properties}, false_row, premise_row)

    @keeps_exceptions(None)
    def check_step(self, before: int, after: int, false_row: int, premise_row: int) -> None:
        """Write which step properties are false, and of which the premise is true."""
        steps = (p for p in self.model.properties if p.kind is Kind.STEP)
        visit, vector = self._visit(after), self._visit(before).vector
        self._store_truths({p.index: self._truth(visit, vector, p) for p in steps}, false_row, premise_row)

    @keeps_exceptions(None)
    def check_awaited(self, state: int, false_row: int, premise_row: int) -> None:
        """Write of which liveness properties what is awaited is false, and of which the premise is true."""
        visit = self._visit(state)
        properties = (p for p in self.model.properties if p.kind.is_liveness)
        self._store_truths({p.index: self._awaited(visit, p) for p in properties}, false_row, premise_row)

    def _store_truths(self, bits: dict[int, tuple[bool, bool]], false_row: int, premise_row: int) -> None:
        size = max(1, len(self.model.properties))
        self._store_bits((number for number, (false, _) in bits.items() if false), size, false_row)
        self._store_bits((number for number, (_, premise) in bits.items() if premise), size, premise_row)

    def _truth(self, visit: Visit, before: Vector | None, prop: PropertyInstance) -> tuple[bool, bool]:
        """Return the bits of the false row and of the premise row in `check` and `check_step`."""
        try:
            if prop.kind.is_liveness:
                visit.awaited(prop)
                return False, False
            true = visit.predicate(prop, before)
        except DomainError:
            return True, False
        return true is (prop.kind is Kind.REACHABLE), true is not None

    def _awaited(self, visit: Visit, prop: PropertyInstance) -> tuple[bool, bool]:
        """Return the bits of the false row and of the premise row in `check_awaited`; any where there is an error."""
        try:
            premise, satisfied = visit.awaited(prop)
        except DomainError:
            return True, False
        return not satisfied, premise
