"""Properties of offsets in ZooKeeper."""

from __future__ import annotations

from kwalk.model.kafka.groups.zookeeper_offsets import ZookeeperOffset
from kwalk.model.language import always, reachable, step


@always(
    symptom="consumers of 0.8 begin again, after brokers were upgraded",
    log="none: ZooKeeper has /consumers/…/offset beside /consumers/…/offsets",
)
def offset_in_zookeeper_is_found(offset: ZookeeperOffset) -> bool:
    """An offset that was committed is found."""
    return not offset.is_missed


@step(symptom="an offset in ZooKeeper is deleted", log="none")
def offset_in_zookeeper_stays(before: ZookeeperOffset, after: ZookeeperOffset) -> bool:
    """What is in ZooKeeper stays, and a release, too."""
    is_there = before.is_there <= after.is_there and before.is_elsewhere <= after.is_elsewhere
    return is_there and before.is_upgraded <= after.is_upgraded


@reachable()
def upgraded_broker_has_an_offset(offset: ZookeeperOffset) -> bool:
    """A broker that was upgraded finds an offset."""
    return offset.is_upgraded and offset.is_there


@reachable()
def broker_is_upgraded_first(offset: ZookeeperOffset) -> bool:
    """A broker is upgraded before anything was committed."""
    return offset.is_upgraded and not offset.is_there and not offset.is_elsewhere
