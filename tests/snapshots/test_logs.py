"""Logs of brokers beside snapshots: what they exclude, what is refused, and what becomes of every line.

The history is from `kwalk lab fuzz` on 3.9.0: a topic is created, the session of broker 3 expires, the topic is
deleted. The snapshots alone are explained by a reassignment that never happened.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from kwalk.model.kafka.snapshots.log_lines import KINDS, LogThread
from kwalk.model.kafka.snapshots.logs import read_logs
from kwalk.model.kafka.snapshots.series import read_series
from kwalk.model.language import UsageError
from kwalk.model.language.series import LogSource, Series
from kwalk.reports.command_line import main
from kwalk.reports.handlers.explain import explained, model_of
from kwalk.reports.handlers.target import scenario_with
from kwalk.reports.pages.explanation import ReportedExplanation, explanation_object, headline, log_sentences, sentences
from kwalk.search.analyses.explain.explain import ExplainOptions, Fit

HISTORY = Path(__file__).parent / "histories" / "expired-session-with-logs"
LOGS = HISTORY / "logs"
ALL = slice(0, 3)
DELETION = slice(1, 3)
"""The snapshots before and after the deletion."""
ELECTED = (
    "INFO [Controller id={0}] {0} successfully elected as the controller. Epoch incremented to {1} and epoch zk version"
)


def snapshots(which: slice = ALL) -> list[bytes]:
    """The snapshots of the history."""
    documents: list[dict[str, Any]] = json.loads((HISTORY / "snapshots.json").read_text("utf-8"))
    return [json.dumps(document).encode() for document in documents[which]]


def series_with(logs: Path | None = LOGS, which: slice = ALL, **options: float) -> Series:
    """The series of the history, with logs or without."""
    names = ["created", "expired", "deleted"][which]
    (found,) = read_series(snapshots(which), names, None if logs is None else LogSource(str(logs), **options))
    return found


def report_of(series: Series, **options: Any) -> ReportedExplanation:
    """What `kwalk diagnose --explain` reports."""
    _, scenario = scenario_with("read_series")
    (report,) = explained([(model_of(scenario, series, None), series)], ExplainOptions(**options))
    return report


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A copy of the logs, to be changed."""
    return shutil.copytree(LOGS, tmp_path / "logs")


def change(path: Path, by: Callable[[list[str]], list[str]]) -> None:
    """Change the lines of a file."""
    lines = path.read_text("utf-8").splitlines()
    changed = by(list(lines))
    assert changed != lines
    path.write_text("".join(f"{line}\n" for line in changed), "utf-8")


# What logs exclude.


def test_logs_exclude_a_behaviour_that_the_snapshots_alone_permit() -> None:
    alone, both = report_of(series_with(None)), report_of(series_with())
    assert alone.fit is both.fit is Fit.EXPLAINED
    assert any(key.startswith("reassign_to_list") for key in alone.trace.actions)
    taken = list(both.trace.actions)
    excluded = ("reassign_to", "alter", "stop(", "crash(")
    assert "expire_session(2)" in taken and not any(key.startswith(excluded) for key in taken)
    assert headline(both).startswith("3 snapshots and 12 log lines, ")
    shown = explanation_object(both, None)
    logged = [line["text"] for snapshot in shown["snapshots"] for line in snapshot["logged"]]
    assert len(logged) == shown["log_lines"]["used"] == 12
    assert "[ZooKeeperClient Kafka server] Session expired." in logged
    notes = [aside for step in both.story_with_snapshots.steps for aside in step.asides]
    assert any(note.startswith("logged: broker-3/server.log:1, 12:12:53.417 UTC: ") for note in notes)


def test_a_line_that_no_behaviour_has_is_refuted_and_named(logs: Path) -> None:
    def twice(lines: list[str]) -> list[str]:
        done = next(place for place, line in enumerate(lines) if "successfully completed" in line)
        return [*lines[: done + 1], lines[done].replace("58,113", "58,114"), *lines[done + 1 :]]

    change(logs / "broker-1" / "controller.log", twice)
    series = evolve(series_with(logs, DELETION, tolerance=0.001), wider=None)
    report = report_of(series, events=1)
    assert (report.fit, report.without_logs) == (Fit.REFUSED, Fit.EXPLAINED)
    (step,) = report.explanation.mismatch.not_taken
    assert step.text == "[Topic Deletion Manager 1] Deletion of topic h0 successfully completed"
    assert step.text in headline(report)
    assert "A behaviour fits the snapshots without the logs: the log lines are what none fits." in sentences(report)
    unsure = " ".join(sentences(evolve(report, without_logs=Fit.UNDECIDED)))
    assert "Whether a behaviour fits the snapshots without the logs was not decided" in unsure
    assert explanation_object(report, None)["mismatch"]["log_lines"][0]["text"] == step.text


