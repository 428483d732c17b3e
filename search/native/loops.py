"""Compiled loops: Python functions as machine code that is kept on disk. Without compiling, no compiler is imported.

Words: a *loop* is a function that Python calls; its annotations are its types. A *part* is a function that loops call,
and is inlined. An *intrinsic* is an operation of LLVM; loops and parts call it. Numba compiles a loop, which takes
seconds (`loop_compiler`), to one C function, of which a wheel has the bitcode (`bitcode`). Its argument is the address
of a *block* of words: the result, two for Numba, and then all numbers of the arguments in order; of an array, its
address and its lengths. The object code is kept under a *key*, a digest of all that it depends on: the code of the loop
and of all parts and intrinsics that it calls, the values of the global names that they read, the compiler, the versions
of the packages, and the CPU.

Object code is kept in the folder `__pycache__` beside the module of the loop, which is as safe as the module itself:
the byte code of Python is there too. Where that cannot be written, it is kept in the cache
(`kwalk.search.base.cache`). What is damaged, or not trusted, is compiled again.
"""

from __future__ import annotations

import ctypes
import hashlib
import inspect
import sys
from array import array
from collections.abc import Callable, Sequence
from enum import Enum, EnumMeta
from functools import cache, cached_property
from importlib import import_module
from importlib.util import find_spec
from opcode import opmap
from pathlib import Path
from threading import Lock
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Annotated, Any, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints, overload

import numpy as np

from kwalk.model.language.source import effect_of
from kwalk.search.base.cache import cache_path, read_beside_module, read_cache, write_beside_module, write_cache
from kwalk.search.base.progress import loop_compilation
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.processor import cpu

Word = Annotated[Any, np.uint64]
"""A uint64 inside a loop, where plain `int` means int64."""
Int64Array = Annotated[np.ndarray, np.int64, 1]
"""An array that a loop takes: the type of its items, and its dimensions. It is contiguous."""
Uint32Array = Annotated[np.ndarray, np.uint32, 1]
ByteArray = Annotated[np.ndarray, np.uint8, 1]
BoolArray = Annotated[np.ndarray, np.bool_, 1]
WordArray = Annotated[np.ndarray, np.uint64, 1]
WordMatrix = Annotated[np.ndarray, np.uint64, 2]
Int32Matrix = Annotated[np.ndarray, np.int32, 2]

ENTRY = "entry"
"""The name of the C function of a loop."""
EMITTER, COMPILER = "kwalk.search.native.bitcode", "kwalk.search.native.loop_compiler"
FOLDER = Path(__file__).with_name("levels")
"""The bitcode of the loops in a wheel (see `bitcode`)."""
ABOUT = "about.txt"
"""The file in FOLDER that says what its bitcode is made by, and has its digest."""
BLOCK_RESULT, BLOCK_NUMBA, BLOCK_ARGUMENTS = 0, 1, 3
"""The words of a block: the result, two that Numba's calls write to, and the arguments from the third on."""
RETURNED = (0, -2)
"""The status of a call that returned; -2: without a result."""
CONSTANTS = (int, float, complex, str, bytes, type(None), type(Ellipsis), np.generic)

UNKNOWN = "unknown"
EXTENDED_ARG, LOAD_GLOBAL = opmap["EXTENDED_ARG"], opmap["LOAD_GLOBAL"]
_SIGN = 1 << 63


class LateModule:
    """A module that is imported when something of it is first used: intrinsics need LLVM only while they compile."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)


Function = TypeVar("Function", bound=Callable[..., Any])
"""A function whose callers are checked by its own annotations."""
Result = TypeVar("Result")

LOOPS: list[CompiledLoop] = []
"""All loops of the imported modules."""


class LoopPart:
    """A function that loops call, and that is inlined there, so that structures are passed in registers."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Any = function
        self.__doc__ = function.__doc__
        self.of_numba: Any = None
        """What Numba made of it."""

    @property
    def _numba_type_(self) -> Any:
        """What Numba takes this for, when a function that it compiles calls it."""
        return import_module(COMPILER).type_of_part(self)

    def __call__(self, *arguments: Any) -> Any:
        """Refuse the call: a part has no entry of its own."""
        raise TypeError(f"{self.function.__qualname__} works inside compiled loops only: call it from a loop.")


