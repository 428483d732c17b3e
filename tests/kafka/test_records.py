"""What becomes of records while leaders change: none is lost, none differs; and what it takes for that to be wrong."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.records import RECORDS_THROUGH_FAILOVER, RECREATED_TOPIC_RECORDS
from kwalk.model.kafka.broker import partition, replica_fetcher_thread
from kwalk.model.kafka.broker.log import Log, Record, diverging_offset
from kwalk.model.kafka.versions.records import FIXES
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.lengths import shortest
from tests.kafka.schedule import Schedule
from tests.kafka.trials import audited


def searched(variant: str, flags: dict[str, object] | None = None, **bounds: int) -> Verdict:
    return exhaust(Model(RECORDS_THROUGH_FAILOVER, variant, bounds, flags or {}), keep_going=True)


def no_truncation(follower: Log, leader: Log) -> int:
    """A planted mistake: followers never truncate."""
    return follower.end


def log(*leader_epochs: int) -> Log:
    """A log with a record of each of these leader epochs."""
    made = Log()
    for offset, epoch in enumerate(leader_epochs):
        made.records.push(Record(offset, epoch, 0))
    return made


@pytest.mark.parametrize(
    ("follower", "leader", "offset"),
    [
        ((0, 0), (0, 0), 2),
        ((0,), (0, 0), 1),
        ((0, 0), (0,), 1),
        ((0, 0), (0, 1), 1),
        ((0, 1), (0, 2), 1),
        ((1,), (0,), 0),
        ((1, 1), (0, 2), 0),
        ((), (0,), 0),
        ((0,), (), 0),
        ((0, 1), (0, 0), 1),
        ((0,), (1,), 0),
    ],
)
def test_a_follower_truncates_to_where_its_leader_epochs_leave_the_leaders(follower, leader, offset):
    with Model(RECORDS_THROUGH_FAILOVER, "3.9.0", {"records": 2}).active():
        assert diverging_offset(log(*follower), log(*leader)) == offset


def test_a_record_is_committed_when_all_of_the_isr_has_it_and_a_follower_knows_one_fetch_later():
    schedule = Schedule(Model(RECORDS_THROUGH_FAILOVER, "3.9.0"))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("produce(0, 0, 0)")
    replicas = [broker.replicas[0][0] for broker in schedule.cluster.brokers]
    assert [(replica.log.end, replica.log.high_watermark) for replica in replicas] == [(1, 0), (0, 0)]
    schedule.take("fetch(1, 0, 0)")
    assert schedule.cluster.commits[0][0].is_empty
    schedule.take("fetch(1, 0, 0)")
    replicas = [broker.replicas[0][0] for broker in schedule.cluster.brokers]
    assert [(replica.log.end, replica.log.high_watermark) for replica in replicas] == [(1, 1), (1, 1)]
    assert [commit.leader_epoch for commit in schedule.cluster.commits[0][0]] == [0]


def test_a_leader_that_is_alone_in_the_isr_commits_at_once():
    schedule = Schedule(Model(RECORDS_THROUGH_FAILOVER, "3.9.0"))
    schedule.do("new_client_creates_topic(0)")
    schedule.do("crash(1)")
    schedule.take("produce(0, 0, 0)")
    assert schedule.cluster.replica_of(0, 0, 0).log.high_watermark == 1


def test_with_clean_elections_committed_records_survive_and_no_replica_differs():
    verdict = searched("3.9.0")
    assert (verdict.strength, verdict.distinct_states, shortest(verdict)) == (Strength.EXHAUSTIVE, 81_516, {})
    assert all(verdict.premises.values())


def test_an_unclean_election_loses_records_that_were_acknowledged():
    assert shortest(searched("3.9.0", {"unclean_election": True})) == {"committed_survives": 16}


def test_without_truncation_replicas_would_differ(monkeypatch):
    for module in (partition, replica_fetcher_thread):
        monkeypatch.setattr(module, "diverging_offset", no_truncation)
    assert shortest(searched("3.9.0")) == {"committed_survives": 20, "no_divergence": 20}


@pytest.mark.parametrize(
    ("variant", "states", "found"),
    [
        (
            "2.8.2",
            67_064,
            {
                "records_have_a_topic_id": 5,
                "no_resurrection": 8,
                "elected_log_is_of_its_topic": 16,
                "partition_servable": 18,
                "replicas_converge": 18,
            },
        ),
        ("3.9.0", 57_432, {"partition_servable": 17, "replicas_converge": 17}),
    ],
)
def test_records_of_a_removed_topic_come_back_where_no_id_distinguishes_its_logs(variant, states, found):
    verdict = exhaust(Model(RECREATED_TOPIC_RECORDS, variant, {"restarts": 1}), keep_going=True)
    assert (verdict.strength, verdict.distinct_states, shortest(verdict)) == (Strength.EXHAUSTIVE, states, found)


@pytest.mark.thorough
def test_metadata_that_is_flushed_at_once_closes_the_loss_of_ids():
    fixes = [fix for fix in FIXES if fix.name == "async_metadata_flush: at once"]
    assert audited(fixes) == {
        "async_metadata_flush: at once": [("closes", 5, -4_351), ("no difference", -6_911, -4_351)]
    }


@pytest.mark.thorough
def test_what_each_fix_closes_and_where_it_has_a_hole():
    quick = [fix for fix in FIXES if fix.name != "truncation"]  # the page has its 639,056 states of three brokers
    assert audited(quick) == {
        "topic_ids": [
            ("closes", 4, -2_742),
            ("closes", 7, -2_742),
            ("has a hole", 4, 4),
            ("has a hole", 4, 4),
            ("makes worse", -93_697, 26),
        ],
        "first_leader_and_isr_assigns_id": [
            ("closes", 5, -4_351),
            ("closes", 4, -2_742),
            ("closes", 7, -2_742),
            ("has a hole", 8, 8),
        ],
        "fetch_by_topic_id": [("closes", 8, -57_432), ("has a hole", 4, 8)],
        "id_check_before_epoch": [
            ("closes", 4, -2_742),
            ("closes", 7, -2_742),
            ("closes", 9, -2_742),
            ("makes worse", -261_736, 26),
        ],
        "async_metadata_flush: at once": [("closes", 5, -4_351), ("no difference", -6_911, -4_351)],
    }
