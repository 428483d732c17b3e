"""What compiled loops need below Python: calls by address, raw words, bit operations, prefetch.

Words: an *address* is an int64; a *word* is the uint64 stored there. All functions here work inside compiled loops
only.
"""
from __future__ import annotations

import hashlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.caching import NullCache
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from kwalk.search.base.cache import is_trusted

IMPORT = re.compile(rb"^from (kwalk\.search\.[\w.]+) import", re.MULTILINE)
"""The imports of a module of loops that its cached code depends on."""
WORD = ir.IntType(64)
WIDE = ir.IntType(128)
BYTE = ir.IntType(8)

Word = Annotated[Any, np.uint64]
"""A uint64 inside a loop, where plain `int` means int64."""
Int64Array = Annotated[np.ndarray, np.int64, 1]
"""An array that a loop takes: the type of its items, and its dimensions. It is contiguous."""
Uint16Array = Annotated[np.ndarray, np.uint16, 1]
ByteArray = Annotated[np.ndarray, np.uint8, 1]
BoolArray = Annotated[np.ndarray, np.bool_, 1]
WordArray = Annotated[np.ndarray, np.uint64, 1]
WordMatrix = Annotated[np.ndarray, np.uint64, 2]
Int32Matrix = Annotated[np.ndarray, np.int32, 2]

integer: Any = np.int64
"""Converts a word to int64 inside a loop."""
ZERO: Word = np.uint64(0)
ONE: Word = np.uint64(1)


LOOPS: list[Any] = []
"""All loops of the imported modules."""


