"""Which action instances walks may take: those of the actions and actors that somebody named, or all but those."""
from __future__ import annotations

from collections.abc import Iterable

from model.language import Model, UsageError
from model.language.errors import unknown


def allowed_instances(model: Model, only: Iterable[str] = (), without: Iterable[str] = ()) -> tuple[int, ...] | None:
    """The numbers of the instances that remain, None if that is all; UsageError for an unknown name, or if none remain.

    A name is that of an action (`crash`), of an actor (`broker`), or of one of several actors (`broker 2`).
    """
    names = _names(model)
    only, without = _known(only, names), _known(without, names)
    kept = [n for n, own in enumerate(names) if (not only or own & only) and not own & without]
    if not kept:
        raise UsageError("No action is left that a walk may take. Name fewer with --without, or others with --only.")
    return None if len(kept) == len(names) else tuple(kept)


def _names(model: Model) -> list[set[str]]:
    """The names that mean each instance."""
    with model.active():
        return [{i.action.name, i.action.by.name, i.actor} for i in model.instances]


def _known(asked: Iterable[str], names: list[set[str]]) -> set[str]:
    known = sorted(set().union(*names))
    for name in asked:
        if name not in known:
            raise unknown("action or actor", name, known)
    return set(asked)
