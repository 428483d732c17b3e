"""Consumer groups: members, their coordinator, and the partition of __consumer_offsets in which a group is kept.

Begin with `state`, then read `group_coordinator` (what members and their coordinator do), `group_metadata_manager`
(what is cached, loaded and written) and `kwalk.invariants.stories.groups` (the stories). `versions` has the flags.
`delayed_operations` is a model of its own: the threads of a coordinator, and the locks of its groups. So are
`member_timeouts`, `leftover_timers`, `offsets_partition` (who leads it, and what its cleaner leaves), `offsets_topic`
(the creation of __consumer_offsets), `transactional_offsets`, `zookeeper_offsets` and `group_answers` (what is said of
a group). Of consumers: `consumer_coordinator` (members that keep their partitions while they join again),
`abstract_coordinator` (consumers that join again, and where they begin to read), `heartbeat_thread` (their threads) and
`sticky_assignor`.

What the model leaves out, and why these stories lose nothing by it:

* The controller: an election is one step, and LeaderAndIsr is on its way to both brokers, which are all replicas and
  in sync. A broker that crashes is to a group a move whose unload is at once.
* Requests in flight: a request, its handling and an answer that does not wait are one step. Heartbeats that are
  accepted, and commits that are refused, change nothing and are no steps.
* A leader that was deposed and does not know it: what it appends is never replicated, so it is not in the log.
* Time: session, rebalance and sync timeouts fire at any time for a member that does not answer, and for no other.
  group.initial.rebalance.delay.ms (0.11) is not there. A member id that must be known before a member joins (KIP-394)
  is known at once: its answer is not lost.
* More than one partition of the topic, and more than one group: the members of a generation differ in who owns the
  partition. Errors in one group that affect others of the same __consumer_offsets partition (KAFKA-2913) cannot be
  seen.
* More than one commit at a time, and transactions (KIP-98), but for one story. A commit that waits for its replicas is
  not overtaken by the deletion of its topic.
* Heartbeats of 0.10.0: it answers REBALANCE_IN_PROGRESS to unknown members, too, who join again and learn it then.
* Clients revoke what they own before they join again: eager rebalancing; KIP-429 is in `consumer_coordinator`.
* The group coordinator of KIP-848 (Kafka 3.7 and later, on KRaft clusters): 3.9 here is GroupCoordinator.scala.
"""
