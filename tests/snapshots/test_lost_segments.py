"""The log of the only ISR member has lost segments, and replicas outside of the ISR have their records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from kwalk.search.analyses.recovery import plan_recovery
from tests.snapshots.test_combined_damages import IDS, log, problem, ways_out
from tests.snapshots.test_strangers import state
from tests.snapshots.test_strangers_foreseen import alone, down, found

SEGMENTS = {0: 5000, 100: 5000, 200: 3000}
"""The sizes of the segments of a whole log, by base offset."""
EPOCHS = ((0, 0), (3, 110), (5, 210))
WHOLE = 220
"""The end of a whole log."""


def of_segments(bases: Sequence[int], epochs: Sequence[tuple[int, int]] = EPOCHS, end: int = WHOLE) -> dict[str, Any]:
    """A log with some segments, whose leader epochs a checkpoint has, closed at an end."""
    first = max(epoch for epoch, start in EPOCHS if start <= bases[0])
    batch = {"base_offset": bases[0], "leader_epoch": first, "timestamp": 1 + bases[0], "crc": 7 + bases[0]}
    files = {f"{base:020}.log": SEGMENTS[base] for base in bases}
    own = {"files": files, "first_batch": batch, "high_watermark": end, "recovery_point": end}
    return {**log(IDS["orders"], epochs), **own}


def only_member(member: dict[str, Any], *, runs: bool, others_run: bool, release: str = "3.9.0") -> dict[str, Any]:
    """Broker 1 is the only ISR member; brokers 2 and 3 have the whole log."""
    snapshot = alone(release)
    for number, own in {"1": member, "2": of_segments([*SEGMENTS]), "3": of_segments([*SEGMENTS])}.items():
        snapshot["brokers"][number]["dirs"]["orders-0"] = own
    last = max(int(line.split()[0]) for line in member["leader_epoch_checkpoint"].split("\n")[2:] if line)
    state(snapshot).update(isr=[1], leader=1 if runs else -1, leader_epoch=last if runs else last + 1)
    down(snapshot, *([] if runs else [1]), *([] if others_run else [2, 3]))
    return snapshot


CUT_AFTER_RETENTION = ((0, 100), (3, 110), (5, 210))
LOST = {
    "the beginning": of_segments([100, 200]),
    "all but the last": of_segments([200]),
    "the middle": of_segments([0, 200]),
    "the end, and led again": of_segments([0, 100], ((0, 0), (3, 110), (7, 200)), end=206),
    "nearly all, and led again": of_segments([0], ((0, 0), (7, 100)), end=106),
}
"""What a log has that has lost segments: checkpoints and bytes of copies show it."""


@pytest.mark.parametrize("others_run", [True, False])
@pytest.mark.parametrize("what", LOST)
def test_an_isr_member_that_has_lost_segments_does_not_lead_in_a_safe_plan(what: str, others_run: bool) -> None:
    """The others truncate what differs, and delete what is before its beginning: seen on brokers."""
    snapshot = only_member(LOST[what], runs=False, others_run=others_run)
    lacking = found(snapshot)["isr-member-lacks-records"]
    assert "the log of broker 1 lacks records from offset" in lacking.detail
    assert "do not start broker 1: its log of orders-0 lacks records from" in ways_out(snapshot)["no-live-isr"]
    recovery = plan_recovery(problem(snapshot), seconds=60)
    assert recovery.plan is None
    lossy = [one for one in recovery.alternatives if one.plan is not None]
    assert lossy and all(one.problem.premise.endswith("acknowledged records may be lost") for one in lossy)
    steps = [one.name for one in lossy[0].plan.procedures] if lossy[0].plan else []
    assert "start-broker 1" not in steps and "elect-unclean" in " ".join(steps)


@pytest.mark.parametrize("what", LOST)
def test_the_records_that_a_leader_has_lost_are_copied_before_a_broker_starts(what: str) -> None:
    ways = ways_out(only_member(LOST[what], runs=True, others_run=False))
    assert "before broker 2 starts, copy orders-0 there to another place" in ways["replica-has-lost-records"]


def test_retention_moves_the_first_leader_epoch_with_the_beginning() -> None:
    """LeaderEpochFileCache.truncateFromStart: nothing else tells it from a beginning that was lost."""
    cut = of_segments([100, 200], CUT_AFTER_RETENTION)
    snapshot = only_member(cut, runs=False, others_run=True)
    known = plan_recovery(problem(snapshot), seconds=60)
    assert known.plan is not None and [one.name for one in known.plan.procedures] == ["start-broker 1"]
    assert known.problem.premise.endswith("was deleted by retention or on purpose")
    assert found(only_member(cut, runs=True, others_run=True)).keys() == {"catching-up"}


@pytest.mark.parametrize("others_run", [True, False])
def test_what_is_before_the_beginning_of_a_leader_s_log_goes_as_others_start(others_run: bool) -> None:
    """Those that follow the leader have deleted it. The topic's id is missing, so that there is something to plan."""
    snapshot = only_member(of_segments([100, 200], CUT_AFTER_RETENTION), runs=True, others_run=others_run)
    snapshot["topics"]["orders"]["znode"].update(version=1, topic_id=None)
    condition = "the beginning of orders-0, which brokers 2 and 3 have, was deleted by retention or on purpose"
    assert problem(snapshot).premise.endswith(condition) is not others_run


