"""The commands that search: `kwalk exhaust`, `walk`, `prove`, `check` and `hunt`."""

from __future__ import annotations

from argparse import Namespace
from contextlib import nullcontext

from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.output import deliver_verdict
from kwalk.reports.handlers.target import query_of
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.streams import remark
from kwalk.reports.watch import PAGE, WatchPage
from kwalk.search.base.progress import announcements_to
from kwalk.search.engines import ENGINES


def search(options: Namespace, name: str = "") -> int:
    """Run an engine, that of the command's name by default; return the exit code."""
    engine = ENGINES[name or options.command]
    engine.refuse(vars(options))
    query = query_of(options, engine.accepts)
    with out_folder(options.out) as out:
        watch = _watch_page(out, query.command) if options.watch else None
        phases = nullcontext() if watch is None else announcements_to(watch.begin)
        with phases, shown_on_stderr(watch) as report:
            verdict = engine(query, report)
        if watch is not None:
            watch.end(f"{verdict.scenario}: {verdict.answer.value} ({verdict.qualifier})")
        return deliver_verdict(query, verdict, out, options)


def _watch_page(out: OutFolder, command: str) -> WatchPage:
    """Write the page that shows the search while it runs, and print its name."""
    page = WatchPage(out.path / PAGE, command)
    out.write({PAGE: ""})
    page.write("The search begins", refresh=True)
    remark(f"kwalk: watch {visible(str(page.path))}")
    return page
