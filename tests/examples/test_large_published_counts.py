"""Published counts too large for plain Python, and what both can count, as the compiled exhaustive search has them."""

from __future__ import annotations

from functools import cache

import pytest

from kwalk.model.examples.b_tree import B_TREE
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.buffered_file import BUFFERED_FILE
from kwalk.model.examples.checkpoint_lease import CHECKPOINT_LEASE
from kwalk.model.examples.disruptor import DISRUPTOR
from kwalk.model.examples.ewd426 import EWD426
from kwalk.model.examples.ewd998 import EWD998
from kwalk.model.examples.lamport_mutex import LAMPORT_MUTEX
from kwalk.model.examples.paxos import PAXOS
from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.scenarios import SCENARIOS
from kwalk.model.examples.synod import SYNOD
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.examples.voting import VOTING
from kwalk.model.language import Model, Scenario
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Verdict
from tests.examples.plain_search import space_of
from tests.examples.test_every_example import SMALL


@cache
def _searched(scenario: Scenario, variant: str | None, bounds: tuple[tuple[str, int], ...]) -> Verdict:
    return exhaust(Model(scenario, variant, dict(bounds)), keep_going=True)


def searched(scenario: Scenario, variant: str | None = None, **bounds: int) -> Verdict:
    """The verdict of a complete exhaustive search, made once for all tests that ask."""
    return _searched(scenario, variant, tuple(sorted(bounds.items())))


def length_of(verdict: Verdict, name: str) -> int | None:
    """The steps of the shortest trace that violates an invariant; None if it holds."""
    for finding in verdict.findings:
        if finding.prop.startswith(name) and finding.trace is not None:
            return finding.trace.length
    return None


@pytest.mark.parametrize(("rms", "distinct"), [(3, 288), (5, 8_832), (6, 50_816)])
def test_two_phase_commit_has_the_published_states(rms: int, distinct: int) -> None:
    verdict = searched(TWO_PHASE_COMMIT, rms=rms)
    assert (verdict.distinct_states, verdict.findings) == (distinct, ())


def test_readers_and_writers_have_the_published_states() -> None:
    verdict = searched(READERS_WRITERS, actors=3, requests=6)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (21_527, 59_674, 12)
    assert not verdict.bounds_hit


def test_the_token_ring_has_the_published_states_all_of_them_initial() -> None:
    verdict = searched(EWD426, nodes=6, counters=6, arrangements=6**6)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (46_656, 248_832, 0)


def test_safras_ring_has_the_states_that_tlc_finds() -> None:
    verdict = searched(EWD998, nodes=3, messages=3, total=9)
    assert (verdict.distinct_states, verdict.depth, verdict.findings) == (1_520_618, 58, ())
    assert set(verdict.bounds_hit) == {"messages"}


def test_the_disruptor_has_the_published_states_with_the_steps_beyond_the_last_event_counted_as_bound_hits() -> None:
    verdict = searched(DISRUPTOR, writers=1, readers=3, slots=4, limit=10)
    assert (verdict.distinct_states, verdict.depth, verdict.findings) == (8_496, 81, ())
    assert (verdict.generated_states or 0) + verdict.bounds_hit["limit"] == 28_049


def test_two_writers_make_a_data_race_in_the_disruptor() -> None:
    model = Model(DISRUPTOR, bounds={"writers": 2})
    verdict = exhaust(model, properties=model.properties_of("no_data_races"))
    assert length_of(verdict, "no_data_races") == 2


def test_leases_of_checkpoints_have_the_states_that_tlc_finds() -> None:
    verdict = searched(CHECKPOINT_LEASE, "published", nodes=3, numbers=2, majority=2)
    assert (verdict.distinct_states, verdict.depth, verdict.findings) == (204_224, 19, ())


def test_a_leader_that_replaces_its_own_lease_lets_two_replicas_checkpoint_after_as_many_steps_as_in_tlc() -> None:
    verdict = exhaust(Model(CHECKPOINT_LEASE, "hasty", {"numbers": 3}))
    assert length_of(verdict, "one_checkpoint_at_a_time") == 11


