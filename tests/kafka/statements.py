"""What documents state beside a command: the length of the shortest trace, or the number of states."""

from __future__ import annotations

import re
from itertools import chain

from attrs import frozen

from tests.kafka.outcomes import canonical
from tests.structure.documents import documents
from tests.structure.rooms import ROOT

COMMAND = r"`(kwalk exhaust [^`]+)`"
LENGTHS = (
    rf"Shortest(?:,| behaviour\.\*\*) (\d+) steps?: {COMMAND}",
    rf"(\d+) steps?, the shortest that {COMMAND} finds",
)
"""How documents state the length of the shortest trace."""
ROW = rf"^\| (?:KAFKA|KIP|PR)-[^\n]*\| {COMMAND} \| (\d+) \|$"
"""How the tables of known bugs do."""
STATES = rf"([\d,]+) states[^`(]{{0,60}}\({COMMAND}\)"
"""How documents state the number of states in which all properties hold."""


@frozen
class Statement:
    """A statement of a document: a command, and either the length of the shortest trace or the number of states."""

    page: str
    command: str
    steps: int | None = None
    states: int | None = None

    @property
    def search(self) -> str:
        """The canonical command whose outcome decides: of all states, or to the first violation."""
        return canonical(self.command if self.states is None else f"{self.command} --keep-going")

    def __str__(self) -> str:
        return f"{self.page}: {self.command}"


def statements() -> list[Statement]:
    """All statements, each once, in the order of the documents."""
    found = dict[Statement, None]()
    for document in documents():
        written, page = document.read_text("utf-8"), document.relative_to(ROOT).as_posix()
        text = re.sub(r"\s+", " ", written)
        lengths = chain.from_iterable(re.findall(pattern, text) for pattern in LENGTHS)
        rows = ((steps, command) for command, steps in re.findall(ROW, written, re.MULTILINE))
        found |= {Statement(page, command, steps=int(steps)): None for steps, command in chain(lengths, rows)}
        counts = re.findall(STATES, text)
        found |= {Statement(page, command, states=int(count.replace(",", ""))): None for count, command in counts}
    return list(found)
