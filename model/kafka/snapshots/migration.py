"""What a migration to KRaft does to the partitions and logs of a captured cluster.

The roll is executed in the model of the cluster, unless it is over: each broker stops by controlled shutdown and
starts again, the controller's last, and between two of these steps the cluster comes to rest. One order of events is
looked at; in which order requests are handled decides about leaders, and not about topic ids on disk. What follows (the
copy, the full request, the start in KRaft mode) is decided by `kwalk.model.kafka.migration`.
"""

from __future__ import annotations

from functools import cache, lru_cache

from attrs import evolve, frozen

from kwalk.model.kafka import actions
from kwalk.model.kafka.broker import replica_fetcher_thread
from kwalk.model.kafka.migration.configuration_versions import FLAGS as CONFIGURATIONS
from kwalk.model.kafka.migration.log_manager import Fate, fate_at_start, fate_of, full_request_fails, kraft_start_fails
from kwalk.model.kafka.migration.partition_registration import PartitionRegistration
from kwalk.model.kafka.migration.versions import (
    LAST_RELEASE,
    MIGRATING,
    UNLISTED_VARIANTS,
    VARIANTS,
    variant_of,
)
from kwalk.model.kafka.migration.zk_topic_migration_client import is_copied, partition_registration
from kwalk.model.kafka.snapshots.at_rest import Situation, needs_of, scope_of_situation, states_of
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import ActionInstance, Model, StepResult

AMPLE = 15
"""A bound that no roll reaches."""
MINTED = 2
"""How many topic ids can be minted in a roll."""
MOST_STEPS = 2_000
"""After so many steps a cluster is taken to come never to rest."""


def migrating_release(release: str) -> str:
    """Return the release in which brokers migrate: the present one, or the last one if it cannot."""
    return release if release in MIGRATING else LAST_RELEASE


def can_migrate(release: str) -> bool:
    """Whether the brokers of a release can migrate."""
    return release in MIGRATING


def least_protocol(version: str) -> str:
    """Return the least inter.broker.protocol.version with which brokers of a release begin to migrate.

    Source: MetadataVersion.isMigrationSupported; from 3.9.0 on new controllers of KRaft migrate only with transactions
    of the metadata log (ActivationRecordsGenerator.recordsForEmptyLog).
    """
    return "3.6" if version.startswith("3.9.") else "3.4"


def refuses_authorizers(version: str) -> bool:
    """Whether a broker with authorizer.class.name ends as it starts to migrate (KafkaConfig.validateValues)."""
    return version in MIGRATING[: MIGRATING.index("3.5.1")]


def known_faults(version: str) -> tuple[str, ...]:
    """Return what migrations of a release do wrong, whatever the cluster is; fixes of configurations end with 3.7.1."""
    release = migrating_release(version)
    topics, configurations = variant_of(release), CONFIGURATIONS.variant_of(release)
    found = {
        "a controller of KRaft that becomes active copies ZooKeeper again, over what KRaft has (KAFKA-15010)": topics[
            "compares_after_claim"
        ],
        "topics that are changed meanwhile do not get to ZooKeeper: a rollback loses that (KAFKA-15003)": topics[
            "writes_topic_changes"
        ],
        "reassignments meanwhile leave logs behind, and leaders do not hear of new replicas (KAFKA-16120)": topics[
            "deletes_removed_replicas"
        ],
        "deleted topics stay in the metadata caches of brokers in ZooKeeper mode (KAFKA-15799)": topics[
            "full_update_metadata"
        ],
        "passwords are copied as cipher text, which brokers in KRaft mode cannot read (KAFKA-14801)": configurations[
            "passwords_are_decoded"
        ],
        "the copy fails at a dynamic configuration of all brokers (KAFKA-15374)": configurations[
            "default_broker_is_copied"
        ],
        "quotas of client ids and users do not hold in KRaft mode (KAFKA-14840)": configurations[
            "quota_types_are_translated"
        ],
        "quotas of all users, or of names with special characters, do not hold in KRaft mode (KAFKA-16222)": (
            configurations["quota_names_are_translated"]
        ),
        "a block of producer ids is given twice (KAFKA-15552)": configurations["next_producer_id_is_copied"],
        "who deletes an ACL meanwhile removes others of its resource from ZooKeeper (#15327)": configurations[
            "acls_are_written_whole"
        ],
    }
    return tuple(text for text, is_right in found.items() if not is_right)


