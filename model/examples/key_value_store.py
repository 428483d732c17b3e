"""A key-value store: what a B-tree is for.

Source: L. Hochstein's kvstore.tla in tlaplus/Examples (btree), without deletions, which its B-tree does not have.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    Scenario,
    action,
    array,
    choice,
    flag,
    member,
    optional,
    premise,
    require,
    state,
    step,
    value,
)

KEYS = Domain("keys", "keys of the store", label=lambda n: str(n + 1))
VALUES = Domain("values", "values of the store", label=lambda n: "xyz"[n] if n < 3 else str(n))

CLIENT = Actor("client")
STORE = Actor("store")


class Kind(Enum):
    """What a client asks for."""

    GET = "get"
    INSERT = "insert"
    UPDATE = "update"


class Outcome(Enum):
    """How a request ends."""

    VALUE = "a value"
    MISSING = "missing"
    OK = "ok"
    ERROR = "error"


@value
class Request:
    """What a client asks for, with the value for insert and update."""

    kind: Kind = choice(Kind)
    key: int = member(KEYS)
    value: int | None = optional(VALUES)


@value
class Response:
    """How a request ends, with the value for get."""

    outcome: Outcome = choice(Outcome)
    value: int | None = optional(VALUES)


@state
class Store:
    """A store of values by key; a response ends a request."""

    values: Array[int | None] = array(KEYS, optional(VALUES))
    request: Request | None = optional(Request)
    response: Response | None = optional(Response)
    is_working: bool = flag()


@action(by=CLIENT, description="asks for {request}", source="GetReq, InsertReq, UpdateReq")
def ask_store(store: Store, request: Request) -> None:
    """A request comes while there is no other."""
    require(not store.is_working and (request.kind is Kind.GET) == (request.value is None))
    store.request, store.response, store.is_working = request, None, True


@action(by=STORE, description="answers", source="GetResp, InsertResp, UpdateResp")
def answer(store: Store) -> None:
    """The request is carried out at once."""
    require(store.is_working)
    assert store.request is not None
    request, found = store.request, store.values[store.request.key]
    store.is_working = False
    if request.kind is Kind.GET:
        store.response = Response(Outcome.MISSING if found is None else Outcome.VALUE, found)
    elif (request.kind is Kind.INSERT) == (found is None):
        store.values[request.key] = request.value
        store.response = Response(Outcome.OK)
    else:
        store.response = Response(Outcome.ERROR)


@step()
def values_change_by_answers(before: Store, after: Store) -> bool:
    """Nothing changes unless a request is carried out."""
    premise(not before.is_working)
    return after.values == before.values


KEY_VALUE_STORE = Scenario(
    name="key-value-store",
    story="Values are stored by key.",
    state=Store,
    actions=(ask_store, answer),
    properties=(values_change_by_answers,),
    bounds={"keys": 4, "values": 3},
)
