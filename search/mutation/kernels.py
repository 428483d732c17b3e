"""Kernels of mutants: only what a mistake changes is compiled anew; the rest is the model's own object code."""
from __future__ import annotations

from collections.abc import Iterable, Sequence

from model.language import Model
from model.language.lift import Lifted
from search.compile import Compiled, kernel_of
from search.compile.functions import Writer
from search.compile.layout import layout_of
from search.compile.machine_code import object_code
from search.kernel import Kernel


class Foundry:
    """The object code of a model's effects, one unit for each action instance, from which kernels are made."""

    def __init__(self, model: Model, lifted: Lifted) -> None:
        self.model, self.layout = model, layout_of(model.leaves)
        writer = Writer(lifted, self.layout, small=False)
        self.names = writer.names
        texts = [writer.action(number, action) for number, action in enumerate(lifted.actions)]
        self.effects = _compiled(texts)

    def kernel(self, lifted: Lifted, changed: Iterable[int] = ()) -> Kernel:
        """A kernel of the model's lifting, or of one in which the instances of some numbers are others."""
        writer = Writer(lifted, self.layout, small=False, names=self.names)
        changed, effects = list(changed), list(self.effects)
        texts = [writer.action(number, lifted.actions[number]) for number in changed]
        shared = "\n".join([writer.shared(), writer.declarations()])
        *anew, rest = _compiled([*texts, shared])
        for number, code in zip(changed, anew, strict=True):
            effects[number] = code
        return kernel_of(self.model, Compiled((*effects, rest), writer.names.bounds, writer.names.errors))


def _compiled(texts: Sequence[str]) -> list[bytes]:
    """Each text as object code, made in a hurry."""
    return object_code(texts, hurried=True, large=True, apart=True)
