"""List decision diagrams: sets of vectors of numbers, as shared nodes.

Words: a *node* has a value, the node *below* it, for the vectors that begin with that value, and the node *beside* it,
for those that begin with a larger one. Node 0 is the empty set, node 1 the set of the empty vector; equal sets are the
same node. A *result* is kept under a question of two words; a later one may replace it.

Source: S. Blom and J. van de Pol, "Symbolic reachability for process algebras with recursive data types", ICTAC 2008.
"""

from __future__ import annotations

import numpy as np

from kwalk.search.native.intrinsics import HASH_FACTORS, enter, folded_multiply, get, integer, peek32, poke32, put
from kwalk.search.native.loops import BLOCK_ARGUMENTS, BLOCK_RESULT, loop, part
from kwalk.search.symbolic.layout import EngineBlock, Stop

FIRST_FACTOR, MIDDLE_FACTOR, _ = HASH_FACTORS
VALUE, BELOW, BESIDE, CHAIN = range(4)
"""The uint32 of a node."""
FRAME = 12
"""The words of the stack that a call of a loop by a loop takes: its block, with nine arguments at most."""
NOT_KEPT = -1
TABLE_GROWTH = 4
"""How many times as large the tables of hashes and of results become when there are more nodes than hashes."""
RESULTS_EACH = 1
"""Results for each hash."""
QUESTION_UNION, QUESTION_MINUS, QUESTION_PROJECT, QUESTION_IMAGE, QUESTION_SATURATE = range(1, 6)


@part
def question(kind: int, level: int, rule: int) -> int:
    """Return the second word of a question."""
    return kind | level << 4 | rule << 20


@part
def kept(engine: int, first: int, second: int) -> int:
    """Return the result that is kept for a question; NOT_KEPT if there is none."""
    entry = _entry(engine, first, second)
    if get(entry, 0) == first and get(entry, 1) == second:
        return get(entry, 2)
    return NOT_KEPT


@part
def keep(engine: int, first: int, second: int, result: int) -> None:
    """Keep a result."""
    entry = _entry(engine, first, second)
    put(entry, 0, first)
    put(entry, 1, second)
    put(entry, 2, result)


@part
def _entry(engine: int, first: int, second: int) -> int:
    found = folded_multiply(np.uint64(first) ^ FIRST_FACTOR, np.uint64(second) ^ MIDDLE_FACTOR)
    return get(engine, EngineBlock.CACHE) + 24 * integer(found & np.uint64(get(engine, EngineBlock.CACHE_MASK)))


@part
def item(node: int, nodes: int, which: int) -> int:
    """Return the value of a node, or the node below or beside it."""
    return integer(peek32(nodes, 4 * node + which))


@part
def make(engine: int, value: int, below: int, beside: int) -> int:
    """Return the node with these parts; 0 without room."""
    nodes, heads = get(engine, EngineBlock.NODES), get(engine, EngineBlock.HEADS)
    slot = _slot(engine, value, below, beside)
    node = integer(peek32(heads, slot))
    while node != 0:
        if (
            item(node, nodes, VALUE) == value
            and item(node, nodes, BELOW) == below
            and item(node, nodes, BESIDE) == beside
        ):
            return node
        node = item(node, nodes, CHAIN)
    node = get(engine, EngineBlock.FREE)
    if node != 0:
        put(engine, EngineBlock.FREE, item(node, nodes, CHAIN))
    else:
        node = get(engine, EngineBlock.FRESH)
        if node >= get(engine, EngineBlock.LIMIT):
            put(engine, EngineBlock.STOPPED, Stop.FULL)
            return 0
        put(engine, EngineBlock.FRESH, node + 1)
        heads_mask = get(engine, EngineBlock.HEADS_MASK)
        if node > heads_mask and heads_mask < get(engine, EngineBlock.MOST_HEADS_MASK):
            grow_tables(engine, node)
            slot = _slot(engine, value, below, beside)
    poke32(nodes, 4 * node + VALUE, np.uint64(value))
    poke32(nodes, 4 * node + BELOW, np.uint64(below))
    poke32(nodes, 4 * node + BESIDE, np.uint64(beside))
    poke32(nodes, 4 * node + CHAIN, peek32(heads, slot))
    poke32(heads, slot, np.uint64(node))
    return node


@part
def grow_tables(engine: int, nodes: int) -> None:
    """Enlarge the tables of hashes and of results, which some nodes need, of which none is free."""
    results = get(engine, EngineBlock.CACHE_MASK) + 1
    widen_masks(engine, nodes)
    table, heads, cache = get(engine, EngineBlock.NODES), get(engine, EngineBlock.HEADS), get(engine, EngineBlock.CACHE)
    for slot in range(get(engine, EngineBlock.HEADS_MASK) + 1):
        poke32(heads, slot, np.uint64(0))
    for node in range(2, nodes):
        slot = _slot(engine, item(node, table, VALUE), item(node, table, BELOW), item(node, table, BESIDE))
        poke32(table, 4 * node + CHAIN, peek32(heads, slot))
        poke32(heads, slot, np.uint64(node))
    for entry in range(cache, cache + 24 * results, 24):
        place = _entry(engine, get(entry, 0), get(entry, 1))
        if get(entry, 1) != 0 and place != entry:
            for word in range(3):
                put(place, word, get(entry, word))
                put(entry, word, 0)


