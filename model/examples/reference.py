"""The topic-id bug in its smallest form: the reference model that six model checkers were measured on.

Words: an *id* is a topic id, none before one is minted. `pending` is a LeaderAndIsr request on its way to a broker for
a partition, carrying an id. The old client *expands*: it writes the znode whole, without the id.

Source: "topicid-core", a comparison for which this model was also written in C, Rust (Stateright), TLA+, Promela and
plain Python; all of them count 805,904 distinct and 4,390,996 generated states, depth 20, with 3 brokers, 2 partitions,
3 ids, 2 failovers and 2 restarts.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fresh,
    Scenario,
    action,
    always,
    array,
    flag,
    fresh,
    number,
    optional,
    require,
    state,
    subset,
)

BROKERS = Domain("brokers", "brokers of the cluster")
PARTITIONS = Domain("partitions", "partitions that the topic can have")
TOPIC_IDS = Domain("topic_ids", "topic ids that can ever be minted", label=lambda n: "ABCDEFGHIJKLMNOP"[n])
PARTITION_COUNT = Bound("partitions")
FAILOVERS = Bound("failovers", "controller failures")
RESTARTS = Bound("restarts", "broker stops")

Broker = Annotated[int, BROKERS]
Partition = Annotated[int, PARTITIONS]

OLD_CLIENT = Actor("old client", system=False)
CONTROLLER = Actor("controller")
BROKER = Actor("broker", of=BROKERS)
FAULT = Actor("fault", system=False)


@state
class Replica:
    """One broker's copy of one partition: ids in memory, on disk, and in the request on its way to it."""

    pending: int | None = optional(TOPIC_IDS)
    memory: int | None = optional(TOPIC_IDS)
    disk: int | None = optional(TOPIC_IDS)


@state
class PartitionState:
    """A partition's state znode."""

    leader: int | None = optional(BROKERS)
    isr: frozenset[int] = subset(BROKERS)


@state
class Cluster:
    """ZooKeeper, the controller and the brokers."""

    znode_id: int | None = optional(TOPIC_IDS)
    znode_partitions: int = number(0, PARTITION_COUNT)
    controller: int | None = optional(BROKERS)
    context_id: int | None = optional(TOPIC_IDS)
    context_partitions: int = number(0, PARTITION_COUNT)
    ids: Fresh = fresh(TOPIC_IDS)
    failovers: int = number(0, FAILOVERS)
    restarts: int = number(0, RESTARTS)
    up: Array[bool] = array(BROKERS, flag(default=True))
    partitions: Array[PartitionState] = array(PARTITIONS, PartitionState)
    replicas: Array[Array[Replica]] = array(BROKERS, array(PARTITIONS, Replica))


def one_partition_everywhere(cluster: Cluster) -> None:
    """A topic with one partition that every broker holds with the first id."""
    first = cluster.ids.take()
    cluster.znode_id = cluster.context_id = first
    cluster.znode_partitions = cluster.context_partitions = 1
    cluster.controller = 0
    cluster.partitions[0].leader = 0
    cluster.partitions[0].isr = frozenset(BROKERS)
    for broker in BROKERS:
        cluster.replicas[broker][0].memory = cluster.replicas[broker][0].disk = first


def first_of(members: frozenset[int]) -> int | None:
    """The lowest member, or None."""
    for broker in BROKERS:
        if broker in members:
            return broker
    return None


def live(cluster: Cluster) -> frozenset[int]:
    """The brokers that are up."""
    return frozenset({broker for broker in BROKERS if cluster.up[broker]})


def send_to_live_brokers(cluster: Cluster, partition: int) -> None:
    """LeaderAndIsr with the controller's id, over whatever was on its way."""
    for broker in BROKERS:
        if cluster.up[broker]:
            cluster.replicas[broker][partition].pending = cluster.context_id


def forget_controller(cluster: Cluster) -> None:
    """No broker is controller; what the last one knew is lost."""
    cluster.controller = cluster.context_id = None
    cluster.context_partitions = 0


@action(by=OLD_CLIENT, description="adds a partition")
def expand(cluster: Cluster) -> None:
    """A client older than 2.8 writes the topic znode whole, without the field it does not know."""
    require(cluster.znode_partitions < len(PARTITIONS))
    cluster.znode_partitions += 1
    cluster.znode_id = None


@action(by=CONTROLLER, description="handles PartitionModifications")
def register_partition(cluster: Cluster) -> None:
    """The controller creates the next partition that it does not know. It never looks at the id."""
    require(cluster.controller is not None and cluster.context_partitions < cluster.znode_partitions)
    require(any(cluster.up[broker] for broker in BROKERS))
    partition = cluster.context_partitions
    cluster.context_partitions += 1
    cluster.partitions[partition].isr = live(cluster)
    cluster.partitions[partition].leader = first_of(live(cluster))
    send_to_live_brokers(cluster, partition)


@action(by=FAULT, description="the controller fails")
def controller_fails(cluster: Cluster) -> None:
    """The controller's session ends; its broker keeps running."""
    require(cluster.controller is not None and cluster.failovers < FAILOVERS)
    cluster.failovers += 1
    forget_controller(cluster)