@frozen
class Migrated:
    """What the roll and the copy make of one partition.

    Attributes:
        topic_id: the number of the topic's id after the roll.
        is_minted: whether the roll minted it.
        registered: the partition in KRaft's image; None if it is not there.
        logs: for each broker of the situation, the number of its log's topic id, which may be None.
        hosts: the brokers that have a log after the roll, by number.
    """

    topic_id: int | None
    is_minted: bool
    registered: PartitionRegistration | None
    logs: tuple[int | None, ...]
    hosts: frozenset[int]

    @property
    def unidentified(self) -> frozenset[int]:
        """The brokers whose log of the partition has no topic id."""
        return frozenset(broker for broker in self.hosts if self.logs[broker] is None)


class NotAtRest(Exception):
    """A bound of the model was in the way, or the cluster did not come to rest."""


class DocumentedMigration:
    """Executes migrations of partitions in the release of a capture, or the last one that can migrate.

    Args:
        release: the release of the capture.
        is_rolled: whether all brokers have restarted with the migration enabled, so that none restarts before the copy.
    """

    def __init__(self, release: str, *, is_rolled: bool = False) -> None:
        self.release, self.is_rolled = migrating_release(release), is_rolled
        self.migrated = lru_cache(maxsize=None)(self._migrated)
        self.story = REAL_CLUSTER.varied(properties=(), variants=VARIANTS, unlisted_variants=UNLISTED_VARIANTS)
        self._rules = Model(self.story.varied(actions=REAL_CLUSTER.actions[:1]), self.release)

    def _migrated(self, situation: Situation) -> tuple[Migrated, ...] | None:
        """Return what a migration makes of a partition, for each state that it may be in; None if it is not known."""
        situation = evolve(situation, release=self.release)
        if situation.is_lost or not situation.topic_exists:
            return (_left_behind(situation),)
        model = self._model(situation)
        found: dict[Migrated, None] = {}
        with model.active():
            for cluster in states_of(situation, needs_of(situation, deletion=True)):
                try:
                    settle(model, cluster)
                    if not self.is_rolled:
                        roll(model, cluster, starts=not situation.deleting)
                except NotAtRest:
                    return None
                found[_copied(cluster, situation)] = None
        return tuple(found)

    def _model(self, situation: Situation) -> Model:
        needs, numbers = needs_of(situation, deletion=True), tuple(range(len(situation.brokers)))
        scope = scope_of_situation(situation, numbers, needs)
        steps = [*actions.FAULTS, *actions.CONTROLLER, *actions.BROKER, replica_fetcher_thread.fetch, *actions.DELETION]
        steps += [one for one in actions.REASSIGNMENT if one.by.system] if needs.reassignment else []
        steps += actions.SESSIONS if needs.sessions else []
        bounds = {
            **scope.bounds,
            "topics": 1,
            "topic_ids": 2 * len(situation.brokers) + 1 + MINTED,
            "events": AMPLE,
            "requests": AMPLE,
            **dict.fromkeys(("failovers", "restarts", "controller_epochs", "leader_epochs"), AMPLE),
        }
        flags = {**scope.flags, "isr_changes": "between requests", "metadata_caches": False, "stepwise_shutdown": False}
        story = self.story.varied(actions=tuple(dict.fromkeys(steps)))
        return Model(story, self.release, bounds, flags)

    def fates(self, migrated: Migrated, brokers_identified: tuple[bool, ...]) -> dict[int, Fate]:
        """Return what becomes of each log of a partition, by the number of its broker.

        Args:
            migrated: what the roll and the copy make of the partition.
            brokers_identified: for each broker of the situation, whether all its logs are identified.
        """
        with self._rules.active():
            return {
                broker: fate_of(
                    migrated.logs[broker], broker, migrated.registered, identified=brokers_identified[broker]
                )
                for broker in sorted(migrated.hosts)
            }

    def fate_at_start(
        self, topic_id: int | None, broker: int, registered: PartitionRegistration | None, *, identified: bool
    ) -> Fate:
        """Return what becomes of a log when its broker starts in KRaft mode; see `log_manager.fate_at_start`."""
        with self._rules.active():
            return fate_at_start(topic_id, broker, registered, identified=identified)

    def setting(self, name: str) -> bool | str:
        """Return the setting of a flag about migrations in the release."""
        return variant_of(self.release)[name]

    def full_request_fails(self, *, identified: bool) -> bool:
        """Whether a broker refuses the full LeaderAndIsr, by whether all its logs are identified."""
        with self._rules.active():
            return full_request_fails(identified)

    def kraft_start_fails(self, *, identified: bool) -> bool:
        """Whether a broker ends at its start in KRaft mode, by whether all its logs are identified."""
        with self._rules.active():
            return kraft_start_fails(identified)


