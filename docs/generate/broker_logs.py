"""The page `broker-logs.md`: the log lines that `kwalk diagnose --explain` reads, with the actions that log them."""

from __future__ import annotations

from collections.abc import Iterator

from kwalk.model.kafka.snapshots.log_lines import KINDS, LineKind, LogThread

HEAD = """# Log lines that `kwalk diagnose --explain` understands

`kwalk diagnose --explain SNAPSHOT … --logs DIR` reads these lines of the brokers' logs as
[observations between snapshots](../how-to/explain-a-cluster.md#logs-beside-the-snapshots). A name in braces stands for
a value, `{}` for any text. A line of 3.9.0 is listed only if it differs from that of 2.8.2. Level and logger are
those of Kafka's own `config/log4j.properties`; lines of other layouts are read, too, if they begin with the time.

*Observation* says what a behaviour must have between the line before it of the same thread and the line itself; *step*
names the action of the model with its `source`. Without one it may be any step.

`make docs` writes this page from `model/kafka/snapshots/log_lines.py`.
"""


def page() -> str:
    """Return the text of the page."""
    return "\n".join([HEAD, *(line for thread in LogThread for line in _section(thread))]) + "\n"


def _section(thread: LogThread) -> Iterator[str]:
    file, _, who = thread.value.partition(", ")
    yield from (f"## `{file}`: {who}", "")
    yield from ("| line | level, logged by | observation | step |", "|---|---|---|---|")
    yield from (_row(kind) for kind in KINDS if kind.thread is thread)
    yield ""


def _row(kind: LineKind) -> str:
    texts = list(kind.texts.items())
    lines = [f"`{text}`" if len(texts) == 1 else f"{release}: `{text}`" for release, text in texts]
    steps = [f"`{action.name}` ({action.source})" for action in kind.actions] or ["any" if kind.is_used else ""]
    shows = f"{kind.shows}; each line is another step" if kind.distinct else kind.shows
    shows += "; the line comes before the writes of the step" if kind.precedes else ""
    cells = ("<br>".join(lines), f"{kind.level}, {kind.source}", shows, "<br>".join(steps))
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
