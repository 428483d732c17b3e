"""Random walks: uniform, checked at every step, and the same however they are cut or shared."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from attrs import evolve, fields

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import DomainError, Kind, Model, StepResult
from kwalk.search.base.options import StopReason
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.confirmation import unpacked
from kwalk.search.results.trace import is_violated_at_end, run
from kwalk.search.results.vacuity import vacuity_notes
from kwalk.search.results.verdict import Answer, Strength
from kwalk.search.simulation import walk as walking
from kwalk.search.simulation.chunks import SimulationPlan, path_of, run_chunk
from kwalk.search.simulation.walk import walk
from tests.search.plain_kernel import plain_kernel
from tests.search.post_office import BROKEN, POST_OFFICE, STUCK, post_office


@pytest.fixture(scope="module")
def model():
    return post_office()


@pytest.fixture(scope="module", params=["plain", "plain, many words", "compiled"])
def kernel(request, model):
    if request.param == "compiled":
        return kernel_for(model)
    return plain_kernel(model, word_bits=63 if request.param == "plain" else 5)


@pytest.fixture(scope="module")
def reference():
    return Model(REFERENCE)


def without_time(verdict):
    return evolve(verdict, seconds=0.0)


def plan_of(model, kernel, **more):
    starts = kernel.pack(np.array(model.initial))
    return SimulationPlan(starts, tuple(range(kernel.properties)), **more)


def paths(model, kernel, count, **more):
    """The vectors and instances of some walks."""
    plan = plan_of(model, kernel, **more)
    found = [path_of(kernel, plan, number) for number in range(count)]
    return [(unpacked(kernel, path.states), path.instances) for path in found]


def facts(walks):
    """Everything in Walks, comparable."""
    return {field.name: np.asarray(getattr(walks, field.name)).tolist() for field in fields(type(walks))}


# What a walk is.


def test_walks_of_one_seed_are_the_same_in_every_kernel(model):
    kernels = [plain_kernel(model), plain_kernel(model, word_bits=5), kernel_for(model)]
    found = [paths(model, kernel, 50, seed=3, depth=20) for kernel in kernels]
    assert found[0] == found[1] == found[2]
    assert found[0] != paths(model, kernels[2], 50, seed=4, depth=20)


def test_every_walk_is_a_behaviour_of_the_model(model, kernel):
    for states, instances in paths(model, kernel, 40, seed=1, depth=15):
        assert states[0] in model.initial
        assert run(model, states[0], tuple(model.instances[i].key for i in instances)) == states


def test_a_walk_ends_at_its_depth_or_where_no_step_is_possible(model, kernel):
    for states, instances in paths(model, kernel, 60, seed=2, depth=25):
        assert len(instances) == 25 or not list(model.successors(states[-1]))
    stuck = Model(STUCK)
    for states, instances in paths(stuck, kernel_for(stuck), 30, depth=25):
        assert len(instances) < 25 and not list(stuck.successors(states[-1]))


def test_all_initial_states_and_all_possible_steps_are_equally_likely(model):
    kernel = kernel_for(model)
    found = paths(model, kernel, 6000, seed=11, depth=1)
    starts = Counter(states[0] for states, _ in found)
    assert set(starts) == set(model.initial)
    for start, times in starts.items():
        assert abs(times - 6000 / len(model.initial)) < 200
        firsts = Counter(instances[0] for states, instances in found if states[0] == start)
        possible = [instance.index for instance, _ in model.successors(start)]
        assert set(firsts) == set(possible)
        for taken in firsts.values():
            assert abs(taken - times / len(possible)) < 0.2 * times / len(possible) + 40


def test_where_a_bound_disables_a_step_another_one_is_taken_and_the_hit_is_counted(model, kernel):
    verdict = walk(model, kernel=kernel, properties=(), walks=100, depth=20)
    assert set(verdict.bounds_hit) == {"bag", "letters"} and min(verdict.bounds_hit.values()) > 30
    full = [s for states, _ in paths(model, kernel, 30, depth=20) for s in states if len(model.state(s).bag) == 2]
    assert full


# What a run counts.


def test_counts_are_those_of_the_walks_one_by_one(model, kernel):
    plan = plan_of(model, kernel, seed=5, depth=12)
    every = tuple(range(kernel.properties))
    counted = run_chunk(kernel, SimulationPlan(plan.starts, every, seed=5, depth=12), range(80), collect=True)
    found = paths(model, kernel, 80, seed=5, depth=12)
    visited = [state for states, _ in found for state in states]
    taken = [step for states, instances in found for step in zip(instances, states, states[1:], strict=False)]
    assert (counted.walks, counted.visits, counted.steps) == (80, len(visited), len(taken))
    assert counted.quiescent == sum(map(model.is_quiescent, visited))
    for instance in model.instances:
        n = instance.index
        assert counted.enabled[n] == sum(model.attempt(instance, s).result is not StepResult.DISABLED for s in visited)
        assert counted.taken[n] == sum(i == n for i, _, _ in taken)
        assert counted.changed[n] == sum(i == n and before != after for i, before, after in taken)
    for prop in model.properties:
        steps, states = [(after, before) for _, before, after in taken], [(state, None) for state in visited]
        where = steps if prop.kind is Kind.STEP else states
        where = [w for w in where if prop.kind is not Kind.WHEN_QUIESCENT or model.is_quiescent(w[0])]
        assert counted.premises[prop.index] == sum(model.truth(prop, *w) is not None for w in where)


def test_findings_are_the_first_violating_step_of_each_property_in_each_walk(model, kernel):
    plan = plan_of(model, kernel, seed=5, depth=12)
    every = SimulationPlan(plan.starts, tuple(range(kernel.properties)), seed=5, depth=12)
    found = run_chunk(kernel, every, range(120), collect=True).findings
    expected = []
    for number, (states, _) in enumerate(paths(model, kernel, 120, seed=5, depth=12)):
        for prop in model.properties:
            bad = (step for step in range(len(states)) if _violated(model, prop, states, step))
            expected.extend((number, step, prop.index) for step in list(bad)[:1])
    assert expected and sorted(map(tuple, found.tolist())) == sorted(expected)


def _violated(model, prop, states, step):
    if prop.kind is Kind.STEP:
        return step > 0 and model.violates(prop, states[step], states[step - 1])
    return model.violates(prop, states[step])


def test_walks_cut_into_chunks_add_up_to_the_same(reference):
    kernel = kernel_for(reference)
    plan = SimulationPlan(kernel.pack(np.array(reference.initial)), (0, 1), seed=9, depth=40)
    whole = run_chunk(kernel, plan, range(10, 5010), collect=True)
    cuts = [10, 11, 500, 501, 3333, 5010]
    parts = [run_chunk(kernel, plan, range(a, b), collect=True) for a, b in pairwise(cuts)]
    assert len(whole.findings) > 4096  # more than the loop can keep at a time
    assert facts(sum(parts[1:], start=parts[0])) == facts(whole)


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_gives_the_same_verdict(reference, workers):
    options = {"seed": 3, "walks": 20_000, "keep_going": True}
    assert without_time(walk(reference, workers=workers, **options)) == without_time(walk(reference, **options))


@pytest.mark.parametrize("workers", [1, 2])
def test_the_run_stops_at_the_violation_of_the_lowest_walk(reference, workers):
    options = {"properties": reference.properties_of("leaders_when_settled"), "seed": 1, "depth": 9, "walks": 200_000}
    verdict = walk(reference, workers=workers, **options)
    everything = walk(reference, keep_going=True, **options)
    assert verdict.answer is Answer.VIOLATED and verdict.findings[0].count == 1
    assert verdict.counterexample == everything.counterexample
    assert verdict.walks > 1 and verdict.counterexample.found_by == f"walk {verdict.walks - 1}"


def test_findings_are_written_only_until_there_are_as_many_as_are_minimized(reference, monkeypatch):
    runs = []

    def recorded(kernel, plan, numbers, *, collect=False):
        counts = run_chunk(kernel, plan, numbers, collect=collect)
        runs.append((numbers.start, collect, len(counts.findings)))
        return counts

    monkeypatch.setattr(walking, "run_chunk", recorded)
    verdict = walk(reference, walks=20_000, keep_going=True, minimize=30)
    assert sum(group.count for group in verdict.groups) == 30
    enough = next(n for n in range(len(runs)) if sum(found for *_, found in runs[:n]) >= 30)
    assert [collect for _, collect, _ in runs] == [True] * enough + [False] * (len(runs) - enough)
    assert len(runs) > enough


def test_a_violation_yields_a_trace_that_plain_python_confirms(model, kernel):
    verdict = walk(model, kernel=kernel, keep_going=True, walks=120, depth=25, seed=2)
    names = {finding.prop for finding in verdict.findings}
    assert {"never_three_delivered()", "nothing_is_lost()", "bag_grows_slowly()"} == names
    for finding in verdict.findings:
        trace = finding.trace
        assert run(model, trace.states[0], trace.actions) == trace.states
        assert is_violated_at_end(model, model.properties_of(finding.prop)[0], trace.states)
        assert trace.seed == 2 and trace.shortest is None


# The verdict.


def test_without_a_violation_the_answer_is_sampled_only(model, kernel):
    properties = model.properties_of("no_more_delivered_than_written")
    verdict = walk(model, kernel=kernel, properties=properties, walks=50)
    assert (verdict.answer, verdict.strength, verdict.walks) == (Answer.HOLDS, Strength.SAMPLED, 50)


def test_reachable_properties_are_reported_and_never_violated(model, kernel):
    properties = (*model.properties_of("visits"), *model.properties_of("nine_delivered"))
    verdict = walk(model, kernel=kernel, properties=properties, walks=200, depth=30)
    assert verdict.answer is Answer.HOLDS
    assert "No walk reached nine_delivered()." in verdict.notes
    assert any(note.startswith("visits(0) was reached in ") for note in verdict.notes)


def test_a_deadlock_is_found_where_the_scenario_calls_it_an_error():
    model = Model(STUCK)
    verdict = walk(model, walks=20)
    assert verdict.answer is Answer.DEADLOCK and verdict.findings[0].prop == "deadlock"
    assert not list(model.successors(verdict.counterexample.states[-1]))


def test_a_step_out_of_its_domain_is_an_error_with_the_way_to_it():
    model = Model(BROKEN)
    with pytest.raises(DomainError, match=r"overflow\(\) leaves its domain.*This happens after"):
        walk(model, kernel=plain_kernel(model), properties=())
    with pytest.raises(DomainError, match=r"overflow\(\) leaves its domain.*This happens after"):
        walk(model, properties=())


def test_a_kernel_that_takes_a_step_elsewhere_is_found_out(model):
    def lie(action, before, after):
        return (*after[:-1], -1) if action == "deliver()" else after

    with pytest.raises(EngineDisagreement, match=r"deliver\(\) leads to different states"):
        walk(
            model,
            kernel=plain_kernel(model, lie=lie),
            properties=model.properties_of("never_three_delivered"),
            walks=500,
        )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_time_budget_ends_the_walks(reference, workers):
    verdict = walk(reference, properties=(), seconds=0.5, workers=workers)
    assert verdict.answer is Answer.HOLDS and verdict.strength is Strength.SAMPLED
    assert 0.4 < verdict.seconds < 5 and verdict.walks > 1000


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_leaves_what_was_walked(reference, workers):
    def press(progress):
        if progress.done > 10_000:
            raise KeyboardInterrupt

    verdict = walk(reference, properties=(), walks=10_000_000, report=press, workers=workers)
    assert verdict.answer is Answer.UNDECIDED and verdict.stopped is StopReason.INTERRUPT
    assert verdict.steps > 10_000 and "of 10,000,000 walks" in verdict.notes[0]


def test_more_than_64_instances_are_chosen_alike():
    model = Model(POST_OFFICE, bounds={"streets": 35, "letters": 1, "bag": 1})
    assert len(model.instances) > 64
    kernel = kernel_for(model)
    plan = SimulationPlan(kernel.pack(np.array(model.initial)), (), seed=1, depth=1)
    walks = run_chunk(kernel, plan, range(40_000), collect=True)
    writes = [walks.taken[i.index] for i in model.instances if i.action.name == "write"]
    fair = 40_000 / 36  # all writes and one `clear_up` are possible at first
    assert len(writes) == 35 and 0.8 * fair < min(writes) and max(writes) < 1.2 * fair


@pytest.mark.parametrize("workers", [1, 2])
def test_walks_that_take_long_continue_with_a_faster_kernel(monkeypatch, workers):
    monkeypatch.setattr("kwalk.search.simulation.walk.LEAST_SLICED_SECONDS", float("inf"))
    model, found = post_office(), []
    swift = kernel_for(model)
    slow = evolve(swift, faster=lambda: swift, replaced_after=0.0)
    expected = walk(model, kernel=swift, walks=20_000, keep_going=True)
    verdict = walk(model, kernel=slow, walks=20_000, keep_going=True, workers=workers, report=found.append)
    assert any(progress.note == "faster code is compiled" for progress in found)
    assert without_time(verdict) == without_time(expected)


def test_an_instance_that_a_walk_did_not_choose_is_not_called_stopped_by_a_bound(reference):
    verdict = walk(reference, walks=1, depth=2)
    unused = [count for count in verdict.action_counts.values() if count.enabled and not count.taken]
    notes = list(vacuity_notes(verdict, reference))
    assert unused and any("never fired" in note for note in notes)
    assert not [note for note in notes if "stopped by" in note]
