"""The findings of an inspection: the properties that a capture violates, each in its kind."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations

from attrs import evolve, frozen

from kwalk.invariants import controllers, deletion, partitions, sessions, topic_ids
from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import PartitionLogs
from kwalk.invariants.reading.migrating import is_led_by_kraft, migrating_prospect, topics_of_kraft
from kwalk.model.kafka.snapshots.at_rest import (
    Broken,
    Evaluation,
    Observed,
    Situations,
    deletion_waits_for,
    garbled_at_start,
    isr_before_hand,
    leader_before_hand,
    members_without_log,
    offline_replicas,
    reassignment_of,
    replicas_without_log,
)
from kwalk.model.kafka.snapshots.capture import (
    COMPACTED,
    MIN_IN_SYNC,
    Broker,
    Capture,
    CapturedMetadata,
    CapturedPartitionState,
    CapturedReplica,
    Directory,
    Topic,
    topic_label,
)
from kwalk.model.kafka.snapshots.diagnosis import (
    agrees_in_memory,
    assigns_ids_at_once,
    brokers,
    disks_of_others,
    each,
    epochs_ahead,
    failing_failovers,
    fetched_under_another_id,
    fetches_by_topic_id,
    files_of,
    garbled_ids,
    has_topic_ids,
    hosts_of_lost,
    is_behind_logs,
    is_led_from_outside,
    later_than_deletion,
    listed,
    lost_state,
    lost_topics,
    may_have_lost_ids,
    may_hold_another_id,
    other_topic_of,
    refuses_later_epochs,
    served_as,
    serves_as_told,
    serves_marked,
    topics_created_again,
    topics_in_words,
)
from kwalk.model.kafka.snapshots.diagnosis import partitions as in_words
from kwalk.model.kafka.snapshots.former_logs import LogOrigin, set_aside_logs
from kwalk.model.kafka.snapshots.in_sync import elects_outsiders, is_refused
from kwalk.model.kafka.snapshots.lineage import (
    Lineages,
    Relation,
    begin_apart,
    compare,
    is_of_another_leader,
    last_copies_aside,
    lost_records,
    members_lacking_records,
    missed_by_members,
    next_leader,
    records_elsewhere,
    same_disks,
)
from kwalk.model.kafka.snapshots.misnamed import needing_their_names, of_misnamed, own_choices
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language.inspection import FindingKind, Observation, Prognosis

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
MOST_MISSING = 100
"""The most missing partitions of a topic that are named: a number of its znode may be wrong."""
OF_THE_CLUSTER = {"cluster_has_a_controller", "controller_lives", "running_broker_is_registered"}
"""Properties that are evaluated once for each broker, not for each partition."""
REFUSES = partitions.leader_answers_fetches_by_id.name
ANOTHER_LEADER = "; what it has of another leader may have been acknowledged"
OF_LEADERS = {"partition_has_a_live_isr_member", "partition_servable"}
"""Properties of the leader in ZooKeeper. They say nothing of one that only brokers know, and that serves."""


@frozen
class _Place:
    """A partition of a topic, with its situation."""

    topic: Topic
    partition: int
    observed: Observed

    @property
    def name(self) -> str:
        return f"{topic_label(self.topic.name)}-{self.partition}"

    @property
    def brokers(self) -> tuple[int, ...]:
        """All brokers that take part."""
        return (*self.observed.brokers, *self.observed.alike)

    def is_live_replica(self, broker: int) -> bool:
        """Whether a broker is a replica of the partition, and serves it if it is told to."""
        if broker in self.observed.alike:
            return True
        one = self.observed.situation.brokers[self.observed.brokers.index(broker)]
        return one.replica and one.alive

    def refuses_all(self, broker: int) -> bool:
        """Whether a broker's log is of an earlier topic, so that it refuses every request: another kind says so."""
        number = self.observed.alike.get(broker)
        number = self.observed.brokers.index(broker) if number is None else number
        return self.observed.situation.brokers[number].earlier

    def broker(self, number: int | None) -> int | None:
        """Return the real id of a broker of the situation."""
        return None if number is None else self.observed.brokers[number]


