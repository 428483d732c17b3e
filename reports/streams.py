"""Standard output and standard error, which may be closed, full, or a pipe whose reader has ended.

Words: a *discarded* stream writes to the null device.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO

from kwalk.reports.escaping import visible_lines


def settle_streams() -> None:
    """Open the null device for closed streams; let the others escape characters that their encoding lacks."""
    if sys.stdout is None:
        sys.stdout = _nowhere(1)
    if sys.stderr is None:
        sys.stderr = _nowhere(2)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _nowhere(number: int) -> TextIO:
    """Open the null device under the number of a closed stream, so that no later file gets that number."""
    null = os.open(os.devnull, os.O_WRONLY)
    if null != number:
        os.dup2(null, number)
    return open(number, "w", encoding="utf-8", closefd=False)


def discard(stream: TextIO) -> None:
    """Redirect a stream to the null device, so that the interpreter can flush it at exit without an error."""
    with suppress(OSError, ValueError):  # a stream that is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def remark(text: str) -> None:
    """Print a line on standard error; ignore the failure if that is impossible."""
    try:
        print(visible_lines(text), file=sys.stderr, flush=True)
    except OSError:
        discard(sys.stderr)
