"""What became of mutants, as text and as one JSON object for scripts; fields of that are only ever added.

Words: the *score* is how many mutants were noticed (killed, crashed or noticed otherwise) of those that can be: all but
the equivalent, the refused and those that no behaviour comes to.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from attrs import frozen
from rich import box
from rich.table import Column, Table
from rich.text import Text

from model.language.settings import setting_text, variant_text
from reports.escaping import visible
from search.mutation import Fate, Ground, Mutant, Tried

STYLES = {
    Fate.KILLED: "green", Fate.CRASHED: "green", Fate.NOTICED: "green", Fate.SURVIVED: "bold red",
    Fate.UNDECIDED: "bold yellow",
}  # fmt: skip
NO_CHANCE = (Fate.EQUIVALENT, Fate.NOT_EXERCISED, Fate.REFUSED)
"""Fates of mutants that no claim can notice on these grounds."""


@frozen(eq=False)
class Found:
    """What a run has found out.

    `stale` are explanations to take out, `total` counts all mutants there are; `seed` is that of a random sample of
    them, None if it is none.
    """

    tried: Sequence[Tried]
    grounds: Sequence[Ground]
    stale: Sequence[str]
    total: int
    seed: int | None

    @property
    def extent(self) -> str:
        """Which mutants were tried, where it is not all of them; else nothing."""
        if len(self.tried) == self.total:
            return ""
        if self.seed is None:
            return f"These are {len(self.tried):,} of {self.total:,} mutants: those that were asked for."
        return f"A random sample of {len(self.tried):,} of {self.total:,} mutants (seed {self.seed})."


def place_of(mutant: Mutant) -> str:
    """File and line, the file as its module is named."""
    return f"{file_of(mutant)}:{mutant.line}"


def file_of(mutant: Mutant) -> str:
    """The file of a mutant as its module is named."""
    return f"{mutant.function.__module__.replace('.', '/')}.py"


def counted(tried: Iterable[Tried]) -> Counter[Fate]:
    """How many mutants came to which fate; those that nobody came to are left out."""
    return Counter(t.outcome.fate for t in tried if t.outcome is not None)


def score(counts: Counter[Fate]) -> str:
    """How many were noticed of those that can be: "38 of 42"."""
    chances = counts.total() - sum(counts[fate] for fate in NO_CHANCE)
    return f"{counts[Fate.KILLED] + counts[Fate.CRASHED] + counts[Fate.NOTICED]:,} of {chances:,}"


def score_sentence(tried: Sequence[Tried]) -> str:
    """The score, and how many survivors are explained."""
    alive = [t for t in tried if t.is_alive]
    explained = sum(not t.is_open for t in alive)
    told = f"; of {len(alive):,} that are alive {explained:,} are explained" if alive else ""
    missing = sum(t.outcome is None for t in tried)
    left = f"; nobody came to {missing:,}" if missing else ""
    return f"{len(tried):,} mutants; {score(counted(tried))} that can be noticed are{told}{left}."


def ground_text(ground: Ground) -> str:
    """A ground in a line: scenario, variant, what is set otherwise, how many states it has."""
    bounds = "".join(f", {name} {size}" for name, size in ground.trial.bounds.items())
    variant = variant_text(ground.model.variant, ground.model.asked_flags)
    states = f"{ground.exploration.stored:,} states, {len(ground.claims)} claims that hold"
    return f"{ground.model.scenario.name}, {variant}{bounds}: {states}"


# Text.


def mutation_table(tried: Sequence[Tried]) -> Table:
    """How the mutants of each operator ended; a fate that did not occur has no column."""
    used = [fate for fate in Fate if counted(tried)[fate]]
    headings = [Column("operator"), *(Column(fate.value, justify="right", style=STYLES.get(fate, "")) for fate in used)]
    table = Table(*headings, Column("score", justify="right"), box=box.SIMPLE_HEAD, pad_edge=False)
    for name, counts in by_operator(tried):
        table.add_row(Text(name), *(str(counts[fate] or "") for fate in used), score(counts))
    return table


def by_operator(tried: Sequence[Tried]) -> Iterator[tuple[str, Counter[Fate]]]:
    """For each operator in the order of mutants how many came to which fate, and in the end for all."""
    for name in dict.fromkeys(t.mutant.operator.name for t in tried):
        yield name, counted(t for t in tried if t.mutant.operator.name == name)
    yield "all", counted(tried)


def mutation_lines(found: Found) -> Iterator[Text]:
    """The grounds, every mutant that survives or is undecided, what the fates mean that occur, and the score."""
    tried = found.tried
    for ground in found.grounds:
        yield Text(visible(f"ground: {ground_text(ground)}"))
    for one in tried:
        if one.is_alive:
            yield from _survivor(one)
    yield Text()
    for fate in Fate:
        if counted(tried)[fate]:
            yield Text(f"{fate.value}: {fate.meaning}", style="dim")
    yield Text(f"\n{score_sentence(tried)}", style="bold")
    yield from (Text(found.extent),) if found.extent else ()


def _survivor(one: Tried) -> Iterator[Text]:
    assert one.outcome is not None
    yield Text(f"\n{visible(one.mutant.id)}", style="bold" if one.is_open else "")
    yield from diff_lines(one.mutant)
    yield Text(visible(f"  {one.outcome.text}"))
    if one.reason:
        yield Text(visible(f"  explained: {one.reason}"))


def diff_lines(mutant: Mutant) -> Iterator[Text]:
    """The changed line before and after."""
    yield Text(visible(f"  {place_of(mutant)} in {mutant.function.__qualname__}"), style="dim")
    yield Text(visible(f"  - {mutant.before}"), style="red")
    yield Text(visible(f"  + {mutant.after}"), style="green")


# JSON.


def mutation_object(found: Found) -> dict[str, Any]:
    """The grounds, every mutant with its fate, and how many came to which."""
    tried, counts = found.tried, counted(found.tried)
    return {
        "grounds": [_ground(ground) for ground in found.grounds],
        "mutants": [mutant_object(one) for one in tried],
        "total": found.total,
        "seed": found.seed,
        "fates": {fate.value: counts[fate] for fate in Fate},
        "score": score(counts),
        "open": [one.mutant.id for one in tried if one.is_open],
        "stale": list(found.stale),
    }


def _ground(ground: Ground) -> dict[str, Any]:
    return {
        "scenario": ground.name,
        "variant": ground.model.variant,
        "flags": {name: setting_text(value) for name, value in ground.model.asked_flags.items()},
        "bounds": dict(ground.model.binding.bounds),
        "distinct_states": ground.exploration.stored,
        "claims": [claim.key for claim in ground.claims],
    }


def mutant_object(one: Tried) -> dict[str, Any]:
    """A mutant; without the fate if nobody has looked at it."""
    mutant, outcome = one.mutant, one.outcome
    page = {
        "id": mutant.id, "operator": mutant.operator.name, "function": mutant.function.__qualname__,
        "file": file_of(mutant), "line": mutant.line, "before": mutant.before, "after": mutant.after,
    }  # fmt: skip
    if outcome is None:
        return page
    return page | {
        "fate": outcome.fate.value, "by": outcome.evidence.value, "ground": outcome.ground, "claim": outcome.claim,
        "steps": None if outcome.actions is None else list(outcome.actions), "says": outcome.text,
        "explained": one.reason or None,
    }  # fmt: skip
