"""The oracle: plain CPython, its own breadth-first search, and its own check of fairness.

It executes the text of a model over `oracle_library`, and imports nothing of kwalk's language, lifter or engines, so a
mistake there cannot be repeated here.
"""
from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from attrs import define, field

from kwalk.search.analyses.selftest import oracle_library as library
from kwalk.search.analyses.selftest.oracle_library import ObjectSlot, OracleFunction, OracleScenario, token

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
        start = OracleFunction(self.scenario.initial, "initial", 1)
        for args in product(*start.domains):
            state = self.root.default()
            try:
                start.function(state, *args)
            except library.OracleDisabled:
                continue
            found[self.root.frozen(state)] = None
        return list(found)

    def attempt(self, instance: OracleInstance, state: Frozen) -> Outcome:
        """Return what happens if an instance is executed in a state."""
        live = self.root.thawed(state, self.names)
        try:
            instance.function.function(live, *instance.args)
        except library.OracleDisabled:
            return "disabled", None
        except library.OracleBound as hit:
            return "bound", hit.args[0]
        except library.OracleAbort:
            pass
        except Exception as error:
            return ERROR, f"{type(error).__name__}: {error}"
        return "done", self.root.frozen(live)

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
        """Return whether the premise of an eventually property is true, and whether the rest is; or "error"."""
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
        if prop.function.kind == "eventually" and (starts := _violated_waits(oracle, found, prop, numbers)):
            found.counts[prop.key], found.first[prop.key] = len(starts), min(found.depths[n] for n in starts)
    return found


def _check(oracle: Oracle, found: Exploration, number: int) -> None:
    """Check all properties in a state that was expanded, and in the steps from it."""
    depth, outcomes = found.depths[number], found.steps[number]
    found.has_error |= any(what == ERROR for what, _ in outcomes)
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
            if truth is (prop.function.kind == "reachable"):
                found.counts[prop.key] = found.counts.get(prop.key, 0) + 1
                found.first.setdefault(prop.key, length)


def _truths(oracle: Oracle, found: Exploration, prop: OracleInstance, number: int) -> Iterator[tuple[Any, int]]:
    """Yield the truth of a property in a state, or in each step from it, with the number of steps to there."""
    kind, state, depth = prop.function.kind, found.states[number], found.depths[number]
    if kind == "step":
        for what, after in found.steps[number]:
            if what == "done":
                yield oracle.truth(prop, state, after), depth + 1
    elif kind == "eventually":
        yield (ERROR if oracle.awaited(prop, state) == ERROR else None), depth
    elif kind != "when_quiescent" or number in found.quiescent:
        yield oracle.truth(prop, state), depth
    elif oracle.truth(prop, state) == ERROR:
        return


# Fairness.


def _violated_waits(
    oracle: Oracle, found: Exploration, prop: OracleInstance, numbers: Mapping[Frozen, int]
) -> list[int]:
    """Return the states in which a wait begins that a fair behaviour never ends."""
    awaited = [oracle.awaited(prop, state) for state in found.states]
    if ERROR in awaited:
        return []
    waiting = {number for number, parts in enumerate(awaited) if not parts[1]}
    edges = {
        number: [
            (index, numbers[after])
            for index, (what, after) in enumerate(found.steps[number])
            if what == "done" and numbers[after] in waiting
        ]
        for number in waiting
    }
    doomed = {number for part in _components(edges) if _is_fair(oracle, found, part, edges) for number in part}
    before: dict[int, set[int]] = {number: set() for number in waiting}
    for number, out in edges.items():
        for _, after in out:
            before[after].add(number)
    stack = list(doomed)
    while stack:
        for number in before[stack.pop()] - doomed:
            doomed.add(number)
            stack.append(number)
    return [number for number in sorted(doomed) if awaited[number][0]]


def _is_fair(
    oracle: Oracle, found: Exploration, part: frozenset[int], edges: Mapping[int, Sequence[tuple[int, int]]]
) -> bool:
    """Return whether a behaviour can stay in a component forever, neglecting no system instance.

    It neglects an instance that is enabled in every state of the component and taken in no step within it.
    """
    taken = {index for number in part for index, after in edges[number] if after in part}
    for index, instance in enumerate(oracle.actions):
        always_enabled = all(found.steps[number][index][0] != "disabled" for number in part)
        if instance.is_system and always_enabled and index not in taken:
            return False
    return True


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
