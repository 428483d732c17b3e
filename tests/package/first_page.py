"""Following the first page of the documentation where kwalk is installed: `python -m tests.package.first_page`.

It takes the command `kwalk` and Python beside the Python that runs it. Nothing of kwalk is imported here, so that a
checkout, which has no installed kwalk, can be the current folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.examples.reading import parts_of, squeezed
from tests.structure.rooms import ROOT

PAGE = ROOT / "docs" / "tutorial" / "your-first-model.md"


def follow(binaries: Path, folder: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    """Write the files of the page into a folder, run its Python and its commands, and yield for each what came out.

    Args:
        binaries: The folder of the commands of the environment.
        folder: An empty folder.

    Yields:
        What was run, its standard output, its standard error, and the lines that the page shows and that it did not
        print.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "KWALK"))}
    environment = kept | {"COLUMNS": "200", "XDG_CACHE_HOME": str(folder / "cache")}
    script = ""
    for part in parts_of(PAGE):
        if part.module is not None:
            with open(folder / f"{part.module}.py", "a", encoding="utf-8") as end:
                end.write(part.code + "\n\n")
            continue
        script += part.code if part.language == "python" else ""
        words = ["python", "-c", script] if part.language == "python" else part.code.split()
        command = [binaries / words[0], *words[1:]]
        ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        printed = squeezed(ran.stdout)
        yield part.code, ran.stdout, ran.stderr, [line for line in part.shown if squeezed(line) not in printed]


def main() -> int:
    """Follow the page; print what was run, how long it took and its remarks; 1 if anything is not as the page says."""
    missing: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        began = time.monotonic()
        for code, out, err, lines in follow(Path(sys.executable).parent, Path(folder)):
            print(f"{time.monotonic() - began:.1f} s: {code.splitlines()[0]}\n{err}", end="", flush=True)
            print("".join(f"missing: {line}\n" for line in lines), end="" if not lines else f"in:\n{out}\n")
            began, missing = time.monotonic(), missing + lines
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
