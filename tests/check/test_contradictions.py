"""Engines that contradict each other are noticed, whichever of them is wrong, and leave behind what reproduces it."""

from __future__ import annotations

import ctypes
import json
from functools import partial

import pytest
from attrs import evolve

from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import Model
from kwalk.search.analyses import check as checking
from kwalk.search.analyses import hunt as hunting
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.compile.compiler import kernel_for
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.cross_check import Contradiction, check_agreement, conclusions, contradictions
from kwalk.search.results.verdict import Answer, Finding, ProofOutcome, ProofResult, Strength
from kwalk.search.simulation.walk import walk
from tests.queries import check, hunt, prove

MODEL = Model(REFERENCE)
DISK = MODEL.properties_of("disk_matches_znode")
KEY = "disk_matches_znode()"


def forgetful(kernel, forgotten):
    """The kernel, but its list of successors lacks those of some instances."""
    address, number = ctypes.c_void_p, ctypes.c_int64
    kind = ctypes.CFUNCTYPE(number, address, address, address, address, address)
    honest, size = kind(kernel.expand), 8 * kernel.words

    @kind
    def expand(state, row, successors, instances, hits):
        made, kept = honest(state, row, successors, instances, hits), 0
        taken = ctypes.cast(instances, ctypes.POINTER(ctypes.c_uint32))
        for place in range(made):
            if taken[place] not in forgotten:
                taken[kept] = taken[place]
                ctypes.memmove(successors + size * kept, successors + size * place, size)
                kept += 1
        return kept

    return evolve(kernel, expand=ctypes.cast(expand, address).value, faster=None, keep_alive=(kernel, expand))


ELECTIONS = {instance.index for instance in MODEL.instances if instance.action.name == "elect"}


def lying_proof(query, report=None):
    """A proof of whatever is asked."""
    said = prove(Model(LOST_UPDATE, "lock"))
    proofs = tuple(ProofResult(prop.key, ProofOutcome.PROVED, "so they say") for prop in query.properties)
    return evolve(said, scenario=query.model.scenario.name, findings=(), proofs=proofs)


@pytest.mark.parametrize("scenario", [LOST_UPDATE, TWO_PHASE_COMMIT, REFERENCE])
def test_engines_agree_on_the_examples(scenario):
    model = Model(scenario)
    found = check(model, seconds=6, properties=model.properties[:3])
    assert found.engine == "check" and "The engines do not contradict each other." in found.notes
    assert found.answer is not Answer.UNDECIDED


def test_the_shortest_trace_of_the_three_is_the_verdict():
    found = check(MODEL, properties=DISK, seconds=6)
    assert (found.answer, found.counterexample.length) == (Answer.VIOLATED, 3) and found.counterexample.shortest
    assert [note.split(":")[0] for note in found.notes if not note.startswith("  ")][:3] == ["exhaust", "walk", "prove"]


def test_a_kernel_that_drops_a_successor_is_noticed(monkeypatch):
    wrong = forgetful(kernel_for(MODEL), ELECTIONS)
    with pytest.raises(EngineDisagreement, match=r"disagree on elect\(.\) in this state"):
        exhaust(MODEL, properties=DISK, kernel=wrong)
    assert exhaust(MODEL, properties=DISK, kernel=wrong, compare=False).answer is Answer.HOLDS
    monkeypatch.setattr(checking, "exhaust", partial(exhaust, kernel=wrong, compare=False))
    with pytest.raises(
        Contradiction, match=r"According to exhaust, no trace of any length violates disk_matches_znode"
    ):
        check(MODEL, properties=DISK, seconds=6)


def test_a_proof_that_lies_is_noticed(monkeypatch):
    monkeypatch.setattr(checking, "entry", lambda name: lying_proof)
    with pytest.raises(Contradiction, match=r"According to prove, .* any length .* and walk has one of 3 steps"):
        check(MODEL, properties=DISK, seconds=6)


def test_a_hunt_notices_that_walks_find_what_was_searched_already(monkeypatch):
    def blind(model, **wanted):
        """A search that has come to depth 10 and seen nothing."""
        early = exhaust(model, **{**wanted, "seconds": 1e-9})
        keys = {prop.key: 1 for prop in wanted["properties"]}
        return evolve(
            early,
            answer=Answer.UNDECIDED,
            strength=Strength.PARTIAL,
            stopped=StopReason.TIME,
            depth=11,
            premises=keys,
            findings=(),
        )

    def few_walks(model, options, **wanted):
        return walk(model, options, **{**wanted, "seconds": None, "walks": 500})

    monkeypatch.setattr(hunting, "exhaust", blind)
    monkeypatch.setattr(hunting, "walk", few_walks)
    with pytest.raises(Contradiction, match="According to exhaust, no trace of up to 10 steps violates"):
        hunt(MODEL, properties=DISK, seconds=20)


