"""The output of `kwalk nightly`: progress and results."""
