"""Liveness after exhaustive search: whether a fair behaviour violates a property about behaviours."""
