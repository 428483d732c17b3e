"""Reading a DOT file strictly by the grammar of the language (its quoted strings, attribute lists, nodes and edges).

A label is split where `\\l` ends a line; any other escape but those of a backslash and a quotation mark is refused.
"""

from __future__ import annotations

import html
import re

from attrs import define, field

TOKEN = re.compile(
    r'\s+|//[^\n]*\n|(?P<string>"(?:[^"\\\n]|\\[^\n])*")|(?P<word>[A-Za-z_]\w*|\d+(?:\.\d+)?)|(?P<sign>->|[{}\[\]=;,])'
)
Attributes = dict[str, str]


@define
class Picture:
    """What a file draws: attributes of the graph, of each state, and of each edge."""

    name: str = ""
    defaults: dict[str, Attributes] = field(factory=dict)
    states: dict[str, Attributes] = field(factory=dict)
    edges: dict[tuple[str, str], Attributes] = field(factory=dict)


def label(attributes: Attributes) -> list[str]:
    """The lines of a label, as a reader sees them."""
    return [html.unescape(line) for line in _unescaped(attributes["label"])]


def _unescaped(text: str) -> list[str]:
    lines = [""]
    for piece in re.findall(r"\\.|[^\\]", text):
        if piece == "\\l":
            lines.append("")
        else:
            assert piece[0] != "\\" or piece in ('\\"', "\\\\"), piece
            lines[-1] += piece[-1]
    assert lines.pop() == ""
    return lines


def read_dot(text: str) -> Picture:
    """The picture of a file; AssertionError if it does not follow the grammar."""
    tokens, at = [], 0
    while at < len(text):
        found = TOKEN.match(text, at)
        assert found, text[at : at + 80]
        at = found.end()
        if found.lastgroup:
            tokens.append((found.lastgroup, found.group(found.lastgroup)))
    return _Reader(tokens).graph()


class _Reader:
    def __init__(self, tokens):
        self.tokens = tokens[::-1]

    def graph(self) -> Picture:
        self.take("digraph")
        picture = Picture(name=self.identifier())
        self.take("{")
        while self.tokens[-1][1] != "}":
            self.statement(picture)
        self.take("}")
        assert not self.tokens
        return picture

    def statement(self, picture: Picture) -> None:
        subject = self.identifier()
        if subject in ("graph", "node", "edge"):
            picture.defaults[subject] = self.attributes()
        elif self.tokens[-1][1] == "->":
            self.take("->")
            edge = (subject, self.identifier())
            assert edge not in picture.edges
            picture.edges[edge] = self.attributes()
        else:
            assert subject not in picture.states
            picture.states[subject] = self.attributes()
        self.take(";")

    def attributes(self) -> Attributes:
        found: Attributes = {}
        self.take("[")
        while True:
            name = self.identifier()
            self.take("=")
            assert name not in found
            found[name] = self.identifier()
            if self.tokens[-1][1] == "]":
                self.take("]")
                return found
            self.take(",")

    def identifier(self) -> str:
        kind, text = self.tokens.pop()
        assert kind in ("word", "string"), text
        return text[1:-1] if kind == "string" else text

    def take(self, wanted: str) -> None:
        kind, text = self.tokens.pop()
        assert (kind != "string") and text == wanted, (text, wanted)
