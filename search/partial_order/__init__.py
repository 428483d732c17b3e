"""Partial-order reduction: of the enabled instances, take only those that matter for the checked properties."""
