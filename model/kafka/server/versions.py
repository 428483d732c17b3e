"""What releases of Kafka differ in about a broker's requests, fetchers, ISR, configuration and stop.

Each flag was dated by comparing the sources of the releases on both sides of the change.
"""

from __future__ import annotations

from kwalk.model.kafka.migration.versions import variant_of
from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.kafka.storage.versions import RELEASES
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, candidate = FLAGS.version_flag, FLAGS.candidate
FIXES = FLAGS.fixes

LAST_FETCH_COUNTS = version_flag(
    "last_fetch_counts",
    "KAFKA-4485 (0.10.2.0): a follower that fetches what the leader had at its last fetch had caught up then; before, "
    "only one that found nothing to fetch had caught up",
    {"0.10.2.0": True},
    closes="a follower that fetches all the time stays in the ISR while records are produced all the time",
    source="KAFKA-4485 (0.10.2.0): Replica.updateLogReadResult: lastFetchLeaderLogEndOffset",
    trials=(Trial("replica-lag", ("follower_that_fetches_stays",), variant="0.10.1", bounds={"throttles": 0}),),
)
FETCHES_ONE_BATCH_AT_LEAST = version_flag(
    "fetches_one_batch_at_least",
    "KIP-74, KAFKA-3810 (0.10.1.0): a fetch gets one batch at least, however large; before, none that is larger than "
    "replica.fetch.max.bytes",
    {"0.10.1.0": True},
    closes="a follower gets past a batch that is larger than replica.fetch.max.bytes",
    source="KAFKA-3810, KIP-74 (0.10.1.0): ReplicaManager.readFromLocalLog: minOneMessage",
    trials=(
        Trial("replica-lag-oversized", ("oversized_batch_is_fetched",), variant="0.10.0"),
        Trial(
            "replica-lag-oversized",
            ("follower_that_fetches_stays",),
            variant="0.10.0",
            flags={"last_fetch_counts": True},
        ),
    ),
)
THROTTLES_LAGGARDS_ONLY = version_flag(
    "throttles_laggards_only",
    "KAFKA-4313 (0.10.1.1): a quota of replication holds for replicas that are not in sync; in 0.10.1.0, for all",
    {"0.10.1.0": False, "0.10.1.1": True},
    before=True,
    closes="a follower in the ISR is not throttled",
    source="KAFKA-4313 (0.10.1.1): ReplicaManager.shouldLeaderThrottle: isReplicaInSync",
    trials=(Trial("replica-lag", ("follower_that_fetches_stays",), variant="3.9.0"),),
)
IDLE_FOLLOWERS_ARE_IN_SYNC = version_flag(
    "idle_followers_are_in_sync",
    "KAFKA-15080 (3.5.1, 3.6.0): a fetcher knows its lag from its first response on; since 2.5.0, and until then, only "
    "from the first one with records, so that the quota of replication held for it as for one that is not in sync",
    {"2.5.0": False, "3.5.1": True},
    before=True,
    closes="a follower of a partition without new records is not throttled",
    source="KAFKA-15080 (3.5.1, 3.6.0): AbstractFetcherThread.processFetchRequest",
    trials=(Trial("replica-lag", ("follower_that_fetches_stays",)),),
)
EQUAL_END_IS_IN_SYNC = version_flag(
    "equal_end_is_in_sync",
    "KAFKA-7152 (2.1.0): a follower that has all of the leader's records stays in the ISR, however long ago it fetched",
    {"2.1.0": True},
    closes="a follower that lacks nothing stays in the ISR",
    source="KAFKA-7152 (2.1.0): Partition.getOutOfSyncReplicas",
    trials=(Trial("replica-lag", ("follower_with_all_records_stays",), variant="2.0"),),
)
FOREIGN_MEMBERS_LAG = version_flag(
    "foreign_members_lag",
    "KAFKA-9672 (3.0.0): a member of the ISR that is no replica is taken for one that lags; since 2.4.0 and until then "
    "the task that shrinks ISRs failed at it, and came to no later partition",
    {"2.4.0": False, "3.0.0": True},
    before=True,
    closes="a follower that stands still leaves the ISR, whatever the ISR of another partition has",
    source="KAFKA-9672 (3.0.0): Partition.isFollowerOutOfSync",
    trials=(Trial("replica-lag-beside-a-reassignment", ("follower_that_stands_still_leaves",)),),
)
OFFLINE_LEADERS_SHRINK_NOTHING = version_flag(
    "offline_leaders_shrink_nothing",
    "KAFKA-7837 (2.1.1): a leader looks whether its log directory has failed before it shrinks an ISR; before, when it "
    "began to go through all partitions",
    {"2.1.1": True},
    closes="a leader whose disk has failed leaves the ISR as it is",
    source="KAFKA-7837 (2.1.1): ReplicaManager.maybeShrinkIsr: nonOfflinePartition",
    trials=(Trial("replica-lag", ("failed_leader_keeps_the_isr",), variant="2.0"),),
)
ELECTIONS_KEEP_CHANGES = version_flag(
    "elections_keep_changes",
    "KAFKA-12686 (3.0.0): a LeaderAndIsr request leaves the change of an ISR that its broker has sent; since 2.7.0 and "
    "until then it made room for another one, which was then taken for answered with the first, and never sent",
    {"2.7.0": False, "3.0.0": True},
    before=True,
    closes="the ISR follows the replicas after an election",
    source="KAFKA-12686 (3.0.0)",
    trials=(Trial("isr-changes", ("isr_follows_its_replica",), variant="2.7", bounds={"write_errors": 0}),),
)
CHANGES_ARE_TRIED_AGAIN = version_flag(
    "changes_are_tried_again",
    "KAFKA-14010 (3.2.1, 3.3.0): a change of the ISR that the controller could not write is sent again; since 2.7.0 "
    "and until then it was refused, as it still counted as sent",
    {"2.7.0": False, "3.2.1": True},
    before=True,
    closes="the ISR follows the replicas after an error of ZooKeeper",
    source="KAFKA-14010 (3.2.1, 3.3.0)",
    trials=(Trial("isr-changes", ("isr_follows_its_replica",), flags={"elections_keep_changes": True}),),
)
HIGH_WATERMARK_FOLLOWS_THE_ISR = version_flag(
    "high_watermark_follows_the_isr",
    "KAFKA-13091 (3.1.0): a leader raises its high watermark when a replica has left the ISR; since 2.7.0 and until "
    "then, with the next append or fetch",
    {"2.7.0": False, "3.1.0": True},
    before=True,
    closes="a record is committed as soon as all replicas of the ISR have it",
    source="KAFKA-13091 (3.1.0)",
    trials=(Trial("isr-changes", ("lone_leader_has_committed_all",)),),
)
COORDINATOR_ENDS_BEFORE_LOGS = version_flag(
    "coordinator_ends_before_logs",
    "KAFKA-4523 (0.10.2.0): a stop ends the group coordinator before it closes the logs; before, afterwards",
    {"0.10.2": True},
    closes="a broker that stops does not halt as a group writes to a closed log",
    source="KAFKA-4523 (0.10.2.0): KafkaServer.shutdown",
    trials=(Trial("orderly-stop", ("stop_is_clean",), variant="0.10.1"),),
)
SCHEDULER_ENDS_BEFORE_LOGS = version_flag(
    "scheduler_ends_before_logs",
    "KAFKA-13315 (3.0.1): a stop ends the scheduler before it closes the logs, so that retention deletes no closed "
    "segment; in 3.0.0, afterwards",
    {"3.0.0": False, "3.0.1": True},
    before=True,
    closes="a broker that stops leaves the clean shutdown file, although a segment is due to be deleted",
    source="KAFKA-13315 (3.0.1): KafkaServer.shutdown",
    trials=(Trial("orderly-stop", ("stop_is_clean",), variant="3.0.0"),),
)
DELETIONS_END_WITHOUT_DELAY = version_flag(
    "deletions_end_without_delay",
    "KAFKA-16588 (3.8.0): the task that deletes logs ends if there is none, also where file.delete.delay.ms is 0; "
    "since 1.1.1 it waited for one, and a stop for it",
    {"1.1.1": False, "3.8.0": True},
    before=True,
    closes="a broker stops whose file.delete.delay.ms is 0",
    source="KAFKA-16588 (3.8.0): LogManager.deleteLogs",
    trials=(Trial("orderly-stop-without-a-delete-delay", ("stop_ends",)),),
)
CHECKS_ARE_NOT_LOST = version_flag(
    "checks_are_not_lost",
    "KAFKA-6653 (1.1.0): a thread that finds the lock of a waiting request taken has it checked again; since 0.11.0.2 "
    "it gave up, and the other thread had looked too early",
    {"0.11.0.2": False, "1.1.0": True},
    before=True,
    closes="a request that becomes due while a thread looks at it is answered",
    source="KAFKA-6653 (1.1.0): DelayedOperation.maybeTryComplete",
    trials=(
        Trial(
            "requests-that-wait",
            ("due_request_is_answered",),
            variant="1.0",
            flags={"stops_check_requests": True},
        ),
    ),
)
CHECKS_OUTLIVE_ERRORS = candidate(
    "checks_outlive_errors",
    "KAFKA-17234, KAFKA-17240, of a release after 3.9: produce requests are checked also if the answer to a fetch of "
    "the same partition has failed; before, the thread did not get there",
    closes="a request is answered beside one whose answer fails",
    source="KAFKA-17240 (after 3.9): DelayedOperations.checkAndCompleteAll",
    trials=(Trial("requests-beside-a-failed-fetch", ("due_request_is_answered",), variant="3.9.0"),),
)
EPOCHS_ARE_CHECKED_FIRST = version_flag(
    "epochs_are_checked_first",
    "KAFKA-19690 (3.9.2): a batch with an earlier epoch of its producer is refused as such; since 3.6 "
    "(KAFKA-14561), as one without a transaction, which is fatal",
    {"3.6.0": False, "3.9.2": True},
    before=True,
    closes="a producer whose transaction was aborted is told that it is fenced",
    source="KAFKA-19690 (3.9.2): UnifiedLog.analyzeAndValidateProducerState",
    trials=(Trial("transaction-aborted-amid-an-append", ("fenced_producer_is_told_so",), variant="3.9.0"),),
)
TRANSACTIONS_HAVE_EPOCHS = candidate(
    "transactions_have_epochs",
    "KIP-890 (4.0, with transaction.version=2): the epoch of a producer rises with each transaction, so that a late "
    "request is refused; in all releases up to then it ends the next one",
    closes="a request to commit a transaction commits no other one",
    source="KIP-890, KAFKA-17754 (after 3.9): TransactionCoordinator.endTransaction",
    trials=(Trial("transaction-after-a-late-commit", ("producer_commits_what_is_read",), variant="3.9.0"),),
)
STOPS_CHECK_REQUESTS = version_flag(
    "stops_check_requests",
    "KAFKA-9198 (2.4.0): a broker that deletes a replica checks the requests that wait for it; before, they waited for "
    "their timeouts",
    {"2.4.0": True},
    closes="a request is answered that waits for a replica which is deleted",
    source="KAFKA-9198 (2.4.0): ReplicaManager.stopReplica",
    trials=(Trial("requests-that-wait", ("due_request_is_answered",), variant="2.3.1"),),
)
REDIRECTS_ARE_ANSWERED = version_flag(
    "redirects_are_answered",
    "KAFKA-13767 (3.2.0): a leader that names another replica to fetch from answers at once; since KIP-392 (2.4.0), "
    "after fetch.max.wait.ms",
    {"3.2.0": True},
    closes="a consumer is told at once which replica it is to fetch from",
    source="KAFKA-13767 (3.2.0): ReplicaManager.fetchMessages",
    trials=(Trial("fetches-from-a-follower", ("due_request_is_answered",), variant="2.8.2"),),
)
FOLLOWERS_CHECK_FETCHES = version_flag(
    "followers_check_fetches",
    "KAFKA-14334 (3.3.2): a follower that has fetched checks the fetches of consumers that wait; since KIP-392 "
    "(2.4.0) they waited for fetch.max.wait.ms",
    {"3.3.2": True},
    closes="a consumer that fetches from a follower gets records once they are there",
    source="KAFKA-14334 (3.3.2): ReplicaFetcherThread.completeDelayedFetchRequests",
    trials=(
        Trial(
            "fetches-from-a-follower",
            ("due_request_is_answered",),
            variant="2.8.2",
            flags={"redirects_are_answered": True},
        ),
    ),
)
STOPS_KNOW_THE_CONTROLLER = version_flag(
    "stops_know_the_controller",
    "KAFKA-9189 (3.0.0): a broker that stops takes the controller from its metadata cache; before, from ZooKeeper, "
    "for whose answer it waits",
    {"3.0.0": True},
    closes="a broker stops while ZooKeeper is away",
    source="KAFKA-9189 (3.0.0): KafkaServer.controlledShutdown",
    trials=(Trial("stop-that-asks-the-controller", ("broker_ends",)),),
)
STOPS_ASK_AGAIN = version_flag(
    "stops_ask_again",
    "PR-4359 (1.1.0): a broker that stops asks again later if there is no controller; before, it stopped",
    {"1.1.0": True},
    closes="leaders are moved from a broker that stops during a failover of the controller",
    source="PR-4359 (1.1.0): KafkaServer.controlledShutdown",
    trials=(Trial("stop-that-asks-the-controller", ("stop_asks_for_other_leaders",), variant="1.0"),),
)
ACCEPTORS_START_LAST = version_flag(
    "acceptors_start_last",
    "KAFKA-9796 (2.6.0): a broker accepts connections when it handles them; since 2.2.0, which has a limit of those "
    "that are not handled yet, a broker whose start failed waited for room",
    {"2.2.0": False, "2.6.0": True},
    before=True,
    closes="a broker ends whose start fails while clients connect",
    source="KAFKA-9796 (2.6.0): SocketServer.startProcessingRequests, stopProcessingRequests",
    trials=(Trial("stop-that-asks-the-controller", ("broker_ends",), variant="2.5"),),
)
FETCHERS_END_AMID_FETCHES = version_flag(
    "fetchers_end_amid_fetches",
    "KAFKA-7464 (2.0.1): a fetcher is ended while it closes its connection; since 1.1.0 that was an error, at "
    "which LeaderAndIsr ended before coordinators were told",
    {"1.1.0": False, "2.0.1": True},
    before=True,
    closes="the coordinator of a partition is told that its broker leads it",
    source="KAFKA-7464 (2.0.1): ReplicaFetcherThread.initiateShutdown",
    trials=(Trial("fetcher-without-partitions", ("coordinator_is_told",), variant="2.0"),),
)
FAILED_READS_SAY_NOTHING = version_flag(
    "failed_reads_say_nothing",
    "KAFKA-8400 (2.4.0): a read that has failed changes nothing of what a leader knows of its follower; before, the "
    "follower's end was unknown after it",
    {"2.4.0": True},
    closes="a follower that lacks nothing stays in the ISR while reads of its leader fail",
    source="KAFKA-8400 (2.4.0): ReplicaManager.updateFollowerFetchState",
    trials=(Trial("replica-lag-with-failing-reads", ("follower_with_all_records_stays",), variant="2.3.1"),),
)
FETCHERS_ARE_OF_LEADERS = version_flag(
    "fetchers_are_of_leaders",
    "KAFKA-4811 (0.11.0.0): a leader has one fetcher, which is ended if its port is another one; before, each port had "
    "one, of which the second failed at the metrics of the first",
    {"0.11.0.0": True},
    closes="a replica follows a leader that has started again with another port",
    source="KAFKA-4811 (0.11.0.0): AbstractFetcherManager.addFetcherForPartitions",
    trials=(Trial("fetcher-of-a-moved-leader", ("follower_has_a_fetcher",), variant="0.10.2"),),
)
TIMERS_ARE_MONOTONIC = version_flag(
    "timers_are_monotonic",
    "KAFKA-4051 (0.10.1.0): timers take a clock that is never set back; before, that of the machine",
    {"0.10.1.0": True},
    closes="requests wait no longer than they are to, whatever the clock of the machine does",
    source="KAFKA-4051 (0.10.1.0): SystemTimer",
    trials=(Trial("request-and-a-clock", ("request_waits_for_its_time",), variant="0.10.0"),),
)
LEADERS_CHOOSE_IN_THE_ISR = version_flag(
    "leaders_choose_in_the_isr",
    "KAFKA-14372 (3.3.2): a leader sends consumers to followers in the ISR; since KIP-392 (2.4.0), to any with the "
    "records that they fetch",
    {"2.4.0": False, "3.3.2": True},
    before=True,
    closes="a consumer that fetches from followers is sent to one that does not lag",
    source="KAFKA-14372 (3.3.2): ReplicaManager.findPreferredReadReplica",
    trials=(Trial("consumer-of-followers", ("chosen_replica_is_in_sync",), variant="2.8.2"),),
)
LEADERS_CHOOSE_REPLICAS = version_flag(
    "leaders_choose_replicas",
    "KAFKA-13778 (3.3.0): the leader alone sends consumers to followers; since 2.6.0, a follower that has led "
    "could, too",
    {"2.6.0": False, "3.3.0": True},
    before=True,
    closes="a follower answers the consumers that were sent to it",
    source="KAFKA-13778 (3.3.0): Partition.leaderIdIfLocal",
    trials=(Trial("consumer-of-followers", ("leader_chooses_the_replica",), variant="2.8.2"),),
)
FOLLOWERS_REFUSE_STRANGERS = version_flag(
    "followers_refuse_strangers",
    "a follower refuses a consumer that no leader has sent to it; since 2.4.0 (KIP-392) it answers each whose request "
    "has version 11 or later, also that its offset is out of range",
    {"2.4.0": False},
    before=True,
    closes="a consumer without leader epochs keeps its offset, whatever old metadata says",
    source="no release since 2.4.0; KAFKA-14255, PR-12674",
    trials=(Trial("consumer-with-old-metadata", ("misled_consumer_keeps_its_offset",), variant="3.9.0"),),
)
RECORDS_COUNT_AS_ANSWERS = version_flag(
    "records_count_as_answers",
    "KAFKA-12330 (3.0.0): partitions of a session come last after a response with their records; since KIP-227 "
    "(1.1.0), after one with any news of them",
    {"1.1.0": False, "3.0.0": True},
    before=True,
    closes="each partition of a fetch gets its turn",
    source="KAFKA-12330 (3.0.0): FetchSession.PartitionIterator",
    trials=(Trial("fetch-of-two-partitions", ("partition_waits_for_one_response",), variant="2.8.2"),),
)
SESSIONS_KEEP_EPOCHS = version_flag(
    "sessions_keep_epochs",
    "KAFKA-9338 (2.5.0): a session of fetches keeps the leader epochs of its partitions; since KIP-320 (2.1.0), it "
    "left them out, and later requests were not checked",
    {"2.1.0": False, "2.5.0": True},
    before=True,
    closes="a client with an earlier leader epoch gets an error",
    source="KAFKA-9338 (2.5.0): CachedPartition.leaderEpoch",
    trials=(Trial("fetch-with-an-old-epoch", ("old_epoch_is_fenced",), variant="2.3.1"),),
)
FOREIGN_REPLICAS_GET_NO_RECORDS = version_flag(
    "foreign_replicas_get_no_records",
    "KAFKA-5758 (1.0.0): a broker that is no replica of a partition gets no records of it; before, its fetch failed, "
    "with all partitions",
    {"1.0.0": True},
    closes="a broker that has lost a replica fetches its others",
    source="KAFKA-5758 (1.0.0): ReplicaManager.updateFollowerLogReadResults",
    trials=(Trial("fetch-of-a-lost-replica", ("fetch_outlives_a_partition",), variant="0.11.0.0"),),
)
APPENDS_USE_THEIR_THREADS_BUFFERS = version_flag(
    "appends_use_their_threads_buffers",
    "KAFKA-15653 (3.6.1): an append that goes on in another thread uses the buffers of that one; in 3.6.0, those of "
    "the thread to which it had come",
    {"3.6.0": False, "3.6.1": True},
    before=True,
    closes="the buffers of a thread are used by one request at a time",
    source="KAFKA-15653 (3.6.1): KafkaRequestHandler.wrapAsyncCallback",
    trials=(Trial("append-in-another-thread", ("buffers_are_used_by_one_request",), variant="3.6.0"),),
)
TRUNCATIONS_EXPECT_REMOVALS = version_flag(
    "truncations_expect_removals",
    "KAFKA-8012 (2.2.0): a fetcher leaves out a partition that was removed since it was listed for a truncation; in "
    "2.1.1 that ended its thread, if the log had no leader epoch",
    {"2.1.1": False, "2.2.0": True},
    before=True,
    closes="a partition that is removed while it is truncated does not end the fetcher of others",
    source="KAFKA-8012 (2.2.0): AbstractFetcherThread.truncateToHighWatermark",
    trials=(
        Trial(
            "fetcher-of-two-partitions",
            ("other_partitions_are_fetched",),
            variant="2.1.1",
            bounds={"fetch_errors": 0},
        ),
    ),
)
FAILURES_ARE_OF_ONE_PARTITION = version_flag(
    "failures_are_of_one_partition",
    "KIP-461, KAFKA-8346 (2.3.0): an error that nobody expects ends the fetching of its partition; before, the thread",
    {"2.3.0": True},
    closes="an error in one partition does not end the fetcher of others",
    source="KIP-461, KAFKA-8346 (2.3.0): AbstractFetcherThread.markPartitionFailed",
    trials=(Trial("fetcher-of-two-partitions", ("other_partitions_are_fetched",), variant="2.0"),),
)
FETCHES_ARE_ANSWERED_WITHOUT_LOCK = version_flag(
    "fetches_are_answered_without_lock",
    "KAFKA-7697 (2.1.1): an append gives back the lock of its partition before it answers fetches that wait; in 2.1.0, "
    "whose fetches take the locks of their partitions, it did not",
    {"2.1.0": False, "2.1.1": True},
    before=True,
    closes="appends, and changes of the ISR of several partitions, do not wait for each other",
    source="KAFKA-7697 (2.1.1): Partition.appendRecordsToLeader",
    trials=(Trial("appends-amid-changes", ("appends_end",), variant="2.1.0"),),
)
CLEANER_RATE_CHANGES = version_flag(
    "cleaner_rate_changes",
    "KAFKA-13996 (3.3.0): log.cleaner.io.max.bytes.per.second holds when it is changed; before, from the next start on",
    {"3.3.0": True},
    closes="the log cleaner has the rate that was set",
    source="KAFKA-13996 (3.3.0)",
    trials=(Trial("dynamic-cleaner-rate", ("cleaner_has_its_rate",)),),
)
TOPIC_OVERRIDES_ARE_KEPT = version_flag(
    "topic_overrides_are_kept",
    "KAFKA-9254 (2.4.1): a log remembers which values are its topic's own when a broker's defaults change; before, the "
    "second change reset them",
    {"2.4.1": True},
    closes="a topic's own configuration holds, however often a broker's changes",
    source="KAFKA-9254 (2.4.1)",
    trials=(Trial("dynamic-configuration", ("topic_configuration_is_kept",)),),
)
DELETED_CONFIG_IS_REMOVED = version_flag(
    "deleted_config_is_removed",
    "KAFKA-10268 (2.6.0): a dynamic value that is deleted does not hold any more; before, one without a default did, "
    "until the broker was restarted",
    {"2.6.0": True},
    closes="a dynamic configuration that is deleted does not hold any more",
    source="KAFKA-10268 (2.6.0)",
    trials=(
        Trial("dynamic-configuration", ("deleted_configuration_does_not_hold",), variant="2.5"),
        Trial(
            "dynamic-configuration",
            ("configuration_follows_precedence",),
            variant="2.5",
            about="the price: a change of any other key drops the hours of the file",
        ),
    ),
)
SYNONYMS_ARE_KEPT = version_flag(
    "synonyms_are_kept",
    "KAFKA-17584 (3.9.0): a dynamic change keeps log.retention.hours and other synonyms of the file; since 2.6.0, and "
    "until then, any such change replaced them by Kafka's default",
    {"3.9.0": True},
    closes="a dynamic change keeps log.retention.hours, and all levels hold in their order",
    source="KAFKA-17584 (3.9.0)",
    trials=(Trial("dynamic-configuration", ("configuration_follows_precedence",)),),
)
STRAYS_GO_FIRST = version_flag(
    "strays_go_first",
    "KAFKA-14616 (3.7.0): a broker that starts in KRaft mode removes logs of earlier topics before it applies the "
    "image; before, the log refused the topic that was created again, and was deleted then: the replica was not there",
    {"3.7.0": True},
    closes="a broker that was down while a topic was created again has its replica",
    source="KAFKA-14616 (3.7.0): BrokerMetadataPublisher.initializeManagers",
    trials=(Trial("kraft-topic-created-again", ("replica_of_the_image_is_there",), variant="3.6.0"),),
)
OFFLINE_REPLICAS_KEEP_IDS = version_flag(
    "offline_replicas_keep_ids",
    "KAFKA-16234 (3.7.1): a broker in KRaft mode knows the topic id of a replica whose directory has failed, and sets "
    "logs of earlier topics aside as it loads them; in 3.7.0 (KAFKA-16157) it created the replica again in another "
    "directory, empty",
    {"3.7.0": False, "3.7.1": True},
    before=True,
    closes="a replica whose log directory fails is not created again beside its log",
    source="KAFKA-16234 (3.7.1): Partition.topicId; LogManager.loadLog: isStray",
    trials=(
        Trial("kraft-failed-directory", ("served_log_has_what_was_written",), variant="3.7.0"),
        Trial(
            "kraft-failed-directory",
            ("broker_starts",),
            variant="3.7.0",
            flags={"unidentified_logs_are_strays": True},
        ),
    ),
)
UNIDENTIFIED_LOGS_ARE_STRAYS = version_flag(
    "unidentified_logs_are_strays",
    "KAFKA-16814 (3.7.1): a log without topic id is a stray as a broker starts in KRaft mode; in 3.7.0 the start "
    "failed, and before 3.7 the log took the id of the image",
    {"3.7.0": False, "3.7.1": True},
    before=True,
    closes="a broker starts after a crash right after a log was created",
    source="KAFKA-16814 (3.7.1): LogManager.isStrayKraftReplica",
    trials=(Trial("kraft-topic-created-again", ("broker_starts",), variant="3.7.0"),),
)
FUTURE_LOGS_ARE_RECOVERED = version_flag(
    "future_logs_are_recovered",
    "KAFKA-16082 (3.7.1): a broker that starts in KRaft mode lets a future log take over that is in the directory "
    "which the image has for the replica; in 3.7.0 it created an empty log there",
    {"3.7.1": True},
    closes="a move that a failed directory and a crash interrupt loses no records",
    source="KAFKA-16082 (3.7.1): LogManager.recoverAbandonedFutureLogs",
    trials=(
        Trial(
            "kraft-move-from-a-failed-directory",
            ("copy_is_in_another_directory",),
            variant="3.7.0",
            flags={"offline_replicas_keep_ids": True},
        ),
        Trial(
            "kraft-move-from-a-failed-directory",
            ("directory_fails_with_its_disk",),
            variant="3.7.0",
            flags={"offline_replicas_keep_ids": True},
        ),
    ),
)
DELETIONS_COME_FIRST = version_flag(
    "deletions_come_first",
    "KAFKA-16180 (3.6.2): what a full UpdateMetadata of KRaft's controller does not name leaves the cache of a broker "
    "in ZooKeeper mode before what it names gets into it; in 3.6.1 (KAFKA-15799) after that, by its name",
    {"3.6.2": True},
    closes="clients find a topic that was created again while KRaft's controller failed over in dual write",
    source="KAFKA-16180 (3.6.2): ZkMetadataCache.transformKRaftControllerFullMetadataRequest",
    trials=(
        Trial(
            "full-requests-of-kraft",
            ("full_update_leaves_what_it_names",),
            variant="3.6.1",
        ),
    ),
)
SEQUENCES_BEGIN_AT_ONE = version_flag(
    "sequences_begin_at_one",
    "KAFKA-3525 (0.10.1.0): the first generated id of a broker is reserved.broker.max.id + 1; before, it was the "
    "reserved one, which operators may give",
    {"0.10.1.0": True},
    closes="a broker starts with any id that operators may give",
    source="KAFKA-3525 (0.10.1.0): ZkUtils.getSequenceId",
    trials=(Trial("generated-broker-ids", ("given_id_is_not_generated",), variant="0.10.0"),),
)
GENERATED_IDS_MIGRATE = candidate(
    "generated_ids_migrate",
    "a broker whose id ZooKeeper has generated registers with KRaft's controller under it, as by KAFKA-17077 (3.9.0); "
    "in all releases it ends as it starts to migrate, since 3.9 as KafkaConfig refuses it (KAFKA-17543)",
    closes="a cluster whose ids are generated migrates to KRaft",
    source="no release; KafkaConfig.validateValues, KafkaServer.startup",
    trials=(Trial("generated-ids-in-a-migration", ("broker_registers_under_its_id",), variant="3.9.0"),),
)
# What brokers answer.

