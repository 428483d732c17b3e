"""The program of walks for a GPU, compiled for the CPU, walks as kwalk does. No GPU, and no timings."""

from __future__ import annotations

import shutil

import pytest
from attrs import evolve

from bench import gpu
from bench.gpu import UNIFORM, Refused, compiled, differences, model_text
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import fast_kernel_for

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
WALKS = 1_500


def model_of(name):
    model = Model(find_scenario(name))
    kernel = fast_kernel_for(model)
    return kernel, UNIFORM.plan(model, kernel), model


@needs_compiler
@pytest.mark.parametrize(
    "name, hit",
    [
        pytest.param("blocking-queue", "property_hits", id="blocking-queue: deadlocks"),
        pytest.param("disruptor", "bound_hits", id="disruptor: bounds, where a walk chooses again"),
        pytest.param("two-phase-commit", "changed", id="two-phase-commit: properties of steps"),
    ],
)
def test_a_program_counts_what_kwalk_counts(name, hit, tmp_path):
    kernel, plan, model = model_of(name)
    program = compiled(model_text(model, plan), tmp_path, on_cpu=True)
    for seed in (0, 7):
        counted = program.run(seed, WALKS)
        assert sum(counted[hit]) > WALKS / 2
        assert not differences(counted, kernel, evolve(plan, seed=seed), WALKS)


@needs_compiler
def test_a_program_of_other_gates_is_found(tmp_path):
    kernel, plan, model = model_of("two-phase-commit")
    text = model_text(model, plan)
    first = text.index("table<", text.index("apply_3(")) + len("table<")
    wrong = text[:first] + str(255 ^ int(text[first : text.index(">", first)])) + text[text.index(">", first) :]
    counted = compiled(wrong, tmp_path, on_cpu=True).run(0, WALKS)
    assert "taken" in differences(counted, kernel, plan, WALKS)


def test_a_model_with_several_initial_states_is_refused():
    _, plan, model = model_of("alternating-bit")
    with pytest.raises(Refused, match="begins in one state"):
        model_text(model, plan)


@needs_compiler
def test_the_command_compares_on_the_cpu(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bench.gpu", "--on-cpu", "blocking-queue"])
    monkeypatch.setattr(gpu, "WALKS", WALKS)
    assert gpu.main() == 0
    assert "| blocking-queue |" in capsys.readouterr().out


def test_the_command_says_what_is_missing(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["bench.gpu", "blocking-queue"])
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert gpu.main() == 1
    assert "There is no nvcc on the path." in capsys.readouterr().err
