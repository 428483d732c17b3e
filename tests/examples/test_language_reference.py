"""The reference of the language is true: its code runs, lifts and agrees; what it calls refused is refused."""

from __future__ import annotations

import importlib
import random
from types import ModuleType

import pytest
from attrs import evolve

from docs.generate.constructs import CONSTRUCTS
from kwalk.model.language import LiftError, Model, PropertyInstance, Scenario, Vector
from kwalk.model.language.lift import lift
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.stepping import KernelStepper, PlainStepper
from tests.examples.reading import Reader, parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "reference" / "language.md"
PARTS = parts_of(PAGE)
SAMPLE = 400
FIXED_BY_THE_VARIANT = {'CAREFUL and RULES == "old"'}


EXPRESSIONS = [row["code"] for row in CONSTRUCTS["expression"]]
REFUSED = [row["code"] for row in CONSTRUCTS["refused"]]


def _depot(reader: Reader, extra: str = "") -> ModuleType:
    for part in PARTS:
        if part.module is not None:
            reader.do(part)
    reader.write("depot", extra)
    return importlib.import_module("depot")


def _properties(expressions: list[str]) -> str:
    head = "@always()\ndef claim_{}(depot: Depot, shelf: Shelf) -> bool:\n    return bool({})\n"
    return "\n\n".join(head.format(number, code) for number, code in enumerate(expressions))


def _sample(model: Model) -> list[Vector]:
    """States of a few random runs, always the same."""
    chance, found = random.Random(7), []
    while len(found) < SAMPLE:
        vector = chance.choice(model.initial)
        for _ in range(60):
            found.append(vector)
            following = [after for _, after in model.successors(vector)]
            vector = chance.choice(following or model.initial)
    return found


def test_following_the_reference_prints_what_it_shows(reader: Reader) -> None:
    for part in PARTS:
        printed = squeezed(reader.do(part))
        assert all(squeezed(line) in printed for line in part.shown)


@pytest.mark.parametrize("variant", ["old-rules", "new-rules"])
def test_the_references_actions_do_the_same_compiled_as_in_plain_python(reader: Reader, variant: str) -> None:
    model = Model(_depot(reader).DEPOT, variant)
    kernel = kernel_for(model)
    plain, compiled = PlainStepper(model, ()), KernelStepper(model, (), kernel)
    taken = set()
    for vector in _sample(model):
        here = compiled.start(vector)
        steps = list(plain.successors(vector))
        assert list(compiled.successors(here)) == [(instance, compiled.start(after)) for instance, after in steps]
        taken.update(model.instances[instance].action.name for instance, _ in steps)
    assert taken | {"stow_or_drop"} == {action.name for action in model.scenario.actions}


def test_the_references_expressions_are_as_true_compiled_as_in_plain_python(reader: Reader) -> None:
    scenario = _with_properties(_depot(reader, _properties(EXPRESSIONS)))
    model = Model(scenario)
    kernel = kernel_for(model)
    states = _sample(model)
    for prop in model.properties:
        compiled = KernelStepper(model, (prop,), kernel)
        found = [compiled.shows(compiled.start(vector), None) for vector in states]
        assert found == [model.violates(prop, vector) for vector in states], _expression(prop)


def test_the_references_expressions_are_true_in_some_states_and_false_in_others(reader: Reader) -> None:
    model = Model(_with_properties(_depot(reader, _properties(EXPRESSIONS))))
    states = _sample(model)
    seen: dict[str, set[bool | None]] = {}
    for prop in model.properties:
        seen.setdefault(_expression(prop), set()).update(model.truth(prop, vector) for vector in states)
    assert {expression for expression, truths in seen.items() if len(truths) == 1} == FIXED_BY_THE_VARIANT


def _expression(prop: PropertyInstance) -> str:
    return EXPRESSIONS[int(prop.declaration.name.removeprefix("claim_"))]


def _with_properties(module: ModuleType) -> Scenario:
    properties = [getattr(module, f"claim_{number}") for number in range(len(EXPRESSIONS))]
    return evolve(module.DEPOT, properties=properties)


def test_the_constructs_are_read() -> None:
    assert len(EXPRESSIONS) > 30
    assert len(REFUSED) > 20


@pytest.mark.parametrize("statement", REFUSED)
def test_what_the_reference_calls_refused_is_refused_with_file_line_and_advice(reader: Reader, statement: str) -> None:
    code = "@action(by=CLERK)\ndef refused(depot: Depot, shelf: Shelf) -> None:\n    helper(depot, shelf)\n\n\n"
    code += f"def helper(depot, shelf):\n    {statement}\n"
    module = _depot(reader, code)
    model = Model(evolve(module.DEPOT, actions=[module.refused], properties=()))
    line = len((reader.folder / "depot.py").read_text(encoding="utf-8").rstrip().splitlines())
    with pytest.raises(LiftError, match=rf"depot\.py:{line}: .*Instead: "):
        lift(model)
