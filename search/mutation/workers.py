"""Mutants in worker processes: each process looks at a few mutants, one after another.

It ends after these, so that the terms and the code of mutants end with it.
"""
from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from model.language import KwalkError
from search.forked import Forked, crowd
from search.mutation.examining import Budget, examined
from search.mutation.fates import Outcome
from search.mutation.grounds import Ground
from search.mutation.mutants import Mutant

MUTANTS_EACH = 20
"""How many mutants a process looks at before another one takes over."""


def examined_by_workers(
    mutants: Sequence[Mutant],
    grounds: Sequence[Ground],
    budget: Budget,
    workers: int,
    tell: Callable[[str], None],
) -> Iterator[tuple[Mutant, Outcome]]:
    """The outcomes as they come; `tell` hears twice a second what is at work. KwalkError if a process fails."""
    each = max(1, min(MUTANTS_EACH, -(-len(mutants) // workers)))
    batches = [list(mutants[first : first + each]) for first in range(0, len(mutants), each)]
    with crowd() as processes:
        while batches or processes.working:
            while batches and len(processes.working) < workers:
                processes.add(_started(batches.pop(0), grounds, budget))
            tell(", ".join(forked.task[0].id for forked in processes.working.values()))
            for forked in processes.ready():
                yield forked.task[0], _outcome(forked)
                del forked.task[0]
                if not forked.task:
                    forked.end()
                    processes.leave(forked)


def _started(mutants: list[Mutant], grounds: Sequence[Ground], budget: Budget) -> Forked:
    """A process at work on some mutants; its task are those that it has not answered."""

    def work(send: Callable[[Any], None]) -> None:
        for mutant in mutants:
            try:
                send(examined(mutant, grounds, budget))
            except Exception:  # it must not be lost with the process
                send(traceback.format_exc())
                return

    return Forked(list(mutants), work)


def _outcome(forked: Forked) -> Outcome:
    mutant = forked.task[0]
    try:
        answer = forked.answer()
    except EOFError:
        raise KwalkError(
            f"{mutant.id}: the process that looked at it ended with code {forked.end()}, perhaps for want "
            "of memory. What is finished is kept; go on with fewer --workers or smaller bounds."
        ) from None
    if isinstance(answer, str):
        raise RuntimeError(f"{mutant.id} ({mutant.file}:{mutant.line}), {mutant.after}:\n{answer}")
    found: Outcome = answer
    return found
