"""Paxos for one decision, as a register that clients write and read: all read the value that the servers decide.

Words: a client asks a server to write its value. The server becomes the *leader* of a new *ballot*: the others
*promise* it to ignore older ballots and report what they last *accepted*. With a majority, it requests all to accept
the value of the newest ballot among those, or its client's. What a majority accepts in a ballot is *decided*. Values
are the numbers of their clients; clients and *linearizable* are as in `linearizability`.

Source: L. Lamport, "The part-time parliament" (1998), as in stateright 0.31, examples/paxos.rs. Counts: 16,668 distinct
states for two clients and three servers, and 8 steps to a chosen value (its own test). States map one to one:

* A delivery that changes nothing is no step, and the message stays.
* Client n asks server n to write. Ballot (round, leader) is the number (round - 1) * clients + leader; (0, 0) is None.
* The network is a bag of envelopes there, and a set of messages here, as no message is sent twice. A message between
  servers names its ballot and the one of the two that does not lead it. What clients send and receive is theirs.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.examples.linearizability import (
    CLIENTS,
    SERVERS,
    Client,
    Phase,
    call_read,
    is_linearizable,
    return_read,
)
from kwalk.model.language import (
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
    when_quiescent,
)

BALLOTS = Domain("ballots", "ballots, oldest first: rounds of one for each client, and as many rounds as clients")
MAJORITY = Bound("majority", "answers that a leader needs, its own included")
FORGETFUL = Flag("forgetful", "whether servers accept in older ballots in spite of their promise")

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
class Prepare:
    """A leader asks a server to promise."""

    ballot: int = member(BALLOTS)
    server: int = member(SERVERS)


@value
class Promise:
    """The promise to ignore older ballots, with the last vote of the server that gives it."""

    ballot: int = member(BALLOTS)
    server: int = member(SERVERS)
    last: Vote | None = optional(Vote)


@value
class Accept:
    """A leader asks a server to accept a value."""

    ballot: int = member(BALLOTS)
    server: int = member(SERVERS)
    value: int = member(CLIENTS)


@value
class Accepted:
    """A server has accepted the value of a ballot."""

    ballot: int = member(BALLOTS)
    server: int = member(SERVERS)


@value
class Decided:
    """A leader announces to a server what is decided."""

    ballot: int = member(BALLOTS)
    server: int = member(SERVERS)
    value: int = member(CLIENTS)


Message = Prepare | Promise | Accept | Accepted | Decided


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
        """Whether it accepts messages of a ballot: the ballot is not older than its own."""
        return not self.is_decided and (self.ballot is None or self.ballot <= ballot)

    def safe_value(self) -> int | None:
        """What it may propose: the value of the newest vote that was reported to it, or else its client's."""
        votes = [promise.last if promise is not None else None for promise in self.promises]
        newest = max((vote.ballot for vote in votes if vote is not None), default=-1)
        return next((vote.value for vote in votes if vote is not None and vote.ballot == newest), self.proposal)


@state
class Register:
    """All servers, all clients, and the messages on their way between servers."""

    servers: Array[Server] = array(SERVERS, Server)
    clients: Array[Client] = array(CLIENTS, Client)
    network: set[Message] = subset(Prepare, Promise, Accept, Accepted, Decided)


def leader_of(ballot: int) -> int:
    """The server that leads a ballot, and the client whose request it serves: they have the same number."""
    return ballot % len(CLIENTS)


