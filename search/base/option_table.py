"""The table of options: what the command line, Python, pytest and the configurations of nights read.

An option is a field of a class here: its name, its type, its kind of values, what it means, and whether the command
that repeats a run has it. An engine or an analysis accepts the fields of one class; `Unpack` of the class is what
editors and mypy know of its keywords.

The pytest plugin imports this module in every test run of every project, so that it imports the language of models only
for an error. The annotations are evaluated when the classes are made, because `rows` reads them: this module has no
`from __future__ import annotations`.
"""

import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

from kwalk.search.base.option_kinds import (
    BOUND,
    DIR,
    FLAG,
    MEMORY,
    NAME,
    NATURAL,
    PARTITIONS,
    PORT,
    POSITIVE,
    SECONDS,
    SEED,
    URL,
    WORKERS,
    Kind,
    one_of,
    text,
)

DEFAULT_OUT = "kwalk-out"
"""The folder of what is written."""
LABELS = ("changes", "state")
"""What a drawing of a state graph writes at a state, the usual one first."""
PROFILES = ("dev", "ci", "nightly")
"""The profiles of Hypothesis, the usual one first."""


class Option(NamedTuple):
    """A row of the table.

    Args:
        kind: The kind of its values; None for a switch.
        about: What it means.
        default: The value without the option.
        word: Its name on the command line, where that is not the name of the field.
        alias: Another name on the command line.
        many: Whether it can be repeated on the command line; its value is a sequence, or a mapping by name.
        repeats: Whether the command that repeats a run has it.
        about_in_python: What it means in Python, where that is not what the command line says.
    """

    kind: Kind | None
    about: str
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
                from kwalk.model.language.errors import UsageError

                raise UsageError(f"`{name}` must be {allowed} (got {each!r}).")

    def words(self, name: str, value: Any) -> list[str]:
        """Return the words of a command line that give the option a value; none for its default."""
        option = self.name_on_command_line(name)
        if self.kind is None:
            return [] if value is None or value is self.default else [option]
        values = [] if value is None else value if self.many else [value]
        return [word for each in values for word in _option_words(option, self.kind.text(each))]


def _option_words(option: str, value: str) -> list[str]:
    """Return an option and its value; a value that begins as an option does is not a word of its own."""
    return [f"{option}={value}"] if value.startswith("-") else [option, value]


def on_or_off(about: str, *, repeats: bool = True, about_in_python: str = "") -> Option:
    """Return the row of an option that is on or off."""
    return Option(None, about, default=False, repeats=repeats, about_in_python=about_in_python)


def several(kind: Kind, about: str, word: str = "", alias: str = "", about_in_python: str = "") -> Option:
    """Return the row of an option that can be repeated."""
    return Option(kind, about, (), word, alias, many=True, about_in_python=about_in_python)


@cache
def rows(*groups: type) -> Mapping[str, Option]:
    """Return the rows of the fields of classes, by name, in their order."""
    return {name: each.__metadata__[0] for group in groups for name, each in group.__annotations__.items()}


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


def _values(value: Any) -> Any:
    """Return several values; a text alone is one of them."""
    return (value,) if isinstance(value, str) else value


# What is searched.


class Variant(TypedDict, total=False):
    """The variant of the scenario."""

    variant: Annotated[str | None, Option(NAME, "the variant (default: the first one)")]


class Properties(TypedDict, total=False):
    """The properties to check: in Python, the argument after the scenario."""

    properties: Annotated[
        Iterable[str],
        several(
            NAME,
            "check only this property, or this instance of one; --invariant is an alias",
            "property",
            alias="--invariant",
        ),
    ]


class Settings(TypedDict, total=False):
    """What is changed in the variant."""

    bounds: Annotated[
        Mapping[str, int] | None,
        several(
            BOUND,
            "change a bound",
            "bound",
            about_in_python="sizes that replace those of the scenario, by the name of the bound",
        ),
    ]
    flags: Annotated[
        Mapping[str, Any] | None,
        several(
            FLAG,
            "change a flag of the variant: on, off, or the name of a setting",
            "flag",
            about_in_python="settings that replace those of the variant, by the name of the flag",
        ),
    ]
    constraints: Annotated[
        Iterable[str],
        several(
            NAME,
            "apply this optional constraint of the scenario",
            "constraint",
            about_in_python="optional constraints of the scenario that apply",
        ),
    ]


class Subject(Variant, Settings, total=False):
    """The model of a scenario."""


# What a search may take, and when it ends.


