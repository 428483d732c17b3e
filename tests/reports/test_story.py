"""A story keeps the few steps that matter, folds the rest, and says why."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.reports.traces.replay import replay
from kwalk.reports.traces.story import Fold, shown_lines, story_of
from kwalk.search.results.verdict import Answer
from tests.reports.traces import LONG, LOST, model, trace


def chapters(**how: bool) -> list[str]:
    story = story_of(model(), trace(LONG))
    return [c.text if isinstance(c, Fold) else f"{c.number} {c.actor} {c.text}" for c in story.chapters(**how)]


def test_what_customers_do_and_the_last_step_stay_and_runs_of_routine_steps_fold():
    assert chapters() == [
        "1 customer No. 1 posts a letter to No. 1, class first",
        "9 routine steps (driver)",
        "11 customer No. 1 lets the dog out",
        "12 driver drives a mile",
        "13 postman delivers the oldest letter",
    ]


def test_a_short_trace_is_never_folded():
    story = story_of(model(), trace())
    assert [step.number for step in story.steps if step.routine] == []
    assert len(list(story.chapters())) == len(LOST)


def test_unfolded_a_story_has_every_step():
    assert len(chapters(unfold=True)) == len(LONG)


def test_a_system_step_that_changes_what_the_property_reads_is_never_routine():
    drives = ("drive()",) * 7
    two = ("post(0, FIRST)", "post(0, FIRST)", *drives, "let_dog_out(0)", "deliver()", "drive()", "deliver()")
    story = story_of(model(), trace(two, "nothing_is_lost(1)"))
    assert [step.number for step in story.steps if step.routine] == [3, 4, 5, 6, 7, 8, 9, 12]


def test_changes_that_the_property_reads_come_first():
    last = story_of(model(), trace()).steps[-1]
    assert str(last.changes[0]) == "lost {} → {A}"
    assert [line.matters for line in last.changes] == [True, False, False]


def test_why_names_the_property_and_the_values_that_decide_it():
    why = story_of(model(), trace()).why
    assert (why.text, why.decisive, why.stable) == ("No seal is ever lost.", (("lost", "{A}"),), False)


def test_a_stable_bad_state_is_called_so():
    story = story_of(model(), trace(("post(0, FIRST)", "let_dog_out(0)", "deliver()"), "no_card_stays(0)"))
    assert (story.headline, story.why.stable) == ("BAD STABLE STATE", True)


def test_a_trace_without_a_property_is_a_sample():
    assert story_of(model(), trace(("post(0, FIRST)",), None)).headline == "SAMPLE"


@pytest.mark.parametrize(("is_error", "headline"), [(False, "SAMPLE"), (True, "DEADLOCK")])
def test_an_end_without_a_next_step_is_a_deadlock_only_where_that_is_an_error(is_error, headline):
    subject = Model(evolve(find_scenario("lost-update"), deadlock_is_error=is_error))
    steps, state = [], subject.initial[0]
    while (step := next(iter(subject.successors(state)), None)) is not None:
        steps.append(step[0].key)
        state = step[1]
    ended = trace(tuple(steps), None, subject)
    assert story_of(subject, ended).headline == headline
    assert replay(subject, ended).answer is (Answer.DEADLOCK if is_error else Answer.HOLDS)


def test_a_witness_of_what_must_be_possible_is_no_violation():
    story = story_of(model(), trace(("post(0, FIRST)", "deliver()"), "a_box_can_fill(0)"))
    assert story.headline == "REACHED"


def test_a_trace_of_no_steps_has_a_story_too():
    assert story_of(model(), trace((), None)).steps == ()


def shown(actions: tuple[str, ...], prop: str, *, every: bool = False) -> tuple[list[str], int]:
    """The shown lines of the last step, and how many are left out."""
    lines, more = shown_lines(story_of(model(), trace(actions, prop)).steps[-1], every=every)
    return [str(line).partition(" ")[0] for line in lines], more


def test_what_queues_gained_and_lost_is_left_out_where_something_else_changed():
    assert shown(LOST, "nothing_is_lost(0)") == (["lost", "doors[No."], 1)
    assert shown(LOST, "nothing_is_lost(0)", every=True) == (["lost", "doors[No.", "queue"], 0)


def test_a_routine_step_that_stands_alone_takes_one_line():
    step = story_of(model(), trace(LONG)).steps[11]
    assert step.routine and len(shown_lines(step)[0]) == 1


def test_a_fold_says_what_was_done_in_it():
    fold = next(c for c in story_of(model(), trace(LONG)).chapters() if isinstance(c, Fold))
    assert (fold.text, fold.summary) == ("9 routine steps (driver)", "drives a mile ×9")
