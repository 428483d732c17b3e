"""Induction and k-induction, and whether actions can leave their domains.

Words: a property is *inductive* if it holds initially and no action leads from a state of the domains that satisfies it
to one that does not. It is *k-inductive* if it holds in the first k depths, and after every path of k states that
satisfy it. These states need not be reachable, so a property that holds may not be inductive. A domain is *closed*
under an action if no effect of the action leaves it.

The k + 1 states of a path are required to differ from each other: a shortest violation has no state twice, and some
properties are not k-inductive for any k without that (Sheeran, Singh and Stålmarck, "Checking Safety Properties Using
Induction and a SAT-Solver", FMCAD 2000).
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from kwalk.model.language import Kind, Vector
from kwalk.model.language.lift import ConditionKind, Lifted, LiftedProperty
from kwalk.model.language.lift.solver import Solver
from kwalk.model.language.lift.terms import evaluate_terms
from kwalk.search.proof.effort import SolverEffort
from kwalk.search.proof.slicing import Slice
from kwalk.search.proof.unroll import Unrolling
from kwalk.search.solver.restarted import RestartedSolver
from kwalk.search.solver.terms import leaves_domain, satisfying_state


@frozen
class DomainViolation:
    """An action that can leave its domain from a state of the domains, which need not be reachable."""

    action: str
    error: str
    state: Vector


def domain_violations(lifted: Lifted, milliseconds: int = 10_000) -> Iterator[DomainViolation]:
    """Return the first error of each action that Z3 does not refute; none if all domains are closed.

    Raises:
        TimeoutError: Z3 has no answer within the time, which is per action.
    """
    for action in lifted.actions:
        state = satisfying_state(lifted.model, leaves_domain(lifted.terms, action), milliseconds)
        if state is not None:
            errors = [one for one in action.side_conditions if one.kind is ConditionKind.ERROR]
            true = evaluate_terms([one.condition for one in errors], state)
            yield DomainViolation(action.instance.key, errors[true.index(1)].name, state)


def least_k(part: Slice, prop: LiftedProperty, max_k: int, effort: SolverEffort) -> int | None:
    """Return the least k from 2 to `max_k` for which the property is k-inductive, or None.

    The caller has checked the first k depths.

    Raises:
        OutOfEffort: Z3 has no answer.
    """
    unrolling = Unrolling(part.model, part.lifted, anywhere=True, stuttering=part.stuttering)
    for k in range(1, max_k + 1):
        unrolling.extend()
        if k > 1 and _is_k_inductive(unrolling, part, prop, effort):
            return k
    return None


def _is_k_inductive(unrolling: Unrolling, part: Slice, prop: LiftedProperty, effort: SolverEffort) -> bool:
    t, k = unrolling.terms, unrolling.depth
    terms = [*unrolling.constraints, unrolling.bad(prop, k)]
    terms += [t.negation(unrolling.bad(prop, step)) for step in range(k)]
    last = k - (prop.prop.kind is Kind.STEP)
    terms += [unrolling.differ(a, b, part.varying) for b in range(last + 1) for a in range(b)]
    condition = t.conjunction(terms)
    if condition.op == "bool":
        return not condition.payload
    solver = Solver(Solver.width_for([condition]))
    expression = solver.expression(condition)
    check = RestartedSolver("QF_FD")
    check.add(expression, *solver.domain())
    return not effort.answer(check)
