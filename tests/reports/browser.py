"""A real Chromium, where there is one: what a page measures in it, how it looks, and how it prints.

Words: a page is *framed* when another page shows it in a frame of a given width: the narrowest window of a browser
without a screen is wider than a phone.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
import zlib
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
AXE = find_spec("axe_core_python")
FRAGMENT = """
for (const folded of document.querySelectorAll("details")) folded.open = true;
axe.run().then((found) => JSON.stringify(found.violations.map(
  (each) => [each.id, each.nodes.map((node) => node.target.join(" ") + ": " + node.failureSummary).slice(0, 3)])));
"""
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--allow-file-access-from-files",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-extensions",
)
DARK = "--blink-settings=preferredColorScheme=0"
PROBE = """<!doctype html><body style="margin:0">%s<pre id="found"></pre><script>
onload = () => {
  const found = {};
  for (const frame of document.querySelectorAll("iframe")) {
    const page = frame.contentDocument, root = page.documentElement, wide = root.clientWidth;
    for (const folded of page.querySelectorAll("details")) folded.open = true;
    const sticking = [...page.querySelectorAll("main *")].filter(e => e.getBoundingClientRect().right > wide + 1);
    found[frame.width] = {
      width: wide, scrolls: root.scrollWidth, ground: getComputedStyle(page.body).backgroundColor,
      sticking: sticking.slice(0, 5).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 60)),
      heights: Object.fromEntries([...page.querySelectorAll("section")].map(e => [e.id, e.offsetHeight])),
    };
  }
  document.getElementById("found").textContent = JSON.stringify(found);
};
</script>"""


class Browser:
    """Chromium with a profile of its own in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def run(self, page: Path, *options: str) -> str:
        """Load a page; what the browser prints."""
        command = [str(CHROMIUM), *OPTIONS, f"--user-data-dir={self.folder / 'profile'}", *options, page.as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout

    def measure(self, page: Path, *widths: int, dark: bool = False) -> dict[int, dict[str, Any]]:
        """What the page measures in frames of these widths, with everything unfolded."""
        style = f'height="800" style="border:0" src="{page.as_uri()}"'
        frames = "".join(f'<iframe width="{width}" {style}></iframe>' for width in widths)
        probe = self.folder / "probe.html"
        probe.write_text(PROBE % frames, encoding="utf-8")
        printed = self.run(probe, "--dump-dom", *[DARK] * dark)
        found = re.search(r'<pre id="found">(.*?)</pre>', printed, re.DOTALL)
        assert found is not None, printed[:2000]
        return {int(width): measured for width, measured in json.loads(unescape(found[1])).items()}

    def picture(self, page: Path, width: int, height: int) -> list[list[tuple[int, ...]]]:
        """The top of a page in a frame of that width, at half of its size, as rows of pixels."""
        framed, png = self.folder / "framed.html", self.folder / "page.png"
        style = f'style="border:0;width:{width}px;height:{height}px"'
        framed.write_text(f'<body style="margin:0"><iframe {style} src="{page.as_uri()}"></iframe>', encoding="utf-8")
        size = f"--window-size={max(500, width)},{height}"
        self.run(framed, f"--screenshot={png}", size, "--force-device-scale-factor=0.5")
        return [row[: width // 2] for row in pixels(png.read_bytes())]

    def pdf(self, page: Path) -> bytes:
        """The page, printed."""
        pdf = self.folder / "page.pdf"
        self.run(page, f"--print-to-pdf={pdf}", "--no-pdf-header-footer")
        return pdf.read_bytes()


def pixels(png: bytes) -> list[list[tuple[int, ...]]]:
    """The rows of pixels of a PNG file of 8 bits a channel that is not interlaced."""
    place, packed, header = 8, b"", b""
    while place < len(png):
        (length,), kind = struct.unpack(">I", png[place : place + 4]), png[place + 4 : place + 8]
        content = png[place + 8 : place + 8 + length]
        header, packed = (content if kind == b"IHDR" else header), packed + (content if kind == b"IDAT" else b"")
        place += 12 + length
    width, height, _, kind_of_colour = struct.unpack(">IIBB", header[:10])
    step = {2: 3, 6: 4}[kind_of_colour]
    flat, size = zlib.decompress(packed), width * step
    rows, above = [], bytearray(size)
    for y in range(height):
        start = y * (size + 1)
        above = _unfiltered(flat[start], bytearray(flat[start + 1 : start + 1 + size]), above, step)
        rows.append([tuple(above[x : x + 3]) for x in range(0, size, step)])
    return rows


def _unfiltered(kind: int, row: bytearray, above: bytearray, step: int) -> bytearray:
    """A row of a PNG file, its filter undone."""
    for x in range(len(row) if kind else 0):
        left, up = row[x - step] if x >= step else 0, above[x]
        row[x] = (row[x] + _guess(kind, left, up, above[x - step] if x >= step else 0)) & 255
    return row


def _guess(kind: int, left: int, up: int, corner: int) -> int:
    """What a filter takes for the value of a byte, by its neighbours."""
    if kind < 4:
        return (0, left, up, (left + up) // 2)[kind]
    return min((left, up, corner), key=lambda value: abs(left + up - corner - value))


def violations(tab: Any) -> list[Any]:
    """Return the rules of axe-core that the page in a tab of Chromium breaks, with where it does."""
    assert AXE is not None and AXE.origin is not None
    tab.value(f"{(Path(AXE.origin).parent / 'axe.min.js').read_text(encoding='utf-8')}; 0")
    found: list[Any] = json.loads(tab.value(FRAGMENT))
    return found
