"""Walks on Spark: what they find depends on the seed alone, and what goes wrong on an executor does no harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from pyspark import cloudpickle

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.model.language.lift import lift
from kwalk.search.executors.chunks import chunks_of, groups_of
from kwalk.search.executors.work import (
    CpuMismatch,
    Round,
    TaskPayload,
    check_agreement,
    unpacked,
)
from kwalk.search.kernel.compile import slices
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.kernel.compile.slices import RESIDENT_TABLES, compile_slices
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.native.processor import cpu
from kwalk.search.results.verdict import Answer
from kwalk.search.simulation import walk as walking
from kwalk.search.simulation.chunks import SimulationPlan
from kwalk.search.simulation.options import SWARM, SimulationOptions
from kwalk.search.simulation.walk import walk
from kwalk.search.spark import executors as engine
from kwalk.search.spark.executors import SparkFailure
from kwalk.search.spark.payload import send, walk_chunks, walker_of
from kwalk.search.spark.walks import walk_on_spark
from tests.spark.facts import facts

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors cannot import this file


@pytest.fixture(scope="module")
def model():
    return Model(REFERENCE)


@pytest.fixture
def rare(model):
    """The options of short walks, few of which violate the property."""
    return {"properties": model.properties_of("leaders_when_settled"), "seed": 5, "walks": 20_000, "depth": 9}


@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_every_number_of_partitions_finds_what_one_process_finds(spark, model, partitions):
    options = {"seed": 7, "walks": 3000, "depth": 40, "keep_going": True, "minimize": 100}
    alone = walk(model, **options)
    assert alone.answer is Answer.VIOLATED and sum(group.count for group in alone.groups) == 100
    assert facts(walk_on_spark(model, session=spark, partitions=partitions, **options)) == facts(alone)


def test_many_partitions_are_merged_on_executors_and_find_the_same(spark, model, monkeypatch):
    received = []

    def counted(table):
        received.append(table.num_rows)
        return chunks_of(table)

    monkeypatch.setattr(engine, "chunks_of", counted)
    options = {"seed": 7, "walks": 8000, "depth": 40, "keep_going": True, "minimize": 20, "options": SWARM}
    verdict = walk_on_spark(model, session=spark, partitions=20, **options)
    assert facts(verdict) == facts(walk(model, **options))
    assert max(received) == groups_of(20) == 5


@pytest.mark.parametrize("partitions", [1, 3])
def test_a_swarm_finds_the_same_on_every_number_of_partitions(spark, model, partitions):
    options = {"seed": 7, "walks": 8000, "depth": 40, "keep_going": True, "minimize": 20, "options": SWARM}
    alone = walk(model, **options)
    assert any(note.startswith("A swarm of 3 generations") for note in alone.notes)
    assert facts(walk_on_spark(model, session=spark, partitions=partitions, **options)) == facts(alone)


def test_executors_walk_on_bit_sliced_code_and_find_the_same(spark, model, monkeypatch):
    monkeypatch.setattr(walking, "LEAST_SLICED_SECONDS", 0.0)
    monkeypatch.setattr(walking, "slicing_seconds", lambda kernel: 0.0)
    monkeypatch.setattr(slices, "TERMS_PER_SECOND", float("inf"))
    options = {"seed": 7, "walks": 20_000, "depth": 40, "keep_going": True, "minimize": 20, "options": SWARM}
    alone = walk(model, kernel=kernel_of(model, compiled_model(model)), **options)
    verdict = walk_on_spark(model, session=spark, partitions=2, **options)
    assert facts(verdict) == facts(alone)
    assert (alone.sliced_walks, verdict.sliced_walks > 0) == (0, True)


def packed(model, **changes):
    """A payload with bit-sliced functions, of which some fields are others."""
    code, lifted = compiled_model(model), lift(model)
    kernel = kernel_of(model, code)
    made = evolve(compile_slices(model, lifted), **changes)
    plan = SimulationOptions(keep_going=True).plan(model, kernel)
    return TaskPayload(kernel, code, cpu(), plan, slices={cpu(): made}).pack()


def test_an_executor_whose_bit_sliced_code_takes_other_steps_ends_the_run(model):
    (good,) = chunks_of(pa.Table.from_batches(walk_chunks(packed(model), Round(0, 600, 600), [0])))
    assert (good.sliced, good.disagreement) == (600, "")
    queues = {"tables": RESIDENT_TABLES + 1, "stores": ((),) * len(model.instances)}  # nothing is written back
    wrong = packed(model, **queues)
    with pytest.raises(EngineDisagreement, match=r"do not count the same in walks 0 to 31: .*taken"):
        check_agreement(chunks_of(pa.Table.from_batches(walk_chunks(wrong, Round(0, 600, 600), [0]))))


@pytest.mark.parametrize("partitions", [1, 2, 4])
def test_the_first_violation_is_the_same_on_every_number_of_partitions(spark, model, rare, partitions):
    alone = walk(model, **rare)
    assert 64 < alone.walks < 20_000  # some chunks find nothing, and some come after the violation
    assert facts(walk_on_spark(model, session=spark, partitions=partitions, **rare)) == facts(alone)


def test_another_seed_walks_elsewhere(spark, model):
    one, other = (walk_on_spark(model, session=spark, seed=seed, walks=200, keep_going=True) for seed in (1, 2))
    assert one.action_counts != other.action_counts


def test_a_time_budget_ends_the_run_and_progress_is_reported(spark, model):
    reports = []
    began = time.monotonic()
    verdict = walk_on_spark(model, session=spark, seconds=2.0, keep_going=True, report=reports.append)
    assert 1.5 < time.monotonic() - began < 20
    assert verdict.walks > 0
    assert [progress.done for progress in reports] == sorted(progress.done for progress in reports)
    assert reports[-1].done == verdict.steps


@pytest.mark.parametrize("partitions", [2, 20])
def test_a_worker_that_dies_is_replaced_and_nothing_changes(spark, model, rare, tmp_path, monkeypatch, partitions):
    marker = str(tmp_path / "died")

    def mortal(payload, work):
        walker = walker_of(payload, work)

        def walk_or_die(batches):
            if not os.path.exists(marker):
                open(marker, "w").close()
                os._exit(9)
            return walker(batches)

        return walk_or_die

    monkeypatch.setattr(engine, "walker_of", mortal)
    verdict = walk_on_spark(model, session=spark, partitions=partitions, **rare)
    assert os.path.exists(marker)
    assert facts(verdict) == facts(walk(model, **rare))


def test_a_job_that_fails_is_one_error(spark, model, monkeypatch):
    def broken(payload, work):
        def fail(batches):
            raise ValueError("An executor cannot do this")

        return fail

    monkeypatch.setattr(engine, "walker_of", broken)
    with pytest.raises(SparkFailure, match="An executor cannot do this"):
        walk_on_spark(model, session=spark, walks=100)


def test_machine_code_for_another_cpu_is_not_run(model):
    code = compiled_model(model)
    kernel = kernel_of(model, code)
    plan = SimulationPlan(np.zeros((1, kernel.words), np.uint64), ())
    with pytest.raises(CpuMismatch, match="Start the driver on a machine"):
        unpacked(TaskPayload(kernel, code, "another", plan).pack())


def test_an_executor_does_not_load_machine_code_that_the_driver_did_not_send(spark, model, monkeypatch):
    def exchanged(session, payload):
        code = evolve(payload.code, objects=(b"code of somebody else",))
        return evolve(send(session, payload), broadcast=send(session, evolve(payload, code=code)).broadcast)

    monkeypatch.setattr(engine, "send", exchanged)
    with pytest.raises(SparkFailure, match=r"machine code with the digest .* the driver sent .* is not loaded"):
        walk_on_spark(model, session=spark, walks=10)


def test_chunks_cover_the_walks_of_a_round_once():
    work = Round(first=10, last=45, size=8)
    assert [n for chunk in range(work.chunks) for n in work.numbers(chunk)] == list(range(10, 45))


INTERRUPTED = """
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.spark.walks import walk_on_spark
if __name__ == "__main__":
    report = lambda progress: print("walking", flush=True)
    print("starting", flush=True)
    verdict = walk_on_spark(Model(REFERENCE), properties=(), seconds=120, keep_going=True, partitions=1, report=report)
    print(verdict.qualifier, verdict.walks, flush=True)
"""


@pytest.mark.parametrize(("word", "seconds"), [("starting", 1.0), ("walking", 0.7)])
def test_an_interrupt_leaves_a_partial_verdict(word, seconds):
    running = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    while running.stdout.readline() != f"{word}\n":
        assert running.poll() is None
    time.sleep(seconds)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does for Ctrl-C: everything that we started gets it
    output, errors = running.communicate(timeout=60)
    how, walks = output.splitlines()[-1].split()
    assert (how, errors, running.returncode) == ("interrupted", "", 0)
    assert (int(walks) > 0) == (word == "walking")
