"""A wrong kernel, lifting or mapping to Z3 ends every engine with an error, where it would have said HOLDS."""

from __future__ import annotations

import json
import re
from contextlib import redirect_stdout
from io import StringIO
from typing import Annotated

import pytest
import z3
from attrs import evolve

from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    KwalkError,
    LiftError,
    Model,
    Scenario,
    action,
    always,
    array,
    number,
    require,
    state,
)
from kwalk.model.language.lift import lift
from kwalk.model.language.lift.solver import Solver
from kwalk.search.base.progress import silent
from kwalk.search.exhaustive.first_firings import FirstFirings
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel import sampling
from kwalk.search.kernel.compile import cache, compilation
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.kernel.sampling import FIRST, PER_DOUBLING, candidates
from kwalk.search.proof.attempt import ProofAttempt, ProofOptions
from kwalk.search.proof.cubes import Cube
from kwalk.search.results.fairness import safety_properties
from kwalk.search.results.verdict import Answer
from kwalk.search.simulation.options import SWARM
from kwalk.search.simulation.walk import walk
from tests.agreement.lending_desk import DESK, RETURNS, RETURNS_IN_STATES
from tests.agreement.planted_kernels import PLANTED, without_cache
from tests.agreement.test_planted_errors import PLANTED as LIFTER_ERRORS
from tests.queries import check, exhaust_on_spark, prove

__all__ = ["without_cache"]


def safety(model):
    return model.properties_of("loans_were_wanted") + model.properties_of("closed_when_idle")


def on_levels(model, tmp_path):
    """The search on Spark, with levels so small that they are done in this process."""
    return exhaust_on_spark(model, folder=tmp_path / "states", partitions=2)


