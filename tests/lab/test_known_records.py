"""Known records: what logs have is read from their bytes, and what a plan lost, mixed or dropped is named."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kwalk.clusters.lab.brokers import record_batch, records_in
from kwalk.clusters.lab.cluster import LabBroker
from kwalk.clusters.lab.experiments.known_records import (
    Acknowledged,
    Entry,
    Ledger,
    differing,
    logs_in_backups,
    logs_on_disks,
    lost_copies,
    members_of,
    read_records,
    seen_damage,
    what_to_keep,
    wrong_records,
)
from kwalk.clusters.lab.experiments.operator_steps import move_away


def batch(offset: int, value: str) -> bytes:
    """A batch of one record, as a leader writes it."""
    return offset.to_bytes(8, "big") + record_batch(value.encode(), 1_000)[8:]


def log(*values: str):
    return {offset: Entry(value, 0, hash(value)) for offset, value in enumerate(values)}


def ledger(*values: str) -> Ledger:
    found = Ledger("t")
    found.acknowledged = [Acknowledged(0, offset, value) for offset, value in enumerate(values)]
    return found


def test_records_are_read_from_segments_with_their_offsets(tmp_path):
    (tmp_path / "00000000000000000000.log").write_bytes(batch(0, "first:1") + batch(1, "first:2"))
    (tmp_path / "00000000000000000005.log").write_bytes(batch(5, "second:1") + batch(6, "second:2")[:-1])
    found = read_records(tmp_path)
    assert {offset: entry.value for offset, entry in found.items()} == {0: "first:1", 1: "first:2", 5: "second:1"}
    assert found[5].origin == "second"
    assert list(records_in(batch(7, "v"))) == [(7, b"v")]


def test_logs_are_found_on_every_disk_and_in_backups(tmp_path):
    broker = LabBroker(1, "3.9.0", tmp_path / "broker-1", 2)
    places = (broker.data / "t-0", broker.folder / "data-2.failed" / "t-1", broker.data / "t-2", broker.data / "t-x-0")
    for place in places:
        place.mkdir(parents=True)
        (place / "00000000000000000000.log").write_bytes(batch(0, place.name))
    move_away(broker, broker.data / "t-2")
    lab = SimpleNamespace(brokers={1: broker}, folder=tmp_path)
    found = logs_on_disks(lab, "t")[1]
    assert {number: one[0].value for number, one in found.items()} == {0: "t-0", 1: "t-1"}
    assert [(number, one[0].value) for number, one in logs_in_backups(lab, "t")] == [(2, "t-2")]


NEW, OLD = ("second:1", "second:2"), ("first:1", "first:2", "first:3")
STALE = {1: {0: log(*NEW)}, 2: {0: log(*NEW)}, 3: {0: log(*OLD)}}
"""Broker 3 has the log of an earlier topic."""


def wrong(logs, isr=(1, 2, 3), *, origin="second", before=STALE, **more):
    written = ledger(*NEW)
    written.acknowledged += ledger(*OLD).acknowledged
    return wrong_records(what_to_keep(written, before, origin), written, logs, {0: isr}, **more)


def test_equal_logs_of_the_kept_topic_are_right():
    assert wrong({b: {0: log(*NEW)} for b in (1, 2, 3)}) == []
    assert wrong({b: {0: log(*NEW, "after:1")} for b in (1, 2)}, (1, 2)) == []
    assert wrong({b: {0: log(*OLD)} for b in (1, 2, 3)}, origin="first") == []
    assert wrong({b: {0: log("after:1")} for b in (1, 2, 3)}, origin=None) == []


@pytest.mark.parametrize(
    ("logs", "found"),
    [
        (STALE, ["acknowledged records are lost", "has records of first", "differs from broker 1 at offset 0"]),
        ({**STALE, 3: {}}, ["in the ISR without a log"]),
        ({**STALE, 3: {0: log(NEW[0])}}, ["None in place of 'second:2' at offset 1"]),
        ({**STALE, 3: {0: log(*NEW, "first:3")}}, ["has records of first"]),
        ({b: {0: log("after:1")} for b in (1, 2, 3)}, ["acknowledged records are lost"] * 3),
    ],
)
def test_what_is_lost_foreign_or_different_is_named(logs, found):
    shown = wrong(logs)
    assert len(shown) == len(found)
    assert all(part in line for part, line in zip(found, shown, strict=True))


def test_losses_are_allowed_where_records_may_be_lost_and_foreign_records_are_not():
    shorter = {b: {0: log(NEW[0])} for b in (1, 2)}
    assert wrong(shorter, (1, 2), may_lose=True) == []
    assert len(wrong({b: {0: log("second:1", "first:2")} for b in (1, 2)}, (1, 2), may_lose=True)) == 2


def test_nothing_may_lose_all_records_of_a_partition():
    empty = {b: {0: log("after:1")} for b in (1, 2)}
    assert wrong(empty, (1, 2), may_lose=True) == ["t-0: all acknowledged records are lost"]


def test_a_record_of_a_probe_belongs_to_the_log_that_has_it():
    written = ledger("first:1", "damaged:1")
    joined = {1: {0: log("first:1", "damaged:1")}}
    assert what_to_keep(written, joined, "first").origins[0] == {"first", "damaged", "after"}
    assert "damaged" not in what_to_keep(written, joined, "second").origins[0]
    assert "damaged" in what_to_keep(written, {1: {0: log("damaged:1")}}, "second").origins[0]


def test_acknowledged_records_that_no_disk_has_any_more_are_lost_by_the_damage():
    kept = what_to_keep(ledger(*OLD), {2: {0: log(*OLD[:2])}}, "first")
    assert [one.value for one in kept.records] == ["first:1", "first:2"]
    assert [one.value for one in kept.lost] == ["first:3"]


def test_every_copy_is_on_a_disk_or_in_a_backup():
    kept = what_to_keep(ledger(*NEW), STALE, "second")
    now = {b: {0: log(*NEW)} for b in (1, 2, 3)}
    assert lost_copies(kept, now, [(0, log(*OLD))]) == []
    assert lost_copies(kept, now, []) == ["partition 0: no copy is left of 3 records"]


def test_the_leader_of_a_partition_comes_first():
    assert members_of({0: {"isr": [3, 1, 2], "leader": 2}}) == {0: [2, 3, 1]}


def test_damage_is_seen_without_an_inspection():
    def seen(isr, logs, live=(1, 2, 3), replicas=(1, 2, 3)):
        return seen_damage("t", {0: replicas}, {0: {"isr": isr, "leader": isr[0]}}, logs, live)

    same = {b: {0: log(*NEW)} for b in (1, 2, 3)}
    assert seen([1, 2, 3], same) == []
    assert seen([1, 2], same) == ["t-0: broker 3 is up and not in the ISR"]
    assert seen([1, 2], same, (1, 2)) == []
    assert seen([1, 2, 3], same, (1, 2)) == ["t-0: broker 3 is in the ISR and down"]
    assert seen([1, 3], same, replicas=(1,)) == ["t-0: broker 3 is in the ISR and no replica"]
    assert seen([1, 3], STALE, replicas=(1, 3)) == ["t-0: brokers 1 and 3 of the ISR differ at offset 0"]
    mixed = {1: {0: log("first:1", "second:2")}}
    assert seen([1], mixed, (1,), (1,)) == ["t-0: broker 1 has records of first and second"]
    assert differing(log(*NEW), log(*NEW, "x")) is None
