"""From packed states to traces that plain Python has confirmed.

Words: a *path* is a list of packed states with the instances between them, as an engine found it. Plain execution is
the meaning of a model: a path that it does not follow shows that the compiled model is wrong.
"""
from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator

import numpy as np
from attrs import frozen

from model.language import Claim, DomainError, Kind, Model, Vector
from model.language.errors import InternalError
from search.kernel import Kernel
from search.trace import ReplayError, Trace, reference_of, run, shows


class EngineDisagreement(InternalError):
    """Plain Python and a kernel give different outcomes for one step: an internal error, the worst there is."""


class StepLeavesDomain(DomainError):
    """A DomainError met by a search, with the trace to the state where it happens."""

    def __init__(self, message: str, trace: Trace) -> None:
        super().__init__(message)
        self.trace = trace


@frozen(eq=False)
class Path:
    """States, uint64[n, words], and the n - 1 instances that lead from each to the next."""

    states: np.ndarray
    instances: tuple[int, ...]


@frozen
class Origin:
    """What a trace says about the run that found it."""

    found_by: str
    shortest: str | None = None
    seed: int | None = None
    command: str = ""


def confirmed(
    model: Model, kernel: Kernel, path: Path, *, claim: Claim | None, origin: Origin, loop: int | None = None
) -> Trace:
    """The path as a trace, replayed in plain Python; EngineDisagreement if that goes another way.

    Of a lasso (`loop` is where it begins) only the steps are: whether it is a counterexample is for `search.liveness`.
    """
    states = vectors(kernel, path.states)
    actions = tuple(model.instances[number].key for number in path.instances)
    _follow(model, states, actions)
    if claim is not None and loop is None:
        _witness(model, claim, states)
    return Trace(
        scenario=reference_of(model), variant=model.variant, bounds=model.binding.bounds, states=states,
        actions=actions, claim=None if claim is None else claim.key, labels=model.binding.labels, seed=origin.seed,
        found_by=origin.found_by, shortest=origin.shortest, command=origin.command, flags=model.asked_flags,
        loop=loop,
    )  # fmt: skip


def vectors(kernel: Kernel, packed: np.ndarray) -> tuple[Vector, ...]:
    """The vectors of packed states."""
    return tuple(tuple(row) for row in kernel.unpack(packed).tolist())


def _follow(model: Model, states: tuple[Vector, ...], actions: tuple[str, ...]) -> None:
    if states[0] not in model.initial:
        raise EngineDisagreement(f"A search began in a state that is not initial: {_words(model, states[0])}.")
    for number, action in enumerate(actions):
        before, kernel_after = states[number], states[number + 1]
        try:
            plain_after = run(model, before, (action,))[-1]
        except (ReplayError, DomainError) as error:
            raise EngineDisagreement(
                f"The kernel takes {action} and plain Python does not: {error}\nState: {_words(model, before)}."
            ) from error
        if plain_after != kernel_after:
            raise EngineDisagreement(
                f"{action} leads to different states from {_words(model, before)}.\n"
                f"Plain Python: {_changes(model, plain_after, kernel_after)}.\n"
                f"Kernel:       {_changes(model, kernel_after, plain_after)}."
            )


def _witness(model: Model, claim: Claim, states: tuple[Vector, ...]) -> None:
    if claim.kind is Kind.REACHABLE:
        agreed = model.truth(claim, states[-1]) is True
    else:
        agreed = shows(model, claim, states)
    if not agreed:
        raise EngineDisagreement(
            f"The kernel and plain Python disagree on {claim.key} ({claim.kind.value}) in {_words(model, states[-1])}."
        )


def _words(model: Model, vector: Vector) -> str:
    return ", ".join(f"{path} = {shown}" for path, shown in model.show(vector).items())


def _changes(model: Model, one: Vector, other: Vector) -> str:
    """Where one state differs from another, in words."""
    shown = model.show(one).items()
    return ", ".join(f"{path} = {said}" for (path, said), a, b in zip(shown, one, other, strict=True) if a != b)


def domain_error(model: Model, kernel: Kernel, path: Path, origin: Origin) -> Exception:
    """The error for a path to a state where some enabled instance leaves its domain."""
    trace = confirmed(model, kernel, path, claim=None, origin=origin)
    for number, code in failures(kernel, path.states[-1]):
        instance, text = model.instances[number], kernel.errors[-code - 1]
        try:
            model.attempt(instance, trace.states[-1])
        except DomainError as error:
            return StepLeavesDomain(f"{error} ({text}) {_route(trace)}", trace)
        return EngineDisagreement(
            f"The kernel says that {instance.key} leaves its domain ({text}), plain Python does not, "
            f"in {_words(model, trace.states[-1])}."
        )
    return EngineDisagreement(f"A kernel failed without a failing instance in {_words(model, trace.states[-1])}.")


def _route(trace: Trace) -> str:
    if not trace.actions:
        return "This happens in an initial state."
    return f"This happens after {trace.length} steps: {', '.join(trace.actions)}."


def failures(kernel: Kernel, packed: np.ndarray) -> Iterator[tuple[int, int]]:
    """The enabled instances whose effect leaves a domain in a packed state, with the kernel's (negative) code."""
    state, after = np.ascontiguousarray(packed, np.uint64), np.zeros(kernel.words, np.uint64)
    row = enabled_row(kernel, state)
    for instance in range(kernel.instances):
        if int(row[instance // 64]) >> (instance % 64) & 1:
            code = applied(kernel, instance, state, after)
            if code < 0:
                yield instance, code


def blocking_bounds(kernel: Kernel, packed: np.ndarray) -> tuple[str, ...]:
    """The bounds that prevent system steps in a packed state."""
    state, after = np.ascontiguousarray(packed, np.uint64), np.zeros(kernel.words, np.uint64)
    row = enabled_row(kernel, state) & kernel.system_row[: kernel.instance_words]
    enabled = (i for i in range(kernel.instances) if int(row[i // 64]) >> (i % 64) & 1)
    codes = (applied(kernel, instance, state, after) for instance in enabled)
    return tuple(dict.fromkeys(kernel.bounds[code - 1] for code in codes if code > 0))


def enabled_row(kernel: Kernel, packed: np.ndarray) -> np.ndarray:
    """The bit row of the instances whose guard holds in a packed state."""
    state, row = np.ascontiguousarray(packed, np.uint64), np.zeros(kernel.instance_words, np.uint64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(kernel.guards)(state.ctypes.data, row.ctypes.data)
    return row


def applied(kernel: Kernel, instance: int, before: np.ndarray, after: np.ndarray) -> int:
    """What the kernel's `apply` says of an instance in a packed state; `after` is written if that is 0."""
    apply = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(kernel.apply)
    return int(apply(instance, before.ctypes.data, after.ctypes.data))


def path_along(kernel: Kernel, start: np.ndarray, instances: Iterable[int]) -> Path:
    """The path that instances lead along from a packed state; EngineDisagreement if one of them is not possible."""
    states, taken = [np.ascontiguousarray(start, np.uint64)], tuple(instances)
    for instance in taken:
        after = np.zeros(kernel.words, np.uint64)
        if applied(kernel, instance, states[-1], after) != 0:
            raise EngineDisagreement(f"Instance number {instance} of a path cannot be taken in {states[-1].tolist()}.")
        states.append(after)
    return Path(np.array(states), taken)
