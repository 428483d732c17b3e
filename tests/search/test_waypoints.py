"""Behaviours through waypoints: found with the fewest assumed events, refused with the fact, or honestly undecided."""

from __future__ import annotations

import math

import pytest
from attrs import evolve

from kwalk.model.language import Actor, Model, Scenario, StepResult, UsageError, action, flag, require, state
from kwalk.model.language.series import Fact, LoggedStep, Need, Series, Waypoint, where
from kwalk.reports.command_line import main
from kwalk.search.analyses.explain import kernels
from kwalk.search.analyses.explain.explain import ExplainOptions, Explanation, Fit, explain, explain_widening
from kwalk.search.analyses.explain.segment import EventTiming
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.results.trace import ModelFailure
from tests.search.kitchen import GUEST, KITCHEN, MOST, Kitchen, cook, seen, series

MODEL = Model(KITCHEN)


def explained(found: Series, **wish: object) -> Explanation:
    return explain(MODEL, kernel_for(MODEL), found, ExplainOptions(**wish))


def steps(done: Explanation) -> list[list[str]]:
    """The steps that lead to each waypoint."""
    keys, begin, parts = list(done.trace.actions), 0, []
    for end in done.arrivals:
        parts.append(keys[begin:end])
        begin = end
    return parts


def test_a_behaviour_passes_through_all_waypoints_with_the_fewest_events() -> None:
    done = explained(series(seen("clean", cooked=0), seen("first", cooked=1), seen("third", cooked=3)))
    assert (done.fit, done.how) == (Fit.EXPLAINED, "confirmed in plain Python")
    assert steps(done) == [[], ["order()", "cook()"], ["order()", "cook()", "order()", "cook()"]]


