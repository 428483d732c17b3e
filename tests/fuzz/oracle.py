"""The oracle: plain CPython, its own breadth-first search, and its own check of fairness.

It executes the text of a model over `oracle_library`, and imports nothing of kwalk's language, lifter or engines, so a
mistake there cannot be repeated here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from attrs import define, field, frozen

from tests.fuzz import oracle_library as library
from tests.fuzz.oracle_library import ObjectSlot, OracleFunction, OracleScenario, token

Frozen = tuple[Any, ...]
"""A state as nested tuples."""
Outcome = tuple[str, Any]
""""done" with the state after the step, "disabled", "bound" with its name, or "error" with its text."""
ERROR = "error"


def executed(source: str, name: str, bounds: Mapping[str, int], flags: Mapping[str, Any]) -> dict[str, Any]:
    """Return the namespace of a model's text, executed with the oracle's names in place of kwalk's."""
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.module == "kwalk")]
    found = {**library.namespace(bounds, flags), "__name__": f"oracle of {name}"}
    exec(compile(tree, f"<oracle of {name}>", "exec", dont_inherit=True), found)
    return found


class OracleInstance:
    """A function with an argument for each parameter; `key` is the name that kwalk gives it."""

    def __init__(self, function: OracleFunction, args: tuple[Any, ...]) -> None:
        self.function, self.args = function, args
        self.key = f"{function.name}({', '.join(map(token, args))})"

    @property
    def is_system(self) -> bool:
        """Return whether its actor is part of the system."""
        return self.function.by is not None and self.function.by.system


def _instances(functions: Sequence[OracleFunction]) -> tuple[OracleInstance, ...]:
    return tuple(OracleInstance(f, args) for f in functions for args in product(*f.domains))


class Oracle:
    """A model as plain CPython executes it.

    Args:
        source: The text of the model's module; it names its scenario SCENARIO.
        name: A name for messages.
    """

    def __init__(self, source: str, name: str = "model") -> None:
        first = executed(source, name, {}, {})["SCENARIO"]
        self.names = executed(source, name, first.bounds, first.flags)
        self.scenario: OracleScenario = self.names["SCENARIO"]
        self.root = ObjectSlot(self.scenario.state)
        self.actions = _instances(self.scenario.actions)
        self.properties = _instances(self.scenario.properties)

    def initial(self) -> list[Frozen]:
        """Return the initial states without repetition."""
        found: dict[Frozen, None] = {}
        for state in library.starts_of(self.scenario):
            found[self.root.frozen(state)] = None
        return list(found)

    def attempt(self, instance: OracleInstance, state: Frozen) -> Outcome:
        """Return what happens if an instance is executed in a state."""
        live = self.root.thawed(state, self.names)
        ended: Outcome | None = None
        try:
            instance.function.function(live, *instance.args)
        except library.OracleDisabled:
            return "disabled", None
        except library.OracleBound as hit:
            ended = "bound", hit.args[0]
        except library.OracleAbort:
            pass
        except Exception as error:
            ended = ERROR, f"{type(error).__name__}: {error}"
        return (
            self._cut("constraint", state)
            or ended
            or self._cut("action_constraint", state, live)
            or ("done", self.root.frozen(live))
        )

    def _cut(self, kind: str, before: Frozen, *after: Any) -> Outcome | None:
        """Return the outcome where a constraint cuts a state or step; None if none does."""
        for each in self.scenario.constraints:
            if each.kind == kind:
                try:
                    if not each.function(self.root.thawed(before, self.names), *after):
                        return "bound", f"constraint {each.name}"
                except Exception as error:
                    return ERROR, f"{type(error).__name__}: {error}"
        return None

    def truth(self, instance: OracleInstance, *states: Frozen) -> bool | str | None:
        """Return whether a property is true of one state, or of two; None where its premise is false; or "error"."""
        live = [self.root.thawed(state, self.names) for state in states]
        try:
            return bool(instance.function.function(*live, *instance.args))
        except library.OraclePremise:
            return None
        except Exception:
            return ERROR

    def awaited(self, instance: OracleInstance, state: Frozen) -> tuple[bool, bool] | str:
        """Return whether the premise of a property about behaviours is true, and whether the rest is; or "error"."""
        library.FAILED_PREMISES.append([])
        try:
            rest = bool(instance.function.function(self.root.thawed(state, self.names), *instance.args))
            return not library.FAILED_PREMISES[-1], rest
        except Exception:
            return ERROR
        finally:
            library.FAILED_PREMISES.pop()


