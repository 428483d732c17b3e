"""Consumer groups whose coordinator moves at a bad moment, rebalances that do not end, and offsets that expire.

`__consumer_offsets` has one partition, whose leader is the coordinator of every group. Requests of members are sent one
by one; the fetches of the follower and the requests of the controller are held by the proxies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from attrs import evolve

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.group_requests import OFFSETS, GroupMember, GroupRequests
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Hold, matching
from kwalk.clusters.lab.transactions import TransactionalProducer
from kwalk.clusters.metadata import Api, BrokerConnection
from kwalk.model.language import KwalkError

MOVING = ("NOT_COORDINATOR", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")
OK = "NONE"


def must(error: str, what: str) -> None:
    """Raise KwalkError if a request was answered with an error."""
    if error != OK:
        raise KwalkError(f"{what} was answered with {error}.")


def _stable_member(at: GroupRequests, member: GroupMember) -> GroupMember:
    """Join a group without members, and assign; return the member."""
    error, member = at.join(member)
    must(error, "JoinGroup")
    must(at.sync(member, {member.id: b""}), "SyncGroup")
    return member


def coordinator_of(lab: Lab, group: str, brokers: int) -> tuple[int, int]:
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
    leader, other = coordinator_of(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    must(lab.admin().create_topic(topic, {0: [1, 2]}).error, "CreateTopics")
    member = _stable_member(at, GroupMember(group))
    must(at.commit(member, topic, 7), "OffsetCommit")
    must(at.leave(member), "LeaveGroup")
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
    leader, other = coordinator_of(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    instance = GroupMember(group, instance="i")
    with _unreplicated(lab, leader) as hold, ThreadPoolExecutor(1) as pool:
        error, first = at.join(instance)
        must(error, "JoinGroup")
        size = _log(lab, leader)
        pool.submit(at.sync, first, {first.id: b""})
        wait_until(lambda: _log(lab, leader) > size, 5, every=0.01)
        lab.rules.release(hold, 1)  # the follower gets the records, and cannot acknowledge them
        wait_until(lambda: _log(lab, other) == _log(lab, leader), 5, every=0.01)
        lab.note("the consumer ends, and starts again")
        error, second = at.join(instance)
        must(error, "JoinGroup of the consumer that has started again")
        after = _fail_over(lab, leader, other)
    answer = after.sync(second, {second.id: b""})
    lab.note(f"SyncGroup is answered with {answer}")
    again, third = after.join(instance)
    details = {"first": first.id, "second": second.id, "SyncGroup": answer, "JoinGroup without a member id": again}
    details["SyncGroup after it"] = after.sync(third, {third.id: b""}) if again == OK else again
    return RoundOutcome(answer, answer == "FENCED_INSTANCE_ID", details)


def _settled_member_is_fenced(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start a static member of a stable group again; when all is replicated, the coordinator fails."""
    group = f"g{this.number}"
    leader, other = coordinator_of(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    first = _stable_member(at, GroupMember(group, instance="i"))
    lab.note("the consumer ends, and starts again")
    error, second = at.join(evolve(first, id="", generation=-1))
    must(error, "JoinGroup of the consumer that has started again")
    before = {"state": at.state(group), "heartbeat": at.heartbeat(second)}
    wait_until(lambda: _log(lab, other) == _log(lab, leader), 10)
    after = _fail_over(lab, leader, other)
    answer = after.heartbeat(second)
    lab.note(f"the heartbeat is answered with {answer}")
    details = {"first": first.id, "second": second.id, "before": before, "heartbeat later": answer}
    return RoundOutcome(answer, answer == "FENCED_INSTANCE_ID" and before["heartbeat"] == OK, details)


def _committed_and_aged(lab: Lab, at: GroupRequests, group: str, topic: str) -> None:
    """Commit an offset, and leave the group when the commit is older than the retention; the offset is kept then."""
    must(lab.admin().create_topic(topic, {0: [*lab.brokers]}).error, "CreateTopics")
    member = _stable_member(at, GroupMember(group, topics=(topic,)))
    must(at.commit(member, topic, 7), "OffsetCommit")
    end = time.monotonic() + RETENTION_SECONDS + 5
    while time.monotonic() < end:
        must(at.heartbeat(member), "Heartbeat")
        time.sleep(2)
    must(at.leave(member), "LeaveGroup")
    if not wait_until(lambda: at.state(group) == "Empty", 10):
        raise KwalkError(f"The group is {at.state(group)} after its only member has left, and not Empty.")
    time.sleep(3)
    offset = at.committed(group, topic)[1]
    if offset != 7:
        raise KwalkError(f"The offset of the group that is Empty for 3 s is {offset}, and not 7.")


def _offset_expires_while_joining(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit, leave after the retention, and join again: the offset has the time of the join to expire."""
    group, topic = f"g{this.number}", this.topic
    leader, _ = coordinator_of(lab, group, 1)
    at = GroupRequests(lab.brokers[leader].port, seconds=30)
    _committed_and_aged(lab, at, group, topic)
    with ThreadPoolExecutor(1) as pool:
        joining = pool.submit(at.join, GroupMember(group, topics=(topic,)))
        joined = wait_until(lambda: at.state(group) == "PreparingRebalance", 10)
        error, member = joining.result()
        must(error, "JoinGroup of the next member")
    offset = at.committed(group, topic)[1]
    lab.note(f"the next member has joined; the committed offset is {offset}")
    details = {"was PreparingRebalance": joined, "offset": offset, "generation": member.generation}
    return RoundOutcome("the offset is lost" if offset == -1 else "the offset is kept", offset == -1, details)


def _offset_expires_after_a_move(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit, leave after the retention, and let the coordinator fail: does the next one know since when?"""
    group, topic = f"g{this.number}", this.topic
    leader, other = coordinator_of(lab, group, 2)
    at = GroupRequests(lab.brokers[leader].port)
    _committed_and_aged(lab, at, group, topic)
    wait_until(lambda: _log(lab, other) == _log(lab, leader), 10)
    after = _fail_over(lab, leader, other)
    is_lost = wait_until(lambda: after.committed(group, topic)[1] == -1, 5)
    offset = after.committed(group, topic)
    lab.note(f"OffsetFetch is answered with {offset}")
    details = {"offset": offset[1], "error": offset[0], "state": after.state(group)}
    return RoundOutcome("the offset is lost" if is_lost else "the offset is kept", is_lost, details)


def begun(lab: Lab, identity: str) -> TransactionalProducer:
    """Return a producer with a transactional id, once the coordinator has given it one."""
    transaction = TransactionalProducer(lab.brokers[1].port, identity)
    if not wait_until(lambda: transaction.begin(600_000) == OK, 30, every=0.5):
        raise KwalkError("No transaction could begin within 30 s.")
    return transaction


def _offset_expires_in_a_transaction(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit offsets of two groups in a transaction, while an old one of the first expires; clean, and restart."""
    old, young, topic = f"old{this.number}", f"young{this.number}", this.topic
    coordinator_of(lab, old, 1)
    at = GroupRequests(lab.brokers[1].port)
    must(lab.admin().create_topic(topic, {0: [1]}).error, "CreateTopics")
    must(at.commit(GroupMember(old), topic, 7), "OffsetCommit")
    transaction = begun(lab, f"t{this.number}")
    time.sleep(RETENTION_SECONDS - 10)
    must(at.commit(GroupMember(young), topic, 7), "OffsetCommit")
    for group in (old, young):
        must(transaction.commit_offset(group, topic, 8), "TxnOffsetCommit")
    start = time.monotonic()
    expired = wait_until(lambda: at.committed(old, topic)[1] == -1, 40)
    must(transaction.end(), "EndTxn")
    before = wait_until(lambda: [at.committed(one, topic)[1] for one in (old, young)] == [8, 8], 10)
    for number in range(20):  # segments that the cleaner may clean, and time for it
        at.commit(GroupMember(f"other{number}"), topic, number)
        time.sleep(0.5)
    lab.restart(1)
    after = GroupRequests(lab.brokers[1].port)
    wait_until(lambda: after.committed(old, topic)[0] not in MOVING, 30)
    offsets = {group: after.committed(group, topic) for group in (old, young)}
    details = {"expired in the transaction": expired, "both were committed": before, "after a restart": offsets}
    details["seconds since"] = round(time.monotonic() - start)
    is_lost = expired and before and offsets[old] == (OK, -1) and offsets[young] == (OK, 8)
    return RoundOutcome("the offset is lost" if is_lost else "the offset is kept", is_lost, details)


def _commits_at(port: int, groups: list[str], topic: str, numbers: range, start: float) -> list[tuple[str, int]]:
    """Commit offset 8 of each partition for each group, spread over the time of a check; return what was accepted."""
    at, accepted = GroupRequests(port), []
    wanted = [(group, number) for number in numbers for group in groups]
    bodies = [at.commit_body(GroupMember(group), topic, {number: 8}, {}) for group, number in wanted]
    with BrokerConnection(port, seconds=30) as connection:
        for place, body in enumerate(bodies):
            time.sleep(max(0.0, start + CHECKED * place / len(bodies) - time.monotonic()))
            connection.send(Api.OFFSET_COMMIT, 7, body)
        for group, number in wanted:
            if at.commit_errors(connection.receive()) == {number: OK}:
                accepted.append((group, number))
    return accepted


def _commit_meets_a_tombstone(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit thousands of offsets as old ones of the same partitions expire; restart, and look for each."""
    topic, port, groups = this.topic, lab.brokers[1].port, [f"g{this.number}-{n}" for n in range(8)]
    coordinator_of(lab, groups[0], 1)
    at = GroupRequests(port, seconds=30)
    created(lab, topic, MANY)
    first = time.monotonic()
    for group in groups:
        errors = at.commit_each(GroupMember(group), topic, dict.fromkeys(range(MANY), 7), {})
        must(next((error for error in errors.values() if error != OK), OK), "OffsetCommit")
    start = first + RETENTION_SECONDS
    with ThreadPoolExecutor(8) as pool:
        commits = [pool.submit(_commits_at, port, groups, topic, range(part, MANY, 8), start) for part in range(8)]
        accepted = {one for each in commits for one in each.result()}
    time.sleep(1)

    def missing() -> list[tuple[str, int]]:
        now = GroupRequests(port, seconds=30)
        known = {group: now.committed_each(group, topic, range(MANY))[1] for group in groups}
        return sorted((group, number) for group, number in accepted if known[group].get(number) != 8)

    before = missing()
    lab.restart(1)
    wait_until(lambda: GroupRequests(port).committed(groups[0], topic)[0] not in MOVING, 30)
    after = missing()
    details = {"accepted": len(accepted), "missing before the restart": len(before), "missing after it": after[:20]}
    is_lost = bool(after) and not before
    return RoundOutcome("accepted offsets are lost" if is_lost else "the offsets are kept", is_lost, details)


def _rebalance_does_not_end(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the leader of a generation send heartbeats and no SyncGroup, for five times its rebalance timeout."""
    group = f"g{this.number}"
    leader, _ = coordinator_of(lab, group, 1)
    at = GroupRequests(lab.brokers[leader].port, seconds=60)
    prototype = GroupMember(group, session_ms=10_000, rebalance_ms=3_000)
    with ThreadPoolExecutor(2) as pool:
        one = _stable_member(at, prototype)
        joining = pool.submit(at.join, prototype)
        wait_until(lambda: at.state(group) == "PreparingRebalance", 5)
        error, one = at.join(one)
        must(error, "JoinGroup of the second generation")
        error, two = joining.result()
        must(error, "JoinGroup of the second member")
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
    leader, other = coordinator_of(lab, group, 2)
    at, then = GroupRequests(lab.brokers[leader].port), GroupRequests(lab.brokers[other].port)
    _stable_member(at, GroupMember(group))
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


def _recreate(lab: Lab, topic: str, broker: int) -> bool:
    """Delete a topic and create it again on a broker; return whether its first log was deleted."""
    admin = lab.admin()
    must(admin.delete_topic(topic).error, "DeleteTopics")
    gone = wait_until(lambda: lab.topic(topic) is None, 20)
    wait_until(lambda: admin.create_topic(topic, {0: [broker]}).ok, 20, every=0.5)
    wait_until(lambda: lab.states(topic).get(0, {}).get("leader") == broker, 20)
    return gone


def _group_of_a_recreated_topic(lab: Lab, this: ExperimentRound) -> tuple[int, int, GroupMember]:
    """Commit 7 for a topic that the coordinator has no replica of; return that, the other broker and the member.

    The other broker becomes the controller, and the preferred replica of the offsets.
    """
    member = GroupMember(f"g{this.number}")
    leader, other = coordinator_of(lab, member.group, 2)
    must(lab.admin().reassign(OFFSETS, {0: [other, leader]}).error, "AlterPartitionReassignments")
    lab.move_controller(other)
    must(lab.admin().create_topic(this.topic, {0: [other]}).error, "CreateTopics")
    lab.wait_for_leaders(this.topic)
    wait_until(lambda: lab.are_informed(this.topic), 10)
    must(GroupRequests(lab.brokers[leader].port).commit(member, this.topic, 7), "OffsetCommit")
    return leader, other, member


def _late_deletion_removes_a_commit(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Hold what the coordinator is told of a deletion until an offset for the next topic is committed."""
    leader, other, member = _group_of_a_recreated_topic(lab, this)
    at = GroupRequests(lab.brokers[leader].port)
    hold = lab.rules.hold(matching(Api.UPDATE_METADATA, broker=leader))
    try:
        gone = _recreate(lab, this.topic, other)
        answer = at.commit(member, this.topic, 3)
        before = at.committed(member.group, this.topic)
    finally:
        lab.rules.drop(hold)
    removed = wait_until(lambda: at.committed(member.group, this.topic)[1] == -1, 10)
    wait_until(lambda: lab.are_informed(this.topic), 20)
    again = at.commit(member, this.topic, 4)
    time.sleep(2)
    details = {"gone": gone, "OffsetCommit": answer, "at once": before, "removed": removed, "OffsetCommit later": again}
    details["at the end"] = at.committed(member.group, this.topic)
    lost = gone and answer == OK and before[1] == 3 and removed
    return RoundOutcome("the commit is lost" if removed else "the commit is kept", lost, details)


def _offset_outlives_its_topic(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Move the coordinator after the next one has heard of a deletion, and before the earlier one has."""
    leader, other, member = _group_of_a_recreated_topic(lab, this)
    hold = lab.rules.hold(matching(Api.UPDATE_METADATA, broker=leader))
    try:
        gone = _recreate(lab, this.topic, other)
        elected = str(lab.admin(milliseconds=3000).elect_preferred(OFFSETS, 0))
        wait_until(lambda: lab.states(OFFSETS)[0]["leader"] == other, 20)
        then = GroupRequests(lab.brokers[other].port)
        wait_until(lambda: then.committed(member.group, this.topic)[0] not in MOVING, 20)
    finally:
        lab.rules.drop(hold)
    wait_until(lambda: lab.are_informed(this.topic), 20)
    time.sleep(2)
    error, offset = then.committed(member.group, this.topic)
    details = {"gone": gone, "ElectLeaders": elected, "OffsetFetch": error, "offset": offset}
    stays = gone and error == OK and offset == 7
    return RoundOutcome("the offset is there" if stays else "the offset is gone", stays, details)


def created(lab: Lab, topic: str, partitions: int) -> None:
    """Create a topic on broker 1, and wait until the broker knows it."""
    answer = lab.admin().create_topic(topic, {number: [1] for number in range(partitions)})
    if not (answer.ok and lab.wait_for_leaders(topic, partitions)):
        raise KwalkError(f"CreateTopics was answered with {answer}.")
    wait_until(lambda: lab.are_informed(topic), 10)


def _commit_without_members(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit to a group that nobody has joined, with a `group.instance.id` and without one."""
    group = f"g{this.number}"
    leader, _ = coordinator_of(lab, group, 1)
    created(lab, "t", 1)
    at = GroupRequests(lab.brokers[leader].port)
    without = at.commit(GroupMember(group), "t", 1)
    error = at.commit(GroupMember(group, instance="i"), "t", 2)
    details = {"without group.instance.id": without, "with it": error, "committed": at.committed(group, "t")}
    return RoundOutcome(error, without == OK and error == "UNKNOWN_MEMBER_ID", details)


def _refused_commit_is_pending(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Commit offsets of two partitions, of which one has more metadata than is allowed; ask for a stable offset."""
    group = GroupMember(f"g{this.number}")
    leader, _ = coordinator_of(lab, group.group, 1)
    created(lab, "t", 2)
    at = GroupRequests(lab.brokers[leader].port)
    must(at.commit(group, "t", 1), "OffsetCommit")
    before = at.stable(group.group, "t")
    answers = at.commit_each(group, "t", {0: 2, 1: 2}, {0: "m" * (LONGEST_METADATA + 1)})
    time.sleep(1)
    error, offset = at.stable(group.group, "t")
    details = {"before": before, "OffsetCommit": answers, "OffsetFetch": (error, offset)}
    is_pending = answers == {0: "OFFSET_METADATA_TOO_LARGE", 1: OK} and error == "UNSTABLE_OFFSET_COMMIT"
    return RoundOutcome(error, is_pending and before == (OK, 1), details)


def _late_offset_is_pending(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Abort a transaction, and let a commit of an offset of it come then; the producer starts again."""
    group, topic = f"g{this.number}", this.topic
    coordinator_of(lab, group, 1)
    created(lab, topic, 1)
    at = GroupRequests(lab.brokers[1].port)
    must(at.commit(GroupMember(group), topic, 7), "OffsetCommit")
    producer = begun(lab, f"p{this.number}")
    must(producer.commit_offset(group, topic, 8), "TxnOffsetCommit")
    must(producer.end(commits=False), "EndTxn")
    if not wait_until(lambda: at.stable(group, topic) == (OK, 7), 10):
        raise KwalkError("The offset of before the transaction is not stable within 10 s of its end.")
    late = producer.send_offset(group, topic, 8)
    begun(lab, f"p{this.number}")
    is_stable = wait_until(lambda: at.stable(group, topic)[0] == OK, 10, every=0.3)
    error, offset = at.stable(group, topic)
    details = {"late TxnOffsetCommit": late, "OffsetFetch": (error, offset), "not stable": at.committed(group, topic)}
    return RoundOutcome(error, late == OK and not is_stable and error == "UNSTABLE_OFFSET_COMMIT", details)


def _earlier_session_ends(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Start a static member again with a longer session timeout; it is silent for longer than the first one."""
    group = f"g{this.number}"
    coordinator_of(lab, group, 1)
    at = GroupRequests(lab.brokers[1].port)
    first = _stable_member(at, GroupMember(group, instance="i", session_ms=SHORTEST_SESSION))
    error, second = at.join(evolve(first, id="", generation=-1, session_ms=5 * SHORTEST_SESSION))
    must(error, "JoinGroup of the member that has started again")
    must(at.sync(second), "SyncGroup of the member that has started again")
    before, start = at.state(group), time.monotonic()
    is_gone = wait_until(lambda: at.state(group) != "Stable", 2 * SHORTEST_SESSION / 1000, every=0.2)
    details = {"before": before, "seconds": round(time.monotonic() - start, 1), "heartbeat": at.heartbeat(second)}
    is_early = is_gone and before == "Stable" and details["heartbeat"] == "UNKNOWN_MEMBER_ID"
    return RoundOutcome("the member is removed" if is_gone else "the member is kept", is_early, details)


SHORTEST_SESSION = 6000
"""The default of `group.min.session.timeout.ms`."""
LONGEST_METADATA = 4096
"""The default of `offset.metadata.max.bytes`."""
ALONE = LabOptions(brokers=1)
FOLLOWED = {"offsets.topic.replication.factor": 2, "replica.lag.time.max.ms": 30_000}
REPLICATED = LabOptions(brokers=2, proxied=True, settings=FOLLOWED)
RETENTION_SECONDS = 60
EXPIRING = {"offsets.retention.minutes": RETENTION_SECONDS // 60, "offsets.retention.check.interval.ms": 500}
MANY = 500
"""How many partitions a topic has whose offsets expire together."""
CHECKED = 0.6
"""Seconds in which a check for expired offsets runs, for sure."""
CLEANED = {
    "log.cleaner.enable": "true",
    "log.cleaner.backoff.ms": 200,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "offsets.topic.segment.bytes": 200,
}
TRANSACTIONS = {
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "transaction.state.log.num.partitions": 1,
}
EXPERIMENTS = (
    Experiment(
        name="deleted-group-returns",
        about="A group is deleted while the follower's fetches are held; then the coordinator is killed.",
        expected="The next coordinator has the group and its offset, although DeleteGroups was answered with NONE.",
        story="deleted-groups.md",
        run=_deleted_group_returns,
        options=REPLICATED,
        is_ordered=True,
    ),
    Experiment(
        name="late-deletion-removes-a-commit",
        about="A topic is deleted and created again, and offsets of it are committed, before the coordinator hears.",
        expected="An acknowledged commit of the new topic is removed, as the coordinator hears of the deletion.",
        story="recreated-topic-offsets.md",
        run=_late_deletion_removes_a_commit,
        options=REPLICATED,
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="offset-outlives-its-topic",
        about="The coordinator moves after a topic was deleted and created again; the earlier one has not heard of it.",
        expected="The next coordinator has the offset of the deleted topic.",
        story="recreated-topic-offsets.md",
        run=_offset_outlives_its_topic,
        options=REPLICATED,
        releases=("2.8.2", "3.9.0"),
        is_ordered=True,
        predicted=lambda release: True,
    ),
    Experiment(
        name="group-listed-twice",
        about="The coordinator moves; the LeaderAndIsr to the earlier one is held while both list their groups.",
        expected="Both list the group, and later only the next coordinator does.",
        story="deleted-groups.md",
        run=_group_is_listed_twice,
        options=REPLICATED,
        is_ordered=True,
    ),
    Experiment(
        name="static-member-fenced",
        about="A static member starts again before its generation is replicated; then the coordinator is killed.",
        expected="The next coordinator answers it FENCED_INSTANCE_ID; without a member id it can join.",
        story="static-members.md",
        run=_static_member_is_fenced,
        options=REPLICATED,
        is_ordered=True,
    ),
    Experiment(
        name="settled-static-member-fenced",
        about="A static member of a stable group starts again; all is replicated, and the coordinator is killed.",
        expected="From 2.3 to 2.6.0 the next coordinator answers FENCED_INSTANCE_ID; later it answers NONE.",
        story="static-members.md",
        run=_settled_member_is_fenced,
        options=REPLICATED,
        releases=("2.5.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release == "2.5.0",
    ),
    Experiment(
        name="offset-expires-while-joining",
        about="The only member commits and leaves when the retention is over; another one joins, which takes 5 s.",
        expected="Up to 2.8.1, and in 3.0.0, the offset is removed during the join; later it is kept.",
        story="committed-offsets.md",
        run=_offset_expires_while_joining,
        releases=("2.8.0", "2.8.2", "3.0.0", "3.9.0"),
        options=LabOptions(brokers=1, settings={**EXPIRING, "group.initial.rebalance.delay.ms": 5000}),
        predicted=lambda release: release in ("2.8.0", "3.0.0"),
    ),
    Experiment(
        name="offset-expires-in-a-transaction",
        about="A transaction commits an offset beside an old one that expires; the log is cleaned and loaded.",
        expected="The offset of the transaction is lost; that of a group without an old one is kept.",
        story="committed-offsets.md",
        run=_offset_expires_in_a_transaction,
        releases=("2.8.2", "3.9.0"),
        options=LabOptions(brokers=1, settings={**EXPIRING, **CLEANED, **TRANSACTIONS}),
        predicted=lambda release: True,
    ),
    Experiment(
        name="commits-as-offsets-expire",
        about="Old offsets of eight groups expire as 4,000 commits of the same partitions come; the broker restarts.",
        expected="Accepted offsets are lost, of which a tombstone came behind the commit.",
        story="committed-offsets.md",
        run=_commit_meets_a_tombstone,
        releases=("2.8.2", "3.9.0"),
        options=LabOptions(brokers=1, settings=EXPIRING),
        predicted=lambda release: True,
    ),
    Experiment(
        name="offset-expires-after-a-move",
        about="The only member commits and leaves when the retention is over; then the coordinator is killed.",
        expected="From 2.3 to 2.6.0 the next coordinator removes the offset at once; later it is kept.",
        story="committed-offsets.md",
        run=_offset_expires_after_a_move,
        releases=("2.5.0", "2.8.2", "3.9.0"),
        options=LabOptions(brokers=2, proxied=True, settings={**FOLLOWED, **EXPIRING}),
        predicted=lambda release: release == "2.5.0",
    ),
    Experiment(
        name="rebalance-does-not-end",
        about="The leader of a generation sends heartbeats and no SyncGroup, for five times its rebalance timeout.",
        expected="Up to 2.8.0 the group stays in CompletingRebalance; later the member is removed.",
        story="stalled-members.md",
        run=_rebalance_does_not_end,
        options=ALONE,
        is_ordered=True,
        releases=("2.8.0", "2.8.2", "3.9.0"),
        predicted=lambda release: release == "2.8.0",
    ),
    Experiment(
        name="commit-without-members",
        about="An offset is committed with a group.instance.id to a group that nobody has joined.",
        expected="From 3.0 to 3.2 the answer is UNKNOWN_MEMBER_ID; else the offset is committed.",
        story="committed-offsets.md",
        run=_commit_without_members,
        options=ALONE,
        releases=("2.8.2", "3.0.2", "3.3.2"),
        predicted=lambda release: release == "3.0.2",
    ),
    Experiment(
        name="refused-commit-is-pending",
        about="Offsets of two partitions are committed, one with too long metadata; then a stable offset is asked for.",
        expected="Up to 3.7.0 the answer is UNSTABLE_OFFSET_COMMIT; later it is the offset from before.",
        story="committed-offsets.md",
        run=_refused_commit_is_pending,
        options=ALONE,
        releases=("2.8.2", "3.6.2", "3.7.0", "3.7.2", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.6.2", "3.7.0"),
    ),
    Experiment(
        name="late-offset-is-pending",
        about="A commit of an offset comes when its transaction was aborted; then the producer starts again.",
        expected="Up to 3.6 the offset of before is not stable any more, for good; later the commit is refused.",
        story="committed-offsets.md",
        run=_late_offset_is_pending,
        options=LabOptions(brokers=1, settings=TRANSACTIONS),
        is_ordered=True,
        releases=("2.8.2", "3.6.2", "3.9.0"),
        predicted=lambda release: release in ("2.8.2", "3.6.2"),
    ),
    Experiment(
        name="static-member-with-a-longer-session",
        about="A static member of a session of 6 s starts again with one of 30 s, gets its assignment, and is silent.",
        expected="Up to 3.3.1 it is removed after 6 s; later it is kept.",
        story="static-members.md",
        run=_earlier_session_ends,
        options=ALONE,
        releases=("2.8.2", "3.3.2", "3.9.0"),
        predicted=lambda release: release == "2.8.2",
    ),
)
