"""Lifting a model: from its plain Python source to terms over the leaves of its state.

For every action instance this gives a guard, a side condition for each bound and error, and a term for each leaf that
it changes; for every property instance its premise and its truth. Variables 0 … n-1 are the leaves of the state; in
step properties, n … 2n-1 are the leaves of the state after the step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from attrs import evolve, field, frozen

from kwalk.model.language.action import Parametric
from kwalk.model.language.constraints import Constraint, CutStates
from kwalk.model.language.errors import LiftError
from kwalk.model.language.lift import expressions, statements
from kwalk.model.language.lift.access import argument
from kwalk.model.language.lift.calls import call_function
from kwalk.model.language.lift.kinds import ValueKind
from kwalk.model.language.lift.machine import ConditionKind, Coverage, SideCondition, SymbolicMachine, Unreachable
from kwalk.model.language.lift.rules import Operation, apply, rule
from kwalk.model.language.lift.terms import Term, Terms, in_order, substitute
from kwalk.model.language.lift.values import Reference, Refused
from kwalk.model.language.model import ActionInstance, Model, PropertyInstance, Vector
from kwalk.model.language.properties import Kind
from kwalk.model.language.quantifiers import QuantifierElements
from kwalk.model.language.refinement import MappedAction, RefinedStart, Refinement, RefinementProperty
from kwalk.model.language.shapes import Shape

FAILED = -1
"""The code of a step that leaves its domain."""


@frozen(eq=False)
class LiftedAction:
    """An action instance as terms.

    Attributes:
        instance: the action instance.
        guard: the condition under which it is enabled.
        side_conditions: its bound hits and errors where the guard is true, in program order.
        updates: the new term of each leaf that it can change, by the leaf's number.
        coverage: the parts of the model's source that it comes from.
    """

    instance: ActionInstance
    guard: Term
    side_conditions: tuple[SideCondition, ...]
    updates: dict[int, Term]
    coverage: Coverage

    @property
    def writes(self) -> frozenset[int]:
        """Return the leaves that it can change."""
        return frozenset(self.updates)

    @property
    def roots(self) -> list[Term]:
        """Return all of its terms."""
        return [self.guard, *(o.condition for o in self.side_conditions), *self.updates.values()]


def step_code(terms: Terms, side_conditions: Iterable[SideCondition], bounds: dict[str, int]) -> Term:
    """Return the result of an enabled instance as a term: 0 if the step is taken, else what prevents it.

    Side conditions count in their order: one has a meaning only where those before it are false.

    Args:
        terms: The table of the terms.
        side_conditions: The side conditions of the instance.
        bounds: The number of each bound, from 1; new names get the next numbers.

    Returns:
        0, the number of the first bound that is reached, or FAILED for an error before any bound.
    """
    code = terms.integer(0)
    for one in reversed(tuple(side_conditions)):
        number = FAILED if one.kind is ConditionKind.ERROR else bounds.setdefault(one.name, len(bounds) + 1)
        code = terms.choose(one.condition, terms.integer(number), code)
    return code


@frozen(eq=False)
class LiftedProperty:
    """A property instance as terms. Errors are side conditions, where the premise is true.

    Of a property about behaviours, premise and truth are independent of each other, and errors apply everywhere.
    """

    prop: PropertyInstance
    premise: Term
    truth: Term
    errors: tuple[SideCondition, ...]
    elements: Mapping[tuple[int, int], Term] = field(factory=dict)
    """By the line of a generator expression in its function that `all` or `any` takes: where it has an item."""

    @property
    def roots(self) -> list[Term]:
        """Return all of its terms: the premise, the truth, the errors."""
        return [self.premise, self.truth, *(o.condition for o in self.errors)]


@frozen(eq=False)
class Lifted:
    """A model as terms of one table."""

    model: Model
    terms: Terms
    actions: tuple[LiftedAction, ...]
    properties: tuple[LiftedProperty, ...]
    guard_reads: tuple[frozenset[int], ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "guard_reads", tuple(reads([action.guard]) for action in self.actions))

    @property
    def stated_properties(self) -> tuple[LiftedProperty, ...]:
        """Return the properties without those that follow from others; see `PropertyInstance.is_stated`."""
        return tuple(prop for prop in self.properties if prop.prop.is_stated)

    @property
    def bounds(self) -> tuple[str, ...]:
        """Return the names of all bounds that a step can reach."""
        hit = {o.name for a in self.actions for o in a.side_conditions if o.kind is ConditionKind.BOUND}
        return tuple(sorted(hit))

    @property
    def errors(self) -> tuple[str, ...]:
        """Return the texts of all errors that lifting could not exclude."""
        found = {o.name for a in self.actions for o in a.side_conditions if o.kind is ConditionKind.ERROR}
        return tuple(sorted(found | {o.name for c in self.properties for o in c.errors}))


def reads(roots: Iterable[Term]) -> frozenset[int]:
    """Return the numbers of the variables below some terms."""
    return frozenset(term.payload for term in in_order(roots) if term.op in ("intvar", "boolvar"))


def lift(model: Model, report: Callable[[int], None] = lambda lifted: None) -> Lifted:
    """Lift every action and property instance of a model.

    Args:
        model: The model.
        report: Is called with the number of action instances that are lifted, after each of them.

    Raises:
        LiftError: a construct cannot be lifted; the message has its file and line.
    """
    terms = Terms()
    actions: list[LiftedAction] = []
    with model.active():
        for instance in model.instances:
            actions.append(lift_action(model, terms, instance))
            report(len(actions))
        return Lifted(model, terms, tuple(actions), _lift_properties(model, terms, model.properties))


def lift_properties(model: Model, properties: Iterable[PropertyInstance]) -> Lifted:
    """Lift some properties and no action, which takes a fraction of the time.

    Raises:
        LiftError: a construct cannot be lifted.
    """
    terms = Terms()
    with model.active():
        return Lifted(model, terms, (), _lift_properties(model, terms, properties))


def _lift_properties(model: Model, terms: Terms, properties: Iterable[PropertyInstance]) -> tuple[LiftedProperty, ...]:
    refined: dict[Refinement, RefinedTerms] = {}
    lifted: list[LiftedProperty] = []
    for prop in properties:
        if isinstance(prop.declaration, QuantifierElements):
            lifted.append(_elements(terms, prop, prop.declaration, lifted))
        else:
            lifted.append(_lift_property(model, terms, prop, refined))
    return tuple(lifted)


def _elements(
    terms: Terms, prop: PropertyInstance, counts: QuantifierElements, lifted: Iterable[LiftedProperty]
) -> LiftedProperty:
    """Return a property that counts the elements of a quantifier, from the lifted instances of that one's property."""
    instances = (one for one in lifted if one.prop.declaration is counts.prop)
    premise = terms.disjunction(
        terms.conjunction(
            (
                one.premise,
                one.elements.get(counts.quantifier.position, terms.false),
                *(terms.negation(error.condition) for error in one.errors),
            )
        )
        for one in instances
    )
    return LiftedProperty(prop, premise, terms.true, ())


