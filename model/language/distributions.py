"""Installed distributions: their versions, and the entry points that they register.

This reads what `importlib.metadata` reads, without its import, which takes longer than a short search. A distribution
is a folder `NAME-VERSION.dist-info` or `.egg-info` in a folder of `sys.path`; of several with one name the first counts
(https://packaging.python.org/specifications/recording-installed-packages). Where something else can also find
distributions (an archive or an egg on the path, a finder of another package), `importlib.metadata` is asked.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from importlib import import_module
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

SUFFIXES = (".dist-info", ".egg-info")
ENTRY_POINTS = "entry_points.txt"
VERSIONS = ("METADATA", "PKG-INFO")
"""The files that have the version, of a wheel and of an egg."""
SEPARATORS = re.compile(r"[-_.]+")


class EntryPoint(NamedTuple):
    """A thing that a distribution registers: its name, and `package.module` or `package.module:attribute`."""

    name: str
    value: str

    def load(self) -> Any:
        """Return the module or the thing in it; any exception if that cannot be loaded."""
        module, _, attributes = self.value.partition("[")[0].partition(":")
        names = (name for name in attributes.strip().split(".") if name)
        return reduce(getattr, names, import_module(module.strip()))


def entry_points(group: str) -> list[EntryPoint]:
    """Return the entry points of a group, in the order of the path."""
    if not _are_all_in_folders():
        from importlib.metadata import entry_points as found

        return [EntryPoint(each.name, each.value) for each in found(group=group)]
    return [each for folder in _folders() for each in _registered(_text(folder, ENTRY_POINTS), group)]


def version(name: str) -> str | None:
    """Return the version of a distribution; None if it is not installed."""
    if not _are_all_in_folders():
        from importlib import metadata

        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            return None
    found = next((folder for folder in _folders() if _name(folder) == _normalized(name)), "")
    for line in "".join(_text(found, file) for file in VERSIONS if found).splitlines():
        if not line:  # the description of the package begins here
            break
        if line.lower().startswith("version:"):
            return line.partition(":")[2].strip()
    return None


def kwalk_version() -> str:
    """Return the installed version of kwalk, for people."""
    return version("kwalk") or "from source"


def commit() -> str:
    """Return the commit that this kwalk is of: the build wrote it, or a checkout has it; "" if it is not known."""
    root = Path(__file__).parents[2]
    if (root / ".git").exists():
        import subprocess

        command = ["git", "-C", str(root), "rev-parse", "HEAD"]
        with suppress(OSError):
            ran: subprocess.CompletedProcess[str]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            return ran.stdout.strip()
    return _text(str(root), "commit.txt").strip()


def _are_all_in_folders() -> bool:
    """Return whether distributions can only be folders in folders of the path."""
    finders = (finder for finder in sys.meta_path if hasattr(finder, "find_distributions"))
    return all(finder is PathFinder for finder in finders) and not any(
        place.lower().endswith(".egg") or os.path.isfile(place) for place in sys.path
    )


def _folders() -> Iterator[str]:
    """Yield the folder of each distribution on the path."""
    seen: set[str] = set()
    for place in sys.path:
        children: list[str] = []
        with suppress(OSError):
            children = os.listdir(place or ".")
        for child in children:
            if child.lower().endswith(SUFFIXES) and _name(child) not in seen:
                seen.add(_name(child))
                yield os.path.join(place or ".", child)


def _name(folder: str) -> str:
    """Return the normalized name of the distribution of a folder."""
    return _normalized(os.path.basename(folder).rpartition(".")[0].partition("-")[0])


def _normalized(name: str) -> str:
    return SEPARATORS.sub("_", name).lower()


def _text(folder: str, file: str) -> str:
    """Return a text of a distribution; "" if there is none."""
    with suppress(OSError), open(os.path.join(folder, file), encoding="utf-8") as opened:
        return opened.read()
    return ""


def _registered(text: str, group: str) -> Iterator[EntryPoint]:
    """Yield the entry points of a group in a text with a section for each group."""
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1]
        elif section == group and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            yield EntryPoint(name.strip(), value.strip())
