"""The reading of a snapshot: what is wrong with a cluster now, what comes next, and what repairs it."""
