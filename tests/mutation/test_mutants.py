"""Mutants keep their names when lines move, and are seen by plain Python and by lifting while they are planted."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from kwalk.model.language import LiftError, Trial
from kwalk.model.language.source import replaced, source_of
from kwalk.search.analyses.mutation.mutants import mutants_of
from kwalk.search.analyses.mutation.mutate import baselines_of, chosen_mutants, mutants_on, sample, stale_explanations
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
def baseline():
    (found,) = baselines_of([Trial(SCENARIO)])
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


def test_all_functions_that_actions_come_to_have_mutants_and_properties_have_none(baseline):
    names = {mutant.function.__name__ for mutant in mutants_on([baseline])}
    assert names == {"heat", "bake", "buy", "make_dust", "look", "sweep", "anything_left"}


def test_only_fields_of_the_same_record_and_domain_are_swapped(baseline):
    swapped = {(m.before, m.after) for m in mutants_on([baseline]) if m.operator.name == "swapped-field"}
    assert ("bakery.baked += 1", "bakery.sold += 1") in swapped
    assert not [after for _, after in swapped if "bakery.hot" in after and "dusty" in after]


def test_plain_python_and_lifting_see_the_mistake_and_nothing_is_left_of_it(baseline):
    code, tree = anything_left.__code__, source_of(anything_left)
    mutant = next(m for m in mutants_on([baseline]) if m.function is anything_left and "not" in m.after)
    bakery = baseline.model.state(baseline.model.initial[0])
    affected_instances = baseline.affected_instances(mutant)
    with baseline.model.active():
        assert not anything_left(bakery)
        with pytest.raises(ZeroDivisionError), mutant.active():
            assert anything_left(bakery)
            (relifted,) = baseline.relift(affected_instances).values()
            raise ZeroDivisionError
        assert not anything_left(bakery)
    assert relifted.guard is not affected_instances[0].guard
    assert (anything_left.__code__, source_of(anything_left)) == (code, tree)
    (again,) = baseline.relift(affected_instances).values()
    assert again.guard is affected_instances[0].guard


def test_what_fails_in_a_mutant_names_the_files_own_line(baseline):
    mutant = next(m for m in mutants_on([baseline]) if m.function is bake.function and m.operator.name == "off-by-one")
    with mutant.active():
        lines = [line for *_, line in bake.function.__code__.co_lines() if line]
        assert bake.function.__code__.co_filename == __file__.replace("test_mutants", "bakery")
        assert mutant.line in lines


def test_a_function_inside_another_is_refused():
    outer = 1

    def inner() -> int:
        return outer

    with pytest.raises(LiftError, match="a function at module level"), replaced(inner, source_of(inner)):
        pass


def test_a_larger_sample_has_all_of_a_smaller_one(baseline):
    mutants = mutants_on([baseline])
    small, large = sample(mutants, 10, seed=3), sample(mutants, 20, seed=3)
    assert len(small) == 10 and set(small) < set(large)
    assert sample(mutants, 10, seed=4) != small
    assert sample(mutants, 10_000, seed=0) == list(mutants)


def test_mutants_are_chosen_by_operator_and_by_function(baseline):
    mutants = mutants_on([baseline])
    chosen = chosen_mutants(mutants, operators=["off-by-one"], functions=["bake", "bakery.buy"])
    assert {m.operator.name for m in chosen} == {"off-by-one"}
    assert {m.function.__name__ for m in chosen} == {"bake", "buy"}


def test_an_explanation_is_stale_if_its_module_has_other_mutants_only(baseline):
    explained = {"bakery.gone:off-by-one:00000000": "…", "elsewhere.bake:off-by-one:00000000": "…"}
    assert stale_explanations(explained, (), mutants_on([baseline])) == ("bakery.gone:off-by-one:00000000",)
