"""KafkaServer.getOrGenerateBrokerId: ids that ZooKeeper generates, and what they are used for.

With `broker.id.generation.enable` a broker without `broker.id` gets `reserved.broker.max.id` plus a number that
ZooKeeper counts. Operators may give the ids up to reserved.broker.max.id.

What the model leaves out, and why its stories lose nothing by it: meta.properties, from which a broker has its id when
it starts again; and brokers that stop.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import GENERATED_IDS_MIGRATE, SEQUENCES_BEGIN_AT_ONE
from kwalk.model.language import Actor, Array, Bound, Domain, action, array, flag, number, optional, require, state

RESERVED_ID = Bound("reserved_id", "reserved.broker.max.id")
GENERATED = Bound("generated", "how many ids are generated")
STARTED = Domain("started", "brokers that start", default=2)
IDS = Domain("ids", "ids of brokers")
OPERATOR_IDS = Domain("operator_ids", "ids that an operator gives", default=2)

StartedBroker = Annotated[int, STARTED]
OperatorId = Annotated[int, OPERATOR_IDS]
BROKER = Actor("broker", of=STARTED)
KRAFT = Actor("controller of KRaft")


@state
class BrokerIds:
    """The id of each broker in ZooKeeper, and how many ids it has generated.

    Attributes:
        is_generated: whether the id of a broker is one that ZooKeeper has generated.
        is_refused: whether a broker has not started, as its id is that of another one.
        at_kraft: the id under which a broker has registered with KRaft's controller, to migrate.
        has_ended: whether a broker has ended as it was to migrate.
    """

    ids: Array[int | None] = array(STARTED, optional(IDS))
    is_generated: Array[bool] = array(STARTED, flag())
    is_refused: Array[bool] = array(STARTED, flag())
    at_kraft: Array[int | None] = array(STARTED, optional(IDS))
    has_ended: Array[bool] = array(STARTED, flag())
    generated: int = number(0, GENERATED)


def is_taken(brokers: BrokerIds, broker_id: int) -> bool:
    """Whether a broker has an id."""
    return any(brokers.ids[one] == broker_id for one in STARTED)


@action(
    by=BROKER,
    description="starts without an id",
    source="KafkaServer.generateBrokerId; ZkUtils.getSequenceId (KafkaZkClient.generateBrokerSequenceId)",
)
def start_without_id(brokers: BrokerIds, broker: StartedBroker) -> None:
    """The number is the version of /brokers/seqid: up to 0.10.0 that of the znode as it is created, which is 0."""
    require(brokers.ids[broker] is None and not brokers.is_refused[broker] and brokers.generated < GENERATED)
    first = 1 if SEQUENCES_BEGIN_AT_ONE else 0
    new_id = RESERVED_ID + brokers.generated + first
    brokers.generated += 1
    if is_taken(brokers, new_id):
        brokers.is_refused[broker] = True
    else:
        brokers.ids[broker] = new_id
        brokers.is_generated[broker] = True


@action(by=BROKER, description="starts with id {broker_id}", source="KafkaServer.startup; ZkUtils.registerBrokerInZk")
def start_with_id(brokers: BrokerIds, broker: StartedBroker, broker_id: OperatorId) -> None:
    """An operator gives it, up to the reserved one; one that is registered is refused."""
    require(brokers.ids[broker] is None and not brokers.is_refused[broker] and broker_id <= RESERVED_ID)
    if is_taken(brokers, broker_id):
        brokers.is_refused[broker] = True
    else:
        brokers.ids[broker] = broker_id


@action(
    by=BROKER,
    description="is restarted to migrate, and registers with KRaft's controller",
    source="KafkaConfig.validateValues; KafkaServer.startup: BrokerLifecycleManager, with config.nodeId",
)
def register_with_kraft(brokers: BrokerIds, broker: StartedBroker) -> None:
    """It registers with node.id, which is the broker.id of its configuration; one whose id was generated has none.

    It ends: in 3.4 to 3.8 as node.id is -1, since 3.9 as its configuration is refused. So KAFKA-17077 (3.9.0), by which
    node.id follows a generated id, changes nothing in a migration.
    """
    require(brokers.ids[broker] is not None and brokers.at_kraft[broker] is None and not brokers.has_ended[broker])
    if brokers.is_generated[broker] and not GENERATED_IDS_MIGRATE:
        brokers.has_ended[broker] = True
    else:
        brokers.at_kraft[broker] = brokers.ids[broker]
