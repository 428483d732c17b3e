"""The page `experiments.md`: the experiments of `kwalk lab`, and the plans of repair that were carried out."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import starmap
from posixpath import normpath
from typing import Any

from docs.generate.log_lines import cell
from docs.generate.tables import lines_of, tables
from kwalk.clusters.lab.experiments import EXPERIMENTS
from kwalk.clusters.lab.experiments.experiment import Experiment
from kwalk.clusters.lab.experiments.ways_out import Advised, advised_case
from kwalk.invariants.reading.carried_out_plans import CARRIED_OUT
from kwalk.invariants.reading.finding_kinds import KINDS
from kwalk.model.language.inspection import Severity
from kwalk.model.language.recovery import CarriedOutPlan

HEAD = """# Experiments

What `kwalk lab reproduce NAME` [does on real brokers](../how-to/run-a-lab.md). *Forced*: proxies or signals force the
order of events. `make docs` writes this page from `clusters/lab/experiments` and
`invariants/reading/carried_out_plans.py`.

| experiment | what is done | what is expected | releases | order | page |
|---|---|---|---|---|---|"""
SEEN = """
## What was seen

Experiments that compare a release with one in which a bug is repaired; and those of [log
moves](../stories/log-moves.md#on-real-brokers).

| experiment | version | report | seen in | what happened |
|---|---|---|---|---|"""
PLANS = """
## Plans that were carried out

An experiment `recover-…` writes known records, damages a cluster of three brokers, takes a snapshot, and carries out
the first answer of `kwalk diagnose --plan` whose condition is true. Then, and again after a restart of every broker,
the topic that is kept was served with `acks=all`, every acknowledged record that a disk had was on each ISR member or
in a backup, none of another topic was in the ISR, and an inspection was consistent. One round each. That a plan
withstands a fault was not tried.

| experiment | releases | what `kwalk diagnose` found | steps |
|---|---|---|---|"""

RANDOM = """
## Random damages

`recover-random-damages` damages a topic with a random sequence of acts: disks that fail, are emptied, restored or
exchanged, logs that lose their ends, files that are removed or garbled, states, replicas and ids that a hand writes,
ZooKeeper restored, deletions, reassignments, crashes of all brokers
([the acts](../../clusters/lab/experiments/random_damages.py)). The first answer whose condition is true is carried out.
Without a plan all brokers restart, and what is wrong then must be what `kwalk diagnose` names. *Lost*: rounds in which
a plan lost an acknowledged record that a disk had, or let a foreign one in.

| version | rounds | repaired | no plan | other | lost |
|---|---|---|---|---|---|"""
ADVICE = """
## Ways out that were followed

An experiment `advice-…` does by hand what `kwalk diagnose` says of a finding; what has to be so afterwards is the same.
One round each.

| experiment | releases | finding |
|---|---|---|"""
NOT_FOLLOWED = """
No experiment follows the ways out of these findings, which rest on Kafka's source: {names}.
"""
FOLLOWED = [(one, case) for one in EXPERIMENTS.values() if (case := advised_case(one)) is not None and case.repaired]

SEEN_RESULTS = tables("experiment_results")["result"]
RANDOM_RESULTS = tables("experiment_results")["random"]
RESULTS = tables("migration_results")
MIGRATIONS = """
## Migrations to KRaft

What released brokers did ([words](migrations.md)).
"""
LOST = """
### Writes and answers that are lost

Where it says that *no leader moves*, a broker was killed 25 s before, and the others still name it as leader. Every
acknowledged record is kept, if nothing else is said.
"""
COLUMNS = {
    "name": "experiment (`migration-…`)",
    "about": "what is done",
    "releases": "version",
    "what": "what happened",
    "way_out": "way out that was tried",
}


def page() -> str:
    """Return the text of the page."""
    results, lost = (lines_of(RESULTS[key], COLUMNS, code="name") for key in ("result", "lost_write"))
    experiments = [HEAD, *map(_row, EXPERIMENTS.values()), SEEN, *map(_seen, SEEN_RESULTS)]
    experiments += [PLANS, *map(_plan, CARRIED_OUT), RANDOM, *map(_random, RANDOM_RESULTS)]
    experiments += [ADVICE, *starmap(_followed, FOLLOWED), NOT_FOLLOWED.format(names=", ".join(_not_followed()))]
    return "\n".join([*experiments, MIGRATIONS, *results, LOST, *lost]) + "\n"


def _row(one: Experiment) -> str:
    order = "forced" if one.is_ordered else "as it comes"
    texts = f"{cell(one.about)} | {cell(one.expected)} | {', '.join(one.releases)}"
    return f"| `{one.name}` | {texts} | {order} | [page]({normpath(f'../stories/{one.story}')}) |"


def _seen(result: Mapping[str, Any]) -> str:
    rounds = f"{result['seen']} of {result['rounds']} rounds"
    return f"| `{result['name']}` | {result['release']} | {result['report']} | {rounds} | {cell(result['outcome'])} |"


def _plan(plan: CarriedOutPlan) -> str:
    damage, steps = (", ".join(f"`{name}`" for name in names) for names in (sorted(plan.damage), plan.steps))
    return f"| `{plan.name}` | {', '.join(plan.releases)} | {damage} | {steps} |"


def _random(result: Mapping[str, Any]) -> str:
    counts = " | ".join(str(result[key]) for key in ("rounds", "repaired", "no_plan", "other", "lost"))
    return f"| {result['release']} | {counts} |"


def _followed(one: Experiment, case: Advised) -> str:
    return f"| `{one.name}` | {', '.join(case.repaired)} | `{case.kind}` |"


def _not_followed() -> list[str]:
    """Return the kinds of damage whose way out no experiment follows, and that no plan has repaired."""
    tried = {case.kind for _, case in FOLLOWED}.union(*(plan.damage for plan in CARRIED_OUT))
    return [f"`{kind.name}`" for kind in KINDS if kind.severity is not Severity.NOTE and kind.name not in tried]
