"""The run that `make nightly-demo` shows has tasks of several scenarios and takes a minute."""

from __future__ import annotations

from kwalk.search.night.config import read_config
from kwalk.search.night.plan import tasks_of
from tests.structure.rooms import ROOT


def test_it_has_six_pairs_of_scenario_and_variant_or_more_and_takes_a_minute():
    config = read_config(ROOT / "hunts" / "nightly-demo.toml")
    tasks = tasks_of(config, "the demo")
    assert config.minutes == 1
    assert len({(task.reference, task.model.variant) for task in tasks}) >= 6
