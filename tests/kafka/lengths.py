"""How short the ways to what a search has found are."""

from __future__ import annotations

from kwalk.search.results.verdict import Verdict


def shortest(verdict: Verdict) -> dict[str, int | None]:
    """The length of the shortest trace to a violation of each invariant; None for what is never reached."""
    found: dict[str, int | None] = {}
    for finding in sorted(verdict.findings, key=lambda finding: finding.trace.length if finding.trace else 0):
        found.setdefault(finding.prop.partition("(")[0], finding.trace.length if finding.trace else None)
    return found
