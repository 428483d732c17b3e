"""A trace as a sequence diagram: lanes for actors and for what they share, messages between them, and every state.

Words: a *lane* is an actor, or a record of the state that several actors write (ZooKeeper, say). A *message* is an
element of a queue, from the step that puts it there to the step that takes it; it is *lost* if an actor outside of the
system takes it away, as a crash does. Nothing of it is declared by a model: lanes are those of the actions, messages
are what the queues of the state show.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from attrs import field, frozen

from kwalk.model.language import Model
from kwalk.model.language.containers import FifoShape
from kwalk.model.language.records import RecordShape
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.traces.changes import Part, parts_of, pieces, queue_difference, queue_texts
from kwalk.reports.traces.story import ever_read
from kwalk.search.results.trace import Trace


@frozen
class Lane:
    """A lane of the diagram. `member` is that of the actor's domain, or ""; lanes of one member are neighbours."""

    name: str
    member: str = ""
    system: bool = True
    shared: bool = False
    """Whether it is a record that several actors write."""


@frozen
class Message:
    """An element of a queue. The lanes are numbers; step 0 is the initial state, and `received` is None at the end."""

    text: str
    sender: int | None
    sent: int
    receiver: int | None = None
    received: int | None = None
    lost: bool = False


@frozen
class SequenceDiagram:
    """The lanes, for each step its actor's lane and the shared lanes that it writes, and the messages."""

    lanes: tuple[Lane, ...]
    actors: tuple[int, ...]
    writes: tuple[tuple[int, ...], ...]
    messages: tuple[Message, ...]


def sequence_of(model: Model, trace: Trace) -> SequenceDiagram:
    """Return the diagram of a trace."""
    parts = parts_of(model)
    acting = [_lane_of(model, key) for key in trace.actions]
    changed = [
        frozenset(part.path[0] for part in parts if part.numbers(before) != part.numbers(after))
        for before, after in pairwise(trace.states)
    ]
    with model.active():
        records = [name for name, shape in pieces(model.shape) if isinstance(shape, RecordShape)]
    shared = [
        name
        for name in records
        if len({lane.name for lane, names in zip(acting, changed, strict=True) if name in names}) > 1
    ]
    lanes = _ordered([*dict.fromkeys(acting), *(Lane(visible(str(name), LONGEST), shared=True) for name in shared)])
    number = {lane.name: place for place, lane in enumerate(lanes)}
    actors = tuple(number[lane.name] for lane in acting)
    queues = [part for part in parts if isinstance(part.shape, FifoShape)]
    return SequenceDiagram(
        lanes,
        actors,
        tuple(tuple(number[visible(str(n), LONGEST)] for n in shared if n in names) for names in changed),
        tuple(m for part in queues for m in _messages(model, part, trace, actors, lanes)),
    )


def _lane_of(model: Model, key: str) -> Lane:
    instance = model.instance(key)
    actor = instance.action.by
    with model.active():
        name = instance.actor
    member = name.removeprefix(f"{actor.name} ") if actor.of is not None and name != actor.name else ""
    return Lane(visible(name, LONGEST), visible(member, LONGEST), actor.system)


def _ordered(lanes: Sequence[Lane]) -> tuple[Lane, ...]:
    """Return the actors outside of the system, then the shared records, then the system: member by member."""

    def rank(lane: Lane) -> tuple[int, str, str]:
        if lane.shared or not lane.system:
            return (1 if lane.shared else 0), "", ""
        return (3, lane.member, lane.name) if lane.member else (2, "", "")

    return tuple(sorted(lanes, key=rank))


def _messages(
    model: Model, part: Part, trace: Trace, actors: Sequence[int], lanes: Sequence[Lane]
) -> Iterator[Message]:
    """Yield what a queue held: in the order in which it is taken, then what is left at the end."""
    with model.active():
        contents = [queue_texts(part, state) for state in trace.states]
    waiting = [Message(visible(text, LONGEST), None, 0) for text in contents[0]]
    for step, (old, new) in enumerate(pairwise(contents), start=1):
        taken, put = queue_difference(old, new)
        lane = actors[step - 1]
        for message in waiting[:taken]:
            yield Message(message.text, message.sender, message.sent, lane, step, lost=not lanes[lane].system)
        waiting = waiting[taken:] + [Message(visible(text, LONGEST), lane, step) for text in put]
    yield from waiting


@frozen
class StateTable:
    """Every state of a trace as text: the paths of its parts, their first values, and what changes at each step."""

    paths: tuple[tuple[str, ...], ...]
    first: tuple[str, ...]
    changes: tuple[dict[int, str], ...] = field(repr=False)
    """By the number of the part, for each step."""
    read: tuple[int, ...] = ()
    """The numbers of the parts that the property reads in any state of the trace."""


def states_of(model: Model, trace: Trace) -> StateTable:
    """Return every state of a trace as text."""
    parts = parts_of(model)
    prop = next((prop for prop in model.properties if prop.key == trace.prop), None)
    read = ever_read(model, trace, prop)
    with model.active():
        return StateTable(
            tuple(tuple(visible(str(token), LONGEST) for token in part.path) for part in parts),
            tuple(visible(part.value_text(trace.states[0]), LONGEST) for part in parts),
            tuple(
                {
                    number: visible(part.value_text(after), LONGEST)
                    for number, part in enumerate(parts)
                    if part.numbers(before) != part.numbers(after)
                }
                for before, after in pairwise(trace.states)
            ),
            tuple(number for number, part in enumerate(parts) if part.start in read),
        )
