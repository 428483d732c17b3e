"""What people read: traces, pages, tables, exit codes; and assertions about scenarios for anybody's tests.

`from reports import assert_holds, assert_finds` is the way to write such tests.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reports.assertions import Fails, assert_finds, assert_holds

__all__ = ["Fails", "assert_finds", "assert_holds"]


def __getattr__(name: str) -> Any:
    """Load the assertions when they are first asked for: the engines behind them are slow to load."""
    if name in __all__:
        from reports import assertions

        return getattr(assertions, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
