"""The census of sets of states: how many states, and how many steps, satisfy the conditions of rules.

Words: a *place* is a node that begins a list, in the order of the levels; what a pass over all nodes reads is so stored
without gaps. A *column* is a set of states with a total of its own.

A pass upwards projects each place to the classes that a rule can tell apart, to learn what is not known. One downwards
carries how many vectors above a place go with which pairs of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from kwalk.search.native.intrinsics import get, integer, peek32, poke32, put
from kwalk.search.native.loops import loop, part
from kwalk.search.symbolic.diagrams import (
    BELOW,
    BESIDE,
    VALUE,
    add_pair,
    begin_frame,
    call_union,
    end_frame,
    item,
    sort_pairs,
)
from kwalk.search.symbolic.engine import Stopped, SymbolicEngine
from kwalk.search.symbolic.layout import REFUSED, EngineBlock, RuleBlock, Stop
from kwalk.search.symbolic.rules import child, learn_from, rule_at
from kwalk.search.symbolic.tables import changed, class_of

MOST_STATES = (1 << 62) - 1
"""What a count stays below; the sum of two such numbers is an int64."""
LOW = 0xFFFFFFFF
UNKNOWN = 0xFFFFFFFF
"""In place of a projection that is not known yet."""
ITEM = 4
"""The words of what is carried to a place: the place, the pairs below, how many vectors, and the next for the place."""


class CensusLayout(NamedTuple):
    """The addresses of the arrays of a census."""

    first: int
    """The first place of each level, int64; behind the last level there is one, for no vector."""
    starts: int
    """The first entry of each place, uint32."""
    entries: int
    """The entries, int64: value · 2^32 + the place below."""
    marks: int
    """A number for each place, uint32, 0 between passes."""
    counts: int
    """The number of vectors from each place on, int64."""


class Census:
    """Some columns of states, of which passes ask.

    Args:
        engine: The engine.
        columns: Sets of states, by modes.
        learnt: The rules that have learnt of all these states.

    Raises:
        Stopped: The memory budget has no room for it.
    """

    def __init__(
        self, engine: SymbolicEngine, columns: Sequence[Mapping[int, int]], learnt: Iterable[int] = ()
    ) -> None:
        self.engine = engine
        roots = np.unique(np.array([states for column in columns for states in column.values()], np.int64))
        self.columns = [_roots(column, roots) for column in columns]
        self._all = np.concatenate([[sum(map(len, columns))], *(each[1:] for each in self.columns)]).astype(np.int64)
        self._first, self._arrays = np.zeros(engine.levels + 1, np.int64), list[np.ndarray]()
        numbers, heads = (self._take(engine.nodes, np.uint32) for _ in range(2))
        heads[: len(roots)] = roots
        at = (engine.levels, len(roots))
        total = engine.run(number_places, self._first.ctypes.data, numbers.ctypes.data, heads.ctypes.data, at)
        places = int(self._first[-1])
        starts, entries = self._take(places + 1, np.uint32), self._take(total, np.int64)
        self._marks, counts = self._take(places + 1, np.uint32), self._take(places + 1, np.int64)
        self.layout = CensusLayout(*(each.ctypes.data for each in (self._first, starts, entries, self._marks, counts)))
        engine.run(write_places, self.layout, numbers.ctypes.data, heads.ctypes.data, places)
        self.total = min(MOST_STATES, sum(int(counts[place]) for place in self._all[2::2]))
        """The number of states of all columns."""
        engine.give_back(self._arrays[:2])
        del self._arrays[:2]
        self._learnt, self._counts = set(learnt), dict[tuple[int, bool], list[int]]()

    def _take(self, count: int, dtype: Any) -> np.ndarray:
        self._arrays.append(self.engine.take(count, dtype))
        return self._arrays[-1]

    def close(self) -> None:
        """Give the memory back; nothing more can be counted."""
        self.engine.give_back(self._arrays)
        self._arrays.clear()

    def count(self, rule: int, *, same: bool = False) -> list[int]:
        """Return for each column in how many states the conditions of a rule hold.

        With `same` only those are counted that the rule leaves as they are.
        """
        run, layout = self.engine.run, self.layout
        if rule not in self._learnt:
            self._survey(rule)
            self._learnt.add(rule)
        if (rule, same) not in self._counts:  # several sets have the same rule
            self._counts[rule, same] = [run(tally, layout, each.ctypes.data, rule, int(same)) for each in self.columns]
        return self._counts[rule, same]

    def _survey(self, rule: int) -> None:
        try:
            self.engine.run(survey, self.layout, self._all.ctypes.data, rule)
        except Stopped as stopped:
            if stopped.why is not Stop.FULL:
                raise
            self.engine.collect()
            self._marks[:] = 0
            self.engine.run(survey, self.layout, self._all.ctypes.data, rule)


def number_of_states(engine: SymbolicEngine, states: Mapping[int, int]) -> int:
    """Return the number of states of a set."""
    census = Census(engine, [states])
    census.close()
    return census.total


def _roots(column: Mapping[int, int], places: np.ndarray) -> np.ndarray:
    """Return a number of roots, and for each its mode and its place, int64[1 + 2 * roots]."""
    numbers = np.searchsorted(places, np.array(list(column.values()), np.int64))
    return np.concatenate([[len(column)], np.stack([list(column), numbers], axis=1).ravel()]).astype(np.int64)


@loop
def number_places(engine: int, first: int, numbers: int, heads: int, at: tuple[int, int]) -> int:
    """Number the places of some sets; return the number of their entries.

    Args:
        engine: The address of the engine.
        first: The address of int64[levels + 1] to write: see `CensusLayout`.
        numbers: The address of uint32[nodes], zeros, to write: for each place its number plus 1.
        heads: The address of uint32[nodes] to write: the nodes of the places. It begins with those of the sets.
        at: The number of levels, and that of sets.
    """
    nodes, (levels, end), place, total = get(engine, EngineBlock.NODES), at, 0, 0
    for k in range(end):
        poke32(numbers, integer(peek32(heads, k)), np.uint64(k + 1))
    for level in range(1, levels):
        put(first, level, place)
        behind = end
        while place < behind:
            node = integer(peek32(heads, place))
            while node != 0:
                below = item(node, nodes, BELOW)
                if level + 1 < levels and integer(peek32(numbers, below)) == 0:
                    poke32(heads, end, np.uint64(below))
                    end += 1
                    poke32(numbers, below, np.uint64(end))
                total += 1
                node = item(node, nodes, BESIDE)
            place += 1
    put(first, levels, place)
    poke32(numbers, 1, np.uint64(place + 1))
    return total


@loop
def write_places(engine: int, census: CensusLayout, numbers: int, heads: int, places: int) -> None:
    """Write the entries of numbered places, and count the vectors from each place on.

    Args:
        engine: The address of the engine.
        census: The census.
        numbers: The address of the numbers that `number_places` wrote.
        heads: The address of the nodes that it wrote.
        places: The number of places.
    """
    nodes, starts, entries, counts = get(engine, EngineBlock.NODES), census.starts, census.entries, census.counts
    end = 0
    for place in range(places):
        poke32(starts, place, np.uint64(end))
        node = integer(peek32(heads, place))
        while node != 0:
            under = integer(peek32(numbers, item(node, nodes, BELOW))) - 1
            put(entries, end, item(node, nodes, VALUE) << 32 | under)
            end += 1
            node = item(node, nodes, BESIDE)
    poke32(starts, places, np.uint64(end))
    put(counts, places, 1)
    for place in range(places - 1, -1, -1):
        total = 0
        for k in range(integer(peek32(starts, place)), integer(peek32(starts, place + 1))):
            total = min(MOST_STATES, total + get(counts, get(entries, k) & LOW))
        put(counts, place, total)


@loop
def survey(engine: int, census: CensusLayout, roots: int, number: int) -> None:
    """Learn what a rule does to the states of a census.

    Args:
        engine: The address of the engine.
        census: The census.
        roots: The address of int64: a number of roots, and for each root its mode and its place.
        number: The number of the rule.
    """
    rule, marks, frame = rule_at(engine, number), census.marks, begin_frame(engine)
    views, last, first = get(rule, RuleBlock.VIEWS), get(rule, RuleBlock.LAST), census.first
    starts, entries = census.starts, census.entries
    for k in range(get(roots, 0) if last > 0 else 0):
        if get(views, 0) == 0 or class_of(engine, get(views, 0), get(roots, 2 * k + 1)) != REFUSED:
            poke32(marks, get(roots, 2 * k + 2), np.uint64(UNKNOWN))
    for level in range(1, last):
        view = get(views, level)
        for place in range(get(first, level), get(first, level + 1)):
            if integer(peek32(marks, place)) != 0:
                for k in range(integer(peek32(starts, place)), integer(peek32(starts, place + 1))):
                    if view == 0 or class_of(engine, view, get(entries, k) >> 32) != REFUSED:
                        poke32(marks, get(entries, k) & LOW, np.uint64(UNKNOWN))
    for level in range(last, 0, -1):
        view = get(views, level)
        for place in range(get(first, level), get(first, level + 1)):
            if integer(peek32(marks, place)) == 0:
                continue
            inner, joint = begin_frame(engine), 0
            for k in range(integer(peek32(starts, place)), integer(peek32(starts, place + 1))):
                mine = 1 if level == last else integer(peek32(marks, get(entries, k) & LOW))
                if view == 0:
                    if mine != joint:
                        joint = call_union(engine, frame, joint, mine)
                elif mine != 0:
                    found = class_of(engine, view, get(entries, k) >> 32)
                    if found != REFUSED:
                        add_pair(engine, found, mine)
            if view != 0:
                sort_pairs(engine, inner)
                joint = end_frame(engine, inner)
            put(engine, EngineBlock.TOP, inner)
            poke32(marks, place, np.uint64(joint))
    for k in range(get(roots, 0)):
        mine = 0 if get(views, 0) == 0 else class_of(engine, get(views, 0), get(roots, 2 * k + 1))
        if mine != REFUSED:
            vectors = 1 if last == 0 else integer(peek32(marks, get(roots, 2 * k + 2)))
            learn_from(engine, frame, vectors, (mine, number))
    for place in range(get(first, last + 1)):
        poke32(marks, place, np.uint64(0))
    put(engine, EngineBlock.TOP, frame)


@loop
def tally(engine: int, census: CensusLayout, roots: int, number: int, same: int) -> int:
    """Return in how many states the conditions of a rule hold that has learnt of them.

    Args:
        engine: The address of the engine.
        census: The census.
        roots: The address of int64: a number of roots, and for each root its mode and its place.
        number: The number of the rule.
        same: Whether to count only states that the rule leaves as they are.
    """
    rule, nodes, top = rule_at(engine, number), get(engine, EngineBlock.NODES), get(engine, EngineBlock.TOP)
    views, changes, last = get(rule, RuleBlock.VIEWS), get(rule, RuleBlock.CHANGES), get(rule, RuleBlock.LAST)
    starts, entries = census.starts, census.entries
    pairs, each, end = get(rule, RuleBlock.PAIRS), top, top
    for k in range(get(roots, 0)):
        mode, place = get(roots, 2 * k + 1), get(roots, 2 * k + 2)
        if get(views, 0) == 0:
            end = _carry(engine, census, end, (place, pairs, 1))
        else:
            mine = class_of(engine, get(views, 0), mode)
            outcome = 0 if mine == REFUSED else child(engine, pairs, mine)
            while outcome != 0:
                if same == 0 or changed(engine, get(changes, 0), item(outcome, nodes, VALUE), mode) == mode:
                    end = _carry(engine, census, end, (place, item(outcome, nodes, BELOW), 1))
                outcome = item(outcome, nodes, BESIDE)
    for level in range(1, last + 1):
        view, change, behind = get(views, level), get(changes, level), end
        while each < behind and get(engine, EngineBlock.STOPPED) == 0:
            place, pairs, many = get(each, 0), get(each, 1), get(each, 2)
            poke32(census.marks, place, np.uint64(0))
            for k in range(integer(peek32(starts, place)), integer(peek32(starts, place + 1))):
                value, under = get(entries, k) >> 32, get(entries, k) & LOW
                if view == 0:
                    end = _carry(engine, census, end, (under, pairs, many))
                    continue
                mine = class_of(engine, view, value)
                outcome = 0 if mine == REFUSED else child(engine, pairs, mine)
                while outcome != 0:
                    if same == 0 or changed(engine, change, item(outcome, nodes, VALUE), value) == value:
                        end = _carry(engine, census, end, (under, item(outcome, nodes, BELOW), many))
                    outcome = item(outcome, nodes, BESIDE)
            each += 8 * ITEM
    total = 0
    while each < end:
        place, many = get(each, 0), get(each, 2)
        poke32(census.marks, place, np.uint64(0))
        known = get(census.counts, place)
        total = min(MOST_STATES, total + (MOST_STATES if many > MOST_STATES // known else many * known))
        each += 8 * ITEM
    return total


@part
def _carry(engine: int, census: CensusLayout, end: int, what: tuple[int, int, int]) -> int:
    """Add a place, pairs and a number of vectors to the items; return the end of the items."""
    place, pairs, many = what
    marks, top = census.marks, get(engine, EngineBlock.TOP)
    head = integer(peek32(marks, place))
    each = head
    while each != 0:
        known = top + 8 * ITEM * (each - 1)
        if get(known, 1) == pairs:
            put(known, 2, min(MOST_STATES, get(known, 2) + many))
            return end
        each = get(known, 3)
    if pairs == 0:
        return end
    if end + 8 * ITEM > get(engine, EngineBlock.STACK_END):
        put(engine, EngineBlock.STOPPED, Stop.NO_TABLES)
        return end
    put(end, 0, place)
    put(end, 1, pairs)
    put(end, 2, many)
    put(end, 3, head)
    poke32(marks, place, np.uint64((end - top) // (8 * ITEM) + 1))
    return end + 8 * ITEM
