"""Confirmation: from packed states to traces that plain Python has executed.

Words: a *path* is a list of packed states with the instances between them, as an engine found it. Plain execution
defines the behaviour of a model: if it does not follow a path, the compiled model is wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from attrs import frozen

from kwalk.model.language import DomainError, Kind, Model, PropertyInstance, Vector
from kwalk.search.kernel.calls import KernelCalls
from kwalk.search.kernel.interface import Kernel, bit_numbers
from kwalk.search.kernel.python_comparison import EngineDisagreement, changes, state_text
from kwalk.search.results.trace import ReplayError, Trace, is_violated_at_end, reference_of, run


class StepLeavesDomain(DomainError):
    """A DomainError that a search found, with the trace to the state where it happens."""

    def __init__(self, message: str, trace: Trace) -> None:
        super().__init__(message)
        self.trace = trace


@frozen(eq=False)
class PackedPath:
    """Packed states, uint64[n, words], and the n - 1 instances that lead from each to the next."""

    states: np.ndarray
    instances: tuple[int, ...]


@frozen
class Origin:
    """The run that found a trace; the fields are those of `Trace`."""

    found_by: str
    shortest: str | None = None
    seed: int | None = None
    command: str = ""


def confirmed_trace(
    model: Model,
    kernel: Kernel,
    path: PackedPath,
    *,
    prop: PropertyInstance | None,
    origin: Origin,
    loop: int | None = None,
) -> Trace:
    """Return the path as a trace, executed in plain Python.

    Args:
        model: The model.
        kernel: The kernel whose packed states the path has.
        path: The path.
        prop: The property that it violates or witnesses; None for a deadlock or a sample.
        origin: The run that found it.
        loop: For a lasso, the number of the state where the loop begins. Only the steps of a lasso are executed here;
            the caller checks that it is a counterexample.

    Raises:
        EngineDisagreement: Plain Python does not follow the path, or finds no violation at its end.
    """
    states = unpacked(kernel, path.states)
    actions = tuple(model.instances[number].key for number in path.instances)
    _follow(model, states, actions)
    if prop is not None and loop is None:
        _witness(model, prop, states)
    return Trace(
        scenario=reference_of(model),
        variant=model.variant,
        bounds=model.binding.bounds,
        states=states,
        actions=actions,
        prop=None if prop is None else prop.key,
        labels=model.binding.labels,
        seed=origin.seed,
        found_by=origin.found_by,
        shortest=origin.shortest,
        command=origin.command,
        flags=model.flag_overrides,
        loop=loop,
    )


def unpacked(kernel: Kernel, packed: np.ndarray) -> tuple[Vector, ...]:
    """Return the vectors of packed states, uint64[n, words]."""
    return tuple(tuple(row) for row in kernel.unpack(packed).tolist())


def _follow(model: Model, states: tuple[Vector, ...], actions: tuple[str, ...]) -> None:
    if states[0] not in model.initial:
        raise EngineDisagreement(
            f"A search began in a state that is not initial: {state_text(model, states[0])}.", model, states[0]
        )
    for number, action in enumerate(actions):
        before, kernel_after = states[number], states[number + 1]
        try:
            plain_after = run(model, before, (action,))[-1]
        except (ReplayError, DomainError) as error:
            raise EngineDisagreement(
                f"The kernel executes {action} and plain Python does not: {error}\nState: {state_text(model, before)}.",
                model,
                before,
            ) from error
        if plain_after != kernel_after:
            raise EngineDisagreement(
                f"{action} leads to different states from {state_text(model, before)}.\n"
                f"Plain Python: {changes(model, plain_after, kernel_after)}.\n"
                f"Kernel:       {changes(model, kernel_after, plain_after)}.",
                model,
                before,
            )


def _witness(model: Model, prop: PropertyInstance, states: tuple[Vector, ...]) -> None:
    if prop.kind is Kind.REACHABLE:
        is_confirmed = model.truth(prop, states[-1]) is True
    else:
        is_confirmed = is_violated_at_end(model, prop, states)
    if not is_confirmed:
        raise EngineDisagreement(
            f"The kernel and plain Python disagree on {prop.key} ({prop.kind.value}) in "
            f"{state_text(model, states[-1])}.",
            model,
            states[-1],
        )


def domain_error(
    model: Model, kernel: Kernel, path: PackedPath, origin: Origin, properties: Iterable[PropertyInstance] = ()
) -> Exception:
    """Return the error for a path to a state in which an enabled instance, or a property, leaves its domain."""
    trace = confirmed_trace(model, kernel, path, prop=None, origin=origin)
    for number, code in leaving_instances(kernel, path.states[-1]):
        instance, text = model.instances[number], kernel.errors[-code - 1]
        try:
            model.attempt(instance, trace.states[-1])
        except DomainError as error:
            return StepLeavesDomain(f"{error} ({text}) {_path_text(trace)}", trace)
        return EngineDisagreement(
            f"{instance.key} leaves its domain according to the kernel ({text}), and not according to plain Python, "
            f"in {state_text(model, trace.states[-1])}.",
            model,
            trace.states[-1],
        )
    state = trace.states[-1]
    try:
        _evaluate(model, properties, state)
    except DomainError as error:
        return StepLeavesDomain(f"{error} {_path_text(trace)}", trace)
    text = f"A kernel failed where no action and no property raises an error, in {state_text(model, state)}."
    return EngineDisagreement(text, model, state)


def _evaluate(model: Model, properties: Iterable[PropertyInstance], state: Vector) -> None:
    """Evaluate properties in a state, and those of steps on all steps from it; raise the first of their errors."""
    for prop in properties:
        if prop.kind is Kind.STEP:
            for _, after in model.successors(state):
                model.truth(prop, after, state)
        elif prop.kind is not Kind.WHEN_QUIESCENT or model.is_quiescent(state):
            model.truth(prop, state)


def _path_text(trace: Trace) -> str:
    if not trace.actions:
        return "This happens in an initial state."
    return f"This happens after {trace.length} steps: {', '.join(trace.actions)}."


def leaving_instances(kernel: Kernel, packed: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the enabled instances whose effect leaves a domain in a packed state, with the negative code of `apply`."""
    return ((instance, code) for instance, code in _codes(kernel, packed) if code < 0)


