"""What a broker tells clients about partitions: MetadataCache, kept up to date by UpdateMetadata requests.

It is in memory only. A topic that is merely absent from requests is never taken out: only a leader that is
LeaderDuringDelete does that.
"""
from __future__ import annotations

from model.kafka.actors import BROKER
from model.kafka.domains import PARTITIONS, TOPICS, Broker
from model.kafka.replica_manager import is_from_an_older_controller, is_next
from model.kafka.requests import CachedPartition, EpochKind, RequestKind
from model.kafka.state import BrokerState, Cluster
from model.kafka.versions import BROKER_EPOCH, METADATA_CACHES
from model.language import action, require


@action(
    by=BROKER,
    says="handles UpdateMetadata",
    source="KafkaApis.handleUpdateMetadataRequest, ReplicaManager.maybeUpdateMetadataCache, ZkMetadataCache",
)
def handle_update_metadata(cluster: Cluster, broker: Broker) -> None:
    """A request of an older controller than one seen before is refused; else what it says replaces what was known."""
    require(METADATA_CACHES)
    state = cluster.brokers[broker]
    require(is_next(state, RequestKind.UPDATE_METADATA) and not (not BROKER_EPOCH and not cluster.is_up(broker)))
    request = state.requests.headers.pop()
    is_stale = is_from_an_older_controller(state, request)
    for partition in PARTITIONS:
        told = state.requests.columns[partition].pop()
        for topic in TOPICS:
            if told is not None and request.topic == topic and not is_stale:
                is_gone = told.epoch_kind is EpochKind.DURING_DELETE
                cached = CachedPartition() if is_gone else CachedPartition(told.leader, told.leader_epoch)
                state.metadata[topic][partition] = cached


def forget_metadata(state: BrokerState) -> None:
    """The process ends, and with it its cache."""
    if METADATA_CACHES:
        for topic in TOPICS:
            for partition in PARTITIONS:
                state.metadata[topic][partition] = CachedPartition()
