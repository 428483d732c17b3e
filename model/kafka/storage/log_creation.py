"""Partition.createLog: which configuration a log has that is created while its topic's configuration changes.

A broker that gets a replica reads the topic's configuration, creates the log, and then makes it known to the thread
that handles notifications of changes. These are steps of their own: the thread comes between.

What the model leaves out, and why its story loses nothing by it: other configurations than one of the topic, whose
value is the number of its changes. A restart reads the configuration as a creation does.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.storage.domains import CLIENT, LOG
from kwalk.model.kafka.storage.leader_epochs import CONTROLLER
from kwalk.model.kafka.storage.log_deletion import CREATIONS
from kwalk.model.kafka.storage.versions.segments import MISSED_CHANGES_ARE_READ
from kwalk.model.language import Bound, action, choice, flag, number, require, state

CHANGES = Bound("changes", "how often a dynamic configuration is changed")


class CreationPhase(Enum):
    """How far a log is created."""

    NONE = "there is no log"
    READ = "the topic's configuration was read"
    KNOWN = "the log is known"
    DONE = "the log is created"


@state
class ConfiguredLog:
    """A topic's `configuration` in ZooKeeper, what a creation has `read` of it, and what the log `has`.

    The topic's configuration `is_changed` while a notification is on its way. The creation `has_missed` one that was
    handled meanwhile (Kafka: LogManager.partitionsInitializing).
    """

    configuration: int = number(0, CHANGES)
    is_changed: bool = flag()
    phase: CreationPhase = choice(CreationPhase)
    read: int = number(0, CHANGES)
    has: int = number(0, CHANGES)
    has_missed: bool = flag()
    creations: int = number(0, CREATIONS)


@action(by=CLIENT, description="changes the topic's configuration", source="AdminZkClient.changeTopicConfig")
def change_configuration(log: ConfiguredLog) -> None:
    """The topic's znode is written, and a notification."""
    log.configuration += 1
    log.is_changed = True


@action(
    by=CONTROLLER,
    description="assigns the replica to the broker, which reads the topic's configuration",
    source="Partition.createLog: fetchLogConfig",
)
def begin_creation(log: ConfiguredLog) -> None:
    """The topic is new, or the replica moves to this broker."""
    require(log.phase is CreationPhase.NONE)
    log.creations += 1
    log.phase, log.read, log.has_missed = CreationPhase.READ, log.configuration, False


@action(by=LOG, description="creates the log", source="LogManager.getOrCreateLog")
def create(log: ConfiguredLog) -> None:
    """From now on a change that is handled reaches the log."""
    require(log.phase is CreationPhase.READ)
    log.phase, log.has = CreationPhase.KNOWN, log.read


@action(by=LOG, description="has created the log", source="LogManager.finishedInitializingLog")
def finish_creation(log: ConfiguredLog) -> None:
    """Since KAFKA-8813 the configuration is read again, if a change was handled since it was read."""
    require(log.phase is CreationPhase.KNOWN)
    if MISSED_CHANGES_ARE_READ and log.has_missed:
        log.has = log.configuration
    log.phase, log.has_missed = CreationPhase.DONE, False


@action(
    by=LOG,
    description="handles the notification that the topic's configuration has changed",
    source="TopicConfigHandler.updateLogConfig; LogManager.logsByTopic, LogManager.topicConfigUpdated",
)
def handle_change(log: ConfiguredLog) -> None:
    """A log that is not known is left out."""
    require(log.is_changed)
    log.is_changed = False
    if log.phase in (CreationPhase.KNOWN, CreationPhase.DONE):
        log.has = log.configuration
    if log.phase in (CreationPhase.READ, CreationPhase.KNOWN):
        log.has_missed = True


@action(
    by=CONTROLLER, description="takes the replica away", source="ReplicaManager.stopReplicas; LogManager.asyncDelete"
)
def delete(log: ConfiguredLog) -> None:
    """Its log is deleted."""
    require(log.phase is CreationPhase.DONE)
    log.phase = CreationPhase.NONE
    log.has = log.read = 0
