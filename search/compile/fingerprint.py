"""What a compiled kernel depends on, as one digest: sources of the model and the compiler, bounds, flags, CPU."""
from __future__ import annotations

import hashlib
import json
import sys
import sysconfig
from functools import cache
from pathlib import Path
from types import ModuleType

import model.language
from model.language import Model
from model.language.action import Parametric

COMPILER = Path(__file__).parent
LANGUAGE = Path(model.language.__file__).parent
IGNORED = ("attr", "attrs")


def fingerprint(model: Model, cpu: str = "") -> str:
    """A digest that differs whenever the meaning of the model can differ, or its machine code."""
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted({*_sources(model), *COMPILER.glob("*.py"), *LANGUAGE.rglob("*.py")}):
        digest.update(str(path.name).encode() + b"\0" + _content(path))
    what = [model.scenario.name, model.variant, dict(model.binding.bounds), dict(model.binding.flags), cpu]
    order = [[i.key for i in model.instances], [c.key for c in model.claims]]
    digest.update(json.dumps([what, order], sort_keys=True, default=str).encode())
    return digest.hexdigest()


@cache
def _content(path: Path) -> bytes:
    return path.read_bytes()


def _sources(model: Model) -> set[Path]:
    """The files of all modules that a model's functions can reach through the names of their modules."""
    scenario = model.scenario
    functions = [*(a.function for a in scenario.actions), *(i.function for i in scenario.invariants)]
    waiting = {scenario.state.__module__, *(f.__module__ for f in functions)}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= _neighbours(sys.modules.get(name)) - seen
    return {Path(file) for name in seen if (file := getattr(sys.modules.get(name), "__file__", None))}


def _neighbours(module: ModuleType | None) -> set[str]:
    if module is None:
        return set()
    things = [*vars(module).values()]
    names = {t.__name__ if isinstance(t, ModuleType) else getattr(t, "__module__", None) for t in things}
    names |= {t.function.__module__ for t in things if isinstance(t, Parametric)}
    return {name for name in names if isinstance(name, str) and _is_model_code(name)}


@cache
def _is_model_code(name: str) -> bool:
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file or name.split(".")[0] in IGNORED:
        return False
    path, standard = Path(file), Path(sysconfig.get_paths()["stdlib"])
    return "site-packages" in path.parts or standard not in path.parents
