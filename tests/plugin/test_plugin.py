"""The plugin in a pytest run of its own: options, header, marker and summary."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
    import pytest

    from kwalk.model.examples.lost_update import LOST_UPDATE
    from kwalk import assert_holds


    def test_increments():
        assert_holds(LOST_UPDATE, "counts_every_increment")

    def test_lock():
        assert_holds(LOST_UPDATE, "counts_every_increment", variant="lock")

    @pytest.mark.kwalk(variant="lock", seconds=30)
    def test_marked():
        assert_holds(LOST_UPDATE, "counts_every_increment")

    def test_options(kwalk_options):
        assert (kwalk_options.seconds, kwalk_options.seed, dict(kwalk_options.bounds)) == (20, 7, {"threads": 2})
"""


def run_pytest(folder, *options, tests=TESTS):
    """A pytest run over some tests, in a process of its own; its output."""
    (folder / "test_mine.py").write_text(textwrap.dedent(tests))
    (folder / "pytest.ini").write_text("[pytest]\naddopts = --strict-markers\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(folder), *options]
    done = subprocess.run(
        command,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    return done.stdout + done.stderr


def test_options_reach_the_assertions_and_a_test_has_the_last_word(tmp_path):
    asked = ("--kwalk-seconds", "20", "--kwalk-seed", "7", "--kwalk-bound", "threads=2", "--kwalk-profile", "ci")
    output = run_pytest(tmp_path, *asked, "--kwalk-out", "found")
    assert "kwalk: profile ci, seed 7, 20 s for each search, bounds: threads 2; traces in found" in output
    assert "1 failed, 3 passed" in output
    claim = "VIOLATED  counts_every_increment()  in 4 steps, the shortest (exhaust)"
    (trace,), (page,) = ((tmp_path / "found").glob(pattern) for pattern in ("*.itf.json", "*.html"))
    assert f"Fails: Read: found/{page.name}" in output and f"E       {claim}" in output
    assert f"Reproduce: kwalk replay found/{trace.name}" in output
    assert f"found/{page.name}: {claim}" in output.split("= kwalk =")[1]
    assert "FAILED test_mine.py::test_increments - kwalk.reports.assertions.Fails: Read: " in output


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_one_page_has_all_failures_also_of_several_workers(tmp_path, workers):
    tests = """
        from kwalk import assert_holds

        def test_increments():
            assert_holds("lost-update", "counts_every_increment")

        def test_queue():
            assert_holds("blocking-queue", "deadlock")

        def test_lock():
            assert_holds("lost-update", variant="lock")
    """
    output = run_pytest(tmp_path, *workers, "--kwalk-html", "all/failed.html", tests=tests)
    assert "2 failed, 1 passed" in output
    summary = output.split("= kwalk =")[1]
    assert summary.count("steps, the shortest (exhaust)") == 2 and "Read: all/failed.html" in summary
    page = (tmp_path / "all" / "failed.html").read_text()
    for link in re.findall(r'href="([^"]+)"', page):
        assert (tmp_path / "all" / link).resolve().is_file()
    assert page.count('href="../kwalk-out/') == 4 and "VIOLATED  counts_every_increment()" in page
    assert "DEADLOCK" in page and "reads the counter" in page and "test_mine.py::test_queue" in page


def test_a_page_without_failures_says_so(tmp_path):
    output = run_pytest(tmp_path, "--kwalk-html", "failed.html", "-k", "lock")
    assert "Read: failed.html" in output
    assert "No assertion failed." in (tmp_path / "failed.html").read_text()


def test_a_page_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "there").mkdir()
    output = run_pytest(tmp_path, "--kwalk-html", "there", "-k", "lock")
    assert "ERROR: Cannot write to 'there': it is a folder. Name a file with --kwalk-html." in output


def test_another_variant_of_the_whole_run_mends_the_failure(tmp_path):
    output = run_pytest(tmp_path, "--kwalk-variant", "lock", "-k", "increments or lock or marked")
    assert "kwalk: variant lock, profile dev, seed 0, no time limit, bounds: as the scenarios set them" in output
    assert "3 passed" in output
    assert "= kwalk =" not in output


@pytest.mark.parametrize(
    ("option", "value", "expected"),
    [
        ("--kwalk-seconds", "0", "'0' is not a number of seconds above 0"),
        ("--kwalk-seconds", "soon", "'soon' is not a number of seconds above 0"),
        ("--kwalk-seed", "-1", "'-1' is not a whole number in 0"),
        ("--kwalk-bound", "threads", "'threads' is not NAME=N"),
        ("--kwalk-profile", "weekly", "invalid choice: 'weekly'"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_before_any_test_runs(tmp_path, option, value, expected):
    output = run_pytest(tmp_path, f"{option}={value}")
    assert f"argument {option}: {expected}" in output
    assert "passed" not in output


HOLLOW = """
    from kwalk import assert_holds
    from tests.vacuity.cupboard import OVERFULL, POSTED


    def test_cannot_fail():
        assert_holds(OVERFULL)

    def test_gaps():
        assert_holds(POSTED)
"""


@pytest.mark.parametrize(
    ("options", "failed"), [((), {"test_cannot_fail"}), (("--kwalk-strict",), {"test_cannot_fail", "test_gaps"})]
)
def test_a_run_fails_with_what_cannot_fail_and_a_strict_one_with_gaps(tmp_path, options, failed):
    output = run_pytest(tmp_path, *options, tests=HOLLOW)
    assert set(re.findall(r"FAILED test_mine.py::(\w+)", output)) == failed
    assert "CANNOT FAIL  never_overfull; 1 property" in output


def test_a_marker_with_an_unknown_wish_is_refused_with_the_known_ones(tmp_path):
    tests = """
        import pytest

        @pytest.mark.kwalk(minutes=5)
        def test_nothing():
            pass
    """
    output = run_pytest(tmp_path, tests=tests)
    assert "the marker kwalk takes variant, profile, seconds, seed, by name (got minutes)" in output


def test_hypothesis_takes_the_profiles_by_name(tmp_path):
    tests = """
        import hypothesis

        def test_profile():
            assert hypothesis.settings().max_examples == 10_000
    """
    assert "1 passed" in run_pytest(tmp_path, "--hypothesis-profile", "nightly", tests=tests)


def test_the_plugin_loads_neither_engines_nor_compilers():
    slow = "'numba', 'llvmlite', 'z3', 'hypothesis', 'pyspark', 'numpy', 'rich'"
    code = f"import sys, kwalk.reports.pytest_plugin; assert not {{{slow}}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
