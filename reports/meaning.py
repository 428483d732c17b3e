"""What a model means, as one digest: by it a saved trace tells whether the model has changed since.

It is of the terms that the model's source is lifted to, not of any text: of every step's guard, effects, bounds and
errors, of every claim, of the leaves, and of who is a system actor. So a model, or the language, may be written in
another way, and traces stay good, as long as all that comes to the same terms. Where a model begins is no part of it: a
trace has a first state of its own, and snapshots begin elsewhere. Nor are words for people.

Words: a *line* of the digest is about one leaf, step or claim.
"""
from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from model.language import LiftError, Model
from model.language.lift import Lifted, LiftedAction, LiftedClaim, Obligation, Owed, Term, in_order, lift
from reports.fingerprint import fingerprint
from search.compile.fingerprint import fingerprint as sources
from search.kept_files import keep, place

UNORDERED = frozenset({"add", "and", "eq", "or"})
"""Operations whose arguments may come in any order."""
WRITTEN = re.compile(r"[0-9a-f]{16}")


def meaning(model: Model) -> str:
    """16 hexadecimal digits; of a model that cannot be lifted, those of its text.

    They are kept beside the compiled kernels until a source changes, because lifting takes longer than reading a trace.
    """
    path = place("meanings", sources(model))
    kept = _load(path)
    if kept is not None:
        return kept
    try:
        found = digest(lift(model))
    except LiftError:
        return fingerprint(model)
    keep(path, found.encode("ascii"))
    return found


def digest(lifted: Lifted) -> str:
    """The digest of a model's terms, 16 hexadecimal digits."""
    roots = [root for action in lifted.actions for root in action.roots]
    roots += [root for claim in lifted.claims for root in claim.roots]
    return hashlib.blake2b("\n".join(_lines(lifted, _names(roots))).encode(), digest_size=8).hexdigest()


def _names(roots: Iterable[Term]) -> dict[int, str]:
    """A name for every term below the roots, by id: the same for all that mean the same operations on the same leaves.

    The intervals of terms are left out: they follow from those of the leaves.
    """
    names: dict[int, str] = {}
    for term in in_order(roots):
        below = [names[arg.id] for arg in term.args]
        if term.op == "within":
            names[term.id] = below[0]
            continue
        content = " ".join((term.op, str(term.payload), *(sorted(below) if term.op in UNORDERED else below)))
        names[term.id] = hashlib.blake2b(content.encode(), digest_size=8).hexdigest()
    return names


def _lines(lifted: Lifted, names: dict[int, str]) -> Iterator[str]:
    yield f"a deadlock is an error: {lifted.model.scenario.deadlock_is_error}"
    for leaf in lifted.model.leaves:
        yield f"{leaf.path} {leaf.low} {leaf.high}"
    yield from (_step(action, names) for action in lifted.actions)
    yield from (_claim(claim, names) for claim in lifted.claims)


def _step(action: LiftedAction, names: dict[int, str]) -> str:
    updates = [f"{leaf} = {names[term.id]}" for leaf, term in sorted(action.updates.items())]
    system = action.instance.action.by.system
    return f"{action.instance.key} {system} {names[action.guard.id]} {_owed(action.obligations, names)} {updates}"


def _claim(lifted: LiftedClaim, names: dict[int, str]) -> str:
    terms = f"{names[lifted.premise.id]} {names[lifted.truth.id]} {_owed(lifted.errors, names)}"
    return f"{lifted.claim.key} {lifted.claim.kind.value} {terms}"


def _owed(obligations: Iterable[Obligation], names: dict[int, str]) -> list[str]:
    """Bounds by their names; what errors say is for people."""
    return [f"{o.name if o.owed is Owed.BOUND else o.owed.name} {names[o.condition.id]}" for o in obligations]


def _load(path: Path) -> str | None:
    try:
        text = path.read_text("ascii")
    except (OSError, ValueError):
        return None
    return text if WRITTEN.fullmatch(text) else None
