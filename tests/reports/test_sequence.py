"""Lanes, messages and states of a trace are what the model's actions and queues show; the page has all of them."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from typing import Annotated

import pytest

from kwalk.model.language import (
    Actor,
    Array,
    Bound,
    Domain,
    Fifo,
    Mark,
    Model,
    Scenario,
    action,
    always,
    array,
    fifo,
    nested,
    number,
    require,
    state,
)
from kwalk.model.language.registry import find_scenario
from kwalk.reports.document.html import html_page
from kwalk.reports.document.markdown import diagram as diagram_lines
from kwalk.reports.traces.sequence import legend_of, sequence_of, states_of
from kwalk.reports.traces.story import story_of
from kwalk.search.results.trace import Trace, run
from tests.reports.traces import HOSTILE, LONG, model, trace

NODES = Domain("nodes")
WAITING = Bound("waiting")
Node = Annotated[int, NODES]
CLIENT = Actor("client", system=False)
FAULT = Actor("fault", system=False)
NODE = Actor("node", of=NODES)


@state
class Store:
    """What all of them write."""

    writes: int = number(0, 9)


@state
class Cluster:
    """Two nodes, each with a queue of numbers, and the store that they share."""

    store: Store = nested(Store)
    inboxes: Array[Fifo[int]] = array(NODES, fifo(number(0, 3), WAITING))


@action(by=CLIENT)
def send(cluster: Cluster, to: Node) -> None:
    """Send a 1."""
    cluster.inboxes[to].push(1)
    cluster.store.writes += 1


@action(by=NODE)
def forward(cluster: Cluster, node: Node) -> None:
    """Pass a number on, one higher."""
    inbox = cluster.inboxes[node]
    require(len(inbox) > 0)
    cluster.inboxes[1 - node].push(inbox.pop() + 1)
    cluster.store.writes += 1


@action(by=FAULT, mark=Mark.CRASH)
def crash(cluster: Cluster, node: Node) -> None:
    """Forget what waits at a node."""
    require(len(cluster.inboxes[node]) > 0)
    while cluster.inboxes[node]:
        cluster.inboxes[node].pop()


@always()
def few(cluster: Cluster) -> bool:
    """There are few writes."""
    return cluster.store.writes < 2


SCENARIO = Scenario(
    name="relay",
    story="Nothing was sent.",
    state=Cluster,
    actions=(send, forward, crash),
    properties=(few,),
    bounds={"nodes": 2, "waiting": 4},
)
STEPS = ("send(0)", "send(0)", "forward(0)", "crash(0)", "send(1)")


@pytest.fixture(scope="module")
def relay():
    made = Model(SCENARIO)
    states = run(made, made.initial[0], STEPS)
    return made, Trace("relay", made.variant, {}, states, STEPS, "few()")


def test_lanes_are_those_outside_then_what_is_shared_then_the_system(relay):
    diagram = sequence_of(*relay)
    assert [(lane.name, lane.shared, lane.system) for lane in diagram.lanes] == [
        ("client", False, False),
        ("fault", False, False),
        ("store", True, True),
        ("node 0", False, True),
    ]
    assert [diagram.lanes[lane].name for lane in diagram.actors] == ["client", "client", "node 0", "fault", "client"]
    assert diagram.writes == ((2,), (2,), (2,), (), (2,))


def test_a_message_is_an_element_of_a_queue_from_its_step_to_the_step_that_takes_it(relay):
    messages = sequence_of(*relay).messages
    seen = [(m.text, m.sender, m.sent, m.receiver, m.received, m.lost) for m in messages]
    assert seen == [
        ("1", 0, 1, 3, 3, False),  # the client's first number, which node 0 passes on
        ("1", 0, 2, 1, 4, True),  # its second one, which the crash loses
        ("2", 3, 3, None, None, False),  # these two wait at the end
        ("1", 0, 5, None, None, False),
    ]


def test_a_mark_is_on_the_lanes_of_the_process_that_the_step_is_about(relay):
    diagram = sequence_of(*relay)
    assert diagram.marks == (None, None, None, (Mark.CRASH, (3,)), None)
    assert legend_of(diagram) == "✕ crashes"
    page = page_of(*relay)
    assert '<path class="mark crash"' in page and "<title>node 0 crashes</title>" in page
    assert page.count('class="absent"') == 1  # the process does not run until the end


def test_markdown_has_the_lanes_arrows_and_marks_of_the_page(relay):
    made, traced = relay
    drawn = list(diagram_lines(story_of(made, traced), sequence_of(made, traced)))
    assert [line.split(" as ")[1] for line in drawn if "participant" in line] == ["client", "fault", "store", "node 0"]
    assert drawn[6:-2] == [
        "    a0->>a2: 1 send",
        "    Note over a0: store.writes 0 → 1",
        "    a0->>a2: 2 send",
        "    Note over a0: store.writes 1 → 2",
        "    a0-)a3: 1 #40;from 1#41;",
        "    a3->>a2: 3 forward",
        "    Note over a3: store.writes 2 → 3",
        "    a0--xa1: 1 #40;from 2#41;",
        "    a1->>a1: 4 crash",
        "    Note over a3: ✕ crashes",
        "    a0->>a2: 5 send",
        "    Note over a0: store.writes 3 → 4",
    ]


def test_states_are_the_first_one_and_what_changes(relay):
    made, traced = relay
    table = states_of(made, traced)
    assert table.paths[0] == ("store", "writes") and table.first[0] == "0"
    assert [changes.get(0) for changes in table.changes] == ["1", "2", "3", None, "4"]
    assert table.read == (0,)
    assert table.changes[3] == {1: "[]"}


def page_of(made: Model, traced: Trace) -> str:
    return html_page(story_of(made, traced), diagram=sequence_of(made, traced), states=states_of(made, traced))


def test_only_the_pages_own_script_may_run_and_names_cannot_end_it():
    named = model({"houses": HOSTILE, "seals": ("</script><script>alert(1)</script>", "B", "C")})
    page = page_of(named, trace(of=named))
    scripts = re.findall(r"<script([^>]*)>(.*?)</script>", page, re.DOTALL)
    assert [attributes for attributes, _ in scripts] == [' type="application/json" id="story"', ""]
    digest = base64.b64encode(hashlib.sha256(scripts[1][1].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page and "alert(1)" in scripts[0][1]
    given = json.loads(scripts[0][1])
    assert len(given["steps"]) == len(given["changes"]) == 7
    assert not re.search(r"\bon[a-z]+=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_a_line_of_the_diagram_leads_to_the_step_without_a_script():
    page = page_of(model(), trace(LONG))
    for step in range(1, 14):
        assert f'href="#step-{step}"' in page and f'id="step-{step}"' in page
    assert 'class="diagram folded"' in page and 'class="diagram every"' in page
    assert page.count("routine steps (driver)") >= 1


def test_a_trace_without_steps_has_a_page():
    assert "initial state" in page_of(model(), trace(()))


def test_an_actor_with_the_name_of_a_shared_record_is_in_the_record_s_lane():
    subject = Model(find_scenario("old-client-expansion-in-detail"))
    vector, actions, states = subject.initial[0], [], [subject.initial[0]]
    while len(actions) < 12:
        steps = [(i, after) for i, after in subject.successors(vector) if after != vector]
        instance, vector = max(steps, key=lambda step: step[0].action.by.name == "ZooKeeper")
        actions.append(instance.key)
        states.append(vector)
    walk = Trace(subject.scenario.name, subject.variant, {}, tuple(states), tuple(actions), None)
    diagram = sequence_of(subject, walk)
    (shared,) = (place for place, lane in enumerate(diagram.lanes) if lane.name.casefold() == "zookeeper")
    assert diagram.lanes[shared].shared and shared in diagram.actors
    assert all(own not in written for own, written in zip(diagram.actors, diagram.writes, strict=True))
    assert any(shared in written for written in diagram.writes)
