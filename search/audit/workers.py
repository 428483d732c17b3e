"""Cells of an audit in worker processes, each cell in one of its own, so that a cell's memory ends with it."""
from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from model.language import KwalkError
from model.language.errors import InternalError
from search.audit.cells import Budget, Cell, examine
from search.audit.outcomes import Outcome
from search.forked import Forked, crowd


def examined_by_workers(
    cells: Mapping[str, Cell], budget: Budget, workers: int, tell: Callable[[list[str]], None]
) -> Iterator[tuple[str, Outcome]]:
    """The outcomes by key, as they come; `tell` hears twice a second which cells are at work.

    KwalkError names the cell whose search failed, or whose process died.
    """
    waiting = list(cells.items())
    with crowd() as processes:
        while waiting or processes.working:
            while waiting and len(processes.working) < workers:
                processes.add(_started(*waiting.pop(0), budget))
            tell([cell.name for _, cell in (forked.task for forked in processes.working.values())])
            for forked in processes.ready():
                processes.leave(forked)
                key, cell = forked.task
                yield key, _outcome(cell, forked)


def _started(key: str, cell: Cell, budget: Budget) -> Forked:
    """A process at work on a cell; it sends an outcome, or what went wrong."""

    def work(send: Callable[[Any], None]) -> None:
        try:
            answer: Any = examine(cell, budget)
        except KwalkError as error:
            answer = str(error)
        except InternalError as error:
            answer = InternalError(f"{cell.name}: {error}")  # the model that it is about cannot be sent
        except Exception:  # it must not be lost with the process
            answer = RuntimeError(traceback.format_exc())
        send(answer)

    return Forked((key, cell), work)


def _outcome(cell: Cell, forked: Forked) -> Outcome:
    try:
        answer = forked.answer()
    except EOFError:
        raise KwalkError(
            f"{cell.name}: the process that searched it ended with code {forked.end()}, perhaps for "
            "want of memory. Finished cells are kept; go on with fewer --workers or smaller bounds."
        ) from None
    forked.end()
    if isinstance(answer, str):
        raise KwalkError(f"{cell.name}: {answer}")
    if isinstance(answer, Exception):
        raise answer
    found: Outcome = answer
    return found
