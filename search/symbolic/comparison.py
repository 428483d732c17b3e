"""The comparison of sets of states with plain Python, in some of the states: a verdict does not rest on diagrams alone.

A state is compared as the search sees it: as a set of one state, by the rules as they were learnt.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.search.kernel.compared import NOTHING_COMPARED, Compared
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreter import Visit
from kwalk.search.kernel.python_comparison import disagreement, plain_step, plain_truth, step_truth
from kwalk.search.kernel.sampling import seconds_for_comparison
from kwalk.search.symbolic.compiled import CompiledRules
from kwalk.search.symbolic.conditions import StateSet, What
from kwalk.search.symbolic.reachability import Reachability, where

SAMPLES = 64
"""The random states that are compared, at least LEAST of them and as time allows."""
LEAST = 8
WHAT = "sets of states"


class SetComparison:
    """Compares states of one search.

    Args:
        model: The model.
        kernel: A kernel of the model, with the same packing of states.
        reachability: The reached states.
        compiled: The rules of the engine.
        sets: Those of their sets of states that were needed.
        properties: The properties that were checked.
    """

    def __init__(
        self,
        model: Model,
        kernel: Kernel,
        reachability: Reachability,
        compiled: CompiledRules,
        *,
        sets: Mapping[StateSet, int],
        properties: Sequence[PropertyInstance],
    ) -> None:
        self.model, self.kernel, self.reachability, self.sets = model, kernel, reachability, sets
        self.engine, self.compiled = reachability.engine, compiled
        self.properties = [prop for prop in properties if not prop.kind.is_liveness]
        self.compared: Compared = NOTHING_COMPARED

    def run(self, began: float, violating: Sequence[np.ndarray]) -> None:
        """Compare violating states, random reached ones, and states where an instance fires that was not compared yet.

        Args:
            began: When the search began, by `time.monotonic`.
            violating: Packed states.

        Raises:
            EngineDisagreement: Plain Python has another result in a state.
        """
        spent = 0.0
        for number, packed in enumerate(self._chosen(violating)):
            if number >= len(violating) + LEAST and spent >= seconds_for_comparison(time.monotonic() - began):
                return
            since = time.thread_time()
            self.compare(packed)
            spent += time.thread_time() - since

    def _chosen(self, violating: Sequence[np.ndarray]) -> Iterator[np.ndarray]:
        yield from violating
        chance, reached = random.Random(0), self.reachability.reached
        modes = sorted(reached)
        for _ in range(SAMPLES):
            mode = chance.choice(modes)
            yield self.engine.state(mode, reached[mode], chance.randrange)
        for rule, instance in self.reachability.steps.items():
            if self.model.instances[instance].key not in self.compared.instances:
                here = where(self.engine, reached, self.sets[StateSet(What.ENABLED, instance)])
                for mode in [mode for mode in here if self.engine.after(here[mode], mode, rule)][:1]:
                    yield self.engine.state(mode, self.engine.sources(here[mode], mode, rule))

    def compare(self, packed: np.ndarray) -> None:
        """Compare one packed state."""
        vector, (mode, states) = self._vector(packed), self.engine.single(packed)
        visit = Visit(self.model, vector)
        here = {which for which, rule in self.sets.items() if self.engine.where(states, mode, rule)}
        taken = self._compare_steps(visit, vector, here, self._successors(mode, states, vector))
        groups = {
            instance: group
            for group, instance in enumerate(self.compiled.instances)
            if self.engine.where(states, mode, group)
        }
        evaluated = 0
        for prop in self.properties:
            for instance in taken if prop.kind is Kind.STEP else (None,):
                group = None if instance is None else groups[instance]
                if group is not None and prop.index not in self.compiled.written[group]:
                    group = None
                mine = {one.what for one in here if one.prop == prop.index and one.group == group}
                self._compare_property(visit, vector, mine, prop, instance)
                evaluated += 1
        keys = frozenset(self.model.instances[number].key for number in taken)
        self.compared += Compared(1, len(taken), evaluated, keys)

    def _vector(self, packed: np.ndarray) -> Vector:
        return tuple(self.kernel.unpack(packed[None])[0].tolist())

    def _successors(self, mode: int, states: int, vector: Vector) -> dict[int, Vector]:
        """Return the state after each instance that has an effect, and see that it was reached."""
        after = dict[int, Vector]()
        for rule, instance in self.reachability.steps.items():
            for other, diagram in self.engine.after(states, mode, rule):
                after[instance] = self._vector(self.engine.state(other, diagram))
                if not self.reachability.contains(other, diagram):
                    key = self.model.instances[instance].key
                    raise disagreement(self.model, vector, f"{key} leads to a state that was not reached", what=WHAT)
        return after

    def _compare_steps(
        self, visit: Visit, vector: Vector, here: set[StateSet], after: Mapping[int, Vector]
    ) -> list[int]:
        """Compare all instances; return those that are taken."""
        bounds = {one.instance: one.bound for one in here if one.what is What.BOUND}
        taken = []
        for number, instance in enumerate(self.model.instances):
            says: Any = after.get(number, vector)
            if StateSet(What.ENABLED, number) not in here:
                says = "disabled"
            elif number in bounds:
                says = f"bound {bounds[number]}"
            elif StateSet(What.ERROR, number) in here:
                says = "error"
            plain = plain_step(visit, number)
            if plain != says:
                self._fail(vector, instance.key, plain, says)
            if isinstance(plain, tuple):
                taken.append(number)
        return taken

    def _compare_property(
        self, visit: Visit, vector: Vector, mine: set[What], prop: PropertyInstance, instance: int | None
    ) -> None:
        """Compare a property in a state, or on the step of an instance."""
        if instance is None:
            plain = plain_truth(visit, prop)
        else:
            plain = step_truth(visit, prop, self.model.instances[instance])
        says: Any = None
        if What.FAILED in mine:
            says = "error"
        elif What.PREMISE in mine:
            says = (What.FALSE in mine) is (prop.kind is Kind.REACHABLE)
        if plain != says:
            self._fail(vector, prop.key, plain, says)

    def _fail(self, vector: Vector, key: str, plain: Any, says: Any) -> None:
        text = f"Plain Python and {WHAT} disagree on {key}"
        raise disagreement(self.model, vector, text, (str(plain), str(says)), what=WHAT)
