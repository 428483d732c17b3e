"""Moves between the log directories of a broker in KRaft mode: which records a start leaves.

Words: a *copy* is a future log, to which the replica moves. The *window* is the time from the controller's assignment
of the copy's directory until the broker has corrected it: as it applies the new image, it assigns the directory again
where the log still is.

Source: LogManager.recoverAbandonedFutureLogs, ReplicaManager.maybeUpdateTopicAssignment, ReplicaAlterLogDirsThread.
"""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from kwalk.clusters.lab.brokers import AdminAnswer, AdminRequests, Probe, consume, produce
from kwalk.clusters.lab.cluster import Lab, LabBroker, LabOptions, failed_root
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import BACKUP, Log, read_records
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.quorum import Quorum
from kwalk.clusters.metadata import metadata
from kwalk.model.language import KwalkError

THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"
"""What `kafka-reassign-partitions.sh --replica-alter-log-dirs-throttle` sets."""
ACCEPTED = "reassignment state to Accepted"
"""What the thread of a move logs when the controller has assigned the copy's directory."""
ANSWERED = "Received controller response"
"""The same in 3.7.0, which logs nothing of the partition."""
TOPIC_ID = "partition.metadata"
RECOVERED = "Attempting to recover abandoned future log"
WORTH_KEEPING = (
    rf"{ACCEPTED}|{RECOVERED}|current replica|Added log dir fetcher|sending \d+ assign|Created log|to replace current"
    "|[Dd]uplicate log dir|Completed load of Log.dir=.*/t\\d|Stopping serving|topic ID|Error starting|stray"
)
"""The lines of a round that say what became of the logs."""
CREATED = 2.0
"""Seconds after which the controller has assigned the directory of a log that was created."""
CORRECTED = 5.0
"""Seconds after which a broker has corrected the assignment: AssignmentsManager waits 0.5 s at most between two."""
SETTLES = 8.0
"""Seconds in which a broker acts upon an image."""
OFFLINE = 25.0
"""Seconds in which the throttle lets a copy take over: the directory goes offline then if that fails."""
IN_SYNC = 25.0
"""Seconds for a replica to join the ISR."""
WITHOUT_CONTROLLER = 5.0
"""Seconds for which records are written while no controller runs."""


@frozen
class ThrottledMove:
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


def _accepted_move(lab: Lab, this: ExperimentRound) -> ThrottledMove:
    """Begin a move with a throttle of one byte per second, and return when the controller has assigned the directory.

    The first records are copied at once, and exceed the throttle: the thread copies nothing more for ten seconds.
    """
    _admin(lab).configure_brokers({THROTTLE: "1"}, 1)
    here = created(lab, this.topic)
    move = ThrottledMove(lab, this.topic, here, _other(lab, here))
    for number in range(3):
        if not (probe := move.write(f"first:{number}"))["ok"]:
            raise KwalkError(f"Produce was answered with {probe['error']}.")
    time.sleep(CREATED)
    pattern = ANSWERED if lab.options.release == "3.7.0" else f"{this.topic}-0 {ACCEPTED}"
    since = lab.marks()
    answer = _admin(lab).move(this.topic, 0, str(move.there))
    if not wait_until(lambda: lab.lines("server", pattern, since=since), 30, every=0.003):
        raise KwalkError(f"The controller has not assigned the directory of the copy: the move was answered {answer}.")
    return move


def _other(lab: Lab, here: Path) -> Path:
    """Return the last log directory but that of a log."""
    return next(root for root in reversed(lab.brokers[1].roots) if root != here.parent)


def _restarted(this: ExperimentRound, move: ThrottledMove, acknowledged: list[Probe]) -> RoundOutcome:
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
    this.keep_lines(WORTH_KEEPING, ["server"])
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
    acknowledged: list[Probe] = []
    end = time.monotonic() + WITHOUT_CONTROLLER
    while time.monotonic() < end:
        acknowledged.append(move.write(f"later:{len(acknowledged)}"))
        time.sleep(0.1)
    lab.kill(1)
    quorum.start(migrates=False)
    return _restarted(this, move, acknowledged)


def _stopped_in_the_window(lab: Lab, this: ExperimentRound) -> ThrottledMove:
    """Kill the broker when the controller has assigned the copy, which has all records, and fail the log's directory.

    The first directory also has the metadata log, so the replica moves from the second one to the third.
    """
    Quorum(lab).start_brokers_without_data()
    created(lab, f"{this.topic}-other")
    move = _accepted_move(lab, this)
    lab.kill(1)
    if move.here.parent == lab.brokers[1].data:
        raise KwalkError(f"The log of {this.topic} is in the directory of the metadata log.")
    return move


