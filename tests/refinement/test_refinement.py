"""Refinement: every engine finds what an oracle in plain Python finds, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from attrs import evolve

from kwalk import DomainError, LiftError, Model, Scenario, UsageError, check, exhaust, premise, prove, refines, walk
from kwalk.model.examples.transaction_commit import TRANSACTION_COMMIT
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.reports.document.text import print_blocks, story_text
from kwalk.reports.traces.story import story_of
from kwalk.search.kernel.interpreted import interpreted_kernel
from kwalk.search.kernel.model_digest import cache_key
from kwalk.search.results.verdict import Answer, ProofOutcome, Verdict
from tests.refinement import shop as models
from tests.refinement.shop import LEDGER, MISTAKES, OVERFLOWS, SHOP, Ledger, Shop, ledger_of, shop_with

NAME = "refines_ledger"
SCENARIOS = {"the shop": SHOP, **MISTAKES}
ENGINES: dict[str, Callable[[Scenario], Verdict]] = {
    "compiled": lambda scenario: exhaust(scenario, keep_going=True),
    "plain Python": lambda scenario: _interpreted(scenario),
    "two threads": lambda scenario: exhaust(scenario, keep_going=True, workers=2),
    "reduced": lambda scenario: exhaust(scenario, keep_going=True, reduce=True),
}


def _interpreted(scenario: Scenario) -> Verdict:
    from kwalk.search.exhaustive.search import exhaust as search

    model = Model(scenario)
    return search(model, kernel=interpreted_kernel(model), keep_going=True)


class Oracle:
    """All steps of a small model by plain execution, each with what it is in the abstract model."""

    def __init__(self, scenario: Scenario) -> None:
        detailed = Model(scenario)
        mapping = scenario.properties[0].function
        abstract = Model(LEDGER)
        self.wrong_starts, self.wrong, self.stutters = 0, 0, 0
        self.by: Counter[str] = Counter()
        self.depth: int | None = None

        def image(vector: tuple[int, ...]) -> tuple[int, ...]:
            with abstract.active():
                made = Ledger()
                mapping(_state(detailed, vector), made)  # both scenarios have the same bounds
            return abstract.vector(made)

        level, seen, depth = list(detailed.initial), set(detailed.initial), 0
        self.wrong_starts = sum(image(start) not in abstract.initial for start in level)
        while level:
            following = []
            for vector in level:
                for _, after in detailed.successors(vector):
                    self._step(abstract, image(vector), image(after), depth + 1)
                    if after not in seen:
                        seen.add(after)
                        following.append(after)
            level, depth = following, depth + 1

    def _step(self, abstract: Model, before: tuple[int, ...], after: tuple[int, ...], depth: int) -> None:
        taken = {instance.action.name for instance, made in abstract.successors(before) if made == after}
        self.by.update(taken)
        self.stutters += before == after
        if before != after and not taken:
            self.wrong += 1
            self.depth = depth if self.depth is None else self.depth


def _state(model: Model, vector: tuple[int, ...]) -> Any:
    return model.state(vector)


@pytest.mark.parametrize(
    ("engine", "name"),
    [
        *(("compiled", name) for name in SCENARIOS),
        *((engine, name) for engine in ENGINES if engine != "compiled" for name in ("the shop", "counts orders")),
    ],
)
def test_searches_count_what_the_oracle_counts(engine: str, name: str) -> None:
    scenario = SCENARIOS[name]
    oracle, verdict = Oracle(scenario), ENGINES[engine](scenario)
    found = {finding.prop: finding for finding in verdict.findings}
    assert (f"{NAME}()" in found) == bool(oracle.wrong)
    assert (f"{NAME}_initially()" in found) == bool(oracle.wrong_starts)
    assert verdict.answer is (Answer.VIOLATED if oracle.wrong or oracle.wrong_starts else Answer.HOLDS)
    if oracle.wrong:
        assert found[f"{NAME}()"].trace is not None
        assert found[f"{NAME}()"].trace.length == oracle.depth
    if engine != "reduced":
        assert verdict.generated_states is not None
        steps = verdict.generated_states - len(Model(scenario).initial)
        assert found[f"{NAME}()"].count == oracle.wrong if oracle.wrong else True
        assert verdict.premises[f"{NAME}()"] == steps - oracle.stutters
        counted = {action.name: verdict.premises[f"{NAME}_by({action.name})"] for action in LEDGER.actions}
        assert counted == {action.name: oracle.by[action.name] for action in LEDGER.actions}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_proofs_and_walks_find_every_mistake(mistake: str) -> None:
    scenario = MISTAKES[mistake]
    assert prove(scenario, depth=6).answer is Answer.VIOLATED
    assert walk(scenario, walks=64, depth=20, seed=1).answer is Answer.VIOLATED


def test_refinement_is_proved_by_induction() -> None:
    verdict = prove(SHOP)
    assert verdict.answer is Answer.HOLDS
    assert [proof.prop for proof in verdict.proofs] == [f"{NAME}()", f"{NAME}_initially()"]
    assert {proof.outcome for proof in verdict.proofs} == {ProofOutcome.PROVED}


@pytest.mark.thorough
def test_engines_agree_on_refinements() -> None:
    assert check(SHOP, seconds=20).answer is Answer.HOLDS
    assert check(MISTAKES["sells two"], seconds=20).answer is Answer.VIOLATED


def test_two_phase_commit_refines_transaction_commit_also_up_to_the_names_of_managers() -> None:
    full, up_to_names = exhaust(TWO_PHASE_COMMIT), exhaust(TWO_PHASE_COMMIT, symmetry="rms")
    assert full.answer is up_to_names.answer is Answer.HOLDS
    assert (full.distinct_states, up_to_names.distinct_states) == (288, 80)
    assert full.premises["refines_transaction_commit()"] == 648


def test_symmetry_is_refused_where_the_mapping_names_a_member() -> None:
    with pytest.raises(UsageError, match="goods are not interchangeable"):
        exhaust(shop_with(refines(LEDGER, models.ledger_of_orders)), symmetry="goods")


def test_an_error_of_the_mapping_ends_every_engine_with_the_place() -> None:
    for search in (exhaust, _interpreted):
        with pytest.raises(DomainError, match=r"shop\.py.*ledger_that_overflows.*bound 'stock' of ledger"):
            search(OVERFLOWS)


def test_an_abstract_action_that_no_step_maps_to_is_reported() -> None:
    from kwalk.search.results.vacuity import vacuity_notes

    notes = list(vacuity_notes(exhaust(SHOP), Model(SHOP)))
    assert f"{NAME}: no step maps to these actions of ledger: restock" in notes
    still = list(vacuity_notes(exhaust(evolve(SHOP, actions=(models.switch,))), Model(SHOP)))
    assert "never tested (every step stutters): refines_ledger" in still


def test_a_trace_shows_the_abstract_step_beside_each_step(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.console import Console

    model = Model(MISTAKES["sells two"])
    trace = exhaust(model).counterexample
    assert trace is not None
    story = story_of(model, trace)
    assert story.asides == ("ledger: an initial state",)
    assert story.steps[-1].asides == ("ledger: no action leads there (left[0, 1] 2 → 1)",)
    print_blocks(story_text(story), Console(width=200))
    assert "no action leads there" in capsys.readouterr().out


def test_stutters_and_actions_are_named() -> None:
    model = Model(shop_with(refines(LEDGER, ledger_of), more=(models.sell_when_shut,)))
    trace = exhaust(model).counterexample
    assert trace is not None
    asides = [step.asides[0] for step in story_of(model, trace).steps]
    assert asides == [
        "ledger: clerk close (mood working → committed; over no → yes)",
        "ledger: no action leads there (left[0] 2 → 1)",
    ]


def test_bounds_and_flags_are_taken_over_by_name() -> None:
    verdict = exhaust(SHOP, bounds={"stock": 3})
    assert verdict.answer is Answer.HOLDS
    with pytest.raises(UsageError, match="'stock' is 1 there and 2 in the detailed"):
        exhaust(shop_with(refines(LEDGER, ledger_of, bounds={"stock": 1})))


def test_what_a_refinement_depends_on_is_in_the_key_of_the_cache() -> None:
    def key(**changes: Any) -> str:
        return cache_key(Model(shop_with(refines(evolve(LEDGER, **changes), ledger_of))))

    def begin_shut(ledger: Ledger) -> None:
        ledger.over = True

    assert key() == key()
    assert key() != key(actions=(models.buy, models.close))
    assert key() != key(initial=begin_shut)


def test_selecting_the_refinement_selects_its_parts() -> None:
    model = Model(SHOP)
    assert [prop.key for prop in model.properties_of(NAME)][:2] == [f"{NAME}()", f"{NAME}_initially()"]
    assert exhaust(SHOP).properties == (NAME,)
    assert evolve(SHOP, properties=SHOP.properties).properties == SHOP.properties
    with pytest.raises(UsageError, match=r"Allowed: refines_ledger\."):
        model.properties_of("refines")


def ledger_that_writes_back(shop: Shop, ledger: Ledger) -> None:
    """Not allowed: it changes the detailed state."""
    shop.lamp = True
    ledger_of(shop, ledger)


def ledger_returned(shop: Shop, ledger: Ledger) -> Ledger:
    """Not allowed: it returns a value."""
    ledger_of(shop, ledger)
    return ledger


def ledger_while_open(shop: Shop, ledger: Ledger) -> None:
    """Not allowed: some states have no image."""
    models.require(not shop.shut)
    ledger_of(shop, ledger)


def ledger_with_premise(shop: Shop, ledger: Ledger) -> None:
    """Not allowed: some states have no image."""
    premise(not shop.shut)
    ledger_of(shop, ledger)


@pytest.mark.parametrize(
    ("mapping", "what"),
    [
        (ledger_that_writes_back, "changes the detailed state"),
        (ledger_returned, "returns a value"),
        (ledger_while_open, "`require`"),
        (ledger_with_premise, "`premise`"),
    ],
)
def test_a_mapping_that_is_more_than_a_mapping_is_refused(mapping: Callable[..., Any], what: str) -> None:
    scenario = shop_with(refines(LEDGER, mapping))
    with pytest.raises((LiftError, UsageError), match=what):
        prove(scenario)
    with pytest.raises((LiftError, UsageError), match=what):
        _interpreted(scenario)


def test_arguments_of_refines_are_checked() -> None:
    with pytest.raises(UsageError, match="takes the abstract Scenario first"):
        refines("ledger", ledger_of)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a plain function of two states"):
        refines(LEDGER, lambda shop: None)  # type: ignore[misc, arg-type]
    with pytest.raises(UsageError, match="Python identifier"):
        refines(TRANSACTION_COMMIT, ledger_of, name="two words")


def sold_out(shop: Shop) -> str:
    """An alias: plain Python, for reports only."""
    return f"{sum(shop.sold)} of 4"


def test_a_trace_shows_aliases_in_the_first_state_and_where_they_change() -> None:
    model = Model(evolve(MISTAKES["sells two"], aliases=(sold_out,)))
    trace = exhaust(model).counterexample
    assert trace is not None
    story = story_of(model, trace)
    assert story.asides[0] == "sold_out = 0 of 4"
    assert story.steps[-1].asides[0] == "sold_out: 0 of 4 → 2 of 4"
