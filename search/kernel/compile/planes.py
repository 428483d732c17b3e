"""Bit-sliced functions of a model: each evaluates it in a block of states at once, as text of LLVM vectors.

Words: a *lane* is one of the states of a block; a *plane* is a vector with one bit of each lane. Plane p of a block has
bit p of its packed states, and where a function writes a truth value of each lane, that is a plane too. Bit b of word w
of a plane belongs to lane b · (words of a plane) + w (see `transpose`). Planes are as wide as the CPU's vector
registers. All operations are and, or, exclusive or, which LLVM compiles for any CPU; on one that has an instruction for
functions of three inputs, it selects that.

The functions, where `planes` are those of a block and i64 arguments are numbers:

* `slice.guards(planes, out)`: the guard of each instance, then whether the state is quiescent.
* `slice.check(planes, quiescent, out)`: as `check` of a kernel: the bits of the false row, one plane for each property,
  then, from plane 64 · (words of a bit row of properties) on, those of the premise row.
* `slice.save(planes, before)`: copies the planes that `slice.check_step` reads of the state before a step.
* `slice.check_step(before, planes, out)`: as `check_step`; the planes of `out` are those of `slice.check`.
* `slice.apply(instance: i64, planes, chosen, out)`: takes a step in place, in the chosen lanes. `out` is: lanes where
  the step was taken, lanes where it left the domain, lanes whose state has changed, and for each bound the lanes where
  it was reached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from attrs import frozen

from kwalk.model.language import Kind
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction
from kwalk.search.kernel.compile import functions
from kwalk.search.kernel.compile.gates import COLUMNS, FALSE, TRUE, GateNetwork, Literal, TermGates, cover
from kwalk.search.kernel.compile.layout import WORD, Layout
from kwalk.search.kernel.compile.vectors import VectorWriter, attributes

BLOCK = 400
"""The tables of a basic block, at most: LLVM's selection of instructions takes more than linear time in that."""
UNIT = 6000
"""The tables of a unit, approximately."""
CHOSEN = 1 << 40
"""The input that is the plane of chosen lanes, or of quiescent ones."""

Formula = tuple[str, int, int]


@cache
def formulas() -> dict[int, Formula | None]:
    """Return a shortest formula of each table, by its rows: an operation and the rows of its two arguments.

    The inputs and the constants have none.
    """
    found: dict[int, Formula | None] = dict.fromkeys((*COLUMNS, 0x00, 0xFF))
    levels = [list(found)]
    while len(found) < 256:
        new: dict[int, Formula | None] = {}
        for size, level in enumerate(levels):
            for a in level:
                for b in levels[len(levels) - 1 - size]:
                    for name, rows in (("and", a & b), ("or", a | b), ("xor", a ^ b)):
                        if rows not in found:
                            new.setdefault(rows, (name, a, b))
        found |= new
        levels.append(list(new))
    return found


class PlaneEmitter(VectorWriter):
    """Collects the instructions of one function over planes.

    Args:
        network: The gates that it computes.
        lanes: The lanes of a plane.
        place: Returns the pointer of the plane of an input, and its number there.
    """

    def __init__(self, network: GateNetwork, lanes: int, place: Callable[[int], tuple[str, int]]) -> None:
        super().__init__(lanes)
        self.network, self.place = network, place
        self.tables = 0
        self._names: dict[int, str] = {0: "zeroinitializer"}

    def write(self, literals: Iterable[tuple[str, int, Literal]]) -> None:
        """Write literals as planes: (pointer, number, literal) of each. Nothing is written before all are computed."""
        wanted = list(literals)
        for table in cover(self.network, [literal for _, _, literal in wanted]):
            self._names[table.gate] = self._table([self._plane(gate) for gate in table.inputs], table.rows)
        planes = [self._value(literal) for _, _, literal in wanted]
        for (pointer, number, _), plane in zip(wanted, planes, strict=True):
            self.store(plane, pointer, number)

    def _plane(self, gate: int) -> str:
        if gate not in self._names:
            self._names[gate] = self.load(*self.place(self.network.gates[gate][1]))
        return self._names[gate]

    def _value(self, literal: Literal) -> str:
        if literal == TRUE:
            return self.ones
        plane = self._plane(literal >> 1)
        return self.binary("xor", plane, self.ones) if literal & 1 else plane

    def _table(self, names: Sequence[str], rows: int) -> str:
        """Return the name of the value of a table of up to three inputs."""
        self.tables += 1
        if self.tables % BLOCK == 0:
            self._begin_another_block()
        known = {0x00: "zeroinitializer", 0xFF: self.ones, **dict(zip(COLUMNS, names, strict=False))}

        def value(rows: int) -> str:
            if rows not in known:
                formula = formulas()[rows]
                assert formula is not None
                known[rows] = self.binary(formula[0], value(formula[1]), value(formula[2]))
            return known[rows]

        return value(rows)

    def _begin_another_block(self) -> None:
        """End a long basic block, as `Emitter` does."""
        name = self.op("icmp eq ptr %planes, null")[1:]
        self.lines += [f"  br i1 %{name}, label %never.{name}, label %{name}.next", f"never.{name}:", "  unreachable"]
        self.lines.append(f"{name}.next:")


