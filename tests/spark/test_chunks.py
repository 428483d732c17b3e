"""Chunks that are merged on their way to the driver: nothing is lost, and the driver's bytes do not grow with them."""

from __future__ import annotations

import pickle
from functools import cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.executors import work as executor
from kwalk.search.executors.chunks import Chunk, in_order, merged
from kwalk.search.executors.work import (
    MinimizationChoice,
    Round,
    TaskPayload,
    batched_counts,
    done_in_blocks,
)
from kwalk.search.kernel.compile.compiler import compiled_model, kernel_of
from kwalk.search.kernel.compile.slices import compile_slices, sliced_kernel_of
from kwalk.search.minimize.groups import Grouping
from kwalk.search.native.processor import cpu
from kwalk.search.simulation import chunks as simulation
from kwalk.search.simulation.chunks import run_chunk
from kwalk.search.simulation.options import SWARM, SimulationOptions
from kwalk.search.simulation.visit_samples import CHUNK_RECORDS
from kwalk.search.spark.packets import chunks_of, groups_of, merger_of, packet
from kwalk.search.spark.payload import walk_chunks
from tests.nightly.broken import LEAKY

WALKS = 600


@cache
def model_of(scenario):
    return Model(scenario)


@cache
def kernel_for(scenario, *, sliced=False):
    model = model_of(scenario)
    kernel = kernel_of(model, compiled_model(model))
    return evolve(kernel, sliced=sliced_kernel_of(model, compile_slices(model))) if sliced else kernel


def plan_of(scenario, **options):
    kernel = kernel_for(scenario)
    return evolve(SWARM, depth=30, **options).plan(model_of(scenario), kernel)


PLANS = [
    (REFERENCE, {"keep_going": True}),
    (REFERENCE, {"keep_going": True, "swarm": False, "count_states": False}),
    (REFERENCE, {"seed": 5, "properties": Model(REFERENCE).properties_of("leaders_when_settled")}),
    (LEAKY, {"keep_going": True}),
]
"""What walks find and count, at the last: findings of most walks, one that ends the run, a step out of its domain."""
CUTS = st.lists(st.integers(1, WALKS - 1), unique=True, max_size=9).map(lambda cuts: [0, *sorted(cuts), WALKS])


def chunk_of_walks(kernel, plan, numbers, most):
    """What an executor has of some walks, on one of three machines."""
    counts = run_chunk(kernel, plan, numbers, collect=True).with_findings(most)
    return Chunk(numbers.start, 1.0, counts, 0.5, (f"machine {numbers.start % 3}",), sliced=len(numbers))


