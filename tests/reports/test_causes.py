"""The slice of a trace has what its end depends on, and sentences say who wrote what the next step read."""

from __future__ import annotations

import random
from typing import Annotated

import pytest
from attrs import evolve

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Model,
    Scenario,
    action,
    always,
    array,
    fifo,
    flag,
    number,
    require,
    state,
)
from kwalk.model.language.registry import find_scenario
from kwalk.reports.traces.story import story_of
from kwalk.search.results.slicing import TraceSlice
from kwalk.search.results.trace import Trace, is_violated_at_end, run

CLERKS = Domain("clerks")
WAITING = Bound("waiting")
Clerk = Annotated[int, CLERKS]
CLIENT = Actor("client", system=False)
CLERK = Actor("clerk", of=CLERKS)


@state
class Office:
    """Clerks take orders from one queue; an order above the limit is refused."""

    orders: Fifo[int] = fifo(number(0, 9), WAITING)
    limit: int = number(5, 9)
    served: Array[int] = array(CLERKS, number(0, 9))
    idle: int = number(0, 20)
    closed: bool = flag()


def refusal(before: Office, _: Office, __: int) -> str:
    """Return why an order is refused, if it is."""
    return f"refuses {before.orders.head}: the limit is {before.limit}" if before.orders.head > before.limit else ""


@action(by=CLIENT, description="orders {size}")
def order(office: Office, size: Annotated[int, number(0, 9)]) -> None:
    """An order of some size."""
    office.orders.push(size)


@action(by=CLIENT, description="sets the limit to {limit}")
def restrict(office: Office, limit: Annotated[int, number(5, 9)]) -> None:
    """Another limit."""
    office.limit = limit


@action(by=CLERK, description="takes an order", outcome=refusal)
def serve(office: Office, clerk: Clerk) -> None:
    """The oldest one."""
    require(not office.orders.is_empty)
    size = office.orders.pop()
    if size <= office.limit:
        office.served[clerk] = size


@action(by=CLERK, description="rests")
def rest(office: Office, clerk: Clerk) -> None:
    """Nothing that anybody reads."""
    office.idle += 1


@action(by=CLIENT, description="closes")
def close(office: Office) -> None:
    """The end."""
    office.closed = True


@always()
def all_served(office: Office) -> bool:
    """Who closes has served."""
    return not office.closed or office.served[0] > 0


def broken(_: Office, __: Office, ___: int) -> str:
    """Fail."""
    raise ValueError("no such order")


SCENARIO = Scenario(
    name="office",
    story="A clerk.",
    state=Office,
    actions=(order, restrict, serve, rest, close),
    properties=(all_served,),
    bounds={"clerks": 2, "waiting": 3},
)
RESTS = ("rest(1)",) * 9
STEPS = ("order(3)", "order(7)", "serve(1)", *RESTS, "restrict(6)", "serve(0)", "rest(0)", "close()")


def traced(actions: tuple[str, ...], prop: str = "all_served()") -> tuple[Model, Trace]:
    model = Model(SCENARIO)
    return model, Trace("office", model.variant, {}, run(model, model.initial[0], actions), actions, prop)


def sliced(model: Model, trace: Trace) -> list[int]:
    prop = next(one for one in model.properties if one.key == trace.prop)
    return sorted(TraceSlice(model, trace, prop).steps)


def test_the_slice_has_what_was_refused_and_why_and_not_what_only_stood_before_it_in_the_queue():
    assert sliced(*traced(STEPS)) == [2, 13, 14, 16]


def test_what_is_not_in_the_slice_folds_and_the_refusal_is_said():
    story = story_of(*traced(STEPS))
    assert [step.number for step in story.steps if step.routine] == [3, *range(4, 13), 15]
    assert story.steps[13].full_text == "takes an order: refuses 7: the limit is 6"


def test_the_sentences_go_from_the_violation_to_those_who_began():
    assert story_of(*traced(STEPS)).causes == (
        "Step 14 does not change that served[0] is 0 (clerk 0: takes an order: refuses 7: the limit is 6).",
        "Step 14 needs that limit is 6, as of step 13 (client: sets the limit to 6).",
        "Step 14 needs that orders[0] is 7, as of step 2 (client: orders 7).",
        "The violation needs that closed is yes, as of step 16 (client: closes).",
    )


