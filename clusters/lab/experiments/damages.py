"""What is done to a cluster of the lab before `kwalk diagnose --plan` plans: each damage is a function of a scene.

Words: an *aged* topic has seen a failover, so that its replicas have its id in their files on 2.8 too. A broker is
*gone* if it is not started again but by a plan.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from attrs import define, field

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.experiments.deletions import hang_a_deletion, writes_of_creation
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.experiment import ExperimentRound
from kwalk.clusters.lab.experiments.known_records import Ledger
from kwalk.clusters.lab.experiments.operator_steps import move_away, rest
from kwalk.clusters.lab.experiments.reassignments import cancel_and_elect_in_between, leave_a_log
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import ZooKeeperError, delete, set_data

FIRST, SECOND = "first", "second"
"""The origins of records: the topics of one name, in the order of their creation."""
TWO: Mapping[int, list[int]] = {0: [1, 2, 3], 1: [2, 3, 1]}
FOREIGN_FILE = "version: 0\ntopic_id: AAAAAAAAQAGAAAAAAAAAAQ"
"""A partition.metadata with an id that no topic has."""
FOR_EVER = {"retention.ms": "-1"}
"""The configuration of a topic whose records are kept, whatever the brokers' retention is."""
UNTIL_CHECKPOINTS = 35.0
"""Seconds after which a broker writes its recovery points (LogManager.InitialTaskDelayMs), if it may each second."""
DELETING = 8.0
"""Seconds in which the brokers that run delete the logs of a topic."""


@define
class Scene:
    """A cluster that is damaged, and what was written to its topic.

    Attributes:
        lab: The cluster.
        this: The round.
        ledger: What was written.
        gone: Brokers that are not started again, but by a plan.
        others: What was written to healthy topics.
        origin: The origin of the records that the topic is to have.
        is_deleted: Whether somebody has deleted the topic: none of its records is kept.
    """

    lab: Lab
    this: ExperimentRound
    ledger: Ledger
    gone: set[int] = field(factory=set)
    others: list[Ledger] = field(factory=list)
    origin: str = FIRST
    is_deleted: bool = False

    @property
    def topic(self) -> str:
        """The topic of the round."""
        return self.this.topic

    def has_topic(self) -> bool:
        """Whether ZooKeeper has the topic."""
        return self.lab.topic(self.topic) is not None

    def create(
        self,
        assignment: Mapping[int, list[int]] = TWO,
        configuration: Mapping[str, str] | None = None,
        *,
        aged: bool = True,
    ) -> None:
        """Create the topic, and wait until its replicas have its id in their files if it is aged."""
        admin, topic = self.lab.admin(milliseconds=8000), self.topic  # an election of the controller may be under way
        wait_until(lambda: admin.create_topic(topic, assignment, configuration).ok or self.has_topic(), 30, every=1)
        self.lab.wait_for_leaders(self.topic, len(assignment))
        if aged:
            self.lab.delete_controller()
        rest(self.lab)

    def write(self, origin: str, times: int = 2) -> None:
        """Write to all partitions."""
        refused = self.ledger.write(self.lab, origin, times)
        self.lab.note(f"records of the {origin} topic written" + "".join(f"; {one}" for one in refused))

    def crash(self, number: int) -> None:
        """Crash a broker, and wait until its session has expired and others lead."""
        self.lab.kill(number)
        wait_until(lambda: str(number) not in self.lab.zk.children("/brokers/ids"), 60)
        self.lab.note(f"broker {number} has crashed, and its session has expired")
        rest(self.lab)

    def remove_topic(self) -> None:
        """Delete the topic while a broker is down: its znodes are removed by hand."""
        self.lab.admin(milliseconds=8000).delete_topic(self.topic)
        time.sleep(DELETING)
        with suppress(ZooKeeperError):
            self.lab.zk.delete_tree(f"/brokers/topics/{self.topic}")
        for path in (f"/admin/delete_topics/{self.topic}", f"/config/topics/{self.topic}"):
            with suppress(ZooKeeperError):
                self.lab.zk.do(delete(path))
        self.lab.delete_controller()
        rest(self.lab)

    def erase_id(self) -> None:
        """Write the topic's znode without an id, as an old client does."""
        content = {name: value for name, value in (self.lab.topic(self.topic) or {}).items() if name != "topic_id"}
        self.lab.zk.do(set_data(f"/brokers/topics/{self.topic}", json.dumps(content).encode()))
        self.lab.note("the topic's id is erased")

    def write_state(self, partition: int, **changes: object) -> None:
        """Write fields of a partition's state by hand."""
        state = {**self.lab.states(self.topic)[partition], **changes}
        path = f"/brokers/topics/{self.topic}/partitions/{partition}/state"
        self.lab.zk.do(set_data(path, json.dumps(state).encode()))
        self.lab.note(f"set {path} {json.dumps(state)}")

    def start(self, *numbers: int) -> None:
        """Start brokers."""
        self.lab.start(*numbers)
        rest(self.lab)

    def stop(self, *numbers: int) -> None:
        """Stop brokers, one after the other."""
        for number in numbers:
            self.lab.stop(number)
            rest(self.lab)


