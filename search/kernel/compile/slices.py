"""The bit-sliced functions of a model as machine code, cached on disk beside its kernel.

They come on top of a kernel, for searches that take long: compiling them takes about as long as compiling that. What
lifts and compiles is imported where it is used: a command whose code is in the cache starts sooner.
"""

from __future__ import annotations

from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from attrs import evolve, frozen

from kwalk.model.language import Model
from kwalk.search.base.cache import cache_path, read_cache, write_cache
from kwalk.search.kernel.compile.cache import kernel_key, packed, unpacked
from kwalk.search.kernel.compile.compiler import require_same_terms
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.interface import SLICE_FUNCTIONS, Kernel, LaneFunctions, SlicedKernel
from kwalk.search.kernel.model_digest import terms_digest
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.processor import cpu

if TYPE_CHECKING:
    from kwalk.model.language.lift import Lifted

MOST_INSTANCES = 255
"""The instances of a model whose walks can stay in their lanes: their number has at most eight bits."""
LEAST_SECONDS, BITS_PER_SECOND = 0.3, 4000
"""About how long it takes to make them: a constant, and the bits that the instances of a second could change."""
TERMS_PER_SECOND = 5000
"""About how many terms of a lifted model are bit-sliced in a second."""
RESIDENT_TABLES = 18_000, 24_000
"""The most tables of a model whose walks stay in their lanes: with fewer than 512 lanes, and with 512."""
MOST_CODE = 1 << 16
"""The bytes of a step's code that are read ahead, at most."""
MOST_TERMS = 400_000
"""The terms of a model that is bit-sliced, at most; compiling more would take minutes."""


@frozen
class CompiledSlices:
    """The object code of the bit-sliced functions of a model.

    Args:
        objects: The object code.
        lanes: The lanes of a plane.
        loads: See `SliceUnits`.
        stores: See `SliceUnits`.
        tables: See `SliceUnits`.
    """

    objects: tuple[bytes, ...]
    lanes: int
    loads: tuple[tuple[int, ...], ...]
    stores: tuple[tuple[int, ...], ...]
    tables: int

    def pack(self) -> bytes:
        """Return the bytes of a zip file with all of it."""
        return packed((self.lanes, self.loads, self.stores, self.tables), self.objects)


def unpack_slices(content: bytes) -> CompiledSlices:
    """Return what `CompiledSlices.pack` packed; an exception of any kind if the content is broken."""
    (lanes, loads, stores, tables), objects = unpacked(content)
    return CompiledSlices(objects, lanes, tuple(map(tuple, loads)), tuple(map(tuple, stores)), tables)


def lanes_of(target: str = "") -> int:
    """Return the bits of the widest vector registers of a machine, as `cpu()` describes it; "" for this machine."""
    features = (target or cpu()).split(" ")[2].split(",")
    return 512 if "+avx512f" in features else 256 if "+avx2" in features else 128


def compile_slices(
    model: Model, lifted: Lifted | None = None, *, target: str = "", lanes: int | None = None
) -> CompiledSlices:
    """Compile the bit-sliced functions of a model, without the cache.

    The functions of the model are compiled without optimization: that takes a third of the time, and walks, which spend
    most of theirs on moving data, are as fast (measured, `docs/explanation/bit-slices.md`).

    Args:
        model: The model.
        lifted: The lifted model, if it is there already.
        target: The machine to compile for, as `cpu()` describes it; "" for this machine.
        lanes: The lanes of a plane; None for those of the machine's widest registers.
    """
    from kwalk.model.language.lift import lift
    from kwalk.search.kernel.compile.planes import slice_units
    from kwalk.search.native.object_code import object_code

    lifted, lanes = lifted or lift(model), lanes or lanes_of(target)
    units = slice_units(lifted, layout_of(model.leaves), lanes)
    objects = object_code(units.texts, unoptimized=True, large=True, target=target)
    objects += _fixed_code(lanes, target)
    if len(units.loads) <= MOST_INSTANCES:
        objects += _lane_code(lanes, (len(units.loads).bit_length(), layout_of(model.leaves).words), target)
    return CompiledSlices(tuple(objects), lanes, units.loads, units.stores, units.tables)


@cache
def _fixed_code(lanes: int, target: str) -> tuple[bytes, ...]:
    """Return the object code of what does not depend on the model, with optimization."""
    from kwalk.search.kernel.compile.transpose import fixed_text
    from kwalk.search.native.object_code import object_code

    return tuple(object_code([fixed_text(lanes)], target=target))


