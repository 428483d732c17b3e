"""What brokers refuse before they write ZooKeeper, and which defects remain for clients that ask brokers only."""

from __future__ import annotations

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language import Model, UsageError
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.verdict import Strength
from tests.kafka.outcomes import outcome_of, pinned
from tests.kafka.schedule import Schedule
from tests.kafka.violations import BROKEN

STORIES = {scenario.name: scenario for scenario in SCENARIOS}
THROUGH_BROKERS = STORIES["delete-and-recreate-through-brokers"]
(LOST,) = [broken.actions for broken in BROKEN if broken.invariant == "deletion_is_not_dropped"]
HANGING = (
    "new_client_creates_topic(0); topic_change(0); topic_change_creates_partitions(0); handle_leader_and_isr(0); "
    "handle_leader_and_isr(1); client_deletes_topic(0); topic_deletion(0); handle_stop_replica(0); "
    "handle_stop_replica(1); handle_stop_replica(1); stop(1,0); handle_stop_replica(0); stop_replica_response(0); "
    "broker_failure(0); restart(1); reelect(1); stop_replica_response(0); complete_deletion_deletes_topic(0); "
    "complete_deletion_deletes_config(0); complete_deletion_deletes_request(0); new_client_creates_topic(0); "
    "broker_startup(0); topic_change(0); topic_change_creates_partitions(0); handle_leader_and_isr(0); "
    "handle_leader_and_isr(1); client_deletes_topic(0); topic_deletion(0)"
)
"""As on real clusters: a broker answers, is stopped before the other one answers, and starts again."""


def begun(variant: str = "3.9.0", *, checks: bool = True, **bounds: int) -> Schedule:
    return Schedule(Model(THROUGH_BROKERS, variant, bounds, {"broker_checks": checks}))


def is_enabled(schedule: Schedule, key: str) -> bool:
    return schedule.model.attempt(schedule.model.instance(key), schedule.vector).after is not None


@pytest.mark.usefixtures("interpreted")
def test_a_topic_that_is_deleted_created_and_deleted_again_through_brokers_is_gone():
    model = Model(THROUGH_BROKERS, "3.9.0")
    verdict = exhaust(model, keep_going=True)
    assert (verdict.strength, verdict.findings, verdict.bounds_hit) == (Strength.EXHAUSTIVE, (), {})
    assert outcome_of(verdict) == pinned(model)


@pytest.mark.parametrize("checks", [False, True])
def test_brokers_refuse_to_delete_a_topic_that_the_controllers_broker_does_not_know_yet(checks):
    """The window in which a deletion is lost: kafka-topics.sh with --zookeeper gets through, AdminClient does not."""
    schedule = begun(checks=checks)
    *steps, deletes, handles = LOST
    assert (deletes, handles) == ("client_deletes_topic(0)", "topic_deletion(0)")
    for key in steps:
        schedule.take(key)
    assert is_enabled(schedule, deletes) != checks


def test_a_deletion_that_hangs_needs_nobody_who_writes_zookeeper():
    schedule = begun(restarts=1)
    for key in HANGING.replace(",", ", ").split("; "):
        schedule.take(key)
    assert schedule.model.is_quiescent(schedule.vector)
    assert schedule.violated("deletion_terminates") == ["deletion_terminates(0)"]


@pytest.mark.parametrize("checks", [False, True])
def test_without_a_controller_nothing_is_created_through_brokers(checks):
    schedule = begun(checks=checks, restarts=2)
    assert is_enabled(schedule, "new_client_creates_topic(0)")
    schedule.take("crash(0)")
    schedule.take("crash(1)")
    assert is_enabled(schedule, "new_client_creates_topic(0)") != checks
    schedule.do("restart(0)")
    assert is_enabled(schedule, "new_client_creates_topic(0)")


def test_a_topic_that_the_controllers_broker_still_has_in_its_cache_is_not_created():
    schedule = begun()
    schedule.do("new_client_creates_topic(0)")
    assert all(broker.cached_topics == {0} for broker in schedule.cluster.brokers)
    schedule.do("client_deletes_topic(0)")
    assert all(broker.cached_topics == frozenset() for broker in schedule.cluster.brokers)
    assert is_enabled(schedule, "new_client_creates_topic(0)")


