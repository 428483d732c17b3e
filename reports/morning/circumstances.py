"""How the circumstances of two runs differ, and what that means for what is compared."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from search.nightly.reading.results import RunResult

MACHINES = {"cpu": "CPU", "platform": "platform", "python": "Python", "spark": "Spark", "java": "Java"}
"""Fields of the manifest that change the speed, and never what is found."""


def circumstances(before: RunResult, after: RunResult) -> Iterator[str]:
    """Sentences on what else differs between two runs than what they came to; the most telling first."""
    yield from _asked(before, after)
    yield from _code(before, after)
    changed = [f"{said} {brief(before, name)} → {brief(after, name)}" for name, said in MACHINES.items()
               if before.told(name) != after.told(name)]
    if changed:
        yield f"Another machine ({'; '.join(changed)}): speeds do not compare."
    for word, run in (("earlier", before), ("later", after)):
        yield from (f"Of the {word} run: {sentence}" for sentence in run.missing)


def _asked(before: RunResult, after: RunResult) -> Iterator[str]:
    """What was asked for: the configuration, the seed, and whether budgets are times."""
    if before.told("seed") != after.told("seed"):
        yield (
            f"The seeds differ ({before.told('seed')} → {after.told('seed')}): other walks were taken, so a finding "
            "that is new may have been there before, and one that is gone may still be there."
        )
    if before.told("config_sha256") != after.told("config_sha256"):
        yield "The configurations differ: only tasks of one scenario, variant, bounds, flags and engine are compared."
    elif has_time_budget(after):
        yield "Budgets are times: how far a task came depends on the speed, and what is found late may be missed."


def _code(before: RunResult, after: RunResult) -> Iterator[str]:
    """What ran: the version and the commit, and whether what differs can only come from there."""
    if before.told("kwalk") != after.told("kwalk"):
        yield f"The versions of kwalk differ: {before.told('kwalk')} → {after.told('kwalk')}."
    dirty = [word for word, run in (("earlier", before), ("later", after)) if run.manifest.get("dirty")]
    if dirty:
        yield f"The {' and the '.join(dirty)} run had changes that were not committed."
    if before.told("commit") == after.told("commit"):
        return
    moved = f"The commits differ: {brief(before, 'commit')} → {brief(after, 'commit')}."
    if is_repeatable(before, after):
        moved += " Configuration and seed are the same: what differs comes from the code, so it can be bisected."
    yield moved


def is_repeatable(before: RunResult, after: RunResult) -> bool:
    """Whether the two runs must find the same unless the code differs."""
    same = all(before.told(name) == after.told(name) != "unknown" for name in ("seed", "config_sha256"))
    return same and not has_time_budget(after)


def has_time_budget(run: RunResult) -> bool:
    """Whether a time, and not a number of walks, ends its tasks."""
    config: Any = run.manifest.get("config")
    if not isinstance(config, dict):
        return False
    tasks = config.get("tasks")
    timed = any(isinstance(task, dict) and task.get("seconds") for task in tasks) if isinstance(tasks, list) else False
    return bool(config.get("minutes")) or timed


def brief(run: RunResult, name: str) -> str:
    """A field of the manifest: a commit cut as people cut it, a CPU without the list of what it can."""
    told = run.told(name)
    if name == "cpu":
        return " ".join(told.split()[:2])
    return told[:12] if name in ("commit", "config_sha256") else told
