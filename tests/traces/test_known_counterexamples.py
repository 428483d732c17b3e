"""Known counterexamples, pinned: each is found again, is as long as ever, and its saved trace replays in plain Python.

One that heals or lengthens fails, and says so: then a change did it, on purpose or not. After a change to a model that
leaves the lengths alone, `pytest tests/traces --kwalk-pin` saves the traces again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kwalk.reports.assertions import assert_finds
from kwalk.reports.traces.replay import open_trace
from kwalk.reports.traces.trace_file import read_trace

HERE = Path(__file__).parent
KNOWN = [
    ("die-hard", "default", "not_solved", 6),
    ("lost-update", "no-lock", "counts_every_increment", 4),
    ("lost-update", "no-lock", "nothing_is_lost", 4),
    ("blocking-queue", "one-wait-set", "deadlock", 7),
    ("topic-id-core", "default", "disk_matches_znode", 3),
    ("topic-id-core", "default", "leaders_when_settled", 9),
    ("old-client-expansion", "2.8.2", "zk_id_not_erased", 4),
    ("old-client-expansion", "2.8.2", "topic_id_stable", 8),
    ("old-client-expansion", "2.8.2", "replica_id_matches_zookeeper", 20),
    ("old-client-expansion", "2.8.2", "partition_servable", 26),
    ("old-client-expansion", "3.9.0", "zk_id_not_erased", 4),
    ("old-client-expansion", "3.9.0", "topic_id_stable", 8),
    ("old-client-expansion", "3.9.0", "replica_id_matches_zookeeper", 18),
    ("old-client-expansion", "3.9.0", "partition_servable", 19),
]
BOUNDS = {"old-client-expansion": {"brokers": 2}}
"""Two brokers show all of it, in a hundredth of the states."""


@pytest.mark.parametrize(("scenario", "variant", "invariant", "length"), KNOWN)
def test_a_known_counterexample_is_found_as_long_as_ever_and_replays(scenario, variant, invariant, length):
    trace = HERE / f"{scenario}-{variant}-{invariant}.itf.json"
    assert_finds(scenario, invariant, length=length, trace=trace, variant=variant, bounds=BOUNDS.get(scenario))
    assert open_trace(read_trace(trace)).warnings == (), "The model means something else since then."


def test_every_saved_trace_is_one_of_the_known_ones():
    assert {path.name for path in HERE.glob("*.itf.json")} == {
        f"{scenario}-{variant}-{invariant}.itf.json" for scenario, variant, invariant, _ in KNOWN
    }
