"""What becomes of a mutant.

Words: a mutant is *killed* if a claim that holds in the model does not hold in the mutant; it *crashes* if a step of it
leaves its domain or cannot be run; it is *noticed* if a complete search shows what makes a verdict worth nothing, and
the model's own does not. It is *equivalent* if no state tells it from the model; it is *restricted* if it can do less
than the model and nothing else; it *survives* if it does something else in some reachable state and nothing tells. *Not
exercised* says nothing about the claims: no behaviour of the models that were looked at comes to the changed line. A
mutant that is no model (it cannot be lifted) is *refused*.
"""
from __future__ import annotations

from enum import Enum

from attrs import frozen


class Fate(Enum):
    """How a mutant ended; the value is what `--json` prints."""

    KILLED = "killed"
    CRASHED = "crashed"
    NOTICED = "noticed"
    EQUIVALENT = "equivalent"
    NOT_EXERCISED = "not exercised"
    RESTRICTED = "restricted"
    SURVIVED = "survived"
    UNDECIDED = "undecided"
    REFUSED = "refused"

    @property
    def meaning(self) -> str:
        """The fate in a sentence."""
        return MEANINGS[self]


MEANINGS = {
    Fate.KILLED: "a claim that holds in the model is violated, or what should be reachable is not any more",
    Fate.CRASHED: "a step leaves its domain, or cannot be run",
    Fate.NOTICED: "every claim holds, but the verdict shows what that of the model does not: a rule that never fires "
    "or never changes anything, a claim that is never put to the test, or a bound that is reached",
    Fate.EQUIVALENT: "no state tells it from the model",
    Fate.NOT_EXERCISED: "no reachable state of these models brings a step to the changed line",
    Fate.RESTRICTED: "it forbids steps in some reachable states and takes none that the model does not take, so that "
    "what holds in every state and over every step of the model holds in it as well; nothing else notices",
    Fate.SURVIVED: "it does something else in some reachable state, and every claim holds in every state of it",
    Fate.UNDECIDED: "a search of it did not finish in its time, and met no violation",
    Fate.REFUSED: "it is no model: it cannot be lifted, or can write before a `require`",
}


class Evidence(Enum):
    """By what a fate is known; the value is what reports say."""

    EXHAUSTIVE = "exhaustive search"
    WALK = "random walks"
    TERMS = "the same terms"
    PROOF = "proof by Z3, for all states in the domain"
    REACHABLE = "all reachable states within the bounds"
    LIFTING = "lifting"
    TIME = "time budget"


@frozen
class Outcome:
    """A mutant's fate, and how it is known.

    `ground` is the one that decided; `claim` the key of what kills, or in words what crashes or is noticed. `actions`
    lead there from the initial state number `start`, for a survivor to the first state that tells it apart; None if
    there is no way to show; `loop` is the number of the state that the last one leads back to, for a behaviour without
    end. `seconds` is the budget that was not enough, None for what more time could not change.
    """

    fate: Fate
    evidence: Evidence
    ground: str = ""
    claim: str = ""
    actions: tuple[str, ...] | None = None
    start: int = 0
    loop: int | None = None
    seconds: float | None = None

    @property
    def text(self) -> str:
        """The outcome in a few words."""
        if self.fate is Fate.KILLED:
            way = "never reached" if self.actions is None else f"after {_counted(len(self.actions), 'step')}"
            return f"killed by {self.claim.removesuffix('()')}, {way} ({self.evidence.value} of {self.ground})"
        if self.fate is Fate.CRASHED:
            way = "" if self.actions is None else f" after {_counted(len(self.actions), 'step')}"
            return f"crashed{way} in {self.ground}: {self.claim}"
        if self.fate is Fate.NOTICED:
            return f"noticed: {self.claim} ({self.evidence.value} of {self.ground})"
        if self.fate in (Fate.SURVIVED, Fate.RESTRICTED):
            way = _counted(len(self.actions or ()), "step")
            return f"{self.fate.value}; it differs first after {way} of {self.ground}"
        return f"{self.fate.value} ({self.evidence.value})"


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'s' * (number != 1)}"
