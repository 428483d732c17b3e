"""How much work a loop does between two checks of signals, budgets and progress."""

from __future__ import annotations

SLICE = 0.2
"""Seconds between two checks of signals, budgets and progress."""


def next_pace(pace: int, spent: float, *, least: int, most: int) -> int:
    """Return how much work fits into the next slice.

    Args:
        pace: The amount of work in the last slice.
        spent: Seconds that the last slice took.
        least: The smallest amount to return.
        most: The largest amount to return.
    """
    wanted = 2 * pace if spent < SLICE / 2 else int(pace * SLICE / spent)
    return max(least, min(wanted, most))
