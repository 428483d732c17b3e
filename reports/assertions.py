"""Assertions about scenarios, for the tests of any project: `from kwalk import assert_holds, assert_finds`.

Words: an assertion *holds* if its engine finds no counterexample; how strong that is depends on the engine (exhaust and
prove: within the bounds; walk and hypothesis: as far as they searched). A *pinned* counterexample is a known one, saved
as a trace: it is *closed* when it is no longer found, and *longer* when the shortest way to it is closed.
"""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from kwalk.model.language import Property, Scenario, UsageError
from kwalk.model.language.distributions import kwalk_version
from kwalk.reports.assertion_options import Failure, active_options
from kwalk.reports.assertion_searches import SharedSearches, minimized, query, search
from kwalk.reports.document.text import print_blocks, story_text
from kwalk.reports.files import CannotWrite, out_folder
from kwalk.reports.observations import observe
from kwalk.reports.pages.verdict import summary
from kwalk.reports.terminal import printed
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import open_trace, replay, stamped
from kwalk.reports.traces.save import save
from kwalk.reports.traces.story import story_of
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.base.options import StopReason
from kwalk.search.base.query import Query
from kwalk.search.engines import ENGINES
from kwalk.search.kernel.compared import Compared
from kwalk.search.results.fairness import UncheckedProperties, unchecked_note
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Answer, Strength, Verdict

WIDTH = 116
"""Columns of a failure's message: pytest puts four before each line."""


class Fails(AssertionError):
    """A scenario does not do what a test asserts.

    Args:
        message: The steps of the counterexample, and the command that replays it.
        verdict: The verdict of the engine.
        failure: The same for reports of a test run; None if no trace shows it.
    """

    def __init__(self, message: str, verdict: Verdict | None = None, failure: Failure | None = None) -> None:
        super().__init__(message)
        self.verdict = verdict
        self.kwalk_failure = failure


class Untested(UserWarning):
    """An assertion passes, and a property of it was never tested: nothing that the search met could violate it."""


def assert_holds(
    scenario: Scenario | str,
    prop: Property | str | None = None,
    *,
    engine: str = "exhaust",
    undecided_ok: bool = False,
    cannot_fail_ok: bool = False,
    strict: bool = False,
    shared: SharedSearches | None = None,
    **options: Any,
) -> Verdict:
    """Fail with a minimal trace if the scenario violates the property.

    Args:
        scenario: The scenario, or its name.
        prop: The property, or its name; None for all of the scenario; "deadlock" for the absence of deadlocks.
        engine: exhaust, walk, hypothesis or prove.
        undecided_ok: Whether a search that ends without an answer passes.
        cannot_fail_ok: Whether a property that cannot fail passes: no state of the domains violates it.
        strict: Whether it fails if a property was never tested, or a bound that matters cut off steps.
        shared: Searches that several tests share; the first test starts one for all properties of the scenario (the
            fixture `kwalk_searches`).
        options: Options of the engine, such as `variant`, `bounds`, `seconds` or `walks`; the others are those of the
            test run.

    Returns:
        The verdict. Warnings name properties about behaviours, which only exhaust checks (`UncheckedProperties`), and
        those that were never tested (`Untested`).

    Raises:
        Fails: The property is violated or cannot fail, or the search ended without an answer.
        UsageError: A name or the engine does not exist.
    """
    __tracebackhide__ = True
    asked = query(scenario, prop, engine, options)
    run = (lambda *about, **how: minimized(asked, search(*about, **how))) if shared is None else shared.verdict
    strict |= active_options().strict
    verdict = run(asked, engine, strict=strict)
    if _passes(verdict, undecided_ok=undecided_ok, cannot_fail_ok=cannot_fail_ok, strict=strict):
        _warn_of_unchecked(asked, engine, verdict)
        _warn_of_untested(asked, verdict)
        observe(active_options().test, asked.reference, verdict)
        return verdict
    undecided = verdict.answer is Answer.UNDECIDED and [*_verdict_lines(asked, verdict), _advice(verdict)]
    raise _fails(asked, verdict, undecided or _known_failure(asked, verdict, shared) or _steps(asked, verdict))


