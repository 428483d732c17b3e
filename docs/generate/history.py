"""The page `history.md`: verdicts on the commits of Kafka's brokers and clients, from two tables."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from attrs import frozen

from docs.generate.tables import lines_of, tables

REPORTS = tables("history")["report"]
VERDICTS = {
    "found": "a search finds what it repairs: [known bugs](known-bugs.md)",
    "not modelled": "what it repairs needs something that the models lack: the table above, or the reason beside it",
    "not visible": "no property can notice it, for the reason beside it",
    "no release has the mistake": "it was repaired before the release that would have brought it",
    "before 0.10.0.0": "releases before 0.10.0.0 have the mistake, and no later one: the models begin there",
    "another part": "KRaft, clients, quotas, coordinators of transactions: not of the part that is named",
    "tiered storage": "copies of segments in another store (KIP-405)",
    "new behaviour": "a feature; what it repairs later is in commits of its own",
    "configurations": "which values are accepted, and how they are read",
    "out of scope": "metrics, memory, tools or limits of 0 ms that a report names",
    "metrics and log lines": "what brokers count and say",
    "performance": "the same result in less time or memory",
    "file systems and virtual machines": "what an operating system, a Java or a codec does",
    "authorization and connections": "who may ask, and how clients find brokers",
    "tools": "what command-line tools print",
    "refactoring": "the same behaviour in other words",
    "tests and documents": "no product code",
}
HEAD = """# The history of logs, groups, fetchers, the controller and clients

Every commit of March 2016 to 3.9.0 that touches the log layer (`kafka.log`, `storage.internals.log`, the caches of
leader epochs and the checkpoint files), the group coordinator (`kafka.coordinator.group`), or, from January 2016, the
controller with what brokers do for it (`kafka.controller`, `kafka.zk`, `kafka.zookeeper`, `kafka.admin`, `Partition`,
`ReplicaManager`, `KafkaApis`, `KafkaServer`, metadata caches, `AlterPartitionManager`), or fetchers and delayed
requests (`AbstractFetcherThread`, `ReplicaFetcherThread`, `ReplicaAlterLogDirsThread` and their managers and end
points, `FetchSession`, `DelayedOperation` and its kinds, timers, `ReplicationQuotaManager`), or coordinators of
transactions (`kafka.coordinator.transaction`), or, from May 2016, producers (`TransactionManager`, `Sender`,
`RecordAccumulator`, `ProducerBatch`), what consumers fetch with (`Fetcher`, `AbstractFetch`, `OffsetFetcher`) or what
consumers of groups have (`ConsumerCoordinator`, `AbstractCoordinator`, `Heartbeat`, `SubscriptionState`,
`ConsumerNetworkClient`, assignors), with one verdict each; and those of other files whose reports a search finds. A
commit is in the first part that it touches. A verdict is by the *diff*, or by the *report* that the commit names. The
consumer of KIP-848 is another part.
`make docs` writes this page from `docs/generate/history.toml` and `docs/generate/history.tsv`.

## Reports that the models lack
"""
PARTS = {
    "logs": "Logs",
    "groups": "Groups",
    "controller": "Controller and replication",
    "fetchers": "Fetchers and delayed requests",
    "transactions": "Coordinators of transactions",
    "producers": "Producers",
    "fetching": "Fetching consumers",
    "consumers": "Consumers of a group",
}


@frozen
class Commit:
    """A commit of Kafka: its part, its month, its verdict with what it is by and the reason, and its title."""

    part: str
    commit: str
    month: str
    verdict: str
    basis: str
    reason: str
    title: str


def commits() -> list[Commit]:
    """Return the commits, as the table has them."""
    text = Path(__file__).with_name("history.tsv").read_text(encoding="utf-8")
    return [Commit(*line.split("\t")) for line in text.splitlines()]


def page() -> str:
    """Return the text of the page."""
    columns = {
        "report": "report",
        "lost": "what users lost",
        "repaired": "repaired in",
        "lacks": "what the models lack",
    }
    lines = [HEAD, *lines_of(REPORTS, columns), "\n## Verdicts\n"]
    table = commits()
    count = Counter((each.verdict, each.part) for each in table)
    counts = (
        {"verdict": name, "meaning": meaning} | {part: str(count[name, part]) for part in PARTS}
        for name, meaning in VERDICTS.items()
    )
    lines += lines_of(counts, {"verdict": "verdict", "meaning": "meaning", **PARTS})
    for part, title in PARTS.items():
        rows = (
            {
                "commit": each.commit,
                "month": each.month,
                "title": each.title.replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*").replace("_", "\\_"),
                "verdict": f"{each.verdict}: {each.reason}" if each.reason else each.verdict,
                "basis": each.basis,
            }
            for each in table
            if each.part == part
        )
        heads = {"commit": "commit", "month": "month", "title": "title", "verdict": "verdict", "basis": "by"}
        lines += [f"\n## {title}\n", *lines_of(rows, heads, code="commit")]
    return "\n".join(lines) + "\n"
