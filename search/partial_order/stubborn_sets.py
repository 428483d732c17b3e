"""Stubborn sets: which enabled instances a reduced search takes in a state.

Words: a set of transition groups is *closed* if it has, with each enabled group, all that do not accord with it, and
with each disabled one, the enabling set of one of its false atoms. Two groups that do not accord under a condition only
may instead have the enabling set of the condition in it, where the condition is false. A closed set must also have the
enabling set of one false atom of each open goal, and the groups that the goal takes where all its atoms are true. A
state is *final* if no instance of a certain row has its guard true; in other states a closed set must also have the
disabling set of one of these instances. The set of a state is a closed set with few active groups, found greedily.

Source: A. Valmari, "Stubborn sets for reduced state space generation" (LNCS 483, 1991); goals as in L. M. Kristensen,
K. Schmidt and A. Valmari, "Question-guided stubborn set methods for state properties" (2006).
"""

from __future__ import annotations

import numpy as np

from kwalk.search.native.bits import add_bits, clear_bit, count_bits, has_bit, set_bit
from kwalk.search.native.intrinsics import (
    ONE,
    ZERO,
    bit_count,
    call,
    call_void,
    count_up,
    integer,
    lowest_bit,
    peek,
    poke,
    poke32,
    put,
)
from kwalk.search.native.loops import loop, part
from kwalk.search.partial_order.sleep_sets import load_sleep_set, store_sleep_sets
from kwalk.search.partial_order.tables import ReductionTables, Workspace, atom_row, group_row, tables_at, workspace_at
from kwalk.search.visited.keys import copy_words

ACTIVE_COST = 8
"""The cost of an active group more than that of another one, when the cheapest enabling set is chosen."""


@loop
def choose_successors(tables: int, expand: int, places: tuple[int, int, int, int, int], workspace: int) -> int:
    """Write the successors of a state by the instances of its stubborn set.

    Args:
        tables: The address of the tables.
        expand: The kernel's function of that name.
        places: Its arguments: the state, the row of guards, the successors, their instances, the counters of bounds.
        workspace: The address of a word, and of the workspace behind it. How many groups of the stubborn set are left
            out, as they are in the sleep set, is written to the word.

    Returns:
        What `expand` returns.
    """
    t, at, (state, row, successors, instances, _) = tables_at(tables), workspace + 8, places
    w = workspace_at(t, at)
    call_void(t.guards, (state, row))
    load_sleep_set(t, w, state)
    if compute_stubborn_set(t, state, row, at):
        made = _expand_instances(t, w.to_take, places)
    else:
        made = call(expand, places)
    if made > 0:
        store_sleep_sets(t, w, (state, successors, instances), made)
    put(workspace, 0, _count_left_out(t, w))
    return made


@part
def _expand_instances(t: ReductionTables, row: int, places: tuple[int, int, int, int, int]) -> int:
    """Do as `expand` for a row of instances."""
    (state, _, successors, instances, hits), made = places, integer(0)
    for word in range(t.row_words):
        bits = peek(row, word)
        while bits != ZERO:
            instance = 64 * word + lowest_bit(bits)
            bits &= bits - ONE
            result = call(t.apply, (instance, state, successors + 8 * t.words * made))
            if result < 0:
                return result
            if result > 0:
                count_up(hits, result - 1, 1)
            else:
                poke32(instances, made, np.uint64(instance))
                made += 1
    return made


@loop
def compute_stubborn_set(t: ReductionTables, state: int, guards: int, at: int) -> bool:
    """Write the row of instances to take, given the row of guards and the sleep set; False if all are to be taken."""
    w = workspace_at(t, at)
    call_void(t.evaluate_atoms, (state, w.atoms))
    active = _find_active(t, w)
    if _is_final(t, guards) or _close_for_goals(t, w, guards, active) >= active:
        copy_words(w.stubborn, w.enabled, t.group_words)
    return _select_instances(t, w, guards)


@part
def _find_active(t: ReductionTables, w: Workspace) -> int:
    """Write the row of active groups, and return how many there are."""
    sleeping = ZERO
    for word in range(t.row_words):
        sleeping |= peek(w.sleep_set, word)
    copy_words(w.active, w.enabled, t.group_words)
    if sleeping != ZERO:
        _remove_goal_steps(t, w)
        for word in range(t.group_words):
            left = peek(w.enabled, word)
            while left != ZERO:
                group = 64 * word + lowest_bit(left)
                left &= left - ONE
                if has_bit(w.sleep_set, integer(peek(t.instances, group))):
                    clear_bit(w.active, group)
    return count_bits(w.active, t.group_words)


