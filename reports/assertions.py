"""Assertions about scenarios, for anybody's tests: `from reports import assert_holds, assert_finds`.

Words: an assertion *holds* if its engine finds no counterexample; how sure that is depends on the engine (exhaust and
prove: within the bounds; walk and hypothesis: as far as they looked). A *pinned* counterexample is a known one, saved
as a trace: it *heals* when it is found no more, and *lengthens* when the shortest way to it is closed.
"""
from __future__ import annotations

import io
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from model.language import Invariant, Scenario, UsageError
from reports.asking import Asked, asked_about, search
from reports.files import CannotWrite, out_folder
from reports.itf import itf_text
from reports.replaying import open_trace, replay, stamped
from reports.saving import save, version
from reports.story import tell
from reports.summary import summary
from reports.terminal import put
from reports.text import print_story
from reports.trace_file import read_trace
from search.trace import Trace
from search.verdict import Answer, Verdict

WIDTH = 116
"""Columns of a failure's message: pytest puts four before each line."""


class Fails(AssertionError):
    """A scenario does not do what a test says of it. The message is the trace; `verdict` is what the engine said."""

    def __init__(self, message: str, verdict: Verdict | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict


def assert_holds(
    scenario: Scenario | str,
    invariant: Invariant | str | None = None,
    *,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    engine: str = "exhaust",
    seconds: float | None = None,
    undecided_ok: bool = False,
    **wanted: Any,
) -> Verdict:
    """Fail with a minimal trace if the scenario violates the invariant, or any of its invariants if none is named.

    `engine` is exhaust, walk, hypothesis or prove; what else is `wanted` goes to it (such as `walks` and `depth`, or
    `keep_going`). The invariant "deadlock" is that something can always happen. A search that ends without an answer
    fails too, unless that is declared ok. The verdict comes back.
    """
    __tracebackhide__ = True
    asked = asked_about(scenario, invariant, variant, bounds)
    verdict = search(asked, engine, {**wanted, "seconds": seconds})
    if verdict.answer is Answer.HOLDS or (verdict.answer is Answer.UNDECIDED and undecided_ok):
        return verdict
    if verdict.answer is Answer.UNDECIDED:
        raise Fails("\n".join([*_told(asked, verdict), "Give it more time, or smaller bounds."]), verdict)
    raise Fails("\n".join(_failure(asked, verdict)), verdict)


def assert_finds(
    scenario: Scenario | str,
    invariant: Invariant | str | None = None,
    *,
    length: int,
    trace: str | Path | None = None,
    variant: str | None = None,
    bounds: Mapping[str, int] | None = None,
    engine: str = "exhaust",
    seconds: float | None = None,
    **wanted: Any,
) -> Verdict:
    """Fail unless a search finds a counterexample of exactly this length, to the invariant or to any of them.

    With `trace`, the file of the pinned counterexample, fail also unless that still replays, shows a violation of the
    same invariant, and is of this length. The failure says whether it healed or changed, and what to do. pytest's
    option --kwalk-pin writes that file.
    """
    __tracebackhide__ = True
    asked = asked_about(scenario, invariant, variant, bounds)
    verdict = search(asked, engine, {**wanted, "seconds": seconds})
    lines = list(_surprise(asked, verdict, length, trace))
    if not lines and trace is not None:
        if asked.options.pin and verdict.counterexample is not None:
            _pin(asked, verdict.counterexample, Path(trace))
        lines = list(_broken_pin(asked, Path(trace), length))
    if lines:
        raise Fails("\n".join(lines), verdict)
    return verdict


# What a failure says.


def _failure(asked: Asked, verdict: Verdict) -> Iterator[str]:
    """The minimal trace, what the search says of itself, and the file that replays it."""
    trace = verdict.counterexample
    if trace is None:
        yield from _told(asked, verdict)
        return
    yield from _story(asked, trace)
    yield ""
    yield from _told(asked, verdict)
    yield from _saved(asked, trace)


def _story(asked: Asked, trace: Trace) -> list[str]:
    return _lines(lambda out: print_story(tell(asked.model, trace), out))


def _told(asked: Asked, verdict: Verdict) -> list[str]:
    """What the search says of itself, less the finding whose story is told."""
    shown = next((finding for finding in verdict.findings if finding.trace is not None), None)
    return _lines(lambda out: put(out, *summary(verdict, asked.model, shown)))


def _lines(print_to: Callable[[Console], None]) -> list[str]:
    """What is printed on a plain console, line by line."""
    page = io.StringIO()
    print_to(Console(file=page, width=WIDTH, color_system=None, markup=False, emoji=False, highlight=False))
    return [line.rstrip() for line in page.getvalue().rstrip().splitlines()]


def _saved(asked: Asked, trace: Trace) -> Iterator[str]:
    """Save a trace; a line with the command that replays it, or why there is none."""
    try:
        with out_folder(asked.options.out) as out:
            path = save(asked.model, stamped(trace, asked.model, asked.reference), out)["trace"]
    except CannotWrite as error:
        yield f"The trace was not saved: {error}"
        return
    command = f"kwalk replay {shlex.quote(str(path))}"
    asked.options.saved.append(f"{asked.about}, {asked.reference}: {path}")
    yield f"Reproduce: {command}"


# What a pinned counterexample is measured by.


def _surprise(asked: Asked, verdict: Verdict, length: int, pinned: str | Path | None) -> Iterator[str]:
    """Why what was found is not what was expected; nothing if it is."""
    trace, where = verdict.counterexample, f" and delete {pinned}" if pinned else ""
    if trace is None and verdict.answer is Answer.UNDECIDED:
        yield f"Not found again: the search for {asked.about} ended without an answer."
        yield from _told(asked, verdict)
    elif trace is None:
        yield f"Healed: {asked.about} has no counterexample any more; one of {length} steps was known."
        yield f"If that is what a change was meant to do, assert_holds instead{where}."
        yield from _told(asked, verdict)
    elif trace.length != length:
        change = "Lengthened" if trace.length > length else "Shortened"
        yield f"{change}: a counterexample to {asked.about} now takes {trace.length} steps, not {length}."
        yield f"If that is what a change was meant to do, set length={trace.length}{_pin_again(pinned)}."
        yield from _failure(asked, verdict)


def _pin_again(pinned: str | Path | None) -> str:
    return f" and save {pinned} anew with --kwalk-pin" if pinned else ""


def _pin(asked: Asked, trace: Trace, path: Path) -> None:
    """Save a counterexample as the pinned one; CannotWrite if that cannot be."""
    full = stamped(trace, asked.model, asked.reference)
    with out_folder(path.parent) as folder:
        folder.write({path.name: itf_text(asked.model, full, version())})


def _broken_pin(asked: Asked, path: Path, length: int) -> Iterator[str]:
    """Why a pinned trace no longer shows what it was pinned for; nothing if it does."""
    try:
        opened = open_trace(read_trace(path))
        replayed = replay(opened.model, opened.trace)
    except UsageError as error:
        yield f"The pinned trace cannot be replayed: {error} Save it anew with --kwalk-pin if it should be."
        return
    trace = opened.trace
    wanted = {claim.key for claim in asked.claims}
    bounds = {name: size for name, size in asked.model.binding.bounds.items() if name in trace.bounds}
    mine = asked.model.variant, bounds, asked.model.asked_flags
    if (trace.variant, dict(trace.bounds), dict(trace.flags)) != mine:
        yield f"{path} was pinned in variant {trace.variant} with bounds {dict(trace.bounds)}, and the test has others."
    if replayed.misfit:
        yield f"{path} does not replay any more: {replayed.misfit}."
    elif replayed.answer is Answer.HOLDS or (trace.claim is not None and trace.claim not in wanted):
        yield f"{path} replays, but does not show a violation of {asked.about} in the end."
    if trace.length != length:
        yield f"{path} has {trace.length} steps, and the test says {length}."
