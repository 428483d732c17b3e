"""Sleep sets leave a shortest way to all that is sought, of those that plain Python finds."""
from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from model.language import Actor, Kind, Model, Scenario, Vector, action, flag, reachable, require, state
from model.language.registry import announced
from search.compile import kernel_for
from search.loops.frontier import ASLEEP, DEPTH
from search.loops.keys import hash_of
from search.loops.native import ONE, Word, loop
from search.loops.stubborn import SleepSets, sleep_sets
from tests.reduction.full_and_reduced import explored, lengths

MODELS = [announced()[name] for name in ("chang-roberts", "lost-update", "two-phase-commit")]
SHOP = Actor("shop")
Ways = dict[Vector, list[tuple[int, Vector]]]


@state
class Shop:
    """It may sell, until it closes."""

    closed: bool = flag()
    sold: bool = flag()


@action(by=SHOP, says="closes")
def close(shop: Shop) -> None:
    """Comes first in order, and makes the other impossible."""
    require(not shop.closed)
    shop.closed = True


@action(by=SHOP, says="sells")
def sell(shop: Shop) -> None:
    """Would do the same after closing, were it possible."""
    require(not shop.closed and not shop.sold)
    shop.sold = True


@reachable()
def a_good_day(shop: Shop) -> bool:
    """Sold before it closed."""
    return shop.sold and shop.closed


SHOPPING = Scenario(
    name="shopping", story="A shop closes.", state=Shop, actions=(close, sell), invariants=(a_good_day,), bounds={},
)  # fmt: skip


@loop
def hash_at(address: int, words: int) -> Word:
    """The hash of a state, as sleep sets know it."""
    return max(ONE, hash_of(address, words))


def ways_of(model: Model) -> tuple[dict[Vector, int], Ways]:
    """The depth of every state, and its steps: instances, and the states after."""
    depths, ways = dict.fromkeys(model.initial, 0), dict[Vector, list[tuple[int, Vector]]]()
    for before in (waiting := list(depths)):
        ways[before] = [(instance.index, after) for instance, after in model.successors(before)]
        for _, after in ways[before]:
            if after not in depths:
                depths[after] = depths[before] + 1
                waiting.append(after)
    return depths, ways


def right(depths: dict[Vector, int], ways: Ways, sought: Vector) -> dict[Vector, set[int]]:
    """For each state on a shortest path to the one that is sought: the instances with which such a path goes on."""
    arrivals = defaultdict(list)
    for before, steps in ways.items():
        for instance, after in steps:
            if depths[after] == depths[before] + 1:
                arrivals[after].append((instance, before))
    found: dict[Vector, set[int]] = {sought: set()}
    for after in (waiting := [sought]):
        for instance, before in arrivals[after]:
            if before not in found:
                waiting.append(before)
            found.setdefault(before, set()).add(instance)
    return found


