"""The ZooKeeper server: znodes, watches, sessions."""
