"""What operators can do to a damaged cluster, and what may happen to it, as moves in the worlds of its parts.

The commands are those of Kafka 2.8.2 and 3.9.0, which are the same here (2.5 moves replicas with --zookeeper), and of
ZooKeeper's zkCli. ZK stands for the address of ZooKeeper with its chroot, BROKER for that of a broker, LOG_DIR for a
log directory of a broker.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import permutations

from attrs import evolve, frozen

from kwalk.model.kafka.snapshots.at_rest import offline_replicas
from kwalk.model.kafka.snapshots.capture import Capture, Topic, topic_label
from kwalk.model.kafka.snapshots.diagnosis import (
    LATER_IDS,
    disks_of_others,
    each,
    last_epochs,
    listed,
    other_topic_of,
    sentence,
)
from kwalk.model.kafka.snapshots.diagnosis import brokers as brokers_in_words
from kwalk.model.kafka.snapshots.in_sync import refusals, served_with
from kwalk.model.kafka.snapshots.lineage import (
    end_of,
    is_in_use,
    is_outdated,
    is_seen,
    last_copies_aside,
    latest_logs,
    lost_records,
    members_lacking_records,
    same_disks,
    shorter_members,
)
from kwalk.model.kafka.snapshots.untrusted_json import printable
from kwalk.model.kafka.snapshots.worlds import DELETION_ENDS, ClusterPart
from kwalk.model.language.recovery import Move, Procedure, WhatIf

NOTHING = Move(())
MOST_CONFIGURED = 1000
"""The default of reserved.broker.max.id: generated broker ids begin after it."""


def stop_script(where: str = "") -> str:
    """Return the command that stops a broker: it sends a signal and returns, before the broker has ended.

    Source: bin/kafka-server-stop.sh; a broker locks its log directories until then (LogManager.lockLogDirs).
    """
    return f"bin/kafka-server-stop.sh   # {where}{'; ' * bool(where)}wait until its process has ended"


def move_away(names: Iterable[str], where: str = "") -> str:
    """Return the command that moves directories away: in a log directory each folder has to be that of a partition.

    Source: LogManager.loadLogs, UnifiedLog.parseTopicPartitionName: else the broker does not start.
    """
    return f"mv {' '.join(map(shlex.quote, names))} BACKUP   # in LOG_DIR{where}; BACKUP is outside of it"


STOP = (stop_script(),)
START = ("bin/kafka-server-start.sh -daemon config/server.properties",)
REST = (
    "wait until kafka-topics.sh --bootstrap-server BROKER --describe --under-replicated-partitions prints nothing new, "
    "then take a snapshot"
)
WITHOUT_NEWEST = "write-states-without-newest"
REPLACE_DISK = "replace-disk "
START_EMPTY = "start-empty-broker "
"""How the names of steps begin that start a broker with empty disks in the place of one that is down."""
ELECT, ELECT_AFTER = "elect-unclean ", "elect-unclean-after-start "
"""How the names of steps begin that elect leaders outside of the ISR, and those that start brokers before."""
LOSSY = (ELECT, ELECT_AFTER, START_EMPTY, REPLACE_DISK, WITHOUT_NEWEST)
"""How the names of steps begin that may lose records."""
WITHOUT_FILES = "restart-without-metadata-files"
"""How the names of steps begin that start brokers without the metadata files of a topic, or of several."""
START_BROKER = "start-broker "
"""How the names of steps begin that start a broker which is down, as it was."""
START_IN_TURN = "start-brokers "
"""How the names of steps begin that start several of them."""
MOST_STARTS = 4
"""Of more brokers that are down, all start in one step, too."""
LEADS_NEXT = "becomes its leader, if it has none by then"
"""What an unclean election does with a live replica; a controller elects none in the place of a live leader."""
REPAIR_DISK = "repair-disk "
"""How the names of steps begin that bring a failed disk back, with its logs."""
MOST_SINGLY = 6
"""Of more topics, ids that all are lost are written in one step only, and metadata files are removed in one."""
BY_ITSELF = "happens by itself"
ROUTINE = "a routine restart"
OPERATOR_ONLY = "needs an operator or a client"


class Catalogue:
    """Makes procedures and what-ifs for the parts of a capture.

    Args:
        capture: the capture.
        parts: the parts, in the order of the worlds.
        left: the parts that have no world: what a step would do there is not looked at, and so none does anything.
    """

    def __init__(self, capture: Capture, parts: Sequence[ClusterPart], left: Sequence[ClusterPart] = ()) -> None:
        self.capture, self.parts, self.left = capture, tuple(parts), tuple(left)
        self.topics = tuple({part.topic.name: part.topic for part in parts}.values())
        self.brokers = tuple(sorted({b for part in parts for b in (*part.observed.brokers, *part.observed.alike)}))

    # What an operator can do, from what interrupts least to what interrupts most.

    def procedures(self) -> tuple[Procedure, ...]:
        """Return what an operator can do and does nothing to the parts that were left out, the cheapest first."""
        return within(self._steps, len(self.parts))[0]

    def withheld(self) -> tuple[str, ...]:
        """Return the names of the steps that would do something to the parts that were left out."""
        return within(self._steps, len(self.parts))[1]

    @cached_property
    def _steps(self) -> list[Procedure]:
        live = self._stoppable
        down = [b for b in self.brokers if not self.capture.brokers[b].alive]
        lost = [topic for topic in self.topics if self._lost_id(topic)]
        singly = [topic for topic in self.topics if len(lost) <= MOST_SINGLY or topic not in lost]
        found = [
            *([self._write_ids(lost)] if len(lost) > 1 else []),
            *(self._write_id(topic, identity) for topic in singly for identity in self._ids(topic)),
            *self._write_states(),
            self._fail_over(),
            *self._starts([b for b in down if b not in self._gone and b not in self._elsewhere]),
            *(self._repair_disk(b) for b in self._failed_disks()),
            *(self._replace_failed_disk(b) for b in self._failed_disks()),
            *(self._put_back(topic, b) for topic in self.topics for b in (*live, *down) if self._foreign(topic, b)),
            *(self._replace_disk(b) for b in down),
            *(self._set_id(*pair) for pair in self._same_disk().items()),
            *(self._give_directories(*pair) for pair in self._same_disk(in_use=True).items()),
            *(self._elect_unclean(topic) for topic in self.topics if self._leaderless(topic)),
            *(self._elect_unclean(topic, more) for topic in self.topics if (more := self._down_with_more(topic))),
            *(self._restart((b,)) for b in live if b not in self._alike),
            *([self._restart(live)] if len(live) > 1 else []),
            *self._removals(),
        ]
        return sorted(found, key=lambda one: one.cost)

    @property
    def _stoppable(self) -> list[int]:
        """The brokers that run, and start again once they were stopped."""
        return [b for b in self.brokers if self.capture.brokers[b].alive and b not in self._elsewhere]

    @cached_property
    def _alike(self) -> set[int]:
        """The brokers that a world is without, and those like them: no step is for one alone, as all may need it."""
        return {b for part in self.parts for n in part.observed.alike.values() for b in part.observed.named([n])}

    @cached_property
    def _gone(self) -> set[int]:
        """The brokers whose disks others have."""
        return {broker for part in self.parts for broker in part.choice.without}

    @cached_property
    def _elsewhere(self) -> set[int]:
        """The brokers that do not start, as they have disks of others."""
        return {broker for broker, _ in disks_of_others(self.capture)}

    def _removals(self) -> Iterator[Procedure]:
        """Yield restarts with files or directories removed meanwhile, broker by broker and for all in turn."""
        together = [topic for topic in self.topics if self._ids(topic)]
        if len(together) < 2 or all(map(self._lost_id, together)):  # ids that all are lost can be written
            together = []
        else:
            yield from self._removals_of_files(together)
        for topic in self.topics:
            is_left = topic.name in self.capture.topics and topic.name not in self.capture.deleting
            is_left &= any({*part.ids} - {topic.topic_id} for part in self.parts if part.topic.name == topic.name)
            if is_left and (len(together) <= MOST_SINGLY or topic not in together):
                yield from self._removals_of_files([topic])
            moving = [b for b in self.brokers if self._strays(topic, b) or self._apart(topic, b)]
            begins_empty = any(part.topic.name == topic.name and not part.choice.keeps for part in self.parts)
            is_gone = topic.name not in self.capture.topics
            if len(moving) == 1 or not begins_empty or is_gone:  # else none has a log to copy, and others' come back
                yield from (self._move_directories([topic], b) for b in moving if b not in self._alike)
            if len(moving) > 1 and not is_gone and self._alike.isdisjoint(moving):
                yield self._move_at_once(topic, moving)
        for broker in self.brokers:  # one that is down must not start with the logs of the other topics
            several = [topic for topic in self.topics if self._strays(topic, broker) or self._apart(topic, broker)]
            if len(several) > 1 and broker not in self._alike:
                yield self._move_directories(several, broker)

    def _removals_of_files(self, topics: Sequence[Topic]) -> Iterator[Procedure]:
        """Yield restarts without the metadata files of topics, broker by broker and for all in turn."""
        down = [b for b in self.brokers if not self.capture.brokers[b].alive]
        # Without its file, a log that is not kept would be taken up, unless it was moved away before.
        own = [b for b in self._stoppable if not any(self._apart(topic, b) for topic in topics)]
        stale = (b for b in down if any(self._has_another_id(topic, b) for topic in topics))
        yield from (self._remove_files(topics, (b,)) for b in (*own, *stale) if b not in self._alike)
        live = self._stoppable if own and all(map(self._is_read, topics)) else own
        if len(live) > 1:
            yield self._remove_files(topics, live)

    def _is_read(self, topic: Topic) -> bool:
        """Whether all logs of a topic were read, and none is on a failed disk."""
        parts = [part for part in self.parts if part.topic.name == topic.name]
        is_offline = any(one.offline for part in parts for one in part.observed.situation.brokers)
        return not is_offline and all(is_seen(log) for part in parts for log in part.lineages.logs.values())

    def _has_another_id(self, topic: Topic, broker: int) -> bool:
        """Whether a log that is kept has another topic id on a broker than ZooKeeper."""
        logs = (
            part.lineages.logs.get(broker)
            for part in self.parts
            if part.topic.name == topic.name and broker in part.choice.keeps
        )
        return any(log is not None and log.topic_id not in (None, topic.topic_id) for log in logs)

    def _ids(self, topic: Topic) -> list[str]:
        if topic.name not in self.capture.topics or topic.name in self.capture.deleting or topic.moving:
            return []  # what is written into the znode amid a reassignment may drop it, or bring it back
        parts = [part for part in self.parts if part.topic.name == topic.name]
        found = {identity for part in parts for identity in part.ids} - {topic.topic_id}
        logs = [(b in part.choice.keeps, log.topic_id) for part in parts for b, log in part.lineages.logs.items()]
        kept = {identity for is_kept, identity in logs if is_kept}
        if kept - {None}:  # a log that is not kept may be of an earlier topic
            found -= {identity for _, identity in logs} - kept
        return sorted(one for one in found if other_topic_of(self.capture, topic, one) is None)

    def _strays(self, topic: Topic, broker: int) -> list[int]:
        """Return the partitions of which a broker has a directory and is no replica."""
        prefix = f"{topic.name}-"
        names = (n for n in self.capture.brokers[broker].directories if n.startswith(prefix))
        numbers = sorted(int(n[len(prefix) :]) for n in names if n[len(prefix) :].isdecimal())
        return [n for n in numbers if broker not in topic.partitions.get(n, ())]

    def _write_id(self, topic: Topic, identity: str) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            number = part.identity(identity)
            if part.topic.name != topic.name or number is None:
                return (NOTHING,)
            return (Move(((f"write_topic_id(0, {number})",),)),)

        label = topic_label(topic.name)
        path = shlex.quote(f"/brokers/topics/{label}")
        return Procedure(
            f"write-topic-id {label} {identity}",
            f"Write the topic id {identity} into the znode of topic {label}.",
            self._in_each_part(moves),
            cost=1,
            commands=(
                *commands_to_write(topic, identity, topic.partitions),
                f"# or: bin/zookeeper-shell.sh ZK set {path} …, which takes -v too",
            ),
            before="no client older than 2.8 writes the topic, no reassignment of it is in flight, and the partitions "
            "are those that get prints",
            after=REST,
            risk="a wrong partition list loses partitions; -v refuses to overwrite what another client has written",
        )

    def _lost_id(self, topic: Topic) -> bool:
        """Whether all logs of a topic have one topic id, and ZooKeeper has none or another one."""
        logs = [log for part in self.parts if part.topic.name == topic.name for log in part.lineages.logs.values()]
        found = {log.topic_id for log in logs} - {None}
        return len(found) == 1 and found == {*self._ids(topic)}

    def _write_ids(self, topics: Sequence[Topic]) -> Procedure:
        """Return the step that writes the ids of several topics; faults happen between two of them, too."""
        ids = {topic.name: self._ids(topic)[0] for topic in topics}

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            number = part.identity(ids.get(part.topic.name, ""))
            return (NOTHING, NOTHING if number is None else Move(((f"write_topic_id(0, {number})",),)))

        singles = [self._write_id(topic, ids[topic.name]) for topic in topics]
        labels = [topic_label(topic.name) for topic in topics]
        return evolve(
            singles[0],
            name=f"write-topic-ids {' '.join(labels)}",
            title=f"Write the topic ids of topics {listed(labels)} into their znodes.",
            moves=self._in_each_part(moves),
            commands=tuple(command for one in singles for command in one.commands),
            before="no client older than 2.8 writes the topics, no reassignment of theirs is in flight, and the "
            "partitions are those that each get prints",
        )

    def _fail_over(self) -> Procedure:
        is_behind = any(part.is_behind for part in self.parts) and bool(self.capture.live)
        above = f"/controller_epoch {self.capture.controller_epoch + EPOCHS_ABOVE}"
        raising = (
            "zkCli.sh -server ZK get -s /controller_epoch   # note dataVersion",
            f"zkCli.sh -server ZK set -v DATA_VERSION {above}   # or more: {KNOWN_CONTROLLER}",
        )
        return Procedure(
            "fail-over",
            "Fail the controller over.",
            self._in_each_part(lambda part: (Move((("delete_controller()",),)),)),
            cost=2,
            commands=(
                *(raising if is_behind else ()),
                "zkCli.sh -server ZK delete /controller",
                "# or: bin/zookeeper-shell.sh ZK delete /controller",
            ),
            before=self._registered,
            after=REST,
            risk="for about a second no leader is elected; producers and consumers continue",
        )

    def _write_states(self) -> Iterator[Procedure]:
        """Yield the steps that write a new state where ZooKeeper's is older than all logs, or the ISR is none to elect.

        Where the newest log is on a broker that is down, another one gives it up for the newest log that is left. A
        live leader of a wrong ISR becomes the ISR; while the ISR is down, the member whose log ends last; and where
        there is no state, a replica whose log has all that the others have.
        """
        leaders = {"leaders": [part.leader_of_wrong_isr for part in self.parts]}
        leaders["latest"] = [next(iter(part.latest), None) for part in self.parts]
        leaders["first-leaders"] = [part.first_leader for part in self.parts]
        for which, brokers in leaders.items():
            found = [(part, b) for part, b in zip(self.parts, brokers, strict=True) if b is not None]
            if found:
                parts, leads = [part for part, _ in found], [broker for _, broker in found]
                yield self._write_leaders(f"write-states-of-{which}", parts, leads, cost=1)
        behind = [part for part in self.parts if part.is_behind]
        if behind:
            yield self._write_leaders("write-states", behind, [part.lineages.isr[0] for part in behind], cost=1)
        orders = [(part, part.lineages.isr if part.is_behind else part.latest) for part in self.parts]
        ordered = [(part, order) for part, order in orders if order]
        for gone in dict.fromkeys(order[0] for _, order in ordered if not self.capture.brokers[order[0]].alive):
            known = [[b for b in order if b != gone] for _, order in ordered]
            if all(known):
                parts, leads = [part for part, _ in ordered], [one[0] for one in known]
                yield self._write_leaders(f"write-states-of-next {gone}", parts, leads, cost=2)
        led = [(part, part.lineages.isr[0] if part.is_behind else part.first_leader) for part in self.parts]
        newest = [(part, broker) for part, broker in led if broker is not None]
        left = [self._newest_left(part) for part, _ in newest]
        others = [broker for broker in left if broker is not None]
        if len(others) == len(left) and others != [broker for _, broker in newest]:
            name = f"{WITHOUT_NEWEST} {' '.join(map(str, sorted(set(others))))}"
            yield self._write_leaders(name, [part for part, _ in newest], others, cost=10)

    def _newest_left(self, part: ClusterPart) -> int | None:
        """Return the broker with the newest log of those that run; None if none of them has one."""
        live = [b for b in part.lineages.logs if b in part.choice.keeps and self.capture.brokers[b].alive]
        length = partial(self._length, part.topic, part.partitions[0])
        return next((b for b in part.lineages.isr if b in live), max(live, key=length, default=None))

    def _write_leaders(self, name: str, parts: Sequence[ClusterPart], leaders: Sequence[int], cost: int) -> Procedure:
        """Return the step that writes states with a leader for each of some parts."""

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            if part not in parts:
                return (NOTHING,)
            key = f"write_state(0, 0, {part.number(leaders[parts.index(part)])})"
            return (Move(((key,),), release=part.joins),)

        states = [
            state_above_logs(self.capture, part.topic, number, leader)
            for part, leader in zip(parts, leaders, strict=True)
            for number in part.partitions
        ]
        newest = "the replica with the newest log that is left" if cost > 1 else "the replica with the newest log"
        is_led = parts[0].leader_of_wrong_isr is not None
        shown = "each get shows the state of the snapshot" if parts[0].has_state else "no partition has a state by now"
        idle = "no client writes to these partitions, and the logs on disks have the sizes of the snapshot (else take "
        return Procedure(
            name,
            f"Write states above all leader epochs: {'the broker that leads' if is_led else newest} leads, and is the "
            "whole ISR.",
            self._in_each_part(moves),
            cost=cost,
            once=frozenset(part.name for part in parts),
            commands=tuple(dict.fromkeys(command for state in states for command in state.commands)),
            before=f"{f'{idle}another one); ' * (not is_led)}{shown}"
            + f"; if ZooKeeper was restored from a backup, {LATER_IDS}" * any(part.is_behind for part in parts),
            after="go on at once: brokers are not informed of a state before a controller reads it",
            risk="records that the new leader lacks are lost: the other replicas truncate their logs to its log; "
            f"{'-v' if parts[0].has_state else 'create'} refuses to overwrite what another client has written",
        )

    def _down(self, started: Iterable[str], *but: int) -> list[str]:
        """Return the brokers that the capture shows down, without those that were started, and some others."""
        known = {str(b.id) for b in self.capture.brokers.values() if not b.alive and b.id not in but}
        return sorted(known - set(started), key=int)

    def _registered(self, started: frozenset[str]) -> str:
        down = self._down(started)
        none = "; there is a /controller again: a broker that restarts creates it" * (self.capture.controller is None)
        return (
            f"all brokers{f' but {listed(down)}' if down else ''} are in /brokers/ids{none * bool(self.capture.live)}"
        )

    def _starts(self, brokers: Sequence[int]) -> Iterator[Procedure]:
        """Yield the steps that start brokers: each alone, and of many all in turn."""
        yield from map(self._start_broker, brokers)
        if len(brokers) > MOST_STARTS:
            yield self._start_in_turn(brokers)

    def _start_in_turn(self, brokers: Sequence[int]) -> Procedure:
        """Return the step that starts brokers one after the other."""
        disks: dict[str, list[int]] = {}
        for broker in brokers:
            disks.setdefault(self._disk(broker), []).append(broker)
        return Procedure(
            f"{START_IN_TURN}{' '.join(map(str, brokers))}",
            f"Start {brokers_in_words(brokers)}, one after the other.",
            self._in_each_part(lambda part: tuple(_start(part, broker) for broker in brokers)),
            cost=len(brokers),
            commands=(*START, "# on each of them, in this order; wait as below before the next"),
            before="; ".join(
                f"{'each of ' * (len(group) > 1)}{brokers_in_words(group)}: {disk}" for disk, group in disks.items()
            )
            + "; `bin/zookeeper-shell.sh ZK ls /brokers/ids` shows none of them, and their processes are stopped: one "
            "that runs and does not reach ZooKeeper is not registered",
            after=REST,
            risk="none for the other brokers",
            starts=frozenset(map(str, brokers)),
        )

    def _start_broker(self, broker: int) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            return (_start(part, broker),)

        return Procedure(
            f"{START_BROKER}{broker}",
            f"Start broker {broker}.",
            self._in_each_part(moves),
            cost=1 + self._is_shorter(broker),
            commands=START,
            before=f"{self._disk(broker)}; `bin/zookeeper-shell.sh ZK ls /brokers/ids` does not show {broker}; its "
            "process is stopped: one that runs and does not reach ZooKeeper is not registered",
            after=REST,
            risk="none for the other brokers",
            starts=frozenset({str(broker)}),
        )

    def _is_shorter(self, broker: int) -> bool:
        """Whether a broker that may lead has a log that ends before that of another ISR member, and all are down."""
        places = ((part.topic, number) for part in self.parts for number in part.partitions)
        return any(broker in shorter_members(self.capture, topic, number) for topic, number in places)

    def _disk(self, broker: int) -> str:
        """Return what must be true of the disk of a broker that starts."""
        if self.capture.brokers[broker].seen and not self.capture.brokers[broker].assumed:
            unclean = list(self._elected_uncleanly(broker))
            clean = f"; unclean.leader.election.enable is false for {listed(unclean)}" if unclean else ""
            lost = self._lost_records(broker)
            copied = f", and {listed(lost)} there copied to another place: it truncates them" if lost else ""
            gone = self._deleted_copies(broker)
            copied += f", and {listed(gone)} there copied to another place: it deletes them" if gone else ""
            return f"its disks are as the snapshot shows them{copied}{clean}"
        unseen = f"the log directories of broker {broker}, which the snapshot does not show,"
        needed = list(self._only_member(broker))
        if not needed:
            return f"{unseen} are its own (ls LOG_DIR)"
        loss = "and the other replicas would lose their records" if any(needed) else "without the records"
        return f"{unseen} have its logs (ls LOG_DIR); with empty ones it must not start: it would lead, {loss}"

    def _may_elect_uncleanly(self, topic: Topic) -> bool:
        """Whether the controller may elect a replica of a topic that is not in the ISR."""
        return topic.elects_uncleanly is not False and topic.name not in self.capture.deleting

    def _elected_uncleanly(self, broker: int) -> Iterator[str]:
        """Yield the partitions of which a broker would be the first live replica, and is no ISR member."""
        for topic in self.capture.topics.values():
            for number, state in topic.states.items() if self._may_elect_uncleanly(topic) else ():
                replicas = topic.partitions.get(number, ())
                if broker in replicas and broker not in state.isr and self._online(topic, number).isdisjoint(replicas):
                    yield f"{topic_label(topic.name)}-{number}"

    def _only_member(self, broker: int) -> Iterator[bool]:
        """Yield for each partition whose ISR is down, and has a broker, whether it has other replicas."""
        for topic in self.capture.topics.values():
            for number, state in topic.states.items() if topic.name not in self.capture.deleting else ():
                if broker in state.isr and self._online(topic, number).isdisjoint(state.isr):
                    yield len(topic.partitions.get(number, ())) > 1

    def _restart(self, brokers: Sequence[int]) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            return tuple(move for b in brokers for move in (_stop(part, b), _start(part, b)))

        one = len(brokers) == 1
        what = brokers_in_words(brokers) if one else f"{brokers_in_words(brokers)}, one after the other"
        return Procedure(
            f"restart {' '.join(map(str, brokers))}",
            f"Restart {what}.",
            self._in_each_part(moves),
            cost=4 * len(brokers) - (not one),
            late=one,
            commands=(*STOP, *START, "# on each of them" if not one else f"# on broker {brokers[0]}"),
            before=partial(self._others_up, brokers=tuple(brokers)),
            after=REST,
            risk="while one is down, partitions have one replica less" + self._refused(brokers),
        )

    def _remove_files(self, topics: Sequence[Topic], brokers: Sequence[int]) -> Procedure:
        names = {topic.name for topic in topics}
        is_up = all(self.capture.brokers[broker].alive for broker in brokers)

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            taken: list[Move] = []
            for broker in brokers:
                number = part.number(broker)
                own = part.topic.name in names and number is not None
                remove = Move(((f"remove_metadata_files({number})",),)) if own else NOTHING
                taken += [*((_stop(part, broker),) if is_up else ()), remove, _start(part, broker)]
            return tuple(taken)

        labels = [topic_label(topic.name) for topic in topics]
        numbers, several = list(map(str, brokers)), len(topics) > 1
        files = f"partition.metadata of topic{'s' * several} {listed(labels)}"
        each = brokers_in_words(brokers) if len(brokers) == 1 else "each broker in turn"
        one = len(brokers) == 1
        title = (
            f"Stop {each}, remove {files} there, and start it"
            f"{'.' if one else f' before the next: brokers {listed(numbers)}.'}"
        )
        if not is_up:
            title = f"Remove {files} on {brokers_in_words(brokers)}, and start it."
        name = f"{WITHOUT_FILES} {labels[0]} {' '.join(numbers)}"
        if several:
            name = f"{WITHOUT_FILES}-of-topics {','.join(numbers)} {' '.join(labels)}"
        removals = (f"rm -f {' '.join(_files(topic))}   # in each LOG_DIR" for topic in topics)
        return Procedure(
            name,
            title,
            self._in_each_part(moves),
            cost=5 * len(brokers) - (not one),
            late=one,
            commands=(*(STOP if is_up else ()), *removals, *START),
            before=partial(self._others_up, brokers=tuple(brokers)),
            after=REST,
            risk=("while it is down, partitions have one replica less; " if is_up else "")
            + self._refused(brokers if is_up else (), "{}; ")
            + f"{listed(labels)} may have no leader until the last of them has started; " * (not one)
            + "the log then takes the id that the controller sends; leave leader-epoch-checkpoint in place",
            starts=frozenset() if is_up else frozenset(map(str, brokers)),
        )

    def _move_directories(self, topics: Sequence[Topic], broker: int) -> Procedure:
        """Return the step that moves directories away: strays, and logs of another lineage than the choice's."""
        strays = {topic.name: self._strays(topic, broker) for topic in topics}
        others = {topic.name: self._apart(topic, broker) for topic in topics}
        moved = {name: sorted({*strays[name], *others[name]}) for name in strays}
        is_up = self.capture.brokers[broker].alive

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            number = part.number(broker)
            own = number is not None and part.partitions[0] in moved.get(part.topic.name, ())
            move = Move(((f"move_directory_away({number}, 0, 0)",),)) if own else NOTHING
            return (*((_stop(part, broker),) if is_up else ()), move, _start(part, broker))

        def named(directories: Mapping[str, Sequence[int]]) -> list[str]:
            return [f"{topic_label(name)}-{number}" for name, numbers in directories.items() for number in numbers]

        names = named(moved)
        which = f"director{'ies' if len(names) > 1 else 'y'} {listed(names)}"
        title = f"Stop broker {broker}, move the {which} away, and start it."
        if not is_up:
            title = f"Move the {which} of broker {broker} away, and start it."
        is_begun = any(part.topic.name in moved and not part.choice.keeps for part in self.parts)
        copies = "the broker copies the leader's log"
        describe = "kafka-topics.sh --bootstrap-server BROKER --describe"
        own = " (it stays if its partition.metadata has the id of the logs that are kept)"
        own *= not self.capture.brokers[broker].seen
        what = [
            *([f"broker {broker} is no replica of {listed(named(strays))} ({describe})"] if named(strays) else []),
            *([f"the log of {listed(named(others))} is to be replaced{own}"] if named(others) else []),
        ]
        return Procedure(
            f"move-directories {' '.join(map(topic_label, moved))} {broker}",
            title,
            self._in_each_part(moves),
            cost=6,
            commands=(
                *(STOP if is_up else ()),
                move_away(names),
                *START,
            ),
            before=lambda started: listed([*what, self._others_up(started, (broker,))]),
            after=REST,
            risk=f"{'the topic begins with empty logs' if is_begun else copies}; " * bool(named(others))
            + "records in these directories are no longer served; keep the backup as long as they may be needed"
            + self._refused((broker,) if is_up else ()),
            starts=frozenset() if is_up else frozenset({str(broker)}),
        )

    def _move_at_once(self, topic: Topic, brokers: Sequence[int]) -> Procedure:
        """Return the step that moves directories of all brokers away while all are stopped: none can come back."""
        moved = {b: sorted({*self._strays(topic, b), *self._apart(topic, b)}) for b in brokers}
        live = [b for b in brokers if self.capture.brokers[b].alive]

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            away = []
            for broker, partitions in moved.items():
                number = part.number(broker)
                own = part.topic.name == topic.name and number is not None and part.partitions[0] in partitions
                away.append(Move(((f"move_directory_away({number}, 0, 0)",),)) if own else NOTHING)
            return (*(_stop(part, b) for b in live), *away, *(_start(part, b) for b in brokers))

        label = topic_label(topic.name)
        names = {b: [f"{label}-{n}" for n in partitions] for b, partitions in moved.items()}
        away = listed([f"{listed(found)} of broker {b}" for b, found in names.items()])
        return Procedure(
            f"move-directories-at-once {label} {' '.join(map(str, brokers))}",
            f"{f'Stop {brokers_in_words(live)}, then move' if live else 'Move'} {away} away, then start them.",
            self._in_each_part(moves),
            cost=4 + 3 * len(brokers),
            commands=(
                *([stop_script("on each of them")] if live else []),
                *(move_away(found, f" of broker {b}") for b, found in names.items()),
                f"{START[0]}   # on each of them",
            ),
            before=lambda started: f"the records of {away} are not wanted; {self._others_up(started, brokers)}",
            after=REST,
            risk="records in these directories are no longer served; keep the backup as long as they may be needed"
            + "".join(self._unserved_while(live, topic))
            + self._refused(live, at_once=True),
            starts=frozenset(str(b) for b in brokers if b not in live),
        )

    def _apart(self, topic: Topic, broker: int) -> list[int]:
        """Return the partitions of which a replica has a log that may be of another lineage than the wanted one."""
        return [
            number
            for part in self.parts
            if part.topic.name == topic.name and part.lineages.group_of(broker) is not None
            for number in part.partitions
            if broker in topic.partitions.get(number, ()) and broker not in part.choice.keeps
            if _serving(part, broker) is not None and broker not in part.choice.without
        ]

    def _others_up(self, started: Iterable[str], brokers: Sequence[int]) -> str:
        """Return the condition that no other broker is down, but those that the capture shows down.

        Where one that stops is the only ISR member, none may be elected that is not in the ISR.
        """
        down, alone = self._down(started, *brokers), self._led_alone(brokers)
        others = f"no broker but {listed(down, 'or')} is down" if down else "no other broker is down"
        return others + f"; unclean.leader.election.enable is false for {listed(alone)}" * bool(alone)

    def _refused(self, stopped: Collection[int], text: str = "; {}", *, at_once: bool = False) -> str:
        """Return which partitions refuse acks=all while brokers are stopped, in a text; empty if none does."""
        found = refusals(self.capture, stopped, at_once=at_once)
        return found and text.format(found)

    def _led_alone(self, stopped: Sequence[int]) -> list[str]:
        """Return the partitions of which one of some brokers is the only live ISR member, beside live replicas."""
        known = [
            (f"{topic_label(topic.name)}-{n}", self._online(topic, n), topic.partitions.get(n, ()), state.isr)
            for topic in self.capture.topics.values()
            for n, state in (topic.states.items() if self._may_elect_uncleanly(topic) else ())
        ]
        return [
            name
            for name, online, replicas, isr in known
            if len(members := online & {*isr}) == 1 and members <= {*stopped} and online & {*replicas} - members
        ]

    def _unserved_while(self, stopped: Sequence[int], but: Topic) -> Iterator[str]:
        """Yield what else has no leader while brokers are stopped at once, and that none may be elected uncleanly."""
        known = [
            f"{topic_label(topic.name)}-{n}"
            for topic in self.capture.topics.values()
            for n, state in (topic.states.items() if topic.name not in (but.name, *self.capture.deleting) else ())
            if (members := self._online(topic, n) & {*state.isr}) and members <= {*stopped}
        ]
        if known:
            named = [*known[:MOST_SINGLY], *([f"{len(known) - MOST_SINGLY} more"] * (len(known) > MOST_SINGLY))]
            yield f"; meanwhile {listed(named)} {each(known, 'has', 'have')} no leader: only if "
            yield "unclean.leader.election.enable is false there, the last of them that stopped leads again"

    def _replace_disk(self, broker: int) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            number = part.number(broker)
            return (NOTHING if number is None else Move(((f"replace_disk({number})",),)), _start(part, broker))

        return Procedure(
            f"{START_EMPTY}{broker}",
            f"If broker {broker} is gone for good, start a broker with the id {broker} and empty log directories.",
            self._in_each_part(moves),
            cost=12,
            commands=(f"# {_configured(broker)} in config/server.properties, log.dirs empty", *START),
            before=f"the machine or the disks of broker {broker} cannot be brought back",
            after=REST,
            risk=f"the logs that broker {broker} had are given up: the broker must not come back with them later"
            + "; where it leads, replicas that start later truncate their logs" * any(self._only_member(broker)),
            starts=frozenset({str(broker)}),
        )

    def _set_id(self, broker: int, earlier: int) -> Procedure:
        """Return the step that gives a broker the id under which its disk was written."""

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            source, target = part.number(broker), part.number(earlier)
            change = NOTHING if None in (source, target) else Move(((f"set_broker_id({source}, {target})",),))
            return (_stop(part, broker), change, _start(part, earlier))

        return Procedure(
            f"set-broker-id {broker} {earlier}",
            f"Stop broker {broker}, set its id to {earlier}, and start it.",
            self._in_each_part(moves),
            cost=7,
            commands=(
                *STOP,
                f"# {_configured(earlier)} in config/server.properties",
                f"sed -i.backup 's/^broker.id=.*/broker.id={earlier}/' meta.properties   # in each LOG_DIR",
                *START,
            ),
            before=f"the disk of broker {broker} is that of broker {earlier}, which has got another id (a lost "
            f"meta.properties, a new container); no other process has the id {earlier}",
            after=REST,
            risk=f"if broker {earlier} comes back with a disk of its own, two brokers have one id: the later one does "
            "not start" + self._refused((broker,)),
            starts=frozenset({str(earlier)}),
        )

    def _give_directories(self, broker: int, earlier: int) -> Procedure:
        """Return the step that moves the logs of a broker's earlier id to a broker of that id, which is empty."""
        pairs = [same_disks(self.capture, part.topic, part.partitions[0]) for part in self.parts]
        given = [part for part, pair in zip(self.parts, pairs, strict=True) if pair.get(broker) == earlier]
        names = sorted(f"{topic_label(part.topic.name)}-{n}" for part in given for n in part.partitions)

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            source, target = part.number(broker), part.number(earlier)
            change = NOTHING if target is None else Move(((f"replace_disk({target})",),))
            if part in given:
                change = Move(((f"set_broker_id({source}, {target})",),))
            return (_stop(part, broker), change, _start(part, broker), _start(part, earlier))

        which = f"director{'ies' if len(names) > 1 else 'y'} {listed(names)}"
        return Procedure(
            f"give-directories {broker} {earlier}",
            f"Stop broker {broker}, move its {which} to a broker with the id {earlier}, and start both.",
            self._in_each_part(moves),
            cost=8,
            commands=(
                stop_script(f"on broker {broker}"),
                f"mv {' '.join(map(shlex.quote, names))} NEW_LOG_DIR   # in LOG_DIR; rsync -a to another machine",
                f"{START[0]}   # on broker {broker}",
                f"{START[0]}   # with {_configured(earlier)}, and log.dirs=NEW_LOG_DIR",
            ),
            before=f"the disk of broker {broker} was that of broker {earlier}; no other process has the id {earlier}; "
            "NEW_LOG_DIR is empty, without meta.properties",
            after=REST,
            risk=f"until both have started, what broker {broker} has has one replica less" + self._refused((broker,)),
            starts=frozenset({str(earlier)}),
        )

    def _elect_unclean(self, topic: Topic, first: Sequence[int] = ()) -> Procedure:
        """Return the step that elects the replicas with the longest logs, while live ones before them are stopped.

        Args:
            topic: The topic.
            first: Brokers that are down, and start before: they have records that ISR members lack.
        """
        orders = self._live_orders(topic, first)
        live = {n: order for n, order in orders.items() if order}
        wanted = {n: max(order, key=lambda b: (b in first, self._length(topic, n, b))) for n, order in live.items()}
        before = {b for n, order in live.items() for b in order[: order.index(wanted[n])]}
        stopped = [] if before & set(wanted.values()) else sorted(before)

        def moves(part: ClusterPart) -> tuple[Move, ...]:
            own = part.topic.name == topic.name
            keys = tuple(f"elect_unclean({c}, 0, 0)" for c in range(len(part.observed.brokers)))
            elect = Move((keys,)) if own else NOTHING
            stops, starts = ([do(part, b) for b in stopped] for do in (_stop, _start))
            return (*(_start(part, b) for b in first), *stops, elect, *starts)

        label = topic_label(topic.name)
        elect = "bin/kafka-leader-election.sh --bootstrap-server BROKER --election-type UNCLEAN"
        elected = {n: next(b for b in order if b not in stopped) for n, order in live.items()}
        while_stopped = f" while {brokers_in_words(stopped)} {'is' if len(stopped) == 1 else 'are'} stopped"
        return Procedure(
            " ".join((f"{ELECT_AFTER if first else ELECT}{label}", *map(str, (*first, *stopped)))),
            f"{_beginning(first)} leaders of topic {label} that are not in the ISR{while_stopped if stopped else ''}.",
            self._in_each_part(moves),
            cost=10 + len(first) + len(stopped),
            commands=(
                *(f"{START[0]}   # on broker {b}" for b in first),
                *(stop_script(f"on broker {b}") for b in stopped),
                *(f"{elect} --topic {shlex.quote(label)} --partition {n}" for n in sorted(orders)),
                *(f"{START[0]}   # on broker {b}" for b in stopped),
            ),
            before=lambda started: (
                "no broker with later records can be brought back"
                + (f"; {self._others_up(started, stopped)}" if stopped else "")
            ),
            after=REST,
            risk="; ".join(
                (
                    *(self._elected(topic, n, b) for n, b in elected.items()),
                    *(f"the first live replica of {label}-{n} {LEADS_NEXT}" for n in orders.keys() - live.keys()),
                    "records that a new leader lacks are lost",
                )
            )
            + self._refused(stopped, at_once=True),
            starts=frozenset(map(str, first)),
        )

    def _down_with_more(self, topic: Topic) -> list[int]:
        """Return the brokers that are down and have records that members of an ISR without a live one lack.

        Or that the live replicas lack which would be elected in the place of the ISR.
        """
        found: set[int] = set()
        for number, live in self._live_orders(topic).items():
            isr, replicas = topic.states[number].isr, topic.partitions.get(number, ())
            lacking = members_lacking_records(self.capture, topic, number)
            found.update(b for having in lacking.values() for b in having if b not in isr)
            others = self.capture.logs_of({*replicas} & self._kept(topic, number) - {*isr}, topic.name, number)
            last = latest_logs(others)
            found.update(last if live and not {*live} & {*last} else ())
        return sorted(b for b in found if not self.capture.brokers[b].alive)

    def _kept(self, topic: Topic, partition: int) -> set[int]:
        """Return the brokers whose logs of a partition are kept."""
        own = (part for part in self.parts if part.topic.name == topic.name and partition in part.partitions)
        return {b for part in own for b in part.choice.keeps}

    def _live_orders(self, topic: Topic, first: Sequence[int] = ()) -> dict[int, list[int]]:
        """Return the live replicas of each partition without a live ISR member, in the order of its assignment."""
        found = {n for part in self.parts if part.topic.name == topic.name for n in part.partitions}
        live = {n: self._online(topic, n) | {*first} for n in sorted(found & topic.states.keys())}
        leaderless = [n for n, online in live.items() if online.isdisjoint(topic.states[n].isr)]
        return {n: [b for b in topic.partitions.get(n, ()) if b in live[n]] for n in leaderless}

    def _online(self, topic: Topic, partition: int) -> set[int]:
        """Return the live brokers that have no failed disk with a log of a partition."""
        live = {b.id for b in self.capture.brokers.values() if b.alive}
        return live - offline_replicas(self.capture, topic, partition)

    def _length(self, topic: Topic, partition: int, broker: int) -> tuple[int, int]:
        """Return the last leader epoch of a log, and its bytes, as far as they are known."""
        return end_of(self.capture.directory(broker, topic.name, partition))

    def _elected(self, topic: Topic, partition: int, broker: int) -> str:
        """Return who becomes the leader, and how long the logs of live replicas are."""
        logs = {b: self.capture.directory(b, topic.name, partition) for b in self._live_orders(topic)[partition]}
        sizes = {b: sum(log.segments.values()) for b, log in logs.items() if log and log.segments is not None}
        others = ", ".join(f"broker {b} {size:,}" for b, size in sizes.items() if b != broker)
        known = f", whose log has {sizes[broker]:,} bytes (that of {others})" if broker in sizes and others else ""
        return f"broker {broker} becomes the leader of {topic_label(topic.name)}-{partition}{known}"

    def _failed_disks(self) -> list[int]:
        known = (zip(part.observed.brokers, part.observed.situation.brokers, strict=True) for part in self.parts)
        return sorted({broker for brokers in known for broker, one in brokers if one.offline} - self._alike)

    def _leaderless(self, topic: Topic) -> bool:
        return any(self._online(topic, n).isdisjoint(state.isr) for n, state in topic.states.items())

    def _same_disk(self, *, in_use: bool = False) -> dict[int, int]:
        """Return the brokers whose disk is that of a broker which is down, by the choices of the parts.

        Args:
            in_use: Whether they have replicas of their own, so that they must keep their id.
        """
        found: dict[int, int] = {}
        for part in self.parts:
            pairs = same_disks(self.capture, part.topic, part.partitions[0])
            renamed = {broker: old for broker, old in pairs.items() if old in part.choice.without}
            found |= {broker: old for broker, old in renamed.items() if is_in_use(self.capture, broker) is in_use}
        return {broker: old for broker, old in found.items() if self._alike.isdisjoint((broker, old))}

    def _repair_disk(self, broker: int) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            return (_stop(part, broker), _start(part, broker, repaired=True))

        return Procedure(
            f"{REPAIR_DISK}{broker}",
            f"Repair the disk of broker {broker} that has failed, and restart the broker.",
            self._in_each_part(moves),
            cost=3,
            commands=(
                *STOP,
                "# mount the log directory again, with the logs that it had; a broker starts without one that fails",
                *START,
            ),
            before="the disk can be read: the logs on it are those that it had; "
            "grep 'Stopping serving logs in dir' logs/server.log names the log directory",
            after=REST,
            risk="with an empty disk in its place, the broker leads with empty logs, and the records are lost"
            if self._is_needed(broker)
            else "records that the leaders lack are truncated there: after an unclean election copy the logs before"
            + self._refused((broker,)),
        )

    def _replace_failed_disk(self, broker: int) -> Procedure:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            number = None if _serving(part, broker) is not None else part.number(broker)
            empty = NOTHING if number is None else Move(((f"replace_disk({number})",),))
            return (_stop(part, broker), empty, _start(part, broker, repaired=True))

        needed = self._is_needed(broker)
        copies = "leads with empty ones where no other replica leads" if needed else "copies those of the leaders"
        led = "" if needed else ", and each partition that had a log on it has a leader (kafka-topics.sh --describe)"
        return Procedure(
            f"{REPLACE_DISK}{broker}",
            f"Put an empty disk in the place of that of broker {broker} that has failed, and restart the broker.",
            self._in_each_part(moves),
            cost=12,
            commands=(*STOP, "# mount an empty disk at the path of the log directory that has failed", *START),
            before=f"the disk cannot be read{led}; grep 'Stopping serving logs in dir' logs/server.log names the "
            "log directory",
            after=REST,
            risk=f"the logs that the disk had are given up: broker {broker} {copies}" + self._refused((broker,)),
        )

    def _is_needed(self, broker: int) -> bool:
        """Whether a broker's failed disk has the log of an ISR member, and no other ISR member serves the partition."""
        situations = [part.observed.situation for part in self.parts if part.number(broker) is not None]
        return any(not any(one.in_isr and one.alive for one in situation.brokers) for situation in situations)

    def _foreign(self, topic: Topic, broker: int) -> list[int]:
        """Return the partitions that have a broker in the ISR, and not among their replicas.

        For one that is down, those that no other member leads, and of which it has a log.
        """
        if topic.name in self.capture.deleting:
            return []
        isrs = {number: state.isr for number, state in topic.states.items()}
        known = sorted(topic.partitions.items())
        found = [n for n, replicas in known if broker in isrs.get(n, ()) and broker not in replicas]
        if self.capture.brokers[broker].alive:
            return found
        unled = self._live_orders(topic)
        return [n for n in found if n in unled and self.capture.directory(broker, topic.name, n)]

    def _put_back(self, topic: Topic, broker: int) -> Procedure:
        """Return the step that lets Kafka take a broker out of the ISR that is no replica; one that is down starts.

        Replicas that were written by hand are new ones to the controller until the next one has read them, and it
        refuses new ones that are down: seen on 3.9.0 (KafkaController.validateReplicas). Where all replicas are down,
        they start first: else the broker's log goes, and it stays the whole ISR (seen on 3.4.1).
        """
        foreign = self._foreign(topic, broker)
        started = self._replicas_to_start(topic, foreign)
        down = sorted({b for n in foreign for b in topic.partitions[n] if not self.capture.brokers[b].alive} - started)
        is_refused, is_up = bool(down), self.capture.brokers[broker].alive
        starting = [*sorted(started), *[broker] * (not is_up)]
        stays = f"it stays in progress while {brokers_in_words(down)} {each(down, 'does', 'do')} not run: go on"

        moves = partial(
            _put_back_in, names=(topic.name, foreign), broker=broker, starting=starting, is_refused=is_refused
        )
        label = topic_label(topic.name)
        names_started = brokers_in_words(starting) if starting else ""
        names = listed([f"{label}-{number}" for number in foreign])
        fail_over = "zkCli.sh -server ZK delete /controller"
        add, verify, take = self._reassignments_there_and_back(topic, foreign, broker, stays if down else "")
        return Procedure(
            f"put-back {label} {broker}",
            sentence(
                f"{f'start {names_started}, ' * bool(starting)}{'fail the controller over, ' * is_refused}make broker "
                f"{broker} a replica of {names}, fail the controller over{' again' * is_refused}, and take the replica "
                "away again."
            ),
            self._in_each_part(moves),
            cost=5,
            commands=(
                *(f"{START[0]}   # on broker {number}" for number in starting),
                *(fail_over,) * is_refused,
                *add,
                *((verify, fail_over) if is_up else (fail_over, verify)),  # before, there may be no leader to copy
                *take,
            ),
            before="; ".join(
                [
                    f"no reassignment is in flight{f', and broker {broker} is up' * is_up}",
                    *(f"{f'broker {number}: ' * (len(starting) > 1)}{self._disk(number)}" for number in starting),
                ]
            ),
            after=REST,
            risk=f"if broker {broker} has no log of {names}, it copies the leader's in between; without the failover "
            "the controller does not take the replica out of the ISR",
            starts=frozenset(map(str, starting)),
        )

    def _reassignments_there_and_back(
        self, topic: Topic, partitions: Sequence[int], broker: int, stays: str
    ) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
        """Return the commands that add a replica to partitions, the one that waits for it, and those that take it."""
        narrow = {number: topic.partitions[number] for number in partitions}
        wider = {number: (*replicas, broker) for number, replicas in narrow.items()}
        server = "--zookeeper ZK" if self.capture.version.startswith("2.5.") else "--bootstrap-server BROKER"
        reassign = f"bin/kafka-reassign-partitions.sh {server} --reassignment-json-file"
        complete = "until it is complete"
        add, take = (
            (
                f"echo {shlex.quote(_reassignment(topic, replicas))} > {word}-{broker}.json",
                f"{reassign} {word}-{broker}.json --execute",
            )
            for word, replicas in (("with", wider), ("without", narrow))
        )
        verify = f"{reassign} with-{broker}.json --verify   # {stays or complete}"
        return add, verify, (*take, f"{reassign} without-{broker}.json --verify   # {complete}")

    def _replicas_to_start(self, topic: Topic, partitions: Iterable[int]) -> set[int]:
        """Return the replicas of those of some partitions of which all replicas are down, if they start as they are."""
        is_up = {b.id for b in self.capture.brokers.values() if b.alive}
        unserved = [topic.partitions[number] for number in partitions if is_up.isdisjoint(topic.partitions[number])]
        return {b for replicas in unserved for b in replicas if self._starts_as_it_is(b)} - self._gone

    def _in_each_part(self, moves: Callable[[ClusterPart], tuple[Move, ...]]) -> tuple[tuple[Move, ...], ...]:
        """Return the moves in the world of each part, and what they would be in those that have none."""
        return tuple(moves(part) for part in (*self.parts, *self.left))

    # What may happen.

    def what_ifs(self) -> tuple[WhatIf, ...]:
        """Return what may happen to the cluster."""
        without = {broker for part in self.parts for broker in part.observed.alike}  # each is like one that is shown
        shown = [b for b in self.brokers if b not in without]
        live = [b for b in shown if self.capture.brokers[b].alive and self._starts_as_it_is(b)]
        down = [b for b in shown if not self.capture.brokers[b].alive]
        failover = self._what_if(
            "the controller fails over",
            f"{BY_ITSELF}; an operator can do it",
            lambda part: (Move((("delete_controller()",),)),),
        )
        rolling = self._rolling(live, f"all brokers{' that run' * bool(down)} restart in turn")
        return (
            *([failover] if self.capture.live else ()),
            *(self._started(b) for b in down if self._starts_as_it_is(b)),
            *(self._bounce(b, f"broker {b} restarts", ROUTINE, _stop) for b in live),
            *(self._bounce(b, f"broker {b} crashes and starts again", BY_ITSELF, _crash) for b in live),
            *rolling,
        )

    def _starts_as_it_is(self, broker: int) -> bool:
        """Whether a broker starts with its disks, and loses no records by it: no world has either."""
        return not self._lost_records(broker) and broker not in self._elsewhere

    def _lost_records(self, broker: int) -> list[str]:
        """Return the partitions of which the broker has committed records that the leader lacks."""
        return [name for name, members in self._lost.items() if broker in members]

    def _deleted_copies(self, broker: int) -> list[str]:
        """Return the directories that the broker deletes when it starts, and that may be last copies."""
        aside = (name for name in self.capture.brokers[broker].set_aside if name.endswith("-delete"))
        found = []
        for name in aside:
            label, _, number = name.rpartition(".")[0].rpartition("-")
            topic = self.capture.topics.get(label) or Topic(label, {}, None, 3, 0)
            if number.isdecimal() and (broker, name) in last_copies_aside(self.capture, topic, int(number)):
                found.append(printable(name, 300))
        return found

    @cached_property
    def _lost(self) -> dict[str, Collection[int]]:
        topics = self.capture.topics.values()
        known = {f"{topic_label(t.name)}-{n}": lost_records(self.capture, t, n) for t in topics for n in t.partitions}
        return {name: members for name, members in known.items() if members}

    def _started(self, broker: int) -> WhatIf:
        title = f"broker {broker} starts with the logs that it has"
        found = self._what_if(title, OPERATOR_ONLY, lambda part: (_start(part, broker),))
        besides = [text for text in (self._leads_without_records(broker), served_with(self.capture, broker)) if text]
        return evolve(found, besides="; ".join(besides))

    def _leads_without_records(self, broker: int) -> str:
        """Return which partitions a broker that starts leads with a log that lacks records; empty if there are none."""
        found = []
        for topic in self.capture.topics.values():
            for number, state in topic.states.items() if topic.name not in self.capture.deleting else ():
                is_next = broker in state.isr and broker in topic.partitions.get(number, ())
                if not is_next or not self._online(topic, number).isdisjoint(state.isr):
                    continue
                log = self.capture.directory(broker, topic.name, number)
                is_shown = self.capture.shows(broker, topic.name, number)
                if is_shown and is_outdated(self.capture, topic, number, broker, log):
                    found.append(f"{topic_label(topic.name)}-{number}")
        leads = f"broker {broker} leads {listed(found)} with a log that may lack records"
        return f"{leads}: other replicas lose what it lacks, as they truncate their logs" if found else ""

    def _bounce(self, broker: int, title: str, likelihood: str, end: Callable[[ClusterPart, int], Move]) -> WhatIf:
        def moves(part: ClusterPart) -> tuple[Move, ...]:
            ended, fails_over = end(part, broker), self.capture.live and broker == self.capture.controller
            if ended.is_nothing and fails_over:  # its log is on a failed disk, and its world has another controller
                ended = Move((("delete_controller()",),))
            return ended, _start(part, broker)

        found = self._what_if(title, likelihood, moves)
        return evolve(found, besides=refusals(self.capture, (broker,)))

    def _rolling(self, live: Collection[int], title: str) -> list[WhatIf]:
        """Return the restart of live brokers in each order that the brokers of a part can have."""
        orders = [[*permutations(b for b in part.observed.brokers if b in live)] for part in self.parts]
        ways = [tuple(one[way % len(one)] for one in orders) for way in range(max(map(len, orders), default=1))]
        moves = (
            tuple(
                tuple(move for b in order for move in (_stop(part, b), _start(part, b)))
                for part, order in zip(self.parts, way, strict=True)
            )
            for way in ways
        )
        refused = refusals(self.capture, live)
        return [WhatIf(title, ROUTINE, each, besides=refused) for each in moves if live]

    def deletion(self) -> WhatIf:
        """Return the deletion of a topic; the worlds have it."""
        found = self._what_if(
            "the topic is deleted", OPERATOR_ONLY, lambda part: (Move((("client_deletes_topic(0)",),)),)
        )
        return evolve(found, success=DELETION_ENDS, always=True)

    def _what_if(self, title: str, likelihood: str, moves: Callable[[ClusterPart], tuple[Move, ...]]) -> WhatIf:
        return WhatIf(title, likelihood, tuple(moves(part) for part in self.parts))


