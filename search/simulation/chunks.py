"""Chunks of random walks: what consecutive walks counted and found, independent of how they are cut into chunks.

Words: walks are *numbered*; what happens in one depends on the seed, its number, the depth and the plan only. A
*finding* is (walk, step, property): the first step of a walk at which the property is violated; property number
`kernel.properties` is deadlock freedom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from attrs import evolve, fields, frozen

from kwalk.search.exhaustive.layout import RowBuffers
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.native.bit_sliced_counters import PLANES, totals
from kwalk.search.native.structures import Structure
from kwalk.search.results.confirmation import PackedPath, path_along
from kwalk.search.simulation import walk_loops as loops
from kwalk.search.simulation.hyperloglog import REGISTERS, merged
from kwalk.search.simulation.resident_walks import ResidentBuffers
from kwalk.search.simulation.sliced_walks import BlockBuffers, SlicedBuffers
from kwalk.search.simulation.swarm import Restart, Swarm, SwarmPlan, WalkBias, rarest_visits
from kwalk.search.simulation.walk_loops import MAX_LEVEL, RING, ROW_COLUMNS, ROW_COUNT, ROW_PLACES, WalkView

SLICED_WALKS = 512
"""The walks of a chunk from which on bit-sliced functions are used: fewer would leave most of their lanes empty."""


@frozen(eq=False)
class WalkCounts:
    """What some walks counted; `a + b` is what both together did, if b's walks come after a's."""

    walks: int
    steps: int
    visits: int
    """Visits to states, the first state of each walk included."""
    dead_ends: int
    cuts: int
    """Walks that ended because nothing that they may take was enabled."""
    quiescent: int
    """Visits to quiescent states."""
    enabled: np.ndarray
    """int64[instances]: the visits at which each was enabled."""
    taken: np.ndarray
    """int64[instances]."""
    changed: np.ndarray
    """int64[instances]: steps that changed the state."""
    bound_hits: np.ndarray
    """int64[bounds]: steps that each bound disabled."""
    premises: np.ndarray
    """int64[properties]: the visits (step properties: the steps) at which the premise held."""
    property_hits: np.ndarray
    """int64[properties + 1], the last one for deadlock: walks that violated it (kind `reachable`: witnessed it)."""
    first_walk: np.ndarray
    """int64[properties + 1]: the first such walk; -1 for none."""
    first_step: np.ndarray
    findings: np.ndarray
    """int64[n, 3]; empty if findings were not collected."""
    sketch: np.ndarray
    """int8[REGISTERS], see `hyperloglog`; empty if states are not counted."""
    row_visits: np.ndarray
    """int64[ROW_PLACES, ROW_COLUMNS], see `walk_loops`; empty without a swarm."""
    stopped: bool = False
    """Whether the last walk was cut off at a violation."""
    failed: int | None = None
    """The walk after the last one that is counted, if an action left its domain there."""

    def __add__(self, later: WalkCounts) -> WalkCounts:
        keep = self.first_walk >= 0
        added: dict[str, Any] = {name: getattr(self, name) + getattr(later, name) for name in _SUMS}
        return WalkCounts(
            **added,
            first_walk=np.where(keep, self.first_walk, later.first_walk),
            first_step=np.where(keep, self.first_step, later.first_step),
            findings=np.concatenate([self.findings, later.findings]),
            sketch=merged(self.sketch, later.sketch),
            row_visits=_merged_visits(self.row_visits, later.row_visits),
            stopped=later.stopped,
            failed=later.failed,
        )

    def differences(self, other: WalkCounts) -> list[str]:
        """Return the names of the fields that differ."""
        pairs = ((one.name, getattr(self, one.name), getattr(other, one.name)) for one in fields(WalkCounts))
        return [name for name, a, b in pairs if not np.array_equal(a, b)]

    def with_findings(self, most: int) -> WalkCounts:
        """Return the same counts with the first `most` findings only."""
        return self if len(self.findings) <= most else evolve(self, findings=self.findings[:most].copy())


def _merged_visits(one: np.ndarray, later: np.ndarray) -> np.ndarray:
    """Add the counts of row visits; the later one of two latest visits stays."""
    if not len(one) or not len(later):
        return one if len(one) else later
    both = np.where(later[:, ROW_COUNT, None] > 0, later, one)
    both[:, ROW_COUNT] = one[:, ROW_COUNT] + later[:, ROW_COUNT]
    return both


_SUMS = (
    "walks",
    "steps",
    "visits",
    "dead_ends",
    "cuts",
    "quiescent",
    "enabled",
    "taken",
    "changed",
    "bound_hits",
    "premises",
    "property_hits",
)


@frozen(eq=False)
class SimulationPlan:
    """What walks do, without the model, so that it can be pickled and sent."""

    starts: np.ndarray
    """uint64[n, words]: packed initial states."""
    properties: tuple[int, ...]
    """The numbers of the properties to check."""
    seed: int = 0
    depth: int = 100
    stop: bool = False
    """Whether to stop at the first violation."""
    deadlock: bool = False
    """Whether a state without enabled instances is a violation."""
    allowed: tuple[int, ...] | None = None
    """The instances that walks may take; None for all. Quiescence and deadlocks do not depend on it."""
    swarm: Swarm | None = None
    """How walks differ; None: all enabled instances are equally likely at each step."""
    count_states: bool = False
    """Whether to keep a sketch of the distinct states."""

    @property
    def last(self) -> int | None:
        """The number of the first walk that has no plan yet; None without a swarm."""
        return None if self.swarm is None else self.swarm.last

    @property
    def present(self) -> SimulationPlan | None:
        """The plan with the last generation only, small enough to be sent; None without a swarm."""
        if self.swarm is None:
            return None
        return evolve(self, swarm=evolve(self.swarm, generations=self.swarm.generations[-1:]))

    def generation_of(self, number: int) -> SwarmPlan | None:
        """Return the plan of the generation of a walk; None without a swarm."""
        return None if self.swarm is None else self.swarm.generation_of(number)

    def buffers(self, kernel: Kernel, number: int) -> WalkBuffers:
        """Return buffers for a walk and those of its generation."""
        swarm = self.swarm
        return WalkBuffers(
            kernel, self, None if swarm is None else swarm.bias(swarm.generation_of(number), kernel.words)
        )


def next_generation(kernel: Kernel, plan: SimulationPlan, counts: WalkCounts) -> SimulationPlan:
    """Return the plan with one more generation, given the counts of all walks before it."""
    swarm = plan.swarm
    assert swarm is not None and counts.walks == swarm.last
    enabled = counts.enabled
    if plan.allowed is not None:
        enabled = np.zeros_like(counts.enabled)
        enabled[list(plan.allowed)] = counts.enabled[list(plan.allowed)]
    visits = rarest_visits(counts.row_visits, plan.depth) if swarm.restarting else ()
    restarts = paths_to(kernel, plan, visits)
    return evolve(plan, swarm=swarm.next_generation(counts.taken, enabled, restarts))


class WalkBuffers:
    """The arrays that one thread needs to walk.

    Args:
        kernel: The kernel.
        plan: The plan.
        bias: How walks of one generation differ; None: all enabled instances are equally likely.
    """

    def __init__(self, kernel: Kernel, plan: SimulationPlan, bias: WalkBias | None) -> None:
        self.kernel, self.rows = kernel, RowBuffers(kernel, plan.properties)
        self.cursor, self.start_count = np.zeros(loops.CURSOR_SIZE, np.int64), len(plan.starts)
        allowed = bit_row(range(kernel.instances) if plan.allowed is None else plan.allowed, kernel.instance_words)
        starts, steps = np.ascontiguousarray(plan.starts, np.uint64), np.zeros(len(plan.starts), np.int64)
        none = np.zeros(1, np.uint64)
        groups = {"grouping_ends": none, "group_rows": none, "group_thresholds": none}
        if bias is not None:
            starts, steps = np.concatenate([starts, bias.restarts]), np.append(steps, bias.restart_steps)
            groups["grouping_ends"] = np.ascontiguousarray(bias.grouping_ends, np.int64)
            groups["group_rows"] = np.ascontiguousarray((bias.group_rows & allowed).T)
            groups["group_thresholds"] = np.ascontiguousarray(bias.group_thresholds.T, np.uint64)
        self.sketch = np.zeros(REGISTERS if plan.count_states else 0, np.int8)
        self.row_visits = np.zeros((ROW_PLACES if bias is not None else 0, ROW_COLUMNS), np.int64)
        self._given: dict[str, np.ndarray] = groups | {
            "starts": starts,
            "start_steps": np.ascontiguousarray(steps, np.int64),
        }
        counted: dict[str, np.ndarray] = {"sketch": self.sketch, "row_visits": self.row_visits}
        sizes = {
            "depth": plan.depth,
            "seed": mixed_seed(plan.seed),
            "start_count": self.start_count,
            "restart_count": len(starts) - self.start_count,
            "restart_chance": bias.restart_chance if bias else 0,
            "groupings": len(groups["grouping_ends"]) - 1,
            "max_findings": max(4096, 2 * kernel.properties + 2),
            "RING": RING,
            "MAX_LEVEL": MAX_LEVEL,
            "PLANES": PLANES,
        }
        self.arrays = Structure(
            WalkView,
            kernel.sizes | sizes,
            kernel=self.rows.kernel_view(kernel, stop=plan.stop, deadlock=plan.deadlock),
            advance=kernel.advance,
            **{name: array.ctypes.data for name, array in self._given.items()},
            **{name: array.ctypes.data if len(array) else 0 for name, array in counted.items()},
        )
        self.arrays.masks[: len(allowed)] = allowed
        rows = self.arrays.layout.start_rows, kernel.instance_words
        loops.evaluate_guards(kernel.guards, (starts.ctypes.data, kernel.words), rows, len(starts))

    @property
    def view(self) -> WalkView:
        """The argument of the loops; it is valid as long as these arrays live."""
        return self.arrays.layout

    @property
    def findings(self) -> np.ndarray:
        """int64[n, 3]: the findings since the cursor last said that there are none."""
        return self.arrays.findings.reshape(-1, 3)[: self.cursor[loops.CURSOR_FINDINGS]].copy()

    def counts(self) -> dict[str, Any]:
        """Return the fields of `WalkCounts` that the loops have counted."""
        cursor, kernel, arrays = self.cursor, self.kernel, self.arrays
        return {
            "steps": int(cursor[loops.CURSOR_STEPS]),
            "visits": int(cursor[loops.CURSOR_VISITS]),
            "dead_ends": int(cursor[loops.CURSOR_DEAD_ENDS]),
            "cuts": int(cursor[loops.CURSOR_CUTS]),
            "quiescent": int(cursor[loops.CURSOR_QUIESCENT]),
            "taken": arrays.taken,
            "changed": arrays.taken - arrays.stuttered,
            "enabled": totals(arrays.enabled)[: kernel.instances],
            "premises": totals(arrays.premises)[: kernel.properties],
            "bound_hits": arrays.bound_hits,
            "property_hits": arrays.property_hits,
            "first_walk": arrays.first_walk - 1,
            "first_step": arrays.first_step,
            "sketch": self.sketch,
            "row_visits": self.row_visits,
        }


def mixed_seed(seed: int) -> int:
    """Return the seed of a run as the loops need it: spread over 64 bits, and signed."""
    spread = int(loops.mixed_word(np.uint64(seed % 2**64)))
    return spread - 2**64 if spread >= 2**63 else spread


def run_chunk(kernel: Kernel, plan: SimulationPlan, numbers: range, *, collect: bool = False) -> WalkCounts:
    """Run the walks of consecutive numbers, all of one generation.

    The sum of chunks does not depend on how they are cut, as long as none of them stopped early. `collect` keeps every
    finding, not only the first one of each property. A long chunk uses the bit-sliced functions of the kernel, if there
    are any; the result is the same.
    """
    if is_sliced(kernel, numbers):
        return _run_sliced(kernel, plan, numbers, collect=collect)
    return _run_one_by_one(kernel, plan, numbers, collect=collect)


def is_sliced(kernel: Kernel, numbers: range) -> bool:
    """Return whether `run_chunk` runs these walks on bit-sliced functions."""
    return kernel.sliced is not None and len(numbers) >= SLICED_WALKS


def _run_sliced(kernel: Kernel, plan: SimulationPlan, numbers: range, *, collect: bool) -> WalkCounts:
    """Run walks on bit-sliced functions; a walk that ends the run is run alone, after those before it."""
    walking = plan.buffers(kernel, numbers.start)
    view = walking.view
    buffers: BlockBuffers
    if kernel.sliced is not None and kernel.sliced.is_resident:
        buffers = ResidentBuffers(kernel, view, collect=collect)
    else:
        buffers = SlicedBuffers(kernel, view, len(numbers), collect=collect)
    last, findings = buffers.run(numbers.start, numbers.stop)
    if last is not None:
        before = run_chunk(kernel, plan, range(numbers.start, last), collect=collect)
        ended = _run_one_by_one(kernel, plan, range(last, last + 1), collect=collect)
        if before.stopped or before.failed is not None or not (ended.stopped or ended.failed is not None):
            raise EngineDisagreement(f"The sliced kernel ends the run in walk {last}, and the kernel does not.")
        return before + ended
    counts = walking.counts() | buffers.counts()
    return WalkCounts(walks=len(numbers), findings=findings, **counts)


def compare_sliced(kernel: Kernel, plan: SimulationPlan, numbers: range) -> int:
    """Run walks with and without the bit-sliced functions of a kernel; EngineDisagreement if anything differs.

    Returns:
        How many steps were compared.
    """
    if kernel.sliced is None:
        return 0
    one, other = (run(kernel, plan, numbers, collect=True) for run in (_run_sliced, _run_one_by_one))
    different = one.differences(other)
    if different:
        raise EngineDisagreement(
            f"The sliced kernel and the kernel do not count the same in walks {numbers.start} to {numbers.stop - 1}: "
            f"{', '.join(different)} differ."
        )
    return one.steps


COMPARED_STEPS = 1 << 17
"""About how many steps of a chunk are compared: the kernel takes a tenth of a second for as many."""
COMPARED_FIRST = 32
"""Walks that are compared in any case; they show how long walks are."""


class SlicedComparison:
    """Compares the first walks of chunks on both kernels: of the first sliced chunk, the second, the fourth, ..."""

    def __init__(self) -> None:
        self._chunks = 0

    def compare(self, kernel: Kernel, plan: SimulationPlan, numbers: range) -> None:
        """Compare some walks of a chunk, if `run_chunk` runs it sliced; EngineDisagreement if anything differs."""
        if is_sliced(kernel, numbers):
            self._chunks += 1
            if self._chunks.bit_count() == 1:
                steps = compare_sliced(kernel, plan, numbers[:COMPARED_FIRST])
                most = min(SLICED_WALKS, COMPARED_FIRST * COMPARED_STEPS // max(1, steps))
                if most > COMPARED_FIRST:
                    compare_sliced(kernel, plan, numbers[COMPARED_FIRST:most])


def _run_one_by_one(kernel: Kernel, plan: SimulationPlan, numbers: range, *, collect: bool) -> WalkCounts:
    buffers = plan.buffers(kernel, numbers.start)
    cursor, findings = buffers.cursor, [np.zeros((0, 3), np.int64)]
    cursor[loops.CURSOR_WALK], cursor[loops.CURSOR_LAST] = numbers.start, numbers.stop
    status = loops.WALK_FULL
    while status == loops.WALK_FULL:
        cursor[loops.CURSOR_FINDINGS] = 0
        status = loops.run_walks_of(buffers.view, cursor.ctypes.data)
        if collect:
            findings.append(buffers.findings)
    end = int(cursor[loops.CURSOR_WALK])
    return WalkCounts(
        walks=end - numbers.start,
        findings=np.concatenate(findings),
        stopped=status == loops.WALK_VIOLATION,
        failed=end if status == loops.WALK_FAILED else None,
        **buffers.counts(),
    )


def path_of(kernel: Kernel, plan: SimulationPlan, number: int, steps: int | None = None) -> PackedPath:
    """Repeat a walk, and return its path from an initial state: the first `steps` steps, or all."""
    (path,) = paths_to(kernel, plan, [(number, plan.depth if steps is None else steps)])
    return path_along(kernel, plan.starts[path.start], path.track)


def paths_to(kernel: Kernel, plan: SimulationPlan, visits: Iterable[tuple[int, int]]) -> Iterator[Restart]:
    """Return the paths of walks to their visits (walk, step), or to where they end before."""
    replayer = WalkReplayer(kernel, plan)
    return (replayer.path_to(number, steps) for number, steps in visits)


class WalkReplayer:
    """Repeats walks of a plan."""

    def __init__(self, kernel: Kernel, plan: SimulationPlan) -> None:
        self.kernel, self.plan = kernel, plan
        self._prepared: dict[int, WalkBuffers] = {}

    def path_to(self, number: int, steps: int) -> Restart:
        """Return the path of a walk to its state after `steps` steps, or to where it ends before."""
        plan, generation = self.plan, self.plan.generation_of(number)
        first = generation.first if generation else 0
        if first not in self._prepared:
            self._prepared[first] = evolve(plan, stop=False).buffers(self.kernel, number)
        return _path_to(self._prepared[first], steps, generation, number)


def _path_to(buffers: WalkBuffers, steps: int, generation: SwarmPlan | None, number: int) -> Restart:
    cursor, view = buffers.cursor, buffers.view._replace(depth=steps)
    cursor[:] = 0
    cursor[loops.CURSOR_WALK], cursor[loops.CURSOR_LAST] = number, number + 1
    loops.run_walks_of(view, cursor.ctypes.data)
    start, end = int(cursor[loops.CURSOR_START]), int(cursor[loops.CURSOR_STEP])
    restarted = generation is not None and start >= buffers.start_count
    begun = generation.restarts[start - buffers.start_count] if generation and restarted else Restart(start)
    taken = tuple(buffers.arrays.track[len(begun.track) : end].tolist())
    words = buffers.kernel.words
    state = buffers.arrays.states[words * (len(taken) % 2) :][:words].copy()
    return Restart(begun.start, (*begun.track, *taken), state)
