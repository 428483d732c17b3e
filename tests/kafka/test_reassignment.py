"""Replicas that move: what a reassignment leaves behind, what a cancelled one does, and what it overwrites."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.reassignment import (
    REASSIGNMENT,
    REASSIGNMENT_AS_CLIENTS_SEE_IT,
    REASSIGNMENT_REPLACED,
    REASSIGNMENT_THERE_AND_BACK,
    REASSIGNMENT_WITH_EXPANSION,
)
from kwalk.model.kafka.clients.admin_clients import (
    admin_adds_partitions,
    admin_reads_topic,
    admin_writes_topic,
    client_deletes_topic,
)
from kwalk.model.kafka.clients.operator import remove_topic_by_hand
from kwalk.model.kafka.controller import reassignment
from kwalk.model.kafka.controller.controller_context import Controller, EventProgress
from kwalk.model.kafka.controller.reassignment import accepts_reassignment
from kwalk.model.kafka.controller.topic_deletion_manager import topic_deletion
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import PATIENT, Schedule

pytestmark = pytest.mark.usefixtures("interpreted")
HEALTHY = {scenario.name: scenario for scenario in SCENARIOS}
CANCELLED_DURING_A_FAILOVER = {"restarts": 0, "failovers": 1, "cancellations": 1}


def begun(variant: str, scenario=REASSIGNMENT, **flags: bool) -> Schedule:
    """The topic is created, and one of its two replicas, broker 0, is to move to broker 2."""
    schedule = Schedule(Model(scenario, variant, None, flags))
    schedule.do("new_client_creates_topic(0)")
    assert schedule.cluster.zookeeper.topics[0].assignments[0].replicas == {0, 1}
    return schedule


def test_a_reassignment_and_its_cancellation_leave_nothing_behind_in_the_last_release():
    model = Model(REASSIGNMENT, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.bounds_hit, verdict.findings) == (Strength.EXHAUSTIVE, {}, ())
    assert outcome_of(verdict) == pinned(model)


@pytest.mark.parametrize(
    ("scenario", "broken"),
    [
        (REASSIGNMENT_AS_CLIENTS_SEE_IT, set()),
        pytest.param(REASSIGNMENT_THERE_AND_BACK, {"no_stray", "deleted_logs_were_unused"}, marks=pytest.mark.thorough),
    ],
)
def test_what_the_last_release_leaves_behind_while_the_only_replica_moves(scenario, broken):
    """A StopReplica that waits until the replica is assigned again deletes its log, which is refilled: no loss."""
    model = Model(scenario, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.bounds_hit) == (Strength.EXHAUSTIVE, {})
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == broken


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_a_completed_reassignment_moves_the_replica_and_deletes_the_old_one(variant):
    schedule = begun(variant)
    schedule.do("alter_partition_reassignments(0, 0, 0, 0)")
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.assignments[0].replicas, znode.states[0].isr, znode.states[0].leader) == ({1, 2}, {1, 2}, 1)
    assert not znode.assignments[0].is_being_reassigned
    assert [broker.replicas[0][0].on_disk for broker in schedule.cluster.brokers] == [False, True, True]


@pytest.mark.parametrize(
    ("steps", "flags"),
    [
        (("old_client_adds_partitions(0)",), {}),
        (("admin_adds_partitions(0, 0, 1)",), {"two_step_admin": True}),
        (("admin_reads_topic(0, 0)", "admin_writes_topic(0, 1)"), {"two_step_admin": True}),
    ],
)
def test_an_old_client_drops_a_reassignment_and_adds_partitions_with_as_many_replicas(steps, flags):
    """Kafka: existingAssignmentPartition0 has the replicas that are added, and those that are removed."""
    admins = (admin_adds_partitions, admin_reads_topic, admin_writes_topic)
    bounds = {"partitions": 2, "created_partitions": 1, "expansions": 1, "admins": 1, "old_admins": 1}
    scenario = evolve(REASSIGNMENT, actions=(*REASSIGNMENT.actions, *admins), bounds={**REASSIGNMENT.bounds, **bounds})
    schedule = begun("3.9.0", scenario, **flags)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.assignments[0].adding, znode.assignments[0].removing) == ({2}, {0})
    for step in steps:
        schedule.take(step)
    left = schedule.cluster.zookeeper.topics[0].assignments
    assert [(each.replicas, each.is_being_reassigned) for each in left] == [({0, 1, 2}, False)] * 2


@pytest.mark.parametrize(("variant", "at_once"), [("2.5.0", False), ("2.8.2", True), ("3.9.0", True)])
def test_since_2_7_the_event_that_writes_the_isr_completes_the_reassignment(variant, at_once):
    schedule = begun(variant)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    schedule.settle(but=("expand_isr", "restart"))
    schedule.take("expand_isr(2, 0, 0)")
    assert schedule.cluster.zookeeper.topics[0].assignments[0].is_being_reassigned == (not at_once)
    if not at_once:
        schedule.take("complete_reassignment(0, 0, 0)")
    assert schedule.cluster.zookeeper.topics[0].assignments[0].replicas == {1, 2}
    assert not schedule.cluster.zookeeper.topics[0].assignments[0].is_being_reassigned


@pytest.mark.parametrize(("variant", "stray"), [("2.5.0", False), ("2.8.2", True), ("3.9.0", False)])
def test_between_2_6_and_3_4_0_a_cancelled_reassignment_leaves_a_stray_log(variant, stray):
    schedule = begun(variant)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    schedule.settle(but=("expand_isr", "restart"))
    schedule.do("cancel_partition_reassignment(0, 0, 0)")
    assert schedule.cluster.zookeeper.topics[0].assignments[0].replicas == {0, 1}
    assert schedule.cluster.replica_of(2, 0, 0).on_disk == stray
    assert schedule.violated("no_stray") == (["no_stray(2, 0, 0)"] if stray else [])


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_a_cancellation_that_an_election_interrupts_leaves_an_isr_with_a_broker_that_is_no_replica(variant):
    """As on real clusters: the leader epoch is not raised, and under it the added broker was a replica."""
    schedule = Schedule(Model(HEALTHY["healthy-reassignment"], variant, CANCELLED_DURING_A_FAILOVER))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    schedule.settle(but=("expand_isr", "restart"))
    schedule.take("cancel_partition_reassignment(0, 0, 0)")
    schedule.do("delete_controller()", winner=1)
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.assignments[0].replicas, znode.states[0].isr) == ({0, 1}, {0, 1, 2})
    assert schedule.model.is_quiescent(schedule.vector)
    assert schedule.violated("leader_in_assignment") == ["leader_in_assignment(0, 0)"]


def test_a_cancellation_that_nothing_interrupts_leaves_the_isr_within_the_replicas():
    schedule = Schedule(Model(HEALTHY["healthy-reassignment"], "3.9.0", CANCELLED_DURING_A_FAILOVER))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    schedule.settle(but=("expand_isr", "restart"))
    schedule.do("cancel_partition_reassignment(0, 0, 0)")
    schedule.do("delete_controller()", winner=1)
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.assignments[0].replicas, znode.states[0].isr) == ({0, 1}, {0, 1})
    assert [broker.replicas[0][0].on_disk for broker in schedule.cluster.brokers] == [True, True, False]


@pytest.mark.parametrize("stepwise", [False, True])
def test_the_steps_of_a_reassignment_end_as_one_step_does(stepwise):
    bounds = {"failovers": int(stepwise), "restarts": 0}
    schedule = Schedule(Model(HEALTHY["healthy-reassignment"], "3.9.0", bounds))
    schedule.do("new_client_creates_topic(0)")
    schedule.do("alter_partition_reassignments(0, 0, 0, 0)")
    steps = [key for key in schedule.taken if key.startswith("reassignment_")]
    assert len(steps) == (4 if stepwise else 0)
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.assignments[0].replicas, znode.states[0].isr, znode.states[0].leader_epoch) == ({1, 2}, {1, 2}, 3)
    assert (
        schedule.cluster.controller_of(0).reassignment
        == Model(HEALTHY["healthy-reassignment"], "3.9.0", bounds)
        .state(schedule.model.initial[0])
        .controller_of(0)
        .reassignment
    )


def preferred_replica_leads(variant: str) -> Schedule:
    """A replica that is being added, the first of the client's list, is in the ISR; leaders may move to it."""
    schedule = Schedule(Model(REASSIGNMENT_REPLACED, variant))
    schedule.take("alter_partition_reassignments_to(0, 0, 0, ReplicaList(1,2))")
    schedule.settle(but=("expand_isr", *PATIENT))
    schedule.take("expand_isr(1, 0, 0)")
    return schedule


