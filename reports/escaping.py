"""Making names harmless: a trace or snapshot may call a topic `<script>`, an ANSI escape or `../x`.

Words: *visible* text has no character that moves a cursor, hides, or turns the reading direction; each such one is
written as an escape. A *file stem* is a file's name without folder and ending. Names never reach a file's name or a
page but through here (pages escape HTML on top, in their templates).
"""
from __future__ import annotations

import re
import unicodedata

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that are not simply drawn."""

LONGEST = 300
"""Characters of a name that reports show before they cut it."""


def visible(text: str, longest: int | None = None) -> str:
    """Text with each unseen character as \\xNN, \\uNNNN or \\UNNNNNNNN, cut after `longest` characters if given."""
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}… ({len(text):,} characters)"
    return text if text.isascii() and text.isprintable() else "".join(map(_drawn, text))


def visible_lines(text: str) -> str:
    """As `visible`, but line breaks stay."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _drawn(character: str) -> str:
    if unicodedata.category(character) not in UNSEEN:
        return character
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def markdown(text: str) -> str:
    """Visible text as Markdown shows it to the letter, also at the start of a line and inside a table cell."""
    escaped = visible(text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("@", "&#64;"), ("$", "&#36;")):
        escaped = escaped.replace(character, entity)
    escaped = escaped.replace("://", "&#58;//").replace("www.", "www&#46;")
    escaped = re.sub(r"([\\`*\[\]|~]|(?<![^\W_])_|_(?![^\W_])|^[#+-]|^ )", r"\\\1", escaped)
    return re.sub(r"^(\d+)([.)])", r"\1\\\2", escaped)


def mermaid(text: str) -> str:
    """Visible text as a Mermaid label shows it: what its grammar knows becomes a character entity."""
    escaped = re.sub(r"[^\w .,=/→…+−'’-]", lambda match: f"#{ord(match.group())};", visible(text))
    escaped = escaped.replace("--", "#45;#45;").replace("__", "#95;#95;")
    return re.sub(r"\b(e)(?=nd\b)", "#101;", escaped, flags=re.IGNORECASE)


def code_span(text: str) -> str:
    """Visible text as code in Markdown, to the letter."""
    shown = visible(text)
    return f"<code>{markdown(text)}</code>" if set(shown) & set("`<>&|") else f"`{shown}`"


def file_stem(*names: str, longest: int = 100) -> str:
    """A file's name made of names: only letters, digits, dots inside and hyphens of ASCII."""
    words = [re.sub(r"[^A-Za-z0-9]*[^A-Za-z0-9.][^A-Za-z0-9]*", "-", name).strip("-.") for name in names]
    stem = re.sub(r"\.{2,}", ".", "-".join(word for word in words if word))[:longest].strip("-.")
    return stem or "trace"
