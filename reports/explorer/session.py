"""An exploration of a model by hand: the states that a user has visited, and what the page shows of each.

Words: a *position* is a state together with the steps that led to it; it is shown by its number, and the same steps
lead to the same position. A *path* is the positions from an initial state to one of them. Plain Python executes every
step. All texts are visible ones (see `escaping`).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from threading import RLock
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language import ActionInstance, Kind, PropertyInstance, StepResult, UsageError, Vector
from kwalk.model.language.errors import KwalkError
from kwalk.model.language.settings import variant_text
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.files import OutFolder
from kwalk.reports.traces.changes import Part, changes, lines, parts_of, path_text
from kwalk.reports.traces.read_set import read_set
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import save
from kwalk.search.analyses.distance import DistanceSearch, has_distance
from kwalk.search.base.query import Query
from kwalk.search.kernel.interpreter import Visit, VisitCache
from kwalk.search.results.trace import Trace

STARTS = 200
"""The number of initial states that the page offers."""
MOST_CHANGES = 4
"""The number of changed lines of a step that are shown before it is taken; the others are counted."""
MOST_STEPS = 1000
"""The length of the longest random walk."""
MOST_POSITIONS = 200_000
"""The number of positions after which no step is taken: a page left alone with its keys down must not fill memory."""


@frozen
class Position:
    """A state on a path, the position before it, and the step from there; none for an initial state."""

    number: int
    vector: Vector
    step: int = 0
    parent: int | None = None
    instance: ActionInstance | None = None


class ExplorerSession:
    """The positions of a user, what is visible at each, and the moves to others. One thread at a time uses it.

    Args:
        query: The model, its properties, and the reference by which a saved trace finds the scenario.
        out: The folder of saved traces.
        distances: The search for the nearest violation.
        trace: A behaviour to start with: its states are the first positions.
    """

    def __init__(self, query: Query, out: OutFolder, distances: DistanceSearch, trace: Trace | None = None) -> None:
        self.query, self.model, self.out, self.distances = query, query.model, out, distances
        self.lock = RLock()
        self.parts = parts_of(self.model)
        self.properties = tuple(prop for prop in query.properties if not prop.declaration.only_counts)
        self._visits = VisitCache(self.model)
        self.positions: list[Position] = []
        self._known: dict[tuple[int, int], int] = {}
        self.bookmarks: dict[int, str] = {}
        initial = self.model.initial if trace is None else (trace.states[0],)
        self.starts = [self._add(vector) for vector in initial[:STARTS]]
        self.left_out = len(initial) - len(self.starts)
        self.first = self.starts[0]
        self.traced = trace
        self.trace_end = self.first
        if trace is not None:
            steps = [self.model.instance(key).index for key in trace.actions]
            self.trace_end = self.take(self.first, steps)

    # Positions.

    def _add(self, vector: Vector, parent: Position | None = None, instance: ActionInstance | None = None) -> int:
        if len(self.positions) >= MOST_POSITIONS:
            raise UsageError(f"There are {MOST_POSITIONS:,} positions. Save the path, and start the explorer again.")
        number = len(self.positions)
        step, before = (0, None) if parent is None else (parent.step + 1, parent.number)
        self.positions.append(Position(number, vector, step, before, instance))
        return number

    def position(self, number: Any) -> Position:
        """Return a position by its number; UsageError if there is none."""
        if type(number) is not int or not 0 <= number < len(self.positions):
            raise UsageError("There is no such position: the explorer was started again. Load the page again.")
        return self.positions[number]

    def path(self, number: int) -> list[Position]:
        """Return the positions from an initial state to one."""
        found, at = [], self.position(number)
        while True:
            found.append(at)
            if at.parent is None:
                return found[::-1]
            at = self.positions[at.parent]

    def take(self, number: int, steps: Iterable[Any]) -> int:
        """Return the position after some action instances, by their numbers; UsageError if one is not enabled."""
        at = self.position(number)
        for step in steps:
            if type(step) is not int or not 0 <= step < len(self.model.instances):
                raise UsageError("There is no such step. Load the page again.")
            known = self._known.get((at.number, step))
            if known is None:
                known = self._known[at.number, step] = self._taken(at, self.model.instances[step])
            at = self.positions[known]
        return at.number

    def _taken(self, at: Position, instance: ActionInstance) -> int:
        after = self._visits.at(at.vector).after(instance)
        if after is None:
            raise UsageError(f"{visible(instance.key)} is not enabled there.")
        return self._add(after, at, instance)

    def _before(self, at: Position) -> Vector | None:
        return None if at.parent is None else self.positions[at.parent].vector

    # What the page shows.

    def about(self) -> dict[str, Any]:
        """Return what does not change: the names of the model, its properties, the fields of its state, the starts."""
        model, scenario = self.model, self.model.scenario
        sizes = ", ".join(f"{name} {size}" for name, size in model.binding.bounds.items() if size)
        with model.active():
            properties = [
                {
                    "key": visible(prop.key),
                    "text": visible(prop.description),
                    "kind": prop.kind.value,
                    "about": visible(" ".join(prop.declaration.about.split()), 10 * LONGEST),
                    "symptom": visible(prop.declaration.symptom),
                    "has_distance": has_distance(prop),
                }
                for prop in self.properties
            ]
        return {
            "scenario": visible(scenario.name),
            "story": visible(scenario.story, 10 * LONGEST),
            "variant": visible(variant_text(model.variant, model.flag_overrides)),
            "bounds": visible(sizes),
            "facts": [] if self.query.reading is None else list(map(visible, self.query.reading.facts)),
            "properties": properties,
            "paths": [[visible(str(token), LONGEST) for token in part.path] for part in self.parts],
            "starts": self._starts(),
            "left_out": self.left_out,
            "first": self.first,
            "traced": None
            if self.traced is None
            else {
                "end": self.trace_end,
                "goal": next((n for n, prop in enumerate(self.properties) if prop.key == self.traced.prop), None),
            },
            "bookmarks": self._bookmarks(),
            "folder": visible(str(self.out.path)),
            "command": visible(self.query.command),
        }

    def _starts(self) -> list[dict[str, Any]]:
        """Return the initial states, each by the parts in which they differ."""
        vectors = [self.positions[number].vector for number in self.starts]
        differing = [part for part in self.parts if len({part.numbers(vector) for vector in vectors}) > 1]
        with self.model.active():
            return [
                {"position": number, "text": visible(", ".join(_valued(differing, vector)) or "initial state", LONGEST)}
                for number, vector in zip(self.starts, vectors, strict=True)
            ]

    def _bookmarks(self) -> list[dict[str, Any]]:
        return [{"position": at, "name": name} for at, name in self.bookmarks.items()]

    def view(self, number: int) -> dict[str, Any]:
        """Return what is visible at a position: its path, state, enabled actions, and the truth of the properties."""
        at = self.position(number)
        visit, before = self._visits.at(at.vector), self._before(at)
        with self.model.active():
            values = [visible(part.value_text(at.vector), LONGEST) for part in self.parts]
            old = (
                {}
                if before is None
                else {
                    number: visible(part.value_text(before), LONGEST)
                    for number, part in enumerate(self.parts)
                    if part.numbers(before) != part.numbers(at.vector)
                }
            )
        actions = [self._action(visit, instance) for instance in self.model.instances]
        return {
            "position": at.number,
            "step": at.step,
            "path": self._path_texts(at),
            "values": values,
            "old": old,
            "actions": [action for action in actions if action is not None],
            "truths": [self._truth(visit, prop, before) for prop in self.properties],
            "quiescent": visit.is_quiescent,
            "dead": visit.is_dead,
            "deadlock": self.model.scenario.deadlock_is_error and visit.is_dead,
            "bookmark": self.bookmarks.get(at.number),
        }

    def _path_texts(self, at: Position) -> list[dict[str, Any]]:
        return [
            {"position": each.number, "bookmark": each.number in self.bookmarks}
            | ({} if each.instance is None else self._named(each.instance))
            for each in self.path(at.number)
        ]

    def _named(self, instance: ActionInstance) -> dict[str, Any]:
        with self.model.active():
            actor, text = visible(instance.actor, LONGEST), visible(instance.description, LONGEST)
        return {
            "instance": instance.index,
            "key": visible(instance.key, LONGEST),
            "actor": actor,
            "text": text,
            "system": instance.action.by.system,
        }

    def _action(self, visit: Visit, instance: ActionInstance) -> dict[str, Any] | None:
        """Return an action that is enabled, blocked by a bound, or fails; None for a disabled one."""
        try:
            outcome = visit.attempt(instance)
        except KwalkError as error:
            return {**self._named(instance), "error": visible(str(error), 10 * LONGEST)}
        if outcome.result is StepResult.DISABLED:
            return None
        if outcome.bound is not None:
            return {**self._named(instance), "bound": visible(outcome.bound)}
        after = visit.after(instance)
        assert after is not None
        changed = [visible(str(line), LONGEST) for line in lines(changes(self.model, self.parts, visit.vector, after))]
        return {
            **self._named(instance),
            "source": visible(instance.action.source, LONGEST),
            "changes": changed[:MOST_CHANGES],
            "more": max(0, len(changed) - MOST_CHANGES),
            "idle": after == visit.vector,
            "violates": [visible(prop.key) for prop in self.properties if self._breaks(visit, instance, prop)],
            "unchecked": [visible(prop.key) for prop in self.properties if self._leaves_rest(visit, instance, prop)],
        }

    def _leaves_rest(self, visit: Visit, instance: ActionInstance, prop: PropertyInstance) -> bool:
        """Return whether a property is violated that is not checked after an instance, until the system is at rest."""
        if prop.kind is not Kind.WHEN_QUIESCENT or not self._is_violated(prop, visit.vector, None):
            return False
        after = self._visits.step(visit, instance)
        return after is not None and not after.is_quiescent

    def _breaks(self, visit: Visit, instance: ActionInstance, prop: PropertyInstance) -> bool:
        """Return whether an enabled instance violates a property, as a step or by the state that it leads to."""
        try:
            if prop.kind is Kind.STEP:
                return visit.truth_after(prop, instance) is False
            after = self._visits.step(visit, instance)
            return after is not None and after.violates(prop)
        except KwalkError:
            return False  # the position after the step shows the error

    def _is_violated(self, prop: PropertyInstance, after: Vector, before: Vector | None) -> bool:
        try:
            return self._visits.at(after).violates(prop, before)
        except KwalkError:
            return False  # the position shows the error

    def _truth(self, visit: Visit, prop: PropertyInstance, before: Vector | None) -> str:
        """Return "true", "false", "violated" (a false one that must not be), "vacuous", "later" or an error."""
        if prop.kind.is_liveness:
            return "later"
        try:
            if visit.violates(prop, before):
                return "violated"
            true = visit.truth(prop, before)
        except KwalkError as error:
            return f"error: {visible(str(error), LONGEST)}"
        return "vacuous" if true is None else str(true).lower()

    def reads(self, number: int, index: Any) -> list[int]:
        """Return the numbers of the parts that a property reads at a position."""
        at, prop = self.position(number), self._property(index)
        before = self._before(at) if prop.kind is Kind.STEP else None
        if prop.kind is Kind.STEP and before is None:
            return []
        starts = read_set(self.model, prop, at.vector, before)
        return [number for number, part in enumerate(self.parts) if part.start in starts]

    def _property(self, index: Any) -> PropertyInstance:
        if type(index) is not int or not 0 <= index < len(self.properties):
            raise UsageError("There is no such property. Load the page again.")
        return self.properties[index]

    def distance(self, number: int, seconds: float | None = None, goal: Any = None) -> dict[str, Any]:
        """Return what is known of the distance from a position to a property's violation; of any for the goal None."""
        prop = None if goal is None else self._property(goal)
        if prop is not None and not has_distance(prop):
            raise UsageError("A property about whole behaviours has no distance: no single state violates it.")
        known = self.distances.from_state(self.position(number).vector, seconds, prop)
        return {
            "status": known.status.value,
            "least": known.least,
            "states": known.states,
            "seconds": round(known.seconds, 1),
            "properties": [visible(key or "deadlock") for key in known.properties],
            "path": list(known.path),
            "note": visible(known.note, 10 * LONGEST),
            "final": known.is_final,
        }

    # Moves.

    def walk(self, number: int, steps: Any, seed: Any = None) -> dict[str, Any]:
        """Take random steps that change the state, up to a new violation; return the position and why it ended.

        A violation is new if the state before the step did not have it.
        """
        if type(steps) is not int or not 1 <= steps <= MOST_STEPS:
            raise UsageError(f"A walk has 1 … {MOST_STEPS:,} steps.")
        chance, at = random.Random(seed), self.position(number)
        for _ in range(steps):
            visit = self._visits.at(at.vector)
            enabled = [i for i in self.model.instances if visit.after(i) not in (None, at.vector)]
            if not enabled:
                return {"position": at.number, "ended": "no step changes the state"}
            before, at = at, self.positions[self.take(at.number, [chance.choice(enabled).index])]
            new = next((prop for prop in self.properties if self._is_newly_violated(prop, at, before)), None)
            if new is not None:
                return {"position": at.number, "ended": f"violated: {visible(new.key)}"}
        return {"position": at.number, "ended": f"{steps:,} steps taken"}

    def _is_newly_violated(self, prop: PropertyInstance, at: Position, before: Position) -> bool:
        if not self._is_violated(prop, at.vector, before.vector):
            return False
        return prop.kind is Kind.STEP or not self._is_violated(prop, before.vector, None)

    def bookmark(self, number: int, name: Any) -> list[dict[str, Any]]:
        """Name a position, or remove its name with ""; return all bookmarks."""
        at = self.position(number)
        if not isinstance(name, str) or len(name) > LONGEST:
            raise UsageError(f"A bookmark's name has at most {LONGEST} characters.")
        self.bookmarks.pop(at.number, None)
        if name:
            self.bookmarks[at.number] = visible(name)
        return self._bookmarks()

    def trace(self, number: int) -> Trace:
        """Return the path to a position as a trace: of the property that its end violates, if it does."""
        path = self.path(number)
        violated = [p for p in self.properties if self._is_violated(p, path[-1].vector, self._before(path[-1]))]
        wanted = None if self.traced is None else self.traced.prop
        prop = next((p for p in violated if p.key == wanted), violated[0] if violated else None)
        trace = Trace(
            scenario=self.query.reference,
            variant=self.model.variant,
            bounds=self.model.binding.bounds,
            states=tuple(each.vector for each in path),
            actions=tuple(each.instance.key for each in path if each.instance is not None),
            prop=None if prop is None else prop.key,
            found_by="explore",
            command=self.query.command,
        )
        return stamped(trace, self.model, self.query.reference)

    def saved(self, number: int) -> dict[str, str]:
        """Save the path to a position; return the files by what they are. CannotWrite if they cannot be written."""
        files = save(self.model, self.trace(number), self.out)
        return {kind: visible(str(path)) for kind, path in files.items()}

    # Neighbours.

    def neighbourhood(self, number: int, steps: int, most: int) -> Neighbourhood:
        """Return the states within some steps of a position, at most `most` of them."""
        at = self.position(number)
        found: dict[Vector, Neighbour] = {at.vector: Neighbour(0, 0, (), at.vector)}
        arrows: dict[tuple[int, int], list[int]] = {}
        queue, left_out = [found[at.vector]], 0
        for each in queue:
            if each.depth == steps:
                continue
            visit = self._visits.at(each.vector)
            for instance in self.model.instances:
                after = visit.after(instance)
                if after is None or after == each.vector:
                    continue
                if after not in found:
                    if len(found) >= most:
                        left_out += 1
                        continue
                    found[after] = Neighbour(len(found), each.depth + 1, (*each.route, instance.index), after)
                    queue.append(found[after])
                arrows.setdefault((each.number, found[after].number), []).append(instance.index)
        nodes = tuple(self._judged(each, each.route) for each in found.values())
        return Neighbourhood(nodes, {pair: tuple(taken) for pair, taken in arrows.items()}, left_out)

    def _judged(self, one: Neighbour, route: Sequence[int]) -> Neighbour:
        violated = tuple(visible(p.key) for p in self.properties if self._is_violated(p, one.vector, None))
        return evolve(one, violated=violated)


@frozen
class Neighbour:
    """A state near a position: the steps that lead to it, and the properties that it violates."""

    number: int
    depth: int
    route: tuple[int, ...]
    vector: Vector
    violated: tuple[str, ...] = ()


@frozen
class Neighbourhood:
    """The states near a position, the action instances from one to another, and how many steps lead out of it."""

    nodes: tuple[Neighbour, ...]
    arrows: dict[tuple[int, int], tuple[int, ...]]
    left_out: int


def _valued(parts: Iterable[Part], vector: Vector) -> list[str]:
    """Return the values of parts in a state; the model must be active."""
    return [f"{path_text(part.path)} {part.value_text(vector)}" for part in parts]
