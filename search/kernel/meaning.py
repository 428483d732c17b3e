"""A digest of values and functions by what they mean: two that have the same digest behave alike.

Words: the *meaning* of a function is its bytecode with all that the bytecode can reach by name: globals, variables of
functions around it, defaults, attributes of modules and of classes, each by value and recursively. Where it comes from
(files, modules, lines, comments, annotations, texts for people) is not part of it. An object is *opaque* if its name
says all: it is of Python itself, of attrs, or of kwalk's own language, whose sources are digested as files. What is
neither opaque nor known here, such as an open file, has no digest. Nor has an attribute that runs code of a user when
it is read, as lifting reads it: that code could read anything.

A value that is read while a function of the model runs (a file, the time) is none of its meaning; lifting refuses it.

The graph of objects is walked in a fixed order, and each object has the number of its first visit, so that shared and
circular references are told apart from equal ones.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import re
import sys
import sysconfig
import types
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import CodeType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import attr
import attrs

from kwalk.model.language import Flag, Scenario
from kwalk.model.language.action import Action, Actor, Parametric
from kwalk.model.language.binding import Bound, Domain
from kwalk.model.language.properties import Property
from kwalk.model.language.source import effect_of

STANDARD = Path(sysconfig.get_paths()["stdlib"])
LANGUAGE = "kwalk.model.language"
MOST_OBJECTS = 200_000
"""More objects than these are not digested: lifting is as fast."""
WITHOUT_MEANING: dict[type, frozenset[str]] = {
    attrs.Attribute: frozenset({"type"}),
    Parametric: frozenset({"about"}),
    Action: frozenset({"description", "source", "group", "mark", "outcome"}),
    Property: frozenset({"symptom", "log", "_parameter"}),
    Actor: frozenset({"name"}),
    Bound: frozenset({"about", "default"}),
    Flag: frozenset({"about"}),
    Domain: frozenset({"about", "_label"}),
    Scenario: frozenset(
        {
            "story",
            "labels",
            "aliases",
            "source",
            "read_snapshot",
            "read_series",
            "inspect_snapshot",
            "recover_snapshot",
            "initial",
            "cannot_fail",
        }
    ),
}
"""Attributes of objects of the language that have no influence on what is lifted, by class. Initial states have none:
they are computed in plain Python, by functions that may read anything."""
OF_CLASSES = frozenset(
    {
        "__annotations__",
        "__classcell__",
        "__dict__",
        "__doc__",
        "__firstlineno__",
        "__module__",
        "__orig_bases__",
        "__parameters__",
        "__qualname__",
        "__static_attributes__",
        "__weakref__",
        "_abc_impl",
    }
)
"""Attributes of classes that say where a class comes from, or hold what Python makes of it."""
GENERATED = "<attrs generated"
"""How the file names of methods begin that attrs makes from the fields of a class."""


class NoMeaning(Exception):
    """An object has no digest; the text says which."""


def digest_of(*roots: Any) -> str:
    """Return 32 hexadecimal digits for the meaning of some objects.

    Raises:
        NoMeaning: something that they reach is neither opaque nor known.
    """
    return _Walk().digest(roots)


class _Walk:
    """One walk through a graph of objects.

    Args:
        within: the identities of the sets of which a member is walked through, to order them.

    Attributes:
        numbers: the number of each object by its identity. The objects are kept, so that identities stay their own.
        names: all names that code has mentioned: the attributes of modules that it can read.
    """

    def __init__(self, within: tuple[int, ...] = ()) -> None:
        self.within = within
        self.numbers: dict[int, int] = {}
        self.kept: list[Any] = []
        self.waiting: deque[Any] = deque()
        self.lines: list[str] = []
        self.names: set[str] = set()
        self.modules: list[tuple[ModuleType, set[str]]] = []
        self.attributes: dict[type, tuple[dict[str, Any], frozenset[str]]] = {}

    def digest(self, roots: Iterable[Any]) -> str:
        self.lines.append(" ".join(map(self.ref, roots)))
        while self.waiting:
            while self.waiting:
                thing = self.waiting.popleft()
                self.lines.append(f"{self.numbers[id(thing)]} " + " ".join(self.described(thing)))
            self._read_modules()
        text = "\n".join(self.lines)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _read_modules(self) -> None:
        """Describe the attributes of modules that code mentions, since modules and names were met in any order."""
        for number, (module, done) in enumerate(self.modules):
            mentioned = sorted((self.names & vars(module).keys()) - done)
            done.update(mentioned)
            for name in mentioned:
                self.lines.append(f"module {number} {name} {self.ref(vars(module)[name])}")

    def ref(self, thing: Any) -> str:
        """Return a text for an object: all of an atom, the name of what is opaque, or a number."""
        kind = type(thing)
        if kind in ATOMS:
            return f"{kind.__name__}:{thing!r}"
        if kind is int:
            return f"int:{thing:x}"
        if kind is tuple and len(thing) <= SHORT and SIMPLE.issuperset(map(type, thing)):
            return f"tuple:{thing!r}"
        number = self.numbers.get(id(thing))
        if number is None:
            name = None if kind in VALUES else opaque_name(thing)
            if name is not None:
                return name
            if isinstance(thing, Enum) and (of := opaque_name(kind)) is not None:
                return f"{of}.{thing.name}"
            number = self.numbers[id(thing)] = len(self.kept)
            if number > MOST_OBJECTS:
                raise NoMeaning(f"more than {MOST_OBJECTS:,} objects")
            self.kept.append(thing)
            self.waiting.append(thing)
        return f"#{number}"

    def described(self, thing: Any) -> Iterable[str]:
        """Return the texts that describe an object; the first one is its kind."""
        describe = DESCRIBED.get(type(thing))
        if describe is not None:
            return describe(self, thing)
        return self._class(thing) if isinstance(thing, type) else self._instance(thing)

    def _pairs(self, kind: str, pairs: Iterable[tuple[Any, Any]]) -> Iterator[str]:
        yield kind
        for key, value in pairs:
            yield self.ref(key)
            yield self.ref(value)

    def _items(self, things: Iterable[Any]) -> Iterator[str]:
        yield type(things).__name__
        yield from map(self.ref, things)

    def _set(self, things: Iterable[Any]) -> Iterator[str]:
        """Describe a set in an order that does not depend on where it was made."""
        if id(things) in self.within:
            raise NoMeaning("a set whose members lead to the set itself")
        yield type(things).__name__
        yield from map(self.ref, sorted(things, key=lambda one: self._place(one, (*self.within, id(things)))))

    def _place(self, one: Any, within: tuple[int, ...]) -> str:
        """Return the text by which a member of a set is ordered: a name says enough of a member of an Enum."""
        if isinstance(one, Enum):
            return f"{type(one).__qualname__}.{one.name}"
        if type(one) in (tuple, frozenset):
            places = [self._place(each, within) for each in one]
            return f"{type(one).__name__} {places if type(one) is tuple else sorted(places)}"
        return _Walk(within).digest([one])

    def _dict(self, table: Mapping[Any, Any]) -> Iterator[str]:
        return self._pairs("dict", table.items())

    def _function(self, function: FunctionType) -> Iterator[str]:
        yield "function"
        code = function.__code__
        own = _is_of_opaque_module(function)  # a closure: its sources are digested, its variables are not
        yield f"{function.__module__}.{function.__qualname__}" if own else self._code(code)
        for cell in function.__closure__ or ():
            yield self.ref(cell)
        yield self.ref(function.__defaults__)
        yield self.ref(function.__kwdefaults__)
        if function.__dict__:
            yield from self._pairs("attributes", sorted(function.__dict__.items()))
        if not own:
            names = function.__globals__
            for name in sorted(mentioned_in(code)):
                # pytest adds names that begin with @ to a module whose assertions it rewrites
                value = names.get(name, BUILTINS.get(name, self)) if name[:1] != "@" else self
                if value is not self:
                    yield name
                    yield self.ref(value)

    def _code(self, code: CodeType) -> str:
        self.names |= mentioned_in(code)
        return repr(effect_of(code))

    def _cell(self, cell: types.CellType) -> Iterator[str]:
        yield "cell"
        try:
            yield self.ref(cell.cell_contents)
        except ValueError:
            yield "empty"

    def _module(self, module: ModuleType) -> Iterator[str]:
        self.modules.append((module, set()))
        if "__getattr__" in vars(module):
            raise NoMeaning(f"the module {module.__name__}, which makes its attributes when they are read")
        yield f"module {len(self.modules) - 1}"

    def _method(self, method: types.MethodType) -> Iterator[str]:
        yield from ("method", self.ref(method.__func__), self.ref(method.__self__))

    def _builtin_method(self, method: types.BuiltinMethodType) -> Iterator[str]:
        yield from ("method", method.__qualname__, self.ref(method.__self__))

    def _wrapper(self, method: Any) -> Iterator[str]:
        if not isinstance(method.__func__, FunctionType | types.BuiltinFunctionType):
            raise NoMeaning(f"{method!r:.80}, which runs when it is read")
        yield from (type(method).__name__, self.ref(method.__func__))

    def _property(self, prop: property) -> Iterator[str]:
        yield from ("property", self.ref(prop.fget), self.ref(prop.fset), self.ref(prop.fdel))

    def _cached_property(self, prop: functools.cached_property[Any]) -> Iterator[str]:
        yield from ("cached_property", self.ref(prop.func))

    def _partial(self, partial: functools.partial[Any]) -> Iterator[str]:
        yield from ("partial", self.ref(partial.func), self.ref(partial.args), self.ref(partial.keywords))

    def _class(self, cls: type) -> Iterator[str]:
        if opaque_name(type(cls)) is None:
            raise NoMeaning(f"{cls!r:.80}, whose class {type(cls).__qualname__} decides what its attributes are")
        yield from (f"class {cls.__name__}", self.ref(type(cls)), self.ref(cls.__bases__))
        for name, value in sorted(vars(cls).items()):
            if name in OF_CLASSES or isinstance(value, MemberDescriptorType | types.GetSetDescriptorType):
                continue
            if isinstance(value, FunctionType) and value.__code__.co_filename.startswith(GENERATED):
                continue
            if hasattr(type(value), "__get__") and type(value) not in DESCRIBED and opaque_name(value) is None:
                raise NoMeaning(f"{cls.__qualname__}.{name}, a {type(value).__qualname__}, which runs when it is read")
            yield name
            yield self.ref(tuple(value) if name == "__attrs_attrs__" else value)

    def _instance(self, thing: Any) -> Iterator[str]:
        cls = type(thing)
        of_python = opaque_name(cls) is not None and not _is_of_kwalk(cls.__module__)
        if of_python or isinstance(thing, CONTAINERS):
            raise NoMeaning(f"{thing!r:.80}, of the class {cls.__qualname__}")
        if cls not in self.attributes:
            self.attributes[cls] = _attributes(cls)
        slots, without = self.attributes[cls]
        state = {name: value for name, value in getattr(thing, "__dict__", {}).items() if name not in without}
        for name, slot in slots.items():
            try:
                state[name] = slot.__get__(thing)
            except AttributeError:
                continue
        yield self.ref(cls)
        for name in sorted(state):
            yield name
            yield self.ref(state[name])


SIMPLE = frozenset({type(None), bool, str, int})
SHORT = 20
"""The items of a tuple of simple values that is described where it is referred to."""
VALUES = frozenset({tuple, list, dict, set, frozenset, types.CellType, types.MappingProxyType})  # type: ignore[arg-type]
"""Classes of which no object is opaque."""
ATOMS = frozenset({type(None), bool, str, bytes, float, complex, type(...), type(NotImplemented)})
BUILTINS = vars(builtins)
ATTRS = {module.__name__: Path(module.__file__ or "").parent for module in (attr, attrs)}
"""The folders of the packages that make classes of the language."""
HEAP_TYPE = 1 << 9
"""The flag of classes that are made while Python runs (`Py_TPFLAGS_HEAPTYPE`)."""
SLOTS_OF_C = (types.WrapperDescriptorType, types.MethodDescriptorType, types.ClassMethodDescriptorType)
"""Methods of classes that are not written in Python."""
CONTAINERS = (int, str, bytes, tuple, list, dict, set, frozenset)
"""Classes whose objects have a content besides their attributes, so that those of a subclass are not digested."""
DESCRIBED: dict[type, Callable[[_Walk, Any], Iterable[str]]] = {
    tuple: _Walk._items,
    list: _Walk._items,
    range: lambda walk, thing: (repr(thing),),
    set: _Walk._set,
    frozenset: _Walk._set,
    dict: _Walk._dict,
    types.MappingProxyType: _Walk._dict,
    FunctionType: _Walk._function,
    types.CellType: _Walk._cell,
    ModuleType: _Walk._module,
    types.MethodType: _Walk._method,
    types.BuiltinMethodType: _Walk._builtin_method,
    staticmethod: _Walk._wrapper,
    classmethod: _Walk._wrapper,
    property: _Walk._property,
    functools.cached_property: _Walk._cached_property,
    functools.partial: _Walk._partial,
    re.Pattern: lambda walk, thing: ("pattern", walk.ref(thing.pattern), str(thing.flags)),
    object: lambda walk, thing: ("object",),
}
"""How an object of a class is described; others by their class and attributes."""


def _is_of_kwalk(module: str) -> bool:
    """Return whether a module is part of kwalk's language, or its public face, or attrs, which makes its classes."""
    return module in ("kwalk", LANGUAGE) or module.startswith(f"{LANGUAGE}.") or module.partition(".")[0] in ATTRS


