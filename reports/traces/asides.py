"""Asides: what a report shows of a trace beside its states: aliases, and the abstract scenario that it should refine.

Words: an *aside* is one line of text. An *alias* is a function of the state that a scenario names for reports; its
value is shown in the first state and where it changes. For a property that `refines` made, each step shows the abstract
action that it maps to, or that it stutters, and what changes in the abstract state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from kwalk.model.language import DomainError, Model, PropertyInstance, Vector
from kwalk.model.language.refinement import Refinement, RefinementProperty
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.traces.changes import changes, lines, parts_of, path_text
from kwalk.search.results.trace import Trace

Asides = tuple[tuple[str, ...], ...]
"""For each state of a trace, the asides of the step that leads there; of the first state, those of the state."""


def asides_of(model: Model, trace: Trace, prop: PropertyInstance | None) -> Asides:
    """Return the asides of a trace of this model, for a report about a property."""
    found: list[list[str]] = [[] for _ in trace.states]
    for number, text in _alias_texts(model, trace):
        found[number].append(text)
    declaration = None if prop is None else prop.declaration
    if isinstance(declaration, RefinementProperty):
        for number, text in _image_texts(model, trace, declaration.refinement):
            found[number].append(text)
    return tuple(tuple(visible(text, 4 * LONGEST) for text in each) for each in found)


def _alias_texts(model: Model, trace: Trace) -> Iterator[tuple[int, str]]:
    """Yield for each alias its value in the first state, and its changes, with the numbers of the states."""
    for alias in model.scenario.aliases:
        values = [_alias_value(model, alias, vector) for vector in trace.states]
        for number, value in enumerate(values):
            if number == 0:
                yield 0, f"{alias.__name__} = {value}"
            elif value != values[number - 1]:
                yield number, f"{alias.__name__}: {values[number - 1]} → {value}"


def _alias_value(model: Model, alias: Callable[[Any], Any], vector: Vector) -> str:
    """Return the value of an alias as text; where it fails, the error."""
    state = model.state(vector)
    with model.active():
        try:
            return str(alias(state))
        except Exception as error:  # the function is a user's: a report shows what is wrong with it
            return f"{type(error).__name__}: {error}"


def _image_texts(model: Model, trace: Trace, refinement: Refinement) -> Iterator[tuple[int, str]]:
    """Yield for each state its number and what happens in the abstract scenario."""
    with model.active():
        abstract = refinement.abstract
    name, images = abstract.scenario.name, [_image(model, refinement, state) for state in trace.states]
    for number, image in enumerate(images):
        if isinstance(image, str):
            yield number, f"{name}: no image: {image}"
        elif number == 0:
            yield 0, f"{name}: {_start_text(abstract, image)}"
        else:
            before = images[number - 1]
            if not isinstance(before, str):
                with model.active():
                    taken = refinement.steps(before).get(image, ())
                yield number, f"{name}: {_step_text(abstract, before, image, [i.index for i in taken])}"


def _image(model: Model, refinement: Refinement, vector: Vector) -> Vector | str:
    with model.active():
        try:
            return refinement.image(model.state(vector))
        except DomainError as error:
            return str(error)


def _start_text(abstract: Model, image: Vector) -> str:
    with abstract.active():
        fresh = abstract.vector(abstract.scenario.state())
        unlike = [part for part in parts_of(abstract) if part.numbers(image) != part.numbers(fresh)]
        values = ", ".join(f"{path_text(part.path)} {part.value_text(image)}" for part in unlike)
    start = "an initial state" if image in abstract.initial else "no initial state"
    return f"{start}; {values}" if values else start


def _step_text(abstract: Model, before: Vector, after: Vector, instances: list[int]) -> str:
    if before == after:
        return "stutters"
    changed = "; ".join(str(line) for line in lines(changes(abstract, parts_of(abstract), before, after)))
    with abstract.active():
        named = " or ".join(f"{abstract.instances[n].actor} {abstract.instances[n].description}" for n in instances)
    return f"{named or 'no action leads there'} ({changed})"


__all__ = ["Asides", "asides_of"]