def _start(model: Model, terms: Terms, states: int) -> tuple[SymbolicMachine, list[Any]]:
    """Return a machine, and the roots of arbitrary states; the machines of a table begin with copies of one store."""
    machine = SymbolicMachine(terms, statements.execute, expressions.evaluate)
    key = ("start", id(model), states)
    if key not in terms.lifted:
        store: dict[int, Any] = {}
        sources = (machine.objects.variables(number * len(model.leaves)) for number in range(states))
        nodes = [machine.objects.make(model.shape, source, store) for source in sources]
        terms.lifted[key] = model, nodes, store, machine.objects.count  # the model is kept: its id stays its own
    _, roots, begun, machine.objects.count = terms.lifted[key]
    machine.now.store = begun.copy()
    machine.state_cells = machine.objects.count
    return machine, [*roots]


def lift_action(model: Model, terms: Terms, instance: ActionInstance) -> LiftedAction:
    """Lift one action instance to terms of a table; call it within the model's `active`."""
    machine, (root,) = _start(model, terms, 1)
    base = machine.now.fork()
    if _run(machine, instance.action, [root], instance.args) is not None:
        raise _refused(instance.action, Refused("a value that the action returns", "a change of the state it is given"))
    ends = [*machine.aborts, *([(machine.state, None)] if machine.state is not None else [])]
    for state, _ in ends:
        state.local = {}
    machine.join(base, ends)
    guard, conditions = _guard(terms, machine.side_conditions)
    coverage = machine.coverage
    if guard is terms.false:
        return LiftedAction(instance, terms.false, (), {}, coverage)
    key = ("leaves", id(model))
    if key not in terms.lifted:
        terms.lifted[key] = _leaves(machine, model, root, base.store)
    before, cells = terms.lifted[key]
    conditions = (*_cuts(model, terms, before), *conditions)
    if machine.state is None:  # wherever the guard holds, a bound or an error is certain
        return LiftedAction(instance, guard, conditions, {}, coverage)
    after, updates = [*before], {}
    for cell, first, shape in cells:
        value = machine.state.store[cell]
        if value is not base.store[cell]:
            for leaf, new in enumerate(machine.objects.cell_layout(shape, value), first):
                if new is not before[leaf]:
                    after[leaf] = updates[leaf] = new
    return LiftedAction(instance, guard, (*conditions, *_cuts(model, terms, before, after)), updates, coverage)