def _is_opaque(module: ModuleType) -> bool:
    """Return whether the classes and functions of a module are named instead of described.

    A project may have modules with names of Python's own, so that the file decides.
    """
    file, name = getattr(module, "__file__", None), module.__name__
    if name.partition(".")[0] in ATTRS:
        return file is not None and Path(file).parent in ATTRS.values()
    if _is_of_kwalk(name):
        return True
    if name.partition(".")[0] not in sys.stdlib_module_names or name == "__main__":
        return False
    return file is None or (STANDARD in Path(file).parents and "site-packages" not in Path(file).parts)


_OPAQUE: dict[str, tuple[ModuleType, bool]] = {}


def _opaque_module(name: str | None) -> ModuleType | None:
    """Return the opaque module of a name; None if there is none."""
    module = sys.modules.get(name or "builtins")
    if module is None:
        return None
    known = _OPAQUE.get(module.__name__)
    if known is None or known[0] is not module:
        known = _OPAQUE[module.__name__] = module, _is_opaque(module)
    return module if known[1] else None


def _is_of_opaque_module(function: FunctionType) -> bool:
    """Return whether an opaque module defines a function, whatever `__module__` says."""
    module = _opaque_module(function.__module__)
    return module is not None and vars(module) is function.__globals__


def opaque_name(thing: Any) -> str | None:
    """Return the name of an opaque module, class or function; None for anything else."""
    if isinstance(thing, ModuleType):
        return f"module {thing.__name__}" if _is_of_kwalk(thing.__name__) and _opaque_module(thing.__name__) else None
    if isinstance(thing, SLOTS_OF_C):
        return f"{thing.__objclass__.__module__}.{thing.__qualname__}"
    if not isinstance(thing, type | FunctionType | types.BuiltinFunctionType):
        return None
    module, name = getattr(thing, "__module__", None), thing.__qualname__
    if isinstance(thing, types.BuiltinFunctionType) and module is None:
        return None
    found: Any = _opaque_module(module)
    if found is None:
        return None
    for part in name.split("."):
        found = getattr(found, part, None)
    # Some classes of Python are found nowhere, such as that of cells.
    is_static = isinstance(thing, type) and not thing.__flags__ & HEAP_TYPE
    return f"{module}.{name}" if found is thing or is_static or isinstance(thing, types.BuiltinFunctionType) else None


@functools.lru_cache(maxsize=4096)
def mentioned_in(code: CodeType) -> frozenset[str]:
    """Return all names that a piece of code, or code within it, mentions: globals and attributes."""
    inner = (each for each in code.co_consts if isinstance(each, CodeType))
    return frozenset(code.co_names).union(*map(mentioned_in, inner))


def _attributes(cls: type) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the slots of a class and its bases, and the names of attributes without meaning."""
    slots: dict[str, Any] = {}
    without: set[str] = set()
    for base in cls.__mro__:
        without |= WITHOUT_MEANING.get(base, frozenset())
        without.update(name for name, value in vars(base).items() if isinstance(value, functools.cached_property))
        slots |= {
            name: value
            for name, value in vars(base).items()
            if isinstance(value, MemberDescriptorType) and name != "__weakref__"
        }
    return {name: slot for name, slot in slots.items() if name not in without}, frozenset(without)
