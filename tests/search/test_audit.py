"""Auditing fixes: what each cell comes to, what the two cells of a row say, and audits that are cut short."""

from __future__ import annotations

import os
import re
import signal

import pytest
from attrs import evolve

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE, WAIT_SETS
from kwalk.model.examples.lost_update import LOCK, LOST_UPDATE
from kwalk.model.language import Fix, KwalkError, Trial, UsageError
from kwalk.search.analyses.audit import cells as audit_cells
from kwalk.search.analyses.audit.audit import (
    AuditOptions,
    CellOutcome,
    CellStatus,
    Judgement,
    audit,
    audit_journal,
    cells_of,
    judge,
)
from kwalk.search.base.journal import Journal
from kwalk.search.simulation.walk import walk
from tests.search.leases import AMNESIA_FIX, CHECK_FIX, FENCING_FIX, FIXES, SCENARIO
from tests.search.stairs import JUMP_FIX, STAIRS

BUDGET = AuditOptions(seconds=30.0)
HELD, SAMPLED = CellOutcome(CellStatus.EXHAUSTIVE, 1, 0), CellOutcome(CellStatus.SAMPLED, steps=1)
BROKEN, UNKNOWN = CellOutcome(CellStatus.VIOLATED, prop=""), CellOutcome(CellStatus.UNDECIDED, why="tired")
TABLE = [
    ("shortest trace of 5 steps to writes_go_forward", "exhaustive (34 states, depth 6)", Judgement.CLOSES),
    ("exhaustive (6 states, depth 2)", "exhaustive (6 states, depth 2)", Judgement.NO_DIFFERENCE),
    (
        "shortest trace of 5 steps to writes_go_forward",
        "shortest trace of 6 steps to writes_go_forward",
        Judgement.HOLE,
    ),
    (
        "shortest trace of 5 steps to writes_go_forward",
        "shortest trace of 7 steps to writes_go_forward",
        Judgement.HOLE,
    ),
    ("exhaustive (34 states, depth 6)", "shortest trace of 6 steps to writes_go_forward", Judgement.WORSE),
]


@pytest.fixture
def journal(tmp_path):
    return audit_journal(tmp_path)


def lines_of(journal):
    return len(list(journal.read()))


def table(rows):
    return [(row.without.text, row.with_it.text, row.judgement) for row in rows]


def test_a_fix_closes_has_a_hole_makes_worse_or_changes_nothing():
    rows = audit(cells_of(FIXES), BUDGET)
    assert table(rows) == TABLE
    assert all(row.is_decided for row in rows)
    assert [row.with_it.bounds_hit for row in rows[:2]] == [("leases",), ("leases",)]


def test_worker_processes_find_the_same():
    alone, together = audit(cells_of(FIXES), BUDGET), audit(cells_of(FIXES), BUDGET, workers=2)
    assert [(row.without, row.with_it) for row in together] == [(row.without, row.with_it) for row in alone]


def test_a_traces_flags_are_those_that_differ_from_the_base_variant():
    (row,) = audit(cells_of([AMNESIA_FIX]), BUDGET)
    assert row.off.model.flag_overrides == {}
    assert (row.with_it.trace.variant, row.with_it.trace.flags) == ("fenced", {"amnesia": True})


def test_a_flag_with_settings_and_a_deadlock():
    named = "kwalk.model.examples.blocking_queue:BLOCKING_QUEUE"
    trials = (Trial(named, ("buffer_fills",)), Trial(BLOCKING_QUEUE, ("somebody_runs",)))
    fix = Fix(flag=WAIT_SETS, off="one", on="two", closes="The right thread is woken.", trials=trials)
    row, other = audit(cells_of([fix]), BUDGET)
    assert (row.without.text, row.without.prop) == ("shortest trace of 7 steps to a deadlock", "")
    assert (other.without.text, other.judgement) == ("shortest trace of 7 steps to somebody_runs", Judgement.CLOSES)
    assert row.judgement is Judgement.CLOSES


def test_what_should_be_reachable_and_is_not_is_a_violation_without_a_trace(journal):
    trial = Trial(STAIRS, ("cellar_fills",), bounds={"walkers": 1, "floors": 1})
    (row,) = audit(cells_of([evolve(JUMP_FIX, trials=(trial,))]), BUDGET)
    assert row.with_it.trace is None
    assert row.with_it.text == "cellar_fills is never reached (2 states, depth 1)"
    assert row.judgement is Judgement.WORSE
    for _ in range(2):
        audit(cells_of([evolve(JUMP_FIX, trials=(trial,))]), BUDGET, journal=journal)
        assert lines_of(journal) == 2


