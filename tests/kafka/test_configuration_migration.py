"""Configurations, quotas, ACLs and producer ids in a migration to KRaft: what each release loses, in how many steps."""

from __future__ import annotations

from functools import cache

import pytest

from kwalk.invariants.stories.configuration_migration import MIGRATION_OF_CONFIGURATIONS as STORY
from kwalk.model.kafka.migration.configuration_versions import FIXES, FLAGS
from kwalk.model.kafka.migration.versions import MIGRATING
from kwalk.model.language import Kind, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, is_broken_at_the_end, judged
from tests.kafka.outcomes import outcome_of, pinned

UNDISTURBED = {"late_requests": 0}
COPIED = "claim_controller() copy()"
DUAL_WRITE = f"{COPIED} write_image() hear_of_kraft()"
VALUE_OF = {"TOPIC": 1, "DEFAULT_BROKER": 5, "SECRET": 9, "CLIENT_QUOTA": 13, "USER_QUOTA": 17, "DEFAULT_QUOTA": 21}
"""The number of the initial state in which an entity has the first value; before it, it has none."""
THREE_ACLS = 27


def broken(prop: str, variant: str, steps: str, *, start: int = 0, late: bool = False) -> Broken:
    return Broken(prop, STORY.name, variant, steps, bounds={} if late else UNDISTURBED, start=start)


BROKEN = (
    (broken("secret_is_readable()", "3.4.1", COPIED, start=VALUE_OF["SECRET"]), "3.5.0"),
    (broken("copy_of_configurations_ends(TOPIC)", "3.4.1", f"{COPIED} fail_quorum()"), "3.5.0"),
    (
        broken(
            "configuration_survives_rollback(TOPIC)",
            "3.4.1",
            f"{COPIED} hear_of_kraft() alter_in_kraft(0) fail_quorum() roll_back()",
        ),
        "3.5.0",
    ),
    (
        broken(
            "brokers_apply_the_configuration(TOPIC)",
            "3.4.1",
            f"{COPIED} hear_of_kraft() alter_in_kraft(0) write_delta()",
        ),
        "3.5.0",
    ),
    (
        broken("copy_of_configurations_ends(DEFAULT_BROKER)", "3.5.1", COPIED, start=VALUE_OF["DEFAULT_BROKER"]),
        "3.5.2",
    ),
    (broken("producer_ids_are_given_once()", "3.6.0", f"{DUAL_WRITE} give_in_kraft()"), "3.6.1"),
    (broken("configuration_survives_migration(USER_QUOTA)", "3.7.0", COPIED, start=VALUE_OF["USER_QUOTA"]), "3.7.1"),
    (
        broken("configuration_survives_migration(DEFAULT_QUOTA)", "3.7.0", COPIED, start=VALUE_OF["DEFAULT_QUOTA"]),
        "3.7.1",
    ),
    (
        broken(
            "brokers_apply_the_configuration(TOPIC)",
            "3.7.0",
            f"{DUAL_WRITE} alter_in_kraft(None) write_delta()",
            start=VALUE_OF["TOPIC"],
        ),
        "3.7.1",
    ),
    (
        broken("configuration_survives_migration(TOPIC)", "3.7.0", f"{COPIED} alter_in_zookeeper(0)", late=True),
        "3.7.1",
    ),
    (
        broken(
            "configuration_survives_rollback(ACLS)",
            "3.6.1",
            f"{DUAL_WRITE} alter_in_kraft(1) write_delta() roll_back()",
            start=THREE_ACLS,
        ),
        "3.6.2",
    ),
)
"""The shortest way to what each fix closes, in a release without it; and a release in which that way breaks nothing."""