def test_a_topic_that_was_removed_by_hand_is_not_created_while_the_controllers_broker_has_it_in_its_cache():
    model = Model(STORIES["delete-by-hand"], "3.9.0", {"failovers": 1}, {"broker_checks": True})
    schedule = Schedule(model)
    schedule.do("new_client_creates_topic(0)")
    schedule.do("remove_topic_by_hand(0)")
    assert not is_enabled(schedule, "new_client_creates_topic(0)")
    schedule.take("crash(0)")
    schedule.settle(but=())
    assert schedule.cluster.zookeeper.controller == 1
    assert not is_enabled(schedule, "new_client_creates_topic(0)")
    schedule.do("delete_controller()", winner=0)
    assert is_enabled(schedule, "new_client_creates_topic(0)")


def test_partitions_are_not_added_to_a_queued_topic():
    schedule = begun(partitions=2, new_expansions=1)
    schedule.do("new_client_creates_topic(0)")
    assert is_enabled(schedule, "new_client_adds_partitions(0)")
    schedule.take("client_deletes_topic(0)")
    schedule.take("topic_deletion(0)")
    assert not is_enabled(schedule, "new_client_adds_partitions(0)")


@pytest.mark.parametrize(
    ("story", "flag"), [("delete-and-recreate-through-brokers", "reassignment"), ("reassignment", "broker_checks")]
)
def test_brokers_that_check_cannot_be_together_with_reassignments(story, flag):
    """A broker's metadata cache follows the requests about its own replicas: each has one of every partition."""
    with pytest.raises(UsageError, match=r"'broker_checks' and 'reassignment' are both on.*--flag reassignment=off"):
        Model(STORIES[story], "3.9.0", flags={flag: True})


@pytest.mark.usefixtures("interpreted")
def test_while_no_session_ends_all_caches_lose_a_deleted_topic():
    verdict = exhaust(Model(STORIES["deletion-as-clients-see-it"], "3.9.0", {"expirations": 0}), keep_going=True)
    assert (verdict.strength, verdict.bounds_hit) == (Strength.EXHAUSTIVE, {})
    assert [finding.prop for finding in verdict.findings] == ["failover_completes()"]  # a witness


def after_a_missed_deletion(release: str, **flags: bool) -> Schedule:
    """A topic is deleted while the session of a broker has ended that has no replica of it."""
    schedule = Schedule(Model(STORIES["deletion-as-clients-see-it"], release, {"failovers": 1}, flags))
    schedule.take("expire_session(1)")
    schedule.take("client_deletes_topic(0)")
    schedule.settle(but=("notice_expiry",))
    assert not schedule.cluster.zookeeper.topics[0].exists
    schedule.settle()
    return schedule


@pytest.mark.parametrize("release", ["2.8.2", "3.9.0"])
def test_a_broker_that_missed_a_deletion_has_the_topic_and_refuses_to_create_it(release):
    schedule = after_a_missed_deletion(release)
    assert schedule.violated("metadata_converges") == ["metadata_converges(1, 0, 0)"]
    assert schedule.violated("free_name_can_be_created") == []
    assert is_enabled(schedule, "new_client_creates_topic(0)")
    schedule.do("delete_controller()", winner=1)
    assert schedule.violated("free_name_can_be_created") == ["free_name_can_be_created(0)"]
    assert not is_enabled(schedule, "new_client_creates_topic(0)")


def test_a_topic_that_is_created_by_another_controller_is_in_all_caches():
    schedule = after_a_missed_deletion("3.9.0")
    schedule.do("new_client_creates_topic(0)")
    assert schedule.violated("metadata_converges") == []


def test_before_2_3_1_zookeeper_alone_says_whether_a_topic_exists():
    schedule = after_a_missed_deletion("2.5.0", create_checks_cache=False)
    schedule.do("delete_controller()", winner=1)
    assert schedule.violated("metadata_converges") == ["metadata_converges(1, 0, 0)"]
    assert is_enabled(schedule, "new_client_creates_topic(0)")


def test_caches_that_drop_what_is_not_named_lose_a_deleted_topic():
    schedule = after_a_missed_deletion("3.9.0", unnamed_topics_leave_caches=True)
    assert schedule.violated("metadata_converges") == []
    schedule.do("delete_controller()", winner=1)
    assert is_enabled(schedule, "new_client_creates_topic(0)")
