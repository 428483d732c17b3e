"""Shrinking: from any trace that violates a property to a locally minimal one, and from many findings to few shapes."""
