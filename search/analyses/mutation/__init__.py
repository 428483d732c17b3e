"""Mutation testing of a model: small changes in its functions that a property should notice."""
