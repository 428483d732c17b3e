"""ProducerIdManager: blocks of producer ids, which ZooKeeper's controller gives before a migration, and KRaft's after.

A broker that has no producer ids left gets the next block from the controller. Block n has the ids from n thousand on.

Source: ZkProducerIdManager; ProducerIdControlManager; ZkMigrationClient.migrateProducerId and writeProducerId.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import PRODUCER
from kwalk.model.kafka.migration.configuration_state import (
    BLOCKS,
    LATE_REQUESTS,
    ConfiguredCluster,
    ProducerIdBlocks,
)
from kwalk.model.kafka.migration.configuration_versions import LATE_REQUESTS_ARE_REFUSED, NEXT_PRODUCER_ID_IS_COPIED
from kwalk.model.language import action, require


@action(
    by=PRODUCER,
    description="gets an id of a new block that ZooKeeper's controller has given",
    source="KafkaController.processAllocateProducerIds; ZkProducerIdManager.getNewProducerIdBlock",
)
def give_in_zookeeper(cluster: ConfiguredCluster) -> None:
    """The znode is written under its version only: whose /controller is, is not checked."""
    blocks = cluster.blocks
    block = blocks.in_zookeeper + 1
    require(not cluster.knows_kraft and block < len(BLOCKS))
    is_late = not LATE_REQUESTS_ARE_REFUSED and cluster.late_requests < LATE_REQUESTS
    require(not cluster.is_claimed or is_late)
    cluster.late_requests += cluster.is_claimed
    blocks.in_zookeeper = block
    give(blocks, block)


@action(
    by=PRODUCER,
    description="gets an id of a new block that KRaft's controller has given",
    source="ProducerIdControlManager.generateNextProducerId",
)
def give_in_kraft(cluster: ConfiguredCluster) -> None:
    """The record of the next block is committed before the block is given."""
    blocks = cluster.blocks
    block = blocks.next_in_kraft
    require(cluster.is_led_by_kraft and cluster.knows_kraft and not blocks.is_unwritten and block < len(BLOCKS))
    blocks.next_in_kraft = block + 1
    blocks.is_unwritten = True
    give(blocks, block)


def give(blocks: ProducerIdBlocks, block: int) -> None:
    """Give a block to a broker, for the first time or once more."""
    blocks.is_given_twice = blocks.is_given_twice or block in blocks.held
    blocks.held = blocks.held | {block}


def copy_block(blocks: ProducerIdBlocks) -> None:
    """Let KRaft go on behind the last block in ZooKeeper, or with it (Kafka: ZkMigrationClient.migrateProducerId)."""
    blocks.next_in_kraft = blocks.in_zookeeper + NEXT_PRODUCER_ID_IS_COPIED


def write_block(blocks: ProducerIdBlocks) -> None:
    """Write the next block of the image to ZooKeeper (Kafka: ZkMigrationClient.writeProducerId)."""
    blocks.is_unwritten = False
    blocks.in_zookeeper = blocks.next_in_kraft


def write_block_back(blocks: ProducerIdBlocks) -> None:
    """Write the next block, unless it follows that in ZooKeeper (Kafka: handleProducerIdSnapshot)."""
    blocks.is_unwritten = False
    if blocks.in_zookeeper + 1 != blocks.next_in_kraft:
        write_block(blocks)
