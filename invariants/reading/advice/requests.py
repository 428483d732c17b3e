"""Ways out for deletions, reassignments and elections that are asked for, and for configurations that are lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from attrs import evolve

from kwalk.invariants.reading import finding_kinds as kinds
from kwalk.invariants.reading.advice.facts import MOST, REASSIGN, ByKind, ByPlace, Facts
from kwalk.model.kafka.snapshots.at_rest import reassignment_of
from kwalk.model.kafka.snapshots.capture import COMPACTED, topic_label
from kwalk.model.kafka.snapshots.diagnosis import brokers, each, listed
from kwalk.model.language.inspection import FindingKind, Observation

OF_OFFSETS = "cleanup.policy=compact,compression.type=producer,segment.bytes=104857600"
OF_TRANSACTIONS = (
    "cleanup.policy=compact,compression.type=uncompressed,segment.bytes=104857600,unclean.leader.election.enable=false"
)
UNBEGUN = (
    "delete its mark in /admin/delete_topics before a broker starts: no controller has it in memory, and no log is "
    "gone. Otherwise "
)


class RequestAdvice(Facts):
    """Kinds about requests that wait, and configurations that are lost."""

    @property
    def by_kind(self) -> ByKind:
        """The kinds, and how each says what is so in this snapshot."""
        return {
            **dict.fromkeys((kinds.DELETION_WAITS, kinds.DELETION_PENDING), self._of_deletions),
            **dict.fromkeys((kinds.REASSIGNMENT, kinds.REASSIGNMENT_WAITS), self._of_reassignments),
        }

    @property
    def by_place(self) -> ByPlace:
        """The kinds whose way out is made of that of each place."""
        return {kinds.FAILOVER_FAILS: self.without_failing, kinds.NOT_COMPACTED: self._of_policy}

    def _of_policy(self, one: Observation) -> str:
        """Return how a topic of Kafka's own is compacted again, with the configuration that Kafka gives it.

        Kafka: GroupCoordinator.offsetsTopicConfigs, TransactionStateManager.transactionTopicConfigs.
        """
        name = one.fields["topic"]
        usual = OF_OFFSETS if name == COMPACTED[0] else OF_TRANSACTIONS
        least = "" if name == COMPACTED[0] else ", with transaction.state.log.min.isr as min.insync.replicas"
        unless = " unless log.cleanup.policy of all brokers is compact," * (not one.certain)
        return (
            f"at once,{unless} kafka-configs.sh --bootstrap-server BROKER --alter --entity-type topics --entity-name "
            f"{name} --add-config {usual} (what Kafka gives it by default{least}); if ZooKeeper was restored, compare "
            "the configurations of other topics with an earlier kafka-configs.sh --describe: without retention.ms or "
            "cleanup.policy the brokers' own retention deletes their records"
        )

    def _of_reassignments(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind of reassignments."""
        return evolve(kind, way_out="; ".join([kind.way_out, *self._of_moves(kind, observations)]))

    def _of_deletions(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return the kind of topics that are marked for deletion; brokers may serve them still."""
        is_served, served = all(one.fields["served"] for one in observations), kinds.DELETION_NOT_BEGUN
        if kind is kinds.DELETION_PENDING:
            until = "brokers serve the topic until its reassignment has ended; none of its name can be created"
            now = until if is_served else kind.now
            way_out = self._of_waiting_deletions(kind, observations)
            whole = [one.subject for one in observations if self._is_whole(one.fields["topic"])]
            if whole and not self.capture.live:
                way_out = f"if {listed(whole[:MOST])} {each(whole, 'is', 'are')} wanted, {UNBEGUN}{way_out}"
            return evolve(kind, now=now, way_out=way_out)
        if not is_served:
            return kind
        way_out = kinds.UNWANTED_MARK + kind.way_out
        return evolve(kind, now=served.now, later=served.later, cause=served.cause, way_out=way_out)

    def _is_whole(self, name: str) -> bool:
        """Whether all replicas of a topic show their logs."""
        partitions = self.capture.topics[name].partitions.items()
        return all(self.capture.logs_of(replicas, name, n).keys() == {*replicas} for n, replicas in partitions)

    def _of_waiting_deletions(self, kind: FindingKind, observations: Sequence[Observation]) -> str:
        """Return what deletions wait for, with no empty broker or disk in the place of one whose logs others need."""
        needed = {int(b) for one in observations for part in ("brokers", "disks") for b in one.fields[part].split()}
        sole = {
            f"{topic_label(topic.name)}-{number}": needed & {*state.isr}
            for topic in self.capture.topics.values()
            for number, state in topic.states.items()
            if topic.name not in self.capture.deleting and not self.are_at_hand(topic, number)
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
                    others = f"of {left} none is live and in the ISR" if now.left else "there are no others"
                    why = f"Kafka deletes the logs of replica{'s' * (len(now.added) > 1)} {added}, and {others}"
                    kept.setdefault(why, []).append(name)
        if without:
            yield f"nothing of {listed(without[:MOST])} is copied before a broker of the ISR leads: see to that first"
        refusing = (one for one in self.observations if one.kind is kinds.REPLICA_REFUSES)
        if refused := [one.subject for one in refusing if one.subject in led]:
            yield f"{listed(refused[:MOST])} waits for a replica that refuses the topic id: see to that first"
        if kind is kinds.REASSIGNMENT_WAITS and (led or not without):
            cancel = "" if kept else f", or cancel the reassignment (--cancel{self.later_tool()})"
            yield (
                "if it is gone for good, reassign the partition to live ISR members and other brokers that run "
                f"({REASSIGN}){cancel}"
            )
        for why, names in list(kept.items())[:MOST]:
            yield f"do not cancel the reassignment of {listed(names)}: {why}"
