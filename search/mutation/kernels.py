"""Kernels of mutants: only what a mistake changes is compiled anew; the rest is the model's own object code.

Words: the *ways on* are what a step does to guards: which are true in a state, and which may be after a step. They
change with a guard, or with the leaves that an effect writes. The *frame* is what no mistake changes: claims, and how
effects are called.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from model.language import Model
from model.language.lift import Lifted
from search.compile import Compiled, kernel_of
from search.compile.functions import Writer
from search.compile.layout import layout_of
from search.compile.machine_code import object_code
from search.kernel import Kernel


class Foundry:
    """The object code of a model, one unit for each effect, one for the ways on and one for the frame."""

    def __init__(self, model: Model, lifted: Lifted) -> None:
        self.model, self.lifted, self.layout = model, lifted, layout_of(model.leaves)
        writer = Writer(lifted, self.layout, small=False)
        self.names = writer.names
        texts = [writer.action(number, action) for number, action in enumerate(lifted.actions)]
        *self.effects, self.ways_on, self.frame = _compiled([*texts, _ways_on(writer), _frame(writer)])

    def kernel(self, lifted: Lifted, changed: Iterable[int] = ()) -> Kernel:
        """A kernel of the model's lifting, or of one in which the instances of some numbers are others."""
        writer = Writer(lifted, self.layout, small=False, names=self.names)
        changed, effects = list(changed), list(self.effects)
        texts = [writer.action(number, lifted.actions[number]) for number in changed]
        if all(self._goes_on_alike(lifted, number) for number in changed):
            anew, ways_on = _compiled(texts), self.ways_on
        else:
            *anew, ways_on = _compiled([*texts, _ways_on(writer)])
        for number, code in zip(changed, anew, strict=True):
            effects[number] = code
        whole = Compiled((*effects, ways_on, self.frame), writer.names.bounds, writer.names.errors)
        return kernel_of(self.model, whole)

    def _goes_on_alike(self, lifted: Lifted, number: int) -> bool:
        """Whether an instance has the guard of the model's own, and writes the same leaves."""
        one, other = self.lifted.actions[number], lifted.actions[number]
        return one.guard is other.guard and one.writes == other.writes


def _ways_on(writer: Writer) -> str:
    return "\n".join([writer.guards(), writer.advances(), writer.declarations()])


def _frame(writer: Writer) -> str:
    guards = "declare void @guards(ptr, ptr)"
    return "\n".join([writer.expand(), writer.table(), *writer.checks(), writer.declarations(), guards])


CHOICE = re.compile(r"(%\S+) = select i1 (\S+), i1 (\S+), i1 (\S+)")
"""A choice between two truth values: the new name, the condition, what it is then and what else."""
SPELT_OUT = (
    r"\1.no = xor i1 \2, true\n  \1.then = and i1 \2, \3\n  "
    r"\1.else = and i1 \1.no, \4\n  \1 = or i1 \1.then, \1.else"
)


def _compiled(texts: Sequence[str]) -> list[bytes]:
    """Each text as object code, made in a hurry.

    LLVM's fast way to make code has no choices between truth values, and goes back to the slow one for all that stands
    before such a choice: written as `and` and `or`, effects are compiled in a third of the time.
    """
    return object_code([CHOICE.sub(SPELT_OUT, text) for text in texts], hurried=True, large=True, apart=True)
