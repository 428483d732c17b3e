"""Searches by sets of states have the verdicts and counts of searches of single states."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from attrs import evolve

import kwalk
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.examples.alternating_bit import ALTERNATING_BIT
from kwalk.model.examples.b_tree import B_TREE
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.ewd426 import EWD426
from kwalk.model.examples.ewd840 import EWD840
from kwalk.model.examples.lost_update import LOST_UPDATE
from kwalk.model.examples.readers_writers import READERS_WRITERS
from kwalk.model.examples.ticket_lock import TICKET_LOCK
from kwalk.model.examples.tower_of_hanoi import TOWER_OF_HANOI
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import (
    Actor,
    Array,
    Domain,
    DomainError,
    Model,
    Scenario,
    UsageError,
    action,
    always,
    array,
    number,
    state,
)
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.kernel.python_comparison import EngineDisagreement
from kwalk.search.results.verdict import Answer, Verdict
from kwalk.search.symbolic import compiled, conditions
from kwalk.search.symbolic.census import MOST_STATES
from kwalk.search.symbolic.counts import Counts
from kwalk.search.symbolic.engine import Stopped, SymbolicEngine
from kwalk.search.symbolic.layout import EngineBlock, Stop
from kwalk.search.symbolic.search import exhaust_symbolically

MIB = 1 << 20
EXAMPLES = (
    *(DIE_HARD, LOST_UPDATE, TWO_PHASE_COMMIT, TOWER_OF_HANOI, TICKET_LOCK, BLOCKING_QUEUE),
    *(ALTERNATING_BIT, EWD426, EWD840, READERS_WRITERS, B_TREE),
)
DIALS = Domain("dials")


@state
class Dial:
    digit: int = number(0, 63)


@state
class Dials:
    dials: Array[Dial] = array(DIALS, Dial)


@action(by=Actor("owner"))
def turn(s: Dials, dial: Annotated[int, DIALS]) -> None:
    s.dials[dial].digit = (s.dials[dial].digit + 2) % 64


@always()
def digits_are_even(s: Dials) -> bool:
    return s.dials[0].digit % 2 == 0


@always()
def has_a_place(s: Dials) -> bool:
    """It has an error after two turns of the first dial."""
    return (1, 2, 3)[s.dials[0].digit] > 0


@always()
def is_below_four(s: Dials) -> bool:
    return s.dials[0].digit < 4


COUNTERS = Scenario(
    name="dials",
    story="Dials that turn.",
    state=Dials,
    actions=(turn,),
    properties=(digits_are_even,),
    bounds={"dials": 14},
)


def facts(verdict: Verdict) -> dict[str, Any]:
    """What the two engines must agree on."""
    return {
        "states": (verdict.distinct_states, verdict.generated_states, verdict.quiescent_states),
        "bounds": verdict.bounds_hit,
        "actions": verdict.action_counts,
        "findings": {one.prop: (one.count, one.trace and one.trace.length) for one in verdict.findings},
    }


def safety(model: Model) -> Any:
    return tuple(prop for prop in model.properties if not prop.kind.is_liveness)


def assert_agreement(model: Model) -> Verdict:
    checked = safety(model)
    ours = exhaust_symbolically(model, properties=checked, memory_bytes=64 * MIB, keep_going=True)
    theirs = exhaust(model, properties=checked, memory_bytes=64 * MIB, keep_going=True)
    assert ours.answer is theirs.answer
    assert facts(ours) == facts(theirs)
    assert ours.premises == theirs.premises
    return ours


@pytest.mark.parametrize("scenario", EXAMPLES, ids=lambda one: one.name)
def test_counts_and_shortest_traces_are_those_of_single_states(scenario: Scenario):
    for variant in scenario.variants:
        assert_agreement(Model(scenario, variant=variant))


def test_a_story_of_kafka_has_the_same_counts():
    bounds = {"topics": 1, "partitions": 1, "restarts": 0, "failovers": 0}
    verdict = assert_agreement(Model(OLD_CLIENT_EXPANSION, bounds=bounds))
    assert verdict.compared is not None and verdict.compared.states >= 8


def test_premises_of_steps_are_counted_in_several_families(monkeypatch: pytest.MonkeyPatch):
    families = []
    honest = Counts._families
    monkeypatch.setattr("kwalk.search.symbolic.counts.MOST_PARTS", 0)
    monkeypatch.setattr(Counts, "_families", lambda self: (families.append(one) or one for one in honest(self)))
    assert_agreement(Model(TWO_PHASE_COMMIT))
    assert len(families) > 1


def test_the_first_violation_has_a_shortest_trace():
    verdict = exhaust_symbolically(Model(DIE_HARD), memory_bytes=64 * MIB)
    assert verdict.counterexample is not None
    assert (verdict.answer, verdict.counterexample.length) == (Answer.VIOLATED, 6)


@pytest.mark.parametrize("keep_going", [False, True])
def test_a_violation_comes_before_an_error_that_needs_as_many_steps(keep_going: bool):
    both = COUNTERS.varied(name="both", properties=(has_a_place, is_below_four), bounds={"dials": 1})
    verdict = kwalk.exhaust(both, symbolic=True, keep_going=keep_going)
    assert [finding.prop for finding in verdict.findings] == ["is_below_four()"]
    with pytest.raises(DomainError, match=r"has_a_place.. cannot be run.* This happens after 2 steps"):
        kwalk.exhaust(evolve(both, properties=(has_a_place,)), symbolic=True, keep_going=keep_going)


def test_properties_about_behaviours_leave_the_verdict_undecided():
    verdict = exhaust_symbolically(Model(EWD840), memory_bytes=64 * MIB)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.LIVENESS)
    assert verdict.distinct_states == 302


def test_a_spent_time_budget_is_no_verdict():
    verdict = exhaust_symbolically(Model(EWD426), memory_bytes=64 * MIB, seconds=0.0)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.TIME)


def test_a_spent_memory_budget_is_no_verdict(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("kwalk.search.symbolic.engine.LEAST_BYTES", 1 << 18)
    verdict = exhaust_symbolically(Model(EWD426), memory_bytes=1 << 18)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.MEMORY)


def test_counts_are_within_the_memory_budget(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(SymbolicEngine, "make_room_for_counts", lambda self: setattr(self, "_memory", self.used + 1000))
    verdict = exhaust_symbolically(Model(READERS_WRITERS), memory_bytes=64 * MIB)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.MEMORY)
    assert "before it had counted and checked all states" in verdict.notes[0]


@pytest.mark.parametrize("words", [400, 1600, 6400])
def test_tables_without_room_are_no_verdict(words: int, monkeypatch: pytest.MonkeyPatch):
    honest = SymbolicEngine.begin_with

    def begin(engine: SymbolicEngine, steps: Any) -> None:
        honest(engine, steps)
        engine.block[EngineBlock.ARENA_END] = engine.block[EngineBlock.ARENA] + 8 * words

    monkeypatch.setattr(SymbolicEngine, "begin_with", begin)
    verdict = exhaust_symbolically(Model(READERS_WRITERS), memory_bytes=64 * MIB)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.MEMORY)


def test_tables_that_grow_from_four_entries_on_change_nothing(monkeypatch: pytest.MonkeyPatch):
    masks = list[int]()
    make_room = SymbolicEngine.make_room_for_counts

    def noting(engine: SymbolicEngine) -> None:
        masks.extend(int(engine.block[which]) for which in (EngineBlock.HEADS_MASK, EngineBlock.CACHE_MASK))
        make_room(engine)

    model = Model(READERS_WRITERS)
    expected = exhaust_symbolically(model, memory_bytes=64 * MIB, compare=False)
    monkeypatch.setattr("kwalk.search.symbolic.engine.FIRST_TABLE", 4)
    monkeypatch.setattr(SymbolicEngine, "make_room_for_counts", noting)
    grown = exhaust_symbolically(model, memory_bytes=64 * MIB, compare=False)
    assert min(masks) >= 255
    assert evolve(grown, seconds=0) == evolve(expected, seconds=0)  # and as many nodes, in a note


def test_a_memory_budget_in_which_nothing_can_begin_is_refused():
    with pytest.raises(UsageError, match="too small for a symbolic search"):
        exhaust_symbolically(Model(DIE_HARD), memory_bytes=MIB)


def test_more_states_than_fit_into_a_number_have_no_count():
    verdict = exhaust_symbolically(Model(COUNTERS), memory_bytes=64 * MIB)
    assert (verdict.answer, verdict.distinct_states) == (Answer.HOLDS, None)
    assert min(count.enabled for count in verdict.action_counts.values()) == MOST_STATES


def test_sets_of_states_are_tried_where_single_states_do_not_fit_into_memory():
    verdict = kwalk.exhaust(COUNTERS, bounds={"dials": 5}, memory_bytes=16 * MIB)
    assert (verdict.answer, verdict.distinct_states) == (Answer.HOLDS, 32**5)
    assert verdict.notes[0].startswith("Single states ran out of the memory budget of 0.0156 GiB at ")
    assert verdict.notes[0].endswith("sets of states (--symbolic) did not.")


def test_where_neither_fits_the_verdict_is_that_of_single_states(monkeypatch: pytest.MonkeyPatch):
    def spend(engine: SymbolicEngine, states: int, mode: int) -> int:
        raise Stopped(Stop.NO_TABLES)

    monkeypatch.setattr(SymbolicEngine, "saturated", spend)
    verdict = kwalk.exhaust(COUNTERS, bounds={"dials": 5}, memory_bytes=16 * MIB)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.MEMORY)
    assert "Sets of states (--symbolic) were tried as well, without an answer (memory" in verdict.notes[-1]


def test_garbage_is_collected_without_loss(monkeypatch: pytest.MonkeyPatch):
    collected = []
    honest = SymbolicEngine.collect
    monkeypatch.setattr(SymbolicEngine, "is_nearly_full", True)
    monkeypatch.setattr(SymbolicEngine, "collect", lambda self, *sets: (collected.append(1), honest(self, *sets))[1])
    assert_agreement(Model(TICKET_LOCK))
    assert_agreement(Model(TOWER_OF_HANOI))
    assert len(collected) > 10


def test_a_step_that_is_computed_wrongly_ends_the_search(monkeypatch: pytest.MonkeyPatch):
    honest = conditions.transition_groups
    monkeypatch.setattr(
        conditions,
        "transition_groups",
        lambda lifted: [evolve(one, updates={}) if one.index == 0 else one for one in honest(lifted)],
    )
    monkeypatch.setattr("kwalk.search.symbolic.compiled.read_cache", lambda path: None)
    monkeypatch.setattr("kwalk.search.symbolic.compiled.write_cache", lambda path, content: None)
    with pytest.raises(EngineDisagreement, match="Plain Python and sets of states disagree"):
        exhaust_symbolically(Model(TICKET_LOCK), memory_bytes=64 * MIB)


def test_what_a_symbolic_search_does_not_do_is_refused_by_name(kwalk: Any):
    for option in ("--reduce", "--workers=2", "--interpreter", "--symmetry=clients"):
        result = kwalk("exhaust", "die-hard", "--symbolic", option)
        assert result.code == 2
        assert "symbolic search" in result.err


def test_saved_rules_are_of_the_compiler_that_made_them(monkeypatch):
    before = compiled._sources()
    compiled._sources.cache_clear()
    monkeypatch.setattr(compiled, "digest_of_compiler", lambda: "another compiler")
    assert compiled._sources() != before
    compiled._sources.cache_clear()
