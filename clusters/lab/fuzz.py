"""Random histories of real clusters, and whether the model has a behaviour that passes through their snapshots.

Words: a *history* is a list of operations on one topic of a fresh name, with a snapshot whenever the cluster is at
rest; it is drawn from a seed. The *judge* is `kwalk explain`. A *misfit* is a history for which it says that no
behaviour fits, or which it refuses: a mistake of the model or of the reader of snapshots. A *case* is the folder of a
history: its operations, its snapshots, what the brokers have logged, its verdict.

One cluster serves several histories. Between two of them all brokers are started, the topic is deleted, and another
controller is elected. If the cluster does not reach rest then, or znodes were removed by hand, or a controller has left
requests in its batch (`DAMAGE`), the next history has a new cluster.
"""

from __future__ import annotations

import gzip
import json
import random
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import Any

from attrs import define, field, frozen

from kwalk.clusters.lab.cluster import LOGS, Lab, LabOptions
from kwalk.clusters.lab.processes import ProcessGroup, wait_until
from kwalk.clusters.lab.zookeeper import Write, ZooKeeperError, create, delete, set_data
from kwalk.model.language import KwalkError, UsageError
from kwalk.search.base.atomic_files import save
from kwalk.search.base.progress import Progress, Report, silent

MARK, OPERATIONS, VERDICT, BROKER_LOGS = "fuzz.json", "operations.json", "verdict.json", "logs"
ROUNDS, LENGTH, SECONDS = 10, 12, 60.0
"""The defaults: histories, operations of each, and seconds to explain one."""
REST = 0.8
"""Seconds without a change after which a cluster counts as at rest."""
EARLY_REST, LONGEST_REST = 5.0, 15.0
"""Seconds after which a cluster counts as at rest though a replica is missing, and in any case."""
SLOWNESS = 5
"""How many looks at the cluster `REST` has at least: on a busy machine, where they take long, all times grow."""
MOST_PARTITIONS = 3
DAMAGE = "Controller moved to another broker when moving|Error while moving"
"""What a controller logs when a change of states ends early. The requests that it has collected stay in its batch, also
when it is elected again, and from then on every change fails: "requests batch is not empty while creating a new one".

Source: ZkReplicaStateMachine.handleStateChanges; AbstractControllerBrokerRequestBatch.newBatch, clear.
"""
LOG_BYTES = 8 << 20
"""How much of each log of a broker is kept with a history, before compression; what is later is left out."""
TOGETHER = 0.15
"""The share of operations that are followed by the next one at once, without rest and snapshot."""


class HistoryClass(Enum):
    """What became of a history; the value is its name in tables."""

    EXPLAINED = "explained"
    MISFIT = "no behaviour fits"
    REFUSED = "refused"
    FAILED = "explain failed"
    OUT_OF_TIME = "out of time"
    LAB_FAILED = "lab failed"

    @property
    def is_misfit(self) -> bool:
        """Whether it is kept as a mistake of the model or of the reader of snapshots."""
        return self in (HistoryClass.MISFIT, HistoryClass.REFUSED, HistoryClass.FAILED)


COMPILING = 300
"""Seconds that `kwalk explain` has to compile a model, which its own budget does not count."""
CODES = {0: HistoryClass.EXPLAINED, 12: HistoryClass.MISFIT, 2: HistoryClass.REFUSED, 3: HistoryClass.OUT_OF_TIME}
"""By the exit code of `kwalk explain`."""


@frozen
class FuzzOperation:
    """What is done: its name in `KINDS`, a broker and a number that it may use, and whether a rest follows."""

    name: str
    broker: int = 1
    number: int = 0
    rests: bool = True


@frozen
class HistoryVerdict:
    """The class of a history, what `kwalk explain` printed first, and its seconds."""

    kind: HistoryClass
    headline: str
    seconds: float


Announce = Callable[[str], None]
"""What receives a line of text, to print it or not."""
Judge = Callable[[Sequence[Path], float], HistoryVerdict]