def test_an_election_that_a_snapshot_contradicts_is_refused(logs: Path) -> None:
    line = f"[2026-11-23 12:12:40,000] {ELECTED.format(2, 1)} is now 1"
    change(logs / "broker-2" / "state-change.log", lambda lines: [line, *lines])
    with pytest.raises(UsageError, match=r"2 was elected with controller epoch 1, and created shows controller 1"):
        series_with(logs)


# Windows.


def test_a_line_near_a_snapshot_is_due_at_the_next_one_only() -> None:
    due = {step.text: (step.first, step.last) for log in series_with(which=ALL).logs for step in log}
    near = {step.text: (step.first, step.last) for log in series_with(which=ALL, tolerance=4.0).logs for step in log}
    expired = "[ZooKeeperClient Kafka server] Session expired."
    assert due[expired] == (0, 1) and near[expired] == (0, 2)


def test_a_line_that_precedes_its_writes_is_due_later_unless_another_line_follows(logs: Path) -> None:
    begins = "[Controller id=1] Starting topic deletion for topics h0"

    def due(series: Series) -> list[int | None]:
        return [step.last for log in series.logs for step in log if step.text.startswith(begins)]

    assert due(series_with(logs, tolerance=0.5)) == [2]
    change(logs / "broker-1" / "controller.log", lambda lines: [line for line in lines if begins in line])
    assert due(series_with(logs, tolerance=0.5)) == [None]


def test_what_may_have_happened_before_the_first_snapshot_is_required_only_if_it_does_not_show_it() -> None:
    steps = [step for log in series_with().logs for step in log]
    assert all(step.clauses for step in steps if step.standing)
    assert any(step.standing for step in steps)


def test_of_two_lines_of_one_thread_the_later_one_does_not_come_first() -> None:
    for log in series_with().logs:
        assert [step.first for step in log] == sorted(step.first for step in log)


# Every line is accounted for.


def test_every_line_between_the_snapshots_is_used_or_named() -> None:
    counts = series_with().log_counts
    everything = counts.used + sum(counts.unused.values()) + sum(counts.unknown.values())
    assert counts.lines == everything == sum(len(path.read_text().splitlines()) for path in LOGS.rglob("*.log"))
    assert counts.files == 6
    assert any(shape.startswith("[Controller id=N epoch=N] Sending UpdateMetadata") for shape in counts.unknown)
    text = " ".join(log_sentences(series_with()))
    assert f"Of {counts.lines} log lines in 6 files, 12 are observations" in text
    assert "Not understood: " in text


def test_a_line_in_the_pattern_of_another_layout_is_read_and_a_stack_trace_continues_a_line(logs: Path) -> None:
    path = logs / "broker-3" / "server.log"

    def other_layout(lines: list[str]) -> list[str]:
        return [line.replace("[2026-11-23 ", "2026-11-23 ").replace("] INFO ", " INFO main ") for line in lines]

    change(path, other_layout)
    path.write_text(path.read_text() + "java.io.IOException: Connection failed.\n\tat Main.run(Main.java:1)\n")
    other, counts = series_with(logs).log_counts, series_with().log_counts
    assert (other.lines, other.used, other.unused) == (counts.lines, counts.used, counts.unused)


def test_copies_of_a_file_count_once(logs: Path) -> None:
    shutil.copy(logs / "broker-1" / "controller.log", logs / "controller.log.2026-11-23-12")
    counts = series_with(logs).log_counts
    assert counts.used == series_with().log_counts.used
    assert counts.unused["that are copies, or of no known broker"] == 5


def test_a_log_whose_times_go_back_is_not_used_and_named(logs: Path) -> None:
    change(logs / "broker-1" / "controller.log", lambda lines: lines[::-1])
    counts = series_with(logs).log_counts
    assert counts.unused["of logs whose times go back"] >= 3
    assert any("The times in the logs of broker 1 go back" in note for note in counts.notes)


def test_a_deletion_that_no_snapshot_shows_makes_the_lines_of_the_topic_useless(logs: Path) -> None:
    before = series_with(logs, slice(0, 2)).log_counts
    assert not any("was deleted or removed" in note for note in before.notes)
    line = "[2026-11-23 12:12:54,140] INFO [Controller id=1] Starting topic deletion for topics a,h0"
    change(logs / "broker-1" / "controller.log", lambda lines: sorted([*lines, line]))
    after = series_with(logs, slice(0, 2)).log_counts
    assert after.used < before.used
    assert any("topic h0 was deleted or removed, and no snapshot does" in note for note in after.notes)


