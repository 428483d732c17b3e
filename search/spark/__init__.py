"""Searches as Spark jobs, on any master: the driver, and the tasks of executors."""
