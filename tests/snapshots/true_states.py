"""True states of a cluster, what a snapshot shows of them, and what a plan for the snapshot does to the true state.

A random history of the model, with operators' mistakes and disks that come back as they once were, leads to a true
state. A snapshot shows less: no records, no history, and perhaps neither one broker's disk nor what brokers have in
memory. A plan is searched for the snapshot, and carried out in the true state.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from attrs import define, evolve, field, frozen

from kwalk.invariants.reading.claims import CLAIMS, HARMS
from kwalk.invariants.reading.partition_groups import groups_of, parts_of
from kwalk.model.kafka import actions
from kwalk.model.kafka.assignment import assignment
from kwalk.model.kafka.broker.log import Record
from kwalk.model.kafka.clients.admin_clients import new_client_creates_topic
from kwalk.model.kafka.snapshots.at_rest import needs_of
from kwalk.model.kafka.snapshots.capture import read_capture
from kwalk.model.kafka.snapshots.series import EVENTS, IDLE_TIME
from kwalk.model.kafka.snapshots.worlds import ClusterPart, scenario_of
from kwalk.model.kafka.state import Cluster, Replica
from kwalk.model.language import ActionInstance, Model
from kwalk.model.language.recovery import Move, Procedure, World
from kwalk.search.analyses.settling import Settling
from kwalk.search.kernel.compile.compiler import kernel_for
from tests.snapshots.synthetic import Walk, identity
from tests.snapshots.test_combined_damages import cluster

BROKERS = range(3)
NAME = "orders"
PLACES = {"broker", "controller", "leader", "identity"}
"""The parameters of actions that are brokers."""
WEIGHTS = {
    "produce": 12,
    "restart": 8,
    "crash": 6,
    "stop": 5,
    "new_client_creates_topic": 4,
    "shrink_isr": 4,
    "delete_controller": 3,
    "write_topic_id": 2,
    "remove_metadata_files": 2,
    "replace_disk": 2,
    "move_directory_away": 2,
    "elect_unclean": 1,
    "end_controller_session": 1,
    "remove_topic_by_hand": 1,
}
"""How often each event is drawn."""
CHANGES = ("an end is lost", "an end is lost", "an earlier topic's log", "another id", "another broker's log", "an ISR")
CHANGE = 0.25
"""What is done to files of brokers that are down, and to the state by hand; and how often, in place of an event."""


def true_model(release: str, partitions: int = 1) -> Model:
    """The model of a topic with three replicas, its records, and what may be done to it."""
    snapshot = json.dumps(cluster(release, ids={NAME: identity(0)})).encode()
    (part,) = parts_of(groups_of(read_capture(snapshot), [NAME])[0])
    found = scenario_of(part, needs_of(part.observed.situation, deletion=True), CLAIMS)
    records = {"records": 9, "later_commits": 9, "backups": 9, "originals": 27, "topic_ids": 6}
    added = (*(one for one in actions.RECORDS if one.name == "produce"), new_client_creates_topic)
    bounds = {**found.bounds, **records, "new_creations": 1, "deletions": 0}
    steps = tuple(dict.fromkeys((*found.actions, *added)))
    if partitions == 1:
        return Model(evolve(found, actions=steps, bounds=bounds), release)
    bounds |= {"partitions": partitions, "created_partitions": partitions}

    def equal_partitions(cluster: Cluster) -> None:
        found.initial(cluster, next(iter(found.initial.__annotations__["possibility"])))
        for rows in _by_partition(cluster):
            for number in range(1, partitions):
                rows[number] = deepcopy(rows[0])
        counted = cluster.zookeeper.topics[0], *(one.controller.topics[0] for one in cluster.brokers)
        for topic in counted:
            topic.partition_count *= partitions
        cluster.zookeeper.topics[0].accepted_partitions = partitions

    return Model(evolve(found, actions=steps, bounds=bounds, initial=equal_partitions), release)


def _by_partition(cluster: Cluster) -> Iterator[Any]:
    """Yield what a state has of the topic's partitions, each a sequence by their numbers."""
    topic = cluster.zookeeper.topics[0]
    yield from (topic.states, topic.assignments, cluster.commits[0], cluster.originals[0])
    for broker in cluster.brokers:
        context = broker.controller.topics[0]
        yield from (context.leadership, context.assignments, context.partition_states, context.replica_states)
        yield broker.replicas[0]


