"""Statements: one small function per construct. A block is executed until no path is left in it."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from kwalk.model.language.errors import Abort
from kwalk.model.language.lift.access import attribute, element, write_attribute
from kwalk.model.language.lift.comprehensions import bind_target, rounds_of
from kwalk.model.language.lift.containers import store_element
from kwalk.model.language.lift.expressions import evaluate
from kwalk.model.language.lift.kinds import ValueKind, kind_of
from kwalk.model.language.lift.machine import SymbolicMachine, SymbolicState, Unreachable
from kwalk.model.language.lift.operators import binary
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.truth import truth
from kwalk.model.language.lift.values import Reference, Refused, describe


def execute(m: SymbolicMachine, body: list[ast.stmt]) -> None:
    """Execute statements in order; afterwards `m.state` is None if no path reaches the end."""
    for statement in body:
        if m.state is None:
            return
        handler = STATEMENTS.get(type(statement))
        m.coverage.statements.add(statement)
        try:
            if handler is None:
                raise Refused(f"the statement {type(statement).__name__}", ADVICE.get(type(statement), USUAL))
            handler(m, statement)
        except Unreachable:
            m.state = None
        except Refused as problem:
            raise m.locate(statement, problem) from None


USUAL = "one of the statements that docs/reference/language.md lists"
ADVICE: dict[type[ast.stmt], str] = {
    ast.While: "a `for` over a domain or range, with `break`",
    ast.FunctionDef: "a function at module level",
    ast.With: "plain statements",
    ast.Match: "`if` and `elif`",
    ast.Delete: "an assignment of None",
    ast.Global: "a field of the state",
    ast.Import: "an import at the top of the module",
    ast.ImportFrom: "an import at the top of the module",
}


def _expression(m: SymbolicMachine, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(m, node.value)


def _assign(m: SymbolicMachine, node: ast.Assign) -> None:
    value = evaluate(m, node.value)
    for target in node.targets:
        store(m, target, value)


def _annotated(m: SymbolicMachine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        store(m, node.target, evaluate(m, node.value))


def store(m: SymbolicMachine, target: ast.expr, value: Any) -> None:
    """Assign a value to a name, attribute, element, or tuple of those."""
    if isinstance(target, ast.Name):
        m.now.local[target.id] = value
    elif isinstance(target, ast.Attribute):
        write_attribute(m, evaluate(m, target.value), target.attr, value)
    elif isinstance(target, ast.Subscript):
        if isinstance(target.slice, ast.Slice):
            raise Refused("a write to a slice", "an assignment of the whole, such as `q = q[:i] + [x] + q[i + 1:]`")
        store_element(m, evaluate(m, target.value), evaluate(m, target.slice), value)
    elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        objects = [part for part, item in zip(target.elts, value, strict=True) if isinstance(item, Reference)]
        if any(not isinstance(part, ast.Name) for part in objects[:-1]):
            what = "an assignment of several objects at once: the first copies into what the next ones may be"
            raise Refused(what, "one after the other, in the order that is meant")
        for part, item in zip(target.elts, value, strict=True):
            store(m, part, item)
    else:
        what = f"an assignment of {describe(value)} to {ast.unparse(target)}"
        raise Refused(what, "one name, attribute or element a time")


def _augmented(m: SymbolicMachine, node: ast.AugAssign) -> None:
    target, op = node.target, type(node.op)
    if isinstance(target, ast.Name):
        old = evaluate(m, ast.copy_location(ast.Name(target.id), target))
        _refuse_change_in_place(old, target.id)
        m.now.local[target.id] = binary(m, op, old, evaluate(m, node.value))
    elif isinstance(target, ast.Attribute):
        owner = evaluate(m, target.value)
        write_attribute(m, owner, target.attr, binary(m, op, attribute(m, owner, target.attr), evaluate(m, node.value)))
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(m, target.value), evaluate(m, target.slice)
        old = element(m, owner, index)
        if kind_of(owner) is ValueKind.LIST:
            _refuse_change_in_place(old, ast.unparse(target))
        store_element(m, owner, index, binary(m, op, old, evaluate(m, node.value)))


def _refuse_change_in_place(old: Any, name: str) -> None:
    """Refuse `+=` and the like of a set or list: in Python, they change it for all names that it has.

    Raises:
        Refused: it is one.
    """
    kind, instead = kind_of(old), f"`{name} = {name} …`, with the operator and its operand"
    if kind in (ValueKind.SET, ValueKind.RECORD_SET):
        raise Refused(f"a change in place of the set {name!r}, which other names may share", instead)
    if kind is ValueKind.LIST or (kind is ValueKind.VARYING and old.of is list):
        raise Refused(f"a change in place of the list {name!r}, which other names may share", instead)


def _assert(m: SymbolicMachine, node: ast.Assert) -> None:
    """`assert condition`: an error of the model where the condition is false; afterwards it is known to be true."""
    holds = truth(m, evaluate(m, node.test))
    m.error(m.terms.negation(holds), f"the assertion `{ast.unparse(node.test)[:80]}` is false")


# Branches and loops.


def _if(m: SymbolicMachine, node: ast.If) -> None:
    branch(m, truth(m, evaluate(m, node.test)), node.body, node.orelse)


def branch(m: SymbolicMachine, condition: Term, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
    """Execute one block where the condition is true and another where it is false, and join the paths that are left."""
    condition = m.simplify(condition)
    if condition.op == "bool":
        execute(m, body if condition.payload else orelse)
        return
    base = m.now
    ends: list[tuple[SymbolicState, Any]] = []
    for test, block in ((condition, body), (m.terms.negation(condition), orelse)):
        m.state = base.fork()
        m.state.take(m.terms, test)
        execute(m, block)
        if m.state is not None:
            ends.append((m.state, None))
    m.join(base, ends)


def _for(m: SymbolicMachine, node: ast.For) -> None:
    if node.orelse:
        raise Refused("`else` after a loop", "a flag that the loop sets")
    rounds = rounds_of(m, evaluate(m, node.iter))
    for_rounds = _loop_with_jumps if _has_jumps(node) else _plain_loop
    for_rounds(m, [(present, [_Bind(node.target, item), *node.body]) for present, item in rounds])


@lru_cache(maxsize=1 << 12)  # trees of mutants come and go
def _has_jumps(node: ast.For) -> bool:
    return any(isinstance(inner, (ast.Break, ast.Continue)) for inner in ast.walk(node))


def _plain_loop(m: SymbolicMachine, rounds: list[tuple[Term, list[ast.stmt]]]) -> None:
    for present, body in rounds:
        if m.state is not None:
            branch(m, present, body, [])


def _loop_with_jumps(m: SymbolicMachine, rounds: list[tuple[Term, list[ast.stmt]]]) -> None:
    frame, base = m.frames[-1], m.now.fork()
    frame.breaks.append([])
    for present, body in rounds:
        if m.state is None:
            break
        start = m.now.fork()
        frame.continues.append([])
        branch(m, present, body, [])
        _join_jumps(m, start, frame.continues.pop())
    _join_jumps(m, base, frame.breaks.pop())


def _join_jumps(m: SymbolicMachine, base: SymbolicState, jumped: list[SymbolicState]) -> None:
    """Join the paths that jumped to here with the one that came without a jump."""
    m.join(base, [(state, None) for state in (*jumped, *([m.state] if m.state is not None else []))])


class _Bind(ast.stmt):
    """The assignment of a loop's item, which is read at the beginning of the round, to its target."""

    def __init__(self, target: ast.expr, item: Callable[[], Any]) -> None:
        super().__init__()
        self.target, self.item = target, item
        ast.copy_location(self, target)


