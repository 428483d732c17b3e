"""The example scenarios, as the entry point group `kwalk.scenarios` announces them: the simplest first."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kwalk.model.language import Scenario

if TYPE_CHECKING:
    SCENARIOS: tuple[Scenario, ...]

PLACES = {
    "die-hard": "die_hard:DIE_HARD",
    "lost-update": "lost_update:LOST_UPDATE",
    "transaction-commit": "transaction_commit:TRANSACTION_COMMIT",
    "two-phase-commit": "two_phase_commit:TWO_PHASE_COMMIT",
    "tower-of-hanoi": "tower_of_hanoi:TOWER_OF_HANOI",
    "tic-tac-toe": "tic_tac_toe:TIC_TAC_TOE",
    "ticket-lock": "ticket_lock:TICKET_LOCK",
    "blocking-queue": "blocking_queue:BLOCKING_QUEUE",
    "alternating-bit": "alternating_bit:ALTERNATING_BIT",
    "readers-writers": "readers_writers:READERS_WRITERS",
    "ewd426": "ewd426:EWD426",
    "ewd840": "ewd840:EWD840",
    "ewd998": "ewd998:EWD998",
    "disruptor": "disruptor:DISRUPTOR",
    "chang-roberts": "chang_roberts:CHANG_ROBERTS",
    "lamport-mutex": "lamport_mutex:LAMPORT_MUTEX",
    "consensus": "consensus:CONSENSUS",
    "voting": "voting:VOTING",
    "synod": "synod:SYNOD",
    "paxos": "paxos:PAXOS",
    "checkpoint-lease": "checkpoint_lease:CHECKPOINT_LEASE",
    "nonblocking-commit": "nonblocking_commit:NONBLOCKING_COMMIT",
    "snapshot-isolation": "snapshot_isolation:SNAPSHOT_ISOLATION",
    "elevator": "elevator:ELEVATOR_CALLS",
    "random-access-file": "buffered_file:RANDOM_ACCESS_FILE",
    "buffered-file": "buffered_file:BUFFERED_FILE",
    "key-value-store": "key_value_store:KEY_VALUE_STORE",
    "b-tree": "b_tree:B_TREE",
    "scheduling-allocator": "scheduling_allocator:SCHEDULING_ALLOCATOR",
    "topic-id-core": "reference:REFERENCE",
}
"""The module and the constant of each scenario, so that a command imports only the one that it names."""


def __getattr__(name: str) -> Any:
    """Load all scenarios when `SCENARIOS` is first used."""
    if name == "SCENARIOS":
        return globals().setdefault(name, tuple(map(scenario_named, PLACES)))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def scenario_named(name: str) -> Scenario | None:
    """Return the scenario of a name, or None."""
    if name not in PLACES:
        return None
    module, _, constant = PLACES[name].partition(":")
    found: Scenario = getattr(import_module(f"kwalk.model.examples.{module}"), constant)
    return found
