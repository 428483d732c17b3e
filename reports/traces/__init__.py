"""Traces: saved files, stories, sequences, replays."""