def explained_by_command(snapshots: Sequence[Path], seconds: float) -> HistoryVerdict:
    """Run `kwalk explain` in a process of its own: its memory ends with it, and it ends with this process.

    The process runs in the folder of the snapshots, so that their paths must not depend on the present folder.
    """
    snapshots = [path.absolute() for path in snapshots]
    case, begun = snapshots[0].parent, time.monotonic()
    command = [
        sys.executable,
        "-m",
        "kwalk.reports.command_line",
        "explain",
        "--json",
        "--seconds",
        f"{seconds:g}",
        "--out",
        str(case / "explained"),
        *map(str, snapshots),
    ]
    answer = case / "explained.json"
    (case / "explain.out").unlink(missing_ok=True)
    with ProcessGroup() as processes:
        process = processes.start("explain", ["/bin/sh", "-c", 'exec "$@" > "$0"', str(answer), *command], case)
        has_ended = process.wait(COMPILING + 4 * seconds)
    spent = time.monotonic() - begun
    if not has_ended:
        return HistoryVerdict(HistoryClass.OUT_OF_TIME, "ended from outside, before it was done", spent)
    kind = CODES.get(process.process.returncode, HistoryClass.FAILED)
    if kind in (HistoryClass.REFUSED, HistoryClass.FAILED):
        return HistoryVerdict(kind, process.last_lines(1), spent)
    return HistoryVerdict(kind, json.loads(answer.read_text())["headline"], spent)


# Operations.


@define
class FuzzHands:
    """What operations work with: the lab, the topic of the history, and what an operator has noted."""

    lab: Lab
    topic: str
    marks: Mapping[Path, int] = field(factory=dict)
    """The sizes of the logs at the beginning of the history."""
    ids: list[str] = field(factory=list)
    down: set[int] = field(factory=set)
    is_unclean: bool = False
    """Whether the cluster must not serve another history."""

    @property
    def path(self) -> str:
        """The topic's znode."""
        return f"/brokers/topics/{self.topic}"

    @property
    def znode(self) -> dict[str, Any]:
        """The content of the topic's znode; empty if there is none."""
        return self.lab.topic(self.topic) or {}

    def write(self, *writes: Write) -> str:
        """Write to ZooKeeper; return what it answered."""
        try:
            self.lab.zk.do(*writes)
        except ZooKeeperError as error:
            return str(error)
        return "written"


def _replicas(partition: int, factor: int) -> list[int]:
    return [(partition + place) % 3 + 1 for place in range(factor)]


def _old_content(partitions: Mapping[str, Any]) -> bytes:
    """Return a topic's znode as clients older than 2.4 write it."""
    return json.dumps({"version": 1, "partitions": partitions}).encode()


def _create_old(hands: FuzzHands, this: FuzzOperation) -> str:
    partitions = {str(p): _replicas(p, 3) for p in range(1 + this.number % 2)}
    with suppress(ZooKeeperError):  # the configuration of an earlier topic may still be there
        hands.lab.zk.do(create(f"/config/topics/{hands.topic}", b'{"version":1,"config":{}}'))
    return hands.write(create(hands.path, _old_content(partitions)))


def _create_new(hands: FuzzHands, this: FuzzOperation) -> str:
    assignment = {p: _replicas(p, 3) for p in range(1 + this.number % 2)}
    return str(hands.lab.admin(milliseconds=3000).create_topic(hands.topic, assignment))


def _create_two(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=3000).create_topic(hands.topic, {0: _replicas(this.number, 2)}))


def _expand_old(hands: FuzzHands, this: FuzzOperation) -> str:
    known = hands.znode.get("partitions")
    if not known or len(known) >= MOST_PARTITIONS:
        return "not possible"
    more = {**known, str(len(known)): _replicas(len(known), len(known["0"]))}
    return hands.write(set_data(hands.path, _old_content(more)))


def _expand_new(hands: FuzzHands, this: FuzzOperation) -> str:
    known = hands.znode.get("partitions")
    if not known or len(known) >= MOST_PARTITIONS:
        return "not possible"
    added = [_replicas(len(known), len(known["0"]))]
    return str(hands.lab.admin(milliseconds=3000).add_partitions(hands.topic, len(known) + 1, added))


