"""Migrations from ZooKeeper to KRaft on real brokers: a cluster is damaged, and migrated as the documentation says.

Known records are written before. `before.json` is the snapshot of `kwalk collect` before the KRaft controllers begin;
`observed` says what the migration did, for a comparison with what was predicted from the snapshot. Where there is a way
out, it is tried afterwards, or instead of the steps that the migration does not reach.

What was deleted stays on the disks for ten minutes, so that its records can be counted.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import evolve

from kwalk.clusters.lab.brokers import AdminRequests, produce
from kwalk.clusters.lab.cluster import Lab, LabOptions, Mode, text_from
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.known_records import AFTER
from kwalk.clusters.lab.experiments.migration_steps import HEALTHY, POLLS, SETTLES, Migration
from kwalk.clusters.lab.experiments.operator_steps import rest
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Proxy, ZooKeeperParser, matching
from kwalk.clusters.lab.quorum import FIRST_ID, Quorum
from kwalk.clusters.lab.zookeeper import create, delete, set_data
from kwalk.model.language import KwalkError

TWO: Mapping[int, list[int]] = {0: [1, 2], 1: [2, 1]}
THREE: Mapping[int, list[int]] = {0: [1, 2, 3], 1: [2, 3, 1]}
SINGLE = "single"
"""A topic with one replica."""
GONE = 9
"""The id of a broker that never was."""
DEAD = 25.0
"""Seconds after which the session of a broker that was killed has expired, and another replica leads."""
ELECTIONS = 10
"""How often the quorum elects before the migration of which the cluster is rolled back."""
USER, PRINCIPAL = "lab-user", "lab-principal"
THROTTLE = "leader.replication.throttled.rate"
FILLER = 150
"""Records that keep a throttled replica busy: it copies one in about ten seconds."""

REFUSED = "Controller is in pre-migration mode and cannot register KRaft brokers"
"""What a controller says that has copied nothing, and has no MIGRATION in its log."""

Step = Callable[[Migration], None]
Effect = Callable[[Mapping[str, Any]], bool]
"""Whether what was observed shows what an experiment is about."""


def _nothing(_: Migration) -> None:
    """Leave the cluster as it is."""


# Damages.


def _erase_id(m: Migration) -> None:
    """Let an old client add a partition: it writes the topic's znode without the id."""
    m.lab.tool(OLD_CLIENT, "--alter", "--topic", m.topic, "--partitions", "3")
    rest(m.lab)


def _other_id(m: Migration) -> None:
    """Let an old client erase the topic's id, and the controller fail over: it mints another id."""
    _erase_id(m)
    m.lab.delete_controller()
    rest(m.lab)


def _hang_deletion(m: Migration) -> None:
    """Delete a topic that has a replica on a broker that never was: the deletion waits."""
    znode = m.lab.topic(m.topic) or {}
    content = {**znode, "partitions": {**znode["partitions"], "0": [1, GONE]}}
    m.lab.zk.do(set_data(f"/brokers/topics/{m.topic}", json.dumps(content).encode()))
    m.lab.delete_controller()
    rest(m.lab)
    m.lab.note(f"delete {m.topic}: {m.lab.admin().delete_topic(m.topic)}")
    m.dropped.add(m.topic)
    time.sleep(SETTLES)


def _lose_broker(m: Migration) -> None:
    """Stop a broker for good that has replicas."""
    m.lab.move_controller(1)
    m.lab.stop(3)
    rest(m.lab)


def _leave_orphan(m: Migration) -> None:
    """Leave a log without partition.metadata of a topic that is gone, as brokers before 2.8 did."""
    other = next(number for number in m.lab.brokers if number != m.lab.controller())
    m.lab.stop(other)
    folder = m.lab.brokers[other].data / "gone-0"
    folder.mkdir()
    (folder / f"{0:020}.log").write_bytes(b"")
    m.lab.start(other)
    m.lab.note(f"broker {other} has gone-0 without partition.metadata")


def _remove_metadata_files(m: Migration) -> None:
    """Remove partition.metadata of the damaged topics on brokers that run."""
    for topic in (m.topic, SINGLE):
        for path in (file for broker in m.lab.brokers for file in m.lab.metadata_files(broker, topic)):
            path.unlink()
    m.lab.note(f"partition.metadata of {m.topic} and {SINGLE} is removed")