ENGINES = {
    "exhaust": lambda model, _: exhaust(model),
    "exhaust, keeps going": lambda model, _: exhaust(model, keep_going=True),
    "exhaust with two workers": lambda model, _: exhaust(model, workers=2),
    "exhaust with reduction": lambda model, _: exhaust(model, reduce=True),
    "exhaust with symmetry": lambda model, _: exhaust(model, symmetry="readers", properties=safety(model)),
    "exhaust in levels": on_levels,
    "walk": lambda model, _: walk(model, walks=50, depth=30),
    "swarm with two workers": lambda model, _: walk(model, SWARM, walks=50, depth=30, workers=2),
    "check": lambda model, _: check(model, seconds=6),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_the_desk_holds_and_every_verdict_says_how_much_was_compared(engine, tmp_path):
    found = ENGINES[engine](Model(DESK), tmp_path)
    assert found.answer in (Answer.HOLDS, Answer.UNDECIDED) and not found.findings
    assert found.compared.states >= 20 and found.compared.successors > found.compared.states


SCENARIO_FOR = {
    "an always property is always true": RETURNS_IN_STATES,
    "a step property is always true": RETURNS,
}
"""A property that holds is true in every state that is visited: there, a kernel that says so is right."""


@pytest.mark.parametrize("wrong", PLANTED)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.usefixtures("without_cache")
def test_a_planted_mistake_in_the_kernel_ends_every_engine(engine, wrong, tmp_path, monkeypatch):
    PLANTED[wrong](monkeypatch)
    scenario = SCENARIO_FOR.get(wrong, DESK)
    with pytest.raises(EngineDisagreement) as error:
        ENGINES[engine](Model(scenario), tmp_path)
    assert error.value.model is not None


LIFTED_WRONGLY = (
    "writes are not masked",
    "an early return continues",
    "not is dropped",
    "< is <=",
    "any is all",
    "guards are dropped",
    "bounds are dropped",
    "a comprehension has one item",
    "a symbolic index is the first",
    "the guard is always true",
    "augmented assignment does nothing",
)
"""Of the mistakes in the lifter that `test_planted_errors` plants, those about what the desk uses."""


@pytest.mark.parametrize("wrong", LIFTED_WRONGLY)
@pytest.mark.parametrize("engine", ["exhaust", "walk", "prove"])
@pytest.mark.usefixtures("without_cache")
def test_a_planted_mistake_in_the_lifter_ends_every_engine(engine, wrong, tmp_path, monkeypatch):
    found = check_outcome(LIFTER_ERRORS[wrong], engine, tmp_path, monkeypatch)
    assert isinstance(found, EngineDisagreement | LiftError) or wrong in HARMLESS


HARMLESS = ("writes are not masked", "an early return continues", "a symbolic index is the first")
"""The desk has no branch and no return, and its indices are constants once it is lifted."""


def check_outcome(plant, engine, tmp_path, monkeypatch):
    """What an engine ends with when a mistake is planted: an error or a verdict."""
    plant(monkeypatch)
    model = Model(DESK)
    run = ENGINES.get(engine) or (lambda model, _: prove(model))
    try:
        return run(model, tmp_path)
    except (EngineDisagreement, KwalkError) as error:
        return error


def of_solver(name, wrong):
    """A mistake in one operation of the translation to Z3."""

    def plant(patch):
        honest = Solver._translate

        def translate(self, term, args):
            return wrong(self, term, args) if term.op == name else honest(self, term, args)

        patch.setattr(Solver, "_translate", translate)

    return plant


Z3_ERRORS = {
    "+ is -": of_solver("add", lambda s, term, args: args[0] - args[1]),
    "< is <=": of_solver("lt", lambda s, term, args: args[0] <= args[1]),
    "and is or": of_solver("and", lambda s, term, args: z3.Or(*args)),
    "or is and": of_solver("or", lambda s, term, args: z3.And(*args)),
    "not is dropped": of_solver("not", lambda s, term, args: args[0]),
    "if-else is swapped": of_solver("ite", lambda s, term, args: z3.If(args[0], args[2], args[1])),
    "== is always true": of_solver("eq", lambda s, term, args: z3.BoolVal(True)),
    "integers are one more": of_solver("int", lambda s, term, args: z3.BitVecVal(term.payload + 1, s.width)),
}


@pytest.mark.parametrize("wrong", Z3_ERRORS)
def test_a_planted_mistake_in_the_mapping_to_z3_ends_a_proof(wrong, tmp_path, monkeypatch):
    found = check_outcome(Z3_ERRORS[wrong], "prove", tmp_path, monkeypatch)
    assert isinstance(found, EngineDisagreement)


def attempt_of(model, **options):
    return ProofAttempt(model, lift(model), ProofOptions(safety_properties(model.properties), **options), silent)


def test_an_invariant_that_is_not_inductive_ends_a_proof(monkeypatch):
    model = Model(DESK)
    attempt = attempt_of(model)
    attempt.run()
    some, *_ = (index for index, proof in attempt.proofs.items() if proof.k == 1)
    attempt.facts[some] = (Cube({3: (1, 1)}),)  # "lent is never 1"
    with pytest.raises(EngineDisagreement, match=r"keeps its hypothesis: .* becomes false"):
        attempt.compare_with_python()


def test_a_refuted_depth_that_has_a_violation_ends_a_proof():
    model = Model(RETURNS)
    attempt = attempt_of(model, depth=2, induction=0, support=False)
    attempt.run()
    attempt.refuted = 30
    assert not attempt.proofs
    with pytest.raises(EngineDisagreement, match=r"Z3 refutes violations of .* within 29 steps"):
        attempt.compare_with_python()


@pytest.mark.parametrize("engine", ["exhaust", "exhaust with two workers", "walk", "swarm with two workers"])
@pytest.mark.parametrize("scenario", [RETURNS, DIE_HARD, LOST_UPDATE], ids=lambda scenario: scenario.name)
def test_a_verdict_does_not_depend_on_the_comparison(engine, scenario, tmp_path, monkeypatch):
    model = Model(scenario)
    compared = ENGINES[engine](model, tmp_path)
    monkeypatch.setattr(sampling, "LEAST_WORK", 0)
    monkeypatch.setattr(sampling, "LAST_WORK", 0)
    monkeypatch.setattr(sampling, "seconds_for_comparison", lambda elapsed: 0.0)
    alone = ENGINES[engine](model, tmp_path)
    assert (compared.compared.states > 0, alone.compared.states) == (True, 0)
    assert evolve(compared, seconds=0) == evolve(alone, seconds=0)


def test_all_states_of_a_small_search_are_compared():
    for scenario in (DESK, DIE_HARD, LOST_UPDATE):
        found = exhaust(Model(scenario), keep_going=True)
        assert found.compared.states == found.distinct_states


CELLS = Domain("cells", "counters")


@state
class Counters:
    """Counters, and what is written at last."""

    cells: Array[int] = array(CELLS, number(0, 60))
    last: int = number(0, 9)


def counting(at_the_end: int, on_the_way: int) -> Scenario:
    """Return a scenario of 226,981 states: the last step of all writes a number, and so does one that fires once."""

    @action(by=Actor("clerk"))
    def count(counters: Counters, cell: Annotated[int, CELLS]) -> None:
        require(counters.cells[cell] < 60)
        counters.cells[cell] += 1
        if sum(counters.cells) == 180:
            counters.last = at_the_end

    @action(by=Actor("clerk"))
    def stamp(counters: Counters) -> None:
        require(counters.last == 0 and tuple(counters.cells) == (20, 41, 33))
        counters.last = on_the_way

    @always()
    def last_is_small(counters: Counters) -> bool:
        return counters.last <= 5

    return Scenario(
        name="counting",
        story="Counts.",
        state=Counters,
        actions=(count, stamp),
        properties=(last_is_small,),
        bounds={"cells": 3},
    )


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("at_the_end", "on_the_way"), [(3, 9), (9, 3)], ids=["fires rarely", "last level"])
def test_a_kernel_of_another_model_is_noticed_where_samples_seldom_are(at_the_end, on_the_way, workers):
    other = fast_kernel_for(Model(counting(3, 3)))
    assert exhaust(Model(counting(3, 3)), kernel=other, workers=workers).answer is Answer.HOLDS
    with pytest.raises(EngineDisagreement, match="different states"):
        exhaust(Model(counting(at_the_end, on_the_way)), kernel=other, workers=workers)


