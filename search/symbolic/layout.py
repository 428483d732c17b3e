"""The blocks of int64 that the loops of diagrams share, by the numbers of their items.

Words: a *diagram* is a set of vectors of numbers, one for each level; see `diagrams`. A *component* is the part of the
state that has a level; its *values* are numbered as they are found. A *view* is what one step (or one condition) can
tell apart at a level: values that agree in the bits that it reads are of one *class*. A *change* is what a step writes
at a level, whatever it writes over. A *rule* is a step, or a condition, with its views and changes; what it does to
each vector of classes is computed when such a vector first occurs, and kept as a diagram of pairs.
"""

from __future__ import annotations

from enum import IntEnum


class EngineBlock(IntEnum):
    """The block of a symbolic search."""

    NODES = 0
    """The address of the nodes, four uint32 each: value, below, beside, and the next node with that hash."""
    FRESH = 1
    """The first node that was never used."""
    LIMIT = 2
    """The number of nodes that there is room for."""
    FREE = 3
    """The first of the nodes that can be used again; 0: none."""
    HEADS = 4
    """The address of the first nodes by hash, uint32."""
    HEADS_MASK = 5
    CACHE = 6
    """The address of the results, three words each: two of the question and the answer."""
    CACHE_MASK = 7
    TOP = 8
    """The address of the unused part of the stack."""
    STACK_END = 9
    ARENA = 10
    """The address of the unused part of the memory for tables."""
    ARENA_END = 11
    STOPPED = 12
    """Not 0: results mean nothing any more, as there is no room, or time is up; see `Stop`."""
    WORDS = 13
    """The words of a packed state."""
    STATE = 14
    """The address of a packed state to evaluate, and behind it of the state after a step."""
    INITIAL = 15
    """The address of a packed initial state, for the parts that do not matter."""
    RULES = 16
    """The address of the addresses of all rules."""
    STARTS = 17
    """For each level the address of a list: the number of rules whose first level it is, and their numbers."""
    BY_MODE = 18
    """For each level, whether a rule that reads the mode begins there or below."""
    UNION = 19
    """The entries of loops that call themselves and each other, up to LEARN."""
    MINUS = 20
    PROJECT = 21
    IMAGE = 22
    SATURATE = 23
    LEARN = 24
    MOST_HEADS_MASK = 25
    """What the masks of hashes and of results grow to, as nodes are made."""
    MOST_CACHE_MASK = 26


class Stop(IntEnum):
    """Why results mean nothing."""

    FULL = 1
    """There is no room for nodes: some may be free when garbage is collected."""
    NO_TABLES = 2
    """There is no room for tables, or on the stack."""
    REQUESTED = 3


class PartBlock(IntEnum):
    """A part of the bits of a packed state, with the rows that occur there, numbered in the order of their occurrence.

    A component is one whose rows are its values; a view has classes, a change what is written.
    """

    FIRST = 0
    """The first word of the packed state that it is in, and the number of its words."""
    WIDTH = 1
    MASK = 2
    """The address of its bits in these words."""
    COUNT = 3
    CAPACITY = 4
    ROWS = 5
    HEADS = 6
    """The address of row numbers plus 1 by hash, uint32, twice as many as there is room for rows."""
    COMPONENT = 7
    """Of a view or a change: the address of the component."""
    CLASSES = 8
    """Of a view: the address of the classes by value, uint32: the class plus 1, or REFUSED."""
    KNOWN = 9
    """The number of values whose class is known, and for how many there is room."""
    ROOM = 10
    CONDITIONS = 11
    """The address of the conditions that read nothing else: a class where one is false is refused."""
    CONDITION_COUNT = 12


REFUSED = 0xFFFFFFFF


class RuleBlock(IntEnum):
    """A rule."""

    NUMBER = 0
    LAST = 1
    """The last level of its views and changes; 0 if it has none below the mode."""
    VIEWS = 2
    """The address of the addresses of its views by level; 0: none, and then there is no change either."""
    CHANGES = 3
    CONDITIONS = 4
    """The address of its conditions on several components, and their number."""
    CONDITION_COUNT = 5
    EFFECT = 6
    """The address of its effect; 0: it has none."""
    SEEN = 7
    """The diagram of the vectors of classes that were evaluated."""
    PAIRS = 8
    """The diagram of those where its conditions hold: at each of its levels a class, then a change."""
