"""The examples with something to find: it is found, and the shortest way to it is as long as the source says."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.paxos import PAXOS
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.synod import SYNOD
from kwalk.model.examples.tower_of_hanoi import TOWER_OF_HANOI
from tests.examples.plain_search import space_of
from tests.examples.test_large_published_counts import length_of, searched

TRACE_LENGTHS = """\
capacity,producers,consumers,steps
1,1,2,7
1,2,1,8
1,1,3,8
1,2,2,8
1,3,1,9
1,1,4,9
1,4,1,10
2,1,4,13
2,2,3,21
2,3,2,23
2,4,1,15
"""
"""Rows of lemmy/BlockingQueue, R/TraceLength.csv: the steps to a deadlock."""


def test_four_gallons_take_six_steps() -> None:
    assert space_of(DIE_HARD).violation("not_solved") == [
        "fill_big()",
        "big_to_small()",
        "empty_small()",
        "big_to_small()",
        "fill_big()",
        "big_to_small()",
    ]


def test_an_update_is_lost_when_both_threads_read_before_either_writes() -> None:
    way = space_of(LOST_UPDATE, threads=2).violation("nothing_is_lost")
    assert way is not None
    assert [step.split("(")[0] for step in way] == ["read", "read", "write", "write"]


def test_with_a_lock_no_update_is_lost() -> None:
    space = space_of(LOST_UPDATE, "lock", threads=3)
    assert space.violation("counts_every_increment") is None
    assert space.violation("nothing_is_lost") is None


@pytest.mark.parametrize("disks", [1, 2, 3, 4, 5])
def test_a_tower_of_n_disks_takes_two_to_the_n_minus_one_moves(disks: int) -> None:
    space = space_of(TOWER_OF_HANOI, disks=disks, pegs=3)
    way = space.violation("not_solved")
    assert way is not None
    assert (len(way), space.distinct) == (2**disks - 1, 3**disks)


@pytest.mark.parametrize("row", list(csv.DictReader(StringIO(TRACE_LENGTHS))), ids=lambda row: "-".join(row.values()))
def test_a_queue_with_one_wait_set_deadlocks_after_as_many_steps_as_published(row: dict[str, str]) -> None:
    capacity, producers, consumers = int(row["capacity"]), int(row["producers"]), int(row["consumers"])
    space = space_of(BLOCKING_QUEUE, capacity=capacity, producers=producers, threads=producers + consumers)
    way = space.violation("somebody_runs")
    assert way is not None
    assert len(way) == int(row["steps"])
    assert space.way_to(space.deadlocks[0]) == way


def test_two_producers_and_a_consumer_have_two_deadlocked_states() -> None:
    assert len(space_of(BLOCKING_QUEUE, capacity=1, producers=2, threads=3).deadlocks) == 2


@pytest.mark.parametrize("capacity", [1, 2])
@pytest.mark.parametrize("threads", [2, 3, 4, 5])
def test_a_queue_deadlocks_exactly_where_two_buffers_are_less_than_the_threads(capacity: int, threads: int) -> None:
    for producers in range(1, threads):
        space = space_of(BLOCKING_QUEUE, capacity=capacity, producers=producers, threads=threads)
        assert bool(space.deadlocks) == (2 * capacity < threads)


@pytest.mark.parametrize("threads", [3, 4, 5])
def test_a_queue_with_two_wait_sets_never_deadlocks(threads: int) -> None:
    for producers in range(1, threads):
        space = space_of(BLOCKING_QUEUE, "two-wait-sets", capacity=1, producers=producers, threads=threads)
        assert not space.deadlocks


TOPIC_ID_SIZES = {"brokers": 2, "partitions": 2, "topic_ids": 3, "failovers": 1, "restarts": 1}


@pytest.mark.parametrize(("invariant", "bad_states"), [("disk_matches_znode", 2_606), ("leaders_when_settled", 74)])
def test_the_topic_id_bug_spoils_as_many_states_as_other_checkers_say(invariant: str, bad_states: int) -> None:
    space = space_of(REFERENCE, None, **TOPIC_ID_SIZES)
    (prop,) = space.model.properties_of(invariant)
    assert sum(space.model.violates(prop, vector) for vector in space.reached) == bad_states


def test_the_topic_id_bug_shows_after_three_steps() -> None:
    way = space_of(REFERENCE, None, **TOPIC_ID_SIZES).violation("disk_matches_znode")
    assert way is not None
    assert len(way) == 3


def test_servers_that_forget_their_promises_decide_twice_and_clients_notice() -> None:
    verdict = searched(PAXOS, "forgetful", servers=3, clients=2, ballots=4, majority=2)
    found = {finding.prop: (finding.count, finding.trace and finding.trace.length) for finding in verdict.findings}
    assert found == {"servers_agree()": (3_330, 10), "linearizable()": (180, 17)}


def test_acceptors_that_forget_their_promises_choose_two_values() -> None:
    verdict = searched(SYNOD, "forgetful", acceptors=3, values=2, ballots=2)
    (finding,) = (finding for finding in verdict.findings if finding.prop == "one_value_chosen()")
    assert finding.trace is not None
    assert (finding.count, finding.trace.length) == (2_560, 12)
    assert length_of(verdict, "promises_are_kept") == 2
