"""The cache of compiled kernels: one zip file per cache key.

The key is a digest of everything that the code of a kernel depends on: the sources of the model, of the language and of
the compiler, the bounds, the flags and the CPU. Deleting the cache costs one compilation per model. A file that cannot
be read, that is damaged, or that another user could have written counts as absent (`kwalk.search.base.cache`). If the
folder cannot be written, kernels are compiled again each time.
"""
from __future__ import annotations

import hashlib
import io
import json
import operator
import sys
import sysconfig
import zipfile
from collections.abc import Set
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import frozen

import kwalk.model.language
from kwalk.model.language import Model
from kwalk.model.language.action import Parametric
from kwalk.search.base.cache import cache_path, read_cache, write_cache

COMPILER = Path(__file__).parent
OBJECT_CODE = COMPILER.parents[1] / "native" / "object_code.py"
LANGUAGE = Path(kwalk.model.language.__file__).parent
IGNORED = ("attr", "attrs")
"""Packages that are no part of a model, wherever they are installed."""


def cache_key(model: Model, cpu: str = "") -> str:
    """Return 32 hexadecimal digits that differ whenever the behaviour of the model, or its machine code, can differ."""
    digest = hashlib.blake2b(digest_size=16)
    sources = _sources(model)
    for path in sorted(sources.keys() - _own_sources()):
        digest.update(_digest_of(path, sources[path]))
    digest.update(b"".join(map(_digest_of, sorted(_own_sources()))))
    what = [model.scenario.name, model.variant, dict(model.binding.bounds), dict(model.binding.flags), cpu]
    functions = [[f.__qualname__ for f in p.functions] for p in model.scenario.properties]
    kinds = [[c.key, c.kind.value] for c in model.properties]
    order = [[i.key for i in model.instances], kinds, functions, [c.name for c in model.constraints]]
    with model.active():
        contexts = [prop.context for prop in model.scenario.properties]
    digest.update(json.dumps([what, order, contexts], sort_keys=True, default=str).encode())
    return digest.hexdigest()


@cache
def _own_sources() -> frozenset[Path]:
    """Return the files of the compiler and of the language."""
    return frozenset((*COMPILER.glob("*.py"), *LANGUAGE.rglob("*.py"), OBJECT_CODE))


_digests: dict[Path, tuple[ModuleSpec | None, bytes]] = {}


def _digest_of(path: Path, spec: ModuleSpec | None = None) -> bytes:
    """Return the digest of a file as it was when its module was used first.

    An edit has no effect before the module is loaded again, as a notebook may do, which gives it another `__spec__`.
    """
    known = _digests.get(path)
    if known is None or known[0] is not spec:
        content = path.name.encode() + b"\0" + path.read_bytes()
        known = _digests[path] = (spec, hashlib.blake2b(content, digest_size=16).digest())
    return known[1]


def _sources(model: Model) -> dict[Path, ModuleSpec | None]:
    """Return the files of all modules that a model's functions can reach through the names in their modules.

    Each is given with the `__spec__` of its module.

    The files of its actions and properties are among them also if Python does not know them as modules.
    """
    scenario = model.scenario
    of_properties = (function for prop in scenario.properties for function in prop.functions)
    functions = [*(each.function for each in (*scenario.actions, *scenario.constraints)), *of_properties]
    waiting = {scenario.state.__module__, *(f.__module__ for f in functions)}
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        seen.add(name)
        waiting |= _neighbours(sys.modules.get(name)) - seen
    files: dict[Path, ModuleSpec | None] = {
        path: None for f in functions if (path := Path(f.__code__.co_filename)).is_file()
    }
    for module in map(sys.modules.get, seen):
        if file := getattr(module, "__file__", None):
            files[Path(file)] = getattr(module, "__spec__", None)
    return files


def _neighbours(module: ModuleType | None) -> Set[str]:
    if module is None:
        return frozenset()
    return _names_of_installed(module) if _is_installed(module) else _names_in(module)


def _is_installed(module: ModuleType) -> bool:
    """Return whether it is a part of kwalk, or of another package: its names get other values in tests at most."""
    return module.__name__.startswith("kwalk.") or "site-packages" in Path(module.__file__ or "").parts


_names: dict[ModuleType, tuple[list[Any], Set[str]]] = {}


def _names_of_installed(module: ModuleType) -> Set[str]:
    """Return the modules that an installed module uses, found once as long as its names have the same values."""
    values = list(vars(module).values())
    known = _names.get(module)
    if known is None or len(known[0]) != len(values) or not all(map(operator.is_, known[0], values)):
        known = _names[module] = (values, _names_in(module))
    return known[1]


def _names_in(module: ModuleType) -> Set[str]:
    # What Python and pytest add to a module (`__loader__`, `@pytest_ar`) is no part of the model.
    things = [thing for name, thing in vars(module).items() if not name.startswith(("@", "__"))]
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


@frozen
class Compiled:
    """The object code of a kernel, and the names of the bounds and errors whose numbers its functions return."""

    objects: tuple[bytes, ...]
    bounds: tuple[str, ...]
    errors: tuple[str, ...]
    unoptimized: bool = False
    """Whether LLVM skipped its optimizations: the code is ready much earlier and runs at half the speed."""

    def pack(self) -> bytes:
        """Return the bytes of a zip file with all of it."""
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("names.json", json.dumps([self.bounds, self.errors, self.unoptimized]))
            for number, content in enumerate(self.objects):
                archive.writestr(f"{number}.o", content)
        return buffer.getvalue()


def unpack(content: bytes) -> Compiled:
    """Return what `Compiled.pack` packed; an exception of any kind if the content is broken."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        bounds, errors, unoptimized = json.loads(archive.read("names.json"))
        objects = [archive.read(f"{number}.o") for number in range(len(archive.namelist()) - 1)]
    return Compiled(tuple(objects), tuple(bounds), tuple(errors), unoptimized)


def load(key: str) -> Compiled | None:
    """Return the kernel with that cache key, or None."""
    content = read_cache(_file(key))
    if content is None:
        return None
    try:
        return unpack(content)
    except Exception:  # the content is broken: the model is compiled again
        return None


def save(key: str, code: Compiled) -> None:
    """Save a kernel; a folder that cannot be written is no error."""
    write_cache(_file(key), code.pack())


def _file(key: str) -> Path:
    return cache_path("kernels", f"{key}.zip")
