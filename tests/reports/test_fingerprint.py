"""A fingerprint changes when a model's meaning may have changed, and not with its comments."""
from __future__ import annotations

import importlib
import sys

import pytest

from model.language import Model
from reports import fingerprint as fingerprints
from reports.fingerprint import fingerprint, modules_of
from tests.reports.traces import model

MODEL = '''"""A clock."""
from model.language import Actor, Scenario, action, number, require, state
from clock_parts import LIMIT

@state
class Clock:
    """Hours."""
    hour: int = number(0, 3)

@action(by=Actor("clock"))
def tick(clock: Clock) -> None:
    """On."""
    require(clock.hour < LIMIT)  # until the end
    clock.hour += 1

CLOCK = Scenario(name="clock", story="It ticks.", state=Clock, actions=(tick,))
'''


@pytest.fixture
def clock(tmp_path, monkeypatch):
    """A function from the texts of two modules to the fingerprint of the model in them."""
    monkeypatch.syspath_prepend(tmp_path)

    def of(text: str, parts: str = "LIMIT = 2\n\ndef unused():\n    return 1\n") -> str:
        (tmp_path / "clock_model.py").write_text(text)
        (tmp_path / "clock_parts.py").write_text(parts)
        for name in ("clock_model", "clock_parts"):
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        return fingerprint(Model(importlib.import_module("clock_model").CLOCK))

    yield of
    for name in ("clock_model", "clock_parts"):
        sys.modules.pop(name, None)


def test_comments_docstrings_and_layout_do_not_count(clock):
    changed = MODEL.replace("  # until the end", "").replace('"""On."""', '"""Onwards."""').replace("\n\n", "\n\n\n")
    assert clock(changed) == clock(MODEL)


def test_a_guard_that_changes_counts(clock):
    assert clock(MODEL.replace("clock.hour < LIMIT", "clock.hour <= LIMIT")) != clock(MODEL)


def test_bounds_and_variants_count_as_far_as_they_change_the_state():
    assert fingerprint(model()) == fingerprint(model())
    assert fingerprint(Model(model().scenario, bounds={"seals": 4})) != fingerprint(model())


def test_engines_that_a_model_file_imports_do_not_count(clock):
    importing = MODEL.replace("from clock_parts", "import reports.fingerprint\nimport search.exhaust\nfrom clock_parts")
    clock(importing)
    found = modules_of(Model(sys.modules["clock_model"].CLOCK))
    assert [module.__name__ for module in found] == ["clock_model"]


def test_what_the_language_means_counts_and_how_it_is_lifted_does_not(clock, monkeypatch, tmp_path):
    language = tmp_path / "language"
    (language / "lift").mkdir(parents=True)
    prints = []
    for name, text in (("shapes.py", "a = 1"), ("lift/terms.py", "b = 1"), ("errors.py", "c"), ("shapes.py", "a = 2")):
        (language / name).write_text(text)
        monkeypatch.setattr(fingerprints, "LANGUAGE", language)
        fingerprints._language.cache_clear()
        prints.append(clock(MODEL))
    fingerprints._language.cache_clear()
    assert prints[0] == prints[1] == prints[2] != prints[3]


def test_the_language_and_installed_packages_are_not_part_of_a_model():
    assert [module.__name__ for module in modules_of(model())] == ["tests.reports.post_office"]
