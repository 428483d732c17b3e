"""What breadth-first loops work on: the search so far as arrays, by address, and the cursor.

Words: a state is *expanded* when its claims are checked and its successors are looked up. The *frontier* is what is
stored and not yet expanded. States are numbered in the order of discovery, so those that a state discovers follow
those that its predecessors discovered: a *mark*, the number of states before a block of STRIDE states was expanded, is
all that is kept to find a state's parent again.
"""
from __future__ import annotations

from typing import NamedTuple

from search.loops.keys import Space
from search.loops.stubborn import Stubborn
from search.loops.tree import Tree

BATCH = 32
STRIDE = 64

NEXT, SIZE, LEVEL_END, DEPTH, GENERATED, QUIET, DEADLOCKS, FIRST_DEADLOCK, FAILURE, LIMIT, ASLEEP = range(11)
"""What the cursor (an array of int64) holds: the next state to expand, the number of states, where the present level
ends, its depth, the successors generated, the quiet states, the deadlocks and the first of them, what `expand` returned
when it failed, the number of expanded states at which to come back, and how often a chosen instance was asleep."""
CURSOR_SIZE = 11

GOING, DONE, FULL, FOUND, FAILED = range(5)
"""Why the loop came back: its limit is reached, all is expanded, there is no room, a violation, an error."""


class Machine(NamedTuple):
    """A kernel as the loops see it, and which claims count: sizes, addresses of functions and of bit rows, flags."""

    words: int
    row_words: int
    claim_words: int
    instances: int
    expand: int
    check: int
    check_step: int
    system_row: int
    state_row: int
    """The claims to check on states."""
    step_row: int
    """The claims to check on steps."""
    reachable_row: int
    checks_states: int
    checks_steps: int
    stop: int
    """Whether to come back at the first violation."""
    deadlock: int
    """Whether a state without enabled instances is a violation."""
    stubborn: Stubborn
    """Which of the enabled instances to take; without cases: all of them."""
    orbits: int = 0
    """The table by which states that differ by names only count as one (see `orbits`); 0 if none do."""


class Batch(NamedTuple):
    """The addresses of room for BATCH states: their successors, and their bit rows."""

    state: int
    """A state in hand, and room for another one."""
    rows: int
    """Packed successors."""
    roots: int
    """Their roots, if states are folded; so is the rest of this."""
    leaves: int
    """Two words for each of their leaves: its hash, and where it is looked for."""
    numbers: int
    """For each state, the numbers of its parts: two words for each leaf."""
    in_work: int
    """The same for a successor."""
    instances: int
    """uint16 per successor."""
    hashes: int
    slots: int
    """int64 per successor: where it is looked for in the table."""
    ends: int
    """int64 per state: how many successors there are up to and with its own."""
    enabled: int
    """Bit row per state."""
    false: int
    """One bit row."""
    premises: int
    """Bit row per state."""
    step_premises: int
    """Bit row per successor."""
    choice: int
    """Room for choosing instances (see `stubborn`)."""


class Tally(NamedTuple):
    """The addresses of counts, int64 if not said otherwise."""

    enabled: int
    """Vertical counters."""
    premises: int
    """Vertical counters."""
    blocked: int
    """Per instance: how often a bound disabled it."""
    idle: int
    """Per instance: how often it led to the same state."""
    hits: int
    """Per bound."""
    seen: int
    """Per claim: how often it was false (reachable claims: true)."""
    first_state: int
    """Per claim: the first state where that was so (step claims: the state before the step), plus 1; 0 for none."""
    first_instance: int
    """Per step claim: the instance of that step."""
    marks: int
    """Per block of STRIDE states: how many states there were before it was expanded."""


class Search(NamedTuple):
    """All that the loops need besides the cursor."""

    machine: Machine
    space: Space
    tree: Tree
    batch: Batch
    tally: Tally
