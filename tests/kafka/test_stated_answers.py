"""The answers that documents state beside a command are those of the command, with its flags and bounds."""

from __future__ import annotations

import re
import shlex
from itertools import chain

import pytest
from attrs import frozen

from tests.structure.documents import documents
from tests.structure.rooms import ROOT

COMMAND = r"`(kwalk exhaust [^`]+)`"
LENGTHS = (
    rf"(\d+) steps?, the shortest that {COMMAND} finds",
    rf"\*\*Shortest behaviour\.\*\* (\d+) steps[^:`]*: {COMMAND}",
)
"""How documents state the length of the shortest trace."""
ROW = rf"^\| KAFKA-[^\n]*\| {COMMAND} \| (\d+) \|$"
"""How the tables of known bugs do."""
STATES = rf"([\d,]+) states[^`(]{{0,60}}\({COMMAND}\)"
"""How documents state the number of states in which all properties hold."""
QUICK = ("ensemble-two-servers-stopped", "two-admins")
"""Stories that are compiled and searched in a second or two; the others are thorough tests."""


@frozen
class Stated:
    """A statement of a document: a command, and either the length of the shortest trace or the number of states."""

    page: str
    command: str
    steps: int | None = None
    states: int | None = None

    def __str__(self) -> str:
        return f"{self.page}: {self.command}"


def stated() -> list[Stated]:
    """All statements, each once, in the order of the documents."""
    found = dict[Stated, None]()
    for document in documents():
        written, page = document.read_text("utf-8"), document.relative_to(ROOT).as_posix()
        text = re.sub(r"\s+", " ", written)
        lengths = chain.from_iterable(re.findall(pattern, text) for pattern in LENGTHS)
        rows = ((steps, command) for command, steps in re.findall(ROW, written, re.MULTILINE))
        found |= {Stated(page, command, steps=int(steps)): None for steps, command in chain(lengths, rows)}
        counts = re.findall(STATES, text)
        found |= {Stated(page, command, states=int(count.replace(",", ""))): None for count, command in counts}
    return list(found)


STATED = stated()


def test_each_counterexample_and_each_known_bug_states_its_command_and_its_length():
    diagrams = sum(page.read_text("utf-8").count("<!-- counterexample") for page in documents())
    stated_lengths = sum(
        len(re.findall(LENGTHS[0], re.sub(r"\s+", " ", page.read_text("utf-8")))) for page in documents()
    )
    assert stated_lengths == diagrams > 70
    known = (ROOT / "docs" / "reference" / "known-bugs.md").read_text("utf-8")
    found = known.partition("## Not modelled")[0]
    assert len(re.findall(ROW, found, re.MULTILINE)) == len(re.findall(r"^\| KAFKA-", found, re.MULTILINE)) > 30


@pytest.mark.parametrize(
    "statement",
    [pytest.param(s, marks=[] if s.command.split()[2] in QUICK else [pytest.mark.thorough]) for s in STATED],
    ids=str,
)
def test_a_command_of_the_documents_answers_what_they_state(kwalk, statement):
    ran = kwalk(*shlex.split(statement.command)[1:], "--json").object
    if statement.steps is not None:
        assert [finding["length"] for finding in ran["findings"]][:1] == [statement.steps]
    else:
        assert (ran["verdict"], ran["distinct_states"]) == ("holds", statement.states)
