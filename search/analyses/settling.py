"""Where a system comes to rest: from states that it may be in, by its own steps in any order, and by faults.

Words: see `kwalk.model.language.recovery`; a *belief* is the set of states that a world may be in, each with the number
of faults that may still happen. A compiled loop expands states one after another, as breadth-first search does; plain
Python does the same for worlds that it executes. A state is at rest, too, if all that the system does there leaves it
as it is: it tries in vain again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from enum import IntEnum
from itertools import zip_longest
from typing import Any, NamedTuple, Protocol
from weakref import WeakValueDictionary

import numpy as np
from attrs import field, frozen

from kwalk.model.language import KwalkError, Model, Vector
from kwalk.model.language.recovery import Move, Problem, World
from kwalk.search.analyses.step_effects import EffectsLayout, StepEffects, step_once
from kwalk.search.kernel.calls import way_to
from kwalk.search.kernel.compile.compiler import compiled_within, kernel_for
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.kernel.stepping import KernelStepper, PlainStepper, Stepper
from kwalk.search.native.intrinsics import ONE, ZERO, call_void, lowest_bit, peek, poke, poke32
from kwalk.search.native.loops import Int64Array, loop
from kwalk.search.native.memory import reserve
from kwalk.search.visited.hash_table import ABSENT, find_or_add_from, first_slot, room_for_keys
from kwalk.search.visited.key_store import KeyStore
from kwalk.search.visited.keys import KeySpace, hash_of, load_key

State = tuple[Vector, int]
"""A state, and how many faults may still happen."""
MEMORY = 2 << 30
"""The bytes for the states of one exploration."""
LARGE_TABLE = 8 << 20
"""The bytes of a table that is replaced by a smaller one, not cleared."""
SLICE = 1 << 16
"""How many states are expanded between two looks at the clock."""

_KERNELS: dict[Hashable, Kernel] = {}
"""By what the transitions of their models are made of."""
_WORKSPACES: WeakValueDictionary[int, StateWorkspace] = WeakValueDictionary()
"""By the identity of their kernel, which they keep alive."""


def _transitions(model: Model) -> Hashable:
    """Return what the transitions of a model are made of: neither labels, initial states nor properties."""
    scenario, binding = model.scenario, model.binding
    parts = scenario.state, scenario.actions, scenario.constraints
    return *parts, frozenset(binding.bounds.items()), frozenset(binding.flags.items())


def _kernel(model: Model) -> Kernel:
    """Return the kernel of a model; those with the same transitions share one."""
    kind = _transitions(model)
    if kind not in _KERNELS:
        _KERNELS[kind] = kernel_for(model)
    return _KERNELS[kind]


def _workspace_of(kernel: Kernel) -> StateWorkspace:
    """Return the workspace of a kernel, which lives as long as one of the worlds that share it is looked at."""
    found = _WORKSPACES.get(id(kernel))
    if found is None:
        found = _WORKSPACES[id(kernel)] = StateWorkspace(kernel)
    return found


def prepared(problem: Problem, seconds: float) -> bool:
    """Compile the worlds of a problem, for so long at most; return whether that is done."""
    models = {_transitions(world.model): world.model for world in problem.worlds if not world.plain}
    return compiled_within(models.values(), seconds)


class NeverAtRest(KwalkError):
    """A world reaches no state at rest, or a bound is in the way."""


class TooManyStates(NeverAtRest):
    """The states that lead to rest need more memory than a search may take."""


# The loop.


class CursorField(IntEnum):
    """The fields of a cursor, int64[len(CursorField)]."""

    NEXT = 0
    """The next state to expand."""
    STORED = 1
    """The number of stored states."""
    ENDS = 2
    """The number of states at rest."""
    LIMIT = 3
    """The number of expanded states at which to return."""
    EFFECTS = 4
    """The number of known effects of instances."""


class Halt(IntEnum):
    """Why the loop returned."""

    RUNNING = 0
    DONE = 1
    FULL = 2
    BLOCKED = 3
    """A bound stops a step of the system in the state NEXT, or a step leaves its domain."""


class SettlingLayout(NamedTuple):
    """The argument of the loop: a kernel, the stored states, and workspaces, by address."""

    words: int
    """Words of a packed state; a key has one more, for the faults that may still happen."""
    row_words: int
    instances: int
    guards: int
    effects: EffectsLayout
    space: KeySpace
    steps: int
    """Bit row of the instances that happen by themselves."""
    faults: int
    """Bit row of the instances that are faults."""
    at_any_moment: int
    """Whether faults happen between steps, too; otherwise at rest."""
    key: int
    row: int
    after: int
    """The key of a successor."""
    parents: int
    """int64 for each state: the state before it."""
    instance_of: int
    """uint32 for each state: the instance that led to it."""
    ends: int
    """int64 for each state at rest."""


@loop
def settle(search: SettlingLayout, cursor: Int64Array) -> int:
    """Expand stored states until cursor[CursorField.LIMIT] are expanded; return why it ended (Halt)."""
    words, space = search.words, search.space
    while cursor[CursorField.NEXT] < cursor[CursorField.LIMIT]:
        if cursor[CursorField.NEXT] == cursor[CursorField.STORED]:
            return Halt.DONE
        room = room_for_keys(space, cursor[CursorField.STORED])
        if min(room, room_for_keys(search.effects.space, cursor[CursorField.EFFECTS])) < search.instances:
            return Halt.FULL
        load_key(space, cursor[CursorField.NEXT], search.key)
        left = peek(search.key, words)
        call_void(search.guards, (search.key, search.row))
        resting = True
        for is_step in (True, False):
            if not is_step and (left == ZERO or not (resting or search.at_any_moment != 0)):
                continue
            row = search.steps if is_step else search.faults  # what an operator does is not tried
            for word in range(search.row_words):
                wanted = peek(search.row, word) & peek(row, word)
                while wanted != ZERO:
                    instance = 64 * word + lowest_bit(wanted)
                    wanted &= wanted - ONE
                    result = step_once(search.effects, cursor, instance, search.key, search.after)
                    if result < 0 or (result > 0 and is_step):
                        return Halt.BLOCKED
                    if result > 0:
                        continue
                    poke(search.after, words, left if is_step else left - ONE)
                    hashed = hash_of(search.after, words + 1)
                    size = cursor[CursorField.STORED]
                    found = find_or_add_from(space, search.after, (hashed, first_slot(space, hashed)), size)
                    if found == ABSENT:
                        poke(search.parents, size, np.uint64(cursor[CursorField.NEXT]))
                        poke32(search.instance_of, size, np.uint64(instance))
                        cursor[CursorField.STORED] = size + 1
                    resting &= not is_step or found == cursor[CursorField.NEXT]
        if resting:
            poke(search.ends, cursor[CursorField.ENDS], np.uint64(cursor[CursorField.NEXT]))
            cursor[CursorField.ENDS] += 1
        cursor[CursorField.NEXT] += 1
    return Halt.RUNNING


# Explorations.


class Exploration(Protocol):
    """All that steps and faults lead to from some states."""

    @property
    def ends(self) -> Sequence[State]:
        """The states at rest."""

    @property
    def visited(self) -> int:
        """The number of states that were visited."""

    def way(self, end: int) -> tuple[State, list[int]]:
        """Return the state from which a state at rest was reached, and the instances on a shortest way to it."""


@frozen
class PlainExploration:
    """An exploration by the interpreter; see `Exploration`."""

    ends: list[State]
    parents: dict[State, tuple[State, int] | None] = field(repr=False)

    @property
    def visited(self) -> int:
        """The number of states that were visited."""
        return len(self.parents)

    def way(self, end: int) -> tuple[State, list[int]]:
        """Return where a state at rest was reached from, and the instances on the way."""
        node, steps = way_to(self.ends[end], self.parents)
        return node, list(steps)


class StateWorkspace:
    """The stored states of explorations by one kernel, one after another, and what the loop needs besides.

    Args:
        kernel: the kernel.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self.effects = kernel, StepEffects(kernel)
        self.memories: dict[Any, SettlingMemory] = {}
        self._begin()
        most = self.store.most
        self.parents, self.instance_of = reserve(most, np.int64), reserve(most, np.uint32)
        self.ends = reserve(most, np.int64)
        self.room: list[np.ndarray] = [
            np.zeros(kernel.words + 1, np.uint64),
            np.zeros(kernel.instance_words, np.uint64),
            np.zeros(kernel.words + 1, np.uint64),
        ]

    def _begin(self) -> None:
        self.store = KeyStore(self.kernel.words + 1, MEMORY, widest_step=self.kernel.instances)

    def clear(self) -> None:
        """Forget all states, and keep the effects of instances."""
        if self.store.table_bytes > LARGE_TABLE:
            self._begin()
        self.store.table[:] = 0
        self.store.filled[:] = 0