def sent(chunks, groups, most):
    """What the driver receives of chunks, each from a partition of its own, after executors have merged the groups."""
    packets = [packet(number * groups // len(chunks), chunk) for number, chunk in enumerate(chunks)]
    shuffled = packets[1::2] + packets[::2]
    return chunks_of(pa.Table.from_batches(merger_of(most)(shuffled)))


@pytest.mark.parametrize(("scenario", "options"), PLANS)
@settings(max_examples=25, deadline=None)
@given(cuts=CUTS, groups=st.integers(1, 9), most=st.sampled_from([0, 7, 10**6]))
def test_merged_chunks_count_and_find_what_the_walks_do_in_one_run(scenario, options, cuts, groups, most):
    kernel, plan = kernel_for(scenario), plan_of(scenario, **options)
    whole = chunk_of_walks(kernel, plan, range(WALKS), most)
    chunks = [chunk_of_walks(kernel, plan, range(*pair), most) for pair in pairwise(cuts)]
    received = sent(chunks, groups, most)
    assert len(received) <= groups
    together = merged(received, most)
    assert together.counts.differences(whole.counts) == []
    counted = [chunk for chunk in chunks if chunk.first < together.counts.walks + (together.counts.failed is not None)]
    assert together.cpu == 0.5 * len(counted) and together.sliced == sum(chunk.sliced for chunk in counted)
    assert together.hosts == tuple(sorted({host for chunk in counted for host in chunk.hosts}))


def test_what_two_kernels_disagree_about_is_not_lost_when_it_is_merged():
    kernel, plan = kernel_for(REFERENCE), plan_of(REFERENCE, keep_going=True)
    chunks = [chunk_of_walks(kernel, plan, range(*pair), 0) for pair in pairwise([0, 20, 40, 60])]
    chunks[1] = evolve(chunks[1], disagreement="taken differs")
    assert merged(sent(chunks, 2, 0), 0).disagreement == "taken differs"


@pytest.mark.parametrize("sliced", [False, True])
@settings(max_examples=40, deadline=None)
@given(
    block=st.sampled_from([1, 16, 128]),
    first=st.integers(0, 900),
    walks=st.integers(1, 1000),
    stride=st.integers(1, 9),
    known=st.sets(st.integers(0, 3)),
)
def test_batches_of_blocks_choose_the_findings_that_blocks_one_by_one_do(sliced, block, first, walks, stride, known):
    kernel, plan = kernel_for(REFERENCE, sliced=sliced), plan_of(REFERENCE, keep_going=True)
    choice, numbers = MinimizationChoice(block, stride, frozenset(known)), range(first, first + walks)
    expected = []
    for number in range(first // block, -(-numbers.stop // block)):
        own = range(max(first, number * block), min((number + 1) * block, numbers.stop))
        expected += choice.of(run_chunk(kernel_for(REFERENCE), plan, own, collect=True).findings, number)
    chosen, begin = [], first
    for batch, counts in batched_counts(kernel, plan, numbers, choice):
        assert (batch.start, len(batch)) == (begin, counts.walks)
        chosen += [one for number, found in choice.by_block(counts.findings) for one in choice.of(found, number)]
        begin = batch.stop
    assert (begin, chosen) == (numbers.stop, expected)


def test_walks_whose_findings_are_known_run_without_writing_them(monkeypatch):
    kernel, plan, runs = kernel_for(REFERENCE), plan_of(REFERENCE, keep_going=True), []

    def recorded(kernel, plan, numbers, *, collect=False):
        runs.append((len(numbers), collect))
        return run_chunk(kernel, plan, numbers, collect=collect)

    monkeypatch.setattr(executor, "run_chunk", recorded)
    known = frozenset(range(kernel.properties))
    counts = [each for _, each in batched_counts(kernel, plan, range(16, 1600), MinimizationChoice(16, 50, known))]
    assert sum(int(each.property_hits.sum()) for each in counts) > 500
    assert [run for run in runs if run[1]] == [(16, True)]  # one block of a hundred, the fiftieth, is sampled
    assert max(runs)[0] > 16


def test_long_walks_of_a_night_run_on_bit_sliced_code(monkeypatch):
    monkeypatch.setattr(simulation, "SLICED_WALKS", 64)
    kernel, plan = kernel_for(REFERENCE, sliced=True), plan_of(REFERENCE, keep_going=True)
    grouping = Grouping(model_of(REFERENCE), kernel)
    known = frozenset(range(kernel.properties))
    done = done_in_blocks((kernel, plan), range(8, 400), MinimizationChoice(8, 1000, known), grouping)
    assert done.sliced == 392  # blocks of eight walks, as of walks of 2^17 steps


def test_groups_of_merged_chunks_are_those_of_all_walks():
    kernel, plan = kernel_for(REFERENCE), plan_of(REFERENCE, keep_going=True)
    grouping, choice = Grouping(model_of(REFERENCE), kernel), MinimizationChoice(32)

    def done(first, last):
        return done_in_blocks((kernel, plan), range(first, last), choice, grouping)

    whole, parts = done(0, 256), [done(*pair) for pair in pairwise([0, 32, 96, 128, 256])]
    received = sent(parts, 2, 0)
    assert _groups(merged(received, 0)) == _groups(whole)
    made = {number for part in parts for number in part.visit_records}
    kept = merged(received, 0).visit_records
    assert set(kept) <= made and len(kept) <= CHUNK_RECORDS < len(made)
    assert all(kept.keys() & part.visit_records.keys() for part in parts)  # some of what each executor's code has made


def _groups(chunk):
    """The groups, whatever the order of their shapes."""
    groups = pickle.loads(chunk.minimized)
    return dict(groups.groups), groups.minimized


# What the driver receives.


@pytest.fixture(scope="module")
def payload():
    """A payload of a swarm that minimizes nothing."""
    model = model_of(REFERENCE)
    kernel = kernel_for(REFERENCE)
    plan = SimulationOptions(keep_going=True, swarm=True, count_states=True).plan(model, kernel)
    return TaskPayload(kernel, compiled_model(model), cpu(), plan).pack()


def bytes_received(payload, chunks, partitions):
    """The bytes that the driver receives of a round of 1,920 walks, and in how many results."""
    work = Round(0, 1920, 1920 // chunks, groups=groups_of(partitions))
    shares = [range(chunks * n // partitions, chunks * (n + 1) // partitions) for n in range(partitions)]
    packets = [packet for share in shares for packet in walk_chunks(payload, work, share)]
    assert len(packets) == partitions
    results = [*merger_of(work.most)(packets)] if groups_of(partitions) < partitions else packets
    assert sum(chunk.counts.walks for chunk in in_order(chunks_of(pa.Table.from_batches(results)))) == 1920
    return sum(result.nbytes for result in results), len(results)


def test_the_bytes_that_the_driver_receives_do_not_grow_with_the_number_of_chunks(payload):
    few, many = (bytes_received(payload, chunks, 4) for chunks in (4, 64))
    assert few[1] == many[1] == 4
    assert many[0] < 1.1 * few[0]  # records of other visits are compressed otherwise


def test_the_driver_receives_as_many_results_as_the_square_root_of_many_partitions(payload):
    small, large = bytes_received(payload, 16, 16), bytes_received(payload, 64, 64)
    assert (small[1], large[1]) == (16, 8)
    assert large[0] < small[0]
    assert [groups_of(n) for n in (1, 16, 17, 100, 1000, 1024, 10_000)] == [1, 16, 5, 10, 32, 32, 100]


def test_the_first_block_minimizes_a_finding_of_each_declaration_and_later_ones_two():
    findings = np.array([[0, 5, 1], [1, 3, 0], [1, 4, 2], [2, 9, 3], [3, 1, 0]])
    choice = MinimizationChoice(32, declarations=(0, 0, 2, 3))
    assert sorted(choice.of(findings, 0)) == [(1, 3, 0), (1, 4, 2), (2, 9, 3)]
    assert len(choice.of(findings, 1)) == 2
