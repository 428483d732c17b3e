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

from kwalk.model.kafka.initial_states import running_cluster
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER, SERIES_FLAGS, read_series
from kwalk.model.language import Model, UsageError
from kwalk.reports.handlers.explain import model_of
from kwalk.search.analyses.explain.explain import ExplainOptions, Explanation, Fit, explain
from kwalk.search.kernel.compile.compiler import kernel_for
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
    """What `kwalk diagnose --explain` finds."""
    (series,) = read_series(sources, names)
    other = {name: setting for name, setting in series.flags.items() if REAL_CLUSTER.flags[name] != setting}
    begun = evolve(REAL_CLUSTER, initial=series.initial, labels=series.labels)
    model = Model(begun, variant or series.variant, series.bounds, other)
    kernel = kernel_of(model.variant, tuple(sorted(series.bounds.items())), tuple(sorted(other.items())))
    return explain(model, kernel, series, ExplainOptions(seconds=1200.0))


def events(keys: Sequence[str]) -> list[str]:
    """The steps that are not needed."""
    clients, faults = ("old_client", "new_client"), ("delete_controller", "stop", "crash", "restart")
    others = ("client", "alter", "remove", "auto", "write_topic")
    return [key for key in keys if key.startswith((*clients, *faults, *others)) and not key.startswith("stop_replica")]


# The captures.


