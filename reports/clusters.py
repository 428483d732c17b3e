"""The table of clusters: what was found, by shape, each with the trace that stands for it."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

from model.language import Model
from reports.escaping import visible
from search.verdict import Cluster

SHOWN = 20
"""Clusters that are printed and whose traces are saved; all of them are in the JSON object."""


def cluster_table(model: Model, clusters: Sequence[Cluster], files: Sequence[Path]) -> Iterator[RenderableType]:
    """The table, its headline, and how many shapes it leaves out; nothing without clusters."""
    if not clusters:
        return
    met = sum(cluster.count for cluster in clusters)
    yield Text.assemble(("SHAPES", "bold"), f"  {len(clusters):,} of {met:,} minimized findings")
    table = Table(
        Column("findings", justify="right"), Column("claims", justify="right"), Column("steps", justify="right"),
        Column("shape", ratio=1), "first in", box=box.SIMPLE_HEAD, pad_edge=False, expand=True,
    )  # fmt: skip
    for cluster in clusters[:SHOWN]:
        table.add_row(
            f"{cluster.count:,}", f"{len(cluster.claims):,}", f"{cluster.trace.length:,}",
            Text(visible(outline(model, cluster))), "" if cluster.walk is None else f"walk {cluster.walk}",
        )  # fmt: skip
    yield Padding(table, (0, 0, 0, 2))
    for number, file in enumerate(files, start=1):
        yield Text(f"  Trace of shape {number}: {visible(str(file))}")
    if len(clusters) > SHOWN:
        yield Text(f"  {len(clusters) - SHOWN:,} more shapes are in the JSON object (--json).")


def outline(model: Model, cluster: Cluster) -> str:
    """The claim, and the steps of those who act at will; of a system that nobody disturbs, all steps."""
    at_will = {action.name for action in model.scenario.actions if not action.by.system}
    steps = [step for step in cluster.steps if step.partition("(")[0] in at_will] or list(cluster.steps)
    return f"{cluster.claim}: {', '.join(steps) or 'an initial state'}"
