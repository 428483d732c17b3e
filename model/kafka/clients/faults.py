"""Crashes of brokers, and connections that break or are closed."""

from __future__ import annotations

from kwalk.model.kafka.actors import BROKER, FAULT
from kwalk.model.kafka.broker.kafka_server import end_process
from kwalk.model.kafka.controller.controller_context import EventKind
from kwalk.model.kafka.domains import BROKERS, DIRECTORY_FAILURES, FAILOVERS, LATE_COPIES, PARTITIONS, RESTARTS, Broker
from kwalk.model.kafka.state import Cluster, LogDirectoryState
from kwalk.model.kafka.versions.grain import LOST_REQUESTS, OVERTAKING_REQUESTS
from kwalk.model.kafka.zookeeper.kafka_zk_client import controller_changed
from kwalk.model.language import Mark, action, require


@action(by=FAULT, group="faults", description="broker {broker} crashes", mark=Mark.CRASH)
def crash(cluster: Cluster, broker: Broker) -> None:
    """The process dies and its session expires before anything reacts; ids that were not flushed are lost."""
    require(cluster.is_up(broker) and cluster.stops < RESTARTS)
    cluster.stops += 1
    end_process(cluster, broker)


@action(by=FAULT, description="the controller's session ends, and it gets another one")
def end_controller_session(cluster: Cluster) -> None:
    """As a deletion of /controller that a broker notices: with its next session the owner tries to be elected.

    That its registration as a broker ends, too, is left out.
    """
    require(cluster.zookeeper.controller is not None and cluster.controller_deletions < FAILOVERS)
    require(any(cluster.zookeeper.watches[broker].controller for broker in BROKERS))
    cluster.controller_deletions += 1
    cluster.zookeeper.controller = None
    controller_changed(cluster, EventKind.REELECT)


@action(
    by=FAULT,
    description="the controller's connection to broker {broker} breaks while a request is in flight",
    source="RequestSendThread.doWork: the request is sent again until it is answered",
)
def break_connection(cluster: Cluster, broker: Broker) -> None:
    """The broker has received the request, and will handle it again after the copy that the controller sends."""
    requests = cluster.brokers[broker].requests
    require(LATE_COPIES > 0 and cluster.late_copies < LATE_COPIES and requests.late is None)
    require(cluster.is_up(broker) and not requests.headers.is_empty)
    cluster.late_copies += 1
    requests.late = requests.headers.head
    for partition in PARTITIONS:
        requests.late_partition_states[partition] = requests.partition_states[partition].head


@action(
    by=BROKER,
    description="receives a late copy of a request",
    source="KAFKA-9539: a StopReplica request that is handled after a later LeaderAndIsr",
)
def receive_late_copy(cluster: Cluster, broker: Broker) -> None:
    """From now on it waits in the queue as any other request."""
    requests = cluster.brokers[broker].requests
    require(LATE_COPIES > 0 and requests.late is not None)
    assert requests.late is not None
    requests.headers.push(requests.late)
    for partition in PARTITIONS:
        requests.partition_states[partition].push(requests.late_partition_states[partition])
    requests.clear_late()


@action(
    by=FAULT,
    group="faults",
    description="the request in flight to broker {broker} is lost, as its controller has resigned",
    source="ControllerChannelManager.removeExistingBroker: RequestSendThread.shutdown, NetworkClient.close",
)
def lose_request(cluster: Cluster, broker: Broker) -> None:
    """Its thread had taken it from the queue and was connecting, or waiting to send it again; it ends without sending.

    A request that was sent may arrive after those of the next controller. It is refused then, which is the same.
    """
    requests = cluster.brokers[broker].requests
    require(bool(LOST_REQUESTS) and not requests.headers.is_empty)
    sender = requests.headers.head.controller_epoch
    require(not any(cluster.controller_of(other).epoch == sender for other in BROKERS))
    requests.headers.pop()
    for column in requests.partition_states:
        column.pop()


@action(
    by=FAULT,
    description="a request of the next controller reaches broker {broker} before those of a deposed one",
    source="ControllerChannelManager: each controller has connections of its own; STALE_CONTROLLER_EPOCH",
)
def overtake_older(cluster: Cluster, broker: Broker) -> None:
    """The older ones are refused from now on, also those that the deposed controller is still to send.

    The broker knows the next controller's epoch one step before it handles the request.
    """
    state = cluster.brokers[broker]
    requests = state.requests
    require(bool(OVERTAKING_REQUESTS) and not requests.headers.is_empty)
    older = requests.headers.head.controller_epoch
    require(any(request.controller_epoch > older for request in requests.headers))
    state.controller_epoch = max(state.controller_epoch, older + 1)
    requests.drop_waiting(older, in_flight_arrives=False)


@action(
    by=FAULT,
    description="a request of a deposed controller reaches broker {broker} before those of the next one",
    source="ControllerChannelManager: each controller has connections of its own",
)
def overtake_newer(cluster: Cluster, broker: Broker) -> None:
    """It was sent later, by a controller that does not know that it is deposed; the broker accepts it."""
    state = cluster.brokers[broker]
    requests = state.requests
    require(bool(OVERTAKING_REQUESTS) and not requests.headers.is_empty)
    newer, seen = requests.headers.head.controller_epoch, state.controller_epoch
    require(any(seen <= request.controller_epoch < newer for request in requests.headers))
    for position, request in enumerate(requests.headers):
        if seen <= request.controller_epoch < newer:
            requests.bring_forward(position)
            return


@action(
    by=FAULT, description="a log directory of broker {broker} that has no logs fails", source="LogDirFailureChannel"
)
def fail_spare_directory(cluster: Cluster, broker: Broker) -> None:
    """The broker notices when it creates a log there. Its other directories work."""
    require(cluster.is_up(broker) and cluster.brokers[broker].spare_directory is LogDirectoryState.WORKS)
    require(cluster.directory_failures < DIRECTORY_FAILURES)
    cluster.directory_failures += 1
    cluster.brokers[broker].spare_directory = LogDirectoryState.FAILS


@action(
    by=BROKER,
    description="notices that a log directory fails which has no logs",
    source="LogManager.nextLogDirs; ReplicaManager.handleLogDirFailure",
)
def notice_failed_directory(cluster: Cluster, broker: Broker) -> None:
    """As it wrote a checkpoint file there. A process that starts notices at once."""
    require(cluster.is_up(broker) and cluster.brokers[broker].spare_directory is LogDirectoryState.FAILS)
    cluster.brokers[broker].spare_directory = LogDirectoryState.OFFLINE
