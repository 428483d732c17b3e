"""Compare kwalk with an oracle on random models and snippets, and write what differs.

python -m tests.fuzz --models 20000 --snippets 100000 --workers 2
python -m tests.fuzz --workers 2 --resume                          continue it after an interrupt
"""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path

from attrs import evolve

from kwalk.model.language import UsageError
from kwalk.model.language.distributions import kwalk_version
from kwalk.reports.document import Block, CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.progress import duration, shown_on_stderr
from kwalk.reports.reporter import Written, deliver
from kwalk.reports.streams import remark
from tests.fuzz.run import (
    ALONE,
    MODULE,
    FoundDifference,
    FuzzOptions,
    FuzzResult,
    fuzz,
)

OPTIONS = ("models", "snippets", "seed", "seconds", "workers", "only")
FOLDER = "build/fuzz"
"""The folder for the sources of differences and the log."""
DIFFERENT = 70
"""The exit code if anything differs: that of an internal error."""
LISTED_REFUSALS = 12
LOG = "log.jsonl"
"""The log in that folder: a line of JSON every `LOG_SECONDS`, and one at the end of each run."""
LOG_SECONDS = 10.0
ROOT = Path(__file__).parents[2]
SOURCES = ("model/language", "search")
"""The folders whose content the log names by a digest: two runs with the same one test the same kwalk."""


