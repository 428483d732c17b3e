"""The experiments of the lab, by name."""

from __future__ import annotations

from kwalk.clusters.lab.experiments import (
    controllers,
    deletions,
    dual_writes,
    expansions,
    groups,
    logs,
    migrations,
    reassignments,
    recoveries,
)
from kwalk.clusters.lab.experiments.experiment import Experiment

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for module in (expansions, deletions, controllers, reassignments, groups, logs, recoveries, migrations, dual_writes)
    for experiment in module.EXPERIMENTS
}
