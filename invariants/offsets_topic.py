"""Properties of the creation of __consumer_offsets."""

from __future__ import annotations

from kwalk.model.kafka.groups.offsets_topic import OFFSETS_FACTOR, OffsetsTopic
from kwalk.model.language import always, premise, reachable, step


@always(
    symptom="all groups of a partition stop when one broker does, and committed offsets are lost with its disk",
    log="none: kafka-topics.sh --describe --topic __consumer_offsets shows fewer replicas than are configured",
)
def offsets_have_their_replicas(created: OffsetsTopic) -> bool:
    """__consumer_offsets has as many replicas as offsets.topic.replication.factor says."""
    premise(created.replicas > 0)
    return created.replicas == OFFSETS_FACTOR


@always(symptom="segments of __consumer_offsets are larger than offsets.topic.segment.bytes", log="none")
def offsets_have_their_configuration(created: OffsetsTopic) -> bool:
    """__consumer_offsets has the configuration that brokers have for it."""
    return created.is_configured == (created.replicas > 0)


@step(symptom="brokers start by themselves, or __consumer_offsets changes its replicas", log="none")
def brokers_start_one_by_one(before: OffsetsTopic, after: OffsetsTopic) -> bool:
    """One broker starts at a time, and the topic is created once, on those that there are."""
    premise(before.live != after.live or before.replicas != after.replicas)
    if before.live != after.live:
        return after.live == before.live + 1 and after.replicas == before.replicas
    return before.replicas == 0 and after.replicas == before.live


@reachable()
def offsets_are_created(created: OffsetsTopic) -> bool:
    """The topic is created when all brokers are live."""
    return created.live == OFFSETS_FACTOR and created.replicas == OFFSETS_FACTOR
