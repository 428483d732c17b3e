"""Satisfiability of clauses by conflict-driven clause learning, in plain Python: a check without Z3.

Words: literal 2v is variable v, literal 2v + 1 its complement. A *clause* is a list of literals of which one is true.
The *trail* has the true literals in the order in which they became true; a *level* is a decision with what it implies.
Each clause *watches* its first two literals, and is looked at only when one of them becomes false.

Source: J. Marques-Silva and K. Sakallah, GRASP, ICCAD 1996 (learning from conflicts); M. Moskewicz et al., Chaff, DAC
2001 (watched literals, activities); N. Eén and N. Sörensson, An Extensible SAT-solver, SAT 2003 (assumptions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

Literal = int
Clause = list[Literal]

FIRST_RESTART = 100
RESTART_GROWTH = 1.3
"""Conflicts until the first restart, and the factor to each next one."""
DECAY = 0.95
"""By how much the activity of earlier conflicts counts less after each conflict."""
LARGEST_ACTIVITY = 1e100


class ClauseSolver:
    """A set of clauses, which grows, and the search for values that satisfy them."""

    def __init__(self) -> None:
        self.conflicts = 0
        """Conflicts so far; each but the last of an impossible query has led to a learned clause."""
        self._is_possible = True
        self._clauses: list[list[Clause]] = []
        """By literal, the clauses that watch it."""
        self._values: list[int] = []
        """By literal: 1 true, -1 false, 0 open."""
        self._levels: list[int] = []
        self._reasons: list[Clause | None] = []
        """By variable: the clause that implied it, None for a decision."""
        self._last: list[int] = []
        """By variable, 1 if it was false when it last had a value: it is decided so again."""
        self._trail: list[Literal] = []
        self._starts: list[int] = []
        """By level, its first place in the trail."""
        self._head = 0
        self._activities: list[float] = []
        self._step = 1.0
        self._queue: list[tuple[float, int]] = []
        """A heap of variables by activity; an entry with another activity than its variable's is out of date."""

    def variable(self) -> Literal:
        """Return the literal of a new variable."""
        number = len(self._levels)
        self._clauses += [[], []]
        self._values += [0, 0]
        self._levels.append(0)
        self._reasons.append(None)
        self._last.append(1)
        self._activities.append(0.0)
        heappush(self._queue, (0.0, number))
        return 2 * number

    def add(self, literals: Iterable[Literal]) -> None:
        """Add a clause, for all later queries."""
        self._undo(0)
        clause: dict[Literal, None] = {}
        for literal in literals:
            if literal ^ 1 in clause or self._values[literal] == 1:
                return
            if self._values[literal] == 0:
                clause[literal] = None
        self._attach(list(clause))

    def is_true(self, literal: Literal) -> bool:
        """Return whether a literal is true in the values that the last query found."""
        return self._values[literal] == 1

    def possible(self, assumed: Sequence[Literal] = (), most_conflicts: int | None = None) -> bool:
        """Return whether all clauses and all assumed literals can be true at once.

        Raises:
            TimeoutError: There were more conflicts than `most_conflicts`.
        """
        self._undo(0)
        left, restart, interval = most_conflicts, FIRST_RESTART, FIRST_RESTART
        while self._is_possible:
            conflict = self._propagate()
            if conflict is not None:
                self.conflicts += 1
                restart -= 1
                self._learn(conflict)
                if left is not None and (left := left - 1) < 0:
                    raise TimeoutError(f"{most_conflicts:,} conflicts did not settle it")
            elif restart <= 0:
                restart = interval = int(interval * RESTART_GROWTH)
                self._undo(0)
            else:
                literal = self._decision(assumed)
                if literal is None:
                    return True
                if self._values[literal] == -1:
                    return False  # an assumption is false
                self._starts.append(len(self._trail))
                if self._values[literal] == 0:
                    self._imply(literal, None)
        return False

    def _attach(self, clause: Clause) -> None:
        """Add a clause without false literals to those that are watched; at level 0 a single literal becomes true."""
        if len(clause) > 1:
            self._clauses[clause[0]].append(clause)
            self._clauses[clause[1]].append(clause)
        elif clause:
            self._imply(clause[0], None)
            self._is_possible &= self._propagate() is None
        else:
            self._is_possible = False

    def _imply(self, literal: Literal, reason: Clause | None) -> None:
        self._values[literal], self._values[literal ^ 1] = 1, -1
        self._levels[literal >> 1], self._reasons[literal >> 1] = len(self._starts), reason
        self._trail.append(literal)

    def _propagate(self) -> Clause | None:
        """Make true what clauses imply; return a clause that became false, if one did."""
        values, clauses, trail = self._values, self._clauses, self._trail
        while self._head < len(trail):
            false = trail[self._head] ^ 1
            self._head += 1
            watching, clauses[false] = clauses[false], []
            kept = clauses[false]
            for place, clause in enumerate(watching):
                if clause[0] == false:
                    clause[0], clause[1] = clause[1], false
                first = clause[0]
                if values[first] == 1:
                    kept.append(clause)
                    continue
                for other in range(2, len(clause)):
                    literal = clause[other]
                    if values[literal] != -1:
                        clause[1], clause[other] = literal, false
                        clauses[literal].append(clause)
                        break
                else:
                    kept.append(clause)
                    if values[first] == -1:
                        kept += watching[place + 1 :]
                        return clause
                    self._imply(first, clause)
        return None

    def _undo(self, level: int) -> None:
        """Take back the values of later levels."""
        if len(self._starts) > level:
            start = self._starts[level]
            for literal in self._trail[start:]:
                variable = literal >> 1
                self._values[literal] = self._values[literal ^ 1] = 0
                self._last[variable] = literal & 1
                heappush(self._queue, (-self._activities[variable], variable))
            del self._trail[start:], self._starts[level:]
            self._head = start

    # Decisions.

    def _decision(self, assumed: Sequence[Literal]) -> Literal | None:
        """Return what is decided next: the assumptions in order, then open variables; None if all have values."""
        if len(self._starts) < len(assumed):
            return assumed[len(self._starts)]
        while self._queue:
            activity, variable = heappop(self._queue)
            if self._values[2 * variable] == 0 and -activity == self._activities[variable]:
                return 2 * variable | self._last[variable]
        return None

    def _raise_activity(self, variable: int) -> None:
        self._activities[variable] += self._step
        if self._activities[variable] > LARGEST_ACTIVITY:
            self._activities = [activity / LARGEST_ACTIVITY for activity in self._activities]
            self._step /= LARGEST_ACTIVITY
            values = self._values
            self._queue = [(-a, v) for v, a in enumerate(self._activities) if values[2 * v] == 0]
            heapify(self._queue)

    # Conflicts.

    def _learn(self, conflict: Clause) -> None:
        """Add the clause that a conflict implies, go back to the level where it implies a literal, and imply it."""
        if not self._starts:
            self._is_possible = False
            return
        clause = self._first_unique_implication(conflict)
        level = 0
        if len(clause) > 1:
            latest = max(range(1, len(clause)), key=lambda place: self._levels[clause[place] >> 1])
            clause[1], clause[latest] = clause[latest], clause[1]
            level = self._levels[clause[1] >> 1]
        self._undo(level)
        self._attach(clause)
        if len(clause) > 1:
            self._imply(clause[0], clause)
        self._step /= DECAY

    def _first_unique_implication(self, conflict: Clause) -> Clause:
        """Resolve a conflict with the reasons of its literals until one literal of the present level is left.

        The clause begins with that literal; literals that the others imply by one reason are left out.
        """
        level, levels, reasons = len(self._starts), self._levels, self._reasons
        seen: set[int] = set()
        others: Clause = []
        open_literals, place, resolved = 0, len(self._trail) - 1, conflict
        while True:
            for literal in resolved:
                variable = literal >> 1
                if variable not in seen and levels[variable] > 0:
                    seen.add(variable)
                    self._raise_activity(variable)
                    if levels[variable] == level:
                        open_literals += 1
                    else:
                        others.append(literal)
            while self._trail[place] >> 1 not in seen:
                place -= 1
            last = self._trail[place]
            place -= 1
            open_literals -= 1
            if not open_literals:
                break
            reason = reasons[last >> 1]
            assert reason is not None  # a decision is the last literal of its level
            resolved = reason
        marked = {last >> 1, *(literal >> 1 for literal in others)}

        def is_needed(literal: Literal) -> bool:
            reason = reasons[literal >> 1]
            return reason is None or any(r >> 1 not in marked and levels[r >> 1] > 0 for r in reason)

        return [last ^ 1, *filter(is_needed, others)]