@define
class Exploration:
    """What the oracle's breadth-first search finds; a state's number is its position in `states`."""

    states: list[Frozen]
    depths: list[int]
    steps: list[list[Outcome]] = field(factory=list)
    """For each expanded state the outcome of each instance."""
    is_complete: bool = False
    """Whether every reachable state was expanded."""
    has_error: bool = False
    """Whether an action or property raises an error in some reachable state."""
    has_safety_error: bool = False
    """Whether an action does, or a property that is not about behaviours."""
    first_error: int | None = None
    """The least number of steps to such an error; the step of an action that raises one counts."""
    quiescent: set[int] = field(factory=set)
    first: dict[str, int] = field(factory=dict)
    """By the key of a violated property (of a reachable one: that has a witness): the least number of steps to it."""
    counts: dict[str, int] = field(factory=dict)
    """By the same key: in how many states (or steps) it is violated."""
    deadlocks: int = 0
    first_deadlock: int | None = None
    bounds_hit: dict[str, int] = field(factory=dict)


def explore(oracle: Oracle, most: int) -> Exploration:
    """Visit the reachable states breadth first, at most `most` of them, and check every property."""
    start = oracle.initial()
    found = Exploration(list(start), [0] * len(start))
    numbers = {state: number for number, state in enumerate(start)}
    for number, state in enumerate(found.states):  # the list grows
        outcomes = [oracle.attempt(instance, state) for instance in oracle.actions]
        found.steps.append(outcomes)
        for what, after in outcomes:
            if what == "done" and after not in numbers:
                if len(found.states) >= most:
                    return found
                numbers[after] = len(found.states)
                found.states.append(after)
                found.depths.append(found.depths[number] + 1)
        _check(oracle, found, number)
    found.is_complete = True
    for prop in oracle.properties:
        if prop.function.kind in library.LIVENESS_KINDS and (starts := _violated_waits(oracle, found, prop, numbers)):
            found.counts[prop.key], found.first[prop.key] = len(starts), min(found.depths[n] for n in starts)
    return found


def _check(oracle: Oracle, found: Exploration, number: int) -> None:
    """Check all properties in a state that was expanded, and in the steps from it."""
    depth, outcomes = found.depths[number], found.steps[number]
    is_wrong = any(what == ERROR for what, _ in outcomes)
    errors = [depth + 1] if is_wrong else []
    for what, name in outcomes:
        if what == "bound":
            found.bounds_hit[name] = found.bounds_hit.get(name, 0) + 1
    pairs = list(zip(oracle.actions, outcomes, strict=True))
    if not any(instance.is_system and what != "disabled" for instance, (what, _) in pairs):
        found.quiescent.add(number)
    if all(what == "disabled" for what, _ in outcomes):
        found.deadlocks += 1
        found.first_deadlock = depth if found.first_deadlock is None else found.first_deadlock
    for prop in oracle.properties:
        for truth, length in _truths(oracle, found, prop, number):
            found.has_error |= truth == ERROR
            if truth == ERROR and prop.function.kind not in library.LIVENESS_KINDS:
                errors.append(length)
            if truth is (prop.function.kind == "reachable"):
                found.counts[prop.key] = found.counts.get(prop.key, 0) + 1
                found.first.setdefault(prop.key, length)
    if errors:
        found.has_error = found.has_safety_error = True
        found.first_error = min(errors if found.first_error is None else [found.first_error, *errors])


def _truths(oracle: Oracle, found: Exploration, prop: OracleInstance, number: int) -> Iterator[tuple[Any, int]]:
    """Yield the truth of a property in a state, or in each step from it, with the number of steps to there."""
    kind, state, depth = prop.function.kind, found.states[number], found.depths[number]
    if kind == "step":
        for what, after in found.steps[number]:
            if what == "done":
                yield oracle.truth(prop, state, after), depth + 1
    elif kind in library.LIVENESS_KINDS:
        yield (ERROR if oracle.awaited(prop, state) == ERROR else None), depth
    elif kind != "when_quiescent" or number in found.quiescent:
        yield oracle.truth(prop, state), depth
    elif oracle.truth(prop, state) == ERROR:
        return


