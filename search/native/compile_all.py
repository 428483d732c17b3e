"""Compile the loops of the package, so that few later commands wait for one; `make setup` runs this module.

Loops of components that only an option asks for are compiled when it is first given, and a line says so; after `make
hunt` alone, all that it does not use. With a folder as its argument it writes the bitcode of all loops there instead,
for a wheel: `setup.py` runs it.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from importlib import import_module
from importlib.metadata import version
from itertools import chain
from multiprocessing import get_context
from pathlib import Path

from kwalk.search.native.bitcode import named_bitcode, write_archive
from kwalk.search.native.loops import ABOUT, LOOPS
from kwalk.search.native.processor import LEVELS

PACKAGE, PACKAGE_NAME = Path(__file__).parents[1], "kwalk.search"
WORKERS = min(4, os.cpu_count() or 1)
ON_REQUEST = ("partial_order", "spark", "symbolic", "symmetry")
"""The components of `--reduce`, `--spark`, `--symbolic` and `--symmetry`."""
ALL, HUNT = "--all", "--hunt"
"""The arguments that compile all loops, which tests use at once in several processes, and those that a hunt uses."""
OF_HUNT = ("analyses.settling", "exhaustive.expansion", "exhaustive.first_firings", "visited")
"""The components and modules with the loops that `make hunt` uses."""
HAS_LOOPS = re.compile(r"^@loop$", re.MULTILINE)


def modules_with_loops() -> list[str]:
    """Return the names of the modules of the package that define loops."""
    found = [path for path in sorted(PACKAGE.rglob("*.py")) if HAS_LOOPS.search(path.read_text(encoding="utf-8"))]
    return [".".join((PACKAGE_NAME, *path.relative_to(PACKAGE).with_suffix("").parts)) for path in found]


def loop_names() -> list[tuple[str, str]]:
    """Return the module and the name of each loop of the package."""
    modules = [import_module(name).__name__ for name in modules_with_loops()]
    return [(each.__module__, each.__name__) for each in LOOPS if each.__module__ in modules]


def loops_of_setup() -> list[tuple[str, str]]:
    """Return the module and the name of each loop that does not wait for an option."""
    later = tuple(f"{PACKAGE_NAME}.{component}." for component in ON_REQUEST)
    return [(module, name) for module, name in loop_names() if not module.startswith(later)]


def loops_of_hunt() -> list[tuple[str, str]]:
    """Return the module and the name of each loop that `make hunt` waits for."""
    parts = tuple(f"{PACKAGE_NAME}.{part}." for part in OF_HUNT)
    return [(module, name) for module, name in loop_names() if f"{module}.".startswith(parts)]


def by_component(names: Sequence[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return loops by component, that with the most source first.

    One process compiles the loops of a component, as they share parts: it compiles these once.
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for module, name in names:
        groups.setdefault(module.split(".")[2], []).append((module, name))
    return sorted(groups.values(), key=_source_size, reverse=True)


def _source_size(names: Sequence[tuple[str, str]]) -> int:
    return sum(Path(str(import_module(module).__file__)).stat().st_size for module in {module for module, _ in names})


def load_loops(names: Sequence[tuple[str, str]]) -> None:
    """Compile loops, unless their code is kept."""
    for module, name in names:
        getattr(import_module(module), name).load()


def named_bitcodes(names: Sequence[tuple[str, str]]) -> list[tuple[str, bytes]]:
    """Return the source digest and the bitcode of each of some loops, by Numba."""
    return [named_bitcode(module, name) for module, name in names]


def remove_outdated() -> None:
    """Remove the code of loops that have changed."""
    current = {path for each in LOOPS for path in each.files}
    for folder in {path.parent for path in current}:
        for path in folder.glob("*.loop"):
            if path not in current:
                path.unlink(missing_ok=True)


def write_levels(folder: Path, names: Sequence[tuple[str, str]]) -> None:
    """Write the bitcode of loops for each level, by processes that compile for it, and what it is made by."""
    folder.mkdir(parents=True, exist_ok=True)
    about = [f"{package} {version(package)}" for package in ("numba", "llvmlite")]
    for level in LEVELS:
        os.environ |= {"NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
            write_archive(folder / f"{level}.zip", dict(chain(*pool.map(named_bitcodes, by_component(names)))))
        about.append(f"{level} {hashlib.sha256((folder / f'{level}.zip').read_bytes()).hexdigest()}")
    (folder / ABOUT).write_text("\n".join([*about, ""]), encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Compile the loops of set-up, of a hunt, or all, or write the bitcode of all into a folder."""
    choices = {(): loops_of_setup, (HUNT,): loops_of_hunt, (ALL,): loop_names}
    choice = choices.get(tuple(arguments))
    if choice is None:
        write_levels(Path(arguments[0]), loop_names())
        return
    names = choice()
    remove_outdated()
    with ProcessPoolExecutor(WORKERS) as pool:
        for _ in pool.map(load_loops, by_component(names)):
            pass


if __name__ == "__main__":
    main(sys.argv[1:])
