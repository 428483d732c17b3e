"""The damaged parts of a captured cluster as small models: one partition with its brokers in each.

Words: a *world* is a situation (see `at_rest`) as a model with the real names. Partitions of one topic share brokers,
the controller and the topic's id only, and each world has them; what holds in every world holds in the cluster.

A fault is the crash of a broker, which then starts again by itself, or the end of the controller's session.

Where the ISR has a broker that is no replica, no plan relies on the leader to remove it: the leader of an idle
partition does so only after a record has been written, and in 2.8 its task fails once the leader epoch has risen
(Partition.getOutOfSyncReplicas, isFollowerOutOfSync: getReplicaOrException).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from attrs import field, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.broker import replica_fetcher_thread
from kwalk.model.kafka.clients import faults, operator, repair
from kwalk.model.kafka.controller import reassignment
from kwalk.model.kafka.controller.controller_context import BrokerRegistration
from kwalk.model.kafka.domains import BROKERS, OLD_PROTOCOL_BROKERS, PARTITIONS, TOPIC_IDS, TOPICS
from kwalk.model.kafka.snapshots.at_rest import (
    Needs,
    Observed,
    Situation,
    arrange_lineage,
    arrangements_of,
    needs_of,
    scope_of_situation,
)
from kwalk.model.kafka.snapshots.capture import Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import skips_older_versions
from kwalk.model.kafka.snapshots.lineage import (
    EPOCH_DISTANCE,
    MOST_LINEAGES,
    MOST_RECORDS,
    Choice,
    LineageCase,
    Lineages,
)
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER
from kwalk.model.kafka.snapshots.snapshot import short
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Model, Property, Scenario
from kwalk.model.language.recovery import World

MINTED = 2
"""How many topic ids can be minted after the snapshot."""
MOST_BROKERS = 5
"""The most brokers of a world; more make it too large to look at every interleaving."""
FEW_BROKERS = 4
"""With how many brokers a world is small enough; of more, those that are alike are left out."""
COUNTERS = ("controller_deletions", "stops", "repairs", "reassignments", "cancellations")
NAMED = 6
"""How many partitions of a part are named."""
DELETION_ENDS = "the deletion ends, and leaves nothing of {}"
"""What becomes of a topic that is deleted, whatever was wrong with it."""
AMPLE = 15
"""A bound that no plan reaches."""


@frozen
class ClusterPart:
    """One situation of a topic, and the partitions that are in it.

    `ids` are the topic ids of all parts of the topic, first those of this one. `choice` says which lineage of logs the
    partitions are to have, and what their logs may be; `lineages` what shows it. While the ISR is down, `latest` are
    its members, that whose log ends last first, if it has records that others lack. If `is_settled`, the controller has
    noticed which brokers are down, and leaders have done what they do about the ISR: what it has now stays, as does a
    partition without a state.
    """

    topic: Topic
    partitions: tuple[int, ...]
    observed: Observed
    ids: tuple[str, ...]
    choice: Choice
    lineages: Lineages
    is_settled: bool = False
    latest: tuple[int, ...] = ()

    @property
    def is_behind(self) -> bool:
        """Whether ZooKeeper's state is older than all logs."""
        return self.has_state and bool(self.lineages.later)

    @property
    def leader_of_wrong_isr(self) -> int | None:
        """The broker that leads with its log, and is all that an ISR should have; None if there is none.

        The ISR is empty, or not that of the leader, as a hand wrote it, or it lacks the leader; or it has a broker that
        is no replica and is down, which no controller removes while it leads.
        """
        known = self.observed.situation.brokers
        members = [one for one in known if one.in_isr]
        lacks_leader = any(one.leads and one.replica and not one.in_isr for one in known)
        is_wrong = self.is_isr_by_hand or lacks_leader or any(not one.replica and not one.alive for one in members)
        pairs = zip(self.observed.brokers, known, strict=True) if is_wrong else ()
        leads = ((b, one) for b, one in pairs if one.leads and one.replica)
        return next((b for b, one in leads if one.alive and one.directory and not one.offline), None)

    @property
    def first_leader(self) -> int | None:
        """The broker to lead a partition without a state: its log has all that the others have; None if none is known.

        Without one, the first live replica would lead, whatever its log has. Logs with one other id are the topic's if
        that is written.

        Kafka: PartitionStateMachine.initializeLeaderAndIsrForPartitions.
        """
        situation, logs = self.observed.situation, self.lineages.logs
        ids = {logs[b].topic_id for b in self.choice.keeps} - {None}
        own = [b for b in self.choice.keeps if len(ids) == 1 or logs[b].topic_id in (None, self.topic.topic_id)]
        newest = [b for b in self.lineages.isr if b in own]
        is_gone = situation.topic_exists and not self.has_state and not situation.deleting
        return newest[0] if newest and is_gone and self.records else None

    @property
    def versions_may_be_lower(self) -> bool:
        """Whether brokers may have seen a later version of the state znode: it was, or is to be, created again."""
        is_older = self.is_behind or self.first_leader is not None or self.observed.situation.is_ignored
        return is_older and skips_older_versions(self.observed.situation.release)

    @property
    def needs_state(self) -> bool:
        """Whether a state that is written by hand may be what helps."""
        leaders = (self.leader_of_wrong_isr, self.first_leader)
        return self.is_behind or bool(self.latest) or any(leader is not None for leader in leaders)

    @property
    def has_state(self) -> bool:
        """Whether the partition has a state znode."""
        return self.observed.situation.has_state

    @property
    def lacks_isr(self) -> bool:
        """Whether there is a state with an empty ISR."""
        return self.has_state and not any(one.in_isr for one in self.observed.situation.brokers)

    @property
    def is_isr_by_hand(self) -> bool:
        """Whether the ISR was written by hand: it is empty, or another one than the leader has."""
        return self.lacks_isr or self.observed.situation.is_isr_by_hand

    @property
    def joins(self) -> frozenset[str]:
        """The joins to an ISR that was written by hand: the leader does not know the version of the state.

        Kafka: KafkaController.processAlterIsr (INVALID_UPDATE_VERSION), until a LeaderAndIsr with a later leader epoch.
        """
        numbers = (
            range(len(self.observed.brokers)) if self.is_isr_by_hand and self.leader_of_wrong_isr is not None else ()
        )
        return frozenset(f"expand_isr({number}, 0, 0)" for number in numbers)

    @property
    def records(self) -> int:
        """The most records that one of its logs has in the model."""
        contents = (content for case in self.choice.cases for content in case.logs if content)
        return max((len(content.epochs) for content in contents), default=0)

    @property
    def name(self) -> str:
        """The partitions, for people."""
        label = topic_label(self.topic.name)
        names = [f"{label}-{number}" for number in self.partitions]
        more = f" (and {len(names) - NAMED:,} alike)" if len(names) > NAMED else ""
        return ", ".join(names[:NAMED]) + more

    def number(self, broker: int) -> int | None:
        """Return the number of a broker in the situation; None if it takes no part."""
        return self.observed.brokers.index(broker) if broker in self.observed.brokers else None

    def identity(self, real: str) -> int | None:
        """Return the number of a topic id in the situation; None if the topic has none such."""
        return self.ids.index(real) if real in self.ids else None


