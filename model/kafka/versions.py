"""The Kafka versions as sets of flags, and the switches that choose how finely the model looks.

Words: a *variant* is a version of Kafka; its flags name the changes that tell versions apart. The other flags are a
scenario's *grain*: which steps it tells apart, and which optional behaviour it has.
"""
from __future__ import annotations

from model.language import Flag

FIRST_LEADER_AND_ISR_ASSIGNS_ID = Flag(
    "first_leader_and_isr_assigns_id",
    "KAFKA-12426 (3.0): a log takes its topic id when it is created, and the first LeaderAndIsr that a process handles "
    "is checked against the id of the loaded log; before, the first one was neither checked nor used",
)
ASYNC_METADATA_FLUSH = Flag(
    "async_metadata_flush",
    "KAFKA-13092 (2.8.1): partition.metadata is written later, by the log's scheduler, in a step of its own",
)

STOP_REPLICA_EPOCH = Flag(
    "stop_replica_epoch",
    "which leader epochs of a StopReplica request a broker accepts: all; only one greater than its own (KAFKA-9539, "
    "2.6); also one that is equal (KAFKA-13972, 3.4.1)",
    settings=("none", "gt", "ge"),
)

ISR_CHANGES = Flag(
    "isr_changes",
    "when leaders shrink and expand the ISR",
    settings=("never", "between requests", "any time"),
)
REQUEST_PER_PARTITION = Flag(
    "request_per_partition", "a batch goes out as one request for each partition; real controllers send one for all"
)
METADATA_FILE_REMOVAL = Flag(
    "metadata_file_removal", "operators remove partition.metadata, so that an id in memory without a file may be clean"
)
STOP_REPLICA = Flag("stop_replica", "controllers send StopReplica, and a log can be on disk without being hosted")
PREFERRED_ELECTION = Flag("preferred_election", "auto.leader.rebalance.enable: leaders move back to preferred replicas")

VARIANTS = {
    "2.8.2": {"first_leader_and_isr_assigns_id": False, "stop_replica_epoch": "gt"},
    "3.9.0": {"first_leader_and_isr_assigns_id": True, "stop_replica_epoch": "ge"},
}
COARSE = {
    "async_metadata_flush": False,
    "metadata_file_removal": False,
    "isr_changes": "never",
    "request_per_partition": False,
    "stop_replica": False,
    "preferred_election": False,
}
"""The grain for exhaustive search: quiet states are the same but for what a crash takes that was not flushed."""
FINE = {
    "async_metadata_flush": True,
    "metadata_file_removal": False,
    "isr_changes": "any time",
    "request_per_partition": False,
    "stop_replica": False,
    "preferred_election": True,
}
"""Everything that the model can tell apart and that real clusters do."""
