"""Transaction commit: what it means that resource managers commit or abort together, without a protocol.

Words: a *resource manager* (RM) holds a part of the transaction. The model has no messages and no manager: an RM
commits when it sees that all others are ready, and aborts when it sees that none has committed. Protocols such as
two-phase commit implement this; see `two_phase_commit`, which refines it.

Source: J. Gray, L. Lamport, "Consensus on Transaction Commit" (2004), section 2. Counts: 34 distinct states, 94
generated, TLC depth 7 for three RMs (tlaplus/Examples, specifications/transaction_commit/TCommit.cfg in manifest.json).
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
    reachable,
    require,
    state,
    step,
)

RMS = Domain("rms", "resource managers")
Rm = Annotated[int, RMS]

RM = Actor("resource manager", of=RMS)


class RmState(Enum):
    """What a resource manager has done with its part."""

    WORKING = "working"
    PREPARED = "prepared"
    COMMITTED = "committed"
    ABORTED = "aborted"


@state
class Commitment:
    """One transaction: what each resource manager has done with its part."""

    rm: Array[RmState] = array(RMS, RmState)


@action(by=RM, description="prepares", source="Prepare")
def prepare(commitment: Commitment, rm: Rm) -> None:
    """The RM is ready to commit."""
    require(commitment.rm[rm] is RmState.WORKING)
    commitment.rm[rm] = RmState.PREPARED


@action(by=RM, description="commits", source="DecideC")
def decide_to_commit(commitment: Commitment, rm: Rm) -> None:
    """Once every RM is ready or has committed."""
    require(commitment.rm[rm] is RmState.PREPARED)
    require(all(other in (RmState.PREPARED, RmState.COMMITTED) for other in commitment.rm))
    commitment.rm[rm] = RmState.COMMITTED


@action(by=RM, description="aborts", source="DecideA")
def decide_to_abort(commitment: Commitment, rm: Rm) -> None:
    """As long as no RM has committed."""
    require(commitment.rm[rm] in (RmState.WORKING, RmState.PREPARED))
    require(all(other is not RmState.COMMITTED for other in commitment.rm))
    commitment.rm[rm] = RmState.ABORTED


@always(symptom="half of the transaction is booked, half is not")
def managers_agree(commitment: Commitment) -> bool:
    """No RM has committed while another has aborted."""
    return not (
        any(rm is RmState.COMMITTED for rm in commitment.rm) and any(rm is RmState.ABORTED for rm in commitment.rm)
    )


@step(symptom="a booked transaction disappears")
def decisions_last(before: Commitment, after: Commitment, rm: Rm) -> bool:
    """An RM that has committed or aborted never changes its mind."""
    return before.rm[rm] not in (RmState.COMMITTED, RmState.ABORTED) or after.rm[rm] == before.rm[rm]


@reachable()
def all_commit(commitment: Commitment) -> bool:
    """The transaction can succeed."""
    return all(rm is RmState.COMMITTED for rm in commitment.rm)


@reachable()
def all_abort(commitment: Commitment) -> bool:
    """The transaction can fail everywhere."""
    return all(rm is RmState.ABORTED for rm in commitment.rm)


TRANSACTION_COMMIT = Scenario(
    name="transaction-commit",
    story="Resource managers commit or abort together; how they find out what the others did is left open.",
    state=Commitment,
    actions=(prepare, decide_to_commit, decide_to_abort),
    properties=(managers_agree, decisions_last, all_commit, all_abort),
    bounds={"rms": 3},
    source="tlaplus/Examples specifications/transaction_commit/TCommit.tla",
)
