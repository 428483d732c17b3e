"""Slices: the part of a model that can influence a claim. Only that is encoded.

Words: the *cone of influence* of some leaves is the least set that holds them and, with a leaf, whatever is read by the
guards and updates of the action instances that write it. A *slice* is a cone with the instances that write into it.
What is left out can neither change the slice nor hold its instances back, so the slice's behaviours are those of the
whole model as far as its leaves can tell: verdicts, traces and shortest lengths are the same.

Guards of instances outside of a slice matter to two kinds of claims only. `when_quiet` reads the guards of all system
instances. A `step` claim that a step without effect could violate is asked of every instance, so all are kept.
"""
from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from attrs import evolve, frozen

from model.language import Kind, Model
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Term, reads
from search.prove.terms import over_a_step, satisfying, state_variables, wrong

NAMED = 12
"""Records that the description of a slice names before the rest is told as a number."""


@frozen(eq=False)
class Slice:
    """The leaves that can influence some claims, in order, and the model lifted as far as those go."""

    leaves: tuple[int, ...]
    lifted: Lifted
    whole: Lifted
    idle: bool = True
    """Whether steps that change nothing in it are looked at as well."""

    @property
    def model(self) -> Model:
        """The model that it is a slice of. Its numbers of leaves and instances are used here too."""
        return self.lifted.model

    @cached_property
    def varying(self) -> tuple[int, ...]:
        """The leaves that have more than one value."""
        return tuple(n for n in self.leaves if self.model.leaves[n].low < self.model.leaves[n].high)

    @cached_property
    def steps(self) -> tuple[LiftedAction, ...]:
        """The instances that write into the slice; the others are kept for their guards only."""
        return tuple(action for action in self.lifted.actions if action.updates)

    def description(self) -> str:
        """How much of the model it is, and which parts of the state, for people."""
        whole = sum(leaf.low < leaf.high for leaf in self.model.leaves)
        instances = f"{len(self.steps)} of {len(self.whole.actions)} instances"
        size = f"{len(self.varying)} of {whole} state variables, {instances}"
        if len(self.varying) == whole:
            return size
        parts = list(dict.fromkeys(_record(self.model.leaves[n].path) for n in self.varying))
        more = f" and {len(parts) - NAMED} more" if len(parts) > NAMED else ""
        return f"{size}: {', '.join(parts[:NAMED])}{more}"


def _record(path: str) -> str:
    """The field of the state that a leaf belongs to, without indexes."""
    words: list[str] = []
    for part in path.rstrip("#?").split(".")[:2]:
        words.append(part.split("[")[0].split("{")[0].rstrip("#?"))
    return ".".join(words)


def whole(lifted: Lifted) -> Slice:
    """The slice that leaves nothing out."""
    return Slice(tuple(range(len(lifted.model.leaves))), lifted, lifted)


def slice_of(lifted: Lifted, claims: Sequence[LiftedClaim]) -> Slice:
    """The least slice in which the claims mean what they mean in the model."""
    seeds = frozenset[int]().union(*(claim_reads(lifted, claim) for claim in claims))
    everything = any(not _is_kept_by_idle_steps(lifted, claim) for claim in claims)
    if everything:
        seeds |= reads(root for action in lifted.actions for root in _conditions(action))
    leaves = cone(lifted.actions, seeds)
    quiet = any(claim.claim.kind is Kind.WHEN_QUIET for claim in claims)
    kept = [
        evolve(action, updates={n: term for n, term in action.updates.items() if n in leaves})
        for action in lifted.actions
        if everything or action.writes & leaves or (quiet and action.instance.action.by.system)
    ]
    part = Lifted(lifted.model, lifted.terms, tuple(kept), tuple(claims))
    return Slice(tuple(sorted(leaves)), part, lifted, idle=everything)


def claim_reads(lifted: Lifted, claim: LiftedClaim) -> frozenset[int]:
    """The leaves whose values decide whether a state (or step) violates a claim."""
    size = len(lifted.model.leaves)
    found = frozenset(n % size for n in reads(claim.roots))
    if claim.claim.kind is Kind.WHEN_QUIET:
        found |= reads(a.guard for a in lifted.actions if a.instance.action.by.system)
    return found


def cone(actions: Sequence[LiftedAction], seeds: frozenset[int]) -> frozenset[int]:
    """The cone of influence of some leaves."""
    known = seeds
    writers: dict[int, list[LiftedAction]] = {}
    for action in actions:
        for leaf in action.updates:
            writers.setdefault(leaf, []).append(action)
    seen: set[int] = set()
    pending = list(seeds)
    while pending:
        leaf = pending.pop()
        found: set[int] = set()
        for action in writers.get(leaf, ()):
            found |= reads([action.updates[leaf]])
            if action.instance.index not in seen:
                seen.add(action.instance.index)
                found |= reads(_conditions(action))
        pending += found - known
        known |= found
    return known


def _conditions(action: LiftedAction) -> list[Term]:
    """What decides whether an instance is taken."""
    return [action.guard, *(o.condition for o in action.obligations)]


def _is_kept_by_idle_steps(lifted: Lifted, claim: LiftedClaim) -> bool:
    """Whether a step that changes nothing cannot violate the claim."""
    if claim.claim.kind is not Kind.STEP:
        return True
    now = state_variables(lifted)
    try:
        return satisfying(lifted.model, wrong(lifted.terms, over_a_step(lifted, claim, now, now)), 2_000) is None
    except TimeoutError:
        return False
