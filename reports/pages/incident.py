"""The page of an incident: what is wrong with a real system, for whom, since when, why, and the way out.

Words: an *incident* is what an inspection found in a snapshot, with what other commands know of it: a plan of repair,
what events would do, the steps that lead there. The page begins with what an operator needs first; the steps come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from kwalk.model.language import Model
from kwalk.model.language.inspection import Condition, FactTable, FindingKind, Inspection, Observation, Severity
from kwalk.reports.document import (
    Block,
    Bullets,
    Card,
    CodeBlock,
    DataTable,
    Heading,
    Lead,
    Line,
    Paragraph,
    Span,
    strong,
)
from kwalk.reports.documentation import link
from kwalk.reports.pages.outlook import now
from kwalk.reports.pages.recovery import title_of, way_out
from kwalk.reports.traces.story import Story, StoryStep, violated_since
from kwalk.search.results.trace import Trace

if TYPE_CHECKING:
    from kwalk.search.analyses.recovery import Recovery

TONES = {Severity.BROKEN: "bad", Severity.LATENT: "open", Severity.NOTE: "faint"}
TONES_OF_CONDITIONS = {
    Condition.BROKEN: "bad",
    Condition.LATENT: "open",
    Condition.NOT_JUDGED: "open",
    Condition.CONSISTENT: "good",
}
PLACES = 5
"""How many places of a kind a page shows."""
RECOVER, INSPECT, HUNT, EXPLAIN = (
    "docs/how-to/recover-a-cluster.md",
    "docs/how-to/diagnose-a-cluster.md",
    "docs/how-to/diagnose-a-cluster.md",
    "docs/how-to/explain-a-cluster.md",
)


@frozen
class Incident:
    """What is known of a damaged system.

    Attributes:
        snapshot: the file of the snapshot.
        inspection: what is wrong in it.
        recovery: a plan of repair; None if none was looked for.
        diagnosis: what may happen next, in sentences; empty if that was not looked for.
        forecast: the shortest way to a violation that a search found from here.
        since: for the kinds that a trace shows, since which of its steps.
        cause: the steps of a trace that lead there: of clients, operators and faults, and notable ones.
        history: what a series of snapshots shows, as blocks.
        facts: what was read and assumed, in sentences.
    """

    snapshot: str
    inspection: Inspection
    recovery: Recovery | None = None
    diagnosis: Sequence[str] = ()
    forecast: Story | None = None
    since: Mapping[FindingKind, str] = field(factory=dict)
    cause: Sequence[StoryStep] = ()
    history: Sequence[Block] = ()
    facts: Sequence[str] = ()

    @property
    def headline(self) -> str:
        """The condition in one word, and the worst kind with its places."""
        return f"{self.inspection.condition.value.upper()}: {conclusion(self.inspection)}"

    def lead(self) -> Lead:
        """Return what its page says before the steps."""
        return Lead(self.headline, tuple(blocks_of(self)))


def word_of(condition: Condition) -> Span:
    """Return a condition as reports begin with it."""
    return strong(condition.value.upper(), TONES_OF_CONDITIONS[condition])


def conclusion(inspection: Inspection) -> str:
    """Return the answer in one sentence: that of the worst kind."""
    by_kind = inspection.by_kind()
    worst = next(iter(by_kind), None)
    if worst is None or worst.severity is Severity.NOTE:
        return inspection.consistent
    return f"{worst.title[0].upper()}{worst.title[1:]}: {places(by_kind[worst], 3)}."


def places(observations: Sequence[Observation], most: int) -> str:
    """Return the subjects of observations, the first ones by name."""
    subjects = list(dict.fromkeys(one.subject for one in observations))
    listed = ", ".join(subjects[:most])
    return f"{listed} and {len(subjects) - most:,} more" if len(subjects) > most else listed


# What a trace shows.


def since_of(inspection: Inspection, model: Model, trace: Trace, story: Story) -> dict[FindingKind, str]:
    """Return for the kinds of findings that the last state of a trace shows, since when."""
    found = {}
    wanted = {name for kind in inspection.by_kind() for name in kind.properties}
    declared = tuple(prop for prop in inspection.properties if prop.name in wanted)
    judge = Model(
        evolve(model.scenario, properties=declared), model.variant, model.binding.bounds, model.flag_overrides
    )
    for kind in inspection.by_kind():
        properties = [prop for prop in judge.properties if prop.declaration.name in kind.properties]
        step = violated_since(judge, trace, properties)
        if step is not None:
            found[kind] = _step_text(story, step)
    return found


def _step_text(story: Story, number: int) -> str:
    if number == 0:
        return "before the first step"
    step = story.steps[number - 1]
    return f"step {number}: {step.actor}: {step.full_text}"


def cause_of(story: Story) -> tuple[StoryStep, ...]:
    """Return the steps that a story turns on: those from outside of the system, notable ones, and the first bad one."""
    return tuple(step for step in story.steps if step.notable or not step.system or step.number == story.since)


# The page.


def blocks_of(incident: Incident) -> Iterator[Block]:
    """Yield the page of an incident up to the steps of its trace."""
    inspection = incident.inspection
    yield Heading(1, [word_of(inspection.condition), f"  {conclusion(inspection)}"])
    totals = ", ".join(
        f"{count:,} {what}{'s' * (count != 1)}" for what, count in inspection.totals.items() if what != "situation"
    )
    yield Paragraph([Span(f"{incident.snapshot}: {inspection.headline}; {totals}.", "faint")])
    for kind, observations in inspection.by_kind().items():
        if kind.severity is not Severity.NOTE:
            yield _card(kind, observations, incident.since.get(kind, ""))
    yield from _way_out(incident)
    if incident.forecast is not None:
        yield _forecast(incident.forecast)
    if incident.cause:
        wrong = inspection.is_damaged or incident.forecast is not None
        yield from _cause(incident.cause, "Root cause: the steps that lead there" if wrong else "The steps that matter")
    yield from (block for table in inspection.tables for block in _table(table))
    known = set(now(inspection))
    ahead = tuple(text for text in incident.diagnosis if text not in known)
    if ahead:
        yield Heading(2, "What happens next")
        yield Bullets(ahead)
    yield from incident.history
    yield from _rest(incident)


def _card(kind: FindingKind, observations: Sequence[Observation], since: str) -> Card:
    lines: list[Line] = [
        f"{one.subject}: {one.detail}{'' if one.certain else ' (or not)'}" for one in observations[:PLACES]
    ]
    if len(observations) > PLACES:
        lines.append(f"… and {len(observations) - PLACES:,} more: kwalk diagnose --most {len(observations)}")
    texts = {
        "Users notice now": kind.now,
        "Since": since,
        "Usual cause": kind.cause,
        "If nothing is done": kind.later,
    }
    blocks: list[Paragraph | CodeBlock] = [CodeBlock(tuple(lines))]
    blocks += [Paragraph([strong(f"{label}:"), f" {text}"]) for label, text in texts.items() if text]
    if kind.log:
        blocks.append(Paragraph([strong("In the logs:"), f" {kind.log}"]))
    if kind.grep:
        blocks.append(CodeBlock(kind.grep))
    if kind.story:
        blocks.append(Paragraph([strong("Read:"), " ", link(kind.story)]))
    title: list[str | Span] = [
        strong(kind.severity.value, TONES[kind.severity]),
        f"  {kind.title} ({len(observations):,})",
    ]
    return Card(title, tuple(blocks), TONES[kind.severity])


def _forecast(story: Story) -> Card:
    """Return the shortest way to a violation as a card: what users will notice, how it begins, when it is there."""
    begin = next((step for step in story.steps if not step.system), None)
    texts = {
        "Users will notice": story.symptom,
        "It begins with": _step_text(story, begin.number) if begin else "steps of the system alone",
        "Since": "" if story.since is None else _step_text(story, story.since),
        "It stays so": "no system action is enabled then" if story.why and story.why.stable else "",
        "In the logs": story.log,
    }
    blocks = tuple(Paragraph([strong(f"{label}:"), f" {text}"]) for label, text in texts.items() if text)
    return Card([strong("will break", "bad"), f"  {story.prop}: {story.length_text}, below"], blocks, "bad")


def _cause(steps: Sequence[StoryStep], title: str) -> Iterator[Block]:
    yield Heading(2, title)
    rows = tuple((str(step.number), step.actor, step.full_text, _effect(step)) for step in steps)
    yield DataTable(("step", "who", "what", "effect"), rows, frozenset({0}))


def _effect(step: StoryStep) -> str:
    """Return what a step changes: what matters, or else where a fresh id goes; the first lines otherwise."""
    changes = [(line, change) for line in step.changes for _, change in line.changes if not change.queued]
    fresh = {change.new for _, change in changes if change.old is None}
    taken = [line for line, change in changes if change.old is not None and change.new in fresh]
    shown = [line for line in step.changes if line.matters] or taken[:1] or list(step.changes)
    return "; ".join(dict.fromkeys(str(line) for line in shown[:2]))


def _table(table: FactTable) -> Iterator[Block]:
    yield Heading(2, table.title)
    yield DataTable(table.columns, table.rows)


def _way_out(incident: Incident) -> Iterator[Block]:
    if not incident.inspection.is_damaged:
        return
    yield Heading(2, "The way out")
    if incident.recovery is not None:
        yield Paragraph(title_of(incident.recovery))
        yield from way_out(incident.recovery, incident.snapshot)
    if incident.recovery is None or not incident.recovery.plan or not incident.recovery.plan.procedures:
        kinds = (kind for kind in incident.inspection.by_kind() if kind.severity is not Severity.NOTE)
        yield Bullets(tuple([strong(f"{kind.title}:"), f" {kind.way_out}"] for kind in kinds))
    yield Paragraph(["How plans are made, and how to carry one out: ", link(RECOVER), "."])


def _rest(incident: Incident) -> Iterator[Block]:
    notes = [kind for kind in incident.inspection.by_kind() if kind.severity is Severity.NOTE]
    sentences = [
        *(
            f"Besides: {kind.title}: {places(observations, PLACES)}."
            for kind, observations in incident.inspection.by_kind().items()
            if kind in notes
        ),
        *incident.facts,
        *incident.inspection.notes,
    ]
    if sentences:
        yield Heading(2, "What was read and assumed")
        yield Bullets(tuple(dict.fromkeys(sentences)))
    yield Paragraph(
        [
            "More: ",
            link(INSPECT),
            " (every finding), ",
            link(HUNT),
            " (what happens next), ",
            link(EXPLAIN),
            " (how it came to this).",
        ]
    )


# For machines.


def incident_object(incident: Incident) -> dict[str, Any]:
    """Return an incident as an object for scripts, as a trace's file has it."""
    plan = incident.recovery.plan if incident.recovery else None
    return {
        "snapshot": incident.snapshot,
        "condition": incident.inspection.condition.value,
        "headline": incident.headline,
        "kinds": [
            {
                "kind": kind.name,
                "severity": kind.severity.value,
                "title": kind.title,
                "places": [one.subject for one in observations],
                "now": kind.now,
                "later": kind.later,
                "cause": kind.cause,
                "since": incident.since.get(kind),
                "way_out": kind.way_out,
                "log": kind.log,
                "grep": list(kind.grep),
            }
            for kind, observations in incident.inspection.by_kind().items()
        ],
        "cause": [{"step": step.number, "actor": step.actor, "text": step.text} for step in incident.cause],
        "tables": [
            {"title": table.title, "columns": list(table.columns), "rows": [list(row) for row in table.rows]}
            for table in incident.inspection.tables
        ],
        "plan": [{"title": p.title, "commands": list(p.commands)} for p in plan.procedures] if plan else None,
        "forecast": None
        if incident.forecast is None
        else {
            "property": incident.forecast.prop,
            "symptom": incident.forecast.symptom,
            "since": incident.forecast.since,
            "steps": incident.forecast.length,
        },
        "diagnosis": list(incident.diagnosis),
        "facts": list(incident.facts),
    }