@define
class TrueState:
    """A random history of a model, at rest after each event."""

    model: Model
    seed: int
    walk: Walk = field(init=False)
    random: Random = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.walk = Walk(self.model, self.model.variant, self.seed, kernel_for(self.model))
        self.walk.writes[0] = 2  # since the topic was created
        self.random = self.walk.random
        for _ in range(self.random.randint(3, 10)):
            if self.random.random() < CHANGE:
                self._change(self.random.choice(CHANGES))
            else:
                self._happen()
            self._rest()

    @property
    def partitions(self) -> range:
        """The partitions that the topic may have."""
        return range(self.model.binding.bounds["partitions"])

    @property
    def cluster(self) -> Cluster:
        """The state as an object."""
        return self.model.state(self.walk.vector)

    def _steps(self, *, system: bool) -> list[tuple[ActionInstance, Any]]:
        """What changes the state."""
        found = self.walk.enabled(system=system)
        return [step for step in found if self.walk.vector_of(step[1]) != self.walk.vector]

    def _happen(self) -> None:
        found = [step for step in self._steps(system=False) if step[0].action.name in WEIGHTS]
        names = sorted({instance.action.name for instance, _ in found})
        (name,) = self.random.choices(names, [WEIGHTS[each] for each in names])
        self.walk.take(*self.random.choice([step for step in found if step[0].action.name == name]))

    def _rest(self) -> None:
        """Let the system do what it does by itself, ISRs last."""
        for _ in range(400):
            steps = [step for step in self._steps(system=True) if step[0].action.name not in EVENTS]
            first = [step for step in steps if step[0].action.name not in IDLE_TIME]
            if not steps:
                return
            self.walk.take(*self.random.choice(first or steps))
        raise AssertionError(f"never at rest after {self.walk.taken}")

    def _change(self, what: str) -> None:
        """Change files of a broker that is down, or the state by hand."""
        found, chance = self.cluster, self.random
        down = [b for b in BROKERS if not found.is_up(b)]
        partition = chance.choice(self.partitions)
        state = found.zookeeper.state_of(0, partition)
        with self.model.active():
            if what == "an ISR":
                if not state.exists:
                    return
                state.isr = frozenset(chance.sample(BROKERS, chance.randint(1, len(BROKERS))))
            elif not down:
                return
            else:
                self._change_files(found, what, chance.choice(down), partition)
            self.walk.vector = self.model.vector(found)
        self.walk.taken.append(what)

    def _change_files(self, found: Cluster, what: str, broker: int, partition: int) -> None:
        replica = found.replica_of(broker, 0, partition)
        other = found.replica_of(self.random.choice(BROKERS), 0, partition)
        records = list(replica.log.records)
        if what == "an end is lost":
            records = records[: self.random.randint(0, len(records))]
        elif what == "an earlier topic's log":
            last = found.zookeeper.state_of(0, partition).leader_epoch or 0
            records = [Record(offset, min(offset, last), 0) for offset in range(self.random.randint(1, 3))]
            replica.on_disk, replica.file_topic_id = True, self.random.choice([None, 1])
        elif what == "another id":
            replica.file_topic_id = self.random.choice([None, 1]) if replica.on_disk else None
        elif other.on_disk:
            records, replica.on_disk, replica.file_topic_id = list(other.log.records), True, other.file_topic_id
        replica.log.truncate_to(0)
        for record in records:
            replica.log.records.push(record)
        replica.log.checkpoint = replica.log.end

    # What a snapshot shows.

    def snapshot(self, *, without: int | None, is_asked: bool) -> bytes:
        """Return a snapshot, without one broker's disk; clients are asked what brokers have in memory, or not."""
        found = self.cluster
        shown = cluster(self.model.variant.split()[0], ids={NAME: identity(0)})
        with self.model.active():
            zookeeper, topic = found.zookeeper, found.zookeeper.topics[0]
            shown.update(
                controller=None if zookeeper.controller is None else zookeeper.controller + 1,
                controller_epoch=zookeeper.controller_epoch,
                broker_ids=[b + 1 for b in sorted(zookeeper.broker_ids)],
                topics={NAME: self._topic(shown["topics"][NAME], found)} if topic.exists else {},
                migration=None,
            )
            for b in BROKERS:
                replicas = {p: found.replica_of(b, 0, p) for p in self.partitions}
                hosted = {
                    str(p): {"leader_epoch": _minus_one(one.leader_epoch), "leads": one.is_leader}
                    if one.log_open
                    else None
                    for p, one in replicas.items()
                }
                dirs = {f"{NAME}-{p}": _directory(one) for p, one in replicas.items() if one.on_disk}
                shown["brokers"][str(b + 1)].update(
                    alive=found.is_up(b),
                    dirs=None if b == without else dirs,
                    metadata_cache=None,
                    **({"replicas": {NAME: hosted}} if found.is_up(b) and is_asked else {}),
                )
        return json.dumps(shown).encode()

    def _topic(self, shown: dict[str, Any], found: Cluster) -> dict[str, Any]:
        topic = found.zookeeper.topics[0]
        written = {"controller_epoch": found.zookeeper.controller_epoch, "zk_version": 9}
        states = {
            str(p): {
                "leader": _minus_one(state.leader if state.leader is None else state.leader + 1),
                "leader_epoch": state.leader_epoch,
                "isr": [b + 1 for b in sorted(state.isr)],
                **written,
            }
            for p, state in enumerate(topic.states)
            if state.exists
        }
        replicas = {str(p): [b + 1 for b in assignment(p)] for p in range(topic.partition_count)}
        znode = {**shown["znode"], "topic_id": identity(topic.topic_id), "partitions": replicas}
        created, version = 60 + 500 * topic.incarnation, self.walk.writes[0]
        times = {"version": version, "czxid": created, "mzxid": created + 10 * version}
        return {**shown, **times, "znode": znode, "partition_state": states}

    def is_as_assigned(self, broker: int) -> bool:
        """Whether a disk has what a snapshot without it says of it: the topic's log, and as much as any replica has.

        No other log has the topic's id, and records of another topic: a plan has the condition that they began alike.
        """
        topic = self.cluster.zookeeper.topics[0]
        return topic.exists and all(self._has_as_assigned(broker, p) for p in range(topic.partition_count))

    def _has_as_assigned(self, broker: int, partition: int) -> bool:
        found = self.cluster
        topic, replicas = found.zookeeper.topics[0], [found.replica_of(b, 0, partition) for b in BROKERS]
        replica, named = replicas[broker], [one for one in replicas if one.file_topic_id == topic.topic_id]
        is_own = all(r.incarnation == topic.incarnation for one in (replica, *named) for r in one.log.records)
        has_id = replica.file_topic_id in (None, topic.topic_id)
        return replica.on_disk and is_own and has_id and replica.log.end == max(one.log.end for one in replicas)


