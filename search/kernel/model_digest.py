"""Digests of models: of what their functions mean as Python, and of the terms that these are lifted to.

Words: the *meaning key* of a model is the digest of its functions and classes by value (`meaning`), of its bounds and
flags, and of the language; it is found in milliseconds. Its *parts* are digests of its lifted terms: of the
transitions, of each property, and of all in their order, from which a kernel is compiled. Parts are cached under the
meaning key, since lifting takes fifty times as long; a model that has no meaning key is lifted each time.

The terms are the guard, updates, bounds and errors of every action instance, the properties, the leaves, and which
actors belong to the system. Comments, docstrings, names of local variables, the order of statements that commute, and
texts for people make no difference.

A saved trace holds the digest of the transitions and of the one property that it violates. The other properties of its
scenario may change, and a snapshot, which selects some of them, gives the same digest as the scenario.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

import kwalk.model.language
from kwalk.model.language import LiftError, Model
from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.base.progress import announce
from kwalk.search.kernel.meaning import NoMeaning, digest_of

if TYPE_CHECKING:
    from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, SideCondition, Term

UNORDERED = frozenset({"add", "and", "eq", "or"})
"""Operations whose arguments may come in any order."""
TRANSITIONS, DEADLOCKS, IN_ORDER = "", "deadlock", "in order"
"""The keys of the digests of the leaves and action instances, of whether a deadlock is an error, and of all terms with
their numbers."""
FORMAT = "3"
"""To be raised when digests are computed in another way."""
HEX = re.compile(r"[0-9a-f]{16}([0-9a-f]{16})?")
LANGUAGE = Path(kwalk.model.language.__file__).parent


def cache_key(model: Model, cpu: str = "") -> str:
    """Return 32 hexadecimal digits that differ whenever the answer of a search can: what outlives a process has it.

    Args:
        model: The model.
        cpu: What else the thing that is saved depends on, such as the CPU of its machine code.

    Raises:
        LiftError: The model cannot be lifted, so that nothing can be saved for it.
    """
    parts, _ = parts_of(model)
    fairness = [(one.kind.value, one.instances) for one in model.fairness.conditions]
    names = (model.scenario.name, model.variant)
    what = (names, sorted(parts.items()), fairness, model.initial, digest_of_language(), cpu)
    return _digest(repr(what), 16)


def path_for(model: Model, folder: str, *sources: str) -> Path:
    """Return the path in the cache of what the modules with these files find out about a model.

    Nothing is kept of a model that cannot be lifted.
    """
    try:
        return cache_path(folder, cache_key(model, digest_of_files(map(Path, sources))))
    except LiftError:
        return Path(os.devnull) / folder


def meaning_key(model: Model) -> str | None:
    """Return 32 hexadecimal digits for all that lifting a model depends on; None if something has no digest.

    Unlike the digests of terms, it covers also what the model's functions do not reach under its flags. Initial states
    are not part of it, but for those whose images a refinement refuses.
    """
    scenario = model.scenario
    try:
        with model.active():
            over = [one.parameters for one in (*scenario.actions, *scenario.properties)]
            contexts = [prop.context for prop in scenario.properties]
            found = digest_of(scenario, dict(model.binding.bounds), dict(model.binding.flags), over, contexts)
    except NoMeaning:
        return None
    # Properties that count depend on more than the meaning of the stated ones, such as positions in the source.
    counted = " ".join(prop.key for prop in model.properties)
    return _digest(f"{found} {counted} {digest_of_language()} {sys.version}", 16)


@cache
def digest_of_language() -> str:
    """Return a digest of the sources of the language, as they were when this process asked first."""
    return digest_of_files(LANGUAGE.rglob("*.py"))


def digest_of_files(paths: Iterable[Path]) -> str:
    """Return a digest of the names and contents of some files."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(paths):
        content = path.read_bytes()
        digest.update(f"{path.name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def model_digest(model: Model) -> str:
    """Return the digest of the transitions and of all properties, 16 hexadecimal digits; "" if it cannot be lifted."""
    try:
        parts, _ = parts_of(model)
    except LiftError:
        return ""
    return _combined(digest for key, digest in parts.items() if key != IN_ORDER)


def trace_digest(model: Model, prop: str | None, *, lifts: bool = True) -> str:
    """Return the digest of the transitions and of one property, given by its key (None: deadlock freedom).

    It has 16 hexadecimal digits; it is "" if the model cannot be lifted or has no such property. Unless it lifts the
    model, it is "" also if the cache does not have it.
    """
    try:
        parts = parts_of(model)[0] if lifts else known_parts(model) or {}
    except LiftError:
        parts = {}
    keys = (TRANSITIONS, DEADLOCKS if prop is None else prop)
    return _combined(parts[key] for key in keys) if all(key in parts for key in keys) else ""


def _combined(digests: Iterable[str]) -> str:
    return _digest("\n".join(digests))


def _digest(text: str, size: int = 8) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def parts_of(model: Model) -> tuple[dict[str, str], Lifted | None]:
    """Return the digests of a model by key, and the lifted model if the cache did not have them.

    Raises:
        LiftError: The model cannot be lifted.
    """
    key = meaning_key(model)
    parts = _load(key)
    if parts is not None:
        return parts, None
    lifted = announced_lift(model)
    return _saved(key, lifted), lifted


def announced_lift(model: Model) -> Lifted:
    """Lift a model, and announce how much of it is lifted: a large one takes minutes.

    Raises:
        LiftError: The model cannot be lifted.
    """
    from kwalk.model.language.lift import lift  # a digest in the cache needs no lifter

    announce("lifting the model")
    actions = len(model.instances)
    return lift(model, lambda lifted: announce(f"lifting the model, {lifted:,} of {actions:,} actions"))


def known_parts(model: Model) -> dict[str, str] | None:
    """Return the digests of a model if the cache has them; nothing is lifted."""
    return _load(meaning_key(model))


def save_digests(model: Model, lifted: Lifted, actions: Sequence[ActionLines] | None = None) -> dict[str, str]:
    """Compute the digests of a lifted model and write them to the cache: lifting takes fifty times as long."""
    return _saved(meaning_key(model), lifted, actions)


def _saved(key: str | None, lifted: Lifted, actions: Sequence[ActionLines] | None = None) -> dict[str, str]:
    parts = digests(lifted, actions)
    if key is not None:
        write_cache(_file(key), json.dumps(parts).encode("ascii"))
    return parts


def _file(key: str) -> Path:
    return cache_path("digests", f"{key}-{FORMAT}")


def _load(key: str | None) -> dict[str, str] | None:
    try:
        parts = json.loads((read_cache(_file(key)) if key else None) or b"")
    except ValueError:
        return None
    is_whole = isinstance(parts, dict) and TRANSITIONS in parts and IN_ORDER in parts
    return parts if is_whole and all(isinstance(p, str) and HEX.fullmatch(p) for p in parts.values()) else None


@frozen
class ActionLines:
    """What the digests of a model have of an action instance: a line of the transitions, and one of all in order."""

    transition: str
    in_order: str


def action_lines(actions: Sequence[LiftedAction]) -> list[ActionLines]:
    """Return the lines of lifted action instances; they are the same in whatever table the terms are."""
    names, exact = term_names(root for action in actions for root in action.roots)
    return [ActionLines(_action(action, names), _action_in_order(action, exact)) for action in actions]


def digests(lifted: Lifted, actions: Sequence[ActionLines] | None = None) -> dict[str, str]:
    """Return the digests of a lifted model: of its transitions, of deadlock freedom, and of each property by key.

    Args:
        lifted: The lifted model.
        actions: The lines of its action instances, where they were lifted to another table.
    """
    actions = action_lines(lifted.actions) if actions is None else actions
    names, exact = term_names(root for prop in lifted.properties for root in prop.roots)
    leaves = [f"{leaf.path} {leaf.low} {leaf.high}" for leaf in lifted.model.leaves]
    return {
        TRANSITIONS: _digest("\n".join([*leaves, *(lines.transition for lines in actions)])),
        DEADLOCKS: _digest(f"a deadlock is an error: {lifted.model.scenario.deadlock_is_error}"),
        **{prop.prop.key: _digest(_property(prop, names)) for prop in lifted.stated_properties},
        IN_ORDER: _in_order(lifted, [lines.in_order for lines in actions], exact),
    }


def terms_digest(lifted: Lifted) -> str:
    """Return 32 hexadecimal digits for all that a kernel is compiled from: the terms of a model with their numbers.

    Names of actions, properties and leaves make no difference; those of bounds and errors do, as a kernel has them.
    """
    return digests(lifted)[IN_ORDER]


def _in_order(lifted: Lifted, actions: Sequence[str], names: dict[int, str]) -> str:
    lines = [*(f"{leaf.low} {leaf.high}" for leaf in lifted.model.leaves), *actions]
    for prop in lifted.properties:
        terms = f"{names[prop.premise.id]} {names[prop.truth.id]} {_named(prop.errors, names)}"
        lines.append(f"{prop.prop.kind.name} {terms}")
    return _digest("\n".join(lines), 16)


def _action_in_order(action: LiftedAction, names: dict[int, str]) -> str:
    updates = [(leaf, names[term.id]) for leaf, term in sorted(action.updates.items())]
    return f"action {names[action.guard.id]} {_named(action.side_conditions, names)} {updates}"


def _named(conditions: Iterable[SideCondition], names: dict[int, str]) -> list[str]:
    return [f"{one.kind.name} {one.name!r} {names[one.condition.id]}" for one in conditions]


def term_names(roots: Iterable[Term]) -> tuple[dict[int, str], dict[int, str]]:
    """Return names for every term below the roots, by id: equal for equal operations on equal leaves.

    The second names, which are for a compiler, tell also to which interval a term was narrowed; other intervals follow
    from those of the leaves.
    """
    from kwalk.model.language.lift import in_order

    names: dict[int, str] = {}
    exact: dict[int, str] = {}
    for term in in_order(roots):
        below, narrowed = [names[arg.id] for arg in term.args], [exact[arg.id] for arg in term.args]
        names[term.id] = below[0] if term.op == "within" else _name(term, below)
        exact[term.id] = names[term.id] if term.op != "within" and below == narrowed else _name(term, narrowed)
    return names, exact


def _name(term: Term, below: list[str]) -> str:
    payload = f"{term.low} {term.high}" if term.op == "within" else str(term.payload)
    return _digest(" ".join((term.op, payload, *(sorted(below) if term.op in UNORDERED else below))))


def _action(action: LiftedAction, names: dict[int, str]) -> str:
    updates = [f"{leaf} = {names[term.id]}" for leaf, term in sorted(action.updates.items())]
    system = action.instance.action.by.system
    conditions = _conditions(action.side_conditions, names)
    return f"{action.instance.key} {system} {names[action.guard.id]} {conditions} {updates}"


def _property(lifted: LiftedProperty, names: dict[int, str]) -> str:
    terms = f"{names[lifted.premise.id]} {names[lifted.truth.id]} {_conditions(lifted.errors, names)}"
    return f"{lifted.prop.key} {lifted.prop.kind.name} {terms}"


def _conditions(conditions: Iterable[SideCondition], names: dict[int, str]) -> list[str]:
    """Return bounds by their names; the texts of errors make no difference."""
    from kwalk.model.language.lift import ConditionKind

    return [f"{o.name if o.kind is ConditionKind.BOUND else o.kind.name} {names[o.condition.id]}" for o in conditions]
