"""What a test asks of a scenario, and which engine answers it.

Words: what is *asked* is a model with the claims that a test speaks about. An engine *takes* some of the run's options.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import evolve, frozen

from model.language import Claim, Invariant, Model, Scenario, UsageError
from model.language.errors import unknown
from reports.assertion_options import Options, active_options
from reports.scenario_reference import reference_to, scenario_at
from search.verdict import DEADLOCK, Verdict


@frozen
class Asked:
    """A model, the claims that a test speaks about, and by which reference the scenario is found again."""

    model: Model
    claims: tuple[Claim, ...]
    reference: str
    about: str

    @property
    def options(self) -> Options:
        """The options of the run."""
        return active_options()


def asked_about(
    scenario: Scenario | str,
    invariant: Invariant | str | None,
    variant: str | None,
    bounds: Mapping[str, int] | None,
) -> Asked:
    """What a test asks; UsageError for a scenario, invariant, variant or bound that does not exist.

    A named invariant is asked about alone: a deadlock is then no error.
    """
    found, options = scenario_at(scenario), active_options()
    name = invariant.name if isinstance(invariant, Invariant) else invariant
    asked = found if name in (None, DEADLOCK) else evolve(found, deadlock_is_error=False)
    sizes = {name: size for name, size in options.bounds.items() if name in found.bounds}
    model = Model(asked, variant or options.variant, {**sizes, **(bounds or {})})
    claims = () if name == DEADLOCK else model.claims if name is None else model.claims_of(name)
    return Asked(model, claims, reference_to(found), name or f"the invariants of {found.name}")


def search(asked: Asked, engine: str, wanted: dict[str, Any]) -> Verdict:
    """The verdict of an engine; UsageError for an unknown one."""
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    options = asked.options
    time = wanted.get("seconds", options.seconds)
    if time is not None and not (isinstance(time, int | float) and time > 0):
        raise UsageError(f"`seconds` must be a number above 0, or None for no limit (got {time!r}).")
    limits = {"seconds": options.seconds, "seed": options.seed, "profile": options.profile}
    known = {name: value for name, value in limits.items() if name in ENGINES[engine].takes}
    given = {name: value for name, value in wanted.items() if value is not None}
    return ENGINES[engine].run(asked, {**{k: v for k, v in known.items() if v is not None}, **given})


@frozen
class Engine:
    """How to run an engine, and which of the run's options it takes."""

    run: Callable[[Asked, dict[str, Any]], Verdict]
    takes: tuple[str, ...]


def _exhaust(asked: Asked, wanted: dict[str, Any]) -> Verdict:
    from search.exhaust import exhaust

    return exhaust(asked.model, claims=asked.claims, **wanted)


def _walk(asked: Asked, wanted: dict[str, Any]) -> Verdict:
    from search.compile import kernel_for
    from search.shrink import shrink
    from search.walks import walk

    kernel = kernel_for(asked.model)
    verdict = walk(asked.model, claims=asked.claims, kernel=kernel, **wanted)
    found = [(f, f.trace and shrink(asked.model, f.trace, kernel=kernel)) for f in verdict.findings]
    shrunk = [evolve(finding, trace=trace) for finding, trace in found]
    return evolve(verdict, findings=tuple(sorted(shrunk, key=lambda f: f.trace.length if f.trace else 0)))


def _hypothesis(asked: Asked, wanted: dict[str, Any]) -> Verdict:
    from search.hypothesis import hypothesis_search

    return hypothesis_search(asked.model, claims=asked.claims, **wanted)


def _prove(asked: Asked, wanted: dict[str, Any]) -> Verdict:
    from search.prove import prove

    return prove(asked.model, claims=asked.claims, **wanted)


ENGINES = {
    "exhaust": Engine(_exhaust, ("seconds",)),
    "walk": Engine(_walk, ("seconds", "seed")),
    "hypothesis": Engine(_hypothesis, ("seconds", "seed", "profile")),
    "prove": Engine(_prove, ("seconds",)),
}
"""The engines by name; each is imported when it is first asked for, as compilers and solvers are slow to load."""
