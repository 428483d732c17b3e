"""Verdicts: the answer of an engine, its strength, and what it leaves open.

"Holds" never stands alone: the `strength` states whether it is proved, exhaustive within the bounds, or only sampled,
and the counts show which action instances never fired, which properties were never tested, and which bounds were hit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

from attrs import evolve, field, frozen

from kwalk.model.language import Model
from kwalk.model.language.display import Displayed
from kwalk.search.base.options import StopReason
from kwalk.search.kernel.compared import Compared
from kwalk.search.results.trace import Trace

LISTED = 6
"""The number of names in a list; the others are counted."""
DEADLOCK = "deadlock"
"""The name of a finding about a state in which nothing is enabled."""


class Answer(Enum):
    """What was found; the value is what `--json` prints as `verdict`."""

    HOLDS = "holds"
    VIOLATED = "violated"
    BAD_STABLE_STATE = "bad stable state"
    DEADLOCK = "deadlock"
    NOT_REACHABLE = "not reachable"
    """Nothing is violated, but no state within the bounds satisfies some `reachable` property."""
    UNDECIDED = "undecided"
    CANNOT_FAIL = "cannot fail"
    """Nothing is violated, but no state of the domains, reachable or not, could violate some property."""
    GAPS = "holds with gaps"
    """Nothing is violated, but not all was tested, and the search was asked to be strict about that."""

    @property
    def exit_code(self) -> int:
        """The exit code of a command with this answer: 0, 3, or 11 to 16 (2 is for wrong usage)."""
        return EXIT_CODES[self]


EXIT_CODES = {
    Answer.HOLDS: 0,
    Answer.UNDECIDED: 3,
    Answer.DEADLOCK: 11,
    Answer.VIOLATED: 12,
    Answer.BAD_STABLE_STATE: 13,
    Answer.NOT_REACHABLE: 14,
    Answer.CANNOT_FAIL: 15,
    Answer.GAPS: 16,
}


class Strength(Enum):
    """How sure an answer is; the value is what `--json` prints."""

    PROVED = "proved"
    """By induction or by bounded checking of every depth: for behaviours of any length, within the bounds."""
    EXHAUSTIVE = "exhaustive"
    """Every reachable state within the bounds was visited, or those up to the first violation."""
    SAMPLED = "sampled"
    """Some behaviours were executed."""
    PARTIAL = "partial"
    """The engine stopped early: only a part of the states or depths was checked."""
    REPLAYED = "replayed"
    """One trace was executed."""

    @property
    def is_conclusive(self) -> bool:
        """Whether a "holds" of this strength is about every behaviour within the bounds."""
        return self in (Strength.PROVED, Strength.EXHAUSTIVE)


class ProofOutcome(Enum):
    """What a proof engine knows of a property; the value is what `--json` prints."""

    PROVED = "proved"
    WITNESSED = "witnessed"
    """A `reachable` property, with a behaviour that reaches it."""
    VIOLATED = "violated"
    """Also: a `reachable` property that is proved to be unreachable."""
    UNKNOWN = "unknown"


@frozen
class ActionCount:
    """How often an action instance was enabled, taken, and changed the state."""

    enabled: int = 0
    taken: int = 0
    changed: int = 0


@frozen
class Finding:
    """A violated property: its key, in how many states or walks it was violated, and a trace that shows it."""

    prop: str
    count: int
    trace: Trace | None = None


@frozen
class Unfailing:
    """A property that cannot fail, with what is always so, as the end of a sentence about it.

    `expected` is the reason that its declaration or the scenario gives for that; "" if it is not expected.
    """

    prop: str
    what: str
    expected: str = ""


@frozen
class VerdictGap:
    """What a search that found no violation did not test.

    Args:
        properties: The names of the properties that it is about; none if it is about all.
        text: What was not tested, and what to do about it.
        bound: The name of the bound that cut off steps; "" if none did.
    """

    properties: tuple[str, ...]
    text: str
    bound: str = ""


CertificateFact = tuple[tuple[str, int, int], ...]
"""A leaf of the state, a least and a greatest number: no reachable state has all of these leaves in the intervals."""


@frozen
class ProofResult:
    """What a proof engine knows of one property instance."""

    prop: str
    outcome: ProofOutcome
    method: str = ""
    """The method that decided it; for UNKNOWN, the reason why none did."""
    k: int | None = None
    """The number of steps that the induction looks back."""
    support: tuple[str, ...] = ()
    """The supporting invariants that the proof needs, as text over the model's variables."""
    slice: str = ""
    """The part of the model that can influence the property."""
    refuted: int = 0
    """The depths 0 … refuted - 1 are known to have no violation."""
    counterexample: str = ""
    """A counterexample to plain induction, if there is one, and whether it is reachable."""
    certificate: tuple[CertificateFact, ...] | None = None
    """The supporting invariants for a check by another program; None if the proof is not by induction over one step."""


@frozen
class FindingGroup:
    """Findings of one shape: equal up to the names of parameters and the order of independent steps.

    `prop` and `steps` are those of the shape, with parameters renamed. `count` is the number of findings, `properties`
    the keys of the property instances that they violate; `walk` of `seed` is the first one, `trace` the shortest.
    """

    prop: str
    steps: tuple[str, ...]
    count: int
    properties: tuple[str, ...]
    trace: Trace
    seed: int | None = None
    walk: int | None = None


