"""The parser of the command line: every command with its options, help texts and examples."""
from __future__ import annotations

import argparse
from typing import Any, NoReturn

from kwalk.reports.commands import values
from kwalk.reports.escaping import visible

DEFAULT_OUT = "kwalk-out"


class Parser(argparse.ArgumentParser):
    """A parser that prints errors in one line, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print the error and the command that shows the help, and exit."""
        self.exit(2, f"kwalk: {visible(message)}. See `{self.prog} --help`.\n")

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's own method, raise an error if it cannot be written."""
        print(self.format_help(), end="", file=file)


class _Version(argparse.Action):
    """Print the version; it is looked up only here."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from kwalk.reports.traces.save import version

        print(f"kwalk {version()}")
        parser.exit(0)


def parser() -> Parser:
    """Return the parser of all commands."""
    top = Parser(
        prog="kwalk",
        description="Model checker: find the shortest behaviour of a model that violates a property.",
        epilog=ENDING,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _listing(commands)
    _searching(commands)
    _nightly(commands)
    _auditing(commands)
    _mutating(commands)
    _explaining(commands)
    _graphing(commands)
    _reading(commands)
    _nightly_runs(commands)
    return top


def _command(commands: Any, name: str, about: str, aliases: tuple[str, ...] = ()) -> Parser:
    made: Parser = commands.add_parser(
        name,
        aliases=aliases,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=f"examples:{EXAMPLES[name]}\n\n{ENDING}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def _listing(commands: Any) -> None:
    scenarios = _command(commands, "scenarios", "list the scenarios")
    scenarios.add_argument("scenario", nargs="?", metavar="SCENARIO")
    scenarios.add_argument("--variants", action="store_true", help="also list bounds, and variants with their flags")
    scenarios.add_argument("--json", action="store_true", help="print one JSON object")
    about = "list the properties, and the symptoms of their violations"
    properties = _command(commands, "properties", about, aliases=("invariants",))
    properties.add_argument("scenario", nargs="?", metavar="SCENARIO")
    properties.add_argument("--json", action="store_true", help="print one JSON object")


def _searching(commands: Any) -> None:
    exhaust = _command(commands, "exhaust", "visit every reachable state within the bounds")
    exhaust.add_argument("scenario", metavar="SCENARIO")
    _common(exhaust)
    exhaust.add_argument(
        "--memory", type=values.gibibytes, metavar="GIB", help="stop when the search uses this much memory, in GiB"
    )
    saves = "save checkpoints there at intervals, and when a budget or Ctrl-C ends the search"
    exhaust.add_argument("--checkpoint", type=values.given, metavar="DIR", help=saves)
    exhaust.add_argument(
        "--every", type=values.seconds, metavar="N", help="seconds between checkpoints (default: 1800)"
    )
    exhaust.add_argument("--resume", action="store_true", help="continue from the checkpoint in DIR")
    names = "visit one state for all that differ by a permutation of this domain, if Z3 proves that they are symmetric"
    exhaust.add_argument("--symmetry", metavar="DOMAIN", help=names)
    less = "skip states that no verdict and no shortest trace depends on (partial-order reduction)"
    exhaust.add_argument("--reduce", action="store_true", help=less)
    disk = "search level by level on Spark, with states on disk (in DIR, otherwise in OUT/states), not in memory"
    exhaust.add_argument("--spark", action="store_true", help=disk)
    others = "with --spark: a Spark master, such as spark://host:7077, whose machines share DIR"
    exhaust.add_argument("--master", type=values.given, metavar="URL", help=others)
    parts = "with --spark: tasks of a level; the new states of a task must fit into memory (default: 2 per core)"
    exhaust.add_argument("--partitions", type=values.partitions, metavar="N", help=parts)

    walk = _command(commands, "walk", "take random walks")
    walk.add_argument("scenario", metavar="SCENARIO")
    _common(walk, seed=True)
    walk.add_argument("--walks", type=values.positive, metavar="N", help="number of walks")
    walk.add_argument("--depth", type=values.positive, metavar="N", help="the largest number of steps of a walk")
    _walk_choices(walk)

    prove = _command(commands, "prove", "prove properties with Z3, or find the shortest violation")
    prove.add_argument("scenario", metavar="SCENARIO")
    _common(prove, parallel=False)
    prove.add_argument(
        "--depth", type=values.natural, metavar="N", help="check unproved properties up to N steps (default: 20)"
    )
    back = "the largest k of k-induction (default: 3); 0 for no induction"
    prove.add_argument("--induction", type=values.natural, metavar="N", help=back)
    prove.add_argument("--no-support", action="store_true", help="do not search for supporting invariants")

    check = _command(commands, "check", "run exhaustive search, random walks and Z3, and compare their verdicts")
    check.add_argument("scenario", metavar="SCENARIO")
    _common(check, seed=True, keep_going=False)

    hunt = _command(commands, "hunt", "find a counterexample: exhaustive search, then walks on Spark, then minimize")
    hunt.add_argument("scenario", nargs="?", metavar="SCENARIO")
    hunt.add_argument("--from", dest="snapshot", metavar="SNAPSHOT", help="start from the state of a real system")
    _common(hunt, seed=True)
    _walk_choices(hunt)


def _walk_choices(command: Parser) -> None:
    """Add the options for the steps that walks choose."""
    kept = "walks take only actions of this actor, or this action (repeatable)"
    command.add_argument("--only", action="append", default=[], type=values.given, metavar="NAME", help=kept)
    left = "walks take no action of this actor, or not this action (repeatable)"
    command.add_argument("--without", action="append", default=[], type=values.given, metavar="NAME", help=left)
    alike = "choose all enabled steps with equal probability, instead of a swarm that prefers rare ones"
    command.add_argument("--uniform", action="store_true", help=alike)


def _nightly(commands: Any) -> None:
    nightly = _command(commands, "nightly", "search many scenarios on Spark, in a run that can be resumed")
    nightly.add_argument("config", nargs="?", metavar="CONFIG", help="a TOML file: what to search, and for how long")
    nightly.add_argument("--resume", type=values.given, metavar="RUN", help="resume the run in this folder")
    where = f"the folder of the run (default: one below {DEFAULT_OUT}, named after the time)"
    nightly.add_argument("--out", type=values.given, metavar="DIR", help=where)
    nightly.add_argument("--workers", type=values.workers, metavar="N", help="number of cores")
    cluster = "a Spark master, such as spark://host:7077, instead of this machine's cores"
    nightly.add_argument("--master", type=values.given, metavar="URL", help=cluster)
    budget = "time budget of all tasks together, in minutes; overrides the configuration"
    nightly.add_argument("--minutes", type=values.minutes, metavar="M", help=budget)
    earlier = "an earlier run that the page of this run compares with"
    nightly.add_argument("--before", type=values.given, metavar="RUN", help=earlier)
    nightly.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _auditing(commands: Any) -> None:
    audit = _command(commands, "audit", "search each trial of a fix with the fix off and on")
    audit.add_argument("fixes", nargs="*", metavar="FIX", help="a fix's name, or package.module:FIXES of your own")
    audit.add_argument("--scenario", type=values.given, metavar="NAME", help="only the trials in this scenario")
    budget = "time budget of each search, in seconds (default: 60)"
    audit.add_argument("--seconds", type=values.seconds, metavar="N", help=budget)
    audit.add_argument("--workers", type=values.workers, metavar="N", help="number of parallel searches (default: 1)")
    audit.add_argument("--prove", action="store_true", help="also try to prove properties that no search violates")
    audit.add_argument("--fresh", action="store_true", help="ignore saved outcomes of an earlier audit")
    where = f"folder of traces and of saved outcomes (default: {DEFAULT_OUT})"
    audit.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    audit.add_argument("--markdown", type=values.given, metavar="FILE", help="also write a Markdown document")
    audit.add_argument("--html", action="store_true", help="also write an HTML page into the folder of traces")
    audit.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _mutating(commands: Any) -> None:
    mutate = _command(
        commands, "mutate", "try small mistakes in a model, and report those that its properties do not detect"
    )
    about = "scenarios to try mutants on, or package.module:TRIALS of your own"
    mutate.add_argument("scenarios", nargs="+", metavar="SCENARIO", help=about)
    _subject(mutate)
    kind = "only mutants of this operator, such as dropped-guard (repeatable)"
    mutate.add_argument("--operator", action="append", default=[], choices=values.OPERATORS, metavar="NAME", help=kind)
    of = "only mutants of this function (repeatable)"
    mutate.add_argument("--function", action="append", default=[], type=values.given, metavar="NAME", help=of)
    mutate.add_argument("--sample", type=values.positive, metavar="N", help="only a random sample of N mutants")
    mutate.add_argument("--seed", type=values.seed, default=0, metavar="N", help="the seed of the sample (default: 0)")
    mutate.add_argument("--list", action="store_true", help="list the mutants without trying any")
    mutate.add_argument(
        "--show", type=values.given, metavar="ID", help="try this mutant only, and show the trace that decides it"
    )
    budget = "time budget of each mutant, in seconds (default: 10)"
    mutate.add_argument("--seconds", type=values.seconds, metavar="N", help=budget)
    mutate.add_argument(
        "--workers", type=values.workers, metavar="N", help="number of mutants in parallel (default: 1)"
    )
    why = "a TOML file with reasons why no property needs to detect a survivor"
    mutate.add_argument("--explained", type=values.given, metavar="FILE", help=why)
    mutate.add_argument("--fresh", action="store_true", help="ignore saved outcomes of an earlier run")
    where = f"folder of saved outcomes (default: {DEFAULT_OUT})"
    mutate.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    mutate.add_argument("--markdown", type=values.given, metavar="FILE", help="also write a Markdown document")
    mutate.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _explaining(commands: Any) -> None:
    explain = _command(commands, "explain", "find a behaviour that passes through snapshots of a real system")
    explain.add_argument(
        "snapshots", nargs="+", metavar="SNAPSHOT", help="JSON files, in the order in which they were taken"
    )
    explain.add_argument("--scenario", type=values.given, metavar="NAME", help="the scenario that reads them")
    other = "the variant of the model (default: that of the snapshots)"
    explain.add_argument("--variant", type=values.given, metavar="NAME", help=other)
    events = "assume at most N events between two snapshots (default: 8)"
    explain.add_argument("--events", type=values.natural, metavar="N", help=events)
    explain.add_argument("--seconds", type=values.seconds, metavar="N", help="time budget in seconds (default: 60)")
    where = f"folder of the trace and its page (default: {DEFAULT_OUT})"
    explain.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    explain.add_argument("--unfold", action="store_true", help="also show routine steps")
    explain.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _graphing(commands: Any) -> None:
    graph = _command(commands, "graph", "write the first states as a graph (DOT), and print its figures")
    graph.add_argument("scenario", metavar="SCENARIO")
    _subject(graph)
    graph.add_argument("--most", type=values.positive, metavar="N", help="draw at most N states (default: 300)")
    label = "label of a state: its changes against its parent (default), or every part that varies"
    graph.add_argument("--label", choices=("changes", "state"), help=label)
    where = f"folder of the DOT file (default: {DEFAULT_OUT})"
    graph.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    graph.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _reading(commands: Any) -> None:
    replay = _command(commands, "replay", "execute the steps of a saved trace again, in plain Python")
    replay.add_argument("trace", metavar="TRACE")
    other = "replay in another variant"
    replay.add_argument("--variant", type=values.given, metavar="NAME", help=other)
    _flag(replay, "change a flag of the trace (repeatable)")
    replay.add_argument("--unfold", action="store_true", help="also show routine steps")
    replay.add_argument("--json", action="store_true", help="print one JSON object")

    shrink = _command(commands, "shrink", "minimize a saved trace, then try to prove that no shorter one exists")
    shrink.add_argument("trace", metavar="TRACE")
    shrink.add_argument("--seconds", type=values.seconds, metavar="N", help="time budget in seconds (default: 60)")
    where = f"folder of the shorter trace and its page (default: {DEFAULT_OUT})"
    shrink.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    shrink.add_argument("--unfold", action="store_true", help="also show routine steps")
    shrink.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    show = _command(commands, "show", "print a saved trace")
    show.add_argument("trace", metavar="TRACE")
    show.add_argument("--unfold", action="store_true", help="also show routine steps")
    formats = ("text", "markdown", "html", "itf")
    show.add_argument("--format", choices=formats, default="text", help="default: text")
    show.add_argument("--out", type=values.given, metavar="DIR", help="write a file there instead of printing")

    illustrate = _command(commands, "illustrate", "draw the counterexamples that Markdown documents name")
    illustrate.add_argument("documents", nargs="+", metavar="FILE")
    illustrate.add_argument(
        "--check", action="store_true", help="write nothing; exit with 12 if a diagram is out of date"
    )


def _nightly_runs(commands: Any) -> None:
    compare = _command(commands, "compare", "compare a nightly run with an earlier one")
    compare.add_argument("before", type=values.given, metavar="RUN_A", help="the folder of the earlier run")
    compare.add_argument("after", type=values.given, metavar="RUN_B", help="the folder of the later run")
    compare.add_argument("--html", type=values.given, metavar="FILE", help="also write a page")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    page = _command(commands, "page", "write the page of a nightly run again")
    page.add_argument("run", type=values.given, metavar="RUN", help="the folder of the run; the page is its index.html")
    page.add_argument("--before", type=values.given, metavar="RUN", help="an earlier run to compare with")


def _flag(command: Parser, about: str) -> None:
    command.add_argument(
        "--flag", action="append", default=[], type=values.flag, metavar="NAME=SETTING", help=about
    )


def _subject(command: Parser) -> None:
    """Add the options that select a model and the properties to check."""
    command.add_argument(
        "--variant", type=values.given, metavar="NAME", help="the variant (default: the first one)"
    )
    only = "check only this property, or this instance of one (repeatable)"
    command.add_argument("--property", action="append", default=[], metavar="NAME", help=only)
    command.add_argument("--invariant", action="append", dest="property", help=argparse.SUPPRESS)
    command.add_argument(
        "--bound", action="append", default=[], type=values.bound, metavar="NAME=N", help="change a bound (repeatable)"
    )
    _flag(command, "change a flag of the variant (repeatable)")


def _common(command: Parser, *, seed: bool = False, parallel: bool = True, keep_going: bool = True) -> None:
    """Add the options of every search; a seed if it is random, workers if it runs on several cores."""
    _subject(command)
    command.add_argument("--seconds", type=values.seconds, metavar="N", help="time budget in seconds")
    if seed:
        command.add_argument(
            "--seed", type=values.seed, default=0, metavar="N", help="seed of all random choices (default: 0)"
        )
    if parallel:
        command.add_argument("--workers", type=values.workers, metavar="N", help="number of cores")
    if parallel and keep_going:
        command.add_argument(
            "--keep-going", action="store_true", help="do not stop at the first violation"
        )
        shapes = "with --keep-going, minimize the first N findings and group them by shape (default: 100; 0 for none)"
        command.add_argument("--minimize", type=values.natural, metavar="N", help=shapes)
    where = f"folder of traces and pages (default: {DEFAULT_OUT})"
    command.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    command.add_argument("--unfold", action="store_true", help="also show routine steps")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of text")


EXAMPLES = {
    "scenarios": """
  kwalk scenarios                      all scenarios
  kwalk scenarios --variants           with variants, flags and bounds
  kwalk scenarios lost-update --variants""",
    "properties": """
  kwalk properties                     of every scenario
  kwalk properties topic-id-core       of one, with the symptoms that users see""",
    "exhaust": """
  kwalk exhaust two-phase-commit
  kwalk exhaust topic-id-core --bound restarts=1 --property disk_matches_znode
  kwalk exhaust lost-update --flag lock=on
  kwalk exhaust topic-id-core --reduce          fewer states, the same verdict
  kwalk exhaust my_package.my_model:STORY --keep-going --json
  kwalk exhaust topic-id-core --checkpoint saved           can be killed at any time,
  kwalk exhaust topic-id-core --checkpoint saved --resume  and continues from there
  kwalk exhaust topic-id-core --spark --keep-going         with states on disk, on any number of machines""",
    "walk": """
  kwalk walk topic-id-core --seconds 10 --seed 7
  kwalk walk topic-id-core --walks 1000 --depth 200 --keep-going
  kwalk walk topic-id-core --keep-going --minimize 500     500 findings, grouped by shape
  kwalk walk old-client-expansion --without fault --without operator   no faults, no repairs
  kwalk walk topic-id-core --uniform                       uniform random choice""",
    "prove": """
  kwalk prove topic-id-core --depth 6 --property disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --property managers_agree --json
  kwalk prove ticket-lock --induction 5 --no-support""",
    "check": """
  kwalk check two-phase-commit         three engines, one verdict; 60 seconds by default
  kwalk check topic-id-core --property disk_matches_znode --seconds 30""",
    "hunt": """
  kwalk hunt old-client-expansion
  kwalk hunt old-client-expansion --variant 3.9.0 --seconds 120 --out hunts
  kwalk hunt --from cluster.json       start from the state of a real cluster""",
    "nightly": """
  kwalk nightly nightly.toml                       (format: docs/reference/nightly.md)
  kwalk nightly nightly.toml --out runs/monday --workers 2 --minutes 60
  kwalk nightly --resume runs/monday               continue an interrupted run""",
    "audit": """
  kwalk audit                          every announced fix
  kwalk audit my_package.my_fixes:FIXES --workers 2 --html
  kwalk audit fencing --seconds 300 --markdown docs/fixes.md""",
    "mutate": """
  kwalk mutate two-phase-commit            do its properties detect small mistakes?
  kwalk mutate two-phase-commit --operator dropped-guard --list
  kwalk mutate my_package.my_model:STORY --explained survivors.toml --workers 2""",
    "explain": """
  kwalk explain first.json second.json third.json     what happened between them?
  kwalk explain captures/*.json --variant 3.9.0       and could it have happened in another version?""",
    "replay": """
  kwalk replay kwalk-out/found.itf.json
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?""",
    "shrink": """
  kwalk shrink kwalk-out/found.itf.json                as short as possible, in a minute at most
  kwalk shrink kwalk-out/found.itf.json --seconds 600  or until no shorter one is known to exist""",
    "show": """
  kwalk show found.itf.json --unfold
  kwalk show found.itf.json --format markdown > found.md""",
    "graph": """
  kwalk graph die-hard                     a DOT file of all states, with figures
  kwalk graph old-client-expansion --most 100 --label state
  kwalk graph lost-update --flag lock=on --json""",
    "compare": """
  kwalk compare runs/monday runs/tuesday              exit code 12: newly broken, 3: less is known
  kwalk compare runs/monday runs/tuesday --html new.html""",
    "page": """
  kwalk page runs/tuesday --before runs/monday""",
    "illustrate": """
  kwalk illustrate docs/story.md           draw its counterexamples again
  kwalk illustrate docs/*.md --check       check that they are up to date""",
}
ENDING = """exit codes: 0 holds, 2 usage error, 3 undecided, 11 deadlock, 12 violated, 13 bad stable state,
14 not reachable, 70 internal error.
A scenario is a name that `kwalk scenarios` lists, or package.module:NAME for your own model."""
