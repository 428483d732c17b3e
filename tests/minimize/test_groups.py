"""Findings of one shape are one group, whatever the names, the order of the steps and the number of workers."""

from __future__ import annotations

import pickle
import random
from functools import reduce
from itertools import islice

import numpy as np
import pytest
from attrs import evolve

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.groups import (
    FindingGroups,
    FindingSample,
    Grouping,
    ShapeGroup,
    finding_groups,
    merge,
    with_groups,
)
from kwalk.search.minimize.shape import Shapes, TraceShape
from kwalk.search.minimize.shrink import Minimizer
from kwalk.search.results.confirmation import Origin
from kwalk.search.results.trace import run
from kwalk.search.simulation.walk import walk
from tests.minimize.walks import trace_of, walks_by_kernel
from tests.minimize.workshop import WORKSHOP


def shapes_and_counts(verdict):
    return [(group.prop, group.steps, group.count) for group in verdict.groups]


def test_two_bugs_are_two_groups_out_of_thousands_of_findings():
    found = walk(Model(WORKSHOP), walks=3000, depth=100, keep_going=True, minimize=1000)
    assert found.findings[0].count == 3000
    assert sum(group.count for group in found.groups) == 1000
    assert sorted(group.steps for group in found.groups) == [
        ("take(0)", "take(0)"),
        ("take(0)", "turn(0)", "give(0)"),
    ]
    for group in found.groups:
        assert group.trace.length == len(group.steps)
        assert group.walk in range(3000) and group.seed == 0
    assert "1,000 findings were minimized: 2 shapes." in found.notes


def test_the_groups_are_the_same_on_any_number_of_workers():
    one, two = (walk(Model(WORKSHOP), walks=3000, keep_going=True, minimize=300, workers=n) for n in (1, 2))
    assert shapes_and_counts(one) == shapes_and_counts(two)
    assert [group.trace for group in one.groups] == [group.trace for group in two.groups]


def test_no_more_findings_are_kept_than_are_minimized():
    found = walk(Model(WORKSHOP), walks=3000, keep_going=True, minimize=10)
    assert sum(group.count for group in found.groups) == 10 and found.findings[0].count == 3000
    assert walk(Model(WORKSHOP), walks=100, keep_going=True).groups == ()


def workshop_samples(model, count):
    """The first findings of random walks through the workshop, in numbers."""
    kernel = kernel_for(model)
    start = kernel.pack(np.array(model.initial)).tobytes()
    for number, trace in enumerate(islice(walks_by_kernel(model, kernel, model.properties, depth=100), count)):
        steps = tuple(model.instance(key).index for key in trace.actions)
        yield FindingSample(0, start, steps, Origin(f"walk {number}", seed=5), number)


def groups_of(model, samples, most):
    grouping = Grouping(model, kernel_for(model), most)
    for sample in samples:
        grouping.add(sample)
    return grouping.groups


def test_shapes_of_most_steps_are_only_counted_when_there_are_too_many():
    model = Model(WORKSHOP)
    few = groups_of(model, workshop_samples(model, 50), most=1)
    assert [(shape.steps, group.count) for shape, group in few.groups.items()] == [(("take(0)", "take(0)"), 32)]
    assert few.minimized == 50 and few.left_out == 18
    assert "18 of them have other shapes than the 1 of fewest steps that are kept." in few.notes


