"""Runs that are left alone for a night: many tasks, a folder that survives what happens, and what is read from it."""