def test_since_3_4_a_reassignment_that_replaces_another_one_takes_the_leader_away():
    """KAFKA-14808: the replica that leads is not needed any more, and no election is held for the partition."""
    schedule = preferred_replica_leads("3.9.0")
    schedule.take("auto_preferred_election(0)")
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 1
    schedule.do("alter_partition_reassignments_to(0, 0, 0, ReplicaList(2,0))")
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.isr) == (None, {0})
    assert schedule.model.is_quiescent(schedule.vector)
    assert schedule.violated("partition_servable") == ["partition_servable(0, 0)"]


def test_before_3_4_no_leader_moves_to_a_preferred_replica_during_a_reassignment():
    schedule = preferred_replica_leads("3.0")
    assert schedule.model.attempt(schedule.model.instance("auto_preferred_election(0)"), schedule.vector).after is None
    schedule.do("alter_partition_reassignments_to(0, 0, 0, ReplicaList(2,0))")
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 0


def test_a_cancelled_reassignment_leaves_the_replicas_in_another_order():
    """As on real clusters: [1, 0] to [2, 0], cancelled, is [0, 1] (ReplicaAssignment.originReplicas)."""
    schedule = Schedule(Model(REASSIGNMENT_REPLACED, "3.9.0", {"reassignments": 2, "cancellations": 1}))
    schedule.do("alter_partition_reassignments_to(0, 0, 0, ReplicaList(1,0))")
    assert replicas(schedule) == ({0, 1}, 1, False)
    schedule.take("alter_partition_reassignments_to(0, 0, 0, ReplicaList(2,0))")
    schedule.settle(but=("expand_isr", *PATIENT))
    assert replicas(schedule) == ({0, 1, 2}, 2, True)
    schedule.do("cancel_partition_reassignment(0, 0, 0)")
    assert replicas(schedule) == ({0, 1}, 0, False)


