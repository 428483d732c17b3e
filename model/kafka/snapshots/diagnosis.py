"""Diagnose a capture: which replicas refuse the controller, which partitions have no leader, and what happens next.

Words: an id is *foreign* to a replica when its partition.metadata names another topic id than ZooKeeper does; such a
replica refuses every LeaderAndIsr (INCONSISTENT_TOPIC_ID), and the controller ignores the error. A partition is *led*
if its leader took up the leader epoch that ZooKeeper has: then the leader's own leader-epoch checkpoint lists it.
*Latent* damage shows only when a controller fails over or a leader epoch rises, for example when a broker restarts.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum

from attrs import field, frozen

from kwalk.model.kafka.snapshots.capture import Capture, Topic, topic_label

MOST = 8
"""A longer list is cut."""


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words as "a, b and c"."""
    if len(words) > MOST:
        return f"{', '.join(words[: MOST - 1])} {last} {len(words) - MOST + 1} more"
    if len(words) < 2:
        return words[0] if words else "none"
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def partitions(topic: str, numbers: Iterable[int]) -> str:
    """Partitions: "t-0 and t-1"."""
    return listed([f"{topic}-{number}" for number in sorted(numbers)])


def brokers(numbers: Iterable[int], last: str = "and") -> str:
    """Brokers: "brokers 1, 2 and 3"."""
    known = sorted(numbers)
    return f"broker{'s' * (len(known) != 1)} {listed([str(number) for number in known], last)}"


def ids(known: Iterable[str]) -> str:
    """Topic ids: "the id To2TH2onRbqmsWZJo11m5w"."""
    found = sorted(known)
    return f"the id{'s' * (len(found) != 1)} {listed(found)}" if found else "an id that the capture does not show"


def each(things: Iterable[object], one: str, many: str) -> str:
    """The form of a verb: `one` for one thing, `many` for several."""
    return one if len(tuple(things)) == 1 else many


def sentence(text: str) -> str:
    """Return the text with a capital first letter."""
    return text[:1].upper() + text[1:]


class Condition(Enum):
    """The condition of a topic or of a cluster; ordered from good to bad."""

    CONSISTENT = "consistent"
    LATENT = "latent"
    BROKEN = "broken"

    @property
    def rank(self) -> int:
        """0 for the best."""
        return list(Condition).index(self)


Replicas = Mapping[int, frozenset[int]]
"""Brokers by partition."""


@frozen
class Symptoms:
    """The symptoms of a topic in a capture."""

    foreign: Replicas = field(factory=dict)
    """Replicas whose partition.metadata differs from ZooKeeper's id."""
    outside: Replicas = field(factory=dict)
    """Live replicas that are not in the ISR."""
    led: Mapping[int, bool | None] = field(factory=dict)
    """Whether the leader took up the present leader epoch; None if the capture does not show it."""
    lost: frozenset[int] = frozenset()
    """Partitions that have a state in ZooKeeper but are no longer in the topic's znode."""
    without_file: Replicas = field(factory=dict)
    """Replicas that have a directory without partition.metadata."""
    remembered: tuple[str, ...] = ()
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    sent: str | None = None
    """The id that the controller sends, as its own broker's metadata cache shows it."""

    @property
    def broken(self) -> tuple[int, ...]:
        """Partitions without a working leader, or that keep a live replica out permanently.

        A live replica outside of the ISR may just be catching up. It is a symptom if its id is foreign, or if nothing
        shows that the leader leads.
        """
        return tuple(p for p, led in self.led.items() if led is False or self._keeps_out(p))

    def _keeps_out(self, partition: int) -> bool:
        outside = self.outside.get(partition, frozenset())
        stuck = outside if self.led[partition] is None else outside & self.foreign.get(partition, frozenset())
        return bool(stuck)


def symptoms(capture: Capture, topic: Topic) -> Symptoms:
    """Compare a topic in ZooKeeper with disks and checkpoints."""
    files = {p: files_of(capture, topic, p) for p in topic.partitions}
    return Symptoms(
        foreign=_some({p: _differing(by, topic.topic_id) for p, by in files.items()}),
        outside=_some({p: _outside(capture, topic, p) for p in topic.partitions}),
        led={p: _led(capture, topic, p) for p in topic.states if p in topic.partitions},
        lost=frozenset(p for p in topic.states if p not in topic.partitions),
        without_file=_some({p: {b for b, identity in by.items() if identity is None} for p, by in files.items()}),
        remembered=remembered_ids(capture, topic),
        sent=_sent(capture, topic),
    )


def files_of(capture: Capture, topic: Topic, partition: int) -> dict[int, str | None]:
    """The topic id on disk by replica, for those that have a directory; None where there is no partition.metadata."""
    found = {b: capture.directory(b, topic.name, partition) for b in topic.partitions[partition]}
    return {b: directory.topic_id for b, directory in found.items() if directory}


def remembered_ids(capture: Capture, topic: Topic) -> tuple[str, ...]:
    """The topic ids on disks and in brokers' metadata caches; the latter show what the controller sends."""
    on_disk = {identity for p in topic.partitions for identity in files_of(capture, topic, p).values()}
    cached = {b.cache.topic_ids.get(topic.name) for b in capture.brokers.values() if b.cache}
    return tuple(sorted(identity for identity in on_disk | cached if identity))


