"""The fingerprint of a model: it changes when the model's meaning may have changed, and tells old traces apart.

It covers the text of every module that a model is written in (without comments, docstrings and layout), that of the
language which gives it its meaning, the flags of the variant, and the names of all leaves, steps and claims. Sizes are
not in it beyond that: a trace names its bounds. How kwalk lifts, compiles, searches and reports is no part of what a
model means, even where the file of a model imports it.
"""
from __future__ import annotations

import hashlib
import io
import sys
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import model.language
from model.language import Model

LAYOUT = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER})
ENGINES = ("model.language", "search", "reports")
"""Packages that a model may import and that are not the model."""
LANGUAGE = Path(model.language.__file__ or "").parent
NO_MEANING = ("errors.py", "fix.py", "registry.py", "settings.py")
"""Modules of the language that only say what went wrong, where scenarios are found, and which flags to set."""


def fingerprint(model: Model) -> str:
    """16 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=8)
    for text in _covered(model):
        digest.update(text.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _covered(model: Model) -> Iterator[str]:
    yield repr(sorted((name, str(value)) for name, value in model.binding.flags.items()))
    for leaf in model.leaves:
        yield f"{leaf.path} {leaf.low} {leaf.high}"
    yield from (instance.key for instance in model.instances)
    yield from (claim.key for claim in model.claims)
    for module in sorted(modules_of(model), key=lambda module: module.__name__):
        yield module.__name__
        yield _bare_text(Path(module.__file__ or ""))
    yield _language()


@cache
def _language() -> str:
    """What the language's own modules say, lifting left out: plain Python is the meaning."""
    return "".join(_bare_text(path) for path in sorted(LANGUAGE.glob("*.py")) if path.name not in NO_MEANING)


def modules_of(model: Model) -> list[ModuleType]:
    """The modules that the model is written in: those of its parts and what they import, bar installed packages."""
    scenario = model.scenario
    parts = [scenario.state, scenario.initial, *(a.function for a in scenario.actions)]
    parts += [invariant.function for invariant in scenario.invariants]
    waiting = [sys.modules[part.__module__] for part in parts if part.__module__ in sys.modules]
    found: dict[str, ModuleType] = {}
    while waiting:
        module = waiting.pop()
        if module.__name__ not in found and _is_model_text(module):
            found[module.__name__] = module
            waiting.extend(_imported(module))
    return list(found.values())


def _imported(module: ModuleType) -> Iterator[ModuleType]:
    for thing in list(vars(module).values()):
        name = thing.__name__ if isinstance(thing, ModuleType) else getattr(thing, "__module__", None)
        if isinstance(name, str) and name in sys.modules:
            yield sys.modules[name]


def _is_model_text(module: ModuleType) -> bool:
    source = getattr(module, "__file__", None) or ""
    installed = "site-packages" in source or module.__name__.partition(".")[0] in sys.stdlib_module_names
    engine = any(module.__name__ == name or module.__name__.startswith(f"{name}.") for name in ENGINES)
    return source.endswith(".py") and not installed and not engine


def _bare_text(path: Path) -> str:
    """A module's text without comments, docstrings and layout."""
    try:
        source = path.read_text("utf-8")
        tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type not in LAYOUT]
    except (OSError, UnicodeDecodeError, tokenize.TokenError, SyntaxError):
        return ""
    return "".join(_bare_tokens(tokens))


def _bare_tokens(tokens: list[tokenize.TokenInfo]) -> Iterator[str]:
    marks = {tokenize.INDENT: "{", tokenize.DEDENT: "}", tokenize.NEWLINE: ";"}
    begins = True
    for token in tokens:
        if not (begins and token.type == tokenize.STRING):
            yield marks.get(token.type, f"{token.string} ")
        begins = token.type in marks
