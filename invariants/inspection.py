"""The inspection of a snapshot: which properties its partitions violate, in the kinds that operators know.

Nothing is searched and nothing is judged twice: each partition becomes a state of the model (`at_rest`), the properties
of this package are evaluated on it, and the table below gives each violation its kind: what users notice now, what
comes later, and the way out.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Mapping

from attrs import evolve, frozen

from kwalk.invariants import controllers, deletion, partitions, sessions, topic_ids
from kwalk.model.kafka.snapshots.at_rest import Broken, Evaluation, Observed, Situations, release_of
from kwalk.model.kafka.snapshots.capture import Capture, Topic, read_capture, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, files_of, listed, sent_id, unseen
from kwalk.model.kafka.snapshots.diagnosis import partitions as in_words
from kwalk.model.language.inspection import FactTable, FindingKind, Inspection, Observation, Severity

BROKEN, LATENT, NOTE = Severity

REPAIR, FULL_ISR, BY_HAND, STRAY, DELETION = (
    "docs/stories/repair-topic-ids.md",
    "docs/stories/full-isr.md",
    "docs/stories/delete-by-hand.md",
    "docs/stories/stray-logs.md",
    "docs/stories/topic-deletion.md",
)
REFUSAL = (
    "state-change.log, ERROR: [Broker id=…] Topic Id in memory: … does not match the topic Id for partition … provided "
    "in the request: …. (3.0 and later: Topic ID in memory: … does not match the topic ID for partition … received: ….)"
)
REFUSAL_GREP = ("grep -E 'Topic I[dD] in memory: .* does not match the topic I[dD]' logs/state-change.log*",)
ERASED = (
    "a client older than 2.8 wrote the topic's znode (kafka-topics.sh --zookeeper --alter), which drops its topic_id; "
    "the next controller minted another id, and the replicas keep the first one (KAFKA-14190)"
)
GREW = "partitions were added, or a log was created, while the controller had another topic id than the older replicas"


LEADER_DOES_NOT_LEAD = FindingKind(
    "leader-does-not-lead",
    BROKEN,
    "the leader in ZooKeeper does not lead",
    ("partition_servable",),
    now="consumers get UNKNOWN_LEADER_EPOCH; producers get NOT_LEADER_OR_FOLLOWER, or acks=all times out, unless all "
    "replicas refuse alike",
    later="if another snapshot a minute later shows it too, it stays",
    way_out="inspect again; if it is still so, restart the leader",
    story="docs/stories/failover-during-expansion.md",
    log=partitions.partition_servable.log,
    cause="the leader did not take up the leader epoch that ZooKeeper has: a LeaderAndIsr request was refused or lost, "
    "or is on its way",
    grep=(
        "grep -E 'since we sent an old leader epoch|since the leader epoch is old' logs/server.log*   "
        "# with kafka.cluster.Partition at DEBUG",
    ),
)
LEADER_REFUSES = evolve(
    LEADER_DOES_NOT_LEAD,
    name="leader-refuses-topic-id",
    title="the leader refuses ZooKeeper's topic id",
    later="it stays so: restarts and failovers do not repair it",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
)
LEADER_REFUSES_MIXED = evolve(
    LEADER_REFUSES,
    name="leader-refuses-mixed-topic-ids",
    title="the leader refuses ZooKeeper's topic id, and replicas have different ones",
    way_out="no id in the znode fits all replicas: remove partition.metadata of the topic on every broker, and restart "
    "every broker, one at a time",
    cause=GREW,
)
LEADER_REFUSES_IN_MEMORY = evolve(
    LEADER_REFUSES,
    name="leader-keeps-topic-id-in-memory",
    title="the leader may hold another topic id in memory: its partition.metadata was removed",
    later="it lasts until the broker restarts",
    way_out="restart every broker that has run since the files were removed, one at a time",
    cause="partition.metadata was removed while the broker ran: it keeps the id in memory until it stops",
)
NO_LIVE_ISR = FindingKind(
    "no-live-isr",
    BROKEN,
    "no leader: every ISR member is down",
    ("partition_has_a_live_isr_member",),
    now="clients get LEADER_NOT_AVAILABLE",
    later="it lasts until an ISR member starts; an unclean election loses records",
    way_out="start a broker of the ISR",
    log=partitions.partition_has_a_live_isr_member.log,
    cause="the brokers of the ISR stopped one after the other, and the last one is down",
)
FETCH_REFUSED = FindingKind(
    "fetch-by-id-refused",
    BROKEN,
    "the leader refuses fetches that name ZooKeeper's topic id",
    ("leader_answers_fetches_by_id",),
    now="consumers of Kafka 3.1 and later read nothing (INCONSISTENT_TOPIC_ID); older consumers work, and producers as "
    "long as the followers' fetch sessions last",
    later="a follower whose connection to the leader fails is refused as well; from 3.3 on it stays in the ISR, and "
    "acks=all times out. At the next rise of a leader epoch the partition has no working leader",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=FULL_ISR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
)
FETCH_REFUSED_MIXED = evolve(
    FETCH_REFUSED,
    name="fetch-by-id-refused-mixed-topic-ids",
    title="the leader refuses fetches that name ZooKeeper's topic id, and replicas have different ones",
    way_out="no id in the znode fits all replicas: remove partition.metadata of the topic on every broker, and restart "
    "every broker, one at a time",
    cause=GREW,
)
REPLICA_REFUSES = FindingKind(
    "replica-refuses",
    BROKEN,
    "under-replicated for good: a replica refuses the controller",
    ("replicas_converge",),
    now="acks=all fails where min.insync.replicas needs the replica",
    later="when the remaining ISR members stop, the partition has no leader",
    way_out="write the id that the replicas have back into the topic's znode and fail the controller over; where "
    "replicas have different ids, remove partition.metadata and restart every broker",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
)
STALE_IN_ISR = evolve(
    REPLICA_REFUSES,
    name="isr-member-refuses",
    title="the ISR is full, and a member refuses the controller: it copies nothing",
    now="acks=all times out; records with acks=1 are on the other replicas only",
    later="the leader removes the member from the ISR replica.lag.time.max.ms after the first record that it lacks; a "
    "member that is elected before does not lead",
    way_out="where the earlier records are not needed: stop the broker, remove the directory, and start it",
    story=STRAY,
    cause="the topic was created again, and the broker has the log of the earlier one",
)
EARLIER_LOG = FindingKind(
    "log-of-an-earlier-topic",
    BROKEN,
    "a replica's log has leader epochs that the partition never had",
    (),
    now="a broker that has run since then serves the earlier topic's log to producers and consumers; replicas may have "
    "different records at one offset",
    later="as brokers restart and leaders change, earlier records return or logs are truncated; 3.0 and later refuse "
    "the log once they have restarted",
    way_out="decide which records are wanted; on brokers with the other ones: stop the broker, remove the directory, "
    "and start it",
    story=STRAY,
    log=deletion.no_stray.log,
    cause="the topic was deleted while the broker was down, or removed by hand, and created again; brokers up to 2.8 "
    "do not compare the log with the topic",
)
DEAD_IN_ISR = FindingKind(
    "isr-names-a-dead-broker",
    BROKEN,
    "the ISR names a broker that is down",
    ("isr_members_live",),
    now="acks=all waits for it until the leader removes it (replica.lag.time.max.ms)",
    later="if it stays, the controller does not react to the loss of the broker",
    way_out="take another snapshot after a minute; if it is still so, start the broker or delete /controller",
    log=partitions.isr_members_live.log,
    cause="the broker has just stopped, or no controller has noticed that it did",
)
PARTITION_LOST = FindingKind(
    "partition-lost",
    BROKEN,
    "a partition has a state but the topic's znode does not list it",
    ("no_partition_lost",),
    now="the partition count has dropped; records of the partition are unreachable after the next failover",
    later="an expansion creates a new partition of that number, which meets the old logs",
    way_out="add the partition and its replicas to the znode's JSON with the data version that was read, then fail "
    "the controller over (not tried on real brokers)",
    story="docs/stories/two-admins.md",
    log="none: PartitionModifications handles new partitions only",
    cause="two admin clients wrote the topic's znode at once; the later one had read it before the other wrote",
)
WITHOUT_STATE = FindingKind(
    "partition-without-state",
    BROKEN,
    "a partition never had a leader",
    ("partition_gets_a_leader",),
    now="clients get LEADER_NOT_AVAILABLE",
    later="it lasts until the next controller failover",
    way_out="take another snapshot after a minute; if it is still so, delete /controller",
    story=BY_HAND,
    log=deletion.partition_gets_a_leader.log,
    cause="the controller did not notice that the partition was created: its znode was written, or an earlier one "
    "removed, by hand",
    grep=("grep 'should be in one of NonExistentPartition states before moving' logs/state-change.log*",),
)
WITHOUT_STATE_SERVED = evolve(
    WITHOUT_STATE,
    name="partition-without-state-is-served",
    severity=LATENT,
    title="a partition has no state in ZooKeeper, and brokers serve an earlier one of the name",
    now="brokers lead the logs of the earlier topic, of whose removal they were not informed; once one of them has "
    "restarted, acks=all times out",
    later="the controller elects no leader when a broker stops; at the next failover replicas get the present topic's "
    "id, and those that have the earlier one refuse it when a leader epoch rises",
    way_out="for the earlier records: write the earlier id into the topic's znode, then fail the controller over",
    cause="a topic's znodes were removed by hand, and the topic was created again",
)
NO_CONTROLLER = FindingKind(
    "no-controller",
    BROKEN,
    "the cluster has no live controller",
    ("cluster_has_a_controller", "controller_lives"),
    now="topics are not created, and no leader is elected when a broker stops; producers and consumers continue",
    later="each broker that stops takes its partitions with it",
    way_out="take another snapshot after a session timeout; if it is still so, delete /controller",
    story="docs/stories/authentication-failure.md",
    log=sessions.controller_lives.log,
    cause="the controller has resigned but holds its session, or /controller is that of a process that is gone",
)
ID_MISSING = FindingKind(
    "topic-id-missing",
    LATENT,
    "the topic's znode has lost its id",
    ("topic_has_an_id",),
    now="nothing",
    later="the next controller failover mints another id; replicas refuse it at the next rise of a leader epoch",
    way_out="stop the client that wrote the znode, and write the topic_id that the replicas have back before the next "
    "failover",
    story="docs/stories/old-client-expansion.md",
    log=topic_ids.zk_id_not_erased.log,
    cause="a client older than 2.8 wrote the topic's znode (kafka-topics.sh --zookeeper --alter): it does not know "
    "topic_id, and drops it (KAFKA-14190)",
    grep=("grep 'New partitions to be added' logs/controller.log*   # when, and by which controller it was noticed",),
)
ID_DIFFERS = FindingKind(
    "topic-id-differs",
    LATENT,
    "replicas have another topic id than ZooKeeper",
    ("replica_id_matches_zookeeper",),
    now="nothing on 2.8 to 3.0",
    later="when a leader epoch rises, for example as a broker restarts, the replicas refuse it, and the partition has "
    "no working leader",
    way_out="write the id that the replicas have back into the topic's znode, then fail the controller over",
    story=REPAIR,
    log=REFUSAL,
    cause=ERASED,
    grep=REFUSAL_GREP,
)
IDS_MIXED = evolve(
    ID_DIFFERS,
    name="topic-ids-mixed",
    title="replicas of one topic have different topic ids",
    way_out="no id in the znode fits all replicas: remove partition.metadata of the topic on every broker, and restart "
    "every broker, one at a time",
    cause=GREW,
)
ID_SENT = FindingKind(
    "controller-sends-another-id",
    LATENT,
    "the controller sends another topic id than ZooKeeper has",
    ("context_agrees",),
    now="nothing",
    later="the next failover sends ZooKeeper's id; replicas that have taken the other one by then refuse it",
    way_out="write the id that the controller sends into the topic's znode, if the replicas have that one; otherwise "
    "fail the controller over now",
    story=REPAIR,
    log=controllers.context_agrees.log,
    cause="the znode was written after this controller had read it",
)
FOREIGN_ISR = FindingKind(
    "isr-outside-replicas",
    LATENT,
    "the ISR or the leader is not among the partition's replicas",
    ("leader_in_assignment",),
    now="kafka-topics.sh --describe shows a broker under Isr that is not under Replicas; if it does not fetch, "
    "acks=all waits for it until the leader removes it, replica.lag.time.max.ms after the first record",
    later="the broker keeps its log; on 2.8, once the leader epoch has risen, the leader's task isr-expiration fails "
    "there, so that dead followers may stay in other ISRs too",
    way_out="reassign the partition to its replicas and the broker, fail the controller over, and reassign it to its "
    "replicas",
    story="docs/stories/reassignment.md",
    log=partitions.leader_in_assignment.log,
    cause="a reassignment was cancelled or overwritten while replicas were added",
    grep=("grep \"Uncaught exception in scheduled task 'isr-expiration'\" logs/server.log*   # on the leader; 2.8",),
)
STRAY_LOG = FindingKind(
    "stray-log",
    LATENT,
    "a broker has a log of a partition of which it is no replica",
    ("no_stray",),
    now="disk space",
    later="if the topic is deleted and created again on that broker, acks=all times out (3.0 and later), or old "
    "records return (up to 2.8)",
    way_out="remove the directory while the broker is stopped",
    story=STRAY,
    log=deletion.no_stray.log,
    cause="the broker was down, or did not get StopReplica, when the partition moved away or the topic was deleted",
)
ORPHANED_LOG = evolve(
    STRAY_LOG,
    name="orphaned-log",
    title="a broker has a log of a topic that does not exist",
    now="disk space; if the topic's znodes were removed by hand, brokers serve it still",
    later="a topic that is created under the name meets the old log: acks=all times out (3.0 and later), or old "
    "records return (up to 2.8)",
    cause="the topic was deleted while the broker was down, or its znodes were removed by hand",
)
DELETION_WAITS = FindingKind(
    "deletion-hangs",
    LATENT,
    "a topic is marked for deletion, and all brokers that it needs are up",
    ("deletion_terminates",),
    now="the topic cannot be used",
    later="if another snapshot a minute later shows it too, the deletion hangs",
    way_out="delete /controller: the next controller starts the deletion again",
    story=DELETION,
    log=deletion.deletion_terminates.log,
    cause="a replica could not be deleted, and no event has started the deletion again",
    grep=("grep 'Halted deletion of topics' logs/controller.log*",),
)
UNREGISTERED = FindingKind(
    "broker-not-registered",
    LATENT,
    "a broker runs but is not in /brokers/ids",
    ("running_broker_is_registered",),
    now="its partitions have other leaders or none; clients that reach it get outdated answers",
    later="its ZooKeeper session returns within seconds, or it stays a zombie",
    way_out="take another snapshot after a session timeout; if it is still so, restart the broker",
    story="docs/stories/zombie-controller.md",
    log=sessions.running_broker_is_registered.log,
    cause="its ZooKeeper session has ended, and the process has not registered in a new one",
)
DELETION_PENDING = FindingKind(
    "deletion-pending",
    NOTE,
    "a topic is marked for deletion, and brokers with its logs are down",
    (),
    now="the topic cannot be used",
    later="the deletion continues when the brokers start",
    way_out="start the brokers; do not remove znodes by hand",
    story=DELETION,
)
CATCHING_UP = FindingKind(
    "catching-up",
    NOTE,
    "a live replica is not in the ISR",
    ("replicas_converge",),
    now="under-replicated",
    later="it joins the ISR once it has the leader's records",
    way_out="take another snapshot later; if it is still so, read the broker's server.log",
)
BROKER_DOWN = FindingKind(
    "broker-down",
    NOTE,
    "a broker is down",
    (),
    now="its replicas are out of the ISR",
    later="nothing, while the other replicas live",
    way_out="start it",
)
REASSIGNMENT = FindingKind(
    "reassignment",
    NOTE,
    "a partition is being reassigned",
    (),
    now="nothing",
    later="it ends when the added replicas are in the ISR",
    way_out="wait, and inspect again",
    story="docs/stories/reassignment.md",
)
STALE_METADATA = FindingKind(
    "stale-metadata",
    NOTE,
    "a broker answers clients with an outdated leader",
    ("metadata_converges",),
    now="clients that ask this broker are directed to the wrong leader",
    later="it is over with the next UpdateMetadata, within milliseconds in a cluster at rest",
    way_out="inspect again; if it is still so, restart the broker",
    log=partitions.metadata_converges.log,
)
ANOTHER_CONTROLLER = FindingKind(
    "another-controller",
    NOTE,
    "a broker names another controller than ZooKeeper",
    (),
    now="a new controller has not informed it yet; or it does not work; or an earlier one, a zombie, still acts",
    later="it is over when the new controller has sent its first UpdateMetadata, within seconds; brokers that know the "
    "new controller epoch refuse a zombie's requests, and its writes to ZooKeeper fail (2.1 and later)",
    way_out="inspect again; if it is still so, restart the broker that it names, or delete /controller if all brokers "
    "name that one",
    story="docs/stories/zombie-controller.md",
    log="controller.log of the broker that it names: Resigned",
)
NOT_JUDGED = FindingKind(
    "not-inspected",
    NOTE,
    "too many brokers take part in a partition",
    (),
    now="unknown",
    later="unknown",
    way_out="read the partition's state by hand",
)

KINDS = (
    NO_LIVE_ISR,
    LEADER_REFUSES,
    LEADER_REFUSES_MIXED,
    LEADER_REFUSES_IN_MEMORY,
    LEADER_DOES_NOT_LEAD,
    FETCH_REFUSED,
    FETCH_REFUSED_MIXED,
    REPLICA_REFUSES,
    STALE_IN_ISR,
    EARLIER_LOG,
    PARTITION_LOST,
    WITHOUT_STATE,
    NO_CONTROLLER,
    DEAD_IN_ISR,
    WITHOUT_STATE_SERVED,
    IDS_MIXED,
    ID_DIFFERS,
    ID_MISSING,
    ID_SENT,
    FOREIGN_ISR,
    DELETION_WAITS,
    UNREGISTERED,
    STRAY_LOG,
    ORPHANED_LOG,
    DELETION_PENDING,
    REASSIGNMENT,
    BROKER_DOWN,
    CATCHING_UP,
    STALE_METADATA,
    ANOTHER_CONTROLLER,
    NOT_JUDGED,
)
"""All kinds, the worst first; an inspection lists findings in this order."""

PROPERTIES = (
    partitions.partition_has_a_live_isr_member,
    partitions.partition_servable,
    partitions.leader_answers_fetches_by_id,
    partitions.replicas_converge,
    partitions.isr_members_live,
    partitions.no_partition_lost,
    deletion.partition_gets_a_leader,
    topic_ids.topic_has_an_id,
    topic_ids.replica_id_matches_zookeeper,
    controllers.context_agrees,
    partitions.leader_in_assignment,
    deletion.no_stray,
    deletion.deletion_terminates,
    partitions.metadata_converges,
    sessions.cluster_has_a_controller,
    sessions.controller_lives,
    sessions.running_broker_is_registered,
)
OF_THE_CLUSTER = {"cluster_has_a_controller", "controller_lives", "running_broker_is_registered"}
"""Properties that are evaluated once for each broker, not for each partition."""


def inspect_snapshot(source: str | os.PathLike[str] | bytes) -> Inspection:
    """Inspect a capture (a JSON file, or its bytes).

    Raises:
        UsageError: It cannot be read.
    """
    return inspect_capture(read_capture(source))


def inspect_capture(capture: Capture) -> Inspection:
    """Return what is wrong with each topic, partition and broker of a capture, the worst first."""
    found = _Findings(capture)
    order = {kind: number for number, kind in enumerate(KINDS)}
    moving = frozenset(capture.unsettled)  # two moments may look like damage
    seen = (evolve(o, certain=o.certain and o.fields.get("topic") not in moving) for o in found.observations())
    observations = sorted(seen, key=lambda one: order[one.kind])
    return Inspection(
        headline=_headline(capture),
        observations=tuple(observations),
        notes=tuple(_notes(capture)),
        tables=tuple(_tables(capture, observations)),
        properties=PROPERTIES,
        consistent="Topic ids agree, every partition is served, and nothing is left over.",
        totals={
            "topic": len(capture.topics),
            "broker": len(capture.brokers),
            "partition": sum(len(topic.partitions) for topic in capture.topics.values()),
            "situation": found.evaluation.broken.cache_info().currsize,
        },
    )


def _headline(capture: Capture) -> str:
    controller = "no controller" if capture.controller is None else f"controller {capture.controller}"
    return (
        f"Kafka {capture.version}, {len(capture.live)} of {len(capture.brokers)} brokers up, {controller}, "
        f"controller epoch {capture.controller_epoch}"
    )


def _notes(capture: Capture) -> Iterator[str]:
    release = release_of(capture.version)
    if release != capture.version and f"{release}.0" != capture.version:
        yield f"Kafka {capture.version} is taken for {release}, the nearest earlier release of the model."
    unanswered = [b.id for b in capture.brokers.values() if b.alive and b.cache is None]
    if unanswered:
        yield f"No metadata cache of {brokers(unanswered)} is in the snapshot: it is taken to be ZooKeeper's."
    yield from unseen(capture)


MOST_TOPICS = 20
"""The most topics whose ids are listed."""


def _tables(capture: Capture, observations: Iterable[Observation]) -> Iterator[FactTable]:
    """Yield a table of who has which id of the damaged topics."""
    damaged = {
        one.fields["topic"]: None
        for one in observations
        if one.kind.severity is not NOTE and one.fields.get("topic") in capture.topics
    }
    known = [capture.topics[name] for name in list(damaged)[:MOST_TOPICS]]
    rows = tuple(row for topic in known for row in _holders(capture, topic))
    if rows:
        yield FactTable("Topic ids, and who has them", ("topic", "id", "who has it"), rows)


def _holders(capture: Capture, topic: Topic) -> Iterator[tuple[str, str, str]]:
    """Yield for each id of a topic, none among them, who has it."""
    holders: dict[str, list[str]] = {topic.topic_id or "none": ["the topic's znode"]}
    sent = sent_id(capture, topic)
    if sent is not None:
        holders.setdefault(sent, []).append("the controller, in memory")
    on_disk: dict[str, dict[tuple[int, ...], list[int]]] = {}
    for partition in sorted(topic.partitions):
        files: dict[str, list[int]] = {}
        for broker, identity in files_of(capture, topic, partition).items():
            files.setdefault(identity or "none", []).append(broker)
        for identity, found in files.items():
            on_disk.setdefault(identity, {}).setdefault(tuple(sorted(found)), []).append(partition)
    for identity, groups in on_disk.items():
        label = topic_label(topic.name)
        texts = [f"{in_words(label, numbers)} on {brokers(found)}" for found, numbers in groups.items()]
        what = "partition.metadata" if identity != "none" else "a log without partition.metadata"
        holders.setdefault(identity, []).append(f"{what} of {listed(texts)}")
    yield from ((topic_label(topic.name), identity, "; ".join(found)) for identity, found in holders.items())


@frozen
class _Place:
    """A partition of a topic, with its situation."""

    topic: Topic
    partition: int
    observed: Observed

    @property
    def name(self) -> str:
        return f"{topic_label(self.topic.name)}-{self.partition}"

    def broker(self, number: int | None) -> int | None:
        """Return the real id of a broker of the situation."""
        return None if number is None else self.observed.brokers[number]


class _Findings:
    """Evaluates a capture."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.situations = Situations(capture)
        self.evaluation = Evaluation(PROPERTIES)

    def observations(self) -> Iterator[Observation]:
        yield from self._of_the_cluster()
        for topic in self.capture.topics.values():
            yield from self._of_topic(topic)
        yield from self._of_orphans()

    # The cluster.

    def _of_the_cluster(self) -> Iterator[Observation]:
        seen: set[str] = set()
        for broker in self.capture.brokers.values():
            if not broker.alive:
                yield _observation(BROKER_DOWN, f"broker {broker.id}", "does not run", broker=broker.id)
            named = broker.cache.controller if broker.alive and broker.cache else None
            actual = self.capture.controller
            if named is not None and actual in self.capture.live and named != actual:
                text = f"names controller {named}{' (itself)' * (named == broker.id)}, ZooKeeper {actual}"
                yield _observation(ANOTHER_CONTROLLER, f"broker {broker.id}", text, broker=broker.id)
            observed = self.situations.of_broker(broker.id)
            for broken in self.evaluation.broken(observed.situation):
                number = None if broken.broker is None else observed.brokers[broken.broker]
                if broken.property == "running_broker_is_registered" and number == broker.id:
                    yield _observation(UNREGISTERED, f"broker {broker.id}", "is not in /brokers/ids", broker=broker.id)
                elif broken.property in NO_CONTROLLER.properties and broken.property not in seen:
                    seen.add(broken.property)
                    shown = "there is no /controller" if number is None else f"/controller names broker {number}"
                    yield _observation(NO_CONTROLLER, "/controller", shown)

    # Topics.

    def _of_topic(self, topic: Topic) -> Iterator[Observation]:
        label = topic_label(topic.name)
        places: list[_Place] = []
        for partition in sorted({*topic.partitions, *topic.states}):
            observed = self.situations.of(topic, partition)
            if observed is None:
                yield _observation(NOT_JUDGED, f"{label}-{partition}", "more than 7 brokers", topic=topic.name)
            else:
                places.append(_Place(topic, partition, observed))
        if topic.name in self.capture.deleting:
            yield from self._of_deletion(topic, places)
            return
        mixed = len(self._ids_on_disk(topic, places)) > 1
        missing = False
        for place in places:
            for observation in self._of_place(place, mixed):
                if observation.kind is ID_MISSING:
                    if missing:
                        continue
                    missing = True
                yield observation
        if topic.moving:
            which = listed([f"{label}-{number}" for number in topic.moving])
            yield _observation(REASSIGNMENT, label, which, topic=topic.name)

    def _of_deletion(self, topic: Topic, places: Iterable[_Place]) -> Iterator[Observation]:
        """A topic to be deleted: which brokers it waits for; nothing else about it matters."""
        hosts = {b for key, found in self.situations.hosts.items() if key[0] == topic.name for b in found}
        needed = hosts | {b for replicas in topic.partitions.values() for b in replicas}
        down = sorted(b for b in needed if not self.capture.brokers[b].alive)
        label = topic_label(topic.name)
        if down:
            yield _observation(DELETION_PENDING, label, f"waits for {brokers(down)}", topic=topic.name)
        elif any(b.property == "deletion_terminates" for p in places for b in self._broken(p)):
            yield _observation(DELETION_WAITS, label, "is in /admin/delete_topics", topic=topic.name)

    def _ids_on_disk(self, topic: Topic, places: Iterable[_Place]) -> set[str]:
        situations = ((place.observed, one) for place in places for one in place.observed.situation.brokers)
        return {observed.ids[one.file] for observed, one in situations if one.file is not None and one.replica}

    def _broken(self, place: _Place) -> tuple[Broken, ...]:
        return tuple(b for b in self.evaluation.broken(place.observed.situation) if b.property not in OF_THE_CLUSTER)

    # Partitions.

    def _of_place(self, place: _Place, mixed: bool) -> Iterator[Observation]:
        """Yield the findings of one partition; what follows from a worse one is left out."""
        by_property: dict[str, list[Broken]] = {}
        for broken in self._broken(place):
            by_property.setdefault(broken.property, []).append(broken)
        situation = place.observed.situation
        if situation.is_lost:
            if "no_partition_lost" in by_property:
                yield self._observed(PARTITION_LOST, place, "has a state znode only")
            return
        ahead = self._ahead(place)
        unserved = yield from self._of_leader(place, by_property, mixed, ahead)
        yield from self._of_followers(place, by_property, unserved)
        yield from self._of_earlier_logs(place, ahead)
        yield from self._of_ids(place, by_property, mixed)
        is_served = any(one.alive and one.cached and one.cached[0] is not None for one in situation.brokers)
        for name, kind, text in (
            ("leader_in_assignment", FOREIGN_ISR, _isr(place)),
            ("partition_gets_a_leader", WITHOUT_STATE_SERVED if is_served else WITHOUT_STATE, "has no state znode"),
        ):
            if name in by_property:
                yield self._observed(kind, place, text, by_property[name])
        yield from self._on_brokers(STRAY_LOG, place, by_property.get("no_stray", []), "{} no replica")
        if not unserved:
            stale = by_property.get("metadata_converges", [])
            yield from self._on_brokers(STALE_METADATA, place, stale, "{} another leader or leader epoch")

    def _of_leader(
        self, place: _Place, broken: Mapping[str, list[Broken]], mixed: bool, ahead: Mapping[int, int]
    ) -> Generator[Observation, None, bool]:
        """Yield what is wrong with the leader; return whether the partition is not served."""
        if NO_LIVE_ISR.properties[0] in broken:
            yield self._observed(NO_LIVE_ISR, place, _isr(place))
            return True
        if "partition_servable" in broken:
            kind, cause = LEADER_DOES_NOT_LEAD, ""
            if "replica_id_matches_zookeeper" in broken:
                foreign = _held(place) - {place.topic.topic_id}
                kind = LEADER_REFUSES_MIXED if mixed else LEADER_REFUSES if foreign else LEADER_REFUSES_IN_MEMORY
                cause = f"; {_ids(place)}"
            serves_earlier = place.topic.states[place.partition].leader in ahead
            unserved = [evolve(b, certain=b.certain and not serves_earlier) for b in broken["partition_servable"]]
            yield self._observed(kind, place, _leader(place) + cause, unserved)
            return True
        if "leader_answers_fetches_by_id" in broken:
            text = f"{_isr(place)}; {_ids(place)}"
            kind = FETCH_REFUSED_MIXED if mixed else FETCH_REFUSED
            yield self._observed(kind, place, text, broken["leader_answers_fetches_by_id"])
        if "isr_members_live" in broken:
            yield from self._on_brokers(DEAD_IN_ISR, place, broken["isr_members_live"], "{} down, and in the ISR")
        return False

    def _of_followers(self, place: _Place, broken: Mapping[str, list[Broken]], unserved: bool) -> Iterator[Observation]:
        known = place.observed.situation
        behind = broken.get("replicas_converge", [])
        outside = [b for b in behind if b.broker is not None and not known.brokers[b.broker].in_isr]
        inside = [b for b in behind if b not in outside and b.certain and _refuses(place, b.broker)]
        refusing = [b for b in outside if _refuses(place, b.broker)]
        late = [b for b in outside if b not in refusing]
        if not unserved:
            yield from self._on_brokers(REPLICA_REFUSES, place, refusing, "{} out of the ISR, with another topic id")
            yield from self._on_brokers(STALE_IN_ISR, place, inside, "{} in the ISR, with another topic id")
            yield from self._on_brokers(CATCHING_UP, place, late, "{} not in the ISR")

    def _of_earlier_logs(self, place: _Place, ahead: Mapping[int, int]) -> Iterator[Observation]:
        if ahead:
            epochs = listed([f"broker {b} has {epoch}" for b, epoch in ahead.items()])
            epoch = place.topic.states[place.partition].leader_epoch
            one = self._observed(EARLIER_LOG, place, f"{epochs}; ZooKeeper's leader epoch is {epoch}")
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, ahead))})

    def _ahead(self, place: _Place) -> dict[int, int]:
        """Return the last leader epoch by broker where it is above ZooKeeper's, which no log of the topic has."""
        state = place.topic.states.get(place.partition)
        if state is None or place.partition not in place.topic.partitions:
            return {}
        found = {b: self.capture.directory(b, place.topic.name, place.partition) for b in place.observed.brokers}
        latest = {b: max(e for e, _ in d.leader_epochs) for b, d in sorted(found.items()) if d and d.leader_epochs}
        return {b: epoch for b, epoch in latest.items() if epoch > state.leader_epoch}

    def _of_ids(self, place: _Place, broken: Mapping[str, list[Broken]], mixed: bool) -> Iterator[Observation]:
        held, sent = _held(place), _sent(place)
        if "topic_has_an_id" in broken and (held or sent):
            known = listed(sorted(held | ({sent} if sent else set())))
            text = f"the znode has no topic_id; replicas and the controller have {known}"
            yield _observation(ID_MISSING, topic_label(place.topic.name), text, topic=place.topic.name)
        earlier = {n for n, one in enumerate(place.observed.situation.brokers) if one.earlier and one.in_isr}
        differing = [b for b in broken.get("replica_id_matches_zookeeper", []) if b.broker not in earlier]
        worse = {"partition_servable", "leader_answers_fetches_by_id"}
        if differing and worse.isdisjoint(broken):
            kind = IDS_MIXED if mixed else ID_DIFFERS
            yield from self._on_brokers(kind, place, differing, f"{{}}; {_ids(place)}")
        if "context_agrees" in broken and sent is not None and place.topic.topic_id not in (None, sent):
            text = f"sends {sent}; ZooKeeper has {place.topic.topic_id}"
            yield self._observed(ID_SENT, place, text)

    # Observations.

    def _observed(self, kind: FindingKind, place: _Place, detail: str, broken: Iterable[Broken] = ()) -> Observation:
        certain = all(one.certain for one in broken)
        fields = {"topic": place.topic.name, "partition": str(place.partition)}
        return Observation(kind, place.name, detail, fields, certain)

    def _on_brokers(
        self, kind: FindingKind, place: _Place, broken: Iterable[Broken], text: str
    ) -> Iterator[Observation]:
        """Yield one finding about all brokers of a partition that violate a property; `text` has {} for them."""
        found = list(broken)
        known = sorted(b for b in (place.broker(one.broker) for one in found) if b is not None)
        if not known:
            return
        verb = VERBS[kind.name][len(known) > 1]
        one = self._observed(kind, place, text.format(f"{brokers(known)} {verb}"), found)
        yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, known))})

    # Directories without a topic.

    def _of_orphans(self) -> Iterator[Observation]:
        for name, by_partition in self.situations.orphaned().items():
            topic = self.capture.topics.get(name) or Topic(name, {}, None, 3, 0)
            for partition in by_partition:
                observed = self.situations.of(topic, partition)
                if observed is None or name in self.capture.deleting:
                    continue
                place = _Place(topic, partition, observed)
                stray = [b for b in self._broken(place) if b.property == "no_stray"]
                kind = STRAY_LOG if topic.partitions else ORPHANED_LOG
                yield from self._on_brokers(kind, place, stray, "{} its directory")


