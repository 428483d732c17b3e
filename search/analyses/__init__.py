"""Analyses that combine engines: hunt, check, audit, mutation, explain, recovery, Hypothesis, state graphs."""
