"""A property that no state of the domains violates is no success, whichever engine has found that it holds."""

from __future__ import annotations

import json
import warnings

import pytest
from attrs import evolve

from kwalk import Fails, assert_holds
from kwalk import exhaust as public_exhaust
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.language import Model, always, refines
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.assertion_searches import SharedSearches
from kwalk.reports.pages.verdict import facts
from kwalk.search.analyses.hypothesis.machine import machine_for
from kwalk.search.examination import falsifiability as module
from kwalk.search.examination.examination import CannotFail
from kwalk.search.examination.falsifiability import Falsifiability, falsifiability
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.verdict import Answer
from tests.vacuity import cupboard
from tests.vacuity.cupboard import CAN_FAIL, CANNOT_FAIL, CUPBOARD, OVERFULL, Cupboard, about_nothing, never_overfull

REFERENCE = "tests.vacuity.cupboard:OVERFULL"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache in which no answer is known."""
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))


def outcomes(model: Model) -> dict[str, Falsifiability]:
    return falsifiability(model, model.properties)


EXPECTED = {
    **{prop.name: Falsifiability.ALWAYS_TRUE for prop in CANNOT_FAIL},
    **{prop.name: Falsifiability.CAN_FAIL for prop in CAN_FAIL},
    about_nothing.name: Falsifiability.NO_PREMISE,
}


@pytest.mark.parametrize("compiled", [True, False])
def test_properties_of_each_kind_can_fail_if_some_state_of_the_domains_violates_them(compiled: bool) -> None:
    model = Model(CUPBOARD)
    if compiled:
        kernel_for(model)
    assert outcomes(model) == EXPECTED


def test_z3_finds_the_witness_that_random_states_miss() -> None:
    far = evolve(CUPBOARD, properties=(cupboard.is_far_from_any_state,), bounds={**CUPBOARD.bounds, "size": 2**20})
    model = Model(far)
    kernel_for(model)
    assert outcomes(model) == {"is_far_from_any_state": Falsifiability.CAN_FAIL}
    smaller = Model(far, bounds={"size": 2**16})
    kernel_for(smaller)
    assert outcomes(smaller) == {"is_far_from_any_state": Falsifiability.ALWAYS_TRUE}


def test_of_some_instances_only_those_that_are_checked_count() -> None:
    model = Model(CUPBOARD)
    same, *_ = model.properties_of("other_shelves_are_empty(0, 0)")
    another, *_ = model.properties_of("other_shelves_are_empty(0, 1)")
    assert falsifiability(model, [same])["other_shelves_are_empty"].cannot_fail
    assert not falsifiability(model, [same, another])["other_shelves_are_empty"].cannot_fail
    assert not outcomes(model)["other_shelves_are_empty"].cannot_fail


def test_without_time_for_z3_it_is_not_known_and_the_verdict_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def gives_up(*_: object) -> None:
        raise TimeoutError

    monkeypatch.setattr("kwalk.search.solver.terms.satisfying_states", gives_up)
    verdict = public_exhaust(OVERFULL)
    assert verdict.answer is Answer.HOLDS and not verdict.cannot_fail
    assert any("not known whether they can fail: never_overfull" in note for note in verdict.notes)


def test_the_answer_is_in_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model(CUPBOARD)
    first = outcomes(model)
    monkeypatch.setattr(module, "_Examination", None)
    assert outcomes(Model(CUPBOARD)) == first


def test_a_refinement_can_fail_though_its_start_cannot() -> None:
    def same(detailed: Cupboard, abstract: Cupboard) -> None:
        abstract.used = detailed.used

    refined = evolve(CUPBOARD, properties=(refines(OVERFULL, same),))
    assert outcomes(Model(refined)) == {"refines_cupboard": Falsifiability.CAN_FAIL}


COMMANDS = {
    "exhaust": (),
    "exhaust --interpreter": ("--interpreter",),
    "walk": ("--walks", "50"),
    "prove": (),
    "check": ("--seconds", "3"),
    "hunt": ("--seconds", "20"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_ends_with_an_answer_and_an_exit_code_of_its_own(command: str, kwalk) -> None:
    ran = kwalk(command.split()[0], REFERENCE, *COMMANDS[command])
    assert ran.code == Answer.CANNOT_FAIL.exit_code == 15
    assert ran.out.startswith("CANNOT FAIL  never_overfull; 1 property")
    assert "it is true in every state of the domains" in ran.out
    assert f"Reproduce: kwalk {command.split()[0]} {REFERENCE}" in ran.out


def test_the_json_object_has_the_property_and_what_is_always_so(kwalk) -> None:
    found = kwalk("exhaust", REFERENCE, "--json").object
    assert (found["verdict"], found["exit_code"]) == ("cannot fail", 15)
    assert found["cannot_fail"] == [
        {"prop": "never_overfull", "what": "is true in every state of the domains", "expected": ""}
    ]


@pytest.mark.parametrize("engine", ["exhaust", "walk", "hypothesis", "prove"])
def test_an_assertion_of_it_fails_unless_that_is_expected(engine: str, tmp_path) -> None:
    with AssertionOptions(out=tmp_path).active():
        with pytest.raises(Fails, match="CANNOT FAIL  never_overfull"):
            assert_holds(OVERFULL, never_overfull, engine=engine)
        assert assert_holds(OVERFULL, never_overfull, engine=engine, cannot_fail_ok=True).answer is Answer.CANNOT_FAIL


def test_a_strict_assertion_fails_with_gaps_also_where_it_need_not_be_able_to_fail(tmp_path) -> None:
    with AssertionOptions(out=tmp_path).active(), pytest.raises(Fails, match="1 step was cut off by the bound size=3"):
        assert_holds(OVERFULL, never_overfull, cannot_fail_ok=True, strict=True)


def test_an_assertion_that_shares_a_search_with_others_is_judged_by_itself(tmp_path) -> None:
    with AssertionOptions(out=tmp_path).active():
        shared = SharedSearches()
        assert assert_holds(CUPBOARD, "never_broken", shared=shared).answer is Answer.HOLDS
        with pytest.raises(Fails, match="CANNOT FAIL  never_overfull;"):
            assert_holds(CUPBOARD, never_overfull, shared=shared)


def test_a_declaration_or_the_scenario_gives_the_reason_why_it_is_expected() -> None:
    @always(cannot_fail="it states the domain")
    def states_the_domain(cupboard: Cupboard) -> bool:
        return cupboard.used <= cupboard.used + 1

    verdict = public_exhaust(evolve(OVERFULL, properties=(states_the_domain,)))
    assert verdict.answer is Answer.HOLDS
    assert [(one.prop, one.expected) for one in verdict.cannot_fail] == [("states_the_domain", "it states the domain")]
    by_scenario = evolve(OVERFULL, cannot_fail={"never_overfull": "a cupboard is as large as it is"})
    verdict = public_exhaust(by_scenario)
    assert verdict.answer is Answer.HOLDS
    said = list(facts(verdict, Model(by_scenario)))
    assert "never_overfull cannot fail, as expected: a cupboard is as large as it is" in said


def test_a_wrong_declaration_is_named() -> None:
    @always(cannot_fail="nothing breaks it")
    def never_broken(cupboard: Cupboard) -> bool:
        return not cupboard.broken

    verdict = public_exhaust(evolve(OVERFULL, properties=(never_broken,)))
    assert verdict.answer is Answer.HOLDS and not verdict.cannot_fail
    assert any("never_broken is declared with cannot_fail, and can fail" in note for note in verdict.notes)


def test_a_violation_is_a_violation_whatever_cannot_fail() -> None:
    @always()
    def stays_empty(cupboard: Cupboard) -> bool:
        return cupboard.used == 0

    verdict = public_exhaust(evolve(OVERFULL, properties=(never_overfull, stays_empty)))
    assert verdict.answer is Answer.VIOLATED and [one.prop for one in verdict.cannot_fail] == ["never_overfull"]


def test_every_property_of_the_examples_can_fail_or_says_why_not() -> None:
    from kwalk.model.examples.scenarios import SCENARIOS

    for scenario in (*SCENARIOS, BLOCKING_QUEUE):
        model = Model(scenario)
        expected = {prop.name for prop in scenario.properties if prop.cannot_fail} | set(scenario.cannot_fail)
        assert {name for name, what in outcomes(model).items() if what is not Falsifiability.CAN_FAIL} == expected


def test_json_of_a_cache_entry_is_read_only_if_it_is_whole(tmp_path) -> None:
    path = tmp_path / "entry"
    path.write_text(json.dumps(["can fail"]))
    assert module._load(path) == {}


def test_a_state_machine_of_it_warns() -> None:
    with pytest.warns(CannotFail, match="cupboard: never_overfull cannot fail"):
        machine_for(Model(OVERFULL))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        machine_for(Model(evolve(OVERFULL, cannot_fail={"never_overfull": "a cupboard is as large as it is"})))
