"""What the tests of exhaustive search ask for and compare."""

from __future__ import annotations

from attrs import evolve


def properties_of(model, *names):
    return tuple(prop for name in names for prop in model.properties_of(name))


def without_time(verdict):
    return evolve(verdict, seconds=0.0)
