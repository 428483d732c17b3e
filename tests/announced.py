"""Which announced scenarios the tests look at that compile each of them."""

from __future__ import annotations

from kwalk.model.language.registry import announced


def with_own_parts() -> list[str]:
    """The names of those that bring an action or a property that none before them has."""
    seen: set[object] = set()
    names = []
    for name, scenario in announced().items():
        parts = {*scenario.actions, *scenario.properties}
        if not parts <= seen:
            names.append(name)
        seen |= parts
    return names
