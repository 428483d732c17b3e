"""Kafka's ZooKeeper-mode controller, brokers and clients, with one module for each of Kafka's own classes.

Begin with `state`, `zookeeper.znodes` and `controller.controller_context` (the state), then read
`controller.kafka_controller` (what the controller does), `broker.replica_manager` (how a broker handles requests) and
`kwalk.invariants.stories` (what happens). `versions` has the flags. docs/reference/kafka-names.md lists Kafka's names.

What the model leaves out, and why these stories lose nothing by it:

* Broker epochs in /brokers/ids: a context knows whether a broker's registration is gone, current, or stale; a request
  that would carry a stale broker epoch is dropped when it is sent.
* UpdateMetadata, unless the flag `metadata_caches` is on: a broker needs of it only which leaders are live, and that is
  part of LeaderAndIsr. Without partitions, or when only an ISR changed, it is never sent. StopReplica goes only to
  brokers that stop. A request arrives once, in order, unless the bound `late_copies` is above 0.
* The ISR in requests and in the context: elections read the state znode, and retry until they win the race for it.
* Sessions: a session ends with the process, so that a crash is also the session's expiry; it ends alone only under the
  flag `sessions`. What its controller does before it notices fails; without `session_bound` the next session repeats
  it.
* The controller epoch in a state znode: without `zk_fencing` it would stop some elections of a deposed controller.
* Requests to a controller are put into its queue and handled in one step, when they are handled: what waits then was
  put there later (`Controller`). docs/explanation/fidelity.md has what is more than in Kafka.
* A controlled shutdown and the stop that follows are one step, unless the flag `stepwise_shutdown` is on: what the
  broker handles in between is left out, and its controller takes it for live until it is gone. A clean stop without a
  controller is left out: it is a crash that loses no dirty topic id.
* A leader's AlterIsr and the controller's response are one step: a leader whose request would be refused does not send
  it, where Kafka's gives up until the next LeaderAndIsr, which is then on its way. Not covered: a follower that stops
  between the two, and is in the ISR although dead (KAFKA-14140).
* An election is one step: a broker that loses the race for /controller behaves as if it had come later. Listing topics
  and reading their znodes are one step, too, in TopicChange and F1 to F4. Not covered: the id that is minted for a
  topic which vanishes in between.
* The two halves of BrokerChange each read /brokers/ids: a broker that registers in between has an event of its own.
* A new client reads a topic's partitions and its id in one step. Not covered: partitions of a deleted topic with the id
  of its successor.
* A client's topic gets its configuration and its znode in one step; the znode decides, NODEEXISTS.
* The parents of a state znode exist when it does. KafkaController.restorePartitionReplicaAssignment reads them.
* Exceptions in events: only ControllerMoved, ids that two topics share, and reassignments whose topic is gone or whose
  partition never had a leader, as such an entry of /admin/preferred_replica_election; they end a failover
  (`triggerControllerMove`). Not covered: the context that a controller keeps whose failover fails after another
  election.
* Requested elections, unless the bound `election_requests` is above 0, and always ElectLeaders. Leaders move
  automatically under the flag `preferred_election`. Unclean elections are allowed from the start or never; no event
  allows them.
* /admin/reassign_partitions, and znodes whose replicas are edited by hand (ids can be written: `operator`).
* Fetches without topic id of a follower whose controller has an inter-broker protocol below 2.8: since 3.1 they are by
  name again; here a follower uses its log's id.
* Startup is handled as Reelect. When a controller resigns, its request in flight to each broker always arrives, unless
  the flag `lost_requests` is on. Requests to a broker arrive in the order in which they were sent, also those of a
  deposed controller and of its successor, unless the flag `overtaking_requests` is on.
* The batches of requests: each is sent at the end of its change, unless the flag `unsent_batch` is on. The partition
  state machine's can keep requests only if its controller is deposed between two writes of one event; not covered.
* Dirty topic ids, unless operators remove files: an id is dirty when the log has it in memory and no file has it. A log
  is hosted when it is open.
* Time: a replica that cannot fetch may leave the ISR at any moment, one that can may join, timers may fire at any time.
* Records, unless the bound `records` is above 0: then a log holds that many, a crash loses none of them, and the high
  watermark is checkpointed only by a clean stop. Producers use acks=all, and min.insync.replicas is 1.
* A follower whose log has a later leader epoch than its leader, which only states bring that were written by hand:
  since 2.8 the leader refuses its fetches (KIP-595, Partition.readRecords); here it truncates.
* Deletion together with reassignment, except in `deletion-during-reassignment`: where else topics are deleted, every
  broker has a replica of every partition.
* Logs that fail under a running broker; a disk that has failed when a broker starts is under the flag `offline_logs`.
  A log that an operator removes under a running broker stays with the process.
* Operators of runbooks remove a topic's znodes in one step; others one by one, under the flag `piecemeal_removal`.
"""
