"""Bounds, domains and flags of a scenario: numbers and switches that a model reads and never changes.

Words: a *bound* is a number that the scenario fixes (how many brokers, how many failovers). A *domain* is the set
0 … n-1 whose size n is the bound of the same name. A *flag* is a switch of the variant (a version of the modelled
system, a fix). A *binding* gives values to all of them; it is active while a model is executed, and constant then.
"""
from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from attrs import field, frozen

from kwalk.model.language.errors import UsageError, one_of

T = TypeVar("T")


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


class Bound:
    """A number that the scenario fixes; it behaves as that int wherever it is read.

    Args:
        name: its name in the scenario's `bounds`.
        about: what it limits.
        minimum: the least value that a scenario may give it.
    """

    def __init__(self, name: str, about: str = "", *, minimum: int = 0) -> None:
        self.name, self.about, self.minimum = name, about, minimum

    @property
    def value(self) -> int:
        """Return its value in the active binding.

        Raises:
            UsageError: no binding is active, or it gives no value or one below the minimum.
        """
        if _ACTIVE.get(None) is None:
            raise UsageError(
                f"The bound {self.name!r} has no value here: a scenario gives it one, and no scenario is active. In a "
                f"declaration, such as number(0, {self.name.upper()} + 1), name a Bound of its own, such as "
                f"number(0, Bound({self.name + '_plus_1'!r})), and give it its value in the scenario's `bounds`. "
                "Elsewhere, run the code through a Model, or inside `with model.active():`."
            )
        bounds = active_binding().bounds
        if self.name not in bounds:
            raise UsageError(f"The scenario gives no value to the bound {self.name!r}; add it to `bounds`.")
        if bounds[self.name] < self.minimum:
            raise UsageError(f"Bound {self.name!r} must be {self.minimum} or more (got {bounds[self.name]}).")
        return bounds[self.name]

    def __index__(self) -> int:
        return self.value

    def __int__(self) -> int:
        return self.value

    def __bool__(self) -> bool:
        return self.value != 0

    def __hash__(self) -> int:
        return hash((Bound, self.name))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, int) and self.value == other)

    def __lt__(self, other: int) -> bool:
        return self.value < int(other)

    def __le__(self, other: int) -> bool:
        return self.value <= int(other)

    def __gt__(self, other: int) -> bool:
        return self.value > int(other)

    def __ge__(self, other: int) -> bool:
        return self.value >= int(other)

    def __add__(self, other: int) -> int:
        return self.value + int(other)

    def __radd__(self, other: int) -> int:
        return int(other) + self.value

    def __sub__(self, other: int) -> int:
        return self.value - int(other)

    def __rsub__(self, other: int) -> int:
        return int(other) - self.value

    def __mul__(self, other: int) -> int:
        return self.value * int(other)

    __rmul__ = __mul__

    def __mod__(self, other: int) -> int:
        return self.value % int(other)

    def __rmod__(self, other: int) -> int:
        return int(other) % self.value

    def __floordiv__(self, other: int) -> int:
        return self.value // int(other)

    def __repr__(self) -> str:
        return f"Bound({self.name!r})"


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
        return isinstance(member, int) and 0 <= member < len(self)

    def label(self, member: int) -> str:
        """Return the text for a member in reports."""
        names = active_binding().labels.get(self.name, ())
        return names[member] if member < len(names) else self._label(member)

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"


class Flag:
    """A switch of the variant: on or off, or one of several named settings; constant while a model is executed.

    Use it as a condition (`if FENCING:`) or, with settings, compare it (`if FENCING == "strict":`).
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
        return self is other or self.value == other

    def __hash__(self) -> int:
        return hash((Flag, self.name))

    def __repr__(self) -> str:
        return f"Flag({self.name!r})"
