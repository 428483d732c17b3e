"""The logs of a cluster's brokers as observations with times, between the snapshots of a series.

Words: the *window* of a line is when its step was taken: after the line of the same thread before it, and before the
line itself, each by the broker's clock. A clock differs from that of the snapshots by the *tolerance* at most. Of two
snapshots the step is between, as far as the window is.

A step that may have been taken before the first snapshot is not required if that snapshot may show its effect.
"""

from __future__ import annotations

import gzip
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import accumulate, pairwise

from attrs import evolve, field, frozen

from kwalk.model.kafka.snapshots.capture import Capture
from kwalk.model.kafka.snapshots.log_lines import ELECTED, KINDS, UPDATED, Drawn, Fields, LineKind, LogThread, Unused
from kwalk.model.kafka.snapshots.projection import NONE, Numbering
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language import UsageError
from kwalk.model.language.series import Clause, LogCounts, LoggedStep, LogSource

FILES = re.compile(r"(controller|state-change|server)\.log[\w.-]*")
"""The names of the files, also of rotated ones, as config/log4j.properties has them."""
TIME = re.compile(r"\[?(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)[,.](\d{3})\]?\s+(.*)")
"""How a line begins: with %d, as in [%d] %p %m (%c)%n, or without the brackets."""
LAYOUT = re.compile(r"(?:(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\s+)?(.*?)(?: \(([\w.$]+)\))?")
"""What is around a message: its level before it, its logger after it."""
MARKS = (
    "[Controller id=",
    "[Topic Deletion Manager ",
    "[Broker id=",
    "[KafkaServer id=",
    "[ZooKeeperClient Kafka ",
    "[Partition ",
    "[KRaftMigrationDriver ",
)
IDENTITY = re.compile(
    r"\[(?:KafkaServer|Controller|Broker) id=(\d+)|\[[^\]]* broker[ =](\d+)\]|.*?Registered broker (\d+) at path"
)
"""What names the broker whose log it is."""
LOGGERS = {
    "kafka.server.KafkaServer": re.compile("starting"),
    "kafka.log.LogManager": re.compile("(?:Created l|L)og for .*"),
    "org.apache.kafka.metadata.migration.KRaftMigrationDriver": re.compile(".*"),
    "org.apache.kafka.server.fault.LoggingFaultHandler": re.compile("Encountered zk migration fault: .*"),
}
"""The loggers of lines that name no broker, with those lines."""
FUTURE = "-future"
"""In the folder of a log that is being moved to another disk of its broker: it is no log of its partition yet."""
Thread = tuple[int, LogThread, str]
"""The lines of a broker that have an order: of which thread, and of which partition if each has an order of its own."""
EPOCHS = 1 << 12
"""More controller epochs than the model counts."""
LATE = 600.0
"""Seconds after a snapshot at which an election may still be logged that it shows: the broker was suspended."""


@frozen
class BrokerLogLine:
    """A line with its time, in seconds since 1970 by the broker's clock; `kind` is None if it is not understood."""

    file: str
    number: int
    time: float
    message: str
    logger: str
    kind: LineKind | None = None
    fields: Fields = field(factory=dict)
    broker: int | None = None

    @property
    def place(self) -> str:
        """Where it is, for reports."""
        moment = datetime.fromtimestamp(self.time, UTC).strftime("%H:%M:%S.%f")[:-3]
        return f"{self.file}:{self.number}, {moment} UTC"


@frozen
class Logs:
    """The lines of all files, and the threads whose times go back."""

    source: LogSource
    files: tuple[str, ...]
    lines: tuple[BrokerLogLine, ...]
    threads: Mapping[Thread, tuple[BrokerLogLine, ...]]
    unordered: frozenset[Thread]


# Files.


