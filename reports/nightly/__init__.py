"""What `kwalk nightly` prints: how far a run is, and what came of its tasks."""
