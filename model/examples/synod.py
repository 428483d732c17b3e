"""The Synod: Lamport's Paxos with one leader for each ballot, and all that is ever said kept for good.

Words: the leader of a *ballot* starts it. An acceptor *promises* to take no part in older ballots, and reports what it
last *accepted*. Once a *quorum* has promised, the leader *proposes* the newest of those values, or any if there is
none. A value is *chosen* once a quorum has accepted it in one ballot. A quorum is all acceptors but one: of three, any
two. A message that was sent stays, so it may be received late, twice or never. An acceptor promises once in a
ballot, and a ballot has one proposal: so arrays hold all messages.

Source: L. Lamport, "The part-time parliament" (1998); tlaplus/Examples, specifications/PaxosHowToWinATuringAward/
Paxos.tla. Counts: 3,921 distinct states, 23,563 generated, TLC depth 17 for three acceptors, two values and two ballots
(MCPaxosTiny.cfg in manifest.json); 25, 82 and 9 for one acceptor, one value and two ballots (specifications/Paxos,
MCPaxos.cfg). TLC generates a proposal once for each vote of each quorum that allows it; here it is one step.
"""
from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Flag,
    Scenario,
    action,
    always,
    array,
    member,
    optional,
    reachable,
    require,
    state,
    step,
    subset,
    value,
)

ACCEPTORS = Domain("acceptors", "acceptors that choose; one, or at least three")
VALUES = Domain("values", "values that can be chosen", label=lambda n: f"v{n + 1}")
BALLOTS = Domain("ballots", "ballots, oldest first")
FORGETFUL = Flag("forgetful", "whether acceptors accept in older ballots in spite of their promise")

AcceptorId = Annotated[int, ACCEPTORS]
Value = Annotated[int, VALUES]
Ballot = Annotated[int, BALLOTS]

LEADER = Actor("leader of ballot", of=BALLOTS)
ACCEPTOR = Actor("acceptor", of=ACCEPTORS)


@value
class Vote:
    """A value that was accepted, and in which ballot."""

    ballot: int = member(BALLOTS)
    value: int = member(VALUES)


@value
class Promise:
    """The promise to take no part in older ballots, with the last vote of the acceptor that gives it."""

    last: Vote | None = optional(Vote)


@state
class Acceptor:
    """One acceptor: the newest ballot that it takes part in, its last vote, and what it has sent in each ballot."""

    ballot: int | None = optional(BALLOTS)
    last: Vote | None = optional(Vote)
    promised: Array[Promise | None] = array(BALLOTS, optional(Promise))
    accepted: frozenset[int] = subset(BALLOTS)


@state
class Synod:
    """All acceptors, and what the leaders have sent: the ballots that were started, and what each has proposed."""

    acceptors: Array[Acceptor] = array(ACCEPTORS, Acceptor)
    started: frozenset[int] = subset(BALLOTS)
    proposed: Array[int | None] = array(BALLOTS, optional(VALUES))


def is_in(acceptor: int, quorum: int) -> bool:
    """Whether an acceptor is in the quorum of all others than one; an acceptor alone is a quorum."""
    return acceptor != quorum or len(ACCEPTORS) == 1


def allows(synod: Synod, quorum: int, ballot: int, value: int) -> bool:
    """Whether a quorum lets a leader propose a value: the newest that its members report."""
    promises = [acceptor.promised[ballot] for n, acceptor in enumerate(synod.acceptors) if is_in(n, quorum)]
    votes = [promise.last if promise is not None else None for promise in promises]
    newest = max((vote.ballot for vote in votes if vote is not None), default=-1)
    return all(promise is not None for promise in promises) and (
        newest == -1 or Vote(ballot=newest, value=value) in votes
    )


def is_chosen(synod: Synod, value: int) -> bool:
    """Whether a quorum has accepted a value in one ballot."""
    return any(
        synod.proposed[ballot] == value
        and all(ballot in acceptor.accepted for n, acceptor in enumerate(synod.acceptors) if is_in(n, quorum))
        for ballot in BALLOTS
        for quorum in ACCEPTORS
    )


@action(by=LEADER, description="starts its ballot", source="Phase1a")
def start(synod: Synod, ballot: Ballot) -> None:
    """Any number of times."""
    synod.started = synod.started | {ballot}


@action(by=ACCEPTOR, description="promises to take no part in ballots before {ballot}", source="Phase1b")
def promise(synod: Synod, acceptor: AcceptorId, ballot: Ballot) -> None:
    """Only for a newer ballot than any so far."""
    promiser = synod.acceptors[acceptor]
    require(ballot in synod.started and (promiser.ballot is None or promiser.ballot < ballot))
    promiser.ballot = promiser.ballot if FORGETFUL else ballot
    promiser.promised[ballot] = Promise(last=promiser.last)


@action(by=LEADER, description="proposes {value}", source="Phase2a")
def propose(synod: Synod, ballot: Ballot, value: Value) -> None:
    """Once in a ballot, if a quorum allows it."""
    require(synod.proposed[ballot] is None and any(allows(synod, quorum, ballot, value) for quorum in ACCEPTORS))
    synod.proposed[ballot] = value


@action(by=ACCEPTOR, description="accepts what is proposed in ballot {ballot}", source="Phase2b")
def accept(synod: Synod, acceptor: AcceptorId, ballot: Ballot) -> None:
    """Unless it has promised a newer ballot; once more is as good as once."""
    accepter, proposed = synod.acceptors[acceptor], synod.proposed[ballot]
    require(proposed is not None and (accepter.ballot is None or accepter.ballot <= ballot))
    assert proposed is not None
    accepter.ballot, accepter.last = ballot, Vote(ballot=ballot, value=proposed)
    accepter.accepted = accepter.accepted | {ballot}


@always(symptom="two parts of the system continue with different values")
def one_value_chosen(synod: Synod) -> bool:
    """At most one value is ever chosen."""
    return sum(is_chosen(synod, value) for value in VALUES) <= 1


@always()
def promises_are_kept(synod: Synod, acceptor: AcceptorId) -> bool:
    """An acceptor is never in an older ballot than one that it has promised, or has accepted something in."""
    newest = max((ballot for ballot in BALLOTS if synod.acceptors[acceptor].promised[ballot] is not None), default=-1)
    last = synod.acceptors[acceptor].last
    now = synod.acceptors[acceptor].ballot
    return newest <= (-1 if now is None else now) and (last is None or (now is not None and last.ballot <= now))


@step(symptom="a decision is taken back")
def choices_last(before: Synod, after: Synod, value: Value) -> bool:
    """What is chosen stays chosen."""
    return not is_chosen(before, value) or is_chosen(after, value)


@reachable()
def can_be_chosen(synod: Synod, value: Value) -> bool:
    """Each value can be chosen."""
    return is_chosen(synod, value)


SYNOD = Scenario(
    name="synod",
    story="Leaders of two ballots ask three acceptors to choose one of two values; messages are never lost.",
    state=Synod,
    actions=(start, promise, propose, accept),
    properties=(one_value_chosen, promises_are_kept, choices_last, can_be_chosen),
    bounds={"acceptors": 3, "values": 2, "ballots": 2},
    variants={"faithful": {"forgetful": False}, "forgetful": {"forgetful": True}},
    source="tlaplus/Examples specifications/PaxosHowToWinATuringAward/Paxos.tla",
)
