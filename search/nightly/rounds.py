"""How the walks of a task are cut: into blocks and generations by the configuration alone, into rounds as it suits.

Words: a *generation* is a number of blocks that are walked by the same plan, twice as many as all before it. Rounds end
where a generation ends, at the latest; for the rest, how long they are depends on how fast the machines are, and
nothing that is found depends on them.
"""
from __future__ import annotations

from attrs import frozen

BLOCK_STEPS = 1 << 20
"""Steps in a block, at most: some tenths of a second, as much as minimizing one finding can take."""
FIRST_BLOCKS = 1
"""Blocks in the first generation."""
SAMPLED = 2
"""In so many blocks of a generation, findings of known claims are minimized too."""


@frozen
class Generation:
    """The blocks `first` … `last` - 1."""

    first: int
    last: int

    @property
    def stride(self) -> int:
        """In every block that this divides, known claims have their turn."""
        return max(1, (self.last - self.first) // SAMPLED)


def block_of(depth: int) -> int:
    """Walks in a block, a power of two."""
    return 1 << max(0, BLOCK_STEPS.bit_length() - depth.bit_length())


def generation_of(block: int) -> Generation:
    """The generation that a block belongs to."""
    if block < FIRST_BLOCKS:
        return Generation(0, FIRST_BLOCKS)
    first = FIRST_BLOCKS << ((block // FIRST_BLOCKS).bit_length() - 1)
    return Generation(first, 2 * first)
