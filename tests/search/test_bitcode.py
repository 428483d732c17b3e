"""Bitcode of loops: an installation without Numba has the loops as they are in its source, and no others."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from kwalk.model.language import UsageError
from kwalk.search.native import bitcode, processor
from kwalk.search.native.bitcode import named_bitcode, object_code_of, source_digest, write_archive
from kwalk.search.native.loops import COMPILER
from kwalk.search.native.processor import LEVELS, V3, level

NAME = "module_with_bitcode"
FACTORS = "FACTOR = 3\n"
TEXT = """
from NAME_factors import FACTOR
from kwalk.search.native.intrinsics import bit_count, select_bit
from kwalk.search.native.loops import Word, loop, part

SUMMAND = 2

@part
def scaled(number):
    return FACTOR * number

@loop
def changed(number: int, word: Word) -> int:
    return scaled(number) + SUMMAND + select_bit(word, bit_count(word) - 1)
"""
needs_x86 = pytest.mark.skipif(not level(), reason="bitcode is for x86-64")


@pytest.fixture
def project(tmp_path, monkeypatch) -> Callable[..., ModuleType]:
    """A module with a loop that reads a number of another module, as it is imported after changes of the text."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr(bitcode, "FOLDER", tmp_path / "levels")

    def module(old: str = "", new: str = "") -> ModuleType:
        (tmp_path / f"{NAME}_factors.py").write_text(FACTORS.replace(old, new) if old else FACTORS)
        (tmp_path / f"{NAME}.py").write_text((TEXT.replace(old, new) if old else TEXT).replace("NAME", NAME))
        importlib.invalidate_caches()
        for each in (NAME, f"{NAME}_factors"):
            sys.modules.pop(each, None)
        bitcode._text.cache_clear()
        return importlib.import_module(NAME)

    return module


CONTENTS: dict[str, bytes] = {}
"""The bitcode of the loop, which takes seconds to make, by its source digest."""


@pytest.fixture
def packed(project, tmp_path) -> Callable[..., ModuleType]:
    """The module, once the bitcode of its loop is in the archive of this machine's level."""
    if source_digest(project().changed) not in CONTENTS:
        CONTENTS.update([named_bitcode(NAME, "changed")])
    (tmp_path / "levels").mkdir()
    write_archive(tmp_path / "levels" / f"{level()}.zip", CONTENTS)
    return project


@pytest.fixture
def without_numba(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, COMPILER, raising=False)
    monkeypatch.setitem(sys.modules, "numba", None)


@needs_x86
def test_a_loop_is_made_of_its_bitcode_without_numba(packed, without_numba):
    loop = packed().changed
    loop._kept = lambda: object_code_of(loop)
    assert loop(5, 0b1010) == 3 * 5 + 2 + 3


@needs_x86
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("SUMMAND = 2", "SUMMAND = 7"),
        ("FACTOR = 3", "FACTOR = 4"),
        ("FACTOR *", "FACTOR +"),
        ("number: int, word: Word", "number: int, word: int"),
        ("+ SUMMAND", "- SUMMAND"),
    ],
)
def test_a_loop_whose_source_is_another_has_no_bitcode(packed, without_numba, old, new):
    with pytest.raises(UsageError, match=r"has to be compiled: .* no bitcode of its source\. .*kwalk\[compile\]"):
        object_code_of(packed(old, new).changed)


def test_a_value_that_a_program_has_changed_counts_as_another_source(project, monkeypatch):
    module = project()
    before = source_digest(module.changed)
    monkeypatch.setattr(module, "SUMMAND", 7)
    assert source_digest(module.changed) != before


@needs_x86
@pytest.mark.parametrize("damage", [lambda _: b"", lambda content: content[:200], lambda content: content[::-1]])
def test_an_archive_that_is_damaged_has_no_bitcode(packed, tmp_path, without_numba, damage):
    (archive,) = (tmp_path / "levels").iterdir()
    archive.write_bytes(damage(archive.read_bytes()))
    with pytest.raises(UsageError, match="has to be compiled"):
        object_code_of(packed().changed)


def test_an_installation_without_bitcode_and_numba_says_what_to_install(project, without_numba):
    with pytest.raises(UsageError, match=r"no bitcode for this machine\. .*pip install 'kwalk\[compile\]'"):
        object_code_of(project().changed)


def test_numba_compiles_a_loop_that_has_no_bitcode(project):
    assert object_code_of(project().changed).startswith(b"\x7fELF") or sys.platform != "linux"


def test_an_archive_is_the_same_for_the_same_bitcode(tmp_path):
    contents = {"b": b"2" * 100, "a": b"1"}
    write_archive(tmp_path / "one", contents)
    write_archive(tmp_path / "two", dict(sorted(contents.items())))
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


ALL = ",".join(f"+{name}" for name in sorted(LEVELS[V3]))


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (f"x86_64-unknown-linux-gnu haswell {ALL} llvmlite 1", V3),
        (f"x86_64-unknown-linux-gnu nehalem {ALL.replace('+avx2', '-avx2')} llvmlite 1", "x86-64"),
        ("x86_64-unknown-linux-gnu x86-64  llvmlite 1", "x86-64"),
        ("aarch64-unknown-linux-gnu generic +neon llvmlite 1", ""),
    ],
)
def test_the_level_is_the_highest_all_of_whose_features_the_machine_has(machine, expected, monkeypatch):
    monkeypatch.setattr(processor, "cpu", lambda: machine)
    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    assert processor.level.__wrapped__() == expected
