"""The fixes that the model has, each with what it claims to close and where it is tried; one module for each theme."""
