"""The log lines that properties and findings name are lines that brokers write.

`log_messages.toml` has the messages as they are in the source of Kafka; no test reads that source.
"""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from docs.generate import log_lines
from docs.generate.pages import FOLDER
from kwalk.invariants.reading import finding_kinds
from kwalk.invariants.reading.findings import PROPERTIES
from kwalk.invariants.stories import SCENARIOS
from kwalk.model.language.inspection import FindingKind
from tests.structure.documents import text_of

MESSAGES = tomllib.loads((Path(__file__).parent / "log_messages.toml").read_text("utf-8"))["message"]
FINDINGS = [kind for kind in vars(finding_kinds).values() if isinstance(kind, FindingKind)]
NO_LINE = re.compile("none(: |$)")
PROTOCOL = re.compile(r"[A-Z_]+(?: or [A-Z_]+)* in responses to [A-Za-z ]+")
"""What clients and request logs show, not a message of a logger."""
GREPS = sorted({command for kind in FINDINGS for command in kind.grep})


QUOTED = log_lines.QUOTED
DECLARED = {prop.name for scenario in SCENARIOS for prop in scenario.properties} | {prop.name for prop in PROPERTIES}
KNOWN = DECLARED | {kind.name for kind in FINDINGS}
"""What a quoted line may refer to, beside pages of stories."""


def named_lines() -> set[str]:
    """Every line that a property or a finding names."""
    properties = {prop.log for scenario in SCENARIOS for prop in scenario.properties if prop.log}
    return {line for line in properties | {kind.log for kind in FINDINGS if kind.log} if not NO_LINE.match(line)}


def without_messages(line: str) -> str:
    """What is left of a line without the messages in it, the longest first."""
    for text in sorted((message["text"] for message in MESSAGES), key=len, reverse=True):
        line = line.replace(text, "").replace(text.removesuffix("."), "")
    return line


@pytest.mark.parametrize("line", sorted(named_lines()))
def test_a_line_that_is_named_is_a_message_of_a_broker_with_words_around_it(line: str) -> None:
    if not PROTOCOL.fullmatch(line) and not line.startswith("java.lang."):
        rest = without_messages(line)
        assert rest != line, "no message of log_messages.toml: add it there as the source of Kafka has it"
        assert "…" not in rest.replace("[Broker id=…]", ""), rest


@pytest.mark.parametrize("command", GREPS)
def test_a_grep_finds_a_message_of_2_8_2_and_one_of_3_9_0(command: str) -> None:
    words = shlex.split(command, comments=True)
    pattern = next(word for word in words[1:] if not word.startswith("-"))
    assert "-E" in words or not re.search(r"[|(+?]", pattern)
    shown = [message for message in MESSAGES if re.search(pattern, message["text"].replace("…", "x"))]
    assert {"2.8.2", "3.9.0"} <= {release for message in shown for release in message["releases"]}
    files = {re.sub(r"^logs/|\*$", "", word) for word in words[1:] if word.startswith("logs/")}
    assert files <= {"state-change.log", "controller.log", "server.log"} and files
    assert ("DEBUG" in command) == any(message.get("level") == "DEBUG" for message in shown)


def test_every_message_is_named_somewhere() -> None:
    everything = "\n".join([*named_lines(), *GREPS, *(kind.log for kind in FINDINGS)])
    texts = [message["text"] for message in MESSAGES]
    assert [text for text in texts if text not in everything and text.removesuffix(".") not in everything] == []


def test_a_quoted_line_has_one_home() -> None:
    texts = [one["text"] for one in QUOTED["line"]]
    declared = [message["text"] for message in MESSAGES]
    assert sorted(set(texts)) == sorted(texts)
    assert [text for text in texts if any(text in one or one in text for one in (*declared, *named_lines()))] == []


@pytest.mark.parametrize("quoted", [*QUOTED["error"], *QUOTED["line"]], ids=lambda one: one.get("name") or one["text"])
def test_a_quoted_line_belongs_to_what_there_is_and_is_on_the_page(quoted) -> None:
    assert quoted.keys() == {"text", "means", "see", "name" if "name" in quoted else "by"}
    for name in quoted["see"]:
        assert name in KNOWN or (log_lines.STORIES / name).is_file(), name
    assert not quoted["means"].endswith(".")
    assert log_lines.cell(quoted["text"]) in text_of(FOLDER / "log-lines.md")


@pytest.mark.parametrize(
    "name",
    [
        *("COORDINATOR_NOT_AVAILABLE", "INCONSISTENT_CLUSTER_ID", "INCONSISTENT_TOPIC_ID", "KAFKA_STORAGE_ERROR"),
        *("LEADER_NOT_AVAILABLE", "NOT_CONTROLLER", "NOT_ENOUGH_REPLICAS", "NOT_LEADER_OR_FOLLOWER"),
        *("UNKNOWN_TOPIC_ID", "UNKNOWN_TOPIC_OR_PARTITION"),
    ],
)
def test_an_error_that_clients_show_has_one_row(name) -> None:
    rows = [line for line in text_of(FOLDER / "log-lines.md").splitlines() if line.startswith(f"| `{name}`<br>")]
    assert len(rows) == 1
