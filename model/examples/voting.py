"""Voting: how acceptors choose one value by ballots, with no thought of messages yet; the idea behind Paxos.

Words: an *acceptor* votes in numbered *ballots*, at most once in each, and never in one older than the newest that it
*knows*. A value is *chosen* if a *quorum* has voted for it in one ballot. A quorum is a smallest majority: of three
any two. A value is *safe* in a ballot if no other one has been or ever can be chosen in an older ballot.

Source: L. Lamport, "The Paxos algorithm, or how to win a Turing award" (lecture, 2019); tlaplus/Examples,
specifications/PaxosHowToWinATuringAward/Voting.tla. Counts, printed by TLC: 6,752 distinct states, 41,017 generated,
depth 16 for three acceptors, two values and three ballots (MCVoting.cfg); with two ballots, 77 up to the names of
acceptors and values, depth 11 (specifications/Paxos, MCVoting.cfg). TLC generates a vote once for each vote of a quorum
that shows it safe; here it is one step for each quorum.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.examples.consensus import CONSENSUS, Consensus
from kwalk.model.language import (
    Actor,
    Array,
    Domain,
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

ACCEPTORS = Domain("acceptors", "acceptors that vote")
VALUES = Domain("values", "values that can be chosen", label=lambda n: f"v{n + 1}")
BALLOTS = Domain("ballots", "ballots, oldest first")

AcceptorId = Annotated[int, ACCEPTORS]
Value = Annotated[int, VALUES]
Ballot = Annotated[int, BALLOTS]

Quorum = Annotated[frozenset[int], subset(ACCEPTORS)]

ACCEPTOR = Actor("acceptor", of=ACCEPTORS)


@value
class Vote:
    """A vote for a value in a ballot."""

    ballot: int = member(BALLOTS)
    value: int = member(VALUES)


@state
class Voting:
    """The newest ballot that each acceptor knows, and its votes."""

    known: Array[int | None] = array(ACCEPTORS, optional(BALLOTS))
    votes: Array[set[Vote]] = array(ACCEPTORS, subset(Vote))

    def knows(self, acceptor: int, ballot: int) -> bool:
        """Whether an acceptor knows the ballot or a newer one, so that it votes in no older one any more."""
        known = self.known[acceptor]
        return known is not None and known >= ballot

    def has_voted(self, acceptor: int, ballot: int) -> bool:
        """Whether an acceptor has voted in a ballot."""
        return any(vote.ballot == ballot for vote in self.votes[acceptor])

    def cannot_spoil(self, acceptor: int, ballot: int, value: int) -> bool:
        """Whether it never votes for another value in a ballot: it has voted for this one, or never will vote there."""
        has_left = self.knows(acceptor, ballot) and self.known[acceptor] != ballot
        voted = Vote(ballot=ballot, value=value) in self.votes[acceptor]
        return voted or (has_left and not self.has_voted(acceptor, ballot))


def is_quorum(acceptors: frozenset[int] | set[int]) -> bool:
    """Whether acceptors are a smallest majority."""
    return len(acceptors) == len(ACCEPTORS) // 2 + 1


def shows_safe(voting: Voting, quorum: frozenset[int], ballot: int, value: int) -> bool:
    """ShowsSafeAt: whether a quorum shows that a value is safe in a ballot.

    All its members have left the older ballots, and in the newest of those in which one of them has voted, if any, one
    has voted for this value.
    """
    older = {vote for acceptor in quorum for vote in voting.votes[acceptor] if vote.ballot < ballot}
    newest = max((vote.ballot for vote in older), default=-1)
    return all(voting.knows(acceptor, ballot) for acceptor in quorum) and (
        not older or any(vote.ballot == newest and vote.value == value for vote in older)
    )


def is_safe(voting: Voting, ballot: int, value: int) -> bool:
    """SafeAt: whether no other value has been or ever can be chosen in an older ballot."""
    return all(
        2 * sum(voting.cannot_spoil(acceptor, older, value) for acceptor in ACCEPTORS) > len(ACCEPTORS)
        for older in BALLOTS
        if older < ballot
    )


def is_chosen(voting: Voting, value: int) -> bool:
    """Whether a quorum has voted for a value in one ballot."""
    return any(
        2 * sum(Vote(ballot=ballot, value=value) in votes for votes in voting.votes) > len(ACCEPTORS)
        for ballot in BALLOTS
    )


@action(by=ACCEPTOR, description="leaves the ballots before {ballot}", source="IncreaseMaxBal")
def move_on(voting: Voting, acceptor: AcceptorId, ballot: Ballot) -> None:
    """An acceptor may do so at any time, without a vote."""
    require(not voting.knows(acceptor, ballot))
    voting.known[acceptor] = ballot


@action(by=ACCEPTOR, description="votes for {value} in ballot {ballot}, as {quorum} show it safe", source="VoteFor")
def vote(voting: Voting, acceptor: AcceptorId, ballot: Ballot, value: Value, quorum: Quorum) -> None:
    """Once in a ballot, for what the others vote for there, if a quorum shows that it is safe."""
    known = voting.known[acceptor]
    require(is_quorum(quorum) and (known is None or known <= ballot))
    require(not voting.has_voted(acceptor, ballot))
    require(all(one.value == value for votes in voting.votes for one in votes if one.ballot == ballot))
    require(shows_safe(voting, quorum, ballot, value))
    voting.known[acceptor] = ballot
    voting.votes[acceptor].add(Vote(ballot=ballot, value=value))


@always(symptom="two parts of the system continue with different values")
def one_value_chosen(voting: Voting) -> bool:
    """At most one value is ever chosen."""
    return sum(is_chosen(voting, value) for value in VALUES) <= 1


@always()
def votes_are_safe(voting: Voting) -> bool:
    """All votes of a ballot are for one value, which is safe there: the invariant that explains the algorithm."""
    return all(
        is_safe(voting, one.ballot, one.value)
        and all(other.value == one.value for others in voting.votes for other in others if other.ballot == one.ballot)
        for votes in voting.votes
        for one in votes
    )


@step(symptom="a decision is taken back")
def choices_last(before: Voting, after: Voting, value: Value) -> bool:
    """What is chosen stays chosen."""
    return not is_chosen(before, value) or is_chosen(after, value)


@reachable()
def can_be_chosen(voting: Voting, value: Value) -> bool:
    """Each value can be chosen."""
    return is_chosen(voting, value)


def consensus_of(voting: Voting, consensus: Consensus) -> None:
    """What is chosen; how the acceptors come to that is not part of it."""
    consensus.chosen = frozenset({value for value in VALUES if is_chosen(voting, value)})


VOTING = Scenario(
    name="voting",
    story="Three acceptors vote in three ballots, so that no two values are ever chosen.",
    state=Voting,
    actions=(move_on, vote),
    properties=(one_value_chosen, votes_are_safe, choices_last, can_be_chosen, refines(CONSENSUS, consensus_of)),
    bounds={"acceptors": 3, "values": 2, "ballots": 3},
    source="tlaplus/Examples specifications/PaxosHowToWinATuringAward/Voting.tla",
)
