"""Kafka's ZooKeeper-mode controller, brokers and clients, one module for each component that Kafka itself has.

Begin with `state` (what there is), then `controller_events` and `controller_failover` (what the controller does),
`replica_manager` (what a broker does with its requests) and `scenarios` (the stories). `versions` has the flags.

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
* A controlled shutdown and the stop that follows are one step; so are a leader's AlterIsr and the controller's answer.
* Startup is handled as Reelect. Of a controller that resigns, the request in flight to each broker always arrives.
* A dirty topic id, unless operators remove files: it is one that the log has in memory and no file has. A log is
  hosted when it is open.
* Time: whoever cannot fetch may leave the ISR at any moment, whoever can may join, and timers fire when they like.
* Records, unless the bound `records` is above 0: then a log holds that many, a crash loses none of them, and the high
  watermark is checkpointed only by a clean stop. Producers use acks=all, and min.insync.replicas is 1.
* Deletion and reassignment of topics; every broker has a replica of every partition.
* Log directories that fail: a log that an operator removes under a running broker stays with the process. The setting
  delete.topic.enable, which is on.
"""
