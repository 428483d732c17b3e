"""Exhaustive search: exact counts, shortest traces, and engines that are found out."""

from __future__ import annotations

import ctypes
from collections import Counter

import pytest
from attrs import evolve

from kwalk.model.language import DomainError, Kind, Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.trace import is_violated_at_end, run
from kwalk.search.results.verdict import Answer, Strength
from tests.search.exhaustive.verdicts import properties_of
from tests.search.plain_counts import plain_counts
from tests.search.plain_kernel import plain_kernel
from tests.search.post_office import BROKEN, STUCK

KERNELS = {
    "plain, one word": plain_kernel,
    "plain, two words": lambda model: plain_kernel(model, word_bits=12),
    "plain, many words": lambda model: plain_kernel(model, word_bits=4),
    "compiled": kernel_for,
}


@pytest.fixture(params=KERNELS, scope="module")
def everything(request, model):
    """The verdict of a complete search that counts everything."""
    return exhaust(model, kernel=KERNELS[request.param](model), keep_going=True)


def test_states_steps_depth_and_quiescent_states_are_those_of_a_plain_search(everything, expected):
    assert everything.distinct_states == len(expected.depths)
    assert everything.generated_states == expected.generated
    assert everything.depth == max(expected.depths.values())
    sizes = Counter(expected.depths.values())
    assert everything.states_by_depth == tuple(sizes[depth] for depth in range(len(sizes)))
    assert everything.quiescent_states == expected.quiescent


def test_every_instance_is_counted_as_a_plain_search_counts_it(everything, expected, model):
    for instance in model.instances:
        count = everything.action_counts[instance.key]
        assert count.enabled == expected.enabled[instance.key]
        assert count.taken == expected.taken[instance.key]
        assert count.changed == expected.changed[instance.key]
    assert everything.action_counts["clear_up()"].changed < everything.action_counts["clear_up()"].taken
    assert everything.action_counts["write(0)"].taken < everything.action_counts["write(0)"].enabled


def test_bounds_hit_are_counted_by_name(everything, expected):
    assert everything.bounds_hit == dict(expected.hits)
    assert set(everything.bounds_hit) == {"bag", "letters"}


def test_premises_and_violations_are_counted_for_every_property(everything, expected, model):
    assert everything.premises == {prop.key: expected.premises[prop.key] for prop in model.properties}
    violated = {c.key: expected.violated[c.key] for c in model.properties if c.kind is not Kind.REACHABLE}
    counted = {finding.prop: finding.count for finding in everything.findings if finding.trace}
    assert counted == {key: count for key, count in violated.items() if count}
    assert {"never_three_delivered()", "nothing_is_lost()", "bag_grows_slowly()"} <= set(counted)


def test_each_violated_property_has_a_shortest_trace_that_plain_python_confirms(everything, expected, model):
    for finding in everything.findings:
        if finding.trace:
            trace, prop = finding.trace, properties_of(model, finding.prop)[0]
            assert trace.length == expected.shortest[finding.prop]
            assert run(model, trace.states[0], trace.actions) == trace.states
            assert is_violated_at_end(model, prop, trace.states)
            assert trace.prop == prop.key and trace.shortest == "exhaust"


def test_a_reachable_property_that_no_state_satisfies_is_a_finding_without_a_trace(everything):
    missing = [finding for finding in everything.findings if finding.trace is None]
    assert [(finding.prop, finding.count) for finding in missing] == [("nine_delivered()", 0)]
    assert any("nine_delivered()" in note and "reachable" in note for note in everything.notes)


def test_a_reachable_property_that_some_state_shows_is_reported_with_its_distance(everything, expected):
    assert f"visits(2) is reachable, first in {expected.shortest['visits(2)']} steps." in everything.notes


def test_only_the_properties_asked_for_are_looked_at(model, expected):
    verdict = exhaust(model, properties=properties_of(model, "no_more_delivered_than_written"))
    assert verdict.answer is Answer.HOLDS and verdict.strength is Strength.EXHAUSTIVE
    assert verdict.properties == ("no_more_delivered_than_written",)
    assert verdict.premises == {"no_more_delivered_than_written()": len(expected.depths)}


def test_a_search_without_properties_counts_states(model, expected):
    verdict = exhaust(model, properties=())
    assert verdict.answer is Answer.HOLDS and verdict.distinct_states == len(expected.depths)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("never_three_delivered", Answer.VIOLATED),
        ("nothing_is_lost", Answer.BAD_STABLE_STATE),
        ("bag_grows_slowly", Answer.VIOLATED),
        ("nine_delivered", Answer.NOT_REACHABLE),
        ("visits", Answer.HOLDS),
        ("the_sun_stays", Answer.HOLDS),
    ],
)
def test_the_answer_says_what_kind_of_property_failed(model, name, answer):
    assert exhaust(model, properties=properties_of(model, name)).answer is answer


def test_a_search_stops_at_the_first_violation_with_a_shortest_trace(model, expected):
    verdict = exhaust(model, properties=properties_of(model, "never_three_delivered"))
    assert verdict.counterexample.length == expected.shortest["never_three_delivered()"]
    assert verdict.findings[0].count == 1
    assert verdict.distinct_states < len(expected.depths)


def test_a_deadlock_is_an_error_only_where_the_scenario_says_so():
    stuck, lenient = Model(STUCK), Model(evolve(STUCK, deadlock_is_error=False))
    verdict = exhaust(stuck, kernel=plain_kernel(stuck))
    assert verdict.answer is Answer.DEADLOCK and verdict.findings[0].prop == "deadlock"
    trace = verdict.counterexample
    assert trace.prop is None and not list(stuck.successors(trace.states[-1]))
    assert trace.length == min(d for v, d in plain_counts(stuck).depths.items() if not list(stuck.successors(v)))
    assert exhaust(lenient, kernel=plain_kernel(lenient)).answer is Answer.HOLDS


@pytest.mark.parametrize("make", [plain_kernel, kernel_for], ids=["plain", "compiled"])
def test_a_step_out_of_its_domain_is_an_error_with_its_name_and_the_way_to_it(make):
    model = Model(BROKEN)
    way = r"overflow\(\) leaves its domain.*after 2 steps: write\(0\), write\(0\)"
    with pytest.raises(DomainError, match=way) as error:
        exhaust(model, kernel=make(model), keep_going=True, properties=())
    assert error.value.trace.length == 2


def test_a_kernel_that_takes_a_step_elsewhere_is_found_out(model):
    def lie(action, before, after):
        return (*after[:-1], -1) if action == "deliver()" else after

    with pytest.raises(EngineDisagreement, match=r"deliver\(\) leads to different states(.|\n)*Plain Python: last = "):
        exhaust(model, kernel=plain_kernel(model, lie=lie), properties=properties_of(model, "never_three_delivered"))


def test_a_kernel_that_misjudges_a_property_is_found_out(model):
    words = ctypes.POINTER(ctypes.c_uint64)

    def check(state, quiescent, false, premise):
        false[0] = premise[0] = 1

    wrong = ctypes.CFUNCTYPE(None, words, ctypes.c_int64, words, words)(check)
    kernel = evolve(plain_kernel(model), check=ctypes.cast(wrong, ctypes.c_void_p).value)
    with pytest.raises(EngineDisagreement, match="disagree on no_more_delivered_than_written"):
        exhaust(model, kernel=kernel, properties=model.properties[:1])
