"""A trace as a sequence diagram: lanes for actors and for what they share, messages between them, and every state.

Words: a *lane* is an actor, or a record of the state that several actors write (ZooKeeper, say). A *message* is an
element of a queue, from the step that puts it there to the step that takes it; it is *lost* if an actor outside of the
system takes it away, as a crash does. Lanes are those of the actions, messages are what the queues of the state show.
A model declares only which actions end or start a process or its session; diagrams *mark* its lanes. A *row* is a line
of a diagram: a step, several that are folded, or the start of a loop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from attrs import evolve, field, frozen

from kwalk.model.language import Domain, Mark, Model
from kwalk.model.language.containers import FifoShape
from kwalk.model.language.records import RecordShape
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.traces.changes import Part, parts_of, pieces, queue_difference, queue_texts
from kwalk.reports.traces.story import Fold, LoopStart, StoryStep, ever_read
from kwalk.search.results.trace import Trace

MOST_FIELDS = 3
"""The number of fields of a message that its arrow shows."""
KIND = re.compile(r"[(,] ?kind (\w+)")
"""The field of a record that says what it is."""


@frozen
class Lane:
    """A lane of the diagram. `member` is that of the actor's domain, or ""; lanes of one member are neighbours."""

    name: str
    member: str = ""
    system: bool = True
    shared: bool = False
    """Whether it is a record that several actors write."""
    of: Domain | None = field(default=None, eq=False, repr=False)
    """The domain of which `member` is a member."""


@frozen
class Message:
    """An element of a queue. The lanes are numbers; step 0 is the initial state, and `received` is None at the end."""

    text: str
    sender: int | None
    sent: int
    receiver: int | None = None
    received: int | None = None
    lost: bool = False

    @property
    def label(self) -> str:
        """What it is in a word: its field `kind`, or else the name of its class."""
        kind = KIND.search(self.text)
        return kind[1] if kind else self.text.partition("(")[0]

    @property
    def content(self) -> str:
        """Its first fields that hold something, but for `kind`; empty if it has none."""
        fields = (KIND.sub("", self.text).partition("(")[2].removesuffix(")")).split(", ")
        names = [field.strip(", ") for field in fields if not field.endswith((" none", " no", " {}"))]
        return ", ".join([*filter(None, names)][:MOST_FIELDS])


@frozen
class SequenceDiagram:
    """The lanes, for each step its actor's lane and the shared lanes that it writes, the messages, and the marks."""

    lanes: tuple[Lane, ...]
    actors: tuple[int, ...]
    writes: tuple[tuple[int, ...], ...]
    messages: tuple[Message, ...]
    marks: tuple[tuple[Mark, tuple[int, ...]] | None, ...] = ()
    """For each step its mark and the lanes that it is about, None without a mark."""


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
    lanes = _ordered(_with_shared(tuple(dict.fromkeys(acting)), [visible(str(name), LONGEST) for name in shared]))
    number = {lane.name: place for place, lane in enumerate(lanes)}
    actors = tuple(number[lane.name] for lane in acting)
    of_record = {lane.name.casefold(): place for place, lane in enumerate(lanes) if lane.shared}
    written = [[of_record[visible(str(n), LONGEST).casefold()] for n in shared if n in names] for names in changed]
    queues = [part for part in parts if isinstance(part.shape, FifoShape)]
    return SequenceDiagram(
        lanes,
        actors,
        tuple(tuple(n for n in ns if n != own) for ns, own in zip(written, actors, strict=True)),
        tuple(m for part in queues for m in _messages(model, part, trace, actors, lanes)),
        tuple(_mark(model, key, lane, lanes) for key, lane in zip(trace.actions, actors, strict=True)),
    )


def _with_shared(acting: Sequence[Lane], shared: Sequence[str]) -> Iterator[Lane]:
    """Yield the lanes of actors and of shared records; an actor with the name of a record is in the record's lane."""
    names = {name.casefold(): name for name in shared}
    for lane in acting:
        yield evolve(lane, shared=names.pop(lane.name.casefold(), None) is not None)
    yield from (Lane(name, shared=True) for name in names.values())