@pytest.mark.parametrize(
    ("text", "thread"),
    [
        (
            "[Controller id=2] 2 successfully elected as the controller. Epoch incremented to 5 and epoch zk version "
            "is now 5",
            LogThread.CONTROLLER,
        ),
        (
            "[Controller id=1] New partitions to be added Map(t-1 -> ReplicaAssignment(replicas=2,3,1, addingReplicas="
            ", removingReplicas=))",
            LogThread.CONTROLLER,
        ),
        (
            "[Controller id=1 epoch=1] Changed partition t-0 from NewPartition to OnlinePartition with state "
            "LeaderAndIsr(leader=1, leaderEpoch=0, isr=List(1, 2), zkVersion=0)",
            LogThread.STATE_MACHINES,
        ),
        (
            "[Broker id=1] Leader t-0 starts at leader epoch 0 from offset 0 with high watermark 0 ISR [1,2] "
            "addingReplicas [] removingReplicas []. Previous leader epoch was -1.",
            LogThread.REPLICA_MANAGER,
        ),
        (
            "[Broker id=2] Follower t-0 starts at leader epoch 0 from offset 0 with high watermark 0. Previous leader "
            "epoch was -1.",
            LogThread.REPLICA_MANAGER,
        ),
        (
            "[Broker id=1] Topic Id in memory: hbcto079Q-K_O7AoNlw-Ig does not match the topic Id for partition t-0 "
            "provided in the request: Pqrqr_79RhOXno-3awWyMw.",
            LogThread.REPLICA_MANAGER,
        ),
        (
            "[Broker id=1] Topic ID in memory: hbcto079Q-K_O7AoNlw-Ig does not match the topic ID for partition t-0 "
            "received: Pqrqr_79RhOXno-3awWyMw.",
            LogThread.REPLICA_MANAGER,
        ),
        ("[KafkaServer id=3] shut down completed", LogThread.SERVER),
        (
            "[Broker id=1] Add 0 partitions and deleted 1 partitions from metadata cache in response to UpdateMetadata "
            "request sent by controller 1 epoch 1 with correlation id 8",
            LogThread.REPLICA_MANAGER,
        ),
        ("[Partition t-0 broker=1] ISR updated to 1,3,2 and version updated to [2]", LogThread.ISR),
        ("[Partition t-0 broker=1] ISR updated to 1,2  and version updated to 5", LogThread.ISR),
        ("[Partition t-0 broker=1] ISR updated to 1 (under-min-isr) and version updated to 5", LogThread.ISR),
        ("Created log for partition t-0 in /data/t-0 with properties {}", LogThread.LOGS),
        (
            "Log for partition t-0 is renamed to /data/t-0.d3843d1a4ff24c07aaa894905a731699-delete and is scheduled "
            "for deletion",
            LogThread.LOGS,
        ),
    ],
)
def test_lines_as_2_8_2_and_3_9_0_write_them_are_understood_once(text: str, thread: LogThread) -> None:
    (kind,) = [kind for kind in KINDS if kind.match(text) is not None]
    assert kind.thread is thread


# Bad input.


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(UsageError, match=r"No logs of brokers are in .*controller\.log, state-change\.log or server"):
        series_with(tmp_path)
    with pytest.raises(UsageError, match="is no folder"):
        series_with(tmp_path / "absent")


def test_logs_without_times_are_refused(tmp_path: Path) -> None:
    (tmp_path / "controller.log").write_text("INFO [Controller id=1] Resigned\n")
    with pytest.raises(UsageError, match=r"No line of the 1 logs in .* begins with a time"):
        series_with(tmp_path)


def test_logs_of_another_time_are_refused_with_both_times(logs: Path) -> None:
    for path in logs.rglob("*.log"):
        path.write_text(path.read_text().replace("[2026-11-23 ", "[2025-11-23 "))
    with pytest.raises(UsageError, match=r"logs are from 2025-11-23 12:12:.* snapshots from 2026-11-23 .*--log-zone"):
        series_with(logs)


def test_logs_in_another_time_zone_are_read_with_it_and_refused_without(logs: Path) -> None:
    for path in logs.rglob("*.log"):
        path.write_text(path.read_text().replace("[2026-11-23 12:", "[2026-11-23 14:"))
    with pytest.raises(UsageError, match="--log-zone"):
        series_with(logs)
    assert series_with(logs, zone=7200.0).log_counts.used == series_with().log_counts.used


def test_a_controller_that_a_broker_heard_of_and_a_snapshot_contradicts_is_refused(logs: Path) -> None:
    text = "in response to UpdateMetadata request sent by controller 2 epoch 1 with correlation id 8"
    added = "Add 0 partitions and deleted 1 partitions from metadata cache"
    line = f"[2026-11-23 12:12:40,000] INFO [Broker id=3] {added} {text}"
    change(logs / "broker-3" / "state-change.log", lambda lines: [line, *lines])
    with pytest.raises(UsageError, match=r"2 was elected with controller epoch 1, and created shows controller 1"):
        series_with(logs)


