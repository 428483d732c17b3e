"""The Disruptor: a ring buffer from which every reader reads every event, without locks (one writer, many readers).

Words: the writer *publishes* events, numbered from 0. A *cursor* is the number of the event that the writer has
published last, or that a reader has read last; at first -1. Each access to a slot begins and ends; two accesses at
once, one of them a write, are a *data race*. The writer waits until all readers have read what it would overwrite; a
reader waits until there is an event.

Source: M. Thompson, D. Farley, M. Barker, P. Gee, A. Stewart, "Disruptor" (2011); N. Schultz-Møller, tlaplus/Examples,
specifications/Disruptor/Disruptor_SPMC.tla. Counts: 8,496 distinct states, 28,049 generated, TLC depth 82 for three
readers, four slots and ten events (manifest.json); TLC prints 88, 185 and 20 for two readers, two slots and three
events. The state constraint is the bound `limit`: TLC generates the steps beyond it, here they are bound hits.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Scenario,
    action,
    always,
    array,
    choice,
    eventually,
    fifo,
    number,
    optional,
    premise,
    reachable,
    require,
    state,
    subset,
)

WRITERS = Domain("writers", "writers; the algorithm is right for one")
READERS = Domain("readers", "readers")
SLOTS = Domain("slots", "slots of the ring buffer")
LIMIT = Bound("limit", "events that can be published")
EVENTS = Domain("events", "events that can be published", size=LIMIT)

WriterId = Annotated[int, WRITERS]
ReaderId = Annotated[int, READERS]
Event = Annotated[int, EVENTS]

WRITER = Actor("writer", system=False, of=WRITERS)
READER = Actor("reader", of=READERS)


class Phase(Enum):
    """What a thread does."""

    ADVANCE = "moves to the next slot"
    ACCESS = "accesses its slot"


@state
class Slot:
    """A slot of the ring buffer, and who accesses it now."""

    event: int | None = optional(number(0, LIMIT))
    readers: frozenset[int] = subset(READERS)
    writers: frozenset[int] = subset(WRITERS)


@state
class Reader:
    """A reader: its cursor, and as history what it has read, in order."""

    phase: Phase = choice(Phase)
    read: int = number(-1, LIMIT - 1, default=-1)
    consumed: Fifo[int | None] = fifo(optional(number(0, LIMIT)), LIMIT)


@state
class Disruptor:
    """The ring buffer and its threads."""

    slots: Array[Slot] = array(SLOTS, Slot)
    published: int = number(-1, LIMIT - 1, default=-1)
    writers: Array[Phase] = array(WRITERS, Phase)
    readers: Array[Reader] = array(READERS, Reader)


@action(by=WRITER, description="begins to write the next event", source="BeginWrite")
def begin_write(disruptor: Disruptor, writer: WriterId) -> None:
    """Every reader has read what is in the slot: no reader is a full round behind."""
    event, slowest = disruptor.published + 1, min(reader.read for reader in disruptor.readers)
    require(disruptor.writers[writer] is Phase.ADVANCE and slowest >= event - len(SLOTS))
    slot = disruptor.slots[event % len(SLOTS)]
    slot.event, slot.writers = event, slot.writers | {writer}
    disruptor.writers[writer] = Phase.ACCESS


@action(by=WRITER, description="publishes the event", source="EndWrite")
def end_write(disruptor: Disruptor, writer: WriterId) -> None:
    """Now readers may read it."""
    require(disruptor.writers[writer] is Phase.ACCESS)
    disruptor.published += 1
    slot = disruptor.slots[disruptor.published % len(SLOTS)]
    slot.writers = slot.writers - {writer}
    disruptor.writers[writer] = Phase.ADVANCE


@action(by=READER, description="begins to read the next event", source="BeginRead")
def begin_read(disruptor: Disruptor, number: ReaderId) -> None:
    """What it reads is noted."""
    reader = disruptor.readers[number]
    require(reader.phase is Phase.ADVANCE and disruptor.published > reader.read)
    slot = disruptor.slots[(reader.read + 1) % len(SLOTS)]
    slot.readers = slot.readers | {number}
    reader.consumed.push(slot.event)
    reader.phase = Phase.ACCESS


@action(by=READER, description="ends to read", source="EndRead")
def end_read(disruptor: Disruptor, number: ReaderId) -> None:
    """The slot may be overwritten once all readers have read it."""
    reader = disruptor.readers[number]
    require(reader.phase is Phase.ACCESS)
    reader.read += 1
    slot = disruptor.slots[reader.read % len(SLOTS)]
    slot.readers = slot.readers - {number}
    reader.phase = Phase.ADVANCE


@always(symptom="a reader sees half of an event")
def no_data_races(disruptor: Disruptor) -> bool:
    """NoDataRaces: a slot is written by one thread at most, and by none while it is read."""
    return all(len(slot.writers) <= 1 and (not slot.writers or not slot.readers) for slot in disruptor.slots)


@eventually(symptom="a reader misses an event")
def every_reader_reads_every_event(disruptor: Disruptor, reader: ReaderId, event: Event) -> bool:
    """Liveliness. What is published stays published and what is read stays read, so once is from then on."""
    premise(disruptor.published >= event)
    consumed = disruptor.readers[reader].consumed
    return len(consumed) > event and consumed[event] == event


@reachable()
def buffer_wraps(disruptor: Disruptor) -> bool:
    """A slot is overwritten."""
    return disruptor.published >= len(SLOTS)


DISRUPTOR = Scenario(
    name="disruptor",
    story="A writer publishes events in a ring buffer, and every reader reads all of them.",
    state=Disruptor,
    actions=(begin_write, end_write, begin_read, end_read),
    properties=(no_data_races, every_reader_reads_every_event, buffer_wraps),
    bounds={"writers": 1, "readers": 3, "slots": 4, "limit": 10},
    source="tlaplus/Examples specifications/Disruptor/Disruptor_SPMC.tla",
)
