"""The reporter of results: as text, or with `--json` as one object; with `--html` and `--markdown` also as documents.

A command that has a result ends with `deliver`, which alone knows of `--json`. What only text or a document needs is
imported where it is printed or written, so that a short search for a script, and `kwalk --help`, end sooner.
"""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from kwalk.reports.document import Block, CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.files import CannotWrite, OutFolder, out_folder
from kwalk.reports.json_output import FORMAT

if TYPE_CHECKING:
    from kwalk.reports.document.text import Printable

LABELS = {"trace": "Trace", "page": "Read", "markdown": "Markdown"}
"""What the output calls each file of a trace, by its format."""
PAGE = "Page"
"""What it calls the page that --html asks for."""


class Written:
    """The files that a `with` block writes; a CannotWrite there is raised after the result is printed."""

    def __init__(self, names: Mapping[str, str] | None = None) -> None:
        self.names = dict(names or {})
        self.failure: CannotWrite | None = None

    def __enter__(self) -> Written:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> bool:
        self.failure = error if isinstance(error, CannotWrite) else None
        return self.failure is not None

    def document(self, options: Namespace, out: OutFolder, file: str, title: str, blocks: Iterable[Block]) -> None:
        """Write a page into the folder of --out if the options ask for --html."""
        if getattr(options, "html", False):
            from kwalk.reports.document.html import html_document

            self.names[PAGE] = str(out.write({file: html_document(title, blocks)})[file])

    def markdown(self, options: Namespace, folder: OutFolder | None, blocks: Iterable[Block]) -> None:
        """Write the document of --markdown into its folder; None if the options do not ask for it."""
        if folder is not None:
            from kwalk.reports.document.markdown import markdown_document

            folder.write({Path(options.markdown).name: markdown_document(blocks)})
            self.names[LABELS["markdown"]] = options.markdown


@contextmanager
def folder_of(file: str | None, option: str) -> Iterator[OutFolder | None]:
    """Yield the folder of the file that an option names, None without one; CannotWrite if it names a folder."""
    if file is None:
        yield None
        return
    path = Path(file)
    if not path.name or path.is_dir():
        raise CannotWrite(f"Cannot write to {visible(file)!r}: it is a folder. Name a file with {option}.")
    with out_folder(path.parent) as folder:
        yield folder


def deliver(
    options: Namespace,
    data: Callable[[], Mapping[str, Any]],
    blocks: Iterable[Printable],
    written: Written | None = None,
    *,
    code: int = 0,
    command: str = "",
) -> int:
    """Print the result of a command; return its exit code. CannotWrite is raised after that if a file is missing.

    Args:
        options: The parsed command line.
        data: Returns the fields of the JSON object, but for those that each object has.
        blocks: What people read.
        written: The files that were written.
        code: The exit code.
        command: The command that repeats the run; "" for none.
    """
    files = written or Written()
    if _is_for_scripts(options):
        fields = {"format": FORMAT, **data(), "exit_code": code, **({"command": command} if command else {})}
        print(json.dumps(fields, indent=2))
    else:
        _print(blocks, {**files.names, **({"Reproduce": command} if command else {})})
    if files.failure is not None:
        raise files.failure
    return code


def announce(options: Namespace, text: str) -> None:
    """Print a line of text at once, before the result; nothing if that is one JSON object."""
    if not _is_for_scripts(options):
        print(text, flush=True)


def _is_for_scripts(options: Namespace) -> bool:
    return bool(getattr(options, "json", False))


def _print(blocks: Iterable[Printable], ending: Mapping[str, str]) -> None:
    """Print blocks, then the files and commands that end them."""
    from kwalk.reports.document.text import print_blocks
    from kwalk.reports.terminal import console

    lines = tuple(f"{label}: {text}" for label, text in ending.items())
    print_blocks((*blocks, CodeBlock(lines, 2)), console())
