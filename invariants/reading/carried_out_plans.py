"""Plans of `kwalk diagnose --plan` that were carried out on real brokers: `kwalk lab reproduce recover-…` repeats them.

Each was the first answer whose condition was true. Afterwards, and again after a restart of every broker, the topic was
served, every record that a disk had was on each ISR member or in a backup, none of another topic was in the ISR, and an
inspection was consistent. No inspection after a step found what the step does not say.
"""

from __future__ import annotations

from kwalk.model.language.inspection import Inspection, Severity
from kwalk.model.language.recovery import CarriedOutPlan

SINCE_3 = ("3.4.1", "3.9.0")
EVERY = ("2.8.2", *SINCE_3)
NEWER = ("3.9.0",)
OLDER = ("2.8.2",)
ENDS = (*OLDER, *NEWER)
WRITE_ID, FAIL_OVER, WITHOUT_FILES = "write-topic-id", "fail-over", "restart-without-metadata-files"
WRITE_STATES, WRITE_FIRST = "write-states", "write-states-of-first-leaders"
CREATED_AGAIN = ("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id")
MOVE, ELECT = "move-directories", "elect-unclean"

CARRIED_OUT = tuple(
    CarriedOutPlan(f"recover-{name}", releases, frozenset(damage), steps)
    for name, releases, damage, steps in (
        ("fresh-before-failover", EVERY, ("topic-id-missing",), (WRITE_ID,)),
        ("fresh-after-failover", SINCE_3, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("before-failover", EVERY, ("topic-id-missing",), (WRITE_ID,)),
        ("after-failover", OLDER, ("topic-ids-mixed",), (WITHOUT_FILES,)),
        ("after-failover", SINCE_3, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("after-failover-of-four-replicas", OLDER, ("topic-ids-mixed",), (WITHOUT_FILES,)),
        ("after-failover-of-four-replicas", SINCE_3, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        (
            "after-failover-beside-a-reassignment",
            OLDER,
            ("topic-ids-mixed", "reassignment-waits"),
            ("start-broker", WITHOUT_FILES),
        ),
        (
            "after-failover-beside-a-reassignment",
            SINCE_3,
            ("fetch-by-id-refused", "reassignment-waits"),
            (WRITE_ID, "start-broker", FAIL_OVER),
        ),
        ("mixed-ids", OLDER, ("topic-ids-mixed",), (WITHOUT_FILES,)),
        ("mixed-ids", NEWER, ("fetch-by-id-refused-mixed-topic-ids",), (WITHOUT_FILES,)),
        ("mixed-ids-of-a-partition", SINCE_3, ("leader-refuses-mixed-topic-ids",), (WRITE_ID, FAIL_OVER, MOVE)),
        ("many-topics", OLDER, ("leader-refuses-mixed-topic-ids", "topic-ids-mixed"), (f"{WITHOUT_FILES}-of-topics",)),
        ("many-topics", SINCE_3, ("leader-refuses-topic-id", "fetch-by-id-refused"), ("write-topic-ids", FAIL_OVER)),
        ("minted-while-down", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("minted-while-down", SINCE_3, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("another-id-while-down", ENDS, ("down-broker-has-another-id",), (WITHOUT_FILES,)),
        ("written-back", OLDER, ("controller-sends-another-id",), (FAIL_OVER,)),
        ("written-back", SINCE_3, ("fetch-by-id-refused", "controller-sends-another-id"), (FAIL_OVER,)),
        ("deleted-by-hand", EVERY, ("orphaned-log",), (MOVE,)),
        ("lost-segments-beginning", ENDS, ("no-live-isr", "isr-member-lacks-records"), (ELECT,)),
        ("lost-segments-middle", ENDS, ("no-live-isr", "isr-member-lacks-records"), (ELECT,)),
        ("created-again", OLDER, CREATED_AGAIN, (WRITE_ID, WRITE_FIRST, FAIL_OVER)),
        ("created-again", SINCE_3, CREATED_AGAIN, (WRITE_ID, "restart")),
        ("created-again-after-elections", OLDER, CREATED_AGAIN, (WRITE_ID, WRITE_FIRST, FAIL_OVER)),
        ("created-again-after-elections", SINCE_3, CREATED_AGAIN, (WRITE_ID, WRITE_FIRST, "restart")),
        ("states-removed-after-elections", OLDER, ("partition-state-is-lost",), (WRITE_FIRST, FAIL_OVER)),
        ("states-removed-after-elections", SINCE_3, ("partition-state-is-lost",), (WRITE_FIRST, "restart")),
        ("created-again-after-failover", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("created-again-after-failover", SINCE_3, ("leader-refuses-topic-id",), (WRITE_ID, FAIL_OVER)),
        ("stale-log", OLDER, ("replicas-diverged", "topic-ids-mixed"), (MOVE,)),
        ("stale-log", SINCE_3, ("replica-refuses", "topic-ids-mixed"), (MOVE,)),
        ("stale-log-of-preferred-leader", NEWER, ("replica-refuses", "topic-ids-mixed"), (MOVE,)),
        ("stale-log-of-broker-down", EVERY, ("down-broker-has-another-log",), (MOVE,)),
        ("stale-log-without-id", OLDER, ("down-broker-has-another-log",), (MOVE,)),
        ("adopted-log", OLDER, ("replicas-diverged",), (MOVE,)),
        ("stale-log-of-the-only-replica", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("stale-log-of-the-only-replica", SINCE_3, ("leader-refuses-topic-id",), (WRITE_ID, FAIL_OVER)),
        ("diverged", EVERY, ("replicas-diverged",), (MOVE,)),
        ("copied-topic", OLDER, ("topic-id-differs",), (WITHOUT_FILES,)),
        ("copied-topic", NEWER, ("leader-refuses-topic-id",), (WITHOUT_FILES,)),
        ("hanging-deletion", OLDER, ("deletion-hangs",), (FAIL_OVER,)),
        ("waiting-deletion", EVERY, ("deletion-pending",), ("start-broker",)),
        ("waiting-deletion", EVERY, ("deletion-pending",), ("start-empty-broker",)),
        ("stray-log", EVERY, ("stray-log",), (MOVE,)),
        ("stray-log-without-leader", EVERY, ("no-live-isr", "stray-log"), ("start-broker", MOVE)),
        ("cancelled-reassignment", OLDER, ("isr-outside-replicas", "stray-log"), ("put-back",)),
        ("cancelled-reassignment", SINCE_3, ("isr-outside-replicas",), ("put-back",)),
        ("reassignment-to-a-lost-broker", EVERY, ("reassignment-waits",), ("start-broker",)),
        ("reassignment-without-isr", ENDS, ("no-live-isr", "reassignment-waits"), ("start-broker",)),
        ("dead-in-isr", EVERY, ("isr-names-a-dead-broker",), (FAIL_OVER,)),
        ("isr-by-hand", EVERY, ("isr-written-by-hand",), ("write-states-of-leaders", FAIL_OVER)),
        ("stopped-isr", EVERY, ("no-live-isr",), ("start-broker",)),
        ("empty-isr", EVERY, ("empty-isr",), (ELECT,)),
        ("wiped-leader", EVERY, ("no-live-isr",), (ELECT,)),
        ("wiped-leader-unseen", EVERY, ("no-live-isr",), (ELECT,)),
        ("restored-zookeeper", OLDER, ("state-is-behind-the-logs-unnoticed",), (WRITE_STATES, FAIL_OVER)),
        ("restored-zookeeper", NEWER, ("state-is-behind-the-logs-unnoticed",), (WRITE_STATES, "restart")),
        ("restored-zookeeper-noticed", OLDER, ("state-is-behind-the-logs",), (WRITE_STATES, FAIL_OVER)),
        ("restored-zookeeper-noticed", NEWER, ("state-is-behind-the-logs",), (WRITE_STATES, "restart")),
        ("restored-zookeeper-backup", ENDS, ("state-is-behind-the-logs",), (WRITE_STATES, "start-broker")),
        (  # the answer for who misses one of the brokers
            "restored-zookeeper-backup",
            NEWER,
            ("state-is-behind-the-logs",),
            (f"{WRITE_STATES}-of-next", "start-broker"),
        ),
        ("restored-leader", EVERY, ("no-live-isr",), (ELECT,)),
        ("another-broker-id-in-use", EVERY, ("replica-under-another-broker-id", "stray-log"), ("give-directories",)),
        ("another-broker-id-rf-1", EVERY, ("replica-under-another-broker-id", "stray-log"), ("set-broker-id",)),
        ("another-broker-id-rf-2", EVERY, ("stray-log",), (MOVE,)),
        ("failed-disk-of-a-replica", ENDS, ("offline-replica",), ("repair-disk",)),
        ("failed-disk-of-a-replica", ENDS, ("offline-replica",), ("replace-disk",)),
        ("restored-leader-beside-a-failed-disk", NEWER, ("no-live-isr",), ("start-broker", "replace-disk")),
        ("power-was-lost", ENDS, ("no-live-isr",), ("start-broker",)),
        ("power-was-lost", ENDS, ("no-live-isr",), (f"{WRITE_STATES}-of-next", "start-broker")),
        ("all-down", EVERY, ("no-live-isr",), ("start-brokers",)),
        ("all-down", EVERY, ("no-live-isr",), ("start-broker", ELECT)),
        ("leader-is-no-replica", ENDS, ("isr-outside-replicas", "stray-log"), ("put-back",)),
        (
            "failed-disks-of-two-brokers",
            ENDS,
            ("offline-log-directory", "offline-replica"),
            ("repair-disk",),
        ),
        ("failed-disk-of-the-only-replica", EVERY, ("offline-log-directory",), ("repair-disk",)),
    )
)

IN_MIGRATIONS = (
    CarriedOutPlan("migration-erased-id", NEWER, frozenset({"log-was-set-aside"}), ("bring-logs-back",)),
    CarriedOutPlan(
        "migration-without-metadata-file-in-dual-write",
        NEWER,
        frozenset({"log-was-set-aside"}),
        ("bring-logs-back",),
    ),
)
"""Plans of clusters that migrate to KRaft: afterwards each leader had every acknowledged record."""


def carried_out(release: str, inspection: Inspection) -> tuple[CarriedOutPlan, ...]:
    """Return the plans that repaired what an inspection shows, on brokers of a release."""
    damage = {kind.name for kind in inspection.by_kind() if kind.severity is not Severity.NOTE}
    return tuple(plan for plan in CARRIED_OUT if release in plan.releases and plan.damage == damage)
