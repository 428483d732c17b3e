"""Which machine this is: object code is valid only there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from kwalk.search.base.cache import cache_path, read_cache, write_cache

BOOT, PROCESSORS = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/cpuinfo")
LASTING = ("vendor_id", "cpu family", "model", "stepping", "microcode", "flags", "Features", "CPU ")
"""Beginnings of the lines on a processor that are always the same."""
V3 = "x86-64-v3"
LEVELS: Mapping[str, frozenset[str]] = {
    V3: frozenset(("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")),
    "x86-64": frozenset(),
}
"""By the name of a level of x86-64, the highest first: the features that it adds (System V ABI, AMD64, 3.1.1)."""


@cache
def cpu() -> str:
    """Return this machine's triple, CPU and LLVM as one line. Object code is valid only where the lines are equal.

    LLVM says what the machine is. The cache keeps the line until the machine is started again: until then its
    processors cannot change.
    """
    machine = _machine()
    path = cache_path("machines", machine)
    known = read_cache(path) if machine else None
    if known is None:
        known = host().encode()
        if machine:
            write_cache(path, known)
    return known.decode()


@cache
def level() -> str:
    """Return the level of x86-64 that loops are compiled for; "" on another kind of processor.

    It is the highest one that this machine has, or else the one that Numba is told to compile for.
    """
    triple, _, features, *_ = cpu().split(" ")
    if not triple.startswith("x86_64"):
        return ""
    told, present = os.environ.get("NUMBA_CPU_NAME", ""), {each[1:] for each in features.split(",") if each[:1] == "+"}
    return told if told in LEVELS else next(name for name, needed in LEVELS.items() if needed <= present)


def _machine() -> str:
    """Return a digest of this start of the machine, of its first processor, and of LLVM; "" if it cannot be told."""
    llvm = find_spec("llvmlite")
    try:
        boot, processors = BOOT.read_text("ascii"), PROCESSORS.read_text("utf-8", "replace")
        version = Path(llvm.origin or "").with_name("_version.py").read_text("utf-8") if llvm else ""
    except OSError:
        return ""
    if not boot or not version:
        return ""
    first = [line for line in processors.partition("\n\n")[0].splitlines() if line.startswith(LASTING)]
    about = "\0".join((boot, *os.uname(), *first, version))
    return hashlib.blake2b(about.encode(), digest_size=16).hexdigest()


def host() -> str:
    """Return what `cpu` returns, from LLVM, which is imported for it."""
    import llvmlite
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten()
    return f"{llvm.get_process_triple()} {llvm.get_host_cpu_name()} {features} llvmlite {llvmlite.__version__}"
