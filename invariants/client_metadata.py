"""Properties of what a client knows of a partition's leader."""

from __future__ import annotations

from kwalk.model.kafka.clients.metadata import ClientMetadata
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="producers time out, and consumers read nothing, until their processes are started again: a client asks a "
    "broker that does not lead, or none, whatever brokers answer",
    log="of the client, Metadata, at DEBUG: Got metadata for an older epoch … (current is …) for partition …, not "
    "updating",
)
def client_knows_the_leader(view: ClientMetadata) -> bool:
    """A client that was answered asks the leader, or knows that there is no topic."""
    premise(view.is_answered)
    return view.known_leader == (view.leader if view.exists else None)


@always(symptom="a client takes a topic for another one of the name", log="none")
def client_knows_the_topic(view: ClientMetadata) -> bool:
    """A client that was answered has the topic id of the topic, or none if there is none."""
    premise(view.is_answered)
    return view.known_topic == (view.creations if view.exists else None)


@step(symptom="a client knows what no broker has answered", log="none")
def answer_is_of_the_present(before: ClientMetadata, after: ClientMetadata) -> bool:
    """A client learns by an answer, which leaves the topic as it is; what changes the topic leaves the client."""
    is_learnt = before.known_topic != after.known_topic or before.known_leader != after.known_leader
    is_changed = before.exists != after.exists or before.leader != after.leader
    premise(is_learnt or is_changed or before.leader_epoch != after.leader_epoch)
    return is_learnt == after.is_answered and not (is_learnt and is_changed)


@step(symptom="leader epochs do not rise by elections", log="none")
def leader_epoch_rises_or_begins_again(before: ClientMetadata, after: ClientMetadata) -> bool:
    """An election raises the epoch by one; a topic that is created, and a state that was removed, begin with 0.

    A topic that is deleted has no leader.
    """
    is_another = before.creations != after.creations or before.exists != after.exists
    premise(is_another or before.leader_epoch != after.leader_epoch or before.leader != after.leader)
    if not after.exists:
        return before.exists and after.leader_epoch == 0 and after.leader == 0
    if after.leader_epoch == 0:
        is_new = not before.exists and after.creations == before.creations + 1
        return is_new or after.state_removals == before.state_removals + 1
    is_elected = before.exists and after.leader != before.leader
    return is_elected and after.leader_epoch == before.leader_epoch + 1 and not after.is_answered


@reachable()
def later_epoch_was_seen_of_an_earlier_topic(view: ClientMetadata) -> bool:
    """A topic is created again, and the client has seen a later epoch of the earlier one."""
    seen = view.seen_epoch
    return view.exists and seen is not None and view.leader_epoch < seen and view.creations > 1


@reachable()
def later_broker_is_the_first_leader(view: ClientMetadata) -> bool:
    """A topic is created whose first leader is not the first broker."""
    return view.exists and view.leader_epoch == 0 and view.leader > 0 and view.creations == 1


@reachable()
def client_knows_that_the_topic_is_gone(view: ClientMetadata) -> bool:
    """The client has asked between a deletion and a creation."""
    return not view.exists and view.is_answered and view.creations > 0
