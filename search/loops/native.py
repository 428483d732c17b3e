"""What the loops need below Python: calls by address, raw words, bit tricks, prefetch.

Words: an *address* is an int64; a *word* is the uint64 stored there. All functions here work inside loops only.
"""
from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

WORD = ir.IntType(64)
WIDE = ir.IntType(128)
BYTE = ir.IntType(8)

Word = Any
"""A uint64 inside a loop, where plain `int` means int64."""

integer: Any = np.int64
"""Makes an int64 of a word inside a loop."""
ZERO: Word = np.uint64(0)
ONE: Word = np.uint64(1)


def loop(function: Callable[..., Any]) -> Any:
    """Compile a loop: cached on disk, without the GIL. The cache is void as soon as a source here or below changes.

    (Numba alone looks at one file per function and would miss a change in what it calls.) Where no folder for it can be
    written, or it is broken, the loop is compiled anew.
    """
    compiled = njit(nogil=True, error_model="numpy")(function)
    with suppress(RuntimeError):  # numba finds no folder to write to
        compiled.enable_caching()
    kept = getattr(compiled._cache, "_cache_file", None)
    if kept is not None:
        kept._source_stamp = _sources()
        compiled._cache._guard_against_spurious_io_errors = partial(_forgiving, kept)
    return compiled


@contextmanager
def _forgiving(kept: Any) -> Iterator[None]:
    """Whatever is wrong with a cache file, begin it anew; if that fails too (a full disk), go on without."""
    try:
        yield
    except Exception:
        with suppress(OSError):
            kept.flush()


def part(function: Callable[..., Any]) -> Any:
    """Compile a part of loops: always inlined where it is called, so that structures travel in registers.

    It has no wrapper for Python, which saves a third of the time to compile.
    """
    inlined = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return njit(nogil=True, error_model="numpy", **inlined)(function)


@cache
def _sources() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@intrinsic
def call(typing: Any, address: Any, arguments: Any) -> Any:
    """The int64 that a C function returns for a tuple of int64 arguments."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return _call(builder, values, len(signature.args[1]), WORD)

    return types.int64(types.int64, arguments), generate


@intrinsic
def call_void(typing: Any, address: Any, arguments: Any) -> Any:
    """Call a C function that returns nothing with a tuple of int64 arguments."""

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
    """The pointer to an item of so many bits, of an address and an index."""
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
    """Number `index` of an array of int64 at an address.

    Loops go by addresses: an array in their arguments would be counted as used around every call, with the bus locked.
    """
    return integer(peek(base, index))


@part
def put(base: int, index: int, number: int) -> None:
    """Set number `index` of an array of int64 at an address."""
    poke(base, index, np.uint64(number))


@part
def count_up(base: int, index: int, amount: int) -> None:
    """Add to number `index` of an array of int64 at an address."""
    poke(base, index, peek(base, index) + np.uint64(amount))


@intrinsic
def prefetch(typing: Any, address: Any) -> Any:
    """Ask for the cache line at an address, which will be read and perhaps written."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        flag, pointer = ir.IntType(32), BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        builder.call(function, [builder.inttoptr(values[0], pointer), flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.none(types.int64), generate


@intrinsic
def fold(typing: Any, left: Any, right: Any) -> Any:
    """The two halves of the 128-bit product of two words, combined by exclusive or."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        low, high = _product(builder, values)
        return builder.xor(low, high)

    return types.uint64(types.uint64, types.uint64), generate


@intrinsic
def scale(typing: Any, word: Any, size: Any) -> Any:
    """The word as a fraction of 2^64, times the size: a number in 0 … size - 1, and monotone in the word."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return _product(builder, values)[1]

    return types.uint64(types.uint64, types.uint64), generate


def _product(builder: ir.IRBuilder, values: Any) -> tuple[Any, Any]:
    product = builder.mul(builder.zext(values[0], WIDE), builder.zext(values[1], WIDE))
    return builder.trunc(product, WORD), builder.trunc(builder.lshr(product, WIDE(64)), WORD)


@intrinsic
def bit_count(typing: Any, word: Any) -> Any:
    """How many bits of a word are set."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.ctpop(values[0])

    return types.int64(types.uint64), generate


@intrinsic
def lowest_bit(typing: Any, word: Any) -> Any:
    """The number of the lowest set bit; 64 if there is none."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.cttz(values[0], ir.IntType(1)(0))

    return types.int64(types.uint64), generate


@intrinsic
def deposit(typing: Any, bits: Any, mask: Any) -> Any:
    """The low bits, put where the mask has its set bits (the instruction `pdep`). Only if HAS_DEPOSIT."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        kind = ir.FunctionType(WORD, [WORD, WORD])
        function = builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind)
        return builder.call(function, values)

    return types.uint64(types.uint64, types.uint64), generate


HAS_DEPOSIT = bool(llvmlite.binding.get_host_cpu_features().get("bmi2", False))


if HAS_DEPOSIT:

    @part
    def select_bit(word: Word, rank: int) -> int:
        """The number of the set bit that has `rank` set bits below it."""
        return lowest_bit(deposit(ONE << np.uint64(rank), word))

else:

    @part
    def select_bit(word: Word, rank: int) -> int:
        """The number of the set bit that has `rank` set bits below it."""
        for _ in range(rank):
            word &= word - ONE
        return lowest_bit(word)
