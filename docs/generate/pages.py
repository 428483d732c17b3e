"""The generated pages of the documentation, and the function that writes them into `docs/reference`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from docs.generate import (
    broker_logs,
    command_line,
    constructs,
    experiments,
    findings,
    five_documents,
    fixes,
    history,
    kafka_names,
    log_lines,
    migration_forecast,
    mutants,
    searches,
    snapshot_format,
)
from kwalk.model.language.lift import rules_page
from tests.kafka.mutant_runs import RUNS

FOLDER = Path(__file__).parents[1] / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "broker-logs.md": broker_logs.page,
    "command-line.md": command_line.page,
    "constructs.md": constructs.page,
    "experiments.md": experiments.page,
    "findings.md": findings.page,
    "five-documents.md": five_documents.page,
    "fixes.md": fixes.page,
    "history.md": history.page,
    "kafka-names.md": kafka_names.page,
    "log-lines.md": log_lines.page,
    "migration-forecast.md": migration_forecast.page,
    **{f"{run.page}.md": partial(mutants.page, run) for run in RUNS},
    "rules-by-operation.md": rules_page.page,
    "searches.md": searches.page,
    "snapshot-format.md": snapshot_format.page,
}
"""By file name, the function that returns the text of the page. `.gitignore` lists the same files."""


def write_pages() -> None:
    """Write every page whose text has changed; a reader of the folder sees each page whole."""
    for name, page in PAGES.items():
        path, text = FOLDER / name, page()
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            new = path.with_name(f"{name}.{os.getpid()}.new")
            new.write_text(text, encoding="utf-8")
            new.replace(path)
