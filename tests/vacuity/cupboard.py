"""A cupboard whose properties can fail, or cannot, in one way each."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    action_constraint,
    always,
    always_eventually,
    array,
    constraint,
    eventually,
    evolve,
    fifo,
    flag,
    number,
    optional,
    premise,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)

SIZE = Bound("size")
SHELVES = Domain("shelves")
LETTERS = Bound("letters")
Shelf = Annotated[int, SHELVES]
USER = Actor("user", system=False)
MOUSE = Actor("mouse")


@state
class Cupboard:
    """What is in it; `broken` is on no path, and nothing sets it."""

    used: int = number(0, SIZE)
    broken: bool = flag()
    thing: list[int | None] = array(SHELVES, optional(SHELVES))
    letters: Fifo[int] = fifo(number(0, 3), LETTERS)


@action(by=USER)
def put(cupboard: Cupboard) -> None:
    """The bug: nobody looks whether there is room."""
    cupboard.used += 1


@action(by=USER)
def take(cupboard: Cupboard) -> None:
    require(cupboard.used > 0)
    cupboard.used -= 1


@action(by=MOUSE)
def nibble(cupboard: Cupboard) -> None:
    require(cupboard.used > 1)
    cupboard.used -= 1


@action(by=USER)
def post(cupboard: Cupboard) -> None:
    cupboard.letters.push(3)


@action(by=USER)
def move_in(cupboard: Cupboard) -> None:
    require(cupboard.thing[0] is None)
    cupboard.thing[0] = 0


@always()
def never_overfull(cupboard: Cupboard) -> bool:
    return cupboard.used <= SIZE


@always()
def never_broken(cupboard: Cupboard) -> bool:
    return not cupboard.broken


@always()
def each_shelf_has_a_shelf(cupboard: Cupboard, shelf: Shelf) -> bool:
    thing = cupboard.thing[shelf]
    return thing is None or thing < len(SHELVES)


@always()
def other_shelves_are_empty(cupboard: Cupboard, one: Shelf, other: Shelf) -> bool:
    """The instance with one shelf twice cannot fail, and the others can."""
    return one == other or cupboard.thing[other] is None


@always()
def about_nothing(cupboard: Cupboard) -> bool:
    premise(cupboard.used > SIZE)
    return not cupboard.broken


@always()
def about_what_is_not_reached(cupboard: Cupboard) -> bool:
    premise(cupboard.broken)
    return cupboard.used == 0


@step()
def never_overfull_after(before: Cupboard, after: Cupboard) -> bool:
    return before.used + 1 > 0 and after.used <= SIZE


@step()
def one_at_a_time(before: Cupboard, after: Cupboard) -> bool:
    return after.used - before.used in (-1, 0, 1)


@when_quiescent()
def little_is_left(cupboard: Cupboard) -> bool:
    """The guard of the mouse implies it; with another guard it would fail."""
    return cupboard.used <= 1


@when_quiescent()
def at_rest_not_overfull(cupboard: Cupboard) -> bool:
    return cupboard.used <= SIZE


@reachable()
def is_anything(cupboard: Cupboard) -> bool:
    return cupboard.used >= 0


@reachable()
def is_full(cupboard: Cupboard) -> bool:
    return cupboard.used == SIZE


@eventually()
def full_is_followed_by_not_overfull(cupboard: Cupboard) -> bool:
    premise(cupboard.used == SIZE)
    return cupboard.used <= SIZE


@eventually()
def full_is_followed_by_empty(cupboard: Cupboard) -> bool:
    premise(cupboard.used == SIZE)
    return cupboard.used == 0


@always_eventually()
def full_is_followed_by_full_again(cupboard: Cupboard) -> bool:
    """Where the premise is true the rest is, and it can fail all the same: later."""
    premise(cupboard.used == SIZE)
    return cupboard.used == SIZE


@always_eventually()
def always_eventually_not_overfull(cupboard: Cupboard) -> bool:
    return cupboard.used <= SIZE


@always()
def is_far_from_any_state(cupboard: Cupboard) -> bool:
    """It fails in one state of 2^21, which only Z3 finds."""
    return not (cupboard.used == 123456 and cupboard.broken)


@always()
def few_letters(cupboard: Cupboard) -> bool:
    """With room for one letter, only a broken cupboard violates it."""
    return len(cupboard.letters) < 2 and not cupboard.broken


@always()
def is_where_it_was(cupboard: Cupboard) -> bool:
    return len(cupboard.letters) >= cupboard.used


@constraint()
def is_not_full(cupboard: Cupboard) -> bool:
    return cupboard.used < SIZE


@constraint()
def is_nowhere(cupboard: Cupboard) -> bool:
    return cupboard.used > SIZE


@action_constraint()
def nobody_posts_twice(before: Cupboard, after: Cupboard) -> bool:
    return len(after.letters) < 2


CANNOT_FAIL = (
    never_overfull,
    each_shelf_has_a_shelf,
    never_overfull_after,
    at_rest_not_overfull,
    is_anything,
    full_is_followed_by_not_overfull,
    always_eventually_not_overfull,
)
CAN_FAIL = (
    never_broken,
    other_shelves_are_empty,
    about_what_is_not_reached,
    one_at_a_time,
    little_is_left,
    is_full,
    full_is_followed_by_empty,
    full_is_followed_by_full_again,
    few_letters,
)
CUPBOARD = Scenario(
    name="cupboard",
    story="Things are put into a cupboard, and a mouse eats some.",
    state=Cupboard,
    actions=(put, take, nibble),
    properties=(*CANNOT_FAIL, about_nothing, *CAN_FAIL),
    bounds={"size": 3, "shelves": 2, "letters": 2},
)
OVERFULL = evolve(CUPBOARD, properties=(never_overfull,))
POSTED = evolve(CUPBOARD, actions=(post,), properties=(few_letters,), bounds={**CUPBOARD.bounds, "letters": 1})
SOUND = evolve(CUPBOARD, properties=(never_broken,), actions=(take, nibble))
