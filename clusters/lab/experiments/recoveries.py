"""Plans of `kwalk diagnose --plan` on real brokers: a cluster is damaged and repaired, and its logs are read.

Known records are written before the damage. After the plan, and again after a rolling restart, the segments of every
replica are read: each acknowledged record of the topic that is kept is on every ISR member at its offset, none of
another topic is there, and what was moved away is in the backup. Snapshots are those of `kwalk collect`.

A round carries out one answer: the first round the first one, the next ones the alternatives that have a plan. A round
without an answer left restarts the brokers without a repair, and compares what is found then with what is so.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen

from kwalk.clusters.collect.log_files import offsets_in
from kwalk.clusters.lab.cluster import Lab, LabOptions, failed_root
from kwalk.clusters.lab.experiments import damages
from kwalk.clusters.lab.experiments.damages import FIRST, SECOND, Damage, Scene
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import (
    AFTER,
    DAMAGED,
    Kept,
    Ledger,
    logs_in_backups,
    logs_on_disks,
    lost_copies,
    members_of,
    records_left,
    seen_damage,
    what_to_keep,
    wrong_records,
)
from kwalk.clusters.lab.experiments.operator_steps import carry_out, move_away, rest
from kwalk.clusters.lab.experiments.random_damages import RandomDamages
from kwalk.clusters.lab.processes import wait_until
from kwalk.invariants.reading.conditions import ON_NO_DISK
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.losses import WITH_LOSSES
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language.inspection import Inspection, Severity
from kwalk.search.analyses.recovery import Plan, Recovery, plan_recovery

PATIENCE = 240.0
"""Seconds for a plan."""
WAIT = 60.0
"""Seconds that are waited at most where a plan has no steps: the session of a killed broker expires meanwhile."""
EXPIRY = 25.0
"""Seconds in which the session of a killed broker expires: before, nothing shows that it is down."""
GIVEN_UP = "are given up"
"""How the condition of an answer ends that gives the records of a partition up, of which no disk that was read has."""
ORPHANED = "orphaned-log"
"""The kind of damage with which a topic's name is not to be used again."""
WITH_EMPTY_LOGS = "to begin topic"
"""What the premise of an answer has that keeps no records."""


def collected(lab: Lab, controllers: Iterable[Path] = ()) -> bytes:
    """Return the snapshot that `kwalk collect` takes of a lab with all log directories, and those of controllers."""
    from kwalk.clusters.collect.collect import CollectOptions, LogPlace, collect
    from kwalk.clusters.collect.zookeeper import ZooKeeperOptions, ZooKeeperReader  # loads the client of ZooKeeper

    roots = ((root, broker.id) for broker in lab.brokers.values() for root in broker.roots if root.is_dir())
    places = (*(LogPlace(str(root), number) for root, number in roots), *(LogPlace(str(root)) for root in controllers))
    with ZooKeeperReader(ZooKeeperOptions(f"127.0.0.1:{lab.zookeeper_port}")) as reader:
        return collect(reader, CollectOptions(lab.options.release, logs=places)).text.encode()


@frozen
class _Diagnosis:
    """What a snapshot was found to show."""

    snapshot: bytes
    inspection: Inspection

    @property
    def kinds(self) -> list[str]:
        return [kind.name for kind in self.inspection.by_kind()]

    @property
    def damage(self) -> list[str]:
        return [kind.name for kind in self.inspection.by_kind() if kind.severity is not Severity.NOTE]

    @property
    def is_broken(self) -> bool:
        return self.inspection.severity is Severity.BROKEN

    def violated(self, uncovered: Collection[str] = ()) -> set[str]:
        """Return the properties that are violated, and are more than a note, without those of some kinds of damage."""
        kinds = (kind for kind in self.inspection.by_kind() if kind.severity is not Severity.NOTE)
        return {name for kind in kinds if kind.name not in uncovered for name in kind.properties}


@frozen
class Case:
    """A damage, and what is right to say of it.

    Args:
        damage: Does it.
        kinds: The kinds of damage that an inspection must find, by release; notes are not counted.
        probed: Whether partitions are probed before the plan is made: what is wrong then must be found broken.
        keeps: The origin of the records that the topic is to have; by what an answer's premise has where it is
            another one.
        deletes: Whether the topic is to be deleted: none of its records is kept.
        is_planned: Whether there is to be a plan; None if that is not known.
        untrue: What premises of answers say that is not so: an operator who looks does not follow these.
        leaves: The kinds of damage that are left, as records are given up that a broker has which is down.
    """

    damage: Damage
    kinds: Mapping[str, Collection[str]] = field(factory=dict)
    probed: bool = True
    keeps: str | None = FIRST
    keeps_if: Mapping[str, str | None] = field(factory=dict)
    deletes: bool = False
    is_planned: bool | None = True
    untrue: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    def kept(self, premise: str) -> str | None:
        """Return the origin of the records that an answer keeps."""
        if WITH_EMPTY_LOGS in premise:
            return None
        return next((o for begin, o in self.keeps_if.items() if begin in premise), self.keeps)


