"""Shrinking: from any trace that violates a claim to a locally minimal one.

Words: a *behaviour* is the steps taken and the states they led through. A *replay* takes a list of steps from a state,
skips those that are disabled there, and ends at the first state that shows what is looked for. *Locally minimal* means
that replays find no shorter behaviour by leaving out any one step or pair of steps, nor by putting another step in the
place of one, nor searches along the behaviour. Only an exhaustive search can say *shortest*.
"""
from __future__ import annotations

from model.language import Model
from search.kernel import Kernel
from search.shrink.minimizer import Aim, Minimizer
from search.trace import Trace

__all__ = ["Aim", "Minimizer", "shrink"]


def shrink(
    model: Model, trace: Trace, *, kernel: Kernel | None = None, same: str = "claim", seconds: float | None = None
) -> Trace:
    """A locally minimal trace that violates the same claim (`same="invariant"`: any instance of its invariant).

    See `Minimizer`, which is the quicker one for many traces of one model.
    """
    return Minimizer(model, kernel).minimized(trace, same=same, seconds=seconds)
