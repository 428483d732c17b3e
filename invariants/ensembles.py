"""Properties of ZooKeeper's ensemble: what Kafka loses when one breaks, and what must be reachable."""

from __future__ import annotations

from kwalk.model.language import always, premise, reachable, step, when_quiescent
from kwalk.model.zookeeper.ensemble import (
    FIRST_SIZE,
    LAST_SIZE,
    SERVERS,
    Ensemble,
    Process,
    ServerId,
    ServerState,
    Write,
)


@always(
    symptom="two controllers, each with brokers of its own: neither half gets what the other one writes",
    log="LEADING - LEADER ELECTION TOOK … on two servers, neither of which has since logged Shutdown called",
)
def one_leader_is_active(ensemble: Ensemble) -> bool:
    """At most one leader has a quorum that supports it."""
    return sum(server.is_active_leader for server in ensemble.servers) <= 1


@always(
    symptom="servers keep different transactions under one zxid for good: what a client reads depends on its server",
    log="none: LEADING is logged on two servers, and Peer's currentEpoch is the same number on both",
)
def epoch_has_one_leader(ensemble: Ensemble) -> bool:
    """Two active leaders never have the same epoch."""
    epochs = {server.current_epoch for server in ensemble.servers if server.is_active_leader}
    return len(epochs) == sum(server.is_active_leader for server in ensemble.servers)


@always(
    symptom="a topic, an ISR or a controller epoch that was written is as it was before",
    log="Truncating log to get in sync with the leader 0x…; or none: the transaction is on no server of the quorum",
)
def committed_write_is_kept(ensemble: Ensemble, leader: ServerId, write: Write) -> bool:
    """An active leader has every write that was committed in its epoch or in an earlier one."""
    leading = ensemble.servers[leader]
    premise(leading.is_active_leader and 0 < ensemble.committed_in[write] <= leading.current_epoch)
    return any(transaction.write == write for transaction in leading.log)


@always(
    symptom="a server does not start again: its snapshots and logs have to be removed first",
    log="The accepted epoch, … is less than the current epoch, …",
)
def current_epoch_is_accepted(ensemble: Ensemble, server: ServerId) -> bool:
    """A server has accepted the epoch of its history; in a leader or follower that is ready the two are the same."""
    asked = ensemble.servers[server]
    is_same = asked.current_epoch == asked.accepted_epoch
    return is_same or (not asked.is_settled and asked.current_epoch < asked.accepted_epoch)


@always(
    symptom="what a client reads depends on the server that it is connected to",
    log="none: compare the znodes by a client of each server",
)
def follower_has_its_leaders_history(ensemble: Ensemble, server: ServerId, leader: ServerId) -> bool:
    """A follower that serves clients has the beginning of its leader's log, and its leader's epoch."""
    following, leading = ensemble.servers[server], ensemble.servers[leader]
    premise(following.is_settled and following.leader == leader)
    is_beginning = len(following.log) <= len(leading.log) and all(
        position >= len(following.log) or following.log[position] == sent for position, sent in enumerate(leading.log)
    )
    return is_beginning and following.current_epoch == leading.accepted_epoch


@step(
    symptom="two leaders give different transactions the same zxid",
    log="Have quorum of supporters, sids: …; starting up and setting last processed zxid: 0x… with an epoch that was "
    "used before",
)
def new_leader_has_a_new_epoch(before: Ensemble, after: Ensemble, leader: ServerId) -> bool:
    """The epoch of a server that is elected is above all that it and its followers have accepted."""
    premise(before.servers[leader].state is not ServerState.LEADING)
    premise(after.servers[leader].state is ServerState.LEADING)
    return all(
        before.servers[n].accepted_epoch < after.servers[leader].accepted_epoch
        for n in SERVERS
        if n == leader or after.servers[n].leader == leader
    )


@step(
    symptom="a leader serves clients although most servers do not have its history: writes are lost when it fails",
    log="LEADING, and Have quorum of supporters, sids: … with servers that zoo.cfg does not list",
)
def new_leader_has_a_quorum(before: Ensemble, after: Ensemble, leader: ServerId) -> bool:
    """When a leader becomes active, a majority of its configuration has accepted its epoch and has its history."""
    premise(not before.servers[leader].is_active_leader and after.servers[leader].is_active_leader)
    leading = after.servers[leader]
    having = [
        n == leader
        or (server.leader == leader and server.is_settled and server.current_epoch == leading.accepted_epoch)
        for n, server in enumerate(after.servers)
    ]
    return 2 * sum(having[n] for n in SERVERS if n < leading.configuration) > leading.configuration


@when_quiescent(
    symptom="a client waits for the answer to a write until its session ends",
    log="none: the leader has logged the proposal, and no COMMIT is sent",
)
def logged_write_is_committed(ensemble: Ensemble, leader: ServerId, write: Write) -> bool:
    """While no server has failed or was restarted, every write of the leader is committed in the end."""
    leading = ensemble.servers[leader]
    premise(ensemble.crashes + ensemble.disconnections == 0)
    premise(all(s.process is Process.STOPPED or s.configuration == FIRST_SIZE for s in ensemble.servers))
    premise(leading.is_active_leader and any(transaction.write == write for transaction in leading.log))
    return ensemble.committed_in[write] > 0


@always(
    symptom="none yet: an election at this moment can leave the ensemble with two leaders",
    log="none: compare the lists of servers in the zoo.cfg files with which the processes were started",
)
def majorities_intersect(ensemble: Ensemble) -> bool:
    """Every two majorities of configurations with which servers run, or have crashed, have a server in common."""
    present = [server.configuration for server in ensemble.servers if server.process is not Process.STOPPED]
    smallest, largest = min(present, default=0), max(present, default=0)
    return smallest // 2 + 1 + largest // 2 + 1 > largest


@when_quiescent(
    symptom="brokers lose their sessions: no controller is elected, and no leader of a partition",
    log="Not sufficient followers synced, only synced with sids: …; then notifications without end",
)
def service_is_available(ensemble: Ensemble) -> bool:
    """While all servers run there is an active leader, and without faults also while the operator restarts one."""
    premise(all(server.process is not Process.CRASHED for server in ensemble.servers))
    premise(ensemble.restarting is None or ensemble.crashes + ensemble.disconnections == 0)
    return any(server.is_active_leader for server in ensemble.servers)


@when_quiescent(
    symptom="one server fails, and brokers lose their sessions although others run",
    log="Not sufficient followers synced, only synced with sids: …; then notifications without end",
)
def crash_is_tolerated(ensemble: Ensemble) -> bool:
    """With one server down there is an active leader, unless it was the operator who stopped another one just now."""
    premise(sum(server.process is Process.CRASHED for server in ensemble.servers) == 1)
    premise(ensemble.restarting is None)
    return any(server.is_active_leader for server in ensemble.servers)


@reachable()
def change_is_rolled_out(ensemble: Ensemble) -> bool:
    """Every server that is to run has the last configuration, and follows or leads; a write was committed."""
    running = [server.process is Process.RUNNING for server in ensemble.servers]
    settled = [
        server.process is Process.STOPPED or (server.configuration == LAST_SIZE and server.is_settled)
        for server in ensemble.servers
    ]
    return all(settled) and sum(running) == LAST_SIZE and ensemble.committed_in[0] > 0


@reachable()
def leader_changes(ensemble: Ensemble) -> bool:
    """A leader of a later epoch is active."""
    return any(server.is_active_leader and server.current_epoch > 1 for server in ensemble.servers)
