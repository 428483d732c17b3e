"""What an assertion about a scenario says when it fails, and that its trace replays."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from attrs import evolve

from kwalk import Fails, assert_finds, assert_holds
from kwalk.model.examples.alternating_bit import ALTERNATING_BIT
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.lost_update import LOST_UPDATE, counts_every_increment, read
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model, UsageError
from kwalk.reports.assertion_options import AssertionOptions
from kwalk.reports.assertion_searches import SharedSearches
from kwalk.reports.command_line import main
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.analyses.hypothesis.machine import machine_for
from kwalk.search.results.fairness import UncheckedProperties
from kwalk.search.results.verdict import Answer, Strength
from tests.liveness.classics import LOSSY
from tests.minimize.mail import MAIL

SHALLOW = {"engine": "prove", "depth": 2, "induction": 0, "support": False}
ENGINES = ("exhaust", "walk", "hypothesis", "prove")

ONLY_READS = evolve(LOST_UPDATE, actions=(read,))
"""Threads that never write: the counter stays right, and an induction shows it."""


@pytest.fixture(autouse=True)
def options(tmp_path):
    """Options of a run of our own, which saves its traces aside."""
    options = AssertionOptions(out=tmp_path / "out", profile="ci")
    with options.active():
        yield options


def failure(assertion, *args, **wanted):
    """The error of an assertion that must fail."""
    with pytest.raises(Fails) as caught:
        assertion(*args, **wanted)
    return caught.value


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_fails_with_the_minimal_trace_in_words_and_the_file_that_replays_it(engine, capsys):
    message = str(failure(assert_holds, LOST_UPDATE, counts_every_increment, engine=engine, variant="no-lock"))
    first, *_, last = message.splitlines()
    assert first.startswith("Read: ") and first.endswith(".html")
    assert last.startswith("VIOLATED  counts_every_increment()  in 4 steps")
    assert re.search(r"1 +thread \d +reads the counter", message)
    path = re.search(r"Reproduce: kwalk replay (\S+)", message)[1]
    assert read_trace(path).length == 4
    assert main(["replay", path]) == Answer.VIOLATED.exit_code
    assert "counts_every_increment" in capsys.readouterr().out


@pytest.mark.parametrize("engine", ENGINES)
def test_what_holds_passes_and_the_verdict_says_how_sure_that_is(engine):
    verdict = assert_holds(ONLY_READS, "counts_every_increment", engine=engine)
    assert verdict.answer is Answer.HOLDS
    assert verdict.strength == {"exhaust": Strength.EXHAUSTIVE, "prove": Strength.PROVED}.get(engine, Strength.SAMPLED)


def test_without_an_invariant_all_of_them_are_meant():
    verdict = assert_holds("two-phase-commit")
    assert set(verdict.properties) == {prop.title for prop in TWO_PHASE_COMMIT.properties}
    assert "refines_transaction_commit" in verdict.properties


def test_a_deadlock_can_be_asked_about_alone_and_other_invariants_do_not_mind_it():
    message = str(failure(assert_holds, BLOCKING_QUEUE, "deadlock"))
    assert message.splitlines()[-1].startswith("DEADLOCK")
    assert "in 7 steps" in message
    assert assert_holds(BLOCKING_QUEUE, "buffer_fills").answer is Answer.HOLDS
    assert_holds(BLOCKING_QUEUE, "deadlock", variant="two-wait-sets")


def test_what_should_be_reachable_and_is_not_fails_without_a_trace():
    message = str(failure(assert_holds, MAIL, "all_houses_wait", bounds={"stamps": 1}))
    assert "all_houses_wait() should be reachable" in message
    assert "Reproduce" not in message


def test_a_search_without_an_answer_fails_unless_that_is_declared_ok():
    message = str(failure(assert_holds, REFERENCE, "leaders_when_settled", **SHALLOW))
    assert message.startswith("UNDECIDED")
    assert message.endswith("Give it more time, or smaller bounds.")
    verdict = assert_holds(REFERENCE, "leaders_when_settled", **SHALLOW, undecided_ok=True)
    assert verdict.answer is Answer.UNDECIDED


def test_the_options_of_the_run_hold_where_a_test_says_nothing(options):
    with replace(options, variant="lock", bounds={"threads": 3, "of another scenario": 9}).active():
        assert assert_holds(LOST_UPDATE).bounds == {"threads": 3}
        assert "4 steps" in str(failure(assert_holds, LOST_UPDATE, variant="no-lock", bounds={"threads": 2}))


def test_a_failure_has_its_claim_and_files_for_reports_of_the_run(options):
    found = failure(assert_holds, LOST_UPDATE, "nothing_is_lost").kwalk_failure
    assert found.subject == "nothing_is_lost, lost-update"
    assert found.claim.startswith("BAD STABLE STATE  nothing_is_lost()")
    assert all(Path(file).is_file() for file in (found.page, found.trace))
    assert found.text.splitlines()[0] == f"Read: {found.page}" and found.text.splitlines()[-1] == found.claim


@pytest.mark.parametrize("on", [True, False])
def test_observations_are_in_the_files_of_hypothesis_where_they_are_asked_for(monkeypatch, tmp_path, on):
    monkeypatch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("HYPOTHESIS_EXPERIMENTAL_OBSERVABILITY", "1" if on else "")
    assert_holds(LOST_UPDATE, "counts_every_increment", variant="lock")
    failure(assert_holds, LOST_UPDATE, "counts_every_increment")
    files = list(tmp_path.glob("observed/*_testcases.jsonl"))
    assert len(files) == on
    seen = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert [one["status"] for one in seen] == ["passed", "failed"] * on
    for one in seen:
        assert one["type"] == "test_case" and one["how_generated"] == "kwalk exhaust" and one["timing"]["search"] >= 0
    if on:
        assert list(seen[1]["arguments"]) == ["1", "2", "3", "4"] and seen[1]["features"]["length"] == 4
        assert Path(seen[1]["metadata"]["trace"]).is_file()


def test_a_scenario_of_a_test_module_is_found_again_by_its_module_and_name(options):
    failure(assert_holds, MAIL, "nothing_is_lost(0)")
    trace = read_trace(next(options.out.glob("*.itf.json")))
    assert trace.scenario == "tests.minimize.mail:MAIL"


def test_where_nothing_can_be_written_the_trace_is_still_shown(options, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with replace(options, out=tmp_path / "file" / "out").active():
        message = str(failure(assert_holds, LOST_UPDATE, "counts_every_increment"))
    assert "reads the counter" in message
    assert "The trace was not saved: Cannot write" in message


@pytest.mark.parametrize(
    ("wanted", "complaint"),
    [
        ({"engine": "exhaustive"}, "No engine named 'exhaustive'. Did you mean 'exhaust'"),
        ({"prop": "nothing_is_last"}, "Did you mean 'nothing_is_lost'"),
        ({"prop": 3}, "A property is a Property, or the name of one (got 3)."),
        ({"variant": "locked"}, "Did you mean 'lock'"),
        ({"bounds": {"thread": 2}}, "Did you mean 'threads'"),
    ],
)
def test_wrong_names_are_refused_with_the_right_ones(wanted, complaint):
    with pytest.raises(UsageError, match=re.escape(complaint)):
        assert_holds(LOST_UPDATE, **wanted)


class TestPinnedCounterexamples:
    """assert_finds keeps known counterexamples: found, of the same length, and their saved traces replay."""

    @pytest.fixture
    def pinned(self, options):
        """The file of a counterexample that a failing assertion saved."""
        failure(assert_holds, LOST_UPDATE, "nothing_is_lost")
        return next(options.out.glob("*.itf.json"))

    def test_one_that_is_found_and_replays_passes(self, pinned):
        verdict = assert_finds(LOST_UPDATE, "nothing_is_lost", length=4, trace=pinned)
        assert verdict.answer is Answer.BAD_STABLE_STATE

    def test_a_healed_one_fails_and_says_what_to_do(self, pinned):
        fixed = evolve(LOST_UPDATE, variants={"no-lock": {"lock": True}})
        message = str(failure(assert_finds, fixed, "nothing_is_lost", length=4, trace=pinned))
        assert message.startswith("Healed: nothing_is_lost has no counterexample any more; one of 4 steps was known.")
        assert f"assert_holds instead and delete {pinned}" in message

    def test_a_lengthened_one_fails_and_shows_the_new_trace(self):
        message = str(failure(assert_finds, REFERENCE, "disk_matches_znode", length=2, trace="old.itf.json"))
        longer = "Lengthened: a counterexample to disk_matches_znode now takes 3 steps, not 2."
        assert message.splitlines()[1] == longer
        assert "set length=3 and save old.itf.json again with --kwalk-pin" in message
        assert "old client  adds a partition" in message

    def test_a_shortened_one_fails_too(self):
        message = str(failure(assert_finds, REFERENCE, "disk_matches_znode", length=4))
        assert message.splitlines()[1].startswith("Shortened")

    def test_one_that_time_did_not_allow_to_find_is_not_called_healed(self):
        wanted = SHALLOW
        message = str(failure(assert_finds, REFERENCE, "leaders_when_settled", length=9, **wanted))
        assert message.startswith("Not found again")

    def test_a_pinned_trace_that_the_model_no_longer_allows_fails(self, pinned):
        text = pinned.read_text()
        first = "read(0)" if '"read(0)"' in text else "read(1)"
        pinned.write_text(text.replace(f'"{first}"', '"write(0)"'))
        message = str(failure(assert_finds, LOST_UPDATE, "nothing_is_lost", length=4, trace=pinned))
        assert "does not replay any more: step 1" in message

    def test_a_pinned_trace_of_another_invariant_or_variant_fails(self, pinned):
        other = str(failure(assert_finds, LOST_UPDATE, "counts_every_increment", length=4, trace=pinned))
        assert "does not show a violation of counts_every_increment" in other
        more = str(failure(assert_finds, LOST_UPDATE, "nothing_is_lost", length=4, trace=pinned, bounds={"threads": 3}))
        assert "was pinned in variant no-lock" in more or "Lengthened" in more

    def test_a_missing_pinned_trace_fails_with_its_name(self, tmp_path):
        missing = tmp_path / "gone.itf.json"
        message = str(failure(assert_finds, LOST_UPDATE, "nothing_is_lost", length=4, trace=missing))
        assert "cannot be replayed" in message
        assert "gone.itf.json" in message

    def test_a_run_that_pins_saves_what_is_found_and_only_at_the_known_length(self, options, tmp_path):
        file = tmp_path / "pins" / "new.itf.json"
        with replace(options, pin=True).active():
            failure(assert_finds, LOST_UPDATE, "nothing_is_lost", length=5, trace=file)
            assert not file.exists()
            assert_finds(LOST_UPDATE, "nothing_is_lost", length=4, trace=file)
        assert_finds(LOST_UPDATE, "nothing_is_lost", length=4, trace=file)
        assert read_trace(file).length == 4


class TestBehaviours:
    """Only exhaust checks properties about behaviours; no other engine passes silently."""

    BOTH = evolve(LOSSY, properties=(*ALTERNATING_BIT.properties, *LOSSY.properties))

    @pytest.mark.parametrize("shared", [False, True])
    @pytest.mark.parametrize("engine", ENGINES)
    def test_one_alone_is_never_passed_by_an_engine_that_does_not_check_it(self, engine, shared):
        searches = SharedSearches() if shared else None
        message = str(failure(assert_holds, self.BOTH, "value_arrives", engine=engine, shared=searches))
        if engine == "exhaust":
            assert message.splitlines()[-1].startswith("VIOLATED  value_arrives()")
        else:
            assert message.startswith("UNDECIDED")
            assert "value_arrives:" in message
            assert message.endswith('Check properties about behaviours with engine="exhaust".')

    @pytest.mark.parametrize("engine", ["walk", "hypothesis"])
    def test_beside_others_that_hold_a_warning_names_it(self, engine):
        with pytest.warns(UncheckedProperties, match="value_arrives: .* does not check properties about behaviours"):
            assert assert_holds(self.BOTH, engine=engine).answer is Answer.HOLDS

    def test_one_that_is_left_undecided_on_purpose_is_named_too(self):
        with pytest.warns(UncheckedProperties, match="value_arrives: a proof does not"):
            assert_holds(LOSSY, engine="prove", undecided_ok=True)

    def test_nothing_is_said_of_what_is_checked(self, recwarn):
        assert_holds(self.BOTH, "arrivals_alternate", engine="walk")
        assert_holds(ONLY_READS, "counts_every_increment")
        assert not [one for one in recwarn if issubclass(one.category, UncheckedProperties)]

    def test_the_state_machine_of_hypothesis_names_it(self):
        with pytest.warns(UncheckedProperties, match="value_arrives: Hypothesis does not"):
            machine_for(Model(LOSSY))


def test_shared_searches_check_what_should_be_reachable():
    bounds = {"stamps": 1}
    message = str(failure(assert_holds, MAIL, "all_houses_wait", bounds=bounds, shared=SharedSearches()))
    assert message.startswith("NOT REACHABLE")
    assert_holds(MAIL, "all_houses_wait", shared=SharedSearches())


def test_the_scenario_given_is_searched_and_not_one_of_the_same_name():
    assert assert_holds(ONLY_READS, "counts_every_increment").distinct_states == 4
    failure(assert_holds, ONLY_READS, "nothing_is_lost")


def test_ctrl_c_in_an_engine_ends_the_test_run(monkeypatch):
    from kwalk.search.base.options import StopReason
    from kwalk.search.exhaustive import search as engine

    real = engine.exhaust

    def interrupted(*given, **keywords):
        return evolve(real(*given, **keywords), stopped=StopReason.INTERRUPT)

    monkeypatch.setattr(engine, "exhaust", interrupted)
    with pytest.raises(KeyboardInterrupt):
        assert_holds(LOST_UPDATE, variant="lock")
