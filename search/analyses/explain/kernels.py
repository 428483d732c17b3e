"""The kernel of a search for explanations: plain Python at first, compiled code as soon as there is some.

Most series need some hundred states, and plain Python has searched them before a large model is compiled. If a search
takes longer, another process compiles the model meanwhile, and the search continues with its code: both kernels have
one layout of packed states. That process ends with the searches: a time budget holds for the compilation, too. Searches
of models that mean the same share the code, and what plain Python has found out; one model is compiled at a time.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections import Counter, OrderedDict
from collections.abc import Callable
from enum import Enum
from functools import partial

import numpy as np
from attrs import define, field, frozen

from kwalk.model.language import Model, Vector
from kwalk.model.language.errors import InternalError, KwalkError
from kwalk.search.analyses.explain.segment_loops import TIMING_CALM, TIMING_EAGER, TIMING_HASTY, StepKind
from kwalk.search.base.progress import announce_nothing
from kwalk.search.base.worker_processes import WorkerProcess
from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.compiler import cached_kernel, compiled_model, kernel_of
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.interpreted import (
    FAILED,
    RAISED,
    InterpretedFunctions,
    interpreted_kernel,
    keeps_exceptions,
)
from kwalk.search.kernel.interpreter import Visit
from kwalk.search.kernel.model_digest import meaning_key

COMPILE_AFTER = 1.0
"""Seconds after which a model that is searched is compiled."""
PLAIN_SECONDS, LEFT_SECONDS = 3.0, 0.25
"""Seconds for which plain Python searches beside the compiler; from then on it leaves the processors to it for so long
between two looks at the budgets: of a large model it has searched what it can by then."""
WAIT_SECONDS = 0.05
"""Seconds between two looks at whether it is compiled, where nothing else is to be done."""
CACHED_STATES = 400
"""How many states are cached as objects: the successors of a state are expanded soon."""
MOST_RESULTS = 100_000
"""The most states of which it is remembered what instances do there: what is searched longer is compiled soon."""
PLAIN_PACE, PACE = 1 << 4, 1 << 14
"""The number of states between two checks of the budgets, in plain Python and in compiled code."""


class LoopTask(Enum):
    """What a loop computes of a state."""

    FREE_STEPS = 0
    """Whether it is at rest, and the successors that need no assumed event."""
    EVENTS = 1
    """The successors by assumed events of one kind, if events may happen there."""
    REST = 2
    """Whether it is at rest."""


@frozen(eq=False)
class LoopQuery:
    """What the next loop computes: see `LoopTask`. Kinds and rows are those of `segment_loops.Segment`."""

    task: LoopTask
    timing: int
    kinds: tuple[int, ...]
    busy: tuple[int, ...]
    """The instances of `busy_row`."""
    restless: tuple[int, ...]
    """The instances of `restless_row` that are not in `busy_row`."""
    event: int = StepKind.EVENT
    """The kind of the events."""

    _by_kinds: dict[tuple[int, ...], list[int]] = field(factory=dict, init=False)

    def instances(self, *kinds: int) -> list[int]:
        """Return the instances of some kinds, in their order."""
        if kinds not in self._by_kinds:
            self._by_kinds[kinds] = [number for number, kind in enumerate(self.kinds) if kind in kinds]
        return self._by_kinds[kinds]


@define(eq=False)
class ExpandedState:
    """A packed state, and what the instances that were executed there do."""

    key: bytes
    executed: int = 0
    """A bit for each instance that was executed."""
    steps: dict[int, bytes | int] = field(factory=dict)
    """For each enabled instance the packed state after it, or the number above or below 0 that `apply` returns."""
    unrest: int | None = None
    """An enabled instance of those that a state at rest, or an idle one, lacks; -1 for none, None if unknown."""


class SegmentFunctions(InterpretedFunctions):
    """Functions of a kernel in plain Python, of which `expand` executes only what the loop needs, and that only once.

    `expand` writes the bits of the guards that it evaluates: enough of them to tell whether the state is at rest.

    Args:
        model: The model.
        results: What was computed before, by any search of a model that means the same.
    """

    def __init__(self, model: Model, results: dict[bytes, ExpandedState]) -> None:
        super().__init__(model)
        self.bounds_hit: Counter[str] = Counter()
        """The bounds that disabled assumed events, and how often."""
        self.query: LoopQuery | None = None
        self._results = results
        self._states: OrderedDict[bytes, tuple[Vector, object]] = OrderedDict()
        self._present: tuple[bytes, Visit] | None = None
        offsets, widths, lows = self.layout.arrays
        self._where, self._shifts, self._lows = offsets // 64, (offsets % 64).astype(np.uint64), lows
        self._masks = (np.uint64(1) << widths.astype(np.uint64)) - np.uint64(1)

    @keeps_exceptions(RAISED)
    def expand(self, state: int, row: int, successors: int, instances: int, hits: int) -> int:
        """Write what the query asks for; return the number of successors, or below 0 for an error."""
        query = self.query
        assert query is not None
        here = self._state_at(state)
        if query.task is LoopTask.FREE_STEPS:
            return self._free_steps(query, here, (row, successors, instances, hits))
        if query.task is LoopTask.EVENTS and query.timing in (TIMING_HASTY, TIMING_EAGER):
            return self._take(query.instances(query.event), here, successors, instances, None)[0]
        unrest = self._find_unrest(query, here)
        self._store_bits(unrest, len(self.model.instances), row)
        if query.task is LoopTask.REST or any(n in query.busy or query.timing != TIMING_CALM for n in unrest):
            return 0
        return self._take(query.instances(query.event), here, successors, instances, None)[0]

    def _free_steps(self, query: LoopQuery, here: ExpandedState, at: tuple[int, int, int, int]) -> int:
        row, successors, instances, hits = at
        count = len(self.model.instances)
        if query.timing != TIMING_HASTY:
            for number in query.instances(StepKind.PROMPT):
                made, _ = self._take([number], here, successors, instances, None)
                if made:
                    here.unrest = number
                    self._store_bits([number], count, row)
                    return made
        free = query.instances(StepKind.ROUTINE, StepKind.PROMPT)
        made, enabled = self._take(free, here, successors, instances, hits)
        if made < 0:
            return made
        unrest = enabled or [n for n in query.busy if self._result(here, n) is not None][:1]
        if not unrest or query.timing == TIMING_HASTY:
            room = successors + 8 * self.words * made
            more, idle = self._take(query.instances(StepKind.IDLE_TIME), here, room, instances + 4 * made, hits)
            if more < 0:
                return more
            made, enabled = made + more, enabled + idle
            unrest = unrest or idle or [n for n in query.restless if self._result(here, n) is not None][:1]
        here.unrest = unrest[0] if unrest else -1
        self._store_bits(unrest or enabled, count, row)
        return made

    def _take(
        self, numbers: list[int], here: ExpandedState, successors: int, instances: int, hits: int | None
    ) -> tuple[int, list[int]]:
        """Write the successors by these instances; return how many (below 0: an error), and which are enabled."""
        count, enabled = 0, []
        for number in numbers:
            result = self._result(here, number)
            if result is None:
                continue
            enabled.append(number)
            if not isinstance(result, int):
                ctypes.memmove(successors + 8 * self.words * count, result, len(result))
                (ctypes.c_uint32 * 1).from_address(instances + 4 * count)[0] = number
                count += 1
            elif result < 0 and hits is None:
                vector = self._visit_of(here.key).vector
                self.model.attempt(self.model.instances[number], vector)  # raises: `seed` does not report it
            elif result < 0:
                return FAILED, enabled
            elif hits is None:
                self.bounds_hit[self.bounds[result - 1]] += 1
            else:
                (ctypes.c_int64 * len(self.bounds)).from_address(hits)[result - 1] += 1
        return count, enabled

    def _result(self, here: ExpandedState, number: int) -> bytes | int | None:
        """Return the packed state after an instance, or what `apply` returns, or None if it is not enabled."""
        if not here.executed >> number & 1:
            visit = self._visit_of(here.key)
            if self._is_enabled(visit, number):
                after = self.step(visit, number)
                here.steps[number] = after if isinstance(after, int) else self._packed(after, visit, number)
            here.executed |= 1 << number
        return here.steps.get(number)

    def _find_unrest(self, query: LoopQuery, here: ExpandedState) -> list[int]:
        """Return an enabled instance of those that an idle state lacks, one that a state at rest lacks if possible."""
        if here.unrest is None:
            order = (*query.busy, *query.restless)
            here.unrest = next((n for n in order if self._result(here, n) is not None), -1)
        return [here.unrest] if here.unrest >= 0 else []

    def _state_at(self, address: int) -> ExpandedState:
        key = ctypes.string_at(address, 8 * self.words)
        found = self._results.get(key)
        if found is None:
            if len(self._results) >= MOST_RESULTS:
                self._results.clear()
            found = self._results[key] = ExpandedState(key)
        return found

    def _visit_of(self, key: bytes) -> Visit:
        """Return the visit of a packed state: the present one, or one of an object that is cached or made."""
        if self._present is None or self._present[0] != key:
            known = self._states.get(key)
            if known is None:
                words = np.frombuffer(key, np.uint64)
                numbers = (words[self._where] >> self._shifts & self._masks).astype(np.int64) + self._lows
                vector = tuple(numbers.tolist())
                known = self._remember(key, vector, self.model.state(vector))
            self._present = key, Visit(self.model, *known)
        return self._present[1]

    def _remember(self, key: bytes, vector: Vector, state: object) -> tuple[Vector, object]:
        self._states[key] = vector, state
        if len(self._states) > CACHED_STATES:
            self._states.popitem(last=False)
        return vector, state

    def _packed(self, vector: Vector, visit: Visit, number: int) -> bytes:
        """Return the packed state after an instance, and remember it as an object."""
        numbers = (np.array(vector, np.int64) - self._lows).astype(np.uint64) << self._shifts
        words = np.zeros(self.words, np.uint64)
        np.bitwise_or.at(words, self._where, numbers)
        key = words.tobytes()
        if key not in self._states:
            self._remember(key, vector, visit.outcomes[number].state)
        return key


class CompilationQueue:
    """Compiles the models of several searches in another process, one after another, those that mean the same once.

    Use it as a context: the process ends with the block.
    """

    def __init__(self) -> None:
        self._wanted: dict[str, Model] = {}
        """The models that wait, and the one that is compiled, by what they mean."""
        self._answers: dict[str, Compiled | str] = {}
        self._results: dict[str, dict[bytes, ExpandedState]] = {}
        self._names: dict[int, tuple[str, Model]] = {}
        """What names each model that was seen, by identity; the model is kept, so that its identity stays its own."""
        self._began: dict[str, float] = {}
        """When the first search of each model began, in seconds of the monotonic clock."""
        self._kernels: dict[str, Kernel | None] = {}
        self._worker: WorkerProcess | None = None

    def __enter__(self) -> CompilationQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ask(self, model: Model) -> str:
        """Compile a model as soon as those asked for before are compiled; return what names it here."""
        key = self._name_of(model)
        if key not in self._answers:
            self._wanted.setdefault(key, model)
        self._start_next()
        return key

    def kernel(self, model: Model) -> Kernel | None:
        """Return a kernel that was compiled here, or was in the cache when it was first asked for; None without one."""
        key = self._name_of(model)
        answer = self._answers.get(key)
        if key not in self._kernels:
            self._kernels[key] = cached_kernel(model)
        if self._kernels[key] is None and isinstance(answer, Compiled):
            self._kernels[key] = kernel_of(model, answer)
        return self._kernels[key]

    def began(self, model: Model) -> float:
        """Return when the first search of a model that means the same began, in seconds of the monotonic clock."""
        return self._began.setdefault(self._name_of(model), time.monotonic())

    def results(self, model: Model) -> dict[bytes, ExpandedState]:
        """Return what searches in plain Python have found out about models that mean the same as this one."""
        return self._results.setdefault(self._name_of(model), {})

    def _name_of(self, model: Model) -> str:
        if id(model) not in self._names:
            self._names[id(model)] = meaning_key(model) or f"model {id(model)}", model
        return self._names[id(model)][0]

    def answer(self, key: str) -> Compiled | str | None:
        """Return the code of a model that was asked for, why it cannot be compiled, or None if it is not done."""
        if self._worker is not None and self._worker.answers.poll():
            current = next(iter(self._wanted))
            try:
                self._answers[current] = self._worker.answer()
            except EOFError:
                self._answers[current] = "its process ended"
            del self._wanted[current]
            self._end()
            self._start_next()
        return self._answers.get(key)

    def _start_next(self) -> None:
        if self._worker is None and self._wanted:
            model = next(iter(self._wanted.values()))
            self._worker = WorkerProcess(None, partial(_compile, model), starts_others=True)

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.process.terminate()
            self._worker.process.join()
            self._worker = None

    def close(self) -> None:
        """End the process that compiles."""
        self._wanted.clear()
        self._end()


def _compile(model: Model, send: Callable[[object], None]) -> None:
    """Compile a model, in a process of its own: what it frees is little beside what it keeps."""
    announce_nothing()
    gc.disable()
    try:
        send(compiled_model(model, unoptimized=True))
    except (KwalkError, InternalError, MemoryError) as error:
        send(f"{type(error).__name__}: {error}")


class SearchKernel:
    """The kernel of a search: given, from the cache, or plain Python until compiled code is there.

    Args:
        model: The model.
        kernel: Its kernel, if there is one already.
        queue: What compiles the model; None for a queue of its own.
    """

    def __init__(self, model: Model, kernel: Kernel | None = None, queue: CompilationQueue | None = None) -> None:
        self.model = model
        self._queue, self._own_queue = queue or CompilationQueue(), queue is None
        self.functions: SegmentFunctions | None = None
        """What executes plain Python; None if the search began with compiled code."""
        self._asked: str | None = None
        """What names the model in the queue, once it was asked for."""
        self._asked_at = 0.0
        kernel = kernel or self._queue.kernel(model)
        self.began = self._queue.began(model)
        """When the first search of the model began: it is compiled soon if an earlier search took its time."""
        if kernel is None:
            self.functions = SegmentFunctions(model, self._queue.results(model))
            kernel = interpreted_kernel(model, self.functions)
        self.kernel: Kernel = kernel
        self.is_plain = self.functions is not None
        """Whether the kernel executes plain Python."""
        self.failure = ""
        """Why the model could not be compiled."""

    @property
    def pace(self) -> int:
        """The number of states between two checks of the budgets."""
        return PLAIN_PACE if self.is_plain else PACE

    @property
    def description(self) -> str:
        """What executed the model."""
        if self.is_plain:
            return "plain Python" + (f", as the model cannot be compiled ({self.failure})" if self.failure else "")
        return "compiled code" if self.functions is None else "plain Python, then compiled code"

    @property
    def is_compiling(self) -> bool:
        """Whether compiled code is to take over."""
        return self.is_plain and self._asked is not None and not self.failure

    @property
    def note(self) -> str:
        """What progress says about the kernel."""
        if not self.is_plain:
            return ""
        return ", in plain Python while the model is compiled" if self._asked else ", in plain Python"

    def ask(self, query: Callable[[], LoopQuery]) -> None:
        """Announce what the next loop computes; compiled code computes everything."""
        if self.is_plain and self.functions is not None:
            self.functions.query = query()

    def check(self) -> None:
        """Raise what plain Python could not raise, compile if it is time, and take compiled code over.

        While a model is compiled for long, leave the processors to the compiler for a moment.

        Raises:
            KeyboardInterrupt: Ctrl-C came in plain Python.
        """
        self.kernel.raise_pending()
        if not self.is_plain or self.failure:
            return
        if self._asked is None:
            if time.monotonic() - self.began >= COMPILE_AFTER:
                self._asked, self._asked_at = self._queue.ask(self.model), time.monotonic()
            return
        answer, kernel = self._queue.answer(self._asked), self._queue.kernel(self.model)
        if kernel is not None:
            self.kernel, self.is_plain = kernel, False
        elif isinstance(answer, str):
            self.failure = answer
        elif time.monotonic() - self._asked_at >= PLAIN_SECONDS:
            time.sleep(LEFT_SECONDS)

    def wait(self, end: float, tick: Callable[[], None]) -> bool:
        """Return whether compiled code is there before a time of the monotonic clock, if it was asked for.

        Args:
            end: The time.
            tick: Is called again and again meanwhile.
        """
        self.check()
        while self.is_compiling and time.monotonic() < end:
            tick()
            time.sleep(WAIT_SECONDS)
            self.check()
        return not self.is_plain

    def close(self) -> None:
        """End the process that compiles, if it is this search's own."""
        if self._own_queue:
            self._queue.close()


def instances_of(row: np.ndarray) -> tuple[int, ...]:
    """Return the instances of a bit row."""
    return tuple(bit_numbers(row))


__all__ = ["CompilationQueue", "LoopQuery", "LoopTask", "SearchKernel", "instances_of"]
