"""A model whose source is edited while Python runs it: what is checked is what Python runs, or the model is refused."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from kwalk import exhaust
from kwalk.model.language import LiftError

SOURCE = '''
from kwalk.model.language import Actor, Scenario, action, always, number, require, state

WALKER = Actor("walker")

@state
class Stair:
    step: int = number(0, 5)

    def rise(self) -> None:
        """Step up.

        The second line of a docstring is indented.
        """
        self.step += 1

@action(by=WALKER)
def climb(stair: Stair) -> None:
    require(stair.step < 2)
    stair.rise()

@always(symptom="It is too high.")
def is_low(stair: Stair) -> bool:
    return stair.step < 4

SCENARIO = Scenario(name="edited-stair", story="A stair.", state=Stair, actions=(climb,), properties=(is_low,))
'''
NAME = "edited_stair"


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # an edit within a second is not seen by its time
    (tmp_path / f"{NAME}.py").write_text(SOURCE)
    monkeypatch.delitem(sys.modules, NAME, raising=False)
    return importlib.import_module(NAME)


def edit(module: ModuleType, least: str = "5") -> None:
    assert module.__file__
    Path(module.__file__).write_text(SOURCE.replace("stair.step < 2", f"stair.step < {least}"))


def test_a_module_that_is_loaded_again_is_checked_as_it_is_now(module):
    assert exhaust(module.SCENARIO).distinct_states == 3
    edit(module)
    again = importlib.reload(module)
    verdict = exhaust(again.SCENARIO)
    assert verdict.counterexample is not None
    assert verdict.counterexample.length == 4


def test_an_edit_has_no_effect_on_a_model_that_is_in_use(module):
    assert exhaust(module.SCENARIO).distinct_states == 3
    edit(module)
    assert exhaust(module.SCENARIO).distinct_states == 3


def test_a_function_whose_source_was_edited_before_its_first_use_is_refused(module, tmp_path, monkeypatch):
    monkeypatch.setenv("KWALK_CACHE", str(tmp_path / "cache"))  # no other test has left its kernel there
    edit(module, "3")
    said = r"edited_stair.py:17: the source of climb has changed since Python read it.*reload"
    with pytest.raises(LiftError, match=said):
        exhaust(module.SCENARIO)


AROUND = """
import stair_rules
from kwalk.model.language import Actor, Scenario, action, always, choice, number, require, state
from stair_rules import Side

@state
class Stair:
    step: int = number(0, 5)
    side: Side = choice(Side)

    def rise(self) -> None:
        self.step += 1

@action(by=Actor("walker"))
def climb(stair: Stair) -> None:
    require(stair_rules.is_low(stair.step) and Side.LEFT.is_left() and stair.step in {0, 1, 2, -1, 50, 1000})
    stair.rise()

@always()
def is_low(stair: Stair) -> bool:
    return stair.step < 4

SCENARIO = Scenario(name="stair-with-rules", story="A stair.", state=Stair, actions=(climb,), properties=(is_low,))
"""
RULES = """
from enum import Enum

class Side(Enum):
    LEFT = 0
    RIGHT = 1

    def is_left(self) -> bool:
        return self == Side.LEFT

def is_low(step: int) -> bool:
    return step < 3
"""


def test_code_that_depends_on_what_is_around_a_function_is_no_edit(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "stair_rules.py").write_text(RULES)
    (tmp_path / "stair_around.py").write_text(AROUND)
    verdict = exhaust(importlib.import_module("stair_around").SCENARIO)
    assert verdict.distinct_states == 4
