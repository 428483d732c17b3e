"""Diagrams of counterexamples inside Markdown documents, kept true by replaying them.

A document names a counterexample in a comment, and its diagram follows:

    <!-- counterexample
    scenario: lost-update
    variant: no-lock
    claim: nothing_is_lost()
    bounds: workers=2
    flags: fenced=off; elections=by lot
    steps: read(0); read(1); write(0); write(1)
    -->
    (what kwalk writes)
    <!-- end of counterexample -->

`bounds` and `flags` may be left out; flags are set as `--flag` sets them. Without `steps` the shortest counterexample
is searched for, and its steps are written into the comment. With them the steps are only replayed, so that a diagram
costs no search.
"""
from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from attrs import evolve, frozen

from model.language import Claim, Model, UsageError
from model.language.registry import find_scenario
from model.language.settings import setting_from
from reports.markdown import diagram
from reports.story import tell
from search.fairness import closed, shows_in_the_end
from search.trace import ReplayError, Trace, reference_of, run

BLOCK = re.compile(r"<!-- counterexample\n(?P<head>.*?)-->\n.*?<!-- end of counterexample -->", re.DOTALL)
FIELDS = ("scenario", "variant", "claim", "bounds", "flags", "steps")
NEEDED = ("scenario", "variant", "claim")


@frozen
class Counterexample:
    """What a document says of a counterexample."""

    scenario: str
    variant: str
    claim: str
    bounds: Mapping[str, int]
    flags: Mapping[str, str]
    steps: tuple[str, ...]

    @property
    def command(self) -> str:
        """The command that searches for it."""
        words = ["kwalk", "exhaust", self.scenario, "--variant", self.variant]
        words += [word for name, size in self.bounds.items() for word in ("--bound", f"{name}={size}")]
        words += [word for name, setting in self.flags.items() for word in ("--flag", f"{name}={setting}")]
        return shlex.join([*words, "--invariant", self.claim.partition("(")[0]])


def illustrated(document: str) -> str:
    """The document with every counterexample's diagram drawn anew; UsageError if one is none any more."""
    return BLOCK.sub(lambda match: _block(_read(match["head"])), document)


def _read(head: str) -> Counterexample:
    said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    unknown = [name for name in said if name not in FIELDS]
    missing = [name for name in NEEDED if name not in said]
    if unknown or missing:
        what = f"knows no {unknown[0]!r}" if unknown else f"needs {missing[0]!r}"
        raise UsageError(f"A counterexample in a document {what}. It has the lines {', '.join(FIELDS)}.")
    sizes = {name: int(size) for name, size in _pairs(said.get("bounds", "").split())}
    flags = dict(_pairs(_listed(said.get("flags", ""))))
    steps = tuple(_listed(said.get("steps", "")))
    return Counterexample(said["scenario"], said["variant"], said["claim"], sizes, flags, steps)


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(";") if word.strip()]


def _pairs(words: list[str]) -> list[tuple[str, str]]:
    return [(word.partition("=")[0], word.partition("=")[2]) for word in words]


def _block(wanted: Counterexample) -> str:
    scenario = find_scenario(wanted.scenario)
    flags = {name: setting_from(scenario, name, text) for name, text in wanted.flags.items()}
    model = Model(scenario, wanted.variant, wanted.bounds, flags)
    claim = next((claim for claim in model.claims if claim.key == wanted.claim), None)
    if claim is None:
        raise UsageError(f"Scenario {wanted.scenario!r} has no claim {wanted.claim!r} under these bounds.")
    trace = _replayed(model, claim, wanted) if wanted.steps else _found(model, claim)
    kept = evolve(wanted, steps=trace.actions)
    drawing = "\n".join(diagram(tell(model, trace))).rstrip()
    said = f"{trace.length} steps, the shortest that `{kept.command}` finds."
    return f"<!-- counterexample\n{_head(kept)}-->\n{drawing}\n\n{said}\n<!-- end of counterexample -->"


def _head(wanted: Counterexample) -> str:
    lines = {
        "scenario": wanted.scenario,
        "variant": wanted.variant,
        "claim": wanted.claim,
        "bounds": " ".join(f"{name}={size}" for name, size in wanted.bounds.items()),
        "flags": "; ".join(f"{name}={setting}" for name, setting in wanted.flags.items()),
        "steps": "; ".join(wanted.steps),
    }
    return "".join(f"{name}: {text}\n" for name, text in lines.items() if text)


def _replayed(model: Model, claim: Claim, wanted: Counterexample) -> Trace:
    for start in model.initial:
        try:
            states = run(model, start, wanted.steps)
        except ReplayError:
            continue
        trace = closed(model, claim, _trace(model, claim, states, wanted.steps))
        if shows_in_the_end(model, claim, trace):
            return trace
    raise UsageError(
        f"The steps of {wanted.claim} in {wanted.scenario!r} ({wanted.variant}) do not lead to a violation any more. "
        f"Remove the line `steps:` to search for others: {wanted.command}"
    )


def _trace(model: Model, claim: Claim, states: tuple[tuple[int, ...], ...], steps: tuple[str, ...]) -> Trace:
    return Trace(
        reference_of(model), model.variant, model.binding.bounds, states, steps, claim.key, flags=model.asked_flags
    )


def _found(model: Model, claim: Claim) -> Trace:
    from search.exhaust import exhaust

    found = exhaust(model, claims=(claim,)).counterexample
    if found is None:
        where = f"{model.scenario.name!r} ({model.variant})"
        raise UsageError(f"{claim.key} is not violated in {where}: no counterexample.")
    return found
