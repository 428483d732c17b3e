"""DynamicBrokerConfig: which value of a configuration holds for the log of a topic, after changes and restarts.

One key is modelled: `retention.ms` of a topic, `log.retention.ms` of brokers, with its synonym `log.retention.hours` in
the file server.properties. The order of precedence is: the topic's own value; the dynamic value of the broker; the
dynamic value for all brokers; the file, milliseconds before hours; Kafka's default, which is value 0 here. Another key
of logs, such as `log.cleaner.delete.retention.ms`, stands for all others: its change makes a broker compute again.

A change is written to a znode. The broker learns of it by a notification, or when it starts.
"""

from __future__ import annotations

from typing import Annotated

from kwalk.model.kafka.server.versions import (
    DELETED_CONFIG_IS_REMOVED,
    SYNONYMS_ARE_KEPT,
    TOPIC_OVERRIDES_ARE_KEPT,
)
from kwalk.model.kafka.storage.log_creation import CHANGES
from kwalk.model.language import Actor, Bound, Domain, action, flag, number, optional, require, state

VALUES = Domain("values", "values of a configuration; 0 is also Kafka's default", label=lambda n: f"v{n}")
RESTARTS = Bound("restarts", "how often the broker is restarted")
EDITS = Bound("edits", "how often server.properties is edited while the broker is stopped")

Value = Annotated[int | None, optional(VALUES)]
ADMIN = Actor("admin", system=False)
BROKER = Actor("broker")
DEFAULT = 0
"""Kafka's own default, in place of 168 hours."""


@state
class BrokerConfiguration:
    """The znodes, the file, and what the broker has computed from them.

    `topic`, `broker` and `cluster` are the values in ZooKeeper, with an `other` key of the cluster; a notification of
    each may be on its way. `file_ms` and `file_hours` are those of the file. `known_…` is what the broker has read.
    `log_default` is retention.ms in the originals of LogManager.currentDefaultConfig, `log_value` that of the log's
    configuration, and `is_overridden` whether the log's overriddenConfigs have it.
    """

    topic: int | None = optional(VALUES)
    broker: int | None = optional(VALUES)
    cluster: int | None = optional(VALUES)
    other: bool = flag()
    topic_changed: bool = flag()
    broker_changed: bool = flag()
    cluster_changed: bool = flag()
    file_ms: int | None = optional(VALUES)
    file_hours: int | None = optional(VALUES)
    is_up: bool = flag(default=True)
    known_broker: int | None = optional(VALUES)
    known_cluster: int | None = optional(VALUES)
    known_other: bool = flag()
    known_ms: int | None = optional(VALUES)
    known_hours: int | None = optional(VALUES)
    log_default: int | None = optional(VALUES)
    log_value: int | None = optional(VALUES)
    is_overridden: bool = flag()
    changes: int = number(0, CHANGES)
    restarts: int = number(0, RESTARTS)
    edits: int = number(0, EDITS)


def first(value: int | None, otherwise: int | None) -> int | None:
    """Return a value, or another one where there is none."""
    return otherwise if value is None else value


def effective(config: BrokerConfiguration) -> int:
    """Return the value that is to hold for the log, by the order of precedence."""
    in_file = first(config.file_ms, config.file_hours)
    found = first(config.topic, first(config.broker, first(config.cluster, in_file)))
    return DEFAULT if found is None else found


def log_retention(config: BrokerConfiguration) -> int:
    """Return the value that holds for the log (Kafka: LogConfig.retentionMs)."""
    return DEFAULT if config.log_value is None else config.log_value


def own_milliseconds(config: BrokerConfiguration) -> int | None:
    """Return log.retention.ms as the broker has it, without its synonyms.

    Kafka: AbstractConfig.valuesFromThisConfig, DynamicBrokerConfig.updateCurrentConfig.
    """
    return first(config.known_broker, first(config.known_cluster, config.known_ms))


@action(
    by=ADMIN,
    description="sets the topic's value to {value}",
    source="ConfigCommand.alterConfig; AdminZkClient.changeTopicConfig",
)
def alter_topic(config: BrokerConfiguration, value: Value) -> None:
    """kafka-configs.sh --alter --entity-type topics; none is --delete-config."""
    require(config.topic != value)
    config.changes += 1
    config.topic, config.topic_changed = value, True


@action(
    by=ADMIN,
    description="sets the broker's value to {value}",
    source="ConfigCommand.alterConfig; AdminZkClient.changeBrokerConfig",
)
def alter_broker(config: BrokerConfiguration, value: Value) -> None:
    """kafka-configs.sh --alter --entity-type brokers --entity-name ID."""
    require(config.broker != value)
    config.changes += 1
    config.broker, config.broker_changed = value, True


