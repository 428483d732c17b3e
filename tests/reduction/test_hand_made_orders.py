"""Orders that look harmless and lose verdicts: why a set of deliveries that commute is not enough."""

from __future__ import annotations

from collections.abc import Callable

from kwalk.model.language import ActionInstance, Model, Vector
from kwalk.search.kernel.compile.compiler import kernel_for
from tests.reduction.full_and_reduced import explored, lengths
from tests.reduction.resignation import TOWN

Steps = list[tuple[ActionInstance, Vector]]


def reached(model: Model, choose: Callable[[Model, Steps], Steps]) -> set[Vector]:
    """The states that plain Python reaches if of all steps only the chosen ones are taken."""
    seen, waiting = set(model.initial), list(model.initial)
    while waiting:
        for _, after in choose(model, list(model.successors(waiting.pop()))):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def all_of_them(model: Model, steps: Steps) -> Steps:
    return steps


def commuting_one_first(model: Model, steps: Steps) -> Steps:
    """The first step that commutes here with every other step, alone, if there is one."""
    for instance, after in steps:
        if all(
            other is instance or commute(model, (instance, after), (other, elsewhere)) for other, elsewhere in steps
        ):
            return [(instance, after)]
    return steps


def commute(model: Model, one: tuple[ActionInstance, Vector], other: tuple[ActionInstance, Vector]) -> bool:
    first, second = model.attempt(other[0], one[1]).after, model.attempt(one[0], other[1]).after
    return first is not None and first == second


def violated(model: Model, states: set[Vector]) -> set[str]:
    return {prop.key for prop in model.properties for state in states if model.violates(prop, state)}


def test_delivering_to_the_lowest_house_first_loses_verdicts_though_deliveries_commute():
    model = Model(TOWN)
    everything, ordered = reached(model, all_of_them), reached(model, commuting_one_first)
    assert violated(model, everything) == {"everybody_has_a_letter()", "nothing_is_thrown_away()"}
    assert violated(model, ordered) == set()
    assert ordered < everything


def test_the_reduced_search_keeps_them_with_their_lengths():
    model = Model(TOWN)
    reduced = explored(model, kernel_for(model), model.properties, reduce=True)
    assert lengths(reduced) == {
        "everybody_has_a_letter()": 2,
        "nothing_is_thrown_away()": 2,
        "closing_costs_nothing()": 2,
        "closed_too_early()": 2,
    }


def test_deliveries_are_put_in_one_order_where_nothing_can_come_between_them():
    model = Model(TOWN, bounds={"houses": 5})
    kernel, properties = kernel_for(model), model.properties_of("everybody_has_a_letter")
    full, reduced = (explored(model, kernel, properties, reduce=reduce) for reduce in (False, True))
    assert lengths(full) == lengths(reduced) == {"everybody_has_a_letter()": 2}
    assert (full.stored, reduced.stored) == (48, 33)
