"""A trace as a story: who took which step, what it changed, what is wrong in the last state, and why.

Words: a step is *routine* if a system actor takes it, the violation does not depend on it (see `slicing`), and it
changes nothing that the violated property reads in any state of the trace; a *notable* step, which takes a fresh id or
is marked by its model (see `Mark`), is never routine, nor is any step of a short trace. A *fold* is a run of routine
steps, shown as one line. In a lasso (a trace that repeats forever), a
*loop start* stands before the steps of the loop, and none of these is folded. All texts of a story are visible ones
(see `escaping`), so that renderers only add their own syntax.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from attrs import evolve, frozen

from kwalk.model.language import Kind, Model, PropertyInstance, Vector
from kwalk.model.language.containers import FreshShape
from kwalk.model.language.model import ActionInstance
from kwalk.model.language.refinement import RefinedStart, RefinementProperty
from kwalk.model.language.settings import variant_text
from kwalk.reports.escaping import LONGEST, visible
from kwalk.reports.traces.asides import Asides, asides_of
from kwalk.reports.traces.causes import StepText, cause_sentences
from kwalk.reports.traces.changes import Change, ChangeLine, Part, changes, lines, parts_of, path_text
from kwalk.reports.traces.read_set import FinalStates, decisive, read_set
from kwalk.search.results.fairness import is_counterexample
from kwalk.search.results.slicing import TraceSlice
from kwalk.search.results.trace import Trace, ends_in_deadlock

MOST_LINES = 3
"""The number of changed lines of a step that are shown; the others are counted."""
SHORT = 12
"""The number of steps up to which no step of a trace is routine."""
NAMED = 3
"""The number of different steps in a fold that are named."""
READ_ALSO = 8
"""The number of values that a property reads, with the decisive ones, that are shown; the others are counted."""


@frozen
class StoryStep:
    """One line of a story."""

    number: int
    key: str
    actor: str
    system: bool
    text: str
    source: str
    changes: tuple[ChangeLine, ...]
    routine: bool = False
    asides: tuple[str, ...] = ()
    """Aliases that it changed, and the step of an abstract scenario that it maps to (see `asides`)."""
    notable: bool = False
    """Whether it takes a fresh id, or its model marks it."""
    outcome: str = ""
    """What it does, where that is not what its text says (see `action`)."""

    @property
    def full_text(self) -> str:
        """Its text, with its outcome."""
        return f"{self.text}: {self.outcome}" if self.outcome else self.text


@frozen
class Fold:
    """A run of routine steps, shown as one line."""

    steps: tuple[StoryStep, ...]

    @property
    def actors(self) -> tuple[str, ...]:
        """The actors of the steps, each once, in order."""
        return tuple(dict.fromkeys(step.actor for step in self.steps))

    @property
    def text(self) -> str:
        """The number of the steps and their actors."""
        return f"{len(self.steps)} routine steps ({', '.join(self.actors)})"

    @property
    def summary(self) -> str:
        """The steps, the most frequent first; the rarest are left out."""
        times = Counter(step.text for step in self.steps).most_common()
        named = [f"{text} ×{count}" if count > 1 else text for text, count in times[:NAMED]]
        return "; ".join([*named, "…"] if len(times) > NAMED else named)


@frozen
class Why:
    """The description of the violated property, and what it reads in the last state."""

    text: str
    decisive: tuple[tuple[str, str], ...] = ()
    also: tuple[tuple[str, str], ...] = ()
    more: int = 0
    stable: bool = False
    endless: bool = False
    """Whether a property about behaviours is violated."""
    fairness: str = ""
    """The fairness of the behaviours that it is about, if it is violated."""


@frozen
class LoopStart:
    """The place in a story from where it repeats forever; `steps` are those of the loop, perhaps none."""

    steps: tuple[StoryStep, ...]
    quiescent: bool = True
    """Whether no system action is enabled where it begins."""

    @property
    def text(self) -> str:
        """The numbers of the steps that repeat."""
        if not self.steps:
            why = "no system action is enabled" if self.quiescent else "no step has to be taken"
            return f"from here on the state stays the same: {why}"
        first, last = self.steps[0].number, self.steps[-1].number
        return f"step {first} repeats forever" if first == last else f"steps {first} to {last} repeat forever"


@frozen
class Story:
    """Everything that a report about one trace shows."""

    headline: str
    prop: str
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
    steps: tuple[StoryStep, ...]
    why: Why | None
    reproduce: str = ""
    compared: str = ""
    """A sentence on how much of the run that found it was compared with plain Python."""
    loop: int | None = None
    """The number of steps before the loop, None without a loop."""
    causes: tuple[str, ...] = ()
    """Sentences on who wrote what the property reads, and what these steps read; the last step first."""
    asides: tuple[str, ...] = ()
    """Aliases in the first state, and its image in an abstract scenario."""
    quiescent: bool = False
    """Whether no system action is enabled in the last state."""
    since: int | None = None
    """The step since which the property is violated, until the end; None if that is not a matter of single states."""

    @property
    def actors(self) -> tuple[str, ...]:
        """The lanes of a diagram, in order of appearance."""
        return tuple(dict.fromkeys(step.actor for step in self.steps))

    @property
    def length_text(self) -> str:
        """The number of steps, and whether it is known that there is no shorter trace."""
        steps = f"{self.length} step" + "s" * (self.length != 1)
        if self.loop is not None:
            rest = self.length - self.loop
            return f"{steps}, the last {rest} repeated forever" if rest else f"{steps}, then the state stays the same"
        return f"{steps}, the shortest ({self.shortest})" if self.shortest else f"{steps}, perhaps not the shortest"

    @property
    def model_text(self) -> str:
        """The scenario, its variant and bounds; those that are 0, which are most, have no name."""
        zeros = ["all other bounds 0"] if any(size == 0 for _, size in self.bounds) else []
        sizes = ", ".join([*(f"{name} {size}" for name, size in self.bounds if size), *zeros])
        return f"{self.scenario}, variant {self.variant}; {sizes or 'no bounds'}"

    @property
    def origin(self) -> str:
        """The engine that found the trace, with its seed; empty if unknown."""
        return self.found_by and self.found_by + ("" if self.seed is None else f" (seed {self.seed})")

    def chapters(self, *, unfold: bool = False) -> Iterator[StoryStep | Fold | LoopStart]:
        """Yield the steps in order, runs of two or more routine ones folded, with a loop start before a loop."""
        yield from _folded(self.steps[: self.loop], unfold=unfold)
        if self.loop is not None:
            yield LoopStart(self.steps[self.loop :], self.quiescent)
            yield from self.steps[self.loop :]


def shown_lines(step: StoryStep, *, every: bool = False) -> tuple[tuple[ChangeLine, ...], int]:
    """Return the changed lines of a step that are shown, and the number of those that are not.

    Lines that the property reads are always shown; lines about queues only if there are no others.
    """
    if every:
        return step.changes, 0
    besides_queues = sum(line.rank < 2 for line in step.changes) or 1
    limit = 1 if step.routine else MOST_LINES
    shown = besides_queues if besides_queues == limit + 1 else min(besides_queues, limit)
    shown = max(shown, sum(line.matters for line in step.changes))
    return step.changes[:shown], max(0, len(step.changes) - shown)


def why_sentences(why: Why) -> list[str]:
    """Return sentences on what the property reads in the last state, decisive parts first."""
    sentences = []
    if why.decisive:
        good = "what it awaits would be there" if why.endless else "the property would hold"
        other = "another value" if len(why.decisive) == 1 else "another value of any one of them"
        sentences.append(f"Decisive in the last state: {_listed(why.decisive)}. With {other}, {good}.")
    if why.also:
        more = f", and {why.more} more" if why.more else ""
        sentences.append(f"The property {'also ' * bool(why.decisive)}reads: {_listed(why.also)}{more}.")
    if why.stable:
        sentences.append("No system action is enabled: the system does not recover by itself.")
    if why.fairness:
        fair = "" if why.stable else "The loop is fair. "
        sentences.append(f"{fair}Fairness: {why.fairness}.")
    return sentences


def _listed(values: Sequence[tuple[str, str]]) -> str:
    return ", ".join(f"{where} is {what}" for where, what in values)


def _folded(steps: tuple[StoryStep, ...], *, unfold: bool) -> Iterator[StoryStep | Fold]:
    for routine, run in groupby(steps, key=lambda step: step.routine and not unfold):
        group = tuple(run)
        if routine and len(group) > 1:
            yield Fold(group)
        else:
            yield from group


def story_of(model: Model, trace: Trace) -> Story:
    """Return the story of a trace of this model."""
    prop = next((c for c in model.properties if c.key == trace.prop), None)
    parts = parts_of(model)
    scenario = model.scenario
    asides = asides_of(model, trace, prop)
    history = _history(model, trace, prop)
    steps = _steps(model, trace, (prop, history), parts, asides)
    return Story(
        headline=headline(model, trace, prop),
        prop=_shown(_in_words(model, prop)),
        symptom=_shown(prop.declaration.symptom if prop else ""),
        log=_shown(prop.declaration.log if prop else ""),
        scenario=_shown(trace.scenario),
        about=_shown(scenario.story),
        variant=_shown(variant_text(trace.variant, trace.flags)),
        bounds=tuple((_shown(name), size) for name, size in trace.bounds.items()),
        length=trace.length,
        shortest=_shown(trace.shortest) if trace.shortest else None,
        found_by=_shown(trace.found_by),
        seed=trace.seed,
        command=_shown(trace.command),
        start=tuple(_values(model, _unlike_default(model, parts, trace), trace, at=0)),
        steps=steps,
        why=_why(model, trace, prop, parts, asides) if prop else None,
        causes=() if history is None else cause_sentences(model, history, [_step_text(step) for step in steps]),
        loop=trace.loop,
        asides=asides[0],
        quiescent=trace.loop is not None and model.is_quiescent(trace.states[-1]),
        since=violated_since(model, trace, [prop] if prop else []),
    )


def violated_since(model: Model, trace: Trace, properties: Iterable[PropertyInstance]) -> int | None:
    """Return the step since which one of these properties is false, until the end; 0 if the first state has it so.

    Properties about steps, about whole behaviours, and witnesses are left out.
    """
    starts = []
    for prop in properties:
        if prop.kind in (Kind.ALWAYS, Kind.WHEN_QUIESCENT):
            number = len(trace.states)
            while number and model.truth(prop, trace.states[number - 1]) is False:
                number -= 1
            starts += [number] if number < len(trace.states) else []
    return min(starts, default=None)


def _in_words(model: Model, prop: PropertyInstance | None) -> str:
    with model.active():
        return prop.description if prop else ""


def headline(model: Model, trace: Trace, prop: PropertyInstance | None) -> str:
    """Return what the trace shows, in one to three words; its last state is evaluated again."""
    if prop is None:
        return "DEADLOCK" if ends_in_deadlock(model, trace) else "SAMPLE"
    if prop.kind is Kind.REACHABLE:
        return "REACHED" if model.truth(prop, trace.states[-1]) else "NOT REACHED"
    if not is_counterexample(model, prop, trace):
        return "NOT VIOLATED"
    return "BAD STABLE STATE" if prop.kind is Kind.WHEN_QUIESCENT else "VIOLATED"


def _shown(text: str) -> str:
    return visible(" ".join(text.split(" ")), 10 * LONGEST)


# Steps.


def _history(model: Model, trace: Trace, prop: PropertyInstance | None) -> TraceSlice | None:
    """Return the slice of a trace; None where no end is known to slice from."""
    if prop is None and not ends_in_deadlock(model, trace):
        return None
    if prop is not None and isinstance(prop.declaration, RefinementProperty):  # it is about the whole state
        return None
    return TraceSlice(model, trace, prop)


def _step_text(step: StoryStep) -> StepText:
    return StepText(f"{step.actor}: {step.full_text}", step.outcome, step.system)


def _steps(
    model: Model,
    trace: Trace,
    about: tuple[PropertyInstance | None, TraceSlice | None],
    parts: tuple[Part, ...],
    asides: Asides,
) -> tuple[StoryStep, ...]:
    prop, history = about
    read = ever_read(model, trace, prop)
    needed = frozenset() if history is None or trace.length <= SHORT else history.steps
    steps = []
    instances = {instance.key: instance for instance in model.instances}
    fresh = frozenset(part.start for part in parts if isinstance(part.shape, FreshShape))
    last = trace.length if trace.loop in (None, trace.length) else trace.loop + 1
    for number, key in enumerate(trace.actions, start=1):
        instance = instances[key]
        changed = changes(model, parts, trace.states[number - 1], trace.states[number])
        marked = [_marked(change, read) for change in changed]
        notable = instance.action.mark is not None or any(change.start in fresh for change in changed)
        with model.active():
            actor, text = _shown(instance.actor), _shown(instance.description)
        matters = notable or number in needed or any(change.matters for change in marked)
        outcome = _outcome(model, instance, trace.states[number - 1], trace.states[number])
        steps.append(
            StoryStep(
                number=number,
                key=key,
                actor=actor,
                system=instance.action.by.system,
                text=text,
                source=_shown(instance.action.source),
                changes=lines(marked),
                routine=instance.action.by.system and not matters and trace.length > SHORT and number < last,
                asides=asides[number],
                notable=notable,
                outcome=_shown(outcome),
            )
        )
    return tuple(steps)


def _outcome(model: Model, instance: ActionInstance, before: Vector, after: Vector) -> str:
    """Return the outcome of a step; where the function of the model fails, the error."""
    try:
        return model.outcome(instance, before, after)
    except Exception as error:  # the function is a user's: a report shows what is wrong with it
        return f"{type(error).__name__}: {error}"


def ever_read(model: Model, trace: Trace, prop: PropertyInstance | None) -> frozenset[int]:
    """Return the first leaves of the parts that the property reads in any state of the trace."""
    found: set[int] = set()
    if prop is not None:
        double = prop.kind is Kind.STEP
        for before, after in zip((None, *trace.states[:-1]), trace.states, strict=True):
            if before is not None or not double:
                found |= read_set(model, prop, after, before if double else None)
    return frozenset(found)


def _marked(change: Change, read: frozenset[int]) -> Change:
    """Return the change with visible texts, marked if the property reads it."""
    old, new = (None if text is None else visible(text, LONGEST) for text in (change.old, change.new))
    return evolve(change, old=old, new=new, matters=change.start in read)


# Beginning and end.


def _unlike_default(model: Model, parts: tuple[Part, ...], trace: Trace) -> list[Part]:
    """Return the parts in which the first state differs from the default state."""
    with model.active():
        fresh = model.vector(model.scenario.state())
    return [part for part in parts if part.numbers(trace.states[0]) != part.numbers(fresh)]


def _values(model: Model, parts: Iterable[Part], trace: Trace, *, at: int) -> list[tuple[str, str]]:
    with model.active():
        return [(visible(path_text(p.path), LONGEST), visible(p.value_text(trace.states[at]), LONGEST)) for p in parts]


def _why(model: Model, trace: Trace, prop: PropertyInstance, parts: tuple[Part, ...], asides: Asides) -> Why:
    about = " ".join(prop.declaration.about.split())
    if isinstance(prop.declaration, RefinedStart):  # it is about the whole state: no part of it is decisive
        return Why(text=_shown(" ".join((about, *(f"Here: {aside}." for aside in asides[0])))))
    end = FinalStates(trace.states[-1], trace.states[-2] if prop.kind is Kind.STEP and trace.length else None)
    starts = read_set(model, prop, end.vector, end.before)
    read = [part for part in parts if part.start in starts]
    violated = prop.kind is not Kind.REACHABLE and is_counterexample(model, prop, trace)
    cause = decisive(model, prop, end, read) if violated else []
    rest = [part for part in read if part not in cause]
    shown = rest[: max(0, READ_ALSO - len(cause))]
    return Why(
        text=_shown(about),
        decisive=tuple(_values(model, cause, trace, at=-1)),
        also=tuple(_values(model, shown, trace, at=-1)),
        more=len(rest) - len(shown),
        stable=violated
        and (prop.kind is Kind.WHEN_QUIESCENT or (trace.loop == trace.length and model.is_quiescent(trace.states[-1]))),
        endless=violated and prop.kind.is_liveness,
        fairness=_shown(model.fairness.text) if violated and prop.kind.is_liveness else "",
    )
