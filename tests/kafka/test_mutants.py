"""The pages of mutants: the score, every mutant that is alive with its reason, and a few that are looked at again."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable
from types import ModuleType
from typing import NamedTuple

import pytest

import kwalk.model.kafka
import kwalk.model.zookeeper
from kwalk.invariants.mutation import CONFIGURATION_TRIALS, ENSEMBLE_TRIALS, GROUP_TRIALS, LOG_TRIALS, TRIALS
from kwalk.invariants.stories import CONTROLLER_SCENARIOS
from kwalk.model.language import Kind, Trial
from kwalk.model.language.action import Parametric
from kwalk.reports.escaping import markdown
from kwalk.reports.saved_outcomes import explanations_in
from kwalk.search.analyses.mutation.evaluation import evaluate
from kwalk.search.analyses.mutation.mutants import mutants_of
from kwalk.search.analyses.mutation.mutate import MutantStatus, baselines_of, mutants_on
from tests.structure.rooms import ROOT


class Page(NamedTuple):
    """A page, by the end of its name: its trials, the sentence with its score, and that of a random sample."""

    name: str
    trials: tuple[Trial, ...]
    score: str
    sample: str = ""

    @property
    def text(self) -> str:
        return (ROOT / "docs" / "reference" / f"mutants{self.name}.md").read_text(encoding="utf-8")

    @property
    def explained(self) -> dict[str, str]:
        return explanations_in(str(ROOT / "invariants" / f"mutants{self.name}.toml"))


CONTROLLER = Page(
    "",
    TRIALS,
    "2,207 mutants; 1,392 of 1,579 that can be noticed are noticed; 185 of 185 that are alive are explained.",
)
PAGES = (
    CONTROLLER,
    Page(
        "-of-ensembles",
        ENSEMBLE_TRIALS,
        "332 mutants; 274 of 298 that can be noticed are noticed; 22 of 22 that are alive are explained.",
    ),
    Page(
        "-of-configurations",
        CONFIGURATION_TRIALS,
        "186 mutants; 173 of 184 that can be noticed are noticed; 10 of 10 that are alive are explained.",
    ),
    Page(
        "-of-groups",
        GROUP_TRIALS,
        "250 mutants; 203 of 223 that can be noticed are noticed; 18 of 18 that are alive are explained.",
        "A random sample of 250 of 1,075 mutants (seed 0).",
    ),
    Page(
        "-of-logs",
        LOG_TRIALS,
        "250 mutants; 189 of 198 that can be noticed are noticed; 8 of 8 that are alive are explained.",
        "A random sample of 250 of 1,034 mutants (seed 0).",
    ),
)
every_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.trials[0].scenario_name)
FORESTALLED = {"deletion_eventually_ends"}
"""A deletion that hangs in a quiescent state violates `deletion_terminates` first; see tests/kafka/test_recovery.py."""
BROKEN_WITHOUT_A_MISTAKE = {
    "partition_has_a_live_isr_member",
    "replicas_are_live",
    "cluster_has_a_controller",
    "deleted_replica_has_no_log",
    "isr_members_fetch",
}
"""Their stories show that they can fail; see test_retired_brokers.py, test_resignations.py, test_topic_ids.py and
test_deletion_during_reassignment.py."""
SMALL = "records-through-failover"
AGAIN = {
    "controller_channel_manager.send_batch:dropped-effect:6a79c67b": (
        MutantStatus.KILLED,
        "partition_servable(0, 0)",
        3,
    ),
    "kafka_controller.reelect:dropped-guard:ead98f59": (MutantStatus.CRASHED, "reelect(0) leaves its domain", 0),
    "log_manager.flush_metadata_file:swapped-field:cae3ecd5": (
        MutantStatus.KILLED,
        "log_keeps_its_topic_id(0, 0, 0)",
        5,
    ),
    "partition.shrink_isr:dropped-guard:3caba310": (MutantStatus.KILLED, "leader_in_assignment(0, 0)", 4),
    "partition.may_add_to_isr:swapped-connective:ed73c1c1": (MutantStatus.KILLED, "committed_survives(1, 0, 0)", 16),
    "partition.produce:off-by-one:707d5265": (MutantStatus.KILLED, "record_is_committed(0, 0)", None),
    "partition.shrink_isr:dropped-guard:2f86f300": (MutantStatus.SURVIVED, "", 10),
}
"""Mutants whose fate the first ground decides: what kills them there, and after how many steps."""


def modules() -> list[ModuleType]:
    parts = (kwalk.model.kafka, kwalk.model.zookeeper)
    found = [info for part in parts for info in pkgutil.walk_packages(part.__path__, f"{part.__name__}.")]
    return [importlib.import_module(info.name) for info in found if "snapshots" not in info.name]


def names(explained: Iterable[str]) -> set[str]:
    """All mutants that the functions of explained ones could have, wherever records have fields of those names."""
    things = [thing for module in modules() for thing in vars(module).values()]
    classes = [thing for thing in things if getattr(thing, "__kwalk__", "") in ("state", "value")]
    parts = [part for cls in classes for part in vars(cls).values()]
    found = [part.fget if isinstance(part, property) else part for part in parts]
    found += [thing.function if isinstance(thing, Parametric) else thing for thing in things]
    written = {f for f in found if inspect.isfunction(f) and f.__module__.startswith("kwalk.model.")}
    functions = {name.partition(":")[0] for name in explained}
    written = {f for f in written if f"{f.__module__.rpartition('.')[2]}.{f.__qualname__}" in functions}
    uses = {(f, field.name, cls) for f in written for cls in classes for field in cls.__attrs_attrs__}
    return {mutant.id for mutant in mutants_of(written, uses)}


@every_page
def test_a_page_has_its_score(page):
    sample = f" {page.sample}" if page.sample else ""
    assert f"**{page.score}**{sample}\n" in page.text


@every_page
def test_all_mutants_of_these_grounds_were_tried_or_the_page_says_that_it_is_a_sample(page):
    assert ("random sample" in page.text) == bool(page.sample)


def test_every_invariant_that_stands_for_no_property_of_its_own_kills_some_mutant():
    """Those that do, P1 to P24, are broken one by one elsewhere."""
    invariants = {invariant for scenario in CONTROLLER_SCENARIOS for invariant in scenario.properties}
    plain = {i.name for i in invariants if i.kind is not Kind.REACHABLE and not re.match(r"P\d+ ", i.about)}
    assert plain - killers(CONTROLLER) == FORESTALLED | BROKEN_WITHOUT_A_MISTAKE


def killers(page: Page) -> set[str]:
    """The properties that kill a mutant first."""
    return {line.split("`")[1] for line in page.text.splitlines() if line.startswith("| `") and "/" not in line}


@every_page
def test_every_mutant_that_is_alive_is_on_the_page_under_its_reason_and_no_other(page):
    survivors = page.text.partition("\n## Survivors\n")[2]
    listed = {line.split("`")[1] for line in survivors.splitlines() if line.startswith("* `")}
    assert listed == page.explained.keys()
    assert "### Not explained" not in survivors
    for reason in page.explained.values():
        assert f"### {markdown(reason)}\n" in survivors


@every_page
def test_the_explained_mutants_are_those_of_the_model_as_it_is(page):
    assert page.explained.keys() - names(page.explained) == set()


@every_page
def test_a_page_names_the_grounds(page):
    for trial in page.trials:
        assert f"* {markdown(trial.scenario_name)}" in page.text and markdown(trial.about) in page.text


@pytest.fixture(scope="module")
def baseline():
    (found,) = baselines_of(trial for trial in TRIALS if trial.scenario_name == SMALL)
    return found


@pytest.fixture(scope="module")
def mutants(baseline):
    return {mutant.id: mutant for mutant in mutants_on([baseline])}


@pytest.mark.parametrize("name", AGAIN)
def test_a_mutant_ends_as_it_did(baseline, mutants, name):
    outcome = evaluate(mutants[name], [baseline])
    status, prop, steps = AGAIN[name]
    assert outcome.status is status and outcome.prop.startswith(prop)
    assert (None if outcome.actions is None else len(outcome.actions)) == steps
