"""The functions of a kernel as LLVM text: guards, apply, advance, expand, and the checks (see `interface`).

The code of a model is divided into units that LLVM compiles in parallel. A small model is one unit, in which everything
is inlined into `expand`, `apply` and `advance`.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from kwalk.model.language import Kind
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction, LiftedProperty, Term, Terms, in_order
from kwalk.search.kernel.compile.emitter import Emitter, signed_word
from kwalk.search.kernel.compile.layout import WORD, Layout

SMALL = 4000
"""Models with fewer terms than this are compiled as one unit, with everything inlined."""
UNIT = 6000
"""The number of terms of a unit of a larger model, approximately."""


@frozen
class Names:
    """The names of the bounds and errors, by the numbers that the functions of a kernel return."""

    bounds: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()

    def with_those_of(self, lifted: Lifted) -> Names:
        """Return these names, followed by the other names of a lifted model."""
        bounds, errors = set(lifted.bounds) - {*self.bounds}, set(lifted.errors) - {*self.errors}
        return Names((*self.bounds, *sorted(bounds)), (*self.errors, *sorted(errors)))


NO_NAMES = Names()


@frozen
class Unit:
    """A piece of LLVM text that is compiled separately."""

    text: str


def units_of(lifted: Lifted, layout: Layout, *, unoptimized: bool = False) -> list[Unit]:
    """Return all functions of the kernel, divided into units, the largest first.

    Args:
        lifted: The lifted model.
        layout: The layout of its states.
        unoptimized: Whether the units are compiled without optimization.
    """
    writer = Writer(lifted, layout, small=len(lifted.terms) < SMALL, unoptimized=unoptimized)
    pieces = [(len(list(in_order(a.roots))), writer.action(n, a)) for n, a in enumerate(lifted.actions)]
    if writer.small:
        return [Unit("\n".join([*(text for _, text in pieces), writer.shared()]))]
    units = [(UNIT, unit_of_all(writer)), *_grouped(pieces)]
    return [unit for _, unit in sorted(units, key=lambda unit: -unit[0]) if unit.text]


def unit_of_all(writer: Writer) -> Unit:
    """Return the unit of a large model that has everything but the effects."""
    return Unit("\n".join([writer.shared(), writer.declarations()]))


def units_of_effects(writer: Writer, actions: Iterable[LiftedAction]) -> list[Unit]:
    """Return the units of a large model that have the effects of some action instances."""
    pieces = [(len(list(in_order(a.roots))), writer.action(a.instance.index, a)) for a in actions]
    return [unit for _, unit in _grouped(pieces) if unit.text]


def _grouped(pieces: Iterable[tuple[int, str]]) -> list[tuple[int, Unit]]:
    """Return units of about UNIT terms, each with its terms, from pieces of text with theirs."""
    units: list[tuple[int, Unit]] = []
    size = 0
    texts: list[str] = []
    for terms, text in sorted(pieces, key=lambda piece: -piece[0]):
        size, texts = size + terms, [*texts, text]
        if size >= UNIT:
            units.append((size, Unit("\n".join(texts))))
            size, texts = 0, []
    return [*units, (size, Unit("\n".join(texts)))]


@frozen
class PropertyBits:
    """The terms of a property's bits in the false and the premise row, and its number."""

    index: int
    false: Term
    premise: Term


