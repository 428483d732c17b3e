"""What `kwalk diagnose` says to do by hand, on real brokers: a cluster is damaged, and its sentence is followed.

As in `recoveries`, records are known, and the segments of every replica are read after the advice, and again after a
rolling restart. A sentence that has the numbers to write is read for them; another one is followed as it stands.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from attrs import field, frozen

from kwalk.clusters.lab.brokers import new_producer_id, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments import damages
from kwalk.clusters.lab.experiments.damages import FIRST, FOR_EVER, Damage, Scene
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import (
    AFTER,
    Ledger,
    Log,
    logs_in_backups,
    logs_on_disks,
    lost_copies,
    what_to_keep,
)
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.experiments.recoveries import (
    DOWN,
    OFTEN_CHECKPOINTED,
    RELEASES,
    damage_now,
    diagnosed,
    roll_brokers,
    wrong_copies,
)
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import create, set_data
from kwalk.model.language import KwalkError

EPOCH_TO_SET = re.compile(r"set /controller_epoch to (\d+)")
PRODUCER_IDS = "/latest_producer_id_block"
STATES = re.compile(
    r"(?:that|those|the state|the state znode) of ((?:\S+-\d+(?:, | and )?)+)(?:,? with [^;]*?|: )a leader_epoch of "
    r"(\d+) or more, and (?:that of )?brokers? ([\d, and]+?)(?: whose log ends last| with the last record of .*?)? as "
    "leader"
)
STATE = re.compile(r"a leader_epoch of (\d+) or more, and broker (\d+) as leader")
REPLICAS = re.compile(r"((?:that|those) of \S+-\d+.*?), and the replicas ([\d, and]*\d)")
NUMBER = re.compile(r"\d+")
ORDER = re.compile(r"start broker (\d+) before")
LEADER_ONLY = re.compile(r"write the state of \S+-(\d+) with broker (\d+) as leader")


@frozen
class Advised:
    """A damage, and the kind of finding whose way out is followed.

    Args:
        damage: Does it.
        kind: The name of the kind.
        follow: Does what the way out says, whose text it gets.
        also: Returns what else is wrong, before it and after.
        may_lose: Whether records are lost already, and copies are what is kept.
        repaired: The releases on which it was followed, and repaired the damage.
    """

    damage: Damage
    kind: str
    follow: Callable[[Scene, str], None]
    also: Callable[[Scene], list[str]] = field(default=lambda scene: [])
    may_lose: bool = False
    repaired: tuple[str, ...] = ("2.8.2", "3.9.0")


def followed(lab: Lab, this: ExperimentRound, case: Advised) -> RoundOutcome:
    """Damage the cluster, do what the inspection says of it, and compare the logs; restart each broker, and again."""
    scene = Scene(lab, this, Ledger(this.topic))
    case.damage(scene)
    found = diagnosed(scene, "damaged")
    way_out = next((kind.way_out for kind in found.inspection.by_kind() if kind.name == case.kind), None)
    details: dict[str, Any] = {"damage": found.kinds, "way out": way_out, "wrong when damaged": case.also(scene)}
    if way_out is None:
        return RoundOutcome("not named", False, details)
    kept = [(one, what_to_keep(one, logs_on_disks(lab, one.topic), FIRST)) for one in (scene.ledger, *scene.others)]
    case.follow(scene, way_out)
    rest(lab)
    bad: list[str] = []
    for when in ("after the advice", "after a rolling restart"):
        if when == "after a rolling restart":
            roll_brokers(scene)
        found = diagnosed(scene, when)
        wrong = [*case.also(scene), *(line for ledger, _ in kept for line in ledger.write(lab, AFTER))]
        wrong += damage_now(scene)
        wrong += [line for ledger, its in kept for line in wrong_copies(lab, ledger, its, may_lose=case.may_lose)]
        if case.may_lose:
            copies = logs_in_backups(lab, scene.topic)
            wrong += [line for _, its in kept for line in lost_copies(its, logs_on_disks(lab, scene.topic), copies)]
        details |= {f"found {when}": found.kinds, f"wrong {when}": wrong}
        bad += found.damage + wrong
    this.keep_lines("already written by another controller|controller epoch|LeaderElection|Truncating|luster.?[Ii][Dd]")
    details["/controller_epoch at the end"] = lab.controller_epoch()
    details["records"] = {ledger.topic: len(its.records) for ledger, its in kept}
    return RoundOutcome("the advice is wrong" if bad else "repaired", not bad, details)


def numbers_in(text: str) -> list[int]:
    """Return the numbers that a text has."""
    return [int(one) for one in NUMBER.findall(text)]


def read(pattern: re.Pattern[str], way_out: str) -> list[tuple[str, ...]]:
    """Return what a sentence has of a pattern.

    Raises:
        KwalkError: It has nothing of it.
    """
    found = [match.groups(default="") for match in pattern.finditer(way_out)]
    if not found:
        raise KwalkError(f"The way out does not have what is to be followed ({pattern.pattern}): {way_out!r}.")
    return found


# What is done.


def _put(lab: Lab, path: str, content: Mapping[str, object]) -> None:
    """Write a znode at the version that was read; create it, and those above it, if it is not there."""
    found, text = lab.zk.get(path), json.dumps(content)
    above = [path[:n] for n, sign in enumerate(path) if n and sign == "/"]
    for one in () if found else (one for one in above if not lab.zk.exists(one)):
        lab.zk.do(create(one))
    lab.zk.do(set_data(path, text.encode(), found[1].version) if found else create(path, text.encode()))
    lab.note(f"{path} is {text}")


def put_state(scene: Scene, number: int, leader: int, epoch: int, name: str = "") -> None:
    """Write, or create, the state of a partition with a leader that is the only ISR member."""
    path = f"/brokers/topics/{name or scene.topic}/partitions/{number}/state"
    state = {"controller_epoch": 0, **(scene.lab.json(path) or {}), "version": 1}
    _put(scene.lab, path, {**state, "leader": leader, "leader_epoch": epoch, "isr": [leader]})


def put_states(scene: Scene, way_out: str) -> None:
    """Write the states that the sentence has; of several brokers the one with the longest log leads."""
    for names, epoch, hosts in read(STATES, way_out):
        for partition in map(int, re.findall(r"-(\d+)", names)):
            logs = logs_on_disks(scene.lab, scene.topic)
            ends = {broker: _end(logs[broker].get(partition, {})) for broker in numbers_in(hosts)}
            put_state(scene, partition, max(ends, key=ends.__getitem__), int(epoch))


def _end(log: Log) -> tuple[int, int]:
    """Return the leader epoch and the offset of the last record of a log."""
    return max(((entry.epoch, offset) for offset, entry in log.items()), default=(-1, -1))


def _put_topic(scene: Scene, added: Mapping[int, list[int]], name: str = "", topic_id: str = "") -> None:
    """Write, or create, a topic's znode: with these partitions beside those that it has."""
    name = name or scene.topic
    znode = scene.lab.topic(name) or {"version": 3, "adding_replicas": {}, "removing_replicas": {}, "partitions": {}}
    znode["partitions"] |= {str(number): replicas for number, replicas in added.items()}
    _put(scene.lab, f"/brokers/topics/{name}", {**znode, **({"topic_id": topic_id} if topic_id else {})})


