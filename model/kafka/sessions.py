"""A broker's ZooKeeper session that ends while its process goes on, and what the process does when it notices.

Words: a session *expires* when ZooKeeper has not heard of the client for too long: its ephemeral znodes vanish at once.
The process *notices* when its client is connected again; until then it takes itself for controller if it was. What it
reads and writes meanwhile is refused: the event under way ends half done, others end as they begin. That is the flag
`session_bound`; the ZkClient of Kafka 1.0 repeated all of it over the next session, and nothing stopped a write then.
"""
from __future__ import annotations

from model.kafka.actors import CONTROLLER, FAULT
from model.kafka.broker import register, remove_ephemerals
from model.kafka.controller_context import Step
from model.kafka.controller_election import elect, maybe_resign, resign
from model.kafka.domains import AUTH_FAILURES, EXPIRATIONS, TOPICS, Broker
from model.kafka.state import Cluster, Session
from model.kafka.versions import AUTH_REINIT_GUARD, SESSION_BOUND, SESSIONS
from model.language import action, require


def lose_watches(cluster: Cluster, broker: int) -> None:
    """A session's watches go with it."""
    watches = cluster.zookeeper.watches[broker]
    watches.controller = watches.broker_ids = watches.topics = watches.delete_topics = False
    for topic in TOPICS:
        watches.topic[topic] = False


@action(by=FAULT, says="the ZooKeeper session of broker {broker} expires", source="ZooKeeper: SessionTracker")
def expire_session(cluster: Cluster, broker: Broker) -> None:
    """Its ephemeral znodes and watches vanish; the process does not know. All that its controller has begun fails.

    An event that would not read or write anything is not told apart from those that fail.
    """
    require(SESSIONS and cluster.is_registered(broker) and cluster.expirations < EXPIRATIONS)
    cluster.expirations += 1
    cluster.brokers[broker].session = Session.EXPIRED
    if SESSION_BOUND:
        controller = cluster.brokers[broker].controller
        controller.events.clear()
        controller.step, controller.new_topics = Step.IDLE, frozenset()
    lose_watches(cluster, broker)
    remove_ephemerals(cluster, broker)


@action(
    by=CONTROLLER,
    says="handles Expire: its session is over, it resigns",
    source="KafkaController: StateChangeHandler.beforeInitializingSession, processExpire",
)
def notice_expiry(cluster: Cluster, broker: Broker) -> None:
    """The queue is cleared, and the new session waits until the event under way and Expire are done."""
    state = cluster.brokers[broker]
    require(state.session is Session.EXPIRED and state.controller.step is Step.IDLE)
    state.session = Session.RENEWED
    state.controller.events.clear()
    state.controller.notifications.clear()
    resign(cluster, broker)
    lose_watches(cluster, broker)


@action(
    by=CONTROLLER,
    says="handles RegisterBrokerAndReelect: registers in its new session, becomes controller if there is none",
    source="KafkaController.processRegisterBrokerAndReelect; KafkaZkClient.registerBroker",
)
def register_broker_and_reelect(cluster: Cluster, broker: Broker) -> None:
    """It is the first event of the new session: nothing else can be in the queue."""
    state = cluster.brokers[broker]
    require(state.session is Session.RENEWED)
    register(cluster, broker)
    state.session = Session.LIVE
    maybe_resign(cluster, broker)
    elect(cluster, broker)


@action(
    by=FAULT,
    says="the ZooKeeper client of broker {broker} fails to authenticate, though its session lives",
    source="ZooKeeperClient.reinitialize; KafkaController.processExpire, processRegisterBrokerAndReelect",
)
def auth_failure_reinitializes(cluster: Cluster, broker: Broker) -> None:
    """Expire and RegisterBrokerAndReelect are handled, but no ephemeral znode has vanished: /controller may name it."""
    controller = cluster.brokers[broker].controller
    require(SESSIONS and cluster.is_registered(broker) and cluster.auth_failures < AUTH_FAILURES)
    require(controller.step is Step.IDLE)
    cluster.auth_failures += 1
    if not AUTH_REINIT_GUARD:
        controller.events.clear()
        resign(cluster, broker)
        maybe_resign(cluster, broker)
        elect(cluster, broker)
