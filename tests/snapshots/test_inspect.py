"""The inspection of snapshots: what it says of real clusters, of each kind of damage, and on the command line."""

from __future__ import annotations

import copy
import csv
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.kafka.snapshots.capture import INCONSISTENT_TOPIC_ID, OFFSET_OUT_OF_RANGE
from kwalk.model.language import UsageError
from kwalk.model.language.inspection import Severity
from kwalk.reports.command_line import main
from tests.snapshots.captured import FILES, changed, document

PROBED = [name for name in FILES if (document(name).get("extra") or {}).get("rw")]
"""Captures that say to which partitions a producer could write, and what a consumer read."""

OTHER_ID = "AbCdEfGhIjKlMnOpQrStUg"


def kinds(source: bytes | Path) -> dict[str, list[str]]:
    """The subjects of the findings, by kind."""
    found: dict[str, list[str]] = {}
    for kind, seen in inspect_snapshot(source).by_kind().items():
        found[kind.name] = [one.subject for one in seen]
    return found


@pytest.mark.parametrize("name", PROBED)
def test_a_partition_is_broken_iff_a_real_producer_or_consumer_failed(name: str) -> None:
    observations = inspect_snapshot(FILES[name]).observations
    broken = {one.subject for one in observations if one.kind.severity is Severity.BROKEN}
    for partition, probe in document(name)["extra"]["rw"].items():
        works = probe["produce"]["ok"] and probe["consume"]["n"] > 0
        assert (f"t-{partition}" in broken) is not works, (partition, probe)


def test_the_probes_cover_working_and_broken_partitions() -> None:
    probes = [probe for name in PROBED for probe in document(name)["extra"]["rw"].values()]
    works = [probe["produce"]["ok"] and probe["consume"]["n"] > 0 for probe in probes]
    assert len(works) == 98 and sum(works) == 62


# Damages: each changes a healthy capture, whose topic t has the partitions 0 and 1 on the brokers 1, 2 and 3.

Capture = dict[str, Any]


def topic(capture: Capture) -> dict[str, Any]:
    return capture["topics"]["t"]


def state(capture: Capture, partition: int = 0) -> dict[str, Any]:
    return topic(capture)["partition_state"][str(partition)]


def directory(capture: Capture, broker: int, partition: int = 0) -> dict[str, Any]:
    return capture["brokers"][str(broker)]["dirs"][f"t-{partition}"]


def stop(capture: Capture, *brokers: int) -> None:
    for broker in brokers:
        capture["brokers"][str(broker)].update(alive=False, metadata_cache=None)
        capture["broker_ids"].remove(broker)


def give_id(capture: Capture, broker: int, partition: int, identity: str | None) -> None:
    text = None if identity is None else f"version: 0\ntopic_id: {identity}"
    directory(capture, broker, partition).update(partition_metadata=text, topic_id=identity)


def znode_id(capture: Capture, identity: str | None) -> None:
    topic(capture)["znode"]["topic_id"] = topic(capture)["topic_id"] = identity


def another_epoch(capture: Capture, partition: int = 0) -> None:
    state(capture, partition)["leader_epoch"] += 1


def caches_show(capture: Capture, identity: str | None) -> None:
    for broker in capture["brokers"].values():
        if broker["metadata_cache"]:
            broker["metadata_cache"]["topics"]["t"]["topic_id"] = identity


def leader_is_stuck(capture: Capture) -> None:
    another_epoch(capture)


def leader_ignores_its_state(capture: Capture) -> None:
    leader, epoch = (topic(capture)["partition_state"]["0"][name] for name in ("leader", "leader_epoch"))
    capture["brokers"][str(leader)]["replicas"] = {"t": {"0": {"leader_epoch": epoch, "leads": False}}}


def leader_refuses(capture: Capture) -> None:
    znode_id(capture, OTHER_ID)
    caches_show(capture, OTHER_ID)
    another_epoch(capture)
    another_epoch(capture, 1)


def leader_refuses_mixed(capture: Capture) -> None:
    leader_refuses(capture)
    for broker in (1, 2, 3):
        give_id(capture, broker, 1, OTHER_ID)
    state(capture, 1)["leader_epoch"] -= 1


def leader_keeps_id_in_memory(capture: Capture) -> None:
    leader_refuses(capture)
    for broker in (1, 2, 3):
        for partition in (0, 1):
            give_id(capture, broker, partition, None)
            directory(capture, broker, partition)["leader_epoch_checkpoint"] = None
    for partition in (0, 1):
        leader = state(capture, partition)["leader"]
        state(capture, partition)["isr"] = [leader]


def files_are_gone(capture: Capture) -> None:
    """A controller has sent the ids since the last states, and the topic's znode was written twice."""
    topic(capture)["version"] = 2
    capture["controller_epoch"] = 1 + max(state(capture, partition)["controller_epoch"] for partition in (0, 1))
    for broker in (1, 2, 3):
        for partition in (0, 1):
            give_id(capture, broker, partition, None)


def files_are_gone_where_fetches_name_ids(capture: Capture) -> None:
    capture["version"] = "3.9.0"
    files_are_gone(capture)


def fetches_answer(capture: Capture, error: int) -> None:
    """Let each broker answer fetches by the topic id with this error; its metadata cache has the id."""
    capture["version"] = "3.9.0"
    for broker in capture["brokers"].values():
        broker["fetch_errors"] = {str(error): {"t": [0, 1]}}


def files_are_gone_and_fetches_refused(capture: Capture) -> None:
    files_are_gone(capture)
    fetches_answer(capture, INCONSISTENT_TOPIC_ID)


def files_are_edited(capture: Capture) -> None:
    """Files, ZooKeeper and metadata caches have the same topic id, and logs another one in memory."""
    fetches_answer(capture, INCONSISTENT_TOPIC_ID)


def fetches_are_refused_and_logs_not_read(capture: Capture) -> None:
    fetches_answer(capture, INCONSISTENT_TOPIC_ID)
    for broker in capture["brokers"].values():
        broker["dirs"] = None


def isr_is_down(capture: Capture) -> None:
    state(capture).update(leader=-1, isr=[3])
    state(capture, 1).update(leader=1, isr=[1, 2])
    give_epoch(capture, 1, 1)
    stop(capture, 3)


def give_epoch(capture: Capture, broker: int, partition: int) -> None:
    epoch = state(capture, partition)["leader_epoch"]
    directory(capture, broker, partition)["leader_epoch_checkpoint"] = f"0\n1\n{epoch} 0\n"


def leads(capture: Capture, broker: int, partition: int, isr: list[int]) -> None:
    state(capture, partition).update(leader=broker, isr=isr)
    give_epoch(capture, broker, partition)


def fetch_is_refused(capture: Capture) -> None:
    topic(capture)["version"] = 3
    capture["version"] = "390"
    znode_id(capture, OTHER_ID)
    caches_show(capture, OTHER_ID)


def fetch_is_refused_mixed(capture: Capture) -> None:
    fetch_is_refused(capture)
    for broker in (1, 2, 3):
        give_id(capture, broker, 1, OTHER_ID)


def replica_refuses(capture: Capture) -> None:
    leads(capture, 1, 0, [1, 2])
    give_id(capture, 3, 0, OTHER_ID)


def dead_in_isr(capture: Capture) -> None:
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 2, 3])
    stop(capture, 3)


def partition_is_lost(capture: Capture) -> None:
    del topic(capture)["znode"]["partitions"]["1"]


