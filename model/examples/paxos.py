"""Paxos for one decision, as a register that clients write and read: whatever the servers decide is read by all.

Words: a client asks a server to write its value. The server becomes the *leader* of a new *ballot*: it has the others
*promise* to ignore older ballots and say what they last *accepted*; with a majority, it asks all to accept the value of
the newest ballot among those, or its client's. What a majority accepts in a ballot is *decided*. Values are known by
their clients' numbers; clients and *linearizable* are as in `linearizability`.

Source: L. Lamport, "The part-time parliament" (1998), as in stateright 0.31, examples/paxos.rs. Counts: 16,668 distinct
states for two clients and three servers, and 8 steps to a chosen value (its own test). States map one to one:

* A delivery that changes nothing is no step, and the message stays.
* Client n asks server n to write. Ballot (round, leader) is the number (round - 1) * clients + leader; (0, 0) is None.
* The network is a bag of envelopes there, and flags here, as a server leads a ballot once and sends nothing twice. What
  servers send belongs to a ballot and to the one of the two that does not lead it.
"""
from __future__ import annotations

from typing import Annotated

from model.examples.linearizability import CLIENTS, SERVERS, Client, Phase, call_read, is_linearizable, return_read
from model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Flag,
    Scenario,
    action,
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
    when_quiet,
)

BALLOTS = Domain("ballots", "ballots, oldest first: rounds of one for each client, and as many rounds as clients")
MAJORITY = Bound("majority", "answers with which a leader goes on, its own included")
FORGETFUL = Flag("forgetful", "whether servers promise and then accept in older ballots all the same")

ServerId = Annotated[int, SERVERS]
ClientId = Annotated[int, CLIENTS]
Ballot = Annotated[int, BALLOTS]

SERVER = Actor("server", of=SERVERS)
LEADER = Actor("leader of ballot", of=BALLOTS)
CLIENT = Actor("client", of=CLIENTS)


@value
class Vote:
    """What a server has accepted, and in which ballot."""

    ballot: int = member(BALLOTS)
    value: int = member(CLIENTS)


@value
class Promise:
    """To ignore older ballots; with the last vote of the server that promises."""

    last: Vote | None = optional(Vote)


@state
class Server:
    """One server: first what every server needs, then what it notes as the leader of its newest ballot."""

    ballot: int | None = optional(BALLOTS)
    accepted: Vote | None = optional(Vote)
    is_decided: bool = flag()
    proposal: int | None = optional(CLIENTS)
    promises: Array[Promise | None] = array(SERVERS, optional(Promise))
    accepts: frozenset[int] = subset(SERVERS)

    @property
    def decision(self) -> int | None:
        """The value that it knows to be decided."""
        return self.accepted.value if self.is_decided and self.accepted is not None else None

    def follows(self, ballot: int) -> bool:
        """Whether it listens to the leader of a ballot, who is not behind its own."""
        return not self.is_decided and (self.ballot is None or self.ballot <= ballot)

    def safe_value(self) -> int | None:
        """What it may propose: the value of the newest vote that it was told of, or else its client's."""
        votes = [promise.last if promise is not None else None for promise in self.promises]
        newest = max((vote.ballot for vote in votes if vote is not None), default=-1)
        return next((vote.value for vote in votes if vote is not None and vote.ballot == newest), self.proposal)


@state
class Conversation:
    """The messages on their way between a ballot's leader and one other server."""

    prepare: bool = flag()
    promise: Promise | None = optional(Promise)
    accept: int | None = optional(CLIENTS)
    accepted: bool = flag()
    decided: int | None = optional(CLIENTS)


@state
class Register:
    """All servers, all clients, and the network between them."""

    servers: Array[Server] = array(SERVERS, Server)
    clients: Array[Client] = array(CLIENTS, Client)
    between: Array[Array[Conversation]] = array(BALLOTS, array(SERVERS, Conversation))


def leader_of(ballot: int) -> int:
    """The server that leads a ballot, and the client that asks it: they have the same number."""
    return ballot % len(CLIENTS)