# Fairness.


@frozen
class OracleCondition:
    """A fairness condition: the numbers of its action instances, and whether it is strong."""

    members: frozenset[int]
    is_strong: bool


def conditions_of(oracle: Oracle) -> list[OracleCondition]:
    """Return the fairness conditions of a model."""
    found = []
    for declared in oracle.scenario.fairness:
        if declared is None:
            system = (number for number, one in enumerate(oracle.actions) if one.is_system)
            found += [OracleCondition(frozenset({number}), is_strong=False) for number in system]
            continue
        groups: dict[tuple[str, ...], set[int]] = {}
        for steps in declared.steps:
            for number, one in enumerate(oracle.actions):
                given = dict(zip(one.function.parameters, one.args, strict=True))
                if one.function is steps.action and all(given[n] in allowed for n, allowed in steps.values.items()):
                    groups.setdefault(tuple(token(given[name]) for name in declared.each), set()).add(number)
        found += [OracleCondition(frozenset(group), declared.strong) for group in groups.values()]
    return found


Edges = Mapping[int, Sequence[tuple[int, int]]]
"""By state: the action instances that lead to another state, each with that state."""


class FairGraph:
    """Which states of a graph a fair behaviour can visit infinitely often.

    An instance is enabled in a state if it leads to another one, or if a bound prevents it.

    Args:
        conditions: The fairness conditions.
        numbers: The states, with their numbers.
        steps: For each state, in the order of the numbers, the outcome of each instance.
    """

    def __init__(
        self, conditions: Sequence[OracleCondition], numbers: Mapping[Any, int], steps: Sequence[Sequence[Outcome]]
    ) -> None:
        self.conditions = conditions
        self.edges: Edges = {
            number: [
                (index, numbers[after])
                for index, (what, after) in enumerate(outcomes)
                if what == "done" and numbers[after] != number
            ]
            for number, outcomes in enumerate(steps)
        }
        self.enabled = [
            {index for index, _ in self.edges[number]} | {i for i, (what, _) in enumerate(outcomes) if what == "bound"}
            for number, outcomes in enumerate(steps)
        ]

    def lasting(self, allowed: set[int], through: set[int] | None = None) -> set[int]:
        """Return the states that a fair behaviour can visit infinitely often while it stays in `allowed`.

        With `through`, only behaviours that visit a state of that set infinitely often count. Every choice of the
        strong conditions that are never enabled is tried; all others must be taken.
        """
        strong = [one for one in self.conditions if one.is_strong and self._is_enabled_in(one, allowed)]
        found: set[int] = set()
        for choice in product((False, True), repeat=len(strong)):
            never = [one for one, is_chosen in zip(strong, choice, strict=True) if is_chosen]
            taken = [one for one, is_chosen in zip(strong, choice, strict=True) if not is_chosen]
            states = {n for n in allowed if not any(one.members & self.enabled[n] for one in never)}
            for part in _components(self._within(states)):
                if (through is None or part & through) and self._is_fair(part, taken):
                    found |= part
        return found

    def reaching(self, goals: set[int], within: set[int]) -> set[int]:
        """Return the states from which a behaviour within a set of states reaches one of some goals in it."""
        before: dict[int, set[int]] = {number: set() for number in within}
        for number, out in self._within(within).items():
            for _, after in out:
                before[after].add(number)
        found = goals & within
        stack = list(found)
        while stack:
            for number in before[stack.pop()] - found:
                found.add(number)
                stack.append(number)
        return found

    def is_fair_cycle(self, states: Sequence[int], actions: Sequence[int]) -> bool:
        """Return whether a cycle is fair: `actions` lead from each of its states to the next, the last to the first."""
        pairs = zip(actions, states, [*states[1:], *states[:1]], strict=False)
        taken = {index for index, before, after in pairs if before != after}
        for one in self.conditions:
            holds = any if one.is_strong else all
            if not one.members & taken and holds(bool(one.members & self.enabled[n]) for n in states):
                return False
        return True

    def _is_enabled_in(self, one: OracleCondition, states: set[int]) -> bool:
        return any(one.members & self.enabled[number] for number in states)

    def _within(self, states: set[int]) -> Edges:
        return {n: [(index, after) for index, after in self.edges[n] if after in states] for n in states}

    def _is_fair(self, part: frozenset[int], taken: Sequence[OracleCondition]) -> bool:
        """Return whether a behaviour can stay in a component, weakly fair, and take these conditions."""
        steps = {index for number in part for index, after in self.edges[number] if after in part}
        if any(not one.members & steps for one in taken):
            return False
        return all(
            one.is_strong or one.members & steps or any(not one.members & self.enabled[n] for n in part)
            for one in self.conditions
        )


