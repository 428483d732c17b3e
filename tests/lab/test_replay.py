"""Replays on real clusters: the table of hands, how requests are recognized, and which traces are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kwalk.clusters.lab.hands import HANDS, NOT_FORCED, Way, controller_epoch_of, way_of
from kwalk.clusters.lab.proxy import Direction, KafkaParser, ZooKeeperParser
from kwalk.clusters.lab.replay import (
    LabReplay,
    ReplayAnswer,
    ReplayedStep,
    TopicHistory,
    TraceReplay,
    in_forcible_order,
    lab_for,
    lab_release,
    replay_object,
    sent_before,
    signalled_before,
)
from kwalk.clusters.lab.zookeeper import Op, connect_request, create, delete, set_data, transaction
from kwalk.clusters.metadata import Api
from kwalk.clusters.wire import int8, int16, int32, int64, long_string, string, varint
from kwalk.invariants.stories import SCENARIOS
from kwalk.invariants.stories.reassignment import REASSIGNMENT
from kwalk.model.kafka.snapshots.series import REAL_CLUSTER
from kwalk.model.kafka.state import Cluster
from kwalk.model.language import Model, UsageError
from kwalk.reports.traces.replay import open_trace
from kwalk.reports.traces.trace_file import read_trace
from kwalk.search.results.trace import Trace, run
from tests.kafka.violations import BROKEN

SCENARIO = {scenario.name: scenario for scenario in SCENARIOS}
TRACES = Path(__file__).parents[1] / "traces"


def opened(name):
    found = open_trace(read_trace(TRACES / f"{name}.itf.json"))
    return found.model, found.trace


# The table.


def test_a_hand_and_a_reason_why_there_is_none_are_each_for_an_action_of_a_cluster():
    """A replay ends at an action that has neither: there is no hand for it."""
    actions = {
        action.name
        for scenario in (*SCENARIOS, REAL_CLUSTER)
        if scenario.state is Cluster
        for action in scenario.actions
    }
    assert (HANDS.keys() | NOT_FORCED.keys()) - actions == set()
    assert HANDS.keys() & NOT_FORCED.keys() == set()


def test_a_hand_opens_the_way_that_it_needs():
    assert [name for name, hand in HANDS.items() if hand.needs is not None and hand.needs not in hand.opens] == []


# What the gates tell apart.


def zookeeper_frame(op, fields):
    parser = ZooKeeperParser(1)
    parser.request(connect_request(None))
    return parser.request(int32(1) + int32(op) + fields)


def read(path):
    return long_string(path) + int8(1)


@pytest.mark.parametrize(
    ("op", "path", "way"),
    [
        (Op.EXISTS, "/controller", Way.LOOK_AT_CONTROLLER),
        (Op.GET_DATA, "/controller", Way.CONTROLLER),
        (Op.GET_DATA, "/controller_epoch", Way.CONTROLLER),
        (Op.GET_CHILDREN2, "/brokers/topics", Way.LIST_TOPICS),
        (Op.GET_DATA, "/brokers/topics/t", Way.READ_TOPIC),
        (Op.GET_DATA, "/brokers/topics/t/partitions/0/state", Way.READ_STATES),
        (Op.GET_CHILDREN2, "/brokers/topics/t/partitions", Way.REMOVE_STATES),
        (Op.GET_CHILDREN2, "/admin/delete_topics", Way.LIST_DELETIONS),
        (Op.GET_DATA, "/config/topics/t", None),
        (Op.EXISTS, "/brokers/topics/t", None),
        (Op.GET_DATA, "/brokers/topics/__consumer_offsets", None),
    ],
)
def test_a_read_is_recognized_by_its_operation_and_path(op, path, way):
    assert way_of(zookeeper_frame(op, read(path))) is way


@pytest.mark.parametrize(
    ("write", "way"),
    [
        (set_data("/brokers/topics/t", b"{}"), Way.WRITE_TOPIC),
        (create("/brokers/topics/t/partitions/0/state"), Way.WRITE_STATES),
        (delete("/brokers/topics/t/partitions/0"), Way.REMOVE_STATES),
        (delete("/brokers/topics/t"), Way.REMOVE_TOPIC),
        (delete("/config/topics/t"), Way.REMOVE_CONFIG),
        (delete("/admin/delete_topics/t"), Way.REMOVE_REQUEST),
        (create("/controller"), Way.CONTROLLER),
    ],
)
def test_a_write_under_the_controller_epoch_is_recognized_by_what_it_writes(write, way):
    fence = int32(Op.CHECK) + int8(0) + int32(-1) + long_string("/controller_epoch") + int32(3)
    assert way_of(zookeeper_frame(Op.MULTI, fence + transaction([write]))) is way
    assert way_of(zookeeper_frame(write.op, write.fields)) is way


def test_a_session_that_begins_has_a_way_of_its_own():
    assert way_of(ZooKeeperParser(1).request(connect_request(None))) is Way.CONNECT


@pytest.mark.parametrize(
    ("api", "version", "tags", "kraft"),
    [
        (Api.LEADER_AND_ISR, 2, False, False),
        (Api.LEADER_AND_ISR, 5, True, False),
        (Api.LEADER_AND_ISR, 7, True, True),
        (Api.STOP_REPLICA, 3, True, False),
        (Api.STOP_REPLICA, 4, True, True),
        (Api.UPDATE_METADATA, 7, True, False),
        (Api.UPDATE_METADATA, 8, True, True),
    ],
)
def test_the_controller_epoch_of_a_request_is_read_in_every_version(api, version, tags, kraft):
    head = int16(api) + int16(version) + int32(9) + string("1") + (varint(0) if tags else b"")
    body = int32(1) + (int8(0) if kraft else b"") + int32(42) + int64(7)
    assert controller_epoch_of(KafkaParser(2).request(head + body)) == 42


def test_an_answer_has_no_controller_epoch():
    parser = KafkaParser(2)
    parser.request(int16(Api.STOP_REPLICA) + int16(3) + int32(9) + string("1") + varint(0) + bytes(8))
    answer = parser.response(int32(9) + bytes(8))
    assert answer.direction is Direction.RESPONSE
    assert controller_epoch_of(answer) is None


# Traces.


@pytest.mark.parametrize("name", ["2.8.2-topic_id_stable", "3.9.0-partition_servable"])
def test_another_order_of_steps_is_a_behaviour_of_the_model_with_the_same_end(name):
    model, trace = opened(f"old-client-expansion-{name}")
    other, moved = in_forcible_order(model, trace)
    assert sorted(other.actions) == sorted(trace.actions)
    assert (other.states[0], other.states[-1]) == (trace.states[0], trace.states[-1])
    for key, before, after in zip(other.actions, other.states[:-1], other.states[1:], strict=True):
        assert model.attempt(model.instance(key), before).after == after
    assert bool(moved) == (other.actions != trace.actions)


def test_requests_to_a_broker_come_before_the_failover_that_would_hold_them():
    model, trace = opened("old-client-expansion-3.9.0-partition_servable")
    other, moved = in_forcible_order(model, trace)
    assert moved
    request, election = "handle_leader_and_isr(1)", "reelect(1)"
    assert trace.actions.index(request) > trace.actions.index(election)
    assert other.actions.index(request) < other.actions.index(election)


def test_a_request_that_is_handled_before_waiting_events_is_sent_before_the_oldest_of_them():
    """Broker 0 writes the topic's id in step 3, which queues PartitionModifications behind its own shutdown."""
    model, trace = opened("old-client-expansion-3.9.0-partition_servable")
    stop = trace.actions.index("stop(0, 0)") + 1
    assert trace.actions[2] == "topic_change_creates_partitions(0)"
    assert sent_before(model, trace) == {stop: 3}


