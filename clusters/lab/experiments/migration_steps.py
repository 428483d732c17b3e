"""The steps of a migration from ZooKeeper to KRaft on real brokers, and what became of known records.

Words: a log is *set aside* if its directory was renamed to `…-stray`, and *deleted* if it was renamed to `…-delete`.
A record is *kept* if the log of the leader has it at its offset; where there is no leader, if any log in place has it.
A topic is *lost* if acknowledged records of it are not kept, unless somebody has deleted it.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from attrs import define, field

from kwalk.clusters.lab.cluster import Lab, LabBroker, Mode
from kwalk.clusters.lab.experiments.damages import FIRST
from kwalk.clusters.lab.experiments.experiment import ExperimentRound
from kwalk.clusters.lab.experiments.known_records import Ledger, logs_on_disks, read_records
from kwalk.clusters.lab.experiments.operator_steps import carry_out, rest
from kwalk.clusters.lab.experiments.recoveries import collected
from kwalk.clusters.lab.processes import wait_until
from kwalk.clusters.lab.proxy import Proxy, ZooKeeperParser
from kwalk.clusters.lab.quorum import BEGUN, DUAL_WRITE, FIRST_ID, Quorum
from kwalk.clusters.lab.zookeeper import delete
from kwalk.clusters.metadata import PartitionMetadata, metadata
from kwalk.invariants.reading.outlook import recovery_problem
from kwalk.model.language import KwalkError
from kwalk.model.language.recovery import Procedure
from kwalk.search.analyses.recovery import Plan, Recovery, plan_recovery
from kwalk.search.base.atomic_files import save

STRAY, DELETE = "stray", "delete"
HEALTHY = "healthy"
"""The topic to which nothing is done."""
BEFORE = "before.json"
"""The snapshot by `kwalk collect` right before the KRaft controllers begin."""
POLLS = 70.0
"""Seconds for a migration to begin that may wait for good: the driver polls about nine times meanwhile."""
IN_SYNC = 25.0
"""Seconds for a broker that was restarted to join every ISR."""
SETTLES = 4.0
"""Seconds in which brokers act upon requests that were sent when the driver reached its state."""
PLANNING = 120.0
"""Seconds for a plan of `kwalk diagnose --plan`."""


@define
class Migration:
    """A cluster that migrates, and what was written before.

    Attributes:
        lab: The cluster.
        this: The round.
        ledgers: What was written, by topic.
        stages: What was seen, by the name of the moment.
        dropped: Topics that somebody has deleted.
        facts: What else was observed.
        waits: Why the migration does not begin; None if it does.
        stuck: Why it does not continue after it has begun; None if it does.
        proxy: What stands between the KRaft controllers and ZooKeeper, if anything.
        quorum: The KRaft controllers.
    """

    lab: Lab
    this: ExperimentRound
    ledgers: dict[str, Ledger] = field(factory=dict)
    stages: dict[str, Any] = field(factory=dict)
    dropped: set[str] = field(factory=set)
    facts: dict[str, Any] = field(factory=dict)
    waits: str | None = None
    stuck: str | None = None
    proxy: Proxy | None = None
    quorum: Quorum = field(init=False)

    @property
    def topic(self) -> str:
        """The topic that is damaged."""
        return self.this.topic

    # Before.

    def create(self, name: str, assignment: Mapping[int, list[int]]) -> None:
        """Create a topic and write known records to it."""
        answer = self.lab.admin(milliseconds=8000).create_topic(name, assignment)
        if not answer.ok:
            raise KwalkError(f"Topic {name} is not created: {answer}.")
        self.lab.wait_for_leaders(name, len(assignment))
        rest(self.lab)
        self.ledgers[name] = Ledger(name)
        self.ledgers[name].write(self.lab, FIRST, 2)

    def before(self) -> None:
        """Keep the snapshot before the migration: by `kwalk collect`, or by the lab where that refuses the disks."""
        rest(self.lab)
        try:
            snapshot = collected(self.lab)
        except KwalkError as error:
            self.lab.note(f"kwalk collect: {error}")
            snapshot = json.dumps(self.lab.capture("before"), indent=1).encode()
        save(self.this.folder / BEFORE, snapshot)
        self.look("before")

    def put_between(self) -> None:
        """Put a proxy between the KRaft controllers and ZooKeeper; `rules` of the lab say what passes."""
        self.proxy = Proxy(FIRST_ID, self.lab.zookeeper_port, ZooKeeperParser, self.lab.rules)

    def keep(self, label: str) -> None:
        """Keep the snapshot that `kwalk collect` takes now, with the metadata logs of the KRaft controllers."""
        controllers = self.quorum.controllers.values() if hasattr(self, "quorum") else ()
        snapshot = ""
        for roots in ([each.folder / "data" for each in controllers], []):
            try:
                snapshot = collected(self.lab, roots).decode()
                break
            except KwalkError as error:
                self.lab.note(f"kwalk collect: {error}")
        self.this.keep_snapshot(label, snapshot)

    # The steps of the documentation.

    def roll(self, mode: Mode) -> None:
        """Restart each broker that runs in a mode, the controller's last; wait for each until it is in sync."""
        running = [number for number, broker in self.lab.brokers.items() if broker.runs]
        for number in sorted(running, key=lambda each: (each == self.lab.controller(), each)):
            self.lab.roll(number, mode)
            self.wait_for_isr(number)

    def wait_for_isr(self, number: int) -> bool:
        """Wait until a broker is in the ISR of every partition of the topics that it has replicas of."""
        mine = [
            (name, int(partition))
            for name in self.ledgers
            for partition, replicas in self._replicas(name).items()
            if number in replicas
        ]

        def is_in_sync() -> bool:
            states = {name: self.lab.states(name) for name, _ in mine}
            return all(number in states[name].get(partition, {}).get("isr", ()) for name, partition in mine)

        joined = wait_until(is_in_sync, IN_SYNC, every=0.3)
        if not joined:
            self.lab.note(f"broker {number} is not in every ISR after {IN_SYNC:.0f} s")
        return joined

    def _replicas(self, name: str) -> dict[str, list[int]]:
        found: dict[str, list[int]] = (self.lab.topic(name) or {}).get("partitions", {})
        return found

    def begin(self, controllers: int = 1) -> None:
        """Start the KRaft controllers, and restart the brokers with the flag, the controller's broker last."""
        self.quorum = Quorum(self.lab, controllers, zookeeper_port=self.proxy.port if self.proxy else None)
        self.quorum.start()
        self.roll(Mode.MIGRATING)

    def is_in_dual_write(self, seconds: float = POLLS) -> bool:
        """Wait for dual write; note why the migration waits or is stuck if it does not come."""
        if self.quorum.reaches(DUAL_WRITE, seconds):
            self.waits = self.stuck = None
            time.sleep(SETTLES)
            return True
        reasons = "; ".join(self.quorum.hindrances) or f"the driver stays in {self.quorum.state}"
        if self.quorum.state in BEGUN or any(not each.runs for each in self.quorum.controllers.values()):
            self.stuck = reasons
        else:
            self.waits = reasons
        return False

    def finalize(self) -> None:
        """Restart the controllers without the flag."""
        for number in self.quorum.controllers:
            self.quorum.stop(number)
            self.quorum.start(number, migrates=False)
            wait_until(lambda: "finalized" in "".join(each.text for each in self.quorum.controllers.values()), 20)
        time.sleep(SETTLES)

    # What is seen.

    def look(self, stage: str, *, probes: bool = True) -> dict[str, Any]:
        """Note what is so at a moment: the driver's state, what became of records, and what clients get."""
        found: dict[str, Any] = {
            "driver": self.quorum.state if hasattr(self, "quorum") else None,
            "/controller": self.lab.controller(),
            "modes": {str(number): broker.mode.value for number, broker in self.lab.brokers.items()},
            "records": {name: self.fate(name) for name in self.ledgers},
            "set aside": self.renamed(STRAY),
            "deleted": self.renamed(DELETE),
        }
        if probes:
            found["clients"] = {name: _in_words(self.lab.probe_anywhere(name, seconds=4)) for name in self.ledgers}
        self.stages[stage] = found
        self.lab.note(f"{stage}: {json.dumps(found)}")
        return found

    def renamed(self, suffix: str) -> dict[str, list[str]]:
        """Return the directories that were set aside or deleted, by broker."""
        found = {str(b.id): sorted(path.name for path in _renamed(b, suffix)) for b in self.lab.brokers.values()}
        return {number: names for number, names in found.items() if names}

    def fate(self, name: str) -> dict[str, Any]:
        """Return what became of the acknowledged records of a topic, by the bytes in logs."""
        disks, leaders = logs_on_disks(self.lab, name), self.leaders(name)
        records = self.ledgers[name].acknowledged
        lost = []
        for one in records:
            where = disks.values() if leaders.get(one.partition, -1) < 0 else [disks[leaders[one.partition]]]
            entries = (logs.get(one.partition, {}).get(one.offset) for logs in where)
            if not any(entry is not None and entry.value == one.value for entry in entries):
                lost.append(one.partition)
        counts = {STRAY: Counter[str](), DELETE: Counter[str]()}
        for broker in self.lab.brokers.values():
            for suffix, count in counts.items():
                values = {e.value for path in _renamed(broker, suffix, name) for e in read_records(path).values()}
                count[str(broker.id)] += sum(one.value in values for one in records)
        aside, deleted = ({number: n for number, n in count.items() if n} for count in counts.values())
        found = {"acknowledged": len(records), "kept": len(records) - len(lost), "lost partitions": sorted(set(lost))}
        return {**found, "set aside": aside, "deleted": deleted}

    def leaders(self, name: str) -> dict[int, int]:
        """Return the leaders of a topic's partitions, whether or not they run, from the first broker that knows it."""
        return {number: each.leader for number, each in self.partitions(name).items()}

    def partitions(self, name: str) -> Mapping[int, PartitionMetadata]:
        """Return the metadata of a topic's partitions that the first broker has which has any."""
        for broker in self.lab.brokers.values():
            if broker.runs:
                try:
                    found = metadata(broker.port, with_ids=True).topics.get(name)
                except OSError:
                    continue
                if found:
                    return found.partitions
        return {}

    def observed(self) -> dict[str, Any]:
        """Return what a prediction is compared with, from the last look."""
        last = self.stages[next(reversed(self.stages))]
        lost = {name: fate["lost partitions"] for name, fate in last["records"].items() if name not in self.dropped}
        lost = {name: partitions for name, partitions in lost.items() if partitions}
        return {
            "driver": last["driver"],
            "waits": self.waits,
            "stuck": self.stuck,
            "lost topics": sorted(lost),
            "lost partitions": lost,
            "set aside": last["set aside"],
            "deleted": last["deleted"],
            "clients": last.get("clients"),
            **self.facts,
        }

    # Ways out.

    def bring_back(self) -> None:
        """Carry out the first plan of `kwalk diagnose --plan`, which gives each log that was set aside its place."""
        for one in self._steps(self._recovery().plan):
            carry_out(self.lab, one)
        for number in self.lab.brokers:
            self.wait_for_isr(number)

    def roll_back(self) -> None:
        """Carry out the plan of `kwalk diagnose --plan` that rolls the migration back; KwalkError if it has none."""
        plans = (each.plan for each in self._recovery().alternatives)
        plan = next((p for p in plans if p is not None and any(s.name == "roll-back" for s in p.procedures)), None)
        if plan is None:
            raise KwalkError("`kwalk diagnose --plan` has no plan for a rollback of this migration.")
        for one in self._steps(plan):
            word, *numbers = one.name.split()
            if word in ("restart-controller", "return-to-zookeeper-mode"):
                self.quorum.stop()
                self.quorum.start()
                self.is_in_dual_write()
            if word == "roll-back":
                self.quorum.stop()
                for path in ("/controller", "/migration"):
                    self.lab.zk.do(delete(path))
            elif word == "raise-controller-epoch":
                self.raise_epoch()
            elif word != "restart-controller":
                mode = Mode.MIGRATING if word == "return-to-zookeeper-mode" else Mode.ZOOKEEPER
                for number in map(int, numbers or self.lab.brokers):
                    self.lab.roll(number, mode)
                    self.wait_for_isr(number)
            rest(self.lab)

    def raise_epoch(self) -> None:
        """Let ZooKeeper's controller fail over until its epoch is above those in state znodes."""
        states = [state for name in self.ledgers for state in self.lab.states(name).values()]
        while self.lab.controller_epoch() <= max(state["controller_epoch"] for state in states):
            self.lab.delete_controller()
            rest(self.lab)

    def _recovery(self) -> Recovery:
        """Plan with the snapshot that `kwalk collect` takes now."""
        roots = [each.folder / "data" for each in self.quorum.controllers.values()]
        return plan_recovery(recovery_problem(collected(self.lab, roots)), seconds=PLANNING)

    def _steps(self, plan: Plan | None) -> Iterator[Procedure]:
        """Yield the steps of a plan, and note each."""
        steps = () if plan is None else plan.procedures
        self.facts["plan"] = [one.name for one in steps]
        for one in steps:
            self.lab.note(f"carried out: {one.name}")
            yield one

    def topic_id(self, name: str) -> str | None:
        """Return the id of a topic in the metadata of the first broker that has it."""
        for broker in self.lab.brokers.values():
            if broker.runs and (found := metadata(broker.port, with_ids=True).topics.get(name)):
                return found.topic_id
        return None


def _renamed(broker: LabBroker, suffix: str, name: str = "") -> list[Path]:
    """Return the directories of a broker that have a suffix, of all topics or of one."""
    paths = [path for root in broker.roots for path in sorted(root.glob(f"*-{suffix}"))]
    return [path for path in paths if not name or path.name.startswith(f"{name}-")]


def _in_words(probes: Mapping[str, Any]) -> dict[str, str] | str:
    """Return what a producer and a consumer got of each partition."""
    return {
        number: f"produce {by['produce']['error']}, consume {by['consume']['error']}" for number, by in probes.items()
    } or "no metadata"
