"""Plans and forecasts of clusters from public reports: what they say, held against Kafka and against the diagnosis."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kwalk.invariants.reading.inspection import inspect_capture
from kwalk.invariants.reading.outlook import deletion_of, read_snapshot, recovery_problem
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.language.recovery import Problem, Procedure
from kwalk.reports.pages.outlook import diagnosis_of
from kwalk.search.analyses.recovery import Recovery, foresee, plan_recovery
from tests.snapshots.test_reported_clusters import CLUSTERS, planned, steps


def read(name: str) -> dict[str, Any]:
    return json.loads(CLUSTERS[name].read_text())


def problem(capture: dict[str, Any]) -> Problem:
    return recovery_problem(json.dumps(capture).encode())


def procedure(found: Problem, name: str) -> Procedure:
    return next(one for one in found.procedures if one.name == name)


def answers(recovery: Recovery) -> dict[str, list[str] | None]:
    return {one.problem.premise: steps(one) for one in (recovery, *recovery.alternatives)}


def concluded(name: str, *ways: tuple[str, str], found: bool = False) -> str:
    """What the search of a forecast says, where it found these steps, or nothing."""
    diagnose = read_snapshot(CLUSTERS[name]).diagnose
    assert diagnose is not None
    return " ".join(diagnose(ways if found or ways else None))


# Steps.


def test_a_generated_broker_id_is_refused_where_it_is_set_while_ids_are_generated() -> None:
    """KafkaConfig.validateValues: not greater than reserved.broker.max.id, unless broker.id.generation.enable=false."""
    found = recovery_problem(CLUSTERS["generated-broker-id-changed"])
    lines = [line for one in found.procedures for line in one.commands if "broker.id=1001" in line]
    assert lines[0] == "# broker.id=1001 and broker.id.generation.enable=false in config/server.properties"
    of_empty = procedure(found.alternatives[-1], "start-empty-broker 1001").commands
    assert "broker.id.generation.enable=false" in of_empty[0]
    assert not any("generation" in line for one in problem(read("power-was-lost")).procedures for line in one.commands)


def test_files_are_touched_when_the_process_of_the_broker_has_ended_and_in_each_log_directory() -> None:
    """kafka-server-stop.sh only sends a signal; a folder of no partition in a log directory stops a broker's start."""
    found = recovery_problem(CLUSTERS["one-replica-of-an-earlier-topic"])
    stop, move, _ = procedure(found, "move-directories orders 3").commands
    assert stop.endswith("wait until its process has ended") and move.endswith("BACKUP is outside of it")
    assert procedure(found, "restart-without-metadata-files orders 1").commands[1].endswith("# in each LOG_DIR")


@pytest.mark.parametrize(("release", "server"), [("2.5.1", "--zookeeper ZK"), ("2.6.0", "--bootstrap-server BROKER")])
def test_kafka_2_5_moves_replicas_with_the_address_of_zookeeper(release: str, server: str) -> None:
    """ReassignPartitionsCommand.validateAndParseArgs of 2.5 requires --zookeeper."""
    capture = read("replicas-written-by-hand-leave-the-leader-out") | {"version": release}
    assert f"kafka-reassign-partitions.sh {server} " in procedure(problem(capture), "put-back orders 2").commands[1]


def test_a_broker_without_a_leader_to_be_may_start_with_empty_disks() -> None:
    """The only topic that needs it is being deleted: it leads nothing."""
    found = recovery_problem(CLUSTERS["deletion-waits-for-a-retired-broker"])
    before = procedure(found, "start-broker 4").before
    assert isinstance(before, str) and "are its own (ls LOG_DIR)" in before and "it would lead" not in before


def test_a_replica_out_of_the_isr_starts_before_the_isr_only_without_unclean_elections() -> None:
    before = procedure(recovery_problem(CLUSTERS["each-broker-is-an-only-isr-member"]), "start-broker 0").before
    assert isinstance(before, str)
    assert "unclean.leader.election.enable is false for orders-1, orders-2, __consumer_offsets-1" in before


def test_an_empty_log_is_copied_from_nobody_where_the_topic_begins_with_it() -> None:
    found = recovery_problem(CLUSTERS["zookeeper-lost-topic-created-again"])
    (empty,) = found.alternatives
    assert procedure(empty, "move-directories clock 1001").risk.startswith("the topic begins with empty logs; ")


# Plans.


def test_the_longest_logs_lead_after_a_loss_of_power_and_no_empty_broker_takes_their_place() -> None:
    """As the diagnosis says. An empty broker that starts first would lead, and the others truncate what they have."""
    recovery = planned("power-was-lost")
    wanted = ["write-states-of-latest", "start-broker 1", "start-broker 2"]
    assert steps(recovery) == wanted and recovery.plan is not None and recovery.plan.at_any_moment
    written = [line for line in procedure(recovery.problem, wanted[0]).commands if " set " in line]
    assert '"leader":2,' in written[0] and '"leader":1,' in written[1]
    with_losses = next(
        one for one in recovery.problem.alternatives if one.premise.endswith("acknowledged records may be lost")
    )
    assert not any(one.name.startswith("start-empty-broker") for one in with_losses.procedures)


def test_the_leader_becomes_the_isr_where_the_isr_has_a_broker_that_does_not_exist() -> None:
    recovery = planned("isr-names-a-broker-that-does-not-exist")
    assert steps(recovery) == ["write-states-of-leaders", "fail-over"]
    assert '"leader":2,"version":1,"leader_epoch":16,"isr":[2]' in recovery.problem.procedures[0].commands[1]


def test_a_live_leader_of_an_empty_isr_is_not_restarted() -> None:
    """The diagnosis says so. Which records were acknowledged, an empty ISR does not show."""
    assert answers(planned("isr-is-empty-and-the-leader-lives")) == {
        "": None,
        "if acknowledged records may be lost": ["write-states-of-leaders", "fail-over"],
    }


