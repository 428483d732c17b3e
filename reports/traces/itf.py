"""A trace as ITF JSON, the format of Apalache and Quint, with all that replays it in `#meta`.

Words: ITF is Apalache's *informal trace format* (its ADR 15): `vars` names the variables, `states` has one record per
state, every integer is {"#bigint": "…"}. `mbt::actionTaken` and `mbt::nondetPicks` are Quint's names for the action
that led to a state and for its arguments. `loop` is the number of the state where the loop of a lasso starts; the last
state equals it. The *vectors* in `#meta` are the states as kwalk numbers them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kwalk.model.language import ActionInstance, Domain, Model
from kwalk.model.language.action import Parameter
from kwalk.model.language.containers import ArrayShape, FifoShape
from kwalk.model.language.record_sets import SetShape
from kwalk.model.language.records import RecordShape, ValueShape, shapes_of
from kwalk.model.language.shapes import NONE, ChoiceShape, FlagShape, OptionalShape, Shape, SubsetShape
from kwalk.search.results.trace import Trace

ACTION, PICKS = "mbt::actionTaken", "mbt::nondetPicks"
DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
UNIT: dict[str, Any] = {"#tup": []}
NOTHING: dict[str, Any] = {"tag": "None", "value": UNIT}


def itf_text(model: Model, trace: Trace, version: str, about: Mapping[str, Any] | None = None) -> str:
    """Return the text of the file, in ASCII."""
    return json.dumps(itf(model, trace, version, about), indent=1) + "\n"


def itf(model: Model, trace: Trace, version: str, about: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the object of the file; `about` is what its `#meta` says of an incident."""
    steps = (None, *(model.instance(key) for key in trace.actions))
    with model.active():
        names = [name for name, _ in shapes_of(model.scenario.state)]
        states = [_state(model, index, step, trace) for index, step in enumerate(steps)]
    return {
        "#meta": {**_meta(trace, version), **({} if about is None else {"incident": about})},
        "vars": [*names, ACTION, PICKS],
        "states": states,
        **({} if trace.loop is None else {"loop": trace.loop}),
    }


def _meta(trace: Trace, version: str) -> dict[str, Any]:
    return {
        "format": "ITF",
        "format-description": DESCRIPTION,
        "kwalk": version,
        "scenario": trace.scenario,
        "variant": trace.variant,
        "bounds": {name: integer(size) for name, size in trace.bounds.items()},
        "flags": dict(trace.flags),
        "labels": {name: list(labels) for name, labels in trace.labels.items()},
        "seed": None if trace.seed is None else integer(trace.seed),
        "property": trace.prop,
        "found-by": trace.found_by,
        "shortest": trace.shortest,
        "command": trace.command,
        "fingerprint": trace.fingerprint,
        "actions": list(trace.actions),
        "vectors": [" ".join(map(str, vector)) for vector in trace.states],
    }


def _state(model: Model, index: int, step: ActionInstance | None, trace: Trace) -> dict[str, Any]:
    numbers = iter(trace.states[index])
    meta: dict[str, Any] = {"index": index}
    if step is not None:
        meta |= {"action": step.key, "actor": step.actor, "description": step.description}
    variables = {name: expression(shape, numbers) for name, shape in shapes_of(model.scenario.state)}
    return {"#meta": meta, **variables, ACTION: step.action.name if step else "init", PICKS: _picks(model, step)}


def _picks(model: Model, step: ActionInstance | None) -> dict[str, Any]:
    """Return the arguments of a step by name; as in Quint, every name is in every state, as an option."""
    names = sorted({p.name for action in model.scenario.actions for p in action.parameters})
    pairs = zip(step.action.parameters, step.args, strict=True) if step else ()
    chosen = {parameter.name: _argument(parameter, value) for parameter, value in pairs}
    return {name: {"tag": "Some", "value": chosen[name]} if name in chosen else NOTHING for name in names}


def _argument(parameter: Parameter, value: Any) -> Any:
    if isinstance(parameter.domain, Domain):
        return integer(value)
    if isinstance(parameter.domain, Shape):
        numbers: list[int] = []
        parameter.domain.flatten(value, numbers)
        return expression(parameter.domain, iter(numbers))
    return value if parameter.domain is bool else value.name


def integer(number: int) -> dict[str, str]:
    """An integer of any size."""
    return {"#bigint": str(number)}


def expression(shape: Shape, numbers: Iterator[int]) -> Any:
    """The value whose leaves come next, as ITF writes it; the model must be active."""
    if isinstance(shape, RecordShape):
        return {name: expression(each, numbers) for name, each in shapes_of(shape.cls)}
    if isinstance(shape, ArrayShape):
        return {"#map": [[integer(member), expression(shape.element, numbers)] for member in shape.domain]}
    if isinstance(shape, FifoShape):
        length = next(numbers)
        return [expression(shape.element, numbers) for _ in range(int(shape.capacity))][:length]
    if isinstance(shape, SetShape):
        return {"#set": [_tagged(shape, record) for record in shape.rebuild(numbers)]}
    if isinstance(shape, SubsetShape):
        return {"#set": [integer(member) for member in shape.domain if next(numbers)]}
    if isinstance(shape, ValueShape):
        return _record(shape, numbers)
    return _scalar(shape, next(numbers))


def _tagged(shape: SetShape, record: Any) -> Any:
    """A record of a set; where the set has several classes, with the name of its own."""
    cls, leaves = type(record), list[int]()
    ValueShape(cls).flatten(record, leaves)
    fields = expression(ValueShape(cls), iter(leaves))
    return {"tag": cls.__name__, "value": fields} if len(shape.classes) > 1 else fields


def _record(shape: ValueShape, numbers: Iterator[int]) -> Any:
    present = bool(next(numbers)) if shape.optional else True
    fields = {name: expression(each, numbers) for name, each in shapes_of(shape.cls)}
    if not shape.optional:
        return fields
    return {"tag": "Some", "value": fields} if present else NOTHING


def _scalar(shape: Shape, number: int) -> Any:
    if isinstance(shape, OptionalShape):
        return NOTHING if number == NONE else {"tag": "Some", "value": _scalar(shape.inner, number)}
    if isinstance(shape, FlagShape):
        return bool(number)
    return shape.members()[number].name if isinstance(shape, ChoiceShape) else integer(number)