class KernelExploration:
    """An exploration by a compiled loop; see `Exploration`.

    Args:
        workspace: the workspace, which is cleared; what was explored in it before can no longer be asked.
        starts: the states, those with the shortest ways before them first.
        steps: the instances that happen by themselves.
        faults: the instances that are faults.
        at_any_moment: whether faults happen between steps, too.
        check: gets the number of new states; may raise an exception.
    """

    def __init__(
        self,
        workspace: StateWorkspace,
        starts: Sequence[State],
        steps: Iterable[int],
        faults: Iterable[int],
        *,
        at_any_moment: bool,
        check: Callable[[int], None],
    ) -> None:
        workspace.clear()
        self.workspace, self.kernel, self.store = workspace, workspace.kernel, workspace.store
        kernel, words = workspace.kernel, workspace.kernel.words
        self._rows = [bit_row(numbers, kernel.instance_words) for numbers in (steps, faults)]
        self.at_any_moment = at_any_moment
        self.cursor = np.zeros(len(CursorField), np.int64)
        keys = np.zeros((len(starts), words + 1), np.uint64)
        keys[:, :words] = kernel.pack(np.array([vector for vector, _ in starts], np.int64))
        keys[:, words] = [left for _, left in starts]
        while not self.store.has_room(len(keys)):
            self._grow()
        self.cursor[CursorField.STORED] = self.store.add(keys, 0)
        workspace.parents[: len(keys)] = -1
        self.blocked = self._run(check)
        ends = workspace.ends[: int(self.cursor[CursorField.ENDS])].tolist()
        self.ends = self._states(ends)

    @property
    def visited(self) -> int:
        """The number of states that were visited."""
        return int(self.cursor[CursorField.STORED])

    def _layout(self) -> SettlingLayout:
        space = self.workspace
        key, row, after = (each.ctypes.data for each in space.room)
        steps, faults = (each.ctypes.data for each in self._rows)
        return SettlingLayout(
            words=self.kernel.words,
            row_words=self.kernel.instance_words,
            instances=self.kernel.instances,
            guards=self.kernel.guards,
            effects=space.effects.layout(CursorField.EFFECTS),
            space=self.store.space,
            steps=steps,
            faults=faults,
            at_any_moment=int(self.at_any_moment),
            key=key,
            row=row,
            after=after,
            parents=space.parents.ctypes.data,
            instance_of=space.instance_of.ctypes.data,
            ends=space.ends.ctypes.data,
        )

    def _run(self, check: Callable[[int], None]) -> bool:
        """Run the loop to its end; return whether a bound or a domain stopped a step."""
        effects, layout = self.workspace.effects, self._layout()
        while True:
            before, self.cursor[CursorField.EFFECTS] = self.visited, effects.count
            self.cursor[CursorField.LIMIT] = self.cursor[CursorField.NEXT] + SLICE
            status = settle(layout, self.cursor)
            effects.count = int(self.cursor[CursorField.EFFECTS])
            self.kernel.raise_pending()
            check(self.visited - before)
            if status == Halt.DONE:
                return False
            if status == Halt.BLOCKED:
                return True
            if status == Halt.FULL:
                effects.make_room()
                if not self.store.has_room(self.kernel.instances):
                    self._grow()
                layout = self._layout()

    def _grow(self) -> None:
        if not self.store.grow(self.visited):
            raise TooManyStates(f"The states that lead to rest need more than {MEMORY >> 30} GiB of memory.")

    def _states(self, numbers: list[int]) -> list[State]:
        if not numbers:
            return []
        keys, words = self.store.rows(numbers), self.kernel.words
        vectors = self.kernel.unpack(np.ascontiguousarray(keys[:, :words])).tolist()
        return [(tuple(vector), left) for vector, left in zip(vectors, keys[:, words].tolist(), strict=True)]

    @property
    def blocked_state(self) -> Vector:
        """The state in which a step was stopped."""
        return self._states([int(self.cursor[CursorField.NEXT])])[0][0]

    def way(self, end: int) -> tuple[State, list[int]]:
        """Return where a state at rest was reached from, and the instances on the way."""
        number, steps = int(self.workspace.ends[end]), list[int]()
        while (parent := int(self.workspace.parents[number])) >= 0:
            steps.append(int(self.workspace.instance_of[number]))
            number = parent
        return self._states([number])[0], steps[::-1]


