"""The command line: a table of all commands with their options, help texts and examples, and its parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from kwalk.reports.commands import values
from kwalk.reports.commands.values import given, natural, positive, seconds, seed, workers
from kwalk.reports.escaping import visible

DEFAULT_OUT = "kwalk-out"
CODES = """0 holds, 2 usage error, 3 undecided, 11 deadlock, 12 violated, 13 bad stable state,
14 not reachable, 15 cannot fail, 16 holds with gaps (--strict), 70 internal error"""
ENDING = """exit codes: {codes}.
A scenario is a name that `kwalk scenarios` lists, or package.module:NAME for your own model."""


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
        from kwalk.model.language.distributions import kwalk_version

        print(f"kwalk {kwalk_version()}")
        parser.exit(0)


def parser(words: Sequence[str] = ()) -> Parser:
    """Return the parser of commands; it sets `entry_point` to the module and function of the chosen one.

    If the command line begins with the name of a command, the parser has that command only: all others take some 10 ms.
    """
    raw = argparse.RawDescriptionHelpFormatter
    about = "Model checker: find the shortest behaviour of a model that violates a property."
    top = Parser(prog="kwalk", description=about, epilog=ENDING.format(codes=CODES), formatter_class=raw)
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = {name: each for name, each in COMMANDS.items() if words and words[0] in (name, *each.aliases)}
    for name, command in (chosen or COMMANDS).items():
        made = commands.add_parser(
            name,
            aliases=command.aliases,
            help=command.about,
            formatter_class=raw,
            allow_abbrev=False,
            description=f"{command.about[0].upper()}{command.about[1:]}.",
            epilog=f"examples:{command.examples}\n\n{ENDING.format(codes=command.codes)}",
        )
        made.set_defaults(entry_point=command.entry_point)
        for argument, settings in command.arguments:
            made.add_argument(argument, **settings)
    return top


Argument = tuple[str, dict[str, Any]]
"""An argument of a command: its name, and the keywords of `add_argument`."""


class Command(NamedTuple):
    """A command: the module (in `kwalk.reports.commands`) and function that run it, what it does, and its arguments."""

    entry_point: str
    about: str
    arguments: tuple[Argument, ...]
    examples: str
    aliases: Sequence[str]
    codes: str


def _command(
    entry_point: str, about: str, *arguments: Argument, examples: str, aliases: Sequence[str] = (), codes: str = CODES
) -> Command:
    return Command(entry_point, about, arguments, examples, aliases, codes)


def _argument(name: str, metavar: str, about: str | None = None, **settings: Any) -> Argument:
    return name, {"metavar": metavar, "help": about, **settings}


def _option(name: str, kind: Callable[[str], Any], metavar: str, about: str, **settings: Any) -> Argument:
    """Return an option with a value."""
    return name, {"type": kind, "metavar": metavar, "help": about, **settings}


def _repeatable(name: str, kind: Callable[[str], Any], metavar: str, about: str, **settings: Any) -> Argument:
    """Return an option whose values are collected in a list."""
    return _option(name, kind, metavar, f"{about} (repeatable)", action="append", default=[], **settings)


def _switch(name: str, about: str) -> Argument:
    """Return an option without a value."""
    return name, {"action": "store_true", "help": about}


def _out(what: str) -> Argument:
    return _option("--out", given, "DIR", f"{what} (default: {DEFAULT_OUT})", default=DEFAULT_OUT)


# Arguments of several commands.

SCENARIO = _argument("scenario", "SCENARIO")
ANY_SCENARIO = _argument("scenario", "SCENARIO", nargs="?")
TRACE = _argument("trace", "TRACE")
JSON = _switch("--json", "print one JSON object instead of text")
ONLY_JSON = _switch("--json", "print one JSON object")
UNFOLD = _switch("--unfold", "also show routine steps")
MARKDOWN = _option("--markdown", given, "FILE", "also write a Markdown document")
SECONDS = _option("--seconds", seconds, "N", "time budget in seconds")
SIXTY_SECONDS = _option("--seconds", seconds, "N", "time budget in seconds (default: 60)")
SEED = _option("--seed", seed, "N", "seed of all random choices (default: 0)", default=0)
WORKERS = _option("--workers", workers, "N", "number of cores")
SUBJECT = (
    _option("--variant", given, "NAME", "the variant (default: the first one)"),
    _repeatable(
        "--property", str, "NAME", "check only this property, or this instance of one; --invariant is an alias"
    ),
    ("--invariant", {"action": "append", "dest": "property", "help": argparse.SUPPRESS}),
    _repeatable("--bound", values.bound, "NAME=N", "change a bound"),
    _repeatable(
        "--flag", values.flag, "NAME=SETTING", "change a flag of the variant: on, off, or the name of a setting"
    ),
    _repeatable("--constraint", given, "NAME", "apply this optional constraint of the scenario"),
)
"""The model, and the properties to check."""
KEEP_GOING = (
    _switch(
        "--keep-going", "do not stop at the first violation: count all, and save a trace for each violated instance"
    ),
    _option(
        "--minimize",
        natural,
        "N",
        "with --keep-going, minimize the first N findings and group them by shape (default: 100; 0 for none)",
    ),
)
HTML = _switch(
    "--html", "also write an HTML page into the folder of --out, with charts, and links to the pages of traces"
)
WATCH = _switch(
    "--watch",
    "while the search runs, write watch.html into the folder of --out: progress and charts, every two seconds",
)
STRICT = _switch("--strict", "end with 16 if nothing is violated and not all was tested, as a bound cuts off steps")
RESULTS = (STRICT, _out("folder of traces and pages"), UNFOLD, HTML, WATCH, JSON)
STEPS = (
    _repeatable(
        "--only",
        given,
        "NAME",
        "walks take only actions of this actor (fault, broker 2) or this action (crash); an exhaustive part takes all",
    ),
    _repeatable(
        "--without",
        given,
        "NAME",
        "walks take no action of this actor, or not this action; quiescent states are judged by all actions",
    ),
    _switch("--uniform", "choose all enabled steps with equal probability, instead of a swarm that prefers rare ones"),
)
"""The steps that walks choose."""

COMMANDS = {
    "scenarios": _command(
        "listing:scenarios",
        "list the scenarios",
        ANY_SCENARIO,
        _switch("--variants", "also list bounds, and variants with their flags"),
        ONLY_JSON,
        examples="""
  kwalk scenarios                      all scenarios
  kwalk scenarios --variants           with variants, flags and bounds
  kwalk scenarios lost-update --variants""",
    ),
    "properties": _command(
        "listing:properties",
        "list the properties, and the symptoms of their violations",
        ANY_SCENARIO,
        ONLY_JSON,
        examples="""
  kwalk properties                     of every scenario
  kwalk properties topic-id-core       of one, with the symptoms that users see""",
        aliases=("invariants",),
    ),
    "exhaust": _command(
        "search:exhaust",
        "visit every reachable state within the bounds",
        SCENARIO,
        *SUBJECT,
        SECONDS,
        WORKERS,
        *KEEP_GOING,
        *RESULTS,
        _option(
            "--memory",
            values.gibibytes,
            "GIB",
            "stop when the search uses this much memory, in GiB; "
            "with --spark, when the new states of a task do (default: 1)",
        ),
        _option(
            "--checkpoint",
            given,
            "DIR",
            "save checkpoints there at intervals, and when a budget or Ctrl-C ends the search",
        ),
        _option("--every", seconds, "N", "seconds between checkpoints (default: 1800)"),
        _switch("--resume", "continue from the checkpoint in DIR; only budgets and the number of workers may differ"),
        _argument(
            "--symmetry",
            "DOMAIN",
            "visit one state for all that differ by a permutation of this domain, if Z3 proves that they are "
            "symmetric; not with --reduce, --spark or --checkpoint",
        ),
        _switch(
            "--reduce",
            "skip states that no verdict and no shortest trace depends on (partial-order reduction); the first time, "
            "dependencies are computed for seconds to minutes",
        ),
        _switch(
            "--interpreter",
            "execute plain Python in place of compiled code, some hundred states per second on one core: an "
            "independent check, and faster for large models with few states; not with --reduce, --symmetry or --spark",
        ),
        _switch(
            "--spark",
            "search level by level on Spark, with states on disk (in DIR, otherwise in OUT/states), not in memory; "
            "not with --symmetry, --reduce or --every",
        ),
        _option(
            "--master",
            given,
            "URL",
            "with --spark: a Spark master, such as spark://host:7077, whose machines share DIR",
        ),
        _option(
            "--partitions",
            values.partitions,
            "N",
            "with --spark: tasks of a level; the new states of a task must fit into memory (default: 2 per core; "
            "rounded up to a power of two)",
        ),
        examples="""
  kwalk exhaust two-phase-commit
  kwalk exhaust topic-id-core --bound restarts=1 --property disk_matches_znode
  kwalk exhaust lost-update --flag lock=on
  kwalk exhaust topic-id-core --reduce          fewer states, the same verdict
  kwalk exhaust my_package.my_model:STORY --keep-going --json
  kwalk exhaust topic-id-core --checkpoint saved           can be killed at any time,
  kwalk exhaust topic-id-core --checkpoint saved --resume  and continues from there
  kwalk exhaust topic-id-core --spark --keep-going         with states on disk, on any number of machines""",
    ),
    "walk": _command(
        "search:walk",
        "take random walks",
        SCENARIO,
        *SUBJECT,
        SECONDS,
        SEED,
        WORKERS,
        *KEEP_GOING,
        *RESULTS,
        _option("--walks", positive, "N", "number of walks"),
        _option("--depth", positive, "N", "the largest number of steps of a walk"),
        *STEPS,
        examples="""
  kwalk walk topic-id-core --seconds 10 --seed 7
  kwalk walk topic-id-core --walks 1000 --depth 200 --keep-going
  kwalk walk topic-id-core --keep-going --minimize 500     500 findings, grouped by shape
  kwalk walk old-client-expansion --without fault --without operator   no faults, no repairs
  kwalk walk topic-id-core --uniform                       uniform random choice""",
    ),
    "prove": _command(
        "search:prove",
        "prove properties with Z3, or find the shortest violation",
        SCENARIO,
        *SUBJECT,
        SECONDS,
        *RESULTS,
        _option("--depth", natural, "N", "check unproved properties up to N steps (default: 20)"),
        _option("--induction", natural, "N", "the largest k of k-induction (default: 3); 0 for no induction"),
        _switch("--no-support", "do not search for supporting invariants"),
        examples="""
  kwalk prove topic-id-core --depth 6 --property disk_matches_znode
  kwalk prove two-phase-commit --seconds 60
  kwalk prove two-phase-commit --property managers_agree --json
  kwalk prove ticket-lock --induction 5 --no-support""",
    ),
    "check-certificate": _command(
        "certificate:run_check_certificate",
        "check proofs that `kwalk prove --json` printed again, without Z3",
        _argument("proof", "PROOF", "a JSON file"),
        _option("--scenario", given, "NAME", "the scenario of the proof (default: the one that the file names)"),
        JSON,
        examples="""
  kwalk prove two-phase-commit --json > proof.json; kwalk check-certificate proof.json
  kwalk check-certificate proof.json --json""",
        codes="0 confirmed, 2 usage error, 3 undecided, 12 refused, 70 internal error",
    ),
    "check": _command(
        "search:check",
        "run exhaustive search, random walks and Z3, and compare their verdicts",
        SCENARIO,
        *SUBJECT,
        SIXTY_SECONDS,
        SEED,
        WORKERS,
        *RESULTS,
        examples="""
  kwalk check two-phase-commit         three engines, one verdict; 60 seconds by default
  kwalk check topic-id-core --property disk_matches_znode --seconds 30""",
    ),
    "hunt": _command(
        "search:hunt",
        "find a counterexample: exhaustive search, then walks on Spark, then minimize",
        ANY_SCENARIO,
        _argument(
            "--from",
            "SNAPSHOT",
            "start from the state of a real system; an installed scenario that reads it is found",
            dest="snapshot",
        ),
        *SUBJECT,
        SIXTY_SECONDS,
        SEED,
        WORKERS,
        *KEEP_GOING,
        *RESULTS,
        *STEPS,
        examples="""
  kwalk hunt old-client-expansion
  kwalk hunt old-client-expansion --variant 3.9.0 --seconds 120 --out hunts
  kwalk hunt --from cluster.json       start from the state of a real cluster""",
    ),
    "nightly": _command(
        "nightly:run_nightly",
        "search many scenarios on Spark, in a run that can be resumed",
        _argument("config", "CONFIG", "a TOML file: what to search, and for how long", nargs="?"),
        _option("--resume", given, "RUN", "resume the run in this folder"),
        _option(
            "--out", given, "DIR", f"the folder of the run (default: one below {DEFAULT_OUT}, named after the time)"
        ),
        WORKERS,
        _option("--master", given, "URL", "a Spark master, such as spark://host:7077, instead of this machine's cores"),
        _option(
            "--minutes",
            values.minutes,
            "M",
            "time budget of all tasks together, in minutes; overrides the configuration",
        ),
        _option("--before", given, "RUN", "an earlier run that the page of this run compares with"),
        JSON,
        examples="""
  kwalk nightly nightly.toml                       (format: docs/reference/nightly.md)
  kwalk nightly nightly.toml --out runs/monday --workers 2 --minutes 60
  kwalk nightly --resume runs/monday               continue an interrupted run""",
    ),
    "audit": _command(
        "audit:run_audit",
        "search each trial of a fix with the fix off and on",
        _argument("fixes", "FIX", "a fix's name, or package.module:FIXES of your own", nargs="*"),
        _option("--scenario", given, "NAME", "only the trials in this scenario"),
        _option("--seconds", seconds, "N", "time budget of each search, in seconds (default: 60)"),
        _option("--workers", workers, "N", "number of parallel searches (default: 1)"),
        _switch("--prove", "also try to prove properties that no search violates"),
        _switch("--fresh", "ignore saved outcomes of an earlier audit"),
        _out("folder of traces and of saved outcomes"),
        MARKDOWN,
        _switch("--html", "also write an HTML page into the folder of traces"),
        JSON,
        examples="""
  kwalk audit                          every announced fix
  kwalk audit my_package.my_fixes:FIXES --workers 2 --html
  kwalk audit fencing --seconds 300 --markdown docs/fixes.md""",
    ),
    "mutate": _command(
        "mutate:run_mutate",
        "try small mistakes in a model, and report those that its properties do not detect",
        _argument(
            "scenarios", "SCENARIO", "scenarios to try mutants on, or package.module:TRIALS of your own", nargs="+"
        ),
        *SUBJECT,
        _repeatable(
            "--operator", str, "NAME", "only mutants of this operator, such as dropped-guard", choices=values.OPERATORS
        ),
        _repeatable("--function", given, "NAME", "only mutants of this function"),
        _option("--sample", positive, "N", "only a random sample of N mutants; a larger one has them all"),
        _option("--seed", seed, "N", "the seed of the sample (default: 0)", default=0),
        _switch("--list", "list the mutants without trying any"),
        _option("--show", given, "ID", "try this mutant only, and show the trace that decides it"),
        _option("--seconds", seconds, "N", "time budget of each mutant, in seconds (default: 10)"),
        _option("--workers", workers, "N", "number of mutants in parallel (default: 1)"),
        _option("--explained", given, "FILE", "a TOML file with reasons why no property needs to detect a survivor"),
        _switch("--fresh", "ignore saved outcomes of an earlier run"),
        _out("folder of saved outcomes"),
        MARKDOWN,
        HTML,
        JSON,
        examples="""
  kwalk mutate two-phase-commit            do its properties detect small mistakes?
  kwalk mutate two-phase-commit --operator dropped-guard --list
  kwalk mutate my_package.my_model:STORY --explained survivors.toml --workers 2""",
    ),
    "selftest": _command(
        "selftest:run_selftest",
        "compare kwalk with an independent oracle on random models",
        _option("--models", natural, "N", "number of random models (default: 200)", default=200),
        _option("--snippets", natural, "N", "number of random snippets (default: 2000)", default=2000),
        _option("--seed", seed, "N", "the seed of the first model (default: 0)", default=0),
        SECONDS,
        _option("--workers", workers, "N", "number of processes (default: 1)"),
        _switch("--resume", "continue the run whose log is in the folder of --out"),
        _out("folder of the models that show a difference, and of the log"),
        JSON,
        examples="""
  kwalk selftest                                   does plain Python mean what machine code and Z3 mean?
  kwalk selftest --models 20000 --snippets 100000 --workers 2
  kwalk selftest --workers 2 --resume              continue it after an interrupt""",
    ),
    "explain": _command(
        "explain:run_explain",
        "find a behaviour that passes through snapshots of a real system",
        _argument("snapshots", "SNAPSHOT", "JSON files, in the order in which they were taken", nargs="+"),
        _option("--scenario", given, "NAME", "the scenario that reads them"),
        _option("--variant", given, "NAME", "the variant of the model (default: that of the snapshots)"),
        _option("--events", natural, "N", "assume at most N events between two snapshots (default: 8)"),
        _option("--logs", given, "DIR", "the folder with the system's logs: the behaviour passes through their lines"),
        _option(
            "--log-tolerance",
            seconds,
            "SECONDS",
            "by how much clocks of the system and of the snapshots may differ (default: 1)",
        ),
        _option(
            "--log-zone",
            values.zone,
            "+HH:MM",
            "the time zone of the times in the logs (default: UTC; --log-zone=-05:00 in the west)",
        ),
        SIXTY_SECONDS,
        _out("folder of the trace and its page"),
        UNFOLD,
        JSON,
        examples="""
  kwalk explain first.json second.json third.json     what happened between them?
  kwalk explain captures/*.json --variant 3.9.0       and could it have happened in another version?
  kwalk explain captures/*.json --logs logs           and what do the logs say that snapshots do not?""",
        codes="0 a behaviour fits, 2 usage error, 3 undecided, 12 no behaviour fits, 70 internal error",
    ),
    "collect": _command(
        "collect:run_collect",
        "take a snapshot of a running system, without writing anything to it",
        _argument(
            "zookeeper",
            "ZOOKEEPER",
            "HOST:PORT[,HOST:PORT ...][/CHROOT], as in the brokers' zookeeper.connect",
            nargs="?",
        ),
        _option("--release", values.version, "VERSION", "the version of the brokers, such as 2.8.2; needed"),
        _repeatable(
            "--logs",
            given,
            "[ID=]PLACE",
            "log directories: a folder, the output of --script, a tar archive, or ssh://[USER@]HOST/FOLDER, "
            "with {host} for that of each broker",
        ),
        _repeatable("--topic", given, "NAME", "only this topic, or those that fit a pattern such as orders-*"),
        _switch("--no-metadata", "do not ask brokers for their metadata caches"),
        _option("--ssh", given, "COMMAND", "the command in place of ssh, with its options"),
        _option("--sasl", given, "USER", "authenticate to ZooKeeper with SASL (DIGEST-MD5)"),
        _option("--digest", given, "USER", "authenticate to ZooKeeper with its scheme digest"),
        _option("--password-file", given, "FILE", "the password (default: KWALK_ZOOKEEPER_PASSWORD)"),
        _switch("--tls", "encrypt the connection to ZooKeeper"),
        _option("--tls-ca", given, "FILE", "certificates of the authorities to trust (default: the system's)"),
        _option("--tls-cert", given, "FILE", "the client's certificate, with --tls-key"),
        _option("--tls-key", given, "FILE", "the key of the client's certificate"),
        _option(
            "--seconds",
            seconds,
            "N",
            "patience for the log directories of one machine (default: 120), and for ZooKeeper (at most 30)",
        ),
        _option("--out", given, "FILE", f"the snapshot (default: {DEFAULT_OUT}/snapshot-TIME.json)"),
        _switch("--script", "print a shell script that lists log directories on a machine without kwalk"),
        JSON,
        examples="""
  kwalk collect zk-1:2181 --release 2.8.2 --logs 'ssh://{host}/data/logs'     every broker, by ssh
  kwalk collect zk-1:2181/prod --release 3.4.1 --logs 1=/data/logs --topic orders
  kwalk collect --script > list_logs.sh; sh list_logs.sh /data/logs > broker-1.txt
  kwalk collect zk-1:2181 --release 2.8.2 --logs 1=broker-1.txt --out now.json""",
    ),
    "inspect": _command(
        "inspect:run_inspect",
        "inspect snapshots of a real system: what is wrong now, what comes next, the way out",
        _argument("snapshots", "SNAPSHOT", "JSON files", nargs="+"),
        _option("--scenario", given, "NAME", "the scenario that inspects them (default: the first one that can)"),
        _option("--most", positive, "N", "show at most N places of each kind (default: 5)"),
        _option("--html", given, "FILE", "also write the page of the incident, with a plan of repair"),
        MARKDOWN,
        _option("--csv", given, "FILE", "also write all findings as CSV"),
        _option("--parquet", given, "FILE", "also write all findings as Parquet"),
        ("--prometheus", {"action": "store_true", "help": "print gauges in Prometheus' text format instead of text"}),
        JSON,
        examples="""
  kwalk inspect cluster.json                   is the cluster consistent, latently damaged, or broken?
  kwalk inspect cluster.json --html now.html   a page to read and to hand on: what, why, and the way out
  kwalk inspect fleet/*.json --csv found.csv   a table of many clusters""",
        codes="0 consistent, 2 usage error, 12 broken now, 13 damage that shows later, 70 internal error",
    ),
    "recover": _command(
        "recover:run_recover",
        "plan the repair of a real system from its snapshot, step by step, with commands",
        _argument("snapshot", "SNAPSHOT", "a JSON file"),
        _option("--scenario", given, "NAME", "the scenario that makes plans from it"),
        _option("--seconds", seconds, "N", "time budget (default: 120)"),
        _option("--html", given, "FILE", "also write the page of the incident"),
        MARKDOWN,
        ONLY_JSON,
        examples="""
  kwalk recover cluster.json                   the shortest plan that one fault does not defeat
  kwalk recover cluster.json --json            for a script""",
        codes="0 a plan or nothing to do, 2 usage error, 3 undecided, 12 no plan is safe, 70 internal error",
    ),
    "lab": _command(
        "lab:run_lab",
        "start real brokers on this machine, look at them, and repeat there what stories say",
        (
            "action",
            {
                "metavar": "ACTION",
                "choices": ("fetch", "start", "capture", "list", "reproduce", "replay", "fuzz"),
                "help": "fetch: download what releases need; start: run a cluster until Ctrl-C; capture: print a "
                "snapshot of a running cluster; list: list the experiments; reproduce: run experiments; replay: drive "
                "a cluster along traces; fuzz: run random histories, and explain them",
            },
        ),
        _argument(
            "names",
            "NAME",
            "fetch: releases; capture: the folder of the cluster; reproduce: experiments; replay: traces",
            nargs="*",
        ),
        _repeatable(
            "--release", values.release, "VERSION", "the version of the brokers, or ID=VERSION of one (default: 3.9.0)"
        ),
        _option("--brokers", positive, "N", "number of brokers, 1 to 5 (default: 3)"),
        _switch("--proxied", "put proxies between brokers, and between each and ZooKeeper"),
        _option(
            "--seconds",
            seconds,
            "N",
            "start: end the cluster after this time; fuzz: time to explain a history (default: 60)",
        ),
        _option(
            "--rounds",
            positive,
            "N",
            "reproduce: number of rounds (default: that of the experiment); fuzz: histories (default: 10)",
        ),
        _option("--seed", natural, "N", "fuzz: the seed of the histories (default: 0)"),
        _option("--operations", positive, "N", "fuzz: operations of a history (default: 12)"),
        _switch("--minimize", "fuzz: leave out operations of misfits that are not needed for them"),
        _out("folder of the cluster's data and logs, of the evidence, or of the cases"),
        _switch("--json", "reproduce, replay, fuzz: print one JSON object instead of text"),
        examples="""
  kwalk lab fetch 2.8.2 3.9.0                      download what these versions need, once
  kwalk lab start --release 2.8.2                  three brokers until Ctrl-C
  kwalk lab start --brokers 2 --release 3.4.1 --release 1=2.8.0
  kwalk lab capture kwalk-out/lab > now.json       a snapshot; then: kwalk hunt --from now.json
  kwalk lab reproduce lost-deletion --release 3.9.0 --rounds 100
  kwalk lab replay kwalk-out/trace.itf.json        does a real cluster do what the counterexample says?
  kwalk lab fuzz --release 2.8.2 --rounds 20       has the model a behaviour for what real clusters do?""",
    ),
    "graph": _command(
        "graph:graph",
        "write the first states as a graph (DOT), and print its figures",
        SCENARIO,
        *SUBJECT,
        _option("--most", positive, "N", "draw at most N states (default: 300)"),
        (
            "--label",
            {
                "choices": ("changes", "state"),
                "help": "label of a state: its changes against its parent (default), or every part that varies",
            },
        ),
        _switch("--svg", "also draw the graph as SVG, which needs no Graphviz"),
        HTML,
        _out("folder of the DOT file"),
        JSON,
        examples="""
  kwalk graph die-hard                     a DOT file of all states, with figures
  kwalk graph old-client-expansion --most 100 --label state
  kwalk graph die-hard --html              a page: collapse it, colour it, follow the shortest path
  kwalk graph lost-update --flag lock=on --json""",
    ),
    "explore": _command(
        "explore:run_explore",
        "take the steps of a model by hand, on a page in the browser",
        ANY_SCENARIO,
        _argument("trace", "TRACE", "a saved trace to start with", nargs="?"),
        _argument("--from", "SNAPSHOT", "start from the state of a real system", dest="snapshot"),
        *SUBJECT,
        _option("--seconds", seconds, "N", "time budget of a search for the nearest violation (default: 10)"),
        _option("--memory", values.gibibytes, "GIB", "memory budget of that search, in GiB (default: 1)"),
        _option("--port", values.port, "N", "the port of the page (default: a free one)"),
        _switch("--open", "open the page in the browser"),
        _out("folder of saved traces"),
        examples="""
  kwalk explore two-phase-commit                   which steps are possible, and what do they do?
  kwalk explore kwalk-out/found.itf.json           start at the end of a counterexample
  kwalk explore --from cluster.json --open         start from the state of a real cluster""",
    ),
    "replay": _command(
        "traces:run_replay",
        "execute the steps of a saved trace again, in plain Python",
        TRACE,
        _option("--variant", given, "NAME", "replay in another variant"),
        _repeatable("--flag", values.flag, "NAME=SETTING", "change a flag of the trace"),
        UNFOLD,
        ONLY_JSON,
        examples="""
  kwalk replay kwalk-out/found.itf.json
  kwalk replay found.itf.json --variant 3.9.0     does another version still allow it?
  kwalk replay found.itf.json --flag lock=on      does this fix?""",
    ),
    "shrink": _command(
        "traces:run_shrink",
        "minimize a saved trace, then try to prove that no shorter one exists",
        TRACE,
        SIXTY_SECONDS,
        _out("folder of the shorter trace and its page"),
        UNFOLD,
        JSON,
        examples="""
  kwalk shrink kwalk-out/found.itf.json                as short as possible, in a minute at most
  kwalk shrink kwalk-out/found.itf.json --seconds 600  or until no shorter one is known to exist""",
    ),
    "show": _command(
        "traces:show",
        "print a saved trace",
        TRACE,
        UNFOLD,
        (
            "--format",
            {
                "choices": ("text", "markdown", "html", "itf"),
                "default": "text",
                "help": "default: text",
            },
        ),
        _option("--out", given, "DIR", "write a file there instead of printing"),
        examples="""
  kwalk show found.itf.json --unfold
  kwalk show found.itf.json --format markdown > found.md""",
    ),
    "compare": _command(
        "nightly:run_compare",
        "compare a nightly run with an earlier one",
        _argument("before", "RUN_A", "the folder of the earlier run", type=given),
        _argument("after", "RUN_B", "the folder of the later run", type=given),
        _option("--html", given, "FILE", "also write a page"),
        JSON,
        examples="""
  kwalk compare runs/monday runs/tuesday              exit code 12: newly broken, 3: less is known
  kwalk compare runs/monday runs/tuesday --html new.html""",
    ),
    "page": _command(
        "nightly:run_page",
        "write the page of a nightly run again",
        _argument("run", "RUN", "the folder of the run; the page is its index.html", type=given),
        _option("--before", given, "RUN", "an earlier run to compare with"),
        _option("--history", given, "DIR", "a folder of runs: trends, and when a cluster was first seen"),
        examples="""
  kwalk page runs/tuesday --before runs/monday
  kwalk page runs/tuesday --before runs/monday --history runs""",
    ),
}