REQUESTS_KNOW_THE_TOPIC = version_flag(
    "requests_know_the_topic",
    "KAFKA-6796 (2.0.0): a broker without a replica answers Produce and Fetch with NOT_LEADER_FOR_PARTITION if the "
    "topic exists; before, with UNKNOWN_TOPIC_OR_PARTITION",
    {"2.0.0": True},
    closes="a client is not told that a topic which exists does not",
    source="KAFKA-6796 (2.0.0): ReplicaManager.getPartitionOrException",
    trials=(
        Trial(
            "partition-and-its-clients",
            ("existing_topic_is_known",),
            variant="1.0",
            flags={"epochs_know_the_topic": True},
        ),
    ),
)
EPOCHS_KNOW_THE_TOPIC = version_flag(
    "epochs_know_the_topic",
    "KAFKA-7347 (2.1.0): the same of OffsetsForLeaderEpoch",
    {"2.1.0": True},
    closes="a follower or consumer is not told that a topic which exists does not",
    source="KAFKA-7347 (2.1.0): ReplicaManager.lastOffsetForLeaderEpoch",
    trials=(Trial("partition-and-its-clients", ("existing_topic_is_known",), variant="2.0"),),
)
CONSUMERS_ARE_SENT_ON = version_flag(
    "consumers_are_sent_on",
    "KAFKA-10223 (2.6.0): a broker without a replica answers consumers with NOT_LEADER_OR_FOLLOWER; in 2.4 and 2.5 "
    "with REPLICA_NOT_AVAILABLE, after which consumers that are not of Java do not ask again",
    {"2.4.0": False, "2.6.0": True},
    before=True,
    closes="a consumer outlives the move of a replica",
    source="KAFKA-10223 (2.6.0): ReplicaManager.getPartitionOrException",
    trials=(Trial("partition-and-its-clients", ("consumer_is_sent_on",), variant="2.5"),),
)
LOST_REPLICAS_ARE_NO_FORMAT = version_flag(
    "lost_replicas_are_no_format",
    "KAFKA-5610 (0.11.0.1): a broker without a replica answers WriteTxnMarkers with UNKNOWN_TOPIC_OR_PARTITION; "
    "before, with UNSUPPORTED_FOR_MESSAGE_FORMAT, after which the coordinator takes the marker for written",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
    closes="a transaction ends at a partition whose leader has moved",
    source="KAFKA-5610 (0.11.0.1): KafkaApis.handleWriteTxnMarkersRequest",
    trials=(Trial("partition-and-its-clients", ("marker_is_asked_for_again",), variant="0.11.0.0"),),
)
COMPRESSION_IS_OF_A_LOG = version_flag(
    "compression_is_of_a_log",
    "KAFKA-7935 (2.2.0): a consumer of before 2.1 is told that zstd is unsupported where the topic has it; in 2.1 also "
    "by a broker without a replica",
    {"2.1.0": False, "2.2.0": True},
    before=True,
    closes="an earlier consumer outlives the move of a replica",
    source="KAFKA-7935 (2.2.0): KafkaApis.handleFetchRequest: maybeConvertFetchedData",
    trials=(Trial("partition-and-its-clients", ("compression_is_of_the_topic",), variant="2.1.0"),),
)
METADATA_LOOKS_AT_THE_LEADER = version_flag(
    "metadata_looks_at_the_leader",
    "KAFKA-10312 (2.7.0): Metadata has LEADER_NOT_AVAILABLE of a partition whose leader does not run; since 2.0.0, and "
    "until then, LISTENER_NOT_FOUND",
    {"2.0.0": False, "2.7.0": True},
    before=True,
    closes="a client is not told of a listener that is missing, as a broker is down",
    source="KAFKA-10312 (2.7.0): MetadataCache.getPartitionMetadata",
    trials=(Trial("partition-and-its-clients", ("lost_leader_is_no_lost_listener",), variant="2.5"),),
)
ISR_OUTLIVES_THE_LEADER = version_flag(
    "isr_outlives_the_leader",
    "KAFKA-8442 (2.4.0): Metadata has the ISR of a partition without a leader, too",
    {"2.4.0": True},
    closes="who describes a topic sees which replica may lead",
    source="KAFKA-8442 (2.4.0): MetadataCache.getPartitionMetadata",
    trials=(Trial("partition-and-its-clients", ("metadata_has_the_isr",), variant="2.3.1"),),
)
REPLICAS_HAVE_AN_ORDER = version_flag(
    "replicas_have_an_order",
    "KAFKA-5329 (0.11.0.0): UpdateMetadata and Metadata have replicas in the order of their assignment; before, a set "
    "of them, which loses its order above four",
    {"0.11.0.0": True},
    closes="who describes a topic sees its preferred replica",
    source="KAFKA-5329 (0.11.0.0): ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers",
    trials=(Trial("partition-and-its-clients", ("metadata_has_replicas_in_order",), variant="0.10.2"),),
)
FETCHES_HAVE_THE_STABLE_OFFSET = version_flag(
    "fetches_have_the_stable_offset",
    "KAFKA-7535 (2.0.1): an answer to Fetch has the last stable offset; in 2.0.0, -1",
    {"2.0.0": False, "2.0.1": True},
    before=True,
    closes="a consumer of committed records knows its lag",
    source="KAFKA-7535 (2.0.1): KafkaApis.handleFetchRequest",
    trials=(Trial("partition-and-its-clients", ("fetch_has_the_stable_offset",), variant="2.0"),),
)

