"""Variants that lists leave out: a user can name them, and the listing says how many there are."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import Model, UsageError
from kwalk.model.language.registry import find_scenario

LOST_UPDATE = find_scenario("lost-update")
HALF = evolve(LOST_UPDATE, variants={"lock": {"lock": True}}, unlisted_variants={"no-lock": {"lock": False}})


def test_an_unlisted_variant_is_named_like_any_other():
    assert [Model(HALF, name).binding.flags["lock"] for name in (None, "lock", "no-lock")] == [True, True, False]
    assert (list(HALF.variants), set(HALF.all_variants)) == (["lock"], {"lock", "no-lock"})
    assert HALF.varied(story="Another one.").all_variants == HALF.all_variants


def test_a_variant_that_is_in_neither_table_is_refused_with_all_of_them():
    with pytest.raises(UsageError, match=r"No variant named 'locks'\. Did you mean 'lock'\? Allowed: lock, no-lock"):
        Model(HALF, "locks")


def test_unlisted_variants_are_a_mapping_of_mappings():
    with pytest.raises(UsageError, match="`unlisted_variants` must be a mapping of names to mappings of flags"):
        evolve(LOST_UPDATE, unlisted_variants={"lock": True})


def test_the_listing_counts_what_it_leaves_out(kwalk):
    out = kwalk("scenarios", "two-admins", "--variants").out
    assert "2.8.2, 2.5.0, 2.8.0, 3.0, 3.4.1, 3.9.0, and 36 more, from 2.5.1 to 3.9.2" in out
    assert "more, from" not in kwalk("scenarios", "lost-update", "--variants").out
