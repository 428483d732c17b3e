"""The comparison of kwalk's engines with the oracle on one model.

The order is that of trust: plain Python against the oracle in every state that the oracle reaches and in random others;
then terms, machine code and Z3 against plain Python in the same states; then the verdicts of searches, walks and proofs
against what the oracle's own search finds.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from enum import Flag, auto
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from attrs import evolve, frozen

from kwalk.model.language import (
    ActionInstance,
    DomainError,
    Kind,
    KwalkError,
    LiftError,
    Model,
    PropertyInstance,
    StepResult,
    Vector,
)
from kwalk.model.language.errors import InternalError
from kwalk.model.language.lift import Lifted, lift
from kwalk.search.kernel.differential import disagreements
from kwalk.search.kernel.interface import Kernel
from kwalk.search.results.trace import Trace
from kwalk.search.results.verdict import Finding, ProofOutcome, Verdict
from tests.agreement.sliced_execution import sliced_disagreements
from tests.fuzz.oracle import (
    ERROR,
    Exploration,
    Frozen,
    Oracle,
    OracleInstance,
    Outcome,
    explore,
    shows_violation,
)
from tests.fuzz.oracle_library import LIVENESS_KINDS

MOST_STATES = 120
"""The most states that the oracle visits."""
RANDOM_STATES, COMPARED = 12, 40
"""Random states of the domain, and reached ones, in which terms and machine code are compared."""
WALKS = 64
LANES = (512, 256, 128)
PROOF_SECONDS = 20.0
SYMBOLIC_BYTES = 1 << 26
LONGEST_KIND = 80
"""The length to which a kind of refusal is cut."""


class Engines(Flag):
    """What a model is compared on, besides plain Python and terms."""

    NONE = 0
    KERNEL = auto()
    """The values of machine code, compiled without optimization, as searches begin."""
    OPTIMIZED = auto()
    """The machine code of KERNEL is optimized, as of searches that take long."""
    SLICED = auto()
    """The values of bit-sliced machine code, with planes of 128, 256 or 512 lanes, walks on it, in queues and in their
    lanes, and searches in blocks. It needs KERNEL."""
    SEARCHES = auto()
    """Exhaustive search on one thread and on two; random walks and minimization. It needs KERNEL."""
    REDUCTION = auto()
    """Exhaustive search with partial-order reduction, whose analysis takes longest. It needs KERNEL."""
    SYMBOLIC = auto()
    """Exhaustive search by sets of states, beside one of single states in plain Python."""
    Z3 = auto()
    """The values of terms in Z3."""
    PROOFS = auto()
    """Proofs and bounded checking."""


ANNOUNCED = (
    "this variable holds values of different types",
    "a value that can be None is compared with a negative number",
    "a comprehension over a set, whose order Python does not fix",
    "an index into something that is empty",
    "… is read here, and what it refers to was changed under another name meanwhile",
)
"""Beginnings of the refusals that a model of documented constructs can meet: `language.md` says when."""


class Difference(Exception):
    """kwalk and the oracle differ.

    Args:
        kind: What differs; a reduced model must differ in the same.
        text: The details.
    """

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}")
        self.kind, self.text = kind, text


@frozen
class ModelReport:
    """What was compared on one model."""

    states: int = 0
    is_complete: bool = False
    has_error: bool = False
    violated: int = 0
    refusal: str = ""
    """The announced refusal that it met, if it met one; then nothing but plain Python was compared."""


@contextmanager
def imported(source: str) -> Iterator[ModuleType]:
    """Write a model to a file, import it as a user's module, and remove both afterwards."""
    with tempfile.TemporaryDirectory(prefix="kwalk-fuzz-") as folder:
        name = f"fuzz_{Path(folder).name.replace('-', '_')}"
        path = Path(folder) / f"{name}.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        written, sys.dont_write_bytecode = sys.dont_write_bytecode, True
        try:
            spec.loader.exec_module(module)
            yield module
        finally:
            sys.dont_write_bytecode = written
            del sys.modules[name]


