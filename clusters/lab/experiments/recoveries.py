"""Plans of `kwalk recover`, carried out on real brokers: a cluster is damaged, planned for, repaired, and probed.

Each step is done as its commands say: znodes are written and deleted at the data version that was read, and brokers are
stopped and started in the order of the step, with files removed in between. Snapshots are those of `kwalk collect`.
"""

from __future__ import annotations

import json
import shlex
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from attrs import frozen

from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.experiments.deletions import hang_a_deletion, writes_of_creation
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.experiments.reassignments import cancel_and_elect_in_between, leave_a_log
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import ZooKeeperError, delete, set_data
from kwalk.invariants.reading.inspection import inspect_snapshot
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import KwalkError
from kwalk.model.language.inspection import Inspection, Severity
from kwalk.model.language.recovery import Procedure
from kwalk.search.analyses.recovery import Plan, plan_recovery

FIRST_BROKER = {"restart": 1, "start-broker": 1, "restart-without-metadata-files": 2, "move-directories": 2}
"""Steps that stop and start brokers: where the name of the step has the first of them."""
RESTS = 3.0
"""Seconds without a change of a state znode after which the cluster counts as at rest."""
LONGEST_REST = 40.0
PATIENCE = 240.0
"""Seconds for a plan."""
WAIT = 25.0
"""Seconds that are waited where a plan has no steps: the session of a broker that was killed expires meanwhile."""


def carry_out(lab: Lab, procedure: Procedure) -> None:
    """Do what a step of a plan says, and wait until the cluster is at rest.

    Raises:
        KwalkError: There is no hand for one of its commands.
    """
    words, commands = procedure.name.split(), [shlex.split(command, comments=True) for command in procedure.commands]
    first = FIRST_BROKER.get(words[0])
    if first is None:
        files: dict[str, Any] = {}
        for command in filter(None, commands):
            if command[0] == "echo":
                files[command[3]] = json.loads(command[1])
            elif "--reassignment-json-file" in command:
                _reassign(lab, command, files)
            else:
                _write(lab, command)
    else:
        for number in map(int, words[first:]):
            _bounce(lab, number, [command for command in commands if command and command[0] in ("rm", "mv")])
    lab.note(f"done: {procedure.title}")
    rest(lab)


def _bounce(lab: Lab, number: int, commands: list[list[str]]) -> None:
    """Stop a broker, remove or move away what the commands name in its log directory, and start it."""
    broker = lab.brokers[number]
    if broker.runs:
        lab.stop(number)
    for word, *names in commands:
        for name in names[1:] if word == "rm" else names[:-1]:
            if word == "rm":
                (broker.data / name).unlink(missing_ok=True)
            else:
                shutil.move(broker.data / name, broker.folder / "backup" / name)
    lab.start(number)
    rest(lab)


def _write(lab: Lab, words: list[str]) -> None:
    """Do a command of ZooKeeper's shell; one that only reads shows the data version that the next one needs."""
    if words[3] == "get":
        return
    if words[3:5] == ["set", "-v"]:
        path, content = words[6], words[7]
        found = lab.zk.get(path)
        if found is None:
            raise KwalkError(f"There is no znode {path}, which the plan writes.")
        lab.zk.do(set_data(path, content.encode(), found[1].version))
    elif words[3] == "delete":
        lab.zk.do(delete(words[4]))
    else:
        raise KwalkError(f"The lab has no hand for the command {shlex.join(words)!r}.")


def _reassign(lab: Lab, words: list[str], files: Mapping[str, Any]) -> None:
    """Do a command of kafka-reassign-partitions.sh."""
    wanted = files[words[words.index("--reassignment-json-file") + 1]]["partitions"]
    for one in wanted:
        if "--execute" in words:
            lab.admin(milliseconds=8000).reassign(one["topic"], {one["partition"]: one["replicas"]})
        else:
            wait_until(partial(_is_reassigned, lab, one["topic"]), LONGEST_REST)


def _is_reassigned(lab: Lab, topic: str) -> bool:
    """Whether no reassignment of the topic is in flight."""
    znode = lab.topic(topic) or {}
    return not (znode.get("adding_replicas") or znode.get("removing_replicas"))


def rest(lab: Lab) -> None:
    """Wait until there is a controller, and no state znode has changed for some seconds."""
    wait_until(lambda: lab.controller() is not None, 30)
    end, since, seen = time.monotonic() + LONGEST_REST, time.monotonic(), ""
    while time.monotonic() < min(since + RESTS, end):
        now = json.dumps([lab.states(topic) for topic in lab.zk.children("/brokers/topics")])
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.2)


