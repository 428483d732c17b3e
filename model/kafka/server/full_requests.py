"""ZkMetadataCache and ReplicaManager: the first requests of KRaft's controller to brokers in ZooKeeper mode.

During a migration a controller of KRaft that becomes active sends every broker *full* requests: UpdateMetadata, of all
topics, and LeaderAndIsr, of all replicas of the broker. What they do not name is not there any more. The broker has
the only replica of a topic.

What the model leaves out, and why its story loses nothing by it:

* What the controller sends of each change: here it fails before, and brokers hear of it by the full requests only.
* Other topics and brokers: requests have each topic, and are handled by each broker, for itself.
* How a log that is set aside is deleted.
"""

from __future__ import annotations

from kwalk.model.kafka.migration.versions import FULL_REQUEST, FULL_UPDATE_METADATA
from kwalk.model.kafka.server.versions import DELETIONS_COME_FIRST
from kwalk.model.kafka.storage.domains import CLIENT
from kwalk.model.language import Actor, Bound, action, flag, number, optional, require, state

CREATED_AGAIN = Bound("created_again", "how often the topic is created again")
ELECTIONS_OF_KRAFT = Bound("elections_of_kraft", "how often a controller of KRaft becomes active")

BROKER = Actor("broker")
KRAFT = Actor("controller of KRaft")


@state
class RequestedBroker:
    """The topic's id in the image, in the requests under way, in the broker's cache, and in its log; None without it.

    Attributes:
        log_id: the id of the log that the broker serves.
    """

    image_id: int | None = optional(number(0, CREATED_AGAIN))
    last_id: int = number(0, CREATED_AGAIN)
    sent_id: int | None = optional(number(0, CREATED_AGAIN))
    has_update: bool = flag()
    has_leader_and_isr: bool = flag()
    cached_id: int | None = optional(number(0, CREATED_AGAIN))
    log_id: int | None = optional(number(0, CREATED_AGAIN))
    elections: int = number(0, ELECTIONS_OF_KRAFT)


def has_a_topic(broker: RequestedBroker) -> None:
    """The broker serves the topic, and its clients find it."""
    broker.image_id = broker.cached_id = broker.log_id = 0


@action(by=CLIENT, description="deletes the topic", source="ReplicationControlManager.deleteTopics")
def delete_topic(broker: RequestedBroker) -> None:
    """The image does not have it any more."""
    require(broker.image_id is not None)
    broker.image_id = None


@action(by=CLIENT, description="creates the topic again", source="ReplicationControlManager.createTopics")
def create_topic(broker: RequestedBroker) -> None:
    """It has another id."""
    require(broker.image_id is None and broker.last_id < CREATED_AGAIN)
    broker.last_id += 1
    broker.image_id = broker.last_id


@action(
    by=KRAFT,
    description="becomes active, and sends full requests",
    source="MigrationPropagator.sendRPCsToBrokersFromMetadataImage",
)
def send_full_requests(broker: RequestedBroker) -> None:
    """UpdateMetadata goes first; earlier requests have been handled."""
    require(broker.elections < ELECTIONS_OF_KRAFT and not broker.has_update and not broker.has_leader_and_isr)
    broker.elections += 1
    broker.sent_id = broker.image_id
    broker.has_update = broker.has_leader_and_isr = True


@action(
    by=BROKER,
    description="handles the full UpdateMetadata",
    source="ZkMetadataCache.maybeInjectDeletedPartitionsFromFullMetadataRequest (3.6.1), "
    "transformKRaftControllerFullMetadataRequest (since 3.6.2)",
)
def handle_full_update(broker: RequestedBroker) -> None:
    """Topics whose ids are not named are removed, by their names: since KAFKA-16180 before others are added."""
    require(broker.has_update)
    broker.has_update = False
    is_gone = bool(FULL_UPDATE_METADATA) and broker.cached_id is not None and broker.cached_id != broker.sent_id
    if is_gone and not DELETIONS_COME_FIRST:
        broker.cached_id = None
    elif is_gone or broker.sent_id is not None:
        broker.cached_id = broker.sent_id


@action(
    by=BROKER,
    description="handles the full LeaderAndIsr",
    source="ReplicaManager.becomeLeaderOrFollower; LogManager.findStrayReplicas (since 3.6.2)",
)
def handle_full_leader_and_isr(broker: RequestedBroker) -> None:
    """A log that has not the topic's id refuses the request, unless it was set aside before."""
    require(broker.has_leader_and_isr and not broker.has_update)
    broker.has_leader_and_isr = False
    is_stray = FULL_REQUEST == "by id" and broker.log_id != broker.sent_id
    if is_stray or broker.log_id is None:
        broker.log_id = broker.sent_id
    elif FULL_REQUEST != "none" and broker.sent_id is None:
        broker.log_id = None
    broker.sent_id = None
