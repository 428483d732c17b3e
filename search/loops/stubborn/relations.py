"""The relations between cases, as the loops see them. Words: see `search.loops.stubborn`."""
from __future__ import annotations

from typing import NamedTuple


class Stubborn(NamedTuple):
    """The relations between cases as bit rows, by address; no cases: nothing is reduced."""

    cases: int
    case_words: int
    atom_words: int
    row_words: int
    """Words in a row of instances."""
    words: int
    """Words of a state."""
    guards: int
    apply: int
    atoms: int
    """The function `atoms(state, row)`: writes the row of true atoms, and behind it the row of enabled cases."""
    instances: int
    """int64 per case: its instance."""
    needs: int
    """Per case: the row of its atoms."""
    clashes: int
    """Per case: the row of cases that clash with it."""
    sometimes: int
    """Per case: the row of those of them that clash with it in some states only."""
    pair_numbers: int
    """int64 per case and case: the number of a pair that clashes sometimes, else -1."""
    pair_needs: int
    """Per such pair: the row of atoms of which one is true wherever the two clash."""
    pair_causes: int
    """Per such pair: the row of cases that can make one of these true."""
    causes: int
    """Per atom: the row of cases that can make it true."""
    stoppers: int
    """Per instance: the row of cases that can make its guard false."""
    goals: int
    """How many goals there are."""
    goal_needs: int
    """Per goal: the row of its atoms."""
    goal_takes: int
    """Per goal: the row of cases to take where all of its atoms are true."""
    goal_open: int
    """int64 per goal: whether it still counts."""
    board: int
    """Where the sleep sets are (see `sleeping`)."""
    final_row: int
    """The row of instances that are all disabled in a final state; 0 if final states need not be found."""


NOTHING = Stubborn(*[0] * len(Stubborn._fields))
"""Nothing is reduced."""
