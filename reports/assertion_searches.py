"""The searches behind assertions: what an assertion checks, the engines, and searches that several tests share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from attrs import define, evolve, field, frozen

from kwalk.model.language import Kind, Model, Property, PropertyInstance, Scenario, UsageError
from kwalk.model.language.errors import unknown
from kwalk.reports.assertion_options import AssertionOptions, active_options
from kwalk.reports.scenario_reference import reference_to, scenario_at
from kwalk.search.results.fairness import unchecked_note, without_liveness
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import DEADLOCK, Answer, Verdict
from kwalk.search.results.verdict_builder import answer_to

SHRINK_SECONDS = 5.0
"""The time limit for minimizing the trace of one failing test of a shared search."""


@frozen
class AssertionQuery:
    """What one assertion checks.

    Args:
        model: The model, with the variant and the bounds of the test.
        properties: The property instances to check.
        reference: The reference that finds the scenario again.
        subject: The checked property, or all of them, in words.
    """

    model: Model
    properties: tuple[PropertyInstance, ...]
    reference: str
    subject: str

    @property
    def options(self) -> AssertionOptions:
        """The options of the run."""
        return active_options()


def query(
    scenario: Scenario | str, prop: Property | str | None, variant: str | None, bounds: Mapping[str, int] | None
) -> AssertionQuery:
    """Return what an assertion checks.

    Args:
        scenario: A scenario, or the name of one.
        prop: The property, or its name, or "deadlock"; None for all of the scenario. A property that is named is
            checked alone: a deadlock is then no error.
        variant: The variant; None for that of the run, or the scenario's default.
        bounds: Sizes that replace those of the scenario and of the run.

    Raises:
        UsageError: The scenario, the property, the variant or a bound does not exist.
    """
    found, options = scenario_at(scenario), active_options()
    name = prop.name if isinstance(prop, Property) else prop
    checked = found if name in (None, DEADLOCK) else evolve(found, deadlock_is_error=False)
    sizes = {name: size for name, size in options.bounds.items() if name in found.bounds}
    model = Model(checked, variant or options.variant, {**sizes, **(bounds or {})})
    properties = () if name == DEADLOCK else model.properties if name is None else model.properties_of(name)
    return AssertionQuery(model, properties, reference_to(found), name or f"the properties of {found.name}")


def search(query: AssertionQuery, engine: str, requested: dict[str, Any], *, strict: bool = False) -> Verdict:
    """Return the verdict of an engine, examined.

    Args:
        query: What to check.
        engine: One of `ENGINES`.
        requested: The engine's keywords; None for those of the run.
        strict: Whether gaps make "holds" the answer "holds with gaps".

    Raises:
        UsageError: There is no such engine, or `seconds` is no time.
        KeyboardInterrupt: Ctrl-C ended the engine.
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    options = query.options
    time = requested.get("seconds", options.seconds)
    if time is not None and not (isinstance(time, int | float) and time > 0):
        raise UsageError(f"`seconds` must be a number above 0, or None for no limit (got {time!r}).")
    limits = {"seconds": options.seconds, "seed": options.seed, "profile": options.profile}
    accepted = {name: value for name, value in limits.items() if name in ENGINES[engine].accepts}
    keywords = {**accepted, **{name: value for name, value in requested.items() if value is not None}}
    verdict = ENGINES[engine].run(query, {name: value for name, value in keywords.items() if value is not None})
    if verdict.is_interrupted:
        raise KeyboardInterrupt  # an engine returns what it has; a test run has to end
    from kwalk.search.examination.examination import examined

    return examined(query.model, query.properties, verdict, strict=strict)


@frozen
class AssertionEngine:
    """An engine: its module (in `kwalk.search`) and function, the options of the run it accepts, what it checks.

    `title` is what notes call it, where it does not check properties about behaviours.
    """

    module: str
    function: str
    accepts: tuple[str, ...]
    title: str
    checks_liveness: bool = False
    keeps_going: bool = True
    """Whether one search finds the violations of all properties."""

    def run(self, query: AssertionQuery, keywords: dict[str, Any]) -> Verdict:
        """Import the engine, because compilers and solvers are slow to load, and return its verdict."""
        engine = getattr(import_module(f"kwalk.search.{self.module}"), self.function)
        verdict: Verdict = engine(query.model, properties=query.properties, **keywords)
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


