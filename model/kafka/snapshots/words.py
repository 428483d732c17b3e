"""Brokers, partitions and ids as people write them, in the sentences of a diagnosis."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

MOST = 8
"""A longer list is cut."""


def listed(words: Sequence[str], last: str = "and") -> str:
    """A list in prose: "a, b and c"."""
    if len(words) > MOST:
        return f"{', '.join(words[: MOST - 1])} {last} {len(words) - MOST + 1} more"
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def partitions(topic: str, numbers: Iterable[int], last: str = "and") -> str:
    """Partitions: "t-0 and t-1"."""
    return listed([f"{topic}-{number}" for number in sorted(numbers)], last)


def brokers(numbers: Iterable[int], last: str = "and") -> str:
    """Brokers: "brokers 1, 2 and 3"."""
    known = sorted(numbers)
    return f"broker{'s' * (len(known) != 1)} {listed([str(number) for number in known], last)}"


def ids(known: Iterable[str]) -> str:
    """Topic ids: "the id To2TH2onRbqmsWZJo11m5w"."""
    found = sorted(known)
    return f"the id{'s' * (len(found) != 1)} {listed(found)}" if found else "an id that the capture does not show"


def each(things: Iterable[object], one: str, many: str) -> str:
    """The form of a verb: `one` for one thing, `many` for several."""
    return one if len(tuple(things)) == 1 else many


def sentence(text: str) -> str:
    """With a capital letter at its start."""
    return text[:1].upper() + text[1:]
