"""A bakery whose mutants have every status: an oven, a shelf, a counter of loaves, and a room that is never entered."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Flag,
    Scenario,
    action,
    always,
    array,
    flag,
    nested,
    number,
    optional,
    reachable,
    require,
    state,
    step,
)

OVENS = Domain("ovens", "ovens of the bakery")
LOAVES = Bound("loaves", "loaves that can be baked")
CELLAR = Flag("cellar", "whether there is a cellar")
Oven = Annotated[int, OVENS]

BAKER = Actor("baker", of=OVENS)
GUEST = Actor("guest", system=False)


@state
class Till:
    """What was sold is counted here too, if there are two tills; the second one is always empty."""

    sold: int = number(0, LOAVES)
    returned: int = number(0, LOAVES)


@state
class Bakery:
    """`baked` and `sold` count loaves; `hot` says which oven is in use, `last` was; no property reads `dusty`."""

    baked: int = number(0, LOAVES)
    sold: int = number(0, LOAVES)
    hot: Array[bool] = array(OVENS, flag())
    last: int | None = optional(OVENS)
    till: Till = nested(Till)
    dusty: bool = flag()
    clean: bool = flag()


def anything_left(bakery: Bakery) -> bool:
    """Whether there is a loaf to sell; a property reads this too."""
    return bakery.baked > bakery.sold


@action(by=BAKER, description="heats oven {oven}")
def heat(bakery: Bakery, oven: Oven) -> None:
    """One oven at a time."""
    require(not any(bakery.hot) and bakery.baked < LOAVES)
    bakery.hot[oven] = True


@action(by=BAKER, description="takes a loaf out of oven {oven}")
def bake(bakery: Bakery, oven: Oven) -> None:
    """The oven cools down."""
    require(bakery.hot[oven])
    bakery.hot[oven] = False
    bakery.last = oven
    bakery.baked += 1
    if CELLAR:
        bakery.dusty = True


@action(by=GUEST, description="buys a loaf")
def buy(bakery: Bakery) -> None:
    """If there is one."""
    require(anything_left(bakery))
    bakery.sold += 1
    bakery.till.sold = bakery.sold
    if bakery.sold > LOAVES:
        bakery.dusty = True


@action(by=GUEST, description="leaves dust")
def make_dust(bakery: Bakery) -> None:
    """Nobody minds."""
    require(not bakery.dusty or not bakery.clean)
    bakery.dusty = True


@action(by=GUEST, description="looks into the oven that was used last")
def look(bakery: Bakery) -> None:
    """It is cold by then."""
    require(bakery.last is not None)
    bakery.hot[bakery.last] = bakery.hot[bakery.last] and bakery.sold <= bakery.baked


@action(by=GUEST, description="sweeps")
def sweep(bakery: Bakery) -> None:
    """While there is bread, which is asked twice."""
    require(bakery.sold < bakery.baked)
    if bakery.sold <= bakery.baked:
        bakery.clean = False


@always(symptom="two ovens burn at once")
def one_oven(bakery: Bakery) -> bool:
    """At most one oven is hot."""
    return sum(bakery.hot) <= 1


@always(symptom="a loaf is sold that was not baked")
def nothing_is_sold_that_is_not_there(bakery: Bakery) -> bool:
    """What is sold was baked."""
    return bakery.sold <= bakery.baked


@always(symptom="none: this property is violated by the bakery as it is")
def never_dusty(bakery: Bakery) -> bool:
    """A property that fails without any mistake, and so notices none."""
    return not bakery.dusty


@step(symptom="loaves vanish")
def loaves_stay(before: Bakery, after: Bakery) -> bool:
    """Baked loaves were baked for good."""
    return after.baked >= before.baked


@reachable()
def sold_out(bakery: Bakery) -> bool:
    """Everything can be sold."""
    return bakery.sold == LOAVES and not anything_left(bakery)


SCENARIO = Scenario(
    name="bakery",
    story="Bakers bake, guests buy.",
    state=Bakery,
    actions=(heat, bake, buy, make_dust, look, sweep),
    properties=(one_oven, nothing_is_sold_that_is_not_there, never_dusty, loaves_stay, sold_out),
    bounds={"ovens": 2, "loaves": 3},
    flags={"cellar": False},
)
