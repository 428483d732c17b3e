"""The command that tries small mistakes in a model: `kwalk mutate`."""

from __future__ import annotations

import tomllib
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kwalk.model.language import Trial, UsageError
from kwalk.model.language.registry import find_scenario, find_trials
from kwalk.model.language.settings import setting_from
from kwalk.reports.document import CodeBlock, strong
from kwalk.reports.document.text import Printable, story_text
from kwalk.reports.escaping import visible
from kwalk.reports.files import OutFolder, out_folder
from kwalk.reports.handlers.target import command_line
from kwalk.reports.pages.mutation import (
    diff,
    mutant_object,
    mutant_story,
    mutation_document,
    mutation_object,
    mutation_text,
)
from kwalk.reports.progress import shown_on_stderr
from kwalk.reports.reporter import Written, deliver, folder_of
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.analyses.mutation.mutate import (
    Baseline,
    Mutant,
    MutantResult,
    MutationReport,
    baselines_of,
    chosen_mutants,
    mutants_on,
    mutate,
    mutation_journal,
    sample,
    stale_explanations,
)
from kwalk.search.base.option_table import present

PAGE = "mutants.html"
"""The name of the page that --html writes."""


def run_mutate(options: Namespace) -> int:
    """Try mutants of the scenarios' models; 0 if all that survive are explained, 3 if some are undecided, else 12."""
    trials = [trial for reference in options.scenarios for trial in _trials(reference, options)]
    explained = explanations_in(options.explained) if options.explained else {}
    document = folder_of(options.markdown, "--markdown")
    with out_folder(options.out) as out, document as beside, shown_on_stderr() as report:
        baselines = baselines_of(trials, report)
        all_mutants = mutants_on(baselines)
        mutants = _chosen(all_mutants, options)
        if options.list:
            return _list(mutants, options)
        journal = mutation_journal(out.path)
        if options.fresh:
            journal.cut(0)
        results = mutate(
            mutants,
            baselines,
            journal=journal,
            explained=explained,
            report=report,
            **present(vars(options), "seconds", "workers"),
        )
    if options.show is not None:
        return _show(results[0], baselines, options)
    seed = None if options.sample is None else options.seed
    outcome = MutationReport(
        results, baselines, stale_explanations(explained, results, all_mutants), len(all_mutants), seed
    )
    return _deliver(outcome, options, beside, out)


def explanations_in(path: str) -> dict[str, str]:
    """Return the reasons in a file of explanations, by the id of the mutant; UsageError if the file is malformed."""
    try:
        page = tomllib.loads(readable_text(Path(path), "explanations"))
        found: dict[str, str] = {}
        for table in page.get("survivors", []):
            for mutant in table["mutants"]:
                if mutant in found:
                    raise ValueError(f"{mutant!r} is explained twice")
                found[mutant] = str(table["reason"])
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise UsageError(
            f"{visible(path)!r} explains no mutants: {visible(str(error), 200)}. "
            'It needs tables [[survivors]] with reason = "…" and mutants = ["…"].'
        ) from error
    return found


def _trials(reference: str, options: Namespace) -> Iterator[Trial]:
    """Yield the trials that a reference names, or one trial of a scenario with the settings of the options."""
    found = find_trials(reference)
    if not (options.variant or options.bounds or options.flags or options.properties):
        yield from found
        return
    if found[0].scenario_name != reference and not _names_scenario(reference):
        raise UsageError(
            f"{reference!r} names trials, which have their own variants, bounds, flags and properties. "
            "Leave out --variant, --bound, --flag and --property, or name a scenario."
        )
    scenario = find_scenario(reference)
    flags = {name: setting_from(scenario, name, text) for name, text in options.flags}
    yield Trial(scenario, tuple(options.properties), options.variant, dict(options.bounds), flags)


def _names_scenario(reference: str) -> bool:
    try:
        return bool(find_scenario(reference))
    except UsageError:
        return False


def _chosen(all_mutants: Sequence[Mutant], options: Namespace) -> list[Mutant]:
    """Return the mutants that the options select."""
    if options.show is not None:
        named = [mutant for mutant in all_mutants if options.show in (mutant.id, mutant.id.rpartition(":")[2])]
        if len(named) != 1:
            raise UsageError(f"{len(named)} mutants have the id {visible(options.show)!r}. `--list` prints all ids.")
        return named
    mutants = chosen_mutants(all_mutants, operators=options.operator, functions=options.function)
    return mutants if options.sample is None else sample(mutants, options.sample, options.seed)


def _list(mutants: Sequence[Mutant], options: Namespace) -> int:
    """Print the mutants without trying any; 0."""
    listed = (block for mutant in mutants for block in (CodeBlock(([strong(mutant.id)],)), diff(mutant)))
    data = {"mutants": [mutant_object(MutantResult(mutant, None)) for mutant in mutants]}
    return deliver(options, lambda: data, (*listed, CodeBlock(("", f"{len(mutants):,} mutants"))))


def _show(result: MutantResult, baselines: Sequence[Baseline], options: Namespace) -> int:
    """Print one mutant, its outcome and the trace that decided it; return the exit code."""
    blocks: list[Printable] = [CodeBlock(([strong(result.mutant.id)],)), diff(result.mutant)]
    if result.outcome is not None:
        blocks.append(CodeBlock(("", [strong(result.outcome.text)], "")))
        story = mutant_story(result.mutant, result.outcome, baselines)
        blocks += [*([] if story is None else story_text(story, unfold=True)), CodeBlock(("",))]
    code = MutationReport([result], baselines, (), 1).answer.exit_code
    return deliver(options, lambda: {"mutants": [mutant_object(result)]}, blocks, code=code, command=_command(options))


def _deliver(report: MutationReport, options: Namespace, beside: OutFolder | None, out_dir: OutFolder) -> int:
    """Print what became of the mutants, write the document and the page; return the exit code."""
    document = tuple(mutation_document(report, _command(Namespace(**{**vars(options), "workers": None}))))
    with Written() as written:
        written.document(options, out_dir, PAGE, "Mutation testing", document)
        written.markdown(options, beside, document)
    code, command = report.answer.exit_code, _command(options)
    stale = f"is explained in {options.explained}, but does not survive; remove the explanation."
    explained = CodeBlock(tuple(f"{name} {stale}" for name in report.stale_explanations))

    def data() -> dict[str, Any]:
        return {**mutation_object(report), "files": written.names}

    return deliver(options, data, (*mutation_text(report), explained), written, code=code, command=command)


def _command(options: Namespace) -> str:
    """Return the command line that repeats the run; the seed matters only for a sample."""
    seed = None if options.sample is None else options.seed
    return command_line(Namespace(**{**vars(options), "seed": seed}), options.scenarios)