def _passes(verdict: Verdict, *, undecided_ok: bool, cannot_fail_ok: bool, strict: bool) -> bool:
    if verdict.answer is Answer.CANNOT_FAIL:
        return cannot_fail_ok and not (strict and verdict.gaps)
    return verdict.answer is Answer.HOLDS or (verdict.answer is Answer.UNDECIDED and undecided_ok)


def assert_finds(
    scenario: Scenario | str,
    prop: Property | str | None = None,
    *,
    length: int,
    trace: str | Path | None = None,
    engine: str = "exhaust",
    **options: Any,
) -> Verdict:
    """Fail unless a search finds a counterexample of exactly this length.

    Args:
        scenario: The scenario, or its name.
        prop: The property that is violated, or its name; None for any of the scenario.
        length: The number of steps of the counterexample.
        trace: The file of the pinned counterexample. It must still replay, violate the same property, and have this
            length; pytest's option --kwalk-pin writes it.
        engine: exhaust, walk, hypothesis or prove.
        options: Options of the engine, such as `variant`, `bounds`, `seconds` or `walks`; the others are those of the
            test run.

    Returns:
        The verdict.

    Raises:
        Fails: There is no such counterexample; the message says whether it is closed or changed, and what to do.
        UsageError: The scenario, the property, the variant, a bound or the engine does not exist.
    """
    __tracebackhide__ = True
    asked = query(scenario, prop, engine, options)
    verdict = minimized(asked, search(asked, engine))
    lines = list(_surprise(asked, verdict, length, trace))
    if not lines and trace is not None:
        if active_options().pin and verdict.counterexample is not None:
            _pin(asked, verdict.counterexample, Path(trace))
        lines = list(_broken_pin(asked, Path(trace), length))
    if lines:
        raise _fails(asked, verdict, lines)
    observe(active_options().test, asked.reference, verdict)
    return verdict


def _advice(verdict: Verdict) -> str:
    """Return how an undecided search may be decided."""
    if verdict.stopped is StopReason.LIVENESS:
        return 'Check properties about behaviours with engine="exhaust".'
    if verdict.stopped is StopReason.DEADLOCKS:
        return 'Check deadlocks with engine="exhaust", or name a property.'
    return "Give it more time, or smaller bounds."


def _warn_of_unchecked(query: Query, engine: str, verdict: Verdict) -> None:
    """Warn of properties about behaviours that were not checked although the assertion passes."""
    if verdict.stopped is StopReason.LIVENESS:
        note = unchecked_note(query.properties, ENGINES[engine].title)
    else:
        note = ENGINES[engine].unchecked(query.properties) if verdict.strength is Strength.SAMPLED else ""
    if note:
        warnings.warn(f"{query.reference}: {note}", UncheckedProperties, stacklevel=3)


def _warn_of_untested(query: Query, verdict: Verdict) -> None:
    """Warn of properties that were never tested although the assertion passes."""
    untested = [gap.text for gap in verdict.gaps if not gap.bound]
    if untested:
        warnings.warn(f"{query.reference}: {'; '.join(untested)}", Untested, stacklevel=3)


# What a failure says.


def _fails(query: Query, verdict: Verdict, lines: Iterable[str]) -> Fails:
    """Return the error: the page of the trace, the lines, the command that replays it, and what is violated.

    pytest shows the first line in its summary, and the last line stands above it.
    """
    trace, test = verdict.counterexample, active_options().test
    if trace is None:
        observe(test, query.reference, verdict)
        return Fails("\n".join(lines), verdict)
    files, problem = _saved(query, trace, verdict.compared)
    story = story_of(query.model, trace)
    claim = "  ".join(filter(None, (story.headline, story.prop, f"in {story.length_text}")))
    read = [f"Read: {files['page']}"] if files else []
    replay = [f"Reproduce: kwalk replay {shlex.quote(str(files['trace']))}"] if files else [problem]
    text = "\n".join([*read, *lines, *replay, claim])
    page, file = (str(files.get(kind, "")) for kind in ("page", "trace"))
    observe(test, query.reference, verdict, story, file)
    subject = f"{query.subject}, {query.reference}"
    return Fails(text, verdict, Failure(test, subject, claim, story.symptom, page, file, text))


