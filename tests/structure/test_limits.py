"""Sizes that may only fall: lines of each folder, words of the documents, names of options outside their declarations.

A change that needs more raises the limit in `limits.toml` in a commit that says why. A limit that is far from the size
is lowered, so that the room is not filled without a word.
"""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from kwalk.reports.options.parser import commands
from tests.structure.rooms import ROOMS, ROOT, modules, statements

LIMITS = tomllib.loads((ROOT / "tests/structure/limits.toml").read_text(encoding="utf-8"))
ROOM = {"lines": 250, "words": 1_000, "names": 5}
"""How far a limit may be above the size."""
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs")
DECLARED_IN = ("search/base/option_table.py", "reports/options", "reports/commands", "clusters/commands")


def tracked(folder: str, suffix: str) -> Iterator[Path]:
    """The files below a folder, or the file itself, without generated pages."""
    from docs.generate.pages import FOLDER, PAGES

    generated = {FOLDER / name for name in PAGES}
    path = ROOT / folder
    yield from (each for each in ([path] if path.is_file() else path.rglob(f"*{suffix}")) if each not in generated)


def lines_of(folder: str) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in tracked(folder, ".py"))


def words_of_documents() -> int:
    return sum(
        len(path.read_text(encoding="utf-8").split()) for document in DOCUMENTS for path in tracked(document, ".md")
    )


def option_names() -> set[str]:
    """The names of all options with a value, as Python writes them."""
    return {
        name.removeprefix("--").replace("-", "_")
        for command in commands().values()
        for name, settings in command.arguments
        if name.startswith("--") and settings.get("action") not in ("store_true", "store_false")
    }


def names_outside_the_declarations() -> int:
    """How many parameters and fields have the name of an option, where no option is declared."""
    names, count = option_names(), 0
    for path in modules(*ROOMS):
        if path.relative_to(ROOT).as_posix().startswith((*DECLARED_IN, "model/examples")):
            continue
        for node in statements(path.read_text(encoding="utf-8")):
            if isinstance(node, ast.FunctionDef):
                count += sum(arg.arg in names for arg in (*node.args.args, *node.args.kwonlyargs))
            elif isinstance(node, ast.ClassDef):
                fields = (each.target for each in node.body if isinstance(each, ast.AnnAssign))
                count += sum(isinstance(field, ast.Name) and field.id in names for field in fields)
    return count


def compare(kind: str, name: str, size: int) -> None:
    limit = LIMITS[kind][name]
    assert size <= limit, (
        f"{name}: {size:,} {kind}, where limits.toml allows {limit:,}. Raise it in a commit of its own."
    )
    assert limit - size <= ROOM[kind], f"{name}: {size:,} {kind}. Lower its limit in limits.toml, which is {limit:,}."


@pytest.mark.parametrize("folder", LIMITS["lines"])
def test_a_folder_has_no_more_lines_than_its_limit(folder):
    compare("lines", folder, lines_of(folder))


def test_every_folder_of_the_product_has_a_limit():
    folders = {path.relative_to(ROOT).parts for path in modules(*ROOMS) if path.read_text(encoding="utf-8").strip()}
    named = {tuple(folder.split("/")) for folder in LIMITS["lines"]}
    assert [parts for parts in folders if not any(parts[: len(name)] == name for name in named)] == []


def test_the_documents_have_no_more_words_than_their_limit():
    compare("words", "documents", words_of_documents())


def test_no_more_parameters_and_fields_have_the_name_of_an_option():
    compare("names", "options", names_outside_the_declarations())