@always()
def somebody_waits(office: Office) -> bool:
    """The office does not close without an order."""
    return not (office.closed and office.orders.is_empty)


def test_of_a_queue_that_is_empty_a_sentence_says_how_many_elements_it_has():
    model = Model(evolve(SCENARIO, properties=(somebody_waits,)))
    actions = ("order(3)", "serve(1)", "close()")
    states = run(model, model.initial[0], actions)
    causes = story_of(model, Trace("office", model.variant, {}, states, actions, "somebody_waits()")).causes
    assert any("needs that orders has 0 elements, as of step 2" in cause for cause in causes)


def test_an_outcome_that_fails_is_an_error_in_the_report_and_no_crash(monkeypatch):
    monkeypatch.setattr(serve, "outcome", broken)
    assert story_of(*traced(STEPS)).steps[2].outcome == "ValueError: no such order"


@pytest.mark.parametrize(
    ("scenario", "actions", "prop", "said"),
    [
        (
            "topic-id-core",
            ("expand()", "controller_fails()", "elect(0)"),
            "disk_matches_znode()",
            (
                "The violation needs that znode_id is B, as of step 3 (controller: broker 0 becomes controller: the "
                "znode has no id, and gets B).",
                "Step 3 needs that znode_id is none, as of step 1 (old client: adds a partition).",
                "Step 3 needs that controller is none, as of step 2 (fault: the controller fails).",
            ),
        ),
        (
            "lost-update",
            ("read(0)", "read(1)", "write(0)", "write(1)"),
            "nothing_is_lost()",
            (
                "The violation needs that counter is 1, as of step 4 (thread 1: writes its copy plus one: writes 1 "
                "over 1: its copy is too old).",
                "Step 4 needs that workers[1].next is write, as of step 2 (thread 1: reads the counter).",
            ),
        ),
    ],
)
def test_examples_are_explained(scenario, actions, prop, said):
    model = Model(find_scenario(scenario))
    trace = Trace(scenario, model.variant, {}, run(model, model.initial[0], actions), actions, prop)
    assert story_of(model, trace).causes == said


def test_a_deadlock_is_explained_by_what_disables_every_step():
    model = Model(find_scenario("blocking-queue"))
    actions = ("wait(1)", "wait(2)", "move_and_wake(0, 1)", "wait(0)", "move_and_wake(1, 2)", "wait(1)", "wait(2)")
    trace = Trace("blocking-queue", model.variant, {}, run(model, model.initial[0], actions), actions, None)
    assert story_of(model, trace).causes[0] == (
        "The violation needs that waiting has 2, as of step 7 (thread 2: waits: the buffer is empty)."
    )


def violation(model: Model, seed: int) -> Trace | None:
    """A random walk to a violation, as long as chance makes it."""
    chance, states, actions = random.Random(seed), [model.initial[0]], []
    for _ in range(60):
        instance, after = chance.choice(list(model.successors(states[-1])))
        states.append(after)
        actions.append(instance.key)
        broken = [prop.key for prop in model.properties if is_violated_at_end(model, prop, tuple(states))]
        if broken:
            return Trace(model.scenario.name, model.variant, {}, tuple(states), tuple(actions), chance.choice(broken))
        if not any(model.successors(after)):
            return None
    return None


@pytest.mark.parametrize("scenario", ["topic-id-core", "lost-update"])
def test_the_steps_of_a_slice_alone_lead_to_the_same_violation(scenario):
    model, counts = Model(find_scenario(scenario)), []
    for seed in range(40):
        trace = violation(model, seed)
        if trace is not None:
            steps = tuple(trace.actions[number - 1] for number in sliced(model, trace))
            states = run(model, trace.states[0], steps)
            prop = next(one for one in model.properties if one.key == trace.prop)
            assert predicate(model, prop, states[-1]) is False
            counts.append(trace.length - len(steps))
    assert len(counts) > 5 and sum(counts) > 0


def predicate(model: Model, prop, vector) -> bool | None:
    """The truth of what a property says of a state, whether or not the state is at rest."""
    with model.active():
        return prop.declaration.truth(model.state(vector), *prop.args)