class Intrinsic(LoopPart):
    """An operation of LLVM: `function(builder, *values)` emits it.

    Args:
        function: Emits the operation, and returns its value.
        result: The type of the result, and
        arguments: the types of the arguments: int, Word, bool, or tuple for any tuple of int.
        about: The documentation; by default that of the function.
    """

    def __init__(
        self, function: Callable[..., Any], result: Any, arguments: tuple[Any, ...], about: str | None = None
    ) -> None:
        super().__init__(function)
        self.__doc__ = about or function.__doc__
        self.result, self.arguments = result, arguments

    @property
    def _numba_type_(self) -> Any:
        return import_module(COMPILER).type_of_intrinsic(self)


class CompiledLoop:
    """A function that is compiled at its first call, or loaded from the cache, and that runs without the GIL."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function: Any = function
        self.of_numba: Any = None
        self.__doc__, self.__name__, self.__module__ = function.__doc__, function.__name__, function.__module__
        self._call: Any = None
        self._lock = Lock()
        LOOPS.append(self)

    @property
    def _numba_type_(self) -> Any:
        return import_module(COMPILER).type_of_loop(self)

    def __call__(self, *arguments: Any) -> Any:
        """Call the loop; TypeError for arguments that do not have the types of its annotations."""
        if self._call is None:
            self.load()
        words = [0] * BLOCK_ARGUMENTS
        try:
            _write(self._layouts, arguments, words)
            block = array("q", words)
        except (TypeError, ValueError, OverflowError) as error:
            raise TypeError(f"{self.__name__}{inspect.signature(self.function)} cannot be called: {error}") from error
        address = block.buffer_info()[0]
        status = self._call(address + 8 * BLOCK_NUMBA, address + 8 * (BLOCK_NUMBA + 1), address)
        if status not in RETURNED:
            raise RuntimeError(f"The compiled loop {self.__name__} raised an exception (status {status}).")
        return self._result_of_word(block[BLOCK_RESULT])

    def load(self) -> bool:
        """Load the code of the loop, or compile it; return whether it was kept from an earlier compilation."""
        with self._lock:
            if self._call is not None:
                return True
            content = self._kept()
            kept = content is not None
            if content is None:
                with loop_compilation(self.__name__):
                    content = import_module(EMITTER).object_code_of(self)
                self._keep(content)
            self._code = LoadedCode([content], [ENTRY])
            function = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)
            self._call = function(self._code.addresses[ENTRY])
            return kept

    @property
    def entry(self) -> int:
        """The address of the C function of the loop, for other loops (see `kwalk.search.native.intrinsics.enter`)."""
        self.load()
        return int(self._code.addresses[ENTRY])

    @property
    def files(self) -> tuple[Path, Path]:
        """Where the object code can be: beside the module, and in the cache."""
        source = Path(self.function.__code__.co_filename)
        name = f"{source.stem}.{self.function.__qualname__}-{self.key}.loop"
        return source.parent / "__pycache__" / name, cache_path("loops", name)

    @property
    def key(self) -> str:
        """32 hexadecimal digits that differ whenever the machine code can differ."""
        own = (_environment(), digest_of(self.function), repr(self._layouts).encode())
        return hashlib.blake2b(b"\0".join(own), digest_size=16).hexdigest()

    def _kept(self) -> bytes | None:
        beside, cached = self.files
        content = read_beside_module(beside)
        return content if content is not None else read_cache(cached)

    def _keep(self, content: bytes) -> None:
        beside, cached = self.files
        if not write_beside_module(beside, content):
            write_cache(cached, content)

    @cached_property
    def _layouts(self) -> tuple[Any, ...]:
        hints = get_type_hints(self.function, include_extras=True)
        return tuple(layout_of(hints.get(name)) for name in inspect.signature(self.function).parameters)

    @cached_property
    def _result_of_word(self) -> Callable[[int], Any]:
        hint = get_type_hints(self.function, include_extras=True).get("return")
        results: dict[Any, Callable[[int], Any]] = {type(None): _nothing, int: int, bool: bool, Word: _unsigned}
        return results[hint]


def loop(function: Callable[..., Any]) -> Any:
    """Make a loop of a function: its annotations are int, Word, tuples of int, arrays, and NamedTuples of these."""
    return CompiledLoop(function)


def part(function: Function) -> Function:
    """Make a part of loops of a function. Its types are those of the arguments of each call, where it is inlined."""
    return cast(Function, LoopPart(function))


@overload
def intrinsic(result: type[Result], *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Result]]: ...
@overload
def intrinsic(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def intrinsic(result: Any, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an intrinsic of a function that emits it; see `Intrinsic`."""
    return lambda function: Intrinsic(function, result, arguments)


