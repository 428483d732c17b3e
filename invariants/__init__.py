"""The properties of the models of Kafka and ZooKeeper, by theme."""