VERBS = {
    STRAY_LOG.name: ("has its directory and is", "have its directory and are"),
    ORPHANED_LOG.name: ("has", "have"),
    STALE_METADATA.name: ("answers clients with", "answer clients with"),
    DEAD_IN_ISR.name: ("is", "are"),
    REPLICA_REFUSES.name: ("stays", "stay"),
    STALE_IN_ISR.name: ("stays", "stay"),
    CATCHING_UP.name: ("is", "are"),
    ID_DIFFERS.name: ("differs", "differ"),
    IDS_MIXED.name: ("differs", "differ"),
}
"""By kind, the verb for one broker and for several."""


def _observation(kind: FindingKind, subject: str, detail: str, **fields: object) -> Observation:
    return Observation(kind, subject, detail, {name: str(value) for name, value in fields.items()})


def _isr(place: _Place) -> str:
    state = place.topic.states.get(place.partition)
    if state is None:
        return "has no state znode"
    isr = listed([str(b) for b in state.isr]) if state.isr else "empty"
    leader = "none" if state.leader is None else str(state.leader)
    replicas = listed([str(b) for b in place.topic.partitions.get(place.partition, ())])
    return f"leader {leader}, ISR {isr}, replicas {replicas}"


def _leader(place: _Place) -> str:
    state = place.topic.states[place.partition]
    if state.leader is None:
        return f"no leader; {_isr(place)}"
    one = place.observed.situation.brokers[place.observed.brokers.index(state.leader)]
    if not one.alive:
        return f"leader {state.leader} is down; {_isr(place)}"
    if one.has_epoch is False:
        return f"{_isr(place)}; leader {state.leader} never took up leader epoch {state.leader_epoch}"
    return _isr(place)


def _held(place: _Place) -> set[str]:
    """Return the topic ids in the partition.metadata of the partition's replicas."""
    known = place.observed.situation.brokers
    return {place.observed.ids[one.file] for one in known if one.file is not None and one.replica}


def _ids(place: _Place) -> str:
    """Describe the topic ids of ZooKeeper and of the replicas' files."""
    held = _held(place)
    files = f"partition.metadata {listed(sorted(held))}" if held else "no partition.metadata"
    return f"ZooKeeper has the id {place.topic.topic_id}, {files}"


def _refuses(place: _Place, number: int | None) -> bool:
    situation = place.observed.situation
    file = None if number is None else situation.brokers[number].file
    return file is not None and situation.topic_id is not None and file != situation.topic_id


def _sent(place: _Place) -> str | None:
    """Return the topic id in the metadata cache of the controller's broker: what the controller sends."""
    for one in place.observed.situation.brokers:
        if one.controller and one.cached_id is not None:
            return place.observed.ids[one.cached_id]
    return None