def test_logs_of_a_partition_to_which_the_znode_gives_no_replica_stay() -> None:
    found = recovery_problem(CLUSTERS["partition-without-replicas"])
    assert found.left_out == ("orders-1",)
    assert not any(one.name.startswith("move-directories") for one in found.procedures)


@pytest.mark.parametrize("name", ["deletion-that-nobody-wanted", "deletion-waits-for-a-retired-broker"])
def test_each_answer_that_ends_a_deletion_asks_whether_it_is_wanted(name: str) -> None:
    found = recovery_problem(CLUSTERS[name])
    premises = [one.premise for one in (found, *found.alternatives)]
    assert len(premises) > 1 and all("marked for deletion on purpose" in one for one in premises)


def test_a_plan_is_not_for_the_logs_without_a_topic_of_the_broker_that_it_starts() -> None:
    found = recovery_problem(CLUSTERS["created-again-with-a-dead-broker"])
    assert found.uncovered == ("orphaned-log",)


# Forecasts.


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("created-on-brokers-that-do-not-exist", "no-live-replica"),
        ("controller-is-silent", "controller-is-silent"),
        ("disk-of-another-cluster", "no-live-isr and log-directory-of-another-broker"),
        ("broker-in-another-ensemble", "zookeeper-has-none-of-the-topics and orphaned-log"),
    ],
)
def test_a_search_is_no_comfort_about_damage_that_it_is_not_about(name: str, kinds: str) -> None:
    text = concluded(name)
    assert text.startswith(f"The search is not about {kinds}; what it asks for")
    assert text.endswith("Brokers that are down start in it.") is (name == "created-on-brokers-that-do-not-exist")


def test_the_start_of_a_broker_that_is_down_is_a_step_on_the_way_to_a_violation() -> None:
    """The failover alone changes nothing, as what events do says."""
    ways = (("broker 1", "starts"), ("operator", "deletes /controller"), ("broker 1", "starts"))
    wanted = "The search's shortest way to a violation: broker 1 starts, then the operator deletes /controller."
    assert concluded("broker-got-a-new-id", *ways) == wanted


def test_damage_that_is_latent_is_not_broken_because_a_property_has_it() -> None:
    assert (
        concluded("isr-of-other-brokers", found=True) == "What the search asks for is violated in the snapshot already."
    )


def test_events_are_not_foreseen_with_a_controller_that_the_cluster_does_not_have() -> None:
    reading = read_snapshot(CLUSTERS["no-controller-and-a-stopped-leader"])
    assert reading.problems[0].what_ifs == () and reading.problems[0].worlds
    assert any("no model has no-controller" in one for one in reading.facts)


@pytest.mark.parametrize(
    ("name", "topic", "waits"),
    [
        ("id-written-back-mixed-logs", "orders", "broker 3"),
        ("failed-disk-of-an-only-isr-member-and-of-another", "orders", "a failed disk of broker 2"),
    ],
)
def test_a_deletion_that_waits_is_said_to_wait(name: str, topic: str, waits: str) -> None:
    reading = read_snapshot(CLUSTERS[name])
    assert reading.problems[1].worlds == ()
    assert f"If topic {topic} is deleted, that waits for {waits}." in reading.facts


def test_a_deletion_ends_and_does_not_change_nothing() -> None:
    """Beside the two partitions that the znode has lost, the topic has two that are in order."""
    capture = read_capture(CLUSTERS["restored-before-an-expansion"])
    inspection = inspect_capture(capture)
    texts = diagnosis_of(inspection, [foresee(deletion_of(capture, inspection))], [])
    assert texts[-1].endswith("the deletion ends, and leaves nothing of metrics-0 and metrics-1.")


def test_a_forecast_does_not_say_that_the_newest_log_is_not_known_where_the_plan_knows_it() -> None:
    (why,) = (one for one in read_snapshot(CLUSTERS["restored-states-of-three-leaders"]).facts if "Not searched" in one)
    assert why.endswith("brokers may know a later one: only plans look at that.")


# Partitions without a state.


def test_states_are_created_where_logs_have_records_and_the_first_live_replica_s_lacks_some() -> None:
    """An election would take it as leader: so a plan is for a controller that does not notice the partitions."""
    found = problem(read("znodes-written-again-without-states"))
    (later,) = (one for one in found.alternatives if "a minute later" in one.premise)
    recovery = plan_recovery(later)
    assert recovery.plan is not None and recovery.plan.faults and recovery.plan.at_any_moment
    written, failed_over = recovery.plan.procedures
    creations = [line for line in written.commands if "/partitions/0/state" in line]
    assert failed_over.name == "fail-over"
    assert creations == [
        "zkCli.sh -server ZK create /brokers/topics/orders/partitions/0/state "
        """'{"controller_epoch":1,"leader":2,"version":1,"leader_epoch":13,"isr":[2]}'"""
    ]


@pytest.mark.parametrize("hidden", [True, False])
def test_no_state_is_created_where_nothing_shows_which_log_ends_last(hidden: bool) -> None:
    capture = read("znodes-written-again-without-states")
    broker = capture["brokers"]["3"]
    if hidden:
        broker["dirs"] = None
    else:
        log = broker["dirs"]["orders-0"]
        log["leader_epoch_checkpoint"], log["files"] = log["leader_epoch_checkpoint"].replace("3 50", "3 40"), None
        del broker["dirs"]["orders-1"]
    for one in (found := problem(capture), *found.alternatives):
        states = [each for each in one.procedures if each.name.startswith("write-states")]
        assert not any("orders/partitions/0/" in line for each in states for line in each.commands)
