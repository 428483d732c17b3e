"""Properties of answers about a group."""

from __future__ import annotations

from kwalk.model.kafka.groups.group_answers import AnsweredGroup, CommitAnswer, DescribedMetadata
from kwalk.model.language import always, premise, reachable


@always(symptom="kafka-consumer-groups.sh and tools read wrong subscriptions, or end with an error", log="none")
def described_member_has_its_subscription(group: AnsweredGroup) -> bool:
    """The metadata of a member that is described are its subscription."""
    premise(group.metadata is not DescribedMetadata.NONE)
    return group.metadata is DescribedMetadata.SUBSCRIPTION and group.has_member


@always(
    symptom="a transactional producer ends, as a connection between brokers was lost",
    log="NETWORK_EXCEPTION in responses to TxnOffsetCommit",
)
def commit_can_be_sent_again(group: AnsweredGroup) -> bool:
    """A transactional commit that is not done gets an error after which producers send it again."""
    return group.commit is not CommitAnswer.NETWORK


@always(symptom="a commit is done that was not verified", log="none")
def commit_is_verified(group: AnsweredGroup) -> bool:
    """A commit is done if its transaction is verified."""
    premise(group.commit is not CommitAnswer.NONE)
    return (group.commit is CommitAnswer.DONE) == group.is_connected


@reachable()
def member_is_described(group: AnsweredGroup) -> bool:
    """A member is described as a commit is done."""
    return group.metadata is not DescribedMetadata.NONE and group.commit is CommitAnswer.DONE
