"""Properties of what tools write into ZooKeeper."""

from __future__ import annotations

from kwalk.model.kafka.server.versions import ADDED_REASSIGNMENTS_STAY
from kwalk.model.kafka.server.written_by_tools import AskedList, ToolsAndController
from kwalk.model.language import always, premise, reachable, step, when_quiescent


@when_quiescent(
    symptom="a cluster has no controller, after zookeeper-security-migration.sh was run",
    log="none: ZooKeeper has /controller without a session (ephemeralOwner = 0x0)",
)
def broker_can_be_elected(tools: ToolsAndController) -> bool:
    """A broker is the controller, whatever tools have written."""
    return tools.has_controller


@always(symptom="no broker can be the controller, after a reassignment was asked for", log="none")
def controller_can_read_what_is_written(tools: ToolsAndController) -> bool:
    """A broker that is elected can read what tools have written."""
    return not tools.cannot_begin


@always(symptom="a partition is gone, after it was reassigned", log="none: kafka-topics.sh --describe shows no replica")
def partition_keeps_a_replica(tools: ToolsAndController) -> bool:
    """A partition is reassigned to one broker at least."""
    return not tools.has_no_replica


@step(symptom="there are two controllers, or one that nobody has elected", log="none")
def controller_is_elected_alone(before: ToolsAndController, after: ToolsAndController) -> bool:
    """A broker is elected where /controller is not there, and a session ends alone."""
    premise(before.has_controller != after.has_controller)
    return not before.is_blocked and not after.is_blocked and before.written is after.written


@step(symptom="a reassignment is forgotten", log="none")
def reassignment_is_written_and_done(before: ToolsAndController, after: ToolsAndController) -> bool:
    """A reassignment is written where there is none, and done by the controller."""
    premise(before.written is not after.written)
    is_new = before.written is AskedList.NOTHING and not after.has_no_replica
    return is_new or (after.written is AskedList.NOTHING and before.has_controller)


@when_quiescent(symptom="a reassignment does not begin", log="none")
def list_is_reassigned(tools: ToolsAndController) -> bool:
    """A list of replicas that is written is reassigned."""
    premise(tools.has_controller)
    return tools.written is not AskedList.LIST


@when_quiescent(
    symptom="a reassignment does not begin, which was written while another one was under way; since 2.4 none does "
    "that is written into ZooKeeper, until the controller moves",
    log="none: /admin/reassign_partitions stays",
)
def added_reassignment_is_done(tools: ToolsAndController) -> bool:
    """A partition that is added to the list is reassigned, too."""
    premise(tools.has_controller)
    return not tools.lacks_more


@step(symptom="a reassignment is begun that nobody has asked for, or twice", log="none")
def controller_begins_what_is_written(before: ToolsAndController, after: ToolsAndController) -> bool:
    """A controller begins a list that is there, to which a partition may be added then; its successor reads it anew."""
    premise(before.is_begun != after.is_begun or before.lacks_more != after.lacks_more)
    is_same = before.written is after.written and before.has_controller and after.has_controller
    if not before.has_controller:
        return after.has_controller and not after.is_begun and not after.lacks_more
    if after.written is not before.written:
        is_left = before.lacks_more and bool(ADDED_REASSIGNMENTS_STAY)
        return before.is_begun and not is_left and before.lacks_more == after.lacks_more
    if after.is_begun and before.is_begun:
        return is_same and after.lacks_more
    is_begun = after.is_begun and before.written is AskedList.LIST
    return is_same and is_begun and before.lacks_more == after.lacks_more


@step(symptom="a reassignment that has begun is begun again, or one that is done goes on", log="none")
def list_is_read_by_each_controller(before: ToolsAndController, after: ToolsAndController) -> bool:
    """A broker that is elected has begun nothing, and knows all of a list; a list that is done was begun."""
    premise(before.has_controller != after.has_controller or before.written is not after.written)
    if after.has_controller and not before.has_controller:
        return not after.is_begun and (after.written is AskedList.NOTHING or not after.lacks_more)
    if after.written is AskedList.NOTHING and before.written is not AskedList.NOTHING:
        return before.is_begun and not after.is_begun and before.has_controller
    return before.is_begun == after.is_begun and before.lacks_more == after.lacks_more


@when_quiescent(symptom="a reassignment does not begin, or does not end", log="none")
def list_stays_for_what_was_added(tools: ToolsAndController) -> bool:
    """A list that stays was begun, and lacks a partition that was added."""
    premise(tools.has_controller and tools.written is not AskedList.NOTHING)
    return tools.is_begun and tools.lacks_more


@reachable()
def list_waits_for_a_controller(tools: ToolsAndController) -> bool:
    """A reassignment is written while there is no controller."""
    return tools.written is AskedList.LIST and not tools.has_controller
