"""Series of captures are explained with their own version, refused with others, and refused when tampered with.

Every behaviour of the model is explained again from the captures that are made of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest
from attrs import evolve

from model.kafka.scenarios import running_cluster
from model.kafka.snapshots.series import REAL_CLUSTER, read_series
from model.language import Model, UsageError
from search.compile import kernel_for
from search.waypoints import Explanation, Fit, Wish, explain
from tests.snapshots.captured import FILES
from tests.snapshots.synthetic import Walk

FRESH, AGED, REPAIRED, LATER = "scenario-01-exact-", "scenario-01-0", "scenario-03-", "scenario-06-"
YOUNG = ["scenario-01-01-old-create", "scenario-01-01b-aged-by-failover", "scenario-01-03-produce-consume"]
"""A topic of two partitions that is created, and sees a failover."""


def of(prefix: str) -> list[str]:
    """The names of a series, in order."""
    return [name for name in FILES if name.startswith(prefix)]


def document(name: str) -> dict[str, Any]:
    return json.loads(FILES[name].read_text("utf-8"))


@cache
def kernel_of(variant: str, bounds: tuple[tuple[str, int], ...], flags: tuple[tuple[str, Any], ...]) -> Any:
    """Starts do not matter to a kernel: series of one kind share it."""
    return kernel_for(Model(REAL_CLUSTER, variant, dict(bounds), dict(flags)))


def explained(sources: Sequence[Any], variant: str | None = None, names: Sequence[str] | None = None) -> Explanation:
    """What `kwalk explain` finds."""
    series = read_series(sources, names)
    other = {name: setting for name, setting in series.flags.items() if REAL_CLUSTER.flags[name] != setting}
    begun = evolve(REAL_CLUSTER, initial=series.initial, labels=series.labels)
    model = Model(begun, variant or series.variant, series.bounds, other)
    kernel = kernel_of(model.variant, tuple(sorted(series.bounds.items())), tuple(sorted(other.items())))
    return explain(model, kernel, series, Wish(seconds=120.0))


def events(done: Explanation) -> list[str]:
    """The steps that nobody need have taken."""
    clients, faults = ("old_client", "new_client"), ("delete_controller", "stop", "crash", "restart")
    return [key for key in done.trace.actions if key.startswith((*clients, *faults, "remove", "auto", "write_topic"))]


# The captures.


def test_2_8_2_the_eight_steps_on_a_fresh_topic() -> None:
    done = explained([FILES[name] for name in of(FRESH)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 14)
    assert [key.split("(")[0] for key in events(done)] == [
        "old_client_creates_topic", "old_client_adds_partitions", "delete_controller",
        "stop", "restart", "stop", "restart", "stop", "restart",
    ]  # fmt: skip


def test_2_8_2_the_eight_steps_on_an_aged_topic_need_a_preferred_election_that_nobody_saw() -> None:
    done = explained([FILES[name] for name in of(AGED)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 14)
    assert any(key.startswith("auto_preferred_election") for key in events(done))


def test_2_8_2_the_repair_of_a_broken_cluster() -> None:
    done = explained([FILES[name] for name in of(REPAIRED)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 8)
    assert {f"remove_metadata_files({broker})" for broker in range(3)} <= set(events(done))


def test_3_9_0_the_eight_steps() -> None:
    done = explained([FILES[name] for name in of(LATER)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 13)


@pytest.mark.parametrize(
    "names, variant, fact",
    [
        (YOUNG, "3.9.0", "partition.metadata of t-0 on broker 1"),
        (YOUNG, "2.5.0", "topic_id in ZooKeeper of t"),
        (["scenario-06-01-old-create"], "2.8.2", "partition.metadata of t-0 on broker 1"),
    ],
)
def test_another_version_is_refused_at_the_first_capture_that_shows_the_difference(names, variant, fact) -> None:
    done = explained([FILES[name] for name in names], variant)
    assert (done.fit, done.how) == (Fit.REFUSED, "exhaustive")
    assert (done.misfit.number, done.misfit.waypoint) == (0, f"{names[0]}.json")
    assert done.misfit.differences[0].name == fact


# Tampering.


def another_id(later: dict[str, Any]) -> None:
    later["topics"]["t"]["topic_id"] = later["topics"]["t"]["znode"]["topic_id"] = "X" * 21 + "g"


def another_leader(later: dict[str, Any]) -> None:
    later["topics"]["t"]["partition_state"]["0"]["leader"] = 1


def smaller_isr(later: dict[str, Any]) -> None:
    later["topics"]["t"]["partition_state"]["1"]["isr"] = [1, 3]


def older_controller_epoch(later: dict[str, Any]) -> None:
    later["controller_epoch"] = 1


def file_with_another_id(later: dict[str, Any]) -> None:
    later["brokers"]["2"]["dirs"]["t-1"].update(
        topic_id="X" * 21 + "g", partition_metadata=f"version: 0\ntopic_id: {'X' * 21}g"
    )


@pytest.mark.parametrize(
    "tamper, fact",
    [
        (another_id, "topic_id in ZooKeeper of t"),
        (another_leader, "leader of t-0"),
        (smaller_isr, "ISR of t-1"),
        (older_controller_epoch, "controller epoch"),
        (file_with_another_id, "partition.metadata of t-1 on broker 2"),
    ],
)
def test_a_capture_that_was_tampered_with_is_refused_with_its_name_and_the_field(tamper, fact) -> None:
    documents = [document(name) for name in YOUNG]
    tamper(documents[2])
    done = explained([json.dumps(d).encode() for d in documents], names=["first", "second", "third"])
    assert done.fit is Fit.REFUSED
    assert done.misfit.waypoint == "third"
    assert fact in [difference.name for difference in done.misfit.differences]


def test_captures_in_the_wrong_order_are_refused() -> None:
    done = explained([FILES[name] for name in reversed(YOUNG)])
    assert (done.fit, done.misfit.waypoint) == (Fit.REFUSED, f"{YOUNG[0]}.json")
    assert "controller epoch" in [difference.name for difference in done.misfit.differences]


# What the model does.

BOUNDS = {
    "brokers": 3, "topics": 1, "partitions": 2, "created_partitions": 1, "topic_ids": 3, "old_creations": 1,
    "new_creations": 1, "expansions": 1, "new_expansions": 1, "failovers": 15, "restarts": 15, "repairs": 15,
    "controller_epochs": 15, "leader_epochs": 15, "events": 8, "requests": 6, "notifications": 0,
}  # fmt: skip


def walk(variant: str, *doings: str, flags: dict[str, Any] | None = None, **bounds: int) -> Walk:
    """Captures at rest, before the first of these steps and after each."""
    model = Model(evolve(REAL_CLUSTER, initial=running_cluster), variant, {**BOUNDS, **bounds}, flags or {})
    made = Walk(model, variant, seed=1)
    made.capture()
    for doing in doings:
        for key in doing.split("; "):
            made.do(key)
        made.rest()
        made.capture()
    return made


FAILOVER_BEFORE_THE_EXPANSION_IS_HANDLED = ("old_client_adds_partitions(0); delete_controller(); reelect(1)",)
WALKS: dict[str, Callable[[], Walk]] = {
    "2.8.2: id written back, brokers stop and start": lambda: walk(
        "2.8.2", "old_client_creates_topic(0)", "old_client_adds_partitions(0)", "write_topic_id(0, 0)",
        "stop(1, 0)", "crash(2)", "restart(1)", "delete_controller()",
    ),
    "3.9.0: a failover before the expansion is handled": lambda: walk(
        "3.9.0", "old_client_creates_topic(0)", *FAILOVER_BEFORE_THE_EXPANSION_IS_HANDLED, "stop(0, 1)"
    ),
}  # fmt: skip


@pytest.mark.parametrize("made", WALKS.values(), ids=WALKS)
def test_what_the_model_does_is_explained(made: Callable[[], Walk]) -> None:
    found = made()
    done = explained(found.captures)
    assert done.fit is Fit.EXPLAINED
    assert len(events(done)) <= len([key for key in found.taken if key in events(done)]) + 2


# Files that are no series.


def test_captures_of_two_clusters_are_refused() -> None:
    with pytest.raises(UsageError, match=r"second is of Kafka 3\.9\.0 .* and first of Kafka 2\.8\.2"):
        read_series([FILES[YOUNG[0]], FILES["scenario-06-01-old-create"]], ["first", "second"])


def test_captures_without_a_topic_are_refused() -> None:
    with pytest.raises(UsageError, match="None of the snapshots shows a topic"):
        read_series([FILES["scenario-01-exact-00-up"]])


def test_a_number_of_replicas_that_changes_is_refused_as_not_modelled() -> None:
    documents = [document(name) for name in YOUNG]
    documents[2]["topics"]["t"]["znode"]["partitions"]["0"] = [3, 1]
    with pytest.raises(UsageError, match="third has partition 0 of t on brokers 1 and 3, and other partitions on 3"):
        read_series([json.dumps(d).encode() for d in documents], ["first", "second", "third"])


def test_a_file_that_is_no_capture_is_named() -> None:
    with pytest.raises(UsageError, match="second: The capture is not JSON"):
        read_series([FILES[YOUNG[0]], b"{"], ["first", "second"])