def _delete_topic(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=1500).delete_topic(hands.topic))


def _delete_controller(hands: FuzzHands, this: FuzzOperation) -> str:
    hands.lab.delete_controller()
    return f"controller {hands.lab.controller()}"


def _restart(hands: FuzzHands, this: FuzzOperation) -> str:
    if this.broker in hands.down:
        return _start(hands, this)
    hands.lab.restart(this.broker)
    return "restarted"


def _may_go(hands: FuzzHands, this: FuzzOperation) -> bool:
    return this.broker not in hands.down and len(hands.down) < 2


def _stop(hands: FuzzHands, this: FuzzOperation) -> str:
    if not _may_go(hands, this):
        return "not possible"
    hands.lab.stop(this.broker)
    hands.down.add(this.broker)
    return "stopped"


def _crash(hands: FuzzHands, this: FuzzOperation) -> str:
    if not _may_go(hands, this):
        return "not possible"
    hands.lab.kill(this.broker)
    hands.lab.expire_session(this.broker)
    hands.down.add(this.broker)
    return "killed, and its session ended"


def _start(hands: FuzzHands, this: FuzzOperation) -> str:
    if not hands.down:
        return "not possible"
    broker = this.broker if this.broker in hands.down else min(hands.down)
    hands.lab.start(broker)
    hands.down.discard(broker)
    return f"started broker {broker}"


def _expire(hands: FuzzHands, this: FuzzOperation) -> str:
    if this.broker in hands.down:
        return "not possible"
    hands.lab.expire_session(this.broker)
    return "expired"


def _reassign(hands: FuzzHands, this: FuzzOperation) -> str:
    known = hands.znode.get("partitions")
    if not known or len(known["0"]) != 2:
        return "not possible"
    target = _replicas(this.number, 2)
    return str(hands.lab.admin(milliseconds=3000).reassign(hands.topic, {0: target}))


def _cancel(hands: FuzzHands, this: FuzzOperation) -> str:
    return str(hands.lab.admin(milliseconds=3000).cancel(hands.topic, 0))


def _remove_znodes(hands: FuzzHands, this: FuzzOperation) -> str:
    hands.is_unclean = True
    hands.lab.zk.delete_tree(hands.path)
    return "removed"


def _remove_marker(hands: FuzzHands, this: FuzzOperation) -> str:
    return hands.write(delete(f"/admin/delete_topics/{hands.topic}"))


def _write_id(hands: FuzzHands, this: FuzzOperation) -> str:
    """Write the first id of the topic back, as an operator does who has noted it."""
    if not hands.znode or not hands.ids:
        return "not possible"
    return hands.write(hands.lab.topic_id_write(hands.topic, hands.ids[0]))


def _remove_files(hands: FuzzHands, this: FuzzOperation) -> str:
    files = list(hands.lab.brokers[this.broker].data.glob(f"{hands.topic}-*/partition.metadata"))
    for path in files:
        path.unlink()
    return f"removed {len(files)} files"


def _produce(hands: FuzzHands, this: FuzzOperation) -> str:
    if not hands.znode:
        return "not possible"
    found = hands.lab.probe(hands.topic, seconds=1.5)
    return ", ".join(f"{number}: {probe['produce']['error']}" for number, probe in found.items())


@frozen
class OperationKind:
    """A kind of operation: what it does, how often it is drawn, and whether it needs the topic (None: either)."""

    do: Callable[[FuzzHands, FuzzOperation], str]
    weight: int
    needs_topic: bool | None = None


