"""What happens to brokers against anybody's will."""
from __future__ import annotations

from model.kafka.actors import FAULT
from model.kafka.broker import end_process
from model.kafka.domains import RESTARTS, Broker
from model.kafka.state import Cluster
from model.language import action, require


@action(by=FAULT, says="broker {broker} crashes")
def crash(cluster: Cluster, broker: Broker) -> None:
    """The process dies and its session expires before anybody acts on it; ids that were not flushed are lost."""
    require(cluster.is_up(broker) and cluster.stops < RESTARTS)
    cluster.stops += 1
    end_process(cluster, broker)
