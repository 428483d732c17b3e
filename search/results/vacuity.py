"""What a verdict without a violation may hide: action instances that never fired, properties that were never tested."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence

from kwalk.model.language import ActionInstance, Kind, Model, PropertyInstance, StepResult, Vector
from kwalk.model.language.constraints import CutStates
from kwalk.model.language.quantifiers import QuantifierElements
from kwalk.model.language.refinement import MappedAction, RefinedSteps
from kwalk.search.results.verdict import LISTED, Verdict

ATTEMPTS = 2_000
"""The number of steps that a look for quiescent states may try in plain Python."""


def vacuity_notes(verdict: Verdict, model: Model) -> Iterator[str]:
    """Yield notes on action instances that never fired or had no effect, and on properties that were never tested."""
    if verdict.action_counts:
        fired = {key for key, count in verdict.action_counts.items() if count.taken}
        groups = [(i.action.name, i.key) for i in model.instances if i.key not in verdict.left_out]
        idle = {key for _, key in groups} - fired
        if idle:
            yield f"action instances that never fired: {listed(_whole(idle, groups))}"
            stopped = {key for key in idle if key in verdict.action_counts and verdict.action_counts[key].enabled}
            if stopped and verdict.steps is None:  # a walk takes one of the enabled instances, and need not take others
                limit = "a bound or constraint" if model.constraints else "a bound"
                yield f"of these, enabled and stopped by {limit} each time: {listed(_whole(stopped, groups))}"
        else:
            yield f"all {len(groups):,} action instances fired"
        still = [key for key, count in verdict.action_counts.items() if count.taken and not count.changed]
        if still:
            yield f"action instances that fired and never changed the state: {listed(still)}"
    untested = _untested(verdict, model)
    mapped = [prop for prop in model.properties if isinstance(prop.declaration, MappedAction)]
    yield from _without_liveness(verdict, mapped)
    yield from _unmapped([prop for prop in mapped if prop.key in untested])
    untested -= {prop.key for prop in model.properties if prop.declaration.only_counts}
    reasons: dict[str, set[str]] = {}
    for prop in model.properties:
        if prop.key in untested:
            reasons.setdefault(_reason(prop, verdict), set()).add(prop.key)
    for reason, keys in reasons.items():
        yield f"never tested ({reason}): {listed(whole_names(keys, model.properties))}"
    if untested:
        yield from _never_quiescent(model, untested)
    yield from _empty_quantifiers(verdict, model)


def never_tested(verdict: Verdict, model: Model) -> tuple[str, ...]:
    """Return the names of the properties of which no instance was tested, in the order of the model."""
    untested = _untested(verdict, model)
    known = untested.union(verdict.premises)
    counted = [prop for prop in model.properties if prop.key in known and not prop.declaration.only_counts]
    tested = {prop.declaration.title for prop in counted if prop.key not in untested}
    empty = {counts.prop.title for counts in _without_elements(verdict, model) if counts.quantifier.is_whole}
    names = dict.fromkeys(prop.declaration.title for prop in counted)
    return tuple(name for name in names if name not in tested or name in empty)


def _untested(verdict: Verdict, model: Model) -> set[str]:
    """Return the keys of the property instances that are known to be never tested."""
    if verdict.premises or verdict.quiescent_states != 0:
        return {key for key, count in verdict.premises.items() if not count}
    # A reduced search counts quiescent states, and no premises.
    waiting = [prop for prop in model.properties if prop.kind is Kind.WHEN_QUIESCENT]
    return {prop.key for prop in waiting if prop.declaration.title in verdict.properties}


def unfailing_notes(verdict: Verdict) -> Iterator[str]:
    """Yield a sentence on the properties that cannot fail for the same reason."""
    names: dict[tuple[str, str], list[str]] = {}
    for one in verdict.cannot_fail:
        names.setdefault((one.expected, "" if one.expected else one.what), []).append(one.prop)
    for (expected, what), those in names.items():
        if expected:
            yield f"{listed(those)} cannot fail, as expected: {expected}"
        else:
            yield (
                f"{listed(those)} cannot fail: {'it' if len(those) == 1 else 'each'} {what}, reachable or not, so no "
                "action could violate it. Correct it, give the fields that it reads larger domains, such as "
                'number(0, SIZE + 1), or declare the reason: cannot_fail="…"'
            )


def _reason(prop: PropertyInstance, verdict: Verdict) -> str:
    """Return why a property was never tested."""
    if isinstance(prop.declaration, RefinedSteps):
        return "every step stutters"
    if prop.kind is Kind.WHEN_QUIESCENT:
        if verdict.quiescent_states == 0:
            return "no state was quiescent"
        return "no quiescent state was met in which the premise is true"
    if prop.kind is Kind.STEP and verdict.action_counts and not any(c.taken for c in verdict.action_counts.values()):
        return "no step was taken"
    return "the premise was never true"


def _empty_quantifiers(verdict: Verdict, model: Model) -> Iterator[str]:
    """Yield a note on each quantifier of a property that was tested and holds, and that never had an element."""
    for counts in _without_elements(verdict, model):
        what = counts.prop.name if counts.quantifier.is_whole else f"a part of {counts.prop.name}"
        why = f"`{counts.quantifier.range}` ({counts.place}) had no element wherever it was evaluated"
        yield f"never put to the test: {what}, as {why}"


def _without_elements(verdict: Verdict, model: Model) -> Iterator[QuantifierElements]:
    """Yield the quantifiers of properties that were tested and hold, and that never had an element."""
    tested = {prop.declaration for prop in model.properties if verdict.premises.get(prop.key)}
    violated = {finding.prop for finding in verdict.findings}
    failed = {prop.declaration for prop in model.properties if prop.key in violated}
    for prop in model.properties:
        counts = prop.declaration
        if not isinstance(counts, QuantifierElements) or verdict.premises.get(prop.key, 1):
            continue
        if counts.prop in tested and counts.prop not in failed:
            yield counts


def _without_liveness(verdict: Verdict, mapped: Iterable[PropertyInstance]) -> Iterator[str]:
    """Yield for each refinement a note on the `eventually` properties of the abstract scenario."""
    abstract = {prop.declaration.title: prop.declaration.refinement.scenario for prop in mapped}  # type: ignore[attr-defined]
    for title, scenario in abstract.items():
        left = [prop.name for prop in scenario.properties if prop.kind.is_liveness]
        if left and title in verdict.properties:
            yield (
                f"{title} is about single steps: the `eventually` properties of {scenario.name} do not carry over "
                f"({listed(left)}); state them of this scenario too"
            )


def constraint_notes(verdict: Verdict, model: Model) -> Iterator[str]:
    """Yield a note on each constraint of the model: what it cut."""
    counted = {
        prop.declaration.constraint: verdict.premises.get(prop.key)
        for prop in model.properties
        if isinstance(prop.declaration, CutStates)
    }
    for each in model.constraints:
        steps, states = verdict.bounds_hit.get(each.bound, 0), counted.get(each)
        kind = "constraint" if each.states == 1 else "action constraint"
        cut = [f"{states:,} states violate it: they are checked, and not expanded"] if states else []
        cut += [f"{steps:,} steps are not taken"] if steps else []
        if cut:
            yield f"{kind} {each.name}: {'; '.join(cut)}; the verdict is valid only within it"
        elif verdict.premises or verdict.action_counts:  # a search that does not count them does not know
            what = "state" if each.states == 1 else "step"
            yield f"{kind} {each.name} cuts nothing: no {what} that was met violates it"
        else:
            yield f"{kind} {each.name}: the verdict is valid only within it"


def _unmapped(properties: Iterable[PropertyInstance]) -> Iterator[str]:
    """Yield for each refinement a note on the abstract actions that no step maps to."""
    names: dict[tuple[str, str], list[str]] = {}
    for prop in properties:
        assert isinstance(prop.declaration, MappedAction)
        place = prop.declaration.title, prop.declaration.refinement.scenario.name
        names.setdefault(place, []).append(prop.args[0].name)
    for (title, scenario), actions in names.items():
        yield f"{title}: no step maps to these actions of {scenario}: {listed(actions)}"


def _never_quiescent(model: Model, untested: set[str]) -> Iterator[str]:
    """Yield a note on the system actions that keep a model from ever being quiescent without changing anything.

    A few states are tried in plain Python; the note is given if none of them is quiescent.

    Args:
        model: the model.
        untested: the keys of the properties that were never tested.
    """
    waiting = [prop for prop in model.properties if prop.kind is Kind.WHEN_QUIESCENT]
    if not waiting or any(prop.key not in untested for prop in waiting):
        return
    idle: Counter[str] = Counter()
    for vector in _first_states(model):
        enabled = [i for i in model.instances if i.action.by.system and _is_enabled(model, i, vector)]
        if not enabled:
            return
        idle.update(i.key for i in enabled if model.attempt(i, vector).after == vector)
    if idle:
        yield (
            "no quiescent state: system actions are enabled without changing the state: "
            f"{listed(key for key, _ in idle.most_common())}. So nothing that must hold when_quiescent is tested; add "
            "guards, or declare their actor with system=False"
        )


def _is_enabled(model: Model, instance: ActionInstance, vector: Vector) -> bool:
    return model.attempt(instance, vector).result is not StepResult.DISABLED


def _first_states(model: Model) -> Iterator[Vector]:
    """Yield the first states in breadth-first order, as many as `ATTEMPTS` steps in plain Python allow, at least 3."""
    states, reached = deque(model.initial), set(model.initial)
    for _ in range(max(3, ATTEMPTS // max(1, len(model.instances)))):
        if not states:
            return
        yield (vector := states.popleft())
        new = {after for _, after in model.successors(vector)} - reached
        reached |= new
        states.extend(sorted(new))


def whole_names(keys: Iterable[str], properties: Iterable[PropertyInstance]) -> list[str]:
    """Return the keys in the order of `properties`; the name of a property if all of its instances are among them."""
    return _whole(set(keys), [(prop.declaration.name, prop.key) for prop in properties])


def _whole(keys: set[str], groups: Sequence[tuple[str, str]]) -> list[str]:
    incomplete = {name for name, key in groups if key not in keys}
    return list(dict.fromkeys(key if name in incomplete else name for name, key in groups if key in keys))


def listed(names: Iterable[str], most: int = LISTED) -> str:
    """Return the first names as one text, and the number of the others."""
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
