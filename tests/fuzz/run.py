"""The run of the fuzzer: random models and snippets in worker processes, and reduced sources of what differs.

Each model and each module of snippets has a seed of its own, so that a run can be continued, and one of them repeated.
A difference is reported the moment it is found, so that nothing that ends the run loses it.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice

from attrs import define, evolve, field, frozen

from kwalk.search.base.progress import Progress, Report, silent, unannounced
from kwalk.search.base.worker_processes import run_in_processes
from tests.fuzz.comparison import Difference, Engines, compare_model, difference_in, refusal_of
from tests.fuzz.models import random_model
from tests.fuzz.reduction import MOST_TESTS, Reducer
from tests.fuzz.snippets import compare_snippets, random_snippets, snippet_difference

SHARES = {
    2: Engines.KERNEL,
    6: Engines.OPTIMIZED,
    8: Engines.SEARCHES | Engines.SLICED | Engines.SYMBOLIC,
    24: Engines.REDUCTION,
}
"""What is compared besides plain Python and terms, in one of how many models, by their seeds; see also `Z3_SHARE`."""
Z3_SHARE = 8
"""One model of this many is compared with Z3's values and proofs, in place of machine code."""
MODULE = 25
"""Snippets of a module."""
BATCH = 40
"""Tasks of one worker process, whose memory ends with it."""
CRASH = "crash: the process died"
"""The kind of a difference that ends the process; it is not reduced, as the reduction would die as well."""
ALONE = ("kernel", "proofs", "symbolic", "z3")
"""The engines that models can be compared on without others."""
REDUCED = 2
"""How many differences of a kind are reduced."""


@frozen(kw_only=True)
class FuzzOptions:
    """The options of a run.

    Args:
        models: The number of random models.
        snippets: The number of random snippets.
        seed: The seed of the first model and of the first module of snippets.
        seconds: The time budget; None for no limit.
        workers: The number of worker processes.
        only: The name of the one engine that models are compared on; "": those of `SHARES`, by the seed of the model.
        tests: The number of texts that the reduction of a difference tests.
        report: Receives the progress.
        found: Receives the number of each difference and the difference when it is found, and once more when its source
            is reduced.
        done: Receives the counts after each task, with the seed from which a run continues.
    """

    models: int = 200
    snippets: int = 2000
    seed: int = 0
    seconds: float | None = None
    workers: int = 1
    only: str = ""
    tests: int = MOST_TESTS
    report: Report = field(default=silent, repr=False)
    found: Callable[[int, FoundDifference], None] = field(default=lambda number, one: None, repr=False)
    done: Callable[[FuzzResult], None] = field(default=lambda result: None, repr=False)


@frozen
class FuzzTask:
    """A model, or a module of snippets (`size` is their number), by its seed."""

    seed: int
    size: int = 0
    only: str = ""

    @property
    def name(self) -> str:
        """Return its name, for messages and files."""
        return f"snippets-{self.seed}" if self.size else f"model-{self.seed}"

    @property
    def engines(self) -> Engines:
        """Return what a model is compared on besides plain Python and terms."""
        if self.only:
            return Engines[self.only.upper()]
        chosen = Engines.NONE
        if self.seed % Z3_SHARE == Z3_SHARE // 2:
            return Engines.Z3 | Engines.PROOFS
        for share, engine in SHARES.items():
            chosen |= engine if self.seed % share == 0 else Engines.NONE
        return chosen

    def source(self) -> str:
        """Return the text of its module."""
        return random_snippets(self.seed, self.size) if self.size else random_model(self.seed)


@frozen
class FoundDifference:
    """A difference between kwalk and the oracle."""

    task: FuzzTask
    kind: str
    text: str
    source: str = field(repr=False)
    """The text of a module that shows it; reduced, if `is_reduced`."""
    is_reduced: bool = False


@frozen
class TaskReport:
    """What one task has compared."""

    states: int = 0
    is_complete: bool = False
    accepted: int = 0
    refusals: Counter[str] = field(factory=Counter)
    differences: tuple[FoundDifference, ...] = ()


@define
class FuzzResult:
    """The counts of a run."""

    models: int = 0
    complete: int = 0
    """Models whose reachable states the oracle has exhausted."""
    engines: Counter[str] = field(factory=Counter)
    """The number of models by each engine that they were compared on, besides plain Python and terms."""
    states: int = 0
    snippets: int = 0
    accepted: int = 0
    """Snippets that the lifter accepts."""
    refusals: Counter[str] = field(factory=Counter)
    """How many snippets the lifter refuses, by the kind of the refusal."""
    refused_models: Counter[str] = field(factory=Counter)
    """How many models meet a refusal that the language's reference announces."""
    differences: list[FoundDifference] = field(factory=list)
    next_seed: int = 0
    """The seed with which a run continues after this one."""
    seconds: float = 0.0

    def add(self, task: FuzzTask, report: TaskReport) -> None:
        """Add what a task has compared."""
        self.differences += report.differences
        if task.size:
            self.snippets += task.size
            self.accepted += report.accepted
            self.refusals.update(report.refusals)
            return
        self.models += 1
        self.refused_models.update(report.refusals)
        self.complete += report.is_complete
        self.states += report.states
        self.engines.update(one.name.lower() for one in task.engines if one.name)