def partition_without_state(capture: Capture) -> None:
    del topic(capture)["partition_state"]["1"]


def partition_without_state_is_served(capture: Capture) -> None:
    """Its state was removed by hand: brokers answer as before."""
    settled(capture)
    del topic(capture)["partition_state"]["1"]


def disk_is_full(capture: Capture) -> None:
    """The directories of broker 3 are offline, and are still there to be read."""
    capture["brokers"]["3"]["log_dirs"] = [{"path": "/d", "broker_id": 3, "cluster_id": "c", "offline": True}]
    for found in capture["brokers"]["3"]["dirs"].values():
        found["root"] = "/d"
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 2])


def disk_of_the_only_isr_member_is_full(capture: Capture) -> None:
    disk_is_full(capture)
    leads(capture, 3, 0, [3])


def one_disk_of_two_is_full(capture: Capture) -> None:
    """The other one has the logs."""
    disk_is_full(capture)
    roots = capture["brokers"]["3"]["log_dirs"]
    roots.append({"path": "/other", "broker_id": 3, "cluster_id": "c", "offline": True})
    roots[0]["offline"] = False
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 2, 3])


def added_while_its_replica_was_down(capture: Capture) -> None:
    """Partition 2 was added while its only replica was down."""
    topic(capture)["znode"]["partitions"]["2"] = [3]
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 2])
    stop(capture, 3)


def partition_without_state_has_a_dead_replica(capture: Capture) -> None:
    added_while_its_replica_was_down(capture)
    topic(capture)["znode"]["partitions"]["2"] = [1, 2, 3]


def failover_fails_at_an_election(capture: Capture) -> None:
    added_while_its_replica_was_down(capture)
    capture["preferred_replica_election"] = {"t": [2]}


def failover_fails_at_a_reassignment(capture: Capture) -> None:
    added_while_its_replica_was_down(capture)
    topic(capture)["znode"]["adding_replicas"] = {"2": [3]}


def election_waits(capture: Capture) -> None:
    capture["preferred_replica_election"] = {"t": [0]}


def reassignment_request_waits(capture: Capture) -> None:
    capture["reassign_partitions"] = {"t": [0, 1]}
    topic(capture)["znode"]["adding_replicas"] = {"1": [2]}


def cache_lacks_a_broker(capture: Capture) -> None:
    capture["brokers"]["1"]["metadata_cache"]["brokers"].remove(2)


def cache_lacks_a_topic(capture: Capture) -> None:
    del capture["brokers"]["2"]["metadata_cache"]["topics"]["t"]


def no_controller(capture: Capture) -> None:
    capture["controller"] = None


def dead_controller(capture: Capture) -> None:
    capture["controller"] = 3
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 2])
    stop(capture, 3)


def id_is_missing(capture: Capture) -> None:
    znode_id(capture, None)


def id_differs(capture: Capture) -> None:
    znode_id(capture, OTHER_ID)
    caches_show(capture, OTHER_ID)


def ids_are_mixed(capture: Capture) -> None:
    id_differs(capture)
    for broker in (1, 2, 3):
        give_id(capture, broker, 1, OTHER_ID)


def another_id_is_sent(capture: Capture) -> None:
    caches_show(capture, OTHER_ID)


def foreign_isr(capture: Capture) -> None:
    leads(capture, 1, 0, [1, 2, 3])
    topic(capture)["znode"]["partitions"]["0"] = [1, 2]


def stray_log(capture: Capture) -> None:
    leads(capture, 1, 0, [1, 2])
    topic(capture)["znode"]["partitions"]["0"] = [1, 2]


def orphaned_log(capture: Capture) -> None:
    capture["brokers"]["2"]["dirs"]["gone-7"] = copy.deepcopy(directory(capture, 2))


def deletion_hangs(capture: Capture) -> None:
    capture["delete_topics"] = ["t"]


def deletion_waits(capture: Capture) -> None:
    deletion_hangs(capture)
    stop(capture, 3)


def broker_is_not_registered(capture: Capture) -> None:
    capture["broker_ids"].remove(2)
    for partition in (0, 1):
        leads(capture, 1, partition, [1, 3])


def replica_catches_up(capture: Capture) -> None:
    leads(capture, 1, 0, [1, 2])


def reassignment(capture: Capture) -> None:
    topic(capture)["znode"]["adding_replicas"] = {"0": [3]}
    leads(capture, 1, 0, [1, 2])


def reassignment_is_idle(capture: Capture) -> None:
    """All replicas that the partition is to have are in the ISR: the controller has not noticed."""
    topic(capture)["znode"]["adding_replicas"] = {"0": [3]}


def reassignment_removes_all(capture: Capture) -> None:
    topic(capture)["znode"]["removing_replicas"] = {"0": [1, 2, 3]}


def stale_metadata(capture: Capture) -> None:
    cached = capture["brokers"]["2"]["metadata_cache"]["topics"]["t"]["partitions"]["0"]
    cached["leader"] = next(b for b in (1, 2, 3) if b != cached["leader"])


def isr_member_refuses(capture: Capture) -> None:
    """The topic was created again on brokers with an id of their own; a follower has the log of the earlier one."""
    capture["version"] = "3.9.0"
    topic(capture)["version"] = 0
    for partition in (0, 1):
        state(capture, partition)["leader_epoch"] = 0
        for broker in (1, 2, 3):
            give_epoch(capture, broker, partition)
    follower = next(b for b in state(capture, 1)["isr"] if b != state(capture, 1)["leader"])
    give_id(capture, follower, 1, OTHER_ID)


def log_of_an_earlier_topic(capture: Capture) -> None:
    """Up to 2.8 nothing compares the log's id with the topic's; the leader of 2.8 refuses later leader epochs."""
    directory(capture, 2)["leader_epoch_checkpoint"] = "0\n2\n0 0\n4 17\n"


def disk_has_failed(capture: Capture) -> None:
    """Broker 3 runs, and has lost the directory of partition 0; metadata names its replica as offline."""
    leads(capture, 1, 0, [1, 2])
    del capture["brokers"]["3"]["dirs"]["t-0"]
    for broker in capture["brokers"].values():
        broker["metadata_cache"]["topics"]["t"]["partitions"]["0"]["offline"] = [3]


def only_disk_has_failed(capture: Capture) -> None:
    disk_has_failed(capture)
    state(capture).update(leader=-1, isr=[3])


def broker_has_another_id(capture: Capture) -> None:
    """The only replica's broker is gone, and a broker with another id has its log."""
    topic(capture)["znode"]["partitions"]["0"] = [4]
    state(capture).update(leader=-1, isr=[4])
    topic(capture)["znode"]["partitions"]["1"] = [1, 3]
    leads(capture, 1, 1, [1, 3])
    del capture["brokers"]["2"]["dirs"]["t-1"]
    for broker in (1, 3):
        del capture["brokers"][str(broker)]["dirs"]["t-0"]


def isr_is_empty(capture: Capture) -> None:
    state(capture).update(leader=-1, isr=[])


def logs_differ(capture: Capture) -> None:
    """A follower in the ISR took the log of an earlier topic for its own: only the records show it."""
    topic(capture)["cleanup_policy"] = "delete"
    for broker in (1, 2, 3):
        crc = 7 if broker == 2 else 8
        batch = {"base_offset": 0, "leader_epoch": 0, "timestamp": 1, "crc": crc}
        directory(capture, broker)["first_batch"] = batch


