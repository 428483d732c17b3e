"""What became of mutants, as people read it and as files keep it."""
