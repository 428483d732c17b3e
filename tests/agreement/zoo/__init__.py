"""A model without a story: an action or invariant for each construct, to test what lifting makes of it."""

from __future__ import annotations

from kwalk.model.language import Scenario
from tests.agreement.zoo.containers import (
    copies,
    drafts,
    extremes,
    folds,
    local_lists,
    pops,
    pushes,
    sets,
    swaps,
    symbolic_indexes,
    takes,
    visits,
)
from tests.agreement.zoo.control import (
    aborts,
    arithmetic,
    asserts,
    branches,
    catches,
    early_return,
    eats,
    flags_fold,
    leaves_its_domain,
    moods,
    short_circuits,
)
from tests.agreement.zoo.properties import (
    all_calm,
    drafts_are_like_their_copies,
    level_is_tame,
    nobody_is_dangerous,
    two_letters,
)
from tests.agreement.zoo.state import Zoo

ZOO = Scenario(
    name="zoo",
    story="One action for each construct of the language.",
    state=Zoo,
    actions=(
        arithmetic,
        branches,
        early_return,
        aborts,
        catches,
        short_circuits,
        symbolic_indexes,
        copies,
        swaps,
        sets,
        folds,
        local_lists,
        visits,
        extremes,
        asserts,
        pushes,
        pops,
        drafts,
        takes,
        eats,
        flags_fold,
        moods,
        leaves_its_domain,
    ),
    properties=(nobody_is_dangerous, all_calm, level_is_tame, two_letters, drafts_are_like_their_copies),
    bounds={"animals": 3, "tags": 2, "queue": 2, "meals": 3},
    flags={"night": True, "weather": "dry"},
    variants={"dry-night": {}, "wet-day": {"night": False, "weather": "wet"}},
)
