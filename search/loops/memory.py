"""Large arrays, taken from the system page by page as they are first written, and how much memory there is."""
from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

import numpy as np

from model.language import UsageError

HUGE = 1 << 22
SHARE = 0.75
"""The part of the available memory that a search takes if nobody says how much."""


def reserve(count: int, dtype: Any = np.uint64, *, dense: bool = True) -> np.ndarray:
    """An array of zeros whose pages take no memory before they are written; given back when the array goes.

    `dense` says that it will be filled without gaps, so that large pages waste nothing. UsageError if it is too large.
    """
    size = max(1, count) * np.dtype(dtype).itemsize
    try:
        pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise UsageError(
            f"The system refuses {size:,} bytes for a search ({error.strerror}). Give a smaller memory budget."
        ) from error
    if dense and size >= HUGE and hasattr(mmap, "MADV_HUGEPAGE"):
        pages.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(pages, dtype, count=max(1, count))


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
