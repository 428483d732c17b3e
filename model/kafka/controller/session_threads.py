"""The threads of a broker that is elected controller, as its sessions with ZooKeeper end: two clients of ZooKeeper.

Up to 0.10.2 ZkClient's thread calls the listeners of sessions and of znodes, one after the other, under the lock of
the controller; the task that moves leaders to preferred replicas has a thread of its own, and takes that lock, too.
Since 1.1 the controller has one thread, which handles events, and a client of ZooKeeper that makes sessions in another.

What the models leave out, and why their stories lose nothing by it:

* What a controller does, which the other models have: here it acts or does not, and writes or does not.
* The other brokers: of them one is elected, or was.
* What a listener of /controller is told by a session that begins: the broker has read it by then.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.actors import FAULT
from kwalk.model.kafka.versions.sessions import (
    ANSWERS_DROPPED_REQUESTS,
    EXPIRES_WITHOUT_LOCK,
    KEEPS_ITS_OFFICE,
    LISTENERS_ASK_FOR_THE_OFFICE,
    RESIGNS_WITHOUT_LOCK,
)
from kwalk.model.language import Actor, Bound, Fifo, action, choice, fifo, flag, number, require, state

EVENTS = Bound("events", "calls of listeners that wait for the thread of the client", default=3)
ENDED_SESSIONS = Bound("ended_sessions", "how often a session of the broker ends", default=2)
HANDLED_EVENTS = Bound("handled_events", "events that the controller handles", default=2)

CLIENT_THREAD = Actor("client's thread")
SCHEDULER = Actor("scheduler", system=False)
REBALANCER = Actor("rebalancing task")
CHANGE = Actor("change of the cluster", system=False)
EVENT_THREAD = Actor("controller's thread")


class Holder(Enum):
    """Whose /controller is."""

    NOBODY = "nobody's"
    OWN = "the broker's"
    OTHER = "another broker's"


class ListenerCall(Enum):
    """Which listener is to be called."""

    NEW_SESSION = "of a new session"
    CHANGE = "of a znode that has changed"


class RebalancingTask(Enum):
    """How far the task is."""

    IDLE = "idle"
    BEGUN = "begun"
    LOCKED = "has the lock"


@state
class ElectedBroker:
    """A broker of a release up to 0.10.2: /controller, whether it acts as controller, and its two threads.

    While it `is_resigning`, it waits for the end of the task. It `wrote_unelected` if it wrote after it had resigned.
    """

    holder: Holder = choice(Holder, default=Holder.OWN)
    acts: bool = flag(default=True)
    calls: Fifo[ListenerCall] = fifo(choice(ListenerCall), EVENTS)
    is_resigning: bool = flag()
    task: RebalancingTask = choice(RebalancingTask)
    wrote_unelected: bool = flag()
    ended_sessions: int = number(0, ENDED_SESSIONS)

    @property
    def is_locked(self) -> bool:
        """Whether the client's thread has the lock while it waits (Kafka: ControllerContext.controllerLock)."""
        return self.is_resigning and not RESIGNS_WITHOUT_LOCK

    def elect(self) -> None:
        """Take /controller, and act, if it is nobody's (Kafka: ZookeeperLeaderElector.elect)."""
        if self.holder is Holder.NOBODY:
            self.holder, self.acts = Holder.OWN, True


@action(by=FAULT, description="ends the broker's session, which gets another one", source="ZkClient.reconnect")
def end_session(broker: ElectedBroker) -> None:
    """Its znodes go, and its listener of sessions is to be called."""
    require(broker.ended_sessions < ENDED_SESSIONS and len(broker.calls) < EVENTS)
    broker.ended_sessions += 1
    broker.calls.push(ListenerCall.NEW_SESSION)
    if broker.holder is Holder.OWN:
        broker.holder = Holder.NOBODY


