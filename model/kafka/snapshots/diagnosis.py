"""A diagnosis in the operator's words: which topic, replicas and ids, and what the next failover or restart does."""
from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from model.kafka.snapshots.capture import Capture, Topic, topic_label
from model.kafka.snapshots.symptoms import (
    Condition,
    Replicas,
    Symptoms,
    condition_of,
    everyone,
    files_of,
    harm_of_stopping,
    symptoms,
)
from model.kafka.snapshots.words import brokers, each, ids, partitions, sentence

FETCH_BY_ID = (3, 1)
"""From this version on consumers name topics by id when they fetch (KIP-516)."""
DETAILS = 4
"""How many partitions are described one by one."""


@frozen
class Diagnosis:
    """A condition and the sentences that say why. The first begins with the condition and says the most."""

    condition: Condition
    sentences: tuple[str, ...]


def diagnose(capture: Capture) -> Diagnosis:
    """The diagnosis of a cluster: that of the worst of its topics."""
    if not capture.topics:
        return Diagnosis(Condition.CONSISTENT, ("Consistent: the cluster has no topics.",))
    by_topic = [diagnose_topic(capture, topic) for topic in capture.topics.values()]
    worst = max((d.condition for d in by_topic), key=lambda condition: condition.rank)
    alike = [d for d in by_topic if d.condition is worst]
    return Diagnosis(worst, (*alike[0].sentences, *_others(len(alike) - 1, worst)))


def diagnose_topic(capture: Capture, topic: Topic) -> Diagnosis:
    """The diagnosis of one topic."""
    found = symptoms(capture, topic)
    condition = condition_of(topic, found)
    if condition is Condition.BROKEN:
        sentences = _broken(capture, topic, found)
    elif condition is Condition.CONSISTENT:
        sentences = _consistent(capture, topic, found)
    elif topic.topic_id is None:
        sentences = _without_id(capture, topic, found)
    elif found.foreign:
        sentences = _with_foreign_ids(capture, topic, found)
    else:
        sentences = _with_another_id_sent(topic, found)
    return Diagnosis(condition, tuple(sentences))


def _others(count: int, condition: Condition) -> tuple[str, ...]:
    if not count:
        return ()
    return (f"{count} more {each(range(count), 'topic is', 'topics are')} {condition.value}.",)


# Broken.


