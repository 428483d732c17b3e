"""A capture as an initial state of the model: what it shows is set, what it cannot show is derived.

The cluster is taken for settled, with one exception: where the capture shows that the controller has yet to handle a
change (a partition without a state, a leader that is down, no controller at all), the event waits in its queue.
"""
from __future__ import annotations

from model.kafka.assignment import code_of
from model.kafka.controller_context import ControllerEvent, EventKind, Liveness
from model.kafka.snapshots.capture import Capture
from model.kafka.snapshots.focus import Focus
from model.kafka.snapshots.replicas import Belief, Memory, ids_in
from model.kafka.state import Cluster


def controller_in(focus: Focus, capture: Capture) -> int | None:
    """The model's number of the controller; a live replica plays a controller that has no replica here."""
    if capture.controller is None or not capture.brokers[capture.controller].alive:
        return None
    if capture.controller in focus.brokers:
        return focus.index(capture.controller)
    return next((focus.index(b) for b in focus.brokers if capture.brokers[b].alive), None)


def accepted_partitions(focus: Focus) -> int:
    """How many partitions clients were told of: those in focus, and one that stands for what the znode has lost."""
    return len(focus.partitions) + bool(focus.symptoms.lost)


def known_partitions(focus: Focus) -> int:
    """How many of the partitions the controller has handled: those with a state, which come first."""
    return sum(partition in focus.topic.states for partition in focus.partitions)


def replica_orders(focus: Focus) -> int:
    """The bound that gives every partition its replicas in their real order."""
    orders = [[b for b in focus.topic.partitions[p] if b in focus.brokers] for p in focus.partitions]
    return code_of([[focus.brokers.index(b) for b in order] for order in orders])


def arrange(cluster: Cluster, belief: Belief, memory: Memory) -> None:
    """Make a fresh state what the capture shows."""
    focus, ids = belief.focus, ids_in(belief)
    for _ in ids:
        cluster.topic_ids.take()
    cluster.zookeeper.broker_ids = frozenset(
        n for n, broker in enumerate(focus.brokers) if belief.capture.brokers[broker].alive
    )
    _topic(cluster, belief, ids)
    _replicas(cluster, belief, memory, ids)
    _controllers(cluster, belief, ids)


def arrange_without_topics(cluster: Cluster, capture: Capture, brokers: tuple[int, ...]) -> None:
    """Make a fresh state a settled cluster without topics."""
    live = frozenset(n for n, broker in enumerate(brokers) if capture.brokers[broker].alive)
    cluster.zookeeper.broker_ids = live
    elected = capture.controller in brokers and brokers.index(capture.controller) in live
    _elect(cluster, brokers.index(capture.controller) if elected else min(live, default=None))


def number_of(identity: str | None, ids: tuple[str, ...]) -> int | None:
    """The model's number of a topic id."""
    return None if identity is None else ids.index(identity)


def _topic(cluster: Cluster, belief: Belief, ids: tuple[str, ...]) -> None:
    """The history of the topic's id is not held against it: the first id is the one that it has now."""
    focus, znode = belief.focus, cluster.zookeeper.topics[0]
    znode.partition_count, znode.accepted_partitions = len(focus.partitions), accepted_partitions(focus)
    znode.topic_id = number_of(focus.topic.topic_id, ids)
    znode.first_topic_id = number_of(focus.topic.topic_id or belief.context_id, ids)
    for n, partition in enumerate(focus.partitions):
        state = focus.topic.states.get(partition)
        if state is not None:
            znode.states[n].leader = focus.index(state.leader)
            znode.states[n].isr = frozenset(focus.brokers.index(b) for b in state.isr if b in focus.brokers)
            znode.states[n].leader_epoch = belief.leader_epoch(partition)


def _replicas(cluster: Cluster, belief: Belief, memory: Memory, ids: tuple[str, ...]) -> None:
    for b, broker in enumerate(belief.focus.brokers):
        for p, partition in enumerate(belief.focus.partitions):
            held, replica = belief.held(broker, partition, memory), cluster.brokers[b].replicas[0][p]
            replica.file_topic_id = number_of(held.file, ids)
            replica.topic_id = number_of(held.memory, ids)
            replica.log_open, replica.is_leader = held.log_open, held.is_leader
            replica.leader_epoch = held.leader_epoch


def _controllers(cluster: Cluster, belief: Belief, ids: tuple[str, ...]) -> None:
    active = controller_in(belief.focus, belief.capture)
    _elect(cluster, active)
    if active is not None:
        _context(cluster, active, belief, ids)
        _pending(cluster, active, belief)


def _elect(cluster: Cluster, active: int | None) -> None:
    """Without a controller every live broker has seen /controller go, and will try to be the next."""
    zookeeper = cluster.zookeeper
    zookeeper.controller = active
    zookeeper.controller_epoch = 1
    for broker in zookeeper.broker_ids:
        cluster.brokers[broker].controller_epoch = 1
        zookeeper.watches[broker].controller = active is not None
        if active is None:
            cluster.brokers[broker].controller.events.push(ControllerEvent(EventKind.REELECT, 0))
    if active is not None:
        controller, watches = cluster.brokers[active].controller, zookeeper.watches[active]
        controller.epoch = 1
        watches.broker_ids = watches.topics = True
        for broker in zookeeper.broker_ids:
            controller.liveness[broker] = Liveness.CURRENT


def _context(cluster: Cluster, active: int, belief: Belief, ids: tuple[str, ...]) -> None:
    """The controller knows what ZooKeeper had when it last looked, and the topic id that it sends."""
    controller, znode = cluster.brokers[active].controller, cluster.zookeeper.topics[0]
    known = known_partitions(belief.focus)
    if known:
        context = controller.topics[0]
        context.partition_count = known
        context.topic_id = number_of(belief.context_id, ids)
        for n in range(known):
            context.leadership[n].leader = znode.states[n].leader
            context.leadership[n].leader_epoch = znode.states[n].leader_epoch


def _pending(cluster: Cluster, active: int, belief: Belief) -> None:
    """Armed watches, and for each that has fired its event in the queue."""
    watches, controller = cluster.zookeeper.watches[active], cluster.brokers[active].controller
    lost = _unnoticed(cluster, belief)
    known, count = known_partitions(belief.focus), len(belief.focus.partitions)
    watches.broker_ids, watches.topics, watches.topic[0] = not lost, known > 0, known == count
    for broker in lost:
        controller.liveness[broker] = Liveness.STALE
    if lost:
        controller.events.push(ControllerEvent(EventKind.BROKER_CHANGE, 0))
    if not known:
        controller.events.push(ControllerEvent(EventKind.TOPIC_CHANGE, 0))
    elif known < count:
        controller.events.push(ControllerEvent(EventKind.PARTITION_MODIFICATIONS, 0))


def _unnoticed(cluster: Cluster, belief: Belief) -> frozenset[int]:
    """Brokers that are down though they lead, or are in an ISR beside others: the controller will see to them."""
    up = cluster.zookeeper.broker_ids
    found: set[int] = set()
    for n in range(known_partitions(belief.focus)):
        state = cluster.zookeeper.topics[0].states[n]
        beside = state.isr if len(state.isr) > 1 else frozenset()
        found |= (beside | ({state.leader} if state.leader is not None else set())) - up
    return frozenset(found)
