"""A search by Hypothesis, from settings to a verdict."""
