"""`python -m bench.growth`: what a search costs as the states become more, and as the model becomes larger.

Every measurement is a process of its own, on the reference model with other bounds. *Seconds* of searches are wall time
after compiling, *CPU* is that of all threads; *bytes a state* is the whole process's peak, less what it takes at three
thousand states, by the states. Model sizes grow by partitions; there, a search and walks are given some seconds.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import asdict

from bench.curve import Curve, drawing
from bench.reference import SCENARIO, Bounds
from bench.table import aligned, machine

SPACES = (
    Bounds(2, 2, 3, 1, 1),
    Bounds(3, 2, 3, 1, 1),
    Bounds(3, 2, 3, 2, 2),
    Bounds(3, 2, 3, 3, 3),
    Bounds(3, 2, 4, 4, 4),
    Bounds(3, 2, 4, 6, 6),
    Bounds(4, 2, 3, 2, 2),
    Bounds(4, 2, 3, 2, 3),
    Bounds(4, 2, 3, 3, 3),
    Bounds(4, 2, 3, 4, 3),
)
"""From three thousand states to a hundred million."""
PARTITIONS = (2, 4, 8, 16, 30)
"""Of the models, with 37 to 401 variables."""
TRYING = 10.0
"""Seconds of a search and of walks where the model is large."""
SPACE_HEAD = ("bounds", "states", "depth", "seconds", "CPU", "M states/s", "peak MiB", "bytes a state")
MODEL_HEAD = (
    "partitions",
    "variables",
    "bits",
    "instances",
    "terms",
    "lift, s",
    "compile, s",
    "walks, M steps/s",
    "search, M states/s",
    "generated, M/s",
)


def searched(bounds: Bounds, workers: int) -> dict[str, float]:
    """A complete search with all properties checked, in this process."""
    from kwalk.model.language import Model
    from kwalk.model.language.registry import find_scenario
    from kwalk.search.exhaustive.search import exhaust
    from kwalk.search.kernel.compile.compiler import fast_kernel_for
    from kwalk.search.results.verdict import Strength

    model = Model(find_scenario(SCENARIO), bounds=asdict(bounds))
    kernel = fast_kernel_for(model)
    cpu, verdict = _timed(lambda: exhaust(model, kernel=kernel, keep_going=True, workers=workers))
    if verdict.strength is not Strength.EXHAUSTIVE:
        raise SystemExit(f"The search of {bounds} ended early ({verdict.qualifier}): its figures mean nothing.")
    return {
        "states": verdict.distinct_states or 0,
        "depth": verdict.depth or 0,
        "seconds": verdict.seconds or 0.0,
        "cpu": cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def tried(partitions: int) -> dict[str, float]:
    """Return the seconds to lift and to compile a model with a number of partitions, and its speed, in this process."""
    from kwalk.model.language import Model
    from kwalk.model.language.lift import lift
    from kwalk.model.language.registry import find_scenario
    from kwalk.search.exhaustive.search import exhaust
    from kwalk.search.kernel.compile.compiler import compile_model, kernel_of
    from kwalk.search.simulation.walk import walk

    model = Model(find_scenario(SCENARIO), bounds=asdict(Bounds(3, partitions, 3, 2, 2)))
    lifting, lifted = _timed(lambda: lift(model))
    compiling, code = _timed(lambda: compile_model(model, lifted))
    kernel = kernel_of(model, code)
    walk(model, kernel=kernel, walks=10)  # the first of all loads the loops
    exhaust(model, kernel=kernel, seconds=0.01)
    walking, walks = _timed(lambda: walk(model, kernel=kernel, seconds=TRYING, keep_going=True))
    searching, states = _timed(lambda: exhaust(model, kernel=kernel, seconds=TRYING, keep_going=True))
    return {
        "variables": len(model.leaves),
        "bits": int(kernel.widths.sum()),
        "instances": kernel.instances,
        "terms": len(lifted.terms),
        "lift": lifting,
        "compile": compiling,
        "walks": walks.steps / walking / 1e6,
        "search": states.distinct_states / searching / 1e6,
        "generated": states.generated_states / searching / 1e6,
    }


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _measure_in_process(*arguments: str) -> dict[str, float]:
    """What another process measured."""
    done = subprocess.run([sys.executable, "-m", "bench.growth", *arguments], stdout=subprocess.PIPE, check=True)
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def page(spaces: Sequence[Bounds], partitions: Sequence[int], workers: int, folder: Path) -> Iterator[str]:
    """The lines of the page, each as soon as it is known; the pictures go to the folder."""
    yield from (
        "# How searches grow",
        "",
        f"Written by `python -m bench.growth` on {machine()}; {workers} workers; {datetime.date.today()}.",
        "",
        " ".join((__doc__ or "").split("\n\n")[1].split()),
        "",
    )
    yield from ("## With the states", "")
    found = [(bounds, _measure_in_process("--search", *bounds.words, "--workers", str(workers))) for bounds in spaces]
    yield from aligned([SPACE_HEAD, *(_space_row(bounds, one, found[0][1]["peak"]) for bounds, one in found)])
    states = [(bounds, one) for bounds, one in found if one["seconds"] > 0.05]
    if len(states) > 1:
        yield from _pictures_of_spaces(folder, [one for _, one in states], found[0][1]["peak"])
    if not partitions:
        return
    yield from ("", "## With the model", "")
    models = [(count, _measure_in_process("--model", str(count))) for count in partitions]
    yield from aligned([MODEL_HEAD, *(_model_row(count, one) for count, one in models)])
    if len(models) > 1:
        yield from _picture_of_models(folder, [one for _, one in models])


def _space_row(bounds: Bounds, one: dict[str, float], floor: float) -> tuple[str, ...]:
    by_state = f"{(one['peak'] - floor) / one['states']:.1f}" if one["peak"] > 2 * floor else ""
    rate = f"{one['states'] / one['seconds'] / 1e6:.2f}" if one["seconds"] > 0.05 else ""
    return (
        str(bounds),
        f"{one['states']:,.0f}",
        f"{one['depth']:.0f}",
        f"{one['seconds']:.2f}",
        f"{one['cpu']:.2f}",
        rate,
        f"{one['peak'] / (1 << 20):,.0f}",
        by_state,
    )


def _model_row(count: int, one: dict[str, float]) -> tuple[str, ...]:
    return (
        str(count),
        *(f"{one[key]:,.0f}" for key in ("variables", "bits", "instances", "terms")),
        *(f"{one[key]:.2f}" for key in ("lift", "compile", "walks", "search", "generated")),
    )


def _pictures_of_spaces(folder: Path, found: Sequence[dict[str, float]], floor: float) -> Iterator[str]:
    seconds = [(one["states"], one["seconds"]) for one in found]
    memory = [(one["states"], one["peak"]) for one in found]
    _write(
        folder / "states.svg",
        drawing(
            "Time and memory against states",
            ("states", "seconds; bytes"),
            [Curve("seconds", seconds), Curve("bytes, the whole process", memory)],
        ),
    )
    slope, at_million = fitted(seconds[-4:])
    last = found[-1]
    each = max(1.0, (last["peak"] - floor) / last["states"])
    yield from (
        "",
        f"![time and memory against states]({folder.name}/states.svg)",
        "",
        f"Over the largest spaces time grows as the states to the power of {slope:.2f}: {at_million:.2f} s for a "
        f"million would be {at_million * 1000**slope:,.0f} s for a billion (10^9). A state takes {each:.1f} bytes at "
        f"the largest, so that 24 GiB end a search after some {24 * 2**30 / each / 1e9:.1f} billion states of this "
        "model.",
    )


def fitted(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The power law through points, by least squares over logarithms: its exponent, and its value at a million."""
    xs, ys = [math.log(x / 1e6) for x, _ in points], [math.log(y) for _, y in points]
    middle, level = sum(xs) / len(xs), sum(ys) / len(ys)
    slope = sum((x - middle) * (y - level) for x, y in zip(xs, ys, strict=True)) / sum((x - middle) ** 2 for x in xs)
    return slope, math.exp(level - slope * middle)


