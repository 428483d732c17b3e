"""The state of the zoo: fields of every kind."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    Fresh,
    array,
    choice,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    state,
    subset,
    value,
)

ANIMALS = Domain("animals")
TAGS = Domain("tags")
QUEUE = Bound("queue")
MEALS = Bound("meals")
NIGHT = Flag("night")
WEATHER = Flag("weather", settings=("dry", "wet"))
Animal = Annotated[int, ANIMALS]
KEEPER = Actor("keeper", system=False)
BEAST = Actor("beast", of=ANIMALS)


class Mood(Enum):
    """How an animal feels."""

    CALM = 1
    HUNGRY = 2
    ANGRY = 3


@value
class Letter:
    """A frozen record."""

    to: int = member(ANIMALS)
    urgent: bool = flag()
    mood: Mood = choice(Mood)
    copies: frozenset[int] = subset(ANIMALS)


@state
class Cage:
    """A mutable record."""

    mood: Mood = choice(Mood)
    tag: int | None = optional(TAGS)
    meals: int = number(0, MEALS)
    friends: frozenset[int] = subset(ANIMALS)
    open: bool = flag()

    @property
    def is_dangerous(self) -> bool:
        """A property."""
        return self.open and self.mood is Mood.ANGRY

    def feed(self, amount: int) -> int:
        """A method that writes and returns."""
        self.meals += amount
        if self.mood is Mood.HUNGRY:
            self.mood = Mood.CALM
            return amount
        return 0


@state
class Zoo:
    """Fields of every kind."""

    cages: Array[Cage] = array(ANIMALS, Cage)
    grid: Array[Array[int]] = array(ANIMALS, array(TAGS, number(-2, 5)))
    letters: Fifo[Letter] = fifo(Letter, QUEUE)
    numbers: Fifo[int] = fifo(number(0, 6), QUEUE)
    draft: Letter | None = optional(Letter)
    tags: Fresh = fresh(TAGS)
    guest: int | None = optional(ANIMALS)
    host: int = member(ANIMALS)
    level: int = number(-4, 9)
    spare: Cage = nested(Cage)
    lamp: bool = flag(default=True)
