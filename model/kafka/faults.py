"""What happens to brokers against anybody's will."""
from __future__ import annotations

from model.kafka.actors import BROKER, FAULT
from model.kafka.broker import end_process
from model.kafka.domains import LATE_COPIES, PARTITIONS, RESTARTS, Broker
from model.kafka.state import Cluster
from model.language import action, require


@action(by=FAULT, says="broker {broker} crashes")
def crash(cluster: Cluster, broker: Broker) -> None:
    """The process dies and its session expires before anybody acts on it; ids that were not flushed are lost."""
    require(cluster.is_up(broker) and cluster.stops < RESTARTS)
    cluster.stops += 1
    end_process(cluster, broker)


@action(
    by=FAULT,
    says="the controller's connection to broker {broker} breaks while a request is in flight",
    source="RequestSendThread.doWork: the request is sent again until it is answered",
)
def break_connection(cluster: Cluster, broker: Broker) -> None:
    """The broker has received the request, and will handle it after it has handled the one that is sent again."""
    requests = cluster.brokers[broker].requests
    require(LATE_COPIES > 0 and cluster.late_copies < LATE_COPIES and requests.late is None)
    require(cluster.is_up(broker) and not requests.headers.is_empty)
    cluster.late_copies += 1
    requests.late = requests.headers.head
    for partition in PARTITIONS:
        requests.late_columns[partition] = requests.columns[partition].head


@action(
    by=BROKER,
    says="receives a request once more, late",
    source="KAFKA-9539: a StopReplica request that is handled after a later LeaderAndIsr",
)
def receive_late_copy(cluster: Cluster, broker: Broker) -> None:
    """From now on it waits its turn as any other request does."""
    requests = cluster.brokers[broker].requests
    require(LATE_COPIES > 0 and requests.late is not None)
    if requests.late is not None:
        requests.headers.push(requests.late)
        for partition in PARTITIONS:
            requests.columns[partition].push(requests.late_columns[partition])
    requests.forget_late()
