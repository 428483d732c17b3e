"""The page `searches.md`: states and shortest traces of all pinned searches, from `tests/kafka/outcomes.json`."""

from __future__ import annotations

import shlex
from itertools import groupby

from tests.kafka.outcomes import SearchOutcome, pinned_searches

HEAD = """# Searches: states and shortest traces

`make docs` writes this page from `tests/kafka/outcomes.json`; `make pins` computes that file. Each row is a search of
a scenario: `kwalk exhaust SCENARIO` with the options in the row. A search that finds no violation visits every state
within the bounds, and its depth is that of the last state. Without `--keep-going` a search stops at the first
violation, and no trace to one of its properties is shorter. What the trials of fixes show is on [the page of
fixes](fixes.md).
"""


def page() -> str:
    """Return the text of the page."""
    lines = [HEAD]
    for name, commands in groupby(sorted(pinned_searches()), key=lambda command: shlex.split(command)[2]):
        lines += [f"## {name}", "", "| options | result |", "|---|---|"]
        for command in commands:
            options = command.partition(f"kwalk exhaust {name}")[2].strip()
            lines.append(f"| `{options}` | {result(pinned_searches()[command])} |")
        lines.append("")
    return "\n".join(lines)


def result(outcome: SearchOutcome) -> str:
    """Return what a search finds, in words."""
    states = "" if outcome.states is None else f"{outcome.states:,} states, depth {outcome.depth}"
    quiescent = "" if outcome.quiescent is None else f", {outcome.quiescent:,} quiescent"
    if outcome.violates:
        return f"`{outcome.violates}` {_length(outcome.steps)}" + (f"; {states}" if states else "")
    lengths = "; ".join(f"`{name}` {_length(steps)}" for name, steps in (outcome.shortest or {}).items())
    return f"{states}{quiescent}: {lengths or 'no violation'}"


def _length(steps: int | None) -> str:
    return "is never reached" if steps is None else f"after {steps} step{'s' * (steps != 1)}"
