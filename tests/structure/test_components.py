"""Each component of `search/` can be taken out: only the table of components, engines and commands know it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attrs import frozen

from kwalk.search.base.components import ENTRIES
from tests.structure.partial_trees import COMMANDS, PartialTree
from tests.structure.rooms import ROOMS, ROOT, imports, modules


@frozen
class Component:
    """A folder of `search/`, the components that are built on it, and what shows its results to people.

    Its commands are those whose handlers show its results, and those that import it themselves.
    """

    name: str
    built_on_it: tuple[str, ...] = ()
    handled: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()

    @property
    def commands(self) -> set[str]:
        """All commands that go with it."""
        importing = (
            path.stem.replace("_", "-")
            for path in modules("reports/commands")
            if any(name.startswith(f"kwalk.search.{self.name}.") for name in imports(path))
        )
        return {*self.handled, *importing}

    @property
    def files(self) -> set[str]:
        """All that goes with it."""
        commands = (f"reports/commands/{name.replace('-', '_')}.py" for name in self.commands)
        return {f"search/{self.name}", *commands, *self.shown_by}


NIGHT = Component(
    "night",
    handled=("nightly",),
    shown_by=("reports/handlers/nightly.py", "reports/nightly", "reports/nightly_compare"),
)
COMPONENTS = (
    Component("symmetry"),
    Component("partial_order", built_on_it=("symbolic",)),
    Component("symbolic"),
    Component("liveness"),
    Component("proof", handled=("prove",), shown_by=("reports/handlers/certificate.py",)),
    Component("executors", built_on_it=("spark", "night")),
    Component("spark"),
    NIGHT,
    Component(
        "analyses",
        handled=("check", "hunt", "audit", "mutate", "explore"),
        shown_by=(
            *(f"reports/handlers/{name}.py" for name in ("audit", "explain", "explore", "graph", "incident", "mutate")),
            *(f"reports/pages/{name}.py" for name in ("analysis", "audit", "explanation", "graph_page", "mutation")),
            "reports/pages/state_graph.py",
            "reports/explorer",
        ),
    ),
)
REGISTRIES = ("kwalk/engines.py", "kwalk/__init__.py", "search/engines.py", "reports/handlers/output.py")
"""What names a module of a component, and imports it when someone asks for it."""
PLUGIN = {"reports/pytest_plugin.py": "analyses"}
"""The plugin registers Hypothesis' profiles where a run asks for one."""
ENTRY_POINTS = """
[kwalk.scenarios]
examples = kwalk.model.examples.scenarios

[kwalk.commands]
general = kwalk.reports.commands
"""
TRIED = {"--help": (0, "exhaust"), "exhaust die-hard": (12, "VIOLATED"), "walk die-hard --seed 1": (12, "VIOLATED")}
NEEDED = {
    "symmetry": "exhaust ticket-lock --symmetry clients",
    "partial_order": "exhaust die-hard --reduce",
    "liveness": "exhaust ewd840",
    "symbolic": "exhaust die-hard --symbolic",
}
"""What needs a component that has no command of its own."""


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.name)
def test_only_registries_and_what_shows_its_results_import_a_component(component: Component) -> None:
    own = [*component.files, *(f"search/{other}" for other in component.built_on_it)]
    importers = {
        path.relative_to(ROOT).as_posix()
        for path in [*modules(*ROOMS), *(ROOT / "kwalk").glob("*.py")]
        if any(name.startswith(f"kwalk.search.{component.name}.") for name in imports(path))
    }
    foreign = {name for name in importers if not name.startswith((*own, *REGISTRIES, "clusters/"))}
    assert foreign == {name for name, of in PLUGIN.items() if of == component.name}


@pytest.mark.parametrize("component", COMPONENTS, ids=lambda one: one.name)
def test_a_component_can_be_taken_out(component: Component, tmp_path: Path) -> None:
    built_on_it = [other for other in COMPONENTS if other.name in component.built_on_it]
    files = {*component.files, *(path for other in built_on_it for path in other.files)}
    tree = PartialTree(tmp_path, {"model/kafka", "model/zookeeper", "invariants", "clusters", *files}, ENTRY_POINTS)
    tried = dict(TRIED)
    if component.name in NEEDED:
        why = f"This needs kwalk.search.{component.name}, which is not part of this installation."
        tried[NEEDED[component.name]] = 2, why
    ran = tree.run(COMMANDS.format(words=[words.split() for words in tried]))
    assert ran.returncode == 0, ran.stderr
    results = dict(zip(tried, json.loads(ran.stdout.splitlines()[-1]), strict=True))
    assert {words: result[0] for words, result in results.items()} == {
        words: code for words, (code, _) in tried.items()
    }
    assert [words for words, (_, shown) in tried.items() if shown not in "".join(results[words][1:])] == []
    gone = {name for one in (component, *built_on_it) for name in one.commands}
    assert not gone & {
        line.split()[0] for line in results["--help"][1].splitlines() if line[:2].isspace() and line[2:3].isalpha()
    }


def test_the_table_of_components_names_what_exists() -> None:
    for name, module in ENTRIES.items():
        assert module.split(".")[2] in {component.name for component in COMPONENTS}
        assert hasattr(__import__(module, fromlist=[name]), name)
