"""A search with checkpoints that is killed ten times: `python -m tests.search.killed MODEL WORKERS FOLDER`.

It prints how many of the ten kills met a search that was under way, how many states each checkpoint had, and, last, the
verdict of the search that ran to the end. Children are forked when all code is loaded, so that a kill costs little.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from functools import partial
from pathlib import Path

from attrs import evolve

from kwalk.model.examples.lamport_mutex import LAMPORT_MUTEX
from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model
from kwalk.search.base import pacing
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.exhaustive import explorer as exploration
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import fast_kernel_for
from kwalk.search.symbolic.search import exhaust_symbolically

MODELS = {"reference": REFERENCE, "lamport": LAMPORT_MUTEX}
REDUCED = {"reduced": REFERENCE}
"""Models whose search is reduced."""
SYMBOLIC = {"symbolic": READERS_WRITERS}
"""Models that are searched by sets of states."""
MOST = {"reference": 20, "lamport": 60, "reduced": 24, "symbolic": 200}
"""How often a search touches a file of its checkpoints before it is killed, at most."""
BUDGET = 100_000_000
KILLS = 10


def outcome(verdict):
    """All of a verdict but its time and its notes, as text."""
    return repr(evolve(verdict, seconds=0.0, notes=()))


def falling(folder, touches):
    """Let this process be killed before it opens or renames a file of the folder for the last of so many times.

    So it dies between any two files of a checkpoint, too, and at the same moments on the fastest machine.
    """
    left = iter(range(touches))

    def fall(event, arguments):
        if event in ("open", "os.rename") and str(arguments[0]).startswith(str(folder)) and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(fall)


def main():
    name, workers, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    pacing.SLICE, exploration.MIN_PACE = 0.0, 1 << 12
    model, moments = Model((MODELS | REDUCED | SYMBOLIC)[name]), random.Random(name)
    if name in SYMBOLIC:
        run = partial(exhaust_symbolically, model)
    else:
        kernel = fast_kernel_for(model)
        run = partial(exhaust, model, kernel=kernel, workers=workers, reduce=name in REDUCED)
    run(memory_bytes=BUDGET, seconds=0.01)

    def search(every):
        place = CheckpointOptions(folder, every=every, resume=(folder / "manifest.json").exists())
        return run(checkpoint=place, keep_going=True, memory_bytes=BUDGET)

    met = 0
    for _ in range(KILLS):
        touches, child = moments.randint(0, MOST[name]), os.fork()
        if child == 0:
            falling(folder, touches)
            search(every=0.0)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        met += os.WIFSIGNALED(status)
        if (folder / "manifest.json").exists():
            print(json.loads((folder / "manifest.json").read_text())["content"]["stored"])
    print(met)
    print(outcome(search(every=60.0)))


if __name__ == "__main__":
    main()
