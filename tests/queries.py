"""Queries of engines, written as keywords: the options of the table, and the other arguments of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from attrs import evolve

from kwalk.model.language import Model, PropertyInstance
from kwalk.search.base.option_table import (
    CheckKeywords,
    ExhaustKeywords,
    HuntKeywords,
    HypothesisKeywords,
    ProveKeywords,
)
from kwalk.search.base.progress import Report, silent
from kwalk.search.base.query import Query
from kwalk.search.results.verdict import Verdict

Properties = Iterable[PropertyInstance] | None


def check(model: Model, properties: Properties = None, **options: Any) -> Verdict:
    """A check by three engines."""
    from kwalk.search.analyses import check as module

    return module.check(Query.of(model, CheckKeywords, options, properties))


def hunt(model: Model, properties: Properties = None, **options: Any) -> Verdict:
    """A hunt."""
    from kwalk.search.analyses import hunt as module

    return module.hunt(Query.of(model, HuntKeywords, options, properties))


def prove(model: Model, properties: Properties = None, report: Report = silent, **options: Any) -> Verdict:
    """An attempt to prove."""
    from kwalk.search.proof import prove as module

    return module.prove(Query.of(model, ProveKeywords, options, properties), report)


def hypothesis_search(model: Model, properties: Properties = None, report: Report = silent, **options: Any) -> Verdict:
    """A search by Hypothesis."""
    from kwalk.search.analyses.hypothesis import search as module

    return module.hypothesis_search(Query.of(model, HypothesisKeywords, options, properties), report)


def exhaust_on_spark(
    model: Model,
    *,
    folder: str | Path,
    properties: Properties = None,
    report: Report = silent,
    command: str = "",
    **keywords: Any,
) -> Verdict:
    """Exhaustive search on Spark; `session`, `on_level` and `local_level` are no options."""
    from kwalk.search.spark.exhaustive import search as module

    names = {name for name in keywords if name in ("session", "on_level", "local_level")}
    other: dict[str, Callable[..., Any]] = {name: keywords.pop(name) for name in names}
    query = evolve(Query.of(model, ExhaustKeywords, keywords, properties), command=command)
    return module.exhaust_on_spark(query, folder, report, **other)
