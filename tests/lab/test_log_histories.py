"""Random histories of one log: recorded ones of Kafka 3.9.0, planted differences, and new ones with Java."""

from __future__ import annotations

import base64
import json
import random
import shutil
import zlib
from collections import Counter
from pathlib import Path

import pytest

from kwalk.clusters.lab.cleaner_histories import STOPPED, CleanerHistory
from kwalk.clusters.lab.log_fuzz import (
    KINDS,
    RELEASES,
    LogDifference,
    LogFuzz,
    fuzz_logs,
    log_fuzz_lines,
    log_fuzz_object,
)
from kwalk.clusters.lab.log_histories import LogHistory, LogSettings
from kwalk.clusters.lab.producer_histories import ProducerHistory
from kwalk.clusters.lab.segment_files import RealLog
from kwalk.model.language import UsageError

RECORDED = {
    kind: Path(__file__).parent / "segments" / f"history{suffix}.json"
    for kind, suffix in ((LogHistory, ""), (CleanerHistory, "-compacted"), (ProducerHistory, "-producer"))
}
RELEASE = "3.9.0"
OPERATIONS = 40
SUFFIXES = (".log", ".index", ".timeindex", ".deleted", ".cleaned", ".swap", ".snapshot")
CHECKPOINT = "../cleaner-offset-checkpoint"


class RecordingLog:
    """A real log that notes what it answers, and its files after that, unless they are as they were."""

    def __init__(self, real: RealLog, folder: Path, suffixes: tuple[str, ...]) -> None:
        self.real, self.folder, self.suffixes, self.notes, self.files = real, folder, suffixes, [], None

    def ask(self, line):
        answer, memory = self.real.ask(line)
        paths = {path.name: path for path in sorted(self.folder.iterdir()) if path.suffix in self.suffixes}
        if (self.folder / CHECKPOINT).exists():
            paths[CHECKPOINT] = self.folder / CHECKPOINT
        files = {name: base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode() for name, path in paths.items()}
        noted = None if files == self.files else files
        self.notes.append([line.replace(str(self.folder), "FOLDER"), answer, memory, noted])
        self.files = files
        return answer, memory


class RecordedLog:
    """Answers as the real log did, and writes the files that it had."""

    def __init__(self, notes, folder: Path) -> None:
        self.notes, self.folder = iter(notes), folder

    def ask(self, line):
        wanted, answer, memory, files = next(self.notes)
        assert line.replace(str(self.folder), "FOLDER") == wanted
        for path in self.folder.iterdir():
            if files is not None and path.name not in files:
                path.unlink()
        for name, text in (files or {}).items():
            (self.folder / name).write_bytes(zlib.decompress(base64.b64decode(text)))
        return answer, tuple(memory)


def done(real, folder: Path, seed: int, kind=LogHistory):
    """Do a history, as `fuzz_logs` does; return it and its differences."""
    source = random.Random(seed)
    settings = kind.settings_class.of(source)
    found: list[str] = []
    folder.mkdir(exist_ok=True)
    with settings.binding(RELEASE, OPERATIONS).active():
        history = kind(real, RELEASE, folder, settings, source, kind.state(), Counter())
        history.begin()
        while len(history.operations) < OPERATIONS and not found:
            found = history.step()
    return history, found


def record(folder: Path, seed: int, kind) -> None:
    """Write the recorded history of a kind again; it needs the jars, and a JDK."""
    with RealLog(RELEASE) as real:
        recording = RecordingLog(real, folder, (".snapshot",) if kind is ProducerHistory else SUFFIXES[:-1])
        _, found = done(recording, folder, seed, kind)
        assert not found
    document = {"seed": seed, "notes": recording.notes}
    RECORDED[kind].write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


@pytest.fixture
def recorded():
    return json.loads(RECORDED[LogHistory].read_text(encoding="utf-8"))


@pytest.fixture
def cleaned():
    return json.loads(RECORDED[CleanerHistory].read_text(encoding="utf-8"))


@pytest.fixture
def known():
    return json.loads(RECORDED[ProducerHistory].read_text(encoding="utf-8"))


def again(notes, folder: Path, kind):
    """Do a recorded history with the answers and files of its notes; return it and its differences."""
    folder = folder / "log-0"
    return done(RecordedLog(notes["notes"], folder), folder, notes["seed"], kind)


def test_the_model_agrees_with_a_recorded_history(recorded, tmp_path):
    history, found = again(recorded, tmp_path, LogHistory)
    assert found == []
    assert {"append", "crash", "load", "retain", "flush"} <= set(history.counts)


def test_the_model_agrees_with_a_recorded_history_of_a_compacted_log(cleaned, tmp_path):
    history, found = again(cleaned, tmp_path, CleanerHistory)
    assert found == []
    assert {"append", "cleaned", "stop_cleaning", "load"} <= set(history.counts)