def controller_is_no_broker(capture: Capture) -> None:
    capture["controller"] = 3000


def log_has_no_id(capture: Capture) -> None:
    capture["version"] = "3.6.1"
    give_id(capture, 2, 1, None)


def down_broker_has_another_log(capture: Capture) -> None:
    topic(capture)["version"] = 0
    leads(capture, 1, 0, [1, 2])
    leads(capture, 1, 1, [1, 2])
    give_id(capture, 3, 0, OTHER_ID)
    stop(capture, 3)


def down_broker_has_another_id(capture: Capture) -> None:
    leads(capture, 1, 0, [1, 2])
    leads(capture, 1, 1, [1, 2])
    same = {"base_offset": 0, "leader_epoch": 0, "timestamp": 1, "crc": 7}
    for broker in (1, 2, 3):
        directory(capture, broker).update(first_batch=same, leader_epoch_checkpoint="0\n1\n0 0\n")
    give_id(capture, 3, 0, OTHER_ID)
    stop(capture, 3)


def replica_has_another_log(capture: Capture) -> None:
    """Broker 2 is up, and its log, which has no id, began apart."""
    logs_differ(capture)
    leads(capture, 1, 0, [1, 3])
    give_id(capture, 2, 0, None)


def replica_has_no_log(capture: Capture) -> None:
    """The replicas of t-0 were [1, 2]; broker 3 was written into the znode by hand."""
    leads(capture, 1, 0, [1, 2])
    del capture["brokers"]["3"]["dirs"]["t-0"]


def log_is_set_aside(capture: Capture) -> None:
    """KRaft had another topic id than the log in a migration that was rolled back."""
    topic(capture)["version"] = 3
    aside = {**directory(capture, 3), "partition_metadata": f"version: 0\ntopic_id: {OTHER_ID}", "topic_id": OTHER_ID}
    capture["brokers"]["3"]["set_aside"] = {f"t-0.{'0' * 32}-stray": aside, f"t-1.{'0' * 32}-delete": aside}


def leader_is_written_by_hand(capture: Capture) -> None:
    """Round 107 of recover-random-damages: all brokers know the leader that the epoch had."""
    state(capture)["leader"] = next(b for b in state(capture)["isr"] if b != state(capture)["leader"])


def isr_is_written_by_hand(capture: Capture) -> None:
    """Round 400 of recover-random-damages: all brokers know the ISR that the leader has."""
    settled(capture)
    state(capture)["isr"] = [state(capture)["leader"]]


def leader_is_removed_by_hand(capture: Capture) -> None:
    settled(capture)
    state(capture).update(leader=-1, leader_epoch=state(capture)["leader_epoch"] + 1)


def records_are_lost(capture: Capture) -> None:
    """Broker 3 has committed records of leader epoch 1; broker 1 has led without them since, in leader epoch 2."""
    leads(capture, 1, 0, [1, 2])
    leads(capture, 1, 1, [1, 2])
    state(capture)["leader_epoch"] = 2
    for broker, epochs in ((1, "0 0\n2 1\n"), (2, "0 0\n2 1\n"), (3, "0 0\n1 1\n")):
        directory(capture, broker).update(leader_epoch_checkpoint=f"0\n2\n{epochs}", high_watermark=2)
    stop(capture, 3)


def disk_is_of_another_cluster(capture: Capture) -> None:
    capture["cluster_id"] = "a"
    capture["brokers"]["2"]["log_dirs"] = [{"path": "/b", "broker_id": 2, "cluster_id": "b"}]


def checkpoint_is_garbled(capture: Capture) -> None:
    """Round 1100 of recover-random-damages: the log directory of a broker went offline as it started."""
    leads(capture, 1, 0, [1, 2])
    leads(capture, 2, 1, [1, 2])
    stop(capture, 3)
    root = {"path": "/b", "broker_id": 3, "cluster_id": None, "offline": None}
    capture["brokers"]["3"]["log_dirs"] = [{**root, "garbled": ["replication-offset-checkpoint"]}]


def isr_repeats(capture: Capture) -> None:
    state(capture)["isr"] = [*state(capture)["isr"], state(capture)["leader"]]


def reassignment_waits(capture: Capture) -> None:
    topic(capture)["znode"]["adding_replicas"] = {"0": [4]}
    topic(capture)["znode"]["partitions"]["0"] = [1, 2, 3, 4]


def no_leader_is_elected(capture: Capture) -> None:
    """The leader is down, and the controller has elected none of the ISR members that run."""
    state(capture).update(leader=3, isr=[3, 1, 2])
    leads(capture, 1, 1, [1, 2])
    stop(capture, 3)


def leader_has_no_log(capture: Capture) -> None:
    del capture["brokers"][str(state(capture)["leader"])]["dirs"]["t-0"]


def isr_member_has_no_log(capture: Capture) -> None:
    follower = next(b for b in state(capture)["isr"] if b != state(capture)["leader"])
    del capture["brokers"][str(follower)]["dirs"]["t-0"]


def zookeeper_is_restored(capture: Capture) -> None:
    """ZooKeeper has a state from before the last elections."""
    for broker in (1, 2, 3):
        directory(capture, broker)["leader_epoch_checkpoint"] = "0\n2\n0 0\n7 17\n"


def controller_epoch_is_behind(capture: Capture) -> None:
    capture["controller_epoch"] = 1
    state(capture)["controller_epoch"] = 4


def zookeeper_is_restored_unnoticed(capture: Capture) -> None:
    """The same, and brokers still tell clients what they knew before."""
    zookeeper_is_restored(capture)
    for broker in capture["brokers"].values():
        broker["metadata_cache"]["topics"]["t"]["partitions"]["0"]["leader_epoch"] = 7


def leader_is_outside_of_the_isr(capture: Capture) -> None:
    leads(capture, 1, 0, [2, 3])


def mark_has_no_topic(capture: Capture) -> None:
    capture["delete_topics"] = ["gone"]


def topics_share_an_id(capture: Capture) -> None:
    capture["topics"]["u"] = copy.deepcopy(topic(capture))
    for broker in capture["brokers"].values():
        broker["dirs"] |= {name.replace("t-", "u-"): copy.deepcopy(one) for name, one in broker["dirs"].items()}
        topics = broker["metadata_cache"]["topics"]
        topics["u"] = copy.deepcopy(topics["t"])


def another_controller(capture: Capture) -> None:
    capture["brokers"]["2"]["metadata_cache"]["controller"] = next(b for b in (1, 2, 3) if b != capture["controller"])


def too_many_brokers(capture: Capture) -> None:
    for broker in range(4, 10):
        capture["brokers"][str(broker)] = {"alive": True, "dirs": {}, "metadata_cache": None}
        capture["broker_ids"].append(broker)
        for other in (1, 2, 3):
            capture["brokers"][str(other)]["metadata_cache"]["brokers"].append(broker)
    topic(capture)["znode"]["partitions"]["0"] = list(range(1, 10))


def isr_is_too_small(capture: Capture) -> None:
    """A follower lags behind, and the topic wants three replicas in the ISR."""
    topic(capture)["settings"] = {"min.insync.replicas": 3}
    state = topic(capture)["partition_state"]["0"]
    state["isr"] = [state["leader"], *(b for b in state["isr"] if b != state["leader"])][:2]


