"""Words on the command line that name nothing, or make no sense."""

from __future__ import annotations

import pytest

from kwalk import assert_holds
from kwalk.model.examples.lost_update import LOST_UPDATE as SCENARIO
from kwalk.model.language import Model, UsageError
from tests.bad_input.refusals import DIE_HARD, LOST_UPDATE, assert_refused, kwalk, left_in, process

__all__ = ["kwalk", "process"]
CORE = "kwalk.model.examples.reference:REFERENCE"

NAMES = {
    "a scenario": (("exhaust", "die-hrd"), ["Did you mean 'die-hard'?", "Allowed: ", "package.module:NAME"]),
    "a path as a scenario": (("exhaust", "../x"), ["No scenario named '../x'"]),
    "an escape as a scenario": (("walk", "\x1b[31mx"), [r"'\x1b[31mx'"]),
    "no scenario": (("exhaust", ""), ["Name a scenario"]),
    "a module": (("exhaust", "nowhere:S"), ["Cannot import 'nowhere'", "Run kwalk in the folder that has it"]),
    "no module": (("exhaust", ":S"), ["':S' names no scenario", "package.module:NAME"]),
    "a file": (("exhaust", "my_model.py:S"), ["names a file", "Did you mean 'my_model:S'?"]),
    "a file in a folder": (("walk", "here/my_model.py:S"), ["Did you mean 'here.my_model:S'?"]),
    "a file of this folder": (("exhaust", "./my_model.py:S"), ["Did you mean 'my_model:S'?"]),
    "a file without a name": (("exhaust", "my_model.py"), ["Did you mean 'my_model:NAME'?"]),
    "a file of fixes": (("audit", "my_model.py:FIXES"), ["a fix is named by its module", "'my_model:FIXES'"]),
    "a relative module": (("exhaust", "..x:S"), ["'..x:S' names no scenario"]),
    "a name in a module": (("exhaust", f"{DIE_HARD}ER"), ["Did you mean 'DIE_HARD'?"]),
    "a thing that is no scenario": (("exhaust", "json:dumps"), ["is no Scenario but of type 'function'"]),
    "a variant": (("exhaust", LOST_UPDATE, "--variant", "lok"), ["Did you mean 'lock'?", "Allowed: lock, no-lock"]),
    "a variant where there is one": (("exhaust", DIE_HARD, "--variant", "2"), ["No variant named '2'", "default"]),
    "an empty variant": (("exhaust", LOST_UPDATE, "--variant", ""), ["argument --variant", "empty"]),
    "an invariant": (("exhaust", LOST_UPDATE, "--invariant", "lost"), ["No property named 'lost'", "Allowed: "]),
    "a bound": (("exhaust", LOST_UPDATE, "--bound", "thread=2"), ["No bound named 'thread'", "'threads'"]),
    "an option": (("exhaust", DIE_HARD, "--fast"), ["unrecognized arguments: --fast", "`kwalk exhaust --help`"]),
    "an option with a typing error": (("exhaust", DIE_HARD, "--second", "3"), ["Did you mean --seconds?"]),
    "a command": (("expolre",), ["No command named 'expolre'. Did you mean explore?"]),
    "an old command": (("inspekt",), ["No command named 'inspekt'. Did you mean diagnose?"]),
    "a snapshot for a scenario that reads none": (("explore", DIE_HARD, "--from", "x"), ["does not read snapshots"]),
}


OWN_MODEL = f"from {DIE_HARD.partition(':')[0]} import DIE_HARD as ONE\n"


def test_the_name_of_a_module_here_is_that_of_its_only_scenario(process, tmp_path):
    (tmp_path / "own.py").write_text(OWN_MODEL)
    result = process("exhaust", "own", "--json")
    assert result.code == 12
    assert "exhaust own:ONE" in result.out


def test_a_module_of_two_scenarios_is_refused_with_their_names(process, tmp_path):
    (tmp_path / "own.py").write_text(OWN_MODEL + 'TWO = ONE.varied(name="two")\n')
    assert_refused(process("exhaust", "own"), "has the scenarios ONE, TWO: name one, as in `own:ONE`")


def test_the_name_of_an_installed_scenario_has_precedence_over_a_module(process, tmp_path):
    (tmp_path / "voting.py").write_text("raise OSError")
    assert_refused(process("exhaust", "voting", "--property", "x"), "No property named 'x'")


