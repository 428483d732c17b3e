"""What a minimizer that remembers does not search again, what it does, and that nothing becomes longer by that."""
from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from attrs import evolve

from model.examples.lost_update import LOST_UPDATE
from model.examples.reference import REFERENCE
from model.language import Model, always
from search.compile import kernel_for
from search.shrink import Minimizer, known
from search.shrink.known import TRIES
from search.shrink.renaming import Renamings
from search.shrink.shrinker import Shrinker
from search.trace import run, shows
from tests.shrink.mail import MAIL
from tests.shrink.walks import trace_of, violating_walks, walks_by_kernel
from tests.shrink.workshop import WORKSHOP, Workshop

FAILOVER = ("expand()", "controller_fails()", "elect(1)")
RESTART = ("stop(0)", "expand()", "elect(1)")
BOTH = ("expand()", "controller_fails()", "stop(0)", "elect(1)")


@pytest.fixture
def searches(monkeypatch):
    """How many steps were searched, of each search."""
    lengths, shrink = [], Shrinker.shrink

    def counted(shrinker, start, steps, *rest, **allowed):
        lengths.append(len(steps))
        return shrink(shrinker, start, steps, *rest, **allowed)

    monkeypatch.setattr(Shrinker, "shrink", counted)
    return lengths


def told(model, *actions, claim="disk_matches_znode()"):
    """The trace of some steps by name."""
    return trace_of(model, list(run(model, model.initial[0], actions)), list(actions), claim)


@pytest.mark.parametrize(
    ("claim", "lengths", "searched"),
    [("disk_matches_znode()", {3: 500}, 6), ("leaders_when_settled()", {9: 490, 10: 10}, 6)],
)
def test_of_hundreds_of_findings_few_are_searched_and_nearly_all_are_the_shortest(searches, claim, lengths, searched):
    """Ten walks in which no controller fails, but a broker stops, are a story of their own."""
    model = Model(REFERENCE)
    kernel, minimizer = kernel_for(model), Minimizer(model, kernel_for(model), remembers=True)
    walks = islice(walks_by_kernel(model, kernel, model.claims_of(claim), depth=100), 500)
    assert Counter(minimizer.minimized(trace).length for trace in walks) == lengths
    assert len(searches) == searched


def test_what_is_known_violates_the_same_claim_from_the_same_state(searches):
    model = Model(REFERENCE)
    claim, minimizer = model.claims_of("disk_matches_znode")[0], Minimizer(model, remembers=True)
    for given in islice(violating_walks(model, claim, seed=4), 40):
        small = minimizer.minimized(given)
        assert small.states[0] == given.states[0] and small.claim == claim.key
        assert small.states == run(model, small.states[0], small.actions)
        assert shows(model, claim, small.states)
    assert len(searches) < 20


def test_a_known_trace_is_trusted_when_some_searches_found_nothing_shorter(searches):
    model = Model(REFERENCE)
    minimizer = Minimizer(model, remembers=True)
    found = [minimizer.minimized(told(model, *FAILOVER)) for _ in range(TRIES + 2)]
    assert len(searches) == TRIES
    assert ["as known" in trace.found_by for trace in found] == [False, *[True] * (TRIES + 1)]


def test_what_is_proved_to_be_the_shortest_is_trusted_at_once(searches):
    model = Model(LOST_UPDATE)
    minimizer = Minimizer(model, kernel_for(model), remembers=True)
    steps = ("read(0)", "read(1)", "write(1)", "write(0)")
    found = [minimizer.minimized(told(model, *steps, claim="nothing_is_lost()")) for _ in range(3)]
    assert len(searches) == 1 and {trace.shortest for trace in found} == {"exhaustive to depth 3"}


def test_a_search_that_may_not_take_all_steps_proves_nothing():
    model = Model(REFERENCE)
    kernel, trace = kernel_for(model), told(model, *FAILOVER)
    assert Minimizer(model, kernel).minimized(trace).shortest == "exhaustive to depth 2"
    assert Minimizer(model, kernel, remembers=True).minimized(trace).shortest is None


def test_a_finding_without_the_outside_steps_of_the_known_trace_keeps_its_own():
    """A broker that stops and a controller that fails are two stories; who takes both is told what is known."""
    model = Model(REFERENCE)
    minimizer = Minimizer(model, kernel_for(model), remembers=True)
    traces = [told(model, *steps) for steps in (FAILOVER, RESTART, BOTH, RESTART)]
    assert [minimizer.minimized(trace).actions for trace in traces] == [FAILOVER, RESTART, FAILOVER, RESTART]
    assert minimizer.minimized(told(model, *FAILOVER[:2], "elect(2)")).actions == FAILOVER


def test_what_one_member_did_is_known_of_the_others_after_one_search(searches):
    """House 2 loses a letter, then house 1: the claim is another instance, and all steps are."""
    minimizer = Minimizer(Model(MAIL), kernel_for(Model(MAIL)), remembers=True)
    for house, searched in ((2, TRIES), (1, TRIES + 1)):
        steps = ("turn_key()", "turn_key()", f"move_dog({house})", f"post({house})", f"deliver({house})")
        for _ in range(5):
            small = minimizer.minimized(told(minimizer.model, *steps, claim=f"nothing_is_lost({house})"))
            assert small.length == 3 and small.claim == f"nothing_is_lost({house})"
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


def test_a_finding_that_violates_other_invariants_in_the_end_is_searched_by_itself(searches):
    model = Model(evolve(WORKSHOP, invariants=(*WORKSHOP.invariants, nobody_sings)))
    minimizer = Minimizer(model, kernel_for(model), remembers=True)
    silent, loud = ("turn(1)", "turn(2)", "take(1)", "take(1)"), ("turn(1)", "turn(2)", "sing(2)", "take(1)", "take(1)")
    for steps in (*[silent] * 5, ("sing(2)", "sing(2)", *silent), *[loud] * 5):
        assert minimizer.minimized(told(model, *steps, claim="cupboard_is_whole()")).length == 2
    assert searches == [len(silent)] * TRIES + [len(loud)] * TRIES


def test_what_was_cut_short_is_not_known(searches):
    model = Model(REFERENCE)
    minimizer = Minimizer(model, remembers=True)
    found = [minimizer.minimized(told(model, *BOTH), seconds=seconds) for seconds in (0, None)]
    assert [trace.length for trace in found] == [4, 3] and len(searches) == 2


def test_no_more_is_kept_than_there_is_room_for(monkeypatch, searches):
    monkeypatch.setattr(known, "MOST", 1)
    model = Model(REFERENCE)
    minimizer = Minimizer(model, kernel_for(model), remembers=True)
    for steps in [FAILOVER, RESTART] * 5:
        assert minimizer.minimized(told(model, *steps)).actions == steps
    assert len(searches) == TRIES + 5