def follower_may_be_elected(capture: Capture) -> None:
    """Only one replica is in the ISR, and the controller may elect the others."""
    topic(capture)["settings"] = {"unclean.leader.election.enable": True}
    state = topic(capture)["partition_state"]["0"]
    state["isr"] = [state["leader"]]


DAMAGES: dict[Callable[[Capture], None], dict[str, list[str]]] = {
    leader_is_stuck: {"leader-does-not-lead": ["t-0"]},
    isr_is_too_small: {"isr-below-min-insync-replicas": ["t-0"], "catching-up": ["t-0"]},
    follower_may_be_elected: {"unclean-election-is-ahead": ["t-0"], "catching-up": ["t-0"]},
    leader_ignores_its_state: {"leader-ignores-its-state": ["t-0"]},
    leader_refuses: {"leader-refuses-topic-id": ["t-0", "t-1"]},
    leader_refuses_mixed: {"leader-refuses-mixed-topic-ids": ["t-0"]},
    leader_keeps_id_in_memory: {"leader-keeps-topic-id-in-memory": ["t-0", "t-1"]},
    files_are_gone: {"topic-id-differs-in-memory": ["t-0", "t-1"]},
    files_are_gone_where_fetches_name_ids: {"fetch-by-id-refused-in-memory": ["t-0", "t-1"]},
    files_are_gone_and_fetches_refused: {"fetch-by-id-refused-in-memory": ["t-0", "t-1"]},
    files_are_edited: {"fetch-by-id-refused-in-memory": ["t-0", "t-1"]},
    fetches_are_refused_and_logs_not_read: {"fetch-by-id-refused-not-read": ["t-0", "t-1"]},
    isr_is_down: {"no-live-isr": ["t-0"], "broker-down": ["broker 3"]},
    fetch_is_refused: {"fetch-by-id-refused": ["t-0", "t-1"]},
    fetch_is_refused_mixed: {
        "fetch-by-id-refused-mixed-topic-ids": ["t-0"],
        "fetched-under-another-topic-id": ["t-1", "t-1"],
    },
    replica_refuses: {"replica-refuses": ["t-0"], "topic-ids-mixed": ["t-0"]},
    isr_member_refuses: {"isr-member-refuses": ["t-1"], "fetched-under-another-topic-id": ["t-0"]},
    log_of_an_earlier_topic: {"isr-member-is-ahead-of-its-leader": ["t-0"]},
    dead_in_isr: {"isr-names-a-dead-broker": ["t-0", "t-1"], "broker-down": ["broker 3"]},
    partition_is_lost: {"partition-lost": ["t-1"]},
    partition_without_state: {"partition-without-state": ["t-1"]},
    partition_without_state_is_served: {"partition-state-is-lost": ["t-1"]},
    added_while_its_replica_was_down: {
        "no-live-replica": ["t-2"],
        "broker-down": ["broker 3"],
    },
    partition_without_state_has_a_dead_replica: {"partition-without-state": ["t-2"], "broker-down": ["broker 3"]},
    failover_fails_at_an_election: {
        "no-live-replica": ["t-2"],
        "failover-fails": ["t-2"],
        "broker-down": ["broker 3"],
    },
    failover_fails_at_a_reassignment: {
        "no-live-replica": ["t-2"],
        "failover-fails": ["t-2"],
        "reassignment-waits": ["t-2"],
        "broker-down": ["broker 3"],
    },
    election_waits: {"request-waits": ["/admin/preferred_replica_election"]},
    reassignment_request_waits: {"request-waits": ["/admin/reassign_partitions"], "reassignment-does-not-end": ["t-1"]},
    cache_lacks_a_broker: {"stale-metadata": ["broker 1"]},
    cache_lacks_a_topic: {"stale-metadata": ["broker 2"]},
    no_controller: {"no-controller": ["/controller"]},
    dead_controller: {"no-controller": ["/controller"], "broker-down": ["broker 3"]},
    id_is_missing: {"topic-id-missing": ["t"]},
    id_differs: {"topic-id-differs": ["t-0", "t-1"]},
    ids_are_mixed: {"topic-ids-mixed": ["t-0"]},
    another_id_is_sent: {"controller-sends-another-id": ["t-0", "t-1"]},
    foreign_isr: {"isr-outside-replicas": ["t-0"], "stray-log": ["t-0"]},
    stray_log: {"stray-log": ["t-0"]},
    orphaned_log: {"orphaned-log": ["gone-7"]},
    deletion_hangs: {"deletion-hangs": ["t"]},
    deletion_waits: {"deletion-has-not-begun": ["t"], "broker-down": ["broker 3"]},
    broker_is_not_registered: {"broker-not-registered": ["broker 2"], "catching-up": ["t-0", "t-1"]},
    replica_catches_up: {"catching-up": ["t-0"]},
    reassignment: {"reassignment": ["t"], "catching-up": ["t-0"]},
    reassignment_is_idle: {"reassignment-does-not-end": ["t-0"]},
    reassignment_removes_all: {"partition-without-replicas": ["t-0"]},
    disk_has_failed: {"offline-replica": ["t-0"]},
    disk_is_full: {"offline-replica": ["t-0", "t-1"]},
    disk_of_the_only_isr_member_is_full: {"offline-log-directory": ["t-0"], "offline-replica": ["t-1"]},
    one_disk_of_two_is_full: {},
    only_disk_has_failed: {"offline-log-directory": ["t-0"]},
    no_leader_is_elected: {"leader-not-elected": ["t-0"], "broker-down": ["broker 3"]},
    leader_has_no_log: {"isr-member-has-no-log": ["t-0"]},
    isr_member_has_no_log: {"isr-member-has-no-log": ["t-0"]},
    controller_epoch_is_behind: {"controller-epoch-is-behind": ["/controller_epoch"]},
    zookeeper_is_restored: {"state-is-behind-the-logs": ["t-0"]},
    zookeeper_is_restored_unnoticed: {"state-is-behind-the-logs-unnoticed": ["t-0"]},
    leader_is_outside_of_the_isr: {"leader-outside-isr": ["t-0"]},
    mark_has_no_topic: {"deletion-mark-without-topic": ["gone"]},
    topics_share_an_id: {"topics-share-an-id": ["/brokers/topics"]},
    broker_has_another_id: {
        "replica-under-another-broker-id": ["t-0"],
        "stray-log": ["t-0"],
        "broker-down": ["broker 4"],
    },
    isr_is_empty: {"empty-isr": ["t-0"]},
    logs_differ: {"replicas-diverged": ["t-0"]},
    controller_is_no_broker: {"controller-is-no-broker": ["/controller"]},
    log_has_no_id: {"log-without-topic-id": ["t-1"]},
    down_broker_has_another_log: {"down-broker-has-another-log": ["t-0"], "broker-down": ["broker 3"]},
    down_broker_has_another_id: {"down-broker-has-another-id": ["t-0"], "broker-down": ["broker 3"]},
    replica_has_another_log: {"replica-has-another-log": ["t-0"]},
    replica_has_no_log: {"replica-has-no-log": ["t-0"]},
    log_is_set_aside: {"log-set-aside": ["t-0"]},
    leader_is_written_by_hand: {"leader-written-by-hand": ["t-0"]},
    isr_is_written_by_hand: {"isr-written-by-hand": ["t-0"]},
    leader_is_removed_by_hand: {"leaderless-state-is-served": ["t-0"]},
    records_are_lost: {"replica-has-lost-records": ["t-0"], "broker-down": ["broker 3"]},
    disk_is_of_another_cluster: {"log-directory-of-another-broker": ["broker 2"]},
    checkpoint_is_garbled: {"checkpoint-is-garbled": ["broker 3"], "broker-down": ["broker 3"]},
    isr_repeats: {"isr-repeats-a-broker": ["t-0"]},
    reassignment_waits: {"reassignment-waits": ["t-0"], "broker-down": ["broker 4"]},
    stale_metadata: {"stale-metadata": ["t-0"]},
    another_controller: {"another-controller": ["broker 2"]},
    too_many_brokers: {"not-inspected": ["t-0"]},
}
"""By damage, what an inspection finds, and no more."""


