"""Kafka's own consumers: each polls when an experiment tells it to."""

from __future__ import annotations

import time
from collections.abc import Mapping

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.java_helper import JavaHelper
from kwalk.model.language import KwalkError


class RealConsumers(JavaHelper):
    """Consumers of a lab, all in one Java process, which runs `Consumers.java`.

    Args:
        lab: The lab.
        settings: The settings of all of them.
        release: Their release; without one, that of the brokers.
    """

    source = "Consumers.java"

    def __init__(self, lab: Lab, settings: Mapping[str, object], release: str = "") -> None:
        super().__init__(release or lab.options.release)
        self._lab = lab
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in lab.brokers.values())
        self._settings = {"bootstrap.servers": servers, "auto.offset.reset": "earliest", **settings}

    def add(self, name: str, topics: str, *, delay_ms: int = 0, **settings: object) -> None:
        """Make a consumer that subscribes to topics; its callback for a revocation takes so long."""
        self.make(name, **settings)
        self.tell("subscribe", name, topics, delay_ms)

    def make(self, name: str, **settings: object) -> None:
        """Make a consumer."""
        own = {key.replace("_", "."): value for key, value in settings.items()}
        words = [f"{key}={value}" for key, value in {**self._settings, "client.id": name, **own}.items()]
        self.tell("new", name, *words)

    def tell(self, *words: object) -> list[str]:
        """Have a consumer do something; return the words of the answer.

        Raises:
            KwalkError: It cannot.
        """
        answer = self.words(" ".join(map(str, words)))
        if answer[0] == "error":
            raise KwalkError(f"{' '.join(map(str, words))}: {' '.join(answer[1:])}")
        return answer

    def owned(self, name: str) -> list[str]:
        """Return the partitions that a consumer has been assigned, and has not revoked."""
        return self.tell("owned", name)[1:]

    def poll(self, name: str, seconds: float) -> None:
        """Have a consumer poll again and again for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.tell("poll", name, 100)

    def history(self) -> list[str]:
        """Return what has happened to the consumers, in order, and note it."""
        happened = " ".join(self.tell("history")).split("; ")[1:]
        for event in happened:
            self._lab.note(f"consumer {event}")
        return happened
