"""The base of all engines: atomic files, worker processes, signals, progress, pacing, options, queries."""
