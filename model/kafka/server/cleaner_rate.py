"""LogCleaner.reconfigure: which rate the log cleaner has, after changes of a dynamic configuration and restarts.

The key is `log.cleaner.io.max.bytes.per.second` of all brokers. What the model leaves out, and why its story loses
nothing by it: values of one broker and of the file, whose order of precedence `dynamic_broker_config` has.
"""

from __future__ import annotations

from kwalk.model.kafka.server.dynamic_broker_config import (
    ADMIN,
    BROKER,
    DEFAULT,
    RESTARTS,
    VALUES,
    Value,
    first,
)
from kwalk.model.kafka.server.versions import CLEANER_RATE_CHANGES
from kwalk.model.kafka.storage.log_creation import CHANGES
from kwalk.model.language import action, flag, member, number, optional, require, state


@state
class CleanerRate:
    """The `rate` that ZooKeeper has, whether a notification of it is on its way, and the one that the cleaner `has`."""

    rate: int | None = optional(VALUES)
    is_changed: bool = flag()
    has: int = member(VALUES)
    is_up: bool = flag(default=True)
    changes: int = number(0, CHANGES)
    restarts: int = number(0, RESTARTS)


@action(
    by=ADMIN,
    description="sets the cleaner's rate to {value}",
    source="ConfigCommand.alterConfig; AdminZkClient.changeBrokerConfig",
)
def alter_rate(config: CleanerRate, value: Value) -> None:
    """kafka-configs.sh --alter --entity-type brokers --entity-default; none is --delete-config."""
    require(config.rate != value)
    config.changes += 1
    config.rate, config.is_changed = value, True


@action(
    by=BROKER,
    description="handles the notification that the cleaner's rate has changed",
    source="DynamicBrokerConfig.updateDefaultConfig; LogCleaner.reconfigure",
)
def handle_change(config: CleanerRate) -> None:
    """New threads of the cleaner begin; until KAFKA-13996 they had the Throttler of before, and its rate."""
    require(config.is_up and config.is_changed)
    config.is_changed = False
    if CLEANER_RATE_CHANGES:
        config.has = rate_of(config)


def rate_of(config: CleanerRate) -> int:
    """Return the rate that is to hold."""
    found = first(config.rate, DEFAULT)
    return DEFAULT if found is None else found


@action(by=ADMIN, description="stops the broker", source="KafkaServer.shutdown")
def stop(config: CleanerRate) -> None:
    """The cleaner is gone."""
    require(config.is_up)
    config.restarts += 1
    config.is_up, config.has = False, DEFAULT


@action(by=BROKER, description="starts", source="KafkaServer.startup; LogCleaner.cleanerConfig")
def start(config: CleanerRate) -> None:
    """The znode is read before the cleaner begins."""
    require(not config.is_up)
    config.is_up, config.is_changed, config.has = True, False, rate_of(config)
