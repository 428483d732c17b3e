"""The console: colours on a terminal, plain text elsewhere."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

from rich.console import Console, RenderableType

PLAIN_WIDTH = 140
"""The width of a report that goes to a file or a pipe."""


class _Console(Console):
    """A console that raises BrokenPipeError instead of ending the process."""

    def on_broken_pipe(self) -> None:
        """Raise the error, which the command handles."""
        raise BrokenPipeError


def console(stream: TextIO | None = None) -> Console:
    """Return a console on a stream (standard output if None), with colours only on a terminal without NO_COLOR."""
    stream = stream or sys.stdout
    colours = stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return _Console(
        file=stream,
        force_terminal=colours,
        color_system="auto" if colours else None,
        width=None if stream.isatty() else PLAIN_WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )


def printed(print_to: Callable[[Console], object], width: int) -> str:
    """Return what is printed on a console without colours, without trailing blanks and empty lines."""
    page = io.StringIO()
    print_to(Console(file=page, width=width, color_system=None, markup=False, emoji=False, highlight=False))
    return "\n".join(line.rstrip() for line in page.getvalue().rstrip().splitlines())


def put(out: Console, *things: RenderableType) -> None:
    """Print things below each other, without trailing blanks if the output is not a terminal."""
    if out.is_terminal:
        for thing in things:
            out.print(thing)
        return
    with out.capture() as captured:
        for thing in things:
            out.print(thing)
    out.file.write("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))
