"""Symbolic search: all reachable states as decision diagrams, without visiting each."""