def within(procedures: Iterable[Procedure], worlds: int) -> tuple[tuple[Procedure, ...], tuple[str, ...]]:
    """Return the procedures that do nothing but in worlds, and the names of the others.

    Args:
        procedures: the procedures; the moves in parts that have no world follow those in worlds.
        worlds: the number of worlds.
    """
    kept, others = list[Procedure](), list[str]()
    for one in procedures:
        if all(move.is_nothing for moves in one.moves[worlds:] for move in moves):
            kept.append(evolve(one, moves=one.moves[:worlds]))
        else:
            others.append(one.name)
    return tuple(kept), tuple(others)


def _stop(part: ClusterPart, broker: int) -> Move:
    """Stop a broker by controlled shutdown; without a controller that can help, its process is ended."""
    number = _serving(part, broker)
    if number is None:
        return NOTHING
    count = len(part.observed.brokers)
    return Move(
        (tuple(f"stop({number}, {controller})" for controller in range(count)), (f"crash({number})",)),
        hold=frozenset({f"restart({number})"}),
    )


def _crash(part: ClusterPart, broker: int) -> Move:
    number = _serving(part, broker)
    if number is None:
        return NOTHING
    return Move(((f"crash({number})",),), hold=frozenset({f"restart({number})"}))


def _serving(part: ClusterPart, broker: int) -> int | None:
    """Return the number of a broker in a part; None if it takes no part, or its log is on a disk that has failed."""
    number = part.number(broker)
    return None if number is None or part.observed.situation.brokers[number].offline else number


