"""The state machine: what it draws, what it prints, and what pytest and Hypothesis make of it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import hypothesis
import pytest
from attrs import evolve
from hypothesis import HealthCheck
from hypothesis.database import InMemoryExampleDatabase
from hypothesis.stateful import run_state_machine_as_test

from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.language import Model, UsageError
from kwalk.search.analyses.hypothesis.machine import Falsified, machine_for
from tests.minimize.mail import MAIL, deliver, post

ROOT = Path(__file__).resolve().parents[2]
PHASES = [hypothesis.Phase.reuse, hypothesis.Phase.generate, hypothesis.Phase.shrink]
COMMON = hypothesis.settings(deadline=None, suppress_health_check=list(HealthCheck), phases=PHASES)
QUICK = hypothesis.settings(COMMON, max_examples=60, stateful_step_count=30, database=None, derandomize=True)


def falsify(machine, settings=QUICK):
    """What Hypothesis says of a machine that must fail."""
    with pytest.raises(Falsified) as caught:
        run_state_machine_as_test(machine, settings=settings)
    return caught.value


def printed(error):
    """The lines of the falsifying example, as Hypothesis adds them to an error."""
    return [line for note in error.__notes__ for line in note.splitlines() if line.startswith("state")]


def test_the_smallest_counterexample_comes_out_in_the_words_of_the_field():
    model = Model(REFERENCE)
    error = falsify(machine_for(model, model.properties_of("disk_matches_znode")))
    assert str(error).splitlines() == [
        "disk_matches_znode() is violated, after 3 steps.",
        "    1 old client: adds a partition   [expand()]",
        "    2 fault: the controller fails   [controller_fails()]",
        "    3 controller: broker 0 becomes controller   [elect(0)]",
    ]


def test_the_printed_example_is_python_that_runs():
    model = Model(REFERENCE)
    machine = machine_for(model, model.properties_of("disk_matches_znode"))
    lines = printed(falsify(machine))
    assert lines[0] == "state = TopicIdCore()"
    assert lines[1] == "state.take('expand()')  # old client: adds a partition"
    with pytest.raises(Falsified, match="disk_matches_znode"):
        exec("\n".join(lines), {"TopicIdCore": machine})


def test_a_step_that_is_not_enabled_cannot_be_taken_by_name():
    with pytest.raises(UsageError, match=r"start\(0\) is not enabled here"):
        machine_for(Model(REFERENCE))().take("start(0)")


def test_the_initial_state_is_drawn_where_there_are_several():
    model = Model(evolve(MAIL, actions=(post, deliver)))  # no dog moves: only one of the two ways to begin is bad
    error = falsify(machine_for(model, model.properties_of("nothing_is_lost(0)")))
    assert error.trace.states[0] == model.initial[1]
    assert error.trace.actions == ("post(0)", "deliver(0)")
    assert "state.begin(1)" in printed(error)
    assert "from initial state 1" in str(error)


def test_disabled_steps_are_never_drawn():
    """Nearly all places of the examples are filled by steps; drawing in vain would leave most of them empty."""
    model = Model(MAIL)
    machine = machine_for(model, model.properties_of("all_houses_wait"))
    run_state_machine_as_test(machine, settings=QUICK)
    assert machine.counters.steps > 0.7 * machine.counters.examples * QUICK.stateful_step_count
    assert machine.counters.witnessed["all_houses_wait()"].actions


def test_bounds_that_were_reached_are_counted_and_no_step_goes_past_them():
    model = Model(MAIL, bounds={"stamps": 1})
    machine = machine_for(model, model.properties_of("all_houses_wait"))
    run_state_machine_as_test(machine, settings=QUICK)
    assert set(machine.counters.bounds_hit) == {"stamps"}
    assert not machine.counters.witnessed


def test_a_stable_bad_state_is_found_only_when_the_system_is_quiescent():
    model = Model(LOST_UPDATE)
    error = falsify(machine_for(model, model.properties_of("nothing_is_lost")))
    assert error.trace.length == 4
    assert model.is_quiescent(error.trace.states[-1])


def test_a_deadlock_fails_the_machine_where_the_scenario_calls_it_an_error():
    error = falsify(machine_for(Model(BLOCKING_QUEUE), properties=()))
    assert str(error).startswith("Deadlock")
    assert error.trace.prop is None
    run_state_machine_as_test(machine_for(Model(BLOCKING_QUEUE), properties=(), deadlocks=False), settings=QUICK)


def test_the_database_shows_a_counterexample_again_at_once():
    model, database = Model(MAIL), InMemoryExampleDatabase()
    settings = hypothesis.settings(QUICK, database=database, derandomize=False)
    first = machine_for(model, model.properties_of("nothing_is_lost(2)"))
    falsify(first, settings)
    second = machine_for(model, model.properties_of("nothing_is_lost(2)"))
    falsify(second, hypothesis.settings(settings, phases=[hypothesis.Phase.reuse]))
    assert second.counters.examples < first.counters.examples / 5


def test_another_variant_or_bound_has_a_database_entry_of_its_own():
    database = InMemoryExampleDatabase()
    settings = hypothesis.settings(QUICK, database=database, derandomize=False)
    falsify(machine_for(Model(LOST_UPDATE)), settings)
    entries = set(database.data)
    falsify(machine_for(Model(LOST_UPDATE)), settings)
    assert set(database.data) == entries
    falsify(machine_for(Model(LOST_UPDATE, bounds={"threads": 3})), settings)
    assert set(database.data) > entries


def test_a_machine_is_a_test_case_that_pytest_collects(tmp_path):
    (tmp_path / "test_mine.py").write_text(
        textwrap.dedent("""
        from kwalk.model.examples.lost_update import LOST_UPDATE
        from kwalk.model.language import Model
        from kwalk.search.analyses.hypothesis.machine import machine_for

        TestUnlocked = machine_for(Model(LOST_UPDATE, "no-lock")).TestCase
        TestLocked = machine_for(Model(LOST_UPDATE, "lock")).TestCase
    """)
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:kwalk", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert "1 failed, 1 passed" in done.stdout
    assert "thread 1: writes its copy plus one" in done.stdout
