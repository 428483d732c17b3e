"""Files appear whole and together, or not at all; a folder that serves nothing goes away."""

from __future__ import annotations

import errno
import os

import pytest

from kwalk.reports import files
from kwalk.reports.files import CannotWrite, out_folder


def test_files_are_written_into_a_new_folder(tmp_path):
    with out_folder(tmp_path / "a" / "b") as out:
        assert out.write({"x": "1", "y": "2"}) == {"x": tmp_path / "a/b/x", "y": tmp_path / "a/b/y"}
    assert (tmp_path / "a/b/x").read_text() == "1" and (tmp_path / "a/b/y").read_text() == "2"


def test_a_folder_that_nothing_was_written_to_goes_away_with_the_parents_that_were_made(tmp_path):
    with out_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a/b").is_dir()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_was_there_before_stays(tmp_path):
    (tmp_path / "a").mkdir()
    with out_folder(tmp_path / "a"):
        pass
    assert (tmp_path / "a").is_dir()


def test_a_full_disk_half_way_leaves_nothing_behind(tmp_path, monkeypatch):
    written = []

    def full(handle):
        written.append(handle)
        if len(written) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")

    with out_folder(tmp_path / "a") as out:
        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(CannotWrite, match=r"no space left on device\. No partial file was left"):
            out.write({"x": "1", "y": "2", "z": "3"})
    assert list(tmp_path.iterdir()) == []


def test_files_that_were_there_survive_a_full_disk(tmp_path, monkeypatch):
    (tmp_path / "x").write_text("old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with out_folder(tmp_path) as out:
        monkeypatch.setattr(files.os, "fsync", full)
        with pytest.raises(CannotWrite):
            out.write({"x": "new"})
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x", "old")]


def test_a_file_in_the_way_is_no_folder(tmp_path):
    (tmp_path / "a").write_text("")
    with pytest.raises(CannotWrite, match="not a"), out_folder(tmp_path / "a"):
        pass
    with pytest.raises(CannotWrite, match="not a directory"), out_folder(tmp_path / "a" / "b"):
        pass


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission_is_refused_before_anything_runs(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(CannotWrite, match="permission denied"), out_folder(tmp_path / "a"):
        pass


def test_a_name_that_no_folder_can_have_is_refused():
    with pytest.raises(CannotWrite, match="file name too long"), out_folder("x" * 300):
        pass
    with pytest.raises(CannotWrite), out_folder("/proc/nowhere"):
        pass