@pytest.mark.thorough
def test_2_8_2_the_eight_steps_on_a_fresh_topic() -> None:
    done = explained([FILES[name] for name in of(FRESH)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 14)
    assert [key.split("(")[0] for key in events(done.trace.actions)] == [
        "old_client_creates_topic",
        "old_client_adds_partitions",
        "delete_controller",
        "stop",
        "restart",
        "stop",
        "restart",
        "stop",
        "restart",
    ]


@pytest.mark.thorough
def test_2_8_2_the_eight_steps_on_an_aged_topic_need_a_preferred_election_that_was_not_observed() -> None:
    done = explained([FILES[name] for name in of(AGED)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 14)
    assert any(key.startswith("auto_preferred_election") for key in events(done.trace.actions))


def test_2_8_2_the_repair_of_a_broken_cluster() -> None:
    done = explained([FILES[name] for name in of(REPAIRED)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 8)
    assert {f"remove_metadata_files({broker})" for broker in range(3)} <= set(events(done.trace.actions))


def test_3_9_0_the_eight_steps() -> None:
    done = explained([FILES[name] for name in of(LATER)])
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, 13)


@pytest.mark.parametrize(
    "names, variant, fact",
    [
        (of(FRESH)[1:2] + of(FRESH)[-1:], "3.9.0", "partition.metadata of t-0 on broker 1"),
        pytest.param(YOUNG, "2.5.0", "topic_id in ZooKeeper of t", marks=pytest.mark.thorough),
        (of(LATER)[1:2] + of(LATER)[-1:], "2.8.2", "partition.metadata of t-0 on broker 1"),
    ],
)
def test_another_version_is_refused_at_the_first_capture_that_shows_the_difference(names, variant, fact) -> None:
    done = explained([FILES[name] for name in names], variant)
    assert (done.fit, done.how) == (Fit.REFUSED, "exhaustive")
    assert (done.mismatch.number, done.mismatch.waypoint) == (0, f"{names[0]}.json")
    assert done.mismatch.differences[0].name == fact


# Tampering.


def state(capture: dict[str, Any], partition: int = 0) -> dict[str, Any]:
    return capture["topics"]["t"]["partition_state"][str(partition)]


def another_id(later: dict[str, Any]) -> None:
    later["topics"]["t"]["topic_id"] = later["topics"]["t"]["znode"]["topic_id"] = "X" * 21 + "g"


def another_leader(later: dict[str, Any]) -> None:
    state(later)["leader"] = 3


def isr_without_its_leader(later: dict[str, Any]) -> None:
    state(later, 1)["isr"] = [1, 2]


def older_controller_epoch(later: dict[str, Any]) -> None:
    later["controller_epoch"] = 0


def file_with_another_id(later: dict[str, Any]) -> None:
    later["brokers"]["2"]["dirs"]["t-1"].update(
        topic_id="X" * 21 + "g", partition_metadata=f"version: 0\ntopic_id: {'X' * 21}g"
    )


def older_leader_epoch(later: dict[str, Any]) -> None:
    state(later)["leader_epoch"] = 0


def member_that_nobody_added(later: dict[str, Any]) -> None:
    """A follower that is stopped has another leader epoch; what it led may take it in again before it leaves."""
    state(later, 1)["isr"] = [3, 1, 2]


def in_memory(capture: dict[str, Any]) -> None:
    """Let all brokers have in memory what the states say, as at rest."""
    topic = capture["topics"]["t"]
    for number, broker in capture["brokers"].items():
        held = {p: s for p, s in topic["partition_state"].items() if int(number) in topic["znode"]["partitions"][p]}
        replicas = {
            p: {"leader_epoch": s["leader_epoch"], "leads": s["leader"] == int(number)} for p, s in held.items()
        }
        broker["replicas"] = {"t": replicas} if broker["alive"] else None


def second_leader(later: dict[str, Any]) -> None:
    """A follower says that it leads, at the leader epoch that another broker has."""
    in_memory(later)
    follower = next(str(number) for number in state(later)["isr"] if number != state(later)["leader"])
    later["brokers"][follower]["replicas"]["t"]["0"]["leads"] = True


STOPPED, RESTARTED, LAST = (
    f"scenario-01-exact-08{which}"
    for which in (
        "a-broker2-stopped",
        "d-broker3-restarted-12s",
        "f-controller1-restarted-12s",
    )
)


@pytest.mark.parametrize(
    "tamper, name, fact",
    [
        (another_id, "scenario-01-exact-02-03-produce-consume", "topic_id in ZooKeeper of t"),
        (another_leader, "scenario-01-exact-02-03-produce-consume", "leader of t-0"),
        (isr_without_its_leader, "scenario-01-exact-02-03-produce-consume", "ISR of t-1"),
        (older_controller_epoch, "scenario-01-exact-02-03-produce-consume", "controller epoch"),
        (file_with_another_id, "scenario-01-exact-02-03-produce-consume", "partition.metadata of t-1 on broker 2"),
        (member_that_nobody_added, STOPPED, "ISR of t-1"),
        (older_leader_epoch, RESTARTED, "leader epoch of t-0"),
        (older_leader_epoch, LAST, "leader epoch of t-0"),
        (second_leader, "scenario-01-exact-02-03-produce-consume", "t-0 in memory of broker 3"),
    ],
)
def test_a_capture_that_was_tampered_with_is_refused_with_its_name_and_the_field(tamper, name, fact) -> None:
    documents = {name: document(name) for name in of(FRESH)}
    tamper(documents[name])
    done = explained([json.dumps(d).encode() for d in documents.values()], names=list(documents))
    assert done.fit is Fit.REFUSED
    assert done.mismatch.waypoint == name
    assert fact in [difference.name for difference in done.mismatch.differences]


def test_brokers_that_have_in_memory_what_the_states_say_are_explained() -> None:
    documents = [document(name) for name in YOUNG]
    for one in documents:
        in_memory(one)
    done = explained([json.dumps(one).encode() for one in documents], names=YOUNG)
    assert (done.fit, len(done.arrivals)) == (Fit.EXPLAINED, len(YOUNG))


def test_captures_in_the_wrong_order_are_refused() -> None:
    names = of(FRESH)[1:7]
    done = explained([FILES[name] for name in (*names[::-1], of(FRESH)[-1])])
    assert (done.fit, done.mismatch.waypoint) == (Fit.REFUSED, f"{names[-2]}.json")
    assert "controller epoch" in [difference.name for difference in done.mismatch.differences]


# What the model does.

BOUNDS = read_series([FILES[name] for name in of(FRESH)])[0].bounds
"""Those of the captures, so that walks and what is made of them need no other compiled model."""
SMALL = {**BOUNDS, "brokers": 2, "partitions": 1, "replica_orders": 0, "created_partitions": 1}
DELETION = {"deletion": True, "stop_replica": True}
REASSIGNMENT = {"reassignment": True, "stop_replica": True}


def begun(variant: str, seed: int = 1) -> Walk:
    """A walk in a cluster like that of the captures, without topics."""
    flags = {name: setting for name, setting in SERIES_FLAGS.items() if REAL_CLUSTER.flags[name] != setting}
    model = Model(evolve(REAL_CLUSTER, initial=running_cluster), variant, BOUNDS, flags)
    return Walk(model, variant, seed, kernel_of(variant, tuple(sorted(BOUNDS.items())), tuple(sorted(flags.items()))))


def small(variant: str, flags: dict[str, Any], **bounds: int) -> Walk:
    """A walk in a cluster of two brokers, with more that can happen, without topics."""
    begins = evolve(REAL_CLUSTER, initial=running_cluster)
    return Walk(Model(begins, variant, {**SMALL, **bounds}, {**SERIES_FLAGS, **flags}), variant, 1)


def walk(made: Walk, *doings: str) -> Walk:
    """Captures at rest, before the first of these steps and after each; "…" is a rest without one."""
    made.capture()
    for doing in doings:
        for key in doing.split("; "):
            made.rest() if key == "…" else made.do(key)
        made.rest()
        made.capture()
    return made


ROLLING_RESTART = "crash(0); …; restart(0); …; crash(1); …; restart(1); …; crash(2); …; restart(2)"
WALKS: dict[str, Callable[[], Walk]] = {
    "2.8.2: id written back, brokers stop and start": lambda: walk(
        begun("2.8.2"),
        "old_client_creates_topic(0)",
        "old_client_adds_partitions(0)",
        "write_topic_id(0, 0)",
        "stop(1, 0)",
        "crash(2)",
        "restart(1)",
        "delete_controller()",
    ),
    "2.8.2: all brokers restart between two captures": lambda: walk(
        begun("2.8.2"),
        "old_client_creates_topic(0)",
        "old_client_adds_partitions(0)",
        "delete_controller()",
        ROLLING_RESTART,
    ),
    "3.9.0: files get ZooKeeper's id while brokers run, and one that is down starts with it": lambda: walk(
        begun("3.9.0"),
        "old_client_creates_topic(0)",
        "old_client_adds_partitions(0)",
        "delete_controller()",
        "edit_metadata_files(1)",
        "stop(2, 1)",
        "edit_metadata_files(2); …; restart(2)",
    ),
    "3.9.0: a failover before the expansion is handled": lambda: walk(
        begun("3.9.0"),
        "old_client_creates_topic(0)",
        "old_client_adds_partitions(0); delete_controller(); reelect(1)",
        "stop(0, 1)",
    ),
    "2.8.2: deleted by hand while a marker waits for a broker, and created again": lambda: walk(
        small("2.8.2", DELETION, incarnations=1, deletions=3, hand_removals=7),
        "new_client_creates_topic(0)",
        "crash(1)",
        "client_deletes_topic(0)",
        "remove_topic_by_hand(0); remove_deletion_request_by_hand(0)",
        "delete_controller()",
        "restart(1)",
        "new_client_creates_topic(0)",
    ),
    "3.9.0: states are removed by hand, and the next controller writes new ones": lambda: walk(
        small("3.9.0", {**DELETION, "piecemeal_removal": True}, deletions=3, hand_removals=7),
        "new_client_creates_topic(0)",
        "delete_controller()",
        "remove_partition_states_by_hand(0)",
        "delete_controller()",
    ),
    "2.8.2: a replica moves to another broker": lambda: walk(
        small("2.8.2", REASSIGNMENT, replication_factor=1, reassignments=15, cancellations=3),
        "old_client_creates_topic(0)",
        "alter_partition_reassignments(0, 0, 0, 0)",
        "delete_controller()",
    ),
}


@pytest.mark.parametrize("made", WALKS.values(), ids=WALKS)
def test_what_the_model_does_is_explained(made: Callable[[], Walk]) -> None:
    found = made()
    done = explained(found.captures)
    assert done.fit is Fit.EXPLAINED
    assert len(events(done.trace.actions)) <= len(events(found.taken)) + 2


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in (2, 3, 4))])
def test_whatever_happens_at_rest_is_explained(seed: int) -> None:
    """One or two random events in each of three gaps, when all else has come to rest; but files are not removed.

    Nor are directories: the series of this story show one wherever a partition has a state.
    """
    removals = {"remove_metadata_files", "move_directory_away"}
    made = walk(begun("2.8.2", seed), "old_client_creates_topic(0)", "old_client_adds_partitions(0)")
    for _ in range(3):
        for _ in range(made.random.randint(1, 2)):
            possible = [step for step in made.enabled() if step[0].action.name not in removals]
            made.take(*made.random.choice(possible))
            made.rest(orderly=True)
        made.capture()
    assert explained(made.captures).fit is Fit.EXPLAINED, made.taken


