"""ClientRequestQuotaManager: two threads, of which one counts a request, and the other one changes a quota.

A thread that counts the first request makes a sensor, which Scala 2.12 does under the lock of the object, and for which
it needs the lock of the quotas. A thread that changes a quota has that lock, and needs the sensor.

What the model leaves out, and why its story loses nothing by it: other threads, which wait for these.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import SENSORS_ARE_MADE_AT_THE_START
from kwalk.model.language import Actor, action, choice, flag, require, state

COUNTER = Actor("request thread")
CHANGER = Actor("configuration thread")


class QuotaStep(Enum):
    """What a thread has done."""

    NONE = "nothing"
    HOLDS = "it holds its first lock"
    DONE = "it is done"


@state
class QuotaLocks:
    """What both threads have done, and whether the sensor is there."""

    counter: QuotaStep = choice(QuotaStep)
    changer: QuotaStep = choice(QuotaStep)
    has_sensor: bool = flag()


@action(by=COUNTER, description="begins to count a request", source="ClientRequestQuotaManager.recordExempt")
def begin_count(locks: QuotaLocks) -> None:
    """Up to 3.3.1 the sensor was a lazy value, which is made under the lock of the object."""
    require(locks.counter is QuotaStep.NONE)
    locks.counter = QuotaStep.HOLDS


@action(by=COUNTER, description="has counted it", source="SensorAccess.getOrCreate: the lock of the quotas")
def end_count(locks: QuotaLocks) -> None:
    """It needs no lock where the sensor is there."""
    is_free = locks.changer is not QuotaStep.HOLDS
    require(locks.counter is QuotaStep.HOLDS and (is_free or bool(SENSORS_ARE_MADE_AT_THE_START)))
    locks.counter = QuotaStep.DONE
    locks.has_sensor = True


@action(by=CHANGER, description="begins to change a quota", source="ClientQuotaManager.updateQuota: writeLock")
def begin_quota_change(locks: QuotaLocks) -> None:
    """It has the lock of the quotas."""
    require(locks.changer is QuotaStep.NONE)
    locks.changer = QuotaStep.HOLDS


@action(by=CHANGER, description="has changed it", source="ClientRequestQuotaManager.exemptMetricName, exemptSensor")
def end_quota_change(locks: QuotaLocks) -> None:
    """It needs the object whose sensor another thread makes."""
    is_free = locks.counter is not QuotaStep.HOLDS
    require(locks.changer is QuotaStep.HOLDS and (is_free or bool(SENSORS_ARE_MADE_AT_THE_START)))
    locks.changer = QuotaStep.DONE
