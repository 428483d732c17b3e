"""Verdicts: what an engine has to say, and how sure it is.

"Holds" is never said alone: `how` tells whether it was proved, shown exhaustively within bounds, or only sampled; and
the counts tell which rules never fired, which invariants never had a chance to fail, and which bounds were hit.
"""
from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from attrs import field, frozen

from search.trace import Trace

DEADLOCK = "deadlock"
"""The name of a finding about a state in which nothing is enabled."""


class Answer(Enum):
    """What was found; the value is what `--json` prints as `verdict`."""

    HOLDS = "holds"
    VIOLATED = "violated"
    BAD_STABLE_STATE = "bad stable state"
    DEADLOCK = "deadlock"
    UNDECIDED = "undecided"

    @property
    def exit_code(self) -> int:
        """The command's exit code: 0, 3, 11, 12 or 13 (2 is for usage)."""
        return {"holds": 0, "undecided": 3, "deadlock": 11, "violated": 12, "bad stable state": 13}[self.value]


@frozen
class RuleCount:
    """How often an action instance was enabled, taken, and changed the state."""

    enabled: int = 0
    taken: int = 0
    changed: int = 0


@frozen
class Finding:
    """A claim that was violated: how often, in how many different states or walks, and a trace that shows it."""

    claim: str
    count: int
    trace: Trace | None = None


@frozen
class Proof:
    """What a proof engine has to say of one claim."""

    claim: str
    outcome: str
    """"proved", "witnessed" (a reachable claim), "violated" (also: proved to be unreachable) or "unknown"."""
    method: str = ""
    """How it is known; with "unknown", why it is not."""
    k: int | None = None
    """So many steps on end the induction looks back."""
    support: tuple[str, ...] = ()
    """The supporting invariants that the proof needs, in the model's words."""
    slice: str = ""
    """How much of the model can influence the claim."""
    refuted: int = 0
    """So many depths (0, 1, …) are known to have no violation."""
    counterexample: str = ""
    """A counterexample to plain induction, if there is one, and what became of it."""


@frozen
class Cluster:
    """Findings of one shape: the same steps towards the same claim, but for names and orders that do not matter.

    `claim` and `steps` are those of the shape, with parameters renamed. `count` findings have it, of these `claims`;
    `walk` of `seed` is the first that showed it, and `trace` the shortest.
    """

    claim: str
    steps: tuple[str, ...]
    count: int
    claims: tuple[str, ...]
    trace: Trace
    seed: int | None = None
    walk: int | None = None


@frozen
class Verdict:
    """The answer of one run. Counts that an engine does not have are None."""

    answer: Answer
    how: str
    """"proved", "exhaustive" (within the bounds) or "sampled"; with "undecided", which limit was hit."""
    engine: str
    scenario: str
    variant: str
    bounds: Mapping[str, int]
    invariants: tuple[str, ...]
    """The names of the invariants that were looked at."""
    distinct_states: int | None = None
    generated_states: int | None = None
    depth: int | None = None
    steps: int | None = None
    walks: int | None = None
    quiet_states: int | None = None
    estimated_states: int | None = None
    """An estimate of how many distinct states were visited; a note says how far it may be off."""
    seconds: float = 0.0
    seed: int | None = None
    bounds_hit: Mapping[str, int] = field(factory=dict)
    rules: Mapping[str, RuleCount] = field(factory=dict)
    """By the key of the action instance."""
    left_out: tuple[str, ...] = ()
    """The keys of the action instances that the engine was told not to take."""
    premises: Mapping[str, int] = field(factory=dict)
    """How often each claim had a chance to fail, by key; 0 means that it was never put to the test."""
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    """What is known of each claim, from an engine that proves."""
    command: str = ""
    """The command line that reproduces this run."""
    flags: Mapping[str, bool | str] = field(factory=dict)
    """The flags that were set otherwise than the variant has them."""
    clusters: tuple[Cluster, ...] = ()
    """What was found, grouped by shape; only where that was asked for."""

    @property
    def counterexample(self) -> Trace | None:
        """The first trace, which is the shortest one where the engine can tell."""
        return next((f.trace for f in self.findings if f.trace is not None), None)

    @property
    def exit_code(self) -> int:
        """The exit code of a command that ends with this verdict."""
        return self.answer.exit_code