@part
def widen_masks(engine: int, nodes: int) -> None:
    """Have as many hashes as nodes, and results as their table grows, within the largest sizes."""
    heads, most = get(engine, EngineBlock.HEADS_MASK), get(engine, EngineBlock.MOST_HEADS_MASK)
    while heads < nodes and heads < most:
        heads = min(most, TABLE_GROWTH * (heads + 1) - 1)
    put(engine, EngineBlock.HEADS_MASK, heads)
    results = min(RESULTS_EACH * (heads + 1) - 1, get(engine, EngineBlock.MOST_CACHE_MASK))
    put(engine, EngineBlock.CACHE_MASK, max(results, get(engine, EngineBlock.CACHE_MASK)))


@part
def _slot(engine: int, value: int, below: int, beside: int) -> int:
    found = folded_multiply(np.uint64(value << 32 | below) ^ FIRST_FACTOR, np.uint64(beside) ^ MIDDLE_FACTOR)
    return integer(found & np.uint64(get(engine, EngineBlock.HEADS_MASK)))


# Lists of pairs on the stack, from which nodes are made. A pair is one word: value · 2^32 + the node below.


@part
def add_pair(engine: int, value: int, below: int) -> None:
    """Add a pair to the list at the top of the stack."""
    top = get(engine, EngineBlock.TOP)
    if top + 64 * FRAME > get(engine, EngineBlock.STACK_END):
        put(engine, EngineBlock.STOPPED, Stop.NO_TABLES)
    else:
        put(top, 0, value << 32 | below)
        put(engine, EngineBlock.TOP, top + 8)


@part
def begin_frame(engine: int) -> int:
    """Take a frame from the stack and return its address; the list of pairs begins behind it."""
    frame = get(engine, EngineBlock.TOP)
    if frame + 64 * FRAME > get(engine, EngineBlock.STACK_END):
        put(engine, EngineBlock.STOPPED, Stop.NO_TABLES)
    else:
        put(engine, EngineBlock.TOP, frame + 8 * FRAME)
    return frame


@part
def end_frame(engine: int, frame: int) -> int:
    """Give the frame and its list back; return the node of its pairs, whose values ascend."""
    first, node = frame + 8 * FRAME, 0
    place = get(engine, EngineBlock.TOP)
    while place > first:
        place -= 8
        node = make(engine, get(place, 0) >> 32, get(place, 0) & 0xFFFFFFFF, node)
    put(engine, EngineBlock.TOP, frame)
    return node


@part
def sort_pairs(engine: int, frame: int) -> None:
    """Sort the list of a frame by its values, and join the nodes below equal values."""
    first = frame + 8 * FRAME
    count, sorted_before = (get(engine, EngineBlock.TOP) - first) // 8, True
    for k in range(1, count):
        if get(first, k) >> 32 <= get(first, k - 1) >> 32:
            sorted_before = False
    if sorted_before:
        return
    sort_words(first, count, 0)
    left = 0
    for k in range(count):
        pair = get(first, k)
        if left > 0 and get(first, left - 1) >> 32 == pair >> 32:
            both = call_union(engine, frame, get(first, left - 1) & 0xFFFFFFFF, pair & 0xFFFFFFFF)
            put(first, left - 1, pair >> 32 << 32 | both)
        else:
            put(first, left, pair)
            left += 1
    put(engine, EngineBlock.TOP, first + 8 * left)