KINDS: Mapping[str, OperationKind] = {
    "old client creates": OperationKind(_create_old, 10, needs_topic=False),
    "create": OperationKind(_create_new, 10, needs_topic=False),
    "create with two replicas": OperationKind(_create_two, 3, needs_topic=False),
    "old client adds a partition": OperationKind(_expand_old, 8, needs_topic=True),
    "add a partition": OperationKind(_expand_new, 5, needs_topic=True),
    "delete": OperationKind(_delete_topic, 4, needs_topic=True),
    "delete /controller": OperationKind(_delete_controller, 14),
    "restart a broker": OperationKind(_restart, 12),
    "stop a broker": OperationKind(_stop, 4),
    "crash a broker": OperationKind(_crash, 4),
    "start a broker": OperationKind(_start, 9),
    "end a session": OperationKind(_expire, 3),
    "reassign": OperationKind(_reassign, 5, needs_topic=True),
    "cancel": OperationKind(_cancel, 2, needs_topic=True),
    "remove the topic's znodes by hand": OperationKind(_remove_znodes, 1, needs_topic=True),
    "remove the delete_topics znode by hand": OperationKind(_remove_marker, 1),
    "write the first id back": OperationKind(_write_id, 3, needs_topic=True),
    "remove partition.metadata": OperationKind(_remove_files, 2, needs_topic=True),
    "produce": OperationKind(_produce, 6, needs_topic=True),
}
"""All operations, by name."""


def draw_history(seed: str, length: int) -> list[FuzzOperation]:
    """Return the operations of a history; the same for the same seed."""
    chance = random.Random(seed)
    exists, found = False, list[FuzzOperation]()
    while len(found) < length:
        names = [name for name, kind in KINDS.items() if kind.needs_topic in (None, exists)]
        if not found:
            names = [name for name in names if KINDS[name].needs_topic is False]
        name = chance.choices(names, [KINDS[each].weight for each in names])[0]
        found.append(FuzzOperation(name, chance.randint(1, 3), chance.randint(0, 2), chance.random() >= TOGETHER))
        if KINDS[name].needs_topic is False:
            exists = True
        elif name in ("delete", "remove the topic's znodes by hand"):
            exists = False
    return found


# One history.


def run_history(lab: Lab, topic: str, operations: Sequence[FuzzOperation], folder: Path) -> FuzzHands:
    """Do the operations, with a snapshot at each rest; the case is in the folder."""
    hands, done = FuzzHands(lab, topic, lab.marks()), list[dict[str, Any]]()
    number = 0
    for place, operation in enumerate(operations, start=1):
        begun = time.monotonic()
        answer = KINDS[operation.name].do(hands, operation)
        _note_ids(hands)
        done.append(
            {
                "operation": operation.name,
                "broker": operation.broker,
                "number": operation.number,
                "rests": operation.rests,
                "answer": answer,
                "seconds": round(time.monotonic() - begun, 2),
            }
        )
        if operation.rests or place == len(operations):
            _rest(hands)
            number += 1
            done[-1]["snapshot"] = f"{number:02}.json"
            taken = lab.capture(f"{place}. {operation.name}: {answer}", topic=topic)
            save(folder / done[-1]["snapshot"], json.dumps(taken, indent=1).encode())
    _keep_logs(hands, folder / BROKER_LOGS)
    save(folder / OPERATIONS, json.dumps({"topic": topic, "operations": done}, indent=1).encode())
    return hands


def _keep_logs(hands: FuzzHands, folder: Path) -> None:
    """Keep what the brokers have logged since the history began, as `kwalk explain --logs` reads it."""
    for broker in hands.lab.brokers.values():
        for path in (broker.log(name) for name in LOGS):
            if path.exists():
                with path.open("rb") as file:
                    file.seek(hands.marks.get(path, 0))
                    text = file.read(LOG_BYTES)
                whole = text[: text.rfind(b"\n") + 1]
                save(folder / f"broker-{broker.id}" / f"{path.name}.gz", gzip.compress(whole, mtime=0))


def _note_ids(hands: FuzzHands) -> None:
    identity = hands.znode.get("topic_id")
    if identity and identity not in hands.ids:
        hands.ids.append(identity)


def _rest(hands: FuzzHands) -> None:
    """Wait until nothing changes and replicas that can have logs and are in the ISR, or for the longest time.

    On a busy machine a cluster may do nothing for as long as several looks at it take.
    """
    lab, begun = hands.lab, time.monotonic()
    seen, since = "", begun
    while True:
        looked = time.monotonic()
        now = _fingerprint(hands)
        slow = max(1.0, SLOWNESS * (time.monotonic() - looked) / REST)
        if now != seen:
            seen, since = now, time.monotonic()
        waited, is_full = time.monotonic() - begun, _is_full(hands)
        is_still = time.monotonic() - since > REST * slow and (is_full or waited > EARLY_REST * slow)
        if (is_still and lab.controller() is not None) or waited > LONGEST_REST * slow:
            return
        time.sleep(0.1)