@state
class Lane:
    """A place on a lane, and what is written there."""

    place: int = number(0, 400)
    note: int = number(0, 9)


def lane(note: int) -> Scenario:
    """Return a scenario of walks that pass a place at which an action is enabled, and take it in every second walk."""

    @action(by=Actor("walker"))
    def walk_on(lane: Lane) -> None:
        lane.place += 1

    @action(by=Actor("walker"))
    def write(lane: Lane) -> None:
        require(lane.place == 333 and lane.note == 0)
        lane.note = note

    return Scenario(name="lane", story="Walks.", state=Lane, actions=(walk_on, write))


def test_walks_compare_an_action_that_is_taken_once_where_it_is_taken():
    other = fast_kernel_for(Model(lane(3)))
    verdict = walk(Model(lane(3)), kernel=other, walks=20, depth=390)
    assert verdict.compared.instances == {"walk_on()", "write()"}
    with pytest.raises(EngineDisagreement, match=r"write\(\) leads to different states"):
        walk(Model(lane(4)), kernel=other, walks=20, depth=390)


def test_an_instance_that_fired_and_was_not_compared_is_named(monkeypatch):
    model = Model(counting(3, 3))
    assert len(exhaust(model).comparison_notes) == 1
    monkeypatch.setattr(FirstFirings, "instances", ())
    note = "Compared with plain Python: never these action instances, though they fired: stamp()."
    assert note in exhaust(model).comparison_notes


def test_candidates_are_the_first_visits_and_then_ever_fewer_of_the_later_ones():
    numbers = list(candidates(0, 100 * FIRST))
    assert numbers[:FIRST] == list(range(FIRST)) and numbers == sorted(set(numbers))
    assert sum(FIRST <= number < 2 * FIRST for number in numbers) == PER_DOUBLING
    assert sum(32 * FIRST <= number < 64 * FIRST for number in numbers) == PER_DOUBLING
    assert numbers == [*candidates(0, 700), *candidates(700, 9000), *candidates(9000, 100 * FIRST)]
    assert list(candidates(0, 5000, seed=1)) != list(candidates(0, 5000, seed=2))


@pytest.mark.parametrize("command", [("exhaust",), ("walk", "--walks", 50), ("check", "--seconds", 6), ("prove",)])
def test_the_command_ends_with_70_and_a_bundle_that_reproduces_it(kwalk, tmp_path, monkeypatch, command):
    LIFTER_ERRORS["any is all"](monkeypatch)
    monkeypatch.setattr(cache, "load", lambda key: None)
    monkeypatch.setattr(compilation, "save", lambda cpu, code: None)
    ran = kwalk(command[0], "tests.agreement.lending_desk:DESK", *command[1:], "--out", "found")
    assert ran.code == 70 and "HOLDS" not in ran.out
    assert re.search(r"internal error, no verdict: .*(un)?lock\(\)(.|\n)*Plain Python: ", ran.err)
    (folder,) = (tmp_path / "found").iterdir()
    assert f"Bundle: found/{folder.name}\nReproduce: kwalk {command[0]} tests.agreement.lending_desk:DESK" in ran.out
    about = json.loads((folder / "model.json").read_text())
    assert about["state"]["open"] in ("no", "yes") and len(about["contradictions"]) == 1
    with redirect_stdout(StringIO()) as printed:
        exec(compile((folder / "reproduce.py").read_text(), "reproduce.py", "exec"), {})
    assert "Disagreement(key=" in printed.getvalue()


@pytest.mark.parametrize("option", [(), ("--json",)])
def test_the_command_says_how_much_was_compared(kwalk, option):
    ran = kwalk("exhaust", "tests.agreement.lending_desk:DESK", *option)
    assert ran.code == 0
    if option:
        assert json.loads(ran.out)["compared"] == {"states": 37, "successors": 68, "properties": 216}
    else:
        assert "Compared with plain Python: 37 states, 68 successors, no difference." in ran.out
