"""A snapshot of a real cluster as the beginning of a search: read, made an initial state, and diagnosed.

Words: a *capture* is the file; a *reading* is its meaning in the model. What a capture cannot show, and the model
therefore assumes, is listed in the reading's facts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

from kwalk.model.kafka.actors import FAULT, NEW_CLIENT, OLD_CLIENT, OPERATOR
from kwalk.model.kafka.domains import BROKERS, OLD_PROTOCOL_BROKERS, PARTITIONS, TOPIC_IDS, TOPICS
from kwalk.model.kafka.snapshots.capture import UNCLEAN_ELECTIONS, Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import as_brokers_read, has_old_protocol, listed, sentence, unseen
from kwalk.model.kafka.snapshots.initial_state import (
    UNKNOWN_ID,
    Focus,
    InferredMemory,
    InferredState,
    accepted_partitions,
    arrange,
    arrange_without_topics,
    controller_in,
    focus_on,
    ids_in,
    infer,
    memory_is_uncertain,
    replica_orders,
)
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Reading
from kwalk.model.language.inspection import Severity
from kwalk.model.language.scenario import Steps

CLIENTS = (OLD_CLIENT.name, NEW_CLIENT.name)
WORLD = (*CLIENTS, OPERATOR.name, FAULT.name)
"""Actors outside of the cluster."""
NOTHING_FOUND = {
    Severity.NOTE: "The search found no violation from here.",
    Severity.LATENT: "The search reached no violation within its bounds.",
    Severity.BROKEN: "The search found no state in which the damage persists.",
}
MINTED = 2
"""How many ids can be minted after the snapshot: one for a failover, one more for a race of two controllers."""
HARM = ("partition_servable", "no_partition_lost", "leader_in_assignment")
"""Properties whose violation hurts users."""
AGREEMENT = (
    "replica_id_matches_zookeeper",
    "replicas_converge",
    "topic_id_stable",
    "zk_id_not_erased",
    "context_agrees",
)
"""Properties that latent damage violates already."""
FLAGS = {"stepwise_shutdown": True}
"""What the scenario leaves out: in 2.8 the last LeaderAndIsr before a stop may decide which topic ids are on disk."""
NO_CLIENTS = {"old_creations": 0, "new_creations": 0, "expansions": 0, "new_expansions": 0, "topics": 1}
"""Bounds without new topics and expansions: the search is about the consequences of the present state."""


def reading_of(
    capture: Capture,
    topic: Topic | None,
    severity: Severity,
    violated: Collection[str] = (),
    beyond: tuple[str, ...] = (),
) -> Reading:
    """Return a capture as an initial state.

    Args:
        capture: the capture.
        topic: the topic to search about; None if there is none with partitions.
        severity: the worst that an inspection has found.
        violated: the names of the properties that it has found violated, of what is broken in the topic.
        beyond: the names of the kinds of damage that it has found, and that the search is not about.
    """
    if topic is None:
        return _empty(capture, severity, beyond)
    known = as_brokers_read(capture)
    return _reading(infer(known, focus_on(known, known.topics[topic.name])), severity, violated, beyond)


def _empty(capture: Capture, severity: Severity, beyond: tuple[str, ...]) -> Reading:
    brokers = tuple(capture.brokers)[:3]
    return Reading(
        bounds={**NO_CLIENTS, "brokers": len(brokers), "partitions": 1, "topic_ids": 1, "failovers": 1, "restarts": 1},
        labels={BROKERS.name: tuple(str(broker) for broker in brokers)},
        initial=_starting(partial(arrange_without_topics, capture=capture, brokers=brokers)),
        variant=capture.version,
        flags=FLAGS,
        facts=(_headline(capture), *unseen(capture)),
        properties=HARM + AGREEMENT,
        diagnose=partial(conclude, severity, beyond=beyond),
    )


def _reading(
    inferred: InferredState, severity: Severity, violated: Collection[str], beyond: tuple[str, ...]
) -> Reading:
    focus, ids = inferred.focus, ids_in(inferred)
    bounds = {
        "brokers": len(focus.brokers),
        "partitions": accepted_partitions(focus),
        "replica_orders": replica_orders(focus),
        "topic_ids": len(ids) + MINTED,
        OLD_PROTOCOL_BROKERS.name: len(focus.brokers) * has_old_protocol(inferred.capture),
        **_faults(inferred),
    }
    certain = _starting(partial(arrange, inferred=inferred, memory=InferredMemory.NO_ID))
    return Reading(
        bounds={**NO_CLIENTS, **bounds},
        labels=_labels(focus, ids),
        initial=_either_memory(inferred) if memory_is_uncertain(inferred) else certain,
        variant=inferred.capture.version,
        flags={**FLAGS, "unclean_election": True} if focus.topic.elects_uncleanly else FLAGS,
        facts=(
            _headline(inferred.capture),
            *unseen(inferred.capture),
            *focus.facts,
            *_assumptions(inferred),
            *_names(ids),
        ),
        properties=_asked(severity, violated),
        diagnose=partial(
            conclude,
            severity,
            unasked=tuple(sorted(set(violated) - {*HARM, *AGREEMENT})),
            beyond=beyond,
            down=tuple(b for b in focus.brokers if not inferred.capture.brokers[b].alive),
        ),
    )


def _asked(severity: Severity, violated: Collection[str]) -> tuple[str, ...]:
    """Return the properties to search for: of a consistent cluster all; else harm to users, and what is broken now."""
    return HARM + tuple(name for name in AGREEMENT if severity is Severity.NOTE or name in violated)


def _starting(arrangement: Callable[[Cluster], None]) -> Callable[..., None]:
    def snapshot(cluster: Cluster) -> None:
        arrangement(cluster)

    return snapshot


def _faults(inferred: InferredState) -> dict[str, int]:
    """How often /controller is deleted and brokers stop.

    If the topic's id is gone before any replica had one, it takes a first restart to assign the old id, and a second
    one to hurt; the controller's own restart is the failover then, as another would make the search long.
    """
    if inferred.focus.topic.topic_id is None and not _any_file(inferred):
        return {"failovers": 0, "restarts": 2}
    return {"failovers": 1, "restarts": 1}


def _any_file(inferred: InferredState) -> bool:
    return any(
        inferred.replica(broker, partition, InferredMemory.NO_ID).file
        for broker in inferred.focus.brokers
        for partition in inferred.focus.partitions
    )


def _either_memory(inferred: InferredState) -> Callable[..., None]:
    """Return an initial function with a state for each memory that brokers may have."""

    def snapshot(cluster: Cluster, memory: InferredMemory) -> None:
        arrange(cluster, inferred, memory)

    return snapshot


# Labels and facts.


def _labels(focus: Focus, ids: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the real names; a partition that was lost, or that an expansion would add, comes last."""
    beyond = range(max(focus.topic.partitions) + 1, max(focus.topic.partitions) + 9)
    return {
        BROKERS.name: tuple(str(broker) for broker in focus.brokers),
        TOPICS.name: (topic_label(focus.topic.name),),
        PARTITIONS.name: tuple(str(number) for number in (*focus.partitions, *(sorted(focus.symptoms.lost) or beyond))),
        TOPIC_IDS.name: short(ids),
    }


