"""Plans of `kwalk recover` that were carried out on real brokers: `kwalk lab reproduce recover-…` repeats them.

Two are left out, as the same steps against the same kinds of damage did harm to other clusters of the lab: to start the
only ISR member against `no-live-isr` (`recover-restored-leader`: its log was shorter than that of the others), and
`set-broker-id` (`recover-another-broker-id-in-use`).
"""

from __future__ import annotations

from kwalk.model.language.inspection import Inspection, Severity
from kwalk.model.language.recovery import CarriedOutPlan

BOTH = ("2.8.2", "3.9.0")
SINCE_3 = ("3.4.1", "3.9.0")
EVERY = ("2.8.2", "3.4.1", "3.9.0")
NEWER = ("3.9.0",)
OLDER = ("2.8.2",)
WRITE_ID, FAIL_OVER, WITHOUT_FILES = "write-topic-id", "fail-over", "restart-without-metadata-files"
MOVE = "move-directories"

CARRIED_OUT = tuple(
    CarriedOutPlan(f"recover-{name}", releases, frozenset(damage), steps)
    for name, releases, damage, steps in (
        ("fresh-before-failover", NEWER, ("topic-id-missing",), (WRITE_ID,)),
        ("before-failover", BOTH, ("topic-id-missing",), (WRITE_ID,)),
        ("fresh-after-failover", NEWER, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("after-failover", NEWER, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("after-failover", OLDER, ("topic-ids-mixed",), (WITHOUT_FILES,)),
        ("mixed-ids", NEWER, ("fetch-by-id-refused-mixed-topic-ids",), (WITHOUT_FILES,)),
        ("deleted-by-hand", NEWER, ("orphaned-log",), (MOVE,)),
        (
            "created-again",
            BOTH,
            ("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id"),
            (WRITE_ID, FAIL_OVER),
        ),
        ("created-again-after-failover", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("created-again-after-failover", NEWER, ("leader-refuses-topic-id",), (WRITE_ID, "restart")),
        ("created-again-after-failover", NEWER, ("leader-refuses-topic-id",), (WRITE_ID, FAIL_OVER)),
        ("created-again-after-failover", NEWER, ("leader-refuses-topic-id",), (MOVE,)),
        ("mixed-ids-of-a-partition", NEWER, ("leader-refuses-mixed-topic-ids",), (WRITE_ID, FAIL_OVER, MOVE)),
        ("mixed-ids-of-a-partition", OLDER, ("leader-refuses-mixed-topic-ids",), (FAIL_OVER, WITHOUT_FILES)),
        ("minted-while-down", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("minted-while-down", NEWER, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("written-back", OLDER, ("controller-sends-another-id",), (FAIL_OVER,)),
        ("written-back", NEWER, ("fetch-by-id-refused", "controller-sends-another-id"), (FAIL_OVER,)),
        ("stale-log", OLDER, ("replicas-diverged", "topic-ids-mixed"), (MOVE,)),
        ("stale-log", SINCE_3, ("replica-refuses", "topic-ids-mixed"), (MOVE,)),
        ("stale-log-of-preferred-leader", NEWER, ("replica-refuses", "topic-ids-mixed"), (MOVE,)),
        ("stale-log-of-broker-down", OLDER, ("down-broker-has-another-log",), (MOVE,)),
        ("stale-log-without-id", OLDER, ("down-broker-has-another-log",), (MOVE,)),
        ("stale-log-of-the-only-replica", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("stale-log-of-the-only-replica", NEWER, ("leader-refuses-topic-id",), (WRITE_ID, FAIL_OVER)),
        ("stale-log-of-the-only-replica", NEWER, ("leader-refuses-topic-id",), (MOVE,)),
        ("adopted-log", OLDER, ("replicas-diverged",), (MOVE,)),
        ("diverged", OLDER, ("replicas-diverged",), (MOVE,)),
        ("stray-log", NEWER, ("stray-log",), (MOVE,)),
        ("hanging-deletion", OLDER, ("deletion-hangs",), (FAIL_OVER,)),
        ("waiting-deletion", BOTH, ("deletion-pending",), ("start-broker", FAIL_OVER)),
        ("empty-isr", BOTH, ("empty-isr",), ("elect-unclean",)),
        ("failed-disk-of-the-only-replica", EVERY, ("offline-log-directory",), ("repair-disk",)),
    )
)


def carried_out(release: str, inspection: Inspection) -> tuple[CarriedOutPlan, ...]:
    """Return the plans that repaired what an inspection shows, on brokers of a release."""
    damage = {kind.name for kind in inspection.by_kind() if kind.severity is not Severity.NOTE}
    return tuple(plan for plan in CARRIED_OUT if release in plan.releases and plan.damage == damage)
