"""Fixes of controllers and brokers that act on a session, a registration or an election which is over."""
from __future__ import annotations

from model.kafka.versions import (
    ALTER_ISR,
    AUTH_REINIT_GUARD,
    BROKER_EPOCH,
    LIVE_ISR_ONLY,
    SESSION_BOUND,
    ZK_FENCING,
)
from model.language.fix import Fix, Trial

SPLIT = ("context_agrees", "partition_servable", "replicas_converge")
"""What goes wrong once two controllers have written."""
ISR_CHANGES_ANY_TIME = {"isr_changes": "any time"}

FIXES = (
    Fix(
        flag=ZK_FENCING,
        claims="a controller that was deposed and does not know it yet writes nothing",
        source="KAFKA-6082 (2.1): KafkaZkClient.wrapRequestWithControllerEpochCheck",
        trials=(
            Trial("failover-during-expansion", ("one_effective_controller",), about="/controller was deleted"),
            Trial("failover-during-expansion", SPLIT, about="what two controllers that write lead to"),
            Trial(
                "zombie-controller",
                ("one_effective_controller",),
                flags={"session_bound": False},
                about="the controller's session has expired, and its client is that of 1.0",
            ),
            Trial(
                "zombie-controller",
                ("one_effective_controller",),
                about="since 1.1 ZooKeeper refuses whatever an expired session writes: nothing is left to fence here",
            ),
        ),
    ),
    Fix(
        flag=SESSION_BOUND,
        claims="a controller whose session has expired writes nothing any more",
        source="KAFKA-5642 (1.1.0): KafkaController.beforeInitializingSession; ZooKeeperClient.waitUntilConnected",
        trials=(
            Trial("zombie-controller", ("one_effective_controller",), flags={"zk_fencing": False}),
            Trial("zombie-controller", SPLIT, flags={"zk_fencing": False}),
            Trial(
                "failover-during-expansion",
                ("one_effective_controller",),
                flags={"zk_fencing": False},
                about="a controller that is deposed while its session lives writes on",
            ),
        ),
    ),
    Fix(
        flag=BROKER_EPOCH,
        claims="a controller notices a bounce, and a broker takes no request that was for an earlier process of it",
        source="KIP-380, KAFKA-7235 (2.2)",
        trials=(Trial("fast-bounce", ("replicas_converge",)),),
    ),
    Fix(
        flag=AUTH_REINIT_GUARD,
        claims="a controller whose ZooKeeper client fails to authenticate, while its session lives, stays controller",
        source="KAFKA-13461 (3.0.1): ZooKeeperClient.reinitialize is not called then",
        trials=(
            Trial("authentication-failure", ("controller_serves",)),
            Trial("authentication-failure", ("context_agrees",), about="what it leads to when a topic is created"),
        ),
    ),
    Fix(
        flag=ALTER_ISR,
        claims="the controller hears of every change of an ISR, as it is the one that writes it",
        source="KIP-497 (2.7.0): AlterIsrManager; KafkaController.processAlterIsr",
        trials=(
            Trial(
                "authentication-failure",
                ("replicas_converge",),
                bounds={"brokers": 2},
                flags=ISR_CHANGES_ANY_TIME,
                about="the price: under a controller that does nothing an ISR that has shrunk does not grow again",
            ),
            Trial(
                "authentication-failure",
                ("replicas_converge",),
                bounds={"brokers": 2},
                flags={**ISR_CHANGES_ANY_TIME, "auth_reinit_guard": True},
                about="a controller that works takes every change, as ZooKeeper does",
            ),
            Trial(
                "records-through-failover",
                ("committed_survives",),
                bounds={"restarts": 1},
                about="a leader that writes by itself is as well refused once an election has changed the state znode",
            ),
            Trial(
                "failover-during-expansion",
                SPLIT,
                flags=ISR_CHANGES_ANY_TIME,
                about="what a leader writes by itself is in the state znode, which every election reads; that the "
                "controller hears of it late, before 2.7, is no own step of the model",
            ),
        ),
    ),
    Fix(
        flag=LIVE_ISR_ONLY,
        claims="a broker whose session has expired does not get into an ISR again before it has registered",
        source="KIP-841 (3.3): KafkaController.tryProcessAlterPartition, INELIGIBLE_REPLICA",
        trials=(
            Trial(
                "healthy-sessions",
                ("ready_controller_takes_lost_brokers_out",),
                bounds={"partitions": 1, "new_expansions": 0},
                about="a session expires, and the controller has taken its broker out of the ISR",
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
