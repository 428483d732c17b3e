"""`kwalk audit`: its table, its documents, its exit codes, and audits that are killed."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from attrs import evolve

from kwalk.model.language import registry
from kwalk.reports.document.html import html_document
from kwalk.reports.document.markdown import markdown_document
from kwalk.reports.pages.audit import TITLE, audit_document
from kwalk.search.analyses.audit import audit as auditing
from kwalk.search.analyses.audit.audit import AuditOptions, audit, audit_journal, cells_of
from tests.bad_input.harmless import assert_harmless
from tests.search.leases import CHECK_FIX, FENCING_FIX
from tests.structure.rooms import ROOT

LEASES, STAIRS = "tests.search.leases:FIXES", "tests.search.stairs:JUMP_FIX"
COMMAND = "kwalk exhaust tests.search.leases:SCENARIO --property writes_go_forward"
JUDGEMENTS = {"closes": 1, "has a hole": 2, "makes worse": 1, "no difference": 1}
SCRIPTS = (ROOT / "docs/reference/scripts.md").read_text("utf-8")


def test_the_table_names_fix_scenario_outcomes_and_judgement(kwalk):
    ran = kwalk("audit", LEASES)
    assert ran.code == 0
    assert re.search(r"check-before-write +fenced-leases, bare +writes_go_forward +shortest trace of 5 +", ran.out)
    assert "fencing in fenced-leases, bare with amnesia on: has a hole\n" in ran.out
    assert "\n  on: shortest trace of 6 steps to writes_go_forward\n" in ran.out
    reproduce = f"\n      Reproduce: {COMMAND} --flag amnesia=on --flag fencing=on\n"
    assert reproduce in ran.out
    compared = r"\n      Compared with plain Python: \d+ states?, \d+ successors?, no difference\.\n"
    assert len(re.findall(compared, ran.out)) == 10
    assert "5 trials: closes 1; has a hole 2; makes worse 1; no difference 1." in ran.out
    assert ran.out.endswith(f"Reproduce: kwalk audit {LEASES}\n")


def test_each_cell_has_a_command_that_reproduces_it_and_a_trace_that_replays(kwalk):
    found = kwalk("audit", LEASES, "--json").object
    for fix in found["fixes"]:
        for trial in fix["trials"]:
            for cell in (trial["off"], trial["on"]):
                again = kwalk(*shlex.split(cell["command"])[1:], "--json").object
                assert again["distinct_states"] == (cell["distinct_states"] or again["distinct_states"])
                assert (again["counterexample"] or {"length": None})["length"] == cell["length"]
                if cell["trace_file"]:
                    assert kwalk("replay", cell["trace_file"]).code == again["exit_code"] == 12


def test_json_is_one_object_and_its_fields_are_documented(kwalk):
    ran = kwalk("audit", LEASES, "--html", "--markdown", "fixes.md", "--json")
    found = ran.object
    assert (ran.code, found["exit_code"], found["decided"]) == (0, 0, True)
    assert {name: count for name, count in found["judgements"].items() if count} == JUDGEMENTS
    assert [fix["fix"] for fix in found["fixes"]] == ["fencing", "check-before-write", "amnesia"]
    trial = found["fixes"][1]["trials"][0]
    assert (trial["off"]["setting"], trial["on"]["setting"], trial["on"]["length"]) == ("never", "before", 7)
    assert trial["on"]["compared"]["states"] > 0 and trial["on"]["fairness"] is None
    fields = {*found, *found["fixes"][0], *trial, *trial["on"]}
    assert [field for field in fields if f"`{field}`" not in SCRIPTS] == []
    assert found["files"] == {"Markdown": "fixes.md", "Page": "kwalk-out/audit.html"}


def test_the_document_is_the_same_each_time_and_its_commands_are_understood(kwalk, tmp_path):
    texts = []
    for out in ("one", "two"):
        workers = len(texts) + 1
        assert kwalk("audit", LEASES, "--markdown", "docs/fixes.md", "--out", out, "--workers", workers).code == 0
        texts.append((tmp_path / "docs/fixes.md").read_text("utf-8"))
    assert texts[0] == texts[1]
    assert "| `fencing` | fenced-leases, bare | `writes_go_forward` | shortest trace of 5 steps" in texts[0]
    assert f"Written by `kwalk audit {LEASES} --markdown docs/fixes.md`" in texts[0]
    assert "* **has a hole**: violated without the fix, and still violated with it." in texts[0]
    assert str(tmp_path) not in texts[0]
    commands = [line.split("   #")[0] for line in texts[0].splitlines() if line.startswith("kwalk exhaust")]
    assert len(commands) == 10
    assert {kwalk(*shlex.split(command)[1:]).code for command in commands} == {0, 12}


def test_the_page_links_to_the_traces_beside_it(kwalk, tmp_path):
    ran = kwalk("audit", LEASES, "--html")
    page = (tmp_path / "kwalk-out/audit.html").read_text("utf-8")
    links = re.findall(r'href="([^"]+)"', page)
    assert len(links) == 6 and all((tmp_path / "kwalk-out" / link).is_file() for link in links)
    assert "Page: kwalk-out/audit.html\n" in ran.out


def test_names_do_no_harm():
    bad = "\x1b[31m<script>|`x`"
    (off, on), *_ = cells_of([evolve(FENCING_FIX, name=bad, closes=bad, source=bad)])
    done = audit([(off, on)], AuditOptions())
    assert_harmless("markdown", markdown_document(audit_document(done, "kwalk audit")))
    assert_harmless("html", html_document(TITLE, audit_document(done, "kwalk audit")))


def test_one_fix_or_one_scenario_can_be_named(kwalk):
    one = kwalk("audit", "tests.search.leases:CHECK_FIX", STAIRS, "--scenario", "fenced-leases", "--json").object
    assert [fix["fix"] for fix in one["fixes"]] == ["check-before-write"]


# What is announced.


@pytest.fixture
def announced(monkeypatch):
    """Only these tests' fixes are announced."""
    entry = EntryPoint("tests", "tests.search.announced", registry.GROUP)
    monkeypatch.setattr(registry, "entry_points", lambda group: [entry])


