"""Mutants keep their names when lines move, and are seen by plain Python and by lifting while they are planted."""
from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from model.language import LiftError, Trial
from model.language.lift.source import replaced, source_of
from search.mutation import chosen_mutants, grounds_of, mutants_on, sampled, stale
from search.mutation.mutants import mutants_of
from tests.mutation.bakery import SCENARIO, anything_left, bake

TWICE = """
def act(state):
    state.a = 1
    state.a = 1
"""


def module_from(path, text: str) -> ModuleType:
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("somewhere", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def ground():
    (found,) = grounds_of([Trial(SCENARIO)])
    return found


def test_a_mutant_keeps_its_name_when_lines_above_it_come_and_go(tmp_path):
    first = mutants_of([module_from(tmp_path / "first.py", TWICE).act], ())
    later = mutants_of([module_from(tmp_path / "later.py", "# a line\n\n\nX = 1\n" + TWICE).act], ())
    assert [m.id for m in first] == [m.id for m in later]
    assert [m.line + 4 for m in first] == [m.line for m in later]


def test_equal_lines_give_mutants_of_different_names(tmp_path):
    mutants = mutants_of([module_from(tmp_path / "twice.py", TWICE).act], ())
    assert len({m.id for m in mutants}) == len(mutants) == 6
    assert [m.occurrence for m in mutants if m.operator.name == "dropped-effect"] == [0, 1]


def test_all_functions_that_actions_come_to_have_mutants_and_claims_have_none(ground):
    names = {mutant.function.__name__ for mutant in mutants_on([ground])}
    assert names == {"heat", "bake", "buy", "make_dust", "look", "sweep", "anything_left"}


def test_only_fields_of_the_same_record_and_domain_are_swapped(ground):
    swapped = {(m.before, m.after) for m in mutants_on([ground]) if m.operator.name == "swapped-field"}
    assert ("bakery.baked += 1", "bakery.sold += 1") in swapped
    assert not [after for _, after in swapped if "bakery.hot" in after and "dusty" in after]


def test_plain_python_and_lifting_see_the_mistake_and_nothing_is_left_of_it(ground):
    code, tree = anything_left.__code__, source_of(anything_left)
    mutant = next(m for m in mutants_on([ground]) if m.function is anything_left and "not" in m.after)
    bakery = ground.model.state(ground.model.initial[0])
    affected = ground.affected(mutant)
    with ground.model.active():
        assert not anything_left(bakery)
        with pytest.raises(ZeroDivisionError), mutant.planted():
            assert anything_left(bakery)
            (anew,) = ground.lifted_anew(affected).values()
            raise ZeroDivisionError
        assert not anything_left(bakery)
    assert anew.guard is not affected[0].guard
    assert (anything_left.__code__, source_of(anything_left)) == (code, tree)
    (again,) = ground.lifted_anew(affected).values()
    assert again.guard is affected[0].guard


def test_what_fails_in_a_mutant_names_the_files_own_line(ground):
    mutant = next(m for m in mutants_on([ground]) if m.function is bake.function and m.operator.name == "off-by-one")
    with mutant.planted():
        lines = [line for *_, line in bake.function.__code__.co_lines() if line]
        assert bake.function.__code__.co_filename == __file__.replace("test_mutants", "bakery")
        assert mutant.line in lines


def test_a_function_inside_another_is_refused():
    outer = 1

    def inner() -> int:
        return outer

    with pytest.raises(LiftError, match="a function at module level"), replaced(inner, source_of(inner)):
        pass


def test_a_larger_sample_has_all_of_a_smaller_one(ground):
    mutants = mutants_on([ground])
    small, large = sampled(mutants, 10, seed=3), sampled(mutants, 20, seed=3)
    assert len(small) == 10 and set(small) < set(large)
    assert sampled(mutants, 10, seed=4) != small
    assert sampled(mutants, 10_000, seed=0) == list(mutants)


def test_mutants_are_chosen_by_operator_and_by_function(ground):
    mutants = mutants_on([ground])
    chosen = chosen_mutants(mutants, operators=["off-by-one"], functions=["bake", "bakery.buy"])
    assert {m.operator.name for m in chosen} == {"off-by-one"}
    assert {m.function.__name__ for m in chosen} == {"bake", "buy"}


def test_an_explanation_is_stale_if_its_module_has_other_mutants_only(ground):
    explained = {"bakery.gone:off-by-one:00000000": "…", "elsewhere.bake:off-by-one:00000000": "…"}
    assert stale(explained, (), mutants_on([ground])) == ("bakery.gone:off-by-one:00000000",)


