"""Series of snapshots of random histories of the model: several topics, and several operations between two snapshots.

An operation is done at rest, or now and then after some steps of what the one before it has begun. A gap between two
snapshots has at most three operations, of which at most two happen at any moment: what `explain` documents to try.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import define, evolve, field

from kwalk.model.kafka.initial_states import running_cluster
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER, SERIES_FLAGS
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Model
from tests.snapshots.synthetic import Walk

OPERATIONS, TOPICS = 12, 4
RELEASES = ("2.8.2", "3.0.2", "3.3.2", "3.4.1", "3.6.2", "3.8.1", "3.9.1")
IN_A_GAP, UNTIMELY = 3, 2
"""The most operations between two snapshots, and how many of those do not wait for rest after the one before."""
SNAPSHOT, AT_ONCE = 0.6, 0.15
"""The share of operations that are followed by a snapshot, and by another operation at once."""
CREATION = 4
"""How much more often topics are created while one was never created."""
KINDS: dict[str, tuple[int, Sequence[str]]] = {
    "old client creates": (12, ("old_client_creates_topic",)),
    "create": (10, ("new_client_creates_topic",)),
    "old client adds a partition": (8, ("old_client_adds_partitions",)),
    "add a partition": (5, ("new_client_adds_partitions",)),
    "delete": (4, ("client_deletes_topic",)),
    "remove the topic's znodes by hand": (4, ("remove_topic_by_hand",)),
    "remove the delete_topics znode by hand": (1, ("remove_deletion_request_by_hand",)),
    "delete /controller": (12, ("delete_controller",)),
    "restart a broker": (10, ("stop", "restart")),
    "stop a broker": (4, ("stop",)),
    "crash a broker": (4, ("crash",)),
    "start a broker": (9, ("restart",)),
    "end a session": (3, ("expire_session", "notice_expiry")),
    "write an id back": (3, ("write_topic_id",)),
}
"""For each operation how often it is drawn, and its events, with a rest before all but the first."""
CREATIONS = ("old client creates", "create")


@define
class History:
    """A random walk with snapshots; `done` has the events of each gap, with `now` before one that did not wait."""

    walk: Walk
    done: list[list[str]] = field(factory=lambda: [[]])

    def run(self, operations: int) -> None:
        """Do random operations, with snapshots between them, and a snapshot at the end."""
        chance, untimely = self.walk.random, 0
        self.walk.capture()
        for left in range(operations, 0, -1):
            self._operate()
            if left > 1 and untimely < UNTIMELY and len(self.done[-1]) < IN_A_GAP and chance.random() < AT_ONCE:
                untimely += 1
                self._step_a_little()
                self.done[-1].append("now")
                continue
            self.walk.rest(orderly=True)
            if left == 1 or len(self.done[-1]) >= IN_A_GAP or chance.random() < SNAPSHOT:
                self.walk.capture()
                self.done.append([])
                untimely = 0

    def _operate(self) -> None:
        """Do an operation that is possible."""
        possible = [name for name in KINDS if self._events(KINDS[name][1][0])]
        created = [znode.was_created for znode in self.walk.model.state(self.walk.vector).zookeeper.topics]
        more = {name: 1 if all(created) else CREATION for name in CREATIONS}
        (name,) = self.walk.random.choices(possible, [KINDS[each][0] * more.get(each, 1) for each in possible])
        for place, event in enumerate(KINDS[name][1]):
            if place:
                self.walk.rest(orderly=True)
            enabled = self._events(event)
            if enabled:
                self.walk.do(self.walk.random.choice(enabled))
                self.done[-1].append(self.walk.taken[-1])

    def _events(self, action: str) -> list[str]:
        """The instances of an action that are possible now; one broker keeps running."""
        walk, model = self.walk, self.walk.model
        cluster = model.state(walk.vector)
        if action in ("stop", "crash", "expire_session") and sum(map(cluster.is_up, range(3))) < 2:
            return []
        here = walk.stepper.start(walk.vector)
        named = [one for one in model.instances if one.action.name == action]
        if action == "write_topic_id":
            named = [one for one in named if one.args[1] in _ids(cluster, one.args[0])]
        return [one.key for one in named if walk.stepper.step(one.index, here) is not None]

    def _step_a_little(self) -> None:
        """Take a few steps of what has begun."""
        for _ in range(self.walk.random.randint(0, 6)):
            steps = self.walk.system_steps(orderly=True)
            if not steps:
                return
            self.walk.take(*self.walk.random.choice(steps))


def _ids(cluster: Cluster, topic: int) -> set[int | None]:
    """The ids that files still have of a topic."""
    return {replica.file_topic_id for broker in cluster.brokers for replica in broker.replicas[topic]}


def history_of(release: str, number: int, *, topics: int = TOPICS, operations: int = OPERATIONS) -> History:
    """A random history of some topics; the same for the same number."""
    flags = {**SERIES_FLAGS, "deletion": True, "stop_replica": True, "sessions": True}
    bounds = {
        "topics": topics,
        "topic_ids": 16,
        "old_creations": 1,
        "new_creations": 1,
        "expansions": 15,
        "new_expansions": 15,
        "failovers": 15,
        "restarts": 15,
        "repairs": 15,
        "expirations": 7,
        "incarnations": 2,
        "deletions": 7,
        "hand_removals": 7,
        "controller_epochs": 31,
        "leader_epochs": 31,
        "events": 12,
        "requests": 12,
    }
    other = {name: setting for name, setting in flags.items() if REAL_CLUSTER.flags[name] != setting}
    model = Model(evolve(REAL_CLUSTER, initial=running_cluster), release, bounds, other)
    made = History(Walk(model, release, 100 * RELEASES.index(release) + number))
    made.run(operations)
    return made
