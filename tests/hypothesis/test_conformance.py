"""A program beside its model: what is drawn, what counts as a difference, and what Hypothesis makes of it."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Annotated

import hypothesis
import pytest
from hypothesis import HealthCheck
from hypothesis.stateful import run_state_machine_as_test

from kwalk import (
    Actor,
    Bound,
    CallRefused,
    Domain,
    Implementation,
    ImplementationDiffers,
    Model,
    Scenario,
    UsageError,
    action,
    conformance_machine,
    member,
    number,
    require,
    state,
)

QUICK = hypothesis.settings(
    deadline=None,
    suppress_health_check=list(HealthCheck),
    max_examples=60,
    stateful_step_count=30,
    database=None,
    derandomize=True,
    phases=[hypothesis.Phase.generate, hypothesis.Phase.shrink],
)
SIZES = Domain("sizes", "sizes of a purse")
LIMIT = Bound("limit", "coins that the model counts")
OWNER = Actor("owner")


@state
class Purse:
    """Coins, and how many fit."""

    coins: int = number(0, LIMIT)
    size: int = member(SIZES)


@action(by=OWNER, description="puts a coin in")
def put(purse: Purse) -> None:
    """Unless it is full."""
    require(purse.coins < purse.size)
    purse.coins += 1


@action(by=OWNER, description="takes {count} out")
def take(purse: Purse, count: Annotated[int, SIZES]) -> None:
    """As many as there are, at most."""
    require(0 < count <= purse.coins)
    purse.coins -= count


def any_size(purse: Purse, size: Annotated[int, SIZES]) -> None:
    """Any size."""
    purse.size = size


PURSE = Scenario(
    name="purse",
    story="Coins go in and out.",
    state=Purse,
    initial=any_size,
    actions=(put, take),
    properties=(),
    bounds={"sizes": 5, "limit": 3},
)


class Right(Implementation):
    """A purse that does what the model does."""

    attempts = (put, take)
    opened = closed = 0

    def __init__(self):
        type(self).opened += 1
        self.coins = self.size = 0

    def start(self, state):
        self.size = state.size

    def put(self):
        if self.coins == self.size:
            raise CallRefused("full")
        self.coins += 1

    def take(self, count):
        if not 0 < count <= self.coins:
            raise CallRefused("too few")
        self.coins -= count

    def observe(self):
        return self.coins

    def expected(self, state):
        return state.coins

    def close(self):
        type(self).closed += 1


def differs(implementation, kind=ImplementationDiffers):
    """What Hypothesis says of a program that must differ."""
    with pytest.raises(kind) as caught:
        run_state_machine_as_test(conformance_machine(Model(PURSE), implementation), settings=QUICK)
    return caught.value


def test_a_program_that_does_what_the_model_does_passes_and_every_one_is_closed():
    class Counted(Right):
        """Counts its own."""

    run_state_machine_as_test(conformance_machine(Model(PURSE), Counted), settings=QUICK)
    assert Counted.opened == Counted.closed > 60


def test_a_wrong_state_is_found_by_a_shortest_sequence_from_its_initial_state():
    class Forgetful(Right):
        def take(self, count):
            super().take(count)
            self.coins += count == 2

    lines = str(differs(Forgetful)).splitlines()
    assert lines[0] == "The implementation is in another state, after 3 calls."
    assert lines[1] in [f"      from initial state {size}" for size in (2, 3, 4)]
    assert [line.split("[")[-1] for line in lines[2:5]] == ["put()]", "put()]", "take(2)]"]
    assert lines[5:] == ["  model:          0", "  implementation: 1"]


def test_what_the_model_forbids_must_be_refused():
    class Greedy(Right):
        def put(self):
            self.coins += 1

    error = differs(Greedy)
    assert str(error).startswith("The implementation accepts put(), which the model does not allow, after 1 call.")
    assert any("state.attempt('put()')  # must be refused: owner: puts a coin in" in note for note in error.__notes__)


def test_a_refusal_that_has_an_effect_differs():
    class Lossy(Right):
        def take(self, count):
            if count > self.coins > 0:
                self.coins -= 1
            super().take(count)

    lines = str(differs(Lossy)).splitlines()
    assert lines[0] == "The implementation is in another state, after 2 calls."
    assert lines[-3].endswith("must be refused")


def test_only_what_is_named_is_attempted():
    class Greedy(Right):
        attempts = ()

        def put(self):
            self.coins += 1

    run_state_machine_as_test(conformance_machine(Model(PURSE), Greedy), settings=QUICK)


def test_what_only_a_bound_prevents_is_no_attempt():
    class Larger(Right):
        def put(self):
            assert self.coins < 3 or self.size == 3, "the model does not go that far"
            super().put()

    run_state_machine_as_test(conformance_machine(Model(PURSE), Larger), settings=QUICK)


def test_what_the_model_allows_must_not_be_refused():
    class Small(Right):
        def put(self):
            if self.coins == 2:
                raise CallRefused("too heavy")
            super().put()

    message = "The implementation refuses put(), which the model allows (too heavy), after 3 calls."
    assert str(differs(Small)).startswith(message)


def test_an_exception_of_the_program_has_the_calls_that_lead_to_it():
    class Broken(Right):
        def take(self, count):
            if count == 2 == self.coins:
                raise ZeroDivisionError("coins")
            super().take(count)

    error = differs(Broken, ZeroDivisionError)
    assert any(note.startswith("The implementation was called:") and "[take(2)]" in note for note in error.__notes__)


def test_the_printed_example_is_python_that_runs():
    class Forgetful(Right):
        def take(self, count):
            super().take(count)
            self.coins += count == 2

    error = differs(Forgetful)
    lines = [line for note in error.__notes__ for line in note.splitlines() if line.startswith("state")]
    machine = conformance_machine(Model(PURSE), Forgetful)
    with pytest.raises(ImplementationDiffers, match="is in another state, after 3 calls"):
        exec("\n".join(lines), {"Forgetful": machine})


def test_an_adapter_without_a_method_for_an_action_is_refused():
    class Half(Implementation):
        def put(self):
            pass

    with pytest.raises(UsageError, match=r"Half has no method 'take'.*each action of 'purse' \(put, take\)"):
        conformance_machine(Model(PURSE), Half)


def test_an_attempt_that_is_no_action_of_the_model_is_refused():
    class Odd(Right):
        attempts = (any_size,)

    with pytest.raises(UsageError, match=r"Odd.attempts has .* no action of 'purse'. Its actions: put, take"):
        conformance_machine(Model(PURSE), Odd)


FAILING = """
    from kwalk import Model, conformance_machine
    from tests.hypothesis.test_conformance import PURSE, Right

    class Forgetful(Right):
        def take(self, count):
            with open("taken", "a") as log:
                log.write(f"{count} ")
            super().take(count)
            self.coins += count == 2

    TestPurse = conformance_machine(Model(PURSE), Forgetful).TestCase
"""


def run(folder: Path, *options: str) -> tuple[int, list[str]]:
    """Run pytest; return its exit code, and the calls of `take` that it made."""
    (folder / "test_purse.py").write_text(textwrap.dedent(FAILING))
    (folder / "taken").write_text("")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_purse.py", *options]
    root = str(Path(__file__).resolve().parents[2])
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={"PATH": "", "PYTHONPATH": root})
    return ran.returncode, (folder / "taken").read_text().split()


def test_the_example_database_shows_a_failure_first_and_a_seed_repeats_a_run(tmp_path):
    code, searched = run(tmp_path)
    again_code, again = run(tmp_path)
    assert (code, again_code) == (1, 1) and (tmp_path / ".hypothesis").exists()
    assert again[0] == "2" and len(again) < len(searched)
    other, seeded = [], ["--hypothesis-seed=7"]
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        other.append(run(tmp_path / name, *seeded))
    assert other[0] == other[1] and other[0][0] == 1
