"""Exhaustive search: exact counts, shortest traces, honest endings."""
from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from functools import partial
from typing import Annotated

import pytest
from attrs import evolve

from model.examples.lamport_mutex import LAMPORT_MUTEX
from model.examples.reference import REFERENCE
from model.language import Domain, DomainError, Kind, Model, UsageError, require
from search.compile import kernel_for
from search.confirm import EngineDisagreement
from search.exhaust import exhaust
from search.exploration import Exploration
from search.loops.shelves import LEAST_WORDS, Shelves
from search.trace import run, shows
from search.verdict import Answer
from tests.search.plain_counts import plain_counts
from tests.search.plain_kernel import plain_kernel
from tests.search.post_office import BROKEN, POST_OFFICE, STUCK, Post, Street, Weather, post_office


@pytest.fixture(scope="module")
def model():
    return post_office()


@pytest.fixture(scope="module")
def expected(model):
    return plain_counts(model)


@pytest.fixture(scope="module")
def reference():
    return Model(REFERENCE)


def claims_of(model, *names):
    return tuple(claim for name in names for claim in model.claims_of(name))


COUNTS = Domain("counts")
Count = Annotated[int, COUNTS]


def without_time(verdict):
    return evolve(verdict, seconds=0.0)


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


def test_states_steps_depth_and_quiet_states_are_those_of_a_plain_search(everything, expected):
    assert everything.distinct_states == len(expected.depths)
    assert everything.generated_states == expected.generated
    assert everything.depth == max(expected.depths.values())
    assert everything.quiet_states == expected.quiet


def test_every_instance_is_counted_as_a_plain_search_counts_it(everything, expected, model):
    for instance in model.instances:
        count = everything.rules[instance.key]
        assert count.enabled == expected.enabled[instance.key]
        assert count.taken == expected.taken[instance.key]
        assert count.changed == expected.changed[instance.key]
    assert everything.rules["clear_up()"].changed < everything.rules["clear_up()"].taken
    assert everything.rules["write(0)"].taken < everything.rules["write(0)"].enabled


def test_bounds_hit_are_counted_by_name(everything, expected):
    assert everything.bounds_hit == dict(expected.hits)
    assert set(everything.bounds_hit) == {"bag", "letters"}


def test_premises_and_violations_are_counted_for_every_claim(everything, expected, model):
    assert everything.premises == {claim.key: expected.premises[claim.key] for claim in model.claims}
    violated = {c.key: expected.violated[c.key] for c in model.claims if c.kind is not Kind.REACHABLE}
    counted = {finding.claim: finding.count for finding in everything.findings if finding.trace}
    assert counted == {key: count for key, count in violated.items() if count}
    assert {"never_three_delivered()", "nothing_is_lost()", "bag_grows_slowly()"} <= set(counted)


def test_each_violated_claim_has_a_shortest_trace_that_plain_python_confirms(everything, expected, model):
    for finding in everything.findings:
        if finding.trace:
            trace, claim = finding.trace, claims_of(model, finding.claim)[0]
            assert trace.length == expected.shortest[finding.claim]
            assert run(model, trace.states[0], trace.actions) == trace.states
            assert shows(model, claim, trace.states)
            assert trace.claim == claim.key and trace.shortest == "exhaust"


def test_a_reachable_claim_that_no_state_shows_is_violated_and_says_so(everything):
    missing = [finding for finding in everything.findings if finding.trace is None]
    assert [(finding.claim, finding.count) for finding in missing] == [("nine_delivered()", 0)]
    assert any("nine_delivered()" in note and "reachable" in note for note in everything.notes)


def test_a_reachable_claim_that_some_state_shows_is_told_with_its_distance(everything, expected):
    assert f"visits(2) is reachable, first in {expected.shortest['visits(2)']} steps." in everything.notes


def test_only_the_claims_asked_for_are_looked_at(model, expected):
    verdict = exhaust(model, claims=claims_of(model, "no_more_delivered_than_written"))
    assert verdict.answer is Answer.HOLDS and verdict.how == "exhaustive"
    assert verdict.invariants == ("no_more_delivered_than_written",)
    assert verdict.premises == {"no_more_delivered_than_written()": len(expected.depths)}


