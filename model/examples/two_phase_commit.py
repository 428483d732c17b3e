"""Two-phase commit: a transaction manager makes resource managers commit or abort together.

Words: a *resource manager* (RM) holds a part of the transaction; the *transaction manager* (TM) decides. A message that
was sent stays: `prepared_sent` and `decision_sent` are the set of all messages ever sent, so a message may be received
late, twice or never. This encoding is what the counts depend on. It refines `transaction_commit`.

Source: J. Gray, L. Lamport, "Consensus on Transaction Commit" (2004), section 3. Counts: 288 distinct states, 1,146
generated, TLC depth 11 for three RMs (tlaplus/Examples, specifications/transaction_commit/TwoPhase.cfg in
manifest.json); 288 for three and 8,832 for five (stateright, examples/2pc.rs); 50,816 for six (end of TwoPhase.tla).
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.examples.transaction_commit import RMS, TRANSACTION_COMMIT, Commitment, Rm, RmState
from kwalk.model.language import (
    Actor,
    Array,
    Scenario,
    action,
    always,
    array,
    choice,
    flag,
    reachable,
    refines,
    require,
    state,
    step,
    subset,
)

TM = Actor("transaction manager")
RM = Actor("resource manager", of=RMS)


class TmState(Enum):
    """What the transaction manager has decided."""

    UNDECIDED = "undecided"
    COMMITTED = "committed"
    ABORTED = "aborted"


@state
class Transaction:
    """One transaction: its managers, and all messages that were ever sent."""

    rm: Array[RmState] = array(RMS, RmState)
    tm: TmState = choice(TmState)
    tm_prepared: frozenset[int] = subset(RMS)
    prepared_sent: frozenset[int] = subset(RMS)
    commit_sent: bool = flag()
    abort_sent: bool = flag()


@action(by=RM, description="prepares")
def prepare(transaction: Transaction, rm: Rm) -> None:
    """The RM promises to commit on request, and notifies the TM."""
    require(transaction.rm[rm] is RmState.WORKING)
    transaction.rm[rm] = RmState.PREPARED
    transaction.prepared_sent = transaction.prepared_sent | {rm}


@action(by=RM, description="aborts on its own")
def choose_to_abort(transaction: Transaction, rm: Rm) -> None:
    """The RM aborts before it has promised; it notifies no other process."""
    require(transaction.rm[rm] is RmState.WORKING)
    transaction.rm[rm] = RmState.ABORTED


@action(by=TM, description="receives the promise of resource manager {rm}")
def receive_prepared(transaction: Transaction, rm: Rm) -> None:
    """The TM records one RM's promise."""
    require(transaction.tm is TmState.UNDECIDED and rm in transaction.prepared_sent)
    transaction.tm_prepared = transaction.tm_prepared | {rm}


@action(by=TM, description="commits")
def commit(transaction: Transaction) -> None:
    """With every RM's promise the TM decides to commit, and notifies all."""
    require(transaction.tm is TmState.UNDECIDED and transaction.tm_prepared == frozenset(RMS))
    transaction.tm = TmState.COMMITTED
    transaction.commit_sent = True


@action(by=TM, description="aborts")
def abort(transaction: Transaction) -> None:
    """The TM may abort whenever it has not decided yet."""
    require(transaction.tm is TmState.UNDECIDED)
    transaction.tm = TmState.ABORTED
    transaction.abort_sent = True


@action(by=RM, description="receives the order to commit")
def receive_commit(transaction: Transaction, rm: Rm) -> None:
    """The RM obeys, in whatever state it is: only the invariant knows that this is safe."""
    require(transaction.commit_sent)
    transaction.rm[rm] = RmState.COMMITTED


@action(by=RM, description="receives the order to abort")
def receive_abort(transaction: Transaction, rm: Rm) -> None:
    """The RM obeys, in whatever state it is."""
    require(transaction.abort_sent)
    transaction.rm[rm] = RmState.ABORTED


@always(symptom="half of the transaction is booked, half is not")
def managers_agree(transaction: Transaction) -> bool:
    """No RM has committed while another has aborted."""
    return not (
        any(rm is RmState.COMMITTED for rm in transaction.rm) and any(rm is RmState.ABORTED for rm in transaction.rm)
    )


@step(symptom="a booked transaction disappears")
def decisions_last(before: Transaction, after: Transaction, rm: Rm) -> bool:
    """An RM that has committed or aborted never changes its mind."""
    return before.rm[rm] not in (RmState.COMMITTED, RmState.ABORTED) or after.rm[rm] == before.rm[rm]


@reachable()
def all_commit(transaction: Transaction) -> bool:
    """The transaction can succeed."""
    return all(rm is RmState.COMMITTED for rm in transaction.rm)


@reachable()
def all_abort(transaction: Transaction) -> bool:
    """The transaction can fail everywhere."""
    return all(rm is RmState.ABORTED for rm in transaction.rm)


def commitment_of(transaction: Transaction, commitment: Commitment) -> None:
    """What the RMs have done; the manager and the messages are how they find out."""
    commitment.rm = transaction.rm


TWO_PHASE_COMMIT = Scenario(
    name="two-phase-commit",
    story="A transaction manager collects promises and decides; resource managers follow; messages are never lost.",
    state=Transaction,
    actions=(prepare, choose_to_abort, receive_prepared, commit, abort, receive_commit, receive_abort),
    properties=(managers_agree, decisions_last, all_commit, all_abort, refines(TRANSACTION_COMMIT, commitment_of)),
    bounds={"rms": 3},
    source="stateright examples/2pc.rs; tlaplus/Examples specifications/transaction_commit/TwoPhase.tla",
)
