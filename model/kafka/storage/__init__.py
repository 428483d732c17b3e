"""One partition's log on disk: segments and their indexes, lookups, retention.

Begin with `state`, then read `log_segment` and `indexes` (what a segment has, and how a record is found in it), `log`
(rolling, retention, truncation) and `kwalk.model.kafka.stories.storage` (the stories). `versions` has the flags.

What the model leaves out, and why these stories lose nothing by it:

* Sizes: bytes, milliseconds and offsets are small numbers; Integer.MAX_VALUE is the bound `max_relative_offset`. A rule
  such as "larger than log.segment.bytes" is the same at any scale.
* Binary search: an index is searched in order. Both find the same entry as long as an index is sorted, which is a
  property here.
* Records within a batch: a lookup by timestamp finds the batch, in which Kafka then reads record by record.
* segment.jitter.ms, flush.messages, preallocation, and the transaction index.
* The three rules of retention are three steps, which a check takes one after the other; each could be due without
  the others.
"""
