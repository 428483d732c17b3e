"""What the loops of random walks work on: a kernel, rooms and counts by address, and the cursor.

Words: a walk *visits* the states it comes to, its start included; it ends after `depth` steps or at a *dead end*, where
nothing can be done. The *track* is the list of instances that the present walk has taken.
"""
from __future__ import annotations

from typing import NamedTuple

RING = 252
"""How many visits are kept before their bit rows are counted."""

WALK, LAST, STEP, STEPS, DEAD_ENDS, QUIET, FINDINGS, START, FAILURE, KEPT, VISITS = range(11)
"""What the cursor (an array of int64) holds: the next (or failed) walk, the end of the walks, the step in it, steps of
all walks, walks that came to a dead end, quiet visits, findings, the initial state of the present walk, what `apply`
returned when it failed, how many visits wait in the ring, and how many have been counted."""
CURSOR_SIZE = 11

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
    """The packed initial states."""
    start_rows: int
    """The bit row of enabled instances of each."""
    start_count: int
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
