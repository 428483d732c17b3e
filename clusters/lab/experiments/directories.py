"""Moves between the log directories of a broker in KRaft mode: which records a start leaves.

Words: a *copy* is a future log, to which the replica moves. The *window* is the time from the controller's assignment
of the copy's directory until the broker has corrected it: as it applies the new image, it assigns the directory again
where the log still is.

Source: LogManager.recoverAbandonedFutureLogs, ReplicaManager.maybeUpdateTopicAssignment, ReplicaAlterLogDirsThread.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from kwalk.clusters.lab.brokers import AdminRequests, Probe, consume, produce
from kwalk.clusters.lab.cluster import Lab, LabBroker, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import Log, read_records
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.quorum import Quorum
from kwalk.clusters.metadata import metadata
from kwalk.model.language import KwalkError

THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"
"""What `kafka-reassign-partitions.sh --replica-alter-log-dirs-throttle` sets."""
ACCEPTED = "reassignment state to Accepted"
"""What the thread of a move logs when the controller has assigned the copy's directory."""
RECOVERED = "Attempting to recover abandoned future log"
CORRECTED = 5.0
"""Seconds after which a broker has corrected the assignment: AssignmentsManager waits 0.5 s at most between two."""
WITHOUT_CONTROLLER = 5.0
"""Seconds for which records are written while no controller runs."""


@frozen
class Move:
    """A replica on broker 1 that moves to its other log directory, slower than records are written."""

    lab: Lab
    topic: str
    here: Path
    there: Path

    @property
    def broker(self) -> LabBroker:
        """The broker."""
        return self.lab.brokers[1]

    @property
    def copy(self) -> Path:
        """The directory of the copy."""
        return next(self.there.glob(f"{self.topic}-0.*-future"))

    def write(self, value: str) -> Probe:
        """Write a record with acks=all."""
        return produce(self.broker.port, self.topic, 0, value)

    def consume(self) -> Probe:
        """Consume the partition from its beginning."""
        found = metadata(self.broker.port, with_ids=True).topics[self.topic]
        return consume(self.broker.port, self.topic, 0, topic_id=found.topic_id)


def created(lab: Lab, topic: str) -> Path:
    """Create a topic with one replica on broker 1, in KRaft mode, and return the directory of its log."""
    broker = lab.brokers[1]
    answer = _admin(lab).create_topic(topic, {0: [1]})
    if not answer.ok:
        raise KwalkError(f"CreateTopics was answered with {answer}.")

    def is_led() -> bool:
        found = metadata(broker.port, with_ids=True).topics.get(topic)
        return found is not None and found.partitions[0].leader == 1 and broker.directory(f"{topic}-0") is not None

    if not wait_until(is_led, 20):
        raise KwalkError(f"{topic} has no leader.")
    directory = broker.directory(f"{topic}-0")
    assert directory is not None
    return directory


def _admin(lab: Lab) -> AdminRequests:
    """Return a client of broker 1, which forwards requests to the KRaft controller."""
    return AdminRequests(lambda: lab.brokers[1].port, milliseconds=8000)


def _accepted_move(lab: Lab, this: ExperimentRound) -> Move:
    """Begin a move with a throttle of one byte per second, and return when the controller has assigned the directory.

    The first records are copied at once, and exceed the throttle: the thread copies nothing more for ten seconds.
    """
    _admin(lab).configure_brokers({THROTTLE: "1"}, 1)
    here = created(lab, this.topic)
    move = Move(lab, this.topic, here, next(root for root in lab.brokers[1].roots if root != here.parent))
    for number in range(3):
        if not (probe := move.write(f"first:{number}"))["ok"]:
            raise KwalkError(f"Produce was answered with {probe['error']}.")
    answer = _admin(lab).move(this.topic, 0, str(move.there))
    if not wait_until(lambda: this.lines("server", f"{this.topic}-0 {ACCEPTED}"), 30, every=0.003):
        raise KwalkError(f"The controller has not assigned the directory of the copy: the move was answered {answer}.")
    return move