documented_migration = cache(DocumentedMigration)
"""Returns the migration of a release, which remembers what it made of situations."""


def _left_behind(situation: Situation) -> Migrated:
    """Return what becomes of a partition that no topic's znode lists: no request is about it, and it is not copied."""
    logs = tuple(one.file for one in situation.brokers)
    hosts = frozenset(number for number, one in enumerate(situation.brokers) if one.directory)
    return Migrated(situation.topic_id, False, None, logs, hosts)


def _copied(cluster: Cluster, situation: Situation) -> Migrated:
    znode = cluster.zookeeper.topics[0]
    numbers = range(len(situation.brokers))
    replicas = [cluster.replica_of(number, 0, 0) for number in numbers]
    return Migrated(
        topic_id=znode.topic_id,
        is_minted=situation.topic_id is None and znode.topic_id is not None,
        registered=partition_registration(cluster, 0, 0) if is_copied(cluster, 0) else None,
        logs=tuple(replica.file_topic_id for replica in replicas),
        hosts=frozenset(number for number in numbers if replicas[number].on_disk),
    )


# The roll.


def roll(model: Model, cluster: Cluster, *, starts: bool) -> None:
    """Restart each broker of a cluster at rest, the controller's last; brokers that are down start if `starts`.

    Args:
        model: the model of the cluster; it is active.
        cluster: the state, which changes.
        starts: whether brokers that are down start.

    Raises:
        NotAtRest: A bound is in the way, or the cluster does not come to rest.
    """
    numbers = range(len(cluster.brokers))
    down = {number for number in numbers if not cluster.is_up(number)}
    controller = cluster.zookeeper.controller
    for number in sorted(set(numbers) - down, key=lambda b: (b == controller, b)):
        _end(model, cluster, number)
        settle(model, cluster)
        _do(model, cluster, model.instance(f"restart({number})"))
        settle(model, cluster)
    for number in sorted(down) if starts else ():
        _do(model, cluster, model.instance(f"restart({number})"))
        settle(model, cluster)


def _end(model: Model, cluster: Cluster, broker: int) -> None:
    """Stop a broker by controlled shutdown; its process is ended where no controller can help."""
    for controller in range(len(cluster.brokers)):
        if _do(model, cluster, model.instance(f"stop({broker}, {controller})")):
            return
    _do(model, cluster, model.instance(f"crash({broker})"))


def settle(model: Model, cluster: Cluster) -> None:
    """Let a cluster come to rest, as `roll` does: of what can happen by itself, the first happens; no broker starts."""
    steps = [one for one in model.instances if one.action.by.system and one.action.name != "restart"]
    for _ in range(MOST_STEPS):
        if not any(_do(model, cluster, one) for one in steps):
            return
    raise NotAtRest


def _do(model: Model, cluster: Cluster, instance: ActionInstance) -> bool:
    """Execute an instance; return whether it was enabled."""
    result, _ = model.execute(instance, cluster, lambda: cluster)
    if result is StepResult.BOUND:
        raise NotAtRest
    return result is StepResult.DONE
