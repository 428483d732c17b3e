"""What a controller leaves behind when it resigns: requests that are lost, a batch that is not empty, no successor."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.reassignment import REASSIGNMENT
from kwalk.invariants.stories.sessions import CONTROLLER_COMES_BACK
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule

(HEALTHY,) = [scenario for scenario in SCENARIOS if scenario.name == "healthy-cluster"]
LEADERLESS = {"replication_factor": 1, "restarts": 2, "cancellations": 1, "controller_epochs": 9, "events": 9}
DELETED_TWICE = {"brokers": 1, "failovers": 2, "restarts": 0}


def with_requests_in_flight(*, lost: bool = True) -> Schedule:
    """Controller 0 has sent LeaderAndIsr about two partitions to both brokers, and broker 1 is its successor."""
    schedule = Schedule(Model(HEALTHY, "3.9.0", None, {"lost_requests": lost}))
    for key in ("new_client_creates_topic(0)", "new_client_adds_partitions(0)", "topic_change(0)"):
        schedule.take(key)
    schedule.take("topic_change_creates_partitions(0)")
    assert [waiting(schedule, broker) for broker in (0, 1)] == [1, 1]
    schedule.take("delete_controller()")
    schedule.take("reelect(1)")
    return schedule


def waiting(schedule: Schedule, broker: int) -> int:
    return len(schedule.cluster.brokers[broker].requests.headers)


def can_be_lost(schedule: Schedule) -> list[int]:
    """The brokers whose request in flight can be lost."""
    instances = [schedule.model.instance(f"lose_request({broker})") for broker in (0, 1)]
    return [i.args[0] for i in instances if schedule.model.attempt(i, schedule.vector).after is not None]


def test_a_request_in_flight_is_lost_or_arrives_for_each_broker_by_itself_once_its_controller_has_resigned():
    schedule = with_requests_in_flight()
    assert can_be_lost(schedule) == [], "a deposed controller that does not know it sends on"
    schedule.settle(but=("handle_leader_and_isr", "failover_reads_topics", "restart"))
    assert not schedule.cluster.controller_of(0).is_active and can_be_lost(schedule) == [0, 1]
    schedule.take("lose_request(0)")
    assert [waiting(schedule, broker) for broker in (0, 1)] == [0, 1]
    assert all(not len(column) for column in schedule.cluster.brokers[0].requests.partition_states)
    schedule.take("handle_leader_and_isr(1)")
    assert [broker.replicas[0][0].log_open for broker in schedule.cluster.brokers] == [False, True]


def test_the_requests_of_the_next_controller_are_not_lost():
    schedule = with_requests_in_flight()
    schedule.settle(but=("handle_leader_and_isr", "restart"))
    assert [waiting(schedule, broker) for broker in (0, 1)] == [2, 2]
    schedule.take("lose_request(0)")
    assert can_be_lost(schedule) == [1] and waiting(schedule, 0) == 1


def test_without_the_flag_a_request_in_flight_always_arrives():
    schedule = with_requests_in_flight(lost=False)
    schedule.settle(but=("handle_leader_and_isr", "failover_reads_topics", "restart"))
    assert can_be_lost(schedule) == []


def test_a_refused_write_leaves_requests_in_the_batch_and_the_next_term_sends_a_started_broker_nothing():
    """KAFKA-12315: the batch is the process's, and no change of replica states begins while it is not empty."""
    schedule = Schedule(Model(CONTROLLER_COMES_BACK, "3.9.0"))
    for key in ("crash(1)", "delete_controller()", "restart(1)", "reelect(1)", "broker_failure(0)"):
        schedule.take(key)
    controller = schedule.cluster.controller_of(0)
    assert controller.step is EventProgress.CONTROLLER_MOVED and controller.has_unsent_batch
    schedule.settle()
    assert schedule.cluster.controller_of(0).has_unsent_batch and not schedule.violated("replicas_converge")
    schedule.do("crash(1)")
    schedule.restart(1)
    assert schedule.cluster.zookeeper.controller == 0 and not schedule.cluster.replica_of(1, 0, 0).log_open
    assert schedule.violated("replicas_converge") == ["replicas_converge(1, 0, 0)"]


