"""Building blocks of compiled loops: intrinsics, atomics, bit rows, counters and memory. No algorithm."""