def test_without_a_name_all_announced_fixes_are_audited(kwalk, announced):
    found = kwalk("audit", "--json").object
    assert {name: count for name, count in found["judgements"].items() if count} == JUDGEMENTS
    assert found["fixes"][0]["trials"][0]["scenario"] == "fenced-leases"
    named = kwalk("audit", "amnesia", "fencing", "--json").object
    assert [fix["fix"] for fix in named["fixes"]] == ["amnesia", "fencing"]
    refused = kwalk("audit", "fencin")
    assert refused.code == 2 and "No fix named 'fencin'. Did you mean 'fencing'?" in refused.err


@pytest.mark.parametrize(
    ("fixes", "why"),
    [
        ((3,), "in 'tests.search.announced', and they cannot be loaded: TypeError: FIXES has a int in it"),
        ((FENCING_FIX, evolve(FENCING_FIX)), "Two fixes are named 'fencing'"),
        ((), "No installed package registers a fix"),
    ],
)
def test_what_is_announced_wrongly_is_refused(kwalk, announced, monkeypatch, fixes, why):
    monkeypatch.setattr("tests.search.announced.FIXES", fixes)
    ran = kwalk("audit")
    assert (ran.code, ran.out) == (2, "") and why in ran.err


# Time that is not enough, and audits that end early.


def test_what_was_only_sampled_ends_with_3(kwalk):
    ran = kwalk("audit", STAIRS, "--seconds", "0.01")
    assert ran.code == 3
    assert "closes, as far as sampled" in ran.out and "on: sampled (" in ran.out
    again = r"Reproduce: kwalk walk tests\.search\.stairs:STAIRS --walks \d+ --depth \d+ --property "
    assert re.search(again, ran.out)


def test_a_second_audit_takes_over_what_is_finished(kwalk, monkeypatch):
    first = kwalk("audit", LEASES)
    monkeypatch.setattr(auditing, "examine", lambda *_: pytest.fail("nothing is left to examine"))
    assert kwalk("audit", LEASES) == first
    with pytest.raises(pytest.fail.Exception):
        kwalk("audit", LEASES, "--fresh")


def test_an_interrupted_audit_prints_what_it_has_and_ends_with_3(kwalk, monkeypatch):
    real, calls = auditing.examine, []

    def examine(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(auditing, "examine", examine)
    ran = kwalk("audit", LEASES)
    assert ran.code == 3
    assert "closes 1;" in ran.out and "undecided (interrupted)" in ran.out
    assert kwalk("audit", LEASES).code == 0
    assert len(calls) == 3 + 7


def wait_for(happens):
    """Wait until something is so; fail if it is not within a minute."""
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_audit_that_is_killed_is_resumed(tmp_path, workers):
    words = [
        sys.executable,
        "-m",
        "kwalk.reports.command_line",
        "audit",
        LEASES,
        STAIRS,
        "--json",
        "--workers",
        str(workers),
    ]
    how = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(ROOT)}, "text": True}
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    journal = audit_journal(tmp_path / "kwalk-out")
    wait_for(lambda: len(list(journal.read())) == 10)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    running.send_signal(signal.SIGKILL)
    running.communicate()
    assert len(children) == (0 if workers == 1 else 1)  # all that is left is the long cell
    wait_for(lambda: not any(Path(f"/proc/{child}").exists() for child in children))
    kept = list(journal.read())
    assert len(kept) == 10
    done = subprocess.run([*words, "--seconds", "1"], capture_output=True, check=False, **how)
    found = json.loads(done.stdout)
    assert (done.returncode, found["judgements"]["has a hole"]) == (3 if found["decided"] is False else 0, 2)
    after = list(journal.read())
    assert after[:10] == kept and len(after) == 11


