"""Which machine this is: object code is valid only there."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from kwalk.search.base.cache import cache_path, read_cache, write_cache

BOOT, PROCESSORS = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/cpuinfo")
LASTING = ("vendor_id", "cpu family", "model", "stepping", "microcode", "flags", "Features", "CPU ")
"""Beginnings of the lines on a processor that are always the same."""


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
