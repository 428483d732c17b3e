"""Explorations to rest: what is known of the effects of instances changes nothing in them."""

from __future__ import annotations

import numpy as np
import pytest
from attrs import evolve

from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import Actor, Model, Scenario, action, always, flag, number, require, state
from kwalk.model.language.inspection import Inspection
from kwalk.model.language.recovery import Move, Problem, Procedure, World
from kwalk.model.language.registry import announced
from kwalk.search.analyses.recovery import plan_recovery
from kwalk.search.analyses.settling import KernelExploration, Settling, StateWorkspace
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interface import Kernel
from tests.snapshots.captured import FILES

EXAMPLES = ("readers-writers", "two-phase-commit", "chang-roberts", "lamport-mutex")
CAPTURE = "a captured cluster"
PORTER, GUEST = Actor("porter"), Actor("guest", system=False)


def model_of(name: str) -> Model:
    if name == CAPTURE:
        return recovery_problem(FILES["scenario-01-05-produce-consume"]).worlds[0].model
    return Model(announced()[name])


def explored(model: Model, kernel: Kernel) -> tuple[np.ndarray, list[int], int]:
    """The keys of all states in their order, the instances that led to them, and how often the kernel was called."""
    system = [instance.index for instance in model.instances if instance.action.by.system]
    others = [number for number in range(kernel.instances) if number not in system]
    workspace, starts = StateWorkspace(kernel), [(vector, 1) for vector in model.initial]
    found = KernelExploration(workspace, starts, system, others, at_any_moment=False, check=lambda states: None)
    keys = found.store.rows(list(range(found.visited)))
    return keys, workspace.instance_of[: found.visited].tolist(), workspace.effects.count


@pytest.mark.parametrize("name", [*EXAMPLES, CAPTURE])
def test_the_leaves_that_an_instance_touches_decide_which_bits_it_flips(name: str) -> None:
    model = model_of(name)
    kernel = kernel_for(model)
    keys, led_by, calls = explored(model, kernel)
    expected, expected_led_by, every = explored(model, evolve(kernel, touched=()))
    assert np.array_equal(keys, expected) and led_by == expected_led_by
    assert len(keys) > 10 and calls < every


def test_a_leaf_that_is_left_out_leads_to_other_states() -> None:
    model = model_of("readers-writers")
    kernel = kernel_for(model)
    wrong = evolve(kernel, touched=("0",) * kernel.instances)
    assert not np.array_equal(explored(model, kernel)[0], explored(model, wrong)[0])


@state
class Door:
    """A door that a porter tries, and that opens by a key only."""

    tries: int = number(0, 3)
    is_open: bool = flag()


@action(by=PORTER, description="tries the door")
def try_door(door: Door) -> None:
    require(not door.is_open)


@action(by=PORTER, description="walks up to the door")
def walk_up(door: Door) -> None:
    require(door.tries < 3)
    door.tries += 1


@action(by=GUEST, description="opens the door")
def open_door(door: Door) -> None:
    door.is_open = True


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("at_any_moment", [True, False])
def test_a_state_that_the_system_leaves_as_it_is_is_at_rest(plain: bool, at_any_moment: bool) -> None:
    """A controller tries elections that fail again and again: seen on brokers of 3.9.0 whose states were removed."""
    scenario = Scenario(name="door", story="A door.", state=Door, actions=(try_door, walk_up, open_door))
    model = Model(scenario)
    world = World("door", model, model.initial, (), faults=("open_door()",), plain=plain)
    settling = Settling(world)
    settling.at_any_moment = at_any_moment
    closed, opened = model.vector(Door(3, False)), model.vector(Door(3, True))
    assert settling.first(0).states == {(closed, 0)}
    assert settling.at_rest(frozenset({(closed, 1)}), frozenset()) == {(closed, 1), (opened, 0)}
    assert settling.confirm(()) == (0 if plain else 3)
    left = settling.at_rest(frozenset({(model.initial[0], 1)}), frozenset())
    assert left == {(closed, 1), (opened, 0)}


def test_models_with_the_same_transitions_share_a_kernel() -> None:
    """Hundreds of partitions are in one situation; another bound, flag or action makes another model."""
    scenario = announced()["readers-writers"]
    one, alike, larger = Model(scenario, bounds={"actors": 2}), Model(scenario, bounds={"actors": 2}), Model(scenario)
    kernels = [Settling(World("a world", model, model.initial, ())).kernel for model in (one, alike, larger)]
    assert kernels[0] is kernels[1] is not kernels[2]
    shorter = Model(evolve(scenario, actions=scenario.actions[1:]), bounds={"actors": 2})
    assert Settling(World("a world", shorter, shorter.initial, ())).kernel is not kernels[0]


@state
class Pile:
    """Stones that a guest piles up."""

    height: int = number(0, 5)


@action(by=GUEST, description="lays a stone, or two")
def lay(pile: Pile, two: bool) -> None:
    require(pile.height < 4)
    pile.height += 2 if two else 1


@always(symptom="the pile is low")
def pile_is_high(pile: Pile) -> bool:
    return pile.height >= 3


@pytest.mark.parametrize(
    ("once", "steps"),
    [((), ["one", "one", "one"]), (("a", "b"), None), (("b", "c"), None), (("c",), ["one", "two"])],
)
def test_of_procedures_that_are_done_once_a_plan_has_one(once: tuple[str, ...], steps: list[str] | None) -> None:
    """What they write depends on what was found before them."""
    scenario = Scenario(name="pile", story="A pile.", state=Pile, actions=(lay,), properties=(pile_is_high,))
    model = Model(scenario)
    world = World("pile", model, model.initial, model.properties, plain=True)
    procedures = (
        Procedure("one", "Lay one stone.", ((Move((("lay(0)",),)),),), cost=1, once=frozenset(once and ("a", "b"))),
        Procedure("two", "Lay two stones.", ((Move((("lay(1)",),)),),), cost=4, once=frozenset(once)),
    )
    found = plan_recovery(Problem(Inspection("A pile.", (), {}), (world,), procedures), faults=0)
    assert (found.plan and [one.name for one in found.plan.procedures]) == steps


@always(symptom="the pile has two stones")
def pile_is_not_of_two(pile: Pile) -> bool:
    return pile.height != 2


@pytest.mark.parametrize(("kept", "steps"), [((), ["one", "one", "one"]), (("pile_is_not_of_two",), ["one", "two"])])
def test_no_step_of_a_plan_violates_a_claim_that_is_kept_on_the_way(kept: tuple[str, ...], steps: list[str]) -> None:
    claims = (pile_is_high, pile_is_not_of_two)
    model = Model(Scenario(name="pile", story="A pile.", state=Pile, actions=(lay,), properties=claims))
    world = World("pile", model, model.initial, model.properties, plain=True)
    procedures = (
        Procedure("one", "Lay one stone.", ((Move((("lay(0)",),)),),), cost=1),
        Procedure("two", "Lay two stones.", ((Move((("lay(1)",),)),),), cost=4),
    )
    problem = Problem(Inspection("A pile.", (), {}), (world,), procedures, kept=frozenset(kept))
    found = plan_recovery(problem, faults=0)
    assert found.plan is not None and [one.name for one in found.plan.procedures] == steps
