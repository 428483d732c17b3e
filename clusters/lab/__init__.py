"""A laboratory of real brokers: ZooKeeper and Kafka on loopback, and experiments that repeat there what stories say."""
