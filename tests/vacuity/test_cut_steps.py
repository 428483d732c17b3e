"""Steps that a bound or a constraint cuts off, and other gaps: "holds" says what was not tested."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial

import pytest
from attrs import evolve

from kwalk import Fails, assert_holds, prove, walk
from kwalk import exhaust as public_exhaust
from kwalk.model.language import (
    Actor,
    Fresh,
    Model,
    Property,
    Scenario,
    action,
    always,
    fresh,
    require,
    state,
    when_quiescent,
)
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.assertion_searches import SharedSearches
from kwalk.reports.assertions import Untested
from kwalk.reports.pages.verdict import facts, summary
from kwalk.search.examination.bound_dependents import dependents
from kwalk.search.examination.cut_steps import cut_steps
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.verdict import Answer, Verdict
from tests.vacuity import cupboard
from tests.vacuity.cupboard import CUPBOARD, OVERFULL, POSTED, SOUND

NEVER_TESTED = evolve(SOUND, properties=(cupboard.about_what_is_not_reached,))
FORBIDDEN = evolve(
    CUPBOARD,
    actions=(cupboard.post,),
    properties=(cupboard.few_letters,),
    constraints=(cupboard.nobody_posts_twice,),
)


@action(by=Actor("tidier"))
def tidy(store: cupboard.Cupboard) -> None:
    """It is always enabled, and changes nothing."""
    store.broken = False


@when_quiescent()
def whole_at_rest(store: cupboard.Cupboard) -> bool:
    return not store.broken


@state
class Tickets(cupboard.Cupboard):
    """A cupboard that gives out tickets."""

    ids: Fresh = fresh(cupboard.SHELVES)


@action(by=Actor("tidier"))
def take_ticket(store: Tickets) -> None:
    store.ids.take()


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """A cache in which nothing is known."""
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))


def gaps(scenario: Scenario) -> list[str]:
    return [gap.text for gap in public_exhaust(scenario).gaps]


def first_line(verdict: Verdict, scenario: Scenario) -> tuple[str, str]:
    """The tone and the text of the first line of a verdict."""
    spans = next(iter(summary(verdict, Model(scenario)))).line
    return spans[0].style, "".join(each if isinstance(each, str) else each.text for each in spans)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_cut_step_is_found_with_its_path_and_what_one_step_further_violates(compiled: bool) -> None:
    model = Model(OVERFULL)
    if compiled:
        kernel_for(model)
    (found,) = cut_steps(model)
    assert (found.bound, found.action, found.steps) == ("size", "put", ("put()",) * 4)
    assert found.violated == ("never_overfull()",)
    assert cut_steps(model) == (found,)


def test_a_property_that_is_edited_beyond_the_domains_only_is_tried_again() -> None:
    """Its terms are the same: `used` is at most 3 there."""

    def violated(forbidden: int) -> tuple[str, ...]:
        @always()
        def not_this(store: cupboard.Cupboard) -> bool:
            return store.used != forbidden

        (found,) = cut_steps(Model(evolve(CUPBOARD, properties=(not_this,), actions=(cupboard.put,))))
        return found.violated

    assert [violated(5), violated(4), violated(5)] == [(), ("not_this()",), ()]


def test_a_step_further_a_queue_has_more_elements_than_its_capacity() -> None:
    (found,) = cut_steps(Model(POSTED))
    assert (found.bound, found.steps, found.violated) == ("letters", ("post()", "post()"), ("few_letters()",))


def test_the_bug_that_a_capacity_hides_is_named_with_the_action_and_the_command() -> None:
    assert gaps(POSTED) == [
        "1 step was cut off by the bound letters=1 (post 1); on it depends few_letters. One step beyond it few_letters "
        "is violated: post(), post(). Search with --bound letters=2. If few_letters compares a field with the bound of "
        "that field, give the field more room, such as number(0, LETTERS + 1)."
    ]
    assert public_exhaust(POSTED, bounds={"letters": 2}).answer is Answer.VIOLATED


def test_a_cut_step_on_which_nothing_depends_and_that_breaks_nothing_is_no_gap() -> None:
    unrelated = evolve(POSTED, properties=(cupboard.never_broken,))
    verdict = public_exhaust(unrelated)
    assert verdict.bounds_hit == {"letters": 1} and not verdict.gaps
    assert "the bound letters=1 cut off 1 step; what comes after is not known" in facts(verdict, Model(unrelated))


def test_a_property_and_a_guard_depend_on_a_bound_that_they_name_or_that_limits_a_field_they_read() -> None:
    model = Model(evolve(CUPBOARD, actions=(*CUPBOARD.actions, cupboard.post)))
    found = dependents(model, (*model.properties_of("few_letters"), *model.properties_of("never_broken")))
    assert found == {
        "letters": ("few_letters",),
        "size": ("the guard of take", "the guard of nibble"),
    }


def test_what_an_action_constraint_cuts_is_tried_one_step_further() -> None:
    (text,) = gaps(FORBIDDEN)
    assert text.startswith("1 step was cut off by the constraint nobody_posts_twice (post 1). One step beyond it few_")
    assert text.endswith("post(), post(). Leave the constraint out.")


def test_a_property_that_was_never_tested_is_a_gap() -> None:
    assert gaps(NEVER_TESTED) == [
        "never tested: about_what_is_not_reached",
        "no step was taken: every property was tested in initial states only",
    ]


@pytest.mark.parametrize("search", [prove, partial(public_exhaust, reduce=True)], ids=["prove", "reduce"])
def test_an_engine_that_does_not_count_steps_says_that_there_is_none(search) -> None:
    verdict = search(NEVER_TESTED, strict=True)
    texts = [gap.text for gap in verdict.gaps]
    assert (verdict.answer, texts) == (
        Answer.GAPS,
        ["no step was taken: every property was tested in initial states only"],
    )


@pytest.mark.parametrize("search", [public_exhaust, prove, walk], ids=["exhaust", "prove", "walk"])
def test_that_no_property_was_checked_is_a_gap_unless_deadlocks_are(search) -> None:
    nothing = evolve(CUPBOARD, properties=())
    verdict = search(nothing, strict=True)
    text = "no property was checked: only errors of the model were looked for"
    assert (verdict.answer, [gap.text for gap in verdict.gaps], text in verdict.notes) == (Answer.GAPS, [text], True)
    assert not search(evolve(nothing, deadlock_is_error=True), strict=True).gaps


def test_a_constraint_that_no_initial_state_satisfies_leaves_a_gap() -> None:
    nowhere = evolve(OVERFULL, properties=(cupboard.never_broken,), constraints=(cupboard.is_nowhere,))
    assert "no step was taken: every property was tested in initial states only" in gaps(nowhere)


def test_a_verdict_with_gaps_is_not_green() -> None:
    assert first_line(public_exhaust(POSTED), POSTED)[0] == "strong open"
    assert first_line(public_exhaust(POSTED), POSTED)[1].endswith("(exhaustively, within the bounds), with gaps")
    whole = evolve(CUPBOARD, properties=(cupboard.never_broken,), actions=(cupboard.move_in,))
    assert first_line(public_exhaust(whole), whole)[0] == "strong good"


def test_strict_ends_with_an_exit_code_of_its_own(kwalk) -> None:
    assert kwalk("exhaust", "tests.vacuity.cupboard:POSTED").code == 0
    ran = kwalk("exhaust", "tests.vacuity.cupboard:POSTED", "--strict")
    assert ran.code == Answer.GAPS.exit_code == 16
    assert ran.out.startswith("HOLDS WITH GAPS  1 property") and ran.out.endswith("--strict\n")
    assert kwalk("exhaust", "tests.vacuity.cupboard:POSTED", "--json").object["gaps"][0]["bound"] == "letters"


@pytest.mark.parametrize("shared", [False, True])
def test_a_strict_assertion_fails_where_there_are_gaps(shared: bool, tmp_path) -> None:
    searches = SharedSearches() if shared else None
    with AssertionOptions(out=tmp_path).active():
        assert assert_holds(POSTED, "few_letters", shared=searches).answer is Answer.HOLDS
        with pytest.raises(Fails, match="HOLDS WITH GAPS"):
            assert_holds(POSTED, "few_letters", shared=searches, strict=True)


def test_an_assertion_of_what_was_never_tested_warns(tmp_path) -> None:
    with AssertionOptions(out=tmp_path).active():
        with pytest.warns(Untested, match="never tested: about_what_is_not_reached"):
            assert_holds(NEVER_TESTED)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert_holds(POSTED)


def test_a_proof_is_valid_only_where_no_step_is_cut_off_and_says_so() -> None:
    (gap,) = prove(evolve(POSTED, properties=(cupboard.is_where_it_was,))).gaps
    assert gap.text.startswith("Steps were cut off by the bound letters=1 (post); on it depends is_where_it_was.")


def test_a_reduced_search_has_the_gaps_of_a_full_one_as_far_as_it_counts() -> None:
    full, reduced = (public_exhaust(FORBIDDEN, reduce=reduce, strict=True) for reduce in (False, True))
    assert (full.answer, reduced.answer) == (Answer.GAPS, Answer.GAPS)
    assert [gap.bound for gap in reduced.gaps] == [gap.bound for gap in full.gaps] != []
    assert reduced.gaps[0].text.startswith("Steps were cut off by the constraint nobody_posts_twice (post).")


def test_a_reduced_search_in_which_no_state_is_quiescent_says_so() -> None:
    restless = evolve(CUPBOARD, properties=(whole_at_rest,), actions=(tidy,))
    verdict = public_exhaust(restless, reduce=True, strict=True)
    assert (verdict.answer, verdict.gaps[0].text) == (Answer.GAPS, "never tested: whole_at_rest")
    assert "never tested (no state was quiescent): whole_at_rest" in facts(verdict, Model(restless))


def test_a_proof_names_what_it_proves_of_some_states_only() -> None:
    about = "a state or step tests about_what_is_not_reached"
    said = f"not known whether {about}: a proof does not find premises that are never true"
    both = evolve(NEVER_TESTED, properties=(cupboard.about_what_is_not_reached, cupboard.never_broken))
    assert said in prove(both).notes


def roomy(size: int) -> tuple[object, object]:
    """An action and a property that reach a bound through a variable around them, a function and a module."""
    guard = require

    def is_room(store: cupboard.Cupboard) -> None:
        guard(store.used < size)

    @action(by=Actor("tidier"))
    def put_carefully(store: cupboard.Cupboard) -> None:
        is_room(store)

    @always()
    def is_below(store: cupboard.Cupboard) -> bool:
        return bool(cupboard.SIZE > 0)

    return put_carefully, is_below


def test_a_bound_is_found_around_a_function_in_a_module_and_in_what_a_guard_calls() -> None:
    put_carefully, is_below = roomy(cupboard.SIZE)
    model = Model(evolve(CUPBOARD, actions=(put_carefully,), properties=(is_below,)))
    assert dependents(model, model.properties) == {"size": ("is_below", "the guard of put_carefully")}


def in_use(store: cupboard.Cupboard) -> int:
    return store.used


class Counts:
    """Functions of the state in a class."""

    @staticmethod
    def posted(store: cupboard.Cupboard) -> int:
        return len(store.letters)


USES = (in_use, 3)


def used_by_default(store: cupboard.Cupboard, count: Callable[[cupboard.Cupboard], int] = in_use) -> int:
    return count(store)


@always()
def by_a_method_of_a_class(store: cupboard.Cupboard) -> bool:
    return Counts.posted(store) < 9


@always()
def by_a_part_of_a_tuple(store: cupboard.Cupboard) -> bool:
    return USES[0](store) < 9


@always()
def by_a_default(store: cupboard.Cupboard) -> bool:
    return used_by_default(store) < 9


@always()
def by_what_was_taken(store: Tickets) -> bool:
    return store.ids.taken < 9


@pytest.mark.parametrize(
    ("prop", "bound"),
    [
        (by_a_method_of_a_class, "letters"),
        (by_a_part_of_a_tuple, "size"),
        (by_a_default, "size"),
        (by_what_was_taken, "shelves"),
    ],
    ids=lambda one: one if isinstance(one, str) else one.name,
)
def test_a_bound_is_found_in_each_way_in_which_a_property_can_reach_it(prop: Property, bound: str) -> None:
    scenario = evolve(CUPBOARD, actions=(take_ticket,), state=Tickets, properties=(prop,))
    model = Model(scenario)
    assert dependents(model, model.properties)[bound] == (prop.name,)