def _configured(broker: int) -> str:
    """Return the settings of a broker with an id: a generated one is refused where it is set while ids are generated.

    Source: KafkaConfig.validateValues (broker.id, reserved.broker.max.id).
    """
    return f"broker.id={broker}" + " and broker.id.generation.enable=false" * (broker > MOST_CONFIGURED)


def _start(part: ClusterPart, broker: int, *, repaired: bool = False) -> Move:
    """Start a broker; a log on a failed disk is there again only if the disk is repaired."""
    number = part.number(broker) if repaired else _serving(part, broker)
    if number is None:
        return NOTHING
    return Move(((f"restart({number})",),), release=frozenset({f"restart({number})"}))


EPOCHS_ABOVE = 10
"""How far a leader or controller epoch that is written is above all that are seen: brokers may know later ones."""
KNOWN_CONTROLLER = (
    "brokers that have known a later controller refuse its requests "
    "(state-change.log: Latest known controller epoch is)"
)
"""Why /controller_epoch rises where ZooKeeper has gone back. Kafka: ReplicaManager.becomeLeaderOrFollower."""


@frozen
class StateToWrite:
    """The state to be written for a partition whose state in ZooKeeper is older than all logs.

    Attributes:
        leader_epoch: a leader epoch above all that are seen.
        commands: the commands that write it, unless the znode has changed meanwhile.
    """

    leader_epoch: int
    commands: tuple[str, ...]


