"""Swarms of walks: the same however they are cut, replayable, and without false quiescent states or deadlocks."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from attrs import evolve, fields

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import DomainError, Model, UsageError
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.confirmation import unpacked
from kwalk.search.results.trace import is_violated_at_end, run
from kwalk.search.simulation.chunks import SimulationPlan, next_generation, path_of, run_chunk
from kwalk.search.simulation.hyperloglog import STANDARD_ERROR, distinct
from kwalk.search.simulation.options import SWARM, allowed_instances
from kwalk.search.simulation.swarm import swarm_for
from kwalk.search.simulation.walk import walk
from tests.search.plain_kernel import plain_kernel
from tests.search.post_office import BROKEN, STUCK, post_office


def plan_of(model, kernel, **more):
    starts = kernel.pack(np.array(model.initial))
    return SimulationPlan(starts, tuple(range(kernel.properties)), count_states=True, **more)


def walked(kernel, plan, generations, cuts=()):
    """The counts of some generations, each cut into chunks before these fractions of it, and the plan of the next."""
    total = None
    for _ in range(generations):
        now = plan.swarm.generations[-1]
        size = now.last - now.first
        edges = [now.first, *(now.first + int(cut * size) for cut in cuts), now.last]
        for first, last in pairwise(edges):
            part = run_chunk(kernel, plan, range(first, last), collect=True)
            total = part if total is None else total + part
        plan = next_generation(kernel, plan, total)
    return total, plan


def facts(walks):
    return {field.name: np.asarray(getattr(walks, field.name)).tolist() for field in fields(type(walks))}


@pytest.fixture(scope="module")
def reference():
    return Model(REFERENCE)


def test_a_swarm_cut_into_chunks_adds_up_to_the_same(reference):
    kernel = kernel_for(reference)
    plan = plan_of(reference, kernel, seed=3, depth=40, swarm=swarm_for(reference))
    whole, then = walked(kernel, plan, 3)
    parts, also = walked(kernel, pickle.loads(pickle.dumps(plan)), 3, cuts=(0.001, 0.3, 0.31, 0.8))
    assert whole.walks == plan.last + 3000 + 4500 and facts(whole) == facts(parts)
    one, same = then.swarm.generations[-1], also.swarm.generations[-1]
    assert one.chances.tolist() == same.chances.tolist()
    assert [(r.start, r.track) for r in one.restarts] == [(r.start, r.track) for r in same.restarts]


def test_every_walk_of_a_swarm_is_a_behaviour_from_an_initial_state(reference):
    kernel = kernel_for(reference)
    plan = plan_of(reference, kernel, seed=3, depth=30, swarm=swarm_for(reference))
    _, plan = walked(kernel, plan, 2)
    first = plan.swarm.generations[-1].first
    for number in (*range(20), *range(first, first + 40)):
        path = path_of(kernel, plan, number)
        states = unpacked(kernel, path.states)
        assert states[0] in reference.initial and len(path.instances) <= 30
        keys = tuple(reference.instances[i].key for i in path.instances)
        assert run(reference, states[0], keys) == states


def test_findings_of_a_swarm_are_where_their_paths_end(reference):
    kernel = kernel_for(reference)
    plan = plan_of(reference, kernel, seed=1, depth=30, swarm=swarm_for(reference))
    total, plan = walked(kernel, plan, 3)
    late = [row for row in total.findings.tolist() if row[0] >= plan.swarm.generations[2].first][:40]
    assert len(late) == 40
    for number, step, prop in late:
        states = unpacked(kernel, path_of(kernel, plan, number, step).states)
        assert len(states) == step + 1
        assert is_violated_at_end(reference, reference.properties[prop], states)


def small_swarm(model, **more):
    """A swarm whose first generation has a hundred walks."""
    swarm = swarm_for(model, **more)
    return evolve(swarm, generations=(evolve(swarm.generations[0], last=100),))


def test_swarms_are_the_same_in_plain_python_and_compiled():
    model = post_office()
    kernels = [plain_kernel(model), kernel_for(model)]
    plans = [
        walked(kernel, plan_of(model, kernel, seed=2, depth=20, swarm=small_swarm(model)), 2)[1] for kernel in kernels
    ]
    assert plans[0].swarm.generations[2].restarts and plans[0].last == 475
    paths = [[path_of(k, c, n).instances for n in range(475)] for k, c in zip(kernels, plans, strict=True)]
    assert paths[0] == paths[1]
    uniform = [path_of(kernels[1], evolve(plans[1], swarm=None), n).instances for n in range(475)]
    assert paths[0] != uniform


def swarm_towards(model, name, chance, others):
    """A swarm that groups by action only, with the chances of one action and of the others to be in a higher level."""
    swarm = swarm_for(model, adaptive=False, restarting=False)
    begin, end = swarm.grouping_ends[1], swarm.grouping_ends[2]
    names, rows = swarm.group_names[begin:end], swarm.group_rows[begin:end]
    chances = np.array([chance if one == name else others for one in names])
    plan = evolve(swarm.generations[0], chances=chances)
    return evolve(
        swarm, grouping_ends=np.array([0, len(names)]), group_names=names, group_rows=rows, generations=(plan,)
    )


def test_a_walk_that_prefers_nothing_is_a_uniform_one(reference):
    kernel = kernel_for(reference)
    plan = plan_of(reference, kernel, seed=4, depth=30, swarm=swarm_towards(reference, "", 0.0, 0.0))
    alike = evolve(plan, swarm=None)
    assert all(path_of(kernel, plan, n).instances == path_of(kernel, alike, n).instances for n in range(100))


def test_what_is_in_all_levels_is_taken_in_three_of_four_steps_at_least(reference):
    kernel = kernel_for(reference)
    action = reference.scenario.actions[0].name
    own = [i.index for i in reference.instances if i.action.name == action]
    assert len(own) == 1
    plan = plan_of(reference, kernel, seed=4, depth=30, swarm=swarm_towards(reference, action, 1.0, 0.0))
    keen, plain = (run_chunk(kernel, c, range(2000)) for c in (plan, evolve(plan, swarm=None)))
    assert keen.taken[own].sum() >= 0.75 * keen.enabled[own].sum() > 0
    assert plain.taken[own].sum() < 0.6 * plain.enabled[own].sum()


def test_walks_that_may_not_do_something_are_cut_there_and_invent_no_deadlock():
    model = post_office()
    kernel = kernel_for(model)
    write = tuple(i.index for i in model.instances if i.action.name == "write")
    plan = plan_of(model, kernel, depth=20, allowed=write, deadlock=True)
    walks = run_chunk(kernel, plan, range(300))
    assert walks.taken.sum() == walks.taken[list(write)].sum() > 0
    assert walks.cuts == 300 and walks.dead_ends == 0 and walks.property_hits[-1] == 0
    quiescent = sum(
        model.is_quiescent(state) for n in range(300) for state in unpacked(kernel, path_of(kernel, plan, n).states)
    )
    assert walks.quiescent == quiescent


def test_a_dead_end_is_one_for_every_walk_of_a_swarm():
    stuck = Model(STUCK)
    kernel = kernel_for(stuck)
    walks = run_chunk(kernel, plan_of(stuck, kernel, depth=25, deadlock=True, swarm=swarm_for(stuck)), range(50))
    assert walks.dead_ends == 50 and walks.cuts == 0 and walks.property_hits[-1] == 50


@pytest.mark.parametrize("walks", [1, 10, 400, 20_000])
def test_a_sketch_counts_distinct_states_within_four_standard_errors(reference, walks):
    kernel = kernel_for(reference)
    plan = plan_of(reference, kernel, depth=40)
    counted = run_chunk(kernel, plan, range(walks))
    seen = {state.tobytes() for n in range(min(walks, 400)) for state in path_of(kernel, plan, n).states}
    if walks <= 400:
        assert abs(distinct(counted.sketch) - len(seen)) <= max(1, 4 * STANDARD_ERROR * len(seen))
    else:
        assert distinct(counted.sketch) > len(seen)


def test_sketches_of_random_numbers_are_within_four_standard_errors():
    rng = np.random.default_rng(1)
    for size in (100, 10_000, 1_000_000):
        words = rng.integers(0, 2**63, size, np.uint64) * np.uint64(2) + rng.integers(0, 2, size).astype(np.uint64)
        sketch = np.zeros(1 << 14, np.int8)
        rest = words & np.uint64(2**50 - 1)
        zeros = np.array([50 if not r else (int(r) & -int(r)).bit_length() - 1 for r in rest.tolist()])
        np.maximum.at(sketch, (words >> np.uint64(50)).astype(np.int64), (zeros + 1).astype(np.int8))
        assert abs(distinct(sketch) - size) < 4 * STANDARD_ERROR * size


# What walks are allowed to do.


def test_instances_are_named_by_action_by_actor_or_by_one_of_several_actors():
    model = Model(find_scenario("lamport-mutex"))
    with model.active():
        of_one = [i.index for i in model.instances if i.actor == "process 1"]
    name = model.instances[0].action.name
    own = [i.index for i in model.instances if i.action.name == name]
    assert allowed_instances(model) is None and allowed_instances(model, only=["process"]) is None
    assert list(allowed_instances(model, only=["process 1"])) == of_one
    assert list(allowed_instances(model, only=[name])) == own
    assert list(allowed_instances(model, without=["process 0", "process 2"])) == of_one
    assert list(allowed_instances(model, only=["process 1"], without=[name])) == [n for n in of_one if n not in own]


def test_an_unknown_name_is_refused_with_the_nearest_one_and_so_is_leaving_out_everything():
    model = Model(find_scenario("lamport-mutex"))
    with pytest.raises(UsageError, match=r"No action or actor named 'proces 1'. Did you mean 'process 1'\?"):
        allowed_instances(model, without=["proces 1"])
    with pytest.raises(UsageError, match="No action is left that a walk may take"):
        allowed_instances(model, only=["process 0"], without=["process"])


# Runs of a swarm.


def without_time(verdict):
    return evolve(verdict, seconds=0.0)


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_gives_the_same_swarm(reference, workers):
    options = {"seed": 3, "walks": 20_000, "keep_going": True, "options": SWARM}
    one = walk(reference, **options)
    assert without_time(walk(reference, workers=workers, **options)) == without_time(one)
    assert "A swarm of 5 generations: each walk draws its own preferences." in one.notes
    assert any(note.startswith("The last generation favoured, rarest first: ") for note in one.notes)
    assert any("of its walks began at one of 256 rarely visited states" in note for note in one.notes)
    assert 0 < one.estimated_states < one.steps


def test_a_swarm_stops_at_the_violation_of_the_lowest_walk(reference):
    options = {"properties": reference.properties_of("leaders_when_settled"), "seed": 1, "depth": 9, "options": SWARM}
    found = [walk(reference, workers=workers, walks=200_000, **options) for workers in (1, 2)]
    everything = walk(reference, walks=5000, keep_going=True, **options)
    assert found[0].counterexample == found[1].counterexample == everything.counterexample
    assert found[0].counterexample.found_by == f"walk {found[0].walks - 1}"


def test_a_swarm_sees_more_of_a_model_in_as_many_steps():
    """The gain that swarms are for; how large it is, `bench.swarm` measures."""
    model = Model(find_scenario("topic-id-core"))
    uniform = walk(model, properties=(), walks=20_000, count_states=True)
    swarm = walk(model, properties=(), walks=20_000, options=SWARM)
    assert swarm.estimated_states / swarm.steps > 1.2 * uniform.estimated_states / uniform.steps


def test_what_walks_could_not_take_is_noted_and_not_counted_as_an_action_that_was_never_taken():
    model = Model(find_scenario("lamport-mutex"))
    verdict = walk(model, walks=100, without=("process 0",))
    kept = [i.key for i in model.instances if i.index in allowed_instances(model, without=["process 0"])]
    assert list(verdict.action_counts) == kept
    left_out = len(model.instances) - len(kept)
    assert verdict.notes[0].startswith(f"Walks could not take {left_out} of {len(model.instances)} action instances: ")
    assert verdict.notes[1] == "100 of 100 walks were cut where no other action instance was enabled."


def test_no_action_is_called_favoured_that_cannot_be_taken():
    model = Model(find_scenario("lamport-mutex"))
    everything, less = (
        walk(model, walks=3000, properties=(), options=evolve(SWARM, without=names)) for names in ((), ("leave",))
    )
    (said,) = (note for note in everything.notes if note.startswith("The last generation favoured"))
    (without,) = (note for note in less.notes if note.startswith("The last generation favoured"))
    assert "leave" in said and "leave" not in without


def test_a_step_out_of_its_domain_is_found_by_a_swarm_with_the_way_to_it():
    with pytest.raises(DomainError, match=r"overflow\(\) leaves its domain.*This happens after"):
        walk(Model(BROKEN), properties=(), options=SWARM)
