"""Snapshots of running clusters: what ZooKeeper, the log directories and the brokers show, as one JSON file."""
