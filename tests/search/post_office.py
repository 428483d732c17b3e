"""A small model with all that engines must count: bounds, idle steps, quiescent states, all kinds of invariants."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from attrs import evolve

from kwalk.model.language import (
    Actor,
    Bound,
    Domain,
    Fifo,
    Model,
    Scenario,
    action,
    always,
    choice,
    fifo,
    flag,
    member,
    number,
    optional,
    premise,
    reachable,
    require,
    state,
    step,
    when_quiescent,
)

STREETS = Domain("streets")
LETTERS = Bound("letters", "letters that are ever written")
BAG = Bound("bag", "letters that the bag holds")
Street = Annotated[int, STREETS]

WRITER = Actor("writer", system=False)
POSTMAN = Actor("postman")
THIEF = Actor("thief", system=False)


class Weather(Enum):
    """What the postman walks through."""

    SUN = 1
    RAIN = 2


@state
class Post:
    """Letters on their way to a street each."""

    at: int = member(STREETS)
    weather: Weather = choice(Weather)
    bag: Fifo[int] = fifo(STREETS, BAG)
    written: int = number(0, LETTERS)
    delivered: int = number(0, 9)
    stolen: bool = flag()
    last: int | None = optional(STREETS)


def anywhere(post: Post, street: Street, wet: bool) -> None:
    """The postman starts in any street but the last, in any weather, but not in rain in the first street."""
    require(street + 1 < len(STREETS) and not (wet and street == 0))
    post.at = street
    if wet:
        post.weather = Weather.RAIN


@action(by=WRITER)
def write(post: Post, street: Street) -> None:
    """A letter goes into the bag; the bag may be full, and paper may run out."""
    post.bag.push(street)
    post.written += 1


@action(by=POSTMAN)
def deliver(post: Post) -> None:
    """The postman hands over a letter where he is."""
    require(post.bag.starts_with(post.at))
    post.last = post.bag.pop()
    post.delivered += 1


@action(by=POSTMAN)
def go(post: Post, street: Street) -> None:
    """The postman goes where the next letter belongs, if it does not rain."""
    require(post.bag.starts_with(street) and post.at != street and post.weather == Weather.SUN)
    post.at = street


@action(by=THIEF)
def steal(post: Post) -> None:
    """The last letter before the bag is empty disappears."""
    require(len(post.bag) == 1 and not post.stolen)
    post.bag.pop()
    post.stolen = True


@action(by=THIEF)
def clear_up(post: Post) -> None:
    """The sun comes out, also where it shines already."""
    post.weather = Weather.SUN


@always()
def no_more_delivered_than_written(post: Post) -> bool:
    """Holds."""
    return post.delivered <= post.written


@always()
def never_three_delivered(post: Post) -> bool:
    """Violated, and only those who have two delivered are asked."""
    premise(post.delivered >= 2)
    return post.delivered < 3


@when_quiescent()
def nothing_is_lost(post: Post) -> bool:
    """Violated where the thief was."""
    return post.delivered == post.written


@reachable()
def visits(post: Post, street: Street) -> bool:
    """Every street but one that no letter goes to can be visited."""
    return post.at == street and post.last == street


@reachable()
def nine_delivered(post: Post) -> bool:
    """Never true: there is not so much paper."""
    return post.delivered == 9


@step()
def letters_stay_written(before: Post, after: Post) -> bool:
    """Holds."""
    return after.written >= before.written


@step()
def the_sun_stays(before: Post, after: Post) -> bool:
    """Never violated: it never begins to rain."""
    premise(before.weather == Weather.SUN)
    return after.weather == Weather.SUN


@step()
def bag_grows_slowly(before: Post, after: Post) -> bool:
    """Violated by a writer who fills the bag."""
    return len(after.bag) <= len(before.bag) or len(after.bag) < 2


POST_OFFICE = Scenario(
    name="post-office",
    story="A postman, a thief, and too little paper.",
    state=Post,
    initial=anywhere,
    actions=(write, deliver, go, steal, clear_up),
    properties=(
        no_more_delivered_than_written,
        never_three_delivered,
        nothing_is_lost,
        visits,
        nine_delivered,
        letters_stay_written,
        the_sun_stays,
        bag_grows_slowly,
    ),
    bounds={"streets": 3, "letters": 4, "bag": 2},
)


@action(by=WRITER)
def overflow(post: Post) -> None:
    """A model bug: the fourth call leaves the domain."""
    require(post.written == 2 and post.at == 1)
    post.at = post.at + 2


BROKEN = evolve(POST_OFFICE, name="broken-post-office", actions=(write, deliver, go, overflow))


@action(by=WRITER)
def write_once(post: Post, street: Street) -> None:
    """The only letter."""
    require(post.written == 0)
    post.bag.push(street)
    post.written += 1


STUCK = evolve(
    POST_OFFICE,
    name="stuck-post-office",
    actions=(write_once, deliver, go),
    deadlock_is_error=True,
    properties=(no_more_delivered_than_written,),
)


def post_office(**bounds: int) -> Model:
    """The post office with these bounds."""
    return Model(POST_OFFICE, bounds=bounds)