def _minus_one(number: int | None) -> int:
    return -1 if number is None else number


def _directory(replica: Replica) -> dict[str, Any]:
    """A log directory: as a leader has it, with its epoch also where it has no record of it."""
    records, epochs = list(replica.log.records), dict[int, int]()
    for record in records:
        epochs.setdefault(record.leader_epoch, 10 * record.offset)
    if replica.is_leader and replica.leader_epoch is not None and replica.leader_epoch > max(epochs, default=-1):
        epochs[replica.leader_epoch] = 10 * len(records)
    lines = [f"{epoch} {offset}" for epoch, offset in epochs.items()]
    first = {"base_offset": 0, "timestamp": 1}
    first |= {"leader_epoch": r.leader_epoch, "crc": r.incarnation} if (r := next(iter(records), None)) else {}
    file = replica.file_topic_id
    return {
        "partition_metadata": None if file is None else f"version: 0\ntopic_id: {identity(file)}",
        "leader_epoch_checkpoint": "\n".join(["0", str(len(lines)), *lines, ""]),
        "root": "/kafka",
        "files": {f"{0:020}.log": 1000 * len(records)},
        "first_batch": first if records else None,
        "high_watermark": 10 * min(replica.log.checkpoint, len(records)),
    }


# What plans do.


@frozen
class Outcome:
    """The claims that are violated in the true state, before a plan and after it: in any order of what happens."""

    before: frozenset[str]
    after: frozenset[str]
    after_a_fault: frozenset[str]


