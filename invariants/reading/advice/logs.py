"""Ways out for logs: records that only some have, last copies, and logs that are no replica's."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from attrs import evolve

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import (
    IF_RESTORED,
    MOST,
    REASSIGN,
    ByKind,
    ByPlace,
    Facts,
    grouped,
    joined,
    place_of,
    states_text,
)
from kwalk.invariants.reading.hazards import OF_STRAYS
from kwalk.model.kafka.snapshots.at_rest import members_without_log
from kwalk.model.kafka.snapshots.capture import Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import LATER_IDS, brokers, each, listed, lost_topics, strangers
from kwalk.model.kafka.snapshots.lineage import emptied_brokers, same_disks
from kwalk.model.kafka.snapshots.misnamed import names_given_back, rivals_of
from kwalk.model.language.inspection import FindingKind, Observation

TWO_PATHS = "see first that they are two, and not one directory by two paths, as of a link (ls -Lid)"
NOT_READ = {
    "replication-offset-checkpoint": "high watermarks begin at 0 then, and rise as followers fetch",
    "recovery-point-offset-checkpoint": "all logs are read then",
    "log-start-offset-checkpoint": "records that clients have deleted may come back",
    "cleaner-offset-checkpoint": "the cleaner begins with the first record of each compacted log again",
    "leader-epoch-checkpoint": "the broker may truncate the log by its high watermark, and is not to be elected for it",
}
"""What a broker does without a checkpoint, by its name."""
ONLY_MEMBER = (
    "as the only ISR member it leads, with all its records; other replicas may then keep what differs: once it leads, "
    "move their logs away while their brokers are stopped"
)


class LogAdvice(Facts):
    """Kinds about logs."""

    @property
    def by_kind(self) -> ByKind:
        """The kinds, and how each says what is so in this snapshot."""
        return {
            kinds.RECORDS_ARE_LOST: self._of_lost_records,
            kinds.RECORDS_ELSEWHERE: self._of_records_elsewhere,
            kinds.OFFLINE_REPLICA: self._of_offline_replicas,
            kinds.ISR_MEMBER_HAS_NO_LOG: self._again,
            kinds.MISNAMED: self._of_misnamed,
            **dict.fromkeys(kinds.OF_LACKING, self._of_deleted_logs),
            **dict.fromkeys(OF_STRAYS, self._of_left_logs),
        }

    @property
    def by_place(self) -> ByPlace:
        """The kinds whose way out is made of that of each place."""
        return {
            kinds.TWO_DIRECTORIES: self._of_two,
            kinds.GARBLED_CHECKPOINT: self._of_garbled_checkpoint,
            **dict.fromkeys((kinds.LAST_COPY_IS_DELETED, kinds.LAST_COPY_MOVES), self._of_last_copy),
            **dict.fromkeys(kinds.OF_LACKING, self._of_lacking),
            kinds.ISR_MEMBER_HAS_NO_LOG: self._of_no_log,
        }

    def _of_records_elsewhere(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of records on brokers that are no replicas."""
        return evolve(kind, way_out="; ".join(self._of_elsewhere(observations)) + IF_RESTORED)

    def _of_misnamed(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of directories with the logs of other partitions, of which a broker may have the last one."""
        found: dict[str, dict[int, bool]] = {}
        for one in observations:
            topic, b = self.capture.topics[one.fields["topic"]], int(one.fields["brokers"])
            is_open = bool(rivals_of(self.capture, topic, int(one.fields["partition"]), b))
            hosts = found.setdefault(topic.name, {})
            hosts[b] = hosts.get(b, False) or is_open
        ways = []
        for name, hosts in found.items():
            names = {b: names_given_back(self.capture, self.capture.topics[name], b) for b in hosts}
            if any(hosts.values()):
                where = listed([f"on broker {b} {given}" for b, given in names.items()], "or")
                ways.append(
                    f"look at the records of {topic_label(name)} on {brokers(hosts)} (kafka-dump-log.sh "
                    "--print-data-log): one of them has each log under the name of the other, and nothing shows which. "
                    f"There, while it is stopped, give each directory its own name again: {where}"
                )
            else:
                ways += [
                    f"while broker {b} is stopped, give each directory its own name again: {names[b]}" for b in hosts
                ]
        then = (
            "then inspect again. If it has run since they were renamed, keep copies of all of them first, and compare "
            "(kafka-dump-log.sh): what it has got meanwhile is of the other partition"
        )
        return evolve(kind, way_out="; ".join([*ways, then]))

    def _of_offline_replicas(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of replicas on failed disks; another partition may have its only log on such a disk."""
        is_only = any(one.kind is kinds.OFFLINE_LOG for one in self.observations)
        made = evolve(kind, way_out=kinds.OFFLINE_LOG.way_out) if is_only else kind
        topics = ((one, self.topics.get(one.fields["topic"])) for one in observations)
        anew = [o.subject for o, t in topics if t is not None and self.begins_anew(t, int(o.fields["partition"]))]
        if not anew:
            return made
        first = (
            f"copy {listed(anew)} from the failed disk first, if it can be read: the logs of the ISR begin with a later"
            " leader epoch than the first, and what the replica has before goes; then"
        )
        return evolve(made, way_out=f"{first} {made.way_out}")

    def _of_deleted_logs(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of ISR members that lack records: they may have deleted their logs with the topic."""
        places = ((one, self.capture.topics[one.fields["topic"]], int(one.fields["partition"])) for one in observations)
        gone = [o.subject for o, topic, number in places if emptied_brokers(self.capture, topic, number)]
        deleted = (
            f"; or {listed(gone)} was being deleted, and the topic's marker in /admin/delete_topics was removed by "
            "hand: until the controller fails over, a broker that starts deletes its log, too"
        )
        return evolve(kind, cause=kind.cause + deleted) if gone else kind

    def _again(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind that is seen for a moment, too, while a log is made."""
        return evolve(kind, way_out=f"inspect again; if it is still so, {kind.way_out}")

    def _of_lost_records(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of records that leaders lack: committed ones, if a high watermark shows it."""
        title = kind.title.replace("committed records", "records, perhaps committed ones,")
        is_shown = any(one.certain for one in observations)
        return evolve(kind, title=kind.title if is_shown else title, way_out="; ".join(self._saving(observations)))

    def _saving(self, observations: Sequence[Observation]) -> Iterator[str]:
        """Yield how the last copies of records are saved before their brokers truncate them."""
        for number in dict.fromkeys(one.fields["brokers"] for one in observations):
            names = listed([one.subject for one in observations if one.fields["brokers"] == number])
            is_up = self.capture.brokers[int(number)].alive  # to stop it could leave other partitions without a leader
            when = f"at once, while broker {number} still has them," if is_up else f"before broker {number} starts,"
            yield f"{when} copy {names} there to another place"
        yield "what is lost can be read from the copies (kafka-dump-log.sh --print-data-log) and produced again"

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

    def _of_elsewhere(self, observations: Iterable[Observation]) -> Iterator[str]:
        """Yield how records on brokers that are no replicas are kept, and served again."""
        found: dict[tuple[str, int], list[int]] = {}
        for one in observations:
            key = one.fields["topic"], int(one.fields["partition"])
            found.setdefault(key, []).append(int(one.fields["brokers"]))
        where, states = dict[str, list[str]](), dict[str, list[tuple[str, int, str]]]()
        for (name, number), hosts in found.items():
            topic, label = self.capture.topics[name], f"{topic_label(name)}-{number}"
            state, known = topic.states.get(number), self.last_epochs(topic, number, hosts)
            least = state.leader_epoch if state else 0
            epoch, leader, _ = self.leader_above(topic, number, {b: max(least, known.get(b, 0)) for b in hosts})
            where.setdefault(brokers(hosts), []).append(label)
            states.setdefault(listed(list(map(str, hosts))), []).append((label, epoch, leader))
        kept = listed([f"{listed(names)} on {hosts}" for hosts, names in where.items()])
        yield f"keep {kept}: do not write to the topic, delete it, or make the broker a replica of it"
        yield (
            "if a disk was attached to another broker, stop the brokers, and attach each disk to its own, and inspect "
            "again: logs that they have made meanwhile are then stray"
        )
        among = "in the topic's znode"
        written = (f"{states_text(wanted)}, and the replicas {hosts} {among}" for hosts, wanted in states.items())
        each_state = "this state" if len(found) == 1 else "these states"
        when = "if ZooKeeper was restored from a backup, or the replicas were written by hand, "
        when += f"write {each_state} while the brokers are stopped"
        yield f"{when}: {'; '.join(written)}"

    def _of_no_log(self, one: Observation) -> str:
        """Return what to do about an ISR member without a log: it may restart only while another member has one.

        So it is with each of its partitions: a broker restarts when what only its process has is saved.
        """
        bare, others = self._with_log(one)
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        isr = topic.states[number].isr
        down = {*isr} - {*self.capture.live}
        outside = sorted(self.capture.logs_of({*topic.partitions.get(number, ())} - {*isr}, topic.name, number))
        copy = f"; copy {one.subject} of {brokers(outside)} to another place, before it is truncated" if outside else ""
        leader, waiting = topic.states[number].leader, [b for b in outside if b not in self.capture.live]
        if waiting and leader in bare and self.capture.brokers[leader].leads(topic.name, number):  # seen on 3.4.1
            copy += f"; then start {brokers(waiting)}: replicas copy what broker {leader} has open"
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
            f"serve into another topic first{', or start an ISR member that has its log' * bool(down)}{copy}"
        )

    def _with_log(self, one: Observation) -> tuple[list[int], list[int]]:
        """Return the ISR members of a finding that show no log, and the live ones that show one."""
        topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
        live = (b for b in topic.states[number].isr if self.capture.brokers[b].alive and self.capture.brokers[b].seen)
        others = [b for b in live if self.capture.directory(b, topic.name, number)]
        return list(map(int, one.fields["brokers"].split())), sorted(others)

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
        them, copies = each(lacking, "it", "them"), each(lacking, "it copies", "they copy")
        again = f"start {them} when {each(lacking, 'it is', 'they are')} out of the ISR: {copies} the records then"
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
        epochs = self.last_epochs(topic, number, having) or dict.fromkeys(having, state.leader_epoch)
        above = self.state_above(topic, number, {b: max(epoch, state.leader_epoch) for b, epoch in epochs.items()})[0]
        first = f"{copy}; then " if leads else f"do not start {brokers(lacking)}; " * (not running)
        first += self._unless_copied(topic, number, having)
        return (
            f"{first}if what {brokers(lacking)} {each(lacking, 'has', 'have')} taken since may be lost, write the "
            f"state znode of {one.subject}, with the data version that was read: {above}; then fail the "
            "controller over. The log that was lost may have had later records: look for its disk"
        )

    def _is_needed(self, broker: int, name: str, number: int) -> bool:
        """Whether a broker leads another partition than this one with records that an ISR member lacks."""
        others = (one for one in self.observations if one.kind in kinds.OF_LACKING and place_of(one) != (name, number))
        return any(
            self.capture.topics[one.fields["topic"]].states[int(one.fields["partition"])].leader == broker
            and str(broker) in one.fields["having"].split()
            and not self.are_down(one)
            for one in others
        )

    def _unless_copied(self, own: Topic, number: int, hosts: Iterable[int]) -> str:
        """Return the condition that the logs of some brokers are no copies of those of other partitions of the topic.

        Two partitions begin with one batch if a producer has sent the same to both in one millisecond.
        """
        logs = {b: log for b in hosts if (log := self.log(b, own, number)) and log.first_batch is not None}
        others: dict[str, None] = {}
        for broker in self.capture.hosts:
            for other in own.partitions.keys() - {number}:
                there = self.log(broker.id, own, other)
                if there is not None and any(there.first_batch == log.first_batch for log in logs.values()):
                    others[f"{topic_label(own.name)}-{other}"] = None
        if not others:
            return ""
        name = f"{topic_label(own.name)}-{number}"
        return (
            f"unless {name} of {brokers(sorted(logs))} was copied from {listed(sorted(others))}, whose first batch it "
            "has (then move it away while its broker is stopped, and write no state): "
        )

    def _of_garbled_checkpoint(self, one: Observation) -> str:
        """Return what to do about a checkpoint that no broker can read.

        Kafka: LeaderEpochFileCache.endOffsetFor: a leader without the epochs that it is asked for answers with the
        start of its next one.
        """
        directory, _, name = one.fields["file"].rpartition("/")
        topic = self.capture.topics.get(directory.rpartition("-")[0])
        state = topic.states.get(int(directory.rpartition("-")[2])) if topic else None
        is_only = state is not None and state.isr == (int(one.fields["brokers"]),)
        return (
            f"move {one.fields['file']} of {one.subject} to another place before it starts again: "
            f"{ONLY_MEMBER if is_only else NOT_READ.get(name, 'it is made anew')}"
        )

    def _of_two(self, one: Observation) -> str:
        """Return which of two directories of a partition a broker may start with."""
        number = int(one.fields["brokers"])
        topic = self.capture.topics.get(one.fields["topic"])
        state = None if topic is None else topic.states.get(int(one.fields["partition"]))
        others = [b for b in (state.isr if state else ()) if b != number and self.capture.brokers[b].alive]
        if others:
            return (
                f"{TWO_PATHS}; while broker {number} is stopped, move one directory of {one.subject} away, that on the "
                "disk which failed; what is left copies from the leader. Compare the one that was moved with the "
                "leader's log before it is removed: if another disk was in its place, it may have the only records"
            )
        return (
            f"{TWO_PATHS}; keep both directories of {one.subject} on broker {number}: no other live broker is in the "
            "ISR. Compare "
            "leader-epoch-checkpoint and the last segments, and while the broker is stopped move away the one that "
            "ends earlier"
        )

    def _of_left_logs(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of logs on brokers that are no replicas; some lead the partition."""
        used = [one.subject for one in observations if self._in_use(one)]
        others = f"; of others, {kind.now}" * (len(used) < len(observations))
        now = f"{listed(used[:MOST])}: the broker leads the partition, or is in its ISR{others}" if used else kind.now
        return evolve(kind, now=now, way_out=joined(self._of_strays(observations)))

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
        yield from grouped(self._of_stray, strays)
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
