"""Sessions that expire, bounces, and controllers that were deposed: what three of Kafka's fixes closed."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories.sessions import (
    AUTHENTICATION_FAILURE,
    FAILOVER_DURING_EXPANSION,
    FAST_BOUNCE,
    ZOMBIE_CONTROLLER,
)
from kwalk.model.kafka.controller.controller_context import BrokerRegistration, EventProgress
from kwalk.model.kafka.state import SessionState
from kwalk.model.language import Model
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.lengths import shortest
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule

UNFENCED = {"one_effective_controller", "context_agrees", "partition_servable", "replicas_converge"}
THOROUGH = pytest.mark.thorough
CASES = [
    (ZOMBIE_CONTROLLER, "2.8.2", {}, set()),
    pytest.param(ZOMBIE_CONTROLLER, "2.8.2", {"session_bound": False}, set(), marks=THOROUGH),
    pytest.param(ZOMBIE_CONTROLLER, "2.8.2", {"zk_fencing": False}, set(), marks=THOROUGH),
    (ZOMBIE_CONTROLLER, "2.8.2", {"zk_fencing": False, "session_bound": False}, UNFENCED),
    (FAILOVER_DURING_EXPANSION, "2.8.2", {}, set()),
    (FAILOVER_DURING_EXPANSION, "2.8.2", {"zk_fencing": False}, UNFENCED),
    pytest.param(FAST_BOUNCE, "2.8.2", {}, set(), marks=THOROUGH),
    pytest.param(FAST_BOUNCE, "2.8.2", {"broker_epoch": False}, {"replicas_converge"}, marks=THOROUGH),
    (AUTHENTICATION_FAILURE, "2.8.2", {}, {"controller_serves", "context_agrees"}),
    pytest.param(AUTHENTICATION_FAILURE, "2.8.2", {"auth_reinit_guard": True}, set(), marks=THOROUGH),
    pytest.param(AUTHENTICATION_FAILURE, "3.9.0", {}, set(), marks=THOROUGH),
]


@pytest.mark.parametrize(("scenario", "variant", "flags", "broken"), CASES)
def test_each_fix_closes_what_it_is_meant_to_within_the_same_bounds(scenario, variant, flags, broken):
    model = Model(scenario, variant, flags=flags)
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.bounds_hit) == (Strength.EXHAUSTIVE, {})
    assert outcome_of(verdict) == pinned(model) and shortest(verdict).keys() == broken


def test_a_process_whose_session_expired_runs_on_and_takes_requests_until_it_has_registered_again():
    schedule = Schedule(Model(ZOMBIE_CONTROLLER, "2.8.2"))
    schedule.do("new_client_creates_topic(0)")
    schedule.take("expire_session(1)")
    cluster = schedule.cluster
    assert cluster.is_up(1) and not cluster.is_registered(1)
    assert cluster.controller_of(0).registrations[1] is BrokerRegistration.CURRENT
    schedule.take("new_client_adds_partitions(0)")
    schedule.take("broker_failure(0)")
    assert schedule.cluster.controller_of(0).registrations[1] is BrokerRegistration.GONE
    schedule.settle()
    assert schedule.cluster.is_registered(1) and schedule.cluster.brokers[1].session is SessionState.LIVE
    assert schedule.violated("replicas_converge") == []


def test_an_expired_controller_hears_nothing_and_does_not_win_an_election_over_its_old_session():
    schedule = Schedule(Model(ZOMBIE_CONTROLLER, "2.8.2"))
    schedule.take("expire_session(0)")
    assert schedule.cluster.zookeeper.controller is None
    assert schedule.cluster.controller_of(0).is_active and schedule.cluster.controller_of(0).events.is_empty
    schedule.take("notice_expiry(0)")
    assert not schedule.cluster.controller_of(0).is_active
    schedule.take("register_broker_and_reelect(0)")
    assert schedule.cluster.zookeeper.controller == 0


def test_what_an_expired_controller_has_begun_ends_half_done_and_its_successor_does_it():
    schedule = Schedule(Model(ZOMBIE_CONTROLLER, "2.8.2"))
    schedule.take("new_client_creates_topic(0)")
    schedule.take("topic_change(0)")
    schedule.take("expire_session(0)")
    controller = schedule.cluster.controller_of(0)
    assert controller.is_active and controller.step is EventProgress.IDLE and controller.topics[0].partition_count == 1
    assert not schedule.cluster.zookeeper.state_of(0, 0).exists
    schedule.settle()
    assert schedule.cluster.zookeeper.state_of(0, 0).exists and not schedule.violated("context_agrees")


def test_watch_covered_fails_where_a_watch_is_missing():
    schedule = Schedule(Model(FAST_BOUNCE, "2.8.2"))
    schedule.do("new_client_creates_topic(0)")
    cluster = schedule.cluster
    cluster.zookeeper.watches[0].topics = cluster.zookeeper.watches[0].topic[0] = False
    schedule.vector = schedule.model.vector(cluster)
    assert schedule.violated("watch_covered") == ["watch_covered(0)"]
    assert schedule.violated("topic_watch_covered") == ["topic_watch_covered(0, 0)"]