def settled(capture: Capture) -> None:
    """Let the metadata caches show what ZooKeeper has."""
    for broker in capture["brokers"].values():
        cache = broker["metadata_cache"]
        known = cache["topics"].get("t", {"partitions": {}})["partitions"] if cache else {}
        for partition in list(known):
            znode = topic(capture)["partition_state"].get(partition)
            if znode is None:
                del known[partition]
            else:
                known[partition].update({field: znode[field] for field in ("leader", "leader_epoch", "isr")})


def damaged_by(damage: Callable[[Capture], None]) -> bytes:
    """Return a snapshot with a damage that brokers have noticed, if they would."""

    def change(capture: Capture) -> None:
        damage(capture)
        if damage not in (
            leader_is_written_by_hand,
            isr_is_written_by_hand,
            leader_is_removed_by_hand,
            stale_metadata,
            partition_without_state_is_served,
            zookeeper_is_restored_unnoticed,
        ):
            settled(capture)

    return changed(change)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_each_damage_is_found_and_nothing_else(damage: Callable[[Capture], None]) -> None:
    assert kinds(damaged_by(damage)) == DAMAGES[damage]


@pytest.mark.parametrize(("release", "found"), [("2.8.2", set()), ("3.9.0", {"log-without-topic-id"})])
@pytest.mark.parametrize("is_sent", [False, True])
def test_files_that_are_gone_matter_where_the_topic_may_have_had_another_id(
    release: str, found: set[str], is_sent: bool
) -> None:
    """In 2.8 a log has no file before a second LeaderAndIsr request, and one topic id needs one write."""

    def change(capture: Capture) -> None:
        settled(capture)
        files_are_gone(capture)
        capture["version"] = release
        if is_sent or release == "3.9.0":
            topic(capture)["version"] = 1
        else:
            capture["controller_epoch"] -= 1

    assert set(kinds(changed(change))) == found


@pytest.mark.parametrize("damage", [files_are_edited, files_are_gone_and_fetches_refused])
def test_a_leader_that_was_asked_certainly_has_another_id(damage: Callable[[Capture], None]) -> None:
    observations = inspect_snapshot(changed(lambda capture: (settled(capture), damage(capture)))).observations
    assert [(one.subject, one.certain) for one in observations] == [("t-0", True), ("t-1", True)]
    unasked = inspect_snapshot(changed(lambda c: (settled(c), files_are_gone_where_fetches_name_ids(c)))).observations
    assert [(one.subject, one.certain) for one in unasked] == [("t-0", False), ("t-1", False)]


def test_replicas_that_were_asked_and_agree_have_no_other_id() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        files_are_gone(capture)
        fetches_answer(capture, OFFSET_OUT_OF_RANGE)

    assert set(kinds(changed(change))) == {"log-without-topic-id"}


@pytest.mark.parametrize("error", [-1, 3, 6, 29, 100])
def test_other_errors_of_fetches_show_nothing(error: int) -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        fetches_answer(capture, error)

    assert kinds(changed(change)) == {}
    observations = inspect_snapshot(changed(lambda capture: (files_are_gone(capture), change(capture)))).observations
    assert {(one.kind.name, one.certain) for one in observations} == {("fetch-by-id-refused-in-memory", False)}


def test_a_fetch_by_another_id_than_zookeepers_shows_nothing() -> None:
    """The controller sends it: a log with ZooKeeper's id refuses it."""

    def change(capture: Capture) -> None:
        settled(capture)
        fetches_answer(capture, INCONSISTENT_TOPIC_ID)
        caches_show(capture, OTHER_ID)

    assert "fetch-by-id-refused-in-memory" not in kinds(changed(change))


def test_a_file_with_another_id_explains_why_a_leader_refuses() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        fetch_is_refused(capture)
        fetches_answer(capture, INCONSISTENT_TOPIC_ID)

    assert kinds(changed(change)) == {"fetch-by-id-refused": ["t-0", "t-1"]}


def test_a_follower_that_was_asked_may_have_another_id_alone() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        fetches_answer(capture, OFFSET_OUT_OF_RANGE)
        follower = next(b for b in state(capture)["isr"] if b != state(capture)["leader"])
        capture["brokers"][str(follower)]["fetch_errors"] = {str(INCONSISTENT_TOPIC_ID): {"t": [0]}}

    assert kinds(changed(change)) == {"topic-id-differs-in-memory": ["t-0"]}


def test_a_mark_hides_no_log_of_a_topic_that_does_not_exist() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        mark_has_no_topic(capture)
        capture["brokers"]["2"]["dirs"]["gone-0"] = copy.deepcopy(directory(capture, 2))

    assert set(kinds(changed(change))) == {"deletion-mark-without-topic", "orphaned-log"}


def test_the_only_isr_member_is_not_to_be_stopped_while_its_files_are_all_that_is_left() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        leads(capture, 1, 0, [1])
        del capture["brokers"]["1"]["dirs"]["t-0"]

    def remedies(capture: bytes) -> str:
        return " ".join(kind.way_out for kind in inspect_snapshot(capture).by_kind())

    assert "do not stop broker 1" in remedies(changed(change))
    assert "restart broker" in remedies(changed(isr_member_has_no_log))


def test_no_failover_elects_an_isr_member_whose_log_is_gone() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        no_leader_is_elected(capture)
        state(capture)["isr"] = [3, 1]
        del capture["brokers"]["1"]["dirs"]["t-0"]

    found = {kind.name: kind.way_out for kind in inspect_snapshot(changed(change)).by_kind()}
    assert "but first see that each live ISR member of t-0 has its log" in found["leader-not-elected"]
    assert "do not stop broker 1, and let no controller fail over" in found["isr-member-has-no-log"]


def test_a_log_may_be_in_a_directory_that_was_not_read() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        isr_member_has_no_log(capture)
        for number, broker in capture["brokers"].items():
            read = {"path": "/a", "broker_id": int(number), "cluster_id": "c"}
            broker["log_dirs"] = [read, {"path": "/b", "offline": False}]

    assert kinds(changed(change)) == {}


def test_no_failover_is_advised_while_topics_share_an_id() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        topics_share_an_id(capture)
        caches_show(capture, OTHER_ID)

    advice = [kind.way_out for kind in inspect_snapshot(changed(change)).by_kind() if "failover" in kind.later]
    assert len(advice) == 1 and all("own" in text for text in advice)


def test_a_failover_is_advised_only_after_what_would_make_it_fail() -> None:
    def change(capture: Capture) -> None:
        failover_fails_at_an_election(capture)
        no_controller(capture)

    found = {kind.name: kind.way_out for kind in inspect_snapshot(changed(change)).by_kind()}
    first = "delete /admin/preferred_replica_election (only the request is lost), or start broker 3 for t-2"
    assert found["failover-fails"] == first
    assert f"but first {first}: until then no broker stays controller" in found["no-controller"]
    with pytest.raises(UsageError, match="names t-2, which never had a leader"):
        recovery_problem(changed(change))


