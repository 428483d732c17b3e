"""Bounds, domains and flags of a scenario: numbers and switches that a model reads and never changes.

Words: a *bound* is a number that the scenario fixes (how many brokers, how many failovers). A *domain* is the set
0 … n-1 whose size n is the bound of the same name. A *flag* is a switch of the variant (a version of the modelled
system, a fix). A *binding* gives values to all of them; it is active while a model is executed, and constant then.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from reprlib import repr as brief
from types import ModuleType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import field, frozen

from kwalk.model.language.declared import a_name, check_declared, text, texts
from kwalk.model.language.errors import BoundReached, UsageError, one_of

T = TypeVar("T")

if TYPE_CHECKING:
    _Number = int  # a type checker sees a Bound as the int that it behaves as
    _Switch: Any  # and takes a Flag for what a condition with it, such as `FLAG and x`, is stored in or returned as
else:
    _Number = _Switch = object


@frozen
class Binding:
    """The values of all bounds and flags, and the labels of domain members."""

    bounds: Mapping[str, int] = field(factory=dict)
    flags: Mapping[str, Any] = field(factory=dict)
    labels: Mapping[str, tuple[str, ...]] = field(factory=dict)
    cache: dict[Any, Any] = field(factory=dict, init=False, eq=False, repr=False)
    """What `cached` has computed under this binding, by its key."""

    def active(self) -> AbstractContextManager[None]:
        """Make this the binding from which bounds, domains and flags take their values."""
        return _Activation(self)


_ACTIVE: ContextVar[Binding] = ContextVar("binding")


class _Activation(AbstractContextManager[None]):
    """A block in which a binding is active: a class, because a generator takes three times as long."""

    __slots__ = ("binding", "token")

    def __init__(self, binding: Binding) -> None:
        self.binding = binding

    def __enter__(self) -> None:
        self.token = _ACTIVE.set(self.binding)

    def __exit__(self, *_: object) -> None:
        _ACTIVE.reset(self.token)


def cached(about: Hashable, make: Callable[[], T]) -> T:
    """Return what `make` returns for a key under the active binding, computed once per binding.

    Without an active binding it is computed each time.
    """
    binding = _ACTIVE.get(None)
    if binding is None:
        return make()
    try:
        value: T = binding.cache[about]
    except KeyError:
        value = binding.cache.setdefault(about, make())
    return value


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

    def identity(self) -> tuple[Any, ...]:
        """Return what two constants have in common if they have equal values in every binding."""
        return (type(self), self.name)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, (int, str, ScenarioConstant)) and bool(self.value == plain_value(other))

    def __hash__(self) -> int:
        return hash(self.value)


_DECLARED: dict[type, set[str]] = {}
"""The names of all bounds, and of all flags, that were declared in this process."""


def declared_names(kind: type[ScenarioConstant]) -> set[str]:
    """Return the names of all bounds, or of all flags, that some module has declared."""
    return _DECLARED.setdefault(kind, set())


def plain_value(value: Any) -> Any:
    """Return the number or truth value for which a Bound or Flag stands; any other object as it is."""
    return value.value if isinstance(value, ScenarioConstant) else value


def identity_of(constant: Any) -> Any:
    """Return what tells two bounds or flags apart without reading their values: shapes are compared by it."""
    return constant.identity() if isinstance(constant, ScenarioConstant) else constant


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

    In a declaration, where no scenario is active, arithmetic of bounds and ints makes a bound too, such as `LIMIT + 1`,
    `-LIMIT` or `2 ** LIMIT`: its value is found from theirs, and a step that exceeds it is a hit of the first bound
    that it names.

    Args:
        name: its name in the scenario's `bounds`.
        about: what it limits.
        minimum: the least value that a scenario may give it.
        default: the value that `default_bounds` gives it.
    """

    if TYPE_CHECKING:
        # Pyright takes the arguments of a subclass of int from int's __new__ where the subclass has none.
        def __new__(cls, *arguments: Any, **named: Any) -> Self: ...

    def __init__(self, name: str, about: str = "", *, minimum: int = 0, default: int | None = None) -> None:
        least = "minimum", minimum, type(minimum) is int, "an int"
        is_allowed = default is None or (type(default) is int and default >= minimum)
        value = "default", default, is_allowed, f"an int of {minimum} or more, or None"
        check_declared(f"Bound({brief(name)})", a_name(name), text("about", about), least, value)
        self.name, self.about, self.minimum, self.default = name, about, minimum, default
        declared_names(Bound).add(name)

    @property
    def value(self) -> int:
        """Return its value in the active binding.

        Raises:
            UsageError: no binding is active, or it gives no value or one below the minimum.
        """
        binding = _ACTIVE.get(None)
        if binding is None:
            raise UsageError(
                f"The bound {self.name!r} has no value here: a scenario gives it one, and no scenario is active. A "
                f"declaration may name it, also in arithmetic of bounds and ints, such as "
                f"number(0, {self.name.upper()} + 1). Elsewhere, run the code through a Model, or inside "
                "`with model.active():`."
            )
        value = binding.bounds.get(self.name)
        if value is None:
            raise UsageError(f"The scenario gives no value to the bound {self.name!r}; add it to `bounds`.")
        if value < self.minimum:
            raise UsageError(f"Bound {self.name!r} must be {self.minimum} or more (got {value}).")
        return value

    def __repr__(self) -> str:
        return f"Bound({self.name!r})"


