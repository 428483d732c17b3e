"""An exploration for tests, with the process that searches for the nearest violation."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kwalk.model.language import Model
from kwalk.reports.explorer.session import ExplorerSession
from kwalk.reports.files import OutFolder
from kwalk.search.analyses.distance import DistanceSearch
from kwalk.search.base.query import Query
from kwalk.search.results.trace import Trace
from tests.reports.traces import REFERENCE


@contextmanager
def exploring(model: Model, out: Path, first: Trace | None = None, **budget: Any) -> Iterator[ExplorerSession]:
    """An exploration of a model whose saved traces are in a folder."""
    reference = REFERENCE if model.scenario.name == "post-office" else model.scenario.name
    search = DistanceSearch(model, model.properties, **budget)
    try:
        query = Query(reference, model, model.properties, command=f"kwalk explore {reference}")
        yield ExplorerSession(query, OutFolder(out), search, first)
    finally:
        search.close()


def known_distance(one: ExplorerSession, position: int, goal: int | None = None) -> dict[str, Any]:
    """What is known of the distance from a position once nothing more becomes known."""
    while not (found := one.distance(position, None, goal))["final"]:
        time.sleep(0.02)
    return found
