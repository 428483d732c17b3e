"""The arrays for the waiting states of one claim, within what is left of the memory of a search.

Words: see `search.loops.waiting` and `search.loops.components`.
"""
from __future__ import annotations

import numpy as np

from model.language import Claim
from search.exploration import Exploration
from search.loops.components import FINISHED, Stacks
from search.loops.frontier import Search
from search.loops.memory import reserve
from search.loops.waiting import Graph, Region, Waiting, judge, number

ROW_BYTES = 8 + 8 + 4
"""For each 64 stored states: two words, and a number."""
STATE_BYTES = 8 + 4 + 5 * 4
"""For each waiting state: where its edges are, its number among the stored, and what `Stacks` has."""
EDGE_BYTES = 4 + 2
LEAST_EDGES = 1 << 16


class OutOfMemory(Exception):
    """What is left of the budget is too little for the waiting states of a claim."""


class WaitingStates:
    """The waiting states of one claim: how often it had a chance to fail, and the arrays of a `Region` and of `Stacks`.

    OutOfMemory if the budget has no room for them.
    """

    def __init__(self, exploration: Exploration, claim: Claim) -> None:
        self.exploration, self.claim, self.stored = exploration, claim, exploration.stored
        words, self.left = -(-self.stored // 64), exploration.wish.memory - exploration.states.taken(self.stored)
        self._take(words * ROW_BYTES)
        if self.stored >= FINISHED:
            raise OutOfMemory
        self.states, self.begins = reserve(words), reserve(words)
        self.before, self.numbers = reserve(words, np.uint32), reserve(0, np.uint32)
        self.premises = self.count = self.next = 0
        self._hits = exploration.counts.hits.copy()

    def _take(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise OutOfMemory

    def judge(self, pace: int) -> bool:
        """Look at up to `pace` more states; whether all were looked at."""
        span = np.array([self.next, min(self.stored, self.next + 64 * -(-pace // 64)), self.claim.index], np.int64)
        counts = np.zeros(2, np.int64)
        judge(self._search, self._waiting, span, counts)
        self.premises, self.count = self.premises + int(counts[0]), self.count + int(counts[1])
        self.next = int(span[1])
        return self.next == self.stored

    def settle(self) -> None:
        """Number the waiting states and make room for their graph; all must have been looked at."""
        self._take(self.count * STATE_BYTES)
        self.edge_room = max(LEAST_EDGES, self.left // EDGE_BYTES)
        self.numbers = reserve(self.count, np.uint32)
        self.edges = reserve(self.count, np.int64)
        self.targets, self.instances = reserve(self.edge_room, np.uint32), reserve(self.edge_room, np.uint16)
        self._stacks = {name: reserve(self.count, np.uint32) for name in Stacks._fields if name != "rows"}
        self._rows = np.zeros(4 * self.exploration.kernel.instance_words, np.uint64)
        number(self._waiting, self.stored)

    @property
    def _search(self) -> Search:
        """The argument of the exploration's loops, with bound hits counted in a copy that nobody reads."""
        search = self.exploration.search
        return search._replace(tally=search.tally._replace(hits=self._hits.ctypes.data))

    @property
    def _waiting(self) -> Waiting:
        arrays = self.states, self.begins, self.before, self.numbers
        states, begins, before, stored = (array.ctypes.data for array in arrays)
        return Waiting(states=states, begins=begins, before=before, stored=stored)

    @property
    def region(self) -> Region:
        """The argument of the loops."""
        edges, targets, instances = (a.ctypes.data for a in (self.edges, self.targets, self.instances))
        guards = self.exploration.kernel.guards
        graph = Graph(guards=guards, edges=edges, targets=targets, instances=instances, room=self.edge_room)
        return Region(self._search, self._waiting, graph)

    @property
    def stacks(self) -> Stacks:
        """The argument of the loops."""
        addresses = {name: array.ctypes.data for name, array in self._stacks.items()}
        return Stacks(**addresses, rows=self._rows.ctypes.data)

    def number_of(self, index: int) -> int:
        """The number of a waiting state among the waiting ones."""
        return int(np.searchsorted(self.numbers[: self.count], index))

    def forget_visits(self) -> np.ndarray:
        """Set all visit numbers to zero, as errands need it; the array in which errands leave their way."""
        self._stacks["visits"][:] = 0
        return self._stacks["path"]
