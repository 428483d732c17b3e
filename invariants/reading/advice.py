"""What findings of one snapshot mean: causes and ways out that name its brokers, ids and logs.

The kinds of `finding_kinds` say what is true wherever they are found. Where the way out, or the cause, depends on which
logs are of which topic, it is made here, of the lineages of the logs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import starmap

from attrs import evolve, frozen

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.invariants.reading.hazards import (
    GARBLED,
    HAZARDS,
    LED,
    OF_IDS,
    OF_LAST_COPIES,
    OF_MISSING_STATES,
    OF_STATES,
    OF_STRAYS,
    UNTIL_EPOCHS_RISE,
    Hazard,
)
from kwalk.invariants.reading.migrating import topics_of_kraft
from kwalk.model.kafka.snapshots.at_rest import (
    leader_before_hand,
    members_without_log,
    offline_replicas,
    reassignment_of,
)
from kwalk.model.kafka.snapshots.capture import MIN_IN_SYNC, UNCLEAN_ELECTIONS, Capture, Directory, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    LATER_IDS,
    brokers,
    counts_replicas,
    disks_of_others,
    each,
    epochs_ahead,
    fetches_by_topic_id,
    files_of,
    has_topic_ids,
    listed,
    lost_state,
    lost_topics,
    other_topic_of,
    refused_at_start,
    sent_id,
    served_as,
    served_without_state,
    skips_older_versions,
    strangers,
)
from kwalk.model.kafka.snapshots.former_logs import set_aside_logs
from kwalk.model.kafka.snapshots.in_sync import is_refused
from kwalk.model.kafka.snapshots.lineage import (
    KEEPING,
    Choice,
    Lineages,
    are_alike,
    end_of,
    has_lost_its_end,
    is_outdated,
    lagging_members,
    last_copies_aside,
    latest_logs,
    members_lacking_records,
    newest_logs,
    same_disks,
    unordered_members,
)
from kwalk.model.kafka.snapshots.procedures import EPOCHS_ABOVE, KNOWN_CONTROLLER, state_above_logs
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language.inspection import FindingKind, Observation

ONE_IS_LEFT = "a controller that finds all ISR members down leaves one of them in the ISR, perhaps not the best"
OUT_OF_ISR = "delete /controller, and start the broker when it is out of the ISR"
"""What to do with an ISR member that is down and lacks records."""
LATEST = "the last record of the later leader epoch, or else the longer log"
REASSIGN = "kafka-reassign-partitions.sh --execute"
PLANNED = "kwalk diagnose --plan says"
REFUSED = (kinds.FETCH_REFUSED, kinds.FETCH_REFUSED_MIXED, kinds.FETCH_REFUSED_IN_MEMORY)
DIFFERING = (kinds.ID_DIFFERS, kinds.IDS_MIXED, kinds.ID_DIFFERS_IN_MEMORY)
NOT_LED = "nothing else than that no leader serves it"
"""What topic ids that differ do to a partition without a leader."""
OF_HANDS = (kinds.LEADER_BY_HAND, kinds.LEADERLESS_BY_HAND)
FAIL_OVER = "fail the controller over"
RAISED = "the leader then refuses ZooKeeper's"
"""What a rise of its leader epoch does to a partition whose replicas have another topic id."""
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


class Advice:
    """Makes the kinds of a snapshot's findings say what is so in this snapshot.

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
        self._by_place: Mapping[FindingKind, Callable[[Observation], str]] = {
            kinds.GARBLED_ID: self._of_garbled,
            kinds.TWO_DIRECTORIES: self._of_two,
            kinds.FAILOVER_FAILS: self._of_failing,
            kinds.EMPTY_ISR: self._of_empty_isr,
            kinds.NO_PARTITIONS: self._of_no_partitions,
            kinds.NO_REPLICAS: self._of_no_replicas,
            **dict.fromkeys((kinds.LAST_COPY_IS_DELETED, kinds.LAST_COPY_MOVES), self._of_last_copy),
            **dict.fromkeys(kinds.OF_LACKING, self._of_lacking),
            kinds.ISR_MEMBER_HAS_NO_LOG: self._of_no_log,
        }
        self._by_kind: Mapping[FindingKind, Callable[[FindingKind, Sequence[Observation]], FindingKind]] = {
            kinds.LEADER_DOES_NOT_LEAD: self._of_idle_leaders,
            kinds.DOES_NOT_ANSWER: self._of_silent,
            kinds.NO_LIVE_ISR: self._with_foreign_isr,
            kinds.NOT_ELECTED: self._of_unelected,
            kinds.RECORDS_ARE_LOST: self._of_lost_records,
            kinds.BELOW_MIN_ISR: self._of_few_in_sync,
            kinds.UNCLEAN_AHEAD: self._of_unclean,
            **dict.fromkeys((kinds.DELETION_WAITS, kinds.DELETION_PENDING), self._of_deletions),
            **dict.fromkeys(OF_STRAYS, self._of_left_logs),
        }
        self.topics = {**capture.topics, **({t.name: t for t in topics_of_kraft(capture)} if capture.is_kraft else {})}
        self.elsewhere = {one.subject for one in observations if one.kind is kinds.RECORDS_ELSEWHERE}
        self.alone: dict[int, list[str]] = {}
        self.clean: set[str] = set()
        """The partitions of which no replica outside of the ISR is elected."""
        electable = capture.electable  # no leader without a registration gets another ISR member
        for topic in capture.topics.values():
            for number, state in topic.states.items() if topic.name not in capture.deleting else ():
                failed = offline_replicas(capture, topic, number)
                live = [b for b in state.isr if b in electable and b not in failed]
                if len(live) == 1 and len(topic.partitions.get(number, ())) > 1:
                    self.alone.setdefault(live[0], []).append(f"{topic_label(topic.name)}-{number}")
                    self.clean |= {f"{topic_label(topic.name)}-{number}"} if topic.elects_uncleanly is False else set()

    def kind_of(self, kind: FindingKind) -> FindingKind:
        """Return a kind with the cause and the way out of its findings in this snapshot."""
        seen = [one for one in self.observations if one.kind is kind]
        places = [self.logs[key] for one in seen if (key := _key(one)) is not None and key in self.logs]
        made = self._of_kind(kind, seen, places)
        if kind in DIFFERING and fetches_by_topic_id(self.capture.version):
            led = [one for one in seen if self._is_led(one)]
            serves = "the leader's log has the topic id that brokers hand out"
            where = f" of {listed([one.subject for one in led][:MOST])}" if led != seen else ""
            made = evolve(made, now=f"nothing for consumers{where}: {serves}" if led else NOT_LED)
        if kind is kinds.ID_DIFFERS and places and self._is_sent_own_id(places):
            made = evolve(made, later=f"after the next failover of the controller, {made.later}")
        if kind in DIFFERING and all(self._can_lead(one) for one in seen):
            made = evolve(made, later=made.later.replace(kinds.NO_LEADER, kinds.OTHERS_LEAD))
        if kind is kinds.ID_SENT and any(one.kind in REFUSED for one in self.observations):
            made = evolve(made, now="consumers ask by the id that the controller sends: see the leader that refuses it")
        if kind is kinds.NOT_ELECTED and not any(b.alive and b.cache for b in self.capture.brokers.values()):
            disk = "see whether the ISR member's disk has failed (kafka-log-dirs.sh --describe): no election helps then"
            made = evolve(made, cause=f"{made.cause}; or a disk has failed, which no answer of a broker shows")
            made = evolve(made, way_out=f"{disk}; otherwise {made.way_out}")
        if kind in (kinds.NO_LIVE_ISR, kinds.OFFLINE_LOG, kinds.EMPTY_ISR):
            made = self._with_elections(made, seen)
        if kind is kinds.EMPTY_ISR and all(self._leads_on(one) for one in seen):
            made = evolve(made, title=kinds.LEADS_WITHOUT_ISR, now=kinds.AS_THE_LEADER_KNOWS)
        if kind is kinds.OFFLINE_REPLICA and any(one.kind is kinds.OFFLINE_LOG for one in self.observations):
            made = evolve(kind, way_out=kinds.OFFLINE_LOG.way_out)  # another partition has its only log on such a disk
        if kind is kinds.DEAD_IN_ISR and any(
            o.kind in kinds.OF_LACKING and self._are_down(o) for o in self.observations
        ):
            made = evolve(made, way_out=made.way_out.replace("start the broker or delete /controller", OUT_OF_ISR))
        if kind in (*OF_STATES, kinds.RECORDS_ELSEWHERE):
            made = evolve(made, way_out=f"{made.way_out}; if ZooKeeper was restored from a backup, {LATER_IDS}")
        if made.acts & Act.START:
            made = evolve(made, way_out=self._starting(made.way_out))
        if kind in (kinds.ISR_REPEATS, kinds.LEADER_DOES_NOT_LEAD, kinds.LEADER_IGNORES_STATE):
            made = evolve(made, way_out=self._inside(made.way_out, seen))
        if self.capture.controller is None and "delete /controller" in made.way_out:
            way_out = made.way_out.replace("delete /controller", self._becomes_controller())
            made = evolve(made, way_out=way_out, acts=made.acts | Act.RESTART)
        if self.capture.controller is None and self.capture.live and FAIL_OVER in made.way_out:
            way_out = made.way_out.replace(FAIL_OVER, self._becomes_controller())
            made = evolve(made, way_out=way_out, acts=made.acts | Act.RESTART)
        if not self.capture.live and FAIL_OVER in made.way_out:
            way_out = made.way_out.replace(FAIL_OVER, "start brokers")
            made = evolve(made, way_out=way_out, acts=made.acts | Act.START)
        first = [*self._first(kind, seen, made.acts), *self._alone(kind, seen)]
        way_out = "; ".join(["; but first ".join([made.way_out, *first]), *self._if_gone(kind, seen)])
        if self.capture.is_moving:
            way_out = way_out.replace(REASSIGN, f"{REASSIGN} --additional{self._later_tool()}")
        return evolve(made, way_out=way_out)

    def _is_led(self, one: Observation) -> bool:
        """Whether the partition of a finding has a leader that runs."""
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        state = topic.states.get(number) or served_without_state(self.capture, topic, number)
        return state is not None and state.leader is not None and self.capture.brokers[state.leader].alive

    def _leads_on(self, one: Observation) -> bool:
        """Whether the leader in the state of a partition answers that it leads, at the leader epoch of the state."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, served = topic.states[number], served_as(self.capture, topic, number)
        return served is not None and (served.leader, served.leader_epoch) == (state.leader, state.leader_epoch)

    def _later_tool(self) -> str:
        """Return whose tool can change a reassignment that is in progress: not that of 2.5."""
        return " of the tool of 2.6 or later" if self.capture.version.startswith("2.5.") else ""

    def _is_sent_own_id(self, places: Iterable[PartitionLogs]) -> bool:
        """Whether the controller sends the ids that the logs have, until another one reads ZooKeeper's."""
        return all(sent_id(self.capture, place.topic) in place.ids for place in places)

    def _can_lead(self, one: Observation) -> bool:
        """Whether a live ISR member has a log with the topic's id, of a partition where replicas have another one."""
        topic = self.capture.topics[one.fields["topic"]]
        number, differing = int(one.fields["partition"]), one.fields["brokers"].split()
        isr = state.isr if (state := topic.states.get(number)) else ()
        members = [b for b in isr if self.capture.brokers[b].alive and str(b) not in differing]
        logs = (self.capture.directory(b, topic.name, number) for b in members)
        return any(log is not None and log.topic_id == topic.topic_id for log in logs)

    def _of_kind(self, kind: FindingKind, observations: list[Observation], places: list[PartitionLogs]) -> FindingKind:
        """Return a kind with the way out of its own findings."""
        made = kind
        if kind in self._by_kind:
            made = self._by_kind[kind](kind, observations)
        elif kind in OF_IDS and places:
            way_out = self._joined(self._remedies(places)) or kind.way_out
            made = evolve(kind, cause=self._cause(kind, places), way_out=self._with_states(way_out, places))
        elif kind is kinds.ID_MISSING and (named := list(self._written_ids(observations))):
            made = evolve(kind, way_out=f"{kind.way_out}: {listed(named)}")
        elif kind in (kinds.WITHOUT_STATE, kinds.NO_LIVE_REPLICA):
            made = evolve(kind, way_out="; ".join([kind.way_out, *self._with_logs(places)]))
        elif kind is kinds.STATE_IS_LOST:
            made = evolve(kind, way_out=self._of_lost_states(places))
        elif kind is kinds.FOREIGN_ISR:
            made = evolve(kind, way_out=self._joined(self._of_foreign(kind, observations)) or kind.way_out)
        elif kind in OF_STATES:
            restarts = Act.STOP * skips_older_versions(self.capture.version)
            unserved = kind is kinds.STATE_BEHIND_LOGS and not any(self._is_led(one) for one in observations)
            now = kinds.NOT_AVAILABLE if unserved else kind.now
            made = evolve(kind, now=now, way_out=self._of_states(observations), acts=kind.acts | restarts)
        elif kind in OF_HANDS:
            made = evolve(kind, way_out=self._of_leaders_by_hand(observations))
        elif kind in self._by_place:
            again = "inspect again; if it is still so, " * (kind is kinds.ISR_MEMBER_HAS_NO_LOG)
            sentences = self._grouped(self._by_place[kind], observations)
            most = MOST if kind.properties else len(sentences)  # no plan has those of a kind without a property
            made = evolve(kind, way_out=again + self._joined(sentences, most))
        elif kind is kinds.CONTROLLER_EPOCH_BEHIND:
            above = max(int(one.fields["epoch"]) for one in observations) + EPOCHS_ABOVE
            made = evolve(kind, way_out=f"set /controller_epoch to {above} or more, then fail the controller over")
        elif kind is kinds.DISK_OF_ANOTHER and (former := self._former_cluster()):
            made = evolve(kind, way_out=former if former[0].islower() else f"{kind.way_out}. {former}")
        elif kind is kinds.DOWN_WITH_ANOTHER_ID:
            later = self._later_logs(observations)
            known = self._grouped(self._of_another_id, [one for one in observations if one.subject not in later])
            made = evolve(kind, way_out=self._joined([*self._of_later_logs(later), *known]))
        elif kind is kinds.RECORDS_ELSEWHERE:
            made = evolve(kind, way_out="; ".join(self._of_elsewhere(observations)))
        elif kind in (kinds.REASSIGNMENT, kinds.REASSIGNMENT_WAITS):
            made = evolve(kind, way_out="; ".join([kind.way_out, *self._of_moves(kind, observations)]))
        return made

    def _of_idle_leaders(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of leaders that do not lead; one that no controller has informed does not by a restart."""
        leaders = self._stopped(observations, leaders=True)
        uninformed = {int(one.fields["broker"]) for one in self.observations if one.kind is kinds.NO_METADATA}
        if not leaders <= uninformed:
            return kind
        cause = (
            f"{brokers(sorted(leaders))} {each(leaders, 'has', 'have')} got nothing from a controller since the start"
        )
        return evolve(kind, cause=cause, way_out=kinds.NO_METADATA.way_out, acts=kinds.NO_METADATA.acts)

    def _of_silent(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of brokers that do not answer; one may be the controller."""
        is_active = any(one.fields["broker"] == str(self.capture.controller) for one in observations)
        more = f"; broker {self.capture.controller} is the controller: if it hangs, no leader is elected anywhere"
        return evolve(kind, now=f"{kind.now}{more}") if is_active else kind

    def _of_lost_records(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of records that leaders lack: committed ones, if a high watermark shows it."""
        title = kind.title.replace("committed records", "records, perhaps committed ones,")
        is_shown = any(one.certain for one in observations)
        return evolve(kind, title=kind.title if is_shown else title, way_out="; ".join(self._saving(observations)))

    def _of_deletions(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of topics that are marked for deletion; brokers may serve them still."""
        is_served, served = all(one.fields["served"] for one in observations), kinds.DELETION_NOT_BEGUN
        if kind is kinds.DELETION_PENDING:
            until = "brokers serve the topic until its reassignment has ended; none of its name can be created"
            now = until if is_served else kind.now
            return evolve(kind, now=now, way_out=self._of_waiting_deletions(kind, observations))
        if not is_served:
            return kind
        way_out = kinds.UNWANTED_MARK + kind.way_out
        return evolve(kind, now=served.now, later=served.later, cause=served.cause, way_out=way_out)

    def _of_left_logs(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of logs on brokers that are no replicas; some lead the partition."""
        used = [one.subject for one in observations if self._in_use(one)]
        others = f"; of others, {kind.now}" * (len(used) < len(observations))
        now = f"{listed(used[:MOST])}: the broker leads the partition, or is in its ISR{others}" if used else kind.now
        return evolve(kind, now=now, way_out=self._joined(self._of_strays(observations)))

    def _of_few_in_sync(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of an ISR that is too small: who is not in it, and what else lets producers go on."""
        down, others, short = set[int](), set[int](), list[str]()
        for one in observations:
            topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
            needed, replicas = is_refused(self.capture, topic, number), topic.partitions.get(number, ())
            missing = {*replicas} - {*topic.states[number].isr}
            down |= missing - {*self.capture.live}
            others |= missing & {*self.capture.live}
            short += [one.subject] * (needed is not None and len(replicas) < needed.number)
        steps = [f"start {brokers(sorted(down))}"] if down else []
        steps += [f"let {brokers(sorted(others))} join the ISR (see the findings about replicas)"] if others else []
        few = each(short, "has", "have")
        steps += [f"{listed(short)} {few} fewer replicas: add some ({REASSIGN})"] if short else []
        lower = f"{MIN_IN_SYNC} of the topic can be lowered (kafka-configs.sh --alter)"
        steps.append(f"if producers cannot wait, {lower}: what is acknowledged then is on the ISR only, until it grows")
        now = kind.now.replace("acks=1 and consumers go on", kinds.HELD_BACK)
        now = now if counts_replicas(self.capture.version) else kind.now
        cause = kind.cause if down or others else f"{MIN_IN_SYNC} is larger than the number of replicas"
        return evolve(kind, now=now, cause=cause, way_out="; ".join(steps), acts=kind.acts if down else Act.NONE)

    def _of_unclean(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of elections outside of the ISR, which begin by themselves."""
        unled = [one.subject for one in observations if self._has_no_member(one)]
        led = [one.subject for one in observations if one.subject not in unled]
        loses = "it leads, and what it lacks is lost: the others truncate their logs"
        later = [f"once the last ISR member of {listed(led)} stops, a replica is elected: {loses}"] * bool(led)
        later += [
            f"as a broker starts or the controller fails over, a live replica of {listed(unled)} is elected: {loses}"
        ] * bool(unled)
        topics = listed(list(dict.fromkeys(topic_label(one.fields["topic"]) for one in observations)))
        way_out = f"set {UNCLEAN_ELECTIONS} of {topics} to false (kafka-configs.sh --alter)"
        way_out += " until the replicas are in the ISR" * bool(led)
        first = f"bring an ISR member of {listed(unled)} back before any other broker starts" if unled else ""
        way_out = f"{way_out}; {first}" if self.capture.live and unled else first or way_out
        return evolve(kind, later="; ".join(later), way_out=way_out, acts=Act.START if unled else Act.NONE)

    def _of_unelected(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of partitions whose ISR elects nobody; it is in vain where the members refuse them."""
        refused = [one.subject for one in observations if self._is_refused_by_isr(one)]
        if not refused:
            return kind
        later = (
            f"the live ISR members of {listed(refused)} refuse the topic id in ZooKeeper: who is elected does not lead"
        )
        first = f"see to the topic ids of {listed(refused)}: until then no election helps"
        if len(refused) == len(observations):
            return evolve(kind, later=later, way_out=first, acts=Act.NONE)
        return evolve(kind, later=f"{kind.later}; {later}", way_out=f"{kind.way_out}; {first}")

    def _is_refused_by_isr(self, one: Observation) -> bool:
        """Whether each live ISR member has another topic id in its file than ZooKeeper, and has not taken it up."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        live = [b for b in topic.states[number].isr if b in self.capture.electable]
        logs = [self.capture.directory(b, topic.name, number) for b in live]
        is_unread = not any(self.capture.brokers[b].replicas.get((topic.name, number)) for b in live)
        differ = [log is not None and log.topic_id not in (None, topic.topic_id) for log in logs]
        is_compared = topic.topic_id is not None and has_topic_ids(self.capture.version)
        return bool(live) and all(differ) and is_unread and is_compared

    def _with_elections(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind of partitions without a leader that says whether one outside of the ISR is elected."""
        ahead = {one.subject for one in self.observations if one.kind is kinds.UNCLEAN_AHEAD}
        named = [one.subject for one in observations if one.subject in ahead]
        if not named:
            return kind
        loses = f"and then it may lose records ({kinds.UNCLEAN_AHEAD.name})"
        until = f"it lasts, of {listed(named)}, until a broker starts or the controller fails over, {loses}"
        return evolve(kind, later=until if len(named) == len(observations) else f"{until}; of others, {kind.later}")

    def _has_no_member(self, one: Observation) -> bool:
        """Whether neither the leader nor an ISR member of the partition of a finding runs."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        able, state = self.capture.electable - offline_replicas(self.capture, topic, number), topic.states[number]
        return able.isdisjoint({state.leader, *state.isr})

    def _with_foreign_isr(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of partitions without a live ISR member; Kafka elects no member that is not a replica."""
        made = self._without_live_isr(kind, [self._unregistered(one) for one in observations])
        foreign = [one.subject for one in observations if self._elects_none(one)]
        if not foreign or self.capture.is_kraft:
            return made
        only = f"see to {listed(foreign)}, whose ISR has no replica: no start of its members ends it"
        is_all = len(foreign) == len(observations)
        way_out = only if is_all else f"{made.way_out}; {only}"
        return evolve(made, way_out=way_out, acts=Act.NONE if is_all else made.acts)

    def _written_ids(self, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield which id to write into a znode that has none, where logs have several, or one of another topic."""
        for one in observations:
            topic, held = self.capture.topics[one.fields["topic"]], dict[str, set[int]]()
            for broker, identity in (pair for n in topic.partitions for pair in self._files(topic, n)):
                held.setdefault(identity, set()).add(broker)
            apart = any(place.apart for (name, _), place in self.logs.items() if name == topic.name)
            ids = self._ids(topic) if apart else set()
            if len(ids) == 1:
                yield f"{min(ids)} into that of {one.subject}"
            elif len(held) > 1:
                choice = " or ".join(f"{identity} of {brokers(sorted(hosts))}" for identity, hosts in held.items())
                yield f"{choice} into that of {one.subject}, by whose records are to be kept: no id fits all its logs"

    def _files(self, topic: Topic, partition: int) -> Iterator[tuple[int, str]]:
        """Yield the replicas whose logs are shown to have a topic id, with it."""
        files = files_of(self.capture, topic, partition).items()
        yield from ((broker, identity) for broker, identity in files if identity is not None)

    def _former_cluster(self) -> str:
        """Return what to do where all log directories are of one cluster, and ZooKeeper has the id of another."""
        known = {root.cluster_id for broker in self.capture.hosts for root in broker.roots} - {None}
        if len(known) != 1 or self.capture.cluster_id in (None, *known):
            return ""
        (own,) = known
        if {*self.capture.live} & {*self.capture.registered}:
            return (
                f"all log directories are of cluster {printable(own, 100)}, also those of brokers that run and are in "
                "/brokers/ids: /cluster/id was changed since these started. Before a broker stops or starts, write "
                "that id back into it; do not remove or edit meta.properties"
            )
        if self.capture.live:
            return ""
        return (
            f"All log directories are of cluster {printable(own, 100)}: if they are right, ZooKeeper "
            "is the wrong one, or has lost its data and got a new id. Find its earlier data first: the other servers "
            "of the ensemble, the chroot, a backup. If it is lost for good, write that id into /cluster/id, and take "
            "another snapshot before a broker starts"
        )

    def _becomes_controller(self) -> str:
        """Return which broker restarts where there is no /controller to delete: none that others wait for."""
        if not self.capture.live:
            return "start a broker, which becomes the controller"
        others = [b for b in self.capture.live if b not in self.alone]
        which = f"broker {others[0]}" if others else "a broker"
        why = "" if others else "; each is the only ISR member of a partition, which has no leader meanwhile"
        is_down = not others and any(one.kind is kinds.BROKER_DOWN for one in self.observations)
        start = "start a broker that is down, as its way out says, or " * is_down
        return f"{start}restart {which}, so that it becomes the controller (there is no /controller to delete{why})"

    def _elects_none(self, one: Observation) -> bool:
        """Whether the ISR of a partition has no replica, and all its members and the leader are down.

        Kafka: Election.leaderForOffline looks for live ISR members among the replicas of the assignment.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, replicas = topic.states.get(number), topic.partitions.get(number, ())
        members = [] if state is None else [b for b in (state.leader, *state.isr) if b is not None]
        return bool(members) and not any(b in replicas or self.capture.brokers[b].alive for b in members)

    def _elects_a_replica(self, one: Observation) -> bool:
        """Whether the leader is down, and the controller elects a replica: all that live in the ISR are replicas.

        Kafka: Election.leaderForOffline; the ISR is then that of the live members.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, replicas = topic.states.get(number), {*topic.partitions.get(number, ())}
        live = {b for b in (state.isr if state else ()) if b in self.capture.electable}
        is_led = state is not None and state.leader is not None and self.capture.brokers[state.leader].alive
        return bool(live) and live <= replicas and not is_led

    def _of_foreign(self, kind: FindingKind, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield what to do about leaders and ISR members that are no replicas: Kafka adds no replica that is down.

        A controller removes a broker that stops from the ISR, though only such a member is left, and elects replicas
        only (ZkReplicaStateMachine.doRemoveReplicasFromIsr).
        """
        bare: dict[int, list[str]] = {}
        others = list[str]()
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            state, replicas = topic.states[number], topic.partitions.get(number, ())
            live = {b for b in (state.leader, *state.isr) if b is not None and self.capture.brokers[b].alive}
            dead = [b for b in state.isr if b not in replicas and b not in live]
            if not live - {*replicas} and dead and state.leader in live:
                above = _state(state.leader_epoch + EPOCHS_ABOVE, f"broker {state.leader}")
                are, do = each(dead, "is", "are"), each(dead, "it does", "they do")
                others.append(
                    f"{brokers(dead)} in the ISR of {one.subject} {are} down, and no replica: stop no live ISR member, "
                    f"which would leave none there; if {do} not come back, write the state of {one.subject}, at "
                    f"the version that was read: {above}; then fail the controller over"
                )
                continue
            if self._elects_a_replica(one):
                others.append(
                    f"delete /controller: the next controller elects a live ISR member of {one.subject} that is a "
                    f"replica, and takes {brokers(dead) if dead else 'others'} out of the ISR"
                )
                continue
            if self._elects_none(one):
                elected = self._elected(topic, number, replicas)
                others.append(
                    f"no member of the ISR of {one.subject} is a replica, and all are down: no start of "
                    f"{brokers(dead, 'or')} ends it, as Kafka elects replicas only. If one can start with its log, "
                    "write it into the replicas in the topic's znode, with the data version that was read, start it, "
                    "then fail the controller over. Otherwise what only they have is lost with an unclean election"
                    f"{f' of {elected}' if elected else ''}, or a state znode that names a replica"
                )
                continue
            is_read = all(self.capture.brokers[b].alive for b in replicas)  # else reassignments may be refused
            way_out = kind.way_out if is_read else f"fail the controller over, which reads the replicas; {kind.way_out}"
            if way_out not in others:
                others.append(way_out)
            for broker in live - {*replicas} if not live & {*state.isr} & {*replicas} else ():
                bare.setdefault(broker, []).append(one.subject)
        yield from others
        for broker, names in bare.items():
            yield f"do not stop broker {broker} before: no replica of {listed(names)} is a live ISR member"

    def _alone(self, kind: FindingKind, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield what a way out that stops brokers needs first: one may be the only live ISR member of partitions.

        They have no leader meanwhile; an unclean election makes a follower truncate what only that broker has.
        """
        is_stopping = kind.acts & Act.STOP and kind not in self._by_place
        stopped = self._stopped(observations, leaders=kind in LED) if is_stopping else set[int]()
        garbled = (one for one in self.observations if one.kind is kinds.GARBLED_ID)
        for one in garbled if kind is not kinds.GARBLED_ID else ():
            if int(one.fields["brokers"]) in stopped:
                yield GARBLED.format(one.subject, broker=one.fields["brokers"])
        lacking = {one.subject for one in self.observations if one.kind is kinds.RECORDS_ARE_LOST}
        names = sorted({name for broker in stopped for name in self.alone.get(broker, ())} - lacking)
        if names:
            known = [*names[:MOST], *([f"{len(names) - MOST} more"] * (len(names) > MOST))]
            is_false = (
                "see that unclean.leader.election.enable is false: another replica would lead without its records"
            )
            is_false = "there is no leader meanwhile" if {*names} <= self.clean else is_false
            yield (
                f"let {listed(known)} get another ISR member: the broker that stops is the only one; where none joins, "
                f"{is_false}"
            )

    def _stopped(self, observations: Iterable[Observation], *, leaders: bool) -> set[int]:
        """Return the brokers that the way out of findings stops."""
        found: set[int] = set()
        for one in observations:
            place, key = self.logs.get(_key(one) or ("", -1)), _key(one)
            state = self.capture.topics[key[0]].states.get(key[1]) if key and key[0] in self.capture.topics else None
            if leaders and state is not None and state.leader is not None:
                found.add(state.leader)
            elif not leaders:
                named = (one.fields.get("brokers", ""), one.fields.get("broker", ""), one.fields.get("controller", ""))
                found.update(int(number) for numbers in named for number in numbers.split())
                found.update(place.apart if place is not None else ())
        return found

    def _why_outdated(self, place: PartitionLogs, broker: int, log: Directory | None) -> str:
        """Return what a log that must not lead lacks."""
        if has_lost_its_end(self.capture, place.topic, place.partition, broker):
            return "has lost its end: one that copied it has more"
        if log is not None and log.end == 0:
            return "is empty, and others have records"
        return "lacks the last leader epochs, and others may have more" if log else "is gone"

    def _starting(self, way_out: str) -> str:
        """Return a way out that starts brokers, without those that would lead with a log that lacks records."""
        bad: dict[int, str] = {}
        unseen: dict[int, list[PartitionLogs]] = {}
        own: dict[int, str] = {}
        late: dict[tuple[int, int], list[PartitionLogs]] = {}
        for (name, partition), place in self.logs.items():
            isr = place.topic.states[partition].isr if partition in place.topic.states else ()
            failed = offline_replicas(self.capture, place.topic, partition)
            if {*isr} & {*self.capture.live} - failed:
                continue
            isr = tuple(b for b in isr if b in place.topic.partitions.get(partition, ()))  # none else is elected
            for broker, best in lagging_members(self.capture, place.topic, partition).items():
                late.setdefault((best, broker), []).append(place)
            is_copied = len(place.topic.partitions.get(partition, ())) > 1
            loses = ", and the other replicas would lose the records that it does not have" if is_copied else ""
            for broker in (b for b in isr if b not in failed):
                log = self.capture.directory(broker, name, partition)
                if not self.capture.shows(broker, name, partition):
                    unseen.setdefault(broker, []).append(place)
                elif is_outdated(self.capture, place.topic, partition, broker, log or Directory(leader_epochs=())):
                    has = self._why_outdated(place, broker, log)
                    bad.setdefault(broker, f"its log of {place.name} {has}{loses}")
                    own[broker] = self._unless_own(place, broker) if log else ""
                elif (log is None or log.is_empty) and not all(self.capture.shows(b, name, partition) for b in isr):
                    why = f"its log of {place.name} is empty, and that of another ISR member not shown"
                    bad.setdefault(broker, why + loses)
                    own[broker] = ""
        short = (one for one in self.observations if one.kind in kinds.OF_LACKING)  # no plan has them
        lacking = {int(b) for one in short for b in one.fields["brokers"].split()}
        down = self.capture.brokers.keys() - {*self.capture.live}
        others = sorted(b for b in down - unseen.keys() if self._has_unseen_replicas(b))
        planned = "" if self.capture.is_kraft else ", or follow kwalk diagnose --plan"
        parts = [
            f"do not start broker {broker}: {why}; find the disk with its log"
            f"{', or see how others get its place' if broker in lacking else planned}{own[broker]}"
            for broker, why in bad.items()
        ]
        parts += [*self._compared(), *self._in_order(late), *self._others_start(way_out, bad, down)]
        parts += starmap(_only_with_its_logs, unseen.items())
        if others:
            parts.append(
                f"see before that the log directories of {brokers(others)}, which the snapshot lacks, are its own"
            )
        return "; ".join(parts)

    def _others_start(self, way_out: str, bad: Collection[int], down: Set[int]) -> Iterator[str]:
        """Yield a way out that starts brokers, where some must not start: it names the others, if there are any."""
        of_isr = kinds.NO_LIVE_ISR.way_out
        others = down - {*bad, self.capture.kraft_controller}
        if bad and way_out.startswith(of_isr):
            unserved = (one for one in self.observations if one.kind is kinds.NO_LIVE_ISR)
            states = (self.topics[one.fields["topic"]].states[int(one.fields["partition"])] for one in unserved)
            others = others & {b for state in states for b in state.isr}
        if bad and others:
            which = f"start {brokers(sorted(others))}"
            of_one = (text for text in (of_isr, kinds.BROKER_DOWN.way_out) if way_out.startswith(text))
            way_out = which + way_out.removeprefix(text) if (text := next(of_one, None)) else way_out
        if others or not bad:
            yield way_out

    def _compared(self) -> Iterator[str]:
        """Yield which logs to compare before a broker starts, as nothing shows which one has the last records."""
        found: dict[tuple[int, ...], list[str]] = {}
        for place in self.logs.values():
            if members := unordered_members(self.capture, place.topic, place.partition):
                found.setdefault(members, []).append(place.name)
        for members, names in found.items():
            which = f"{listed(names)} on {brokers(members)}"
            yield f"compare the logs of {which} (kafka-dump-log.sh), and start the one first with {LATEST}"

    def _has_unseen_replicas(self, broker: int) -> bool:
        """Whether a broker is to have logs that the snapshot does not show."""
        return any(
            broker in replicas and not self.capture.shows(broker, topic.name, number)
            for topic in self.topics.values()
            for number, replicas in topic.partitions.items()
        )

    def _in_order(self, late: Mapping[tuple[int, int], Sequence[PartitionLogs]]) -> Iterator[str]:
        """Yield which broker starts first; or which states to write, where partitions need different ones.

        A controller takes ISR members that are down out of the ISR one by one, and leaves the last, whichever it is
        (ZkReplicaStateMachine.doRemoveReplicasFromIsr): on 3.9.0 it was the one with the shorter log.
        """
        bests = dict.fromkeys(best for best, _ in late)
        for first in bests if len(bests) > 1 else ():
            behind = {broker: places for (best, broker), places in late.items() if best == first}
            names = listed(list(dict.fromkeys(place.name for places in behind.values() for place in places)))
            yield (
                f"before a broker starts, write the state of {names} with broker {first} as leader and only ISR "
                f"member: {brokers(behind)} {each(list(behind), 'has a shorter log', 'have shorter logs')}"
            )
        for (best, broker), places in late.items() if len(bests) == 1 else ():
            ends = [self.capture.directory(b, places[0].topic.name, places[0].partition) for b in (best, broker)]
            is_older = end_of(ends[0])[0] > end_of(ends[1])[0]
            lacks = "lacks the last leader epoch" if is_older else "is shorter, and may have lost its end"
            lacks = "lacks records" if ends[1] is not None and ends[1].end is not None else lacks
            lacks = "is gone" if ends[1] is None else lacks
            names = listed([place.name for place in places])
            yield f"start broker {best} before broker {broker}, whose log of {names} {lacks}"
        if len(bests) == 1 and not self.capture.live:
            yield f"start broker {next(iter(bests))} before all others: {ONE_IS_LEFT}"

    def _unless_own(self, place: PartitionLogs, broker: int) -> str:
        """Return when the log of the only ISR member is the best one though nothing shows it."""
        others = (b for b in place.topic.partitions[place.partition] if b != broker)
        is_shown = all(self.capture.shows(b, place.topic.name, place.partition) for b in others)
        return "" if is_shown else "; only if its disk was neither changed nor restored from a copy, it may start"

    def _first(self, kind: FindingKind, observations: Iterable[Observation], acts: int) -> Iterator[str]:
        """Yield what has to be done before the acts of the way out of a kind, for the sake of other findings."""
        own = {one.fields.get("topic") for one in observations}
        if acts & Act.START and self.capture.controller not in self.capture.live:
            acts |= Act.FAIL_OVER  # who starts becomes the controller
        for hazard in HAZARDS if acts else ():
            found = [one for one in self.observations if self._is_in_danger(one, hazard, kind, acts, own)]
            by_broker: dict[str, list[str]] = {}
            for one in found:
                broker = one.fields.get("brokers", one.fields.get("broker", "")) if "{broker}" in hazard.first else ""
                by_broker.setdefault(broker, []).append(hazard.place(one))
            for broker, names in by_broker.items():
                yield hazard.first.format(listed(list(dict.fromkeys(names))), broker=broker)
        disputed = {o.fields["topic"] for o in self.observations if o.kind in OF_IDS} & own
        if kind is kinds.LOG_WITHOUT_ID and disputed:
            of = listed(sorted(topic_label(str(name)) for name in disputed))
            yield f"see to the topic id of {of}: the log takes the one that the controller sends"
        if acts & Act.STOP and kind not in OF_IDS:
            stopped = self._stopped(observations, leaders=kind in LED)
            if refusing := [one.subject for one in self._served_until_epochs_rise() if self._meets(one, stopped)]:
                yield f"see to the topic id of {listed(refusing)}: leader epochs rise as a broker stops, and {RAISED}"
        if acts & Act.FAIL_OVER:
            for one in self.observations:
                if one.kind is kinds.FAILOVER_FAILS and kind is not one.kind:
                    yield f"{self._of_failing(one)}: until then no broker stays controller"
            yield from self._last_copies(kinds.DELETION_WAITS, kinds.DELETION_NOT_BEGUN)
        if acts & Act.START:
            yield from self._last_copies(kinds.DELETION_PENDING)

    def _served_until_epochs_rise(self) -> Iterator[Observation]:
        """Yield the findings about partitions whose live leaders refuse ZooKeeper's topic id at a later epoch."""
        for one in self.observations:
            if one.kind in UNTIL_EPOCHS_RISE and self._is_led(one):
                topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
                leader = state.leader if (state := topic.states.get(number)) else None
                log = None if leader is None else self.capture.directory(leader, topic.name, number)
                if log is None or log.topic_id != topic.topic_id:
                    yield one

    def _meets(self, one: Observation, stopped: Collection[int]) -> bool:
        """Whether one of some brokers is in the ISR of the partition of a finding; unknown if there are none."""
        state = self.capture.topics[one.fields["topic"]].states.get(int(one.fields["partition"]))
        return not stopped or state is None or not {*stopped}.isdisjoint(state.isr)

    def _is_in_danger(
        self, one: Observation, hazard: Hazard, kind: FindingKind, acts: int, own: Collection[str | None]
    ) -> bool:
        """Whether what a way out of a kind does may harm the place of another finding."""
        if one.kind not in hazard.kinds or kind in hazard.kinds or not acts & hazard.acts:
            return False
        if kind in OF_IDS and one.kind in (kinds.ID_MISSING, *OF_IDS) and one.fields.get("topic") in own:
            return False  # the same way out sees to it
        if one.kind is kinds.UNCLEAN_AHEAD and kind is kinds.NO_LIVE_ISR:
            return False  # a member of the ISR that starts is elected
        if one.kind is kinds.FOREIGN_ISR and self._elects_a_replica(one):
            return False
        if one.kind is kinds.ISR_MEMBER_HAS_NO_LOG and kind in OF_HANDS and one.fields["topic"] in own:
            return False  # the state that is written has no other ISR member than the leader
        if one.kind in kinds.OF_LACKING:
            return (bool(acts & Act.START) and kind is not kinds.DEAD_IN_ISR) or not self._are_down(one)
        if one.kind is kinds.ORPHANED_LOG:
            return self._are_down(one) and not lost_topics(self.capture)
        if one.kind is kinds.LAST_COPY_IS_DELETED:
            return self._are_down(one)
        place = self.logs.get(_key(one) or ("", -1))
        if one.kind in OF_MISSING_STATES:
            replicas = place.topic.partitions.get(place.partition, ()) if place is not None else ()
            logs = (self.capture.directory(b, one.fields["topic"], int(one.fields["partition"])) for b in replicas)
            return any(log is not None and (log.is_empty is False or log.leader_epochs) for log in logs)
        if one.kind in (kinds.ID_DIFFERS, kinds.IDS_MIXED):
            state = None if place is None else place.topic.states.get(place.partition)
            is_led = state is not None and any(self.capture.brokers[b].alive for b in state.isr)
            return place is not None and (state is None or (bool(acts & Act.START) and not is_led))
        return True

    def _of_failing(self, one: Observation) -> str:
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

    def _if_gone(self, kind: FindingKind, observations: Sequence[Observation]) -> Iterator[str]:
        """Yield what is left to do if a broker or its disk is gone for good, and what that loses."""
        if kind is kinds.BROKER_DOWN:
            yield from self._without_brokers([int(one.fields["broker"]) for one in observations])
        elif kind in (kinds.NO_LIVE_ISR, kinds.OFFLINE_LOG):
            places = [(self.topics[one.fields["topic"]], int(one.fields["partition"])) for one in observations]
            yield from self._losses(places, is_disk=kind is kinds.OFFLINE_LOG)

    def _without_brokers(self, gone: Sequence[int]) -> Iterator[str]:
        """Yield how a cluster goes on without brokers: their replicas are copied elsewhere, if others have them."""
        lost: dict[tuple[str, int], tuple[Topic, int]] = {}
        served: dict[int, bool] = {}
        spare: set[int] = set()
        for topic in self.capture.topics.values():
            for number, replicas in topic.partitions.items() if topic.name not in self.capture.deleting else ():
                isr = topic.states[number].isr if number in topic.states else ()
                failed = offline_replicas(self.capture, topic, number)
                removed = topic.moving[number].removing if number in topic.moving else ()
                live = {m for m in isr if self.capture.brokers[m].alive and m not in failed}
                is_led = not live <= members_lacking_records(self.capture, topic, number).keys()
                for b in gone if isr else ():
                    if b in isr and not live:
                        lost[topic.name, number] = topic, number
                    elif b in replicas and not is_led:
                        spare.add(b)  # what the ISR had may be left on its disk only
                    elif b in replicas and b not in removed:
                        others = {*self.capture.live} & {*self.capture.registered} - {*replicas}
                        served[b] = served.get(b, True) and bool(others)
        alone = {b for topic, number in lost.values() for b in topic.states[number].isr if b in gone}
        last = {b: names for b in gone if (names := self._may_have_last_copies(b))}
        for b, names in last.items():
            yield f"do not give broker {b} up: it may have the last copy of records of {listed(names)}"
        safe = sorted(served.keys() - alone - last.keys() - spare)
        if safe:
            to = "other brokers" if all(served[b] for b in safe) else "other brokers, or to fewer, as no more live"
            yield (
                f"if {brokers(safe)} {each(safe, 'is', 'are')} gone for good, reassign {each(safe, 'its', 'their')} "
                f"replicas to {to} ({REASSIGN}): live ISR members have what was "
                f"acknowledged{self._unless_earlier(safe)}"
            )
            if refusing := [one.subject for one in self._served_until_epochs_rise()]:
                yield f"reassign {listed(refusing)} when the topic id is seen to: the leader epoch rises, and {RAISED}"
        yield from self._losses([*lost.values()])

    def _unless_earlier(self, gone: Collection[int]) -> str:
        """Return of which partitions brokers may have earlier records than ISR members, under an id that was erased."""
        other = (o for o in self.observations if o.kind is kinds.DOWN_WITH_ANOTHER_LOG and not o.certain)
        named = [one.subject for one in other if {*gone} & {int(b) for b in one.fields["brokers"].split()}]
        why = "if their topic id was only replaced" if len(named) > 1 else "if its topic id was only replaced"
        return f", but for the earlier records of {listed(named)}, {why}" if named else ""

    def _elected(self, topic: Topic, number: int, replicas: Iterable[int]) -> str:
        """Return which replica an unclean election is to take, and who stops meanwhile; empty if none has a log.

        Kafka: Election.leaderForOffline takes the first live replica of the assignment, whatever its log has.
        """
        known = [b for b in replicas if (log := self._log(b, topic, number)) is not None and log.is_empty is not True]
        if not known:
            return ""
        others, are_one = self._newest(topic, number, known)
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

    def _log(self, broker: int, topic: Topic, number: int) -> Directory | None:
        return self.capture.directory(broker, topic.name, number)

    def _newest(self, topic: Topic, number: int, hosts: Iterable[int]) -> tuple[tuple[int, ...], bool]:
        """Return the brokers whose logs may end last, and whether these are alike."""
        logs = {b: log for b in hosts if (log := self._log(b, topic, number)) is not None}
        last = latest_logs(logs, topic)
        return last, all(are_alike(logs[b], logs[last[0]], topic) for b in last[1:])

    def _may_have_last_copies(self, broker: int) -> list[str]:
        """Return the partitions of whose records a broker that is down may have the last copy, by other findings."""
        found = [
            o for o in self.observations if o.kind in OF_LAST_COPIES and str(broker) in o.fields["brokers"].split()
        ]
        for one in self.observations:
            having = [int(b) for b in one.fields["having"].split()] if one.kind in kinds.OF_LACKING else []
            having += self._latest_without_isr(one) if one.kind is kinds.EMPTY_ISR else []
            having += [int(b) for b in one.fields["brokers"].split()] if one.kind in OF_STATES else []
            having += [int(one.fields["brokers"])] if one.fields.get("own") else []
            goes = one.kind is kinds.LEADER_LACKS_RECORDS  # what runs follows the leader, and truncates its log
            if broker in having and (goes or not any(self.capture.brokers[b].alive for b in having)):
                found.append(one)
        return list(dict.fromkeys(one.subject for one in found))

    def _latest_without_isr(self, one: Observation) -> list[int]:
        """Return the replicas that may have the last records of a partition whose ISR is empty; those down count first.

        Where logs are not shown, or nothing shows which one ends last, one that runs is no proof of a copy.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        replicas = topic.partitions.get(number, ())
        unseen = [b for b in replicas if not self.capture.shows(b, topic.name, number)]
        last, are_one = self._newest(topic, number, [b for b in replicas if b not in unseen])
        down = [b for b in (*last, *unseen) if not self.capture.brokers[b].alive]
        return down if unseen or not are_one else list(last)

    def _losses(self, places: Iterable[tuple[Topic, int]], *, is_disk: bool = False) -> Iterator[str]:
        """Yield what is lost of partitions without a live ISR member, and who could lead without being in the ISR."""
        found: dict[tuple[str, str], list[str]] = {}
        for topic, number in places:
            isr, failed = topic.states[number].isr, offline_replicas(self.capture, topic, number)
            gone = [b for b in isr if is_disk or not self.capture.brokers[b].alive]
            if not gone or (is_disk and self._are_at_hand(topic, number)):
                continue
            what = f"the disk{'s' * (len(gone) > 1)} of {brokers(gone)}" if is_disk else brokers(gone)
            condition = f"if {what} {each(gone, 'is', 'are')} gone for good"
            left = [b for b in topic.partitions.get(number, ()) if b not in (*isr, *failed)]
            elected = self._elected(topic, number, left)
            others = [b.id for b in self.capture.brokers.values() if b.id not in (*isr, *topic.partitions[number])]
            hosts = [b for b in others if self.capture.directory(b, topic.name, number)]
            where = [f"{brokers(hosts)}, which {each(hosts, 'is', 'are')} no replica"] * bool(hosts)
            where += [f"a failed disk of {brokers(failed - {*isr})}"] * bool(failed - {*isr})
            owned = ((b, root.broker_id) for b, root in disks_of_others(self.capture))
            where += [f"a disk of broker {old} that broker {b} has" for b, old in owned if old in gone and old != b]
            if last_copies_aside(self.capture, topic, number):
                where.append("the copy that was moved or is to be deleted")
            text = (
                "the records of {} are lost, as no other replica has a log: an empty broker with its id serves new ones"
            )
            if where and not elected:
                text = f"the records of {{}} may be on {listed(where)}: keep what is there"
            elif elected:
                kept = f"may be on {listed(where)}: keep what is there; otherwise it " if where else ""
                text = f"what only {brokers(isr)} had of {{}} {kept}is lost with an unclean election, of {elected}: "
                is_elected = bool({*gone} & {*topic.partitions.get(number, ())})  # Kafka elects replicas only
                text += "start no empty broker with its id before, as it would lead" if is_elected else ""
                text = text.removesuffix(": ")
            name = f"{topic_label(topic.name)}-{number}"
            found.setdefault((condition, text), []).extend([name] * (name not in self.elsewhere))
        for (condition, text), names in (one for one in found.items() if one[1]):
            more = [f"{len(names) - MOST} more"] * (len(names) > MOST)
            yield f"{condition}, {text.format(listed([*names[:MOST], *more]))}"

    def _are_down(self, one: Observation) -> bool:
        """Whether all brokers of a finding are down."""
        return not any(self.capture.brokers[int(b)].alive for b in one.fields["brokers"].split())

    def _last_copies(self, *marked: FindingKind) -> Iterator[str]:
        """Yield which logs of topics that are marked for deletion the start of a broker, or a failover, removes.

        A tool may have marked a topic that is in use, such as Strimzi's topic operator after a new installation. Live
        replicas lose their logs first, others as their brokers start (TopicDeletionManager.onPartitionDeletion).
        """
        waiting = [one.fields["topic"] for one in self.observations if one.kind in marked]
        is_next = kinds.DELETION_WAITS in marked
        what = "the next controller" if is_next else "its start"
        found: dict[tuple[str, ...], list[int]] = {}
        for broker in self.capture.hosts if waiting else ():
            have = {name.rpartition("-")[0] for name in broker.directories} if broker.seen else set[str]()
            names = tuple(topic_label(name) for name in waiting if name in have)
            if names and (is_next or not broker.alive):
                found.setdefault(names, []).append(broker.id)
        for names, hosts in found.items():
            was, it = each(names, "it was", "they were"), each(names, "it", "them")
            yield f"copy {listed(names)} of {brokers(hosts)}, unless {was} marked on purpose: {what} removes {it}"

    @staticmethod
    def _grouped(advise: Callable[[Observation], str], observations: Iterable[Observation]) -> list[str]:
        """Return what is made of findings, once for places of which it says the same; what not to do comes first."""
        found: dict[str, list[str]] = {}
        for one in observations:
            found.setdefault(advise(evolve(one, subject=PLACES)), []).append(one.subject)
        sentences = [text.replace(PLACES, listed(names)) for text, names in found.items()]
        return sorted(sentences, key=lambda text: not text.startswith(("do not ", "keep ", "leave ")))

    @staticmethod
    def _joined(sentences: Iterable[str], limit: int = MOST) -> str:
        """Join the first sentences. A failover that several end with comes once, when all that it reads is written."""
        found = list(dict.fromkeys(sentence for sentence in sentences if sentence))
        shown, then = found[:limit], "; then fail the controller over"
        more = ["kwalk diagnose --plan has all steps"] * (len(found) > limit)
        if sum(sentence.endswith(then) for sentence in shown) > 1:
            shown = [one.removesuffix(then) for one in shown]
            more.append("once all are written, fail the controller over")
        return "; ".join([*shown, *more])

    def _of_elsewhere(self, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield how records on brokers that are no replicas are kept, and served again."""
        found: dict[tuple[str, int], list[int]] = {}
        for one in observations:
            key = one.fields["topic"], int(one.fields["partition"])
            found.setdefault(key, []).append(int(one.fields["brokers"]))
        where, states = dict[str, list[str]](), dict[str, list[tuple[str, int, str]]]()
        for (name, number), hosts in found.items():
            topic, label = self.capture.topics[name], f"{topic_label(name)}-{number}"
            least, known = topic.states[number].leader_epoch, self._latest(topic, number, hosts)
            epoch, leader, _ = self._leader_above(topic, number, {b: max(least, known.get(b, 0)) for b in hosts})
            where.setdefault(brokers(hosts), []).append(label)
            states.setdefault(listed(list(map(str, hosts))), []).append((label, epoch, leader))
        kept = listed([f"{listed(names)} on {hosts}" for hosts, names in where.items()])
        yield f"keep {kept}: do not write to the topic, delete it, or make the broker a replica of it"
        yield (
            "if a disk was attached to another broker, stop the brokers, and attach each disk to its own, and inspect "
            "again: logs that they have made meanwhile are then stray"
        )
        written = (f"{_states(wanted)}, and the replicas {hosts}" for hosts, wanted in states.items())
        yield f"if ZooKeeper was restored from a backup, write while the brokers are stopped: {'; '.join(written)}"

    # Topic ids.

    def _cause(self, kind: FindingKind, places: Sequence[PartitionLogs]) -> str:
        """Return how the logs got other ids: what the znode shows of it, or both possibilities."""
        copied = [(place.topic, others) for place in places if (others := self._others(place.topic))]
        if copied:
            topic, others = copied[0]
            return (
                f"the logs of {topic_label(topic.name)} have the id of topic {listed(others)}: directories were copied "
                "from it, or a hand wrote the id"
            )
        shared = [(place.topic, names) for place in places if (names := self._sharing(place.topic))]
        if shared and len(shared) == len(places):
            topic, names = shared[0]
            return f"the znode of {topic_label(topic.name)} has the id of topic {listed(names)}: a hand wrote it"
        created_again = [place for place in places if place.lineages.earlier]
        if created_again:
            topic = created_again[0].topic
            again = " and was last changed by its creation" if topic.created == topic.changed else ""
            return (
                f"topic {topic_label(topic.name)} was created again over logs of an earlier one (its znode has the "
                f"data version {topic.version}{again}): ZooKeeper was lost, or the topic was removed while a broker "
                "was down, or by hand"
            )
        if kind is kinds.REPLICA_REFUSES and all(self._has_own_id(place) for place in places):
            return (
                "the broker has the log of an earlier topic of the name, or one with an id that the topic had before: "
                "other replicas have ZooKeeper's"
            )
        changed = [place.topic for place in places if place.topic.version > 1]
        if changed and kind.cause == kinds.ERASED:
            topic = changed[0]
            return (
                f"{kind.cause}; the znode of {topic_label(topic.name)} was changed {topic.version} times since its "
                "creation. Or the topic was created again: the snapshot does not show which"
            )
        return kind.cause

    def _has_own_id(self, place: PartitionLogs) -> bool:
        """Whether a replica is shown to have ZooKeeper's topic id."""
        return any(identity == place.topic.topic_id for _, identity in self._files(place.topic, place.partition))

    def _remedies(self, places: Sequence[PartitionLogs]) -> Iterator[str]:
        """Yield what to do about partitions, by what their logs are."""
        yield from self._choosing([place for place in places if place.has_rivals])
        known = [place for place in places if not (place.is_created_again or place.has_rivals)]
        unseen = [place for place in known if not any(self._shows(b, place) for b in place.kept)]
        yield from self._moving([place for place in known if place not in unseen])
        for place in unseen:
            if place.kept and place.apart:
                whose = f"the snapshot lacks that of {brokers(place.kept)}, which they are compared with"
                yield f"keep all logs of {place.name}: {whose}; collect it (kwalk collect --logs)"
        writes: list[str] = []
        restarting: set[int] = set()
        for name in dict.fromkeys(place.topic.name for place in places):
            known = [place for (topic, _), place in self.logs.items() if topic == name]
            again = [place for place in known if place.is_created_again]
            topic, label = known[0].topic, topic_label(name)
            ids, removing = self._ids(topic), self._removing_ids(known[0])
            if again:
                yield self._of_created_again(again, ids, removing)
            elif len(ids) > 1 and (unread := self._only_in_unread(topic)):
                yield (
                    f"see first which id partition.metadata of {label} has on {brokers(unread)}, which the snapshot "
                    "lacks (kwalk collect --logs): whether an id fits all logs depends on it"
                )
            elif len(ids) > 1 or self._others(topic):
                why = f"no id in the znode fits the logs of all partitions of {label}"
                if self._others(topic):
                    why = f"the logs of {label} have the id of {listed(self._others(topic))}, and two topics must not"
                yield f"{why}: {removing}"
            elif (
                ids
                and topic.topic_id not in ids
                and (topic.topic_id or sent_id(self.capture, topic) not in (None, *ids))
            ):
                writes.append(f"the id {min(ids)}, which the logs have, into the znode of {label}")
                restarting |= set(refused_at_start(self.capture, topic))
            elif topic.topic_id is not None and sent_id(self.capture, topic) not in (None, topic.topic_id):
                yield f"fail the controller over: the znode of {label} has the id of the logs already"
        if writes:
            why = "a log that has refused the first request of its process is offline until the process ends"
            restarts = f", and restart {brokers(restarting)}: {why}" if restarting else ""
            once = " once all are written: two topics must not have one id then" if len(writes) > 1 else ""
            yield f"write {listed(writes)}, then fail the controller over{once}{restarts}"

    def _of_created_again(self, places: Sequence[PartitionLogs], ids: Set[str], removing: str) -> str:
        """Return the choice between the earlier logs of a topic that was created again, and empty ones.

        Args:
            places: The partitions whose logs are of an earlier topic.
            ids: The topic ids that logs have.
            removing: How to keep the earlier logs where no id in the znode fits them.
        """
        topic = places[0].topic
        kept = sorted({b for place in places for b in place.kept})
        keeping = f"write the id {min(ids, default='that they have')} into its znode and fail the controller over"
        if len(ids) > 1 or self._others(topic):
            keeping = removing
        elif refusing := refused_at_start(self.capture, topic):
            keeping += f", and restart {brokers(refusing)}"
        is_ahead = any(epochs_ahead(self.capture, topic, place.partition, place.kept) for place in places)
        is_whole = {place.partition for place in places} >= topic.partitions.keys()
        label = topic_label(topic.name)
        logs = f"the directories of {label}" if is_whole else listed([place.name for place in places])
        return (
            f"choose what topic {label} is to have: to keep the records of {brokers(kept)}, {keeping}; "
            f"to begin with empty logs, move {logs} away while their brokers are stopped"
            f"{'' if is_ahead else ' (kwalk diagnose --plan has both)'}"
        )

    def _with_states(self, way_out: str, places: Iterable[PartitionLogs]) -> str:
        """Return a way out that keeps logs, with the states that are older than these."""
        older, is_missing = [], False
        for place in places:
            served = served_without_state(self.capture, place.topic, place.partition)
            if served is not None and served.leader_epoch > 0 and served.leader in place.kept:
                state = state_above_logs(self.capture, place.topic, place.partition, served.leader)
                is_missing = True
                older.append(f"the state of {place.name}: {_state(state.leader_epoch, f'broker {served.leader}')}")
            ahead = epochs_ahead(self.capture, place.topic, place.partition, place.kept)
            if ahead:
                wanted, others = self._state_above(place.topic, place.partition, ahead)
                if {*ahead} - {*place.topic.partitions.get(place.partition, ())}:  # only replicas are asked to lead
                    wanted += f", and the replicas {listed([str(b) for b in ahead])} in the topic's znode"
                look = f" (look at the log of {brokers(others)} before: it may have later records)" if others else ""
                older.append(f"the state of {place.name}: {wanted}{look}")
        but = f"; but first write what is older than the logs{' or missing' * is_missing}, "
        return f"{way_out}{but}{listed(older)}" if older else way_out

    def _sharing(self, own: Topic) -> list[str]:
        """Return the other topics of which znodes or logs have the id of a topic's znode."""
        names = {*self.capture.shared_ids.get(own.topic_id or "", ())} - {own.name}
        having = self.capture.topics_by_log_id.get(own.topic_id or "", set())
        for name in having & self.capture.topics.keys() - {own.name}:
            topic = self.capture.topics[name]
            if any(identity == own.topic_id for n in topic.partitions for _, identity in self._files(topic, n)):
                names.add(name)
        return sorted(map(topic_label, names))

    def _others(self, own: Topic) -> list[str]:
        """Return the topics whose ids logs of a topic have."""
        found = {other_topic_of(self.capture, own, identity) for identity in self._ids(own) - {own.topic_id}}
        return sorted(topic_label(name) for name in found if name is not None)

    def _ids(self, topic: Topic) -> set[str]:
        """Return the topic ids of the logs that the partitions of a topic have, and keep."""
        found: set[str] = set()
        for partition in {*topic.partitions, *topic.states}:
            place, state = self.logs.get((topic.name, partition)), topic.states.get(partition)
            if place is not None:
                found |= place.ids
            else:
                members = topic.partitions[partition] if state is None else state.isr
                logs = (self.capture.directory(b, topic.name, partition) for b in members)
                found.update(log.topic_id for log in logs if log is not None and log.topic_id is not None)
        return found

    def _only_in_unread(self, topic: Topic) -> list[int]:
        """Return the replicas that the snapshot has no logs of, where no other log of the partition has ZooKeeper's id.

        Where no log of the topic has it, the replicas of partitions of which no log is shown count as well.
        """
        ids = {number: {identity for _, identity in self._files(topic, number)} for number in topic.partitions}
        known = set[str]().union(*ids.values())
        is_nowhere = bool(known) and topic.topic_id not in known
        open_ = [n for n, held in ids.items() if topic.topic_id not in held and (held or is_nowhere)]
        return sorted({b for n in open_ for b in topic.partitions[n] if not self.capture.shows(b, topic.name, n)})

    def _removing_ids(self, place: PartitionLogs) -> str:
        """Return how the logs of a topic take the id that the controller sends: those that have another one."""
        topic, found = place.topic, dict[int, set[str | None]]()
        for host in self.capture.brokers:
            logs = (self.capture.directory(host, topic.name, number) for number in topic.partitions)
            found[host] = {log.topic_id for log in logs if log is not None}
        fitting = {topic.topic_id} if sent_id(self.capture, topic) in (None, topic.topic_id) else set()
        differing = [host for host, ids in found.items() if not ids <= {None, *fitting}]
        each_one = f"on each of {brokers(differing)}, one after the other: stop it"
        stop = f"stop {brokers(differing)}" if len(differing) == 1 else each_one
        until = f" ({kinds.UNTIL_LAST})" * (len(differing) > 1)
        return f"{stop}, remove partition.metadata of {topic_label(topic.name)} there, and start it{until}"

    def _moving(self, places: Iterable[PartitionLogs]) -> Iterator[str]:
        """Yield which logs to move away, so that brokers copy the leader's; nothing where no other log is left."""
        found: dict[tuple[int, ...], list[str]] = {}
        for place in places:
            for hosts in place.moved_together(place.kept) if place.kept else ():
                if self._may_move(hosts, place.kept):
                    found.setdefault(hosts, []).append(place.name)
                else:
                    yield f"{PLANNED} what to do about {place.name}: no live broker has the log that it is to have"
        yield from self._each_moved(found)

    def _may_move(self, hosts: Iterable[int], kept: Iterable[int]) -> bool:
        """Whether brokers may start without their logs: one that runs leads with nothing if no kept log is served."""
        live = {*self.capture.live}
        return not live & {*hosts} or bool(live & {*kept})

    def _shows(self, broker: int, place: PartitionLogs) -> bool:
        """Whether the snapshot shows what log a broker has of a partition."""
        return self.capture.shows(broker, place.topic.name, place.partition)

    def _choosing(self, places: Iterable[PartitionLogs]) -> Iterator[str]:
        """Yield which logs to move away for each choice between logs with different records."""
        alike: dict[tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...], str], ...], list[str]] = {}
        for place in places:
            kept = [choice.keeps for choice in place.choices]
            choices = tuple((keeps, tuple(place.moved_together(keeps)), self._fitted(place, keeps)) for keeps in kept)
            alike.setdefault(choices, []).append(place.name)
        for choices, places_alike in alike.items():
            ways, names = [], list(dict.fromkeys(places_alike))
            for keeps, moved, fitted in choices:
                if leads := self._led_by(names, moved, keeps):
                    before = f"move nothing away before one of them leads: {brokers(leads)} would, with an empty log"
                    ways.append(f"to keep those of {brokers(keeps)}, {before}")
                    continue
                may_move = all(self._may_move(hosts, keeps) for hosts in moved)
                steps = self._each_moved(dict.fromkeys(moved, names)) if may_move else [f"{PLANNED} what to do"]
                ways.append(f"to keep those of {brokers(keeps)}, {fitted}{', and '.join(steps)}")
            which = f"{listed(names)} {each(names, 'is', 'are')}"
            yield f"choose which records {which} to have (kwalk diagnose --plan has each way): {'; '.join(ways)}"

    def _led_by(self, names: Sequence[str], moved: Iterable[Collection[int]], keeps: Collection[int]) -> list[int]:
        """Return the ISR members whose logs would be moved away, where no broker whose log is kept is a live one."""
        places = [place for place in self.logs.values() if place.name in names]
        members = {b for place in places if (state := place.topic.states.get(place.partition)) for b in state.isr}
        is_kept = any(self.capture.brokers[b].alive for b in members & {*keeps})
        return [] if is_kept else sorted(members & {b for hosts in moved for b in hosts})

    def _fitted(self, place: PartitionLogs, keeps: Sequence[int]) -> str:
        """Return what comes first where logs with another topic id than those of the first choice are kept."""
        if not {place.lineages.logs[b].topic_id for b in keeps} - {None, *place.ids}:
            return ""
        removed = f"remove partition.metadata of {place.name} on {brokers(keeps)} while stopped, "
        ahead = epochs_ahead(self.capture, place.topic, place.partition, keeps)
        above = self._state_above(place.topic, place.partition, ahead)[0] if ahead else ""
        return f"write the state of {place.name} with {above}, " * bool(ahead) + removed

    def _each_moved(self, by_hosts: Mapping[tuple[int, ...], Sequence[str]]) -> Iterator[str]:
        """Yield how logs are moved away, by the brokers on which they are moved at once."""
        for hosts, names in by_hosts.items():
            live = [b for b in hosts if self.capture.brokers[b].alive]
            down = [b for b in hosts if b not in live]
            which = listed(list(dict.fromkeys(names)))
            if live:
                on = " on each" * (len(live) > 1)
                yield f"stop {brokers(live)}, move {which} away{on}, and start {each(live, 'it', 'them')}"
            if down:
                own = ", unless its partition.metadata has the id of the logs that are kept"
                own *= not any(self.capture.brokers[b].seen for b in down)
                yield f"before {brokers(down)} {each(down, 'starts', 'start')}, move {which} away there{own}"

    def _of_another_id(self, one: Observation) -> str:
        """Return what to do about a log with another id on a broker that is down: others may lack its records."""
        state = self.capture.topics[one.fields["topic"]].states[int(one.fields["partition"])]
        leader, number = state.leader, int(one.fields["brokers"])
        if leader is not None and self.capture.brokers[leader].alive and number not in state.isr:
            return f"before broker {number} starts, move {one.subject} away there: it copies the leader's records then"
        return f"kwalk diagnose --plan says what to do: {one.subject} of broker {number} may be the last copy"

    def _later_logs(self, observations: Iterable[Observation]) -> dict[str, tuple[Topic, int, str, dict[int, int]]]:
        """Return partitions whose logs may be later than ZooKeeper's data: topic, number, their id, last epochs.

        No replica of the topic runs, all its logs have one other id, and one has a later epoch than its state.
        """
        found: dict[str, tuple[Topic, int, str, dict[int, int]]] = {}
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            places = [(b, n) for n, replicas in topic.partitions.items() for b in replicas]
            logs = {(b, n): log for b, n in places if (log := self.capture.directory(b, topic.name, n)) is not None}
            ids = {log.topic_id for log in logs.values()}
            epochs = {b: log.leader_epochs for (b, n), log in logs.items() if n == number}
            is_later = any(epochs_ahead(self.capture, topic, n, [b]) for b, n in logs)
            identity = ids.pop() if len(ids) == 1 else None
            if (
                is_later
                and identity not in (None, topic.topic_id)
                and not {b for b, _ in places} & {*self.capture.live}
            ):
                latest = {b: max((epoch for epoch, _ in known or ()), default=0) for b, known in epochs.items()}
                found[one.subject] = (topic, number, str(identity), latest)
        return found

    def _of_later_logs(self, later: Mapping[str, tuple[Topic, int, str, dict[int, int]]]) -> Iterator[str]:
        """Yield what to write that keeps logs of which nothing shows if they are later than ZooKeeper's data.

        With another id no broker serves them, and with an older state the followers cut off what the leader lacks.
        """
        found: dict[tuple[str, str], list[tuple[str, int, str]]] = {}
        for subject, (topic, number, identity, latest) in later.items():
            epoch, leader, _ = self._leader_above(topic, number, latest)
            least = max(epoch, topic.states[number].leader_epoch + EPOCHS_ABOVE)
            found.setdefault((topic.name, identity), []).append((subject, least, leader))
        for (name, identity), wanted in found.items():
            names = listed([subject for subject, *_ in wanted])
            yield (
                f"if ZooKeeper was restored from a backup of before the logs of {names}, write before a broker starts "
                f"the id {identity}, which they have, into the znode of {topic_label(name)}, and "
                f"{each(wanted, 'this state', 'these states')}: {_states(wanted)}; {LATER_IDS}; if the logs are "
                f"of an earlier topic of the name, move {names} away while their brokers are stopped"
            )

    # Logs that are not there, and states that are older than logs.

    def _of_no_log(self, one: Observation) -> str:
        """Return what to do about an ISR member without a log: it may restart only while another member has one.

        So it is with each of its partitions: a broker restarts when what only its process has is saved.
        """
        bare, others = self._with_log(one)
        isr = self.capture.topics[one.fields["topic"]].states[int(one.fields["partition"])].isr
        down = {*isr} - {*self.capture.live}
        if others:
            alike = [self._with_log(other) for other in self.observations if other.kind is one.kind]
            waits = any({*bare} & {*hosts} for hosts, left in alike if not left)
            return (
                f"{'when that is done, ' * waits}restart {brokers(bare)} with a controlled shutdown "
                f"(kafka-server-stop.sh) while another ISR member ({listed([str(b) for b in others], 'or')}) runs: it "
                f"leads {one.subject}, and they copy from it"
            )
        return (
            f"do not stop {brokers(bare)}, and let no controller fail over: no live ISR member shows a log of "
            f"{one.subject} on its disk, and what the processes have open may be the last copy; consume what they "
            f"serve into another topic first{', or start an ISR member that has its log' * bool(down)}"
        )

    def _with_log(self, one: Observation) -> tuple[list[int], list[int]]:
        """Return the ISR members of a finding that show no log, and the live ones that show one."""
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        live = (b for b in topic.states[number].isr if self.capture.brokers[b].alive and self.capture.brokers[b].seen)
        others = [b for b in live if self.capture.directory(b, topic.name, number)]
        return list(map(int, one.fields["brokers"].split())), sorted(others)

    def _of_leaders_by_hand(self, observations: Iterable[Observation]) -> str:
        """Return the states with the leaders that brokers answer: with later epochs, as they have read no version.

        A leader's changes of the ISR fail until it takes up a request, which it ignores at the epoch that it has.
        """
        wanted = list[tuple[str, int, str]]()
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            leader = leader_before_hand(self.capture, topic, number)
            wanted.append((one.subject, topic.states[number].leader_epoch + EPOCHS_ABOVE, f"broker {leader}"))
        which = each(wanted, "this state", "these states")
        return f"write {which}, at the version that was read: {_states(wanted)}; then fail the controller over"

    def _of_empty_isr(self, one: Observation) -> str:
        """Return who may lead a partition with an empty ISR, such as a live leader. In KRaft no state znode counts."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        failed, state = offline_replicas(self.capture, topic, number), topic.states[number]
        log = None if state.leader is None else self.capture.directory(state.leader, topic.name, number)
        is_live = not self.capture.is_kraft and state.leader in self.capture.live and state.leader not in failed
        if is_live and log is not None and log.is_empty is not True:
            above = _state(state.leader_epoch + EPOCHS_ABOVE, f"broker {state.leader}")
            return (
                f"broker {state.leader} may still lead {one.subject}: neither stop it nor elect another before you "
                f"write the state, at the version that was read: {above}; then fail the controller over"
            )
        elected = self._elected(topic, number, [b for b in topic.partitions.get(number, ()) if b not in failed])
        by_hand = "" if self.capture.is_kraft else ", or a state znode that names it"
        if not elected:
            given = kinds.EMPTY_ISR.way_out
            return given.replace(", or a state znode that names", " of") if self.capture.is_kraft else given
        return (
            f"compare the logs of {one.subject} first: records that the new leader lacks are lost; an unclean election "
            f"of {elected}{by_hand}"
        )

    def _of_no_partitions(self, one: Observation) -> str:
        """Return what to do about a topic without partitions: it is deleted only if no broker can have a log of it."""
        name, hosts = one.fields["topic"], self.capture.hosts
        has_logs = any(log.rpartition("-")[0] == name for b in hosts for log in b.directories)
        has_logs = has_logs or any(log.topic == name for log in set_aside_logs(self.capture))
        if has_logs or not all(b.seen and b.is_described and not b.unread for b in hosts):
            return kinds.NO_PARTITIONS.way_out
        return (
            f"if {one.subject} is not to be kept, create the znode /admin/delete_topics/{one.subject}: the controller "
            "removes the topic, of which no broker has a log; otherwise write its partitions with their replicas into "
            "the znode's JSON, with the data version that was read"
        )

    def _of_no_replicas(self, one: Observation) -> str:
        """Return which replicas to write: those that the ISR and the logs show."""
        name, number = one.fields["topic"], int(one.fields["partition"])
        topic = self.capture.topics[name]
        state, logs = (
            topic.states.get(number),
            {b: self.capture.directory(b, name, number) for b in self.capture.brokers},
        )
        hosts = [b for b, log in logs.items() if log is not None and log.topic_id in (None, topic.topic_id)]
        known = list(dict.fromkeys([*(state.isr if state else ()), *hosts]))
        which = f"{brokers(known)}, which its ISR and logs show" if known else "live brokers"
        then = "then fail the controller over"
        if state is None and known:
            then = "keep every log, and inspect again before a failover: the first live replica would lead"
        return (
            f"before the next failover, write the replicas of {one.subject} into the JSON of its topic's znode, with "
            f"the data version that was read: {which}; {then}"
        )

    def _of_last_copy(self, one: Observation) -> str:
        """Return how the last copy is kept that a broker moves or deletes: links keep what is removed elsewhere."""
        number, label = one.fields["brokers"], one.subject
        is_up = self.capture.brokers[int(number)].alive
        when = "at once" if one.kind is kinds.LAST_COPY_IS_DELETED else "before anything is moved or deleted"
        kept = (
            f"{when if is_up else f'before broker {number} starts'}, copy the directory of {label} on broker {number} "
        )
        kept += "to another place (cp -al to one on the same disk keeps the files)"
        if one.fields["topic"] not in self.capture.topics:
            return f"if the topic was not deleted on purpose, {kept}"
        return f"{kept}; what replicas lack can be read from it (kafka-dump-log.sh --print-data-log) and produced again"

    def _unless_copied(self, own: Topic, number: int, hosts: Iterable[int]) -> str:
        """Return the condition that the logs of some brokers are no copies of those of other partitions of the topic.

        Two partitions begin with one batch if a producer has sent the same to both in one millisecond.
        """
        logs = {b: log for b in hosts if (log := self._log(b, own, number)) and log.first_batch is not None}
        others: dict[str, None] = {}
        for broker in self.capture.hosts:
            for other in own.partitions.keys() - {number}:
                there = self._log(broker.id, own, other)
                if there is not None and any(there.first_batch == log.first_batch for log in logs.values()):
                    others[f"{topic_label(own.name)}-{other}"] = None
        if not others:
            return ""
        name = f"{topic_label(own.name)}-{number}"
        return (
            f"unless {name} of {brokers(sorted(logs))} was copied from {listed(sorted(others))}, whose first batch it "
            "has (then move it away while its broker is stopped, and write no state): "
        )

    def _of_lacking(self, one: Observation) -> str:
        """Return what to do about ISR members that lack records: none of them leads while others have these."""
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        state, live = topic.states[number], self.capture.live
        lacking, having = ([int(b) for b in one.fields[name].split()] for name in ("brokers", "having"))
        members = [b for b in having if b in state.isr]
        leads = state.leader is not None and state.leader in {*live} & {*self.capture.registered}
        running = [b for b in lacking if b in live]
        running.sort(key=lambda b: b == state.leader)
        copy = f"copy {one.subject} of {brokers(having)} to another place, at once: who fetches from broker "
        copy += f"{state.leader} truncates it"
        again = "start it when it is out of the ISR: it copies the records then"
        needed = [b for b in running if self._is_needed(b, topic.name, number)]
        keep = f"let broker {state.leader} lead {one.subject}: do not stop it, and elect no preferred leader "
        keep += "(auto.leader.rebalance.enable elects by itself); "
        if leads and needed and any(b in live for b in members):
            first = f"{keep}inspect again; if it is still so, " if state.leader in having else f"{copy}; then "
            return (
                f"{first}reassign {one.subject} to its replicas but {brokers(running)} ({REASSIGN}), then "
                f"back; do not stop {brokers(needed)}: it leads other partitions with records that ISR members lack"
            )
        if leads and state.leader in having:
            return keep + (
                f"inspect again; if it is still so, stop {brokers(running)} with a controlled shutdown, and {again}"
                if running
                else f"{brokers(lacking)}: {again}"
            )
        if any(b in live and b in self.capture.registered for b in members):
            stop = " and then ".join(f"broker {b}" for b in running)
            first = f"{copy}; then " if leads else ""
            elected = "" if self.capture.controller in live else ", once there is a controller"
            leader = brokers(members, "or") if len(members) == 1 else f"one of {brokers(members)}"
            if not running:
                return f"do not start {brokers(lacking)} before {leader} leads{elected}, and it is out of the ISR"
            return f"{first}stop {stop} with a controlled shutdown, so that {leader} leads{elected}; {again}"
        if members:
            stopped = f"stop {brokers(running)}; " if running else ""
            return (
                f"{stopped}have {brokers(members, 'or')} up before {brokers(lacking)}, which would lead {one.subject}"
            )
        epochs = self._latest(topic, number, having) or dict.fromkeys(having, state.leader_epoch)
        above = {b: max(epoch, state.leader_epoch) for b, epoch in epochs.items()}
        first = f"{copy}; then " if leads else f"do not start {brokers(lacking)}; " * (not running)
        first += self._unless_copied(topic, number, having)
        return (
            f"{first}if what {brokers(lacking)} has taken since may be lost, write the state znode of {one.subject}, "
            f"with the data version that was read: {self._state_above(topic, number, above)[0]}; then fail the "
            "controller over. The log that was lost may have had later records: look for its disk"
        )

    def _is_needed(self, broker: int, name: str, number: int) -> bool:
        """Whether a broker leads another partition than this one with records that an ISR member lacks."""
        others = (one for one in self.observations if one.kind in kinds.OF_LACKING and _key(one) != (name, number))
        return any(
            self.capture.topics[one.fields["topic"]].states[int(one.fields["partition"])].leader == broker
            and str(broker) in one.fields["having"].split()
            and not self._are_down(one)
            for one in others
        )

    def _latest(self, topic: Topic, number: int, hosts: Iterable[int]) -> dict[int, int]:
        """Return the last leader epochs of logs, by broker."""
        found = {b: self.capture.directory(b, topic.name, number) for b in hosts}
        return {b: max(e for e, _ in log.leader_epochs) for b, log in found.items() if log and log.leader_epochs}

    def _of_waiting_deletions(self, kind: FindingKind, observations: Sequence[Observation]) -> str:
        """Return what deletions wait for, with no empty broker or disk in the place of one whose logs others need."""
        needed = {int(b) for one in observations for part in ("brokers", "disks") for b in one.fields[part].split()}
        sole = {
            f"{topic_label(topic.name)}-{number}": needed & {*state.isr}
            for topic in self.capture.topics.values()
            for number, state in topic.states.items()
            if topic.name not in self.capture.deleting and not self._are_at_hand(topic, number)
        }
        kept = {name: members for name, members in sole.items() if members}
        if not kept:
            return kind.way_out
        start, _, rest = kind.way_out.partition("; for a broker that is gone for good, ")
        start = start.replace("repair or replace failed disks", "repair failed disks, with the logs that they had,")
        names = list(kept)
        more = [f"{len(names) - MOST} more"] * (len(names) > MOST)
        return (
            f"{start}. Do not start {brokers(set().union(*kept.values()))} with empty log directories, though the "
            f"deletion would end: no ISR member of {listed([*names[:MOST], *more])} lives with its log, and it would "
            "lead. "
            f"{rest.rpartition('. ')[2]}"
        )

    def _are_at_hand(self, topic: Topic, number: int) -> bool:
        """Whether an ISR member of a partition runs, and its disk has not failed."""
        failed = offline_replicas(self.capture, topic, number)
        return any(self.capture.brokers[b].alive and b not in failed for b in topic.states[number].isr)

    def _unregistered(self, one: Observation) -> set[int]:
        """Return the ISR members of a partition that run, and have no registration, or a fenced one with KRaft."""
        isr = self.topics[one.fields["topic"]].states[int(one.fields["partition"])].isr
        return {b for b in isr if self.capture.brokers[b].alive and b not in self.capture.electable}

    def _without_live_isr(self, kind: FindingKind, unregistered: Sequence[set[int]]) -> FindingKind:
        """Return the kind for partitions, of each of which these ISR members run without a registration."""
        running = sorted({broker for members in unregistered for broker in members})
        if not running:
            return kind
        run, them = ("runs and reaches", "it") if len(running) == 1 else ("run and reach", "them one at a time")
        ways = f"see why {brokers(running)} {run} no ZooKeeper, or restart {them}"
        if self.capture.is_kraft:
            ways = f"{brokers(running)} {each(running, 'runs', 'run')}: see `kwalk diagnose --migration`"
        if not all(unregistered):
            return evolve(kind, way_out=f"{kind.way_out}; {ways}", acts=kind.acts | Act.RESTART)
        registry = "has an unfenced registration with KRaft" if self.capture.is_kraft else "is in /brokers/ids"
        return evolve(
            kind,
            title=f"no leader: no live ISR member {registry}",
            now=kind.now + f", but for those that {brokers(running)} may still serve" * (not self.capture.is_kraft),
            later="it lasts until an ISR member is registered; an unclean election loses records",
            way_out=ways,
            acts=kind.acts | Act.RESTART,
            cause=f"the {'registrations' if self.capture.is_kraft else 'ZooKeeper sessions'} of brokers that run have "
            "ended",
        )

    def _saving(self, observations: Sequence[Observation]) -> Iterator[str]:
        """Yield how the last copies of records are saved before their brokers truncate them."""
        for number in dict.fromkeys(one.fields["brokers"] for one in observations):
            names = listed([one.subject for one in observations if one.fields["brokers"] == number])
            is_up = self.capture.brokers[int(number)].alive  # to stop it could leave other partitions without a leader
            when = f"at once, while broker {number} still has them," if is_up else f"before broker {number} starts,"
            yield f"{when} copy {names} there to another place"
        yield "what is lost can be read from the copies (kafka-dump-log.sh --print-data-log) and produced again"

    def _of_states(self, observations: Iterable[Observation]) -> str:
        """Return which states partitions need whose states are older than their logs."""
        wanted, looked = list[tuple[str, int, str]](), dict[tuple[int, ...], list[str]]()
        observations = list(observations)
        hosts = [(one, broker) for one in observations for broker in one.fields["brokers"].split()]
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            known = newest_logs(self.capture, topic, number)
            if known:
                above = state_above_logs(self.capture, topic, number, known[0]).leader_epoch
                wanted.append((one.subject, above, f"broker {known[0]}"))
            else:
                latest = epochs_ahead(self.capture, topic, number, topic.partitions[number])
                epoch, leader, others = self._leader_above(topic, number, latest)
                wanted.append((one.subject, epoch, leader))
                looked.setdefault(tuple(others), []).append(one.subject)
        first = "".join(
            f"look at the logs of {listed(names)} on {brokers(others)} first, which may have later records; "
            for others, names in looked.items()
            if others
        )
        topics = {one.fields["topic"] for one in observations}
        ahead = (
            self._log(int(b), self.capture.topics[o.fields["topic"]], int(o.fields["partition"])) for o, b in hosts
        )
        is_other = (
            "; if they are of an earlier topic of the name, move them away while their brokers are stopped, instead"
        )
        is_other *= any(log is not None and log.topic_id is None for log in ahead)
        return (
            f"neither stop nor start a broker before this is done; {first}if the logs of "
            f"{listed([name for name, *_ in wanted])} are of the present {each(topics, 'topic', 'topics')}, write "
            f"{each(wanted, 'this state znode', 'these state znodes')}, with the data version that was read: "
            f"{_states(wanted)}; then {self._informed() if self.capture.live else 'start brokers'}{is_other}"
        )

    def _informed(self) -> str:
        """Return how brokers that run get states that were written where ZooKeeper has gone back."""
        above = self.capture.controller_epoch + EPOCHS_ABOVE
        raised = f"set /controller_epoch to {above} or more, as {KNOWN_CONTROLLER}"
        return f"{raised}, and fail the controller over{self._restarted()}"

    def _state_above(self, topic: Topic, number: int, latest: Mapping[int, int]) -> tuple[str, list[int]]:
        """Return what a state needs that is older than logs with these leader epochs, and whose logs may have more."""
        epoch, leader, others = self._leader_above(topic, number, latest)
        return _state(epoch, leader), others

    def _leader_above(self, own: Topic, number: int, latest: Mapping[int, int]) -> tuple[int, str, list[int]]:
        """Return the least leader epoch above those of logs, who leads with it, and whose logs may have more."""
        newest, are_one = self._newest(own, number, latest)
        which = f"broker {newest[0]}" if len(newest) == 1 else f"that of {brokers(newest)} whose log ends last"
        which = which if are_one else f"that of {brokers(newest)} with {LATEST}"
        others = [b for b in own.partitions.get(number, ()) if b not in latest]
        return max(latest.values()) + EPOCHS_ABOVE, which, others

    def _inside(self, way_out: str, observations: Iterable[Observation]) -> str:
        """Return a way out that restarts leaders, without those that are no replicas: none could lead after them."""
        outside = {one.subject for one in self.observations if one.kind is kinds.FOREIGN_ISR}
        found = [one.subject for one in observations]
        kept = [name for name in found if name in outside]
        if not kept:
            return way_out
        only = f"do not restart the leader of {listed(kept)} before its ISR and its leader are replicas"
        return only if len(kept) == len(found) else f"{way_out}; but {only}"

    def _with_logs(self, places: Iterable[PartitionLogs]) -> Iterator[str]:
        """Yield what to do before an election of partitions without state whose replicas have logs.

        Kafka: ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions takes the first live replica as leader at
        epoch 0, and all live ones as ISR, whatever their logs have.
        """
        known = [(place, latest) for place in places if (latest := self._latest_epochs(place))]
        states = [(place.name, *self._leader_above(place.topic, place.partition, e)[:2]) for place, e in known]
        if states:
            yield (
                "but not before you know whose records the logs are: the first live replica would lead, whatever its "
                "log has, and the others would lose what it lacks. To keep the records, create the state znodes first: "
                f"{_states(states)}; to begin with empty logs, move the directories away while their brokers are "
                "stopped"
            )

    def _of_lost_states(self, places: Iterable[PartitionLogs]) -> str:
        """Return which state znodes to create where brokers lead without one: those that lead go on."""
        states, is_later = [], False
        for place in places:
            served = lost_state(self.capture, place.topic, place.partition)
            if served is not None and served.leader is not None:
                is_later |= served.leader_epoch > 0  # a controller begins at 0, which brokers accept as they start
                state = state_above_logs(self.capture, place.topic, place.partition, served.leader)
                states.append((place.name, state.leader_epoch, f"broker {served.leader}"))
        return (
            f"{'stop no broker before this is done; ' * is_later}create the state znodes again, with those above them "
            f"that are gone: {_states(states)}; then fail the controller over{self._restarted()}"
        )

    def _restarted(self) -> str:
        """Return what lets brokers take up states whose znodes have lower versions than those that they have seen."""
        if not skips_older_versions(self.capture.version):
            return ""
        return (
            "; a leader that does not lead then has seen a later version of the znode (state-change.log: since the "
            "leader is already at a newer partition epoch): restart it, and then its followers"
        )

    def _latest_epochs(self, place: PartitionLogs) -> dict[int, int]:
        """Return the last leader epochs of the replicas' logs with records of the topic, by broker."""
        replicas = place.topic.partitions.get(place.partition, ())
        found = {b: self.capture.directory(b, place.topic.name, place.partition) for b in replicas}
        return {
            b: max((epoch for epoch, _ in log.leader_epochs or ()), default=0)
            for b, log in found.items()
            if log and log.topic_id in (None, place.topic.topic_id) and (log.is_empty is False or log.leader_epochs)
        }

    def _of_two(self, one: Observation) -> str:
        """Return which of two directories of a partition a broker may start with."""
        number = int(one.fields["brokers"])
        topic = self.capture.topics.get(one.fields["topic"])
        state = None if topic is None else topic.states.get(int(one.fields["partition"]))
        others = [b for b in (state.isr if state else ()) if b != number and self.capture.brokers[b].alive]
        if others:
            return (
                f"while broker {number} is stopped, move one directory of {one.subject} away, that on the disk which "
                "failed; what is left copies from the leader"
            )
        return (
            f"keep both directories of {one.subject} on broker {number}: no other live broker is in the ISR. Compare "
            "leader-epoch-checkpoint and the last segments, and while the broker is stopped move away the one that "
            "ends earlier"
        )

    def _of_moves(self, kind: FindingKind, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield what to do about reassignments: added replicas, whose logs a cancellation deletes, may be the last."""
        kept: dict[str, list[str]] = {}
        led, without = set[str](), list[str]()
        for one in observations:
            topic = self.capture.topics[one.fields["topic"]]
            numbers = [int(one.fields["partition"])] if "partition" in one.fields else topic.moving
            for number in sorted({*numbers} & {*topic.partitions}):
                now, name = reassignment_of(self.capture, topic, number), f"{topic_label(topic.name)}-{number}"
                led.update([name] * now.is_led)
                without += [name] * (number in topic.states and not now.is_led)
                if now.added and not now.may_be_cancelled:
                    added, left = (listed([str(b) for b in those]) for those in (now.added, now.left))
                    why = f"Kafka deletes the logs of replicas {added}, and of {left} none is live and in the ISR"
                    kept.setdefault(why, []).append(name)
        if without:
            yield f"nothing of {listed(without[:MOST])} is copied before a broker of the ISR leads: see to that first"
        refusing = (one for one in self.observations if one.kind is kinds.REPLICA_REFUSES)
        if refused := [one.subject for one in refusing if one.subject in led]:
            yield f"{listed(refused[:MOST])} waits for a replica that refuses the topic id: see to that first"
        if kind is kinds.REASSIGNMENT_WAITS and (led or not without):
            cancel = "" if kept else f", or cancel the reassignment (--cancel{self._later_tool()})"
            yield (
                "if it is gone for good, reassign the partition to live ISR members and other brokers that run "
                f"({REASSIGN}){cancel}"
            )
        for why, names in list(kept.items())[:MOST]:
            yield f"do not cancel the reassignment of {listed(names)}: {why}"

    def _of_garbled(self, one: Observation) -> str:
        """Return what to do about a file without a readable id: whose log it is, only other replicas show."""
        number = int(one.fields["brokers"])
        topic = self.capture.topics.get(one.fields["topic"])
        state = None if topic is None else topic.states.get(int(one.fields["partition"]))
        others = [b for b in (state.isr if state else ()) if b != number and self.capture.brokers[b].alive]
        if others:
            return f"before broker {number} starts again, move {one.subject} away: it copies the leader's log"
        wrote = topic.topic_id if topic is not None and topic.topic_id else "that of the topic"
        return (
            f"before broker {number} starts again, if its log of {one.subject} is known to be of the present topic, "
            f'write "version: 0" and "topic_id: {wrote}" as two lines into the file; keep the log'
        )

    # Logs that are no replica's.

    def _of_strays(self, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield what to do about stray logs; those of topics that do not exist are one sentence for their brokers."""
        without: dict[tuple[str, bool], list[str]] = {}
        lost, strays = lost_topics(self.capture), list[Observation]()
        for one in observations:
            topic = self.capture.topics.get(one.fields["topic"])
            number = int(one.fields["partition"])
            if topic is not None and number in topic.unassigned:
                yield f"keep {one.subject}: the topic's znode assigns no replica to it"
            elif topic is None or number not in {*topic.partitions, *topic.states}:
                is_lost = bool(lost) and (topic is None or one.fields["topic"] in lost)
                without.setdefault((one.fields.get("brokers", ""), is_lost), []).append(one.subject)
            else:
                strays.append(one)
        yield from self._grouped(self._of_stray, strays)
        for (hosts, is_lost), names in without.items():
            known = [*names[:MOST], *([f"{len(names) - MOST} more"] * (len(names) > MOST))]
            on = f"{listed(known)} on {brokers(map(int, hosts.split()))}"
            if {*map(int, hosts.split())} <= strangers(self.capture):
                yield self._of_strangers(on, hosts.split())
            elif not any(self.capture.brokers[int(b)].alive for b in hosts.split()) and not is_lost:
                yield (
                    f"keep {on}. If the topic was not deleted on purpose, write before a broker starts, from a backup "
                    f"of ZooKeeper or else by the logs: {kinds.TOPIC_BY_LOGS}; {LATER_IDS}. Otherwise move the "
                    "directories away"
                )
            elif is_lost:
                yield f"leave {on} as {each(names, 'it is', 'they are')}: ZooKeeper has none of these topics"
            else:
                yield (
                    f"if the topic was not deleted on purpose, keep {on}: it may be the last copy; "
                    "otherwise move the directory away while the broker is stopped"
                )

    def _in_use(self, one: Observation) -> list[int]:
        """Return the brokers of a stray log that lead the partition, or are in its ISR."""
        topic, number = self.capture.topics.get(one.fields["topic"]), int(one.fields["partition"])
        state = None if topic is None else topic.states.get(number)
        members = () if state is None else (state.leader, *state.isr)
        return [int(b) for b in one.fields.get("brokers", "").split() if int(b) in members]

    def _of_stray(self, one: Observation) -> str:
        """Return what to do about a stray log: while no live broker leads the partition it may be the last copy."""
        topic = self.capture.topics.get(one.fields["topic"])
        number, hosts = int(one.fields["partition"]), one.fields.get("brokers", "").split()
        where = brokers(map(int, hosts))
        state = None if topic is None else topic.states.get(number)
        if {*map(int, hosts)} <= strangers(self.capture):
            return self._of_strangers(f"{one.subject} on {where}", hosts)
        moved = self._of_moved_disk(topic, number, hosts)
        if moved:
            return f"leave {one.subject} on {where} as it is: the disk may be that of {moved}, a replica that is gone"
        place = self.logs.get((one.fields["topic"], number))
        if place is not None and place.is_created_again and {*map(int, hosts)} & {*place.kept}:
            return f"leave {one.subject} on {where} as it is, until you have chosen which records it is to have"
        members = self._in_use(one)
        if members:
            return (
                f"leave {one.subject} on {brokers(members)} as it is: the broker leads the partition or is "
                "in the ISR, and other replicas may lack its records; first make it a replica"
            )
        bare = [] if topic is None else members_without_log(self.capture, topic, number)
        if state is not None and bare and len(bare) == len([b for b in state.isr if self.capture.brokers[b].alive]):
            return (
                f"leave {one.subject} on {where} as it is: no live ISR member shows a log, and it may be the last copy"
            )
        if state is not None and (state.leader is None or not self.capture.brokers[state.leader].alive):
            why = "no live broker leads the partition, and it may be the last copy"
            return f"leave {one.subject} on {where} as it is: {why}"
        if topic is None or number not in topic.partitions:
            return f"keep {one.subject} on {where} until it is clear why its topic's znode does not list it"
        return f"move {one.subject} on {where} away while the broker is stopped; keep it until it is not needed"

    @staticmethod
    def _of_strangers(on: str, hosts: Collection[str]) -> str:
        """Return what to do about logs of brokers that may be of another cluster: they are not to be moved away."""
        who, them = brokers(map(int, hosts)), each(hosts, "it", "them")
        return (
            f"leave {on}: {who} {each(hosts, 'is a replica', 'are replicas')} of nothing here, and may be of another "
            f"cluster: then stop {them}, and correct zookeeper.connect, and cluster.id in meta.properties; otherwise "
            f"move what is left there away while {each(hosts, 'it is', 'they are')} stopped"
        )

    def _of_moved_disk(self, topic: Topic | None, number: int, hosts: Iterable[str]) -> str:
        """Return the replicas of a partition whose disks hosts may have, by other partitions that have no leader."""
        found = {
            old
            for one in self.observations
            if one.kind is kinds.ANOTHER_ID
            for place in [self.logs.get((one.fields["topic"], int(one.fields["partition"])))]
            if place is not None and topic is not None
            for host, old in same_disks(self.capture, place.topic, place.partition).items()
            if str(host) in hosts and old in topic.partitions.get(number, ())
        }
        return brokers(found) if found else ""


def _key(one: Observation) -> tuple[str, int] | None:
    if "partition" not in one.fields:
        return None
    return one.fields["topic"], int(one.fields["partition"])


def _only_with_its_logs(broker: int, places: Sequence[PartitionLogs]) -> str:
    """Return how to start a broker whose log directories are not shown, and which would lead partitions."""
    has_others = any(len(place.topic.partitions.get(place.partition, ())) > 1 for place in places)
    loss = "and the other replicas would lose their records" if has_others else "without the records"
    return (
        f"broker {broker} only if its log directories, which the snapshot does not show, have its logs: with "
        f"empty ones it would lead {listed([place.name for place in places])}, {loss}"
    )


def _state(epoch: int, leader: str) -> str:
    return f"a leader_epoch of {epoch} or more, and {leader} as leader and only ISR member"


def _states(needs: Iterable[tuple[str, int, str]]) -> str:
    """Return the states of partitions by their leader epochs and leaders: one epoch, the highest, is enough for all."""
    found: dict[str, tuple[int, list[str]]] = {}
    for name, epoch, leader in needs:
        least, names = found.get(leader, (0, []))
        found[leader] = max(least, epoch), [*names, name]
    return "; ".join(
        f"{each(names, 'that', 'those')} of {listed(names)} with {_state(epoch, leader)}"
        for leader, (epoch, names) in found.items()
    )
