"""From keys to states in hand, and from the successors in a batch to keys. Words: see `keys`, `tree`, `frontier`."""
from __future__ import annotations

from search.loops.frontier import BATCH, Search
from search.loops.keys import key_at, take_key
from search.loops.native import integer, part, peek, poke
from search.loops.tree import (
    NOTHING,
    find_likely_slots,
    find_slots,
    fold_key,
    hash_leaves,
    prefetch_parts,
    unfold,
)

SOON = 2
"""How many states ahead the parts of a state are asked for."""


@part
def take_state(search: Search, index: int, k: int) -> int:
    """Bring a stored state in hand, and the numbers of its parts into the batch as those of state k; its address."""
    space, tree, batch = search.space, search.tree, search.batch
    if tree.words == 0:
        take_key(space, index, batch.state)
    else:
        unfold(tree, peek(key_at(space, index), 0), batch.state, batch.numbers + 16 * tree.leaves * k)
        prefetch_parts(tree, peek(key_at(space, index + SOON), 0))
    return batch.state


@part
def found_keys(search: Search) -> int:
    """The address of the keys of the successors in the batch."""
    return search.batch.rows if search.tree.words == 0 else search.batch.roots


@part
def hash_successors(search: Search, begin: int, end: int) -> None:
    """If states are folded, hash what is new in some successors of the state in hand."""
    tree, batch = search.tree, search.batch
    if tree.words != 0:
        for j in range(begin, end):
            hash_leaves(tree, batch.rows + 8 * tree.words * j, batch.state, batch.leaves + 16 * tree.leaves * j)


@part
def fold_successors(search: Search, parents: int) -> bool:
    """If states are folded, write the roots of all successors in the batch, of so many states; False if room lacks."""
    tree, batch, j = search.tree, search.batch, integer(0)
    if tree.words == 0:
        return True
    for first in range(0, parents, BATCH):
        last = min(first + BATCH, parents)
        _find_leaves(search, j, integer(peek(batch.ends, last - 1)))
        for k in range(first, last):
            known, end = batch.numbers + 16 * tree.leaves * k, integer(peek(batch.ends, k))
            while j < end:
                row, looks = batch.rows + 8 * tree.words * j, batch.leaves + 16 * tree.leaves * j
                root = fold_key(tree, row, known, batch.in_work, looks)
                if root == NOTHING:
                    return False
                poke(batch.roots, j, root)
                j += 1
    return True


@part
def _find_leaves(search: Search, begin: int, end: int) -> None:
    """Find where the leaves of some successors in the batch are likely to be, and ask for that memory."""
    tree, leaves = search.tree, search.batch.leaves
    for j in range(begin, end):
        find_slots(tree, leaves + 16 * tree.leaves * j)
    for j in range(begin, end):
        find_likely_slots(tree, leaves + 16 * tree.leaves * j)
