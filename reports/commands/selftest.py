"""The command that compares kwalk with an oracle on random models and snippets: `kwalk selftest`."""
from __future__ import annotations

from argparse import Namespace

from rich.text import Text

from kwalk.reports.commands.output import print_ending, print_json
from kwalk.reports.commands.target import command_line
from kwalk.reports.document import CodeBlock
from kwalk.reports.document.text import print_blocks
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.progress import duration, shown_on_stderr
from kwalk.reports.terminal import console
from kwalk.search.analyses.selftest.selftest import (
    FoundDifference,
    SelftestOptions,
    SelftestResult,
    selftest,
)

OPTIONS = ("models", "snippets", "seed", "seconds", "workers")
FOLDER = "selftest"
"""The folder for the sources of differences, in the folder of the results."""
DIFFERENT = 70
"""The exit code if anything differs: that of an internal error."""
LISTED_REFUSALS = 12


def run_selftest(options: Namespace) -> int:
    """Compare kwalk with the oracle; 0 if nothing differs, else 70."""
    with out_folder(f"{options.out}/{FOLDER}") as out, shown_on_stderr() as report:
        result = selftest(
            SelftestOptions(
                models=options.models, snippets=options.snippets, seed=options.seed, seconds=options.seconds,
                workers=options.workers or 1, report=report,
            )
        )  # fmt: skip
        written = {name: str(path) for name, path in _write(result, out).items()}
    code = DIFFERENT if result.differences else 0
    command = command_line(options, (), OPTIONS)
    if options.json:
        print_json({**selftest_object(result), "exit_code": code, "command": command, "files": written})
        return code
    _print(result, command, written)
    return code


def selftest_object(result: SelftestResult) -> dict[str, object]:
    """Return the result as a JSON object."""
    return {
        "models": result.models, "complete_models": result.complete, "states": result.states,
        "with_kernel": result.with_kernel, "with_z3": result.with_z3, "snippets": result.snippets,
        "accepted_snippets": result.accepted, "refusals": dict(result.refusals.most_common()),
        "refused_models": dict(result.refused_models.most_common()),
        "differences": [
            {"name": one.task.name, "kind": one.kind, "text": one.text, "is_reduced": one.is_reduced}
            for one in result.differences
        ],
        "next_seed": result.next_seed, "seconds": round(result.seconds, 3),
    }  # fmt: skip


def _write(result: SelftestResult, out: OutFolder) -> dict[str, object]:
    """Write the source of each difference to a file of its own; return the files by name."""
    files = {f"{one.task.name}-{number}.py": _file(one) for number, one in enumerate(result.differences)}
    return dict(out.write(files)) if files else {}


def _file(one: FoundDifference) -> str:
    """Return the text of a module that shows a difference, with the command that finds it again."""
    what = "snippets" if one.task.size else "models"
    other = "--models 0" if one.task.size else "--snippets 0"
    command = f"kwalk selftest --seed {one.task.seed} --{what} 1 {other}"
    lines = [f"# {one.kind}", *(f"# {line}" for line in one.text.splitlines()), f"# {command}", one.source]
    return "\n".join(lines) + "\n"


def _print(result: SelftestResult, command: str, written: dict[str, str]) -> None:
    out = console()
    for one, path in zip(result.differences, written.values(), strict=True):
        print_blocks((CodeBlock((f"{one.task.name}: {one.kind}", one.text[:500], path)),), out)
    count = len(result.differences)
    rate = (result.models + result.snippets) / result.seconds if result.seconds else 0.0
    engines = f"{result.with_kernel:,} with machine code, {result.with_z3:,} with Z3"
    lines = [
        f"{result.models:,} models ({result.complete:,} exhausted by the oracle, {result.states:,} states; {engines}), "
        f"{result.snippets:,} snippets ({result.accepted:,} accepted) in {duration(result.seconds)}, "
        f"{rate:,.0f} per second",
        f"{result.refusals.total():,} snippets refused, of {len(result.refusals):,} kinds:",
        *(f"  {number:,} × {kind}" for kind, number in result.refusals.most_common(LISTED_REFUSALS)),
        f"{result.refused_models.total():,} models refused, as the reference of the language announces",
        f"{count:,} differences",
    ]
    for line in lines:
        out.print(Text(visible(line)), soft_wrap=True)
    out.print()
    print_ending({"Continue": f"kwalk selftest --seed {result.next_seed}"}, command, out)
