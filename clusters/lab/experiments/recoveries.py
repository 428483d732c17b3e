"""Plans of `kwalk recover`, carried out on real brokers: a cluster is damaged, planned for, repaired, and probed.

Each step is done as its commands say: znodes are written and deleted at the data version that was read, and brokers are
stopped and started in the order of the step, with files removed in between.
"""
from __future__ import annotations

import json
import shlex
import shutil
import time
from typing import Any

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.experiments.expansions import OLD_CLIENT
from kwalk.clusters.lab.experiments.experiment import Experiment, ExperimentRound, RoundOutcome
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.zookeeper import delete, set_data
from kwalk.invariants.inspection import inspect_snapshot
from kwalk.invariants.outlook import recovery_problem
from kwalk.model.language import KwalkError
from kwalk.model.language.recovery import Procedure
from kwalk.search.analyses.recovery import plan_recovery

FIRST_BROKER = {"restart": 1, "start-broker": 1, "restart-without-metadata-files": 2, "remove-directories": 2}
"""Steps that stop and start brokers: where the name of the step has the first of them."""
RESTS = 3.0
"""Seconds without a change of a state znode after which the cluster counts as at rest."""
LONGEST_REST = 40.0
PATIENCE = 60.0
"""Seconds for a plan."""


def carry_out(lab: Lab, procedure: Procedure) -> None:
    """Do what a step of a plan says, and wait until the cluster is at rest.

    Raises:
        KwalkError: There is no hand for one of its commands.
    """
    words, commands = procedure.name.split(), [shlex.split(command, comments=True) for command in procedure.commands]
    first = FIRST_BROKER.get(words[0])
    if first is None:
        for command in filter(None, commands):
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


def rest(lab: Lab) -> None:
    """Wait until there is a controller, and no state znode has changed for some seconds."""
    wait_until(lambda: lab.controller() is not None, 30)
    end, since, seen = time.monotonic() + LONGEST_REST, time.monotonic(), ""
    while time.monotonic() < min(since + RESTS, end):
        now = json.dumps([lab.states(topic) for topic in lab.zk.children("/brokers/topics")])
        if now != seen:
            seen, since = now, time.monotonic()
        time.sleep(0.2)


def _serves(lab: Lab, topic: str) -> list[str]:
    """Return the partitions that are not written with acks=all, or from which a consumer gets nothing."""
    probes = lab.probe(topic)
    return [f"{topic}-{p}" for p, by in probes.items() if not (by["produce"]["ok"] and by["consume"].get("n"))]


def _damage(lab: Lab, topic: str, *, failover: bool) -> None:
    """Let an old client erase the topic's id; with a failover, the next controller mints another one."""
    words = ("--create", "--topic", topic, "--partitions", "2", "--replication-factor", "3")
    lab.tool(OLD_CLIENT, *words)
    lab.wait_for_leaders(topic, 2)
    lab.delete_controller()  # the replicas get the id that was minted, on 2.8 too
    rest(lab)
    lab.probe(topic)
    lab.tool(OLD_CLIENT, "--alter", "--topic", topic, "--partitions", "4")
    lab.wait_for_leaders(topic, 4)
    rest(lab)
    if failover:
        lab.delete_controller()
        rest(lab)


def _recovered(lab: Lab, this: ExperimentRound, *, failover: bool) -> RoundOutcome:
    """Damage the cluster, plan, do every step, and probe; then restart each broker and probe again."""
    _damage(lab, this.topic, failover=failover)
    damaged = json.dumps(this.capture("damaged")).encode()
    kinds = [kind.name for kind in inspect_snapshot(damaged).by_kind()]
    recovery = plan_recovery(recovery_problem(damaged), seconds=PATIENCE)
    if recovery.plan is None:
        return RoundOutcome("no plan", False, {"damage": kinds})
    steps: list[dict[str, Any]] = []
    for number, procedure in enumerate(recovery.plan.procedures, start=1):
        carry_out(lab, procedure)
        found = inspect_snapshot(json.dumps(this.capture(f"after step {number}")).encode())
        left = [kind.name for kind in found.by_kind()]
        steps.append({"step": procedure.title, "inspection": found.exit_code, "kinds": left})
    after = _serves(lab, this.topic)
    for broker in lab.brokers:
        lab.restart(broker)
        rest(lab)
    last = _serves(lab, this.topic)
    final = inspect_snapshot(json.dumps(this.capture("every broker restarted")).encode())
    this.keep_lines("does not match the topic I[Dd]")
    repaired = not after and not last and final.exit_code == 0
    details = {
        "damage": kinds, "steps": steps, "not served after the plan": after, "not served after a rolling restart": last,
        "inspection after a rolling restart": final.exit_code,
    }  # fmt: skip
    return RoundOutcome("repaired" if repaired else "not repaired", repaired, details)


EXPERIMENTS = (
    Experiment(
        name="recover-before-failover",
        about="An old client erases a topic's id; the plan of `kwalk recover` is carried out; every broker restarts.",
        expected="Every partition is served after the plan and after the restarts, and inspection finds no damage.",
        story="repair-topic-ids.md",
        run=lambda lab, this: _recovered(lab, this, failover=False),
    ),
    Experiment(
        name="recover-after-failover",
        about="The same, with a failover after the expansion, so that ZooKeeper has another id than the replicas.",
        expected="Every partition is served after the plan and after the restarts, and inspection finds no damage.",
        story="repair-topic-ids.md",
        run=lambda lab, this: _recovered(lab, this, failover=True),
    ),
)  # fmt: skip