# What is accepted of a topic.

TIMESTAMP_TYPES_ARE_READ_FIRST = version_flag(
    "timestamp_types_are_read_first",
    "KAFKA-6973 (2.0.0): message.timestamp.type of a topic is one that brokers know; before, any word was accepted",
    {"2.0.0": True},
    closes="brokers start with what clients have set",
    source="KAFKA-6973 (2.0.0): LogConfig",
    trials=(
        Trial(
            "requests-about-a-topic",
            ("accepted_value_can_be_read",),
            variant="1.0",
            flags={"formats_are_read_first": True},
        ),
    ),
)
FORMATS_ARE_READ_FIRST = version_flag(
    "formats_are_read_first",
    "KAFKA-7409 (2.1.0): message.format.version of a topic is one that brokers know; before, any word was accepted",
    {"2.1.0": True},
    closes="brokers start with what clients have set",
    source="KAFKA-7409 (2.1.0): LogConfig: ApiVersionValidator",
    trials=(Trial("requests-about-a-topic", ("accepted_value_can_be_read",), variant="2.0"),),
)
SEGMENTS_LAST = version_flag(
    "segments_last",
    "KAFKA-6637 (2.0.0): segment.ms of a topic is 1 at least; before, 0 was accepted, by which segments are divided "
    "that have a jitter",
    {"2.0.0": True},
    closes="records can be appended with what clients have set",
    source="KAFKA-6637 (2.0.0): LogConfig: SegmentMsProp",
    trials=(Trial("requests-about-a-topic", ("accepted_value_lets_records_in",), variant="1.0"),),
)
PARTITIONS_ARE_COUNTED = version_flag(
    "partitions_are_counted",
    "KAFKA-7864 (2.3.0): partitions of a new topic are numbered from 0; before, a client could choose other numbers",
    {"2.3.0": True},
    closes="clients find the partitions of a topic",
    source="KAFKA-7864 (2.3.0): AdminZkClient.validateTopicCreate",
    trials=(Trial("requests-about-a-topic", ("partitions_are_numbered_from_zero",), variant="2.0"),),
)
FAILED_CREATIONS_ARE_NAMED = version_flag(
    "failed_creations_are_named",
    "KAFKA-4032 (0.10.1.0): Metadata says why a topic is not created that is asked for; before, the request failed",
    {"0.10.1.0": True},
    closes="a client learns that there are too few brokers",
    source="KAFKA-4032 (0.10.1.0): KafkaApis.createTopic",
    trials=(Trial("requests-about-a-topic", ("creation_that_fails_says_why",), variant="0.10.0"),),
)
DISABLED_DELETIONS_ARE_REFUSED = version_flag(
    "disabled_deletions_are_refused",
    "KAFKA-5975, KIP-322 (2.1.0): DeleteTopics is refused while delete.topic.enable is off; before, the request "
    "waited until its time was over",
    {"2.1.0": True},
    closes="a client learns that deletions are disabled",
    source="KAFKA-5975 (2.1.0): KafkaApis.handleDeleteTopicsRequest",
    trials=(Trial("requests-about-a-topic", ("disabled_deletion_is_refused",), variant="2.0"),),
)
ABSENT_TOPICS_HAVE_NO_VALUES = version_flag(
    "absent_topics_have_no_values",
    "KAFKA-6778 (2.0.0): DescribeConfigs of a topic that does not exist is refused; before, it had all defaults",
    {"2.0.0": True},
    closes="a client learns that a topic does not exist",
    source="KAFKA-6778 (2.0.0): AdminManager.describeConfigs",
    trials=(Trial("requests-about-a-topic", ("absent_topic_has_no_values",), variant="1.0"),),
)
APPENDS_FIND_DEFAULTS = version_flag(
    "appends_find_defaults",
    "KAFKA-9644 (2.6.0): what is appended to a list that a topic has no value of is appended to the default; in 2.3 "
    "to 2.5, an error",
    {"2.3.0": False, "2.6.0": True},
    before=True,
    closes="a list can be appended to that nobody has set",
    source="KAFKA-9644 (2.6.0): AdminManager.prepareIncrementalConfigs",
    trials=(Trial("requests-about-a-topic", ("list_can_be_appended_to",), variant="2.5"),),
)
NULLS_ARE_REFUSED = version_flag(
    "nulls_are_refused",
    "KAFKA-9695 (2.6.0): a value that is null is refused; before, a NullPointerException",
    {"2.6.0": True},
    closes="a client learns what is wrong with its request",
    source="KAFKA-9695 (2.6.0): AdminManager.alterConfigs",
    trials=(Trial("requests-about-a-topic", ("null_is_refused",), variant="2.5"),),
)
ABSENT_TOPICS_ARE_NAMED = version_flag(
    "absent_topics_are_named",
    "KAFKA-10033 (2.7.0): a value of a topic that does not exist is refused with UNKNOWN_TOPIC_OR_PARTITION; "
    "before, with UNKNOWN_SERVER_ERROR",
    {"2.7.0": True},
    closes="a client learns that a topic does not exist",
    source="KAFKA-10033 (2.7.0): AdminZkClient.validateTopicConfig",
    trials=(Trial("requests-about-a-topic", ("absent_topic_is_not_altered",), variant="2.5"),),
)

