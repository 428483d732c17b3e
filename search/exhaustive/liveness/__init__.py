"""Liveness after exhaustive search: whether every wait of an `eventually` property ends under weak fairness."""
