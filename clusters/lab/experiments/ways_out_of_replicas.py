"""What `kwalk diagnose` says to do by hand of replicas that lack records, and of disks, on real brokers.

As in `ways_out`, whose rounds these are. What is read from a sentence has to be in it: a round fails otherwise. Where a
replica would copy what it lacks before a snapshot is taken, proxies hold its fetches, as a large log does.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from attrs import evolve

from kwalk.clusters.collect.log_files import BROKER, IDENTITY
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments import damages
from kwalk.clusters.lab.experiments.damages import FIRST, Scene
from kwalk.clusters.lab.experiments.deletions import writes_of_creation
from kwalk.clusters.lab.experiments.known_records import Ledger, read_records
from kwalk.clusters.lab.experiments.operator_steps import move_away, rest
from kwalk.clusters.lab.experiments.recoveries import DEAD, RELEASES, diagnosed
from kwalk.clusters.lab.experiments.ways_out import Advised, advised, numbers_in, put_states, read, start_all
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, ProxiedFrame, matching
from kwalk.clusters.lab.zookeeper import Op
from kwalk.clusters.metadata import Api
from kwalk.model.language import KwalkError

THREE: Mapping[int, list[int]] = {0: [1, 2, 3]}
EACH: Mapping[int, list[int]] = {0: [1, 2, 3], 1: [2, 3, 1], 2: [3, 1, 2]}
"""Partitions of which each broker leads one."""
BUT = re.compile(r"reassign \S+-(\d+) to its replicas but brokers? ([\d, and]+) \([^)]*--execute\), (?:and )?then back")
STOP = re.compile(r"stop broker (\d+) with a controlled shutdown")
ELECTED = re.compile(
    r"an unclean election of brokers? (\d+)[^,;]*(?:, once started)?"
    r"(?:, while brokers? ([\d, and]+) (?:is|are) stopped)?"
)
HIGH_WATERMARKS = "replication-offset-checkpoint"
"""The file of a log directory that has the high watermarks of its logs."""
# Damages.


def emptied(
    scene: Scene, *, assignment: Mapping[int, list[int]], empty: Mapping[int, Collection[int]], longest: int = 0
) -> None:
    """Crash all brokers, remove logs of some, and start all before a controller is elected, which sees all alive.

    Fetches of the partitions from their leaders are held where one of both has an empty log: nothing is copied.

    Args:
        scene: The cluster, with proxies.
        assignment: The replicas; the first ones lead.
        empty: By partition, the brokers whose logs are removed.
        longest: A broker that is the only ISR member, and has more records than the others; 0 if the ISR is full.
    """
    lab = scene.lab
    scene.create(assignment)
    scene.write(FIRST)
    if longest:
        lab.move_controller(longest)
        scene.stop(*(number for number in lab.brokers if number != longest))
        scene.write(FIRST)
    for number in lab.brokers:
        if lab.brokers[number].runs:
            lab.kill(number)
    wait_until(lambda: not lab.zk.children("/brokers/ids"), 60)
    for partition, hosts in empty.items():
        leader, *followers = assignment[partition]
        for number in hosts:
            shutil.rmtree(lab.brokers[number].data / f"{scene.topic}-{partition}")
            lab.note(f"{scene.topic}-{partition} is removed on broker {number}")
        for number in followers if leader in hosts else hosts:
            hold_fetches(lab, leader=leader, follower=number)
    _start_before_an_election(lab)
    rest(lab)


def _start_before_an_election(lab: Lab) -> None:
    """Start all brokers; hold their elections until each is registered."""
    holds = [lab.rules.hold(matching(op, path="/controller")) for op in (Op.MULTI, Op.CREATE)]

    def release() -> None:
        wait_until(lambda: len(lab.zk.children("/brokers/ids")) == len(lab.brokers), 60)
        lab.note("all brokers are registered")
        for hold in holds:
            lab.rules.drop(hold)

    thread = threading.Thread(target=release, daemon=True)
    thread.start()
    lab.start(*lab.brokers)
    thread.join()


def empty_isr_and_the_last_log_is_down(scene: Scene, *, replicas: list[int]) -> None:
    """Stop the replicas one after the other, start all but the last one, and write an empty ISR by hand."""
    scene.create({0: replicas})
    scene.write(FIRST)
    for number in (1, 2):
        scene.stop(number)
        scene.write(FIRST)
    scene.lab.stop(3)
    scene.start(1, 2)
    scene.write_state(0, isr=[], leader=-1)
    scene.lab.delete_controller()
    rest(scene.lab)


def states_by_hand(scene: Scene, leaders: Mapping[int, int]) -> None:
    """Write other leaders into states by hand."""
    scene.create(EACH)
    scene.write(FIRST)
    for partition, leader in leaders.items():
        scene.write_state(partition, leader=leader)


def isrs_by_hand(scene: Scene) -> None:
    """Take all followers out of ISRs by hand, which their leaders do not read."""
    scene.create(EACH)
    scene.write(FIRST)
    for partition, state in scene.lab.states(scene.topic).items():
        scene.write_state(partition, isr=[state["leader"]])
    scene.write(FIRST)


def states_without_leaders(scene: Scene) -> None:
    """Write states by hand that name no leader, and no ISR member or a follower; brokers serve on."""
    scene.create(EACH)
    scene.write(FIRST)
    for partition, isr in ((0, []), (1, []), (2, [1])):
        epoch = scene.lab.states(scene.topic)[partition]["leader_epoch"]
        scene.write_state(partition, leader=-1, isr=isr, leader_epoch=epoch + 1)
    scene.write(FIRST)


def restored_states(scene: Scene) -> None:
    """Write the states by hand that three partitions had before their last elections, and fail the controller over."""
    scene.create(EACH)
    scene.write(FIRST)
    earlier = scene.lab.states(scene.topic)
    for number in (2, 3, 1):
        damages.new_term(scene, number)
    for partition, state in earlier.items():
        scene.write_state(partition, **state)
    scene.lab.delete_controller()
    rest(scene.lab)


def only_members(scene: Scene) -> None:
    """Let each of three brokers be the only ISR member of the partition that it leads, and crash all."""
    lab = scene.lab
    scene.create(EACH)
    scene.write(FIRST)
    lab.rules.hold(matching(Api.FETCH, client="broker-1-fetcher-0"))
    lab.rules.hold(matching(Api.FETCH, client="broker-2-fetcher-0"))
    lab.rules.hold(matching(Api.FETCH, client="broker-3-fetcher-0"))
    wait_until(lambda: all(len(state["isr"]) == 1 for state in lab.states(scene.topic).values()), 60)
    scene.write(FIRST)
    for number in lab.brokers:
        lab.kill(number)
    wait_until(lambda: not lab.zk.children("/brokers/ids"), 60)
    free_fetches(lab)


def two_directories(scene: Scene, *, is_alone: bool) -> None:
    """Bring an earlier copy of a log into the other log directory of its broker, which is down.

    Args:
        scene: The cluster, with two log directories.
        is_alone: Whether the broker is the only ISR member.
    """
    lab, name = scene.lab, f"{scene.topic}-0"
    scene.create(THREE)
    scene.write(FIRST)
    lab.move_controller(1)
    scene.stop(3)
    log = lab.brokers[3].directory(name)
    other = next(root for root in lab.brokers[3].roots if not (root / name).is_dir())
    assert log is not None
    copy = lab.folder / "copy"
    shutil.copytree(log, copy)
    if is_alone:
        scene.start(3)
        scene.stop(1, 2)
        scene.write(FIRST)
        lab.stop(3)
        scene.start(1, 2)
    else:
        scene.write(FIRST)
    shutil.move(copy, other / name)
    lab.note(f"{name} of broker 3 is in two log directories")


def garbled(scene: Scene, *, replicas: list[int], text: str) -> None:
    """Write what is no id into partition.metadata of broker 3, which runs."""
    scene.create({0: replicas})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    (scene.lab.brokers[3].data / f"{scene.topic}-0" / IDENTITY).write_text(text)
    scene.lab.note(f"{IDENTITY} of {scene.topic}-0 on broker 3 is {text!r}")


def garbled_checkpoint(scene: Scene) -> None:
    """Write what no broker reads into the checkpoint of high watermarks of broker 3, which is down."""
    scene.create({0: [1, 2, 3]})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.stop(3)
    (scene.lab.brokers[3].data / HIGH_WATERMARKS).write_text("x\n")
    scene.lab.note(f"{HIGH_WATERMARKS} of broker 3 is garbled")
    scene.write(FIRST)


def without_metadata(scene: Scene) -> None:
    """Remove partition.metadata of a follower that is down, and of one that runs."""
    scene.create(THREE)
    scene.write(FIRST)
    for number in (2, 3):
        (scene.lab.brokers[number].data / f"{scene.topic}-0" / IDENTITY).unlink()
    scene.lab.note(f"{IDENTITY} is removed on brokers 2 and 3")


def swapped_disks(scene: Scene) -> None:
    """Start two brokers, which have the only replicas of two partitions, each with the disk of the other."""
    scene.create({0: [2], 1: [3]})
    scene.write(FIRST)
    scene.lab.move_controller(1)
    scene.stop(2, 3)
    swap(scene.lab, 2, 3)
    scene.start(2, 3)


def swap(lab: Lab, one: int, other: int) -> None:
    """Attach the disks of two brokers, which are down, to each other, with the ids in meta.properties changed."""
    first, second, place = lab.brokers[one].data, lab.brokers[other].data, lab.folder / "swapped"
    for source, target in ((first, place), (second, first), (place, second)):
        shutil.move(source, target)
    for number in (one, other):
        path = lab.brokers[number].data / BROKER
        path.write_text(re.sub(r"(?m)^broker\.id=.*$", f"broker.id={number}", path.read_text()))
    lab.note(f"the disks of brokers {one} and {other} are swapped")


def on_a_broker_that_does_not_exist(scene: Scene) -> None:
    """Create a topic in ZooKeeper whose replica is on no broker, beside a partition that is served."""
    scene.lab.zk.do(*writes_of_creation(scene.topic, {0: [1, 2], 1: [7]}))
    scene.lab.wait_for_leaders(scene.topic)
    rest(scene.lab)
    scene.write(FIRST)


def all_new_ids(scene: Scene) -> None:
    """Start all brokers with their disks under other ids."""
    scene.create(EACH)
    scene.write(FIRST)
    for number in (1, 2):
        scene.stop(number)
        scene.write(FIRST)
    scene.lab.stop(3)
    for number in (1, 2, 3):
        scene.lab.renumber(number, number + 3)
    scene.start(4, 5, 6)


def shared_id(scene: Scene) -> None:
    """Write the id of a topic into the znode of another one."""
    lab = scene.lab
    scene.create(THREE)
    scene.others.append(Ledger("other"))
    lab.admin(milliseconds=8000).create_topic("other", {0: [2, 3, 1]})
    lab.wait_for_leaders("other")
    lab.delete_controller()  # so that the replicas have its id in their files on 2.8, too
    rest(lab)
    scene.write(FIRST)
    scene.others[0].write(lab, FIRST)
    lab.zk.do(lab.topic_id_write("other", (lab.topic(scene.topic) or {})["topic_id"]))
    lab.note("the topics have one id")


def stopped_member(scene: Scene) -> None:
    """Write other replicas than the only one by hand, fail the controller over, and stop it."""
    damages.replicas_by_hand(scene, created=[4], written=[1, 2])
    scene.lab.move_controller(3)
    scene.stop(4)


# What is done.


def hold_fetches(lab: Lab, *, leader: int, follower: int) -> None:
    """Let proxies hold what a follower fetches from a leader."""
    lab.rules.hold(matching(Api.FETCH, broker=leader, client=f"broker-{follower}-fetcher-0"))


def free_fetches(lab: Lab, leader: int | None = None) -> None:
    """Drop the rules that hold fetches, from one leader or from all."""
    fetches = [
        ProxiedFrame(number, Direction.REQUEST, Api.FETCH.name, client=f"broker-{other}-fetcher-0")
        for number in (lab.brokers if leader is None else (leader,))
        for other in lab.brokers
    ]
    for rule in [one for one in lab.rules.rules if any(map(one.match, fetches))]:
        lab.rules.drop(rule)


def reassign_and_back(scene: Scene, way_out: str) -> None:
    """Reassign each partition to its replicas but some, and then back."""
    for partition, hosts in read(BUT, way_out):
        number, lab = int(partition), scene.lab
        replicas = (lab.topic(scene.topic) or {})["partitions"][partition]
        for wanted in ([one for one in replicas if one not in numbers_in(hosts)], replicas):
            reassign(scene, number, wanted)
            lab.note(f"the state of {scene.topic}-{number} is {lab.states(scene.topic)[number]}")
            free_fetches(lab, replicas[0])


def reassign(scene: Scene, partition: int, replicas: Sequence[int]) -> None:
    """Reassign a partition, and wait until that has ended.

    Raises:
        KwalkError: The controller refuses, or the reassignment does not end.
    """
    answer = scene.lab.admin(milliseconds=8000).reassign(scene.topic, {partition: list(replicas)})
    scene.lab.note(f"{scene.topic}-{partition} is to have the replicas {replicas}: {answer}")

    def is_done() -> bool:
        znode = scene.lab.topic(scene.topic) or {}
        return not (znode.get("adding_replicas") or znode.get("removing_replicas"))

    if not answer.ok or not wait_until(is_done, 60):
        raise KwalkError(f"The reassignment of {scene.topic}-{partition} to {replicas} has not ended: {answer}.")
    rest(scene.lab)


def stop_until_out(scene: Scene, way_out: str) -> None:
    """Stop brokers with a controlled shutdown, and start each when it is out of the ISR."""
    lab = scene.lab
    for (broker,) in read(STOP, way_out):
        number = int(broker)
        scene.stop(number)
        if not wait_until(partial(_is_out, scene, number), 40):
            raise KwalkError(f"Broker {number} stays in the ISR: {lab.states(scene.topic)}.")
        free_fetches(lab)
        scene.start(number)


def _is_out(scene: Scene, number: int) -> bool:
    return all(number not in state["isr"] for state in scene.lab.states(scene.topic).values())


def write_states(scene: Scene, way_out: str) -> None:
    """Write the states that the sentence has, and fail the controller over."""
    put_states(scene, way_out)
    scene.lab.delete_controller()
    rest(scene.lab)
    free_fetches(scene.lab)


def make_a_replica(scene: Scene, way_out: str) -> None:
    """Write the ISR member into the replicas, start it, and fail the controller over."""
    read(
        re.compile("write it into the replicas in the topic's znode, .* start it, then fail the controller over"),
        way_out,
    )
    damages.write_replicas(scene, {0: [4, 1, 2]})
    scene.start(4)
    scene.lab.delete_controller()
    rest(scene.lab)


def elect_unclean(scene: Scene, way_out: str) -> None:
    """Start the broker that is to be elected while others are stopped, elect it, and start these."""
    ((best, stopped),) = read(ELECTED, way_out)
    for number in numbers_in(stopped):
        scene.lab.stop(number)
    if not scene.lab.brokers[int(best)].runs:
        scene.start(int(best))
    answer = scene.lab.admin(milliseconds=8000).elect_unclean(scene.topic, 0)
    scene.lab.note(f"unclean election: {answer}")
    rest(scene.lab)
    start_all(scene)


def name_in_the_state(scene: Scene, way_out: str) -> None:
    """Write a state that names the broker that is to be elected, and start it."""
    ((best, _),) = read(ELECTED, way_out)
    scene.write_state(0, leader=int(best), isr=[int(best)])
    start_all(scene)


def start_in_turn(scene: Scene, way_out: str) -> None:
    """Start one broker after the other, the last one first."""
    read(re.compile("start a broker of the ISR"), way_out)
    for number in sorted(scene.lab.brokers, reverse=True):
        scene.start(number)


def move_one_away(scene: Scene, way_out: str) -> None:
    """Move one of two directories of a partition away: the one that the sentence says, or the one that ends earlier."""
    ((number,),) = read(
        re.compile(r"(?:while|on) broker (\d+)(?: is stopped, move one directory|: no other live)"), way_out
    )
    broker = scene.lab.brokers[int(number)]
    found = [root / f"{scene.topic}-0" for root in broker.roots if (root / f"{scene.topic}-0").is_dir()]
    move_away(broker, min(found, key=lambda path: len(read_records(path))))
    scene.start(broker.id)


def move_before_a_start(scene: Scene, way_out: str) -> None:
    """Stop a broker, move a log away, and start it."""
    ((number, name),) = read(re.compile(r"before broker (\d+) starts again, move (\S+-\d+) away"), way_out)
    broker = scene.lab.brokers[int(number)]
    scene.stop(broker.id)
    move_away(broker, broker.directory(name) or broker.data / name)
    scene.start(broker.id)


def move_a_checkpoint(scene: Scene, way_out: str) -> None:
    """Move the checkpoint away, and start the broker."""
    read(re.compile("move the file to another place before the broker starts again"), way_out)
    broker = scene.lab.brokers[3]
    move_away(broker, broker.data / HIGH_WATERMARKS)
    scene.start(broker.id)


def write_metadata(scene: Scene, way_out: str) -> None:
    """Stop a broker, write partition.metadata as the sentence says, and start it."""
    pattern = r'before broker (\d+) starts again, .* write "(version: 0)" and "(topic_id: \S+)" as two lines'
    ((number, first, second),) = read(re.compile(pattern), way_out)
    scene.stop(int(number))
    path = scene.lab.brokers[int(number)].data / f"{scene.topic}-0" / IDENTITY
    path.write_text(f"{first}\n{second}\n")
    scene.start(int(number))


def restart_followers(scene: Scene, way_out: str) -> None:
    """Restart the brokers whose logs have no id."""
    read(re.compile("restart the broker of the log"), way_out)
    for number in (2, 3):
        scene.stop(number)
        scene.start(number)


def without_ids(scene: Scene) -> list[str]:
    """Return which logs of the topic have no partition.metadata."""
    folders = [path for one in scene.lab.brokers.values() for path in one.data.glob(f"{scene.topic}-*")]
    return [f"{path.name} of {path.parent.parent.name} has no id" for path in folders if not (path / IDENTITY).exists()]


def restart(scene: Scene, way_out: str) -> None:
    """Restart the broker that the sentence names with a controlled shutdown."""
    for (number,) in read(re.compile(r"restart broker (\d+) with a controlled shutdown"), way_out):
        scene.stop(int(number))
        scene.start(int(number))


def give_ids_back(scene: Scene, way_out: str) -> None:
    """Give all brokers their earlier ids again."""
    read(re.compile(r"give the broker its earlier id again \(broker\.id in meta\.properties"), way_out)
    for number in (4, 5, 6):
        scene.lab.stop(number)
    for number in (4, 5, 6):
        scene.lab.renumber(number, number - 3)
    scene.start(1, 2, 3)


def write_own_ids(scene: Scene, way_out: str) -> None:
    """Write the id of its logs into the znode of each topic, of which one has that of another one."""
    read(re.compile("before the next failover, write each topic's own id"), way_out)
    for name in (scene.topic, "other"):
        text = (scene.lab.brokers[1].data / f"{name}-0" / IDENTITY).read_text()
        own = text.partition("topic_id: ")[2].strip()
        if (scene.lab.topic(name) or {})["topic_id"] != own:
            scene.lab.zk.do(scene.lab.topic_id_write(name, own))
            scene.lab.note(f"topic {name} has the id {own} of its logs")


def reassign_without_the_lost(scene: Scene, way_out: str) -> None:
    """Reassign a partition to live ISR members and other brokers that run."""
    read(re.compile("if it is gone for good, reassign the partition to live ISR members and other brokers"), way_out)
    reassign(scene, 0, [1, 2])


def restart_leader(scene: Scene, way_out: str) -> None:
    """Restart the leader, as the sentence says, when an ISR member has all that it has."""
    read(re.compile("restart the leader"), way_out)
    leader = scene.lab.states(scene.topic)[0]["leader"]
    scene.stop(leader)
    scene.start(leader)


def swap_back(scene: Scene, way_out: str) -> None:
    """Stop the brokers, attach each disk to its own, and move the logs away that they have made meanwhile."""
    read(re.compile("stop the brokers, and attach each disk to its own, and inspect again"), way_out)
    scene.stop(2, 3)
    swap(scene.lab, 2, 3)
    scene.start(2, 3)
    kinds = diagnosed(scene, "disks attached to their own").inspection.by_kind()
    found = next((kind.way_out for kind in kinds if kind.name == "stray-log"), "")
    for name, number in read(re.compile(r"move (\S+-\d+) on broker (\d+) away while the broker is stopped"), found):
        broker = scene.lab.brokers[int(number)]
        scene.stop(broker.id)
        move_away(broker, broker.data / name)
        scene.start(broker.id)


def reassign_to_replicas(scene: Scene, way_out: str) -> None:
    """Reassign the partition to the replicas that it has."""
    read(re.compile(r"reassign the partition to the replicas that it has"), way_out)
    reassign(scene, 0, (scene.lab.topic(scene.topic) or {})["partitions"]["0"])


def reassign_to_brokers(scene: Scene, way_out: str) -> None:
    """Reassign the partition to different brokers."""
    read(re.compile(r"reassign the partition to different brokers"), way_out)
    reassign(scene, 0, [1, 2])


def reassign_with_a_failover(scene: Scene, way_out: str) -> None:
    """Reassign the partition to its replicas and the broker, fail the controller over, and reassign it to these."""
    read(re.compile("reassign the partition to its replicas and the broker, fail the controller over, and"), way_out)
    replicas = (scene.lab.topic(scene.topic) or {})["partitions"]["0"]
    leader = scene.lab.states(scene.topic)[0]["leader"]
    reassign(scene, 0, [*replicas, leader])
    scene.lab.delete_controller()
    rest(scene.lab)
    reassign(scene, 0, replicas)


def reassign_and_fail_over(scene: Scene, way_out: str) -> None:
    """Reassign a partition without a live replica, and, whatever that answers, delete /controller."""
    read(re.compile(r"reassign the partition to brokers that run .*whatever that answers, delete /controller"), way_out)
    answer = scene.lab.admin(milliseconds=8000).reassign(scene.topic, {1: [1, 3]})
    scene.lab.note(f"the reassignment is answered: {answer}")
    scene.lab.delete_controller()
    rest(scene.lab)


def write_missing_replicas(scene: Scene, way_out: str) -> None:
    """Write the replicas that the sentence has into the topic's znode, and fail the controller over."""
    ((partition, hosts),) = read(
        re.compile(r"write the replicas of \S+-(\d+) into .*?: brokers? ([\d, and]+), wh"), way_out
    )
    damages.write_replicas(scene, {int(partition): numbers_in(hosts)})
    scene.lab.delete_controller()
    rest(scene.lab)


