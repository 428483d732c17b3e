"""A controlled shutdown in steps: the broker still handles requests after its controller has moved its leaders."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.reassignment import REASSIGNMENT
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule

(CONTROLLED_SHUTDOWN,) = [scenario for scenario in SCENARIOS if scenario.name == "controlled-shutdown"]
IN_ORDER = ("restart", "leave")


def begun(variant: str, *, stepwise: bool = True) -> Schedule:
    """A topic is created, and broker 0, the controller, leads it."""
    schedule = Schedule(Model(CONTROLLED_SHUTDOWN, variant, None, {"stepwise_shutdown": stepwise}))
    schedule.do("new_client_creates_topic(0)")
    return schedule


@pytest.mark.parametrize(
    ("variant", "stepwise", "files"),
    [("2.8.2", True, [0, None]), ("2.8.2", False, [None, None]), ("3.9.0", True, [0, 0]), ("3.9.0", False, [0, 0])],
)
def test_the_leader_and_isr_of_its_shutdown_gives_a_leader_its_topic_id_in_2_8(variant, stepwise, files):
    """The first LeaderAndIsr opens the log, the second one assigns the id, and a clean stop writes the file."""
    schedule = begun(variant, stepwise=stepwise)
    schedule.take("stop(0, 0)")
    if stepwise:
        assert schedule.cluster.zookeeper.state_of(0, 0).leader == 1 and schedule.cluster.is_up(0)
        schedule.take("handle_leader_and_isr(0)")
        assert not schedule.cluster.replica_of(0, 0, 0).is_leader
        schedule.take("leave(0)")
    assert not schedule.cluster.is_up(0)
    assert schedule.files(0) == files


def test_a_broker_may_stop_before_it_handles_the_requests_of_its_shutdown():
    schedule = begun("2.8.2")
    schedule.take("stop(0, 0)")
    schedule.take("leave(0)")
    assert schedule.files(0) == [None, None]


def can_rejoin(schedule: Schedule) -> bool:
    return schedule.model.attempt(schedule.model.instance("expand_isr(0, 0, 0)"), schedule.vector).after is not None


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_a_leader_that_stops_becomes_a_follower_and_does_not_fetch(variant):
    """Real brokers skip the adding-fetcher step: `kwalk lab reproduce stopping-broker-rejoins`."""
    schedule = begun(variant)
    schedule.take("stop(0, 0)")
    for key in ("handle_leader_and_isr(0)", "handle_leader_and_isr(1)"):
        schedule.take(key)
    replica = schedule.cluster.replica_of(0, 0, 0)
    assert (replica.leader_epoch, replica.is_leader, replica.lacks_fetcher) == (1, False, True)
    assert not can_rejoin(schedule)
    schedule.take("leave(0)")
    assert not schedule.cluster.replica_of(0, 0, 0).lacks_fetcher


@pytest.mark.parametrize(("variant", "rejoins"), [("2.8.2", True), ("3.0", True), ("3.4.1", False), ("3.9.0", False)])
def test_a_follower_that_catches_up_while_it_stops_joins_the_isr_below_3_3(variant, rejoins):
    """Its fetcher runs, and its leader epoch is the present one, as it was not in the ISR."""
    schedule = Schedule(Model(CONTROLLED_SHUTDOWN, variant, {"restarts": 2, "failovers": 0}))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("crash(0)")
    schedule.settle(but=("restart", "leave", "expand_isr"))
    schedule.take("restart(0)")
    schedule.settle(but=("restart", "leave", "expand_isr"))
    assert schedule.cluster.zookeeper.state_of(0, 0).isr == {1} and can_rejoin(schedule)
    schedule.take("stop(0, 1)")
    schedule.settle(but=("restart", "leave", "expand_isr"))
    assert can_rejoin(schedule) is rejoins


def test_a_topic_that_is_created_meanwhile_is_not_led_by_the_broker_that_stops():
    schedule = Schedule(Model(CONTROLLED_SHUTDOWN, "3.9.0"))
    schedule.take("stop(0, 0)")
    assert schedule.cluster.controller_of(0).shutting_down == {0}
    schedule.take("new_client_creates_topic(0)")
    schedule.settle(but=IN_ORDER)
    state = schedule.cluster.zookeeper.state_of(0, 0)
    assert (state.leader, state.isr) == (1, {1})
    schedule.take("leave(0)")
    schedule.settle()
    assert schedule.cluster.zookeeper.controller == 1 and schedule.cluster.zookeeper.state_of(0, 0).leader == 1


def test_the_next_controller_does_not_know_which_brokers_are_shutting_down():
    schedule = Schedule(Model(CONTROLLED_SHUTDOWN, "3.9.0", {"brokers": 3, "failovers": 1}))
    schedule.take("stop(2, 0)")
    schedule.take("delete_controller()")
    schedule.settle(but=IN_ORDER)
    assert all(not broker.controller.shutting_down for broker in schedule.cluster.brokers)


def test_the_only_replica_of_a_partition_keeps_its_leader_epoch_when_its_broker_stops():
    """Controlled shutdown is about partitions with more than one replica (KafkaController.doControlledShutdown)."""
    schedule = Schedule(Model(REASSIGNMENT, "3.9.0", {"replication_factor": 1, "restarts": 1}))
    schedule.do("new_client_creates_topic(0)")
    before = schedule.cluster.zookeeper.state_of(0, 0)
    schedule.take("stop(0, 0)")
    after = schedule.cluster.zookeeper.state_of(0, 0)
    assert (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch) == (0, 0)


@pytest.mark.usefixtures("interpreted")
def test_every_shutdown_ends_and_everything_holds():
    model = Model(CONTROLLED_SHUTDOWN, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.findings, verdict.bounds_hit) == (Strength.EXHAUSTIVE, (), {})
    assert outcome_of(verdict) == pinned(model)
    assert verdict.action_counts["leave(0)"].taken and verdict.action_counts["leave(1)"].taken