def collected(lab: Lab) -> bytes:
    """Return the snapshot that `kwalk collect` takes of a lab with all log directories."""
    from kwalk.clusters.collect.collect import CollectOptions, LogPlace, collect
    from kwalk.clusters.collect.zookeeper import ZooKeeperOptions, ZooKeeperReader  # loads the client of ZooKeeper

    places = tuple(LogPlace(str(broker.data), broker.id) for broker in lab.brokers.values())
    with ZooKeeperReader(ZooKeeperOptions(f"127.0.0.1:{lab.zookeeper_port}")) as reader:
        return collect(reader, CollectOptions(lab.options.release, logs=places)).text.encode()


# Damages.


def _expansion(lab: Lab, this: ExperimentRound, *, aged: bool, failovers: int) -> None:
    """Let an old client erase the topic's id; at a failover the next controller mints another one.

    On 2.8 the replicas of an aged topic have the first id in their files; those of a fresh one have none.
    """
    _create_with_old_client(lab, this.topic, aged=aged)
    lab.tool(OLD_CLIENT, "--alter", "--topic", this.topic, "--partitions", "4")
    lab.wait_for_leaders(this.topic, 4)
    rest(lab)
    for _ in range(failovers):
        lab.delete_controller()
        rest(lab)


def _create_with_old_client(lab: Lab, topic: str, *, aged: bool) -> None:
    lab.tool(OLD_CLIENT, "--create", "--topic", topic, "--partitions", "2", "--replication-factor", "3")
    lab.wait_for_leaders(topic, 2)
    if aged:
        lab.delete_controller()
        rest(lab)
    lab.probe(topic)


def _mixed_ids(lab: Lab, this: ExperimentRound) -> None:
    """Expand with an old client, let the controller move, and expand with a new one: new partitions get the new id."""
    topic = this.topic
    _expansion(lab, this, aged=True, failovers=1)
    lab.admin(milliseconds=8000).add_partitions(topic, 6, [[1, 2, 3], [2, 3, 1]])
    lab.wait_for_leaders(topic, 6)
    rest(lab)
    lab.delete_controller()
    rest(lab)


def _create(lab: Lab, topic: str) -> None:
    """Create a topic on all brokers, and wait until its replicas have its id in their files, on 2.8 too."""
    lab.admin(milliseconds=8000).create_topic(topic, {0: [1, 2, 3], 1: [2, 3, 1]})
    lab.wait_for_leaders(topic, 2)
    lab.delete_controller()
    rest(lab)
    lab.probe(topic)


def _delete_by_hand(lab: Lab, this: ExperimentRound) -> None:
    _create(lab, this.topic)
    lab.zk.delete_tree(f"/brokers/topics/{this.topic}")
    lab.note(f"deleteall /brokers/topics/{this.topic}")
    rest(lab)


def _create_again(lab: Lab, this: ExperimentRound, *, failovers: int) -> None:
    """Delete a topic by hand, and create it again over the old logs: by a broker, or in ZooKeeper if it refuses."""
    _delete_by_hand(lab, this)
    replicas = {0: [1, 2, 3], 1: [2, 3, 1]}
    if not lab.admin(milliseconds=8000).create_topic(this.topic, replicas).ok:
        for write in writes_of_creation(this.topic, replicas):
            with suppress(ZooKeeperError):  # the configuration has stayed
                lab.zk.do(write)
    rest(lab)
    for _ in range(failovers):
        lab.delete_controller()
        rest(lab)


def _leave_a_log(lab: Lab, this: ExperimentRound) -> None:
    leave_a_log(lab, this)
    rest(lab)


def _hang_a_deletion(lab: Lab, this: ExperimentRound) -> None:
    hang_a_deletion(lab, this)


def _cancel(lab: Lab, this: ExperimentRound) -> None:
    cancel_and_elect_in_between(lab, this)
    rest(lab)


def _crash(lab: Lab, this: ExperimentRound) -> None:
    """Crash a broker that is no controller: until its session expires, nobody removes it from the ISR."""
    _create(lab, this.topic)
    lab.kill(next(number for number in lab.brokers if number != lab.controller()))


def _stop_every_isr_member(lab: Lab, this: ExperimentRound) -> None:
    """Stop the replicas one after the other: the ISR keeps the last one, which is down; then start the others."""
    topic = this.topic
    lab.admin(milliseconds=8000).create_topic(topic, {0: [2, 3]})
    lab.wait_for_leaders(topic)
    lab.move_controller(1)
    lab.stop(2)
    rest(lab)
    lab.stop(3)
    rest(lab)
    lab.start(2)
    rest(lab)


# Rounds.