_UNLIMITED: ContextVar[bool] = ContextVar("unlimited", default=False)


@contextmanager
def unlimited() -> Iterator[None]:
    """Let fields hold more than their bounds allow, in plain Python and until the block ends; bounds keep their values.

    What is written then is no state of the model.
    """
    token = _UNLIMITED.set(True)
    try:
        yield
    finally:
        _UNLIMITED.reset(token)


def reach(bound: Bound) -> None:
    """Note that a step exceeds a bound.

    Raises:
        BoundReached: Bounds apply.
    """
    if not _UNLIMITED.get():
        raise BoundReached(bound.name)


class DerivedBound(Bound):
    """A number that declarations compute from bounds: an operation on bounds and ints.

    Args:
        symbol: how the operation is written.
        function: the operation.
        operands: what it is applied to; at least one is a bound.
    """

    def __init__(self, symbol: str, function: Callable[..., int], *operands: int | Bound) -> None:
        first = next(operand for operand in operands if isinstance(operand, Bound))
        super().__init__(first.name, first.about)
        self._symbol, self._function, self.operands = symbol, function, operands

    @property
    def value(self) -> int:
        """Return its value in the active binding.

        Raises:
            UsageError: no binding is active, or the operation has no result there.
        """
        try:
            result: Any = self._function(*map(plain_value, self.operands))
        except (ArithmeticError, ValueError) as error:
            raise UsageError(f"{self!r} has no value under these bounds: {error}. Give other bounds.") from None
        if type(result) is not int:
            raise UsageError(f"{self!r} is {result!r} under these bounds, which is no int. Give other bounds.")
        return result

    def identity(self) -> tuple[Any, ...]:
        """Return the operation and the identities of its operands."""
        return (self._symbol, *map(identity_of, self.operands))

    def __repr__(self) -> str:
        texts = [repr(one) if isinstance(one, Bound) else str(one) for one in self.operands]
        return f"({self._symbol}{texts[0]})" if len(texts) == 1 else f"({texts[0]} {self._symbol} {texts[1]})"


