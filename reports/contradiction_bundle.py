"""The bundle that kwalk writes when engines contradict each other: a folder with everything that reproduces it.

`model.json` has the scenario's reference, variant, bounds, flags and versions; `verdicts.json` the verdict of each
engine; `commands.txt` the commands that repeat the searches; and there is an ITF file for each trace.
"""
from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from attrs import evolve

from kwalk.model.language import Model
from kwalk.reports.escaping import file_stem, visible
from kwalk.reports.files import out_folder
from kwalk.reports.json_output import verdict_object
from kwalk.reports.scenario_reference import reference_to
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import stamped
from kwalk.reports.traces.save import version
from kwalk.search.kernel.model_digest import model_digest
from kwalk.search.results.cross_check import Contradiction
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Verdict

PACKAGES = ("numpy", "numba", "llvmlite", "z3-solver", "attrs")


def write_bundle(error: Contradiction, folder: str | Path) -> Path:
    """Write the bundle into a new folder in `folder`; return its path. CannotWrite if that fails."""
    model = error.model
    name = f"contradiction-{file_stem(model.scenario.name, model.variant, longest=60)}-{model_digest(model)[:8]}"
    traces = dict(_traces(error.verdicts))
    files = {path: Path(path) for path in traces}
    texts = {
        "model.json": _json({**_about(model), "contradictions": list(error.sentences)}),
        "verdicts.json": _json([_verdict(verdict, number, files) for number, verdict in enumerate(error.verdicts, 1)]),
        "commands.txt": "".join(f"{line}\n" for line in _commands(error.verdicts, traces)),
    }
    reference = reference_to(model.scenario)
    texts |= {path: itf_text(model, stamped(t, model, reference), version()) for path, t in traces.items()}
    with out_folder(Path(folder) / name) as out:
        out.write(texts)
    return Path(folder) / name


def _json(thing: object) -> str:
    return json.dumps(thing, indent=2) + "\n"


def _about(model: Model) -> dict[str, object]:
    return {
        "scenario": reference_to(model.scenario), "variant": model.variant, "bounds": dict(model.binding.bounds),
        "flags": dict(model.flag_overrides), "fingerprint": model_digest(model), "versions": dict(_versions()),
    }  # fmt: skip


def _versions() -> Iterator[tuple[str, str]]:
    yield "kwalk", version()
    yield "python", platform.python_version()
    yield "machine", f"{platform.system()} {platform.machine()}"
    for name in PACKAGES:
        try:
            yield name, installed(name)
        except PackageNotFoundError:
            yield name, "not installed"


def _trace_name(number: int, verdict: Verdict, prop: str) -> str:
    return f"{number}-{file_stem(verdict.engine, prop or 'deadlock', longest=80)}.itf.json"


def _traces(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, Trace]]:
    for number, verdict in enumerate(verdicts, 1):
        for finding in verdict.findings:
            if finding.trace is not None:
                command = finding.trace.command or verdict.command
                yield _trace_name(number, verdict, finding.prop), evolve(finding.trace, command=command)


def _verdict(verdict: Verdict, number: int, files: dict[str, Path]) -> dict[str, object]:
    named = {finding.prop: files.get(_trace_name(number, verdict, finding.prop)) for finding in verdict.findings}
    return verdict_object(verdict, {prop: file for prop, file in named.items() if file is not None})


def _commands(verdicts: Sequence[Verdict], traces: dict[str, Trace]) -> Iterator[str]:
    """Yield the commands that search again, and those that replay the traces from inside the folder."""
    yield from dict.fromkeys(visible(verdict.command) for verdict in verdicts if verdict.command)
    yield from (f"kwalk replay {name}" for name in traces)
