"""Large arrays, taken from the system page by page as they are first written, and how much memory there is.

On Linux they lie at addresses of their own, far from libraries and compiled code: the parts of a piece of code must not
be more than two gigabytes apart, and would be if an array took the room between them (LLVM then aborts the process).
"""
from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from model.language import UsageError

HUGE = 1 << 22
SHARE = 0.75
"""The part of the available memory that a search takes if nobody says how much."""
FAR, STEP, PLACES = 1 << 44, 1 << 38, 256
"""Where arrays lie: PLACES addresses from FAR on, STEP bytes from one to the next, taken in turn."""
_FAR_WORKS = sys.platform == "linux"
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_NORESERVE = 0x4000
"""MAP_NORESERVE of Linux, which Python does not name."""

_turn = count()


def reserve(count: int, dtype: Any = np.uint64, *, dense: bool = True) -> np.ndarray:
    """An array of zeros whose pages take no memory before they are written; given back when the array goes.

    `dense` says that it will be filled without gaps, so that large pages waste nothing. UsageError if it is too large.
    """
    size = max(1, count) * np.dtype(dtype).itemsize
    try:
        pages = _far_pages(size, huge=dense) if size >= HUGE and _FAR_WORKS else mmap.mmap(-1, size, flags=_FLAGS)
    except OSError as error:
        raise UsageError(
            f"The system refuses {size:,} bytes for a search ({error.strerror}). Give a smaller memory budget."
        ) from error
    return np.frombuffer(pages, dtype, count=max(1, count))


def _far_pages(size: int, *, huge: bool) -> Any:
    """Pages far from everything else; OSError if there are none."""
    address, system = FAR + STEP * (next(_turn) % PLACES), _system()
    begin = system.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, _FLAGS | _NORESERVE, -1, 0)
    if begin == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if huge:
        system.madvise(begin, size, mmap.MADV_HUGEPAGE)
    pages = (ctypes.c_uint8 * size).from_address(begin)
    weakref.finalize(pages, system.munmap, begin, size).atexit = False
    return pages


def _system() -> Any:
    """The system's calls about memory, by address."""
    system = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    system.mmap.restype = address
    system.mmap.argtypes = (address, size, number, number, number, ctypes.c_long)
    system.munmap.argtypes = (address, size)
    system.madvise.argtypes = (address, size, number)
    return system


def available_memory() -> int:
    """Bytes that can be used without swapping, by what the system and its control group say."""
    limits = [_meminfo() or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    group = Path("/sys/fs/cgroup")
    try:
        limits.append(int((group / "memory.max").read_text()) - int((group / "memory.current").read_text()))
    except (OSError, ValueError):
        pass  # no control group, or one without a limit ("max")
    return max(0, min(limits))


def _meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)
