"""`kwalk prove PROOF`: proofs that are whole are confirmed, damaged ones are refused with a step that fails."""

import json
from contextlib import redirect_stdout
from io import StringIO

import pytest

from kwalk.reports.command_line import main

CONFIRMED, WRONG_USE, REFUSED = 0, 2, 12


@pytest.fixture(scope="module")
def proof(tmp_path_factory):
    """What `kwalk prove` prints of three properties of two-phase commit."""
    folder = tmp_path_factory.mktemp("proof")
    with redirect_stdout(StringIO()) as printed:
        main(["prove", "two-phase-commit", "--property", "decisions_last", "--json", "--out", str(folder)])
    return json.loads(printed.getvalue())


@pytest.fixture
def check(tmp_path, capsys):
    """Save a proof and check it; return the exit code and what was printed."""

    def run(page, *options):
        path = tmp_path / "proof.json"
        path.write_text(page if isinstance(page, str) else json.dumps(page))
        code = main(["prove", str(path), *options])
        out = capsys.readouterr()
        return code, " ".join(out.out.split()) + out.err

    return run


def changed(page, change):
    """A copy in which the first proof's certificate is changed."""
    copy = json.loads(json.dumps(page))
    change(copy["proofs"][0]["certificate"])
    return copy


def test_a_proof_is_confirmed_without_z3(proof, check, monkeypatch):
    monkeypatch.setattr("z3.Solver.check", lambda *_: pytest.fail("Z3 was asked"))
    code, out = check(proof)
    assert code == CONFIRMED
    assert out.startswith("CONFIRMED 3 properties of two-phase-commit") and out.count(" confirmed") == 3


def test_a_certificate_without_one_of_its_invariants_is_refused_with_the_step_that_fails(proof, check):
    for missing in range(len(proof["proofs"][0]["certificate"])):
        code, out = check(changed(proof, lambda facts, missing=missing: facts.pop(missing)))
        assert code == REFUSED
        assert "leads from a state in which all invariants hold to one in which" in out


def test_an_invariant_that_says_more_than_is_true_is_refused(proof, check):
    def widen(facts):
        facts.append([["rm[0]", 0, 0]])  # it is never working

    code, out = check(changed(proof, widen))
    assert code == REFUSED and "fails in an initial state" in out


def test_the_object_names_the_gap(proof, check):
    code, out = check(changed(proof, lambda facts: facts.pop()), "--json")
    found = json.loads(out)
    assert (code, found["verdict"], found["exit_code"]) == (REFUSED, "refused", REFUSED)
    assert [c["gap"] is None for c in found["certificates"]] == [False, True, True]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda page: page.pop("bounds"), "`bounds` is missing"),
        (lambda page: page["bounds"].update(rms="3"), "`bounds` must be whole numbers"),
        (lambda page: page["flags"].update(x=1), "`flags` must be"),
        (lambda page: page["proofs"].append(1), "`proofs` must have objects"),
        (lambda page: page["proofs"][0].update(prop="x"), "The scenario has no property 'x'"),
        (lambda page: page["proofs"][0].update(certificate=[[1]]), "a certificate must be a list"),
        (lambda page: page["proofs"][0].update(certificate=[[["rm", 0, 0]]]), "names 'rm', and the state"),
        (lambda page: page["proofs"][0].update(certificate=[[["rm[0]", 0, 99]]]), "has the interval 0 … 99"),
        (lambda page: [proof.update(certificate=None) for proof in page["proofs"]], "has no certificate"),
        (lambda page: page.update(scenario="x"), "x"),
    ],
)
def test_what_is_no_proof_is_one_error(proof, check, change, text):
    page = json.loads(json.dumps(proof))
    change(page)
    code, out = check(page)
    assert code == WRONG_USE and text in out and out.count("\n") == 1


def test_a_file_that_is_not_json_is_one_error(check):
    assert check("{")[0] == WRONG_USE
