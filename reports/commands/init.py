"""`kwalk init`: write a first model, a test of it and the settings of pytest."""

from __future__ import annotations

import keyword
from argparse import Namespace
from pathlib import Path

from kwalk.model.language import UsageError
from kwalk.reports.document import CodeBlock
from kwalk.reports.escaping import visible
from kwalk.reports.files import out_folder
from kwalk.reports.options.declaration import Command, Section, argument
from kwalk.reports.reporter import deliver
from kwalk.search.base.option_kinds import NAME

COMMAND = Command(
    "write a first model, a test of it and the settings of pytest into this folder",
    argument("name", "NAME", "the name of the model (default: leases)", nargs="?", type=NAME, default="leases"),
    handler="kwalk.reports.commands.init:write_project",
    section=Section.MODEL,
    codes="0 written, 2 usage error",
    page="../tutorial/your-first-model.md",
    examples="""
  kwalk init                           leases.py has a bug, and test_leases.py finds it
  kwalk init orders; kwalk exhaust orders""",
)
SETTINGS = "pyproject.toml"
TEMPLATES = Path(__file__).parents[1] / "templates" / "init"
"""The model, its test, and the settings; the tutorial has the same model."""


def write_project(options: Namespace) -> int:
    """Write the files, and print the next commands; 0.

    Raises:
        UsageError: The name is no name of a module, or a file is there already; nothing is written then.
    """
    name, folder = options.name, Path()
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UsageError(f"{visible(name)!r} cannot be imported. Name the model as a Python module: kwalk init orders.")
    texts = {f"{name}.py": _template("model.py.j2", name), f"test_{name}.py": _template("test.py.j2", name)}
    for file in texts:
        if (folder / file).exists():
            raise UsageError(f"{file} is there already, and is not replaced. Name another model: kwalk init NAME.")
    has_settings = (folder / SETTINGS).exists()
    if not has_settings:
        texts[SETTINGS] = _template(SETTINGS, name)
    with out_folder(folder) as out:
        out.write(texts)
    left = f'{SETTINGS} is left as it is. For tests, [tool.pytest.ini_options] there needs pythonpath = ["."]'
    lines = [f"Written: {', '.join(texts)}", *([left] if has_settings else ())]
    lines += [f"Explore: kwalk exhaust {name}", f"Test: python -m pytest test_{name}.py"]
    return deliver(options, lambda: {"files": list(texts)}, [CodeBlock(tuple(lines))])


def _template(file: str, name: str) -> str:
    """Return a file for a model of that name."""
    return (TEMPLATES / file).read_text(encoding="utf-8").replace("{{ name }}", name)
