"""Large arrays whose pages the system allocates at the first write, and the amount of available memory.

On Linux they are at addresses far from libraries and compiled code: the sections of one piece of code must be within
two gigabytes of each other, which an array between them could prevent (LLVM then aborts the process).
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import weakref
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from kwalk.model.language import UsageError

HUGE = 1 << 22
DEFAULT_SHARE = 0.75
"""The default memory budget of a search, as a share of the available memory."""
FAR, STEP, PLACES = 1 << 44, 1 << 38, 256
"""The addresses of large arrays: PLACES addresses from FAR on, STEP bytes apart, used in turn."""
_FAR_WORKS = sys.platform == "linux"
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
_NORESERVE = 0x4000
"""MAP_NORESERVE of Linux; Python has no name for it."""

_turn = count()


def reserve(count: int, dtype: Any = np.uint64, *, dense: bool = True) -> np.ndarray:
    """Return an array of zeros whose pages take no memory before they are written.

    Args:
        count: The number of items.
        dtype: The NumPy type of an item.
        dense: Whether the array is filled without gaps, so that large pages waste nothing.

    Raises:
        UsageError: The system refuses so much address space.
    """
    size = max(1, count) * np.dtype(dtype).itemsize
    try:
        pages = _far_pages(size, huge=dense) if size >= HUGE and _FAR_WORKS else mmap.mmap(-1, size, flags=_FLAGS)
    except OSError as error:
        raise UsageError(
            f"The system refuses {size:,} bytes for a search ({error.strerror}). Give a smaller memory budget."
        ) from error
    return np.frombuffer(pages, dtype, count=max(1, count))


def use_large_pages(array: np.ndarray) -> None:
    """Let an array of `reserve` have large pages from now on: it is filled without gaps, and no longer small."""
    if _FAR_WORKS and array.nbytes >= HUGE:
        _system().madvise(array.ctypes.data, array.nbytes, mmap.MADV_HUGEPAGE)


def release(array: np.ndarray, count: int) -> None:
    """Give back the pages behind the first `count` items of an array of `reserve`; their items are zeros then."""
    first = -(-count * array.itemsize // mmap.PAGESIZE) * mmap.PAGESIZE
    if _FAR_WORKS and array.nbytes >= HUGE and first < array.nbytes:
        _system().madvise(array.ctypes.data + first, array.nbytes - first, mmap.MADV_DONTNEED)


def _far_pages(size: int, *, huge: bool) -> Any:
    """Map pages far from everything else; OSError if the system refuses."""
    address, system = FAR + STEP * (next(_turn) % PLACES), _system()
    begin = system.mmap(address, size, mmap.PROT_READ | mmap.PROT_WRITE, _FLAGS | _NORESERVE, -1, 0)
    if begin == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    if huge:
        system.madvise(begin, size, mmap.MADV_HUGEPAGE)
    pages = (ctypes.c_uint8 * size).from_address(begin)
    weakref.finalize(pages, system.munmap, begin, size).atexit = False
    return pages


@cache
def _system() -> Any:
    """Return the C library with the signatures of its memory functions."""
    system = ctypes.CDLL(None, use_errno=True)
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    system.mmap.restype = address
    system.mmap.argtypes = (address, size, number, number, number, ctypes.c_long)
    system.munmap.argtypes = (address, size)
    system.madvise.argtypes = (address, size, number)
    return system


def available_memory() -> int:
    """Return the bytes that can be used without swapping, within the limits of the control group."""
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
