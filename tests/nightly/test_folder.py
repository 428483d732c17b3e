"""The folder of a run: what is whole counts, what is not does not, and other programs can read it."""

from __future__ import annotations

import pytest

from kwalk.model.language import UsageError
from kwalk.search.night.folder import RunFolder
from kwalk.search.night.tables import TaskRecord
from tests.nightly.local import table_of
from tests.nightly.small_run import again, round_of, run_row, write_small_run


@pytest.fixture
def run(tmp_path):
    return write_small_run(tmp_path / "run")


def test_records_come_back_as_they_were(run):
    assert run.records(0) == ([round_of(0, 0), round_of(0, 1), TaskRecord(outcome=run_row(0))], "")
    record = TaskRecord(totals=bytes(range(256)))
    run.journal(2).append(record)
    assert run.records(2) == ([record], "") and run.records(3) == ([], "")


@pytest.mark.parametrize(
    ("table", "rows"), {"chunks": 6, "findings": 2, "actions": 6, "coverage": 3, "outcome": 2, "levels": 0}.items()
)
def test_other_programs_read_the_rows_of_a_table(run, table, rows):
    assert len(table_of(run.path, table)) == rows


@pytest.mark.parametrize("harm", ["missing", "cut", "empty", "changed", "torn"])
def test_a_round_counts_if_its_line_and_those_before_are_whole(run, harm):
    again(run, 0, 2)
    journal, whole = run.journal(0), run.records(0)[0]
    first, second, third, _ = journal.path.read_bytes().split(b"\n")
    harmed = {
        "missing": [first, third, b""],
        "cut": [first, second[:40], third, b""],
        "empty": [b""],
        "changed": [first, second.replace(b"0.5", b"0.6"), third, b""],
        "torn": [first, second[:40]],
    }
    journal.path.write_bytes(b"\n".join(harmed[harm]))
    counted, why = run.records(0)
    assert counted == whole[: len(counted)] and len(counted) == (harm != "empty")
    reasons = {"missing": "round 1 of task 0 is missing", "empty": ""}
    assert why == reasons.get(harm, "line 2 of tasks/0000.jsonl is damaged, or of another version")
    journal.cut(len(counted))
    for record in whole[len(counted) :]:
        journal.append(record)
    assert run.records(0) == (whole, "")


def test_no_byte_of_a_line_can_change_unnoticed(run):
    path, whole = run.journal(0).path, run.records(0)[0]
    content = path.read_bytes()
    for place in range(0, len(content), 29):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        counted, why = run.records(0)
        assert why and counted == whole[: len(counted)]


def test_a_manifest_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not a readable manifest"):
        RunFolder(tmp_path).manifest()
    with pytest.raises(UsageError, match="has format 3, not 4"):
        write_small_run(tmp_path, format=3).manifest()
