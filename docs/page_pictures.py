"""Take the pictures of pages in this documentation, in Chromium: `python docs/page_pictures.py [NAME …]`."""

from __future__ import annotations

import argparse
import base64
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from kwalk.model.language import Model  # noqa: E402
from kwalk.model.language.registry import find_scenario  # noqa: E402
from kwalk.reports.explorer.server import ExplorerServer  # noqa: E402
from kwalk.reports.pages.graph_page import graph_page  # noqa: E402
from kwalk.reports.pages.state_graph import Drawing  # noqa: E402
from kwalk.reports.traces.replay import open_trace  # noqa: E402
from kwalk.reports.traces.trace_file import read_trace  # noqa: E402
from kwalk.search.analyses.state_graph import explore  # noqa: E402
from tests.reports.devtools import DevTools, Tab, chromium  # noqa: E402
from tests.reports.exploring import exploring  # noqa: E402

TRACE = ROOT / "tests/traces/old-client-expansion-2.8.2-partition_servable.itf.json"


def explorer(browser: DevTools, folder: Path) -> str:
    """Return the explorer two steps before the end of a counterexample."""
    opened = open_trace(read_trace(TRACE))
    with exploring(opened.model, folder, opened.trace) as one, ExplorerServer(one) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        tab = browser.tab(1280)
        tab.open(server.address)
        tab.until("!!document.querySelector('#path [aria-current]')")
        tab.click("#path li:nth-last-child(5) button")
        tab.until("document.getElementById('distance').textContent.includes('from here')")
        shot = picture(tab, 900)
        server.shutdown()
    return shot


def graph_of_states(browser: DevTools, folder: Path) -> str:
    """Return the page of the graph of a small model."""
    page = folder / "graph.html"
    page.write_text(graph_page(Drawing(explore(Model(find_scenario("die-hard"))))), encoding="utf-8")
    tab = browser.tab(1280)
    tab.open(page.as_uri())
    return picture(tab, 900)


def night(browser: DevTools, folder: Path) -> str:
    """Return the page of the demonstration night, which takes minutes."""
    kwalk(folder, "nightly", str(ROOT / "hunts/nightly-demo.toml"), "--out", "night")
    tab = browser.tab(1280)
    tab.open((folder / "night/index.html").as_uri())
    return picture(tab, 900)


def running_search(browser: DevTools, folder: Path) -> str:
    """Return the page of a search, as it is when its time is over."""
    kwalk(folder, "exhaust", "old-client-expansion-in-detail", "--keep-going", "--seconds", "20", "--watch")
    tab = browser.tab(1280)
    tab.open((folder / "kwalk-out/watch.html").as_uri())
    return picture(tab, 900)


def kwalk(folder: Path, *words: str) -> None:
    """Run a command in a folder; whatever its verdict is, it must not fail."""
    command = [sys.executable, "-m", "kwalk.reports.command_line", *words]
    code = subprocess.run(command, cwd=folder, check=False).returncode
    if code not in (0, 3, 11, 12, 13, 14):
        raise SystemExit(f"kwalk {' '.join(words)} ended with {code}.")


def picture(tab: Tab, height: int) -> str:
    """Return the top of a page as PNG, in base64."""
    clip = {"x": 0, "y": 0, "width": 1280, "height": height, "scale": 1}
    return str(tab.ask("Page.captureScreenshot", clip=clip)["data"])


PICTURES: dict[str, Callable[[DevTools, Path], str]] = {
    "explorer": explorer,
    "graph-page": graph_of_states,
    "night-page": night,
    "watch-page": running_search,
}


def main() -> None:
    """Take the pictures that the command names, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"one of {', '.join(PICTURES)} (default: all)")
    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder)) as browser:
        for name in parser.parse_args().names or PICTURES:
            file = ROOT / "docs" / "pictures" / f"{name}.png"
            file.write_bytes(base64.b64decode(PICTURES[name](browser, Path(folder))))
            print(file.relative_to(ROOT))


if __name__ == "__main__":
    main()