def _is_full(hands: FuzzHands) -> bool:
    """Whether running brokers are registered, partitions have a leader, and live replicas a log and a place in the ISR.

    A failover replaces a dead leader in two writes; between them there is no leader. A broker whose session has ended
    registers again, which takes it a while. One that has started is informed later; UpdateMetadata comes last.
    """
    lab, states = hands.lab, hands.lab.states(hands.topic)
    if set(lab.brokers) - hands.down - {int(broker) for broker in lab.zk.children("/brokers/ids")}:
        return False
    directories = lab.directories(hands.topic)
    for partition, replicas in hands.znode.get("partitions", {}).items():
        live = {number for number in replicas if number not in hands.down}
        state = states.get(int(partition))
        if state is None or not live <= set(state["isr"]):
            return False
        if live and state["leader"] not in live:
            return False
        if any(f"{hands.topic}-{partition}" not in directories.get(number, ()) for number in live):
            return False
    return lab.are_informed(hands.topic)


def _fingerprint(hands: FuzzHands) -> str:
    lab = hands.lab
    found = lab.zk.get(hands.path)
    directories = lab.directories(hands.topic)
    return json.dumps(
        [
            lab.controller_epoch(),
            lab.controller(),
            lab.zk.children("/brokers/ids"),
            found[0].decode() if found else None,
            lab.states(hands.topic),
            lab.zk.children("/admin/delete_topics"),
            directories,
            with_metadata({lab.brokers[broker].data: names for broker, names in directories.items()}),
        ]
    )


def with_metadata(directories: Mapping[Path, Sequence[str]]) -> list[str]:
    """Return the log directories that have a partition.metadata; one that is deleted meanwhile has none."""
    found = (data / name for data, names in directories.items() for name in names)
    return [str(path) for path in found if (path / "partition.metadata").exists()]


def reset(hands: FuzzHands) -> bool:
    """Prepare a cluster for the next history; return whether that is sound."""
    lab = hands.lab
    if hands.is_unclean:
        return False
    try:
        for broker in sorted(hands.down):
            lab.start(broker)
        if not wait_until(lambda: len(lab.zk.children("/brokers/ids")) == len(lab.brokers), 30):
            return False
        if hands.znode:
            lab.admin(milliseconds=3000).delete_topic(hands.topic)
        if not wait_until(lambda: not hands.znode and not lab.zk.children("/admin/delete_topics"), 10):
            return False
        lab.delete_controller()
        are_gone = wait_until(lambda: not any(lab.directories(hands.topic).values()), 5)
        return are_gone and not lab.lines("controller", DAMAGE, since=hands.marks)
    except (KwalkError, OSError):
        return False


# Many histories.


@frozen
class FuzzOptions:
    """What is done.

    Args:
        release: The version of the brokers.
        rounds: The number of histories.
        seed: The seed; histories are numbered from 0.
        operations: The number of operations of a history.
        seconds: The time budget of `kwalk explain` for one history.
        minimize: Whether operations are left out of misfits while they still misfit.
    """

    release: str
    rounds: int = ROUNDS
    seed: int = 0
    operations: int = LENGTH
    seconds: float = SECONDS
    minimize: bool = False


@frozen
class JudgedHistory:
    """A history with its verdict; `kept` is the number of operations after minimization."""

    number: int
    folder: Path
    verdict: HistoryVerdict
    operations: int
    kept: int | None = None


