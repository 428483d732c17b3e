"""Tables of texts as Parquet files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from kwalk.search.base.atomic_files import replacing


def write_texts(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Write rows of texts; the file is complete or not there.

    Args:
        path: the file.
        columns: the names of the columns, in their order.
        rows: a text for each column, by its name.

    Raises:
        OSError: the file cannot be written.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({name: pa.array([row[name] for row in rows], pa.string()) for name in columns})
    with replacing(path, durable=False, shared=True) as file:
        pq.write_table(table, file)