@frozen
class Verdict(Displayed):
    """The result of one run of an engine. Counts that the engine does not have are None."""

    answer: Answer
    strength: Strength
    engine: str
    scenario: str
    variant: str
    bounds: Mapping[str, int]
    properties: tuple[str, ...]
    """The names of the properties that were checked."""
    stopped: StopReason | None = None
    """Why the engine stopped before it was finished; None if it was not."""
    detail: str = ""
    """More about the strength or the stop, such as "time budget of 5 s"; "" if their names are enough."""
    distinct_states: int | None = None
    generated_states: int | None = None
    depth: int | None = None
    states_by_depth: tuple[int, ...] = ()
    """The number of distinct states of each depth from 0 on, of those (at most 1,000) whose states are all known."""
    steps: int | None = None
    walks: int | None = None
    quiescent_states: int | None = None
    estimated_states: int | None = None
    """An estimate of how many distinct states were visited; a note says how far it may be off."""
    seconds: float = 0.0
    seed: int | None = None
    bounds_hit: Mapping[str, int] = field(factory=dict)
    action_counts: Mapping[str, ActionCount] = field(factory=dict)
    """By the key of the action instance."""
    left_out: tuple[str, ...] = ()
    """The keys of the action instances that the engine was not allowed to take."""
    fairness: str = ""
    """The fairness of the behaviours for which properties about behaviours were checked; "" if none was."""
    premises: Mapping[str, int] = field(factory=dict)
    """By the key of the property instance: how often its premise was true; 0 means that it was never tested."""
    cannot_fail: tuple[Unfailing, ...] = ()
    """The properties that cannot fail, whether that is expected or not."""
    gaps: tuple[VerdictGap, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    proofs: tuple[ProofResult, ...] = ()
    """What a proof engine knows of each property instance."""
    command: str = ""
    """The command line that reproduces this run."""
    flags: Mapping[str, bool | str] = field(factory=dict)
    """The flags that differ from the variant's own."""
    model: Model | None = field(default=None, eq=False, repr=False)
    """The model, where an engine of `kwalk.engines` returned the verdict."""
    compared: Compared | None = field(default=None, eq=False, repr=False)
    """How much of what compiled code (or Z3) computed was compared with plain Python; None if neither was used.
    It depends on the time, and nothing else of the verdict depends on it."""
    sliced_walks: int | None = field(default=None, eq=False, repr=False)
    """How many of the walks ran on bit-sliced code, the others one by one. It depends on the time, as `compared`."""
    sliced_states: int | None = field(default=None, eq=False, repr=False)
    """How many states a search has expanded by bit-sliced code. It depends on the time, as `compared` does."""
    groups: tuple[FindingGroup, ...] = ()
    """The findings grouped by shape, if that was requested."""

    def judged(self, *, strict: bool = False) -> Verdict:
        """Return the verdict with what "holds" becomes if a property cannot fail or, if strict, if there are gaps."""
        if self.answer is not Answer.HOLDS:
            return self
        if any(not one.expected for one in self.cannot_fail):
            return evolve(self, answer=Answer.CANNOT_FAIL)
        return evolve(self, answer=Answer.GAPS) if strict and self.gaps else self

    def without(self, lacks: str) -> Verdict:
        """Return the verdict if the model lacks what a snapshot shows: that nothing is violated decides nothing."""
        if self.answer in (Answer.VIOLATED, Answer.BAD_STABLE_STATE, Answer.DEADLOCK, Answer.UNDECIDED):
            return self
        detail = f"the search is not about {lacks}"
        return evolve(self, answer=Answer.UNDECIDED, stopped=StopReason.MODEL, detail=detail)

    @property
    def qualifier(self) -> str:
        """The strength in a few words, or what stopped the engine; for people."""
        return self.detail or (self.strength if self.stopped is None else self.stopped).value

    @property
    def comparison_notes(self) -> tuple[str, ...]:
        """The sentence on the comparison with plain Python, if there was one, and one on what it missed."""
        if self.compared is None:
            return ()
        missed = self.uncompared
        names = ", ".join(missed[:LISTED]) + f" and {len(missed) - LISTED:,} more" * (len(missed) > LISTED)
        never = (f"Compared with plain Python: never these action instances, though they fired: {names}.",)
        return str(self.compared), *(never if missed else ())

    @property
    def uncompared(self) -> tuple[str, ...]:
        """The action instances that fired, and of which no step was compared with plain Python."""
        compared = frozenset[str]() if self.compared is None else self.compared.instances
        return tuple(key for key, count in self.action_counts.items() if count.taken and key not in compared)

    @property
    def code_notes(self) -> tuple[str, ...]:
        """The sentence on the code that ran, if some of it was bit-sliced."""
        if self.sliced_states:
            return (f"Bit-sliced code expanded {self.sliced_states:,} states.",)
        if not self.sliced_walks:
            return ()
        return (f"Bit-sliced code did {self.sliced_walks:,} of {self.walks or 0:,} walks.",)

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the engine."""
        return self.stopped is StopReason.INTERRUPT

    @property
    def counterexample(self) -> Trace | None:
        """The trace of the first finding that has one; the shortest if the engine finds shortest traces."""
        return next((f.trace for f in self.findings if f.trace is not None), None)

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this verdict."""
        return self.answer.exit_code


def total_compared(verdicts: Iterable[Verdict]) -> Compared | None:
    """Return how much was compared with plain Python for several verdicts; None if nothing was for any of them."""
    return sum((verdict.compared for verdict in verdicts if verdict.compared is not None), Compared()) or None