def test_a_process_that_starts_has_an_empty_batch():
    schedule = Schedule(Model(CONTROLLER_COMES_BACK, "3.9.0", {"restarts": 3}))
    for key in ("crash(1)", "delete_controller()", "restart(1)", "reelect(1)", "broker_failure(0)"):
        schedule.take(key)
    schedule.settle()
    schedule.do("crash(0)")
    schedule.restart(0)
    assert not schedule.cluster.controller_of(0).has_unsent_batch
    schedule.do("crash(1)")
    schedule.restart(1)
    assert schedule.cluster.zookeeper.controller == 0 and not schedule.violated("replicas_converge")


@pytest.mark.thorough
def test_the_shortest_ways_to_a_broker_that_a_controller_with_a_full_batch_does_not_inform():
    model = Model(CONTROLLER_COMES_BACK, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, outcome_of(verdict), verdict.bounds_hit) == (Strength.EXHAUSTIVE, pinned(model), {})
    assert shortest(verdict).keys() == {"replicas_converge", "partition_servable"}


@pytest.mark.thorough
def test_where_each_change_begins_with_an_empty_batch_every_started_broker_is_informed():
    verdict = exhaust(Model(CONTROLLER_COMES_BACK, "3.9.0", None, {"unsent_batch": False}), keep_going=True)
    assert (verdict.strength, shortest(verdict)) == (Strength.EXHAUSTIVE, {})


def test_a_controller_that_is_deleted_before_its_creation_is_noticed_has_no_successor():
    """The watch has fired when /controller was created, and is armed again when ControllerChange is handled."""
    schedule = Schedule(Model(CONTROLLER_COMES_BACK, "3.9.0", DELETED_TWICE))
    schedule.take("delete_controller()")
    schedule.take("reelect(0)")
    schedule.do("delete_controller()")
    assert schedule.cluster.zookeeper.controller is None and not schedule.cluster.controller_of(0).is_active
    assert schedule.violated("cluster_has_a_controller") == ["cluster_has_a_controller()"]


@pytest.mark.usefixtures("interpreted")
def test_one_broker_whose_controller_is_deleted_twice_may_end_without_one_and_breaks_nothing_else():
    model = Model(CONTROLLER_COMES_BACK, "3.9.0", DELETED_TWICE)
    verdict = exhaust(model, keep_going=True)
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == {"cluster_has_a_controller"}


def leaderless(**bounds: int) -> Schedule:
    """A topic is created while its only replica is down, and controller 1 is asked to move that to broker 1."""
    schedule = Schedule(Model(REASSIGNMENT, "3.9.0", {**LEADERLESS, **bounds}))
    schedule.do("crash(0)", winner=1)
    schedule.do("new_client_creates_topic(0)")
    assert not schedule.cluster.zookeeper.state_of(0, 0).exists
    schedule.do("alter_partition_reassignments(1, 0, 0, 0)")
    return schedule


def test_a_reassignment_of_a_partition_that_never_had_a_leader_fails_and_its_assignment_stays():
    schedule = leaderless()
    assignment = schedule.cluster.zookeeper.topics[0].assignments[0]
    assert (assignment.replicas, assignment.adding, assignment.target) == ({0, 1}, {1}, {1})
    controller = schedule.cluster.controller_of(1)
    assert (controller.step, schedule.cluster.zookeeper.controller) == (EventProgress.IDLE, 1)


def test_every_later_failover_fails_while_none_of_its_replicas_is_up():
    schedule = leaderless(brokers=4)
    schedule.take("crash(1)")
    for epoch in (3, 4, 5):
        schedule.settle(but=("failover_fails", "restart"))
        elected = schedule.cluster.zookeeper.controller
        assert elected in (2, 3) and schedule.cluster.zookeeper.controller_epoch == epoch
        schedule.take(f"failover_fails({elected})")
        assert schedule.cluster.zookeeper.controller is None and not schedule.cluster.controller_of(elected).is_active


def test_the_only_broker_that_is_left_gives_up_once_and_is_not_elected_again():
    """Its ControllerChange waits while its failover fails, so that it does not notice that /controller is deleted."""
    schedule = leaderless()
    schedule.take("crash(1)")
    schedule.settle()
    assert schedule.taken.count("failover_fails(2)") == 1
    assert schedule.cluster.zookeeper.controller is None