def loop(function: Callable[..., Any]) -> Any:
    """Compile a loop, with a cache on disk and without the GIL.

    The cache is invalid once the module, or one that it imports, changes. (Numba itself checks one file per function
    and would miss a change in a callee.) Where no cache folder can be written, or one elsewhere than beside the module
    is not trusted, or a cache file is damaged, the loop is compiled again.
    """
    compiled = njit(nogil=True, error_model="numpy")(function)
    LOOPS.append(compiled)
    with suppress(RuntimeError):  # numba finds no folder to write to
        compiled.enable_caching()
    folder = compiled._cache.cache_path
    # A folder beside the module is as safe as the module itself, and Python's own byte code is there too.
    if folder and Path(folder).parent != Path(function.__code__.co_filename).parent and not is_trusted(Path(folder)):
        compiled._cache = NullCache()
    cache_file = getattr(compiled._cache, "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = _sources(function.__module__)
        compiled._cache._guard_against_spurious_io_errors = partial(_tolerating_damage, cache_file)
    return compiled


def signature_of(compiled: Any) -> tuple[Any, ...]:
    """Return the types of the arguments of a loop, from its annotations."""
    hints = get_type_hints(compiled.py_func, include_extras=True)
    return tuple(_type_of(hints[name]) for name in inspect.signature(compiled.py_func).parameters)


def _type_of(hint: Any) -> Any:
    """Return what an annotation means inside a loop."""
    if get_origin(hint) is Annotated:
        _, item, *dimensions = get_args(hint)
        return types.Array(from_dtype(np.dtype(item)), *dimensions, "C") if dimensions else from_dtype(np.dtype(item))
    if get_origin(hint) is tuple:
        return types.UniTuple(types.int64, len(get_args(hint)))
    if hasattr(hint, "_fields"):
        fields = get_type_hints(hint, include_extras=True)
        return types.BaseTuple.from_types([_type_of(fields[name]) for name in hint._fields], hint)
    if hint is int:
        return types.int64
    raise TypeError(f"A loop cannot take {hint!r}. It can take int, Word, tuples of int, arrays, NamedTuples of these.")


@contextmanager
def _tolerating_damage(cache_file: Any) -> Iterator[None]:
    """Replace a damaged cache file; if that fails too (a full disk), run without a cache."""
    try:
        yield
    except Exception:
        with suppress(OSError):
            cache_file.flush()


def part(function: Callable[..., Any]) -> Any:
    """Compile a part of loops that is always inlined, so that structures are passed in registers.

    It has no wrapper for Python, which saves a third of the compile time.
    """
    inlined = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(nogil=True, error_model="numpy", **inlined)(function)


@cache
def _sources(module: str) -> str:
    """Return a digest of the sources of a module and of the `kwalk.search` modules that it imports, directly or not."""
    texts: dict[str, bytes] = {}
    waiting = {module}
    while waiting:
        name = waiting.pop()
        texts[name] = source = _source(name)
        imported = {found.decode() for found in IMPORT.findall(source)}
        waiting |= {name for name in imported if name in sys.modules} - set(texts)
    digest = hashlib.sha256()
    for _, source in sorted(texts.items()):
        digest.update(source)
    return digest.hexdigest()


@cache
def _source(module: str) -> bytes:
    """Return the source of an imported module."""
    file = getattr(sys.modules[module], "__file__", None)
    return Path(file).read_bytes() if file else b""


@intrinsic
def call(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the C function at an address with a tuple of int64 arguments; return its int64."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return _call(builder, values, len(signature.args[1]), WORD)

    return types.int64(types.int64, arguments), generate


@intrinsic
def call_void(typing: Any, address: Any, arguments: Any) -> Any:
    """Call the C function at an address, which returns nothing, with a tuple of int64 arguments."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        _call(builder, values, len(signature.args[1]), ir.VoidType())
        return context.get_dummy_value()

    return types.none(types.int64, arguments), generate


def _call(builder: ir.IRBuilder, values: Any, count: int, result: ir.Type) -> Any:
    address, arguments = values
    function = builder.inttoptr(address, ir.FunctionType(result, [WORD] * count).as_pointer())
    return builder.call(function, [builder.extract_value(arguments, k) for k in range(count)])


def _reader(bits: int, about: str, align: int | None = None) -> Any:
    def read(typing: Any, base: Any, index: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            item = builder.load(item_at(builder, values, bits), align=align)
            return item if bits == 64 else builder.zext(item, WORD)

        return types.uint64(types.int64, types.int64), generate

    read.__doc__ = about
    return intrinsic(read)


def _writer(bits: int, about: str, align: int | None = None) -> Any:
    def write(typing: Any, base: Any, index: Any, word: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            item = values[2] if bits == 64 else builder.trunc(values[2], ir.IntType(bits))
            builder.store(item, item_at(builder, values, bits), align=align)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.uint64), generate

    write.__doc__ = about
    return intrinsic(write)


def item_at(builder: ir.IRBuilder, values: Any, bits: int) -> Any:
    """Return a pointer to an item of `bits` bits, from (address, index)."""
    return builder.gep(builder.inttoptr(values[0], ir.IntType(bits).as_pointer()), [values[1]])


peek = _reader(64, "Word `index` of an array at an address.")
peek32 = _reader(32, "Item `index` of an array of uint32 at an address, as a word.")
peek16 = _reader(16, "Item `index` of an array of uint16 at an address, as a word.")
peek8 = _reader(8, "Byte `index` at an address, as a word.")
peek_anywhere = _reader(64, "Word `index` of an array at an address that need not be a multiple of 8.", align=1)
poke = _writer(64, "Set word `index` of an array at an address.")
poke32 = _writer(32, "Set item `index` of an array of uint32 at an address.")
poke16 = _writer(16, "Set item `index` of an array of uint16 at an address.")
poke8 = _writer(8, "Set byte `index` at an address.")
poke_anywhere = _writer(64, "Set word `index` of an array at an address that need not be a multiple of 8.", align=1)


@part
def get(base: int, index: int) -> int:
    """Return item `index` of the array of int64 at an address.

    Loops take addresses instead of arrays: Numba counts references to an array argument with locked instructions.
    """
    return integer(peek(base, index))


@part
def put(base: int, index: int, number: int) -> None:
    """Set item `index` of the array of int64 at an address."""
    poke(base, index, np.uint64(number))


@part
def count_up(base: int, index: int, amount: int) -> None:
    """Add to item `index` of the array of int64 at an address."""
    poke(base, index, peek(base, index) + np.uint64(amount))


@intrinsic
def prefetch(typing: Any, address: Any) -> Any:
    """Prefetch the cache line at an address for reading and writing."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        flag, pointer = ir.IntType(32), BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(function, [builder.inttoptr(values[0], pointer), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.none(types.int64), generate


@intrinsic
def folded_multiply(typing: Any, left: Any, right: Any) -> Any:
    """Multiply two words and return the exclusive or of the two halves of the 128-bit product."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        low, high = _product(builder, values)
        return builder.xor(low, high)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def scale(typing: Any, word: Any, size: Any) -> Any:
    """Map a word, a fraction of 2^64, to a number in 0 … size - 1; monotone in the word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return _product(builder, values)[1]

    return types.uint64(types.uint64, types.uint64), generate


def _product(builder: ir.IRBuilder, values: Any) -> tuple[Any, Any]:
    product = builder.mul(builder.zext(values[0], WIDE), builder.zext(values[1], WIDE))
    return builder.trunc(product, WORD), builder.trunc(builder.lshr(product, WIDE(64)), WORD)


@intrinsic
def bit_count(typing: Any, word: Any) -> Any:
    """Count the set bits of a word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return types.int64(types.uint64), generate


@intrinsic
def lowest_bit(typing: Any, word: Any) -> Any:
    """Return the index of the lowest set bit; 64 if no bit is set."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


@intrinsic
def deposit(typing: Any, bits: Any, mask: Any) -> Any:
    """Move the low bits to the set bits of a mask (the instruction `pdep`). Only if HAS_DEPOSIT."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD, WORD])
        function = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
        return builder.call(function, values)

    return types.uint64(types.uint64, types.uint64), generate


HAS_DEPOSIT = bool(llvmlite.binding.get_host_cpu_features().get("bmi2", False))


if HAS_DEPOSIT:

    @part
    def select_bit(word: Word, rank: int) -> int:
        """Return the index of the set bit that has `rank` set bits below it."""
        return lowest_bit(deposit(ONE << np.uint64(rank), word))

else:

    @part
    def select_bit(word: Word, rank: int) -> int:
        """Return the index of the set bit that has `rank` set bits below it."""
        for _ in range(rank):
            word &= word - ONE
        return lowest_bit(word)
