"""The command that makes mistakes in a model on purpose: `kwalk mutate`."""
from __future__ import annotations

import json
import shlex
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from rich.text import Text

from model.language import Trial, UsageError
from model.language.registry import find_scenario, find_trials
from model.language.settings import setting_from
from reports.commands.auditing import folder_of
from reports.escaping import visible
from reports.files import OutFolder, out_folder
from reports.fingerprint import fingerprint
from reports.mutation.document import mutation_document
from reports.mutation.files import explanations_in, keep, kept_in
from reports.mutation.report import Found, diff_lines, mutant_object, mutation_lines, mutation_object, mutation_table
from reports.mutation.story import story_of
from reports.progress import shown_on_stderr
from reports.terminal import console, put
from reports.text import print_story
from search.mutation import (
    Budget,
    Fate,
    Ground,
    Mutant,
    Tried,
    chosen_mutants,
    grounds_of,
    mutants_on,
    mutate,
    sampled,
    stale,
)
from search.progress import Report
from search.verdict import Answer


def run_mutate(options: Namespace) -> int:
    """Try mutants of the scenarios' models; 0 if all that survive are explained, 3 if some are undecided, else 12."""
    trials = [trial for reference in options.scenarios for trial in _trials(reference, options)]
    explained = explanations_in(options.explained) if options.explained else {}
    with ExitStack() as stack:
        out = stack.enter_context(out_folder(options.out))
        beside = stack.enter_context(out_folder(folder_of(options.markdown))) if options.markdown else None
        report = stack.enter_context(shown_on_stderr())
        grounds = grounds_of(trials, report)
        everyone = mutants_on(grounds)
        mutants = _chosen(everyone, options)
        if options.list:
            return _list(mutants, options)
        tried = _tried(mutants, grounds, options, explained=explained, out=out, report=report)
    if options.show is not None:
        return _show(tried[0], grounds, options)
    seed = None if options.sample is None else options.seed
    found = Found(tried, grounds, stale(explained, tried, everyone), len(everyone), seed)
    return _deliver(found, options, beside)


def _trials(reference: str, options: Namespace) -> Iterator[Trial]:
    """The trials that a reference names, or one of a scenario with what the options set otherwise."""
    found = find_trials(reference)
    if not (options.variant or options.bound or options.flag or options.invariant):
        yield from found
        return
    if found[0].scenario_name != reference and not _names_scenario(reference):
        raise UsageError(
            f"{reference!r} names trials, which have variants, bounds, flags and invariants of their own. "
            "Leave out --variant, --bound, --flag and --invariant, or name a scenario."
        )
    scenario = find_scenario(reference)
    flags = {name: setting_from(scenario, name, text) for name, text in options.flag}
    yield Trial(scenario, tuple(options.invariant), options.variant, dict(options.bound), flags)


def _names_scenario(reference: str) -> bool:
    try:
        return bool(find_scenario(reference))
    except UsageError:
        return False


def _chosen(everyone: Sequence[Mutant], options: Namespace) -> list[Mutant]:
    """The mutants that the options ask for."""
    if options.show is not None:
        named = [mutant for mutant in everyone if options.show in (mutant.id, mutant.id.rpartition(":")[2])]
        if len(named) != 1:
            raise UsageError(f"{len(named)} mutants are named {visible(options.show)!r}. --list lists all of them.")
        return named
    mutants = chosen_mutants(everyone, operators=options.operator, functions=options.function)
    return mutants if options.sample is None else sampled(mutants, options.sample, options.seed)


def _tried(
    mutants: Sequence[Mutant], grounds: Sequence[Ground], options: Namespace, *, explained: dict[str, str],
    out: OutFolder, report: Report,
) -> tuple[Tried, ...]:  # fmt: skip
    """The mutants with what became of them."""
    budget = Budget() if options.seconds is None else Budget(options.seconds)
    kept = {} if options.fresh else kept_in(out.path)
    return mutate(
        mutants, grounds, budget, workers=options.workers or 1, text=fingerprint, kept=kept,
        keep=lambda kept: keep(kept, out), explained=explained, report=report,
    )  # fmt: skip