def test_a_replica_that_starts_ends_the_failures():
    schedule = leaderless()
    schedule.take("crash(1)")
    schedule.settle(but=("failover_fails", "restart"))
    schedule.take("restart(0)")
    schedule.settle()
    assert schedule.cluster.zookeeper.controller is not None
    assert schedule.cluster.zookeeper.state_of(0, 0).leader is not None


def test_a_cancellation_takes_the_added_replica_out_of_the_assignment_although_it_fails():
    schedule = leaderless()
    schedule.do("cancel_partition_reassignment(1, 0, 0)")
    assignment = schedule.cluster.zookeeper.topics[0].assignments[0]
    assert assignment.replicas == {0} and not assignment.is_being_reassigned
    assert schedule.cluster.zookeeper.controller == 1


def test_a_failover_that_fails_after_another_election_does_not_delete_controller():
    """Kafka does not resign then: what waits in its channels is still sent."""
    schedule = leaderless(failovers=1)
    schedule.take("crash(1)")
    schedule.settle(but=("failover_fails", "restart"))
    schedule.take("restart(0)")
    schedule.take("delete_controller()")
    schedule.take("reelect(0)")
    schedule.take("failover_fails(2)")
    assert schedule.cluster.zookeeper.controller == 0 and not schedule.cluster.controller_of(2).is_active


def with_requests_of_two_controllers(*, overtaking: bool = True) -> Schedule:
    """Controller 1 has sent broker 2 a request, and then controller 0, which does not know that it is deposed."""
    flags = {"overtaking_requests": overtaking}
    schedule = Schedule(Model(HEALTHY, "3.9.0", {"brokers": 3, "new_expansions": 0}, flags))
    schedule.do("new_client_creates_topic(0)")
    for key in ("crash(2)", "broker_failure(0)", "restart(2)", "delete_controller()", "reelect(1)"):
        schedule.take(key)
    for key in ("reads_topics", "sets_topic_ids", "reads_states", "sends_requests"):
        schedule.take(f"failover_{key}(1)")
    assert epochs(schedule) == [2]
    schedule.take("broker_startup(0)")
    assert epochs(schedule) == [2, 1]
    return schedule


def epochs(schedule: Schedule) -> list[int]:
    """The controller epochs of the requests on their way to broker 2."""
    return [request.controller_epoch for request in schedule.cluster.brokers[2].requests.headers]


def can_overtake(schedule: Schedule) -> list[str]:
    """What can change the order of the requests on their way to broker 2."""
    instances = [schedule.model.instance(key) for key in ("overtake_older(2)", "overtake_newer(2)")]
    return [i.key for i in instances if schedule.model.attempt(i, schedule.vector).after is not None]


def test_a_request_of_a_deposed_controller_that_arrives_before_its_successors_is_accepted():
    schedule = with_requests_of_two_controllers()
    assert can_overtake(schedule) == ["overtake_newer(2)"]
    schedule.take("overtake_newer(2)")
    assert epochs(schedule) == [1, 2]
    schedule.take("handle_leader_and_isr(2)")
    assert schedule.cluster.brokers[2].controller_epoch == 1 and schedule.cluster.replica_of(2, 0, 0).log_open
    schedule.take("handle_leader_and_isr(2)")
    assert schedule.cluster.brokers[2].controller_epoch == 2 and epochs(schedule) == []


def test_once_a_request_of_the_next_controller_has_arrived_the_older_ones_are_refused():
    schedule = with_requests_of_two_controllers()
    schedule.take("overtake_newer(2)")
    schedule.take("overtake_older(2)")
    assert epochs(schedule) == [2] and can_overtake(schedule) == []
    schedule.take("handle_leader_and_isr(2)")
    assert schedule.cluster.brokers[2].controller_epoch == 2


def test_without_the_flag_requests_arrive_in_the_order_in_which_they_were_sent():
    schedule = with_requests_of_two_controllers(overtaking=False)
    assert can_overtake(schedule) == []
    schedule.take("handle_leader_and_isr(2)")
    before = schedule.cluster.replica_of(2, 0, 0)
    schedule.take("handle_leader_and_isr(2)")
    assert schedule.cluster.brokers[2].controller_epoch == 2 and schedule.cluster.replica_of(2, 0, 0) == before
