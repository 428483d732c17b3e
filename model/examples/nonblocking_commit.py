"""Non-blocking atomic commitment: participants decide even if the coordinator dies while it broadcasts the decision.

The coordinator asks each participant to vote, decides, and sends the decision to one participant after the other. A
participant first forwards what it receives to all others, and decides when it has forwarded it to everyone. So if one
that is alive has the decision, all get it; if nobody alive has it, they may abort.

Words: *alive* is who takes steps; *faulty* who ever died. What was not sent yet is None.

Source: ACP_NB.tla, which extends ACP_SB.tla, by S. Merz and students in tlaplus/Examples (acp); the protocol is that of
O. Babaoglu and S. Toueg, "Non-Blocking Atomic Commitment" (in Distributed Systems, 1993). Counts: for two participants,
4,284 distinct and 23,988 generated states and a depth of 19 (manifest.json). TLC generates a step of a participant once
for each j of `parProgNB(i, j)`, and a decision to abort once for each vote of no. Both find that AC1 to AC5 hold, and
that AllCommitYesVotes, the last property, does not.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    always,
    array,
    choice,
    flag,
    inevitable,
    leads_to,
    nested,
    optional,
    premise,
    require,
    state,
    step,
    weakly_fair,
)

PARTICIPANTS = Domain("participants", "participants", label=lambda n: f"p{n}")

Id = Annotated[int, PARTICIPANTS]

PARTICIPANT = Actor("participant", of=PARTICIPANTS)
COORDINATOR = Actor("coordinator")
FAULT = Actor("fault", system=False)


class Vote(Enum):
    """What a participant votes."""

    YES = "yes"
    NO = "no"


class Decision(Enum):
    """What was decided."""

    COMMIT = "commit"
    ABORT = "abort"


@state
class Participant:
    """One that votes, forwards the decision to all, and decides."""

    vote: Vote = choice(Vote)
    has_voted: bool = flag()
    forwarded: Array[Decision | None] = array(PARTICIPANTS, optional(Decision))
    decision: Decision | None = optional(Decision)
    is_alive: bool = flag(default=True)
    is_faulty: bool = flag()

    @property
    def can_decide(self) -> bool:
        """Whether it is alive and undecided."""
        return self.is_alive and self.decision is None


@state
class Coordinator:
    """Whom it has asked, what they voted, what it decided, and to whom it has sent that."""

    asked: Array[bool] = array(PARTICIPANTS, flag())
    votes: Array[Vote | None] = array(PARTICIPANTS, optional(Vote))
    decision: Decision | None = optional(Decision)
    sent: Array[Decision | None] = array(PARTICIPANTS, optional(Decision))
    is_alive: bool = flag(default=True)
    is_faulty: bool = flag()

    @property
    def waits_for_votes(self) -> bool:
        """Whether it has asked all and has not decided."""
        return self.is_alive and self.decision is None and all(self.asked)


@state
class Commitment:
    """All of them."""

    participants: Array[Participant] = array(PARTICIPANTS, Participant)
    coordinator: Coordinator = nested(Coordinator)


def begin(commitment: Commitment, votes: Annotated[Array[Vote], array(PARTICIPANTS, Vote)]) -> None:
    """Each participant knows what it will vote."""
    for participant, vote in zip(commitment.participants, votes, strict=True):
        participant.vote = vote


@action(by=COORDINATOR, description="asks {i}", source="request")
def ask(commitment: Commitment, i: Id) -> None:
    """It asks a participant to vote."""
    coordinator = commitment.coordinator
    require(coordinator.is_alive and not coordinator.asked[i])
    coordinator.asked[i] = True


@action(by=COORDINATOR, description="gets the vote of {i}", source="getVote")
def get_vote(commitment: Commitment, i: Id) -> None:
    """It receives a vote."""
    coordinator, participant = commitment.coordinator, commitment.participants[i]
    require(coordinator.waits_for_votes and coordinator.votes[i] is None and participant.has_voted)
    coordinator.votes[i] = participant.vote


@action(by=COORDINATOR, description="notices that {i} is dead", source="detectFault")
def detect_fault(commitment: Commitment, i: Id) -> None:
    """It aborts as a participant died before it voted."""
    coordinator, participant = commitment.coordinator, commitment.participants[i]
    require(coordinator.waits_for_votes and coordinator.votes[i] is None)
    require(not participant.is_alive and not participant.has_voted)
    coordinator.decision = Decision.ABORT


@action(by=COORDINATOR, description="decides", source="makeDecision")
def make_decision(commitment: Commitment) -> None:
    """It commits if all voted yes."""
    coordinator = commitment.coordinator
    require(coordinator.is_alive and coordinator.decision is None and None not in coordinator.votes)
    agreed = all(vote is Vote.YES for vote in coordinator.votes)
    coordinator.decision = Decision.COMMIT if agreed else Decision.ABORT


@action(by=COORDINATOR, description="sends the decision to {i}", source="coordBroadcast")
def send_decision(commitment: Commitment, i: Id) -> None:
    """It sends the decision to one participant."""
    coordinator = commitment.coordinator
    require(coordinator.is_alive and coordinator.decision is not None and coordinator.sent[i] is None)
    coordinator.sent[i] = coordinator.decision


@action(by=FAULT, description="the coordinator dies", source="coordDie")
def coordinator_dies(commitment: Commitment) -> None:
    """The coordinator dies."""
    coordinator = commitment.coordinator
    require(coordinator.is_alive)
    coordinator.is_alive, coordinator.is_faulty = False, True


@action(by=PARTICIPANT, description="{i} votes", source="sendVote")
def send_vote(commitment: Commitment, i: Id) -> None:
    """It sends its vote."""
    require(commitment.participants[i].is_alive and commitment.coordinator.asked[i])
    commitment.participants[i].has_voted = True


@action(by=PARTICIPANT, description="{i} aborts as it voted no", source="abortOnVote")
def abort_on_vote(commitment: Commitment, i: Id) -> None:
    """Who voted no can abort at once."""
    participant = commitment.participants[i]
    require(participant.can_decide and participant.has_voted and participant.vote is Vote.NO)
    participant.decision = Decision.ABORT


@action(by=PARTICIPANT, description="{i} aborts as it is never asked", source="abortOnTimeoutRequest")
def abort_unasked(commitment: Commitment, i: Id) -> None:
    """The coordinator died before it asked."""
    participant, coordinator = commitment.participants[i], commitment.coordinator
    require(participant.can_decide and not coordinator.is_alive and not coordinator.asked[i])
    participant.decision = Decision.ABORT


@action(by=PARTICIPANT, description="{i} forwards to {j}", source="forward")
def forward(commitment: Commitment, i: Id, j: Id) -> None:
    """It forwards the decision to another one."""
    participant = commitment.participants[i]
    require(i != j and participant.is_alive)
    require(participant.forwarded[i] is not None and participant.forwarded[j] is None)
    participant.forwarded[j] = participant.forwarded[i]


@action(by=PARTICIPANT, description="{i} receives from {j}", source="preDecideOnForward")
def receive_forwarded(commitment: Commitment, i: Id, j: Id) -> None:
    """It receives the decision from another participant."""
    participant, other = commitment.participants[i], commitment.participants[j]
    require(i != j and participant.is_alive and participant.forwarded[i] is None and other.forwarded[i] is not None)
    participant.forwarded[i] = other.forwarded[i]


@action(by=PARTICIPANT, description="{i} receives from the coordinator", source="preDecide")
def receive_decision(commitment: Commitment, i: Id) -> None:
    """It receives the decision from the coordinator."""
    participant, sent = commitment.participants[i], commitment.coordinator.sent
    require(participant.is_alive and participant.forwarded[i] is None and sent[i] is not None)
    participant.forwarded[i] = sent[i]


@action(by=PARTICIPANT, description="{i} decides", source="decideNB")
def decide(commitment: Commitment, i: Id) -> None:
    """It decides when everyone has been sent the decision."""
    participant = commitment.participants[i]
    require(participant.is_alive and None not in participant.forwarded)
    participant.decision = participant.forwarded[i]


@action(by=PARTICIPANT, description="{i} aborts as nobody alive has the decision", source="abortOnTimeout")
def abort_on_timeout(commitment: Commitment, i: Id) -> None:
    """The coordinator is dead, and neither it nor a dead participant sent a decision to one that is alive."""
    participants, coordinator = commitment.participants, commitment.coordinator
    require(participants[i].can_decide and not coordinator.is_alive)
    require(all(coordinator.sent[j] is None for j in PARTICIPANTS if participants[j].is_alive))
    require(
        all(
            dead.forwarded[j] is None
            for dead in participants
            for j in PARTICIPANTS
            if not dead.is_alive and participants[j].is_alive
        )
    )
    participants[i].decision = Decision.ABORT


@action(by=FAULT, description="{i} dies", source="parDie")
def participant_dies(commitment: Commitment, i: Id) -> None:
    """A participant dies."""
    participant = commitment.participants[i]
    require(participant.is_alive)
    participant.is_alive, participant.is_faulty = False, True


@always()
def decisions_agree(commitment: Commitment, i: Id, j: Id) -> bool:
    """AC1: no two participants decide differently."""
    one, other = commitment.participants[i], commitment.participants[j]
    return one.decision is not Decision.COMMIT or other.decision is not Decision.ABORT


@always()
def commit_needs_all_votes(commitment: Commitment) -> bool:
    """AC2: who commits does so as all voted yes."""
    premise(any(one.decision is Decision.COMMIT for one in commitment.participants))
    return all(one.vote is Vote.YES for one in commitment.participants)


@always()
def abort_has_a_reason(commitment: Commitment) -> bool:
    """AC3.1: who aborts does so as one voted no or somebody died."""
    participants, coordinator = commitment.participants, commitment.coordinator
    premise(any(one.decision is Decision.ABORT for one in participants))
    return coordinator.is_faulty or any(one.vote is Vote.NO or one.is_faulty for one in participants)


@step()
def decisions_are_kept(before: Commitment, after: Commitment, i: Id) -> bool:
    """AC4: a decision never changes."""
    premise(before.participants[i].decision is not None)
    return after.participants[i].decision is before.participants[i].decision


@inevitable()
def all_decide_or_die(commitment: Commitment) -> bool:
    """AC5, which implies AC3.2: each decides or is faulty; the simple protocol, ACP_SB, violates this."""
    return all(one.decision is not None or one.is_faulty for one in commitment.participants)


def all_vote_yes(commitment: Commitment, i: Id) -> bool:
    """All will vote yes."""
    return all(one.vote is Vote.YES for one in commitment.participants)


def commits_or_dies(commitment: Commitment, i: Id) -> bool:
    """Participant i commits, or it or the coordinator is faulty."""
    one = commitment.participants[i]
    return one.decision is Decision.COMMIT or one.is_faulty or commitment.coordinator.is_faulty


NONBLOCKING_COMMIT = Scenario(
    name="nonblocking-commit",
    story="Participants vote and forward the decision to each other, so that a dead coordinator blocks nobody.",
    state=Commitment,
    initial=begin,
    actions=(
        ask,
        get_vote,
        detect_fault,
        make_decision,
        send_decision,
        coordinator_dies,
        send_vote,
        abort_on_vote,
        abort_unasked,
        forward,
        receive_forwarded,
        receive_decision,
        decide,
        abort_on_timeout,
        participant_dies,
    ),
    properties=(
        decisions_agree,
        commit_needs_all_votes,
        abort_has_a_reason,
        decisions_are_kept,
        all_decide_or_die,
        leads_to(all_vote_yes, commits_or_dies, name="yes_votes_lead_to_commit"),
    ),
    fairness=(
        weakly_fair(
            send_vote,
            abort_on_vote,
            abort_unasked,
            forward,
            receive_forwarded,
            receive_decision,
            decide,
            abort_on_timeout,
            each="i",
        ),
        weakly_fair(ask, get_vote, detect_fault, make_decision, send_decision),
    ),
    bounds={"participants": 2},
)
