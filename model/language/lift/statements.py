"""Statements: one small function per construct. A block is run until no path is left in it."""
from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from model.language.errors import Abort
from model.language.lift.comprehensions import bind_target, items_of
from model.language.lift.expressions import evaluate
from model.language.lift.machine import Machine, Unreachable
from model.language.lift.operators import binary
from model.language.lift.places import attribute, element, write_attribute, write_element
from model.language.lift.terms import Term
from model.language.lift.values import Refused, describe
from model.language.lift.world import World


def execute(m: Machine, body: list[ast.stmt]) -> None:
    """Run statements in order; afterwards `m.world` is None if no path reaches the end."""
    for statement in body:
        if m.world is None:
            return
        rule = STATEMENTS.get(type(statement))
        m.coverage.statements.add(statement)
        try:
            if rule is None:
                raise Refused(f"the statement {type(statement).__name__}", ADVICE.get(type(statement), USUAL))
            rule(m, statement)
        except Unreachable:
            m.world = None
        except Refused as problem:
            raise m.locate(statement, problem) from None


USUAL = "one of the statements that docs/reference/language.md lists"
ADVICE: dict[type[ast.stmt], str] = {
    ast.While: "a `for` over a domain or range, with `break`",
    ast.FunctionDef: "a function at module level",
    ast.With: "plain statements",
    ast.Match: "`if` and `elif`",
    ast.Assert: "`require` for a guard, an invariant for what must hold",
    ast.Delete: "an assignment of None",
    ast.Global: "a field of the state",
    ast.Import: "an import at the top of the module",
    ast.ImportFrom: "an import at the top of the module",
}


