"""The tools that are measured: for each, its works, the command of a run, and how its words are read.

Words: an *entry* is one tool at one work. Where a tool does not check the two invariants in each state, its name says
so: that spares it work which kwalk does.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

from attrs import asdict, frozen

from bench import building, reading
from bench.reference import DEPTH, PEERS, SCENARIO, Plan, Reading, Work
from bench.running import Run

KWALK = "kwalk"
SEED = "1"
TLC_WALKS = 20_000
HYPOTHESIS_EXAMPLES = 100
MOST_C_THREADS = 8
IN_A_FRESH_CACHE = ("sh", "-c", 'KWALK_CACHE= XDG_CACHE_HOME="$PWD/cache" exec "$@"', "sh")
"""The start of a command that finds no compiled model: its cache is in the folder of the run, new each time."""
VIOLATED = 12
"""The exit code of kwalk and of TLC where an invariant is violated."""
INVARIANTS = {Work.TO_I1: ("I1", "disk_matches_znode"), Work.TO_I2: ("I2", "leaders_when_settled")}
"""The invariant that a trace is looked for to, as the peers and as kwalk call it."""


@frozen
class Entry:
    """One tool at one work."""

    tool: str
    work: Work
    command: tuple[str, ...]
    read: Callable[[Run], Reading]
    good: tuple[int, ...] = (0,)
    """The exit codes of a run that did its work."""

    def __str__(self) -> str:
        return f"{self.tool}, {self.work.value}"


@frozen
class Absent:
    """A tool that is not measured, and why."""

    tool: str
    reason: str


def kwalk(plan: Plan) -> Iterator[Entry]:
    """Kwalk itself, with code compiled with care, which its cache has from the second time on."""
    building.kwalk()

    def command(*arguments: str) -> tuple[str, ...]:
        return (sys.executable, "-m", "bench.kwalk_once", *arguments, *plan.size.bounds.words)

    for tool, walks in ((KWALK, "walk"), ("kwalk, one by one", "one-by-one"), ("kwalk, a swarm", "swarm")):
        yield Entry(tool, Work.WALKS, command(walks, str(plan.walking)), reading.walks)
    yield Entry(KWALK, Work.ONE_CORE, command("exhaust", "1"), reading.search)
    if plan.cores > 1:
        yield Entry(KWALK, Work.ALL_CORES, command("exhaust", str(plan.cores)), reading.search)
    for work, (_, invariant) in INVARIANTS.items():
        bounds = (f"--bound={name}={value}" for name, value in asdict(plan.size.bounds).items())
        search = (
            sys.executable,
            "-m",
            "kwalk.reports.command_line",
            "exhaust",
            SCENARIO,
            "--json",
            "--property",
            invariant,
            *bounds,
        )
        yield Entry(KWALK, work, search, reading.kwalk_trace, (VIOLATED,))
        cold = (*IN_A_FRESH_CACHE, *search)
        yield Entry("kwalk, model not yet compiled", work, cold, reading.kwalk_trace, (VIOLATED,))


def c(plan: Plan) -> Iterator[Entry]:
    """The search and walker written by hand in C. The table of its search on many cores does not grow."""
    binary = str(building.c(plan.size.bounds, checked=True))
    slots = (2 * plan.size.distinct - 1).bit_length()
    walk = (binary, "walk", str(DEPTH), str(plan.walking), SEED, "1")
    yield Entry("C", Work.WALKS, walk, reading.walks)
    yield Entry("C", Work.ONE_CORE, (binary, "bfs", "1"), reading.search)
    if 1 < plan.cores <= MOST_C_THREADS:
        yield Entry("C", Work.ALL_CORES, (binary, "bfs", str(plan.cores), str(slots)), reading.search)
    for work, (invariant, _) in INVARIANTS.items():
        yield Entry("C", work, (binary, "find", invariant), reading.trace)


def stateright(plan: Plan) -> Iterator[Entry]:
    """Stateright, breadth first (which finds shortest traces) and depth first (which does not)."""
    binary, bounds = str(building.stateright()), plan.size.bounds.words

    def walk(mode: str) -> tuple[str, ...]:
        return (binary, mode, *bounds, "1", str(DEPTH), str(plan.walking), SEED)

    yield Entry("Stateright", Work.WALKS, walk("siminv"), reading.walks)
    yield Entry("Stateright, unchecked", Work.WALKS, walk("sim"), reading.walks)
    for work, threads in ((Work.ONE_CORE, 1), (Work.ALL_CORES, plan.cores)):
        if work is Work.ONE_CORE or threads > 1:
            yield Entry("Stateright BFS", work, (binary, "bfsinv", *bounds, str(threads)), reading.search)
            yield Entry("Stateright DFS, unchecked", work, (binary, "dfs", *bounds, str(threads)), reading.search)
    for work, (invariant, _) in INVARIANTS.items():
        yield Entry("Stateright BFS", work, (binary, "find", invariant, *bounds, "1"), reading.trace)


def spin(plan: Plan) -> Iterator[Entry]:
    """SPIN's exact search. With assertions it would print a line for each of the violations."""
    slots = (2 * plan.size.distinct - 1).bit_length()
    command = (str(building.pan(plan.size.bounds)), "-m10000", f"-w{slots}")
    yield Entry("SPIN DFS, unchecked", Work.ONE_CORE, command, reading.pan_search)
    for work, (invariant, _) in INVARIANTS.items():
        finder = (str(building.pan(plan.size.bounds, invariant)), "-w20")
        yield Entry("SPIN BFS", work, finder, reading.pan_trace)


