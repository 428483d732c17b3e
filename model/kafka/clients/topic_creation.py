"""AdminManager.createTopics: two creations of one topic at a time, each with a configuration of its own.

The controller handles both requests in threads of its own. A creation first writes the topic's configuration into
ZooKeeper, and then the topic, which the other one may have created meanwhile.

What the model leaves out, and why its story loses nothing by it: replicas, partitions and ids of the topic, which are
in the znode that is created at once; a third creation.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.kafka.versions.topic_ids import CREATED_CONFIGURATIONS_ARE_SET, NAMES_DO_NOT_MEET_THEMSELVES
from kwalk.model.language import Actor, Array, Domain, action, array, choice, optional, require, state

CREATORS = Domain("creators", "clients that create the topic, each with another configuration", default=2)
Creator = Annotated[int, CREATORS]
HANDLER = Actor("request handler", of=CREATORS)
CLIENT = Actor("client", of=CREATORS, system=False)


class Creation(Enum):
    """How far a creation is, or what its client was answered."""

    NONE = "not asked for"
    VALID = "the topic is not there"
    TO_CREATE = "the configuration is not there"
    CONFIGURED = "the configuration is written"
    CREATED = "no error"
    EXISTS = "TOPIC_ALREADY_EXISTS"
    FAILED = "UNKNOWN_SERVER_ERROR"
    INVALID = "INVALID_TOPIC_EXCEPTION"


@state
class CreatedTopic:
    """The creations of the clients, and whose configuration and whose topic ZooKeeper has."""

    creations: Array[Creation] = array(CREATORS, choice(Creation))
    configured_by: int | None = optional(CREATORS)
    created_by: int | None = optional(CREATORS)


@action(by=CLIENT, description="asks to create the topic", source="AdminManager.createTopics: validateTopicCreate")
def ask(topic: CreatedTopic, creator: Creator) -> None:
    """A topic that is there is refused before anything is written."""
    require(topic.creations[creator] is Creation.NONE)
    topic.creations[creator] = Creation.VALID if topic.created_by is None else Creation.EXISTS


@action(
    by=HANDLER,
    description="compares the name with those of all topics, as it has a period",
    source="AdminUtils.createOrUpdateTopicPartitionAssignmentPathInZK: hasCollisionChars",
)
def compare_names(topic: CreatedTopic, creator: Creator) -> None:
    """Refuse a name that differs from another one in periods. Until KAFKA-4687 that could be the same name."""
    require(topic.creations[creator] is Creation.VALID)
    if topic.created_by is not None:
        topic.creations[creator] = Creation.EXISTS if NAMES_DO_NOT_MEET_THEMSELVES else Creation.INVALID


@action(
    by=HANDLER,
    description="writes the configuration, if its znode is there",
    source="KafkaZkClient.setOrCreateEntityConfigs: set",
)
def set_configuration(topic: CreatedTopic, creator: Creator) -> None:
    """The last writer's holds."""
    require(topic.creations[creator] is Creation.VALID)
    if topic.configured_by is None:
        topic.creations[creator] = Creation.TO_CREATE
    else:
        topic.configured_by, topic.creations[creator] = creator, Creation.CONFIGURED


@action(
    by=HANDLER,
    description="creates the znode of the configuration",
    source="KafkaZkClient.setOrCreateEntityConfigs: createOrSet",
)
def create_configuration(topic: CreatedTopic, creator: Creator) -> None:
    """In 1.1.0 it failed if the other creation had created it meanwhile."""
    require(topic.creations[creator] is Creation.TO_CREATE)
    if topic.configured_by is None or CREATED_CONFIGURATIONS_ARE_SET:
        topic.configured_by, topic.creations[creator] = creator, Creation.CONFIGURED
    else:
        topic.creations[creator] = Creation.FAILED


@action(by=HANDLER, description="creates the topic's znode", source="AdminZkClient.writeTopicPartitionAssignment")
def create_topic(topic: CreatedTopic, creator: Creator) -> None:
    """The other creation may have been first."""
    require(topic.creations[creator] is Creation.CONFIGURED)
    if topic.created_by is None:
        topic.created_by, topic.creations[creator] = creator, Creation.CREATED
    else:
        topic.creations[creator] = Creation.EXISTS
