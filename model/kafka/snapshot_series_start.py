"""Where a series of captures begins: before its topic, or as the first capture shows it.

Words: a topic is *young* in a capture when the present controller may have created it, with every leader its first:
then a behaviour begins without it. Otherwise it begins settled, as the capture shows it, and what nobody can see is
left open: which brokers have *bounced* (stopped and started) since their replicas' ids came to differ from the
controller's, and what they remember where there is no file.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from itertools import chain, combinations
from typing import Any

from attrs import evolve, frozen

from model.kafka.capture import Capture, Topic
from model.kafka.diagnosis import symptoms
from model.kafka.snapshot_focus import Focus
from model.kafka.snapshot_replicas import Belief, Held, Memory, believe, memory_is_uncertain
from model.kafka.snapshot_state import arrange, arrange_without_topics
from model.kafka.state import Cluster


@frozen
class Recollection(Belief):
    """What is believed of a cluster whose leader epochs are the real ones, if these brokers have bounced."""

    bounced: frozenset[int] = frozenset()

    def leader_epoch(self, partition: int) -> int | None:
        """The partition's leader epoch in ZooKeeper."""
        state = self.focus.topic.states.get(partition)
        return None if state is None else state.leader_epoch

    def _hosted(self, broker: int, partition: int, ids: Held) -> Held:
        state = self.focus.topic.states.get(partition)
        if state is None:
            return ids
        leads = state.leader == broker
        if not self.refuses(ids):
            return self._stuck(ids, state.leader_epoch) if state.leader is None else _at(ids, state.leader_epoch, leads)
        led = self.focus.symptoms.led[partition] is not False
        if leads:
            return _at(ids, state.leader_epoch, leads) if led else self._stuck(ids, state.leader_epoch)
        if broker in self.bounced:
            return ids if self.checked_at_first else _at(ids, state.leader_epoch, leads)
        takes_part = led and state.leader is not None and broker in state.isr
        return _at(ids, state.leader_epoch, leads) if takes_part else self._stuck(ids, state.leader_epoch)

    def refuses(self, ids: Held) -> bool:
        """Whether a log with these ids refuses what the controller sends."""
        return None not in (ids.memory, self.context_id) and ids.memory != self.context_id

    def _stuck(self, ids: Held, epoch: int) -> Held:
        """At an older leader epoch; which one makes no difference to what can happen."""
        return _at(ids, epoch - 1, leads=False) if epoch > 0 else _at(ids, epoch, leads=False)


def _at(ids: Held, epoch: int, leads: bool) -> Held:
    return Held(ids.file, ids.memory, True, epoch, leads)


def is_young(capture: Capture, topic: Topic) -> bool:
    """Whether the topic may have been created under the present controller, with every leader its first."""
    states = topic.states.values()
    return all(s.leader_epoch == 0 and s.controller_epoch == capture.controller_epoch for s in states)


def recollection(capture: Capture, topic: Topic, brokers: tuple[int, ...]) -> Recollection:
    """What is believed of the whole topic, nobody having bounced."""
    focus = Focus(topic, symptoms(capture, topic), tuple(sorted(topic.partitions)), brokers)
    belief = believe(capture, focus)
    return Recollection(belief.capture, focus, belief.context_id, belief.checked_at_first)


def as_shown(belief: Recollection) -> Callable[..., None]:
    """The initial function of a behaviour that begins as the capture shows; one state for each possible history."""
    histories = list(_histories(belief))
    choice = Enum("History", {f"history_{number}": number for number in range(len(histories))})  # type: ignore[misc]

    def snapshot(cluster: Cluster, history: Any) -> None:
        bounced, memory = histories[history.value]
        arrange(cluster, evolve(belief, bounced=bounced), memory)

    snapshot.__annotations__ = {"cluster": Cluster, "history": choice, "return": None}
    return snapshot


def _histories(belief: Recollection) -> Iterable[tuple[frozenset[int], Memory]]:
    memories = tuple(Memory) if memory_is_uncertain(belief) else (Memory.NO_ID,)
    refusing = sorted({b for memory in memories for b in _refusing(belief, memory)})
    subsets = chain.from_iterable(combinations(refusing, size) for size in range(len(refusing) + 1))
    return [(frozenset(bounced), memory) for bounced in subsets for memory in memories]


def _refusing(belief: Recollection, memory: Memory) -> set[int]:
    """The brokers that run and have a replica which refuses."""
    focus = belief.focus
    held = {(b, p): belief.held(b, p, memory) for b in focus.brokers for p in focus.partitions}
    return {b for (b, _), ids in held.items() if belief.capture.brokers[b].alive and belief.refuses(ids)}


def before_the_topic(capture: Capture, brokers: tuple[int, ...]) -> Callable[[Cluster], None]:
    """The initial function of a behaviour that begins in a settled cluster without the topic."""

    def snapshot(cluster: Cluster) -> None:
        arrange_without_topics(cluster, capture, brokers)

    return snapshot