def tlc(plan: Plan) -> Iterator[Entry]:
    """TLC. With invariants it would stop at the first violation, or print a trace for each."""

    def command(workers: int, *arguments: str, invariant: str | None = None) -> tuple[str, ...]:
        start, specification = building.tlc(plan.size.bounds, invariant)
        return (*start, "-workers", str(workers), *arguments, str(specification))

    walks = ("-simulate", f"num={TLC_WALKS}", "-depth", str(DEPTH))
    yield Entry("TLC, unchecked", Work.WALKS, command(1, *walks), reading.tlc_walks)
    yield Entry("TLC, unchecked", Work.ONE_CORE, command(1), reading.tlc_search)
    if plan.cores > 1:
        yield Entry("TLC, unchecked", Work.ALL_CORES, command(plan.cores), reading.tlc_search)
    for work, (invariant, _) in INVARIANTS.items():
        search = command(1, "-noGenerateSpecTE", invariant=invariant)
        yield Entry("TLC", work, search, reading.tlc_trace, (VIOLATED,))


def python(plan: Plan) -> Iterator[Entry]:
    """Plain Python over attrs classes, and Hypothesis driving the same."""
    bounds, folder = plan.size.bounds.words, PEERS / "python"
    naive, hypothesis = ((sys.executable, str(folder / name)) for name in ("naive.py", "hypo.py"))
    walk = (*naive, "walk", *bounds, str(DEPTH), str(plan.walking), SEED)
    yield Entry("plain Python", Work.WALKS, walk, reading.walks)
    machine = (*hypothesis, "throughput", *bounds, str(DEPTH), str(HYPOTHESIS_EXAMPLES), SEED)
    yield Entry("Hypothesis, unchecked", Work.WALKS, machine, reading.walks)
    yield Entry("plain Python", Work.ONE_CORE, (*naive, "bfs", *bounds), reading.search)
    for work, (invariant, _) in INVARIANTS.items():
        yield Entry("plain Python", work, (*naive, "find", invariant, *bounds), reading.trace)


TOOLS: dict[str, Callable[[Plan], Iterator[Entry]]] = {
    KWALK: kwalk,
    "C": c,
    "Stateright": stateright,
    "SPIN": spin,
    "TLC": tlc,
    "Python": python,
}
"""By the names that --tools takes."""


def entries_of(tools: tuple[str, ...], plan: Plan) -> tuple[list[Entry], list[Absent]]:
    """Build the tools: what can be measured, and which cannot be had here."""
    entries: list[Entry] = []
    absent: list[Absent] = []
    for tool in tools:
        try:
            entries += TOOLS[tool](plan)
        except building.Missing as missing:
            absent.append(Absent(tool, str(missing)))
    order = list(Work)
    return sorted(entries, key=lambda entry: order.index(entry.work)), absent
