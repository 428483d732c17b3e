"""Caches that are broken, full or nowhere cost time and nothing else."""

from __future__ import annotations

import importlib
import os
import pwd
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from kwalk.search.kernel.compile import cache
from tests.bad_input.refusals import DIE_HARD, kwalk, left_in, process, tiny_disk

__all__ = ["kwalk", "process", "tiny_disk"]


@pytest.fixture
def solved(kwalk, tmp_path) -> Callable[[], None]:
    """Solve the puzzle, with nothing to complain about."""

    def solve() -> None:
        ran = kwalk("exhaust", DIE_HARD, "--out", tmp_path / "out")
        assert (ran.code, ran.err) == (12, "") and "in 6 steps, the shortest" in ran.out

    return solve


@pytest.fixture
def kernel(solved, tmp_path, monkeypatch) -> Path:
    """The one file in a cache of one's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    solved()
    return next((tmp_path / "cache").rglob("*.zip"))


def test_a_kernel_file_that_is_broken_is_compiled_again_and_replaced(kernel, solved):
    whole = kernel.read_bytes()
    halves = bytearray(whole)
    halves[200:400] = bytes(200)
    for broken in (b"", b"garbage", whole[: len(whole) // 2], bytes(halves), whole[:100] + b"\xff" * 100 + whole[200:]):
        kernel.write_bytes(broken)
        solved()
        assert kernel.read_bytes() != broken and zipfile.ZipFile(kernel).testzip() is None


@pytest.mark.parametrize("names", ["", "[]", "{}", "[3, 4]", "[" * 10_000])
def test_a_kernel_file_without_the_names_of_its_bounds_is_compiled_again(kernel, solved, names):
    with zipfile.ZipFile(kernel, "w") as archive:
        archive.writestr("names.json", names)
    assert cache.load(kernel.stem) is None
    solved()


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc/nowhere"])
def test_a_cache_folder_that_cannot_be_is_done_without(solved, tmp_path, monkeypatch, folder):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / folder))
    solved()


def test_a_cache_folder_that_is_no_whole_path_is_not_made_here(solved, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "cache")
    solved()
    assert not (tmp_path / "cache").exists()


def test_a_full_cache_disk_keeps_no_piece_of_a_kernel(solved, tiny_disk, monkeypatch):
    (tiny_disk / "filling").write_bytes(b"x" * 4096)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tiny_disk))
    solved()
    assert {name for name in left_in(tiny_disk) if (tiny_disk / name).is_file()} == {"filling"}


def test_a_user_without_a_home_is_served_too(solved, monkeypatch):
    def without_entry(number: int) -> None:
        raise KeyError(number)

    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", without_entry)
    with pytest.raises(RuntimeError):
        Path.home()
    solved()


def test_the_command_itself_needs_neither_a_home_nor_a_cache(process):
    unset = process("exhaust", DIE_HARD, without=("HOME", "XDG_CACHE_HOME"))
    assert (unset.code, unset.err) == (12, "")
    nowhere = process("exhaust", DIE_HARD, HOME="/proc/nowhere", XDG_CACHE_HOME="/proc/nowhere")
    assert (nowhere.code, nowhere.err) == (12, "")


LOOP = """
from kwalk.search.native.loops import loop, part

FACTOR = 2

@part
def multiplied(number):
    return FACTOR * number

@loop
def twice(number: int) -> int:
    return multiplied(number)
"""


@pytest.fixture
def twice(tmp_path, monkeypatch) -> Callable[..., bool]:
    """A compiled loop of a module of one's own, as a new process would load it: whether its code was kept."""
    name = f"loop_of_{os.getpid()}_{tmp_path.name}".replace("-", "_")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def kept(result: int = 42, **changes: str) -> bool:
        text = LOOP
        for old, new in changes.items():
            text = text.replace(old, new)
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        loop = importlib.import_module(name).twice
        was_kept = loop.load()
        assert loop(21) == result
        return was_kept

    return kept


@pytest.mark.parametrize("content", [b"", b"garbage"])
def test_a_compiled_loop_that_is_broken_is_compiled_again_and_replaced(twice, tmp_path, content):
    assert (twice(), twice()) == (False, True)
    (broken,) = (tmp_path / "__pycache__").glob("*.loop")
    broken.write_bytes(content)
    assert (twice(), twice()) == (False, True)


def test_a_loop_is_compiled_again_once_a_part_or_a_number_that_it_reads_has_changed(twice):
    assert (twice(), twice()) == (False, True)
    assert (twice(63, **{"FACTOR = 2": "FACTOR = 3"}), twice()) == (False, True)


def test_a_compiled_loop_is_kept_in_the_cache_where_its_folder_cannot_be_written(twice, tmp_path, monkeypatch):
    (tmp_path / "__pycache__").write_text("in the way")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert (twice(), twice()) == (False, True)
    (file,) = (tmp_path / "cache" / "kwalk" / "loops").iterdir()
    assert file.suffix == ".loop"


def test_a_compiled_loop_that_cannot_be_kept_is_compiled_each_time(twice, tmp_path, monkeypatch):
    (tmp_path / "__pycache__").write_text("in the way")
    monkeypatch.setenv("HOME", "/proc/nowhere")
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert (twice(), twice()) == (False, False)
