"""From ZooKeeper to KRaft (KIP-866): what the migration does to topics and logs.

Words: the *roll* restarts each broker with zookeeper.metadata.migration.enable; each broker registers with the KRaft
controllers then. KRaft's controller waits for the brokers, claims /controller, and *copies* ZooKeeper's content into
its *image*. In *dual write* it sends brokers in ZooKeeper mode their requests: the first LeaderAndIsr is *full*, as it
names all partitions of a broker. The *KRaft roll* then restarts each broker in KRaft mode. A log that has no place in
the image is a *stray*: it is *set aside* (its directory gets a name that ends in -stray), or deleted.

Configurations, client quotas, ACLs and producer ids have a small state of their own (`configuration_state`), beside
which no topic is.

Stories explore the actions beside ZooKeeper, its controllers and brokers; `kwalk.model.kafka.snapshots` applies the
same decisions about strays, which are in `log_manager`, to a captured cluster after the roll.
"""
