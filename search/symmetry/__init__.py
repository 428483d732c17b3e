"""Symmetry reduction: one state is visited for all that differ only by the names of interchangeable members."""
