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
from kwalk.search.symbolic.layout import REFUSED, ChangeBlock, ComponentBlock, EngineBlock, RowTable, Stop, ViewBlock

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
def intern(engine: int, table: int, row: int, mask: int) -> int:
    """Return the number of a row in a table, which is added if it is not there; 0 without room.

    Args:
        engine: The address of the engine.
        table: The address of the table.
        row: The address of the words of the row.
        mask: The address of the bits of these words that count.
    """
    width, count = get(table, RowTable.WIDTH), get(table, RowTable.COUNT)
    if count == get(table, RowTable.CAPACITY) and not _grow(engine, table, mask):
        return 0
    heads, size = get(table, RowTable.HEADS), 2 * get(table, RowTable.CAPACITY)
    slot = integer(_hash(row, mask, width) & np.uint64(size - 1))
    rows = get(table, RowTable.ROWS)
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
    put(table, RowTable.COUNT, count + 1)
    return count


@part
def _grow(engine: int, table: int, mask: int) -> bool:
    """Make room for twice as many rows; return whether there is room."""
    width, count = get(table, RowTable.WIDTH), get(table, RowTable.COUNT)
    capacity = max(LEAST_ROWS, 2 * count)
    rows, heads = allocate(engine, capacity * width), allocate(engine, capacity)
    if rows == 0 or heads == 0:
        return False
    before = get(table, RowTable.ROWS)
    for k in range(count * width):
        poke(rows, k, peek(before, k))
    for number in range(count):
        slot = integer(_hash(rows + 8 * width * number, mask, width) & np.uint64(2 * capacity - 1))
        while integer(peek32(heads, slot)) != 0:
            slot = (slot + 1) & (2 * capacity - 1)
        poke32(heads, slot, np.uint64(number + 1))
    put(table, RowTable.ROWS, rows)
    put(table, RowTable.HEADS, heads)
    put(table, RowTable.CAPACITY, capacity)
    return True


@part
def value_of(engine: int, component: int, state: int) -> int:
    """Return the number of the value that a component has in a packed state."""
    row, mask = state + 8 * get(component, ComponentBlock.FIRST), get(component, ComponentBlock.MASK)
    return intern(engine, component + 8 * ComponentBlock.TABLE, row, mask)


@part
def class_of(engine: int, view: int, value: int) -> int:
    """Return the class of a value plus 1, or REFUSED."""
    if value >= get(view, ViewBlock.KNOWN):
        _classify(engine, view, value)
    return integer(peek32(get(view, ViewBlock.CLASSES), value))


@part
def _classify(engine: int, view: int, value: int) -> None:
    """Write the classes of all values up to one."""
    if value >= get(view, ViewBlock.CAPACITY) and not _grow_classes(engine, view, value):
        return
    component, state = get(view, ViewBlock.COMPONENT), get(engine, EngineBlock.STATE)
    first, width = get(component, ComponentBlock.FIRST), get(component, ComponentBlock.TABLE + RowTable.WIDTH)
    rows, mask, classes = (
        get(component, ComponentBlock.TABLE + RowTable.ROWS),
        get(component, ComponentBlock.MASK),
        get(view, ViewBlock.CLASSES),
    )
    for each in range(get(view, ViewBlock.KNOWN), value + 1):
        row = rows + 8 * width * each
        put_initial(engine)
        put_bits(state + 8 * first, row, mask, width)
        kept = True
        for k in range(get(view, ViewBlock.CONDITION_COUNT)):
            if kept and call(get(get(view, ViewBlock.CONDITIONS), k), (state,)) == 0:
                kept = False
        found = REFUSED
        if kept:
            found = intern(engine, view + 8 * ViewBlock.TABLE, row, get(view, ViewBlock.MASK)) + 1
        poke32(classes, each, np.uint64(found))
    put(view, ViewBlock.KNOWN, value + 1)


@part
def _grow_classes(engine: int, view: int, value: int) -> bool:
    capacity = max(64, 2 * (value + 1))
    classes = allocate(engine, (capacity + 1) // 2)
    if classes == 0:
        return False
    for k in range(get(view, ViewBlock.KNOWN)):
        poke32(classes, k, peek32(get(view, ViewBlock.CLASSES), k))
    put(view, ViewBlock.CLASSES, classes)
    put(view, ViewBlock.CAPACITY, capacity)
    return True


@part
def put_initial(engine: int) -> None:
    """Write an initial state to where states are evaluated: the parts that a rule does not read do not matter."""
    for k in range(get(engine, EngineBlock.WORDS)):
        poke(get(engine, EngineBlock.STATE), k, peek(get(engine, EngineBlock.INITIAL), k))


@part
def put_bits(words: int, row: int, mask: int, width: int) -> None:
    """Replace the bits of a mask in some words by those of a row, which has no others."""
    for k in range(width):
        poke(words, k, (peek(words, k) & ~peek(mask, k)) | peek(row, k))


@part
def put_class(engine: int, view: int, number: int) -> None:
    """Write the bits of a class into the state to evaluate."""
    component = get(view, ViewBlock.COMPONENT)
    width = get(view, ViewBlock.TABLE + RowTable.WIDTH)
    row = get(view, ViewBlock.TABLE + RowTable.ROWS) + 8 * width * (number - 1)
    words = get(engine, EngineBlock.STATE) + 8 * get(component, ComponentBlock.FIRST)
    put_bits(words, row, get(view, ViewBlock.MASK), width)


@part
def change_in(engine: int, change: int, state: int) -> int:
    """Return the number of what a step has written to a component of a state, plus 1; 0 without a change."""
    if change == 0:
        return 0
    row = state + 8 * get(get(change, ChangeBlock.COMPONENT), ComponentBlock.FIRST)
    return intern(engine, change + 8 * ChangeBlock.TABLE, row, get(change, ChangeBlock.MASK)) + 1


@part
def changed(engine: int, change: int, number: int, value: int) -> int:
    """Return the value of a component after a change."""
    if change == 0:
        return value
    component, state = get(change, ChangeBlock.COMPONENT), get(engine, EngineBlock.STATE)
    width, first = get(change, ChangeBlock.TABLE + RowTable.WIDTH), get(component, ComponentBlock.FIRST)
    row = get(component, ComponentBlock.TABLE + RowTable.ROWS) + 8 * width * value
    bits = get(change, ChangeBlock.TABLE + RowTable.ROWS) + 8 * width * (number - 1)
    for k in range(width):
        poke(state, first + k, peek(row, k))
    put_bits(state + 8 * first, bits, get(change, ChangeBlock.MASK), width)
    return value_of(engine, component, state)
