"""What a step changed, as text: "isr {1, 2} → {2}", "requests + LeaderAndIsr(topic t, partition 0)".

Words: a *part* is the smallest piece of a state that is shown as one value: a scalar, a set, a queue, a message. A
*change* is a part that differs between two states. Equal changes in several elements of an array, or changes in several
fields of one record, are shown as one *line*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve, field, frozen

from kwalk.model.language import Model, Vector
from kwalk.model.language.containers import ArrayShape, FifoShape, FreshShape
from kwalk.model.language.record_sets import SetShape
from kwalk.model.language.records import RecordShape, shapes_of
from kwalk.model.language.shapes import Shape
from kwalk.reports.escaping import LONGEST, visible


@frozen
class Member:
    """An index in a path: the label of a domain's member."""

    label: str

    def __str__(self) -> str:
        return f"[{self.label}]"


Path = tuple[str | Member, ...]


@frozen
class Part:
    """A piece of the state that is shown as one value; its leaves are `start … stop - 1` of the vector."""

    path: Path
    shape: Shape = field(repr=False)
    start: int
    stop: int

    def numbers(self, vector: Vector) -> Vector:
        """Return its leaves in a state."""
        return vector[self.start : self.stop]

    def value_text(self, vector: Vector) -> str:
        """Return its value in a state as text."""
        return value_text(self.shape, iter(self.numbers(vector)))


@frozen
class Change:
    """A part that changed: `old` was removed (None: nothing), `new` was added (None: nothing)."""

    path: Path
    old: str | None
    new: str | None
    start: int
    matters: bool = False
    queued: bool = False
    """Whether it is the content of a queue."""

    def __str__(self) -> str:
        return transition(self.old, self.new)


@frozen
class ChangeLine:
    """Changes that are shown as one line: `where` is the path that they share, each has the rest of its own path."""

    where: str
    changes: tuple[tuple[str, Change], ...]

    @property
    def matters(self) -> bool:
        """Whether the violated property reads any of it."""
        return any(change.matters for _, change in self.changes)

    @property
    def rank(self) -> int:
        """0 if it matters, 2 if only queues changed, else 1: the order in which lines are shown."""
        if self.matters:
            return 0
        return 2 if all(change.queued for _, change in self.changes) else 1

    def __str__(self) -> str:
        return f"{self.where} " + ", ".join(f"{name} {change}".strip() for name, change in self.changes)


def transition(old: str | None, new: str | None) -> str:
    """Return a change as "a → b", "+ b" or "− a"."""
    if old is None:
        return f"+ {new}"
    return f"− {old}" if new is None else f"{old} → {new}"


def path_text(path: Path) -> str:
    """Return a path as Python writes it: `replicas[1][t-0].file`."""
    text = ""
    for token in path:
        text += str(token) if isinstance(token, Member) or not text else f".{token}"
    return text


# Parts.


def parts_of(model: Model) -> tuple[Part, ...]:
    """Return all parts of the model's state, in vector order."""
    with model.active():
        return tuple(_parts(model.shape, (), 0))


def _parts(shape: Shape, path: Path, start: int) -> Iterator[Part]:
    if not isinstance(shape, (RecordShape, ArrayShape)):
        yield Part(path, shape, start, start + sum(1 for _ in shape.leaves("")))
        return
    for token, inner in pieces(shape):
        for part in _parts(inner, (*path, token), start):
            yield part
            start = part.stop


def pieces(shape: Shape) -> Iterator[tuple[str | Member, Shape]]:
    """Yield the fields of a record or the elements of an array with their shapes, in vector order."""
    if isinstance(shape, RecordShape):
        yield from shapes_of(shape.cls)
    elif isinstance(shape, ArrayShape):
        for member in shape.domain:
            yield Member(visible(shape.domain.label(member), LONGEST)), shape.element


# Values as text.


def value_text(shape: Shape, numbers: Iterator[int]) -> str:
    """Return the value of a part as text; `numbers` yields its leaves, and the model must be active."""
    return shape.text(shape.rebuild(numbers))


def queue_texts(part: Part, vector: Vector) -> list[str]:
    """Return the elements of a queue in a state as texts, the head first; the model must be active."""
    shape = part.shape
    assert isinstance(shape, FifoShape)
    return [shape.element.text(item) for item in shape.rebuild(iter(part.numbers(vector)))]


