"""Which stored states an `eventually` claim waits in, and the graph of those states as a search through it uncovers it.

Words: a *waiting* state is one where what the claim awaits is not there; a *beginning* is one where the premise holds
as well. Waiting states have a *number* of their own: how many of them were discovered before. An *edge* is a step out
of one, with its instance; one that leads to a state that does not wait is an edge to OUTSIDE.
"""
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from search.loops.folding import fold_successors, found_keys, hash_successors, take_state
from search.loops.frontier import Search
from search.loops.keys import hash_of
from search.loops.native import (
    ONE,
    ZERO,
    Word,
    bit_count,
    call,
    call_void,
    integer,
    loop,
    part,
    peek,
    peek16,
    peek32,
    poke,
    poke16,
    poke32,
)
from search.loops.table import find

OUTSIDE = 0xFFFFFFFF
"""The target of an edge to a state that does not wait."""


class Waiting(NamedTuple):
    """The addresses of bit rows over all stored states, and of what numbers the waiting ones."""

    states: int
    """Bit row: the waiting states."""
    begins: int
    """Bit row: the beginnings."""
    before: int
    """uint32 per word of those rows: how many waiting states there are in the words before."""
    stored: int
    """uint32 per waiting state: which stored state it is."""


class Graph(NamedTuple):
    """The addresses of the edges that are known: those of a state lie together, headed by how many they are."""

    guards: int
    """The kernel's `guards`."""
    edges: int
    """int64 per waiting state: where its edges are, plus 1; 0 if they are not known."""
    targets: int
    """uint32 per edge."""
    instances: int
    """uint16 per edge."""
    room: int
    """How many edges there is room for."""


class Region(NamedTuple):
    """All that the loops need of the waiting states of one claim."""

    search: Search
    waiting: Waiting
    graph: Graph


@loop
def judge(search: Search, waiting: Waiting, span: np.ndarray, counts: np.ndarray) -> None:
    """Look where claim span[2] waits among the states span[0] … span[1] - 1; span[0] is a multiple of 64.

    counts[0] grows by the states where the premise holds, counts[1] by the waiting states.
    """
    word, shift = span[2] // 64, np.uint64(span[2] % 64)
    false, premise = search.batch.false, search.batch.premises
    for first in range(span[0], span[1], 64):
        waits, asked = ZERO, ZERO
        for index in range(first, min(first + 64, span[1])):
            call_void(search.machine.check, (take_state(search, index, 0), integer(0), false, premise))
            at = np.uint64(index % 64)
            waits |= ((peek(false, word) >> shift) & ONE) << at
            asked |= ((peek(premise, word) >> shift) & ONE) << at
        poke(waiting.states, first // 64, waits)
        poke(waiting.begins, first // 64, waits & asked)
        counts[0] += bit_count(asked)
        counts[1] += bit_count(waits)


@loop
def number(waiting: Waiting, states: int) -> None:
    """Number the waiting ones of so many states."""
    count = integer(0)
    for place in range((states + 63) // 64):
        poke32(waiting.before, place, np.uint64(count))
        row = peek(waiting.states, place)
        while row != ZERO:
            low = row & (~row + ONE)
            poke32(waiting.stored, count, np.uint64(64 * place) + np.uint64(bit_count(low - ONE)))
            count += 1
            row ^= low


@part
def is_in(row: int, index: int) -> bool:
    """Whether a bit row has this bit."""
    return ((peek(row, index // 64) >> np.uint64(index % 64)) & ONE) != ZERO


@part
def number_of(waiting: Waiting, index: int) -> int:
    """The number of a waiting state."""
    below = (ONE << np.uint64(index % 64)) - ONE
    place = index // 64
    return integer(peek32(waiting.before, place)) + bit_count(peek(waiting.states, place) & below)


@part
def address_of(region: Region, state: int) -> int:
    """Bring a waiting state in hand; its address."""
    return take_state(region.search, integer(peek32(region.waiting.stored, state)), 0)


@part
def uncover(region: Region, state: int, used: int) -> int:
    """Write the edges of a waiting state behind those `used`; how many are used then. There must be room."""
    space, batch, graph = region.search.space, region.search.batch, region.graph
    poke(graph.edges, state, np.uint64(used + 1))
    arguments = (address_of(region, state), batch.enabled, batch.rows, batch.instances, region.search.tally.hits)
    made = call(region.search.machine.expand, arguments)
    poke32(graph.targets, used, np.uint64(made))
    _make_keys(region.search, made)
    for j in range(made):
        key = found_keys(region.search) + 8 * space.words * j
        index = find(space, key, hash_of(key, space.words))
        waits = is_in(region.waiting.states, index)
        target = number_of(region.waiting, index) if waits else integer(OUTSIDE)
        poke32(graph.targets, used + 1 + j, np.uint64(target))
        poke16(graph.instances, used + 1 + j, peek16(batch.instances, j))
    return used + 1 + made


@part
def _make_keys(search: Search, made: int) -> None:
    """Make keys of the successors of the state in hand, which are all stored: no part of them is new."""
    hash_successors(search, 0, made)
    poke(search.batch.ends, 0, np.uint64(made))
    fold_successors(search, 1)


@part
def edges_of(graph: Graph, state: int) -> tuple[int, int]:
    """Where the edges of a state begin, and where they end; they are known."""
    head = integer(peek(graph.edges, state)) - 1
    return head + 1, head + 1 + integer(peek32(graph.targets, head))


@part
def guards_of(region: Region, state: int) -> int:
    """The address of the row of instances whose guard holds in a waiting state; good until the next call."""
    row = region.search.batch.enabled
    call_void(region.graph.guards, (address_of(region, state), row))
    return row


@part
def has_instance(row: int, instance: int) -> Word:
    """One if a bit row has the bit of an instance, else zero."""
    return (peek(row, instance // 64) >> np.uint64(instance % 64)) & ONE