def test_a_reassignment_may_only_reorder_the_replicas_and_moves_the_preferred_one():
    schedule = Schedule(Model(REASSIGNMENT_REPLACED, "3.9.0", {"replication_factor": 2}))
    schedule.do("alter_partition_reassignments_to(0, 0, 0, ReplicaList(1,0))")
    assert (replicas(schedule), schedule.cluster.zookeeper.state_of(0, 0).leader) == (({0, 1}, 1, False), 0)
    schedule.do("auto_preferred_election(0)")
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 1


def replicas(schedule: Schedule) -> tuple[frozenset[int], int | None, bool]:
    """The partition's replicas, the preferred one, and whether a reassignment is under way."""
    assignment = schedule.cluster.zookeeper.topics[0].assignments[0]
    return assignment.replicas, assignment.preferred, assignment.is_being_reassigned


def test_a_reassignment_writes_back_the_partitions_that_the_controller_knows_and_the_topic_id():
    schedule = begun("3.9.0", REASSIGNMENT_WITH_EXPANSION)
    schedule.take("old_client_adds_partitions(0)")
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.partition_count, znode.topic_id) == (2, None)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    znode = schedule.cluster.zookeeper.topics[0]
    assert (znode.partition_count, znode.topic_id) == (1, 0)
    assert schedule.violated("no_partition_lost") == ["no_partition_lost(0)"]


