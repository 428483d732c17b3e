"""Properties of the full requests of KRaft's controller, and of the broker in ZooKeeper mode that handles them."""

from __future__ import annotations

from kwalk.model.kafka.server.full_requests import RequestedBroker
from kwalk.model.language import premise, reachable, step


@step(
    symptom="clients do not find a topic that was created again, or find one that was deleted",
    log="none: kafka-topics.sh --list shows other topics than at a broker in KRaft mode",
)
def full_update_leaves_what_it_names(before: RequestedBroker, after: RequestedBroker) -> bool:
    """After a full UpdateMetadata the cache has the topic as the request has it."""
    premise(before.has_update and not after.has_update)
    return after.cached_id == before.sent_id


@step(
    symptom="a topic that was created again has no replica on a broker, or one that was deleted has a log",
    log="state-change.log: Topic ID in memory: … does not match the topic ID for partition … received: …",
)
def full_leader_and_isr_leaves_what_it_names(before: RequestedBroker, after: RequestedBroker) -> bool:
    """After a full LeaderAndIsr the broker has the log that the request names, and no other one."""
    premise(before.has_leader_and_isr and not after.has_leader_and_isr)
    return after.log_id == before.sent_id


@step(symptom="brokers are told of a topic that is not there", log="none")
def requests_have_the_image(before: RequestedBroker, after: RequestedBroker) -> bool:
    """A controller that becomes active sends both requests, of the image, after those before were handled."""
    premise(after.elections > before.elections)
    is_free = not before.has_update and not before.has_leader_and_isr and after.elections == before.elections + 1
    return is_free and after.has_update and after.has_leader_and_isr and after.sent_id == after.image_id


@step(symptom="a topic has the id of an earlier one", log="none")
def topic_has_a_new_id(before: RequestedBroker, after: RequestedBroker) -> bool:
    """A topic that is created again has an id that none had."""
    premise(after.image_id is not None and before.image_id != after.image_id)
    return before.image_id is None and after.image_id == before.last_id + 1 and after.last_id == after.image_id


@step(symptom="a broker forgets what no request takes away", log="none")
def broker_changes_by_requests(before: RequestedBroker, after: RequestedBroker) -> bool:
    """The cache changes with UpdateMetadata, and the log with LeaderAndIsr, which is handled later."""
    premise(before.cached_id != after.cached_id or before.log_id != after.log_id)
    is_update = before.has_update and not after.has_update and before.log_id == after.log_id
    is_other = before.has_leader_and_isr and not after.has_leader_and_isr and not before.has_update
    return (is_update or (is_other and before.cached_id == after.cached_id)) and before.image_id == after.image_id


@reachable()
def topic_created_again_is_served(broker: RequestedBroker) -> bool:
    """The topic that was created again is found and served."""
    return broker.image_id is not None and broker.image_id > 0 and broker.cached_id == broker.log_id == broker.image_id
