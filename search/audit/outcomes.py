"""What an audit finds out about one cell of its table, and what two cells say of a fix.

Words: a *cell* is a trial with the fix off, or with it on. An outcome is *decided* if it is a counterexample, a proof,
or all states within the bounds; what was only sampled is not. A *judgement* compares the two cells of a row.
"""
from __future__ import annotations

from enum import Enum

from attrs import frozen

from search.trace import Trace


class Known(Enum):
    """How an outcome is known; the value is what `--json` prints."""

    PROVED = "proved"
    EXHAUSTIVE = "exhaustive"
    SAMPLED = "sampled"
    VIOLATED = "violated"
    UNDECIDED = "undecided"


@frozen
class Outcome:
    """What a cell came to. Counts that it does not have are None.

    `claim` is the violated one ("" for a deadlock), `trace` the way there; a `reachable` claim that no state shows has
    none. `bounds_hit` are the names of the bounds that disabled a step; `why` says what ended an undecided search;
    `seconds` is the budget that was not enough, None for a decided outcome.
    """

    known: Known
    states: int | None = None
    depth: int | None = None
    steps: int | None = None
    claim: str | None = None
    trace: Trace | None = None
    bounds_hit: tuple[str, ...] = ()
    why: str = ""
    seconds: float | None = None

    @property
    def is_decided(self) -> bool:
        """Whether more time could not change it."""
        return self.known in (Known.PROVED, Known.EXHAUSTIVE, Known.VIOLATED)

    @property
    def holds(self) -> bool:
        """Whether it is known, within the bounds, that nothing is violated."""
        return self.known in (Known.PROVED, Known.EXHAUSTIVE)

    @property
    def text(self) -> str:
        """The outcome in a few words, without anything that differs from run to run."""
        if self.known is Known.VIOLATED:
            return self._violation()
        if self.known is Known.EXHAUSTIVE:
            return f"exhaustive ({self.states:,} states, depth {self.depth})"
        if self.known is Known.SAMPLED:
            return f"sampled ({self.steps:,} steps)"
        return f"undecided ({self.why})" if self.known is Known.UNDECIDED else "proved"

    def _violation(self) -> str:
        claim = (self.claim or "a deadlock").removesuffix("()")
        if self.trace is None:
            return f"{claim} is never reached ({self.states:,} states, depth {self.depth})"
        steps = f"{self.trace.length} step" + "s" * (self.trace.length != 1)
        return f"{'shortest trace' if self.trace.shortest else 'trace'} of {steps} to {claim}"


class Judgement(Enum):
    """What a row says of its fix."""

    CLOSES = "closes"
    CLOSES_AS_SAMPLED = "closes, as far as sampled"
    HOLE = "has a hole"
    WORSE = "makes worse"
    NO_DIFFERENCE = "no difference"
    UNDECIDED = "undecided"

    @property
    def meaning(self) -> str:
        """The judgement in a sentence."""
        return MEANINGS[self]


MEANINGS = {
    Judgement.CLOSES: "violated without the fix; holds with it, in every state within the bounds",
    Judgement.CLOSES_AS_SAMPLED: "violated without the fix; random walks with it met no violation, which is no proof",
    Judgement.HOLE: "violated without the fix, and still violated with it",
    Judgement.WORSE: "holds without the fix, violated with it",
    Judgement.NO_DIFFERENCE: "holds without the fix and with it: this trial does not need it",
    Judgement.UNDECIDED: "the searches did not finish",
}


def judged(off: Outcome, on: Outcome) -> Judgement:
    """What the outcomes without and with a fix say of it."""
    if on.known is Known.VIOLATED and off.is_decided:
        return Judgement.HOLE if off.known is Known.VIOLATED else Judgement.WORSE
    if off.known is Known.VIOLATED and on.holds:
        return Judgement.CLOSES
    if off.known is Known.VIOLATED and on.known is Known.SAMPLED:
        return Judgement.CLOSES_AS_SAMPLED
    return Judgement.NO_DIFFERENCE if off.holds and on.holds else Judgement.UNDECIDED