@frozen
class FuzzResult:
    """What many histories gave. `clusters` were started; `spent` are the seconds of this run, for `ran` histories."""

    options: FuzzOptions
    histories: tuple[JudgedHistory, ...]
    folder: Path
    spent: float
    ran: int
    clusters: int

    @property
    def counts(self) -> dict[str, int]:
        """How many histories each class has."""
        found = Counter(each.verdict.kind for each in self.histories)
        return {kind.value: found[kind] for kind in HistoryClass}

    @property
    def misfits(self) -> tuple[JudgedHistory, ...]:
        """The histories that the model, or the reader of snapshots, gets wrong."""
        return tuple(each for each in self.histories if each.verdict.kind.is_misfit)

    @property
    def per_minute(self) -> float:
        """Histories for each minute of this run."""
        return 60 * self.ran / self.spent if self.spent else 0.0

    @property
    def exit_code(self) -> int:
        """12 if there is a misfit, 3 if a history has no answer, else 0."""
        if self.misfits:
            return 12
        return 0 if all(each.verdict.kind is HistoryClass.EXPLAINED for each in self.histories) else 3


class Fuzz:
    """A run of histories on clusters that serve one after another."""

    def __init__(self, options: FuzzOptions, folder: Path, report: Report, announce: Announce, judge: Judge):
        self.options, self.folder, self.report, self.announce, self.judge = options, folder, report, announce, judge
        self.lab: Lab | None = None
        self.clusters, self.ran, self.begun = 0, 0, time.monotonic()

    def run(self) -> FuzzResult:
        """Run what is not there yet, judge what is not judged, minimize misfits; the folder has all of it."""
        self._claim()
        pending: list[tuple[int, Future[HistoryVerdict]]] = []
        with ThreadPoolExecutor(1) as pool:
            try:
                for number in range(self.options.rounds):
                    if not (self._case(number) / VERDICT).exists():
                        self._run_one(number)
                        pending.append((number, pool.submit(self._judged, number)))
                    self._progress(number + 1)
                self._end_cluster()
                for _, future in pending:
                    future.result()
                kept = self._minimized()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
            finally:
                self._end_cluster()
        histories = tuple(self._read(number, kept) for number in range(self.options.rounds))
        spent = time.monotonic() - self.begun
        return FuzzResult(self.options, histories, self.folder, spent, self.ran, self.clusters)

    def _claim(self) -> None:
        """Take the folder for this run, or continue the same run in it."""
        wanted = {"release": self.options.release, "seed": self.options.seed, "operations": self.options.operations}
        mark = self.folder / MARK
        if mark.exists() and json.loads(mark.read_text()) != wanted:
            raise UsageError(
                f"{str(self.folder)!r} has histories of another seed, version or length. Name a new folder with --out."
            )
        if not mark.exists() and self.folder.is_dir() and any(self.folder.iterdir()):
            raise UsageError(f"{str(self.folder)!r} is not empty, and has no histories. Name a new folder with --out.")
        save(mark, json.dumps(wanted).encode())

    def _case(self, number: int) -> Path:
        return self.folder / f"history-{number:04}"

    def _operations(self, number: int) -> list[FuzzOperation]:
        return draw_history(f"{self.options.release}/{self.options.seed}/{number}", self.options.operations)

    def _progress(self, count: int) -> None:
        spent = time.monotonic() - self.begun
        left = spent / self.ran * (self.options.rounds - count) if self.ran else None
        self.report(Progress("fuzz", count, "histories", spent, self.options.rounds, left, f"{self.clusters} clusters"))

    def _run_one(self, number: int) -> None:
        """Run one history, unless its snapshots are there already."""
        if not (self._case(number) / OPERATIONS).exists():
            self._perform(self._operations(number), self._case(number), f"h{number}")
            self.ran += 1

    def _perform(self, operations: Sequence[FuzzOperation], case: Path, topic: str) -> None:
        """Do operations on a cluster, and prepare it for the next history or end it."""
        shutil.rmtree(case, ignore_errors=True)
        try:
            hands = run_history(self._cluster(), topic, operations, case)
            if not reset(hands):
                self._end_cluster()
        except (KwalkError, OSError, ValueError) as error:
            self._end_cluster()
            _save_verdict(case, HistoryVerdict(HistoryClass.LAB_FAILED, str(error), 0.0))

    def _cluster(self) -> Lab:
        if self.lab is None:
            self.clusters += 1
            settings = {
                "controlled.shutdown.max.retries": 1,
                "auto.leader.rebalance.enable": "true",
                "leader.imbalance.check.interval.seconds": 300,
            }
            options = LabOptions(release=self.options.release, brokers=3, proxied=True, settings=settings)
            lab = Lab(self.folder / "cluster", options, report=self.report)
            self.lab = lab.__enter__()
        return self.lab

    def _end_cluster(self) -> None:
        if self.lab is not None:
            self.lab.close()
            self.lab = None

    def _judged(self, number: int) -> HistoryVerdict:
        """Return the verdict of a history, and save it."""
        case = self._case(number)
        verdict = _verdict(case) or self.judge(_snapshots(case), self.options.seconds)
        _save_verdict(case, verdict)
        self.announce(f"history {number}: {verdict.kind.value} ({verdict.seconds:.0f} s)  {verdict.headline}")
        return verdict

    def _minimized(self) -> dict[int, int]:
        """Leave operations out of misfits while they still misfit; return how many are left, by history."""
        kept = {}
        for number in range(self.options.rounds if self.options.minimize else 0):
            verdict = _verdict(self._case(number))
            if verdict is not None and verdict.kind.is_misfit:
                kept[number] = self._minimize(number, verdict.kind)
        return kept

    def _minimize(self, number: int, kind: HistoryClass) -> int:
        """Find fewer snapshots, and then fewer operations, of the same class; return the number of operations."""
        done = self._case(number) / "minimized" / MARK
        if done.exists():
            return int(json.loads(done.read_text())["operations"])
        last = self._fewest_snapshots(number, kind)
        least = self._fewest_operations(number, kind, last)
        shutil.rmtree(self._case(number) / "trial", ignore_errors=True)
        save(done, json.dumps({"operations": len(least)}).encode())
        return len(least)

    def _fewest_snapshots(self, number: int, kind: HistoryClass) -> str:
        """Leave snapshots out while the rest still misfits, without a cluster; return the name of the last one.

        The folder `fewest-snapshots` has them, unless all are needed.
        """
        shown = _snapshots(self._case(number))
        least = next((shown[:end] for end in range(1, len(shown)) if self._is_same(number, shown[:end], kind)), shown)
        for each in list(least):
            fewer = [snapshot for snapshot in least if snapshot != each]
            if fewer and self._is_same(number, fewer, kind):
                least = fewer
        self.announce(f"history {number}: still {kind.value} with {len(least)} of {len(shown)} snapshots")
        return least[-1].name

    def _is_same(self, number: int, snapshots: Sequence[Path], kind: HistoryClass) -> bool:
        """Judge some snapshots of a history in a folder of their own, and keep the folder if the class is this one."""
        trial, fewest = self._case(number) / "trial", self._case(number) / "fewest-snapshots"
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir()
        for snapshot in snapshots:
            shutil.copy(snapshot, trial)
        found = self.judge(_snapshots(trial), self.options.seconds)
        _save_verdict(trial, found)
        if found.kind is kind:
            shutil.rmtree(fewest, ignore_errors=True)
            trial.rename(fewest)
        return found.kind is kind

    def _fewest_operations(self, number: int, kind: HistoryClass, last: str) -> Sequence[FuzzOperation]:
        """Leave operations out, beginning with the last ones; each trial is a history of its own on a cluster.

        What comes after the last snapshot that is needed goes first. If that does not misfit, the misfit depends on
        moments that a cluster does not repeat: then all operations are returned.
        """
        everything = self._operations(number)
        noted = json.loads((self._case(number) / OPERATIONS).read_text()).get("operations", [])
        ends = (place for place, operation in enumerate(noted, start=1) if operation.get("snapshot") == last)
        end = next(ends, len(everything))
        least = everything[:end]
        if not self._misfits(number, least, kind, "m"):
            self.announce(f"history {number}: {kind.value} does not come again with the same operations")
            return everything
        for place in reversed(range(len(least))):
            fewer = [*least[:place], *least[place + 1 :]]
            if fewer and self._misfits(number, fewer, kind, f"m{place}"):
                least = fewer
                self.announce(f"history {number}: still {kind.value} with {len(least)} operations")
        return least

    def _misfits(self, number: int, operations: Sequence[FuzzOperation], kind: HistoryClass, suffix: str) -> bool:
        """Do operations on a cluster; return whether the class is this one, and keep the folder if so."""
        trial, case = self._case(number) / "trial", self._case(number) / "minimized"
        self._perform(operations, trial, f"h{number}{suffix}")
        found = _verdict(trial) or self.judge(_snapshots(trial), self.options.seconds)
        if found.kind is kind:
            _save_verdict(trial, found)
            shutil.rmtree(case, ignore_errors=True)
            trial.rename(case)
        return found.kind is kind

    def _read(self, number: int, kept: Mapping[int, int]) -> JudgedHistory:
        case = self._case(number)
        verdict = _verdict(case)
        assert verdict is not None
        return JudgedHistory(number, case, verdict, self.options.operations, kept.get(number))


