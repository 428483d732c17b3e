"""Minimized traces are short: most random walks shrink to the length that exhaustive search calls the shortest."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.minimize.shrink import MinimizationTarget, Minimizer
from tests.minimize.walks import paths_by_kernel, violating_walks, walks_by_kernel


@pytest.mark.parametrize(
    ("scenario", "prop", "walks", "shortest", "share"),
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
def test_most_walks_shrink_to_the_shortest_length_there_is(scenario, prop, walks, shortest, share):
    model = Model(scenario)
    wanted = None if prop is None else model.properties_of(prop)[0]
    minimizer, found = Minimizer(model), islice(violating_walks(model, wanted, seed=7), walks)
    lengths = Counter(minimizer.minimize(trace).length for trace in found)
    assert min(lengths) == shortest
    assert lengths[shortest] >= share * walks, lengths


@pytest.mark.parametrize(
    ("prop", "walks", "shortest"), [("disk_matches_znode", 500, 3), ("leaders_when_settled", 100, 9)]
)
def test_walks_of_a_hundred_steps_through_the_reference_model_shrink_to_the_shortest(prop, walks, shortest):
    assert lengths_of(Model(REFERENCE), prop, walks) == {shortest: walks}


@pytest.mark.parametrize(
    ("bounds", "prop", "walks", "shortest"),
    [
        pytest.param({}, "replica_id_matches_zookeeper", 6, 24, marks=pytest.mark.thorough),
        ({"brokers": 2}, "replica_id_matches_zookeeper", 6, 20),
        ({"brokers": 2}, "topic_id_stable", 20, 8),
    ],
)
def test_walks_of_a_hundred_steps_through_a_full_model_shrink_to_the_shortest(bounds, prop, walks, shortest):
    """Many steps are deliveries that can be put in another order, but not left out: searches along the trace do it."""
    assert lengths_of(Model(OLD_CLIENT_EXPANSION, "2.8.2", bounds), prop, walks) == {shortest: walks}


@pytest.mark.parametrize(
    ("prop", "walks", "shortest"),
    [pytest.param("replica_id_matches_zookeeper", 300, 24, marks=pytest.mark.thorough), ("topic_id_stable", 1000, 8)],
)
def test_hundreds_of_walks_through_a_full_model_shrink_to_the_shortest(prop, walks, shortest):
    """With a cache few of them are minimized; those that stay longer differ in their outside steps."""
    model = Model(OLD_CLIENT_EXPANSION, "2.8.2")
    kernel, properties = kernel_for(model), model.properties_of(prop)
    minimizer = Minimizer(model, kernel, cached=True)
    found = islice(paths_by_kernel(model, kernel, properties, depth=100), walks)
    paths = (path for _, path in found)
    shrunk = [
        minimizer.minimize_steps(MinimizationTarget(properties), path.states[0].tobytes(), path.instances)
        for path in paths
    ]
    lengths = Counter(len(each.behaviour) for each in shrunk)
    assert min(lengths) == shortest
    assert lengths[shortest] >= 0.95 * walks, lengths


def lengths_of(model: Model, prop: str, walks: int) -> Counter[int]:
    """Count the lengths to which the first walks shrink that violate any instance of a property."""
    kernel, properties = kernel_for(model), model.properties_of(prop)
    minimizer = Minimizer(model, kernel)
    found = islice(walks_by_kernel(model, kernel, properties, depth=100), walks)
    return Counter(minimizer.minimize(trace, same="property").length for trace in found)
