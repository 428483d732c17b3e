"""Ways out for partitions by who leads them, and who is in the ISR."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import evolve

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import (
    BRING_BACK,
    OF_HANDS,
    REASSIGN,
    ByKind,
    ByPlace,
    Facts,
    joined,
    state_text,
    states_text,
)
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.invariants.reading.migrating import is_led_by_kraft
from kwalk.model.kafka.snapshots.at_rest import leader_before_hand, offline_replicas
from kwalk.model.kafka.snapshots.capture import MIN_IN_SYNC, UNCLEAN_ELECTIONS, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, counts_replicas, each, has_topic_ids, listed, served_as
from kwalk.model.kafka.snapshots.in_sync import is_refused
from kwalk.model.kafka.snapshots.procedures import EPOCHS_ABOVE, state_above_logs
from kwalk.model.language.inspection import FindingKind, Observation

OUT_OF_ISR = "delete /controller, and start the broker when it is out of the ISR"
"""What to do with an ISR member that is down and lacks records."""
IN_KRAFT: dict[str, Any] = {
    "later": "it lasts until a broker starts, or an election is asked for",
    "way_out": "take another snapshot after a minute, with a new copy of KRaft's log; if it is still so, "
    "kafka-leader-election.sh --election-type PREFERRED lets KRaft's controller elect a live broker of the ISR (not "
    "tried on real brokers); do not delete /controller",
    "cause": "a broker has just stopped or started; or the partition had no leader when it was copied",
    "acts": Act.NONE,
}
"""What is said of partitions without a leader whose ISR lives, where KRaft's controller elects.

