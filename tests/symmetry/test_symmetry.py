"""One state stands for all that differ by names only: the same verdicts from fewer states, or a refused domain."""

from __future__ import annotations

import re
from itertools import permutations

import numpy as np
import pytest
from attrs import evolve

from kwalk.invariants.stories.deletion import DELETE_AND_RECREATE
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.ewd840 import EWD840
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model, UsageError
from kwalk.search.base.options import CheckpointOptions
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.trace import run
from kwalk.search.results.verdict import Answer
from kwalk.search.symmetry.canonicalize import SymmetryTable
from kwalk.search.symmetry.permutations import Renaming
from kwalk.search.visited.tree_compression import LEAST_WORDS
from tests.examples.plain_search import space_of
from tests.search.plain_kernel import plain_kernel
from tests.symmetry.seats import PARTY, TICKETS

SYMMETRIC = [
    (TWO_PHASE_COMMIT, None, "rms", {"rms": 3}, 288, 80),
    (TWO_PHASE_COMMIT, None, "rms", {"rms": 5}, 8_832, 314),
    (LOST_UPDATE, "no-lock", "threads", {"threads": 3}, 84, 22),
    (LOST_UPDATE, "lock", "threads", {"threads": 4}, 129, 9),
    (READERS_WRITERS, None, "actors", {}, 21_527, 3_601),
]


@pytest.mark.parametrize(("scenario", "variant", "domain", "bounds", "full", "reduced"), SYMMETRIC)
def test_the_reduced_search_says_what_the_full_one_says(scenario, variant, domain, bounds, full, reduced):
    model = Model(scenario, variant, bounds)
    whole, fewer = exhaust(model, keep_going=True), exhaust(model, keep_going=True, symmetry=domain)
    assert (whole.distinct_states, fewer.distinct_states) == (full, reduced)
    assert (whole.answer, whole.depth, lengths(whole)) == (fewer.answer, fewer.depth, lengths(fewer))
    assert never_fired(whole) == never_fired(fewer)
    assert not [key for key, count in fewer.premises.items() if not count]
    assert any(f"{reduced:,} states stand for {full:,}" in note for note in fewer.notes)


def lengths(verdict):
    """The shortest trace to a violation of each invariant."""
    found = {}
    for finding in sorted(verdict.findings, key=lambda f: f.trace.length if f.trace else 0):
        found.setdefault(finding.prop.partition("(")[0], finding.trace.length if finding.trace else None)
    return found


def never_fired(verdict):
    return {key for key, count in verdict.action_counts.items() if not count.taken}


@pytest.fixture(scope="module")
def party():
    model = Model(PARTY, bounds={"queue": 1})
    return model, exhaust(model, keep_going=True), exhaust(model, keep_going=True, symmetry="guests")


def test_members_in_every_kind_of_field_are_renamed(party):
    _, whole, fewer = party
    assert whole.answer is fewer.answer is Answer.VIOLATED
    assert lengths(whole) == lengths(fewer) and len(lengths(whole)) == 3
    assert any(f"stand for {whole.distinct_states:,}" in note for note in fewer.notes)
    assert (whole.distinct_states, fewer.distinct_states) == (451_376, 75_341)


def test_a_property_that_nothing_can_show_is_missed_in_both(party):
    _, whole, fewer = party
    missing = [{f.prop for f in verdict.findings if f.trace is None} for verdict in (whole, fewer)]
    assert missing[0] == missing[1] == {f"somebody_is_liked_back({n}, {n})" for n in range(3)}


def test_traces_are_real_and_as_short(party):
    model, _, fewer = party
    for finding in fewer.findings:
        if finding.trace is not None:
            assert finding.trace.states[0] in model.initial
            assert run(model, finding.trace.states[0], finding.trace.actions) == finding.trace.states