def _broken(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    name = topic_label(topic.name)
    if found.broken:
        yield f"Broken: {partitions(name, found.broken)} {each(found.broken, 'has', 'have')} no working leader."
    if found.lost:
        start = "" if found.broken else "Broken: "
        yield (
            f"{start}{partitions(name, found.lost)} {each(found.lost, 'has', 'have')} a state in ZooKeeper, "
            "but the topic's znode does not list them any more."
        )
    for partition in found.broken[:DETAILS]:
        yield _why_broken(capture, topic, found, partition)
    if len(found.broken) > DETAILS:
        yield f"So {each(found.broken[DETAILS:], 'is', 'are')} {partitions(name, found.broken[DETAILS:])}."
    yield from _reasons(capture, topic, found)


def _reasons(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    refusing = {p: found.foreign[p] for p in found.broken if p in found.foreign}
    if refusing:
        yield _refusal(capture, topic, refusing)
    gone = everyone(found.without_file, found.broken)
    if gone:
        yield (
            f"{sentence(brokers(gone))} {each(gone, 'has', 'have')} no partition.metadata there: if it was removed, "
            "the broker keeps the id that it had until it restarts."
        )
    if topic.topic_id is None:
        name = topic_label(topic.name)
        yield f"Besides, topic {name} has no id in ZooKeeper: the next controller failover mints one."


def _why_broken(capture: Capture, topic: Topic, found: Symptoms, partition: int) -> str:
    name, state = f"{topic_label(topic.name)}-{partition}", topic.states[partition]
    outside = found.outside.get(partition, frozenset())
    tail = f"; {brokers(outside)} {each(outside, 'runs but stays', 'run but stay')} out of the ISR." if outside else "."
    if state.leader is None:
        last = brokers(state.isr) if state.isr else "nobody"
        down = all(not capture.brokers[b].alive for b in state.isr)
        return f"{name} has no leader: only {last} {each(state.isr, 'is', 'are')} in its ISR{', and down' * down}{tail}"
    if not capture.brokers[state.leader].alive:
        return f"{name} has broker {state.leader} as its leader, which is down{tail}"
    leader, epoch = f"broker {state.leader}", f"leader epoch {state.leader_epoch}"
    if found.led[partition] is False:
        return f"{name}: {leader} is leader in ZooKeeper, but never took up {epoch}{tail}"
    return f"{name}: nothing shows that {leader} took up {epoch}{tail}"


# Latent.


def _without_id(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    name, known = topic_label(topic.name), found.remembered
    yield f"Latent: the next controller failover mints a new id for topic {name}, because its znode has lost its id."
    keeping = {p: frozenset(b for b, i in files_of(capture, topic, p).items() if i) for p in topic.partitions}
    refusing = {p: members for p, members in keeping.items() if members}
    if refusing:
        yield f"{sentence(_replicas(name, refusing))} keep {ids(known)} and will refuse the new one."
        yield f"Then {_restart(capture, topic, refusing)}"
        yield from _both_at_once(capture, topic, refusing)
    else:
        yield (
            "No replica has a partition.metadata yet. If the failover comes first, all replicas take the new id and "
            f"nothing breaks. If a broker restarts or a leader moves first, replicas take {ids(known)} from the "
            "controller's memory and will refuse the new one."
        )
    if len(known) == 1:
        yield f"Until that failover it can be undone: write topic_id {known[0]} back into /brokers/topics/{name}."


def _both_at_once(capture: Capture, topic: Topic, refusing: Replicas) -> Iterator[str]:
    """The next controller mints the id, then raises the leader epochs of what its predecessor's broker replicated."""
    crashed = capture.controller
    if crashed is not None and harm_of_stopping(capture, topic, crashed, refusing):
        yield f"A crash of broker {crashed}, the controller, does both at once."


def _with_foreign_ids(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    name = topic_label(topic.name)
    yield f"Latent: {_replicas(name, found.foreign)} refuse the controller's requests."
    yield _refusal(capture, topic, found.foreign)
    yield "Nothing shows while no leader epoch rises, but " + _restart(capture, topic, found.foreign)
    if tuple(int(part) for part in capture.version.split(".")[:2]) >= FETCH_BY_ID:
        yield "Consumers of Kafka 3.1 and later name the topic by its id, and read nothing already."


def _with_another_id_sent(topic: Topic, found: Symptoms) -> Iterator[str]:
    name = topic_label(topic.name)
    yield f"Latent: the controller sends the id {found.sent} for topic {name}, ZooKeeper has {topic.topic_id}."
    yield "The next controller failover sends the latter, and replicas that have taken the former by then refuse it."


def _replicas(topic: str, replicas: Replicas) -> str:
    return f"replicas of {partitions(topic, replicas)} on {brokers(everyone(replicas))}"


def _refusal(capture: Capture, topic: Topic, refusing: Replicas) -> str:
    held = {files_of(capture, topic, p)[b] or "" for p in refusing for b in refusing[p]}
    return (
        f"ZooKeeper has the id {topic.topic_id or 'none'}, their partition.metadata {ids(held)}: they answer "
        "LeaderAndIsr with INCONSISTENT_TOPIC_ID, and the controller takes no notice."
    )


def _restart(capture: Capture, topic: Topic, refusing: Replicas) -> str:
    """Which broker's restart leaves which partitions without a working leader."""
    name = topic_label(topic.name)
    harm = {b: harm_of_stopping(capture, topic, b, refusing) for b in sorted(capture.live)}
    worst = max(harm, key=lambda b: len(harm[b]), default=None)
    if worst is None or not harm[worst]:
        where = partitions(name, refusing)
        return f"any rise of a leader epoch puts {brokers(everyone(refusing))} out of the ISR of {where}."
    alike = [b for b in harm if b != worst and harm[b] == harm[worst]]
    tail = f" (as does restarting {brokers(alike, 'or')})." if alike else "."
    return f"restarting broker {worst} leaves {partitions(name, harm[worst])} without a working leader{tail}"


# Consistent.


def _consistent(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    name = topic_label(topic.name)
    if topic.topic_id is None:
        yield f"Consistent: topic {name} has no topic id anywhere; all replicas will take the one that is minted."
        return
    files = [identity for p in topic.partitions for identity in files_of(capture, topic, p).values()]
    bare, start = files.count(None), f"Consistent: topic {name} has the id {topic.topic_id} in ZooKeeper"
    if bare < len(files):
        yield f"{start} and in {len(files) - bare} partition.metadata files."
    else:
        yield f"{start}, and no partition.metadata files yet."
    if bare:
        yield f"{bare} of its {len(files)} replicas have no partition.metadata yet; their next LeaderAndIsr brings it."
    yield from _absent(capture, found, name)


def _absent(capture: Capture, found: Symptoms, name: str) -> Iterator[str]:
    down = [broker.id for broker in capture.brokers.values() if not broker.alive]
    if down:
        yield f"{sentence(brokers(down))} {each(down, 'is', 'are')} down."
    if found.outside:
        yield f"{sentence(brokers(everyone(found.outside)))} catch up in {partitions(name, found.outside)}."

