"""An invariant of each kind, but for `eventually`."""

from __future__ import annotations

from kwalk.model.language import always, evolve, premise, reachable, step, when_quiescent
from tests.agreement.zoo.state import Animal, Mood, Zoo


@always()
def nobody_is_dangerous(zoo: Zoo, animal: Animal) -> bool:
    """With a premise, and early returns."""
    premise(zoo.lamp)
    if zoo.cages[animal].meals > 1:
        return True
    return not zoo.cages[animal].is_dangerous or zoo.cages[animal].tag in (None, zoo.guest)


@when_quiescent()
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


@always()
def drafts_are_like_their_copies(zoo: Zoo) -> bool:
    """Equality of records."""
    return zoo.draft is None or zoo.draft.urgent or evolve(zoo.draft, urgent=False) == zoo.draft
