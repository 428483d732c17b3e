"""Tables of rows that grow while loops run, and what stands in them: values, classes, changes. Words: see `layout`."""

from __future__ import annotations

import numpy as np

from kwalk.search.native.intrinsics import (
    HASH_FACTORS,
    call,
    folded_multiply,
    get,
    integer,
    peek,
    peek32,
    poke,
    poke32,
    put,
)
from kwalk.search.native.loops import Word, part
from kwalk.search.symbolic.layout import REFUSED, EngineBlock, PartBlock, Stop

FIRST_FACTOR, MIDDLE_FACTOR, LAST_FACTOR = HASH_FACTORS
LEAST_ROWS = 16
"""The rows that a table has room for at first."""


@part
def allocate(engine: int, words: int) -> int:
    """Return the address of zeros; 0 without room."""
    address = get(engine, EngineBlock.ARENA)
    if address + 8 * words > get(engine, EngineBlock.ARENA_END):
        put(engine, EngineBlock.STOPPED, Stop.NO_TABLES)
        return 0
    put(engine, EngineBlock.ARENA, address + 8 * words)
    return address


@part
def _hash(row: int, mask: int, width: int) -> Word:
    found = FIRST_FACTOR
    for k in range(width):
        found = folded_multiply(found ^ (peek(row, k) & peek(mask, k)), MIDDLE_FACTOR) + np.uint64(k)
    return folded_multiply(found, LAST_FACTOR)


@part
def number_of(engine: int, table: int, state: int) -> int:
    """Return the number of the row that a packed state has in a part, added if it is new; 0 without room."""
    width, count, mask = get(table, PartBlock.WIDTH), get(table, PartBlock.COUNT), get(table, PartBlock.MASK)
    if count == get(table, PartBlock.CAPACITY) and not _grow(engine, table):
        return 0
    heads, size = get(table, PartBlock.HEADS), 2 * get(table, PartBlock.CAPACITY)
    rows, row = get(table, PartBlock.ROWS), state + 8 * get(table, PartBlock.FIRST)
    slot = integer(_hash(row, mask, width) & np.uint64(size - 1))
    while True:
        number = integer(peek32(heads, slot)) - 1
        if number < 0:
            break
        same = True
        for k in range(width):
            if peek(rows, number * width + k) != peek(row, k) & peek(mask, k):
                same = False
        if same:
            return number
        slot = (slot + 1) & (size - 1)
    for k in range(width):
        poke(rows, count * width + k, peek(row, k) & peek(mask, k))
    poke32(heads, slot, np.uint64(count + 1))
    put(table, PartBlock.COUNT, count + 1)
    return count


@part
def _grow(engine: int, table: int) -> bool:
    """Make room for twice as many rows; return whether there is room."""
    width, count, mask = get(table, PartBlock.WIDTH), get(table, PartBlock.COUNT), get(table, PartBlock.MASK)
    capacity = max(LEAST_ROWS, 2 * count)
    rows, heads = allocate(engine, capacity * width), allocate(engine, capacity)
    if rows == 0 or heads == 0:
        return False
    for k in range(count * width):
        poke(rows, k, peek(get(table, PartBlock.ROWS), k))
    for number in range(count):
        slot = integer(_hash(rows + 8 * width * number, mask, width) & np.uint64(2 * capacity - 1))
        while integer(peek32(heads, slot)) != 0:
            slot = (slot + 1) & (2 * capacity - 1)
        poke32(heads, slot, np.uint64(number + 1))
    put(table, PartBlock.ROWS, rows)
    put(table, PartBlock.HEADS, heads)
    put(table, PartBlock.CAPACITY, capacity)
    return True


@part
def write(table: int, number: int, state: int) -> None:
    """Write a row of a part into a packed state."""
    width, mask = get(table, PartBlock.WIDTH), get(table, PartBlock.MASK)
    words, row = state + 8 * get(table, PartBlock.FIRST), get(table, PartBlock.ROWS) + 8 * width * number
    for k in range(width):
        poke(words, k, (peek(words, k) & ~peek(mask, k)) | peek(row, k))


@part
def class_of(engine: int, view: int, value: int) -> int:
    """Return the class of a value plus 1, or REFUSED, also without room."""
    if value >= get(view, PartBlock.KNOWN):
        _classify(engine, view, value)
        if value >= get(view, PartBlock.KNOWN):
            return REFUSED
    return integer(peek32(get(view, PartBlock.CLASSES), value))


@part
def _classify(engine: int, view: int, value: int) -> None:
    """Write the classes of all values up to one."""
    if value >= get(view, PartBlock.ROOM) and not _grow_classes(engine, view, value):
        return
    state = get(engine, EngineBlock.STATE)
    for each in range(get(view, PartBlock.KNOWN), value + 1):
        put_initial(engine)
        write(get(view, PartBlock.COMPONENT), each, state)
        holds = True
        for k in range(get(view, PartBlock.CONDITION_COUNT)):
            if holds and call(get(get(view, PartBlock.CONDITIONS), k), (state,)) == 0:
                holds = False
        found = number_of(engine, view, state) + 1 if holds else REFUSED
        poke32(get(view, PartBlock.CLASSES), each, np.uint64(found))
    if get(engine, EngineBlock.STOPPED) != Stop.NO_TABLES:
        put(view, PartBlock.KNOWN, value + 1)


@part
def _grow_classes(engine: int, view: int, value: int) -> bool:
    room = max(64, 2 * (value + 1))
    classes = allocate(engine, (room + 1) // 2)
    if classes == 0:
        return False
    for k in range(get(view, PartBlock.KNOWN)):
        poke32(classes, k, peek32(get(view, PartBlock.CLASSES), k))
    put(view, PartBlock.CLASSES, classes)
    put(view, PartBlock.ROOM, room)
    return True


@part
def put_initial(engine: int) -> None:
    """Write an initial state to where states are evaluated: the parts that a rule does not read do not matter."""
    for k in range(get(engine, EngineBlock.WORDS)):
        poke(get(engine, EngineBlock.STATE), k, peek(get(engine, EngineBlock.INITIAL), k))


@part
def changed(engine: int, change: int, number: int, value: int) -> int:
    """Return the value of a component after a change, by its number plus 1."""
    if change == 0:
        return value
    component, state = get(change, PartBlock.COMPONENT), get(engine, EngineBlock.STATE)
    write(component, value, state)
    write(change, number - 1, state)
    return number_of(engine, component, state)