class Findings:
    """Evaluates a capture."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.situations = Situations(capture)
        self.evaluation = Evaluation(PROPERTIES)
        self._lineages: dict[tuple[str, int], Lineages] = {}

    def observations(self) -> Iterator[Observation]:
        if is_led_by_kraft(self.capture):  # the properties are about the controller of ZooKeeper mode
            yield from self._of_disks()
            for broker in self.capture.brokers.values():
                yield from self._of_broker_down(broker)
            yield from self._unserved_in_kraft()
            yield from self._of_migration()
            return
        yield from self._of_the_cluster()
        yield from self._of_names()
        yield from self._of_requests()
        for topic in self.capture.topics.values():
            yield from self._of_topic(topic)
        yield from self._of_orphans()
        yield from self._of_logs_aside()
        yield from self._of_copies()

    # The cluster.

    def _of_the_cluster(self) -> Iterator[Observation]:
        seen: set[str] = set()
        yield from self._of_controller()
        later = self.capture.later_controller
        if later is not None:
            text = f"has {self.capture.controller_epoch}; a controller with the epoch {later} has written a state"
            yield _observation(kinds.CONTROLLER_EPOCH_BEHIND, "/controller_epoch", text, epoch=later)
        yield from self._of_disks()
        yield from self._of_lost_topics()
        actual, live = self.capture.controller, [b for b in self.capture.brokers.values() if b.alive and b.cache]
        others = {broker.cache.controller for broker in live if broker.cache} - {None}
        is_silent = any(b.id == actual for b in live) and len(others) == 1 and actual not in others
        if is_silent:
            text = f"names {actual}; all brokers name {listed([str(number) for number in others])}"
            yield _observation(kinds.CONTROLLER_IS_SILENT, "/controller", text, broker=actual)
        for broker in self.capture.brokers.values():
            yield from self._of_broker_files(broker)
            yield from self._of_broker_down(broker)
            yield from self._of_cache(broker)
            named = broker.cache.controller if broker.alive and broker.cache else None
            if named is not None and actual in self.capture.live and named != actual and not is_silent:
                text = f"names controller {named}{' (itself)' * (named == broker.id)}, ZooKeeper {actual}"
                yield _observation(
                    kinds.ANOTHER_CONTROLLER, f"broker {broker.id}", text, broker=broker.id, controller=named
                )
            observed = self.situations.of_broker(broker.id)
            for broken in self.evaluation.broken(observed.situation):
                number = None if broken.broker is None else observed.brokers[broken.broker]
                if broken.property == "running_broker_is_registered" and number == broker.id:
                    if self._is_of_another_cluster(broker.id):
                        continue
                    yield _observation(
                        kinds.UNREGISTERED, f"broker {broker.id}", "is not in /brokers/ids", broker=broker.id
                    )
                elif number is not None and number == self.node:
                    continue
                elif broken.property in kinds.NO_CONTROLLER.properties and broken.property not in seen:
                    seen.add(broken.property)
                    shown = "there is no /controller" if number is None else f"/controller names broker {number}"
                    yield _observation(kinds.NO_CONTROLLER, "/controller", shown)

    def _of_broker_down(self, broker: Broker) -> Iterator[Observation]:
        if not broker.alive and broker.id != self.node:
            yield _observation(kinds.BROKER_DOWN, f"broker {broker.id}", "does not run", broker=broker.id)

    @cached_property
    def unknown(self) -> frozenset[int]:
        """The registered brokers that none of the others answers among the live ones, the controller's among these."""
        capture = self.capture
        answers = {b.id: b.cache.brokers for b in capture.brokers.values() if b.alive and b.cache and b.cache.brokers}
        live = set(capture.live) & set(capture.registered)
        return frozenset(
            b
            for b in live - {capture.controller}
            if capture.controller in answers and not any(b in known for other, known in answers.items() if other != b)
        )

    def _of_disks(self) -> Iterator[Observation]:
        """Log directories of other brokers or clusters, whoever leads the cluster."""
        stored = {root.cluster_id for broker in self.capture.brokers.values() for root in broker.roots} - {None}
        is_gone = self.capture.shows_cluster_id and self.capture.cluster_id is None
        if is_gone and stored and self.capture.topics and not lost_topics(self.capture):  # else it is another ensemble
            text = f"is not there; log directories have {listed(sorted(map(str, stored)))}"
            yield _observation(kinds.NO_CLUSTER_ID, "/cluster/id", text)
        for owner, root in disks_of_others(self.capture):
            whose = [f"broker {root.broker_id}"] * (root.broker_id not in (None, owner))
            whose += [f"cluster {root.cluster_id}"] * (root.cluster_id not in (None, self.capture.cluster_id))
            text = f"{root.path} is of {listed(whose)}"
            if root.cluster_id not in (None, self.capture.cluster_id):
                text += f"; /cluster/id has {self.capture.cluster_id}"
            if self._is_of_another_cluster(owner):
                text += "; it runs and is not in /brokers/ids: it may be a broker of that cluster"
            yield _observation(kinds.DISK_OF_ANOTHER, f"broker {owner}", text, broker=owner)

    def _is_of_another_cluster(self, number: int) -> bool:
        """Whether a running broker is not in ZooKeeper, and its disks are those of another cluster."""
        broker = self.capture.brokers[number]
        is_foreign = bool(broker.roots) and all(root.path in broker.foreign for root in broker.roots)
        return is_foreign and broker.alive and number not in self.capture.registered

    def _of_cache(self, broker: Broker) -> Iterator[Observation]:
        """Live brokers, topics and partitions that a broker leaves out of its answers.

        One that answers with no brokers has a kind of its own. What some other broker answers with counts.
        """
        capture, cache = self.capture, broker.cache
        if not broker.alive or cache is None or not cache.brokers:
            return
        live = set(capture.live) & set(capture.registered) - self.unknown
        caches = [one.cache for one in capture.brokers.values() if one.alive and one.cache]
        lacks = [
            f"topic {topic_label(name)}"
            for name in capture.topics
            if name not in capture.deleting
            and not cache.partitions.get(name)
            and any(one.partitions.get(name) for one in caches)
        ]
        parts = [
            f"{topic_label(name)}-{number}"
            for name, topic in capture.topics.items()
            if name not in capture.deleting and (own := cache.partitions.get(name))
            for number in topic.partitions.keys() - own.keys()
            if any(number in one.partitions.get(name, ()) for one in caches)
        ]
        lacks += [*sorted(parts)[:MOST_MISSING], *[f"{len(parts) - MOST_MISSING} more"] * (len(parts) > MOST_MISSING)]
        lacks += [brokers(live - set(cache.brokers))] * (not live <= set(cache.brokers))
        if lacks:
            text = f"answers without {listed(lacks)}"
            yield _observation(kinds.STALE_METADATA, f"broker {broker.id}", text, brokers=broker.id)

    def _of_lost_topics(self) -> Iterator[Observation]:
        """Topics that ZooKeeper has lost: all, or some, where it has others of the logs."""
        lost, id_ = lost_topics(self.capture), self.capture.cluster_id or "nothing"
        if not lost:
            return
        names = topics_in_words(lost)
        again = topics_created_again(self.capture)
        if not {name for name, _ in self.situations.hosts} & {*self.capture.topics}:
            text = f"has none of the topics of the logs: {names}; /cluster/id has {id_}"
            yield _observation(kinds.TOPICS_ARE_LOST, "/brokers/topics", text, topics=" ".join(lost))
            return
        text = f"has not, of the topics of the logs: {names}; /cluster/id has {id_}"
        if again:
            text += f"; created again over earlier logs: {topics_in_words(again)}"
        one = _observation(kinds.SOME_TOPICS_ARE_LOST, "/brokers/topics", text, topics=" ".join(lost))
        yield evolve(one, certain=False)

    def _of_broker_files(self, broker: Broker) -> Iterator[Observation]:
        """A broker to which no controller has sent anything, and one that does not start with its log directories."""
        for name, paths in broker.twice.items():
            topic, _, number = name.rpartition("-")
            fields = {"topic": topic, "partition": number, "brokers": broker.id}
            text = f"broker {broker.id} has it in {listed(paths)}"
            yield _observation(kinds.TWO_DIRECTORIES, f"{topic_label(topic)}-{number}", text, **fields)
        for name in garbled_ids(self.capture, broker):
            topic, _, number = name.rpartition("-")
            fields = {"topic": topic, "partition": number, "brokers": broker.id}
            text = f"on broker {broker.id}"
            yield _observation(kinds.GARBLED_ID, f"{topic_label(topic)}-{number}", text, **fields)
        for path, name in garbled_at_start(broker):
            fields = {"brokers": broker.id, "file": name}
            yield _observation(kinds.GARBLED_CHECKPOINT, f"broker {broker.id}", f"{name} in {path}", **fields)
        assigned = (replicas for topic in self.capture.topics.values() for replicas in topic.partitions.values())
        if (
            broker.mode == "kraft"
            and broker.id not in self.capture.registered
            and any(broker.id in r for r in assigned)
        ):
            text = "is in KRaft mode, by its meta.properties or by KRaft's image"
            yield _observation(kinds.IN_KRAFT_MODE, f"broker {broker.id}", text, broker=broker.id)
        cache, capture = broker.cache, self.capture
        states = (one for topic in capture.topics.values() for one in topic.states.values())
        answered = any(b.cache for b in capture.brokers.values() if b.alive)
        is_silent = cache is None and answered and broker.alive and broker.id in capture.registered
        is_needed = broker.id == capture.controller or any(broker.id in (one.leader, *one.isr) for one in states)
        if is_silent and is_needed:
            text = "has not answered, and others have"
            yield _observation(kinds.DOES_NOT_ANSWER, f"broker {broker.id}", text, broker=broker.id)
        if broker.id in self.unknown and cache is not None and cache.brokers:
            text = "is not among the brokers that the others answer"
            yield _observation(kinds.IS_NOT_KNOWN, f"broker {broker.id}", text, broker=broker.id)
        if cache is None or cache.brokers or not broker.alive or capture.controller not in capture.registered:
            return
        if broker.id in capture.registered and capture.topics:
            text = "answers with no brokers and no topics"
            yield _observation(kinds.NO_METADATA, f"broker {broker.id}", text, broker=broker.id)

    @property
    def node(self) -> int | None:
        """The node in /controller if it is no broker, as far as is shown: it has neither registration nor replica."""
        number, capture = self.capture.controller, self.capture
        if number is None or number in capture.registered or capture.brokers[number].directories:
            return None
        assigned = {b for topic in capture.topics.values() for replicas in topic.partitions.values() for b in replicas}
        return number if capture.is_kraft or number not in assigned else None

    def _unserved_in_kraft(self) -> Iterator[Observation]:
        """Partitions of which KRaft's controller has no ISR member to elect: down, fenced, or on a failed disk.

        Or it has one, and none leads: what has no leader as it is copied gets one when a broker is unfenced. A broker
        in ZooKeeper mode reports a failed disk to ZooKeeper only, and its partitions keep leaders: until 3.6, and where
        it started with the disk (ReplicaManager.handleLogDirFailure).
        """
        for topic in topics_of_kraft(self.capture):
            for number, state in topic.states.items():
                failed = offline_replicas(self.capture, topic, number)
                if not self._is_able(topic, number, state) or state.leader in failed:
                    yield self._unserved(topic, number)
                elif state.leader is None:
                    place = _Place(topic, number, self.situations.whole(topic, number))
                    yield self._observed(kinds.NOT_ELECTED, place, _leader(place))
                elif failed:
                    text = f"{_on_failed_disks(sorted(failed))}; {_state_of(topic, number)}"
                    fields = {"topic": topic.name, "partition": number, "brokers": " ".join(map(str, sorted(failed)))}
                    yield _observation(kinds.OFFLINE_REPLICA, f"{topic_label(topic.name)}-{number}", text, **fields)

    def _is_able(self, one: Topic, number: int, state: CapturedPartitionState) -> bool:
        """Whether a partition has an ISR member to elect."""
        return bool(self.capture.electable & set(state.isr) - offline_replicas(self.capture, one, number))

    def _unserved(self, one: Topic, number: int) -> Observation:
        place = _Place(one, number, self.situations.whole(one, number))
        self.lineages(place)  # which broker may start depends on them
        return self._without_leader(place)

    def _of_migration(self) -> Iterator[Observation]:
        if self.capture.migration is None and self.capture.image is None:
            yield from self._of_controller()
        for one in migrating_prospect(self.capture).consequences:
            if one.prognosis in (Prognosis.LOSES, Prognosis.STUCK):
                yield _observation(kinds.MIGRATION_UNSAFE, one.name, one.title, consequence=one.name)
            elif one.name == "image-is-not-shown":
                yield _observation(kinds.MIGRATION_NOT_SHOWN, "KRaft", one.places[0], consequence=one.name)

    def _of_controller(self) -> Iterator[Observation]:
        if self.node is not None:
            kraft = ", a KRaft controller" if self.capture.is_kraft else ""
            text = f"names {self.node}{kraft}, which is not in /brokers/ids and has no replica"
            yield _observation(kinds.NO_BROKER_IS_CONTROLLER, "/controller", text)

    # Topics.

    def _of_names(self) -> Iterator[Observation]:
        """Marks for deletion without a topic, topics of one id, and topics of Kafka's own that are not compacted."""
        for name in self.capture.deleting:
            if name not in self.capture.topics:
                text = "is in /admin/delete_topics, and not in /brokers/topics"
                yield _observation(kinds.MARK_WITHOUT_TOPIC, topic_label(name), text, topic=name)
        for identity, names in self.capture.shared_ids.items():
            text = f"{listed([topic_label(name) for name in names])} have the id {identity}"
            yield _observation(kinds.SHARED_ID, "/brokers/topics", text, topics=" ".join(names))
        for name in COMPACTED:
            topic = self.capture.topics.get(name)
            if topic is not None and topic.has_lost_its_policy and name not in self.capture.deleting:
                is_default = topic.cleanup_policy == "default"
                text = "has no cleanup.policy of its own" if is_default else f"cleanup.policy is {topic.cleanup_policy}"
                yield evolve(_observation(kinds.NOT_COMPACTED, name, text, topic=name), certain=not is_default)

    def _of_requests(self) -> Iterator[Observation]:
        """Elections and reassignments that clients have requested, and failovers that fail at one."""
        capture, failing = self.capture, failing_failovers(self.capture)
        for (name, number), replicas in failing.items():
            asked = "/admin/preferred_replica_election names it" if (name, number) in capture.elections else "it moves"
            why = f"{brokers(replicas)} {each(replicas, 'does', 'do')} not run"
            why = "the topic is marked for deletion, so that no leader is elected" if name in capture.deleting else why
            text = f"has no state znode; {why}; {asked}"
            fields = {"topic": name, "partition": number, "brokers": " ".join(map(str, replicas))}
            yield _observation(kinds.FAILOVER_FAILS, f"{topic_label(name)}-{number}", text, **fields)
        moving = {(topic.name, number) for topic in capture.topics.values() for number in topic.moving}
        for path, waiting in (
            ("/admin/preferred_replica_election", set() if capture.elections & failing.keys() else capture.elections),
            ("/admin/reassign_partitions", capture.reassignments - moving),
        ):
            if waiting:
                names = [f"{topic_label(name)}-{number}" for name, number in sorted(waiting)]
                is_gone = all(name not in capture.topics for name, _ in waiting)
                ends = ", whose topics are gone: the next controller only removes the request" if is_gone else ""
                yield _observation(kinds.REQUEST_WAITS, path, f"names {listed(names)}{ends}")

    def _of_topic(self, topic: Topic) -> Iterator[Observation]:
        label = topic_label(topic.name)
        places: list[_Place] = []
        for partition in sorted({*topic.partitions, *topic.states}):
            observed, state = self.situations.fitting(topic, partition), topic.states.get(partition)
            is_marked = topic.name in self.capture.deleting or partition not in topic.partitions
            if observed is None and state is not None and not is_marked and not self._is_able(topic, partition, state):
                yield self._unserved(topic, partition)
            elif observed is None:
                yield _observation(kinds.NOT_JUDGED, f"{label}-{partition}", "more than 7 brokers", topic=topic.name)
            else:
                places.append(_Place(topic, partition, observed))
        if topic.name in self.capture.deleting:
            yield from self._of_deletion(topic, places)
            return
        yield from self._of_ids_not_read(topic)
        yield from self._of_unread_id(topic)
        mixed = len(self._ids_on_disk(topic, places)) > 1
        missing = False
        for place in places:
            for observation in self._of_place(place, mixed):
                if observation.kind is kinds.ID_MISSING:
                    if missing:
                        continue
                    missing = True
                yield observation
        yield from self._of_fetches(topic)
        for number in topic.unassigned:
            fields = {"topic": topic.name, "partition": number}
            text = _state_of(topic, number)
            yield _observation(kinds.NO_REPLICAS, f"{label}-{number}", text, **fields)
        for number, twice in topic.repeated.items():
            fields = {"topic": topic.name, "partition": number}
            text = f"the replicas name {brokers(twice)} more than once"
            yield _observation(kinds.REPLICAS_REPEAT, f"{label}-{number}", text, **fields)
        numbers = {*topic.partitions, *topic.states, *topic.unassigned}
        if not numbers and not any(
            hosts_of_lost(self.capture, topic, n) for t, n in self.situations.hosts if t == topic.name
        ):
            text = "the znode's partitions are empty, and no partition has a state znode"
            yield _observation(kinds.NO_PARTITIONS, label, text, topic=topic.name)
        gaps = sorted({*range(max(numbers, default=0))} - numbers)
        for number in [one for one in gaps if not hosts_of_lost(self.capture, topic, one)][:MOST_MISSING]:
            logs = [b.id for b in self.capture.hosts if f"{topic.name}-{number}" in b.directories]
            text = "not in the znode" + f"; {brokers(logs)} {each(logs, 'has', 'have')} a log" * bool(logs)
            yield _observation(kinds.NUMBER_MISSING, f"{label}-{number}", text, topic=topic.name, partition=number)
        yield from self._of_reassignment(topic)

    def _of_fetches(self, topic: Topic) -> Iterator[Observation]:
        """Sound partitions that a follower may ask for under the id of another log."""
        label = topic_label(topic.name)
        for follower, sound, others in fetched_under_another_id(self.capture, topic):
            by = f"its {each(others, 'log', 'logs')} of {listed([f'{label}-{n}' for n in others])}"
            text = f"broker {follower}, by {by}"
            for number in sound:
                fields = {"topic": topic.name, "partition": number, "brokers": follower}
                yield evolve(_observation(kinds.UNDER_ANOTHER_ID, f"{label}-{number}", text, **fields), certain=False)

    def _of_reassignment(self, topic: Topic) -> Iterator[Observation]:
        """What the reassignments of a topic wait for; a broker that is removed is not waited for."""
        label, moving = topic_label(topic.name), list[str]()
        for number in sorted(topic.moving.keys() & topic.partitions.keys()):
            now, name = reassignment_of(self.capture, topic, number), f"{label}-{number}"
            fields = {"topic": topic.name, "partition": number}
            if not topic.moving[number].target(topic.partitions[number]):
                text = f"removing_replicas has all of {brokers(topic.partitions[number])}"
                yield _observation(kinds.NO_REPLICAS, name, text, **fields)
            elif now.stuck:
                one = _observation(kinds.REASSIGNMENT_WAITS, name, f"waits for {brokers(now.stuck)}", **fields)
                yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, sorted(now.stuck)))})
            elif now.is_idle:
                yield _observation(
                    kinds.REASSIGNMENT_IDLE, name, "all replicas that it is to have are in the ISR", **fields
                )
            else:
                moving.append(name)
        if moving:
            yield _observation(kinds.REASSIGNMENT, label, listed(moving), topic=topic.name)

    def _of_deletion(self, topic: Topic, places: Iterable[_Place]) -> Iterator[Observation]:
        """A topic to be deleted: what it waits for; nothing else about it matters."""
        later = later_than_deletion(self.capture, topic)
        if later:
            yield _observation(kinds.DELETION_OF_LATER_LOGS, topic_label(topic.name), later, topic=topic.name)
            return
        hosts = {b for key, found in self.situations.hosts.items() if key[0] == topic.name for b in found}
        down, failed = deletion_waits_for(self.capture, topic, hosts)
        label = topic_label(topic.name)
        waits = [brokers(down)] if down else []
        waits += [f"a failed disk of {brokers(failed)}"] if failed else []
        waits += [f"the reassignment of {in_words(label, sorted(topic.moving))}"] if topic.moving else []
        is_served = serves_marked(self.capture, topic)
        fields = {"topic": topic.name, "brokers": " ".join(map(str, down)), "disks": " ".join(map(str, failed))}
        fields["served"] = "yes" * is_served
        if is_served and waits and not topic.moving:
            text = "is in /admin/delete_topics, and brokers answer with its leaders"
            yield _observation(kinds.DELETION_NOT_BEGUN, label, text, topic=topic.name)
        elif waits:
            yield _observation(kinds.DELETION_PENDING, label, f"waits for {listed(waits)}", **fields)
        elif any(b.property == "deletion_terminates" for p in places for b in self._broken(p)):
            yield _observation(kinds.DELETION_WAITS, label, "is in /admin/delete_topics", **fields)

    def _of_ids_not_read(self, topic: Topic) -> Iterator[Observation]:
        """Topic ids of later releases: brokers that run read none, and an upgrade compares them."""
        if has_topic_ids(self.capture.version):
            return
        held: dict[int, set[str | None]] = {}
        for number, replicas in topic.partitions.items():
            logs = (self.capture.directory(b, topic.name, number) for b in replicas)
            held[number] = {log.topic_id for log in logs if log is not None}
        known = {identity for ids in held.values() for identity in ids if identity is not None}
        is_mixed = len(known) > 1 or any(len(ids) > 1 for ids in held.values())
        if known - {topic.topic_id} or is_mixed:
            text = f"the znode has {topic.topic_id or 'no topic_id'}; logs have {listed(sorted(known))}"
            differing = [number for number, ids in held.items() if len(ids) > 1]
            text += f"; those of {in_words(topic_label(topic.name), differing)} differ" * bool(differing)
            kind = kinds.IDS_NOT_READ if is_mixed else kinds.ID_NOT_READ
            hosts = ((b, number) for number, replicas in topic.partitions.items() for b in replicas)
            is_shown = all(self.capture.shows(b, topic.name, number) for b, number in hosts)
            one = _observation(kind, topic_label(topic.name), text, topic=topic.name)
            yield evolve(one, certain=is_shown)

    def _of_unread_id(self, topic: Topic) -> Iterator[Observation]:
        """A topic without an id beside others that have one, so that controllers mint them; no disk shows its own."""
        if topic.name in may_have_lost_ids(self.capture) and any(t.topic_id for t in self.capture.topics.values()):
            text = "the znode has no topic_id, those of other topics have; whether logs have one was not read"
            one = _observation(kinds.ID_MISSING, topic_label(topic.name), text, topic=topic.name)
            yield evolve(one, certain=False)

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
        if place.topic.topic_id in self.capture.shared_ids and self.capture.controller in self.capture.live:
            by_property.pop(REFUSES, None)  # no controller has read this id (ControllerContext.addTopicId)
        if self._refuses_unnamed(place):
            by_property.setdefault(REFUSES, []).append(Broken(REFUSES))
        situation = place.observed.situation
        if situation.is_lost:
            if "no_partition_lost" in by_property and place.partition not in place.topic.unassigned:
                yield self._observed(kinds.PARTITION_LOST, place, "has a state znode only")
            return
        if not situation.has_state and not any(one.replica and one.alive for one in situation.brokers):
            down = brokers(place.topic.partitions[place.partition])
            yield self._observed(kinds.NO_LIVE_REPLICA, place, f"has no state znode; its replicas are {down}")
        ahead = self._ahead(place)
        elsewhere = records_elsewhere(self.capture, place.topic, place.partition)
        if is_behind_logs(self.capture, place.topic, place.partition):
            yield from self._of_records_elsewhere(place, elsewhere)
            yield from self._of_state_behind(place, ahead)
            yield from self._of_missing_id(place, by_property)
            return
        unserved = yield from self._of_leader(place, by_property, mixed, ahead)
        yield from self._of_failed_disks(place, unserved)
        yield from self._of_followers(place, by_property, unserved or self._is_passed_over(place))
        yield from self._of_records_elsewhere(place, elsewhere)
        live = {b: e for b, e in ahead.items() if self.capture.brokers[b].alive and _takes_part(place, b)}
        waiting = {} if unserved else self._ahead_of_leader(place, live)
        yield from self._of_earlier_logs(kinds.MEMBER_AHEAD, place, waiting)
        yield from self._about_to_be_ahead(place, waiting) if not unserved else ()
        yield from self._of_earlier_logs(kinds.EARLIER_LOG, place, {b: live[b] for b in live.keys() - waiting.keys()})
        yield from self._of_other_lineages(place, ahead)
        yield from self._of_lost_records(place)
        yield from self._of_ids(place, by_property, mixed)
        if _leads_from_outside(place):
            yield self._observed(kinds.LEADER_OUTSIDE_ISR, place, _isr(place))
        is_foreign = not _isr_is_empty(place) and not _is_of_replicas(place)
        if is_foreign and "leader_in_assignment" in by_property:
            yield self._observed(kinds.FOREIGN_ISR, place, _isr(place), by_property["leader_in_assignment"])
        if "partition_gets_a_leader" in by_property:
            found = by_property["partition_gets_a_leader"]
            yield self._observed(self._without_state(place), place, "has no state znode", found)
            served = served_as(self.capture, place.topic, place.partition)
            yield from self._of_isr_in_memory(place, served)
        known = (*by_property.get("no_stray", []), *self._strays_of_down_brokers(place))
        strays = [b for b in known if place.broker(b.broker) not in elsewhere]
        yield from self._on_brokers(kinds.STRAY_LOG, place, strays, "{} no replica")
        yield from self._of_answers(place, by_property.get("metadata_converges", []), unserved)

    def _strays_of_down_brokers(self, place: _Place) -> Iterator[Broken]:
        """Yield the brokers that are down and will start with a log of a partition of which they are no replica."""
        topic, state = place.topic, place.topic.states.get(place.partition)
        members = {*topic.partitions.get(place.partition, ()), *(state.isr if state else ())}
        for number, b in enumerate(place.observed.brokers):
            broker = self.capture.brokers[b]
            if b not in members and not broker.alive and self.capture.logs_of([b], topic.name, place.partition):
                yield Broken("no_stray", number)

    def _of_state_behind(self, place: _Place, ahead: Mapping[int, int]) -> Iterator[Observation]:
        """A state that is older than the logs, and whether the leader serves that clients are told of."""
        served = self.capture.cached(place.topic.name, place.partition)
        is_unnoticed = served is not None and served.leader_epoch >= max(ahead.values())
        kind = kinds.STATE_BEHIND_UNNOTICED if is_unnoticed else kinds.STATE_BEHIND_LOGS
        serves = serves_as_told(self.capture, place.topic, place.partition)
        for one in self._of_earlier_logs(kind, place, ahead):
            yield evolve(one, fields={**one.fields, "served": "" if serves is None else "yes" if serves else "no"})

    def _without_state(self, place: _Place) -> FindingKind:
        """Return what it is that a partition has no state znode: brokers may lead it still."""
        if lost_state(self.capture, place.topic, place.partition) is not None:
            return kinds.STATE_IS_LOST
        is_served = served_as(self.capture, place.topic, place.partition) is not None
        return kinds.WITHOUT_STATE_SERVED if is_served else kinds.WITHOUT_STATE

    def _of_answers(self, place: _Place, stale: Iterable[Broken], unserved: bool) -> Iterator[Observation]:
        """What brokers answer about a partition's leader, beside ZooKeeper."""
        known = leader_before_hand(self.capture, place.topic, place.partition)
        if known is not None:
            kind = kinds.LEADERLESS_BY_HAND if self._is_leaderless(place) else kinds.LEADER_BY_HAND
            yield self._observed(kind, place, f"{_isr(place)}; brokers answer with leader {known}")
            if kind is kinds.LEADERLESS_BY_HAND:
                yield from self._of_isr_in_memory(place, self.capture.cached(place.topic.name, place.partition))
        elif isr := isr_before_hand(self.capture, place.topic, place.partition):
            answer = f"brokers answer with ISR {listed([str(b) for b in isr])}"
            found = self._observed(kinds.ISR_BY_HAND, place, f"{_isr(place)}; {answer}")
            yield evolve(found, certain=False)  # nothing shows inter.broker.protocol.version
        elif not unserved and self._is_unknown(place):
            serving = served_as(self.capture, place.topic, place.partition)
            leads = f"; broker {serving.leader} leads at leader epoch {serving.leader_epoch}" if serving else ""
            yield self._observed(kinds.NO_BROKER_KNOWS, place, _isr(place) + leads)
        elif not unserved and place.partition in place.topic.states:
            yield from self._on_brokers(kinds.STALE_METADATA, place, stale, "{} another leader or leader epoch")

    def _of_isr_in_memory(self, place: _Place, served: CapturedMetadata | None) -> Iterator[Observation]:
        """Members of the ISR that brokers know which do not follow the leader: it cannot take them out."""
        if served is None or served.leader is None:
            return
        name, leader, following = place.topic.name, served.leader, CapturedReplica(served.leader_epoch, leads=False)
        logs = {b: self.capture.directory(b, name, place.partition) for b in place.observed.brokers}
        ids = {b: log.topic_id for b, log in logs.items() if log is not None and log.topic_id is not None}
        numbered = [(n, b) for n, b in enumerate(place.observed.brokers) if b != leader]
        members = [(n, b) for n, b in numbered if b in served.isr]
        own = ids.get(leader)
        other = [Broken("replicas_converge", n) for n, b in members if own is not None and ids.get(b, own) != own]
        # one that has caught up since is in the ISR that the leader wants, and cannot write (Partition: maximalIsr)
        wanted = [(n, b) for n, b in numbered if (log := logs[b]) is not None and log.has_epoch(served.leader_epoch)]
        for which, certain in ((members, True), ([one for one in wanted if one not in members], False)):
            known = "the ISR that brokers know" if certain else "an ISR that the leader may know"
            dead = [Broken("isr_members_live", n, certain) for n, b in which if not self.capture.brokers[b].alive]
            yield from self._on_brokers(kinds.DEAD_IN_ISR, place, dead, f"{{}} down, and in {known}")
            shown = [(n, self.capture.brokers[b].replicas.get((name, place.partition), following)) for n, b in which]
            idle = [Broken("replicas_converge", n, certain) for n, replica in shown if replica != following]
            yield from self._on_brokers(kinds.NOT_FOLLOWING, place, idle, f"{{}} in {known}")
        if fetches_by_topic_id(self.capture.version):  # before, who has fetched continues until a leader epoch rises
            text = "{} in the ISR that brokers know, with another topic id"
            yield from self._on_brokers(kinds.STALE_IN_ISR, place, other, text)

    def _of_leader(
        self, place: _Place, broken: Mapping[str, list[Broken]], mixed: bool, ahead: Mapping[int, int]
    ) -> Generator[Observation, None, bool]:
        """Yield what is wrong with the leader; return whether the partition is not served."""
        if self._is_led_by_another(place):
            spared = OF_LEADERS if self._is_leaderless(place) else {"partition_servable"}
            broken = {name: found for name, found in broken.items() if name not in spared}
        elif self._is_served_by_earlier(place):
            broken = {name: found for name, found in broken.items() if name != "partition_servable"}
        if kinds.NO_LIVE_ISR.properties[0] in broken and not is_led_from_outside(
            self.capture, place.topic, place.partition
        ):
            yield self._without_leader(place)
            return True
        bare = members_without_log(self.capture, place.topic, place.partition)
        lacking = members_lacking_records(self.capture, place.topic, place.partition)
        if "partition_servable" in broken and _has_no_live_leader(place):
            yield self._observed(kinds.NOT_ELECTED, place, _leader(place), broken["partition_servable"])
            yield from self._without_logs(place, bare)
            return True
        if "partition_servable" in broken and place.topic.states[place.partition].leader not in (*bare, *lacking):
            leader = place.topic.states[place.partition].leader
            kind, cause = kinds.LEADER_DOES_NOT_LEAD, self._in_memory(place)
            kind = kinds.LEADER_IGNORES_STATE if place.observed.situation.is_ignored else kind
            if any(place.broker(b.broker) == leader for b in broken.get("replica_id_matches_zookeeper", ())):
                foreign = _held(place) - {place.topic.topic_id}
                kind = kinds.LEADER_REFUSES if foreign else kinds.LEADER_REFUSES_IN_MEMORY
                kind = kinds.LEADER_REFUSES_MIXED if mixed else kind
                cause = f"; {self._ids(place)}"
            serves_earlier = leader in ahead or self._may_lead_on(place)
            serves_earlier &= self._hosted(place, leader) is None
            unserved = [evolve(b, certain=b.certain and not serves_earlier) for b in broken["partition_servable"]]
            yield self._observed(kind, place, _leader(place) + cause, unserved)
            return True
        if REFUSES in broken:
            text = f"{_isr(place)}; {self._ids(place)}"
            kind = kinds.FETCH_REFUSED_MIXED if mixed else kinds.FETCH_REFUSED
            kind = kinds.FETCH_REFUSED_IN_MEMORY if _forgets_ids(place) else kind
            yield self._observed(kind, place, text, broken[REFUSES])
        elif self._refuses_unread(place):
            text = f"{_isr(place)}; ZooKeeper has the id {place.topic.topic_id}"
            yield self._observed(kinds.FETCH_REFUSED_NOT_READ, place, text)
        if "isr_members_live" in broken:
            dead = [one for one in broken["isr_members_live"] if not _is_offline(place, one.broker)]
            yield from self._on_brokers(kinds.DEAD_IN_ISR, place, dead, "{} down, and in the ISR")
        yield from self._without_logs(place, bare)
        return False

    def _of_lacking_members(self, place: _Place) -> Iterator[Observation]:
        """ISR members, and leaders, whose logs lack records of other replicas."""
        found = members_lacking_records(self.capture, place.topic, place.partition)
        if not found:
            return
        leader = place.topic.states[place.partition].leader
        leads = leader in found and self.capture.brokers[leader].alive
        logs = {b: self.capture.directory(b, place.topic.name, place.partition) for b in place.brokers}
        ends = {b: log.end for b, log in logs.items() if log is not None and b in found}
        having = sorted({b for others in found.values() for b in others})
        marks = [log.high_watermark or 0 for b, log in logs.items() if log is not None and b in having]
        lacks = {b: "lacks leader epochs" if end is None else f"ends at {end}" for b, end in ends.items()}
        missed = missed_by_members(self.capture, place.topic, place.partition)
        firsts = {b: min(missed[b].values()) for b, end in ends.items() if b in missed and end is None}
        lacks |= {b: f"lacks records from offset {one.offset} on{one.condition}" for b, one in firsts.items()}
        lacks |= dict.fromkeys(found.keys() - lacks.keys(), "is gone")
        shown = listed([f"the log of broker {b} {lack}" for b, lack in lacks.items()])
        are_committed = max(marks) > min((end or 0 for end in ends.values()), default=0)
        more = "committed records" if are_committed else "records"
        kind = kinds.LEADER_LACKS_RECORDS if leads else kinds.MEMBER_LACKS_RECORDS
        one = self._observed(
            kind, place, f"{shown}, and {brokers(having)} {each(having, 'has', 'have')} {more} beyond; {_isr(place)}"
        )
        fields = {"brokers": " ".join(map(str, found)), "having": " ".join(map(str, having))}
        yield evolve(one, fields={**one.fields, **fields}, certain=are_committed and None not in ends.values())

    def _without_logs(self, place: _Place, members: Iterable[int]) -> Iterator[Observation]:
        emptied = members_lacking_records(
            self.capture, place.topic, place.partition
        )  # whose processes have none either
        bare = [b for b in members if b not in emptied]
        if bare:
            one = self._observed(
                kinds.ISR_MEMBER_HAS_NO_LOG, place, f"{_isr(place)}; not on the disks of {brokers(bare)}"
            )
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, bare))}, certain=False)

    def _is_unknown(self, place: _Place) -> bool:
        """Whether all brokers, the controller's among them, answer clients with earlier epochs, or no leader."""
        state, known = (
            place.topic.states.get(place.partition),
            self.capture.all_cached(place.topic.name, place.partition),
        )
        controller = self.capture.brokers.get(-1 if self.capture.controller is None else self.capture.controller)
        is_asked = controller is not None and controller.alive and controller.cache is not None
        return (
            state is not None
            and is_asked
            and all(one.leader_epoch < state.leader_epoch or one.leader is None for one in known)
            and bool(known)
        )

    def _is_passed_over(self, place: _Place) -> bool:
        """Whether the leader that the state names leads nobody, and another one, or none, does."""
        return self._is_leaderless(place) or self._is_served_by_earlier(place)

    def _is_served_by_earlier(self, place: _Place) -> bool:
        """Whether no broker knows the leader in ZooKeeper, and all ISR members have in memory what brokers answer."""
        served = served_as(self.capture, place.topic, place.partition)
        if served is None or not self._is_unknown(place) or served.leader == place.topic.states[place.partition].leader:
            return False
        key, isr = (place.topic.name, place.partition), place.topic.states[place.partition].isr
        wanted = {b: CapturedReplica(served.leader_epoch, leads=b == served.leader) for b in {*isr, *served.isr}}
        return all(self.capture.brokers[b].replicas.get(key) == replica for b, replica in wanted.items())

    def _hosted(self, place: _Place, broker: int | None) -> tuple[int, bool] | None:
        """Return what a broker has in memory of a partition, see `BrokerSituation`; None if it is not shown."""
        numbers = (place.observed.brokers.index(b) for b in place.observed.brokers if b == broker)
        return next((place.observed.situation.brokers[number].hosted for number in numbers), None)

    def _in_memory(self, place: _Place) -> str:
        """Return what the leader in ZooKeeper has in memory of a partition, as the end of a sentence."""
        state, key = place.topic.states[place.partition], (place.topic.name, place.partition)
        shown = {} if state.leader is None else self.capture.brokers[state.leader].replicas
        if key not in shown:
            return ""
        found = shown[key]
        if found is None or found.leader_epoch < 0:
            return "; it has taken up no leader epoch since it started"
        role = "leads" if found.leads else "follows"
        return f"; in memory it {role} at leader epoch {found.leader_epoch}, ZooKeeper has {state.leader_epoch}"

    def _may_lead_on(self, place: _Place) -> bool:
        """Whether a leader that refuses the topic may lead the log of an earlier one at the same leader epoch.

        It does unless it has restarted since. A leader since 3.1 refuses the fetches, which name the topic's id.
        """
        state = place.topic.states[place.partition]
        if state.leader is None or fetches_by_topic_id(self.capture.version) or not place.refuses_all(state.leader):
            return False
        directory = self.capture.directory(state.leader, place.topic.name, place.partition)
        return directory is not None and bool(directory.has_epoch(state.leader_epoch))

    def _without_leader(self, place: _Place) -> Observation:
        """Return why a partition has no leader, as no broker of its ISR serves it."""
        known = place.observed.situation.brokers
        live = [str(b) for b in place.brokers if place.is_live_replica(b)]
        text = f"{_isr(place)}{USED_FOR.get(place.topic.name, '')}"
        if any(one.offline and one.in_isr for one in known):
            failed = [place.observed.brokers[n] for n, one in enumerate(known) if one.offline]
            return self._observed(kinds.OFFLINE_LOG, place, f"{_on_failed_disks(failed)}; {text}")
        if _isr_is_empty(place):
            return self._observed(kinds.EMPTY_ISR, place, f"{text}; live replicas: {listed(live)}")
        same = same_disks(self.capture, place.topic, place.partition)
        if same:
            has = listed([f"broker {b} has a log of it, perhaps that of broker {old}" for b, old in same.items()])
            return self._observed(kinds.ANOTHER_ID, place, f"{text}; {has}")
        return self._observed(kinds.NO_LIVE_ISR, place, text)

    def _of_failed_disks(self, place: _Place, unserved: bool) -> Iterator[Observation]:
        """A replica on a failed disk of a partition that has a leader; and what else its ISR means."""
        known = enumerate(place.observed.situation.brokers)
        failed = [place.observed.brokers[number] for number, one in known if one.offline]
        if failed and (not unserved or _isr_is_empty(place)):
            kind = kinds.OFFLINE_LOG if unserved else kinds.OFFLINE_REPLICA
            one = self._observed(kind, place, f"{_on_failed_disks(failed)}; {_isr(place)}")
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, failed))})
        repeated = place.topic.states[place.partition].repeated if place.partition in place.topic.states else ()
        if repeated:
            yield self._observed(kinds.ISR_REPEATS, place, f"the ISR names {brokers(repeated)} more than once")
        yield from self._of_settings(place, unserved)

    def _of_settings(self, place: _Place, unserved: bool) -> Iterator[Observation]:
        """What min.insync.replicas and unclean.leader.election.enable make of the ISR."""
        topic, number = place.topic, place.partition
        needed = None if unserved or _has_no_live_leader(place) else is_refused(self.capture, topic, number)
        if needed is not None:
            text = f"{_isr(place)}; {MIN_IN_SYNC} {needed.owner} is {needed.number}{USED_FOR.get(topic.name, '')}"
            yield evolve(self._observed(kinds.BELOW_MIN_ISR, place, text), certain=needed.certain)
        if outsiders := elects_outsiders(self.capture, topic, number):
            one = self._observed(kinds.UNCLEAN_AHEAD, place, f"{_isr(place)}; it may elect {brokers(outsiders, 'or')}")
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, outsiders))})

    def _of_other_lineages(self, place: _Place, ahead: Mapping[int, int]) -> Iterator[Observation]:
        """Logs of other topics: in the ISR, on brokers that are down, and logs that any topic of the name takes."""
        lineages = self.lineages(place)
        state = place.topic.states.get(place.partition)
        misnamed = needing_their_names(self.capture, place.topic, place.partition)
        for b in misnamed:
            text = f"broker {b} is down{of_misnamed(self.capture, place.topic, place.partition, b)}"
            yield evolve(one_ := self._observed(kinds.MISNAMED, place, text), fields={**one_.fields, "brokers": str(b)})
        held = [
            b
            for b in (state.isr if state else ())
            if b in lineages.logs and self.capture.brokers[b].seen and not place.refuses_all(b) and b not in misnamed
        ]
        for one, other in combinations(held, 2):
            found = differing(lineages, one, other)
            if found:
                begins = (of_misnamed(self.capture, place.topic, place.partition, b) for b in (one, other))
                text = f"brokers {one} and {other}: {found}{next(filter(None, begins), '')}; {_isr(place)}"
                yield self._observed(kinds.DIVERGED, place, text)
                break
        if state is None:
            return
        yield from self._of_other_logs_down(place, lineages, ahead)
        foreign = self._foreign(place)
        keeps = own_choices(self.capture, lineages, place.topic, place.partition)[0].keeps if foreign else ()
        for b, fact in foreign.items():
            text = f"broker {b} is up and not in the ISR; its log is no copy of the others: {fact}"
            named = of_misnamed(self.capture, place.topic, place.partition, b)
            is_kept = any(is_of_another_leader(lineages.logs[b], lineages.logs[kept]) for kept in keeps)
            text += named or ANOTHER_LEADER * is_kept
            one_ = self._observed(kinds.REPLICA_OF_ANOTHER, place, text)
            yield evolve(one_, fields={**one_.fields, "brokers": str(b)})
        yield from self._without_ids(place, lineages, foreign)

    def _of_other_logs_down(self, place: _Place, lineages: Lineages, ahead: Mapping[int, int]) -> Iterator[Observation]:
        """Logs of other topics, or with another id, on brokers that are down."""
        epoch_of_state, isr = place.topic.states[place.partition].leader_epoch, place.topic.states[place.partition].isr
        hosts = [b for b in lineages.logs if b in place.topic.partitions.get(place.partition, ())]
        down = [b for b in hosts if not self.capture.brokers[b].alive and self.capture.brokers[b].seen]
        down = [b for b in down if b not in needing_their_names(self.capture, place.topic, place.partition)]
        if not down:
            return
        keeps = own_choices(self.capture, lineages, place.topic, place.partition)[0].keeps
        live_ids = {log.topic_id for b, log in lineages.logs.items() if place.is_live_replica(b)}
        for b in down:
            log = lineages.logs[b]
            is_other = None not in (log.topic_id, place.topic.topic_id) and log.topic_id != place.topic.topic_id
            apart = next((found for kept in keeps if (found := differing(lineages, b, kept))), "")
            is_unidentified = bool(apart) and (log.topic_id is None or not self._checks_ids(place.topic))
            is_kept = b not in isr and any(is_of_another_leader(log, lineages.logs[kept]) for kept in keeps)
            is_unidentified |= is_kept or (b not in isr and any(beginning_apart(lineages, b, kept) for kept in keeps))
            if b not in keeps and (is_other or is_unidentified or b in ahead):
                fact = lineages.earlier.get(lineages.group_of(b) or 0, "") if is_other else apart
                owner = other_topic_of(self.capture, place.topic, log.topic_id or "")
                of = f" of topic {topic_label(owner)}" if owner else ""
                shown = f"its log has the topic id {log.topic_id}{of}, ZooKeeper has {place.topic.topic_id}"
                if is_unidentified:
                    shown = (
                        f"its log {'has no topic id, and ' * (log.topic_id is None)}is no copy of the others: {apart}"
                    )
                    named = of_misnamed(self.capture, place.topic, place.partition, b)
                    is_kept = is_kept and not named
                    shown += named or ANOTHER_LEADER * is_kept
                epoch = f"; it has leader epoch {ahead[b]}, ZooKeeper {epoch_of_state}" if b in ahead else ""
                one_ = self._observed(kinds.DOWN_WITH_ANOTHER_LOG, place, f"broker {b} is down; {shown}{epoch}")
                own = {"brokers": str(b), "own": "yes" * is_kept}
                yield evolve(one_, fields={**one_.fields, **own}, certain=bool(fact) or b in ahead)
            elif b in keeps and is_other and log.topic_id not in live_ids and has_topic_ids(self.capture.version):
                shown = f"its partition.metadata has the topic id {log.topic_id}, ZooKeeper {place.topic.topic_id}"
                one_ = self._observed(kinds.DOWN_WITH_ANOTHER_ID, place, f"broker {b} is down; {shown}")
                yield evolve(one_, fields={**one_.fields, "brokers": str(b)})

    def _checks_ids(self, topic: Topic) -> bool:
        """Whether brokers compare the ids of the topic's logs with that of a request."""
        return topic.topic_id is not None and has_topic_ids(self.capture.version)

    def _foreign(self, place: _Place) -> dict[int, str]:
        """Return the live replicas outside the ISR whose logs are no copies of those that the partition has.

        A replica that refuses the topic is left out, and one that truncates where it differs from the leader's log.
        """
        state, topic, number = place.topic.states.get(place.partition), place.topic, place.partition
        outside = [b for b in topic.partitions.get(number, ()) if state and b not in (state.leader, *state.isr)]
        outside = [b for b in outside if place.is_live_replica(b) and self.capture.brokers[b].seen]
        logs = {b: log for b in outside if (log := self.capture.directory(b, topic.name, number)) is not None}
        is_checked = self._checks_ids(topic)
        taken = [b for b, log in logs.items() if not is_checked or log.topic_id in (None, topic.topic_id)]
        if not taken:
            return {}
        lineages = self.lineages(place)
        keeps = own_choices(self.capture, lineages, topic, number)[0].keeps
        facts = {b: next(filter(None, (beginning_apart(lineages, b, k) for k in keeps)), "") for b in taken}
        return {b: fact for b, fact in facts.items() if fact and b not in keeps}

    def _of_records_elsewhere(self, place: _Place, facts: Mapping[int, str]) -> Iterator[Observation]:
        for b, fact in facts.items():
            one = self._observed(kinds.RECORDS_ELSEWHERE, place, f"broker {b}: {fact}; {_isr(place)}")
            log = self.capture.directory(b, place.topic.name, place.partition)
            is_shown = log is not None and log.topic_id is not None
            yield evolve(one, fields={**one.fields, "brokers": str(b)}, certain=is_shown)

    def _of_lost_records(self, place: _Place) -> Iterator[Observation]:
        """Records that the leader lacks, or that it would truncate if an ISR member without them led."""
        yield from self._of_lacking_members(place)
        chosen, state = next_leader(self.capture, place.topic, place.partition), place.topic.states.get(place.partition)
        whose = (
            "the leader's" if state and chosen == state.leader else f"that of broker {chosen}, which is elected next,"
        )
        for b, lost in lost_records(self.capture, place.topic, place.partition).items():
            log = self.capture.directory(b, place.topic.name, place.partition)
            watermark = None if log is None else log.high_watermark
            is_shown = watermark is not None and watermark > lost.offset
            committed = "committed " * is_shown
            text = f"broker {b} has {committed}records from offset {lost.offset} on, where its log and {whose} differ"
            unknown = "" if is_shown else "; its high watermark is not shown"
            if watermark is not None and not is_shown:
                unknown = f"; its high watermark, {watermark}, does not show that they were committed"
            one = self._observed(kinds.RECORDS_ARE_LOST, place, f"{text}{lost.condition}; {_isr(place)}{unknown}")
            yield evolve(one, fields={**one.fields, "brokers": str(b)}, certain=is_shown)

    def _without_ids(self, place: _Place, lineages: Lineages, foreign: Collection[int]) -> Iterator[Observation]:
        """Logs without an id, but foreign ones; before 3.0 a log gets one with the second LeaderAndIsr request only."""
        known = self.capture.brokers
        if place.topic.topic_id is None or not assigns_ids_at_once(self.capture.version):
            return
        seen = [
            b
            for b, log in lineages.logs.items()
            if log.topic_id is None
            and not log.is_garbled
            and f"{place.topic.name}-{place.partition}" not in known[b].assumed
            and known[b].alive
            and known[b].seen
            and place.is_live_replica(b)
            and b not in foreign
            and not may_hold_another_id(self.capture, place.topic, place.partition, b)
        ]
        if seen:
            text = f"on {brokers(seen)}; the topic has the id {place.topic.topic_id}"
            one = self._observed(kinds.LOG_WITHOUT_ID, place, text)
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, seen))})

    def logs(self, observations: Iterable[Observation]) -> dict[tuple[str, int], PartitionLogs]:
        """Return what the logs of partitions with findings are, by topic and partition."""
        found: dict[tuple[str, int], PartitionLogs] = {}
        for one in observations:
            key = one.fields.get("topic", ""), int(one.fields.get("partition", -1))
            topic = self.capture.topics.get(key[0])
            if topic is not None and key[1] >= 0 and key in self._lineages:
                lineages = self._lineages[key]
                found[key] = PartitionLogs(topic, key[1], lineages, own_choices(self.capture, lineages, topic, key[1]))
        return found

    def lineages(self, place: _Place) -> Lineages:
        """Return which logs of a partition are related."""
        key = place.topic.name, place.partition
        if key not in self._lineages:
            self._lineages[key] = self.situations.lineages(place.topic, place.partition, place.brokers)
        return self._lineages[key]

    def _of_followers(self, place: _Place, broken: Mapping[str, list[Broken]], unserved: bool) -> Iterator[Observation]:
        known = place.observed.situation
        behind = broken.get("replicas_converge", [])
        outside = [b for b in behind if b.broker is not None and not known.brokers[b.broker].in_isr]
        outside = [b for b in outside if b.broker is not None and not known.brokers[b.broker].leads]
        inside = [b for b in behind if b.broker is None or known.brokers[b.broker].in_isr]
        inside = [b for b in inside if b.certain and _refuses(place, b.broker)]
        refusing = [b for b in outside if _refuses(place, b.broker)]
        foreign = self._foreign(place)
        having = self._truncating(place)
        late = [b for b in outside if b not in refusing and place.broker(b.broker) not in {*foreign, *having}]
        if not unserved:
            yield from self._on_brokers(
                kinds.REPLICA_REFUSES, place, refusing, "{} out of the ISR, with another topic id"
            )
            yield from self._on_brokers(kinds.STALE_IN_ISR, place, inside, "{} in the ISR, with another topic id")
            judged = () if self._is_led_by_another(place) else behind  # those follow the one that brokers know
            idle = [b for b in judged if b not in (*outside, *inside) and self._is_idle(place, b)]
            yield from self._on_brokers(kinds.NOT_FOLLOWING, place, idle, "{} in the ISR")
            without = replicas_without_log(self.capture, place.topic, place.partition)
            bare = [b for b in late if place.broker(b.broker) in without]
            by_hand = isr_before_hand(self.capture, place.topic, place.partition)
            late = [b for b in late if b not in bare and place.broker(b.broker) not in by_hand]
            yield from self._on_brokers(kinds.REPLICA_HAS_NO_LOG, place, bare, "{} not in the ISR")
            joining = () if REFUSES in broken else late  # the leader refuses their fetches, or the ISR with its id
            yield from self._on_brokers(kinds.CATCHING_UP, place, joining, "{} not in the ISR")

    def _is_led_by_another(self, place: _Place) -> bool:
        """Whether brokers know a live leader that the state, which a hand wrote, does not name."""
        return leader_before_hand(self.capture, place.topic, place.partition) is not None

    def _is_leaderless(self, place: _Place) -> bool:
        """Whether the state names no leader, or a hand has made one of a later epoch than brokers know, and down."""
        state, known = place.topic.states.get(place.partition), self.capture.cached(place.topic.name, place.partition)
        is_later = state is not None and known is not None and known.leader_epoch < state.leader_epoch
        return _has_no_leader(place) or (is_later and self._is_led_by_another(place) and _has_no_live_leader(place))

    def _is_idle(self, place: _Place, broken: Broken) -> bool:
        """Whether a broker that is not as the state says is a live member of the ISR, which says so itself."""
        one = None if broken.broker is None else place.observed.situation.brokers[broken.broker]
        return one is not None and one.in_isr and one.alive and not one.leads and one.hosted not in (None, (0, False))

    def _truncating(self, place: _Place) -> set[int]:
        """Return the replicas with records that the leader lacks: they lose them when they follow it."""
        topic, number = place.topic, place.partition
        leader = topic.states[number].leader if number in topic.states else None
        lacking = members_lacking_records(self.capture, topic, number)
        return {*lost_records(self.capture, topic, number), *(() if leader is None else lacking.get(leader, ()))}

    def _of_earlier_logs(self, kind: FindingKind, place: _Place, ahead: Mapping[int, int]) -> Iterator[Observation]:
        if ahead:
            epochs = listed([f"broker {b} has {epoch}" for b, epoch in ahead.items()])
            epoch = place.topic.states[place.partition].leader_epoch
            one = self._observed(kind, place, f"{epochs}; ZooKeeper's leader epoch is {epoch}")
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, ahead))})

    def _about_to_be_ahead(self, place: _Place, ahead: Collection[int]) -> Iterator[Observation]:
        """ISR members that copy records of later leader epochs from a leader whose checkpoint has lost these.

        The leader refuses what they fetch next: seen on 2.8.2.
        """
        topic, state = place.topic, place.topic.states.get(place.partition)
        if state is None or state.leader is None or not refuses_later_epochs(self.capture.version):
            return
        log = self.capture.directory(state.leader, topic.name, place.partition)
        before = None if log is None else log.lost_epochs_before
        if log is None or before is None or log.topic_id in (None, topic.topic_id):
            return
        logs = {b: self.capture.directory(b, topic.name, place.partition) for b in state.isr if b != state.leader}
        lacking = [b for b, one in logs.items() if one is not None and b not in ahead and one.least_end < before]
        if lacking:
            text = f"the log of leader {state.leader} has lost its leader epochs before offset {before}"
            one = self._observed(kinds.MEMBER_AHEAD, place, f"{text}, and {brokers(lacking)} copy records from before")
            yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, lacking))}, certain=False)

    def _ahead_of_leader(self, place: _Place, ahead: Mapping[int, int]) -> dict[int, int]:
        """Return the ISR members whose fetches the leader refuses, as their logs have later leader epochs."""
        state = place.topic.states.get(place.partition)
        if state is None or state.leader in ahead or not refuses_later_epochs(self.capture.version):
            return {}
        return {b: epoch for b, epoch in ahead.items() if b in state.isr}

    def _ahead(self, place: _Place) -> dict[int, int]:
        """Return the last leader epoch by broker where it is above ZooKeeper's, which no log of the topic has."""
        return epochs_ahead(self.capture, place.topic, place.partition, place.brokers)

    def _of_missing_id(self, place: _Place, broken: Mapping[str, list[Broken]]) -> Iterator[Observation]:
        """A topic whose znode has lost the id that replicas, or the controller, have."""
        held, sent = _held(place), _sent(place)
        is_next = self.capture.controller not in self.capture.live and has_topic_ids(self.capture.version)  # it mints
        is_missing = "topic_has_an_id" in broken or (is_next and place.topic.topic_id is None)
        if is_missing and (held or sent):
            known = [f"replicas have {listed(sorted(held))}"] * bool(held) + [f"the controller has {sent}"] * bool(sent)
            known = [f"replicas and the controller have {sent}"] if held == {sent} else known
            text = f"the znode has no topic_id; {listed(known)}"
            yield _observation(kinds.ID_MISSING, topic_label(place.topic.name), text, topic=place.topic.name)

    def _of_ids(self, place: _Place, broken: Mapping[str, list[Broken]], mixed: bool) -> Iterator[Observation]:
        sent = _sent(place)
        yield from self._of_missing_id(place, broken)
        is_led, members = not _has_no_live_leader(place), enumerate(place.observed.situation.brokers)
        earlier = {n for n, one in members if one.earlier and one.in_isr} if is_led else ()
        differing = [b for b in broken.get("replica_id_matches_zookeeper", []) if b.broker not in earlier]
        worse = {"partition_servable", REFUSES} if is_led else {REFUSES}
        if differing and worse.isdisjoint(broken):
            kind = kinds.IDS_MIXED if mixed else kinds.ID_DIFFERS
            kind = kinds.ID_DIFFERS_IN_MEMORY if _forgets_ids(place) else kind
            yield from self._on_brokers(kind, place, differing, f"{{}}; {self._ids(place)}")
        if "context_agrees" in broken and sent is not None and place.topic.topic_id not in (None, sent):
            text = f"sends {sent}; ZooKeeper has {place.topic.topic_id}"
            yield self._observed(kinds.ID_SENT, place, text)

    def _refuses_unread(self, place: _Place) -> bool:
        """Whether the leader refused a fetch by ZooKeeper's topic id, and nothing shows which one its file has."""
        state = place.topic.states.get(place.partition)
        if state is None or state.leader is None or self.capture.shows(state.leader, place.topic.name, place.partition):
            return False
        return agrees_in_memory(self.capture, place.topic, place.partition, state.leader) is False

    def _refuses_unnamed(self, place: _Place) -> bool:
        """Whether a broker that believes that it leads refuses fetches by topic id, where ZooKeeper names no leader."""
        name, state = place.topic.name, place.topic.states.get(place.partition)
        if (state is not None and state.leader is not None) or not fetches_by_topic_id(self.capture.version):
            return False
        for number in self.capture.live:
            cache, log = self.capture.brokers[number].cache, self.capture.directory(number, name, place.partition)
            own = cache.partitions.get(name, {}).get(place.partition) if cache else None
            if cache is not None and own is not None and own.leader == number:
                agrees = agrees_in_memory(self.capture, place.topic, place.partition, number)
                held, asked = log.topic_id if log else None, cache.topic_ids.get(name)
                return agrees is False or (agrees is None and None not in (held, asked) and held != asked)
        return False

    def _ids(self, place: _Place) -> str:
        """Describe the topic ids of ZooKeeper and of the files of replicas that the snapshot shows."""
        shown = files_of(self.capture, place.topic, place.partition)
        held = {identity for identity in shown.values() if identity is not None}
        files = f"partition.metadata {listed(sorted(held))}" if held else "no partition.metadata"
        own = f"the id {place.topic.topic_id}" if place.topic.topic_id else "no id"
        unread = [b for b in place.topic.partitions.get(place.partition, ()) if not self._shows(b, place)]
        return f"ZooKeeper has {own}, {files}" + f"; that of {brokers(unread)} was not read" * bool(unread)

    def _shows(self, broker: int, place: _Place) -> bool:
        return self.capture.shows(broker, place.topic.name, place.partition)

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
        known = sorted(place.observed.named(one.broker for one in found if one.broker is not None))
        if not known:
            return
        verb = VERBS[kind.name][len(known) > 1]
        one = self._observed(kind, place, text.format(f"{brokers(known)} {verb}"), found)
        yield evolve(one, fields={**one.fields, "brokers": " ".join(map(str, known))})

    # Directories without a topic.

    def _of_orphans(self) -> Iterator[Observation]:
        for name, by_partition in self.situations.orphaned().items():
            topic = self.capture.topics.get(name) or Topic(name, {}, None, 3, 0)
            exists = name in self.capture.topics
            for partition in by_partition:
                find = self.situations.of if exists else self.situations.whole  # which no model evaluates
                observed = find(topic, partition)
                if observed is None or (name in self.capture.deleting and name in self.capture.topics):
                    continue
                place = _Place(topic, partition, observed)
                hosts = hosts_of_lost(self.capture, topic, partition)
                if hosts:
                    text = f"{brokers(hosts)} {'has' if len(hosts) == 1 else 'have'} its directory"
                    logs = [self.capture.directory(b, name, partition) for b in hosts]
                    is_own = any(log is not None and log.topic_id is not None for log in logs)
                    is_own &= topic.topic_id is None or any(log and log.topic_id == topic.topic_id for log in logs)
                    yield evolve(self._observed(kinds.LOGS_ONLY, place, text), certain=is_own)
                    continue
                if exists:
                    stray = [b for b in self._broken(place) if b.property == "no_stray"]
                    yield from self._on_brokers(kinds.STRAY_LOG, place, stray, "{} no replica")
                else:  # also on brokers that are down: a deletion waits for them
                    orphans = [Broken("no_stray", observed.brokers.index(b)) for b in by_partition[partition]]
                    text = f"{{}} its directory{CREATED_AGAIN.get(name, '')}"
                    yield from self._on_brokers(kinds.ORPHANED_LOG, place, orphans, text)

    def _of_logs_aside(self) -> Iterator[Observation]:
        """Logs that brokers renamed to -stray in a migration, of which no ISR member has a copy."""
        for one in set_aside_logs(self.capture):
            topic = self.capture.topics.get(one.topic)
            state = topic.states.get(one.partition) if topic else None
            if one.origin is not LogOrigin.OPEN or not one.name.endswith("-stray") or (topic and state is None):
                continue
            logs = [self.capture.directory(b, one.topic, one.partition) for b in (state.isr if state else ())]
            if topic is None or not any(log and self._has_all(log, one.directory, topic) for log in logs):
                name = f"{topic_label(one.topic)}-{one.partition}"
                known = f"the topic has the id {topic.topic_id}" if topic else "the topic does not exist"
                text = f"{printable(one.name, 300)} on broker {one.broker}; {known}"
                fields = {"topic": one.topic, "partition": one.partition, "brokers": one.broker}
                yield _observation(kinds.LOG_SET_ASIDE, name, text, **fields)

    def _of_copies(self) -> Iterator[Observation]:
        """Copies that brokers move between log directories, or are about to delete."""
        for broker in self.capture.brokers.values():
            for name, aside in broker.set_aside.items():
                label, _, number = name.rpartition(".")[0].rpartition("-")
                if name.endswith("-stray") or not number.isdecimal() or label in self.capture.deleting:
                    continue
                topic = self.capture.topics.get(label) or Topic(label, {}, None, 3, 0)
                is_last = (broker.id, name) in last_copies_aside(self.capture, topic, int(number))
                is_moving = name.endswith("-future")
                if is_moving:
                    kind = kinds.LAST_COPY_MOVES if is_last else kinds.MOVES_BETWEEN_DIRECTORIES
                elif is_last and topic.partitions:
                    kind = kinds.LAST_COPY_IS_DELETED
                else:
                    continue
                text = f"{printable(name, 300)} on broker {broker.id}" + f", in {aside.root}" * bool(aside.root)
                fields = {"topic": label, "partition": number, "brokers": broker.id, "directory": name}
                one = _observation(kind, f"{topic_label(label)}-{number}", text, **fields)
                yield evolve(one, certain=not is_last or bool(topic.partitions))

    @staticmethod
    def _has_all(log: Directory, aside: Directory, topic: Topic) -> bool:
        """Whether a log has all records of another one, as far as is shown."""
        relation = compare(log, aside).relation
        return relation in (Relation.SAME, Relation.PREFIX) and log.least_end >= aside.least_end


