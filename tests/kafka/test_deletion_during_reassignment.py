"""A topic that is deleted while it is reassigned: logs that stay, a deletion that hangs, and what closes both."""

from __future__ import annotations

from kwalk.invariants.stories.reassignment import DELETION_AND_RECORDS, DELETION_DURING_REASSIGNMENT
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.broken import Broken, judged
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule


def test_a_deletion_during_a_reassignment_leaves_logs_or_hangs_and_does_neither_if_it_waits():
    released = Model(DELETION_DURING_REASSIGNMENT, "3.9.0")
    found = exhaust(released, keep_going=True)
    assert outcome_of(found) == pinned(released)
    assert shortest(found).keys() == {"deleted_replica_has_no_log", "deletion_terminates", "deletion_eventually_ends"}
    patient = Model(DELETION_DURING_REASSIGNMENT, "2.8.2", None, {"deletion_waits": True})
    waits = exhaust(patient, keep_going=True)
    assert (waits.strength, outcome_of(waits), waits.findings) == (Strength.EXHAUSTIVE, pinned(patient), ())


HANGS = """
    client_deletes_topic(0) alter_partition_reassignments(0,0,0,0) reassignment_changes_leadership(0,0,0)
    topic_deletion(0) stop(0,0) reelect(1) handle_leader_and_isr(1) restart(0) reelect(0) failover_reads_topics(1)
    failover_sets_topic_ids(1) failover_reads_states(1) failover_sends_requests(1) handle_leader_and_isr(0)
    handle_leader_and_isr(1) reassignment_changes_leadership(1,0,0) controller_change(1) handle_leader_and_isr(0)
    handle_leader_and_isr(1)
"""


def test_a_deletion_that_hangs_during_a_reassignment_is_resumed_by_the_start_of_a_broker_with_a_replica():
    schedule = Schedule(Model(DELETION_DURING_REASSIGNMENT, "3.9.0", {"restarts": 2, "requests": 12}))
    for step in HANGS.split():
        schedule.take(step.replace(",", ", "))
    assert schedule.cluster.controller_of(1).topics[0].ineligible_for_deletion
    for step in ("crash(0)", "restart(0)"):
        schedule.take(step)
    schedule.settle()
    assert not schedule.cluster.zookeeper.topics[0].exists and not schedule.cluster.zookeeper.delete_topics
    assert not any(schedule.cluster.replica_of(broker, 0, 0).on_disk for broker in (0, 1))


LATE_STOP_REPLICA = Broken(
    "deleted_logs_were_unused(0, 0, 0)",
    "deletion-during-reassignment-with-records",
    "2.5.0",
    """
    alter_partition_reassignments(0,0,0,0) crash(0) reelect(1) restart(0) failover_reads_topics(1)
    failover_sets_topic_ids(1) client_deletes_topic(0) failover_reads_states(1) failover_sends_requests(1)
    handle_leader_and_isr(0) handle_leader_and_isr(1) fetch(1,0,0) expand_isr(1,0,0)
    reassignment_changes_leadership(1,0,0) handle_leader_and_isr(1) reassignment_stops_old_replicas(1,0,0)
    handle_leader_and_isr(1) reassignment_writes_target(1,0,0) controller_change(1) partition_modifications(1,0)
    handle_stop_replica(1) handle_stop_replica(1) stop_replica_response(1) complete_deletion_deletes_topic(1)
    new_client_creates_topic(0) complete_deletion_deletes_config(1) complete_deletion_deletes_request(1) topic_change(1)
    topic_change_creates_partitions(1) handle_stop_replica(0)
    """,
)


def test_a_log_of_an_earlier_topic_may_go_before_the_broker_has_heard_of_the_later_one():
    """Before 2.8 no id tells them apart, and both have leader epoch 0; the later topic's LeaderAndIsr is on its way."""
    assert judged(LATE_STOP_REPLICA, DELETION_AND_RECORDS, "2.5.0") == [False] * 31
