"""Draw what a command prints on a terminal as an SVG: `python docs/terminal_picture.py --rows N OUT.svg COMMAND …`."""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import shlex
import subprocess
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 132


def printed(command: list[str]) -> str:
    """Run a command on a pseudo-terminal and return what it prints to standard output, with its colours."""
    reader, writer = pty.openpty()
    size = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "200", "TERM": "xterm-256color"}
    running = subprocess.Popen(command, stdout=writer, stderr=subprocess.DEVNULL, env=size, close_fds=True)
    os.close(writer)
    chunks = []
    while True:
        try:
            chunk = os.read(reader, 1 << 16)
        except OSError:  # Linux reports the end of the other side as an error
            break
        if not chunk:
            break
        chunks.append(chunk)
    running.wait()
    return b"".join(chunks).decode("utf-8", "replace").replace("\r\n", "\n")


def main() -> None:
    """Draw the first rows of the output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=60, help="rows to draw (60)")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    asked = parser.parse_args()
    lines = printed(asked.command).rstrip().split("\n")
    shown = [*lines[: asked.rows], *(["…"] if len(lines) > asked.rows else [])]
    out = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    out.print(Text.from_ansi("\n".join(shown)), soft_wrap=False)
    title = shlex.join([Path(asked.command[0]).name, *asked.command[1:]])
    drawing = re.sub(r"@font-face \{.*?\}", "", out.export_svg(title=title), flags=re.DOTALL)  # no font from elsewhere
    asked.out.write_text(drawing, encoding="utf-8")
    print(asked.out)


if __name__ == "__main__":
    main()
