"""A key-value store with snapshot isolation, which is weaker than serializability: write skew is possible.

A transaction takes a snapshot of the store, reads and writes its own copy, and commits if no transaction that committed
meanwhile wrote a key that it writes. Whether a set of finished transactions is isolated is defined by what a client can
observe: there is an order of them in which each read could have seen what it returned.

Words: an *execution* is an order of the transactions with the state of the store before each. A *read state* of an
operation is a state at or before its transaction in which it could have read its value. *Write skew* is what snapshot
isolation allows and serializability does not: two transactions each read what the other writes.

Source: KVsnap.tla, with ClientCentric.tla for the properties (N. Crooks et al., "Seeing is Believing", PODC 2017), by
M. Demirbas in tlaplus/Examples (KeyValueStore). Counts: for 2 keys and 2 transactions without symmetry, TLC prints
2,098 distinct and 3,475 generated states and a depth of 9. It generates a step of `Terminating` in each of the 324
states in which all transactions are done, which is no step here. Both find that `SnapshotIsolation` and `Termination`
hold and that `Serialization` does not.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    array,
    choice,
    fifo,
    inevitable,
    member,
    optional,
    require,
    state,
    subset,
    value,
    weakly_fair,
)

KEYS = Domain("keys", "keys of the store", label=lambda n: f"k{n + 1}")
TRANSACTIONS = Domain("transactions", "transactions; each writes its own id", label=lambda n: f"t{n + 1}")

Tx = Annotated[int, TRANSACTIONS]
Keys = Annotated[frozenset[int], subset(KEYS)]

CLIENT = Actor("transaction", of=TRANSACTIONS)
ORDERS = ((0, 1), (1, 0))
"""The orders of two transactions."""


class Phase(Enum):
    """What a transaction does next."""

    START = "start"
    READ = "read"
    UPDATE = "update"
    COMMIT = "commit"
    DONE = "done"


class Kind(Enum):
    """What an operation does."""

    READ = "reads"
    WRITE = "writes"


@value
class Operation:
    """A key that was read or written, with its value: the transaction that wrote it, or None."""

    kind: Kind = choice(Kind)
    key: int = member(KEYS)
    written: int | None = optional(TRANSACTIONS)


@state
class Transaction:
    """Its own copy of the store, what it reads and writes, and what its client has seen."""

    phase: Phase = choice(Phase)
    snapshot: Array[int | None] = array(KEYS, optional(TRANSACTIONS))
    reads: frozenset[int] = subset(KEYS)
    writes: frozenset[int] = subset(KEYS)
    log: Fifo[Operation] = fifo(Operation, 2 * KEYS.bound)


@state
class Database:
    """The store, the transactions that are open, and which keys each missed."""

    store: Array[int | None] = array(KEYS, optional(TRANSACTIONS))
    open: frozenset[int] = subset(TRANSACTIONS)
    missed: Array[frozenset[int]] = array(TRANSACTIONS, subset(KEYS))
    transactions: Array[Transaction] = array(TRANSACTIONS, Transaction)


@action(by=CLIENT, description="transaction {tx} will read {reads} and write {writes}", source="START")
def start(database: Database, tx: Tx, reads: Keys, writes: Keys) -> None:
    """A transaction takes a snapshot of the store."""
    transaction = database.transactions[tx]
    require(transaction.phase is Phase.START and reads and writes)
    database.open = database.open | {tx}
    transaction.snapshot = database.store
    transaction.reads, transaction.writes = reads, writes
    transaction.phase = Phase.READ


@action(by=CLIENT, description="transaction {tx} reads", source="READ")
def read(database: Database, tx: Tx) -> None:
    """It reads from its snapshot."""
    transaction = database.transactions[tx]
    require(transaction.phase is Phase.READ)
    found = [Operation(Kind.READ, key, transaction.snapshot[key]) for key in sorted(transaction.reads)]
    transaction.log = transaction.log + found
    transaction.phase = Phase.UPDATE


@action(by=CLIENT, description="transaction {tx} writes to its snapshot", source="UPDATE")
def update(database: Database, tx: Tx) -> None:
    """It writes to its snapshot."""
    transaction = database.transactions[tx]
    require(transaction.phase is Phase.UPDATE)
    transaction.snapshot = [tx if key in transaction.writes else transaction.snapshot[key] for key in KEYS]
    transaction.phase = Phase.COMMIT


@action(by=CLIENT, description="transaction {tx} commits or gives up", source="COMMIT")
def commit(database: Database, tx: Tx) -> None:
    """It commits if it missed no write of a key that it writes; the transactions that are open miss its writes."""
    transaction = database.transactions[tx]
    require(transaction.phase is Phase.COMMIT)
    if not database.missed[tx] & transaction.writes:
        database.open = database.open - {tx}
        for other in sorted(database.open):
            database.missed[other] = database.missed[other] | transaction.writes
        for key in sorted(transaction.writes):
            database.store[key] = transaction.snapshot[key]
        transaction.log = transaction.log + [Operation(Kind.WRITE, key, tx) for key in sorted(transaction.writes)]
    transaction.phase = Phase.DONE


State = tuple[int | None, ...]


def after(before: State, log: Fifo[Operation]) -> State:
    """The store after the writes of a transaction."""
    found = before
    for one in log:
        if one.kind is Kind.WRITE:
            found = tuple(one.written if key == one.key else found[key] for key in KEYS)
    return found


def execution(database: Database, order: tuple[int, ...]) -> list[State]:
    """The states of the store before each transaction of an order, and after the last."""
    states: list[State] = [tuple(None for _ in KEYS)]
    for tx in order:
        states = states + [after(states[-1], database.transactions[tx].log)]
    return states


def could_read(seen: State, log: Fifo[Operation], number: int) -> bool:
    """Whether a state is a read state of an operation: a write has every state, a read also what was written before."""
    one = log[number]
    return (
        one.kind is Kind.WRITE
        or seen[one.key] == one.written
        or Operation(Kind.WRITE, one.key, one.written) in log[:number]
    )


def is_complete(seen: State, log: Fifo[Operation]) -> bool:
    """Whether a state is a read state of all operations of a transaction."""
    return all(could_read(seen, log, number) for number in range(len(log)))


def reads_a_snapshot(states: list[State], log: Fifo[Operation], place: int) -> bool:
    """Whether all reads come from one state, and nothing that is written has changed between it and the transaction."""
    written = {one.key for one in log if one.kind is Kind.WRITE}
    return any(
        is_complete(states[seen], log)
        and all(key not in written or states[seen][key] == states[place][key] for key in KEYS)
        for seen in range(place + 1)
    )


@always()
def snapshots_are_isolated(database: Database) -> bool:
    """There is an order in which each transaction reads from one earlier state, without a conflict since."""
    return any(
        all(
            reads_a_snapshot(execution(database, order), database.transactions[order[place]].log, place)
            for place in range(len(order))
        )
        for order in ORDERS
    )


@always()
def transactions_are_serializable(database: Database) -> bool:
    """There is an order in which each transaction reads from the state just before it."""
    return any(
        all(
            is_complete(execution(database, order)[place], database.transactions[order[place]].log)
            for place in range(len(order))
        )
        for order in ORDERS
    )


@inevitable()
def all_are_done(database: Database) -> bool:
    """All transactions end."""
    return all(transaction.phase is Phase.DONE for transaction in database.transactions)


SNAPSHOT_ISOLATION = Scenario(
    name="snapshot-isolation",
    story="Two transactions read and write a store, each on a snapshot of its own.",
    state=Database,
    actions=(start, read, update, commit),
    properties=(snapshots_are_isolated, transactions_are_serializable, all_are_done),
    fairness=(weakly_fair(start, read, update, commit, each="tx"),),
    bounds={"keys": 2, "transactions": 2},
)