ENGINES = {
    "exhaust": AssertionEngine("exhaustive.search", "exhaust", ("seconds",), "a reduced search", checks_liveness=True),
    "walk": AssertionEngine("simulation.walk", "walk", ("seconds", "seed"), "random walks"),
    "hypothesis": AssertionEngine(
        "analyses.hypothesis.search", "hypothesis_search", ("seconds", "seed", "profile"), "Hypothesis"
    ),
    "prove": AssertionEngine("proof.prove", "prove", ("seconds",), "a proof", keeps_going=False),
}
"""The engines by name."""


def minimized(query: AssertionQuery, verdict: Verdict, seconds: float | None = None) -> Verdict:
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
    _shapes: dict[Any, str] = field(factory=dict, init=False)

    def verdict(
        self, query: AssertionQuery, engine: str, requested: Mapping[str, Any], *, strict: bool = False
    ) -> Verdict:
        """Return what a search for all properties of the scenario found about those of one test.

        Where an exhaustive search with the same model has visited every state, random walks and Hypothesis can find
        nothing else: their tests read its verdict. Where it has found a shortest counterexample, theirs are not
        minimized. A proof ends at its first violation, so it is not shared.
        """
        model = query.model
        place = (query.reference, model.variant, *sorted(model.binding.bounds.items()))
        key, exhaustive = (*place, engine), self._verdicts.get((*place, "exhaust"))
        if exhaustive is not None and exhaustive.stopped is None:
            return minimized(query, _about(exhaustive, query.properties, strict=strict), SHRINK_SECONDS)
        if not ENGINES[engine].keeps_going:
            return minimized(query, search(query, engine, dict(requested), strict=strict))
        if key not in self._verdicts:
            self._verdicts[key] = self._search(query, engine, dict(requested))
        verdict = _about(self._verdicts[key], query.properties, strict=strict)
        if not ENGINES[engine].checks_liveness:
            verdict = without_liveness(verdict, query.properties, ENGINES[engine].title)
        if exhaustive is not None and verdict.findings and (known := _about(exhaustive, query.properties).findings):
            return evolve(verdict, findings=known)
        return minimized(query, verdict, SHRINK_SECONDS)

    def _search(self, query: AssertionQuery, engine: str, requested: dict[str, Any]) -> Verdict:
        checked = tuple(p for p in query.model.properties if ENGINES[engine].checks(p.declaration))
        verdict = search(evolve(query, properties=checked), engine, {**requested, "keep_going": True}, strict=True)
        unchecked = ENGINES[engine].unchecked(query.model.properties)
        self.on_verdict(verdict, query.reference, len(self._verdicts) + 1, unchecked)
        return verdict

    def shown_before(self, query: AssertionQuery, trace: Trace, where: str) -> str | None:
        """Return where a trace of the same shape was shown already; None if `where` is the first place."""
        from kwalk.search.kernel.compile.compiler import kernel_for
        from kwalk.search.minimize.shape import Shapes
        from kwalk.search.minimize.shrink import Minimizer

        if trace.loop is not None:
            return None
        shape = Shapes(Minimizer(query.model, kernel_for(query.model))).of_trace(trace)
        first = self._shapes.setdefault((query.reference, query.model.variant, shape), where)
        return None if first == where else first


def _about(verdict: Verdict, properties: Iterable[PropertyInstance], *, strict: bool = False) -> Verdict:
    """Return the part of a verdict on all properties of a scenario that is about some of them."""
    by_key = {prop.key: prop for prop in properties}
    findings = tuple(finding for finding in verdict.findings if finding.prop in by_key)
    answer = Answer.HOLDS if verdict.stopped is None else Answer.UNDECIDED
    violated = [finding for finding in findings if by_key[finding.prop].kind is not Kind.REACHABLE]
    if violated:
        answer = answer_to(by_key[violated[0].prop])
    elif findings:
        answer = Answer.NOT_REACHABLE
    names = tuple(dict.fromkeys(prop.declaration.title for prop in by_key.values()))
    premises = {key: count for key, count in verdict.premises.items() if key in by_key}
    unfailing = tuple(one for one in verdict.cannot_fail if one.prop in names)
    gaps = tuple(gap for gap in verdict.gaps if not gap.properties or set(gap.properties) & set(names))
    about = evolve(verdict, answer=answer, findings=findings, properties=names, premises=premises)
    return evolve(about, cannot_fail=unfailing, gaps=gaps).judged(strict=strict)