@part
def _remove_goal_steps(t: ReductionTables, w: Workspace) -> None:
    """Remove from the sleep set every instance that an open goal takes in this state.

    In another order it would be another step.
    """
    for goal in range(t.goals):
        if peek(t.goal_open, goal) != ZERO and _is_goal_state(t, w, goal):
            groups = group_row(t, t.goal_groups, goal)
            for word in range(t.group_words):
                left = peek(groups, word)
                while left != ZERO:
                    clear_bit(w.sleep_set, integer(peek(t.instances, 64 * word + lowest_bit(left))))
                    left &= left - ONE


@part
def _is_goal_state(t: ReductionTables, w: Workspace, goal: int) -> bool:
    """Whether all atoms of a goal are true."""
    false = ZERO
    for word in range(t.atom_words):
        false |= peek(atom_row(t, t.goal_atoms, goal), word) & ~peek(w.atoms, word)
    return bool(false == ZERO)


@part
def _is_final(t: ReductionTables, guards: int) -> bool:
    if t.final_instances == 0:
        return False
    enabled = ZERO
    for word in range(t.row_words):
        enabled |= peek(guards, word) & peek(t.final_instances, word)
    return bool(enabled == ZERO)


@part
def _close_for_goals(t: ReductionTables, w: Workspace, guards: int, active: int) -> int:
    """Compute a closed set for all goals, and return how many of its groups are active; `active` is the limit."""
    for word in range(t.group_words):
        poke(w.stubborn, word, ZERO)
    for goal in range(t.goals):
        if peek(t.goal_open, goal) != ZERO:
            _add_goal(t, w, goal)
    copy_words(w.pending, w.stubborn, t.group_words)
    count = _close(t, w, active)
    return count if t.final_instances == 0 else _add_disabling_set(t, w, guards, count)


@part
def _add_goal(t: ReductionTables, w: Workspace, goal: int) -> None:
    """Add the enabling set of a false atom of a goal; or, if all atoms are true, the groups that the goal takes."""
    more, _ = _cheapest_enabling_set(t, w, atom_row(t, t.goal_atoms, goal))
    if more == 0:
        more = group_row(t, t.goal_groups, goal)
    for word in range(t.group_words):
        add_bits(w.stubborn, word, peek(more, word))


@part
def _add_disabling_set(t: ReductionTables, w: Workspace, guards: int, base: int) -> int:
    """Add the cheapest disabling set of an instance that keeps the state from being final; return the active groups."""
    words, best = t.group_words, integer(1) << 60
    copy_words(w.base, w.stubborn, words)
    for place in range(t.row_words):
        bits = peek(guards, place) & peek(t.final_instances, place)
        while bits != ZERO and best > base:
            disabling_set = group_row(t, t.disabling_sets, 64 * place + lowest_bit(bits))
            bits &= bits - ONE
            for word in range(words):
                poke(w.pending, word, peek(disabling_set, word) & ~peek(w.base, word))
                poke(w.stubborn, word, peek(disabling_set, word) | peek(w.base, word))
            count = base + _close(t, w, best - base)
            if count < best:
                best = count
                copy_words(w.best, w.stubborn, words)
    copy_words(w.stubborn, w.best, words)
    return best


@part
def _select_instances(t: ReductionTables, w: Workspace, guards: int) -> bool:
    """Write the row of instances to take: those of active groups in the set, and those that a bound or error blocks.

    Return False if these are all.
    """
    copy_words(w.to_take, guards, t.row_words)
    is_smaller = False
    for word in range(t.group_words):
        left = peek(w.enabled, word) & ~(peek(w.stubborn, word) & peek(w.active, word))
        is_smaller |= left != ZERO
        while left != ZERO:
            clear_bit(w.to_take, integer(peek(t.instances, 64 * word + lowest_bit(left))))
            left &= left - ONE
    return is_smaller


@part
def _count_left_out(t: ReductionTables, w: Workspace) -> int:
    """Return how many enabled groups of the set are left out as their instances are in the sleep set."""
    count = integer(0)
    for word in range(t.group_words):
        count += bit_count(peek(w.stubborn, word) & peek(w.enabled, word) & ~peek(w.active, word))
    return count


