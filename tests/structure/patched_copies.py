"""Copies of the tree to which a patch is applied, and processes that import only such a copy."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

from tests.structure.rooms import ROOT

PATCHES = Path(__file__).parent / "patches"
LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".types", ".*_cache", ".hypothesis", "build", "dist", "*.egg-info", "kwalk-out", "spark-warehouse"
)
"""What is not part of the tree. Compiled modules and loops are copied, as compiling them again takes a minute."""
CONTEXT = 1
"""Lines before and after a change that must be as the patch has them, so that unrelated edits do not break it."""


class PatchedCopy:
    """A copy of the tree with a patch.

    Args:
        folder: The folder to make it in.
        patch: The name of the patch in `patches`, without its suffix.
    """

    def __init__(self, folder: Path, patch: str) -> None:
        self.folder, file = folder / "copy", PATCHES / f"{patch}.patch"
        shutil.copytree(ROOT, self.folder, ignore=LEFT_OUT, symlinks=True)
        self.files = tuple(line.split("\t")[2] for line in self._git_apply("--numstat", str(file)).splitlines())
        self._git_apply(f"-C{CONTEXT}", str(file))
        subprocess.run(["make", "--silent", "types"], cwd=self.folder, check=True)

    def _git_apply(self, *words: str) -> str:
        """Run `git apply` in the copy, which is no repository; return what it prints."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        environment["GIT_CEILING_DIRECTORIES"] = str(self.folder.parent)
        ran = subprocess.run(
            ["git", "apply", *words], cwd=self.folder, env=environment, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, f"Edit the tree as the patch says, and write it again by git diff:\n{ran.stderr}"
        return ran.stdout

    def test(self, *words: str) -> str:
        """Run tests, with these words for pytest; return what it prints."""
        return self.run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", *words)

    def run(self, *words: str) -> str:
        """Run Python with these words; return what it prints.

        The process, and those that it starts, see this copy of kwalk and of its tests, and installed packages.
        """
        path = [str(self.folder / ".types"), str(self.folder), *site.getsitepackages()]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "PYTHONSAFEPATH": "1"}
        ran = subprocess.run(
            [sys.executable, "-S", *words],
            env=environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"{words} ended with {ran.returncode}:\n{ran.stdout}\n{ran.stderr}"
        return ran.stdout