def test_a_search_without_claims_counts_states(model, expected):
    verdict = exhaust(model, claims=())
    assert verdict.answer is Answer.HOLDS and verdict.distinct_states == len(expected.depths)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("never_three_delivered", Answer.VIOLATED),
        ("nothing_is_lost", Answer.BAD_STABLE_STATE),
        ("bag_grows_slowly", Answer.VIOLATED),
        ("nine_delivered", Answer.VIOLATED),
        ("visits", Answer.HOLDS),
        ("the_sun_stays", Answer.HOLDS),
    ],
)
def test_the_answer_says_what_kind_of_claim_failed(model, name, answer):
    assert exhaust(model, claims=claims_of(model, name)).answer is answer


def test_a_search_stops_at_the_first_violation_with_a_shortest_trace(model, expected):
    verdict = exhaust(model, claims=claims_of(model, "never_three_delivered"))
    assert verdict.counterexample.length == expected.shortest["never_three_delivered()"]
    assert verdict.findings[0].count == 1
    assert verdict.distinct_states < len(expected.depths)


def test_a_deadlock_is_an_error_only_where_the_scenario_says_so():
    stuck, lenient = Model(STUCK), Model(evolve(STUCK, deadlock_is_error=False))
    verdict = exhaust(stuck, kernel=plain_kernel(stuck))
    assert verdict.answer is Answer.DEADLOCK and verdict.findings[0].claim == "deadlock"
    trace = verdict.counterexample
    assert trace.claim is None and not list(stuck.successors(trace.states[-1]))
    assert trace.length == min(d for v, d in plain_counts(stuck).depths.items() if not list(stuck.successors(v)))
    assert exhaust(lenient, kernel=plain_kernel(lenient)).answer is Answer.HOLDS


@pytest.mark.parametrize("make", [plain_kernel, kernel_for], ids=["plain", "compiled"])
def test_a_step_out_of_its_domain_is_an_error_with_its_name_and_the_way_to_it(make):
    model = Model(BROKEN)
    way = r"overflow\(\) leaves its domain.*after 2 steps: write\(0\), write\(0\)"
    with pytest.raises(DomainError, match=way) as error:
        exhaust(model, kernel=make(model), keep_going=True)
    assert error.value.trace.length == 2


def test_a_kernel_that_takes_a_step_elsewhere_is_found_out(model):
    def lie(action, before, after):
        return (*after[:-1], -1) if action == "deliver()" else after

    with pytest.raises(EngineDisagreement, match=r"deliver\(\) leads to different states(.|\n)*Plain Python: last = "):
        exhaust(model, kernel=plain_kernel(model, lie=lie), claims=claims_of(model, "never_three_delivered"))


def test_a_kernel_that_misjudges_a_claim_is_found_out(model):
    words = ctypes.POINTER(ctypes.c_uint64)

    def check(state, quiet, false, premise):
        false[0] = premise[0] = 1

    wrong = ctypes.CFUNCTYPE(None, words, ctypes.c_int64, words, words)(check)
    kernel = evolve(plain_kernel(model), check=ctypes.cast(wrong, ctypes.c_void_p).value)
    with pytest.raises(EngineDisagreement, match="disagree on no_more_delivered_than_written"):
        exhaust(model, kernel=kernel, claims=model.claims[:1])


# Endings without a verdict.


def test_a_spent_time_budget_gives_a_partial_verdict(model):
    verdict = exhaust(model, kernel=plain_kernel(model), claims=(), seconds=0.0)
    assert verdict.answer is Answer.UNDECIDED and verdict.how == "time budget of 0 s"
    assert verdict.distinct_states > 4 and "complete" in verdict.notes[0]


def test_a_spent_memory_budget_gives_a_partial_verdict_that_says_how_far_it_came(reference):
    verdict = exhaust(reference, keep_going=True, memory_bytes=2_000_000)
    assert verdict.answer is Answer.VIOLATED  # what was found stays found
    quiet = exhaust(reference, claims=(), memory_bytes=2_000_000)
    assert quiet.answer is Answer.UNDECIDED and quiet.how == "memory budget of 0.002 GB"
    how_far = f"Ran out of the memory budget of 0.002 GB at {quiet.distinct_states:,} states, depth {quiet.depth}: "
    assert quiet.notes[0].startswith(how_far)
    assert f"depth {quiet.depth - 1} complete" in quiet.notes[0]
    assert 100_000 < quiet.distinct_states < 2_000_000 / 13


