"""ConsumerOffset.path: offsets that consumers of 0.8 commit by version 0 of OffsetCommit, which are in ZooKeeper.

What the model leaves out, and why its story loses nothing by it: consumers that read ZooKeeper themselves, which find
what was committed at the path of all releases but one.
"""

from __future__ import annotations

from kwalk.model.kafka.groups.versions import OFFSETS_HAVE_ONE_PATH
from kwalk.model.language import Actor, action, flag, require, state

CONSUMER = Actor("consumer", system=False)
OPERATOR = Actor("operator", system=False)


@state
class ZookeeperOffset:
    """Whether the broker is of this release, or of the one before, which znodes there are, and what was fetched last.

    Attributes:
        is_upgraded: whether the broker was upgraded to this release.
        is_there: whether /consumers/…/offsets/… has an offset.
        is_elsewhere: whether /consumers/…/offset/… has one.
        is_missed: whether a fetch has not found what was committed.
    """

    is_upgraded: bool = flag()
    is_there: bool = flag()
    is_elsewhere: bool = flag()
    is_missed: bool = flag()


@action(by=OPERATOR, description="upgrades the broker", source="a rolling upgrade")
def upgrade_zookeeper_broker(offset: ZookeeperOffset) -> None:
    """Znodes stay."""
    require(not offset.is_upgraded)
    offset.is_upgraded = True


@action(by=CONSUMER, description="commits", source="KafkaApis.handleOffsetCommitRequest: setOrCreateConsumerOffset")
def commit_to_zookeeper(offset: ZookeeperOffset) -> None:
    """1.1.0 has another path."""
    if offset.is_upgraded and not OFFSETS_HAVE_ONE_PATH:
        offset.is_elsewhere = True
    else:
        offset.is_there = True
    offset.is_missed = False


@action(by=CONSUMER, description="fetches its offset", source="KafkaApis.handleOffsetFetchRequest: getConsumerOffset")
def fetch_from_zookeeper(offset: ZookeeperOffset) -> None:
    """It has committed one."""
    require(offset.is_there or offset.is_elsewhere)
    is_elsewhere = offset.is_upgraded and not OFFSETS_HAVE_ONE_PATH
    offset.is_missed = not (offset.is_elsewhere if is_elsewhere else offset.is_there)
