"""Properties of the locks of quotas."""

from __future__ import annotations

from kwalk.model.kafka.server.quota_locks import QuotaLocks, QuotaStep
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(symptom="a broker answers no requests any more, after a quota was changed as it started", log="none")
def quota_threads_end(locks: QuotaLocks) -> bool:
    """A thread that counts a request, and one that changes a quota, end."""
    return locks.counter is QuotaStep.DONE and locks.changer is QuotaStep.DONE


@step(symptom="a thread counts a request twice", log="none")
def quota_threads_go_on(before: QuotaLocks, after: QuotaLocks) -> bool:
    """A thread takes its lock, and gives it back."""
    is_counter = before.counter is not after.counter
    is_changer = before.changer is not after.changer
    counts = not is_counter or (before.counter is QuotaStep.NONE) == (after.counter is QuotaStep.HOLDS)
    changes = not is_changer or (before.changer is QuotaStep.NONE) == (after.changer is QuotaStep.HOLDS)
    return is_counter != is_changer and counts and changes


@step(symptom="a request is not counted", log="none")
def sensor_is_made_once(before: QuotaLocks, after: QuotaLocks) -> bool:
    """A request that is counted has a sensor."""
    premise(before.has_sensor != after.has_sensor or after.counter is QuotaStep.DONE)
    return after.has_sensor and after.counter is QuotaStep.DONE


@reachable()
def both_hold_a_lock(locks: QuotaLocks) -> bool:
    """Both threads hold their first locks."""
    return locks.counter is QuotaStep.HOLDS and locks.changer is QuotaStep.HOLDS
