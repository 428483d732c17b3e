"""The searches behind assertions: what an assertion checks, the engines, and searches that several tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from attrs import define, evolve, field

from kwalk.model.language import Kind, Property, PropertyInstance, Scenario
from kwalk.model.language.errors import unknown
from kwalk.reports.assertion_options import active_options
from kwalk.reports.scenario_reference import reference_to, scenario_at
from kwalk.search.base.option_table import ModelKeywords, rows
from kwalk.search.base.query import Query
from kwalk.search.engines import ENGINES, SHRINK_SECONDS
from kwalk.search.results.fairness import without_liveness
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, Answer, Verdict
from kwalk.search.results.verdict_builder import answer_to


def query(scenario: Scenario | str, prop: Property | str | None, engine: str, options: Mapping[str, object]) -> Query:
    """Return what an assertion checks.

    Args:
        scenario: A scenario, or the name of one.
        prop: The property, or its name, or "deadlock"; None for all of the scenario. What is named is checked alone: a
            deadlock is an error only where it is named, whatever the scenario calls it.
        engine: One of `ENGINES`.
        options: The options of the engine; the others are those of the run, which change only bounds that there are.

    Raises:
        UsageError: Something does not exist, or a value is not allowed.
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    found, accepts, run = scenario_at(scenario), ENGINES[engine].accepts, active_options()
    name = prop.name if isinstance(prop, Property) else prop
    checked = found if name is None else evolve(found, deadlock_is_error=name == DEADLOCK)
    sizes = {bound: size for bound, size in run.bounds.items() if bound in found.bounds}
    own: dict[str, Any] = {"minimize": 0} if "minimize" in rows(accepts) else {}  # the traces are minimized one by one
    own |= {each: value for each, value in options.items() if value is not None}
    shared = {each: getattr(run, each) for each in ("variant", "seconds", "seed", "profile") if each in rows(accepts)}
    bounds = {**sizes, **own.pop("bounds", {})}
    asked = Query.of(checked, accepts, {**shared, **own, "bounds": bounds}, () if name == DEADLOCK else name)
    return evolve(asked, reference=reference_to(found), subject=name or f"the properties of {found.name}")


def search(query: Query, engine: str, *, strict: bool = False) -> Verdict:
    """Return the verdict of an engine, examined.

    Args:
        query: What to check.
        engine: One of `ENGINES`.
        strict: Whether gaps make "holds" the answer "holds with gaps".

    Raises:
        KeyboardInterrupt: Ctrl-C ended the engine.
    """
    ENGINES[engine].refuse(query.options)
    verdict = ENGINES[engine].search(query)
    if verdict.is_interrupted:
        raise KeyboardInterrupt  # an engine returns what it has; a test run has to end
    from kwalk.search.examination.examination import examined

    return examined(query.model, query.properties, verdict, strict=strict)


def minimized(query: Query, verdict: Verdict, seconds: float | None = None) -> Verdict:
    """Return the verdict with locally minimal traces, the shortest first.

    Args:
        query: What was checked.
        verdict: The verdict of an engine.
        seconds: The time limit for each trace; None for the usual one.
    """
    endless = tuple(
        finding for finding in verdict.findings if finding.trace is not None and finding.trace.loop is not None
    )
    finite = tuple(finding for finding in verdict.findings if finding not in endless)
    if all(finding.trace is None or finding.trace.shortest for finding in finite):
        return verdict
    from kwalk.search.minimize.shrink import minimize_findings

    limit: dict[str, Any] = {} if seconds is None else {"seconds": seconds}
    smaller = minimize_findings(query.model, evolve(verdict, findings=finite), **limit).findings
    return evolve(verdict, findings=(*sorted(smaller, key=lambda f: f.trace.length if f.trace else 0), *endless))


# Searches that several tests share.