def scenario_of(part: ClusterPart, needs: Needs, properties: Iterable[Property]) -> Scenario:
    """Return the scenario in which a part is looked at."""
    situation = part.observed.situation
    count = len(situation.brokers)
    scope = scope_of_situation(situation, tuple(range(count)), needs)
    steps = [*actions.FAULTS, *actions.REPAIRS, *actions.CONTROLLER, *actions.BROKER]
    steps += [faults.end_controller_session, replica_fetcher_thread.fetch, operator.write_topic_id]
    steps += [repair.move_directory_away, repair.replace_disk, repair.set_broker_id, repair.elect_unclean]
    steps += [*actions.DELETION, *actions.BY_HAND] if needs.deletion else []
    steps += [one for one in actions.REASSIGNMENT if one.by.system] if needs.reassignment else []
    steps += actions.SESSIONS if needs.sessions else []
    steps += [reassignment.change_one_replica, reassignment.cancel_partition_reassignment] * needs.foreign_isr
    steps += [repair.write_state] if part.needs_state else []
    return REAL_CLUSTER.varied(
        actions=tuple(dict.fromkeys(steps)),
        properties=tuple(properties),
        initial=_initial(part, needs),
        bounds=_bounds(part, needs, scope.bounds),
        flags={
            **scope.flags,
            "isr_changes": "between requests",
            "metadata_caches": False,
            "state_versions": part.versions_may_be_lower,
            "unclean_election": bool(part.topic.elects_uncleanly),
        },
    )


def _labels(part: ClusterPart) -> dict[str, tuple[str, ...]]:
    return {
        BROKERS.name: tuple(str(broker) for broker in part.observed.brokers),
        TOPICS.name: (topic_label(part.topic.name),),
        PARTITIONS.name: tuple(str(number) for number in part.partitions[:1]),
        TOPIC_IDS.name: short(part.ids),
    }


@frozen
class _ModelledPart:
    """A part, its needs and claims, which are equal to others if their models are, but for labels."""

    part: ClusterPart = field(eq=False)
    properties: tuple[Property, ...] = field(eq=False)
    needs: Needs
    likeness: Hashable

    @staticmethod
    def of(part: ClusterPart, needs: Needs, properties: Sequence[Property]) -> _ModelledPart:
        """Return it with all that its model is made of."""
        written = (
            part.needs_state,
            bool(part.lineages.later),
            part.versions_may_be_lower,
            bool(part.topic.elects_uncleanly),
        )
        possible = part.observed.situation, len(part.ids), part.choice.cases, part.is_settled
        likeness = possible, written, tuple(each.name for each in properties)
        return _ModelledPart(part, tuple(properties), needs, likeness)


@lru_cache(maxsize=128)
def _model_of(one: _ModelledPart) -> Model:
    """Return the model of a part with its initial states: hundreds of partitions are in one situation."""
    model = Model(scenario_of(one.part, one.needs, one.properties), one.part.observed.situation.release)
    assert model.initial  # computed before the model is relabelled
    return model