VERBS = {
    kinds.STRAY_LOG.name: ("has its directory and is", "have its directory and are"),
    kinds.ORPHANED_LOG.name: ("has", "have"),
    kinds.STALE_METADATA.name: ("answers clients with", "answer clients with"),
    kinds.DEAD_IN_ISR.name: ("is", "are"),
    kinds.REPLICA_REFUSES.name: ("stays", "stay"),
    kinds.STALE_IN_ISR.name: ("stays", "stay"),
    kinds.NOT_FOLLOWING.name: ("does not follow, and is", "do not follow, and are"),
    kinds.CATCHING_UP.name: ("is", "are"),
    kinds.REPLICA_HAS_NO_LOG.name: ("has no log, or an empty one, and is", "have no log, or empty ones, and are"),
    kinds.ID_DIFFERS.name: ("differs", "differ"),
    kinds.ID_DIFFERS_IN_MEMORY.name: ("has another in memory", "have another in memory"),
    kinds.IDS_MIXED.name: ("differs", "differ"),
}
"""By kind, the verb for one broker and for several."""


USED_FOR = {
    "__consumer_offsets": "; consumer groups whose offsets are in it get COORDINATOR_NOT_AVAILABLE",
    "__transaction_state": "; transactional producers whose ids are in it get COORDINATOR_NOT_AVAILABLE, and consumers "
    "with read_committed wait for their open transactions",
}
"""What a partition of Kafka's own topics without a leader means to clients."""
CREATED_AGAIN = {
    "__consumer_offsets": "; brokers create the topic again as a group asks for its coordinator: what groups have "
    "committed is in this log",
    "__transaction_state": "; brokers create the topic again as a transactional producer asks for its coordinator: the "
    "state of transactions is in this log",
}
"""What becomes of Kafka's own topics without znodes.

Kafka: KafkaApis.getCoordinator, AutoTopicCreationManager.createTopics; up to 2.7 KafkaApis.getOrCreateInternalTopic.
"""


