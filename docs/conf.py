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
html_copy_source = False
pygments_style = "sphinx"


def setup(app: Sphinx) -> None:
    """Write the generated pages before Sphinx looks for documents."""
    sys.path.insert(0, str(ROOT))
    from docs.generate.pages import write_pages

    app.connect("builder-inited", lambda _: write_pages())
