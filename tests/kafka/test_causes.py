"""A known counterexample of the main story is explained: who refused which id, and who erased the first one."""

from __future__ import annotations

from pathlib import Path

import pytest

from kwalk.reports.traces.replay import open_trace
from kwalk.reports.traces.story import story_of
from kwalk.reports.traces.trace_file import read_trace

TRACES = Path(__file__).parent.parent / "traces"


@pytest.fixture(scope="module")
def story():
    opened = open_trace(read_trace(TRACES / "old-client-expansion-2.8.2-partition_servable.itf.json"))
    return story_of(opened.model, opened.trace)


def test_steps_say_their_outcome(story):
    assert {step.number: step.outcome for step in story.steps if step.outcome} == {
        4: "t gets A",
        18: "t gets B",
        25: "refuses t-0: the request has id B, memory has A",
    }


def test_the_sentences_lead_from_the_refusal_to_the_client_that_erased_the_id(story):
    refused, minted, erased, first, *_ = story.causes
    assert refused.endswith("(broker 1: handles LeaderAndIsr: refuses t-0: the request has id B, memory has A).")
    assert minted.startswith("Step 25 needs that brokers[1].requests.headers[0].topic_id is B, as of step 18")
    assert "brokers[1].controller.topics[t].topic_id is none, as of step 7, passed on in step 17 (old client" in erased
    assert first.startswith("Step 25 needs that brokers[1].replicas[t][0].topic_id is A, as of step 4")
    assert len(story.causes) == 6


def test_what_the_outage_depends_on_is_not_folded(story):
    assert [step.number for step in story.steps if step.routine] == [16, 21]