@frozen
class SliceUnits:
    """The bit-sliced functions of a model, as LLVM text.

    Args:
        texts: The units, which LLVM compiles in parallel.
        loads: For each instance, the words of a packed state that its step and the step properties read or change.
        stores: For each instance, the words that its step can change.
        tables: The number of tables.
    """

    texts: tuple[str, ...]
    loads: tuple[tuple[int, ...], ...]
    stores: tuple[tuple[int, ...], ...]
    tables: int


def slice_units(lifted: Lifted, layout: Layout, lanes: int) -> SliceUnits:
    """Return the bit-sliced functions of a model for planes of so many lanes."""
    writer = SliceWriter(lifted, layout, lanes)
    texts = [writer.shared()]
    of_steps, loads, stores = {word for _, word in writer.words}, [], []
    unit, size = [], writer.tables
    for number, action in enumerate(lifted.actions):
        writer.words.clear()
        unit.append(writer.action(number, action))
        read, written = ({word for kind, word in writer.words if kind == which} for which in ("load", "store"))
        loads.append(tuple(sorted(read | written | of_steps)))
        stores.append(tuple(sorted(written)))
        if writer.tables - size > UNIT:
            texts.append("\n".join(unit))
            unit, size = [], writer.tables
    if unit:
        texts.append("\n".join(unit))
    return SliceUnits(tuple(texts), tuple(loads), tuple(stores), writer.tables)


