"""`kwalk mutate`: what it prints, writes and keeps, how it ends, and explanations of survivors."""

from __future__ import annotations

import pytest

from kwalk.reports.handlers.mutate import explanations_in
from kwalk.search.analyses.mutation import mutate as working
from tests.structure.rooms import ROOT

BAKERY = "tests.mutation.bakery:SCENARIO"
EXPLAINED = ROOT / "model" / "examples" / "mutants.toml"
SCRIPTS = (ROOT / "docs/reference/scripts.md").read_text("utf-8")
EXAMPLES = {"two-phase-commit": (42, 4), "ticket-lock": (17, 3)}
"""How many mutants an example has, and how many of them survive and are explained."""
ENTER = "ticket_lock.enter:dropped-guard:05de4f9c"


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_mutant_of_an_example_is_noticed_or_explained(kwalk, name):
    ran = kwalk("mutate", name, "--explained", EXPLAINED, "--json")
    total, explained = EXAMPLES[name]
    assert ran.code == 0
    assert (len(ran.object["mutants"]), ran.object["statuses"]["survived"]) == (total, explained)
    assert (ran.object["open"], ran.object["stale"], ran.object["statuses"]["undecided"]) == ([], [], 0)


def test_the_examples_have_no_other_explanations():
    assert len(explanations_in(str(EXPLAINED))) == sum(explained for _, explained in EXAMPLES.values())


def test_survivors_fail_the_command_and_are_shown_with_their_lines_and_the_score(kwalk):
    ran = kwalk("mutate", "ticket-lock")
    assert ran.code == 12
    assert "baseline: ticket-lock, default: 89 states, 7 properties that hold\n" in ran.out
    assert "\n  - lock.machine.called += 1\n  + pass\n  survived; it differs first after 2 steps" in ran.out
    assert "17 mutants; 14 of 17 that can be noticed are noticed; 0 of 3 that are alive are explained." in ran.out
    assert ran.out.endswith("Reproduce: kwalk mutate ticket-lock\n")


def test_a_run_takes_over_what_an_earlier_one_kept_unless_it_is_fresh(kwalk, monkeypatch, tmp_path):
    first = kwalk("mutate", "ticket-lock", "--json").object
    assert (tmp_path / "kwalk-out" / "mutate.jsonl").is_file()

    def no_more(*_, **__):
        raise AssertionError("looked at again")

    monkeypatch.setattr(working, "run_in_processes", no_more)
    assert kwalk("mutate", "ticket-lock", "--json").object == first
    with pytest.raises(AssertionError, match="looked at again"):
        kwalk("mutate", "ticket-lock", "--fresh")


def test_mutants_are_listed_without_looking_at_any(kwalk, tmp_path):
    ran = kwalk("mutate", BAKERY, "--list", "--operator", "off-by-one", "--function", "bake")
    assert ran.code == 0
    assert ran.out.count("bakery.bake:off-by-one:") == 2 and ran.out.endswith("\n2 mutants\n")
    assert not (tmp_path / "kwalk-out").exists()


def test_one_mutant_is_shown_with_the_way_to_what_kills_it(kwalk):
    ran = kwalk("mutate", "ticket-lock", "--operator", "dropped-guard", "--list", "--json")
    (name,) = [m["id"] for m in ran.object["mutants"] if m["function"] == "leave"]
    ran = kwalk("mutate", "ticket-lock", "--show", name)
    assert ran.code == 0
    assert "  - require(visitor.inside)\n  + pass\n" in ran.out
    assert "\nVIOLATED  first_come_first_served(client 1)  in 4 steps, the shortest (exhaust)\n" in ran.out
    assert ran.out.endswith(f"Reproduce: kwalk mutate ticket-lock --show {name}\n")


def test_a_survivor_is_shown_with_the_way_to_the_first_state_that_distinguishes_it(kwalk):
    ran = kwalk("mutate", "ticket-lock", "--show", ENTER.rpartition(":")[2])
    assert ran.code == 12
    assert "survived; it differs first after 2 steps of ticket-lock" in ran.out and "takes a ticket" in ran.out


