"""The ensemble of ZooKeeper servers that a Kafka cluster depends on, while its configuration is changed by hand."""
