"""Fixes of topics that are deleted, created again under their name, or come back."""
from __future__ import annotations

from model.kafka.versions import CREATE_CHECKS_MARKER, OFFLINE_WITHOUT_LEADERSHIP
from model.language.fix import Fix, Trial

FIXES = (
    Fix(
        flag=OFFLINE_WITHOUT_LEADERSHIP,
        claims="a topic with a partition that never had a leader can be deleted",
        source="KAFKA-6650 (2.0): ReplicaStateMachine.doHandleStateChanges",
        trials=(Trial("topic-deletion", ("deletion_terminates",)),),
    ),
    Fix(
        flag=CREATE_CHECKS_MARKER,
        claims="a topic that is created again is not taken for the one whose deletion is not complete",
        source="no release has it; brokers would answer TOPIC_ALREADY_EXISTS while /admin/delete_topics/T exists",
        trials=(
            Trial("delete-and-recreate", ("deletion_targets_intent",)),
            Trial(
                "delete-by-hand",
                ("deletion_targets_intent",),
                about="an operator who removes the marker lets a topic be created that the controller still deletes",
            ),
        ),
    ),
)