class ArrayLayout(NamedTuple):
    """An array that a loop takes: two words or more of a block, its address and its lengths."""

    items: Any
    """The NumPy type of its items."""
    dimensions: int


class TupleLayout(NamedTuple):
    """A tuple that a loop takes, which is the words of its items."""

    kind: type[Any]
    """Its class: `tuple`, or a NamedTuple."""
    items: tuple[Any, ...]
    """The layouts of its items: `int`, `Word`, an ArrayLayout or a TupleLayout."""
    names: tuple[str, ...]
    """The names of the items of a NamedTuple."""
    is_flat: bool
    """Whether all items are `int`."""


def layout_of(hint: Any) -> Any:
    """Return the layout that an annotation of a loop means."""
    if hint in (int, Word):
        return hint
    if get_origin(hint) is Annotated:
        return ArrayLayout(*get_args(hint)[1:])
    if get_origin(hint) is tuple:
        return _tuple_layout(tuple, get_args(hint))
    if hasattr(hint, "_fields"):
        hints = get_type_hints(hint, include_extras=True)
        return _tuple_layout(hint, tuple(hints[name] for name in hint._fields))
    raise TypeError(f"A loop cannot take {hint!r}. It can take int, Word, tuples of int, arrays, NamedTuples of these.")


def _tuple_layout(kind: type[Any], hints: tuple[Any, ...]) -> TupleLayout:
    items = tuple(map(layout_of, hints))
    return TupleLayout(kind, items, getattr(kind, "_fields", ()), all(item is int for item in items))


def _write(layouts: Sequence[Any], values: Sequence[Any], words: list[Any]) -> None:
    """Add the words of values to a block."""
    for layout, value in zip(layouts, values, strict=True):
        if layout is int:
            words.append(value)
        elif layout is Word:
            words.append((int(value) ^ _SIGN) - _SIGN)
        elif isinstance(layout, ArrayLayout):
            _write_array(layout, value, words)
        else:
            kind = type(value)
            if kind is not layout.kind and getattr(kind, "_fields", None) != layout.names:
                raise TypeError(f"{kind.__name__} is no {layout.kind.__name__}")
            if not layout.is_flat:
                _write(layout.items, value, words)
            elif len(value) == len(layout.items):
                words.extend(value)
            else:
                raise ValueError(f"{len(value)} items where {len(layout.items)} are expected")


def _write_array(layout: ArrayLayout, value: Any, words: list[Any]) -> None:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} is no array")
    if value.dtype != layout.items or value.ndim != layout.dimensions or not value.flags.c_contiguous:
        raise TypeError(
            f"an array of {value.dtype} with {value.ndim} dimensions, contiguous: {value.flags.c_contiguous}, "
            f"where {layout.items.__name__} with {layout.dimensions} is expected, contiguous"
        )
    words.append(value.ctypes.data)
    words.extend(value.shape)


