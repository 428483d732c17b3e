"""Actions for what decides the way through a function: branches, aborts, flags, and errors."""

from __future__ import annotations

from kwalk.model.language import Abort, action, require
from tests.agreement.zoo.state import ANIMALS, BEAST, KEEPER, MEALS, NIGHT, WEATHER, Animal, Mood, Zoo


class Bitten(Abort):
    """The keeper leaves in a hurry."""


@action(by=KEEPER)
def arithmetic(zoo: Zoo, animal: Animal) -> None:
    """+, -, *, //, %, unary minus, augmented assignment."""
    a, b = zoo.level, zoo.cages[animal].meals
    require(-4 <= (a * 2 - b) // 3 + a % 3 <= 9)
    zoo.level = (a * 2 - b) // 3 + a % 3
    zoo.grid[animal][0] = max(-2, min(5, -a + b))
    zoo.spare.meals = abs(a) % 2


@action(by=KEEPER)
def branches(zoo: Zoo) -> None:
    """if, elif and else, nested, with a write in each."""
    if zoo.level > 4:
        zoo.level = 0
    elif zoo.level == 2 or zoo.lamp:
        if zoo.guest is None:
            zoo.guest = 1
        else:
            zoo.lamp = not zoo.lamp
    else:
        zoo.level += 1
        zoo.host = 2 if zoo.guest is None else zoo.guest


@action(by=KEEPER)
def early_return(zoo: Zoo, animal: Animal) -> None:
    """A return from inside branches and loops."""
    for other in ANIMALS:
        if other == animal:
            continue
        if zoo.cages[other].open:
            zoo.cages[other].open = False
            if zoo.lamp:
                return
        if zoo.cages[other].mood is Mood.ANGRY:
            break
        zoo.cages[other].friends = zoo.cages[other].friends | {animal}
    zoo.lamp = False


def bite(zoo: Zoo, animal: int) -> None:
    """A helper that aborts from deep inside."""
    zoo.lamp = not zoo.lamp
    if zoo.cages[animal].is_dangerous:
        zoo.host = animal
        raise Bitten
    zoo.cages[animal].mood = Mood.HUNGRY


@action(by=BEAST)
def aborts(zoo: Zoo, animal: Animal) -> None:
    """An abort that ends the action; what was done stays."""
    bite(zoo, animal)
    zoo.level = 3


@action(by=BEAST)
def catches(zoo: Zoo, animal: Animal) -> None:
    """An abort that is caught, with a name assigned before it."""
    seen = 0
    try:
        seen = 1
        bite(zoo, animal)
        seen = 2
    except Bitten:
        zoo.spare.open = seen == 1
    zoo.level = seen


@action(by=KEEPER)
def short_circuits(zoo: Zoo, animal: Animal) -> None:
    """and, or, if-else and chains, where the right side makes sense only because of the left."""
    guest = zoo.guest
    require(guest is None or zoo.cages[guest].open or guest != animal)
    if guest is not None and guest > 0 and zoo.cages[guest].meals < 2:
        zoo.level = 1
    zoo.lamp = (zoo.cages[guest].open if guest is not None else zoo.lamp) and 0 <= zoo.level < 7
    zoo.host = guest or zoo.host


@action(by=KEEPER)
def eats(zoo: Zoo, animal: Animal) -> None:
    """A method that writes, and a bound on meals."""
    zoo.level = zoo.cages[animal].feed(2) - zoo.spare.feed(1)


@action(by=KEEPER)
def flags_fold(zoo: Zoo) -> None:
    """What the scenario fixes folds away."""
    require(not NIGHT or zoo.lamp)
    if WEATHER == "wet":
        zoo.level = MEALS - 1
    elif NIGHT:
        zoo.level = len(ANIMALS)


@action(by=KEEPER)
def moods(zoo: Zoo, mood: Mood, deep: bool) -> None:
    """Parameters over an Enum and over truth values."""
    require(zoo.spare.mood is not mood)
    zoo.spare.mood = mood
    zoo.spare.open = deep and mood in (Mood.CALM, Mood.HUNGRY)


@action(by=KEEPER)
def leaves_its_domain(zoo: Zoo) -> None:
    """An error in some states: the level goes too high, or None is compared."""
    if zoo.guest is None:
        zoo.level += 3
    else:
        zoo.host = zoo.guest - 1


@action(by=KEEPER)
def asserts(zoo: Zoo) -> None:
    """An assertion that a guard implies, and one that is false in some states."""
    require(zoo.guest is not None)
    assert zoo.guest is not None
    zoo.host = zoo.guest
    if zoo.spare.meals == 3:
        assert zoo.level < 5 and zoo.spare.tag is not None, "enough was eaten"
        zoo.spare.meals = zoo.spare.tag