@frozen
class _Diagnosis:
    """What a snapshot was found to show."""

    snapshot: bytes
    inspection: Inspection

    @property
    def kinds(self) -> list[str]:
        return [kind.name for kind in self.inspection.by_kind()]

    @property
    def damage(self) -> list[str]:
        return [kind.name for kind in self.inspection.by_kind() if kind.severity is not Severity.NOTE]

    @property
    def violated(self) -> set[str]:
        """The properties that are violated, and are more than a note."""
        kinds = (kind for kind in self.inspection.by_kind() if kind.severity is not Severity.NOTE)
        return {name for kind in kinds for name in kind.properties}


def _diagnosis(lab: Lab, this: ExperimentRound, label: str) -> _Diagnosis:
    snapshot = collected(lab)
    this.keep_snapshot(label, snapshot.decode())
    return _Diagnosis(snapshot, inspect_snapshot(snapshot))


def _serves(lab: Lab, topic: str) -> list[str]:
    """Return the partitions that are not written with acks=all, or from which a consumer gets nothing.

    A topic that is gone is created again: then its name serves.
    """
    if lab.topic(topic) is None:
        created = lab.admin(milliseconds=8000).create_topic(topic, {0: [2, 3]})
        lab.wait_for_leaders(topic)
        rest(lab)
        if not created.ok:
            return [f"{topic} is not created again: {created}"]
    probes = lab.probe(topic)
    if not probes:
        return [f"{topic} has no metadata"]
    return [f"{topic}-{p}" for p, by in probes.items() if not (by["produce"]["ok"] and by["consume"].get("n"))]


@frozen
class _Case:
    """A damage, and what is right to say of it.

    Args:
        damage: Does it.
        kinds: The kinds of damage that an inspection must find, by release; notes are not counted.
        probed: Whether partitions are probed after the snapshot: they must serve unless the damage is broken.
    """

    damage: Callable[[Lab, ExperimentRound], None]
    kinds: Mapping[str, Collection[str]]
    probed: bool = True


def _recovered(lab: Lab, this: ExperimentRound, case: _Case) -> RoundOutcome:
    """Damage the cluster, plan, do every step, and probe; then restart each broker and probe again."""
    case.damage(lab, this)
    found = _diagnosis(lab, this, "damaged")
    right = set(found.damage) == set(case.kinds[lab.options.release])
    details: dict[str, Any] = {"damage": found.kinds}
    if case.probed:
        details["not served when damaged"] = unserved = _serves(lab, this.topic)
        right &= bool(unserved) == (found.inspection.severity is Severity.BROKEN)
    details["diagnosis is right"] = right
    recovery = plan_recovery(recovery_problem(found.snapshot), seconds=PATIENCE)
    if recovery.plan is None:
        defeats = [[one.name for one in defeat.procedures] for defeat in recovery.defeats]
        return RoundOutcome("no plan", False, details | {"complete": recovery.complete, "defeats": defeats})
    details["safe at any moment"] = recovery.plan.at_any_moment
    details["steps"] = steps = list(_carried_out(lab, this, recovery.plan))
    if not steps:
        time.sleep(WAIT)
    after = _diagnosis(lab, this, "after the plan")
    details["not served after the plan"] = _serves(lab, this.topic)
    for number, broker in lab.brokers.items():
        if broker.runs:
            lab.stop(number)
        lab.start(number)
        rest(lab)
    details["not served after a rolling restart"] = _serves(lab, this.topic)
    final = _diagnosis(lab, this, "every broker restarted")
    details |= {"found after the plan": after.kinds, "found after a rolling restart": final.kinds}
    this.keep_lines("does not match the topic I[Dd]|isr-expiration")
    as_said = not any(step["not foreseen"] for step in steps) and not after.damage and not final.damage
    serves = not any(details[f"not served after {when}"] for when in ("the plan", "a rolling restart"))
    repaired = as_said and serves
    outcome = "not repaired" if not repaired else "repaired" if right else "repaired, and the diagnosis is wrong"
    return RoundOutcome(outcome, repaired and right, details)


def _carried_out(lab: Lab, this: ExperimentRound, plan: Plan) -> Iterator[dict[str, Any]]:
    """Do every step; yield what was found after it, and which of it the plan does not foresee."""
    for number, procedure in enumerate(plan.procedures):
        carry_out(lab, procedure)
        found = _diagnosis(lab, this, f"after step {number + 1}")
        unforeseen = sorted(found.violated - plan.shows[number])
        yield {"step": procedure.title, "found": found.kinds, "not foreseen": unforeseen}
        if plan.early[number] and not found.damage:
            return


