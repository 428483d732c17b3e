"""What the loops of random walks work on: a kernel, rooms and counts by address, and the cursor.

Words: a walk *visits* the states it comes to, its start included; it ends after `depth` steps or at a *dead end*, where
nothing can be done, or it is *cut* where nothing can be done that it is allowed to do. The *track* is the list of
instances that lead from an initial state to where the present walk is. A walk may begin at a *restart*, a state to
which such a list is known, instead of an initial state; its steps are numbered from the initial state on all the same.
"""
from __future__ import annotations

from typing import NamedTuple

RING = 252
"""How many visits are kept before their bit rows are counted."""

WALK, LAST, STEP, STEPS, DEAD_ENDS, QUIET, FINDINGS, START, FAILURE, KEPT, VISITS, CUTS, LEVELS = range(13)
"""What the cursor (an array of int64) holds: the next (or failed) walk, the end of the walks, the step in it, steps of
all walks, walks that came to a dead end, quiet visits, findings, where the present walk began, what `apply` returned
when it failed, how many visits wait in the ring, how many have been counted, walks that were cut, and how many levels
of preference the present walk has."""
CURSOR_SIZE = 13

GOING, DONE, FULL, FOUND, FAILED = range(5)
"""What became of a walk or of several: it goes on, all done, no room for findings, a violation, an error."""


class Walker(NamedTuple):
    """What the loops need: sizes, addresses of functions, bit rows and counts, and flags."""

    words: int
    row_words: int
    claim_words: int
    claims: int
    advance: int
    check: int
    check_step: int
    system_row: int
    state_row: int
    step_row: int
    reachable_row: int
    checks_states: int
    checks_steps: int
    stop: int
    """Whether to come back at the first violation."""
    deadlock: int
    """Whether a state without enabled instances is a violation, as claim number `claims`."""
    depth: int
    seed: int
    """Already mixed, as an int64."""
    starts: int
    """The packed states where walks begin: initial ones, then restarts."""
    start_rows: int
    """The bit row of enabled instances of each."""
    start_count: int
    """How many of them are initial."""
    restart_count: int
    restart_chance: int
    """Of 2^16 walks, how many begin at a restart."""
    start_steps: int
    """Per start, int64: how many steps lead to it."""
    states: int
    """Room for two packed states."""
    row: int
    """Room for a bit row of instances, and for another one after it."""
    false: int
    """Room for a bit row of claims, and for another one after it: those already violated in this walk."""
    ring_rows: int
    """RING bit rows of enabled instances."""
    ring_premises: int
    """RING bit rows of claims."""
    masks: int
    """Bit rows of instances: those allowed, then for each level of preference those that it prefers."""
    tastes: int
    """How many ways there are to draw preferences; see `tastes`."""
    taste_ends: int
    group_rows: int
    group_chances: int
    sketch: int
    """Registers of distinct states, or 0 for none; see `sketching`."""
    rare: int
    """Table of how often each set of enabled instances was met."""
    track: int
    """Instance per step, int64."""
    enabled: int
    """Vertical counters."""
    premises: int
    """Vertical counters."""
    taken: int
    idle: int
    hits: int
    seen: int
    """Per claim, and for deadlock after them: in how many walks it was false (reachable claims: true)."""
    first_walk: int
    """The same: the first walk in which that was so, plus 1."""
    first_step: int
    findings: int
    """(walk, step, claim), int64 each."""
    most_findings: int