# Beliefs.


@frozen
class Belief:
    """The states that a world may be in, and the system instances that are held.

    Attributes:
        states: the states.
        held: the instances.
        may_fail: whether a fault may still happen in one of the states.
    """

    states: frozenset[State]
    held: frozenset[int]
    may_fail: bool = field(init=False, eq=False)

    @may_fail.default
    def _may_fail(self) -> bool:
        return any(left for _, left in self.states)


@frozen
class Deed:
    """A step of a plan as a trace shows it: who does what."""

    actor: str
    description: str


@frozen
class SettlingMemory:
    """What is known of the states of alike worlds; see `Settling`."""

    rests: dict[tuple[frozenset[State], frozenset[int], bool], frozenset[State]] = field(factory=dict)
    violated: dict[Vector, frozenset[str]] = field(factory=dict)
    moved: dict[tuple[Belief, Move, bool], Belief] = field(factory=dict)
    packed: dict[Vector, Any] = field(factory=dict)
    beliefs: dict[Belief, Belief] = field(factory=dict)
    harmed: dict[tuple[frozenset[State], int], bool] = field(factory=dict)
    wrong: dict[frozenset[State], frozenset[State]] = field(factory=dict)
    before_faults: dict[frozenset[State], frozenset[str]] = field(factory=dict)
    lasting: dict[tuple[Belief, bool], bool] = field(factory=dict)


