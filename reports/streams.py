"""Standard output and standard error, which may be closed, full, or read by somebody who has seen enough.

Words: a stream is *forgotten* when what is still in it, or comes, goes nowhere.
"""
from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from reports.escaping import visible_lines


def settle_streams() -> None:
    """Give streams that were closed the null device, and let others print as an escape what their encoding lacks."""
    if sys.stdout is None:
        sys.stdout = _nowhere(1)
    if sys.stderr is None:
        sys.stderr = _nowhere(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _nowhere(number: int) -> TextIO:
    """The null device under the number of a closed stream, so that no file opened later gets what is printed."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != number:
        os.dup2(null, number)
    return open(number, "w", encoding="utf-8", closefd=False)


def forget(stream: TextIO) -> None:
    """Forget a stream, so that the interpreter does not complain about what is left in it at its end."""
    with suppress(OSError, ValueError):  # a stream that is no file has nothing to complain about
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def remark(text: str) -> None:
    """Say something on standard error; if it cannot be said there, go on without."""
    try:
        print(visible_lines(text), file=sys.stderr, flush=True)
    except OSError:
        forget(sys.stderr)