# What parts of a broker do beside requests.

THROTTLED_FETCHES_ARE_OF_LAGGARDS = version_flag(
    "throttled_fetches_are_of_laggards",
    "KAFKA-6937 (1.1.1): a fetch of a throttled partition that waits is answered while the quota of replication "
    "is exceeded, if the follower is in sync; before, no one was",
    {"0.10.1.0": False, "1.0.2": True, "1.1.0": False, "1.1.1": True},
    before=True,
    closes="a follower in sync does not wait for the quota",
    source="KAFKA-6937 (1.1.1): DelayedFetch.tryComplete",
    trials=(Trial("fetch-of-a-throttled-follower", ("follower_in_sync_is_answered",), variant="1.0"),),
)
FETCHES_FIT_THE_QUOTA = version_flag(
    "fetches_fit_the_quota",
    "KAFKA-9677 (2.5.0): a fetch of a consumer is not larger than its quota allows in the window; since 2.0 "
    "(KIP-219), and until then, one that was got nothing, again and again",
    {"2.0.0": False, "2.5.0": True},
    before=True,
    closes="a consumer with a small quota gets records",
    source="KAFKA-9677 (2.5.0): KafkaApis.handleFetchRequest",
    trials=(Trial("consumer-under-a-quota", ("consumer_gets_on",), variant="2.3.1"),),
)
FETCHES_TOUCH_SESSIONS = version_flag(
    "fetches_touch_sessions",
    "KAFKA-9137 (2.5.0): a fetch in a session counts as its use; before, only one that changes the number of its "
    "partitions",
    {"1.1.0": False, "2.5.0": True},
    before=True,
    closes="a session that is in use stays",
    source="KAFKA-9137 (2.5.0): FetchManager.newContext",
    trials=(Trial("cache-of-fetch-sessions", ("used_session_stays",), variant="2.3.1"),),
)
POOL_IS_EMPTIED_FIRST = version_flag(
    "pool_is_emptied_first",
    "KAFKA-13772 (3.2.0): when num.replica.fetchers changes, all threads are emptied before partitions are added; "
    "since 1.1, and until then, one after another, amid which a thread could be missed",
    {"1.1.0": False, "3.2.0": True},
    before=True,
    closes="partitions are divided among the threads that there are",
    source="KAFKA-13772 (3.2.0): AbstractFetcherManager.resizeThreadPool",
    trials=(Trial("fetchers-of-another-number", ("partitions_are_divided",), variant="2.8.2"),),
)
CONNECTIONS_END_WITH_THEIR_THREAD = version_flag(
    "connections_end_with_their_thread",
    "KAFKA-7576 (2.1.1): a fetcher that ends closes its connection; since 1.1 (KAFKA-6051), and until then, "
    "another thread did, which fails while it polls",
    {"1.1.0": False, "2.1.1": True},
    before=True,
    closes="a fetcher that ends leaves no connection",
    source="KAFKA-7576 (2.1.1): ReplicaFetcherThread.initiateShutdown",
    trials=(Trial("fetchers-of-another-number", ("ended_thread_has_no_connection",), variant="2.0"),),
)
FEATURES_OUTLIVE_SESSIONS = version_flag(
    "features_outlive_sessions",
    "KAFKA-14887 (3.4.1): the thread that reads features goes on when it cannot, as the session has ended; since "
    "2.7, and until then, the broker ended",
    {"2.7.0": False, "3.4.1": True},
    before=True,
    closes="a broker outlives the end of its session",
    source="KAFKA-14887 (3.4.1): FinalizedFeatureChangeListener",
    trials=(Trial("features-amid-a-session", ("broker_outlives_its_session",), variant="2.8.2"),),
)
STOPS_LEAVE_THE_FEATURE_THREAD = version_flag(
    "stops_leave_the_feature_thread",
    "KAFKA-13544 (2.8.2, 3.0.1): a stop does not wait for the thread that reads features; since 2.7, and until "
    "then, it did, and the thread waited for the stop if it had begun it",
    {"2.7.0": False, "2.8.2": True, "3.0.0": False, "3.0.1": True},
    before=True,
    closes="a broker that is to end ends",
    source="KAFKA-13544 (2.8.2, 3.0.1): FinalizedFeatureChangeListener.close",
    trials=(Trial("features-amid-a-session", ("broker_that_exits_ends",), variant="2.7"),),
)
UNSTARTED_PROCESSORS_END = version_flag(
    "unstarted_processors_end",
    "KAFKA-4428 (0.10.2.0): a stop does not wait for processors of the network that do not run yet",
    {"0.10.2.0": True},
    closes="a broker whose port is taken ends",
    source="KAFKA-4428 (0.10.2.0): AbstractServerThread",
    trials=(Trial("start-that-fails", ("failed_start_stops",), variant="0.10.1"),),
)
QUOTAS_END_WITH_THE_SERVER = version_flag(
    "quotas_end_with_the_server",
    "KAFKA-6164 (1.0.1): a stop ends the threads of quotas; before, KafkaApis did, which a start that fails has "
    "not made",
    {"1.0.1": True},
    closes="the process of a broker ends whose start has failed",
    source="KAFKA-6164 (1.0.1): KafkaServer.shutdown",
    trials=(Trial("start-that-fails", ("stopped_server_has_no_threads",), variant="1.0"),),
)
EXPIRATION_OUTLIVES_A_RESTART = version_flag(
    "expiration_outlives_a_restart",
    "KAFKA-14990 (3.6.0): a broker that starts has producer.id.expiration.ms as it is set for all brokers; in 3.4 "
    "and 3.5, as its file has it",
    {"3.4.0": False, "3.6.0": True},
    before=True,
    closes="a dynamic configuration outlives a restart",
    source="KAFKA-14990 (3.6.0): KafkaConfig.producerIdExpirationMs",
    trials=(Trial("dynamic-producer-expiration", ("set_expiration_holds",), variant="3.4.0"),),
)
FAILED_AUTHENTICATIONS_LOOK_AGAIN = version_flag(
    "failed_authentications_look_again",
    "KAFKA-15823 (3.8.0): a broker whose request to the controller fails for its authentication looks for the "
    "controller again; since 2.7, and until then, it asked the same broker again",
    {"2.7.0": False, "3.8.0": True},
    before=True,
    closes="a leader finds a controller that has moved",
    source="KAFKA-15823 (3.8.0): NodeToControllerRequestThread.handleResponse",
    trials=(Trial("channel-to-the-controller", ("failed_sender_looks_again",), variant="3.7.0"),),
)
SENSORS_ARE_MADE_AT_THE_START = version_flag(
    "sensors_are_made_at_the_start",
    "KAFKA-14225 (3.3.2): the sensor of requests without a quota is made with its object; since 0.11, and until "
    "then, as the first of them is counted, under a lock of the object",
    {"0.11.0.0": False, "3.3.2": True},
    before=True,
    closes="a thread that counts a request and one that changes a quota end",
    source="KAFKA-14225 (3.3.2): ClientRequestQuotaManager.exemptSensor",
    trials=(Trial("quota-that-changes", ("quota_threads_end",), variant="2.8.2"),),
)
EMPTY_RESPONSES_KEEP_THE_EPOCH = version_flag(
    "empty_responses_keep_the_epoch",
    "KAFKA-15510 (3.7.0): a follower tells the epoch of its last record after a response without records, too; in "
    "3.6, none",
    {"3.6.0": False, "3.7.0": True},
    before=True,
    closes="a leader finds out at each fetch whether a log has diverged",
    source="KAFKA-15510 (3.7.0): AbstractFetcherThread.processFetchRequest",
    trials=(Trial("epochs-of-fetches", ("fetch_has_the_last_epoch",), variant="3.6.0"),),
)
MIGRATOR_CREATES_NO_CONTROLLER = version_flag(
    "migrator_creates_no_controller",
    "KAFKA-9267 (2.5.0): zookeeper-security-migration.sh leaves /controller out if it is not there; before, it "
    "created it for good",
    {"2.5.0": True},
    closes="a broker can be elected after ACLs were set",
    source="KAFKA-9267 (2.5.0): ZkSecurityMigrator.run",
    trials=(Trial("tools-and-the-controller", ("broker_can_be_elected",), variant="2.3.1"),),
)
LISTS_HAVE_REPLICAS = version_flag(
    "lists_have_replicas",
    "KAFKA-5091 (0.11.0.0): kafka-reassign-partitions.sh refuses a list without replicas",
    {"0.11.0.0": True},
    closes="a partition keeps a replica",
    source="KAFKA-5091 (0.11.0.0): ReassignPartitionsCommand.parseAndValidate",
    trials=(Trial("tools-and-the-controller", ("partition_keeps_a_replica",), variant="0.10.2"),),
)
TOOLS_CHECK_TYPES = version_flag(
    "tools_check_types",
    "KAFKA-4914 (2.0.0): kafka-reassign-partitions.sh refuses words where ids are to be",
    {"2.0.0": True},
    closes="a broker that is elected can read what is written",
    source="KAFKA-4914 (2.0.0): ReassignPartitionsCommand.parsePartitionReassignmentData",
    trials=(Trial("tools-and-the-controller", ("controller_can_read_what_is_written",), variant="1.0"),),
)
VERIFICATIONS_ARE_IN_A_KNOWN_VERSION = version_flag(
    "verifications_are_in_a_known_version",
    "KAFKA-16992 (3.7.1, 3.8.0): a leader asks for the verification of a transaction in a version that the "
    "coordinator knows; since 3.6, and until then, in its own latest one",
    {"3.6.0": False, "3.7.1": True},
    before=True,
    closes="transactional producers outlive an upgrade",
    source="KAFKA-16992 (3.8.0): NetworkUtils.buildNetworkClient",
    trials=(Trial("transactions-amid-an-upgrade", ("transaction_outlives_an_upgrade",), variant="3.7.0"),),
)
LOST_REPLICAS_END_FETCHES = version_flag(
    "lost_replicas_end_fetches",
    "KAFKA-9171 (2.4.0): a fetch that waits is answered when its replica is gone; before, that failed the request "
    "which looked at it",
    {"2.4.0": True},
    closes="a request does not fail by a fetch of a tool",
    source="KAFKA-9171 (2.4.0): DelayedFetch.tryComplete",
    trials=(Trial("fetch-to-debug-a-replica", ("request_outlives_a_fetch",), variant="2.3.1"),),
)
WAITING_FOLLOWERS_ARE_IN_SYNC = candidate(
    "waiting_followers_are_in_sync",
    "KIP-501: a follower whose fetch the leader is reading for is not taken out of the ISR",
    closes="a leader whose disk is slow is not left alone in the ISR",
    source="no release; KIP-501, KAFKA-8733",
    trials=(Trial("replica-lag-with-slow-reads", ("follower_that_waits_stays",), variant="3.9.0"),),
)
HIGH_WATERMARK_WAITS_FOR_MIN_ISR = version_flag(
    "high_watermark_waits_for_min_isr",
    "KAFKA-15583 (3.7.0): the high watermark stays while the ISR is smaller than min.insync.replicas; before, that of "
    "a leader alone was the end of its log",
    {"3.7.0": True},
    no_fix="it belongs to KIP-966; by it followers that lag join the ISR (KAFKA-19996)",
)
LAGGARDS_STAY_OUT = candidate(
    "laggards_stay_out",
    "KAFKA-19996: a follower that lags does not join an ISR that is smaller than min.insync.replicas",
    closes="a follower that joins the ISR is not taken out again at once",
    source="no release; PR-23024: Partition.isFollowerInSync",
    trials=(Trial("replica-joins-a-small-isr", ("follower_that_joins_has_caught_up",), variant="3.9.0"),),
)
ADDED_REASSIGNMENTS_ARE_NOTICED = version_flag(
    "added_reassignments_are_noticed",
    "the controller notices a partition that is added to /admin/reassign_partitions; since 1.1, that watches how the "
    "list is created, it does not",
    {"1.1.0": False},
    before=True,
    closes="a reassignment that is added to a list is done",
    source="no release since 1.1.0, whose commit 6f96d7f17 it is; KAFKA-9478",
    trials=(Trial("reassignments-added", ("added_reassignment_is_done",), variant="3.9.0"),),
)
ADDED_REASSIGNMENTS_STAY = version_flag(
    "added_reassignments_stay",
    "KIP-455 (2.4.0): the controller leaves in /admin/reassign_partitions what it does not know; before, it wrote what "
    "it knew",
    {"2.4.0": True},
    no_fix="what is added is not done in either case",
)
ISR_CHANGES_NAME_BROKER_EPOCHS = candidate(
    "isr_changes_name_broker_epochs",
    "a leader names the broker epochs of the ISR that it asks for, and the controller refuses a replica whose broker "
    "has started again since",
    closes="a replica that has lost its log does not join the ISR by what it had before",
    source="no release in ZooKeeper mode; KIP-903 (KAFKA-14139, 3.5.0) in KRaft mode",
    trials=(Trial("isr-changes-replaced-disk", ("isr_has_what_is_committed",), variant="3.9.0"),),
)
FAILED_EXPIRATIONS_END = version_flag(
    "failed_expirations_end",
    "KAFKA-7519 (2.0.1, 2.1.0): a transactional id whose tombstone cannot be replicated can be used again; before, the "
    "coordinator answered CONCURRENT_TRANSACTIONS until it moved",
    {"2.0.1": True},
    closes="a transactional id can be used unless something is appended for it",
    source="KAFKA-7519 (2.0.1, 2.1.0): TransactionStateManager.enableTransactionalIdExpiration",
    trials=(
        Trial(
            "transactional-id",
            ("transactional_id_can_be_used",),
            variant="2.0",
            flags={"clocks_may_go_back": True, "unused_ids_expire": True},
        ),
    ),
)
CLOCKS_MAY_GO_BACK = version_flag(
    "clocks_may_go_back",
    "KAFKA-8803 (2.5.0): a transaction may begin before the last one of its id, by a clock that was set back; before, "
    "its first record in __transaction_state was an error, and its transition stayed pending",
    {"2.5.0": True},
    closes="a transactional id can be used unless something is appended for it",
    source="KAFKA-8803 (2.5.0): TransactionMetadata.completeTransitionTo",
    trials=(
        Trial(
            "transactional-id",
            ("transactional_id_can_be_used",),
            variant="2.3.1",
            flags={"unused_ids_expire": True},
        ),
    ),
)
QUEUES_ARE_CREATED_ONCE = version_flag(
    "queues_are_created_once",
    "KAFKA-6131 (0.11.0.2, 1.0.0): of two threads that make the queue of a broker's markers both use the same; before, "
    "the later one replaced the other, with the markers in it",
    {"0.11.0.2": True},
    closes="a transaction that is prepared has a marker on its way",
    source="KAFKA-6131 (0.11.0.2, 1.0.0): CoreUtils.atomicGetOrUpdate",
    trials=(Trial("transactional-id", ("prepared_transaction_is_completed",), variant="0.11.0.0"),),
)
DISK_ERRORS_ARE_TRIED_AGAIN = version_flag(
    "disk_errors_are_tried_again",
    "KAFKA-9749 (2.5.0): a marker is sent again to a leader whose log directory has failed; since 1.0.0 (KIP-112), and "
    "until then, that was an unknown error, and the transaction was not completed",
    {"1.0.0": False, "2.5.0": True},
    before=True,
    closes="a transaction that is prepared has a marker on its way",
    source="KAFKA-9749 (2.5.0): TransactionMarkerRequestCompletionHandler.onComplete: KAFKA_STORAGE_ERROR",
    trials=(
        Trial(
            "transactional-id",
            ("prepared_transaction_is_completed",),
            variant="2.3.1",
            flags={"completions_are_noticed": True},
        ),
    ),
)
COMPLETIONS_ARE_NOTICED = version_flag(
    "completions_are_noticed",
    "KAFKA-9777 (2.6.0): a transaction is completed when its last marker is written; since 0.11.0.2, and until then, "
    "not while a thread that loads transactions, or forgets them, has the lock of all transactional ids",
    {"0.11.0.2": False, "2.6.0": True},
    before=True,
    closes="a transaction that is prepared has a marker on its way",
    source="KAFKA-9777 (2.6.0): TransactionMarkerChannelManager.transactionsWithPendingMarkers",
    trials=(Trial("transactional-id", ("prepared_transaction_is_completed",), variant="2.5"),),
)
UNUSED_IDS_EXPIRE = version_flag(
    "unused_ids_expire",
    "KAFKA-14880 (3.4.1, 3.5.0): a transactional id without a producer epoch, whose first record could not be "
    "replicated, expires; before, the task failed at it each time: no id of the broker expired, and those that it had "
    "looked at before could not be used until the coordinator moved",
    {"3.4.1": True},
    closes="transactional ids expire",
    source="KAFKA-14880 (3.4.1, 3.5.0): TransactionMetadata.prepareTransitionTo",
    trials=(Trial("transactional-id", ("other_ids_expire", "transactional_id_can_be_used")),),
)
TOMBSTONES_FILL_BATCHES = version_flag(
    "tombstones_fill_batches",
    "KAFKA-13099 (2.6.3, 2.7.2, 2.8.1, 3.0.0): ids expire in batches of max.message.bytes; before, in one batch, and "
    "none did while that was larger",
    {"2.6.3": True, "2.7.0": False, "2.7.2": True, "2.8.0": False, "2.8.1": True},
    closes="transactional ids expire",
    source="KAFKA-13099 (2.6.3, 2.7.2, 2.8.1, 3.0.0): TransactionStateManager.removeExpiredTransactionalIds",
    trials=(Trial("many-transactional-ids", ("other_ids_expire",), variant="2.7", flags={"unused_ids_expire": True}),),
)
LOADS_REPLACE_WHAT_IS_LEFT = version_flag(
    "loads_replace_what_is_left",
    "KAFKA-9307 (2.4.1): a coordinator loads transactions although it has some of an earlier leader epoch, and asks "
    "ZooKeeper nothing as it forgets them; since 1.1.0, whose client does not ask again in another session, and until "
    "then, it kept them where its session expired then, and loaded them again without an end",
    {"1.1.0": False, "2.4.1": True},
    before=True,
    closes="a coordinator that gets its partition back loads it",
    source="KAFKA-9307 (2.4.1, 2.5.0): TransactionStateManager.addLoadedTransactionsToCache",
    trials=(Trial("transactions-of-a-moved-coordinator", ("coordinator_ends_to_load",), variant="2.3.1"),),
)
LOADS_ASK_NO_ZOOKEEPER = candidate(
    "loads_ask_no_zookeeper",
    "a coordinator loads a partition of __transaction_state without a request to ZooKeeper; since 1.1.0 it asks for "
    "the number of partitions, and does not load where its session expires then (before, it asks again)",
    closes="a coordinator that gets its partition back loads it",
    source="no release in ZooKeeper mode; TransactionStateManager.validateTransactionTopicPartitionCountIsStable",
    trials=(Trial("transactions-loaded-amid-a-session", ("coordinator_ends_to_load",), variant="3.9.0"),),
)
MARKERS_END_THEIR_OWN_TRANSACTION = version_flag(
    "markers_end_their_own_transaction",
    "KAFKA-16352 (3.8.0): the answer to a marker of an earlier leader epoch changes nothing; before, the coordinator "
    "awaited no marker of that id any more",
    {"3.8.0": True},
    closes="a transaction that a coordinator has loaded is completed",
    source="KAFKA-16352 (3.8.0): TransactionMarkerChannelManager.removeMarkersForTxn",
    trials=(Trial("transactions-of-a-moved-coordinator", ("loaded_transaction_is_completed",)),),
)
FAILED_FENCES_COUNT_ONCE = version_flag(
    "failed_fences_count_once",
    "KAFKA-9666 (2.6.0): a producer epoch that could not be replicated is tried again; before, each attempt took the "
    "next one, up to 32,767, after which the id cannot be used",
    {"2.6.0": True},
    closes="attempts to fence a producer do not use up its epochs",
    source="KAFKA-9666 (2.6.0): TransactionMetadata.hasFailedEpochFence",
    trials=(Trial("fences-that-fail", ("epoch_rises_once",), variant="2.5"),),
)
MISSING_IDS_ARE_WAITED_FOR = version_flag(
    "missing_ids_are_waited_for",
    "KAFKA-14417 (3.3.2, 3.4.0): a producer whose broker gets no producer ids from the controller in time asks again; "
    "since 3.0.0, whose brokers ask the controller, and until then, it got REQUEST_TIMED_OUT, and ended",
    {"3.0.0": False, "3.3.2": True},
    before=True,
    closes="a producer outlives the time in which there is no controller",
    source="KAFKA-14417 (3.3.2, 3.4.0): RPCProducerIdManager.generateProducerId",
    trials=(Trial("producer-ids-from-the-controller", ("new_producer_waits_for_its_id",), variant="3.3.1"),),
)
TIMEOUTS_FENCE = version_flag(
    "timeouts_fence",
    "KAFKA-6119 (0.11.0.2, 1.0.0): a transaction that is aborted after its timeout fences its producer; before, what "
    "the producer wrote afterwards to other partitions was another transaction, which it committed",
    {"0.11.0.2": True},
    closes="a transaction that is committed has all its records",
    source="KAFKA-6119 (0.11.0.2, 1.0.0): TransactionCoordinator.abortTimedOutTransactions",
    trials=(Trial("transaction-that-times-out", ("committed_transaction_is_whole",), variant="0.11.0.0"),),
)
REFUSED_RECORDS_FAIL_TRANSACTIONS = version_flag(
    "refused_records_fail_transactions",
    "KAFKA-9279 (3.2.0): a record that send() refuses by its callback, as it is too large or as there is no room or no "
    "metadata in time, fails its transaction; before, commitTransaction committed what was left",
    {"3.2.0": True},
    closes="a transaction that is committed has all its records",
    source="KAFKA-9279 (3.2.0): KafkaProducer.doSend, TransactionManager.maybeTransitionToErrorState",
    trials=(Trial("transaction-with-a-refused-record", ("committed_transaction_has_all_records",)),),
)
INIT_CALLS_TIME_OUT = version_flag(
    "init_calls_time_out",
    "KAFKA-6446 (2.0.0): initTransactions ends after max.block.ms, and may be called again; before, it waited for its "
    "coordinator without an end",
    {"2.0.0": True},
    no_fix="how long a call waits for a coordinator that does not answer",
)
COMMITS_TIME_OUT = version_flag(
    "commits_time_out",
    "KAFKA-7763 (2.3.0): commitTransaction and abortTransaction end after max.block.ms, and may be called again",
    {"2.3.0": True},
    no_fix="how long a call waits for a coordinator that does not answer",
)
CALLS_KEEP_THEIR_RESULTS = version_flag(
    "calls_keep_their_results",
    "KAFKA-13412 (3.1.1, 3.2.0): a call that timed out, and is repeated after its request has ended, returns; before, "
    "it ended with KafkaException: Invalid transition attempted from state READY",
    {"3.1.1": True},
    closes="a call that timed out can be repeated",
    source="KAFKA-13412 (3.1.1, 3.2.0): TransactionManager.PendingStateTransition",
    trials=(Trial("call-that-is-repeated", ("repeated_call_returns",)),),
)
SEARCHES_FOR_COORDINATORS_END = version_flag(
    "searches_for_coordinators_end",
    "KAFKA-6446 (2.0.0): a transactional producer that looks for its coordinator can be closed by force",
    {"2.0.0": True},
    closes="a close that is forced ends",
    source="KAFKA-6446 (2.0.0): Sender.maybeSendTransactionalRequest: forceClose",
    trials=(
        Trial("producer-that-closes", ("forced_close_is_heeded",), variant="1.0", flags={"waits_for_ids_end": True}),
    ),
)
WAITS_FOR_IDS_END = version_flag(
    "waits_for_ids_end",
    "KAFKA-5503 (2.1.1, 2.2.0): an idempotent producer that waits for its producer id can be closed by force",
    {"2.1.1": True},
    closes="a close that is forced ends",
    source="KAFKA-5503 (2.1.1, 2.2.0): Sender.maybeWaitForProducerId",
    trials=(Trial("producer-that-closes", ("forced_close_is_heeded",), variant="2.0"),),
)
CLOSES_ABORT_TRANSACTIONS = version_flag(
    "closes_abort_transactions",
    "KAFKA-6635 (2.3.0): a producer that is closed aborts its transaction; before, that stayed open until "
    "transaction.timeout.ms, and consumers with read_committed waited",
    {"2.3.0": True},
    closes="a producer that was closed has no transaction",
    source="KAFKA-6635 (2.3.0): Sender.run",
    trials=(Trial("producer-that-closes", ("closed_producer_has_no_transaction",), variant="2.0"),),
)
ABORTS_AT_A_CLOSE_ARE_CAUGHT = version_flag(
    "aborts_at_a_close_are_caught",
    "KAFKA-14831 (3.6.0): an abort that is refused as the producer is closed does not end the sender's thread; before, "
    "it did, and left the transaction, and connections, open",
    {"3.6.0": True},
    closes="a producer that was closed has no connections",
    source="KAFKA-14831 (3.6.0): Sender.run",
    trials=(Trial("producer-that-closes", ("closed_producer_has_no_connections",), variant="3.5.2"),),
)
FAILED_ABORTS_END_A_CLOSE = version_flag(
    "failed_aborts_end_a_close",
    "KAFKA-16217 (3.7.1, 3.8.0): an abort that is refused as the producer is closed ends the close by force",
    {"3.7.1": True},
    closes="a close ends although an abort is refused",
    source="KAFKA-16217 (3.7.1, 3.8.0): Sender.run: forceClose",
    trials=(Trial("producer-that-closes", ("close_goes_on",), variant="3.7.0"),),
)
LOADS_ARE_SAID = version_flag(
    "loads_are_said",
    "8662a022c (2.0.0): the coordinator of a group answers COORDINATOR_LOAD_IN_PROGRESS while it loads it; before, "
    "NOT_COORDINATOR",
    {"2.0.0": True},
    no_fix="clients try again after either answer, but for producers without KAFKA-7296",
)
OFFSETS_WAIT_FOR_A_LOAD = version_flag(
    "offsets_wait_for_a_load",
    "KAFKA-7296 (2.0.1, 2.1.0): a transactional producer that sends offsets of a group whose coordinator loads it "
    "tries again; before, COORDINATOR_LOAD_IN_PROGRESS ended the producer, whose brokers answer that since 2.0.0",
    {"2.0.1": True},
    closes="a producer outlives a move of the group's coordinator",
    source="KAFKA-7296 (2.0.1, 2.1.0): TransactionManager.TxnOffsetCommitHandler",
    trials=(Trial("offsets-of-a-transaction-amid-a-load", ("producer_outlives_a_load",), variant="2.0"),),
)
SENDERS_POLL_WITHOUT_A_NODE = version_flag(
    "senders_poll_without_a_node",
    "KAFKA-10520 (2.7.0): a sender that finds no broker for a request, as each has one in flight, reads answers; since "
    "2.3.1 (KAFKA-8635), and until then, it did not, and found none for good",
    {"2.3.1": False, "2.7.0": True},
    before=True,
    closes="a producer reads the answers to its requests",
    source="KAFKA-10520 (2.7.0): Sender.maybeSendAndPollTransactionalRequest",
    trials=(Trial("sender-with-one-request", ("sender_reads_answers",), variant="2.5"),),
)
REQUESTS_HAVE_THE_PRESENT_TIME = version_flag(
    "requests_have_the_present_time",
    "KAFKA-8248 (2.2.1, 2.3.0): a transactional request that has waited for the end of a throttle is sent; since 2.0.0 "
    "(KIP-219), and until then, it failed, and the producer waited for its answer",
    {"2.0.0": False, "2.2.1": True},
    before=True,
    closes="a transactional producer outlives a throttle",
    source="KAFKA-8248 (2.2.1, 2.3.0): Sender.maybeSendTransactionalRequest",
    trials=(Trial("throttled-producer", ("request_outlives_a_throttle",), variant="2.0"),),
)
RENUMBERED_BATCHES_ARE_SORTED = version_flag(
    "renumbered_batches_are_sorted",
    "KAFKA-8483 (2.3.0): batches in flight of a producer that a log has forgotten get new sequence numbers in their "
    "order; since 0.11.0.2, which has several in flight, and until then, in any but for the first of three or more",
    {"0.11.0.2": False, "2.3.0": True},
    before=True,
    closes="records are appended in the order in which they were sent",
    source="KAFKA-8483 (2.3.0): TransactionManager.inflightBatchesBySequence",
    trials=(Trial("batches-that-are-renumbered", ("batches_keep_their_order",), variant="2.0"),),
)
NUMBERS_WRAP = version_flag(
    "numbers_wrap",
    "KAFKA-7693 (2.1.1, 2.2.0): a producer numbers the record after 2,147,483,647 with 0; before, with a negative "
    "number, at which it ended",
    {"2.1.1": True},
    closes="an idempotent producer writes more records to a partition than there are sequence numbers",
    source="KAFKA-7693 (2.1.1, 2.2.0): TransactionManager.incrementSequenceNumber",
    trials=(Trial("partitions-of-an-idempotent-producer", ("producer_outlives_its_numbers",), variant="2.0"),),
)
NEW_EPOCHS_BEGIN_WITH_ZERO = version_flag(
    "new_epochs_begin_with_zero",
    "KAFKA-12152 (2.7.1, 2.8.0): all partitions of an idempotent producer begin with sequence number 0 when its epoch "
    "rises; since 2.5.0 (KIP-360), and until then, those without a batch in flight did not",
    {"2.5.0": False, "2.7.1": True},
    before=True,
    closes="leaders take the first batch of an epoch",
    source="KAFKA-12152 (2.7.1, 2.8.0): TransactionManager.maybeUpdateProducerIdAndEpoch",
    trials=(Trial("partitions-of-an-idempotent-producer", ("first_batch_of_an_epoch_is_taken",), variant="2.5"),),
)

