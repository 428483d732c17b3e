"""The layout of packed states: how leaves are packed into 64-bit words.

A leaf with k different values takes as many bits as the number k - 1. No leaf straddles two words. Each leaf goes into
the first word with enough free bits, in the order of the vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from attrs import frozen

from kwalk.model.language.shapes import Leaf

WORD = 64


@frozen(eq=False)
class Layout:
    """The bit offset, width and least value of every leaf, and the number of words of a state, at least one."""

    words: int
    offsets: tuple[int, ...]
    widths: tuple[int, ...]
    lows: tuple[int, ...]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return offsets, widths and lows as int64 arrays."""
        return tuple(np.array(part, np.int64) for part in (self.offsets, self.widths, self.lows))  # type: ignore[return-value]


def layout_of(leaves: Sequence[Leaf], word_bits: int = WORD) -> Layout:
    """Return the layout of states with these leaves; `word_bits` of each word are used."""
    widths = [(leaf.high - leaf.low).bit_length() for leaf in leaves]
    filled: list[int] = []
    offsets = []
    for width in widths:
        word = next((w for w, bits in enumerate(filled) if bits + width <= word_bits), None)
        if word is None:
            filled.append(0)
            word = len(filled) - 1
        offsets.append(word * WORD + filled[word] if width else 0)
        filled[word] += width
    return Layout(max(1, len(filled)), tuple(offsets), tuple(widths), tuple(leaf.low for leaf in leaves))
