"""Breadth-first search of all reachable states, with symmetry, liveness and checkpoints."""
