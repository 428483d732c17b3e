"""Copies of kwalk that lack something, made of links, and processes that import only such a copy."""

from __future__ import annotations

import os
import site
import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from tests.structure.rooms import ROOT

FOLDERS = ("model", "search", "reports", "invariants", "clusters")
METADATA = "Metadata-Version: 2.1\nName: kwalk\nVersion: 0\n"


class PartialTree:
    """A folder with a package `kwalk` without some files and folders.

    Args:
        folder: The folder to make it in.
        left_out: What it lacks, by its path in the repository.
        entry_points: The text of the entry points with which it is installed.
    """

    def __init__(self, folder: Path, left_out: Collection[str], entry_points: str) -> None:
        self.folder, self.left_out = folder, {ROOT / path for path in left_out}
        assert not [path for path in self.left_out if not path.exists()]
        package, metadata = folder / "kwalk", folder / "kwalk-0.dist-info"
        package.mkdir()
        metadata.mkdir()
        for path in (ROOT / "kwalk").glob("*.py"):
            (package / path.name).symlink_to(path)
        for name in FOLDERS:
            self._link(ROOT / name, package / name)
        (metadata / "METADATA").write_text(METADATA)
        (metadata / "entry_points.txt").write_text(entry_points)

    def _link(self, source: Path, target: Path) -> None:
        """Link a folder, or make it of links to what it has where something in it is left out."""
        if source in self.left_out:
            return
        if not any(source in path.parents for path in self.left_out):
            target.symlink_to(source)
            return
        target.mkdir()
        for path in source.iterdir():
            if path.name != "__pycache__":
                self._link(path, target / path.name)

    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        """Run a program that sees this copy of kwalk, installed packages, and nothing else."""
        path = os.pathsep.join([str(self.folder), *site.getsitepackages()])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}
        command = [sys.executable, "-S", "-c", code]  # -S: no .pth file, and so no path to the whole tree
        return subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True)


COMMANDS = """
import contextlib, io, json, sys
from kwalk.reports.command_line import main
results = []
for words in {words!r}:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    results.append((code, out.getvalue(), err.getvalue()))
print(json.dumps(results))
"""