def _violated_waits(
    oracle: Oracle, found: Exploration, prop: OracleInstance, numbers: Mapping[Frozen, int]
) -> list[int]:
    """Return the states from which a fair behaviour violates a property about behaviours."""
    awaited = [oracle.awaited(prop, state) for state in found.states]
    if ERROR in awaited:
        return []
    fairness = FairGraph(conditions_of(oracle), numbers, found.steps)
    kind, everything = prop.function.kind, set(range(len(awaited)))
    unsatisfied = {number for number, parts in enumerate(awaited) if not parts[1]}
    starts = {number for number, parts in enumerate(awaited) if parts[0]}
    if kind == "eventually_always":
        return sorted(starts & fairness.reaching(fairness.lasting(everything, unsatisfied), everything))
    lasting = fairness.lasting(unsatisfied)
    if kind == "always_eventually" and starts != everything:
        return sorted(starts & fairness.reaching(lasting, everything))
    if kind == "inevitable":
        starts &= set(range(len(oracle.initial())))
    return sorted(starts & fairness.reaching(lasting, unsatisfied))


def shows_violation(
    oracle: Oracle, found: Exploration, prop: OracleInstance, trace: tuple[Sequence[Frozen], Sequence[str], int]
) -> bool:
    """Return whether a lasso, given by its states, its actions and the start of its loop, violates a property."""
    states, actions, loop = trace
    numbers = {state: number for number, state in enumerate(found.states)}
    keys = {one.key: index for index, one in enumerate(oracle.actions)}
    fairness, kind = FairGraph(conditions_of(oracle), numbers, found.steps), prop.function.kind
    cycle = [numbers[state] for state in states[loop:-1]] or [numbers[states[-1]]]
    if states[loop] != states[-1] or not fairness.is_fair_cycle(cycle, [keys[key] for key in actions[loop:]]):
        return False
    parts = [oracle.awaited(prop, state) for state in states]
    assert all(isinstance(one, tuple) for one in parts)
    starts = [n for n, one in enumerate(parts) if one[0] and (kind != "inevitable" or n == 0)]
    rest = [bool(one[1]) for one in parts]
    if kind == "eventually_always":
        return bool(starts) and not all(rest[loop:])
    if kind == "always_eventually":
        return bool(starts) and not any(rest[loop:])
    return any(not any(rest[n:]) for n in starts)


def _components(edges: Mapping[int, Sequence[tuple[int, int]]]) -> list[frozenset[int]]:
    """Return the strongly connected components: for each state the intersection of what it reaches and what reaches it.

    Quadratic, and so simple that it is easily seen to be right.
    """
    forward = {number: {after for _, after in out} for number, out in edges.items()}
    reach = {number: _closure(number, forward) for number in edges}
    found: dict[int, frozenset[int]] = {}
    for number in edges:
        if number not in found:
            part = frozenset(other for other in reach[number] if number in reach[other])
            found.update(dict.fromkeys(part, part))
    return list(dict.fromkeys(found.values()))


def _closure(start: int, forward: Mapping[int, set[int]]) -> set[int]:
    seen, stack = {start}, [start]
    while stack:
        for after in forward[stack.pop()] - seen:
            seen.add(after)
            stack.append(after)
    return seen
