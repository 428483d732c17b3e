"""The Synod: Lamport's Paxos with one leader for each ballot, and all that is ever said kept for good.

Words: the leader of a *ballot* starts it. An acceptor *promises* to take no part in older ballots, and reports what it
last *accepted*. Once a *quorum* has promised, the leader *proposes* the newest of those values, or any if there is
none. A value is *chosen* once a quorum has accepted it in one ballot. A quorum is a majority. The set of messages only
grows: a message may be received late, twice or never.

Source: L. Lamport, "The part-time parliament" (1998); tlaplus/Examples, specifications/PaxosHowToWinATuringAward/
Paxos.tla, action by action. Counts: 3,921 distinct states, TLC depth 17 for three acceptors, two values and two ballots
(MCPaxosTiny.cfg); 25 and 9 for one acceptor, one value and two ballots (specifications/Paxos, MCPaxos.cfg). Where
acceptors forget their promises, both count 19,601 and 20, after the same change of Phase1b there.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.examples import voting as ballots
from kwalk.model.examples.voting import VOTING, Voting
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
    refines,
    require,
    state,
    step,
    subset,
    value,
)

ACCEPTORS = Domain("acceptors", "acceptors that choose")
VALUES = Domain("values", "values that can be chosen", label=lambda n: f"v{n + 1}")
BALLOTS = Domain("ballots", "ballots, oldest first")
FORGETFUL = Flag("forgetful", "whether acceptors accept in older ballots in spite of their promise")

AcceptorId = Annotated[int, ACCEPTORS]
Value = Annotated[int, VALUES]
Ballot = Annotated[int, BALLOTS]
Quorum = Annotated[frozenset[int], subset(ACCEPTORS)]

LEADER = Actor("leader of ballot", of=BALLOTS)
ACCEPTOR = Actor("acceptor", of=ACCEPTORS)


@value
class Vote:
    """A value that was accepted, and in which ballot."""

    ballot: int = member(BALLOTS)
    value: int = member(VALUES)


@value
class Start:
    """The leader asks for promises: message 1a."""

    ballot: int = member(BALLOTS)


@value
class Promise:
    """The promise to take no part in older ballots, with the last vote of the acceptor that gives it: message 1b."""

    acceptor: int = member(ACCEPTORS)
    ballot: int = member(BALLOTS)
    last: Vote | None = optional(Vote)


@value
class Proposal:
    """The leader asks to accept a value: message 2a."""

    ballot: int = member(BALLOTS)
    value: int = member(VALUES)


@value
class Accepted:
    """An acceptor has accepted a value: message 2b."""

    acceptor: int = member(ACCEPTORS)
    ballot: int = member(BALLOTS)
    value: int = member(VALUES)


Message = Start | Promise | Proposal | Accepted


@state
class Acceptor:
    """One acceptor: the newest ballot that it takes part in, and its last vote."""

    ballot: int | None = optional(BALLOTS)
    last: Vote | None = optional(Vote)

    def follows(self, ballot: int) -> bool:
        """Whether it takes part in a ballot: it is in no newer one."""
        return self.ballot is None or self.ballot <= ballot


@state
class Synod:
    """All acceptors, and every message that was ever sent."""

    acceptors: Array[Acceptor] = array(ACCEPTORS, Acceptor)
    messages: set[Message] = subset(Start, Promise, Proposal, Accepted)


def is_quorum(acceptors: frozenset[int]) -> bool:
    """Whether these are a smallest majority."""
    return len(acceptors) == len(ACCEPTORS) // 2 + 1


def allows(synod: Synod, quorum: frozenset[int], ballot: int, value: int) -> bool:
    """Whether a quorum has promised, and reports no vote, or a newest one for the value."""
    promises = {m for m in synod.messages if isinstance(m, Promise) and m.ballot == ballot and m.acceptor in quorum}
    votes = {m.last for m in promises if m.last is not None}
    return {m.acceptor for m in promises} == quorum and (
        not votes or any(v.value == value and all(v.ballot >= other.ballot for other in votes) for v in votes)
    )


def is_chosen(synod: Synod, value: int) -> bool:
    """Whether a quorum has accepted a value in one ballot."""
    return any(
        2 * sum(Accepted(acceptor=n, ballot=ballot, value=value) in synod.messages for n in ACCEPTORS) > len(ACCEPTORS)
        for ballot in BALLOTS
    )


@action(by=LEADER, description="starts its ballot", source="Phase1a")
def start(synod: Synod, ballot: Ballot) -> None:
    """Any number of times."""
    synod.messages.add(Start(ballot=ballot))


@action(by=ACCEPTOR, description="promises to take no part in ballots before {ballot}", source="Phase1b")
def promise(synod: Synod, acceptor: AcceptorId, ballot: Ballot) -> None:
    """Only for a newer ballot than any so far."""
    promiser = synod.acceptors[acceptor]
    require(Start(ballot=ballot) in synod.messages and promiser.follows(ballot) and promiser.ballot != ballot)
    promiser.ballot = promiser.ballot if FORGETFUL else ballot
    synod.messages.add(Promise(acceptor=acceptor, ballot=ballot, last=promiser.last))


@action(by=LEADER, description="proposes {value}, as {quorum} allow it", source="Phase2a")
def propose(synod: Synod, ballot: Ballot, value: Value, quorum: Quorum) -> None:
    """Once in a ballot, if a quorum allows it."""
    require(is_quorum(quorum) and not any(isinstance(m, Proposal) and m.ballot == ballot for m in synod.messages))
    require(allows(synod, quorum, ballot, value))
    synod.messages.add(Proposal(ballot=ballot, value=value))


@action(by=ACCEPTOR, description="accepts {value} in ballot {ballot}", source="Phase2b")
def accept(synod: Synod, acceptor: AcceptorId, ballot: Ballot, value: Value) -> None:
    """Unless it has promised a newer ballot; once more is as good as once."""
    accepter = synod.acceptors[acceptor]
    require(Proposal(ballot=ballot, value=value) in synod.messages and accepter.follows(ballot))
    accepter.ballot, accepter.last = ballot, Vote(ballot=ballot, value=value)
    synod.messages.add(Accepted(acceptor=acceptor, ballot=ballot, value=value))


@always(symptom="two parts of the system continue with different values")
def one_value_chosen(synod: Synod) -> bool:
    """At most one value is ever chosen."""
    return sum(is_chosen(synod, value) for value in VALUES) <= 1


@always()
def promises_are_kept(synod: Synod, acceptor: AcceptorId) -> bool:
    """An acceptor is never in an older ballot than one that it has promised, or has accepted something in."""
    newest = max(
        (m.ballot for m in synod.messages if isinstance(m, (Promise, Accepted)) and m.acceptor == acceptor), default=-1
    )
    now = synod.acceptors[acceptor].ballot
    return newest <= (-1 if now is None else now)


@step(symptom="a decision is taken back")
def choices_last(before: Synod, after: Synod, value: Value) -> bool:
    """What is chosen stays chosen."""
    return not is_chosen(before, value) or is_chosen(after, value)


@reachable()
def can_be_chosen(synod: Synod, value: Value) -> bool:
    """Each value can be chosen."""
    return is_chosen(synod, value)


def voting_of(synod: Synod, voting: Voting) -> None:
    """An acceptor has voted for what it has said that it accepts, and knows the newest ballot that it takes part in."""
    for acceptor in ACCEPTORS:
        voting.known[acceptor] = synod.acceptors[acceptor].ballot
        voting.votes[acceptor] = {
            ballots.Vote(ballot=m.ballot, value=m.value)
            for m in synod.messages
            if isinstance(m, Accepted) and m.acceptor == acceptor
        }


SYNOD = Scenario(
    name="synod",
    story="Leaders of two ballots ask three acceptors to choose one of two values; messages are never lost.",
    state=Synod,
    actions=(start, promise, propose, accept),
    properties=(one_value_chosen, promises_are_kept, choices_last, can_be_chosen, refines(VOTING, voting_of)),
    bounds={"acceptors": 3, "values": 2, "ballots": 2},
    variants={"faithful": {"forgetful": False}, "forgetful": {"forgetful": True}},
    source="tlaplus/Examples specifications/PaxosHowToWinATuringAward/Paxos.tla",
)
