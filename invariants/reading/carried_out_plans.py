"""Plans of `kwalk recover` that were carried out on real brokers: `kwalk lab reproduce recover-…` repeats them."""

from __future__ import annotations

from kwalk.model.language.inspection import Inspection, Severity
from kwalk.model.language.recovery import CarriedOutPlan

BOTH = ("2.8.2", "3.9.0")
NEWER = ("3.9.0",)
OLDER = ("2.8.2",)
WRITE_ID, FAIL_OVER, WITHOUT_FILES = "write-topic-id", "fail-over", "restart-without-metadata-files"

CARRIED_OUT = tuple(
    CarriedOutPlan(f"recover-{name}", releases, frozenset(damage), steps)
    for name, releases, damage, steps in (
        ("fresh-before-failover", NEWER, ("topic-id-missing",), (WRITE_ID,)),
        ("before-failover", BOTH, ("topic-id-missing",), (WRITE_ID,)),
        ("fresh-after-failover", NEWER, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("after-failover", NEWER, ("fetch-by-id-refused",), (WRITE_ID, FAIL_OVER)),
        ("after-failover", OLDER, ("topic-ids-mixed",), (WITHOUT_FILES,)),
        ("mixed-ids", NEWER, ("fetch-by-id-refused-mixed-topic-ids",), (WITHOUT_FILES,)),
        ("deleted-by-hand", NEWER, ("orphaned-log",), ("move-directories",)),
        (
            "created-again",
            BOTH,
            ("partition-without-state-is-served", "topic-id-differs", "controller-sends-another-id"),
            (WRITE_ID, FAIL_OVER),
        ),
        ("created-again-after-failover", OLDER, ("topic-id-differs",), (WRITE_ID, FAIL_OVER)),
        ("created-again-after-failover", NEWER, ("leader-refuses-topic-id",), (WRITE_ID, "restart")),
        ("stray-log", NEWER, ("stray-log",), ("move-directories",)),
        ("hanging-deletion", OLDER, ("deletion-hangs",), (FAIL_OVER,)),
        ("stopped-isr", NEWER, ("no-live-isr",), ("start-broker",)),
    )
)


def carried_out(release: str, inspection: Inspection) -> tuple[CarriedOutPlan, ...]:
    """Return the plans that repaired what an inspection shows, on brokers of a release."""
    damage = {kind.name for kind in inspection.by_kind() if kind.severity is not Severity.NOTE}
    return tuple(plan for plan in CARRIED_OUT if release in plan.releases and plan.damage == damage)
