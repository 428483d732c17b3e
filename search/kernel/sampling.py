"""Which states of a run are compared with plain Python, and how much of the run's time that takes.

Words: a run visits states that are *numbered* from 0 in the order of the visits. The *first* FIRST numbers are
candidates for a comparison, and PER_DOUBLING random ones between FIRST · 2^k and FIRST · 2^(k + 1) for each k. They
depend on the seed only. How many candidates are compared depends on the time: at least LEAST_WORK executions of action
and property instances, and then as many as fit into FIRST_SHARE of the first seconds of the run and SHARE of the rest:
a short run of a large model would compare few states otherwise. No result of a run depends on it.

More is compared: each action instance that fired and was not compared yet, where it fired; and at the end of a search
the states in which properties are violated, and LAST random states of the last two levels.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, takewhile
from typing import TypeVar

from kwalk.model.language import Model
from kwalk.search.kernel.compared import Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.python_comparison import CompiledRecord, PythonComparison

State = TypeVar("State")
FIRST = 256
LAST, LAST_WORK = 64, 200
PER_DOUBLING = 128
LEAST_WORK = 600
"""Executions of action and property instances in plain Python that every run does, however short it is."""
FIRST_SECONDS, FIRST_SHARE = 5.0, 0.1
SHARE = 0.03


def seconds_for_comparison(elapsed: float) -> float:
    """Return the CPU seconds that comparisons may take in a run of `elapsed` seconds."""
    return SHARE * elapsed + (FIRST_SHARE - SHARE) * min(elapsed, FIRST_SECONDS)


def candidates(begin: int, end: int, seed: int = 0) -> Iterator[int]:
    """Yield the candidates among the numbers from `begin` to before `end`, in increasing order."""
    yield from range(begin, min(end, FIRST))
    for block in takewhile(lambda k: FIRST << k < end, count()):
        if FIRST << (block + 1) > begin:
            chance = random.Random(f"{seed} {block}")
            numbers = chance.sample(range(FIRST << block, FIRST << (block + 1)), PER_DOUBLING)
            yield from sorted(number for number in numbers if begin <= number < end)


class StateSampler:
    """Compares candidates of one run with plain Python while the run is in progress.

    Args:
        model: The model.
        seed: The seed of the order in which candidates are compared.
    """

    def __init__(self, model: Model, seed: int = 0) -> None:
        self.seconds = 0.0
        """The CPU time of the comparisons."""
        self._comparison = PythonComparison(model)
        self._work_of_state = len(model.instances) + len(model.properties)
        self._chance = random.Random(seed)
        self._first: list[int] = []
        self._later: list[int] = []
        self._taken = [0, 0]
        self._compared: set[int] = set()
        self._looks = 0

    @property
    def compared(self) -> Compared:
        """How much was compared so far."""
        return self._comparison.compared

    def offer(self, numbers: Iterable[int]) -> None:
        """Add candidates, in increasing order."""
        for number in numbers:
            (self._first if number < FIRST else self._later).append(number)

    def compare(self, elapsed: float, kernel: Kernel, record_of: Callable[[int], CompiledRecord | None]) -> None:
        """Compare as many of the candidates as the time allows.

        Args:
            elapsed: Seconds of the run so far.
            kernel: The kernel that makes the records, or one of the same model.
            record_of: Returns the record of a candidate; None if its state was compared already.

        Raises:
            EngineDisagreement: Plain Python has another result in a state.
        """
        while (self._first or self._later) and self._may_continue(elapsed):
            with self.timed():
                number = self._next()
                self._compared.add(number)
                record = record_of(number)
                if record is not None:
                    self._comparison.compare(kernel, record)

    def compare_last(
        self, elapsed: float, kernel: Kernel, record_of: Callable[[int], CompiledRecord], numbers: Sequence[int]
    ) -> None:
        """Compare states at the end of a run: at least LAST_WORK executions, and then as time allows.

        Args:
            elapsed: Seconds of the run.
            kernel: The kernel that makes the records.
            record_of: Returns the record of a state.
            numbers: The states, the most important first.

        Raises:
            EngineDisagreement: Plain Python has another result in a state.
        """
        left = [number for number in dict.fromkeys(numbers) if number not in self._compared]
        for done, number in enumerate(left):
            if done * self._work_of_state >= LAST_WORK and self.seconds >= seconds_for_comparison(elapsed):
                return
            with self.timed():
                self._comparison.compare(kernel, record_of(number))

    def has_compared(self, instance: int) -> bool:
        """Return whether an instance was compared on a step that it takes."""
        return instance in self._comparison.instances

    def may_look_further(self, elapsed: float) -> bool:
        """Return whether there is time to look for instances that were not compared; it is at least LAST_WORK times."""
        self._looks += 1
        return self._looks <= LAST_WORK or self.has_time(elapsed)

    def has_time(self, elapsed: float) -> bool:
        """Return whether comparisons have not taken their share of a run of `elapsed` seconds."""
        return self.seconds < seconds_for_comparison(elapsed)

    def compare_firings(
        self,
        elapsed: float,
        kernel: Kernel,
        record_of: Callable[[State], CompiledRecord],
        firings: Iterable[tuple[int, Callable[[], State | None]]],
    ) -> None:
        """Compare instances that fired and were not compared yet, at least LAST_WORK of them, and as time allows.

        Args:
            elapsed: Seconds of the run.
            kernel: The kernel that makes the records.
            record_of: Returns the record of a state.
            firings: Instances, each with a function that returns a state in which it fires, or None.

        Raises:
            EngineDisagreement: Plain Python has another result in a state.
        """
        for instance, state_of in firings:
            if self.has_compared(instance):
                continue
            if not self.may_look_further(elapsed):
                return
            with self.timed():
                if (state := state_of()) is not None:
                    self._comparison.compare_instance(kernel, record_of(state), instance)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Count the time of a block as that of comparisons."""
        began = time.thread_time()
        yield
        self.seconds += time.thread_time() - began

    def _may_continue(self, elapsed: float) -> bool:
        work = self.compared.states * self._work_of_state + sum(self._taken)
        return work < LEAST_WORK or self.seconds < seconds_for_comparison(elapsed)

    def _next(self) -> int:
        """Return the next candidate: alternately the first ones in their order, and random later ones."""
        taken_first, taken_later = self._taken
        if self._first and (taken_first <= taken_later or not self._later):
            self._taken[0] += 1
            return self._first.pop(0)
        self._taken[1] += 1
        place = self._chance.randrange(len(self._later))
        self._later[place], self._later[-1] = self._later[-1], self._later[place]
        return self._later.pop()