def compare_model(source: str, seed: int, engines: Engines = Engines.NONE) -> ModelReport:
    """Compare kwalk with the oracle on one model.

    Args:
        source: The text of the model's module.
        seed: The seed of the random states and walks.
        engines: What is compared besides plain Python and terms.

    Raises:
        Difference: They differ, or kwalk refuses the model or ends with an unexpected exception.
    """
    warnings.simplefilter("ignore", SyntaxWarning)  # a reduced text may compare constants with `is`
    oracle = Oracle(source)
    with imported(source) as module:
        comparison = ModelComparison(oracle, module, seed)
        try:
            return comparison.run(engines)
        except LiftError as error:
            kind = refusal_of(error)
            if kind.startswith(ANNOUNCED):
                return ModelReport(refusal=kind)
            raise Difference(f"refused: {kind}", str(error)) from error
        except InternalError as error:
            raise Difference("contradiction", str(error)) from error


def what_is_refused(error: BaseException) -> str:
    """Return the part of a refusal that says what is refused."""
    text = str(error)
    found = re.search(r"cannot translate this: (.*?)\. Instead: ", text, re.DOTALL)
    return found.group(1) if found else text.partition(": ")[2] or text


def refusal_of(error: BaseException) -> str:
    """Return a refusal without places, names and numbers, as a kind to count."""
    text = what_is_refused(error)
    text = re.sub(r"'[^']*'|0x[0-9a-f]+|\d+|\"[^\"]*\"|`[^`]*`", "…", text)
    return text if len(text) <= LONGEST_KIND else f"{text[:LONGEST_KIND]}…"


