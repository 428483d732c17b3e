"""`kwalk walk`: take random walks."""

from __future__ import annotations

from kwalk.reports.options.declaration import (
    KEEP_GOING,
    RESULTS,
    SCENARIO,
    SECONDS,
    SEED,
    STEPS,
    SUBJECT,
    WORKERS,
    Command,
    Section,
    option,
)
from kwalk.reports.options.values import positive

COMMAND = Command(
    "take random walks",
    SCENARIO,
    *SUBJECT,
    SECONDS,
    SEED,
    WORKERS,
    *KEEP_GOING,
    *RESULTS,
    option("--walks", positive, "N", "number of walks"),
    option("--depth", positive, "N", "the largest number of steps of a walk"),
    *STEPS,
    handler="kwalk.reports.handlers.search:walk",
    section=Section.SEARCHES,
    page="../explanation/swarm.md",
    examples="""
  kwalk walk topic-id-core --seconds 10 --seed 7
  kwalk walk topic-id-core --walks 1000 --depth 200 --keep-going
  kwalk walk topic-id-core --keep-going --minimize 500     500 findings, grouped by shape
  kwalk walk old-client-expansion --without fault --without operator   no faults, no repairs
  kwalk walk topic-id-core --uniform                       uniform random choice""",
)
