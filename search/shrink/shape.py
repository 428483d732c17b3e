"""The shape of a minimized trace: what happens in it, whatever its parts are called and in whatever order they act.

Words: a *renaming* gives the members of each domain (brokers, topics) that a trace speaks of other numbers. A trace is
*sorted* by moving steps to the front, those of the first declared action first, as long as a replay still shows the
same in as many steps. The shape is the least of what sorting under each renaming gives. So two traces have the same
shape if steps that need not wait for each other come in another order, or if other brokers do the same; traces that
differ in what happens have different ones.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from math import factorial, prod
from typing import Any

from attrs import frozen

from model.language import Claim, Domain, Instance
from model.language.action import Parametric
from search.shrink import Minimizer
from search.shrink.behaviour import Behaviour
from search.shrink.shrinker import Shrinker
from search.trace import Trace

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
        self._numbers = {action: number for number, action in enumerate(self.model.scenario.actions)}
        self._known: dict[tuple[str | None, tuple[str, ...]], Shape] = {}

    def of(self, trace: Trace) -> Shape:
        """The shape of a trace; the same for each trace that sorting and renaming make the same."""
        key = (trace.claim, trace.actions)
        if key not in self._known:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            self._known[key] = self._made(trace)
        return self._known[key]

    def _made(self, trace: Trace) -> Shape:
        claim = None if trace.claim is None else self.model.claims_of(trace.claim)[0]
        steps = [self.model.instance(key) for key in trace.actions]
        shrinker = self.minimizer.shrinker(() if claim is None else (claim,))
        start = Behaviour((), (shrinker.stepper.start(trace.states[0]),))
        return min(self._sorted(shrinker, start, (claim, steps), renaming) for renaming in _renamings(claim, steps))

    def _sorted(
        self, shrinker: Shrinker, start: Behaviour, shown: tuple[Claim | None, Sequence[Instance]], renaming: Renaming
    ) -> Shape:
        claim, steps = shown
        labels = {step.index: self._label(step, renaming) for step in steps}
        order = sorted_steps(shrinker, start, [step.index for step in steps], labels)
        actions = self.model.scenario.actions
        words = tuple(_call(actions[number].name, args) for number, args in map(labels.__getitem__, order))
        if claim is None:
            return Shape("", "deadlock", words)
        args = _renamed(claim.invariant, claim.args, renaming)
        return Shape(claim.kind.value, _call(claim.invariant.name, args), words)

    def _label(self, step: Instance, renaming: Renaming) -> Label:
        return self._numbers[step.action], _renamed(step.action, step.args, renaming)


def sorted_steps(
    shrinker: Shrinker, start: Behaviour, steps: Sequence[int], labels: Mapping[int, Label]
) -> tuple[int, ...]:
    """The steps with each as far to the front as its label and the replays allow."""
    best, place = tuple(steps), 0
    while place < len(best):
        moved = next((m for m in _moves(best, place, labels) if _is_as_good(shrinker, start, m)), None)
        best, place = (best, place + 1) if moved is None else (moved, 0)
    return best


def _moves(steps: tuple[int, ...], place: int, labels: Mapping[int, Label]) -> Iterator[tuple[int, ...]]:
    """What moving a later step of a lesser label to this place gives, the least label first."""
    least = {}
    for later in range(len(steps) - 1, place, -1):
        if labels[steps[later]] < labels[steps[place]]:
            least[labels[steps[later]]] = later
    for label in sorted(least):
        later = least[label]
        yield (*steps[:place], steps[later], *steps[place:later], *steps[later + 1 :])


def _is_as_good(shrinker: Shrinker, start: Behaviour, steps: tuple[int, ...]) -> bool:
    """Whether a replay takes exactly these steps to show what is looked for."""
    found = shrinker.replay(start, steps, len(steps) + 1)
    return found is not None and found.steps == steps


def _call(name: str, args: Sequence[str]) -> str:
    return f"{name}({', '.join(args)})"


def _renamed(thing: Parametric, args: tuple[Any, ...], renaming: Renaming) -> tuple[str, ...]:
    return tuple(
        str(renaming[parameter.domain.name, arg]) if isinstance(parameter.domain, Domain) else parameter.token(arg)
        for parameter, arg in zip(thing.parameters, args, strict=True)
    )


def _members(claim: Claim | None, steps: Sequence[Instance]) -> dict[str, list[Any]]:
    """The members that appear, by the name of their domain, in the order of their appearance."""
    things: list[tuple[Parametric, tuple[Any, ...]]] = [(step.action, step.args) for step in steps]
    things += [] if claim is None else [(claim.invariant, claim.args)]
    found: dict[str, dict[Any, None]] = {}
    for thing, args in things:
        for parameter, arg in zip(thing.parameters, args, strict=True):
            if isinstance(parameter.domain, Domain):
                found.setdefault(parameter.domain.name, {})[arg] = None
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
