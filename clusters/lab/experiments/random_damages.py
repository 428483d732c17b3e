"""What operators, old clients, crashes and disks do to a topic, at random.

Words: an *act* is one thing that is done, if it can be done now. An act is *harmful* if it damages the topic by itself.
"""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import define, field

from kwalk.clusters.collect.log_files import CHECKPOINTS
from kwalk.clusters.lab.cluster import failed_root
from kwalk.clusters.lab.experiments.damages import (
    DELETING,
    FIRST,
    FOR_EVER,
    FOREIGN_FILE,
    SECOND,
    TWO,
    Scene,
    write_replicas,
)
from kwalk.clusters.lab.experiments.deletions import writes_of_creation
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.known_records import Ledger
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import ZooKeeperError, delete
from kwalk.clusters.wire import new_topic_id
from kwalk.model.language import KwalkError

SHAPES: tuple[Mapping[int, list[int]], ...] = (
    TWO,
    {0: [1, 2, 3]},
    {0: [2, 3], 1: [3, 1]},
    {0: [3], 1: [1]},
    {0: [1, 2], 1: [2, 3], 2: [3, 1]},
    {0: [3, 1]},
)
MOST_TRIES = 24
"""How many acts are tried at most, as some cannot be done now."""
OF_ROOTS = tuple(CHECKPOINTS.values())
"""Files of a log directory that brokers write."""
OF_LOGS = ("leader-epoch-checkpoint", "partition.metadata")
"""Files of a log that brokers write."""
NO_METADATA = "version: 0\ntopic_"
"""A partition.metadata of which only the beginning reached the disk."""