@action(by=LEADER, says="is asked to write, and starts the ballot", source="Put")
def receive_put(register: Register, ballot: Ballot) -> None:
    """In the round after the newest that it knows; the leader is the first to promise."""
    number = leader_of(ballot)
    leader, client = register.servers[number], register.clients[number]
    last_round = -1 if leader.ballot is None else leader.ballot // len(CLIENTS)
    require(client.put and not leader.is_decided and leader.proposal is None)
    require(ballot // len(CLIENTS) == last_round + 1)
    client.put, leader.ballot, leader.proposal = False, ballot, number
    leader.promises[number] = Promise(last=leader.accepted)
    for other, messages in enumerate(register.between[ballot]):
        messages.prepare = other != number


@action(by=SERVER, says="promises to ignore ballots before {ballot}", source="Prepare")
def receive_prepare(register: Register, server: ServerId, ballot: Ballot) -> None:
    """Only for a newer ballot than any so far."""
    follower, messages = register.servers[server], register.between[ballot][server]
    require(messages.prepare and follower.follows(ballot) and follower.ballot != ballot)
    messages.prepare, messages.promise = False, Promise(last=follower.accepted)
    follower.ballot = follower.ballot if FORGETFUL else ballot


@action(by=LEADER, says="hears the promise of server {server}", source="Prepared")
def receive_promise(register: Register, ballot: Ballot, server: ServerId) -> None:
    """With a majority, the leader takes over the newest vote it was told of, and is the first to accept it."""
    leader, messages = register.servers[leader_of(ballot)], register.between[ballot][server]
    require(messages.promise is not None and leader.ballot == ballot and not leader.is_decided)
    leader.promises[server], messages.promise = messages.promise, None
    if sum(promise is not None for promise in leader.promises) == MAJORITY:
        leader.proposal = leader.safe_value()
        leader.accepted = Vote(ballot=ballot, value=leader.proposal)
        leader.accepts = leader.accepts | {leader_of(ballot)}
        for other in SERVERS:
            if other != leader_of(ballot):
                register.between[ballot][other].accept = leader.proposal


@action(by=SERVER, says="accepts the value of ballot {ballot}", source="Accept")
def receive_accept(register: Register, server: ServerId, ballot: Ballot) -> None:
    """Unless it has promised a newer ballot."""
    follower, messages = register.servers[server], register.between[ballot][server]
    require(messages.accept is not None and follower.follows(ballot))
    follower.ballot, follower.accepted = ballot, Vote(ballot=ballot, value=messages.accept)
    messages.accept, messages.accepted = None, True


def announce(register: Register, ballot: int, decided: int) -> None:
    """Tell all other servers what was decided, and the client whose value it is."""
    writer = register.clients[decided]
    writer.put_ok_from = writer.put_ok_from | {leader_of(ballot)}
    for other in SERVERS:
        if other != leader_of(ballot):
            register.between[ballot][other].decided = decided


@action(by=LEADER, says="hears that server {server} has accepted", source="Accepted")
def receive_accepted(register: Register, ballot: Ballot, server: ServerId) -> None:
    """With a majority, the value is decided, and the leader says so."""
    leader, messages = register.servers[leader_of(ballot)], register.between[ballot][server]
    require(messages.accepted and leader.ballot == ballot and not leader.is_decided)
    messages.accepted, leader.accepts = False, leader.accepts | {server}
    if len(leader.accepts) == MAJORITY:
        leader.is_decided = True
        announce(register, ballot, leader.proposal)


@action(by=SERVER, says="hears what ballot {ballot} has decided", source="Decided")
def receive_decided(register: Register, server: ServerId, ballot: Ballot) -> None:
    """No question is left."""
    follower, messages = register.servers[server], register.between[ballot][server]
    require(messages.decided is not None and not follower.is_decided)
    follower.ballot, follower.is_decided = ballot, True
    follower.accepted, messages.decided = Vote(ballot=ballot, value=messages.decided), None


@action(by=CLIENT, says="hears from server {server} that its value is written, and asks another what it reads")
def receive_put_ok(register: Register, client: ClientId, server: ServerId) -> None:
    """Later news of the same are ignored."""
    writer = register.clients[client]
    require(writer.phase is Phase.WRITING and server in writer.put_ok_from)
    writer.put_ok_from = writer.put_ok_from - {server}
    call_read(register.clients, client)


@action(by=SERVER, says="answers client {client} what was decided", source="Get")
def receive_get(register: Register, server: ServerId, client: ClientId) -> None:
    """The read goes to the server after the one that the write went to; it waits there for a decision."""
    reader, answerer = register.clients[client], register.servers[server]
    require(server == (client + 1) % len(SERVERS) and reader.get and answerer.decision is not None)
    reader.get, reader.get_ok = False, answerer.decision


@action(by=CLIENT, says="reads")
def receive_get_ok(register: Register, client: ClientId) -> None:
    """The client has written and read, and is done."""
    reader = register.clients[client]
    require(reader.phase is Phase.READING and reader.get_ok is not None)
    return_read(reader)


@always(symptom="a client reads what it cannot read if there is only one register")
def linearizable(register: Register) -> bool:
    """All that the clients see could have happened one operation at a time."""
    return is_linearizable(register.clients)


@always(symptom="the answer depends on which server is asked")
def servers_agree(register: Register) -> bool:
    """Servers that know a decision know the same."""
    return len({server.decision for server in register.servers if server.decision is not None}) <= 1


@when_quiet(symptom="the servers never come to a decision")
def all_servers_decide(register: Register) -> bool:
    """When all messages have arrived, every server knows the decision."""
    return all(server.is_decided for server in register.servers)


@reachable()
def value_chosen(register: Register) -> bool:
    """A client can read what was decided."""
    return any(client.get_ok is not None for client in register.clients)


PAXOS = Scenario(
    name="paxos",
    story="Two clients ask three servers to write; the servers agree on one of the two values, and answer with it.",
    state=Register,
    actions=(
        receive_put, receive_prepare, receive_promise, receive_accept, receive_accepted, receive_decided,
        receive_put_ok, receive_get, receive_get_ok,
    ),
    invariants=(linearizable, servers_agree, all_servers_decide, value_chosen),
    bounds={"servers": 3, "clients": 2, "ballots": 4, "majority": 2},
    variants={"faithful": {"forgetful": False}, "forgetful": {"forgetful": True}},
    source="stateright examples/paxos.rs",
)