class SliceWriter:
    """Writes the bit-sliced functions of one model.

    Args:
        lifted: The model.
        layout: The layout of its packed states.
        lanes: The lanes of a plane.
    """

    def __init__(self, lifted: Lifted, layout: Layout, lanes: int) -> None:
        self.lifted, self.layout, self.lanes = lifted, layout, lanes
        self.bits = layout.words * WORD
        self.tables = 0
        """The tables written so far."""
        self.words: set[tuple[str, int]] = set()
        """("load" or "store", word) of the packed state, of what was written since this was last cleared."""
        self.rows = WORD * max(1, -(-len(lifted.properties) // WORD))

    def shared(self) -> str:
        """Return everything but the steps of the instances; `words` are then those that step properties read."""
        texts = [self.guards(), self.check()]
        self.words.clear()
        return "\n".join([*texts, *self.check_step(), *self.apply()])

    # Functions.

    def _function(self, head: str, lines: Iterable[str]) -> str:
        return f"define {head} {attributes(self.lanes)} {{\nentry:\n" + "\n".join([*lines, "  ret void", "}", ""])

    def _lines(
        self, gates: TermGates, stores: Iterable[tuple[str, int, Literal]], place: Callable[[int], tuple[str, int]]
    ) -> list[str]:
        emitter = PlaneEmitter(gates.network, self.lanes, place)
        emitter.write(stores)
        self.tables += emitter.tables
        return emitter.lines

    def _gates(self) -> TermGates:
        return TermGates(self.layout, self.bits)

    def _place(self, number: int) -> tuple[str, int]:
        """Return the place of an input of a function over one state."""
        if number == CHOSEN:
            return "%chosen", 0
        self.words.add(("load", number // WORD))
        return "%planes", number

    def guards(self) -> str:
        """Return `slice.guards`."""
        gates, system = self._gates(), FALSE
        guards = [gates.literal(action.guard) for action in self.lifted.actions]
        for action, guard in zip(self.lifted.actions, guards, strict=True):
            if action.instance.action.by.system:
                system = gates.network.disjunction(system, guard)
        stores = [("%out", number, literal) for number, literal in enumerate([*guards, system ^ 1])]
        head = "void @slice.guards(ptr noalias %planes, ptr noalias %out)"
        return self._function(head, self._lines(gates, stores, self._place))

    def _properties(self, gates: TermGates, *, of_steps: bool) -> Iterator[tuple[str, int, Literal]]:
        """Yield the planes of the false row and the premise row."""
        net, quiescent = gates.network, gates.network.input(CHOSEN)
        for one in self.lifted.properties:
            bits = [FALSE, FALSE]
            if (one.prop.kind is Kind.STEP) is of_steps:
                bits = [gates.literal(term) for term in functions.false_and_premise(one, self.lifted.terms)]
            if one.prop.kind is Kind.WHEN_QUIESCENT:
                bits = [net.conjunction(quiescent, bit) for bit in bits]
            for first, bit in zip((0, self.rows), bits, strict=True):
                yield "%out", first + one.prop.index, bit

    def check(self) -> str:
        """Return `slice.check`."""
        gates = self._gates()
        head = "void @slice.check(ptr noalias %planes, ptr noalias %chosen, ptr noalias %out)"
        return self._function(head, self._lines(gates, self._properties(gates, of_steps=False), self._place))

    def check_step(self) -> Iterator[str]:
        """Yield `slice.check_step` and `slice.save`."""
        gates = self._gates()
        saved: dict[int, int] = {}

        def place(number: int) -> tuple[str, int]:
            self.words.add(("load", number % self.bits // WORD))
            if number >= self.bits:
                return "%planes", number - self.bits
            return "%before", saved.setdefault(number, len(saved))

        head = "void @slice.check_step(ptr noalias %before, ptr noalias %planes, ptr noalias %out)"
        yield self._function(head, self._lines(gates, self._properties(gates, of_steps=True), place))
        copies = [("%before", at, gates.network.input(number)) for number, at in saved.items()]
        lines = self._lines(gates, copies, lambda number: ("%planes", number))
        yield self._function("void @slice.save(ptr noalias %planes, ptr noalias %before)", lines)

    # Steps.

    def apply(self) -> Iterator[str]:
        """Yield `slice.apply`, which calls `slice.apply.N`, and the declarations of these."""
        numbers, parameters = range(len(self.lifted.actions)), "ptr %planes, ptr %chosen, ptr %out"
        yield from (f"declare void @slice.apply.{n}({parameters})" for n in numbers)
        jumps = " ".join(f"i64 {n}, label %c{n}" for n in numbers)
        lines = [f"  switch i64 %instance, label %none [ {jumps} ]"]
        for n in numbers:
            lines += [f"c{n}:", f"  call void @slice.apply.{n}({parameters})", "  ret void"]
        yield self._function(f"void @slice.apply(i64 %instance, {parameters})", [*lines, "none:"])

    def action(self, number: int, action: LiftedAction) -> str:
        """Return `slice.apply.N`: side conditions in order, then the effect in the lanes that are left."""
        gates = self._gates()
        net = gates.network
        taken, failed = net.input(CHOSEN), FALSE
        hits = dict.fromkeys(self.lifted.bounds, FALSE)
        for one in action.side_conditions:
            condition = gates.literal(one.condition)
            here, taken = net.conjunction(taken, condition), net.conjunction(taken, condition ^ 1)
            if one.kind is ConditionKind.BOUND:
                hits[one.name] = net.disjunction(hits[one.name], here)
            else:
                failed = net.disjunction(failed, here)
        new, changed = {}, FALSE
        for leaf, term in action.updates.items():
            low, width = self.layout.lows[leaf], self.layout.widths[leaf]
            bits = gates.bits(term) if term.is_bool else gates.above(term, low, width)
            for place, bit in enumerate(bits[:width], self.layout.offsets[leaf]):
                after = net.choice(taken, bit, net.input(place))
                if after != net.input(place):
                    new[place] = after
                    changed = net.disjunction(changed, net.difference(after, net.input(place)))
        self.words |= {("store", place // WORD) for place in new}
        stores = [("%out", n, bit) for n, bit in enumerate((taken, failed, changed, *hits.values()))]
        stores += [("%planes", place, bit) for place, bit in new.items()]
        head = f"void @slice.apply.{number}(ptr noalias %planes, ptr noalias %chosen, ptr noalias %out)"
        return self._function(head, self._lines(gates, stores, self._place))


__all__ = ["SliceUnits", "slice_units"]
