"""Migrations in which what the KRaft controller writes to ZooKeeper, or ZooKeeper's answer, does not arrive.

Words: a write is *held* if a proxy keeps it; it is lost if the controller crashes meanwhile. A *way out* is tried after
the facts are noted. `NN-*.json` are the snapshots of `kwalk collect` in each phase, with the quorum's metadata log.

The cluster is in dual write before, if nothing else is said.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from threading import Thread
from typing import Any

from attrs import evolve

from kwalk.clusters.lab.brokers import AdminAnswer, AdminRequests
from kwalk.clusters.lab.cluster import Lab, Mode, text_from
from kwalk.clusters.lab.experiments.experiment import ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import logs_on_disks
from kwalk.clusters.lab.experiments.migration_steps import HEALTHY, POLLS, SETTLES, Migration
from kwalk.clusters.lab.experiments.migrations import (
    DEAD,
    THREE_BROKERS,
    TWO,
    migration_experiment,
    result,
    since,
    waits,
)
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Direction, Hold, ProxiedFrame, matching
from kwalk.clusters.lab.quorum import FIRST_ID, Quorum
from kwalk.clusters.lab.zookeeper import Op, Write, ZooKeeperError, create, delete, expire, set_data
from kwalk.clusters.metadata import metadata
from kwalk.clusters.wire import buffer, int32, long_string
from kwalk.model.language import KwalkError

ONE: Mapping[int, list[int]] = {0: [1, 2]}
LATER = "later"
"""A topic that is created after the fault."""
ALONE = "alone"
"""The origin of records that were acknowledged when the ISR was the leader alone."""
AGAIN = "again"
"""The origin of records of a topic that was created again."""
COPIED = "Completed migration of metadata"
"""What the driver says after the copy, before it writes /migration."""
BEGINS = "Starting ZK migration"
UNREGISTERED = "Unable to register broker"
"""What a broker in ZooKeeper mode says that the controllers do not register."""
CONDITIONAL = "Conditional update on KRaft Migration ZNode failed"
FAULTS = ("Failed to update partition states", CONDITIONAL, BEGINS, "Encountered ZooKeeper error", "Unhandled error in")
"""What the controllers' logs say of faults."""
STUCK = 35.0
"""Seconds after which a driver counts as stuck: it has polled eight times."""
TOPICS = 24
"""How many topics are deleted and created again, half of them from before the migration."""
REFUSALS = ("INCONSISTENT_TOPIC_ID", "FENCED_LEADER_EPOCH", "does not match the topic ID", "Topic ID in memory")


# Steps.


def _begun(
    lab: Lab, this: ExperimentRound, assignment: Mapping[int, list[int]] = ONE, controllers: int = 1
) -> Migration:
    """Create topics, and migrate to dual write, with a proxy between the controllers and ZooKeeper."""
    m = Migration(lab, this)
    m.create(HEALTHY, ONE)
    m.create(m.topic, assignment)
    m.before()
    m.put_between()
    m.begin(controllers)
    m.is_in_dual_write()
    m.keep("dual write")
    return m


@contextmanager
def _unwritten(m: Migration) -> Iterator[Hold]:
    """Hold the transactions of the driver; at the end its controller crashes, so that they are lost."""
    hold = m.lab.rules.hold(matching("MULTI", broker=FIRST_ID))
    yield hold
    m.facts["writes were held"] = m.lab.rules.wait_for(hold, 1, POLLS)
    m.quorum.kill()
    _lose(m, hold)


def _lose(m: Migration, hold: Hold) -> None:
    """Close the connections of the controllers, so that what is held is lost, and hold no more."""
    if m.proxy is not None:
        m.proxy.cut()
    m.lab.rules.drop(hold)


def _caches(m: Migration, name: str) -> dict[str, dict[str, int]]:
    """Return the leaders of a topic's partitions that each broker names which runs."""
    found = {}
    for number, broker in m.lab.brokers.items():
        if broker.runs:
            with suppress(OSError):
                known = metadata(broker.port, with_ids=True).topics.get(name)
                found[str(number)] = {str(n): p.leader for n, p in known.partitions.items()} if known else {}
    return found


