"""The steps of a plan of `kwalk diagnose --plan` on real brokers: each is done as its commands say.

Znodes are written and deleted at the data version that was read, and brokers are stopped and started in the order of
the step, with files removed, moved or edited in between.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from kwalk.clusters.lab.brokers import AdminAnswer
from kwalk.clusters.lab.cluster import Lab, LabBroker, failed_root
from kwalk.clusters.lab.experiments.known_records import BACKUP
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import ZooKeeperError, create, delete, set_data
from kwalk.model.kafka.snapshots.procedures import ELECT, ELECT_AFTER, WITHOUT_FILES
from kwalk.model.language import KwalkError
from kwalk.model.language.recovery import Procedure

FIRST_BROKER = {
    "restart": 1,
    "start-broker": 1,
    "start-brokers": 1,
    "repair-disk": 1,
    "replace-disk": 1,
    "start-empty-broker": 1,
    WITHOUT_FILES: 2,
    "move-directories": -1,
}
"""Steps that stop and start brokers: where the name of the step has the first of them."""
ON_BROKER = re.compile(r"# on broker ([0-9]+)")
"""How a remark begins that says where commands are entered."""
RESTS = 3.0
"""Seconds without a change of a state znode after which the cluster counts as at rest."""
LONGEST_REST = 40.0


def carry_out(lab: Lab, procedure: Procedure) -> None:
    """Do what a step of a plan says, and wait until the cluster is at rest.

    Raises:
        KwalkError: There is no hand for one of its commands, or a broker refuses.
    """
    words, commands = procedure.name.split(), [shlex.split(command, comments=True) for command in procedure.commands]
    bounced = bounced_by(words)
    if words[0] == "set-broker-id":
        _set_broker_id(lab, int(words[1]), int(words[2]))
    elif words[0] == "give-directories":
        _give_directories(lab, int(words[1]), int(words[2]), next(c for c in commands if c[0] == "mv")[1:-1])
    elif words[0] == "bring-logs-back":
        _bring_back(lab, procedure.commands)
    elif words[0] == "move-directories-at-once":
        _move_at_once(lab, dict(zip(map(int, words[2:]), [c for c in commands if c and c[0] == "mv"], strict=True)))
    elif bounced:
        for number in bounced:
            _bounce(lab, number, words[0], [command for command in commands if command and command[0] in ("rm", "mv")])
    else:
        if words[0] in ("put-back", ELECT_AFTER.strip()):
            _start_those_down(lab, procedure.commands)
        is_election = words[0] in (ELECT.strip(), ELECT_AFTER.strip())
        stopped = [int(word) for word in words[2:] if is_election and word not in procedure.starts]
        for number in stopped:
            lab.stop(number)
            rest(lab)
        _ask(lab, [command for command in commands if command and not command[0].startswith("bin/kafka-server-")])
        if stopped:
            lab.start(*stopped)
    lab.note(f"done: {procedure.title}")
    rest(lab)


def _start_those_down(lab: Lab, commands: Sequence[str]) -> None:
    """Start the brokers that commands start, one after the other."""
    for command in commands:
        found = ON_BROKER.search(command) if command.startswith("bin/kafka-server-start.sh") else None
        if found and not lab.brokers[int(found[1])].runs:
            lab.start(int(found[1]))
            rest(lab)


def bounced_by(words: Sequence[str]) -> list[int]:
    """Return the brokers that a step stops and starts one by one; its name joins them by commas if topics follow."""
    if words[0] == f"{WITHOUT_FILES}-of-topics":
        return [int(number) for number in words[1].split(",")]
    first = FIRST_BROKER.get(words[0])
    return [] if first is None else [int(word) for word in words[first:]]


def _ask(lab: Lab, commands: Sequence[list[str]]) -> None:
    """Do the commands of a step that stops no broker."""
    files: dict[str, Any] = {}
    for command in commands:
        if command[0] == "echo":
            files[command[3]] = json.loads(command[1])
        elif "--reassignment-json-file" in command:
            _reassign(lab, command, files)
        elif "--election-type" in command:
            _elect(lab, command)
        else:
            _write(lab, command)


def _bounce(lab: Lab, number: int, step: str, commands: list[list[str]]) -> None:
    """Stop a broker, do with its disks what the step says, and start it."""
    broker = lab.brokers[number]
    if broker.runs:
        lab.stop(number)
    if step == "repair-disk":
        lab.repair_disks(number)
    elif step in ("replace-disk", "start-empty-broker"):
        _empty_disks(broker, failed_only=step == "replace-disk")
    for word, *names in commands:
        if word == "rm":
            for root in filter(Path.is_dir, broker.roots):
                for name in names[1:]:
                    (root / name).unlink(missing_ok=True)
        else:
            _move_directories(lab, broker, names[:-1])
    lab.start(number)
    rest(lab)


def _empty_disks(broker: LabBroker, *, failed_only: bool) -> None:
    """Move what is on a broker's disks away; of those that have failed, leave an empty disk."""
    for root in broker.roots:
        if not failed_only and root.is_dir():
            move_away(broker, root)
        elif failed_only and failed_root(root).is_dir():
            move_away(broker, failed_root(root))
            root.unlink()
            root.mkdir()


