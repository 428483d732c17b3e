"""KafkaApis, GroupMetadataManager: what the coordinator of a group answers about it, beside its protocol.

What the model leaves out, and why its story loses nothing by it: the group's protocol, which `group_coordinator` has;
and what a commit changes.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.groups.versions import LOST_VERIFICATIONS_ARE_REPEATED, MEMBERS_HAVE_THEIR_METADATA
from kwalk.model.language import Actor, action, choice, flag, require, state

CONSUMER = Actor("consumer", system=False)
CLIENT = Actor("admin client", system=False)
PRODUCER = Actor("producer", system=False)


class DescribedMetadata(Enum):
    """What DescribeGroups has as the metadata of a member."""

    NONE = "nothing was asked"
    SUBSCRIPTION = "its subscription"
    ASSIGNMENT = "its assignment"


class CommitAnswer(Enum):
    """What a transactional producer got that commits offsets."""

    NONE = "nothing was asked"
    DONE = "that it is done"
    AGAIN = "COORDINATOR_LOAD_IN_PROGRESS"
    NETWORK = "NETWORK_EXCEPTION"


@state
class AnsweredGroup:
    """A group with a member or none, and the last answers to a description and to a commit.

    Attributes:
        is_connected: whether the group's coordinator has a connection to that of the transaction.
    """

    has_member: bool = flag()
    is_connected: bool = flag(default=True)
    metadata: DescribedMetadata = choice(DescribedMetadata)
    commit: CommitAnswer = choice(CommitAnswer)


@action(by=CONSUMER, description="joins, or leaves", source="GroupCoordinator.handleJoinGroup, handleLeaveGroup")
def change_members(group: AnsweredGroup) -> None:
    """The member has a subscription and an assignment."""
    group.has_member = not group.has_member
    group.metadata = DescribedMetadata.NONE


@action(by=CLIENT, description="describes the group", source="KafkaApis.handleDescribeGroupRequest")
def describe_group(group: AnsweredGroup) -> None:
    """In 2.3 the metadata of a member was its assignment."""
    require(group.has_member)
    group.metadata = DescribedMetadata.SUBSCRIPTION if MEMBERS_HAVE_THEIR_METADATA else DescribedMetadata.ASSIGNMENT


@action(
    by=PRODUCER, description="commits in a transaction", source="GroupMetadataManager.maybeConvertOffsetCommitError"
)
def commit_verified(group: AnsweredGroup, is_connected: bool) -> None:
    """Since 3.6 the transaction is verified (KIP-890), by a request to its coordinator that may be lost."""
    group.is_connected = is_connected
    if is_connected:
        group.commit = CommitAnswer.DONE
    else:
        group.commit = CommitAnswer.AGAIN if LOST_VERIFICATIONS_ARE_REPEATED else CommitAnswer.NETWORK
