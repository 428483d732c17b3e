"""Metadata: which leader of a partition a client asks, in the library of its application.

Of what brokers answer a client takes nothing with an earlier leader epoch than it has seen, as brokers may answer late
(KIP-320). Leader epochs begin again with a topic that is created again, or a state that was removed by hand. Releases
are those of the library, with brokers of the same release.

What the model leaves out, and why its story loses nothing by it: brokers that answer late, which the epochs are for;
and topics that a client gives up as it does not use them, of which it forgets the epochs.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.server.versions import (
    CLIENTS_IGNORE_EARLIER_EPOCHS,
    NEW_IDS_RESET_EPOCHS,
    NEW_IDS_RESET_EPOCHS_AFTER_NONE,
)
from kwalk.model.language import Actor, Bound, Domain, action, flag, member, number, optional, require, state

CLIENT = Actor("client", system=True)
CONTROLLER = Actor("controller", system=False)
LEADERS = Domain("possible_leaders", "brokers that may lead a partition", default=2)
Leader = Annotated[int, LEADERS]
CREATIONS = Bound("creations_of_a_topic", "how often a topic is created")
STATE_REMOVALS = Bound("state_removals", "how often the state of a partition is removed by hand")
LAST_EPOCH = Bound("last_leader_epoch", "the highest leader epoch", minimum=1)


@state
class ClientMetadata:
    """A partition of a topic, and what a client knows of it.

    Attributes:
        exists: whether there is the topic.
        creations: how often it was created; each time it has another topic id.
        leader: the partition's leader.
        leader_epoch: its leader epoch.
        state_removals: how often its state was removed.
        is_answered: whether the client was answered since anything has changed.
        known_leader: the leader that the client asks; None if it knows of none.
        known_topic: the creation whose topic id the client has last got; None if it has none.
        seen_epoch: the leader epoch above which the client takes answers; None if it has seen none.
    """

    exists: bool = flag()
    creations: int = number(0, CREATIONS)
    leader: int = member(LEADERS)
    leader_epoch: int = number(0, LAST_EPOCH)
    state_removals: int = number(0, STATE_REMOVALS)
    is_answered: bool = flag()
    known_leader: int | None = optional(LEADERS)
    known_topic: int | None = optional(number(0, CREATIONS))
    seen_epoch: int | None = optional(number(0, LAST_EPOCH))


@action(
    by=OPERATOR,
    description="creates the topic, whose first leader is broker {leader}",
    source="ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions: leader epoch 0",
)
def create_client_topic(view: ClientMetadata, leader: Leader) -> None:
    """It has another topic id than the one before, from 2.8 on."""
    require(not view.exists and view.creations < CREATIONS)
    view.exists, view.leader, view.leader_epoch, view.is_answered = True, leader, 0, False
    view.creations += 1


@action(by=OPERATOR, description="deletes the topic", source="TopicDeletionManager.onTopicDeletion")
def delete_client_topic(view: ClientMetadata) -> None:
    """Brokers answer UNKNOWN_TOPIC_OR_PARTITION from then on."""
    require(view.exists)
    view.exists, view.leader, view.leader_epoch, view.is_answered = False, 0, 0, False


@action(
    by=CONTROLLER, description="elects broker {leader}", source="ZkPartitionStateMachine.doElectLeaderForPartitions"
)
def elect_leader_for_clients(view: ClientMetadata, leader: Leader) -> None:
    """Each election has the next leader epoch."""
    require(view.exists and leader != view.leader and view.leader_epoch < LAST_EPOCH)
    view.leader, view.is_answered = leader, False
    view.leader_epoch += 1


@action(
    by=OPERATOR,
    description="removes the state of the partition, whose next leader is broker {leader}",
    source="ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions: leader epoch 0",
)
def remove_state_from_clients(view: ClientMetadata, leader: Leader) -> None:
    """The next controller elects a leader as if the partition were new; the topic id stays."""
    require(view.exists and view.state_removals < STATE_REMOVALS)
    view.leader, view.leader_epoch, view.is_answered = leader, 0, False
    view.state_removals += 1


@action(
    by=CLIENT,
    description="asks a broker for metadata",
    source="Metadata.handleMetadataResponse, updateLatestMetadata",
)
def ask_for_metadata_of_topic(view: ClientMetadata) -> None:
    """As its leader does not lead, or from time to time (metadata.max.age.ms).

    The epoch that was seen stays when the topic is gone, and its id does not: between 3.0.0, whose clients take a topic
    with another id for another one, and KAFKA-13488 they did not notice it then.
    """
    require(not view.is_answered)
    view.is_answered = True
    if not view.exists:
        view.known_leader, view.known_topic = None, None
        return
    earlier, view.known_topic = view.known_topic, view.creations
    is_known = NEW_IDS_RESET_EPOCHS_AFTER_NONE or (NEW_IDS_RESET_EPOCHS and earlier is not None)
    is_another = is_known and earlier != view.creations
    seen = view.seen_epoch
    is_taken = is_another or seen is None or view.leader_epoch >= seen
    if is_taken or not CLIENTS_IGNORE_EARLIER_EPOCHS:
        view.known_leader, view.seen_epoch = view.leader, view.leader_epoch
