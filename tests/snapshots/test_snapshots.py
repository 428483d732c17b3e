"""A capture as the beginning of the old client's story: its initial states, its names, what the model makes of it."""

from __future__ import annotations

import pytest
from attrs import evolve

from kwalk.invariants.reading.outlook import read_snapshot
from kwalk.invariants.stories.expansion import OLD_CLIENT_EXPANSION
from kwalk.model.kafka.controller.controller_context import EventKind
from kwalk.model.language import Model, Reading, StepResult, UsageError
from tests.snapshots.captured import AGED, FILES, changed

BROKEN = "scenario-01-08c-broker1-restarted-14s"


def model_of(reading: Reading, **bounds: int) -> Model:
    return Model(OLD_CLIENT_EXPANSION.starting_from(reading), reading.variant, bounds, reading.flags)


def only_state(reading: Reading):
    model = model_of(reading)
    (start,) = model.initial
    return model, model.state(start)


@pytest.mark.parametrize("name", FILES)
def test_every_capture_is_an_initial_state_of_the_model(name: str) -> None:
    reading = read_snapshot(FILES[name])
    model = model_of(reading)
    assert 1 <= len(model.initial) <= 2
    assert any(fact.startswith(f"Snapshot of Kafka {reading.variant}: ") for fact in reading.facts)
    assert all(text.isprintable() for text in (*reading.facts, *reading.diagnose(None)))


@pytest.mark.parametrize("name", [n for n in FILES if "stopped" not in n and not n.startswith("scenario-03-0")])
def test_a_cluster_that_was_left_alone_is_quiescent(name: str) -> None:
    model, _ = only_state(read_snapshot(FILES[name]))
    assert model.is_quiescent(model.initial[0])


def test_the_state_says_what_the_capture_says_under_the_real_names() -> None:
    model, cluster = only_state(read_snapshot(FILES["scenario-01-08a-broker1-stopped"]))
    shown = model.show(model.initial[0])
    assert shown["zookeeper.controller"] == "2"
    assert shown["zookeeper.topics[0].topic_id"] == "dG8RwO…"
    assert [shown[f"brokers[{b}].replicas[0][0].file_topic_id"] for b in (0, 1, 2)] == ["hbcto0…"] * 3
    assert [shown[f"brokers[{b}].replicas[0][1].file_topic_id"] for b in (0, 1, 2)] == ["dG8RwO…"] * 3
    assert [shown[f"zookeeper.topics[0].states[{p}].leader"] for p in (0, 1)] == ["3", "2"]
    assert cluster.zookeeper.state_of(0, 0).isr == cluster.zookeeper.broker_ids == {1, 2}
    with model.active():
        action = next(i for i in model.instances if i.key == "flush_metadata(0, 0, 1)")
        assert (action.actor, action.description) == ("broker 1", "writes partition.metadata of t-2")


def test_brokers_that_refuse_are_one_leader_epoch_behind_and_the_restarted_one_follows() -> None:
    _, cluster = only_state(read_snapshot(FILES[BROKEN]))
    znode, brokers = cluster.zookeeper.state_of(0, 0), cluster.brokers
    assert [broker.replicas[0][0].leader_epoch for broker in brokers] == [1, 0, 0]
    assert (znode.leader, znode.leader_epoch) == (2, 1)
    assert not any(broker.replicas[0][0].is_leader for broker in brokers)
    assert [broker.replicas[0][1].is_leader for broker in brokers] == [False, True, False]


def test_a_restarted_broker_of_3_9_has_refused_at_once() -> None:
    _, cluster = only_state(read_snapshot(FILES["scenario-06-08c-broker1-restarted-14s"]))
    assert [broker.replicas[0][0].leader_epoch for broker in cluster.brokers] == [None, 0, 0]


def test_the_controller_remembers_the_id_that_the_old_client_erased() -> None:
    _, cluster = only_state(read_snapshot(FILES["scenario-01-04-old-alter"]))
    controller = cluster.controller_of(cluster.zookeeper.controller)
    assert cluster.zookeeper.topics[0].topic_id is None
    assert controller.topics[0].topic_id == cluster.replica_of(0, 0, 0).topic_id == 0


