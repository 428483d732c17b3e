"""The language of models, examples of it, and the models of Kafka and ZooKeeper."""