def _logs(scene: Scene, name: str) -> dict[int, dict[int, Log]]:
    """Return the logs of a topic on disks, by partition and broker."""
    logs = logs_on_disks(scene.lab, name).items()
    partitions = sorted({partition for _, each in logs for partition in each})
    return {number: {broker: each[number] for broker, each in logs if number in each} for number in partitions}


def _put_by_logs(scene: Scene, number: int, by: Mapping[int, Log], name: str = "") -> None:
    """Write a state with a leader epoch above those of the logs, and the broker with the latest records as leader."""
    folders = [scene.lab.brokers[broker].data / f"{name or scene.topic}-{number}" for broker in by]
    lines = [line for path in folders for line in (path / "leader-epoch-checkpoint").read_text().splitlines()[2:]]
    best = max(by, key=lambda broker: max(((entry.epoch, n) for n, entry in by[broker].items()), default=(-1, 0)))
    put_state(scene, number, best, max(int(line.split()[0]) for line in lines) + 1, name)


def _write_topics(scene: Scene, way_out: str) -> None:
    """Write what ZooKeeper lacks of topics whose logs brokers have, while they are stopped, and what is too old."""
    lab = scene.lab
    if "/cluster/id" in way_out and not lab.zk.exists("/cluster/id"):
        _create_cluster_id(scene, way_out)
    names = {path.name for broker in lab.brokers.values() for path in broker.data.glob("*-*") if path.is_dir()}
    for topic in sorted({name.rpartition("-")[0] for name in names}):
        logs = _logs(scene, topic)
        if lab.topic(topic) is None:
            if "/config/topics" in way_out:
                _put(lab, f"/config/topics/{topic}", {"version": 1, "config": FOR_EVER})
            _put_topic(scene, {number: sorted(by) for number, by in logs.items()}, topic, id_of_logs(lab, topic))
        for number, by in logs.items():
            state = lab.states(topic).get(number)
            if state is None or state["leader_epoch"] < max(one.epoch for log in by.values() for one in log.values()):
                _put_by_logs(scene, number, by, topic)
    start_all(scene)
    time.sleep(RETENTION)


