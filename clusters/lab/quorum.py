"""The KRaft controllers of a lab, to which its cluster migrates, and what their logs say of the migration.

Words: the *driver* of a migration is the part of the active controller that does it; its *state* is the one that its
log named last. A *hindrance* is a line that says why it stays in its state.

Source: org.apache.kafka.metadata.migration.KRaftMigrationDriver, MigrationDriverState; kafka.tools.StorageTool.
"""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kwalk.clusters.lab.cluster import (
    CONTROLLER_LISTENER,
    MIGRATION_FLAG,
    PROTOCOLS,
    Lab,
    Mode,
    file_logging,
    free_ports,
    text_from,
    write_properties,
)
from kwalk.clusters.lab.processes import LabProcess, wait_until
from kwalk.model.language import KwalkError

FIRST_ID = 3000
"""The id of the first controller; no broker may have it."""
DRIVER = "org.apache.kafka.metadata.migration"
FORMATTED = "meta.properties"
"""The file of a log directory that has been formatted."""
SETTINGS = {
    "num.io.threads": 2,
    "num.network.threads": 2,
    "background.threads": 1,
    "broker.session.timeout.ms": 18000,
    "controller.listener.names": CONTROLLER_LISTENER,
}
"""A controller's settings, where they differ from Kafka's own, to be small and patient."""
DUAL_WRITE = "DUAL_WRITE"
"""The driver's last state: brokers may restart in KRaft mode."""
BEGUN = frozenset(
    {"BECOME_CONTROLLER", "ZK_MIGRATION", "SYNC_KRAFT_TO_ZK", "KRAFT_CONTROLLER_TO_BROKER_COMM", DUAL_WRITE}
)
"""The driver's states from the moment on at which it takes /controller: no broker can become controller any more."""
TRANSITION = re.compile(r"\d+ transitioning from (\w+) to (\w+) state")
HINDRANCE = re.compile(
    r"\[[^\]]+\] [A-Z]+ (?:\[[^\]]+\] )?((?:Still waiting for ZK brokers|No brokers are known"
    r"|Encountered \w[\w ]* fault:|Encountered ZooKeeper error|KRaft controller indicates|Unhandled error in"
    r"|Aborting the metadata migration) ?.*?)(?: \([\w.]+\))?$"
)
EXCEPTION = re.compile(r"(?:Caused by: )?([\w.$]+(?:Exception|Error)\b.*)")


def driver_states(text: str) -> list[str]:
    """Return the states that a controller's driver entered, in their order, from its log."""
    return [found[2] for found in TRANSITION.finditer(text) if found[1] != found[2]]


def hindrances(text: str) -> list[str]:
    """Return the lines since the driver's last transition that say why it stays in its state, each one once.

    They are in the order in which they came last; one about a fault is followed by the exception that caused it.
    """
    last = max((found.end() for found in TRANSITION.finditer(text) if found[1] != found[2]), default=0)
    return [*reversed(dict.fromkeys(reversed(list(_hindrances(text[last:].splitlines())))))]