def minted_id(before: Cluster, after: Cluster, _: int) -> str:
    """Return the id that a new controller mints, if it does."""
    if before.znode_id is not None or after.znode_id is None:
        return ""
    return f"the znode has no id, and gets {TOPIC_IDS.label(after.znode_id)}"


@action(by=CONTROLLER, description="broker {broker} becomes controller", outcome=minted_id)
def elect(cluster: Cluster, broker: Broker) -> None:
    """A broker becomes controller, mints an id if the znode has none, and sends the whole metadata to all brokers."""
    require(cluster.controller is None and cluster.up[broker])
    if cluster.znode_id is None:
        cluster.znode_id = cluster.ids.take()
    cluster.controller = broker
    cluster.context_id = cluster.znode_id
    cluster.context_partitions = cluster.znode_partitions
    for partition in PARTITIONS:
        if partition < cluster.znode_partitions:
            elect_leader(cluster, partition)
            send_to_live_brokers(cluster, partition)


def elect_leader(cluster: Cluster, partition: int) -> None:
    """Replace a missing or dead leader by the first live ISR member; an empty ISR starts over."""
    znode = cluster.partitions[partition]
    if znode.leader is not None and cluster.up[znode.leader]:
        return
    candidates = znode.isr & live(cluster)
    if candidates:
        znode.leader = first_of(candidates)
    elif not znode.isr:
        znode.leader = first_of(live(cluster))
        znode.isr = frozenset({broker for broker in BROKERS if broker == znode.leader})
    else:
        znode.leader = None


def refusal(before: Cluster, _: Cluster, broker: int, partition: int) -> str:
    """Return why a broker refuses a request, if it does."""
    replica = before.replicas[broker][partition]
    if replica.memory is None or replica.pending is None or replica.memory == replica.pending:
        return ""
    return f"refuses id {TOPIC_IDS.label(replica.pending)}: memory has {TOPIC_IDS.label(replica.memory)}"


@action(by=BROKER, description="handles LeaderAndIsr for partition {partition}", outcome=refusal)
def deliver(cluster: Cluster, broker: Broker, partition: Partition) -> None:
    """A broker takes an id where it has none, agrees where ids are equal, and refuses the request otherwise."""
    replica, znode = cluster.replicas[broker][partition], cluster.partitions[partition]
    require(cluster.up[broker] and replica.pending is not None)
    wanted = replica.pending
    replica.pending = None
    if replica.memory is None:
        replica.memory = replica.disk = wanted
    if replica.memory == wanted:
        znode.isr = znode.isr | {broker}
        return
    if znode.isr != {broker}:
        znode.isr = znode.isr - {broker}
    if znode.leader == broker:
        znode.leader = None


@action(by=FAULT, description="broker {broker} stops")
def stop(cluster: Cluster, broker: Broker) -> None:
    """A broker goes down: memory and requests are lost, the ISR shrinks unless it is the last member."""
    require(cluster.up[broker] and cluster.restarts < RESTARTS)
    cluster.up[broker] = False
    cluster.restarts += 1
    for partition in PARTITIONS:
        cluster.replicas[broker][partition].memory = cluster.replicas[broker][partition].pending = None
        znode = cluster.partitions[partition]
        if len(znode.isr) > 1:
            znode.isr = znode.isr - {broker}
        if znode.leader == broker:
            znode.leader = first_of(znode.isr & live(cluster))
    if cluster.controller == broker:
        forget_controller(cluster)


@action(by=BROKER, description="starts")
def start(cluster: Cluster, broker: Broker) -> None:
    """A broker comes up with the ids of its disk; a controller sends it everything."""
    require(not cluster.up[broker])
    cluster.up[broker] = True
    for partition in PARTITIONS:
        replica = cluster.replicas[broker][partition]
        replica.memory = replica.disk
        if cluster.controller is not None and partition < cluster.context_partitions:
            replica.pending = cluster.context_id


@always(symptom="replicas refuse the controller's requests")
def disk_matches_znode(cluster: Cluster) -> bool:
    """I1: where the znode has an id, every id on disk is that one."""
    return cluster.znode_id is None or all(
        cluster.replicas[broker][partition].disk in (None, cluster.znode_id)
        for broker in BROKERS
        for partition in PARTITIONS
    )


@always(symptom="producers find no leader, and none will be elected")
def leaders_when_settled(cluster: Cluster) -> bool:
    """I2: with all brokers up and no request on its way, every registered partition has a leader."""
    settled = all(
        cluster.up[broker] and cluster.replicas[broker][partition].pending is None
        for broker in BROKERS
        for partition in PARTITIONS
    )
    return not settled or all(
        cluster.partitions[partition].leader is not None
        for partition in PARTITIONS
        if partition < cluster.context_partitions
    )


REFERENCE = Scenario(
    name="topic-id-core",
    story="The reference model: an old client erases the topic id, a new controller mints another, brokers refuse it.",
    state=Cluster,
    initial=one_partition_everywhere,
    actions=(expand, register_partition, controller_fails, elect, stop, start, deliver),
    properties=(disk_matches_znode, leaders_when_settled),
    bounds={"brokers": 3, "partitions": 2, "topic_ids": 3, "failovers": 2, "restarts": 2},
    source="topicid-core: the same model in C, Rust (Stateright), TLA+, Promela and Python, with equal counts",
)