Damage = Callable[[Scene], None]


# Ids of topics.


def expansion(scene: Scene, *, aged: bool, failovers: int, factor: int = 3) -> None:
    """Let an old client erase the topic's id; at a failover the next controller mints another one.

    On 2.8 the replicas of an aged topic have the first id in their files; those of a fresh one have none.
    """
    lab, topic = scene.lab, scene.topic
    lab.tool(OLD_CLIENT, "--create", "--topic", topic, "--partitions", "2", "--replication-factor", str(factor))
    lab.wait_for_leaders(topic, 2)
    if aged:
        lab.delete_controller()
        rest(lab)
    scene.write(FIRST)
    lab.tool(OLD_CLIENT, "--alter", "--topic", topic, "--partitions", "4")
    lab.wait_for_leaders(topic, 4)
    rest(lab)
    scene.write(FIRST, 1)
    for _ in range(failovers):
        lab.delete_controller()
        rest(lab)


def expansion_of_four_replicas(scene: Scene) -> None:
    """The same with four replicas, after a failover, and the controller is a broker without one of partition 0."""
    lab = scene.lab
    expansion(scene, aged=True, failovers=1, factor=4)
    known = lab.topic(scene.topic)
    assert known is not None
    (other,) = lab.brokers.keys() - known["partitions"]["0"]
    lab.move_controller(other)
    rest(lab)


def mixed_ids(scene: Scene) -> None:
    """Expand with an old client, let the controller move, and expand with a new one: new partitions get the new id."""
    lab, topic = scene.lab, scene.topic
    expansion(scene, aged=True, failovers=1)
    lab.admin(milliseconds=8000).add_partitions(topic, 6, [[1, 2, 3], [2, 3, 1]])
    lab.wait_for_leaders(topic, 6)
    rest(lab)
    lab.delete_controller()
    rest(lab)


def mixed_ids_of_a_partition(scene: Scene) -> None:
    """Expand with an old client, let the controller move, and let a broker copy its replicas again: with the new id."""
    expansion(scene, aged=True, failovers=1)
    scene.lab.stop(3)
    broker = scene.lab.brokers[3]
    for path in sorted(broker.data.glob(f"{scene.topic}-*")):
        move_away(broker, path)
    scene.start(3)


def minted_while_down(scene: Scene) -> None:
    """Erase the id, and let the controller move, while a broker is down."""
    lab = scene.lab
    scene.create()
    scene.write(FIRST)
    lab.move_controller(1)
    scene.stop(3)
    scene.erase_id()
    lab.delete_controller()
    rest(lab)


def written_back(scene: Scene) -> None:
    """Erase the id, let the controller move, and write the first id by hand: the controller has another one."""
    lab, topic = scene.lab, scene.topic
    scene.create()
    first = (lab.topic(topic) or {})["topic_id"]
    scene.write(FIRST)
    scene.erase_id()
    lab.delete_controller()
    rest(lab)
    lab.zk.do(lab.topic_id_write(topic, first))
    lab.note(f"the topic id {first} is written back")


def without_metadata_file(scene: Scene) -> None:
    """Remove partition.metadata on a broker that runs."""
    scene.create()
    scene.write(FIRST)
    for path in scene.lab.metadata_files(2, scene.topic):
        path.unlink()
    scene.lab.note("partition.metadata is removed on broker 2")


