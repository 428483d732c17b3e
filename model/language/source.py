"""The source of a model's functions as syntax trees, and functions that have another body for a while.

Plain execution uses a function's code, lifting its tree. `replaced` exchanges both, so that the two remain equivalent.
"""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any

from kwalk.model.language.errors import LiftError

Function = Callable[..., Any]
"""A plain Python function, with its code and globals."""

INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""What has names of its own, and is executed at another time."""
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NAMING = (*INNER, ast.ExceptHandler, ast.alias, ast.MatchAs, ast.MatchStar, ast.MatchMapping)
"""What gives a name a value without an `ast.Name`."""
OF_WHOLE_FUNCTION: dict[type[ast.AST], str] = {
    ast.Global: "a field of the state",
    ast.Nonlocal: "a field of the state",
    ast.Yield: "a list or tuple",
    ast.YieldFrom: "a list or tuple",
}
"""What decides, wherever it stands, what all of a function means; and what to write instead."""
REWRITTEN = "@pytest_ar"
"""A name in the modules whose assertions pytest has rewritten."""
_trees: dict[Function, tuple[CodeType, ast.FunctionDef]] = {}
"""The tree of each function with the code that it belongs to: tools that load modules again replace the code."""


def source_of(function: Function) -> ast.FunctionDef:
    """Return the syntax tree of a function, with the line numbers of its file.

    Raises:
        LiftError: its source is not available.
    """
    code: CodeType | None = getattr(function, "__code__", None)
    known = _trees.get(function)
    if known is None or known[0] is not code:
        parsed = _parsed(function)
        known = _trees[function] = function.__code__, parsed
    return known[1]


def local_names(definition: ast.FunctionDef) -> frozenset[str]:
    """Return the names that are local to a function because its body assigns them, apart from its parameters."""
    known: frozenset[str] | None = getattr(definition, "_local_names", None)
    if known is None:
        known = frozenset(target_names(definition.body))
        definition._local_names = known  # type: ignore[attr-defined]
    return known


def target_names(nodes: Iterable[ast.AST], *, of_comprehension: bool = False) -> Iterator[str]:
    """Yield the names to which some nodes give a value, executed or not, or of which they take it away.

    Those of comprehensions are not among them, but for `:=`, nor are those within inner functions and classes.
    """
    for node in nodes:
        if isinstance(node, ast.NamedExpr):
            yield node.target.id
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and not of_comprehension:
            yield node.id
        elif isinstance(node, NAMING):
            names = (getattr(node, kind, None) for kind in ("asname", "rest", "name"))
            yield next(filter(None, names), "").partition(".")[0]
        if not isinstance(node, INNER):
            inside = of_comprehension or isinstance(node, COMPREHENSIONS)
            yield from target_names(ast.iter_child_nodes(node), of_comprehension=inside)


def _parsed(function: Function) -> ast.FunctionDef:
    code = function.__code__
    if hasattr(function, "__wrapped__"):
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: cannot translate this: {function.__qualname__} is wrapped by a "
            "decorator. Instead: a function without a decorator that calls the other one."
        )
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError) as error:
        what = f"The source of {function.__qualname__} is not to be found ({error}); put it in a file."
        raise LiftError(what) from None
    definition = _first_statement("".join(lines), first)
    if not isinstance(definition, ast.FunctionDef):
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: cannot translate this: a lambda or async function. "
            "Instead: an ordinary `def`."
        )
    _mangle(definition, code.co_qualname)
    _refuse_another_source(function, definition)
    _refuse_what_need_not_be_executed(code, definition.body)
    return definition


def _mangle(definition: ast.FunctionDef, qualname: str) -> None:
    """Give private names, such as `__name`, of a function in a class those that Python gives them."""
    *around, _ = qualname.split(".")
    while around[-1:] == ["<locals>"]:
        around = around[:-2]
    cls = around[-1].lstrip("_") if around else ""
    for node in ast.walk(definition) if cls else ():
        kind = {ast.Name: "id", ast.Attribute: "attr", ast.arg: "arg"}.get(type(node))
        name = getattr(node, kind) if kind else ""
        if kind and name.startswith("__") and not name.endswith("__"):
            setattr(node, kind, f"_{cls}{name}")


def _refuse_what_need_not_be_executed(code: CodeType, nodes: Iterable[ast.AST]) -> None:
    """Refuse what changes the meaning of the function even in a branch that is never taken, and so is never lifted."""
    for node in nodes:
        instead = OF_WHOLE_FUNCTION.get(type(node))
        if instead is not None:
            raise LiftError(
                f"{code.co_filename}:{getattr(node, 'lineno', code.co_firstlineno)}: cannot translate this: "
                f"`{ast.unparse(node)[:60]}`. Instead: {instead}."
            )
        if not isinstance(node, INNER):
            _refuse_what_need_not_be_executed(code, ast.iter_child_nodes(node))


def _first_statement(source: str, first: int) -> ast.stmt:
    """Parse a statement, which may be indented, as it stands in its file: its strings keep their indentation."""
    indented = source[0].isspace()
    tree = ast.parse(f"if True:\n{source}" if indented else source)
    ast.increment_lineno(tree, first - 1 - indented)
    outer = tree.body[0]
    return outer.body[0] if indented and isinstance(outer, ast.If) else outer


def _refuse_another_source(function: Function, definition: ast.FunctionDef) -> None:
    """Refuse a function whose source is not what its code was compiled from: the file has changed since the import.

    Code with variables of a function around it, and code that pytest has rewritten, is compared within its file only.
    """
    code: CodeType = function.__code__
    here, is_rewritten = effect_of(code), REWRITTEN in function.__globals__
    if not code.co_freevars and not is_rewritten and effect_of(_compiled(function, definition)) == here:
        return
    if here not in map(effect_of, _compiled_in_file(code, is_rewritten=is_rewritten)):
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: the source of {function.__qualname__} has changed since Python "
            "read it, and Python runs what it was before. Restart Python, or reload the module."
        )


def _compiled_in_file(code: CodeType, *, is_rewritten: bool) -> Iterator[CodeType]:
    """Yield the codes of that name and line in the file as it is now.

    They depend on what is around them: a method of an imported name is called by other instructions. Where pytest has
    rewritten the assertions of a module, so are those of the file.
    """
    flags = code.co_flags & annotations.compiler_flag
    text = "".join(linecache.getlines(code.co_filename))
    try:
        tree = ast.parse(text, code.co_filename)
        if is_rewritten:
            sys.modules["_pytest.assertion.rewrite"].rewrite_asserts(tree, text.encode())
        remaining = [compile(tree, code.co_filename, "exec", flags=flags, dont_inherit=True)]
    except (SyntaxError, ValueError):
        return
    while remaining:
        one = remaining.pop()
        remaining += (each for each in one.co_consts if isinstance(each, CodeType))
        if (one.co_qualname, one.co_firstlineno) == (code.co_qualname, code.co_firstlineno):
            yield one


def effect_of(code: CodeType) -> tuple[Any, ...]:
    """Return what a piece of code does, as texts and numbers, without the names, files and lines that it comes from."""
    return (
        code.co_code,
        code.co_exceptiontable,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags & ~inspect.CO_NESTED,
        tuple(map(_comparable, code.co_consts)),
    )


def _comparable(constant: Any) -> Any:
    """Return a value that is equal for equal constants of code only: `0`, `0.0`, `-0.0` and `False` differ."""
    if isinstance(constant, CodeType):
        return constant.co_name, effect_of(constant)
    if isinstance(constant, tuple):
        return "tuple", tuple(map(_comparable, constant))
    if isinstance(constant, frozenset):  # its order depends on where it was made
        return "frozenset", tuple(sorted(map(_comparable, constant), key=repr))
    return type(constant).__name__, repr(constant)


@contextmanager
def replaced(function: Function, definition: ast.FunctionDef) -> Iterator[None]:
    """Give a function another body, with the same name and parameters, for plain Python and for lifting.

    Its defaults, decorators and globals stay the same.

    Raises:
        LiftError: it uses variables of an enclosing function.
    """
    old_code, old_tree = function.__code__, source_of(function)
    code = _compiled(function, definition)
    function.__code__, _trees[function] = code, (code, definition)
    try:
        yield
    finally:
        function.__code__, _trees[function] = old_code, (old_code, old_tree)


def _compiled(function: Function, definition: ast.FunctionDef) -> CodeType:
    """Return the code of a definition, with the file and line numbers of the function."""
    old = function.__code__
    bare = ast.FunctionDef(**{**dict(ast.iter_fields(definition)), "decorator_list": []})
    module = ast.Module([ast.copy_location(bare, definition)], [])
    flags = old.co_flags & annotations.compiler_flag
    whole = compile(module, old.co_filename, "exec", flags=flags, dont_inherit=True)
    code = next(c for c in whole.co_consts if isinstance(c, CodeType) and c.co_name == definition.name)
    if code.co_freevars != old.co_freevars:
        raise LiftError(
            f"{old.co_filename}:{old.co_firstlineno}: {function.__qualname__} uses variables of a function around it, "
            "and so cannot be given another body. Instead: a function at module level."
        )
    return code