def test_removed_files_leave_two_initial_states_as_no_capture_shows_what_a_running_broker_remembers() -> None:
    reading = read_snapshot(FILES["scenario-03-01-files-removed-running"])
    model = model_of(reading)
    memories = {tuple(broker.replicas[0][0].topic_id for broker in model.state(v).brokers) for v in model.initial}
    assert memories == {(None, 0, 0), (0, 0, 0)}
    assert reading.labels["topic_ids"][0] == "not shown"
    assert any("both are explored" in fact for fact in reading.facts)


def test_the_order_of_replicas_is_the_real_one() -> None:
    reading = read_snapshot(FILES["scenario-03-00-broken"])
    model = model_of(reading)
    from kwalk.model.kafka.assignment import assignment

    with model.active():
        brokers = reading.labels["brokers"]
        orders = [[brokers[replica] for replica in assignment(p)] for p in (0, 1)]
    assert orders == [["2", "3", "1"], ["1", "3", "2"]]


def test_without_a_controller_every_live_broker_tries_to_be_the_next() -> None:
    _, cluster = only_state(read_snapshot(changed(lambda d: d.update(controller=None))))
    assert cluster.zookeeper.controller is None
    assert [broker.controller.events.head.kind for broker in cluster.brokers] == [EventKind.REELECT] * 3


def test_a_dead_leader_means_that_the_controller_has_yet_to_handle_broker_change() -> None:
    def kill_leader(capture: dict) -> None:
        capture["brokers"]["3"].update(alive=False, metadata_cache=None)

    model, cluster = only_state(read_snapshot(changed(kill_leader)))
    controller = cluster.controller_of(cluster.zookeeper.controller)
    assert controller.events.head.kind is EventKind.BROKER_CHANGE
    assert any(i.key.startswith("broker_failure") for i, _ in model.successors(model.initial[0]))


def test_a_partition_without_a_state_means_that_partition_modifications_waits() -> None:
    def not_yet_created(capture: dict) -> None:
        capture["topics"]["t"]["partition_state"].pop("0")
        for broker in capture["brokers"].values():
            broker["dirs"].pop("t-0")

    reading = read_snapshot(changed(not_yet_created))
    model, cluster = only_state(reading)
    assert reading.labels["partitions"][:2] == ("1", "0")
    assert cluster.controller_of(cluster.zookeeper.controller).events.head.kind is EventKind.PARTITION_MODIFICATIONS
    assert any(i.key.startswith("partition_modifications") for i, _ in model.successors(model.initial[0]))


def test_many_topics_and_partitions_are_represented_by_a_few_and_the_facts_say_so() -> None:
    def grow(capture: dict) -> None:
        topic = capture["topics"]["t"]
        for number in range(2, 50):
            topic["znode"]["partitions"][str(number)] = [3, 1, 2]
            topic["partition_state"][str(number)] = topic["partition_state"]["0"]
            for broker in capture["brokers"].values():
                broker["dirs"][f"t-{number}"] = broker["dirs"]["t-0"]
        for number in range(20):
            twin = dict(topic, topic_id=None, znode=dict(topic["znode"], topic_id=None))
            capture["topics"][f"u{number:02}"] = twin
            for broker in capture["brokers"].values():
                broker["dirs"] |= {f"u{number:02}-{each}": broker["dirs"][f"t-{each}"] for each in range(50)}
                broker["metadata_cache"]["topics"][f"u{number:02}"] = broker["metadata_cache"]["topics"]["t"]

    reading = read_snapshot(changed(grow))
    assert reading.labels["topics"] == ("u00",)
    assert reading.bounds["partitions"] == 1
    about = "The search is about topic u00, the worst or the first; 20 other topics are left out."
    assert about in reading.facts
    assert any(fact.startswith("u00-0 represents u00-1, ") and "42 more" in fact for fact in reading.facts)
    assert only_state(reading)


def test_more_replicas_than_the_model_explores_are_left_out_by_name() -> None:
    def five_replicas(capture: dict) -> None:
        for number in ("4", "5"):
            capture["brokers"][number] = dict(capture["brokers"]["1"])
        capture["topics"]["t"]["znode"]["partitions"]["0"] = [5, 4, 3, 2, 1]
        capture["controller"] = 4

    reading = read_snapshot(changed(five_replicas))
    _, cluster = only_state(reading)
    assert reading.labels["brokers"] == ("2", "3", "5"), "the leader, another ISR member, and one that is none"
    assert "Left out, to keep the search small: the replicas of t-0 on brokers 1 and 4." in reading.facts
    assert "Broker 4 is controller; here broker 2 stands in for it." in reading.facts
    assert cluster.zookeeper.controller == 0


