"""Atomic operations on arrays that several threads share, and a barrier.

Words: *address* and *word* as in `intrinsics`. All functions but `address_of_yield` work inside compiled loops only.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

from kwalk.search.native.intrinsics import ONE, ZERO, call, integer, item_at
from kwalk.search.native.loops import Intrinsic, LateModule, Word, intrinsic, part

if TYPE_CHECKING:
    from llvmlite import ir
else:
    ir = LateModule("llvmlite.ir")

BARRIER_ARRIVED, BARRIER_TURN, BARRIER_CLOSED = 0, 8, 9
"""The words of a barrier (int64): the workers that have arrived in this turn, the number of turns, and whether it is
closed. The first word is on a cache line of its own, because workers poll the others."""
BARRIER_SIZE = 16


@intrinsic(int, int, int, int)
def atomic_add(builder: ir.IRBuilder, base: Any, index: Any, amount: Any) -> Any:
    """Add to item `index` of an array of int64 atomically; return the previous number."""
    return builder.atomic_rmw("add", item_at(builder, base, index, 64), amount, "acq_rel")


@intrinsic(None, int, int, Word)
def atomic_or(builder: ir.IRBuilder, base: Any, index: Any, word: Any) -> None:
    """Set bits in word `index` of an array atomically."""
    builder.atomic_rmw("or", item_at(builder, base, index, 64), word, "acq_rel")


@part
def take_ticket(address: int) -> int:
    """Add 1 to the word at an address atomically; return the previous number."""
    return atomic_add(address, integer(0), integer(1))


def _reader(bits: int, about: str) -> Any:
    def read(builder: ir.IRBuilder, base: Any, index: Any) -> Any:
        item = builder.load_atomic(item_at(builder, base, index, bits), "acquire", bits // 8)
        return item if bits == 64 else builder.zext(item, ir.IntType(64))

    return Intrinsic(read, Word, (int, int), about)


def _writer(bits: int, about: str) -> Any:
    def write(builder: ir.IRBuilder, base: Any, index: Any, word: Any) -> None:
        item = word if bits == 64 else builder.trunc(word, ir.IntType(bits))
        builder.store_atomic(item, item_at(builder, base, index, bits), "release", bits // 8)

    return Intrinsic(write, None, (int, int, Word), about)


def _replacer(bits: int, about: str) -> Any:
    def compare_and_swap(builder: ir.IRBuilder, base: Any, index: Any, before: Any, after: Any) -> Any:
        items = (before, after) if bits == 64 else [builder.trunc(word, ir.IntType(bits)) for word in (before, after)]
        found = builder.cmpxchg(item_at(builder, base, index, bits), *items, "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return Intrinsic(compare_and_swap, bool, (int, int, Word, Word), about)


atomic_load = _reader(64, "Word `index` of an array that other threads write, and all that they wrote before it.")
atomic_load32 = _reader(32, "The same for an array of uint32.")
atomic_store = _writer(64, "Set word `index` of an array that other threads read, after all that was written before.")
atomic_store32 = _writer(32, "The same for an array of uint32.")
compare_and_swap = _replacer(
    64, "Set word `index` of an array if it is as before, at once for all threads; whether it was."
)
compare_and_swap32 = _replacer(32, "The same for an array of uint32.")


@part
def wait_at_barrier(barrier: int, workers: int, give_way: int) -> bool:
    """Wait until `workers` workers have arrived; False if the barrier is closed.

    `yield_thread` is the result of `address_of_yield`: there may be more workers than cores, so waiting workers yield.
    """
    turn = atomic_load(barrier, BARRIER_TURN)
    if take_ticket(barrier + 8 * BARRIER_ARRIVED) == workers - 1:
        atomic_store(barrier, BARRIER_ARRIVED, ZERO)
        atomic_store(barrier, BARRIER_TURN, turn + ONE)
    while atomic_load(barrier, BARRIER_TURN) == turn:
        if atomic_load(barrier, BARRIER_CLOSED) != ZERO:
            return False
        call(give_way, ())
    return True


def address_of_yield() -> int:
    """Return the address of the system's `sched_yield`."""
    address = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value
    assert address is not None
    return address
