"""The table of options: what the command line, Python, pytest and the configurations of nights read.

An option is a field of a class here: its name, its type and kind of values, what it means, and what else is true of its
row (`Option`). An engine or an analysis accepts the fields of one class; `Unpack` of the class is what editors and mypy
know of its keywords.

The pytest plugin imports this module in every test run of every project, so that it imports the language of models only
for an error. The annotations are evaluated when the classes are made, because `rows` reads them: this module has no
`from __future__ import annotations`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from kwalk.search.base import option_kinds as kinds
from kwalk.search.base.option_kinds import OptionKind

DEFAULT_OUT = "kwalk-out"
"""The folder of what is written."""
PROFILES = ("dev", "ci", "nightly")
"""The profiles of Hypothesis, the usual one first."""


class Option(NamedTuple):
    """A row of the table.

    Args:
        kind: The kind of its values; None for a switch.
        about: What it means; "" if the command line has it in another way.
        default: The value without the option.
        word: Its name on the command line, where that is not the name of the field.
        alias: Another name on the command line.
        many: Whether it can be repeated on the command line; its value is a sequence, or a mapping by name.
        repeats: Whether the command that repeats a run has it.
        about_in_python: What it means in Python, where that is not what the command line says.
    """

    kind: OptionKind | None
    about: str = ""
    default: Any = None
    word: str = ""
    alias: str = ""
    many: bool = False
    repeats: bool = True
    about_in_python: str = ""

    @property
    def description(self) -> str:
        """What it means in Python: other options are named as keywords."""
        text = self.about_in_python or re.sub(
            "--[a-z-]+", lambda name: f"`{name[0][2:].replace('-', '_')}`", self.about
        )
        return f"{text[0].upper()}{text[1:]}."

    def name_on_command_line(self, name: str) -> str:
        """Return the option as the command line has it."""
        return f"--{self.word or name.replace('_', '-')}"

    def check(self, name: str, value: Any) -> None:
        """Raise UsageError if a value is not allowed; what a model has, such as bounds, the model checks itself."""
        if value is None or isinstance(value, Mapping):
            return
        allowed = "True or False" if self.kind is None else self.kind.allowed_value or self.kind.allowed
        for each in _values(value) if self.many else (value,):
            if not (isinstance(each, bool) if self.kind is None else self.kind.holds(each)):
                from kwalk.model.language.errors import UsageError, unknown

                if self.kind is not None and self.kind.choices:
                    raise unknown(name, str(each), self.kind.choices)
                raise UsageError(f"`{name}` must be {allowed} (got {each!r}).")

    def words(self, name: str, value: Any) -> Iterator[str]:
        """Yield the words of a command line that give the option a value; none for no value."""
        option = self.name_on_command_line(name)
        if self.kind is None:
            yield from [] if value in (None, self.default) else [option]
            return
        values = value.items() if isinstance(value, Mapping) else value if self.many else [value]
        for each in values if value is not None else ():
            one = self.kind.text(each)
            yield from [f"{option}={one}"] if one.startswith("-") else [option, one]  # as a word it would be an option


def words_of(values: Mapping[str, Any], table: Mapping[str, Option]) -> list[str]:
    """Return the words of a command line that repeats a run: single values, then repeatable ones, then switches.

    Args:
        values: The values by the name of the option; one that is missing is not given.
        table: The rows of the command.
    """
    order = sorted(table.items(), key=lambda item: (item[1].kind is None, item[1].many))
    return [word for name, row in order if row.repeats for word in row.words(name, values.get(name))]


@cache
def rows(*groups: type) -> Mapping[str, Option]:
    """Return the rows of the fields of classes, by name, in their order."""
    return {name: _row(*each.__metadata__) for group in groups for name, each in group.__annotations__.items()}


def _row(kind: Option, about: str, more: Mapping[str, Any] | None = None) -> Option:
    return kind._replace(about=about, **(more or {}))


def complete(group: type, options: Mapping[str, object]) -> dict[str, Any]:
    """Return checked options, with the defaults of those that are left out or None.

    Args:
        group: The class that declares what is accepted.
        options: Values by name, as keywords have them.

    Raises:
        UsageError: There is no option of a name, or a value is not allowed.
    """
    table = rows(group)
    for name, value in options.items():
        if name not in table:
            from kwalk.model.language.errors import unknown

            raise unknown("option", name, table)
        table[name].check(name, value)
    values = {name: row.default if options.get(name) is None else options[name] for name, row in table.items()}
    return {name: _values(value) if table[name].many else value for name, value in values.items()}


def present(values: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Return the values of some names that are not None: what takes them has its own defaults."""
    return {name: values[name] for name in names if values[name] is not None}


