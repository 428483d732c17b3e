"""Searches as Spark jobs, on any master: what the driver does, what executors do, and the tables that are left."""
