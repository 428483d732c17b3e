"""The pages that `make docs` generates: git ignores them, each has its rows, and their links lead somewhere."""

from __future__ import annotations

import re

import pytest

from docs.generate.constructs import CONSTRUCTS
from docs.generate.experiments import FOLLOWED
from docs.generate.five_documents import DOCUMENTS
from docs.generate.history import commits
from docs.generate.kafka_names import entries
from docs.generate.migration_forecast import FORECAST
from docs.generate.pages import FOLDER, PAGES, write_pages
from docs.generate.snapshot_format import FORMAT
from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.invariants.reading.carried_out_plans import CARRIED_OUT
from kwalk.invariants.reading.finding_kinds import KINDS as FINDINGS
from kwalk.invariants.stories import FIXES, SCENARIOS
from kwalk.model.kafka.snapshots.log_lines import KINDS
from kwalk.model.language.lift.rules import Operation
from kwalk.reports.options.parser import commands
from tests.kafka.mutant_runs import RUNS
from tests.kafka.outcomes import pinned_mutants, pinned_searches
from tests.structure.documents import documents, missing_links, text_of
from tests.structure.rooms import ROOT

ROWS = {
    "broker-logs.md": {f"({action.source})" for kind in KINDS for action in kind.actions},
    "command-line.md": {f"| `kwalk {name}" for name in commands()} | {f"### kwalk {name}" for name in commands()},
    "constructs.md": {f"| {row.get('note', row.get('instead'))} |" for rows in CONSTRUCTS.values() for row in rows},
    "experiments.md": {f"| `{name}` |" for name in EXPERIMENTS}
    | {f"| `{plan.name}` |" for plan in CARRIED_OUT}
    | {f"| `{one.name}` | {', '.join(case.repaired)} |" for one, case in FOLLOWED},
    "findings.md": {f"## `{kind.name}`\n\n{kind.severity.value.capitalize()}: " for kind in FINDINGS},
    "five-documents.md": {f"| {section['title']} |" for document in DOCUMENTS for section in document["section"]},
    "fixes.md": {f"\n## {fix.name}\n" for fix in FIXES} | {f"| `{fix.name}` |" for fix in FIXES},
    "history.md": {f"| `{each.commit}` | {each.month} | " for each in commits()},
    "kafka-names.md": {f"| `{entry.kafka}` | `{entry.model}` |" for entry in entries()},
    "migration-forecast.md": {f"| `{row['name']}` |" for rows in FORECAST.values() for row in rows},
    "log-lines.md": {f"(`{prop.name}`)" for scenario in SCENARIOS for prop in scenario.properties if prop.log},
    "rules-by-operation.md": {f"| `{operation.value.code.replace('|', chr(92) + '|')}` |" for operation in Operation},
    "snapshot-format.md": {f"| {row['name']} |" for rows in FORMAT.values() for row in rows},
    "searches.md": {f"| `{command.split(maxsplit=3)[3]}` |" for command in pinned_searches()},
    **{f"{run.page}.md": {f"* `{name}` (model/" for name in run.explained} for run in RUNS},
}
"""What each page must have."""


def test_git_ignores_the_generated_pages_and_no_other_file_of_the_reference():
    ignored = [line for line in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines() if "reference" in line]
    assert sorted(ignored) == sorted(f"/docs/reference/{name}" for name in PAGES)


@pytest.mark.parametrize("name", PAGES)
def test_a_generated_page_has_a_title_its_rows_and_no_broken_link(name):
    text = text_of(FOLDER / name)
    assert text.startswith("# ") and text.endswith("\n") and "`make docs`" in text
    assert [row for row in ROWS[name] if row not in text] == []
    assert missing_links(text, FOLDER) == []


def test_a_page_of_mutants_has_the_score():
    run = RUNS[1]
    tallies = [rows for row, rows in pinned_mutants()[run.command].items() if row.startswith("operator ")]
    killed = sum(tally.get("killed", 0) for tally in tallies)
    assert f"* **killed** ({killed}): " in text_of(FOLDER / f"{run.page}.md")


def test_the_list_of_reference_pages_names_each_page_once():
    listed = re.findall(r"\]\(([^)]+)\)", (FOLDER / "README.md").read_text("utf-8"))
    tracked = {page.name for page in documents() if page.parent == FOLDER} - {"README.md"}
    assert sorted(listed) == sorted(tracked | set(PAGES))


def test_a_page_is_written_only_if_its_text_has_changed(tmp_path, monkeypatch):
    texts = iter(["# One\n", "# One\n", "# Two\n"])
    monkeypatch.setattr("docs.generate.pages.FOLDER", tmp_path)
    monkeypatch.setattr("docs.generate.pages.PAGES", {"page.md": lambda: next(texts)})
    changed = []
    for _ in range(3):
        before = (tmp_path / "page.md").stat().st_ino if (tmp_path / "page.md").exists() else None
        write_pages()
        changed.append((tmp_path / "page.md").stat().st_ino != before)
    assert changed == [True, False, True]
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
