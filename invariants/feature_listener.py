"""Properties of the thread that reads features."""

from __future__ import annotations

from kwalk.model.kafka.server.feature_listener import BrokerLife, FeatureListener
from kwalk.model.language import premise, reachable, step, when_quiescent


@step(
    symptom="a broker ends with its session, as features are read",
    log="Failed to process feature ZK node change event. The broker will eventually exit.",
)
def broker_outlives_its_session(before: FeatureListener, after: FeatureListener) -> bool:
    """A broker ends by itself for features that it does not know, and for nothing else."""
    premise(before.life is BrokerLife.RUNS and after.life is BrokerLife.EXITS)
    return before.is_unsupported and before.has_session and after.has_seen


@when_quiescent(symptom="a broker that is to end hangs, and neither serves nor ends", log="none")
def broker_that_exits_ends(listener: FeatureListener) -> bool:
    """A broker that is to end, or is stopped, ends."""
    return listener.life in (BrokerLife.RUNS, BrokerLife.ENDED)


@when_quiescent(symptom="a broker runs with features that it does not know", log="none")
def running_broker_knows_the_features(listener: FeatureListener) -> bool:
    """A broker that runs knows the features, and has a session."""
    premise(listener.life is BrokerLife.RUNS)
    return listener.has_session and not listener.is_queued and not listener.is_unsupported


@step(symptom="features are changed back", log="none")
def features_are_changed_for_good(before: FeatureListener, after: FeatureListener) -> bool:
    """Features stay unsupported, and a session changes while the broker runs."""
    premise(before.is_unsupported != after.is_unsupported or before.has_session != after.has_session)
    return before.is_unsupported <= after.is_unsupported and before.life is BrokerLife.RUNS is after.life


@step(symptom="a broker that has ended starts by itself", log="none")
def lives_end_once(before: FeatureListener, after: FeatureListener) -> bool:
    """A broker that is to end ends, and stays so."""
    premise(before.life is not after.life)
    is_read = after.life is BrokerLife.STOPS or not after.is_queued
    is_begin = before.life is BrokerLife.RUNS and after.life is not BrokerLife.ENDED and is_read
    return is_begin or (before.life is not BrokerLife.ENDED and after.life is BrokerLife.ENDED)


@step(symptom="features are read that nobody has changed", log="none")
def event_is_of_a_session(before: FeatureListener, after: FeatureListener) -> bool:
    """The thread has an event as a broker with a session is told of one, or as it gets one."""
    premise(not before.is_queued and after.is_queued)
    return after.has_session


@reachable()
def broker_ends_without_a_session(listener: FeatureListener) -> bool:
    """A broker is stopped that has no session, and an event."""
    return listener.life is BrokerLife.ENDED and not listener.has_session and listener.is_queued


@reachable()
def unsupported_features_are_seen(listener: FeatureListener) -> bool:
    """A broker is to end for features that it does not know."""
    return listener.has_seen and listener.life is BrokerLife.EXITS


@reachable()
def features_are_queued(listener: FeatureListener) -> bool:
    """The thread has an event of features that the broker knows."""
    return listener.is_queued and listener.has_session and not listener.is_unsupported
