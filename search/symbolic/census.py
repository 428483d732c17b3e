"""The census of sets of states: how many states, and how many steps, satisfy the conditions of rules.

Words: a *place* is a node that begins a list, in the order of the levels; what a pass over all nodes reads is so stored
without gaps. A *column* is a set of states with a total of its own.

A pass upwards projects each place to the classes that a rule can tell apart, to learn what is not known. One downwards
carries how many vectors above a place go with which pairs of the rule.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

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
from kwalk.search.symbolic.engine import SymbolicEngine
from kwalk.search.symbolic.layout import REFUSED, EngineBlock, RuleBlock, Stop
from kwalk.search.symbolic.rules import child, learn_from, rule_at
from kwalk.search.symbolic.tables import changed, class_of

MOST_STATES = 1 << 62
"""What a count stays below."""
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
    """

    def __init__(
        self, engine: SymbolicEngine, columns: Sequence[Mapping[int, int]], learnt: Iterable[int] = ()
    ) -> None:
        self.engine = engine
        nodes = engine.node_table
        places = np.unique(np.array([states for column in columns for states in column.values()], np.int64))
        self.columns = [_roots(column, places) for column in columns]
        self._all = np.concatenate([[sum(map(len, columns))], *(roots[1:] for roots in self.columns)]).astype(np.int64)
        first, starts, entries = [0, 0], [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        for _ in range(1, engine.levels):
            owners, rest = np.arange(len(places)), places
            parts = [(owners[:0], nodes[:0])]  # there may be no place
            while len(rest):
                parts.append((owners, nodes[rest]))
                owners, rest = owners[nodes[rest, BESIDE] > 0], nodes[rest, BESIDE][nodes[rest, BESIDE] > 0]
            owner, node = (np.concatenate(each) for each in zip(*parts, strict=True))
            node = node[np.argsort(owner, kind="stable")].astype(np.int64)
            lengths = np.bincount(owner, minlength=len(places))
            starts.append(sum(map(len, entries)) + np.cumsum(lengths) - lengths)
            first.append(first[-1] + len(places))
            places, below = np.unique(node[:, BELOW], return_inverse=True)
            entries.append(node[:, VALUE] << 32 | first[-1] + below)
        self._sizes = np.ones(first[-1] + 1, np.int64)
        for level in range(engine.levels - 1, 0, -1):
            under, begins = self._sizes[entries[level] & LOW], starts[level] - starts[level][:1]
            if len(begins):
                rough, exact = (np.add.reduceat(each, begins) for each in (under.astype(float), under))
                self._sizes[first[level] : first[level + 1]] = np.where(rough < MOST_STATES, exact, MOST_STATES)
        self._arrays = (
            np.array(first, np.int64),
            np.concatenate([*starts, [sum(map(len, entries))]]).astype(np.uint32),
            np.concatenate(entries),
            np.zeros(first[-1] + 1, np.uint32),
            self._sizes,
        )
        self.layout = CensusLayout(*(each.ctypes.data for each in self._arrays))
        self._learnt, self._counts = set(learnt), dict[tuple[int, bool], list[int]]()

    def total(self) -> int:
        """Return the number of states of all columns."""
        return min(MOST_STATES, sum(int(self._sizes[place]) for place in self._all[2::2]))

    def count(self, rule: int, *, same: bool = False) -> list[int]:
        """Return for each column in how many states the conditions of a rule hold.

        With `same` only those are counted that the rule leaves as they are.
        """
        run, layout = self.engine.run, self.layout
        if rule not in self._learnt:
            run(survey, layout, self._all.ctypes.data, rule)
            self._learnt.add(rule)
        if (rule, same) not in self._counts:  # several sets have the same rule
            self._counts[rule, same] = [run(tally, layout, each.ctypes.data, rule, int(same)) for each in self.columns]
        return self._counts[rule, same]


def _roots(column: Mapping[int, int], places: np.ndarray) -> np.ndarray:
    """Return a number of roots, and for each its mode and its place, int64[1 + 2 * roots]."""
    numbers = np.searchsorted(places, np.array(list(column.values()), np.int64))
    return np.concatenate([[len(column)], np.stack([list(column), numbers], axis=1).ravel()]).astype(np.int64)


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