def _values(value: Any) -> Any:
    """Return several values; one alone is one of them."""
    return value if isinstance(value, Iterable) and not isinstance(value, str) else (value,)


Switch = Annotated[bool, Option(None, default=False)]
Name = Annotated[str | None, Option(kinds.NAME)]
Names = Annotated[Iterable[str] | None, Option(kinds.NAME, default=(), many=True)]
Place = Annotated[str | Path | None, Option(kinds.DIR)]
Seconds = Annotated[float | None, Option(kinds.SECONDS)]
Bytes = Annotated[int | None, Option(kinds.MEMORY, word="memory")]
Count = Annotated[int | None, Option(kinds.POSITIVE)]
Limit = Annotated[int | None, Option(kinds.NATURAL)]
Cores = Annotated[int | None, Option(kinds.WORKERS)]
Number = Annotated[int, Option(kinds.SEED, default=0)]
UNREPEATED = {"repeats": False}


class Properties(TypedDict, total=False):
    """The properties to check: in Python, the argument after the scenario."""

    properties: Annotated[
        Names,
        "check only this property, or this instance of one; --invariant is an alias",
        {"word": "property", "alias": "--invariant"},
    ]


class ModelKeywords(TypedDict, total=False):
    """The model of a scenario."""

    variant: Annotated[Name, "the variant (default: the first one)"]
    bounds: Annotated[
        Mapping[str, int] | None,
        Option(kinds.BOUND, default=(), many=True, word="bound"),
        "change a bound",
        {"about_in_python": "sizes that replace those of the scenario, by the name of the bound"},
    ]
    flags: Annotated[
        Mapping[str, Any] | None,
        Option(kinds.FLAG, default=(), many=True, word="flag"),
        "change a flag of the variant: on, off, or the name of a setting",
        {"about_in_python": "settings that replace those of the variant, by the name of the flag"},
    ]
    constraints: Annotated[Names, "apply this optional constraint of the scenario", {"word": "constraint"}]


class Time(TypedDict, total=False):
    """A time budget."""

    seconds: Annotated[Seconds, "time budget in seconds"]


class Minute(TypedDict, total=False):
    """A time budget with a default."""

    seconds: Annotated[Seconds, "time budget in seconds (default: 60)"]


class Seed(TypedDict, total=False):
    """What random choices derive from."""

    seed: Annotated[Number, "seed of all random choices (default: 0)"]


class Threads(TypedDict, total=False):
    """How many cores work."""

    workers: Annotated[Cores, "number of cores"]


class KeepGoing(TypedDict, total=False):
    """Whether a search ends at the first violation."""

    keep_going: Annotated[
        Switch, "do not stop at the first violation: count all, and save a trace for each violated instance"
    ]


class Violations(KeepGoing, total=False):
    """Which violations are counted, minimized and grouped."""

    minimize: Annotated[
        Limit, "with --keep-going, minimize the first N findings and group them by shape (default: 100; 0 for none)"
    ]


class Strictness(TypedDict, total=False):
    """What counts as an answer."""

    strict: Annotated[
        Switch,
        "end with 16 if nothing is violated and not all was tested, as a bound cuts off steps",
        {"about_in_python": 'whether the answer is "holds with gaps" if not all was tested'},
    ]


class Steps(TypedDict, total=False):
    """The steps that walks choose."""

    only: Annotated[
        Names,
        "walks take only actions of this actor (fault, broker 2) or this action (crash); an exhaustive part takes all",
    ]
    without: Annotated[
        Names, "walks take no action of this actor, or not this action; quiescent states are judged by all actions"
    ]
    uniform: Annotated[
        Switch, "choose all enabled steps with equal probability, instead of a swarm that prefers rare ones"
    ]


class Folder(TypedDict, total=False):
    """Where a search writes; on the command line, that is `--out`, the folder of traces and pages."""

    out: Annotated[Place, "", {"about_in_python": "folder of what the search writes"}]


# What each engine and analysis accepts.


