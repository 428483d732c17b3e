"""The kinds of a snapshot's findings, with the causes and the ways out that hold in it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product

from attrs import evolve

from kwalk.invariants.reading.advice.elections import ElectionAdvice
from kwalk.invariants.reading.advice.facts import MOST, REASSIGN, ByKind, ByPlace, Facts, grouped, joined
from kwalk.invariants.reading.advice.logs import LogAdvice
from kwalk.invariants.reading.advice.precautions import Precaution, Precautions
from kwalk.invariants.reading.advice.requests import RequestAdvice
from kwalk.invariants.reading.advice.starts import StartAdvice
from kwalk.invariants.reading.advice.states import StateAdvice
from kwalk.invariants.reading.advice.topic_ids import TopicIdAdvice
from kwalk.invariants.reading.finding_kinds import Act
from kwalk.invariants.reading.hazards import RANKS
from kwalk.model.language.inspection import FindingKind, Observation

FIRST, BESIDE = "; but first ", "; but not alone, as neither is safe first: "
"""What comes before another way out, and what belongs to it."""


class Advice(Facts):
    """Makes the kinds of a snapshot's findings say what is so in this snapshot.

    The kinds of `finding_kinds` say what is true wherever they are found. Where the way out, or the cause, depends on
    this snapshot, it is made by the theme of the kind.
    """

    @cached_property
    def _themes(self) -> list[Facts]:
        themes = (TopicIdAdvice, ElectionAdvice, StateAdvice, LogAdvice, RequestAdvice)
        return [theme(self.capture, self.logs, self.observations) for theme in themes]

    @cached_property
    def by_kind(self) -> ByKind:
        """All kinds whose theme says more of all their findings."""
        return {kind: advise for theme in self._themes for kind, advise in theme.by_kind.items()}

    @cached_property
    def by_place(self) -> ByPlace:
        """All kinds whose way out is made of that of each place."""
        return {kind: advise for theme in self._themes for kind, advise in theme.by_place.items()}

    @cached_property
    def _starts(self) -> StartAdvice:
        return StartAdvice(self.capture, self.logs, self.observations)

    @cached_property
    def _precautions(self) -> Precautions:
        return Precautions(self.capture, self.logs, self.observations)

    def kind_of(self, kind: FindingKind) -> FindingKind:
        """Return a kind with the cause and the way out of its findings in this snapshot."""
        seen = [one for one in self.observations if one.kind is kind]
        first, beside = self.before(kind)
        way_out = FIRST.join([self._made[kind.name][0].way_out, *(one.text for one in first)])
        way_out = BESIDE.join([way_out, *(one.text for one in beside)])
        way_out = "; ".join([way_out, *self._starts.if_gone(kind, seen)])
        if self.capture.is_moving:
            way_out = way_out.replace(REASSIGN, f"{REASSIGN} --additional{self.later_tool()}")
        return evolve(self._made[kind.name][0], way_out=way_out)

    @cached_property
    def _made(self) -> dict[str, tuple[FindingKind, list[Precaution]]]:
        """Each kind that was found as its theme has it, and what comes before its way out."""
        found: dict[str, tuple[FindingKind, list[Precaution]]] = {}
        for kind in dict.fromkeys(one.kind for one in self.observations):
            seen = [one for one in self.observations if one.kind is kind]
            made = self._of_theme(kind, seen)
            if made.acts & Act.START:
                made = evolve(made, way_out=self._starts.starting(made.way_out))
            made = self._precautions.with_controller(made)
            before = self._precautions.before(kind, seen, made.acts, is_by_place=kind in self.by_place)
            found[kind.name] = made, list(before)
        return found

    @cached_property
    def _awaited(self) -> dict[str, set[str]]:
        """For each kind the kinds whose ways out come before its own, also before those of others that do."""
        found = {name: {one for each in before for one in each.of} for name, (_, before) in self._made.items()}
        for middle, name in product(found, found):
            found[name] |= found[middle] if middle in found[name] else set()
        return found

    def _is_beside(self, kind: FindingKind, precaution: Precaution) -> bool:
        """Whether a precaution is of a way out that waits for that of a kind itself, which comes first of these."""
        circle = {name for name in precaution.of if kind.name in self._awaited.get(name, ())}
        return any((RANKS.get(name, -1), name) > (RANKS.get(kind.name, -1), kind.name) for name in circle)

    def before(self, kind: FindingKind) -> tuple[list[Precaution], list[Precaution]]:
        """Return what comes before the way out of a kind, and what is done with it: what comes first has no circles."""
        known = self._made[kind.name][1]
        beside = [one for one in known if self._is_beside(kind, one)]
        return [one for one in known if one not in beside], beside

    def _of_theme(self, kind: FindingKind, observations: Sequence[Observation]) -> FindingKind:
        """Return a kind with what its theme says of its findings."""
        made = kind
        if kind in self.by_place:
            sentences = grouped(self.by_place[kind], observations)
            most = MOST if kind.properties else len(sentences)  # no plan has those of a kind without a property
            made = evolve(kind, way_out=joined(sentences, most))
        return self.by_kind[kind](made, observations) if kind in self.by_kind else made