class Writer:
    """Writes the functions of one model; those of a `small` model are all in one unit.

    Bounds and errors that are among `names` have the numbers that they have there. For `unoptimized` see `Emitter`.
    """

    def __init__(
        self, lifted: Lifted, layout: Layout, *, small: bool, unoptimized: bool, names: Names = NO_NAMES
    ) -> None:
        self.lifted, self.layout, self.small, self.unoptimized = lifted, layout, small, unoptimized
        self.actions = lifted.actions
        self.names = names.with_those_of(lifted)
        self.bounds = {name: n for n, name in enumerate(self.names.bounds)}
        self.errors = {name: n for n, name in enumerate(self.names.errors)}
        self.rows = -(-len(self.actions) // WORD)
        self._readers: dict[frozenset[int], list[int]] = {}

    def _emitter(self, *states: str) -> Emitter:
        return Emitter(self.layout, states, unoptimized=self.unoptimized)

    def _function(self, head: str, emitter: Emitter) -> str:
        return f"define {head} {{\nentry:\n" + "\n".join(emitter.lines) + "\n}\n"

    def shared(self) -> str:
        """Everything but the effects."""
        return "\n".join([self.guards(), self.expand(), self.table(), self.advances(), *self.checks()])

    # Guards.

    def guards(self) -> str:
        """`guards(state, row)`."""
        e = self._emitter("%state")
        self._store_row(e, [(n, a.guard) for n, a in enumerate(self.actions)], "%row", keep=None)
        e.do("ret void")
        return self._function("void @guards(ptr noalias readonly %state, ptr noalias %row) nounwind", e)

    def _store_row(self, e: Emitter, bits: list[tuple[int, Term]], row: str, keep: int | None) -> None:
        """Write truth values as bits of a row; with `keep`, only words that have such bits, and other bits stay."""
        words: dict[int, list[tuple[int, str]]] = {} if keep is not None else {word: [] for word in range(self.rows)}
        for (n, _), name in zip(bits, e.values(term for _, term in bits), strict=True):
            words.setdefault(n // WORD, []).append((n, name))
        for index, mine in words.items():
            at = e.op(f"getelementptr i64, ptr {row}, i64 {index}")
            word = "0"
            if keep is not None:
                mask = sum(1 << (n % WORD) for n, _ in mine)
                word = e.op(f"and i64 {e.op(f'load i64, ptr {at}')}, {signed_word(~mask)}")
            e.do(f"store i64 {self._with_bits(e, word, mine)}, ptr {at}")

    @staticmethod
    def _with_bits(e: Emitter, word: str, bits: Iterable[tuple[int, str]]) -> str:
        for n, name in bits:
            wide = e.op(f"zext i1 {name} to i64")
            shifted = e.op(f"shl i64 {wide}, {n % WORD}") if n % WORD else wide
            word = e.op(f"or i64 {word}, {shifted}")
        return word

    def advances(self) -> str:
        """Return `advance(instance, before, after, row)`: a switch to a function per instance."""
        texts = [self._advance(n, action) for n, action in enumerate(self.actions)]
        cases = [(n, f"advance.{n}") for n in range(len(self.actions))]
        parameters = "ptr %before, ptr %after, ptr %row"
        return "\n".join([*texts, self._switch("advance", parameters, cases, result=True)])

    def _advance(self, number: int, action: LiftedAction) -> str:
        """Return `advance.N(before, after, row)`: `apply.N`, and the guards that it can change."""
        changed = self._guards_that_read(frozenset(action.writes))
        e = self._emitter("%after")
        e.do(f"%code = call i64 @apply.{number}(ptr %before, ptr %after)")
        e.do("%done = icmp eq i64 %code, 0")
        e.do("br i1 %done, label %changed, label %end")
        e.label("changed")
        if len(changed) > 0.6 * len(self.actions):
            e.do("call void @guards(ptr %after, ptr %row)")
        elif changed:
            self._store_row(e, [(m, self.actions[m].guard) for m in changed], "%row", keep=1)
        e.do("br label %end")
        e.label("end")
        e.do("ret i64 %code")
        inline = " alwaysinline" if self.small else ""
        parameters = "ptr noalias %before, ptr noalias %after, ptr noalias %row"
        return self._function(f"internal i64 @advance.{number}({parameters}) nounwind{inline}", e)

    def _guards_that_read(self, leaves: frozenset[int]) -> list[int]:
        """Return the numbers of the guards that read one of these leaves."""
        if leaves not in self._readers:
            self._readers[leaves] = [m for m, reads in enumerate(self.lifted.guard_reads) if reads & leaves]
        return self._readers[leaves]

    def _switch(self, name: str, parameters: str, cases: list[tuple[int, str]], *, result: bool) -> str:
        """Return a function that calls another one by the number of an instance."""
        kind, empty = ("i64", "ret i64 -1") if result else ("void", "ret void")
        lines = [f"define {kind} @{name}(i64 %instance, {parameters}) nounwind {{", "entry:"]
        jumps = " ".join(f"i64 {n}, label %c{n}" for n, _ in cases)
        lines.append(f"  switch i64 %instance, label %none [ {jumps} ]")
        for n, target in cases:
            call = f"call {kind} @{target}({parameters})"
            lines += [f"c{n}:", *([f"  %r{n} = {call}", f"  ret i64 %r{n}"] if result else [f"  {call}", "  ret void"])]
        return "\n".join([*lines, "none:", f"  {empty}", "}", ""])

    # Effects.

    def action(self, number: int, action: LiftedAction) -> str:
        """`apply.N(before, after)`: side conditions in order, then the effect."""
        e = self._emitter("%before")
        e.load_all()
        for n, one in enumerate(action.side_conditions):
            code = self.bounds[one.name] + 1 if one.kind is ConditionKind.BOUND else -(self.errors[one.name] + 1)
            condition = e.value(one.condition)
            e.do(f"br i1 {condition}, label %stopped{n}, label %next{n}")
            e.label(f"stopped{n}")
            e.do(f"ret i64 {code}")
            e.label(f"next{n}")
        e.store_updates(action.updates, "%after")
        e.do("ret i64 0")
        linkage = "internal " if self.small else ""
        inline = " alwaysinline" if self.small else ""
        head = f"{linkage}i64 @apply.{number}(ptr noalias readonly %before, ptr noalias %after) nounwind{inline}"
        return self._function(head, e)

    def declarations(self) -> str:
        """Return the declarations of the effects for another unit."""
        return "\n".join(f"declare i64 @apply.{n}(ptr, ptr)" for n in range(len(self.actions)))

    def table(self) -> str:
        """Return `apply(instance, before, after)`."""
        cases = [(n, f"apply.{n}") for n in range(len(self.actions))]
        return self._switch("apply", "ptr %before, ptr %after", cases, result=True)

    def expand(self) -> str:
        """Return `expand(state, row, successors, instances, hits)`: every enabled effect in instance order."""
        lines = ["  call void @guards(ptr %state, ptr %row)"]
        previous, count = "entry", "0"
        for n in range(len(self.actions)):
            lines += self._expand_one(n, previous, count)
            previous, count = f"join{n}", f"%count{n}"
        head = "i64 @expand(ptr %state, ptr %row, ptr %successors, ptr %instances, ptr %hits) nounwind"
        return f"define {head} {{\nentry:\n" + "\n".join([*lines, f"  ret i64 {count}", "}", ""])

    def _expand_one(self, n: int, previous: str, count: str) -> list[str]:
        stride = self.layout.words
        return [
            f"  %w{n} = getelementptr i64, ptr %row, i64 {n // WORD}",
            f"  %v{n} = load i64, ptr %w{n}",
            f"  %b{n} = and i64 %v{n}, {signed_word(1 << (n % WORD))}",
            f"  %g{n} = icmp ne i64 %b{n}, 0",
            f"  br i1 %g{n}, label %do{n}, label %join{n}",
            f"do{n}:",
            f"  %o{n} = mul i64 {count}, {stride}",
            f"  %p{n} = getelementptr i64, ptr %successors, i64 %o{n}",
            f"  %r{n} = call i64 @apply.{n}(ptr %state, ptr %p{n})",
            f"  %f{n} = icmp eq i64 %r{n}, 0",
            f"  br i1 %f{n}, label %done{n}, label %owed{n}",
            f"done{n}:",
            f"  %i{n} = getelementptr i32, ptr %instances, i64 {count}",
            f"  store i32 {n}, ptr %i{n}",
            f"  %more{n} = add i64 {count}, 1",
            f"  br label %join{n}",
            f"owed{n}:",
            f"  %e{n} = icmp slt i64 %r{n}, 0",
            f"  br i1 %e{n}, label %error{n}, label %hit{n}",
            f"error{n}:",
            f"  ret i64 %r{n}",
            f"hit{n}:",
            f"  %k{n} = sub i64 %r{n}, 1",
            f"  %h{n} = getelementptr i64, ptr %hits, i64 %k{n}",
            f"  %x{n} = load i64, ptr %h{n}",
            f"  %y{n} = add i64 %x{n}, 1",
            f"  store i64 %y{n}, ptr %h{n}",
            f"  br label %join{n}",
            f"join{n}:",
            f"  %count{n} = phi i64 [ {count}, %{previous} ], [ %more{n}, %done{n} ], [ {count}, %hit{n} ]",
        ]

    # Properties.

    def checks(self) -> list[str]:
        """Return `check`, `check_step` and `check_awaited`."""
        properties = self.lifted.properties
        now = [c for c in properties if c.prop.kind not in (Kind.WHEN_QUIESCENT, Kind.STEP)]
        quiescent = [c for c in properties if c.prop.kind is Kind.WHEN_QUIESCENT]
        steps = [c for c in properties if c.prop.kind is Kind.STEP]
        awaited = [c for c in properties if c.prop.kind.is_liveness]
        parameters = "ptr %state, ptr %false_row, ptr %premise_row"
        check = [
            "define void @check(ptr %state, i64 %quiescent, ptr %false_row, ptr %premise_row) nounwind {",
            "entry:",
            f"  call void @check.always({parameters})",
            "  %is_quiescent = icmp ne i64 %quiescent, 0",
            "  br i1 %is_quiescent, label %more, label %end",
            "more:",
            f"  call void @check.quiescent({parameters})",
            "  br label %end",
            "end:",
            "  ret void",
            "}",
        ]
        two = "ptr %before, ptr %after, ptr %false_row, ptr %premise_row"
        return [
            self._properties(f"internal void @check.always({parameters})", map(self._checked, now), "%state"),
            self._properties(
                f"internal void @check.quiescent({parameters})", map(self._checked, quiescent), "%state", fresh=False
            ),
            "\n".join(check),
            self._properties(f"void @check_step({two})", map(self._checked, steps), "%before", "%after"),
            self._properties(f"void @check_awaited({parameters})", map(self._awaited, awaited), "%state"),
        ]

    def _checked(self, prop: LiftedProperty) -> PropertyBits:
        false, premise = false_and_premise(prop, self.lifted.terms)
        return PropertyBits(prop.prop.index, false, premise)

    def _awaited(self, prop: LiftedProperty) -> PropertyBits:
        return PropertyBits(prop.prop.index, self.lifted.terms.negation(prop.truth), prop.premise)

    def _properties(self, head: str, properties: Iterable[PropertyBits], *states: str, fresh: bool = True) -> str:
        """Return a function that writes (without `fresh`: adds to) the false and premise rows of some properties."""
        e, written = self._emitter(*states), list(properties)
        rows = {"%false_row": [one.false for one in written], "%premise_row": [one.premise for one in written]}
        for row, meaning in rows.items():
            bits = [(one.index, name) for one, name in zip(written, e.values(meaning), strict=True)]
            for index in range(max(1, -(-len(self.lifted.properties) // WORD))):
                mine = [(n, name) for n, name in bits if n // WORD == index]
                at = e.op(f"getelementptr i64, ptr {row}, i64 {index}")
                word = "0" if fresh else e.op(f"load i64, ptr {at}")
                e.do(f"store i64 {self._with_bits(e, word, mine)}, ptr {at}")
        e.do("ret void")
        return self._function(f"{head} nounwind", e)


def false_and_premise(prop: LiftedProperty, t: Terms) -> tuple[Term, Term]:
    """Return the terms of the two bits that `check` or `check_step` writes of a property."""
    failed = t.disjunction(o.condition for o in prop.errors)
    if prop.prop.kind.is_liveness:
        return failed, t.false
    wrong = prop.truth if prop.prop.kind is Kind.REACHABLE else t.negation(prop.truth)
    return t.conjunction((prop.premise, t.disjunction((failed, wrong)))), t.conjunction(
        (prop.premise, t.negation(failed))
    )
