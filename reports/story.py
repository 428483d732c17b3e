"""A trace as a story: who did what, what it changed, what is wrong in the end, and why.

Words: a *step* is one line. A step is *routine* when a system actor takes it and it changes nothing that the violated
claim ever reads: deliveries that any order would bring. Runs of routine steps are told in one line, a *fold*. Where a
story goes on for ever there is a *turn*, and after it the steps of the loop, none of them folded. All texts in a story
are visible ones (see `escaping`), so that renderers only add their own syntax.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from attrs import evolve, field, frozen

from model.language import Claim, Kind, Model
from model.language.settings import variant_text
from reports.changes import Change, ChangeLine, Part, changes, lines, parts_of, path_text
from reports.escaping import LONGEST, visible
from reports.reads import Behaviour, decisive, reads
from search.fairness import shows_in_the_end
from search.trace import Trace

SHOWN = 3
"""Changed lines of a step that are shown before the rest is told as a number."""
DEEDS = 3
"""Different deeds in a run of routine steps that are named."""
READ_ALSO = 8
"""Values that a claim reads besides the decisive ones, shown before the rest is told as a number."""


@frozen
class Step:
    """One line of a story."""

    number: int
    key: str
    actor: str
    system: bool
    says: str
    source: str
    changes: tuple[ChangeLine, ...]
    routine: bool = False


@frozen
class Fold:
    """A run of routine steps, told in one line."""

    steps: tuple[Step, ...]

    @property
    def actors(self) -> tuple[str, ...]:
        """Who took them, each once, in order."""
        return tuple(dict.fromkeys(step.actor for step in self.steps))

    @property
    def says(self) -> str:
        """The line."""
        return f"{len(self.steps)} routine steps ({', '.join(self.actors)})"

    @property
    def does(self) -> str:
        """What they did, most frequent first; the rarest are left out."""
        times = Counter(step.says for step in self.steps).most_common()
        named = [f"{says} ×{count}" if count > 1 else says for says, count in times[:DEEDS]]
        return "; ".join([*named, "…"] if len(times) > DEEDS else named)


@frozen
class Why:
    """What the violated claim says, and what it read in the last state."""

    text: str
    decisive: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[str, str], ...] = ()
    more: int = 0
    stable: bool = False
    endless: bool = False
    """Whether it is what the claim awaits that is never there, and not something that must not be."""


@frozen
class Turn:
    """The place in a story from where it goes on for ever; `steps` are those of the loop, perhaps none."""

    steps: tuple[Step, ...]

    @property
    def says(self) -> str:
        """The line."""
        if not self.steps:
            return "for ever: it stays like this, as no system action is enabled"
        first, last = self.steps[0].number, self.steps[-1].number
        return f"for ever: step {first}, again and again" if first == last else (
            f"for ever: steps {first} to {last}, again and again"
        )


@frozen
class Story:
    """Everything that a report of one trace tells."""

    headline: str
    claim: str
    symptom: str
    log: str
    scenario: str
    about: str
    variant: str
    bounds: tuple[tuple[str, int], ...]
    length: int
    shortest: str | None
    found_by: str
    seed: int | None
    command: str
    start: tuple[tuple[str, str], ...]
    steps: tuple[Step, ...]
    why: Why | None
    reproduce: str = ""
    files: Mapping[str, str] = field(factory=dict)
    """Names of the other files of the same trace, by format."""
    loop: int | None = None
    """After how many steps it goes on for ever, if it does."""

    @property
    def actors(self) -> tuple[str, ...]:
        """The lanes of a diagram, in order of appearance."""
        return tuple(dict.fromkeys(step.actor for step in self.steps))

    @property
    def how_short(self) -> str:
        """How many steps, and whether fewer would do."""
        steps = f"{self.length} step" + "s" * (self.length != 1)
        if self.loop is not None:
            rest = self.length - self.loop
            return f"{steps}, the last {rest} for ever" if rest else f"{steps}, and then for ever as it is"
        return f"{steps}, the shortest ({self.shortest})" if self.shortest else f"{steps}, perhaps not the shortest"

    def chapters(self, *, unfold: bool = False) -> Iterator[Step | Fold | Turn]:
        """The steps in order, with runs of two or more routine ones folded; and where they go on for ever, a turn."""
        yield from _folded(self.steps[: self.loop], unfold=unfold)
        if self.loop is not None:
            yield Turn(self.steps[self.loop :])
            yield from self.steps[self.loop :]


def _folded(told: tuple[Step, ...], *, unfold: bool) -> Iterator[Step | Fold]:
    for routine, run in groupby(told, key=lambda step: step.routine and not unfold):
        steps = tuple(run)
        if routine and len(steps) > 1:
            yield Fold(steps)
        else:
            yield from steps


def tell(model: Model, trace: Trace) -> Story:
    """The story of a trace of this model."""
    claim = next((c for c in model.claims if c.key == trace.claim), None)
    parts = parts_of(model)
    scenario = model.scenario
    return Story(
        headline=headline(model, trace, claim),
        claim=_seen(_in_words(model, claim)),
        symptom=_seen(claim.invariant.symptom if claim else ""),
        log=_seen(claim.invariant.log if claim else ""),
        scenario=_seen(trace.scenario),
        about=_seen(scenario.story),
        variant=_seen(variant_text(trace.variant, trace.flags)),
        bounds=tuple((_seen(name), size) for name, size in trace.bounds.items()),
        length=trace.length,
        shortest=_seen(trace.shortest) if trace.shortest else None,
        found_by=_seen(trace.found_by),
        seed=trace.seed,
        command=_seen(trace.command),
        start=tuple(_values(model, _unlike_default(model, parts, trace), trace, at=0)),
        steps=_steps(model, trace, claim, parts),
        why=_why(model, trace, claim, parts) if claim else None,
        loop=trace.loop,
    )


def _in_words(model: Model, claim: Claim | None) -> str:
    with model.active():
        return claim.says if claim else ""


def headline(model: Model, trace: Trace, claim: Claim | None) -> str:
    """What the trace shows, in a word or three: its last state is looked at anew."""
    if claim is None:
        stuck = next(iter(model.successors(trace.states[-1])), None) is None
        return "DEADLOCK" if stuck else "SAMPLE"
    if claim.kind is Kind.REACHABLE:
        return "REACHED" if model.truth(claim, trace.states[-1]) else "NOT REACHED"
    if not shows_in_the_end(model, claim, trace):
        return "NOT VIOLATED"
    return "BAD STABLE STATE" if claim.kind is Kind.WHEN_QUIET else "VIOLATED"


def _seen(text: str) -> str:
    return visible(" ".join(text.split(" ")), 10 * LONGEST)


# Steps.


def _steps(model: Model, trace: Trace, claim: Claim | None, parts: tuple[Part, ...]) -> tuple[Step, ...]:
    read = _ever_read(model, trace, claim)
    told = []
    instances = {instance.key: instance for instance in model.instances}
    for number, key in enumerate(trace.actions, start=1):
        instance = instances[key]
        changed = changes(model, parts, trace.states[number - 1], trace.states[number])
        marked = [_marked(change, read) for change in changed]
        with model.active():
            actor, says = _seen(instance.actor), _seen(instance.says)
        told.append(
            Step(
                number=number,
                key=key,
                actor=actor,
                system=instance.action.by.system,
                says=says,
                source=_seen(instance.action.source),
                changes=lines(marked),
                routine=_is_routine(marked, number, trace) and instance.action.by.system,
            )
        )
    return tuple(told)


def _ever_read(model: Model, trace: Trace, claim: Claim | None) -> frozenset[int]:
    """What the claim reads in any state of the trace: it may look elsewhere as the state changes."""
    found: set[int] = set()
    if claim is not None:
        double = claim.kind is Kind.STEP
        for before, after in zip((None, *trace.states[:-1]), trace.states, strict=True):
            if before is not None or not double:
                found |= reads(model, claim, after, before if double else None)
    return frozenset(found)


def _marked(change: Change, read: frozenset[int]) -> Change:
    """The change with visible texts, and with a mark where the claim reads it."""
    gone, come = (None if text is None else visible(text, LONGEST) for text in (change.gone, change.come))
    return evolve(change, gone=gone, come=come, matters=change.start in read)


def _is_routine(changed: Iterable[Change], number: int, trace: Trace) -> bool:
    last = trace.length if trace.loop in (None, trace.length) else trace.loop + 1
    return number < last and not any(change.matters for change in changed)


# Beginning and end.


def _unlike_default(model: Model, parts: tuple[Part, ...], trace: Trace) -> list[Part]:
    """The parts in which the first state differs from a fresh one."""
    with model.active():
        fresh = model.vector(model.scenario.state())
    return [part for part in parts if part.numbers(trace.states[0]) != part.numbers(fresh)]


def _values(model: Model, parts: Iterable[Part], trace: Trace, *, at: int) -> list[tuple[str, str]]:
    with model.active():
        return [(visible(path_text(p.path), LONGEST), visible(p.says(trace.states[at]), LONGEST)) for p in parts]


def _why(model: Model, trace: Trace, claim: Claim, parts: tuple[Part, ...]) -> Why:
    end = Behaviour(trace.states[-1], trace.states[-2] if claim.kind is Kind.STEP and trace.length else None)
    starts = reads(model, claim, end.vector, end.before)
    read = [part for part in parts if part.start in starts]
    violated = claim.kind is not Kind.REACHABLE and shows_in_the_end(model, claim, trace)
    cause = decisive(model, claim, end, read) if violated else []
    rest = [part for part in read if part not in cause]
    shown = rest[: max(0, READ_ALSO - len(cause))]
    return Why(
        text=_seen(" ".join(claim.invariant.about.split())),
        decisive=tuple(_values(model, cause, trace, at=-1)),
        also=tuple(_values(model, shown, trace, at=-1)),
        more=len(rest) - len(shown),
        stable=violated and (claim.kind is Kind.WHEN_QUIET or trace.loop == trace.length),
        endless=violated and claim.kind is Kind.EVENTUALLY,
    )