def _crash_leader(m: Migration, name: str = HEALTHY) -> dict[str, Any]:
    """Crash the leader of a topic's first partition; note whom brokers, and ZooKeeper, name as leader later."""
    dead = m.leaders(name)[0]
    m.lab.kill(dead)
    time.sleep(DEAD)
    caches = {topic: _caches(m, topic) for topic in m.ledgers}
    moves = all(by.get("0") not in (dead, -1, None) for by in caches[name].values())
    states = {topic: {str(n): s["leader"] for n, s in m.lab.states(topic).items()} for topic in m.ledgers}
    return {"dead": dead, "leader moves": moves, "leaders by caches": caches, "leaders in ZooKeeper": states}


def _restart_controllers(m: Migration) -> bool:
    """Crash the controllers and start them again; return whether they reach dual write."""
    m.quorum.kill()
    m.quorum.start()
    return m.is_in_dual_write()


def _after(m: Migration, dead: int | None, **more: Any) -> dict[str, Any]:
    """Start the broker that crashed, and return what the way out has brought."""
    if dead is not None:
        m.lab.start(dead)
        m.wait_for_isr(dead)
    time.sleep(SETTLES)
    after = m.look("after the way out")
    m.keep("after the way out")
    return {**m.observed(), **more, "records": after["records"]}


def _log_facts(m: Migration) -> None:
    """Note what the controllers' logs say of faults, how often."""
    text = "".join(each.log.read_text() for each in m.quorum.controllers.values() if each.log.exists())
    words = (
        "Failed to update partition states",
        CONDITIONAL,
        BEGINS,
        "Encountered ZooKeeper error",
        "Unhandled error in",
    )
    m.facts["lines of the controller"] = {word: text.count(word) for word in words if word in text}


# 1: a partition whose write is lost.


