"""The compiler of models: terms → LLVM → object code, cached on disk by content and CPU.

Engines call `kernel_for(model)`. A second start with the same model, bounds, variant and CPU lifts and compiles
nothing, and does not import what does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import evolve

from kwalk.model.language import Kind, Model, UsageError
from kwalk.search.base.progress import announce_nothing
from kwalk.search.kernel.compile.cache import Compiled, load_any
from kwalk.search.kernel.compile.layout import WORD, layout_of
from kwalk.search.kernel.interface import Kernel, bit_row
from kwalk.search.kernel.model_digest import IN_ORDER, known_parts
from kwalk.search.native.machine_code import LoadedCode
from kwalk.search.native.processor import cpu

if TYPE_CHECKING:
    from kwalk.model.language.lift import Lifted

SMALL_REPLACEMENT_SECONDS = 0.5
"""`Kernel.replaced_after` of a small model, whose code is one unit."""
REPLACEMENT_SECONDS_PER_BYTE = 28e-6
"""`Kernel.replaced_after` of another model, by the size of its code without optimization: to lift and to optimize it
took 7 µs a byte on two cores while one process lifted, and a search with optimized code takes a quarter less time."""
MANY = 10_000
"""Action instances from which the time to optimize code grows with their square: `expand` tries one after the other."""


def kernel_for(model: Model, lifted: Lifted | None = None) -> Kernel:
    """Return a kernel of a model soon: from the cache, or compiled without optimization.

    A kernel without optimization has a function `faster` that compiles an optimized one, for searches that take longer
    than that.

    Args:
        model: The model.
        lifted: The lifted model, if it is there already.

    Raises:
        LiftError: The model cannot be lifted.
    """
    code = compiled_model(model, lifted, unoptimized=True)
    kernel = evolve(kernel_of(model, code), can_be_sliced=True)
    if not code.unoptimized:
        return kernel
    size = sum(map(len, code.objects))
    seconds = REPLACEMENT_SECONDS_PER_BYTE * size if len(code.objects) > 1 else SMALL_REPLACEMENT_SECONDS
    seconds *= max(1.0, kernel.instances / MANY) ** 2
    return evolve(kernel, faster=partial(_faster, model, kernel.terms), replaced_after=seconds)


def cached_kernel(model: Model) -> Kernel | None:
    """Return a kernel of a model from the cache, optimized if there is such a one; None if there is none.

    Nothing is lifted for it.
    """
    parts = known_parts(model)
    found = None if parts is None else load_any(parts[IN_ORDER], cpu(), unoptimized=True)
    return None if found is None else kernel_of(model, found)


def compiled_within(models: Iterable[Model], seconds: float) -> bool:
    """Compile models in another process, which ends after some time; return whether all of them are in the cache."""
    from kwalk.search.base.worker_processes import WorkerProcess  # imports `multiprocessing`

    missing = [model for model in models if cached_kernel(model) is None]
    if not missing or seconds <= 0:
        return not missing

    def compile_all(send: Callable[[Any], None]) -> None:
        announce_nothing()
        for model in missing:
            compiled_model(model, unoptimized=True)
        send(None)

    compiler = WorkerProcess(None, compile_all, starts_others=True)
    is_done = compiler.answers.poll(seconds)
    compiler.process.terminate()
    compiler.process.join()
    return is_done and all(cached_kernel(model) is not None for model in missing)


def fast_kernel_for(model: Model, lifted: Lifted | None = None) -> Kernel:
    """Return the optimized kernel of a model, from the cache or compiled; LiftError if the model cannot be lifted."""
    return evolve(kernel_of(model, compiled_model(model, lifted)), can_be_sliced=True)


def _faster(model: Model, terms: str) -> Kernel:
    """Return the optimized kernel for a search that runs; UsageError if the model means something else by now."""
    kernel = fast_kernel_for(model)
    require_same_terms(model, kernel.terms, terms)
    return kernel


def require_same_terms(model: Model, now: str, before: str) -> None:
    """Raise UsageError unless what is compiled for a search that runs has the terms that it began with."""
    if now != before:
        raise UsageError(
            f"The model {model.scenario.name!r} was changed while it was searched: a function, or a value that one "
            "reads, is another one than at the beginning. Start the search again."
        )


def compiled_model(
    model: Model, lifted: Lifted | None = None, *, unoptimized: bool = False, target: str = ""
) -> Compiled:
    """Return the object code of a model, from the cache or compiled.

    Args:
        model: The model.
        lifted: The lifted model, if it is there already.
        unoptimized: Whether code without optimization is accepted; it is compiled if the cache has no code at all.
        target: The machine to compile for, as `cpu()` describes it; "" for this machine.
    """
    if lifted is None:
        parts = known_parts(model)
        found = None if parts is None else load_any(parts[IN_ORDER], target or cpu(), unoptimized=unoptimized)
        if found is not None:
            return found
    from kwalk.search.kernel.compile.compilation import compile_lifted

    return compile_lifted(model, lifted, unoptimized=unoptimized, target=target, uses_cache=True)


def compile_model(
    model: Model, lifted: Lifted | None = None, *, unoptimized: bool = False, target: str = ""
) -> Compiled:
    """Lift and compile a model, without the cache; see `compiled_model`."""
    from kwalk.search.kernel.compile.compilation import compile_lifted

    return compile_lifted(model, lifted, unoptimized=unoptimized, target=target, uses_cache=False)


def kernel_of(model: Model, code: Compiled) -> Kernel:
    """Return the kernel of object code that was compiled for this model, here or on a machine with the same CPU."""
    layout = layout_of(model.leaves)
    offsets, widths, lows = layout.arrays
    loaded = LoadedCode(code.objects)
    addresses: dict[str, Any] = loaded.addresses
    properties = max(1, -(-len(model.properties) // WORD))
    return Kernel(
        words=layout.words,
        instances=len(model.instances),
        properties=len(model.properties),
        bounds=code.bounds,
        errors=code.errors,
        **addresses,
        system_row=bit_row((i.index for i in model.instances if i.action.by.system), -(-len(model.instances) // WORD)),
        reachable_row=bit_row((c.index for c in model.properties if c.kind is Kind.REACHABLE), properties),
        step_row=bit_row((c.index for c in model.properties if c.kind is Kind.STEP), properties),
        offsets=offsets,
        widths=widths,
        lows=lows,
        touched=code.touched,
        terms=code.terms,
        keep_alive=loaded,
    )


__all__ = [
    "Compiled",
    "cached_kernel",
    "compile_model",
    "compiled_model",
    "compiled_within",
    "fast_kernel_for",
    "kernel_for",
    "kernel_of",
    "require_same_terms",
]
