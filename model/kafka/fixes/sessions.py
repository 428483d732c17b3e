"""Fixes of controllers and brokers that act on a session, registration or election that has ended."""

from __future__ import annotations

from kwalk.model.kafka.versions import (
    ALTER_ISR,
    AUTH_REINIT_GUARD,
    BROKER_EPOCH,
    LIVE_ISR_ONLY,
    SESSION_BOUND,
    ZK_FENCING,
)
from kwalk.model.language.fix import Fix, Trial

SPLIT = ("context_agrees", "partition_servable", "replicas_converge")
"""Violated once two controllers have written."""
ISR_CHANGES_ANY_TIME = {"isr_changes": "any time"}

FIXES = (
    Fix(
        flag=ZK_FENCING,
        closes="a controller that has not noticed that it is deposed writes nothing",
        source="KAFKA-6082 (2.1): KafkaZkClient.wrapRequestWithControllerEpochCheck",
        trials=(
            Trial("failover-during-expansion", ("one_effective_controller",), about="/controller was deleted"),
            Trial("failover-during-expansion", SPLIT, about="the consequences of two controllers that write"),
            Trial(
                "zombie-controller",
                ("one_effective_controller",),
                flags={"session_bound": False},
                about="the controller's session has expired, and its client is that of 1.0",
            ),
            Trial(
                "zombie-controller",
                ("one_effective_controller",),
                about="since 1.1 ZooKeeper refuses all writes of an expired session: nothing is left to fence here",
            ),
        ),
    ),
    Fix(
        flag=SESSION_BOUND,
        closes="a controller whose session has expired writes nothing",
        source="KAFKA-5642 (1.1.0): KafkaController.beforeInitializingSession; ZooKeeperClient.waitUntilConnected",
        trials=(
            Trial("zombie-controller", ("one_effective_controller",), flags={"zk_fencing": False}),
            Trial("zombie-controller", SPLIT, flags={"zk_fencing": False}),
            Trial(
                "failover-during-expansion",
                ("one_effective_controller",),
                flags={"zk_fencing": False},
                about="a controller that is deposed while its session lives continues to write",
            ),
        ),
    ),
    Fix(
        flag=BROKER_EPOCH,
        closes="a controller notices a bounce, and a broker refuses requests for an earlier process",
        source="KIP-380, KAFKA-7235 (2.2)",
        trials=(Trial("fast-bounce", ("replicas_converge",)),),
    ),
    Fix(
        flag=AUTH_REINIT_GUARD,
        closes="a controller whose ZooKeeper client fails to authenticate, while its session lives, stays controller",
        source="KAFKA-13461 (3.0.1): ZooKeeperClient.reinitialize is not called then",
        trials=(
            Trial("authentication-failure", ("controller_serves",)),
            Trial("authentication-failure", ("context_agrees",), about="the consequence when a topic is created"),
        ),
    ),
    Fix(
        flag=ALTER_ISR,
        closes="the controller knows every change of an ISR, as it writes the ISR",
        source="KIP-497 (2.7.0): AlterIsrManager; KafkaController.processAlterIsr",
        trials=(
            Trial(
                "authentication-failure",
                ("replicas_converge",),
                bounds={"brokers": 2},
                flags=ISR_CHANGES_ANY_TIME,
                about="the price: under a controller that does nothing, an ISR that has shrunk does not expand again",
            ),
            Trial(
                "authentication-failure",
                ("replicas_converge",),
                bounds={"brokers": 2},
                flags={**ISR_CHANGES_ANY_TIME, "auth_reinit_guard": True},
                about="a working controller accepts every change, as ZooKeeper does",
            ),
            Trial(
                "records-through-failover",
                ("committed_survives",),
                bounds={"restarts": 1},
                about="a leader that writes by itself is also refused once an election has changed the state znode",
            ),
            Trial(
                "failover-during-expansion",
                SPLIT,
                flags=ISR_CHANGES_ANY_TIME,
                about="what a leader writes is in the state znode, which every election reads; that the "
                "controller learns of it late, before 2.7, is not a step of the model",
            ),
        ),
    ),
    Fix(
        flag=LIVE_ISR_ONLY,
        closes="a broker whose session has expired does not join an ISR again before it has registered",
        source="KIP-841 (3.3): KafkaController.tryProcessAlterPartition, INELIGIBLE_REPLICA",
        trials=(
            Trial(
                "healthy-sessions",
                ("ready_controller_takes_lost_brokers_out",),
                bounds={"partitions": 1, "new_expansions": 0},
                about="a session expires, and the controller has removed its broker from the ISR",
            ),
            Trial(
                "healthy-sessions",
                ("ready_controller_takes_lost_brokers_out",),
                variant="3.9.0",
                bounds={"partitions": 1, "new_expansions": 0},
            ),
        ),
    ),
)
