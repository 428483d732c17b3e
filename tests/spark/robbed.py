"""Walks on a cluster that loses a worker on the way: `python -m tests.spark.robbed`.

It prints whether the worker was killed while there was work left, and the facts of the verdict.
"""
from __future__ import annotations

from model.examples.reference import REFERENCE
from model.language import Model
from search.spark.session import spark_session
from search.spark.walks import walk_on_spark
from tests.spark.cluster import cluster
from tests.spark.facts import facts

ASKED = {"seed": 7, "walks": 50_000, "depth": 40, "keep_going": True, "minimize": 5}


def main() -> None:
    with cluster() as made, spark_session(master=made.master) as session:
        told = []

        def rob(progress):
            if not told:
                made.kill_worker()
            told.append(progress.done)

        verdict = walk_on_spark(Model(REFERENCE), session=session, partitions=4, report=rob, **ASKED)
    print(told[0] < verdict.steps)
    print(repr(facts(verdict)))


if __name__ == "__main__":
    main()
