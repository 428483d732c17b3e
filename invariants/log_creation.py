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


@reachable()
def log_is_created_amid_a_change(log: ConfiguredLog) -> bool:
    """A log is created whose topic's configuration has changed since it was read."""
    return log.phase is CreationPhase.KNOWN and log.has < log.configuration and not log.is_changed
