"""Stories about runbooks: an operator removes a topic by hand, and a client may create it again.

Each is one runbook of `kwalk.model.kafka.clients.runbook`; another order of its tasks is another setting of the flag
`runbook`.
"""

from __future__ import annotations

from attrs import evolve

from kwalk.model.kafka.clients import admin_clients, runbook
from kwalk.model.kafka.stories.deletion import DELETE_AND_RECREATE

RUNBOOK = (
    *(action for action in DELETE_AND_RECREATE.actions if action is not admin_clients.client_deletes_topic),
    runbook.runbook_deletes_topic,
    runbook.runbook_removes_topic,
    runbook.runbook_removes_deletion_request,
    runbook.runbook_removes_controller,
    runbook.runbook_removes_logs,
    runbook.runbook_stops,
    runbook.runbook_starts,
    runbook.runbook_rolls,
)

REMOVE_TOPIC = evolve(
    DELETE_AND_RECREATE,
    name="runbook-remove-topic",
    story=(
        "An operator removes /brokers/topics/T in ZooKeeper and does nothing else; later a client creates the topic "
        "again."
    ),
    actions=RUNBOOK,
    bounds={
        **DELETE_AND_RECREATE.bounds,
        "failovers": 0,
        "restarts": 1,
        "events": 6,
        "requests": 8,
        "runbook_tasks": 5,
    },
    flags={**DELETE_AND_RECREATE.flags, "runbook": "topic"},
    source="an operator's question of what happens if /brokers/topics/T is deleted directly",
)

REMOVE_ZNODES = evolve(
    REMOVE_TOPIC,
    name="runbook-remove-znodes",
    story=(
        "The deletion of a topic hangs, perhaps as a broker is down; the operator removes its znodes and then the "
        "delete_topics znode. Later a client creates the topic again."
    ),
    flags={**REMOVE_TOPIC.flags, "runbook": "znodes"},
    source="a runbook that circulates: kafka-topics.sh --delete, zkCli deleteall /brokers/topics/T, then the marker",
)

REMOVE_ZNODES_AND_CONTROLLER = evolve(
    REMOVE_ZNODES,
    name="runbook-remove-znodes-and-controller",
    story="The same, and at the end the operator deletes /controller, so that a controller starts from ZooKeeper.",
    flags={**REMOVE_TOPIC.flags, "runbook": "znodes and controller"},
    source="the same runbook with the step that is often added",
)

REMOVE_LOGS = evolve(
    REMOVE_ZNODES,
    name="runbook-remove-logs",
    story="The same, and before /controller the operator removes the topic's logs under the running brokers.",
    flags={**REMOVE_TOPIC.flags, "runbook": "logs", "metadata_file_removal": True},
    source="the same runbook with rm -rf of the topic's log directories",
)

ROLL = evolve(
    REMOVE_ZNODES,
    name="runbook-roll",
    story=(
        "After all znodes are removed, the operator stops each broker in turn, removes the topic's logs of "
        "the one that is down, and starts it."
    ),
    flags={**REMOVE_TOPIC.flags, "runbook": "roll"},
    source="the same runbook with the logs removed during a rolling restart",
)

STOP_ALL = evolve(
    REMOVE_ZNODES,
    name="runbook-stop-all",
    story=(
        "The operator stops all brokers, removes the topic's logs and all its znodes, and starts the brokers "
        "in any order."
    ),
    flags={**REMOVE_TOPIC.flags, "runbook": "stop all"},
    source="the same runbook with the whole cluster down",
)

AFTER_ASKING = (REMOVE_ZNODES, REMOVE_ZNODES_AND_CONTROLLER, REMOVE_LOGS, ROLL)
"""Runbooks that begin with a requested deletion."""
WITHOUT_ASKING = (REMOVE_TOPIC, STOP_ALL)
