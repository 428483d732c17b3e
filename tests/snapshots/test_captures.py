"""What is read from the captures of real clusters."""

from __future__ import annotations

import pytest

from kwalk.model.kafka.snapshots.capture import CapturedMetadata, CapturedPartitionState, Directory, read_capture
from tests.snapshots.captured import FILES


@pytest.mark.parametrize("path", FILES.values(), ids=FILES)
def test_every_capture_is_read(path) -> None:
    capture = read_capture(path)
    assert capture.version in ("2.8.2", "3.9.0")
    assert set(capture.brokers) == {1, 2, 3}
    for topic in capture.topics.values():
        assert set(topic.states) == set(topic.partitions)


def test_a_capture_says_what_zookeeper_the_disks_and_the_brokers_say() -> None:
    capture = read_capture(FILES["scenario-01-08a-broker1-stopped"])
    topic = capture.topics["t"]
    assert (capture.version, capture.controller, capture.controller_epoch, capture.live) == ("2.8.2", 2, 3, (2, 3))
    assert topic.partitions[1] == (1, 2, 3)
    assert topic.states[1] == CapturedPartitionState(leader=2, leader_epoch=1, isr=(2, 3), controller_epoch=3)
    assert capture.directory(3, "t", 0) == Directory("hbcto079Q-K_O7AoNlw-Ig", ((0, 0),), segments={0: 483})
    assert capture.directory(3, "t", 2) == Directory(topic.topic_id, ((0, 0), (1, 2)), segments={0: 345})
    assert capture.brokers[1].cache is None
    assert capture.brokers[2].cache.topic_ids == {"t": topic.topic_id}
    expected = CapturedMetadata(leader=2, leader_epoch=1, offline=(1,), isr=(2, 3))
    assert capture.brokers[2].cache.partitions["t"][1] == expected


def test_the_old_clients_expansion_shows_as_a_znode_without_an_id_in_format_1() -> None:
    topic = read_capture(FILES["scenario-01-04-old-alter"]).topics["t"]
    assert (topic.topic_id, topic.format, sorted(topic.partitions)) == (None, 1, [0, 1, 2, 3])


def test_a_partition_without_a_leader_has_none() -> None:
    state = read_capture(FILES["scenario-01-08e-controller2-stopped"]).topics["t"].states[0]
    assert (state.leader, state.isr) == (None, (2,))