SENDS_END_BEFORE_THE_SENDER = version_flag(
    "sends_end_before_the_sender",
    "KAFKA-4235 (0.10.1.0): a close takes no more records before the sender's thread may end; before, afterwards, and "
    "a record that another thread sent between was neither sent nor given up",
    {"0.10.1.0": True},
    closes="the future of a record is done when its producer has been closed",
    source="KAFKA-4235 (0.10.1.0): Sender.initiateClose",
    trials=(Trial("send-amid-a-close", ("sent_record_is_answered",), variant="0.10.0"),),
)
SENDS_END_WITHOUT_METADATA = version_flag(
    "sends_end_without_metadata",
    "KAFKA-6897 (2.0.0): a send that waits for metadata ends as its producer is closed; before, after max.block.ms",
    {"2.0.0": True},
    closes="a send ends when its producer has been closed",
    source="KAFKA-6897 (2.0.0): Metadata.close",
    trials=(
        Trial(
            "send-amid-a-close",
            ("send_ends_with_its_producer",),
            variant="1.0",
            flags={"sends_end_without_memory": True},
        ),
    ),
)
SENDS_END_WITHOUT_MEMORY = version_flag(
    "sends_end_without_memory",
    "KAFKA-9449 (2.4.1, 2.5.0): a send that waits for memory ends as its producer is closed; before, after "
    "max.block.ms",
    {"2.4.1": True},
    closes="a send ends when its producer has been closed",
    source="KAFKA-9449 (2.4.1, 2.5.0): BufferPool.close",
    trials=(Trial("send-amid-a-close", ("send_ends_with_its_producer",), variant="2.3.1"),),
)
HEADERS_OUTLIVE_SPLITS = version_flag(
    "headers_outlive_splits",
    "KAFKA-5700 (0.11.0.1): records of a batch that is split, as it was too large, keep their headers; in 0.11.0.0, "
    "which has the first headers, they lost them",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
    closes="records have the headers with which they were sent",
    source="KAFKA-5700 (0.11.0.1): ProducerBatch.tryAppendForSplit",
    trials=(Trial("batch-that-is-split", ("split_records_keep_their_headers",), variant="0.11.0.0"),),
)
GETS_KEEP_THEIR_UNIT = version_flag(
    "gets_keep_their_unit",
    "KAFKA-7518 (2.1.1, 2.2.0): a get with a timeout waits for a record whose batch was split; since 0.11.0.0 "
    "(KIP-126), and until then, a timeout of seconds was taken for one of as many milliseconds",
    {"0.11.0.0": False, "2.1.1": True},
    before=True,
    closes="a get on the future of a record waits for its timeout",
    source="KAFKA-7518 (2.1.1, 2.2.0): FutureRecordMetadata.get",
    trials=(Trial("batch-that-is-split", ("get_waits_its_time",), variant="2.0"),),
)
DRAIN_INDEX = version_flag(
    "drain_index",
    "KAFKA-13834 (3.3.0): at which partition of a broker a producer begins to fill a request: after the one that was "
    "sent last; before, all brokers had one index, and since 2.1.0 it went past a partition whose batch did not fit",
    {"2.1.0": "moved first", "3.3.0": "of each broker"},
    before="shared",
    closes="batches of each partition of a broker have their turn",
    source="KAFKA-13834 (3.3.0): RecordAccumulator.drainBatchesForOneNode: nodesDrainIndex",
    trials=(
        Trial("partitions-of-one-request", ("partition_has_its_turn",)),
        Trial("partitions-of-one-request", ("partition_has_its_turn",), variant="2.0"),
    ),
)
ERRORS_OF_FETCHES_ARE_RAISED = version_flag(
    "errors_of_fetches_are_raised",
    "KAFKA-3977 (0.10.0.1): a poll throws what a record that cannot be read throws; in 0.10.0.0 that was an entry of "
    "the log, and the records of the fetch were fetched again and again",
    {"0.10.0.1": True},
    closes="a consumer that cannot read a record says so",
    source="KAFKA-3977 (0.10.0.1): Fetcher.fetchedRecords: parseFetchedData",
    trials=(Trial("poll-at-an-unreadable-record", ("unreadable_record_is_told",), variant="0.10.0.0"),),
)
ERRORS_WAIT_FOR_RECORDS = version_flag(
    "errors_wait_for_records",
    "KAFKA-5075 (0.10.2.1, 0.11.0.0): a poll that fails at one partition returns the records of those before it, and "
    "the next one throws; since 0.10.0.1, and until then, these records were lost, and the position was after them",
    {"0.10.0.1": False, "0.10.2.1": True},
    before=True,
    closes="a consumer skips no records as another partition cannot be read",
    source="KAFKA-5075 (0.10.2.1, 0.11.0.0): Fetcher.fetchedRecords: nextInLineExceptionMetadata",
    trials=(Trial("poll-at-an-unreadable-record", ("no_record_is_skipped",), variant="0.10.1"),),
)
RECORDS_ARE_READ_ONE_BY_ONE = version_flag(
    "records_are_read_one_by_one",
    "a0b8e435c (0.11.0.0): a poll reads records as it returns them; before, all of a fetch before it returns one",
    {"0.11.0.0": True},
    no_fix="how much memory a fetch takes",
)
FAILED_RECORDS_ARE_READ_ONCE = version_flag(
    "failed_records_are_read_once",
    "KAFKA-5630 (0.11.0.1): a poll goes on after a record that could be read at last; in 0.11.0.0 it returned that "
    "again and again",
    {"0.11.0.0": False, "0.11.0.1": True},
    before=True,
    closes="a poll returns a record once",
    source="KAFKA-5630 (0.11.0.1): PartitionRecords.fetchRecords: cachedRecordException",
    trials=(Trial("poll-at-an-unreadable-record", ("record_is_returned_once",), variant="0.11.0.0"),),
)
RESETS_ARE_CHECKED_AT_ONCE = version_flag(
    "resets_are_checked_at_once",
    "KAFKA-7703 (2.3.0): the thread that has the answer to a reset of a position looks whether that is asked for as it "
    "sets the position; since 1.1.0 (KAFKA-6397), and until then, before that",
    {"1.1.0": False, "2.3.0": True},
    before=True,
    closes="a consumer reads on where it was told to last",
    source="KAFKA-7703 (2.3.0): SubscriptionState.maybeSeek",
    trials=(Trial("seek-amid-a-reset", ("position_is_where_it_was_sought",), variant="2.0"),),
)
PAUSED_POSITIONS_ARE_KEPT = version_flag(
    "paused_positions_are_kept",
    "KAFKA-4547 (0.10.2.0): position leaves a paused partition where seekToBeginning or seekToEnd put it; since 0.10.1 "
    "(KAFKA-4034), and until then, it was put to the committed offset if another partition had no position",
    {"0.10.1.0": False, "0.10.2.0": True},
    before=True,
    closes="a paused partition is read from where it was put",
    source="KAFKA-4547 (0.10.2.0): Fetcher.updateFetchPositions: hasValidPosition",
    trials=(Trial("position-of-a-paused-partition", ("paused_position_is_kept",), variant="0.10.1"),),
)
FETCHES_ARE_NOTED_FIRST = version_flag(
    "fetches_are_noted_first",
    "KAFKA-8950 (2.3.1, 2.4.0): a consumer notes that it fetches from a broker before the fetch may fail; in 2.3.0 "
    "(KAFKA-8052) afterwards, and it waited for the answer to a fetch that had failed meanwhile",
    {"2.3.0": False, "2.3.1": True},
    before=True,
    closes="a consumer goes on to fetch from a broker whose connection was lost",
    source="KAFKA-8950 (2.3.1, 2.4.0): Fetcher.sendFetches: nodesWithPendingFetchRequests",
    trials=(Trial("fetch-of-a-lost-connection", ("fetch_is_sent_again",), variant="2.3.0"),),
)
POLLS_WAIT_FOR_NO_POSITION = version_flag(
    "polls_wait_for_no_position",
    "KAFKA-6397 (1.1.0): a poll returns records while the position of another partition cannot be found; before, it "
    "waited for that without an end",
    {"1.1.0": True},
    closes="a consumer reads the partitions that have a leader",
    source="KAFKA-6397 (1.1.0): Fetcher.resetOffsetsIfNeeded",
    trials=(Trial("poll-without-a-leader", ("poll_reads_what_it_can",), variant="1.0"),),
)
OFFLINE_PARTITIONS_ARE_TOLD = version_flag(
    "offline_partitions_are_told",
    "KAFKA-6648 (2.0.1, 2.1.0): partitionsFor returns all partitions; before, those with a leader",
    {"2.0.1": True},
    closes="an application that assigns itself all partitions of a topic leaves none out",
    source="KAFKA-6648 (2.0.1, 2.1.0): Fetcher.getTopicMetadata",
    trials=(Trial("poll-without-a-leader", ("all_partitions_are_told",), variant="2.0"),),
)
LOOKUPS_FOLLOW_LEADERS = version_flag(
    "lookups_follow_leaders",
    "KAFKA-9159, KAFKA-9535 (2.4.1, 2.5.0): a consumer whose request for offsets a former leader refuses gets metadata "
    "anew; since 1.1.0, and until then, it asked that broker again, and the call ended with TimeoutException",
    {"1.1.0": False, "2.4.1": True},
    before=True,
    closes="endOffsets, beginningOffsets and offsetsForTimes find a new leader",
    source="KAFKA-9159 (2.5.0), KAFKA-9535 (2.4.1, 2.5.0): Fetcher.fetchOffsetsByTimes",
    trials=(Trial("offsets-of-a-new-leader", ("call_finds_the_leader",), variant="2.3.1"),),
)