def test_another_checkpoint_of_the_cleaner_is_a_difference(cleaned, tmp_path):
    text = base64.b64encode(zlib.compress(b"0\n1\nlog 0 12345\n")).decode()
    for *_, files in cleaned["notes"][2:]:
        if files is not None:
            files[CHECKPOINT] = text
    _, found = again(cleaned, tmp_path, CleanerHistory)
    assert found[-1].startswith("the cleaner's checkpoint") and found[-1].endswith("in place of 12345")


def test_a_record_that_is_not_cleaned_away_is_a_difference(cleaned, tmp_path):
    files: dict[str, str] = {}
    kept: dict[str, str] = {}
    for line, answer, _, noted in cleaned["notes"]:
        before, files = files, noted or files
        if line.startswith("clean ") and answer not in (None, STOPPED):
            kept = kept or {n: text for n, text in before.items() if n.endswith(".log") and files.get(n) != text}
        if noted:
            noted.update(kept)
    assert kept
    _, found = again(cleaned, tmp_path, CleanerHistory)
    assert found


def test_the_model_agrees_with_a_recorded_history_of_a_producer(known, tmp_path):
    history, found = again(known, tmp_path, ProducerHistory)
    assert found == []
    assert {"produce", "crash", "load", "delete"} <= set(history.counts)


@pytest.mark.parametrize("place", [6, 8, 9, 10, 11])
def test_another_thing_that_is_known_of_a_producer_is_a_difference(known, tmp_path, place):
    at = next(i for i, (line, _, memory, _) in enumerate(known["notes"]) if line.startswith("hw") and len(memory) > 7)
    known["notes"][at][2][place] += 1
    _, found = again(known, tmp_path, ProducerHistory)
    assert len(found) == 1 and found[0].startswith(("last stable offset", "producer"))


def test_another_snapshot_is_a_difference(known, tmp_path):
    for *_, files in known["notes"]:
        if files:
            del files[max(files)]
    _, found = again(known, tmp_path, ProducerHistory)
    assert len(found) == 1 and found[0].startswith("a snapshot")


@pytest.mark.parametrize("place", range(4))
def test_another_offset_in_memory_is_a_difference(recorded, tmp_path, place):
    at = next(i for i, (line, *_) in enumerate(recorded["notes"]) if line.startswith("batch"))
    recorded["notes"][at][2][place] += 1
    _, found = again(recorded, tmp_path, LogHistory)
    assert len(found) == 1 and found[0].startswith("start, end, high watermark, recovery point")


def test_a_file_that_lacks_a_batch_is_a_difference(recorded, tmp_path):
    at = next(i for i, (line, *_) in enumerate(recorded["notes"]) if line.startswith("batch"))
    files = recorded["notes"][at][3]
    name = max(name for name in files if name.endswith(".log"))
    files[name] = base64.b64encode(zlib.compress(b"")).decode()
    _, found = again(recorded, tmp_path, LogHistory)
    assert found[0].startswith("SegmentFiles(base_offset=") and "bytes of log files in place of 0" in found[1]


def test_a_file_that_is_not_deleted_is_a_difference(recorded, tmp_path):
    text = base64.b64encode(zlib.compress(b"")).decode()
    recorded["notes"][2][3] = {**recorded["notes"][1][3], "00000000000000000000.log.deleted": text}
    _, found = again(recorded, tmp_path, LogHistory)
    assert found == ["files [] in place of [0] with the suffix .deleted"]


def test_another_release_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"run with version 2\.8\.2 or 3\.9\.0, not with 3\.4\.1"):
        fuzz_logs("3.4.1", tmp_path, rounds=1, seed=0)


def test_a_difference_is_printed_with_its_seed_and_its_operations():
    settings = LogSettings.of(random.Random(0))
    difference = LogDifference(7, settings, ("clock 1", "batch 0 1 2"), ("segments [0] in place of [0, 3]",))
    result = LogFuzz(RELEASE, "log", 8, Counter(append=3), [difference])
    lines = log_fuzz_lines(result)
    assert lines[0] == "version 3.9.0: 8 histories of one log; 1 differ"
    assert lines[2].startswith("seed 7: ")
    assert lines[3:] == ["  1. clock 1", "  2. batch 0 1 2", "  model: segments [0] in place of [0, 3]"]
    assert log_fuzz_object(result)["differences"][0]["seed"] == 7


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK")
def test_the_model_agrees_with_histories_that_kafka_does(release, kind, tmp_path):
    result = fuzz_logs(release, tmp_path, kind, rounds=20, seed=0)
    assert result.differences == []
    assert result.histories == 20 and result.counts["crash"] > 0