def id_of_logs(lab: Lab, topic: str) -> str:
    """Return the topic id that logs have in their files."""
    files = (path for broker in lab.brokers.values() for path in broker.data.glob(f"{topic}-*/partition.metadata"))
    return next(files).read_text().partition("topic_id: ")[2].strip()


def add_partition(scene: Scene, way_out: str) -> None:
    """Stop the brokers, add partitions that only logs have, with their states, and start the brokers."""
    running = [number for number, broker in scene.lab.brokers.items() if broker.runs]
    for number in running:
        scene.lab.stop(number)
    znode = scene.lab.topic(scene.topic) or {}
    logs = {n: by for n, by in _logs(scene, scene.topic).items() if str(n) not in znode["partitions"]}
    identity = id_of_logs(scene.lab, scene.topic) if "the topic_id of the logs" in way_out else ""
    _put_topic(scene, {number: sorted(by) for number, by in logs.items()}, topic_id=identity)
    for number, by in logs.items():
        _put_by_logs(scene, number, by)
    start_all(scene)


def start_all(scene: Scene) -> None:
    """Start the brokers that do not run, but for those that are gone."""
    for number, broker in scene.lab.brokers.items():
        if not broker.runs and number not in scene.gone:
            scene.start(number)


def write_replicas(scene: Scene, way_out: str) -> None:
    """Write the replicas and the states that the sentence has, while the brokers are stopped, and start them."""
    for states, hosts in read(REPLICAS, way_out):
        partitions = [int(number) for names, *_ in read(STATES, states) for number in re.findall(r"-(\d+)", names)]
        _put_topic(scene, dict.fromkeys(partitions, numbers_in(hosts)))
    put_states(scene, way_out)
    start_all(scene)


def _list_partition(scene: Scene, way_out: str) -> None:
    """Add the partition to the znode that lacks it; fail the controller over if the sentence says it."""
    _put_topic(scene, {1: [2, 3, 1]})
    rest(scene.lab)
    if "fail the controller over" in way_out:
        scene.lab.delete_controller()


def _create_cluster_id(scene: Scene, way_out: str) -> None:
    """Create /cluster/id with the id of the log directories."""
    text = (scene.lab.brokers[1].data / "meta.properties").read_text()
    identity = re.search(r"(?m)^cluster\.id=(.*)$", text)
    assert identity is not None
    _put(scene.lab, "/cluster/id", {"version": "1", "id": identity[1]})


def _write_state(scene: Scene, way_out: str) -> None:
    """Write the state that the sentence has, and fail the controller over."""
    for epoch, leader in read(STATE, way_out):
        put_state(scene, 0, int(leader), int(epoch))
    scene.lab.delete_controller()


def _write_leaders(scene: Scene, way_out: str) -> None:
    """Write the leaders that the sentence has, while their brokers are down, and start these."""
    for number, leader in read(LEADER_ONLY, way_out):
        put_state(scene, int(number), int(leader), scene.lab.states(scene.topic)[int(number)]["leader_epoch"])
    start_all(scene)


def _start_in_order(scene: Scene, way_out: str) -> None:
    """Start the broker that the sentence names first, and then the others."""
    for (best,) in read(ORDER, way_out)[:1]:
        scene.start(int(best))
    start_all(scene)