def test_requests_are_sent_in_their_order_before_the_first_of_them_queues_an_event():
    model = Model(REASSIGNMENT, "3.9.0")
    actions = (
        "new_client_creates_topic(0)",
        "topic_change(0)",
        "topic_change_creates_partitions(0)",
        "alter_partition_reassignments(0, 0, 0, 0)",
        "cancel_partition_reassignment(0, 0, 0)",
        "partition_modifications(0, 0)",
    )
    states = run(model, model.initial[0], actions)
    trace = Trace("reassignment", "3.9.0", model.binding.bounds, states, actions)
    assert sent_before(model, trace) == {4: 4, 5: 4}


def test_a_broker_is_stopped_while_it_can_still_look_for_the_controller():
    """In step 2 its controller begins to handle TopicChange, over the same connection to ZooKeeper."""
    model, trace = opened("old-client-expansion-3.9.0-partition_servable")
    stop = trace.actions.index("stop(0, 0)") + 1
    assert signalled_before(model, trace, stop, 3) == 1


ASKED = [
    ("failover-during-expansion", "controller_epoch_monotone"),
    ("fast-bounce", "leader_epoch_monotone"),
    ("records-through-failover", "committed_survives"),
    ("reassignment-there-and-back", "deleted_logs_were_unused"),
]
"""Behaviours in which controllers are asked for something while events wait in their queues."""