def _leaves(
    machine: SymbolicMachine, model: Model, root: Any, store: dict[int, Any]
) -> tuple[list[Term], list[tuple[int, int, Shape | None]]]:
    """Return the terms of the leaves of a state, and each cell's key, first leaf and shape."""
    terms: list[Term] = []
    cells = []
    for cell, shape in machine.objects.cells(model.shape, root):
        cells.append((cell, len(terms), shape))
        terms.extend(machine.objects.cell_layout(shape, store[cell]))
    return terms, cells


def _cuts(model: Model, terms: Terms, *states: list[Term]) -> Iterator[SideCondition]:
    """Yield the side conditions of constraints on a state, or of action constraints on the states of a step."""
    for number, one in enumerate(model.constraints):
        if one.states == len(states):
            key = ("constraint", id(model), number)
            if key not in terms.lifted:
                terms.lifted[key] = _lift_constraint(model, terms, one)
            lifted = terms.lifted[key]
            roots = [each.condition for each in lifted]
            found = substitute(terms, roots, [*states[0], *states[1]]) if len(states) == 2 else roots
            for each, condition in zip(lifted, found, strict=True):
                if condition is not terms.false:
                    yield evolve(each, condition=condition)


def _lift_constraint(model: Model, terms: Terms, one: Constraint) -> tuple[SideCondition, ...]:
    """Return the errors of a constraint, and the condition that it is violated as a bound."""
    machine, roots = _start(model, terms, one.states)
    machine.is_property = True
    value = _run(machine, one, roots, ())
    if machine.aborts or any(each.kind is ConditionKind.DISABLED for each in machine.side_conditions):
        raise _refused(one, Refused("`premise` or an abort in a constraint", "the condition as what it returns"))
    if machine.state is not None and machine.state.is_written:
        raise _refused(one, Refused("the constraint changes the state", "a predicate, which only reads it"))
    conditions = _with_bounds_as_errors(machine.side_conditions, f"the constraint {one.name} exceeds a bound: ")
    try:
        truth: Term = terms.true if machine.state is None else apply(machine, Operation.RESULT, value)
    except Refused as problem:
        raise _refused(one, problem) from None
    return (*conditions, SideCondition(ConditionKind.BOUND, terms.negation(truth), one.bound))


def _run(machine: SymbolicMachine, declaration: Parametric, roots: list[Any], args: tuple[Any, ...]) -> Any:
    references = [Reference(((machine.terms.true, root),)) for root in roots]
    try:
        arguments = [argument(machine, value) for value in args]
        return call_function(machine, declaration.function, [*references, *arguments], {})
    except Unreachable:
        machine.state = None
        return None
    except Refused as problem:
        raise _refused(declaration, problem) from None
    except RecursionError:
        too_deep = Refused("an expression or a block that is nested too deeply", "parts of it with names of their own")
        raise _refused(declaration, too_deep) from None


def _guard(terms: Terms, side_conditions: list[SideCondition]) -> tuple[Term, tuple[SideCondition, ...]]:
    """Return the guard, and the side conditions where it is true. A guard that raises an error counts as true."""
    disabled: list[Term] = []
    failed: list[Term] = []
    remaining: list[SideCondition] = []
    for one in side_conditions:
        if one.kind is ConditionKind.DISABLED:
            before = terms.negation(terms.disjunction(failed))
            disabled.append(terms.conjunction((one.condition, before)))
        else:
            failed.append(one.condition)
            remaining.append(one)
    return terms.negation(terms.disjunction(disabled)), tuple(remaining)


