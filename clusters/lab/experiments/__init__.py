"""The experiments of the lab, by name."""

from __future__ import annotations

from kwalk.clusters.lab.experiments import (
    consumers,
    controllers,
    coordinators,
    deletions,
    directories,
    dual_writes,
    expansions,
    fetches,
    groups,
    logs,
    many_topics,
    migrations,
    moves,
    producers,
    reassignments,
    recoveries,
    stops,
    transactions,
    ways_out,
    ways_out_of_replicas,
    ways_out_of_requests,
    ways_out_of_settings,
    ways_out_of_znodes,
)
from kwalk.clusters.lab.experiments.experiment import Experiment

MODULES = (
    expansions,
    deletions,
    controllers,
    coordinators,
    reassignments,
    groups,
    consumers,
    producers,
    fetches,
    logs,
    directories,
    moves,
    recoveries,
    many_topics,
    stops,
    transactions,
    ways_out,
    ways_out_of_replicas,
    ways_out_of_requests,
    ways_out_of_settings,
    ways_out_of_znodes,
    migrations,
    dual_writes,
)
EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment for module in MODULES for experiment in module.EXPERIMENTS
}