def read_logs(source: LogSource) -> Logs:
    """Read the logs in a folder and the folders below it.

    Raises:
        UsageError: There is none, or no line of them has a time.
    """
    paths = sorted(_paths(source.folder))
    if not paths:
        raise UsageError(
            f"No logs of brokers are in {printable(source.folder, 200)}. Allowed: a folder with files named "
            "controller.log, state-change.log or server.log, also rotated ones, also in folders of each broker."
        )
    lines = [line for path in paths for line in _lines(path, source)]
    if not lines:
        raise UsageError(
            f"No line of the {len(paths)} logs in {printable(source.folder, 200)} begins with a time. Allowed: the "
            "pattern of Kafka's config/log4j.properties, [%d] %p %m (%c)%n, as in "
            '"[2024-05-01 12:00:00,123] INFO [Controller id=1] Resigned (kafka.controller.KafkaController)".'
        )
    threads: dict[Thread, list[BrokerLogLine]] = {}
    unordered: set[Thread] = set()
    for path in paths:
        name = os.path.relpath(path, source.folder)
        own: dict[Thread, list[BrokerLogLine]] = {}
        for line in lines:
            if line.file == name and line.kind is not None and line.broker is not None:
                partition = line.fields["partition"] if line.kind.thread is LogThread.ISR else ""
                own.setdefault((line.broker, line.kind.thread, partition), []).append(line)
        for thread, part in own.items():
            if any(later.time < earlier.time for earlier, later in pairwise(part)):
                unordered.add(thread)
            threads.setdefault(thread, []).extend(part)
    ordered = {thread: tuple(_distinct(sorted(found, key=lambda line: line.time))) for thread, found in threads.items()}
    return Logs(
        source,
        tuple(os.path.relpath(path, source.folder) for path in paths),
        tuple(lines),
        ordered,
        frozenset(unordered),
    )


def _paths(folder: str) -> Iterator[str]:
    if not os.path.isdir(folder):
        raise UsageError(f"{printable(folder, 200)} is no folder. Name the folder with the logs of the brokers.")
    for at, _, names in os.walk(folder):
        yield from (os.path.join(at, name) for name in names if FILES.fullmatch(name))


def _distinct(lines: Iterable[BrokerLogLine]) -> Iterator[BrokerLogLine]:
    """Leave out copies: the same line of the same moment in two files."""
    known: set[tuple[float, str]] = set()
    for line in lines:
        if (line.time, line.message) not in known:
            known.add((line.time, line.message))
            yield line


def _lines(path: str, source: LogSource) -> list[BrokerLogLine]:
    """Return the lines of a file that have a time; the others continue the one before."""
    name = os.path.relpath(path, source.folder)
    found: list[BrokerLogLine] = []
    brokers: Counter[int] = Counter()
    try:
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
            for number, text in enumerate(file, start=1):
                line = _line(name, number, text.rstrip("\r\n"), source.zone)
                if line is not None:
                    found.append(line)
                    brokers.update([line.broker] if line.broker is not None else ())
    except OSError as error:
        raise UsageError(f"{printable(path, 200)} cannot be read: {error.strerror or error}. Leave it out.") from error
    if len(brokers) != 1:
        return found
    only = next(iter(brokers))
    own = {"broker": str(only)}
    return [evolve(line, broker=only, fields={**own, **line.fields}) if line.broker is None else line for line in found]


def _line(file: str, number: int, text: str, zone: float) -> BrokerLogLine | None:
    begin = TIME.match(text)
    if begin is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{begin[1]}T{begin[2]}.{begin[3]}").replace(tzinfo=UTC).timestamp() - zone
    except ValueError:
        return None
    layout = LAYOUT.fullmatch(begin[4])
    assert layout is not None
    message, logger = layout[1], layout[2] or ""
    marks = [at for mark in MARKS if (at := message.find(mark)) >= 0]
    message = message[min(marks) :] if marks else message
    if (marks or (logger in LOGGERS and LOGGERS[logger].fullmatch(message))) and FUTURE not in message:
        for kind in KINDS:
            fields = kind.match(message)
            if fields is not None:
                broker = int(fields["broker"]) if "broker" in fields else None
                return BrokerLogLine(file, number, moment, message, logger, kind, fields, broker)
    identity = IDENTITY.match(message)
    broker = int(next(filter(None, identity.groups()))) if identity else None
    return BrokerLogLine(file, number, moment, message, logger, broker=broker)


