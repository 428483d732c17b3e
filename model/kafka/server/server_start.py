"""KafkaServer.startup: a start that fails, as a log cannot be loaded, or a port is taken; and the stop that it begins.

The process ends when its last thread does that holds it up.

What the model leaves out, and why its story loses nothing by it: the other parts of a broker, whose threads end with
it, and what the log cannot be loaded for.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import QUOTAS_END_WITH_THE_SERVER, UNSTARTED_PROCESSORS_END
from kwalk.model.language import Actor, action, choice, flag, require, state

BROKER = Actor("broker")


class StartPhase(Enum):
    """How far a start is."""

    BEGINS = "nothing is started"
    QUOTAS = "its quotas have threads"
    LOGS = "its logs are loaded"
    RUNS = "it runs"
    FAILED = "it has failed, and stops"
    STOPPED = "it has stopped"


@state
class StartingServer:
    """The broker: its phase, whether threads of quotas run, and whether its network was begun, and has no threads."""

    phase: StartPhase = choice(StartPhase)
    has_quota_threads: bool = flag()
    is_half_begun: bool = flag()


@action(by=BROKER, description="begins its quotas", source="QuotaFactory.instantiate: ThrottledRequestReaper")
def begin_quotas(server: StartingServer) -> None:
    """Each kind of quota has a thread."""
    require(server.phase is StartPhase.BEGINS)
    server.phase = StartPhase.QUOTAS
    server.has_quota_threads = True


@action(by=BROKER, description="loads its logs", source="LogManager.loadLogs")
def load_server_logs(server: StartingServer, is_damaged: bool) -> None:
    """A log that cannot be loaded fails the start."""
    require(server.phase is StartPhase.QUOTAS)
    server.phase = StartPhase.FAILED if is_damaged else StartPhase.LOGS


@action(by=BROKER, description="opens its port", source="SocketServer.startup; Acceptor")
def open_port(server: StartingServer, is_taken: bool) -> None:
    """Where the port is taken, the processors of the network are there, and do not run."""
    require(server.phase is StartPhase.LOGS)
    server.phase = StartPhase.FAILED if is_taken else StartPhase.RUNS
    server.is_half_begun = is_taken


@action(by=BROKER, description="stops, as its start has failed", source="KafkaServer.shutdown; KafkaApis.close")
def stop_failed(server: StartingServer) -> None:
    """Up to 0.10.1 the stop waited for processors that do not run; up to 1.0.0, KafkaApis ended the quotas."""
    require(server.phase is StartPhase.FAILED and (not server.is_half_begun or bool(UNSTARTED_PROCESSORS_END)))
    server.phase = StartPhase.STOPPED
    server.has_quota_threads = not QUOTAS_END_WITH_THE_SERVER