def test_cells_that_are_the_same_search_are_searched_once(journal):
    audit(cells_of([FENCING_FIX, CHECK_FIX]), BUDGET, journal=journal)
    assert lines_of(journal) == 7  # eight cells, and two of them are the bare variant


def test_progress_counts_cells_and_knows_the_end_once_a_cell_is_done():
    reports = []
    audit(cells_of([CHECK_FIX]), BUDGET, report=reports.append)
    assert (reports[0].done, reports[0].total, reports[0].left) == (0, 2, None)
    assert reports[0].note == "check never in fenced-leases"
    assert reports[-1].done == 1 and reports[-1].left > 0


# Time that is not enough.


def test_where_exhaustive_search_does_not_finish_walks_sample(monkeypatch):
    monkeypatch.setattr(audit_cells, "WALKS", 20)
    (row,) = audit(cells_of([JUMP_FIX]), AuditOptions(seconds=0.01))
    assert row.without.status is CellStatus.VIOLATED and row.without.trace.length >= 1
    assert row.with_it == CellOutcome(CellStatus.SAMPLED, steps=20 * 200, bounds_hit=(), seconds=0.01)
    assert row.judgement is Judgement.CLOSES_AS_SAMPLED
    assert not row.is_decided


@pytest.mark.slow
def test_a_trace_of_a_walk_is_not_called_the_shortest_unless_shrinking_has_shown_that(monkeypatch):
    monkeypatch.setattr(audit_cells, "exhaust", lambda model, **_: walk(model, walks=1, depth=1, properties=()))
    rows = audit(cells_of([evolve(FENCING_FIX, trials=FENCING_FIX.trials[:1])]), BUDGET)
    assert rows[0].without.text == "shortest trace of 5 steps to writes_go_forward"
    assert rows[0].with_it.status is CellStatus.SAMPLED
    monkeypatch.setattr(audit_cells, "minimize_findings", lambda model, verdict: verdict)
    rows = audit(cells_of([evolve(FENCING_FIX, trials=FENCING_FIX.trials[:1])]), BUDGET)
    assert re.fullmatch(r"trace of \d+ steps to writes_go_forward", rows[0].without.text)


def test_a_proof_is_tried_if_it_is_asked_for():
    fix = Fix(flag=LOCK, closes="Nothing is lost.", trials=(Trial(LOST_UPDATE, ("counts_every_increment",)),))
    (row,) = audit(cells_of([fix]), AuditOptions(prove=True))
    assert row.with_it.status in (CellStatus.PROVED, CellStatus.EXHAUSTIVE)
    (jump,) = audit(cells_of([JUMP_FIX]), AuditOptions(seconds=0.01, prove=True))
    assert jump.with_it.text == "proved"
    assert jump.judgement is Judgement.CLOSES


@pytest.mark.parametrize(
    ("off", "on", "judgement"),
    [
        (BROKEN, HELD, Judgement.CLOSES),
        (BROKEN, CellOutcome(CellStatus.PROVED), Judgement.CLOSES),
        (BROKEN, SAMPLED, Judgement.CLOSES_AS_SAMPLED),
        (BROKEN, BROKEN, Judgement.HOLE),
        (HELD, BROKEN, Judgement.WORSE),
        (HELD, CellOutcome(CellStatus.PROVED), Judgement.NO_DIFFERENCE),
        (SAMPLED, HELD, Judgement.UNDECIDED),
        (HELD, SAMPLED, Judgement.UNDECIDED),
        (SAMPLED, BROKEN, Judgement.UNDECIDED),
        (BROKEN, UNKNOWN, Judgement.UNDECIDED),
        (UNKNOWN, UNKNOWN, Judgement.UNDECIDED),
    ],
)
def test_two_outcomes_make_a_judgement(off, on, judgement):
    assert judge(off, on) is judgement


# Audits that are cut short.


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupted_audit_continues_where_it_was(workers, journal, monkeypatch):
    append = Journal.append

    def interrupted(to, outcome):
        append(to, outcome)
        if lines_of(to) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "append", interrupted)
        first = audit(cells_of(FIXES), BUDGET, journal=journal, workers=workers)
    assert sum(not row.is_decided for row in first) >= 2
    assert CellOutcome(CellStatus.UNDECIDED, why="interrupted") in [row.with_it for row in first]
    again = audit(cells_of(FIXES), BUDGET, journal=journal, workers=workers)
    assert table(again) == TABLE
    assert lines_of(journal) == 9


