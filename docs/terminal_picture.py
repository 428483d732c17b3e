"""Record commands on a terminal, with what they print and the seconds that they take, as an SVG.

`python docs/terminal_picture.py OUT.svg 'COMMAND' …` runs them one after another in the current folder. `--rows N`
keeps the first rows of each.
"""

from __future__ import annotations

import argparse
import io
import os
import pty
import re
import subprocess
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

COLUMNS = 132


def printed(command: str) -> str:
    """Run a command on a pseudo-terminal and return what it prints to standard output, with its colours."""
    reader, writer = pty.openpty()
    size = {**os.environ, "COLUMNS": str(COLUMNS), "LINES": "200", "TERM": "xterm-256color"}
    running = subprocess.Popen(
        ["sh", "-c", command], stdout=writer, stderr=subprocess.DEVNULL, env=size, close_fds=True
    )
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


def recorded(command: str, rows: int) -> Text:
    """Run a command; return it, the first rows of its output, and the seconds by the clock."""
    begin = time.monotonic()
    lines = printed(command).rstrip().split("\n")
    seconds = time.monotonic() - begin
    shown = [*lines[:rows], *(["…"] if len(lines) > rows else [])]
    return Text("\n").join(
        [
            Text(f"$ {command}", style="bold"),
            Text.from_ansi("\n".join(shown)),
            Text(f"{seconds:.1f} s", style="dim"),
            Text(),
        ]
    )


def main() -> None:
    """Draw the first rows of the output of each command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--rows", type=int, default=60, help="rows to draw of each command (60)")
    parser.add_argument("commands", nargs="+", metavar="COMMAND")
    asked = parser.parse_args()
    out = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command in asked.commands:
        out.print(recorded(command, asked.rows), soft_wrap=False)
    drawing = out.export_svg(title="")
    drawing = re.sub(r"@font-face \{.*?\}", "", drawing, flags=re.DOTALL)  # no font from elsewhere
    asked.out.write_text(drawing, encoding="utf-8")
    print(asked.out)


if __name__ == "__main__":
    main()
