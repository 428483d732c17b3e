"""Machine code is loaded only from files that the user or root owns, and that no other user may write to."""

from __future__ import annotations

import os
import shutil
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from kwalk.model.language import UsageError
from kwalk.search.base import cache
from kwalk.search.base.cache import (
    UntrustedCache,
    cache_folder,
    cache_path,
    read_beside_module,
    read_cache,
    write_beside_module,
    write_cache,
)
from kwalk.search.kernel.compile import compilation
from tests.bad_input.refusals import DIE_HARD, kwalk, process

__all__ = ["kwalk", "process"]

STRANGER = 54_321
"""The number of a user who is neither root nor the one who runs the tests."""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The folder of an empty cache, below two folders of this user."""
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "above" / "cache"))
    return tmp_path / "above" / "cache"


@pytest.fixture
def saved(folder) -> Path:
    """A file that kwalk has written into the cache."""
    path = cache_path("kernels", "key.zip")
    write_cache(path, b"content")
    assert path.is_relative_to(folder) and read_cache(path) == b"content"
    return path


@pytest.fixture
def given(monkeypatch) -> Callable[[Path], None]:
    """Give a file or folder to another user; who is not root becomes another user instead, to whom all is foreign."""

    def give(path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, STRANGER, -1, follow_symlinks=False)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: STRANGER)

    return give


def refused(path: Path, *says: str) -> None:
    """The file is neither read nor written, with a warning each time that says all this."""
    before = path.read_bytes() if path.is_file() else None
    for use in (lambda: read_cache(path), lambda: write_cache(path, b"ours")):
        with pytest.warns(UntrustedCache) as warned:
            assert use() is None
        (text,) = {str(warning.message) for warning in warned}
        assert all(words in text for words in (*says, "KWALK_CACHE"))
    assert (path.read_bytes() if path.is_file() else None) == before


@pytest.mark.parametrize("mode", [0o777, 0o775, 0o720, 0o1777])
def test_a_folder_that_others_may_write_to_is_not_used(saved, mode):
    saved.parent.chmod(mode)
    refused(saved, repr(str(saved.parent)), f"mode {mode:04o}", f"chmod go-w {saved.parent}")


@pytest.mark.parametrize("up", [1, 2])
@pytest.mark.parametrize("mode", [0o777, 0o770])
def test_a_parent_that_others_may_write_to_is_not_used(saved, up, mode):
    parent = saved.parents[up]
    parent.chmod(mode)
    refused(saved, repr(str(parent)), f"mode {mode:04o}")


@pytest.mark.parametrize("up", [0, 1, 2])
def test_a_folder_or_parent_of_another_user_is_not_used(saved, given, up):
    given(saved.parents[up])
    refused(saved, "is owned by", "chown", *([f"uid {STRANGER} "] if os.geteuid() == 0 else []))


def test_a_sticky_parent_is_accepted_as_only_the_owner_of_a_folder_can_replace_it(saved):
    saved.parents[2].chmod(0o1777)
    assert read_cache(saved) == b"content"


def test_what_root_owns_is_accepted(saved, monkeypatch):
    if os.geteuid() != 0:
        pytest.skip("only root can make a file that root owns")
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    monkeypatch.setattr(cache, "_require_trusted", only_above(saved.parents[2], cache._require_trusted))
    assert read_cache(saved) == b"content"


def only_above(folder: Path, check: Callable[..., None]) -> Callable[..., None]:
    """The check of folders for what is in this folder: those above it may be of the user who runs the tests."""
    return lambda status, path, **more: check(status, path, **more) if path.is_relative_to(folder) else None


@pytest.mark.parametrize("mode", [0o666, 0o620, 0o602])
def test_a_file_that_others_may_write_to_is_not_read_and_is_written_again(saved, mode):
    saved.chmod(mode)
    with pytest.warns(UntrustedCache, match=f"{saved.name}' is owned by .* and has mode {mode:04o}"):
        assert read_cache(saved) is None
    write_cache(saved, b"ours")
    assert read_cache(saved) == b"ours" and stat.S_IMODE(saved.stat().st_mode) == 0o600


def test_a_file_of_another_user_is_not_read(saved, given):
    given(saved)
    with pytest.warns(UntrustedCache, match="is owned by"):
        assert read_cache(saved) is None


def test_a_symbolic_link_in_place_of_a_file_is_neither_followed_nor_written_through(saved, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    saved.rename(elsewhere)
    saved.symlink_to(elsewhere)
    with pytest.warns(UntrustedCache, match="symbolic link"):
        assert read_cache(saved) is None
    content = elsewhere.read_bytes()
    write_cache(saved, b"ours")
    assert elsewhere.read_bytes() == content and not saved.is_symlink() and read_cache(saved) == b"ours"


def test_a_link_to_a_folder_is_followed_if_the_link_and_all_behind_it_are_trusted(folder, tmp_path, given):
    (tmp_path / "real" / "kernels").mkdir(parents=True)
    folder.parent.mkdir()
    folder.symlink_to("../real")
    path = cache_path("kernels", "key.zip")
    write_cache(path, b"content")
    assert read_cache(path) == b"content" and (tmp_path / "real" / "kernels" / "key.zip").is_file()
    (tmp_path / "real").chmod(0o777)
    refused(path, repr(str(tmp_path / "real")))
    (tmp_path / "real").chmod(0o700)
    given(folder)
    with pytest.warns(UntrustedCache, match="is owned by"):
        assert read_cache(path) is None


def test_links_in_a_circle_are_a_cache_that_does_not_exist(folder):
    folder.parent.mkdir()
    folder.symlink_to(folder)
    write_cache(cache_path("kernels", "key.zip"), b"content")
    assert read_cache(cache_path("kernels", "key.zip")) is None


def test_a_named_pipe_or_folder_in_place_of_a_file_does_not_block(saved):
    saved.unlink()
    os.mkfifo(saved, 0o600)
    assert read_cache(saved) is None
    saved.unlink()
    saved.mkdir()
    assert read_cache(saved) is None


def test_what_was_checked_is_what_is_read_when_the_folder_is_exchanged_meanwhile(saved, folder, monkeypatch):
    hostile = folder.with_name("hostile")
    shutil.copytree(folder, hostile)
    (hostile / "kernels" / "key.zip").write_bytes(cache._seal("key.zip", b"hostile") + b"hostile")
    check, exchanged = cache._require_trusted, []

    def check_then_exchange(status, path, **more):
        check(status, path, **more)
        if path == folder / "kernels" and not exchanged:
            exchanged.append(folder.rename(folder.with_name("away")))
            hostile.rename(folder)

    monkeypatch.setattr(cache, "_require_trusted", check_then_exchange)
    assert read_cache(saved) == b"content" and exchanged
    assert read_cache(saved) == b"hostile"  # the exchange did happen


def test_a_file_that_was_cut_changed_or_copied_under_another_name_counts_as_absent(saved):
    whole = saved.read_bytes()
    changed = bytes([*whole[:-1], whole[-1] ^ 1])
    for content in (b"", whole[:20], whole[:-1], whole + b"\0", changed, b"content", whole.replace(b"\n", b"\r\n", 1)):
        saved.write_bytes(content)
        assert read_cache(saved) is None
    other = saved.with_name("other.zip")
    other.write_bytes(whole)
    assert read_cache(other) is None
    saved.write_bytes(whole)
    assert read_cache(saved) == b"content"


def test_new_folders_and_files_of_the_cache_belong_to_the_user_alone(folder):
    before = os.umask(0)
    try:
        write_cache(cache_path("kernels", "key.zip"), b"content")
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, *folder.parent.rglob("*"))}
    assert modes == {"above": 0o700, "cache": 0o700, "kernels": 0o700, "key.zip": 0o600}


@pytest.mark.parametrize("mode", [0o666, 0o664])
def test_what_lies_beside_a_module_is_used_only_if_nobody_else_can_write_to_it(tmp_path, mode):
    path = tmp_path / "__pycache__" / "module.loop"
    assert read_beside_module(path) is None
    assert write_beside_module(path, b"code") and read_beside_module(path) == b"code"
    path.chmod(mode)
    assert read_beside_module(path) is None
    assert write_beside_module(path, b"code") and read_beside_module(path) == b"code"


def test_a_file_beside_a_module_is_not_used_under_another_name_or_as_a_link(tmp_path):
    path, other = tmp_path / "__pycache__" / "module.loop", tmp_path / "__pycache__" / "other.loop"
    write_beside_module(path, b"code")
    other.symlink_to(path)
    assert read_beside_module(other) is None
    other.unlink()
    path.rename(other)
    assert read_beside_module(other) is None


def test_nothing_is_kept_beside_code_that_has_no_file():
    assert not write_beside_module(Path("__pycache__") / "module.loop", b"code")
    assert not Path("__pycache__", "module.loop").exists()


def test_the_variable_names_the_folder_and_must_be_an_absolute_path():
    assert cache_folder({"KWALK_CACHE": "/srv/cache", "XDG_CACHE_HOME": "/other"}) == Path("/srv/cache")
    assert cache_folder({"XDG_CACHE_HOME": "/other"}) == Path("/other/kwalk")
    with pytest.raises(UsageError, match=r"KWALK_CACHE is 'cache'.*absolute path"):
        cache_folder({"KWALK_CACHE": "cache"})


@pytest.mark.slow
def test_a_search_beside_a_hostile_cache_compiles_says_so_once_and_ends_as_ever(kwalk, folder, monkeypatch, tmp_path):
    searched = kwalk("exhaust", DIE_HARD, "--out", tmp_path / "out")
    assert (searched.code, searched.err) == (12, "") and list(folder.rglob("*.zip"))
    (folder / "kernels").chmod(0o777)
    compiled = []
    compile_lifted = compilation.compile_lifted
    monkeypatch.setattr(compilation, "compile_lifted", lambda *a, **k: compiled.append(a) or compile_lifted(*a, **k))
    again = kwalk("exhaust", DIE_HARD, "--out", tmp_path / "out")
    assert compiled and (again.code, again.out.count("in 6 steps, the shortest")) == (12, 1)
    assert again.err.startswith("kwalk: The cache is not used: ") and again.err.count("\n") == 1
    (folder / "kernels").chmod(0o700)
    compiled.clear()
    assert kwalk("exhaust", DIE_HARD, "--out", tmp_path / "out").err == "" and not compiled


def test_the_command_shows_the_notice_as_one_line_of_a_process(process, tmp_path):
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    hostile.chmod(0o777)
    ran = process("exhaust", DIE_HARD, KWALK_CACHE=hostile / "cache")
    assert ran.code == 12 and ran.err.count("\n") == 1 and f"kwalk: The cache is not used: {str(hostile)!r}" in ran.err
    assert not list(hostile.iterdir())


def test_a_relative_variable_is_refused(process):
    ran = process("exhaust", DIE_HARD, KWALK_CACHE="cache")
    assert (ran.code, ran.out) == (2, "") and "KWALK_CACHE is 'cache'" in ran.err


def test_nothing_is_said_of_a_cache_that_is_absent(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_cache(cache_path("kernels", "key.zip")) is None
