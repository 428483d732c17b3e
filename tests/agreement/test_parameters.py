"""Parameters that are records, subsets and arrays: names, order, all executions, symmetry, traces."""

from __future__ import annotations

import json
from typing import Annotated

import pytest
from attrs import evolve

from kwalk.model.language import (
    Array,
    DomainError,
    Fifo,
    LiftError,
    Model,
    Scenario,
    UsageError,
    action,
    always,
    array,
    fifo,
    flag,
    member,
    number,
    premise,
    require,
    state,
    subset,
    value,
)
from kwalk.model.language.containers import FrozenArray
from kwalk.model.language.lift import lift
from kwalk.reports.traces.itf import itf
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.differential import disagreements
from kwalk.search.results.verdict import Answer
from tests.agreement.chosen_sets import BALLOTS, COUNCIL, LEADER, NODES, Council, Vote, accept, begin, regroup
from tests.states import random_states


def test_arguments_are_in_the_order_of_their_vectors_and_instances_are_named_after_them() -> None:
    model = Model(COUNCIL)
    keys = [instance.key for instance in model.instances]  # also where no scenario is active
    assert keys[:4] == [
        "accept(Vote(0,None,0), {})",
        "accept(Vote(0,None,0), {2})",
        "accept(Vote(0,None,0), {1})",
        "accept(Vote(0,None,0), {1,2})",
    ]
    assert keys[8] == "accept(Vote(0,0,0), {})"
    assert len(keys) == len(set(keys)) == 2 * 4 * 8 + 64 * 2 + 3
    with model.active():
        last = model.instance("regroup([{1,2},{0}], 2)")
        assert last.description == "forms [{n1, n2}, {n0}] of size 2"
        first = model.instance("accept(Vote(1,2,0), {0,2})")
        assert first.description == "accepts Vote(ballot 1, by n2) with {n0, n2}"
        for declared in (accept, regroup):
            for parameter in declared.parameters:
                assert [parameter.parse(parameter.token(value)) for value in parameter.values] == parameter.values
                assert parameter.count == len(parameter.values)


def test_an_initial_function_chooses_an_array() -> None:
    model = Model(COUNCIL)
    assert [list(model.state(vector).awake) for vector in model.initial] == [
        [False, True, True],
        [True, False, True],
        [True, True, False],
    ]


def test_all_executions_of_such_actions_agree() -> None:
    model = Model(COUNCIL, bounds={"nodes": 2, "ballots": 2})
    states = [*model.initial, *random_states(model, 60, 1)]
    assert not list(disagreements(model, states, kernel=kernel_for(model), with_z3=True))


def test_symmetry_renames_the_members_in_sets_records_and_arrays() -> None:
    model = Model(COUNCIL)
    full, reduced = exhaust(model), exhaust(model, symmetry="nodes")
    assert full.answer is reduced.answer is Answer.HOLDS
    assert (reduced.distinct_states or 0) < (full.distinct_states or 0) / 4
    one = Model(evolve(COUNCIL, actions=(_accept_first,)))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not interchangeable: _accept_first"):
        exhaust(one, symmetry="nodes")


@state
class _Plan:
    order: Fifo[int] = fifo(NODES, NODES.bound)


@action(by=LEADER)
def _schedule(plan: _Plan, order: Annotated[tuple[int, ...], fifo(NODES, NODES.bound)]) -> None:
    require(set(order) == set(NODES) and len(order) == len(NODES) and order != plan.order)
    plan.order = order[1:] + plan.order[:1]


def test_a_sequence_is_a_tuple_of_any_length() -> None:
    model = Model(Scenario(name="plan", story="An order.", state=_Plan, actions=(_schedule,), bounds={"nodes": 3}))
    assert [instance.key for instance in model.instances][:6] == [
        "_schedule([])",
        "_schedule([0])",
        "_schedule([1])",
        "_schedule([2])",
        "_schedule([0,0])",
        "_schedule([0,1])",
    ]
    assert len(model.instances) == 1 + 3 + 9 + 27
    states = [*model.initial, *random_states(model, 40, 1)]
    assert not list(disagreements(model, states, kernel=kernel_for(model), with_z3=True))
    full, reduced = exhaust(model), exhaust(model, symmetry="nodes")
    assert full.answer is reduced.answer is Answer.HOLDS
    assert (reduced.distinct_states or 0) < (full.distinct_states or 0)


@value
class _Note:
    to: int = member(NODES)
    loud: bool = flag()


@state
class _Office:
    sent: set[_Note] = subset(_Note)
    known: Array[set[_Note]] = array(NODES, subset(_Note))
    loud: int = number(0, 9)


@action(by=LEADER, description="sends {some}")
def _send(office: _Office, some: Annotated[frozenset[_Note], subset(_Note)]) -> None:
    require(len(some) == 2 and not some & office.sent)
    office.sent |= some


@action(by=LEADER)
def _receive(office: _Office, node: Annotated[int, NODES], some: Annotated[frozenset[_Note], subset(_Note)]) -> None:
    require(office.known[node] <= some and some <= office.sent and all(note.to == node for note in some))
    office.known[node] = some
    office.loud = sum(note.loud for note in some) + 2 * len({note.to for note in some if note in office.sent})