# The observations of a series.


@frozen
class Moments:
    """When the snapshots of a series were taken, in seconds since 1970: the begin and the end of each.

    What is logged during the spans of `unusable` ones may be about another life of the topic.
    """

    names: tuple[str, ...]
    spans: tuple[tuple[float, float], ...]
    unusable: frozenset[int] = frozenset()

    def after(self, moment: float) -> int:
        """Return the number of the first snapshot that was begun after a moment; their number if there is none."""
        return next((n for n, (begin, _) in enumerate(self.spans) if begin > moment), len(self.spans))

    def is_unusable(self, moment: float, tolerance: float) -> bool:
        """Return whether a moment may be in the span of an unusable snapshot."""
        spans = (self.spans[number] for number in self.unusable)
        return any(begin - tolerance <= moment <= end + tolerance for begin, end in spans)

    def ended(self, moment: float) -> int:
        """Return how many snapshots were ended before a moment."""
        return sum(end < moment for _, end in self.spans)


def moments_of(names: Sequence[str], captures: Sequence[Capture]) -> Moments:
    """Return when snapshots were taken; UsageError if one does not say so, or they are not in order."""
    spans: list[tuple[float, float]] = []
    for name, capture in zip(names, captures, strict=True):
        if capture.taken is None:
            raise UsageError(
                f"{printable(name, 200)} does not say when it was taken, so that log lines cannot be placed between "
                "snapshots. Allowed: snapshots with the field taken, as `kwalk collect` writes them."
            )
        if spans and capture.taken[0] < spans[-1][1]:
            raise UsageError(
                f"{printable(name, 200)} was taken before the snapshot that is named before it. "
                "Name snapshots in the order in which they were taken."
            )
        spans.append(capture.taken)
    return Moments(tuple(names), tuple(spans))


@frozen
class ReadLogs:
    """What the logs are for one series: its logged steps, clauses that every state satisfies, and the counts."""

    logs: tuple[tuple[LoggedStep, ...], ...]
    limits: tuple[Clause, ...]
    counts: LogCounts


def steps_of(logs: Logs, moments: Moments, captures: Sequence[Capture], numbering: Numbering) -> ReadLogs:
    """Return what the logs show of a series.

    Raises:
        UsageError: All lines are from before or after the snapshots, or the time of an election contradicts them.
    """
    _check_elections(logs, moments, captures)
    unused: Counter[str] = Counter()
    limits = [clause for line in logs.lines for clause in _limits(line, numbering)]
    found: list[tuple[LoggedStep, ...]] = []
    met = 0
    window = moments.spans[0][0] - logs.source.tolerance, moments.spans[-1][1] + logs.source.tolerance
    inside = [line for line in logs.lines if window[0] <= line.time <= window[1]]
    _check_inside(logs, inside, moments)
    unused[Unused.OUTSIDE.value] = len(logs.lines) - len(inside)
    certain = moments.spans[-1][0] - logs.source.tolerance
    unseen = _shows_unseen((line for line in inside if line.time < certain), numbering)
    for thread, lines in sorted(logs.threads.items(), key=lambda each: (each[0][0], each[0][1].name, each[0][2])):
        steps: list[LoggedStep] = []
        nexts = [*(line.time for line in lines[1:]), float("inf")]
        for line, lowest, after in zip(lines, _lowest(lines, logs.source.tolerance), nexts, strict=True):
            if not window[0] <= line.time <= window[1]:
                continue
            met += 1
            drawn = _drawn(line, numbering, is_unordered=thread in logs.unordered, is_unseen=unseen)
            if isinstance(drawn, Unused):
                unused[drawn.value] += 1
                continue
            step = _step(line, (lowest, after), drawn, moments, logs.source.tolerance)
            if step is None or moments.is_unusable(line.time, logs.source.tolerance):
                unused[Unused.OUTSIDE.value] += 1
                continue
            steps.append(step)
        if steps:
            found.append(_monotone(steps))
    used = sum(map(len, found))
    unused[Unused.COPY.value] = sum(line.kind is not None for line in inside) - met
    unknown = Counter(_shape(line) for line in inside if line.kind is None)
    counts = LogCounts(
        len(logs.files),
        len(logs.lines),
        used,
        {why: count for why, count in unused.items() if count},
        dict(unknown.most_common()),
        tuple(_notes(logs, unseen, numbering)),
    )
    return ReadLogs(tuple(found), tuple(dict.fromkeys(limits)), counts)