def beginning_apart(lineages: Lineages, one: int, other: int) -> str:
    """Return what shows that two logs did not begin as one; nothing if nothing does."""
    groups = lineages.group_of(one), lineages.group_of(other)
    fact = differing(lineages, one, other)
    first, second = lineages.logs[one], lineages.logs[other]
    is_apart = groups[0] != groups[1] or begin_apart(first, second)
    return fact if is_apart else ""


def differing(lineages: Lineages, one: int, other: int) -> str:
    """Return what shows that two logs have different records; nothing if nothing does."""
    groups = lineages.group_of(one), lineages.group_of(other)
    if groups[0] != groups[1]:
        return lineages.unrelated.get(frozenset(g for g in groups if g is not None), "")
    found = compare(lineages.logs[one], lineages.logs[other])
    return found.fact if found.relation is Relation.DIVERGED else ""


def _on_failed_disks(failed: Sequence[int]) -> str:
    return f"the log is on a failed disk of {brokers(failed)}, which run{'s' * (len(failed) == 1)}"


def _has_no_live_leader(place: _Place) -> bool:
    return not any(one.leads and one.alive for one in place.observed.situation.brokers)


def _has_no_leader(place: _Place) -> bool:
    """Whether the partition's state names no leader."""
    state = place.topic.states.get(place.partition)
    return state is not None and state.leader is None


