"""Lamport's distributed mutual exclusion: processes order their requests by logical clocks, and need no coordinator.

Words: each process has a *logical clock*. A request carries its sender's clock; the earlier one *beats* the later, and
the process number decides between equals. Messages between two processes arrive in the order in which they were sent.

Source: L. Lamport, "Time, clocks, and the ordering of events in a distributed system" (CACM 21(7), 1978);
tlaplus/Examples, specifications/lamport_mutex/LamportMutex.tla. Counts: 724,274 distinct states, 2,729,079 generated,
TLC depth 61 for three processes and clocks up to six (MCLamportMutex.cfg in manifest.json). A step that would pass the
last clock is generated and dropped by TLC, and a bound hit here.
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
    Scenario,
    action,
    always,
    array,
    choice,
    fifo,
    number,
    reachable,
    require,
    state,
    subset,
    value,
)

PROCESSES = Domain("processes", "processes that share the critical section")
LAST_CLOCK = Bound("last_clock", "the greatest logical clock", minimum=1)
CHANNEL = Bound("channel", "messages between two processes; three are enough, as the paper's proof shows")

Process = Annotated[int, PROCESSES]

PROCESS = Actor("process", of=PROCESSES)


class Kind(Enum):
    """The kinds of messages."""

    REQUEST = "request"
    ACK = "ack"
    RELEASE = "release"


@value
class Message:
    """A message; only a request carries its sender's clock, others 0."""

    kind: Kind = choice(Kind)
    clock: int = number(0, LAST_CLOCK)


@state
class Peer:
    """One process: its clock, the requests it knows of (0 for none), who has acknowledged its own, and its channels."""

    clock: int = number(1, LAST_CLOCK)
    request: Array[int] = array(PROCESSES, number(0, LAST_CLOCK))
    acks: frozenset[int] = subset(PROCESSES)
    inbox: Array[Fifo[Message]] = array(PROCESSES, fifo(Message, CHANNEL))


@state
class Network:
    """All processes, and who is in the critical section."""

    peers: Array[Peer] = array(PROCESSES, Peer)
    critical: frozenset[int] = subset(PROCESSES)

    def broadcast(self, sender: int, message: Message) -> None:
        """Send a message to all others."""
        for receiver in PROCESSES:
            if receiver != sender:
                self.peers[receiver].inbox[sender].push(message)


def beats(peer: Peer, own: int, other: int) -> bool:
    """Whether a process thinks that its request comes before another's."""
    mine, theirs = peer.request[own], peer.request[other]
    return theirs == 0 or mine < theirs or (mine == theirs and own < other)


def has(peer: Peer, sender: int, kind: Kind) -> bool:
    """Whether the next message from a sender is of a kind."""
    return not peer.inbox[sender].is_empty and peer.inbox[sender].head.kind is kind


@action(by=PROCESS, description="requests the critical section")
def request(network: Network, process: Process) -> None:
    """A process sends its request to all processes, itself included."""
    peer = network.peers[process]
    require(peer.request[process] == 0)
    peer.request[process] = peer.clock
    peer.acks = frozenset({process})
    network.broadcast(process, Message(kind=Kind.REQUEST, clock=peer.clock))


@action(by=PROCESS, description="acknowledges the request of process {sender}")
def receive_request(network: Network, process: Process, sender: Process) -> None:
    """The receiver's clock passes the request's."""
    peer = network.peers[process]
    require(process != sender and has(peer, sender, Kind.REQUEST))
    message = peer.inbox[sender].pop()
    peer.request[sender] = message.clock
    peer.clock = max(message.clock, peer.clock) + 1
    network.peers[sender].inbox[process].push(Message(kind=Kind.ACK, clock=0))


@action(by=PROCESS, description="receives the acknowledgement of process {sender}")
def receive_ack(network: Network, process: Process, sender: Process) -> None:
    """One more process knows of the request."""
    peer = network.peers[process]
    require(process != sender and has(peer, sender, Kind.ACK))
    peer.inbox[sender].pop()
    peer.acks = peer.acks | {sender}


@action(by=PROCESS, description="enters the critical section")
def enter(network: Network, process: Process) -> None:
    """All know of the request, and it beats all that the process knows of."""
    peer = network.peers[process]
    require(peer.acks == frozenset(PROCESSES))
    require(all(beats(peer, process, other) for other in PROCESSES if other != process))
    network.critical = network.critical | {process}


@action(by=PROCESS, description="leaves the critical section")
def leave(network: Network, process: Process) -> None:
    """The request has ended; all other processes are notified."""
    peer = network.peers[process]
    require(process in network.critical)
    network.critical = network.critical - {process}
    peer.request[process] = 0
    peer.acks = frozenset()
    network.broadcast(process, Message(kind=Kind.RELEASE, clock=0))


@action(by=PROCESS, description="receives the release of process {sender}")
def receive_release(network: Network, process: Process, sender: Process) -> None:
    """The other's request no longer counts."""
    peer = network.peers[process]
    require(process != sender and has(peer, sender, Kind.RELEASE))
    peer.inbox[sender].pop()
    peer.request[sender] = 0


@always(symptom="two processes change the resource at once")
def one_at_a_time(network: Network) -> bool:
    """At most one process is in the critical section."""
    return len(network.critical) <= 1


@always()
def one_message_of_a_kind(network: Network, sender: Process, receiver: Process, kind: Kind) -> bool:
    """A channel never holds two messages of one kind, so that three places are enough."""
    return sum(message.kind is kind for message in network.peers[receiver].inbox[sender]) <= 1


@reachable()
def all_have_asked(network: Network) -> bool:
    """All processes can want the critical section at once."""
    return all(network.peers[process].request[process] > 0 for process in PROCESSES)


LAMPORT_MUTEX = Scenario(
    name="lamport-mutex",
    story="Three processes take turns in a critical section with nothing but messages and logical clocks.",
    state=Network,
    actions=(request, receive_request, receive_ack, enter, leave, receive_release),
    properties=(one_at_a_time, one_message_of_a_kind, all_have_asked),
    bounds={"processes": 3, "last_clock": 6, "channel": 3},
    source="tlaplus/Examples specifications/lamport_mutex/LamportMutex.tla",
)
