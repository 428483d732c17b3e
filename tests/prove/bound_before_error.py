"""A model whose only error lies behind a bound: no behaviour meets it."""

from __future__ import annotations

from kwalk import Actor, Array, Bound, Domain, Scenario, action, always, array, flag, number, state

SLOTS = Domain("slots", "slots")
LIMIT = Bound("limit", "how far it counts")
SYSTEM = Actor("system")


@state
class Counter:
    """A count, and flags at some of its values."""

    count: int = number(0, LIMIT)
    seen: Array[bool] = array(SLOTS, flag())


@action(by=SYSTEM, description="counts twice, and marks what it has counted")
def count_twice(counter: Counter) -> None:
    """At the second time the count reaches its bound; beyond it the index would be outside of the array."""
    counter.count += 1
    counter.count += 1
    counter.seen[counter.count if counter.seen[1] else 0] = True
    counter.seen[1] = True


@always()
def count_is_even(counter: Counter) -> bool:
    """Hold, as the action counts twice or not at all."""
    return counter.count % 2 == 0


SCENARIO = Scenario(
    name="bound-before-error",
    story="A counter marks what it has counted.",
    state=Counter,
    actions=(count_twice,),
    properties=(count_is_even,),
    bounds={"slots": 2, "limit": 2},
)
