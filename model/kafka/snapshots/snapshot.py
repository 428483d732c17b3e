"""A snapshot of a real cluster as the beginning of a story: read, made an initial state, and diagnosed.

Words: a *capture* is the file; a *reading* what it amounts to in the model. What a capture cannot show, and the model
therefore takes for true, is said in the reading's facts.
"""
from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial

from model.kafka.actors import FAULT, NEW_CLIENT, OLD_CLIENT, OPERATOR
from model.kafka.domains import BROKERS, PARTITIONS, TOPIC_IDS, TOPICS
from model.kafka.snapshots.capture import Capture, read_capture, topic_label
from model.kafka.snapshots.diagnosis import Diagnosis, diagnose
from model.kafka.snapshots.focus import Focus, focus_on
from model.kafka.snapshots.initial_state import (
    accepted_partitions,
    arrange,
    arrange_without_topics,
    controller_in,
    replica_orders,
)
from model.kafka.snapshots.replicas import UNKNOWN_ID, Belief, Memory, believe, ids_in, memory_is_uncertain
from model.kafka.snapshots.symptoms import Condition, condition_of, harm_of_stopping
from model.kafka.snapshots.words import listed, sentence
from model.kafka.state import Cluster
from model.kafka.versions import VARIANTS
from model.language import Reading, UsageError
from model.language.errors import one_of
from model.language.scenario import Steps

CLIENTS = (OLD_CLIENT.name, NEW_CLIENT.name)
WORLD = (*CLIENTS, OPERATOR.name, FAULT.name)
"""Who acts from outside of the cluster."""
NOTHING_FOUND = {
    Condition.CONSISTENT: "The search found nothing bad from here.",
    Condition.LATENT: "The search did not get there in its bounds.",
    Condition.BROKEN: "The search found no state in which it would stay so.",
}
MINTED = 2
"""How many ids can be minted after the snapshot: one for a failover, one more for a race of two controllers."""
HARM = ("partition_servable", "no_partition_lost", "leader_in_assignment")
"""The invariants that hurt users when they are violated."""
AGREEMENT = (
    "replica_id_matches_zookeeper", "replicas_converge", "topic_id_stable", "zk_id_not_erased", "context_agrees",
)  # fmt: skip
"""Those that latent damage violates already."""
NOBODY = {"old_creations": 0, "new_creations": 0, "expansions": 0, "new_expansions": 0, "topics": 1}
"""The bounds that keep clients from creating and expanding topics: the question is what the present state leads to."""


def read_snapshot(path: str | os.PathLike[str] | bytes) -> Reading:
    """What a capture (a JSON file, or its bytes) amounts to; UsageError if it cannot be read or modelled."""
    capture = read_capture(path)
    if capture.version not in VARIANTS:
        raise UsageError(
            f"The capture is of Kafka {capture.version}, which kwalk does not model. {one_of(VARIANTS)} "
            'Correct its "version" if it is near enough to one of these.'
        )
    focus, diagnosis = focus_on(capture), diagnose(capture)
    return _empty(capture, diagnosis) if focus is None else _reading(believe(capture, focus), diagnosis)


def _empty(capture: Capture, diagnosis: Diagnosis) -> Reading:
    brokers = tuple(capture.brokers)[:3]
    return Reading(
        bounds={**NOBODY, "brokers": len(brokers), "partitions": 1, "topic_ids": 1, "failovers": 1, "restarts": 1},
        labels={BROKERS.name: tuple(str(broker) for broker in brokers)},
        initial=_starting(partial(arrange_without_topics, capture=capture, brokers=brokers)),
        variant=capture.version,
        facts=(_headline(capture),),
        invariants=HARM + AGREEMENT,
        diagnose=partial(conclude, diagnosis),
    )


def _reading(belief: Belief, diagnosis: Diagnosis) -> Reading:
    focus, ids = belief.focus, ids_in(belief)
    bounds = {
        "brokers": len(focus.brokers),
        "partitions": accepted_partitions(focus),
        "replica_orders": replica_orders(focus),
        "topic_ids": len(ids) + MINTED,
        **_faults(belief),
    }
    certain = _starting(partial(arrange, belief=belief, memory=Memory.NO_ID))
    return Reading(
        bounds={**NOBODY, **bounds},
        labels=_labels(focus, ids),
        initial=_either_memory(belief) if memory_is_uncertain(belief) else certain,
        variant=belief.capture.version,
        facts=(_headline(belief.capture), *focus.facts, *_assumptions(belief), *_names(ids)),
        invariants=_asked(belief),
        diagnose=partial(conclude, diagnosis),
    )


def _asked(belief: Belief) -> tuple[str, ...]:
    """Of a consistent cluster, whether it stays so; of another, what users will suffer, not what is known already."""
    capture, topic = belief.capture, belief.focus.topic
    condition = condition_of(topic, belief.focus.symptoms)
    if condition is Condition.CONSISTENT:
        return HARM + AGREEMENT
    refusing = belief.focus.symptoms.foreign
    only_followers = bool(refusing) and not any(harm_of_stopping(capture, topic, b, refusing) for b in capture.live)
    return (*HARM, "replicas_converge") if only_followers else HARM


