"""A topic that is deleted while it is reassigned: logs that stay, a deletion that hangs, and what closes both."""

from __future__ import annotations

from kwalk.invariants.stories.reassignment import DELETION_DURING_REASSIGNMENT
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
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
