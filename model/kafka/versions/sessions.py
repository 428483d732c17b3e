"""What releases and fixes change about controllers and brokers whose session, registration or election has ended."""

from __future__ import annotations

from kwalk.model.kafka.releases import ReleaseFlags
from kwalk.model.language import Trial

FLAGS = ReleaseFlags()
version_flag, grain_flag, fix = FLAGS.version_flag, FLAGS.grain_flag, FLAGS.fix
FIXES = FLAGS.fixes

SPLIT = ("context_agrees", "partition_servable", "replicas_converge")
"""Violated once two controllers have written."""
ISR_CHANGES_ANY_TIME = {"isr_changes": "any time"}

SENDERS_END_FIRST = version_flag(
    "senders_end_first",
    "KAFKA-4959 (0.10.2.1): a controller that resigns ends the threads that send requests before it closes their "
    "connections; before, afterwards",
    {"0.10.2.1": True},
    closes="a broker that was controller can be elected again",
    source="KAFKA-4959 (0.10.2.1): ControllerChannelManager.removeExistingBroker",
    trials=(Trial("resignation-amid-a-request", ("controller_can_be_elected_again",)),),
)
ZK_FENCING = version_flag(
    "zk_fencing",
    "KAFKA-6082 (2.1): a controller's write succeeds only under the controller epoch that it was elected with; before, "
    "a controller that was deposed and does not know it yet still writes",
    {"2.1.0": True},
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
)
SESSION_BOUND = version_flag(
    "session_bound",
    "KAFKA-5642 (1.1.0): a controller whose ZooKeeper session has expired fails in whatever it still begins; before, "
    "its client repeated over the next session what the expired one had refused",
    {"1.1.0": True},
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
)
BROKER_EPOCH = version_flag(
    "broker_epoch",
    "KIP-380, KAFKA-7235 (2.2): each registration of a broker has an epoch of its own, so that controllers notice a "
    "bounce and brokers refuse requests for an earlier process; before, only broker ids were compared",
    {"2.2.0": True},
    closes="a controller notices a bounce, and a broker refuses requests for an earlier process",
    source="KIP-380, KAFKA-7235 (2.2)",
    trials=(Trial("fast-bounce", ("replicas_converge",)),),
)
AUTH_REINIT_GUARD = version_flag(
    "auth_reinit_guard",
    "KAFKA-13461 (3.0.1): a ZooKeeper client that fails to authenticate while its session lives does nothing; since "
    "KAFKA-7987 (2.8.0) it went through the motions of a session's expiry, and before 2.8 it did nothing either",
    {"2.8.0": False, "3.0.1": True},
    before=True,
    closes="a controller whose ZooKeeper client fails to authenticate, while its session lives, stays controller",
    source="KAFKA-13461 (3.0.1): ZooKeeperClientWatcher.process schedules reinitialize only if not isAlive",
    trials=(
        Trial("authentication-failure", ("controller_serves",)),
        Trial("authentication-failure", ("context_agrees",), about="the consequence when a topic is created"),
    ),
)
ALTER_ISR = version_flag(
    "alter_isr",
    "KIP-497 (2.7.0): a leader asks the controller to change the ISR; before, it writes the state znode itself, under "
    "the version that it knows, and no controller is needed",
    {"2.7.0": True},
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
)
LIVE_ISR_ONLY = version_flag(
    "live_isr_only",
    "KIP-841 (3.3): the controller refuses an ISR with a broker that it does not take for live",
    {"3.3": True},
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
)
FAILOVER_TAKES_REPLICAS_OFFLINE = version_flag(
    "failover_takes_replicas_offline",
    "KAFKA-3143 (2.3.0): a controller that fails over takes the replicas on dead brokers out of the ISR and out of "
    "leadership; before, only those of brokers that it loses itself",
    {"2.3.0": True},
    closes="a broker that is lost while there is no controller leaves the ISR",
    source="KAFKA-3143 (2.3.0): ReplicaStateMachine.startup: Triggering offline replica state changes",
    trials=(
        Trial(
            "healthy-cluster",
            ("ready_controller_takes_lost_brokers_out",),
            bounds={"partitions": 1, "new_expansions": 0},
        ),
    ),
)
INFORMS_STOPPING_LEADERS = version_flag(
    "informs_stopping_leaders",
    "KAFKA-7482 (2.1.0): a broker that is shut down gets LeaderAndIsr for the partitions whose leader the controller "
    "moves; before, it led them in its own memory until it stopped",
    {"2.1.0": True},
    closes="a leader that is replaced is informed",
    source="KAFKA-7482 (2.1.0): PartitionStateMachine.leaderForControlledShutdown: includeShuttingDownBrokers",
    trials=(Trial("controlled-shutdown", ("replaced_leader_is_sent_leader_and_isr",)),),
)
RECREATES_EPHEMERALS = version_flag(
    "recreates_ephemerals",
    "KAFKA-7165 (2.2.0): a broker that finds its znode in /brokers/ids, of an earlier session of its own, deletes it "
    "and registers; before, it gave up",
    {"2.2.0": True},
    closes="a broker registers again though ZooKeeper has not yet deleted its earlier znode",
    source="KAFKA-7165 (2.2.0): KafkaZkClient.CheckedEphemeral: shouldReCreateEphemeralZNode",
    trials=(Trial("late-ephemeral-znode", ("running_broker_is_registered",)),),
)
WAITS_FOR_UNKNOWN_ZNODES = FLAGS.candidate(
    "waits_for_unknown_znodes",
    "KAFKA-14845: a broker that finds its znode in /brokers/ids, of a session that it does not know, waits until "
    "ZooKeeper has deleted it",
    closes="a broker registers again whose session ended before it knew that it was registered",
    source="no release; KAFKA-14845",
    trials=(Trial("late-znode-of-an-unknown-session", ("running_broker_is_registered",), variant="3.9.0"),),
)
TRIES_SESSIONS_AGAIN = version_flag(
    "tries_sessions_again",
    "KAFKA-5473 (1.1.0): a broker that cannot make a session, as ZooKeeper's name has no address, tries until it can; "
    "before, it tried once",
    {"1.1.0": True},
    closes="a broker that lost its session while ZooKeeper's name had no address registers again",
    source="KAFKA-5473 (1.1.0): ZooKeeperClient.reinitialize, before KafkaHealthcheck.handleSessionEstablishmentError",
    trials=(Trial("session-that-cannot-be-made", ("running_broker_is_registered",)),),
)
REPLACES_FAILED_CLIENTS = version_flag(
    "replaces_failed_clients",
    "KAFKA-7987 (2.8.0): a broker whose ZooKeeper client has failed to authenticate makes another client; before, it "
    "ran on without one",
    {"2.8.0": True},
    closes="a broker whose ZooKeeper client failed to authenticate once registers again",
    source="KAFKA-7987 (2.8.0): ZooKeeperClientWatcher.process: scheduleReinitialize",
    trials=(Trial("session-that-cannot-be-made", ("running_broker_is_registered",)),),
)
FAILOVER_SENDS_METADATA_FIRST = version_flag(
    "failover_sends_metadata_first",
    "KAFKA-4443 (0.10.2.0): a controller that fails over tells brokers which brokers are live before it sends "
    "LeaderAndIsr; before, afterwards",
    {"0.10.2.0": True},
    closes="a broker that starts during a failover follows its leaders",
    source="KAFKA-4443 (0.10.2.0): KafkaController.onControllerFailover: sendUpdateMetadataRequest",
    trials=(Trial("live-brokers-in-metadata", ("replicas_converge",), variant="2.5.0"),),
)
INFORMS_OF_ALL_LOST_BROKERS = version_flag(
    "informs_of_all_lost_brokers",
    "KAFKA-13225 (3.1.0): a controller that loses a broker tells the others, whatever partitions are without a leader; "
    "before, it did not if there were such partitions and nothing changed",
    {"3.1.0": True},
    closes="brokers know that another one is gone which had no replicas",
    source="KAFKA-13225 (3.1.0): KafkaController.onReplicasBecomeOffline: newOfflineReplicasNotForDeletion.isEmpty",
    trials=(Trial("brokers-lost-in-succession", ("metadata_has_the_live_brokers",), variant="3.0"),),
)
SHUTDOWN_PREFERS_THE_FIRST_REPLICA = version_flag(
    "shutdown_prefers_the_first_replica",
    "KAFKA-3670 (0.10.0.0): when a leader is shut down, the first of the partition's replicas in the ISR leads; "
    "before, the first of the ISR, which has another order",
    {"0.10.0.0": True},
    closes="a preferred replica in the ISR leads when the leader is shut down",
    source="KAFKA-3670 (0.10.0.0): ControlledShutdownLeaderSelector",
    trials=(Trial("leaders-shut-down-in-succession", ("next_leader_is_the_first_replica",)),),
)
RESIGNS_WITHOUT_LOCK = version_flag(
    "resigns_without_lock",
    "KAFKA-4360 (0.10.2.0): a controller whose session has ended waits for its rebalancing task without the lock that "
    "the task takes",
    {"0.10.2.0": True},
    closes="a controller whose session ends resigns, although it moves leaders at that moment",
    source="KAFKA-4360 (0.10.2.0): KafkaController.SessionExpirationListener.handleNewSession",
    trials=(Trial("sessions-of-an-old-controller", ("resignation_ends",)),),
)
KEEPS_ITS_OFFICE = version_flag(
    "keeps_its_office",
    "KAFKA-4229 (0.10.2.0): a broker that is told of a new session does not resign if it has been elected in it",
    {"0.10.2.0": True},
    closes="a broker that is elected between two ends of its session acts as controller",
    source="KAFKA-4229 (0.10.2.0): KafkaController.SessionExpirationListener.handleNewSession",
    trials=(Trial("sessions-of-an-old-controller", ("elected_controller_acts",)),),
)
LISTENERS_ASK_FOR_THE_OFFICE = version_flag(
    "listeners_ask_for_the_office",
    "KAFKA-4447 (0.10.2.0): listeners do nothing on a broker that has resigned since they were to be called",
    {"0.10.2.0": True},
    closes="a broker that has resigned as controller handles no changes of znodes",
    source="KAFKA-4447 (0.10.2.0): ControllerZkChildListener, ControllerZkDataListener",
    trials=(Trial("sessions-of-an-old-controller", ("former_controller_writes_nothing",)),),
)
EXPIRES_WITHOUT_LOCK = version_flag(
    "expires_without_lock",
    "KAFKA-6879 (1.1.1): a client of ZooKeeper whose session has ended waits for the controller without the lock that "
    "the requests of the controller need; in 1.1.0, which brought that client, with it",
    {"1.1.0": False, "1.1.1": True},
    before=True,
    closes="a broker whose session ends while the controller sends a request gets another session",
    source="KAFKA-6879 (1.1.1): ZooKeeperClient.reinitialize, KafkaController.Expire",
    trials=(Trial("end-of-a-session-amid-an-event", ("ended_session_is_replaced",)),),
)
ANSWERS_DROPPED_REQUESTS = version_flag(
    "answers_dropped_requests",
    "KAFKA-10193 (2.7.0): a controller whose session has ended answers requests about reassignments that it drops",
    {"2.7.0": True},
    closes="clients that ask a controller about reassignments, as its session ends, get an answer",
    source="KAFKA-10193 (2.7.0): ControllerEvent.preempt",
    trials=(Trial("end-of-a-session-amid-an-event", ("client_of_the_controller_is_answered",), variant="2.5.0"),),
)
SKIPS_LOGS_IT_CANNOT_CREATE = version_flag(
    "skips_logs_it_cannot_create",
    "KAFKA-9769 (2.7.0): a broker that cannot read ZooKeeper, and so cannot create a log, leaves out that partition of "
    "a LeaderAndIsr request; before, the request ended there, and followers had their leader epochs, and no fetchers",
    {"2.7.0": True},
    closes="a follower fetches whose request was handled as its broker's session ended",
    source="KAFKA-9769 (2.7.0): Partition.makeLeader, makeFollower: ZooKeeperClientException",
    trials=(Trial("session-that-ends-amid-a-request", ("replicas_converge",)),),
)
ACCEPTS_NEWER_BROKER_EPOCHS = version_flag(
    "accepts_newer_broker_epochs",
    "KAFKA-9839 (2.5.1): a broker handles requests with a later broker epoch than it knows, as a controller may notice "
    "its registration first; before, it failed to",
    {"2.5.1": True},
    closes="a broker that registers in a new session handles what the controller sends it at once",
    source="KAFKA-9839 (2.5.1): KafkaApis.isBrokerEpochStale",
    trials=(Trial("session-with-a-late-epoch", ("replicas_converge",)),),
)
OPENS_PORTS_LATE = grain_flag(
    "opens_ports_late",
    "brokers of 3.5.0 to 3.6.1, or of 3.7.0, which open the ports of their listeners once they are registered",
)
fix(
    OPENS_PORTS_LATE,
    name="listeners_are_awaited",
    off=True,
    on=False,
    closes="no broker is registered that accepts no connections",
    source="KAFKA-16369 (3.6.2, 3.7.1): KafkaServer.startup: enableRequestProcessingFuture",
    trials=(
        Trial(
            "broker-without-a-listener",
            ("partition_servable",),
            variant="3.9.0",
        ),
    ),
)