def _leads_from_outside(place: _Place) -> bool:
    """Whether a leader that lives is not in the ISR, which is not empty."""
    known = place.observed.situation.brokers
    return not _isr_is_empty(place) and any(one.leads and one.alive and not one.in_isr for one in known)


def _is_of_replicas(place: _Place) -> bool:
    """Whether the leader and all ISR members are replicas."""
    return all(one.replica for one in place.observed.situation.brokers if one.leads or one.in_isr)


def _takes_part(place: _Place, broker: int) -> bool:
    """Whether a broker is a replica, leads, or is in the ISR; on others the log of an earlier topic is a stray."""
    one = place.observed.situation.brokers[place.observed.brokers.index(broker)]
    return one.replica or one.leads or one.in_isr


def _isr_is_empty(place: _Place) -> bool:
    state = place.topic.states.get(place.partition)
    return state is not None and not state.isr


def _is_offline(place: _Place, number: int | None) -> bool:
    return number is not None and place.observed.situation.brokers[number].offline


def _observation(kind: FindingKind, subject: str, detail: str, **fields: object) -> Observation:
    return Observation(kind, subject, detail, {name: str(value) for name, value in fields.items()})


def _isr(place: _Place) -> str:
    return _state_of(place.topic, place.partition)


def _state_of(topic: Topic, number: int) -> str:
    state = topic.states.get(number)
    if state is None:
        return "has no state znode"
    isr = listed([str(b) for b in state.isr]) if state.isr else "empty"
    leader = "none" if state.leader is None else str(state.leader)
    replicas = listed([str(b) for b in topic.partitions.get(number, ())])
    return f"leader {leader}, ISR {isr}, replicas {replicas}"


def _leader(place: _Place) -> str:
    state = place.topic.states[place.partition]
    if state.leader is None:
        return f"no leader; {_isr(place)}"
    one = place.observed.situation.brokers[place.observed.brokers.index(state.leader)]
    if not one.alive:
        return f"leader {state.leader} is {'on a failed disk' if one.offline else 'down'}; {_isr(place)}"
    if one.has_epoch is False:
        return f"{_isr(place)}; leader {state.leader} never took up leader epoch {state.leader_epoch}"
    return _isr(place)


def _held(place: _Place) -> set[str]:
    """Return the topic ids in the partition.metadata of the partition's replicas."""
    known = place.observed.situation.brokers
    return {place.observed.ids[one.file] for one in known if one.file is not None and one.replica}


def _forgets_ids(place: _Place) -> bool:
    """Whether nothing but what brokers may hold in memory differs from the topic's id: no file has another one."""
    known = place.observed.situation.brokers
    return not _held(place) - {place.topic.topic_id} and any(one.may_hold_another_id for one in known)


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
