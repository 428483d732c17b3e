"""The shape of a minimized trace: what happens in it, independent of the names of its parts and of irrelevant order.

Words: a *renaming* numbers the members of each domain (brokers, topics) that a trace mentions. A trace is *sorted* by
moving steps to the front, those of the first declared action first, and by choosing members of lower numbers, as long
as a replay still shows the same target in as many steps. The shape is the least result of sorting under all renamings.
So two traces have the same shape if independent steps come in another order, or if other brokers do the same; traces in
which other things happen have different shapes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from kwalk.model.language import ActionInstance, PropertyInstance, UsageError
from kwalk.model.language.action import Parametric
from kwalk.search.minimize.ddmin import Shrinker
from kwalk.search.minimize.model_signature import members_of, orders_of
from kwalk.search.minimize.replay import Behaviour
from kwalk.search.minimize.shrink import Minimizer
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK

MAX_CACHED = 10_000
"""Behaviours whose shapes are cached."""

Renaming = Mapping[tuple[str, Any], int]
"""The new number of each member, by the domain's name and the old number."""
Label = tuple[int, tuple[str, ...]]
"""A step as it is sorted: the number of its action in the scenario, and its renamed arguments."""


@frozen(order=True)
class TraceShape:
    """A property (its kind, and its key with members renamed) and the sorted, renamed steps to its violation."""

    kind: str
    prop: str
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """The shape in one line."""
        return f"{self.prop}: {'; '.join(self.steps) or 'an initial state'}"


class Shapes:
    """Computes the shapes of minimized traces of one model, by replays of a minimizer."""

    def __init__(self, minimizer: Minimizer) -> None:
        self.minimizer, self.model = minimizer, minimizer.model
        self._actions = list(dict.fromkeys(instance.action for instance in self.model.instances))
        self._numbers = {action: number for number, action in enumerate(self._actions)}
        self._instances = {a: [i for i in self.model.instances if i.action is a] for a in self._actions}
        self._cache: dict[tuple[int | None, tuple[int, ...], Any], TraceShape] = {}

    def of_trace(self, trace: Trace) -> TraceShape:
        """Return the shape of a minimized trace; UsageError if it does not show its property in the last state only."""
        prop = None if trace.prop is None else self.model.properties_of(trace.prop)[0]
        steps = [self.model.instance(key).index for key in trace.actions]
        shrinker = self.minimizer.shrinker(self.minimizer.target(prop, steps))
        start = Behaviour((), (shrinker.stepper.start(trace.states[0]),))
        found = shrinker.replay(start, steps, len(steps) + 1)
        if found is None or len(found) != len(steps):
            raise UsageError(f"The trace of {len(steps)} steps does not show {trace.prop} in the end, and only there.")
        return self.of(prop, found, shrinker)

    def of(self, prop: PropertyInstance | None, best: Behaviour, shrinker: Shrinker) -> TraceShape:
        """Return the shape of a minimized behaviour."""
        key = (None if prop is None else prop.index, best.steps, best.states[0])
        if key not in self._cache:
            if len(self._cache) >= MAX_CACHED:
                self._cache.clear()
            steps = [self.model.instances[step] for step in best.steps]
            renamings = _renamings(prop, steps)
            self._cache[key] = min(self._sorted(shrinker, best, (prop, steps), renaming) for renaming in renamings)
        return self._cache[key]

    def _sorted(
        self,
        shrinker: Shrinker,
        best: Behaviour,
        behaviour: tuple[PropertyInstance | None, Sequence[ActionInstance]],
        renaming: Renaming,
    ) -> TraceShape:
        prop, steps = behaviour
        labels = dict(self._labels(steps, renaming))
        order = sorted_steps(shrinker, best, labels)
        words = tuple(_call(self._actions[number].name, args) for number, args in map(labels.__getitem__, order))
        if prop is None:
            return TraceShape("", DEADLOCK, words)
        args = _renamed(prop.declaration, prop.args, renaming)
        return TraceShape(prop.kind.value, _call(prop.declaration.name, args or ()), words)

    def _labels(self, steps: Sequence[ActionInstance], renaming: Renaming) -> Iterator[tuple[int, Label]]:
        """Yield the labels of all instances of the actions taken whose members are renamed."""
        for action in dict.fromkeys(step.action for step in steps):
            for instance in self._instances[action]:
                args = _renamed(action, instance.args, renaming)
                if args is not None:
                    yield instance.index, (self._numbers[action], args)


def sorted_steps(shrinker: Shrinker, best: Behaviour, labels: Mapping[int, Label]) -> tuple[int, ...]:
    """Return the steps of a behaviour with the least label at each place, from the first on, that replays allow."""
    before = None
    while before != best.steps:
        before = best.steps
        for place in range(len(best)):
            moved = (_replayed(shrinker, best, place, rest) for rest in _moves(best.steps, place, labels))
            best = next((behaviour for behaviour in moved if behaviour is not None), best)
    return best.steps


def _moves(steps: tuple[int, ...], place: int, labels: Mapping[int, Label]) -> Iterator[tuple[int, ...]]:
    """Yield the steps from a place on with a lesser label there (of a later step or another instance), least first."""
    now, rest = labels[steps[place]], steps[place:]
    least = {labels[rest[later]]: later for later in range(len(rest) - 1, 0, -1)}
    moves = [(label, (rest[n], *rest[:n], *rest[n + 1 :])) for label, n in least.items() if label < now]
    moves += [(label, (i, *rest[1:])) for i, label in labels.items() if label[0] == now[0] and label < now]
    yield from (moved for _, moved in sorted(moves))


def _replayed(shrinker: Shrinker, best: Behaviour, place: int, rest: tuple[int, ...]) -> Behaviour | None:
    """Replace the steps from a place on; None unless the replay takes exactly these steps."""
    found = shrinker.replay(Behaviour(best.steps[:place], best.states[: place + 1]), rest, len(best) + 1)
    return found if found is not None and found.steps[place:] == rest else None


def _call(name: str, args: Sequence[str]) -> str:
    return f"{name}({', '.join(args)})"


def _renamed(thing: Parametric, args: tuple[Any, ...], renaming: Renaming) -> tuple[str, ...] | None:
    """Return the arguments as text, members by their new numbers; None if one of them has none."""
    words = []
    for parameter, arg in zip(thing.parameters, args, strict=True):
        if parameter.over is None:
            words.append(parameter.token(arg))
        elif (parameter.over, arg) in renaming:
            words.append(str(renaming[parameter.over, arg]))
        else:
            return None
    return tuple(words)


def _renamings(prop: PropertyInstance | None, steps: Sequence[ActionInstance]) -> Iterator[Renaming]:
    """Yield all renamings of the members that appear; if there are too many, only the one by first appearance."""
    calls: list[tuple[Parametric, tuple[Any, ...]]] = [(step.action, step.args) for step in steps]
    members = members_of([*calls, *([] if prop is None else [(prop.declaration, prop.args)])])
    for orders in orders_of(members) or [members]:
        yield {(domain, member): n for domain, order in orders.items() for n, member in enumerate(order)}
