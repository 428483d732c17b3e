"""Strong planning: which procedures repair a system, whatever it does in between, and though a fault happens.

Words: see `kwalk.model.language.recovery`. A *belief* is the set of states that a world may be in, each with the number
of faults that may still happen. A procedure leads from a belief to the belief of all states at rest that its moves, the
system's own steps in any order, and faults can lead to. A fault strikes at any moment: at rest, or between two steps
of the system. A plan is a sequence of procedures after which every state of every belief satisfies all claims; an
operator who sees that all claims hold stops early if no fault can change that. The system's own steps are fair: a state
at rest is reached.

Sequences that repair if nothing fails are found by rising cost in the space of beliefs. Each is then tried against all
outcomes with faults at rest, which are few; and then with faults at any moment.

Source: Cimatti, Pistore, Roveri, Traverso, Weak, strong, and strong cyclic planning via symbolic
model checking (Artificial Intelligence 147, 2003); Bonet, Geffner, Planning with incomplete information as heuristic
search in belief space (AIPS 2000).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from heapq import heappop, heappush
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language.recovery import Move, Problem, Procedure, WhatIf, World
from kwalk.search.analyses.settling import Belief, Deed, NeverAtRest, Settling, TooManyStates
from kwalk.search.base.options import StopReason
from kwalk.search.base.progress import Progress, Report, silent

SECONDS = 120.0
"""The default time budget of a plan."""
LEAST_SECONDS, LEAST_SHARE = 10.0, 0.25
"""What an alternative has at least: in seconds, and of the budget, while not twice the budget is spent."""
DOWNTIME = 20
"""What a procedure costs in addition if users notice it."""
MOST_COST = 60
"""Plans of a higher cost are not looked for."""
MOST_CANDIDATES = 96
"""How many sequences that repair if no fault happens are tried against faults."""
MOST_WORLDS = 6
"""Of more worlds, single procedures are looked at before cheaper sequences."""
REPETITION = 1
"""What the last procedure of a sequence costs if it is repeated."""
MOST_PAIRED = 8
"""Of more cheap procedures not all pairs are looked at before cheaper sequences."""
EXTENSION = 2
"""The most that a procedure costs of which two are added to a sequence that a fault defeats."""
INSERTION = 3
"""The most that a procedure costs that is inserted into such a sequence."""

# What if.


@frozen
class Foreseen:
    """What an event does to one world: the claims violated in each of its outcomes, whichever way it happens."""

    what_if: WhatIf
    world: int
    outcomes: frozenset[frozenset[str]]


@frozen
class Outlook:
    """What is so now, and what each event does, for each world of a problem.

    Attributes:
        first: the violated claims of each world before anything happens, in each possible state.
        now: the same at rest, after what happens by itself.
        events: what each event does.
        visited: how many states were visited.
        compared: how many steps were compared with plain Python.
        unknown: sentences on what is not foreseen, and why.
    """

    problem: Problem
    first: tuple[frozenset[frozenset[str]], ...]
    now: tuple[frozenset[frozenset[str]], ...]
    events: tuple[Foreseen, ...]
    visited: int
    compared: int
    unknown: tuple[str, ...] = ()


def foresee(problem: Problem, *, seconds: float | None = None, report: Report = silent) -> Outlook:
    """Return what each what-if of a problem does to each world; without other faults.

    Args:
        problem: The problem.
        seconds: The time budget; None for none. What is not foreseen by then is left out.
        report: Receives progress.
    """
    clock = _Clock(seconds, report, "foresee")
    settlings = [Settling(world, clock.check) for world in problem.worlds]
    clock.began = time.monotonic()  # without the time that compiling took
    first = tuple(frozenset(map(one.violated, one.world.initial)) for one in settlings)
    now, events, unknown = [], list[Foreseen](), list[str]()
    try:
        starts = [settling.first(0) for settling in settlings]
        now = [_outcomes(settling, start) for settling, start in zip(settlings, starts, strict=True)]
        for title in dict.fromkeys(one.title for one in problem.what_ifs):
            ways = [one for one in problem.what_ifs if one.title == title]
            unknown += _foresee_event(ways, settlings, starts, events)
    except PlanningStopped:
        unknown.append("The time ended before all events were looked at: see only what is named.")
    except NeverAtRest as error:
        return Outlook(problem, first, (), (), 0, 0, (f"What events do is not known. {error}",))
    compared = _compared(settlings, lambda number: ()) if now else 0
    looked = Counter(event.what_if for event in events)  # what never comes to rest is not followed
    for what_if in [one for one, worlds in looked.items() if worlds == len(settlings)][:1]:
        compared += _compared(settlings, what_if.moves.__getitem__)
    visited = sum(s.visited for s in settlings)
    return Outlook(problem, first, tuple(now), tuple(events), visited, compared, tuple(unknown))


def _compared(settlings: Sequence[Settling], moves: Callable[[int], tuple[Move, ...]]) -> int:
    """Compare the first way through moves with plain Python, once for worlds that are alike.

    Args:
        settlings: those of the worlds.
        moves: the moves, by the number of the world.
    """
    ways = {(one.likeness, one.world.initial[0], moves(number)): one for number, one in enumerate(settlings)}
    return sum(settling.confirm(done) for (_, _, done), settling in ways.items())


def _foresee_event(
    ways: Sequence[WhatIf], settlings: Sequence[Settling], starts: Sequence[Belief], events: list[Foreseen]
) -> Iterator[str]:
    """Append what an event does to each world; yield why it is not known of one."""
    for number, (settling, start) in enumerate(zip(settlings, starts, strict=True)):
        try:
            ends = [reduce(settling.moved, one.moves[number], start) for one in ways]
        except NeverAtRest as error:
            yield f"What becomes of {settling.world.name} if {ways[0].title} is not known. {error}"
        else:
            events.append(Foreseen(ways[0], number, frozenset().union(*(_outcomes(settling, e) for e in ends))))


def _outcomes(settling: Settling, belief: Belief) -> frozenset[frozenset[str]]:
    return frozenset(settling.violated(vector) for vector, _ in belief.states)


class PlanningStopped(Exception):
    """The time budget is spent."""


class _Clock:
    """A time budget, with progress twice a second."""

    def __init__(self, seconds: float | None, report: Report, engine: str) -> None:
        self.began = self.reported = time.monotonic()
        self.seconds, self.report, self.engine, self.states = seconds, report, engine, 0

    def extend(self) -> None:
        """Give a quarter of the budget more, to say why there is no plan."""
        if self.seconds is not None:
            self.seconds = time.monotonic() - self.began + self.seconds / 4

    def check(self, states: int) -> None:
        """Count states; raise PlanningStopped if the time is over."""
        self.states += states
        now = time.monotonic()
        if now - self.reported > 0.5:
            self.reported = now
            left = None if self.seconds is None else max(0.0, self.seconds - (now - self.began))
            self.report(Progress(self.engine, self.states, "states", now - self.began, left=left))
        if self.seconds is not None and now - self.began > self.seconds:
            raise PlanningStopped


# Plans.


@frozen
class Defeat:
    """Why a sequence of procedures is no plan: what may be violated afterwards, where, and how that comes about."""

    procedures: tuple[Procedure, ...]
    world: World
    violated: frozenset[str]
    deeds: tuple[Deed, ...]


@frozen
class Plan:
    """A sequence of procedures.

    Attributes:
        procedures: the procedures.
        faults: how many faults may happen after the first procedure has begun.
        at_any_moment: whether they may happen at any moment, or only when the system is at rest.
        early: for each procedure, whether an operator may stop after it if all claims hold then.
        downtime: for each procedure, whether users may notice it though no fault happens.
        shows: for each procedure, the claims that may be found violated after it though no fault happens.
        is_open: whether the time ended before it was known whether they may happen at any moment.
    """

    procedures: tuple[Procedure, ...]
    faults: int
    at_any_moment: bool
    early: tuple[bool, ...]
    downtime: tuple[bool, ...]
    shows: tuple[frozenset[str], ...]
    is_open: bool = False


@frozen
class Recovery:
    """The result of planning.

    Attributes:
        problem: the problem.
        plan: a plan that is safe though faults happen at any moment; None if there is none, or none was found in time.
        best: if there is no such plan, one that is safe if faults happen only at rest, or works if none happens; None
            if there is none either.
        defeats: if there is no such plan, what defeats the candidates.
        complete: whether all plans up to the greatest cost were looked at.
        stopped: what ended the search before its end, time or memory; if nothing did, and not all plans were looked at,
            the cheapest ones were.
        healthy: whether nothing needs to be done.
        seconds: how long it took.
        visited: how many states were visited.
        compared: how many steps were compared with plain Python.
        alternatives: the results for the problem's alternatives.
    """

    problem: Problem
    plan: Plan | None
    best: Plan | None = None
    defeats: tuple[Defeat, ...] = ()
    complete: bool = True
    stopped: StopReason | None = None
    healthy: bool = False
    seconds: float = 0.0
    visited: int = 0
    compared: int = 0
    alternatives: tuple[Recovery, ...] = ()


Beliefs = tuple[Belief, ...]


def plan_recovery(
    problem: Problem, *, seconds: float | None = None, faults: int = 1, report: Report = silent
) -> Recovery:
    """Return the cheapest plan after which all claims hold, though faults happen; or what defeats the candidates.

    Args:
        problem: The problem.
        seconds: The time budget; None for SECONDS.
        faults: How many faults may happen.
        report: Receives progress.

    Raises:
        NeverAtRest: A bound of the model is in the way.
    """
    began, budget = time.monotonic(), seconds or SECONDS
    settlings: dict[World, Settling] = {}
    found = _Planner(problem, _Clock(budget, report, "recover"), settlings).recovery(faults)
    others: list[Recovery] = []
    for alternative in problem.alternatives:
        if _is_asked(alternative, found, others):
            spent = time.monotonic() - began
            left = max(LEAST_SECONDS, min(budget * LEAST_SHARE, 2 * budget - spent), budget - spent)
            others.append(_Planner(alternative, _Clock(left, report, "recover"), settlings).recovery(faults))
    return evolve(found, alternatives=tuple(_last_answers(others)))


def _last_answers(answers: Sequence[Recovery]) -> Iterator[Recovery]:
    """Yield the answers without those for a last resort that have no plan, and that another one gives up more for."""
    for number, one in enumerate(answers):
        key = one.problem.is_last_resort, one.problem.instead_of
        later = ((other.problem.is_last_resort, other.problem.instead_of) for other in answers[number + 1 :])
        if one.plan is not None or not all(key) or key not in later:
            yield one


def _is_asked(alternative: Problem, first: Recovery, others: Sequence[Recovery]) -> bool:
    """Whether an alternative is asked, after the answers to the problem and to the alternatives before it.

    One to several steps is asked where the answers to fewer of them use another one, or another step that starts the
    same, or were not found in time; as a last resort, also where fewer of them have no plan.
    """
    fewer = [one for one in others if one.problem.instead_of and one.problem.instead_of < alternative.instead_of]
    answered = [first] if first.plan else [one for one in others if not one.problem.instead_of]
    used = [step for one in fewer or answered if one.plan for step in one.plan.procedures]
    missed = [one for one in first.problem.procedures if one.name in alternative.instead_of]
    gone = frozenset[str]().union(*(one.starts for one in missed)) | alternative.instead_of
    left = {one.name for one in alternative.procedures}
    is_used = any(one.name not in left and not gone.isdisjoint({one.name, *one.starts}) for one in used)
    solved = {one.problem.instead_of for one in fewer if one.plan}
    lacks_plan = alternative.is_last_resort and any(one.problem.instead_of not in solved for one in fewer)
    is_open = lacks_plan or any(one.stopped for one in fewer)
    same = [one for one in others if one.problem.instead_of == alternative.instead_of]
    rivals = same if alternative.instead_of else (first, *others)
    if alternative.is_for_later and not (first.healthy and first.problem.inspection.is_damaged):
        return False
    if alternative.is_last_resort and any(one.plan is not None for one in rivals):
        return False
    return not alternative.instead_of or is_used or is_open


class _Planner:
    """Searches plans for one problem.

    Args:
        problem: the problem.
        clock: its time budget.
        settlings: those of the worlds of earlier problems; new ones are added.
    """

    def __init__(self, problem: Problem, clock: _Clock, settlings: dict[World, Settling]) -> None:
        self.problem, self.clock = problem, clock
        self.settlings = [settlings.get(world) or Settling(world) for world in problem.worlds]
        settlings.update(zip(problem.worlds, self.settlings, strict=True))
        for settling in self.settlings:
            settling.check, settling.visited = clock.check, 0
        self._started: dict[tuple[int, bool], Beliefs] = {}
        self._applied: dict[tuple[Beliefs, str, bool], tuple[Beliefs, bool]] = {}
        self._kinds: dict[str, list[int]] = {}
        clock.began = time.monotonic()  # without the time that compiling took

    def recovery(self, faults: int) -> Recovery:
        complete, plan, best, at_rest = True, None, None, None
        stopped: StopReason | None = None
        defeated: list[tuple[tuple[Procedure, ...], int, bool]] = []
        try:
            for procedures in self._candidates() if self._are_repairable() else ():
                self._strike(at_any_moment=False)
                best = best or self._plan(procedures, 0)
                at_rest = self._plan(procedures, faults)
                if at_rest is not None:
                    self._strike(at_any_moment=faults > 0)
                    plan = self._plan(procedures, faults)
                if plan is not None:
                    break
                best = at_rest if at_rest and (best is None or best.faults < faults) else best
                defeated.append((procedures, faults, self._at_any_moment))
                at_rest = None
                if len(defeated) >= MOST_CANDIDATES:
                    complete = False
                    break
        except (PlanningStopped, TooManyStates) as error:
            complete, stopped = False, StopReason.MEMORY if isinstance(error, TooManyStates) else StopReason.TIME
            best = evolve(at_rest, is_open=True) if at_rest else best
        alone = [((one,), 0, False) for one in self.problem.procedures]
        defeats = [] if plan else list(self._reasons([*defeated, *alone]))
        self._strike(at_any_moment=False)
        self.clock.seconds = None
        procedures = plan.procedures if plan else ()
        compared = _compared(self.settlings, lambda n: tuple(move for one in procedures for move in one.moves[n]))
        return Recovery(
            self.problem,
            plan,
            None if plan else best,
            tuple(defeats),
            complete,
            stopped,
            healthy=plan is not None and not plan.procedures,
            seconds=time.monotonic() - self.clock.began,
            visited=sum(s.visited for s in self.settlings),
            compared=compared,
        )

    def _are_repairable(self) -> bool:
        """Whether each world alone is repaired by some sequence, if no fault happens: else none repairs all of them.

        Sequences for one world are few; for several, those that repair the others are tried with each of them.
        """
        self._strike(at_any_moment=False)
        numbered = list(enumerate(zip(self.problem.worlds, self.settlings, strict=True)))
        for number, (world, settling) in numbered if len(numbered) > 1 else ():
            own = tuple(evolve(one, moves=(one.moves[number],)) for one in self.problem.procedures)
            alone = evolve(self.problem, worlds=(world,), procedures=own)
            if next(_Planner(alone, self.clock, {world: settling})._repairs(own), None) is None:
                return False
        return True

    @property
    def _at_any_moment(self) -> bool:
        return any(settling.at_any_moment for settling in self.settlings)

    def _strike(self, *, at_any_moment: bool) -> None:
        """Say when faults strike from now on."""
        for settling in self.settlings:
            settling.at_any_moment = at_any_moment

    def _start(self, faults: int) -> Beliefs:
        key = faults, self._at_any_moment
        if key not in self._started:
            self._started[key] = tuple(settling.first(faults) for settling in self.settlings)
        return self._started[key]

    def _candidates(self) -> Iterator[tuple[Procedure, ...]]:
        """Yield sequences after which all claims hold if no fault happens, by rising cost.

        A sequence that repairs is also yielded with more procedures: what a fault needs. Sequences with one procedure
        at most that is late come first. Of many worlds there are too many cheap sequences: single procedures, and
        pairs of the cheapest, come before them.
        """
        first = tuple(one for one in self.problem.procedures if not one.late)
        seen: set[tuple[Procedure, ...]] = set()
        if len(self.settlings) > MOST_WORLDS and not all(map(Settling.is_clean, self.settlings, self._start(0))):
            cheap = [one for one in self.problem.procedures if one.cost <= EXTENSION and not one.starts][:MOST_PAIRED]
            pairs = ((one, other) for one in cheap for other in cheap if self._may_join([one], other))
            short: list[tuple[Procedure, ...]] = [*((one,) for one in self.problem.procedures), *pairs]
            for found in sorted(short, key=lambda procedures: sum(one.cost for one in procedures)):
                after = reduce(lambda beliefs, one: self._apply(beliefs, one)[0], found, self._start(0))
                if found not in seen and all(map(Settling.is_clean, self.settlings, after)):
                    joining = (one for one in first if one.cost <= EXTENSION and self._may_join(found, one))
                    longer = ((*found, one) for one in joining)
                    seen.update(alone := (found, *longer))
                    yield from alone
        late = tuple(one for one in self.problem.procedures if one.late)
        for allowed, once in dict.fromkeys(((first, late), (self.problem.procedures, ()))):
            for found in self._repairs(allowed, once):
                if found not in seen:
                    seen.add(found)
                    yield found

    def _repairs(self, allowed: Sequence[Procedure], once: Sequence[Procedure] = ()) -> Iterator[tuple[Procedure, ...]]:
        """Yield sequences of allowed procedures, with one at most of those that are allowed once.

        What is allowed once is applied when nothing cheaper is left.
        """
        known: set[Beliefs] = set()
        queue: list[tuple[int, int, tuple[Procedure, ...], Beliefs | None]] = [(0, 0, (), self._start(0))]
        before: dict[tuple[Procedure, ...], Beliefs] = {}
        count = 0
        while queue:
            self.clock.check(0)
            cost, _, procedures, beliefs = heappop(queue)
            if beliefs is None and procedures in before:
                beliefs, is_noticed = self._apply(before.pop(procedures), procedures[-1])
                if is_noticed:
                    count += 1
                    heappush(queue, (cost + DOWNTIME, count, procedures, beliefs))
                    continue
            if beliefs is None:
                yield procedures
                continue
            repaired = all(map(Settling.is_clean, self.settlings, beliefs))
            if beliefs in known and not repaired:
                continue
            known.add(beliefs)
            is_late = any(one in once for one in procedures)
            if repaired:  # another way to the same belief may withstand what defeats the first one
                yield procedures
                if not procedures:
                    return
                if is_late:
                    continue
                for longer, more in self._longer(procedures, allowed):
                    count += 1
                    heappush(queue, (cost + more, count, longer, None))
                continue
            for procedure in (one for one in allowed if self._may_join(procedures, one)):
                after, is_noticed = self._apply(beliefs, procedure)
                count += 1
                wanted = cost + procedure.cost + DOWNTIME * is_noticed
                is_new = after not in known or all(map(Settling.is_clean, self.settlings, after))
                if after != beliefs and is_new and wanted <= MOST_COST and not self._breaks(after):
                    heappush(queue, (wanted, count, (*procedures, procedure), after))
            for procedure in () if is_late else (one for one in once if self._may_join(procedures, one)):
                count += 1
                before[*procedures, procedure] = beliefs
                heappush(queue, (cost + procedure.cost, count, (*procedures, procedure), None))

    @staticmethod
    def _may_join(procedures: Iterable[Procedure], one: Procedure) -> bool:
        """Whether a procedure may be in a sequence that has some others."""
        return all(one.once.isdisjoint(other.once) for other in procedures)

    def _longer(
        self, procedures: Sequence[Procedure], allowed: Sequence[Procedure]
    ) -> Iterator[tuple[tuple[Procedure, ...], int]]:
        """Yield a sequence with one or two more procedures at its end, and with a cheap one at another place.

        Each with what more it costs. The last procedure is repeated only by an operator who has seen a fault. Another
        place matters to faults only: without them, what comes first may leave the same.
        """
        allowed = [one for one in allowed if self._may_join(procedures, one)]
        cheap = [one for one in allowed if one.cost <= EXTENSION]
        yield from (((*procedures, one), REPETITION if one is procedures[-1] else one.cost) for one in allowed)
        several = ((one, other) for one in cheap for other in cheap if one is not other)
        yield from (((*procedures, *two), sum(one.cost for one in two)) for two in several)
        for place in range(1, len(procedures)):
            inserted = (one for one in allowed if one.cost <= INSERTION)
            yield from (((*procedures[:place], one, *procedures[place:]), one.cost) for one in inserted)

    def _apply(self, beliefs: Beliefs, procedure: Procedure) -> tuple[Beliefs, bool]:
        """Return the beliefs after a procedure, and whether users may notice it though no fault happens."""
        key = beliefs, procedure.name, self._at_any_moment
        if key not in self._applied:
            self.clock.check(0)
            ends: dict[tuple[int, Belief], tuple[Belief, bool]] = {}
            found, is_noticed = [], False
            for number, world in enumerate(zip(self._kinds_of(procedure), beliefs, strict=True)):
                if world not in ends:
                    ends[world] = self._apply_in(self.settlings[number], world[1], procedure.moves[number])
                after, is_harmed = ends[world]
                found.append(after)
                is_noticed |= is_harmed
            self._applied[key] = tuple(found), is_noticed
        return self._applied[key]

    def _kinds_of(self, procedure: Procedure) -> list[int]:
        """Return a number for each world; the same one for worlds in which a procedure does the same."""
        if procedure.name not in self._kinds:
            numbers: dict[Any, int] = {}
            alike = zip((one.likeness for one in self.settlings), procedure.moves, strict=True)
            self._kinds[procedure.name] = [numbers.setdefault(one, len(numbers)) for one in alike]
        return self._kinds[procedure.name]

    def _apply_in(self, settling: Settling, belief: Belief, moves: Iterable[Move]) -> tuple[Belief, bool]:
        """Return the belief of a world after moves, and whether users may notice them there though no fault happens."""
        was_harmed, most = self._harmed(settling, belief)
        is_noticed = False
        for move in moves:
            belief = settling.moved(belief, move)
            now_harmed, _ = self._harmed(settling, belief, most)
            is_noticed |= now_harmed and not was_harmed
        return belief, is_noticed

    @staticmethod
    def _harmed(settling: Settling, belief: Belief, most: int | None = None) -> tuple[bool, int]:
        """Whether users notice something in a state before any fault, and how many faults are left in such states."""
        faults = max((left for _, left in belief.states), default=0) if most is None else most
        return settling.harms(belief, faults), faults

    # Plans.

    def _plan(self, procedures: Sequence[Procedure], faults: int) -> Plan | None:
        """Return the plan of a sequence; None if a claim may be violated at its end, or one that is kept before."""
        early, downtime, shows, beliefs = [], [], [], self._start(faults)
        for procedure in procedures:
            beliefs, is_noticed = self._apply(beliefs, procedure)
            downtime.append(is_noticed)
            if self._breaks(beliefs):
                return None
            shows.append(self._shows(beliefs))
            early.append(self._may_stop(beliefs) and not shows[-1] & self.problem.goals)
            beliefs = self._unfinished(beliefs)
        if not all(map(Settling.is_clean, self.settlings, beliefs)):
            return None
        return Plan(tuple(procedures), faults, self._at_any_moment, tuple(early), tuple(downtime), tuple(shows))

    def _shows(self, beliefs: Beliefs) -> frozenset[str]:
        """Return the claims that an inspection may find violated if no fault has happened."""
        found = frozenset[str]().union(*map(Settling.claims_before_faults, self.settlings, beliefs))
        return found | {seen for claims, seen in self.problem.seen_as if claims <= found}

    def _breaks(self, beliefs: Beliefs) -> bool:
        """Whether a claim that plans keep on the way, and that held at first, is violated though no fault happens."""
        return bool(self.problem.kept and self.problem.kept & self._shows(beliefs) - self._shows(self._start(0)))

    def _unfinished(self, beliefs: Beliefs) -> Beliefs:
        """Return the beliefs that need another procedure: without what an operator finds in order, where that lasts.

        Several worlds are out of order if one is. Where a fault strikes all of them, as many may still happen in each.
        """
        shared = {settling.world.shared for settling in self.settlings}
        if not self._may_stop(beliefs) or (len(beliefs) > 1 and (len(shared) > 1 or not any(shared))):
            return beliefs
        wrong = map(Settling.wrong, self.settlings, beliefs)
        faults = [{left for _, left in states} for states in wrong]
        worlds = Counter(left for one in faults for left in one)
        others = [frozenset(left for left, count in worlds.items() if count > (left in own)) for own in faults]
        return tuple(map(Settling.unfinished, self.settlings, beliefs, others))

    def _may_stop(self, beliefs: Beliefs) -> bool:
        """Whether all claims last in every state in which they hold, though the faults that are left happen."""
        return all(map(Settling.lasts, self.settlings, beliefs))

    # Defeats.

    def _reasons(self, defeated: Iterable[tuple[tuple[Procedure, ...], int, bool]]) -> Iterator[Defeat]:
        """Yield what defeats sequences, as long as there is time.

        Args:
            defeated: each with how many faults may happen, and whether they strike at any moment.
        """
        self.clock.extend()
        for procedures, most, at_any_moment in defeated:
            self._strike(at_any_moment=at_any_moment)
            try:
                found = self._defeat(procedures, most)
            except (PlanningStopped, TooManyStates):
                return
            if found is not None:
                yield found

    def _defeat(self, procedures: Sequence[Procedure], faults: int) -> Defeat | None:
        """Return how a sequence of procedures leaves something violated; None if it does not."""
        for index, settling in enumerate(self.settlings):
            moves = [move for one in procedures for move in one.moves[index]]
            deeds = settling.trace(moves, faults, settling.violates)
            if deeds is not None:
                violated = self._violated_after(settling, moves, faults)
                return Defeat(tuple(procedures), settling.world, violated, tuple(deeds))
        return None

    @staticmethod
    def _violated_after(settling: Settling, moves: Sequence[Move], faults: int) -> frozenset[str]:
        belief = settling.first(faults)
        for move in moves:
            belief = settling.moved(belief, move)
        found = [settling.violated(vector) for vector, _ in belief.states]
        return min(filter(None, found), key=lambda one: (len(one), sorted(one)))