@pytest.mark.parametrize(("story", "invariant"), ASKED)
def test_who_asks_a_controller_runs_and_knows_it_when_the_request_is_sent(story, invariant):
    (broken,) = [each for each in BROKEN if (each.story, each.invariant) == (story, invariant)]
    model = Model(SCENARIO[story], broken.variant, broken.bounds, broken.flags)
    states = run(model, model.initial[broken.start], broken.actions)
    trace = Trace(story, broken.variant, model.binding.bounds, states, broken.actions)
    sent = sent_before(model, trace)
    assert sent
    for number, place in sent.items():
        instance = model.instance(broken.actions[number - 1])
        broker, controller = instance.args[0], instance.args[HANDS[instance.action.name].at == "controller"]
        for vector in states[place - 1 : number]:
            cluster = model.state(vector)
            assert cluster.is_up(broker) and cluster.zookeeper.controller == controller


@pytest.mark.parametrize(("variant", "release"), [("3.0", "3.0.0"), ("2.8.2", "2.8.2"), ("3.9.0", "3.9.0")])
def test_a_variant_is_replayed_on_its_release(variant, release):
    assert lab_release(variant) == release


def test_a_variant_without_brokers_in_the_lab_is_refused():
    with pytest.raises(UsageError, match=r"The lab has no brokers of version 2\.8\.1"):
        lab_release("2.8.1")


def test_a_trace_has_the_cluster_that_it_needs():
    options = lab_for(*opened("old-client-expansion-2.8.2-partition_servable"))
    assert (options.release, options.brokers, options.proxied) == ("2.8.2", 2, True)
    assert options.settings["unclean.leader.election.enable"] == "false"


def test_the_trace_of_another_model_is_refused(kwalk):
    ran = kwalk("lab", "replay", str(TRACES / "topic-id-core-default-disk_matches_znode.itf.json"))
    assert ran.code == 2
    assert "is no model of a Kafka cluster" in ran.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["replay"], "`kwalk lab replay` needs the file of a trace"),
        (["replay", "nowhere.itf.json"], "nowhere.itf.json"),
        (["replay", "x", "--release", "3.9.0"], "A replay has brokers of the trace's own version"),
    ],
)
def test_a_replay_without_a_trace_is_refused(kwalk, words, message):
    ran = kwalk("lab", *words)
    assert ran.code == 2
    assert message in ran.err


