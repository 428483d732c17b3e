"""A rolling restart: the operator restarts every broker once, one at a time, by controlled shutdown.

The operator waits for a broker to be registered again before the next one is stopped, and for nothing else: not for
replicas that are still out of sync. The order is that of the broker ids; the controller is wherever it happens to be.
"""
from __future__ import annotations

from model.kafka.actors import OPERATOR
from model.kafka.domains import BROKERS, RESTARTS, Broker
from model.kafka.operator import may_stop, stop_process
from model.kafka.state import Cluster
from model.language import action, require


@action(
    by=OPERATOR,
    says="stops broker {broker}, whose turn it is; controller {controller} moves its leaders first",
    source="KafkaServer.shutdown, controlledShutdown; KafkaController.processControlledShutdown",
)
def stop_in_turn(cluster: Cluster, broker: Broker, controller: Broker) -> None:
    """Broker 0 comes first; all brokers are up."""
    require(broker == cluster.stops and cluster.stops < RESTARTS and may_stop(cluster, broker, controller))
    require(all(cluster.is_up(other) for other in BROKERS))
    cluster.stops += 1
    stop_process(cluster, broker, controller)
