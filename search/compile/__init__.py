"""Compiling models: terms → LLVM → object code, cached on disk by content and CPU.

`kernel_for(model)` is all that the engines need. A second start with the same model, bounds, variant and CPU lifts and
compiles nothing.
"""
from __future__ import annotations

from functools import partial
from typing import Any

from attrs import evolve

from model.language import Kind, Model
from model.language.lift import Lifted, lift
from search.compile.cache import Compiled, load, save
from search.compile.fingerprint import fingerprint
from search.compile.functions import units_of
from search.compile.layout import WORD, layout_of
from search.compile.machine_code import Loaded, cpu, object_code
from search.kernel import Kernel, bit_row


def kernel_for(model: Model, lifted: Lifted | None = None) -> Kernel:
    """A kernel of a model that is soon ready: from the cache, or compiled in a hurry; LiftError if it cannot be lifted.

    One that was compiled in a hurry knows how to make a faster one, which pays where a search takes longer than that.
    With `lifted`, the model's lifting, it is not lifted again.
    """
    code = compiled(model, lifted, hurried=True)
    kernel = kernel_of(model, code)
    return evolve(kernel, faster=partial(fast_kernel_for, model)) if code.hurried else kernel


def fast_kernel_for(model: Model, lifted: Lifted | None = None) -> Kernel:
    """The fastest kernel of a model, from the cache or freshly compiled; LiftError if the model cannot be lifted."""
    return kernel_of(model, compiled(model, lifted))


def compiled(model: Model, lifted: Lifted | None = None, *, hurried: bool = False, line: str = "") -> Compiled:
    """The object code of a model with what belongs to it, from the cache or freshly compiled.

    `hurried` code is good enough: where the cache has none at all, it is made. `line` names another machine's CPU, as
    that machine's `cpu` does.
    """
    key = fingerprint(model, line or cpu())
    found = load(key) or (load(f"{key}-hurried") if hurried else None)
    if found is None:
        found = compile_model(model, lifted, hurried=hurried, line=line)
        save(f"{key}-hurried" if found.hurried else key, found)
    return found


def compile_model(model: Model, lifted: Lifted | None = None, *, hurried: bool = False, line: str = "") -> Compiled:
    """Lift and compile a model, without looking into the cache. A small model never needs to hurry."""
    lifted = lifted or lift(model)
    texts = [unit.text for unit in units_of(lifted, layout_of(model.leaves))]
    hurried = hurried and len(texts) > 1
    return Compiled(tuple(object_code(texts, hurried=hurried, line=line)), lifted.bounds, lifted.errors, hurried)


def kernel_of(model: Model, code: Compiled) -> Kernel:
    """A kernel of object code that was compiled for this model (here, or on a machine with the same CPU)."""
    layout = layout_of(model.leaves)
    offsets, widths, lows = layout.arrays
    loaded = Loaded(code.objects)
    addresses: dict[str, Any] = loaded.addresses
    claims = max(1, -(-len(model.claims) // WORD))
    return Kernel(
        words=layout.words,
        instances=len(model.instances),
        claims=len(model.claims),
        bounds=code.bounds,
        errors=code.errors,
        **addresses,
        system_row=bit_row((i.index for i in model.instances if i.action.by.system), -(-len(model.instances) // WORD)),
        reachable_row=bit_row((c.index for c in model.claims if c.kind is Kind.REACHABLE), claims),
        step_row=bit_row((c.index for c in model.claims if c.kind is Kind.STEP), claims),
        offsets=offsets,
        widths=widths,
        lows=lows,
        keep_alive=loaded,
    )


__all__ = ["Compiled", "compile_model", "compiled", "fast_kernel_for", "kernel_for", "kernel_of"]