def _lowest(lines: Sequence[BrokerLogLine], tolerance: float) -> Iterator[float]:
    """Yield for each line of a thread the time after which its step was taken.

    One write to ZooKeeper may be logged by several lines of the state machines: only pauses separate these.
    """
    opened, before, burst = -float("inf"), -float("inf"), -float("inf")
    for line in lines:
        assert line.kind is not None
        if line.time - before > tolerance:
            burst = before
        if line.kind.thread is LogThread.STATE_MACHINES:
            yield burst
        else:
            yield opened if line.kind.thread is LogThread.REPLICA_MANAGER else before
        opened, before = (line.time if line.kind.opens else opened), line.time


def _drawn(line: BrokerLogLine, numbering: Numbering, *, is_unordered: bool, is_unseen: bool) -> Drawn | Unused:
    assert line.kind is not None
    if isinstance(line.kind.draw, Unused):
        return line.kind.draw
    drawn = line.kind.draw(line.fields, numbering)
    if isinstance(drawn, Drawn) and is_unordered:
        return Unused.UNORDERED
    if isinstance(drawn, Drawn) and is_unseen and line.kind.is_about_topics:
        return Unused.UNSEEN
    return drawn


def _step(
    line: BrokerLogLine, between: tuple[float, float], drawn: Drawn, moments: Moments, tolerance: float
) -> LoggedStep | None:
    """Return the logged step; None if it may be before the first snapshot and has no effect that this would show.

    It is taken after the first of the two times, and before the second one if its line precedes it.
    """
    assert line.kind is not None
    lowest, after = between
    first = moments.ended(lowest - tolerance)
    latest = line.time + line.kind.slack
    last = moments.after((min(latest, after) if line.kind.precedes else latest) + tolerance)
    if moments.after(line.time + tolerance) == 0 or (first == 0 and not drawn.clauses):
        return None
    actions = drawn.actions or line.kind.actions
    return LoggedStep(
        name=line.place,
        text=line.message,
        actions=tuple(action.name for action in actions),
        arguments=drawn.arguments,
        clauses=drawn.clauses,
        before=drawn.before,
        first=first,
        last=last if last < len(moments.spans) else None,
        distinct=line.kind.distinct,
        standing=first == 0,
        events=drawn.events,
    )


def _monotone(steps: Sequence[LoggedStep]) -> tuple[LoggedStep, ...]:
    """Return steps whose first waypoints do not fall: a step is not taken before the one that is logged before it."""
    firsts = accumulate((step.first for step in steps), max)
    return tuple(evolve(step, first=first) for step, first in zip(steps, firsts, strict=True))


def _limits(line: BrokerLogLine, numbering: Numbering) -> Iterator[Clause]:
    """A controller epoch belongs to one broker, whenever it is elected."""
    named = _controller_of(line)
    if named is not None and named[1] in numbering.brokers:
        elected = ("zookeeper.controller", frozenset({NONE, numbering.brokers.index(named[1])}))
        epoch = named[0] - numbering.earlier_epochs
        yield (("zookeeper.controller_epoch", frozenset(range(EPOCHS)) - {epoch}), elected)


def _controller_of(line: BrokerLogLine) -> tuple[int, int] | None:
    """Return the controller epoch and the controller that a line names together; None if it does not."""
    if line.kind is ELECTED and line.broker is not None:
        return int(line.fields["epoch"]), line.broker
    return (int(line.fields["epoch"]), int(line.fields["sender"])) if line.kind is UPDATED else None