# Rounds.


def diagnosed(scene: Scene, label: str) -> _Diagnosis:
    """Inspect a snapshot, which is kept with the evidence."""
    snapshot = collected(scene.lab)
    scene.this.keep_snapshot(label, snapshot.decode())
    return _Diagnosis(snapshot, inspect_snapshot(snapshot))


def damage_now(scene: Scene) -> list[str]:
    """Return what is wrong with the topics, without an inspection; not what clients get."""
    return [line for topic in (scene.topic, *(one.topic for one in scene.others)) for line in _damage(scene.lab, topic)]


def _damage(lab: Lab, topic: str) -> list[str]:
    znode = lab.topic(topic)
    if znode is None:
        return []
    replicas = {int(number): brokers for number, brokers in znode["partitions"].items()}
    live = set(map(int, lab.zk.children("/brokers/ids")))
    found = seen_damage(topic, replicas, lab.states(topic), logs_on_disks(lab, topic), live)
    return [line for line in found if line not in set(_on_failed_disks(lab, topic, replicas))]


def _on_failed_disks(lab: Lab, topic: str, replicas: Mapping[int, Sequence[int]]) -> Iterator[str]:
    """Yield that replicas are not in the ISR whose disks have failed: no plan of an inspection puts new ones in."""
    for number, assigned in replicas.items():
        name = f"{topic}-{number}"
        for broker in set(assigned) & lab.brokers.keys():
            if any((failed_root(root) / name).is_dir() for root in lab.brokers[broker].roots):
                yield f"{name}: broker {broker} is up and not in the ISR"


def _served(scene: Scene, origin: str) -> list[str]:
    """Write known records; return what is refused. A topic that is gone is created again: then its name serves."""
    lab, topic = scene.lab, scene.topic
    if lab.topic(topic) is None:
        created = lab.admin(milliseconds=8000).create_topic(topic, {0: [2, 3]})
        lab.wait_for_leaders(topic)
        rest(lab)
        if lab.topic(topic) is None:
            return [f"{topic} is not created again: {created}"]
    return scene.ledger.write(lab, origin)


def _recovered(lab: Lab, this: ExperimentRound, case: Case) -> RoundOutcome:
    """Damage the cluster, and answer."""
    scene = Scene(lab, this, Ledger(this.topic))
    case.damage(scene)
    return _answered(scene, case, this.number)


def _answered(scene: Scene, case: Case, number: int) -> RoundOutcome:
    """Plan for a cluster that is damaged, and carry out an answer, or restart the brokers without one."""
    lab = scene.lab
    found = diagnosed(scene, "damaged")
    details: dict[str, Any] = {"damage": found.kinds}
    right = _is_right(case, found, lab.options.release)
    if case.probed:
        wrong = damage_now(scene)
        wrong += _served(scene, DAMAGED)
        right &= bool(wrong) == found.is_broken
        rest(lab)
        found = diagnosed(scene, "damaged and probed")
        details |= {"wrong when damaged": wrong, "damage after the probe": found.kinds}
    details["diagnosis is right"] = right
    recovery = plan_recovery(recovery_problem(found.snapshot), seconds=PATIENCE)
    answers = [one for one in (recovery, *recovery.alternatives) if one.plan and not _covers_nothing(one)]
    answers = [one for one in answers if not any(text in one.problem.premise for text in case.untrue)]
    details["answers"] = [_in_words(one) for one in (recovery, *recovery.alternatives)]
    details["seconds of planning"] = round(recovery.seconds, 1)
    details["worlds and states of planning"] = [len(recovery.problem.worlds), recovery.visited]
    if number < len(answers):
        return _carry_out_answer(scene, case, answers[number], details)
    return _without_repair(scene, case, details, has_plan=bool(answers))


