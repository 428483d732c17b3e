"""How long `kwalk collect` takes on a large cluster that is made of znodes, listings and one broker that is not there.

    python -m bench.collect [TOPICS] [PARTITIONS] [BROKERS]

ZooKeeper is real, started by the lab; the znodes are written by this script. All brokers register the same listener,
behind which a process answers Metadata and DescribeLogDirs requests; log directories are outputs of `kwalk collect
--script`, with one segment for each log.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import socket
import subprocess
import sys
import threading
import time
from base64 import urlsafe_b64decode
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from kwalk.clusters.collect.log_files import CHECKPOINTS, HEADER, MAGIC
from kwalk.clusters.collect.logs import END, HEADS
from kwalk.clusters.lab.cluster import Lab, LabOptions
from kwalk.clusters.lab.zookeeper import Write, ZooKeeperClient, create
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import (
    NO_TAGS,
    array,
    compact_array,
    compact_string,
    framed,
    int8,
    int16,
    int32,
    new_topic_id,
    read_frame,
    string,
)

REPLICAS = 3
RELEASE = "2.8.2"
SEGMENT = f"{0:020}.log"
LOGS = "/data/logs"
KWALK = (sys.executable, "-m", "kwalk.reports.command_line")


def replicas(topic: int, partition: int, brokers: int) -> list[int]:
    """Return the replicas of a partition."""
    return [1 + (topic * 7 + partition + n) % brokers for n in range(REPLICAS)]


def znodes(ids: Sequence[str], partitions: int, brokers: int, port: int) -> Iterator[Write]:
    """Yield the writes that make the cluster."""
    for path in ("/brokers", "/brokers/ids", "/brokers/topics", "/admin", "/admin/delete_topics", "/cluster"):
        yield create(path)
    yield create("/controller", json.dumps({"version": 1, "brokerid": 1, "timestamp": "0"}).encode())
    yield create("/controller_epoch", b"1")
    for broker in range(1, brokers + 1):
        yield create(f"/brokers/ids/{broker}", json.dumps({"endpoints": [f"PLAINTEXT://127.0.0.1:{port}"]}).encode())
    for topic, identity in enumerate(ids):
        path = f"/brokers/topics/topic-{topic}"
        assigned = {str(p): replicas(topic, p, brokers) for p in range(partitions)}
        yield create(path, json.dumps({"version": 3, "topic_id": identity, "partitions": assigned}).encode())
        yield create(f"{path}/partitions")
        for partition, isr in assigned.items():
            state = {"leader": isr[0], "leader_epoch": 0, "isr": isr, "controller_epoch": 1, "version": 1}
            yield create(f"{path}/partitions/{partition}")
            yield create(f"{path}/partitions/{partition}/state", json.dumps(state).encode())


def listing(ids: Sequence[str], partitions: int, brokers: int, broker: int) -> str:
    """Return what the script prints on a broker."""
    names, files, logs = [], [], []
    for topic, identity in enumerate(ids):
        for partition in range(partitions):
            if broker in replicas(topic, partition, brokers):
                name = f"./topic-{topic}-{partition}"
                names.append(f"directory {name}")
                files += [
                    f"file {name}/partition.metadata",
                    "|version: 0",
                    f"|topic_id: {identity}",
                    f"file {name}/leader-epoch-checkpoint",
                    "|0",
                    "|1",
                    "|0 0",
                ]
                header = HEADER.pack(0, 200, 0, MAGIC, topic, 0, 0, 1_700_000_000_000, 0, -1, -1, -1, 1)
                logs.append(f"segment 1073741824 {name}/{SEGMENT}")
                logs.append(f"batch {f'{name[2:]}/{SEGMENT}'.encode().hex()} {header.hex()}")
    head = [f"root {LOGS}", "file ./meta.properties", f"|broker.id={broker}"]
    for checkpoint in CHECKPOINTS.values():
        entries = [
            f"|{name.removeprefix('directory ./').replace('-', ' ').replace(' ', '-', 1)} 1000" for name in names
        ]
        head += [f"file ./{checkpoint}", "|0", f"|{len(entries)}", *entries]
    return "\n".join([HEADS[-1], *head, *names, *files, *logs, END]) + "\n"


def metadata_response(ids: Sequence[str], partitions: int, brokers: int) -> bytes:
    """Return a Metadata response (version 10) without its correlation id."""

    def partition(topic: int, number: int) -> bytes:
        isr = replicas(topic, number, brokers)
        listed = compact_array(map(int32, isr))
        return int16(0) + int32(number) + int32(isr[0]) + int32(0) + listed * 2 + compact_array([]) + NO_TAGS

    def one(topic: int) -> bytes:
        parts = compact_array(partition(topic, number) for number in range(partitions))
        name = compact_string(f"topic-{topic}") + urlsafe_b64decode(ids[topic] + "==")
        return int16(0) + name + int8(0) + parts + int32(0) + NO_TAGS

    nodes = compact_array(
        int32(broker) + compact_string("h") + int32(9092) + compact_string(None) + NO_TAGS
        for broker in range(1, brokers + 1)
    )
    topics = compact_array(one(topic) for topic in range(len(ids)))
    return NO_TAGS + int32(0) + nodes + compact_string("c") + int32(1) + topics + NO_TAGS


def serve(listener: socket.socket, response: bytes) -> None:
    """Answer each request for log directories with one of them, and every other request with the response."""
    log_dirs = int32(0) + array([int16(0) + string(LOGS) + array([])])

    def answer(connection: socket.socket) -> None:
        while (request := read_frame(connection)) is not None:
            is_other = request[:2] != int16(Api.DESCRIBE_LOG_DIRS)
            connection.sendall(framed(request[4:8] + (response if is_other else log_dirs)))

    while True:
        threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()


def write_all(client: ZooKeeperClient, writes: Iterator[Write]) -> None:
    """Write the znodes, many at once."""
    waiting = []
    for write in writes:
        waiting.append(client.send(write))
        if len(waiting) == 2000:
            for sent in waiting:
                sent.result(60)
            waiting.clear()
    for sent in waiting:
        sent.result(60)


def free_port() -> int:
    """Return a port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def main() -> None:
    """Make the cluster, collect it, inspect it, and print the seconds."""
    topics, partitions, brokers = (int(word) for word in (*sys.argv[1:], "3000", "12", "30")[:3])
    ids = [new_topic_id() for _ in range(topics)]
    listener = socket.create_server(("127.0.0.1", 0))
    server = multiprocessing.get_context("fork").Process(
        target=serve, args=(listener, metadata_response(ids, partitions, brokers)), daemon=True
    )
    server.start()
    with TemporaryDirectory() as name:
        folder, lab = Path(name), Lab(Path(name) / "lab", LabOptions(release=RELEASE, brokers=1))
        lab.start_zookeeper(free_port())
        try:
            write_all(lab.zk, znodes(ids, partitions, brokers, listener.getsockname()[1]))
            address, out = f"127.0.0.1:{lab.zookeeper_port}", f"{name}/now"
            words = ["collect", address, "--release", RELEASE, "--save-as", out]
            for broker in range(1, brokers + 1):
                (folder / f"{broker}.txt").write_text(listing(ids, partitions, brokers, broker))
                words += ["--logs", f"{broker}={name}/{broker}.txt"]
            for command in (words, ["diagnose", out]):
                start, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
                code = subprocess.run([*KWALK, *command], check=False).returncode
                seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
                own = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
                print(f"{command[0]}: {seconds:.1f} s, of which {own:.1f} s its own; exit code {code}", flush=True)
            print(f"snapshot: {(folder / 'now').stat().st_size / 1e6:.1f} MB")
        finally:
            lab.close()
            server.terminate()


if __name__ == "__main__":
    main()
