"""Consumer groups whose coordinator moves at a bad moment, and rebalances that do not end.

`__consumer_offsets` has one partition, whose leader is the coordinator of every group. Requests of members are sent one
by one; the fetches of the follower and the requests of the controller are held by the proxies.
"""
from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.group_requests import OFFSETS, GroupMember, GroupRequests
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Hold, matching
from kwalk.clusters.metadata import Api
from kwalk.model.language import KwalkError

MOVING = ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
OK = "NONE"


def _must(error: str, what: str) -> None:
    if error != OK:
        raise KwalkError(f"{what} was answered with {error}.")


def _coordinator(lab: Lab, group: str, brokers: int) -> tuple[int, int]:
    """Return the coordinator of all groups and the other broker, once both have the partition of their offsets."""
    first = GroupRequests(lab.brokers[1].port)
    if not wait_until(lambda: first.find_coordinator(group) == OK, 30):
        raise KwalkError("No coordinator was found within 30 s.")
    if not wait_until(lambda: len(lab.states(OFFSETS).get(0, {}).get("isr", ())) == brokers, 30):
        raise KwalkError(f"The ISR of {OFFSETS}-0 did not have {brokers} brokers within 30 s.")
    leader = int(lab.states(OFFSETS)[0]["leader"])
    at = GroupRequests(lab.brokers[leader].port)
    wait_until(lambda: at.committed(group, "t")[0] not in MOVING, 30)
    return leader, next((number for number in lab.brokers if number != leader), leader)


def _log(lab: Lab, broker: int) -> int:
    """Return the size of a replica's log of offsets, in bytes."""
    folder: Path = lab.brokers[broker].data / f"{OFFSETS}-0"
    return sum(file.stat().st_size for file in folder.glob("*.log"))


@contextmanager
def _unreplicated(lab: Lab, leader: int) -> Iterator[Hold]:
    """Hold the follower's fetches, and wait until the leader has none that it could still answer."""
    hold = lab.rules.hold(matching(Api.FETCH, broker=leader))
    if not lab.rules.wait_for(hold, seconds=5):
        raise KwalkError("The follower did not fetch within 5 s.")
    try:
        yield hold
    finally:
        lab.rules.drop(hold)


def _fail_over(lab: Lab, leader: int, to: int) -> GroupRequests:
    """Kill the coordinator; return requests to the other broker, once that has loaded the groups."""
    lab.kill(leader)
    lab.expire_session(leader)
    if not wait_until(lambda: lab.states(OFFSETS)[0]["leader"] == to, 30, every=0.01):
        raise KwalkError(f"Broker {to} did not become the leader of {OFFSETS}-0 within 30 s.")
    requests = GroupRequests(lab.brokers[to].port)
    wait_until(lambda: requests.committed("any", "t")[0] not in MOVING, 30)
    return requests