def condition_of(topic: Topic, found: Symptoms) -> Condition:
    """Return a topic's condition. One without any id is new, or older than topic ids: any minted id fits."""
    if found.broken or found.lost:
        return Condition.BROKEN
    if topic.topic_id is None:
        return Condition.LATENT if found.remembered else Condition.CONSISTENT
    return Condition.LATENT if found.foreign or found.sent not in (None, topic.topic_id) else Condition.CONSISTENT


def harm_of_stopping(capture: Capture, topic: Topic, broker: int, refusing: Replicas) -> frozenset[int]:
    """Return the partitions that stopping a broker leaves without a working leader, if those replicas refuse.

    Stopping any member of the ISR raises the leader epoch; the leader stays, or the next live ISR member in the order
    of assignment follows. One that refuses the new epoch does not lead in it.
    """
    return frozenset(p for p in refusing if _leader_after(capture, topic, p, broker) in refusing[p])


def _leader_after(capture: Capture, topic: Topic, partition: int, broker: int) -> int | None:
    state = topic.states.get(partition)
    if state is None or broker not in state.isr:
        return None
    able = [b for b in topic.partitions[partition] if b != broker and b in state.isr and capture.brokers[b].alive]
    return state.leader if state.leader in able else next(iter(able), None)


def _led(capture: Capture, topic: Topic, partition: int) -> bool | None:
    state = topic.states[partition]
    if state.leader is None or not capture.brokers[state.leader].alive:
        return False
    directory = capture.directory(state.leader, topic.name, partition)
    return directory.has_epoch(state.leader_epoch) if directory else None


def _sent(capture: Capture, topic: Topic) -> str | None:
    cache = None if capture.controller is None else capture.brokers[capture.controller].cache
    return cache.topic_ids.get(topic.name) if cache else None


def _outside(capture: Capture, topic: Topic, partition: int) -> set[int]:
    if partition not in topic.states:
        return set()
    live = {b for b in topic.partitions[partition] if capture.brokers[b].alive}
    return live - set(topic.states[partition].isr)


def _differing(files: Mapping[int, str | None], wanted: str | None) -> set[int]:
    """Return the brokers whose id differs from ZooKeeper's; none if ZooKeeper has no id."""
    return {broker for broker, identity in files.items() if wanted and identity not in (None, wanted)}


def _some(found: Mapping[int, set[int]]) -> Replicas:
    return {partition: frozenset(members) for partition, members in found.items() if members}


def everyone(replicas: Replicas, partitions: Iterable[int] | None = None) -> frozenset[int]:
    """Return the brokers of some partitions, or of all."""
    wanted = replicas if partitions is None else [p for p in partitions if p in replicas]
    return frozenset().union(*(replicas[p] for p in wanted))


FETCH_BY_ID = (3, 1)
"""From this version on consumers name topics by id when they fetch (KIP-516)."""


DETAILS = 4
"""How many partitions are described one by one."""


@frozen
class Diagnosis:
    """A condition and the sentences that explain it. The first begins with the condition and is the most important."""

    condition: Condition
    sentences: tuple[str, ...]


def diagnose(capture: Capture) -> Diagnosis:
    """Return the diagnosis of a cluster: that of its worst topic."""
    if not capture.topics:
        return Diagnosis(Condition.CONSISTENT, ("Consistent: the cluster has no topics.",))
    by_topic = [diagnose_topic(capture, topic) for topic in capture.topics.values()]
    worst = max((d.condition for d in by_topic), key=lambda condition: condition.rank)
    alike = [d for d in by_topic if d.condition is worst]
    return Diagnosis(worst, (*alike[0].sentences, *_others(len(alike) - 1, worst)))


def diagnose_topic(capture: Capture, topic: Topic) -> Diagnosis:
    """Return the diagnosis of one topic."""
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
        yield f"The same holds for {partitions(name, found.broken[DETAILS:])}."
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
        if not state.isr:
            return f"{name} has no leader, and its ISR is empty{tail}"
        last = brokers(state.isr)
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
    """The next controller mints the id, then raises the leader epochs of its predecessor's partitions."""
    crashed = capture.controller
    if crashed is not None and harm_of_stopping(capture, topic, crashed, refusing):
        yield f"A crash of broker {crashed}, the controller, does both at once."


def _with_foreign_ids(capture: Capture, topic: Topic, found: Symptoms) -> Iterator[str]:
    name = topic_label(topic.name)
    yield f"Latent: {_replicas(name, found.foreign)} refuse the controller's requests."
    yield _refusal(capture, topic, found.foreign)
    yield "There are no symptoms while no leader epoch rises, but " + _restart(capture, topic, found.foreign)
    if tuple(int(part) for part in capture.version.split(".")[:2]) >= FETCH_BY_ID:
        yield "Consumers of Kafka 3.1 and later fetch by topic id, and cannot read already now."


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
        "LeaderAndIsr with INCONSISTENT_TOPIC_ID, and the controller ignores the error."
    )


def _restart(capture: Capture, topic: Topic, refusing: Replicas) -> str:
    """Describe which broker's restart leaves which partitions without a working leader."""
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
