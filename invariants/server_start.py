"""Properties of a start that fails."""

from __future__ import annotations

from kwalk.model.kafka.server.server_start import StartingServer, StartPhase
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(symptom="a broker whose port is taken hangs, and does not end", log="none")
def failed_start_stops(server: StartingServer) -> bool:
    """A broker that cannot start stops."""
    return server.phase in (StartPhase.RUNS, StartPhase.STOPPED)


@always(symptom="the process of a broker stays, which could not load a log", log="none")
def stopped_server_has_no_threads(server: StartingServer) -> bool:
    """No thread holds up the process of a broker that has stopped."""
    premise(server.phase is StartPhase.STOPPED)
    return not server.has_quota_threads


@always(symptom="a broker runs without quotas", log="none")
def running_server_has_quotas(server: StartingServer) -> bool:
    """A broker that runs has all its parts, and one that begins has none."""
    premise(server.phase in (StartPhase.RUNS, StartPhase.BEGINS))
    return server.has_quota_threads == (server.phase is StartPhase.RUNS) and not server.is_half_begun


@step(symptom="a part of a broker starts before another one that it needs", log="none")
def parts_start_in_order(before: StartingServer, after: StartingServer) -> bool:
    """Quotas come first, then logs, then the network; a start that fails stops."""
    if after.phase is StartPhase.QUOTAS:
        return before.phase is StartPhase.BEGINS
    if after.phase is StartPhase.LOGS:
        return before.phase is StartPhase.QUOTAS
    if after.phase is StartPhase.RUNS:
        return before.phase is StartPhase.LOGS
    if after.phase is StartPhase.FAILED:
        return before.phase in (StartPhase.QUOTAS, StartPhase.LOGS)
    return before.phase is StartPhase.FAILED and after.phase is StartPhase.STOPPED


@reachable()
def log_is_damaged(server: StartingServer) -> bool:
    """A start has failed before the network was begun."""
    return server.phase is StartPhase.FAILED and not server.is_half_begun


@reachable()
def port_is_taken(server: StartingServer) -> bool:
    """A start has failed as the network was begun."""
    return server.phase is StartPhase.FAILED and server.is_half_begun


@reachable()
def server_runs(server: StartingServer) -> bool:
    """A start has succeeded."""
    return server.phase is StartPhase.RUNS
