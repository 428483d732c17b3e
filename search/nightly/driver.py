"""The driver of a run: it gives its tasks their turns on Spark's executors, and saves each round when it is done.

Words: the tasks take turns in *laps*: none begins a lap before all others have finished the one before, so that a night
that is cut short has something of each. An interrupt (Ctrl-C, SIGTERM) ends the run after what it has saved.
"""
from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack

from attrs import define, evolve, field, frozen
from pyspark.sql import SparkSession

from model.language import KwalkError
from model.language.errors import InternalError
from search.compile import Compiled, compile_model, kernel_of
from search.compile.machine_code import Loaded, cpu
from search.interrupts import Interrupts
from search.nightly.conclusion import concluded, error_of, failed_row, run_row, with_error
from search.nightly.findings import cluster_id
from search.nightly.folder import RunFolder
from search.nightly.kernels import Kernels
from search.nightly.manifest import Manifest, now
from search.nightly.plan import Task
from search.nightly.searching import Search
from search.nightly.tables import RunRow
from search.nightly.walking import Walking
from search.nightly.watch import Moment, Watch, seconds_left
from search.progress import Progress, Report
from search.shrink.cast import cast_of
from search.spark.fleet import Fleet, SparkFailure, code_for
from search.spark.work import Parcel
from search.verdict import Verdict

LAPS = 4
"""Laps of a run."""
TRIES = 3
"""How often a round is tried before its task is given up."""
PAUSE = 2.0
"""Seconds before a round is tried again."""
BETWEEN = 10.0
"""Seconds between two lines on a search in the file of progress; a round of walks has one each."""


@frozen
class Means:
    """What a run works with."""

    session: SparkSession
    kernels: Kernels
    interrupts: Interrupts
    watch: Watch


@define
class Turn:
    """A task that has begun in this process: its walks, and executors that have its kernel."""

    walking: Walking
    fleet: Fleet
    rate: float = 0.0