def test_no_plan_is_made_where_nothing_shows_which_log_is_the_newest() -> None:
    """One of the logs was not seen."""

    def change(capture: Capture) -> None:
        zookeeper_is_restored(capture)
        capture["brokers"]["3"]["dirs"] = None

    problem = recovery_problem(changed(change))
    assert "t-0" in problem.left_out and "t-0" in recovery_problem(changed(isr_member_has_no_log)).left_out
    (kind,) = (k for k in inspect_snapshot(changed(zookeeper_is_restored)).by_kind() if "behind" in k.name)
    assert "a leader_epoch of 17 or more" in kind.way_out


def test_every_kind_is_found_by_one_of_these_damages() -> None:
    elsewhere = {
        "migration-is-not-safe",  # see test_migrating, and for
        "migration-is-not-shown",  # this one; the others are in test_reported_clusters, and those of lost
        "zookeeper-has-lost-topics",  # topics and logs in test_lost_topics_and_logs
        "directory-has-another-partitions-log",  # this one, and the next, in test_strangers_tools
        "internal-topic-is-not-compacted",
        "isr-member-lacks-records",
        "partition-without-state-is-served",
        "broker-does-not-answer",
        "controller-is-silent",
        "leader-is-known-to-no-broker",
        "broker-is-not-known",
        "no-live-replica",
        "partition-metadata-is-garbled",
        "partition-without-replicas",
        "topic-without-partitions",
        "partition-number-is-missing",
        "isr-member-does-not-follow",
        "log-of-an-earlier-topic",
        "leader-lacks-records",
        "moves-between-log-directories",
        "log-is-deleted-of-which-no-replica-has-a-copy",
        "moving-log-is-the-last-copy",
        "broker-has-no-metadata",
        "broker-in-kraft-mode-too-early",
        "cluster-id-is-missing",
        "deletion-pending",
        "deletion-of-later-logs",
        "partition-in-two-log-directories",
        "partition-is-in-logs-only",
        "records-on-no-replica",
        "replicas-repeat-a-broker",
        "topic-id-differs-for-later-releases",
        "topic-ids-mixed-for-later-releases",
        "zookeeper-has-none-of-the-topics",
    }
    assert {kind.name for kind in KINDS} == {name for found in DAMAGES.values() for name in found} | elsewhere


def uncommitted(capture: Capture) -> None:
    """The records that broker 3 has, and the leader lacks, were never committed."""
    records_are_lost(capture)
    settled(capture)
    directory(capture, 3)["high_watermark"] = 1


def of_another_broker(capture: Capture) -> None:
    settled(capture)
    isr_is_down(capture)
    capture["brokers"]["3"]["log_dirs"] = [{"path": "/c", "broker_id": 2, "cluster_id": None}]


def test_records_of_which_no_high_watermark_is_shown_may_be_lost() -> None:
    def change(capture: Capture) -> None:
        uncommitted(capture)
        directory(capture, 3).update(high_watermark=None, recovery_point=2)

    (one,) = (o for o in inspect_snapshot(changed(change)).observations if o.kind.name == "replica-has-lost-records")
    assert not one.certain and "its high watermark is not shown" in one.detail


def test_records_that_were_never_committed_are_no_loss() -> None:
    assert kinds(changed(uncommitted)) == {"broker-down": ["broker 3"]}


def test_a_broker_that_does_not_start_with_its_disk_is_not_started_by_a_plan() -> None:
    found = recovery_problem(changed(of_another_broker))
    assert not found.worlds and "t-0" in found.left_out and "log-directory-of-another-broker" in found.uncovered
    (down,) = (kind for kind in found.inspection.by_kind() if kind.name == "broker-down")
    assert "see to the log directory of broker 3" in down.way_out


def test_records_are_saved_before_a_broker_truncates_them() -> None:
    kinds_found = {kind.name: kind for kind in inspect_snapshot(changed(records_are_lost)).by_kind()}
    assert "before broker 3 starts, copy t-0" in kinds_found["replica-has-lost-records"].way_out
    assert "but first copy t-0 of broker 3" in kinds_found["broker-down"].way_out


def test_brokers_that_run_without_a_registration_are_not_called_down() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        capture["broker_ids"], capture["controller"] = [], None

    (kind,) = (kind for kind in inspect_snapshot(changed(change)).by_kind() if kind.name == "no-live-isr")
    assert "down" not in kind.title and "see why brokers 1, 2 and 3 run and reach no ZooKeeper" in kind.way_out


def test_partitions_whose_brokers_are_down_keep_their_way_out() -> None:
    def change(capture: Capture) -> None:
        settled(capture)
        stop(capture, 3)
        leads(capture, 3, 1, [3])
        leads(capture, 2, 0, [2])
        capture["broker_ids"], capture["controller"] = [1], 1

    (kind,) = (kind for kind in inspect_snapshot(changed(change)).by_kind() if kind.name == "no-live-isr")
    way_out = "start a broker of the ISR; see why broker 2 runs and reaches no ZooKeeper, or restart it"
    assert kind.way_out.partition("; but first ")[0] == way_out


@pytest.mark.parametrize("damage", [records_are_lost, of_another_broker])
def test_nothing_is_said_of_a_start_that_the_model_does_not_have(damage: Callable[[Capture], None]) -> None:
    found = recovery_problem(changed(damage))
    assert "t-0" in found.left_out
    assert not [one.title for one in found.what_ifs if one.title.startswith("broker 3 starts")]


def test_kinds_are_in_the_order_of_their_severity() -> None:
    ranks = [kind.severity.rank for kind in KINDS]
    assert ranks == sorted(ranks)
    assert len({kind.name for kind in KINDS}) == len(KINDS)


def test_every_story_of_a_kind_exists_and_links_back() -> None:
    root = Path(__file__).parents[2]
    for kind in KINDS:
        text = (root / kind.story).read_text(encoding="utf-8") if kind.story else ""
        assert not kind.story or re.search(r"\((\.\./how-to/)?diagnose-a-cluster\.md\)", text), kind.story


def test_a_healthy_cluster_has_no_finding() -> None:
    inspection = inspect_snapshot(changed(settled))
    assert inspection.observations == () and inspection.exit_code == 0


def created_again(version: str, epoch: int = 0) -> Callable[[Capture], None]:
    """A topic that was created again over its old logs, whose leader epoch was 0."""

    def change(capture: Capture) -> None:
        settled(capture)
        capture["version"] = version
        topic(capture)["version"] = 0
        znode_id(capture, OTHER_ID)
        caches_show(capture, OTHER_ID)
        for partition in (0, 1):
            state(capture, partition)["leader_epoch"] = epoch
            for broker in (1, 2, 3):
                directory(capture, broker, partition)["leader_epoch_checkpoint"] = "0\n1\n0 0\n"

    return change


@pytest.mark.parametrize(("version", "kind"), [("3.9.0", "leader-refuses-topic-id"), ("2.8.2", "topic-id-differs")])
def test_a_checkpoint_of_an_earlier_topic_of_the_name_shows_no_leader(version: str, kind: str) -> None:
    """A topic created again over its old logs: 3.0 and later refuse them at the first request, 2.8.2 later."""
    assert set(kinds(changed(created_again(version)))) == {kind}


