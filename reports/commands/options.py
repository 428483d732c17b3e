"""What the commands take: one parser, and every option with its meaning."""
from __future__ import annotations

import argparse
from typing import Any, NoReturn

from reports.commands import values
from reports.commands.examples import ENDING, EXAMPLES
from reports.escaping import visible

DEFAULT_OUT = "kwalk-out"


class Parser(argparse.ArgumentParser):
    """A parser that refuses with one line, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        """Print what is wrong and where help is, and exit."""
        self.exit(2, f"kwalk: {visible(message)}. See `{self.prog} --help`.\n")

    def print_help(self, file: Any = None) -> None:
        """Print the help; unlike argparse's own, this does not pass over an output that takes nothing."""
        print(self.format_help(), end="", file=file)


class _Version(argparse.Action):
    """Look the version up only when somebody asks."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        from reports.saving import version

        print(f"kwalk {version()}")
        parser.exit(0)


def parser() -> Parser:
    """The parser of the whole command."""
    top = Parser(
        prog="kwalk",
        description="Explore what a model can do, and show the shortest way to what it must not do.",
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
    _morning(commands)
    return top


def _command(commands: Any, name: str, about: str) -> Parser:
    made: Parser = commands.add_parser(
        name,
        help=about,
        description=f"{about[0].upper()}{about[1:]}.",
        epilog=f"examples:{EXAMPLES[name]}\n\n{ENDING}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    return made


def _listing(commands: Any) -> None:
    scenarios = _command(commands, "scenarios", "list the scenarios that can be explored")
    scenarios.add_argument("scenario", nargs="?", metavar="SCENARIO")
    scenarios.add_argument("--variants", action="store_true", help="also list variants with their flags, and bounds")
    scenarios.add_argument("--json", action="store_true", help="print one JSON object")
    invariants = _command(commands, "invariants", "list what must hold, and the symptom if it does not")
    invariants.add_argument("scenario", nargs="?", metavar="SCENARIO")
    invariants.add_argument("--json", action="store_true", help="print one JSON object")


def _searching(commands: Any) -> None:
    exhaust = _command(commands, "exhaust", "visit every state within the bounds")
    exhaust.add_argument("scenario", metavar="SCENARIO")
    _common(exhaust)
    exhaust.add_argument(
        "--memory", type=values.gibibytes, metavar="GIB", help="stop when states fill this much memory"
    )
    saves = "save a checkpoint there now and then, and when a budget or Ctrl-C ends the search"
    exhaust.add_argument("--checkpoint", type=values.given, metavar="DIR", help=saves)
    exhaust.add_argument("--every", type=values.seconds, metavar="N", help="seconds between checkpoints (1800)")
    exhaust.add_argument("--resume", action="store_true", help="go on from the checkpoint in DIR")
    names = "count states that differ only by the names of this domain's members as one, if Z3 shows that they may"
    exhaust.add_argument("--symmetry", metavar="DOMAIN", help=names)
    less = "leave out states that no verdict and no shortest trace depends on (partial-order reduction)"
    exhaust.add_argument("--reduce", action="store_true", help=less)
    disk = "search level by level on Spark, with states on disk (in DIR, else in OUT/states) instead of in memory"
    exhaust.add_argument("--spark", action="store_true", help=disk)
    others = "with --spark: a master, such as spark://host:7077, whose machines see the same DIR"
    exhaust.add_argument("--master", type=values.given, metavar="URL", help=others)
    parts = "with --spark: tasks of a level; the new states of each must fit into its memory (2 for each core)"
    exhaust.add_argument("--partitions", type=values.partitions, metavar="N", help=parts)

    walk = _command(commands, "walk", "take random walks")
    walk.add_argument("scenario", metavar="SCENARIO")
    _common(walk, seed=True)
    walk.add_argument("--walks", type=values.positive, metavar="N", help="how many walks")
    walk.add_argument("--depth", type=values.positive, metavar="N", help="steps of a walk, at most")
    _manner(walk)

    prove = _command(commands, "prove", "ask Z3 for the shortest violation, and for a proof that there is none")
    prove.add_argument("scenario", metavar="SCENARIO")
    _common(prove, parallel=False)
    prove.add_argument("--depth", type=values.natural, metavar="N", help="check what is not proved up to N steps (20)")
    back = "look back up to N steps in induction (3); 0 for none"
    prove.add_argument("--induction", type=values.natural, metavar="N", help=back)
    prove.add_argument("--no-support", action="store_true", help="do not search for supporting invariants")

    check = _command(commands, "check", "ask exhaustive search, random walks and Z3, and compare what they say")
    check.add_argument("scenario", metavar="SCENARIO")
    _common(check, seed=True, keep_going=False)

    hunt = _command(commands, "hunt", "find a counterexample: exhaust, then Spark walks, then shrink, then report")
    hunt.add_argument("scenario", nargs="?", metavar="SCENARIO")
    hunt.add_argument("--from", dest="snapshot", metavar="SNAPSHOT", help="begin where a real system stands")
    _common(hunt, seed=True)
    _manner(hunt)


def _manner(command: Parser) -> None:
    """How walks choose their steps."""
    kept = "let walks take only what this actor does, or this action (repeatable)"
    command.add_argument("--only", action="append", default=[], type=values.given, metavar="NAME", help=kept)
    left = "let walks take nothing that this actor does, or not this action (repeatable)"
    command.add_argument("--without", action="append", default=[], type=values.given, metavar="NAME", help=left)
    alike = "let all walks take all steps equally likely, instead of a swarm that prefers what is rare"
    command.add_argument("--uniform", action="store_true", help=alike)


def _nightly(commands: Any) -> None:
    nightly = _command(commands, "nightly", "explore many scenarios on Spark, in a run that cannot be lost")
    nightly.add_argument("config", nargs="?", metavar="CONFIG", help="a TOML file: what to explore, and for how long")
    nightly.add_argument("--resume", type=values.given, metavar="RUN", help="go on with the run in this folder")
    where = f"the folder of the run (one below {DEFAULT_OUT}, named after the time)"
    nightly.add_argument("--out", type=values.given, metavar="DIR", help=where)
    nightly.add_argument("--workers", type=values.workers, metavar="N", help="cores to use")
    cluster = "a Spark master, such as spark://host:7077, instead of this machine's cores"
    nightly.add_argument("--master", type=values.given, metavar="URL", help=cluster)
    budget = "all tasks together may walk so long, whatever the configuration says"
    nightly.add_argument("--minutes", type=values.minutes, metavar="M", help=budget)
    earlier = "an earlier run: the page of this one says what is new against it"
    nightly.add_argument("--before", type=values.given, metavar="RUN", help=earlier)
    nightly.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _auditing(commands: Any) -> None:
    audit = _command(commands, "audit", "try each fix off and on: what it closes, and what it does not")
    audit.add_argument("fixes", nargs="*", metavar="FIX", help="a fix's name, or package.module:FIXES of your own")
    audit.add_argument("--scenario", type=values.given, metavar="NAME", help="only the trials in this scenario")
    audit.add_argument("--seconds", type=values.seconds, metavar="N", help="for each search of a cell (60)")
    audit.add_argument("--workers", type=values.workers, metavar="N", help="cells to search at a time (1)")
    audit.add_argument("--prove", action="store_true", help="also try to prove what no search violates")
    audit.add_argument("--fresh", action="store_true", help="do not go on with what an earlier audit has found out")
    where = f"where traces go, and what an audit that is cut short goes on from ({DEFAULT_OUT})"
    audit.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    audit.add_argument("--markdown", type=values.given, metavar="FILE", help="also write the table as a document")
    audit.add_argument("--html", action="store_true", help="also write the table as a page into the folder of traces")
    audit.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _mutating(commands: Any) -> None:
    mutate = _command(commands, "mutate", "make small mistakes in a model, and see whether its invariants notice")
    about = "scenarios to try mutants on, or package.module:TRIALS of your own"
    mutate.add_argument("scenarios", nargs="+", metavar="SCENARIO", help=about)
    _subject(mutate)
    kind = "only mutants of this operator, such as dropped-guard (repeatable)"
    mutate.add_argument("--operator", action="append", default=[], choices=values.OPERATORS, metavar="NAME", help=kind)
    of = "only mutants of this function (repeatable)"
    mutate.add_argument("--function", action="append", default=[], type=values.given, metavar="NAME", help=of)
    mutate.add_argument("--sample", type=values.positive, metavar="N", help="only a random sample of so many mutants")
    mutate.add_argument("--seed", type=values.seed, default=0, metavar="N", help="which sample (0)")
    mutate.add_argument("--list", action="store_true", help="list the mutants and look at none")
    mutate.add_argument("--show", type=values.given, metavar="ID", help="look at this one only, and tell its story")
    mutate.add_argument("--seconds", type=values.seconds, metavar="N", help="for each search of a mutant (10)")
    mutate.add_argument("--workers", type=values.workers, metavar="N", help="mutants to look at at a time (1)")
    why = "a TOML file that says of survivors why no invariant needs to notice them"
    mutate.add_argument("--explained", type=values.given, metavar="FILE", help=why)
    mutate.add_argument("--fresh", action="store_true", help="do not go on with what an earlier run has found out")
    where = f"what a run that is cut short goes on from ({DEFAULT_OUT})"
    mutate.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    mutate.add_argument("--markdown", type=values.given, metavar="FILE", help="also write a document")
    mutate.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _explaining(commands: Any) -> None:
    explain = _command(commands, "explain", "find what happened between snapshots of a real system")
    explain.add_argument("snapshots", nargs="+", metavar="SNAPSHOT", help="JSON files, in the order of taking")
    explain.add_argument("--scenario", type=values.given, metavar="NAME", help="the scenario that reads them")
    other = "the variant to explain them with; the snapshots' own if not given"
    explain.add_argument("--variant", type=values.given, metavar="NAME", help=other)
    events = "assume at most N events between two snapshots (8)"
    explain.add_argument("--events", type=values.natural, metavar="N", help=events)
    explain.add_argument("--seconds", type=values.seconds, metavar="N", help="stop after this time (60)")
    where = f"where the trace and its page go ({DEFAULT_OUT})"
    explain.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    explain.add_argument("--unfold", action="store_true", help="show routine steps too")
    explain.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _graphing(commands: Any) -> None:
    graph = _command(commands, "graph", "draw the first states as a graph, and count what it is made of")
    graph.add_argument("scenario", metavar="SCENARIO")
    _subject(graph)
    graph.add_argument("--most", type=values.positive, metavar="N", help="draw at most N states (300)")
    says = "what the states say: what changed against their parent (if not given), or every part that varies"
    graph.add_argument("--label", choices=("changes", "state"), help=says)
    where = f"where the DOT file goes ({DEFAULT_OUT})"
    graph.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    graph.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _reading(commands: Any) -> None:
    replay = _command(commands, "replay", "take the steps of a saved trace anew, in plain Python")
    replay.add_argument("trace", metavar="TRACE")
    other = "replay in another variant than the trace's own"
    replay.add_argument("--variant", type=values.given, metavar="NAME", help=other)
    _flag(replay, "set a flag otherwise than the trace has it (repeatable)")
    replay.add_argument("--unfold", action="store_true", help="show routine steps too")
    replay.add_argument("--json", action="store_true", help="print one JSON object")

    shrink = _command(commands, "shrink", "minimize a saved trace, then try to prove that none is shorter")
    shrink.add_argument("trace", metavar="TRACE")
    shrink.add_argument("--seconds", type=values.seconds, metavar="N", help="stop after this time (60)")
    where = f"where the shorter trace and its page go ({DEFAULT_OUT})"
    shrink.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    shrink.add_argument("--unfold", action="store_true", help="show routine steps too")
    shrink.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    show = _command(commands, "show", "print a saved trace")
    show.add_argument("trace", metavar="TRACE")
    show.add_argument("--unfold", action="store_true", help="show routine steps too")
    formats = ("text", "markdown", "html", "itf")
    show.add_argument("--format", choices=formats, default="text", help="text if not given")
    show.add_argument("--out", type=values.given, metavar="DIR", help="write a file there instead of printing")

    illustrate = _command(commands, "illustrate", "draw the counterexamples that Markdown documents name")
    illustrate.add_argument("documents", nargs="+", metavar="FILE")
    illustrate.add_argument("--check", action="store_true", help="write nothing; exit with 12 if a diagram is stale")


def _morning(commands: Any) -> None:
    compare = _command(commands, "compare", "say what is new in a nightly run against an earlier one")
    compare.add_argument("before", type=values.given, metavar="RUN_A", help="the folder of the earlier run")
    compare.add_argument("after", type=values.given, metavar="RUN_B", help="the folder of the later run")
    compare.add_argument("--html", type=values.given, metavar="FILE", help="also write a page")
    compare.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    page = _command(commands, "page", "write the page of a nightly run anew")
    page.add_argument("run", type=values.given, metavar="RUN", help="the folder of the run; the page is its index.html")
    page.add_argument("--before", type=values.given, metavar="RUN", help="an earlier run, to say what is new")


def _flag(command: Parser, about: str) -> None:
    command.add_argument(
        "--flag", action="append", default=[], type=values.flag, metavar="NAME=SETTING", help=about
    )


def _subject(command: Parser) -> None:
    """Which model is explored, and which of its invariants are looked at."""
    command.add_argument(
        "--variant", type=values.given, metavar="NAME", help="the variant to explore; the scenario's first if not given"
    )
    command.add_argument(
        "--invariant", action="append", default=[], metavar="NAME", help="look at this one only (repeatable)"
    )
    command.add_argument(
        "--bound", action="append", default=[], type=values.bound, metavar="NAME=N", help="change a bound (repeatable)"
    )
    _flag(command, "set a flag otherwise than the variant has it (repeatable)")


def _common(command: Parser, *, seed: bool = False, parallel: bool = True, keep_going: bool = True) -> None:
    """Options of every search; a seed where there is chance in it, workers where it runs on several cores."""
    _subject(command)
    command.add_argument("--seconds", type=values.seconds, metavar="N", help="stop after this time")
    if seed:
        command.add_argument("--seed", type=values.seed, default=0, metavar="N", help="all choices come from it (0)")
    if parallel:
        command.add_argument("--workers", type=values.workers, metavar="N", help="cores to use")
    if parallel and keep_going:
        command.add_argument(
            "--keep-going", action="store_true", help="do not stop at the first violation; count everything"
        )
        shapes = "with --keep-going, minimize the first N findings and group them by shape (100; 0 for none)"
        command.add_argument("--minimize", type=values.natural, metavar="N", help=shapes)
    where = f"where traces and pages go ({DEFAULT_OUT})"
    command.add_argument("--out", type=values.given, default=DEFAULT_OUT, metavar="DIR", help=where)
    command.add_argument("--unfold", action="store_true", help="show routine steps too")
    command.add_argument("--json", action="store_true", help="print one JSON object instead of text")
