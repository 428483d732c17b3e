"""What is left behind when engines contradict each other: a folder with all that reproduces it.

`model.json` has the scenario's reference, variant, bounds, flags and versions; `verdicts.json` what each engine said;
`commands.txt` how to ask each again; and there is an ITF file for each trace.
"""
from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

from attrs import evolve

from model.language import Model
from reports.escaping import file_stem, visible
from reports.files import out_folder
from reports.fingerprint import fingerprint
from reports.itf import itf_text
from reports.machine import verdict_object
from reports.replaying import stamped
from reports.saving import version
from reports.scenario_reference import reference_to
from search.contradiction import Contradiction
from search.trace import Trace
from search.verdict import Verdict

PACKAGES = ("numpy", "numba", "llvmlite", "z3-solver", "attrs")


def write_bundle(error: Contradiction, folder: str | Path) -> Path:
    """Write the bundle into a folder of its own in `folder`; its path. CannotWrite if that is not possible."""
    model = error.model
    name = f"contradiction-{file_stem(model.scenario.name, model.variant, longest=60)}-{fingerprint(model)[:8]}"
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
        "flags": dict(model.asked_flags), "fingerprint": fingerprint(model), "versions": dict(_versions()),
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


def _trace_name(number: int, verdict: Verdict, claim: str) -> str:
    return f"{number}-{file_stem(verdict.engine, claim or 'deadlock', longest=80)}.itf.json"


def _traces(verdicts: Sequence[Verdict]) -> Iterator[tuple[str, Trace]]:
    for number, verdict in enumerate(verdicts, 1):
        for finding in verdict.findings:
            if finding.trace is not None:
                command = finding.trace.command or verdict.command
                yield _trace_name(number, verdict, finding.claim), evolve(finding.trace, command=command)


def _verdict(verdict: Verdict, number: int, files: dict[str, Path]) -> dict[str, object]:
    named = {finding.claim: files.get(_trace_name(number, verdict, finding.claim)) for finding in verdict.findings}
    return verdict_object(verdict, {claim: file for claim, file in named.items() if file is not None})


def _commands(verdicts: Sequence[Verdict], traces: dict[str, Trace]) -> Iterator[str]:
    """The commands that ask again, and those that replay the traces from inside the folder."""
    yield from dict.fromkeys(visible(verdict.command) for verdict in verdicts if verdict.command)
    yield from (f"kwalk replay {name}" for name in traces)