def test_in_3_0_a_leader_may_lead_the_log_of_an_earlier_topic_on_until_it_restarts() -> None:
    """It refuses the new topic's requests; no fetch names an id, so that it serves if it has the same leader epoch."""

    def certain(version: str, epoch: int) -> bool:
        inspection = inspect_snapshot(changed(created_again(version, epoch)))
        found = [one for one in inspection.observations if "topic" in one.fields]
        (flag,) = {one.certain for one in found if one.kind.name == "leader-refuses-topic-id"}
        return flag

    assert not certain("3.0.2", 0)
    assert certain("3.0.2", 1) and certain("3.1.0", 0)


@pytest.mark.parametrize(("version", "restarts"), [("3.0.2", True), ("2.8.2", False), ("3.1.0", False)])
def test_in_3_0_a_broker_that_refused_its_first_request_restarts_after_the_repair(version: str, restarts: bool) -> None:
    """Broker 1 has restarted since the ids differ, and left the ISR; its log is offline until its process ends."""
    capture = document("scenario-06-08c-broker1-restarted-14s")
    capture["version"] = version
    found = inspect_snapshot(json.dumps(capture).encode()).by_kind()
    (way_out,) = {kind.way_out for kind in found if kind.name == "leader-refuses-topic-id"}
    assert "write the id vuj7un-aR5uS2ffT1gU4Hg" in way_out
    assert ("and restart broker 1: a log that has refused" in way_out) is restarts
    problem = recovery_problem(json.dumps(capture).encode())
    assert ("restart broker 1, and each broker that starts before the ids agree" in " ".join(problem.notes)) is restarts
    assert bool(problem.left_out) is restarts, "the answer says that the plan is not for all that is wrong"


def test_a_partition_without_a_state_is_not_served_by_a_leader_that_has_restarted_since() -> None:
    """Its own metadata cache does not have the partition, whatever others answer: it leads nothing there."""

    def restarted(capture: Capture, *, leader: bool) -> None:
        partition_without_state_is_served(capture)
        capture["version"] = "3.9.0"
        znode_id(capture, OTHER_ID)
        caches_show(capture, OTHER_ID)
        for number, broker in capture["brokers"].items():
            known = broker["metadata_cache"]["topics"]["t"]["partitions"]
            if (known["1"]["leader"] == int(number)) == leader:
                del known["1"]

    served, unserved = (kinds(changed(partial(restarted, leader=leader))) for leader in (False, True))
    assert served["partition-without-state-is-served"] == unserved["partition-without-state"] == ["t-1"]
    assert "partition-without-state" not in served and "partition-without-state-is-served" not in unserved
    assert not any(name.startswith("fetch-by-id-refused") for name in unserved if "t-1" in unserved[name])


def test_every_damaged_topic_is_named() -> None:
    def change(capture: Capture) -> None:
        for name in ("u", "v"):
            capture["topics"][name] = copy.deepcopy(topic(capture))
            identity = OTHER_ID[:-2] + name + "A"
            capture["topics"][name]["znode"]["topic_id"] = capture["topics"][name]["topic_id"] = identity
        capture["topics"]["v"]["znode"]["topic_id"] = capture["topics"]["v"]["topic_id"] = None
        id_is_missing(capture)
        for broker in capture["brokers"].values():
            for name in ("u", "v"):
                for partition in (0, 1):
                    broker["dirs"][f"{name}-{partition}"] = copy.deepcopy(broker["dirs"][f"t-{partition}"])

    found = kinds(changed(change))
    assert found["topic-id-missing"] == ["t", "v"]
    assert found["topic-id-differs"] == ["u-0", "u-1"]


def test_partitions_in_one_situation_are_evaluated_once() -> None:
    def change(capture: Capture) -> None:
        states, znode = topic(capture)["partition_state"], topic(capture)["znode"]
        for number in range(2, 300):
            znode["partitions"][str(number)] = [1, 2, 3] if number % 2 else [3, 1, 2]
            states[str(number)] = {**states["0"], "leader": 1 + number % 3, "isr": [1, 2, 3], "leader_epoch": number}
            for broker in capture["brokers"].values():
                made = {**broker["dirs"]["t-0"], "leader_epoch_checkpoint": f"0\n1\n{number} 0\n"}
                broker["dirs"][f"t-{number}"] = made

    inspection = inspect_snapshot(changed(change))
    assert inspection.totals["partition"] == 300 and inspection.totals["situation"] < 30
    assert not [one for one in inspection.observations if one.kind.severity is not Severity.NOTE]


# The command.

MIXED = "scenario-01-08c-broker1-restarted-14s"


@pytest.mark.parametrize(
    ("name", "code", "word"),
    [(MIXED, 12, "BROKEN"), ("scenario-01-05-produce-consume", 13, "LATENT"), ("scenario-01-exact-00-up", 0, "CONSI")],
)
def test_the_command_says_and_exits_with_the_condition(name, code, word, capsys) -> None:
    assert main(["diagnose", str(FILES[name])]) == code
    out = capsys.readouterr().out
    assert out.lstrip().startswith(word)
    assert f"Reproduce: kwalk diagnose {FILES[name]}" in out


def test_the_command_names_the_way_out_and_the_log_line(capsys) -> None:
    main(["diagnose", str(FILES[MIXED])])
    out = " ".join(capsys.readouterr().out.split())
    assert "no id in the znode fits the logs of all partitions of t: on each of" in out
    assert "does not match the topic Id for partition" in out
    assert "grep -E 'Topic I[dD] in memory: .* does not match the topic I[dD]' logs/state-change.log*" in out
    assert "Read: docs/stories/repair-topic-ids.md" in out
    assert f"Plan of repair: kwalk diagnose {FILES[MIXED]} --plan" in out


def test_a_healthy_cluster_and_many_clusters_get_no_plan(capsys) -> None:
    for names in (["scenario-01-exact-00-up"], ["scenario-01-exact-00-up", MIXED]):
        main(["diagnose", *(str(FILES[name]) for name in names)])
        assert "Plan of repair" not in capsys.readouterr().out


def test_the_help_has_the_exit_codes_of_each_question(capsys) -> None:
    assert main(["diagnose", "--help"]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("13 damage", "12 none fits", "12 no plan", "13 waits"))
    assert "deadlock" not in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--plan", "--explain"], "--plan and --explain are two questions. Ask one at a time."),
        (["b.json", "--plan"], "--plan is about one snapshot (got 2). Name one."),
        (["b.json", "--forecast"], "--forecast is about one snapshot (got 2). Name one."),
        (["--logs", "logs"], "--logs goes with --explain."),
        (["--seconds", "5"], "--seconds goes with --plan or --forecast or --explain."),
        (["--plan", "--bound", "restarts=1"], "--bound goes with --forecast."),
        (["--explain", "--csv", "t.csv"], "--csv is about what is wrong: it goes with no other question."),
    ],
)
def test_an_option_of_another_question_is_refused(words, message, capsys) -> None:
    assert main(["diagnose", "a.json", *words]) == 2
    assert message in capsys.readouterr().err


def test_a_long_list_is_cut_and_says_how_to_see_the_rest(capsys) -> None:
    main(["diagnose", str(FILES[MIXED]), "--most", "1"])
    assert "… and 1 more; --most 2 shows them all" in capsys.readouterr().out


