"""What makes an output harmless, whatever names are in it."""
from __future__ import annotations

import json
from html.parser import HTMLParser

ACTING = {"script", "img", "iframe", "object", "embed", "link", "base", "form", "input", "svg", "a", "video", "audio"}
"""Tags that load, send or run something."""


class _Tags(HTMLParser):
    """The tags of a page, and the names of their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}


def assert_harmless(form: str, text: str) -> None:
    """No character that a terminal acts on; no tag that acts in a page; no markup in Markdown; whole JSON in ITF."""
    assert {character for character in text if not character.isprintable()} <= {"\n"}
    if form == "html":
        found = _Tags()
        found.feed(text)
        assert not found.tags & ACTING
        assert not {name for name in found.attributes if name.startswith("on") or name in ("src", "href", "style")}
    if form == "markdown":
        assert "<script" not in text
    if form == "itf":
        assert text.isascii() and json.loads(text)["#meta"]