def another_id_while_down(scene: Scene) -> None:
    """Write another topic's id into partition.metadata of a broker that is down."""
    scene.create()
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.stop(3)
    (scene.lab.brokers[3].data / f"{scene.topic}-0" / "partition.metadata").write_text(FOREIGN_FILE)
    scene.lab.note(f"{scene.topic}-0/partition.metadata has another topic's id on broker 3")
    scene.write(FIRST)


# Topics that are deleted or created again.


def deleted_by_hand(scene: Scene, *, elections: int = 0, below: str = "") -> None:
    """Remove the znodes of a topic, or those below, after elections: broker 1 restarts, and leads again each time."""
    scene.create()
    for _ in range(elections):
        scene.lab.stop(1)
        scene.start(1)
        rest(scene.lab)
    scene.write(FIRST)
    removed = f"/brokers/topics/{scene.topic}{below}"
    scene.lab.zk.delete_tree(removed)
    scene.lab.note(f"deleteall {removed}")
    rest(scene.lab)


def created_again(scene: Scene, *, failovers: int = 0, elections: int = 0) -> None:
    """Delete a topic by hand, and create it again over the old logs: by a broker, or in ZooKeeper if it refuses."""
    lab = scene.lab
    deleted_by_hand(scene, elections=elections)
    if not lab.admin(milliseconds=8000).create_topic(scene.topic, TWO).ok:
        for write in writes_of_creation(scene.topic, TWO):
            with suppress(ZooKeeperError):  # the configuration has stayed
                lab.zk.do(write)
    rest(lab)
    for _ in range(failovers):
        lab.delete_controller()
        rest(lab)


def stale_log(
    scene: Scene, *, assignment: Mapping[int, list[int]] = TWO, aged: bool = True, is_back: bool = True
) -> None:
    """Delete a topic and create it again while broker 3 is down, which comes back with its logs."""
    scene.create(assignment, aged=aged)
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.crash(3)
    scene.remove_topic()
    scene.create(assignment, aged=aged)
    scene.write(SECOND, 3)
    if is_back:
        scene.start(3)
        time.sleep(DELETING)
        rest(scene.lab)


def diverged(scene: Scene) -> None:
    """Let a broker with a log of an earlier topic take it for its own: partition.metadata is removed everywhere."""
    stale_log(scene)
    for number in scene.lab.brokers:
        scene.lab.stop(number)
        for path in scene.lab.metadata_files(number, scene.topic):
            path.unlink()
        scene.start(number)


def hanging_deletion(scene: Scene) -> None:
    """Hang a deletion while all brokers are up."""
    hang_a_deletion(scene.lab, scene.this)


def deletion_that_waits(scene: Scene) -> None:
    """Delete a topic of which a replica is on a broker that is gone."""
    scene.create({0: [1, 3], 1: [3, 2]})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.crash(3)
    scene.gone.add(3)
    scene.lab.admin(milliseconds=4000).delete_topic(scene.topic)
    time.sleep(DELETING)


# Replicas, disks and brokers.


def stray_log(scene: Scene) -> None:
    """Leave the log of a replica that has moved away."""
    leave_a_log(scene.lab, scene.this)
    rest(scene.lab)
    scene.write(FIRST)


def stray_without_leader(scene: Scene) -> None:
    """Stop the only replica of a partition of which another broker has an older copy."""
    scene.create({0: [2]})
    scene.write(FIRST)
    lab, name = scene.lab, f"{scene.topic}-0"
    lab.move_controller(1)
    lab.stop(3)
    shutil.copytree(lab.brokers[2].data / name, lab.brokers[3].data / name)
    lab.note(f"broker 3 has a copy of {name}")
    scene.start(3)
    scene.write(FIRST)
    scene.stop(2)


def cancelled_reassignment(scene: Scene) -> None:
    """Let the controller move while it cancels a reassignment."""
    scene.create({0: [1, 2]}, aged=False)
    scene.write(FIRST)  # not later: then the leader removes the broker that is no replica
    cancel_and_elect_in_between(scene.lab, scene.this)
    rest(scene.lab)


def reassignment_to_a_lost_broker(scene: Scene) -> None:
    """Reassign a partition to a broker that is lost before it has copied anything."""
    scene.lab.move_controller(1)
    scene.create({0: [1, 2]}, aged=False)
    scene.write(FIRST)
    _reassign_to_a_lost_broker(scene, scene.topic, 3)


