"""Ways out for state znodes and topics in ZooKeeper that are gone, or older than logs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import IF_RESTORED, ByKind, ByPlace, Facts, PartitionLogs, states_text
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.invariants.reading.hazards import OF_STATES
from kwalk.model.kafka.snapshots.at_rest import offline_replicas
from kwalk.model.kafka.snapshots.capture import topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    brokers,
    disks_of_others,
    each,
    epochs_ahead,
    listed,
    lost_state,
    skips_older_versions,
)
from kwalk.model.kafka.snapshots.former_logs import set_aside_logs
from kwalk.model.kafka.snapshots.lineage import newest_logs
from kwalk.model.kafka.snapshots.procedures import EPOCHS_ABOVE, KNOWN_CONTROLLER, state_above_logs
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.language.inspection import FindingKind, Observation


class StateAdvice(Facts):
    """Kinds about what ZooKeeper lacks, or has of an earlier moment."""

    @property
    def by_kind(self) -> ByKind:
        """The kinds, and how each says what is so in this snapshot."""
        return {
            **dict.fromkeys(OF_STATES, self._of_older),
            **dict.fromkeys((kinds.WITHOUT_STATE, kinds.NO_LIVE_REPLICA), self._of_missing),
            kinds.STATE_IS_LOST: self._of_lost,
            kinds.CONTROLLER_EPOCH_BEHIND: self._of_controller_epoch,
            kinds.DISK_OF_ANOTHER: self._of_disks,
        }

    @property
    def by_place(self) -> ByPlace:
        """The kinds whose way out is made of that of each place."""
        return {kinds.NO_PARTITIONS: self._of_no_partitions, kinds.NO_REPLICAS: self._of_no_replicas}

    def _of_older(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind of states that are older than logs."""
        restarts = Act.STOP * skips_older_versions(self.capture.version)
        unserved = kind is kinds.STATE_BEHIND_LOGS and not any(self.is_led(one) for one in observations)
        now = kinds.NOT_AVAILABLE if unserved else kind.now
        return evolve(kind, now=now, way_out=self._of_states(observations) + IF_RESTORED, acts=kind.acts | restarts)

    def _of_missing(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind of partitions without a state: an election may lose what logs have."""
        with_logs = list(self._with_logs(self.places(observations)))
        if kind is kinds.NO_LIVE_REPLICA and with_logs:
            later = "the first replica that starts leads at leader epoch 0, whatever its log has"
            cause = (
                f"the state znode was removed by hand, or is missing in what was restored or copied; or {kind.cause}"
            )
            title = "a partition has logs and no state, and all its replicas are down"
            way_out = f"start no broker {with_logs[0]}; then {kind.way_out}"
            return evolve(kind, title=title, later=later, cause=cause, way_out=way_out)
        return evolve(kind, way_out="; but not ".join([kind.way_out, *with_logs]))

    def _of_lost(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of states that are gone while their leaders serve."""
        return evolve(kind, way_out=self._of_lost_states(self.places(observations)))

    def _of_controller_epoch(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of a controller epoch that brokers refuse."""
        above = max(int(one.fields["epoch"]) for one in observations) + EPOCHS_ABOVE
        return evolve(kind, way_out=f"set /controller_epoch to {above} or more, then fail the controller over")

    def _of_disks(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of log directories of another broker or cluster: ZooKeeper may be the wrong one."""
        if former := self._former_cluster():
            return evolve(kind, way_out=former if former[0].islower() else f"{kind.way_out}. {former}")
        owners = {root.broker_id for b, root in disks_of_others(self.capture) if root.broker_id != b}
        owners &= {*self.capture.live}
        known = sorted(b for b in owners if b is not None and self.capture.brokers[b].roots)
        if not known:
            return kind
        has = each(known, "it has", "they have")
        more = (
            f"{brokers(known).capitalize()} {each(known, 'runs', 'run')}: attach the disk there again only if {has} "
            "made none of its partitions anew, as no broker starts with one twice; else keep it: it may have records "
            "that replicas lack"
        )
        return evolve(kind, way_out=f"{kind.way_out}. {more}")

    def _of_states(self, observations: Sequence[Observation]) -> str:
        """Return which states partitions need whose states are older than their logs."""
        wanted, looked = list[tuple[str, int, str]](), dict[tuple[int, ...], list[str]]()
        names = [one.subject for one in observations]
        observations = [one for one in observations if one.subject not in self.elsewhere]
        if not observations:
            return f"see to {listed(names)}: brokers that are no replicas have later records"
        hosts = [(one, broker) for one in observations for broker in one.fields["brokers"].split()]
        for one in observations:
            topic, number = self.capture.topics[one.fields["topic"]], int(one.fields["partition"])
            known = newest_logs(self.capture, topic, number)
            if known:
                above = state_above_logs(self.capture, topic, number, known[0]).leader_epoch
                wanted.append((one.subject, above, f"broker {known[0]}"))
            else:
                latest = epochs_ahead(self.capture, topic, number, topic.partitions[number])
                epoch, leader, others = self.leader_above(topic, number, latest)
                wanted.append((one.subject, epoch, leader))
                looked.setdefault(tuple(others), []).append(one.subject)
        first = "".join(
            f"look at the logs of {listed(names)} on {brokers(others)} first, which may have later records; "
            for others, names in looked.items()
            if others
        )
        topics = {one.fields["topic"] for one in observations}
        ahead = (self.log(int(b), self.capture.topics[o.fields["topic"]], int(o.fields["partition"])) for o, b in hosts)
        is_other = (
            "; if they are of an earlier topic of the name, move them away while their brokers are stopped, instead"
        )
        is_other *= any(log is not None and log.topic_id is None for log in ahead)
        return (
            f"neither stop nor start a broker before this is done; {first}if the logs of "
            f"{listed([name for name, *_ in wanted])} are of the present {each(topics, 'topic', 'topics')}, write "
            f"{each(wanted, 'this state znode', 'these state znodes')}, with the data version that was read: "
            f"{states_text(wanted)}; then {self._informed() if self.capture.live else 'start brokers'}{is_other}"
        )

    def _informed(self) -> str:
        """Return how brokers that run get states that were written where ZooKeeper has gone back."""
        above = self.capture.controller_epoch + EPOCHS_ABOVE
        raised = f"set /controller_epoch to {above} or more, as {KNOWN_CONTROLLER}"
        return f"{raised}, and fail the controller over{self._restarted()}"

    def _with_logs(self, places: Iterable[PartitionLogs]) -> Iterator[str]:
        """Yield what to do before an election of partitions without state whose replicas have logs.

        Kafka: ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions takes the first live replica as leader at
        epoch 0, and all live ones as ISR, whatever their logs have.
        """
        known = [(place, latest) for place in places if (latest := self._latest_epochs(place))]
        states = [(place.name, *self.leader_above(place.topic, place.partition, e)[:2]) for place, e in known]
        ids = {topic_label(p.topic.name): identity for p, _ in known if (identity := self._only_id(p)) is not None}
        written = [f"{identity} into the znode of {label}" for label, identity in ids.items()]
        if states:
            yield (
                "before you know whose records the logs are: the first live replica would lead, whatever its "
                "log has, and the others would lose what it lacks. To keep the records, create the state znodes first: "
                f"{states_text(states)}{', and write the topic id ' * bool(written)}"
                f"{listed(written) if written else ''}; to begin with empty logs, move the directories away while "
                "their brokers are stopped"
            )

    def _only_id(self, place: PartitionLogs) -> str | None:
        """Return the topic id of all logs of a partition, if it is another one than ZooKeeper's."""
        logs = (self.log(b, place.topic, place.partition) for b in place.topic.partitions.get(place.partition, ()))
        ids = {log.topic_id for log in logs if log is not None}
        return ids.pop() if len(ids) == 1 and place.topic.topic_id not in ids else None

    def _latest_epochs(self, place: PartitionLogs) -> dict[int, int]:
        """Return the last leader epochs of the replicas' logs with records of the topic, by broker."""
        replicas = place.topic.partitions.get(place.partition, ())
        found = {b: self.capture.directory(b, place.topic.name, place.partition) for b in replicas}
        own = (None, place.topic.topic_id, self._only_id(place))
        return {
            b: max((epoch for epoch, _ in log.leader_epochs or ()), default=0)
            for b, log in found.items()
            if log and log.topic_id in own and (log.is_empty is False or log.leader_epochs)
        }

    def _of_lost_states(self, places: Iterable[PartitionLogs]) -> str:
        """Return which state znodes to create where brokers lead without one: those that lead go on."""
        states, is_later = [], False
        for place in places:
            served = lost_state(self.capture, place.topic, place.partition)
            if served is not None and served.leader is not None:
                is_later |= served.leader_epoch > 0  # a controller begins at 0, which brokers accept as they start
                state = state_above_logs(self.capture, place.topic, place.partition, served.leader)
                failed = offline_replicas(self.capture, place.topic, place.partition)
                others = dict.fromkeys((b for b in served.isr if b not in failed), served.leader_epoch)
                leader = f"broker {served.leader}"
                if served.leader in failed and others:
                    leader = self.leader_above(place.topic, place.partition, others)[1]
                states.append((place.name, state.leader_epoch, leader))
        return (
            f"{'stop no broker before this is done; ' * is_later}create the state znodes again, with those above them "
            f"that are gone: {states_text(states)}; then fail the controller over{self._restarted()}"
        )

    def _restarted(self) -> str:
        """Return what lets brokers take up states whose znodes have lower versions than those that they have seen."""
        if not skips_older_versions(self.capture.version):
            return ""
        return (
            "; a leader that does not lead then has seen a later version of the znode (state-change.log: since the "
            "leader is already at a newer partition epoch): restart it, and then its followers"
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
        """Return which replicas to write: those that the ISR and the logs show; or that they stay.

        Kafka: KafkaController.isReassignmentComplete: of no replicas none is outside of the ISR.
        """
        name, number = one.fields["topic"], int(one.fields["partition"])
        topic = self.capture.topics[name]
        if number in topic.partitions:
            return (
                f"before the next failover, take {one.subject} out of adding_replicas and removing_replicas in the "
                "JSON of its topic's znode, with the data version that was read"
            )
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