def _beginning(first: Sequence[int]) -> str:
    """Return how an unclean election begins, before which brokers start."""
    has = each(first, "has", "have")
    return f"Start {brokers_in_words(first)}, which {has} records that others lack; then elect" if first else "Elect"


def state_above_logs(capture: Capture, topic: Topic, partition: int, leader: int) -> StateToWrite:
    """Return the state that a partition needs whose state in ZooKeeper is gone, or older than all logs."""
    state = topic.states.get(partition)
    served = (one.leader_epoch for one in capture.all_cached(topic.name, partition))
    logs = last_epochs(capture, topic, partition, topic.partitions[partition]).values()
    epoch = max((0 if state is None else state.leader_epoch, *logs, *served)) + EPOCHS_ABOVE
    content = {"controller_epoch": capture.controller_epoch, "leader": leader, "version": 1, "leader_epoch": epoch}
    of_topic = f"/brokers/topics/{topic_label(topic.name)}/partitions"
    *parents, path = (
        shlex.quote(one) for one in (of_topic, f"{of_topic}/{partition}", f"{of_topic}/{partition}/state")
    )
    written = shlex.quote(json.dumps({**content, "isr": [leader]}, separators=(",", ":")))
    commands: tuple[str, ...] = (
        f"zkCli.sh -server ZK get -s {path}   # note dataVersion",
        f"zkCli.sh -server ZK set -v DATA_VERSION {path} {written}",
    )
    if state is None:
        creations = (f"zkCli.sh -server ZK create {one} ''   # or it exists already" for one in parents)
        commands = (*creations, f"zkCli.sh -server ZK create {path} {written}")
    return StateToWrite(epoch, commands)


