"""How many replicas must be in sync for acks=all in a capture, and which partitions refuse it while brokers are away.

Kafka: Partition.appendRecordsToLeader, checkEnoughReplicasReachOffset, effectiveMinIsr.
"""

from __future__ import annotations

from collections.abc import Collection

from attrs import frozen

from kwalk.model.kafka.snapshots.at_rest import offline_replicas
from kwalk.model.kafka.snapshots.capture import MIN_IN_SYNC, Capture, Topic, kept_by_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import counts_replicas, each, listed


@frozen
class LeastInSync:
    """How many replicas must be in the ISR; whose setting that is; whether another one cannot be in force."""

    number: int
    owner: str
    certain: bool = True


def least_in_sync(capture: Capture, topic: Topic, partition: int, leader: int) -> LeastInSync | None:
    """Return what min.insync.replicas asks of a partition while a broker leads it; None if nothing shows it.

    From 3.7 on a partition never needs more replicas than it has.
    """
    own, broker = topic.settings, capture.brokers[leader].settings
    found = None
    if own is not None and own.min_insync_replicas is not None:
        found = LeastInSync(own.min_insync_replicas, "of the topic")
    elif own is not None and broker is not None and broker.min_insync_replicas is not None:
        found = LeastInSync(broker.min_insync_replicas, f"of broker {leader}")
    elif own is not None and capture.default_settings and capture.default_settings.min_insync_replicas is not None:
        found = LeastInSync(capture.default_settings.min_insync_replicas, "of all brokers", certain=False)
    if found is None or not counts_replicas(capture.version):
        return found
    replicas = len(topic.partitions.get(partition, ()))
    return found if found.number <= replicas else LeastInSync(replicas, "of all replicas", found.certain)


def is_refused(capture: Capture, topic: Topic, partition: int) -> LeastInSync | None:
    """Return what a partition that is served needs for acks=all, and has not; None if it has, or nothing shows it."""
    state = topic.states.get(partition)
    if state is None or state.leader is None:
        return None
    needed = least_in_sync(capture, topic, partition, state.leader)
    return needed if needed is not None and len(state.isr) < needed.number else None


def elects_outsiders(capture: Capture, topic: Topic, partition: int) -> list[int]:
    """Return the replicas outside of the ISR that the controller elects once no ISR member lives, one being left.

    While no member lives, a replica that starts counts, too; while one does, only replicas that run.
    """
    state = topic.states.get(partition)
    if state is None or not topic.elects_uncleanly or capture.serves_in_kraft:
        return []
    failed = offline_replicas(capture, topic, partition)
    live = {*capture.electable} & {*state.isr} - failed
    others = [b for b in topic.partitions.get(partition, ()) if b not in state.isr and b not in failed]
    return [b for b in others if not live or b in capture.electable] if len(live) < 2 else []


@kept_by_capture
def refused_without(capture: Capture, away: frozenset[int]) -> list[str]:
    """Return the partitions that serve acks=all, and refuse it while some brokers are away, and others lead."""
    found = []
    for topic in capture.topics.values() if not capture.serves_in_kraft else ():
        for number, state in topic.states.items() if topic.name not in capture.deleting else ():
            online = {*capture.electable} - offline_replicas(capture, topic, number)
            isr, left = online & {*state.isr}, (online & {*state.isr}) - away
            if state.leader not in isr or left == isr or not left:
                continue
            needed = [least_in_sync(capture, topic, number, b) for b in sorted(left)]
            now = least_in_sync(capture, topic, number, state.leader)
            is_refused = all(one is not None and len(left) < one.number for one in needed)
            if is_refused and now is not None and len(isr) >= now.number:
                found.append(f"{topic_label(topic.name)}-{number}")
    return found


def served_with(capture: Capture, broker: int) -> str:
    """Return who serves acks=all again once a broker that is down has started; empty if nobody does."""
    names = [
        f"{topic_label(topic.name)}-{number}"
        for topic in capture.topics.values()
        if topic.name not in capture.deleting and not capture.serves_in_kraft
        for number, state in topic.states.items()
        if broker in topic.partitions.get(number, ()) and broker not in state.isr and state.leader in capture.electable
        if (needed := is_refused(capture, topic, number)) is not None and len(state.isr) + 1 >= needed.number
    ]
    is_back = f"{each(names, 'is', 'are')} served again when broker {broker} has joined the ISR"
    return f"acks=all of {listed(names)} {is_back}" if names else ""


def refusals(capture: Capture, brokers: Collection[int], *, at_once: bool = False) -> str:
    """Return who refuses acks=all while brokers are away, one after the other or all at once; empty if nobody."""
    groups = [tuple(brokers)] if at_once else [(broker,) for broker in brokers]
    names = list(dict.fromkeys(name for group in groups for name in refused_without(capture, frozenset(group))))
    if not names:
        return ""
    was = each(names, "is", "are")
    return f"acks=all of {listed(names)} {was} refused meanwhile ({MIN_IN_SYNC}), unless the ISR has grown before"
