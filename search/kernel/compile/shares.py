"""Compiling a large model in several processes: each lifts a share of the action instances and compiles their effects.

Words: a *share* is every n-th action instance, as the instances of one action take similar time. This process lifts the
properties meanwhile, takes the guards of all shares over, and compiles everything but the effects. Digests are those of
a model that is lifted as a whole: they do not depend on the table of the terms.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from attrs import frozen

from kwalk.model.language import LiftError, Model
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedAction, SideCondition, Terms, reads
from kwalk.model.language.lift.lifting import lift_action, lift_properties
from kwalk.model.language.lift.machine import Coverage
from kwalk.model.language.lift.terms import TermRow, rows_of, terms_of
from kwalk.search.base.progress import announce
from kwalk.search.base.worker_processes import ProcessPool, WorkerProcess, process_pool
from kwalk.search.kernel.compile.functions import Names, Writer, unit_of_all, units_of_effects
from kwalk.search.kernel.compile.layout import layout_of
from kwalk.search.kernel.model_digest import ActionLines, action_lines
from kwalk.search.native.object_code import object_code

LARGE = 100_000
"""The product of action instances and leaves from which a model is lifted by several processes: about 1.5 s of it."""
MOST = 8
"""The most processes."""


class ShareLost(Exception):
    """A process ended without an answer, perhaps because memory ran out."""


@frozen
class Instance:
    """An action instance of a share, without its effects.

    Attributes:
        guard: the row of its guard among those of the share.
        conditions: the kinds and names of its side conditions.
        writes: the leaves that it can change.
        touched: a bit for each leaf that it reads or writes.
        lines: what the digests of the model have of it.
    """

    guard: int
    conditions: tuple[tuple[ConditionKind, str], ...]
    writes: tuple[int, ...]
    touched: int
    lines: ActionLines


@frozen
class Share:
    """What a process answers when it has lifted its instances: the rows of their guards, and the instances."""

    rows: list[TermRow]
    instances: list[Instance]


@frozen
class Order:
    """How the effects are to be compiled; names are those of the whole model."""

    names: Names
    unoptimized: bool
    target: str


class LiftedInShares:
    """A model whose instances are lifted in processes, which wait to compile the effects.

    Attributes:
        lifted: the model with its properties; its action instances have no effects.
        lines: what the digests have of each instance.
        touched: for each instance a bit for each leaf that it reads or writes.
    """

    def __init__(self, pool: ProcessPool, model: Model) -> None:
        count = min(os.cpu_count() or 1, MOST)
        self._workers = [_started(pool, model, number, count) for number in range(count)]
        properties = lift_properties(model, model.properties)
        shares = _shares(pool, count, len(model.instances))
        actions: list[LiftedAction] = []
        self.lines: list[ActionLines] = []
        self.touched: list[int] = []
        guards = [terms_of(properties.terms, share.rows) for share in shares]
        for instance in model.instances:
            place, number = divmod(instance.index, len(shares))
            one = shares[number].instances[place]
            actions.append(_without_effects(properties.terms, instance, one, guards[number][one.guard]))
            self.lines.append(one.lines)
            self.touched.append(one.touched)
        self.lifted = Lifted(model, properties.terms, tuple(actions), properties.properties)

    def objects(self, *, unoptimized: bool, target: str) -> list[bytes]:
        """Return the object code of the model.

        Raises:
            ShareLost: A process ended.
            LiftError: A number needs more than 62 bits.
        """
        layout = layout_of(self.lifted.model.leaves)
        writer = Writer(self.lifted, layout, small=False, unoptimized=unoptimized)
        for _, orders in self._workers:
            try:
                orders.send(Order(writer.names, unoptimized, target))
            except OSError:
                raise ShareLost from None
        units = [unit_of_all(writer).text]
        found = object_code(units, unoptimized=unoptimized, large=True, target=target)
        for worker, _ in self._workers:
            found += _answer(worker)
        return found


def is_shared(model: Model) -> bool:
    """Whether a model is so large that several processes compile it, and this one may start them."""
    several = (os.cpu_count() or 1) > 1 and not multiprocessing.current_process().daemon
    return several and len(model.instances) * len(model.leaves) >= LARGE


@contextmanager
def lifted_in_shares(model: Model) -> Iterator[LiftedInShares]:
    """Yield the model, lifted by processes that end with the block.

    Raises:
        ShareLost: A process ended.
        LiftError: The model cannot be lifted.
    """
    announce("lifting the model")
    with process_pool() as pool:
        yield LiftedInShares(pool, model)


def _started(pool: ProcessPool, model: Model, number: int, count: int) -> tuple[WorkerProcess, Connection]:
    """Start the process of a share; return it with the end of the pipe that takes its order."""
    orders, here = multiprocessing.get_context("fork").Pipe(duplex=False)

    def work(send: Callable[[Any], None]) -> None:
        _compile_share(model, range(number, len(model.instances), count), send, orders)

    worker = WorkerProcess(number, work)
    pool.add(worker)
    orders.close()
    return worker, here


def _compile_share(model: Model, numbers: range, send: Callable[[Any], None], orders: Connection) -> None:
    """Lift a share, answer what the whole needs of it, and compile its effects as soon as the order comes."""
    gc.disable()  # what this frees is little beside what it keeps
    terms, actions = Terms(), []
    try:
        with model.active():
            for number in numbers:
                actions.append(lift_action(model, terms, model.instances[number]))
                send(len(actions))
        rows, places = rows_of(action.guard for action in actions)
        lines = action_lines(actions)
        send(Share(rows, [_instance(*each) for each in zip(actions, places, lines, strict=True)]))
        order = orders.recv()
        layout, lifted = layout_of(model.leaves), Lifted(model, terms, tuple(actions), ())
        writer = Writer(lifted, layout, small=False, unoptimized=order.unoptimized, names=order.names)
        texts = [unit.text for unit in units_of_effects(writer, actions)]
        send(object_code(texts, unoptimized=order.unoptimized, large=True, target=order.target, threads=1))
    except LiftError as error:
        send(LiftError(str(error)))


def _instance(action: LiftedAction, guard: int, lines: ActionLines) -> Instance:
    conditions = tuple((one.kind, one.name) for one in action.side_conditions)
    return Instance(guard, conditions, tuple(sorted(action.writes)), touched_by(action), lines)


def touched_by(action: LiftedAction) -> int:
    """Return a bit for each leaf that an action instance reads or writes."""
    return sum(1 << leaf for leaf in reads(action.roots) | action.writes)


def _without_effects(terms: Terms, instance: Any, one: Instance, guard: Any) -> LiftedAction:
    conditions = tuple(SideCondition(kind, terms.true, name) for kind, name in one.conditions)
    writes = dict.fromkeys(one.writes, terms.true)
    return LiftedAction(instance, guard, conditions, writes, Coverage(set(), set(), set()))


def _shares(pool: ProcessPool, count: int, actions: int) -> list[Share]:
    """Return the share of each process; meanwhile announce how many instances are lifted."""
    done: dict[int, int] = {}
    shares: dict[int, Share] = {}
    while len(shares) < count:
        for worker in pool.ready():
            answer = _answer(worker)
            if isinstance(answer, Share):
                shares[worker.task] = answer
            else:
                done[worker.task] = answer
                announce(f"lifting the model, {sum(done.values()):,} of {actions:,} actions")
    return [shares[number] for number in range(count)]


def _answer(worker: WorkerProcess) -> Any:
    """Return the next answer of a process, or raise its LiftError."""
    try:
        answer = worker.answer()
    except (EOFError, OSError):
        raise ShareLost from None
    if isinstance(answer, LiftError):
        raise answer
    return answer
