"""KafkaConfig: producer.id.expiration.ms, as a dynamic configuration of brokers in ZooKeeper mode (since 3.4).

What the model leaves out, and why its story loses nothing by it: other levels of configurations, whose precedence
`dynamic_broker_config` has; and producers, which expire by what the broker has.
"""

from __future__ import annotations

from kwalk.model.kafka.server.versions import EXPIRATION_OUTLIVES_A_RESTART
from kwalk.model.language import Actor, action, flag, require, state

CLIENT = Actor("admin client", system=False)
OPERATOR = Actor("operator", system=False)
BROKER = Actor("broker")


@state
class ExpirationSetting:
    """Whether ZooKeeper has another value than the file, and whether the broker, which runs or not, has it."""

    is_set: bool = flag()
    is_changed: bool = flag()
    has_value: bool = flag()
    runs: bool = flag(default=True)


@action(
    by=CLIENT, description="sets producer.id.expiration.ms, or deletes it", source="AdminZkClient.changeBrokerConfig"
)
def change_expiration(setting: ExpirationSetting) -> None:
    """The broker is notified."""
    setting.is_set = not setting.is_set
    setting.is_changed = True


@action(by=BROKER, description="handles the change", source="DynamicProducerStateManagerConfig.reconfigure")
def handle_expiration(setting: ExpirationSetting) -> None:
    """Producers expire by the new value."""
    require(setting.runs and setting.is_changed)
    setting.is_changed = False
    setting.has_value = setting.is_set


@action(by=OPERATOR, description="stops the broker", source="KafkaServer.shutdown")
def stop_with_expiration(setting: ExpirationSetting) -> None:
    """A broker that is down has no value."""
    require(setting.runs)
    setting.runs = setting.has_value = False


@action(by=BROKER, description="starts", source="KafkaConfig.producerIdExpirationMs")
def start_with_expiration(setting: ExpirationSetting) -> None:
    """The broker reads what ZooKeeper has; in 3.4 and 3.5 this value was read from the file, before that."""
    require(not setting.runs)
    setting.runs = True
    setting.is_changed = False
    setting.has_value = setting.is_set and bool(EXPIRATION_OUTLIVES_A_RESTART)
