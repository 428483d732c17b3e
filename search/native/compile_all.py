"""Compile all loops of the package, so that no later command waits for them; `make setup` runs this module."""
from __future__ import annotations

import os
import re
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from pathlib import Path

from kwalk.search.native import intrinsics

PACKAGE = Path(__file__).parents[1]
HAS_LOOPS = re.compile(r"^@loop$", re.MULTILINE)


def modules_with_loops() -> list[str]:
    """Return the names of the modules of the package that define loops."""
    found = [path for path in sorted(PACKAGE.rglob("*.py")) if HAS_LOOPS.search(path.read_text(encoding="utf-8"))]
    return [".".join(("kwalk.search", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in found]


def loop_names() -> list[tuple[str, str]]:
    """Return the module and the name of each loop of the package."""
    found = []
    for name in modules_with_loops():
        loops = [thing for thing in vars(import_module(name)).values() if thing in intrinsics.LOOPS]
        found += [(name, loop.py_func.__name__) for loop in loops if loop.py_func.__module__ == name]
    return found


def compile_loop(module: str, name: str) -> None:
    """Compile a loop, or load it from the cache."""
    loop = getattr(import_module(module), name)
    loop.compile(intrinsics.signature_of(loop))


if __name__ == "__main__":
    with ProcessPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        for _ in pool.map(compile_loop, *zip(*loop_names(), strict=True)):
            pass
