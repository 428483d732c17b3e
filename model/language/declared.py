"""What the declarations of a model are given: values of a wrong kind are refused there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, isroutine
from reprlib import repr as brief
from typing import Any

from kwalk.model.language.errors import UsageError

Requirement = tuple[str, object, bool, str]
"""The name of an argument, its value, whether it is of the right kind, and what that kind is."""


def check_declared(called: str, *requirements: Requirement) -> None:
    """Refuse the first argument that is of a wrong kind.

    Args:
        called: What is declared, as messages call it.
        *requirements: The arguments.

    Raises:
        UsageError: An argument is of a wrong kind.
    """
    for name, value, is_met, what in requirements:
        if not is_met:
            raise UsageError(f"{called}: `{name}` must be {what} (got {brief(value)}).")


def kind_of_class(cls: object) -> str:
    """Return what a class is declared as, "state" or "value"; "" for others, as subclasses without a decorator."""
    return vars(cls).get("__kwalk__", "") if isinstance(cls, type) else ""


def text(name: str, value: object) -> Requirement:
    """Require a text."""
    return name, value, isinstance(value, str), "a text in quotes"


def a_name(value: object) -> Requirement:
    """Require a `name` that is not empty."""
    return "name", value, isinstance(value, str) and bool(value), "a text in quotes that is not empty"


def truth_value(name: str, value: object) -> Requirement:
    """Require True or False."""
    return name, value, isinstance(value, bool), "True or False"


def texts(name: str, value: object) -> Requirement:
    """Require a tuple or list of texts."""
    is_met = isinstance(value, tuple | list) and all(isinstance(each, str) and each for each in value)
    return name, value, is_met, 'a tuple of texts, such as ("one", "two")'


def is_table(value: object) -> bool:
    """Whether a value is a mapping of names."""
    return isinstance(value, Mapping) and all(isinstance(each, str) for each in value)


def table(name: str, value: object) -> Requirement:
    """Require a mapping of names."""
    return name, value, is_table(value), "a mapping of names"


LAZY = CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR
"""The flags of code that is not executed when it is called."""


def function(name: str, value: object) -> Requirement:
    """Require a function that Python source defines, and that a call executes."""
    code = getattr(value, "__code__", None)
    is_met = isroutine(value) and code is not None and not code.co_flags & LAZY
    return name, value, is_met, "a function that is written with def, and has no yield"


def decorator(called: str, make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a decorator that refuses what is no function."""

    def declare(decorated: Any) -> Any:
        check_declared(f"@{called}", function("function", decorated))
        return make(decorated)

    return declare
