"""Properties of creations of one topic at a time."""

from __future__ import annotations

from kwalk.model.kafka.clients.topic_creation import CreatedTopic, Creation, Creator
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@always(
    symptom="the creation of a topic fails with another error than TOPIC_ALREADY_EXISTS, as another client creates it",
    log="UNKNOWN_SERVER_ERROR or INVALID_TOPIC_EXCEPTION in responses to CreateTopics",
)
def creation_is_accepted_or_refused(topic: CreatedTopic, creator: Creator) -> bool:
    """A client is told that the topic is created, or that it exists."""
    return topic.creations[creator] not in (Creation.FAILED, Creation.INVALID)


@when_quiescent(
    symptom="a topic has another configuration than it was created with, that of a creation which was refused",
    log="none: kafka-configs.sh --describe shows it",
)
def topic_has_the_configuration_of_its_creation(topic: CreatedTopic) -> bool:
    """The configuration is of the creation that succeeded."""
    premise(topic.created_by is not None)
    return topic.configured_by == topic.created_by


@always(symptom="a creation succeeds twice, or is answered wrongly", log="none")
def answers_are_of_the_topic(topic: CreatedTopic, creator: Creator) -> bool:
    """One creation is answered with no error, that of the topic; the topic is there if it is said to exist."""
    answer = topic.creations[creator]
    is_its_own = (answer is Creation.CREATED) == (topic.created_by == creator)
    return is_its_own and (answer is not Creation.EXISTS or topic.created_by is not None)


@step(symptom="the configuration of a topic changes unasked", log="none")
def configuration_is_written_by_a_creation(before: CreatedTopic, after: CreatedTopic, creator: Creator) -> bool:
    """A creation looks for the topic, writes its configuration, and then the topic, each once and in this order."""
    premise(before.creations[creator] is not after.creations[creator] or before.configured_by != after.configured_by)
    now, then = before.creations[creator], after.creations[creator]
    if now is then:
        return after.configured_by != creator and after.configured_by is not None
    is_written = after.configured_by == creator and after.created_by == before.created_by
    if then is Creation.CONFIGURED:
        is_set = now is Creation.VALID and before.configured_by is not None
        return (is_set or now is Creation.TO_CREATE) and is_written
    is_kept = before.configured_by == after.configured_by
    if then is Creation.TO_CREATE:
        return is_kept and now is Creation.VALID and before.configured_by is None
    if then is Creation.VALID:
        return is_kept and now is Creation.NONE
    is_refused = now is Creation.VALID and then in (Creation.EXISTS, Creation.INVALID)
    return is_kept and (is_refused or now in (Creation.NONE, Creation.TO_CREATE, Creation.CONFIGURED))


@reachable()
def second_creation_is_refused(topic: CreatedTopic, creator: Creator) -> bool:
    """A client is told that the topic exists."""
    return topic.creations[creator] is Creation.EXISTS