def _alike(world: World) -> Hashable:
    """Return what worlds have in common if the same comes from the same states in them, whatever their labels are."""
    claims = tuple((claim.declaration, claim.args) for claim in world.claims)
    return _transitions(world.model), claims, world.harms, world.faults, world.counters, world.ranked, world.distances


class Settling:
    """Leads states of one world to rest, by compiled code or plain Python; plain Python judges what is at rest.

    Args:
        world: the world.
        check: is called regularly with the number of new states; may raise an exception.
    """

    def __init__(self, world: World, check: Callable[[int], None] = lambda states: None) -> None:
        self.world, self.model, self.check = world, world.model, check
        self.kernel = None if world.plain else _kernel(world.model)
        self.stepper: Stepper = PlainStepper(world.model, ())
        if self.kernel is not None:
            self.stepper = KernelStepper(world.model, (), self.kernel)
            self._workspace = _workspace_of(self.kernel)
        self.index = {instance.key: instance.index for instance in self.model.instances}
        self.system = frozenset(i.index for i in self.model.instances if i.action.by.system)
        self.faults = tuple(self.index[key] for key in world.faults)
        paths = [leaf.path for leaf in self.model.leaves]
        self.counters = np.array([paths.index(path) for path in world.counters], np.int64)
        self.ranked = [np.array([paths.index(path) for path in group], np.int64) for group in world.ranked]
        self.visited = 0
        self.at_any_moment = False
        self._memory = SettlingMemory()
        self.likeness: Any = world
        if self.kernel is not None:  # hundreds of partitions are in one situation
            self.likeness = _alike(world)
            self._memory = self._workspace.memories.setdefault(self.likeness, self._memory)

    # States.

    def indices(self, keys: Iterable[str]) -> frozenset[int]:
        """Return the numbers of instances; those that the model lacks are left out."""
        return frozenset(self.index[key] for key in keys if key in self.index)

    def first(self, faults: int) -> Belief:
        """Return the belief before the first procedure: the initial states at rest; faults come later."""
        held = self.indices(self.world.held)
        found = self.at_rest(frozenset((vector, 0) for vector in self.world.initial), held)
        return self._one(Belief(frozenset((vector, faults) for vector, _ in found), held))

    def _one(self, belief: Belief) -> Belief:
        """Return the one object that equal beliefs are, whose sets are compared by identity, not state by state."""
        return self._memory.beliefs.setdefault(belief, belief)

    def _resting(self, ends: Sequence[State]) -> list[State]:
        """Return states at rest with counters reset and ranked numbers replaced."""
        if not ends:
            return []
        rows = np.array([vector for vector, _ in ends], np.int64)
        rows[:, self.counters] = 0
        for group, distance in zip_longest(self.ranked, self.world.distances, fillvalue=1):
            numbers = rows[:, group]
            order = numbers.argsort(axis=1)
            ascending = np.take_along_axis(numbers, order, axis=1)
            is_next = (np.diff(ascending, axis=1, prepend=0) > 0) & (ascending > 0)
            ranks = np.where(ascending > 0, distance * is_next.cumsum(axis=1), ascending)
            np.put_along_axis(numbers, order, ranks, axis=1)
            rows[:, group] = numbers
        return [(tuple(row), left) for row, (_, left) in zip(rows.tolist(), ends, strict=True)]

    def at_rest(self, states: frozenset[State], held: frozenset[int]) -> frozenset[State]:
        """Return the states at rest that the system's own steps, and faults, lead to from any of some states."""
        key = states, held, self.at_any_moment
        if key not in self._memory.rests:
            self._memory.rests[key] = frozenset(self._resting(self._explore(list(states), held).ends))
        return self._memory.rests[key]

    def _explore(self, starts: Sequence[State], held: frozenset[int]) -> Exploration:
        """Return all that steps and faults lead to."""
        found: Exploration
        if self.kernel is None:
            found = self._explore_plainly(starts, held)
            self.check(found.visited)
        else:
            explored = KernelExploration(
                self._workspace,
                starts,
                self.system - held,
                self.faults,
                at_any_moment=self.at_any_moment,
                check=self.check,
            )
            if explored.blocked:
                raise NeverAtRest(self._blocked(explored.blocked_state, held))
            found = explored
        self.visited += found.visited
        if not found.ends:
            raise NeverAtRest(f"In the model, {self.world.name} reaches no state at rest.")
        return found

    def _explore_plainly(self, starts: Sequence[State], held: frozenset[int]) -> PlainExploration:
        parents: dict[State, tuple[State, int] | None] = dict.fromkeys(starts)
        todo, ends = list(parents), list[State]()
        for node in todo:
            if len(todo) % 256 == 0:
                self.check(0)
            vector, left = node
            resting = True
            for index, _, after in self.stepper.outcomes(vector, system=True):
                if index in held:
                    continue
                if after is None:
                    raise NeverAtRest(self._blocked(vector, held))
                resting &= after == vector
                if (after, left) not in parents:
                    parents[after, left] = (node, index)
                    todo.append((after, left))
            if resting:
                ends.append(node)
            if left and (resting or self.at_any_moment):
                for index in self.faults:
                    struck = self.stepper.step(index, vector)
                    if struck is not None and (struck, left - 1) not in parents:
                        parents[struck, left - 1] = (node, index)
                        todo.append((struck, left - 1))
        return PlainExploration(ends, parents)

    def _blocked(self, vector: Vector, held: frozenset[int]) -> str:
        """Return which step a bound stops in a state; plain Python raises what leaves its domain."""
        attempts = ((i, self.model.attempt(i, vector)) for i in self.model.instances if i.index in self.system - held)
        stopped = next((i.key for i, attempt in attempts if attempt.after is None and attempt.bound), "a step")
        return f"A bound of the model stops {stopped} in {self.world.name}; raise its bounds."

    # Moves.

    def moved(self, belief: Belief, move: Move) -> Belief:
        """Return the belief after a move, at rest. Faults also happen while a move is about other worlds only."""
        if move.is_nothing and not belief.may_fail:
            return belief
        key = belief, move, self.at_any_moment
        if key not in self._memory.moved:
            held = (belief.held | self.indices(move.hold)) - self.indices(move.release)
            done = (
                belief.states if move.is_nothing else (s for before in belief.states for s in self._after(before, move))
            )
            after = frozenset(done)
            self._memory.moved[key] = self._one(Belief(self.at_rest(after, held), held))
        return self._memory.moved[key]

    def _after(self, state: State, move: Move) -> list[State]:
        """Return the states directly after a move; the state itself if nothing of it can happen."""
        vector = state[0]
        if vector not in self._memory.packed:
            self._memory.packed[vector] = self.stepper.start(vector)
        done = self.direct_outcomes(self._memory.packed[vector], move)
        return [(self.stepper.vector(after), state[1]) for after in done] or [state]

    def direct_outcomes(self, packed: Any, move: Move) -> list[Any]:
        """Return the states directly after a move; empty if nothing of it can happen."""
        for group in move.choices:
            tried = (self.stepper.step(self.index[key], packed) for key in group if key in self.index)
            found = [after for after in tried if after is not None]
            if found:
                return found
        return []

    # Claims.

    def violated(self, vector: Vector) -> frozenset[str]:
        """Return the names of the claims that a state at rest violates, by plain Python."""
        if vector not in self._memory.violated:
            state = self.model.state(vector)
            with self.model.active():
                self._memory.violated[vector] = frozenset(
                    claim.declaration.name
                    for claim in self.world.claims
                    if claim.declaration.truth(state, *claim.args) is False
                )
        return self._memory.violated[vector]

    def violates(self, vector: Vector) -> bool:
        """Whether a state at rest violates a claim."""
        return bool(self.violated(vector))

    def is_harmed(self, vector: Vector) -> bool:
        """Whether users notice something in a state."""
        return bool(self.violated(vector) & self.world.harms)

    def wrong(self, belief: Belief) -> frozenset[State]:
        """Return the states of a belief that violate a claim."""
        known = self._memory.wrong
        if belief.states not in known:  # a set keeps its hash, and a vector does not
            known[belief.states] = frozenset(state for state in belief.states if self.violated(state[0]))
        return known[belief.states]

    def is_clean(self, belief: Belief) -> bool:
        """Whether no state of a belief violates a claim."""
        return not self.wrong(belief)

    def unfinished(self, belief: Belief, others: frozenset[int]) -> Belief:
        """Return a belief without what an operator finds in order; all of it if nothing is left.

        Args:
            belief: The belief.
            others: How many faults may still happen where another world is out of order.
        """
        left = self.wrong(belief) | frozenset(state for state in belief.states if state[1] in others)
        return self._one(Belief(left or belief.states, belief.held))

    def lasts(self, belief: Belief) -> bool:
        """Whether all claims last in the states of a belief in which they hold, though faults happen."""
        key = belief, self.at_any_moment
        if key not in self._memory.lasting:
            good = belief.states - self.wrong(belief)
            ends = Belief(self.at_rest(good, belief.held), belief.held) if good else belief
            self._memory.lasting[key] = not good or self.is_clean(ends)
        return self._memory.lasting[key]

    def claims_before_faults(self, belief: Belief) -> frozenset[str]:
        """Return the names of the claims that are violated in a state of a belief before which no fault happened."""
        known = self._memory.before_faults
        if belief.states not in known:
            most = max(left for _, left in belief.states)
            claims = (self.violated(vector) for vector, left in belief.states if left == most)
            known[belief.states] = frozenset[str]().union(*claims)
        return known[belief.states]

    def harms(self, belief: Belief, faults: int) -> bool:
        """Whether users notice something in a state of a belief in which so many faults may still happen."""
        key = belief.states, faults
        if key not in self._memory.harmed:
            found = (self.is_harmed(vector) for vector, left in belief.states if left == faults)
            self._memory.harmed[key] = any(found)
        return self._memory.harmed[key]

    # Traces.

    def trace(self, moves: Sequence[Move], faults: int, is_wanted: Callable[[Vector], bool]) -> list[Deed] | None:
        """Return what happens on a shortest way through the moves to a wanted state at rest; None if there is none."""
        held = self.indices(self.world.held)
        start: dict[State, list[int]] = {(vector, 0): [] for vector in self.world.initial}
        layer = {(vector, faults): path for (vector, _), path in self._traced(start, held).items()}
        for move in moves:
            held = (held | self.indices(move.hold)) - self.indices(move.release)
            after: dict[State, list[int]] = {}
            for (vector, left), path in layer.items():
                packed = self.stepper.start(vector)
                group = next((g for g in move.choices if any(self._step(key, packed) for key in g)), ())
                taken = [(self.index[key], self._step(key, packed)) for key in group]
                done = [(self.stepper.vector(one), [*path, index]) for index, one in taken if one is not None]
                for state, longer in [((end, left), longer) for end, longer in done or [(vector, path)]]:
                    if state not in after or len(longer) < len(after[state]):
                        after[state] = longer
            layer = self._traced(after, held)
        ways = [path for (vector, _), path in layer.items() if is_wanted(vector)]
        return [self._deed(index) for index in min(ways, key=len)] if ways else None

    def _step(self, key: str, packed: Any) -> Any | None:
        return self.stepper.step(self.index[key], packed) if key in self.index else None

    def _traced(self, layer: dict[State, list[int]], held: frozenset[int]) -> dict[State, list[int]]:
        """Return the states at rest with the steps to them."""
        explored = self._explore(sorted(layer, key=lambda state: len(layer[state])), held)
        found: dict[State, list[int]] = {}
        for number, key in enumerate(self._resting(explored.ends)):
            begun, steps = explored.way(number)
            whole = [*layer[begun], *steps]
            if key not in found or len(whole) < len(found[key]):
                found[key] = whole
        return found

    def _deed(self, index: int) -> Deed:
        instance = self.model.instances[index]
        with self.model.active():
            return Deed(instance.actor, instance.description)

    def confirm(self, moves: Sequence[Move]) -> int:
        """Execute the first way through the moves in plain Python too; return the number of steps compared.

        Raises:
            EngineDisagreement: A step has another result there.
        """
        if self.world.plain:
            return 0
        held, compared = self.indices(self.world.held), 0
        vector = self.world.initial[0]
        for move in (None, *moves):
            packed = self.stepper.start(vector)
            if move is not None:
                held = (held | self.indices(move.hold)) - self.indices(move.release)
                group = next((g for g in move.choices if any(self._step(key, packed) for key in g)), ())
                packed = next((s for s in (self._step(key, packed) for key in group) if s is not None), packed)
            while True:
                outcomes = self.stepper.outcomes(packed, system=True)
                steps = [(i, after) for i, _, after in outcomes if i not in held and after != packed]
                if not steps:
                    break
                index, after = steps[0]
                before = self.stepper.vector(packed)
                plain = self.model.attempt(self.model.instances[index], before).after
                if plain is None or after is None or self.stepper.start(plain) != after:
                    raise EngineDisagreement(
                        f"Plain Python and the kernel differ after {self.model.instances[index].key}."
                    )
                packed, compared = after, compared + 1
            ((vector, _),) = self._resting([(self.stepper.vector(packed), 0)])
        return compared