def _unsigned(word: int) -> int:
    return word % (1 << 64)


def _nothing(word: int) -> None:
    return None


_DIGESTS: dict[int, tuple[Any, bytes]] = {}
"""The digests of functions by the identity of the function, which is kept with it."""


def digest_of(function: FunctionType) -> bytes:
    """Return a digest of all that the machine code of a function depends on: its code, and what it reads and calls."""
    _, digest = _DIGESTS.get(id(function), (None, b""))
    if not digest:
        made = hashlib.blake2b(digest_size=16)
        outside = (*globals_of(function).items(), *(function.__defaults__ or ()))
        for thing in (repr(effect_of(function.__code__)), *map(described, outside)):
            made.update(thing.encode() + b"\0")
        digest = made.digest()
        _DIGESTS[id(function)] = function, digest
    return digest


def globals_of(function: FunctionType) -> dict[str, Any]:
    """Return what a function reads from outside by name: globals, and variables of functions around it."""
    names = global_names(function.__code__)
    found = {name: function.__globals__[name] for name in sorted(names) if name in function.__globals__}
    cells = (cell.cell_contents for cell in function.__closure__ or ())
    return found | dict(zip(function.__code__.co_freevars, cells, strict=True))


def global_names(code: CodeType) -> set[str]:
    """Return the global names that code reads. The compiler of loops checks this against the module `dis`."""
    found, high = set(), 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = high | low
        high = argument << 8 if operation == EXTENDED_ARG else 0
        if operation == LOAD_GLOBAL:
            found.add(code.co_names[argument >> 1])
    return found.union(*(global_names(each) for each in code.co_consts if isinstance(each, CodeType)))


def described(thing: Any) -> str:
    """Return a text that differs whenever a value means something else to a loop; for other values, UNKNOWN first."""
    if isinstance(thing, CompiledLoop | LoopPart):
        types = (thing.result, thing.arguments) if isinstance(thing, Intrinsic) else ()
        return f"{type(thing).__name__} {types} {digest_of(thing.function).hex()}"
    if isinstance(thing, FunctionType):
        return f"function {digest_of(thing).hex()}"
    if isinstance(thing, EnumMeta):
        members: dict[str, Enum] = dict(thing.__members__)
        return f"{thing.__qualname__} {[(name, member.value) for name, member in members.items()]}"
    if isinstance(thing, Enum):
        return f"{type(thing).__qualname__} {thing.value}"
    if isinstance(thing, tuple):
        return f"{type(thing).__name__} {[described(item) for item in thing]}"
    if isinstance(thing, type):
        return f"{thing.__module__} {thing.__qualname__} {getattr(thing, '_fields', ())} {_defaults(thing)}"
    if isinstance(thing, ModuleType | BuiltinFunctionType | LateModule):
        return f"{type(thing).__name__} {thing.__name__}"
    if isinstance(thing, CONSTANTS):
        return f"{type(thing).__name__} {thing!r}"
    return f"{UNKNOWN} {type(thing).__qualname__}"


def _defaults(kind: type[Any]) -> str:
    return described(tuple(getattr(kind, "_field_defaults", {}).items()))


@cache
def _environment() -> bytes:
    """Return what all loops depend on: the CPU, the versions of the packages, and the modules that compile loops."""
    numba = find_spec("numba")
    sources = [Path(__file__).with_name(f"{name}.py") for name in ("loops", "loop_compiler", "object_code")]
    sources += [Path(numba.origin).with_name("_version.py")] if numba is not None and numba.origin is not None else []
    sources += [about] if (about := FOLDER / ABOUT).exists() else []
    digest = hashlib.blake2b("\0".join((cpu(), np.__version__, sys.version)).encode(), digest_size=16)
    for path in sources:
        digest.update(path.read_bytes())
    return digest.digest()