def test_a_replica_that_ends_where_segments_are_missing_lacks_nothing() -> None:
    snapshot = only_member(LOST["nearly all, and led again"], runs=False, others_run=True)
    for number in ("2", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = of_segments([0], EPOCHS[:1], end=90)
    recovery = plan_recovery(problem(snapshot), seconds=60)
    assert recovery.plan is not None and [one.name for one in recovery.plan.procedures] == ["start-broker 1"]


def test_a_replica_that_ends_amid_missing_segments_has_records_that_are_missing() -> None:
    """Both begin a segment at 0, the replica another one at 100, and the leader one at 200, with too few bytes."""
    snapshot = only_member(LOST["the middle"], runs=False, others_run=True)
    for number in ("2", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"] = of_segments([0, 100], EPOCHS[:2], end=120)
    assert "lacks records from offset 0 on" in found(snapshot)["isr-member-lacks-records"].detail
    assert plan_recovery(problem(snapshot), seconds=60).plan is None
    rolled = {f"{0:020}.log": 10_100, f"{200:020}.log": 3000}  # the leader has all, and rolled no segment at 100
    snapshot["brokers"]["1"]["dirs"]["orders-0"]["files"] = rolled
    assert "isr-member-lacks-records" not in found(snapshot)


def test_sizes_of_what_a_cleaner_may_have_rewritten_show_nothing() -> None:
    snapshot = only_member(LOST["the middle"], runs=False, others_run=True)
    snapshot["topics"]["orders"]["cleanup_policy"] = "compact"
    assert "isr-member-lacks-records" not in found(snapshot)


def test_what_a_former_leader_had_not_committed_is_no_loss() -> None:
    """The ISR member was elected before it had the end, which no high watermark covers."""
    snapshot = only_member(of_segments([0, 100], ((0, 0), (3, 110), (7, 200)), end=206), runs=False, others_run=True)
    for number in ("2", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"].update(high_watermark=200, recovery_point=200)
    assert "isr-member-lacks-records" not in found(snapshot)


@pytest.mark.parametrize("cleaned", [None, 0])
def test_what_bytes_show_is_a_condition_of_what_is_given_up(cleaned: int | None) -> None:
    """A cleaner makes copies smaller: who has another replica lead must know that none has been here."""
    member = of_segments([*SEGMENTS])
    member["files"][f"{0:020}.log"] -= 3500
    snapshot = only_member(member, runs=False, others_run=True)
    for number in ("1", "2", "3"):
        snapshot["brokers"][number]["dirs"]["orders-0"]["cleaned"] = cleaned
    best = plan_recovery(problem(snapshot), seconds=60)
    planned = [one.problem.premise for one in (best, *best.alternatives) if one.plan is not None]
    assert planned
    for premise in planned:
        assert ("no cleaner has rewritten the logs of orders" in premise) is (cleaned is None), premise
