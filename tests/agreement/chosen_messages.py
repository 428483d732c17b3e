"""A model with sets of records: of two classes, of a class with many values, and in an array."""

from __future__ import annotations

from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Scenario,
    action,
    always,
    array,
    bounded_set,
    member,
    number,
    optional,
    reachable,
    require,
    state,
    subset,
    value,
)

NODES = Domain("nodes", label=lambda n: f"n{n}")
ROOM = Bound("room")
NODE = Actor("node", of=NODES)


@value
class Ask:
    """A node asks."""

    by: int = member(NODES)


@value
class Reply:
    """A node answers another."""

    by: int = member(NODES)
    to: int | None = optional(NODES)
    those: frozenset[int] = subset(NODES)


@value
class Entry:
    """A record of many values."""

    at: int = number(0, 1000)
    by: int = member(NODES)


Node = Annotated[int, NODES]


@state
class Office:
    """What was sent, what each node has read, and a few entries."""

    sent: set[Ask | Reply] = subset(Ask, Reply)
    read: Array[set[Ask]] = array(NODES, subset(Ask))
    log: set[Entry] = bounded_set(Entry, ROOM)


@action(by=NODE, description="asks")
def ask(office: Office, node: Node) -> None:
    """Once."""
    require(Ask(by=node) not in office.sent)
    office.sent.add(Ask(by=node))


@action(by=NODE, description="answers {other}")
def answer(office: Office, node: Node, other: Node) -> None:
    """With those who have asked; the question is read."""
    require(Ask(by=other) in office.sent and node != other)
    asking = {m for m in office.sent if isinstance(m, Ask)}
    office.sent.add(Reply(by=node, to=other, those=frozenset(m.by for m in asking)))
    office.read[node].update(asking)


@action(by=NODE, description="writes an entry")
def write(office: Office, node: Node) -> None:
    """After the last one."""
    last = max((entry.at for entry in office.log), default=0)
    require(last < 3)
    office.log.add(Entry(at=last + 1 + node, by=node))


@action(by=NODE, description="forgets what {other} has written")
def forget(office: Office, node: Node, other: Node) -> None:
    """The entries of one node."""
    require(any(entry.by == other for entry in office.log))
    office.log = {entry for entry in office.log if entry.by != other}
    office.read[node].discard(Ask(by=other))


@always()
def answers_follow_questions(office: Office) -> bool:
    """Who is answered has asked."""
    asked = {m.by for m in office.sent if isinstance(m, Ask)}
    return all(m.to in asked and m.those <= asked for m in office.sent if isinstance(m, Reply))


@always()
def few_entries(office: Office) -> bool:
    """Violated: there can be three."""
    return len(office.log) < 3


@reachable()
def all_read(office: Office, node: Node) -> bool:
    """A node can read all questions."""
    return len(office.read[node]) == len(NODES)


OFFICE = Scenario(
    name="office",
    story="Messages in sets.",
    state=Office,
    actions=(ask, answer, write, forget),
    properties=(answers_follow_questions, few_entries, all_read),
    bounds={"nodes": 2, "room": 3},
)
