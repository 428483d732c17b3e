"""`kwalk exhaust`: visit every reachable state within the bounds."""

from __future__ import annotations

from kwalk.reports.options import values
from kwalk.reports.options.declaration import (
    KEEP_GOING,
    RESULTS,
    SCENARIO,
    SECONDS,
    SUBJECT,
    WORKERS,
    Command,
    Section,
    argument,
    option,
    switch,
)
from kwalk.reports.options.values import nonempty, seconds

COMMAND = Command(
    "visit every reachable state within the bounds",
    SCENARIO,
    *SUBJECT,
    SECONDS,
    WORKERS,
    *KEEP_GOING,
    *RESULTS,
    option(
        "--memory",
        values.gibibytes,
        "GIB",
        "stop when the search uses this much memory, in GiB; "
        "with --spark, when the new states of a task do (default: 1)",
    ),
    option(
        "--checkpoint",
        nonempty,
        "DIR",
        "save checkpoints there at intervals, and when a budget or Ctrl-C ends the search",
    ),
    option("--every", seconds, "N", "seconds between checkpoints (default: 1800)"),
    switch("--resume", "continue from the checkpoint in DIR; only budgets and the number of workers may differ"),
    argument(
        "--symmetry",
        "DOMAIN",
        "visit one state for all that differ by a permutation of this domain, if Z3 proves that they are "
        "symmetric; not with --reduce, --spark or --checkpoint",
    ),
    switch(
        "--reduce",
        "skip states that no verdict and no shortest trace depends on (partial-order reduction); the first time, "
        "dependencies are computed for seconds to minutes",
    ),
    switch(
        "--symbolic",
        "compute sets of states as decision diagrams in place of single states: less memory where brokers and topics "
        "do most things independently; without depths; on one core; not with --reduce, --symmetry, --interpreter, "
        "--spark or --checkpoint",
    ),
    switch(
        "--interpreter",
        "execute plain Python in place of compiled code, some hundred states per second on one core: an "
        "independent check, and faster for large models with few states; not with --reduce, --symmetry or --spark",
    ),
    switch(
        "--spark",
        "search level by level on Spark, with states on disk (in DIR, otherwise in OUT/states), not in memory; "
        "not with --symmetry, --reduce or --every",
    ),
    option(
        "--master",
        nonempty,
        "URL",
        "with --spark: a Spark master, such as spark://host:7077, whose machines share DIR",
    ),
    option(
        "--partitions",
        values.partitions,
        "N",
        "with --spark: tasks of a level; the new states of a task must fit into memory (default: 2 per core; "
        "rounded up to a power of two)",
    ),
    handler="kwalk.reports.handlers.search:exhaust",
    section=Section.SEARCHES,
    page="../how-to/search-for-hours.md",
    examples="""
  kwalk exhaust two-phase-commit
  kwalk exhaust topic-id-core --bound restarts=1 --property disk_matches_znode
  kwalk exhaust lost-update --flag lock=on
  kwalk exhaust topic-id-core --reduce          fewer states, the same verdict
  kwalk exhaust my_package.my_model:STORY --keep-going --json
  kwalk exhaust topic-id-core --checkpoint saved           can be killed at any time,
  kwalk exhaust topic-id-core --checkpoint saved --resume  and continues from there
  kwalk exhaust topic-id-core --spark --keep-going         with states on disk, on any number of machines""",
)