@define
class SharedSearches:
    """Searches whose verdicts several tests read: one search of a scenario by an engine checks all its properties.

    Args:
        on_verdict: Is called with each new verdict, its model's reference, the number of searches so far, and the
            sentence on the properties that the engine does not check ("" for none).
    """

    on_verdict: Callable[[Verdict, str, int, str], None] = lambda verdict, reference, number, unchecked: None
    _verdicts: dict[tuple[Any, ...], Verdict] = field(factory=dict, init=False)
    _exhaustive: dict[tuple[Any, ...], Verdict] = field(factory=dict, init=False)
    _shapes: dict[Any, str] = field(factory=dict, init=False)

    def verdict(self, query: Query, engine: str, *, strict: bool = False) -> Verdict:
        """Return what a search for all properties of the scenario found about those of one test.

        Where an exhaustive search with the same model has visited every state, random walks and Hypothesis can find
        nothing else: their tests read its verdict. Where it has found a shortest counterexample, theirs are not
        minimized. A proof ends at its first violation, so it is not shared.
        """
        model = _meaning(query)
        key, exhaustive = (model, engine, _searched(query)), self._exhaustive.get(model)
        if exhaustive is not None and exhaustive.stopped is None:
            return minimized(query, _about(exhaustive, query.properties, strict=strict), SHRINK_SECONDS)
        if not ENGINES[engine].keeps_going:
            return minimized(query, search(query, engine, strict=strict))
        if key not in self._verdicts:
            self._verdicts[key] = self._search(query, engine)
            if engine == "exhaust":
                self._exhaustive[model] = self._verdicts[key]
        verdict = _about(self._verdicts[key], query.properties, strict=strict)
        if not ENGINES[engine].checks_liveness:
            verdict = without_liveness(verdict, query.properties, ENGINES[engine].title)
        if exhaustive is not None and verdict.findings and (known := _about(exhaustive, query.properties).findings):
            return evolve(verdict, findings=known)
        return minimized(query, verdict, SHRINK_SECONDS)

    def _search(self, query: Query, engine: str) -> Verdict:
        checked = tuple(p for p in query.model.properties if ENGINES[engine].checks(p.declaration))
        every = evolve(query, properties=checked, options={**query.options, "keep_going": True})
        verdict = search(every, engine, strict=True)
        unchecked = ENGINES[engine].unchecked(query.model.properties)
        self.on_verdict(verdict, query.reference, len(self._verdicts) + 1, unchecked)
        return verdict

    def shown_before(self, query: Query, trace: Trace, where: str) -> str | None:
        """Return where a trace of the same shape was shown already; None if `where` is the first place."""
        from kwalk.search.kernel.compile.compiler import kernel_for
        from kwalk.search.minimize.shape import Shapes
        from kwalk.search.minimize.shrink import Minimizer

        if trace.loop is not None:
            return None
        shape = Shapes(Minimizer(query.model, kernel_for(query.model))).of_trace(trace)
        first = self._shapes.setdefault((query.reference, query.model.variant, shape), where)
        return None if first == where else first


def _meaning(query: Query) -> tuple[Any, ...]:
    """Return what the models of two queries have in common if a search of one answers for the other."""
    from kwalk.search.kernel.model_digest import cache_key, meaning_key

    return query.reference, query.model.variant, meaning_key(query.model) or cache_key(query.model), query.model.initial


def _searched(query: Query) -> tuple[tuple[str, str], ...]:
    """Return the options with which an engine searches, without those of the model and of what is shown."""
    return tuple(sorted((name, repr(value)) for name, value in query.options.items() if name not in UNSEARCHED))


UNSEARCHED = frozenset({*rows(ModelKeywords), "keep_going", "minimize", "strict"})
"""Options that `_meaning` covers, or that make no difference to a search for all properties."""


def _about(verdict: Verdict, properties: Iterable[PropertyInstance], *, strict: bool = False) -> Verdict:
    """Return the part of a verdict on all properties of a scenario that is about some of them."""
    by_key: dict[str, PropertyInstance | None] = {prop.key: prop for prop in properties}
    names = tuple(dict.fromkeys(prop.declaration.title for prop in properties))
    by_key[DEADLOCK] = None  # it is a finding only if the scenario calls it an error
    findings = tuple(finding for finding in verdict.findings if finding.prop in by_key)
    answer = Answer.HOLDS if verdict.stopped is None else Answer.UNDECIDED
    found = [by_key[finding.prop] for finding in findings]
    violated = [prop for prop in found if prop is None or prop.kind is not Kind.REACHABLE]
    if violated:
        answer = answer_to(violated[0])
    elif findings:
        answer = Answer.NOT_REACHABLE
    premises = {key: count for key, count in verdict.premises.items() if key in by_key}
    unfailing = tuple(one for one in verdict.cannot_fail if one.prop in names)
    gaps = tuple(gap for gap in verdict.gaps if not gap.properties or set(gap.properties) & set(names))
    about = evolve(verdict, answer=answer, findings=findings, properties=names, premises=premises)
    return evolve(about, cannot_fail=unfailing, gaps=gaps).judged(strict=strict)
