"""Ways out of topic ids that differ: which logs are kept, and which id is written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from attrs import evolve

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import (
    MOST,
    PLANNED,
    ByKind,
    ByPlace,
    Facts,
    PartitionLogs,
    grouped,
    joined,
    state_text,
    states_text,
)
from kwalk.invariants.reading.hazards import OF_IDS
from kwalk.model.kafka.snapshots.capture import Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    LATER_IDS,
    brokers,
    each,
    epochs_ahead,
    fetches_by_topic_id,
    files_of,
    listed,
    other_topic_of,
    refused_at_start,
    sent_id,
    served_without_state,
)
from kwalk.model.kafka.snapshots.procedures import EPOCHS_ABOVE, state_above_logs
from kwalk.model.language.inspection import FindingKind, Observation

REFUSED = (kinds.FETCH_REFUSED, kinds.FETCH_REFUSED_MIXED, kinds.FETCH_REFUSED_IN_MEMORY)
DIFFERING = (kinds.ID_DIFFERS, kinds.IDS_MIXED, kinds.ID_DIFFERS_IN_MEMORY)
NOT_LED = "nothing else than that no leader serves it"
"""What topic ids that differ do to a partition without a leader."""


class TopicIdAdvice(Facts):
    """Kinds about topic ids."""

    @property
    def by_kind(self) -> ByKind:
        """The kinds, and how each says what is so in this snapshot."""
        return {
            **dict.fromkeys((*OF_IDS, *DIFFERING), self._of_ids),
            kinds.ID_MISSING: self._of_missing,
            kinds.DOWN_WITH_ANOTHER_ID: self._of_other_ids,
        }

    @property
    def by_place(self) -> ByPlace:
        """The kinds whose way out is made of that of each place."""
        return {kinds.GARBLED_ID: self._of_garbled}

    def _of_ids(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind about ids with what the logs show."""
        places, made = self.places(observations), kind
        if kind in OF_IDS and places:
            way_out = joined(self._remedies(places)) or kind.way_out
            made = evolve(kind, cause=self._cause(kind, places), way_out=self._with_states(way_out, places))
        if kind in DIFFERING and fetches_by_topic_id(self.capture.version):
            led = [one for one in observations if self.is_led(one)]
            serves = "the leader's log has the topic id that brokers hand out"
            where = f" of {listed([one.subject for one in led][:MOST])}" if led != observations else ""
            made = evolve(made, now=f"nothing for consumers{where}: {serves}" if led else NOT_LED)
        if kind is kinds.ID_DIFFERS and places and self._is_sent_own_id(places):
            made = evolve(made, later=f"after the next failover of the controller, {made.later}")
        if kind in DIFFERING and all(self._can_lead(one) for one in observations):
            made = evolve(made, later=made.later.replace(kinds.NO_LEADER, kinds.OTHERS_LEAD))
        if kind is kinds.ID_SENT and any(one.kind in REFUSED for one in self.observations):
            made = evolve(made, now="consumers ask by the id that the controller sends: see the leader that refuses it")
        return made

    def _of_missing(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of znodes without an id; it says which one to write where that is not plain."""
        named = list(self._written_ids(observations))
        return evolve(kind, way_out=f"{kind.way_out}: {listed(named)}") if named else kind

    def _of_other_ids(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of logs with another id on brokers that are down."""
        later = self._later_logs(observations)
        known = grouped(self._of_another_id, [one for one in observations if one.subject not in later])
        return evolve(kind, way_out=joined([*self._of_later_logs(later), *known]))

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
        written, others = self._of_topics(places)
        known = [place for place in places if not (place.is_created_again or place.has_rivals)]
        unseen = [place for place in known if not any(self._shows(b, place) for b in place.kept)]
        # Until the next controller has read the id, a log that is made anew gets the present one.
        joining = [place for place in known if written and place not in unseen and self._may_join(place)]
        yield from (sentence + " after the next step" for sentence in self._moving(joining))
        yield from written
        yield from self._moving([place for place in known if place not in (*unseen, *joining)])
        for place in unseen:
            if place.kept and place.apart:
                whose = f"the snapshot lacks that of {brokers(place.kept)}, which they are compared with"
                yield f"keep all logs of {place.name}: {whose}; collect it (kwalk collect --logs)"
        yield from others

    @staticmethod
    def _may_join(place: PartitionLogs) -> bool:
        """Whether a log that is to be moved away has the id of those that are kept: with that its broker follows."""
        return any(place.lineages.logs[b].topic_id in (None, *place.ids) for b in place.apart)

    def _of_topics(self, places: Sequence[PartitionLogs]) -> tuple[list[str], list[str]]:
        """Return which ids to write into znodes, and what else to do about topics whose ids differ."""
        writes, others = list[str](), list[str]()
        restarting: set[int] = set()
        for name in dict.fromkeys(place.topic.name for place in places):
            known = [place for (topic, _), place in self.logs.items() if topic == name]
            again = [place for place in known if place.is_created_again]
            topic, label = known[0].topic, topic_label(name)
            ids, removing = self._ids(topic), self._removing_ids(known[0])
            if self._is_chosen(known):
                continue
            if again:
                others.append(self._of_created_again(again, ids, removing))
            elif len(ids) > 1 and (unread := self._only_in_unread(topic)):
                others.append(
                    f"see first which id partition.metadata of {label} has on {brokers(unread)}, which the snapshot "
                    "lacks (kwalk collect --logs): whether an id fits all logs depends on it"
                )
            elif len(ids) > 1 or self._others(topic):
                why = f"no id in the znode fits the logs of all partitions of {label}"
                if self._others(topic):
                    why = f"the logs of {label} have the id of {listed(self._others(topic))}, and two topics must not"
                others.append(f"{why}: {removing}")
            elif (
                ids
                and topic.topic_id not in ids
                and (topic.topic_id or sent_id(self.capture, topic) not in (None, *ids))
            ):
                writes.append(f"the id {min(ids)}, which the logs have, into the znode of {label}")
                restarting |= set(refused_at_start(self.capture, topic))
            elif topic.topic_id is not None and sent_id(self.capture, topic) not in (None, topic.topic_id):
                others.append(f"fail the controller over: the znode of {label} has the id of the logs already")
        if not writes:
            return [], others
        why = "a log that has refused the first request of its process is offline until the process ends"
        restarts = f", and restart {brokers(restarting)}: {why}" if restarting else ""
        once = " once all are written: two topics must not have one id then" if len(writes) > 1 else ""
        return [f"write {listed(writes)}, then fail the controller over{once}{restarts}"], others

    @staticmethod
    def _is_chosen(places: Iterable[PartitionLogs]) -> bool:
        """Whether the topic id depends on which records are kept, as logs that differ have different ones."""
        rivals = [(place.lineages.logs, choice) for place in places if place.has_rivals for choice in place.choices]
        ids = [{logs[b].topic_id for b in choice.keeps} - {None} for logs, choice in rivals]
        return any(held != ids[0] for held in ids)

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
                older.append(f"the state of {place.name}: {state_text(state.leader_epoch, f'broker {served.leader}')}")
            ahead = epochs_ahead(self.capture, place.topic, place.partition, place.kept)
            if ahead:
                wanted, others = self.state_above(place.topic, place.partition, ahead)
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
        found: dict[tuple[int, ...], dict[tuple[int, ...], list[str]]] = {}
        for place in places:
            others, first = self.with_another_log(place)
            for hosts in place.moved_together(place.kept) if place.kept else ():
                leads = {*hosts} & {*others}
                is_led = not leads or (first and leads.isdisjoint(self.capture.live))
                if self._may_move(hosts, place.kept) and is_led:
                    found.setdefault(tuple(first) if leads else (), {}).setdefault(hosts, []).append(place.name)
                else:
                    asked = f"{PLANNED} what to do about {place.name}: no live broker has the log that it is to have"
                    why = self.obstacle([place.name])
                    yield f"no plan has {place.name}: {why}" if why else asked
        for starting, by_hosts in found.items():
            before = f"start {brokers(starting, 'or')} first, so that it leads, and " if starting else ""
            yield from (before + sentence for sentence in self._each_moved(by_hosts))

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
            why = self.obstacle(names)
            for keeps, moved, fitted in choices:
                if leads := self._led_by(names, moved, keeps):
                    before = f"move nothing away before one of them leads: {brokers(leads)} would, with an empty log"
                    ways.append(f"to keep those of {brokers(keeps)}, {before}")
                    continue
                may_move = all(self._may_move(hosts, keeps) for hosts in moved)
                unsaid = [f"no plan has it: {why}" if why else f"{PLANNED} what to do"]
                steps = self._each_moved(dict.fromkeys(moved, names)) if may_move else unsaid
                ways.append(f"to keep those of {brokers(keeps)}, {fitted}{', and '.join(steps)}")
            which = f"{listed(names)} {each(names, 'is', 'are')}"
            planned = "" if why else " (kwalk diagnose --plan has each way)"
            yield f"choose which records {which} to have{planned}: {'; '.join(ways)}"

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
        above = self.state_above(place.topic, place.partition, ahead)[0] if ahead else ""
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
            epoch, leader, _ = self.leader_above(topic, number, latest)
            least = max(epoch, topic.states[number].leader_epoch + EPOCHS_ABOVE)
            found.setdefault((topic.name, identity), []).append((subject, least, leader))
        for (name, identity), wanted in found.items():
            names = listed([subject for subject, *_ in wanted])
            yield (
                f"if ZooKeeper was restored from a backup of before the logs of {names}, write before a broker starts "
                f"the id {identity}, which they have, into the znode of {topic_label(name)}, and "
                f"{each(wanted, 'this state', 'these states')}: {states_text(wanted)}; {LATER_IDS}; if the logs are "
                f"of an earlier topic of the name, move {names} away while their brokers are stopped"
            )

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
