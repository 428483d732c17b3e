"""What an installed package would announce."""

from __future__ import annotations

from tests.search.leases import FIXES, SCENARIO

SCENARIOS = (SCENARIO,)
__all__ = ["FIXES", "SCENARIOS"]