CLIENTS_IGNORE_EARLIER_EPOCHS = version_flag(
    "clients_ignore_earlier_epochs",
    "KAFKA-7738 (2.2.0): a client takes no answer about a partition's leader with an earlier leader epoch than it has "
    "seen; from 2.4 (KAFKA-9212) on only if the broker is of 2.4 or later",
    {"2.2.0": True},
    no_fix="answers of brokers that are behind are ignored: what it is for is not modelled",
)
NEW_IDS_RESET_EPOCHS = version_flag(
    "new_ids_reset_epochs",
    "KAFKA-12257 (2.8.2, 3.0.0): a client takes what it is told of a topic with another id than it had; before, a "
    "topic that was created again had to reach the leader epoch that was seen of the earlier one",
    {"2.8.2": True},
    closes="a client learns who leads a topic that was created again",
    source="KAFKA-12257 (2.8.2, 3.0.0): Metadata.updateLatestMetadata",
    trials=(Trial("client-of-a-recreated-topic", ("client_knows_the_leader",), variant="2.7"),),
)
NEW_IDS_RESET_EPOCHS_AFTER_NONE = version_flag(
    "new_ids_reset_epochs_after_none",
    "KAFKA-13488 (2.8.2, 3.0.1): the same, also if the client has asked while there was no such topic, and has no "
    "topic id of it",
    {"2.8.2": True, "3.0.0": False, "3.0.1": True},
    closes="a client that has noticed a deletion learns who leads the topic that is created again",
    source="KAFKA-13488 (2.8.2, 3.0.1): Metadata.updateLatestMetadata",
    trials=(Trial("client-of-a-recreated-topic", ("client_knows_the_leader",), variant="3.0.0"),),
)
VARIANTS = {release: FLAGS.variant_of(release) for release in RELEASES}
BUFFER_VARIANTS = VARIANTS | {"3.6.0": FLAGS.variant_of("3.6.0")}
"""With the release whose appends use the buffers of other threads (KAFKA-15653)."""
METADATA_VARIANTS = {r: FLAGS.variant_of(r) for r in ("3.9.0", "2.8.2", "2.0", "2.3.1", "2.5", "2.7", "3.0.0", "3.7.0")}
"""Those of what clients know of leaders: of 3.0.0, too, which has one half of a repair."""
STOP_VARIANTS = VARIANTS | {"3.0.0": FLAGS.variant_of("3.0.0")}
"""With the release that closes its logs before its scheduler ends (KAFKA-13315)."""
FETCHER_VARIANTS = VARIANTS | {"2.1.1": FLAGS.variant_of("2.1.1")}
"""With the release whose fetchers end at a removal (KAFKA-8012)."""
FOLLOWER_FETCH_VARIANTS = {release: VARIANTS[release] for release in ("2.8.2", "2.5", "2.7", "3.7.0", "3.9.0")}
"""Those whose consumers fetch from followers (KIP-392, 2.4.0)."""
PRODUCER_ID_VARIANTS = VARIANTS | {"3.3.1": FLAGS.variant_of("3.3.1")}
"""With the last release whose producers end where there are no ids (KAFKA-14417)."""
LOCK_VARIANTS = VARIANTS | {release: FLAGS.variant_of(release) for release in ("2.1.0", "2.2.0")}
"""With releases on both sides of the change of how fetches are answered (KAFKA-7697)."""
EXPIRATION_VARIANTS = {release: FLAGS.variant_of(release) for release in ("3.9.0", "3.7.0", "3.4.0")}
"""Those in which producer.id.expiration.ms may be changed while a broker runs (KIP-854)."""
EPOCH_VARIANTS = VARIANTS | {"3.6.0": FLAGS.variant_of("3.6.0")}
"""With the release whose followers forget an epoch (KAFKA-15510)."""
ANSWER_VARIANTS = VARIANTS | {"2.1.0": FLAGS.variant_of("2.1.0")}
"""With the release that confuses a missing log with a compression (KAFKA-7935)."""
KRAFT_VARIANTS = {release: FLAGS.variant_of(release) for release in ("3.9.0", "3.7.0", "3.6.0")}
"""Those whose brokers run in KRaft mode; with several log directories since 3.7.0 (KIP-858)."""
MIGRATING_VARIANTS = {
    release: FLAGS.variant_of(release) | variant_of(release) for release in ("3.9.0", "3.6.1", "3.5.2")
}
"""Those of brokers in ZooKeeper mode that migrate to KRaft."""
