"""For each invariant the shortest behaviour that breaks it: in which story, release and flags, and with which mistake.

Words: a behaviour is *broken* where it ends in a violation. What is *planted* is a mistake of the model, from
`tests.kafka.planted`, where none of the stories breaks the invariant by itself. The steps are those that `kwalk
exhaust` found: none that is shorter breaks the invariant within the same bounds. Steps have no spaces within.
"""

from __future__ import annotations

from tests.kafka.broken import Broken

BROKEN = (
    Broken(
        "zk_id_not_erased(0)",
        "old-client-expansion",
        "2.8.2",
        bounds={"restarts": 0, "brokers": 2},
        steps="""
        old_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) old_client_adds_partitions(0)
        """,
    ),
    Broken(
        "topic_id_stable(0)",
        "old-client-expansion",
        "2.8.2",
        bounds={"restarts": 0, "brokers": 2},
        steps="""
        old_client_creates_topic(0) delete_controller() topic_change(0) topic_change_creates_partitions(0)
        old_client_adds_partitions(0) reelect(0) failover_reads_topics(0) failover_sets_topic_ids(0)
        """,
    ),
    Broken(
        "replica_id_matches_zookeeper(0, 0, 0)",
        "old-client-expansion",
        "3.9.0",
        bounds={"restarts": 0, "brokers": 2},
        steps="""
        old_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) old_client_adds_partitions(0)
        delete_controller() partition_modifications(0,0) reelect(0) reelect(1) failover_reads_topics(0)
        failover_sets_topic_ids(0) failover_reads_states(0) failover_sends_requests(0) controller_change(0)
        partition_modifications(0,0) handle_leader_and_isr(0) handle_leader_and_isr(0) handle_leader_and_isr(1)
        handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "context_agrees(0, 0)",
        "authentication-failure",
        "2.8.2",
        steps="""
        new_client_creates_topic(0) auth_failure_reinitializes(0)
        """,
    ),
    Broken(
        "one_effective_controller()",
        "failover-during-expansion",
        "2.8.2",
        flags={"zk_fencing": False},
        steps="""
        new_client_creates_topic(0) delete_controller() reelect(1) topic_change(0) topic_change_creates_partitions(0)
        """,
    ),
    Broken(
        "controller_serves(0)",
        "authentication-failure",
        "2.8.2",
        steps="""
        auth_failure_reinitializes(0)
        """,
    ),
    Broken(
        "controller_epoch_monotone(1)",
        "failover-during-expansion",
        "3.9.0",
        bounds={"restarts": 1, "new_expansions": 0, "brokers": 3},
        planted="brokers take any request",
        steps="""
        new_client_creates_topic(0) stop(0,0) reelect(1) delete_controller() reelect(2) failover_reads_topics(1)
        failover_reads_topics(2) failover_sets_topic_ids(1) failover_sets_topic_ids(2) failover_reads_states(2)
        failover_sends_requests(2) failover_reads_states(1) failover_sends_requests(1) handle_leader_and_isr(1)
        handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "leader_epoch_monotone(0, 0)",
        "fast-bounce",
        "3.9.0",
        bounds={"brokers": 2, "restarts": 2},
        planted="leader epochs wrap around",
        steps="""
        new_client_creates_topic(0) stop(1,0) topic_change(0) topic_change_creates_partitions(0) stop(0,0) restart(0)
        reelect(0) failover_reads_topics(0) failover_sets_topic_ids(0) failover_reads_states(0)
        failover_sends_requests(0)
        """,
    ),
    Broken(
        "replica_leader_epoch_monotone(1, 0, 0)",
        "fast-bounce",
        "3.9.0",
        bounds={"brokers": 2, "restarts": 2},
        flags={"isr_changes": "between requests"},
        planted="brokers take any request, and leader epochs wrap around",
        steps="""
        new_client_creates_topic(0) stop(1,0) topic_change(0) topic_change_creates_partitions(0) broker_failure(0)
        handle_leader_and_isr(0) handle_leader_and_isr(0) restart(1) broker_startup(0) handle_leader_and_isr(1)
        expand_isr(1,0,0) stop(0,0) handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "partition_servable(0, 1)",
        "failover-during-expansion",
        "2.8.2",
        flags={"zk_fencing": False},
        steps="""
        new_client_creates_topic(0) topic_change(0) new_client_adds_partitions(0) delete_controller() reelect(1)
        failover_reads_topics(1) failover_sets_topic_ids(1) failover_reads_states(1) topic_change_creates_partitions(0)
        partition_modifications(0,0) reelect(0) failover_sends_requests(1) controller_change(1) handle_leader_and_isr(0)
        handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "partition_gets_a_leader(0, 0)",
        "delete-by-hand",
        "3.9.0",
        bounds={"restarts": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) remove_topic_by_hand(0) topic_change_creates_partitions(0)
        new_client_creates_topic(0) topic_change(0)
        """,
    ),
    Broken(
        "replicas_converge(1, 0, 0)",
        "fast-bounce",
        "2.8.2",
        flags={"broker_epoch": False},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) crash(1) handle_leader_and_isr(2) restart(1) reelect(1) broker_startup(0)
        """,
    ),
    Broken(
        "leader_in_assignment(0, 0)",
        "reassignment",
        "3.9.0",
        planted="replicas that are removed stay in the ISR",
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) alter_partition_reassignments(0,0,0,0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) handle_leader_and_isr(2) handle_leader_and_isr(2) expand_isr(2,0,0)
        """,
    ),
    Broken(
        "no_partition_lost(0)",
        "old-client-expansion",
        "2.8.2",
        bounds={"restarts": 0, "brokers": 2},
        steps="""
        old_client_creates_topic(0) topic_change(0) old_client_adds_partitions(0) topic_change_creates_partitions(0)
        """,
    ),
    Broken(
        "committed_survives(1, 0, 0)",
        "records-through-failover",
        "3.9.0",
        flags={"unclean_election": True},
        steps="""
        new_client_creates_topic(0) stop(0,0) reelect(1) restart(0) failover_reads_topics(1) failover_sets_topic_ids(1)
        failover_reads_states(1) failover_sends_requests(1) controller_change(1) handle_leader_and_isr(0)
        shrink_isr(0,0,0) handle_leader_and_isr(1) produce(0,0,0) stop(0,1) broker_failure(1) handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "no_divergence(1, 0, 0)",
        "stray-log",
        "2.8.2",
        start=1,
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) produce(0,0,0) fetch(1,0,0)
        """,
    ),
    Broken(
        "no_resurrection(0, 0, 0)",
        "recreated-topic-records",
        "2.8.2",
        bounds={"restarts": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        shrink_isr(0,0,0) produce(0,0,0) remove_topic_by_hand(0) new_client_creates_topic(0)
        """,
    ),
    Broken(
        "elected_log_is_of_its_topic(0, 0, 0)",
        "recreated-topic-records",
        "2.8.2",
        bounds={"restarts": 1},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        shrink_isr(0,0,0) produce(0,0,0) stop(0,0) reelect(1) restart(0) failover_reads_topics(1)
        failover_sets_topic_ids(1) remove_topic_by_hand(0) new_client_creates_topic(0) failover_reads_states(1)
        failover_sends_requests(1) handle_leader_and_isr(0)
        """,
    ),
    Broken(
        "deletion_targets_intent(0)",
        "delete-and-recreate",
        "3.0",
        steps="""
        delete_controller() reelect(0) failover_reads_topics(0) new_client_creates_topic(0) failover_sets_topic_ids(0)
        client_deletes_topic(0) failover_reads_states(0) failover_sends_requests(0) complete_deletion_deletes_topic(0)
        new_client_creates_topic(0) complete_deletion_deletes_config(0)
        """,
    ),
    Broken(
        "deleted_logs_were_unused(0, 0, 0)",
        "reassignment-there-and-back",
        "3.9.0",
        flags={"stop_replica_epoch": "none"},
        steps="""
        alter_partition_reassignments(0,0,0,0) handle_leader_and_isr(0) handle_leader_and_isr(1)
        handle_leader_and_isr(1) expand_isr(1,0,0) alter_partition_reassignments(0,0,0,1) handle_stop_replica(0)
        """,
    ),
    Broken(
        "deletion_terminates(0)",
        "delete-by-hand",
        "3.9.0",
        bounds={"restarts": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) client_deletes_topic(0) remove_topic_by_hand(0) topic_deletion(0) topic_change(0)
        handle_stop_replica(0) handle_stop_replica(1)
        """,
    ),
    Broken(
        "no_stray(0, 0, 0)",
        "delete-by-hand",
        "3.9.0",
        bounds={"restarts": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) remove_topic_by_hand(0) topic_change(0)
        """,
    ),
    Broken(
        "no_unrequested_topic(0)",
        "expansion-during-deletion",
        "2.8.2",
        flags={"old_upsert": True},
        steps="""
        client_deletes_topic(0) topic_deletion(0) handle_stop_replica(0) handle_stop_replica(0) stop_replica_response(0)
        admin_reads_topic(0,0) complete_deletion_deletes_topic(0) admin_writes_topic(0,1)
        """,
    ),
    Broken(
        "records_have_a_topic_id(0, 0, 0)",
        "records-through-failover",
        "2.8.2",
        bounds={"restarts": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        produce(0,0,0)
        """,
    ),
    Broken(
        "log_keeps_its_topic_id(0, 0, 0)",
        "records-through-failover",
        "3.9.0",
        bounds={"restarts": 1},
        flags={"async_metadata_flush": True},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0) crash(0)
        """,
    ),
    Broken(
        "metadata_converges(0, 0, 0)",
        "reassignment-as-clients-see-it",
        "3.9.0",
        flags={"ctx_epoch_on_bump": False},
        steps="""
        alter_partition_reassignments(0,0,0,0) cancel_partition_reassignment(0,0,0) partition_modifications(0,0)
        handle_leader_and_isr(0) handle_leader_and_isr(1) handle_update_metadata(0) handle_update_metadata(0)
        handle_leader_and_isr(0) handle_update_metadata(0) handle_leader_and_isr(0) handle_update_metadata(0)
        handle_update_metadata(0) handle_update_metadata(1) handle_leader_and_isr(1) handle_update_metadata(1)
        handle_update_metadata(1) handle_stop_replica(1) handle_update_metadata(1) handle_update_metadata(1)
        """,
    ),
    Broken(
        "free_name_can_be_created(0)",
        "deletion-as-clients-see-it",
        "3.9.0",
        steps="""
        client_deletes_topic(0) topic_deletion(0) handle_update_metadata(0) handle_stop_replica(0)
        handle_stop_replica(0) stop_replica_response(0) complete_deletion_deletes_topic(0)
        complete_deletion_deletes_config(0) complete_deletion_deletes_request(0) expire_session(0) reelect(1)
        notice_expiry(0) lose_request(1) register_broker_and_reelect(0) failover_reads_topics(1)
        failover_sets_topic_ids(1) failover_reads_states(1) failover_sends_requests(1) controller_change(1)
        """,
    ),
    Broken(
        "removed_topic_is_not_served(0, 0, 0)",
        "runbook-remove-topic",
        "3.9.0",
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) runbook_removes_topic(0) topic_change(0)
        """,
    ),
    Broken(
        "config_goes_with_topic(0)",
        "runbook-remove-topic",
        "3.9.0",
        steps="""
        new_client_creates_topic(0) runbook_removes_topic(0) topic_change(0)
        """,
    ),
    Broken(
        "watch_covered(0)",
        "healthy-cluster",
        "3.9.0",
        planted="notifications are lost",
        steps="""
        new_client_creates_topic(0)
        """,
    ),
    Broken(
        "topic_watch_covered(0, 0)",
        "healthy-cluster",
        "3.9.0",
        planted="notifications of data are lost",
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) new_client_adds_partitions(0)
        """,
    ),
    Broken(
        "records_are_committed(0, 0, 0)",
        "repair-with-records",
        "3.9.0",
        flags={"alter_partition_by_topic_id": False},
        planted="leaders keep in the ISR who cannot fetch",
        steps="""
        fetch(1,0,0) crash(1) shrink_isr(0,0,0) broker_failure(0) handle_leader_and_isr(0) remove_metadata_files(1)
        restart(1) reelect(1) broker_startup(0) handle_leader_and_isr(1) expand_isr(1,0,0) produce(0,0,0)
        """,
    ),
    Broken(
        "topic_has_an_id(0, 0)",
        "mixed-inter-broker-protocol",
        "3.9.0",
        bounds={"old_creations": 1, "new_creations": 0},
        planted="new topics get no id",
        steps="""
        old_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1)
        """,
    ),
    Broken(
        "preferred_replica_leads(0, 1)",
        "healthy-cluster",
        "3.9.0",
        planted="leaders stay where they are",
        steps="""
        stop(1,0) new_client_creates_topic(0) new_client_adds_partitions(0) broker_failure(0) topic_change(0)
        topic_change_creates_partitions(0) handle_leader_and_isr(0) restart(1) reelect(1) broker_startup(0)
        handle_leader_and_isr(1) expand_isr(1,0,0) expand_isr(1,0,1)
        """,
    ),
    Broken(
        "deletion_is_not_dropped(0)",
        "delete-and-recreate",
        "3.9.0",
        bounds={"deletions": 2, "failovers": 0},
        steps="""
        new_client_creates_topic(0) topic_change(0) topic_change_creates_partitions(0) handle_leader_and_isr(0)
        handle_leader_and_isr(1) client_deletes_topic(0) topic_deletion(0) handle_stop_replica(0) handle_stop_replica(0)
        handle_stop_replica(1) handle_stop_replica(1) stop_replica_response(0) stop_replica_response(0)
        complete_deletion_deletes_topic(0) complete_deletion_deletes_config(0) complete_deletion_deletes_request(0)
        topic_change(0) new_client_creates_topic(0) client_deletes_topic(0) topic_deletion(0)
        """,
    ),
)
