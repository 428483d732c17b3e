"""What a hunt says of a capture: every damaged topic, what events do to it, and an exit code that says the same."""

from __future__ import annotations

import json

import pytest

from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import problem_of, read_snapshot
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language.inspection import Severity
from kwalk.reports.command_line import main
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import foresee
from tests.examples.reading import parts_of, squeezed
from tests.snapshots import test_inspect as damages
from tests.snapshots.captured import FILES, changed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "how-to" / "diagnose-a-cluster.md"


def said(source) -> list[str]:
    """The sentences about a capture, without those of the search."""
    inspection = inspect_snapshot(source)
    problem = problem_of(read_capture(source), inspection)
    return diagnosis_of(inspection, [foresee(problem)] if problem.worlds else [], [])


def damaged(*changes) -> bytes:
    def change(capture: dict) -> None:
        damages.settled(capture)
        for one in changes:
            one(capture)

    return changed(change)


@pytest.mark.parametrize("name", FILES)
def test_the_first_word_is_that_of_the_inspection(name: str) -> None:
    inspection = inspect_snapshot(FILES[name])
    assert diagnosis_of(inspection, [], [])[0].startswith(f"{inspection.condition.value.capitalize()}: ")


def test_the_reading_of_a_capture_has_its_inspection_and_the_worlds_of_its_damaged_topics() -> None:
    reading = read_snapshot(FILES["scenario-01-04-old-alter"])
    assert [world.name for world in reading.problems[0].worlds] == ["t-0", "t-1", "t-2", "t-3"]
    assert reading.problems[0].inspection.severity is Severity.LATENT
    assert read_snapshot(FILES["scenario-01-exact-06-delete-controller"]).problems[0].worlds == ()


def test_after_the_old_clients_expansion_the_operator_reads_what_each_event_will_do() -> None:
    """`tests/captures/README.md`: old partitions break, new ones have no file and take the new id."""
    text = " ".join(said(FILES["scenario-01-04-old-alter"]))
    assert "Latent: the topic's znode has lost its id: t." in text
    assert "If broker 1 crashes and starts again (happens by itself): leaves t-0 and t-1 with no working leader" in text
    assert "repairs t-2 and t-3" in text
    assert "broker 2 restarts or broker 3 restarts (a routine restart)" in text


def test_a_failover_that_is_the_cure_is_named() -> None:
    texts = said(damaged(damages.leader_is_stuck))
    assert texts[0].startswith("Broken: the leader in ZooKeeper does not lead: t-0")
    assert any("the controller fails over" in text and "repairs t-0" in text for text in texts)


def test_orphaned_directories_are_not_an_all_clear() -> None:
    (first, *_) = said(damaged(damages.orphaned_log))
    assert first.startswith("Latent: a broker has a log of a topic that does not exist")


@pytest.mark.parametrize("name", ["stray-log-3.9.0", "cancelled-reassignment-3.9.0"])
def test_a_deletion_that_a_broker_without_a_replica_sees_is_not_said_to_hang(name: str) -> None:
    source = ROOT / "tests" / "snapshots" / "damaged" / f"{name}.json"
    forecast = foresee(read_snapshot(source).problems[1])
    text = " ".join(diagnosis_of(inspect_snapshot(source), [forecast], []))
    assert "If the topic is deleted" in text
    assert "hangs" not in text


def test_every_damaged_topic_is_named_with_its_own_damage() -> None:
    def more_topics(capture: dict) -> None:
        for number, identity in enumerate((None, "C" * 22)):
            twin = json.loads(json.dumps(capture["topics"]["t"]))
            twin["topic_id"] = twin["znode"]["topic_id"] = identity
            capture["topics"][f"u{number}"] = twin
            for broker in capture["brokers"].values():
                broker["metadata_cache"]["topics"][f"u{number}"] = broker["metadata_cache"]["topics"]["t"]
                broker["dirs"] |= {f"u{number}-{p}": broker["dirs"][f"t-{p}"] for p in (0, 1)}

    texts = " ".join(said(damaged(more_topics, damages.stray_log)))
    assert "u0" in texts and "u1-0" in texts and "t-0" in texts


def test_the_exit_code_of_a_hunt_says_the_same_as_its_text(capsys, tmp_path) -> None:
    (tmp_path / "orphaned.json").write_bytes(damaged(damages.orphaned_log))
    assert main(["diagnose", str(tmp_path / "orphaned.json"), "--forecast", "--out", str(tmp_path / "out")]) == 13
    printed = capsys.readouterr().out
    assert printed.startswith("Latent: ")
    assert "The exit code, 13, is that of what the snapshot shows." in printed


def test_a_broken_cluster_has_one_exit_code_whatever_the_search_finds(capsys, tmp_path) -> None:
    for name, verdict in (("stopped-isr-3.9.0", "holds"), ("mixed-ids-3.9.0", "bad stable state")):
        words = ["diagnose", str(ROOT / "tests" / "snapshots" / "damaged" / f"{name}.json"), "--forecast", "--json"]
        code = main([*words, "--out", str(tmp_path / name)])
        found = json.loads(capsys.readouterr().out)
        expected = inspect_snapshot(words[1]).exit_code
        assert (found["verdict"], found["exit_code"], code) == (verdict, expected, expected)


def test_the_page_shows_what_its_capture_gets(capsys, monkeypatch, tmp_path) -> None:
    monkeypatch.chdir(ROOT)
    (part,) = [part for part in parts_of(PAGE) if "--forecast --out" in part.code]
    assert main([*part.code.split()[1:-1], str(tmp_path / "found")]) == 13
    printed = squeezed(capsys.readouterr().out)
    assert len(part.shown) > 5
    assert all(line in printed for line in filter(None, map(squeezed, part.shown)))