class Sleepers:
    """A reduced search, and the tables of sleep sets that it had at each depth."""

    def __init__(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: dict[int, np.ndarray] = {}

        def begin(sets: SleepSets, first: int, states: int, room: int) -> None:
            begin_depth(sets, first, states, room)
            self.tables[first] = sets.now

        begin_depth = SleepSets.begin_depth
        monkeypatch.setattr(SleepSets, "begin_depth", begin)
        self.kernel = kernel_for(model)
        self.done = explored(model, self.kernel, model.claims, reduce=True)
        self.packed = self.done.states.rows(list(range(self.done.stored)))
        self.states = [tuple(vector) for vector in self.kernel.unpack(self.packed).tolist()]

    def asleep(self, number: int) -> set[int]:
        """The instances that are asleep in a state."""
        table = self.tables[max(first for first in self.tables if first <= number)]
        entries = table.reshape(-1, 1 + self.kernel.instance_words)
        row = np.ascontiguousarray(self.packed[number])
        (mine,) = np.nonzero(entries[:, 0] == np.uint64(hash_at(row.ctypes.data, self.kernel.words)))
        awake = 0 if len(mine) == 0 else int.from_bytes(entries[mine[0], 1:].tobytes(), "little")
        return {n for n in range(self.kernel.instances) if len(mine) and not awake >> n & 1}


def sought(model: Model, depths: dict[Vector, int], *, quiet: bool) -> set[Vector]:
    """The states that a reduced search must find: quiet ones, and the first that violate or witness a claim."""
    found = {state for state in depths if quiet and model.is_quiet(state)}
    for claim in model.claims:
        if claim.kind in (Kind.ALWAYS, Kind.REACHABLE):
            shows = [s for s in depths if model.truth(claim, s) is (claim.kind is Kind.REACHABLE)]
            least = min((depths[state] for state in shows), default=0)
            found |= {state for state in shows if depths[state] == least}
    return found


@pytest.mark.parametrize("scenario", MODELS, ids=[scenario.name for scenario in MODELS])
def test_a_shortest_way_to_each_state_that_is_sought_has_nobody_asleep_who_is_right(scenario: Scenario, monkeypatch):
    model = Model(scenario)
    depths, ways = ways_of(model)
    sleepers = Sleepers(model, monkeypatch)
    sets = {state: sleepers.asleep(number) for number, state in enumerate(sleepers.states)}
    goals = sought(model, depths, quiet=sleepers.done.reduction.finds_quiet)
    assert goals and any(sets.values())

    @cache
    def is_left(state: Vector, goal: Vector) -> bool:
        """Whether nobody sleeps in a state who is right there, and some right step leads on to such a state."""
        if state not in sets or onward[state] & sets[state]:
            return False
        after = [then for instance, then in ways[state] if instance in onward[state] and then in onward]
        return state == goal or any(is_left(then, goal) for then in after)

    for goal in goals:
        onward = right(depths, ways, goal)
        assert any(is_left(state, goal) for state in model.initial if state in onward)


def test_of_two_steps_that_have_one_order_only_none_is_left_to_sleep():
    model = Model(SHOPPING)
    done = explored(model, kernel_for(model), model.claims, reduce=True)
    assert (done.stored, done.cursor[ASLEEP]) == (4, 0)
    assert lengths(done) == {"a_good_day()": 2}


def test_a_depth_with_more_states_than_its_table_has_room_for_has_nobody_asleep(monkeypatch):
    model = Model(announced()["two-phase-commit"])
    kernel = kernel_for(model)
    one = explored(model, kernel, model.claims, reduce=True)
    monkeypatch.setattr(sleep_sets, "LOAD", 0.001)
    monkeypatch.setattr(sleep_sets, "LEAST", 1 << 12)
    other = explored(model, kernel, model.claims, reduce=True, workers=2)
    assert (one.stored, other.stored) == (126, 137)
    assert (one.cursor[ASLEEP], other.cursor[ASLEEP]) == (120, 0)
    assert lengths(one) == lengths(other)


def test_a_depth_whose_table_does_not_fit_into_memory_has_nobody_asleep(monkeypatch):
    model = Model(announced()["two-phase-commit"])
    kernel = kernel_for(model)
    one = explored(model, kernel, model.claims, reduce=True)
    monkeypatch.setattr(sleep_sets, "LEAST", 1 << 30)
    other = explored(model, kernel, model.claims, reduce=True, workers=2)
    assert (one.stored, other.stored) == (126, 137)
    assert (other.cursor[ASLEEP], other.reduction.sleep_sets.without) == (0, other.cursor[DEPTH] + 1)
    assert lengths(one) == lengths(other)


def test_any_number_of_workers_leaves_the_same_to_sleep():
    """Depths are large enough to be shared by workers."""
    model = Model(announced()["lamport-mutex"])
    kernel = kernel_for(model)
    one = explored(model, kernel, model.claims, reduce=True)
    for workers in (2, 3, 2):
        some = explored(model, kernel, model.claims, reduce=True, workers=workers)
        assert some.cursor.tolist() == one.cursor.tolist()
    assert one.cursor[ASLEEP] == 1_513_626