def _bind(m: SymbolicMachine, node: _Bind) -> None:
    m.now.local.update(bind_target(node.target, node.item(), m))


def _break(m: SymbolicMachine, node: ast.Break) -> None:
    m.frames[-1].breaks[-1].append(m.now)
    m.state = None


def _continue(m: SymbolicMachine, node: ast.Continue) -> None:
    m.frames[-1].continues[-1].append(m.now)
    m.state = None


# Leaving.


def _return(m: SymbolicMachine, node: ast.Return) -> None:
    value = None if node.value is None else evaluate(m, node.value)
    m.frames[-1].returns.append((m.now, value))
    m.state = None


def _raise(m: SymbolicMachine, node: ast.Raise) -> None:
    raised = None if node.exc is None else evaluate(m, node.exc)
    if not (isinstance(raised, type) and issubclass(raised, Abort)):
        raise Refused(f"a raise of {describe(raised)}", "a class derived from kwalk.model.language.Abort")
    if (raised.__init__, raised.__new__) != (Abort.__init__, Abort.__new__):
        raise Refused(f"a raise of {raised.__name__}, which has an `__init__` or `__new__`", "an abort without one")
    if m.pure_below:
        what = "an abort from an expression that Python may not evaluate"
        raise Refused(what, "make the call a statement of its own")
    m.aborts.append((m.now, raised))
    m.state = None


def _try(m: SymbolicMachine, node: ast.Try) -> None:
    if node.orelse or node.finalbody or len(node.handlers) != 1:
        raise Refused("`try` with anything but one `except`", "try … except SomeAbort")
    wanted = None if node.handlers[0].type is None else evaluate(m, node.handlers[0].type)
    if not (isinstance(wanted, type) and issubclass(wanted, Abort)) or node.handlers[0].name:
        raise Refused("`except` of anything but a named abort", "except SomeAbort, a class derived from Abort")
    base, outer = m.now, m.aborts
    m.state, m.aborts = base.fork(), []
    execute(m, node.body)
    ends = [] if m.state is None else [(m.state, None)]
    caught = [(state, None) for state, kind in m.aborts if issubclass(kind, wanted)]
    outer.extend((state, kind) for state, kind in m.aborts if not issubclass(kind, wanted))
    m.aborts = outer
    if caught:
        ends += _handle(m, base, caught, node.handlers[0].body)
    m.join(base, ends)


def _handle(
    m: SymbolicMachine, base: SymbolicState, caught: list[tuple[SymbolicState, Any]], body: list[ast.stmt]
) -> list[tuple[SymbolicState, Any]]:
    m.join(base, caught)
    execute(m, body)
    return [] if m.state is None else [(m.state, None)]


STATEMENTS: dict[type[ast.stmt], Callable[[SymbolicMachine, Any], None]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated,
    ast.AugAssign: _augmented,
    ast.If: _if,
    ast.For: _for,
    _Bind: _bind,
    ast.Break: _break,
    ast.Continue: _continue,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Try: _try,
    ast.Assert: _assert,
    ast.Pass: lambda m, node: None,
}
