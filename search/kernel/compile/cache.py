"""The cache of compiled kernels: one zip file per cache key.

The key is a digest of everything that the code of a kernel depends on: the terms that it is compiled from, the sources
of the compiler, and the CPU. Deleting the cache costs one compilation per model. A file that cannot be read, that is
damaged, or that another user could have written counts as absent (`kwalk.search.base.cache`). If the folder cannot be
written, kernels are compiled again each time.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import frozen

from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.kernel.model_digest import digest_of_files

COMPILER = Path(__file__).parent
OBJECT_CODE = COMPILER.parents[1] / "native" / "object_code.py"


def kernel_key(terms: str, cpu: str) -> str:
    """Return 32 hexadecimal digits for the machine code of a model.

    Args:
        terms: The digest of its terms (see `kwalk.search.kernel.model_digest.terms_digest`).
        cpu: The machine that it is for, as `kwalk.search.native.processor.cpu` describes it.
    """
    return hashlib.blake2b(f"{terms} {digest_of_compiler()} {cpu}".encode(), digest_size=16).hexdigest()


@cache
def digest_of_compiler() -> str:
    """Return a digest of the sources of the compiler, as they were when this process asked first."""
    return digest_of_files((*COMPILER.glob("*.py"), OBJECT_CODE))


@frozen
class Compiled:
    """The object code of a kernel, and the names of the bounds and errors whose numbers its functions return."""

    objects: tuple[bytes, ...]
    bounds: tuple[str, ...]
    errors: tuple[str, ...]
    unoptimized: bool = False
    """Whether LLVM skipped its optimizations: the code is ready much earlier and runs at half the speed."""
    terms: str = ""
    """The digest of the terms that it was compiled from; "" if they are not those of a model as it is."""
    touched: tuple[str, ...] = ()
    """For each instance a bit mask, in hexadecimal digits, of the leaves that it reads or writes; empty if unknown."""

    def pack(self) -> bytes:
        """Return the bytes of a zip file with all of it."""
        return packed((self.bounds, self.errors, self.unoptimized, self.terms, self.touched), self.objects)


def unpack(content: bytes) -> Compiled:
    """Return what `Compiled.pack` packed; an exception of any kind if the content is broken."""
    (bounds, errors, unoptimized, terms, touched), objects = unpacked(content)
    return Compiled(objects, tuple(bounds), tuple(errors), unoptimized, terms, tuple(touched))


def packed(names: Sequence[Any], objects: Iterable[bytes]) -> bytes:
    """Return the bytes of a zip file with what JSON can have, and object code."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("names.json", json.dumps(names))
        for number, content in enumerate(objects):
            archive.writestr(f"{number}.o", content)
    return buffer.getvalue()


def unpacked(content: bytes) -> tuple[Any, tuple[bytes, ...]]:
    """Return what `packed` packed; an exception of any kind if the content is broken."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        objects = (archive.read(f"{number}.o") for number in range(len(archive.namelist()) - 1))
        return json.loads(archive.read("names.json")), tuple(objects)


def load_any(terms: str, cpu: str, *, unoptimized: bool) -> Compiled | None:
    """Return the kernel for the digest of its terms: the optimized one, or another one if that is accepted."""
    key = kernel_key(terms, cpu)
    return load(key) or (load(f"{key}-unoptimized") if unoptimized else None)


def load(key: str) -> Compiled | None:
    """Return the kernel with that cache key, or None."""
    content = read_cache(_file(key))
    if content is None:
        return None
    try:
        return unpack(content)
    except Exception:  # the content is broken: the model is compiled again
        return None


def save(cpu: str, code: Compiled) -> None:
    """Save a kernel for a machine; a folder that cannot be written is no error."""
    key = kernel_key(code.terms, cpu)
    write_cache(_file(f"{key}-unoptimized" if code.unoptimized else key), code.pack())


def _file(key: str) -> Path:
    return cache_path("kernels", f"{key}.zip")
