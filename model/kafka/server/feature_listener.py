"""FinalizedFeatureChangeListener: the thread of a broker that reads the features of the cluster (KIP-584).

It reads them from ZooKeeper when they change, and when the broker has a new session. Where it cannot, the broker is to
end: the thread calls exit, which runs the stop of the broker, which ends the thread.

What the model leaves out, and why its story loses nothing by it: which features there are; and what else the stop does.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import FEATURES_OUTLIVE_SESSIONS, STOPS_LEAVE_THE_FEATURE_THREAD
from kwalk.model.language import Actor, action, choice, flag, require, state

LISTENER = Actor("feature thread")
BROKER = Actor("broker")
CLIENT = Actor("admin client", system=False)
FAULT = Actor("fault", system=False)
OPERATOR = Actor("operator", system=False)


class BrokerLife(Enum):
    """What the broker does."""

    RUNS = "runs"
    EXITS = "ends, as the thread has called exit"
    STOPS = "is stopped"
    ENDED = "has ended"


@state
class FeatureListener:
    """The broker, its session, and the features.

    Attributes:
        is_queued: whether the thread has an event.
        is_unsupported: whether the features are some that the broker does not know.
        has_seen: whether the broker has ended for features that it does not know.
    """

    life: BrokerLife = choice(BrokerLife)
    has_session: bool = flag(default=True)
    is_queued: bool = flag()
    is_unsupported: bool = flag()
    has_seen: bool = flag()


@action(by=CLIENT, description="changes the features", source="FeatureZNodeChangeHandler.handleDataChange")
def change_features(listener: FeatureListener, is_unsupported: bool) -> None:
    """ZooKeeper tells a broker that has a session."""
    require(listener.life is BrokerLife.RUNS and not listener.is_unsupported)
    listener.is_unsupported = is_unsupported
    if listener.has_session:
        listener.is_queued = True


@action(by=FAULT, description="ends the session", source="ZooKeeperClient: AuthFailed or Expired")
def lose_session(listener: FeatureListener) -> None:
    """What the thread reads until there is another session fails."""
    require(listener.life is BrokerLife.RUNS and listener.has_session)
    listener.has_session = False


@action(by=BROKER, description="has another session", source="ZkStateChangeHandler.afterInitializingSession")
def make_session(listener: FeatureListener) -> None:
    """The thread is to read the features again."""
    require(listener.life is BrokerLife.RUNS and not listener.has_session)
    listener.has_session = listener.is_queued = True


@action(
    by=LISTENER,
    description="reads the features",
    source="ChangeNotificationProcessorThread.doWork: updateLatestOrThrow",
)
def read_features(listener: FeatureListener) -> None:
    """Up to 3.4.0 the broker ended at any error, such as the end of its session."""
    require(listener.life is BrokerLife.RUNS and listener.is_queued)
    listener.is_queued = False
    if not listener.has_session:
        if not FEATURES_OUTLIVE_SESSIONS:
            listener.life = BrokerLife.EXITS
    elif listener.is_unsupported:
        listener.life = BrokerLife.EXITS
        listener.has_seen = True


@action(by=OPERATOR, description="stops the broker", source="KafkaServer.shutdown")
def stop_broker(listener: FeatureListener) -> None:
    """Another thread than that of the features stops it."""
    require(listener.life is BrokerLife.RUNS)
    listener.life = BrokerLife.STOPS


@action(by=BROKER, description="has stopped", source="KafkaServer.shutdown; FinalizedFeatureChangeListener.close")
def end_broker(listener: FeatureListener) -> None:
    """The stop waited for the thread to end, in releases up to 3.0.0: one that has called exit waits for the stop."""
    require(
        listener.life is BrokerLife.STOPS
        or (listener.life is BrokerLife.EXITS and bool(STOPS_LEAVE_THE_FEATURE_THREAD))
    )
    listener.life = BrokerLife.ENDED
