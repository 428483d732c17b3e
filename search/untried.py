"""What a verdict that found nothing might hide: rules that never fired, claims that never had a chance to fail."""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from model.language import Model
from search.verdict import Verdict

NAMED = 6
"""Names in a list before the rest is told as a number."""


def untried(verdict: Verdict, model: Model) -> Iterator[str]:
    """Sentences on what was never taken, or taken in vain, and on what was never put to the test."""
    if verdict.rules:
        fired = {key for key, rule in verdict.rules.items() if rule.taken}
        groups = [(i.action.name, i.key) for i in model.instances if i.key not in verdict.left_out]
        idle = {key for _, key in groups} - fired
        if idle:
            yield f"rules that never fired: {_listed(_whole(idle, groups))}"
        else:
            yield f"all {len(groups):,} rules fired"
        still = [key for key, rule in verdict.rules.items() if rule.taken and not rule.changed]
        if still:
            yield f"rules that fired and never changed anything: {_listed(still)}"
    untested = {key for key, count in verdict.premises.items() if not count}
    if untested:
        groups = [(c.invariant.name, c.key) for c in model.claims]
        yield f"never put to the test (the premise never held): {_listed(_whole(untested, groups))}"


def _whole(keys: set[str], groups: list[tuple[str, str]]) -> list[str]:
    """Keys in the order of their groups, or the bare name of a group where none of its keys is left out."""
    left = {name for name, key in groups if key not in keys}
    return list(dict.fromkeys(key if name in left else name for name, key in groups if key in keys))


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