def _partition(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Add a partition of which the driver writes nothing before it crashes; then create its state by hand."""
    m = _begun(lab, this)
    with _unwritten(m):
        lab.note(f"add a partition: {lab.admin().add_partitions(m.topic, 2, [[2, 1]])}")
        time.sleep(SETTLES)
    m.quorum.start()
    reached = m.is_in_dual_write(STUCK)
    m.facts |= {"dual write again": reached, "znode": lab.topic(m.topic), "state znodes": sorted(lab.states(m.topic))}
    m.facts["leaders by caches before"] = _caches(m, m.topic)
    m.look("the controller has restarted")
    m.keep("the controller has restarted")
    crash = _crash_leader(m)
    m.look("a leader has crashed")
    m.keep("a leader has crashed")
    _log_facts(m)
    observed = {**m.observed(), **crash}
    partition = f"/brokers/topics/{m.topic}/partitions/1"
    state = {"controller_epoch": 1, "leader": 2, "version": 1, "leader_epoch": 0, "isr": [2, 1]}
    for path, content in ((partition, b""), (f"{partition}/state", json.dumps(state).encode())):
        with suppress(ZooKeeperError):
            lab.zk.do(create(path, content))
            lab.note(f"{path} created by hand")
    continues = m.is_in_dual_write(2 * POLLS)
    moves = wait_until(lambda: _moved(m, crash["dead"]), 30)
    restarted = not moves
    if restarted:
        continues = _restart_controllers(m)
        moves = wait_until(lambda: _moved(m, crash["dead"]), 30)
    way_out = _after(m, crash["dead"], continues=continues, **{"leader moves": moves, "also restarted": restarted})
    return result(m, _keeps_dead_leader, observed, **{"way out": way_out})


def _moved(m: Migration, dead: int, name: str = HEALTHY) -> bool:
    caches = _caches(m, name)
    return bool(caches) and all(by.get("0") not in (dead, -1, None) for by in caches.values())


# 2: a topic that is deleted and created again, whose write is lost.


def _recreation(lab: Lab, this: ExperimentRound, *, rolls_back: bool = False) -> RoundOutcome:
    """Delete a topic and create it again, of which the driver writes nothing before it crashes."""
    m = _begun(lab, this)
    old = (lab.topic(m.topic) or {}).get("topic_id")
    with _unwritten(m):
        lab.note(f"delete: {lab.admin().delete_topic(m.topic)}")
        lab.note(f"create: {lab.admin().create_topic(m.topic, ONE)}")
        time.sleep(SETTLES)
    m.ledgers[m.topic].acknowledged.clear()
    m.quorum.start()
    reached = m.is_in_dual_write(STUCK)
    refused = m.ledgers[m.topic].write(lab, AGAIN, 2)
    m.facts |= {"dual write again": reached, "old id": old, "new id": m.topic_id(m.topic), "refused": refused}
    m.facts["topics in ZooKeeper"] = lab.zk.children("/brokers/topics")
    m.look("the controller has restarted")
    m.keep("the controller has restarted")
    if rolls_back:
        _roll_back(m)
        m.look("rolled back")
        m.keep("rolled back")
        m.facts["topics in ZooKeeper after the rollback"] = lab.zk.children("/brokers/topics")
        m.facts["logs on disks"] = lab.directories(m.topic)
        observed = m.observed()
        content = {"version": 3, "topic_id": observed["new id"], "partitions": {"0": [1, 2]}}
        content |= {"adding_replicas": {}, "removing_replicas": {}}
        lab.zk.do(create(f"/brokers/topics/{m.topic}", json.dumps(content).encode()))
        lab.note(f"/brokers/topics/{m.topic} created by hand: {content}")
        rest(lab)
        return result(m, _lacks_topic, observed, **{"way out": _after(m, None, states=lab.states(m.topic))})
    crash = _crash_leader(m)
    m.look("a leader has crashed")
    m.keep("a leader has crashed")
    _log_facts(m)
    observed = {**m.observed(), **crash, "topic's leader moves": _moved(m, crash["dead"], m.topic)}
    again = _restart_controllers(m)
    topics, states = lab.zk.children("/brokers/topics"), lab.states(m.topic)
    moves = wait_until(lambda: _moved(m, crash["dead"], m.topic), 30)
    found = {"topics in ZooKeeper": topics, "states": states, "topic's leader moves": moves}
    return result(m, _lacks_topic, observed, **{"way out": _after(m, crash["dead"], continues=again, **found)})


def _roll_back(m: Migration) -> None:
    """Roll back from dual write, as documented."""
    m.quorum.stop()
    _elect(m)
    m.roll(Mode.ZOOKEEPER)
    rest(m.lab)


# 3: an answer of ZooKeeper that is lost, and a session that expires.


def _expired(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let the session of KRaft's controller with ZooKeeper expire in dual write, create a topic, and crash a leader."""
    m = _begun(lab, this)
    session = m.proxy.session if m.proxy else None
    if session is None:
        raise KwalkError("The session of KRaft's controller is not known.")
    expire(lab.zookeeper_port, session)
    lab.note("the session of KRaft's controller has expired")
    time.sleep(2 * SETTLES)
    lab.note(f"create {LATER}: {lab.admin().create_topic(LATER, ONE)}")
    time.sleep(2 * SETTLES)
    m.facts |= {"later topic in ZooKeeper": lab.topic(LATER), "/migration": lab.json("/migration")}
    m.look("the session has expired")
    crash = _crash_leader(m)
    m.look("a leader has crashed")
    return result(m, _stands_still, {**m.observed(), **crash})


def _answer(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Close the driver's connection to ZooKeeper after its transaction was applied, before the answer arrives."""
    m = _begun(lab, this)
    cut = lab.rules.cut(matching("MULTI", broker=FIRST_ID, direction=Direction.RESPONSE))
    lab.note(f"configure: {lab.admin().configure_topic(HEALTHY, {'retention.ms': '604800001'})}")
    m.facts["an answer was lost"] = lab.rules.wait_for(cut, 1, 20)
    time.sleep(3 * SETTLES)
    lab.rules.drop(cut)
    m.facts["configuration in ZooKeeper"] = lab.json(f"/config/topics/{HEALTHY}")
    m.facts["/migration"] = lab.json("/migration")
    lab.note(f"create {LATER}: {lab.admin().create_topic(LATER, ONE)}")
    time.sleep(2 * SETTLES)
    m.facts |= {"later topic in ZooKeeper": lab.topic(LATER), "later topic by caches": _caches(m, LATER)}
    m.look("an answer was lost")
    m.keep("an answer was lost")
    crash = _crash_leader(m)
    m.look("a leader has crashed")
    m.keep("a leader has crashed")
    _log_facts(m)
    observed = {**m.observed(), **crash}
    continues = _restart_controllers(m)
    moves = wait_until(lambda: _moved(m, crash["dead"]), 30)
    found = {"leader moves": moves, "later topic in ZooKeeper": lab.topic(LATER)}
    return result(
        m, _keeps_dead_leader, observed, **{"way out": _after(m, crash["dead"], continues=continues, **found)}
    )


# 4: a crash between the copy and the write of /migration.


def _of_migration(frame: ProxiedFrame) -> bool:
    """Whether the driver writes /migration, and does not claim /controller with it."""
    is_write = frame.direction is Direction.REQUEST and frame.kind in ("MULTI", "SET_DATA")
    return is_write and frame.broker == FIRST_ID and "/migration" in frame.paths and "/controller" not in frame.paths


def _copied(lab: Lab, this: ExperimentRound, *, starts_over: bool = False) -> RoundOutcome:
    """Crash the controller when the copy is complete in its log, and /migration does not say so yet."""
    m = Migration(lab, this)
    m.create(HEALTHY, ONE)
    m.create(m.topic, TWO)
    m.put_between()
    m.quorum = Quorum(lab, zookeeper_port=m.proxy.port if m.proxy else None)
    m.quorum.start()
    m.quorum.reaches("WAIT_FOR_BROKERS", 40)
    m.before()
    m.keep("waiting")
    hold = lab.rules.hold(_of_migration)
    m.roll(Mode.MIGRATING)
    _wait_for_copy(m, hold)
    m.keep("copied")
    m.quorum.kill()
    _lose(m, hold)
    m.facts["/migration"] = lab.json("/migration")
    m.quorum.start()
    reached = m.is_in_dual_write(STUCK)
    m.facts |= {"dual write": reached, "controller says": _last_line(m, "KRaft controller indicates|ZkMigrationState")}
    m.look("the controller has restarted")
    m.keep("the controller has restarted")
    crash = _crash_leader(m)
    m.look("a leader has crashed")
    _log_facts(m)
    observed = {**m.observed(), **crash, "/controller": lab.controller()}
    if reached:
        return result(m, _keeps_dead_leader, observed)
    before: dict[str, Any] = {}
    if starts_over:
        before = _forget(m)
        before["leader moves in between"] = wait_until(lambda: _moved(m, crash["dead"]), 30)
        lab.launch(crash["dead"])
        m.quorum.start()
        before["continues without a restart of brokers"] = m.is_in_dual_write(STUCK)
        m.roll(Mode.MIGRATING)
        continues = m.is_in_dual_write()
    else:
        known = lab.json("/migration") or {}
        content = {**known, "kraft_metadata_offset": 1, "kraft_metadata_epoch": 1, "kraft_controller_id": FIRST_ID}
        lab.zk.do(set_data("/migration", json.dumps(content).encode()))
        lab.note(f"/migration written by hand: {content}")
        continues = _restart_controllers(m)
    moves = wait_until(lambda: _moved(m, crash["dead"]), 30)
    way_out = _after(
        m, None if starts_over else crash["dead"], continues=continues, **{"leader moves": moves}, **before
    )
    return result(m, _keeps_dead_leader, observed, **{"way out": way_out})


def _forget(m: Migration) -> dict[str, Any]:
    """Stop the controllers, delete what they wrote to ZooKeeper, and take their data away: brokers stay as they are."""
    m.quorum.stop()
    _elect(m)
    for each in m.quorum.controllers.values():
        (each.folder / "data").rename(each.folder / "data-of-the-first-attempt")
    return {"controller in between": m.lab.controller()}


def _wait_for_copy(m: Migration, hold: Hold) -> None:
    """Let earlier writes of /migration pass, until the driver says that the copy is complete; the next one is held."""
    end = time.monotonic() + POLLS
    while not wait_until(lambda: COPIED in m.quorum.active.text, 1.0) and time.monotonic() < end:
        if any(_of_migration(frame) for frame in m.lab.rules.held()):
            m.lab.rules.release(hold, 1)
    m.facts["copied"] = COPIED in m.quorum.active.text
    wait_until(lambda: any(_of_migration(frame) for frame in m.lab.rules.held()), 10)


def _last_line(m: Migration, *alternatives: str) -> str | None:
    words = [word for each in alternatives for word in each.split("|")]
    lines = [line for line in m.quorum.active.text.splitlines() if any(word in line for word in words)]
    return lines[-1][:500] if lines else None


# 5: a rollback from a dual write that does not write.


def _careless(lab: Lab, this: ExperimentRound, *, in_kraft_mode: bool = False, too_late: bool = True) -> RoundOutcome:
    """Write records to the leader alone when the driver cannot write, and roll back while the leader is down.

    Args:
        lab: The cluster.
        this: The round.
        in_kraft_mode: Whether the brokers are in KRaft mode before.
        too_late: Whether /controller is deleted when the follower runs again, and the leader is down.
    """
    m = Migration(lab, this)
    m.create(HEALTHY, {0: [3, 1]})
    m.create(m.topic, ONE)
    m.before()
    m.put_between()
    m.begin()
    m.is_in_dual_write()
    if in_kraft_mode:
        m.roll(Mode.KRAFT)
    m.keep("KRaft mode" if in_kraft_mode else "dual write")
    leader = m.leaders(m.topic)[0]
    follower = 3 - leader
    hold = lab.rules.hold(matching("MULTI", broker=FIRST_ID))
    lab.kill(follower)
    refused = m.ledgers[m.topic].write(lab, ALONE, 5)  # the leader asks for a smaller ISR before the session ends
    alone = sum(one.origin == ALONE for one in m.ledgers[m.topic].acknowledged)
    m.facts |= {"acknowledged by the leader alone": alone, "refused": refused, "leader": leader}
    m.facts |= {"state in ZooKeeper": lab.states(m.topic), "leader's ISR": _isr_of(m, leader)}
    m.look("written to the leader alone")
    m.keep("written to the leader alone")
    if in_kraft_mode:
        for number in (3, leader):
            lab.roll(number, Mode.MIGRATING)
    m.quorum.kill()
    _lose(m, hold)
    _roll_back_without(m, leader, too_late=too_late)
    m.facts["has in the end"] = _holders(m)
    return result(m, lambda observed: bool(observed["lost topics"]), m.observed())


def _roll_back_without(m: Migration, leader: int, *, too_late: bool) -> None:
    """Start the follower when the leader is down, then the leader, and broker 3 last, in ZooKeeper mode."""
    lab, follower = m.lab, 3 - leader
    if not too_late:
        _elect(m)
    lab.brokers[follower].mode = Mode.ZOOKEEPER
    lab.kill(leader)
    lab.start(follower)
    if too_late:
        wait_until(lambda: str(leader) not in lab.zk.children("/brokers/ids"), 40)
        _elect(m)
    rest(lab)
    m.look("the follower runs, the leader is down")
    m.keep("the follower runs, the leader is down")
    m.facts |= {"leader then": lab.states(m.topic)[0]["leader"], "has then": _holders(m)}
    lab.brokers[leader].mode = Mode.ZOOKEEPER
    lab.start(leader)
    m.wait_for_isr(leader)
    lab.kill(3)
    lab.roll(3, Mode.ZOOKEEPER)
    m.wait_for_isr(3)
    time.sleep(SETTLES)
    m.look("rolled back")
    m.keep("rolled back")


def _elect(m: Migration) -> None:
    """Delete what the KRaft controller has in ZooKeeper, so that a broker becomes controller."""
    for path in ("/controller", "/migration"):
        m.lab.zk.do(delete(path))
        m.lab.note(f"{path} deleted")
    wait_until(lambda: m.lab.controller() is not None, 30)


def _isr_of(m: Migration, number: int) -> list[int]:
    """Return the ISR of the topic's first partition as a broker names it."""
    known = metadata(m.lab.brokers[number].port, with_ids=True).topics.get(m.topic)
    return list(known.partitions[0].isr) if known else []


def _holders(m: Migration) -> dict[str, int]:
    """Return how many of the records of the leader alone each broker's log has."""
    disks, records = logs_on_disks(m.lab, m.topic), m.ledgers[m.topic].acknowledged
    values = {one.value for one in records if one.origin == ALONE}
    return {
        str(number): len({entry.value for log in logs.values() for entry in log.values()} & values)
        for number, logs in disks.items()
    }


# 6: finalization with a broker in ZooKeeper mode.


def _finalized(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Restart the controllers without the flag while broker 3 is in ZooKeeper mode, and crash a leader."""
    m = _begun(lab, this, {0: [1, 3], 1: [3, 1]})
    for number in (1, 2):
        lab.roll(number, Mode.KRAFT)
        m.wait_for_isr(number)
    lab.note(f"elect broker 1: {lab.admin().elect_preferred(m.topic, 0)}")
    time.sleep(SETTLES)
    m.keep("KRaft mode of two brokers")
    m.finalize()
    m.facts["finalized"] = "finalized" in m.quorum.active.text
    m.facts["controller says"] = _last_line(m, "Completing the ZK migration|POST_MIGRATION")
    m.look("finalized")
    m.keep("finalized")
    dead = 1
    lab.kill(dead)
    time.sleep(DEAD)
    m.facts["leaders by caches"] = {name: _caches(m, name) for name in m.ledgers}
    m.facts["leader moves"] = _caches(m, m.topic).get("3", {}).get("0") not in (dead, -1)
    m.look("a leader has crashed")
    m.keep("a leader has crashed")
    observed = {**m.observed(), "dead": dead}
    lab.stop(3)
    lab.brokers[3].mode = Mode.MIGRATING
    mark = lab.launch(3)
    refused = wait_until(lambda: not lab.brokers[3].runs, 40)
    lines = [line[:300] for line in text_from(lab.brokers[3].log("server"), mark).splitlines() if UNREGISTERED in line]
    observed["restart in ZooKeeper mode"] = {"ends": refused, "says": lines[-1:], "times": len(lines)}
    lab.roll(3, Mode.KRAFT)
    lab.start(dead)
    m.wait_for_isr(dead)
    after = m.look("after the way out")
    m.keep("after the way out")
    return result(m, _keeps_dead_leader, observed, **{"way out": {**m.observed(), "records": after["records"]}})


# 7: /migration without content.


def _null(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Create /migration with null data before the controllers start, as zookeeper-security-migration.sh does."""
    m = Migration(lab, this)
    m.create(HEALTHY, ONE)
    m.create(m.topic, TWO)
    anyone = int32(1) + int32(31) + long_string("world") + long_string("anyone")
    lab.zk.do(Write(Op.CREATE, long_string("/migration") + buffer(None) + anyone + int32(0), "/migration"))
    m.before()
    m.begin()
    m.is_in_dual_write()
    m.look("end")
    m.keep("waiting")
    _log_facts(m)
    observed = m.observed()
    lab.zk.do(delete("/migration"))
    lab.note("/migration deleted")
    continues = m.is_in_dual_write(2 * POLLS)
    restarted = not continues
    if restarted:
        continues = _restart_controllers(m)
    way_out = _after(m, None, continues=continues, **{"also restarted": restarted})
    return result(m, waits, observed, **{"way out": way_out})


# 8: the controller restarts.


def _restarts(lab: Lab, this: ExperimentRound, *, controllers: int = 1) -> RoundOutcome:
    """Delete a topic, crash the active controller, and see whether dual write comes back, and the topic, too."""
    m = _begun(lab, this, controllers=controllers)
    m.create(LATER, ONE)
    lab.note(f"delete: {lab.admin().delete_topic(m.topic)}")
    m.dropped.add(m.topic)
    time.sleep(2 * SETTLES)
    m.facts["topics in ZooKeeper"] = lab.zk.children("/brokers/topics")
    m.look("deleted")
    m.keep("deleted")
    active = m.quorum.active
    m.quorum.kill(active.id)
    if controllers == 1:
        m.quorum.start()
        reached = m.is_in_dual_write()
    else:
        before = {each.id: len(each.text) for each in m.quorum.controllers.values()}
        time.sleep(POLLS)
        others = [each for each in m.quorum.controllers.values() if each.runs]
        reached = any("to DUAL_WRITE" in each.text[before[each.id] :] for each in others)
    texts = {str(each.id): each.text for each in m.quorum.controllers.values() if each.runs}
    m.facts |= {"dual write again": reached, "copies begun": {n: text.count(BEGINS) for n, text in texts.items()}}
    m.facts["topics in ZooKeeper afterwards"] = lab.zk.children("/brokers/topics")
    m.facts["deleted topic by caches"] = _caches(m, m.topic)
    m.look("the controller has restarted")
    m.keep("the controller has restarted")
    crash = _crash_leader(m)
    _log_facts(m)
    m.look("a leader has crashed")
    observed = {**m.observed(), **crash}
    return result(m, _stays_out_of_dual_write, observed)


# 9: deleted and created again, as fast as possible.


def _recreated(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Delete topics and create them again at once: one half by one client, the other half by two clients."""
    m = Migration(lab, this)
    m.create(HEALTHY, ONE)
    m.create(m.topic, ONE)
    for number in range(TOPICS):
        lab.admin().create_topic(_name(number), ONE)
    m.before()
    m.begin()
    m.is_in_dual_write()
    ids = {_name(n): (lab.topic(_name(n)) or {}).get("topic_id") for n in range(TOPICS)}
    answers: Counter[str] = Counter()
    for number in range(TOPICS):
        name = _name(number)
        if number % 2:
            answers[f"one client: {_by_one(lab, name)}"] += 1
        else:
            answers[f"two clients: {_by_two(lab, name)}"] += 1
    time.sleep(3 * SETTLES)
    served, new = {}, {}
    for number in range(TOPICS):
        name = _name(number)
        served[name] = _served(lab, name)
        new[name] = (lab.topic(name) or {}).get("topic_id") not in (None, ids[name])
    short = {n: s["isr"] for n in map(_name, range(TOPICS)) for s in lab.states(n).values() if len(s["isr"]) < 2}
    lacks = {n: {str(b): dirs for b, dirs in lab.directories(n).items() if not dirs} for n in map(_name, range(TOPICS))}
    m.facts |= {
        "answers": dict(answers),
        "created again": sum(new.values()),
        "not served": {name: error for name, error in served.items() if error != "NONE" and new[name]},
        "short ISR": short,
        "no log": {name: by for name, by in lacks.items() if by and new[name]},
        "refusals": {word: sum(_count(lab, word).values()) for word in REFUSALS},
    }
    m.look("end")
    m.keep("dual write")
    observed = m.observed()
    continues = _restart_controllers(m)
    time.sleep(3 * SETTLES)
    later = {name: _served(lab, name) for name in m.facts["not served"]}
    later_short = {n: s["isr"] for n in short for s in lab.states(n).values() if len(s["isr"]) < 2}
    way_out = _after(m, None, continues=continues, **{"not served before": later, "short ISR now": later_short})
    return result(m, _refuses_again, observed, **{"way out": way_out})


def _served(lab: Lab, name: str) -> str:
    """Return what a producer gets from the first partition of a topic."""
    found = lab.probe(name, seconds=3).get("0")
    return str(found["produce"]["error"]) if found else "no metadata"


def _name(number: int) -> str:
    return f"again-{number}"


def _by_one(lab: Lab, name: str) -> str:
    """Delete and create a topic by one client, one request after the other."""
    client = lab.admin()
    deleted, created = client.delete_topic(name), client.create_topic(name, ONE)
    return f"{deleted.error}, {created.error}"


def _by_two(lab: Lab, name: str) -> str:
    """Delete a topic, and create it by another client before the deletion is answered."""
    answers: list[AdminAnswer] = []
    ports = [broker.port for broker in lab.brokers.values()]
    deletes = Thread(target=lambda: answers.append(AdminRequests(partial(int, ports[0])).delete_topic(name)))
    deletes.start()
    created, attempts = AdminAnswer("TOPIC_ALREADY_EXISTS"), 0
    while created.error == "TOPIC_ALREADY_EXISTS" and attempts < 200:
        created, attempts = AdminRequests(partial(int, ports[-1])).create_topic(name, ONE), attempts + 1
    deletes.join()
    return f"{answers[0].error}, {created.error}"


def _count(lab: Lab, word: str) -> dict[int, int]:
    logs = ("server", "state-change")
    return {n: sum(text_from(b.log(log), 0).count(word) for log in logs) for n, b in lab.brokers.items()}


# Effects.


def _keeps_dead_leader(observed: Mapping[str, Any]) -> bool:
    return not observed["leader moves"]


def _stands_still(observed: Mapping[str, Any]) -> bool:
    return _keeps_dead_leader(observed) or observed["later topic in ZooKeeper"] is None


def _stays_out_of_dual_write(observed: Mapping[str, Any]) -> bool:
    return not observed["dual write again"]


def _lacks_topic(observed: Mapping[str, Any]) -> bool:
    return "t0" not in observed["topics in ZooKeeper"]


def _refuses_again(observed: Mapping[str, Any]) -> bool:
    return bool(observed["not served"] or observed["short ISR"] or observed["no log"])


EXPERIMENTS = (
    migration_experiment(
        "partition-not-written",
        "The KRaft controller crashes between the commit of a new partition and its write to ZooKeeper.",
        "From 3.7 on it is stuck, and no leader moves, until the partition's znodes are created by hand.",
        _partition,
        releases=("3.5.2", "3.6.2", "3.9.0"),
        is_ordered=True,
    ),
    migration_experiment(
        "recreation-not-written",
        "The KRaft controller crashes between a topic's deletion and creation and their writes to ZooKeeper.",
        "The topic is deleted from ZooKeeper, and comes back when the controller restarts once more.",
        _recreation,
        releases=("3.5.2", "3.6.2", "3.9.0"),
        is_ordered=True,
    ),
    migration_experiment(
        "recreation-not-written-rolled-back",
        "The same, and the cluster is rolled back before the controller restarts once more.",
        "The topic is gone, and its logs stay on the disks.",
        partial(_recreation, rolls_back=True),
        is_ordered=True,
    ),
    migration_experiment(
        "answer-lost",
        "The driver's connection to ZooKeeper breaks after its transaction was applied, before the answer.",
        "Nothing is written to ZooKeeper, and nothing sent to brokers, any more, until the controller restarts.",
        _answer,
        releases=("3.5.2", "3.6.2", "3.9.0"),
        is_ordered=True,
    ),
    migration_experiment(
        "session-expires",
        "The session of the KRaft controller with ZooKeeper expires in dual write, and a leader crashes.",
        "Changes are written to ZooKeeper and sent to brokers as before.",
        _expired,
        predicted=lambda release: False,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "killed-after-copy",
        "The KRaft controller crashes when the copy is complete, before it writes /migration.",
        "The next one stays inactive, with /controller taken, until /migration is written; on 3.4.1 it copies again.",
        _copied,
        releases=("3.4.1", "3.5.2", "3.6.2", "3.9.0"),
        predicted=since(3, 5),
        is_ordered=True,
    ),
    migration_experiment(
        "killed-after-copy-starts-over",
        "The same; then the controllers' data, /controller and /migration are removed, and the migration begins again.",
        "A broker becomes controller in between; when all brokers have restarted it migrates, and no records are lost.",
        partial(_copied, starts_over=True),
        is_ordered=True,
    ),
    migration_experiment(
        "careless-rollback",
        "Records are written to a leader alone while the driver cannot write; /controller is deleted when it is down.",
        "No records are lost: the leader, in ZooKeeper mode, does not get its ISR shrunk, and acknowledges none.",
        _careless,
        predicted=lambda release: False,
        options=THREE_BROKERS,
        releases=("3.5.2", "3.9.0"),
        is_ordered=True,
    ),
    migration_experiment(
        "careless-rollback-in-time",
        "The same; /controller is deleted while the leader runs, and the follower does not.",
        "No records are lost: the next controller takes the follower out of the ISR.",
        partial(_careless, too_late=False),
        predicted=lambda release: False,
        options=THREE_BROKERS,
        releases=("3.5.2", "3.9.0"),
        is_ordered=True,
    ),
    migration_experiment(
        "careless-rollback-of-kraft-brokers",
        "The same as careless-rollback, when the brokers are in KRaft mode.",
        "The follower becomes leader without the acknowledged records, and the leader truncates them.",
        partial(_careless, in_kraft_mode=True),
        options=THREE_BROKERS,
        is_ordered=True,
    ),
    migration_experiment(
        "finalized-too-early",
        "The controllers restart without the flag while a broker is in ZooKeeper mode, and a leader crashes.",
        "The broker in ZooKeeper mode keeps the dead leader, until it restarts in KRaft mode.",
        _finalized,
        options=THREE_BROKERS,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "null-znode",
        "/migration exists with null data before the controllers start.",
        "The migration waits for good, until it is deleted; below 3.7.1 the controller must restart, too.",
        _null,
        releases=("3.4.1", "3.5.2", "3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "controller-restarts",
        "A topic is deleted in dual write, and the only KRaft controller crashes and starts.",
        "It continues with dual write; on 3.4.1 the topic stays in ZooKeeper.",
        _restarts,
        predicted=lambda release: False,
        releases=("3.4.1", "3.9.0"),
    ),
    migration_experiment(
        "controller-restarts-quorum",
        "A topic is deleted in dual write, and the active one of three KRaft controllers crashes.",
        "On 3.4.1 the next one copies ZooKeeper again and again, with the topic; later ones continue with dual write.",
        partial(_restarts, controllers=3),
        predicted=lambda release: not since(3, 5)(release),
        releases=("3.4.1", "3.9.0"),
    ),
    migration_experiment(
        "recreated-at-once",
        "Topics are deleted and created again at once in dual write, by one client and by two.",
        "Where both are in one delta, a broker in ZooKeeper mode refuses the topic.",
        _recreated,
        options=evolve(THREE_BROKERS, brokers=2),
        releases=("3.6.2", "3.9.0"),
    ),
)