@pytest.mark.parametrize("most", [1, 5, 100])
def test_findings_can_be_merged_in_any_parts_and_any_order(most):
    """They are made up, so that equal ones, ties and shapes too many are frequent."""
    rng = random.Random(most)
    findings = [made_up(rng, number // 2, most) for number in range(100)]
    whole = reduce(merge, findings)
    assert whole.minimized == 100 and len(whole.groups) == min(most, 12)
    assert whole.left_out == sum(one.minimized for one in findings if not set(one.groups) & set(whole.groups))
    for shape, group in whole.groups.items():
        met = [one.groups[shape].best for one in findings if shape in one.groups]
        assert group.first.order == min(sample.order for sample in met)
        assert len(group.best.steps) == min(len(sample.steps) for sample in met)
    for _ in range(50):
        rng.shuffle(findings)
        assert merged_by_halves(rng, findings) == whole


def made_up(rng, walk, most):
    """A finding of one of twelve shapes; two of them are of one walk."""
    steps = tuple(rng.choice("ab") for _ in range(rng.choice((1, 2))))
    taken, origin = tuple(range(rng.choice((2, 3)))), Origin("walk", seed=rng.choice((None, 1, 2)))
    sample = FindingSample(rng.choice((None, 0, 1)), rng.randbytes(1), taken, origin, walk)
    group = ShapeGroup(1, frozenset([sample.prop]), sample, sample)
    return FindingGroups({TraceShape("always", rng.choice(("p()", "q()")), steps): group}, 1, most)


def merged_by_halves(rng, parts):
    if len(parts) == 1:
        return parts[0]
    middle = rng.randrange(1, len(parts))
    return merge(merged_by_halves(rng, parts[:middle]), merged_by_halves(rng, parts[middle:]))


def test_groups_that_others_made_are_those_of_all_findings():
    """Each part is minimized in another process and returned as bytes; only the traces need the model again."""
    model = Model(WORKSHOP)
    samples = list(workshop_samples(model, 60))
    parts = [pickle.dumps(groups_of(model, samples[n::3], 10)) for n in range(3)]
    together = reduce(merge, map(pickle.loads, parts))
    assert together == groups_of(model, samples, 10)
    found = finding_groups(model, kernel_for(model), together)
    assert sorted(group.count for group in found) == sorted(group.count for group in together.groups.values())
    assert all(group.trace.length == len(group.steps) and group.seed == 5 for group in found)
    assert {group.trace.found_by.partition(" in ")[0] for group in found} == {
        f"walk {group.best.walk}" for group in together.groups.values()
    }


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("take(1)", "take(1)"), ("take(3)", "take(3)")),
        (("take(1)", "turn(2)", "give(1)"), ("take(2)", "turn(0)", "give(2)")),
    ],
)
def test_renamed_members_make_no_other_shape(one, other):
    model = Model(WORKSHOP)
    shapes = Shapes(Minimizer(model, kernel_for(model)))
    states = [run(model, model.initial[0], steps) for steps in (one, other)]
    found = [trace_of(model, *each, "cupboard_is_whole()") for each in zip(states, (one, other), strict=True)]
    assert shapes.of_trace(found[0]) == shapes.of_trace(found[1])


def test_steps_that_need_not_wait_for_each_other_make_no_other_shape():
    model = Model(REFERENCE)
    shapes = Shapes(Minimizer(model, kernel_for(model)))
    orders = [("expand()", "controller_fails()", "elect(1)"), ("controller_fails()", "expand()", "elect(2)")]
    traces = [trace_of(model, run(model, model.initial[0], steps), steps, "disk_matches_znode()") for steps in orders]
    assert len({shapes.of_trace(trace) for trace in traces}) == 1
    other = ("stop(0)", "expand()", "elect(1)")
    assert shapes.of_trace(trace_of(model, run(model, model.initial[0], other), other, "disk_matches_znode()")) not in {
        shapes.of_trace(trace) for trace in traces
    }


def test_what_exhaustive_search_finds_is_grouped_too():
    model = Model(LOST_UPDATE)
    found = with_groups(model, kernel_for(model), exhaust(model, keep_going=True))
    assert [group.prop for group in found.groups] == ["counts_every_increment()", "nothing_is_lost()"]
    assert {group.steps for group in found.groups} == {("read(0)", "read(1)", "write(0)", "write(1)")}


def test_a_deadlock_has_a_shape():
    stuck = evolve(WORKSHOP, actions=(WORKSHOP.actions[0],), deadlock_is_error=True, bounds={"workers": 2})
    found = walk(Model(stuck), walks=50, depth=5, keep_going=True, minimize=50)
    assert found.groups and all(group.prop == "cupboard_is_whole()" for group in found.groups)


@pytest.mark.thorough
def test_thousands_of_findings_in_kafka_are_a_few_shapes():
    """The main story. What one fault does is not hidden by what another does in as many steps."""
    found = walk(Model(OLD_CLIENT_EXPANSION, "2.8.2"), walks=8000, depth=100, keep_going=True, minimize=2000)
    assert sum(group.count for group in found.groups) == 2000
    assert len(found.groups) == 14
    assert [(group.count, len(group.steps), group.prop) for group in found.groups[:4]] == [
        (683, 4, "zk_id_not_erased(0)"),
        (435, 6, "no_partition_lost(0)"),
        (379, 18, "context_agrees(0, 0)"),
        (159, 8, "topic_id_stable(0)"),
    ]
    faults = {"delete_controller()", "stop(0, 0)", "crash(0)"}
    lost = [faults & set(group.steps) for group in found.groups if group.prop == "no_partition_lost(0)"]
    assert lost == [{"delete_controller()"}, set(), {"stop(0, 0)"}, {"crash(0)"}]
