"""What an old client's expansion does to a topic, as deterministic schedules: nothing of it is coded into the model.

The topic is created with two partitions and expanded to four. Leaders are 0, 1, 2, 0; broker 0 is controller first.
"""

from __future__ import annotations

import pytest

from tests.kafka.schedule import Schedule, model_of, settled_from

OLD, NEW = (0, 1), (2, 3)
HARM = ("replica_id_matches_zookeeper", "partition_servable", "replicas_converge")
SIZES = {"partitions": 4, "created_partitions": 2}


def expanded(variant: str, *, aged: bool) -> Schedule:
    """A topic that an old client created and expanded; `aged` if the controller moved in between."""
    schedule = Schedule(model_of(variant, **SIZES))
    schedule.do("old_client_creates_topic(0)")
    if aged:
        schedule.do("delete_controller()", winner=1)
    schedule.do("old_client_adds_partitions(0)")
    return schedule


def failed_over(variant: str, *, aged: bool) -> Schedule:
    """The same, and then the controller has moved."""
    schedule = expanded(variant, aged=aged)
    schedule.do("delete_controller()", winner=2)
    return schedule


def agreeing(schedule: Schedule) -> set[int]:
    """The partitions whose files all hold ZooKeeper's topic id."""
    topic = schedule.cluster.zookeeper.topics[0]
    return {p for p in (*OLD, *NEW) if set(schedule.files(p)) == {topic.topic_id}}


def differing(schedule: Schedule) -> set[int]:
    """The partitions of which no file holds ZooKeeper's topic id."""
    topic = schedule.cluster.zookeeper.topics[0]
    return {p for p in (*OLD, *NEW) if not {None, topic.topic_id} & set(schedule.files(p))}


def harm(schedule: Schedule) -> list[str]:
    return [key for invariant in HARM for key in schedule.violated(invariant)]


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_the_expansion_erases_the_topic_id_and_the_next_controller_mints_another(variant):
    schedule = expanded(variant, aged=False)
    assert schedule.cluster.zookeeper.topics[0].topic_id is None
    assert schedule.violated("context_agrees") == ["context_agrees(0, 0)"]
    schedule.do("delete_controller()", winner=2)
    assert schedule.cluster.zookeeper.topics[0].topic_id == 1
    assert schedule.violated("topic_id_stable") == ["topic_id_stable(0)"]


def test_in_2_8_2_the_eight_steps_on_a_fresh_topic_do_no_harm():
    schedule = Schedule(model_of("2.8.2", **SIZES))
    schedule.do("old_client_creates_topic(0)")
    assert [schedule.files(p) for p in OLD] == [[None] * 3] * 2
    schedule.do("old_client_adds_partitions(0)")
    assert [schedule.files(p) for p in (*OLD, *NEW)] == [[None] * 3] * 4
    schedule.do("delete_controller()", winner=1)
    assert agreeing(schedule) == {*OLD, *NEW} and not harm(schedule)
    for broker in (0, 1, 2):
        schedule.do(f"stop({broker}, {schedule.cluster.zookeeper.controller})")
        assert not harm(schedule)
        schedule.restart(broker)
        assert agreeing(schedule) == {*OLD, *NEW} and not harm(schedule)
        assert all(state.isr == {0, 1, 2} for state in schedule.cluster.zookeeper.topics[0].states)


def test_in_2_8_2_a_failover_before_the_expansion_makes_the_old_partitions_differ_and_not_the_new_ones():
    schedule = failed_over("2.8.2", aged=True)
    assert differing(schedule) == set(OLD) and agreeing(schedule) == set(NEW)


@pytest.mark.parametrize("aged", [False, True])
def test_in_3_9_0_all_partitions_differ(aged):
    schedule = failed_over("3.9.0", aged=aged)
    assert differing(schedule) == {*OLD, *NEW}


@pytest.mark.parametrize(("variant", "aged"), [("2.8.2", True), ("3.9.0", False)])
def test_the_damage_is_latent_until_a_leader_epoch_rises(variant, aged):
    schedule = failed_over(variant, aged=aged)
    assert not schedule.violated("partition_servable") and not schedule.violated("replicas_converge")
    schedule.do("stop(0, 2)")
    assert "partition_servable(0, 0)" in schedule.violated("partition_servable", quiescent=True)


@pytest.mark.parametrize(("variant", "aged"), [("2.8.2", True), ("3.9.0", False)])
def test_the_restarted_broker_drops_out_of_the_isr_of_every_partition_that_differs(variant, aged):
    schedule = failed_over(variant, aged=aged)
    broken = differing(schedule)
    schedule.do("stop(0, 2)")
    schedule.restart(0)
    states = schedule.cluster.zookeeper.topics[0].states
    assert {p for p in (*OLD, *NEW) if 0 not in states[p].isr} == broken


@pytest.mark.parametrize(
    ("variant", "aged", "used"), [pytest.param("2.8.2", True, 2, marks=pytest.mark.thorough), ("3.9.0", False, 1)]
)
def test_a_partition_without_a_working_leader_never_recovers_not_even_by_another_failover(variant, aged, used):
    schedule = Schedule(model_of(variant, flags={"async_metadata_flush": False}, failovers=used + 1, restarts=1))
    schedule.do("old_client_creates_topic(0)")
    if aged:
        schedule.do("delete_controller()", winner=1)
    schedule.do("old_client_adds_partitions(0)")
    schedule.do("delete_controller()", winner=2)
    schedule.do("stop(0, 2)")
    schedule.restart(0)
    assert "partition_servable(0, 0)" in schedule.violated("partition_servable")
    states, quiescent = settled_from(schedule.model, schedule.vector)
    prop = schedule.model.properties_of("partition_servable(0, 0)")[0]
    assert len(quiescent) > 1 and len(states) > 100
    assert all(schedule.model.violates(prop, vector) for vector in quiescent)


def test_the_expansion_is_lost_when_the_controller_writes_the_id_of_a_topic_that_it_read_before():
    schedule = Schedule(model_of("2.8.2"))
    for key in ("old_client_creates_topic(0)", "topic_change(0)", "old_client_adds_partitions(0)"):
        schedule.take(key)
    assert not schedule.violated("no_partition_lost")
    schedule.take("topic_change_creates_partitions(0)")
    assert schedule.violated("no_partition_lost") == ["no_partition_lost(0)"]


@pytest.mark.parametrize("variant", ["2.8.2", "3.9.0"])
def test_a_new_clients_expansion_keeps_the_id_and_does_no_harm(variant):
    schedule = Schedule(model_of(variant, new_creations=1, new_expansions=1))
    schedule.do("new_client_creates_topic(0)")
    schedule.do("delete_controller()", winner=1)
    schedule.do("new_client_adds_partitions(0)")
    schedule.do("delete_controller()", winner=2)
    schedule.do("stop(0, 2)")
    schedule.restart(0)
    assert schedule.cluster.zookeeper.topics[0].topic_id == 0
    assert not [c.key for c in schedule.model.properties if schedule.model.violates(c, schedule.vector)]
