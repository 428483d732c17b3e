"""Two projects that use kwalk, and whose own modules have the names of kwalk's folders."""

from __future__ import annotations

from pathlib import Path

LIMITS = '"""How many lights there may be: a module of the project that the scenario imports."""\nMOST = 3\n'
SCENARIO = '''"""A row of lights with a switch that turns on one too many, unless a fuse prevents it."""
import json
from pathlib import Path

from kwalk import Actor, Fix, Flag, Scenario, Trial, action, always, number, reachable, require, state
from kwalk.model.language.series import Fact, Series, Waypoint, where
{imports}

FUSE = Flag("fuse")
PERSON = Actor("person")


@state
class Lights:
    """The lights that are on."""

    on: int = number(0, 9)


@action(by=PERSON)
def switch_on(lights: Lights) -> None:
    """Switch one more light on."""
    require(lights.on <= MOST)
    if FUSE:
        require(lights.on < MOST)
    lights.on += 1


@action(by=PERSON)
def switch_off(lights: Lights) -> None:
    """Switch one light off."""
    require(lights.on > 0)
    lights.on -= 1


@always()
def not_too_many(lights: Lights) -> bool:
    """The circuit breaker stays closed."""
    return lights.on <= MOST


@reachable()
def all_on(lights: Lights) -> bool:
    """All lights can be on."""
    return lights.on == MOST


def nothing_on(lights: Lights) -> None:
    """All lights are off."""


def read_series(paths: list[str]) -> Series:
    """Read snapshots such as {{"on": 2}}."""
    counts = [json.loads(Path(path).read_text())["on"] for path in paths]
    facts = [Fact("lights", str(count), (where("on", count),), lambda lights: str(lights.on)) for count in counts]
    waypoints = tuple(Waypoint(path, (fact,)) for path, fact in zip(paths, facts, strict=True))
    return Series(bounds={{}}, labels={{}}, initial=nothing_on, waypoints=waypoints, variant="no-fuse")


LIGHTS = Scenario(
    name="lights",
    story="Somebody switches lights on and off.",
    state=Lights,
    actions=(switch_on, switch_off),
    properties=(not_too_many, all_on),
    variants={{"no-fuse": {{"fuse": False}}, "fuse": {{"fuse": True}}}},
    read_series=read_series,
)
FUSE_FIX = Fix(flag=FUSE, closes="too many lights", trials=(Trial(LIGHTS, ("not_too_many",), "no-fuse"),))
'''
TESTS = '''"""The tests of the project."""
import pytest
from kwalk import Fails, assert_finds, assert_holds
{imports}


def test_with_the_fuse_there_are_never_too_many():
    assert_holds(LIGHTS, variant="fuse")


def test_without_it_there_are():
    assert_finds(LIGHTS, "not_too_many", length=4)
    with pytest.raises(Fails, match="VIOLATED  not_too_many"):
        assert_holds(LIGHTS, "not_too_many")


def test_the_project_has_its_own_modules():
    assert MOST == 3
'''
SCRIPT = '''"""A script of the project."""
import kwalk
{imports}

verdict = kwalk.exhaust(LIGHTS)
print(verdict.answer.value, verdict.counterexample.length)
'''
NIGHT = 'seed = 1\n[[tasks]]\nscenarios = ["{reference}"]\nwalks = 300\ndepth = 20\nswarm = false\n'


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def project_with_packages(folder: Path) -> str:
    """Write a project with packages model, search, reports, invariants and tests; the reference of its scenario."""
    imports = "from search.limits import MOST"
    used = "from model.lights import LIGHTS\nfrom search.limits import MOST"
    _write(
        folder,
        {
            **{f"{name}/__init__.py": "" for name in ("model", "search", "reports", "invariants", "tests")},
            "search/limits.py": LIMITS,
            "reports/summary.py": 'TEXT = "mine"\n',
            "invariants/circuit.py": 'TEXT = "mine"\n',
            "model/lights.py": SCENARIO.format(imports=imports),
            "tests/test_lights.py": TESTS.format(imports=used),
            "script.py": SCRIPT.format(imports="from model.lights import LIGHTS"),
            "night.toml": NIGHT.format(reference="model.lights:LIGHTS"),
        },
    )
    return "model.lights:LIGHTS"


def project_with_a_module(folder: Path) -> str:
    """Write a project whose only other module is model.py; the reference of its scenario."""
    _write(
        folder,
        {
            "model.py": LIMITS,
            "lights.py": SCENARIO.format(imports="from model import MOST"),
            "test_lights.py": TESTS.format(imports="from lights import LIGHTS\nfrom model import MOST"),
            "script.py": SCRIPT.format(imports="from lights import LIGHTS"),
            "night.toml": NIGHT.format(reference="lights:LIGHTS"),
        },
    )
    return "lights:LIGHTS"