@pytest.fixture(scope="module")
def honest():
    return exhaust(MODEL, properties=DISK)


def other(verdict, **changes):
    """What another engine might say: the same trace, changed."""
    finding = verdict.findings[0]
    trace = evolve(finding.trace, **changes)
    return evolve(verdict, engine="walk", strength=Strength.SAMPLED, findings=(Finding(KEY, 1, trace),))


def test_two_lengths_cannot_both_be_the_shortest(honest):
    trace = honest.counterexample
    longer = {"actions": (*trace.actions, "expand()"), "states": (*trace.states, trace.states[-1])}
    assert list(contradictions(MODEL, [honest, other(honest, **longer, shortest="prove")])) == [
        "According to walk, no trace of up to 3 steps violates disk_matches_znode(), and exhaust has one of 3 steps."
    ]
    assert list(contradictions(MODEL, [honest, other(honest, **longer, shortest=None)])) == []


def test_no_violation_within_a_depth_contradicts_a_trace_that_is_not_longer(honest):
    def within(depths):
        proofs = (ProofResult(KEY, ProofOutcome.UNKNOWN, refuted=depths + 1),)
        return evolve(honest, engine="prove", answer=Answer.UNDECIDED, findings=(), premises={}, proofs=proofs)

    assert len(list(contradictions(MODEL, [honest, within(3)]))) == 1
    assert list(contradictions(MODEL, [honest, within(2)])) == []


def test_what_cannot_be_reached_is_not_reached_by_another():
    from tests.minimize.mail import MAIL

    model = Model(MAIL)
    properties = model.properties_of("all_houses_wait")
    reached = exhaust(model, properties=properties)
    assert conclusions(model, reached)["all_houses_wait()"].reached is True
    never = evolve(reached, engine="prove", answer=Answer.VIOLATED, findings=(Finding("all_houses_wait()", 0),))
    assert list(contradictions(model, [reached, never])) == [
        "According to prove, all_houses_wait() is not reachable, and exhaust has reached it."
    ]


def test_walks_that_met_nothing_contradict_nothing(honest):
    silent = evolve(honest, engine="walk", answer=Answer.HOLDS, strength=Strength.SAMPLED, findings=(), depth=None)
    check_agreement(MODEL, honest, silent)


def test_the_command_ends_with_70_and_leaves_all_that_reproduces_it(kwalk, monkeypatch, tmp_path):
    monkeypatch.setattr(checking, "entry", lambda name: lying_proof)
    ran = kwalk("check", "topic-id-core", "--property", "disk_matches_znode", "--seconds", 6, "--out", "found")
    assert ran.code == 70
    assert "kwalk: internal error, no verdict: Engines contradict each other" in ran.err
    (folder,) = (tmp_path / "found").iterdir()
    command = "kwalk check topic-id-core --property disk_matches_znode --seconds 6 --out found"
    assert ran.out == f"Bundle: found/{folder.name}\nReproduce: {command}\n"
    about = json.loads((folder / "model.json").read_text())
    assert (about["scenario"], about["bounds"]["brokers"], len(about["contradictions"])) == ("topic-id-core", 3, 2)
    assert set(about["versions"]) >= {"kwalk", "python", "numba", "z3-solver"}
    verdicts = json.loads((folder / "verdicts.json").read_text())
    assert [(v["engine"], v["verdict"]) for v in verdicts] == [
        ("exhaust", "violated"),
        ("walk", "violated"),
        ("prove", "holds"),
    ]
    commands = (folder / "commands.txt").read_text().splitlines()
    assert commands[0].startswith("kwalk check topic-id-core")
    assert kwalk("replay", folder / verdicts[0]["findings"][0]["trace_file"]).code == 12


def test_the_command_says_what_each_engine_says(kwalk):
    ran = kwalk("check", "lost-update", "--flag", "lock=on", "--seconds", 6)
    assert ran.code == 0 and ran.out.startswith("HOLDS")
    assert "exhaust: holds (exhaustive" in ran.out and "walk: holds (sampled" in ran.out
    assert "The engines do not contradict each other." in ran.out
