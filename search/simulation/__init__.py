"""Random walks: long behaviours, every step checked, tens of millions of steps a second."""
