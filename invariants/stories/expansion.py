"""The stories of KAFKA-14190: an old client adds partitions to a topic, whose id is lost."""

from __future__ import annotations

from kwalk.invariants import controllers, partitions, topic_ids, witnesses
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import read_snapshot, recovery_problem
from kwalk.model.kafka import versions
from kwalk.model.kafka.base import RUNNING_CLUSTER

EVERYWHERE = (
    topic_ids.replica_id_matches_zookeeper,
    partitions.partition_servable,
    partitions.replicas_converge,
    topic_ids.topic_id_stable,
    topic_ids.zk_id_not_erased,
    partitions.no_partition_lost,
    partitions.leader_in_assignment,
    controllers.context_agrees,
    controllers.controller_epoch_monotone,
    controllers.leader_epoch_monotone,
)
WITNESSES = (witnesses.expansion_is_registered, witnesses.failover_completes, witnesses.replica_gets_its_file)

OLD_CLIENT_EXPANSION = RUNNING_CLUSTER.varied(
    name="old-client-expansion",
    story=(
        "A client older than 2.8 creates a topic and adds partitions through ZooKeeper, which drops the topic id; "
        "later the controller moves and mints another id; later a broker stops and leader epochs rise."
    ),
    properties=(*EVERYWHERE, *WITNESSES),
    bounds={"old_creations": 1, "expansions": 1, "failovers": 1, "restarts": 1},
    read_snapshot=read_snapshot,
    inspect_snapshot=inspect_snapshot,
    recover_snapshot=recovery_problem,
    source="KAFKA-14190; the reproduction in eight steps by an operator who met it",
)
OLD_CLIENT_EXPANSION_IN_DETAIL = OLD_CLIENT_EXPANSION.varied(
    name="old-client-expansion-in-detail",
    story=(
        "The same with every step that the model can tell apart, with new clients as well as old ones, and with more "
        "faults: too large to exhaust, made for walks."
    ),
    bounds={
        "new_creations": 1,
        "new_expansions": 1,
        "failovers": 2,
        "restarts": 2,
        "events": 6,
        "requests": 4,
        "notifications": 5,
    },
    flags=versions.FINE,
    inspect_snapshot=None,
    recover_snapshot=None,
)