@always()
def _known_notes_are_sent(office: _Office, some: Annotated[frozenset[_Note], subset(_Note)]) -> bool:
    premise(any(known == some for known in office.known))
    return some <= office.sent


OFFICE = Scenario(
    name="office",
    story="Notes are sent and received.",
    state=_Office,
    actions=(_send, _receive),
    properties=(_known_notes_are_sent,),
    bounds={"nodes": 2},
)


def test_a_set_of_records_is_a_parameter() -> None:
    model = Model(OFFICE)
    keys = [instance.key for instance in model.instances]
    assert keys[:4] == [
        "_send({})",
        "_send({_Note(1,1)})",
        "_send({_Note(1,0)})",
        "_send({_Note(1,0),_Note(1,1)})",
    ]
    assert len(set(keys)) == 16 + 2 * 16
    with model.active():
        last = model.instance("_send({_Note(0,1),_Note(1,0)})")
        assert last.description == "sends {_Note(to n0, loud yes), _Note(to n1, loud no)}"
        (some,) = _send.parameters
        assert [some.parse(some.token(value)) for value in some.values] == some.values
        assert some.count == len(some.values) == 16
    states = [*model.initial, *random_states(model, 60, 1)]
    assert not list(disagreements(model, states, kernel=kernel_for(model), with_z3=True))
    full, reduced = exhaust(model), exhaust(model, symmetry="nodes")
    assert full.answer is reduced.answer is Answer.HOLDS
    assert (reduced.distinct_states or 0) < (full.distinct_states or 0)


def test_a_trace_in_itf_has_sets_of_records_that_are_arguments() -> None:
    model = Model(evolve(OFFICE, properties=(_nothing_is_sent,)))
    trace = exhaust(model).findings[0].trace
    assert trace is not None
    picks = itf(model, trace, "1")["states"][1]["mbt::nondetPicks"]
    assert len(picks["some"]["value"]["#set"]) == 2


@always()
def _nothing_is_sent(office: _Office) -> bool:
    return not office.sent


@action(by=LEADER)
def _too_nested(office: _Office, some: Annotated[Array[frozenset[_Note]], array(NODES, subset(_Note))]) -> None:
    office.sent = some[0]


def test_an_array_of_sets_of_records_is_no_parameter() -> None:
    with pytest.raises(LiftError, match=r"cannot be a subset of @value classes in an array or fifo\. A parameter is"):
        Model(evolve(OFFICE, actions=(_too_nested,)))


@action(by=LEADER)
def _accept_first(council: Council, quorum: Annotated[frozenset[int], subset(NODES)]) -> None:
    if 0 in quorum:
        council.quorum = quorum


def test_a_trace_in_itf_has_the_arguments() -> None:
    model = Model(evolve(COUNCIL, properties=(_never_grouped,)))  # type: ignore[arg-type]
    trace = exhaust(model).findings[0].trace
    assert trace is not None
    steps = itf(model, trace, "1")["states"]
    picks = next(one["mbt::nondetPicks"] for one in steps if one["mbt::actionTaken"] == "regroup")
    assert picks["groups"]["value"]["#map"][0][1]["#set"]
    assert steps[0]["mbt::nondetPicks"]["vote"] == {"tag": "None", "value": {"#tup": []}}
    assert json.dumps(steps)


@always()
def _never_grouped(council: Council) -> bool:
    return len(council.groups[0]) < 2


def test_an_argument_never_changes() -> None:
    model = Model(evolve(COUNCIL, actions=(_change,)))  # type: ignore[arg-type]
    with pytest.raises(LiftError, match=r"a write to an argument, which never changes.*a copy in a field"):
        lift(model)
    with pytest.raises(DomainError, match="An argument never changes"):
        model.attempt(model.instances[0], model.initial[0])


@action(by=LEADER)
def _change(council: Council, awake: Annotated[Array[bool], array(NODES, flag())]) -> None:
    awake[0] = True


def test_arrays_that_are_arguments_equal_those_of_the_state() -> None:
    model = Model(COUNCIL)
    with model.active():
        chosen = begin.__annotations__ and next(iter(accept.parameters[0].values))
        first = FrozenArray(regroup.parameters[0].domain, [frozenset(), frozenset({1})])  # type: ignore[arg-type]
        state = model.state(model.initial[0])
        assert chosen == Vote(ballot=0, by=None)
        assert (state.groups == first, first == state.groups) == (False, False)
        state.groups = first
        assert state.groups == first and first == state.groups and hash(first) == hash(first)
        state.groups[0] = frozenset({0})
        assert first[0] == frozenset()


def test_too_many_instances_are_refused_with_their_number() -> None:
    with pytest.raises(UsageError, match=r"regroup alone has 549,755,813,888: 274,877,906,944 of groups x 2 of size"):
        Model(COUNCIL, bounds={"nodes": 19})


def test_an_empty_domain_of_a_parameter_is_refused() -> None:
    scenario: Scenario = evolve(COUNCIL, bounds={"nodes": 3, "ballots": 0, "weights": 0})
    with pytest.raises(UsageError, match="'ballots' must be 1 or more"):
        Model(scenario)
    assert BALLOTS.name == "ballots"