def _set_controller_epoch(scene: Scene, way_out: str) -> None:
    """Set /controller_epoch as the sentence says, and fail the controller over."""
    for (number,) in read(EPOCH_TO_SET, way_out):
        scene.lab.zk.do(set_data("/controller_epoch", number.encode()))
        scene.lab.note(f"/controller_epoch is {number}")
    scene.lab.delete_controller()


def _led_by_another(scene: Scene) -> list[str]:
    """Stop the leader, write records, start it again; return what is refused, and if the leader is the same."""
    lab, leader = scene.lab, scene.lab.states(scene.topic)[0]["leader"]
    scene.stop(leader)
    state = lab.states(scene.topic)[0]
    stays = [f"the leader is {state['leader']} when {leader} has stopped"] if state["leader"] in (leader, -1) else []
    wrong = stays + scene.ledger.write(lab, AFTER)
    scene.start(leader)
    return wrong


def _without_a_follower(scene: Scene) -> list[str]:
    """Pause a follower that is no controller, and write: the leader removes it from the ISR. Return if it cannot."""
    lab, topic = scene.lab, scene.topic
    paused = next(n for n in lab.brokers if n not in (lab.states(topic)[0]["leader"], lab.controller()))
    lab.pause(paused)
    lab.probe(topic, acks=1, seconds=1, mark=f"{AFTER}:")
    is_out = wait_until(lambda: paused not in lab.states(topic)[0]["isr"], 11)  # its session expires after 12
    lab.resume(paused)
    rest(lab)
    return [] if is_out else [f"broker {paused} stays in the ISR, and does not fetch"]