def _shows_unseen(lines: Iterable[BrokerLogLine], numbering: Numbering) -> bool:
    """Whether the topic was deleted or removed without a snapshot that shows it: its lines are of several topics."""
    if numbering.scope.deletion:
        return False
    gone = re.compile(rf"(?<![\w.-]){re.escape(numbering.topic)}(?![\w.-])")
    return any(
        gone.search(line.fields.get("topics", "") or line.fields.get("gone", ""))
        for line in lines
        if line.kind is not None and ("topics" in line.fields or "read" in line.fields)
    )


# Bad input.


def _check_inside(logs: Logs, inside: Sequence[BrokerLogLine], moments: Moments) -> None:
    if not inside:
        times = [line.time for line in logs.lines]
        raise UsageError(
            f"No line of the logs is from between the snapshots: the logs are from {_moment(min(times))} to "
            f"{_moment(max(times))}, and the snapshots from {_moment(moments.spans[0][0])} to "
            f"{_moment(moments.spans[-1][1])}. Name the logs of that time; if they are not in UTC, name their zone: "
            "--log-zone +02:00."
        )


def _check_elections(logs: Logs, moments: Moments, captures: Sequence[Capture]) -> None:
    """Hold elections and their times against the controllers and controller epochs of the snapshots."""
    last_first = zip(reversed(moments.names), reversed(captures), strict=True)
    shown = {c.controller_epoch: (name, c.controller) for name, c in last_first if c.controller is not None}
    for line in logs.lines:
        named = _controller_of(line)
        if named is not None:
            epoch, broker = named
            name, controller = shown.get(epoch, ("", broker))
            if controller != broker:
                raise UsageError(
                    f"{line.place} says that broker {broker} was elected with controller epoch {epoch}, and "
                    f"{printable(name, 200)} shows controller {controller} with that epoch. The logs are "
                    "of another cluster, or one of the two was changed. Name the logs of this cluster."
                )
        if line.kind is ELECTED and named is not None:
            epoch = named[0]
            below = [n for n, capture in enumerate(captures) if capture.controller_epoch < epoch]
            above = [n for n, capture in enumerate(captures) if capture.controller_epoch >= epoch]
            earliest = moments.spans[below[-1]][0] if below else -float("inf")
            latest = moments.spans[above[0]][1] if above else float("inf")
            if line.time + logs.source.tolerance < earliest or line.time > latest + LATE + logs.source.tolerance:
                raise _clock_error(line, epoch, moments, (below, above))


def _clock_error(line: BrokerLogLine, epoch: int, moments: Moments, places: tuple[list[int], list[int]]) -> UsageError:
    below, above = places
    known = [f"after {moments.names[below[-1]]} of {_moment(moments.spans[below[-1]][0])}"] if below else []
    known += [f"before {moments.names[above[0]]} of {_moment(moments.spans[above[0]][1])}"] if above else []
    return UsageError(
        f"{line.place} has the election of controller epoch {epoch} at {_moment(line.time)}, and the snapshots show "
        f"that it was {' and '.join(known)}. If the logs are not in UTC, name their zone: --log-zone +02:00; if the "
        "clocks differ, by how much: --log-tolerance SECONDS; if the logs are of another cluster, leave them out."
    )


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


# What is left over.


def _shape(line: BrokerLogLine) -> str:
    """Return what lines of one kind look like: a message without numbers, ids and what is in brackets."""
    text = re.sub(r"\b[\w-]{22}\b", "…", line.message)
    return re.sub(r"\d+", "N", re.sub(r"\([^()]*\)|\{[^{}]*\}", "(…)", text))[:80]


def _notes(logs: Logs, unseen: bool, numbering: Numbering) -> Iterator[str]:
    yield (
        f"Assumed: the clocks of brokers and snapshots differ by {logs.source.tolerance:g} s at most; the lines of "
        "each thread of a broker are in the order of its steps; those of different brokers or files have no order."
    )
    if unseen:
        gone = f"The logs show that topic {numbering.name} was deleted or removed, and no snapshot does"
        yield f"{gone}: its lines are not used."
    for broker, thread, _ in sorted(logs.unordered, key=str):
        yield f"The times in the logs of broker {broker} go back ({thread.value}): its lines are not used."
