"""Bounds, domains and flags of a scenario: numbers and switches that a model reads and never changes.

Words: a *bound* is a number that the scenario fixes (how many brokers, how many failovers). A *domain* is the set
0 … n-1 whose size n is the bound of the same name. A *flag* is a switch of the variant (a version of the modelled
system, a fix). A *binding* gives values to all of them; it is active while a model is executed, and constant then.
"""
from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import field, frozen

from kwalk.model.language.errors import UsageError, one_of

T = TypeVar("T")

if TYPE_CHECKING:
    _Number = int  # a type checker sees a Bound as the int that it behaves as
else:
    _Number = object


@frozen
class Binding:
    """The values of all bounds and flags, and the labels of domain members."""

    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Any] = field(factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    cache: dict[Any, Any] = field(factory=dict, init=False, eq=False, repr=False)
    """What `cached` has computed under this binding, by its key."""

    @contextmanager
    def active(self) -> Iterator[None]:
        """Make this the binding from which bounds, domains and flags take their values."""
        token = _ACTIVE.set(self)
        try:
            yield
        finally:
            _ACTIVE.reset(token)


_ACTIVE: ContextVar[Binding] = ContextVar("binding")


def cached(about: Hashable, make: Callable[[], T]) -> T:
    """Return what `make` returns for a key under the active binding, computed once per binding.

    Without an active binding it is computed each time.
    """
    binding = _ACTIVE.get(None)
    if binding is None:
        return make()
    try:
        return binding.cache[about]
    except KeyError:
        return binding.cache.setdefault(about, make())


def active_binding() -> Binding:
    """Return the active binding.

    Raises:
        UsageError: none is active.
    """
    try:
        return _ACTIVE.get()
    except LookupError:
        raise UsageError(
            "A bound, domain or flag was read while no scenario was active. "
            "Run it through a Model, or inside `with model.active():`."
        ) from None


class ScenarioConstant:
    """A number or switch that the scenario fixes; operators, comparisons and conversions apply to its value."""

    name: str

    @property
    def value(self) -> Any:
        """Return its value in the active binding."""
        raise NotImplementedError

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, (int, str, ScenarioConstant)) and bool(self.value == plain_value(other))

    def __hash__(self) -> int:
        return hash(self.value)


def plain_value(value: Any) -> Any:
    """Return the number or truth value for which a Bound or Flag stands; any other object as it is."""
    return value.value if isinstance(value, ScenarioConstant) else value


def identity_of(constant: Any) -> Any:
    """Return what tells two bounds or flags apart without reading their values: shapes are compared by it."""
    if isinstance(constant, ScenarioConstant):
        return (type(constant), constant.name, getattr(constant, "shift", 0))
    return constant


def _behave_as_values(cls: type) -> None:
    """Give a class the operators of ints, each applied to the values of its objects."""

    def unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda self: function(self.value)

    def binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: function(self.value, plain_value(other))

    def reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda self, other: function(plain_value(other), self.value)

    for name in ("neg", "pos", "abs", "invert", "index"):
        setattr(cls, f"__{name}__", unary(getattr(operator, name)))
    for name in ("int", "bool"):
        setattr(cls, f"__{name}__", unary(getattr(builtins, name)))
    for name in ("lt", "le", "gt", "ge"):
        setattr(cls, f"__{name}__", binary(getattr(operator, name)))
    for name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow", "lshift", "rshift", "and", "or", "xor"):
        function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(cls, f"__{name}__", binary(function))
        setattr(cls, f"__r{name}__", reflected(function))


_behave_as_values(ScenarioConstant)


