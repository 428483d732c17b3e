"""Mutation testing of a model: change its functions in small ways, and see whether a property notices.

Words: a *mutant* is a copy of the model with one change, made by an *operator*. It is evaluated on *baselines*: models
whose reachable states are all known. The result is its *status* (see `MutantStatus`). A mutant that survives, or is
undecided, can be *explained*: a reason states why no property notices it. An explanation of any other mutant is
*stale*.
"""

from __future__ import annotations

import hashlib
import random
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.language import Trial
from kwalk.model.language.display import Displayed
from kwalk.search.analyses.mutation.baseline import Baseline, baseline_of
from kwalk.search.analyses.mutation.evaluation import SECONDS, Evidence, MutantOutcome, MutantStatus, evaluate
from kwalk.search.analyses.mutation.mutants import Mutant, chosen_mutants, mutants_of, name_of
from kwalk.search.analyses.mutation.operators import OPERATORS
from kwalk.search.analyses.saved_run import SavedRun, SavedRunOptions
from kwalk.search.base.journal import Journal
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.worker_processes import run_in_processes
from kwalk.search.kernel.model_digest import meaning_key
from kwalk.search.results.verdict import Answer

MUTANTS_PER_PROCESS = 20
"""How many mutants a worker process evaluates; its terms and machine code are freed when it ends."""


def mutation_journal(folder: Path) -> Journal[MutantOutcome]:
    """Return the journal of outcomes of mutants in a folder."""
    return Journal(folder / "mutate.jsonl", MutantOutcome, "kwalk mutate 4")


@frozen(kw_only=True)
class MutationOptions(SavedRunOptions[MutantOutcome]):
    """The options of `mutate`.

    Args:
        seconds: The time budget of the exhaustive search of one mutant.
        explained: The reason why a mutant may survive, by the mutant's id.
    """

    seconds: float = SECONDS
    explained: Mapping[str, str] = field(factory=dict)


@frozen
class MutantResult:
    """A mutant, its outcome (None if it was not evaluated), and the reason why it may survive ("" for none)."""

    mutant: Mutant
    outcome: MutantOutcome | None
    reason: str = ""

    @property
    def is_alive(self) -> bool:
        """Whether it survives, or is undecided."""
        return self.outcome is not None and self.outcome.status in (MutantStatus.SURVIVED, MutantStatus.UNDECIDED)

    @property
    def is_unexplained(self) -> bool:
        """Whether it is alive without a reason."""
        return self.is_alive and not self.reason


@frozen(eq=False)
class MutationReport(Displayed):
    """What became of the mutants of some baselines.

    `stale_explanations` are to be removed, `total` is the number of all mutants; `seed` is that of a random sample of
    them, None without one.
    """

    results: Sequence[MutantResult]
    baselines: Sequence[Baseline] = field(repr=False)
    stale_explanations: Sequence[str]
    total: int
    seed: int | None = None

    @property
    def answer(self) -> Answer:
        """HOLDS if every mutant that is alive is explained, and no explanation is stale."""
        left = [result for result in self.results if result.is_unexplained]
        survived = any(result.outcome and result.outcome.status is MutantStatus.SURVIVED for result in left)
        if self.stale_explanations or survived:
            return Answer.VIOLATED
        return Answer.UNDECIDED if left or any(r.outcome is None for r in self.results) else Answer.HOLDS

    @property
    def alive(self) -> tuple[MutantResult, ...]:
        """The mutants that survive, or are undecided."""
        return tuple(result for result in self.results if result.is_alive)

    def __iter__(self) -> Iterator[MutantResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)


