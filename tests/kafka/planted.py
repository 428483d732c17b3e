"""Mistakes that are planted in the model, for invariants that no story breaks by itself: each replaces functions."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from kwalk.model.kafka.broker import partition, replica_manager
from kwalk.model.kafka.broker.partition import begin_leader_epoch
from kwalk.model.kafka.broker.replica_manager import open_log
from kwalk.model.kafka.controller import (
    kafka_controller,
    partition_state_machine,
    reassignment,
    replica_state_machine,
)
from kwalk.model.kafka.controller.controller_context import ControllerEvent, EventKind
from kwalk.model.kafka.controller.partition_state_machine import read_leadership, write_leadership
from kwalk.model.kafka.requests import ControlRequest, LeaderAndIsrPartitionState
from kwalk.model.kafka.state import BrokerState, Cluster, Replica
from kwalk.model.kafka.zookeeper import kafka_zk_client
from kwalk.model.kafka.zookeeper.kafka_zk_client import check_controller_epoch


def takes_any_controller(state: BrokerState, request: ControlRequest) -> bool:
    """The broker accepts the request that came last, whatever its controller epoch."""
    state.controller_epoch = request.controller_epoch
    return False


def takes_any_leader_epoch(
    replica: Replica,
    topic_id: int | None,
    partition_state: LeaderAndIsrPartitionState,
    broker: int,
    *,
    is_stopping: bool = False,
) -> None:
    """The broker accepts every request, whatever the leader epoch."""
    open_log(replica, topic_id, broker)
    if partition_state.leader is not None:
        replica.leader_epoch = partition_state.leader_epoch
        begin_leader_epoch(replica, partition_state, broker, is_stopping=is_stopping)
        replica.is_leader = partition_state.leader == broker


def wraps_around(
    cluster: Cluster, broker: int, topic: int, partition: int, *, leader: int | None, isr: frozenset[int]
) -> None:
    """After leader epoch 1 comes 0."""
    check_controller_epoch(cluster, broker)
    state = cluster.zookeeper.state_of(topic, partition)
    state.leader_epoch = 1 if state.leader_epoch == 0 else 0
    write_leadership(cluster, broker, topic, partition, leader=leader, isr=isr)


def keeps_in_isr(cluster: Cluster, broker: int, topic: int, partition: int, *, replica: int) -> None:
    """A replica that is removed stays in the ISR."""
    read_leadership(cluster, broker, topic, partition)


def loses(cluster: Cluster, broker: int, event: ControllerEvent) -> None:
    """A watch has fired, and its notification is lost."""


NOTIFY = kafka_zk_client.notify


def loses_data(cluster: Cluster, broker: int, event: ControllerEvent) -> None:
    """The same, but only where a topic's znode was written."""
    if event.kind is not EventKind.PARTITION_MODIFICATIONS:
        NOTIFY(cluster, broker, event)


def answers_any_fetch(leader: Replica, follower: Replica) -> bool:
    """The leader counts a follower for one that fetches, whatever the topic ids."""
    return True


def mints_no_id(cluster: Cluster, broker: int, topic: int) -> None:
    """A new topic stays without an id."""


def finds_balance(cluster: Cluster, broker: int, topic: int, number: int) -> bool:
    """Whoever leads, it is well."""
    return False


ANY_REQUEST = (
    (replica_manager, "is_from_older_controller", takes_any_controller),
    (replica_manager, "become_leader_or_follower", takes_any_leader_epoch),
)
WRAPPED = (
    (partition_state_machine, "set_leader_and_isr", wraps_around),
    (replica_state_machine, "set_leader_and_isr", wraps_around),
)
PLANTED: dict[str, tuple[tuple[ModuleType, str, Callable[..., object]], ...]] = {
    "": (),
    "brokers take any request": ANY_REQUEST,
    "leader epochs wrap around": WRAPPED,
    "brokers take any request, and leader epochs wrap around": (*ANY_REQUEST, *WRAPPED),
    "replicas that are removed stay in the ISR": ((reassignment, "remove_replica_from_isr", keeps_in_isr),),
    "leaders keep in the ISR who cannot fetch": ((partition, "has_consistent_topic_id", answers_any_fetch),),
    "new topics get no id": ((kafka_controller, "set_missing_topic_id", mints_no_id),),
    "leaders stay where they are": ((kafka_controller, "imbalanced", finds_balance),),
    "notifications are lost": ((kafka_zk_client, "notify", loses),),
    "notifications of data are lost": ((kafka_zk_client, "notify", loses_data),),
}
"""Each mistake by what it does: the functions that it replaces, where they are looked up."""
