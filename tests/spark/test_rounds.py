"""Rounds of walks on Spark: what they find depends on the seed alone, and what goes wrong on an executor is said."""

from __future__ import annotations

import sys
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from pyspark import cloudpickle

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.base.signals import Interrupts
from kwalk.search.executors.chunks import merged
from kwalk.search.executors.work import CpuMismatch, Round, TaskPayload, check_agreement, unpacked
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.kernel.compile.slices import RESIDENT_TABLES, compile_slices
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.native.processor import cpu
from kwalk.search.simulation.chunks import SimulationPlan, run_chunk
from kwalk.search.simulation.options import SWARM, SimulationOptions
from kwalk.search.spark import executors as engine
from kwalk.search.spark.executors import CodeSource, ExecutorPool, SparkFailure
from kwalk.search.spark.packets import chunks_of, groups_of
from kwalk.search.spark.payload import send, walk_chunks

cloudpickle.register_pickle_by_value(sys.modules[__name__])  # executors cannot import this file
WALKS = 2000
"""As many as the first generation of a swarm has."""


@pytest.fixture(scope="module")
def model():
    return Model(REFERENCE)


@pytest.fixture(scope="module")
def kernel(model):
    return kernel_of(model, compiled_model(model))


@pytest.fixture(scope="module")
def plan(model, kernel):
    """A swarm that violates the property in some of its walks."""
    return evolve(SWARM, seed=7, depth=40, keep_going=True).plan(model, kernel)


@pytest.fixture(scope="module")
def executors(spark, model, kernel, plan):
    """Make a pool of executors with the kernel, for a number of partitions."""

    @contextmanager
    def made(partitions):
        code = compiled_model(model)
        payload = TaskPayload(kernel, code, cpu(), plan)
        with ExecutorPool(spark, partitions, payload, CodeSource(model, code.terms)) as pool:
            yield pool

    return made


def round_of(partitions):
    return Round(0, WALKS, -(-WALKS // (2 * partitions)), most=100)


@pytest.mark.parametrize("partitions", [1, 3, 20])
def test_every_number_of_partitions_finds_what_one_process_finds(executors, kernel, plan, monkeypatch, partitions):
    received = []

    def counted(table):
        received.append(table.num_rows)
        return chunks_of(table)

    monkeypatch.setattr(engine, "chunks_of", counted)
    alone = run_chunk(kernel, plan, range(WALKS), collect=True).with_findings(100)
    assert len(alone.findings) == 100
    with executors(partitions) as pool:
        pool.make_ready(Interrupts())
        chunks = pool.do(round_of(partitions), Interrupts())
    assert merged(chunks, 100).counts.differences(alone) == []
    assert max(received) == groups_of(partitions) == min(partitions, 5)


def test_executors_walk_on_bit_sliced_code_and_find_the_same(executors, model, kernel):
    uniform = SimulationOptions(seed=7, depth=40, keep_going=True).plan(model, kernel)
    alone = run_chunk(kernel, uniform, range(20_000))
    with executors(2) as pool:
        pool.take_slices(compile_slices(model))
        whole = merged(pool.do(Round(0, 20_000, 5_000, plan=uniform), Interrupts()), 0)
    assert whole.counts.differences(alone) == []
    assert whole.sliced == 20_000


def packed(model, kernel, plan, **changes):
    """A payload with bit-sliced functions, of which some fields are others."""
    made = evolve(compile_slices(model), **changes)
    return TaskPayload(kernel, compiled_model(model), cpu(), plan, slices={cpu(): made}).pack()


def test_an_executor_whose_bit_sliced_code_takes_other_steps_ends_the_run(model, kernel, plan):
    good = packed(model, kernel, plan)
    (chunk,) = chunks_of(pa.Table.from_batches(walk_chunks(good, Round(0, 600, 600), [0])))
    assert (chunk.sliced, chunk.disagreement) == (600, "")
    queues = {"tables": max(RESIDENT_TABLES) + 1, "stores": ((),) * len(model.instances)}  # nothing is written back
    wrong = packed(model, kernel, plan, **queues)
    with pytest.raises(EngineDisagreement, match=r"do not count the same in walks 0 to 31: .*taken"):
        check_agreement(chunks_of(pa.Table.from_batches(walk_chunks(wrong, Round(0, 600, 600), [0]))))


def test_an_interrupted_round_has_no_chunks(executors, monkeypatch):
    noticed = Interrupts()
    noticed.noticed = True
    with executors(1) as pool:
        assert pool.do(round_of(1), noticed) is None


def test_a_job_that_fails_is_one_error(executors, monkeypatch):
    def broken(payload, work):
        def fail(batches):
            raise ValueError("An executor cannot do this")

        return fail

    monkeypatch.setattr(engine, "walker_of", broken)
    with executors(2) as pool, pytest.raises(SparkFailure, match="An executor cannot do this"):
        pool.do(round_of(2), Interrupts())


def test_machine_code_for_another_cpu_is_not_run(model, kernel):
    plan = SimulationPlan(np.zeros((1, kernel.words), np.uint64), ())
    with pytest.raises(CpuMismatch, match="Start the driver on a machine"):
        unpacked(TaskPayload(kernel, compiled_model(model), "another", plan).pack())


def test_an_executor_does_not_load_machine_code_that_the_driver_did_not_send(executors, monkeypatch):
    def exchanged(session, payload):
        code = evolve(payload.code, objects=(b"code of somebody else",))
        return evolve(send(session, payload), broadcast=send(session, evolve(payload, code=code)).broadcast)

    monkeypatch.setattr(engine, "send", exchanged)
    refusal = r"machine code with the digest .* the driver sent .* is not loaded"
    with executors(2) as pool, pytest.raises(SparkFailure, match=refusal):
        pool.do(round_of(2), Interrupts())


def test_chunks_cover_the_walks_of_a_round_once():
    work = Round(first=10, last=45, size=8)
    assert [n for chunk in range(work.chunks) for n in work.numbers(chunk)] == list(range(10, 45))