def carried_out(state: TrueState, parts: Sequence[ClusterPart], procedures: Sequence[Procedure]) -> Outcome:
    """Carry out a plan for the parts of a snapshot in the true state, also with a fault at any moment.

    What may happen is exhausted for one partition, and sampled for several.
    """
    found, model = state.cluster, state.model
    down = {f"restart({b})" for b in BROKERS if not found.is_up(b)}
    faults = (*(f"crash({b})" for b in BROKERS), "end_controller_session()")
    world = World(
        "truth", model, (state.walk.vector,), model.properties, frozenset(HARMS), frozenset(down), faults, plain=False
    )
    settling = Settling(world)
    moves = [move for one in procedures for move in joined_moves(one, parts, model)]
    if len(state.partitions) > 1:
        return _sampled(settling, moves, state.random)
    seen = []
    for count in (0, 1):
        settling.at_any_moment = count > 0
        belief = settling.first(count)
        for move in moves if count or not seen else ():
            belief = settling.moved(belief, move)
        seen.append(frozenset().union(*(settling.violated(vector) for vector, _ in belief.states)))
    settling.at_any_moment = False
    before = frozenset().union(*(settling.violated(vector) for vector, _ in settling.first(0).states))
    return Outcome(before, *seen)


def _sampled(settling: Settling, moves: Sequence[Move], chance: Random, walks: int = 40) -> Outcome:
    """Carry out moves in random orders of what happens, with a fault at a random moment in each second walk."""
    stepper, start = settling.stepper, settling.stepper.start(settling.world.initial[0])
    seen = [set[str](settling.violated(settling.world.initial[0])), set[str](), set[str]()]
    for number in range(walks):
        held, here = settling.indices(settling.world.held), start
        fault_at = chance.randrange(30 * (1 + len(moves))) if number % 2 else -1
        taken = 0
        for move in (Move(()), *moves):
            here = chance.choice(settling.direct_outcomes(here, move) or [here])
            held = (held | settling.indices(move.hold)) - settling.indices(move.release)
            while True:
                steps = [after for i, after in stepper.successors(here, system=True) if i not in held and after != here]
                taken += 1
                struck = [after for i in settling.faults if (after := stepper.step(i, here)) is not None]
                if struck and 0 <= fault_at <= taken:
                    here, fault_at = chance.choice(struck), -1
                elif steps:
                    here = chance.choice(steps)
                else:
                    break
                assert taken < 5000, "never at rest"
        seen[1 + number % 2] |= settling.violated(stepper.vector(here))
    return Outcome(*map(frozenset, seen))


def joined_moves(procedure: Procedure, parts: Sequence[ClusterPart], model: Model) -> Iterator[Move]:
    """Yield the moves of a procedure with the numbers that partitions, brokers and topic ids have in the true state."""
    for at_once in zip(*procedure.moves[: len(parts)], strict=True):
        yield from dict.fromkeys(
            translated(move, part, partition, model)
            for move, part in zip(at_once, parts, strict=True)
            for partition in part.partitions
            if not move.is_nothing
        )


def translated(move: Move, part: ClusterPart, partition: int, model: Model) -> Move:
    """Return a move in a part with the numbers that brokers and topic ids have in the true state."""

    def key(text: str) -> str:
        name, _, rest = text[:-1].partition("(")
        action = next(one for one in model.scenario.actions if one.name == name)
        given = zip(action.parameters, rest.split(", ") if rest else (), strict=True)
        numbers = (_number(parameter.name, value, part, partition) for parameter, value in given)
        return f"{name}({', '.join(numbers)})"

    choices = tuple(tuple(map(key, group)) for group in move.choices)
    return Move(choices, frozenset(map(key, move.hold)), frozenset(map(key, move.release)))


def _number(parameter: str, value: str, part: ClusterPart, partition: int) -> str:
    if parameter in PLACES:
        return str(part.observed.brokers[int(value)] - 1)
    if parameter == "partition":
        return str(partition)
    if parameter == "topic_id":
        return str(ord(part.ids[int(value)][0]) - ord("A"))
    return value
