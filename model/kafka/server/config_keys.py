"""Which configurations of a broker can change while it runs, and what those of logs are called for a topic (2.8.2).

Source: DynamicBrokerConfig.AllDynamicConfigs, DynamicBrokerConfig.PerBrokerConfigs; LogConfig.TopicConfigSynonyms.
"""

from __future__ import annotations

from enum import Enum

TOPIC_CONFIG_SYNONYMS = {
    "segment.bytes": "log.segment.bytes",
    "segment.ms": "log.roll.ms",
    "segment.jitter.ms": "log.roll.jitter.ms",
    "segment.index.bytes": "log.index.size.max.bytes",
    "flush.messages": "log.flush.interval.messages",
    "flush.ms": "log.flush.interval.ms",
    "retention.bytes": "log.retention.bytes",
    "retention.ms": "log.retention.ms",
    "max.message.bytes": "message.max.bytes",
    "index.interval.bytes": "log.index.interval.bytes",
    "delete.retention.ms": "log.cleaner.delete.retention.ms",
    "min.compaction.lag.ms": "log.cleaner.min.compaction.lag.ms",
    "max.compaction.lag.ms": "log.cleaner.max.compaction.lag.ms",
    "file.delete.delay.ms": "log.segment.delete.delay.ms",
    "min.cleanable.dirty.ratio": "log.cleaner.min.cleanable.ratio",
    "cleanup.policy": "log.cleanup.policy",
    "unclean.leader.election.enable": "unclean.leader.election.enable",
    "min.insync.replicas": "min.insync.replicas",
    "compression.type": "compression.type",
    "preallocate": "log.preallocate",
    "message.format.version": "log.message.format.version",
    "message.timestamp.type": "log.message.timestamp.type",
    "message.timestamp.difference.max.ms": "log.message.timestamp.difference.max.ms",
    "message.downconversion.enable": "log.message.downconversion.enable",
}
"""For each configuration of a topic, the one of brokers that holds where the topic has none."""
EXCLUDED = {"log.message.format.version"}
"""Configurations of logs that a broker reads when it starts only."""
CLEANER = {
    "log.cleaner.threads",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.io.buffer.size",
    "message.max.bytes",
    "log.cleaner.io.max.bytes.per.second",
    "log.cleaner.backoff.ms",
}
THREADS = {
    "num.io.threads",
    "num.network.threads",
    "num.replica.fetchers",
    "num.recovery.threads.per.data.dir",
    "background.threads",
}
OTHERS = {
    "metric.reporters",
    "max.connections",
    "max.connection.creation.rate",
    "max.connections.per.ip",
    "max.connections.per.ip.overrides",
    "leader.replication.throttled.rate",
    "follower.replication.throttled.rate",
    "replica.alter.log.dirs.io.max.bytes.per.second",
}
LISTENERS = {"advertised.listeners", "listeners", "listener.security.protocol.map", "principal.builder.class"}
SECURITY = ("ssl.", "sasl.")
CLUSTER_WIDE = {*TOPIC_CONFIG_SYNONYMS.values(), *CLEANER, *THREADS, *OTHERS} - EXCLUDED


class UpdateMode(Enum):
    """How a configuration of brokers can be changed (Kafka: DynamicBrokerConfig.dynamicConfigUpdateModes)."""

    READ_ONLY = "with a restart"
    PER_BROKER = "for one broker at a time"
    CLUSTER_WIDE = "for one broker, or all"


def update_mode(key: str) -> UpdateMode:
    """Return how a configuration of brokers can be changed."""
    if key in CLUSTER_WIDE:
        return UpdateMode.CLUSTER_WIDE
    return UpdateMode.PER_BROKER if key in LISTENERS or key.startswith(SECURITY) else UpdateMode.READ_ONLY
