"""Truth values, and `is`: the rules of conditions."""

from __future__ import annotations

from typing import Any

from kwalk.model.language.lift import containers
from kwalk.model.language.lift.kinds import ValueKind as K
from kwalk.model.language.lift.machine import SymbolicMachine
from kwalk.model.language.lift.rules import DATA, MEMBERS, RECORDS, SCALARS, Operation, apply, refusal, rule
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import Bool, Mixed, Reference


def truth(m: SymbolicMachine, value: Any) -> Term:
    """Return the term of the truth that Python gives to a value."""
    if type(value) is Bool:
        return value.term
    if type(value) is bool:
        return m.terms.boolean(value)
    term: Term = apply(m, Operation.TRUTH, value)
    return term


@rule(Operation.TRUTH, (*SCALARS, *RECORDS, K.SET, K.VARYING))
def _of_value(m: SymbolicMachine, value: Any) -> Term:
    return m.values.truth(value)


@rule(Operation.TRUTH, (K.TUPLE, K.RANGE))
def _of_constant_length(m: SymbolicMachine, value: Any) -> Term:
    return m.terms.boolean(len(value) > 0)


@rule(Operation.TRUTH, (K.LIST,))
def _of_list(m: SymbolicMachine, value: Reference) -> Term:
    return m.terms.boolean(len(value.sample.items) > 0)


@rule(Operation.TRUTH, (K.MIXED,))
def _of_mixed(m: SymbolicMachine, value: Mixed) -> Term:
    if value.truth is None:
        raise refusal(Operation.TRUTH, (value,), (K.MIXED,))
    return value.truth


@rule(Operation.TRUTH, (K.FIFO,))
def _of_fifo(m: SymbolicMachine, value: Reference) -> Term:
    return m.terms.negation(m.values.truth(containers.is_empty(m, value)))


@rule(Operation.IS, (K.NONE,), (*DATA, K.RANGE))
def _none_is(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.values.is_none(right)


@rule(Operation.IS, (*DATA, K.RANGE), (K.NONE,))
def _is_none(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.values.is_none(left)


@rule(Operation.IS, MEMBERS, MEMBERS)
def _same_member(m: SymbolicMachine, left: Any, right: Any) -> Term:
    return m.values.equal(left, right)
