"""What makes an output harmless, whatever names are in it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

ACTING = {"img", "iframe", "object", "embed", "link", "base", "form", "video", "audio"}
"""Tags that load or send something."""


class _Tags(HTMLParser):
    """The tags of a page, the names of their attributes, its links, and the types and contents of its scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.scripts: list[list[str | None]] = []
        self.in_script = False

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs if name != "href"}
        self.links |= {value for name, value in attrs if name == "href"}
        self.in_script = tag == "script"
        if self.in_script:
            self.scripts.append([dict(attrs).get("type"), ""])

    def handle_endtag(self, tag):
        self.in_script = False

    def handle_data(self, data):
        if self.in_script:
            self.scripts[-1][1] += data


DOCUMENT = r"(file|https)://[\w./+~-]+/(docs|stories|how-to|reference|explanation)/[\w./-]+\.(md|html)(#[\w-]+)?"
"""The address of a page of the documentation."""


def assert_harmless(form: str, text: str) -> None:
    """No character that a terminal acts on; no tag that acts in a page; no markup in Markdown; whole JSON in ITF."""
    assert {character for character in text if not character.isprintable()} <= {"\n"}
    if form == "html":
        found = _Tags()
        found.feed(text)
        assert not found.tags & ACTING
        assert not {name for name in found.attributes if name.startswith("on") or name in ("src", "style")}
        assert all(re.fullmatch(rf"#start|#step-\d+|{DOCUMENT}", link) for link in found.links)
        assert [kind for kind, _ in found.scripts] in ([], ["application/json", None])
        for kind, content in found.scripts:
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert kind or f"script-src 'sha256-{digest}'" in text  # no other script runs
    if form == "markdown":
        assert "<script" not in text
    if form == "itf":
        assert text.isascii() and json.loads(text)["#meta"]
