"""Properties of the log cleaner's rate."""

from __future__ import annotations

from kwalk.model.kafka.server.cleaner_rate import CleanerRate, rate_of
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="disk space, or the disk's time: the log cleaner keeps its rate until its broker starts again",
    log="none: kafka-configs.sh --describe shows the new value",
)
def cleaner_has_its_rate(config: CleanerRate) -> bool:
    """A running broker's cleaner has the rate that ZooKeeper has, once the broker knows of it."""
    premise(config.is_up)
    return config.has == rate_of(config) and not config.is_changed


@step(symptom="the log cleaner gets a rate that nobody has set", log="none")
def rate_changes_by_request(before: CleanerRate, after: CleanerRate) -> bool:
    """The cleaner's rate changes with a notification or a start, to that of ZooKeeper; changes are counted."""
    premise(before.has != after.has or before.rate != after.rate or before.changes != after.changes)
    if before.rate != after.rate:
        return after.is_changed and after.changes == before.changes + 1 and before.has == after.has
    is_read = (before.is_changed or not before.is_up) and after.is_up and not after.is_changed
    return (is_read and after.has == rate_of(after)) or not after.is_up


@always(symptom="a broker that is down cleans logs", log="none")
def stopped_broker_has_no_rate(config: CleanerRate) -> bool:
    """A broker that is down has no cleaner."""
    premise(not config.is_up)
    return config.has == 0


@step(symptom="a broker stops without a request", log="none")
def restarts_are_counted(before: CleanerRate, after: CleanerRate) -> bool:
    """A broker stops once for each of its restarts."""
    premise(before.is_up != after.is_up or before.restarts != after.restarts)
    return before.is_up != after.is_up and after.restarts == before.restarts + before.is_up


@reachable()
def rate_holds_after_a_start(config: CleanerRate) -> bool:
    """The cleaner has a rate of ZooKeeper after a restart."""
    return config.is_up and config.restarts > 0 and config.has > 0