def _mark(model: Model, key: str, lane: int, lanes: Sequence[Lane]) -> tuple[Mark, tuple[int, ...]] | None:
    """Return the mark of a step with its lanes: those of the first argument over the domain of an actor, or its own."""
    instance = model.instance(key)
    if instance.action.mark is None:
        return None
    for parameter, value in zip(instance.action.parameters, instance.args, strict=True):
        with model.active():
            label = visible(parameter.label(value), LONGEST)
        found = tuple(n for n, one in enumerate(lanes) if one.of is parameter.domain and one.member == label)
        if found:
            return instance.action.mark, found
    return instance.action.mark, (lane,)


def _lane_of(model: Model, key: str) -> Lane:
    instance = model.instance(key)
    actor = instance.action.by
    with model.active():
        name = instance.actor
    member = name.removeprefix(f"{actor.name} ") if actor.of is not None and name != actor.name else ""
    return Lane(visible(name, LONGEST), visible(member, LONGEST), actor.system, of=actor.of)


def _ordered(lanes: Iterable[Lane]) -> tuple[Lane, ...]:
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


SYMBOLS = {
    Mark.CRASH: "✕",
    Mark.STOP: "■",
    Mark.START: "▶",
    Mark.SESSION_EXPIRED: "⊘",
    Mark.SESSION_ESTABLISHED: "○",
}
"""The symbol of each mark, for text."""


def legend_of(diagram: SequenceDiagram) -> str:
    """Return what the marks of a diagram mean; empty without marks."""
    used = {found[0] for found in diagram.marks if found}
    return ", ".join(f"{symbol} {mark.value}" for mark, symbol in SYMBOLS.items() if mark in used)


# Rows.


@frozen
class Row:
    """A line of a diagram; `steps` are its numbers, and `chapter` is None for the initial state."""

    chapter: StoryStep | Fold | LoopStart | None
    steps: tuple[int, ...]


def rows_of(chapters: Iterable[StoryStep | Fold | LoopStart]) -> tuple[Row, ...]:
    """Return the rows: one for the initial state, then one for each chapter."""
    return (Row(None, (0,)), *map(_row, chapters))


def _row(chapter: StoryStep | Fold | LoopStart) -> Row:
    if isinstance(chapter, StoryStep):
        return Row(chapter, (chapter.number,))
    return Row(chapter, tuple(step.number for step in chapter.steps) if isinstance(chapter, Fold) else ())


@frozen
class Arrow:
    """Messages between the same two rows and lanes, drawn as one arrow; `sender` is None from the initial state."""

    sender: int | None
    sent: int
    receiver: int
    received: int
    messages: tuple[Message, ...]

    @property
    def lost(self) -> bool:
        """Whether an actor outside of the system takes them away."""
        return self.messages[0].lost

    @property
    def text(self) -> str:
        """What was sent: the messages by their labels, and the fields of the first one if it is alone of its kind."""
        names = Counter(message.label for message in self.messages)
        if len(names) > 1:
            del names["none"]  # an element without content beside others
        first = next(iter(names))
        content = next(message.content for message in self.messages if message.label == first)
        texts = [f"{name} ×{count}" if count > 1 else name for name, count in names.items()]
        return f"{first}: {content}" if content and names[first] == 1 else ", ".join(texts)


def arrows_of(diagram: SequenceDiagram, rows: Sequence[Row]) -> Iterator[Arrow]:
    """Yield the arrows between rows; a message within a row or a lane, or never received, has none."""
    place = {step: number for number, row in enumerate(rows) for step in row.steps}
    groups: dict[tuple[int | None, int, int, int], list[Message]] = {}
    for message in diagram.messages:
        if message.receiver is None or message.received is None or message.sender == message.receiver:
            continue
        if message.sent in place and message.received in place and place[message.sent] != place[message.received]:
            key = (message.sender, place[message.sent], message.receiver, place[message.received])
            groups.setdefault(key, []).append(message)
    yield from (Arrow(*key, tuple(found)) for key, found in groups.items())


def writes_of(diagram: SequenceDiagram, row: Row) -> Mapping[tuple[int, int], list[int]]:
    """Return the writes of a row: for each actor and shared lane the numbers of the steps."""
    found: dict[tuple[int, int], list[int]] = {}
    for step in filter(None, row.steps):
        for other in diagram.writes[step - 1]:
            found.setdefault((diagram.actors[step - 1], other), []).append(step)
    return found


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
