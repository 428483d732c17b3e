"""The counts of a verdict: steps by instance, states at rest, bounds hit, violations, and premises of properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from attrs import evolve

from kwalk.model.language import Kind, Model
from kwalk.search.symbolic.census import MOST_STATES, Census, number_of_states
from kwalk.search.symbolic.compiled import CompiledRules
from kwalk.search.symbolic.conditions import StateSet, What
from kwalk.search.symbolic.reachability import Reachability, States, where, without

MOST_PARTS = 16
"""The parts by the premises of `step` properties, for each mode on average, of which one census is taken."""


class Counts:
    """The counts in the states that were reached.

    Args:
        model: The model.
        compiled: The rules of the engine.
        sets: Those of their sets of states that are needed.
        reachability: The reached states.
    """

    def __init__(
        self, model: Model, compiled: CompiledRules, sets: Mapping[StateSet, int], reachability: Reachability
    ) -> None:
        self.model, self.compiled, self.sets, self.reachability = model, compiled, sets, reachability
        self.engine, self.reached = reachability.engine, reachability.reached
        self.everywhere = Census(self.engine, [self.reached], reachability.learnt)
        instances = range(len(model.instances))
        self.enabled = [self._count(StateSet(What.ENABLED, number)) for number in instances]
        self.blocked = {which: self._count(which) for which in sets if which.what is What.BOUND}
        self.firings, self.changed, self.premises = [0 for _ in instances], [0 for _ in instances], dict[int, int]()
        self._count_steps()
        self.errors = [enabled - fired for enabled, fired in zip(self.enabled, self.firings, strict=True)]
        """Where an instance is enabled, it is blocked, or in error, or one of its transition groups is taken."""
        for which, count in self.blocked.items():
            self.errors[which.instance or 0] -= count
        if self.everywhere.total == MOST_STATES:  # then counts are no differences
            self.errors = [self._count(StateSet(What.ERROR, number)) for number in instances]
        wrong = [n for n in instances if self.errors[n] < 0 or (self.errors[n] and StateSet(What.ERROR, n) not in sets)]
        assert not wrong, f"the transition groups of instances {wrong} are not what remains of their enabled states"
        self.quiescent = self.without_enabled(all_instances=False)
        self.at_rest = Census(self.engine, [self.quiescent])
        self._count_premises()

    def _count(self, which: StateSet, census: Census | None = None) -> int:
        rule = self.sets.get(which)
        return 0 if rule is None else sum((census or self.everywhere).count(rule))

    def without_enabled(self, *, all_instances: bool) -> States:
        """Return the states where no system instance, or with `all_instances` no instance at all, is enabled."""
        left = self.reached
        for number in sorted(range(len(self.enabled)), key=lambda number: -self.enabled[number]):
            if self.enabled[number] and (all_instances or self.model.instances[number].action.by.system):
                left = without(self.engine, left, [where(self.engine, left, self.sets[StateSet(What.ENABLED, number)])])
        self.reachability.keep(left)
        return left

    def _count_steps(self) -> None:
        """Count how often each group is taken, how often it changes the state, and with which premises."""
        for number, (parts, true) in enumerate(self._families()):
            census = Census(self.engine, parts, self.reachability.learnt) if len(parts) > 1 else self.everywhere
            for group, instance in enumerate(self.compiled.instances):
                counts = census.count(group)
                if number == 0:
                    self.firings[instance] += sum(counts)
                for prop in {prop for each in true for prop in each} - self.compiled.written[group]:
                    holds = (count for count, each in zip(counts, true, strict=True) if prop in each)
                    self.premises[prop] = self.premises.get(prop, 0) + sum(holds)
            if census is not self.everywhere:
                census.close()
        for group, instance in self.reachability.steps.items():
            same = self.everywhere.count(group, same=True)
            self.changed[instance] += sum(self.everywhere.count(group)) - sum(same)

    def _families(self) -> Iterator[tuple[list[States], list[frozenset[int]]]]:
        """Yield all reached states in parts, and for each part `step` properties whose premise is true there.

        The premise is that of a step which writes nothing of what the property reads. Each property is in one family.
        """
        none = [(self.reached, frozenset[int]())]
        parts = none
        for which, rule in self.sets.items():
            if which.what is What.PREMISE and which.group is None and self._is_of_steps(which):
                split = list(self._split(parts, rule, which.prop or 0))
                if parts is not none and sum(len(states) for states, _ in split) > MOST_PARTS * len(self.reached):
                    yield [states for states, _ in parts], [true for _, true in parts]
                    split = list(self._split(none, rule, which.prop or 0))
                parts = split
        yield [states for states, _ in parts], [true for _, true in parts]

    def _split(
        self, parts: Iterable[tuple[States, frozenset[int]]], rule: int, prop: int
    ) -> Iterator[tuple[States, frozenset[int]]]:
        for states, true in parts:
            here = where(self.engine, states, rule)
            rest = without(self.engine, states, [here])
            yield from ((each, holds) for each, holds in ((here, true | {prop}), (rest, true)) if each)

    def _is_of_steps(self, which: StateSet) -> bool:
        return which.prop is not None and self.model.properties[which.prop].kind is Kind.STEP

    def _count_premises(self) -> None:
        for which in self.sets:
            if which.what is What.PREMISE and which.prop is not None:
                if which.group is None and self._is_of_steps(which):
                    continue  # counted with the steps
                at_rest = self.model.properties[which.prop].kind is Kind.WHEN_QUIESCENT
                count = self._count(which, self.at_rest if at_rest else None)
                self.premises[which.prop] = self.premises.get(which.prop, 0) + count

    def close(self) -> None:
        """Give the memory of the counts back; nothing more can be counted."""
        self.everywhere.close()
        self.at_rest.close()

    # Violations.

    def violations(self) -> Iterator[tuple[StateSet, int | None, States, int]]:
        """Yield each set of violating states that is not empty: its meaning, the step's instance, states and count.

        Of witnesses of `reachable` properties, which need no trace, there are no states.
        """
        for which, rule in self.sets.items():
            if which.what not in (What.FALSE, What.FAILED, What.ERROR) or not (count := self._violating(which)):
                continue
            kind = None if which.prop is None else self.model.properties[which.prop].kind
            if which.what is What.FALSE and kind is Kind.REACHABLE:
                yield which, None, {}, count
                continue
            here = where(self.engine, self.quiescent if kind is Kind.WHEN_QUIESCENT else self.reached, rule)
            if kind is not Kind.STEP or which.group is not None:
                yield from self._found(which, which.instance if kind is Kind.STEP else None, here)
                continue
            for group, instance in enumerate(self.compiled.instances):
                if which.prop not in self.compiled.written[group]:
                    yield from self._found(which, instance, where(self.engine, here, group))

    def _violating(self, which: StateSet) -> int:
        """Return the number of states in a set; of an error of a property it need not be exact if it is not 0."""
        if which.what is What.ERROR:
            return self.errors[which.instance or 0]
        kind = self.model.properties[which.prop or 0].kind
        if which.what is What.FAILED and not kind.is_liveness:  # where a property fails, it is false
            which = evolve(which, what=What.FALSE)
        return self._count(which, self.at_rest if kind is Kind.WHEN_QUIESCENT else None)

    def _found(
        self, which: StateSet, step: int | None, states: States
    ) -> Iterator[tuple[StateSet, int | None, States, int]]:
        if states:
            self.reachability.keep(states)
            yield which, step, states, number_of_states(self.engine, states)
