"""Compile all loops of the package, so that no later command waits for them; `make setup` runs this module."""

from __future__ import annotations

import os
import re
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from kwalk.search.native.loops import LOOPS

PACKAGE = Path(__file__).parents[1]
HAS_LOOPS = re.compile(r"^@loop$", re.MULTILINE)


def modules_with_loops() -> list[str]:
    """Return the names of the modules of the package that define loops."""
    found = [path for path in sorted(PACKAGE.rglob("*.py")) if HAS_LOOPS.search(path.read_text(encoding="utf-8"))]
    return [".".join(("kwalk.search", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in found]


def loop_names() -> list[tuple[str, str]]:
    """Return the module and the name of each loop of the package."""
    modules = [import_module(name).__name__ for name in modules_with_loops()]
    return [(each.__module__, each.__name__) for each in LOOPS if each.__module__ in modules]


def load_loop(module: str, name: str) -> None:
    """Compile a loop, unless its code is kept."""
    getattr(import_module(module), name).load()


def remove_outdated() -> None:
    """Remove the code of loops that have changed."""
    current = {path for each in LOOPS for path in each.files}
    for folder in {path.parent for path in current}:
        for path in folder.glob("*.loop"):
            if path not in current:
                path.unlink(missing_ok=True)


if __name__ == "__main__":
    names = loop_names()
    remove_outdated()
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for _ in pool.map(load_loop, *zip(*names, strict=True)):
            pass
