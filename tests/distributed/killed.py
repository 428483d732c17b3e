"""A distributed search that is killed: `python -m tests.distributed.killed FOLDER`; it is searched on Spark throughout.

It prints the depth of each level that counts, and runs until it is killed.
"""

from __future__ import annotations

import sys
import time

from kwalk.model.examples.synod import SYNOD
from kwalk.model.language import Model
from tests.queries import exhaust_on_spark

PARTITIONS = 4


def linger(level):
    """Say that a level counts, and give who waits for that time to act."""
    print(level.depth, flush=True)
    if level.depth == 3:
        time.sleep(600)


if __name__ == "__main__":
    exhaust_on_spark(
        Model(SYNOD),
        folder=sys.argv[1],
        keep_going=True,
        partitions=PARTITIONS,
        workers=1,
        local_level=0,
        on_level=linger,
    )
