"""What several workers on the same arrays need: words that are changed at once for all of them, and a barrier.

Words: a *barrier* holds workers until all of them have come. An address, a word: see `native`. All functions here but
`address_of_yield` work inside loops only.
"""
from __future__ import annotations

import ctypes
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from search.loops.native import ONE, WORD, ZERO, call, integer, item_at, part

ARRIVED, TURN, LEFT = 0, 8, 9
"""The words of a barrier: how many workers have come, how often all had, and whether to wait no more. The first one
lies far from the others, which are read all the time."""
BARRIER_SIZE = 16


@intrinsic
def add_shared(typing: Any, base: Any, index: Any, amount: Any) -> Any:
    """Add to number `index` of an array of int64, at once for all threads; what it was before."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        return builder.atomic_rmw("add", item_at(builder, values, 64), values[2], "acq_rel")

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def or_shared(typing: Any, base: Any, index: Any, word: Any) -> Any:
    """Set bits in word `index` of an array, at once for all threads."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        builder.atomic_rmw("or", item_at(builder, values, 64), values[2], "acq_rel")
        return context.get_dummy_value()

    return types.none(types.int64, types.int64, types.uint64), generate


@part
def take_ticket(address: int) -> int:
    """Add 1 to the word at an address, at once for all threads; what it was before."""
    return add_shared(address, integer(0), integer(1))


def _reader(bits: int, about: str) -> Any:
    def read(typing: Any, base: Any, index: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            item = builder.load_atomic(item_at(builder, values, bits), "acquire", bits // 8)
            return item if bits == 64 else builder.zext(item, WORD)

        return types.uint64(types.int64, types.int64), generate

    read.__doc__ = about
    return intrinsic(read)


def _writer(bits: int, about: str) -> Any:
    def write(typing: Any, base: Any, index: Any, word: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            item = values[2] if bits == 64 else builder.trunc(values[2], ir.IntType(bits))
            builder.store_atomic(item, item_at(builder, values, bits), "release", bits // 8)
            return context.get_dummy_value()

        return types.none(types.int64, types.int64, types.uint64), generate

    write.__doc__ = about
    return intrinsic(write)


def _replacer(bits: int, about: str) -> Any:
    def replace(typing: Any, base: Any, index: Any, before: Any, after: Any) -> Any:
        def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
            items = values[2:] if bits == 64 else [builder.trunc(value, ir.IntType(bits)) for value in values[2:]]
            found = builder.cmpxchg(item_at(builder, values, bits), *items, "acq_rel", "acquire")
            return builder.extract_value(found, 1)

        return types.boolean(types.int64, types.int64, types.uint64, types.uint64), generate

    replace.__doc__ = about
    return intrinsic(replace)


peek_shared = _reader(64, "Word `index` of an array that other threads write, and all that they wrote before it.")
peek32_shared = _reader(32, "The same for an array of uint32.")
poke_shared = _writer(64, "Set word `index` of an array that other threads read, after all that was written before.")
poke32_shared = _writer(32, "The same for an array of uint32.")
replace = _replacer(64, "Set word `index` of an array if it is as before, at once for all threads; whether it was.")
replace32 = _replacer(32, "The same for an array of uint32.")


@part
def meet(barrier: int, workers: int, give_way: int) -> bool:
    """Wait until so many workers have come; False if there is nothing to wait for any more.

    `give_way` is what `address_of_yield` says: who waits lets others run, since there may be more workers than cores.
    """
    turn = peek_shared(barrier, TURN)
    if take_ticket(barrier + 8 * ARRIVED) == workers - 1:
        poke_shared(barrier, ARRIVED, ZERO)
        poke_shared(barrier, TURN, turn + ONE)
    while peek_shared(barrier, TURN) == turn:
        if peek_shared(barrier, LEFT) != ZERO:
            return False
        call(give_way, ())
    return True


def address_of_yield() -> int:
    """The address of the system's function by which a thread lets others run."""
    address = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value
    assert address is not None
    return address