@define
class Night:
    """A run under way."""

    folder: RunFolder
    manifest: Manifest
    tasks: Sequence[Task]
    means: Means
    began: float = field(factory=time.monotonic)
    turns: dict[int, Turn] = field(factory=dict)
    rows: dict[int, RunRow] = field(factory=dict)
    """What came of the tasks that have ended, by number."""
    internal: list[str] = field(factory=list)
    """Contradictions between engines, which no verdict survives."""

    def go(self) -> None:
        """Do all tasks, or as much as there is before an interrupt; CannotSave if the disk does not take it."""
        with ExitStack() as stack:
            while not self.means.interrupts.noticed and (task := self._next()) is not None:
                self._take_turn(task, stack)
            self._leave()

    def _next(self) -> Task | None:
        """The task whose turn it is: the one of fewest laps, the first of these."""
        waiting = [task for task in self.tasks if task.number not in self.rows]
        return min(waiting, key=lambda task: (int(LAPS * self._fraction(task)), task.number), default=None)

    def _fraction(self, task: Task) -> float:
        turn = self.turns.get(task.number)
        return 0.0 if turn is None else turn.walking.fraction

    def _take_turn(self, task: Task, stack: ExitStack) -> None:
        """Do a round of a task, beginning it if need be; an error in it ends the task, and the run goes on."""
        try:
            if task.entry.engine == "exhaust":
                self._search(task)
                return
            turn = self.turns.get(task.number) or self._begun(task, stack)
            if turn is not None and not turn.walking.is_over:
                self._do_round(turn)
            if turn is not None and turn.walking.is_over:
                self._end(turn.walking, error_of(turn.walking))
        except SparkFailure as error:
            self._fail(task, str(error))
        except InternalError as error:
            self.internal.append(f"{task.name}: {error}")
            self._fail(task, f"internal error, and no verdict: {error}")

    def _begun(self, task: Task, stack: ExitStack) -> Turn | None:
        """A task with its kernel on the executors; None if interrupted before that."""
        try:
            code = self.means.kernels.code(task, self.means.interrupts)
            code = None if code is None else _loadable(task, code)
        except KwalkError as error:
            self._fail(task, str(error))
            return None
        if code is None:
            return None
        kernel = kernel_of(task.model, code)
        walking = Walking(task, self.folder, kernel)
        harm = walking.resume()
        if harm:
            self.means.watch.remark(f"{task.name}: {harm}; it goes on from round {walking.rounds}.")
        session = self.means.session
        parcel = Parcel(kernel, code, cpu(), walking.course, most=0, cast=cast_of(task.model))
        cores = session.sparkContext.defaultParallelism
        fleet = stack.enter_context(Fleet(session, cores, parcel, code_for(task.model)))
        if not self.turns:
            fleet.make_ready(self.means.interrupts)
        self.manifest.set_task(task.number, "running")
        self.turns[task.number] = Turn(walking, fleet)
        return self.turns[task.number]

    def _search(self, task: Task) -> None:
        """Do a search: it has one turn, with all of its time."""
        self.manifest.set_task(task.number, "running")
        verdict, row = Search(task, self.folder, self.means.session, self._on_search(task)).run()
        self.means.interrupts.noticed |= "interrupt" in verdict.how
        self._save_traces(task, verdict)
        self._close(row, "complete" if not row.why else "cut", row.why)
        end = Progress("spark", row.steps, "successors", row.seconds)
        self.folder.say(evolve(self._moment(task, end), clusters=len(verdict.clusters)).content)

    def _on_search(self, task: Task) -> Report:
        said = -BETWEEN

        def report(progress: Progress) -> None:
            nonlocal said
            moment = self._moment(task, progress)
            if moment.seconds - said >= BETWEEN:
                said = moment.seconds
                self.folder.say(moment.content)
            self.means.watch.moment(moment)

        return report

    def _moment(self, task: Task, progress: Progress) -> Moment:
        """How far the run is while, or after, a task is searched."""
        return Moment(
            time=now(), task=task.number, name=task.name, tasks_ended=len(self.rows), tasks=len(self.tasks),
            walks=0, steps=progress.done, findings=0, clusters=0, rate=progress.rate,
            done=len(self.rows) / len(self.tasks), left=progress.left, seconds=time.monotonic() - self.began,
        )  # fmt: skip

    def _do_round(self, turn: Turn) -> None:
        """Do a round and save it; SparkFailure if it cannot be done."""
        walking, interrupts = turn.walking, self.means.interrupts
        turn.fleet.partitions = self.means.session.sparkContext.defaultParallelism
        work = walking.next_round(turn.fleet.partitions)
        for attempt in range(1, TRIES + 1):
            began = time.monotonic()
            try:
                chunks = walking.at_home(work) if walking.is_small(work) else turn.fleet.do(work, interrupts)
                break
            except SparkFailure as error:
                if attempt == TRIES:
                    raise
                self.means.watch.remark(f"{walking.task.name}: {error} It is tried again.")
                time.sleep(PAUSE)
        if chunks is not None:
            seconds, steps = time.monotonic() - began, walking.sum.walks.steps
            walking.save(chunks, seconds)
            turn.rate = (walking.sum.walks.steps - steps) / max(seconds, 1e-9)
            self._tell(turn)

    # Endings.

    def _end(self, walking: Walking, error: str, why: str = "") -> None:
        """Write what came of a task: the traces of its clusters, and its row."""
        task, verdict = walking.task, concluded(walking, why)
        self._save_traces(task, verdict)
        why = why or _short_of_walks(walking)
        row = run_row(walking, verdict, why)
        state = "failed" if error else "cut" if why else "complete"
        self._close(with_error(row, error) if error else row, state, error or why)

    def _save_traces(self, task: Task, verdict: Verdict) -> None:
        for cluster in verdict.clusters:
            text = self.means.watch.trace_text(task.model, cluster.trace, task.reference)
            self.folder.save_trace(task.number, cluster_id(cluster.claim, cluster.steps), text)

    def _fail(self, task: Task, why: str) -> None:
        """Give a task up; the others go on."""
        turn = self.turns.get(task.number)
        self._close(failed_row(task, turn.walking.sum if turn else None, why), "failed", why)

    def _close(self, row: RunRow, state: str, why: str) -> None:
        self.folder.save_run(row)
        self.manifest.set_task(row.task, state, why)
        self.rows[row.task] = row
        self.means.watch.ended(row)

    def _leave(self) -> None:
        """Write what came of the tasks that an interrupt cut short."""
        for number, turn in self.turns.items():
            if number not in self.rows:
                self._end(turn.walking, "", "interrupted")

    def _tell(self, turn: Turn) -> None:
        """Tell those who watch how far the run is."""
        walking = turn.walking
        walks = walking.sum.walks
        fractions = [self._standing(task) for task in self.tasks if task.number not in self.rows]
        moment = Moment(
            time=now(), task=walking.task.number, name=walking.task.name, tasks_ended=len(self.rows),
            tasks=len(self.tasks), walks=walks.walks, steps=walks.steps, findings=walking.violations,
            clusters=len(walking.clusters.groups), rate=turn.rate,
            done=(len(self.rows) + sum(min(1.0, done) for done, _, _ in fractions)) / len(self.tasks),
            left=seconds_left(fractions), seconds=time.monotonic() - self.began,
        )  # fmt: skip
        self.folder.say(moment.content)
        self.means.watch.moment(moment)

    def _standing(self, task: Task) -> tuple[float, float, float | None]:
        turn = self.turns.get(task.number)
        if turn is None:
            return 0.0, 0.0, task.seconds
        return turn.walking.fraction, turn.walking.sum.seconds, task.seconds


def _loadable(task: Task, code: Compiled) -> Compiled:
    """The code, or fresh code where it does not load, as a file of the cache may have been harmed."""
    try:
        Loaded(code.objects)
    except RuntimeError:
        return compile_model(task.model)
    return code


def _short_of_walks(walking: Walking) -> str:
    """Why fewer walks were done than asked for; "" if all were."""
    wanted, done = walking.task.entry.walks, walking.sum.walks.walks
    return f"its time was over after {done:,} of {wanted:,} walks" if wanted and done < wanted else ""
