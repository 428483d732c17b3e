"""The command that takes a snapshot of a running system: `kwalk collect`."""

from __future__ import annotations

import os
import shlex
from argparse import Namespace
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kwalk.model.language import UsageError
from kwalk.reports.document import CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import deliver, folder_of
from kwalk.reports.streams import remark

PASSWORD = "KWALK_ZOOKEEPER_PASSWORD"
"""The variable of the environment with the password, if no file has it."""
MOST_PROBLEMS = 10
"""How many problems are printed; the snapshot has all of them."""


def run_collect(options: Namespace) -> int:
    """Take a snapshot and write it; 0 also if parts of the cluster could not be read."""
    from kwalk.clusters.collect.logs import script

    if options.script:
        print(script(), end="")
        return 0
    from kwalk.clusters.collect.collect import collect
    from kwalk.clusters.collect.zookeeper import ZooKeeperReader
    from kwalk.model.kafka.versions.reported import reported_release

    address, wanted = _address(options), _wanted(options)
    note = reported_release(wanted.version).note
    if note:
        remark(f"kwalk: {note}")
    if options.save_as is None and options.out.endswith(".json"):
        remark(
            f"kwalk: --out is a folder, as in each command: `--save-as {visible(options.out)}` names the snapshot. "
            "The old form works until the next release."
        )
        options.save_as = options.out
    path = options.save_as or str(Path(options.out) / f"snapshot-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json")
    with folder_of(path, "--save-as") as folder:
        with shown_on_stderr() as report, ZooKeeperReader(address) as reader:
            reader.check_cluster()
            found = collect(reader, wanted, report=report)
        assert folder is not None
        folder.write({Path(path).name: found.text})
    for problem in found.problems[:MOST_PROBLEMS]:
        remark(f"kwalk: {visible(problem)}")
    if len(found.problems) > MOST_PROBLEMS:
        remark(f"kwalk: … and {len(found.problems) - MOST_PROBLEMS:,} more, which the snapshot has.")
    totals = _totals(found.document)
    data = {"snapshot": path, "totals": totals, "problems": found.problems}
    return deliver(options, lambda: data, [CodeBlock(_summary(path, totals))])


def _wanted(options: Namespace) -> Any:
    from kwalk.clusters.collect.collect import CollectOptions, log_place
    from kwalk.clusters.collect.logs import SSH

    if options.release is None:
        raise UsageError("The version of the brokers is not known: name it, as in --release 2.8.2.")
    return CollectOptions(
        version=options.release,
        topics=tuple(options.topic),
        logs=tuple(log_place(text) for text in options.logs),
        ask_brokers=not options.no_metadata,
        ssh=tuple(shlex.split(options.ssh)) if options.ssh else SSH,
        seconds=options.seconds or 120.0,
    )


def _address(options: Namespace) -> Any:
    from kwalk.clusters.collect.zookeeper import ZooKeeperOptions

    if options.zookeeper is None:
        raise UsageError("Name the address of ZooKeeper, as in `kwalk collect zk-1:2181/chroot --release 2.8.2`.")
    if options.sasl and options.digest:
        raise UsageError("--sasl and --digest exclude each other. Give one of them.")
    return ZooKeeperOptions(
        hosts=options.zookeeper,
        seconds=min(options.seconds or 30.0, 30.0),
        sasl=options.sasl,
        digest=options.digest,
        password=_password(options) if options.sasl or options.digest else "",
        tls=options.tls or any((options.tls_ca, options.tls_cert, options.tls_key)),
        ca=options.tls_ca,
        certificate=options.tls_cert,
        key=options.tls_key,
    )


def _password(options: Namespace) -> str:
    """Return the password from its file or the environment; anybody on the machine could see one in an argument."""
    if options.password_file is not None:
        try:
            return Path(options.password_file).read_text(encoding="utf-8").rstrip("\r\n")
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "it is not UTF-8"
            raise UsageError(f"Cannot read the password in {options.password_file!r}: {why.lower()}.") from error
    if PASSWORD not in os.environ:
        raise UsageError(f"A user needs a password: name its file with --password-file, or set {PASSWORD}.")
    return os.environ[PASSWORD]


def _totals(document: Mapping[str, Any]) -> dict[str, int]:
    topics, brokers = document["topics"].values(), document["brokers"].values()
    return {
        "topics": len(topics),
        "partitions": sum(len(topic["znode"]["partitions"]) for topic in topics),
        "brokers": len(brokers),
        "brokers_with_log_directories": sum(broker["dirs"] is not None for broker in brokers),
        "brokers_with_metadata_cache": sum(broker["metadata_cache"] is not None for broker in brokers),
        "problems": len(document["problems"]),
    }


def _summary(path: str, totals: Mapping[str, int]) -> tuple[str, ...]:
    brokers = totals["brokers"]
    return (
        f"Snapshot: {path}",
        f"  {totals['topics']:,} topics, {totals['partitions']:,} partitions, {brokers:,} brokers; log directories of "
        f"{totals['brokers_with_log_directories']:,} of {brokers:,}, metadata caches of "
        f"{totals['brokers_with_metadata_cache']:,}",
        f"Next: kwalk diagnose {shlex.quote(path)}",
    )
