"""The pages of the documentation in a real Chromium: axe-core's rules, on a page with what the others are made of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.browser import AXE, CHROMIUM, violations
from tests.reports.devtools import chromium
from tests.structure.rooms import ROOT

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium to look at the pages with"),
    pytest.mark.skipif(AXE is None, reason="axe-core-python is not installed: `make setup` installs it"),
]
CONFIGURATION = f"""
import runpy

globals().update(runpy.run_path({str(ROOT / "docs" / "conf.py")!r}))


def setup(app):
    app.connect("build-finished", make_accessible)
"""
INDEX = """# A site

```{toctree}
:caption: Pages
:hidden:

page
```
"""
PAGE = f"""# A page

## With code

```python
import street  # a comment
house = street.HOUSES["The Mill"] if street.is_long else None  # {"which goes on " * 10}
```

```sh
for number in 1 2 3; do echo "$number: {"a long line " * 12}"; done  # a comment
```

## With a table

| a | b | c |
|---|---|---|
| `{"a" * 60}` | `{"b" * 60}` | `{"c" * 60}` |
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    pytest.importorskip("furo", reason="comes with the packages of the documentation")
    folder = tmp_path_factory.mktemp("site")
    for name, text in {"conf.py": CONFIGURATION, "index.md": INDEX, "page.md": PAGE}.items():
        (folder / name).write_text(text, encoding="utf-8")
    built = folder / "built"
    subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "-b", "html", folder, built], check=True)
    return built


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_page_of_the_documentation_keeps_the_rules_of_accessibility(site, tmp_path, width, dark):
    with chromium(tmp_path) as browser:
        tab = browser.tab(width, dark=dark)
        tab.open((site / "page.html").as_uri())
        assert violations(tab) == []
        assert not tab.scrolls_sideways() and tab.errors == []
