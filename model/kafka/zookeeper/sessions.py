"""A broker's ZooKeeper session that expires under a running process, and how the process handles it.

Words: a session *expires* when ZooKeeper gets no heartbeat from the client for too long: its ephemeral znodes vanish at
once. The process *notices* when its client is connected again; until then it still considers itself controller if it
was. What it reads and writes meanwhile is refused: the event under way ends incomplete, others end as they begin. That
is the flag `session_bound`; the ZkClient of Kafka 1.0 repeated all of it in the next session, and no write was fenced.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.actors import CONTROLLER, FAULT, ZOOKEEPER
from kwalk.model.kafka.broker.kafka_server import register, remove_ephemerals
from kwalk.model.kafka.broker.replica_manager import handle_part_of_leader_and_isr, may_break_off
from kwalk.model.kafka.controller.controller_context import EventProgress
from kwalk.model.kafka.controller.kafka_controller import elect, maybe_resign, resign
from kwalk.model.kafka.domains import (
    AUTH_FAILURES,
    EXPIRATIONS,
    LATE_ZNODES,
    LOST_REGISTRATIONS,
    PARTITIONS,
    SESSION_FAILURES,
    TOPICS,
    Broker,
)
from kwalk.model.kafka.state import Cluster, SessionState
from kwalk.model.kafka.versions.grain import LATE_BROKER_EPOCHS, SESSIONS
from kwalk.model.kafka.versions.sessions import (
    AUTH_REINIT_GUARD,
    RECREATES_EPHEMERALS,
    REPLACES_FAILED_CLIENTS,
    SESSION_BOUND,
    TRIES_SESSIONS_AGAIN,
    WAITS_FOR_UNKNOWN_ZNODES,
)
from kwalk.model.language import Mark, action, require, subset


def remove_watches(cluster: Cluster, broker: int) -> None:
    """Remove the watches of a session that has ended."""
    watches = cluster.zookeeper.watches[broker]
    watches.controller = watches.broker_ids = watches.topics = watches.delete_topics = False
    watches.preferred_elections = False
    for topic in TOPICS:
        watches.topic[topic] = False


@action(
    by=FAULT,
    group="sessions",
    description="the ZooKeeper session of broker {broker} expires",
    source="ZooKeeper: SessionTracker",
    mark=Mark.SESSION_EXPIRED,
)
def expire_session(cluster: Cluster, broker: Broker) -> None:
    """Ephemeral znodes and watches vanish; the process does not know. What its controller has begun fails.

    An event that would not read or write anything is not distinguished from those that fail.
    """
    require(SESSIONS and cluster.is_registered(broker) and cluster.expirations < EXPIRATIONS)
    cluster.expirations += 1
    cluster.brokers[broker].session = SessionState.EXPIRED
    if SESSION_BOUND:
        controller = cluster.controller_of(broker)
        controller.events.clear()
        controller.end_event()
    remove_watches(cluster, broker)
    remove_ephemerals(cluster, broker)


Partitions = Annotated[frozenset[int], subset(PARTITIONS)]


@action(
    by=FAULT,
    description="the ZooKeeper session of broker {broker} expires amid LeaderAndIsr: it handles {handled} only",
    source="ZooKeeper: SessionTracker; ReplicaManager.makeLeaders, makeFollowers",
    mark=Mark.SESSION_EXPIRED,
)
def expire_session_amid_request(cluster: Cluster, broker: Broker, handled: Partitions) -> None:
    """A log that is new cannot be created without the topic's configuration in ZooKeeper."""
    require(may_break_off(cluster, broker, handled))
    expire_session(cluster, broker)
    handle_part_of_leader_and_isr(cluster, broker, handled)


@action(
    by=FAULT,
    description="the ZooKeeper session of broker {broker} expires, and its znode in /brokers/ids stays for now",
    source="ZOOKEEPER-2985",
    mark=Mark.SESSION_EXPIRED,
)
def expire_session_before_its_znodes(cluster: Cluster, broker: Broker) -> None:
    """The client hears of it before the servers have deleted what belongs to the session.

    Only of a broker that is not the controller, and whose module has nothing under way.
    """
    require(LATE_ZNODES > 0 and cluster.zookeeper.controller != broker)
    require(cluster.is_registered(broker) and cluster.expirations < EXPIRATIONS)
    require(cluster.brokers[broker].session is SessionState.LIVE)
    require(cluster.controller_of(broker).step is EventProgress.IDLE)
    cluster.expirations += 1
    cluster.brokers[broker].session = SessionState.EXPIRED
    cluster.controller_of(broker).events.clear()
    remove_watches(cluster, broker)


@action(
    by=FAULT,
    description="broker {broker} registers in its new session, which expires before it is answered; its znode stays",
    source="KafkaZkClient.CheckedEphemeral.create; KAFKA-14845",
    mark=Mark.SESSION_EXPIRED,
)
def expire_session_amid_a_registration(cluster: Cluster, broker: Broker) -> None:
    """The process does not know in which session the znode is. Others see the broker."""
    state = cluster.brokers[broker]
    require(state.session is SessionState.RENEWED and not state.gave_up and not cluster.is_registered(broker))
    require(cluster.lost_registrations < LOST_REGISTRATIONS)
    cluster.lost_registrations += 1
    register(cluster, broker)
    state.has_unknown_znode = True
    state.session = SessionState.EXPIRED


