"""A broker: its life cycle, log directory, partitions, replication and metadata cache."""
