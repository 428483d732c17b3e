"""Spark as the place where a run is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from attrs import evolve, frozen
from pyspark.sql import SparkSession

from kwalk.model.language import Model
from kwalk.search.base.progress import Report
from kwalk.search.base.query import Query
from kwalk.search.executors.work import TaskPayload
from kwalk.search.exhaustive.interfaces import LevelDone
from kwalk.search.results.verdict import Verdict
from kwalk.search.spark.executors import CodeSource, ExecutorPool
from kwalk.search.spark.exhaustive.search import exhaust_on_spark
from kwalk.search.spark.session import spark_session

STARTED = "manifest.json"
"""The file that a folder of states has once a search has begun there."""


@contextmanager
def spark_place(workers: int | None, master: str | None) -> Iterator[SparkPlace]:
    """Start Spark, and stop it at the end; see `spark_session`."""
    with spark_session(workers, master) as session:
        yield SparkPlace(session)


@frozen
class SparkPlace:
    """The executors of a session; see `kwalk.search.night.places`."""

    session: SparkSession

    @property
    def facts(self) -> dict[str, str | None]:
        """The master, and the versions of Spark and Java."""
        context = self.session.sparkContext
        java = context._jvm.java.lang.System.getProperty("java.version")
        return {"master": context.master, "spark": pyspark.__version__, "java": java}

    @property
    def cores(self) -> int:
        """The number of cores that the executors have now."""
        return int(self.session.sparkContext.defaultParallelism)

    def executors(self, model: Model, payload: TaskPayload) -> ExecutorPool:
        """Return executors that have a payload."""
        return ExecutorPool(self.session, self.cores, payload, CodeSource(model, payload.code.terms))

    def search(self, query: Query, folder: Path, save: Callable[[LevelDone], None], report: Report) -> Verdict:
        """Search exhaustively on the executors."""
        options = {**query.options, "resume": (folder / STARTED).exists()}
        return exhaust_on_spark(evolve(query, options=options), folder, report, session=self.session, on_level=save)
