"""Searches as Spark jobs, on any master: the driver, the tasks of executors, and the tables of results."""
