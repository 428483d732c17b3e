"""The numbers that the model gives to what a series of captures names.

Words: a *numbering* gives the brokers, topic ids and epochs of a series their numbers in the model: brokers by their
place among those that the series is about, ids in the order in which the series shows them, controller epochs from the
first capture's on. All captures of a series have one numbering.
"""
from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from model.kafka.snapshots.capture import topic_label
from model.kafka.snapshots.scope import Scope
from model.kafka.state import Cluster

NONE = -1
"""How vectors write None."""
NOBODY = "none"
TOPIC = "zookeeper.topics[0]"
Look = Callable[[Cluster], str]


@frozen
class Numbering:
    """The numbers that the model gives to what a series of captures names."""

    topic: str
    brokers: tuple[int, ...]
    partitions: int
    ids: tuple[str, ...]
    earlier_epochs: int
    """How many controller epochs there were before the model's first."""
    most: int
    """The highest leader epoch of the series."""
    scope: Scope

    @property
    def name(self) -> str:
        """The topic's name for people."""
        return topic_label(self.topic)

    def broker(self, real: int | None) -> int:
        """A broker's number in vectors."""
        return NONE if real is None else self.brokers.index(real)

    def identity(self, real: str | None) -> int:
        """A topic id's number in vectors."""
        return NONE if real is None else self.ids.index(real)

    def broker_label(self, number: int | None) -> str:
        """The real id of a broker."""
        return NOBODY if number is None else str(self.brokers[number])

    def id_label(self, number: int | None) -> str:
        """The real topic id; one that the series does not show is named by its number."""
        if number is None:
            return NOBODY
        return self.ids[number] if number < len(self.ids) else f"a new id (the model's number {number + 1})"
