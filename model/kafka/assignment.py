"""Which brokers have a partition's replicas, and in which order; by default every broker has one of every partition.

Under the flag `reassignment` a partition has replicas on some of the brokers only, in the same order. Under the flag
`replica_lists` clients choose the first one: it is followed by the others of the target, then by those that are
removed, both in the order of the scenario. Up to two replicas of each kind are Kafka's list. With the bound
`chosen_lists` they choose whole lists, which the initial state has: of a partition in each life of its topic, and of
reassignments.

Words: the *preferred* replica is the first in the order. The order is a constant of the scenario: by default partition
p's replicas are p, p+1, … around the brokers; the bound `replica_orders` chooses any other order for each partition.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import permutations
from math import factorial

from kwalk.model.kafka.domains import BROKERS, REPLICA_ORDERS, REPLICATION_FACTOR
from kwalk.model.kafka.versions.grain import REPLICA_LISTS
from kwalk.model.kafka.zookeeper.znodes import Assignment
from kwalk.model.language import UsageError

ORDERS = tuple(tuple(permutations(range(count))) for count in range(8))
"""By number of brokers, all orders of that many; the first is 0, 1, 2, …"""


def assignment(partition: int) -> tuple[int, ...]:
    """Return the brokers that have a replica of the partition, the preferred one first."""
    orders, code = ORDERS[len(BROKERS)], int(REPLICA_ORDERS)
    for _ in range(partition):
        code = code // len(orders)
    return tuple((replica + partition) % len(BROKERS) for replica in orders[code % len(orders)])


def first_assigned(partition: int, among: frozenset[int]) -> int | None:
    """Return the first replica in the partition's order that is among the given brokers, or None."""
    for replica in assignment(partition):
        if replica in among:
            return replica
    return None


def first_replica(partition: int, assignment: Assignment, among: frozenset[int]) -> int | None:
    """Return the first replica of an assignment, in its own order, that is among the given brokers, or None."""
    if REPLICA_LISTS:
        for replica in BROKERS:
            if assignment.preferred == replica and replica in among:
                return replica
        in_target = first_assigned(partition, among & assignment.target)
        if in_target is not None:
            return in_target
    return first_assigned(partition, among)


def reassign_to(current: Assignment, target: frozenset[int], preferred: int | None) -> Assignment:
    """Return the assignment during a reassignment to the target (Kafka: ReplicaAssignment.reassignTo).

    The origin is that of before a reassignment that is under way. The target comes first in the list of replicas.
    """
    replicas = target | current.origin
    return Assignment(replicas, replicas - current.origin, replicas - target, preferred)


def created_assignment(partition: int, replicas: frozenset[int]) -> Assignment:
    """Return an assignment of replicas in the order of the scenario."""
    return Assignment(replicas, preferred=first_assigned(partition, replicas) if REPLICA_LISTS else None)


def created_replicas(partition: int) -> frozenset[int]:
    """Return the replicas of a partition that a client creates: the first ones, up to the replication factor."""
    return first_replicas(partition, int(REPLICATION_FACTOR))


def first_replicas(partition: int, count: int) -> frozenset[int]:
    """Return the first brokers in the partition's order."""
    return frozenset({b for place, b in enumerate(assignment(partition)) if place < count})


def code_of(assignments: Sequence[Sequence[int]]) -> int:
    """Return the value of the bound `replica_orders` that gives each partition these replicas, brokers counted from 0.

    Raises:
        UsageError: A partition's replicas are not all the brokers, each once.
    """
    brokers, code = len(assignments[0]) if assignments else 0, 0
    for partition, replicas in enumerate(assignments):
        order = tuple((replica - partition) % brokers for replica in replicas)
        if order not in ORDERS[brokers]:
            raise UsageError(
                f"Partition {partition} has the replicas {list(replicas)}; this model needs each of the "
                f"{brokers} brokers exactly once."
            )
        code += ORDERS[brokers].index(order) * factorial(brokers) ** partition
    return code


# Whole lists that clients choose.


def pair(one: int, other: int) -> int:
    """Return the number of a pair of brokers, the lower one first."""
    return other * (other - 1) // 2 + one


def precedes(order: frozenset[int], one: int, other: int) -> bool:
    """Whether a broker comes before another one in an order."""
    if one < other:
        return pair(one, other) not in order
    return pair(other, one) in order


def first_in(order: frozenset[int], among: frozenset[int]) -> int | None:
    """Return the first of some brokers in an order; None if there are none."""
    for broker in BROKERS:
        if broker in among and not any(
            other != broker and other in among and precedes(order, other, broker) for other in BROKERS
        ):
            return broker
    return None


def order_towards(target: frozenset[int], target_order: frozenset[int], order: frozenset[int]) -> frozenset[int]:
    """Return the order of a partition's replicas once a client wants a list: that list, then the others as they are."""
    found: frozenset[int] = frozenset()
    for other in BROKERS:
        for one in range(other):
            if one in target and other in target:
                is_later_first = pair(one, other) in target_order
            elif one in target or other in target:
                is_later_first = other in target
            else:
                is_later_first = pair(one, other) in order
            if is_later_first:
                found = found | {pair(one, other)}
    return found


def order_of(replicas: Sequence[int]) -> frozenset[int]:
    """Return the order that begins with these replicas."""
    places = {broker: place for place, broker in enumerate(replicas)}
    last = len(replicas)
    return frozenset(
        pair(one, other) for other in replicas for one in range(other) if places[other] < places.get(one, last)
    )


def first_among(order: frozenset[int], brokers: Collection[int]) -> int | None:
    """Return the first of some brokers in an order, outside of a model; None if there are none."""
    known = sorted(brokers)
    return next((b for b in known if all(other == b or precedes(order, b, other) for other in known)), None)