Source: ReplicationControlManager.handleBrokerUnfenced, electLeader; PartitionChangeBuilder.electPreferredLeader.
"""


class ElectionAdvice(Facts):
    """Kinds about leaders and the ISR."""

    @property
    def by_kind(self) -> ByKind:
        """The kinds, and how each says what is so in this snapshot."""
        return {
            kinds.LEADER_DOES_NOT_LEAD: self._of_idle_leaders,
            kinds.DOES_NOT_ANSWER: self._of_silent,
            kinds.NO_LIVE_ISR: self._with_foreign_isr,
            kinds.OFFLINE_LOG: self._with_elections,
            kinds.EMPTY_ISR: self._without_isr,
            kinds.NOT_ELECTED: self._of_unelected,
            kinds.BELOW_MIN_ISR: self._of_few_in_sync,
            kinds.UNCLEAN_AHEAD: self._of_unclean,
            kinds.FOREIGN_ISR: self._of_foreign_isr,
            kinds.DEAD_IN_ISR: self._of_dead,
            kinds.LEADER_OUTSIDE_ISR: self._written,
            **dict.fromkeys((kinds.ISR_REPEATS, kinds.LEADER_IGNORES_STATE), self._inside),
            **dict.fromkeys(OF_HANDS, self._of_leaders_by_hand),
        }

    @property
    def by_place(self) -> ByPlace:
        """The kinds whose way out is made of that of each place."""
        return {kinds.EMPTY_ISR: self._of_empty_isr, kinds.LEADER_OUTSIDE_ISR: self._of_leader_outside}

    def _written(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind whose way out writes states; it stops those leaders only whose states it does not write."""
        general = kinds.LEADER_OUTSIDE_ISR.way_out
        if kind.way_out == general:
            return kind
        return evolve(kind, acts=Act.FAIL_OVER | kind.acts * (general in kind.way_out))

    def _of_leader_outside(self, one: Observation) -> str:
        """Return what to do about a leader that is not in the ISR: the state names it, if no other log ends later.

        The others would truncate what they have more.
        """
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        leader = topic.states[number].leader
        is_last = leader in self.newest(topic, number, topic.partitions.get(number, ()))[0]
        if leader is None or not is_last or not self.capture.shows(leader, topic.name, number):
            return kinds.LEADER_OUTSIDE_ISR.way_out
        state = state_above_logs(self.capture, topic, number, leader)
        wanted = state_text(state.leader_epoch, f"broker {leader}")
        return (
            f"do not stop broker {leader}; write the state znode of {one.subject}, with the data version that was "
            f"read: {wanted}; then fail the controller over"
        )

    def _without_isr(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of an empty ISR: a leader may serve on."""
        made = self._with_elections(kind, observations)
        if all(self._leads_on(one) for one in observations):
            return evolve(made, title=kinds.LEADS_WITHOUT_ISR, now=kinds.AS_THE_LEADER_KNOWS)
        return made

    def _of_foreign_isr(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of leaders and ISR members that are no replicas."""
        return evolve(kind, way_out=joined(self._of_foreign(kind, observations)) or kind.way_out)

    def _of_dead(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of ISR members that are down; one that lacks records must not lead."""
        if any(o.kind in kinds.OF_LACKING and self.are_down(o) for o in self.observations):
            return evolve(kind, way_out=kind.way_out.replace("start the broker or delete /controller", OUT_OF_ISR))
        return kind

    def _of_silent(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of brokers that do not answer; one may be the controller."""
        is_active = any(one.fields["broker"] == str(self.capture.controller) for one in observations)
        more = f"; broker {self.capture.controller} is the controller: if it hangs, no leader is elected anywhere"
        return evolve(kind, now=f"{kind.now}{more}") if is_active else kind

    def _of_idle_leaders(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of leaders that do not lead; one that no controller has informed does not by a restart."""
        leaders = self.stopped(observations, leaders=True)
        uninformed = {int(one.fields["broker"]) for one in self.observations if one.kind is kinds.NO_METADATA}
        if not leaders <= uninformed:
            return self._inside(kind, observations)
        cause = (
            f"{brokers(sorted(leaders))} {each(leaders, 'has', 'have')} got nothing from a controller since the start"
        )
        made = evolve(kind, cause=cause, way_out=kinds.NO_METADATA.way_out, acts=kinds.NO_METADATA.acts)
        return self._inside(made, observations)

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
        first = f"{BRING_BACK} {listed(unled)} back before any other broker starts" if unled else ""
        way_out = f"{way_out}; {first}" if self.capture.live and unled else first or way_out
        return evolve(kind, later="; ".join(later), way_out=way_out, acts=Act.START if unled else Act.NONE)

    def _has_no_member(self, one: Observation) -> bool:
        """Whether neither the leader nor an ISR member of the partition of a finding runs."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        able, state = self.capture.electable - offline_replicas(self.capture, topic, number), topic.states[number]
        return able.isdisjoint({state.leader, *state.isr})

    def _of_unelected(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of partitions whose ISR elects nobody; a disk may have failed, which only brokers show."""
        if is_led_by_kraft(self.capture):
            return evolve(kind, **IN_KRAFT)
        made = self._with_refusals(kind, observations)
        if any(b.alive and b.cache for b in self.capture.brokers.values()):
            return made
        disk = "see whether the ISR member's disk has failed (kafka-log-dirs.sh --describe): no election helps then"
        cause = f"{made.cause}; or a disk has failed, which no answer of a broker shows"
        return evolve(made, cause=cause, way_out=f"{disk}; otherwise {made.way_out}")

    def _with_refusals(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
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

    def _with_foreign_isr(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of partitions without a live ISR member; Kafka elects no member that is not a replica."""
        made = self._without_live_isr(kind, [self._unregistered(one) for one in observations])
        made = self._with_elections(made, observations)
        foreign = [one.subject for one in observations if self._elects_none(one)]
        if not foreign or self.capture.is_kraft:
            return made
        only = f"see to {listed(foreign)}, whose ISR has no replica: no start of its members ends it"
        is_all = len(foreign) == len(observations)
        way_out = only if is_all else f"{made.way_out}; {only}"
        return evolve(made, way_out=way_out, acts=Act.NONE if is_all else made.acts)

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

    def _elects_none(self, one: Observation) -> bool:
        """Whether the ISR of a partition has no replica, and all its members and the leader are down.

        Kafka: Election.leaderForOffline looks for live ISR members among the replicas of the assignment.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, replicas = topic.states.get(number), topic.partitions.get(number, ())
        members = [] if state is None else [b for b in (state.leader, *state.isr) if b is not None]
        return bool(members) and not any(b in replicas or self.capture.brokers[b].alive for b in members)

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
                above = state_text(state.leader_epoch + EPOCHS_ABOVE, f"broker {state.leader}")
                are, do = each(dead, "is", "are"), each(dead, "it does", "they do")
                others.append(
                    f"{brokers(dead)} in the ISR of {one.subject} {are} down, and no replica: stop no live ISR member, "
                    f"which would leave none there; if {do} not come back, write the state of {one.subject}, at "
                    f"the version that was read: {above}; then fail the controller over"
                )
                continue
            if self.elects_a_replica(one):
                others.append(
                    f"delete /controller: the next controller elects a live ISR member of {one.subject} that is a "
                    f"replica, and takes {brokers(dead) if dead else 'others'} out of the ISR"
                )
                continue
            if self._elects_none(one):
                elected = self.elected(topic, number, replicas)
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

    def _of_empty_isr(self, one: Observation) -> str:
        """Return who may lead a partition with an empty ISR, such as a live leader. In KRaft no state znode counts.

        What is on a failed disk, or was not read, may be all that there is.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        failed, state = offline_replicas(self.capture, topic, number), topic.states[number]
        log = None if state.leader is None else self.capture.directory(state.leader, topic.name, number)
        is_live = not self.capture.is_kraft and state.leader in self.capture.live and state.leader not in failed
        if is_live and log is not None and log.is_empty is not True:
            above = state_text(state.leader_epoch + EPOCHS_ABOVE, f"broker {state.leader}")
            keep = f"; keep the failed disk{'s' * (len(failed) > 1)} of {brokers(sorted(failed))}" if failed else ""
            return (
                f"broker {state.leader} may still lead {one.subject}: neither stop it nor elect another before you "
                f"write the state, at the version that was read: {above}; then fail the controller over{keep}"
            )
        hosts = [b for b in topic.partitions.get(number, ()) if b not in failed]
        unread = [b for b in hosts if not self.capture.shows(b, topic.name, number)]
        first = [f"repair the failed disk{'s' * (len(failed) > 1)} of {brokers(sorted(failed))}"] if failed else []
        first += [f"read the log directories of {brokers(unread)}, which the snapshot lacks"] if unread else []
        before = f"{' and '.join(first)} first: the records of {one.subject} may be there; then " if first else ""
        elected = self.elected(topic, number, [b for b in topic.partitions.get(number, ()) if b not in failed])
        by_hand = "" if self.capture.is_kraft else ", or a state znode that names it"
        if not elected:
            given = kinds.EMPTY_ISR.way_out
            return before + (given.replace(", or a state znode that names", " of") if self.capture.is_kraft else given)
        return before + (
            f"compare the logs of {one.subject} first: records that the new leader lacks are lost; an unclean election "
            f"of {elected}{by_hand}"
        )

    def _leads_on(self, one: Observation) -> bool:
        """Whether the leader in the state of a partition answers that it leads, at the leader epoch of the state."""
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        state, served = topic.states[number], served_as(self.capture, topic, number)
        return served is not None and (served.leader, served.leader_epoch) == (state.leader, state.leader_epoch)

    def _of_leaders_by_hand(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind with the states whose leaders brokers answer: with later epochs, as they have read no version.

        A leader's changes of the ISR fail until it takes up a request, which it ignores at the epoch that it has.
        """
        wanted = list[tuple[str, int, str]]()
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            leader = leader_before_hand(self.capture, topic, number) or topic.states[number].leader
            wanted.append((one.subject, topic.states[number].leader_epoch + EPOCHS_ABOVE, f"broker {leader}"))
        which = each(wanted, "this state", "these states")
        again = "take another snapshot after a minute; if it is still so, " * (kind is kinds.ISR_BY_HAND)
        written = f"write {which}, at the version that was read: {states_text(wanted)}; then fail the controller over"
        return evolve(kind, way_out=again + written)

    def _inside(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind that restarts leaders, without those that are no replicas: none could lead after them."""
        outside = {one.subject for one in self.observations if one.kind is kinds.FOREIGN_ISR}
        found = [one.subject for one in observations]
        kept = [name for name in found if name in outside]
        if not kept:
            return kind
        only = f"do not restart the leader of {listed(kept)} before its ISR and its leader are replicas"
        return evolve(kind, way_out=only if len(kept) == len(found) else f"{kind.way_out}; but {only}")
