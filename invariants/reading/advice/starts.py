"""What the start of brokers loses, and what is left if they are gone for good."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import starmap

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import BRING_BACK, LATEST, MOST, RAISED, REASSIGN, Facts, PartitionLogs
from kwalk.invariants.reading.hazards import OF_LAST_COPIES, OF_NO_REPLICAS, OF_STATES
from kwalk.model.kafka.snapshots.at_rest import members_without_log, offline_replicas
from kwalk.model.kafka.snapshots.capture import Directory, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, disks_of_others, each, is_led_from_outside, listed
from kwalk.model.kafka.snapshots.lineage import (
    end_of,
    has_lost_its_end,
    is_outdated,
    lagging_members,
    last_copies_aside,
    members_lacking_records,
    missed_by_members,
    shorter_members,
    unordered_members,
)
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language.inspection import FindingKind, Observation

ONE_IS_LEFT = "a controller that finds all ISR members down leaves one of them in the ISR, perhaps not the best"


class StartAdvice(Facts):
    """What ways out that start brokers must say."""

    def starting(self, way_out: str) -> str:
        """Return a way out that starts brokers, without those that would lead with a log that lacks records."""
        bad: dict[int, str] = {}
        unseen: dict[int, list[PartitionLogs]] = {}
        own: dict[int, str] = {}
        planned: set[int] = set()
        late: dict[tuple[int, int], list[PartitionLogs]] = {}
        for (name, partition), place in self.logs.items():
            isr = place.topic.states[partition].isr if partition in place.topic.states else ()
            failed = offline_replicas(self.capture, place.topic, partition)
            if {*isr} & {*self.capture.live} - failed:
                continue
            isr = tuple(b for b in isr if b in place.topic.partitions.get(partition, ()))  # none else is elected
            with_another, first = self.with_another_log(place)
            lagging = lagging_members(self.capture, place.topic, partition)
            for broker, best in {**(dict.fromkeys(with_another, first[0]) if first else {}), **lagging}.items():
                late.setdefault((best, broker), []).append(place)
            replicas = place.topic.partitions.get(partition, ())
            is_copied = len(replicas) > 1 and not all(self.capture.lacks(b, name, partition) for b in replicas)
            loses = ", and the other replicas would lose the records that it does not have" if is_copied else ""
            for broker in (b for b in isr if b not in failed):
                log = self.capture.directory(broker, name, partition)
                before = broker in bad
                if not self.capture.shows(broker, name, partition):
                    unseen.setdefault(broker, []).append(place)
                elif broker in with_another and not first:
                    bad.setdefault(broker, f"log of {place.name} is another one{loses}")
                    own[broker] = ""
                elif is_outdated(self.capture, place.topic, partition, broker, log):
                    has = self._why_outdated(place, broker, log)
                    bad.setdefault(broker, f"log of {place.name} {has}{loses}")
                    own[broker] = self._unless_own(place, broker) if log else ""
                elif (log is None or log.is_empty) and not all(self.capture.shows(b, name, partition) for b in isr):
                    why = f"log of {place.name} is empty, and that of another ISR member not shown"
                    bad.setdefault(broker, why + loses)
                    own[broker] = ""
                if broker in bad and not before and not self.capture.is_kraft and not self.obstacle([place.name]):
                    planned.add(broker)
        down = self.capture.brokers.keys() - {*self.capture.live}
        others = sorted(b for b in down - unseen.keys() if self._has_unseen_replicas(b))
        parts = [
            *self._not_started(bad, own, planned),
            *self._compared(),
            *self._in_order(late),
            *self._longest_first({*bad, *(b for _, b in late)}),
        ]
        parts += self._others_start(way_out, bad, down)
        parts += starmap(_only_with_its_logs, unseen.items())
        its_own = f"see before that the log directories of {brokers(others)}, which the snapshot lacks, are its own"
        return "; ".join([*parts, *[its_own] * bool(others)])

    def _not_started(self, bad: Mapping[int, str], own: Mapping[int, str], planned: Set[int]) -> Iterator[str]:
        """Yield which brokers must not start, why, and what else there is to do.

        Args:
            bad: By broker, what is wrong with its log.
            own: By broker, when it may start all the same.
            planned: The brokers of which plans have the partition with that log.
        """
        short = (one.fields["brokers"] for one in self.observations if one.kind in kinds.OF_LACKING)
        lacking = {int(b) for numbers in short for b in numbers.split()}  # no plan has them
        same: dict[tuple[str, str], list[int]] = {}
        for broker, why in bad.items():
            otherwise = ", or follow kwalk diagnose --plan" if broker in planned else ""
            otherwise = ", or see how others get its place" if broker in lacking else otherwise
            same.setdefault((why, f"{otherwise}{own.get(broker, '')}"), []).append(broker)
        for (why, otherwise), which in same.items():
            disk = each(which, "the disk with its log", "the disks with these logs")
            yield f"do not start {brokers(which)}: {each(which, 'its', 'of each, the')} {why}; find {disk}{otherwise}"

    def _others_start(self, way_out: str, bad: Collection[int], down: Set[int]) -> Iterator[str]:
        """Yield a way out that starts brokers, where some must not start: it names the others, if there are any."""
        of_isr = kinds.NO_LIVE_ISR.way_out
        others = down - {*bad, self.capture.kraft_controller}
        if bad and (way_out.startswith(of_isr) or BRING_BACK in way_out):
            unserved = (one for one in self.observations if one.kind is kinds.NO_LIVE_ISR)
            states = (self.topics[one.fields["topic"]].states[int(one.fields["partition"])] for one in unserved)
            others = others & {b for state in states for b in state.isr}
        if bad and others:
            which = f"start {brokers(sorted(others))}"
            of_one = (text for text in (of_isr, kinds.BROKER_DOWN.way_out) if way_out.startswith(text))
            way_out = which + way_out.removeprefix(text) if (text := next(of_one, None)) else way_out
        if others or not bad:
            yield way_out
        elif not way_out.startswith(BRING_BACK) and BRING_BACK in way_out:
            yield way_out.partition(f"; {BRING_BACK}")[0]

    def _why_outdated(self, place: PartitionLogs, broker: int, log: Directory | None) -> str:
        """Return what a log that must not lead lacks."""
        if has_lost_its_end(self.capture, place.topic, place.partition, broker):
            return "has lost its end: one that copied it has more"
        if log is not None and log.end == 0:
            return "is empty, and others have records"
        if missed := missed_by_members(self.capture, place.topic, place.partition).get(broker):
            first = min(missed.values())
            return (
                f"lacks records from offset {first.offset} on, which {brokers(missed)} {each(missed, 'has', 'have')}"
                f"{first.condition}"
            )
        return "lacks the last leader epochs, and others may have more" if log else "is gone"

    def _unless_own(self, place: PartitionLogs, broker: int) -> str:
        """Return when the log of the only ISR member is the best one though nothing shows it."""
        others = (b for b in place.topic.partitions[place.partition] if b != broker)
        is_shown = all(self.capture.shows(b, place.topic.name, place.partition) for b in others)
        return "" if is_shown else "; only if its disk was neither changed nor restored from a copy, it may start"

    def _compared(self) -> Iterator[str]:
        """Yield which logs to compare before a broker starts, as nothing shows which one has the last records."""
        found: dict[tuple[int, ...], list[str]] = {}
        for place in self.logs.values():
            if members := unordered_members(self.capture, place.topic, place.partition) or self._unread_rivals(place):
                found.setdefault(members, []).append(place.name)
        for members, names in found.items():
            which = f"{listed(names)} on {brokers(members)}"
            yield f"compare the logs of {which} (kafka-dump-log.sh), and start the one first with {LATEST}"

    def _unread_rivals(self, place: PartitionLogs) -> tuple[int, ...]:
        """Return the ISR members if several are, all are down, and the log of one is not shown: it may be longer."""
        isr = place.topic.states[place.partition].isr if place.partition in place.topic.states else ()
        are_shown = all(self.capture.shows(b, place.topic.name, place.partition) for b in isr)
        is_down = not any(self.capture.brokers[b].alive for b in isr)
        return isr if len(isr) > 1 and is_down and not are_shown else ()

    def _longest_first(self, but: Set[int]) -> Iterator[str]:
        """Yield which broker starts first, as it has records that others lack though none of them was committed.

        Args:
            but: Brokers of which another sentence says why they do not start first.
        """
        found: dict[int, tuple[set[int], list[str]]] = {}
        for place in self.logs.values():
            is_ordered = not unordered_members(self.capture, place.topic, place.partition)
            shorter = shorter_members(self.capture, place.topic, place.partition) if is_ordered else {}
            for broker, best in shorter.items() if but.isdisjoint((*shorter, *shorter.values())) else ():
                others, names = found.setdefault(best, (set(), []))
                others.add(broker)
                names.append(place.name)
        late = {b for others, _ in found.values() for b in others}
        for best, (others, names) in found.items() if late.isdisjoint(found) else ():
            yield (
                f"start broker {best} before {brokers(sorted(others))}: it has records of "
                f"{listed(list(dict.fromkeys(names)))} that others lack, and that producers with acks=1 count on"
            )

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
            lacks = "is another one" if broker in places[0].apart else lacks
            names = listed([place.name for place in places])
            yield f"start broker {best} before broker {broker}, whose log of {names} {lacks}"
        if len(bests) == 1 and not self.capture.live:
            yield f"start broker {next(iter(bests))} before all others: {ONE_IS_LEFT}"

    def if_gone(self, kind: FindingKind, observations: Sequence[Observation]) -> Iterator[str]:
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
                if not live and is_led_from_outside(self.capture, topic, number):
                    continue
                lacking = {*members_lacking_records(self.capture, topic, number), *self._with_no_log(topic, number)}
                is_led = not live <= lacking
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
            if refusing := [one.subject for one in self.served_until_epochs_rise()]:
                yield f"reassign {listed(refusing)} when the topic id is seen to: the leader epoch rises, and {RAISED}"
        yield from self._losses([*lost.values()])

    def _with_no_log(self, topic: Topic, number: int) -> set[int]:
        """Return the ISR members without a log of a partition on disk, and who has one with an id that others lack."""
        hosts = {*topic.partitions.get(number, ()), *(topic.states[number].isr if number in topic.states else ())}
        logs = {b: log for b in hosts if (log := self.capture.directory(b, topic.name, number)) is not None}
        own = any(topic.topic_id is not None and log.topic_id == topic.topic_id for log in logs.values())
        others = [b for b, log in logs.items() if own and log.topic_id not in (None, topic.topic_id)]
        return {*members_without_log(self.capture, topic, number), *others}

    def _unless_earlier(self, gone: Collection[int]) -> str:
        """Return of which partitions brokers may have earlier records than ISR members.

        They are under an id that was erased, or the logs of ISR members begin with a later leader epoch, and the others
        are not shown.
        """
        anew = [
            f"{topic_label(topic.name)}-{number} before leader epoch {epoch}"
            for topic in self.capture.topics.values()
            for number, replicas in topic.partitions.items()
            if topic.name not in self.capture.deleting and (epoch := self.begins_anew(topic, number))
            if any(b in replicas and not self.capture.shows(b, topic.name, number) for b in gone)
        ]
        if anew:
            return f", but for records of {listed(anew)}, if there were any: the leader's log begins there"
        other = (o for o in self.observations if o.kind is kinds.DOWN_WITH_ANOTHER_LOG and not o.certain)
        named = [one.subject for one in other if {*gone} & {int(b) for b in one.fields["brokers"].split()}]
        why = "if their topic id was only replaced" if len(named) > 1 else "if its topic id was only replaced"
        return f", but for the earlier records of {listed(named)}, {why}" if named else ""

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
            having += self._hosts_of(one) if one.kind in OF_NO_REPLICAS else []
            goes = one.kind is kinds.LEADER_LACKS_RECORDS  # what runs follows the leader, and truncates its log
            if broker in having and (goes or not any(self.capture.brokers[b].alive for b in having)):
                found.append(one)
        return list(dict.fromkeys(one.subject for one in found))

    def _hosts_of(self, one: Observation) -> list[int]:
        """Return the brokers with a log of the partition of a finding; those of its ISR where it has a state."""
        name, number = one.fields["topic"], int(one.fields["partition"])
        state = self.topics[name].states.get(number) if name in self.topics else None
        if state is not None and state.isr:
            return list(state.isr)
        return [broker.id for broker in self.capture.hosts if self.capture.directory(broker.id, name, number)]

    def _latest_without_isr(self, one: Observation) -> list[int]:
        """Return the replicas that may have the last records of a partition whose ISR is empty; those down count first.

        Where logs are not shown, or nothing shows which one ends last, one that runs is no proof of a copy.
        """
        topic, number = self.topics[one.fields["topic"]], int(one.fields["partition"])
        replicas = topic.partitions.get(number, ())
        unseen = [b for b in replicas if not self.capture.shows(b, topic.name, number)]
        last, are_one = self.newest(topic, number, [b for b in replicas if b not in unseen])
        down = [b for b in (*last, *unseen) if not self.capture.brokers[b].alive]
        return down if unseen or not are_one else list(last)

    def _losses(self, places: Iterable[tuple[Topic, int]], *, is_disk: bool = False) -> Iterator[str]:
        """Yield what is lost of partitions without a live ISR member, and who could lead without being in the ISR."""
        found: dict[tuple[str, str], list[str]] = {}
        for topic, number in places:
            isr, failed = topic.states[number].isr, offline_replicas(self.capture, topic, number)
            gone = [b for b in isr if is_disk or not self.capture.brokers[b].alive]
            if not gone or (is_disk and self.are_at_hand(topic, number)):
                continue
            what = f"the disk{'s' * (len(gone) > 1)} of {brokers(gone)}" if is_disk else brokers(gone)
            condition = f"if {what} {each(gone, 'is', 'are')} gone for good"
            left = [b for b in topic.partitions.get(number, ()) if b not in (*isr, *failed)]
            elected = self.elected(topic, number, left)
            others = [b.id for b in self.capture.brokers.values() if b.id not in (*isr, *topic.partitions[number])]
            hosts = [b for b in others if self.capture.directory(b, topic.name, number)]
            where = [f"{brokers(hosts)}, which {each(hosts, 'is', 'are')} no replica"] * bool(hosts)
            where += [f"a failed disk of {brokers(failed - {*isr})}"] * bool(failed - {*isr})
            as_isr = [] if elected else self._with_the_id_of(topic, number, isr, left)
            where += [f"{brokers(as_isr)}, under another topic id than ZooKeeper's"] * bool(as_isr)
            owned = ((b, root.broker_id) for b, root in disks_of_others(self.capture))
            where += [f"a disk of broker {old} that broker {b} has" for b, old in owned if old in gone and old != b]
            where += self._aside(topic, number, () if is_disk else gone)
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

    def _aside(self, topic: Topic, number: int, gone: Collection[int]) -> Iterator[str]:
        """Yield where copies are that brokers move, or delete in a while, if what some brokers have is gone."""
        found = {*last_copies_aside(self.capture, topic, number), *last_copies_aside(self.capture, topic, number, gone)}
        if found:
            names = [f"{printable(name, 300)} of broker {b}{self._until(b, name)}" for b, name in sorted(found)]
            yield f"the copy that was moved or is to be deleted ({listed(names)})"

    def _until(self, broker: int, name: str) -> str:
        """Return how long a broker keeps a directory that it has set aside."""
        end = "file.delete.delay.ms is over" if self.capture.brokers[broker].alive else "it starts"
        return f", until {end}" * name.endswith("-delete")

    def _with_the_id_of(self, topic: Topic, number: int, isr: Collection[int], others: Iterable[int]) -> list[int]:
        """Return the brokers whose logs have records, and the topic id of ISR members' logs, or these are not shown."""
        ids = {log.topic_id for log in self.capture.logs_of(isr, topic.name, number).values()}
        logs = self.capture.logs_of(others, topic.name, number)
        return [b for b, log in logs.items() if log.is_empty is not True and (not ids or log.topic_id in ids)]


def _only_with_its_logs(broker: int, places: Sequence[PartitionLogs]) -> str:
    """Return how to start a broker whose log directories are not shown, and which would lead partitions."""
    has_others = any(len(place.topic.partitions.get(place.partition, ())) > 1 for place in places)
    loss = "and the other replicas would lose their records" if has_others else "without the records"
    return (
        f"broker {broker} only if its log directories, which the snapshot does not show, have its logs: with "
        f"empty ones it would lead {listed([place.name for place in places])}, {loss}"
    )
