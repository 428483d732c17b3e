"""How a state's leaves are packed into 64-bit words.

A leaf that can hold k different numbers takes as many bits as k - 1 needs; no leaf straddles two words. Leaves stay in
vector order, except that those which do not fit into the rest of a word leave it to later, narrower ones.
"""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from model.language.shapes import Leaf

WORD = 64


@frozen(eq=False)
class Layout:
    """Bit offset, width and least number of every leaf, and how many words a state has (at least one)."""

    words: int
    offsets: tuple[int, ...]
    widths: tuple[int, ...]
    lows: tuple[int, ...]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Offsets, widths and lows as int64 arrays."""
        return tuple(np.array(part, np.int64) for part in (self.offsets, self.widths, self.lows))  # type: ignore[return-value]


def layout_of(leaves: Sequence[Leaf]) -> Layout:
    """The packing of a state with these leaves."""
    widths = [(leaf.high - leaf.low).bit_length() for leaf in leaves]
    filled: list[int] = []
    offsets = []
    for width in widths:
        word = next((w for w, bits in enumerate(filled) if bits + width <= WORD), None)
        if word is None:
            filled.append(0)
            word = len(filled) - 1
        offsets.append(word * WORD + filled[word] if width else 0)
        filled[word] += width
    return Layout(max(1, len(filled)), tuple(offsets), tuple(widths), tuple(leaf.low for leaf in leaves))
