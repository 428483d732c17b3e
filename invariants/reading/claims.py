"""What holds in the worlds of a damaged cluster, or is to hold after a plan."""

from __future__ import annotations

from kwalk.invariants import partitions, records, topic_ids
from kwalk.invariants.reading.findings import PROPERTIES

OF_RECORDS = (
    records.isr_has_only_own_records,
    records.no_divergence,
    records.committed_records_are_kept,
    records.last_copies_are_kept,
)
"""What every plan keeps, whatever it repairs."""
CLAIMS = (
    *(prop for prop in PROPERTIES if prop.name != "metadata_converges"),
    topic_ids.down_replica_fits,
    *OF_RECORDS,
)
"""The properties of an inspection, and those of records; worlds have no metadata caches."""
OF_STATES = (records.state_has_the_latest_epoch, records.clients_take_the_leader)
"""What plans also reach where ZooKeeper's state is older than all logs, or gone: a controller begins one at epoch 0."""
OF_DISKS = (partitions.replica_is_online,)
"""The properties that plans reach for replicas on failed disks."""
HARMS = (
    "partition_servable",
    "partition_has_a_live_isr_member",
    "leader_answers_fetches_by_id",
    "replicas_converge",
    "partition_gets_a_leader",
    "no_partition_lost",
    *(prop.name for prop in OF_RECORDS),
)
"""The claims whose violation users notice."""
FITS = topic_ids.down_replica_fits.name
"""The claim that a broker which is down may start with the log that it has."""