def _steps(query: Query, verdict: Verdict) -> Iterator[str]:
    """Yield the minimal trace, and what the search says of itself."""
    if verdict.counterexample is not None:
        yield from _story(query, verdict.counterexample)
        yield ""
    yield from _verdict_lines(query, verdict)


def _known_failure(query: Query, verdict: Verdict, shared: SharedSearches | None) -> list[str] | None:
    """Return a line if the same sequence of events was shown by an earlier test of the run; else None."""
    trace = verdict.counterexample
    if shared is None or trace is None:
        return None
    first = shared.shown_before(query, trace, active_options().test)
    if first is None:
        return None
    found = f"Found by {verdict.engine}; the steps are those of {first}, up to names and the order of independent steps"
    return [f"{found}; they are shown there."]


def _story(query: Query, trace: Trace) -> list[str]:
    return printed(lambda out: print_blocks(story_text(story_of(query.model, trace)), out), WIDTH).splitlines()


def _verdict_lines(query: Query, verdict: Verdict) -> list[str]:
    """The verdict's summary, without the finding whose story is printed."""
    shown = next((finding for finding in verdict.findings if finding.trace is not None), None)
    return printed(lambda out: print_blocks(summary(verdict, query.model, shown), out), WIDTH).splitlines()


def _saved(query: Query, trace: Trace, compared: Compared | None) -> tuple[dict[str, Path], str]:
    """Save a trace; return its files by format, or none and why."""
    try:
        with out_folder(active_options().out) as out:
            return save(query.model, stamped(trace, query.model, query.reference), out, compared), ""
    except CannotWrite as error:
        return {}, f"The trace was not saved: {error}"


# What a pinned counterexample is measured by.


def _surprise(query: Query, verdict: Verdict, length: int, pinned: str | Path | None) -> Iterator[str]:
    """Why what was found is not what was expected; nothing if it is."""
    trace, where = verdict.counterexample, f" and delete {pinned}" if pinned else ""
    if trace is None and verdict.answer is Answer.UNDECIDED:
        yield f"Not found again: the search for {query.subject} ended without an answer."
        yield from _verdict_lines(query, verdict)
    elif trace is None:
        yield f"Healed: {query.subject} has no counterexample any more; one of {length} steps was known."
        yield f"If that is what a change was meant to do, assert_holds instead{where}."
        yield from _verdict_lines(query, verdict)
    elif trace.length != length:
        change = "Lengthened" if trace.length > length else "Shortened"
        yield f"{change}: a counterexample to {query.subject} now takes {trace.length} steps, not {length}."
        yield f"If that is what a change was meant to do, set length={trace.length}{_pin_again(pinned)}."
        yield from _steps(query, verdict)


def _pin_again(pinned: str | Path | None) -> str:
    return f" and save {pinned} again with --kwalk-pin" if pinned else ""


def _pin(query: Query, trace: Trace, path: Path) -> None:
    """Save a counterexample as the pinned one; CannotWrite if that cannot be."""
    full = stamped(trace, query.model, query.reference)
    with out_folder(path.parent) as folder:
        folder.write({path.name: itf_text(query.model, full, kwalk_version())})


def _broken_pin(query: Query, path: Path, length: int) -> Iterator[str]:
    """Why a pinned trace no longer shows what it was pinned for; nothing if it does."""
    try:
        opened = open_trace(read_trace(path))
        replayed = replay(opened.model, opened.trace)
    except UsageError as error:
        yield f"The pinned trace cannot be replayed: {error} Save it again with --kwalk-pin if it should be."
        return
    trace = opened.trace
    wanted = {prop.key for prop in query.properties}
    bounds = {name: size for name, size in query.model.binding.bounds.items() if name in trace.bounds}
    mine = query.model.variant, bounds, query.model.flag_overrides
    if (trace.variant, dict(trace.bounds), dict(trace.flags)) != mine:
        yield f"{path} was pinned in variant {trace.variant} with bounds {dict(trace.bounds)}, and the test has others."
    if replayed.mismatch:
        yield f"{path} does not replay any more: {replayed.mismatch}."
    elif replayed.answer is Answer.HOLDS or (trace.prop is not None and trace.prop not in wanted):
        yield f"{path} replays, but does not show a violation of {query.subject} in the end."
    if trace.length != length:
        yield f"{path} has {trace.length} steps, and the test says {length}."
