"""Observations of assertions, in the files and the format in which Hypothesis writes its own.

They are written if the environment variable of Hypothesis is set, so that tools that read its observations, such as
Tyche, show searches beside property-based tests. Source: Hypothesis, "Observability", format of `test_case`.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

from kwalk.reports.escaping import visible
from kwalk.reports.traces.story import Story
from kwalk.search.results.verdict import Answer, Verdict

SWITCH = "HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY"
FOLDER = "HYPOTHESIS_STORAGE_DIRECTORY"
STATUS = {Answer.HOLDS: "passed", Answer.UNDECIDED: "gave_up"}
"""By answer; any other is a failure."""


def observe(test: str, reference: str, verdict: Verdict, story: Story | None = None, trace: str = "") -> None:
    """Append an observation of a verdict to Hypothesis' file of the day; nothing if observations are off.

    Args:
        test: The identifier of the running test; "" outside of a test run.
        reference: The reference of the scenario.
        verdict: What the engine found.
        story: The steps of the counterexample.
        trace: The file of the counterexample.
    """
    if not os.environ.get(SWITCH):
        return
    folder = Path(os.environ.get(FOLDER, ".hypothesis")) / "observed"
    line = json.dumps(observation(test, reference, verdict, story, trace)) + "\n"
    with suppress(OSError):  # as those of Hypothesis, observations never fail a test
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{date.today().isoformat()}_testcases.jsonl").open("ab") as file:
            file.write(line.encode())


def observation(
    test: str, reference: str, verdict: Verdict, story: Story | None = None, trace: str = ""
) -> dict[str, Any]:
    """Return the observation of a verdict as an object of Hypothesis' format; its arguments are the steps."""
    steps = {str(step.number): f"{step.actor}: {step.text}" for step in story.steps} if story else {}
    counts = {
        "distinct states": verdict.distinct_states,
        "steps": verdict.steps,
        "walks": verdict.walks,
        "depth": verdict.depth,
        "length": story.length if story else None,
    }
    return {
        "type": "test_case",
        "run_start": time.time() - verdict.seconds,
        "property": test or reference,
        "status": STATUS.get(verdict.answer, "failed"),
        "status_reason": visible(f"{story.headline} {story.prop}" if story else verdict.qualifier),
        "representation": "\n".join(f"{number} {text}" for number, text in steps.items()),
        "arguments": steps,
        "how_generated": f"kwalk {verdict.engine}",
        "features": {name: count for name, count in counts.items() if count is not None},
        "coverage": None,
        "timing": {"search": round(verdict.seconds, 6)},
        "metadata": {
            "scenario": reference,
            "variant": verdict.variant,
            "bounds": dict(verdict.bounds),
            "properties": list(verdict.properties),
            "trace": trace or None,
        },
    }
