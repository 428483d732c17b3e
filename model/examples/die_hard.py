"""Die Hard: measure four gallons with a five-gallon jug, a three-gallon jug and a tap.

The smallest model here, and a puzzle: declare the property that there is no solution, and the counterexample is one.

Source: L. Lamport's TLA+ tutorial; tlaplus/Examples, specifications/DieHard/DieHard.tla. Counts: 16 distinct states, 97
generated, TLC depth 8, and a shortest solution of 6 steps (TLC's output in tkgakr/tla-plus-by-example,
examples/01-diehard/README.md).
"""

from __future__ import annotations

from kwalk.model.language import Actor, Scenario, action, always, number, reachable, state

SMALL, BIG = 3, 5
"""What the jugs hold, in gallons."""

HERO = Actor("hero", system=False)


@state
class Jugs:
    """How much water is in each jug, in gallons."""

    small: int = number(0, SMALL)
    big: int = number(0, BIG)


@action(by=HERO, description="fills the small jug")
def fill_small(jugs: Jugs) -> None:
    """From the tap, to the brim."""
    jugs.small = SMALL


@action(by=HERO, description="fills the big jug")
def fill_big(jugs: Jugs) -> None:
    """From the tap, to the brim."""
    jugs.big = BIG


@action(by=HERO, description="empties the small jug")
def empty_small(jugs: Jugs) -> None:
    """Onto the ground."""
    jugs.small = 0


@action(by=HERO, description="empties the big jug")
def empty_big(jugs: Jugs) -> None:
    """Onto the ground."""
    jugs.big = 0


@action(by=HERO, description="pours the small jug into the big one")
def small_to_big(jugs: Jugs) -> None:
    """Until one is empty or the other full."""
    poured = min(jugs.small, BIG - jugs.big)
    jugs.small -= poured
    jugs.big += poured


@action(by=HERO, description="pours the big jug into the small one")
def big_to_small(jugs: Jugs) -> None:
    """Until one is empty or the other full."""
    poured = min(jugs.big, SMALL - jugs.small)
    jugs.big -= poured
    jugs.small += poured


@always(symptom="the bomb does not go off")
def not_solved(jugs: Jugs) -> bool:
    """The puzzle has no solution: the shortest counterexample is the shortest solution."""
    return jugs.big != 4


@reachable()
def one_gallon(jugs: Jugs) -> bool:
    """One gallon can be measured, too."""
    return 1 in (jugs.small, jugs.big)


DIE_HARD = Scenario(
    name="die-hard",
    story="Two jugs, a tap, and a bomb that wants exactly four gallons.",
    state=Jugs,
    actions=(fill_small, fill_big, empty_small, empty_big, small_to_big, big_to_small),
    properties=(not_solved, one_gallon),
    source="tlaplus/Examples specifications/DieHard/DieHard.tla",
)
