"""What a property reads is what it depends on, and recording it does not change the result."""

from __future__ import annotations

import pytest

from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Kind, Model, Vector
from kwalk.reports.traces.changes import parts_of, path_text
from kwalk.reports.traces.read_set import FinalStates, decisive, read_set
from tests.reports.traces import model, trace


def named(street: Model, starts: frozenset[int]) -> set[str]:
    with street.active():
        return {path_text(part.path) for part in parts_of(street) if part.start in starts}


def test_a_property_about_one_set_reads_that_set_only():
    street = model()
    prop = street.properties_of("nothing_is_lost(1)")[0]
    assert named(street, read_set(street, prop, street.initial[0])) == {"lost"}


def test_a_property_with_an_index_reads_that_element_only():
    street = model()
    prop = street.properties_of("no_card_stays(1)")[0]
    assert named(street, read_set(street, prop, street.initial[0])) == {"doors[No. 2].card"}


def test_a_property_over_a_step_reads_both_states():
    street, steps = model(), trace()
    prop = street.properties_of("boxes_only_fill(0)")[0]
    assert named(street, read_set(street, prop, steps.states[1], steps.states[0])) == {"doors[No. 1].box"}


def test_a_property_stops_reading_where_its_answer_is_known():
    reference = Model(REFERENCE)
    prop = reference.properties_of("leaders_when_settled")[0]
    state = reference.state(reference.initial[0])
    with reference.active():
        state.up[0] = False
    assert named(reference, read_set(reference, prop, reference.vector(state))) == {"up[0]"}


def some_states(of: Model) -> list[Vector]:
    """A walk that takes the last enabled step each time."""
    states = [of.initial[0]]
    for _ in range(8):
        states += [after for _, after in of.successors(states[-1])][-1:]
    return states


@pytest.mark.parametrize("scenario", [REFERENCE, model().scenario], ids=lambda scenario: scenario.name)
def test_what_a_property_does_not_read_does_not_change_its_truth(scenario):
    of = Model(scenario)
    properties = [prop for prop in of.properties if prop.kind is not Kind.STEP]
    for state in some_states(of):
        for prop in properties:
            seen = read_set(of, prop, state)
            for part in parts_of(of):
                if part.start not in seen:
                    for at in range(part.start, part.stop):
                        leaf = of.leaves[at]
                        other = (*state[:at], leaf.low if state[at] != leaf.low else leaf.high, *state[at + 1 :])
                        assert of.truth(prop, other) is of.truth(prop, state), (prop.key, leaf.path)


def test_the_decisive_part_is_the_one_whose_change_would_make_the_property_true():
    street, steps = model(), trace()
    prop = street.properties_of("nothing_is_lost(0)")[0]
    found = decisive(street, prop, FinalStates(steps.states[-1]), parts_of(street))
    assert [path_text(part.path) for part in found] == ["lost"]
