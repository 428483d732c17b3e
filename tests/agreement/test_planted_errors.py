"""The agreement suite detects a wrong lifting of every construct: each is planted, and must be found."""

from __future__ import annotations

import ast

import pytest

from kwalk.model.language import DomainError, Model
from kwalk.model.language.errors import KwalkError
from kwalk.model.language.lift import (
    access,
    calls,
    comprehensions,
    containers,
    expressions,
    lifting,
    machine,
    operators,
    sets,
    statements,
)
from kwalk.model.language.lift.machine import ConditionKind, Unreachable
from kwalk.model.language.lift.rules import Operation, apply
from kwalk.model.language.lift.terms import Terms
from kwalk.model.language.lift.truth import truth
from kwalk.model.language.lift.values import Set, Values, bool_value, int_value
from kwalk.search.kernel.differential import disagreements
from tests.agreement.zoo import ZOO
from tests.states import random_states, reachable_states

OPERATIONS = containers.OPERATIONS
BUILTINS = calls.BUILTINS


def both_branches(m, condition, body, orelse):
    statements.execute(m, [*body, *orelse])


def unmasked(m, cell, value, condition):
    m.now.store[cell.key] = value


def only_first(handler):
    return lambda m, index, size, wraps: handler(m, index, size, wraps=wraps)[:1]


def swapped_conditional(m, node):
    return expressions._conditional(m, ast.IfExp(node.test, node.orelse, node.body))


def evaluates_nothing_more(m, node):
    return expressions.evaluate(m, node.values[0])


def without_facts(m, node, value, rest):
    """Both operands always, each under no assumption: what a naive lifting of `and` does."""
    values = [value, *(expressions.evaluate(m, r) for r in rest)]
    join = m.terms.conjunction if isinstance(node.op, ast.And) else m.terms.disjunction
    return bool_value(join(truth(m, v) for v in values))


def last_link(m, left, links):
    op, right = links[-1]
    return expressions.compare(m, op, left, expressions.evaluate(m, right))


def no_jump(m, node):
    return None


def forgets_handler(m, base, caught, body):
    return []


def abort_undoes(m, node):
    raise Unreachable


def first_item_only(m, iterable):
    return REAL["rounds_of"](m, iterable)[:1]


def shares_fields(self, condition, a, b, cls):
    return a


def drops(kind):
    def add_condition(self, given, condition, name=""):
        if given is not kind:
            REAL["add_condition"](self, given, condition, name)

    return add_condition


def size_minus_one(m, thing):
    length = BUILTIN_LENGTH(m, thing)
    return length - 1 if isinstance(length, int) else int_value(m.terms.add(length.term, m.terms.integer(-1)))


def all_members(m, iterable):
    return [(m.terms.true, member) for _, member in ASCENDING(m, iterable)]


def the_other_way_round(m, iterable, reverse=False):
    return BUILTIN_SORTED(m, iterable, reverse=not reverse)


def always_inside(m, operation, *operands, **more):
    return m.terms.true if operation is Operation.CONTAINS else apply(m, operation, *operands, **more)


ASCENDING = calls._ascending
BUILTIN_LENGTH = BUILTINS[len]
BUILTIN_SORTED = BUILTINS[sorted]
REAL = {"rounds_of": comprehensions.rounds_of, "add_condition": machine.SymbolicMachine.add_condition}


def item(mapping, key, wrong):
    return lambda patch: patch.setitem(mapping, key, wrong)


def name(module, attribute, wrong):
    return lambda patch: patch.setattr(module, attribute, wrong)


def default_argument(m, function, declared, args, keywords):
    bound = calls_bind(m, function, declared, args, keywords)
    return {key: (0 if value == 1 and type(value) is int else value) for key, value in bound.items()}


calls_bind = calls._bind_arguments

