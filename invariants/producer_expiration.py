"""Properties of the time after which producers expire."""

from __future__ import annotations

from kwalk.model.kafka.server.producer_expiration import ExpirationSetting
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="producers expire earlier or later than was configured, after brokers were restarted",
    log="none: kafka-configs.sh --describe shows another producer.id.expiration.ms",
)
def set_expiration_holds(setting: ExpirationSetting) -> bool:
    """A broker has the value that is set for all brokers."""
    return setting.runs and setting.has_value == setting.is_set


@step(symptom="a value changes that nobody has set", log="none")
def expiration_changes_by_request(before: ExpirationSetting, after: ExpirationSetting) -> bool:
    """A broker gets the value that is set, by a change or a start, and forgets it as it stops."""
    premise(before.has_value != after.has_value)
    if before.runs and after.runs:
        return before.is_changed and not after.is_changed and after.has_value == after.is_set
    return after.is_set and not after.is_changed if after.runs else not after.has_value


@step(symptom="a broker starts or stops by itself", log="none")
def setting_and_broker_change_apart(before: ExpirationSetting, after: ExpirationSetting) -> bool:
    """A value is set whether the broker runs or not, which is notified."""
    premise(before.is_set != after.is_set or before.runs != after.runs)
    if before.is_set != after.is_set:
        return before.runs == after.runs and after.is_changed and before.has_value == after.has_value
    return not after.has_value or after.runs


@step(symptom="a broker is notified of nothing", log="none")
def notification_is_of_a_change(before: ExpirationSetting, after: ExpirationSetting) -> bool:
    """A broker is notified as a value is set, or deleted."""
    premise(not before.is_changed and after.is_changed)
    return before.is_set != after.is_set


@reachable()
def stopped_broker_has_a_change(setting: ExpirationSetting) -> bool:
    """A value is set while the broker is down."""
    return setting.is_set and setting.is_changed and not setting.runs


@reachable()
def set_expiration_is_read(setting: ExpirationSetting) -> bool:
    """A broker has a value that is set."""
    return setting.has_value and not setting.is_changed


@reachable()
def expiration_is_set_back(setting: ExpirationSetting) -> bool:
    """A broker that runs has a value that is not set any more, and learns that."""
    return setting.has_value and not setting.is_set and setting.is_changed
