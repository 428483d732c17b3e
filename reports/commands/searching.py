"""The commands that search: `kwalk exhaust`, `walk`, `prove`, `check` and `hunt`."""
from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from attrs import evolve

from model.language import Model, UsageError
from reports.commands.results import deliver
from reports.commands.target import Target, target
from reports.files import out_folder
from reports.progress import shown_on_stderr
from search.verdict import Verdict

Engine = Callable[..., Verdict]


def exhaust(options: Namespace) -> int:
    """Visit every state; the exit code."""
    if options.spark:
        return _exhaust_on_spark(options)
    for said in ("master", "partitions"):
        if getattr(options, said) is not None:
            raise UsageError(f"--{said} is for searches on Spark. Add --spark.")
    from search.exhaust import exhaust as engine

    memory = None if options.memory is None else int(options.memory * 2**30)
    search = _clustering(engine) if _minimize(options) else engine
    wanted = {
        "memory_bytes": memory, "reduce": options.reduce,
        "checkpoint": _checkpoint(options), "symmetry": options.symmetry,
    }
    return _search(options, search, keep_going=options.keep_going, **wanted)


UNSUITED = {
    "symmetry": "visits every state: it does not use symmetry", "reduce": "visits every state: it does not reduce",
    "every": "is saved at every level",
}  # fmt: skip
"""Options that make no sense for a search on Spark, and why."""


def _exhaust_on_spark(options: Namespace) -> int:
    """Visit every state, on Spark and with states on disk; the exit code."""
    from search.distributed import exhaust_on_spark as engine

    for said, why in UNSUITED.items():
        if getattr(options, said) not in (None, False):
            raise UsageError(f"A search on Spark {why}. Leave out --{said}, or --spark.")
    search = _clustering(engine) if _minimize(options) else engine
    wanted = {
        "folder": options.checkpoint or str(Path(options.out) / "states"), "resume": options.resume,
        "memory_bytes": None if options.memory is None else int(options.memory * 2**30),
        "master": options.master, "partitions": options.partitions,
    }  # fmt: skip
    return _search(options, search, keep_going=options.keep_going, **wanted)


MINIMIZED = 100
"""Findings that are grouped by shape if nobody says how many."""


def _minimize(options: Namespace) -> int:
    """How many findings to group by shape."""
    wanted = MINIMIZED if options.minimize is None else options.minimize
    return wanted if options.keep_going else 0


def _clustering(engine: Engine) -> Engine:
    """The engine, with its findings grouped by shape."""

    def search(model: Model, **wanted: Any) -> Verdict:
        from search.compile import kernel_for
        from search.shrink.clusters import with_clusters

        return with_clusters(model, kernel_for(model), engine(model, **wanted), wanted["report"])

    return search


def _checkpoint(options: Namespace) -> Any:
    """Where checkpoints go and when, if anywhere; UsageError if only the latter is said."""
    from search.checkpoint import EVERY, Checkpoint

    if options.checkpoint is None:
        if options.resume or options.every is not None:
            said = "--resume" if options.resume else "--every"
            raise UsageError(f"{said} needs a folder of checkpoints. Name it with --checkpoint DIR.")
        return None
    every = EVERY if options.every is None else options.every
    return Checkpoint(Path(options.checkpoint), every=every, resume=options.resume)


SHRINKING = 5.0
"""Seconds that the shrinking of what a walk met may take, at most."""


def walk(options: Namespace) -> int:
    """Take random walks, and shrink what they met first; the exit code."""
    from search.walks import walk as engine

    wanted = {"seed": options.seed, "walks": options.walks, "depth": options.depth, "minimize": _minimize(options)}
    return _search(options, _shrinking(engine), keep_going=options.keep_going, manner=_manner(options), **wanted)


def _manner(options: Namespace) -> Any:
    """How walks are to choose their steps."""
    from search.walks.manner import Manner

    return Manner(tuple(options.only), tuple(options.without), swarm=not options.uniform, sketching=True)


def _shrinking(engine: Engine) -> Engine:
    """The engine, with its first trace minimized."""

    def search(model: Model, **wanted: Any) -> Verdict:
        from search.hunt import shrunk

        verdict = engine(model, **wanted)
        first, *others = verdict.findings or (None,)
        if first is None:
            return verdict
        return evolve(verdict, findings=(shrunk(model, first, seconds=SHRINKING), *others))

    return search


def prove(options: Namespace) -> int:
    """Ask Z3; the exit code."""
    from search.prove import prove as engine

    return _search(options, engine, depth=options.depth, induction=options.induction, support=not options.no_support)


def check(options: Namespace) -> int:
    """Ask three engines, and compare what they say; the exit code."""
    from search.check import check as engine

    return _search(options, engine, seed=options.seed)


def hunt(options: Namespace) -> int:
    """Exhaust, then Spark walks, then shrink, then report; the exit code."""
    from search.hunt import hunt as engine

    wanted = {"seed": options.seed, "minimize": _minimize(options), "out": options.out, "manner": _manner(options)}
    return _search(options, engine, keep_going=options.keep_going, **wanted)


def _search(options: Namespace, engine: Engine, **wanted: Any) -> int:
    aim = target(options)
    with out_folder(options.out) as out:
        workers = getattr(options, "workers", None)
        verdict = _run(aim, engine, {**wanted, "seconds": options.seconds, "workers": workers})
        return deliver(aim, verdict, out, options)


def _run(aim: Target, engine: Engine, wanted: dict[str, Any]) -> Verdict:
    """Run an engine with what was asked for; what was not is the engine's own choice."""
    given = {name: value for name, value in wanted.items() if value is not None}
    with shown_on_stderr() as report:
        return engine(aim.model, claims=aim.claims, report=report, command=aim.command, **given)