def _move_directories(lab: Lab, broker: LabBroker, names: Iterable[str]) -> None:
    """Move directories of a broker away, as far as it has them."""
    for name in names:
        found = broker.directory(name)
        if found is None:
            lab.note(f"broker {broker.id}: there is no {name} to be moved away")
        else:
            move_away(broker, found)


def _move_at_once(lab: Lab, moves: Mapping[int, list[str]]) -> None:
    """Stop all brokers, move directories of each away, and start all."""
    for number in moves:
        if lab.brokers[number].runs:
            lab.stop(number)
    for number, (_, *names, _) in moves.items():
        for found in filter(None, map(lab.brokers[number].directory, names)):
            move_away(lab.brokers[number], found)
    lab.start(*moves)


def _bring_back(lab: Lab, commands: Sequence[str]) -> None:
    """Stop and start brokers as the commands say; those on files are run by a shell in a log directory."""
    number = 0
    for command in commands:
        number = int(found[1]) if (found := ON_BROKER.search(command)) else number
        broker = lab.brokers[number]
        if command.startswith("bin/kafka-server-stop.sh"):
            lab.stop(number)
        elif command.startswith("bin/kafka-server-start.sh"):
            lab.start(number)
        else:
            (broker.folder / BACKUP).mkdir(exist_ok=True)
            words = command.replace("BACKUP", shlex.quote(str((broker.folder / BACKUP).resolve())))
            subprocess.run(["sh", "-c", words], cwd=broker.data, check=False, capture_output=True)


def move_away(broker: LabBroker, path: Path) -> None:
    """Move a directory into the backup of a broker, where it has a folder of its own."""
    folder = broker.folder / BACKUP
    folder.mkdir(exist_ok=True)
    place = folder / str(len(list(folder.iterdir())))
    place.mkdir()
    shutil.move(path, place / path.name)


def _set_broker_id(lab: Lab, number: int, new: int) -> None:
    """Stop a broker, write another id into its configuration and its meta.properties, and start it."""
    if lab.brokers[number].runs:
        lab.stop(number)
    lab.renumber(number, new)
    lab.start(new)


def _give_directories(lab: Lab, number: int, new: int, names: Sequence[str]) -> None:
    """Stop a broker, move some of its directories to another broker, and start both."""
    lab.stop(number)
    for path in filter(None, map(lab.brokers[number].directory, names)):
        shutil.move(path, (lab.brokers.get(new) or lab.add(new)).data / path.name)
    lab.start(number)
    lab.start(new)


def _write(lab: Lab, words: list[str]) -> None:
    """Do a command of ZooKeeper's shell; one that only reads shows the data version that the next one needs."""
    if words[3] == "get":
        return
    if words[3:5] == ["set", "-v"]:
        path, content = words[6], words[7]
        found = lab.zk.get(path)
        if found is None:
            raise KwalkError(f"There is no znode {path}, which the plan writes.")
        lab.zk.do(set_data(path, content.encode(), found[1].version))
    elif words[3] == "create":
        with suppress(ZooKeeperError):  # a step may go on where it exists already
            lab.zk.do(create(words[4], words[5].encode()))
    elif words[3] == "delete":
        lab.zk.do(delete(words[4]))
    else:
        raise KwalkError(f"The lab has no hand for the command {shlex.join(words)!r}.")


def _elect(lab: Lab, words: list[str]) -> None:
    """Do a command of kafka-leader-election.sh."""
    topic, partition = words[words.index("--topic") + 1], int(words[words.index("--partition") + 1])
    _accepted(lambda: lab.admin(milliseconds=8000).elect_unclean(topic, partition), words)


def _reassign(lab: Lab, words: list[str], files: Mapping[str, Any]) -> None:
    """Do a command of kafka-reassign-partitions.sh."""
    wanted = files[words[words.index("--reassignment-json-file") + 1]]["partitions"]
    for one in wanted:
        if "--execute" in words:
            wanted_now = {one["partition"]: one["replicas"]}
            _accepted(partial(lab.admin(milliseconds=8000).reassign, one["topic"], wanted_now), words)
        else:
            wait_until(partial(_is_reassigned, lab, one["topic"]), LONGEST_REST)


def _accepted(ask: Callable[[], AdminAnswer], words: list[str]) -> None:
    """Ask until a controller answers, as Kafka's tools do."""
    end = time.monotonic() + LONGEST_REST
    while (answer := ask()).error == "NOT_CONTROLLER" and time.monotonic() < end:
        time.sleep(1)
    if not answer.ok and answer.error != "ELECTION_NOT_NEEDED":
        raise KwalkError(f"The controller refuses {shlex.join(words)!r}: {answer}.")


def _is_reassigned(lab: Lab, topic: str) -> bool:
    """Whether no reassignment of the topic is in flight."""
    znode = lab.topic(topic) or {}
    return not (znode.get("adding_replicas") or znode.get("removing_replicas"))


def rest(lab: Lab) -> None:
    """Wait until there is a controller, and no state znode has changed for some seconds."""
    wait_until(lambda: lab.controller() is not None, 30)
    end, since, seen = time.monotonic() + LONGEST_REST, time.monotonic(), ""
    while time.monotonic() < min(since + RESTS, end):
        now = json.dumps([lab.states(topic) for topic in lab.zk.children("/brokers/topics")])
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.2)