@cache
def _lane_code(lanes: int, sizes: tuple[int, int], target: str) -> tuple[bytes, ...]:
    """Return the object code of `lane_functions`, with optimization."""
    from kwalk.search.kernel.compile.lane_functions import lane_text
    from kwalk.search.native.object_code import object_code

    return tuple(object_code([lane_text(lanes, *sizes)], target=target))


def sliced_kernel_of(model: Model, code: CompiledSlices) -> SlicedKernel:
    """Return the sliced kernel of object code that was compiled for this model and this CPU."""
    return load_slices(code, layout_of(model.leaves).words)


def load_slices(code: CompiledSlices, words: int) -> SlicedKernel:
    """Return the sliced kernel of object code that was compiled for this CPU; `words` are those of a packed state."""
    steps, is_small = [f"apply.{number}" for number in range(len(code.loads))], len(code.loads) <= MOST_INSTANCES
    names = [*SLICE_FUNCTIONS, *(LaneFunctions._fields if is_small else ()), *steps]
    loaded = LoadedCode(code.objects, [f"slice.{name}" for name in names])
    address = {name: loaded.addresses[f"slice.{name}"] for name in names}
    return SlicedKernel(
        lanes=code.lanes,
        loads=_counted(code.loads, words),
        stores=_counted(code.stores, words),
        **{name: address[name] for name in SLICE_FUNCTIONS},
        code=_extents([address[step] for step in steps]),
        lane_functions=LaneFunctions(*(address[name] for name in LaneFunctions._fields)) if is_small else None,
        is_resident=is_small and code.tables <= RESIDENT_TABLES[code.lanes >= 512],
        keep_alive=loaded,
    )


def _extents(addresses: list[int]) -> np.ndarray:
    """Return int64[n, 2]: the address of each function, and about how many bytes its code has."""
    begins = np.array(addresses, np.int64)
    behind = np.append(np.sort(begins), np.iinfo(np.int64).max)
    ends = behind[np.searchsorted(behind, begins, side="right")]
    return np.stack([begins, np.minimum(ends - begins, MOST_CODE)], axis=1)


def _counted(lists: tuple[tuple[int, ...], ...], most: int) -> np.ndarray:
    """Return int64[n, most + 1]: the length of each list, then its items."""
    table = np.zeros((len(lists), most + 1), np.int64)
    for row, items in zip(table, lists, strict=True):
        row[0] = len(items)
        row[1 : 1 + len(items)] = items
    return table


def cached_slices(terms: str, target: str = "") -> CompiledSlices | None:
    """Return the bit-sliced functions of a model, given by the digest of its terms, if the cache has them."""
    content = read_cache(_file(terms, target))
    if content is None:
        return None
    try:
        return unpack_slices(content)
    except Exception:  # the content is broken: they are compiled again
        return None


def has_cached_slices(kernel: Kernel) -> bool:
    """Return whether the cache has the bit-sliced functions of a kernel's model."""
    return cached_slices(kernel.terms) is not None


def slicing_seconds(kernel: Kernel) -> float:
    """Return about how long it takes at least to compile the bit-sliced functions of a kernel's model, in seconds."""
    return LEAST_SECONDS + kernel.instances * kernel.bits / BITS_PER_SECOND


def compiled_slices(
    model: Model, terms: str, lifted: Lifted | None = None, *, seconds: float = inf, target: str = ""
) -> CompiledSlices | None:
    """Return the bit-sliced functions of a model, from the cache or compiled.

    Args:
        model: The model.
        terms: The digest of its terms, as its kernel has it.
        lifted: The lifted model, if it is there already.
        seconds: About how long compiling may take, at most.
        target: The machine to compile for, as `cpu()` describes it; "" for this machine.

    Returns:
        The functions; None if the model is too large, or too large for so many seconds.

    Raises:
        UsageError: The model does not mean what it meant when its kernel was compiled.
    """
    found = cached_slices(terms, target)
    if found is None:
        from kwalk.model.language.lift import lift

        lifted = lifted or lift(model)
        if len(lifted.terms) > min(MOST_TERMS, seconds * TERMS_PER_SECOND):
            return None
        require_same_terms(model, terms_digest(lifted), terms)
        found = compile_slices(model, lifted, target=target)
        write_cache(_file(terms, target), found.pack())
    return found


def _file(terms: str, target: str) -> Path:
    return cache_path("kernels", f"{kernel_key(terms, target or cpu())}-slices.zip")


def with_slices(model: Model, kernel: Kernel, seconds: float = inf) -> Kernel:
    """Return a compiled kernel with the bit-sliced functions of its model, if `compiled_slices` returns them."""
    assert kernel.can_be_sliced
    code = compiled_slices(model, kernel.terms, seconds=seconds)
    return kernel if code is None else evolve(kernel, sliced=sliced_kernel_of(model, code), faster=None)