@action(by=LEADER, description="receives a write request, and starts the ballot", source="Put")
def receive_put(register: Register, ballot: Ballot) -> None:
    """In the round after the newest that it knows; the leader promises first."""
    number = leader_of(ballot)
    leader, client = register.servers[number], register.clients[number]
    last_round = -1 if leader.ballot is None else leader.ballot // len(CLIENTS)
    require(client.put and not leader.is_decided and leader.proposal is None)
    require(ballot // len(CLIENTS) == last_round + 1)
    client.put, leader.ballot, leader.proposal = False, ballot, number
    leader.promises[number] = Promise(ballot=ballot, server=number, last=leader.accepted)
    register.network.update({Prepare(ballot=ballot, server=other) for other in SERVERS if other != number})


@action(by=SERVER, description="promises to ignore ballots before {ballot}", source="Prepare")
def receive_prepare(register: Register, server: ServerId, ballot: Ballot) -> None:
    """Only for a newer ballot than any so far."""
    follower, prepare = register.servers[server], Prepare(ballot=ballot, server=server)
    require(prepare in register.network and follower.follows(ballot) and follower.ballot != ballot)
    register.network.remove(prepare)
    register.network.add(Promise(ballot=ballot, server=server, last=follower.accepted))
    follower.ballot = follower.ballot if FORGETFUL else ballot


@action(by=LEADER, description="receives the promise of server {server}", source="Prepared")
def receive_promise(register: Register, ballot: Ballot, server: ServerId) -> None:
    """With a majority, the leader adopts the newest vote that was reported to it, and accepts it first."""
    leader = register.servers[leader_of(ballot)]
    promises = (m for m in register.network if isinstance(m, Promise) and m.ballot == ballot and m.server == server)
    promise = next(promises, None)
    require(promise is not None and leader.ballot == ballot and not leader.is_decided)
    assert promise is not None
    register.network.discard(promise)
    leader.promises[server] = promise
    if sum(promise is not None for promise in leader.promises) == MAJORITY:
        safe = leader.safe_value()
        assert safe is not None
        leader.proposal, leader.accepted = safe, Vote(ballot=ballot, value=safe)
        leader.accepts = leader.accepts | {leader_of(ballot)}
        others = {other for other in SERVERS if other != leader_of(ballot)}
        register.network.update({Accept(ballot=ballot, server=other, value=safe) for other in others})


@action(by=SERVER, description="accepts the value of ballot {ballot}", source="Accept")
def receive_accept(register: Register, server: ServerId, ballot: Ballot) -> None:
    """Unless it has promised a newer ballot."""
    follower = register.servers[server]
    requests = (m for m in register.network if isinstance(m, Accept) and m.ballot == ballot and m.server == server)
    request = next(requests, None)
    require(request is not None and follower.follows(ballot))
    assert request is not None
    register.network.discard(request)
    follower.ballot, follower.accepted = ballot, Vote(ballot=ballot, value=request.value)
    register.network.add(Accepted(ballot=ballot, server=server))


def announce(register: Register, ballot: int, decided: int) -> None:
    """Send the decision to all other servers, and to the client whose value it is."""
    writer = register.clients[decided]
    writer.put_ok_from = writer.put_ok_from | {leader_of(ballot)}
    others = {other for other in SERVERS if other != leader_of(ballot)}
    register.network.update({Decided(ballot=ballot, server=other, value=decided) for other in others})


@action(by=LEADER, description="receives the acceptance of server {server}", source="Accepted")
def receive_accepted(register: Register, ballot: Ballot, server: ServerId) -> None:
    """With a majority, the value is decided, and the leader announces it."""
    leader, accepted = register.servers[leader_of(ballot)], Accepted(ballot=ballot, server=server)
    require(accepted in register.network and leader.ballot == ballot and not leader.is_decided)
    register.network.remove(accepted)
    leader.accepts = leader.accepts | {server}
    if len(leader.accepts) == MAJORITY:
        assert leader.proposal is not None
        leader.is_decided = True
        announce(register, ballot, leader.proposal)


@action(by=SERVER, description="receives the decision of ballot {ballot}", source="Decided")
def receive_decided(register: Register, server: ServerId, ballot: Ballot) -> None:
    """The server has decided as well."""
    follower = register.servers[server]
    news = (m for m in register.network if isinstance(m, Decided) and m.ballot == ballot and m.server == server)
    decided = next(news, None)
    require(decided is not None and not follower.is_decided)
    assert decided is not None
    register.network.discard(decided)
    follower.ballot, follower.is_decided = ballot, True
    follower.accepted = Vote(ballot=ballot, value=decided.value)


@action(by=CLIENT, description="receives the acknowledgement of server {server}, and sends a read request to another")
def receive_put_ok(register: Register, client: ClientId, server: ServerId) -> None:
    """Later acknowledgements of the same write are ignored."""
    writer = register.clients[client]
    require(writer.phase is Phase.WRITING and server in writer.put_ok_from)
    writer.put_ok_from = writer.put_ok_from - {server}
    call_read(register.clients, client)


@action(by=SERVER, description="answers client {client} with the decision", source="Get")
def receive_get(register: Register, server: ServerId, client: ClientId) -> None:
    """The read goes to the server after the one that the write went to; it waits there for a decision."""
    reader, answerer = register.clients[client], register.servers[server]
    require(server == (client + 1) % len(SERVERS) and reader.get and answerer.decision is not None)
    reader.get, reader.get_ok = False, answerer.decision


@action(by=CLIENT, description="reads")
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


@when_quiescent(symptom="the servers never decide")
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
        receive_put,
        receive_prepare,
        receive_promise,
        receive_accept,
        receive_accepted,
        receive_decided,
        receive_put_ok,
        receive_get,
        receive_get_ok,
    ),
    properties=(linearizable, servers_agree, all_servers_decide, value_chosen),
    bounds={"servers": 3, "clients": 2, "ballots": 4, "majority": 2},
    variants={"faithful": {"forgetful": False}, "forgetful": {"forgetful": True}},
    source="stateright examples/paxos.rs",
)
