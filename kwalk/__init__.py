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
    from kwalk.engines import (
        audit,
        check,
        exhaust,
        explain,
        graph,
        hunt,
        mutate,
        open_trace,
        prove,
        scenario,
        scenarios,
        shrink,
        walk,
    )
    from kwalk.model.language import (
        Abort,
        Action,
        ActionInstance,
        Actor,
        Array,
        Bound,
        Domain,
        DomainError,
        Fifo,
        Fix,
        Flag,
        Fresh,
        Kind,
        KwalkError,
        LiftError,
        Model,
        Property,
        PropertyInstance,
        Reading,
        Scenario,
        Trial,
        UsageError,
        action,
        always,
        array,
        choice,
        eventually,
        evolve,
        fifo,
        flag,
        fresh,
        member,
        nested,
        number,
        optional,
        premise,
        reachable,
        require,
        state,
        step,
        subset,
        value,
        when_quiescent,
        when_quiet,
    )
    from kwalk.reports.assertions import Fails, assert_finds, assert_holds
    from kwalk.search.analyses.state_graph import StateGraph
    from kwalk.search.base.options import StopReason
    from kwalk.search.results.trace import Trace
    from kwalk.search.results.verdict import Answer, Finding, Strength, Verdict

_EXPORTS = {
    "kwalk.engines": (
        "audit", "check", "exhaust", "explain", "graph", "hunt", "mutate", "open_trace", "prove", "scenario",
        "scenarios", "shrink", "walk",
    ),
    "kwalk.model.language": (
        "Abort", "Action", "ActionInstance", "Actor", "Array", "Bound", "Domain", "DomainError", "Fifo", "Fix", "Flag",
        "Fresh", "Kind", "KwalkError", "LiftError", "Model", "Property", "PropertyInstance", "Reading", "Scenario",
        "Trial", "UsageError", "action", "always", "array", "choice", "eventually", "evolve", "fifo", "flag", "fresh",
        "member", "nested", "number", "optional", "premise", "reachable", "require", "state", "step", "subset", "value",
        "when_quiescent", "when_quiet",
    ),
    "kwalk.reports.assertions": ("Fails", "assert_finds", "assert_holds"),
    "kwalk.search.analyses.state_graph": ("StateGraph",),
    "kwalk.search.results.trace": ("Trace",),
    "kwalk.search.results.verdict": ("Answer", "Finding", "Strength", "Verdict"),
    "kwalk.search.base.options": ("StopReason",),
}  # fmt: skip
"""The public names, by the module that defines them."""
_MODULE_OF = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = [
    "Abort",
    "Action",
    "ActionInstance",
    "Actor",
    "Answer",
    "Array",
    "Bound",
    "Domain",
    "DomainError",
    "Fails",
    "Fifo",
    "Finding",
    "Fix",
    "Flag",
    "Fresh",
    "Kind",
    "KwalkError",
    "LiftError",
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
    "always",
    "array",
    "assert_finds",
    "assert_holds",
    "audit",
    "check",
    "choice",
    "eventually",
    "evolve",
    "exhaust",
    "explain",
    "fifo",
    "flag",
    "fresh",
    "graph",
    "hunt",
    "member",
    "mutate",
    "nested",
    "number",
    "open_trace",
    "optional",
    "premise",
    "prove",
    "reachable",
    "require",
    "scenario",
    "scenarios",
    "shrink",
    "state",
    "step",
    "subset",
    "value",
    "walk",
    "when_quiescent",
    "when_quiet",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used: the engines take longer to load than a help text may."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted({*globals(), *__all__})
