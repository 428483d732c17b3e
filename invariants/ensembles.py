"""Properties of ZooKeeper's ensemble: what Kafka loses when one breaks, and what must be reachable."""
from __future__ import annotations

from kwalk.model.language import always, premise, reachable, when_quiescent
from kwalk.model.zookeeper.ensemble import LAST_SIZE, Ensemble, Process, ServerId, Write


@always(
    symptom="two controllers, each with brokers of its own: what one half writes the other half never sees",
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
