"""Distributed search counts and finds what the search in memory does, with any number of partitions, after any end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.examples.alternating_bit import ALTERNATING_BIT
from kwalk.model.examples.blocking_queue import BLOCKING_QUEUE
from kwalk.model.examples.die_hard import DIE_HARD
from kwalk.model.examples.ewd426 import EWD426
from kwalk.model.examples.ewd840 import EWD840
from kwalk.model.examples.reference import REFERENCE
from kwalk.model.examples.synod import SYNOD
from kwalk.model.examples.tic_tac_toe import TIC_TAC_TOE
from kwalk.model.examples.two_phase_commit import TWO_PHASE_COMMIT
from kwalk.model.language import DomainError, Model, UsageError
from kwalk.search.base.options import StopReason
from kwalk.search.exhaustive.search import exhaust
from kwalk.search.results.fairness import safety_properties
from kwalk.search.results.verdict import Answer
from kwalk.search.spark.executors import SparkFailure
from kwalk.search.spark.exhaustive import jobs
from tests.agreement.zoo import ZOO
from tests.distributed.compared import counts, everything
from tests.distributed.killed import PARTITIONS
from tests.queries import exhaust_on_spark

AT_HOME = 1 << 60
"""More states than any level has: nothing is done on Spark, all else is the same."""
EXAMPLES = (DIE_HARD, BLOCKING_QUEUE, ALTERNATING_BIT, TWO_PHASE_COMMIT, EWD426)


def levels(model, folder, **more):
    return exhaust_on_spark(model, folder=folder / "states", **{"keep_going": True, "local_level": AT_HOME, **more})


@pytest.mark.parametrize("scenario", EXAMPLES, ids=lambda scenario: scenario.name)
def test_every_count_is_that_of_the_search_in_memory(scenario, tmp_path):
    for variant in scenario.variants:
        model = Model(scenario, variant)
        expected = counts(exhaust(model, properties=safety_properties(model.properties), keep_going=True))
        assert counts(levels(model, tmp_path, properties=safety_properties(model.properties), partitions=4)) == expected


@pytest.mark.thorough
def test_every_count_of_a_kafka_scenario_is_that_of_the_search_in_memory(tmp_path):
    model = Model(OLD_CLIENT_EXPANSION, "2.8.2", {"restarts": 0, "brokers": 2})
    verdict = levels(model, tmp_path, partitions=3)
    assert (verdict.distinct_states, verdict.quiescent_states) == (4_062, 31)
    assert counts(verdict) == counts(exhaust(model, keep_going=True))


@pytest.mark.parametrize("partitions", [1, 16])
def test_nothing_depends_on_the_number_of_partitions(partitions, tmp_path):
    model = Model(REFERENCE, bounds={"restarts": 1})
    expected = everything(levels(model, tmp_path, partitions=4))
    assert everything(levels(model, tmp_path, partitions=partitions)) == expected


def test_nothing_depends_on_what_is_done_on_spark(spark, tmp_path):
    model = Model(TIC_TAC_TOE)
    expected = everything(levels(model, tmp_path, partitions=4))
    few = 1_200  # of ten levels, two are larger
    assert everything(levels(model, tmp_path, partitions=4, session=spark, local_level=few)) == expected
    assert "'distinct_states': 5478" in expected


def test_at_a_violation_the_level_is_finished_and_the_first_one_by_place_is_shown(tmp_path):
    model = Model(REFERENCE)
    for invariant, length in (("disk_matches_znode", 3), ("leaders_when_settled", 9)):
        properties = model.properties_of(invariant)
        alone = exhaust(model, properties=properties)
        verdict = levels(model, tmp_path, properties=properties, keep_going=False, partitions=4)
        assert (verdict.answer, verdict.depth, verdict.counterexample.length) == (alone.answer, alone.depth, length)
        again = levels(model, tmp_path, properties=properties, keep_going=False, partitions=16)
        assert everything(again) == everything(verdict)
        assert verdict.distinct_states >= alone.distinct_states


def test_a_deadlock_and_a_step_out_of_the_domain_are_found_on_a_shortest_way(tmp_path):
    model = Model(BLOCKING_QUEUE)
    alone, verdict = exhaust(model, properties=()), levels(model, tmp_path, properties=(), keep_going=False)
    assert verdict.answer is alone.answer
    assert [f.trace.length for f in verdict.findings] == [f.trace.length for f in alone.findings]
    with pytest.raises(DomainError, match=r"leaves its domain.* This happens after 3 steps: ") as error:
        levels(Model(ZOO), tmp_path, properties=())
    assert error.value.trace.length == 3


def test_what_comes_eventually_is_not_looked_at_and_the_verdict_says_so(tmp_path):
    verdict = levels(Model(EWD840), tmp_path)
    assert (verdict.answer, verdict.stopped) == (Answer.UNDECIDED, StopReason.LIVENESS)


def test_a_spent_budget_is_reported_and_the_search_continues_to_the_same_end(tmp_path):
    model = Model(SYNOD)
    expected = everything(levels(model, tmp_path, partitions=4))
    cut = levels(model, tmp_path, partitions=4, seconds=1e-9, command="kwalk exhaust synod --spark")
    assert (cut.answer, cut.qualifier, cut.distinct_states) == (Answer.UNDECIDED, "time budget of 1e-09 s", 1)
    again = f"resume with: kwalk exhaust synod --spark --checkpoint {tmp_path}/states --resume"
    assert f"Checkpoint saved: {tmp_path}/states, with 1 states; {again}" in cut.notes
    seen = []
    verdict = levels(model, tmp_path, resume=True, on_level=seen.append)
    assert everything(verdict) == expected
    assert sum(level.states for level in seen) == verdict.distinct_states == seen[-1].total
    assert sum(level.generated for level in seen) == verdict.generated_states
    assert not (tmp_path / "states").exists()


def test_a_budget_that_ends_in_mid_level_gives_up_the_job_and_keeps_the_levels_before(spark, tmp_path):
    model = Model(SYNOD)
    expected = everything(levels(model, tmp_path, partitions=4))
    cut = levels(model, tmp_path, partitions=4, session=spark, local_level=0, seconds=0.3)
    assert cut.qualifier == "time budget of 0.3 s" and cut.distinct_states < 3921
    assert everything(levels(model, tmp_path, resume=True)) == expected


def test_ctrl_c_leaves_what_can_be_resumed(tmp_path):
    model = Model(SYNOD)
    expected = everything(levels(model, tmp_path))

    def press(level):
        if level.depth == 5:
            os.kill(os.getpid(), signal.SIGINT)

    cut = levels(model, tmp_path, on_level=press)
    assert (cut.stopped, cut.depth) == (StopReason.INTERRUPT, 5)
    assert everything(levels(model, tmp_path, resume=True)) == expected


def test_partitions_that_get_too_many_new_states_end_the_search_with_advice(tmp_path):
    model = Model(REFERENCE, bounds={"restarts": 1})
    verdict = levels(model, tmp_path, partitions=1, memory_bytes=400_000)
    assert verdict.qualifier == "memory budget of 0.000373 GiB"
    assert any("Start again with more partitions" in note for note in verdict.notes)
    expected = everything(levels(model, tmp_path / "other", partitions=1))
    assert everything(levels(model, tmp_path, resume=True)) == expected


def damaged(folder, how):
    """Spoil some file of the last level of all that has states; its name."""
    *_, last = sorted(folder.glob("level-*/*.parquet"))
    content = last.read_bytes()
    if how == "missing":
        last.unlink()
    else:
        middle = len(content) // 3
        spoiled = content[:middle] if how == "cut short" else content[:middle] + b"!" + content[middle + 1 :]
        last.write_bytes(spoiled)
    return last.name


@pytest.mark.parametrize("how", ["missing", "cut short", "changed"])
def test_a_damaged_level_is_done_again_and_the_verdict_says_so(how, tmp_path):
    model = Model(SYNOD)
    expected = everything(levels(model, tmp_path, partitions=1))

    def press(level):
        if level.depth == 9:
            os.kill(os.getpid(), signal.SIGINT)

    levels(model, tmp_path, partitions=1, on_level=press)
    name = damaged(tmp_path / "states", how)
    verdict = levels(model, tmp_path, resume=True)
    assert any(name in note and "resumed from the level before" in note for note in verdict.notes)
    assert everything(verdict) == expected


def test_a_folder_of_another_search_is_refused(tmp_path):
    model = Model(SYNOD)
    with pytest.raises(UsageError, match=r"no checkpoint in .* to resume from"):
        levels(model, tmp_path, resume=True)
    levels(model, tmp_path, seconds=1e-9)
    with pytest.raises(UsageError, match=r"There is already a checkpoint in .*, of synod with 1 states"):
        levels(model, tmp_path)
    with pytest.raises(UsageError, match="of another search: scenario was synod, and is die-hard"):
        levels(Model(DIE_HARD), tmp_path, resume=True)


def test_a_driver_that_is_killed_in_mid_search_can_be_resumed(spark, tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-m", "tests.distributed.killed", tmp_path / "states"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    while running.stdout.readline() != "3\n":
        assert running.poll() is None
    running.kill()
    running.wait()
    verdict = levels(Model(SYNOD), tmp_path, resume=True, session=spark)
    assert "which had" in verdict.notes[0]
    assert everything(verdict) == everything(levels(Model(SYNOD), tmp_path, partitions=PARTITIONS))


def test_a_worker_that_dies_is_replaced_and_nothing_changes(spark, tmp_path, monkeypatch):
    marker, half = str(tmp_path / "died"), jobs.second_half

    def mortal(level):
        absorb = half(level)

        def absorb_or_die(batches):
            if level.depth == 2 and not os.path.exists(marker):
                open(marker, "w").close()
                os._exit(9)
            return absorb(batches)

        return absorb_or_die

    expected = everything(levels(Model(DIE_HARD), tmp_path))
    monkeypatch.setattr(jobs, "second_half", mortal)
    assert everything(levels(Model(DIE_HARD), tmp_path, session=spark, partitions=2, local_level=0)) == expected
    assert os.path.exists(marker)


def test_a_job_that_fails_is_one_error_and_the_levels_before_it_can_be_resumed(spark, tmp_path, monkeypatch):
    def broken(level):
        def fail(batches):
            raise OSError("No space left on device")

        return fail

    model = Model(DIE_HARD)
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "second_half", broken)
        with pytest.raises(SparkFailure, match=r"No space left on device.*--resume"):
            levels(model, tmp_path, session=spark, partitions=2, local_level=1)
    assert everything(levels(model, tmp_path, resume=True)) == everything(levels(model, tmp_path))
