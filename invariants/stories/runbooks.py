"""Stories about runbooks: an operator removes a topic by hand, and a client may create it again.

Each is one runbook of `kwalk.model.kafka.clients.runbook`; another order of its tasks is another setting of the flag
`runbook`.
"""

from __future__ import annotations

from kwalk.invariants import deletion, partitions, runbooks
from kwalk.invariants.stories.deletion import DELETE_AND_RECREATE, DELETION
from kwalk.model.kafka import actions
from kwalk.model.kafka.clients import admin_clients

RUNBOOK = (
    *(prop for prop in DELETION if prop not in (deletion.topic_is_deleted, deletion.deletion_terminates)),
    partitions.partition_servable,
    runbooks.removed_topic_is_not_served,
    runbooks.config_goes_with_topic,
    runbooks.runbook_is_finished,
    runbooks.topic_serves_after_the_runbook,
)
AFTER_ASKING = (*RUNBOOK, deletion.deletion_terminates)
"""Of runbooks that begin with a requested deletion."""

REMOVE_TOPIC = DELETE_AND_RECREATE.varied(
    name="runbook-remove-topic",
    story=(
        "An operator removes /brokers/topics/T in ZooKeeper and does nothing else; later a client creates the topic "
        "again."
    ),
    actions=(
        *(one for one in DELETE_AND_RECREATE.actions if one is not admin_clients.client_deletes_topic),
        *actions.RUNBOOK,
    ),
    properties=RUNBOOK,
    bounds={"failovers": 0, "restarts": 1, "events": 6, "requests": 8, "runbook_tasks": 5},
    flags={"runbook": "topic"},
    source="an operator's question of what happens if /brokers/topics/T is deleted directly",
)

STOP_ALL = REMOVE_TOPIC.varied(
    name="runbook-stop-all",
    story=(
        "The operator stops all brokers, removes the topic's logs and all its znodes, and starts the brokers "
        "in any order."
    ),
    flags={"runbook": "stop all"},
    source="the same runbook with the whole cluster down",
)

REMOVE_ZNODES = REMOVE_TOPIC.varied(
    name="runbook-remove-znodes",
    story=(
        "The deletion of a topic hangs, perhaps as a broker is down; the operator removes its znodes and then the "
        "delete_topics znode. Later a client creates the topic again."
    ),
    properties=AFTER_ASKING,
    flags={"runbook": "znodes"},
    source="a runbook that circulates: kafka-topics.sh --delete, zkCli deleteall /brokers/topics/T, then the marker",
)

REMOVE_ZNODES_AND_CONTROLLER = REMOVE_ZNODES.varied(
    name="runbook-remove-znodes-and-controller",
    story="The same, and at the end the operator deletes /controller, so that a controller starts from ZooKeeper.",
    flags={"runbook": "znodes and controller"},
    source="the same runbook with the step that is often added",
)

REMOVE_LOGS = REMOVE_ZNODES.varied(
    name="runbook-remove-logs",
    story="The same, and before /controller the operator removes the topic's logs under the running brokers.",
    flags={"runbook": "logs", "metadata_file_removal": True},
    source="the same runbook with rm -rf of the topic's log directories",
)

ROLL = REMOVE_ZNODES.varied(
    name="runbook-roll",
    story=(
        "After all znodes are removed, the operator stops each broker in turn, removes the topic's logs of "
        "the one that is down, and starts it."
    ),
    flags={"runbook": "roll"},
    source="the same runbook with the logs removed during a rolling restart",
)
