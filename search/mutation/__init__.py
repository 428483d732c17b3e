"""Mutation testing of a model: mistakes are made in its functions on purpose, and its claims must notice each.

Words: a *mutant* is a copy of the model with one mistake, made by an *operator*. It is tried on *grounds*, which are
models whose every state is known; what becomes of it is its *fate* (see `fates`). A survivor, or a mutant
whose fate is undecided, can be *explained*: somebody has looked at it and says why no claim notices it. An explanation
of any other mutant is *stale*.
"""
from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from model.language import Model, Trial
from search.mutation.examining import Budget
from search.mutation.fates import Evidence, Fate, Outcome
from search.mutation.grounds import Ground, ground_of
from search.mutation.mutants import Mutant, chosen_mutants, mutants_of, name_of
from search.mutation.operators import OPERATORS
from search.mutation.workers import examined_by_workers
from search.progress import Progress, Report, silent

Fingerprint = Callable[[Model], str]
"""What tells the texts of two models apart."""
Kept = Mapping[str, Outcome]
"""Outcomes by the keys of their mutants."""


@frozen
class Tried:
    """A mutant with its outcome, None if nobody came to it; and why it may survive, or nothing."""

    mutant: Mutant
    outcome: Outcome | None
    reason: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it survives, or is undecided."""
        return self.outcome is not None and self.outcome.fate in (Fate.SURVIVED, Fate.UNDECIDED)

    @property
    def is_open(self) -> bool:
        """Whether it is alive, and nobody says why."""
        return self.is_alive and not self.reason


def grounds_of(trials: Iterable[Trial], report: Report = silent) -> tuple[Ground, ...]:
    """The trials' models, searched; those with the fewest terms come first, as looking there costs least."""
    found = [ground_of(trial, report) for trial in trials]
    return tuple(sorted(found, key=lambda ground: len(ground.lifted.terms)))


def mutants_on(grounds: Sequence[Ground]) -> tuple[Mutant, ...]:
    """All mutants of the functions that the grounds' actions can come to."""
    actions = [action for ground in grounds for action in ground.lifted.actions]
    functions = {function for action in actions for function in action.coverage.functions}
    return mutants_of(functions, {use for action in actions for use in action.coverage.fields})


def sampled(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """A random sample in the order of the whole; a larger one of the same seed has all of a smaller one."""
    shuffled = list(range(len(mutants)))
    random.Random(seed).shuffle(shuffled)
    return [mutants[number] for number in sorted(shuffled[:size])]


def stale(explained: Mapping[str, str], tried: Iterable[Tried], everyone: Iterable[Mutant]) -> tuple[str, ...]:
    """The explained mutants that were tried and are not alive, or that modules which have mutants have no more."""
    dead = {t.mutant.id for t in tried if t.outcome is not None and not t.is_alive}
    known = {mutant.id for mutant in everyone}
    modules = {name.partition(".")[0] for name in known}
    gone = {name for name in explained if name.partition(".")[0] in modules and name not in known}
    return tuple(name for name in explained if name in dead or name in gone)


def mutate(
    mutants: Sequence[Mutant],
    grounds: Sequence[Ground],
    budget: Budget,
    *,
    workers: int = 1,
    text: Fingerprint | None = None,
    kept: Kept | None = None,
    keep: Callable[[Kept], None] | None = None,
    explained: Mapping[str, str] | None = None,
    report: Report = silent,
) -> tuple[Tried, ...]:
    """The mutants with their outcomes. On Ctrl-C those that are left have none.

    What was `kept` is taken over where the fingerprint of the grounds' `text` and the mutant are the same; `keep` is
    called now and then with all outcomes so far, and at the end.
    """
    place = _digest([text(ground.model) if text else "" for ground in grounds], grounds)
    keys = {mutant.id: _key(place, mutant) for mutant in mutants}
    run = _Run(budget, keep or _forget, report, {**(kept or {})}, keys)
    run.go(mutants, grounds, workers)
    reasons = explained or {}
    return tuple(Tried(m, run.outcomes.get(m.id), reasons.get(m.id, "")) for m in mutants)


def _digest(texts: Sequence[str], grounds: Sequence[Ground]) -> str:
    asked = [
        (g.name, g.model.variant, sorted(g.model.binding.bounds.items()), sorted(g.model.binding.flags.items()),
         [claim.key for claim in g.claims])
        for g in grounds
    ]  # fmt: skip
    return hashlib.blake2b(repr((texts, asked)).encode(), digest_size=16).hexdigest()


def _key(place: str, mutant: Mutant) -> str:
    about = (place, name_of(mutant.function), mutant.id)
    return hashlib.blake2b(repr(about).encode(), digest_size=16).hexdigest()


def _forget(outcomes: Kept) -> None:
    """Keep nothing."""


KEEPING = 5.0
"""Seconds between two times that outcomes are kept."""


@define(eq=False)
class _Run:
    """A run that goes on: what is kept by key, and what has been found out by id."""

    budget: Budget
    keep: Callable[[Kept], None]
    report: Report
    kept: dict[str, Outcome]
    keys: Mapping[str, str]
    outcomes: dict[str, Outcome] = field(factory=dict)
    began: float = field(factory=time.monotonic)
    looked_at: int = 0

    def go(self, mutants: Sequence[Mutant], grounds: Sequence[Ground], workers: int) -> None:
        """Take over what was kept, and look at the rest; Ctrl-C ends it."""
        for mutant in mutants:
            known = self.kept.get(self.keys[mutant.id])
            if known is not None and (known.seconds is None or known.seconds >= self.budget.seconds):
                self.outcomes[mutant.id] = known
        left = [mutant for mutant in mutants if mutant.id not in self.outcomes]
        try:
            self._look_at(left, examined_by_workers(left, grounds, self.budget, workers, self._teller(len(mutants))))
        except KeyboardInterrupt:
            pass
        finally:
            if self.looked_at:
                self.keep(self.kept)

    def _look_at(self, left: Sequence[Mutant], found: Iterator[tuple[Mutant, Outcome]]) -> None:
        last = time.monotonic()
        for mutant, outcome in found if left else ():
            self.outcomes[mutant.id] = self.kept[self.keys[mutant.id]] = outcome
            self.looked_at += 1
            if time.monotonic() - last > KEEPING:
                last = time.monotonic()
                self.keep(self.kept)

    def _teller(self, total: int) -> Callable[[str], None]:
        def tell(note: str) -> None:
            gone, left = time.monotonic() - self.began, total - len(self.outcomes)
            rest = left * gone / self.looked_at if self.looked_at else None
            self.report(Progress("mutate", len(self.outcomes), "mutants", gone, total, rest, note))

        return tell


__all__ = [
    "OPERATORS", "Budget", "Evidence", "Fate", "Ground", "Kept", "Mutant", "Outcome", "Tried", "chosen_mutants",
    "grounds_of", "mutants_on", "mutate", "sampled", "stale",
]  # fmt: skip
