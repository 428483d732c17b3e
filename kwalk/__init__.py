"""A model checker: write a system as plain Python; kwalk finds the shortest way to any state that breaks a property.

Everything that a model, a test or a notebook needs is imported from here::

    from kwalk import Bound, Scenario, action, always, exhaust, number, require, state

Names are loaded when they are first used, so that `import kwalk` costs next to nothing. What is not in `kwalk.__all__`
is private and may change.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kwalk.engines import *
    from kwalk.model.language import *
    from kwalk.reports.assertions import Fails, assert_finds, assert_holds
    from kwalk.search.analyses.hypothesis.conformance import (
        CallRefused,
        Implementation,
        ImplementationDiffers,
        conformance_machine,
    )
    from kwalk.search.analyses.state_graph import StateGraph
    from kwalk.search.base.options import StopReason
    from kwalk.search.results.trace import Trace
    from kwalk.search.results.verdict import Answer, Finding, Strength, Verdict

_MODULES = (
    "kwalk.model.language",
    "kwalk.engines",
    "kwalk.search.results.trace",
    "kwalk.search.results.verdict",
    "kwalk.search.base.options",
    "kwalk.reports.assertions",
    "kwalk.search.analyses.state_graph",
    "kwalk.search.analyses.hypothesis.conformance",
)
"""The modules that define the public names: the fastest to load comes first."""

__all__ = [
    "SYSTEM_FAIRNESS",
    "Abort",
    "Action",
    "ActionInstance",
    "Actor",
    "Answer",
    "Array",
    "Bound",
    "CallRefused",
    "Domain",
    "DomainError",
    "Fails",
    "Fairness",
    "Fifo",
    "Finding",
    "Fix",
    "Flag",
    "Fresh",
    "Implementation",
    "ImplementationDiffers",
    "Kind",
    "KwalkError",
    "LiftError",
    "Mark",
    "Model",
    "Property",
    "PropertyInstance",
    "Reading",
    "Scenario",
    "StateGraph",
    "StopReason",
    "Strength",
    "Trace",
    "Trial",
    "UsageError",
    "Verdict",
    "action",
    "action_constraint",
    "actions_of",
    "always",
    "always_eventually",
    "array",
    "assert_finds",
    "assert_holds",
    "audit",
    "bounded_set",
    "check",
    "choice",
    "conformance_machine",
    "constraint",
    "default_bounds",
    "eventually",
    "eventually_always",
    "evolve",
    "exhaust",
    "explain",
    "explore",
    "fifo",
    "flag",
    "fresh",
    "graph",
    "hunt",
    "inevitable",
    "leads_to",
    "member",
    "mutate",
    "nested",
    "number",
    "open_trace",
    "optional",
    "premise",
    "prove",
    "reachable",
    "refines",
    "require",
    "scenario",
    "scenarios",
    "shrink",
    "state",
    "step",
    "strongly_fair",
    "subset",
    "value",
    "walk",
    "weakly_fair",
    "when_quiescent",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the engines take longer to load than a help text may."""
    if name in __all__:
        for module in map(import_module, _MODULES):
            if name in getattr(module, "__all__", vars(module)):
                return globals().setdefault(name, getattr(module, name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
