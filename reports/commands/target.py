"""What a search is about: the scenario asked for, its variant, bounds, flags and claims, or where a snapshot begins."""
from __future__ import annotations

import shlex
from argparse import Namespace
from json import JSONDecodeError

from attrs import evolve, frozen

from model.language import Claim, Model, Reading, Scenario, UsageError
from model.language.registry import announced, find_scenario
from model.language.settings import setting_from
from reports.escaping import visible
from reports.trace_file import readable_text

OPTIONS = (
    "variant", "seconds", "seed", "memory", "walks", "depth", "induction", "workers", "most", "label", "minimize",
    "symmetry", "master", "partitions",
)  # fmt: skip
"""The options with one value that a command line repeats."""


@frozen
class Target:
    """A model, the claims to look at, and by which reference the scenario is found again."""

    reference: str
    model: Model
    claims: tuple[Claim, ...]
    command: str
    reading: Reading | None = None


def target(options: Namespace) -> Target:
    """What the options ask for; UsageError if there is no such thing."""
    reference, scenario = _scenario(options)
    reading = _reading(scenario, options)
    variant = options.variant or (reading.variant if reading else None)
    if reading and options.invariant:
        reading = evolve(reading, invariants=())  # What the user asks for goes before what the snapshot suggests.
    begun = scenario.starting_from(reading) if reading else scenario
    flags = {name: setting_from(begun, name, text) for name, text in options.flag}
    model = Model(begun, variant, dict(options.bound), flags)
    return Target(reference, model, _claims(model, options.invariant), _command(options), reading)


def _scenario(options: Namespace) -> tuple[str, Scenario]:
    if options.scenario:
        return options.scenario, find_scenario(options.scenario)
    if getattr(options, "snapshot", None) is None:
        raise UsageError("Name a scenario, or a snapshot with --from. `kwalk scenarios` lists the scenarios.")
    for name, scenario in announced().items():
        if scenario.read_snapshot is not None:
            return name, scenario
    raise UsageError("No installed scenario reads snapshots. Name your own: kwalk hunt SCENARIO --from SNAPSHOT.")


def _reading(scenario: Scenario, options: Namespace) -> Reading | None:
    """What the snapshot says, if one is named; a file that is no use is refused before the scenario sees it."""
    snapshot = getattr(options, "snapshot", None)
    if snapshot is None:
        return None
    if scenario.read_snapshot is None:
        raise UsageError(f"Scenario {scenario.name!r} reads no snapshots; name one that does, or leave out --from.")
    readable_text(snapshot, "snapshot")
    try:
        return scenario.read_snapshot(snapshot)
    except RecursionError as error:
        raise UsageError(f"The snapshot {visible(snapshot)!r} is nested too deeply.") from error
    except JSONDecodeError as error:
        raise UsageError(f"The snapshot {visible(snapshot)!r} is not JSON ({visible(str(error))}).") from error


def _claims(model: Model, names: list[str]) -> tuple[Claim, ...]:
    """The claims of the invariants asked for, each once and in the model's order; all of them if none is named."""
    if not names:
        return model.claims
    wanted = {claim.index for name in names for claim in model.claims_of(name)}
    return tuple(claim for claim in model.claims if claim.index in wanted)


def _command(options: Namespace) -> str:
    """The command line that asks for the same again."""
    words = ["kwalk", options.command]
    words += [options.scenario] if options.scenario else []
    if getattr(options, "snapshot", None) is not None:
        words += ["--from", options.snapshot]
    for name in OPTIONS:
        value = getattr(options, name, None)
        if value is not None:
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    words += [word for name in options.invariant for word in ("--invariant", name)]
    words += [word for name, size in options.bound for word in ("--bound", f"{name}={size}")]
    words += [word for name, text in options.flag for word in ("--flag", f"{name}={text}")]
    words += [word for name in getattr(options, "only", []) for word in ("--only", name)]
    words += [word for name in getattr(options, "without", []) for word in ("--without", name)]
    words += ["--uniform"] if getattr(options, "uniform", False) else []
    words += ["--no-support"] if getattr(options, "no_support", False) else []
    words += ["--keep-going"] if getattr(options, "keep_going", False) else []
    words += ["--reduce"] if getattr(options, "reduce", False) else []
    words += ["--spark"] if getattr(options, "spark", False) else []
    return shlex.join(words)
