"""The pinned outcomes of mutants are of the model as it is, each survivor is explained, and a few are tried again."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from docs.generate.mutants import mutants_by_id
from kwalk.invariants.mutation import TRIALS
from kwalk.invariants.stories import CONTROLLER_SCENARIOS, SCENARIOS
from kwalk.model.language import Kind
from kwalk.model.language.action import Action
from kwalk.search.analyses.mutation.evaluation import evaluate
from kwalk.search.analyses.mutation.mutate import MutantStatus, baselines_of, mutants_on
from tests.kafka.mutant_runs import RUNS, MutantRun, baseline_row, trial_model
from tests.kafka.outcomes import pinned_mutants

UNTRIED = {
    "admin_clients.admin_adds_partitions",
    "admin_clients.admin_creates_topic",
    "partition.follower_lags",
    "reassignment.reassign_to_list",
    "repair.move_directory_away",
    "repair.replace_disk",
}
"""The actions of which no run tries mutants: only stories that begin with a snapshot have them. There may be fewer."""
every_run = pytest.mark.parametrize("run", RUNS, ids=lambda run: run.page)
FORESTALLED = {"deletion_eventually_ends", "elected_controller_acts", "last_leader_leads"}
"""A deletion that hangs in a quiescent state violates `deletion_terminates` first; see tests/kafka/test_recovery.py.

A broker that does not act once it is elected violates `broker_acts_once_it_is_elected` as it is. A replica that does
not lead again violates `broker_fails_or_starts` as its broker starts.
"""
BROKEN_WITHOUT_A_MISTAKE = {
    "partition_has_a_live_isr_member",
    "replicas_are_live",
    "cluster_has_a_controller",
    "deleted_replica_has_no_log",
    "free_name_can_be_created",
    "isr_member_keeps_its_log",
    "isr_members_fetch",
    "metadata_has_the_live_brokers",
    "next_leader_is_the_first_replica",
    "preferred_election_request_ends",
    "preferred_replica_leads_at_rest",
    "reassignment_ends",
    "reassignment_is_requested",
    "reassignment_reaches_its_target",
    "replaced_leader_is_sent_leader_and_isr",
    "replica_on_a_working_disk_is_hosted",
    "running_broker_is_registered",
    "topic_has_the_configuration_of_its_creation",
}
"""Their stories show that they can fail; see test_retired_brokers.py, test_resignations.py, test_topic_ids.py,
test_broker_checks.py, test_deletion_during_reassignment.py and test_controller_bugs.py."""
SMALL = "records-through-failover"
AGAIN = {
    "controller_channel_manager.send_batch:dropped-effect:6a79c67b": (
        MutantStatus.KILLED,
        "partition_servable(0, 0)",
        3,
    ),
    "kafka_controller.reelect:dropped-guard:ead98f59": (MutantStatus.CRASHED, "reelect(0) leaves its domain", 0),
    "log_manager.flush_metadata_file:swapped-field:cae3ecd5": (
        MutantStatus.KILLED,
        "log_keeps_its_topic_id(0, 0, 0)",
        5,
    ),
    "partition.shrink_isr:dropped-guard:3caba310": (MutantStatus.KILLED, "leader_in_assignment(0, 0)", 4),
    "partition.may_add_to_isr:swapped-connective:ed73c1c1": (MutantStatus.KILLED, "committed_survives(1, 0, 0)", 16),
    "partition.produce:off-by-one:707d5265": (MutantStatus.KILLED, "record_is_committed(0, 0)", None),
    "partition.shrink_isr:dropped-guard:2f86f300": (MutantStatus.SURVIVED, "", 10),
}
"""Mutants whose fate the first ground decides: what kills them there, and after how many steps."""


def named(run: MutantRun, kind: str) -> set[str]:
    """What the rows of a kind in the outcome of a run are about."""
    return {row.removeprefix(f"{kind} ") for row in pinned_mutants()[run.command] if row.startswith(f"{kind} ")}


@every_run
def test_by_operator_and_by_file_all_mutants_of_a_run_are_counted(run):
    rows = pinned_mutants()[run.command]
    for kind in ("operator", "file"):
        assert sum(sum(rows[f"{kind} {name}"].values()) for name in named(run, kind)) == rows["mutants"]["tried"]


def actions_with_mutants(run: MutantRun) -> Iterator[Action]:
    """Yield the actions of the run's stories that its options leave in."""
    chosen = set(re.findall(r"--function (\S+)", run.options))
    for action in (action for trial in run.trials for action in trial_model(trial).scenario.actions):
        if not chosen or chosen & {action.name, *action.function.__module__.split(".")}:
            yield action


def test_an_action_of_a_story_has_mutants_that_are_tried():
    tried = {action for run in RUNS for action in actions_with_mutants(run)}
    left = {action for story in SCENARIOS for action in story.actions} - tried
    assert {f"{action.function.__module__.rpartition('.')[2]}.{action.name}" for action in left} == UNTRIED


@every_run
def test_all_mutants_of_a_run_were_tried_unless_it_is_a_sample(run):
    mutants = pinned_mutants()[run.command]["mutants"]
    assert (mutants["tried"] < mutants["total"]) == ("--sample" in run.options or "--function" in run.options)


def test_every_invariant_that_stands_for_no_property_of_its_own_kills_some_mutant():
    """Those that do, P1 to P24, are broken one by one elsewhere."""
    invariants = {invariant for scenario in CONTROLLER_SCENARIOS for invariant in scenario.properties}
    plain = {i.name for i in invariants if i.kind is not Kind.REACHABLE and not re.match(r"P\d+ ", i.about)}
    (of_rare_steps,) = (run for run in RUNS if run.page == "mutants-of-rare-steps")
    assert (
        plain - named(RUNS[0], "killed by") - named(of_rare_steps, "killed by")
        == FORESTALLED | BROKEN_WITHOUT_A_MISTAKE
    )


@every_run
def test_every_mutant_that_is_alive_has_a_reason_and_no_other_mutant_has(run):
    assert named(run, "alive") == run.explained.keys()


@every_run
def test_the_explained_mutants_are_those_of_the_model_as_it_is(run):
    assert run.explained.keys() - mutants_by_id(run.explained).keys() == set()


@every_run
def test_the_baselines_are_the_models_of_the_trials(run):
    assert named(run, "baseline") == {baseline_row(trial).removeprefix("baseline ") for trial in run.trials}


@pytest.fixture(scope="module")
def baseline():
    (found,) = baselines_of(trial for trial in TRIALS if trial.scenario_name == SMALL)
    return found


@pytest.fixture(scope="module")
def mutants(baseline):
    return {mutant.id: mutant for mutant in mutants_on([baseline])}


@pytest.mark.parametrize("name", AGAIN)
def test_a_mutant_ends_as_it_did(baseline, mutants, name):
    outcome = evaluate(mutants[name], [baseline])
    status, prop, steps = AGAIN[name]
    assert outcome.status is status and outcome.prop.startswith(prop)
    assert (None if outcome.actions is None else len(outcome.actions)) == steps
