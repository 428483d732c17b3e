"""Changes name what differs, and nothing else."""

from __future__ import annotations

from kwalk.reports.traces.changes import changes, lines, parts_of
from kwalk.search.results.trace import run
from tests.reports.traces import model


def changes_after(*actions: str) -> list[str]:
    """The changed lines of the last of these steps."""
    street = model()
    states = run(street, street.initial[0], actions)
    return [str(line) for line in lines(changes(street, parts_of(street), states[-2], states[-1]))]


def test_a_push_onto_a_queue_reads_as_what_has_come():
    assert changes_after("post(1, SECOND)") == [
        "seals + A",
        "queue + Letter(to house No. 2, speed second, seal A, answers none)",
    ]


def test_a_pop_reads_as_what_is_gone_and_a_set_as_one_change():
    assert changes_after("post(0, FIRST)", "post(1, FIRST)", "deliver()") == [
        "doors[No. 1].box {} → {A}",
        "queue − Letter(to house No. 1, speed first, seal A, answers none)",
    ]


def test_two_fields_of_one_record_read_as_one_line():
    assert changes_after("post(0, FIRST)", "drive()") == ["van miles 0 → 1, parked yes → no"]


def test_a_record_with_its_own_words_is_printed_in_them():
    assert "doors[No. 1].card none → a card for A" in changes_after("post(0, FIRST)", "let_dog_out(0)", "deliver()")


def test_equal_changes_in_several_elements_of_an_array_read_as_one():
    street = model()
    before = street.initial[0]
    state = street.state(before)
    with street.active():
        for door in state.doors:
            door.dog_out = True
    changed = changes(street, parts_of(street), before, street.vector(state))
    assert [str(line) for line in lines(changed)] == ["doors[No. 1, No. 2].dog_out no → yes"]


def test_a_step_that_changes_nothing_has_no_lines():
    street = model()
    assert changes(street, parts_of(street), street.initial[0], street.initial[0]) == []


def test_the_parts_cover_every_leaf_once_and_in_order():
    street = model()
    covered = [leaf for part in parts_of(street) for leaf in range(part.start, part.stop)]
    assert covered == list(range(len(street.leaves)))


def test_a_queue_that_is_emptied_and_filled_in_one_step_names_both():
    street = model()
    full = run(street, street.initial[0], ("post(0, FIRST)", "post(1, FIRST)"))[-1]
    state = street.state(full)
    with street.active():
        letters = list(state.queue)
        state.queue.clear()
        state.queue.push(letters[0])
    changed = changes(street, parts_of(street), full, street.vector(state))
    assert [str(line) for line in lines(changed)] == [
        "queue − Letter(to house No. 1, speed first, seal A, answers none), "
        "Letter(to house No. 2, speed first, seal B, answers none), "
        "+ Letter(to house No. 1, speed first, seal A, answers none)"
    ]
