"""Analyses that combine engines: hunt, check, audit, mutation, explain, Hypothesis, nightly runs, state graphs."""
