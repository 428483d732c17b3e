"""`python -m bench.kernels`: how long scenarios take to lift and compile, and how fast their code then walks.

For each scenario a process of its own begins with an empty cache: *first code* is what a search begins with, *best
code* what it continues with if it takes long, *from cache* is a second process that finds the best code there. Seconds
are CPU seconds of all threads, so that other work on the machine counts little; steps a second are per core, all
properties checked, in walks of at most 100 steps.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.table import machine

STEPS = 4_000_000
DEPTH = 100
HEAD = ("scenario", "bits", "instances", "properties", "first code, s", "best code, s", "from cache, s", "M steps/s")


def measured(name: str) -> dict[str, float]:
    """What one scenario takes, in this process, whose cache is empty."""
    from kwalk.model.language import Model
    from kwalk.model.language.registry import find_scenario
    from kwalk.search.kernel.compile.compiler import fast_kernel_for, kernel_for

    model = Model(find_scenario(name))
    first, _ = _timed(lambda: kernel_for(model))
    best, kernel = _timed(lambda: fast_kernel_for(model))
    return {
        "bits": int(kernel.widths.sum()),
        "instances": kernel.instances,
        "properties": kernel.properties,
        "first": first,
        "best": best,
        "rate": _rate(model, kernel),
    }


def _rate(model: Any, kernel: Any) -> float:
    """Millions of steps a CPU second: between a short run and a long one, so that what is done once does not count.

    Long walks continue on bit-sliced code. A first run compiles it.
    """
    from kwalk.search.simulation.walk import walk

    def run(walks: int) -> tuple[float, int]:
        spent, verdict = _timed(lambda: walk(model, kernel=kernel, walks=walks, depth=DEPTH, keep_going=True))
        return spent, verdict.steps

    _, pilot = run(1000)
    many = max(2000, 1000 * STEPS // max(1, pilot))
    run(many)
    (short, few), (long, all_steps) = run(many // 8), run(many)
    return (all_steps - few) / (long - short) / 1e6


def from_cache(name: str) -> float:
    """Seconds until the kernel is there, in this process, if the cache has it."""
    from kwalk.model.language import Model
    from kwalk.model.language.registry import find_scenario
    from kwalk.search.kernel.compile.compiler import kernel_for

    model = Model(find_scenario(name))
    return _timed(lambda: kernel_for(model))[0]


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def rows(names: list[str]) -> Iterator[list[str]]:
    """A row of the table for each scenario."""
    for name in names:
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (_measure_in_process(way, name, cache) for way in ("--cold", "--warm"))
        sizes = [f"{cold[key]:.0f}" for key in ("bits", "instances", "properties")]
        yield [name, *sizes, *(f"{s:.1f}" for s in (cold["first"], cold["best"])), f"{warm:.2f}", f"{cold['rate']:.2f}"]


def _measure_in_process(way: str, name: str, cache: str) -> Any:
    command = [sys.executable, "-m", "bench.kernels", way, name]
    done = subprocess.run(command, env={**os.environ, "KWALK_CACHE": cache}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def main() -> int:
    """Measure, print each row as it comes, and with --out write the page."""
    parser = argparse.ArgumentParser(prog="python -m bench.kernels", description=__doc__)
    parser.add_argument("scenario", nargs="*", help="only these scenarios; by default all that are announced")
    parser.add_argument("--out", type=Path, help="write the table there, as Markdown")
    for hidden in ("--cold", "--warm"):
        parser.add_argument(hidden, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cold or options.warm:
        print(json.dumps((measured if options.cold else from_cache)(options.scenario[0])))
        return 0
    from kwalk.model.language.registry import announced

    lines = [_line(HEAD), _line(["---", *["---:"] * (len(HEAD) - 1)])]
    print("\n".join(lines), flush=True)
    for row in rows(options.scenario or list(announced())):
        lines.append(_line(row))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text(
            f"# Kernels\n\nWritten by `python -m bench.kernels`, on {machine()}; {datetime.date.today()}.\n\n"
            + "\n".join(
                [
                    " ".join((__doc__ or "").split("\n\n")[1].split()),
                    "",
                    *lines,
                    "",
                ]
            )
        )
        print(f"Written: {options.out}")
    return 0


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
