"""`kwalk collect`: take a snapshot of a running system, without writing anything to it."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    JSON,
    Command,
    Section,
    argument,
    option,
    out,
    repeatable,
    switch,
)
from kwalk.search.base.option_kinds import FILE, NAME, SECONDS, text

COMMAND = Command(
    "take a snapshot of a running system, without writing anything to it",
    argument(
        "zookeeper",
        "ZOOKEEPER",
        "HOST:PORT[,HOST:PORT ...][/CHROOT], as in the brokers' zookeeper.connect",
        nargs="?",
    ),
    option(
        "--release",
        text("VERSION"),
        "the version of the brokers, such as 3.4.1, 7.3.0-ccs or 2.8.1.amzn.1; needed",
    ),
    repeatable(
        "--logs",
        text("[ID=]PLACE"),
        "log directories: a folder, the output of --script, a tar archive, or ssh://[USER@]HOST/FOLDER, "
        "with {host} for that of each broker",
    ),
    repeatable("--topic", NAME, "only this topic, or those that fit a pattern such as orders-*"),
    switch("--no-metadata", "do not ask brokers for their metadata caches, their log directories and their topic ids"),
    option("--ssh", text("COMMAND"), "the command in place of ssh, with its options"),
    option("--sasl", text("USER"), "authenticate to ZooKeeper with SASL (DIGEST-MD5)"),
    option("--digest", text("USER"), "authenticate to ZooKeeper with its scheme digest"),
    option("--password-file", FILE, "the password (default: KWALK_ZOOKEEPER_PASSWORD)"),
    switch("--tls", "encrypt the connection to ZooKeeper"),
    option("--tls-ca", FILE, "certificates of the authorities to trust (default: the system's)"),
    option("--tls-cert", FILE, "the client's certificate, with --tls-key"),
    option("--tls-key", FILE, "the key of the client's certificate"),
    option(
        "--seconds",
        SECONDS,
        "time budget in seconds for the log directories of one machine (default: 120), and for ZooKeeper (at most 30)",
    ),
    option("--save-as", FILE, "the snapshot (default: snapshot-TIME.json in the folder of --out)"),
    out("folder of the snapshot"),
    switch("--script", "print a shell script that lists log directories on a machine without kwalk"),
    JSON,
    handler="kwalk.clusters.handlers.collect:run_collect",
    section=Section.CLUSTER,
    codes="0 written, 2 usage error, or a cluster that cannot be read",
    page="../how-to/collect-a-snapshot.md",
    examples="""
  kwalk collect zk-1:2181 --release 2.8.2 --logs 'ssh://{host}/data/logs'     every broker, by ssh
  kwalk collect zk-1:2181/prod --release 3.4.1 --logs 1=/data/logs --topic orders
  kwalk collect --script > list_logs.sh; sh list_logs.sh /data/logs > broker-1.txt
  kwalk collect zk-1:2181 --release 2.8.2 --logs 1=broker-1.txt --save-as now.json""",
)