@define
class RandomDamages:
    """A topic that is damaged at random; a second one is left alone.

    Each method with an act returns whether it was done. Records are kept for ever: a copy of a log that a broker had
    open has a time index of zeros, by which a broker that starts in an orderly way would delete the segment.
    """

    scene: Scene
    source: random.Random
    earlier: Mapping[int, Mapping[str, object]] = field(factory=dict)
    first_id: str | None = None
    copies: dict[tuple[int, str], Path] = field(factory=dict)
    acts: list[str] = field(factory=list)
    crashed: set[int] = field(factory=set)
    backup: Path | None = None

    def run(self) -> None:
        """Do four to eight things, and go on until the topic is damaged, or it has been tried often enough."""
        scene, lab, choose = self.scene, self.scene.lab, self.source
        scene.create(choose.choice(SHAPES), FOR_EVER, aged=choose.random() < 0.7)
        other = Ledger("other")
        lab.admin(milliseconds=8000).create_topic(other.topic, {0: [2, 1, 3]}, FOR_EVER)
        lab.wait_for_leaders(other.topic)
        other.write(lab, FIRST)
        scene.others.append(other)
        scene.write(FIRST)
        self._remember()
        wanted, harm = choose.randint(4, 8), choose.randint(1, 3)
        for _ in range(MOST_TRIES):
            is_enough = len(self.acts) >= wanted and sum(act in HARMFUL for act in self.acts) >= harm
            if scene.is_deleted or is_enough:
                break
            name = choose.choice(ACTS)
            if getattr(self, name)():
                self.acts.append(name)
        if not self._running() and choose.random() < 0.7:
            self._start(choose.choice(self._stopped()))

    # What there is.

    def _remember(self) -> None:
        """Note the id and the states of the topic, which an operator may write back."""
        lab, topic = self.scene.lab, self.scene.topic
        self.earlier, self.first_id = lab.states(topic), self._content().get("topic_id")

    def _content(self) -> dict[str, Any]:
        return self.scene.lab.topic(self.scene.topic) or {}

    def _running(self) -> list[int]:
        return [number for number, broker in self.scene.lab.brokers.items() if broker.runs]

    def _stopped(self) -> list[int]:
        return [number for number, broker in self.scene.lab.brokers.items() if not broker.runs]

    def _with_all_disks(self) -> list[int]:
        """Return the brokers that are down without a failed disk: under another id nothing shows what that had."""
        roots = {number: self.scene.lab.brokers[number].roots for number in self._stopped()}
        return [number for number, found in roots.items() if not any(failed_root(root).is_dir() for root in found)]

    def _partition(self) -> int | None:
        """Return a partition that has a state; None if there is none."""
        found = sorted(self.scene.lab.states(self.scene.topic).keys() & set(map(int, self._content()["partitions"])))
        return self.source.choice(found) if found else None

    def _brokers(self) -> list[int]:
        """Return some of the brokers."""
        known = sorted(self.scene.lab.brokers)
        return self.source.sample(known, self.source.randint(1, min(3, len(known))))

    def _replica(self, hosts: Collection[int]) -> tuple[int, Path] | None:
        """Return a broker of some, and one of its logs of the topic."""
        topic = self.scene.topic
        found = [
            (number, path)
            for number in hosts
            for root in self.scene.lab.brokers[number].roots
            if root.is_dir()
            for path in sorted(root.glob(f"{topic}-*"))
            if path.name.removeprefix(f"{topic}-").isdecimal()
        ]
        return self.source.choice(found) if found else None

    def _start(self, number: int) -> None:
        """Start a broker; one that does not start stays down."""
        self.crashed.discard(number)
        try:
            self.scene.start(number)
        except KwalkError as error:
            self.scene.lab.note(f"broker {number} does not start: {str(error).splitlines()[0]}")
            if self.scene.lab.brokers[number].runs:
                self.scene.lab.kill(number)

    # Brokers and clients.

    def fail_over(self) -> bool:
        """Delete /controller."""
        if self._running():
            self.scene.lab.delete_controller()
            rest(self.scene.lab)
        return bool(self._running())

    def stop(self) -> bool:
        """Stop a broker, but not the last one."""
        running = self._running()
        if len(running) > 1:
            self.scene.stop(self.source.choice(running))
        return len(running) > 1

    def crash(self) -> bool:
        """Crash a broker, but not the last one."""
        running = self._running()
        if len(running) > 1:
            self.crashed.add(number := self.source.choice(running))
            self.scene.crash(number)
        return len(running) > 1

    def lose_power(self) -> bool:
        """Crash all brokers at once."""
        running = self._running()
        for number in running:
            self.scene.lab.kill(number)
        self.crashed.update(running)
        wait_until(lambda: not self.scene.lab.zk.children("/brokers/ids"), 60)
        return bool(running)

    def start(self) -> bool:
        """Start a broker that is down."""
        stopped = self._stopped()
        if stopped:
            self._start(self.source.choice(stopped))
        return bool(stopped)

    def write(self) -> bool:
        """Write to all partitions that have a leader."""
        if self._running():
            self.scene.write(self.scene.origin, 1)
        return bool(self._running())

    def start_with_another_id(self) -> bool:
        """Start a broker that is down with its disks, under an id that no broker had."""
        stopped = [number for number in self._with_all_disks() if number not in self.scene.gone]
        if not stopped:
            return False
        number, new = self.source.choice(stopped), max(self.scene.lab.brokers) + 1
        self.scene.lab.renumber(number, new)
        self.scene.gone.add(number)
        self._start(new)
        return True

    def swap_disks(self) -> bool:
        """Exchange the disks of two brokers that are down, as their ids are exchanged; start both."""
        stopped = self._with_all_disks()
        if len(stopped) < 2:
            return False
        one, other = self.source.sample(stopped, 2)
        for number, new in ((one, 0), (other, one), (0, other)):
            self.scene.lab.renumber(number, new)
        for number in (one, other):
            self._start(number)
        return True

    def reassign(self) -> bool:
        """Reassign a partition to some of the brokers, while all run."""
        if self._stopped() or self.scene.lab.controller() is None or (partition := self._partition()) is None:
            return False
        replicas = self._brokers()
        self.scene.lab.admin(milliseconds=8000).reassign(self.scene.topic, {partition: replicas})
        time.sleep(2)
        rest(self.scene.lab)
        self.scene.lab.note(f"{self.scene.topic}-{partition} is reassigned to {replicas}")
        return True

    def reassign_to_a_lost_broker(self) -> bool:
        """Begin a reassignment to a broker that crashes before it has copied anything."""
        lab, topic = self.scene.lab, self.scene.topic
        if (partition := self._partition()) is None or lab.controller() is None:
            return False
        replicas = self._content()["partitions"][str(partition)]
        others = [number for number in self._running() if number not in (*replicas, lab.controller())]
        if not others:
            return False
        lab.pause(number := self.source.choice(others))
        wanted = [number, *self.source.sample(replicas, self.source.randint(0, len(replicas)))]
        lab.admin(milliseconds=4000).reassign(topic, {partition: wanted})
        lab.note(f"{topic}-{partition} is being reassigned to {wanted}")
        time.sleep(1)
        self.scene.crash(number)
        lab.brokers[number].paused = False
        self.crashed.add(number)
        return True

    def cancel(self) -> bool:
        """Cancel reassignments."""
        lab, content = self.scene.lab, self._content()
        moving = sorted({*content.get("adding_replicas", {}), *content.get("removing_replicas", {})}, key=int)
        if not moving or lab.controller() is None:
            return False
        answer = lab.admin(milliseconds=8000).cancel(self.scene.topic, *map(int, moving))
        rest(lab)
        lab.note(f"the reassignment of {', '.join(moving)} is cancelled: {answer}")
        return True

    def add_partition(self) -> bool:
        """Add a partition, as a new client or an old one does, which erases the id."""
        lab, topic, count = self.scene.lab, self.scene.topic, len(self._content()["partitions"])
        if lab.controller() is None or not self._running():
            return False
        if self.source.random() < 0.5:
            answer = str(lab.admin(milliseconds=8000).add_partitions(topic, count + 1, [self._brokers()]))
        else:
            answer = lab.tool(OLD_CLIENT, "--alter", "--topic", topic, "--partitions", str(count + 1))[-80:]
        lab.wait_for_leaders(topic, count + 1, 8)
        rest(lab)
        lab.note(f"a partition is added: {answer}")
        return True

    def elect_unclean(self) -> bool:
        """Elect a replica outside of the ISR, where no ISR member lives."""
        lab, topic, running = self.scene.lab, self.scene.topic, self._running()
        dead = [number for number, state in lab.states(topic).items() if not set(state["isr"]) & set(running)]
        if not dead or lab.controller() is None:
            return False
        answer = lab.admin(milliseconds=8000).elect_unclean(topic, partition := self.source.choice(dead))
        rest(lab)
        lab.note(f"unclean election of {topic}-{partition}: {answer}")
        return answer.ok

    def delete_topic(self) -> bool:
        """Delete the topic while a broker is down, which it waits for."""
        lab, topic = self.scene.lab, self.scene.topic
        if not self._stopped() or lab.controller() is None or self.source.random() < 0.5:
            return False
        lab.admin(milliseconds=4000).delete_topic(topic)
        time.sleep(DELETING)
        lab.note(f"the deletion of {topic} was requested")
        self.scene.is_deleted = True
        return True

    def delete_by_hand(self) -> bool:
        """Remove the topic's znodes by hand; seldom, as nothing else happens then."""
        if self.source.random() < 0.8:
            return False
        self.scene.lab.zk.delete_tree(f"/brokers/topics/{self.scene.topic}")
        self.scene.lab.note("the znodes of the topic are removed")
        rest(self.scene.lab)
        self.scene.is_deleted = True
        return True

    def create_again(self) -> bool:
        """Delete the topic while a broker is down, which keeps its logs, and create it again."""
        lab, content = self.scene.lab, self._content()
        if not self._stopped() or lab.controller() is None or self.scene.origin == SECOND:
            return False
        self.scene.remove_topic()
        replicas = {int(number): found for number, found in content["partitions"].items()}
        self.scene.create(replicas, FOR_EVER, aged=self.source.random() < 0.7)
        self.scene.origin, self.backup = SECOND, None
        self.scene.is_deleted = not self.scene.has_topic()  # the controller may end the deletion only now
        self.scene.write(SECOND, 3)
        self._remember()
        return True

    def create_over_logs(self) -> bool:
        """Remove the topic's znodes by hand, and create it again over its logs."""
        lab, topic, content = self.scene.lab, self.scene.topic, self._content()
        replicas = {int(number): found for number, found in content["partitions"].items()}
        lab.zk.delete_tree(f"/brokers/topics/{topic}")
        rest(lab)
        for write in writes_of_creation(topic, replicas):
            with suppress(ZooKeeperError):  # the configuration has stayed
                lab.zk.do(write)
        lab.note("the topic is created again over its logs")
        rest(lab)
        return True

    # ZooKeeper.

    def erase_id(self) -> bool:
        """Write the topic's znode as an old client does."""
        has_id = "topic_id" in self._content()
        if has_id:
            self.scene.erase_id()
        return has_id

    def write_first_id(self) -> bool:
        """Write the id that the topic had first."""
        if self.first_id is None or self._content().get("topic_id") == self.first_id:
            return False
        self._write_id(self.first_id)
        return True

    def write_new_id(self) -> bool:
        """Write an id that the topic never had."""
        self._write_id(new_topic_id())
        return True

    def _write_id(self, identity: str) -> None:
        self.scene.lab.zk.do(self.scene.lab.topic_id_write(self.scene.topic, identity))
        self.scene.lab.note(f"the topic id {identity} is written")

    def write_earlier_state(self) -> bool:
        """Write the state that a partition had first, as a restored backup of ZooKeeper has it."""
        partition = self.source.choice(list(self.earlier))
        if self.scene.lab.states(self.scene.topic).get(partition) in (None, self.earlier[partition]):
            return False
        self.scene.write_state(partition, **self.earlier[partition])
        return True

    def remove_state(self) -> bool:
        """Delete the state znode of a partition."""
        lab, topic = self.scene.lab, self.scene.topic
        if (partition := self._partition()) is None:
            return False
        lab.zk.do(delete(f"/brokers/topics/{topic}/partitions/{partition}/state"))
        lab.note(f"the state of {topic}-{partition} is deleted")
        return True

    def edit_state(self) -> bool:
        """Write a leader and an ISR of some replicas by hand, as an operator does who wants the partition served."""
        if (partition := self._partition()) is None:
            return False
        replicas = sorted(self._content()["partitions"][str(partition)])
        isr = self.source.sample(replicas, self.source.randint(1, len(replicas)))
        self.scene.write_state(partition, leader=isr[0], isr=isr)
        return True

    def edit_state_badly(self) -> bool:
        """Write one field of a state by hand: any leader or none, any ISR or none, an earlier or a later epoch."""
        if (partition := self._partition()) is None:
            return False
        epoch = self.scene.lab.states(self.scene.topic)[partition]["leader_epoch"]
        changes: list[dict[str, object]] = [
            {"leader": self.source.choice([-1, *sorted(self.scene.lab.brokers)])},
            {"isr": self.source.choice([[], self._brokers()])},
            {"leader_epoch": max(0, epoch + self.source.choice([-2, -1, 1, 5]))},
        ]
        self.scene.write_state(partition, **self.source.choice(changes))
        return True

    def edit_assignment(self) -> bool:
        """Write replicas of a partition into the topic's znode by hand."""
        content = self._content()
        number = self.source.choice(sorted(content["partitions"]))
        replicas = self._brokers()
        if sorted(replicas) == sorted(content["partitions"][number]):
            return False
        write_replicas(self.scene, {int(number): replicas})
        return True

    def copy_zookeeper(self) -> bool:
        """Copy ZooKeeper's data, as a backup does."""
        if self.backup is None:
            self.backup = self.scene.lab.folder / "copy-of-zookeeper"
            shutil.copytree(self.scene.lab.folder / "zookeeper", self.backup)
            self.scene.lab.note("ZooKeeper's data is copied")
            return True
        return False

    def restore_zookeeper(self) -> bool:
        """Restore ZooKeeper from the backup; brokers cannot reach it, and are stopped."""
        lab = self.scene.lab
        if self.backup is None:
            return False
        lab.restore_zookeeper(self.backup)
        return self.lose_power() or True

    # Disks.

    def remove_file(self) -> bool:
        """Remove a file beside a log of a broker that is down, or partition.metadata of any."""
        found = self._replica(list(self.scene.lab.brokers))
        if found is None:
            return False
        number, log = found
        files = [log / "partition.metadata"]
        if not self.scene.lab.brokers[number].runs:
            files += [*(log.parent / name for name in OF_ROOTS), *(log / name for name in OF_LOGS)]
        if not (present := [path for path in files if path.exists()]):
            return False
        (removed := self.source.choice(present)).unlink()
        self.scene.lab.note(f"{removed.parent.name}/{removed.name} is removed on broker {number}")
        return True

    def garble_file(self) -> bool:
        """Write what no broker writes into such a file, of a broker that is down."""
        found = self._replica(self._stopped())
        if found is None:
            return False
        number, log = found
        contents = {log.parent / name: "x\n" for name in OF_ROOTS} | {log / "leader-epoch-checkpoint": "0\n5\n0 0\n"}
        contents |= {log / "partition.metadata": NO_METADATA}
        path = self.source.choice(sorted(contents))
        path.write_text(contents[path])
        self.scene.lab.note(f"{path.parent.name}/{path.name} is garbled on broker {number}")
        return True

    def write_foreign_file(self) -> bool:
        """Write another topic's id into partition.metadata of a log of a broker that is down."""
        found = self._replica(self._stopped())
        if found is None:
            return False
        (found[1] / "partition.metadata").write_text(FOREIGN_FILE)
        self.scene.lab.note(f"{found[1].name}/partition.metadata has another topic's id on broker {found[0]}")
        return True

    def remove_log(self) -> bool:
        """Remove a log of a broker that is down."""
        found = self._replica(self._stopped())
        if found is None:
            return False
        shutil.rmtree(found[1])
        self.scene.lab.note(f"{found[1].name} is removed on broker {found[0]}")
        return True

    def empty_disk(self) -> bool:
        """Empty one disk, or all, of a broker that is down."""
        stopped = self._stopped()
        if not stopped:
            return False
        number = self.source.choice(stopped)
        roots = [root for root in self.scene.lab.brokers[number].roots if root.is_dir()]
        for root in self.source.sample(roots, self.source.randint(min(1, len(roots)), len(roots))):
            shutil.rmtree(root)
            root.mkdir()
            self.scene.lab.note(f"{root.name} of broker {number} is empty")
        return True

    def copy_log(self) -> bool:
        """Copy a log, as a backup does."""
        found = self._replica(self._running())
        if found is None or (found[0], found[1].name) in self.copies:
            return False
        copy = self.scene.lab.folder / f"copy-{found[0]}-{found[1].name}"
        shutil.copytree(found[1], copy, dirs_exist_ok=True)
        self.copies[found[0], found[1].name] = copy
        self.scene.lab.note(f"{found[1].name} of broker {found[0]} is copied")
        return True

    def bring_copy_back(self) -> bool:
        """Bring an old copy of a log to a broker that is down."""
        stopped = self._stopped()
        known = [key for key in self.copies if key[0] in stopped]
        if not known:
            return False
        number, name = self.source.choice(known)
        broker, copy = self.scene.lab.brokers[number], self.copies.pop((number, name))
        place = broker.directory(name) or broker.data / name
        if not place.parent.is_dir():
            return False
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(copy, place)
        self.scene.lab.note(f"broker {number} has an old copy of {name}")
        return True

    def copy_to_another_broker(self) -> bool:
        """Copy a log to a broker that is down and has none of the partition."""
        stopped = self._stopped()
        found = self._replica(list(self.scene.lab.brokers))
        others = [n for n in stopped if found and self.scene.lab.brokers[n].directory(found[1].name) is None]
        others = [number for number in others if self.scene.lab.brokers[number].data.is_dir()]
        if found is None or not others:
            return False
        number = self.source.choice(others)
        shutil.copytree(found[1], self.scene.lab.brokers[number].data / found[1].name)
        self.scene.lab.note(f"broker {number} has a copy of {found[1].name} of broker {found[0]}")
        return True

    def fail_disk(self) -> bool:
        """Let a disk with a log of the topic fail, of a broker that runs."""
        found = self._replica(self._running())
        if found is not None:
            self.scene.lab.fail_disk(found[0], found[1].parent)
        return found is not None

    def bring_disk_back(self) -> bool:
        """Bring failed disks of a broker back, and restart it."""
        lab = self.scene.lab
        failed = [n for n, one in lab.brokers.items() if any(failed_root(root).is_dir() for root in one.roots)]
        failed = [number for number in failed if number not in self.scene.gone]
        if failed:
            number = self.source.choice(failed)
            if lab.brokers[number].runs:
                self.scene.stop(number)
            lab.repair_disks(number)
            self._start(number)
        return bool(failed)

    def cut_log(self) -> bool:
        """Cut the end of a log of a broker that has crashed: what the disk had not got is gone."""
        found = self._replica([number for number in self._stopped() if number in self.crashed])
        segments = [] if found is None else sorted(found[1].glob("*.log"))
        if found is None or not segments or not segments[-1].stat().st_size:
            return False
        size = self.source.randrange(segments[-1].stat().st_size)
        with segments[-1].open("r+b") as file:
            file.truncate(size)
        self.scene.lab.note(f"{found[1].name} of broker {found[0]} is cut to {size} bytes")
        return True


HARMFUL = frozenset(
    (
        "add_partition",
        "bring_copy_back",
        "copy_to_another_broker",
        "create_again",
        "create_over_logs",
        "cut_log",
        "delete_by_hand",
        "delete_topic",
        "edit_assignment",
        "edit_state",
        "edit_state_badly",
        "elect_unclean",
        "empty_disk",
        "erase_id",
        "fail_disk",
        "garble_file",
        "reassign_to_a_lost_broker",
        "remove_file",
        "remove_log",
        "remove_state",
        "restore_zookeeper",
        "start_with_another_id",
        "swap_disks",
        "write_earlier_state",
        "write_first_id",
        "write_foreign_file",
        "write_new_id",
    )
)
ACTS = (
    *sorted(HARMFUL),
    "bring_disk_back",
    "cancel",
    "copy_zookeeper",
    "lose_power",
    "reassign",
    *("copy_log", "crash", "fail_over", "stop") * 2,
    *("start", "write") * 3,
)
"""What is drawn from: some of it more often."""