def reassignment_without_isr(scene: Scene) -> None:
    """Reassign a partition to a broker that crashes; then both replicas do, the one that is removed as the last one."""
    scene.lab.move_controller(4)
    scene.create({0: [1, 2]}, aged=False)
    scene.write(FIRST)
    _reassign_to_a_lost_broker(scene, scene.topic, 3)
    scene.crash(1)
    scene.write(FIRST)
    scene.crash(2)
    scene.start(3)
    scene.gone.discard(3)


def expansion_beside_a_reassignment(scene: Scene) -> None:
    """Let an old client erase a topic's id, and a controller mint another, while another topic is being reassigned."""
    lab, moved = scene.lab, Ledger("moved")
    lab.move_controller(1)
    scene.others.append(moved)
    lab.admin(milliseconds=8000).create_topic(moved.topic, {0: [1, 2]})
    lab.wait_for_leaders(moved.topic)
    moved.write(lab, FIRST)
    _reassign_to_a_lost_broker(scene, moved.topic, 4)
    expansion(scene, aged=True, failovers=1)


def _reassign_to_a_lost_broker(scene: Scene, name: str, lost: int) -> None:
    lab = scene.lab
    lab.pause(lost)
    lab.admin(milliseconds=4000).reassign(name, {0: [1, lost]})
    time.sleep(1)
    scene.crash(lost)
    lab.brokers[lost].paused = False
    scene.gone.add(lost)


def crashed(scene: Scene) -> None:
    """Crash a broker that is no controller: until its session expires, nobody removes it from the ISR."""
    scene.create()
    scene.write(FIRST)
    scene.lab.kill(next(number for number in scene.lab.brokers if number != scene.lab.controller()))


def stopped_isr(scene: Scene) -> None:
    """Stop the replicas one after the other: the ISR keeps the last one, which is down; then start the others."""
    lab = scene.lab
    lab.admin(milliseconds=8000).create_topic(scene.topic, {0: [2, 3]})
    lab.wait_for_leaders(scene.topic)
    lab.move_controller(1)
    scene.write(FIRST)
    scene.stop(2)
    scene.write(FIRST)
    scene.stop(3)
    scene.start(2)


