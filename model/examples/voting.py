"""Voting: how acceptors choose one value by ballots, with no thought of messages yet; the idea behind Paxos.

Words: an *acceptor* votes in numbered *ballots*, at most once in each, and never in one older than the newest that it
*knows*. A value is *chosen* if a *quorum* has voted for it in one ballot. A quorum is all acceptors but one: of three,
any two. A value is *safe* in a ballot if no other one has been or ever can be chosen in an older ballot.

Source: L. Lamport, "The Paxos algorithm, or how to win a Turing award" (lecture, 2019); tlaplus/Examples,
specifications/PaxosHowToWinATuringAward/Voting.tla. Counts: 6,752 distinct states, 41,017 generated, TLC depth 16 for
three acceptors, two values and three ballots (MCVoting.cfg in manifest.json); with two ballots, 77 up to the names of
acceptors and values, TLC depth 11 (specifications/Paxos, MCVoting.cfg). TLC generates a vote once for each vote of each
quorum that shows it safe; here it is one step.
"""
from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    optional,
    reachable,
    require,
    state,
    step,
)

ACCEPTORS = Domain("acceptors", "acceptors that vote; at least three")
VALUES = Domain("values", "values that can be chosen", label=lambda n: f"v{n + 1}")
BALLOTS = Domain("ballots", "ballots, oldest first")

AcceptorId = Annotated[int, ACCEPTORS]
Value = Annotated[int, VALUES]
Ballot = Annotated[int, BALLOTS]

ACCEPTOR = Actor("acceptor", of=ACCEPTORS)


@state
class Acceptor:
    """One acceptor: the newest ballot that it knows, and its vote in each."""

    known: int | None = optional(BALLOTS)
    votes: Array[int | None] = array(BALLOTS, optional(VALUES))

    def knows(self, ballot: int) -> bool:
        """Whether it knows the ballot or a newer one, so that it votes in no older one any more."""
        return self.known is not None and self.known >= ballot

    def cannot_spoil(self, ballot: int, value: int) -> bool:
        """Whether it never votes for another value in a ballot: it has voted for this one, or never will vote there."""
        return self.votes[ballot] == value or (
            self.votes[ballot] is None and self.known is not None and self.known > ballot
        )


@state
class Voting:
    """All acceptors."""

    acceptors: Array[Acceptor] = array(ACCEPTORS, Acceptor)


def is_quorum(acceptors: int) -> bool:
    """Whether this number of acceptors includes a quorum."""
    return acceptors >= len(ACCEPTORS) - 1


def shows_safe(voting: Voting, quorum: int, ballot: int, value: int) -> bool:
    """Whether a quorum, named by whom it lacks, shows that a value is safe in a ballot.

    All its members have left the older ballots, and in the newest of those in which one of them has voted, if any, one
    has voted for this value.
    """
    members = [acceptor for n, acceptor in enumerate(voting.acceptors) if n != quorum]
    older_votes = (older for older in BALLOTS if older < ballot and any(m.votes[older] is not None for m in members))
    newest = max(older_votes, default=-1)
    return all(m.knows(ballot) for m in members) and (newest == -1 or any(m.votes[newest] == value for m in members))


def is_safe(voting: Voting, ballot: int, value: int) -> bool:
    """Whether no other value has been or ever can be chosen in an older ballot."""
    return all(
        is_quorum(sum(acceptor.cannot_spoil(older, value) for acceptor in voting.acceptors))
        for older in BALLOTS
        if older < ballot
    )


def is_chosen(voting: Voting, value: int) -> bool:
    """Whether a quorum has voted for a value in one ballot."""
    return any(is_quorum(sum(acceptor.votes[ballot] == value for acceptor in voting.acceptors)) for ballot in BALLOTS)


@action(by=ACCEPTOR, description="leaves the ballots before {ballot}", source="IncreaseMaxBal")
def move_on(voting: Voting, acceptor: AcceptorId, ballot: Ballot) -> None:
    """An acceptor may do so at any time, without a vote."""
    require(not voting.acceptors[acceptor].knows(ballot))
    voting.acceptors[acceptor].known = ballot


@action(by=ACCEPTOR, description="votes for {value} in ballot {ballot}", source="VoteFor")
def vote(voting: Voting, acceptor: AcceptorId, ballot: Ballot, value: Value) -> None:
    """Once in a ballot, for what the others vote for there, if a quorum shows that it is safe."""
    voter = voting.acceptors[acceptor]
    require(voter.known is None or voter.known <= ballot)
    require(voter.votes[ballot] is None)
    require(all(other.votes[ballot] in (None, value) for other in voting.acceptors))
    require(any(shows_safe(voting, quorum, ballot, value) for quorum in ACCEPTORS))
    voter.known, voter.votes[ballot] = ballot, value


@always(symptom="two parts of the system continue with different values")
def one_value_chosen(voting: Voting) -> bool:
    """At most one value is ever chosen."""
    return sum(is_chosen(voting, value) for value in VALUES) <= 1


@always()
def votes_are_safe(voting: Voting) -> bool:
    """All votes of a ballot are for one value, which is safe there: the invariant that explains the algorithm."""
    return all(
        is_safe(voting, ballot, value) and all(other.votes[ballot] in (None, value) for other in voting.acceptors)
        for voter in voting.acceptors
        for ballot in BALLOTS
        for value in VALUES
        if voter.votes[ballot] == value
    )


@step(symptom="a decision is taken back")
def choices_last(before: Voting, after: Voting, value: Value) -> bool:
    """What is chosen stays chosen."""
    return not is_chosen(before, value) or is_chosen(after, value)


@reachable()
def can_be_chosen(voting: Voting, value: Value) -> bool:
    """Each value can be chosen."""
    return is_chosen(voting, value)


VOTING = Scenario(
    name="voting",
    story="Three acceptors vote in three ballots, so that no two values are ever chosen.",
    state=Voting,
    actions=(move_on, vote),
    properties=(one_value_chosen, votes_are_safe, choices_last, can_be_chosen),
    bounds={"acceptors": 3, "values": 2, "ballots": 3},
    source="tlaplus/Examples specifications/PaxosHowToWinATuringAward/Voting.tla",
)