def _expression(m: Machine, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        evaluate(m, node.value)


def _assign(m: Machine, node: ast.Assign) -> None:
    value = evaluate(m, node.value)
    for target in node.targets:
        store(m, target, value)


def _annotated(m: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        store(m, node.target, evaluate(m, node.value))


def store(m: Machine, target: ast.expr, value: Any) -> None:
    """Assign a value to a name, attribute, element, or tuple of those."""
    if isinstance(target, ast.Name):
        m.now.local[target.id] = value
    elif isinstance(target, ast.Attribute):
        write_attribute(m, evaluate(m, target.value), target.attr, value)
    elif isinstance(target, ast.Subscript):
        write_element(m, evaluate(m, target.value), evaluate(m, target.slice), value)
    elif isinstance(target, ast.Tuple) and isinstance(value, tuple) and len(value) == len(target.elts):
        for part, item in zip(target.elts, value, strict=True):
            store(m, part, item)
    else:
        what = f"an assignment of {describe(value)} to {ast.unparse(target)}"
        raise Refused(what, "one name, attribute or element a time")


def _augmented(m: Machine, node: ast.AugAssign) -> None:
    target, op = node.target, type(node.op)
    if isinstance(target, ast.Name):
        old = evaluate(m, ast.copy_location(ast.Name(target.id), target))
        m.now.local[target.id] = binary(m, op, old, evaluate(m, node.value))
    elif isinstance(target, ast.Attribute):
        owner = evaluate(m, target.value)
        write_attribute(m, owner, target.attr, binary(m, op, attribute(m, owner, target.attr), evaluate(m, node.value)))
    elif isinstance(target, ast.Subscript):
        owner, index = evaluate(m, target.value), evaluate(m, target.slice)
        write_element(m, owner, index, binary(m, op, element(m, owner, index), evaluate(m, node.value)))


# Branches and loops.


def _if(m: Machine, node: ast.If) -> None:
    branch(m, m.values.truth(evaluate(m, node.test)), node.body, node.orelse)


def branch(m: Machine, condition: Term, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
    """Run one block where the condition holds and another where it does not, and join what is left of them."""
    condition = m.settle(condition)
    if condition.op == "bool":
        execute(m, body if condition.payload else orelse)
        return
    base = m.now
    ends: list[tuple[World, Any]] = []
    for test, block in ((condition, body), (m.terms.negation(condition), orelse)):
        m.world = base.fork()
        m.world.take(m.terms, test)
        execute(m, block)
        if m.world is not None:
            ends.append((m.world, None))
    m.join(base, ends)


def _for(m: Machine, node: ast.For) -> None:
    if node.orelse:
        raise Refused("`else` after a loop", "a flag that the loop sets")
    items = items_of(m, evaluate(m, node.iter))
    leaves = any(isinstance(inner, (ast.Break, ast.Continue)) for inner in ast.walk(node))
    for_items = _loop_with_jumps if leaves else _plain_loop
    for_items(m, [(present, [_Bind(node.target, value), *node.body]) for present, value in items])


def _plain_loop(m: Machine, rounds: list[tuple[Term, list[ast.stmt]]]) -> None:
    for present, body in rounds:
        if m.world is not None:
            branch(m, present, body, [])


def _loop_with_jumps(m: Machine, rounds: list[tuple[Term, list[ast.stmt]]]) -> None:
    frame, base = m.frames[-1], m.now.fork()
    frame.breaks.append([])
    for present, body in rounds:
        if m.world is None:
            break
        start = m.now.fork()
        frame.continues.append([])
        branch(m, present, body, [])
        _go_on(m, start, frame.continues.pop())
    _go_on(m, base, frame.breaks.pop())


def _go_on(m: Machine, base: World, jumped: list[World]) -> None:
    """Join the paths that jumped to here with the one that walked."""
    m.join(base, [(world, None) for world in (*jumped, *([m.world] if m.world is not None else []))])


class _Bind(ast.stmt):
    """The assignment of a loop's item to its target."""

    def __init__(self, target: ast.expr, value: Any) -> None:
        super().__init__()
        self.target, self.value = target, value
        ast.copy_location(self, target)


def _bind(m: Machine, node: _Bind) -> None:
    m.now.local.update(bind_target(node.target, node.value, m))


def _break(m: Machine, node: ast.Break) -> None:
    m.frames[-1].breaks[-1].append(m.now)
    m.world = None


def _continue(m: Machine, node: ast.Continue) -> None:
    m.frames[-1].continues[-1].append(m.now)
    m.world = None


# Leaving.


def _return(m: Machine, node: ast.Return) -> None:
    value = None if node.value is None else evaluate(m, node.value)
    m.frames[-1].returns.append((m.now, value))
    m.world = None


def _raise(m: Machine, node: ast.Raise) -> None:
    raised = None if node.exc is None else evaluate(m, node.exc)
    if not (isinstance(raised, type) and issubclass(raised, Abort)):
        raise Refused(f"a raise of {describe(raised)}", "a class derived from model.language.Abort")
    if m.pure_below:
        what = "an abort from an expression that Python may not evaluate"
        raise Refused(what, "make the call a statement of its own")
    m.aborts.append((m.now, raised))
    m.world = None


def _try(m: Machine, node: ast.Try) -> None:
    if node.orelse or node.finalbody or len(node.handlers) != 1:
        raise Refused("`try` with anything but one `except`", "try … except SomeAbort")
    wanted = None if node.handlers[0].type is None else evaluate(m, node.handlers[0].type)
    if not (isinstance(wanted, type) and issubclass(wanted, Abort)) or node.handlers[0].name:
        raise Refused("`except` of anything but a named abort", "except SomeAbort, a class derived from Abort")
    base, outer = m.now, m.aborts
    m.world, m.aborts = base.fork(), []
    execute(m, node.body)
    ends = [] if m.world is None else [(m.world, None)]
    caught = [(world, None) for world, kind in m.aborts if issubclass(kind, wanted)]
    outer.extend((world, kind) for world, kind in m.aborts if not issubclass(kind, wanted))
    m.aborts = outer
    if caught:
        ends += _handle(m, base, caught, node.handlers[0].body)
    m.join(base, ends)


def _handle(m: Machine, base: World, caught: list[tuple[World, Any]], body: list[ast.stmt]) -> list[tuple[World, Any]]:
    m.join(base, caught)
    execute(m, body)
    return [] if m.world is None else [(m.world, None)]


STATEMENTS: dict[type[ast.stmt], Callable[[Machine, Any], None]] = {
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
    ast.Pass: lambda m, node: None,
}
