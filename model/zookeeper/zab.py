"""Elections, epochs and transactions: what ZooKeeper's servers do by themselves (Zab).

The grain: the votes of one election are one step, of the servers that finish it together; what a leader reads in their
FOLLOWERINFO belongs to it. A leader without enough followers gives up at once, and so do followers without a leader.
A server that joins an active leader gets its history in the same step.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import action, require, subset
from kwalk.model.zookeeper.ensemble import (
    EPOCHS,
    SERVER,
    SERVERS,
    WRITES,
    Ensemble,
    Phase,
    Process,
    Server,
    ServerId,
    ServerState,
    Transaction,
    is_acknowledged,
    is_quorum,
)

Servers = Annotated[frozenset[int], subset(SERVERS)]


def rank(ensemble: Ensemble, server: int) -> int:
    """What votes are ordered by: current epoch, last zxid, id (ZooKeeper: FastLeaderElection.totalOrderPredicate)."""
    voted = ensemble.servers[server]
    return (voted.current_epoch * (EPOCHS + 1) * len(WRITES) * 2 + voted.last_zxid) * len(SERVERS) + server


@action(
    by=SERVER,
    description="is elected by servers {voters}",
    source="FastLeaderElection.lookForLeader, termPredicate; Leader.getEpochToPropose",
)
def elect(ensemble: Ensemble, leader: ServerId, voters: Servers) -> None:
    """Each voter has heard a majority of its own configuration vote for the leader, which none of them surpasses.

    The leader's epoch is one more than the highest that one of them has accepted.
    """
    require(leader in voters and all(ensemble.servers[n].is_looking for n in sorted(voters)))
    require(all(leader < ensemble.servers[n].configuration for n in sorted(voters)))
    require(all(is_quorum(ensemble.servers[n].configuration, voters) for n in sorted(voters)))
    require(all(rank(ensemble, n) <= rank(ensemble, leader) for n in sorted(voters)))
    highest = max(ensemble.servers[n].accepted_epoch if n in voters else 0 for n in SERVERS)
    for n in sorted(voters):
        ensemble.servers[n].state, ensemble.servers[n].leader = ServerState.FOLLOWING, leader
    elected = ensemble.servers[leader]
    elected.state, elected.phase, elected.leader = ServerState.LEADING, Phase.SYNCHRONIZATION, None
    elected.accepted_epoch = highest + 1


@action(
    by=SERVER,
    description="joins leader {leader}",
    source="FastLeaderElection.lookForLeader; Learner.registerWithLeader; LearnerHandler.run; Leader.startForwarding",
)
def join(ensemble: Ensemble, server: ServerId, leader: ServerId) -> None:
    """A majority of the server's own configuration follow or lead; an active leader sends it its history at once.

    That has the proposals that are not committed yet; the server acknowledges them like any other.
    """
    joining, leading = ensemble.servers[server], ensemble.servers[leader]
    require(joining.is_looking and leading.state is ServerState.LEADING and leader < joining.configuration)
    require(is_quorum(joining.configuration, ensemble.supporters(leader, Phase.DISCOVERY)))
    require(joining.accepted_epoch <= leading.accepted_epoch)
    require(is_epoch_settled(leading) or rank(ensemble, server) <= rank(ensemble, leader))
    joining.state, joining.leader = ServerState.FOLLOWING, leader
    if leading.phase is Phase.BROADCAST:
        joining.accepted_epoch = leading.accepted_epoch
        take_history(ensemble, server)
        commit(ensemble, leader)


def is_epoch_settled(leading: Server) -> bool:
    """Whether a quorum has accepted the leader's epoch, so that it is the leader's current epoch too."""
    return leading.current_epoch == leading.accepted_epoch


@action(
    by=SERVER,
    description="accepts its leader's epoch",
    source="Learner.registerWithLeader; Leader.waitForEpochAck",
)
def accept_epoch(ensemble: Ensemble, server: ServerId) -> None:
    """It never accepts an epoch twice; with a quorum's ACKEPOCH the epoch is the leader's current one."""
    accepting = ensemble.servers[server]
    require(accepting.state is ServerState.FOLLOWING and accepting.phase is Phase.DISCOVERY)
    leader = accepting.leader
    assert leader is not None
    leading = ensemble.servers[leader]
    require(accepting.accepted_epoch < leading.accepted_epoch)
    accepting.accepted_epoch, accepting.phase = leading.accepted_epoch, Phase.SYNCHRONIZATION
    if is_acknowledged(leading, ensemble.supporters(leader, Phase.SYNCHRONIZATION)):
        leading.current_epoch = leading.accepted_epoch


@action(
    by=SERVER,
    description="takes its leader's history",
    source="LearnerHandler.syncFollower; Learner.syncWithLeader; Leader.waitForNewLeaderAck",
)
def synchronize(ensemble: Ensemble, server: ServerId) -> None:
    """With the NEWLEADER acknowledgements of a quorum the leader becomes active, and all it has is committed."""
    follower = ensemble.servers[server]
    require(follower.state is ServerState.FOLLOWING and follower.phase is not Phase.BROADCAST)
    leader = follower.leader
    assert leader is not None
    leading = ensemble.servers[leader]
    require(is_epoch_settled(leading) and follower.accepted_epoch == leading.accepted_epoch)
    take_history(ensemble, server)
    if is_acknowledged(leading, ensemble.supporters(leader, Phase.BROADCAST)):
        leading.phase = Phase.BROADCAST
        commit(ensemble, leader)


def take_history(ensemble: Ensemble, server: int) -> None:
    """Make the log that of the leader; transactions with equal zxids are taken for equal, and not sent again."""
    follower = ensemble.servers[server]
    leader = follower.leader
    assert leader is not None
    leading = ensemble.servers[leader]
    follower.log = [follower.log[i] if has_zxid(follower, i, sent) else sent for i, sent in enumerate(leading.log)]
    follower.current_epoch, follower.phase = leading.accepted_epoch, Phase.BROADCAST


def has_zxid(server: Server, position: int, sent: Transaction) -> bool:
    """Whether the server's transaction in a position has the zxid of another one."""
    if position >= len(server.log):
        return False
    return server.log[position].epoch == sent.epoch and server.log[position].counter == sent.counter