class ModelComparison:
    """A model in both libraries.

    Args:
        oracle: The oracle's.
        module: The module that kwalk reads.
        seed: The seed of random states and walks.
    """

    def __init__(self, oracle: Oracle, module: ModuleType, seed: int) -> None:
        self.oracle, self.module, self.seed = oracle, module, seed
        self.model = Model(module.SCENARIO)
        self.properties = self.model.stated_properties

    def run(self, engines: Engines) -> ModelReport:
        """Compare everything that `engines` asks for; raise Difference at the first difference."""
        self._compare_names()
        if not self._have_initial_states():
            return ModelReport(has_error=True)
        found = explore(self.oracle, MOST_STATES)
        self._compare_initial(found)
        rng = random.Random(self.seed)
        others = [self.oracle.root.random(rng) for _ in range(RANDOM_STATES)]
        reached = found.states[: len(found.steps)]
        for state, outcomes in zip(reached, found.steps, strict=True):
            self._compare_state(state, outcomes, found.states[0])
        for state in others:
            outcomes = [self.oracle.attempt(instance, state) for instance in self.oracle.actions]
            self._compare_state(state, outcomes, found.states[0])
        sample = [found.states[0], *rng.sample(reached, min(COMPARED, len(reached))), *others]
        self._compare_executions([self.vector(state) for state in sample], engines)
        if Engines.SEARCHES in engines and found.is_complete:
            self._compare_searches(found, engines)
        if Engines.SYMBOLIC in engines and found.is_complete:
            self._compare_symbolic(found)
        if Engines.PROOFS in engines and found.is_complete:
            self._compare_proof(found)
        return ModelReport(len(found.steps), found.is_complete, found.has_error, len(found.first))

    # Names and states.

    def _compare_names(self) -> None:
        for what, theirs, ours in (
            ("instances", [i.key for i in self.oracle.actions], [i.key for i in self.model.instances]),
            ("properties", [p.key for p in self.oracle.properties], [p.key for p in self.properties]),
        ):
            if theirs != ours:
                raise Difference(f"names of {what}", f"{theirs} in the oracle, {ours} in kwalk")

    def _have_initial_states(self) -> bool:
        """Return whether there are initial states; raise Difference if kwalk and the oracle do not agree on that."""
        try:
            theirs = bool(self.oracle.initial())
        except Exception:
            theirs = False
        try:
            ours = bool(self.model.initial)
        except KwalkError:
            ours = False
        if theirs is not ours:
            raise Difference("initial states", f"there are some: {theirs} in the oracle, {ours} in kwalk")
        return ours

    def _compare_initial(self, found: Exploration) -> None:
        theirs = [state for state, depth in zip(found.states, found.depths, strict=True) if depth == 0]
        ours = [self.frozen(vector) for vector in self.model.initial]
        if theirs != ours:
            raise Difference("initial states", f"{theirs} in the oracle, {ours} in kwalk")

    def vector(self, state: Frozen) -> Vector:
        """Return kwalk's vector of a frozen state, written through the operations of the language."""
        with self.model.active():
            return self.model.vector(self.oracle.root.thawed(state, self.module.__dict__))

    def frozen(self, vector: Vector) -> Frozen:
        """Return the frozen state of a vector."""
        live = self.model.state(vector)
        with self.model.active():
            frozen: Frozen = self.oracle.root.frozen(live)
        return frozen

    # Plain Python.

    def _compare_state(self, state: Frozen, outcomes: Sequence[Outcome], first: Frozen) -> None:
        """Compare kwalk's plain Python with the oracle in one state."""
        vector = self.vector(state)
        if self.frozen(vector) != state:
            raise Difference("states", f"{state} becomes {self.frozen(vector)} by way of a vector")
        for theirs, instance, outcome in zip(self.oracle.actions, self.model.instances, outcomes, strict=True):
            self.compare_action(theirs, instance, state, vector, outcome)
        for prop, mine in zip(self.oracle.properties, self.properties, strict=True):
            self.compare_property(prop, mine, (first, state) if mine.kind is Kind.STEP else (state,), vector)

    def compare_action(
        self, theirs: OracleInstance, mine: ActionInstance, state: Frozen, vector: Vector, known: Outcome | None = None
    ) -> None:
        """Compare an action instance in one state; raise Difference if the outcomes differ."""
        expected, ours = known or self.oracle.attempt(theirs, state), self._attempt(mine, vector)
        if ours[0] != expected[0] or (ours[0] != ERROR and ours[1] != expected[1]):
            raise Difference("plain Python: action", f"{mine.key} in {state}: {expected} in the oracle, {ours}")

    def compare_property(
        self, theirs: OracleInstance, mine: PropertyInstance, states: tuple[Frozen, ...], vector: Vector
    ) -> None:
        """Compare a property instance in one state, or over two; raise Difference if its truth differs."""
        is_awaited = mine.kind.is_liveness
        truth: Any = self.oracle.awaited(theirs, *states) if is_awaited else self.oracle.truth(theirs, *states)
        value = self._truth(mine, vector, self.vector(states[0]) if len(states) > 1 else None)
        if truth != value or type(truth) is not type(value):
            raise Difference("plain Python: property", f"{mine.key} in {states}: {truth} in the oracle, {value}")

    def _attempt(self, instance: ActionInstance, vector: Vector) -> Outcome:
        try:
            outcome = self.model.attempt(instance, vector)
        except DomainError as error:
            return ERROR, str(error)
        if outcome.result is StepResult.BOUND:
            return "bound", outcome.bound
        return ("disabled", None) if outcome.after is None else ("done", self.frozen(outcome.after))

    def _truth(self, prop: PropertyInstance, vector: Vector, before: Vector | None) -> Any:
        try:
            return self.model.awaited(prop, vector) if prop.kind.is_liveness else self.model.truth(prop, vector, before)
        except DomainError:
            return ERROR

    # Executions.

    def _compare_executions(self, vectors: Sequence[Vector], engines: Engines) -> None:
        """Compare terms, machine code and Z3 with plain Python."""
        from kwalk.search.kernel.compile.compiler import compile_model, kernel_of
        from kwalk.search.kernel.compile.slices import compile_slices, sliced_kernel_of
        from kwalk.search.simulation.chunks import compare_sliced
        from kwalk.search.simulation.options import SimulationOptions

        self.lifted: Lifted = lift(self.model)
        self.kernel: Kernel | None = None
        if Engines.KERNEL in engines:
            code = compile_model(self.model, self.lifted, unoptimized=Engines.OPTIMIZED not in engines)
            self.kernel = kernel_of(self.model, code)
        if Engines.SLICED in engines and self.kernel is not None:
            slices = compile_slices(self.model, self.lifted, lanes=LANES[self.seed // 8 % len(LANES)])
            sliced = sliced_kernel_of(self.model, slices)
            self.kernel = evolve(self.kernel, sliced=sliced)
            plan = SimulationOptions(seed=self.seed, depth=20, keep_going=True).plan(self.model, self.kernel)
            for way in {False, sliced.is_resident}:
                compare_sliced(evolve(self.kernel, sliced=evolve(sliced, is_resident=way)), plan, range(WALKS))
        for one in sliced_disagreements(self.model, vectors, kernel=self.kernel, lifted=self.lifted):
            self.raise_disagreement(one)
        if Engines.Z3 in engines:
            for one in disagreements(self.model, vectors[::4], with_z3=True, lifted=self.lifted):
                self.raise_disagreement(one)

    def raise_disagreement(self, one: Any) -> None:
        """Raise Difference for what differential testing has found."""
        plain = one.results["plain Python"]
        who = [name for name, result in one.results.items() if result != plain or type(result) is not type(plain)]
        what = "action" if any(one.key == instance.key for instance in self.model.instances) else "property"
        raise Difference(f"{who[0]}: {what}", f"{one.key} in {self.frozen(one.state)}: {one.results}")

    # Searches.

    def _compare_searches(self, found: Exploration, engines: Engines) -> None:
        from kwalk.search.exhaustive.search import exhaust
        from kwalk.search.simulation.walk import walk

        model, kernel = self.model, self.kernel
        runs: dict[str, dict[str, Any]] = {"exhaust": {}, "exhaust on two threads": {"workers": 2}}
        if kernel is not None and kernel.sliced is not None:
            sliced, kernel = evolve(kernel, sliced=evolve(kernel.sliced, least_states=1)), evolve(kernel, sliced=None)
            runs["exhaust in blocks"] = {"kernel": sliced}
        if Engines.REDUCTION in engines:
            runs["exhaust with reduction"] = {"reduce": True}
        for name, options in runs.items():
            has_error = found.has_safety_error if "reduce" in options else found.has_error
            search = partial(exhaust, model, keep_going=True, **{"kernel": kernel, **options})
            verdict = self._verdict(name, search, found, has_error=has_error)
            if verdict is not None:
                self._compare_exhaustive(name, verdict, found, is_reduced="reduce" in options)
        verdict = self._verdict(
            "walks",
            lambda: walk(model, kernel=kernel, walks=WALKS, depth=20, seed=self.seed, keep_going=True),
            found,
            has_error=found.has_error,
            may_miss=True,
        )
        if verdict is not None:
            self._compare_sampled("walks", verdict, found)

    def _compare_symbolic(self, found: Exploration) -> None:
        from kwalk.search.exhaustive.search import exhaust
        from kwalk.search.kernel.interpreted import interpreted_kernel
        from kwalk.search.symbolic.search import exhaust_symbolically

        name, safety = "symbolic search", tuple(p for p in self.model.properties if not p.kind.is_liveness)
        search = partial(exhaust_symbolically, self.model, keep_going=True, memory_bytes=SYMBOLIC_BYTES)
        verdict = self._verdict(name, search, found, has_error=found.has_error)
        if verdict is None:
            return
        self._compare_exhaustive(name, verdict, found, is_reduced=False)
        single = exhaust(self.model, keep_going=True, kernel=interpreted_kernel(self.model), properties=safety)
        ours, theirs = (
            (one.generated_states, one.action_counts, {prop.key: one.premises[prop.key] for prop in safety})
            for one in (verdict, single)
        )
        if ours != theirs:
            raise Difference(f"{name}: steps", f"successors, instances, premises: {theirs} of single states, {ours}")

    def _verdict(
        self, name: str, run: Callable[[], Verdict], found: Exploration, *, has_error: bool, may_miss: bool = False
    ) -> Verdict | None:
        """Return the verdict of an engine; None if it ends with an error that the oracle knows as well.

        A violation that is as short as the first error, or shorter, may be reported in place of it.
        """
        try:
            verdict = run()
        except DomainError as error:
            if not has_error:
                raise Difference(f"{name}: error", f"{error}; the oracle finds no error") from error
            return None
        if not has_error or may_miss:
            return verdict
        for finding in verdict.findings:
            if finding.trace is not None and self._is_as_short(finding, found):
                self._replay(name, finding.trace)
                return None
        raise Difference(f"{name}: error", f"{verdict.answer} although an action or property raises an error")

    @staticmethod
    def _is_as_short(finding: Finding, found: Exploration) -> bool:
        """Return whether the trace of a finding is a shortest one, and no longer than that of an error."""
        first = found.first_deadlock if finding.prop == "deadlock" else found.first.get(finding.prop)
        length = 0 if finding.trace is None else finding.trace.length
        return length == first and (found.first_error is None or length <= found.first_error)

    def _compare_exhaustive(self, name: str, verdict: Verdict, found: Exploration, *, is_reduced: bool) -> None:
        if not is_reduced:
            depth = None if verdict.depth is None else max(found.depths)
            theirs: Any = (len(found.states), depth, len(found.quiescent), found.bounds_hit)
            hits = {bound: count for bound, count in verdict.bounds_hit.items() if count}
            ours = (verdict.distinct_states, verdict.depth, verdict.quiescent_states, hits)
            if theirs != ours:
                raise Difference(f"{name}: counts", f"states, depth, quiescent, bounds: {theirs} in the oracle, {ours}")
        kinds = {prop.key: prop.function.kind for prop in self.oracle.properties}
        left_out = LIVENESS_KINDS if is_reduced or verdict.depth is None else ()  # a symbolic search knows no depths
        expected = {key: first for key, first in found.first.items() if kinds[key] not in ("reachable", *left_out)}
        expected.update({key: 0 for key, kind in kinds.items() if kind == "reachable" and key not in found.first})
        if self.oracle.scenario.deadlock_is_error and found.first_deadlock is not None:
            expected["deadlock"] = found.first_deadlock
        reported = {finding.prop: self._length(finding, kinds, expected) for finding in verdict.findings}
        if expected != reported:
            raise Difference(f"{name}: violations", f"{expected} in the oracle, {reported}")
        counts = {f.prop: f.count for f in verdict.findings if f.prop in found.counts}
        theirs = {key: count for key, count in found.counts.items() if key in counts}
        if not is_reduced and theirs != counts:
            raise Difference(f"{name}: counts of violations", f"{theirs} in the oracle, {counts}")
        for finding in verdict.findings:
            self._replay(name, finding.trace)
            self._compare_lasso(name, finding, found)

    def _compare_lasso(self, name: str, finding: Finding, found: Exploration) -> None:
        """Raise Difference if a lasso is not a fair violation for the oracle."""
        prop = next((p for p in self.oracle.properties if p.key == finding.prop), None)
        trace = finding.trace
        if prop is None or prop.function.kind not in LIVENESS_KINDS or trace is None:
            return
        states = [self.frozen(vector) for vector in trace.states]
        if trace.loop is None or not shows_violation(self.oracle, found, prop, (states, trace.actions, trace.loop)):
            raise Difference(f"{name}: lasso", f"{trace.actions}, loop from {trace.loop}, does not violate {prop.key}")

    def _length(self, finding: Finding, kinds: dict[str, str], expected: dict[str, int]) -> int:
        """Return the length of a finding's trace; for a lasso the expected one, as it need not be a shortest."""
        if kinds.get(finding.prop) in LIVENESS_KINDS:
            return expected.get(finding.prop, -1)
        return 0 if finding.trace is None else finding.trace.length

    def _compare_sampled(self, name: str, verdict: Verdict, found: Exploration) -> None:
        from kwalk.search.minimize.shrink import Minimizer

        allowed = {*found.first, *(["deadlock"] if found.first_deadlock is not None else [])}
        for finding in verdict.findings:
            if finding.prop not in allowed and finding.trace is not None:
                raise Difference(f"{name}: violations", f"{finding.prop} is violated nowhere in the oracle")
            self._replay(name, finding.trace)
        traces = [finding.trace for finding in verdict.findings if finding.trace is not None]
        if traces and not found.has_error:
            shorter = Minimizer(self.model, self.kernel).minimize(traces[0], seconds=2.0)
            self._replay("minimization", shorter)
            least = found.first.get(shorter.prop or "", found.first_deadlock)
            if least is not None and not least <= shorter.length <= traces[0].length:
                raise Difference("minimization: length", f"{shorter.length} steps, {least} in the oracle")

    def _replay(self, name: str, trace: Trace | None) -> None:
        """Execute a trace in the oracle; raise Difference if it does not show what it says."""
        if trace is None:
            return
        by_key = {instance.key: instance for instance in self.oracle.actions}
        states = [self.frozen(trace.states[0])]
        if states[0] not in self.oracle.initial():
            raise Difference(f"{name}: trace", f"{states[0]} is no initial state")
        for key in trace.actions:
            what, after = self.oracle.attempt(by_key[key], states[-1])
            if what != "done":
                raise Difference(f"{name}: trace", f"{key} is {what} in {states[-1]} ({trace.actions})")
            states.append(after)
        if [self.frozen(vector) for vector in trace.states] != states:
            raise Difference(f"{name}: trace", f"{trace.actions} leads to other states")
        prop = next((p for p in self.oracle.properties if p.key == trace.prop), None)
        if prop is not None and not self._shows(prop, states):
            raise Difference(f"{name}: trace", f"{trace.actions} does not show {prop.key}")

    def _shows(self, prop: OracleInstance, states: Sequence[Frozen]) -> bool:
        kind = prop.function.kind
        if kind in LIVENESS_KINDS:
            return True  # `_compare_lasso` says whether there is a violation
        if kind == "step":
            return len(states) > 1 and self.oracle.truth(prop, states[-2], states[-1]) is False
        return self.oracle.truth(prop, states[-1]) is (kind == "reachable")

    # Proofs.

    def _compare_proof(self, found: Exploration) -> None:
        from tests.queries import prove

        depth = 3 + self.seed % 4
        try:
            verdict = prove(self.model, depth=depth, induction=self.seed % 3, seconds=PROOF_SECONDS)
        except DomainError as error:
            if not found.has_error:
                raise Difference("prove: error", f"{error}; the oracle finds no error") from error
            return
        if found.has_error:
            return
        kinds = {prop.key: prop.function.kind for prop in self.oracle.properties}
        for proof in verdict.proofs:
            first, is_reachable = found.first.get(proof.prop), kinds[proof.prop] == "reachable"
            is_true = (first is not None) is is_reachable
            wrong = {ProofOutcome.PROVED: False, ProofOutcome.WITNESSED: False, ProofOutcome.VIOLATED: True}
            if proof.outcome in wrong and is_true is wrong[proof.outcome]:
                raise Difference("prove: answer", f"{proof.prop} is {proof.outcome.value}; first in {first} steps")
            if first is not None and not is_reachable and first < proof.refuted:
                raise Difference("prove: depth", f"{proof.prop}: no violation in {proof.refuted} steps; {first}")
        for finding in verdict.findings:
            self._replay("prove", finding.trace)


def difference_in(source: str, seed: int, engines: Engines) -> Difference | None:
    """Return the difference that a model shows; None if it shows none, or if it is no model at all."""
    try:
        compare_model(source, seed, engines)
    except Difference as found:
        return found
    except Exception as error:
        with suppress(Exception):
            Oracle(source).initial()
            return Difference(f"crash: {type(error).__name__}: {refusal_of(error)}", str(error))
    return None
