"""What the "holds" of a verdict is worth: properties that cannot fail, and gaps, which are what was not tested.

A property that cannot fail, if that is not expected, makes "holds" another answer; so do gaps in a strict examination.
Gaps are: no property at all, a property that was never tested, a search in which no step is taken, and steps that a
bound cuts off on which a property or a guard depends, or after which a property is violated.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import evolve

from kwalk.model.language import DomainError, Model, PropertyInstance
from kwalk.model.language.constraints import PREFIX
from kwalk.search.examination.falsifiability import Falsifiability, falsifiability
from kwalk.search.results.vacuity import listed, never_tested
from kwalk.search.results.verdict import Answer, Unfailing, Verdict, VerdictGap

if TYPE_CHECKING:
    from kwalk.search.examination.cut_steps import CutStep

LISTED = 3
"""The number of names in a list; the others are counted."""
STEPS = 12
"""The number of steps of a path that are named."""
NO_PROPERTY = VerdictGap((), "no property was checked: only errors of the model were looked for")


def examined(
    model: Model, properties: Iterable[PropertyInstance], verdict: Verdict, *, strict: bool = False
) -> Verdict:
    """Return the verdict of an engine with what its "holds" is worth, and with the answer that follows.

    Args:
        model: The model.
        properties: The property instances that were checked.
        verdict: The verdict.
        strict: Whether gaps make "holds" the answer "holds with gaps"; they are then in every verdict, not only there.
    """
    checked = tuple(properties)
    if verdict.is_interrupted:
        return verdict
    if not checked:
        return _of_nothing(verdict).judged(strict=strict) if not model.scenario.deadlock_is_error else verdict
    known = falsifiability(model, checked)
    notes = (*verdict.notes, *_notes(checked, known))
    verdict = evolve(verdict, cannot_fail=_unfailing(model, checked, known), notes=notes)
    if strict or verdict.answer is Answer.HOLDS:
        verdict = evolve(verdict, gaps=tuple(_gaps(model, checked, verdict)))
    return verdict.judged(strict=strict)


def _of_nothing(verdict: Verdict) -> Verdict:
    """Return the verdict of a search that no property was asked of."""
    if verdict.answer is not Answer.HOLDS:
        return verdict
    return evolve(verdict, gaps=(NO_PROPERTY,), notes=(*verdict.notes, NO_PROPERTY.text))


class CannotFail(UserWarning):
    """A test checks a property that no state of the domains violates."""


def warn_of_unfailing(model: Model, properties: Iterable[PropertyInstance], stacklevel: int) -> None:
    """Warn (`CannotFail`) of properties that cannot fail and are not declared to be so."""
    checked = tuple(properties)
    found = _unfailing(model, checked, falsifiability(model, checked)) if checked else ()
    names = [one.prop for one in found if not one.expected]
    if names:
        text = f"{model.scenario.name}: {listed(names)} cannot fail; `kwalk exhaust` says why and what to do."
        warnings.warn(text, CannotFail, stacklevel=stacklevel + 1)


def _unfailing(
    model: Model, properties: Iterable[PropertyInstance], falsifiability: Mapping[str, Falsifiability]
) -> tuple[Unfailing, ...]:
    return tuple(
        Unfailing(name, what.value, _expected(model, properties, name))
        for name, what in falsifiability.items()
        if what.cannot_fail
    )


def _expected(model: Model, properties: Iterable[PropertyInstance], name: str) -> str:
    """Return why it is expected that a property cannot fail; "" if that is not expected."""
    declared = next(prop.declaration.cannot_fail for prop in properties if prop.declaration.name == name)
    return declared or model.scenario.cannot_fail.get(name, "")


def _notes(properties: Iterable[PropertyInstance], falsifiability: Mapping[str, Falsifiability]) -> Iterator[str]:
    """Yield what is not known, and which declarations are wrong."""
    unknown = [name for name, what in falsifiability.items() if what is Falsifiability.UNKNOWN]
    if unknown:
        yield f"not known whether they can fail: {listed(unknown)}; Z3 does not decide that, or not in time"
    for declaration in dict.fromkeys(prop.declaration for prop in properties):
        if declaration.cannot_fail and falsifiability.get(declaration.name) is Falsifiability.CAN_FAIL:
            yield (
                f"{declaration.name} is declared with cannot_fail, and can fail: some state of the domains violates "
                "it. Leave out cannot_fail."
            )


def _gaps(model: Model, properties: tuple[PropertyInstance, ...], verdict: Verdict) -> Iterator[VerdictGap]:
    unfailing = {one.prop for one in verdict.cannot_fail}
    names = {prop.declaration.title for prop in properties}
    untested = tuple(name for name in never_tested(verdict, model) if name in names - unfailing)
    if untested:
        yield VerdictGap(untested, f"never tested: {listed(untested)}")
    counts = verdict.action_counts.values()
    if not (any(count.taken for count in counts) if counts else _moves(model)):
        yield VerdictGap((), "no step was taken: every property was tested in initial states only")
    if verdict.bounds_hit or not verdict.premises:  # a proof and a reduced search do not know which bounds were reached
        yield from _cut_off(model, properties, verdict)


def _moves(model: Model) -> bool:
    """Return whether a step is possible at first; a proof and a reduced search do not count steps."""
    try:
        return any(True for vector in model.initial for _ in model.successors(vector))
    except DomainError:
        return True


def _cut_off(model: Model, properties: tuple[PropertyInstance, ...], verdict: Verdict) -> Iterator[VerdictGap]:
    """Yield a gap for each bound on which something depends, or beyond which a property is violated."""
    from kwalk.search.examination.bound_dependents import dependents
    from kwalk.search.examination.cut_steps import cut_steps

    users = dependents(model, properties)
    cuts: dict[str, list[CutStep]] = {}
    for cut in cut_steps(model):
        cuts.setdefault(cut.bound, []).append(cut)
    keys = {prop.key: prop.declaration.title for prop in properties}
    for bound, count in (verdict.bounds_hit or dict.fromkeys(cuts, 0)).items():
        here = cuts.get(bound, [])
        bad = next(((cut, keys[key]) for cut in here for key in cut.violated if key in keys), None)
        depends = () if bound.startswith(PREFIX) else users.get(bound, ())
        if not depends and bad is None:
            continue
        text = f"{_what(model, bound, count)}{_by(verdict, here)}"
        text += f"; on it depend{'s' * (len(depends) == 1)} {listed(depends, LISTED)}" if depends else ""
        about = tuple(name for name in depends if name in keys.values())
        yield VerdictGap(about or ((bad[1],) if bad else ()), f"{text}. {_beyond(model, bound, here, bad)}", bound)


def _what(model: Model, bound: str, count: int) -> str:
    number = f"{count:,} s" if count else "S"  # a proof and a reduced search do not count them
    steps = "1 step was cut off" if count == 1 else f"{number}teps were cut off"
    if bound.startswith(PREFIX):
        return f"{steps} by the {bound}"
    return f"{steps} by the bound {bound}={model.binding.bounds[bound]}"


def _by(verdict: Verdict, cuts: Iterable[CutStep]) -> str:
    """Return which actions are cut off; how often each is, if the engine counts it and there is no other bound."""
    actions = list(dict.fromkeys(cut.action for cut in cuts))
    counted: dict[str, int] = {}
    if verdict.steps is None and len(verdict.bounds_hit) == 1:
        for key, count in verdict.action_counts.items():
            name = key.partition("(")[0]
            counted[name] = counted.get(name, 0) + count.enabled - count.taken
        actions = [f"{name} {times:,}" for name, times in counted.items() if times] or actions
    return f" ({listed(actions, LISTED)})" if actions else ""


def _beyond(model: Model, bound: str, cuts: Sequence[CutStep], bad: tuple[CutStep, str] | None) -> str:
    """Return what one step beyond the bound shows, and what to do."""
    constrained = bound.startswith(PREFIX)
    raised = f"--bound {bound}={model.binding.bounds.get(bound, 0) + 1}"
    if bad is not None:
        cut, name = bad
        advice = (
            "Leave the constraint out."
            if constrained
            else (
                f"Search with {raised}. If {name} compares a field with the bound of that field, give the field more "
                f"room, such as number(0, {bound.upper()} + 1)."
            )
        )
        return f"One step beyond it {name} is violated: {listed(cut.steps, STEPS)}. {advice}"
    if not cuts:
        return f"No such step was met near the initial states, so what follows is not known. Search with {raised}."
    failed = next((cut.error for cut in cuts if cut.error), "")
    if failed:
        return f"One step beyond it the model has no meaning ({failed.rstrip('.')}). Search with {raised}."
    return f"One step beyond it no property is violated; what follows is not known. Search with {raised}."