def commands_to_write(topic: Topic, topic_id: str, partitions: Mapping[int, Sequence[int]]) -> tuple[str, str]:
    """Return the commands that write a topic's id and partitions into its znode, unless it has changed meanwhile."""
    path = shlex.quote(f"/brokers/topics/{topic_label(topic.name)}")
    content = shlex.quote(znode_content(topic_id, partitions))
    return (
        f"zkCli.sh -server ZK get -s {path}   # note dataVersion; it was {topic.version} in the snapshot",
        f"zkCli.sh -server ZK set -v DATA_VERSION {path} {content}",
    )


def znode_content(topic_id: str, partitions: Mapping[int, Sequence[int]]) -> str:
    """Return the JSON of a topic's znode with an id, as Kafka 2.8 and later write it."""
    content = {
        "version": 3,
        "topic_id": topic_id,
        "partitions": {str(number): list(replicas) for number, replicas in sorted(partitions.items())},
        "adding_replicas": {},
        "removing_replicas": {},
    }
    return json.dumps(content, separators=(",", ":"))


def _put_back_in(
    part: ClusterPart, *, names: tuple[str, Sequence[int]], broker: int, starting: Sequence[int], is_refused: bool
) -> tuple[Move, ...]:
    """Return the moves in a part where a broker becomes a replica of partitions of a topic, and is taken away again."""
    number, fail_over = part.number(broker), Move((("delete_controller()",),))
    controllers = range(len(part.observed.brokers))
    change = tuple(f"change_one_replica({c}, 0, 0, {number})" for c in controllers)
    cancel = tuple(f"cancel_partition_reassignment({c}, 0, 0)" for c in controllers)
    begin, end = Move((change,)), Move((change, *[cancel] * is_refused))
    if part.topic.name != names[0] or part.partitions[0] not in names[1]:
        begin = end = NOTHING
    return *(_start(part, b) for b in starting), *(fail_over,) * is_refused, begin, fail_over, end


def _reassignment(topic: Topic, assignment: Mapping[int, Sequence[int]]) -> str:
    """Return the JSON of a reassignment, as kafka-reassign-partitions.sh reads it."""
    partitions = [
        {"topic": topic.name, "partition": number, "replicas": list(replicas)}
        for number, replicas in assignment.items()
    ]
    return json.dumps({"version": 1, "partitions": partitions}, separators=(",", ":"))


def _files(topic: Topic) -> list[str]:
    return [shlex.quote(f"{topic_label(topic.name)}-{n}/partition.metadata") for n in sorted(topic.partitions)]