@part
def sort_words(first: int, count: int, width: int) -> None:
    """Sort int64 at an address, or the addresses of rows of int64 by their content if they have a width (Shell's)."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, count):
            word, place = get(first, k), k
            while place >= gap and _is_after(get(first, place - gap), word, width):
                put(first, place, get(first, place - gap))
                place -= gap
            put(first, place, word)
        gap //= 3


@part
def _is_after(left: int, right: int, width: int) -> bool:
    for k in range(width):
        if get(left, k) != get(right, k):
            return get(left, k) > get(right, k)
    return width == 0 and left > right


# Operations.


@part
def call_union(engine: int, frame: int, left: int, right: int) -> int:
    """Call `union`; `frame` is the address of a frame of the caller."""
    put(frame, BLOCK_ARGUMENTS, engine)
    put(frame, BLOCK_ARGUMENTS + 1, left)
    put(frame, BLOCK_ARGUMENTS + 2, right)
    enter(get(engine, EngineBlock.UNION), frame)
    return get(frame, BLOCK_RESULT)


@part
def call_minus(engine: int, frame: int, left: int, right: int) -> int:
    """Call `minus`; `frame` is the address of a frame of the caller."""
    put(frame, BLOCK_ARGUMENTS, engine)
    put(frame, BLOCK_ARGUMENTS + 1, left)
    put(frame, BLOCK_ARGUMENTS + 2, right)
    enter(get(engine, EngineBlock.MINUS), frame)
    return get(frame, BLOCK_RESULT)


@loop
def union(engine: int, left: int, right: int) -> int:
    """Return the union of two sets."""
    if left == 0 or left == right:
        return right
    if right == 0 or get(engine, EngineBlock.STOPPED) != 0:
        return left
    a, b = min(left, right), max(left, right)
    first, second = a | b << 32, question(QUESTION_UNION, 0, 0)
    result = kept(engine, first, second)
    if result != NOT_KEPT:
        return result
    nodes, frame = get(engine, EngineBlock.NODES), begin_frame(engine)
    while a != 0 or b != 0:
        here, there = item(a, nodes, VALUE), item(b, nodes, VALUE)
        if b == 0 or (a != 0 and here < there):
            add_pair(engine, here, item(a, nodes, BELOW))
            a = item(a, nodes, BESIDE)
        elif a == 0 or there < here:
            add_pair(engine, there, item(b, nodes, BELOW))
            b = item(b, nodes, BESIDE)
        else:
            below = call_union(engine, frame, item(a, nodes, BELOW), item(b, nodes, BELOW))
            add_pair(engine, here, below)
            a, b = item(a, nodes, BESIDE), item(b, nodes, BESIDE)
    result = end_frame(engine, frame)
    keep(engine, first, second, result)
    return result


@loop
def minus(engine: int, left: int, right: int) -> int:
    """Return the vectors of the first set that are not in the second."""
    if left == 0 or left == right:
        return 0
    if right == 0 or get(engine, EngineBlock.STOPPED) != 0:
        return left
    first, second = left | right << 32, question(QUESTION_MINUS, 0, 0)
    result = kept(engine, first, second)
    if result != NOT_KEPT:
        return result
    nodes, frame, a, b = get(engine, EngineBlock.NODES), begin_frame(engine), left, right
    while a != 0:
        value, below = item(a, nodes, VALUE), item(a, nodes, BELOW)
        while b != 0 and item(b, nodes, VALUE) < value:
            b = item(b, nodes, BESIDE)
        if b != 0 and item(b, nodes, VALUE) == value:
            below = call_minus(engine, frame, below, item(b, nodes, BELOW))
        if below != 0:
            add_pair(engine, value, below)
        a = item(a, nodes, BESIDE)
    result = end_frame(engine, frame)
    keep(engine, first, second, result)
    return result


@loop
def single(engine: int, values: int, levels: int) -> int:
    """Return the set of one vector, int64 at an address."""
    node = 1
    for level in range(levels - 1, -1, -1):
        node = make(engine, get(values, level), node, 0)
    return node


@loop
def collect(engine: int, roots: int, number: int) -> int:
    """Free the nodes that no root reaches, and forget all results; return the number of nodes that are left.

    Args:
        engine: The address of the engine.
        roots: The address of int64: nodes.
        number: How many there are.
    """
    nodes, heads, fresh = get(engine, EngineBlock.NODES), get(engine, EngineBlock.HEADS), get(engine, EngineBlock.FRESH)
    used = 1 << 31
    stack = get(engine, EngineBlock.TOP)
    for k in range(number):
        count, node = 0, get(roots, k)
        while node > 1 or count > 0:
            if node < 2 or item(node, nodes, CHAIN) == used:
                if count == 0:
                    break
                count -= 1
                node = get(stack, count)
            else:
                poke32(nodes, 4 * node + CHAIN, np.uint64(used))
                put(stack, count, item(node, nodes, BELOW))
                count += 1
                node = item(node, nodes, BESIDE)
    widen_masks(engine, fresh)
    for slot in range(get(engine, EngineBlock.HEADS_MASK) + 1):
        poke32(heads, slot, np.uint64(0))
    free, left = 0, 0
    for node in range(fresh - 1, 1, -1):
        if item(node, nodes, CHAIN) == used:
            slot = _slot(engine, item(node, nodes, VALUE), item(node, nodes, BELOW), item(node, nodes, BESIDE))
            poke32(nodes, 4 * node + CHAIN, peek32(heads, slot))
            poke32(heads, slot, np.uint64(node))
            left += 1
        else:
            poke32(nodes, 4 * node + CHAIN, np.uint64(free))
            free = node
    put(engine, EngineBlock.FREE, free)
    cache = get(engine, EngineBlock.CACHE)
    for k in range(3 * (get(engine, EngineBlock.CACHE_MASK) + 1)):
        put(cache, k, 0)
    return left