def test_several_snapshots_are_one_table_the_worst_first(capsys) -> None:
    names = ("scenario-01-exact-00-up", "scenario-01-05-produce-consume", MIXED)
    assert main(["diagnose", *(str(FILES[name]) for name in names)]) == 12
    out = capsys.readouterr().out
    assert out.startswith("3 snapshots: 1 broken, 1 latent, 1 consistent.")
    assert out.index("BROKEN") < out.index("LATENT") < out.index("CONSISTENT")


NOT_READ: Mapping[str, Callable[[Capture], object]] = {
    "no disk of a broker that runs": lambda capture: capture["brokers"]["1"].update(dirs=None),
    "one of two log directories": lambda capture: capture["brokers"]["1"].update(
        log_dirs=[
            {"path": path, "broker_id": known, "cluster_id": None, "offline": False}
            for path, known in (("/a", 1), ("/b", None))
        ]
    ),
    "no answer of brokers": lambda capture: [one.update(metadata_cache=None) for one in capture["brokers"].values()],
    "nothing but ZooKeeper, whose id is erased": lambda capture: (
        id_is_missing(capture),
        [one.update(dirs=None, metadata_cache=None) for one in capture["brokers"].values()],
    ),
}


@pytest.mark.parametrize("what", NOT_READ)
def test_a_cluster_is_not_called_consistent_for_what_was_not_read(what: str, tmp_path: Path, capsys) -> None:
    """Damage may be there; with all that the same snapshot had, it is consistent, or its id is found to be missing."""
    path, gauges = tmp_path / "cluster.json", tmp_path / "kwalk.prom"
    path.write_bytes(changed(NOT_READ[what]))
    assert main(["diagnose", str(path), "--prometheus", str(gauges)]) == 3
    assert (
        capsys.readouterr().out.strip().startswith("NOT JUDGED  What was read is not damaged; what was not read may be")
    )
    assert "kwalk_inspect_condition" in gauges.read_text() and "} 3\n" in gauges.read_text()
    assert main(["diagnose", str(path), "--plan"]) == 3
    assert capsys.readouterr().out.strip().startswith("NOT JUDGED  ")


def test_disks_without_any_record_may_not_be_those_that_had_them() -> None:
    """Volumes that were replaced everywhere look as topics that nobody has written to."""

    def without_records(capture: Capture) -> None:
        for broker in capture["brokers"].values():
            for directory in broker["dirs"].values():
                directory["files"] = {f"{0:020}.log": 0}

    def after_elections(capture: Capture) -> None:
        without_records(capture)
        for state in topic(capture)["partition_state"].values():
            state["leader_epoch"] = 5
        for broker in capture["brokers"].values():
            for directory in broker["dirs"].values():
                directory["leader_epoch_checkpoint"] = "0\n1\n5 0\n"

    notes = [inspect_snapshot(changed(change)).notes for change in (without_records, after_elections)]
    assert [any("No log has a record" in note for note in one) for one in notes] == [False, True]


def test_json_has_kinds_with_their_findings(capsys) -> None:
    assert main(["diagnose", str(FILES[MIXED]), "--json"]) == 12
    (snapshot,) = json.loads(capsys.readouterr().out)["snapshots"]
    assert snapshot["condition"] == "broken" and snapshot["exit_code"] == 12
    (kind,) = snapshot["kinds"]
    assert kind["kind"] == "leader-refuses-mixed-topic-ids" and "way_out" in kind
    assert [one["partition"] for one in kind["findings"]] == ["0", "1"]
    scripts = (Path(__file__).parents[2] / "docs/reference/scripts.md").read_text("utf-8")
    fields = (*snapshot, *kind, *kind["findings"][0], *snapshot["prospects"]["migration"])
    assert [field for field in fields if f"`{field}`" not in scripts] == []


def test_csv_and_parquet_have_a_row_for_each_finding(tmp_path: Path, capsys) -> None:
    tables = tmp_path / "found.csv", tmp_path / "found.parquet"
    command = ["diagnose", str(FILES[MIXED]), "--csv", str(tables[0]), "--parquet", str(tables[1])]
    assert main(command) == 12
    out = capsys.readouterr().out
    assert f"CSV: {tables[0]}" in out and f"Parquet: {tables[1]}" in out
    rows = list(csv.DictReader(tables[0].read_text().splitlines()))
    assert [row["subject"] for row in rows] == ["t-0", "t-1"]
    assert pq.read_table(tables[1]).to_pylist() == rows


def test_a_formula_in_a_topic_name_is_harmless_in_csv(tmp_path: Path, capsys) -> None:
    def change(capture: Capture) -> None:
        id_is_missing(capture)
        capture["topics"]["=1+1"] = capture["topics"].pop("t")

    snapshot, table = tmp_path / "s.json", tmp_path / "found.csv"
    snapshot.write_bytes(changed(change))
    main(["diagnose", str(snapshot), "--csv", str(table)])
    assert all(not cell.startswith("=") for row in csv.reader(table.read_text().splitlines()) for cell in row)


def test_prometheus_gauges_are_in_place_though_the_exit_code_is_that_of_damage(tmp_path: Path, capsys) -> None:
    snapshot, gauges = tmp_path / 'a"b.json', tmp_path / "kwalk.prom"
    snapshot.write_bytes(FILES[MIXED].read_bytes())
    gauges.write_text("of an earlier run")
    assert main(["diagnose", str(snapshot), "--prometheus", str(gauges)]) == 12
    assert f"Prometheus: {gauges}" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ['a"b.json', "kwalk.prom"]
    lines = gauges.read_text().splitlines()
    (condition,) = (line for line in lines if line.startswith("kwalk_inspect_condition{snapshot="))
    assert condition.endswith("} 2")
    assert lines[-1].startswith("kwalk_inspect_prospect{snapshot=") and lines[-1].endswith("} 4")
    assert r"a\"b.json" in lines[-1]
    assert 'kind="leader-refuses-mixed-topic-ids",severity="broken"} 2' in lines[2]


def test_gauges_of_an_earlier_run_stay_where_new_ones_cannot_be_made(tmp_path: Path, capsys) -> None:
    gauges = tmp_path / "kwalk.prom"
    gauges.write_text("of an earlier run")
    assert main(["diagnose", str(tmp_path / "none.json"), "--prometheus", str(gauges)]) == 2
    assert gauges.read_text() == "of an earlier run"
    assert main(["diagnose", str(FILES[MIXED]), "--prometheus", str(tmp_path)]) == 2
    assert "--prometheus" in capsys.readouterr().err


def test_an_escape_sequence_in_a_topic_name_does_not_reach_the_terminal(tmp_path: Path, capsys) -> None:
    def change(capture: Capture) -> None:
        id_is_missing(capture)
        capture["topics"]["\x1b[31m"] = capture["topics"].pop("t")

    snapshot = tmp_path / "s.json"
    snapshot.write_bytes(changed(change))
    main(["diagnose", str(snapshot)])
    assert "\x1b[31m" not in capsys.readouterr().out


def test_what_is_no_snapshot_is_one_error(tmp_path: Path, capsys) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[]")
    assert main(["diagnose", str(wrong)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_scenario_that_inspects_nothing_is_refused(capsys) -> None:
    assert main(["diagnose", str(FILES[MIXED]), "--scenario", "die-hard"]) == 2
    assert "does not inspect snapshots" in capsys.readouterr().err
