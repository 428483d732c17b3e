"""The commands that search: `kwalk exhaust`, `walk`, `prove`, `check` and `hunt`."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from kwalk.model.language import Model, UsageError
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.output import deliver
from kwalk.reports.handlers.target import target
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.streams import remark
from kwalk.reports.watch import PAGE, WatchPage
from kwalk.search.base.components import entry
from kwalk.search.base.progress import announcements_to
from kwalk.search.results.verdict import Verdict

Engine = Callable[..., Verdict]


def exhaust(options: Namespace) -> int:
    """Visit every state; return the exit code."""
    if options.spark:
        return _exhaust_on_spark(options)
    if options.symbolic:
        return _exhaust_symbolically(options)
    for name in ("master", "partitions"):
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} is for searches on Spark. Add --spark.")
    from kwalk.search.exhaustive.search import exhaust as engine

    search = _interpreted(engine, options) if options.interpreter else _clustering(engine, options)
    return _search(
        options,
        search,
        memory_bytes=_memory(options),
        reduce=options.reduce,
        checkpoint=_checkpoint(options),
        symmetry=options.symmetry,
    )


NOT_SYMBOLIC = ("reduce", "symmetry", "interpreter", "checkpoint", "every", "resume", "master", "partitions")
"""Options that a symbolic search does not have."""


def _exhaust_symbolically(options: Namespace) -> int:
    """Compute all states as sets; return the exit code."""
    for name in NOT_SYMBOLIC:
        if getattr(options, name) not in (None, False):
            raise UsageError(f"A symbolic search does not support --{name}. Leave out --{name}, or --symbolic.")
    if (options.workers or 1) > 1:
        raise UsageError("A symbolic search runs on one core. Leave out --workers, or --symbolic.")
    return _search(options, _clustering(entry("exhaust_symbolically"), options), memory_bytes=_memory(options))


def _interpreted(engine: Engine, options: Namespace) -> Engine:
    """Return the engine with a kernel that executes plain Python; UsageError for options that need compiled code."""
    for name in ("reduce", "symmetry"):
        if getattr(options, name):
            what = f"A search in plain Python does not support --{name}."
            raise UsageError(f"{what} Leave out --{name}, or --interpreter.")
    if (options.workers or 1) > 1:
        raise UsageError("A search in plain Python runs on one core. Leave out --workers, or --interpreter.")

    def search(model: Model, **keywords: Any) -> Verdict:
        from kwalk.search.kernel.interpreted import interpreted_kernel

        return engine(model, kernel=interpreted_kernel(model), **keywords)

    return search


UNSUPPORTED = {
    "symmetry": "does not support symmetry",
    "reduce": "does not support reduction",
    "every": "saves a checkpoint at every level",
    "interpreter": "runs compiled code",
    "symbolic": "visits single states",
}
"""Options that a search on Spark does not have, and why."""


def _exhaust_on_spark(options: Namespace) -> int:
    """Visit every state on Spark, with states on disk; return the exit code."""
    from kwalk.search.spark.exhaustive.search import exhaust_on_spark as engine

    for name, why in UNSUPPORTED.items():
        if getattr(options, name) not in (None, False):
            raise UsageError(f"A search on Spark {why}. Leave out --{name}, or --spark.")
    folder = options.checkpoint or str(Path(options.out) / "states")
    return _search(
        options,
        _clustering(engine, options),
        memory_bytes=_memory(options),
        folder=folder,
        resume=options.resume,
        master=options.master,
        partitions=options.partitions,
    )


def _memory(options: Namespace) -> int | None:
    """Return the memory budget in bytes."""
    return None if options.memory is None else int(options.memory * 2**30)


MINIMIZED = 100
"""The default number of findings that are grouped by shape."""


def _minimize(options: Namespace) -> int:
    """Return the number of findings to group by shape."""
    wanted = MINIMIZED if options.minimize is None else options.minimize
    return wanted if options.keep_going else 0


def _clustering(engine: Engine, options: Namespace) -> Engine:
    """Return the engine, with its findings grouped by shape if the options ask for it."""
    if not _minimize(options):
        return engine

    def search(model: Model, **keywords: Any) -> Verdict:
        from kwalk.search.kernel.compile.compiler import kernel_for
        from kwalk.search.minimize.clusters import with_clusters

        return with_clusters(model, kernel_for(model), engine(model, **keywords), keywords["report"])

    return search


def _checkpoint(options: Namespace) -> Any:
    """Return where and when to save checkpoints, None without a folder; UsageError for options that need one."""
    from kwalk.search.base.options import CHECKPOINT_INTERVAL, CheckpointOptions

    if options.checkpoint is None:
        if options.resume or options.every is not None:
            name = "--resume" if options.resume else "--every"
            raise UsageError(f"{name} needs a folder of checkpoints. Name it with --checkpoint DIR.")
        return None
    every = CHECKPOINT_INTERVAL if options.every is None else options.every
    return CheckpointOptions(Path(options.checkpoint), every=every, resume=options.resume)


SHRINK_SECONDS = 5.0
"""The time budget for shrinking the first finding of walks."""


def walk(options: Namespace) -> int:
    """Take random walks, and minimize their first finding; return the exit code."""
    from kwalk.search.simulation.walk import walk as engine

    shrinking = _shrinking(engine, _simulation(options))
    return _search(
        options, shrinking, seed=options.seed, walks=options.walks, depth=options.depth, minimize=_minimize(options)
    )


def _simulation(options: Namespace) -> Any:
    """Return the options of the walks: which steps they take and prefer."""
    from kwalk.search.simulation.options import SimulationOptions

    only, without = tuple(options.only), tuple(options.without)
    return SimulationOptions(only=only, without=without, swarm=not options.uniform, count_states=True)


def _shrinking(engine: Engine, simulation: Any) -> Engine:
    """The engine, with its first trace minimized."""

    def search(model: Model, **keywords: Any) -> Verdict:
        from kwalk.search.minimize.shrink import minimize_findings

        return minimize_findings(model, engine(model, simulation, **keywords), seconds=SHRINK_SECONDS, most=1)

    return search


def prove(options: Namespace) -> int:
    """Prove with Z3; return the exit code."""
    from kwalk.search.minimize.shrink import minimize_findings
    from kwalk.search.proof.prove import prove as attempt

    def engine(model: Model, **keywords: Any) -> Verdict:
        return minimize_findings(model, attempt(model, **keywords))

    return _search(options, engine, depth=options.depth, induction=options.induction, support=not options.no_support)


def check(options: Namespace) -> int:
    """Run three engines and compare their verdicts; return the exit code."""
    from kwalk.search.analyses.check import check as engine

    return _search(options, engine, seed=options.seed)


def hunt(options: Namespace) -> int:
    """Search exhaustively, then with walks on Spark, then minimize; return the exit code."""
    from kwalk.search.analyses.hunt import hunt as engine

    return _search(
        options,
        engine,
        seed=options.seed,
        minimize=_minimize(options),
        out=options.out,
        simulation=_simulation(options),
    )


def _search(options: Namespace, engine: Engine, **keywords: Any) -> int:
    """Run an engine with the options that are set, the others have the engine's defaults; return the exit code."""
    from kwalk.search.examination.examination import examined

    selected = target(options)
    keywords |= {name: getattr(options, name, None) for name in ("seconds", "workers", "keep_going")}
    given = {name: value for name, value in keywords.items() if value is not None}
    with out_folder(options.out) as out:
        watch = _watch_page(out, selected.command) if options.watch else None
        phases = nullcontext() if watch is None else announcements_to(watch.begin)
        with phases, shown_on_stderr(watch) as report:
            verdict = engine(
                selected.model, properties=selected.properties, report=report, command=selected.command, **given
            )
            verdict = examined(selected.model, selected.properties, verdict, strict=options.strict)
        if watch is not None:
            watch.end(f"{verdict.scenario}: {verdict.answer.value} ({verdict.qualifier})")
        return deliver(selected, verdict, out, options)


def _watch_page(out: OutFolder, command: str) -> WatchPage:
    """Write the page that shows the search while it runs, and print its name."""
    page = WatchPage(out.path / PAGE, command)
    out.write({PAGE: ""})
    page.write("The search begins", refresh=True)
    remark(f"kwalk: watch {visible(str(page.path))}")
    return page
