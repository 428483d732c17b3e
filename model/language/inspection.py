"""What an inspection of a snapshot found: findings in kinds, each with its severity and its way out.

A scenario with `inspect_snapshot` returns an `Inspection`; reports print it without knowing the system. A *prospect* is
what a planned change of the whole system would do to the one of the snapshot, such as the upgrade of all its servers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cached_property

from attrs import field, frozen

from kwalk.model.language.properties import Property


class Severity(Enum):
    """How bad a finding is; in descending order."""

    BROKEN = "broken"
    """Users are harmed now."""
    LATENT = "latent"
    """Users notice nothing yet; a usual event will harm them."""
    NOTE = "note"
    """Worth knowing; harmless by itself."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)


class Condition(Enum):
    """What an inspection says of a system in one word; the worst first."""

    BROKEN = "broken"
    """Users are harmed now."""
    LATENT = "latent"
    """Users notice nothing yet; a usual event will harm them."""
    NOT_JUDGED = "not judged"
    """What was read is not damaged; what was not read may be."""
    CONSISTENT = "consistent"
    """Nothing is wrong, and nothing waits."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Condition).index(self)

    @property
    def exit_code(self) -> int:
        """12 if something is broken now, 13 if damage is latent, 3 if too little was read, else 0."""
        return {Condition.BROKEN: 12, Condition.LATENT: 13, Condition.NOT_JUDGED: 3, Condition.CONSISTENT: 0}[self]


@frozen
class FindingKind:
    """A kind of finding, the same in every snapshot.

    Attributes:
        name: its name, in words joined by hyphens.
        severity: how bad it is.
        title: what is wrong, in a few words.
        properties: the names of the properties whose violation it is.
        now: what users notice now.
        later: what happens if nothing is done.
        way_out: what an operator does.
        story: the page that explains it.
        log: the line that the system logs, or where to look instead.
        cause: how a system usually gets there.
        grep: commands that find the lines in the system's logs.
        acts: what the way out does, as flags that the system names; 0 if it does nothing that may harm another place.
    """

    name: str
    severity: Severity
    title: str
    properties: tuple[str, ...]
    now: str
    later: str
    way_out: str
    story: str = ""
    log: str = ""
    cause: str = ""
    grep: tuple[str, ...] = ()
    acts: int = 0


@frozen
class FactTable:
    """What a snapshot shows of one matter, for an operator who compares: rows with a cell for each column.

    Attributes:
        title: what it is about.
        columns: the titles of the columns.
        rows: the cells.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@frozen
class Observation:
    """A finding of one kind in one place.

    Attributes:
        kind: the kind.
        subject: what it is about, such as a topic and its partition.
        detail: what the snapshot shows there.
        fields: the same for machines, by name.
        certain: whether the snapshot shows it; otherwise it depends on what a snapshot cannot show.
    """

    kind: FindingKind
    subject: str
    detail: str
    fields: Mapping[str, str] = field(factory=dict)
    certain: bool = True


class Prognosis(Enum):
    """What a planned change would do; the worst first."""

    LOSES = "loses"
    """It ends, and data, or what users asked for, is lost."""
    STUCK = "stuck"
    """It stops half-way, or what it leaves does not work."""
    WAITS = "waits"
    """It does not begin, or waits; nothing is harmed."""
    UNKNOWN = "not judged"
    """Something about the system is not known, or what it does to it."""
    READY = "ready"
    """Nothing in the snapshot is in its way."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Prognosis).index(self)

    @property
    def exit_code(self) -> int:
        """12 if something is harmed, 13 if it waits, 3 if it is not judged, 0 if nothing is in its way."""
        return {Prognosis.READY: 0, Prognosis.UNKNOWN: 3, Prognosis.WAITS: 13}.get(self, 12)


@frozen
class Consequence:
    """What a planned change would do, of one kind.

    Attributes:
        name: its name, in words joined by hyphens.
        prognosis: how bad it is.
        title: what happens, in a few words.
        places: where, with what the snapshot shows there.
        text: what happens, and what users notice of it.
        way_out: what an operator does before the change.
        commands: what the operator enters for it; a line that begins with # is a remark.
        basis: how it is known: what was seen on real systems, or read.
        log: the line that the system logs.
    """

    name: str
    prognosis: Prognosis
    title: str
    places: tuple[str, ...]
    text: str
    way_out: str
    commands: tuple[str, ...] = ()
    basis: str = ""
    log: str = ""


@frozen
class Prospect:
    """What a planned change would do to the system of a snapshot.

    Attributes:
        name: its name, one word.
        title: what is planned.
        consequences: what it would do, the worst first.
        ready: the sentence on a system in whose way nothing is.
        notes: what the snapshot does not show, and what was assumed.
        story: the page that explains it.
    """

    name: str
    title: str
    consequences: tuple[Consequence, ...]
    ready: str
    notes: tuple[str, ...] = ()
    story: str = ""

    @property
    def prognosis(self) -> Prognosis:
        """That of the worst consequence."""
        return min((one.prognosis for one in self.consequences), key=lambda p: p.rank, default=Prognosis.READY)


@frozen(slots=False)
class Inspection:
    """What an inspection of one snapshot found, the worst first.

    Attributes:
        headline: what the snapshot is of.
        observations: the findings, grouped by kind, the worst first.
        totals: how much was inspected, by what it is.
        notes: what was assumed or could not be judged.
        tables: what the snapshot shows of the damaged parts, such as who has which id.
        consistent: the sentence on a system in which nothing was found to be wrong.
        not_read: what was not read and may be damaged, in sentences; they are notes, too.
        properties: the properties that were evaluated, for who has states of the same class.
        foresee: returns the prospects; called once, and only if somebody asks.
    """

    headline: str
    observations: tuple[Observation, ...]
    totals: Mapping[str, int]
    notes: tuple[str, ...] = ()
    tables: tuple[FactTable, ...] = ()
    consistent: str = "Nothing is wrong."
    not_read: tuple[str, ...] = ()
    properties: tuple[Property, ...] = field(default=(), repr=False, eq=False)
    foresee: Callable[[], tuple[Prospect, ...]] = field(default=tuple, repr=False, eq=False)

    @cached_property
    def prospects(self) -> tuple[Prospect, ...]:
        """What planned changes would do to the system."""
        return self.foresee()

    @property
    def severity(self) -> Severity:
        """The severity of the worst observation; NOTE if there is none."""
        return min((one.kind.severity for one in self.observations), key=lambda s: s.rank, default=Severity.NOTE)

    @property
    def is_damaged(self) -> bool:
        """Whether something is broken, or damage is latent."""
        return self.severity is not Severity.NOTE

    @property
    def condition(self) -> Condition:
        """That of the worst observation; without damage, whether all was read."""
        if self.is_damaged:
            return {Severity.BROKEN: Condition.BROKEN, Severity.LATENT: Condition.LATENT}[self.severity]
        return Condition.NOT_JUDGED if self.not_read else Condition.CONSISTENT

    @property
    def exit_code(self) -> int:
        """That of the condition."""
        return self.condition.exit_code

    def by_kind(self) -> dict[FindingKind, list[Observation]]:
        """Return the observations by kind, the worst first."""
        found: dict[FindingKind, list[Observation]] = {}
        for one in self.observations:
            found.setdefault(one.kind, []).append(one)
        return found