def _no_alarm(lab: Lab, this: ExperimentRound) -> RoundOutcome:
    """Look at a cluster again and again while its controller moves and its brokers restart."""
    _create(lab, this.topic)
    alarms: dict[str, list[str]] = {}
    looks = 0

    def look(label: str) -> None:
        nonlocal looks
        looks += 1
        found = _diagnosis(lab, this, f"{label} {looks}")
        if found.damage:
            alarms[f"{label} {looks}"] = found.damage

    look("at rest")
    lab.delete_controller()
    look("after a failover")
    for broker in lab.brokers:
        lab.stop(broker)
        look(f"broker {broker} stopped")
        lab.launch(broker)
        end = time.monotonic() + 20
        while time.monotonic() < end and not lab.is_in_every_isr(broker, this.topic):
            look(f"broker {broker} starts")
        look(f"broker {broker} started")
    rest(lab)
    look("at rest again")
    details = {"looks": looks, "alarms": alarms, "not served": _serves(lab, this.topic)}
    outcome = "no alarm" if not alarms else f"alarms in {len(alarms)} of {looks} snapshots"
    return RoundOutcome(outcome, not alarms, details)


BOTH = ("2.8.2", "3.9.0")
REPAIR, BY_HAND = "repair-topic-ids.md", "delete-by-hand.md"


def _both(*kinds: str) -> dict[str, Collection[str]]:
    return dict.fromkeys(BOTH, kinds)


def _either(older: Collection[str], newer: Collection[str]) -> dict[str, Collection[str]]:
    return dict(zip(BOTH, (older, newer), strict=True))


def _experiment(name: str, about: str, case: _Case, story: str, **more: Any) -> Experiment:
    return Experiment(
        name=f"recover-{name}",
        about=f"{about}; the plan of `kwalk recover` is carried out; every broker restarts.",
        expected="The damage is named, every partition is served after the plan and after the restarts, and inspection "
        "finds no damage.",
        story=story,
        run=partial(_recovered, case=case),
        **more,
    )


EXPERIMENTS = (
    _experiment(
        "fresh-before-failover",
        "An old client erases the id of a topic that has seen no failover",
        _Case(partial(_expansion, aged=False, failovers=0), _both("topic-id-missing")),
        REPAIR,
    ),
    _experiment(
        "fresh-after-failover",
        "The same, and the controller fails over",
        _Case(partial(_expansion, aged=False, failovers=1), _either((), ("fetch-by-id-refused",))),
        REPAIR,
    ),
    _experiment(
        "before-failover",
        "An old client erases the id of a topic that has seen a failover",
        _Case(partial(_expansion, aged=True, failovers=0), _both("topic-id-missing")),
        REPAIR,
    ),
    _experiment(
        "after-failover",
        "The same, and the controller fails over",
        _Case(partial(_expansion, aged=True, failovers=1), _either(("topic-ids-mixed",), ("fetch-by-id-refused",))),
        REPAIR,
    ),
    _experiment(
        "mixed-ids",
        "After an old client's expansion and a failover a new client adds partitions",
        _Case(_mixed_ids, _either(("topic-ids-mixed",), ("fetch-by-id-refused-mixed-topic-ids",))),
        REPAIR,
    ),
    _experiment(
        "deleted-by-hand",
        "The znodes of a topic are deleted by hand",
        _Case(_delete_by_hand, _both("orphaned-log"), probed=False),
        BY_HAND,
    ),
    _experiment(
        "created-again",
        "A topic is deleted by hand and created again",
        _Case(
            partial(_create_again, failovers=0),
            _both("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id"),
        ),
        BY_HAND,
    ),
    _experiment(
        "created-again-after-failover",
        "The same, and the controller fails over",
        _Case(partial(_create_again, failovers=1), _either(("topic-id-differs",), ("leader-refuses-topic-id",))),
        BY_HAND,
    ),
    _experiment(
        "stray-log",
        "A broker does not get StopReplica when its replica moves away",
        _Case(_leave_a_log, _both("stray-log")),
        "stray-logs.md",
    ),
    _experiment(
        "hanging-deletion",
        "A deletion hangs while all brokers are up",
        _Case(_hang_a_deletion, _both("deletion-hangs"), probed=False),
        "delete-and-recreate.md",
    ),
    _experiment(
        "cancelled-reassignment",
        "The controller moves while it cancels a reassignment",
        _Case(_cancel, _either(("isr-outside-replicas", "stray-log"), ("isr-outside-replicas",)), probed=False),
        "reassignment.md",
        options=LabOptions(proxied=True),
    ),
    _experiment(
        "crash",
        "A broker crashes, and is in the ISR until its session expires",
        _Case(_crash, _both(), probed=False),
        "fast-bounce.md",
    ),
    _experiment(
        "stopped-isr",
        "The members of an ISR stop one after the other, and the last one stays down",
        _Case(_stop_every_isr_member, _both("no-live-isr")),
        "controller-comes-back.md",
    ),
    Experiment(
        name="no-alarm",
        about="Snapshots are taken all the time while the controller moves and brokers restart.",
        expected="No snapshot shows damage.",
        story="fast-bounce.md",
        run=_no_alarm,
    ),
)