# Closing a set.


@loop
def _close(t: ReductionTables, w: Workspace, limit: int) -> int:
    """Close the set, of which some groups are pending, and return how many of these are active; stop at `limit`."""
    count = integer(0)
    while count < limit:
        group = _pop_pending(t, w)
        if group < 0:
            break
        if has_bit(w.enabled, group):
            count += integer(has_bit(w.active, group))
            _add_dependent(t, w, group)
        else:
            more, _ = _cheapest_enabling_set(t, w, atom_row(t, t.group_atoms, group))
            _add_row(t, w, more)
    return count


@part
def _pop_pending(t: ReductionTables, w: Workspace) -> int:
    """Remove a pending group and return it, an enabled one if there is one; -1 if none is pending."""
    found = integer(-1)
    for word in range(t.group_words):
        bits = peek(w.pending, word)
        if bits != ZERO and bits & peek(w.enabled, word) != ZERO:
            bits &= peek(w.enabled, word)
            found = 64 * word + lowest_bit(bits)
            break
        if bits != ZERO and found < 0:
            found = 64 * word + lowest_bit(bits)
    if found >= 0:
        clear_bit(w.pending, found)
    return found


@part
def _add_row(t: ReductionTables, w: Workspace, more: int) -> None:
    """Add a row of groups."""
    for word in range(t.group_words):
        new = peek(more, word) & ~peek(w.stubborn, word)
        if new != ZERO:
            add_bits(w.stubborn, word, new)
            add_bits(w.pending, word, new)


@part
def _add_dependent(t: ReductionTables, w: Workspace, group: int) -> None:
    """Add what does not accord with an enabled group, or the enabling set of its condition."""
    dependent, conditional = group_row(t, t.do_not_accord, group), group_row(t, t.conditional, group)
    for word in range(t.group_words):
        new = peek(dependent, word) & ~peek(conditional, word) & ~peek(w.stubborn, word)
        add_bits(w.stubborn, word, new)
        add_bits(w.pending, word, new)
    for word in range(t.group_words):
        new = peek(conditional, word) & ~peek(w.stubborn, word)
        while new != ZERO:
            other = 64 * word + lowest_bit(new)
            new &= new - ONE
            _add_conditional(t, w, group, other)


@part
def _add_conditional(t: ReductionTables, w: Workspace, group: int, other: int) -> None:
    """Add the other of two groups that do not accord under a condition; or, if it is false, what can make it true."""
    number = integer(peek(t.condition_numbers, group * t.groups + other))
    atoms = atom_row(t, t.condition_atoms, number)
    adds_other = False
    for word in range(t.atom_words):
        adds_other |= peek(atoms, word) & peek(w.atoms, word) != ZERO
    if not adds_other:
        enabling_set = group_row(t, t.condition_enabling_sets, number)
        least = integer(1 + ACTIVE_COST)
        if not has_bit(w.enabled, other):
            _, least = _cheapest_enabling_set(t, w, atom_row(t, t.group_atoms, other))
        adds_other = least < _cost(t, w, enabling_set)
        if not adds_other:
            _add_row(t, w, enabling_set)
    if adds_other and not has_bit(w.stubborn, other):
        set_bit(w.stubborn, other)
        set_bit(w.pending, other)


@part
def _cheapest_enabling_set(t: ReductionTables, w: Workspace, atoms: int) -> tuple[int, int]:
    """Return the cheapest enabling set of a false atom in a row of atoms, and its cost; 0 if no atom is false."""
    found, least = integer(0), integer(1) << 60
    for word in range(t.atom_words):
        false = peek(atoms, word) & ~peek(w.atoms, word)
        while false != ZERO and least > 0:
            atom = 64 * word + lowest_bit(false)
            false &= false - ONE
            row = group_row(t, t.enabling_sets, atom)
            cost = _cost(t, w, row)
            if cost < least:
                found, least = row, cost
    return found, least


@part
def _cost(t: ReductionTables, w: Workspace, row: int) -> int:
    """Return what a row of groups adds to the set."""
    cost = integer(0)
    for word in range(t.group_words):
        more = peek(row, word) & ~peek(w.stubborn, word)
        if more != ZERO:
            cost += bit_count(more) + ACTIVE_COST * bit_count(more & peek(w.active, word))
    return cost
