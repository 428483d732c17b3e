"""Properties of logs that are created while their topic's configuration changes."""

from __future__ import annotations

from kwalk.model.kafka.storage.log_creation import ConfiguredLog, CreationPhase
from kwalk.model.language import premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a change of a topic's configuration has no effect on some replicas until their brokers are restarted: "
    "records are kept, deleted or compacted by what was before",
    log="none: Processing override for entityPath: topics/… is followed by no error",
)
def log_has_the_topics_configuration(log: ConfiguredLog) -> bool:
    """At last a log has the topic's configuration."""
    premise(log.phase is CreationPhase.DONE)
    return log.has == log.configuration


@step(symptom="the configuration of a log changes without a change of its topic's", log="none")
def configuration_of_a_log_is_the_topics(before: ConfiguredLog, after: ConfiguredLog) -> bool:
    """A log that has another configuration than before has what the topic has, or had when it was read."""
    premise(after.phase in (CreationPhase.KNOWN, CreationPhase.DONE) and before.has != after.has)
    return after.has in (before.configuration, before.read) and after.has >= before.has


@step(
    symptom="a log that is created or deleted has another configuration than its topic, or none",
    log="none: kafka-configs.sh --describe shows the topic's configuration",
)
def creation_goes_step_by_step(before: ConfiguredLog, after: ConfiguredLog) -> bool:
    """A creation goes through its phases and is counted, a deletion leaves nothing, and each change is notified."""
    begins = before.phase is CreationPhase.NONE and after.phase is CreationPhase.READ
    ends = before.phase is CreationPhase.DONE and after.phase is CreationPhase.NONE
    is_next = (
        begins
        or ends
        or (before.phase is CreationPhase.READ and after.phase is CreationPhase.KNOWN)
        or (before.phase is CreationPhase.KNOWN and after.phase is CreationPhase.DONE)
    )
    is_counted = after.creations == (before.creations + 1 if begins else before.creations)
    is_change = after.configuration == before.configuration + 1 and after.is_changed
    is_handled = before.is_changed and not after.is_changed
    is_forgotten = after.has == 0 and after.read == 0
    return (
        is_counted
        and (is_next or after.phase == before.phase)
        and (is_change or after.configuration == before.configuration)
        and not (is_handled and is_next)
        and not (after.has_missed and (begins or after.phase is CreationPhase.DONE))
        and (is_forgotten or not ends)
    )


@reachable()
def log_is_created_amid_a_change(log: ConfiguredLog) -> bool:
    """A log is created whose topic's configuration has changed since it was read."""
    return log.phase is CreationPhase.KNOWN and log.has < log.configuration and not log.is_changed
