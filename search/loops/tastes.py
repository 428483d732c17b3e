"""What a walk prefers: random weights and subsets of instances, as nested bit rows that are drawn for each walk.

Words: a *taste* divides instances into *groups*, say by action or by actor. A walk draws one of the tastes, and then
for each group up to which *level* it belongs. A step draws a level and takes one of the enabled instances there, or of
a lower level if none is enabled; level 0 has all that are allowed. So most steps leave out a group that is in level 0
only, and one in the highest is taken most. A taste without groups is to have no preferences.
"""
from __future__ import annotations

import numpy as np

from search.loops.native import Word, get, integer, part, peek, poke, scale
from search.loops.randomness import GOLDEN, mix
from search.loops.walker import Walker

MOST_LEVELS = 3
"""Levels above 0."""


@part
def level_of(levels: int, random: Word) -> int:
    """A random level, 0 to `levels`, drawn from the low bits of a random word."""
    return integer(scale(random << np.uint64(32), np.uint64(levels + 1)))


@part
def draw_taste(walker: Walker, random: Word) -> int:
    """Draw what the walk prefers and write its masks; how many levels they have."""
    random = mix(random + GOLDEN)
    taste = integer(scale(random, np.uint64(walker.tastes)))
    group = get(walker.taste_ends, taste)
    end = get(walker.taste_ends, taste + 1)
    if group == end:
        return 0
    for word in range(walker.row_words, (1 + MOST_LEVELS) * walker.row_words):
        poke(walker.masks, word, np.uint64(0))
    while group < end:
        random += GOLDEN
        _add_group(walker, group, mix(random))
        group += 1
    return MOST_LEVELS


@part
def _add_group(walker: Walker, group: int, random: Word) -> None:
    """Put a group into the levels to which a random word admits it."""
    words = walker.row_words
    level = 1
    while level <= MOST_LEVELS and random < peek(walker.group_chances, group * MOST_LEVELS + level - 1):
        for word in range(words):
            mask = level * words + word
            poke(walker.masks, mask, peek(walker.masks, mask) | peek(walker.group_rows, group * words + word))
        level += 1
