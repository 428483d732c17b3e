"""The scenario that stories and readings of snapshots vary: a running cluster, in which nothing has a budget."""

from __future__ import annotations

from kwalk.model.kafka import actions, domains, versions
from kwalk.model.kafka.initial_states import running_cluster
from kwalk.model.kafka.state import Cluster
from kwalk.model.kafka.zookeeper import kafka_zk_client
from kwalk.model.language import Scenario, default_bounds

RUNNING_CLUSTER = Scenario(
    name="running-cluster",
    story="All brokers are up, and nothing happens.",
    state=Cluster,
    initial=running_cluster,
    actions=(
        *actions.ADMIN_CLIENTS,
        *actions.FAULTS,
        *actions.CONTROLLER,
        *actions.BROKER,
        kafka_zk_client.deliver_notification,
    ),
    bounds=default_bounds(domains),
    flags=versions.COARSE,
    variants=versions.VARIANTS,
    unlisted_variants=versions.UNLISTED_VARIANTS,
)