class Time(TypedDict, total=False):
    """A time budget."""

    seconds: Annotated[float | None, Option(SECONDS, "time budget in seconds")]


class Minute(TypedDict, total=False):
    """A time budget with a default."""

    seconds: Annotated[float | None, Option(SECONDS, "time budget in seconds (default: 60)")]


class Seed(TypedDict, total=False):
    """What random choices derive from."""

    seed: Annotated[int, Option(SEED, "seed of all random choices (default: 0)", default=0)]


class Threads(TypedDict, total=False):
    """How many cores work."""

    workers: Annotated[int | None, Option(WORKERS, "number of cores")]


class KeepGoing(TypedDict, total=False):
    """Whether a search ends at the first violation."""

    keep_going: Annotated[
        bool, on_or_off("do not stop at the first violation: count all, and save a trace for each violated instance")
    ]


class Findings(KeepGoing, total=False):
    """Which violations are counted, minimized and grouped."""

    minimize: Annotated[
        int | None,
        Option(
            NATURAL,
            "with --keep-going, minimize the first N findings and group them by shape (default: 100; 0 for none)",
        ),
    ]


class Judgement(TypedDict, total=False):
    """What counts as an answer."""

    strict: Annotated[
        bool,
        on_or_off(
            "end with 16 if nothing is violated and not all was tested, as a bound cuts off steps",
            about_in_python='whether the answer is "holds with gaps" if not all was tested, as a bound cuts off steps',
        ),
    ]


class Steps(TypedDict, total=False):
    """The steps that walks choose."""

    only: Annotated[
        Iterable[str],
        several(
            NAME,
            "walks take only actions of this actor (fault, broker 2) or this action (crash); an exhaustive part takes "
            "all",
        ),
    ]
    without: Annotated[
        Iterable[str],
        several(
            NAME,
            "walks take no action of this actor, or not this action; quiescent states are judged by all actions",
        ),
    ]
    uniform: Annotated[
        bool, on_or_off("choose all enabled steps with equal probability, instead of a swarm that prefers rare ones")
    ]


# What one engine or analysis accepts beside these.


class Exploration(TypedDict, total=False):
    """How states are stored and expanded."""

    memory_bytes: Annotated[
        int | None,
        Option(
            MEMORY,
            "stop when the search uses this much memory, in GiB; with --spark, when the new states of a task do "
            "(default: 1)",
            word="memory",
            about_in_python="memory budget in bytes; None for a share of the free memory",
        ),
    ]
    checkpoint: Annotated[
        str | Path | None,
        Option(
            DIR,
            "save checkpoints there at intervals, and when a budget or Ctrl-C ends the search",
            repeats=False,
        ),
    ]
    every: Annotated[float | None, Option(SECONDS, "seconds between checkpoints (default: 1800)", repeats=False)]
    resume: Annotated[
        bool,
        on_or_off(
            "continue from the checkpoint in DIR; only budgets and the number of workers may differ", repeats=False
        ),
    ]
    symmetry: Annotated[
        str | None,
        Option(
            text("DOMAIN"),
            "visit one state for all that differ by a permutation of this domain, if Z3 proves that they are "
            "symmetric; not with --reduce, --spark or --checkpoint",
        ),
    ]
    reduce: Annotated[
        bool,
        on_or_off(
            "skip states that no verdict and no shortest trace depends on (partial-order reduction); the first time, "
            "dependencies are computed for seconds to minutes"
        ),
    ]
    interpreter: Annotated[
        bool,
        on_or_off(
            "execute plain Python in place of compiled code, some hundred states per second on one core: an "
            "independent check, and faster for large models with few states; not with --reduce, --symmetry or --spark"
        ),
    ]
    spark: Annotated[
        bool,
        on_or_off(
            "search level by level on Spark, with states on disk (in DIR, otherwise in OUT/states), not in memory; "
            "not with --symmetry, --reduce or --every"
        ),
    ]
    master: Annotated[
        str | None,
        Option(URL, "with --spark: a Spark master, such as spark://host:7077, whose machines share DIR"),
    ]
    partitions: Annotated[
        int | None,
        Option(
            PARTITIONS,
            "with --spark: tasks of a level; the new states of a task must fit into memory (default: 2 per core; "
            "rounded up to a power of two)",
        ),
    ]


class Folder(TypedDict, total=False):
    """Where a search writes; on the command line, `--out` is the folder of traces and pages as well."""

    out: Annotated[str | Path | None, Option(DIR, "folder of what the search writes", repeats=False)]


