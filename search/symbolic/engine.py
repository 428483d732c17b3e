"""The memory of a symbolic search, and its rules: what `layout` describes, made from the terms of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
from attrs import frozen

from kwalk.model.language import UsageError
from kwalk.model.language.lift import Term, reads
from kwalk.search.kernel.compile.emitter import Emitter
from kwalk.search.kernel.compile.layout import WORD, Layout
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.memory import release, reserve
from kwalk.search.symbolic import diagrams, rules
from kwalk.search.symbolic.layout import EngineBlock, PartBlock, RuleBlock, Stop

NODE_BYTES, HEAD_BYTES, RESULT_BYTES = 16, 4, 24
NODE_SHARE, CACHE_SHARE, STACK_SHARE = 0.45, 0.2, 1 / 16
"""The shares of the memory budget that nodes, results and the stack may take; tables have the rest.

Counts have what these have not used, and the memory of all results but LEFT_RESULTS: most of it is for the stack.
"""
LEFT_RESULTS, FOR_STACK = 1 / 8, 2 / 3
FIRST_TABLE = 1 << 16
"""The hashes and the results that there is room for at first: both tables grow with the nodes (see `grow_tables`)."""
LEAST_BYTES = 1 << 24
"""The least memory budget."""
OTHER_LOOPS = (
    *(diagrams.single, diagrams.collect, rules.value_in, rules.write_value),
    rules.related,
)
"""The loops that only Python calls; they are compiled before the search begins."""
NEARLY = 0.7
"""The share of the nodes from which garbage is collected; if more is in use afterwards, the budget is spent."""


@frozen(eq=False)
class RuleTerms:
    """A step where its conditions hold, or a set of states if it has no updates."""

    conditions: tuple[Term, ...]
    updates: Mapping[int, Term]


@frozen(eq=False)
class RuleCode:
    """A rule as machine code: names of functions, and which leaves they read and write.

    Args:
        conditions: For each condition the name of its function and the leaves that it reads.
        effect: The name of the function of its effect; "" if it has none.
        reads: The leaves that the effect reads.
        writes: The leaves that it can change.
    """

    conditions: tuple[tuple[str, tuple[int, ...]], ...]
    effect: str
    reads: tuple[int, ...]
    writes: tuple[int, ...]

    @property
    def leaves(self) -> frozenset[int]:
        """All leaves that it reads or can change."""
        return frozenset((*self.reads, *self.writes, *(leaf for _, leaves in self.conditions for leaf in leaves)))


def rule_code(terms: Sequence[RuleTerms], layout: Layout) -> tuple[list[RuleCode], list[str]]:
    """Return the rules as code, and the LLVM texts of their functions."""
    names: dict[Term, str] = {}
    texts, made = list[str](), list[RuleCode]()
    for rule in terms:
        for term in rule.conditions:
            if term not in names:
                names[term] = f"condition.{len(names)}"
                texts.append(_condition(names[term], term, layout))
        effect = f"effect.{len(made)}" if rule.updates else ""
        if effect:
            texts.append(_effect(effect, rule.updates, layout))
        conditions = tuple((names[term], tuple(sorted(reads([term])))) for term in rule.conditions)
        made.append(
            RuleCode(conditions, effect, tuple(sorted(reads(rule.updates.values()))), tuple(sorted(rule.updates)))
        )
    return made, texts


def _condition(name: str, term: Term, layout: Layout) -> str:
    e = Emitter(layout, ["%state"])
    e.do(f"ret i64 {e.op(f'zext i1 {e.value(term)} to i64')}")
    return _function(f"i64 @{name}(ptr noalias readonly %state)", e)


def _effect(name: str, updates: Mapping[int, Term], layout: Layout) -> str:
    e = Emitter(layout, ["%before"])
    e.load_all()
    e.store_updates(dict(updates), "%after")
    e.do("ret void")
    return _function(f"void @{name}(ptr noalias readonly %before, ptr noalias %after)", e)


def _function(head: str, e: Emitter) -> str:
    return f"define {head} nounwind {{\nentry:\n" + "\n".join(e.lines) + "\n}\n"


class Stopped(Exception):
    """An operation was stopped; its result means nothing."""

    def __init__(self, why: Stop) -> None:
        super().__init__(why)
        self.why = why


class SymbolicEngine:
    """The memory, and the operations on sets of states of one mode."""

    def __init__(
        self,
        layout: Layout,
        components: Sequence[frozenset[int]],
        initial: np.ndarray,
        memory: int,
    ) -> None:
        self.layout, self.components = layout, list(components)
        self.levels = len(self.components)
        self._kept: dict[int, np.ndarray] = {}
        self.block = self._array(len(EngineBlock))
        self.engine = self.block.ctypes.data
        self._initial = np.ascontiguousarray(initial[0])
        self._memory, self._taken = memory, 0
        self.roots: Callable[[], Iterable[int]] = tuple
        """Returns the sets that are needed when garbage is collected."""
        self._reserve(memory)
        self._masks = [self._mask(leaves) for leaves in self.components]
        self._components = [self._part(mask) for mask in self._masks]
        self.rules: list[np.ndarray] = []
        self._parts: dict[tuple[int, bytes, tuple[int, ...] | None], int] = {}
        """Views by level, bits and conditions; changes by level and bits."""
        self._code: list[LoadedCode] = []
        self._into = self._array(1 << 16)
        self._target, self._targets = 0, rules.WHERE

    # Memory.

    def _array(self, size: int) -> np.ndarray:
        array = np.zeros(size, np.int64)
        self._kept[array.ctypes.data] = array
        return array

    def _reserve(self, memory: int) -> None:
        if memory < LEAST_BYTES:
            raise UsageError(
                f"A memory budget of {memory:,} bytes is too small for a symbolic search. Give at least "
                f"{LEAST_BYTES >> 20} MiB."
            )
        limit, stack = int(NODE_SHARE * memory) // (NODE_BYTES + HEAD_BYTES), int(STACK_SHARE * memory)
        heads = 1 << max(10, limit.bit_length() - 1)
        results = 1 << max(10, (int(CACHE_SHARE * memory) // RESULT_BYTES).bit_length() - 1)
        arena = memory - stack - limit * NODE_BYTES - heads * HEAD_BYTES - results * RESULT_BYTES
        arrays = {
            EngineBlock.NODES: reserve(4 * limit, np.uint32),
            EngineBlock.HEADS: reserve(heads, np.uint32),
            EngineBlock.CACHE: reserve(3 * results, np.int64),
            EngineBlock.TOP: reserve(memory // 4 // 8, np.int64, dense=False),
            EngineBlock.ARENA: reserve(arena // 8, np.int64, dense=False),
            EngineBlock.STATE: np.zeros(2 * self.layout.words, np.uint64),
        }
        for which, array in arrays.items():
            self._kept[array.ctypes.data] = array
            self.block[which] = array.ctypes.data
        self.block[EngineBlock.FRESH], self.block[EngineBlock.LIMIT] = 2, min(limit, 1 << 31)
        self._stack, self._most_nodes = stack, int(self.block[EngineBlock.LIMIT])
        for which, most in ((EngineBlock.HEADS_MASK, heads), (EngineBlock.CACHE_MASK, results)):
            self.block[which] = min(FIRST_TABLE, most) - 1
        self.block[EngineBlock.MOST_HEADS_MASK], self.block[EngineBlock.MOST_CACHE_MASK] = heads - 1, results - 1
        self.block[EngineBlock.STACK_END] = self.block[EngineBlock.TOP] + stack
        self._arena = int(self.block[EngineBlock.ARENA])
        self._arena_end = self.block[EngineBlock.ARENA_END] = self._arena + arrays[EngineBlock.ARENA].nbytes
        self.block[EngineBlock.WORDS], self.block[EngineBlock.INITIAL] = self.layout.words, self._initial.ctypes.data
        loops = {
            EngineBlock.UNION: diagrams.union,
            EngineBlock.MINUS: diagrams.minus,
            EngineBlock.PROJECT: rules.project,
            EngineBlock.IMAGE: rules.image,
            EngineBlock.LEARN: rules.learn,
            EngineBlock.SATURATE: rules.saturate,
        }
        for which, one in loops.items():
            self.block[which] = one.entry
        for one in OTHER_LOOPS:
            one.load()

    @property
    def used(self) -> int:
        """The bytes of the memory budget that are in use, with the tables of hashes and of results."""
        arena = int(self.block[EngineBlock.ARENA]) - self._arena
        hashed = self._hashed(EngineBlock.HEADS_MASK, EngineBlock.CACHE_MASK)
        return self._stack + self._taken + hashed + NODE_BYTES * self.nodes + arena

    def _hashed(self, heads: EngineBlock, results: EngineBlock) -> int:
        """Return the bytes of tables of hashes and of results with these masks."""
        return HEAD_BYTES * (int(self.block[heads]) + 1) + RESULT_BYTES * (int(self.block[results]) + 1)

    @property
    def _left(self) -> int:
        """The bytes that are not in use, and that the tables of hashes and of results will not take."""
        now = self._hashed(EngineBlock.HEADS_MASK, EngineBlock.CACHE_MASK)
        return self._memory - self.used - self._hashed(EngineBlock.MOST_HEADS_MASK, EngineBlock.MOST_CACHE_MASK) + now

    def _limit(self) -> None:
        """Let nodes and tables grow into half of what is not in use, each."""
        half = max(0, self._left // 2)
        self.block[EngineBlock.LIMIT] = min(self._most_nodes, self.nodes + half // NODE_BYTES)
        self.block[EngineBlock.ARENA_END] = min(self._arena_end, int(self.block[EngineBlock.ARENA]) + half)

    def take(self, count: int, dtype: Any) -> np.ndarray:
        """Return an array of zeros that counts as memory in use until it is given back.

        Raises:
            Stopped: The memory budget has no room for it.
        """
        size = count * np.dtype(dtype).itemsize
        if size > self._left:
            raise Stopped(Stop.NO_TABLES)
        self._taken += size
        self._limit()
        return reserve(count, dtype)[:count]

    def give_back(self, arrays: Iterable[np.ndarray]) -> None:
        """Take arrays as free that `take` returned, and that nothing will use any more."""
        self._taken -= sum(array.nbytes for array in arrays)
        self._limit()

    def make_room_for_counts(self) -> None:
        """Release the memory of most results, which counts do not need, for the stack and for what they take."""
        before = int(self.block[EngineBlock.MOST_CACHE_MASK]) + 1
        left = min(before, 1 << max(10, int(LEFT_RESULTS * before).bit_length() - 1))
        release(self._kept[int(self.block[EngineBlock.CACHE])], 3 * left)
        self.block[EngineBlock.MOST_CACHE_MASK] = left - 1
        self.block[EngineBlock.CACHE_MASK] = min(int(self.block[EngineBlock.CACHE_MASK]), left - 1)
        more = int(FOR_STACK * RESULT_BYTES * (before - left))
        self.block[EngineBlock.STACK_END] += more
        self._stack += more

    # Operations.

    def run(self, one: Any, *numbers: Any) -> int:
        """Call a loop with the engine and some numbers.

        Raises:
            Stopped: There is no room, or `stop` was called.
        """
        result = int(one(self.engine, *numbers) or 0)
        if self.block[EngineBlock.STOPPED]:
            raise Stopped(Stop(int(self.block[EngineBlock.STOPPED])))
        return result

    def stop(self) -> None:
        """Stop what another thread does."""
        self.block[EngineBlock.STOPPED] = Stop.REQUESTED

    @property
    def nodes(self) -> int:
        """The number of nodes that were ever used."""
        return int(self.block[EngineBlock.FRESH])

    @property
    def node_table(self) -> np.ndarray:
        """The nodes, uint32[nodes, 4]."""
        return self._kept[int(self.block[EngineBlock.NODES])].reshape(-1, 4)

    @property
    def is_nearly_full(self) -> bool:
        """Whether garbage should be collected."""
        return (
            not self.block[EngineBlock.FREE] and self.block[EngineBlock.FRESH] > NEARLY * self.block[EngineBlock.LIMIT]
        )

    def collect(self, others: Iterable[int] = ()) -> bool:
        """Free the nodes that no root, none of the others and no rule needs, and clear a stop for lack of room.

        Returns:
            Whether so many are free that the search should go on.
        """
        known = [int(rule[which]) for rule in self.rules for which in (RuleBlock.SEEN, RuleBlock.PAIRS)]
        roots = np.array([*self.roots(), *others, *known, 0], np.int64)
        left = diagrams.collect(self.engine, roots.ctypes.data, len(roots))
        if self.block[EngineBlock.STOPPED] == Stop.FULL:
            self.block[EngineBlock.STOPPED] = 0
        return bool(left <= NEARLY * self.block[EngineBlock.LIMIT])

    def union(self, left: int, right: int) -> int:
        """Return the union of two sets."""
        return self.run(diagrams.union, left, right)

    def minus(self, left: int, right: int) -> int:
        """Return the states of the first set that are not in the second."""
        return self.run(diagrams.minus, left, right)

    def saturated(self, states: int, mode: int) -> int:
        """Return all states of a mode that are reached from some of them within the mode."""
        return self.run(rules.saturate, states, 1, mode, self.levels)

    def after(self, states: int, mode: int, rule: int) -> list[tuple[int, int]]:
        """Return the states after a rule, by modes; one mode can occur several times."""
        return self._related(states, mode, rule, (rules.AFTER, 1, 0))

    def before(self, states: int, mode: int, rule: int, target: int, target_mode: int) -> int:
        """Return the states of a set that a rule leads to one state, which is alone in its set."""
        if target != self._target:
            self._target, self._targets = target, self._targets + 1
        return self._joint(self._related(states, mode, rule, (self._targets, target, target_mode)))

    def where(self, states: int, mode: int, rule: int) -> int:
        """Return the states of a set where the conditions of a rule hold."""
        return self._joint(self._related(states, mode, rule, (rules.WHERE, 1, 0)))

    def _related(self, states: int, mode: int, rule: int, to: tuple[int, int, int]) -> list[tuple[int, int]]:
        total = self.run(rules.related, states, mode, rule, (int(self._into.ctypes.data), *to))
        return [(int(self._into[2 * k]), int(self._into[2 * k + 1])) for k in range(total) if self._into[2 * k + 1]]

    def _joint(self, sets: Iterable[tuple[int, int]]) -> int:
        return reduce(self.union, (states for _, states in sets), 0)

    def sources(self, states: int, mode: int, rule: int) -> int:
        """Return the states of a set that a rule leads to one of its successors there."""
        target_mode, after = self.after(states, mode, rule)[0]
        target_mode, target = self.single(self.state(target_mode, after))
        return self.before(states, mode, rule, target, target_mode)

    def changes_mode(self, rule: int) -> bool:
        """Return whether a rule changes the mode, or nothing below it."""
        block = self.rules[rule]
        return bool(self._kept[int(block[RuleBlock.CHANGES])][0]) or not block[RuleBlock.LAST]

    # States.

    def numbers_of(self, packed: np.ndarray) -> list[int]:
        """Return the numbers of the values of the components in a packed state."""
        state = np.ascontiguousarray(packed)
        return [self.run(rules.value_in, component, state.ctypes.data) for component in self._components]

    def single(self, packed: np.ndarray) -> tuple[int, int]:
        """Return the mode of a packed state, and the set that it is alone in."""
        mode, *rest = self.numbers_of(packed)
        values = np.array([*rest, 0], np.int64)
        return mode, self.run(diagrams.single, values.ctypes.data, len(rest))

    def state(self, mode: int, states: int, choose: Callable[[int], int] = lambda _: 0) -> np.ndarray:
        """Return a packed state of a set; `choose` takes one of so many nodes."""
        nodes, numbers = self.node_table, [mode]
        while states > 1:
            beside = [states]
            while following := int(nodes[beside[-1], diagrams.BESIDE]):
                beside.append(following)
            chosen = nodes[beside[choose(len(beside))]]
            numbers.append(int(chosen[diagrams.VALUE]))
            states = int(chosen[diagrams.BELOW])
        packed = np.zeros(self.layout.words, np.uint64)
        for component, number in zip(self._components, numbers, strict=True):
            self.run(rules.write_value, component, number, packed.ctypes.data)
        return packed

    # Checkpoints.

    def values_of(self, level: int) -> np.ndarray:
        """Return the values of a component by their numbers, uint64[values, words of the component]."""
        block = self._kept[self._components[level]]
        count, width = int(block[PartBlock.COUNT]), int(block[PartBlock.WIDTH])
        first = (int(block[PartBlock.ROWS]) - self._arena) // 8 if count else 0
        return self._kept[self._arena][first : first + count * width].view(np.uint64).reshape(count, width)

    def add_values(self, level: int, rows: np.ndarray) -> None:
        """Number saved values of a component as they were; those of the initial states have their numbers already."""
        block, packed = self._kept[self._components[level]], np.zeros(self.layout.words, np.uint64)
        first, width = int(block[PartBlock.FIRST]), int(block[PartBlock.WIDTH])
        for number, row in enumerate(rows):
            packed[first : first + width] = row
            found = self.run(rules.value_in, self._components[level], packed.ctypes.data)
            assert found == number, f"value {number} of component {level} is number {found} now"

    def room_for_nodes(self, count: int) -> np.ndarray | None:
        """Return the bytes for saved nodes, which become those of the engine; None if there is no room.

        Garbage is to be collected when they were read, which tables of nodes and results need.
        """
        if count > self.block[EngineBlock.LIMIT]:
            return None
        self.block[EngineBlock.FRESH] = count
        return self.node_table[:count].reshape(-1).view(np.uint8)

    # Components, views and changes.

    def _mask(self, leaves: Iterable[int]) -> np.ndarray:
        """Return the bits of some leaves in a packed state."""
        mask = np.zeros(self.layout.words, np.uint64)
        for leaf in leaves:
            offset, width = self.layout.offsets[leaf], self.layout.widths[leaf]
            mask[offset // WORD] |= np.uint64(((1 << width) - 1) << (offset % WORD))
        return mask

    def _part(self, mask: np.ndarray, level: int | None = None, conditions: Sequence[int] = ()) -> int:
        """Return the address of a component with these bits, or of a view or a change of that of a level."""
        used = np.flatnonzero(mask if level is None else self._masks[level])
        first, end = (int(used[0]), int(used[-1]) + 1) if len(used) else (0, 1)
        block, bits = self._array(len(PartBlock)), np.ascontiguousarray(mask[first:end])
        self._kept[bits.ctypes.data] = bits
        block[PartBlock.FIRST], block[PartBlock.WIDTH], block[PartBlock.MASK] = first, end - first, bits.ctypes.data
        if level is not None:
            block[PartBlock.COMPONENT] = self._components[level]
            block[PartBlock.CONDITIONS], block[PartBlock.CONDITION_COUNT] = self._numbers(conditions), len(conditions)
        return int(block.ctypes.data)

    def _shared_part(self, level: int, leaves: Iterable[int], conditions: tuple[int, ...] | None) -> int:
        """Return the address of the view (a change without conditions) of some leaves of a level; 0 for no change."""
        mask = self._mask(leaves) & self._masks[level]
        if conditions is None and not mask.any():
            return 0
        key = (level, mask.tobytes(), conditions)
        if key not in self._parts:
            self._parts[key] = self._part(mask, level, conditions or ())
        return self._parts[key]

    def _numbers(self, numbers: Sequence[int]) -> int:
        array = self._array(len(numbers) + 1)
        array[: len(numbers)] = numbers
        return int(array.ctypes.data)

    # Rules.

    def add(self, rule_codes: Iterable[RuleCode], code: LoadedCode) -> None:
        """Add rules, which have the numbers of their order."""
        self._code.append(code)
        for rule in rule_codes:
            self._add(rule, code.addresses)
        self.block[EngineBlock.RULES] = self._numbers([int(rule.ctypes.data) for rule in self.rules])

    def _add(self, code: RuleCode, addresses: Mapping[str, int]) -> None:
        home = {leaf: level for level, leaves in enumerate(self.components) for leaf in leaves}
        levels_of = {name: {home[leaf] for leaf in leaves if leaf in home} for name, leaves in code.conditions}
        touched = {home[leaf] for leaf in (*code.reads, *code.writes) if leaf in home}.union(*levels_of.values())
        views, changes = [0] * self.levels, [0] * self.levels
        read = [*code.reads, *(leaf for _, leaves in code.conditions for leaf in leaves)]
        for level in touched:
            alone = tuple(addresses[name] for name, levels in levels_of.items() if levels == {level})
            views[level] = self._shared_part(level, read, alone)
            changes[level] = self._shared_part(level, code.writes, None)
        joint = [addresses[name] for name, levels in levels_of.items() if len(levels) != 1]
        block = self._array(len(RuleBlock))
        block[RuleBlock.NUMBER], block[RuleBlock.LAST] = len(self.rules), max(touched, default=0)
        block[RuleBlock.VIEWS], block[RuleBlock.CHANGES] = self._numbers(views), self._numbers(changes)
        block[RuleBlock.CONDITIONS], block[RuleBlock.CONDITION_COUNT] = self._numbers(joint), len(joint)
        block[RuleBlock.EFFECT] = addresses[code.effect] if code.effect else 0
        self.rules.append(block)

    def begin_with(self, steps: Iterable[int]) -> None:
        """Make saturation use these rules."""
        starts: list[list[int]] = [[] for _ in range(self.levels)]
        by_mode = [0] * self.levels
        for number in steps:
            views = self._kept[int(self.rules[number][RuleBlock.VIEWS])]
            level = next((level for level in range(1, self.levels) if views[level]), 0)
            if level:
                starts[level].append(number)
                if views[0]:
                    by_mode[: level + 1] = [1] * (level + 1)
        self.block[EngineBlock.STARTS] = self._numbers([self._numbers([len(each), *each]) for each in starts])
        self.block[EngineBlock.BY_MODE] = self._numbers(by_mode)
