"""Moves between log directories of a broker in ZooKeeper mode: what the log cleaner does afterwards.

Source: LogCleanerManager.alterCheckpointDir, abortAndPauseCleaning; KAFKA-8362, KAFKA-16709, KAFKA-19458.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from attrs import evolve

from kwalk.clusters.lab.brokers import AdminRequests, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.directories import THROTTLE
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import read_records
from kwalk.clusters.lab.experiments.logs import lead
from kwalk.clusters.lab.processes import wait_until
from kwalk.model.language import KwalkError

CHECKPOINT = "cleaner-offset-checkpoint"
COMPACTED = {"cleanup.policy": "compact", "segment.bytes": "100", "min.cleanable.dirty.ratio": "0.01"}
"""The configuration of a topic each of whose records has a segment of its own."""
WRITTEN = 20
"""How many values one key gets."""
CLEANED = 15.0
"""Seconds in which the cleaner, which looks every 0.2 s, has cleaned a log."""
AT_REST = 5.0
"""Seconds in which nothing is written."""
UNTHROTTLED = "1000000000"


def _broker(lab: Lab) -> AdminRequests:
    """Return a client of broker 1."""
    return AdminRequests(lambda: lab.brokers[1].port, milliseconds=8000)


def _created(lab: Lab, topic: str) -> Path:
    """Create a compacted topic that broker 1 leads; return the directory of its log there."""
    answer = lab.admin().create_topic(topic, {0: [*lab.brokers]}, COMPACTED)
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    wait_until(lambda: lab.are_informed(topic), 10)
    directory = lab.brokers[1].directory(f"{topic}-0")
    assert directory is not None
    return directory


def _is_cleaned(lab: Lab, topic: str, others: int = 0) -> tuple[bool, int]:
    """Write one key many times, and return whether the cleaner removes most values; and how many records are left.

    Args:
        lab: The cluster.
        topic: The topic.
        others: How many other keys the log has.
    """
    for number in range(WRITTEN):
        produce(lab.brokers[1].port, topic, 0, f"value:{number}", key="k")

    def left() -> int:
        directory = lab.brokers[1].directory(f"{topic}-0")
        while directory is not None:
            with suppress(FileNotFoundError):  # the cleaner has just removed a segment
                return len(read_records(directory))
        raise KwalkError(f"Broker 1 has no log of {topic}.")

    return wait_until(lambda: left() < others + WRITTEN / 2, CLEANED, every=0.5), left()


def _move(lab: Lab, here: Path, to: Path | None = None) -> Path:
    """Ask for a move to a log directory, or to the first other one; return that."""
    there = to or next(root for root in lab.brokers[1].roots if root != here.parent)
    topic, _, partition = here.name.rpartition("-")
    answer = _broker(lab).move(topic, int(partition), str(there))
    if not answer.ok:
        raise KwalkError(f"AlterReplicaLogDirs was answered with {answer}.")
    return there


def _has_arrived(lab: Lab, here: Path, there: Path, seconds: float = 40.0) -> bool:
    return wait_until(lambda: lab.brokers[1].directory(here.name) == there / here.name, seconds, every=0.2)


def _entry(root: Path, name: str) -> str | None:
    """Return the line of a partition in a directory's checkpoint of the cleaner; None if there is none."""
    path, start = root / CHECKPOINT, " ".join(name.rsplit("-", 1))
    lines = path.read_text().splitlines() if path.exists() else []
    return next((line for line in lines if line.startswith(f"{start} ")), None)


