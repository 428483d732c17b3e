"""Every engine on a small scenario of each newer construct: it agrees with plain Python, or refuses as announced.

The expected result of a scenario is that of an exhaustive search by the interpreter. Engines that start processes of
their own (Spark, nightly runs, real brokers) and those that need captures are not among these.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import pytest
from attrs import evolve, frozen

from kwalk import mutate
from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Model,
    Scenario,
    UsageError,
    action,
    action_constraint,
    always,
    always_eventually,
    array,
    bounded_set,
    constraint,
    eventually,
    eventually_always,
    fifo,
    flag,
    inevitable,
    leads_to,
    member,
    nested,
    number,
    reachable,
    refines,
    require,
    state,
    step,
    strongly_fair,
    subset,
    value,
    weakly_fair,
)
from kwalk.search.analyses.state_graph import explore
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.minimize.shrink import shrink
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Answer, ProofOutcome, Verdict
from kwalk.search.simulation.walk import walk
from tests.queries import check, hunt, hypothesis_search, prove

NODES = Domain("nodes")
MOST = Bound("most")
NODE = Actor("node", of=NODES)
USER = Actor("user", system=False)
Node = Annotated[int, NODES]
Some = Annotated[frozenset[int], subset(NODES)]
Lit = Annotated[Array[bool], array(NODES, flag())]


@value
class Note:
    """A record."""

    by: int = member(NODES)
    late: bool = flag()


@state
class Desk:
    """A set of records, an array, a sequence and a counter."""

    notes: set[Note] = subset(Note)
    lit: Array[bool] = array(NODES, flag())
    order: Fifo[int] = fifo(NODES, MOST)
    count: int = number(0, 3)
    done: bool = flag()


@state
class Pile:
    """A small set of records, and a record."""

    few: set[Note] = bounded_set(Note, MOST)
    last: Note = nested(Note)


@action(by=NODE)
def send(desk: Desk, node: Node) -> None:
    """A record joins a set."""
    require(Note(by=node) not in desk.notes)
    desk.notes.add(Note(by=node))


@action(by=USER)
def choose(pile: Pile, note: Note) -> None:
    """A record is a parameter; the set has at most as many as the bound says."""
    pile.last = note
    pile.few = {other for other in pile.few if other.by != note.by} | {note}


@action(by=USER)
def arrange(desk: Desk, order: Annotated[tuple[int, ...], fifo(NODES, MOST)]) -> None:
    """A sequence is a parameter."""
    require(set(order) == set(NODES) and len(order) == len(NODES))
    desk.order = order


@action(by=USER)
def light(desk: Desk, some: Some, lit: Lit) -> None:
    """A set and an array are parameters."""
    require(len(some) == 1 and any(lit[n] for n in sorted(some)) and not all(lit[n] for n in NODES))
    desk.lit = lit


@action(by=NODE)
def count(desk: Desk, node: Node) -> None:
    """Only the nodes that are named may count, in turn."""
    require(not desk.done and desk.count < 3 and desk.count % len(NODES) == node)
    desk.count += 1


@action(by=NODE)
def reset(desk: Desk, node: Node) -> None:
    """Begin again."""
    require(desk.count > 0 and node == 0 and not desk.done)
    desk.count = 0


@action(by=USER)
def finish(desk: Desk) -> None:
    """The end, from one count only."""
    require(desk.count == 2)
    desk.done = True


@action(by=USER)
def reopen(desk: Desk) -> None:
    """No step of a tally."""
    require(desk.done)
    desk.done = False


@always()
def notes_are_early(desk: Desk) -> bool:
    """Holds: only the chosen ones are late."""
    return all(not note.late for note in desk.notes)


@always()
def one_note_only(desk: Desk, node: Node) -> bool:
    """Violated by two notes."""
    return not any(note.by != node for note in desk.notes) or Note(by=node) not in desk.notes


@always()
def chosen_is_kept(pile: Pile) -> bool:
    """Holds: the last one chosen is among the few."""
    return pile.last in pile.few or len(pile.few) == 0


@always()
def never_both(pile: Pile) -> bool:
    """Violated by two chosen records."""
    return len(pile.few) < 2


@step()
def order_is_kept(before: Desk, after: Desk) -> bool:
    """Violated by another order."""
    return before.order.is_empty or before.order == after.order


@always()
def not_all_are_lit(desk: Desk) -> bool:
    """Holds by the guard."""
    return not all(desk.lit)


@reachable()
def second_is_lit(desk: Desk) -> bool:
    """There is such a state."""
    return desk.lit[1] and not desk.lit[0]


@always()
def counts_to_one(desk: Desk) -> bool:
    """Violated by a count of two."""
    return desk.count < 2


@always()
def counts_to_three(desk: Desk) -> bool:
    """Holds."""
    return desk.count <= 3 and (not desk.done or desk.count == 2)


@constraint()
def small(desk: Desk) -> bool:
    """Counts above one are not continued."""
    return desk.count <= 1


@action_constraint()
def upwards(before: Desk, after: Desk) -> bool:
    """No reset."""
    return after.count >= before.count


@eventually()
def ends(desk: Desk) -> bool:
    """It is done at last."""
    return desk.done


@inevitable()
def counts_at_all(desk: Desk) -> bool:
    """The count is one at some time."""
    return desk.count == 1


@always_eventually()
def returns(desk: Desk) -> bool:
    """The count is zero, or all is done, again and again."""
    return desk.count == 0 or desk.done


@eventually_always()
def settles(desk: Desk) -> bool:
    """It stays done."""
    return desk.done


def is_two(desk: Desk) -> bool:
    """The count is two."""
    return desk.count == 2


def is_done(desk: Desk) -> bool:
    """All is done."""
    return desk.done


@state
class Tally:
    """What is counted, modulo two."""

    odd: bool = flag()
    over: bool = flag()


@action(by=NODE)
def turn(tally: Tally) -> None:
    """The other one."""
    require(not tally.over)
    tally.odd = not tally.odd


@action(by=USER)
def stop(tally: Tally) -> None:
    """The end."""
    require(not tally.odd and not tally.over)
    tally.over = True


def tallied(desk: Desk, tally: Tally) -> None:
    """The image of a desk."""
    tally.odd = desk.count % 2 == 1
    tally.over = desk.done


TALLY = Scenario(name="tally", story="Odd or even.", state=Tally, actions=(turn, stop), bounds={"nodes": 2})
REFINES = refines(TALLY, tallied)


def desk(name: str, *actions: Any, properties: tuple[Any, ...], root: type = Desk, **others: Any) -> Scenario:
    return Scenario(
        name=name,
        story="A desk.",
        state=root,
        actions=actions,
        properties=properties,
        bounds={"nodes": 2, "most": 2},
        **others,
    )


SCENARIOS = {
    "record sets": desk("sets", send, properties=(notes_are_early, one_note_only)),
    "record parameters": desk("records", choose, properties=(chosen_is_kept, never_both), root=Pile),
    "sequence parameters": desk("sequences", arrange, properties=(order_is_kept,)),
    "set and array parameters": desk("arrays", light, properties=(not_all_are_lit, second_is_lit)),
    "refinement": desk("refinement", count, finish, properties=(REFINES, counts_to_three)),
    "broken refinement": desk("broken", count, reset, finish, reopen, properties=(REFINES, counts_to_one)),
    "constraints": desk("cut", count, reset, properties=(counts_to_one, counts_to_three), constraints=(small, upwards)),
    "weak fairness": desk(
        "weak",
        count,
        reset,
        finish,
        properties=(ends, counts_at_all, returns, settles, leads_to(is_two, is_done)),
        fairness=(weakly_fair(count, reset), weakly_fair(finish)),
    ),
    "strong fairness": desk(
        "strong",
        count,
        reset,
        finish,
        properties=(ends, counts_at_all, returns, settles, counts_to_three),
        fairness=(weakly_fair(count), weakly_fair(reset, each="node"), strongly_fair(finish)),
    ),
}


ORDERED = {
    "records": "few is a bounded_set",
    "arrays": "not interchangeable: second_is_lit",
    "refinement": "not interchangeable",
    "broken": "not interchangeable",
    "cut": "not interchangeable",
    "weak": "is about behaviours",
    "strong": "is about behaviours",
}
"""Why symmetry refuses a scenario, by its name."""


@frozen
class Expected:
    """What plain Python finds: the number of states, and the length of each counterexample (None: not reachable)."""

    model: Model
    states: int
    violated: dict[str, int | None]


@cache
def expected(name: str) -> Expected:
    model = Model(SCENARIOS[name])
    verdict = exhaust(model, kernel=interpreted_kernel(model), keep_going=True)
    assert verdict.stopped is None or verdict.stopped is StopReason.VIOLATION, verdict
    found = {finding.prop: None if finding.trace is None else finding.trace.length for finding in verdict.findings}
    return Expected(model, verdict.distinct_states or 0, found)


def is_liveness(model: Model, key: str) -> bool:
    return next(prop.kind.is_liveness for prop in model.properties if prop.key == key)


def compare(verdict: Verdict, known: Expected, *, is_complete: bool = False) -> None:
    """Compare a verdict with what plain Python finds."""
    for finding in verdict.findings:
        assert finding.prop in known.violated
        if finding.trace is None or known.violated[finding.prop] is None:
            assert finding.trace is known.violated[finding.prop] is None
            continue
        assert run(known.model, finding.trace.states[0], finding.trace.actions) == finding.trace.states
        if not is_liveness(known.model, finding.prop):
            assert finding.trace.length >= known.violated[finding.prop]
            if finding.trace.shortest is not None:
                assert finding.trace.length == known.violated[finding.prop]
    if verdict.answer is Answer.HOLDS and verdict.strength.is_conclusive:
        assert known.violated == {}
    if is_complete:
        assert {finding.prop for finding in verdict.findings} == known.violated.keys()


def names_what_it_leaves_out(verdict: Verdict, known: Expected) -> None:
    """Properties about behaviours are left out by name."""
    for prop in known.model.properties:
        if prop.kind.is_liveness:
            assert any(prop.declaration.name in note for note in verdict.notes)
            assert prop.declaration.title not in verdict.properties


def by_exhaustion(known: Expected, **options: Any) -> None:
    verdict = exhaust(known.model, keep_going=True, **options)
    compare(verdict, known, is_complete=True)
    assert verdict.distinct_states == known.states


def by_reduction(known: Expected) -> None:
    verdict = exhaust(known.model, keep_going=True, reduce=True)
    compare(verdict, known)
    names_what_it_leaves_out(verdict, known)
    safety = {prop for prop in known.violated if not is_liveness(known.model, prop)}
    assert {finding.prop for finding in verdict.findings} == safety


def by_symmetry(known: Expected) -> None:
    refusal = ORDERED.get(known.model.scenario.name)
    if refusal is not None:
        with pytest.raises(UsageError, match=refusal):
            exhaust(known.model, symmetry="nodes")
        return
    verdict = exhaust(known.model, keep_going=True, symmetry="nodes")
    compare(verdict, known)
    assert bool(verdict.findings) == bool(known.violated)
    assert (verdict.distinct_states or 0) < known.states


def by_walks(known: Expected) -> None:
    verdict = walk(known.model, walks=300, depth=20, keep_going=True)
    compare(verdict, known)
    names_what_it_leaves_out(verdict, known)


def by_hypothesis(known: Expected) -> None:
    verdict = hypothesis_search(known.model, profile="ci", seconds=0.3, keep_going=True)
    compare(verdict, known)
    names_what_it_leaves_out(verdict, known)


def by_proof(known: Expected) -> None:
    verdict = prove(known.model, depth=4, induction=1, support=False, seconds=2.0)
    compare(verdict, known)
    names_what_it_leaves_out(verdict, known)
    for proof in verdict.proofs:
        if proof.outcome in (ProofOutcome.PROVED, ProofOutcome.WITNESSED):
            assert proof.prop not in known.violated
        elif proof.outcome is ProofOutcome.VIOLATED:
            assert proof.prop in known.violated


def by_all_three(known: Expected) -> None:
    compare(check(known.model, seconds=0.6), known)


def by_hunt(known: Expected) -> None:
    compare(hunt(known.model, seconds=60.0, keep_going=True), known, is_complete=True)


def by_mutation(known: Expected) -> None:
    report = mutate(known.model.scenario, sample=2)
    assert len(report.results) == 2
    for baseline in report.baselines:
        compare(baseline.verdict, known, is_complete=True)


def in_a_graph(known: Expected) -> None:
    graph = explore(known.model, most=known.states + 1)
    assert len(graph.nodes) == known.states


def by_shrinking(known: Expected) -> None:
    """Each counterexample that walks find is shrunk to a shortest length or above; lassos are refused."""
    verdict = exhaust(known.model, keep_going=True)
    for finding in verdict.findings:
        if finding.trace is None:
            continue
        if is_liveness(known.model, finding.prop):
            with pytest.raises(UsageError, match="A lasso is not shrunk"):
                shrink(known.model, finding.trace)
        else:
            shorter = shrink(known.model, finding.trace, kernel=kernel_for(known.model), seconds=2.0)
            assert shorter.length == known.violated[finding.prop]


ENGINES: dict[str, Callable[[Expected], None]] = {
    "exhaust": by_exhaustion,
    "two threads": lambda known: by_exhaustion(known, workers=2),
    "reduction": by_reduction,
    "symmetry": by_symmetry,
    "walks": by_walks,
    "Hypothesis": by_hypothesis,
    "proofs": by_proof,
    "check": by_all_three,
    "hunt": by_hunt,
    "mutate": by_mutation,
    "graph": in_a_graph,
    "shrink": by_shrinking,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_are_large_enough_to_tell_engines_apart(name: str) -> None:
    known = expected(name)
    assert known.states >= 3
    assert not known.violated.keys() - {prop.key for prop in known.model.properties}


SHORT = ("broken refinement", "constraints", "strong fairness")
"""The scenarios for `check`, which runs three of the other engines again."""


@pytest.mark.parametrize(
    ("engine", "name"), [(e, name) for e in ENGINES for name in (SHORT if e == "check" else SCENARIOS)]
)
def test_each_engine_agrees_with_plain_python_or_refuses(engine: str, name: str) -> None:
    ENGINES[engine](expected(name))


def test_the_table_has_violated_properties_and_those_that_hold() -> None:
    violated = {name: set(expected(name).violated) for name in SCENARIOS}
    assert violated["record sets"] == {"one_note_only(0)", "one_note_only(1)"}
    assert violated["refinement"] == violated["set and array parameters"] == set()
    assert any(key.startswith("refines_tally") for key in violated["broken refinement"])
    assert violated["constraints"] == {"counts_to_one()"}
    assert {"ends()", "settles()"} <= violated["weak fairness"]
    assert violated["strong fairness"] < violated["weak fairness"]


def test_the_interpreter_confirms_each_expectation() -> None:
    one = evolve(SCENARIOS["record sets"], properties=(notes_are_early,))  # type: ignore[arg-type]
    assert exhaust(Model(one), kernel=interpreted_kernel(Model(one))).answer is Answer.HOLDS