def _bounds(part: ClusterPart, needs: Needs, least: Mapping[str, int]) -> dict[str, int]:
    """Return the bounds of the scenario, beside those of a situation: ample ones, which no plan reaches."""
    return {
        **least,
        "topic_ids": max(4, len(part.ids) + MINTED),
        "old_creations": 0,
        "expansions": 0,
        "failovers": AMPLE,
        "restarts": AMPLE,
        "repairs": AMPLE,
        "reassignments": AMPLE * needs.foreign_isr,
        "cancellations": AMPLE * needs.foreign_isr,
        "controller_epochs": AMPLE,
        "leader_epochs": EPOCH_DISTANCE * (AMPLE // 2) if part.lineages.is_spaced else AMPLE,
        "events": 8,
        "requests": 8,
        "deletions": int(needs.deletion),
        "expirations": int(needs.sessions),
        "hand_removals": 3 * needs.deletion,
        "records": MOST_RECORDS,
        "later_commits": MOST_RECORDS,
        "incarnations": MOST_LINEAGES - 1,
        "originals": MOST_LINEAGES * MOST_RECORDS,
        "backups": MOST_RECORDS,
        OLD_PROTOCOL_BROKERS.name: len(part.observed.brokers) * part.observed.situation.has_old_protocol,
    }


def _initial(part: ClusterPart, needs: Needs) -> Any:
    """Return the initial function: a state for each possibility that the capture leaves open."""
    situation = part.observed.situation
    arranged = arrangements_of(situation, needs, ids=len(part.ids))
    possible = [
        partial(_with_logs, arranged=a, situation=situation, case=c) for a in arranged for c in part.choice.cases
    ]
    if part.is_settled:
        possible = [partial(_noticed, arranged=one) for one in possible]
    if part.versions_may_be_lower:
        possible += [partial(_with_later_versions, arranged=one) for one in possible]
    names = {f"possibility_{number}": number for number in range(len(possible))}
    choice = Enum("Possibility", names)  # type: ignore[misc]

    def snapshot(cluster: Cluster, possibility: Any) -> None:
        possible[possibility.value](cluster)

    snapshot.__annotations__ = {"cluster": Cluster, "possibility": choice, "return": None}
    return snapshot


def _with_logs(cluster: Cluster, arranged: Callable[[Cluster], None], situation: Situation, case: LineageCase) -> None:
    arranged(cluster)
    arrange_lineage(cluster, situation, case)


def _with_later_versions(cluster: Cluster, arranged: Callable[[Cluster], None]) -> None:
    """Arrange a cluster whose processes have seen a later version of the state znode than there is, or will be."""
    arranged(cluster)
    for broker in BROKERS:
        replica = cluster.replica_of(broker, 0, 0)
        replica.has_later_version = replica.leader_epoch is not None


def _noticed(cluster: Cluster, arranged: Callable[[Cluster], None]) -> None:
    """Arrange a cluster whose controller has handled that brokers are down, and left the ISR as it is."""
    arranged(cluster)
    for number, broker in enumerate(cluster.brokers):
        if broker.controller.is_active:
            cluster.zookeeper.watches[number].broker_ids = True
            broker.controller.events.clear()
            for other in BROKERS:
                if broker.controller.registrations[other] is BrokerRegistration.STALE:
                    broker.controller.registrations[other] = BrokerRegistration.GONE


def world_of(
    part: ClusterPart, properties: Sequence[Property], harms: Iterable[str], *, deletion: bool = False
) -> World:
    """Return the world of a part.

    Args:
        part: the part.
        properties: the claims.
        harms: the names of the claims whose violation users notice.
        deletion: whether the topic may be deleted.
    """
    situation = part.observed.situation
    needs = needs_of(situation, deletion=deletion)
    model = _model_of(_ModelledPart.of(part, needs, properties)).relabelled(_labels(part))
    numbers = range(len(situation.brokers))
    held = {f"restart({number})" for number in numbers if not situation.brokers[number].alive}
    if needs.foreign_isr or part.is_settled:
        held |= {f"shrink_isr({number}, 0, 0)" for number in numbers}
    held |= part.joins
    return World(
        name=part.name,
        model=model,
        initial=model.initial,
        claims=model.properties,
        harms=frozenset(harms),
        held=frozenset(held),
        faults=(*(f"crash({number})" for number in numbers), "end_controller_session()"),
        shared=frozenset(map(str, part.observed.brokers)),
        plain=deletion,
        success=DELETION_ENDS if situation.deleting else "",
        counters=COUNTERS,
        ranked=_epochs(model),
        distances=(1, EPOCH_DISTANCE) if part.lineages.is_spaced else (),
    )


def _epochs(model: Model) -> tuple[tuple[str, ...], ...]:
    """Return the leaves with controller epochs, and those with leader epochs: only compared, and raised by one."""
    paths = [leaf.path for leaf in model.leaves]
    leader = tuple(path for path in paths if path.endswith("leader_epoch") and ".requests." not in path)
    controller = tuple(
        path for path in paths if path.endswith(("controller_epoch", "controller.epoch")) and ".requests." not in path
    )
    return controller, leader
