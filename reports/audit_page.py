"""An audit as one self-contained HTML page, beside the pages of the traces that it links to."""
from __future__ import annotations

from collections.abc import Sequence

from model.language.settings import setting_text
from reports.audit import Files, bounds_reached, command_of, counts, invariants_of, where
from reports.escaping import visible
from reports.page import environment
from search.audit import Judgement, Row

NAME = "audit.html"
TONES = {
    Judgement.CLOSES: "good", Judgement.CLOSES_AS_SAMPLED: "good", Judgement.HOLE: "bad", Judgement.WORSE: "bad",
    Judgement.NO_DIFFERENCE: "", Judgement.UNDECIDED: "open",
}  # fmt: skip


def audit_page(rows: Sequence[Row], files: Files, command: str) -> str:
    """The whole page. Everything that comes from a model is escaped by the template."""
    fixes = list({row.fix.name: row.fix for row in rows}.values())
    return environment().get_template("audit.html.j2").render(
        fixes=[(fix, [row for row in rows if row.fix.name == fix.name]) for fix in fixes],
        judgements=[judgement for judgement in Judgement if any(row.judgement is judgement for row in rows)],
        counts=counts(rows),
        command=command,
        tones=TONES,
        where=where,
        invariants_of=invariants_of,
        bounds_reached=bounds_reached,
        command_of=command_of,
        setting_text=setting_text,
        page_of={command: paths["page"].name for command, paths in files.items()},
        visible=visible,
    )