BY_RELEASE = (
    ("secret_is_readable()", 0, {("3.4.0", "3.4.1"): 2}),
    ("copy_of_configurations_ends(TOPIC)", 0, {("3.4.0", "3.4.1"): 3}),
    ("configuration_survives_rollback(TOPIC)", 0, {("3.4.0", "3.4.1"): 6}),
    ("configuration_survives_migration(CLIENT_QUOTA)", 0, {("3.4.0", "3.4.1"): 2}),
    ("configuration_survives_rollback(DEFAULT_BROKER)", 0, {("3.4.0", "3.4.1"): 6}),
    ("copy_of_configurations_ends(DEFAULT_BROKER)", 0, {("3.4.0", "3.4.1"): 3, ("3.5.0", "3.5.1"): 2}),
    ("configuration_survives_migration(USER_QUOTA)", 0, {("3.4.0", "3.6.1"): 2, ("3.7.0", "3.7.0"): 2}),
    ("configuration_survives_migration(DEFAULT_QUOTA)", 0, {("3.4.0", "3.6.1"): 2, ("3.7.0", "3.7.0"): 2}),
    ("image_is_written_to_the_end(USER_QUOTA)", 0, {("3.5.0", "3.6.1"): 6, ("3.7.0", "3.7.0"): 6}),
    (
        "brokers_apply_the_configuration(TOPIC)",
        0,
        {("3.4.0", "3.4.1"): 5, ("3.5.0", "3.6.1"): 6, ("3.7.0", "3.7.0"): 6},
    ),
    ("configuration_survives_rollback(ACLS)", 0, {("3.5.1", "3.6.1"): 7}),
    ("producer_ids_are_given_once()", 0, {("3.4.0", "3.4.1"): 4, ("3.5.0", "3.5.1"): 5, ("3.6.0", "3.6.0"): 5}),
    ("configuration_survives_migration(TOPIC)", 1, {("3.4.0", "3.7.0"): 3}),
    ("brokers_apply_the_configuration(CLIENT_QUOTA)", 0, {("3.4.0", "3.4.1"): 4, ("3.5.0", "3.9.2"): 6}),
    ("configuration_survives_rollback(CLIENT_QUOTA)", 0, {("3.4.0", "3.4.1"): 6, ("3.5.0", "3.9.2"): 7}),
    ("deletion_survives_migration(CLIENT_QUOTA)", 1, {("3.5.0", "3.9.2"): 3}),
    ("configuration_survives_migration(ACLS)", 1, {("3.5.1", "3.9.2"): 3}),
)
"""A property, the late requests, and by the first and last release of each range the steps to a violation."""
FLAG_IS_ON = {
    "passwords_are_decoded": (("3.5.0", "3.9.2"),),
    "image_is_written_back": (("3.5.0", "3.9.2"),),
    "changes_are_notified": (("3.5.0", "3.9.2"),),
    "default_broker_is_written": (("3.5.0", "3.9.2"),),
    "quota_types_are_translated": (("3.5.0", "3.9.2"),),
    "quota_names_are_translated": (("3.6.2", "3.6.2"), ("3.7.1", "3.9.2")),
    "default_broker_is_copied": (("3.4.0", "3.4.1"), ("3.5.2", "3.9.2")),
    "deletions_are_notified": (("3.6.2", "3.6.2"), ("3.7.1", "3.9.2")),
    "config_writes_are_checked": (("3.7.1", "3.9.2"),),
    "acls_are_written_whole": (("3.6.2", "3.9.2"),),
    "next_producer_id_is_copied": (("3.5.2", "3.5.2"), ("3.6.1", "3.9.2")),
    "authorizers_migrate": (("3.5.1", "3.9.2"),),
    "deleted_quotas_are_written": (),
    "late_requests_are_refused": (),
}
"""The releases in which each flag is on, as the sources have it."""
SEARCHED = ("3.9.0", "3.7.0", "3.6.1", "3.6.0", "3.5.1", "3.4.1")


def is_in(release: str, first: str, last: str) -> bool:
    return MIGRATING.index(first) <= MIGRATING.index(release) <= MIGRATING.index(last)


@cache
def lengths(settings: tuple[tuple[str, bool | str], ...], late_requests: int) -> dict[str, int]:
    """The length of the shortest trace to a violation of each instance; all models with these settings are equal."""
    verdict = exhaust(Model(STORY, "3.9.0", {"late_requests": late_requests}, dict(settings)), keep_going=True)
    assert verdict.strength is Strength.EXHAUSTIVE
    return {one.prop: one.trace.length for one in verdict.findings if one.trace}


def lengths_in(release: str, late_requests: int, **flags: bool) -> dict[str, int]:
    return lengths(tuple(sorted({**FLAGS.variant_of(release), **flags}.items())), late_requests)


@pytest.mark.parametrize("release", MIGRATING)
@pytest.mark.parametrize(("prop", "late_requests", "ranges"), BY_RELEASE, ids=lambda value: str(value))
def test_a_release_loses_what_it_is_known_to_lose_and_others_do_not(prop, late_requests, ranges, release):
    steps = [length for (first, last), length in ranges.items() if is_in(release, first, last)]
    assert lengths_in(release, late_requests).get(prop) == (steps[0] if steps else None)