@pytest.mark.parametrize(("words", "expected"), NAMES.values(), ids=NAMES)
def test_an_unknown_name_is_refused_with_what_is_known(kwalk, tmp_path, words, expected):
    assert_refused(kwalk(*words), *expected)
    assert left_in(tmp_path) == set()


SIZES = {
    "brokers=0": "Bound 'brokers' must be 1 or more (got 0)",
    "brokers=-1": "'brokers=-1' is not NAME=N with N a whole number in 0 … 2,147,483,648",
    "brokers=two": "is not NAME=N",
    "brokers=1.5": "is not NAME=N",
    "brokers": "is not NAME=N",
    "brokers=": "is not NAME=N",
    "=3": "is not NAME=N",
    "brokers=9999999999": "in 0 … 2,147,483,648",
    "brokers=2147483648": "Give smaller bounds",
    "failovers=-1": "is not NAME=N",
}


@pytest.mark.parametrize(("size", "expected"), SIZES.items())
def test_a_size_that_a_domain_cannot_have_is_refused(kwalk, size, expected):
    assert_refused(kwalk("exhaust", CORE, "--bound", size), expected)


def test_a_budget_of_faults_may_be_nought(kwalk):
    found = kwalk("exhaust", CORE, "--bound", "failovers=0", "--keep-going", "--json").object
    assert found["bounds"]["failovers"] == 0 and found["distinct_states"] > 1
    assert found["action_counts"]["controller_fails()"]["taken"] == 0


@pytest.mark.parametrize(
    "option, values, expected",
    [
        ("--seconds", ["0", "-1", "nan", "inf", "1e400", "soon", ""], "is not a number of seconds above 0"),
        ("--workers", ["0", "-1", "1.5", "all", "1000000", ""], "is not a whole number in 1 … 256"),
        ("--seed", ["-1", "0x7", "1e3", "9223372036854775808", "¹", ""], "is not a whole number in 0 … "),
        ("--walks", ["0", "many"], "is not a whole number in 1"),
        ("--depth", ["0", "-3"], "is not a whole number in 1"),
        ("--out", [""], "the value is empty"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_what_would(kwalk, option, values, expected):
    for value in values:
        assert_refused(kwalk("walk", DIE_HARD, f"{option}={value}"), f"argument {option}", expected, "--help")


def test_a_depth_that_needs_too_much_memory_is_refused(kwalk):
    assert_refused(kwalk("walk", DIE_HARD, "--depth=99999999999"), "Walks of 99,999,999,999 steps are too long")


@pytest.mark.parametrize("memory", ["0", "-1", "lots", "1e30", "inf"])
def test_an_amount_of_memory_that_makes_no_sense_is_refused(kwalk, memory):
    assert_refused(kwalk("exhaust", DIE_HARD, f"--memory={memory}"), "is not a number of GiB above 0")


def test_the_command_itself_refuses_in_the_same_way(process, tmp_path):
    assert_refused(process("exhaust", "die-hrd"), "Did you mean 'die-hard'?")
    assert_refused(process("walk", "die-hard", "--seconds", "soon"), "'soon'")
    assert left_in(tmp_path) == set()


@pytest.mark.parametrize("size", [0, -1, "two", 1.0, True, 10**12])
def test_a_size_that_makes_no_sense_is_refused_in_a_call_too(size):
    with pytest.raises(UsageError, match="Bound 'threads'"):
        Model(SCENARIO, bounds={"threads": size})
    with pytest.raises(UsageError, match="Bound 'threads'"):
        assert_holds(SCENARIO, bounds={"threads": size})


@pytest.mark.parametrize(
    "wrong, expected",
    [
        ({"scenario": "lost-updat"}, "Did you mean 'lost-update'"),
        ({"scenario": 3}, "A scenario is a Scenario, or the name of one"),
        ({"prop": "nothing_is_lst"}, "Did you mean 'nothing_is_lost'"),
        ({"variant": "loc"}, "Did you mean 'lock'"),
        ({"bounds": {"thread": 2}}, "No bound named 'thread'"),
        ({"engine": "exhast"}, "Did you mean 'exhaust'"),
        ({"seconds": -1}, "must be a number of seconds above 0"),
        ({"seconds": "soon"}, "must be a number of seconds above 0"),
    ],
)
def test_an_assertion_about_nothing_is_an_error_and_no_failure(wrong, expected):
    with pytest.raises(UsageError, match=expected):
        assert_holds(**({"scenario": SCENARIO} | wrong))
