"""Sets of records in all executions, engines and reports; what is refused."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.model.language import (
    Array,
    Bound,
    Domain,
    DomainError,
    LiftError,
    Model,
    Scenario,
    StepResult,
    UsageError,
    action,
    array,
    bounded_set,
    fifo,
    member,
    number,
    state,
    subset,
    value,
)
from kwalk.model.language.lift import lift
from kwalk.reports.traces.changes import changes, parts_of
from kwalk.reports.traces.itf import itf
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.differential import disagreements
from kwalk.search.results.verdict import ProofOutcome
from tests.agreement.chosen_messages import NODE, NODES, OFFICE, Ask, Entry, Node, Office, Reply
from tests.queries import prove
from tests.states import random_states


def after(model: Model, *keys: str) -> tuple[int, ...]:
    """The vector after some steps."""
    vector = model.initial[0]
    for key in keys:
        outcome = model.attempt(model.instance(key), vector)
        assert outcome.after is not None, key
        vector = outcome.after
    return vector


def test_all_executions_of_sets_of_records_agree() -> None:
    model = Model(OFFICE)
    states = [*model.initial, *random_states(model, 80, 1), after(model, "ask(0)", "answer(1, 0)", "write(1)")]
    assert not list(disagreements(model, states, kernel=kernel_for(model), with_z3=True))


def test_engines_agree_on_a_model_with_sets_of_records() -> None:
    model = Model(OFFICE)
    whole = exhaust(model, properties=())
    assert (whole.distinct_states, whole.generated_states) == counted(model)
    full, reduced = exhaust(model), exhaust(model, reduce=True)
    (finding,), (other,) = full.findings, reduced.findings
    assert finding.prop == other.prop == "few_entries()" and finding.trace and finding.trace.length == 3
    for name, expected in (("few_entries", ProofOutcome.VIOLATED), ("answers_follow_questions", ProofOutcome.PROVED)):
        (proof,) = prove(model, properties=model.properties_of(name), depth=4, seconds=60).proofs
        assert proof.outcome is expected


def counted(model: Model) -> tuple[int, int]:
    """The distinct and generated states that plain Python counts."""
    seen, waiting, generated = set(model.initial), list(model.initial), len(model.initial)
    while waiting:
        for _, vector in model.successors(waiting.pop()):
            generated += 1
            if vector not in seen:
                seen.add(vector)
                waiting.append(vector)
    return len(seen), generated


def test_equal_bounded_sets_have_equal_vectors_whatever_the_order_of_changes() -> None:
    model = Model(OFFICE)
    with model.active():
        a, b = Entry(at=7, by=1), Entry(at=2, by=0)
        one, other = model.state(model.initial[0]), model.state(model.initial[0])
        one.log.add(a)
        one.log.add(b)
        other.log |= {b, a}
        assert list(one.log) == list(other.log) == [b, a]
        assert repr(one.log) == "{Entry(at=2, by=0), Entry(at=7, by=1)}"
    assert model.vector(one) == model.vector(other)


def test_a_bound_is_hit_and_a_plain_limit_is_an_error() -> None:
    model = Model(OFFICE, bounds={"room": 1})
    vector = after(model, "write(0)")
    outcome = model.attempt(model.instance("write(1)"), vector)
    assert (outcome.result, outcome.bound) == (StepResult.BOUND, "room")
    with model.active():
        state = model.state(vector)
        with pytest.raises(DomainError, match="does not hold it; discard"):
            state.log.remove(Entry(at=9, by=0))
        with pytest.raises(DomainError, match="takes any record of a set"):
            state.log.pop()
        with pytest.raises(DomainError, match="holds records of Ask or Reply"):
            state.sent.add(Entry())


def test_symmetry_renames_the_records_of_a_set_and_refuses_a_bounded_one() -> None:
    model = Model(OFFICE, bounds={"nodes": 3, "room": 1})
    with pytest.raises(UsageError, match="The nodes are ordered: log is a bounded_set"):
        exhaust(model, symmetry="nodes")


def test_a_trace_shows_what_a_set_gains_and_loses() -> None:
    model = Model(OFFICE)
    before, now = after(model, "ask(0)", "write(0)"), after(model, "ask(0)", "answer(1, 0)")
    assert {str(change.path): str(change) for change in changes(model, parts_of(model), before, now)} == {
        "('sent',)": "+ Reply(by n1, to n0, those {n0})",
        "('read', Member(label='n1'))": "+ Ask(by n0)",
        "('log',)": "− Entry(at 1, by n0)",
    }
    trace = exhaust(model).findings[0].trace
    assert trace is not None
    last = itf(model, trace, "1")["states"][-1]
    assert last["sent"] == {"#set": []}
    assert last["log"]["#set"][0] == {"at": {"#bigint": "1"}, "by": {"#bigint": "0"}}
    assert [leaf.path for leaf in model.leaves[:3]] == ["sent{Ask(0)}", "sent{Ask(1)}", "sent{Reply(0,None,{})}"]


def test_too_many_records_are_refused_with_their_number_and_a_remedy() -> None:
    assert len(Model(OFFICE, bounds={"nodes": 4}).leaves) == 4 + 4 * 5 * 16 + 4 * 4 + 1 + 3 * 2
    with pytest.raises(UsageError, match=r"6 of Ask, 2,688 of Reply; at most 2,048 are allowed.*bounded_set"):
        Model(OFFICE, bounds={"nodes": 6})


@action(by=NODE)
def _in_any_order(office: Office, node: Node) -> None:
    for entry in {one for one in office.log if one.by == node}:
        office.log.discard(entry)


@action(by=NODE)
def _with_an_error(office: Office, node: Node) -> None:
    some = {m for m in office.sent if isinstance(m, Reply)}
    if any(m.to < node for m in some):  # type: ignore[operator]
        office.sent.clear()


@action(by=NODE)
def _in_place(office: Office, node: Node) -> None:
    mine = office.sent
    mine |= {Ask(by=node)}


@action(by=NODE)
def _with_an_operator_by_name(office: Office, node: Node) -> None:
    office.sent = office.sent.union({Ask(by=node)})


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (_in_any_order, r"a loop over a set\. Instead: loop over `sorted\(…\)` of it, as Python does not fix"),
        (_with_an_error, "a comprehension over a set, whose order Python does not fix, with a possible error"),
        (_in_place, "a change in place of the set 'mine', which other names may share"),
        (_with_an_operator_by_name, r"attribute 'union' of a set\. Instead: `s \| t`"),
    ],
)
def test_what_depends_on_the_order_of_a_set_is_refused(refused: object, expected: str) -> None:
    with pytest.raises(LiftError, match=expected):
        lift(Model(evolve(OFFICE, actions=(refused,), properties=())))  # type: ignore[arg-type]


def test_declarations_that_cannot_be_are_refused() -> None:
    with pytest.raises(LiftError, match="takes each class once"):
        subset(Ask, Ask)
    with pytest.raises(LiftError, match="takes one Domain, or only @value classes"):
        subset(Ask, NODES)  # type: ignore[call-overload]
    with pytest.raises(LiftError, match=r"the most records are an int of 1 or more, or a Bound"):
        bounded_set(Ask, 0)
    with pytest.raises(LiftError, match="takes a @value class"):
        bounded_set(NODES, 3)  # type: ignore[arg-type]
    with pytest.raises(LiftError, match="A fifo holds scalars"):
        fifo(subset(Ask), Bound("some"))
    with pytest.raises(LiftError, match="holds scalars, sets of members and @value records only"):

        @value
        class Wrong:
            """A record with a set that is changed in place."""

            those: set[Ask] = subset(Ask)


def test_a_set_of_many_values_is_declared_with_few_places() -> None:
    domain = Domain("d")

    @value
    class Wide:
        """Many values."""

        x: int = number(0, 5000)
        y: int = member(domain)

    assert bounded_set(Wide, 4).metadata["shape"].capacity == 4  # type: ignore[attr-defined]


@value
class Mark:
    """A record of few values."""

    by: int = member(NODES)


@state
class Board:
    """The marks of each node, and a set of nodes."""

    marks: Array[set[Mark]] = array(NODES, bounded_set(Mark, 1))
    seen: frozenset[int] = subset(NODES)


@action(by=NODE)
def mark(board: Board, node: Node) -> None:
    board.marks[node] = {Mark(by=node)}


@action(by=NODE)
def mix(board: Board, node: Node) -> None:
    board.seen = board.marks[node] ^ {node}


@action(by=NODE)
def join(board: Board, node: Node) -> None:
    board.seen = board.marks[node] | board.seen


def test_a_record_in_a_subset_of_a_domain_is_an_error_in_all_executions() -> None:
    scenario = Scenario(
        name="board",
        story="Marks on a board.",
        state=Board,
        actions=(mark, mix, join),
        properties=(),
        bounds={"nodes": 2},
    )
    model = Model(scenario)
    states = [*model.initial, after(model, "mark(0)"), *random_states(model, 40, 1)]
    assert not list(disagreements(model, states, kernel=kernel_for(model), with_z3=True))
    for key in ("mix(0)", "join(0)"):
        with pytest.raises(DomainError, match="must be a set of members of nodes"):
            model.attempt(model.instance(key), after(model, "mark(0)"))