@pytest.fixture
def never_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search without a kernel stays with plain Python."""
    monkeypatch.setattr(kernels, "cached_kernel", lambda _model: None)
    monkeypatch.setattr(kernels, "COMPILE_AFTER", math.inf)


@pytest.mark.usefixtures("never_compiles")
@pytest.mark.parametrize("left", [{"wanted": 1}, {}], ids=str)
def test_compiled_code_and_plain_python_store_the_same_states(left: dict[str, int]) -> None:
    found = series(seen("first", cooked=1), seen("left", ordered=3, cooked=1, **left), seen("later", cooked=2))
    compiled, plain = explained(found), explain(MODEL, None, found)
    assert plain.executed != compiled.executed
    assert [(e.number, e.states, e.complete) for e in plain.efforts] == [
        (e.number, e.states, e.complete) for e in compiled.efforts
    ]
    assert plain.trace.actions == compiled.trace.actions


@action(by=GUEST, description="orders a soup without looking")
def order_carelessly(kitchen: Kitchen) -> None:
    """No number counts the last one."""
    kitchen.ordered += 1
    kitchen.wanted += 1


CARELESS = Model(KITCHEN.varied(name="careless-kitchen", actions=(order_carelessly, cook)))


@pytest.mark.usefixtures("never_compiles")
@pytest.mark.parametrize("compiles", [False, True], ids=["plain Python", "compiled code"])
def test_an_event_that_leaves_its_domain_ends_a_search_that_takes_it(*, compiles: bool) -> None:
    first, last = seen("all but one", ordered=MOST - 1), seen("all", ordered=MOST, cooked=MOST)
    kernel = kernel_for(CARELESS) if compiles else None
    assert explain(CARELESS, kernel, series(first, last)).fit is Fit.EXPLAINED
    with pytest.raises(ModelFailure, match="ordered"):
        explain(CARELESS, kernel, series(first, last, seen("nothing ordered", ordered=0)))


def test_the_behaviour_is_one_in_plain_python() -> None:
    done = explained(series(seen("one", cooked=1), seen("two", ordered=4, cooked=2)))
    vector = MODEL.initial[0]
    for key in done.trace.actions:
        outcome = MODEL.attempt(MODEL.instance(key), vector)
        assert outcome.result is StepResult.DONE
        vector = outcome.after
    assert (MODEL.state(vector).ordered, MODEL.state(vector).cooked) == (4, 2)


def test_what_can_only_happen_in_haste_is_found_after_a_calm_search() -> None:
    """A guest who waits at rest waits for a stove that is off; and here the cook continues."""
    done = explained(series(seen("left", ordered=1, cooked=0, stove_is_off=0, wanted=0), seen("later", cooked=1)))
    assert done.fit is Fit.EXPLAINED
    assert steps(done) == [["order()", "leave()"], ["order()", "cook()"]]
    assert 0 in [effort.number for effort in done.efforts if EventTiming.HASTY in effort.complete]


def test_the_search_goes_back_where_a_way_with_more_events_is_needed_before() -> None:
    quiescent = seen("quiescent", without=("guest", "cat"), cooked=1, stove_is_off=1)
    done = explained(series(seen("one", cooked=1), quiescent))
    assert done.fit is Fit.EXPLAINED
    assert sorted(steps(done)[0]) == ["cook()", "order()", "turn_off()"]
    assert steps(done)[1] == []


ORDERS = tuple(Need((where("ordered", *range(n, MOST + 1)),), frozenset({("order", None)})) for n in (1, 2))
GOING = Need((where("wanted", 0),), frozenset({("leave", None)}))


def test_a_search_that_aims_at_a_waypoint_takes_more_events_in_any_state_than_one_in_haste() -> None:
    one_gone = seen("one gone", ordered=2, wanted=0, cooked=1, stove_is_off=0)
    assert explained(series(one_gone)).fit is Fit.REFUSED
    done = explained(series(evolve(one_gone, needs=((ORDERS,),))))
    assert done.fit is Fit.EXPLAINED
    assert sorted(steps(done)[0]) == ["cook()", "leave()", "order()", "order()"]


def test_needs_that_are_wrong_do_not_change_the_answer() -> None:
    wrong = Need((where("stove_is_off", 1),), frozenset({("order", None)}))
    for needs in (((ORDERS,),), (((wrong,),),), (((GOING, wrong),), (ORDERS,))):
        assert explained(series(evolve(seen("one", cooked=1), needs=needs))).fit is Fit.EXPLAINED
        less = evolve(seen("less", ordered=1, cooked=2), needs=needs)
        assert explained(series(less)).fit is Fit.REFUSED


def test_events_that_follow_each_other_are_tried_in_sequence_beyond_the_most_events() -> None:
    evening = series(seen("evening", cooked=3, stove_is_off=1))
    assert explained(evening, events=1).fit is Fit.REFUSED
    done = explained(evolve(evening, sequences=((("order", None),) * 3 + (("turn_off", None),),)), events=1)
    assert done.fit is Fit.EXPLAINED
    assert steps(done) == [["order()", "cook()"] * 3 + ["turn_off()"]]


def test_of_two_events_in_sequence_one_may_be_left_out_and_another_one_come_before() -> None:
    """At rest nobody waits on a stove that is on, so nobody leaves."""
    by_turns = evolve(series(seen("evening", ordered=3, cooked=3)), sequences=((("leave", None), ("order", None)) * 2,))
    done = explained(by_turns, events=1)
    assert done.fit is Fit.EXPLAINED and steps(done) == [["order()", "cook()"] * 3]
    refused = explained(evolve(by_turns, waypoints=(seen("less", ordered=5, cooked=4),)), events=1)
    assert refused.fit is Fit.REFUSED and refused.efforts[0].complete[EventTiming.SEQUENCE] == 1


def test_what_no_behaviour_shows_is_refused_with_waypoint_and_fact() -> None:
    done = explained(series(seen("clean", cooked=0), seen("less", ordered=1, cooked=2), seen("never", cooked=3)))
    assert (done.fit, done.how) == (Fit.REFUSED, "exhaustive")
    assert (done.mismatch.number, done.mismatch.waypoint) == (1, "less")
    differences = {difference.name: (difference.value, difference.closest) for difference in done.mismatch.differences}
    assert differences in ({"ordered": ("1", "2")}, {"cooked": ("2", "1")}, {"cooked": ("2", "0")})
    assert all(set(effort.complete) >= {EventTiming.PATIENT, EventTiming.CALM} for effort in done.efforts)


def test_a_snapshot_in_doubt_decides_nothing_if_no_behaviour_fits_up_to_it() -> None:
    doubtful, never = evolve(seen("early", ordered=1, cooked=2), doubt="the soup was not counted"), seen("n", cooked=3)
    done = explained(series(seen("clean", cooked=0), doubtful, never))
    assert (done.fit, done.how, done.mismatch.waypoint) == (Fit.UNDECIDED, "the soup was not counted", "early")
    assert explained(series(evolve(seen("one", cooked=1), doubt="why"), seen("less", cooked=0))).fit is Fit.UNDECIDED
    later = series(seen("two", cooked=2), seen("less", cooked=1), evolve(seen("three", cooked=3), doubt="why"))
    assert explained(later).fit is Fit.REFUSED


def test_what_goes_back_is_refused() -> None:
    done = explained(series(seen("two", cooked=2), seen("one", cooked=1)))
    assert done.fit is Fit.REFUSED and done.mismatch.number == 1
    assert [(d.name, d.value, d.closest) for d in done.mismatch.differences] == [("cooked", "1", "2")]
    assert done.arrivals == (4,)


def test_actors_that_cannot_have_acted_are_left_out() -> None:
    assert explained(series(seen("one", without=("guest",), cooked=1))).fit is Fit.REFUSED
    assert explained(series(seen("one", without=("cat",), cooked=1))).fit is Fit.EXPLAINED


def test_more_events_than_asked_for_are_not_assumed() -> None:
    three = series(seen("three", cooked=3))
    assert explained(three, events=2).fit is Fit.REFUSED
    assert explained(three, events=3).fit is Fit.EXPLAINED


def test_a_search_whose_budget_is_spent_is_undecided_and_says_so() -> None:
    done = explained(series(seen("six", cooked=6), seen("impossible", cooked=1)), seconds=1e-9)
    assert done.fit is Fit.UNDECIDED
    assert done.how.startswith("time budget")
    assert (done.mismatch.waypoint, done.trace, done.arrivals) == ("six", None, ())


def test_a_fact_about_a_leaf_that_is_not_there_is_refused() -> None:
    fact = Fact("soup", "hot", (where("soup", 1),), str)
    with pytest.raises(UsageError, match="No leaf named 'soup'"):
        explained(series(Waypoint("hot", (fact,))))


def test_exit_codes() -> None:
    assert {fit: fit.exit_code for fit in Fit} == {Fit.EXPLAINED: 0, Fit.REFUSED: 12, Fit.UNDECIDED: 3}


# Logs.

ALL_COOKED = (seen("clean", cooked=0, ordered=0), seen("three", cooked=3, wanted=0))


def logged(*logs: tuple[LoggedStep, ...]) -> Series:
    """Three soups are cooked, and these logs show how."""
    return evolve(series(*ALL_COOKED), logs=logs)


def line(*actions: str, **wish: object) -> LoggedStep:
    """A line of a log between the two snapshots."""
    return LoggedStep("log", " or ".join(actions), actions, **{"first": 1, "last": 1, **wish})


def test_a_behaviour_takes_the_logged_steps_in_the_order_of_their_log() -> None:
    done = explained(logged((line("cook", clauses=(where("cooked", 3),)), line("leave"))))
    keys = list(done.trace.actions)
    assert done.fit is Fit.EXPLAINED and keys.count("cook()") == 3
    assert [step.actions for _, step in done.logged] == [("cook",), ("leave",)]
    assert [keys[number - 1] for number, _ in done.logged] == ["cook()", "leave()"]


def test_two_logs_are_not_ordered_with_each_other() -> None:
    done = explained(logged((line("cook"),), (line("order"),)))
    assert done.fit is Fit.EXPLAINED and "leave()" not in done.trace.actions


def test_one_step_is_two_logged_ones_unless_they_are_distinct() -> None:
    left = line("leave")
    once = explained(logged((left, left))).trace.actions
    twice = explained(logged((left, evolve(left, distinct=True)))).trace.actions
    assert (once.count("leave()"), twice.count("leave()")) == (1, 2)


def test_conditions_before_and_after_a_logged_step_hold_there() -> None:
    second = line("cook", before=(where("ordered", 2),), clauses=(where("cooked", 2),))
    done = explained(logged((second,)))
    ((number, _),) = done.logged
    before, after = MODEL.state(done.trace.states[number - 1]), MODEL.state(done.trace.states[number])
    assert (before.ordered, before.cooked, after.cooked) == (2, 1, 2)
    assert explained(logged((evolve(second, before=(where("ordered", 1),)),)), events=3).fit is Fit.REFUSED


def test_a_logged_step_is_taken_before_the_waypoint_at_which_it_is_due_and_after_the_one_where_it_begins() -> None:
    three = (seen("one", cooked=1), seen("two", cooked=2), seen("three", cooked=3, wanted=0))
    for first, last in ((0, 0), (1, 1), (2, 2)):
        done = explained(evolve(series(*three), logs=((line("turn_off", first=first, last=last),),)))
        number = [place for place, key in enumerate(done.trace.actions, start=1) if key == "turn_off()"]
        if first == last == 2:
            assert done.fit is Fit.EXPLAINED and number[0] > done.arrivals[1]
        else:
            assert done.fit is Fit.REFUSED  # what comes after needs a stove that is on
            assert [step.actions for step in done.mismatch.not_taken] in ([("turn_off",)], [])
    late = explained(evolve(series(*three), logs=((line("turn_off", first=0, last=None),),)))
    assert late.fit is Fit.EXPLAINED and late.logged == ()


def test_a_step_that_no_behaviour_takes_is_named() -> None:
    done = explained(logged((line("order"), line("cook", clauses=(where("cooked", 5),)))), events=3)
    assert done.fit is Fit.REFUSED and done.mismatch.waypoint == "three"
    assert [step.clauses for step in done.mismatch.not_taken] == [(where("cooked", 5),)]


def test_a_step_that_the_first_waypoint_may_show_is_required_only_otherwise() -> None:
    shown = line("order", clauses=(where("cooked", 0),), standing=True, first=0)
    not_shown = evolve(shown, clauses=(where("ordered", 4),))
    assert explained(logged((shown,))).trace.actions.count("order()") == 3
    assert explained(logged((not_shown,))).trace.actions.count("order()") >= 4


def test_what_logs_show_of_every_state_limits_the_search() -> None:
    """No soup ever waits: then none is cooked."""
    limited = evolve(series(*ALL_COOKED), log_limits=(where("wanted", 0),))
    assert explained(limited).fit is Fit.REFUSED
    assert explained(limited.without_logs).fit is Fit.EXPLAINED


def test_a_scenario_that_reads_no_logs_refuses_them(tmp_path, capsys) -> None:
    (tmp_path / "one").write_text("cooked 1\n")
    words = [
        "diagnose",
        "--explain",
        "--scenario",
        "tests.search.kitchen:KITCHEN",
        str(tmp_path / "one"),
        "--logs",
        str(tmp_path),
    ]
    assert main(words) == 2
    assert "does not read logs. Leave out --logs." in capsys.readouterr().err


@state
class Office:
    """A letter on its way, one that was delivered, whether the office has closed, and whether a letter was lost."""

    sent: bool = flag()
    is_delivered: bool = flag()
    is_closed: bool = flag()
    is_lost: bool = flag()


CLIENT, POST = Actor("client", system=False), Actor("post")


@action(by=CLIENT, description="sends a letter")
def send(office: Office) -> None:
    """Only one."""
    require(not (office.sent or office.is_delivered or office.is_lost))
    office.sent = True


@action(by=POST, description="delivers the letter")
def deliver(office: Office) -> None:
    """At once, as a rule."""
    require(office.sent)
    office.sent, office.is_delivered = False, True


@action(by=POST, description="closes")
def close(office: Office) -> None:
    """After the first letter."""
    require(not office.is_closed and (office.sent or office.is_delivered))
    office.is_closed = True


@action(by=CLIENT, description="loses the letter")
def lose(office: Office) -> None:
    """It is still there when the office has closed."""
    require(office.sent and office.is_closed)
    office.sent, office.is_lost = False, True


def opened(office: Office) -> None:
    """No letter."""


def test_a_search_with_slow_steps_takes_others_before_steps_that_are_prompt_otherwise() -> None:
    scenario = Scenario(
        name="office",
        story="A letter.",
        state=Office,
        actions=(send, deliver, close, lose),
        properties=(),
        initial=opened,
    )
    model = Model(scenario)
    lost = Fact("lost", "yes", (where("is_lost", 1),), lambda office: "yes" if office.is_lost else "no")
    any_letter = tuple((name, frozenset({1})) for name in ("sent", "is_delivered", "is_lost"))
    need = Need((any_letter,), frozenset({("send", None)}))
    waypoint = Waypoint("lost", (lost,), rare=frozenset({"lose"}), needs=(((need,),),))
    prompt = Series({}, {}, opened, (waypoint,), prompt=frozenset({"deliver"}))
    assert explain(model, kernel_for(model), prompt).fit is Fit.REFUSED
    done = explain(model, kernel_for(model), evolve(prompt, slow=frozenset({"deliver"})))
    assert done.fit is Fit.EXPLAINED
    assert list(done.trace.actions) == ["send()", "close()", "lose()"]


def test_events_that_logs_ask_for_are_needs_of_a_search_that_aims() -> None:
    asked = LoggedStep("l", "left", ("leave",), last=0, events=frozenset({("leave", None)}))
    one_gone = evolve(seen("one gone", ordered=2, wanted=0, cooked=1, stove_is_off=0), needs=((ORDERS,),))
    found = evolve(series(one_gone), logs=((asked,),))
    done = explained(found)
    assert done.fit is Fit.EXPLAINED
    assert done.states < explained(evolve(found, logs=((evolve(asked, events=frozenset()),),))).states


def test_differences_are_listed_by_their_weight_and_the_nearer_of_two_answers_is_better() -> None:
    """Nobody orders: neither fact is reached."""
    shown = seen("one", without=("guest",), cooked=1, ordered=1)
    facts = tuple(evolve(fact, weight=1 + (fact.name == "ordered")) for fact in shown.facts)
    done = explain(Model(KITCHEN), None, series(evolve(shown, facts=facts))).mismatch
    assert done is not None
    assert ([difference.name for difference in done.differences], done.distance) == (["ordered", "cooked"], 3)
    nearer, further = evolve(done, distance=2), evolve(done, number=1, distance=9)
    assert nearer.is_better_than(done) and further.is_better_than(nearer)
    assert not done.is_better_than(done)


def test_compiled_code_is_waited_for_as_long_as_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "COMPILE_AFTER", 0.0)
    monkeypatch.setattr(kernels, "cached_kernel", lambda model: None)
    with kernels.CompilationQueue() as queue:
        search, ticks = kernels.SearchKernel(MODEL, queue=queue), list[float]()
        assert search.is_plain and not search.wait(0.0, lambda: ticks.append(0.0))  # it is asked for
        assert not ticks
        assert search.wait(math.inf, lambda: ticks.append(0.0)) and ticks
        assert search.description == "plain Python, then compiled code"


def test_ctrl_c_while_compiled_code_is_waited_for_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was reached is answered."""

    def interrupt(*_: object) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(kernels, "COMPILE_AFTER", 1000.0)
    monkeypatch.setattr(kernels, "cached_kernel", lambda model: None)
    monkeypatch.setattr(kernels.SearchKernel, "wait", interrupt)
    monkeypatch.setattr("kwalk.search.analyses.explain.explain.WIDENING", (0.0, 0.0))  # no ladder comes to its end
    narrow = MODEL, series(seen("one", cooked=1), seen("less", cooked=0))
    is_wider, done = explain_widening(narrow, narrow, ExplainOptions(seconds=0.2))
    assert (is_wider, done.fit, done.how) == (False, Fit.UNDECIDED, "interrupted")