def _snapshots(case: Path) -> list[Path]:
    return sorted(case.glob("[0-9]*.json"))


def _verdict(case: Path) -> HistoryVerdict | None:
    if not (case / VERDICT).exists():
        return None
    found = json.loads((case / VERDICT).read_text())
    return HistoryVerdict(HistoryClass(found["class"]), found["headline"], found["seconds"])


def _save_verdict(case: Path, verdict: HistoryVerdict) -> None:
    found = {"class": verdict.kind.value, "headline": verdict.headline, "seconds": round(verdict.seconds, 1)}
    save(case / VERDICT, (json.dumps(found, indent=1) + "\n").encode())


def fuzz_lab(
    options: FuzzOptions,
    folder: Path,
    *,
    report: Report = silent,
    announce: Announce = lambda _: None,
    judge: Judge = explained_by_command,
) -> FuzzResult:
    """Run random histories on real clusters, and judge them.

    Args:
        options: What is done.
        folder: The folder of the cases. A run that was interrupted continues there.
        report: Receives the progress.
        announce: Receives a line for each verdict.
        judge: What judges the snapshots of a history.

    Raises:
        UsageError: The folder has something else.
    """
    return Fuzz(options, folder, report, announce, judge).run()


def fuzz_lines(result: FuzzResult) -> Iterator[str]:
    """Yield the table of a run."""
    total, seconds = len(result.histories), [each.verdict.seconds for each in result.histories]
    options = result.options
    yield f"version {options.release}, seed {options.seed}: {total} histories of {options.operations} operations"
    for name, count in result.counts.items():
        yield f"  {count:>4}  {name}"
    if seconds:
        yield f"  explain: {statistics.median(seconds):.0f} s in the median, {max(seconds):.0f} s at most"
    if result.ran:
        yield f"  {result.ran} histories run now, {result.per_minute:.1f} a minute, on {result.clusters} clusters"
        case = result.folder / "history-NNNN"
        yield f"  with the brokers' logs: kwalk explain --logs {case / BROKER_LOGS} {case}/[0-9]*.json"
    for each in result.misfits:
        kept = "" if each.kept is None else f", minimized to {each.kept} operations"
        yield f"  misfit: {each.folder}{kept}"
        yield f"          {each.verdict.headline}"


def fuzz_object(result: FuzzResult) -> dict[str, Any]:
    """Return the result as a JSON object."""
    return {
        "release": result.options.release,
        "seed": result.options.seed,
        "rounds": result.options.rounds,
        "operations": result.options.operations,
        "counts": result.counts,
        "clusters": result.clusters,
        "ran": result.ran,
        "seconds": round(result.spent, 1),
        "per_minute": round(result.per_minute, 2),
        "folder": str(result.folder),
        "histories": [
            {
                "history": each.number,
                "class": each.verdict.kind.value,
                "headline": each.verdict.headline,
                "explain_seconds": each.verdict.seconds,
                "case": str(each.folder),
                "minimized": each.kept,
                "logs": str(each.folder / BROKER_LOGS) if (each.folder / BROKER_LOGS).is_dir() else None,
            }
            for each in result.histories
        ],
    }