def _lift_property(
    model: Model, terms: Terms, prop: PropertyInstance, refined: dict[Refinement, RefinedTerms]
) -> LiftedProperty:
    if isinstance(prop.declaration, RefinementProperty):
        return _lift_refinement(model, terms, prop, refined)
    if isinstance(prop.declaration, CutStates):
        conditions = _lift_constraint(model, terms, prop.declaration.constraint)
        premise = terms.disjunction(one.condition for one in conditions)
        return LiftedProperty(prop, premise, terms.true, conditions[:-1])
    states = 2 if prop.kind is Kind.STEP else 1
    machine, roots = _start(model, terms, states)
    machine.is_property = True
    machine.premises = [] if prop.kind.is_liveness else None
    first = terms.true
    if prop.declaration.premise is not None:
        first = _value(machine, prop, prop.declaration.premise, roots)
    truth = _value(machine, prop, prop.declaration, roots) if machine.state is not None else terms.true
    if machine.aborts:
        problem = Refused("an abort leaves the property", "`try … except`, and a result for that case")
        raise _refused(prop.declaration, problem)
    if machine.state is not None and machine.state.is_written:
        code = prop.declaration.function.__code__
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: cannot translate this: {prop.declaration.name} changes the "
            "state. Instead: a property only reads the state; use local variables for intermediate results."
        )
    premise, errors = _guard(terms, machine.side_conditions)
    premise = terms.conjunction((premise, first, *(machine.premises or ())))
    return LiftedProperty(prop, premise, truth, errors, machine.elements)


def _value(machine: SymbolicMachine, prop: PropertyInstance, function: Parametric, roots: list[Any]) -> Term:
    """Return the truth of what a function of a property returns; it is true where the function never returns."""
    value = _run(machine, function, roots, prop.args)
    return machine.terms.true if machine.state is None else _result(machine, prop, value)


@rule(Operation.RESULT, (ValueKind.TRUTH,))
def _truth_of_result(machine: SymbolicMachine, value: Any) -> Term:
    return machine.values.truth(value)


def _result(machine: SymbolicMachine, prop: PropertyInstance, value: Any) -> Term:
    """Return the truth of a property from what its function returns."""
    try:
        term: Term = apply(machine, Operation.RESULT, value)
    except Refused as problem:
        raise _refused(prop.declaration, problem) from None
    return term


def _refused(declaration: Parametric, problem: Refused) -> LiftError:
    code = declaration.function.__code__
    place = f"{code.co_filename}:{code.co_firstlineno}"
    return LiftError(f"{place}: cannot translate this: {declaration.name}: {problem.what}. Instead: {problem.instead}.")


# Refinement.


@frozen(eq=False)
class RefinedTerms:
    """A refinement as terms over the states before and after a step.

    Attributes:
        stutters: the condition that the images of both states are equal.
        by_action: by the name of an abstract action, the condition that an instance of it leads from image to image.
        errors: the errors of the mapping in either state.
    """

    stutters: Term
    by_action: dict[str, Term]
    errors: tuple[SideCondition, ...]


def _lift_refinement(
    model: Model, terms: Terms, prop: PropertyInstance, refined: dict[Refinement, RefinedTerms]
) -> LiftedProperty:
    declaration = prop.declaration
    assert isinstance(declaration, RefinementProperty)
    if isinstance(declaration, RefinedStart):
        return LiftedProperty(prop, terms.true, _not_among(model, terms, declaration.refinement.wrong_starts()), ())
    steps = refined.get(declaration.refinement)
    if steps is None:
        steps = refined[declaration.refinement] = _refined_terms(model, terms, declaration.refinement)
    failed = terms.disjunction(one.condition for one in steps.errors)
    if isinstance(declaration, MappedAction):
        taken = steps.by_action[prop.args[0].name]
        return LiftedProperty(prop, terms.disjunction((taken, failed)), terms.true, steps.errors)
    premise = terms.disjunction((terms.negation(steps.stutters), failed))
    return LiftedProperty(prop, premise, terms.disjunction(steps.by_action.values()), steps.errors)


def _not_among(model: Model, terms: Terms, states: Iterable[Vector]) -> Term:
    """Return the condition that a state is none of the given ones."""
    machine, (root,) = _start(model, terms, 1)
    leaves = list(machine.objects.layout(model.shape, root, machine.now.store))

    def is_state(vector: Vector) -> Term:
        pairs = zip(leaves, vector, strict=True)
        return terms.conjunction(
            terms.equal(leaf, terms.boolean(n) if leaf.is_bool else terms.integer(n)) for leaf, n in pairs
        )

    return terms.negation(terms.disjunction(map(is_state, sorted(states))))


