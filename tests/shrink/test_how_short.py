"""Minimized traces are short: most random walks shrink to the length that exhaustive search calls the shortest."""
from __future__ import annotations

from collections import Counter
from itertools import islice
from statistics import median

import pytest

from invariants.scenarios import OLD_CLIENT_EXPANSION
from model.examples.blocking_queue import BLOCKING_QUEUE
from model.examples.die_hard import DIE_HARD
from model.examples.lost_update import LOST_UPDATE
from model.examples.reference import REFERENCE
from model.language import Model
from search.compile import kernel_for
from search.exhaust import exhaust
from search.shrink import shrink
from search.walk import walk
from tests.shrink.walks import violating_walks


@pytest.mark.parametrize(
    ("scenario", "claim", "walks", "shortest", "share"),
    [
        (REFERENCE, "disk_matches_znode()", 40, 3, 0.95),
        (REFERENCE, "leaders_when_settled()", 12, 9, 0.95),
        (LOST_UPDATE, "counts_every_increment()", 20, 4, 1.0),
        (LOST_UPDATE, "nothing_is_lost()", 20, 4, 1.0),
        (BLOCKING_QUEUE, None, 20, 7, 0.95),
        # Every step of the puzzle changes what the next ones do: what editing its steps leaves, a detour mends.
        (DIE_HARD, "not_solved()", 20, 6, 1.0),
    ],
)
def test_most_walks_shrink_to_the_shortest_length_there_is(scenario, claim, walks, shortest, share):
    model = Model(scenario)
    wanted = None if claim is None else model.claims_of(claim)[0]
    found = islice(violating_walks(model, wanted, seed=7), walks)
    lengths = Counter(shrink(model, trace).length for trace in found)
    assert min(lengths) == shortest
    assert lengths[shortest] >= share * walks, lengths


@pytest.mark.parametrize("invariant", ["topic_id_stable", "replica_id_matches_zookeeper", "partition_servable"])
def test_long_walks_through_a_full_model_shrink_to_little_more_than_the_shortest(invariant):
    """Many steps are deliveries that can be put in another order, but not left out: a quarter more may remain."""
    model = Model(OLD_CLIENT_EXPANSION, "2.8.2", {"brokers": 2})
    kernel, claims = kernel_for(model), model.claims_of(invariant)
    shortest = exhaust(model, claims=claims, kernel=kernel).counterexample.length
    lengths = []
    for seed in range(4):
        found = walk(model, claims=claims, kernel=kernel, seed=seed, walks=500_000, depth=200).counterexample
        lengths.append(shrink(model, found, kernel=kernel, same="invariant").length)
    assert min(lengths) >= shortest
    assert median(lengths) <= 1.25 * shortest, lengths
