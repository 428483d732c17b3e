"""Random statements, of the forms that `docs/reference/language.md` lists."""

from __future__ import annotations

import random
from collections.abc import Iterator

from tests.fuzz.expressions import DEPTH, Expressions, GenerationScope
from tests.fuzz.schema import (
    ArrayType,
    BoolType,
    ClassType,
    EnumType,
    FifoType,
    FreshType,
    GeneratedType,
    IntType,
    OptType,
    PathText,
    RecordSetType,
    SetType,
    SomeRecordsType,
    expanded,
)

SCALARS = (IntType, BoolType, EnumType, OptType, SetType)
STEP = "    "


def is_value(kind: GeneratedType) -> bool:
    """Return whether a type's values never change: scalars, sets and records."""
    if isinstance(kind, OptType):
        return is_value(kind.inner)
    return isinstance(kind, SCALARS) or (isinstance(kind, ClassType) and not kind.is_mutable)


class Statements:
    """Writes blocks of statements.

    Args:
        rng: The source of all choices.
        scope: What they can read and write.
        writers: Calls of helper functions that write, as text; those that may abort begin with "!".
    """

    def __init__(self, rng: random.Random, scope: GenerationScope, writers: tuple[str, ...] = ()) -> None:
        self.rng, self.scope, self.writers = rng, scope, writers
        self.write = Expressions(rng, scope)
        self.in_loop = self.in_try = 0
        forms = [name for name in dir(type(self)) if name.startswith("_do_")]
        self._forms = [getattr(self, name) for name in forms if rng.random() > 0.25]
        self._forms += [self._do_move, self._do_move, self._do_move, self._do_assign]

    def block(self, depth: int, most: int = 3) -> list[str]:
        """Return the lines of a block. Variables that it binds are known in it only."""
        known, lines = len(self.scope.variables), []
        for _ in range(self.rng.randint(1, most)):
            lines += self._statement(depth)
        del self.scope.variables[known:]
        return lines or ["pass"]

    def body(self, most: int = 4) -> list[str]:
        """Return the lines of a function: guards first, then effects."""
        lines = []
        for _ in range(self.rng.choice((0, 0, 1))):
            lines += self._local()
        for _ in range(self.rng.choice((0, 0, 0, 1, 1, 2))):
            guard = f"require({self.write.condition(self.rng.choice((1, 1, 2, DEPTH)))})"
            flag = self.rng.choice(("ON", "OFF", 'MODE == "old"', "not ON"))
            lines += [f"if {flag}:", STEP + guard] if self.rng.random() < 0.1 else [guard]
        moves = self._do_move(0) if self.rng.random() < 0.6 else []
        return lines + moves + self.block(2, most)

    def _statement(self, depth: int) -> list[str]:
        for _ in range(6):
            found = self.rng.choice(self._forms)(depth)
            if found:
                return list(found)
        return self._do_assign(depth) or ["pass"]

    # Writes.

    def _target(self, *kinds: type) -> PathText | None:
        """Return a place that can be written; rarely one whose flag is off."""
        fits = [
            path
            for path in [*self.scope.paths, *self.scope.variables]
            if path.is_writable
            and isinstance(path.type, kinds)
            and ("." in path.text or "[" in path.text)
            and (not path.is_fixed or self.write.risky())
        ]
        if not fits:
            return None
        chosen = self.rng.choice(fits)
        text = self.write.indexed(chosen.text)
        return PathText(text, chosen.type, chosen.is_fixed, chosen.is_writable, chosen.bound)

    def _value_target(self) -> PathText | None:
        for _ in range(4):
            found = self._target(*SCALARS, ClassType)
            if found is not None and is_value(found.type):
                return found
        return None

    def _do_assign(self, depth: int) -> list[str]:
        found = self._value_target()
        return [] if found is None else [f"{found.text} = {self._fitting(found)}"]

    def _fitting(self, target: PathText) -> str:
        """Return a value for a place; one that a bound limits may exceed it."""
        if target.bound and isinstance(target.type, IntType) and self.rng.random() < 0.3:
            value = self.write.int_of(target.type.low, target.type.high, 2)
            return f"{value} - 1" if target.type.low < 0 and self.rng.random() < 0.5 else f"{value} + 1"
        return self.write.of(target.type, DEPTH)

    def _do_move(self, depth: int) -> list[str]:
        """A write that changes a value, so that behaviours get on."""
        found = self._value_target()
        if found is None:
            return []
        text, kind = found.text, found.type
        if isinstance(kind, BoolType):
            return [f"{text} = not {text}"]
        if isinstance(kind, IntType):
            return [f"{text} = ({text} - {kind.low} + 1) % {kind.high - kind.low + 1} + {kind.low}"]
        if isinstance(kind, EnumType):
            return [f"{text} = {kind.name}.{self.rng.choice(kind.members)}"]
        if isinstance(kind, OptType):
            return [f"{text} = {self.write.of(kind.inner, 1)} if {text} is None else None"]
        if isinstance(kind, SetType):
            return [f"{text} = {text} ^ {{{self.write.index(kind.size)}}}"]
        return [f"{text} = {self.write.of(kind, 1)}"]

    def _do_augmented(self, depth: int) -> list[str]:
        found = self._target(IntType, SetType)
        if found is None:
            return []
        if isinstance(found.type, SetType):
            some = self.write.set_of(found.type.domain, found.type.size, 2)
            return [f"{found.text} {self.rng.choice(('|', '&', '-', '^'))}= {some}"]
        assert isinstance(found.type, IntType)
        if found.bound or self.write.risky():
            sign = self.rng.choice("+-") if found.type.low < 0 else "+"
            return [f"{found.text} {sign}= {self.rng.choice(('1', '1', self.write.int_of(0, 2, 1)))}"]
        low, high = found.type.low, found.type.high
        change = self.rng.choice(("+=", "-="))
        limit = f"{found.text} < {high}" if change == "+=" else f"{found.text} > {low}"
        return [f"if {limit}:", f"{STEP}{found.text} {change} 1"]

    def _do_pair(self, depth: int) -> list[str]:
        a, b = self._value_target(), self._value_target()
        return [] if a is None or b is None else [f"{a.text}, {b.text} = {self._fitting(a)}, {self._fitting(b)}"]

    def _do_copy(self, depth: int) -> list[str]:
        """A write of a whole object, array or queue, which copies its content."""
        found = self._target(ClassType, ArrayType, FifoType, RecordSetType)
        if found is None or is_value(found.type) or found.is_fixed:
            return []
        other = self.write.find(lambda kind: kind == found.type)
        return [] if other is None or other.is_fixed else [f"{found.text} = {other.text}"]

    def _do_queue(self, depth: int) -> list[str]:
        found = self._target(FifoType)
        if found is None or not isinstance(found.type, FifoType):
            return []
        element = self.write.of(found.type.element, 2)
        pop = [f"if not {found.text}.is_empty:", f"{STEP}{found.text}.pop()"]
        return self.rng.choice(
            (
                [f"{found.text}.push({element})"],
                [f"{found.text}.push({element})"],
                pop,
                [f"{found.text}.clear()"],
                [f"{found.text}.pop()"] if self.write.risky() else pop,
            )
        )

    def _do_sequence(self, depth: int) -> list[str]:
        """A write of an element of a queue, or of the whole queue."""
        found = self._target(FifoType)
        if found is None or not isinstance(found.type, FifoType):
            return []
        element, queue = self.write.of(found.type.element, 1), self.write.queue(found, 2)
        position = self.rng.choice(("0", "1", "-1")) if not self.write.risky() else self.write.number(0)[0]
        at = [f"if len({found.text}) > {max(int(position), 0)}:" if position in ("0", "1", "-1") else "if True:"]
        if isinstance(found.type.element, IntType) and self.rng.random() < 0.3 and self.write.risky():
            at += [f"{STEP}{found.text}[{position}] += 1"]
        else:
            at += [f"{STEP}{found.text}[{position}] = {element}"]
        return self.rng.choice(
            (
                at,
                at,
                [f"{found.text} = {queue}"],
                [f"{found.text} = {queue}"],
                [f"{found.text} += [{element}]"],
                [f"{found.text} = {self._filtered(found.text, found.type)}"],
                [f"{found.text} = {self.rng.choice(('[]', '()', f'[{element}]', f'({element},)'))}"],
            )
        )

    def _filtered(self, text: str, kind: FifoType) -> str:
        """Return a list or tuple of some elements of a queue."""
        name = self.write.fresh_name()
        with self.scope.binding(*expanded(PathText(name, kind.element, is_writable=False))):
            inner = f"{name} for {name} in {text} if {self.write.condition(2)}"
        return f"[{inner}]" if self.rng.random() < 0.7 else f"tuple({inner})"

    def _do_pop_into(self, depth: int) -> list[str]:
        found = self._target(FifoType)
        if found is None or not isinstance(found.type, FifoType):
            return []
        name, element = self.write.fresh_name("v"), found.type.element
        lines = [f"if not {found.text}.is_empty:", f"{STEP}{name} = {found.text}.pop()"]
        with self.scope.binding(*expanded(PathText(name, element, is_writable=False))):
            return lines + [STEP + line for line in self.block(0, 2)]

    def _do_records(self, depth: int) -> list[str]:
        """A change of a set of records in place, or a write of a whole set."""
        found = self._target(RecordSetType)
        if found is None or not isinstance(found.type, RecordSetType):
            return []
        cls = self.rng.choice(found.type.classes)
        item, some = self.write.record(cls, 2), self.write.records_of(cls, 2)
        remove = [f"if {item} in {found.text}:", f"{STEP}{found.text}.remove({item})"]
        if found.type.most and not self.write.risky() and found.type.most != "CAP":  # more than fit are an error
            smaller = self.write.records_of(cls, 1)
            return self.rng.choice(
                (
                    [f"if len({found.text}) < {found.type.most}:", f"{STEP}{found.text}.add({item})"],
                    [f"{found.text} = {{{item}}}"],
                    [f"{found.text} &= {some}"],
                    [f"{found.text} -= {some}"],
                    remove,
                    [f"if len({smaller}) <= {found.type.most}:", f"{STEP}{found.text} = {smaller}"],
                    [f"{found.text}.discard({item})"],
                    [f"{found.text}.clear()"],
                )
            )
        change = self.rng.choice(("|=", "&=", "-=", "^="))
        return self.rng.choice(
            (
                [f"{found.text}.add({item})"],
                [f"{found.text}.add({item})"],
                [f"{found.text}.discard({item})"],
                remove,
                [f"{found.text}.remove({item})"] if self.write.risky() else remove,
                [f"{found.text}.update({some})"],
                [f"{found.text} {change} {some}"],
                [f"{found.text} = {some}"],
                [f"{found.text}.clear()"],
            )
        )

    def _do_some_records(self, depth: int) -> list[str]:
        """Bind a name to a set of records that is a value."""
        found = self.write.find(lambda kind: isinstance(kind, RecordSetType))
        if found is None or not isinstance(found.type, RecordSetType):
            return []
        cls, name = self.rng.choice(found.type.classes), self.write.fresh_name("v")
        line = f"{name} = {{x for x in {found.text} if isinstance(x, {cls.name})}} | {self.write.records_of(cls, 1)}"
        self.scope.variables.append(PathText(name, SomeRecordsType(cls), is_writable=False))
        return [line]

    def _do_take(self, depth: int) -> list[str]:
        found = self._target(FreshType)
        if found is None or not isinstance(found.type, FreshType):
            return []
        into = self._target(IntType, OptType)
        size = found.type.size
        kind = None if into is None else into.type.inner if isinstance(into.type, OptType) else into.type
        if into is not None and isinstance(kind, IntType) and kind.low <= 0 and kind.high >= size - 1:
            return [f"{into.text} = {found.text}.take()"]
        return [f"{found.text}.take()"]

    def _do_call(self, depth: int) -> list[str]:
        quiet = [text for text in self.writers if not text.startswith("!")]
        return [self.write.indexed(self.rng.choice(quiet))] if quiet else []

    def _do_method(self, depth: int) -> list[str]:
        found = self._target(ClassType)
        if found is None or found.is_fixed or not isinstance(found.type, ClassType) or not found.type.is_mutable:
            return []
        return [] if found.type.name == "S" else [f"{found.text}.change({self.write.boolean(1)})"]

    def _do_try(self, depth: int) -> list[str]:
        if self.in_try > 1:
            return []
        self.in_try += 1
        lines = self._try()
        self.in_try -= 1
        return lines

    def _try(self) -> list[str]:
        loud = [text[1:] for text in self.writers if text.startswith("!")]
        inner = [self.write.indexed(self.rng.choice(loud))] if loud else [*self.block(0, 1), "raise Stop"]
        if not loud and self.rng.random() < 0.7:
            inner = [*inner[:-1], f"if {self.write.condition(1)}:", f"{STEP}raise Halt", *self.block(0, 1)]
        kind = self.rng.choice(("Stop", "Stop", "Halt"))
        handler = self.block(0, 2)
        return ["try:", *(STEP + line for line in inner), f"except {kind}:", *(STEP + line for line in handler)]

    def _do_raise(self, depth: int) -> list[str]:
        if self.rng.random() < 0.5:
            return []
        return [f"if {self.write.condition(1)}:", f"{STEP}raise {self.rng.choice(('Stop', 'Halt'))}"]

    def _do_assert(self, depth: int) -> list[str]:
        condition = self.write.boolean(1)
        return [f"assert {condition}" if self.write.risky() else f"assert {condition} or True"]

    def _do_return(self, depth: int) -> list[str]:
        return [f"if {self.write.condition(2)}:", f"{STEP}return"] if self.rng.random() < 0.5 else []

    def _do_pass(self, depth: int) -> list[str]:
        return ["pass"] if self.rng.random() < 0.2 else []

    def _do_local(self, depth: int) -> list[str]:
        return self._local()

    def _local(self) -> list[str]:
        """Bind a name: to a value, or to an object of the state."""
        name = self.write.fresh_name("v")
        found = self.write.find(lambda kind: not isinstance(kind, (FreshType, SomeRecordsType)))
        if found is None:
            return []
        if is_value(found.type):
            value = self.write.of(found.type, 2)
            kind: GeneratedType = found.type
            lines = [f"{name} = {value}"]
            if self.rng.random() < 0.3:
                lines += [f"if {self.write.condition(1)}:", f"{STEP}{name} = {self.write.of(kind, 1)}"]
            if isinstance(kind, IntType) and self.write.scope.risk:
                kind = IntType(-9, 9)
            self.scope.variables.append(PathText(name, kind, is_writable=False))
            return lines
        self.scope.variables.extend(expanded(PathText(name, found.type, found.is_fixed, found.is_writable)))
        return [f"{name} = {found.text}"]

    # Branches and loops.

    def _do_if(self, depth: int) -> list[str]:
        if depth == 0:
            return []
        lines = [f"if {self.write.condition()}:", *self._indented(depth - 1)]
        if self.rng.random() < 0.3:
            lines += [f"elif {self.write.condition()}:", *self._indented(depth - 1)]
        if self.rng.random() < 0.4:
            lines += ["else:", *self._indented(depth - 1)]
        return lines

    def _indented(self, depth: int, most: int = 2) -> list[str]:
        return [STEP + line for line in self.block(depth, most)]

    def _do_for(self, depth: int) -> list[str]:
        if depth == 0 or self.in_loop > 1:
            return []
        header, bound = self._header()
        self.in_loop += 1
        with self.scope.binding(*bound):
            lines = list(self._jumping(depth))
        self.in_loop -= 1
        return [f"for {header}:", *lines]

    def _jumping(self, depth: int) -> Iterator[str]:
        """Yield the lines of a loop's body, with break and continue."""
        yield from self._indented(depth - 1)
        for word in ("continue", "break"):
            if self.rng.random() < 0.35:
                yield f"{STEP}if {self.write.condition(2)}:"
                if self.rng.random() < 0.5:
                    yield from (STEP + line for line in self._indented(0, 1))
                yield f"{STEP}{STEP}{word}"
                yield from self._indented(depth - 1, 1)

    def _header(self) -> tuple[str, tuple[PathText, ...]]:
        """Return `target in iterable`, and the variables that the loop binds."""
        rng, name, other = self.rng, self.write.fresh_name("i"), self.write.fresh_name("i")
        domain, size = rng.choice(list(self.scope.schema.domains.items()))
        member = PathText(name, IntType(0, size - 1))
        array = self.write.find(lambda kind: isinstance(kind, ArrayType))
        queue = self.write.find(lambda kind: isinstance(kind, FifoType))
        simple: list[tuple[str, tuple[PathText, ...]]] = [
            (f"{name} in {domain}", (member,)),
            (f"{name} in range({size})", (member,)),
            (f"{name} in sorted({self.write.set_of(domain, size, 2)})", (member,)),
            (f"{name} in sorted({self.write.set_of(domain, size, 1)}, reverse=True)", (member,)),
            (f"{name} in reversed(range({size}))", (member,)),
            (f"{name} in (0, {size - 1})", (member,)),
        ]
        records = self.write.find(lambda kind: isinstance(kind, RecordSetType) and len(kind.classes) == 1)
        if records is not None and isinstance(records.type, RecordSetType):
            item = PathText(name, records.type.classes[0], is_writable=False)
            simple += [(f"{name} in {records.text}", expanded(item))] * 3
        if queue is not None and isinstance(queue.type, FifoType):
            item = PathText(name, queue.type.element, is_writable=False)
            simple.append((f"{name} in {queue.text}", expanded(item)))
            place = PathText(other, IntType(0, 2))
            simple += [
                (f"{name} in {self.write.queue(queue, 2)}", expanded(item)),
                (f"{name} in reversed({queue.text})", expanded(item)),
                (f"{name} in range(len({queue.text}))", (PathText(name, IntType(0, 4)),)),
                (f"{other}, {name} in enumerate({self._filtered(queue.text, queue.type)})", (place, *expanded(item))),
                (f"{other}, {name} in enumerate({queue.text})", (place, *expanded(item))),
                (f"{other}, {name} in zip({domain}, {queue.text})", (PathText(other, member.type), *expanded(item))),
            ]
        if array is not None and isinstance(array.type, ArrayType):
            items = expanded(PathText(name, array.type.element, array.is_fixed, array.is_writable))
            place = PathText(other, IntType(0, array.type.size - 1))
            simple += [
                (f"{name} in {array.text}", items),
                (f"{other}, {name} in enumerate({array.text})", (place, *items)),
                (f"{name} in reversed({array.text})", items),
                (f"{other}, {name} in zip(range({array.type.size}), {array.text})", (place, *items)),
            ]
        return rng.choice(simple)
