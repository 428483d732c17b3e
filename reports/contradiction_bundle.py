"""The bundle that kwalk writes at an internal error: a folder with everything that reproduces it.

`model.json` has the scenario's reference, variant, bounds, flags and versions, and the contradictions as sentences;
`commands.txt` the commands that repeat the searches. If verdicts contradict each other, `verdicts.json` has the verdict
of each engine, and there is an ITF file for each trace. If compiled code or Z3 differs from plain Python in a state,
`model.json` has that state, and `reproduce.py` compares all executions of the model there. If an action fails while
snapshots are explained, `trace.itf.json` leads to the state where it does, if that is known.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path

from attrs import evolve

from kwalk.model.language import Model, Vector
from kwalk.model.language.distributions import kwalk_version, version
from kwalk.model.language.errors import InternalError
from kwalk.reports.escaping import file_stem, visible
from kwalk.reports.files import out_folder
from kwalk.reports.json_output import verdict_object
from kwalk.reports.scenario_reference import reference_to
from kwalk.reports.traces.itf import itf_text
from kwalk.reports.traces.replay import stamped
from kwalk.search.kernel.model_digest import model_digest
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.cross_check import Contradiction
from kwalk.search.results.trace import ModelFailure, Trace
from kwalk.search.results.verdict import Verdict

PACKAGES = ("numpy", "numba", "llvmlite", "z3-solver", "attrs")


REPRODUCE = """\
\"\"\"Compare all executions of the model in one state; print those that differ.\"\"\"
from kwalk.model.language import Model
from kwalk.model.language.registry import find_scenario
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.differential import disagreements

model = Model(find_scenario({scenario!r}), {variant!r}, {bounds!r}, {flags!r})
for found in disagreements(model, [{state!r}], kernel=kernel_for(model), with_z3=True):
    print(found)
"""


def write_disagreement(error: EngineDisagreement, folder: str | Path, command: str) -> Path:
    """Write the bundle of a state in which plain Python has another result; return its path. The model must be known.

    Args:
        error: The disagreement.
        folder: The folder in which the bundle's folder is made.
        command: The command line that found it.
    """
    model = error.model
    assert model is not None
    about = {**_about(model), "contradictions": [str(error)]}
    texts = {"commands.txt": f"{visible(command)}\n"}
    if error.state is not None:
        about["state"] = model.show(error.state) if _is_in_domains(model, error.state) else list(error.state)
        texts["reproduce.py"] = REPRODUCE.format(
            scenario=reference_to(model.scenario),
            variant=model.variant,
            bounds=dict(model.binding.bounds),
            flags=dict(model.flag_overrides),
            state=tuple(error.state),
        )
    texts["model.json"] = _json(about)
    path = Path(folder) / _name(model)
    with out_folder(path) as out:
        out.write(texts)
    return path


def bundle_of(error: InternalError, folder: str | Path, command: str) -> Path | None:
    """Write the bundle that reproduces an internal error, if it is about a model; return its path.

    Args:
        error: The error.
        folder: The folder in which the bundle's folder is made.
        command: The command line that led to the error.
    """
    if isinstance(error, Contradiction):
        return write_bundle(error, folder)
    if isinstance(error, EngineDisagreement) and error.model is not None:
        return write_disagreement(error, folder, command)
    if isinstance(error, ModelFailure):
        return write_failure(error, folder, command)
    return None


def write_failure(error: ModelFailure, folder: str | Path, command: str) -> Path:
    """Write the bundle of an action that failed while snapshots were explained; return its path.

    Args:
        error: The failure; its trace becomes an ITF file.
        folder: The folder in which the bundle's folder is made.
        command: The command line that found it.
    """
    model = error.model
    texts = {
        "model.json": _json({**_about(model), "failure": str(error)}),
        "commands.txt": f"{visible(command)}\n",
    }
    if error.trace is not None:
        texts["trace.itf.json"] = itf_text(
            model, stamped(error.trace, model, reference_to(model.scenario)), kwalk_version()
        )
    path = Path(folder) / _name(model, "failure")
    with out_folder(path) as out:
        out.write(texts)
    return path


def _is_in_domains(model: Model, state: Vector) -> bool:
    return all(leaf.low <= number <= leaf.high for leaf, number in zip(model.leaves, state, strict=True))


def _name(model: Model, what: str = "contradiction") -> str:
    return f"{what}-{file_stem(model.scenario.name, model.variant, longest=60)}-{model_digest(model)[:8]}"


def write_bundle(error: Contradiction, folder: str | Path) -> Path:
    """Write the bundle into a new folder in `folder`; return its path. CannotWrite if that fails."""
    model = error.model
    traces = dict(_traces(error.verdicts))
    files = {path: Path(path) for path in traces}
    texts = {
        "model.json": _json({**_about(model), "contradictions": list(error.sentences)}),
        "verdicts.json": _json([_verdict(verdict, number, files) for number, verdict in enumerate(error.verdicts, 1)]),
        "commands.txt": "".join(f"{line}\n" for line in _commands(error.verdicts, traces)),
    }
    reference = reference_to(model.scenario)
    texts |= {path: itf_text(model, stamped(t, model, reference), kwalk_version()) for path, t in traces.items()}
    path = Path(folder) / _name(model)
    with out_folder(path) as out:
        out.write(texts)
    return path


def _json(thing: object) -> str:
    return json.dumps(thing, indent=2) + "\n"


def _about(model: Model) -> dict[str, object]:
    return {
        "scenario": reference_to(model.scenario),
        "variant": model.variant,
        "bounds": dict(model.binding.bounds),
        "flags": dict(model.flag_overrides),
        "fingerprint": model_digest(model),
        "versions": dict(_versions()),
    }


def _versions() -> Iterator[tuple[str, str]]:
    yield "kwalk", kwalk_version()
    yield "python", platform.python_version()
    yield "machine", f"{platform.system()} {platform.machine()}"
    for name in PACKAGES:
        yield name, version(name) or "not installed"


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