@pytest.mark.parametrize("release", MIGRATING)
def test_a_flag_is_on_in_the_releases_that_have_the_change(release):
    on = {name for name, ranges in FLAG_IS_ON.items() if any(is_in(release, *each) for each in ranges)}
    variant = {**STORY.variants, **STORY.unlisted_variants}[release]
    assert {name: name in on for name in FLAG_IS_ON} == variant


def test_a_migration_of_the_latest_release_loses_only_deleted_quotas():
    """Nothing is late, and who rolls back waits until all is written."""
    found = {
        "brokers_apply_the_configuration(CLIENT_QUOTA)": 6,
        "configuration_survives_rollback(CLIENT_QUOTA)": 7,
    }
    assert lengths_in("3.9.2", 0) == found
    assert lengths_in("3.9.2", 0, deleted_quotas_are_written=True) == {}


def test_what_a_deposed_controller_acknowledges_is_lost_in_the_latest_release():
    late = lengths_in("3.9.2", 1, deleted_quotas_are_written=True)
    assert late["producer_ids_are_given_once()"] == 6
    assert {name for name in late if name.endswith(("(TOPIC)", "(DEFAULT_BROKER)", "(SECRET)"))} == set()
    refused = lengths_in("3.9.2", 1, deleted_quotas_are_written=True, late_requests_are_refused=True)
    assert refused == {}


def test_controllers_without_the_secret_copy_cipher_text():
    with_secret = lengths_in("3.9.0", 0)
    without = lengths_in("3.9.0", 0, controllers_have_the_secret=False)
    assert {name: steps for name, steps in without.items() if name not in with_secret} == {
        "secret_is_readable()": 2,
        "brokers_apply_the_configuration(SECRET)": 5,
    }
    assert lengths_in("3.4.1", 0) == lengths_in("3.4.1", 0, controllers_have_the_secret=False)


@pytest.mark.parametrize(
    ("flag", "concerns"),
    [
        ("passwords_are_decoded", {"SECRET", ""}),
        ("default_broker_is_copied", {"DEFAULT_BROKER"}),
        ("default_broker_is_written", {"DEFAULT_BROKER"}),
        ("acls_are_written_whole", {"ACLS"}),
        ("quota_names_are_translated", {"USER_QUOTA", "DEFAULT_QUOTA"}),
        ("quota_types_are_translated", {"CLIENT_QUOTA", "USER_QUOTA", "DEFAULT_QUOTA"}),
        ("deletions_are_notified", {"TOPIC", "DEFAULT_BROKER", "SECRET"}),
        ("next_producer_id_is_copied", {""}),
        ("config_writes_are_checked", set()),
        ("late_requests_are_refused", set()),
    ],
)
def test_a_flag_changes_what_happens_to_its_entities_only(flag, concerns):
    """Properties without an entity, of passwords and of producer ids, have an empty name here."""
    is_on = FLAGS.variant_of("3.9.0")[flag]
    before, after = lengths_in("3.9.0", 0), lengths_in("3.9.0", 0, **{flag: not is_on})
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert {name.partition("(")[2].rstrip(")") for name in changed} == concerns


@pytest.mark.parametrize(("behaviour", "later"), BROKEN, ids=[f"{b.prop}-{b.variant}" for b, _ in BROKEN])
def test_what_a_release_breaks_a_later_one_does_not(behaviour, later):
    assert is_broken_at_the_end(behaviour, STORY, behaviour.variant)
    assert not any(judged(behaviour, STORY, later))


def test_a_broker_in_zookeeper_mode_ignores_a_password_that_it_cannot_decode():
    model = Model(STORY, "3.4.1", UNDISTURBED)
    vector = model.initial[VALUE_OF["SECRET"]]
    for key in (*COPIED.split(), "hear_of_kraft()", "alter_in_kraft(1)", "write_delta()"):
        vector = model.attempt(model.instance(key), vector).after
    with model.active():
        cluster = model.state(vector)
        assert cluster.zookeeper == 1 and not cluster.zookeeper_is_encrypted


def test_every_property_says_what_users_and_operators_see():
    for prop in STORY.properties:
        assert prop.kind is Kind.REACHABLE or (prop.about and prop.symptom and prop.log)


def test_every_flag_of_releases_has_a_fix_or_says_why_it_is_none():
    assert {fix.flag.name for fix in FIXES} | FLAGS.repairing_nothing.keys() == FLAG_IS_ON.keys()


@pytest.mark.parametrize("variant", SEARCHED)
def test_a_search_of_all_states_finds_what_is_pinned(variant):
    model = Model(STORY, variant, UNDISTURBED)
    assert outcome_of(exhaust(model, keep_going=True)) == pinned(model)