def _starting(arrangement: Callable[[Cluster], None]) -> Callable[..., None]:
    def snapshot(cluster: Cluster) -> None:
        arrangement(cluster)

    return snapshot


def _faults(belief: Belief) -> dict[str, int]:
    """How often /controller is deleted and brokers stop.

    If the topic's id is gone before any replica had one, it takes a first restart to assign the old id, and a second
    one to hurt; the controller's own restart is the failover then, as another would make the search long.
    """
    if belief.focus.topic.topic_id is None and not _any_file(belief):
        return {"failovers": 0, "restarts": 2}
    return {"failovers": 1, "restarts": 1}


def _any_file(belief: Belief) -> bool:
    return any(
        belief.held(broker, partition, Memory.NO_ID).file
        for broker in belief.focus.brokers
        for partition in belief.focus.partitions
    )


def _either_memory(belief: Belief) -> Callable[..., None]:
    """Where the capture cannot tell what brokers remember there are several initial states."""

    def snapshot(cluster: Cluster, memory: Memory) -> None:
        arrange(cluster, belief, memory)

    return snapshot


# Labels and facts.


def _labels(focus: Focus, ids: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """The real names; a partition that was lost, or that an expansion would add, comes after the others."""
    beyond = range(max(focus.topic.partitions) + 1, max(focus.topic.partitions) + 9)
    return {
        BROKERS.name: tuple(str(broker) for broker in focus.brokers),
        TOPICS.name: (topic_label(focus.topic.name),),
        PARTITIONS.name: tuple(str(number) for number in (*focus.partitions, *(sorted(focus.symptoms.lost) or beyond))),
        TOPIC_IDS.name: short(ids),
    }


def short(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Topic ids cut to what tells them apart."""
    known = [identity for identity in ids if identity != UNKNOWN_ID]
    width = next((n for n in range(6, 23) if len({identity[:n] for identity in known}) == len(known)), 22)
    return tuple("not shown" if identity == UNKNOWN_ID else f"{identity[:width]}…" for identity in ids)


def _names(ids: tuple[str, ...]) -> tuple[str, ...]:
    full = [f"{label} is {identity}" for identity, label in zip(ids, short(ids), strict=True) if identity != UNKNOWN_ID]
    unknown = ("An older topic id is not shown by the capture: its files were removed.",) * (UNKNOWN_ID in ids)
    return (f"Topic ids: {listed(full)}.", *unknown) if full else unknown


def _headline(capture: Capture) -> str:
    down = [str(broker.id) for broker in capture.brokers.values() if not broker.alive]
    controller = "no controller" if capture.controller is None else f"controller {capture.controller}"
    running = f"{len(capture.live)} of {len(capture.brokers)} brokers up" + (f" (down: {listed(down)})" if down else "")
    return f"Snapshot of Kafka {capture.version}: {running}, {controller}, controller epoch {capture.controller_epoch}."


def _assumptions(belief: Belief) -> tuple[str, ...]:
    capture, focus = belief.capture, belief.focus
    found = [
        "Taken for true: no request is on its way and no client creates or expands topics (to ask what an expansion "
        "would do: --bound expansions=1, and one more of partitions). Epochs are counted anew.",
    ]
    if any(partition in focus.symptoms.broken for partition in focus.partitions):
        found.append("Replicas that refuse the controller are taken to be one leader epoch behind.")
    if memory_is_uncertain(belief):
        found.append("Running brokers without partition.metadata may remember an id or not: both are explored.")
    if UNKNOWN_ID in ids_in(belief):
        found.append("The model writes such an id to disk again; that a restart would heal it does not show.")
    if capture.controller is not None and capture.controller not in focus.brokers:
        active = controller_in(focus, capture)
        if active is not None:
            stand_in = focus.brokers[active]
            found.append(f"Broker {capture.controller} is controller; here broker {stand_in} plays that part.")
    return tuple(found)


# The diagnosis with what a search found.


def conclude(diagnosis: Diagnosis, steps: Steps | None) -> tuple[str, ...]:
    """The static diagnosis, then what the search adds: its steps to something bad, or None if it found no way.

    A way without anybody's doing means broken, one that needs a failover or a stop latent.
    """
    if steps is None:
        return (*diagnosis.sentences, NOTHING_FOUND[diagnosis.condition])
    doings = tuple(_doing(lane, says) for lane, says in steps if lane in WORLD)
    shown = Condition.LATENT if doings else Condition.BROKEN
    way = f"the search's shortest way to a violation: {', then '.join(doings) or 'nobody has to do anything'}."
    if diagnosis.condition is Condition.CONSISTENT and any(lane in CLIENTS for lane, _ in steps):
        return (*diagnosis.sentences, f"But {way}")
    if shown.rank > diagnosis.condition.rank:
        return (f"{shown.value.capitalize()}: {way}", *diagnosis.sentences)
    return (*diagnosis.sentences, sentence(way))


def _doing(lane: str, says: str) -> str:
    """A step of somebody outside of the cluster; what the cluster does about it comes after a semicolon."""
    what = says.partition(";")[0]
    return what if lane == FAULT.name else f"the {lane} {what}"
