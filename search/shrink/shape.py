"""The shape of a minimized trace: what happens in it, whatever its parts are called and in whatever order they act.

Words: a *renaming* gives the members of each domain (brokers, topics) that a trace speaks of other numbers. A trace is
*sorted* by moving steps to the front, those of the first declared action first, and by letting members of lower numbers
act, as long as a replay still shows the same in as many steps. The shape is the least of what sorting under each
renaming gives. So two traces have the same shape if steps that need not wait for each other come in another order, or
if other brokers do the same; traces that differ in what happens have different ones.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from attrs import frozen

from model.language import Claim, Instance, UsageError
from model.language.action import Parametric
from search.shrink import Minimizer
from search.shrink.behaviour import Behaviour
from search.shrink.shrinker import Shrinker
from search.trace import Trace
from search.verdict import DEADLOCK

MOST_RENAMINGS = 120
"""So many renamings are compared; where there are more, members are numbered in the order of their appearance."""
REMEMBERED = 10_000
"""Traces whose shapes are remembered."""

Renaming = Mapping[tuple[str, Any], int]
"""The new number of each member, by the domain's name and the old number."""
Label = tuple[int, tuple[str, ...]]
"""A step as it is sorted: the number of its action in the scenario, and its renamed arguments."""


@frozen(order=True)
class Shape:
    """A claim (its kind, and its key with members renamed) and the sorted, renamed steps to its violation."""

    kind: str
    claim: str
    steps: tuple[str, ...]

    @property
    def text(self) -> str:
        """The shape in one line."""
        return f"{self.claim}: {'; '.join(self.steps) or 'an initial state'}"


class Shapes:
    """Shapes of minimized traces of one model, by the replays of a minimizer."""

    def __init__(self, minimizer: Minimizer) -> None:
        self.minimizer, self.model = minimizer, minimizer.model
        self._actions = list(dict.fromkeys(instance.action for instance in self.model.instances))
        self._numbers = {action: number for number, action in enumerate(self._actions)}
        self._instances = {a: [i for i in self.model.instances if i.action is a] for a in self._actions}
        self._known: dict[tuple[int | None, tuple[int, ...], Any], Shape] = {}

    def of_trace(self, trace: Trace) -> Shape:
        """The shape of a minimized trace."""
        claim = None if trace.claim is None else self.model.claims_of(trace.claim)[0]
        steps = [self.model.instance(key).index for key in trace.actions]
        shrinker = self.minimizer.shrinker(self.minimizer.aim(claim, steps))
        start = Behaviour((), (shrinker.stepper.start(trace.states[0]),))
        found = shrinker.replay(start, steps, len(steps) + 1)
        if found is None or len(found) != len(steps):
            raise UsageError(f"The trace of {len(steps)} steps does not show {trace.claim} in the end, and only there.")
        return self.of(claim, found, shrinker)

    def of(self, claim: Claim | None, taken: Behaviour, shrinker: Shrinker) -> Shape:
        """The shape of a minimized behaviour; the same for all those that sorting and renaming make the same."""
        key = (None if claim is None else claim.index, taken.steps, taken.states[0])
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            steps = [self.model.instances[step] for step in taken.steps]
            renamings = _renamings(claim, steps)
            self._known[key] = min(self._sorted(shrinker, taken, (claim, steps), renaming) for renaming in renamings)
        return self._known[key]

    def _sorted(
        self, shrinker: Shrinker, taken: Behaviour, shown: tuple[Claim | None, Sequence[Instance]], renaming: Renaming
    ) -> Shape:
        claim, steps = shown
        labels = dict(self._labels(steps, renaming))
        order = sorted_steps(shrinker, taken, labels)
        words = tuple(_call(self._actions[number].name, args) for number, args in map(labels.__getitem__, order))
        if claim is None:
            return Shape("", DEADLOCK, words)
        args = _renamed(claim.invariant, claim.args, renaming)
        return Shape(claim.kind.value, _call(claim.invariant.name, args or ()), words)

    def _labels(self, steps: Sequence[Instance], renaming: Renaming) -> Iterator[tuple[int, Label]]:
        """The labels of all instances of the actions that are taken, as far as their members appear."""
        for action in dict.fromkeys(step.action for step in steps):
            for instance in self._instances[action]:
                args = _renamed(action, instance.args, renaming)
                if args is not None:
                    yield instance.index, (self._numbers[action], args)


def sorted_steps(shrinker: Shrinker, best: Behaviour, labels: Mapping[int, Label]) -> tuple[int, ...]:
    """The steps of a behaviour with the least label at each place, from the first on, that the replays allow."""
    before = None
    while before != best.steps:
        before = best.steps
        for place in range(len(best)):
            moved = (_replayed(shrinker, best, place, rest) for rest in _moves(best.steps, place, labels))
            best = next((behaviour for behaviour in moved if behaviour is not None), best)
    return best.steps


def _moves(steps: tuple[int, ...], place: int, labels: Mapping[int, Label]) -> Iterator[tuple[int, ...]]:
    """The steps from a place on with a lesser label there: a later step's, or another instance's; the least first."""
    now, rest = labels[steps[place]], steps[place:]
    least = {labels[rest[later]]: later for later in range(len(rest) - 1, 0, -1)}
    moves = [(label, (rest[n], *rest[:n], *rest[n + 1 :])) for label, n in least.items() if label < now]
    moves += [(label, (i, *rest[1:])) for i, label in labels.items() if label[0] == now[0] and label < now]
    yield from (moved for _, moved in sorted(moves))


def _replayed(shrinker: Shrinker, best: Behaviour, place: int, rest: tuple[int, ...]) -> Behaviour | None:
    """The behaviour with other steps from a place on; None unless it takes exactly these to show what is looked for."""
    found = shrinker.replay(Behaviour(best.steps[:place], best.states[: place + 1]), rest, len(best) + 1)
    return found if found is not None and found.steps[place:] == rest else None


def _call(name: str, args: Sequence[str]) -> str:
    return f"{name}({', '.join(args)})"


def _renamed(thing: Parametric, args: tuple[Any, ...], renaming: Renaming) -> tuple[str, ...] | None:
    """The arguments as text, members by their new numbers; None if one of them has none."""
    words = []
    for parameter, arg in zip(thing.parameters, args, strict=True):
        if parameter.over is None:
            words.append(parameter.token(arg))
        elif (parameter.over, arg) in renaming:
            words.append(str(renaming[parameter.over, arg]))
        else:
            return None
    return tuple(words)


def _members(claim: Claim | None, steps: Sequence[Instance]) -> dict[str, list[Any]]:
    """The members that appear, by the name of their domain, in the order of their appearance."""
    things: list[tuple[Parametric, tuple[Any, ...]]] = [(step.action, step.args) for step in steps]
    things += [] if claim is None else [(claim.invariant, claim.args)]
    found: dict[str, dict[Any, None]] = {}
    for thing, args in things:
        for parameter, arg in zip(thing.parameters, args, strict=True):
            if parameter.over is not None:
                found.setdefault(parameter.over, {})[arg] = None
    return {name: list(members) for name, members in found.items()}


def _renamings(claim: Claim | None, steps: Sequence[Instance]) -> Iterator[Renaming]:
    members = _members(claim, steps)
    if prod(factorial(len(each)) for each in members.values()) > MOST_RENAMINGS:
        orders: list[Any] = [[each] for each in members.values()]
    else:
        orders = [permutations(each) for each in members.values()]
    for chosen in product(*orders):
        pairs = zip(members, chosen, strict=True)
        yield {(name, member): number for name, order in pairs for number, member in enumerate(order)}
