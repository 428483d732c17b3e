"""How the environments of two runs differ (configuration, seed, code, machine), and what that means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kwalk.search.night.results import RunResult

MACHINES = {"cpu": "CPU", "platform": "platform", "python": "Python", "spark": "Spark", "java": "Java"}
"""Fields of the manifest that change the speed but not what is found."""


def environment_notes(before: RunResult, after: RunResult) -> Iterator[str]:
    """Yield sentences on the differences between two runs besides their results, the most important first."""
    yield from _options(before, after)
    yield from _code(before, after)
    changed = [
        f"{label} {brief(before, name)} → {brief(after, name)}"
        for name, label in MACHINES.items()
        if before.text_of(name) != after.text_of(name)
    ]
    if changed:
        yield f"Another machine ({'; '.join(changed)}): speeds do not compare."
    for word, run in (("earlier", before), ("later", after)):
        yield from (f"Of the {word} run: {sentence}" for sentence in run.missing)


def _options(before: RunResult, after: RunResult) -> Iterator[str]:
    """Yield sentences on the seed, the configuration, and whether budgets are times."""
    if before.text_of("seed") != after.text_of("seed"):
        yield (
            f"The seeds differ ({before.text_of('seed')} → {after.text_of('seed')}): the walks differ, so a new "
            "finding may have existed before, and a gone one may still exist."
        )
    if before.text_of("config_sha256") != after.text_of("config_sha256"):
        yield "The configurations differ: only tasks of one scenario, variant, bounds, flags and engine are compared."
    elif has_time_budget(after):
        yield "Budgets are times: how far a task gets depends on the speed, and a late finding may be missed."


def _code(before: RunResult, after: RunResult) -> Iterator[str]:
    """Yield sentences on the version and the commit, and whether differences can only come from the code."""
    if before.text_of("kwalk") != after.text_of("kwalk"):
        yield f"The versions of kwalk differ: {before.text_of('kwalk')} → {after.text_of('kwalk')}."
    dirty = [word for word, run in (("earlier", before), ("later", after)) if run.manifest.get("dirty")]
    if dirty:
        yield f"The {' and the '.join(dirty)} run had changes that were not committed."
    if before.text_of("commit") == after.text_of("commit"):
        return
    note = f"The commits differ: {brief(before, 'commit')} → {brief(after, 'commit')}."
    if is_repeatable(before, after):
        note += " Configuration and seed are the same: what differs comes from the code, so it can be bisected."
    yield note


def is_repeatable(before: RunResult, after: RunResult) -> bool:
    """Return whether the two runs must find the same unless the code differs."""
    same = all(before.text_of(name) == after.text_of(name) != "unknown" for name in ("seed", "config_sha256"))
    return same and not has_time_budget(after)


def has_time_budget(run: RunResult) -> bool:
    """Return whether a time, and not a number of walks, ends the tasks of a run."""
    config: Any = run.manifest.get("config")
    if not isinstance(config, dict):
        return False
    tasks = config.get("tasks")
    timed = any(isinstance(task, dict) and task.get("seconds") for task in tasks) if isinstance(tasks, list) else False
    return bool(config.get("minutes")) or timed


def brief(run: RunResult, name: str) -> str:
    """Return a field of the manifest in brief: the first digits of a commit, a CPU without its features."""
    text = run.text_of(name)
    if name == "cpu":
        return " ".join(text.split()[:2])
    return text[:12] if name in ("commit", "config_sha256") else text
