"""Sleep sets leave a shortest path to every goal state, of the paths that plain Python finds."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

import numpy as np
import pytest

from kwalk.model.language import (
    Actor,
    Kind,
    Model,
    PropertyInstance,
    Scenario,
    Vector,
    action,
    flag,
    reachable,
    require,
    state,
)
from kwalk.model.language.registry import announced
from kwalk.search.exhaustive.layout import Cursor
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.native.intrinsics import ONE
from kwalk.search.native.loops import Word, loop
from kwalk.search.partial_order import sleep_sets
from kwalk.search.partial_order.sleep_sets import SleepSets
from kwalk.search.visited.keys import hash_of
from tests.reduction.full_and_reduced import explored, lengths

MODELS = [announced()[name] for name in ("chang-roberts", "lost-update", "two-phase-commit")]
SHOP = Actor("shop")
Ways = dict[Vector, list[tuple[int, Vector]]]


@state
class Shop:
    """It may sell, until it closes."""

    closed: bool = flag()
    sold: bool = flag()


@action(by=SHOP, description="closes")
def close(shop: Shop) -> None:
    """Comes first in order, and makes the other impossible."""
    require(not shop.closed)
    shop.closed = True


@action(by=SHOP, description="sells")
def sell(shop: Shop) -> None:
    """Would do the same after closing, were it possible."""
    require(not shop.closed and not shop.sold)
    shop.sold = True


@reachable()
def a_good_day(shop: Shop) -> bool:
    """Sold before it closed."""
    return shop.sold and shop.closed


SHOPPING = Scenario(
    name="shopping",
    story="A shop closes.",
    state=Shop,
    actions=(close, sell),
    properties=(a_good_day,),
    bounds={},
)


def searched_properties(model: Model) -> tuple[PropertyInstance, ...]:
    """All but those of a refinement, which look at every step of a resource manager: nothing is left to reduce."""
    return tuple(prop for prop in model.properties if not prop.key.startswith("refines_"))


@loop
def hash_at(address: int, words: int) -> Word:
    """The hash of a state in the tables of sleep sets."""
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


def right(depths: dict[Vector, int], ways: Ways, goal: Vector) -> dict[Vector, set[int]]:
    """For each state on a shortest path to the goal, the instances that begin such a path."""
    arrivals = defaultdict(list)
    for before, steps in ways.items():
        for instance, after in steps:
            if depths[after] == depths[before] + 1:
                arrivals[after].append((instance, before))
    found: dict[Vector, set[int]] = {goal: set()}
    for after in (waiting := [goal]):
        for instance, before in arrivals[after]:
            if before not in found:
                waiting.append(before)
            found.setdefault(before, set()).add(instance)
    return found


class SearchWithSleepSets:
    """A reduced search, and the tables of sleep sets that it had at each depth."""

    def __init__(self, model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
        self.tables: dict[int, np.ndarray] = {}

        def begin(sets: SleepSets, first: int, states: int, room: int) -> None:
            begin_depth(sets, first, states, room)
            self.tables[first] = sets.now

        begin_depth = SleepSets.begin_depth
        monkeypatch.setattr(SleepSets, "begin_depth", begin)
        self.kernel = kernel_for(model)
        self.done = explored(model, self.kernel, model.properties, reduce=True)
        self.packed = self.done.states.rows(list(range(self.done.stored)))
        self.states = [tuple(vector) for vector in self.kernel.unpack(self.packed).tolist()]

    def sleep_set(self, number: int) -> set[int]:
        """The instances in the sleep set of a state."""
        table = self.tables[max(first for first in self.tables if first <= number)]
        entries = table.reshape(-1, 1 + self.kernel.instance_words)
        row = np.ascontiguousarray(self.packed[number])
        (mine,) = np.nonzero(entries[:, 0] == np.uint64(hash_at(row.ctypes.data, self.kernel.words)))
        awake = 0 if len(mine) == 0 else int.from_bytes(entries[mine[0], 1:].tobytes(), "little")
        return {n for n in range(self.kernel.instances) if len(mine) and not awake >> n & 1}


def goal_states(model: Model, depths: dict[Vector, int], *, quiescent: bool) -> set[Vector]:
    """The states that a reduced search must find: quiescent ones, and the first that violate or witness a property."""
    found = {state for state in depths if quiescent and model.is_quiescent(state)}
    for prop in model.properties:
        if prop.kind in (Kind.ALWAYS, Kind.REACHABLE):
            shows = [s for s in depths if model.truth(prop, s) is (prop.kind is Kind.REACHABLE)]
            least = min((depths[state] for state in shows), default=0)
            found |= {state for state in shows if depths[state] == least}
    return found


@pytest.mark.parametrize("scenario", MODELS, ids=[scenario.name for scenario in MODELS])
def test_a_shortest_path_to_each_goal_has_no_right_instance_in_a_sleep_set(scenario: Scenario, monkeypatch):
    model = Model(scenario)
    depths, ways = ways_of(model)
    search = SearchWithSleepSets(model, monkeypatch)
    sets = {state: search.sleep_set(number) for number, state in enumerate(search.states)}
    goals = goal_states(model, depths, quiescent=search.done.reduction.finds_quiescent)
    assert goals and any(sets.values())

    @cache
    def is_left(state: Vector, goal: Vector) -> bool:
        """Whether no right instance is in the sleep set of a state, and a right step leads to another such state."""
        if state not in sets or onward[state] & sets[state]:
            return False
        after = [then for instance, then in ways[state] if instance in onward[state] and then in onward]
        return state == goal or any(is_left(then, goal) for then in after)

    for goal in goals:
        onward = right(depths, ways, goal)
        assert any(is_left(state, goal) for state in model.initial if state in onward)


def test_two_steps_with_one_possible_order_are_in_no_sleep_set():
    model = Model(SHOPPING)
    done = explored(model, kernel_for(model), model.properties, reduce=True)
    assert (done.stored, done.cursor[Cursor.IN_SLEEP_SET]) == (4, 0)
    assert lengths(done) == {"a_good_day()": 2}


def test_a_depth_with_more_states_than_its_table_has_room_for_has_no_sleep_sets(monkeypatch):
    model = Model(announced()["two-phase-commit"])
    kernel = kernel_for(model)
    one = explored(model, kernel, searched_properties(model), reduce=True)
    monkeypatch.setattr(sleep_sets, "MAX_LOAD", 0.001)
    monkeypatch.setattr(sleep_sets, "MIN_ENTRIES", 1 << 12)
    other = explored(model, kernel, searched_properties(model), reduce=True, workers=2)
    assert (one.stored, other.stored) == (126, 137)
    assert (one.cursor[Cursor.IN_SLEEP_SET], other.cursor[Cursor.IN_SLEEP_SET]) == (120, 0)
    assert lengths(one) == lengths(other)


def test_a_depth_whose_table_does_not_fit_into_memory_has_no_sleep_sets(monkeypatch):
    model = Model(announced()["two-phase-commit"])
    kernel = kernel_for(model)
    one = explored(model, kernel, searched_properties(model), reduce=True)
    monkeypatch.setattr(sleep_sets, "MIN_ENTRIES", 1 << 30)
    other = explored(model, kernel, searched_properties(model), reduce=True, workers=2)
    assert (one.stored, other.stored) == (126, 137)
    assert (other.cursor[Cursor.IN_SLEEP_SET], other.reduction.sleep_sets.depths_without) == (
        0,
        other.cursor[Cursor.DEPTH] + 1,
    )
    assert lengths(one) == lengths(other)


def test_any_number_of_workers_has_the_same_sleep_sets():
    """Depths are large enough to be shared by workers."""
    model = Model(announced()["lamport-mutex"])
    kernel = kernel_for(model)
    one = explored(model, kernel, model.properties, reduce=True)
    for workers in (2, 3, 2):
        some = explored(model, kernel, model.properties, reduce=True, workers=workers)
        assert some.cursor.tolist() == one.cursor.tolist()
    assert one.cursor[Cursor.IN_SLEEP_SET] == 1_513_626
