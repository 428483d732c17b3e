"""What operators do to the files of a broker that is stopped."""

from __future__ import annotations

from kwalk.model.kafka.actors import OPERATOR
from kwalk.model.kafka.broker.log_manager import delete_log
from kwalk.model.kafka.domains import Broker, Partition, Topic
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.versions.grain import STOP_REPLICA
from kwalk.model.language import action, require


@action(
    by=OPERATOR,
    description="removes the directory of {topic}-{partition} on broker {broker}, which is stopped",
    source="rm -r LOG_DIR/T-P",
)
def remove_directory(cluster: Cluster, broker: Broker, topic: Topic, partition: Partition) -> None:
    """Records and partition.metadata are gone with it."""
    replica = cluster.replica_of(broker, topic, partition)
    require(STOP_REPLICA and not cluster.is_up(broker) and replica.on_disk)
    delete_log(replica)
