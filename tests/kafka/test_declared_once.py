"""What the Kafka model declares once: groups of actions, defaults of bounds and flags, fixes with their trials."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories import groups as group_stories
from kwalk.model.kafka import actions, domains, versions
from kwalk.model.kafka.base import RUNNING_CLUSTER
from kwalk.model.kafka.groups import versions as group_versions
from kwalk.model.kafka.migration import configuration_versions
from kwalk.model.kafka.server import versions as server_versions
from kwalk.model.kafka.storage import versions as storage_versions
from kwalk.model.language import Action, actions_of, default_bounds
from tests.structure.rooms import modules

GROUPS = {name: group for name, group in vars(actions).items() if isinstance(group, tuple) and name != "MODULES"}
GROUPED = [one for group in GROUPS.values() for one in group]


def declared_groups() -> Iterator[tuple[str, str]]:
    """The name of each action in the sources that joins a group, and the group."""
    for path in modules("model/kafka"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for call in getattr(node, "decorator_list", ()):
                for word in getattr(call, "keywords", ()):
                    if word.arg == "group":
                        yield f"{path.stem}.{node.name}", word.value.value


def test_every_action_of_a_group_is_in_it_once_and_in_no_other():
    members = [*GROUPED, *group_stories.MEMBERS, *group_stories.COORDINATORS]
    found = [(f"{one.function.__module__.rpartition('.')[2]}.{one.name}", one.group) for one in members]
    assert sorted(found) == sorted(declared_groups())
    assert all(len({one.group for one in group}) == 1 for group in GROUPS.values())


def test_actions_are_in_the_order_of_the_modules_and_of_their_declarations():
    declared = actions_of(*actions.MODULES)
    assert all(list(group) == [one for one in declared if one in group] for group in GROUPS.values())


def test_every_action_of_a_group_is_in_a_scenario():
    used: set[Action] = {action for scenario in SCENARIOS for action in scenario.actions}
    assert [one.name for one in GROUPED if one not in used] == []


def test_a_running_cluster_has_the_defaults_and_no_budget():
    assert dict(RUNNING_CLUSTER.bounds) == default_bounds(domains)
    stated = [scenario for scenario in SCENARIOS if scenario.state is RUNNING_CLUSTER.state]
    assert all(scenario.bounds.keys() == RUNNING_CLUSTER.bounds.keys() for scenario in stated)
    assert all(scenario.flags.keys() == RUNNING_CLUSTER.flags.keys() for scenario in stated)


@pytest.mark.parametrize(
    "part",
    [versions, group_versions, storage_versions, server_versions, configuration_versions],
    ids=lambda part: part.__name__,
)
def test_a_flag_is_of_releases_or_of_the_grain_and_has_a_value_everywhere(part):
    grain = getattr(part, "COARSE", {})
    parts = getattr(part, "PARTS", None) or (part.FLAGS,)
    names = [name for each in parts for name in {**each.variant_of("0"), **each.defaults}]
    assert len(names) == len(set(names))
    for variant in part.VARIANTS.values():
        assert {*variant, *grain} == set(names)
