"""Fixes of controllers and brokers that act on a session, a registration or an election which is over."""
from __future__ import annotations

from model.kafka.versions import AUTH_REINIT_GUARD, BROKER_EPOCH, ZK_FENCING
from model.language.fix import Fix, Trial

SPLIT = ("context_agrees", "partition_servable", "replicas_converge")
"""What goes wrong once two controllers have written."""

FIXES = (
    Fix(
        flag=ZK_FENCING,
        claims="a controller that was deposed and does not know it yet writes nothing",
        source="KAFKA-6082 (2.1): KafkaZkClient.wrapRequestWithControllerEpochCheck",
        trials=(
            Trial("failover-during-expansion", ("one_effective_controller",), about="/controller was deleted"),
            Trial("failover-during-expansion", SPLIT, about="what two controllers that write lead to"),
            Trial("zombie-controller", ("one_effective_controller",), about="the controller's session has expired"),
            Trial("zombie-controller", SPLIT),
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
            Trial("authentication-failure", ("context_agrees",), about="what clients see of it"),
        ),
    ),
)