def test_names_that_could_do_harm_are_harmless_in_labels_facts_and_diagnosis() -> None:
    def rename(capture: dict) -> None:
        topic = capture["topics"].pop("t")
        topic["znode"]["topic_id"] = topic["topic_id"] = None
        name = "<script>\x1b[31m../x"
        capture["topics"][name] = topic
        for broker in capture["brokers"].values():
            broker["dirs"] = {d.replace("t-", f"{name}-"): v for d, v in broker["dirs"].items()}

    reading = read_snapshot(changed(rename))
    said = " ".join((*reading.facts, *reading.diagnose(None), *reading.labels["topics"]))
    assert "<" not in said and "\x1b" not in said
    assert r"\x3cscript\x3e\x1b\x5b31m..\x2fx" in said


def test_a_reading_asks_what_the_present_state_leads_to_without_any_more_clients() -> None:
    reading = read_snapshot(FILES[AGED])
    assert {reading.bounds[name] for name in ("old_creations", "new_creations", "expansions", "new_expansions")} == {0}
    wider = model_of(reading, partitions=2, expansions=1)
    assert "old_client_adds_partitions(0)" in [i.key for i, _ in wider.successors(wider.initial[0])]


def test_the_diagnosis_ends_with_the_searchs_shortest_way() -> None:
    diagnose = read_snapshot(FILES["scenario-01-04-old-alter"]).diagnose
    steps = [("operator", "deletes /controller"), ("controller 2", "handles Reelect"), ("fault", "broker 1 crashes")]
    way = "The search's shortest way to a violation: the operator deletes /controller, then broker 1 crashes."
    assert diagnose(steps)[-1] == way
    assert diagnose(None)[-1] == "The search reached no violation within its bounds."


def test_what_the_search_finds_in_a_consistent_cluster_comes_first() -> None:
    diagnose = read_snapshot(FILES[AGED]).diagnose
    stop = [("operator", "stops broker 1; controller 2 moves its leaders first"), ("broker 1", "starts")]
    assert diagnose(stop)[0] == "Latent: the search's shortest way to a violation: the operator stops broker 1."
    assert diagnose([])[0] == "Broken: the search's shortest way to a violation: without any outside action."
    assert diagnose(None)[-1] == "The search found no violation from here."


def test_a_consistent_cluster_that_a_client_would_damage_is_consistent() -> None:
    steps = [("old client", "adds partitions to t through ZooKeeper: topic_id is gone"), ("fault", "broker 1 crashes")]
    said = read_snapshot(FILES[AGED]).diagnose(steps)
    assert said[-1].startswith("But the search's shortest way to a violation: the old client adds partitions to t")


def test_a_reading_takes_the_place_of_the_scenarios_own_beginning() -> None:
    reading = read_snapshot(FILES[AGED])
    begun = OLD_CLIENT_EXPANSION.starting_from(reading)
    assert Model(begun).initial != Model(OLD_CLIENT_EXPANSION).initial
    with pytest.raises(UsageError, match="No bound named 'moons'"):
        OLD_CLIENT_EXPANSION.starting_from(evolve(reading, bounds={"moons": 1}))
    with pytest.raises(UsageError, match="No property named 'nice_weather'"):
        OLD_CLIENT_EXPANSION.starting_from(evolve(reading, properties=("nice_weather",)))


def test_a_broker_that_is_shut_down_handles_its_controllers_requests_before_it_leaves() -> None:
    model, cluster = only_state(read_snapshot(FILES["scenario-01-08a-broker1-stopped"]))
    controller = cluster.zookeeper.controller
    assert cluster.zookeeper.state_of(0, 1).leader == controller
    taken = ran(model, f"stop({controller}, {controller})", f"handle_leader_and_isr({controller})")
    assert taken.is_up(controller) and not taken.replica_of(controller, 0, 1).is_leader
    after = ran(model, f"stop({controller}, {controller})", f"leave({controller})")
    assert not after.is_up(controller)


def ran(model: Model, *keys: str):
    vector = model.initial[0]
    for key in keys:
        outcome = model.attempt(model.instance(key), vector)
        assert outcome.result is StepResult.DONE, key
        vector = outcome.after
    return model.state(vector)
