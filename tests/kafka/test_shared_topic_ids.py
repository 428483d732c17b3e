"""Two topics with one id: what a controller does that finds them, and how to get out."""

from __future__ import annotations

from attrs import evolve

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.clients.operator import write_topic_id
from kwalk.model.language import Model
from tests.kafka.schedule import Schedule

BY_HAND = evolve(OLD_CLIENT_EXPANSION, actions=(*OLD_CLIENT_EXPANSION.actions, write_topic_id))
ROOM = {
    "brokers": 2,
    "topics": 2,
    "partitions": 1,
    "new_creations": 1,
    "repairs": 3,
    "failovers": 1,
    "controller_epochs": 9,
    "events": 8,
    "requests": 6,
}


def with_two_topics(variant: str = "2.8.2") -> Schedule:
    """A settled cluster with topics t and u, whose ids are 0 and 1."""
    schedule = Schedule(Model(BY_HAND, variant, ROOM))
    schedule.do("new_client_creates_topic(0)")
    schedule.do("new_client_creates_topic(1)")
    assert [topic.topic_id for topic in schedule.cluster.zookeeper.topics] == [0, 1]
    return schedule


def fail_over(schedule: Schedule, broker: int) -> None:
    """The broker is elected, reads topics, looks at their ids; all brokers hear of each change of /controller."""
    own = [i for i in schedule._system(()) if i.action.by.name == "controller" and i.args[0] == broker]
    heard = [i for i in schedule._system(()) if i.action.name == "controller_change"]
    while schedule.taken[-1] != f"failover_sets_topic_ids({broker})":
        key = schedule._enabled([*heard, *own])
        assert key is not None
        schedule.take(key)


def test_no_controller_finishes_its_failover_while_two_topics_have_one_id():
    schedule = with_two_topics()
    schedule.do("write_topic_id(1, 0)")
    assert schedule.cluster.controller_of(0).topics[1].topic_id == 1, "PartitionModifications looks at no id"
    schedule.take("delete_controller()")
    for broker in (1, 0, 1):
        fail_over(schedule, broker)
        assert schedule.cluster.zookeeper.controller is None
        assert not schedule.cluster.controller_of(broker).is_active


def test_they_do_again_when_another_id_was_written():
    schedule = with_two_topics()
    schedule.do("write_topic_id(1, 0)")
    schedule.take("delete_controller()")
    fail_over(schedule, 1)
    schedule.take("write_topic_id(1, 1)")
    schedule.settle()
    assert schedule.cluster.zookeeper.controller is not None
    active = schedule.cluster.controller_of(schedule.cluster.zookeeper.controller)
    assert [topic.topic_id for topic in active.topics] == [0, 1]


def test_a_new_topic_with_the_id_of_another_gets_no_partitions_until_its_znode_is_mended():
    schedule = Schedule(Model(BY_HAND, "2.8.2", ROOM))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("new_client_creates_topic(1)")
    schedule.take("write_topic_id(1, 0)")
    schedule.settle()
    assert not schedule.cluster.zookeeper.state_of(1, 0).exists
    assert schedule.cluster.zookeeper.state_of(0, 0).leader == 0
    schedule.do("write_topic_id(1, 1)")
    assert schedule.cluster.zookeeper.state_of(1, 0).exists
