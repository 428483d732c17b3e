"""How Sphinx builds the documentation: `make docs`."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import version as version_of
from pathlib import Path

from sphinx.application import Sphinx

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

project = PROJECT["name"]
author = "the kwalk developers"
release = version_of("kwalk")
html_title = f"kwalk {release}"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "**/*.new"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "undoc-members": False, "exclude-members": "__init__, __new__"}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_static_path: list[str] = []
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

ACCESSIBLE = {
    "<pre>": '<pre tabindex="0">',
    '<div class="table-wrapper': '<div tabindex="0" class="table-wrapper',
    'role="heading"': 'role="heading" aria-level="2"',
    '<aside class="sidebar-drawer': '<aside aria-label="All pages" class="sidebar-drawer',
    '<aside class="toc-drawer': '<aside aria-label="This page" class="toc-drawer',
    '<div id="search-results"': '<h1>Search</h1>\n<div id="search-results"',
}
"""What axe-core misses in the theme's pages: what scrolls takes the focus; headings have a level, and parts a name."""


def make_accessible(app: Sphinx, exception: Exception | None) -> None:
    """Complete the pages that were written."""
    for page in app.outdir.rglob("*.html") if exception is None else ():
        text = written = page.read_text(encoding="utf-8")
        for tag, completed in ACCESSIBLE.items():
            text = text.replace(tag, completed) if completed not in text else text
        if text != written:  # a page of an earlier build is complete
            page.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Write the generated pages before Sphinx looks for documents, and complete all of them at the end."""
    sys.path.insert(0, str(ROOT))
    from docs.generate.pages import write_pages

    app.connect("builder-inited", lambda _: write_pages())
    app.connect("build-finished", make_accessible)
