"""What the clients' history says of every course of their operations is what trying all orders says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import pytest

from kwalk.model.examples.linearizability import CLIENTS, Client, Phase, call_read, is_linearizable, return_read
from kwalk.model.language import Actor, Array, Model, Scenario, action, array, require, state
from tests.examples.plain_search import explore

ClientId = Annotated[int, CLIENTS]
Operation = tuple[str, int]
CLIENT = Actor("client")


@state
class Clients:
    clients: Array[Client] = array(CLIENTS, Client)


@action(by=CLIENT)
def write_returns(root: Clients, client: ClientId) -> None:
    require(root.clients[client].phase is Phase.WRITING)
    call_read(root.clients, client)


@action(by=CLIENT)
def read_returns(root: Clients, client: ClientId, value: ClientId) -> None:
    require(root.clients[client].phase is Phase.READING)
    root.clients[client].get_ok = value
    return_read(root.clients[client])


ANYTHING_IS_READ = Scenario(
    name="anything-is-read",
    story="Clients write, and then read anything.",
    state=Clients,
    actions=(write_returns, read_returns),
    properties=(),
    bounds={"clients": 2, "servers": 1},
)


def earlier(clients: Array[Client], operation: Operation) -> set[Operation]:
    """The operations that had returned when this one was called."""
    kind, caller = operation
    if kind == "write":
        return set()
    client = clients[caller]
    return {("write", n) for n in client.written_before} | {("read", n) for n in client.read_before}


def orders(clients: Array[Client], left: frozenset[Operation]) -> Iterator[list[Operation]]:
    """All orders of operations in which none comes after one that was called after its return."""
    if not left:
        yield []
    for last in left:
        rest = left - {last}
        if not any(last in earlier(clients, operation) for operation in rest):
            yield from ([*order, last] for order in orders(clients, rest))


def explains(clients: Array[Client], order: list[Operation]) -> bool:
    """Whether every read that has returned saw what was written last."""
    register = None
    for kind, caller in order:
        if kind == "write":
            register = caller
        elif clients[caller].read != register:
            return False
    return True


@pytest.mark.parametrize(("clients", "linearizable", "not_linearizable"), [(2, 33, 4), (3, 1_147, 714)])
def test_a_history_is_linearizable_where_some_order_explains_it(
    clients: int, linearizable: int, not_linearizable: int
) -> None:
    space = explore(Model(ANYTHING_IS_READ, None, {"clients": clients}))
    found = []
    for vector in space.reached:
        root = space.model.state(vector)
        with space.model.active():
            reads = {("read", n) for n in CLIENTS if root.clients[n].phase is Phase.DONE}
            operations = frozenset(reads | {("write", n) for n in CLIENTS})
            found.append(is_linearizable(root.clients))
            assert found[-1] == any(explains(root.clients, order) for order in orders(root.clients, operations))
    assert (found.count(True), found.count(False)) == (linearizable, not_linearizable)
