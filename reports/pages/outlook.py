"""What an inspection and an outlook say of a system, in sentences for its operator: now, and after each event."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kwalk.model.language.inspection import FindingKind, Inspection, Observation, Severity
from kwalk.model.language.recovery import WhatIf

if TYPE_CHECKING:
    from kwalk.search.analyses.recovery import Outlook

WORDS = {Severity.BROKEN: "Broken", Severity.LATENT: "Latent", Severity.NOTE: "Consistent"}
PLACES = 8
"""How many places of a kind are named."""


def diagnosis_of(inspection: Inspection, outlooks: Sequence[Outlook], search: Sequence[str]) -> list[str]:
    """Return the sentences of a diagnosis: every kind of damage, what events do, and what the search found.

    What the search found in a system that is consistent by inspection comes first.
    """
    events = dict.fromkeys(text for one in outlooks for text in _events(one))  # two may begin in the same moment
    known = [*now(inspection), *events, *dict.fromkeys(text for one in outlooks for text in one.unknown)]
    leads = [text for text in search if text.startswith(tuple(f"{word}:" for word in WORDS.values()))]
    return [*leads, *known, *(text for text in search if text not in leads)]


def now(inspection: Inspection) -> Iterator[str]:
    """Yield what an inspection found: each kind of damage, and what users notice now."""
    damage = {kind: seen for kind, seen in inspection.by_kind().items() if kind.severity is not Severity.NOTE}
    if not damage:
        text = inspection.consistent
        yield f"{inspection.condition.value.capitalize()}: {text[0].lower()}{text[1:]}"
    for number, (kind, seen) in enumerate(damage.items()):
        yield f"{'Also ' * bool(number)}{_word(kind, number)}: {kind.title}: {_places(seen)}."
        yield f"Now: {kind.now}."
    notes = [f"{kind.title}: {_places(seen)}" for kind, seen in inspection.by_kind().items() if kind not in damage]
    if notes:
        yield f"Besides: {'; '.join(notes)}."


def _word(kind: FindingKind, number: int) -> str:
    word = WORDS[kind.severity]
    return word.lower() if number else word


def _places(observations: Iterable[Observation]) -> str:
    subjects = list(dict.fromkeys(f"{one.subject}{'' if one.certain else ' (or not)'}" for one in observations))
    return listed(subjects, PLACES)


def listed(words: Sequence[str], most: int = 1000) -> str:
    """Return words as "a, b and c", the first ones of many."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most:,} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# Events.


def _events(outlook: Outlook) -> Iterator[str]:
    """Yield what each event does; events that do the same are one sentence.

    Where parts were left out, the parts are named to which nothing happens.
    """
    yield from _by_itself(outlook)
    alike: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    by_event: dict[WhatIf, dict[int, frozenset[frozenset[str]]]] = {}
    for event in outlook.events:
        by_event.setdefault(event.what_if, {})[event.world] = event.outcomes
    for what_if, outcomes in by_event.items():
        parts = listed([outlook.problem.worlds[number].name for number in outcomes], PLACES)
        is_part = bool(outlook.problem.left_out) or len(outcomes) < len(outlook.problem.worlds)
        nothing = f"nothing changes for {parts}" if is_part else "nothing changes"
        besides = (what_if.besides,) * bool(what_if.besides)
        nothing = nothing.replace("nothing", "nothing else") if besides else nothing
        effects = (*besides, *(tuple(_effects(outlook, what_if, outcomes)) or (nothing,)))
        alike.setdefault(effects, []).append((what_if.title, what_if.likelihood))
    for effects, titles in alike.items():
        likelihoods = dict.fromkeys(likelihood for _, likelihood in titles)
        names = [f"{_or([title for title, likely in titles if likely == one])} ({one})" for one in likelihoods]
        yield f"If {_or(names)}: {'; '.join(effects)}."


def _by_itself(outlook: Outlook) -> Iterator[str]:
    """Yield what the system does to parts before any event; what events do is compared with what is so after that.

    A problem without events is of a system unlike its models: nothing is foreseen.
    """
    if not outlook.problem.what_ifs:
        return
    alike: dict[str, list[str]] = {}
    seen = {name for kind in outlook.problem.inspection.by_kind() for name in kind.properties}
    for number, (before, later) in enumerate(zip(outlook.first, outlook.now, strict=False)):
        world = outlook.problem.worlds[number]
        if world.success:
            continue  # what becomes of it by itself, and what it was, is all the same
        lasting = frozenset.union(*before) & frozenset.union(*later)
        told = world.harms | seen | lasting  # what neither users notice nor the inspection names may be an assumption
        first, after = (frozenset(violated & told for violated in each) for each in (before, later))
        effect = _change(outlook.problem.describe, first, after, world.harms) or (
            "repairs {}" if any(first - after) else ""
        )
        if effect and after != first:
            alike.setdefault(effect, []).append(world.name)
    effects = [effect.replace("{}", listed(parts)) for effect, parts in alike.items()]
    if effects:
        yield (
            f"By itself the system {'; '.join(effects)}, unless another snapshot shows the same as this one. What "
            "events do comes after that."
        )


def _or(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _effects(outlook: Outlook, what_if: WhatIf, outcomes: Mapping[int, frozenset[frozenset[str]]]) -> Iterator[str]:
    """Yield what an event does, one effect for all parts that fare alike."""
    alike: dict[str, list[str]] = {}
    for number, after in outcomes.items():
        effect = _effect(outlook, what_if, number, after)
        if effect:
            alike.setdefault(effect, []).append(outlook.problem.worlds[number].name)
    for effect, parts in alike.items():
        yield effect.replace("{}", listed(parts))


def _effect(outlook: Outlook, what_if: WhatIf, number: int, after: frozenset[frozenset[str]]) -> str:
    """Return what an event does to one part, with {} for its name; empty if nothing."""
    now, describe = outlook.now[number], outlook.problem.describe
    success = outlook.problem.worlds[number].success or what_if.success
    if not any(after) and (any(now) or what_if.always):
        return success
    if after == now:
        return ""
    if any(now) and not all(after):
        return ", ".join([*_harm(describe, now, after), f"perhaps {success}"])
    return _change(describe, now, after, outlook.problem.worlds[number].harms)


Violated = frozenset[frozenset[str]]
"""The violated claims of a part, in each state that it may be in."""


def _harm(describe: Callable[[Iterable[str]], str], now: Violated, after: Violated) -> list[str]:
    """Return what parts, named {}, have afterwards that they have not now."""
    certain = frozenset.intersection(*after) - frozenset.intersection(*now)
    possible = frozenset.union(*after) - frozenset.union(*now) - certain
    texts = [f"leaves {{}} with {describe(certain)}"] if certain else []
    return [*texts, *([f"may leave {{}} with {describe(possible)}"] if possible else [])]


def _change(describe: Callable[[Iterable[str]], str], now: Violated, after: Violated, harms: Collection[str]) -> str:
    """Return what parts, named {}, have afterwards that they have not now; and what is over, of that what harms."""
    texts, left = _harm(describe, now, after), frozenset.union(*after)
    gone = frozenset.intersection(*now) - left
    gone &= frozenset(harms) if texts else gone
    if any(after) and describe(gone | left) != describe(left):  # else it follows from the rest
        over = f"gets {{}} rid of this: {describe(gone)}"
        return f"{over}; but {', '.join(texts)}" if texts else over
    return ", ".join(texts)
