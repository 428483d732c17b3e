"""The digest of a lifted model: two models with the same digest have the same behaviour.

The digest is computed from the terms that the source is lifted to: the guard, updates, bounds and errors of every
action instance, the properties, the leaves, and which actors belong to the system. Comments, docstrings, names of local
variables, the order of statements that commute, texts for people, and the initial states make no difference.

A saved trace holds the digest of the transitions and of the one property that it violates. The other properties of its
scenario may change, and a snapshot, which selects some of them, gives the same digest as the scenario.
"""
from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kwalk.model.language import LiftError, Model
from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.kernel.compile.cache import cache_key

if TYPE_CHECKING:
    from kwalk.model.language.lift import Lifted, LiftedAction, LiftedProperty, SideCondition, Term

UNORDERED = frozenset({"add", "and", "eq", "or"})
"""Operations whose arguments may come in any order."""
TRANSITIONS, DEADLOCKS = "", "deadlock"
"""The keys of the digest of the leaves and action instances, and of whether a deadlock is an error."""
FORMAT = "1"
"""To be raised when digests are computed in another way."""
HEX = re.compile(r"[0-9a-f]{16}")


def model_digest(model: Model) -> str:
    """Return the digest of the transitions and of all properties, 16 hexadecimal digits; "" if it cannot be lifted."""
    return _combined(_parts(model).values())


def trace_digest(model: Model, prop: str | None, *, lifts: bool = True) -> str:
    """Return the digest of the transitions and of one property, given by its key (None: deadlock freedom).

    It has 16 hexadecimal digits; it is "" if the model cannot be lifted or has no such property. Unless it lifts the
    model, it is "" also if the cache does not have it.
    """
    parts = _parts(model) if lifts else _load(_file(model)) or {}
    wanted = (TRANSITIONS, DEADLOCKS if prop is None else prop)
    return _combined(parts[key] for key in wanted) if all(key in parts for key in wanted) else ""


def _combined(digests: Iterable[str]) -> str:
    text = "\n".join(digests)
    return _digest(text) if text else ""


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _parts(model: Model) -> dict[str, str]:
    """Return the digests by key, from the cache if the sources are the same: lifting takes longer than reading."""
    parts = _load(_file(model))
    if parts is None:
        from kwalk.model.language.lift import lift  # a digest in the cache needs no lifter

        try:
            return save_digests(model, lift(model))
        except LiftError:
            return {}
    return parts


def save_digests(model: Model, lifted: Lifted) -> dict[str, str]:
    """Compute the digests of a lifted model and write them to the cache: lifting takes fifty times as long."""
    parts = digests(lifted)
    write_cache(_file(model), json.dumps(parts).encode("ascii"))
    return parts


def _file(model: Model) -> Path:
    return cache_path("digests", f"{cache_key(model)}-{FORMAT}")


def _load(path: Path) -> dict[str, str] | None:
    try:
        parts = json.loads(read_cache(path) or b"")
    except ValueError:
        return None
    is_whole = isinstance(parts, dict) and TRANSITIONS in parts
    return parts if is_whole and all(isinstance(p, str) and HEX.fullmatch(p) for p in parts.values()) else None


def digests(lifted: Lifted) -> dict[str, str]:
    """Return the digests of a lifted model: of its transitions, of deadlock freedom, and of each property by key."""
    roots = [root for action in lifted.actions for root in action.roots]
    roots += [root for prop in lifted.properties for root in prop.roots]
    names = term_names(roots)
    return {
        TRANSITIONS: _digest("\n".join(_transitions(lifted, names))),
        DEADLOCKS: _digest(f"a deadlock is an error: {lifted.model.scenario.deadlock_is_error}"),
        **{
            prop.prop.key: _digest(_property(prop, names))
            for prop in lifted.stated_properties
        },
    }


def term_names(roots: Iterable[Term]) -> dict[int, str]:
    """Return a name for every term below the roots, by id: equal for equal operations on equal leaves.

    The intervals of terms are left out: they follow from those of the leaves.
    """
    from kwalk.model.language.lift import in_order

    names: dict[int, str] = {}
    for term in in_order(roots):
        below = [names[arg.id] for arg in term.args]
        if term.op == "within":
            names[term.id] = below[0]
            continue
        content = " ".join((term.op, str(term.payload), *(sorted(below) if term.op in UNORDERED else below)))
        names[term.id] = _digest(content)
    return names


def _transitions(lifted: Lifted, names: dict[int, str]) -> Iterator[str]:
    for leaf in lifted.model.leaves:
        yield f"{leaf.path} {leaf.low} {leaf.high}"
    yield from (_action(action, names) for action in lifted.actions)


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