# Differences.


def changes(model: Model, parts: Iterable[Part], before: Vector, after: Vector) -> list[Change]:
    """Return every part that differs between two states."""
    found: list[Change] = []
    with model.active():
        for part in parts:
            if part.numbers(before) != part.numbers(after):
                found.extend(_change(part, before, after))
    return found


def _change(part: Part, before: Vector, after: Vector) -> Iterator[Change]:
    if isinstance(part.shape, FifoShape):
        yield from _queue_change(part, before, after)
    elif isinstance(part.shape, SetShape):
        yield from _set_change(part, part.shape, before, after)
    elif isinstance(part.shape, FreshShape):
        taken = range(part.numbers(before)[0], part.numbers(after)[0])
        names = ", ".join(part.shape.domain.label(member) for member in taken)
        yield Change(part.path, None, names, part.start) if names else _plain(part, before, after)
    else:
        yield _plain(part, before, after)


def _plain(part: Part, before: Vector, after: Vector) -> Change:
    return Change(part.path, part.value_text(before), part.value_text(after), part.start)


def _queue_change(part: Part, before: Vector, after: Vector) -> Iterator[Change]:
    """Yield the elements that a queue loses at its head and gains at its tail."""
    old = queue_texts(part, before)
    lost, gained = queue_difference(old, queue_texts(part, after))
    if lost:
        yield Change(part.path, ", ".join(old[:lost]), None, part.start, queued=True)
    if gained:
        yield Change(part.path, None, ", ".join(gained), part.start, queued=True)


def queue_difference(old: Sequence[str], new: Sequence[str]) -> tuple[int, Sequence[str]]:
    """Return how many elements a queue loses at its head, the fewest that explain it, and what it gains at its tail."""
    lost = next(k for k in range(len(old) + 1) if list(new[: len(old) - k]) == list(old[k:]))
    return lost, new[len(old) - lost :]


def _set_change(part: Part, shape: SetShape, before: Vector, after: Vector) -> Iterator[Change]:
    """Yield the records that a set loses and gains."""
    old, new = (shape.rebuild(iter(part.numbers(vector))) for vector in (before, after))
    lost, gained = (shape.text(shape.check(some, ""))[1:-1] for some in (old - new, new - old))
    if lost:
        yield Change(part.path, lost, None, part.start)
    if gained:
        yield Change(part.path, None, gained, part.start)


# Lines.


def lines(changes: Iterable[Change]) -> tuple[ChangeLine, ...]:
    """Merge changes into few lines: equal ones in several elements of an array, then those of one record.

    Lines that matter come first, those about queues last; otherwise in the order of the fields.
    """
    merged = list(changes)
    for position in range(max((len(change.path) for change in merged), default=0)):
        merged = _merge_members(merged, position)
    grouped: dict[Path, list[Change]] = {}
    for change in merged:
        owner = change.path[:-1] if isinstance(change.path[-1], str) else change.path
        grouped.setdefault(owner or change.path, []).append(change)
    return tuple(sorted((_line(owner, group) for owner, group in grouped.items()), key=lambda line: line.rank))


def _line(owner: Path, group: list[Change]) -> ChangeLine:
    if len(group) == 1:
        return ChangeLine(path_text(group[0].path), (("", group[0]),))
    return ChangeLine(path_text(owner), tuple((path_text(c.path[len(owner) :]), c) for c in group))


def _merge_members(changes: list[Change], position: int) -> list[Change]:
    """Merge changes that are equal except for the member at one place of their path."""
    alike: dict[object, list[Change]] = {}
    for change in changes:
        indexed = position < len(change.path) and isinstance(change.path[position], Member)
        rest = (*change.path[:position], None, *change.path[position + 1 :]) if indexed else change.path
        alike.setdefault((rest, change.old, change.new), []).append(change)
    return [_merged(group, position) if len(group) > 1 else group[0] for group in alike.values()]


def _merged(group: list[Change], position: int) -> Change:
    first = group[0].path
    label = ", ".join(change.path[position].label for change in group)  # type: ignore[union-attr]
    path = (*first[:position], Member(label), *first[position + 1 :])
    return evolve(group[0], path=path, matters=any(change.matters for change in group))
