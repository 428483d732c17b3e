"""The driver of a run: it runs its tasks in turns on executors, and saves each round when it is done.

Words: the tasks take turns in *laps*: no task begins a lap before all others have finished the lap before, so that a
run that is cut short has a part of each. An interrupt (Ctrl-C, SIGTERM) ends the run after what it has saved. Object
code is compiled *ahead* by a process of its own while other tasks run.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Protocol

from attrs import asdict, define, evolve, field, frozen

from kwalk.model.language import KwalkError, Model
from kwalk.model.language.errors import InternalError
from kwalk.search.base.atomic_files import CannotSave
from kwalk.search.base.progress import Progress, Report
from kwalk.search.base.signals import Interrupts
from kwalk.search.base.worker_processes import LOOK, ProcessPool, WorkerProcess, process_pool
from kwalk.search.executors.work import ExecutorFailure, Executors, TaskPayload
from kwalk.search.kernel.compile.cache import unpack
from kwalk.search.kernel.compile.compiler import Compiled, compile_model, compiled_model, kernel_of
from kwalk.search.kernel.compile.slices import (
    CompiledSlices,
    compile_slices,
    compiled_slices,
    sliced_kernel_of,
    unpack_slices,
)
from kwalk.search.minimize.model_signature import signature_of
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.processor import cpu
from kwalk.search.night.exhaustive_task import ExhaustiveTask
from kwalk.search.night.folder import Manifest, RunFolder, now
from kwalk.search.night.places import ExecutionPlace
from kwalk.search.night.plan import NightlyTask
from kwalk.search.night.rows import group_id
from kwalk.search.night.simulation_task import (
    SimulationTask,
    error_of,
    failed_row,
    run_row,
    task_verdict,
    with_error,
)
from kwalk.search.night.tables import RunRow, TaskRecord
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict
from kwalk.search.simulation.walk import SlicingChoice

HURRIED_BELOW = 60.0
"""Tasks with a smaller time budget, in seconds, are compiled without optimization."""
STEPS_PER_SECOND = 2_000_000
"""About how many steps the kernel of a large model takes in a second."""
LAPS = 4
"""The number of laps of a run."""


class AheadCompiler:
    """The code of tasks, in order, one ahead: the process waits until its answer is received.

    The bit-sliced functions of a task are made after the kernel of the next one, which the run needs earlier.
    """

    def __init__(self, tasks: Sequence[NightlyTask], processes: ProcessPool) -> None:
        self._ahead: WorkerProcess | None = WorkerProcess("kernels", _work(tasks))
        self._made: dict[int, Any] = {}
        self._slices: dict[int, bytes] = {}
        processes.add(self._ahead)

    def code(self, task: NightlyTask, interrupts: Interrupts) -> Compiled | None:
        """Return the code of a task; None after an interrupt; KwalkError if the model cannot be compiled."""
        while self._ahead is not None and task.number not in self._made:
            if interrupts.noticed:
                return None
            if self._ahead.answers.poll(LOOK):
                self._take(self._ahead)
        answer = self._made.pop(task.number, None)
        if isinstance(answer, str):
            raise KwalkError(answer)
        return _compiled(task) if answer is None else unpack(answer)

    def slices(self, task: NightlyTask) -> CompiledSlices | None:
        """Return the bit-sliced functions of a task if they have been made since the last call, without waiting."""
        while self._ahead is not None and self._ahead.answers.poll():
            self._take(self._ahead)
        made = self._slices.pop(task.number, None)
        return None if made is None else unpack_slices(made)

    def _take(self, ahead: WorkerProcess) -> None:
        try:
            number, is_sliced, answer = ahead.answer()
        except EOFError:  # it is done, or died, perhaps for want of memory: this process can compile, too
            self._ahead = None
        else:
            (self._slices if is_sliced else self._made)[number] = answer


def _compiled(task: NightlyTask) -> Compiled:
    return compiled_model(task.model, unoptimized=task.seconds is not None and task.seconds < HURRIED_BELOW)


def _work(tasks: Sequence[NightlyTask]) -> Callable[[Callable[[Any], None]], None]:
    def work(send: Callable[[Any], None]) -> None:
        before: tuple[NightlyTask, Compiled] | None = None
        for task in tasks:
            if task.entry.engine != "walk":
                continue  # a search compiles for itself
            try:
                code = _compiled(task)
            except KwalkError as error:
                send((task.number, False, str(error)))
                continue
            send((task.number, False, code.pack()))
            if before is not None:
                _send_slices(*before, send)
            before = task, code
        if before is not None:
            _send_slices(*before, send)

    return work


def _send_slices(task: NightlyTask, code: Compiled, send: Callable[[Any], None]) -> None:
    """Send the bit-sliced functions of a task if its walks take so long that these are made during its first lap."""
    seconds = (task.entry.walks or 0) * task.depth / STEPS_PER_SECOND if task.seconds is None else task.seconds
    lap = seconds / LAPS
    choice = SlicingChoice(task.model, evolve(kernel_of(task.model, code), can_be_sliced=True))
    slices = compiled_slices(task.model, code.terms, seconds=lap) if choice.is_worth(2 * lap) else None
    if slices is not None:
        send((task.number, True, slices.pack()))


@contextmanager
def ahead_compiler(tasks: Sequence[NightlyTask]) -> Iterator[AheadCompiler]:
    """Start the compiler of these tasks. It forks, so enter it before Java or threads start."""
    with process_pool() as processes:
        yield AheadCompiler(tasks, processes)


@frozen
class ProgressEvent:
    """The progress of a run. `done` is the part that is done, 0 … 1; `left` the remaining seconds."""

    time: str
    task: int
    name: str
    tasks_ended: int
    tasks: int
    walks: int
    """Of the current task, like the next three fields."""
    steps: int
    findings: int
    groups: int
    rate: float
    """Steps per second in the last round."""
    done: float
    left: float | None
    seconds: float
    """Seconds since the start of this process."""

    @property
    def content(self) -> dict[str, Any]:
        """The event as a JSON object."""
        return asdict(self)


class RunObserver(Protocol):
    """Receives the events of a run. No method may raise."""

    def progress(self, event: ProgressEvent) -> None:
        """Receive the progress after a round."""

    def note(self, text: str) -> None:
        """Receive a note for the user."""

    def task_ended(self, row: RunRow) -> None:
        """Receive the row of a task that has ended."""

    def bundle(self, error: InternalError, folder: Path, command: str) -> Path | None:
        """Write what reproduces an internal error into a new folder in `folder`; return its path, None for nothing."""

    def trace_text(self, model: Model, trace: Trace, reference: str) -> str:
        """Return the text of a trace as it is saved."""


def seconds_left(fractions: Sequence[tuple[float, float, float | None]]) -> float | None:
    """Return how long the tasks will take; None if unknown.

    Args:
        fractions: For each task the part that is done, the seconds it took, and its time budget.
    """
    left = 0.0
    for done, seconds, budget in fractions:
        if budget is not None:
            left += max(0.0, budget - seconds)
        elif done > 0:
            left += seconds * max(0.0, 1 - done) / done
        else:
            return None
    return left


BUNDLES = "bundles"
"""The folder of what reproduces internal errors, in the folder of the run."""
TRIES = 3
"""How often a round is tried before its task fails."""
PAUSE = 2.0
"""Seconds before a round is repeated."""
BETWEEN = 10.0
"""Seconds between two lines about a search in the progress file; a round of walks has one line."""


@frozen
class Environment:
    """The environment of a run."""

    place: ExecutionPlace
    kernels: AheadCompiler
    interrupts: Interrupts
    observer: RunObserver


@define
class TaskState:
    """A task that has started in this process: its walks, and the executors that have its kernel."""

    simulation: SimulationTask
    executors: Executors
    rate: float = 0.0


@define
class NightlyRun:
    """A run of tasks."""

    folder: RunFolder
    manifest: Manifest
    tasks: Sequence[NightlyTask]
    environment: Environment
    began: float = field(factory=time.monotonic)
    task_states: dict[int, TaskState] = field(factory=dict)
    rows: dict[int, RunRow] = field(factory=dict)
    """The rows of the tasks that have ended, by number."""
    internal: list[str] = field(factory=list)
    """Contradictions between engines; their tasks have no verdict."""

    def run(self) -> None:
        """Run all tasks, until an interrupt.

        Raises:
            CannotSave: The file cannot be written.
        """
        with ExitStack() as stack:
            while not self.environment.interrupts.noticed and (task := self._next()) is not None:
                self._take_turn(task, stack)
            self._end_interrupted()

    def _next(self) -> NightlyTask | None:
        """Return the next task: the first of those with the fewest laps."""
        waiting = [task for task in self.tasks if task.number not in self.rows]
        return min(waiting, key=lambda task: (int(LAPS * self._fraction(task)), task.number), default=None)

    def _fraction(self, task: NightlyTask) -> float:
        task_state = self.task_states.get(task.number)
        return 0.0 if task_state is None else task_state.simulation.fraction

    def _take_turn(self, task: NightlyTask, stack: ExitStack) -> None:
        """Run a round of a task, and start it first if needed; an error ends the task, and the run continues."""
        try:
            if task.entry.engine == "exhaust":
                self._search(task)
                return
            task_state = self.task_states.get(task.number) or self._started(task, stack)
            if task_state is not None and not task_state.simulation.is_over:
                self._do_round(task_state)
            if task_state is not None and task_state.simulation.is_over:
                self._end(task_state.simulation, error_of(task_state.simulation))
        except CannotSave:
            raise
        except KwalkError as error:
            self._fail(task, str(error))
        except InternalError as error:
            bundle = self.environment.observer.bundle(error, self.folder.path / BUNDLES, task.command(None))
            where = "" if bundle is None else f" Bundle: {bundle}"
            self.internal.append(f"{task.name}: {error}{where}")
            self._fail(task, f"internal error, and no verdict: {error}")

    def _started(self, task: NightlyTask, stack: ExitStack) -> TaskState | None:
        """Start a task: send its kernel to the executors; None after an interrupt."""
        try:
            code = self.environment.kernels.code(task, self.environment.interrupts)
            code = None if code is None else _loadable(task, code)
        except KwalkError as error:
            self._fail(task, str(error))
            return None
        if code is None:
            return None
        kernel = kernel_of(task.model, code)
        simulation = SimulationTask(task, self.folder, kernel)
        problem = simulation.resume()
        if problem:
            self.environment.observer.note(f"{task.name}: {problem}; it continues from round {simulation.rounds}.")
        payload = TaskPayload(kernel, code, cpu(), simulation.plan, signature=signature_of(task.model))
        executors = stack.enter_context(self.environment.place.executors(task.model, payload))
        if not self.task_states:
            executors.make_ready(self.environment.interrupts)
        self.manifest.set_task(task.number, "running")
        self.task_states[task.number] = TaskState(simulation, executors)
        return self.task_states[task.number]

    def _search(self, task: NightlyTask) -> None:
        """Run an exhaustive search: it has one turn, with all of its time."""
        self.manifest.set_task(task.number, "running")
        verdict, row = ExhaustiveTask(task, self.folder, self.environment.place, self._search_report(task)).run()
        self.environment.interrupts.noticed |= verdict.is_interrupted
        self._save_traces(task, verdict)
        self._close(row, "complete" if not row.why else "cut", row.why)
        end = Progress("exhaust", row.steps, "successors", row.seconds)
        self.folder.append_progress(self._search_event(task, end, len(verdict.groups)).content)

    def _search_report(self, task: NightlyTask) -> Report:
        last, told = -BETWEEN, False

        def report(progress: Progress) -> None:
            nonlocal last, told
            if self.environment.interrupts.noticed and not told:
                told = True
                signal.raise_signal(signal.SIGINT)  # the search waits for Ctrl-C only, and the run for SIGTERM as well
            event = self._search_event(task, progress)
            if event.seconds - last >= BETWEEN:
                last = event.seconds
                self.folder.append_progress(event.content)
            self.environment.observer.progress(event)

        return report

    def _search_event(self, task: NightlyTask, progress: Progress, groups: int = 0) -> ProgressEvent:
        """Return the progress of the run during or after a search."""
        return self._event(
            task,
            walks=0,
            steps=progress.done,
            findings=0,
            groups=groups,
            rate=progress.rate,
            done=len(self.rows) / len(self.tasks),
            left=progress.left,
        )

    def _event(self, task: NightlyTask, **fields: Any) -> ProgressEvent:
        """Return the progress of the run; `fields` are the fields of `ProgressEvent` that depend on the engine."""
        return ProgressEvent(
            time=now(),
            task=task.number,
            name=task.name,
            tasks_ended=len(self.rows),
            tasks=len(self.tasks),
            seconds=time.monotonic() - self.began,
            **fields,
        )

    def _do_round(self, task_state: TaskState) -> None:
        """Run a round and save it; ExecutorFailure if it fails TRIES times."""
        simulation, interrupts = task_state.simulation, self.environment.interrupts
        self._take_slices(task_state)
        task_state.executors.partitions = self.environment.place.cores
        work = simulation.next_round(task_state.executors.partitions)
        for attempt in range(1, TRIES + 1):
            began = time.monotonic()
            try:
                chunks = task_state.executors.do(work, interrupts)
                break
            except ExecutorFailure as error:
                if attempt == TRIES:
                    raise
                self.environment.observer.note(f"{simulation.task.name}: {error} It is tried again.")
                time.sleep(PAUSE)
        if chunks is not None:
            seconds, steps = time.monotonic() - began, simulation.totals.walks.steps
            simulation.save(chunks, seconds)
            task_state.rate = (simulation.totals.walks.steps - steps) / max(seconds, 1e-9)
            self._report_round(task_state)

    def _take_slices(self, task_state: TaskState) -> None:
        """Let the walks of a task continue on bit-sliced functions, once these have been made."""
        simulation = task_state.simulation
        code = self.environment.kernels.slices(simulation.task)
        if code is None:
            return
        try:
            sliced_kernel_of(simulation.task.model, code)
        except RuntimeError:  # a file of the cache is damaged
            code = compile_slices(simulation.task.model)
        task_state.executors.take_slices(code)

    # Endings.

    def _end(self, simulation: SimulationTask, error: str, why: str = "") -> None:
        """Save the traces of the groups of a task, and its row."""
        task, verdict = simulation.task, task_verdict(simulation, why)
        self._save_traces(task, verdict)
        why = why or _missing_walks(simulation)
        row = run_row(simulation, verdict, why)
        state = "failed" if error else "cut" if why else "complete"
        self._close(with_error(row, error) if error else row, state, error or why)

    def _save_traces(self, task: NightlyTask, verdict: Verdict) -> None:
        for group in verdict.groups:
            text = self.environment.observer.trace_text(task.model, group.trace, task.reference)
            self.folder.save_trace(task.number, group_id(group.prop, group.steps), text)

    def _fail(self, task: NightlyTask, why: str) -> None:
        """End a task with an error; the others continue."""
        task_state = self.task_states.get(task.number)
        self._close(failed_row(task, task_state.simulation.totals if task_state else None, why), "failed", why)

    def _close(self, row: RunRow, state: str, why: str) -> None:
        self.folder.journal(row.task).append(TaskRecord(outcome=row))
        self.manifest.set_task(row.task, state, why)
        self.rows[row.task] = row
        self.environment.observer.task_ended(row)

    def _end_interrupted(self) -> None:
        """Save the results of the tasks that an interrupt cut short."""
        for number, task_state in self.task_states.items():
            if number not in self.rows:
                self._end(task_state.simulation, "", "interrupted")

    def _report_round(self, task_state: TaskState) -> None:
        """Report the progress after a round."""
        simulation = task_state.simulation
        walks = simulation.totals.walks
        fractions = [self._progress_of(task) for task in self.tasks if task.number not in self.rows]
        event = self._event(
            simulation.task,
            walks=walks.walks,
            steps=walks.steps,
            findings=simulation.violations,
            groups=len(simulation.groups.groups),
            rate=task_state.rate,
            done=(len(self.rows) + sum(min(1.0, done) for done, _, _ in fractions)) / len(self.tasks),
            left=seconds_left(fractions),
        )
        self.folder.append_progress(event.content)
        self.environment.observer.progress(event)

    def _progress_of(self, task: NightlyTask) -> tuple[float, float, float | None]:
        task_state = self.task_states.get(task.number)
        if task_state is None:
            return 0.0, 0.0, task.seconds
        return task_state.simulation.fraction, task_state.simulation.totals.seconds, task.seconds


def _loadable(task: NightlyTask, code: Compiled) -> Compiled:
    """Return the code; compile it again if it does not load, as a file of the cache may be damaged."""
    try:
        LoadedCode(code.objects)
    except RuntimeError:
        return compile_model(task.model)
    return code


def _missing_walks(simulation: SimulationTask) -> str:
    """Return why fewer walks were done than requested; "" if all were."""
    wanted, done = simulation.task.entry.walks, simulation.totals.walks.walks
    return f"its time was over after {done:,} of {wanted:,} walks" if wanted and done < wanted else ""
