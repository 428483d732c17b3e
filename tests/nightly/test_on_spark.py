"""Runs on Spark: what goes wrong on an executor does no harm, whatever it is."""

from __future__ import annotations

import os
import sys

import pytest
from attrs import evolve
from pyspark import cloudpickle

from kwalk.search.executors.work import TaskPayload
from kwalk.search.kernel.compile.cache import Compiled
from kwalk.search.kernel.compile.slices import compile_slices
from kwalk.search.native.processor import cpu
from kwalk.search.night import driver, simulation_task
from kwalk.search.spark import executors as fleet
from kwalk.search.spark.payload import walker_of
from tests.nightly.local import CONFIG, Hearing, begin_run, facts

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors cannot import this file
OTHER = " ".join([cpu().split(" ")[0], "x86-64", "", "llvmlite 0.0.1"])
"""Any CPU of this kind, as it would say of itself."""


@pytest.fixture
def small(monkeypatch):
    """Blocks that are as small as those of the undisturbed run."""
    monkeypatch.setattr(simulation_task, "BLOCK_STEPS", 1 << 11)


def part(of, task=0):
    """Facts of one task, as if it had no number."""
    tables = {
        name: {key[1]: value for key, value in of[name].items() if key[0] == task}
        for name in ("groups", "actions", "coverage")
    }
    (row,) = [row for row in of["runs"] if row["task"] == task]
    traces = [trace for name, trace in of["traces"].items() if name.startswith(f"{task:04}-")]
    return tables | {
        "run": {**row, "task": None},
        "walks": of["walks"][task, task],
        "distinct": of["distinct"][task],
        "traces": traces,
    }


MASTER = "local[2]"
"""The session of the tests, which is running."""
SHORT = {**CONFIG, "tasks": [{**CONFIG["tasks"][0], "scenarios": ["lost-update"]}]}
SWARM = {**CONFIG, "tasks": CONFIG["tasks"][2:]}


def test_a_swarm_on_spark_finds_what_one_process_finds(spark, small, tmp_path, undisturbed):
    begin_run(tmp_path / "run", SWARM, master=MASTER)
    assert part(facts(tmp_path / "run")) == part(undisturbed, task=3)


def test_a_worker_that_dies_in_mid_round_is_replaced(spark, small, tmp_path, undisturbed, monkeypatch):
    marker = str(tmp_path / "died")

    def mortal(payload, work):
        walker = walker_of(payload, work)

        def walk_or_die(batches):
            for batch in walker(batches):
                if work.first and not os.path.exists(marker):
                    open(marker, "w").close()
                    os.kill(os.getpid(), 9)
                yield batch

        return walk_or_die

    monkeypatch.setattr(fleet, "walker_of", mortal)
    begin_run(tmp_path / "run", SHORT, master=MASTER)
    assert os.path.exists(marker)
    assert part(facts(tmp_path / "run")) == part(undisturbed)


def test_an_executor_of_another_cpu_gets_code_of_its_own(spark, small, tmp_path, undisturbed, monkeypatch):
    def elsewhere(payload, work):
        walker, other = walker_of(payload, work), OTHER

        def walk_there(batches):
            from kwalk.search.executors import work as executor

            executor.unpacked.cache_clear()  # an earlier test may have left the same payload here
            before, executor.cpu = executor.cpu, lambda: other
            try:
                yield from walker(batches)
            finally:
                executor.cpu = before

        return walk_there

    made = []
    monkeypatch.setattr(fleet, "walker_of", elsewhere)
    compiled = fleet.compiled_model

    def recorded(model, target):
        made.append(target)
        return compiled(model, target=target)

    monkeypatch.setattr(fleet, "compiled_model", recorded)
    widths = []
    sliced = fleet.compiled_slices

    def recorded_slices(model, terms, target):
        widths.append(sliced(model, terms, target=target).lanes)
        return sliced(model, terms, target=target)

    monkeypatch.setattr(fleet, "compiled_slices", recorded_slices)
    monkeypatch.setattr(driver.AheadCompiler, "slices", lambda ahead, task: compile_slices(task.model))
    begin_run(tmp_path / "run", SHORT, master=MASTER)
    assert made == [OTHER] and widths and set(widths) == {128}
    assert part(facts(tmp_path / "run")) == part(undisturbed)


def test_a_kernel_that_does_not_load_is_compiled_again(spark, small, tmp_path, undisturbed, monkeypatch):
    pack = TaskPayload.pack

    def harmed(payload):
        code = evolve(payload.code, objects=(b"not an object file",))
        return pack(payload if payload.other_code else evolve(payload, code=code))

    monkeypatch.setattr(TaskPayload, "pack", harmed)
    begin_run(tmp_path / "run", SHORT, master=MASTER)
    assert part(facts(tmp_path / "run")) == part(undisturbed)


def test_a_kernel_that_never_loads_is_a_task_that_failed(spark, small, tmp_path, monkeypatch):
    monkeypatch.setattr(fleet, "compile_model", lambda model: Compiled((b"no better",), (), ()))
    pack = TaskPayload.pack
    monkeypatch.setattr(TaskPayload, "pack", lambda payload: pack(evolve(payload, code=Compiled((b"bad",), (), ()))))
    hearing = Hearing()
    result = begin_run(tmp_path / "run", SHORT, hearing, master=MASTER)
    (row,) = result.rows
    assert (row.answer, row.how) == ("undecided", "failed")
    assert "An executor cannot run the driver's machine code (it does not load" in row.why
