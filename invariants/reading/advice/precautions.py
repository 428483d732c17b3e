"""What comes before a way out, for the sake of other findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from attrs import evolve, frozen

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import FAIL_OVER, MOST, OF_HANDS, RAISED, Facts, place_of
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.invariants.reading.hazards import (
    CHOOSE,
    COMPARE,
    COPIES,
    GARBLED,
    HAZARDS,
    LED,
    OF_IDS,
    OF_MISSING_STATES,
    OF_STATES,
    WOULD_LEAD,
    Hazard,
)
from kwalk.model.kafka.snapshots.capture import topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, each, listed, lost_topics
from kwalk.model.language.inspection import FindingKind, Observation


@frozen
class Precaution:
    """What comes before a way out.

    Attributes:
        text: a clause that says what to do.
        of: the names of the kinds whose ways out see to it; none if the clause says all that is to be done.
    """

    text: str
    of: frozenset[str] = frozenset()


class Precautions(Facts):
    """What the acts of a way out harm, and what is done before."""

    def before(
        self, kind: FindingKind, observations: Sequence[Observation], acts: int, *, is_by_place: bool
    ) -> Iterator[Precaution]:
        """Yield what has to be done before the way out of a kind.

        Args:
            kind: The kind.
            observations: Its findings.
            acts: What its way out does.
            is_by_place: Whether the way out says of each place what it needs.
        """
        yield from self._first(kind, observations, acts)
        yield from self._alone(kind, observations, is_stopping=bool(kind.acts & Act.STOP) and not is_by_place)

    def _first(self, kind: FindingKind, observations: Sequence[Observation], acts: int) -> Iterator[Precaution]:
        """Yield what has to be done before the acts of the way out of a kind, for the sake of other findings."""
        own = {one.fields.get("topic") for one in observations}
        if acts & Act.START and self.capture.controller not in self.capture.live:
            acts |= Act.FAIL_OVER  # who starts becomes the controller
        for hazard in HAZARDS if acts else ():
            found = [one for one in self.observations if self._is_in_danger(one, hazard, kind, acts, own)]
            by_broker: dict[tuple[str, str], list[Observation]] = {}
            for one in found:
                first = self._first_of(hazard, one)
                broker = one.fields.get("brokers", one.fields.get("broker", "")) if "{broker}" in first else ""
                by_broker.setdefault((first, broker), []).append(one)
            for (first, broker), ones in by_broker.items():
                names = listed(list(dict.fromkeys(map(hazard.place, ones))))
                yield Precaution(first.format(names, broker=broker), _names(() if first in COPIES else ones))
        disputed = {o.fields["topic"] for o in self.observations if o.kind in OF_IDS} & own
        if kind is kinds.LOG_WITHOUT_ID and disputed:
            of = listed(sorted(topic_label(str(name)) for name in disputed))
            text = f"see to the topic id of {of}: the log takes the one that the controller sends"
            yield Precaution(text, _names(o for o in self.observations if o.kind in OF_IDS))
        if acts & Act.STOP and kind not in OF_IDS:
            stopped = self.stopped(observations, leaders=kind in LED)
            refusing = [one for one in self.served_until_epochs_rise() if self._meets(one, stopped)]
            yield from self._before_epochs_rise("leader epochs rise as a broker stops", refusing)
        if kind is kinds.LEADER_OUTSIDE_ISR:
            places = {one.subject for one in observations}
            refusing = [one for one in self.served_until_epochs_rise() if one.subject in places]
            yield from self._before_epochs_rise("with the state the leader epoch rises", refusing)
        if acts & Act.FAIL_OVER:
            for one in self.observations:
                if one.kind is kinds.FAILOVER_FAILS and kind is not one.kind:
                    yield Precaution(f"{self.without_failing(one)}: until then no broker stays controller")
            yield from map(Precaution, self._last_copies(kinds.DELETION_WAITS, kinds.DELETION_NOT_BEGUN))
        if acts & Act.START:
            yield from map(Precaution, self._last_copies(kinds.DELETION_PENDING))

    @staticmethod
    def _before_epochs_rise(why: str, refusing: Sequence[Observation]) -> Iterator[Precaution]:
        """Yield that the topic ids come first of partitions that are served until their leader epochs rise."""
        if refusing:
            text = f"see to the topic id of {listed([one.subject for one in refusing])}: {why}, and {RAISED}"
            yield Precaution(text, _names(refusing))

    def _first_of(self, hazard: Hazard, one: Observation) -> str:
        """Return what comes before an act: no log is moved away that may be wanted, or for one that is not shown."""
        place = self.logs.get(place_of(one) or ("", -1))
        if one.kind is not kinds.DOWN_WITH_ANOTHER_LOG or place is None:
            return hazard.first
        if place.has_rivals or place.is_created_again:
            return CHOOSE
        if int(one.fields["brokers"]) in self.with_another_log(place)[0]:
            return WOULD_LEAD
        is_shown = any(self.capture.shows(b, place.topic.name, place.partition) for b in place.kept)
        return hazard.first if is_shown else COMPARE

    def _meets(self, one: Observation, stopped: Collection[int]) -> bool:
        """Whether one of some brokers is in the ISR of the partition of a finding; unknown if there are none."""
        state = self.capture.topics[one.fields["topic"]].states.get(int(one.fields["partition"]))
        return not stopped or state is None or not {*stopped}.isdisjoint(state.isr)

    def _parts_topics(self, one: Observation, topics: Collection[str | None]) -> bool:
        """Whether no more than one of the topics of one id keeps it, if some topics get the id that their logs have."""
        names = {*one.fields["topics"].split()}
        (identity,) = {self.capture.topics[name].topic_id for name in names}
        return len(names - {*topics} | names & self.capture.topics_by_log_id.get(identity or "", set())) < 2

    def _is_in_danger(
        self, one: Observation, hazard: Hazard, kind: FindingKind, acts: int, own: Collection[str | None]
    ) -> bool:
        """Whether what a way out of a kind does may harm the place of another finding."""
        if one.kind not in hazard.kinds or kind in hazard.kinds or not acts & hazard.acts:
            return False
        if kind in OF_IDS and one.kind in (kinds.ID_MISSING, *OF_IDS) and one.fields.get("topic") in own:
            return False  # the same way out sees to it
        if kind in OF_IDS and one.kind is kinds.SHARED_ID and self._parts_topics(one, own):
            return False  # the same way out sees to it
        if one.kind in (*OF_STATES, *OF_MISSING_STATES) and one.subject in self.elsewhere:
            return False  # that state is written with the replicas, as another hazard says
        if one.kind is kinds.UNCLEAN_AHEAD and kind is kinds.NO_LIVE_ISR:
            return False  # a member of the ISR that starts is elected
        if one.kind is kinds.EMPTY_ISR and kind is kinds.OFFLINE_LOG:
            return False  # who leads it is chosen when the disk is read
        if one.kind is kinds.FOREIGN_ISR and self.elects_a_replica(one):
            return False
        if one.kind is kinds.LEADER_OUTSIDE_ISR and kind in OF_IDS and self._is_written_only(one):
            return False  # the id comes first: with the state the leader epoch rises
        if one.kind is kinds.ISR_MEMBER_HAS_NO_LOG and kind in OF_HANDS and one.fields["topic"] in own:
            return False  # the state that is written has no other ISR member than the leader
        if one.kind in kinds.OF_LACKING:
            return (bool(acts & Act.START) and kind is not kinds.DEAD_IN_ISR) or not self.are_down(one)
        if one.kind is kinds.ORPHANED_LOG:
            return self.are_down(one) and not lost_topics(self.capture)
        if one.kind is kinds.LAST_COPY_IS_DELETED:
            return self.are_down(one)
        place = self.logs.get(place_of(one) or ("", -1))
        if one.kind in OF_MISSING_STATES:
            replicas = place.topic.partitions.get(place.partition, ()) if place is not None else ()
            logs = (self.capture.directory(b, one.fields["topic"], int(one.fields["partition"])) for b in replicas)
            return any(log is not None and (log.is_empty is False or log.leader_epochs) for log in logs)
        if one.kind in (kinds.ID_DIFFERS, kinds.IDS_MIXED):
            state = None if place is None else place.topic.states.get(place.partition)
            is_led = state is not None and any(self.capture.brokers[b].alive for b in state.isr)
            return place is not None and (state is None or (bool(acts & Act.START) and not is_led))
        return True

    def _is_written_only(self, one: Observation) -> bool:
        """Whether all logs of the partition of a finding have one topic id: it is written, and no broker stops."""
        place = self.logs.get(place_of(one) or ("", -1))
        return place is not None and len(place.ids) == 1 and not place.apart

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

    def _alone(
        self, kind: FindingKind, observations: Iterable[Observation], *, is_stopping: bool
    ) -> Iterator[Precaution]:
        """Yield what a way out that stops brokers needs first: one may be the only live ISR member of partitions.

        They have no leader meanwhile; an unclean election makes a follower truncate what only that broker has.
        """
        stopped = self.stopped(observations, leaders=kind in LED) if is_stopping else set[int]()
        garbled = (one for one in self.observations if one.kind is kinds.GARBLED_ID)
        for one in garbled if kind is not kinds.GARBLED_ID else ():
            if int(one.fields["brokers"]) in stopped:
                yield Precaution(GARBLED.format(one.subject, broker=one.fields["brokers"]), _names([one]))
        lacking = {one.subject for one in self.observations if one.kind is kinds.RECORDS_ARE_LOST}
        names = sorted({name for broker in stopped for name in self.alone.get(broker, ())} - lacking)
        clean = {name for of in self.alone.values() for name, is_clean in of.items() if is_clean}
        if names:
            known = [*names[:MOST], *([f"{len(names) - MOST} more"] * (len(names) > MOST))]
            is_false = (
                "see that unclean.leader.election.enable is false: another replica would lead without its records"
            )
            is_false = "there is no leader meanwhile" if {*names} <= clean else is_false
            yield Precaution(
                f"let {listed(known)} get another ISR member: the broker that stops is the only one; where none joins, "
                f"{is_false}"
            )

    def with_controller(self, kind: FindingKind) -> FindingKind:
        """Return a kind whose way out lets no controller fail over that does not exist: a broker starts instead."""
        if self.capture.controller is None and "delete /controller" in kind.way_out:
            way_out = kind.way_out.replace("delete /controller", self._becomes_controller())
            kind = evolve(kind, way_out=way_out, acts=kind.acts | Act.RESTART)
        if self.capture.controller is None and self.capture.live and FAIL_OVER in kind.way_out:
            way_out = kind.way_out.replace(FAIL_OVER, self._becomes_controller())
            kind = evolve(kind, way_out=way_out, acts=kind.acts | Act.RESTART)
        if not self.capture.live and FAIL_OVER in kind.way_out:
            way_out = kind.way_out.replace(FAIL_OVER, "start brokers")
            kind = evolve(kind, way_out=way_out, acts=kind.acts | Act.START)
        return kind

    def _becomes_controller(self) -> str:
        """Return which broker restarts where there is no /controller to delete: none that others wait for."""
        has_order = any(one.kind is kinds.BROKER_DOWN for one in self.observations)
        if not self.capture.live:
            order = " as the way out of those that are down says," * has_order
            return f"start a broker,{order} which becomes the controller"
        others = [b for b in self.capture.live if b not in self.alone]
        which = f"broker {others[0]}" if others else "a broker"
        why = "" if others else "; each is the only ISR member of a partition, which has no leader meanwhile"
        is_down = not others and has_order
        start = "start a broker that is down, as its way out says, or " * is_down
        return f"{start}restart {which}, so that it becomes the controller (there is no /controller to delete{why})"


def _names(observations: Iterable[Observation]) -> frozenset[str]:
    return frozenset(one.kind.name for one in observations)