@action(
    by=ADMIN,
    description="sets the value of all brokers to {value}",
    source="ConfigCommand.alterConfig; AdminZkClient.changeBrokerConfig",
)
def alter_cluster(config: BrokerConfiguration, value: Value) -> None:
    """kafka-configs.sh --alter --entity-type brokers --entity-default."""
    require(config.cluster != value)
    config.changes += 1
    config.cluster, config.cluster_changed = value, True


@action(
    by=ADMIN,
    description="changes another key of all brokers",
    source="ConfigCommand.alterConfig; AdminZkClient.changeBrokerConfig",
)
def alter_other_key(config: BrokerConfiguration) -> None:
    """Another key of logs is changed, which is nothing to retention.ms."""
    config.changes += 1
    config.other, config.cluster_changed = not config.other, True


@action(
    by=BROKER,
    description="handles the notification that the topic's configuration has changed",
    source="TopicConfigHandler.processConfigChanges, TopicConfigHandler.updateLogConfig",
)
def handle_topic_change(config: BrokerConfiguration) -> None:
    """The log's configuration is made of the defaults and of what the topic has."""
    require(config.is_up and config.topic_changed)
    config.topic_changed = False
    make_log_config(config)


def make_log_config(config: BrokerConfiguration) -> None:
    """Make the log's configuration of the defaults and of the topic's own values (Kafka: LogConfig.fromProps)."""
    config.log_value = first(config.topic, config.log_default)
    config.is_overridden = config.topic is not None


@action(
    by=BROKER,
    description="handles the notification that its configuration has changed",
    source="BrokerConfigHandler.processConfigChanges; DynamicBrokerConfig.updateBrokerConfig",
)
def handle_broker_change(config: BrokerConfiguration) -> None:
    """The broker reads its znode."""
    require(config.is_up and config.broker_changed)
    is_changed = config.known_broker != config.broker
    config.broker_changed, config.known_broker = False, config.broker
    if is_changed:
        reconfigure(config)


@action(
    by=BROKER,
    description="handles the notification that the configuration of all brokers has changed",
    source="BrokerConfigHandler.processConfigChanges; DynamicBrokerConfig.updateDefaultConfig",
)
def handle_cluster_change(config: BrokerConfiguration) -> None:
    """The broker reads the znode of all brokers."""
    require(config.is_up and config.cluster_changed)
    is_changed = config.known_cluster != config.cluster or config.known_other != config.other
    config.cluster_changed = False
    config.known_cluster, config.known_other = config.cluster, config.other
    if is_changed:
        reconfigure(config)


def reconfigure(config: BrokerConfiguration) -> None:
    """Compute the defaults of logs again, and with them the configuration of each log.

    Kafka: DynamicLogConfig.reconfigure, DynamicLogConfig.updateLogsConfig.
    """
    own = own_milliseconds(config)
    if SYNONYMS_ARE_KEPT:
        config.log_default = first(first(own, config.known_hours), DEFAULT)
    elif own is not None or DELETED_CONFIG_IS_REMOVED:
        config.log_default = own
    if not config.is_overridden:
        config.log_value = config.log_default
    if not TOPIC_OVERRIDES_ARE_KEPT:
        config.is_overridden = False


@action(by=ADMIN, description="stops the broker", source="KafkaServer.shutdown")
def stop(config: BrokerConfiguration) -> None:
    """What the broker has read and computed is gone."""
    require(config.is_up)
    config.restarts += 1
    config.is_up = False
    config.known_broker = config.known_cluster = config.known_ms = config.known_hours = None
    config.log_default = config.log_value = None
    config.known_other = config.is_overridden = False


@action(by=ADMIN, description="edits server.properties: {milliseconds} ms, {hours} hours")
def edit_file(config: BrokerConfiguration, milliseconds: Value, hours: Value) -> None:
    """The file is read when a broker starts, and not before."""
    require(not config.is_up and (config.file_ms != milliseconds or config.file_hours != hours))
    config.edits += 1
    config.file_ms, config.file_hours = milliseconds, hours


@action(
    by=BROKER,
    description="starts",
    source="KafkaServer.startup; DynamicBrokerConfig.initialize; LogConfig.extractLogConfigMap",
)
def start(config: BrokerConfiguration) -> None:
    """The file and all znodes are read before logs are loaded; notifications that are older change nothing."""
    require(not config.is_up)
    config.is_up = True
    config.topic_changed = config.broker_changed = config.cluster_changed = False
    config.known_broker, config.known_cluster, config.known_other = config.broker, config.cluster, config.other
    config.known_ms, config.known_hours = config.file_ms, config.file_hours
    config.log_default = first(first(own_milliseconds(config), config.known_hours), DEFAULT)
    make_log_config(config)


def starts_with_a_file(config: BrokerConfiguration, milliseconds: Value, hours: Value) -> None:
    """The broker has started with any server.properties, and nothing is dynamic."""
    config.file_ms, config.file_hours = milliseconds, hours
    config.known_ms, config.known_hours = milliseconds, hours
    config.log_default = first(first(milliseconds, hours), DEFAULT)
    make_log_config(config)