def short(ids: tuple[str, ...]) -> tuple[str, ...]:
    """Return topic ids, cut to a length that distinguishes them."""
    known = [identity for identity in ids if identity != UNKNOWN_ID]
    width = next((n for n in range(6, 23) if len({identity[:n] for identity in known}) == len(known)), 22)
    return tuple("not shown" if identity == UNKNOWN_ID else f"{identity[:width]}…" for identity in ids)


def _names(ids: tuple[str, ...]) -> tuple[str, ...]:
    full = [f"{label} is {identity}" for identity, label in zip(ids, short(ids), strict=True) if identity != UNKNOWN_ID]
    unknown = ("An older topic id is not shown by the capture: its files were removed or edited.",) * (
        UNKNOWN_ID in ids
    )
    return (f"Topic ids: {listed(full)}.", *unknown) if full else unknown


def _headline(capture: Capture) -> str:
    down = [str(broker.id) for broker in capture.brokers.values() if not broker.alive]
    controller = "no controller" if capture.controller is None else f"controller {capture.controller}"
    running = f"{len(capture.live)} of {len(capture.brokers)} brokers up" + (f" (down: {listed(down)})" if down else "")
    return f"Snapshot of Kafka {capture.version}: {running}, {controller}, controller epoch {capture.controller_epoch}."