def test_a_budget_too_small_to_begin_is_refused(model):
    with pytest.raises(UsageError, match="too few states to begin"):
        exhaust(model, memory_bytes=100)


def test_ctrl_c_leaves_a_usable_partial_verdict(reference):
    def press(progress):
        raise KeyboardInterrupt

    verdict = exhaust(reference, claims=(), report=press, kernel=plain_kernel(reference))
    assert verdict.answer is Answer.UNDECIDED and verdict.how == "interrupted"
    assert verdict.distinct_states > 1


def test_progress_tells_states_depth_and_time_left(reference):
    heard = []
    exhaust(reference, claims=(), seconds=0.5, report=heard.append, kernel=plain_kernel(reference))
    assert heard and all(p.engine == "exhaust" and p.unit == "states" for p in heard)
    assert [p.done for p in heard] == sorted(p.done for p in heard)
    assert heard[0].left <= 0.5 and "depth" in heard[0].note


def test_a_search_that_ends_early_says_what_it_has_not_reached(model):
    claims = claims_of(model, "never_three_delivered", "nine_delivered")
    verdict = exhaust(model, claims=claims)
    assert verdict.answer is Answer.VIOLATED and verdict.counterexample.claim == "never_three_delivered()"
    assert "nine_delivered() was not reached so far." in verdict.notes


# Size.


@pytest.mark.parametrize("workers", [1, 2])
def test_many_initial_states_are_all_stored_once(workers):
    bounds = {"streets": 60, "letters": 0, "bag": 1, "counts": 10}
    model = Model(evolve(POST_OFFICE, initial=any_street, bounds=bounds))
    verdict = exhaust(model, claims=(), workers=workers, memory_bytes=10_000_000)
    assert len(model.initial) == 60 * 61 * 10
    assert (verdict.distinct_states, verdict.depth) == (len(model.initial), 0)
    assert verdict.generated_states == 2 * len(model.initial)  # the sun comes out where it shines


def any_street(post: Post, at: Street, last: Street, delivered: Count, nobody: bool) -> None:
    require(not nobody or last == 0)
    post.at, post.delivered = at, delivered
    post.last = None if nobody else last
    post.weather = Weather.SUN


def test_the_reference_model_has_its_published_counts(reference):
    verdict = exhaust(reference, keep_going=True)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (805_904, 4_390_996, 20)
    assert {f.claim: (f.count, f.trace.length) for f in verdict.findings} == {
        "disk_matches_znode()": (782_248, 3),
        "leaders_when_settled()": (1_578, 9),
    }


@pytest.mark.parametrize("workers", [2, 3])
def test_any_number_of_workers_gives_the_same_verdict_to_the_last_count(reference, workers):
    asked = {"keep_going": True, "memory_bytes": 100_000_000}
    assert without_time(exhaust(reference, workers=workers, **asked)) == without_time(exhaust(reference, **asked))


def test_several_workers_fold_long_states_alike():
    model = Model(LAMPORT_MUTEX)
    kernel = kernel_for(model)
    assert kernel.words >= LEAST_WORDS
    asked = {"kernel": kernel, "keep_going": True, "memory_bytes": 100_000_000}
    alone = exhaust(model, **asked)
    assert alone.distinct_states == 724_274
    assert without_time(exhaust(model, workers=3, **asked)) == without_time(alone)


def test_a_search_of_long_states_stays_within_its_memory_and_says_so():
    model = Model(LAMPORT_MUTEX)
    for budget in (1_000_000, 4_000_000):
        verdict = exhaust(model, memory_bytes=budget)
        assert verdict.answer is Answer.UNDECIDED and verdict.how == f"memory budget of {budget / 1e9:.3g} GB"
        assert budget / 40 < verdict.distinct_states < budget / 12


@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_whose_parts_of_states_run_out_of_numbers_says_so(workers, monkeypatch):
    monkeypatch.setattr("search.loops.visited.Shelves", partial(Shelves, most=20_000))
    verdict = exhaust(Model(LAMPORT_MUTEX), memory_bytes=100_000_000, workers=workers)
    assert verdict.answer is Answer.UNDECIDED and verdict.how == "numbers for parts of states"
    assert 20_000 < verdict.distinct_states < 724_274
    assert verdict.notes[0].startswith("Ran out of the numbers for parts of states at ")