def _entry_stays(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move a cleaned log to the directory that stands first in `log.dirs`; count how often it is cleaned at rest."""
    _created(lab, f"{this.topic}-other")
    here = _created(lab, this.topic)
    first = _is_cleaned(lab, this.topic)
    before = _entry(here.parent, here.name)
    there = _move(lab, here)
    arrived = _has_arrived(lab, here, there)
    again = _is_cleaned(lab, this.topic)
    entries = {"first directory": _entry(here.parent, here.name), "other directory": _entry(there, here.name)}
    details: dict[str, Any] = {"cleaned": first, "entry": before, "arrived": arrived, "cleaned again": again, **entries}
    time.sleep(1)
    since = lab.marks()
    time.sleep(AT_REST)
    cleanings = len(lab.lines("server", f"Beginning cleaning of log {here.name}", since=since))
    details["cleanings at rest"] = cleanings
    seen = entries["first directory"] is not None and arrived and cleanings > AT_REST
    return RoundOutcome("the log is cleaned again and again" if seen else "the log is cleaned once", seen, details)


def _lead_there_and_back(lab: Lab, topic: str) -> None:
    lead(lab, topic, 2, 1)
    lead(lab, topic, 1, 2)


def _elect_a_controller(lab: Lab, _: str) -> None:
    lab.delete_controller()
    if not wait_until(lambda: lab.controller() == 1, 20):
        raise KwalkError("Broker 1 did not become the controller within 20 s.")
    time.sleep(2)


def _cleaning_ends(lab: Lab, this: ExperimentRound, amid: Callable[[Lab, str], None]) -> RoundOutcome:
    """Have something happen during a move; when it has ended, write to the log, and wait for the cleaner."""
    here = _created(lab, this.topic)
    first = _is_cleaned(lab, this.topic)
    for number in range(WRITTEN):
        produce(lab.brokers[1].port, this.topic, 0, f"other:{number}", key=f"k{number}")
    _broker(lab).configure_brokers({THROTTLE: "1"}, 1)
    there = _move(lab, here)
    moving = not _has_arrived(lab, here, there, 2)
    amid(lab, this.topic)
    still = lab.brokers[1].directory(here.name) == here
    _broker(lab).configure_brokers({THROTTLE: UNTHROTTLED}, 1)
    arrived = _has_arrived(lab, here, there)
    again = _is_cleaned(lab, this.topic, WRITTEN)
    details = {"cleaned": first, "moves meanwhile": moving and still, "arrived": arrived}
    details["cleaned after the move"] = again
    lab.restart(1)
    wait_until(lambda: lab.are_informed(this.topic), 20)
    details["cleaned after a restart"] = _is_cleaned(lab, this.topic, WRITTEN)
    this.keep_lines(f"{here.name}", ["server"])
    stops = first[0] and arrived and moving and still and not again[0]
    return RoundOutcome("the log is not cleaned" if not again[0] else "the log is cleaned", stops, details)


def _cleaning_ends_with_another_move(lab: Lab, this: ExperimentRound, *, is_cancelled: bool) -> RoundOutcome:
    """Ask for a move to a third directory, or to the first, during a move; when it has ended, wait for the cleaner."""
    here = _created(lab, this.topic)
    first = _is_cleaned(lab, this.topic)
    for number in range(WRITTEN):
        produce(lab.brokers[1].port, this.topic, 0, f"other:{number}", key=f"k{number}")
    _broker(lab).configure_brokers({THROTTLE: "1"}, 1)
    second = _move(lab, here)
    moving = not _has_arrived(lab, here, second, 2)
    others = (root for root in lab.brokers[1].roots if root not in (here.parent, second))
    third = _move(lab, here, here.parent if is_cancelled else next(others))
    _broker(lab).configure_brokers({THROTTLE: UNTHROTTLED}, 1)
    arrived = _has_arrived(lab, here, third)
    again = _is_cleaned(lab, this.topic, WRITTEN)
    details = {"cleaned": first, "moves until it is replaced": moving, "arrived": arrived}
    details["cleaned after the move"] = again
    this.keep_lines(f"{here.name}", ["server"])
    stops = first[0] and arrived and moving and not again[0]
    return RoundOutcome("the log is not cleaned" if not again[0] else "the log is cleaned", stops, details)


LARGE, ABOVE_LARGE = 500, {"segment.bytes": "600"}
"""The length of a value whose batch is larger than the segments of COMPACTED, and a configuration with larger ones."""


def _cleaning_ends_with_a_failed_move(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have the thread fail that moves a log, at a batch above `segment.bytes`; raise that, and wait for the cleaner."""
    here = _created(lab, this.topic)
    _broker(lab).configure_topic(this.topic, ABOVE_LARGE)
    large = wait_until(lambda: produce(lab.brokers[1].port, this.topic, 0, "v" * LARGE, key="large")["ok"], 20)
    _broker(lab).configure_topic(this.topic, COMPACTED)
    first = _is_cleaned(lab, this.topic, 1)
    there = _move(lab, here)
    failure = f"Unexpected error occurred while processing data for partition {here.name} "
    fails = wait_until(lambda: bool(this.lines("server", failure)), 20)
    _broker(lab).configure_topic(this.topic, ABOVE_LARGE)
    again = _is_cleaned(lab, this.topic, 1)
    is_here = lab.brokers[1].directory(here.name) == here
    details = {"large": large, "cleaned": first, "the move fails": fails, "and the log stays": is_here}
    details["cleaned after the move"] = again
    lab.restart(1)
    wait_until(lambda: lab.are_informed(this.topic), 20)
    details["arrived after a restart"] = arrived = _has_arrived(lab, here, there)
    details["cleaned after a restart"] = _is_cleaned(lab, this.topic, 1)
    if not arrived:
        _move(lab, here, here.parent)
        lab.restart(1)
        wait_until(lambda: lab.are_informed(this.topic), 20)
        details["cleaned when it was cancelled, after a restart"] = _is_cleaned(lab, this.topic, 1)
    this.keep_lines(f"{here.name}", ["server"])
    stops = large and first[0] and fails and is_here and not again[0]
    return RoundOutcome("the log is not cleaned" if not again[0] else "the log is cleaned", stops, details)


MOVED, TIMES = 40, 3
"""How many partitions move to the other log directory, and how often."""


def _directory_fails(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move many partitions, each of whose batches is in a segment of its own, there and back until a flush fails."""
    topic, broker, moves = this.topic, lab.brokers[1], 0
    answer = lab.admin().create_topic(topic, {number: [1] for number in range(MOVED)}, {"segment.bytes": "100"})
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    for partition in range(MOVED):
        for number in range(3):
            produce(broker.port, topic, partition, f"value:{number}")

    def failures() -> list[str]:
        return [str(line) for line in this.lines("server", f"Error while flushing log for {topic}")]

    def is_over(there: dict[str, Path]) -> bool:
        return bool(failures()) or all(broker.directory(name) == root / name for name, root in there.items())

    for _ in range(TIMES):
        there: dict[str, Path] = {}
        for name in (f"{topic}-{partition}" for partition in range(MOVED)):
            here = broker.directory(name)
            with suppress(KwalkError):  # the directory is offline
                there |= {} if here is None else {name: _move(lab, here)}
        wait_until(partial(is_over, there), 60, every=0.5)
        moves += len(there)
        if failures():
            break
    offline = wait_until(lambda: bool(this.lines("server", "Stopping serving logs in dir")), 5)
    this.keep_lines("Error while flushing|serving logs in dir|NoSuchFileException", ["server"])
    details = {"moves": moves, "failures": failures()[:3], "a directory is offline": offline}
    return RoundOutcome(
        "a log directory goes offline" if offline else "the logs move", bool(failures() and offline), details
    )


FIRST_CHECK = 31.0
"""Seconds after which a broker that has started looks for old segments the first time."""
KEPT = {"segment.bytes": "100", "retention.ms": "-1", "file.delete.delay.ms": "15000"}
"""The configuration of a topic whose removed segments keep their files for 15 s."""


def _removed_files_stay(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Have retention remove segments of a future log, which takes over before their files are deleted."""
    topic = this.topic
    answer = lab.admin().create_topic(topic, {0: [1]}, KEPT)
    if not (answer.ok and lab.wait_for_leaders(topic)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    for number in range(WRITTEN):
        produce(lab.brokers[1].port, topic, 0, f"value:{number}")
    here = lab.brokers[1].directory(f"{topic}-0")
    assert here is not None
    time.sleep(FIRST_CHECK)
    _broker(lab).configure_brokers({THROTTLE: "100"}, 1)
    there = _move(lab, here)
    copied = wait_until(lambda: len(list(there.glob(f"{topic}-0.*-future/*.log"))) > 3, 20, every=0.05)
    _broker(lab).configure_topic(topic, {**KEPT, "retention.ms": "1"})
    removed = wait_until(lambda: bool(list(there.glob(f"{topic}-0.*-future/*.deleted"))), 10, every=0.05)
    _broker(lab).configure_topic(topic, KEPT)
    _broker(lab).configure_brokers({THROTTLE: UNTHROTTLED}, 1)
    arrived = _has_arrived(lab, here, there, 10)
    time.sleep(25)
    left = sorted(path.name for path in (there / here.name).glob("*.deleted"))
    this.keep_lines(here.name, ["server"])
    details = {"copied": copied, "removed before the end of the move": removed, "arrived": arrived, "files": left}
    is_more = any(".snapshot" not in name for name in left)
    outcome = "files of removed segments stay" if is_more else SNAPSHOTS_STAY if left else "they are deleted"
    return RoundOutcome(outcome, bool(copied and removed and arrived and is_more), details)


SNAPSHOTS_STAY = "snapshots of producers stay, and nothing else"


def _elected_after_a_move(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move a follower's replica to the other log directory, and stop the leader: the follower is elected.

    Of two other topics one has its replica in the first directory, and one in the other directory.
    """
    topics, broker = [this.topic, f"{this.topic}-a", f"{this.topic}-b"], lab.brokers[1]
    for each in topics:
        lab.tool("1.0.0", "--create", "--topic", each, "--replica-assignment", "2:1")
        if not lab.wait_for_leaders(each):
            raise KwalkError(f"{each} has no leader.")
    written = all(produce(lab.brokers[2].port, each, 0, "before", acks=-1)["ok"] for each in topics)
    roots = {each: directory.parent for each in topics if (directory := broker.directory(f"{each}-0")) is not None}
    here = roots[this.topic] / f"{this.topic}-0"
    there = _move(lab, here)
    arrived = _has_arrived(lab, here, there)
    lab.stop(2)
    leads = wait_until(lambda: all(lab.states(each)[0]["leader"] in (1, -1) for each in topics), 20)
    time.sleep(SETTLED)
    after = {each: produce(broker.port, each, 0, "after")["error"] for each in topics}
    beside = [each for each in topics[1:] if roots[each] == here.parent]
    failures = [str(line) for line in this.lines("server", "Stopping serving replicas in dir")]
    this.keep_lines("checkpoint file|serving (logs|replicas) in dir", ["server"])
    details = {"written": written, "arrived": arrived, "is elected": leads, "after": after, "beside it": beside}
    seen = bool(arrived and leads and failures)
    outcome = "the log directory goes offline" if failures else "the replica leads"
    return RoundOutcome(outcome, seen, details | {"failures": failures[:2]})


SETTLED = 3.0
"""Seconds in which a broker that is elected has written its leader epoch."""
CLEANING = {
    "log.cleaner.enable": "true",
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.dedupe.buffer.size": 2 << 20,
    "replica.fetch.max.bytes": 1,
    "log.index.size.max.bytes": 1024,
}
RETENTION = {**CLEANING, "log.cleaner.enable": "false", "log.retention.check.interval.ms": 500}
"""With a cleaner, retention leaves a log alone that moves: then a truncation of the future log removes segments."""
ONE_BROKER = LabOptions(brokers=1, directories=2, settings=CLEANING)
EXPERIMENTS = (
    Experiment(
        name="election-after-a-move",
        about="A follower's replica moves to another log directory, and is elected.",
        expected="In 2.0.1 and 2.1.0 the first directory goes offline, with all its logs; before and later none does.",
        story="log-moves.md",
        run=_elected_after_a_move,
        options=LabOptions(brokers=2, directories=2, old_brokers=True),
        releases=("2.1.0", "2.3.0", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: release == "2.1.0",
    ),
    Experiment(
        name="removed-files-after-a-move",
        about="Retention removes segments of a log that moves, 15 s before their files are deleted; the move ends.",
        expected="Up to 3.7 the files stay, as they are looked for in the earlier folder; later only snapshots.",
        story="log-moves.md",
        run=_removed_files_stay,
        options=evolve(ONE_BROKER, settings=RETENTION),
        releases=("2.8.2", "3.7.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: release != "3.9.0",
    ),
    Experiment(
        name="log-of-a-replaced-move-is-not-cleaned",
        about="A compacted log moves to another log directory, and is sent to a third one meanwhile.",
        expected="Since 2.1 the log is not cleaned any more, until the broker starts again.",
        story="log-moves.md",
        run=partial(_cleaning_ends_with_another_move, is_cancelled=False),
        options=evolve(ONE_BROKER, directories=3),
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="log-of-a-cancelled-move-is-not-cleaned",
        about="A compacted log moves to another log directory; the move is cancelled by one to where the log is.",
        expected="The log is not cleaned any more, until the broker starts again.",
        story="log-moves.md",
        run=partial(_cleaning_ends_with_another_move, is_cancelled=True),
        options=ONE_BROKER,
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="log-of-a-failed-move-is-not-cleaned",
        about="The thread that moves a compacted log fails at a batch above segment.bytes, which is raised then.",
        expected="The log is not cleaned any more, until the broker starts again.",
        story="log-moves.md",
        run=_cleaning_ends_with_a_failed_move,
        options=ONE_BROKER,
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="directory-fails-amid-a-move",
        about="Logs of many segments move between the two log directories of a broker, again and again.",
        expected="From 3.0 to 3.5.1 a directory goes offline, as a flush finds no folder of the future log; later not.",
        story="log-moves.md",
        run=_directory_fails,
        options=evolve(ONE_BROKER, settings={}),
        releases=("2.8.2", "3.4.1", "3.6.2", "3.9.0"),
        predicted=lambda release: release == "3.4.1",
    ),
    Experiment(
        name="moved-log-is-cleaned-again-and-again",
        about="A compacted log that was cleaned moves to the first of log.dirs, and is cleaned there.",
        expected="Before 2.7 the cleaner begins at the entry of the other directory for good; later it cleans once.",
        story="log-moves.md",
        run=_entry_stays,
        options=ONE_BROKER,
        releases=("2.5.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release == "2.5.0",
    ),
    Experiment(
        name="moved-log-is-not-cleaned",
        about="The leader of a compacted log changes twice while its replica moves to another log directory.",
        expected="From 2.5 to 3.7 the log is not cleaned any more, until the broker starts again; later it is.",
        story="log-moves.md",
        run=partial(_cleaning_ends, amid=_lead_there_and_back),
        options=evolve(ONE_BROKER, brokers=2),
        releases=("2.8.2", "3.7.2", "3.8.1", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: release in ("2.8.2", "3.7.2"),
    ),
    Experiment(
        name="moved-log-is-not-cleaned-after-a-failover",
        about="The controller changes while a replica of a compacted topic moves to another log directory.",
        expected="In 2.5 the log is not cleaned any more, until the broker starts again; later it is.",
        story="log-moves.md",
        run=partial(_cleaning_ends, amid=_elect_a_controller),
        options=ONE_BROKER,
        releases=("2.5.0", "2.8.2"),
        is_ordered=True,
        predicted=lambda release: release == "2.5.0",
    ),
)
