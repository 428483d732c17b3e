"""Kafka's own producers: each does what an experiment tells it to."""

from __future__ import annotations

from collections.abc import Mapping

from kwalk.clusters.lab.cluster import Lab
from kwalk.clusters.lab.java_helper import JavaHelper
from kwalk.model.language import KwalkError


class RealProducers(JavaHelper):
    """Producers of a lab, all in one Java process, which runs `Producers.java`.

    Args:
        lab: The lab.
        settings: The settings of all of them.
        release: Their release; without one, that of the brokers.
    """

    source = "Producers.java"

    def __init__(self, lab: Lab, settings: Mapping[str, object], release: str = "") -> None:
        super().__init__(release or lab.options.release)
        self._lab = lab
        servers = ",".join(f"127.0.0.1:{broker.port}" for broker in lab.brokers.values())
        self._settings = {"bootstrap.servers": servers, "acks": "all", **settings}

    def add(self, name: str, **settings: object) -> None:
        """Make a producer."""
        own = {key.replace("_", "."): value for key, value in settings.items()}
        self.tell("new", name, *(f"{key}={value}" for key, value in {**self._settings, **own}.items()))

    def tell(self, *words: object) -> str:
        """Have a producer do something; return the answer.

        Raises:
            KwalkError: It cannot.
        """
        answer = " ".join(self.words(" ".join(map(str, words))))
        if answer.startswith("error"):
            raise KwalkError(f"{' '.join(map(str, words))}: {answer}")
        return answer

    def must(self, *words: object) -> None:
        """Have a producer do something, which is to succeed.

        Raises:
            KwalkError: It does not.
        """
        answer = self.tell(*words)
        if answer != "ok":
            raise KwalkError(f"{' '.join(map(str, words))}: {answer}")

    def history(self) -> list[str]:
        """Return what has happened to the producers, in order, and note it."""
        happened = self.tell("history").split("; ")[1:]
        for event in happened:
            self._lab.note(f"producer {event}")
        return happened
