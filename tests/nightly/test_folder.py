"""The folder of a run: what is whole counts, what is not does not, and other programs can read it."""

from __future__ import annotations

import pyarrow.dataset as ds
import pytest

from kwalk.model.language import UsageError
from kwalk.search.night.folder import DamagedPart, RunFolder
from kwalk.search.night.tables import TABLES, ChunkRow, FindingRow, RunRow
from tests.nightly.small_run import finding, run_row, tables_of, write_small_run

PARTS = [f"{table}/0000-000001.parquet" for table in ("chunks", "findings", "actions", "coverage")]


@pytest.fixture
def run(tmp_path):
    return write_small_run(tmp_path / "run")


def test_rows_come_back_as_they_were(run):
    assert run.read(FindingRow, 0, 1) == [finding(1)]
    assert run.read(ChunkRow, 1, 0) == tables_of(1, 0)["chunks"]
    assert run.read(RunRow, 1) == [run_row(1)]
    assert run.complete_rounds(0, "chunks") == ([0, 1], "") and run.complete_rounds(2, "chunks") == ([], "")


@pytest.mark.parametrize("table", [name for name in TABLES if name != "levels"])
def test_a_table_is_one_dataset(run, table):
    found = ds.dataset(run.path / table, format="parquet").to_table()
    assert found.num_rows == {"chunks": 6, "findings": 2, "actions": 6, "coverage": 3, "runs": 2}[table]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("harm", ["missing", "cut", "empty", "changed"])
def test_a_round_with_a_harmed_part_does_not_count(run, part, harm):
    path = run.path / part
    content = path.read_bytes()
    middle = len(content) // 3
    harmed = {
        "cut": content[:middle],
        "empty": b"",
        "changed": content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :],
    }
    if harm == "missing":
        path.unlink()
    else:
        path.write_bytes(harmed[harm])
    whole, why = run.complete_rounds(0, "chunks")
    assert whole == [0]
    assert part in why or (part.startswith("chunks") and harm == "missing" and why == "")


def test_no_byte_of_a_part_can_change_unnoticed(run):
    """Either the round does not count, or its rows are the same."""
    path = run.path / "chunks/0000-000001.parquet"
    content, rows = path.read_bytes(), run.read(ChunkRow, 0, 1)
    for place in range(0, len(content), 29):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0x55]) + content[place + 1 :])
        if run.complete_rounds(0, "chunks")[0] == [0, 1]:
            assert run.read(ChunkRow, 0, 1) == rows
    path.write_bytes(content)
    assert run.complete_rounds(0, "chunks") == ([0, 1], "")


def test_rounds_after_a_gap_do_not_count_and_can_be_forgotten(run):
    (run.path / "chunks/0000-000000.parquet").unlink()
    assert run.complete_rounds(0, "chunks") == ([], "chunks/0000-000000.parquet is missing")
    run.remove_from(0, 0)
    left = sorted(path.name for path in run.path.rglob("*.parquet"))
    assert left == ["0001-000000.parquet"] * 4 + ["0001.parquet"]


def test_a_manifest_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not a readable manifest"):
        RunFolder(tmp_path).manifest()
    with pytest.raises(UsageError, match="has format 1, not 3"):
        write_small_run(tmp_path, format=1).manifest()


def test_a_part_that_is_missing_is_said_to_be(run):
    with pytest.raises(DamagedPart, match=r"findings/0009-000000.parquet is missing"):
        run.read(FindingRow, 9, 0)
