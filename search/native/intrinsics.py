"""What compiled loops need below Python: calls by address, raw words, bit operations, prefetch.

Words: an *address* is an int64; a *word* is the uint64 stored there. All functions here work inside compiled loops
only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from kwalk.search.native.loops import BLOCK_NUMBA, Intrinsic, LateModule, Word, intrinsic, part
from kwalk.search.native.processor import V3, level

if TYPE_CHECKING:
    from llvmlite import ir
else:
    ir = LateModule("llvmlite.ir")

integer: Callable[[Any], int] = cast(Any, np.int64)
"""Converts a word to int64 inside a loop."""
ZERO: Word = np.uint64(0)
ONE: Word = np.uint64(1)
HASH_FACTORS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0xD6E8FEB86659FD93))
"""The first, the second and the last factor of hashes, which are made of `folded_multiply`."""


@intrinsic(int, int, tuple)
def call(builder: ir.IRBuilder, address: Any, arguments: Any) -> Any:
    """Call the C function at an address with a tuple of int64 arguments; return its int64."""
    return _call(builder, address, arguments, ir.IntType(64))


@intrinsic(None, int, tuple)
def call_void(builder: ir.IRBuilder, address: Any, arguments: Any) -> Any:
    """Call the C function at an address, which returns nothing, with a tuple of int64 arguments."""
    return _call(builder, address, arguments, ir.VoidType())


def _call(builder: ir.IRBuilder, address: Any, arguments: Any, result: ir.Type) -> Any:
    count = len(arguments.type)
    function = builder.inttoptr(address, ir.FunctionType(result, [ir.IntType(64)] * count).as_pointer())
    return builder.call(function, [builder.extract_value(arguments, k) for k in range(count)])


@part
def enter(entry: int, block: int) -> None:
    """Call the loop with an entry; `block` is an address, where its arguments are and its result will be (`loops`)."""
    call_void(entry, (block + 8 * BLOCK_NUMBA, block + 8 * (BLOCK_NUMBA + 1), block))


def _reader(bits: int, about: str, align: int | None = None) -> Any:
    def read(builder: ir.IRBuilder, base: Any, index: Any) -> Any:
        item = builder.load(item_at(builder, base, index, bits), align=align)
        return item if bits == 64 else builder.zext(item, ir.IntType(64))

    return Intrinsic(read, Word, (int, int), about)


def _writer(bits: int, about: str, align: int | None = None) -> Any:
    def write(builder: ir.IRBuilder, base: Any, index: Any, word: Any) -> None:
        item = word if bits == 64 else builder.trunc(word, ir.IntType(bits))
        builder.store(item, item_at(builder, base, index, bits), align=align)

    return Intrinsic(write, None, (int, int, Word), about)


def item_at(builder: ir.IRBuilder, base: Any, index: Any, bits: int) -> Any:
    """Return a pointer to item `index`, of `bits` bits, of an array at an address."""
    return builder.gep(builder.inttoptr(base, ir.IntType(bits).as_pointer()), [index])


peek = _reader(64, "Word `index` of an array at an address.")
peek32 = _reader(32, "Item `index` of an array of uint32 at an address, as a word.")
peek8 = _reader(8, "Byte `index` at an address, as a word.")
peek_anywhere = _reader(64, "Word `index` of an array at an address that need not be a multiple of 8.", align=1)
poke = _writer(64, "Set word `index` of an array at an address.")
poke32 = _writer(32, "Set item `index` of an array of uint32 at an address.")
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


@intrinsic(None, int)
def prefetch(builder: ir.IRBuilder, address: Any) -> None:
    """Prefetch the cache line at an address for reading and writing."""
    _prefetch(builder, address, 3)


@intrinsic(None, int)
def prefetch_far(builder: ir.IRBuilder, address: Any) -> None:
    """Prefetch the cache line at an address to the second-level cache, which code is read from as well."""
    _prefetch(builder, address, 2)


def _prefetch(builder: ir.IRBuilder, address: Any, locality: int) -> None:
    flag, pointer = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, flag, flag, flag])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    builder.call(function, [builder.inttoptr(address, pointer), flag(0), flag(locality), flag(1)])


@intrinsic(Word, Word, Word)
def folded_multiply(builder: ir.IRBuilder, left: Any, right: Any) -> Any:
    """Multiply two words and return the exclusive or of the two halves of the 128-bit product."""
    low, high = _product(builder, left, right)
    return builder.xor(low, high)


@intrinsic(Word, Word, Word)
def scale(builder: ir.IRBuilder, word: Any, size: Any) -> Any:
    """Map a word, a fraction of 2^64, to a number in 0 … size - 1; monotone in the word."""
    return _product(builder, word, size)[1]


def _product(builder: ir.IRBuilder, left: Any, right: Any) -> tuple[Any, Any]:
    word, wide = ir.IntType(64), ir.IntType(128)
    product = builder.mul(builder.zext(left, wide), builder.zext(right, wide))
    return builder.trunc(product, word), builder.trunc(builder.lshr(product, wide(64)), word)


@intrinsic(int, Word)
def bit_count(builder: ir.IRBuilder, word: Any) -> Any:
    """Count the set bits of a word."""
    return builder.ctpop(word)


@intrinsic(int, Word)
def lowest_bit(builder: ir.IRBuilder, word: Any) -> Any:
    """Return the index of the lowest set bit; 64 if no bit is set."""
    return builder.cttz(word, ir.IntType(1)(0))


@intrinsic(Word, Word, Word)
def deposit(builder: ir.IRBuilder, bits: Any, mask: Any) -> Any:
    """Move the low bits to the set bits of a mask (the instruction `pdep`). Only if HAS_DEPOSIT."""
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), ir.IntType(64)])
    return builder.call(builder.module.declare_intrinsic("llvm.x86.bmi.pdep.64", (), kind), [bits, mask])


HAS_DEPOSIT = level() == V3


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