def all_down(scene: Scene) -> None:
    """Crash all of five brokers: each is in the ISR of six of ten partitions, beside any two of the others."""
    scene.create({p: [(p + n * (1 + p // 5)) % 5 + 1 for n in range(3)] for p in range(10)})
    scene.write(FIRST)
    for number in scene.lab.brokers:
        scene.lab.kill(number)
    wait_until(lambda: not scene.lab.zk.children("/brokers/ids"), 60)
    scene.gone |= set(scene.lab.brokers)


def dead_in_isr(scene: Scene) -> None:
    """Write a broker that is down into the ISR by hand."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.stop(3)
    scene.write(FIRST)
    scene.write_state(0, isr=[1, 2, 3])


def empty_isr(scene: Scene) -> None:
    """Write an empty ISR by hand while the replicas are down; the first of them lacks the last records."""
    scene.create({0: [3, 2]})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.stop(3)
    scene.write(FIRST)
    scene.stop(2)
    scene.write_state(0, isr=[], leader=-1)
    scene.start(2, 3)


def wiped_leader(scene: Scene, *, is_seen: bool = True) -> None:
    """Lose the disk of the only ISR member; the other replicas have all but the last records.

    If it is not seen, the whole log directory is gone, so that no snapshot has it.
    """
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    scene.lab.move_controller(2)
    scene.stop(3)
    scene.stop(2)
    scene.write(FIRST)
    scene.lab.kill(1)
    wait_until(lambda: not scene.lab.zk.children("/brokers/ids"), 60)
    disk = scene.lab.brokers[1].data
    shutil.rmtree(disk / f"{scene.topic}-0" if is_seen else disk)
    scene.lab.note("the disk of broker 1 is empty")
    scene.start(2, 3)


def new_term(scene: Scene, number: int) -> None:
    """Restart a broker, and write while it is down."""
    scene.stop(number)
    scene.write(FIRST)
    scene.start(number)


def restored_zookeeper(scene: Scene, *, fails_over: bool) -> None:
    """Write an earlier state by hand, as a backup of ZooKeeper that is restored while brokers run."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    earlier = scene.lab.states(scene.topic)[0]
    for number in (2, 3, 1):
        new_term(scene, number)
    scene.write_state(0, **earlier)
    if fails_over:
        scene.lab.delete_controller()
        rest(scene.lab)


def restored_from_backup(scene: Scene) -> None:
    """Restore ZooKeeper from a backup of before elections while brokers run: they cannot reach it, and are stopped."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    with restored(scene):
        for number in (2, 3, 1):
            new_term(scene, number)


@contextmanager
def restored(scene: Scene, *, is_lost: bool = False) -> Iterator[None]:
    """Restore ZooKeeper from a backup of before what is done within, or without data; then all brokers are down."""
    lab, copy = scene.lab, scene.lab.folder / "copy"
    if is_lost:
        copy.mkdir()
    else:
        shutil.copytree(lab.folder / "zookeeper", copy)
    yield
    lab.restore_zookeeper(copy)
    for number in [one for one, broker in lab.brokers.items() if broker.runs]:
        lab.kill(number)
    wait_until(lambda: not lab.zk.children("/brokers/ids"), 60)


def _cut(scene: Scene, partition: int, *numbers: int) -> None:
    """Cut the last record of a partition off the logs of brokers that have crashed."""
    for number in numbers:
        segments = sorted((scene.lab.brokers[number].data / f"{scene.topic}-{partition}").glob("*.log"))
        os.truncate(segments[-1], segments[-1].stat().st_size - 1)
        scene.lab.note(f"the log of {scene.topic}-{partition} on broker {number} has lost its last record")


def lost_topics(scene: Scene, *, is_all: bool) -> None:
    """Lose ZooKeeper's data, or all since a topic was created; two of three logs of a partition lack a record."""
    if not is_all:
        scene.others.append(Ledger("earlier"))
        scene.lab.admin(milliseconds=8000).create_topic("earlier", {0: [1, 2, 3]}, FOR_EVER)
        scene.lab.wait_for_leaders("earlier")
        scene.others[0].write(scene.lab, FIRST)
        rest(scene.lab)
    with restored(scene, is_lost=is_all):
        scene.create(configuration=FOR_EVER)
        scene.write(FIRST)
        for ledger in scene.others:
            scene.stop(1)
            ledger.write(scene.lab, FIRST)
            scene.start(1)
    _cut(scene, 0, 1, 2)


def lost_topic_created_again(scene: Scene) -> None:
    """Lose a topic with ZooKeeper's data, and create it again over its logs, of which the first lacks records."""
    with restored(scene):
        scene.create({0: [1, 2, 3]}, FOR_EVER)
        scene.write(FIRST)
        for number in (2, 3, 1, 2, 3):
            new_term(scene, number)
        scene.stop(1)
        scene.write(FIRST)
    scene.start(*scene.lab.brokers)
    scene.create({0: [1, 2, 3]}, FOR_EVER, aged=False)


def lost_partition(scene: Scene) -> None:
    """Restore ZooKeeper from a backup of before a partition was added; its first log lacks the last record."""
    scene.create({0: [1, 2, 3]})
    with restored(scene):
        scene.lab.admin(milliseconds=8000).add_partitions(scene.topic, 2, [[2, 3, 1]])
        scene.lab.wait_for_leaders(scene.topic, 2)
        rest(scene.lab)
        scene.write(FIRST)
    _cut(scene, 1, 1, 2)


def lost_reassignment(scene: Scene, *, to: list[int], cut: Sequence[int] = ()) -> None:
    """Restore ZooKeeper from a backup of before a reassignment: no replica that it names has a log; some are cut."""
    scene.create({0: [1, 2]})
    scene.write(FIRST)
    with restored(scene):
        scene.lab.admin(milliseconds=8000).reassign(scene.topic, {0: to})
        wait_until(lambda: set(scene.lab.states(scene.topic)[0]["isr"]) == {*to}, 30)
        rest(scene.lab)
        scene.write(FIRST)
    _cut(scene, 0, *cut)


def unlisted_partition(scene: Scene) -> None:
    """Write the topic's znode without a partition, which has a state, as one of two clients at once; then fail over."""
    scene.create()
    scene.write(FIRST)
    _write_partitions(scene, {0: [1, 2, 3]})
    scene.lab.delete_controller()
    rest(scene.lab)


def skipped_number(scene: Scene) -> None:
    """Create a topic by hand that lacks a partition between others."""
    scene.lab.zk.do(*writes_of_creation(scene.topic, {0: [1, 2, 3], 2: [2, 3, 1]}))
    scene.lab.wait_for_leaders(scene.topic, 2)
    rest(scene.lab)
    scene.write(FIRST)


def _write_partitions(scene: Scene, assignment: Mapping[int, list[int]]) -> None:
    """Write the partitions of the topic's znode by hand."""
    partitions = {str(number): replicas for number, replicas in assignment.items()}
    content = {**(scene.lab.topic(scene.topic) or {}), "partitions": partitions}
    scene.lab.zk.do(set_data(f"/brokers/topics/{scene.topic}", json.dumps(content).encode()))
    scene.lab.note(f"the partitions of {scene.topic} are set to {assignment}")


def without_cluster_id(scene: Scene) -> None:
    """Remove /cluster/id."""
    scene.create()
    scene.write(FIRST)
    scene.lab.zk.do(delete("/cluster/id"))
    scene.lab.note("/cluster/id is removed")


def state_by_hand(scene: Scene, *, assignment: Mapping[int, list[int]], gone: int = 0, **state: object) -> None:
    """Write fields of a state by hand, perhaps after a broker has stopped that is no replica."""
    scene.create(assignment)
    scene.write(FIRST)
    scene.lab.move_controller(1)
    if gone:
        scene.stop(gone)
        scene.gone.add(gone)
    scene.write_state(0, **state)


def lost_ends(scene: Scene, *, assignment: Mapping[int, list[int]]) -> None:
    """Crash all brokers; the log of each partition has lost its last record on the first of its replicas."""
    scene.create(assignment)
    scene.write(FIRST)
    time.sleep(UNTIL_CHECKPOINTS)  # which show that the logs were not flushed
    for number in scene.lab.brokers:
        scene.lab.kill(number)
    wait_until(lambda: not scene.lab.zk.children("/brokers/ids"), 60)
    for partition, replicas in assignment.items():
        _cut(scene, partition, replicas[0])


def lost_segments(scene: Scene, *, lost: slice, leads_again: bool) -> None:
    """Remove segments of the only ISR member's log while it is down; perhaps it leads again and stops; others run."""
    scene.create({0: [1, 2, 3]}, {**FOR_EVER, "segment.bytes": "100"})
    scene.write(FIRST, 6)
    scene.stop(3, 2, 1)
    log = scene.lab.brokers[1].data / f"{scene.topic}-0"
    for segment in sorted(log.glob("*.log"))[lost]:
        for path in log.glob(f"{segment.stem}.*"):
            path.unlink()
        scene.lab.note(f"segment {segment.name} of broker 1 is removed")
    if leads_again:
        scene.start(1)
        scene.write(FIRST)
        scene.stop(1)
    scene.start(2, 3)
    scene.gone.add(1)


def controller_epoch_set_back(scene: Scene) -> None:
    """Write an early /controller_epoch, and let the next controller be elected with it."""
    lab = scene.lab
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    for number in (2, 3, 1):
        lab.delete_controller()
        new_term(scene, number)
    lab.zk.do(set_data("/controller_epoch", b"1"))
    lab.note("/controller_epoch is 1")
    lab.delete_controller()
    rest(lab)


def replicas_by_hand(scene: Scene, *, created: list[int], written: list[int], fails_over: bool = True) -> None:
    """Write other replicas into the topic's znode by hand; perhaps fail the controller over."""
    scene.create({0: created})
    scene.write(FIRST)
    write_replicas(scene, {0: written})
    if fails_over:
        scene.lab.delete_controller()
        rest(scene.lab)


def write_replicas(scene: Scene, assignment: Mapping[int, list[int]]) -> None:
    """Write the replicas of partitions into the topic's znode."""
    lab, path = scene.lab, f"/brokers/topics/{scene.topic}"
    content = lab.topic(scene.topic) or {}
    content["partitions"] |= {str(number): replicas for number, replicas in assignment.items()}
    lab.zk.do(set_data(path, json.dumps(content).encode()))
    lab.note(f"set {path} {json.dumps(content)}")


def removed_directory(scene: Scene) -> None:
    """Remove the directory of the leader, which runs on."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    shutil.rmtree(scene.lab.brokers[1].data / f"{scene.topic}-0")


def restored_leader(scene: Scene) -> None:
    """Bring an old copy of its log to the only ISR member; the other replicas have all records."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    lab, log = scene.lab, scene.lab.brokers[1].data / f"{scene.topic}-0"
    copy = lab.folder / "copy"
    shutil.copytree(log, copy)
    scene.write(FIRST)
    lab.move_controller(2)
    scene.stop(3)
    scene.stop(2)
    lab.kill(1)
    wait_until(lambda: not lab.zk.children("/brokers/ids"), 60)
    shutil.rmtree(log)
    shutil.move(copy, log)
    lab.note("broker 1 has an old copy of its log")
    scene.start(2, 3)


def another_broker_id(scene: Scene, *, replicas: list[int], is_used: bool = False) -> None:
    """Start broker 3 with its disk under the id 4; if that is used, another topic has its only replica there."""
    lab = scene.lab
    scene.create({0: replicas})
    scene.write(FIRST)
    lab.move_controller(1)
    scene.stop(3)
    lab.renumber(3, 4)
    scene.start(4)
    scene.gone.add(3)
    if is_used:
        lab.admin(milliseconds=8000).create_topic("later", {0: [4]})
        lab.wait_for_leaders("later")
        scene.others.append(Ledger("later"))
        scene.others[0].write(lab, FIRST)
        rest(lab)


def failed_disk(scene: Scene, *, replicas: list[int]) -> None:
    """Let the disk of broker 2 fail that has the log."""
    scene.create({0: replicas})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    found = scene.lab.brokers[2].directory(f"{scene.topic}-0")
    if found is not None:
        scene.lab.fail_disk(2, found.parent)
    rest(scene.lab)


def failed_disks_of_two(scene: Scene) -> None:
    """Let the disk of the only ISR member of a partition fail, and one of another broker with an ISR member."""
    lab = scene.lab
    scene.create({0: [1, 2], 1: [2, 3]})
    scene.write(FIRST)
    lab.move_controller(3)
    scene.stop(1)
    scene.write(FIRST)
    for number, partition in ((2, 0), (3, 1)):
        log = lab.brokers[number].directory(f"{scene.topic}-{partition}")
        assert log is not None
        lab.fail_disk(number, log.parent)
        rest(lab)
    scene.start(1)


def restored_leader_beside_a_failed_disk(scene: Scene) -> None:
    """Bring an old copy of its log to the only ISR member; the disk of the other replica, with all records, fails."""
    scene.create({0: [1, 2]})
    scene.write(FIRST)
    lab, name = scene.lab, f"{scene.topic}-0"
    log, other = (lab.brokers[number].directory(name) or lab.brokers[number].data / name for number in (1, 2))
    lab.move_controller(3)
    copy = lab.folder / "copy"
    shutil.copytree(log, copy)
    scene.write(FIRST)
    lab.fail_disk(2, other.parent)
    rest(lab)
    scene.crash(1)
    shutil.rmtree(log)
    shutil.move(copy, log)
    lab.note("broker 1 has an old copy of its log")


def copied_topic(scene: Scene) -> None:
    """Create a topic in ZooKeeper over copies of the directories of another one, with their partition.metadata."""
    lab, copied = scene.lab, Ledger("copied")
    lab.admin(milliseconds=8000).create_topic(copied.topic, TWO)
    lab.wait_for_leaders(copied.topic, len(TWO))
    lab.delete_controller()  # so that the replicas have the id in their files on 2.8, too
    rest(lab)
    copied.write(lab, FIRST, 2)
    scene.others.append(copied)
    scene.ledger.acknowledged += copied.acknowledged
    for number in lab.brokers:
        lab.stop(number)
    for broker in lab.brokers.values():
        for path in sorted(broker.data.glob(f"{copied.topic}-*")):
            shutil.copytree(path, path.with_name(path.name.replace(copied.topic, scene.topic)))
    lab.zk.do(*writes_of_creation(scene.topic, TWO))
    lab.note(f"the directories of {copied.topic} are copied to {scene.topic}, which is created in ZooKeeper")
    scene.start(*lab.brokers)
