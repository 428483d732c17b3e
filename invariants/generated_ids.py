"""Properties of ids of brokers, which ZooKeeper generates or operators give."""

from __future__ import annotations

from kwalk.model.kafka.server.generated_ids import RESERVED_ID, STARTED, BrokerIds, StartedBroker
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@step(
    symptom="a broker does not start, whose id operators may give: another one has got it",
    log="A broker is already registered on the path …",
)
def given_id_is_not_generated(before: BrokerIds, after: BrokerIds, broker: StartedBroker) -> bool:
    """A broker that an operator gives a reserved id, or none, is refused only for another one with a given id."""
    premise(not before.is_refused[broker] and after.is_refused[broker])
    return (
        after.generated == before.generated
        and any(
            before.ids[other] is not None and not before.is_generated[other] for other in STARTED if other != broker
        )
        and not any(before.is_generated[other] and (before.ids[other] or 0) <= RESERVED_ID for other in STARTED)
    )


@when_quiescent(
    symptom="a broker does not start, and a migration to KRaft does not begin",
    log="controller.log of KRaft: Still waiting for ZK brokers … found in metadata to register with KRaft.",
)
def broker_registers_under_its_id(brokers: BrokerIds, broker: StartedBroker) -> bool:
    """A broker that is to migrate registers with KRaft's controller under the id that ZooKeeper has."""
    premise(brokers.ids[broker] is not None)
    return brokers.at_kraft[broker] == brokers.ids[broker]


@always(symptom="two brokers have one id", log="none")
def ids_differ(brokers: BrokerIds, broker: StartedBroker) -> bool:
    """No two brokers have an id."""
    premise(brokers.ids[broker] is not None)
    return not any(other != broker and brokers.ids[other] == brokers.ids[broker] for other in STARTED)


@step(symptom="a broker gets a number that another one has had", log="none")
def generated_ids_follow_each_other(before: BrokerIds, after: BrokerIds, broker: StartedBroker) -> bool:
    """A generated id is above those that may be given, by how many were generated, also of brokers that are refused."""
    premise(before.ids[broker] != after.ids[broker])
    is_new = before.ids[broker] is None and not before.is_refused[broker]
    if after.is_generated[broker]:
        is_next = after.generated == before.generated + 1
        return is_new and is_next and after.ids[broker] == RESERVED_ID + after.generated
    return is_new and after.generated == before.generated and (after.ids[broker] or 0) <= RESERVED_ID


@step(symptom="a broker registers twice", log="none")
def registration_is_of_a_running_broker(before: BrokerIds, after: BrokerIds, broker: StartedBroker) -> bool:
    """A broker registers once, and keeps its id; it has not been refused."""
    premise(before.at_kraft[broker] != after.at_kraft[broker] or before.has_ended[broker] != after.has_ended[broker])
    is_first = before.at_kraft[broker] is None and not before.has_ended[broker]
    return is_first and before.ids[broker] is not None and before.ids[broker] == after.ids[broker]


@reachable()
def both_kinds_of_ids_are_there(brokers: BrokerIds) -> bool:
    """One broker has a given id, and another one a generated one."""
    given = any(brokers.ids[one] is not None and not brokers.is_generated[one] for one in STARTED)
    return given and any(brokers.is_generated[one] for one in STARTED)