def _hindrances(lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        if found := HINDRANCE.match(line):
            cause = EXCEPTION.match(lines[number + 1]) if number + 1 < len(lines) else None
            yield found[1] + (f" ({cause[1]})" if cause else "")


class KRaftController:
    """A controller: its port and folder, and its process if it was started."""

    def __init__(self, number: int, port: int, folder: Path) -> None:
        self.id, self.port, self.folder = number, port, folder
        self.process: LabProcess | None = None
        self.mark = 0
        """How long its log was when it was started last."""

    @property
    def runs(self) -> bool:
        """Whether its process runs."""
        return self.process is not None and self.process.runs

    @property
    def log(self) -> Path:
        """The file of its log, which has every line of the driver."""
        return self.folder / "logs" / "controller.log"

    @property
    def text(self) -> str:
        """What it has logged since it was started last."""
        return text_from(self.log, self.mark)


class Quorum:
    """The KRaft controllers of a lab. From then on its brokers can be in other modes than ZooKeeper's.

    Args:
        lab: The lab, which runs; its processes include those of the controllers.
        size: How many controllers.
        zookeeper_port: The port by which controllers reach ZooKeeper, if a proxy is in between.
    """

    def __init__(self, lab: Lab, size: int = 1, *, zookeeper_port: int | None = None) -> None:
        self.lab, self.zookeeper_port = lab, zookeeper_port or lab.zookeeper_port
        ports = free_ports(size)
        self.controllers = {
            number: KRaftController(number, next(ports), lab.folder / f"controller-{number}")
            for number in range(FIRST_ID, FIRST_ID + size)
        }
        lab.voters = ",".join(f"{each.id}@127.0.0.1:{each.port}" for each in self.controllers.values())

    def settings(self, controller: KRaftController, *, migrates: bool) -> dict[str, Any]:
        """Return a controller's settings; one that migrates also reaches ZooKeeper, and has the flag."""
        found = {
            **SETTINGS,
            "process.roles": "controller",
            "node.id": controller.id,
            "controller.quorum.voters": self.lab.voters,
            "listeners": f"{CONTROLLER_LISTENER}://127.0.0.1:{controller.port}",
            PROTOCOLS: f"{CONTROLLER_LISTENER}:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": controller.folder / "data",
        }
        if migrates:
            found |= {
                MIGRATION_FLAG: "true",
                "zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}",
                "zookeeper.session.timeout.ms": 18000,
                "inter.broker.listener.name": "PLAINTEXT",
            }
        return found

    def start(self, *numbers: int, migrates: bool = True) -> None:
        """Start controllers that do not run, all without a number; one without data is formatted before.

        Args:
            numbers: Their ids.
            migrates: Whether they have the flag; without it the migration is finalized.
        """
        for controller in self._named(numbers):
            (controller.folder / "logs").mkdir(parents=True, exist_ok=True)
            properties, log4j = controller.folder / "controller.properties", controller.folder / "log4j.properties"
            write_properties(properties, self.settings(controller, migrates=migrates))
            logging = file_logging({"controller": controller.log})
            write_properties(log4j, {**logging, f"log4j.logger.{DRIVER}": "TRACE"})
            if not (controller.folder / "data" / FORMATTED).exists():
                self.format(f"controller-{controller.id}", properties)
            controller.mark = controller.log.stat().st_size if controller.log.exists() else 0
            if controller.process is not None:
                self.lab.processes.forget(controller.process)
            main = ("kafka.Kafka", str(properties))
            controller.process = self.lab.run_java(
                f"controller-{controller.id}", self.lab.options.release, main, heap=200, log4j=log4j
            )
            self.lab.note(f"KRaft controller {controller.id} started{'' if migrates else ' without the flag'}")

    def start_brokers_without_data(self) -> None:
        """Stop every broker, remove what it has, and start it in KRaft mode; the controllers do not migrate.

        The cluster is one that was in KRaft mode from the beginning.
        """
        for number in self.lab.brokers:
            self.lab.stop(number)
        self.start(migrates=False)
        for number, broker in self.lab.brokers.items():
            for root in broker.roots:
                shutil.rmtree(root)
            broker.mode = Mode.KRAFT
            self.format(f"broker-{number}", self.lab.configure(number))
            self.lab.start(number)

    def format(self, name: str, properties: Path) -> None:
        """Format the log directories of a configuration, with the cluster id in ZooKeeper."""
        cluster = self.lab.json("/cluster/id")["id"]
        main = ("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(properties))
        process = self.lab.run_java(f"format-{name}", self.lab.options.release, main, heap=96)
        if not process.wait(60) or process.process.returncode:
            raise KwalkError(f"{name} cannot be formatted:\n{process.last_lines()}")
        self.lab.processes.forget(process)

    def stop(self, *numbers: int) -> None:
        """Stop controllers in an orderly way (SIGTERM), all without a number; SIGKILL after 30 s."""
        self._end(signal.SIGTERM, numbers)

    def kill(self, *numbers: int) -> None:
        """Crash controllers (SIGKILL), all without a number."""
        self._end(signal.SIGKILL, numbers)

    def _end(self, which: signal.Signals, numbers: tuple[int, ...]) -> None:
        for controller in self._named(numbers):
            if controller.process is not None and controller.runs:
                controller.process.send(which)
                if not controller.process.wait(30):
                    controller.process.send(signal.SIGKILL)
                    controller.process.wait(10)
                self.lab.note(f"KRaft controller {controller.id}: {which.name}")

    def _named(self, numbers: tuple[int, ...]) -> list[KRaftController]:
        return [self.controllers[number] for number in numbers or self.controllers]

    @property
    def active(self) -> KRaftController:
        """The controller whose driver has left the state INACTIVE last; the first one if none has."""
        return max(
            self.controllers.values(), key=lambda each: (each.runs, self._state_of(each) not in (None, INACTIVE))
        )

    def _state_of(self, controller: KRaftController) -> str | None:
        return next(reversed(driver_states(controller.text)), None)

    @property
    def state(self) -> str | None:
        """The driver's state; None if it has logged none."""
        return self._state_of(self.active)

    @property
    def hindrances(self) -> list[str]:
        """Why the driver stays in its state, by the last line that says so; and which controllers have ended."""
        ended = [each.id for each in self.controllers.values() if each.process and not each.runs]
        return hindrances(self.active.text)[-1:] + [f"controller {number} has ended" for number in ended]

    def reaches(self, state: str, seconds: float = 60.0) -> bool:
        """Wait until the driver has entered a state since the controllers were started; return whether it has."""

        def entered() -> bool:
            return any(state in driver_states(each.text) for each in self.controllers.values())

        reached = wait_until(lambda: entered() or not any(each.runs for each in self.controllers.values()), seconds)
        self.lab.note(f"{state} is {'' if reached and entered() else 'not '}reached: the driver is in {self.state}")
        return reached and entered()


INACTIVE = "INACTIVE"
"""The driver's state in a controller that is not the active one."""
