"""A topic that is deleted while it is reassigned: logs that stay, a deletion that hangs, and what closes both."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.reassignment import DELETION_DURING_REASSIGNMENT
from kwalk.model.kafka.versions.deletion import FIXES
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.schedule import Schedule
from tests.kafka.trials import audited


def test_a_deletion_during_a_reassignment_leaves_logs_or_hangs_and_does_neither_if_it_waits():
    found = exhaust(Model(DELETION_DURING_REASSIGNMENT, "3.9.0"), keep_going=True)
    assert (found.distinct_states, shortest(found)) == (
        20_827,
        {"deleted_replica_has_no_log": 15, "deletion_terminates": 19, "deletion_eventually_ends": 19},
    )
    waits = exhaust(Model(DELETION_DURING_REASSIGNMENT, "2.8.2", None, {"deletion_waits": True}), keep_going=True)
    assert (waits.strength, waits.distinct_states, waits.findings) == (Strength.EXHAUSTIVE, 20_510, ())


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


@pytest.mark.thorough
def test_what_a_deletion_that_waits_for_a_reassignment_closes():
    fixes = [fix for fix in FIXES if fix.name == "deletion_waits"]
    assert audited(fixes) == {"deletion_waits": [("closes", 15, -20_510), ("closes", 19, -20_510)]}
