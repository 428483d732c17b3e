"""Walks, then a search, on a cluster that loses a worker in each: `python -m tests.spark.robbed FOLDER`.

It prints whether a worker was killed while there were walks left, what the walks found, whether another one was killed
while there were states left, and what the search found. States go to the folder.
"""
from __future__ import annotations

import sys
from pathlib import Path

from model.examples.reference import REFERENCE
from model.examples.two_phase_commit import TWO_PHASE_COMMIT
from model.language import Model
from search.distributed import exhaust_on_spark
from search.spark.session import spark_session
from search.spark.walks import walk_on_spark
from tests.distributed.compared import everything
from tests.spark.cluster import Cluster, cluster
from tests.spark.facts import facts

ASKED = {"seed": 7, "walks": 50_000, "depth": 40, "keep_going": True, "minimize": 5}
SEARCH = {"keep_going": True, "partitions": 2}


class Robber:
    """Kills a worker when it is told something for that many times, and remembers what it was told then."""

    def __init__(self, made: Cluster, worker: int, times: int) -> None:
        self.made, self.worker, self.left, self.told = made, worker, times, None

    def __call__(self, moment: object) -> None:
        self.left -= 1
        if self.left == 0:
            self.made.kill_worker(self.worker)
            self.told = moment


def main() -> None:
    with cluster(workers=3) as made, spark_session(master=made.master) as session:
        walkers = Robber(made, worker=0, times=1)
        walked = walk_on_spark(Model(REFERENCE), session=session, partitions=4, report=walkers, **ASKED)
        searchers = Robber(made, worker=1, times=3)
        searched = exhaust_on_spark(
            Model(TWO_PHASE_COMMIT), folder=Path(sys.argv[1]), session=session, few=0, on_level=searchers, **SEARCH
        )
    print(walkers.told.done < walked.steps)
    print(repr(facts(walked)))
    print(searchers.told.total < searched.distinct_states)
    print(everything(searched))


if __name__ == "__main__":
    main()