class Bound(ScenarioConstant, _Number):
    """A number that the scenario fixes; it behaves as that int wherever it is read.

    In a declaration, where no scenario is active, `LIMIT + 1` and `LIMIT - 1` are bounds too: their values are found
    from that of `LIMIT`, and a step that exceeds one is a hit of `LIMIT`.

    Args:
        name: its name in the scenario's `bounds`.
        about: what it limits.
        minimum: the least value that a scenario may give it.
    """

    def __init__(self, name: str, about: str = "", *, minimum: int = 0) -> None:
        self.name, self.about, self.minimum = name, about, minimum
        self.shift = 0

    @property
    def value(self) -> int:
        """Return its value in the active binding.

        Raises:
            UsageError: no binding is active, or it gives no value or one below the minimum.
        """
        if _ACTIVE.get(None) is None:
            raise UsageError(
                f"The bound {self.name!r} has no value here: a scenario gives it one, and no scenario is active. A "
                f"declaration may name it, also as {self.name.upper()} + 1 or {self.name.upper()} - 1, such as "
                f"number(0, {self.name.upper()} + 1). Elsewhere, run the code through a Model, or inside "
                "`with model.active():`."
            )
        bounds = active_binding().bounds
        if self.name not in bounds:
            raise UsageError(f"The scenario gives no value to the bound {self.name!r}; add it to `bounds`.")
        if bounds[self.name] < self.minimum:
            raise UsageError(f"Bound {self.name!r} must be {self.minimum} or more (got {bounds[self.name]}).")
        return bounds[self.name] + self.shift

    def _shifted(self, by: int) -> Bound:
        made = Bound(self.name, self.about, minimum=self.minimum)
        made.shift = self.shift + by
        return made

    if not TYPE_CHECKING:

        def __add__(self, other: int) -> int | Bound:
            if type(other) is int and _ACTIVE.get(None) is None:
                return self._shifted(other)
            return self.value + plain_value(other)

        __radd__ = __add__

        def __sub__(self, other: int) -> int | Bound:
            if type(other) is int and _ACTIVE.get(None) is None:
                return self._shifted(-other)
            return self.value - plain_value(other)

    def __repr__(self) -> str:
        shift = f" {'+' if self.shift > 0 else '-'} {abs(self.shift)}" if self.shift else ""
        return f"Bound({self.name!r}){shift}"


class Domain:
    """The ints 0 … n-1, where n is the bound of the same name; iterable, sized, and `in` works.

    Args:
        name: its name, and that of its bound.
        about: what its members are.
        label: the text for a member in reports; labels of the scenario take precedence.
    """

    def __init__(self, name: str, about: str = "", *, label: Callable[[int], str] = str) -> None:
        self.name, self.about, self._label = name, about, label
        self.bound = Bound(name, about, minimum=1)

    def __len__(self) -> int:
        return self.bound.value

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __contains__(self, member: object) -> bool:
        member = plain_value(member)
        return isinstance(member, int) and 0 <= member < len(self)

    def label(self, member: int) -> str:
        """Return the text for a member in reports."""
        names = active_binding().labels.get(self.name, ())
        return names[member] if member < len(names) else self._label(member)

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"


class Flag(ScenarioConstant):
    """A switch of the variant: on or off, or one of several named settings; constant while a model is executed.

    Use it as a condition (`if FENCING:`) or, with settings, compare it (`if FENCING == "strict":`). A flag that is on
    or off behaves as that truth value wherever it is read.
    """

    def __init__(self, name: str, about: str = "", *, settings: tuple[str, ...] = ()) -> None:
        self.name, self.about, self.settings = name, about, settings

    @property
    def value(self) -> bool | str:
        """Return its setting in the active binding.

        Raises:
            UsageError: the binding gives it none, or one that the flag does not have.
        """
        flags = active_binding().flags
        if self.name not in flags:
            raise UsageError(f"The scenario's variant gives no value to the flag {self.name!r}; add it to `flags`.")
        setting = flags[self.name]
        if self.settings and setting not in self.settings:
            raise UsageError(f"Flag {self.name!r} cannot be {setting!r}. {one_of(self.settings)}")
        return setting

    def __bool__(self) -> bool:
        if self.settings:
            raise UsageError(f"Flag {self.name!r} has the settings {self.settings}; compare it with one of them.")
        return bool(self.value)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str) and self.settings and other not in self.settings:
            raise UsageError(f"Flag {self.name!r} is never {other!r}. {one_of(self.settings)}")
        return super().__eq__(other)

    __hash__ = ScenarioConstant.__hash__

    def __repr__(self) -> str:
        return f"Flag({self.name!r})"