def _producer_ids(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Restore ZooKeeper from a backup of before a producer got its id; the next one gets the same; then raise ids."""
    scene, details = Scene(lab, this, Ledger(this.topic)), dict[str, Any]()
    scene.create({0: [1]})

    def write(which: str) -> bool:
        """Let a new producer write its first record; return whether the log has it."""
        number = new_producer_id(lab.brokers[1].port)
        answer = produce(lab.brokers[1].port, this.topic, 0, which, producer_id=number)
        has = any(entry.value == which for entry in logs_on_disks(lab, this.topic)[1][0].values())
        details[which] = {"id": number, "answer": answer, "its log has the record": has}
        return bool(answer["ok"]) and has

    with damages.restored(scene):
        scene.stop(1)  # before 3.0 a broker takes ids when it starts
        scene.start(1)
        is_first_kept = write("first")
    start_all(scene)
    is_lost = not write("after the backup") and details["after the backup"]["answer"]["ok"]
    for number in lab.brokers:
        lab.stop(number)
    block = {"version": 1, "broker": 1, "block_start": "999000", "block_end": "999999"}
    details["block"] = lab.json(PRODUCER_IDS)
    _put(lab, PRODUCER_IDS, block)
    start_all(scene)
    is_kept = write("after the write")
    outcome = f"{'acknowledged and lost' if is_lost else 'kept'}; with later ids {'kept' if is_kept else 'lost'}"
    return RoundOutcome(outcome, is_first_kept and bool(is_lost) and is_kept, details)


# Experiments.


def advised(name: str, about: str, case: Advised, story: str = DOWN, **more: Any) -> Experiment:
    """Return the experiment that does a damage and follows its way out."""
    return Experiment(
        name=f"advice-{name}",
        about=f"{about}; what `kwalk diagnose` says of it is done by hand; every broker restarts.",
        expected="It is named; afterwards, and after the restarts, every partition is served, every ISR member has the "
        "acknowledged records that a disk had, and inspection finds no damage.",
        story=story,
        run=partial(followed, case=case),
        releases=case.repaired,
        **more,
    )


def advised_case(experiment: Experiment) -> Advised | None:
    """Return the damage and the kind of an experiment that follows a way out; None if it is another one."""
    case = getattr(experiment.run, "keywords", {}).get("case")
    return case if isinstance(case, Advised) else None


RETENTION = 40.0
"""Seconds in which a broker that has started deletes records by their age (LogManager.InitialTaskDelayMs)."""
RETAINED = LabOptions(settings={"log.retention.ms": 20_000, "log.retention.check.interval.ms": 4_000})
"""Brokers that delete records of topics without a retention of their own."""
_THREE: Mapping[int, list[int]] = {0: [1, 2, 3]}

EXPERIMENTS = (
    Experiment(
        name="advice-producer-ids",
        about="ZooKeeper is restored from a backup of before a producer got its id, and a new producer gets the same; "
        "then /latest_producer_id_block is written with later ids while the brokers are stopped.",
        expected="The first record of the new producer is acknowledged, and in no log; that of the next one is kept.",
        story="producer-state.md",
        run=_producer_ids,
    ),
    advised(
        "lost-topics",
        "ZooKeeper is restored from a backup of before a topic was created, and two of three logs lack a record",
        Advised(partial(damages.lost_topics, is_all=False), "zookeeper-has-lost-topics", _write_topics),
        options=RETAINED,
    ),
    advised(
        "lost-zookeeper",
        "ZooKeeper loses all its data, and two of three logs of a partition lack a record",
        Advised(partial(damages.lost_topics, is_all=True), "zookeeper-has-none-of-the-topics", _write_topics),
        options=RETAINED,
    ),
    advised(
        "lost-partition",
        "ZooKeeper is restored from a backup of before a partition was added, and two of three logs lack a record",
        Advised(damages.lost_partition, "partition-is-in-logs-only", add_partition),
    ),
    advised(
        "lost-reassignment",
        "ZooKeeper is restored from a backup of before a partition moved to another broker",
        Advised(partial(damages.lost_reassignment, to=[3]), "records-on-no-replica", write_replicas, repaired=RELEASES),
    ),
    advised(
        "unlisted-partition",
        "A topic's znode is written without a partition, and the controller fails over",
        Advised(damages.unlisted_partition, "partition-lost", _list_partition),
        "two-admins.md",
    ),
    advised(
        "skipped-number",
        "A topic is created in ZooKeeper without a partition between others",
        Advised(damages.skipped_number, "partition-number-is-missing", _list_partition),
        "two-admins.md",
    ),
    advised(
        "cluster-id",
        "/cluster/id is removed",
        Advised(damages.without_cluster_id, "cluster-id-is-missing", _create_cluster_id),
    ),
    advised(
        "empty-isr",
        "An empty ISR is written by hand while the leader runs",
        Advised(partial(damages.state_by_hand, assignment=_THREE, isr=[]), "empty-isr", _write_state),
    ),
    advised(
        "foreign-isr",
        "A broker that is down, and no replica, is written into the ISR in place of the other replica",
        Advised(
            partial(damages.state_by_hand, assignment={0: [1, 2]}, gone=3, isr=[1, 3]),
            "isr-outside-replicas",
            _write_state,
        ),
    ),
    advised(
        "crossed-ends",
        "All brokers crash, and each of two ISR members lacks the last record of one of two partitions",
        Advised(partial(damages.lost_ends, assignment={0: [1, 2], 1: [2, 1]}), "no-live-isr", _write_leaders),
        options=OFTEN_CHECKPOINTED,
    ),
    advised(
        "lost-end",
        "All brokers crash, and one of two ISR members lacks the last record",
        Advised(partial(damages.lost_ends, assignment={0: [2, 1]}), "no-live-isr", _start_in_order, repaired=RELEASES),
        options=OFTEN_CHECKPOINTED,
    ),
    advised(
        "leader-by-hand",
        "A state with another leader is written by hand",
        Advised(
            partial(damages.state_by_hand, assignment=_THREE, leader=2),
            "leader-written-by-hand",
            _write_state,
            _without_a_follower,
        ),
        options=LabOptions(settings={"replica.lag.time.max.ms": 3000}),
    ),
    Experiment(
        name="controller-epoch-set-back",
        about="/controller_epoch is set back by hand, and the controller fails over; then it is set as `kwalk "
        "diagnose` says, and the controller fails over; leaders stop before and after.",
        expected="It is named; afterwards each leader that stops has a successor, also after a rolling restart, as it "
        "was in one round with each release. Before, a partition whose leader stops has none.",
        story=DOWN,
        run=partial(
            followed,
            case=Advised(
                damages.controller_epoch_set_back,
                "controller-epoch-is-behind",
                _set_controller_epoch,
                _led_by_another,
            ),
        ),
    ),
)
