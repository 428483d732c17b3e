"""`kwalk nightly`: what it refuses, prints and exits with."""

from __future__ import annotations

import json

import pytest

from tests.nightly.local import table_of, without_spark

LOST_UPDATE = 'seed = 2\n[[tasks]]\nscenarios = ["lost-update"]\nvariants = ["no-lock", "lock"]\nwalks = 300\n'
REFUSED = {
    "scenario = []": "No setting named 'scenario'. Did you mean 'scenarios'?",
    'scenarios = ["lost-updat"]\nwalks = 9': "No scenario named 'lost-updat'. Did you mean 'lost-update'?",
    'scenarios = ["lost-update"]': "it would never end. Give walks or seconds there, or minutes on top.",
    'scenarios = "lost-update"': "scenarios = 'lost-update' is not a list of texts in quotes.",
    'scenarios = ["lost-update"]\nwalks = 0': "walks = 0 is not a whole number in 1",
    'scenarios = ["lost-update"]\nwalks = true': "walks = True is not a whole number",
    'scenarios = ["lost-update"]\nseconds = -1': "seconds = -1 is not a number of seconds above 0.",
    'scenarios = ["lost-update"]\nwalks = 9\nvariants = ["locked"]': "Did you mean 'lock'?",
    'scenarios = ["lost-update"]\nwalks = 9\nbounds = { thread = 2 }': "Did you mean 'threads'?",
    'scenarios = ["lost-update"]\nwalks = 9\nbounds = { threads = "two" }': "bounds.threads = 'two' is not a size",
    'scenarios = ["lost-update"]\nwalks = 9\nflags = { lock = 3 }': "flags.lock = 3 is not true, false",
    'scenarios = ["lost-update"]\nwalks = 9\nflags = { look = true }': "Did you mean 'lock'?",
    'scenarios = ["lost-update"]\nwalks = 9\nproperties = ["nothing_is_lots"]': "Did you mean 'nothing_is_lost'?",
    'scenarios = ["lost-update"]\nwalks = 9\nonly = ["reed"]': "Did you mean 'read'?",
    'scenarios = ["lost-update"]\nwalks = 9\nmemory = "2GiB"': 'memory is for engine = "exhaust"',
    'scenarios = ["lost-update"]\nengine = "exhaust"\nwalks = 9': 'walks is for engine = "walk"',
    'scenarios = ["lost-update"]\nengine = "exhaust"\nmemory = "lots"': "is not an amount",
    'scenarios = ["lost-update"]\nengine = "exhaust"\nmemory = "2GB"': "'2GB' is not an amount. Write it as",
    'scenarios = ["lost-update"]\nengine = "bfs"': "engine = 'bfs' is not known. Allowed: exhaust, walk.",
    "scenarios = []": "no scenarios. Name them",
    "scenarios = [": "is no TOML",
}


@pytest.mark.parametrize("task", REFUSED)
def test_a_wrong_configuration_is_refused_before_anything_starts(kwalk, tmp_path, task):
    config = tmp_path / "night.toml"
    config.write_text(f"[[tasks]]\n{task}\n")
    ran = kwalk("nightly", config, "--out", tmp_path / "run")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert REFUSED[task] in ran.err and "night.toml" in ran.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), "Name either a configuration"),
        (("none.toml",), "Cannot read 'none.toml': no such file"),
        (("--resume", "none"), "is not a readable manifest"),
        (("--resume", "none", "--out", "other"), "leave out --out"),
    ],
)
def test_what_makes_no_sense_is_refused(kwalk, words, expected):
    ran = kwalk("nightly", *words)
    assert (ran.code, ran.out) == (2, "") and expected in ran.err


def test_a_run_shows_no_progress_off_a_terminal_and_names_its_files(kwalk, tmp_path, monkeypatch):
    config, out = tmp_path / "night.toml", tmp_path / "run"
    config.write_text(LOST_UPDATE)
    with without_spark(monkeypatch):
        ran = kwalk("nightly", config, "--out", out)
        again = kwalk("nightly", "--resume", out, "--json")
    assert (ran.code, again.code) == (12, 12)
    first, *ended = ran.err.splitlines()
    assert first == f"The run is in {out}"
    assert [line.partition(" in ")[0] for line in ended] == [
        "lost-update no-lock: violated (sampled), 300 walks",
        "lost-update lock: holds (sampled), 300 walks",
    ]
    assert ran.out.startswith("VIOLATED  complete; 2 of 2 tasks have a verdict")
    assert f"Manifest: {out / 'manifest.json'}" in ran.out and f"{out / 'index.html'}" in ran.out
    assert "all 4 action instances fired" in ran.out
    traces = sorted((out / "traces").iterdir())
    assert traces and all(f"Trace: {trace}" in ran.out for trace in traces)
    found = again.object
    assert (found["verdict"], found["exit_code"], found["state"]) == ("violated", 12, "complete")
    assert [(run["name"], run["answer"], run["walks"]) for run in found["runs"]] == [
        ("lost-update no-lock", "violated", 300),
        ("lost-update lock", "holds", 300),
    ]
    replayed = kwalk("replay", traces[0])
    assert replayed.code == 12


def test_a_task_of_each_engine(kwalk, tmp_path, spark):
    config, out = tmp_path / "night.toml", tmp_path / "run"
    config.write_text('[[tasks]]\nscenarios = ["die-hard", "lost-update"]\nvariants = []\nengine = "exhaust"\n')
    ran = kwalk("nightly", config, "--out", out, "--json")
    assert ran.code == 12
    assert [(run["answer"], run["how"], run["distinct_exact"]) for run in ran.object["runs"]] == [
        ("violated", "exhaustive", 16),
        ("violated", "exhaustive", 13),
    ]
    levels = [row for row in table_of(out, "levels") if row["task"] == 0]
    assert sum(row["states"] for row in levels) == 16 and levels[-1]["total"] == 16
    assert not (out / "states" / "0000").exists()
    said = [json.loads(line) for line in (out / "progress.jsonl").read_text().splitlines()]
    assert [(event["task"], event["tasks_ended"]) for event in said] == [(0, 1), (1, 2)]
    assert "die-hard default (exhaust): violated (exhaustive), 16 distinct states in" in ran.err


def test_a_night_names_the_property_that_cannot_fail_and_ends_with_its_exit_code(kwalk, tmp_path, monkeypatch):
    config = tmp_path / "night.toml"
    config.write_text('[[tasks]]\nscenarios = ["tests.vacuity.cupboard:OVERFULL"]\nwalks = 300\n')
    with without_spark(monkeypatch):
        ran = kwalk("nightly", config, "--out", tmp_path / "run")
    assert ran.code == 15 and ran.out.startswith("CANNOT FAIL  complete; 1 of 1 tasks have a verdict")
    assert "never_overfull cannot fail: it is true in every state of the domains" in " ".join(ran.out.split())
