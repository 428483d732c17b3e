"""A comparison of two runs as text: what `kwalk compare` prints."""
from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

from rich.padding import Padding
from rich.text import Text

from reports.escaping import visible
from reports.morning.circumstances import circumstances
from reports.morning.comparison import Comparison
from reports.morning.sentences import evidence, headline, pair_sentences, shape_of, trace_file
from search.nightly.reading.results import TaskResult
from search.nightly.tables import FindingRow

STYLES = {0: "bold green", 3: "bold yellow", 12: "bold red"}


def comparison_lines(comparison: Comparison) -> Iterator[Text | Padding]:
    """The comparison: what is new first, then by task what else differs, then how the runs themselves differ."""
    word = {0: "NOTHING WORSE", 3: "LESS IS KNOWN", 12: "NEWLY BROKEN"}[comparison.exit_code]
    yield Text.assemble((word, STYLES[comparison.exit_code]), f"  {headline(comparison)}")
    runs = f"{comparison.before.path} → {comparison.after.path}"
    yield _line(runs, 2, "dim")
    yield from _clusters(comparison, "NEW", comparison.new)
    for pair in comparison.pairs:
        yield from _told(pair.after.name, pair_sentences(pair))
    for task in comparison.only_before:
        yield from _told(task.name, [f"in the earlier run only: {task.answer} ({task.how})"])
    for task in comparison.only_after:
        yield from _told(task.name, [f"in the later run only: {task.answer} ({task.how})"])
    yield from _clusters(comparison, "GONE", comparison.gone)
    yield from _told("The runs", circumstances(comparison.before, comparison.after))


def _line(text: str, margin: int, style: str = "") -> Padding:
    return Padding(Text(visible(text), style=style), (0, 0, 0, margin))


def _told(about: str, sentences: Iterable[str]) -> Iterator[Text | Padding]:
    """A heading with sentences under it, nothing if there are none."""
    told = list(sentences)
    if told:
        yield Text()
        yield _line(about, 2, "bold")
        yield from (_line(sentence, 4) for sentence in told)


def _clusters(
    comparison: Comparison, word: str, clusters: Iterable[tuple[TaskResult, FindingRow]]
) -> Iterator[Text | Padding]:
    """Clusters below each other, each with what shows it."""
    told = list(clusters)
    for number, (task, cluster) in enumerate(told):
        if number == 0:
            yield Text()
        yield _line(f"{word}  {task.name}: {cluster.claim}", 2, "bold")
        yield _line(evidence(task, cluster), 7)
        yield _line(shape_of(cluster), 7, "dim")
        trace = trace_file(comparison.after.path, task, cluster) if word == "NEW" else None
        if trace is not None:
            yield _line(f"kwalk show {shlex.quote(str(trace))}", 7)
