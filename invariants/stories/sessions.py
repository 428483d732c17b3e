"""Stories about sessions and bounces: deposed controllers that do not notice, and brokers that restart quickly."""

from __future__ import annotations

from kwalk.invariants import sessions
from kwalk.invariants.stories.expansion import EVERYWHERE
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.initial_states import cluster_with_topic

SESSIONS = (
    *EVERYWHERE,
    sessions.one_effective_controller,
    sessions.controller_serves,
    sessions.replica_leader_epoch_monotone,
    sessions.watch_covered,
    sessions.topic_watch_covered,
)
WATCHES = (sessions.fired_watch_is_pending, sessions.fired_topic_watch_is_pending)

ZOMBIE_CONTROLLER = RUNNING_CLUSTER.varied(
    name="zombie-controller",
    story=(
        "The controller's ZooKeeper session expires while its process runs: it does not know that another broker "
        "was elected, and continues while a client adds partitions."
    ),
    actions=(*RUNNING_CLUSTER.actions, *actions.SESSIONS),
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.broker_registers_again),
    bounds={
        "brokers": 2,
        "topic_ids": 2,
        "requests": 5,
        "new_creations": 1,
        "new_expansions": 1,
        "expirations": 1,
    },
    flags={"sessions": True},
    source="KAFKA-6082",
)
FAILOVER_DURING_EXPANSION = ZOMBIE_CONTROLLER.varied(
    name="failover-during-expansion",
    story="/controller is deleted while a client adds partitions: the old controller notices when it writes.",
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.deposed_controller_writes),
    bounds={"requests": 3, "expirations": 0, "failovers": 1},
)
AUTHENTICATION_FAILURE = RUNNING_CLUSTER.varied(
    name="authentication-failure",
    story="The controller's ZooKeeper client fails to authenticate while its session lives; a client creates a topic.",
    actions=ZOMBIE_CONTROLLER.actions,
    properties=(*SESSIONS, WATCHES[0], sessions.topic_serves_after_a_failed_authentication),
    bounds={"topic_ids": 2, "new_creations": 1, "auth_failures": 1},
    flags={"sessions": True},
    source="KAFKA-13461, KAFKA-13407",
)
FAST_BOUNCE = RUNNING_CLUSTER.varied(
    name="fast-bounce",
    story="A broker crashes, and its next process has registered before the controller looks at /brokers/ids.",
    properties=(*SESSIONS, WATCHES[0], sessions.broker_is_bounced),
    bounds={"topic_ids": 2, "new_creations": 1, "restarts": 1, "requests": 4},
    source="KIP-380, KAFKA-7235",
)
CONTROLLER_COMES_BACK = RUNNING_CLUSTER.varied(
    name="controller-comes-back",
    story=(
        "A broker crashes, and another controller is elected before the first one has handled that; later the first "
        "one is elected again, and the broker starts."
    ),
    initial=cluster_with_topic,
    properties=(*EVERYWHERE, sessions.cluster_has_a_controller, sessions.watch_covered),
    bounds={"brokers": 2, "partitions": 1, "topic_ids": 2, "failovers": 1, "restarts": 2, "requests": 6},
    flags={"unsent_batch": True},
    source="KAFKA-12315; ZkReplicaStateMachine.handleStateChanges",
)
