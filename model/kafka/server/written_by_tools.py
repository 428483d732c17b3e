"""ReassignPartitionsCommand, ZkSecurityMigrator: what tools write into ZooKeeper, which the controller reads.

What the model leaves out, and why its story loses nothing by it: a reassignment that is in order, which other models
have; and other paths whose ACLs are set, which are there.
"""

from __future__ import annotations

from enum import Enum

from kwalk.model.kafka.server.versions import (
    ADDED_REASSIGNMENTS_ARE_NOTICED,
    ADDED_REASSIGNMENTS_STAY,
    LISTS_HAVE_REPLICAS,
    MIGRATOR_CREATES_NO_CONTROLLER,
    TOOLS_CHECK_TYPES,
)
from kwalk.model.language import Actor, Bound, action, choice, flag, require, state

OPERATOR = Actor("operator", system=False)
FAULT = Actor("fault", system=False)
CONTROLLER = Actor("controller")
ADDITIONS = Bound("additions", "1 if a reassignment may be added to a list that is there", default=0)


class AskedList(Enum):
    """What /admin/reassign_partitions has."""

    NOTHING = "it is not there"
    LIST = "a list of replicas"
    EMPTY_LIST = "a list without replicas"
    OTHER_TYPES = "words where numbers are to be"


@state
class ToolsAndController:
    """The controller, and what tools have written.

    Attributes:
        has_controller: whether a broker is the controller, whose znode /controller goes with its session.
        is_blocked: whether /controller is there without a broker, and stays.
        cannot_begin: whether a broker that was elected has failed to read what is in ZooKeeper.
        has_no_replica: whether the partition was reassigned to no broker.
        is_begun: whether the controller has read the list, and reassigns what it had.
        lacks_more: whether a tool has added a partition since, which the controller does not know.
    """

    has_controller: bool = flag()
    is_blocked: bool = flag()
    written: AskedList = choice(AskedList)
    cannot_begin: bool = flag()
    has_no_replica: bool = flag()
    is_begun: bool = flag(when=ADDITIONS)
    lacks_more: bool = flag(when=ADDITIONS)


@action(by=FAULT, description="ends the session of the controller", source="ZooKeeper: ephemeral znodes")
def end_controller(tools: ToolsAndController) -> None:
    """/controller goes."""
    require(tools.has_controller)
    tools.has_controller = False


@action(by=CONTROLLER, description="is elected", source="KafkaController.elect, onControllerFailover")
def elect_beside_tools(tools: ToolsAndController) -> None:
    """It creates /controller, if that is not there, and reads what is to be reassigned."""
    require(not tools.has_controller and not tools.is_blocked)
    tools.cannot_begin = tools.written is AskedList.OTHER_TYPES
    tools.has_controller = not tools.cannot_begin
    if ADDITIONS > 0 and tools.written is not AskedList.NOTHING:
        tools.is_begun = tools.lacks_more = False


@action(by=OPERATOR, description="sets ACLs of znodes", source="ZkSecurityMigrator.run: makeSurePersistentPathExists")
def migrate_security(tools: ToolsAndController) -> None:
    """Up to 2.4 zookeeper-security-migration.sh created what was not there, also /controller, for good."""
    require(not tools.is_blocked)
    tools.is_blocked = not tools.has_controller and not MIGRATOR_CREATES_NO_CONTROLLER


@action(by=OPERATOR, description="asks for a reassignment", source="ReassignPartitionsCommand.parseAndValidate")
def write_list(tools: ToolsAndController, is_empty: bool) -> None:
    """Up to 0.10.2 a partition could be reassigned to no broker."""
    require(tools.written is AskedList.NOTHING and not (is_empty and bool(LISTS_HAVE_REPLICAS)))
    tools.written = AskedList.EMPTY_LIST if is_empty else AskedList.LIST


@action(by=OPERATOR, description="asks for one with words for ids", source="ReassignPartitionsCommand: Json")
def write_other_types(tools: ToolsAndController) -> None:
    """Up to 1.1 the tool did not look at types."""
    require(tools.written is AskedList.NOTHING and not TOOLS_CHECK_TYPES)
    tools.written = AskedList.OTHER_TYPES


@action(by=CONTROLLER, description="begins a reassignment", source="KafkaController.processZkPartitionReassignment")
def begin_as_written(tools: ToolsAndController) -> None:
    """It reads the list, and its replicas copy the partition."""
    require(ADDITIONS > 0 and tools.has_controller and not tools.is_begun)
    require(tools.written in (AskedList.LIST, AskedList.EMPTY_LIST))
    tools.is_begun = True


@action(by=OPERATOR, description="adds a partition to the list", source="ZooKeeper: setData, as tools of others do")
def add_to_list(tools: ToolsAndController) -> None:
    """Since 1.1 the controller watches that the list is created, and not that it changes."""
    require(ADDITIONS > 0 and tools.is_begun and not tools.lacks_more and tools.has_controller)
    tools.lacks_more = not ADDED_REASSIGNMENTS_ARE_NOTICED


@action(by=CONTROLLER, description="reassigns the partition", source="KafkaController.onPartitionReassignment")
def reassign_as_written(tools: ToolsAndController) -> None:
    """It has the replicas of the list then.

    Since 2.4 the controller leaves in the list what it does not know. The list stays with it, and it is only read
    anew by another controller (KAFKA-9478).
    """
    require(tools.has_controller and tools.written in (AskedList.LIST, AskedList.EMPTY_LIST))
    require(ADDITIONS == 0 or (tools.is_begun and not (tools.lacks_more and ADDED_REASSIGNMENTS_STAY)))
    tools.has_no_replica = tools.written is AskedList.EMPTY_LIST
    tools.written = AskedList.NOTHING
    if ADDITIONS > 0:
        tools.is_begun = False
