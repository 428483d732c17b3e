"""What the loops of a reduced search read, and the workspace in which a worker computes a stubborn set.

Words: a *row* is a bit row (see `kwalk.search.native.bits`) of transition groups, atoms or action instances; it is
passed by its address. The words of partial-order reduction are in `kwalk.search.partial_order.reduction`.
"""

from __future__ import annotations

from typing import NamedTuple

from kwalk.search.native.intrinsics import get
from kwalk.search.native.loops import part


class ReductionTables(NamedTuple):
    """The relations between transition groups, by address."""

    groups: int
    """How many there are."""
    group_words: int
    """Words in a row of groups."""
    atom_words: int
    """Words in a row of atoms."""
    row_words: int
    """Words in a row of instances."""
    words: int
    """Words of a state."""
    guards: int
    """The kernel's function `guards(state, row)`."""
    apply: int
    """The kernel's function `apply(instance, state, after)`."""
    evaluate_atoms: int
    """The function `atoms(state, row)`: writes the row of true atoms, and behind it the row of enabled groups."""
    instances: int
    """int64 per group: its instance."""
    group_atoms: int
    """Per group: the row of its atoms."""
    do_not_accord: int
    """Per group: the row of groups that do not accord with it."""
    conditional: int
    """Per group: the row of those that do not accord with it under a condition only."""
    condition_numbers: int
    """int64 per group and group: the number of their condition, else -1."""
    condition_atoms: int
    """Per condition: the row of its atoms. Where none of them is true, the two groups accord."""
    condition_enabling_sets: int
    """Per condition: the row of groups that can make one of its atoms true."""
    enabling_sets: int
    """Per atom: the row of groups that can make it true."""
    disabling_sets: int
    """Per instance: the row of groups that can make its guard false."""
    goals: int
    """How many there are."""
    goal_atoms: int
    """Per goal: the row of its atoms."""
    goal_groups: int
    """Per goal: the row of groups to take where all of its atoms are true."""
    goal_open: int
    """int64 per goal: whether it still counts."""
    sleep_tables: int
    """The sleep tables (see `sleep_sets`)."""
    final_instances: int
    """The row of instances that are all disabled in a final state; 0 if final states need not be found."""


@part
def tables_at(at: int) -> ReductionTables:
    """Return the tables that are stored as int64 at an address."""
    return ReductionTables(
        get(at, 0),
        get(at, 1),
        get(at, 2),
        get(at, 3),
        get(at, 4),
        get(at, 5),
        get(at, 6),
        get(at, 7),
        get(at, 8),
        get(at, 9),
        get(at, 10),
        get(at, 11),
        get(at, 12),
        get(at, 13),
        get(at, 14),
        get(at, 15),
        get(at, 16),
        get(at, 17),
        get(at, 18),
        get(at, 19),
        get(at, 20),
        get(at, 21),
        get(at, 22),
    )


class Workspace(NamedTuple):
    """The rows in which a worker computes a stubborn set, by address."""

    atoms: int
    """The true atoms."""
    enabled: int
    """The enabled groups."""
    active: int
    """The enabled groups whose instances are not in the sleep set."""
    base: int
    """The groups before a disabling set is added."""
    stubborn: int
    """The groups of the set."""
    pending: int
    """Those of them whose consequences are still to be added."""
    best: int
    """The smallest set so far."""
    to_take: int
    """The instances to take."""
    sleep_set: int
    """The instances in the sleep set of the state."""
    next_sleep_set: int
    """The instances in the sleep set after one step."""
    spare: int
    """Two states."""
    successor_guards: int
    """Per successor: the row of instances whose guard is true there."""


def workspace_words(group_words: int, atom_words: int, row_words: int, instances: int, words: int) -> int:
    """Return how many words a workspace has."""
    return atom_words + 6 * group_words + (3 + instances) * row_words + 2 * words


@part
def workspace_at(t: ReductionTables, at: int) -> Workspace:
    """Return the rows of the workspace at an address."""
    enabled, step, row = at + 8 * t.atom_words, 8 * t.group_words, 8 * t.row_words
    taken = enabled + 6 * step
    return Workspace(
        at,
        enabled,
        enabled + step,
        enabled + 2 * step,
        enabled + 3 * step,
        enabled + 4 * step,
        enabled + 5 * step,
        taken,
        taken + row,
        taken + 2 * row,
        taken + 3 * row,
        taken + 3 * row + 16 * t.words,
    )


@part
def group_row(t: ReductionTables, table: int, number: int) -> int:
    """Return the row of groups with a number in a table of them."""
    return table + 8 * t.group_words * number


@part
def atom_row(t: ReductionTables, table: int, number: int) -> int:
    """Return the row of atoms with a number in a table of them."""
    return table + 8 * t.atom_words * number
