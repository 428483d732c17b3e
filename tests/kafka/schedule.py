"""Deterministic schedules: what a client, an operator or a fault does, and then all that the cluster does by itself.

Words: to *settle* is to let system actions run, in a fixed order, until none is enabled. A *winner* is the broker that
gets to /controller first after it was deleted.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.actors import CONTROLLER
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import ActionInstance, Model, Vector
from kwalk.search.kernel.interpreter import Visit

CALM = {"isr_changes": "between requests", "async_metadata_flush": True}
"""The ISR follows what replicas can do, and files are written in steps of their own."""
PATIENT = ("restart", "auto_preferred_election")
"""What a schedule does only when it says so."""


def model_of(variant: str, *, flags: dict[str, object] | None = None, **bounds: int) -> Model:
    """The old client's story with other flags and bounds, and with room for many faults."""
    scenario = evolve(OLD_CLIENT_EXPANSION, flags={**OLD_CLIENT_EXPANSION.flags, **CALM, **(flags or {})})
    room = {"failovers": 4, "restarts": 9, "leader_epochs": 14, "controller_epochs": 9}
    return Model(scenario, variant, {**room, **bounds})


class Schedule:
    """A behaviour under construction."""

    def __init__(self, model: Model) -> None:
        self.model, self.vector = model, model.initial[0]
        self.taken: list[str] = []

    @property
    def cluster(self) -> Cluster:
        """The state reached."""
        return self.model.state(self.vector)

    def take(self, key: str) -> None:
        """Take one action instance."""
        outcome = self.model.attempt(self.model.instance(key), self.vector)
        assert outcome.after is not None, f"{key} cannot be taken here: {outcome.result.value}"
        self.vector = outcome.after
        self.taken.append(key)

    def settle(self, *, but: Iterable[str] = PATIENT) -> None:
        """Let the cluster act until nothing but the named actions is enabled."""
        while key := self._enabled(self._system(but)):
            self.take(key)

    def do(self, key: str, *, winner: int | None = None) -> None:
        """Take a step, let the winner go to /controller first if it is to be the next controller, and settle."""
        self.take(key)
        if winner is not None:
            self._elect(winner)
        self.settle()

    def restart(self, broker: int) -> None:
        """Start a broker and settle."""
        self.do(f"restart({broker})")

    def violated(self, invariant: str, *, quiescent: bool = False) -> list[str]:
        """Instances of a property that the state violates; with `quiescent`, as if a stopped broker stayed down."""
        if quiescent:
            return [c.key for c in self.model.properties_of(invariant) if self.model.truth(c, self.vector) is False]
        return [c.key for c in self.model.properties_of(invariant) if self.model.violates(c, self.vector)]

    def files(self, partition: int) -> list[int | None]:
        """The topic id in each broker's partition.metadata."""
        return [broker.replicas[0][partition].file_topic_id for broker in self.cluster.brokers]

    def _elect(self, winner: int) -> None:
        """Its queue is worked off up to its Reelect, and the other brokers come later."""
        while self.cluster.zookeeper.controller != winner:
            key = self._enabled([i for i in self._system(PATIENT) if i.action.by is CONTROLLER and i.args[0] == winner])
            assert key, f"broker {winner} has no Reelect to handle"
            self.take(key)

    def _system(self, but: Iterable[str]) -> list[ActionInstance]:
        return [i for i in self.model.instances if i.action.by.system and i.action.name not in but]

    def _enabled(self, instances: list[ActionInstance]) -> str | None:
        visit = Visit(self.model, self.vector)
        return next((instance.key for instance in instances if visit.attempt(instance).is_enabled), None)


def settled_from(model: Model, start: Vector) -> tuple[set[Vector], set[Vector]]:
    """All states that can be reached from one, and the quiescent ones among them."""
    seen, frontier = {start}, [start]
    while frontier:
        found = {after for vector in frontier for _, after in model.successors(vector)} - seen
        seen |= found
        frontier = list(found)
    return seen, {vector for vector in seen if model.is_quiescent(vector)}