def blocking_bounds(kernel: Kernel, packed: np.ndarray, instances: np.ndarray) -> tuple[str, ...]:
    """Return the bounds that disable some of `instances`, a bit row, in a packed state."""
    wanted = set(bit_numbers(instances))
    codes = (code for instance, code in _codes(kernel, packed) if instance in wanted)
    return tuple(dict.fromkeys(kernel.bounds[code - 1] for code in codes if code > 0))


def _codes(kernel: Kernel, packed: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield the instances whose guard is true in a packed state, with the code of `apply`."""
    calls, state, after = KernelCalls(kernel), np.ascontiguousarray(packed), np.zeros(kernel.words, np.uint64)
    return ((instance, calls.apply(instance, state, after)) for instance in bit_numbers(calls.guards(state)))


def path_along(kernel: Kernel, start: np.ndarray, instances: Iterable[int]) -> PackedPath:
    """Return the path of instances from a packed state; EngineDisagreement if one of them cannot be taken."""
    states, taken, calls = [np.ascontiguousarray(start, np.uint64)], tuple(instances), KernelCalls(kernel)
    for instance in taken:
        after = np.zeros(kernel.words, np.uint64)
        if calls.apply(instance, states[-1], after) != 0:
            raise EngineDisagreement(f"Instance number {instance} of a path cannot be taken in {states[-1].tolist()}.")
        states.append(after)
    return PackedPath(np.array(states), taken)


def extended_path(kernel: Kernel, path: PackedPath, instances: Iterable[int]) -> PackedPath:
    """Return a path with more instances at its end; EngineDisagreement if one of them cannot be taken."""
    more = path_along(kernel, path.states[-1], instances)
    return PackedPath(np.vstack([path.states, more.states[1:]]), path.instances + more.instances)