def main(argv: Sequence[str] | None = None) -> int:
    """Compare kwalk with the oracle; 0 if nothing differs, else 70."""
    options = _parser().parse_args(argv)
    with out_folder(options.out) as out, shown_on_stderr() as report:
        asked = FuzzOptions(
            models=options.models,
            snippets=options.snippets,
            seed=options.seed,
            seconds=options.seconds,
            workers=options.workers,
            only=options.only,
            report=report,
        )
        if options.resume:
            asked = _remaining(asked, out.path / LOG)
        log = _Log(asked, out)
        result = fuzz(evolve(asked, found=log.found, done=partial(log.done, at_end=False)))
        log.done(result, at_end=True)
        written = {name: str(path) for name, path in log.written.items()}
    code = DIFFERENT if result.differences else 0
    command = _command(asked)
    data = {**result_object(result), "files": written}
    again = Written({"Continue": f"python -m tests.fuzz --seed {result.next_seed}"})
    return deliver(options, lambda: data, _text(result, written), again, code=code, command=command)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m tests.fuzz", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    counts = {
        "--models": (200, "number of random models"),
        "--snippets": (2000, "number of random snippets"),
        "--seed": (0, "the seed of the first model"),
        "--workers": (1, "number of processes"),
    }
    for name, (default, about) in counts.items():
        parser.add_argument(name, type=int, default=default, metavar="N", help=f"{about} (default: {default})")
    parser.add_argument("--seconds", type=float, metavar="N", help="time budget in seconds")
    parser.add_argument("--only", choices=ALONE, default="", help="compare models on this engine alone")
    parser.add_argument("--resume", action="store_true", help="continue the run whose log is in the folder of --out")
    parser.add_argument(
        "--out", default=FOLDER, metavar="DIR", help=f"folder of differences and log (default: {FOLDER})"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    return parser


def _command(options: FuzzOptions) -> str:
    """Return the command that repeats a run."""
    words = (f"--{name} {getattr(options, name)}" for name in OPTIONS if getattr(options, name) not in (None, ""))
    return " ".join(("python -m tests.fuzz", *words))


class _Log:
    """Writes differences when they are found, and the log."""

    def __init__(self, options: FuzzOptions, out: OutFolder) -> None:
        self.options, self.out, self.last = options, out, time.monotonic()
        self.written: dict[str, Path] = {}
        last = options.seed + max(options.models, -(-options.snippets // MODULE))
        self._head = {
            "kwalk": kwalk_version(),
            "python": sys.version.split()[0],
            "sources": _digest_of_sources(),
            "first_seed": options.seed,
            "models_asked": options.models,
            "snippets_asked": options.snippets,
            "last_seed": max(options.seed, last - 1),
        }

    def found(self, number: int, one: FoundDifference) -> None:
        """Write the source of a difference to a file of its own; show it, unless it is the reduced one."""
        name = _name(number, one)
        self.written |= self.out.write({name: _file(one)})
        if not one.is_reduced:
            text = f"{one.task.name}: {one.kind}: {self.written[name]}"
            remark(text)

    def done(self, result: FuzzResult, *, at_end: bool) -> None:
        """Add a line to the log, at the end and if the last one is old."""
        if not at_end and time.monotonic() - self.last < LOG_SECONDS:
            return
        self.last = time.monotonic()
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "at_end": at_end,
            **self._head,
            "next_seed": result.next_seed,
            "models": result.models,
            "snippets": result.snippets,
            "accepted_snippets": result.accepted,
            "states": result.states,
            "engines": dict(result.engines),
            "refused_models": result.refused_models.total(),
            "differences": len(result.differences),
            "seconds": round(result.seconds, 1),
            "per_second": round(_rate(result), 2),
        }
        with (self.out.path / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


def _remaining(options: FuzzOptions, log: Path) -> FuzzOptions:
    """Return the options of what a run has left, by the last line of its log."""
    try:
        last = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
        begin, end = last["next_seed"], last["first_seed"] + last["models_asked"]
        modules = last["first_seed"] + -(-last["snippets_asked"] // MODULE) - begin
    except (OSError, ValueError, IndexError, KeyError, TypeError) as error:
        raise UsageError(
            f"There is no log of a run in {visible(str(log))!r} ({type(error).__name__}). Name the folder of the run "
            "with --out, or begin one without --resume."
        ) from error
    return evolve(options, seed=begin, models=max(0, end - begin), snippets=max(0, modules) * MODULE)


def _digest_of_sources() -> str:
    digest = blake2b(digest_size=8)
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py")):
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _rate(result: FuzzResult) -> float:
    return (result.models + result.snippets) / result.seconds if result.seconds else 0.0


def result_object(result: FuzzResult) -> dict[str, object]:
    """Return the result as a JSON object."""
    return {
        "models": result.models,
        "complete_models": result.complete,
        "states": result.states,
        "engines": dict(result.engines),
        "snippets": result.snippets,
        "accepted_snippets": result.accepted,
        "refusals": dict(result.refusals.most_common()),
        "refused_models": dict(result.refused_models.most_common()),
        "differences": [
            {"name": one.task.name, "kind": one.kind, "text": one.text, "is_reduced": one.is_reduced}
            for one in result.differences
        ],
        "next_seed": result.next_seed,
        "seconds": round(result.seconds, 3),
    }


def _name(number: int, one: FoundDifference) -> str:
    return f"{one.task.name}-{number}.py"


def _file(one: FoundDifference) -> str:
    """Return the text of a module that shows a difference, with the command that finds it again."""
    what = "snippets" if one.task.size else "models"
    other = "--models 0" if one.task.size else "--snippets 0"
    other += f" --only {one.task.only}" if one.task.only else ""
    command = f"python -m tests.fuzz --seed {one.task.seed} --{what} 1 {other}"
    lines = [f"# {one.kind}", *(f"# {line}" for line in one.text.splitlines()), f"# {command}", one.source]
    return "\n".join(lines) + "\n"


def _text(result: FuzzResult, written: dict[str, str]) -> Iterator[Block]:
    for number, one in enumerate(result.differences):
        path = written[_name(number, one)]
        yield CodeBlock((f"{one.task.name}: {one.kind}", one.text[:500], path))
    count = len(result.differences)
    engines = ", ".join(f"{number:,} with {name}" for name, number in sorted(result.engines.items()))
    yield CodeBlock(
        (
            f"{result.models:,} models ({result.complete:,} exhausted by the oracle, {result.states:,} states; "
            f"{engines}), {result.snippets:,} snippets ({result.accepted:,} accepted) in {duration(result.seconds)}, "
            f"{_rate(result):,.0f} per second",
            f"{result.refusals.total():,} snippets refused, of {len(result.refusals):,} kinds:",
            *(f"  {number:,} × {kind}" for kind, number in result.refusals.most_common(LISTED_REFUSALS)),
            f"{result.refused_models.total():,} models refused, as the reference of the language announces",
            f"{count:,} differences",
            "",
        )
    )


if __name__ == "__main__":
    sys.exit(main())
