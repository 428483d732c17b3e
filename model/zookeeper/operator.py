"""What clients, an operator and faults do to an ensemble: writes, restarts with another zoo.cfg, crashes."""

from __future__ import annotations

from kwalk.model.language import Mark, action, require
from kwalk.model.zookeeper.ensemble import (
    CLIENT,
    CRASHES,
    DISCONNECTIONS,
    EDITS,
    FAULT,
    FIRST_SIZE,
    LAST_SIZE,
    LEADER_LAST,
    NEW_FIRST_LEAVING_LAST,
    ONE_AT_A_TIME,
    OPERATOR,
    SERVERS,
    WAITS,
    WRITES,
    Ensemble,
    Process,
    ServerId,
    ServerState,
    Transaction,
)
from kwalk.model.zookeeper.zab import end_process, give_up_without_quorum


@action(by=CLIENT, description="writes through leader {leader}", source="Leader.propose")
def write(ensemble: Ensemble, leader: ServerId) -> None:
    """The leader logs the transaction and proposes it to its followers."""
    leading = ensemble.servers[leader]
    require(leading.is_active_leader and ensemble.written < len(WRITES))
    earlier = sum(transaction.epoch == leading.current_epoch for transaction in leading.log)
    leading.log.push(Transaction(epoch=leading.current_epoch, counter=earlier + 1, write=ensemble.written))
    ensemble.written += 1


def may_proceed(ensemble: Ensemble) -> bool:
    """Whether the operator takes the next step: it has been checked that all servers but stopped ones are settled."""
    return not WAITS or all(s.process is Process.STOPPED or s.is_settled for s in ensemble.servers)


def is_rolled_out(ensemble: Ensemble) -> bool:
    """Whether all servers run with the configuration that is being rolled out, and the others are stopped."""
    return all(
        ensemble.servers[n].process is not Process.STOPPED and ensemble.servers[n].configuration == ensemble.size
        if n < ensemble.size
        else ensemble.servers[n].process is Process.STOPPED
        for n in SERVERS
    )


@action(by=OPERATOR, description="begins to roll out the next configuration")
def edit_configurations(ensemble: Ensemble) -> None:
    """Edit zoo.cfg on all servers; a process reads it when it starts."""
    require(bool(EDITS) and ensemble.size != LAST_SIZE and is_rolled_out(ensemble) and may_proceed(ensemble))
    if not ONE_AT_A_TIME:
        ensemble.size = LAST_SIZE
    elif FIRST_SIZE < LAST_SIZE:
        ensemble.size += 1
    else:
        ensemble.size -= 1


@action(by=OPERATOR, description="stops server {server}")
def stop(ensemble: Ensemble, server: ServerId) -> None:
    """Stop a server to restart it with another configuration, or for good if it is to leave."""
    stopped = ensemble.servers[server]
    require(stopped.process is Process.RUNNING and ensemble.restarting is None and may_proceed(ensemble))
    leaves = server >= (ensemble.size if EDITS else LAST_SIZE)
    require(leaves or stopped.configuration != ensemble.size)
    others = [ensemble.servers[n] for n in SERVERS if n < ensemble.size and n != server]
    have_restarted = all(other.configuration == ensemble.size for other in others)
    if NEW_FIRST_LEAVING_LAST:
        require(have_restarted if leaves else all(other.process is Process.RUNNING for other in others))
    if LEADER_LAST and stopped.state is ServerState.LEADING:
        require(leaves or have_restarted)
    end_process(ensemble, server, Process.STOPPED)
    if not leaves:
        ensemble.restarting = server


@action(by=OPERATOR, description="starts server {server}", mark=Mark.START)
def start(ensemble: Ensemble, server: ServerId) -> None:
    """Start a server with the new configuration: the one that was stopped, or a new one with an empty disk."""
    started = ensemble.servers[server]
    require(bool(EDITS) and started.process is Process.STOPPED and server < ensemble.size)
    require(ensemble.restarting == server or (ensemble.restarting is None and may_proceed(ensemble)))
    started.process, started.configuration = Process.RUNNING, ensemble.size
    ensemble.restarting = None


@action(by=FAULT, description="crashes server {server}", mark=Mark.CRASH)
def crash(ensemble: Ensemble, server: ServerId) -> None:
    """The process dies; its disk is kept."""
    require(ensemble.servers[server].process is Process.RUNNING and ensemble.crashes < CRASHES)
    ensemble.crashes += 1
    end_process(ensemble, server, Process.CRASHED)


@action(by=FAULT, description="lets server {server} run again", mark=Mark.START)
def recover(ensemble: Ensemble, server: ServerId) -> None:
    """The process starts again with the configuration that it had."""
    require(ensemble.servers[server].process is Process.CRASHED)
    ensemble.servers[server].process = Process.RUNNING


@action(by=FAULT, description="cuts server {server} off its leader")
def disconnect(ensemble: Ensemble, server: ServerId) -> None:
    """The follower looks for a leader again: a pause longer than syncLimit, a network that fails for a moment."""
    leader = ensemble.servers[server].leader
    require(leader is not None and ensemble.disconnections < DISCONNECTIONS)
    assert leader is not None
    ensemble.disconnections += 1
    ensemble.servers[server].look()
    give_up_without_quorum(ensemble, leader)
