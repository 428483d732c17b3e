"""A mistake in the search for fair components or in the conditions of fairness is found on random graphs."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.liveness import components, search, waiting
from kwalk.search.native import loops as registry
from kwalk.search.native.loops import CompiledLoop
from tests.liveness.fair_graphs import FAIRNESS, SIZE, counts, expected, searched

COMPONENTS, WAITING = components.__name__, waiting.__name__
LOOPS = {
    "weak fairness must be taken": (COMPONENTS, "left & ~peek(disabled, word)", "left"),
    "weak fairness is ignored": (COMPONENTS, "weak_unmet != ZERO or", "weak_unmet != weak_unmet or"),
    "strong fairness is ignored": (COMPONENTS, "strong, word) & left & peek", "strong, word) & ZERO & peek"),
    "strong fairness is not refined": (COMPONENTS, "all_inside else PART_OPEN", "all_inside else PART_UNFAIR"),
    "a pass removes all that any strong fairness concerns": (
        COMPONENTS,
        "peek(enabled, word) & peek(unmet, word)",
        "peek(enabled, word) & peek(region.fairness.strong, word)",
    ),
    "a pass leaves out the first state": (
        COMPONENTS,
        "cursor[SccCursor.NESTED_ROOT] = bottom",
        "cursor[SccCursor.NESTED_ROOT] = bottom + 1",
    ),
    "steps out of a part take conditions": (
        COMPONENTS,
        "if target != OUTSIDE and integer(peek32(stacks.marks, target)) < COMPONENT_DONE:\n                add_taken",
        "if target != OUTSIDE:\n                add_taken",
    ),
    "a single state must not be left by any step": (
        COMPONENTS,
        "has_bit(region.fairness.constrained, instance) and ",
        "",
    ),
    "a loop need not pass an unsatisfied state": (COMPONENTS, "region.loop != LOOP_THROUGH", "True"),
    "a loop may leave the unsatisfied states": (
        COMPONENTS,
        "all_inside = all_inside and is_unsatisfied(region, state)",
        "all_inside = True",
    ),
    "a lowered mark is lost": (COMPONENTS, "if top > bottom:", "if top < bottom:"),
    "starving is not passed on": (COMPONENTS, "target)) >= MARK_CAN_STARVE", "target)) >= MARK_FAIR"),
    "blocked steps count as disabled": (COMPONENTS, "1 - cursor[SccCursor.IS_LENIENT]", "0"),
    "steps that change nothing take conditions": (
        WAITING,
        "    if integer(peek32(region.graph.targets, at)) != state:\n        _add_conditions(region",
        "    if True:\n        _add_conditions(region",
    ),
    "steps that change nothing are enabled": (
        WAITING,
        "        if integer(peek32(region.graph.targets, at)) != state:\n            _add_conditions(fairness",
        "        if True:\n            _add_conditions(fairness",
    ),
    "all conditions are one": (WAITING, "ONE << np.uint64(condition % 64)", "ONE"),
}
"""A module, a text in it, and the mistake in its place."""


def planted(module: str, old: str, new: str, others: dict[str, ModuleType]) -> ModuleType:
    """The module with a mistake (none if the text is empty), whose loops are neither kept nor registered."""
    path = Path(sys.modules[module].__file__)
    text = path.read_text(encoding="utf-8")
    assert not old or old in text
    text = text.replace(old, new)
    made = ModuleType(module)
    kept, known = {name: sys.modules[name] for name in (module, *others)}, len(registry.LOOPS)
    sys.modules.update({module: made, **others})
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), made.__dict__)
    finally:
        sys.modules.update(kept)
        del registry.LOOPS[known:]
    for loop in (thing for thing in vars(made).values() if isinstance(thing, CompiledLoop)):
        loop._keep = lambda content: None
    return made


def is_found() -> bool:
    """Whether the search differs from the oracle under some fairness, or plain Python does not confirm a lasso."""
    for fairness in FAIRNESS.values():
        try:
            if counts(searched(fairness)) != expected(fairness, SIZE):
                return True
        except (AssertionError, EngineDisagreement):
            return True
    return False


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOOPS)
def test_a_mistake_in_the_loops_is_found(name, monkeypatch):
    module, old, new = LOOPS[name]
    others = {WAITING: planted(WAITING, old, new, {})} if module == WAITING else {}
    changed = planted(COMPONENTS, *((old, new) if module == COMPONENTS else ("", "")), others)
    monkeypatch.setattr(search, "find_components", changed.find_components)
    assert is_found()


def swapped(patch):
    """Weak conditions are strong, and strong ones weak."""
    made = waiting.FairnessArrays.__init__

    def init(self, *args):
        made(self, *args)
        self.weak, self.strong = self.strong, self.weak

    patch.setattr(waiting.FairnessArrays, "__init__", init)


def everywhere(patch):
    """Every state is an initial one for an inevitable property."""
    made = waiting.WaitingStates._select

    def select(self):
        self.exploration.initial, kept = self.exploration.stored, self.exploration.initial
        made(self)
        self.exploration.initial = kept

    patch.setattr(waiting.WaitingStates, "_select", select)


def unsatisfied_only(patch):
    """What is about all behaviours after a start is searched among unsatisfied states only."""
    made = waiting.WaitingStates._select

    def select(self):
        self.premises = self.stored
        made(self)

    patch.setattr(waiting.WaitingStates, "_select", select)


@pytest.mark.parametrize("mistake", [swapped, everywhere, unsatisfied_only])
def test_a_mistake_in_what_the_loops_are_given_is_found(mistake, monkeypatch):
    mistake(monkeypatch)
    assert is_found()


def test_without_a_mistake_nothing_is_found():
    assert not is_found()
