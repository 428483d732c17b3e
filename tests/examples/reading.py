"""Following a document: its files are written, its Python is run, its commands are given, what they print is looked at.

Words: a *part* is a fenced block. One that begins with the comment `# name.py` is a piece of that file; other Python is
run in order; `sh` is a command of kwalk; `text` is what the part before it prints.
"""

from __future__ import annotations

import importlib
import re
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from attrs import frozen

FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FILE_NAME = re.compile(r"# (\w+)\.py\n")


@frozen
class Part:
    """A block of a document and, if a block of text follows it, the lines that it shows as output."""

    language: str
    code: str
    shown: list[str]

    @property
    def module(self) -> str | None:
        """The module that it is a piece of."""
        found = FILE_NAME.match(self.code)
        return found[1] if found else None


def parts_of(document: Path) -> list[Part]:
    """The parts of a document, in order."""
    blocks = FENCE.findall(document.read_text(encoding="utf-8"))
    return [
        Part(language, code, text.splitlines() if kind == "text" else [])
        for (language, code), (kind, text) in zip(blocks, [*blocks[1:], ("", "")], strict=True)
        if language != "text"
    ]


def squeezed(text: str) -> str:
    """A text with all white space alike."""
    return " ".join(text.split())


class Reader:
    """Follows a document in a folder of its own. Call `forget` at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "document"}
        self.modules: set[str] = set()

    def do(self, part: Part) -> str:
        """Follow one part; what it prints."""
        if part.module is not None:
            self.write(part.module, part.code)
            return ""
        printed = StringIO()
        with redirect_stdout(printed):
            if part.language == "python":
                exec(compile(part.code, "<document>", "exec", dont_inherit=True), self.names)
            else:
                self.command(part)
        return printed.getvalue()

    def command(self, part: Part) -> int:
        """Give a command; its exit code."""
        from kwalk.reports.command_line import main  # here, as the page is also read where only a wheel is installed

        return main(part.code.split()[1:])

    def write(self, module: str, code: str) -> None:
        """Add a piece to a file."""
        with open(self.folder / f"{module}.py", "a", encoding="utf-8") as end:
            end.write(code + "\n\n")
        self.modules.add(module)
        self.forget()

    def forget(self) -> None:
        """Remove the modules, so that the next reader imports its own."""
        for module in self.modules:
            sys.modules.pop(module, None)
        importlib.invalidate_caches()