def run_task(task: FuzzTask) -> TaskReport:
    """Compare one model, or the snippets of one module."""
    source = task.source()
    if task.size:
        found = compare_snippets(source, task.seed)
        differences = tuple(FoundDifference(task, one.kind, one.text, source) for _, one in found.differences)
        return TaskReport(accepted=found.accepted, refusals=found.refusals, differences=differences)
    try:
        report = compare_model(source, task.seed, task.engines)
    except Difference as one:
        return TaskReport(differences=(FoundDifference(task, one.kind, one.text, source),))
    except Exception as error:
        kind = f"crash: {type(error).__name__}: {refusal_of(error)}"
        return TaskReport(differences=(FoundDifference(task, kind, str(error), source),))
    refusals = Counter([report.refusal] if report.refusal else [])
    return TaskReport(report.states, report.is_complete, refusals=refusals)


def tasks_of(options: FuzzOptions) -> list[FuzzTask]:
    """Return the models and modules of snippets of a run, so mixed that both end at the same time."""
    models = [FuzzTask(options.seed + number, only=options.only) for number in range(options.models)]
    modules = [FuzzTask(options.seed + number, MODULE) for number in range(-(-options.snippets // MODULE))]
    longer, shorter = (models, modules) if len(models) >= len(modules) else (modules, models)
    places = [((number + 0.5) / max(1, len(longer)), task) for number, task in enumerate(longer)]
    places += [((number + 0.5) / max(1, len(shorter)), task) for number, task in enumerate(shorter)]
    return [task for _, task in sorted(places, key=lambda place: place[0])]


@unannounced()
def fuzz(options: FuzzOptions) -> FuzzResult:
    """Compare kwalk with the oracle on random models and snippets; reduce what differs.

    Ctrl-C and a spent time budget end the run with what was compared so far.
    """
    began, tasks = time.monotonic(), tasks_of(options)
    remaining = sorted(tasks, key=lambda task: task.seed, reverse=True)
    after = max((task.seed + 1 for task in tasks), default=options.seed)
    result, done = FuzzResult(next_seed=options.seed), set[FuzzTask]()
    try:
        for task, report in _reports(tasks, options, began):
            for number, one in enumerate(report.differences, len(result.differences)):
                options.found(number, one)
            result.add(task, report)
            done.add(task)
            while remaining and remaining[-1] in done:
                remaining.pop()
            result.next_seed = remaining[-1].seed if remaining else after
            result.seconds = time.monotonic() - began
            options.done(result)
            options.report(_progress(result, len(done), len(tasks), time.monotonic() - began))
            if options.seconds is not None and time.monotonic() - began >= options.seconds:
                break
    except KeyboardInterrupt:
        pass
    result.seconds = time.monotonic() - began
    reduced = _reduced(result.differences, options)
    try:
        for number, one in enumerate(reduced):
            if one.is_reduced:
                result.differences[number] = one
                options.found(number, one)
    except KeyboardInterrupt:
        pass
    return result


def _reports(tasks: Sequence[FuzzTask], options: FuzzOptions, began: float) -> Iterator[tuple[FuzzTask, TaskReport]]:
    """Yield the report of each task; a small run needs no processes."""
    if options.workers == 1 and len(tasks) <= 4 * BATCH:
        yield from ((task, run_task(task)) for task in tasks)
        return
    rest = iter(tasks)
    batches = iter(lambda: list(islice(rest, BATCH)), [])
    yield from run_in_processes(
        batches, run_task, workers=options.workers, name=lambda task: task.name, report=lambda running: None, lost=_lost
    )


def _lost(task: FuzzTask, text: str) -> TaskReport:
    """Return the report of a task whose process died."""
    return TaskReport(differences=(FoundDifference(task, CRASH, text, task.source()),))


def _progress(result: FuzzResult, done: int, total: int, seconds: float) -> Progress:
    note = f"{result.models:,} models, {result.snippets:,} snippets, {len(result.differences)} differences"
    left = seconds / done * (total - done) if done else None
    return Progress("fuzz", result.models + result.snippets, "models and snippets", seconds, left=left, note=note)


# Reduction.


def _reduced(differences: Sequence[FoundDifference], options: FuzzOptions) -> Iterator[FoundDifference]:
    """Yield the differences, the first of each kind with a reduced source."""
    seen: Counter[str] = Counter()
    for one in tuple(differences):
        seen[one.kind] += 1
        can_reduce = seen[one.kind] <= REDUCED and one.kind != CRASH
        yield reduced_difference(one, options.tests) if can_reduce else one


def reduced_difference(one: FoundDifference, tests: int = MOST_TESTS) -> FoundDifference:
    """Return a difference with the smallest source found that shows one of the same kind."""
    find = partial(_difference_of, one.task)

    def remains(source: str) -> bool:
        found = find(source)
        return found is not None and found.kind == one.kind

    source = Reducer(one.source, remains, tests, constants=not one.kind.startswith("refused")).run()
    found = find(source)
    if found is None or found.kind != one.kind:
        return one
    return evolve(one, source=source, text=found.text, is_reduced=True)


def _difference_of(task: FuzzTask, source: str) -> Difference | None:
    if task.size:
        return snippet_difference(source, task.seed)
    return difference_in(source, task.seed, task.engines)