def _assumptions(inferred: InferredState) -> tuple[str, ...]:
    capture, focus = inferred.capture, inferred.focus
    found = [
        "Assumed: no request is on its way and no client creates or expands topics (to ask what an expansion "
        "would do: --bound expansions=1, and one more of partitions). Epochs are counted from 0.",
    ]
    if focus.topic.elects_uncleanly is None:
        found.append(f"Assumed: {UNCLEAN_ELECTIONS} is false; the snapshot does not show it for each broker.")
    if any(partition in focus.symptoms.broken for partition in focus.partitions):
        found.append("Replicas that refuse the controller are assumed to be one leader epoch behind.")
    if memory_is_uncertain(inferred):
        found.append("Running brokers without partition.metadata may have an id in memory or not: both are explored.")
    if UNKNOWN_ID in ids_in(inferred):
        found.append(
            "Where no file is, the model writes such an id to disk, and so does not show that a restart repairs it."
        )
    if capture.controller is not None and capture.controller not in focus.brokers:
        active = controller_in(focus, capture)
        if active is not None:
            stand_in = focus.brokers[active]
            found.append(f"Broker {capture.controller} is controller; here broker {stand_in} stands in for it.")
    return tuple(found)


# What a search found.


def conclude(
    severity: Severity,
    steps: Steps | None,
    unasked: tuple[str, ...] = (),
    beyond: tuple[str, ...] = (),
    down: tuple[int, ...] = (),
) -> tuple[str, ...]:
    """Return what the search adds to an inspection.

    A violation without outside actions means broken, one that needs a failover, a stop or a start latent.

    Args:
        severity: the worst that the inspection has found.
        steps: the search's steps to a violation, or None if it found none.
        unasked: the properties of what is broken that the search does not ask for.
        beyond: the kinds of damage that the search is not about.
        down: the brokers that are down; they start in the search, as nothing rests before.
    """
    if steps is None:
        return (f"{_nothing_found(severity, unasked, beyond)}{' Brokers that are down start in it.' * bool(down)}",)
    if not steps and severity is not Severity.NOTE:
        return ("What the search asks for is violated in the snapshot already.",)
    doings = tuple(_doings(steps, down))
    shown = Severity.LATENT if doings else Severity.BROKEN
    way = f"the search's shortest way to a violation: {', then '.join(doings) or 'without any outside action'}."
    if severity is Severity.NOTE and any(lane in CLIENTS for lane, _ in steps):
        return (f"But {way}",)
    if shown.rank < severity.rank:
        return (f"{shown.value.capitalize()}: {way}",)
    return (sentence(way),)


def _nothing_found(severity: Severity, unasked: Sequence[str], beyond: Sequence[str]) -> str:
    if unasked:
        return f"The search does not ask for what is broken ({listed(unasked)}); what it asks for, it found to hold."
    if beyond:
        return f"The search is not about {listed(beyond)}; what it asks for, it found to hold within its bounds."
    return NOTHING_FOUND[severity]


def _doings(steps: Steps, down: Sequence[int]) -> Iterator[str]:
    """Yield the steps from outside of the cluster, and the starts of brokers that the snapshot shows down."""
    waiting = {f"broker {broker}" for broker in down}
    for lane, says in steps:
        if lane in WORLD:
            yield _doing(lane, says)
        elif lane in waiting and says.startswith("starts"):
            waiting.remove(lane)
            yield f"{lane} starts"


def _doing(lane: str, says: str) -> str:
    """Describe a step from outside of the cluster, without the cluster's reaction after a semicolon."""
    what = says.partition(";")[0]
    return what if lane == FAULT.name else f"the {lane} {what}"
