"""The command that proves, and checks saved proofs again without Z3: `kwalk prove`."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, cast

from kwalk.model.language import Model, PropertyInstance, UsageError
from kwalk.model.language.lift import lift
from kwalk.model.language.registry import find_scenario
from kwalk.reports.document import Block, DataTable, Paragraph, strong
from kwalk.reports.escaping import visible
from kwalk.reports.handlers.search import search
from kwalk.reports.handlers.target import command_line, malformed_json
from kwalk.reports.reporter import deliver
from kwalk.reports.traces.trace_file import readable_text
from kwalk.search.proof.recheck import CertificateCheck, check_certificate
from kwalk.search.results.verdict import CertificateFact, ProofOutcome

CONFIRMED, UNDECIDED, REFUSED = 0, 3, 12
"""Exit codes."""
HEADLINES = {CONFIRMED: ("CONFIRMED", "good"), UNDECIDED: ("UNDECIDED", "open"), REFUSED: ("REFUSED", "bad")}


def run_prove(options: Namespace) -> int:
    """Prove properties, or check a saved proof; 0 if all certificates are confirmed, 12 if one is refused, else 3."""
    file = options.scenario
    if not file.endswith(".json"):
        if options.proved is not None:
            raise UsageError("--scenario is about a saved proof, which is a JSON file. Leave it out, or name the file.")
        return search(options)
    page = _page(file)
    model = _model(page, options.proved)
    certificates = dict(_certificates(page, model, file))
    lifted = lift(model)
    checks = [check_certificate(lifted, prop, facts) for prop, facts in certificates.items()]
    code = REFUSED if any(c.gap for c in checks) else UNDECIDED if any(c.unsettled for c in checks) else CONFIRMED
    command = command_line(options, [file])
    data = partial(_object, checks, model, code)
    return deliver(options, data, _blocks(checks, model, code), code=code, command=command)


# Reading.


def _refusal(file: str, why: str) -> UsageError:
    return UsageError(f"{visible(file)!r} is not a proof that `kwalk prove --json` printed: {why}.")


def _page(file: str) -> Mapping[str, Any]:
    with malformed_json(f"The proof {visible(file)!r}"):
        page = json.loads(readable_text(file, "proof"))
    kinds = {"scenario": str, "variant": str, "bounds": dict, "flags": dict, "proofs": list}
    for name, kind in kinds.items():
        if not isinstance(page, dict) or not isinstance(page.get(name), kind):
            raise _refusal(file, f"`{name}` is missing, or has another type")
    if not all(type(size) is int for size in page["bounds"].values()):
        raise _refusal(file, "`bounds` must be whole numbers")
    if not all(isinstance(setting, bool | str) for setting in page["flags"].values()):
        raise _refusal(file, "`flags` must be true, false or strings")
    return cast("Mapping[str, Any]", page)


def _model(page: Mapping[str, Any], scenario: str | None) -> Model:
    return Model(find_scenario(scenario or page["scenario"]), page["variant"], page["bounds"], page["flags"])


def _certificates(
    page: Mapping[str, Any], model: Model, file: str
) -> Iterator[tuple[PropertyInstance, Sequence[CertificateFact]]]:
    """Yield the properties that the file calls proved, with their certificates."""
    known, count = {prop.key: prop for prop in model.properties}, 0
    for proof in page["proofs"]:
        if not isinstance(proof, dict) or not isinstance(proof.get("prop"), str):
            raise _refusal(file, "`proofs` must have objects with a `prop`")
        certificate = proof.get("certificate")
        if proof.get("outcome") != ProofOutcome.PROVED.value or certificate is None:
            continue
        if proof["prop"] not in known:
            raise UsageError(f"The scenario has no property {visible(proof['prop'])!r}. Prove it again.")
        if not _is_certificate(certificate):
            raise _refusal(file, "a certificate must be a list of lists of [field, least number, greatest number]")
        count += 1
        yield known[proof["prop"]], tuple(tuple((str(p), a, b) for p, a, b in fact) for fact in certificate)
    if not count:
        raise UsageError(
            f"{visible(file)!r} has no certificate: a property that is inductive, with or without supporting "
            "invariants, has one; k-induction with k > 1 and bounded checking give none."
        )


def _is_certificate(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(fact, list)
        and fact
        and all(
            isinstance(limit, list)
            and len(limit) == 3
            and isinstance(limit[0], str)
            and type(limit[1]) is int
            and type(limit[2]) is int
            for limit in fact
        )
        for fact in value
    )


# Results.


def _result(check: CertificateCheck) -> str:
    if check.gap:
        return f"refused: {check.gap}"
    return f"not settled: {check.unsettled}" if check.unsettled else "confirmed"


def _blocks(checks: Sequence[CertificateCheck], model: Model, code: int) -> Iterator[Block]:
    count = f"{len(checks):,} propert{'y' if len(checks) == 1 else 'ies'}"
    yield Paragraph("")
    yield Paragraph([strong(*HEADLINES[code]), f"  {count} of {model.scenario.name}, variant {model.variant}"])
    bounds = ", ".join(f"{name} {size}" for name, size in model.binding.bounds.items())
    yield Paragraph(f"checked on the whole model, in plain Python and without Z3; {bounds}", 2)
    rows = tuple((check.prop, f"{check.facts:,}", _result(check)) for check in checks)
    yield DataTable(("property", "invariants", "certificate"), rows, frozenset({1}), wide=2, indent=2)
    yield Paragraph(
        "Confirmed: no behaviour within the bounds violates the property before an action leaves its domain, which "
        "is an error of the model.",
        2,
    )


def _object(checks: Sequence[CertificateCheck], model: Model, code: int) -> dict[str, Any]:
    return {
        "scenario": model.scenario.name,
        "variant": model.variant,
        "verdict": HEADLINES[code][0].lower(),
        "certificates": [
            {"property": c.prop, "invariants": c.facts, "gap": c.gap or None, "unsettled": c.unsettled or None}
            for c in checks
        ],
    }