class ExhaustKeywords(ModelKeywords, Time, Threads, Violations, Strictness, Folder, total=False):
    """The options of exhaustive search."""

    memory_bytes: Annotated[
        Bytes,
        "stop when the search uses this much memory, in GiB; with --spark, when the new states of a task do "
        "(default: 1)",
        {"about_in_python": "memory budget in bytes; None for a share of the free memory"},
    ]
    checkpoint: Annotated[
        Place, "save checkpoints there at intervals, and when a budget or Ctrl-C ends the search", UNREPEATED
    ]
    every: Annotated[Seconds, "seconds between checkpoints (default: 1800)", UNREPEATED]
    resume: Annotated[
        Switch, "continue from the checkpoint in DIR; only budgets and the number of workers may differ", UNREPEATED
    ]
    symmetry: Annotated[
        str | None,
        Option(kinds.text("DOMAIN")),
        "visit one state for all that differ by a permutation of this domain, if Z3 proves that they are symmetric; "
        "not with --reduce, --spark or --checkpoint",
    ]
    reduce: Annotated[
        Switch,
        "skip states that no verdict and no shortest trace depends on (partial-order reduction); the first time, "
        "dependencies are computed for seconds to minutes",
    ]
    symbolic: Annotated[
        Switch,
        "compute sets of states as decision diagrams in place of single states: less memory where brokers and topics "
        "do most things independently; on one core; not with --reduce, --symmetry, --interpreter or --spark",
    ]
    interpreter: Annotated[
        Switch,
        "execute plain Python in place of compiled code, some hundred states per second on one core: an independent "
        "check, and faster for large models with few states; not with --reduce, --symmetry or --spark",
    ]
    spark: Annotated[
        Switch,
        "search level by level on Spark, with states on disk (in DIR, otherwise in OUT/states), not in memory; not "
        "with --symmetry, --reduce or --every",
    ]
    master: Annotated[
        str | None,
        Option(kinds.URL),
        "with --spark: a Spark master, such as spark://host:7077, whose machines share DIR",
    ]
    partitions: Annotated[
        int | None,
        Option(kinds.PARTITIONS),
        "with --spark: tasks of a level; the new states of a task must fit into memory (default: 2 per core; rounded "
        "up to a power of two)",
    ]


class WalkKeywords(ModelKeywords, Time, Seed, Threads, Violations, Strictness, Steps, total=False):
    """The options of random walks."""

    walks: Annotated[Count, "number of walks"]
    depth: Annotated[Count, "the largest number of steps of a walk"]


class ProveKeywords(ModelKeywords, Time, Strictness, total=False):
    """The options of proofs."""

    depth: Annotated[Limit, "check unproved properties up to N steps (default: 20)"]
    induction: Annotated[Limit, "the largest k of k-induction (default: 3); 0 for no induction"]
    support: Annotated[
        Switch,
        "do not search for supporting invariants",
        {"default": True, "word": "no-support", "about_in_python": "whether supporting invariants are searched for"},
    ]


class CheckKeywords(ModelKeywords, Minute, Seed, Threads, Strictness, total=False):
    """The options of a check by three engines."""


class HuntKeywords(ModelKeywords, Minute, Seed, Threads, Violations, Strictness, Folder, Steps, total=False):
    """The options of a hunt."""


class HypothesisKeywords(ModelKeywords, Time, Seed, KeepGoing, Strictness, total=False):
    """The options of a search by Hypothesis, for assertions."""

    profile: Annotated[str, Option(kinds.one_of(*PROFILES), default=PROFILES[0]), "settings of Hypothesis"]


class GraphKeywords(ModelKeywords, total=False):
    """The options of a state graph."""

    most: Annotated[Count, "draw at most N states (default: 300)"]


class ExploreKeywords(ModelKeywords, Folder, total=False):
    """The options of an exploration by hand."""

    seconds: Annotated[Seconds, "time budget in seconds of a search for the nearest violation (default: 10)"]
    memory_bytes: Annotated[
        Bytes,
        "memory budget of that search, in GiB (default: 1)",
        {"about_in_python": "memory budget of that search in bytes; None for 1 GiB"},
    ]
    port: Annotated[int | None, Option(kinds.PORT), "the port of the page (default: a free one)", UNREPEATED]


class MutateKeywords(ModelKeywords, total=False):
    """The options of a trial of mutants."""

    sample: Annotated[Count, "only a random sample of N mutants; a larger one has them all"]
    seed: Annotated[Number, "the seed of the sample (default: 0)"]
    seconds: Annotated[Seconds, "time budget in seconds of each mutant (default: 10)"]
    workers: Annotated[Cores, "number of mutants in parallel (default: 1)"]


class AuditKeywords(TypedDict, total=False):
    """The options of an audit."""

    scenario: Annotated[Name, "only the trials in this scenario"]
    seconds: Annotated[Seconds, "time budget in seconds of each search (default: 60)"]
    workers: Annotated[Cores, "number of parallel searches (default: 1)", UNREPEATED]
    prove: Annotated[Switch, "also try to prove properties that no search violates"]


class ExplainKeywords(TypedDict, total=False):
    """The options of an explanation of snapshots."""

    variant: Annotated[Name, "the variant of the model (default: that of the snapshots)"]
    events: Annotated[Limit, "assume at most N events between two snapshots (default: 8)"]
    seconds: Annotated[Seconds, "time budget in seconds (default: 60)"]
