"""Structures: a class that says what a loop takes is also the declaration of the arrays whose addresses it has.

Words: a *layout* is a NamedTuple that a loop takes: numbers, and addresses. Where a field is the address of an array of
its own, its default value says how many items the array has, in the names of *sizes*.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

import numpy as np

from kwalk.search.native.memory import reserve

LINE = 64
"""Bytes of a cache line, or more, and of the widest vectors. Cores that write to one line slow each other down."""
LARGE = 1 << 20
"""Bytes from which on an array has pages of its own."""

Layout = TypeVar("Layout", bound=tuple[Any, ...])


class Items(NamedTuple):
    """An array: the number of its items, as an expression over sizes, and the NumPy type of an item."""

    length: str
    dtype: str


def uint64s(count: str) -> Any:
    """Declare the address of an array of uint64."""
    return Items(count, "uint64")


def int64s(count: str) -> Any:
    """Declare the address of an array of int64."""
    return Items(count, "int64")


def uint32s(count: str) -> Any:
    """Declare the address of an array of uint32."""
    return Items(count, "uint32")


def empty(kind: type[Layout]) -> Layout:
    """Return a layout of zeros, which has no arrays."""
    hints = get_type_hints(kind)
    kinds = (hints[name] for name in kind._fields)  # type: ignore[attr-defined]
    zeros: list[Any] = [empty(each) if hasattr(each, "_fields") else 0 for each in kinds]
    return kind(*zeros)


def isolated_zeros(count: int, dtype: Any = np.uint64) -> np.ndarray:
    """Return an array of zeros that begins at a cache line, and shares none with anything else."""
    item = np.dtype(dtype).itemsize
    block = np.zeros(count + 2 * LINE // item, dtype)
    return block[-block.ctypes.data % LINE // item :][:count]


class Structure(Generic[Layout]):
    """The arrays of a layout, which are attributes: zeros, at least one item, each from a cache line on.

    Args:
        kind: The class of the layout.
        sizes: The sizes.
        fields: The values of fields that are neither arrays of this structure nor sizes.
    """

    layout: Layout
    block: np.ndarray
    """All arrays that are not large, in their order."""

    def __init__(self, kind: type[Layout], sizes: Mapping[str, int], **fields: Any) -> None:
        names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
        declared: dict[str, Items] = kind._field_defaults  # type: ignore[attr-defined]
        own = {name: items for name, items in declared.items() if name not in fields}
        counts = {name: max(1, eval(items.length, {}, dict(sizes))) for name, items in own.items()}
        # A line is left between two arrays: many have whole pages, and would begin at the same place of a page.
        lines = {name: counts[name] * np.dtype(own[name].dtype).itemsize // LINE + 2 for name in own}
        lengths = {name: LINE // 8 * count for name, count in lines.items()}
        small = {name: length for name, length in lengths.items() if 8 * length < LARGE}
        self.block, begin = isolated_zeros(sum(small.values())), 0
        self.arrays: dict[str, np.ndarray] = {}
        for name, items in own.items():
            if name in small:
                part = self.block[begin : begin + small[name]]
                self.arrays[name], begin = part.view(items.dtype)[: counts[name]], begin + small[name]
            else:
                self.arrays[name] = reserve(counts[name], items.dtype)
        values = dict(sizes) | {name: array.ctypes.data for name, array in self.arrays.items()} | fields
        self.layout = kind(*(values[name] for name in names))

    def __getattr__(self, name: str) -> np.ndarray:
        try:
            array: np.ndarray = self.__dict__["arrays"][name]
            return array
        except KeyError:
            raise AttributeError(name) from None