PLANTED = {
    "if runs both branches": name(statements, "branch", both_branches),
    "writes are not masked": name(access, "write_cell", unmasked),
    "writes to queues are not masked": name(containers, "write_cell", unmasked),
    "an early return continues": item(statements.STATEMENTS, ast.Return, no_jump),
    "break does nothing": item(statements.STATEMENTS, ast.Break, no_jump),
    "continue does nothing": item(statements.STATEMENTS, ast.Continue, no_jump),
    "an abort undoes what was done": item(statements.STATEMENTS, ast.Raise, abort_undoes),
    "an abort continues": item(statements.STATEMENTS, ast.Raise, no_jump),
    "except does not run": name(statements, "_handle", forgets_handler),
    "a loop runs once": name(statements, "rounds_of", first_item_only),
    "a comprehension has one item": name(comprehensions, "rounds_of", first_item_only),
    "augmented assignment does nothing": item(statements.STATEMENTS, ast.AugAssign, no_jump),
    "the arms of if-else are swapped": item(expressions.EXPRESSIONS, ast.IfExp, swapped_conditional),
    "and/or stop after the first": item(expressions.EXPRESSIONS, ast.BoolOp, evaluates_nothing_more),
    "and/or evaluate all operands": name(expressions, "_and_or", without_facts),
    "a chain keeps its last link": name(expressions, "_chain", last_link),
    "not is dropped": name(Terms, "negation", lambda self, a: a),
    "in is always true": name(operators, "apply", always_inside),
    "== is always false": name(Values, "_equal_scalars", lambda self, a, b: self.terms.false),
    "records are never equal": name(Values, "_equal_records", lambda self, a, b, cls: self.terms.false),
    "None is never met": name(Values, "is_none", lambda self, value: self.terms.false),
    "< is <=": name(Terms, "less", lambda self, a, b, real=Terms.less: self.negation(real(self, b, a))),
    "+ is -": name(Terms, "add", lambda self, a, b: self.subtract(a, b)),
    "* loses its factor": name(Terms, "times", lambda self, a, factor: a),
    "// loses its divisor": name(Terms, "quotient", lambda self, a, divisor: a),
    "% loses its divisor": name(Terms, "remainder", lambda self, a, divisor: a),
    "a symbolic index is the first": name(access, "positions", only_first(access.positions)),
    "stored records are shared": name(Values, "_choose_records", shares_fields),
    "choice between records keeps the first": name(Values, "_choose_references", lambda self, c, a, b: a),
    "sets keep the left side": name(sets, "combined", lambda m, operation, left, right: m.values.as_set(left)),
    "subset is always true": name(operators, "_subset", lambda m, op, left, right: m.terms.true),
    "a set of possibilities is empty": name(sets, "made_set", lambda m, items: Set({})),
    "any is all": item(BUILTINS, any, BUILTINS[all]),
    "all is any": item(BUILTINS, all, BUILTINS[any]),
    "min is max": item(BUILTINS, min, BUILTINS[max]),
    "max is min": item(BUILTINS, max, BUILTINS[min]),
    "abs does nothing": item(BUILTINS, abs, lambda m, value: value),
    "len is one less": item(BUILTINS, len, size_minus_one),
    "sum ignores conditions": item(BUILTINS, sum, lambda m, iterable, start=0: start),
    "a sorted set is descending": item(
        BUILTINS, sorted, lambda m, s, reverse=False: BUILTIN_SORTED(m, s, reverse=not reverse)
    ),
    "a sorted set has all members": name(calls, "_ascending", all_members),
    "assertions are dropped": item(statements.STATEMENTS, ast.Assert, no_jump),
    "next gives the default": item(BUILTINS, next, lambda m, iterable, default=None: default),
    "evolve changes nothing": item(BUILTINS, __import__("attrs").evolve, lambda m, record, **changes: record),
    "push drops the element": item(OPERATIONS, "push", lambda m, reference, value: None),
    "pop leaves the head": item(OPERATIONS, "pop", containers.head),
    "clear does nothing": item(OPERATIONS, "clear", lambda m, reference: None),
    "starts_with ignores the value": item(OPERATIONS, "starts_with", lambda m, r, value: not containers.is_empty(m, r)),
    "take gives the same id": item(OPERATIONS, "take", lambda m, reference: 0),
    "guards are dropped": name(machine.SymbolicMachine, "add_condition", drops(ConditionKind.DISABLED)),
    "bounds are dropped": name(machine.SymbolicMachine, "add_condition", drops(ConditionKind.BOUND)),
    "errors are dropped": name(machine.SymbolicMachine, "add_condition", drops(ConditionKind.ERROR)),
    "arguments are mixed up": name(calls, "_bind_arguments", default_argument),
    "the guard is always true": name(lifting, "_guard", lambda terms, given: (terms.true, tuple(given))),
}
"""Each wrong lifting by its effect; the value plants it."""


@pytest.fixture(scope="module")
def states():
    model = Model(ZOO)
    return [*reachable_states(model, 60, seed=5), *random_states(model, 120, seed=6)]


@pytest.mark.parametrize("wrong", PLANTED)
def test_a_planted_wrong_lifting_is_caught(wrong, states, monkeypatch):
    PLANTED[wrong](monkeypatch)
    try:
        found = next(disagreements(Model(ZOO), states), None)
    except (KwalkError, AssertionError, RecursionError, AttributeError, TypeError) as loud:
        assert not isinstance(loud, DomainError)
        return
    assert found is not None, f"not detected: {wrong}"


def test_without_a_planted_error_the_zoo_agrees(states):
    assert next(disagreements(Model(ZOO), states), None) is None
