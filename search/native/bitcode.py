"""Object code of loops: from the bitcode that a wheel has of them, else by Numba.

Numba takes seconds for a loop, and is a large package. What it makes is LLVM's bitcode, of which machine code is made
in a tenth of the time, for exactly the CPU that is there. So a wheel has the bitcode of all loops, in an archive for
each level of x86-64 (`processor.LEVELS`): a level decides what Numba's optimization and the loops themselves may
assume. The name of a loop's bitcode is a digest of its source, which does not depend on Python as the key of its object
code does. A checkout has no bitcode.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

from kwalk.model.language import UsageError
from kwalk.search.base.components import extra_missing
from kwalk.search.native.loops import FOLDER, CompiledLoop, Intrinsic, LoopPart, described, globals_of
from kwalk.search.native.processor import level

COMPILERS = ("loops", "loop_compiler")
"""The modules of this package that decide how a loop is called and compiled."""


def object_code_of(loop: CompiledLoop) -> bytes:
    """Return the object code of a loop, with the function `loops.ENTRY`, for this machine.

    Raises:
        UsageError: There is no bitcode of the loop as it is, and no Numba to compile it.
        TypeError: Numba cannot compile the loop.
    """
    from kwalk.search.native.object_code import emit_optimized

    with suppress(FileNotFoundError, KeyError, zipfile.BadZipFile, RuntimeError):
        with zipfile.ZipFile(FOLDER / f"{level()}.zip") as archive:
            content = archive.read(source_digest(loop))
        return emit_optimized(content)
    try:
        from kwalk.search.native.loop_compiler import bitcode_of
    except ModuleNotFoundError as error:
        missing = extra_missing(error)
        if missing is None:
            raise
        place = "of its source" if FOLDER.exists() else "for this machine"
        raise UsageError(
            f"The loop {loop.__name__} has to be compiled: there is no bitcode {place}. {missing}"
        ) from error
    return emit_optimized(bitcode_of(loop))


def named_bitcode(module: str, name: str) -> tuple[str, bytes]:
    """Return the source digest and the bitcode of a loop, by Numba."""
    from kwalk.search.native.loop_compiler import bitcode_of

    loop = getattr(import_module(module), name)
    return source_digest(loop), bitcode_of(loop)


def write_archive(path: Path, contents: Mapping[str, bytes]) -> None:
    """Write the bitcode of loops by their source digests: the same bytes for the same contents."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, content in sorted(contents.items()):
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)


def source_digest(loop: CompiledLoop) -> str:
    """Return 32 hexadecimal digits that differ whenever the bitcode of a loop can differ.

    It is of the modules that the functions are in, as text, and of the values that they read. It is the same in each
    Python.
    """
    texts = {repr(loop._layouts), *map(_text, (str(Path(__file__).with_name(f"{name}.py")) for name in COMPILERS))}
    waiting, visited = [loop.function], set()
    while waiting:
        function = waiting.pop()
        if function in visited:
            continue
        visited.add(function)
        texts.add(_text(function.__code__.co_filename))
        for name, thing in (*globals_of(function).items(), *enumerate(function.__defaults__ or ())):
            if (inner := _function_of(thing)) is not None:
                waiting.append(inner)
            texts.add(f"{_place(function)} {name} {_said_of(thing)}")
    return hashlib.blake2b("\0".join(sorted(texts)).encode(), digest_size=16).hexdigest()


def _function_of(thing: Any) -> FunctionType | None:
    """Return the function that is compiled for a value; None for one that is no function."""
    if isinstance(thing, CompiledLoop | LoopPart):
        thing = thing.function
    return thing if isinstance(thing, FunctionType) else None


def _said_of(thing: Any) -> str:
    """Return what `described` says of a value, and of a function where it is instead of its byte code."""
    function = _function_of(thing)
    types = (thing.result, thing.arguments) if isinstance(thing, Intrinsic) else ()
    return described(thing) if function is None else f"{type(thing).__name__} {types} {_place(function)}"


def _place(function: FunctionType) -> str:
    return f"{function.__module__}:{function.__qualname__}:{function.__code__.co_firstlineno}"


@cache
def _text(path: str) -> str:
    """Return a digest of the text of a file."""
    return hashlib.blake2b(Path(path).read_bytes(), digest_size=16).hexdigest()