@action(
    by=SERVER,
    description="logs the next transaction of its leader, and acknowledges it",
    source="SendAckRequestProcessor.processRequest; Leader.processAck, tryToCommit",
)
def acknowledge(ensemble: Ensemble, server: ServerId) -> None:
    """A transaction that enough servers have acknowledged is committed, and the client gets its answer."""
    follower = ensemble.servers[server]
    require(follower.state is ServerState.FOLLOWING and follower.phase is Phase.BROADCAST)
    leader = follower.leader
    assert leader is not None
    leading = ensemble.servers[leader]
    require(len(follower.log) < len(leading.log))
    follower.log.push(leading.log[len(follower.log)])
    if leading.is_active_leader:
        commit(ensemble, leader)


def commit(ensemble: Ensemble, leader: int) -> None:
    """Commit all transactions that enough supporters of the leader have."""
    leading = ensemble.servers[leader]
    supporters = ensemble.supporters(leader, Phase.BROADCAST)
    for position, transaction in enumerate(leading.log):
        having = frozenset(n for n in SERVERS if n in supporters and len(ensemble.servers[n].log) > position)
        if is_acknowledged(leading, having):
            earlier = ensemble.committed_in[transaction.write]
            ensemble.committed_in[transaction.write] = max(earlier, leading.current_epoch)


@action(
    by=SERVER,
    description="gives up, as too few servers have accepted its epoch",
    source="Leader.waitForEpochAck, waitForNewLeaderAck",
)
def give_up_waiting(ensemble: Ensemble, leader: ServerId) -> None:
    """After initLimit, if none of its followers will do more: they had accepted that epoch of another leader before."""
    leading = ensemble.servers[leader]
    require(leading.state is ServerState.LEADING and leading.phase is Phase.SYNCHRONIZATION)
    require(not is_epoch_settled(leading))
    require(all(s.leader != leader or s.accepted_epoch == leading.accepted_epoch for s in ensemble.servers))
    give_up(ensemble, leader)


def end_process(ensemble: Ensemble, server: int, process: Process) -> None:
    """The process ends; what it had to do with others ends too."""
    leader = ensemble.servers[server].leader
    ensemble.servers[server].process = process
    if ensemble.servers[server].state is ServerState.LEADING:
        give_up(ensemble, server)
    ensemble.servers[server].look()
    if leader is not None:
        give_up_without_quorum(ensemble, leader)


def give_up_without_quorum(ensemble: Ensemble, leader: int) -> None:
    """A leader whose followers are too few stops leading (ZooKeeper: Leader.lead)."""
    if not is_acknowledged(ensemble.servers[leader], ensemble.supporters(leader, Phase.DISCOVERY)):
        give_up(ensemble, leader)


def give_up(ensemble: Ensemble, leader: int) -> None:
    """The leader and its followers look for a leader."""
    for server in ensemble.servers:
        if server.leader == leader:
            server.look()
    ensemble.servers[leader].look()
