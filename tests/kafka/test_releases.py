"""Every release from 2.5.0 to 3.9.2 has the flags that its source has, and every reported version names a release.

The table was read off the tags of apache/kafka, patch releases included (of 3.7.2 and from 3.8.1 on, off the jars of
sources): only one flag was backported to an earlier line.
"""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.kafka.versions import FIXES, LAST_PATCHES, PUBLISHED, VARIANTS, flags_of
from kwalk.model.kafka.versions.reported import CONFLUENT, reported_release
from kwalk.model.language import Model, UsageError

EXPANSION = next(story for story in SCENARIOS if story.name == "old-client-expansion")
SINCE = {
    "alter_isr": {"2.7.0": True},
    "topic_ids": {"2.8.0": True},
    "id_check_before_epoch": {"2.8.0": True},
    "keep_ids_below_ibp": {"2.8.1": True},
    "async_metadata_flush": {"2.8.1": None},
    "first_leader_and_isr_assigns_id": {"3.0.0": True},
    "auth_reinit_guard": {"2.5.0": True, "2.8.0": False, "3.0.1": True},
    "create_checks_delete_topics": {"3.1.0": True},
    "unopened_log_is_offline": {"2.5.0": True, "3.1.0": False},
    "fetch_by_topic_id": {"3.1.0": True},
    "live_isr_only": {"3.3.0": True},
    "alter_partition_by_topic_id": {"3.3.0": True},
    "skips_older_partition_epochs": {"3.3.0": True},
    "election_during_reassignment": {"3.4.0": True},
    "stop_replica_epoch": {"2.5.0": "none", "2.6.0": "gt", "3.4.1": "ge"},
    "diverging_fetch_is_no_ack": {"2.5.0": True, "2.8.0": False, "2.8.1": True},
    "truncation": {"2.5.0": "leader epoch"},
    "skips_logs_it_cannot_create": {"2.7.0": True},
    "accepts_newer_broker_epochs": {"2.5.1": True},
    "answers_dropped_requests": {"2.7.0": True},
    "added_replicas_are_new": {"2.7.0": True},
    "started_brokers_hear_of_deletions": {"2.5.0": True, "2.7.0": False},
    "replaces_failed_clients": {"2.8.0": True},
    "listed_topics_are_not_created": {"2.8.0": True},
    "informs_of_all_lost_brokers": {"3.1.0": True},
}
"""The flags in which these releases differ, and by release the settings that differ from off."""
ALWAYS = (
    "broker_epoch",
    "create_checks_cache",
    "created_configurations_are_set",
    "ctx_epoch_on_bump",
    "defaults_hold_before_elections",
    "defaults_start_elections",
    "expires_without_lock",
    "failover_sends_metadata_first",
    "failover_takes_replicas_offline",
    "informs_stopping_leaders",
    "isr_needs_epoch_start",
    "keeps_its_office",
    "listeners_ask_for_the_office",
    "marks_are_removed",
    "names_do_not_meet_themselves",
    "offline_without_leadership",
    "recreates_ephemerals",
    "resignation_clears_the_context",
    "senders_end_first",
    "topics_start_elections",
    "last_member_stays",
    "resignation_forgets_offline_logs",
    "resigns_without_lock",
    "restore_on_delete",
    "resumes_to_dead_brokers",
    "session_bound",
    "shutdown_prefers_the_first_replica",
    "tries_other_directories",
    "tries_sessions_again",
    "zk_fencing",
)


def expected(release: str) -> dict[str, bool | str]:
    candidates = {fix.flag.name: False for fix in FIXES if fix.flag.name in flags_of("2.5.0")}
    flags = {**candidates, **dict.fromkeys(SINCE, False), **dict.fromkeys(ALWAYS, True)}
    for name, settings in SINCE.items():
        for since, setting in settings.items():
            if PUBLISHED.index(since) <= PUBLISHED.index(release):
                flags[name] = setting
    return {name: setting for name, setting in flags.items() if setting is not None}


@pytest.mark.parametrize("release", PUBLISHED)
def test_every_release_has_the_flags_of_its_source(release: str) -> None:
    assert flags_of(release) == expected(release)


def test_a_model_of_a_release_has_its_flags() -> None:
    flags = Model(EXPANSION, "3.0.1").binding.flags
    assert {name: flags[name] for name in expected("3.0.1")} == expected("3.0.1")


def test_releases_of_one_line_differ_in_four_lines_only() -> None:
    lines = {line: [flags_of(f"{line}.{patch}") for patch in range(last + 1)] for line, last in LAST_PATCHES.items()}
    assert [line for line, flags in lines.items() if any(one != flags[0] for one in flags)] == [
        "2.5",
        "2.8",
        "3.0",
        "3.4",
    ]


def test_a_listed_variant_has_the_flags_of_its_release() -> None:
    assert VARIANTS["3.0"] == flags_of("3.0.0")
    assert {name for name in VARIANTS if name not in PUBLISHED} == {"3.0"}


@pytest.mark.parametrize("release", PUBLISHED)
def test_a_release_names_itself(release: str) -> None:
    assert (reported_release(release).name, reported_release(release).note) == (release, "")


@pytest.mark.parametrize(
    ("version", "release", "why"),
    [
        ("3.4.0-ccs", "3.4.0", "a build of Apache Kafka 3.4.0"),
        ("2.8.1.amzn.1", "2.8.1", "a build of Apache Kafka 2.8.1"),
        ("2.8.2.tiered", "2.8.2", "a build of Apache Kafka 2.8.2"),
        ("7.3.0", "3.3.0", "Confluent Platform 7.3, which is Apache Kafka 3.3"),
        ("7.3.2-ce", "3.3.0", "all releases of 3.3 have the same flags"),
        ("3.7.x", "3.7.0", "names no patch release"),
        ("3.6", "3.6.0", "names no patch release"),
    ],
)
def test_a_version_that_is_no_release_is_read_with_a_note(version, release, why) -> None:
    found = reported_release(version)
    assert found.name == release
    assert f"The version {version} " in found.note and why in found.note


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("7.4.1", "stop_replica_epoch since 3.4.1. Allowed: 3.4.0, 3.4.1"),
        ("6.2.8-ccs", "keep_ids_below_ibp since 2.8.1. Allowed: 2.8.0, 2.8.1, 2.8.2"),
        ("3.0", "auth_reinit_guard since 3.0.1. Allowed: 3.0.0, 3.0.1, 3.0.2"),
        ("3.4.2", "Allowed: 3.4.0, 3.4.1."),
        ("2.4.1", "is older than what the model has: reassignments as they are since 2.4"),
        ("0.11.0.2", "is older than what the model has"),
        ("5.4.0-ccs", "is older than what the model has"),
        ("4.0.0", "has no ZooKeeper mode"),
        ("8.0.0-ccs", "has no ZooKeeper mode"),
        ("7.10.0", "kwalk does not know"),
        ("two", "is no version of Kafka"),
    ],
)
def test_a_version_of_which_the_flags_are_not_known_is_refused(version, message) -> None:
    with pytest.raises(UsageError) as refused:
        reported_release(version)
    assert message in str(refused.value)
    assert "Allowed: " in str(refused.value)


def test_confluent_platform_has_a_line_of_kafka_each() -> None:
    assert list(CONFLUENT.values()) == list(LAST_PATCHES)
