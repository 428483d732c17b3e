"""Saved certificates: the supporting facts of a proof by the names of leaves, and their check on the whole model.

Words: a *certificate fact* is a cube as (path of a leaf, least number, greatest number) for each leaf that it has: no
reachable state has all of these leaves in these intervals. Nothing of the proof is trusted: neither its slice, nor its
facts, nor Z3. A gap is confirmed in plain Python.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from kwalk.model.language import Kind, Model, PropertyInstance, UsageError, Vector
from kwalk.model.language.lift import Lifted
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.proof.certificate import NO_STEP, Gap, property_gap
from kwalk.search.proof.cubes import Cube, fact_text
from kwalk.search.proof.slicing import whole_model
from kwalk.search.results.verdict import CertificateFact

SHOWN_FIELDS = 6
"""Fields of a state that the description of a gap shows."""


@frozen
class CertificateCheck:
    """The result for one property: `gap` says where the certificate fails, `unsettled` why that is not known.

    Both are "" if it is confirmed.
    """

    prop: str
    facts: int
    gap: str = ""
    unsettled: str = ""


def certificate_of(model: Model, facts: Sequence[Cube]) -> tuple[CertificateFact, ...]:
    """Return facts by the names of leaves."""
    return tuple(
        tuple((model.leaves[n].path, least, greatest) for n, (least, greatest) in fact.items()) for fact in facts
    )


def facts_of(model: Model, certificate: Sequence[CertificateFact]) -> list[Cube]:
    """Return the facts of a certificate as cubes.

    Raises:
        UsageError: The model has no such leaf, or the leaf no such numbers.
    """
    numbers = model.leaf_numbers
    found = []
    for fact in certificate:
        for path, least, greatest in fact:
            if path not in numbers:
                raise UsageError(f"The certificate names {path!r}, and the state of the model has no such field.")
            leaf = model.leaves[numbers[path]]
            if not leaf.low <= least <= greatest <= leaf.high:
                raise UsageError(
                    f"The certificate has the interval {least} … {greatest} for {path!r} (got {least}, {greatest}). "
                    f"Allowed: within {leaf.low} … {leaf.high}. The model may have changed: prove the property again."
                )
        found.append(Cube({numbers[path]: (least, greatest) for path, least, greatest in fact}))
    return found


def check_certificate(
    lifted: Lifted, prop: PropertyInstance, certificate: Sequence[CertificateFact]
) -> CertificateCheck:
    """Check on the whole model that facts support a property, and that it holds initially.

    Args:
        lifted: The model as terms.
        prop: The property.
        certificate: The facts.

    Raises:
        UsageError: The certificate does not fit the model.
        EngineDisagreement: Plain Python does not confirm a gap.
    """
    model = lifted.model
    facts = facts_of(model, certificate)
    for start in model.initial:
        if _fails(model, prop, start):
            return CertificateCheck(prop.key, len(facts), gap="the property fails in an initial state")
    stated = next(one for one in lifted.stated_properties if one.prop.key == prop.key)
    try:
        gap = property_gap(whole_model(lifted), stated, facts)
    except TimeoutError as end:
        return CertificateCheck(prop.key, len(facts), unsettled=str(end))
    if gap is None:
        return CertificateCheck(prop.key, len(facts))
    _confirm(model, prop, facts, gap)
    return CertificateCheck(prop.key, len(facts), gap=_gap_text(model, gap))


def _fails(model: Model, prop: PropertyInstance, state: Vector) -> bool:
    if prop.kind is Kind.REACHABLE:
        return model.truth(prop, state) is True
    return model.violates(prop, state)


def _confirm(model: Model, prop: PropertyInstance, facts: Sequence[Cube], gap: Gap) -> None:
    """Check in plain Python that a step leads from a state with all facts to one in which something fails."""
    if gap.instance == NO_STEP or model.canonical(gap.state) != gap.state:
        return  # an initial state, or one that no state object has
    after = model.attempt(model.instances[gap.instance], gap.state).after
    if after is None or any(fact.contains_state(gap.state) for fact in facts):
        is_confirmed = False
    elif gap.fact is not None:
        is_confirmed = gap.fact.contains_state(after)
    else:
        is_confirmed = model.violates(prop, after, gap.state) if prop.kind is Kind.STEP else _fails(model, prop, after)
    if not is_confirmed:
        key = model.instances[gap.instance].key
        raise EngineDisagreement(f"Plain Python does not confirm a gap of a certificate of {prop.key} at {key}.", model)


def _gap_text(model: Model, gap: Gap) -> str:
    what = "the property" if gap.fact is None else f"an invariant ({fact_text(model, gap.fact)})"
    if gap.instance == NO_STEP:
        return f"{what} fails in an initial state"
    with model.active():
        usual = model.show(model.vector(model.scenario.state()))
    shown = [f"{path} {value}" for path, value in model.show(gap.state).items() if value != usual[path]]
    rest = f" and {len(shown) - SHOWN_FIELDS} more" if len(shown) > SHOWN_FIELDS else ""
    key = model.instances[gap.instance].key
    where = f"{', '.join(shown[:SHOWN_FIELDS])}{rest}" if shown else "all fields as in a new state"
    return f"{key} leads from a state in which all invariants hold to one in which {what} fails: {where}"
