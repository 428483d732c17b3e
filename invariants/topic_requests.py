"""Properties of requests about a topic: what is done can be read, and what is refused says why."""

from __future__ import annotations

from kwalk.model.kafka.server.topic_requests import Reply, RequestedTopic, Wish
from kwalk.model.language import always, premise, reachable, step


@always(symptom="brokers do not start, after the configuration of a topic was changed", log="none")
def accepted_value_can_be_read(requested: RequestedTopic) -> bool:
    """A broker starts with what was accepted."""
    return not requested.cannot_start


@always(symptom="nothing can be written to a topic, after segment.ms was set to 0", log="none")
def accepted_value_lets_records_in(requested: RequestedTopic) -> bool:
    """Records can be appended with what was accepted."""
    return not requested.cannot_append


@always(symptom="clients send records to partitions that do not exist", log="none")
def partitions_are_numbered_from_zero(requested: RequestedTopic) -> bool:
    """A topic with n partitions has the numbers below n."""
    return not requested.begins_at_one


@always(
    symptom="clients wait for a topic that cannot be created, and see no reason",
    log="UNKNOWN_SERVER_ERROR in responses to Metadata",
)
def creation_that_fails_says_why(requested: RequestedTopic) -> bool:
    """A client that asks for a topic learns why it is not created."""
    premise(requested.wish is Wish.CREATE_UNASKED)
    return requested.outcome is Reply.REFUSED


@always(symptom="an admin gets an unknown error", log="UNKNOWN_SERVER_ERROR in responses to IncrementalAlterConfigs")
def list_can_be_appended_to(requested: RequestedTopic) -> bool:
    """A list can be appended to, whoever has set it."""
    premise(requested.wish in (Wish.APPEND, Wish.SET_LIST))
    return requested.outcome is Reply.DONE and requested.has_list


@always(symptom="an admin gets an unknown error", log="UNKNOWN_SERVER_ERROR in responses to AlterConfigs")
def null_is_refused(requested: RequestedTopic) -> bool:
    """A value that is null is refused."""
    premise(requested.wish is Wish.ALTER_TO_NULL)
    return requested.outcome is Reply.REFUSED


@always(symptom="an admin gets an unknown error", log="UNKNOWN_SERVER_ERROR in responses to AlterConfigs")
def absent_topic_is_not_altered(requested: RequestedTopic) -> bool:
    """A value of a topic that does not exist is refused for that."""
    premise(requested.wish is Wish.ALTER_ABSENT)
    return requested.outcome is Reply.UNKNOWN_TOPIC


@always(symptom="kafka-configs.sh shows values of a topic that does not exist", log="none")
def absent_topic_has_no_values(requested: RequestedTopic) -> bool:
    """The configuration of a topic is described if it exists, and only then."""
    premise(requested.wish is Wish.DESCRIBE)
    return requested.outcome is (Reply.DONE if requested.exists else Reply.UNKNOWN_TOPIC)


@always(symptom="an admin waits for a deletion that is disabled", log="REQUEST_TIMED_OUT in responses to DeleteTopics")
def disabled_deletion_is_refused(requested: RequestedTopic) -> bool:
    """Where topics cannot be deleted, the request is refused at once."""
    premise(requested.wish is Wish.DELETE)
    return requested.outcome is Reply.REFUSED


@step(symptom="a refused request changes the topic", log="none")
def refused_request_changes_nothing(before: RequestedTopic, after: RequestedTopic) -> bool:
    """What changes was asked for, and is done."""
    premise(before.exists != after.exists or before.has_list != after.has_list)
    wishes = (Wish.SET_LIST, Wish.APPEND) if before.exists else (Wish.CREATE,)
    is_one = after.exists and (after.has_list or not before.has_list)
    return is_one and after.outcome is Reply.DONE and after.wish in wishes


@always(symptom="a request is done that cannot be, or refused that can be", log="none")
def requests_fit_the_topic(requested: RequestedTopic) -> bool:
    """What is asked of a topic that exists is not asked of another one, and the reverse."""
    premise(requested.wish is not Wish.NONE and requested.wish is not Wish.DESCRIBE)
    of_absent = (Wish.CREATE_UNASKED, Wish.ALTER_ABSENT)
    if requested.wish is Wish.CREATE:
        return requested.exists == (requested.outcome is Reply.DONE)
    return requested.exists == (requested.wish not in of_absent)


@reachable()
def value_is_refused(requested: RequestedTopic) -> bool:
    """A value is refused, and a broker starts then."""
    return requested.wish is Wish.ALTER and requested.outcome is not Reply.DONE


@always(symptom="a value is refused that brokers know", log="none")
def known_value_is_accepted(requested: RequestedTopic) -> bool:
    """A value that brokers know is accepted."""
    premise(requested.wish is Wish.ALTER and requested.is_known)
    return requested.outcome is Reply.DONE


@reachable()
def topic_is_described(requested: RequestedTopic) -> bool:
    """A topic that exists is described."""
    return requested.exists and requested.wish is Wish.DESCRIBE
