"""Stories about sessions and bounces: deposed controllers that do not notice, and brokers that restart quickly."""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.scenarios import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.stories.existing_topic import cluster_with_topic
from kwalk.model.kafka.zookeeper import sessions

SESSIONS = (
    sessions.expire_session,
    sessions.notice_expiry,
    sessions.register_broker_and_reelect,
    sessions.auth_failure_reinitializes,
)
SMALL = {
    **OLD_CLIENT_EXPANSION.bounds,
    "topic_ids": 2,
    "old_creations": 0,
    "new_creations": 1,
    "expansions": 0,
    "failovers": 0,
    "restarts": 0,
}
"""A new client creates a topic; nothing else happens."""

ZOMBIE_CONTROLLER = evolve(
    OLD_CLIENT_EXPANSION,
    name="zombie-controller",
    story=(
        "The controller's ZooKeeper session expires while its process runs: it does not know that another broker "
        "was elected, and continues while a client adds partitions."
    ),
    actions=(*OLD_CLIENT_EXPANSION.actions, *SESSIONS),
    bounds={**SMALL, "brokers": 2, "requests": 5, "new_expansions": 1, "expirations": 1},
    flags={**OLD_CLIENT_EXPANSION.flags, "sessions": True},
    source="KAFKA-6082",
)
AUTHENTICATION_FAILURE = evolve(
    ZOMBIE_CONTROLLER,
    name="authentication-failure",
    story="The controller's ZooKeeper client fails to authenticate while its session lives; a client creates a topic.",
    bounds={**SMALL, "auth_failures": 1},
    source="KAFKA-13461, KAFKA-13407",
)
FAST_BOUNCE = evolve(
    OLD_CLIENT_EXPANSION,
    name="fast-bounce",
    story="A broker crashes, and its next process has registered before the controller looks at /brokers/ids.",
    bounds={**SMALL, "restarts": 1, "requests": 4},
    source="KIP-380, KAFKA-7235",
)
FAILOVER_DURING_EXPANSION = evolve(
    ZOMBIE_CONTROLLER,
    name="failover-during-expansion",
    story="/controller is deleted while a client adds partitions: the old controller notices when it writes.",
    bounds={**SMALL, "brokers": 2, "new_expansions": 1, "failovers": 1},
    source="KAFKA-6082",
)
CONTROLLER_COMES_BACK = evolve(
    OLD_CLIENT_EXPANSION,
    name="controller-comes-back",
    story=(
        "A broker crashes, and another controller is elected before the first one has handled that; later the first "
        "one is elected again, and the broker starts."
    ),
    initial=cluster_with_topic,
    bounds={**SMALL, "brokers": 2, "partitions": 1, "new_creations": 0, "failovers": 1, "restarts": 2, "requests": 6},
    flags={**OLD_CLIENT_EXPANSION.flags, "unsent_batch": True},
    source="KAFKA-12315; ZkReplicaStateMachine.handleStateChanges",
)