def _picture_of_models(folder: Path, found: Sequence[dict[str, float]]) -> Iterator[str]:
    def curve(name: str, key: str, unit: float = 1.0) -> Curve:
        return Curve(name, [(one["variables"], one[key] * unit) for one in found])

    _write(
        folder / "models.svg",
        drawing(
            "Cost against the size of the model",
            ("variables", "rates; seconds"),
            [
                curve("steps/s in walks", "walks", 1e6),
                curve("states/s in a search", "search", 1e6),
                curve("seconds to compile", "compile"),
                curve("seconds to lift", "lift"),
            ],
        ),
    )
    slopes = {key: fitted([(one["variables"], one[key]) for one in found])[0] for key in ("compile", "walks", "search")}
    yield from (
        "",
        f"![cost against the size of the model]({folder.name}/models.svg)",
        "",
        f"With the variables, compiling grows to the power of {slopes['compile']:.2f}, the rate of walks to the power "
        f"of {slopes['walks']:.2f} and that of searches to the power of {slopes['search']:.2f}.",
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(path)


def main() -> int:
    """Measure, print the page as it grows, and with --out write it, its pictures in a folder of its name beside it."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=len(SPACES), help=f"the number of spaces, at most {len(SPACES)}")
    parser.add_argument("--partitions", type=int, nargs="+", default=list(PARTITIONS), help="of the models")
    parser.add_argument("--workers", type=int, default=1, help="of the searches (1)")
    parser.add_argument("--out", type=Path, help="write the page there, as Markdown")
    parser.add_argument("--search", type=int, nargs=5, help=argparse.SUPPRESS)
    parser.add_argument("--model", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.search or options.model:
        bounds = options.search and Bounds(*options.search)
        print(json.dumps(searched(bounds, options.workers) if bounds else tried(options.model)))
        return 0
    folder = options.out.with_suffix("") if options.out else Path("build") / "bench" / "growth"
    lines = []
    for line in page(SPACES[: options.most], options.partitions, options.workers, folder):
        lines.append(line)
        print(line, flush=True)
    if options.out:
        _write(options.out, "\n".join(lines) + "\n")
        print(f"Written: {options.out}, {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
