"""KafkaApis.createGroupMetadataTopic: the creation of __consumer_offsets, when the first consumer looks for its group.

What the model leaves out, and why its story loses nothing by it: offsets, which are lost with the last replica; and
partitions of the topic, which are created at once.
"""

from __future__ import annotations

from kwalk.model.kafka.groups.versions import OFFSETS_HAVE_THEIR_CONFIGURATION, OFFSETS_WAIT_FOR_BROKERS
from kwalk.model.language import Actor, Bound, action, flag, number, require, state

OFFSETS_FACTOR = Bound("offsets_factor", "offsets.topic.replication.factor", minimum=1)

CONSUMER = Actor("consumer", system=False)
OPERATOR = Actor("operator", system=False)


@state
class OffsetsTopic:
    """The topic, and how many brokers are live.

    Attributes:
        replicas: how many its partitions have; 0 until it is created.
        is_configured: whether it has offsets.topic.segment.bytes, as the broker has it.
    """

    live: int = number(0, OFFSETS_FACTOR)
    replicas: int = number(0, OFFSETS_FACTOR)
    is_configured: bool = flag()


@action(by=OPERATOR, description="starts a broker", source="KafkaServer.startup")
def start_one(created: OffsetsTopic) -> None:
    """Brokers of a new cluster start one after another."""
    require(created.live < OFFSETS_FACTOR)
    created.live += 1


@action(by=CONSUMER, description="looks for its coordinator", source="KafkaApis.handleGroupCoordinatorRequest")
def look_for_coordinator(created: OffsetsTopic) -> None:
    """The topic is created; up to 0.10.2 with a replica on each broker, if there were fewer than its factor.

    Since then the consumer is refused until there are brokers enough.
    """
    require(created.live > 0 and created.replicas == 0)
    require(created.live == OFFSETS_FACTOR or not OFFSETS_WAIT_FOR_BROKERS)
    created.replicas = created.live
    created.is_configured = bool(OFFSETS_HAVE_THEIR_CONFIGURATION)