def test_two_workers_find_the_same(party):
    model, _, fewer = party
    again = exhaust(model, keep_going=True, symmetry="guests", workers=2)
    assert (again.distinct_states, again.generated_states, again.findings, again.notes) == (
        fewer.distinct_states,
        fewer.generated_states,
        fewer.findings,
        fewer.notes,
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_long_states_are_renamed_as_well(workers):
    model = Model(TWO_PHASE_COMMIT)
    kernel = plain_kernel(model, word_bits=4)
    assert kernel.words >= LEAST_WORDS
    verdict = exhaust(model, kernel=kernel, symmetry="rms", workers=workers)
    assert (verdict.answer, verdict.distinct_states, verdict.depth) == (Answer.HOLDS, 80, 10)
    assert any("80 states stand for 288" in note for note in verdict.notes)


def test_orbits_are_what_plain_renaming_makes_them():
    space = space_of(TWO_PHASE_COMMIT, None, rms=3)
    renaming = Renaming(space.model, "rms")
    orbits = {frozenset(renaming.vector(v, p) for p in renaming.permutations) for v in space.reached}
    assert len(orbits) == 80
    assert all(orbit <= set(space.reached) for orbit in orbits)


def test_packed_states_are_renamed_as_vectors_are(party):
    model, kernel = party[0], kernel_for(party[0])
    renaming = Renaming(model, "guests")
    table = SymmetryTable(renaming, kernel)
    for finding in party[1].findings:
        for vector in finding.trace.states if finding.trace else ():
            renamed = [renaming.vector(vector, permutation) for permutation in permutations(range(3))]
            assert all(model.canonical(other) == other for other in renamed)
            packed = kernel.pack(np.array([vector]))
            assert (table.permuted(packed[0]) == kernel.pack(np.array(renamed))).all()
            least = min(map(tuple, kernel.pack(np.array(renamed)).tolist()))
            assert tuple(table.canonical(packed)[0].tolist()) == least


@pytest.mark.parametrize(
    ("order", "line"),
    [("size", "require(guest < other)"), ("first", "require(next("), ("name", "require(house.queue.head != 1)")],
)
def test_an_order_is_refused_with_its_line(order, line):
    with pytest.raises(UsageError, match="The guests are not interchangeable") as refused:
        exhaust(Model(PARTY, order), symmetry="guests")
    assert any(line in text for text in lines_named(str(refused.value)))


def lines_named(message):
    """The source lines that a message points to."""
    places = re.findall(r"([^\s(]+\.py):(\d+)", message)
    return [open(file, encoding="utf-8").read().splitlines()[int(number) - 1] for file, number in places]


@pytest.mark.parametrize(
    ("scenario", "domain", "line"),
    [
        (BLOCKING_QUEUE, "threads", "return thread < PRODUCERS"),
        (DELETE_AND_RECREATE, "brokers", "cluster.zookeeper.controller = 0"),
        (EWD840, "nodes", "require(ring.token.at == 0"),
    ],
    ids=lambda part: getattr(part, "name", part),
)
def test_domains_that_a_model_orders_are_refused_with_the_place(scenario, domain, line):
    model = Model(scenario)
    properties = tuple(prop for prop in model.properties if prop.kind.value != "eventually")
    with pytest.raises(UsageError, match=f"The {domain} are not interchangeable") as refused:
        exhaust(model, properties=properties, symmetry=domain)
    assert any(line in text for text in lines_named(str(refused.value)))


def test_kafkas_brokers_are_ordered_by_assignments_too(monkeypatch):
    monkeypatch.setattr("kwalk.search.symmetry.interchange._check_start", lambda renaming: None)
    model = Model(DELETE_AND_RECREATE)
    with pytest.raises(
        UsageError, match=r"new_client_creates_topic, .*admin_clients.py:\d+, does not treat all members alike"
    ):
        exhaust(model, symmetry="brokers")


def test_without_the_check_plain_python_would_notice(monkeypatch):
    model = Model(BLOCKING_QUEUE, "one-wait-set")
    assert exhaust(model, properties=()).answer is Answer.DEADLOCK
    monkeypatch.setattr("kwalk.search.symmetry.explorer.check_interchangeable", lambda renaming, asked: None)
    with pytest.raises(EngineDisagreement, match=r"executes wait\(0\) and plain Python does not"):
        exhaust(model, properties=(), symmetry="threads")


@pytest.mark.parametrize(
    ("scenario", "asked", "domain", "message"),
    [
        (TICKETS, None, "guests", "given allocates its members one after the other"),
        (PARTY, None, "rooms", "'rooms' is not a domain of 2 to 6 members"),
        (evolve(PARTY, bounds={"guests": 7, "queue": 1}), None, "guests", "is not a domain of 2 to 6 members"),
        (PARTY, "nobody_likes_a_stranger(0)", "guests", "check nobody_likes_a_stranger as a whole"),
        (EWD840, "end_comes_to_be_known", "nodes", "is about behaviours"),
    ],
)
def test_what_cannot_be_done_is_refused(scenario, asked, domain, message):
    model = Model(scenario)
    with pytest.raises(UsageError, match=re.escape(message)):
        exhaust(model, properties=model.properties_of(asked) if asked else None, symmetry=domain)


def test_checkpoints_and_symmetry_do_not_go_together(tmp_path):
    with pytest.raises(UsageError, match="saves no checkpoints"):
        exhaust(Model(TWO_PHASE_COMMIT), symmetry="rms", checkpoint=CheckpointOptions(tmp_path))


def test_the_command_says_what_was_saved(capsys, tmp_path, monkeypatch):
    from kwalk.reports.command_line import main

    monkeypatch.chdir(tmp_path)
    assert main(["exhaust", "two-phase-commit", "--symmetry", "rms"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Symmetry in rms (3! = 6 ways to name them): 80 states stand for 288, a saving of × 3.60." in said
    assert "Reproduce: kwalk exhaust two-phase-commit --symmetry rms" in said