def lines_of(logs: Path, *texts: str) -> Series:
    """The series with more lines in the log of broker 3, between the last snapshots."""
    lines = [f"[2026-11-23 12:12:54,{100 + n}] INFO {text}" for n, text in enumerate(texts)]
    change(logs / "broker-3" / "server.log", lambda others: [*others, *lines])
    return series_with(logs)


def test_lines_of_isrs_and_logs_of_partitions_are_observations(logs: Path) -> None:
    deleted = "Log for partition h0-0 is renamed to /data/h0-0.a-delete and is scheduled for deletion"
    moved = "Created log for partition h0-0 in /data/h0-0.a-future with properties {} (kafka.log.LogManager)"
    found = lines_of(
        logs,
        f"{deleted} (kafka.log.LogManager)",
        moved,
        "Created log for partition h0-1 in /data/h0-1 (other.Logger)",
        "[Partition h0-0 broker=3] ISR updated to 1,3 and version updated to [4] (kafka.cluster.Partition)",
        "[Partition h0-0 broker=3] ISR updated to 1,2,3 and version updated to [5] (kafka.cluster.Partition)",
    )
    steps = [step for log in found.logs for step in log if "broker-3/server" in step.name]
    new = {step.text: step for step in steps if "h0-0" in step.text}
    assert set(new) == {deleted, "[Partition h0-0 broker=3] ISR updated to 1,3 and version updated to [4]"}
    gone = new[deleted]
    assert (gone.actions, gone.arguments) == (("handle_stop_replica",), {"broker": 2})
    assert gone.clauses[0][0] == ("brokers[2].replicas[0][0].on_disk", frozenset({0}))
    assert new["[Partition h0-0 broker=3] ISR updated to 1,3 and version updated to [4]"].clauses == (
        (("zookeeper.topics[0].states[0].isr{1}", frozenset({0})),),
    )


def test_an_election_at_a_time_that_the_snapshots_exclude_is_refused(logs: Path) -> None:
    line = f"[2026-11-23 12:12:54,000] {ELECTED.format(1, 7)} is now 7"
    change(logs / "broker-1" / "controller.log", lambda lines: [*lines, line])
    with pytest.raises(UsageError, match=r"controller epoch 7 at 2026-11-23 12:12:54 UTC, .* after deleted"):
        series_with(logs)


def test_snapshots_without_times_are_refused_with_logs() -> None:
    documents = [json.loads(text) for text in snapshots()]
    del documents[1]["taken"]
    with pytest.raises(UsageError, match="second does not say when it was taken"):
        read_series([json.dumps(d).encode() for d in documents], ["first", "second", "third"], LogSource(str(LOGS)))


def test_options_about_logs_need_logs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", "--explain", "a.json", "--log-zone", "+02:00"]) == 2
    assert "--log-tolerance and --log-zone are about the logs of --logs DIR" in capsys.readouterr().err
    assert main(["diagnose", "--explain", "a.json", "--logs", "logs", "--log-zone", "CET"]) == 2
    assert "'CET' is not +HH:MM" in capsys.readouterr().err


def test_the_broker_of_a_line_without_one_is_that_of_its_file() -> None:
    read = read_logs(LogSource(str(LOGS)))
    assert {line.broker for line in read.lines if line.file == "broker-3/server.log"} == {3}


def test_the_deletion_of_an_earlier_life_is_no_step_of_the_next_one(tmp_path: Path) -> None:
    """The snapshot in between was begun within a second of it: by the clocks it may come after the snapshot."""
    lines = [
        "INFO [Topic Deletion Manager 1] Deletion of topic h16 successfully completed",
        "INFO [Controller id=1 epoch=2] Partition h16-0 state changed to (Leader:-1,ISR:3,2,LeaderEpoch:2,ZkVersion:3,"
        "ControllerEpoch:2) after removing replica 1 from the ISR as part of transition to OfflineReplica",
    ]
    (tmp_path / "state-change.log").write_text("".join(f"[2026-11-23 20:30:40,883] {line}\n" for line in lines))
    documents = json.loads((HISTORY.parent / "deleted-and-created-at-once.json").read_text("utf-8"))
    found = read_series([json.dumps(one).encode() for one in documents], logs=LogSource(str(tmp_path)))
    assert [[step.text for log in one.logs for step in log] for one in found] == [
        sorted((line.removeprefix("INFO ") for line in lines), reverse=True),
        [],
    ]
