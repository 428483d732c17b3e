"""A kernel that executes plain Python: slow, and right by definition. Engines are tested against it.

`lies` replace single answers, to see what engines do when a kernel is wrong.
"""

from __future__ import annotations

from collections.abc import Callable

from kwalk.model.language import Model, Vector
from kwalk.search.kernel.interface import Kernel
from kwalk.search.kernel.interpreted import InterpretedFunctions, interpreted_kernel
from kwalk.search.kernel.interpreter import Visit

LIE = Callable[[str, Vector, Vector], Vector]


def plain_kernel(model: Model, *, word_bits: int = 63, lie: LIE | None = None) -> Kernel:
    """The kernel of a model, with at most `word_bits` bits in a word; `lie(action, before, after)` may change steps."""
    return interpreted_kernel(model, _Lying(model, word_bits, lie))


class _Lying(InterpretedFunctions):
    def __init__(self, model: Model, word_bits: int, lie: LIE | None) -> None:
        super().__init__(model, word_bits)
        self.lie = lie

    def step(self, visit: Visit, number: int) -> Vector | int:
        after = super().step(visit, number)
        if self.lie is None or isinstance(after, int):
            return after
        return self.lie(self.model.instances[number].key, visit.vector, after)
