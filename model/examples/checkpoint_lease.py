"""Checkpoint coordination: the leader of a replicated log gives one replica at a time a lease to take a checkpoint.

Words: the *log* is replicated by Paxos, which is not modelled: an entry has one value, and a replica has it or misses
it. An entry names the replica that may take the next checkpoint: its *lease*, which has the number of the entry. A
replica *executes* entries in order. Leases *expire* in order, everywhere at once. A vote reports the last checkpoint to
the leader. A replica that takes a checkpoint executes nothing meanwhile and is not elected.

Source: A. Helwer, tlaplus/Examples, specifications/CheckpointCoordination/CheckpointCoordination.tla; the protocol of
github.com/Azure/RingMaster. Counts, printed by TLC without symmetry: 6,960 distinct states, 88,663 generated, depth 23
for two nodes and MaxLog = 3; 204,224, 5,049,541 and 20 for three and 2. The state constraint is `log_has_room`: TLC
generates the steps that it cuts, here they are hits of it; and an expiry once for each replica that has the entry, a
lease once for each reason to replace the last. Entries are numbered from 1 there, from 0 here.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Flag,
    Scenario,
    action,
    action_constraint,
    always,
    array,
    flag,
    member,
    optional,
    reachable,
    require,
    state,
    subset,
    value,
)

NODES = Domain("nodes", "replicas")
NUMBERS = Domain("numbers", "numbers of entries of the log, of which the last one stays open")
MAJORITY = Bound("majority", "replicas that are a majority")
HASTY = Flag("hasty", "whether a new leader replaces its own lease at once, an optimization that is wrong")

NodeId = Annotated[int, NODES]

NODE = Actor("replica", of=NODES)
FAULT = Actor("fault", system=False)


@value
class Lease:
    """The right to take a checkpoint: whose it is, and the entry that gave it."""

    node: int = member(NODES)
    number: int = member(NUMBERS)


@state
class Replica:
    """One replica: the log is on disk, the rest is lost when it fails."""

    up: bool = flag(default=True)
    log: Array[int | None] = array(NUMBERS, optional(NODES))
    executed: int = member(NUMBERS)
    voted: int = member(NUMBERS)
    lease: Lease | None = optional(Lease)
    can_checkpoint: bool = flag()
    is_checkpointing: bool = flag()

    @property
    def is_busy(self) -> bool:
        """Whether it can take a checkpoint or takes one."""
        return self.can_checkpoint or self.is_checkpointing

    def lose_memory(self) -> None:
        """What a failure and a recovery have in common."""
        self.voted, self.lease, self.can_checkpoint, self.is_checkpointing = 0, None, False, False


@state
class Cluster:
    """All replicas, the network, and the newest checkpoint: entries below a number."""

    nodes: Array[Replica] = array(NODES, Replica)
    paths: Array[frozenset[int]] = array(NODES, subset(NODES, full=True))
    leader: int | None = optional(NODES)
    expired: int = member(NUMBERS)
    checkpoint: int = member(NUMBERS)
    checkpoint_log: Array[int | None] = array(NUMBERS, optional(NODES))


def reaches(cluster: Cluster, source: int, target: int) -> bool:
    """ConnectedOneWay: both are up, and messages arrive."""
    return cluster.nodes[source].up and cluster.nodes[target].up and target in cluster.paths[source]


def connected(cluster: Cluster, one: int, other: int) -> bool:
    """Messages arrive in both directions."""
    return reaches(cluster, one, other) and reaches(cluster, other, one)


def has_quorum(cluster: Cluster, leader: int) -> bool:
    """HaveQuorumFrom: a leader is connected with a majority, itself included."""
    return cluster.nodes[leader].up and len({n for n in NODES if connected(cluster, leader, n)}) >= MAJORITY


def first_open(cluster: Cluster) -> int:
    """FirstOpenIndex: the first entry that no replica has."""
    return next(number for number in NUMBERS if all(replica.log[number] is None for replica in cluster.nodes))


@action_constraint()
def log_has_room(before: Cluster, after: Cluster) -> bool:
    """StateConstraint: an entry is open after the step, too."""
    return any(all(replica.log[number] is None for replica in after.nodes) for number in NUMBERS)


@action(by=FAULT, description="stops replica {node}", source="NodeFailure")
def fail(cluster: Cluster, node: NodeId) -> None:
    """All but the log is lost."""
    replica = cluster.nodes[node]
    replica.up, replica.executed = False, 0
    replica.lose_memory()
    cluster.leader = None if cluster.leader == node else cluster.leader


@action(by=NODE, description="starts again", source="NodeRecovery")
def recover(cluster: Cluster, node: NodeId) -> None:
    """From the newest checkpoint, then from its own log."""
    replica = cluster.nodes[node]
    require(not replica.up)
    for entry in NUMBERS:
        if entry < cluster.checkpoint:
            replica.log[entry] = cluster.checkpoint_log[entry]
    replica.up, replica.executed = True, cluster.checkpoint
    replica.lose_memory()


@action(by=FAULT, description="interrupts the network from {source} to {target}", source="NetworkFailure")
def interrupt(cluster: Cluster, source: NodeId, target: NodeId) -> None:
    """In one direction."""
    require(source != target)
    cluster.paths[source] = cluster.paths[source] - {target}


@action(by=FAULT, description="repairs the network from {source} to {target}", source="NetworkRecovery")
def repair(cluster: Cluster, source: NodeId, target: NodeId) -> None:
    """In one direction."""
    cluster.paths[source] = cluster.paths[source] | {target}


@action(by=NODE, description="is elected", source="ElectLeader")
def elect(cluster: Cluster, node: NodeId) -> None:
    """The leader has executed the whole log, and takes no checkpoint."""
    replica = cluster.nodes[node]
    require(cluster.leader is None and has_quorum(cluster, node))
    require(not replica.is_checkpointing and replica.executed == first_open(cluster))
    cluster.leader, replica.can_checkpoint = node, False


def should_replace(cluster: Cluster, leader: int, lease: Lease | None) -> bool:
    """ShouldReplaceLease: the lease has expired, or its holder has reported a checkpoint."""
    if lease is None or lease.number < cluster.expired or (lease.node == leader if HASTY else False):
        return True
    return connected(cluster, leader, lease.node) and lease.number < cluster.nodes[lease.node].voted


@action(by=NODE, description="as the leader, gives the lease to {prospect}", source="SendReplicatedRequest")
def give_lease(cluster: Cluster, node: NodeId, prospect: NodeId) -> None:
    """By the first open entry of the log, which reaches a majority and perhaps more."""
    leader, entry = cluster.nodes[node], first_open(cluster)
    require(cluster.leader == node and has_quorum(cluster, node) and node != prospect)
    require(connected(cluster, node, prospect) and should_replace(cluster, node, leader.lease))
    for other, replica in enumerate(cluster.nodes):
        if reaches(cluster, node, other):
            replica.log[entry] = prospect
    leader.lease = Lease(node=prospect, number=entry)


@action(by=NODE, description="sends what {target} has missed", source="PropagateReplicatedRequest")
def propagate(cluster: Cluster, source: NodeId, target: NodeId) -> None:
    """Entries that the other has are the same."""
    require(reaches(cluster, source, target))
    for entry in NUMBERS:
        if cluster.nodes[target].log[entry] is None:
            cluster.nodes[target].log[entry] = cluster.nodes[source].log[entry]


@action(by=NODE, description="executes the next entry of its log", source="ProcessReplicatedRequest")
def execute(cluster: Cluster, node: NodeId) -> None:
    """The replica that the entry names may take a checkpoint, unless it leads or the lease has expired."""
    replica = cluster.nodes[node]
    number, request = replica.executed, replica.log[replica.executed]
    require(replica.up and not replica.is_checkpointing and request is not None)
    assert request is not None
    has_expired, leads = number < cluster.expired, cluster.leader == node
    replica.can_checkpoint = not leads and request == node and not has_expired
    if not leads:
        replica.lease = None if has_expired else Lease(node=request, number=number)
    replica.executed += 1


@action(by=NODE, description="begins a checkpoint", source="StartCheckpoint")
def begin_checkpoint(cluster: Cluster, node: NodeId) -> None:
    """If it believes that it may."""
    require(cluster.nodes[node].can_checkpoint)
    cluster.nodes[node].is_checkpointing = True


@action(by=NODE, description="finishes its checkpoint", source="FinishCheckpoint")
def finish_checkpoint(cluster: Cluster, node: NodeId) -> None:
    """The lease ends with it."""
    replica = cluster.nodes[node]
    require(replica.is_checkpointing)
    for entry in NUMBERS:
        cluster.checkpoint_log[entry] = replica.log[entry] if entry < replica.executed else None
    cluster.checkpoint = replica.executed
    replica.lose_memory()
    replica.voted = replica.executed


@action(by=FAULT, description="lets the oldest lease expire", source="TriggerTimeout")
def expire(cluster: Cluster) -> None:
    """On all replicas at once: one whose clock is too far off is removed from the cluster."""
    require(any(replica.log[cluster.expired] is not None for replica in cluster.nodes))
    for replica in cluster.nodes:
        has_time = replica.lease is not None and replica.lease.number > cluster.expired
        replica.can_checkpoint = replica.can_checkpoint and has_time
        replica.is_checkpointing = replica.is_checkpointing and has_time
    cluster.expired += 1


@always(symptom="the cluster has no replica that is up to date")
def leader_takes_no_checkpoint(cluster: Cluster, node: NodeId) -> bool:
    """The leader continues to serve."""
    return cluster.leader != node or not cluster.nodes[node].is_busy


@always(symptom="two replicas serve nothing at the same time")
def leader_knows_the_holder(cluster: Cluster, node: NodeId, holder: NodeId) -> bool:
    """Who can take a checkpoint has the lease that the leader knows."""
    lease, is_busy = cluster.nodes[node].lease, cluster.nodes[holder].is_busy
    return cluster.leader != node or not is_busy or (lease is not None and lease.node == holder)


@always(symptom="two replicas serve nothing at the same time")
def one_checkpoint_at_a_time(cluster: Cluster) -> bool:
    """At most one replica can take a checkpoint, and at most one takes one."""
    return sum(n.can_checkpoint for n in cluster.nodes) <= 1 and sum(n.is_checkpointing for n in cluster.nodes) <= 1


@always()
def holder_has_a_valid_lease(cluster: Cluster, node: NodeId) -> bool:
    """Who takes a checkpoint can; who can has a lease that has not expired."""
    replica, lease = cluster.nodes[node], cluster.nodes[node].lease
    is_valid = lease is not None and lease.node == node and lease.number >= cluster.expired
    return (not replica.is_checkpointing or replica.can_checkpoint) and (not replica.can_checkpoint or is_valid)


@always()
def logs_do_not_conflict(cluster: Cluster) -> bool:
    """Two replicas that have an entry have the same."""
    logs = [replica.log for replica in cluster.nodes]
    return all(len({log[number] for log in logs if log[number] is not None}) <= 1 for number in NUMBERS)


@reachable()
def checkpoint_is_taken(cluster: Cluster) -> bool:
    """A checkpoint can be finished."""
    return cluster.checkpoint > 0


CHECKPOINT_LEASE = Scenario(
    name="checkpoint-lease",
    story="The leader of a replicated log gives one replica at a time the right to take a checkpoint; all may fail.",
    state=Cluster,
    actions=(
        fail,
        recover,
        interrupt,
        repair,
        elect,
        give_lease,
        propagate,
        execute,
        begin_checkpoint,
        finish_checkpoint,
        expire,
    ),
    properties=(
        leader_takes_no_checkpoint,
        leader_knows_the_holder,
        one_checkpoint_at_a_time,
        holder_has_a_valid_lease,
        logs_do_not_conflict,
        checkpoint_is_taken,
    ),
    constraints=(log_has_room,),
    bounds={"nodes": 3, "numbers": 2, "majority": 2},
    variants={"published": {"hasty": False}, "hasty": {"hasty": True}},
    source="tlaplus/Examples specifications/CheckpointCoordination/CheckpointCoordination.tla",
)
