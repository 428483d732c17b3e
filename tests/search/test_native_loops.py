"""Loops as Python calls them: what crosses, what is refused, and what their code depends on."""

from __future__ import annotations

import dis
from enum import IntEnum
from types import CodeType
from typing import NamedTuple

import numpy as np
import pytest

from kwalk.search.native import object_code
from kwalk.search.native.compile_all import loop_names
from kwalk.search.native.intrinsics import ZERO, integer
from kwalk.search.native.loops import (
    LOOPS,
    BoolArray,
    CompiledLoop,
    Int64Array,
    LoopPart,
    Uint32Array,
    Word,
    WordMatrix,
    global_names,
    globals_of,
    loop,
    part,
)


class Inner(NamedTuple):
    number: int
    items: Uint32Array


class Outer(NamedTuple):
    inner: Inner
    pair: tuple[int, int]
    flags: BoolArray


@loop
def combined(outer: Outer, word: Word, rows: WordMatrix, found: Int64Array) -> Word:
    """Write what arrives, and return the word with the last number of the rows."""
    found[0], found[1], found[2] = outer.inner.number, outer.pair[0], outer.pair[1]
    found[3], found[4] = integer(outer.inner.items[1]), integer(outer.flags[1])
    found[5], found[6] = len(rows), rows.shape[1]
    return word ^ rows[len(rows) - 1, 1]


@loop
def is_less(one: int, other: int) -> bool:
    """Compare."""
    return one < other


def test_numbers_tuples_and_arrays_cross_unchanged():
    outer = Outer(Inner(-(2**63), np.array([1, 65_537], np.uint32)), (7, -1), np.array([False, True]))
    rows, found = np.array([[1, 2], [3, 2**63 + 5], [5, 6]], np.uint64), np.zeros(7, np.int64)
    assert combined(outer, 2**64 - 1, rows, found) == (2**64 - 1) ^ 6
    assert found.tolist() == [-(2**63), 7, -1, 65_537, 1, 3, 2]
    assert combined(outer, np.uint64(0), rows[:2], found) == 2**63 + 5
    assert (is_less(-1, 0), is_less(np.int64(3), 2)) == (True, False)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((1,), "shorter"),
        ((1, 2, 3), "longer"),
        ((1.0, 2), "float"),
        ((2**63, 2), "too big"),
        (("1", 2), "str"),
    ],
)
def test_a_call_with_other_arguments_is_refused(arguments, why):
    with pytest.raises(TypeError, match=rf"is_less\(one: 'int', other: 'int'\).*cannot be called.*{why}"):
        is_less(*arguments)


def test_an_array_of_another_type_or_shape_or_with_gaps_is_refused():
    rows, found = np.zeros((4, 2), np.uint64), np.zeros(7, np.int64)
    outer = Outer(Inner(0, np.zeros(2, np.uint32)), (0, 0), np.zeros(2, np.bool_))
    for wrong in (rows.astype(np.int64), rows[0], rows[::2], rows.T, [[1, 2]]):
        with pytest.raises(TypeError, match="array"):
            combined(outer, 0, wrong, found)
    with pytest.raises(TypeError, match="Inner is no Outer"):
        combined(outer.inner, 0, rows, found)
    with pytest.raises(TypeError, match="3 items where 2"):
        combined(outer._replace(pair=(1, 2, 3)), 0, rows, found)


LIMITS = {"most": 3}


@part
def limited(number: int) -> int:
    """Read what no key covers."""
    return min(number, LIMITS["most"])


def test_a_loop_is_refused_if_it_reads_what_may_change_or_allocates_or_has_no_types():
    @loop
    def reads(number: int) -> int:
        """Read a dictionary."""
        return limited(number)

    @loop
    def allocates(number: int) -> int:
        """Make an array."""
        return np.zeros(number, np.int64)[0]

    @loop
    def is_untyped(number):
        """Take anything."""
        return number

    with pytest.raises(TypeError, match=r"limited reads LIMITS, which is .* pass anything else as an argument"):
        reads(1)
    with pytest.raises(Exception, match="No implementation of function"):
        allocates(1)
    with pytest.raises(TypeError, match="A loop cannot take None"):
        is_untyped(1)


def test_a_part_cannot_be_called_without_a_loop():
    with pytest.raises(TypeError, match="inside compiled loops only"):
        limited(1)


def names_loaded_by(code: CodeType) -> set[str]:
    inner = (names_loaded_by(each) for each in code.co_consts if isinstance(each, CodeType))
    return {each.argval for each in dis.get_instructions(code) if each.opname == "LOAD_GLOBAL"}.union(*inner)


def test_the_key_of_a_loop_covers_all_global_names_that_it_and_its_parts_read():
    names = set(loop_names())
    waiting, seen = [each.function for each in LOOPS if (each.__module__, each.__name__) in names], set()
    while waiting:
        function = waiting.pop()
        seen.add(function)
        assert names_loaded_by(function.__code__) == global_names(function.__code__)
        called = (value for value in globals_of(function).values() if isinstance(value, CompiledLoop | LoopPart))
        waiting += {value.function for value in called} - seen
    assert len(seen) > 200


def test_a_key_differs_with_the_constants_the_types_and_the_parts():
    def keyed(constant, hint, called):
        def function(number):
            return called(number) + constant

        function.__annotations__ = {"number": hint, "return": int}
        return CompiledLoop(function).key

    first = part(lambda number: number + 1)
    other = part(lambda number: number + 2)
    fields, more = (NamedTuple("Pair", [("one", int), (name, int)]) for name in ("two", "other"))
    low, high = (IntEnum("Level", {"LEVEL": value}) for value in (1, 2))
    kinds = [
        (ZERO, int, first),
        (1, int, first),
        (True, int, first),
        (1.0, int, first),
        (ZERO, Word, first),
        (ZERO, int, other),
        (low, int, first),
        (high, int, first),
        (low.LEVEL, int, first),
        (high.LEVEL, int, first),
        (fields, int, first),
        (more, int, first),
        (0, fields, first),
        (0, more, first),
        (0, Int64Array, first),
        (0, Uint32Array, first),
        (0, WordMatrix, first),
        ((1, 2), int, first),
        ((1, 3), int, first),
        (np, int, first),
    ]
    keys = {keyed(*kind) for kind in kinds}
    assert len(keys) == len(kinds) and keyed(ZERO, int, part(lambda number: number + 1)) in keys


def test_modules_of_llvm_are_closed_before_garbage_collection_can_close_their_contexts(monkeypatch):
    parsed, modules = object_code._parsed, []
    monkeypatch.setattr(object_code, "_parsed", lambda *given: modules.append(parsed(*given)) or modules[-1])
    text = "define i64 @f(i64 %x) {\n  %y = mul i64 %x, 3\n  ret i64 %y\n}\n"
    object_code.object_code([text])
    object_code.object_code([text], unoptimized=True)
    object_code.object_code([text, text.replace("@f", "@g")])
    assert len(modules) == 4 and all(module.closed for module in modules)
    with pytest.raises(RuntimeError, match="expected"):
        object_code.object_code(["define nothing"])