def _throttle(m: Migration) -> None:
    """Begin a reassignment to broker 3 that is throttled, so that it is in flight while the cluster migrates."""
    lab = m.lab
    lab.note(f"throttle: {lab.admin().configure_topic(m.topic, {'leader.replication.throttled.replicas': '*'})}")
    _set_rate(m, "1")
    time.sleep(SETTLES)
    leader = lab.brokers[lab.states(m.topic)[0]["leader"]]
    for _ in range(FILLER):
        produce(leader.port, m.topic, 0, "filler:" + "x" * 300)
    lab.note(f"reassign: {lab.admin().reassign(m.topic, {0: [3, 2]})}")
    rest(lab)


def _set_rate(m: Migration, rate: str | None) -> None:
    """Set the rate of throttled replicas on each broker, or no rate."""
    for number, broker in m.lab.brokers.items():
        answer = AdminRequests(partial(int, broker.port)).configure_brokers({THROTTLE: rate}, number)
        m.lab.note(f"broker {number}: {THROTTLE} {rate}: {answer}")


def _create_again(m: Migration) -> None:
    """Create a topic again that was deleted, and look whether it serves."""
    m.lab.note(f"create {m.topic}: {m.lab.admin().create_topic(m.topic, TWO)}")
    time.sleep(SETTLES)
    m.look("created again")


def _count_refusals(m: Migration) -> None:
    """Note which brokers have refused a full LeaderAndIsr because of a log without an id."""
    texts = {number: text_from(broker.log("server"), 0) for number, broker in m.lab.brokers.items()}
    m.facts["refuses"] = [number for number, text in texts.items() if "does not have a topic ID" in text]


# Rounds.


def result(m: Migration, effect: Effect, observed: dict[str, Any], **more: Any) -> RoundOutcome:
    """Return what a round saw; `observed` is from before any way out was tried."""
    m.this.keep_lines(
        "stray|does not have a topic ID|INCONSISTENT_TOPIC_ID|StateChangeFailed|is scheduled for deletion"
    )
    m.this.files["driver.txt"] = "".join(
        f"{line}\n" for each in m.quorum.controllers.values() for line in _driver_lines(each.log.read_text())
    )
    m.this.files["observed.json"] = json.dumps(observed, indent=1)
    return RoundOutcome(_outcome(observed), effect(observed), {"observed": observed, "stages": m.stages, **more})


def _driver_lines(text: str) -> list[str]:
    words = ("Migration", "igrat", "transitioning", "Still waiting", "fault", "Exception")
    return [line[:1000] for line in text.splitlines() if any(word in line for word in words)]


def _outcome(observed: Mapping[str, Any]) -> str:
    begin = "waits" if observed["waits"] else "stuck" if observed["stuck"] else "migrated"
    lost = f"loses {', '.join(observed['lost topics'])}" if observed["lost topics"] else "no records are lost"
    return f"{begin}; {lost}" + "".join(f"; {what}" for what in ("set aside", "deleted") if observed[what])


def _migrated(
    lab: Lab,
    this: ExperimentRound,
    *,
    effect: Effect,
    damage: Step = _nothing,
    in_dual_write: Step = _nothing,
    afterwards: Step = _nothing,
    way_out: Step | None = None,
    assignment: Mapping[int, list[int]] = TWO,
    controllers: int = 1,
) -> RoundOutcome:
    """Damage a cluster, migrate it as documented, to KRaft mode if it gets that far, and try the way out."""
    m = Migration(lab, this)
    m.create(HEALTHY, TWO)
    m.create(m.topic, assignment)
    damage(m)
    m.before()
    m.begin(controllers)
    if m.is_in_dual_write():
        in_dual_write(m)
        m.look("dual write")
        m.roll(Mode.KRAFT)
        afterwards(m)
    m.look("end")
    observed = m.observed()
    if way_out is None:
        return result(m, effect, observed)
    way_out(m)
    after = m.look("after the way out")
    return result(m, effect, observed, **{"way out": {**m.observed(), "records": after["records"]}})


def _finalized(m: Migration) -> None:
    m.finalize()
    m.lab.note(f"written after the migration: {m.ledgers[m.topic].write(m.lab, AFTER)}")


def _reassigned_away(m: Migration) -> None:
    """Move the replicas away from the broker that is gone; the migration continues at the next poll."""
    m.lab.note(f"reassign: {m.lab.admin().reassign(m.topic, {0: [1, 2], 1: [2, 1]})}")
    rest(m.lab)
    if m.is_in_dual_write(2 * POLLS):
        m.roll(Mode.KRAFT)


