"""What becomes of records while leaders change: none is lost, none differs; and what it takes for that to be wrong."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.records import RECORDS_THROUGH_FAILOVER, RECREATED_TOPIC_RECORDS
from kwalk.model.kafka.broker import partition, replica_fetcher_thread
from kwalk.model.kafka.broker.log import Log, Record, diverging_offset
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength, Verdict
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned, pinned_steps
from tests.kafka.schedule import Schedule

UNSERVED = {"partition_servable", "replicas_converge"}


def searched(**flags: bool) -> Verdict:
    return exhaust(Model(RECORDS_THROUGH_FAILOVER, "3.9.0", flags=flags), keep_going=True)


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
    verdict = searched()
    expected = pinned(Model(RECORDS_THROUGH_FAILOVER, "3.9.0"))
    assert (verdict.strength, outcome_of(verdict), verdict.findings) == (Strength.EXHAUSTIVE, expected, ())
    assert all(verdict.premises.values())


def test_an_unclean_election_loses_records_that_were_acknowledged():
    model = Model(RECORDS_THROUGH_FAILOVER, "3.9.0", flags={"unclean_election": True})
    assert shortest(searched(unclean_election=True)) == {
        "committed_survives": pinned_steps(model, "committed_survives")
    }


def test_without_truncation_replicas_would_differ(monkeypatch):
    for module in (partition, replica_fetcher_thread):
        monkeypatch.setattr(module, "diverging_offset", no_truncation)
    assert shortest(searched()) == {"committed_survives": 20, "no_divergence": 20}


@pytest.mark.parametrize(
    ("variant", "broken"),
    [
        ("2.8.2", {"records_have_a_topic_id", "no_resurrection", "elected_log_is_of_its_topic", *UNSERVED}),
        ("3.9.0", UNSERVED),
    ],
)
def test_records_of_a_removed_topic_come_back_where_no_id_distinguishes_its_logs(variant, broken):
    model = Model(RECREATED_TOPIC_RECORDS, variant, {"restarts": 1})
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict)) == (Strength.EXHAUSTIVE, pinned(model))
    assert shortest(verdict).keys() == broken
