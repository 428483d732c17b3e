"""Random histories of one log: a recorded one of Kafka 3.9.0, planted differences, and new ones with Java."""

from __future__ import annotations

import base64
import json
import random
import shutil
import zlib
from collections import Counter
from pathlib import Path

import pytest

from kwalk.clusters.lab import log_histories
from kwalk.clusters.lab.jars import jar_store
from kwalk.clusters.lab.log_histories import (
    LogDifference,
    LogFuzz,
    LogHistory,
    LogSettings,
    fuzz_logs,
    log_fuzz_lines,
    log_fuzz_object,
)
from kwalk.clusters.lab.segment_files import RealLog
from kwalk.model.kafka.storage.state import PartitionLog
from kwalk.model.language import UsageError

RECORDED = Path(__file__).parent / "segments" / "history.json"
RELEASE = "3.9.0"
OPERATIONS = 40


class RecordingLog:
    """A real log that notes what it answers, and its files after that."""

    def __init__(self, real: RealLog, folder: Path) -> None:
        self.real, self.folder, self.notes = real, folder, []

    def ask(self, line):
        answer, memory = self.real.ask(line)
        files = {
            path.name: base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode()
            for path in sorted(self.folder.iterdir())
            if path.suffix in (".log", ".index", ".timeindex", ".deleted")
        }
        self.notes.append([line.replace(str(self.folder), "FOLDER"), answer, memory, files])
        return answer, memory


class RecordedLog:
    """Answers as the real log did, and writes the files that it had."""

    def __init__(self, notes, folder: Path) -> None:
        self.notes, self.folder = iter(notes), folder

    def ask(self, line):
        wanted, answer, memory, files = next(self.notes)
        assert line.replace(str(self.folder), "FOLDER") == wanted
        for path in self.folder.iterdir():
            if path.name not in files:
                path.unlink()
        for name, text in files.items():
            (self.folder / name).write_bytes(zlib.decompress(base64.b64decode(text)))
        return answer, tuple(memory)


def done(real, folder: Path, seed: int) -> tuple[LogHistory, list[str]]:
    """Do a history, as `fuzz_logs` does; return it and its differences."""
    source = random.Random(seed)
    settings = LogSettings.of(source)
    found: list[str] = []
    with settings.binding(RELEASE, OPERATIONS).active():
        history = LogHistory(real, RELEASE, folder, settings, source, PartitionLog(), Counter())
        history.begin()
        while len(history.operations) < OPERATIONS and not found:
            found = history.step()
    return history, found


def record(folder: Path, seed: int) -> None:
    """Write the recorded history again; it needs the jars, and a JDK."""
    with RealLog(RELEASE) as real:
        recording = RecordingLog(real, folder)
        _, found = done(recording, folder, seed)
        assert not found
    document = {"seed": seed, "notes": recording.notes}
    RECORDED.write_text(json.dumps(document, separators=(",", ":")) + "\n", encoding="utf-8")


@pytest.fixture
def recorded():
    return json.loads(RECORDED.read_text(encoding="utf-8"))


def test_the_model_agrees_with_a_recorded_history(recorded, tmp_path):
    history, found = done(RecordedLog(recorded["notes"], tmp_path), tmp_path, recorded["seed"])
    assert found == []
    assert {"append", "crash", "load", "retain", "flush"} <= set(history.counts)


@pytest.mark.parametrize("place", range(4))
def test_another_offset_in_memory_is_a_difference(recorded, tmp_path, place):
    at = next(i for i, (line, *_) in enumerate(recorded["notes"]) if line.startswith("batch"))
    recorded["notes"][at][2][place] += 1
    _, found = done(RecordedLog(recorded["notes"], tmp_path), tmp_path, recorded["seed"])
    assert len(found) == 1 and found[0].startswith("start, end, high watermark, recovery point")


def test_a_file_that_lacks_a_batch_is_a_difference(recorded, tmp_path):
    at = next(i for i, (line, *_) in enumerate(recorded["notes"]) if line.startswith("batch"))
    files = recorded["notes"][at][3]
    name = max(name for name in files if name.endswith(".log"))
    files[name] = base64.b64encode(zlib.compress(b"")).decode()
    _, found = done(RecordedLog(recorded["notes"], tmp_path), tmp_path, recorded["seed"])
    assert found[0].startswith("SegmentFiles(base_offset=") and "bytes of log files in place of 0" in found[1]


def test_a_file_that_is_not_deleted_is_a_difference(recorded, tmp_path):
    recorded["notes"][2][3]["00000000000000000000.log.deleted"] = base64.b64encode(zlib.compress(b"")).decode()
    _, found = done(RecordedLog(recorded["notes"], tmp_path), tmp_path, recorded["seed"])
    assert found == ["files [] in place of [0] with the suffix .deleted"]


def test_another_release_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"run with version 2\.8\.2 or 3\.9\.0, not with 3\.4\.1"):
        fuzz_logs("3.4.1", tmp_path, rounds=1, seed=0)


def test_a_difference_is_printed_with_its_seed_and_its_operations():
    settings = LogSettings.of(random.Random(0))
    difference = LogDifference(7, settings, ("clock 1", "batch 0 1 2"), ("segments [0] in place of [0, 3]",))
    result = LogFuzz(RELEASE, 8, Counter(append=3), [difference])
    lines = log_fuzz_lines(result)
    assert lines[0] == "version 3.9.0: 8 histories of one log; 1 differ"
    assert lines[2].startswith("seed 7: ")
    assert lines[3:] == ["  1. clock 1", "  2. batch 0 1 2", "  model: segments [0] in place of [0, 3]"]
    assert log_fuzz_object(result)["differences"][0]["seed"] == 7


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.parametrize("release", log_histories.RELEASES)
@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK")
def test_the_model_agrees_with_histories_that_kafka_does(release, tmp_path):
    if not jar_store().has(release):
        pytest.skip("no jars")
    result = fuzz_logs(release, tmp_path, rounds=20, seed=0)
    assert result.differences == []
    assert result.histories == 20 and result.counts["crash"] > 0
