"""AdminManager (ZkAdminManager): what becomes of requests about a topic: its creation, configuration and deletion.

A request is done, or refused with an error that says why. A configuration that is done is in ZooKeeper: brokers read it
when it changes, and at each start.

What the model leaves out, and why its story loses nothing by it:

* Which values there are: a value is one that brokers can read, or not.
* The controller: what is done is a topic at once. Authorizers and quotas refuse before all of this.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    ABSENT_TOPICS_ARE_NAMED,
    ABSENT_TOPICS_HAVE_NO_VALUES,
    APPENDS_FIND_DEFAULTS,
    DISABLED_DELETIONS_ARE_REFUSED,
    FAILED_CREATIONS_ARE_NAMED,
    FORMATS_ARE_READ_FIRST,
    NULLS_ARE_REFUSED,
    PARTITIONS_ARE_COUNTED,
    SEGMENTS_LAST,
    TIMESTAMP_TYPES_ARE_READ_FIRST,
)
from kwalk.model.language import Actor, action, choice, flag, require, state

CLIENT = Actor("admin client", system=False)
PRODUCER = Actor("producer", system=False)
OPERATOR = Actor("operator", system=False)


class Wish(Enum):
    """What was asked last."""

    NONE = "nothing"
    CREATE = "create the topic, which has partitions that are chosen"
    CREATE_UNASKED = "find the topic, which more brokers are wanted to create"
    ALTER = "set a value"
    SET_LIST = "set a list"
    ALTER_ABSENT = "set a value of a topic that does not exist"
    ALTER_TO_NULL = "set a value to null"
    APPEND = "append to a list"
    DESCRIBE = "describe the configuration"
    DELETE = "delete the topic, while delete.topic.enable is off"


class Reply(Enum):
    """What a client gets."""

    NONE = "nothing"
    DONE = "that it is done"
    REFUSED = "an error that says why"
    UNKNOWN_TOPIC = "UNKNOWN_TOPIC_OR_PARTITION"
    SERVER_ERROR = "UNKNOWN_SERVER_ERROR"
    TIMED_OUT = "REQUEST_TIMED_OUT"


@state
class RequestedTopic:
    """The topic with its configuration, and the last request with its outcome.

    Attributes:
        begins_at_one: whether its partitions are not numbered from 0.
        has_bad_type: whether message.timestamp.type is a word that brokers do not know.
        has_bad_format: the same of message.format.version.
        has_no_time: whether segment.ms is 0, and segment.jitter.ms is not.
        has_list: whether a list has a value of the topic's own.
        is_known: whether the value that was set last is one that brokers know.
        cannot_start: whether a broker has started, and failed.
        cannot_append: whether a record could not be appended.
    """

    exists: bool = flag()
    begins_at_one: bool = flag()
    has_bad_type: bool = flag()
    has_bad_format: bool = flag()
    has_no_time: bool = flag()
    has_list: bool = flag()
    is_known: bool = flag()
    cannot_start: bool = flag()
    cannot_append: bool = flag()
    wish: Wish = choice(Wish)
    outcome: Reply = choice(Reply)


def finish(requested: RequestedTopic, wish: Wish, outcome: Reply) -> None:
    """Note a request and its outcome."""
    requested.wish = wish
    requested.outcome = outcome


@action(by=CLIENT, description="creates the topic", source="AdminZkClient.validateTopicCreate")
def create_numbered(requested: RequestedTopic, from_zero: bool) -> None:
    """The client assigns the replicas, and so numbers the partitions."""
    require(not requested.exists)
    if from_zero or not PARTITIONS_ARE_COUNTED:
        requested.exists = True
        requested.begins_at_one = not from_zero
        finish(requested, Wish.CREATE, Reply.DONE)
    else:
        finish(requested, Wish.CREATE, Reply.REFUSED)


@action(by=CLIENT, description="asks for a topic that cannot be created", source="KafkaApis.createTopic")
def ask_for_absent(requested: RequestedTopic) -> None:
    """It would be created, and there are fewer brokers than default.replication.factor."""
    require(not requested.exists)
    finish(requested, Wish.CREATE_UNASKED, Reply.REFUSED if FAILED_CREATIONS_ARE_NAMED else Reply.SERVER_ERROR)


@action(by=CLIENT, description="sets message.timestamp.type", source="LogConfig.validate")
def set_timestamp_type(requested: RequestedTopic, is_known: bool) -> None:
    """One that is not known is refused since 2.0."""
    require(requested.exists)
    requested.is_known = is_known
    is_done = is_known or not TIMESTAMP_TYPES_ARE_READ_FIRST
    if is_done:
        requested.has_bad_type = not is_known
    finish(requested, Wish.ALTER, Reply.DONE if is_done else Reply.REFUSED)


@action(by=CLIENT, description="sets message.format.version", source="LogConfig.validate: ApiVersionValidator")
def set_format(requested: RequestedTopic, is_known: bool) -> None:
    """One that is not known is refused since 2.1."""
    require(requested.exists)
    requested.is_known = is_known
    is_done = is_known or not FORMATS_ARE_READ_FIRST
    if is_done:
        requested.has_bad_format = not is_known
    finish(requested, Wish.ALTER, Reply.DONE if is_done else Reply.REFUSED)


@action(by=CLIENT, description="sets segment.ms, of a topic with a jitter", source="LogConfig.validate: atLeast")
def set_segment_ms(requested: RequestedTopic, is_zero: bool) -> None:
    """0 is refused since 2.0."""
    require(requested.exists)
    requested.is_known = not is_zero
    is_done = not is_zero or not SEGMENTS_LAST
    if is_done:
        requested.has_no_time = is_zero
    finish(requested, Wish.ALTER, Reply.DONE if is_done else Reply.REFUSED)


@action(by=CLIENT, description="sets a value to null", source="AdminManager.alterConfigs, incrementalAlterConfigs")
def set_null(requested: RequestedTopic) -> None:
    """A NullPointerException has no name of its own."""
    require(requested.exists)
    finish(requested, Wish.ALTER_TO_NULL, Reply.REFUSED if NULLS_ARE_REFUSED else Reply.SERVER_ERROR)


@action(by=CLIENT, description="sets a list", source="AdminManager.prepareIncrementalConfigs: SET")
def set_list(requested: RequestedTopic) -> None:
    """The topic has a value of its own."""
    require(requested.exists)
    requested.has_list = True
    finish(requested, Wish.SET_LIST, Reply.DONE)


@action(by=CLIENT, description="appends to a list", source="AdminManager.prepareIncrementalConfigs: APPEND")
def append_to_list(requested: RequestedTopic) -> None:
    """It is appended to the default, if the topic has no value of its own."""
    require(requested.exists)
    is_done = requested.has_list or bool(APPENDS_FIND_DEFAULTS)
    requested.has_list = is_done
    finish(requested, Wish.APPEND, Reply.DONE if is_done else Reply.SERVER_ERROR)


@action(by=CLIENT, description="sets a value of an absent topic", source="AdminZkClient.validateTopicConfig")
def alter_absent(requested: RequestedTopic) -> None:
    """AdminOperationException, which was thrown up to 2.6, has no code of its own."""
    require(not requested.exists)
    finish(requested, Wish.ALTER_ABSENT, Reply.UNKNOWN_TOPIC if ABSENT_TOPICS_ARE_NAMED else Reply.SERVER_ERROR)


@action(by=CLIENT, description="describes the configuration of the topic", source="AdminManager.describeConfigs")
def describe(requested: RequestedTopic) -> None:
    """Up to 1.1 an absent topic had all defaults."""
    is_given = requested.exists or not ABSENT_TOPICS_HAVE_NO_VALUES
    finish(requested, Wish.DESCRIBE, Reply.DONE if is_given else Reply.UNKNOWN_TOPIC)


@action(by=CLIENT, description="deletes the topic, which is disabled", source="KafkaApis.handleDeleteTopicsRequest")
def delete_disabled(requested: RequestedTopic) -> None:
    """Up to 2.0 the broker waited for the deletion, which does not begin."""
    require(requested.exists)
    finish(requested, Wish.DELETE, Reply.REFUSED if DISABLED_DELETIONS_ARE_REFUSED else Reply.TIMED_OUT)


@action(by=OPERATOR, description="restarts a broker", source="LogManager: LogConfig.fromProps of each topic")
def restart_with_values(requested: RequestedTopic) -> None:
    """It reads the configurations of all topics, and ends where it cannot."""
    requested.cannot_start = requested.has_bad_type or requested.has_bad_format


@action(by=PRODUCER, description="writes a record", source="LogSegment.open: LogConfig.randomSegmentJitter")
def append_record(requested: RequestedTopic) -> None:
    """A new segment gets a random jitter below segment.ms: a division by it."""
    requested.cannot_append = requested.has_no_time
