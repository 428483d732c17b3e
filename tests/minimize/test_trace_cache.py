"""What a minimizer with a cache does not minimize again, what it does, and that no trace becomes longer by that."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from attrs import evolve

from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model, always
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize import trace_cache
from kwalk.search.minimize.ddmin import Shrinker
from kwalk.search.minimize.model_signature import Renamings
from kwalk.search.minimize.shrink import Minimizer
from kwalk.search.minimize.trace_cache import SEARCHES_TO_TRUST
from kwalk.search.results.trace import is_violated_at_end, run
from tests.minimize.mail import MAIL
from tests.minimize.walks import trace_of, violating_walks, walks_by_kernel
from tests.minimize.workshop import WORKSHOP, Workshop

FAILOVER = ("expand()", "controller_fails()", "elect(1)")
RESTART = ("stop(0)", "expand()", "elect(1)")
BOTH = ("expand()", "controller_fails()", "stop(0)", "elect(1)")


@pytest.fixture
def searches(monkeypatch):
    """The number of steps of each behaviour that is minimized."""
    lengths, shrink = [], Shrinker.shrink

    def counted(shrinker, start, steps, *rest, **allowed):
        lengths.append(len(steps))
        return shrink(shrinker, start, steps, *rest, **allowed)

    monkeypatch.setattr(Shrinker, "shrink", counted)
    return lengths


def taken(model, *actions, prop="disk_matches_znode()"):
    """Return the trace of some steps, given by their keys."""
    return trace_of(model, list(run(model, model.initial[0], actions)), list(actions), prop)


@pytest.mark.parametrize(
    ("prop", "lengths", "searched"),
    [("disk_matches_znode()", {3: 500}, 6), ("leaders_when_settled()", {9: 490, 10: 10}, 6)],
)
def test_of_hundreds_of_findings_few_are_minimized_and_nearly_all_are_the_shortest(searches, prop, lengths, searched):
    """Ten walks in which no controller fails, but a broker stops, are a story of their own."""
    model = Model(REFERENCE)
    kernel, minimizer = kernel_for(model), Minimizer(model, kernel_for(model), cached=True)
    walks = islice(walks_by_kernel(model, kernel, model.properties_of(prop), depth=100), 500)
    assert Counter(minimizer.minimize(trace).length for trace in walks) == lengths
    assert len(searches) == searched


def test_a_cached_trace_violates_the_same_property_from_the_same_state(searches):
    model = Model(REFERENCE)
    prop, minimizer = model.properties_of("disk_matches_znode")[0], Minimizer(model, cached=True)
    for given in islice(violating_walks(model, prop, seed=4), 40):
        small = minimizer.minimize(given)
        assert small.states[0] == given.states[0] and small.prop == prop.key
        assert small.states == run(model, small.states[0], small.actions)
        assert is_violated_at_end(model, prop, small.states)
    assert len(searches) < 20


def test_a_cached_trace_is_trusted_after_some_searches_that_found_nothing_shorter(searches):
    model = Model(REFERENCE)
    minimizer = Minimizer(model, cached=True)
    found = [minimizer.minimize(taken(model, *FAILOVER)) for _ in range(SEARCHES_TO_TRUST + 2)]
    assert len(searches) == SEARCHES_TO_TRUST
    assert ["as known" in trace.found_by for trace in found] == [False, *[True] * (SEARCHES_TO_TRUST + 1)]


def test_a_trace_that_is_proved_to_be_the_shortest_is_trusted_at_once(searches):
    model = Model(LOST_UPDATE)
    minimizer = Minimizer(model, kernel_for(model), cached=True)
    steps = ("read(0)", "read(1)", "write(1)", "write(0)")
    found = [minimizer.minimize(taken(model, *steps, prop="nothing_is_lost()")) for _ in range(3)]
    assert len(searches) == 1 and {trace.shortest for trace in found} == {"exhaustive to depth 3"}


def test_a_search_that_may_not_take_all_steps_proves_nothing():
    model = Model(REFERENCE)
    kernel, trace = kernel_for(model), taken(model, *FAILOVER)
    assert Minimizer(model, kernel).minimize(trace).shortest == "exhaustive to depth 2"
    assert Minimizer(model, kernel, cached=True).minimize(trace).shortest is None


def test_a_finding_without_the_outside_steps_of_the_cached_trace_keeps_its_own():
    """A broker that stops and a controller that fails are two shapes; a finding with both gets the cached one."""
    model = Model(REFERENCE)
    minimizer = Minimizer(model, kernel_for(model), cached=True)
    traces = [taken(model, *steps) for steps in (FAILOVER, RESTART, BOTH, RESTART)]
    assert [minimizer.minimize(trace).actions for trace in traces] == [FAILOVER, RESTART, FAILOVER, RESTART]
    assert minimizer.minimize(taken(model, *FAILOVER[:2], "elect(2)")).actions == FAILOVER


def test_a_trace_of_one_member_is_cached_for_the_others_and_trusted_after_one_search(searches):
    """House 2 loses a letter, then house 1: the property and all steps are other instances."""
    minimizer = Minimizer(Model(MAIL), kernel_for(Model(MAIL)), cached=True)
    for house, searched in ((2, SEARCHES_TO_TRUST), (1, SEARCHES_TO_TRUST + 1)):
        steps = ("turn_key()", "turn_key()", f"move_dog({house})", f"post({house})", f"deliver({house})")
        for _ in range(5):
            small = minimizer.minimize(taken(minimizer.model, *steps, prop=f"nothing_is_lost({house})"))
            assert small.length == 3 and small.prop == f"nothing_is_lost({house})"
        assert len(searches) == searched


def test_renamings_are_all_that_the_model_has_but_the_given_one():
    model = Model(WORKSHOP)
    steps = [model.instance(key).index for key in ("take(1)", "turn(2)", "give(1)")]
    others = {tuple(model.instances[n].key for n in other) for _, other in Renamings(model).of([0], steps)}
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b and (a, b) != (1, 2)]
    assert others == {(f"take({a})", f"turn({b})", f"give({a})") for a, b in pairs}
    crowd = Model(evolve(WORKSHOP, bounds={"workers": 6}))
    assert list(Renamings(crowd).of([0], [0])) == []


@always(symptom="noise")
def nobody_sings(workshop: Workshop) -> bool:
    """There is silence."""
    return not any(workshop.sings)


def test_a_finding_that_violates_other_properties_in_the_end_is_minimized_by_itself(searches):
    model = Model(evolve(WORKSHOP, properties=(*WORKSHOP.properties, nobody_sings)))
    minimizer = Minimizer(model, kernel_for(model), cached=True)
    silent, loud = ("turn(1)", "turn(2)", "take(1)", "take(1)"), ("turn(1)", "turn(2)", "sing(2)", "take(1)", "take(1)")
    for steps in (*[silent] * 5, ("sing(2)", "sing(2)", *silent), *[loud] * 5):
        assert minimizer.minimize(taken(model, *steps, prop="cupboard_is_whole()")).length == 2
    assert searches == [len(silent)] * SEARCHES_TO_TRUST + [len(loud)] * SEARCHES_TO_TRUST


def test_a_result_without_enough_time_is_not_cached(searches):
    model = Model(REFERENCE)
    minimizer = Minimizer(model, cached=True)
    found = [minimizer.minimize(taken(model, *BOTH), seconds=seconds) for seconds in (0, None)]
    assert [trace.length for trace in found] == [4, 3] and len(searches) == 2


def test_the_cache_has_a_limited_size(monkeypatch, searches):
    monkeypatch.setattr(trace_cache, "MAX_TRACES", 1)
    model = Model(REFERENCE)
    minimizer = Minimizer(model, kernel_for(model), cached=True)
    for steps in [FAILOVER, RESTART] * 5:
        assert minimizer.minimize(taken(model, *steps)).actions == steps
    assert len(searches) == SEARCHES_TO_TRUST + 5