def test_what_was_kept_of_another_model_or_with_less_time_is_not_taken_over(monkeypatch, journal):
    monkeypatch.setattr(audit_cells, "WALKS", 20)
    larger = evolve(JUMP_FIX, trials=(evolve(JUMP_FIX.trials[0], bounds={"floors": 90}),))
    for fix, seconds, lines in (
        (JUMP_FIX, 0.01, 2),
        (JUMP_FIX, 0.01, 2),
        (JUMP_FIX, 0.02, 3),  # only the sampled cell has something to gain
        (larger, 0.01, 5),
    ):
        audit(cells_of([fix]), AuditOptions(seconds=seconds), journal=journal)
        assert lines_of(journal) == lines


def test_a_kept_trace_that_plain_python_does_not_confirm_is_searched_again(journal):
    audit(cells_of([CHECK_FIX]), BUDGET, journal=journal)
    for one in list(journal.read()):
        journal.append(evolve(one, trace=evolve(one.trace, actions=(*one.trace.actions[:-1], "expire()"))))
    rows = audit(cells_of([CHECK_FIX]), BUDGET, journal=journal)
    assert lines_of(journal) == 6 and table(rows) == TABLE[3:4]


def test_a_worker_that_dies_is_reported_and_what_was_finished_is_kept(monkeypatch):
    def die(cell, options):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr("kwalk.search.analyses.audit.audit.examine", die)
    with pytest.raises(KwalkError, match=r"in fenced-leases: its process ended with code -9"):
        audit(cells_of(FIXES), BUDGET, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_action_that_leaves_its_domain_ends_the_audit_and_names_the_cell(workers):
    fix = evolve(JUMP_FIX, trials=(Trial("tests.search.stairs:BROKEN"), Trial("tests.search.stairs:STAIRS")))
    with pytest.raises(KwalkError, match=r"^jump on in broken-stairs: leap\(\) leaves its domain"):
        audit(cells_of([fix])[:1], BUDGET, workers=workers)


# What people write wrongly.


@pytest.mark.parametrize(
    ("trial", "why"),
    [
        (Trial("kwalk.model.examples.die_hard:DIE_HARD"), "No flag named 'fencing'. There is none."),
        (Trial("tests.search.stairs:STAIR"), "Did you mean 'STAIRS'?"),
        (Trial(SCENARIO, ("writes_go_back",)), "Did you mean 'writes_go_forward'?"),
        (Trial(SCENARIO, variant="fence"), "Did you mean 'fenced'?"),
        (Trial(SCENARIO, bounds={"lease": 1}), "Did you mean 'leases'?"),
        (Trial(SCENARIO, flags={"amnesia": "yes"}), "Flag 'amnesia' cannot be 'yes'"),
    ],
)
def test_a_trial_that_names_what_does_not_exist_is_refused(trial, why):
    with pytest.raises(UsageError) as caught:
        cells_of([evolve(FENCING_FIX, trials=(trial,))])
    assert why in str(caught.value) and str(caught.value).startswith("Fix 'fencing', trial in ")


def test_a_scenario_in_which_nothing_is_tried_is_refused():
    with pytest.raises(UsageError, match=r"No scenario in which these fixes are tried named 'leases'\. Did you mean"):
        cells_of(FIXES, "leases")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Trial(3), "A trial: `scenario` must be a Scenario, or a name (got 3)."),
        (lambda: Trial("x", "name"), "`properties` must be a tuple of names (got 'name')"),
        (lambda: Trial("x", bounds=3), "`bounds` must be a mapping"),
        (lambda: Fix(flag="lock", closes="…", trials=(Trial("x"),)), "Fix '': `flag` must be a Flag (got 'lock')."),
        (lambda: Fix(flag=LOCK, closes="", trials=(Trial("x"),)), "Fix 'lock': `closes` must be a sentence"),
        (lambda: Fix(flag=LOCK, closes="…", trials=()), "`trials` must be a tuple of one or more Trials"),
        (lambda: Fix(flag=LOCK, closes="…", trials=Trial("x")), "`trials` must be a tuple of one or more Trials"),
        (lambda: Fix(flag=LOCK, closes="…", trials=(Trial("x"),), on=False), "`on` must be another setting than `off`"),
        (lambda: Fix(flag=WAIT_SETS, closes="…", trials=(Trial("x"),)), "one of the flag's settings, one, two"),
        (lambda: Fix(flag=LOCK, closes="…", trials=(Trial("x", flags={"lock": True}),)), "sets its own flag, 'lock'"),
    ],
)
def test_a_fix_that_makes_no_sense_is_refused_where_it_is_declared(make, why):
    with pytest.raises(UsageError) as caught:
        make()
    assert why in str(caught.value)
