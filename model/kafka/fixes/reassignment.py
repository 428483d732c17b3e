"""Fixes of reassignments: wrong leader epochs in their requests and in the controller's context."""

from __future__ import annotations

from kwalk.model.kafka.versions import CTX_EPOCH_ON_BUMP, STOP_REPLICA_EPOCH
from kwalk.model.language.fix import Fix, Trial

ONE_REPLICA = {"brokers": 2, "replication_factor": 1}

FIXES = (
    Fix(
        name="stop_replica_epoch: greater",
        flag=STOP_REPLICA_EPOCH,
        off="none",
        on="gt",
        closes="a late StopReplica request does not delete a replica that was assigned to the broker again",
        source="KAFKA-9539 (2.6.0)",
        trials=(
            Trial("reassignment-there-and-back", ("replicas_converge",), variant="3.9.0"),
            Trial(
                "reassignment",
                ("no_stray",),
                variant="3.9.0",
                bounds=ONE_REPLICA,
                about="a cancelled reassignment sends StopReplica with the leader epoch that the replica has already",
            ),
        ),
    ),
    Fix(
        name="stop_replica_epoch: greater or equal",
        flag=STOP_REPLICA_EPOCH,
        off="gt",
        on="ge",
        closes="a cancelled reassignment leaves no log on the broker that was to get the replica",
        source="KAFKA-13972 (3.4.1)",
        trials=(
            Trial("reassignment", ("no_stray",), bounds=ONE_REPLICA),
            Trial(
                "reassignment-there-and-back",
                ("replicas_converge",),
                variant="3.9.0",
                about="a late StopReplica is still refused",
            ),
            Trial(
                "reassignment-there-and-back",
                ("no_stray",),
                variant="3.9.0",
                about="a LeaderAndIsr that arrives late opens a log where the replica was deleted meanwhile",
            ),
        ),
    ),
    Fix(
        flag=CTX_EPOCH_ON_BUMP,
        closes="clients and the controller's context get the leader epoch that a reassignment has raised",
        source="KAFKA-9212 (2.4.0)",
        trials=(
            Trial("reassignment-as-clients-see-it", ("metadata_converges",)),
            Trial("reassignment", ("context_agrees",), bounds=ONE_REPLICA),
        ),
    ),
)
