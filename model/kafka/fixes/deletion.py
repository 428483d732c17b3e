"""Fixes of topics that are deleted, created again under their name, or come back."""
from __future__ import annotations

from model.kafka.versions import (
    CLEAR_SM_ON_REMOVE,
    CREATE_CHECKS_MARKER,
    OFFLINE_WITHOUT_LEADERSHIP,
    OLD_UPSERT,
    RESTORE_ON_DELETE,
    UNOPENED_LOG_IS_OFFLINE,
)
from model.language.fix import Fix, Trial

UNMOVED = {"failovers": 0}
BEFORE_6650 = {"offline_without_leadership": False}

FIXES = (
    Fix(
        flag=OFFLINE_WITHOUT_LEADERSHIP,
        claims="a topic with a partition that never had a leader can be deleted",
        source="KAFKA-6650 (2.0): ReplicaStateMachine.doHandleStateChanges",
        trials=(
            Trial("topic-deletion", ("deletion_terminates",)),
            Trial(
                "expansion-during-deletion",
                ("deletion_terminates",),
                variant="2.5.0",
                flags={"restore_on_delete": False},
                about="the partition without a leader came by an expansion, and KAFKA-6612 has not taken it back",
            ),
        ),
    ),
    Fix(
        flag=RESTORE_ON_DELETE,
        claims="a topic that is being deleted gets no partitions that its deletion does not know",
        source="KAFKA-6612 (2.0): KafkaController.processPartitionModifications, restorePartitionReplicaAssignment",
        trials=(
            Trial(
                "expansion-during-halted-deletion",
                ("context_agrees",),
                variant="2.5.0",
                about="the controller that deletes the topic hears of the expansion",
            ),
            Trial(
                "expansion-during-deletion",
                ("deletion_terminates",),
                variant="2.5.0",
                flags=BEFORE_6650,
                about="the controller moves before it has heard of the expansion: the next one deletes what it finds",
            ),
            Trial(
                "expansion-during-deletion",
                ("deletion_terminates",),
                variant="2.5.0",
                about="with KAFKA-6650 the next controller can delete the partition that was added: nothing is stuck",
            ),
        ),
    ),
    Fix(
        name="no_upsert",
        flag=OLD_UPSERT,
        off=True,
        on=False,
        claims="a client that writes the znode of a topic that was deleted meanwhile does not bring the topic back",
        source="KAFKA-5646 (1.1.0): AdminZkClient.writeTopicPartitionAssignment, before ZkUtils.updatePersistentPath",
        trials=(Trial("expansion-during-deletion", ("no_unasked_topic",), bounds=UNMOVED),),
    ),
    Fix(
        flag=CREATE_CHECKS_MARKER,
        claims="a topic that is created again is not taken for the one whose deletion is not complete",
        source="KAFKA-13175 (3.1.0): AdminZkClient.validateTopicCreate; brokers answer TOPIC_ALREADY_EXISTS",
        trials=(
            Trial("delete-and-recreate", ("deletion_targets_intent",)),
            Trial(
                "delete-by-hand",
                ("deletion_targets_intent",),
                about="an operator who removes the marker lets a topic be created that the controller still deletes",
            ),
        ),
    ),
    Fix(
        flag=CLEAR_SM_ON_REMOVE,
        claims="a topic that is created after its namesake was removed by hand gets a leader at once",
        source="no release has it: ControllerContext.removeTopic keeps partitionStates and replicaStates, in 3.9 too",
        trials=(
            Trial(
                "delete-by-hand",
                ("partition_gets_a_leader",),
                flags={"patient_creation": True},
                bounds={"requests": 8},
                about="the topic is created again when the controller has forgotten the one that was removed",
            ),
            Trial(
                "delete-by-hand",
                ("partition_gets_a_leader",),
                about="a topic that is removed and created again before the controller looks is not new to it",
            ),
            Trial(
                "delete-and-recreate",
                ("deletion_terminates",),
                variant="3.9.0",
                bounds={"deletions": 2, "failovers": 0, "restarts": 1},
                about="a name that a deletion left among the ineligible topics",
            ),
        ),
    ),
    Fix(
        name="unopened_log_is_refused",
        flag=UNOPENED_LOG_IS_OFFLINE,
        off=True,
        on=False,
        claims="a topic can be deleted whose replica met a log of another topic id and never opened it",
        source="ReplicaManager.becomeLeaderOrFollower (3.1.0): markPartitionOffline only after a KafkaStorageException",
        trials=(
            Trial(
                "topic-deletion-with-stray-log",
                ("deletion_terminates",),
                variant="3.0",
                about="the broker answers StopReplica as if its disk had failed, and so the deletion fails",
            ),
            Trial(
                "topic-deletion-with-stray-log",
                ("deletion_terminates",),
                variant="2.8.2",
                about="before 3.0 the first request is not checked and opens any log: nothing is taken for offline",
            ),
        ),
    ),
)
