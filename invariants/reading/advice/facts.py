"""What ways out are derived from: a snapshot, its findings, and what the logs of damaged partitions are."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

from attrs import evolve, frozen

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.hazards import UNTIL_EPOCHS_RISE
from kwalk.invariants.reading.migrating import topics_of_kraft
from kwalk.model.kafka.snapshots.at_rest import obstacle_of, offline_replicas
from kwalk.model.kafka.snapshots.capture import INT32, Capture, Directory, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    LATER_IDS,
    brokers,
    each,
    is_of_an_earlier_topic,
    listed,
    served_without_state,
)
from kwalk.model.kafka.snapshots.lineage import KEEPING, Choice, Lineages, are_alike, latest_logs
from kwalk.model.kafka.snapshots.procedures import EPOCHS_ABOVE
from kwalk.model.language.inspection import FindingKind, Observation

ByKind: TypeAlias = Mapping[FindingKind, Callable[[FindingKind, Sequence[Observation]], FindingKind]]
"""How kinds say what is so in this snapshot, of their findings."""
ByPlace: TypeAlias = Mapping[FindingKind, Callable[[Observation], str]]
"""The way out of each finding of some kinds."""

LATEST = "the last record of the later leader epoch, or else the longer log"
REASSIGN = "kafka-reassign-partitions.sh --execute"
PLANNED = "kwalk diagnose --plan says"
FAIL_OVER = "fail the controller over"
IF_RESTORED = f"; if ZooKeeper was restored from a backup, {LATER_IDS}"
BRING_BACK = "bring an ISR member of"
"""How the part of a way out begins that starts a broker, where elections outside of the ISR are forbidden first."""
RAISED = "the leader then refuses ZooKeeper's"
"""What a rise of its leader epoch does to a partition whose replicas have another topic id."""
OF_HANDS = (kinds.LEADER_BY_HAND, kinds.LEADERLESS_BY_HAND, kinds.ISR_BY_HAND)
PLACES = "\0"
"""Stands for the names of the places of which a sentence is said."""
MOST = 3
"""How many different sentences a way out has; `kwalk diagnose --plan` has them all."""


@frozen
class PartitionLogs:
    """A partition of a topic in a snapshot, with what its logs are."""

    topic: Topic
    partition: int
    lineages: Lineages
    choices: tuple[Choice, ...]

    @property
    def name(self) -> str:
        """The partition, for people."""
        return f"{topic_label(self.topic.name)}-{self.partition}"

    @property
    def kept(self) -> tuple[int, ...]:
        """The brokers whose logs the partition is to have."""
        return self.choices[0].keeps

    @property
    def apart(self) -> list[int]:
        """The replicas whose logs are no copies of those that are kept."""
        return self.apart_from(self.kept)

    def apart_from(self, kept: Collection[int]) -> list[int]:
        """Return the replicas whose logs are no copies of those of some brokers."""
        left = {*self.topic.partitions.get(self.partition, ())} - self.choices[0].without
        return [b for b in self.lineages.logs if b in left and b not in kept]

    def moved_together(self, kept: Collection[int]) -> list[tuple[int, ...]]:
        """Return the replicas whose logs are moved away for the sake of others, those at once that have to be.

        While the leader's log is one of them, each of the others would copy it.
        """
        apart, state = self.apart_from(kept), self.topic.states.get(self.partition)
        return [tuple(apart)] if state is not None and state.leader in apart else [(b,) for b in apart]

    @property
    def ids(self) -> set[str]:
        """The topic ids of the logs that are kept."""
        found = (self.lineages.logs[b].topic_id for b in self.kept if b in self.lineages.logs)
        return {identity for identity in found if identity is not None}

    @property
    def is_created_again(self) -> bool:
        """Whether the logs that the partition has are of an earlier topic of the name."""
        return len(self.choices) > 1 and bool(self.lineages.earlier)

    @property
    def has_rivals(self) -> bool:
        """Whether nothing shows which of several logs with different records the partition is to have."""
        return not self.is_created_again and len(self.choices) > 1 and self.choices[1].premise.startswith(KEEPING)


class Facts:
    """What is known of a snapshot with findings, and which ways out several themes need.

    Args:
        capture: the snapshot.
        logs: what the logs of damaged partitions are, by topic and partition.
        observations: the findings.
    """

    def __init__(
        self,
        capture: Capture,
        logs: Mapping[tuple[str, int], PartitionLogs],
        observations: Sequence[Observation],
    ) -> None:
        self.capture, self.logs, self.observations = capture, logs, observations
        self.topics = {**capture.topics, **({t.name: t for t in topics_of_kraft(capture)} if capture.is_kraft else {})}

    @cached_property
    def alone(self) -> dict[int, dict[str, bool]]:
        """The brokers that are the only live ISR member of partitions; whether these elect none outside of the ISR."""
        found: dict[int, dict[str, bool]] = {}
        electable = self.capture.electable  # no leader without a registration gets another ISR member
        for topic in self.capture.topics.values():
            for number, state in topic.states.items() if topic.name not in self.capture.deleting else ():
                failed = offline_replicas(self.capture, topic, number)
                live = [b for b in state.isr if b in electable and b not in failed]
                if len(live) == 1 and len(topic.partitions.get(number, ())) > 1:
                    is_clean = topic.elects_uncleanly is False
                    found.setdefault(live[0], {})[f"{topic_label(topic.name)}-{number}"] = is_clean
        return found

    @cached_property
    def elsewhere(self) -> frozenset[str]:
        """The partitions of which brokers that are no replicas have records that the replicas lack."""
        return frozenset(one.subject for one in self.observations if one.kind is kinds.RECORDS_ELSEWHERE)

    def obstacle(self, names: Collection[str]) -> str:
        """Return why no plan has some partitions; empty if plans have them."""
        places = (place for place in self.logs.values() if place.name in names)
        found = (obstacle_of(self.capture, place.topic, place.partition, with_records=True) for place in places)
        return next(filter(None, found), "")

    @property
    def by_kind(self) -> ByKind:
        """The kinds of a theme, and how each says what is so in this snapshot."""
        return {}

    @property
    def by_place(self) -> ByPlace:
        """The kinds of a theme whose way out is made of that of each place."""
        return {}

    def places(self, observations: Iterable[Observation]) -> list[PartitionLogs]:
        """Return the partitions of findings, as far as what their logs are is known."""
        return [self.logs[key] for one in observations if (key := place_of(one)) is not None and key in self.logs]

    def is_led(self, one: Observation) -> bool:
        """Whether the partition of a finding has a leader that runs."""
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        state = topic.states.get(number) or served_without_state(self.capture, topic, number)
        return state is not None and state.leader is not None and self.capture.brokers[state.leader].alive

    def are_down(self, one: Observation) -> bool:
        """Whether all brokers of a finding are down."""
        return not any(self.capture.brokers[int(b)].alive for b in one.fields["brokers"].split())

    def log(self, broker: int, topic: Topic, number: int) -> Directory | None:
        return self.capture.directory(broker, topic.name, number)

    def newest(self, topic: Topic, number: int, hosts: Iterable[int]) -> tuple[tuple[int, ...], bool]:
        """Return the brokers whose logs may end last, and whether these are alike."""
        logs = {b: log for b in hosts if (log := self.log(b, topic, number)) is not None}
        last = latest_logs(logs)
        return last, all(are_alike(logs[b], logs[last[0]]) for b in last[1:])

    def last_epochs(self, topic: Topic, number: int, hosts: Iterable[int]) -> dict[int, int]:
        """Return the last leader epochs of logs, by broker."""
        found = {b: self.capture.directory(b, topic.name, number) for b in hosts}
        return {b: max(e for e, _ in log.leader_epochs) for b, log in found.items() if log and log.leader_epochs}

    def elected(self, topic: Topic, number: int, replicas: Iterable[int]) -> str:
        """Return which replica an unclean election is to take, and who stops meanwhile; empty if none has a log.

        Kafka: Election.leaderForOffline takes the first live replica of the assignment, whatever its log has.
        """
        known = [b for b in replicas if (log := self.log(b, topic, number)) is not None and log.is_empty is not True]
        known = self._serving(topic, number, known)
        if not known:
            return ""
        others, are_one = self.newest(topic, number, known)
        if are_one:  # one that runs is as good as one that is down
            others = tuple(b for b in others if self.capture.brokers[b].alive) or others
        else:
            return f"{brokers(others, 'or')}, the one with {LATEST}, while the live replicas before it are stopped"
        down = "" if any(self.capture.brokers[b].alive for b in others) else ", once started"
        first = [
            b for b in topic.partitions[number] if b in others or (self.capture.brokers[b].alive and b in replicas)
        ]
        before = first[: min(map(first.index, others))]
        stopped = f", while {brokers(before)} {each(before, 'is', 'are')} stopped" if before else ""
        return f"{brokers(others, 'or')}{down}{stopped}"

    def _serving(self, own: Topic, number: int, replicas: Sequence[int]) -> list[int]:
        """Return the replicas whose logs have the topic's id, if there are some; one with another id does not lead."""
        logs = {b: log for b in replicas if (log := self.log(b, own, number)) is not None}
        fitting = [b for b, log in logs.items() if own.topic_id and log.topic_id in (None, own.topic_id)]
        return fitting or [b for b, log in logs.items() if not is_of_an_earlier_topic(self.capture, own, log)]

    def elects_a_replica(self, one: Observation) -> bool:
        """Whether the leader is down, and the controller elects a replica: all that live in the ISR are replicas.

        Kafka: Election.leaderForOffline; the ISR is then that of the live members.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, replicas = topic.states.get(number), {*topic.partitions.get(number, ())}
        live = {b for b in (state.isr if state else ()) if b in self.capture.electable}
        is_led = state is not None and state.leader is not None and self.capture.brokers[state.leader].alive
        return bool(live) and live <= replicas and not is_led

    def leader_above(self, own: Topic, number: int, latest: Mapping[int, int]) -> tuple[int, str, list[int]]:
        """Return the least leader epoch above those of logs, who leads with it, and whose logs may have more."""
        newest, are_one = self.newest(own, number, latest)
        which = f"broker {newest[0]}" if len(newest) == 1 else f"that of {brokers(newest)} whose log ends last"
        which = which if are_one else f"that of {brokers(newest)} with {LATEST}"
        others = [b for b in own.partitions.get(number, ()) if b not in latest]
        return max(latest.values()) + EPOCHS_ABOVE, which, others

    def state_above(self, topic: Topic, number: int, latest: Mapping[int, int]) -> tuple[str, list[int]]:
        """Return what a state needs that is older than logs with these leader epochs, and whose logs may have more."""
        epoch, leader, others = self.leader_above(topic, number, latest)
        return state_text(epoch, leader), others

    def served_until_epochs_rise(self) -> Iterator[Observation]:
        """Yield the findings about partitions whose live leaders refuse ZooKeeper's topic id at a later epoch."""
        for one in self.observations:
            if one.kind in UNTIL_EPOCHS_RISE and self.is_led(one):
                topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
                leader = state.leader if (state := topic.states.get(number)) else None
                log = None if leader is None else self.capture.directory(leader, topic.name, number)
                if log is None or log.topic_id != topic.topic_id:
                    yield one

    def begins_anew(self, topic: Topic, number: int) -> int | None:
        """Return the leader epoch with which the logs of live ISR members begin at offset 0, if it is not the first.

        There were no records before, or the members have lost them with their disks. None if nothing shows it.
        """
        state = topic.states.get(number)
        live = [b for b in (state.isr if state else ()) if self.capture.brokers[b].alive]
        logs = [self.log(b, topic, number) for b in live]
        first = {log.leader_epochs[0] for log in logs if log is not None and log.leader_epochs}
        epochs = {epoch for epoch, start in first if start == 0}
        return epochs.pop() or None if len(first) == 1 and epochs else None

    def with_another_log(self, place: PartitionLogs) -> tuple[list[int], list[int]]:
        """Return ISR members whose logs are to be moved away, and those that start first, as one of them has to lead.

        The first is an empty list, too, where one leads, or nothing shows which logs the partition is to have. A member
        that starts without its log leads with nothing.
        """
        state = place.topic.states.get(place.partition)
        members = state.isr if state and not (place.has_rivals or place.is_created_again) else ()
        isr = [b for b in members if (place.name, b) not in self._misnamed]  # these get their own names again
        kept = [b for b in isr if b in place.kept]
        failed = offline_replicas(self.capture, place.topic, place.partition)
        leads = any(self.capture.brokers[b].alive and b not in failed for b in kept)
        return ([], []) if leads else ([b for b in isr if b in place.apart], [b for b in kept if b not in failed])

    @cached_property
    def _misnamed(self) -> set[tuple[str, int]]:
        """The partitions and brokers with a directory that has the log of another partition."""
        found = (one for one in self.observations if one.kind is kinds.MISNAMED)
        return {(one.subject, int(one.fields["brokers"])) for one in found}

    def are_at_hand(self, topic: Topic, number: int) -> bool:
        """Whether an ISR member of a partition runs, and its disk has not failed."""
        failed = offline_replicas(self.capture, topic, number)
        return any(self.capture.brokers[b].alive and b not in failed for b in topic.states[number].isr)

    def later_tool(self) -> str:
        """Return whose tool can change a reassignment that is in progress: not that of 2.5."""
        return " of the tool of 2.6 or later" if self.capture.version.startswith("2.5.") else ""

    def stopped(self, observations: Iterable[Observation], *, leaders: bool) -> set[int]:
        """Return the brokers that the way out of findings stops."""
        found: set[int] = set()
        for one in observations:
            place, key = self.logs.get(place_of(one) or ("", -1)), place_of(one)
            state = self.capture.topics[key[0]].states.get(key[1]) if key and key[0] in self.capture.topics else None
            if leaders and state is not None and state.leader is not None:
                found.add(state.leader)
            elif not leaders:
                named = (one.fields.get("brokers", ""), one.fields.get("broker", ""), one.fields.get("controller", ""))
                found.update(int(number) for numbers in named for number in numbers.split())
                found.update(place.apart if place is not None else ())
        return found

    def without_failing(self, one: Observation) -> str:
        """Return what makes failovers succeed again: a live replica, or no request.

        A controller elects no leader of a topic that is marked for deletion, though replicas live.
        """
        key = one.fields["topic"], int(one.fields["partition"])
        requests = ["delete /admin/preferred_replica_election (only the request is lost)"]
        requests *= key in self.capture.elections
        if key[0] in self.capture.deleting:
            if key[1] in self.capture.topics[key[0]].moving:
                end = "with empty adding_replicas and removing_replicas, and the data version that was read"
                requests.append(f"write the znode of {topic_label(key[0])} {end}")
            return ", and ".join(requests)
        replicas = [int(broker) for broker in one.fields["brokers"].split()]
        return ", or ".join([*requests, f"start {brokers(replicas, 'or')} for {one.subject}"])