@action(
    by=ZOOKEEPER,
    description="deletes the znode of broker {broker} in /brokers/ids, whose session has expired",
    source="ZOOKEEPER-2985",
)
def remove_late_znodes(cluster: Cluster, broker: Broker) -> None:
    """The watches on /brokers/ids fire."""
    require(LATE_ZNODES > 0 and cluster.is_registered(broker))
    require(cluster.brokers[broker].session is not SessionState.LIVE)
    remove_ephemerals(cluster, broker)


@action(
    by=CONTROLLER,
    group="sessions",
    description="handles Expire: its session has ended, it resigns",
    source="KafkaController.processExpire; StateChangeHandler.beforeInitializingSession",
)
def notice_expiry(cluster: Cluster, broker: Broker) -> None:
    """The queue is cleared, and the new session waits until the event under way and Expire are done."""
    state = cluster.brokers[broker]
    require(state.session is SessionState.EXPIRED and state.controller.step is EventProgress.IDLE)
    require(not state.lacks_client)
    state.session = SessionState.RENEWED
    state.controller.events.clear()
    state.controller.notifications.clear()
    resign(cluster, broker)
    remove_watches(cluster, broker)


@action(
    by=CONTROLLER,
    group="sessions",
    description="handles RegisterBrokerAndReelect: registers in its new session, becomes controller if there is none",
    source="KafkaController.processRegisterBrokerAndReelect; KafkaZkClient.registerBroker",
    mark=Mark.SESSION_ESTABLISHED,
)
def register_broker_and_reelect(cluster: Cluster, broker: Broker) -> None:
    """It is the first event of the new session: the queue is empty.

    If the znode of the earlier session is still there, the broker deletes it and registers, since 2.2; before, the
    event ends with NODEEXISTS, and is not repeated. So it does in a session of which the broker knows nothing.
    """
    state = cluster.brokers[broker]
    require(state.session is SessionState.RENEWED and not state.gave_up)
    is_unknown = LOST_REGISTRATIONS > 0 and state.has_unknown_znode
    if LATE_ZNODES > 0 and (is_unknown or not RECREATES_EPHEMERALS) and cluster.is_registered(broker):
        require(not (is_unknown and WAITS_FOR_UNKNOWN_ZNODES))
        state.gave_up = True
        return
    register(cluster, broker)
    state.session = SessionState.LIVE
    if LATE_BROKER_EPOCHS:
        state.controller.is_registering = True
        return
    maybe_resign(cluster, broker)
    elect(cluster, broker)


@action(
    by=CONTROLLER,
    description="learns the broker epoch of its new session, becomes controller if there is none",
    source="KafkaController.processRegisterBrokerAndReelect: _brokerEpoch, after KafkaZkClient.registerBroker",
)
def learn_broker_epoch(cluster: Cluster, broker: Broker) -> None:
    """The answer of ZooKeeper has arrived. A controller may have noticed the registration, and sent requests."""
    state = cluster.brokers[broker]
    require(state.controller.is_registering and state.session is SessionState.LIVE)
    state.controller.is_registering = False
    maybe_resign(cluster, broker)
    elect(cluster, broker)


def fail_to_connect(cluster: Cluster, broker: int, *, tries_again: bool) -> None:
    """Fail to get a session after the one that has expired, once; the client tries again, or ends."""
    state = cluster.brokers[broker]
    require(state.session is SessionState.EXPIRED and not state.lacks_client)
    require(cluster.session_failures < SESSION_FAILURES)
    cluster.session_failures += 1
    state.lacks_client = not tries_again


@action(
    by=FAULT,
    description="broker {broker} does not find ZooKeeper by its name when its session has expired",
    source="ZooKeeperClient.reinitialize; KafkaHealthcheck.handleSessionEstablishmentError (1.0.0)",
)
def fail_to_resolve_name(cluster: Cluster, broker: Broker) -> None:
    """Since 1.1 the client tries until it succeeds; before, the error was only logged."""
    fail_to_connect(cluster, broker, tries_again=bool(TRIES_SESSIONS_AGAIN))


@action(
    by=FAULT,
    description="broker {broker} fails to authenticate when its session has expired and it connects again",
    source="ZooKeeperClientWatcher.process: KeeperState.AuthFailed",
)
def fail_to_authenticate(cluster: Cluster, broker: Broker) -> None:
    """ZooKeeper's own client ends then; since 2.8 Kafka makes another one."""
    fail_to_connect(cluster, broker, tries_again=bool(REPLACES_FAILED_CLIENTS))


@action(
    by=FAULT,
    group="sessions",
    description="the ZooKeeper client of broker {broker} fails to authenticate, though its session lives",
    source="ZooKeeperClient.reinitialize; KafkaController.processExpire, processRegisterBrokerAndReelect",
)
def auth_failure_reinitializes(cluster: Cluster, broker: Broker) -> None:
    """Expire and RegisterBrokerAndReelect are handled, but no znode has vanished: /controller may name this broker."""
    controller = cluster.controller_of(broker)
    require(SESSIONS and cluster.is_registered(broker) and cluster.auth_failures < AUTH_FAILURES)
    require(controller.step is EventProgress.IDLE)
    cluster.auth_failures += 1
    if not AUTH_REINIT_GUARD:
        controller.events.clear()
        resign(cluster, broker)
        maybe_resign(cluster, broker)
        elect(cluster, broker)
