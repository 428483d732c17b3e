"""MetadataCache: what a broker answers to clients about partitions, updated by UpdateMetadata requests.

It is in memory only. A topic that is merely absent from requests is never removed: only the leader LeaderDuringDelete
does that.
"""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER
from kwalk.model.kafka.broker.replica_manager import is_next, is_refused
from kwalk.model.kafka.domains import PARTITIONS, TOPICS, Broker
from kwalk.model.kafka.migration.versions import FULL_UPDATE_METADATA
from kwalk.model.kafka.requests import EpochKind, RequestKind, UpdateMetadataPartitionState
from kwalk.model.kafka.state import BrokerState, Cluster
from kwalk.model.kafka.versions.grain import LIVE_BROKER_CACHES, METADATA_CACHES, MIGRATION
from kwalk.model.kafka.versions.sessions import BROKER_EPOCH
from kwalk.model.language import action, require


@action(
    by=BROKER,
    group="broker",
    description="handles UpdateMetadata",
    source="KafkaApis.handleUpdateMetadataRequest, ReplicaManager.maybeUpdateMetadataCache, ZkMetadataCache",
)
def handle_update_metadata(cluster: Cluster, broker: Broker) -> None:
    """A request of an older controller is refused; otherwise its content replaces what is cached.

    Since KAFKA-15799 what a full request of KRaft's controller does not name is removed.
    """
    require(METADATA_CACHES)
    state = cluster.brokers[broker]
    require(is_next(state, RequestKind.UPDATE_METADATA) and not (not BROKER_EPOCH and not cluster.is_up(broker)))
    request = state.requests.headers.pop()
    is_stale = is_refused(state, request)
    if LIVE_BROKER_CACHES and not is_stale:
        state.cached_brokers = request.live_brokers
    for partition in PARTITIONS:
        partition_state = state.requests.partition_states[partition].pop()
        is_absent = partition_state is None and MIGRATION and request.is_full and bool(FULL_UPDATE_METADATA)
        for topic in TOPICS:
            if is_absent and request.topic == topic and not is_stale:
                state.metadata[topic][partition] = UpdateMetadataPartitionState()
            if partition_state is not None and request.topic == topic and not is_stale:
                is_gone = partition_state.epoch_kind is EpochKind.DURING_DELETE
                cached = (
                    UpdateMetadataPartitionState()
                    if is_gone
                    else UpdateMetadataPartitionState(partition_state.leader, partition_state.leader_epoch)
                )
                state.metadata[topic][partition] = cached


def clear_metadata(state: BrokerState) -> None:
    """Clear the cache, as the process ends."""
    state.cached_topics = state.cached_brokers = state.listed_topics = frozenset()
    if METADATA_CACHES:
        for topic in TOPICS:
            for partition in PARTITIONS:
                state.metadata[topic][partition] = UpdateMetadataPartitionState()