def _list(mutants: Sequence[Mutant], options: Namespace) -> int:
    """Print the mutants without looking at any; 0."""
    if options.json:
        print(json.dumps({"mutants": [mutant_object(Tried(mutant, None)) for mutant in mutants]}, indent=2))
        return 0
    out = console()
    for mutant in mutants:
        out.print(Text(visible(mutant.id), style="bold"), soft_wrap=True)
        for line in diff_lines(mutant):
            out.print(line, soft_wrap=True)
    out.print(Text(f"\n{len(mutants):,} mutants"))
    return 0


def _show(one: Tried, grounds: Sequence[Ground], options: Namespace) -> int:
    """Print one mutant, what became of it and the way there; the exit code."""
    out = console()
    for line in (Text(visible(one.mutant.id), style="bold"), *diff_lines(one.mutant)):
        out.print(line, soft_wrap=True)
    if one.outcome is None:
        return Answer.UNDECIDED.exit_code
    out.print(Text(f"\n{visible(one.outcome.text)}\n", style="bold"), soft_wrap=True)
    story = story_of(one.mutant, one.outcome, grounds)
    if story is not None:
        print_story(story, out, unfold=True)
    out.print(Text(f"\nReproduce: {visible(_command(options))}"), soft_wrap=True)
    return _code([one], ())


def _deliver(found: Found, options: Namespace, beside: OutFolder | None) -> int:
    """Print what became of the mutants, write the document; the exit code."""
    written = {}
    if beside is not None:
        name = Path(options.markdown).name
        text = mutation_document(found, _command(_of_any_workers(options)))
        written["Markdown"] = str(beside.write({name: text})[name])
    code = _code(found.tried, found.stale)
    if options.json:
        page = {**mutation_object(found), "exit_code": code, "command": _command(options)}
        print(json.dumps({**page, "files": written}, indent=2))
        return code
    out = console()
    for line in mutation_lines(found):
        out.print(line, soft_wrap=True)
    put(out, mutation_table(found.tried))
    for name in found.stale:
        told = f"{name} is explained in {options.explained}, and does not survive; take it out."
        out.print(Text(visible(told)), soft_wrap=True)
    for what, where in {**written, "Reproduce": _command(options)}.items():
        out.print(Text(visible(f"{what}: {where}")), soft_wrap=True)
    return code


def _code(tried: Sequence[Tried], old: Sequence[str]) -> int:
    left = [one for one in tried if one.is_open]
    if old or any(one.outcome and one.outcome.fate is Fate.SURVIVED for one in left):
        return Answer.VIOLATED.exit_code
    return Answer.UNDECIDED.exit_code if left or any(one.outcome is None for one in tried) else 0


def _of_any_workers(options: Namespace) -> Namespace:
    """The options without what does not change the outcome."""
    return Namespace(**{**vars(options), "workers": None})


def _command(options: Namespace) -> str:
    """The command line that tries the same again."""
    words = ["kwalk", "mutate", *options.scenarios]
    words += ["--variant", options.variant] if options.variant else []
    words += [word for name in options.invariant for word in ("--invariant", name)]
    words += [word for name, size in options.bound for word in ("--bound", f"{name}={size}")]
    words += [word for name, text in options.flag for word in ("--flag", f"{name}={text}")]
    words += [word for name in options.operator for word in ("--operator", name)]
    words += [word for name in options.function for word in ("--function", name)]
    words += ["--sample", str(options.sample), "--seed", str(options.seed)] if options.sample is not None else []
    for name in ("seconds", "workers", "explained", "show", "markdown"):
        value = getattr(options, name)
        words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)] if value is not None else []
    return shlex.join(words)
