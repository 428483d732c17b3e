"""A search on a cluster that loses a worker: `python -m tests.spark.losing_workers FOLDER`.

It prints whether a worker was killed while there were states left, and what the search found. States go to the folder.
Walks on a cluster that loses a worker are in `tests/nightly/test_cluster.py`: the same executors walk there.
"""

from __future__ import annotations

import sys
from pathlib import Path

from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model
from kwalk.search.spark.session import spark_session
from tests.distributed.compared import everything
from tests.queries import exhaust_on_spark
from tests.spark.cluster import Cluster, cluster

SEARCH = {"keep_going": True, "partitions": 2}


class WorkerKiller:
    """Kills a worker at the n-th report of progress, and keeps that report."""

    def __init__(self, made: Cluster, worker: int, times: int) -> None:
        self.made, self.worker, self.left, self.last_report = made, worker, times, None

    def __call__(self, progress: object) -> None:
        self.left -= 1
        if self.left == 0:
            self.made.kill_worker(self.worker)
            self.last_report = progress


def main() -> None:
    with cluster(workers=2) as made, spark_session(master=made.master) as session:
        searchers = WorkerKiller(made, worker=0, times=3)
        searched = exhaust_on_spark(
            Model(TWO_PHASE_COMMIT),
            folder=Path(sys.argv[1]),
            session=session,
            local_level=0,
            on_level=searchers,
            **SEARCH,
        )
    print(searchers.last_report.total < searched.distinct_states)
    print(everything(searched))


if __name__ == "__main__":
    main()
