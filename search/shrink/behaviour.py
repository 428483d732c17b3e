"""What shrinking works on: behaviours as an engine has them, before plain execution has confirmed them."""
from __future__ import annotations

from typing import Any

from attrs import frozen


@frozen
class Behaviour:
    """Steps, and the states they lead through: one more than steps."""

    steps: tuple[int, ...]
    states: tuple[Any, ...]

    def __len__(self) -> int:
        return len(self.steps)
