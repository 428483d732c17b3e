"""Compiling models: terms → LLVM → object code, cached on disk by content and CPU.

`kernel_for(model)` is all that the engines need. A second start with the same model, bounds, variant and CPU lifts and
compiles nothing.
"""
from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from model.language import Kind, Model
from model.language.lift import lift
from search.compile.cache import Compiled, load, save
from search.compile.fingerprint import fingerprint
from search.compile.functions import units_of
from search.compile.layout import WORD, layout_of
from search.compile.machine_code import Loaded, cpu, object_code
from search.kernel import Kernel


def kernel_for(model: Model, *, hurried: bool = False) -> Kernel:
    """The kernel of a model, from the cache or freshly compiled; LiftError if the model cannot be lifted.

    A `hurried` one is ready in a third of the time and runs more slowly: for searches of few states.
    """
    return kernel_of(model, compiled(model, hurried=hurried))


def compiled(model: Model, *, hurried: bool = False) -> Compiled:
    """The object code of a model with what belongs to it, from the cache or freshly compiled.

    Where the cache has better code than was asked for, it will do.
    """
    best = fingerprint(model, cpu())
    key = f"{best}-hurried" if hurried else best
    found = load(best) or (load(key) if hurried else None)
    if found is None:
        found = compile_model(model, hurried=hurried)
        save(key, found)
    return found


def compile_model(model: Model, *, hurried: bool = False) -> Compiled:
    """Lift and compile a model, without looking into the cache."""
    lifted = lift(model)
    texts = [unit.text for unit in units_of(lifted, layout_of(model.leaves))]
    return Compiled(tuple(object_code(texts, hurried=hurried)), lifted.bounds, lifted.errors)


def kernel_of(model: Model, code: Compiled) -> Kernel:
    """A kernel of object code that was compiled for this model (here, or on a machine with the same CPU)."""
    layout = layout_of(model.leaves)
    offsets, widths, lows = layout.arrays
    loaded = Loaded(code.objects)
    claims = max(1, -(-len(model.claims) // WORD))
    return Kernel(
        words=layout.words,
        instances=len(model.instances),
        claims=len(model.claims),
        bounds=code.bounds,
        errors=code.errors,
        **loaded.addresses,
        system_row=_row((i.index for i in model.instances if i.action.by.system), -(-len(model.instances) // WORD)),
        reachable_row=_row((c.index for c in model.claims if c.kind is Kind.REACHABLE), claims),
        step_row=_row((c.index for c in model.claims if c.kind is Kind.STEP), claims),
        offsets=offsets,
        widths=widths,
        lows=lows,
        keep_alive=loaded,
    )


def _row(members: Iterable[int], words: int) -> np.ndarray:
    row = np.zeros(words, np.uint64)
    for member in members:
        row[member // WORD] |= np.uint64(1 << (member % WORD))
    return row


__all__ = ["Compiled", "compile_model", "compiled", "kernel_for", "kernel_of"]