def _recovered_at_random(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Damage the cluster at random, by the number of the round, and carry out the first answer that is true."""
    scene = Scene(lab, this, Ledger(this.topic))
    damage = RandomDamages(scene, random.Random(this.number))
    damage.run()
    time.sleep(EXPIRY)
    rest(lab)
    case = Case(
        lambda _: None,
        probed=False,
        is_planned=None,
        keeps=None if scene.is_deleted else scene.origin,
        deletes=scene.is_deleted,
        untrue=(
            "gone for good",
            "cannot be read",
            "if the log dir",
            GIVEN_UP,
            *OWN_DISKS,
            *_other_logs(scene),
            *_failed(lab),
        ),
    )
    outcome = _answered(scene, case, 0)
    return evolve(outcome, details={"acts": damage.acts, **outcome.details})


def _other_logs(scene: Scene) -> list[str]:
    """Return how premises end that keep logs without a record of the topic, of a broker that has others."""
    return [
        f"{scene.topic} has on broker {number}"
        for number, logs in logs_on_disks(scene.lab, scene.topic).items()
        if (found := {entry.origin for log in logs.values() for entry in log.values()}) and scene.origin not in found
    ]


def _failed(lab: Lab) -> tuple[str, ...]:
    """Return how premises end that take logs for lost which are on a failed disk of a broker that is down."""
    roots = (root for broker in lab.brokers.values() if not broker.runs for root in broker.roots)
    return (ON_NO_DISK,) if any(failed_root(root).is_dir() for root in roots) else ()


def _is_right(case: Case, diagnosis: _Diagnosis, release: str) -> bool:
    return release not in case.kinds or set(diagnosis.damage) == set(case.kinds[release])


def _covers_nothing(recovery: Recovery) -> bool:
    """Whether something is wrong that plans do not cover, and nothing else is."""
    problem = recovery.problem
    is_damaged = problem.inspection.is_damaged
    return recovery.healthy and is_damaged and bool(not problem.worlds or problem.uncovered or problem.left_out)


def _in_words(recovery: Recovery) -> str:
    premise = f"{recovery.problem.premise}: " if recovery.problem.premise else ""
    if recovery.plan is None:
        return premise + ("no safe plan" if recovery.complete else "undecided")
    if _covers_nothing(recovery):
        return f"{premise}not covered: {', '.join((*recovery.problem.uncovered, *recovery.problem.left_out))}"
    return premise + ("; ".join(one.name for one in recovery.plan.procedures) or "nothing to do, or wait")


def _carry_out_answer(scene: Scene, case: Case, answer: Recovery, details: dict[str, Any]) -> RoundOutcome:
    """Do every step, and compare the logs; then restart each broker, and compare again."""
    lab, plan, premise = scene.lab, answer.plan, answer.problem.premise
    assert plan is not None
    kept = _kept(scene, case, premise)
    others = [(other, what_to_keep(other, logs_on_disks(lab, other.topic), FIRST)) for other in scene.others]
    details["answer"] = _in_words(answer)
    details["lost before the plan"] = [f"{one.value} at offset {one.offset}" for one in kept.lost]
    _move_garbled_checkpoints(scene, premise)
    if not plan.procedures:
        details["seconds of waiting"] = _waited(scene)
    uncovered, left = answer.problem.uncovered, answer.problem.left_out
    details["steps"] = steps = list(_carried_out(scene, plan, uncovered))
    scene.gone -= {number for number in scene.gone if number not in lab.brokers or lab.brokers[number].runs}
    if not plan.procedures and diagnosed(scene, "waited").is_broken:
        later = next((one.plan for one in answer.alternatives if one.problem.is_for_later and one.plan), None)
        steps += _carried_out(scene, later, uncovered) if later else ()
        details["steps when nothing has changed"] = [one["step"] for one in steps]
    topics = {scene.topic: kept, **{other.topic: its for other, its in others}}
    bad: list[str] = []
    damage: set[str] = set()
    for when in ("after the plan", "after a rolling restart"):
        if when == "after a rolling restart":
            roll_brokers(scene)
        found = diagnosed(scene, when)
        stays = case.deletes and when == "after the plan" and lab.topic(scene.topic) is not None
        refused = [f"{scene.topic} is not deleted"] if stays else []
        refused += [line for other in scene.others for line in other.write(lab, AFTER)]
        is_free = ORPHANED not in found.kinds and all(broker.runs for broker in lab.brokers.values())
        refused += _served(scene, AFTER) if is_free or scene.has_topic() else []
        wrong = [
            *refused,
            *damage_now(scene),
            *_wrong_bytes(scene, kept, case, may_lose=premise.endswith(WITH_LOSSES)),
            *(line for other, its in others for line in wrong_copies(lab, other, its)),
        ]
        wrong = [line for line in wrong if not _is_of(line, left)]
        details |= {f"found {when}": found.kinds, f"wrong {when}": wrong, f"kept {when}": _left(lab, topics)}
        damage |= {*found.damage} - {*uncovered, *case.leaves}
        bad += wrong
    scene.this.keep_lines("does not match the topic I[Dd]|isr-expiration|Truncating|LeaderElection")
    unforeseen = any(step["not foreseen"] for step in steps)
    outcome = "the plan is wrong" if bad else "not as the plan says" if unforeseen or damage else "repaired"
    if left and not bad:
        outcome = "repaired, but for partitions that the plan leaves alone"
    if outcome == "repaired" and not details["diagnosis is right"]:
        outcome = "repaired, and the diagnosis is wrong"
    return RoundOutcome(outcome, outcome == "repaired", details)


def _is_of(line: str, left: Iterable[str]) -> bool:
    """Whether what is wrong is about a partition that a plan leaves alone; names of several are joined by commas."""
    names = {name for joined in left for name in joined.split(", ")}
    return bool(names) and re.split("[ :]", line)[0] in names


def _move_garbled_checkpoints(scene: Scene, premise: str) -> None:
    """Move checkpoints away that a premise names, as an operator does."""
    for name, number in re.findall(r"(\S+-checkpoint) of broker (\d+)", premise):
        broker = scene.lab.brokers[int(number)]
        for path in [root / name for root in broker.roots if root.is_dir() and (root / name).exists()]:
            if offsets_in(path.read_text()) is None:
                move_away(broker, path)
                scene.lab.note(f"{name} of broker {number} is moved away")


def _waited(scene: Scene) -> int:
    """Wait until the damage is gone, or for as long as an operator is asked to; return how many seconds."""
    began = time.monotonic()
    time.sleep(EXPIRY)
    wait_until(lambda: not damage_now(scene), WAIT, every=1.0)
    return round(time.monotonic() - began)


def _kept(scene: Scene, case: Case, premise: str) -> Kept:
    return what_to_keep(scene.ledger, logs_on_disks(scene.lab, scene.topic), case.kept(premise))


def _left(lab: Lab, kept: Mapping[str, Kept]) -> str:
    """Return how many of the records that were to be kept the leaders have, of all topics."""
    left = [records_left(its, logs_on_disks(lab, topic), members_of(lab.states(topic))) for topic, its in kept.items()]
    return f"{sum(map(len, left))} of {sum(len(its.records) for its in kept.values())} acknowledged records"


def _wrong_bytes(scene: Scene, kept: Kept, case: Case, *, may_lose: bool) -> list[str]:
    """Return what is wrong with the records on disks, and in what was moved away."""
    lab, topic = scene.lab, scene.topic
    logs, members = logs_on_disks(lab, topic), members_of(lab.states(topic))
    if case.deletes:
        kept = Kept((), {}, frozenset())
    wrong = wrong_records(kept, scene.ledger, logs, members, may_lose=may_lose)
    return wrong + ([] if may_lose else lost_copies(kept, logs, logs_in_backups(lab, topic)))


def wrong_copies(lab: Lab, other: Ledger, kept: Kept, *, may_lose: bool = False) -> list[str]:
    """Return what is wrong with the records of a topic."""
    logs, members = logs_on_disks(lab, other.topic), members_of(lab.states(other.topic))
    return wrong_records(kept, other, logs, members, may_lose=may_lose)


def roll_brokers(scene: Scene) -> None:
    """Restart each broker that is not gone."""
    lab = scene.lab
    for number in sorted(set(lab.brokers) - scene.gone):
        if lab.brokers[number].runs:
            lab.stop(number)
        lab.start(number)
        rest(lab)


def _without_repair(scene: Scene, case: Case, details: dict[str, Any], *, has_plan: bool) -> RoundOutcome:
    """Restart the brokers without a repair: what is wrong then must be found."""
    roll_brokers(scene)
    found, wrong = diagnosed(scene, "rolled without a repair"), damage_now(scene)
    wrong += _served(scene, AFTER)
    details |= {"found after a rolling restart": found.kinds, "wrong after a rolling restart": wrong}
    right = details["diagnosis is right"] and (not case.probed or bool(wrong) == found.is_broken)
    what = "no answer is left" if has_plan else "no plan"
    outcome = f"{what}; {'as diagnosed' if right else 'the diagnosis is wrong'}"
    return RoundOutcome(outcome, right and case.is_planned in (None, has_plan), details)


def _carried_out(scene: Scene, plan: Plan, uncovered: Collection[str]) -> Iterator[dict[str, Any]]:
    """Do every step; yield what was found after it, and which of what plans cover it does not foresee."""
    for number, procedure in enumerate(plan.procedures):
        carry_out(scene.lab, procedure)
        found = diagnosed(scene, f"after step {number + 1}")
        unforeseen = sorted(found.violated(uncovered) - plan.shows[number])
        yield {"step": procedure.title, "found": found.kinds, "not foreseen": unforeseen}
        if plan.early[number] and not found.damage:
            return


def _no_alarm(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look at a cluster again and again while its controller moves and its brokers restart."""
    scene = Scene(lab, this, Ledger(this.topic))
    scene.create()
    scene.write(FIRST)
    alarms: dict[str, list[str]] = {}
    looks = 0

    def look(label: str) -> None:
        nonlocal looks
        looks += 1
        found = diagnosed(scene, f"{label} {looks}")
        if found.damage:
            alarms[f"{label} {looks}"] = found.damage

    look("at rest")
    lab.delete_controller()
    look("after a failover")
    for broker in lab.brokers:
        lab.stop(broker)
        look(f"broker {broker} stopped")
        lab.launch(broker)
        end = time.monotonic() + 20
        while time.monotonic() < end and not lab.is_in_every_isr(broker, this.topic):
            look(f"broker {broker} starts")
        look(f"broker {broker} started")
    rest(lab)
    look("at rest again")
    details = {"looks": looks, "alarms": alarms, "not served": _served(scene, AFTER)}
    outcome = "no alarm" if not alarms else f"alarms in {len(alarms)} of {looks} snapshots"
    return RoundOutcome(outcome, not alarms, details)


# Experiments.

RELEASES = ("2.8.2", "3.4.1", "3.9.0")
SINCE_3 = RELEASES[1:]
REPAIR, BY_HAND, STRAY, DELETED = "repair-topic-ids.md", "delete-by-hand.md", "stray-logs.md", "delete-and-recreate.md"
DOWN, BOUNCED = "controller-comes-back.md", "fast-bounce.md"
QUICK: Mapping[str, Any] = {"zookeeper.session.timeout.ms": 9000}
DEAD = LabOptions(settings=QUICK)
"""A cluster in which the session of a broker that has crashed expires soon."""
OFTEN_CHECKPOINTED = LabOptions(settings={**QUICK, "log.flush.offset.checkpoint.interval.ms": 1000})
"""Brokers that write recovery points each second, and whose sessions expire soon."""


def _always(*kinds: str, releases: Sequence[str] = RELEASES) -> dict[str, Collection[str]]:
    return dict.fromkeys(releases, kinds)


def _either(older: Collection[str], newer: Collection[str]) -> dict[str, Collection[str]]:
    return {"2.8.2": older, **dict.fromkeys(SINCE_3, newer)}


STALE = _either(("replicas-diverged", "topic-ids-mixed"), ("replica-refuses", "topic-ids-mixed"))
OWN_DISKS = ("if the replicas have disks of their own", "if the log directories of broker 3")
RENUMBERED = _always("replica-under-another-broker-id", "stray-log")


def planned(name: str, about: str, case: Case, story: str, **more: Any) -> Experiment:
    """Return the experiment that carries out what is planned against a damage."""
    return Experiment(
        name=f"recover-{name}",
        about=f"{about}; the plan of `kwalk diagnose --plan` is carried out; every broker restarts.",
        expected="The damage is named; after the plan, and after the restarts, every partition is served, every ISR "
        "member has the acknowledged records of the topic that is kept and no others, and inspection finds no damage.",
        story=story,
        run=partial(_recovered, case=case),
        releases=more.pop("releases", RELEASES),
        **more,
    )


OF_IDS = (
    planned(
        "fresh-before-failover",
        "An old client erases the id of a topic that has seen no failover",
        Case(partial(damages.expansion, aged=False, failovers=0), _always("topic-id-missing")),
        REPAIR,
    ),
    planned(
        "fresh-after-failover",
        "The same, and the controller fails over",
        Case(partial(damages.expansion, aged=False, failovers=1), _either((), ("fetch-by-id-refused",))),
        REPAIR,
    ),
    planned(
        "before-failover",
        "An old client erases the id of a topic that has seen a failover",
        Case(partial(damages.expansion, aged=True, failovers=0), _always("topic-id-missing")),
        REPAIR,
    ),
    planned(
        "after-failover",
        "The same, and the controller fails over",
        Case(
            partial(damages.expansion, aged=True, failovers=1),
            _either(("topic-ids-mixed",), ("fetch-by-id-refused",)),
        ),
        REPAIR,
    ),
    planned(
        "after-failover-of-four-replicas",
        "The same with four replicas of each partition, on five brokers",
        Case(
            damages.expansion_of_four_replicas,
            _either(("topic-ids-mixed",), ("fetch-by-id-refused",)),
        ),
        REPAIR,
        options=LabOptions(brokers=5),
    ),
    planned(
        "mixed-ids",
        "After an old client's expansion and a failover a new client adds partitions",
        Case(damages.mixed_ids, _either(("topic-ids-mixed",), ("fetch-by-id-refused-mixed-topic-ids",))),
        REPAIR,
    ),
    planned(
        "mixed-ids-of-a-partition",
        "After an old client's expansion and a failover a broker copies its replicas again, with the new id",
        Case(damages.mixed_ids_of_a_partition, _always("leader-refuses-mixed-topic-ids")),
        REPAIR,
    ),
    planned(
        "minted-while-down",
        "The id of a topic is erased and another one minted while a broker is down",
        Case(damages.minted_while_down, _either(("topic-id-differs",), ("fetch-by-id-refused",))),
        REPAIR,
    ),
    planned(
        "written-back",
        "The id of a topic is written back after a failover, and the controller has another one",
        Case(
            damages.written_back,
            _either(("controller-sends-another-id",), ("fetch-by-id-refused", "controller-sends-another-id")),
        ),
        REPAIR,
    ),
    planned(
        "another-id-while-down",
        "Another topic's id is written into partition.metadata of a broker that is down",
        Case(damages.another_id_while_down, _always("down-broker-has-another-id"), probed=False),
        REPAIR,
    ),
    planned(
        "without-metadata-file",
        "partition.metadata is removed on a broker that runs",
        Case(damages.without_metadata_file, _always(), is_planned=False),
        REPAIR,
    ),
)

OF_TOPICS = (
    planned(
        "deleted-by-hand",
        "The znodes of a topic are deleted by hand",
        Case(damages.deleted_by_hand, _always("orphaned-log"), probed=False, keeps=None),
        BY_HAND,
    ),
    planned(
        "created-again",
        "A topic is deleted by hand and created again",
        Case(
            damages.created_again,
            _always("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id"),
        ),
        BY_HAND,
    ),
    planned(
        "created-again-after-elections",
        "The same, and its partitions have been led in several leader epochs",
        Case(
            partial(damages.created_again, elections=2),
            _always("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id"),
        ),
        BY_HAND,
    ),
    planned(
        "states-removed-after-elections",
        "The states of partitions are removed by hand that have been led in several leader epochs",
        Case(partial(damages.deleted_by_hand, elections=2, below="/partitions"), _always("partition-state-is-lost")),
        BY_HAND,
    ),
    planned(
        "created-again-after-failover",
        "The same, and the controller fails over",
        Case(partial(damages.created_again, failovers=1), _either(("topic-id-differs",), ("leader-refuses-topic-id",))),
        BY_HAND,
    ),
    planned(
        "stale-log",
        "A topic is deleted and created again while a broker is down, which comes back",
        Case(damages.stale_log, STALE, keeps=SECOND),
        STRAY,
        options=DEAD,
    ),
    planned(
        "stale-log-of-preferred-leader",
        "The same, and the broker is the preferred leader of a partition",
        Case(partial(damages.stale_log, assignment={0: [1, 2, 3], 1: [3, 1, 2]}), STALE, keeps=SECOND),
        STRAY,
        options=DEAD,
    ),
    planned(
        "stale-log-of-broker-down",
        "The same, and the broker is still down",
        Case(partial(damages.stale_log, is_back=False), _always("down-broker-has-another-log"), keeps=SECOND),
        STRAY,
        options=DEAD,
    ),
    planned(
        "stale-log-without-id",
        "A topic is deleted and created again while a broker is down, whose logs have no topic id",
        Case(
            partial(damages.stale_log, aged=False, is_back=False), _always("down-broker-has-another-log"), keeps=SECOND
        ),
        STRAY,
        options=DEAD,
        releases=("2.8.2",),
    ),
    planned(
        "adopted-log",
        "The same, and the broker comes back",
        Case(partial(damages.stale_log, aged=False), _always("replicas-diverged"), keeps=SECOND),
        STRAY,
        options=DEAD,
        releases=("2.8.2",),
    ),
    planned(
        "stale-log-of-the-only-replica",
        "A topic is deleted and created again while the broker of its only replica is down, which comes back",
        Case(
            partial(damages.stale_log, assignment={0: [3]}),
            _either(("topic-id-differs",), ("leader-refuses-topic-id",)),
        ),
        STRAY,
        options=DEAD,
    ),
    planned(
        "diverged",
        "A broker with the log of an earlier topic joins the ISR, as partition.metadata was removed",
        Case(
            damages.diverged,
            _always("replicas-diverged"),
            keeps=SECOND,
            keeps_if={f"to keep the records that topic t{n} has on broker 3": FIRST for n in range(9)},
        ),
        STRAY,
        options=DEAD,
    ),
    planned(
        "copied-topic",
        "A topic is created in ZooKeeper over copies of the directories of another one",
        Case(damages.copied_topic, _either(("topic-id-differs",), ("leader-refuses-topic-id",))),
        REPAIR,
    ),
    planned(
        "hanging-deletion",
        "A deletion hangs while all brokers are up",
        Case(damages.hanging_deletion, _always("deletion-hangs"), probed=False, deletes=True),
        DELETED,
    ),
    planned(
        "waiting-deletion",
        "A deletion waits for a broker that is gone",
        Case(damages.deletion_that_waits, _always("deletion-pending"), probed=False, deletes=True),
        DELETED,
        options=DEAD,
    ),
)

OF_REPLICAS = (
    planned(
        "stray-log",
        "A broker does not get StopReplica when its replica moves away",
        Case(damages.stray_log, _always("stray-log")),
        STRAY,
    ),
    planned(
        "stray-log-without-leader",
        "The only replica of a partition is down, and another broker has an older copy of its log",
        Case(damages.stray_without_leader, _always("no-live-isr", "stray-log")),
        STRAY,
    ),
    planned(
        "cancelled-reassignment",
        "The controller moves while it cancels a reassignment",
        Case(
            damages.cancelled_reassignment,
            _either(("isr-outside-replicas", "stray-log"), ("isr-outside-replicas",)),
            probed=False,
        ),
        "reassignment.md",
        options=LabOptions(proxied=True),
    ),
    planned(
        "reassignment-to-a-lost-broker",
        "A partition is reassigned to a broker that is lost before it has copied anything",
        Case(damages.reassignment_to_a_lost_broker, _always("reassignment-waits")),
        "reassignment.md",
        options=DEAD,
    ),
    planned(
        "reassignment-without-isr",
        "Both replicas of a partition crash while it is reassigned, the one that is removed as the last one",
        Case(damages.reassignment_without_isr, _always("no-live-isr", "reassignment-waits")),
        "reassignment.md",
        options=evolve(DEAD, brokers=4),
    ),
    planned(
        "after-failover-beside-a-reassignment",
        "An old client erases the id of a topic, and the controller fails over, while another topic is reassigned to a "
        "broker that is lost",
        Case(
            damages.expansion_beside_a_reassignment,
            _either(("topic-ids-mixed", "reassignment-waits"), ("fetch-by-id-refused", "reassignment-waits")),
        ),
        "reassignment.md",
        options=evolve(DEAD, brokers=4),
    ),
    planned(
        "crash",
        "A broker crashes, and is in the ISR until its session expires",
        Case(damages.crashed, _always(), probed=False),
        BOUNCED,
    ),
    planned(
        "dead-in-isr",
        "A broker that is down is written into the ISR by hand",
        Case(damages.dead_in_isr, _always("isr-names-a-dead-broker")),
        DOWN,
    ),
    planned(
        "stopped-isr",
        "The members of an ISR stop one after the other, and the last one stays down",
        Case(damages.stopped_isr, _always("no-live-isr")),
        DOWN,
    ),
    planned(
        "empty-isr",
        "An empty ISR is written by hand while the replicas are down",
        Case(damages.empty_isr, _always("empty-isr")),
        DOWN,
    ),
    planned(
        "isr-by-hand",
        "Followers are taken out of an ISR by hand, which the leader does not read",
        Case(
            partial(damages.state_by_hand, assignment={0: [1, 2, 3]}, isr=[1]),
            _always("isr-written-by-hand"),
            probed=False,
        ),
        DOWN,
    ),
    planned(
        "wiped-leader",
        "The only member of an ISR loses its disk; the other replicas lack the last records",
        Case(damages.wiped_leader, _always("no-live-isr")),
        DOWN,
        options=DEAD,
    ),
    planned(
        "wiped-leader-unseen",
        "The same, and the snapshot does not have the disk",
        Case(
            partial(damages.wiped_leader, is_seen=False),
            _always("no-live-isr"),
            untrue=("if the log directories of broker 1",),
        ),
        DOWN,
        options=DEAD,
    ),
    *(
        planned(
            f"restored-zookeeper{name}",
            f"The state of a partition is written that it had before its last elections, and {what}",
            Case(partial(damages.restored_zookeeper, fails_over=fails_over), _always(kind)),
            DOWN,
        )
        for name, what, fails_over, kind in (
            ("", "no controller reads it", False, "state-is-behind-the-logs-unnoticed"),
            ("-noticed", "the controller fails over", True, "state-is-behind-the-logs"),
        )
    ),
    planned(
        "restored-zookeeper-backup",
        "ZooKeeper is restored from a backup of before the last elections, and brokers cannot reach it",
        Case(
            damages.restored_from_backup,
            _always("state-is-behind-the-logs"),
            probed=False,
            untrue=("are gone for good",),
        ),
        DOWN,
    ),
    planned(
        "removed-directory",
        "The directory of the leader is removed while it runs",
        Case(damages.removed_directory, _always("isr-member-has-no-log"), is_planned=False),
        DOWN,
    ),
    planned(
        "restored-leader",
        "The only member of an ISR has an old copy of its log; the other replicas have all records",
        Case(damages.restored_leader, _always("no-live-isr")),
        DOWN,
        options=DEAD,
    ),
    planned(
        "restored-leader-beside-a-failed-disk",
        "The only member of an ISR has an old copy of its log; the other replica has all records, on a failed disk",
        Case(damages.restored_leader_beside_a_failed_disk, _always("no-live-isr")),
        DOWN,
        options=evolve(DEAD, directories=2),
    ),
    planned(
        "power-was-lost",
        "All brokers crash, and logs of ISR members have lost their ends",
        Case(partial(damages.lost_ends, assignment={0: [1, 2, 3], 1: [2, 3, 1]}), _always("no-live-isr"), probed=False),
        DOWN,
        options=OFTEN_CHECKPOINTED,
    ),
    *(
        planned(
            f"lost-segments-{which}",
            f"The only ISR member has stopped, and its log has lost {what}; the others run",
            Case(
                partial(damages.lost_segments, lost=lost, leads_again=leads_again),
                _always("isr-member-lacks-records", "no-live-isr"),
                probed=False,
                leaves=("replica-has-lost-records",) * leads_again,
            ),
            DOWN,
        )
        for which, what, lost, leads_again in (
            ("beginning", "its first segments", slice(0, 4), False),
            ("middle", "segments in the middle", slice(2, 4), False),
            ("end", "its last segments before it led again", slice(2, None), True),
        )
    ),
    planned(
        "all-down",
        "All of five brokers crash; each answer but the first is for who misses one of them",
        Case(damages.all_down, _always("no-live-isr"), probed=False),
        DOWN,
        options=evolve(DEAD, brokers=5),
    ),
    planned(
        "leader-is-no-replica",
        "Other replicas are written into a topic's znode by hand, without the only ISR member; the controller fails "
        "over",
        Case(
            partial(damages.replicas_by_hand, created=[2], written=[1, 3]),
            _always("isr-outside-replicas", "stray-log"),
            probed=False,
        ),
        "reassignment.md",
    ),
    planned(
        "failed-disks-of-two-brokers",
        "The disk of an only ISR member fails, and one of another broker",
        Case(damages.failed_disks_of_two, _always("offline-log-directory", "offline-replica")),
        DOWN,
        options=evolve(DEAD, directories=2),
    ),
    planned(
        "another-broker-id-in-use",
        "A broker gets another id with its disk, and a topic has its only replica under that id",
        Case(
            partial(damages.another_broker_id, replicas=[3], is_used=True),
            RENUMBERED,
            untrue=OWN_DISKS,
        ),
        DOWN,
    ),
    *(
        planned(
            f"another-broker-id-rf-{len(replicas)}",
            f"A broker gets another id with its disk, where a partition has {what}",
            Case(partial(damages.another_broker_id, replicas=replicas), kinds, untrue=OWN_DISKS),
            DOWN,
        )
        for replicas, what, kinds in (
            ([3], "no other replica", RENUMBERED),
            ([3, 1], "another replica", _always("stray-log")),
        )
    ),
    *(
        planned(
            f"failed-disk-{name}",
            f"A disk fails that has {what} of a partition",
            Case(partial(damages.failed_disk, replicas=replicas), _always(kind)),
            DOWN,
            options=LabOptions(directories=2),
        )
        for name, replicas, what, kind in (
            ("of-the-only-replica", [2], "the only replica", "offline-log-directory"),
            ("of-a-replica", [2, 1, 3], "one of three replicas", "offline-replica"),
        )
    ),
)

EXPERIMENTS = (
    *OF_IDS,
    *OF_TOPICS,
    *OF_REPLICAS,
    Experiment(
        name="recover-random-damages",
        about="A topic is damaged at random, by the number of the round; the first plan of `kwalk diagnose --plan` "
        "whose condition is true is carried out; every broker restarts.",
        expected="After the plan, and after the restarts, every partition is served, every ISR member has the "
        "acknowledged records, and inspection finds no damage; or there is no plan.",
        story=REPAIR,
        run=_recovered_at_random,
        releases=RELEASES,
        rounds=10,
        options=evolve(DEAD, directories=2),
    ),
    Experiment(
        name="no-alarm",
        about="Snapshots are taken all the time while the controller moves and brokers restart.",
        expected="No snapshot shows damage.",
        story=BOUNCED,
        run=_no_alarm,
    ),
)