# Wrong use.


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("no-such:FIX",), "Cannot import 'no-such' for fix 'no-such:FIX'"),
        (("tests.search.leases:FIXED",), "Did you mean 'FIXES'?"),
        (("tests.search.leases:SCENARIO",), "is no Fix, nor a tuple of them. Allowed: AMNESIA_FIX, CHECK_FIX"),
        (("a b:c",), "names no fix"),
        ((LEASES, "--scenario", "leases"), "Did you mean 'fenced-leases'?"),
        ((LEASES, "--seconds", "0"), "is not a number of seconds above 0"),
        ((LEASES, "--workers", "0"), "is not a whole number in 1"),
        ((LEASES, "--markdown", ""), "the value is empty"),
        ((LEASES, "--markdown", ".."), "it is a folder"),
        ((LEASES, "--markdown", "file/below/x.md"), "Cannot write to 'file/below'"),
        ((LEASES, "--out", "file"), "Cannot write to 'file'"),
        (("tests.search.stairs:JUMP_FIX", "tests.reports.test_audit_command:OTHER"), "Two fixes are named 'jump'"),
    ],
)
def test_wrong_use_ends_with_2_and_one_message(kwalk, words, why, tmp_path):
    (tmp_path / "file").write_text("")
    ran = kwalk("audit", *words)
    assert (ran.code, ran.out) == (2, "")
    assert why in ran.err and ran.err.startswith("kwalk: ") and len(ran.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


OTHER = evolve(FENCING_FIX, name="jump")


def outcomes(journal):
    return [outcome for row in audit(cells_of([CHECK_FIX]), journal=journal) for _, outcome in row.cells]


def test_what_is_kept_reads_back_as_it_was_and_fresh_replaces_it(kwalk, tmp_path):
    journal = audit_journal(tmp_path / "kwalk-out")
    assert outcomes(journal) == list(journal.read())
    content = journal.path.read_bytes()
    for _ in range(2):
        assert kwalk("audit", "tests.search.leases:CHECK_FIX", "--fresh").code == 0
    assert len(journal.path.read_bytes()) == pytest.approx(len(content), rel=0.1)


@pytest.mark.parametrize("harm", ["empty", "cut", "changed", "other", "binary"])
def test_an_outcome_that_is_not_whole_is_searched_again(tmp_path, harm):
    journal = audit_journal(tmp_path)
    whole = outcomes(journal)
    first, second, _ = journal.path.read_bytes().split(b"\n")
    harmed = {
        "empty": b"",
        "cut": first + b"\n" + second[:-40],
        "changed": first + b"\n" + second.replace(b"expire", b"expiry") + b"\n",
        "other": first + b"\n" + b'{"status": "guessed", "digest": "0123456789abcdef"}\n',
        "binary": b"\x00\xff\n\n" + first,
    }
    journal.path.write_bytes(harmed[harm])
    assert outcomes(journal) == whole
    intact = [line for line in journal.read() if not isinstance(line, str)]
    assert sorted(intact, key=whole.index) == whole


# The table of variants.


def test_variants_are_a_table_of_flags_with_their_meaning(kwalk):
    ran = kwalk("scenarios", "tests.search.leases:SCENARIO", "--variants")
    assert re.search(r"\n +flag +meaning +bare +fenced\n", ran.out)
    assert re.search(r"\n +fencing +whether the storage refuses a write under [\w ]+ +off +on\n", ran.out)
    assert re.search(r"\n +check +when a worker asks whether its lease is still good +never, before\n", ran.out)
    found = kwalk("scenarios", "tests.search.leases:SCENARIO", "--json").object["scenarios"][0]
    assert found["meanings"]["amnesia"] == "whether the storage can restart, and then knows no lease"
    without = kwalk("scenarios", "kwalk.model.examples.die_hard:DIE_HARD", "--variants").out
    assert re.search(r"\n +variants +default\n", without) and "flag" not in without


def test_scenarios_of_one_family_share_a_table(kwalk):
    ran = kwalk("scenarios", "--variants")
    assert len(re.findall(r"\n +zk_fencing ", ran.out)) < len(re.findall(r"\n +variants +2.8.2, ", ran.out)) / 3
    assert re.search(r"Variants of old-client-expansion, [\s\w,-]+\stopic-deletion, ", ran.out)