# Files that are no series.


def test_captures_of_two_clusters_are_refused() -> None:
    with pytest.raises(UsageError, match=r"second is of Kafka 3\.9\.0 .* and first of Kafka 2\.8\.2"):
        read_series([FILES[YOUNG[0]], FILES["scenario-06-01-old-create"]], ["first", "second"])


def test_captures_without_a_topic_are_refused() -> None:
    with pytest.raises(UsageError, match="None of the snapshots shows a topic"):
        read_series([FILES["scenario-01-exact-00-up"]])


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("scenario-01-01-old-create", "the topic id hbcto079Q-K_O7AoNlw-Ig for t"),
        ("scenario-01-05-produce-consume", "partition.metadata of t-0 on broker 1 for t"),
    ],
)
def test_a_first_snapshot_that_its_version_cannot_produce_is_refused(name: str, what: str) -> None:
    shown = document(name)
    shown["version"] = "250"
    (series,) = read_series([json.dumps(shown).encode()], ["first"])
    with pytest.raises(UsageError, match=rf"first shows {what}, and releases before 2\.8\.0 have no .*got 2\.5\.0"):
        model_of(REAL_CLUSTER, series, None)
    (series,) = read_series([FILES[name]], ["first"])
    assert model_of(REAL_CLUSTER, series, "3.9.0").variant == "3.9.0"
    with pytest.raises(UsageError, match=r"Allowed: a release from 2\.8\.0 on"):
        model_of(REAL_CLUSTER, series, "2.5.0")


def test_a_first_snapshot_without_ids_may_be_of_any_version() -> None:
    shown = document("scenario-01-01-old-create")
    shown["version"] = "250"
    for broker in shown["brokers"].values():
        for directory in broker["dirs"].values():
            directory["partition_metadata"] = directory["topic_id"] = None
    for topic in shown["topics"].values():
        topic["topic_id"] = topic["znode"]["topic_id"] = None
        topic["znode"]["version"] = 2
    (series,) = read_series([json.dumps(shown).encode()])
    assert (series.requires, model_of(REAL_CLUSTER, series, None).variant) == ((), "2.5.0")


def test_what_a_capture_lacks_is_named_with_what_it_may_lack() -> None:
    shown = document("scenario-01-01-old-create")
    del shown["controller_epoch"]
    with pytest.raises(UsageError, match=r"lacks the field 'controller_epoch'.*docs/reference/snapshots\.md"):
        read_series([json.dumps(shown).encode()])


def test_a_file_that_is_no_capture_is_named() -> None:
    with pytest.raises(UsageError, match="second: The snapshot is not JSON"):
        read_series([FILES[YOUNG[0]], b"{"], ["first", "second"])