@action(by=FAULT, description="has another broker elected", source="ZookeeperLeaderElector.elect")
def elect_another(broker: ElectedBroker) -> None:
    """It was faster."""
    require(broker.holder is Holder.NOBODY)
    broker.holder = Holder.OTHER


@action(by=FAULT, description="has a client change a znode that the controller watches", source="ZkClient.process")
def change_znode(broker: ElectedBroker) -> None:
    """A controller that acts has a listener there, which is to be called."""
    require(broker.acts and len(broker.calls) < EVENTS)
    require(ListenerCall.CHANGE not in broker.calls)
    broker.calls.push(ListenerCall.CHANGE)


@action(
    by=CLIENT_THREAD,
    description="calls the listener of sessions: the broker is to resign",
    source="KafkaController.SessionExpirationListener.handleNewSession",
)
def begin_resignation(broker: ElectedBroker) -> None:
    """Until KAFKA-4229 also if it has been elected since, in the session that it has."""
    require(not broker.is_resigning and broker.calls.starts_with(ListenerCall.NEW_SESSION))
    require(RESIGNS_WITHOUT_LOCK or broker.task is not RebalancingTask.LOCKED)
    broker.calls.pop()
    broker.is_resigning = not (KEEPS_ITS_OFFICE and broker.holder is Holder.OWN)


@action(
    by=CLIENT_THREAD,
    description="resigns, and elects",
    source="KafkaController.onControllerResignation: autoRebalanceScheduler.shutdown; ZookeeperLeaderElector.elect",
)
def resign(broker: ElectedBroker) -> None:
    """It waits for the end of the task first, for up to a day."""
    require(broker.is_resigning and broker.task is RebalancingTask.IDLE)
    broker.is_resigning = broker.acts = False
    broker.elect()


@action(
    by=CLIENT_THREAD,
    description="calls the listener of a znode",
    source="ControllerZkChildListener.handleChildChange, ControllerZkDataListener.handleDataChange",
)
def call_listener(broker: ElectedBroker) -> None:
    """Until KAFKA-4447 it does what there is to do, also for a broker that has resigned since."""
    require(not broker.is_resigning and broker.calls.starts_with(ListenerCall.CHANGE))
    require(broker.task is not RebalancingTask.LOCKED)
    broker.calls.pop()
    if not broker.acts and not LISTENERS_ASK_FOR_THE_OFFICE:
        broker.wrote_unelected = True


@action(
    by=SCHEDULER,
    description="begins the rebalancing task",
    source="KafkaController.checkAndTriggerPartitionRebalance: isActive",
)
def begin_task(broker: ElectedBroker) -> None:
    """Its scheduler runs while the broker acts."""
    require(broker.acts and not broker.is_resigning and broker.task is RebalancingTask.IDLE)
    broker.task = RebalancingTask.BEGUN


@action(by=REBALANCER, description="takes the lock", source="KafkaController.checkAndTriggerPartitionRebalance: inLock")
def lock_task(broker: ElectedBroker) -> None:
    """The lock must be free."""
    require(broker.task is RebalancingTask.BEGUN and not broker.is_locked)
    broker.task = RebalancingTask.LOCKED


@action(by=REBALANCER, description="ends", source="KafkaController.checkAndTriggerPartitionRebalance")
def end_task(broker: ElectedBroker) -> None:
    """It gives the lock back."""
    require(broker.task is RebalancingTask.LOCKED)
    broker.task = RebalancingTask.IDLE


class AdminRequest(Enum):
    """What became of a request about reassignments."""

    NONE = "not sent, or answered"
    QUEUED = "waits for the controller's thread"
    DROPPED = "dropped"


@state
class SessionClient:
    """A broker of 1.1 or later: its session, the thread of its client, and what the controller's thread handles.

    `is_expired_event_queued` if the event Expire waits; the client's thread is at the end of the session meanwhile.
    """

    has_session: bool = flag(default=True)
    is_expiring: bool = flag()
    is_expire_queued: bool = flag()
    is_handling: bool = flag()
    request: AdminRequest = choice(AdminRequest)
    handled: int = number(0, HANDLED_EVENTS)
    ended_sessions: int = number(0, ENDED_SESSIONS)


