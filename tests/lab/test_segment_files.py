"""The log model and the bytes of segments: logs that Kafka 2.8.2 has written, and planted corruptions of them."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path

import attrs
import pytest

from kwalk.clusters.lab.segment_files import (
    CorruptSegment,
    LogPlan,
    crc32c,
    differences,
    main,
    missed,
    random_plan,
    read_log,
)

FILES = Path(__file__).parent / "segments"
WRITTEN = json.loads((FILES / "plans.json").read_text(encoding="utf-8"))
NAMES = ("log-0", "log-1", "log-2")


def plan_of(name: str) -> LogPlan:
    given = WRITTEN[name]["plan"]
    batches = tuple((base, size, tuple(timestamps)) for base, size, timestamps in given["batches"])
    return LogPlan(**{**given, "batches": batches})


@pytest.fixture
def copied(tmp_path):
    return Path(shutil.copytree(FILES / "log-2", tmp_path / "log-2"))


def test_a_crc_is_that_of_the_castagnoli_polynomial():
    assert crc32c(b"123456789") == 0xE3069283


@pytest.mark.parametrize("name", NAMES)
def test_the_model_writes_and_finds_what_a_broker_wrote_and_found(name):
    assert differences(plan_of(name), read_log(FILES / name), WRITTEN[name]["answers"]) == []


def test_a_lookup_by_timestamp_of_a_real_log_finds_nothing_although_there_is_a_record():
    assert missed(plan_of("log-0"), read_log(FILES / "log-0"), WRITTEN["log-0"]["answers"]) == 5


def test_segments_of_a_real_log_go_up_to_the_highest_relative_offset():
    bases = [segment.base_offset for segment in read_log(FILES / "log-1")]
    assert bases == [0, 3, 2**31 + 9]


def corrupted(folder: Path, name: str, at: int, bits: int) -> None:
    data = bytearray((folder / name).read_bytes())
    data[at] ^= bits
    (folder / name).write_bytes(data)


@pytest.mark.parametrize("at", [16, 30, 100, 300])
def test_a_bit_of_a_batch_that_is_flipped_is_noticed(copied, at):
    corrupted(copied, "00000000000000000006.log", at, 0x20)
    with pytest.raises(CorruptSegment, match=r"CRC|no batch"):
        read_log(copied)


def test_a_batch_that_is_cut_off_is_noticed(copied):
    path = copied / "00000000000000000011.log"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptSegment, match="no batch"):
        read_log(copied)


def test_an_index_that_is_cut_off_is_noticed(copied):
    path = copied / "00000000000000000011.index"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptSegment, match="21 bytes are no number of entries of 8 bytes"):
        read_log(copied)


def test_an_index_that_does_not_grow_is_noticed(copied):
    path = copied / "00000000000000000011.index"
    path.write_bytes(path.read_bytes()[:8] * 2)
    with pytest.raises(CorruptSegment, match="follows"):
        read_log(copied)


@pytest.mark.parametrize(("name", "at"), [("00000000000000000011.index", 7), ("00000000000000000011.timeindex", 7)])
def test_an_entry_with_another_position_or_timestamp_is_noticed(copied, name, at):
    corrupted(copied, name, at, 0x01)
    found = differences(plan_of("log-2"), read_log(copied), WRITTEN["log-2"]["answers"])
    assert len(found) == 1 and found[0].startswith("segment SegmentFiles(base_offset=11")


def test_another_answer_of_a_lookup_is_noticed():
    answers = [None if answer is None else answer + 1_000 for answer in WRITTEN["log-1"]["answers"]]
    found = differences(plan_of("log-1"), read_log(FILES / "log-1"), answers)
    assert found and all(text.startswith("lookup of ") for text in found)


def test_a_random_log_is_the_same_for_the_same_seed():
    assert attrs.asdict(random_plan(random.Random(3))) == attrs.asdict(random_plan(random.Random(3)))


@pytest.mark.lab
@pytest.mark.slow
@pytest.mark.skipif(shutil.which("javac") is None, reason="no JDK")
def test_the_model_agrees_with_random_logs_that_kafka_writes(capsys):
    assert main(["--logs", "40", "--seed", "1"]) == 0
    assert capsys.readouterr().out.startswith("40 logs, ")