def with_removals(**bounds: int) -> Schedule:
    """The same, in a story where topics are deleted, also by hand."""
    actions = (*REASSIGNMENT.actions, remove_topic_by_hand, client_deletes_topic, topic_deletion)
    room = {"hand_removals": 1, "deletions": 1, "requests": 8, **bounds}
    schedule = Schedule(Model(evolve(REASSIGNMENT, actions=actions), "3.9.0", room, {"deletion": True}))
    schedule.do("new_client_creates_topic(0)")
    return schedule


@pytest.mark.parametrize("failovers", [0, 1])
def test_a_reassignment_of_a_topic_that_was_removed_by_hand_changes_nothing(failovers):
    """The write of the assignment is answered NONODE, and the request UNKNOWN_SERVER_ERROR."""
    schedule = with_removals(failovers=failovers)
    schedule.take("remove_topic_by_hand(0)")
    before = schedule.cluster.controller_of(0)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    assert schedule.cluster.controller_of(0) == before


def test_a_reassignment_ends_where_it_finds_that_its_topic_was_removed():
    schedule = with_removals(failovers=1)
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    schedule.take("remove_topic_by_hand(0)")
    schedule.take("reassignment_changes_leadership(0, 0, 0)")
    controller = schedule.cluster.controller_of(0)
    assert controller.step is EventProgress.IDLE and controller.topics[0].assignments[0].is_being_reassigned
    assert all(broker.requests.headers.is_empty for broker in schedule.cluster.brokers)
    schedule.settle()
    assert schedule.cluster.controller_of(0).topics[0].partition_count == 0


def test_a_topic_that_is_queued_for_deletion_is_not_reassigned():
    schedule = with_removals()
    schedule.take("client_deletes_topic(0)")
    schedule.take("topic_deletion(0)")
    assert schedule.cluster.controller_of(0).topics[0].to_be_deleted
    move = schedule.model.instance("alter_partition_reassignments(0, 0, 0, 0)")
    assert schedule.model.attempt(move, schedule.vector).after is None


def only_with_an_empty_queue(controller: Controller, topic: int, partition: int) -> bool:
    """A request is handled only when nothing waits in the queue."""
    return controller.events.is_empty and accepts_reassignment(controller, topic, partition)


def test_to_demand_an_empty_queue_would_hide_what_real_brokers_do(monkeypatch):
    """Real brokers of 3.9.0 lose the partition in five steps: the request is queued before the client's write."""
    by_brokers = {"expansions": 0, "new_expansions": 1, "topic_ids": 1}
    model = Model(REASSIGNMENT_WITH_EXPANSION, "3.9.0", by_brokers)
    schedule = Schedule(model)
    schedule.do("new_client_creates_topic(0)")
    schedule.take("new_client_adds_partitions(0)")
    schedule.take("alter_partition_reassignments(0, 0, 0, 0)")
    assert schedule.violated("no_partition_lost") == ["no_partition_lost(0)"]
    monkeypatch.setattr(reassignment, "accepts_reassignment", only_with_an_empty_queue)
    model = Model(REASSIGNMENT_WITH_EXPANSION, "3.9.0", by_brokers)
    verdict = exhaust(model, properties=model.properties_of("no_partition_lost(0)"))
    assert (verdict.strength, verdict.bounds_hit, verdict.findings) == (Strength.EXHAUSTIVE, {}, ())


@pytest.mark.parametrize("keeps", [False, True])
def test_an_old_client_that_expands_forgets_that_a_partition_is_being_reassigned_unless_it_is_of_2_4_or_later(keeps):
    schedule = begun("3.9.0", REASSIGNMENT_WITH_EXPANSION, old_client_keeps_reassignments=keeps)
    schedule.do("alter_partition_reassignments(0, 0, 0, 0)")
    assert schedule.cluster.zookeeper.topics[0].assignments[0].is_being_reassigned
    schedule.take("old_client_adds_partitions(0)")
    assignment = schedule.cluster.zookeeper.topics[0].assignments[0]
    assert (assignment.replicas, assignment.is_being_reassigned) == ({0, 1, 2}, keeps)
    assert schedule.cluster.zookeeper.topics[0].topic_id is None
    assert schedule.cluster.controller_of(0).topics[0].assignments[0].is_being_reassigned