def test_several_workers_stop_at_the_same_violation_with_the_same_counts(reference):
    asked = {"claims": claims_of(reference, "leaders_when_settled"), "memory_bytes": 100_000_000}
    alone = exhaust(reference, **asked)
    assert alone.distinct_states > 50_000
    assert without_time(exhaust(reference, workers=2, **asked)) == without_time(alone)


def test_several_workers_run_out_of_memory_at_the_same_state(reference):
    asked = {"claims": (), "memory_bytes": 5_000_000}
    assert without_time(exhaust(reference, workers=2, **asked)) == without_time(exhaust(reference, **asked))


def test_several_workers_count_bounds_steps_and_idle_steps_alike():
    model = post_office(streets=4, letters=7, bag=4)
    kernel = kernel_for(model)
    assert exhaust(model, kernel=kernel, claims=()).distinct_states > 20_000
    alone = exhaust(model, kernel=kernel, keep_going=True, memory_bytes=50_000_000)
    together = exhaust(model, kernel=kernel, keep_going=True, workers=2, memory_bytes=50_000_000)
    assert without_time(together) == without_time(alone)
    assert alone.bounds_hit and any(rule.changed < rule.taken for rule in alone.rules.values())


FIRST_CALLS = """
from numba.core import event
from search.exhaust import exhaust
from search.exploration import Exploration
from search.loops import breadth, table
from tests.search.post_office import post_office
from tests.search.test_exhaust import large

run = Exploration.run

def watched(exploration):
    with event.install_recorder("numba:compiler_lock") as seen:
        run(exploration)
    print(len(seen.buffer), end=" ")

Exploration.run = watched
exhaust(post_office(), claims=(), memory_bytes=10_000_000)
exhaust(large(), workers=2, keep_going=True)
print([(len(f.stats.cache_hits), len(f.stats.cache_misses)) for f in (breadth.explore, table.add_keys)])
"""
"""How often a loop was called for the first time, so that it had to be read or compiled, in the time of each search."""


def large():
    """A model with levels that are worth sharing."""
    return Model(REFERENCE, bounds={"restarts": 1})


def test_a_second_process_compiles_no_loop_and_reads_none_in_the_time_of_the_search():
    exhaust(post_office(), claims=(), memory_bytes=10_000_000)
    assert exhaust(large(), workers=2, keep_going=True).distinct_states == 258_865
    told = subprocess.run([sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "0 0 [(1, 0), (1, 0)]"


def test_a_search_that_takes_long_goes_on_with_a_faster_kernel(monkeypatch):
    model, told = post_office(), []
    swift = kernel_for(model)
    slow = evolve(swift, faster=lambda: swift)
    expected = exhaust(model, kernel=swift, keep_going=True, memory_bytes=10_000_000)
    monkeypatch.setattr("search.kernel.PATIENCE", 0)
    monkeypatch.setattr("search.exploration.LEAST_PACE", 8)
    verdict = exhaust(model, kernel=slow, keep_going=True, memory_bytes=10_000_000, report=told.append)
    assert any(progress.note == "faster code is compiled" for progress in told)
    assert without_time(verdict) == without_time(expected)


def test_a_search_that_is_nearly_over_keeps_its_kernel():
    kernel = evolve(kernel_for(post_office()), faster=lambda: pytest.fail("nothing is gained by it"))
    assert not kernel.is_worth_replacing(1, budget=None)
    assert not kernel.is_worth_replacing(15, budget=20)
    assert kernel.is_worth_replacing(15, budget=None) and kernel.is_worth_replacing(15, budget=60)
    assert not evolve(kernel, faster=None).is_worth_replacing(15, budget=None)


@pytest.mark.parametrize("wanted", [{}, {"workers": 2}, {"keep_going": True}], ids=str)
def test_a_search_gives_its_memory_back_when_it_ends(monkeypatch, wanted):
    known, begin = [], Exploration.__init__

    def noted(self, *given):
        known.append(weakref.ref(self))
        begin(self, *given)

    monkeypatch.setattr(Exploration, "__init__", noted)
    exhaust(Model(POST_OFFICE), **wanted)  # the first call may compile loops, and what compiles them remembers it
    gc.disable()
    try:
        exhaust(Model(POST_OFFICE), **wanted)
        assert known[-1]() is None
    finally:
        gc.enable()