def test_a_mutant_that_does_not_exist_is_refused(kwalk):
    ran = kwalk("mutate", "ticket-lock", "--show", "unknown")
    assert ran.code == 2 and "'unknown'" in ran.err and "--list" in ran.err


def test_a_stale_explanation_fails_the_command(kwalk, tmp_path):
    text = EXPLAINED.read_text("utf-8").replace(ENTER, f'{ENTER}", "ticket_lock.leave:dropped-effect:00000000')
    (tmp_path / "why.toml").write_text(text)
    ran = kwalk("mutate", "ticket-lock", "--explained", "why.toml")
    assert ran.code == 12
    assert "ticket_lock.leave:dropped-effect:00000000 is explained in why.toml, but does not survive" in ran.out


@pytest.mark.parametrize(
    "text", ["[[survivors]]\nreason = 'x'\n", "[[survivors", "[[survivors]]\nmutants = ['a', 'a']\nreason = 'x'\n"]
)
def test_a_file_of_explanations_that_explains_nothing_is_refused(kwalk, tmp_path, text):
    (tmp_path / "why.toml").write_text(text)
    ran = kwalk("mutate", "ticket-lock", "--explained", "why.toml")
    assert ran.code == 2 and "[[survivors]]" in ran.err


def test_a_sample_says_that_it_is_one(kwalk):
    words = ("mutate", "ticket-lock", "--sample", "5", "--seed", "3")
    ran = kwalk(*words, "--json")
    assert len(ran.object["mutants"]) == 5
    assert (ran.object["total"], ran.object["seed"]) == (17, 3)
    assert ran.object["command"] == "kwalk mutate ticket-lock --sample 5 --seed 3"
    assert "A random sample of 5 of 17 mutants (seed 3)." in kwalk(*words).out


def test_a_document_is_the_same_for_the_same_outcomes(kwalk, tmp_path):
    words = ("mutate", "ticket-lock", "--explained", EXPLAINED, "--markdown", "mutants.md", "--html")
    texts = []
    for others in (("--workers", "2"), ("--fresh", "--out", "other")):
        assert kwalk(*words, *others).code == 0
        texts.append((tmp_path / "mutants.md").read_text("utf-8"))
    assert texts[0] == texts[1]
    text = texts[0]
    assert "| all | 10 | 0 | 4 | 0 | 0 | 0 | 3 | 0 | 0 | 14 of 17 |" in text
    assert f"* `{ENTER}` (model/examples/ticket_lock.py:" in text
    assert "### The properties are about safety" in text


def test_every_field_of_the_json_object_is_named_in_the_reference(kwalk):
    found = kwalk("mutate", "ticket-lock", "--sample", "2", "--json").object
    assert found["baselines"][0]["compared"]["states"] > 0
    fields = {*found, *found["mutants"][0], *found["baselines"][0]}
    assert [field for field in fields if f"`{field}`" not in SCRIPTS] == []


def test_trials_have_bounds_of_their_own(kwalk, tmp_path, monkeypatch):
    (tmp_path / "my_trials.py").write_text(
        "from kwalk.model.language import Trial\nTRIALS = (Trial('ticket-lock', bounds={'clients': 2}),)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (baseline,) = kwalk("mutate", "my_trials:TRIALS", "--sample", "1", "--json").object["baselines"]
    assert baseline["bounds"]["clients"] == 2
    ran = kwalk("mutate", "my_trials:TRIALS", "--bound", "clients=3")
    assert ran.code == 2 and "their own variants" in ran.err


def test_a_baseline_that_is_too_large_is_refused(kwalk, monkeypatch):
    monkeypatch.setattr("kwalk.search.analyses.mutation.baseline.SECONDS", 1e-9)
    monkeypatch.setattr("kwalk.search.exhaustive.explorer.MIN_PACE", 1)
    ran = kwalk("mutate", "ewd840", "--bound", "nodes=4")
    assert ran.code == 2 and "Give smaller bounds" in ran.err