def _derive_where_no_scenario_is_active() -> None:
    """Give Bound arithmetic that makes a bound in declarations, and a number elsewhere."""

    def deferred(symbol: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def apply(*operands: Any) -> Any:
            are_numbers = all(type(operand) is int or isinstance(operand, Bound) for operand in operands)
            if are_numbers and _ACTIVE.get(None) is None:
                return DerivedBound(symbol, function, *operands)
            return function(*map(plain_value, operands))

        return apply

    def reflected(apply: Callable[..., Any]) -> Callable[..., Any]:
        return lambda self, other: apply(other, self)

    for name, symbol in (("add", "+"), ("sub", "-"), ("mul", "*"), ("floordiv", "//"), ("mod", "%"), ("pow", "**")):
        apply = deferred(symbol, getattr(operator, name))
        setattr(Bound, f"__{name}__", apply)
        setattr(Bound, f"__r{name}__", reflected(apply))
    setattr(Bound, "__neg__", deferred("-", operator.neg))  # noqa: B010  # a type checker sees the int's own


_derive_where_no_scenario_is_active()


class Domain:
    """The ints 0 … n-1; iterable, sized, and `in` works.

    Args:
        name: its name; also that of its bound, n, which the scenario fixes, if no size is given.
        about: what its members are.
        size: n, if it is another bound or follows from others, such as `LIMIT`, `LIMIT + 1` or `2 ** NODES.bound`.
        label: the text for a member in reports; labels of the scenario take precedence.
        default: the n that `default_bounds` gives it, if no size is given.

    Attributes:
        bound: n, for arithmetic in declarations.

    Raises:
        UsageError: the size is no bound.
    """

    def __init__(
        self,
        name: str,
        about: str = "",
        *,
        size: int | None = None,
        label: Callable[[int], str] = str,
        default: int | None = None,
    ) -> None:
        labels = "label", label, callable(label), "a function from a member to a text"
        check_declared(f"Domain({brief(name)})", a_name(name), text("about", about), labels)
        if size is not None and not isinstance(size, Bound):
            raise UsageError(
                f"Domain({name!r}, size={size!r}): a size is a Bound, or arithmetic of bounds. For a size that the "
                f'scenario fixes, leave it out and write `bounds={{"{name}": …}}` in the Scenario.'
            )
        self.name, self.about, self._label = name, about, label
        self.bound: Bound = Bound(name, about, minimum=1, default=default) if size is None else size

    def __len__(self) -> int:
        size = self.bound.value
        if size < 1:
            raise UsageError(f"The domain {self.name!r} must have 1 member or more (got {self.bound!r}, {size}).")
        return size

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def __reversed__(self) -> Iterator[int]:
        return reversed(range(len(self)))

    def __contains__(self, member: object) -> bool:
        member = plain_value(member)
        return isinstance(member, int) and 0 <= member < len(self)

    def label(self, member: int) -> str:
        """Return the text for a member in reports."""
        names = active_binding().labels.get(self.name, ())
        return names[member] if member < len(names) else self._label(member)

    def __repr__(self) -> str:
        return f"Domain({self.name!r})"


def default_bounds(module: ModuleType) -> dict[str, int]:
    """Return the defaults of the bounds and domains that a module has, by name, for the `bounds` of a scenario.

    So a scenario states only what differs, and a new bound with a default changes no scenario.
    """
    things = (thing.bound if isinstance(thing, Domain) else thing for thing in vars(module).values())
    bounds = [thing for thing in things if type(thing) is Bound]
    return {bound.name: bound.default for bound in bounds if bound.default is not None}


class Flag(ScenarioConstant, _Switch):
    """A switch of the variant: on or off, or one of several named settings; constant while a model is executed.

    Use it as a condition (`if FENCING:`) or, with settings, compare it (`if FENCING == "strict":`). A flag that is on
    or off behaves as that truth value wherever it is read.

    Args:
        name: its name in `flags` and on the command line.
        about: what it switches.
        settings: the names of its settings; none if it is on or off.
        excludes: flags, on or off as this one, with which it cannot be on.
    """

    def __init__(
        self, name: str, about: str = "", *, settings: tuple[str, ...] = (), excludes: tuple[Flag, ...] = ()
    ) -> None:
        flags = isinstance(excludes, tuple | list) and all(isinstance(flag, Flag) for flag in excludes)
        check_declared(
            f"Flag({brief(name)})",
            a_name(name),
            text("about", about),
            texts("settings", settings),
            ("excludes", excludes, flags, "a tuple of Flags, such as (HASTY,)"),
        )
        self.name, self.about, self.settings = name, about, settings
        declared_names(Flag).add(name)
        self.excludes = tuple(flag.name for flag in excludes)

    @property
    def value(self) -> bool | str:
        """Return its setting in the active binding.

        Raises:
            UsageError: the binding gives it none, or one that the flag does not have, or a flag that it excludes is on.
        """
        flags = active_binding().flags
        if self.name not in flags:
            raise UsageError(f"The scenario's variant gives no value to the flag {self.name!r}; add it to `flags`.")
        setting: bool | str = flags[self.name]
        if self.settings and setting not in self.settings:
            raise UsageError(f"Flag {self.name!r} cannot be {setting!r}. {one_of(self.settings)}")
        for other in self.excludes:
            if setting and flags.get(other):
                raise UsageError(
                    f"The flags {self.name!r} and {other!r} are both on, and the model has no meaning for that. Turn "
                    f"one of them off: --flag {self.name}=off or --flag {other}=off."
                )
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