def _deleted_group_returns(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete a group while the follower does not fetch, and let the follower become the coordinator."""
    group, topic = f"g{this.number}", this.topic
    leader, other = _coordinator(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    _must(lab.admin().create_topic(topic, {0: [1, 2]}).error, "CreateTopics")
    error, member = at.join(GroupMember(group))
    _must(error, "JoinGroup")
    _must(at.sync(member, {member.id: b""}), "SyncGroup")
    _must(at.commit(member, topic, 7), "OffsetCommit")
    _must(at.leave(member), "LeaveGroup")
    wait_until(lambda: at.state(group) == "Empty" and _log(lab, other) == _log(lab, leader), 10)
    with _unreplicated(lab, leader):
        answer = at.delete(group)
        lab.note(f"DeleteGroups is answered with {answer}")
        gone = group not in at.listed()
        after = _fail_over(lab, leader, other)
    offset, listed = after.committed(group, topic)[1], group in after.listed()
    details = {"DeleteGroups": answer, "listed at once": not gone, "listed later": listed, "offset later": offset}
    returned = answer == OK and gone and listed and offset == 7
    return RoundOutcome("the group is back with its offset" if returned else "the group is gone", returned, details)


def _static_member_is_fenced(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start a static member again before its generation is written; then the coordinator fails."""
    group = f"g{this.number}"
    leader, other = _coordinator(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    instance = GroupMember(group, instance="i")
    with _unreplicated(lab, leader) as hold, ThreadPoolExecutor(1) as pool:
        error, first = at.join(instance)
        _must(error, "JoinGroup")
        size = _log(lab, leader)
        pool.submit(at.sync, first, {first.id: b""})
        wait_until(lambda: _log(lab, leader) > size, 5, every=0.01)
        lab.rules.release(hold, 1)  # the follower gets the records, and cannot acknowledge them
        wait_until(lambda: _log(lab, other) == _log(lab, leader), 5, every=0.01)
        lab.note("the consumer ends, and starts again")
        error, second = at.join(instance)
        _must(error, "JoinGroup of the consumer that has started again")
        after = _fail_over(lab, leader, other)
    answer = after.sync(second, {second.id: b""})
    lab.note(f"SyncGroup is answered with {answer}")
    again, third = after.join(instance)
    details = {"first": first.id, "second": second.id, "SyncGroup": answer, "JoinGroup without a member id": again}
    details["SyncGroup after it"] = after.sync(third, {third.id: b""}) if again == OK else again
    return RoundOutcome(answer, answer == "FENCED_INSTANCE_ID", details)


def _rebalance_does_not_end(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the leader of a generation send heartbeats and no SyncGroup, for five times its rebalance timeout."""
    group = f"g{this.number}"
    leader, _ = _coordinator(lab, group, 1)
    at = GroupRequests(lab.brokers[leader].port, seconds=60)
    prototype = GroupMember(group, session_ms=10_000, rebalance_ms=3_000)
    with ThreadPoolExecutor(2) as pool:
        error, one = at.join(prototype)
        _must(error, "JoinGroup")
        _must(at.sync(one, {one.id: b""}), "SyncGroup")
        joining = pool.submit(at.join, prototype)
        wait_until(lambda: at.state(group) == "PreparingRebalance", 5)
        error, one = at.join(one)
        _must(error, "JoinGroup of the second generation")
        error, two = joining.result()
        _must(error, "JoinGroup of the second member")
        waiting: Future[str] = pool.submit(at.sync, two)
        beats = []
        end = time.monotonic() + 5 * prototype.rebalance_ms / 1000
        while time.monotonic() < end and not waiting.done():
            beats.append(at.heartbeat(one))
            time.sleep(0.5)
        state, is_over = at.state(group), waiting.done()
        lab.note(f"the group is {state}; the second member is answered: {is_over}")
        at.leave(one)  # ends the wait of the second member
        details = {"heartbeats": sorted(set(beats)), "state": state, "SyncGroup": waiting.result()}
    return RoundOutcome(state, not is_over and state == "CompletingRebalance", details)


def _group_is_listed_twice(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Elect another leader, and hold the LeaderAndIsr to the earlier one while both are asked for their groups."""
    group = f"g{this.number}"
    leader, other = _coordinator(lab, group, 2)
    at, then = GroupRequests(lab.brokers[leader].port), GroupRequests(lab.brokers[other].port)
    error, member = at.join(GroupMember(group))
    _must(error, "JoinGroup")
    _must(at.sync(member, {member.id: b""}), "SyncGroup")
    lab.admin().reassign(OFFSETS, {0: [other, leader]})
    assigned = [other, leader]
    wait_until(lambda: (lab.topic(OFFSETS) or {})["partitions"]["0"] == assigned, 20)
    time.sleep(1)
    hold = lab.rules.hold(matching(Api.LEADER_AND_ISR, broker=leader))
    try:
        with ThreadPoolExecutor(1) as pool:
            election = pool.submit(lab.admin(milliseconds=3000).elect_preferred, OFFSETS, 0)
            twice = wait_until(lambda: group in then.listed() and group in at.listed(), 10, every=0.02)
            lab.note(f"both brokers list the group: {twice}")
            lab.rules.drop(hold)
            details = {"ElectLeaders": str(election.result())}
    finally:
        lab.rules.drop(hold)
    once = wait_until(lambda: [group in one.listed() for one in (at, then)] == [False, True], 10)
    details["listed once later"] = str(once)
    return RoundOutcome("listed twice" if twice else "listed once", twice and once, details)


ALONE = LabOptions(brokers=1)
REPLICATED = LabOptions(
    brokers=2, proxied=True, settings={"offsets.topic.replication.factor": 2, "replica.lag.time.max.ms": 30_000}
)
EXPERIMENTS = (
    Experiment(
        name="deleted-group-returns",
        about="A group is deleted while the follower's fetches are held; then the coordinator is killed.",
        expected="The next coordinator has the group and its offset, although DeleteGroups was answered with NONE.",
        story="deleted-groups.md",
        run=_deleted_group_returns, options=REPLICATED, is_ordered=True,
    ),
    Experiment(
        name="group-listed-twice",
        about="The coordinator moves; the LeaderAndIsr to the earlier one is held while both list their groups.",
        expected="Both list the group, and later only the next coordinator does.",
        story="deleted-groups.md",
        run=_group_is_listed_twice, options=REPLICATED, is_ordered=True,
    ),
    Experiment(
        name="static-member-fenced",
        about="A static member starts again before its generation is replicated; then the coordinator is killed.",
        expected="The next coordinator answers it FENCED_INSTANCE_ID; without a member id it can join.",
        story="static-members.md",
        run=_static_member_is_fenced, options=REPLICATED, is_ordered=True,
    ),
    Experiment(
        name="rebalance-does-not-end",
        about="The leader of a generation sends heartbeats and no SyncGroup, for five times its rebalance timeout.",
        expected="Up to 2.8.0 the group stays in CompletingRebalance; later the member is removed.",
        story="stalled-members.md",
        run=_rebalance_does_not_end, options=ALONE, is_ordered=True, releases=("2.8.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release == "2.8.0",
    ),
)  # fmt: skip
