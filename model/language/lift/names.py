"""Names of what can change in place: a name that is read after a change under another one is refused.

A local name for an array, queue, set of records or source of ids is a reference: `old = w.a` is no copy of the array.
If `w.a` changes afterwards, `old` changes with it, and a comparison of the two never fails, though it reads as if it
could. So `old` is *outdated* from then on, on every path on which the change happens, and the same holds for a record
that is replaced as a whole. A change through `old` itself, or through what was reached from it, leaves it as it is; so
does a change of a record's field, for which `w.boxes[0]` has a short name.
"""

from __future__ import annotations

from typing import Any

from kwalk.model.language.lift.machine import Partial, SymbolicMachine
from kwalk.model.language.lift.objects import ArrayObject, LeafCell, RecordObject
from kwalk.model.language.lift.terms import Term
from kwalk.model.language.lift.values import OUTDATED, Reference, VaryingItems


def outdate_changed(m: SymbolicMachine, changed: Reference) -> None:
    """Outdate other names for a container of which elements change."""
    _outdate(m, changed, {id(node) for _, node in changed.options})


def outdate_replaced(m: SymbolicMachine, owner: Reference, targets: list[tuple[Term, Any]], value: Any) -> None:
    """Outdate names for the objects that are replaced by a value, and for what is in them.

    Args:
        m: the machine.
        owner: the record or array of which they are parts.
        targets: the objects, or cells that hold none, with their conditions.
        value: what replaces them: if it is the object itself, nothing changes.
    """
    replaced = {id(node) for _, node in targets}
    if isinstance(value, Reference) and {id(node) for _, node in value.options} == replaced:
        return
    inner = {id(part) for _, node in targets for part in _parts(node)}
    if inner:
        _outdate(m, owner, inner)


def _parts(node: Any) -> list[Any]:
    """Return an object and all objects within it."""
    if isinstance(node, LeafCell):
        return []
    below = node.fields.values() if isinstance(node, RecordObject) else getattr(node, "items", ())
    return [node, *(part for child in below for part in _parts(child))]


def _outdate(m: SymbolicMachine, by: Reference, nodes: set[int]) -> None:
    names = _reached_through(by)
    for local in (m.now.local, *(frame.caller for frame in m.frames)):
        for name, value in local.items():
            if _refers(m, value, nodes, names):
                local[name] = OUTDATED


def _reached_through(reference: Reference) -> set[int]:
    """Return the identities of a reference, and of those through which it was reached."""
    found: set[int] = set()
    waiting = [reference]
    while waiting:
        one = waiting.pop()
        if id(one) not in found:
            found.add(id(one))
            waiting += one.through
    return found


def _refers(m: SymbolicMachine, value: Any, nodes: set[int], names: set[int]) -> bool:
    """Whether a value is, or holds, a reference to one of the objects, by another name than these."""
    if isinstance(value, Partial):
        return _refers(m, value.value, nodes, names)
    if isinstance(value, tuple):
        return any(_refers(m, item, nodes, names) for item in value)
    if isinstance(value, VaryingItems):
        return any(_refers(m, item, nodes, names) for _, item in value.items)
    if not isinstance(value, Reference) or id(value) in names:
        return False
    return any(_has(m, node, nodes, names) for _, node in value.options)


def _has(m: SymbolicMachine, node: Any, nodes: set[int], names: set[int]) -> bool:
    """Whether an object is one of the objects, or an array or list that has one of them."""
    if id(node) in nodes:
        return True
    if isinstance(node, LeafCell):
        return node.shape is None and _refers(m, m.now.store[node.key], nodes, names)
    return isinstance(node, ArrayObject) and any(_has(m, item, nodes, names) for item in node.items)