def test_lamports_mutex_has_the_published_states_with_the_steps_beyond_the_last_clock_counted_as_bound_hits() -> None:
    verdict = searched(LAMPORT_MUTEX, processes=3, last_clock=6, channel=3)
    assert (verdict.distinct_states, verdict.depth, verdict.findings) == (724_274, 60, ())
    assert set(verdict.bounds_hit) == {"last_clock"}
    assert (verdict.generated_states or 0) + verdict.bounds_hit["last_clock"] == 2_729_079


def test_no_property_is_violated_where_voting_and_the_synod_have_the_published_states() -> None:
    voting = searched(VOTING, acceptors=3, values=2, ballots=3)
    synod = searched(SYNOD, "faithful", acceptors=3, values=2, ballots=2)
    assert (voting.distinct_states, voting.depth, voting.findings) == (6_752, 15, ())
    assert (synod.distinct_states, synod.depth, synod.findings) == (3_921, 16, ())


def test_paxos_has_the_published_states() -> None:
    verdict = searched(PAXOS, "faithful", servers=3, clients=2, ballots=4, majority=2)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (16_668, 32_971, 20)
    assert (verdict.findings, verdict.bounds_hit) == ((), {})
    assert "value_chosen() is reachable, first in 8 steps." in verdict.notes


def test_a_b_tree_has_the_published_states_and_does_what_a_store_does() -> None:
    verdict = searched(B_TREE)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (374_727, 2_820_091, 37)
    assert verdict.findings == ()


@pytest.mark.thorough
def test_a_buffered_file_has_the_published_states_up_to_names_of_symbols() -> None:
    verdict = searched(BUFFERED_FILE)
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (6_376, 248_698, 9)
    reduced = exhaust(Model(BUFFERED_FILE), symmetry="symbols")
    assert (reduced.distinct_states, reduced.generated_states, reduced.depth) == (3_316, 128_581, 9)
    assert (verdict.findings, reduced.findings) == ((), ())


@pytest.mark.parametrize(
    ("sizes", "distinct", "generated", "depth"),
    [
        ((2, 2, 3, 1, 1), 3_092, 8_129, 13),
        ((3, 2, 3, 1, 1), 88_366, 322_590, 18),
        ((3, 2, 3, 2, 2), 805_904, 4_390_996, 20),
    ],
    ids=lambda part: "-".join(map(str, part)) if isinstance(part, tuple) else None,
)
def test_the_reference_model_has_the_states_of_six_other_checkers(
    sizes: tuple[int, ...], distinct: int, generated: int, depth: int
) -> None:
    names = ("brokers", "partitions", "topic_ids", "failovers", "restarts")
    verdict = searched(REFERENCE, **dict(zip(names, sizes, strict=True)))
    assert (verdict.distinct_states, verdict.generated_states, verdict.depth) == (distinct, generated, depth)


def test_the_reference_model_has_the_bad_states_and_shortest_traces_of_other_checkers() -> None:
    verdict = searched(REFERENCE, brokers=3, partitions=2, topic_ids=3, failovers=2, restarts=2)
    found = {finding.prop: (finding.count, finding.trace and finding.trace.length) for finding in verdict.findings}
    assert found == {"disk_matches_znode()": (782_248, 3), "leaders_when_settled()": (1_578, 9)}


def test_four_producers_three_consumers_and_a_buffer_of_three_deadlock_after_46_steps() -> None:
    verdict = searched(BLOCKING_QUEUE, threads=7, producers=4, capacity=3)
    assert length_of(verdict, "somebody_runs") == length_of(verdict, "deadlock") == 46


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_the_compiled_search_counts_what_plain_python_counts(scenario: Scenario) -> None:
    bounds = SMALL.get(scenario.name, {})
    if scenario.name == "tic-tac-toe":
        bounds = {"side": 2}
    for variant in scenario.variants or [None]:
        plain, compiled = space_of(scenario, variant, **bounds), searched(scenario, variant, **bounds)
        assert (compiled.distinct_states, compiled.generated_states) == (plain.distinct, plain.generated)
        assert (compiled.depth, dict(compiled.bounds_hit)) == (plain.depth, dict(plain.bounds_hit))
