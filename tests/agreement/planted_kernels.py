"""Mistakes in the code that writes kernels. Each is planted by name, for a model in which everything holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from attrs import evolve

from kwalk.model.language import Kind
from kwalk.model.language.lift import ConditionKind
from kwalk.search.kernel.compile import cache, compilation, compiler, functions
from kwalk.search.kernel.compile.functions import Writer
from kwalk.search.spark.exhaustive import search as levels

Plant = Callable[[pytest.MonkeyPatch], None]


def _writes(change: Callable[..., object]) -> Plant:
    """A kernel of other actions than those of the lifted model: `change` replaces one by one."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = compilation.units_of

        def units_of(lifted, layout, **options):
            actions = tuple(change(action, lifted.terms) or action for action in lifted.actions)
            return honest(evolve(lifted, actions=actions), layout, **options)

        patch.setattr(compilation, "units_of", units_of)

    return plant


def _of(name: str, change: Callable[..., object]) -> Plant:
    return _writes(lambda action, terms: change(action, terms) if action.instance.key == name else None)


def _without_bounds(action, terms):
    return evolve(action, side_conditions=tuple(c for c in action.side_conditions if c.kind is not ConditionKind.BOUND))


def _one_update_less(action, terms):
    *kept, _ = action.updates.items()
    return evolve(action, updates=dict(kept))


def _false_row(wrong: Callable[..., object]) -> Plant:
    honest = functions.false_and_premise

    def bits(prop, terms):
        found, (false, premise) = wrong(prop, terms), honest(prop, terms)
        return (false if found is None else found), premise

    return lambda patch: patch.setattr(functions, "false_and_premise", bits)


def _constant(kind: Kind, truth: bool) -> Plant:
    return _false_row(lambda prop, terms: terms.boolean(int(not truth)) if prop.prop.kind is kind else None)


def _kernel(**changes: Callable[..., object]) -> Plant:
    """A kernel with other fields."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        honest = compiler.kernel_of

        def kernel_of(model, code):
            kernel = honest(model, code)
            return evolve(kernel, faster=None, **{name: change(kernel) for name, change in changes.items()})

        for module in (compiler, levels):
            patch.setattr(module, "kernel_of", kernel_of)

    return plant


def _always_there(patch: pytest.MonkeyPatch) -> None:
    """What a liveness property awaits is true everywhere."""
    honest = Writer._awaited
    patch.setattr(Writer, "_awaited", lambda self, prop: evolve(honest(self, prop), false=self.lifted.terms.false))


def _stale_row(patch: pytest.MonkeyPatch) -> None:
    """`advance` leaves the row of guards as it is."""
    honest = Writer._advance

    def advance(self, number, action):
        text = honest(self, number, action)
        return text.replace("br i1 %done, label %changed, label %end", "br i1 %done, label %end, label %end")

    patch.setattr(Writer, "_advance", advance)


PLANTED: dict[str, Plant] = {
    "a guard is dropped": _of("lock()", lambda action, terms: evolve(action, guard=terms.true)),
    "a guard is never true": _of("lend(1)", lambda action, terms: evolve(action, guard=terms.false)),
    "one action leads elsewhere": _of("lend(0)", _one_update_less),
    "one action does nothing": _of("unlock()", lambda action, terms: evolve(action, updates={})),
    "bounds are ignored": _writes(_without_bounds),
    "an always property is always true": _constant(Kind.ALWAYS, True),
    "a step property is always true": _constant(Kind.STEP, True),
    "a quiescent property is always true": _constant(Kind.WHEN_QUIESCENT, True),
    "an expected state is always there": _always_there,
    "a reachable state is everywhere": _constant(Kind.REACHABLE, False),
    "every state is quiescent": _kernel(system_row=lambda kernel: kernel.system_row * 0),
    "no state is quiescent": _kernel(system_row=lambda kernel: ~(kernel.system_row * 0)),
    "advance leaves the guards as they are": _stale_row,
}
"""By what is wrong."""


@pytest.fixture
def without_cache(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kernels are neither read from the cache nor saved there."""
    monkeypatch.setattr(cache, "load", lambda key: None)
    monkeypatch.setattr(compilation, "save", lambda cpu, code: None)
    return None
