"""Exhaustive search on Spark, level by level, with states on disk instead of in memory."""