def place_of(one: Observation) -> tuple[str, int] | None:
    """Return the topic and the partition of a finding, if it is about one."""
    if "partition" not in one.fields:
        return None
    return one.fields["topic"], int(one.fields["partition"])


def state_text(epoch: int, leader: str) -> str:
    """Return what a state is to have so that a broker leads at a later epoch than that of the logs, if there is one."""
    least = f"{epoch} or more" if epoch < INT32 else str(INT32)
    return f"a leader_epoch of {least}, and {leader} as leader and only ISR member"


def states_text(needs: Iterable[tuple[str, int, str]]) -> str:
    """Return the states of partitions by their leader epochs and leaders: one epoch, the highest, is enough for all."""
    found: dict[str, tuple[int, list[str]]] = {}
    for name, epoch, leader in needs:
        least, names = found.get(leader, (0, []))
        found[leader] = max(least, epoch), [*names, name]
    return "; ".join(
        f"{each(names, 'that', 'those')} of {listed(names)} with {state_text(epoch, leader)}"
        for leader, (epoch, names) in found.items()
    )


def grouped(advise: Callable[[Observation], str], observations: Iterable[Observation]) -> list[str]:
    """Return what is made of findings, once for places of which it says the same; what not to do comes first."""
    found: dict[str, list[str]] = {}
    for one in observations:
        found.setdefault(advise(evolve(one, subject=PLACES)), []).append(one.subject)
    sentences = [text.replace(PLACES, listed(names)) for text, names in found.items()]
    return sorted(sentences, key=lambda text: not text.startswith(("do not ", "keep ", "leave ")))


def joined(sentences: Iterable[str], limit: int = MOST) -> str:
    """Join the first sentences. A failover that several end with comes once, when all that it reads is written."""
    found = list(dict.fromkeys(sentence for sentence in sentences if sentence))
    shown, then = found[:limit], "; then fail the controller over"
    more = ["kwalk diagnose --plan has all steps"] * (len(found) > limit)
    if sum(sentence.endswith(then) for sentence in shown) > 1:
        shown = [one.removesuffix(then) for one in shown]
        more.append("once all are written, fail the controller over")
    return "; ".join([*shown, *more])