def _refined_terms(model: Model, terms: Terms, refinement: Refinement) -> RefinedTerms:
    abstract = refinement.abstract
    before, after, errors = _images(model, terms, refinement)
    taken = {action.name: terms.false for action in abstract.scenario.actions}
    with abstract.active():
        for instance in abstract.instances:
            action = lift_action(abstract, terms, instance)
            leads = _leads(terms, action, before, after)
            taken[instance.action.name] = terms.disjunction((taken[instance.action.name], leads))
    stutters = terms.conjunction(terms.equal(one, other) for one, other in zip(before, after, strict=True))
    return RefinedTerms(stutters, taken, errors)


def _leads(terms: Terms, action: LiftedAction, before: list[Term], after: list[Term]) -> Term:
    """Return the condition that an abstract action instance leads from one image to the other."""
    guard, *roots = substitute(terms, action.roots, before)
    conditions, updates = roots[: len(action.side_conditions)], roots[len(action.side_conditions) :]
    made = dict(zip(action.updates, updates, strict=True))
    same = (terms.equal(made.get(leaf, old), new) for leaf, (old, new) in enumerate(zip(before, after, strict=True)))
    return terms.conjunction((guard, *map(terms.negation, conditions), *same))


def _images(
    model: Model, terms: Terms, refinement: Refinement
) -> tuple[list[Term], list[Term], tuple[SideCondition, ...]]:
    """Return the images of the states before and after a step, and the errors of the mapping."""
    machine, roots = _start(model, terms, 2)
    machine.is_property = True
    abstract = refinement.abstract
    with abstract.active():
        images = [machine.objects.make(abstract.shape, machine.objects.defaults, machine.now.store) for _ in roots]
    base = machine.now
    with refinement.binding.active():
        for root, image in zip(roots, images, strict=True):
            _map(machine, refinement, root, image)
    if machine.aborts or any(one.kind is ConditionKind.DISABLED for one in machine.side_conditions):
        raise LiftError(str(refinement.misuse("ends with `premise` or an abort; every state has an image")))
    if machine.state is not None and machine.state.is_written:
        raise LiftError(str(refinement.misuse("changes the detailed state; it only reads it")))
    store = base.store if machine.state is None else machine.state.store
    with abstract.active():
        before, after = (list(machine.objects.layout(abstract.shape, image, store)) for image in images)
    if machine.state is not None:
        for term, leaf in zip((*before, *after), (*abstract.leaves, *abstract.leaves), strict=True):
            if not term.is_bool:
                wrong = terms.disjunction(
                    (terms.less(term, terms.integer(leaf.low)), terms.less(terms.integer(leaf.high), term))
                )
                machine.error(wrong, f"the image has {leaf.path} outside of {leaf.low} … {leaf.high}")
    exceeded = f"the image exceeds a bound of {abstract.scenario.name}: "
    return before, after, _with_bounds_as_errors(machine.side_conditions, exceeded)


def _with_bounds_as_errors(conditions: Iterable[SideCondition], exceeded: str) -> tuple[SideCondition, ...]:
    """Return conditions in which each bound is an error whose text begins with `exceeded`.

    A bound disables an action; what only reads the state has no step to disable.
    """
    return tuple(
        evolve(one, kind=ConditionKind.ERROR, name=exceeded + one.name) if one.kind is ConditionKind.BOUND else one
        for one in conditions
    )


def _map(machine: SymbolicMachine, refinement: Refinement, root: Any, image: Any) -> None:
    """Execute the mapping on a state; without a path to its end, nothing is left of the machine's state."""
    if machine.state is None:
        return
    references = [Reference(((machine.terms.true, each),)) for each in (root, image)]
    try:
        returned = call_function(machine, refinement.mapping, references, {})
    except Unreachable:
        machine.state = None
        return
    except Refused as problem:
        code = refinement.mapping.__code__
        raise LiftError(
            f"{code.co_filename}:{code.co_firstlineno}: cannot translate this: {refinement.mapping.__name__}: "
            f"{problem.what}. Instead: {problem.instead}."
        ) from None
    if returned is not None:
        raise LiftError(str(refinement.misuse("returns a value; it changes its second argument and returns None")))
