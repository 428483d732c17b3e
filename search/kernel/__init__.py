"""A model as machine code behind one interface, its compiler, and plain Python to compare it with."""