def _copy_of_a_failed_directory(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start the broker while the directory of the log has failed, and the controller has assigned that of the copy."""
    move = _stopped_in_the_window(lab, this)
    copy = read_records(move.copy)
    take_away(move.here.parent)
    lab.start(1)
    served = _answered(move)
    offline = f"Stopping serving logs in dir {re.escape(str(move.there))}"
    has_failed = wait_until(lambda: this.lines("server", offline), OFFLINE, every=0.5)
    details = {
        "records in the copy": len(copy),
        "after the start": served,
        "folders of the copy's directory": sorted(path.name for path in move.there.glob(f"{this.topic}-0*")),
        "the copy's directory goes offline": has_failed,
    }
    this.keep_lines(WORTH_KEEPING, ["server"])
    is_empty = served["producer"].get("offset") == 0
    return RoundOutcome("an empty log is served" if is_empty else "the copy is served", is_empty, details)


def _repaired_after_a_move(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start the broker as above, stop it, repair the directory, and start it again."""
    move = _stopped_in_the_window(lab, this)
    take_away(move.here.parent)
    lab.start(1)
    details: dict[str, Any] = {"before the repair": _answered(move)}
    starts = _starts_after_a_repair(lab, details)
    if not starts:
        shutil.move(move.here, move.here.parent.parent / BACKUP)
        lab.start(1)
        details["when the first log is moved away"] = _answered(move)
    this.keep_lines(WORTH_KEEPING, ["server"])
    return RoundOutcome("the broker starts" if starts else "the broker does not start", not starts, details)


def _starts_after_a_repair(lab: Lab, details: dict[str, Any]) -> bool:
    """Stop the broker, repair its directories and start it; return whether it starts, and keep why it does not."""
    lab.stop(1)
    lab.repair_disks(1)
    try:
        lab.start(1)
    except KwalkError as error:
        details["error"] = str(error).splitlines()[0]
        details["lines"] = [str(line) for line in lab.lines("server", "ERROR.*(uplicate|topic ID|LogManager)")][-3:]
        return False
    return True


def _answered(move: ThrottledMove) -> dict[str, Probe]:
    """Write to the partition until the broker leads it, or for a while; then consume it."""
    answers: list[Probe] = []

    def is_written() -> bool:
        answers.append(move.write("later"))
        return bool(answers[-1]["ok"])

    wait_until(is_written, 25, every=0.2)
    return {"producer": answers[-1], "consumer": move.consume()}


def _failed_directory(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Fail the directory of a log under a running broker; restart the broker twice; repair it, and start the broker."""
    Quorum(lab).start_brokers_without_data()
    created(lab, f"{this.topic}-other")
    here = created(lab, this.topic)
    broker = lab.brokers[1]
    move = ThrottledMove(lab, this.topic, here, broker.data)
    written = [move.write(f"first:{number}") for number in range(3)]
    noticed = lab.fail_disk(1, here.parent)
    time.sleep(SETTLES)
    twice = (broker.data / here.name).is_dir()
    details: dict[str, Any] = {
        "acknowledged": [probe["offset"] for probe in written if probe["ok"]],
        "the broker noticed": noticed,
        "created in the other directory": twice,
    }
    for moment in ("after a restart", "after another restart"):
        lab.restart(1)
        details[moment] = _answered(move)
    details["starts after a repair"] = _starts_after_a_repair(lab, details)
    if details["starts after a repair"]:
        details["after a repair"] = _answered(move)
    this.keep_lines(WORTH_KEEPING, ["server"])
    served = details["after another restart"]
    is_empty = twice and served["producer"].get("offset") == 0
    return RoundOutcome("an empty log is served" if is_empty else "no other log is created", is_empty, details)


def _log_without_topic_id(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Kill the broker as soon as the folder of a log is there, and start it; partition.metadata is written later."""
    Quorum(lab).start_brokers_without_data()
    broker, name, details = lab.brokers[1], f"{this.topic}-0", dict[str, Any]()
    _must(_admin(lab).create_topic(this.topic, {0: [1]}))
    wait_until(lambda: broker.directory(name) is not None, 20, every=0.001)
    lab.kill(1)
    here = broker.directory(name)
    assert here is not None
    details["partition.metadata was written"] = (here / TOPIC_ID).exists()
    (here / TOPIC_ID).unlink(missing_ok=True)
    try:
        lab.start(1)
        starts = True
        details |= _answered(ThrottledMove(lab, this.topic, here, here.parent))
    except KwalkError as error:
        starts = False
        details["error"] = str(error).splitlines()[0]
    details["lines"] = [str(line) for line in this.lines("server", "topic ?I[dD] does not|stray|ERROR")][-3:]
    details["folders"] = sorted(path.name for root in broker.roots for path in root.glob(f"{name}*"))
    this.keep_lines(WORTH_KEEPING, ["server"])
    return RoundOutcome("the broker starts" if starts else "the broker does not start", not starts, details)


def _created_again_while_down(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete a topic and create it again while a broker with a replica is down, and fenced; start the broker."""
    Quorum(lab).start_brokers_without_data()
    topic, other = this.topic, lab.brokers[2]
    admin = AdminRequests(lambda: other.port, milliseconds=8000)
    _must(admin.create_topic(topic, {0: [2, 1]}))
    if not wait_until(lambda: produce(other.port, topic, 0, "first")["ok"], 20):
        raise KwalkError("No record is written with acks=all.")

    def isr() -> tuple[int, ...]:
        return metadata(other.port, with_ids=True).topics[topic].partitions[0].isr

    lab.kill(1)
    if not wait_until(lambda: 1 not in metadata(other.port, with_ids=True).brokers, 40, every=0.3):
        raise KwalkError("Broker 1 is not fenced.")
    _must(admin.delete_topic(topic))
    _must(admin.create_topic(topic, {0: [2, 1]}))
    lab.start(1)
    joined = wait_until(lambda: set(isr()) == {1, 2}, IN_SYNC, every=0.3)
    details: dict[str, Any] = {"ISR": isr(), "the broker has": lab.directories(topic)[1]}
    if not joined:
        lab.restart(1)
        details["in the ISR after another start"] = wait_until(lambda: set(isr()) == {1, 2}, IN_SYNC, every=0.3)
    this.keep_lines(f"{topic}-0|stray|{topic} with topic ID", ["server", "state-change"])
    return RoundOutcome("the replica is there" if joined else "the replica is not there", not joined, details)


def _must(answer: AdminAnswer) -> None:
    if not answer.ok:
        raise KwalkError(f"A request was answered with {answer}.")


def take_away(root: Path) -> None:
    """Take a log directory of a broker away that does not run."""
    root.rename(failed_root(root))
    root.write_text("")


DETAILED = ("kafka.server.ReplicaAlterLogDirsThread", "org.apache.kafka.server.AssignmentsManager")
TWO_DIRECTORIES = LabOptions(brokers=1, directories=2, detailed=DETAILED)
THREE_DIRECTORIES = evolve(TWO_DIRECTORIES, directories=3)
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
        releases=("3.7.2", "3.8.1", "3.9.0"),
    ),
    evolve(
        IN_THE_WINDOW,
        name="assignment-is-corrected",
        about="The same move; the broker is killed five seconds after the controller has assigned the directory.",
        expected="The broker has assigned the log's directory again: no record is lost.",
        run=_crash_after_the_window,
        releases=("3.7.2", "3.8.1", "3.9.0"),
        predicted=lambda release: False,
    ),
    evolve(
        IN_THE_WINDOW,
        name="copy-of-a-failed-directory",
        about="The broker is killed when the controller assigned the copy; it starts while the log's directory fails.",
        expected="In 3.7.0 it creates an empty log beside the copy; later the copy takes over.",
        run=_copy_of_a_failed_directory,
        options=THREE_DIRECTORIES,
        releases=("3.7.0", "3.7.2", "3.9.0"),
        predicted=lambda release: release == "3.7.0",
    ),
    evolve(
        IN_THE_WINDOW,
        name="two-logs-after-a-repair",
        about="The same; then the log's directory works again, and the broker is restarted.",
        expected="From 3.7.1 on the broker does not start until the first log is moved away.",
        run=_repaired_after_a_move,
        options=THREE_DIRECTORIES,
        releases=("3.7.2", "3.8.1", "3.9.0"),
    ),
    Experiment(
        name="failed-directory-in-kraft-mode",
        about="The log directory of a topic's only replica fails, the broker restarts twice, and the disk is repaired.",
        expected="In 3.7.0 an empty log is created elsewhere and served; then the broker does not start.",
        story="log-moves.md",
        run=_failed_directory,
        options=TWO_DIRECTORIES,
        releases=("3.7.0", "3.7.2", "3.9.0"),
        predicted=lambda release: release == "3.7.0",
    ),
    Experiment(
        name="log-without-topic-id",
        about="The broker is killed as soon as the folder of a log is there, and starts without partition.metadata.",
        expected="In 3.7.0 the broker does not start; later it sets the log aside.",
        story="log-moves.md",
        run=_log_without_topic_id,
        options=TWO_DIRECTORIES,
        releases=("3.7.0", "3.7.2", "3.9.0"),
        predicted=lambda release: release == "3.7.0",
    ),
    Experiment(
        name="topic-created-again-in-kraft-mode",
        about="A topic is deleted, and created again, while a broker with a replica is down; then the broker starts.",
        expected="Up to 3.6 the replica is not there until the broker starts once more; later it is in the ISR.",
        story="log-moves.md",
        run=_created_again_while_down,
        options=LabOptions(brokers=2),
        releases=("3.4.1", "3.6.2", "3.7.0", "3.9.0"),
        predicted=lambda release: release in ("3.4.1", "3.6.2"),
    ),
)
