"""Kafka's ZooKeeper-mode controller, brokers and clients, one module for each component that Kafka itself has.

Begin with `state`, `znodes` and `controller_context` (what there is), then `controller_events` and
`controller_failover` (what the controller does), `replica_manager` (what a broker does with its requests) and
`scenarios` (the stories). `versions` has the flags.

What the model leaves out, and why nothing is lost for the stories told here:

* A registration in /brokers/ids and its broker epoch: a context knows whether a broker is gone, current, or stale;
  a request that would carry a stale broker epoch is dropped when it is sent.
* UpdateMetadata, unless the flag `metadata_caches` is on: a broker needs of it only which leaders live, and that goes
  with LeaderAndIsr. Without partitions, or when only an ISR changed, it is never sent. StopReplica goes only to brokers
  that stop. A request arrives once, in order, unless the bound `late_copies` is above 0.
* The ISR in requests and in the context: elections read the state znode, and retry until they win the race for it.
* The session ends with the process, so that a crash is also the session's expiry; alone it ends only under the flag
  `sessions`. What its controller does before it notices fails; without `session_bound` the next session repeats it.
* The controller epoch in a state znode: without `zk_fencing` it would stop some elections of a deposed controller.
* A controlled shutdown and the stop that follows are one step. A clean stop without a controller is left out: it is a
  crash that loses no dirty topic id.
* A leader's AlterIsr and the controller's answer are one step: a leader whose request would be refused does not ask,
  where Kafka's gives up until the next LeaderAndIsr, which is on its way then. Not seen: a follower that ends between
  the two, and is in the ISR though dead (KAFKA-14140).
* An election is one step: who loses the race for /controller ends as if it had come later. Listing topics and reading
  their znodes are one, too, in TopicChange and F1 to F4. Not seen: the id that is minted for a topic which vanishes
  in between.
* The two halves of BrokerChange read /brokers/ids each: a broker that comes in between has an event of its own anyway.
* A new client reads a topic's partitions and its id in one step. Not seen: partitions of a topic that was deleted, with
  the id of the one that was created again meanwhile.
* A client's topic gets its configuration and its znode in one step; the znode decides, NODEEXISTS.
* The parents of a state znode: there when it is. KafkaController.restorePartitionReplicaAssignment looks at them.
* Of a failing event only ControllerMoved, and ids that two topics share: other exceptions need broken znodes.
* Who asks for elections: ElectLeaders and /admin/preferred_replica_election. Leaders move by themselves, where the flag
  `preferred_election` is on; unclean elections are allowed from the start or never, so that no event allows them.
* /admin/reassign_partitions; znodes whose replicas somebody edits by hand (ids can be written: `operator`).
* Fetches without topic id of a follower whose controller has an inter-broker protocol below 2.8: since 3.1 they are by
  name again; here a follower goes by its log's id.
* Startup is handled as Reelect. Of a controller that resigns, the request in flight to each broker always arrives.
* A dirty topic id, unless operators remove files: it is one that the log has in memory and no file has. A log is
  hosted when it is open.
* Time: whoever cannot fetch may leave the ISR at any moment, whoever can may join, and timers fire when they like.
* Records, unless the bound `records` is above 0: then a log holds that many, a crash loses none of them, and the high
  watermark is checkpointed only by a clean stop. Producers use acks=all, and min.insync.replicas is 1.
* Deletion together with reassignment: a topic that is being reassigned is not ineligible for deletion here. Where
  topics are deleted, every broker has a replica of every partition.
* Logs that fail under a running broker; a disk that has failed when a broker starts is behind the flag `offline_logs`.
  A log that an operator removes under a running broker stays with the process.
* Operators of runbooks remove a topic's znodes in one step; others one by one, under the flag `piecemeal_removal`.
"""
