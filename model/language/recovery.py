"""What an operator may do to a system at rest, and what must hold afterwards: problems for a planner.

Words: a *world* is a part of a system as a model with the states that it may be in; the worlds of a problem are parts
of one system, and what an operator does happens in all of them. A system is *at rest* if it does nothing by itself, or
nothing that changes it. A *procedure* is a sequence of *moves*; after each move the operator waits until the system is
at rest. A *fault* may happen at any time between. A *what-if* is an event that is not planned: a failover, a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from attrs import field, frozen

from kwalk.model.language.inspection import Inspection
from kwalk.model.language.model import Model, PropertyInstance, Vector


@frozen
class Move:
    """One thing that is done in one world.

    Attributes:
        choices: groups of action instances by key. Of the first group with an enabled instance each enabled one may
            happen; if no group has one, nothing happens.
        hold: system instances that do not happen from now on.
        release: system instances that may happen again.
    """

    choices: tuple[tuple[str, ...], ...]
    hold: frozenset[str] = frozenset()
    release: frozenset[str] = frozenset()

    @property
    def is_nothing(self) -> bool:
        """Whether it does nothing in its world."""
        return not (self.choices or self.hold or self.release)


@frozen
class Procedure:
    """What an operator can do.

    Attributes:
        name: its name, in words joined by hyphens, with what it is about.
        title: an imperative sentence.
        moves: for each world of the problem, the moves; all worlds have the same number.
        cost: how much it is avoided: 1 for a write, more for what interrupts, most for what loses data.
        late: whether plans without it are looked for first.
        once: what its commands change, as they are those for what nothing has changed: a plan has one procedure at most
            that changes it so. Empty: it may be repeated.
        commands: what the operator enters; a line that begins with # is a remark.
        before: what to check before it; or a function that returns it from the names of what was down, and was
            started by earlier procedures.
        after: what to check after it.
        risk: what it risks.
        starts: the names of what was down, and runs after it.
    """

    name: str
    title: str
    moves: tuple[tuple[Move, ...], ...]
    cost: int
    late: bool = False
    once: frozenset[str] = frozenset()
    commands: tuple[str, ...] = ()
    before: str | Callable[[frozenset[str]], str] = field(default="", eq=False)
    after: str = ""
    risk: str = ""
    starts: frozenset[str] = frozenset()

    def condition(self, started: frozenset[str] = frozenset()) -> str:
        """Return what to check before it, where earlier procedures have started what was down."""
        return self.before if isinstance(self.before, str) else self.before(started)


@frozen(eq=False)
class World:
    """A part of a system.

    Attributes:
        name: what it is, such as "t-0 and t-1".
        model: its model.
        initial: the states that it may be in.
        claims: the properties that hold in a healthy system at rest.
        harms: the names of the claims whose violation users notice.
        held: the keys of system instances that do not happen by themselves.
        faults: the keys of the instances that may happen at any time.
        shared: the names of what faults strike; in worlds with the same names a fault strikes all.
        ranked: groups of paths of leaves whose numbers above 0 matter by their order only, such as epochs; at rest they
            are replaced by their ranks.
        distances: for each of these groups, by how much ranks differ, where numbers that rise must not reach the next.
        success: what an event does to it, named {}, after which all its claims hold, if it is not what the event says.
        plain: whether plain Python executes it: what takes longer to compile than to execute.
        counters: the paths of leaves that only count what operators and faults did; they are reset at rest.
    """

    name: str
    model: Model = field(repr=False)
    initial: tuple[Vector, ...] = field(repr=False)
    claims: tuple[PropertyInstance, ...] = field(repr=False)
    harms: frozenset[str] = frozenset()
    held: frozenset[str] = frozenset()
    faults: tuple[str, ...] = ()
    shared: frozenset[str] = frozenset()
    counters: tuple[str, ...] = ()
    ranked: tuple[tuple[str, ...], ...] = ()
    distances: tuple[int, ...] = ()
    success: str = ""
    plain: bool = False


@frozen
class WhatIf:
    """An event of which an operator asks what it would do; those with one title are the ways in which it may happen.

    Attributes:
        title: what happens, such as "broker 1 restarts".
        likelihood: whether it needs an operator or happens by itself.
        moves: for each world of the problem, the moves.
        success: what it does to parts, named {}, in which all claims hold afterwards, and did not before.
        always: whether that is said where all claims held before, too.
        besides: what it does that no world has, such as what is so until it is over; empty if there is nothing.
    """

    title: str
    likelihood: str
    moves: tuple[tuple[Move, ...], ...]
    success: str = "repairs {}"
    always: bool = False
    besides: str = ""


@frozen
class CarriedOutPlan:
    """A plan that was carried out on a real system, which worked afterwards.

    Attributes:
        name: what repeats it, such as an experiment.
        releases: the versions of the system.
        damage: the names of the kinds of damage that it repaired.
        steps: the first words of the names of its procedures, each once, in their order.
    """

    name: str
    releases: tuple[str, ...]
    damage: frozenset[str]
    steps: tuple[str, ...]


@frozen
class Problem:
    """A damaged system, what an operator can do, and what may happen.

    Attributes:
        inspection: what is wrong with it.
        worlds: its damaged parts.
        procedures: what an operator can do.
        what_ifs: what may happen.
        describe: a function from the names of violated claims to a phrase for an operator.
        notes: what was assumed, and what is not covered.
        carried_out: plans that repaired the same damage in the same version of a real system.
        premise: under which condition it is the problem, or what is wanted; a clause such as "if broker 1 is gone for
            good", empty if there is none.
        alternatives: the problem under other conditions, or for another end.
        instead_of: as an alternative, the names of procedures: it is asked only if the first plan has one of them, or
            another one that starts the same and that the alternative lacks, or if the plan of an alternative to fewer
            of them has such a step; as a last resort, also if that has no plan. Empty: it is always asked.
        is_last_resort: as an alternative, whether it is asked only if there is no plan without it; with `instead_of`,
            no other one instead of the same procedures.
        is_for_later: as an alternative, whether it is asked only if what is wrong repairs itself, in case it does not.
        keeps: what every plan keeps, whatever it repairs; the beginning of a sentence.
        although: what may happen meanwhile, as the end of that sentence.
        seen_as: pairs of claims and another claim: where the former are violated, an inspection may find the latter.
        left_out: the damaged parts that have no world; no procedure does anything there.
        withheld: the names of procedures that would.
        uncovered: the names of the kinds of damage that no claim of the worlds is about.
        kept: the names of claims that no step of a plan may violate either: users write and read between two steps.
        goals: the names of claims that are wanted, and whose violation no inspection finds.
    """

    inspection: Inspection
    worlds: tuple[World, ...]
    procedures: tuple[Procedure, ...] = ()
    what_ifs: tuple[WhatIf, ...] = ()
    describe: Callable[[Any], str] = field(default=", ".join, repr=False)
    notes: tuple[str, ...] = ()
    carried_out: tuple[CarriedOutPlan, ...] = ()
    premise: str = ""
    alternatives: tuple[Problem, ...] = ()
    instead_of: frozenset[str] = frozenset()
    is_last_resort: bool = False
    is_for_later: bool = False
    keeps: str = "safe"
    although: str = "though a fault happens"
    seen_as: tuple[tuple[frozenset[str], str], ...] = ()
    left_out: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()
    kept: frozenset[str] = frozenset()
    goals: frozenset[str] = frozenset()

    def carried_out_as(self, procedures: Iterable[Procedure]) -> tuple[CarriedOutPlan, ...]:
        """Return the plans with the same steps that repaired the same damage of a real system."""
        steps = tuple(dict.fromkeys(one.name.split()[0] for one in procedures))
        return tuple(plan for plan in self.carried_out if plan.steps == steps)
