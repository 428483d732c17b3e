"""What `kwalk diagnose` says where min.insync.replicas refuses producers, or an unclean election is ahead.

As in `ways_out`, whose rounds these are. A round fails if producers with acks=all are not refused as it says, or if a
broker outside the ISR is elected after its advice.
"""

from __future__ import annotations

import re
from functools import partial

from attrs import evolve

from kwalk.clusters.lab.experiments.damages import FIRST, Scene
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.experiments.recoveries import DEAD, RELEASES
from kwalk.clusters.lab.experiments.ways_out import Advised, advised, numbers_in, read
from kwalk.clusters.lab.experiments.ways_out_of_replicas import (
    SLOW,
    THREE,
    free_fetches,
    hold_fetches,
    reassign,
)
from kwalk.clusters.lab.processes import wait_until
from kwalk.model.kafka.snapshots.capture import MIN_IN_SYNC, UNCLEAN_ELECTIONS
from kwalk.model.language import KwalkError

REFUSED = "NOT_ENOUGH_REPLICAS"
START = re.compile(r"start brokers? ([\d, and]+)")
ADD = re.compile(r"\S+-(\d+) has fewer replicas: add some")
LOWER = re.compile(rf"{re.escape(MIN_IN_SYNC)} of the topic can be lowered")
FALSE = re.compile(rf"set {re.escape(UNCLEAN_ELECTIONS)} of (\S+) to false")
MEMBER_FIRST = re.compile(r"bring an ISR member of \S+-(\d+) back before any other broker starts")

# Damages.


def few_in_sync(scene: Scene, *, replicas: list[int], least: int, stopped: list[int]) -> None:
    """Create a topic that needs several replicas in sync, and stop brokers.

    Raises:
        KwalkError: Producers with acks=all are not refused.
    """
    scene.create({0: replicas}, {MIN_IN_SYNC: str(1 if not stopped else least)})
    scene.write(FIRST)
    scene.stop(*stopped)
    scene.lab.admin(milliseconds=8000).configure_topic(scene.topic, {MIN_IN_SYNC: str(least)})
    if not wait_until(lambda: any(REFUSED in line for line in scene.ledger.write(scene.lab, FIRST)), 20):
        raise KwalkError(f"Producers with acks=all do not get {REFUSED}.")
    scene.lab.note(f"acks=all: {REFUSED}")


def one_in_sync(scene: Scene, *, is_led: bool) -> None:
    """Stop two of three replicas, each before further records, of a topic with unclean elections.

    They run again, and copy nothing, while the member leads; or the member has stopped after them.
    """
    scene.create(THREE, {UNCLEAN_ELECTIONS: "true"})
    scene.write(FIRST)
    for number in (3, 2):
        scene.stop(number)
        scene.write(FIRST)
    if not is_led:
        scene.stop(1)
        return
    for number in (2, 3):
        hold_fetches(scene.lab, leader=1, follower=number)
    scene.start(2, 3)


# What is done.


def start_replicas(scene: Scene, way_out: str) -> None:
    """Start the brokers that the sentence names."""
    ((hosts,),) = read(START, way_out)
    scene.start(*numbers_in(hosts))


def add_replicas(scene: Scene, way_out: str) -> None:
    """Give a partition all brokers as replicas."""
    for (partition,) in read(ADD, way_out):
        reassign(scene, int(partition), list(scene.lab.brokers))


def lower(scene: Scene, way_out: str) -> None:
    """Lower min.insync.replicas to what is in the ISR, write, and set it back when the others are in it again."""
    read(LOWER, way_out)
    lab, admin = scene.lab, scene.lab.admin(milliseconds=8000)
    admin.configure_topic(scene.topic, {MIN_IN_SYNC: "1"})
    if not wait_until(lambda: not scene.ledger.write(lab, FIRST), 20):
        raise KwalkError(f"Producers with acks=all are refused while {MIN_IN_SYNC} is 1.")
    scene.lab.note("acks=all is served")
    start_replicas(scene, way_out)
    admin.configure_topic(scene.topic, {MIN_IN_SYNC: "3"})
    rest(lab)


def refuse_unclean_elections(scene: Scene, way_out: str) -> None:
    """Set unclean.leader.election.enable to false; then stop the leader, and start it, or start the ISR member first.

    Raises:
        KwalkError: A replica outside the ISR is elected.
    """
    lab = scene.lab
    for (topic,) in read(FALSE, way_out):
        lab.admin(milliseconds=8000).configure_topic(topic, {UNCLEAN_ELECTIONS: "false"})
    rest(lab)
    if MEMBER_FIRST.search(way_out):
        scene.start(1)
        scene.start(2, 3)
        return
    scene.crash(1)
    state = lab.states(scene.topic)[0]
    if state["leader"] != -1 or state["isr"] != [1]:
        raise KwalkError(f"A replica outside the ISR is elected: {state}.")
    lab.note(f"without the ISR member no replica leads: {state}")
    free_fetches(lab)
    scene.start(1)


# Experiments.

BEFORE_3_7 = ("2.8.2", "3.6.2")
"""Where a partition may need more replicas than it has (Partition.effectiveMinIsr)."""

EXPERIMENTS = (
    advised(
        "few-in-sync",
        "Two of three replicas stop, and the topic needs three in sync; they are started",
        Advised(
            partial(few_in_sync, replicas=[1, 2, 3], least=3, stopped=[2, 3]),
            "isr-below-min-insync-replicas",
            start_replicas,
            repaired=RELEASES,
        ),
    ),
    advised(
        "few-in-sync-lowered",
        "The same, and min.insync.replicas is lowered before they are started",
        Advised(
            partial(few_in_sync, replicas=[1, 2, 3], least=3, stopped=[2, 3]),
            "isr-below-min-insync-replicas",
            lower,
            repaired=RELEASES,
        ),
    ),
    advised(
        "few-replicas",
        "A topic of two replicas needs three in sync",
        Advised(
            partial(few_in_sync, replicas=[1, 2], least=3, stopped=[]),
            "isr-below-min-insync-replicas",
            add_replicas,
            repaired=BEFORE_3_7,
        ),
    ),
    *(
        advised(
            f"unclean-election-is-ahead{name}",
            f"A topic with unclean elections has one ISR member, {what}",
            Advised(
                partial(one_in_sync, is_led=is_led),
                "unclean-election-is-ahead",
                refuse_unclean_elections,
                repaired=RELEASES,
            ),
            "records-through-failover.md",
            options=options,
        )
        for name, what, is_led, options in (
            ("", "which crashes after the advice", True, SLOW),
            ("-without-a-leader", "which is down with the others", False, evolve(DEAD, brokers=4)),
        )
    ),
)
