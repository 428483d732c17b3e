"""Compiling a model: here, or a large one by several processes."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from kwalk.model.language import Model
from kwalk.model.language.lift import Lifted
from kwalk.search.base.progress import announce
from kwalk.search.kernel.compile.cache import Compiled, load_any, save
from kwalk.search.kernel.compile.functions import units_of
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.compile.shares import LiftedInShares, ShareLost, is_shared, lifted_in_shares, touched_by
from kwalk.search.kernel.model_digest import IN_ORDER, announced_lift, digests, save_digests
from kwalk.search.native.object_code import object_code
from kwalk.search.native.processor import cpu


class LiftedWhole:
    """What `LiftedInShares` is, of a model that this process has lifted."""

    lines = None

    def __init__(self, lifted: Lifted) -> None:
        self.lifted = lifted

    @property
    def touched(self) -> list[int]:
        """Return for each instance a bit for each leaf that it reads or writes."""
        return [touched_by(action) for action in self.lifted.actions]

    def objects(self, *, unoptimized: bool, target: str) -> list[bytes]:
        """Return the object code of the model."""
        units = units_of(self.lifted, layout_of(self.lifted.model.leaves), unoptimized=unoptimized)
        return object_code([unit.text for unit in units], unoptimized=unoptimized, target=target)


def compile_lifted(
    model: Model, lifted: Lifted | None, *, unoptimized: bool, target: str, uses_cache: bool
) -> Compiled:
    """Lift a model, unless it is there, and compile it; a large one by several processes, if none of them is lost.

    Args:
        model: The model.
        lifted: The lifted model, if it is there already.
        unoptimized: Whether LLVM skips its optimizations.
        target: The machine to compile for, as `cpu()` describes it; "" for this machine.
        uses_cache: Whether code in the cache is accepted as it is for `compiler.compiled_model`, and new code saved.

    Raises:
        LiftError: The model cannot be lifted.
    """

    def code_of(work: LiftedWhole | LiftedInShares) -> Compiled:
        save_or_not = partial(save_digests, model) if uses_cache else digests
        terms = save_or_not(work.lifted, work.lines)[IN_ORDER]
        code = load_any(terms, target or cpu(), unoptimized=unoptimized) if uses_cache else None
        if code is None:
            announce("compiling the model" if unoptimized else "compiling the model, optimized")
            objects = tuple(work.objects(unoptimized=unoptimized, target=target))
            touched = tuple(f"{mask:x}" for mask in work.touched)
            code = Compiled(objects, work.lifted.bounds, work.lifted.errors, unoptimized, terms, touched)
            if uses_cache:
                save(target or cpu(), code)
        return code

    if lifted is None and is_shared(model):
        with suppress(ShareLost), lifted_in_shares(model) as shares:
            return code_of(shares)
    return code_of(LiftedWhole(lifted or announced_lift(model)))