def _restarted(this: ExperimentRound, move: Move, acknowledged: list[Probe]) -> RoundOutcome:
    """Start the broker, which was killed, and compare the bytes of the log before with those that it serves."""
    before, copy = read_records(move.here), read_records(move.copy)
    move.lab.start(1)
    wait_until(lambda: move.consume()["error"] == "NONE", 20)
    directory = move.broker.directory(move.here.name)
    after: Log = read_records(directory) if directory else {}
    lost = sorted(offset for offset in before if after.get(offset) != before[offset])
    acked = sorted(probe["offset"] for probe in acknowledged if probe["ok"])
    taken = this.lines("server", f"{RECOVERED} for {move.here.name} ")
    details: dict[str, Any] = {
        "acknowledged offsets of the window": acked,
        "records in the log at the crash": len(before),
        "records in the copy at the crash": len(copy),
        "records that are served": len(after),
        "lost offsets": lost,
        "served from": directory.parent.name if directory else None,
        "the copy took over": [str(line) for line in taken],
        "consumer": move.consume(),
    }
    this.keep_lines(rf"{move.here.name}|sending \d+ assignments", ["server"])
    is_lost = bool(acked) and set(acked) <= set(lost) and bool(taken)
    return RoundOutcome("acknowledged records are lost" if is_lost else "all records are kept", is_lost, details)


def _crash_in_the_window(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Write a record when the controller has assigned the directory, and kill the broker at once."""
    Quorum(lab).start_brokers_without_data()
    move = _accepted_move(lab, this)
    acknowledged = [move.write("later")]
    lab.kill(1)
    return _restarted(this, move, acknowledged)


def _crash_after_the_window(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Kill the broker when it has corrected the assignment."""
    Quorum(lab).start_brokers_without_data()
    move = _accepted_move(lab, this)
    acknowledged = [move.write("later")]
    time.sleep(CORRECTED)
    lab.kill(1)
    return _restarted(this, move, acknowledged)


def _crash_without_controller(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Kill the controller when it has assigned the directory, write for seconds, and kill the broker."""
    quorum = Quorum(lab)
    quorum.start_brokers_without_data()
    move = _accepted_move(lab, this)
    quorum.kill()
    acknowledged, end = [], time.monotonic() + WITHOUT_CONTROLLER
    while time.monotonic() < end:
        acknowledged.append(move.write(f"later:{len(acknowledged)}"))
        time.sleep(0.1)
    lab.kill(1)
    quorum.start(migrates=False)
    return _restarted(this, move, acknowledged)


TWO_DIRECTORIES = LabOptions(brokers=1, directories=2, detailed=("kafka.server.ReplicaAlterLogDirsThread",))
IN_THE_WINDOW = Experiment(
    name="copy-takes-over-without-a-record",
    about="A throttled move; a record is written when the controller assigned the directory; the broker is killed.",
    expected="The start puts the copy, which lacks the record, in the place of the log: the record is lost.",
    story="log-moves.md",
    run=_crash_in_the_window,
    options=TWO_DIRECTORIES,
    releases=("3.7.2", "3.8.1", "3.9.0", "3.9.2"),
    is_ordered=True,
)
EXPERIMENTS = (
    IN_THE_WINDOW,
    evolve(
        IN_THE_WINDOW,
        name="copy-takes-over-without-a-controller",
        about="The same; the controller is killed first, and records are written for five seconds.",
        expected="All records of these seconds are lost.",
        run=_crash_without_controller,
    ),
    evolve(
        IN_THE_WINDOW,
        name="assignment-is-corrected",
        about="The same move; the broker is killed five seconds after the controller has assigned the directory.",
        expected="The broker has assigned the log's directory again: no record is lost.",
        run=_crash_after_the_window,
        predicted=lambda release: False,
    ),
)
