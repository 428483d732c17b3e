"""The state of an ensemble: its servers, what their zoo.cfg files list, and what a client has been promised.

Words: a server's *configuration* is the list `server.1`, `server.2`, … of the zoo.cfg with which its process started;
it never changes while the process runs. A configuration of n servers lists the first n, so that n identifies it.
A *quorum* is a majority of a configuration. An *active* leader has had its epoch acknowledged by a quorum (NEWLEADER)
and serves clients. Its *supporters* are itself and the followers that have got so far.

What no action can observe is reset to its default, so that equivalent ensembles are equal states.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Flag,
    array,
    choice,
    fifo,
    member,
    number,
    optional,
    state,
    value,
)

SERVERS = Domain("servers", "servers that can ever run, by their ids", label=lambda n: str(n + 1))
WRITES = Domain("writes", "writes that clients make", label=lambda n: f"write {n + 1}")
EPOCHS = Bound("epochs", "highest epoch", minimum=1)
FIRST_SIZE = Bound("first_size", "servers, the first ones, that the ensemble has at the beginning", minimum=1)
LAST_SIZE = Bound("last_size", "servers, the first ones, that it is to have at the end", minimum=1)
CRASHES = Bound("crashes", "how often a server crashes", default=0)
DISCONNECTIONS = Bound("disconnections", "how often a follower loses the connection with its leader", default=0)

ServerId = Annotated[int, SERVERS]
Write = Annotated[int, WRITES]

SERVER = Actor("server", of=SERVERS)
CLIENT = Actor("client", system=False)
OPERATOR = Actor("operator", system=False)
FAULT = Actor("fault", system=False)

COUNTS_MEMBERS = Flag(
    "counts_members",
    "a leader counts the acknowledgements of the servers in its configuration only (3.5: SyncedLearnerTracker.addAck; "
    "ZOOKEEPER-2959); 3.4.9 counts those of every follower that has connected",
)
WAITS = Flag("waits", "before each step the operator waits until every server runs and is a leader or a follower")
NEW_FIRST_LEAVING_LAST = Flag(
    "new_first_leaving_last",
    "servers that are new start before the others are restarted, and servers that leave stop after all others were",
)
LEADER_LAST = Flag("leader_last", "the leader is the last server to be restarted")
ONE_AT_A_TIME = Flag(
    "one_at_a_time", "configurations list one server more, or one less, on all servers before the next change"
)
EDITS = Flag("edits", "the operator edits zoo.cfg on all servers; if not, servers are just stopped")

VARIANTS = {"3.5.9": {"counts_members": True}, "3.4.9": {"counts_members": False}}


class Process(Enum):
    """Whether a server's process runs; STOPPED by the operator, or never started."""

    RUNNING = "running"
    STOPPED = "stopped"
    CRASHED = "crashed"


class ServerState(Enum):
    """What a running server does (Kafka's clients can connect to a leader and to a follower)."""

    LOOKING = "LOOKING"
    FOLLOWING = "FOLLOWING"
    LEADING = "LEADING"


class Phase(Enum):
    """How far a server is with its leader, in the words of Zab.

    A follower in DISCOVERY has connected, in SYNCHRONIZATION it has accepted the epoch (ACKEPOCH), in BROADCAST it has
    the leader's history (NEWLEADER acknowledged). A leader in BROADCAST is active.
    """

    DISCOVERY = "discovery"
    SYNCHRONIZATION = "synchronization"
    BROADCAST = "broadcast"


@value
class Transaction:
    """A transaction in a log: its zxid, which is `epoch` and `counter`, and the write that it is."""

    epoch: int = number(0, EPOCHS)
    counter: int = number(0, WRITES.bound)
    write: int = member(WRITES)


@state
class Server:
    """A server: its process, its zoo.cfg (the first `configuration` servers), and what is on its disk.

    `accepted_epoch` is the file acceptedEpoch, `current_epoch` the file currentEpoch.
    """

    process: Process = choice(Process)
    configuration: int = number(0, SERVERS.bound)
    state: ServerState = choice(ServerState)
    phase: Phase = choice(Phase)
    leader: int | None = optional(SERVERS)
    accepted_epoch: int = number(0, EPOCHS)
    current_epoch: int = number(0, EPOCHS)
    log: Fifo[Transaction] = fifo(Transaction, WRITES.bound)

    @property
    def is_looking(self) -> bool:
        """Whether it takes part in an election."""
        return self.process is Process.RUNNING and self.state is ServerState.LOOKING

    @property
    def is_active_leader(self) -> bool:
        """Whether it serves clients as the leader."""
        return self.state is ServerState.LEADING and self.phase is Phase.BROADCAST

    @property
    def is_settled(self) -> bool:
        """Whether `zkServer.sh status` says `Mode: leader` or `Mode: follower`."""
        return self.state is not ServerState.LOOKING and self.phase is Phase.BROADCAST

    @property
    def last_zxid(self) -> int:
        """The zxid of its last transaction, as one number; 0 if there is none."""
        return self.log[-1].epoch * len(WRITES) * 2 + self.log[-1].counter if len(self.log) else 0

    def look(self) -> None:
        """Leave leader or followers, and look for a leader."""
        self.state, self.phase, self.leader = ServerState.LOOKING, Phase.DISCOVERY, None


@state
class Ensemble:
    """The servers, the operator's progress, and how much of each budget is spent.

    `size` is how many servers the configurations list that are being rolled out; `restarting` is the server that the
    operator has stopped and is about to start.

    The rest is history: `committed_in` is the highest epoch in which a leader has committed a write; 0 if none has.
    """

    servers: Array[Server] = array(SERVERS, Server)
    size: int = number(0, SERVERS.bound)
    restarting: int | None = optional(SERVERS)
    written: int = number(0, WRITES.bound)
    crashes: int = number(0, CRASHES)
    disconnections: int = number(0, DISCONNECTIONS)
    committed_in: Array[int] = array(WRITES, number(0, EPOCHS))

    def supporters(self, leader: int, phase: Phase) -> frozenset[int]:
        """The leader and its followers that have come as far as a phase, or further."""
        followers = [server.leader == leader and has_reached(server, phase) for server in self.servers]
        return frozenset(n for n in SERVERS if n == leader or followers[n])


def has_reached(server: Server, phase: Phase) -> bool:
    """Whether a server is in a phase, or in a later one."""
    if phase is Phase.DISCOVERY:
        return True
    return server.phase is Phase.BROADCAST or (phase is Phase.SYNCHRONIZATION and server.phase is phase)


def counted(configuration: int, servers: frozenset[int]) -> int:
    """How many of some servers a configuration lists."""
    return len({n for n in SERVERS if n in servers and n < configuration})


def is_quorum(configuration: int, servers: frozenset[int]) -> bool:
    """Whether some servers include a majority of a configuration (ZooKeeper: QuorumMaj.containsQuorum)."""
    return 2 * counted(configuration, servers) > configuration


def is_acknowledged(leader: Server, servers: frozenset[int]) -> bool:
    """Whether the acknowledgements of some servers are enough for a leader."""
    if COUNTS_MEMBERS:
        return is_quorum(leader.configuration, servers)
    return 2 * len(servers) > leader.configuration
