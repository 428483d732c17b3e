"""The page of a nightly run, and its comparison with another run."""
