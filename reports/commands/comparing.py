"""The commands of the morning after a nightly run: `kwalk compare` and `kwalk page`."""
from __future__ import annotations

import json
import shlex
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from rich.text import Text

from model.language import UsageError
from reports.escaping import visible
from reports.files import CannotWrite, OutFolder, out_folder
from reports.morning.comparison import Comparison, compare
from reports.morning.machine import comparison_object
from reports.morning.text import comparison_lines
from reports.terminal import console, put
from search.nightly.reading import read_run


def run_compare(options: Namespace) -> int:
    """Compare two runs; 12 if something new is broken, 3 if the later one says less, else 0."""
    before, after = Path(options.before), Path(options.after)
    if before.resolve() == after.resolve():
        raise UsageError(f"{visible(options.before)!r} is named twice: name an earlier and a later run.")
    words = ["kwalk", "compare", options.before, options.after]
    words += ["--html", options.html] if options.html else []
    with ExitStack() as stack:
        folder = stack.enter_context(out_folder(_folder_of(options.html))) if options.html else None
        comparison = compare(read_run(before), read_run(after))
        written = None if folder is None else _page(comparison, folder, options.html)
        if options.json:
            object_ = {**comparison_object(comparison), "command": shlex.join(words)}
            print(json.dumps({**object_, "page": None if written is None else str(written)}, indent=2))
        else:
            _print(comparison, written, shlex.join(words))
    return comparison.exit_code


def run_page(options: Namespace) -> int:
    """Write the page of a run; 0."""
    from reports.morning.page import write_page

    path = write_page(Path(options.run), None if options.before is None else Path(options.before))
    console().print(Text(f"Read: {visible(str(path))}"), soft_wrap=True)
    return 0


def _folder_of(file: str) -> Path:
    """The folder that a page goes to; CannotWrite if the name is no file's."""
    path = Path(file)
    if not path.name or path.is_dir():
        raise CannotWrite(f"Cannot write to {visible(file)!r}: it is a folder. Name a file with --html.")
    return path.parent


def _page(comparison: Comparison, folder: OutFolder, file: str) -> Path:
    from reports.morning.page import comparison_page

    name = Path(file).name
    return folder.write({name: comparison_page(comparison, folder.path)})[name]


def _print(comparison: Comparison, written: Path | None, command: str) -> None:
    out = console()
    put(out, *comparison_lines(comparison), Text())
    if written is not None:
        out.print(Text(f"  Read: {visible(str(written))}"), soft_wrap=True)
    out.print(Text(f"  Reproduce: {visible(command)}"), soft_wrap=True)
