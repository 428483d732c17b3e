"""Actions for containers: arrays, sets, queues, lists, fresh ids, and what is folded over them."""

from __future__ import annotations

from kwalk.model.language import action, evolve, require
from tests.agreement.zoo.state import ANIMALS, BEAST, KEEPER, Animal, Cage, Letter, Mood, Zoo


@action(by=KEEPER)
def symbolic_indexes(zoo: Zoo) -> None:
    """Reading and writing at indexes that depend on the state, also through references and rows."""
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
def visits(zoo: Zoo, animal: Animal) -> None:
    """Loops over sorted sets, up and down, with a write, a jump and a write to the set itself."""
    require(len(sorted(zoo.cages[animal].friends)) < 3 or not zoo.lamp)
    for friend in sorted(zoo.cages[animal].friends):
        if zoo.cages[friend].open and friend != zoo.host:
            continue
        zoo.level = friend - zoo.level
        zoo.cages[animal].friends = zoo.cages[animal].friends - {friend}
    for other in sorted({zoo.host, animal} | zoo.spare.friends, reverse=True):
        zoo.grid[other][1] = 1
        if zoo.cages[other].mood is Mood.HUNGRY:
            break
    zoo.lamp = bool(sorted(zoo.spare.friends))
    zoo.spare.meals = sum(1 for a in sorted(a for a in ANIMALS if zoo.cages[a].open) if a in zoo.spare.friends)


@action(by=KEEPER)
def extremes(zoo: Zoo, animal: Animal) -> None:
    """The least and the greatest member of a set, and folds to which the order makes no difference."""
    friends = zoo.cages[animal].friends
    zoo.level = min(friends, default=-1) + max(friends | {0}) + sum(zoo.spare.friends)
    zoo.lamp = any(friends) and not all(zoo.spare.friends)
    if zoo.cages[animal].meals == 3:
        zoo.host = max(zoo.spare.friends)
