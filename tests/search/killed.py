"""A search with checkpoints that is killed ten times: `python -m tests.search.killed MODEL WORKERS FOLDER`.

It prints how many of the ten kills met a search that was under way, how many states each checkpoint had, and, last, the
verdict of the search that went on to the end. Children are forked when all code is loaded, so that a kill costs little.
"""
from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from attrs import evolve

from model.examples.lamport_mutex import LAMPORT_MUTEX
from model.examples.reference import REFERENCE
from model.language import Model
from search import exploration
from search.checkpoint import Checkpoint
from search.compile import fast_kernel_for
from search.exhaust import exhaust
from search.progress import silent

MODELS = {"reference": REFERENCE, "lamport": LAMPORT_MUTEX}
REDUCED = {"reduced": REFERENCE}
"""Models whose search is reduced."""
BUDGET = 100_000_000
KILLS = 10


def told(verdict):
    """All of a verdict but its time and its notes, as text."""
    return repr(evolve(verdict, seconds=0.0, notes=()))


def linger(progress):
    """Take time without work, so that the search outlasts all kills on the fastest machine."""
    time.sleep(0.1)


def falling(reports):
    """A report that kills its own process when it has been called so often, however fast the machine is."""
    left = iter(range(reports))

    def fall(progress):
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    return fall


def main():
    name, workers, folder = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    exploration.SLICE, exploration.LEAST_PACE = 0.0, 1 << 12
    model, moments = Model((MODELS | REDUCED)[name]), random.Random(name)
    kernel = fast_kernel_for(model)
    reduce = name in REDUCED
    exhaust(model, kernel=kernel, memory_bytes=BUDGET, seconds=0.01, workers=workers, reduce=reduce)

    def search(every, report=silent):
        place = Checkpoint(folder, every=every, resume=(folder / "manifest.json").exists())
        wanted = {"kernel": kernel, "workers": workers, "keep_going": True, "memory_bytes": BUDGET, "reduce": reduce}
        return exhaust(model, checkpoint=place, report=report, **wanted)

    met = 0
    for _ in range(KILLS):
        report = falling(moments.randint(0, 2)) if reduce else linger
        child = os.fork()
        if child == 0:
            search(every=0.0, report=report)
            os._exit(0)
        if not reduce:
            time.sleep(moments.uniform(0.02, 0.4))
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        met += os.WIFSIGNALED(status)
        if (folder / "manifest.json").exists():
            print(json.loads((folder / "manifest.json").read_text())["content"]["cursor"][1])
    print(met)
    print(told(search(every=60.0)))


if __name__ == "__main__":
    main()
