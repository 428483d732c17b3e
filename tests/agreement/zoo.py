"""A model without a story: an action or invariant for each construct, to test what lifting makes of it."""
from __future__ import annotations

from enum import Enum
from typing import Annotated

from model.language import (
    Abort,
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    Fresh,
    Scenario,
    action,
    always,
    array,
    choice,
    evolve,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    premise,
    reachable,
    require,
    state,
    step,
    subset,
    value,
    when_quiet,
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


class Bitten(Abort):
    """The keeper leaves in a hurry."""


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
def symbolic_indexes(zoo: Zoo) -> None:
    """Reading and writing where the state says, also through references and rows."""
    cage = zoo.cages[zoo.host]
    zoo.grid[zoo.host][1] = zoo.grid[zoo.host][0]
    cage.tag = None if zoo.lamp else 1
    cage.open = not cage.open
    chosen = zoo.cages[0] if zoo.lamp else zoo.spare
    chosen.mood = Mood.ANGRY
    zoo.level = (3, 1, 4)[zoo.host]


@action(by=KEEPER)
def copies(zoo: Zoo, animal: Animal) -> None:
    """Records and rows are copied when they are stored; frozen ones are replaced."""
    zoo.spare = zoo.cages[animal]
    zoo.cages[animal].meals = 0
    zoo.grid[0] = zoo.grid[animal]
    zoo.grid[animal][1] = 2
    kept = Cage(mood=Mood.HUNGRY, open=zoo.lamp)
    kept.friends = {0, animal}
    zoo.cages[2] = kept


@action(by=KEEPER)
def swaps(zoo: Zoo) -> None:
    """Tuples of names, and a record assigned over itself."""
    low, high = zoo.grid[0][0], zoo.grid[1][0]
    zoo.grid[0][0], zoo.grid[1][0] = high, low
    zoo.cages[zoo.host] = zoo.cages[0]


@action(by=KEEPER)
def sets(zoo: Zoo, animal: Animal) -> None:
    """All operators on sets, comprehensions, membership and size."""
    open_cages = frozenset({a for a in ANIMALS if zoo.cages[a].open})
    friends = zoo.cages[animal].friends
    require(len(friends) <= 2 and animal not in open_cages)
    zoo.cages[0].friends = friends | open_cages
    zoo.cages[1].friends = friends & open_cages
    zoo.cages[2].friends = (friends - {animal}) ^ {zoo.host}
    zoo.lamp = friends <= open_cages or friends > open_cages
    zoo.spare.friends = set(friends_of(zoo, animal))


def friends_of(zoo: Zoo, animal: int) -> tuple[int, ...]:
    """A helper that returns a tuple."""
    return (animal, zoo.host)


@action(by=KEEPER)
def folds(zoo: Zoo) -> None:
    """any, all, sum, min, max, next, len and zip over generators."""
    zoo.lamp = any(cage.open and cage.meals > 0 for cage in zoo.cages) or all(c.tag is None for c in zoo.cages)
    total = sum(cage.meals for cage in zoo.cages if cage.open)
    zoo.level = min(9, total + sum(1 for n in zoo.numbers if n > 2))
    zoo.host = min((a for a in ANIMALS if zoo.cages[a].meals == total), default=1)
    zoo.guest = next((a for a in reversed(ANIMALS_IN_ORDER) if not zoo.cages[a].open), None)
    zoo.spare.meals = max(cage.meals for cage in zoo.cages)
    zoo.spare.open = any(a != b and x.tag == y.tag for a, x in enumerate(zoo.cages) for b, y in enumerate(zoo.cages))


ANIMALS_IN_ORDER = (0, 1, 2)


@action(by=KEEPER)
def local_lists(zoo: Zoo) -> None:
    """A list of flags that is written under a condition, at an index that the state decides."""
    moved = [False for _ in ANIMALS]
    if zoo.lamp:
        moved[zoo.host] = True
    for animal in ANIMALS:
        zoo.cages[animal].open = moved[animal] or zoo.cages[animal].open


@action(by=KEEPER)
def pushes(zoo: Zoo, animal: Animal) -> None:
    """A FIFO of records, which can be full."""
    require(zoo.cages[animal].mood is not Mood.CALM)
    letter = Letter(to=animal, urgent=zoo.lamp, mood=zoo.cages[animal].mood, copies=zoo.cages[animal].friends)
    zoo.letters.push(letter)
    zoo.numbers.push(zoo.cages[animal].meals)
    zoo.draft = evolve(letter, urgent=not letter.urgent)


@action(by=BEAST)
def pops(zoo: Zoo, animal: Animal) -> None:
    """Head, pop, starts_with, membership, length, equality of records."""
    require(not zoo.letters.is_empty and zoo.letters.head.to == animal)
    letter = zoo.letters.pop()
    if letter.urgent and letter != zoo.draft:
        zoo.draft = letter
    if zoo.numbers.starts_with(2) or 3 in zoo.numbers or len(zoo.numbers) == 2:
        zoo.numbers.clear()
    zoo.cages[animal].mood = letter.mood


@action(by=BEAST)
def drafts(zoo: Zoo) -> None:
    """A record that can be None."""
    require(zoo.draft is not None and zoo.draft.to in zoo.draft.copies)
    zoo.host = zoo.draft.to
    zoo.draft = None


@action(by=KEEPER)
def takes(zoo: Zoo) -> None:
    """Fresh ids, which can run out."""
    if zoo.lamp:
        zoo.cages[zoo.host].tag = zoo.tags.take()
    zoo.lamp = zoo.tags.taken == 2


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


@always()
def nobody_is_dangerous(zoo: Zoo, animal: Animal) -> bool:
    """With a premise, and early returns."""
    premise(zoo.lamp)
    if zoo.cages[animal].meals > 1:
        return True
    return not zoo.cages[animal].is_dangerous or zoo.cages[animal].tag in (None, zoo.guest)


@when_quiet()
def all_calm(zoo: Zoo) -> bool:
    """Over a comprehension with a condition."""
    return all(cage.mood is Mood.CALM for cage in zoo.cages if cage.open)


@step()
def level_is_tame(before: Zoo, after: Zoo) -> bool:
    """Over two states."""
    premise(before.lamp != after.lamp)
    return abs(before.level - after.level) <= 4


@reachable()
def two_letters(zoo: Zoo) -> bool:
    """Something possible."""
    return len(zoo.letters) == 2


ZOO = Scenario(
    name="zoo",
    story="One action for each construct of the language.",
    state=Zoo,
    actions=(
        arithmetic, branches, early_return, aborts, catches, short_circuits, symbolic_indexes, copies, swaps, sets,
        folds, local_lists, pushes, pops, drafts, takes, eats, flags_fold, moods, leaves_its_domain,
    ),
    invariants=(nobody_is_dangerous, all_calm, level_is_tame, two_letters),
    bounds={"animals": 3, "tags": 2, "queue": 2, "meals": 3},
    flags={"night": True, "weather": "dry"},
    variants={"dry-night": {}, "wet-day": {"night": False, "weather": "wet"}},
)  # fmt: skip
