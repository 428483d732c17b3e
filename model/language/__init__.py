"""The language in which models are written: import what a model needs from here."""
from model.language.action import Action, Actor, action, premise, require
from model.language.binding import Binding, Bound, Domain, Flag
from model.language.containers import Array, Fifo, Fresh
from model.language.errors import Abort, DomainError, KwalkError, LiftError, UsageError
from model.language.fix import Fix, Trial
from model.language.invariant import Invariant, Kind, always, eventually, reachable, step, when_quiet
from model.language.model import Claim, Instance, Model, Outcome, Result, Vector
from model.language.scenario import Reading, Scenario
from model.language.state import (
    array,
    choice,
    evolve,
    fifo,
    flag,
    fresh,
    member,
    nested,
    number,
    optional,
    state,
    subset,
    value,
)

__all__ = [
    "Abort", "Action", "Actor", "Array", "Binding", "Bound", "Claim", "Domain", "DomainError", "Fifo", "Fix", "Flag",
    "Fresh", "Instance", "Invariant", "Kind", "KwalkError", "LiftError", "Model", "Outcome", "Reading", "Result",
    "Scenario", "Trial", "UsageError", "Vector", "action", "always", "array", "choice", "eventually", "evolve", "fifo",
    "flag", "fresh", "member", "nested", "number", "optional", "premise", "reachable", "require", "state", "step",
    "subset", "value", "when_quiet",
]  # fmt: skip
