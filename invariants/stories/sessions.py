"""Stories about sessions and bounces: deposed controllers that do not notice, and brokers that restart quickly."""

from __future__ import annotations

from kwalk.invariants import partitions, session_threads, sessions, unclean_elections, witnesses
from kwalk.invariants import request_sender as senders
from kwalk.invariants.stories.expansion import EVERYWHERE
from kwalk.model.kafka import actions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.broker import replica_manager
from kwalk.model.kafka.clients import admin_clients, faults, operator
from kwalk.model.kafka.controller import preferred_election, request_sender
from kwalk.model.kafka.controller import session_threads as threads
from kwalk.model.kafka.controller import unclean_elections as elections
from kwalk.model.kafka.initial_states import cluster_with_topic
from kwalk.model.kafka.versions import VARIANTS
from kwalk.model.kafka.zookeeper import sessions as session_steps
from kwalk.model.language import Scenario, actions_of

SESSIONS = (
    *EVERYWHERE,
    sessions.one_effective_controller,
    sessions.controller_serves,
    sessions.replica_leader_epoch_monotone,
    sessions.watch_covered,
    sessions.topic_watch_covered,
)
WATCHES = (sessions.fired_watch_is_pending, sessions.fired_topic_watch_is_pending)

ZOMBIE_CONTROLLER = RUNNING_CLUSTER.varied(
    name="zombie-controller",
    story=(
        "The controller's ZooKeeper session expires while its process runs: it does not know that another broker "
        "was elected, and continues while a client adds partitions."
    ),
    actions=(*RUNNING_CLUSTER.actions, *actions.SESSIONS),
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.broker_registers_again),
    bounds={
        "brokers": 2,
        "topic_ids": 2,
        "requests": 5,
        "new_creations": 1,
        "new_expansions": 1,
        "expirations": 1,
    },
    flags={"sessions": True},
    source="KAFKA-6082",
)
LATE_EPHEMERAL_ZNODE = ZOMBIE_CONTROLLER.varied(
    name="late-ephemeral-znode",
    story=(
        "A broker's ZooKeeper session expires while its process runs, and its znode in /brokers/ids is still there "
        "when it registers in its next session."
    ),
    actions=(
        *RUNNING_CLUSTER.actions,
        session_steps.expire_session_before_its_znodes,
        session_steps.remove_late_znodes,
        session_steps.notice_expiry,
        session_steps.register_broker_and_reelect,
    ),
    properties=(
        sessions.running_broker_is_registered,
        partitions.partition_servable,
        partitions.replicas_converge,
        sessions.ready_controller_has_live_brokers,
        sessions.broker_registers_again,
    ),
    bounds={"new_expansions": 0, "partitions": 1, "late_znodes": 1},
    source="KAFKA-7165, ZOOKEEPER-2985",
)
LATE_ZNODE_OF_AN_UNKNOWN_SESSION = LATE_EPHEMERAL_ZNODE.varied(
    name="late-znode-of-an-unknown-session",
    story="As before; the next session ends, too, before the broker learns that it has registered in it.",
    actions=(*LATE_EPHEMERAL_ZNODE.actions, session_steps.expire_session_amid_a_registration),
    bounds={"lost_registrations": 1, "restarts": 0, "failovers": 0},
    source="KafkaZkClient.CheckedEphemeral; KAFKA-14845",
)
SESSION_THAT_CANNOT_BE_MADE = LATE_EPHEMERAL_ZNODE.varied(
    name="session-that-cannot-be-made",
    story=(
        "A broker's ZooKeeper session expires while its process runs; when it connects again, ZooKeeper's name has no "
        "address for a while, or the client fails to authenticate once."
    ),
    actions=(
        *ZOMBIE_CONTROLLER.actions,
        session_steps.fail_to_resolve_name,
        session_steps.fail_to_authenticate,
    ),
    properties=(*LATE_EPHEMERAL_ZNODE.properties, sessions.cluster_has_a_controller),
    bounds={"late_znodes": 0, "session_failures": 1},
    source="KAFKA-5473, KAFKA-7987",
)
SESSION_WITH_A_LATE_EPOCH = ZOMBIE_CONTROLLER.varied(
    name="session-with-a-late-epoch",
    story=(
        "A broker's ZooKeeper session expires while its process runs; it registers again, and a controller may notice "
        "that before the broker knows its new broker epoch."
    ),
    actions=(*ZOMBIE_CONTROLLER.actions, session_steps.learn_broker_epoch),
    properties=(
        *SESSIONS,
        partitions.metadata_converges,
        sessions.running_broker_is_registered,
        sessions.broker_registers_again,
    ),
    bounds={"partitions": 1, "new_expansions": 0, "restarts": 0, "requests": 8},
    flags={"late_broker_epochs": True, "metadata_caches": True, "stop_replica": True},
    source="KAFKA-9839",
)
SESSION_THAT_ENDS_AMID_A_REQUEST = RUNNING_CLUSTER.varied(
    name="session-that-ends-amid-a-request",
    story=(
        "A broker starts that missed the creation of a partition, and its ZooKeeper session expires while it handles "
        "the first LeaderAndIsr request: it cannot create the new log."
    ),
    initial=cluster_with_topic,
    actions=(
        admin_clients.new_client_adds_partitions,
        faults.crash,
        *actions.CONTROLLER,
        *actions.BROKER,
        session_steps.expire_session_amid_request,
        session_steps.notice_expiry,
        session_steps.register_broker_and_reelect,
    ),
    properties=(
        partitions.replicas_converge,
        partitions.partition_servable,
        sessions.running_broker_is_registered,
        sessions.broker_registers_again,
    ),
    bounds={"brokers": 2, "topic_ids": 2, "requests": 5, "new_expansions": 1, "restarts": 1, "expirations": 1},
    flags={"sessions": True, "stepwise_shutdown": True, "stop_replica": True, "isr_changes": "between requests"},
    source="KAFKA-9769",
)
FAILOVER_DURING_EXPANSION = ZOMBIE_CONTROLLER.varied(
    name="failover-during-expansion",
    story="/controller is deleted while a client adds partitions: the old controller notices when it writes.",
    properties=(*SESSIONS, *WATCHES, sessions.deposed_controller_is_unaware, sessions.deposed_controller_writes),
    bounds={"requests": 3, "expirations": 0, "failovers": 1},
)
AUTHENTICATION_FAILURE = RUNNING_CLUSTER.varied(
    name="authentication-failure",
    story="The controller's ZooKeeper client fails to authenticate while its session lives; a client creates a topic.",
    actions=ZOMBIE_CONTROLLER.actions,
    properties=(*SESSIONS, WATCHES[0], sessions.topic_serves_after_a_failed_authentication),
    bounds={"topic_ids": 2, "new_creations": 1, "auth_failures": 1},
    flags={"sessions": True},
    source="KAFKA-13461, KAFKA-13407",
)
FAST_BOUNCE = RUNNING_CLUSTER.varied(
    name="fast-bounce",
    story="A broker crashes, and its next process has registered before the controller looks at /brokers/ids.",
    properties=(*SESSIONS, WATCHES[0], sessions.broker_is_bounced),
    bounds={"topic_ids": 2, "new_creations": 1, "restarts": 1, "requests": 4},
    source="KIP-380, KAFKA-7235",
)
CONTROLLER_COMES_BACK = RUNNING_CLUSTER.varied(
    name="controller-comes-back",
    story=(
        "A broker crashes, and another controller is elected before the first one has handled that; later the first "
        "one is elected again, and the broker starts."
    ),
    initial=cluster_with_topic,
    properties=(*EVERYWHERE, sessions.cluster_has_a_controller, sessions.watch_covered),
    bounds={"brokers": 2, "partitions": 1, "topic_ids": 2, "failovers": 1, "restarts": 2, "requests": 6},
    flags={"unsent_batch": True},
    source="KAFKA-12315; ZkReplicaStateMachine.handleStateChanges",
)
REQUESTED_ELECTIONS = RUNNING_CLUSTER.varied(
    name="requested-elections",
    story=(
        "A broker crashes for good; an old client adds a partition whose only replica is to be there, and asks for its "
        "preferred leader through ZooKeeper; the controller may move."
    ),
    initial=cluster_with_topic,
    actions=(
        admin_clients.old_client_adds_partitions,
        admin_clients.old_client_requests_election,
        operator.delete_controller,
        faults.crash,
        *actions.CONTROLLER,
        preferred_election.replica_leader_election,
        replica_manager.handle_leader_and_isr,
    ),
    properties=(
        sessions.preferred_election_request_ends,
        sessions.controller_does_not_give_up,
        witnesses.expansion_is_registered,
        sessions.election_is_requested,
        sessions.requested_election_is_over,
    ),
    bounds={
        "brokers": 2,
        "replication_factor": 1,
        "expansions": 1,
        "election_requests": 1,
        "failovers": 1,
        "restarts": 1,
        "events": 7,
    },
    flags={"reassignment": True, "isr_changes": "never"},
    source="KafkaController.fetchPendingPreferredReplicaElections; PreferredReplicaLeaderElectionCommand",
)
SESSIONS_OF_AN_OLD_CONTROLLER = Scenario(
    name="sessions-of-an-old-controller",
    story="Sessions of the controller end as it moves leaders, and as listeners are to be called.",
    state=threads.ElectedBroker,
    actions=threads.OF_ZKCLIENT,
    properties=(
        session_threads.elected_controller_acts,
        session_threads.resignation_ends,
        session_threads.former_controller_writes_nothing,
        session_threads.broker_acts_once_it_is_elected,
        session_threads.task_goes_in_order,
        session_threads.task_ends_with_the_office,
        session_threads.listeners_are_called_in_turn,
        session_threads.session_ends_are_counted,
    ),
    bounds={"events": 3, "ended_sessions": 2},
    variants=VARIANTS,
    source="KafkaController, ZookeeperLeaderElector; KAFKA-4229, KAFKA-4360, KAFKA-4447",
)
RESIGNATION_AMID_A_REQUEST = Scenario(
    name="resignation-amid-a-request",
    story="A controller resigns while a request of it is sent, and is elected again.",
    state=request_sender.RequestSender,
    actions=actions_of(request_sender),
    properties=(
        senders.controller_can_be_elected_again,
        senders.connection_is_used_by_a_controller,
        senders.controller_changes_as_it_is_elected,
        senders.controller_is_elected_again,
    ),
    bounds={},
    variants=VARIANTS,
    source="ControllerChannelManager.removeExistingBroker; KAFKA-4959",
)
UNCLEAN_ELECTIONS_ALLOWED = Scenario(
    name="unclean-elections-allowed",
    story="Brokers fail and start, the controller moves, and an operator allows unclean elections, and forbids them.",
    state=elections.UncleanPartition,
    actions=actions_of(elections),
    properties=(
        unclean_elections.allowed_election_is_held,
        unclean_elections.last_leader_leads,
        unclean_elections.election_is_clean_or_allowed,
        unclean_elections.broker_fails_or_starts,
        unclean_elections.change_is_handled,
        unclean_elections.permission_is_taken_back_alone,
        unclean_elections.change_was_handled,
        unclean_elections.election_is_allowed_at_last,
        unclean_elections.permission_was_taken_back,
    ),
    bounds={"replicas": 2},
    variants=VARIANTS,
    source="KafkaController.processUncleanLeaderElectionEnable; KAFKA-5083, KAFKA-6526, KAFKA-6835",
)
END_OF_A_SESSION_AMID_AN_EVENT = Scenario(
    name="end-of-a-session-amid-an-event",
    story="The session of the controller ends while it handles an event, or is to answer a client.",
    state=threads.SessionClient,
    actions=threads.OF_ZOOKEEPER_CLIENT,
    properties=(
        session_threads.ended_session_is_replaced,
        session_threads.event_of_the_controller_ends,
        session_threads.client_of_the_controller_is_answered,
        session_threads.requests_are_answered_as_controller,
        session_threads.controller_knows_before_a_session_is_made,
        session_threads.events_are_handled_in_turn,
        session_threads.end_of_a_session_is_told_once,
    ),
    bounds={"handled_events": 2, "ended_sessions": 2},
    variants=VARIANTS,
    source="ZooKeeperClient, KafkaController.Expire; KAFKA-6879, KAFKA-10193",
)
