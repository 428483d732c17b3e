"""Breadth-first search of all reachable states, on one and on several threads, with checkpoints."""