class WalkLength(TypedDict, total=False):
    """How many walks, and how long ones."""

    walks: Annotated[int | None, Option(POSITIVE, "number of walks")]
    depth: Annotated[int | None, Option(POSITIVE, "the largest number of steps of a walk")]


class Methods(TypedDict, total=False):
    """The methods of proofs."""

    depth: Annotated[int | None, Option(NATURAL, "check unproved properties up to N steps (default: 20)")]
    induction: Annotated[int | None, Option(NATURAL, "the largest k of k-induction (default: 3); 0 for no induction")]
    support: Annotated[
        bool,
        Option(
            None,
            "do not search for supporting invariants",
            default=True,
            word="no-support",
            about_in_python="whether supporting invariants are searched for",
        ),
    ]


class Profile(TypedDict, total=False):
    """How long Hypothesis searches."""

    profile: Annotated[str, Option(one_of(*PROFILES), "settings of Hypothesis", PROFILES[0])]


class Drawing(TypedDict, total=False):
    """What is drawn of a state graph."""

    most: Annotated[int | None, Option(POSITIVE, "draw at most N states (default: 300)")]


class Label(TypedDict, total=False):
    """What is written at a state."""

    label: Annotated[
        str | None,
        Option(
            one_of(*LABELS),
            "label of a state: its changes against its parent (default), or every part that varies",
        ),
    ]


class Distance(TypedDict, total=False):
    """What a search for the nearest violation may take."""

    seconds: Annotated[float | None, Option(SECONDS, "time budget of a search for the nearest violation (default: 10)")]
    memory_bytes: Annotated[
        int | None,
        Option(
            MEMORY,
            "memory budget of that search, in GiB (default: 1)",
            word="memory",
            about_in_python="memory budget of that search in bytes; None for 1 GiB",
        ),
    ]
    port: Annotated[int | None, Option(PORT, "the port of the page (default: a free one)", repeats=False)]


class Sample(TypedDict, total=False):
    """Which mutants are tried."""

    sample: Annotated[int | None, Option(POSITIVE, "only a random sample of N mutants; a larger one has them all")]
    seed: Annotated[int, Option(SEED, "the seed of the sample (default: 0)", default=0)]


class MutantBudget(TypedDict, total=False):
    """What the mutants may take."""

    seconds: Annotated[float | None, Option(SECONDS, "time budget of each mutant, in seconds (default: 10)")]
    workers: Annotated[int | None, Option(WORKERS, "number of mutants in parallel (default: 1)")]


class Audit(TypedDict, total=False):
    """The options of an audit."""

    scenario: Annotated[str | None, Option(NAME, "only the trials in this scenario")]
    seconds: Annotated[float | None, Option(SECONDS, "time budget of each search, in seconds (default: 60)")]
    workers: Annotated[int | None, Option(WORKERS, "number of parallel searches (default: 1)", repeats=False)]
    prove: Annotated[bool, on_or_off("also try to prove properties that no search violates")]


class SnapshotModel(TypedDict, total=False):
    """The model that explains snapshots."""

    variant: Annotated[str | None, Option(NAME, "the variant of the model (default: that of the snapshots)")]
    events: Annotated[int | None, Option(NATURAL, "assume at most N events between two snapshots (default: 8)")]


# What each engine and analysis accepts.


class Exhaust(Subject, Time, Threads, Findings, Judgement, Exploration, Folder, total=False):
    """The options of exhaustive search."""


class Walk(Subject, Time, Seed, Threads, Findings, Judgement, WalkLength, Steps, total=False):
    """The options of random walks."""


class Prove(Subject, Time, Judgement, Methods, total=False):
    """The options of proofs."""


class Check(Subject, Minute, Seed, Threads, Judgement, total=False):
    """The options of a check by three engines."""


class Hunt(Subject, Minute, Seed, Threads, Findings, Judgement, Steps, Folder, total=False):
    """The options of a hunt."""


class Hypothesis(Subject, Time, Seed, KeepGoing, Judgement, Profile, total=False):
    """The options of a search by Hypothesis."""


class Graph(Subject, Drawing, total=False):
    """The options of a state graph."""


class Explore(Subject, Distance, Folder, total=False):
    """The options of an exploration by hand."""


class Mutate(Subject, Sample, MutantBudget, total=False):
    """The options of a trial of mutants."""


class Explain(SnapshotModel, Minute, total=False):
    """The options of an explanation of snapshots."""
