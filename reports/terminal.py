"""The terminal: colours where they are wanted, plain text elsewhere, and never a character that a name smuggled in."""
from __future__ import annotations

import os
import sys
from typing import TextIO

from rich.console import Console, RenderableType

PLAIN_WIDTH = 140
"""Columns of a report that goes to a file or a pipe."""


def console(stream: TextIO | None = None) -> Console:
    """A console on a stream (standard output if None): colours only on a terminal and without NO_COLOR."""
    stream = stream or sys.stdout
    colours = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Console(
        file=stream,
        force_terminal=colours,
        color_system="auto" if colours else None,
        width=None if stream.isatty() else PLAIN_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def tolerate_any_encoding() -> None:
    """Let standard streams print an arrow as an escape where their encoding has none."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def put(out: Console, *things: RenderableType) -> None:
    """Print things below each other; off a terminal without the blanks that only fill up lines."""
    if out.is_terminal:
        for thing in things:
            out.print(thing)
        return
    with out.capture() as captured:
        for thing in things:
            out.print(thing)
    out.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