def test_a_trace_with_a_changed_version_flag_is_of_no_release(tmp_path):
    _, trace = opened("old-client-expansion-2.8.2-zk_id_not_erased")
    other = open_trace(trace, flags={"zk_fencing": "off"})
    with pytest.raises(UsageError, match="The trace has zk_fencing changed"):
        TraceReplay(other.model, trace, tmp_path, lambda _: None, lambda _: None)


# What snapshots show.


def document(topic_id, czxid):
    from tests.snapshots.captured import FILES

    found = json.loads(FILES["scenario-06-01-old-create"].read_text("utf-8"))
    (name,) = found["topics"]
    topic = found["topics"][name]
    topic["topic_id"] = topic["znode"]["topic_id"] = topic_id
    topic["czxid"] = czxid
    for broker in found["brokers"].values():
        for directory in broker["dirs"].values():
            directory["partition_metadata"] = directory["topic_id"] = None
        broker["metadata_cache"] = None
        broker["dirs"] = {key.replace(name, "t", 1): value for key, value in broker["dirs"].items()}
    found["topics"] = {"t": topic}
    return found


def history_after(history, state, topic_id, czxid):
    from kwalk.model.kafka.snapshots.capture import read_capture

    return history.with_capture(read_capture(json.dumps(document(topic_id, czxid)).encode()), state)


def test_a_real_topic_id_gets_the_number_that_the_model_gives_it():
    model, trace = opened("old-client-expansion-3.9.0-topic_id_stable")
    with model.active():
        first = model.state(trace.states[4])
        assert first.zookeeper.topics[0].topic_id == 0
        history = history_after(TopicHistory(), first, "A" * 21 + "B", 10)
        last = model.state(trace.states[-1])
        assert last.zookeeper.topics[0].topic_id == 1
        history = history_after(history, last, "A" * 21 + "C", 10)
    assert history.ids == {0: "A" * 21 + "B", 1: "A" * 21 + "C"}
    assert history.life == 0


def test_a_topic_that_is_created_again_has_another_life():
    model, trace = opened("old-client-expansion-3.9.0-topic_id_stable")
    with model.active():
        state = model.state(trace.states[4])
        history = history_after(TopicHistory(), state, "A" * 21 + "B", 10)
        assert history_after(history, state, "A" * 21 + "B", 11).life == 1


def test_the_answer_has_an_exit_code_and_names_the_field(tmp_path):
    _, trace = opened("old-client-expansion-3.9.0-zk_id_not_erased")
    steps = (ReplayedStep(0, "the first state", "made", 0.1), ReplayedStep(1, "stop(0, 0)", "SIGTERM", 0.1, ("late",)))
    codes = {}
    for answer in ReplayAnswer:
        result = LabReplay(answer, steps, "3.9.0", tmp_path, 1.0, 1, "leader of t-0: the model has 1, the cluster 2")
        found = replay_object(result, trace)
        codes[found["answer"]] = found["exit_code"]
        assert found["headline"].startswith(
            {"departs": "departs at step 1, field leader of t-0"}.get(
                answer.value,
                {"reproduced": "reproduced: 1 steps, 1 remarks"}.get(answer.value, "step 1 cannot be forced"),
            )
        )
    assert codes == {"reproduced": 0, "departs": 12, "cannot be forced": 3}


@pytest.mark.lab
@pytest.mark.slow
def test_a_real_cluster_loses_the_topic_id_as_the_trace_says(kwalk, tmp_path):
    ran = kwalk(
        "lab",
        "replay",
        str(TRACES / "old-client-expansion-3.9.0-topic_id_stable.itf.json"),
        "--json",
        "--out",
        str(tmp_path),
    )
    assert ran.code == 0, ran.err
    (result,) = json.loads(ran.out)["results"]
    assert result["answer"] == "reproduced"
    evidence = Path(result["evidence"])
    assert len(list((evidence / "snapshots").glob("[0-9]*.json"))) == 8
    assert "MULTI /controller_epoch /brokers/topics/t\n" in (evidence / "frames.txt").read_text()
