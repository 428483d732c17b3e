"""The rooms of `search/`: at most twelve, arrows in one direction, no import circle, one class for one name."""

from __future__ import annotations

import graphlib
import re
from collections import defaultdict
from pathlib import Path

from tests.structure.rooms import ROOMS, ROOT, arrows, imports, modules

ORDER = (
    "base",
    "native",
    "kernel",
    "visited",
    "solver",
    "results",
    "examination",
    "exhaustive",
    "minimize",
    "simulation",
    "executors",
    "liveness",
    "partial_order",
    "symbolic",
    "proof",
    "spark",
    "symmetry",
    "analyses",
    "night",
)
"""A room of `search/` may import those before it."""


def room_of(path: Path) -> str:
    return path.relative_to(ROOT / "search").parts[0]


def imported_rooms(path: Path) -> set[str]:
    names = (name.split(".") for name in arrows(path) if name.startswith("kwalk.search."))
    return {parts[2] for parts in names}


def test_the_rooms_of_search_are_those_of_the_map():
    found = {path.name for path in (ROOT / "search").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert found == set(ORDER)


def test_no_arrow_between_rooms_of_search_runs_back():
    back = {
        f"{path.relative_to(ROOT)} -> {room}"
        for path in modules("search")
        if len(path.relative_to(ROOT / "search").parts) > 1
        for room in imported_rooms(path)
        if ORDER.index(room) > ORDER.index(room_of(path))
    }
    assert back == set()


def imported_modules(path: Path) -> set[str]:
    """The modules that this one imports, at once or later; not those for type checkers only."""
    return {name for module in imports(path) for name in (module, module.rpartition(".")[0])}


def test_no_modules_import_each_other():
    name_of = {}
    for path in modules(*ROOMS):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name_of[".".join(("kwalk", *parts)).removesuffix(".__init__")] = path
    graph = {name: (imported_modules(path) & set(name_of)) - {name} for name, path in name_of.items()}
    packages = {name for name, path in name_of.items() if path.name == "__init__.py"}
    for name in graph:  # a package that gathers its modules is imported with each of them: that is no circle
        graph[name] -= {package for package in packages if name.startswith(f"{package}.")}
    tuple(graphlib.TopologicalSorter(graph).static_order())  # CycleError names the modules


def test_no_public_class_is_defined_twice():
    places = defaultdict(list)
    for path in modules(*ROOMS):
        if "examples" in path.parts:
            continue
        for name in re.findall(r"^class ([^_\W]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE):
            places[name].append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