# Experiments.

SLOW = LabOptions(proxied=True, settings={**DEAD.settings, "replica.lag.time.max.ms": 600_000})
"""Brokers that do not remove each other from the ISR soon, and whose sessions expire soon."""
STORY = "fast-bounce.md"
REASSIGNMENT = "reassignment.md"
ENDS = ("2.8.2", "3.9.0")
NEWER = ("3.9.0",)
"""Where a log without id is named: each has one from its first LeaderAndIsr request on."""

EXPERIMENTS = (
    advised(
        "members-lack-records",
        "All brokers crash, two come back without one log each, which another one leads, and copy slowly",
        Advised(
            partial(emptied, assignment=EACH, empty={0: [3], 2: [1]}), "isr-member-lacks-records", reassign_and_back
        ),
        STORY,
        options=SLOW,
    ),
    advised(
        "member-lacks-records",
        "All brokers crash, a follower comes back without its log, and copies slowly",
        Advised(
            partial(emptied, assignment=THREE, empty={0: [3]}),
            "isr-member-lacks-records",
            stop_until_out,
        ),
        STORY,
        options=SLOW,
    ),
    advised(
        "leader-lacks-records",
        "All brokers crash, the leader comes back without its log, and its followers have not fetched yet",
        Advised(
            partial(emptied, assignment=THREE, empty={0: [1]}),
            "leader-lacks-records",
            stop_until_out,
            repaired=RELEASES,
        ),
        STORY,
        options=SLOW,
    ),
    advised(
        "replaced-disk-of-the-only-member",
        "The only ISR member loses its log, leads, and the other replicas, which lack its last records, do not fetch",
        Advised(
            partial(emptied, assignment=THREE, empty={0: [1]}, longest=1),
            "leader-lacks-records",
            write_states,
            repaired=RELEASES,
        ),
        STORY,
        options=SLOW,
    ),
    *(
        advised(
            f"empty-isr-last-log-down{name}",
            f"An empty ISR is written by hand while the replica with the last records is down{more}",
            Advised(
                partial(empty_isr_and_the_last_log_is_down, replicas=replicas), "empty-isr", follow, repaired=repaired
            ),
        )
        for name, more, replicas, follow, repaired in (
            ("", ", which is the last one of the assignment", [1, 2, 3], elect_unclean, RELEASES),
            ("-first", ", which is the first one of the assignment", [3, 1, 2], elect_unclean, ENDS),
            ("-state", "; a state is written that names it", [1, 2, 3], name_in_the_state, ENDS),
        )
    ),
    advised(
        "leaders-by-hand",
        "Another leader is written into the states of three partitions",
        Advised(
            partial(states_by_hand, leaders={0: 2, 1: 3, 2: 1}),
            "leader-written-by-hand",
            write_states,
            repaired=RELEASES,
        ),
    ),
    advised(
        "isrs-by-hand",
        "All followers are taken out of the states of three partitions by hand",
        Advised(isrs_by_hand, "isr-written-by-hand", write_states, repaired=RELEASES),
    ),
    advised(
        "leaderless-states",
        "No leader is written into the states of three partitions, and brokers serve on",
        Advised(states_without_leaders, "leaderless-state-is-served", write_states, repaired=("3.9.0",)),
    ),
    advised(
        "restored-states",
        "The states are written that three partitions had before their last elections, and the controller fails over",
        Advised(restored_states, "state-is-behind-the-logs", write_states, repaired=RELEASES),
    ),
    advised(
        "only-isr-members",
        "Each of three brokers is the only ISR member of a partition, and all crash",
        Advised(only_members, "no-live-isr", start_in_turn, repaired=RELEASES),
        options=evolve(DEAD, proxied=True),
    ),
    advised(
        "two-directories",
        "An earlier copy of a follower's log is in the other log directory of its broker, which is down",
        Advised(partial(two_directories, is_alone=False), "partition-in-two-log-directories", move_one_away),
        options=LabOptions(directories=2),
    ),
    advised(
        "two-directories-of-the-only-isr-member",
        "The same, and the broker is the only ISR member",
        Advised(
            partial(two_directories, is_alone=True),
            "partition-in-two-log-directories",
            move_one_away,
            repaired=RELEASES,
        ),
        options=LabOptions(directories=2),
    ),
    advised(
        "garbled-checkpoint",
        "replication-offset-checkpoint of a follower that is down is garbled",
        Advised(garbled_checkpoint, "checkpoint-is-garbled", move_a_checkpoint, repaired=RELEASES),
    ),
    advised(
        "garbled-file",
        "A partition.metadata of a follower that runs is truncated",
        Advised(
            partial(garbled, replicas=[1, 2, 3], text="version: 0\ntopic_id: AAAA"),
            "partition-metadata-is-garbled",
            move_before_a_start,
        ),
        "repair-topic-ids.md",
    ),
    advised(
        "garbled-file-of-the-only-replica",
        "A partition.metadata of the only replica is empty",
        Advised(
            partial(garbled, replicas=[3], text=""), "partition-metadata-is-garbled", write_metadata, repaired=RELEASES
        ),
        "repair-topic-ids.md",
    ),
    advised(
        "log-without-id",
        "partition.metadata is removed on two followers, which run",
        Advised(without_metadata, "log-without-topic-id", restart_followers, without_ids, repaired=NEWER),
        "repair-topic-ids.md",
    ),
    advised(
        "removed-directory",
        "The directory of the leader is removed while it runs",
        Advised(damages.removed_directory, "isr-member-has-no-log", restart),
    ),
    advised(
        "swapped-disks",
        "Two brokers with the only replicas of two partitions start with the disks of each other",
        Advised(swapped_disks, "records-on-no-replica", swap_back, repaired=RELEASES),
    ),
    advised(
        "replica-by-hand",
        "A replica is written into a topic's znode by hand",
        Advised(
            partial(damages.replicas_by_hand, created=[1, 2], written=[1, 2, 3], fails_over=False),
            "replica-has-no-log",
            reassign_to_replicas,
        ),
        REASSIGNMENT,
    ),
    *(
        advised(
            f"replica-by-hand-{name}",
            f"The same, and the controller fails over; {what}",
            Advised(
                partial(damages.replicas_by_hand, created=[1, 2], written=[1, 2, 3]),
                kind,
                reassign_to_replicas,
                repaired=(release,),
            ),
            REASSIGNMENT,
        )
        for name, what, kind, release in (
            ("copies", "the replica copies, and the leader does not know it", "catching-up", "2.8.2"),
            ("noticed", "the replica copies nothing", "replica-has-no-log", "3.9.0"),
        )
    ),
    advised(
        "leader-is-no-replica",
        "Other replicas are written into a topic's znode by hand, without the only ISR member, and the controller "
        "fails over",
        Advised(
            partial(damages.replicas_by_hand, created=[2], written=[1, 3]),
            "isr-outside-replicas",
            reassign_with_a_failover,
        ),
        REASSIGNMENT,
    ),
    advised(
        "isr-member-is-no-replica",
        "Other replicas are written into a topic's znode by hand, and the only ISR member, which is none, stops",
        Advised(stopped_member, "isr-outside-replicas", make_a_replica, repaired=RELEASES),
        REASSIGNMENT,
        options=LabOptions(brokers=4),
    ),
    advised(
        "replicas-repeat",
        "Replicas that name one broker twice are written into a topic's znode by hand",
        Advised(
            partial(damages.replicas_by_hand, created=[1], written=[1, 1], fails_over=False),
            "replicas-repeat-a-broker",
            reassign_to_brokers,
        ),
        REASSIGNMENT,
    ),
    advised(
        "without-replicas",
        "An empty list of replicas is written into a topic's znode by hand",
        Advised(
            partial(damages.replicas_by_hand, created=[1, 2], written=[], fails_over=False),
            "partition-without-replicas",
            write_missing_replicas,
            repaired=RELEASES,
        ),
        REASSIGNMENT,
    ),
    advised(
        "no-live-replica",
        "A topic is created with a replica on a broker that does not exist",
        Advised(on_a_broker_that_does_not_exist, "no-live-replica", reassign_and_fail_over),
        REASSIGNMENT,
    ),
    advised(
        "leader-outside-isr",
        "An ISR without the leader is written by hand, and the controller fails over",
        Advised(
            partial(damages.state_by_hand, assignment=THREE, isr=[2, 3]),
            "leader-outside-isr",
            restart_leader,
        ),
    ),
    advised(
        "isr-repeats",
        "An ISR that names a broker twice is written by hand",
        Advised(
            partial(damages.state_by_hand, assignment=THREE, isr=[1, 2, 2, 3]),
            "isr-repeats-a-broker",
            restart_leader,
        ),
    ),
    advised(
        "all-brokers-got-new-ids",
        "All brokers start with their disks under other ids",
        Advised(all_new_ids, "replica-under-another-broker-id", give_ids_back),
    ),
    advised(
        "shared-id",
        "The id of a topic is written into the znode of another one",
        Advised(shared_id, "topics-share-an-id", write_own_ids),
        "repair-topic-ids.md",
    ),
    advised(
        "reassignment-to-a-lost-broker",
        "A partition is reassigned to a broker that is lost before it has copied anything",
        Advised(
            damages.reassignment_to_a_lost_broker, "reassignment-waits", reassign_without_the_lost, repaired=RELEASES
        ),
        REASSIGNMENT,
        options=DEAD,
    ),
)
