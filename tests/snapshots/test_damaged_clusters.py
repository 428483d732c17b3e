"""Snapshots that `kwalk collect` took of damaged real clusters, which `kwalk lab reproduce recover-…` had made.

What an inspection must find is stated with the experiments; the lab probed the partitions after each snapshot.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from attrs import evolve

from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import damaged_topics, recovery_problem
from kwalk.invariants.reading.partition_groups import groups_of, parts_of
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.procedures import Catalogue
from kwalk.model.language.inspection import Severity
from kwalk.model.language.recovery import Problem
from kwalk.search.analyses.recovery import plan_recovery
from kwalk.search.analyses.settling import Settling
from tests.snapshots.captured import FILES as CAPTURES

FILES = sorted((Path(__file__).parent / "damaged").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_damage_is_named_and_no_other(path: Path) -> None:
    name, _, release = path.stem.rpartition("-")
    case = EXPERIMENTS[f"recover-{name}"].run.keywords["case"]
    found = inspect_snapshot(path).by_kind()
    damage = {kind.name for kind in found if kind.severity is not Severity.NOTE}
    assert damage == set(case.kinds[release])


def test_a_topic_whose_znodes_are_gone_is_served_still_and_a_plan_warns() -> None:
    """The lab produced to it; a topic that is created again gets the records by writing the earlier id."""
    (path,) = (path for path in FILES if path.stem == "deleted-by-hand-3.9.0")
    (note,) = recovery_problem(path).notes
    assert note.startswith("Brokers still serve topic t0, of which ZooKeeper has nothing.")


def test_every_damage_of_the_lab_has_a_snapshot() -> None:
    made = {path.stem.rpartition("-")[0] for path in FILES}
    wanted = {name.removeprefix("recover-") for name in EXPERIMENTS if name.startswith("recover-")}
    apart = {"crash", "random-damages", "many-topics"}  # a broker that has just crashed is registered: none shows it
    assert wanted - made == apart, "those of many topics are in test_large_clusters.py"


# Plans.

CLEAN = "if unclean.leader.election.enable of t0 is false"
OWN_DISKS = "if the replicas have disks of their own"
OWN_STRAY = "if t0-0 of broker 3 has what it has on broker 4"
UNSEEN = "if the log directories of broker {}, which the snapshot lacks, have the logs that ZooKeeper assigns to them"
NO_LATER = "; those of broker {} have no leader epoch above ZooKeeper's"
BEGAN = "; of broker {} they began as those that were read"
OWN_TOPIC = "if those of broker 3 are not of an earlier topic of the name (partition.metadata has the id)"
UNREADABLE = "if the failed disk of broker 2 cannot be read"
NOT_EARLIER = "if the logs of topic t are not of an earlier topic of the name"
NOT_MEASURED = (
    "if of the logs whose sizes or leader epochs the snapshot lacks, those of brokers 1, 2 and 3 have no leader epoch "
    "above ZooKeeper's, and lack nothing that others have"
)
ANSWERS = {
    "another-broker-id-in-use-3.9.0": {
        "if the disk of broker 4 is that of broker 3, which has got another id": ["give-directories 4 3"],
        f"{OWN_DISKS}, and {UNSEEN.format(3)}{NO_LATER.format(3)}, and {OWN_STRAY}": [
            "start-broker 3",
            "move-directories t0 4",
        ],
    },
    "another-broker-id-rf-1-3.9.0": {
        "if the disk of broker 4 is that of broker 3, which has got another id": ["set-broker-id 4 3"],
        f"{OWN_DISKS}, and {UNSEEN.format(3)}{NO_LATER.format(3)}, and {OWN_STRAY}": [
            "start-broker 3",
            "move-directories t0 4",
        ],
    },
    "another-broker-id-rf-2-3.9.0": {
        "if the disk of broker 4 is that of broker 3, which has got another id": ["move-directories t0 4"],
        f"{OWN_DISKS}, and {UNSEEN.format(3)}, and {OWN_TOPIC}": ["move-directories t0 4"],
    },
    "dead-in-isr-2.8.2": {"": [], "if another snapshot, a minute later, shows the same": ["fail-over"]},
    "created-again-3.9.0": {
        f"to keep the records that topic t0 has on broker 1, 2 and 3, and {NOT_MEASURED}": [
            "write-topic-id t0 w3ql-85DTLWEcQAAQZ9Yvg",
            "restart 1 2 3",
        ],
        f"to begin topic t0 with empty logs, and {NOT_MEASURED}": ["move-directories-at-once t0 1 2 3"],
    },
    "created-again-after-elections-3.9.0": {
        "to keep the records that topic t0 has on broker 1, 2 and 3": [
            "write-topic-id t0 91_mik1EQyCMpiwYCANVZg",
            "write-states-of-first-leaders",
            "restart 1 2 3",
        ],
        "to begin topic t0 with empty logs": ["move-directories-at-once t0 1 2 3"],
    },
    "diverged-3.9.0": {"to keep the records that topic t0 has on broker 1 and 2": ["move-directories t0 3"]},
    "empty-isr-3.9.0": {CLEAN: None, f"{CLEAN}, and if acknowledged records may be lost": ["elect-unclean t0 3"]},
    "isr-by-hand-3.9.0": {"": ["write-states-of-leaders", "fail-over"]},
    "restored-zookeeper-3.9.0": {NOT_EARLIER: ["write-states", "restart 1 2 3"]},
    "restored-zookeeper-backup-3.9.0": {
        NOT_EARLIER: ["write-states", "start-broker 1"],
        f"{NOT_EARLIER}, and if broker 1 is gone for good": ["write-states-of-next 1", "start-broker 2"],
        f"{NOT_EARLIER}, and if brokers 1, 2 and 3 are gone for good": None,
        f"{NOT_EARLIER}, and if brokers 1, 2 and 3 are gone for good, and acknowledged records may be lost": [
            "write-states",
            "start-empty-broker 1",
        ],
    },
    "failed-disk-of-a-replica-3.9.0": {
        "": ["repair-disk 2"],
        UNREADABLE: ["replace-disk 2"],
    },
    "restored-leader-beside-a-failed-disk-3.9.0": {
        "": None,
        "if acknowledged records may be lost": ["repair-disk 2", "elect-unclean t0"],
        f"{UNREADABLE}, and acknowledged records may be lost": ["start-broker 1", "replace-disk 2"],
    },
    "restored-leader-3.9.0": {CLEAN: None, f"{CLEAN}, and if acknowledged records may be lost": ["elect-unclean t0"]},
    "waiting-deletion-3.9.0": {
        "if t0 was marked for deletion on purpose": ["start-broker 3"],
        "if t0 was marked for deletion on purpose, and if broker 3 is gone for good": ["start-empty-broker 3"],
    },
    "wiped-leader-unseen-3.9.0": {
        f"{CLEAN}, and {UNSEEN.format(1)}{NO_LATER.format(1)}{BEGAN.format(1)}": ["start-broker 1"],
        f"{CLEAN}, and if broker 1 is gone for good": None,
        f"{CLEAN}, and if broker 1 is gone for good, and acknowledged records may be lost": ["elect-unclean t0"],
    },
}
"""The steps of each answer, by its condition; None without a safe plan."""


@pytest.mark.parametrize("name", ANSWERS)
def test_each_answer_has_the_steps_that_were_carried_out_or_none(name: str) -> None:
    (path,) = (path for path in FILES if path.stem == name)
    recovery = plan_recovery(first_of(recovery_problem(path), len(ANSWERS[name])), seconds=300)
    found = {
        one.problem.premise: None if one.plan is None else [step.name for step in one.plan.procedures]
        for one in (recovery, *recovery.alternatives)
    }
    assert found == ANSWERS[name]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name", ["created-again", "failed-disks-of-two-brokers", "stale-log", "states-removed-after-elections"]
)
def test_the_plan_is_one_that_was_carried_out(name: str) -> None:
    for path in FILES:
        if path.stem.rpartition("-")[0] == name:
            found = plan_recovery(first_of(recovery_problem(path), 1), seconds=300)
            assert found.plan is not None and found.problem.carried_out_as(found.plan.procedures), path.stem


def test_an_old_copy_leads_for_nobody_while_a_failed_disk_may_have_more() -> None:
    """The only ISR member has it: who may lose records repairs the disk of the other replica."""
    found = recovery_problem(next(path for path in FILES if path.stem == "restored-leader-beside-a-failed-disk-3.9.0"))
    (lossy,) = (one for one in found.alternatives if one.premise == "if acknowledged records may be lost")
    steps = {one.name for one in lossy.procedures}
    assert "repair-disk 2" in steps and "start-broker 1" not in steps


def test_no_shorter_log_leads_for_a_while_in_a_plan() -> None:
    """Broker 1 would lead with it before the longer one does: what is written meanwhile is lost."""
    problem = recovery_problem(next(path for path in FILES if path.stem == "power-was-lost-2.8.2"))
    (gone,) = (one for one in problem.alternatives if one.premise == "if broker 3 is gone for good")
    found = plan_recovery(gone, seconds=120).plan
    assert found is not None
    assert [one.name for one in found.procedures] == ["write-states-of-next 3", "start-broker 1", "start-broker 2"]
    unwritten = evolve(gone, procedures=tuple(one for one in gone.procedures if one != found.procedures[0]))
    assert plan_recovery(unwritten, seconds=120).plan is None
    assert plan_recovery(evolve(unwritten, kept=frozenset()), seconds=120).plan is not None


def violated_after(name: str, *steps: str) -> set[str]:
    """The claims that may be violated after some steps, as plain Python executes them in the first world."""
    problem = recovery_problem(next(path for path in FILES if path.stem == name))
    settling = Settling(evolve(problem.worlds[0], plain=True))
    belief = settling.first(0)
    for step in steps:
        for move in next(one for one in problem.procedures if one.name == step).moves[0]:
            belief = settling.moved(belief, move)
    return {claim for vector, _ in belief.states for claim in settling.violated(vector)}


def test_a_state_that_is_older_than_the_logs_is_written_before_a_controller_reads_it() -> None:
    """As the lab saw on 2.8.2 and 3.9.0: a failover alone ends the service, and one after the write does not."""
    assert {"partition_servable", "state_has_the_latest_epoch"} <= violated_after(
        "restored-zookeeper-2.8.2", "fail-over"
    )
    assert not violated_after("restored-zookeeper-2.8.2", "write-states", "fail-over")


def test_elections_do_not_make_up_for_an_older_state() -> None:
    """ZooKeeper was restored from a backup, and no broker reached it until it was started again."""
    name = "restored-zookeeper-backup-3.9.0"
    older = {"state_has_the_latest_epoch", "clients_take_the_leader"}
    assert violated_after(name, *(f"start-broker {number}" for number in (1, 2, 3))) == older
    assert not violated_after(name, "write-states", "start-broker 1")


def test_a_zookeeper_that_was_restored_needs_later_producer_ids() -> None:
    """As the lab saw: a record was acknowledged, and taken for a duplicate of one with the same id and sequence."""
    snapshot = next(path for path in FILES if path.stem == "restored-zookeeper-backup-3.9.0").read_bytes()
    ways_out = {kind.name: kind.way_out for kind in inspect_snapshot(snapshot).by_kind()}
    assert ways_out["state-is-behind-the-logs"].count("/latest_producer_id_block") == 1


def test_a_newest_log_that_is_gone_is_given_up_for_the_newest_that_is_left() -> None:
    snapshot = json.loads(next(path for path in FILES if path.stem == "restored-zookeeper-noticed-3.9.0").read_text())
    snapshot["broker_ids"], snapshot["controller"] = [1, 2], 1
    snapshot["brokers"]["3"].update(alive=False, metadata_cache=None)
    for broker in "12":
        log = snapshot["brokers"][broker]["dirs"]["t-0"]
        log.update(leader_epoch_checkpoint="0\n3\n0 0\n1 2\n2 4\n", files={"00000000000000000000.log": 558})
    problem = recovery_problem(json.dumps(snapshot).encode())
    steps = {one.name: one for one in problem.procedures if one.name.startswith("write-states")}
    assert list(steps) == ["write-states", "write-states-without-newest 1"]
    assert '"leader":3,"version":1,"leader_epoch":13,"isr":[3]' in steps["write-states"].commands[1]


def first_of(problem: Problem, count: int) -> Problem:
    """The problem, and no alternatives if one answer is asked for."""
    return evolve(problem, alternatives=()) if count == 1 else problem


def test_a_deletion_that_waits_is_covered_by_its_plan() -> None:
    problem = recovery_problem(next(path for path in FILES if path.stem == "waiting-deletion-3.9.0"))
    assert not problem.uncovered


def test_an_unclean_election_says_who_is_elected_and_how_long_the_logs_are() -> None:
    """Broker 3 is the first of the replicas, and lacks two records that broker 2 has: 2.8.2 and 3.9.0 elected it."""
    problem = recovery_problem(next(path for path in FILES if path.stem == "empty-isr-3.9.0"))
    elect = next(one for one in problem.procedures if one.name.startswith("elect-unclean"))
    assert elect.risk.startswith("broker 2 becomes the leader of t0-0, whose log has 372 bytes (that of broker 3 186)")
    assert elect.title == "Elect leaders of topic t0 that are not in the ISR while broker 3 is stopped."


def test_where_no_claim_tells_them_apart_a_step_names_what_an_inspection_may_find() -> None:
    """On 3.4.1 and 3.9.0 the lab saw a leader that refuses fetches by id, which in truth did not lead."""
    path = next(path for path in FILES if path.stem == "stale-log-of-the-only-replica-3.9.0")
    recovery = plan_recovery(recovery_problem(path), seconds=300)
    assert recovery.plan is not None
    assert {"partition_servable", "leader_answers_fetches_by_id", "context_agrees"} <= recovery.plan.shows[0]


SNAPSHOTS = [*FILES, *sorted((Path(__file__).parent / "reported").glob("*.json")), *CAPTURES.values()]


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.stem)
def test_no_check_before_a_step_contradicts_the_snapshot(path: Path) -> None:
    """Nor what earlier steps have started."""
    capture = read_capture(path)
    down = {str(broker.id) for broker in capture.brokers.values() if not broker.alive}
    groups, _ = groups_of(capture, damaged_topics(capture, inspect_snapshot(path)))
    choices = range(max((len(group.choices) for group in groups), default=0))
    for procedure in [one for n in choices for one in Catalogue(capture, parts_of(groups, n)).procedures()]:
        for started in (frozenset(), *(frozenset({broker}) for broker in down)):
            text, left = procedure.condition(started), down - started - procedure.starts - set(procedure.name.split())
            if "all brokers" in text:
                assert named(text, r"all brokers(?: but ([\d, and]+))? are in /brokers/ids") == down - started
            if " is down" in text:
                assert named(text, r"no (?:other broker|broker but ([\d, or]+)) is down") == left
            if "does not show" in text:
                assert named(text, r"does not show ([\d]+)") <= down
            if "as the snapshot shows them" in text:
                assert all(capture.brokers[int(broker)].seen for broker in procedure.starts)
            if "is up" in text:
                assert not named(text, r"broker (\d+) is up") & down
            if "no replica of" in text:
                broker, partitions = re.findall(r"broker (\d+) is no replica of (.*?) \(", text)[0]
                for topic, number in re.findall(r"([\w.-]+)-(\d+)", partitions):
                    known = capture.topics.get(topic)
                    assert known is None or int(broker) not in known.partitions.get(int(number), ())


def named(text: str, pattern: str) -> set[str]:
    """The numbers that a part of a text names; the part must be there."""
    (found,) = re.findall(pattern, text)
    return set(re.findall(r"\d+", found))
