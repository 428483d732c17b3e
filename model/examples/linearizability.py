"""Clients that write a register and then read it, each once, and whether what they see is linearizable.

Words: an operation is *called* and *returns*; one is *before* another if it returns before the other is called. What
the clients see is *linearizable* if the operations could have happened one at a time, in an order that keeps what was
before. Every client writes a value of its own, known by the client's number, and calls its write at the start.

Source: M. Herlihy, J. Wing, "Linearizability" (TOPLAS 12(3), 1990); that looking at two values at a time is enough is
from P. Gibbons, E. Korach, "Testing shared memories" (SIAM J. Comput. 26(4), 1997). The clients are those of stateright
0.31, src/actor/register.rs. Its tester (src/semantics/linearizability.rs) keeps, for each operation, how many of every
other client's had returned when it was called. Nothing returns before a write is called; so what remains is who had
written and who had read when a client called its read, and what it read.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.language import Array, Domain, choice, flag, optional, state, subset

SERVERS = Domain("servers", "servers that make up the register")
CLIENTS = Domain("clients", "clients, no more than servers, each with its value", label=lambda n: chr(ord("A") + n))


class Phase(Enum):
    """What a client waits for."""

    WRITING = "writing"
    READING = "reading"
    DONE = "done"


@state
class Client:
    """One client: its phase, the history of its read, and its messages on their way."""

    phase: Phase = choice(Phase)
    read: int | None = optional(CLIENTS)
    written_before: frozenset[int] = subset(CLIENTS)
    read_before: frozenset[int] = subset(CLIENTS)
    put_ok_from: frozenset[int] = subset(SERVERS)
    get: bool = flag()
    get_ok: int | None = optional(CLIENTS)
    put: bool = flag(default=True)


def call_read(clients: Array[Client], caller: int) -> None:
    """A client's write has returned, and it calls its read: the history notes which operations are over."""
    reader = clients[caller]
    reader.phase, reader.get = Phase.READING, True
    reader.written_before = frozenset({n for n, client in enumerate(clients) if client.phase is not Phase.WRITING})
    reader.read_before = frozenset({n for n, client in enumerate(clients) if client.phase is Phase.DONE})


def return_read(reader: Client) -> None:
    """The answer has arrived, and the client is done."""
    reader.phase, reader.read, reader.get_ok = Phase.DONE, reader.get_ok, None


def was_before(clients: Array[Client], old: int, new: int) -> bool:
    """Whether the register held one value before another: some operation on the old one was before a read of the new.

    Between a write and the next one, the register holds one value, so that this goes for all operations on the two.
    """
    return any(
        reader.read == new
        and (old in reader.written_before or any(clients[n].read == old for n in CLIENTS if n in reader.read_before))
        for reader in clients
    )


def is_linearizable(clients: Array[Client]) -> bool:
    """Whether no two values have each been in the register before the other."""
    return not any(
        was_before(clients, one, other) and was_before(clients, other, one)
        for one in CLIENTS
        for other in CLIENTS
        if one < other
    )