def baselines_of(trials: Iterable[Trial], report: Report = silent) -> tuple[Baseline, ...]:
    """Search the models of the trials; return the one with the fewest terms first, as it is the cheapest to evaluate.

    Raises:
        UsageError: A model is too large, or one of its actions leaves its domain.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
    found = [baseline_of(trial, report) for trial in trials]
    return tuple(sorted(found, key=lambda baseline: len(baseline.lifted.terms)))


def mutants_on(baselines: Sequence[Baseline]) -> tuple[Mutant, ...]:
    """Return all mutants of the functions that the actions of the baselines can call."""
    actions = [action for baseline in baselines for action in baseline.lifted.actions]
    functions = {function for action in actions for function in action.coverage.functions}
    return mutants_of(functions, {use for action in actions for use in action.coverage.fields})


def sample(mutants: Sequence[Mutant], size: int, seed: int) -> list[Mutant]:
    """Return a random sample in the order of `mutants`; a larger sample of the same seed includes a smaller one."""
    shuffled = list(range(len(mutants)))
    random.Random(seed).shuffle(shuffled)
    return [mutants[number] for number in sorted(shuffled[:size])]


def stale_explanations(
    explained: Mapping[str, str], results: Iterable[MutantResult], all_mutants: Iterable[Mutant]
) -> tuple[str, ...]:
    """Return the ids of the explained mutants that were evaluated and are not alive, or that no longer exist.

    Of modules without any mutant in `all_mutants` nothing is known, and their explanations are not stale.
    """
    dead = {t.mutant.id for t in results if t.outcome is not None and not t.is_alive}
    known = {mutant.id for mutant in all_mutants}
    modules = {name.partition(".")[0] for name in known}
    gone = {name for name in explained if name.partition(".")[0] in modules and name not in known}
    return tuple(name for name in explained if name in dead or name in gone)


def mutate(
    mutants: Sequence[Mutant], baselines: Sequence[Baseline], options: MutationOptions | None = None, **others: Any
) -> tuple[MutantResult, ...]:
    """Evaluate mutants; return them with their outcomes. After Ctrl-C those that are left have no outcome.

    Args:
        mutants: See `mutants_on`.
        baselines: See `baselines_of`.
        options: The options.
        **others: Fields of `MutationOptions`, as keywords.

    Raises:
        KwalkError: A worker process died; outcomes up to then are saved.
    """
    options = evolve(options or MutationOptions(), **others)
    digests = [_digest(baseline) for baseline in baselines]
    keys = {_key(mutant, baselines, digests): mutant for mutant in mutants}
    outcomes = _Mutation(keys, baselines, options).run()
    return tuple(MutantResult(m, outcomes.get(key), options.explained.get(m.id, "")) for key, m in keys.items())


def _digest(baseline: Baseline) -> str:
    """Return a digest of everything in a baseline that the outcome of a mutant depends on.

    A mutant can execute lines that the model under its flags does not, so that the terms of the model are not enough.
    Without a key for all of them no outcome is that of a later run.
    """
    model, meaning = baseline.model, meaning_key(baseline.model) or uuid.uuid4().hex
    inputs = (meaning, baseline.name, model.variant, model.initial, [prop.key for prop in baseline.properties])
    return hashlib.blake2b(repr(inputs).encode(), digest_size=16).hexdigest()


def _key(mutant: Mutant, baselines: Sequence[Baseline], digests: Sequence[str]) -> str:
    """Return a digest of a mutant and of the baselines that reach it: a change of any other model keeps its outcome."""
    reaching = [digest for baseline, digest in zip(baselines, digests, strict=True) if baseline.reaches(mutant)]
    about = (reaching, name_of(mutant.function), mutant.id)
    return hashlib.blake2b(repr(about).encode(), digest_size=16).hexdigest()


class _Mutation(SavedRun[Mutant, MutantOutcome]):
    """A run of `mutate`."""

    options: MutationOptions
    engine, unit = "mutate", "mutants"

    def __init__(self, mutants: Mapping[str, Mutant], baselines: Sequence[Baseline], options: MutationOptions) -> None:
        super().__init__(mutants, options)
        self.baselines = baselines

    def is_reusable(self, mutant: Mutant, outcome: MutantOutcome) -> bool:
        return outcome.seconds is None or outcome.seconds >= self.options.seconds

    def evaluate(self, left: Mapping[str, Mutant]) -> Iterator[tuple[str, MutantOutcome]]:
        """Yield the outcomes by key as they arrive; a worker process evaluates several mutants.

        The baseline that killed a mutant in an earlier run, of another model, is tried first: most of the time is spent
        on lifting a mutant again for each baseline that does not kill it.
        """
        if not left:
            return iter(())
        killers = {
            outcome.mutant: outcome.baseline
            for outcome in self.saved.values()
            if outcome.status in (MutantStatus.KILLED, MutantStatus.CRASHED)
        }

        def evaluated(key: str) -> MutantOutcome:
            mutant = left[key]
            baselines = sorted(self.baselines, key=lambda baseline: baseline.name != killers.get(mutant.id))
            return evolve(evaluate(mutant, baselines, self.options.seconds), mutant=mutant.id)

        keys, workers = list(left), self.options.workers
        size = max(1, min(MUTANTS_PER_PROCESS, -(-len(left) // workers)))
        return run_in_processes(
            [keys[first : first + size] for first in range(0, len(keys), size)],
            evaluated,
            workers=workers,
            name=lambda key: _description(left[key]),
            report=lambda running: self.report(", ".join(left[key].id for key in running)),
        )


def _description(mutant: Mutant) -> str:
    return f"{mutant.id} ({mutant.file}:{mutant.line}), {mutant.after}"


__all__ = [
    "OPERATORS",
    "Baseline",
    "Evidence",
    "Mutant",
    "MutantOutcome",
    "MutantResult",
    "MutantStatus",
    "MutationOptions",
    "MutationReport",
    "baselines_of",
    "chosen_mutants",
    "mutants_on",
    "mutate",
    "mutation_journal",
    "sample",
    "stale_explanations",
]
