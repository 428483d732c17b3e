"""An output that takes nothing, or not all: a folder that cannot be written, a full disk, a stream that is closed."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path

import pytest

from kwalk.reports import files
from tests.bad_input.refusals import COMMAND, DIE_HARD, assert_refused, kwalk, left_in, process, tiny_disk

__all__ = ["kwalk", "process", "tiny_disk"]
PINNED = Path(__file__).parent.parent / "traces" / "die-hard-default-not_solved.itf.json"
SEARCHES = (("exhaust", DIE_HARD), ("walk", DIE_HARD), ("prove", DIE_HARD), ("hunt", DIE_HARD))
NO_SPACE = "no space is left for the output. Free some space, or redirect the output.\n"


@pytest.mark.parametrize("words", [*SEARCHES, ("replay", PINNED, "--format", "html")], ids=lambda words: words[0])
@pytest.mark.parametrize("out", ["file", "file/below", "file/far/below", "/proc/nowhere", "x" * 300])
def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_done(kwalk, tmp_path, words, out):
    (tmp_path / "file").write_text("kept")
    assert_refused(kwalk(*words, "--out", out), "Cannot write to '", "name another folder with --out")
    assert left_in(tmp_path) == {"file"} and (tmp_path / "file").read_text() == "kept"


def test_a_read_only_disk_is_refused(kwalk, tiny_disk):
    if subprocess.run(["mount", "-o", "remount,ro", tiny_disk], capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a disk")
    assert_refused(kwalk("exhaust", DIE_HARD, "--out", tiny_disk), "read-only file system")


def test_a_disk_that_is_full_half_way_leaves_no_file_and_no_doubt_about_the_verdict(kwalk, tiny_disk):
    ran = kwalk("exhaust", DIE_HARD, "--out", tiny_disk / "new")
    assert_refused(ran, "no space left on device. No partial file was left", printed=True)
    assert ran.out.startswith("VIOLATED  not_solved()") and "Trace: " not in ran.out
    assert left_in(tiny_disk) == set()


def test_an_earlier_report_survives_a_full_disk(kwalk, tiny_disk):
    again = ("replay", PINNED, "--format", "markdown", "--out", tiny_disk)
    file = Path(kwalk(*again).out.strip())
    before = file.read_text()
    assert_refused(kwalk(*again), "no space left on device")
    assert left_in(tiny_disk) == {file.name} and file.read_text() == before


@pytest.mark.parametrize("full_at", [1, 2, 3, 4])
def test_wherever_the_disk_is_full_the_three_files_of_a_trace_are_all_there_or_none(
    kwalk, tmp_path, monkeypatch, full_at
):
    synced = []

    def full(handle: int) -> None:
        synced.append(handle)
        if len(synced) >= full_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    ran = kwalk("exhaust", DIE_HARD, "--out", "new")
    assert_refused(ran, "no space left on device", printed=full_at > 1)
    assert left_in(tmp_path) == set()


# Streams.


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which `kwalk` is our command."""
    path = f"{COMMAND.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", ["--help", "--version", f"replay {PINNED}", f"exhaust {DIE_HARD}"])
def test_a_full_standard_output_ends_with_2_and_one_message(words, tmp_path):
    ran = shell(f"kwalk {words} > /dev/full", tmp_path)
    assert (ran.returncode, ran.stderr) == (2, f"kwalk: {NO_SPACE}")


def test_a_reader_who_has_seen_enough_ends_the_command_as_a_pipe_does_and_in_silence(tmp_path):
    ran = shell(f"kwalk replay {PINNED} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (ran.stdout, ran.stderr) == ("141\n", "")
    ran = shell(f"kwalk exhaust {DIE_HARD} | head -1", tmp_path)
    assert (ran.stdout.count("\n"), ran.stderr) == (1, "")
    assert len(left_in(tmp_path / "kwalk-out")) == 3


def test_closed_streams_change_no_exit_code_and_no_file(tmp_path):
    ran = shell(f"kwalk exhaust {DIE_HARD} >&- 2>&- <&-", tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr) == (12, "", "")
    assert not [name for name in left_in(tmp_path) if name.endswith(".partial")]
    assert len(left_in(tmp_path / "kwalk-out")) == 3


def test_a_full_standard_error_changes_no_exit_code(tmp_path):
    assert shell("kwalk exhaust nowhere:S 2>/dev/full", tmp_path).returncode == 2


def test_a_folder_that_is_gone_is_no_place_for_output_but_one_to_ask_from(tmp_path):
    (tmp_path / "gone").mkdir()
    ran = shell(f"cd gone && rmdir ../gone && kwalk exhaust {DIE_HARD}; kwalk scenarios --properties", tmp_path)
    assert ran.stderr.startswith("kwalk: Cannot write to 'kwalk-out': no such file or directory")
    assert ran.returncode == 0 and "not_solved" in ran.stdout
