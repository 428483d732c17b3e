"""What became of mutants as a Markdown document that can be committed: the same text for the same outcomes."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from reports.escaping import code_span, markdown
from reports.mutation.report import Found, by_operator, counted, file_of, ground_text, place_of, score, score_sentence
from search.mutation import OPERATORS, Fate, Ground, Tried

READING = (
    "A *mutant* is the model with one small mistake in one function. It is tried on *grounds*: models in which every",
    "state is known, and of whose claims those are asked that hold. A mutant that survives is a mistake that could be",
    "made in the model and that nobody would be told of. Each of them is below, with the reason why nothing notices",
    "it.",
)
"""How to read the document."""


def mutation_document(found: Found, command: str) -> str:
    """The whole document, ending with a line break."""
    tried = found.tried
    parts = (_heading(found, command), _grounds(found.grounds), _operators(tried), _files(tried), _killers(tried),
             _survivors(tried))  # fmt: skip
    return "\n".join(line for part in parts for line in part) + "\n"


def _heading(found: Found, command: str) -> Iterator[str]:
    tried = found.tried
    yield "# Mutants: which mistakes in the model its claims notice"
    yield ""
    yield f"Written by {code_span(command)}; do not edit."
    yield ""
    yield from READING
    yield ""
    yield f"**{markdown(score_sentence(tried))}**" + (f" {found.extent}" if found.extent else "")
    yield ""
    for fate in Fate:
        if counted(tried)[fate]:
            yield f"* **{fate.value}** ({counted(tried)[fate]:,}): {fate.meaning}."
    yield ""


def _grounds(grounds: Sequence[Ground]) -> Iterator[str]:
    yield from ("## Grounds", "")
    for ground in grounds:
        about = f" {markdown(ground.trial.about)}" if ground.trial.about else ""
        yield f"* {markdown(ground_text(ground))}.{about}"
    yield ""


def _operators(tried: Sequence[Tried]) -> Iterator[str]:
    yield from ("## By operator", "")
    about = {operator.name: operator.about for operator in OPERATORS}
    yield from _table("operator", ((code_span(n) if n in about else n, c) for n, c in by_operator(tried)))
    yield from (f"* {code_span(name)}: {what}." for name, what in about.items())
    yield ""


def _files(tried: Sequence[Tried]) -> Iterator[str]:
    yield from ("## By file", "")
    names = sorted({file_of(one.mutant) for one in tried})
    rows = ((code_span(n), counted(one for one in tried if file_of(one.mutant) == n)) for n in names)
    yield from _table("file", rows)


def _table(first: str, rows: Iterable[tuple[str, Counter[Fate]]]) -> Iterator[str]:
    yield f"| {first} | {' | '.join(fate.value for fate in Fate)} | score |"
    yield f"|---|{'---:|' * (len(Fate) + 1)}"
    for name, counts in rows:
        yield f"| {name} | {' | '.join(str(counts[fate]) for fate in Fate)} | {score(counts)} |"
    yield ""


def _killers(tried: Sequence[Tried]) -> Iterator[str]:
    """How many mutants each invariant kills."""
    killed = [one.outcome for one in tried if one.outcome is not None and one.outcome.fate is Fate.KILLED]
    times = Counter(outcome.claim.partition("(")[0] for outcome in killed)
    yield from ("## By what kills", "", "| invariant | mutants that it kills first |", "|---|---:|")
    for name, count in sorted(times.items(), key=lambda pair: (-pair[1], pair[0])):
        yield f"| {code_span(name)} | {count} |"
    yield ""


def _survivors(tried: Sequence[Tried]) -> Iterator[str]:
    survivors = [one for one in tried if one.is_alive]
    if not survivors:
        return
    yield from ("## Survivors", "")
    for reason in dict.fromkeys(one.reason for one in survivors):
        yield from (f"### {markdown(reason) if reason else 'Not explained'}", "")
        for one in (one for one in survivors if one.reason == reason):
            assert one.outcome is not None
            mutant = one.mutant
            yield f"* {code_span(mutant.id)} ({place_of(mutant)}): {markdown(one.outcome.text)}"
            yield f"  {code_span(mutant.before)} → {code_span(mutant.after)}"
        yield ""
