"""Escaping of names: a trace or a snapshot may call a topic `<script>`, an ANSI escape or `../x`.

Words: *visible* text has escapes instead of control characters, invisible characters, and those that change the reading
direction. A *file stem* is a file's name without folder and suffix. Every name passes through this module before it
gets into a report or a file's name; HTML templates escape markup in addition.
"""

from __future__ import annotations

import re
import unicodedata

INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that are printed as escapes."""

LONGEST = 300
"""The number of characters after which reports cut a name."""


def visible(text: str, longest: int | None = None) -> str:
    """Return text with invisible characters as \\xNN, \\uNNNN or \\UNNNNNNNN, cut after `longest` ones if given."""
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return text if text.isascii() and text.isprintable() else "".join(map(_drawn, text))


def visible_lines(text: str) -> str:
    """Return visible text that keeps its line breaks."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _drawn(character: str) -> str:
    if unicodedata.category(character) not in INVISIBLE:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown(text: str) -> str:
    """Return text that Markdown shows literally, also at the start of a line and inside a table cell."""
    escaped = visible(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "&#64;"), ("$", "&#36;")):
        escaped = escaped.replace(character, entity)
    escaped = escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
    escaped = re.sub(r"([\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])|^[#+-]|^ )", r"\\\1", escaped)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", escaped)


def mermaid(text: str) -> str:
    """Return text that a Mermaid label shows literally: syntax becomes character entities."""
    escaped = re.sub(r"[^\w .,=/→…+−'’-]", lambda match: f"#{ord(match.group())};", visible(text))
    escaped = escaped.replace("--", "#45;#45;").replace("__", "#95;#95;")
    return re.sub(r"\b(e)(?=nd\b)", "#101;", escaped, flags=re.IGNORECASE)


def code_span(text: str) -> str:
    """Return text as literal code in Markdown."""
    shown = visible(text)
    return f"<code>{markdown(text)}</code>" if set(shown) & set("`<>&|") else f"`{shown}`"


def file_stem(*names: str, longest: int = 100) -> str:
    """Return a file's name made of names: only ASCII letters, digits, hyphens, and dots inside."""
    words = [re.sub(r"[^A-Za-z0-9]*[^A-Za-z0-9.][^A-Za-z0-9]*", "-", name).strip("-.") for name in names]
    stem = re.sub(r"\.{2,}", ".", "-".join(word for word in words if word))[:longest].strip("-.")
    return stem or "trace"
