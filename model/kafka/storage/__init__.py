"""One partition's log on disk: segments and their indexes, lookups, retention, compaction and recovery.

Begin with `state`, then read `log_segment` and `indexes` (what a segment has, and how a record is found in it), `log`
(rolling, retention, truncation), `log_cleaner`, `log_loading` (flushes, crashes, recovery) and
`kwalk.invariants.stories.storage` (all stories). `versions` has the flags. `leader_epochs`, `compacted_transactions`,
`producer_state`, `future_log`, `log_cleaner_manager`, `log_creation`, `log_deletion`, `cleaner_buffers`,
`uncleanable_logs` and `unreadable_checkpoints` are models of their own: what followers truncate after elections, what
a cleaning leaves of transactions, what a log knows of producers, how a replica moves to another log directory, who
may change a log, which configuration it begins with, how its folder is deleted, what a cleaning has room for, which
logs the cleaner leaves out, and what a start makes of its checkpoints. So are those of few steps: `disk_crashes`,
`empty_batches`, `failed_starts`, `last_batch`, `leadership`, `log_recreation`, `tiered_log`, `write_errors`,
`log_readers`, `lazy_index`, `log_sizes`, `cleaner_formats`, `wrapped_sequences`, `sequence_reset`, `start_reads`,
`directories_stop`, `cleaner_checkpoint`, `added_time_index`, `down_conversion`, `file_reads`, `log_tasks` and
`received_batches`; `kwalk.invariants.stories.log_reads` has their stories.

What the model leaves out, and why these stories lose nothing by it:

* Sizes: bytes, milliseconds and offsets are small numbers; Integer.MAX_VALUE is the bound `max_relative_offset`. A rule
  such as "larger than log.segment.bytes" is the same at any scale.
* Binary search: an index is searched in order. Both find the same entry as long as an index is sorted, which is a
  property here.
* Records within a batch: a lookup by timestamp finds the batch, in which Kafka then reads record by record. Which of
  them has the largest timestamp is in one story.
* Batches of a compacted log have one record of size 1. Transactions and the state of producers are in models of their
  own; min.compaction.lag.ms and max.compaction.lag.ms are not there.
* A crash of the machine loses the end of the log from any batch on that was not flushed, and keeps all entries of
  indexes, which may then point behind the end. Checkpoint files are never lost: they are flushed and renamed.
* While segments are swapped, nothing is appended, as Kafka holds the lock of the log; reads in between are not there.
* leader-epoch-checkpoint, which `leader_epochs` has, and `kwalk.model.kafka.broker.log` as one rule.
* segment.jitter.ms, flush.messages, and the transaction index. Log files are preallocated in one story only.
* The three rules of retention are three steps, which a check takes one after the other; each could be due without
  the others.
* Recovery always succeeds: Kafka's fails where an index has no room for its entries, which can be more than those of
  the appends, as an entry is left out after a start. Batches are not larger than a segment; Kafka refuses such ones.
"""