def _unthrottled(m: Migration) -> None:
    """Look whether the reassignment is still known, and whether it ends without the throttle."""
    lab = m.lab
    before = {"isr": m.partitions(m.topic)[0].isr, "znode": lab.topic(m.topic)}
    _set_rate(m, None)
    ended = wait_until(lambda: set(m.partitions(m.topic)[0].isr) == {2, 3}, 2 * POLLS, every=0.5)
    time.sleep(2 * SETTLES)
    left = f"{m.topic}-0" in lab.directories(m.topic)[1]
    m.facts |= {"in flight": before, "reassignment ends": ended, "the replica that is removed keeps its log": left}


def _while_waiting(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Erase a topic's id when all brokers have the flag, and start the KRaft controllers; then write the id back."""
    m = Migration(lab, this)
    m.create(HEALTHY, TWO)
    m.create(m.topic, TWO)
    m.quorum = Quorum(lab)
    m.roll(Mode.MIGRATING)
    topic_id = (lab.topic(m.topic) or {})["topic_id"]
    _erase_id(m)
    m.before()
    m.quorum.start()
    m.is_in_dual_write()
    m.look("end")
    m.keep("waiting")
    observed = m.observed()
    lab.zk.do(lab.topic_id_write(m.topic, topic_id))
    lab.note(f"the id {topic_id} is written back")
    continues = m.is_in_dual_write(2 * POLLS)
    if continues:
        m.roll(Mode.KRAFT)
    after = m.look("after the way out")
    way_out = {**m.observed(), "continues": continues, "records": after["records"]}
    return result(m, waits, observed, **{"way out": way_out})


def _in_dual_write(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Let an old client add a partition in dual write, restart the controller, and crash a leader."""
    m = Migration(lab, this)
    m.create(HEALTHY, {0: [1, 2]})
    m.create(m.topic, {0: [1, 2]})
    m.before()
    m.begin()
    m.is_in_dual_write()
    content = lab.zk.get(f"/brokers/topics/{m.topic}")
    assert content is not None
    lab.tool(OLD_CLIENT, "--alter", "--topic", m.topic, "--partitions", "2")
    time.sleep(SETTLES)
    m.look("an old client has added a partition")
    m.quorum.kill()
    m.quorum.start()
    m.is_in_dual_write()
    m.look("the controller has restarted")
    dead = lab.states(HEALTHY)[0]["leader"]
    lab.kill(dead)
    time.sleep(DEAD)
    m.look("a leader has crashed")
    observed = {**m.observed(), "leader moves": lab.states(HEALTHY)[0]["leader"] != dead}
    lab.zk.do(set_data(f"/brokers/topics/{m.topic}", content[0]))
    lab.note("the content of the topic's znode is written back")
    continues = m.is_in_dual_write(2 * POLLS)
    moves = wait_until(lambda: lab.states(HEALTHY)[0]["leader"] not in (dead, -1), 30)
    m.look("the content is written back")
    lab.start(dead)
    m.wait_for_isr(dead)
    if continues:
        m.roll(Mode.KRAFT)
    after = m.look("after the way out")
    way_out = {**m.observed(), "continues": continues, "leader moves": moves, "records": after["records"]}
    return result(m, _is_stuck, observed, **{"way out": way_out})


def _before_copy(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Erase a topic's id after the driver has seen all brokers, and before it reads the topics."""
    m = Migration(lab, this)
    m.create(HEALTHY, {0: [1, 2]})
    m.create(m.topic, {0: [1, 2]})
    m.before()
    proxy = Proxy(FIRST_ID, lab.zookeeper_port, ZooKeeperParser, lab.rules)
    m.quorum = Quorum(lab, zookeeper_port=proxy.port)
    m.quorum.start()
    claim = lab.rules.hold(matching("MULTI", path="/controller", broker=FIRST_ID))
    m.roll(Mode.MIGRATING)
    is_held = lab.rules.wait_for(claim, 1, POLLS)
    topic_id = (lab.topic(m.topic) or {})["topic_id"]
    _erase_id(m)
    lab.rules.drop(claim)
    m.is_in_dual_write(20)
    if not m.quorum.active.runs:
        m.quorum.start()
        m.is_in_dual_write(30)
    dead = lab.states(HEALTHY)[0]["leader"]
    lab.kill(dead)
    time.sleep(DEAD)
    m.look("a leader has crashed")
    observed = {**m.observed(), "claim was held": is_held, "leader moves": lab.states(HEALTHY)[0]["leader"] != dead}
    observed["/controller"] = lab.controller()
    lab.zk.do(lab.topic_id_write(m.topic, topic_id))
    lab.note(f"the id {topic_id} is written back")
    lab.launch(dead)
    continues = m.is_in_dual_write(2 * POLLS)
    after = m.look("after the way out")
    proxy.close()
    way_out = {**m.observed(), "continues": continues, "records": after["records"]}
    return result(m, _has_no_controller, observed, **{"way out": way_out})


def _roll_back(m: Migration, *paths: str) -> None:
    """Roll back from dual write, as documented: stop the controllers, delete znodes, restart without the flag."""
    m.quorum.stop()
    for path in paths:
        m.lab.zk.do(delete(path))
        m.lab.note(f"{path} deleted")
    m.roll(Mode.ZOOKEEPER)


def _rolled_back(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Migrate to a quorum that has elected often, roll back, and crash a leader."""
    m = _with_a_quorum_that_elected_often(lab, this)
    _roll_back(m, "/controller", "/migration")
    time.sleep(DEAD)
    m.look("rolled back")
    dead = _crash_leader(m)
    states = {name: {str(p): s["leader"] for p, s in lab.states(name).items()} for name in m.ledgers}
    texts = (text_from(broker.log("state-change"), 0) for broker in lab.brokers.values())
    refused = [line for text in texts for line in text.splitlines() if "another controller was elected" in line]
    observed = {**m.observed(), "leaders": states, "dead": dead, "refused": refused[-1] if refused else None}
    m.raise_epoch()
    after = m.look("after the way out")
    way_out = {**m.observed(), "leader moves": lab.states(HEALTHY)[0]["leader"] != dead, "records": after["records"]}
    return result(m, _leads_though_dead, observed, **{"way out": way_out})


def _with_a_generated_id(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Migrate a broker whose id ZooKeeper has generated; then give it that id in its configuration."""
    m = Migration(lab, this)
    m.create(m.topic, {0: [1]})
    m.before()
    failure = ""
    try:
        m.begin()
    except KwalkError as error:
        failure = str(error)
    text = text_from(lab.brokers[1].log("server"), 0)
    reasons = [line for line in text.splitlines() if re.search("Invalid negative nodeId|generation is incompat", line)]
    lab.options = evolve(lab.options, settings={**KEPT, "broker.id": 1, "broker.id.generation.enable": "false"})
    lab.start(1)
    migrates = m.is_in_dual_write()
    m.look("end")
    outcome = "the broker does not start" if failure and reasons else "the broker starts"
    details = {"reasons": reasons[:1], "dual write, with the id given": migrates}
    return RoundOutcome(outcome, bool(failure and reasons), details)


def _with_users(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Migrate a cluster that has a SCRAM credential, a quota of a user and an ACL; look for them in KRaft's log."""
    m = Migration(lab, this)
    m.create(m.topic, TWO)
    credential = ("--add-config", "SCRAM-SHA-256=[password=secret]")
    options = ("--alter", "--entity-type", "users", "--entity-name", USER, *credential)
    lab.tool(lab.options.release, *options, main="kafka.admin.ConfigCommand")
    user = lab.json(f"/config/users/{USER}")
    user["config"]["producer_byte_rate"] = "1000001"
    lab.zk.do(set_data(f"/config/users/{USER}", json.dumps(user).encode()))
    acl = {"principal": f"User:{PRINCIPAL}", "permissionType": "Allow", "operation": "Read", "host": "*"}
    for path in ("/kafka-acl", "/kafka-acl/Topic"):
        if lab.zk.get(path) is None:
            lab.zk.do(create(path, b""))
    lab.zk.do(create(f"/kafka-acl/Topic/{m.topic}", json.dumps({"version": 1, "acls": [acl]}).encode()))
    m.before()
    m.begin()
    m.is_in_dual_write()
    logs = (m.quorum.active.folder / "data" / "__cluster_metadata-0").glob("*.log")
    written = b"".join(path.read_bytes() for path in logs)
    copied = {name: name.encode() in written for name in (USER, "producer_byte_rate", PRINCIPAL)}
    m.facts |= {"in KRaft's log": copied, "of the user in ZooKeeper": sorted(user["config"])}
    m.roll(Mode.KRAFT)
    m.look("KRaft mode")
    return result(m, lambda observed: not all(observed["in KRaft's log"].values()), m.observed())


def _planned_rollback(lab: Lab, this: ExperimentRound, *, in_kraft_mode: bool = False) -> RoundOutcome:
    """Carry out the plan of a rollback, write records, and crash a leader."""
    m = _with_a_quorum_that_elected_often(lab, this)
    if in_kraft_mode:
        m.roll(Mode.KRAFT)
    m.keep("KRaft mode" if in_kraft_mode else "dual write")
    m.roll_back()
    m.keep("rolled back")
    m.look("rolled back")
    dead = _crash_leader(m)
    moved = {name: all(state["leader"] not in (dead, -1) for state in lab.states(name).values()) for name in m.ledgers}
    observed = {**m.observed(), "leaders move": moved, "leaves /migration": lab.zk.get("/migration") is not None}
    return result(m, _loses_or_does_not_lead, observed)


def _with_a_quorum_that_elected_often(lab: Lab, this: ExperimentRound) -> Migration:
    """Return a migration in dual write, of a quorum whose epoch is above that of ZooKeeper."""
    m = Migration(lab, this)
    m.create(HEALTHY, TWO)
    m.create(m.topic, TWO)
    m.before()
    m.quorum = Quorum(lab)
    for _ in range(ELECTIONS):
        m.quorum.start()
        m.quorum.reaches("WAIT_FOR_BROKERS", 40)
        m.quorum.kill()
    m.quorum.start()
    m.roll(Mode.MIGRATING)
    m.is_in_dual_write()
    m.look("dual write")
    return m


def _crash_leader(m: Migration) -> int:
    """Kill a leader, wait until its session has expired, and return its number."""
    dead: int = m.lab.states(HEALTHY)[0]["leader"]
    m.lab.kill(dead)
    time.sleep(DEAD)
    m.look("a leader has crashed")
    return dead


def _second_attempt(lab: Lab, this: ExperimentRound, effect: Effect, deletes: Sequence[str]) -> RoundOutcome:
    """Migrate to dual write, roll back by deleting znodes, and migrate again with new controllers."""
    m = Migration(lab, this)
    m.create(HEALTHY, TWO)
    m.create(m.topic, TWO)
    m.begin()
    m.is_in_dual_write()
    m.look("dual write of the first attempt")
    _roll_back(m, *deletes)
    m.look("rolled back")
    m.before()
    lab.folder.joinpath(f"controller-{FIRST_ID}").rename(lab.folder / "first-controller")
    m.begin()
    m.is_in_dual_write()
    topics = lab.zk.children("/brokers/topics")
    m.look("dual write")
    try:
        m.roll(Mode.KRAFT)
    except KwalkError:
        m.stuck = REFUSED if REFUSED in m.quorum.active.text else f"a broker ends; the driver is in {m.quorum.state}"
    m.look("end")
    observed = {**m.observed(), "lost topics": sorted(m.ledgers.keys() - topics), "topics in ZooKeeper": topics}
    return result(m, effect, observed)


# Effects.


def _survives(observed: Mapping[str, Any]) -> bool:
    return not (observed["waits"] or observed["stuck"] or observed["lost topics"] or observed["set aside"])


def _loses(observed: Mapping[str, Any]) -> bool:
    return bool(observed["lost topics"])


def waits(observed: Mapping[str, Any]) -> bool:
    """Whether the migration waits, and no topic has lost records."""
    return bool(observed["waits"]) and not observed["lost topics"]


def _reassigned(observed: Mapping[str, Any]) -> bool:
    return bool(observed["reassignment ends"])


def _refuses(observed: Mapping[str, Any]) -> bool:
    return bool(observed["refuses"])


def _hangs(observed: Mapping[str, Any]) -> bool:
    return not observed["reassignment ends"]


def _is_stuck(observed: Mapping[str, Any]) -> bool:
    return bool(observed["stuck"]) and not observed["leader moves"]


def _has_no_controller(observed: Mapping[str, Any]) -> bool:
    return observed["/controller"] == FIRST_ID and not observed["leader moves"]


def _leads_though_dead(observed: Mapping[str, Any]) -> bool:
    return any(observed["dead"] == leader for leaders in observed["leaders"].values() for leader in leaders.values())


def _loses_or_does_not_lead(observed: Mapping[str, Any]) -> bool:
    return _loses(observed) or not all(observed["leaders move"].values())


def _renames(observed: Mapping[str, Any]) -> bool:
    return bool(observed["set aside"] or observed["deleted"])


# Experiments.

KEPT: Mapping[str, Any] = {"log.segment.delete.delay.ms": 600_000}
GENERATED = {"broker.id": -1, "reserved.broker.max.id": 0}
"""The first id that ZooKeeper generates is then 1."""
TWO_BROKERS = LabOptions(brokers=2, settings=KEPT)
THREE_BROKERS = evolve(TWO_BROKERS, brokers=3)
SLOW = evolve(THREE_BROKERS, settings={**KEPT, "replica.fetch.max.bytes": 100, "replica.fetch.response.max.bytes": 100})
RELEASES = ("3.4.1", "3.5.2", "3.6.2", "3.9.0")
PAGE = "../reference/migrations.md"


def migration_experiment(
    name: str, about: str, expected: str, run: Callable[[Lab, ExperimentRound], RoundOutcome], **more: Any
) -> Experiment:
    """Return an experiment of this page, on two brokers of 3.9.0 if nothing else is said."""
    more = {"options": TWO_BROKERS, "releases": ("3.9.0",), **more}
    return Experiment(f"migration-{name}", about, expected, PAGE, run, **more)


def since(*release: int) -> Callable[[str], bool]:
    """Return whether a release is a given one or later."""
    return lambda other: tuple(map(int, other.split("."))) >= release


EXPERIMENTS = (
    migration_experiment(
        "generated-id",
        "A cluster of one broker, whose id ZooKeeper has generated, migrates to one KRaft controller.",
        "The broker does not start, until it is given that id in its configuration.",
        _with_a_generated_id,
        options=LabOptions(brokers=1, settings={**KEPT, **GENERATED}),
        releases=("3.4.1", "3.6.2", "3.7.2", "3.8.1", "3.9.0", "3.9.2"),
    ),
    migration_experiment(
        "healthy",
        "A healthy cluster of three brokers migrates to one KRaft controller, and is finalized.",
        "Every acknowledged record is served.",
        partial(_migrated, effect=_survives, afterwards=_finalized, assignment=THREE),
        options=THREE_BROKERS,
        releases=("3.4.1", "3.5.2", "3.6.2", "3.9.0", "3.9.2"),
    ),
    migration_experiment(
        "healthy-quorum",
        "A healthy cluster migrates to three KRaft controllers, and is finalized.",
        "Every acknowledged record is served.",
        partial(_migrated, effect=_survives, afterwards=_finalized, controllers=3),
    ),
    migration_experiment(
        "erased-id",
        "An old client erases a topic's id, the cluster migrates, and the logs that were set aside are brought back.",
        "All records of the topic are set aside, below 3.6 deleted; its partitions are served, empty.",
        partial(_migrated, effect=_loses, damage=_erase_id, way_out=Migration.bring_back),
        releases=("3.5.2", "3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "erased-id-while-waiting",
        "An old client erases a topic's id when all brokers have the flag; then the id is written back.",
        "The migration waits for good, and continues when the id is written back; no records are lost.",
        _while_waiting,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "differing-id",
        "An old client erases a topic's id, the controller fails over and mints another one, and the cluster migrates.",
        "All records of the topic are set aside or deleted.",
        partial(_migrated, effect=_loses, damage=_other_id, way_out=Migration.bring_back),
    ),
    migration_experiment(
        "old-client-in-dual-write",
        "An old client erases a topic's id in dual write, the KRaft controller restarts, and a leader crashes.",
        "The migration is stuck and no leader moves, until the content of the topic's znode is written back.",
        _in_dual_write,
    ),
    migration_experiment(
        "id-erased-before-copy",
        "An old client erases a topic's id when the driver takes /controller, before it reads the topics.",
        "The KRaft controller ends, and waits after restarts; the cluster has no controller that moves leaders.",
        _before_copy,
        is_ordered=True,
    ),
    migration_experiment(
        "pending-deletion",
        "A deletion hangs, as the topic has a replica on a broker that never was; it is created again in dual write.",
        "The topic is not copied, and its logs are set aside; on 3.5.2 the migration waits for the broker.",
        partial(_migrated, effect=_renames, damage=_hang_deletion, in_dual_write=_create_again),
    ),
    migration_experiment(
        "gone-broker",
        "A broker that has replicas is gone, and the cluster migrates; then its replicas are reassigned.",
        "The migration waits for good, and continues after the reassignment.",
        partial(
            _migrated, effect=waits, damage=_lose_broker, way_out=_reassigned_away, assignment={0: [1, 3], 1: [2, 3]}
        ),
        options=THREE_BROKERS,
    ),
    migration_experiment(
        "orphaned-log",
        "A broker has a log without partition.metadata of a topic that is gone, and the cluster migrates.",
        "It refuses the first request of the KRaft controller; from 3.7 on it sets the log aside in KRaft mode.",
        partial(_migrated, effect=_refuses, damage=_leave_orphan, in_dual_write=_count_refusals),
        predicted=since(3, 6, 2),
        releases=("3.5.2", "3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "without-metadata-file",
        "partition.metadata of a topic is removed on both brokers before the cluster migrates.",
        "The roll with the flag writes it again: every acknowledged record is served.",
        partial(_migrated, effect=_survives, damage=_remove_metadata_files),
        releases=("3.4.1", "3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "without-metadata-file-in-dual-write",
        "partition.metadata of two topics is removed on both brokers in dual write, before they restart in KRaft mode.",
        "From 3.7 on their logs are set aside: replicas are copied again, in turn; a topic with one replica is lost.",
        partial(
            _migrated,
            effect=_loses,
            damage=lambda m: m.create(SINGLE, {0: [1]}),
            in_dual_write=_remove_metadata_files,
            way_out=Migration.bring_back,
        ),
        predicted=since(3, 7),
        releases=("3.4.1", "3.6.2", "3.7.2", "3.9.0"),
    ),
    migration_experiment(
        "reassignment-in-flight",
        "A throttled reassignment is in flight while the cluster migrates; then the throttle is removed.",
        "It is copied, and ends.",
        partial(_migrated, effect=_reassigned, damage=_throttle, afterwards=_unthrottled),
        options=SLOW,
        releases=("3.4.1", "3.5.2", "3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "reassignment-ends-in-dual-write",
        "A throttled reassignment is in flight while the cluster migrates; the throttle is removed in dual write.",
        "Below 3.6.2 it hangs until the brokers restart in KRaft mode (KAFKA-16120); from 3.6.2 on it ends.",
        partial(_migrated, effect=_hangs, damage=_throttle, in_dual_write=_unthrottled),
        predicted=lambda release: not since(3, 6, 2)(release),
        options=SLOW,
        releases=("3.4.1", "3.6.2"),
    ),
    migration_experiment(
        "rollback-with-higher-epoch",
        "The quorum elects often, the cluster migrates to dual write and is rolled back, and a leader crashes.",
        "ZooKeeper's controller elects no leader for the one that crashed, until failovers have raised its epoch.",
        _rolled_back,
    ),
    migration_experiment(
        "users",
        "A cluster with a SCRAM credential, a quota of a user and an ACL migrates.",
        "KRaft's log has all of them.",
        _with_users,
        predicted=lambda release: False,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "planned-rollback",
        "The same; the cluster is rolled back by the plan of `kwalk diagnose --plan`.",
        "Every acknowledged record is served, and another replica leads for the one that crashed.",
        _planned_rollback,
        predicted=lambda release: False,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "planned-rollback-of-kraft-brokers",
        "The same, when the brokers are in KRaft mode.",
        "Every acknowledged record is served, and another replica leads for the one that crashed.",
        partial(_planned_rollback, in_kraft_mode=True),
        predicted=lambda release: False,
        releases=("3.6.2", "3.9.0"),
    ),
    migration_experiment(
        "second-attempt",
        "A cluster is rolled back from dual write, /migration stays, and it migrates again with new controllers.",
        "The copy is skipped: all topics are deleted from ZooKeeper, and no broker can start in KRaft mode.",
        partial(_second_attempt, effect=_loses, deletes=("/controller",)),
    ),
    migration_experiment(
        "second-attempt-without-znode",
        "A cluster is rolled back from dual write, /migration is deleted, too, and it migrates again.",
        "It migrates, and every acknowledged record is served.",
        partial(_second_attempt, effect=_survives, deletes=("/controller", "/migration")),
    ),
)
