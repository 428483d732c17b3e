"""The arrows of the house: model ← invariants ← search ← reports, and few packages in each room."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.structure.rooms import ROOMS, ROOT, arrows, imported_names, modules, roots

ROW = re.compile(r"^\| `([\w/]+)/` \| [^|]* \|([^|]*)\|$", re.MULTILINE)
THIRD_PARTY = {
    folder: {package.strip() for package in packages.split(",")} - {""}
    for folder, packages in ROW.findall((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"))
}
"""By room or part of a room: what the table of the architecture allows."""
CLOCKS_AND_CHANCE = {"time", "datetime", "random", "secrets", "uuid"}
READ_TIMES = {ROOT / "model/kafka/snapshots" / name for name in ("capture.py", "logs.py")}
"""Modules that read the times which snapshots and logs have, and no clock."""
GENERAL = ("model/language", "search", "reports")


def forbidden(path: Path, room: str) -> set[str]:
    """What the file imports from rooms that its own room must not see."""
    return roots(path) & set(ROOMS[ROOMS.index(room) + 1 :])


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_itself_and_the_rooms_before_it(room):
    against = {str(path.relative_to(ROOT)): names for path in modules(room) if (names := forbidden(path, room))}
    assert not against


@pytest.mark.parametrize("folder", THIRD_PARTY)
def test_a_room_imports_only_the_packages_that_the_architecture_allows(folder):
    allowed = THIRD_PARTY[folder] | set(ROOMS)
    strangers = {path.relative_to(ROOT).as_posix(): roots(path) - allowed for path in modules(folder)}
    assert {name: found for name, found in strangers.items() if found} == {}


@pytest.mark.parametrize("folder", THIRD_PARTY)
def test_the_architecture_allows_no_package_that_a_room_does_not_import(folder):
    assert THIRD_PARTY[folder] - {name for path in modules(folder) for name in roots(path)} == set()


def test_the_architecture_has_a_row_for_every_room():
    assert {folder.split("/")[0] for folder in THIRD_PARTY} == set(ROOMS)


def test_no_room_imports_the_tests_or_the_benchmarks():
    assert not [path for path in modules(*ROOMS) if roots(path) & {"tests", "bench"}]


def test_a_model_has_no_clock_and_no_chance():
    modules_with_a_clock = [
        path
        for path in modules("model", "invariants")
        if {name.split(".")[0] for name in arrows(path)} & CLOCKS_AND_CHANCE
    ]
    assert set(modules_with_a_clock) == READ_TIMES
    clock = re.compile(r"\b(now|utcnow|today|import time)\b")
    assert not [path for path in READ_TIMES if clock.search(path.read_text(encoding="utf-8"))]


def test_the_language_does_not_know_the_models_written_in_it():
    knowing = [
        path
        for path in modules("model/language")
        if any(name.startswith(("kwalk.model.kafka", "kwalk.model.examples")) for name in arrows(path))
    ]
    assert not knowing


@pytest.mark.parametrize("folder", GENERAL)
def test_what_is_general_never_mentions_kafka(folder):
    texts = [
        path
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.suffix in {".py", ".html", ".css", ".js", ".j2", ".jinja", ".md"}
    ]
    mentions = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in texts
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if "kafka" in line.lower()
    ]
    assert texts
    assert not mentions


def test_every_room_has_modules_to_look_at():
    assert all(len(list(modules(room))) >= 1 for room in ROOMS)
    assert any("model" in roots(path) for path in modules("search"))


@pytest.mark.parametrize(
    "source",
    [
        "import kwalk.search.simulation.walk",
        "from kwalk.search import simulation",
        "from kwalk.search.simulation import run_walks",
        "def late():\n    from kwalk.search.simulation import run_walks",
        "if TYPE_CHECKING:\n    import kwalk.search",
        "import importlib\nimportlib.import_module('kwalk.search.simulation')",
    ],
)
def test_an_arrow_is_seen_however_it_is_written(source):
    names = imported_names(source, "kwalk.model.language")
    assert {name.removeprefix("kwalk.").split(".")[0] for name in names} & {"search"}


def test_a_relative_import_is_resolved_in_its_package():
    assert list(imported_names("from ..kafka import broker", "kwalk.model.language")) == ["kwalk.model.kafka.broker"]
    assert list(imported_names("from . import shapes", "kwalk.model.language")) == ["kwalk.model.language.shapes"]