@action(by=FAULT, description="ends the broker's session", source="ZooKeeperClientWatcher.process: Expired")
def expire(client: SessionClient) -> None:
    """The client is to make another one."""
    require(client.has_session and client.ended_sessions < ENDED_SESSIONS)
    client.ended_sessions += 1
    client.has_session = False


@action(
    by=CLIENT_THREAD,
    description="tells the controller that the session has ended, and waits until it knows",
    source="ZooKeeperClient.scheduleSessionExpiryHandler; KafkaController.beforeInitializingSession",
)
def tell_controller(client: SessionClient) -> None:
    """Events that wait are dropped, but not the one that is handled; until KAFKA-6879 requests are locked meanwhile.

    Those of clients are answered by then, with NOT_CONTROLLER: until KAFKA-10193 not if they are about reassignments.
    """
    require(not client.has_session and not client.is_expiring)
    if client.request is AdminRequest.QUEUED:
        client.request = AdminRequest.NONE if ANSWERS_DROPPED_REQUESTS else AdminRequest.DROPPED
    client.is_expiring = client.is_expire_queued = True


@action(by=EVENT_THREAD, description="begins to handle an event", source="ControllerEventManager.ControllerEventThread")
def begin_event(client: SessionClient) -> None:
    """It is to send a request to ZooKeeper."""
    require(not client.is_handling and not client.is_expire_queued and client.handled < HANDLED_EVENTS)
    client.handled += 1
    client.is_handling = True


@action(
    by=EVENT_THREAD,
    description="sends its request, and gets an answer, or that the session has ended",
    source="ZooKeeperClient.handleRequests: inReadLock(initializationLock)",
)
def send_request(client: SessionClient) -> None:
    """The client's thread must not have the lock."""
    require(client.is_handling and (EXPIRES_WITHOUT_LOCK or not client.is_expiring))
    client.is_handling = False


@action(
    by=CHANGE,
    description="has a client ask for a reassignment, or for those under way",
    source="KafkaController.alterPartitionReassignments, listPartitionReassignments: eventManager.put",
)
def ask_controller(client: SessionClient) -> None:
    """The broker does not know that its session has ended."""
    require(client.request is AdminRequest.NONE and not client.is_expiring and client.handled < HANDLED_EVENTS)
    client.handled += 1
    client.request = AdminRequest.QUEUED


@action(by=EVENT_THREAD, description="answers the client", source="KafkaController.processApiPartitionReassignment")
def answer_client(client: SessionClient) -> None:
    """It is an event as others."""
    require(client.request is AdminRequest.QUEUED and not client.is_handling and not client.is_expire_queued)
    client.request = AdminRequest.NONE


@action(by=EVENT_THREAD, description="handles the end of the session", source="KafkaController.Expire.process")
def handle_expire(client: SessionClient) -> None:
    """It resigns, which needs no request."""
    require(client.is_expire_queued and not client.is_handling)
    client.is_expire_queued = False


@action(by=CLIENT_THREAD, description="makes a session", source="ZooKeeperClient.reinitialize")
def make_session(client: SessionClient) -> None:
    """The controller knows of the end of the last one."""
    require(client.is_expiring and not client.is_expire_queued)
    client.is_expiring, client.has_session = False, True


OF_ZKCLIENT = (
    end_session,
    elect_another,
    change_znode,
    begin_resignation,
    resign,
    call_listener,
    begin_task,
    lock_task,
    end_task,
)
OF_ZOOKEEPER_CLIENT = (
    expire,
    tell_controller,
    begin_event,
    send_request,
    ask_controller,
    answer_client,
    handle_expire,
    make_session,
)
