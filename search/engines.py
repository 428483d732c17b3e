"""The engines, as the command line, Python and tests ask them: each takes a `Query`, and returns a `Verdict`.

An engine names what it accepts (`option_table`), and refuses combinations. What it needs is imported when it is asked.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve

from kwalk.model.language import Kind, Property, PropertyInstance, UsageError
from kwalk.search.base import option_table
from kwalk.search.base.components import entry
from kwalk.search.base.option_table import DEFAULT_OUT
from kwalk.search.base.options import CHECKPOINT_INTERVAL, CheckpointOptions, StopReason
from kwalk.search.base.progress import Progress, Report, announce, silent
from kwalk.search.base.query import Query
from kwalk.search.results.fairness import unchecked_note
from kwalk.search.results.verdict import Answer, Verdict

LEAST_TRIAL = 10.0
"""The seconds for which sets of states are tried, at least, where single states do not fit into memory."""
SHRINK_SECONDS = 5.0
"""The time budget for minimizing the first finding of walks."""


class Engine:
    """An engine. Its `search` finds traces, its `conclude` minimizes them; calling it does both.

    Args:
        name: Its name, which is that of its command.
        accepts: The class of the table that declares its options.
        title: What notes call it, where it does not check properties about behaviours.
        checks_liveness: Whether it checks these.
        keeps_going: Whether one search finds the violations of all properties.
    """

    name: ClassVar[str]
    accepts: ClassVar[type]
    title: ClassVar[str] = ""
    checks_liveness: ClassVar[bool] = False
    keeps_going: ClassVar[bool] = True

    def __call__(self, query: Query, report: Report = silent) -> Verdict:
        """Search, minimize what was found, and say what a "holds" is worth."""
        from kwalk.search.examination.examination import examined

        self.refuse(query.options)
        verdict = self.conclude(query, self.search(query, report), report)
        verdict = examined(query.model, query.properties, verdict, strict=query.options["strict"])
        lacks = query.reading.lacks if query.reading is not None else ""
        return verdict.without(lacks) if lacks else verdict

    def refuse(self, options: Mapping[str, Any]) -> None:
        """Raise UsageError if options exclude each other."""

    def search(self, query: Query, report: Report = silent) -> Verdict:
        """Return what the engine finds."""
        raise NotImplementedError

    def conclude(self, query: Query, verdict: Verdict, report: Report) -> Verdict:
        """Return a verdict with its traces minimized."""
        return verdict

    def can_falsify(self, prop: Property) -> bool:
        """Return whether a counterexample to the property is something that the engine finds."""
        return prop.kind is not Kind.REACHABLE and self.checks(prop)

    def checks(self, prop: Property) -> bool:
        """Return whether the engine evaluates the property."""
        return self.checks_liveness or not prop.kind.is_liveness

    def unchecked(self, properties: Iterable[PropertyInstance]) -> str:
        """Return the sentence on the properties that the engine does not check; "" if it checks all of them."""
        return "" if self.checks_liveness else unchecked_note(properties, self.title)


class Exhaustive(Engine):
    """Every reachable state, breadth first: in this process, or on Spark."""

    name, accepts, title, checks_liveness = "exhaust", option_table.ExhaustKeywords, "a reduced search", True

    def refuse(self, options: Mapping[str, Any]) -> None:
        if options["spark"]:
            for name, why in NOT_ON_SPARK.items():
                if options[name]:
                    raise UsageError(f"A search on Spark {why}. Leave out --{name}, or --spark.")
            return
        for mode in ONE_CORE:
            if options[mode]:
                self._refuse_in(mode, options)
        for name in ("master", "partitions"):
            if options[name] is not None:
                raise UsageError(f"--{name} is for searches on Spark. Add --spark.")
        if options["checkpoint"] is None and (options["resume"] or options["every"] is not None):
            name = "--resume" if options["resume"] else "--every"
            raise UsageError(f"{name} needs a folder of checkpoints. Name it with --checkpoint DIR.")

    @staticmethod
    def _refuse_in(mode: str, options: Mapping[str, Any]) -> None:
        """Refuse what a search of one core does not support; the option `mode` chooses it."""
        what, names = ONE_CORE[mode]
        for name in names:
            if options[name] not in (None, False):
                raise UsageError(f"{what} does not support --{name}. Leave out --{name}, or --{mode}.")
        if (options["workers"] or 1) > 1:
            raise UsageError(f"{what} runs on one core. Leave out --workers, or --{mode}.")

    def search(self, query: Query, report: Report = silent) -> Verdict:
        if query.options["spark"]:
            return self._on_spark(query, report)
        if query.options["symbolic"]:
            return self._by_sets(query, report)
        from kwalk.search.exhaustive.search import exhaust

        names = ("seconds", "workers", "keep_going", "memory_bytes", "reduce", "symmetry", "checkpoint")
        keywords = self._keywords(query, report, names)
        if query.options["interpreter"]:
            from kwalk.search.kernel.interpreted import interpreted_kernel

            keywords["kernel"] = interpreted_kernel(query.model)
        verdict = exhaust(query.model, **keywords)
        return self._tried_by_sets(query, verdict, report) if self._may_fit_as_sets(query, verdict) else verdict

    def _by_sets(self, query: Query, report: Report, **others: Any) -> Verdict:
        keywords = self._keywords(query, report, ("seconds", "keep_going", "memory_bytes", "checkpoint"))
        verdict: Verdict = entry("exhaust_symbolically")(query.model, **{**keywords, **others})
        return verdict

    @staticmethod
    def _may_fit_as_sets(query: Query, verdict: Verdict) -> bool:
        """Return whether sets of states should be tried: memory is spent, and they could give an answer."""
        is_open = verdict.stopped is StopReason.MEMORY and verdict.answer is Answer.UNDECIDED
        others = any(query.options[name] for name in (*NOT_SYMBOLIC, "checkpoint"))
        return is_open and not others and not any(prop.kind.is_liveness for prop in query.properties)

    def _tried_by_sets(self, query: Query, verdict: Verdict, report: Report) -> Verdict:
        """Return what sets of states find in as much time as the search of single states took, if they find an answer.

        So a search that runs out of memory takes twice its time at most.
        """
        spent, budget = verdict.seconds, query.options["seconds"]
        left = max(spent, LEAST_TRIAL) if budget is None else min(max(spent, LEAST_TRIAL), budget - spent)
        announce("single states do not fit into memory; sets of states are tried")
        report(Progress("exhaust", 0, "nodes of diagrams", 0.0))  # the last report may hold what the search used
        gc.collect()
        try:
            sets = self._by_sets(query, report, seconds=max(0.0, left))
        except (UsageError, KeyboardInterrupt):  # the budget is too small for it, or it is not installed
            return verdict
        if sets.answer is Answer.UNDECIDED:
            tried = f"Sets of states (--symbolic) were tried as well, without an answer ({sets.qualifier})."
            return evolve(verdict, notes=(*verdict.notes, tried))
        states = f"{verdict.distinct_states or 0:,} states, in {spent:.0f} s"
        chosen = f"Single states ran out of the {verdict.qualifier} at {states}; sets of states (--symbolic) did not."
        return evolve(sets, notes=(chosen, *sets.notes), seconds=spent + sets.seconds)

    @staticmethod
    def _keywords(query: Query, report: Report, names: tuple[str, ...]) -> dict[str, Any]:
        """Return options as keywords, with the place of checkpoints if there is one."""
        keywords = query.keywords(report, *names)
        if "checkpoint" in keywords:
            every = query.options["every"] or CHECKPOINT_INTERVAL
            place = CheckpointOptions(Path(keywords["checkpoint"]), every=every, resume=query.options["resume"])
            keywords["checkpoint"] = place
        return keywords

    def _on_spark(self, query: Query, report: Report) -> Verdict:
        from kwalk.search.spark.exhaustive.search import exhaust_on_spark

        folder = query.options["checkpoint"] or Path(query.options["out"] or DEFAULT_OUT) / "states"
        return exhaust_on_spark(query, folder, report)

    def conclude(self, query: Query, verdict: Verdict, report: Report) -> Verdict:
        if not query.minimized or query.options["interpreter"]:
            return verdict
        from kwalk.search.kernel.compile.compiler import kernel_for
        from kwalk.search.minimize.groups import with_groups

        return with_groups(query.model, kernel_for(query.model), verdict, report)


NOT_SYMBOLIC = ("reduce", "symmetry", "interpreter", "master", "partitions")
"""Options that a symbolic search does not have."""
ONE_CORE = {
    "symbolic": ("A symbolic search", NOT_SYMBOLIC),
    "interpreter": ("A search in plain Python", ("reduce", "symmetry")),
}
"""By the option that chooses a search of one core, what it is called and the options that it does not have."""
NOT_ON_SPARK = {
    "symbolic": "visits single states",
    "symmetry": "does not support symmetry",
    "reduce": "does not support reduction",
    "every": "saves a checkpoint at every level",
    "interpreter": "runs compiled code",
}
"""Options that a search on Spark does not have, and why."""


class Walks(Engine):
    """Random walks in this process."""

    name, accepts, title = "walk", option_table.WalkKeywords, "random walks"

    def search(self, query: Query, report: Report = silent) -> Verdict:
        from kwalk.search.simulation.options import steps_of
        from kwalk.search.simulation.walk import walk

        keywords = query.keywords(report, "seed", "walks", "depth", "seconds", "workers", "keep_going")
        return walk(query.model, steps_of(query.options), minimize=query.minimized, **keywords)

    def conclude(self, query: Query, verdict: Verdict, report: Report) -> Verdict:
        from kwalk.search.minimize.shrink import minimize_findings

        return minimize_findings(query.model, verdict, seconds=SHRINK_SECONDS, most=1)


class Proofs(Engine):
    """Proofs with Z3, for behaviours of any length."""

    name, accepts, title, keeps_going = "prove", option_table.ProveKeywords, "a proof", False

    def search(self, query: Query, report: Report = silent) -> Verdict:
        verdict: Verdict = entry("prove")(query, report)
        return verdict

    def conclude(self, query: Query, verdict: Verdict, report: Report) -> Verdict:
        from kwalk.search.minimize.shrink import minimize_findings

        return minimize_findings(query.model, verdict)


class Hypothesis(Engine):
    """A search by Hypothesis, for the assertions of tests."""

    name, accepts, title = "hypothesis", option_table.HypothesisKeywords, "Hypothesis"

    def search(self, query: Query, report: Report = silent) -> Verdict:
        from kwalk.search.analyses.hypothesis.search import hypothesis_search

        return hypothesis_search(query, report)


class CheckByThree(Engine):
    """Three engines, whose answers are compared."""

    name, accepts, checks_liveness = "check", option_table.CheckKeywords, True

    def search(self, query: Query, report: Report = silent) -> Verdict:
        from kwalk.search.analyses.check import check

        return check(query, report)


class Hunts(Engine):
    """Exhaustive search, then walks, then minimization."""

    name, accepts, title = "hunt", option_table.HuntKeywords, "a hunt"

    def search(self, query: Query, report: Report = silent) -> Verdict:
        from kwalk.search.analyses.hunt import hunt

        return hunt(query, report)


ENGINES: Mapping[str, Engine] = {
    engine.name: engine for engine in (Exhaustive(), Walks(), Proofs(), Hypothesis(), CheckByThree(), Hunts())
}
"""The engines by name."""
